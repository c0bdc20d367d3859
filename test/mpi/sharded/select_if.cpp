// The rows of a tensor for which a condition holds are those of the whole array, for all layouts, with gradients.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <algorithm>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/select_if.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using rows = xt::xtensor<double, 2>;

rows whole(const sharded_tensor<double>& x) { return reshard(x, sharding(x.layout().on, 2)).whole<2>(); }

/// Checks select_if(x, keep, n) of arrays, of tensors and in a traced program, and its gradients.
void check_known_extent(const world& everyone, const sharded_tensor<double>& X, const sharded_tensor<double>& K,
                        const rows& x, const xt::xtensor<double, 1>& keep, std::size_t n) {
  const bool on = everyone.id() < X.layout().on.size();
  rows wanted = xt::zeros<double>({n, x.shape(1)}), dx = xt::zeros_like(x);
  for (std::size_t i = 0, to = 0; i < keep.size(); ++i)
    if (keep(i) != 0 && to < n) {
      xt::row(wanted, static_cast<std::ptrdiff_t>(to++)) = xt::row(x, static_cast<std::ptrdiff_t>(i));
      xt::row(dx, static_cast<std::ptrdiff_t>(i)) = 2 * xt::row(x, static_cast<std::ptrdiff_t>(i));
    }
  const auto f = [n](const auto& values, const auto& mask) { return select_if(values, mask, n); };
  BOOST_TEST((f(x, keep) == wanted));
  BOOST_TEST((whole(f(X, K)) == wanted) == on);
  const auto program = trace(f, spec(X.layout(), X.extents()), spec(K.layout(), K.extents()));
  BOOST_TEST((whole(program(X, K)) == wanted) == on);
  const auto of = [&](const auto& g) {
    return value_and_gradient([&](const auto& p) { return partita::sum(square(g(p, K))); }, X);
  };
  BOOST_TEST((whole(std::get<0>(of(f).gradients)) == dx) == on);
  BOOST_TEST((whole(std::get<0>(of(program).gradients)) == dx) == on);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(selecting_rows)

BOOST_AUTO_TEST_CASE(rows_are_selected_where_a_condition_holds) {
  const world everyone(test::workers());
  // [select]
  const mesh m{axis{"data", everyone.size()}};
  const auto x = shard(everyone, m.layout("data", ""), xt::xtensor<double, 2>{{1, 2}, {3, 4}, {5, 6}});
  const auto keep = shard(everyone, m.layout("data"), xt::xtensor<int, 1>{1, 0, 1});
  const auto y = select_if(x, keep);  // as many rows as are kept, in balance
  // [/select]
  BOOST_TEST((whole(y) == rows{{1, 2}, {5, 6}}));
  BOOST_TEST((select_if(rows{{1, 2}, {3, 4}}, xt::xtensor<int, 1>{0, 2}) == rows{{3, 4}}));
  // 0.5 is not 0, also where x is of integers
  const auto integers = shard(everyone, m.layout("data", ""), xt::xtensor<int, 2>{{1, 2}, {3, 4}});
  const auto halves = shard(everyone, m.layout("data"), xt::xtensor<double, 1>{0, 0.5});
  const auto whole_layout = m.layout("", "");
  BOOST_TEST((reshard(select_if(integers, halves, 1), whole_layout).whole<2>() == xt::xtensor<int, 2>{{3, 4}}));
}

BOOST_AUTO_TEST_CASE(all_layouts_give_the_rows_and_gradients_of_the_whole_arrays) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  std::vector<mesh> meshes{mesh{axis{"a", P}, axis{"b", 1}}};
  if (P > 2) meshes.push_back(mesh{axis{"a", 2}, axis{"b", 1}});  // smaller than the world
  if (P % 2 == 0) meshes.push_back(mesh{axis{"a", 2}, axis{"b", P / 2}});
  std::size_t salt = 0;
  for (const mesh& m : meshes) {
    const bool on = everyone.id() < m.size();  // others get no elements
    for (const sharding& of_x : {m.layout("a", ""), m.layout("", "a"), m.layout("b", "a")})
      for (const sharding& of_keep : {m.layout("a"), m.layout("")})
        for (const std::size_t kind : {0U, 1U, 2U}) {  // some rows, all, none
          const std::size_t n = 5 + ++salt % 4;
          rows x = xt::zeros<double>({n, std::size_t{3}}), dx = x;
          std::vector<double> kept;
          xt::xtensor<double, 1> keep = xt::zeros<double>({n});
          for (std::size_t k = 0; k < n; ++k) {
            keep(k) = kind == 1 || (kind == 0 && (k * k + salt) % 3 == 0) ? (k % 2 == 0 ? 2.0 : -0.5) : 0.0;
            for (std::size_t c = 0; c < 3; ++c) {
              x(k, c) = static_cast<double>((7 * k + 5 * salt + c) % 11) - 5;
              dx(k, c) = keep(k) != 0 ? 2 * x(k, c) : 0.0;
              if (keep(k) != 0) kept.push_back(x(k, c));
            }
          }
          const auto X = shard(everyone, of_x, x);
          const auto K = shard(everyone, of_keep, keep);
          const auto y = select_if(X, K);
          rows wanted({kept.size() / 3, std::size_t{3}});
          std::copy(kept.begin(), kept.end(), wanted.begin());
          BOOST_TEST((select_if(x, keep) == wanted));
          BOOST_TEST(y.extents()[0] == wanted.shape(0));
          BOOST_TEST((whole(y) == wanted) == on);
          const auto squares = value_and_gradient(
              [&](const auto& p) {
                const auto taken = select_if(p, K);
                return partita::sum(multiply(taken, taken));
              },
              X);
          BOOST_TEST((whole(std::get<0>(squares.gradients)) == dx) == on);
          check_known_extent(everyone, X, K, x, keep, salt % 7);
        }
  }
}

BOOST_AUTO_TEST_CASE(the_layout_is_part_of_the_type_if_those_of_the_operands_are, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}};
  const auto x = shard<m.layout("", "data")>(everyone, rows{{1, 2}, {3, 4}});
  const auto keep = shard<m.layout("data")>(everyone, xt::xtensor<int, 1>{0, 1});
  const sharded<double, m.layout("", "")> y = select_if(x, keep);
  BOOST_TEST((y.whole() == rows{{3, 4}}) == (everyone.id() < 2));
  const auto known = reshard<m.layout("", "")>(select_if(x, keep, 2));  // keep of another element type
  BOOST_TEST((known.whole() == rows{{3, 4}, {0, 0}}) == (everyone.id() < 2));
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}}, other{axis{"b", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), rows{{1, 2}, {3, 4}});
  const auto keep = [&](const mesh& on, const char* cut, const xt::xtensor<int, 1>& all) {
    return shard(everyone, on.layout(cut), all);
  };
  // each message names the extents, and nothing is refused later by another call
  const auto refused = [&](const auto& given, const auto& mask, const char* extents) {
    const std::string row = "requires keep of rank 1 with an element for each row of x, got extents ";
    test::expect_refused<shape_error>([&] { select_if(given, mask); },
                                      ("partita::select_if(x, keep): " + row + extents).c_str());
    test::expect_refused<shape_error>([&] { select_if(given, mask, 1); },
                                      ("partita::select_if(x, keep, rows): " + row + extents).c_str());
  };
  refused(x, x, "[2, 2] and [2, 2]");
  refused(x, keep(m, "a", {0, 1, 1}), "[2, 2] and [3]");
  refused(x, keep(m, "a", {1}), "[2, 2] and [1]");
  refused(x, keep(m, "", {0, 1, 1}), "[2, 2] and [3]");
  for (const xt::xtensor<int, 1>& mask : {xt::xtensor<int, 1>{0, 1, 1}, xt::xtensor<int, 1>{1}})
    test::expect_refused<shape_error>(
        [&] {
          select_if(rows{{1, 2}, {3, 4}}, mask);
        },
        "requires an element of keep for each row of x");
  test::expect_refused<partition_error>(
      [&] {
        select_if(x, keep(other, "b", {0, 1}));
      },
      "partita::select_if(x, keep): requires tensors on one mesh");
  test::expect_refused<partition_error>(
      [&] {
        select_if(shard(everyone, other.layout("b", ""), rows{{1, 2}, {3, 4}}), keep(m, "a", {0, 1}));
      },
      "partita::select_if(x, keep): requires tensors on one mesh");
  test::expect_refused<partition_error>([&] { static_cast<void>(select_if(x, keep(other, "b", {0, 1}), 1)); });
  test::expect_refused<error>(
      [&] {
        std::vector<movement> log;
        const detail::scoped_log dry(log, true);
        select_if(x, keep(m, "a", {0, 1}));
      },
      "select_if(x, keep): requires a call that is carried out at once");
  BOOST_TEST((whole(select_if(x, keep(m, "a", {0, 1}))) == rows{{3, 4}}));
  if (everyone.size() > 1) {
    const auto keep = shard(everyone, m.layout("a"), xt::xtensor<int, 1>{0, 1});
    const bool first = everyone.id() == 0;
    test::expect_refused<disagreement_error>(
        [&] { reshard(first ? select_if(x, keep) : select_if(x, keep, 1), m.layout("", "")); });
    const auto terms = shard(everyone, m.layout("").partial("a"), xt::xtensor<int, 1>{0, 1});
    const no_implicit_reshard written_down;
    test::expect_refused<partition_error>([&] { select_if(x, terms); }, "requires operands that need not be moved");
  }
}

BOOST_AUTO_TEST_SUITE_END()
