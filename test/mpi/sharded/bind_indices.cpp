// Rows at bound indices, sums at them, and their gradients are those of the whole arrays, for all layouts.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <limits>
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using rows = xt::xtensor<double, 2>;

rows numbers(std::size_t n, std::size_t width, std::size_t salt) {
  rows x = xt::zeros<double>({n, width});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((7 * k + 5 * salt) % 11) - 5;
  return x;
}
template <class X>
auto whole(const X& x) {
  return reshard(x, sharding(x.layout().on, x.rank())).template whole<2>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(binding_indices)

BOOST_AUTO_TEST_CASE(rows_of_a_table_are_taken_and_added_to) {
  const world everyone(test::workers());
  // [bound]
  const mesh m{axis{"data", everyone.size()}};
  const auto table = shard(everyone, m.layout("data", ""), xt::xtensor<double, 2>{{1, 2}, {3, 4}, {5, 6}});
  const auto letters = shard(everyone, m.layout("data"), xt::xtensor<int, 1>{2, 0, 2, 1});
  const auto at_letters = bind_indices(table, letters);  // planned once
  const auto y = at_letters.take(table);                 // cut as the letters are
  const auto more = at_letters.scatter_add(table, y);
  // [/bound]
  BOOST_TEST((whole(y) == rows{{5, 6}, {1, 2}, {5, 6}, {3, 4}}));
  BOOST_TEST((whole(more) == rows{{2, 4}, {6, 8}, {15, 18}}));
}

BOOST_AUTO_TEST_CASE(all_layouts_give_the_results_and_gradients_of_the_whole_arrays) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  std::vector<mesh> meshes{mesh{axis{"a", P}, axis{"b", 1}}, mesh{axis{"a", 1}, axis{"b", P}}};
  if (P > 2) meshes.push_back(mesh{axis{"a", 2}, axis{"b", 1}});  // smaller than the world
  if (P % 2 == 0) meshes.push_back(mesh{axis{"a", 2}, axis{"b", P / 2}});
  std::size_t salt = 0;
  for (const mesh& m : meshes) {
    const bool on = everyone.id() < m.size();  // others get no elements
    for (const sharding& of_x : {m.layout("a", ""), m.layout("", ""), m.layout("b", "a"), m.layout("", "b")})
      for (const sharding& of_indices : {m.layout("a"), m.layout(""), m.layout("b")})
        for (const std::size_t kind : {0U, 1U, 2U}) {  // any indices, all the same, none
          const std::size_t n = 5 + salt % 3, count = kind == 2 ? 0 : 9, width = 3;
          const rows x = numbers(n, width, ++salt), updates = numbers(count, width, salt + 3);
          xt::xtensor<int, 1> at = xt::zeros<int>({count});
          for (std::size_t k = 0; k < count; ++k) at(k) = static_cast<int>(kind == 1 ? n - 1 : (k * k + salt) % n);
          rows taken = updates, sum = x, dx = xt::zeros<double>({n, width}), du = updates, put = x, left = x;
          for (std::size_t k = 0; k < count; ++k)
            for (std::size_t c = 0; c < width; ++c) {
              const auto i = static_cast<std::size_t>(at(k));
              put(i, c) = left(i, c) = 0;
            }
          for (std::size_t k = 0; k < count; ++k)
            for (std::size_t c = 0; c < width; ++c) {
              const auto i = static_cast<std::size_t>(at(k));
              put(i, c) += updates(k, c);
              taken(k, c) = x(i, c), sum(i, c) += updates(k, c), dx(i, c) += updates(k, c), du(k, c) = x(i, c);
            }
          const auto X = shard(everyone, of_x, x), U = shard(everyone, m.layout("", "a"), updates);
          const auto bound = bind_indices(X, shard(everyone, of_indices, at));
          BOOST_TEST((whole(bound.take(X)) == taken) == on);
          BOOST_TEST((whole(bound.scatter_add(X, U)) == sum) == on);
          const auto of_take =
              value_and_gradient([&](const auto& p) { return partita::sum(multiply(bound.take(p), U)); }, X);
          BOOST_TEST((whole(std::get<0>(of_take.gradients)) == dx) == on);
          const auto of_sum = value_and_gradient(
              [&](const auto& p, const auto& u) { return partita::sum(multiply(bound.scatter_add(p, u), X)); }, X, U);
          BOOST_TEST((whole(std::get<0>(of_sum.gradients)) == x) == on);
          BOOST_TEST((whole(std::get<1>(of_sum.gradients)) == du) == on);
          BOOST_TEST((whole(bound.scatter(X, U)) == put) == on);
          const auto of_put = value_and_gradient(
              [&](const auto& p, const auto& u) { return partita::sum(multiply(bound.scatter(p, u), X)); }, X, U);
          BOOST_TEST((whole(std::get<0>(of_put.gradients)) == left) == on);
          BOOST_TEST((whole(std::get<1>(of_put.gradients)) == du) == on);
        }
  }
}

BOOST_AUTO_TEST_CASE(indices_that_are_pending_sums_are_summed_first) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  xt::xtensor<int, 2> terms = xt::zeros<int>({std::size_t{12}, std::size_t{3}});
  terms(0, 0) = 2, terms(11, 0) = 1, terms(5, 1) = 1, terms(10, 2) = 4;
  const auto x = shard(everyone, m.layout("a", ""), numbers(5, 2, 1));
  const auto at = partita::sum(shard(everyone, m.layout("a", ""), terms), dimensions<0>);  // 3, 1, 4
  const auto bound = bind_indices(x, at);
  const rows all = numbers(5, 2, 1);
  BOOST_TEST((whole(bound.take(x)) == rows(xt::view(all, xt::keep(3, 1, 4), xt::all()))));
}

BOOST_AUTO_TEST_CASE(a_movement_back_counts_its_messages, *test::at_least(2)) {
  const test::pretended no_nodes("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const mesh m{axis{"a", P}};
  const auto x = shard(everyone, m.layout("a", ""), numbers(P, 2, 1));
  // all workers take row 0: worker 0 sends to each other one, and receives from each on the way back
  const auto bound = bind_indices(x, shard(everyone, m.layout("a"), xt::xtensor<int, 1>(xt::zeros<int>({P}))));
  const auto counted = [](auto call) {
    const std::size_t before = detail::run_state.movement_totals.messages;
    call();
    return detail::run_state.movement_totals.messages - before;
  };
  const auto y = bound.take(x);
  BOOST_TEST(counted([&] { bound.take(x); }) == (me == 0 ? 0 : 1));
  BOOST_TEST(counted([&] { bound.scatter_add(x, y); }) == (me == 0 ? P - 1 : 0));
  const auto bytes = [](auto call) {
    const std::size_t before = detail::run_state.movement_totals.bytes;
    call();
    return detail::run_state.movement_totals.bytes - before;
  };
  constexpr std::size_t row = 2 * sizeof(double);
  BOOST_TEST(bytes([&] { bound.take(x); }) == (me == 0 ? 0 : row));
  BOOST_TEST(bytes([&] { bound.scatter_add(x, y); }) == (me == 0 ? (P - 1) * row : 0));
  const auto exchanges = [](auto call) {
    const std::size_t before = detail::run_state.movement_totals.exchanges;
    call();
    return detail::run_state.movement_totals.exchanges - before;
  };
  BOOST_TEST(exchanges([&] { bound.take(x); }) == 1U);
  BOOST_TEST(exchanges([&] { bound.scatter_add(x, y); }) == 1U);
  BOOST_TEST(exchanges([&] { bound.scatter(x, y); }) == 2U);
  // ... and the log has an entry for each, as they are in a forward and in a backward pass
  const auto log =
      record_movements([&] { value_and_gradient([&](const auto& p) { return partita::sum(bound.take(p)); }, x); });
  std::vector<movement> bound_ones;
  for (const movement& one : log)
    if (std::string(one.operation.c_str()) == "take" || std::string(one.operation.c_str()) == "scatter_add")
      bound_ones.push_back(one);
  BOOST_TEST_REQUIRE(bound_ones.size() == 2U);
  for (const bool back : {false, true}) {
    const movement& one = bound_ones[back ? 1 : 0];
    BOOST_TEST(std::string(one.operation.c_str()) == (back ? "scatter_add" : "take"));
    BOOST_TEST(one.backward == back);
    BOOST_TEST((one.extents == shape_list{P, 2}));
    BOOST_TEST(one.bytes == (back ? (me == 0 ? (P - 1) * row : 0) : (me == 0 ? 0 : row)));
  }
}

BOOST_AUTO_TEST_CASE(the_layout_is_part_of_the_type_if_those_of_the_operands_are, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 1}};
  const auto x = shard<m.layout("data", "model")>(everyone, numbers(4, 2, 1));
  const auto at = shard<m.layout("model")>(everyone, xt::xtensor<int, 1>{3, 3, 0});
  const auto bound = bind_indices(x, at);
  const sharded<double, m.layout("model", "")> y = bound.take(x);
  const sharded<double, m.layout("data", "model")> more = bound.scatter_add(x, y), replaced = bound.scatter(x, y);
  BOOST_TEST(y.extents()[0] == 3U);
  const auto log = record_movements([&] { bound.take(shard<m.layout("data", "")>(everyone, numbers(4, 2, 1))); });
  BOOST_TEST_REQUIRE(log.size() == 1U);
  BOOST_TEST(log[0].bytes == (everyone.id() > 1 ? 0 : 2 * sizeof(double)));  // of one row, that of another worker
  const auto gradient = value_and_gradient([&](const auto& p) { return partita::sum(bound.take(p)); }, x);
  if (everyone.id() < 2) {
    BOOST_TEST((more.whole() == rows(numbers(4, 2, 1) * xt::xtensor<double, 2>{{2}, {1}, {1}, {3}})));
    BOOST_TEST((std::get<0>(gradient.gradients).whole() == rows{{1, 1}, {0, 0}, {0, 0}, {2, 2}}));
  } else {
    more.whole(), std::get<0>(gradient.gradients).whole();
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}}, other{axis{"b", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), numbers(4, 2, 1));
  const auto at = [&](std::initializer_list<double> all) {
    return shard(everyone, m.layout("a"), xt::xtensor<double, 1>(all));
  };
  for (const double wrong : {4.0, -1.0, 1.5, -0.5, 0.5, 1e300, std::numeric_limits<double>::quiet_NaN()})
    test::expect_refused<shape_error>(
        [&] {
          bind_indices(x, at({0, 1, wrong}));
        },
        "partita::bind_indices(x, indices): requires indices below the extent of dimension 0 of x, 4");
  test::expect_refused<shape_error>([&] { bind_indices(x, x); }, "indices of rank 1");
  test::expect_refused<partition_error>(
      [&] { bind_indices(x, shard(everyone, other.layout("b"), xt::xtensor<double, 1>{0})); },
      "requires x and indices on one mesh");
  const auto bound = bind_indices(x, at({0, 3, 3}));
  test::expect_refused<shape_error>([&] { bound.take(at({1, 2})); }, "requires a tensor whose first extents are [4]");
  test::expect_refused<shape_error>([&] { bound.scatter_add(x, x); }, "requires a tensor whose first extents are [3]");
  // All three calls refuse x of other rows, and both that take updates refuse updates of another number.
  const auto ones = [&](std::size_t rows, std::size_t columns) {
    return shard<double>(everyone, m.layout("a", ""), {rows, columns}, [](const auto&) { return 1.; });
  };
  const auto of_call = [](const char* call, std::size_t wanted, const shape_list& got) {
    return text("partita::bound_indices::")
           << call << ": requires a tensor whose first extents are [" << wanted << "], got extents " << got;
  };
  for (const std::size_t columns : {std::size_t{1}, std::size_t{2}})
    for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
      const auto wrong = ones(rows, columns);
      const auto refuses = [&](const text& words, const auto& call) {
        BOOST_TEST(test::refused<shape_error>(call) == words.c_str());
      };
      refuses(of_call("take(x)", 4, wrong.extents()), [&] { bound.take(wrong); });
      refuses(of_call("scatter_add(x, updates)", 4, wrong.extents()),
              [&] { bound.scatter_add(wrong, ones(3, columns)); });
      refuses(of_call("scatter(x, updates)", 4, wrong.extents()), [&] { bound.scatter(wrong, ones(3, columns)); });
      if (rows == 3) continue;
      const text words = of_call("scatter_add(x, updates)", 3, wrong.extents());
      refuses(words, [&] { bound.scatter_add(ones(4, columns), wrong); });
      refuses(words, [&] { bound.scatter(ones(4, columns), wrong); });
    }
  test::expect_refused<partition_error>([&] { bound.take(shard(everyone, other.layout("b", ""), numbers(4, 2, 1))); },
                                        "on the mesh of the indices");
  if (everyone.size() > 1) {
    const auto longer = shard(everyone, m.layout("a", ""), numbers(5, 2, 1));
    const auto two = at({0, 1}), three = at({0, 1, 2});
    const bool odd = everyone.id() == 0;
    test::expect_refused<disagreement_error>([&] { bind_indices(odd ? longer : x, three); });
    test::expect_refused<disagreement_error>([&] { bind_indices(x, odd ? two : three); });
    const no_implicit_reshard written_down;
    BOOST_CHECK_NO_THROW(bound.take(x));  // it moves no operand
    test::expect_refused<partition_error>([&] { bound.take(reshard(x, m.layout("", "a"))); },
                                          "requires operands that need not be moved");
  }
  BOOST_TEST((whole(bound.take(x)).shape(0) == 3U));
}

BOOST_AUTO_TEST_SUITE_END()
