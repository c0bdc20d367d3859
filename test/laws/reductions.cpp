// Compares all reductions with a loop over the workers: over all workers and over lines of a grid, in shared memory,
// between nodes and by messages alone, blocking and non-blocking. Linear reductions must also obey the laws.
#include <algorithm>
#include <boost/mpl/list.hpp>
#include <limits>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/sequential_reduce.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "law.hpp"
#include "pretended.hpp"

namespace {

/// A user-defined element with a user-defined reduction: the largest value and the first worker that has it.
struct place_of_value {
  float value = 0;
  int worker = 0;
  friend bool operator==(const place_of_value&, const place_of_value&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& value& worker;
  }
};
// [own]
struct first_largest {
  static constexpr place_of_value identity() { return {-std::numeric_limits<float>::infinity(), 0}; }
  constexpr place_of_value operator()(const place_of_value& a, const place_of_value& b) const {
    if (a.value != b.value) return a.value > b.value ? a : b;
    return a.worker < b.worker ? a : b;
  }
};
// [/own]

}  // namespace

BOOST_IS_MPI_DATATYPE(place_of_value)

namespace {

using namespace law;

constexpr std::size_t sizes[] = {0, 1, 7, 5000, 70001};

/// Element i of a worker: small, of both signs if the type is signed, and never 0 twice in a row.
template <class T>
T value(std::size_t i, std::size_t worker) {
  const std::size_t mixed = 7 * i + 5 * worker + i * worker % 11;
  if constexpr (std::is_same_v<T, place_of_value>) return {static_cast<float>(mixed % 13), static_cast<int>(worker)};
  else if constexpr (std::is_same_v<T, bool>) return mixed % 3 != 0;
  else if constexpr (std::is_unsigned_v<T>) return static_cast<T>(mixed % 3);
  else return static_cast<T>(static_cast<int>(mixed % 5) - 2);
}
template <class T>
xt::xtensor<T, 1> values(std::size_t n, std::size_t worker) {
  auto x = uninitialised<T, 1>({n});
  for (std::size_t i = 0; i < n; ++i) x(i) = value<T>(i, worker);
  return x;
}
/// The result of a loop over these workers.
template <class T, class Fold>
xt::xtensor<T, 1> folded(std::size_t n, const std::vector<std::size_t>& members, Fold fold) {
  auto y = values<T>(n, members[0]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 1; k < members.size(); ++k) y(i) = static_cast<T>(fold(y(i), value<T>(i, members[k])));
  return y;
}

/// Checks that a reduction over all workers, and over lines of a grid, gives `fold` on every worker with a result.
template <class T, class Named, class Fold>
void expect_reduction(Named reduction, Fold fold) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), lines = P % 2 == 0 ? 2 : 1;
  const auto row = everyone.partition(extents<dynamic>(P));
  const auto last = everyone.partition<1>(workers{P - 1});
  const auto table = everyone.partition(extents<dynamic, dynamic>(lines, P / lines));
  const auto firsts = everyone.partition(extents<dynamic>(P / lines));
  std::vector<std::size_t> whole(P), column(lines);
  for (std::size_t k = 0; k < P; ++k) whole[k] = k;
  for (std::size_t k = 0; k < lines; ++k) column[k] = me % (P / lines) + k * (P / lines);
  const all_reduce to_all(row, dimensions<0>, reduction);
  const all_reduce listed(table, dimension_list{0}, reduction);
  const all_reduce down(table, all_dimensions_but<1>, reduction);
  const reduce to_last(row, last, reduction);
  const reduce to_first(table, firsts, reduction);
  for (const std::size_t n : sizes) {
    const auto x = values<T>(n, me);
    const auto all_of_them = folded<T>(n, whole, fold), of_column = folded<T>(n, column, fold);
    BOOST_TEST(same(to_all(x), all_of_them));
    BOOST_TEST(same(down(x), of_column));
    BOOST_TEST(same(listed(x), of_column));
    auto later = to_all.start(x);
    auto mine = to_last(x);
    BOOST_TEST(same(later.finish(), all_of_them));
    BOOST_TEST(same(mine, last.active() ? all_of_them : zero_volume<T, 1>()));
    auto first = to_first.start(x);
    BOOST_TEST(same(first.finish(), firsts.active() ? of_column : zero_volume<T, 1>()));
    auto filled = values<T>(2 * n, 3);
    to_all.into(x, xt::view(filled, xt::range(std::size_t{0}, 2 * n, 2)));
    BOOST_TEST(same(xt::xtensor<T, 1>(xt::view(filled, xt::range(std::size_t{0}, 2 * n, 2))), all_of_them));
  }
}

void expect_all_reductions() {
  expect_reduction<float>(reductions::sum, [](float a, float b) { return a + b; });
  expect_reduction<int>(reductions::product, [](int a, int b) { return a * b; });
  expect_reduction<float>(maximum, [](float a, float b) { return std::max(a, b); });
  expect_reduction<std::uint8_t>(minimum, [](unsigned a, unsigned b) { return std::min(a, b); });
  expect_reduction<bool>(any, [](bool a, bool b) { return a || b; });
  expect_reduction<bool>(all, [](bool a, bool b) { return a && b; });
  expect_reduction<place_of_value>(first_largest{}, first_largest{});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reductions)

BOOST_AUTO_TEST_CASE(give_what_a_loop_over_the_workers_gives) { expect_all_reductions(); }

BOOST_AUTO_TEST_CASE(give_it_by_messages_alone) {
  const test::pretended shared("PARTITA_SHARED", "0");
  expect_all_reductions();
}

BOOST_AUTO_TEST_CASE(give_it_between_nodes) {
  const test::pretended nodes("PARTITA_NODES", "2");
  expect_all_reductions();
}

BOOST_AUTO_TEST_CASE(of_integers_any_and_all_give_1_and_0_on_one_worker_too) {
  const world everyone(test::workers());
  const auto row = everyone.partition(extents(everyone.size()));
  const xt::xtensor<int, 1> x{0, 7, -3};
  BOOST_TEST(same(all_reduce(row, dimensions<0>, any)(x), xt::xtensor<int, 1>{0, 1, 1}));
  BOOST_TEST(same(all_reduce(row, dimensions<>, all)(x), xt::xtensor<int, 1>{0, 1, 1}));
  xt::xtensor<int, 2> wide = xt::ones<int>({2, 6}) * 5;
  all_reduce(row, dimensions<>, any).into(x, xt::view(wide, 1, xt::range(0, 6, 2)));
  BOOST_TEST(same(wide, xt::xtensor<int, 2>{{5, 5, 5, 5, 5, 5}, {0, 5, 1, 5, 1, 5}}));
}

BOOST_AUTO_TEST_CASE(of_maximum_and_minimum_let_a_nan_through) {
  const world everyone(test::workers());
  const auto row = everyone.partition(extents(everyone.size()));
  const double nan = std::numeric_limits<double>::quiet_NaN(), mine = static_cast<double>(everyone.id());
  const xt::xtensor<double, 1> x{mine, everyone.id() + 1 == everyone.size() ? nan : mine};
  const auto most = all_reduce(row, dimensions<0>, maximum, reproducible)(x);
  const auto least = all_reduce(row, dimensions<0>, minimum)(x);
  BOOST_TEST(most(0) == static_cast<double>(everyone.size() - 1));
  BOOST_TEST(least(0) == 0);
  BOOST_TEST((most(1) != most(1) && least(1) != least(1)));
}

BOOST_AUTO_TEST_CASE(are_what_one_process_computes) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), lines = P % 2 == 0 ? 2 : 1;
  const auto table = everyone.partition(extents<dynamic, dynamic>(lines, P / lines));
  const auto firsts = everyone.partition(extents<dynamic>(P / lines));
  std::vector<xt::xtensor<double, 1>> x;
  for (std::size_t k = 0; k < P; ++k) x.push_back(values<double>(5, k));
  const auto check = [&](auto reduction) {
    BOOST_TEST(same(all_reduce(table, dimensions<0>, reduction)(x[me]),
                    sequentially::all_reduce(table, dimensions<0>, reduction)(x)[me]));
    BOOST_TEST(same(reduce(table, firsts, reduction)(x[me]), sequentially::reduce(table, firsts, reduction)(x)[me]));
  };
  check(maximum);
  check(minimum);
  check(partita::reductions::mean);
  check(partita::reductions::sum);
  check(partita::reductions::product);
  BOOST_TEST(
      same(reduce(table, firsts, mean).adjoint(x[me]), sequentially::reduce(table, firsts, mean).adjoint(x)[me]));
  BOOST_TEST(same(all_reduce(table, dimensions<0>, mean).adjoint(x[me]),
                  sequentially::all_reduce(table, dimensions<0>, mean).adjoint(x)[me]));
}

BOOST_AUTO_TEST_CASE(with_mean_divide_by_the_workers_that_gave_a_block) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto row = everyone.partition(extents(P));
  const auto root = everyone.partition<1>(workers{P - 1});
  const auto others = everyone.partition(extents(P > 1 ? P - 1 : 1));  // without the root, if there is another worker
  const auto count = static_cast<double>(others.size());
  for (const std::size_t n : sizes) {
    const auto x = integers<double, 1>({n}, me);
    const auto y = all_reduce(row, dimensions<0>, mean)(x);
    BOOST_TEST(same(y, xt::xtensor<double, 1>(all_sum_reduce(row, dimensions<0>)(x) / static_cast<double>(P))));
    const auto total = sum_reduce(others, root)(x);
    const reduce means(others, root, mean);
    const auto average = means(x);
    const auto rounded_once = reduce(others, root, mean, reproducible)(x);
    if (root.active()) {
      BOOST_TEST(same(average, xt::xtensor<double, 1>(total / count)));
      BOOST_TEST(same(rounded_once, average));
    }
    const auto given = root.active() ? integers<double, 1>({n}, 7) : zero_volume<double, 1>();
    const auto dx = means.adjoint(given);
    auto later = means.start_adjoint(given);
    const auto dx_later = later.finish();
    if (others.active()) BOOST_TEST(same(dx, xt::xtensor<double, 1>(integers<double, 1>({n}, 7) / count)));
    BOOST_TEST(same(dx_later, dx));
  }
}

BOOST_AUTO_TEST_CASE(that_are_linear_have_their_adjoints) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto row = everyone.partition(extents(P));
  const auto root = everyone.partition<1>(workers{P / 2});
  const auto factor = static_cast<double>(P);  // makes means of integers integers
  const xt::xtensor<double, 2> x = factor * integers<double, 2>({3, 4}, me),
                               dy = factor * integers<double, 2>({3, 4}, me + 9);
  const auto at_root = root.active() ? dy : zero_volume<double, 2>(3);
  expect_adjoint(everyone, reduce(row, root, mean), true, x, root.active(), at_root);
  expect_adjoint(everyone, reduce(row, root, sum, reproducible), true, x, root.active(), at_root);
  expect_adjoint(everyone, all_reduce(row, dimensions<0>, mean), true, x, true, dy);
  expect_adjoint(everyone, all_reduce(row, dimensions<0>, sum), true, x, true, dy);
  const auto z = integers<std::complex<double>, 2>({3, 4}, me), w = integers<std::complex<double>, 2>({3, 4}, me + 3);
  expect_adjoint(everyone, all_reduce(row, dimensions<0>, sum), true, z, true, w);
  BOOST_TEST(same(reduce(row, root, sum)(x), sum_reduce(row, root)(x)));
  BOOST_TEST(same(reduce(row, root, sum, shared_view).adjoint(at_root), broadcast(root, row)(at_root)));
  BOOST_TEST(same(reduce(row, root, mean, shared_view).adjoint(at_root), reduce(row, root, mean).adjoint(at_root)));
}

BOOST_AUTO_TEST_CASE(of_scalars_leave_the_identity_where_there_is_no_result) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const auto row = everyone.partition(extents(P));
  const auto root = everyone.partition<1>(workers{P - 1});
  xt::xtensor<float, 0> x;
  x() = static_cast<float>(everyone.id() + 1);
  BOOST_TEST(all_reduce(row, dimensions<0>, maximum)(x)() == static_cast<float>(P));
  const float most = reduce(row, root, maximum)(x)(), sum_of_all = reduce(row, root, sum)(x)();
  const float none = -std::numeric_limits<float>::infinity(), total = static_cast<float>(P * (P + 1) / 2);
  BOOST_TEST(most == (root.active() ? static_cast<float>(P) : none));
  BOOST_TEST(sum_of_all == (root.active() ? total : 0.F));
  BOOST_TEST(broadcast(root, row)(x)() == static_cast<float>(P));
}

BOOST_AUTO_TEST_CASE(give_an_inactive_worker_what_it_gave) {
  const world everyone(test::workers());
  const auto some = everyone.partition<1>();
  const xt::xtensor<int, 1> x{3, 7, -2};
  const auto y = all_reduce(some, dimensions<0>, any)(x);
  BOOST_TEST(same(y, some.active() ? xt::xtensor<int, 1>{1, 1, 1} : x));
  const auto z = reduce(some, some, maximum)(x);
  BOOST_TEST(same(z, x));
}

BOOST_AUTO_TEST_SUITE_END()
