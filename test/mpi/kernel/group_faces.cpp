// Wrong calls of broadcasts and reductions that are detected at run time: all workers throw the same error, and the
// next call works.
#include "mpi_test.hpp"

#include <algorithm>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/sequential_reduce.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;

bool says(const std::string& sentence, const char* part) { return sentence.find(part) != std::string::npos; }

struct kernels {
  world everyone{test::workers()};
  std::size_t P = everyone.size(), me = everyone.id();
  partition<extents<dynamic>> row = everyone.partition(extents(P));
  partition<extents<1>> root = everyone.partition<1>(workers{P - 1});
  broadcast<extents<1>, extents<dynamic>> spread{root, row};
  sum_reduce<extents<dynamic>, extents<1>> collect{row, root};
  all_sum_reduce<extents<dynamic>> total{row, dimensions<0>};
  all_reduce<extents<dynamic>, maximum_t> most{row, dimensions<0>, maximum};
};

/// Whether two blocks have equal shapes and equal elements.
template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         std::equal(a.begin(), a.end(), b.begin());
}

xt::xtensor<double, 2> numbers(std::size_t worker) {
  xt::xtensor<double, 2> x(std::array<std::size_t, 2>{4, 6});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k + worker);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faces_of_group_kernels)

BOOST_AUTO_TEST_CASE(x_and_a_view_that_overlap_are_refused_on_all_workers) {
  const kernels k;
  const char* const sentence = "requires a view that has no memory in common with x";
  auto x = numbers(k.me), other = x;
  // only on the last worker the two overlap
  const bool last = k.me + 1 == k.P;
  const auto refuses = [&](const auto& call) { return says(refused<shape_error>(call), sentence); };
  BOOST_TEST(refuses([&] { k.spread.into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.collect.into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.collect.adjoint_into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.spread.adjoint_into(x, last ? x : other); }));
  xt::xtensor<double, 2> wide = xt::zeros<double>({5, 6});
  const auto upper = xt::view(wide, xt::range(0, 4), xt::all());
  auto lower = xt::view(wide, xt::range(1, 5), xt::all());
  BOOST_TEST(refuses([&] { k.total.into(upper, lower); }));
  BOOST_TEST(refuses([&] { k.most.into(upper, lower); }));
  auto right = xt::view(x, xt::all(), xt::range(3, 6));
  const auto left = xt::view(other, xt::all(), xt::range(0, 3));
  k.total.into(left, right);  // they are in different tensors
  BOOST_TEST(same(right, k.total(left)));
}

BOOST_AUTO_TEST_CASE(a_sum_that_all_get_may_take_the_place_of_what_was_given) {
  const kernels k;
  const auto x = numbers(k.me);
  auto in_place = x, largest = x;
  k.total.into(in_place, in_place);
  k.most.into(largest, largest);
  BOOST_TEST(same(in_place, k.total(x)));
  BOOST_TEST(same(largest, numbers(k.P - 1)));
}

BOOST_AUTO_TEST_CASE(a_result_is_given_once) {
  const kernels k;
  const auto x = numbers(k.me);
  const char* const sentence = "requires a result that is still to be given";
  auto later = k.total.start(x);
  const auto y = later.finish();
  BOOST_TEST(says(refused([&] { later.finish(); }), sentence));
  auto first = k.spread.start(x);
  auto moved = std::move(first);
  BOOST_TEST(says(refused([&] { first.finish(); }), sentence));
  BOOST_TEST(same(moved.finish(), numbers(k.P - 1)));
  BOOST_TEST(same(k.total(x), y));
}

BOOST_AUTO_TEST_CASE(a_kernel_that_was_moved_from_is_refused) {
  const kernels k;
  broadcast gone(k.root, k.row);
  const broadcast here(std::move(gone));
  const auto x = numbers(k.me);
  BOOST_TEST(says(refused([&] { gone(x); }), "partita::broadcast: requires a kernel that has not been moved from"));
  BOOST_TEST(says(refused([&] { gone.start(x); }), "partita::broadcast: requires a kernel"));
  BOOST_TEST(gone.memory() == nullptr);
  BOOST_TEST(same(here(x), numbers(k.P - 1)));
}

BOOST_AUTO_TEST_CASE(spreading_can_be_begun_and_ended_later) {
  const kernels k;
  for (const std::size_t n : {0U, 5U, 3000U, 90001U}) {
    const std::array<std::size_t, 1> shape{n};
    xt::xtensor<double, 1> x = xt::ones<double>(shape) * static_cast<double>(k.me + 1);
    const xt::xtensor<double, 1> expected = xt::ones<double>(shape) * static_cast<double>(k.P);
    auto later = k.spread.start(x);
    auto sum_later = k.total.start(x);
    auto back = k.collect.start_adjoint(2.0 * x);  // the expression is evaluated, and the value kept until finish()
    BOOST_TEST(same(later.finish(), expected));
    BOOST_TEST(same(back.finish(), 2.0 * expected));
    const auto total = sum_later.finish();
    BOOST_TEST(same(total, k.total(x)));
    xt::xtensor<double, 2> pairs = xt::zeros<double>(std::array<std::size_t, 2>{n, 2});
    xt::view(pairs, xt::all(), 1) = x;
    auto strided = k.spread.start(xt::view(pairs, xt::all(), 1));
    BOOST_TEST(same(strided.finish(), expected));
    { const auto forgotten = k.spread.start(x); }
    k.collect.adjoint_into(x, xt::view(pairs, xt::all(), 0));
    BOOST_TEST(same(xt::view(pairs, xt::all(), 0), expected));
    const broadcast looked_at(k.root, k.row, shared_view);
    auto view_later = looked_at.start(x);
    BOOST_TEST(same(view_later.finish(), expected));
  }
}

/// A worker on neither partition keeps its own block, whose shared copies do not touch each other.
BOOST_AUTO_TEST_CASE(a_worker_on_neither_side_keeps_its_block_in_a_shared_view, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t others = everyone.size() - 1;
  const broadcast b(everyone.partition<1>(workers{0}), everyone.partition(extents(others)), shared_view);
  for (const std::size_t n : {1U, 700U, 40000U, 300000U}) {
    const auto block = [&](double first) {
      return xt::xtensor<double, 1>(first + xt::arange<double>(static_cast<double>(n)));
    };
    const double own = everyone.id() == others ? 1000 : 0;
    const auto first = b(block(own)), second = b(block(own + 0.5)), third = b(block(own + 0.25));
    BOOST_TEST(same(first, block(own)));
    BOOST_TEST(same(second, block(own + 0.5)));
    BOOST_TEST(same(third, block(own + 0.25)));
  }
}

BOOST_AUTO_TEST_CASE(sentences_show_how_calls_differ, *test::at_least(2)) {
  const kernels k;
  const bool last = k.me + 1 == k.P;
  const auto types = refused<disagreement_error>([&] {
    if (last) k.total(xt::xtensor<float, 1>{1});
    else k.total(xt::xtensor<int, 1>{1});
  });
  BOOST_TEST(says(types, "elements of type int (4 bytes)"));
  BOOST_TEST(says(types, "elements of type float (4 bytes)"));
  std::vector<std::size_t> ids(k.P);
  for (std::size_t i = 0; i < k.P; ++i) ids[i] = last ? k.P - 1 - i : i;
  const auto p = k.everyone.partition(extents(k.P), workers(ids));
  const auto places = refused<disagreement_error>([&] { all_sum_reduce(p, dimensions<0>)(xt::xtensor<float, 1>{1}); });
  BOOST_TEST(says(places, "on workers 0 to "));
  BOOST_TEST((k.P == 1 || says(places, k.P == 2 ? "on workers 1, 0" : ", 1, 0")));
  const auto ways = refused<disagreement_error>([&] {
    const xt::xtensor<float, 1> x{1};
    if (last) all_reduce(k.row, dimensions<0>, maximum)(x);
    else all_reduce(k.row, dimensions<0>, minimum)(x);
  });
  BOOST_TEST(says(ways, "maximum"));
  BOOST_TEST(says(ways, "minimum"));
}

/// The mean over all workers but the last, and its adjoint, which gives each of them its share; so does one process.
BOOST_AUTO_TEST_CASE(a_mean_is_divided_by_the_number_of_its_blocks_and_so_is_its_adjoint) {
  const kernels k;
  const std::size_t n = k.P > 1 ? k.P - 1 : 1;
  const auto some = k.everyone.partition(extents(n));
  const auto first = k.everyone.partition<1>();
  const reduce to_first(some, first, mean);
  const all_reduce to_all(some, dimensions<0>, mean);
  const sequentially::reduce by_one(some, first, mean);
  const auto block = [&](std::size_t worker) {  // multiples of n
    return xt::xtensor<double, 2>(static_cast<double>(n) * numbers(2 * worker));
  };
  std::vector<xt::xtensor<double, 2>> all, cotangents;
  for (std::size_t worker = 0; worker < k.P; ++worker) {
    all.push_back(block(worker));
    cotangents.push_back(worker == 0 ? block(3) : xt::xtensor<double, 2>(zero_volume<double, 2>(4)));
  }
  const xt::xtensor<double, 2> x = block(k.me), wanted = static_cast<double>(n) * numbers(n - 1);
  const xt::xtensor<double, 2> y = to_first(x), y_of_one = by_one(all)[k.me];
  const xt::xtensor<double, 2> dx = to_first.adjoint(cotangents[k.me]), dx_of_one = by_one.adjoint(cotangents)[k.me];
  BOOST_TEST((same(y, y_of_one) && same(dx, dx_of_one)));
  if (k.me == 0) BOOST_TEST(same(y, wanted));
  if (k.me < n) {
    BOOST_TEST(same(dx, numbers(6)));
    BOOST_TEST(same(to_all(x), wanted));
    BOOST_TEST(same(to_all.adjoint(x), wanted));
  } else {
    to_all(x);
    to_all.adjoint(x);
  }
}

/// What messages call some workers: "3 to 5" if they are consecutive, else each of them. Different lists have different
/// names, also those that are too long to be written out.
BOOST_AUTO_TEST_CASE(workers_are_named_as_a_range_or_one_by_one) {
  using ids = std::vector<std::size_t>;
  const auto named = [](const ids& all) { return std::string(detail::list_workers(all).c_str()); };
  BOOST_TEST(named({7}) == "7");
  BOOST_TEST(named({3, 4}) == "3 to 4");
  BOOST_TEST(named({3, 4, 5}) == "3 to 5");
  BOOST_TEST(named({4, 3}) == "4, 3");
  BOOST_TEST(named({3, 4, 6}) == "3, 4, 6");
  BOOST_TEST(named({0, 2, 4, 6}) == "0, 2, 4, 6");
  ids even(24), more(25);
  for (std::size_t k = 0; k < more.size(); ++k) more[k] = 2 * k;
  std::copy_n(more.begin(), even.size(), even.begin());
  BOOST_TEST((named(even).find("44, 46") != std::string::npos && named(even).find("...") == std::string::npos));
  BOOST_TEST(named(more).find("44, 46, ... (list number ") != std::string::npos);
  ids other = more;
  ++other.back();
  BOOST_TEST(named(more) != named(other));
}

BOOST_AUTO_TEST_CASE(groups_of_workers_beyond_the_world_are_refused) {
  const kernels k;
  const text said = text("requires workers of a world of ") << k.P << ", got worker " << k.P + 1 << ";";
  const auto made = [&](std::size_t last) {
    return refused<partition_error>([&] { all_reduce(k.everyone, worker_groups({{0}, {last}}), maximum); });
  };
  BOOST_TEST(says(made(k.P + 1), said.c_str()));
  BOOST_TEST(!made(k.P).empty());
  if (k.P > 1) BOOST_TEST(made(k.P - 1).empty());
}

BOOST_AUTO_TEST_CASE(dimensions_of_run_time_must_be_there_once) {
  const kernels k;
  const char* const sentence = "requires dimensions below rank(p), each once";
  BOOST_TEST(says(refused<partition_error>([&] { all_reduce(k.row, dimension_list{1}, sum); }), sentence));
  BOOST_TEST(says(refused<partition_error>([&] { all_reduce(k.row, dimension_list{0, 0}, sum); }), sentence));
}

BOOST_AUTO_TEST_SUITE_END()
