// Kernels accept blocks in any memory layout; `into` fills a caller's view and nothing outside it; and block shapes may
// change from call to call, even on some workers only.
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "law.hpp"

namespace {

using namespace law;

/// Four kernels: between the last worker and all workers, or over all workers.
struct kernels {
  world everyone{test::workers()};
  std::size_t n = everyone.size();
  partition<extents<1, 1>> root = everyone.partition<1, 1>(workers{n - 1});
  partition<extents<dynamic, 1>> rows = everyone.partition(extents<dynamic, 1>(n));
  partition<extents<1, dynamic>> columns = everyone.partition(extents<1, dynamic>(n));
  broadcast<extents<1, 1>, extents<dynamic, 1>> spread{root, rows};
  sum_reduce<extents<dynamic, 1>, extents<1, 1>> collect{rows, root};
  all_sum_reduce<extents<dynamic, 1>> all{rows, dimensions<0>};
  repartition<extents<dynamic, 1>, extents<1, dynamic>> move{rows, columns};

  /// Checks that every kernel gives the same result for this expression as for a plain tensor of its values.
  template <class X>
  void expect_same_values(const X& x) const {
    const xt::xtensor<element_of<X>, 2> plain = x;
    BOOST_TEST(same(spread(x), spread(plain)));
    BOOST_TEST(same(spread.adjoint(x), spread.adjoint(plain)));
    BOOST_TEST(same(collect(x), collect(plain)));
    BOOST_TEST(same(collect.adjoint(x), collect.adjoint(plain)));
    BOOST_TEST(same(all(x), all(plain)));
    BOOST_TEST(same(move(x), move(plain)));
  }
};

constexpr std::size_t height = 4, width = 6;

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_of_blocks)

BOOST_AUTO_TEST_CASE(row_and_column_major_tensors_have_the_same_values) {
  const kernels k;
  const auto x = integers<double, 2>({height, width}, k.everyone.id());
  BOOST_TEST(same(k.all(x), k.all(xt::xtensor<double, 2, xt::layout_type::column_major>(x))));
  k.expect_same_values(x);
  k.expect_same_values(xt::xtensor<double, 2, xt::layout_type::column_major>(x));
}

BOOST_AUTO_TEST_CASE(so_have_transposed_ones) {
  const kernels k;
  const auto x = integers<double, 2>({width, height}, k.everyone.id());
  k.expect_same_values(xt::transpose(x));
}

BOOST_AUTO_TEST_CASE(so_have_slices) {
  const kernels k;
  const auto x = integers<float, 3>({height + 3, 3, 2 * width}, k.everyone.id());
  k.expect_same_values(xt::view(x, xt::range(2, 2 + height), 1, xt::range(0, width)));
  k.expect_same_values(xt::view(x, xt::range(0, height), 2, xt::range(1, 2 * width, 2)));
  k.expect_same_values(xt::view(x, xt::range(height, 0, -1), 0, xt::range(2 * width - 1, -1, -2)));
}

BOOST_AUTO_TEST_CASE(so_have_lazy_expressions) {
  const kernels k;
  const auto x = integers<double, 2>({height, width}, k.everyone.id());
  const auto row = integers<double, 1>({width}, 3);
  k.expect_same_values(2 * x + 1);
  k.expect_same_values(x * row);
  k.expect_same_values(xt::broadcast(row, {height, width}));
  k.expect_same_values(xt::zeros<double>(std::array<std::size_t, 2>{height, width}));
}

BOOST_AUTO_TEST_CASE(a_view_is_filled_and_its_surroundings_are_not) {
  const kernels k;
  const auto x = integers<int, 2>({height, width}, k.everyone.id());
  const auto filled = [&](const auto& wanted, const auto& into) {
    const std::size_t h = wanted.shape()[0], w = wanted.shape()[1];
    xt::xtensor<int, 2> big = xt::ones<int>({2 * h + 1, w + 3}) * -9;
    auto view = xt::view(big, xt::range(std::size_t{1}, 2 * h + 1, 2), xt::range(std::size_t{2}, w + 2));
    into(view);
    BOOST_TEST(same(xt::xtensor<int, 2>(view), wanted));
    for (std::size_t i = 0; i < big.shape()[0]; ++i)
      for (std::size_t j = 0; j < big.shape()[1]; ++j)
        if (i % 2 == 0 || j < 2 || j >= w + 2) BOOST_TEST(big(i, j) == -9);
  };
  filled(k.spread(x), [&](auto& view) { k.spread.into(x, view); });
  filled(k.all(x), [&](auto& view) { k.all.into(x, view); });
  filled(k.move(x), [&](auto& view) { k.move.into(x, view); });
  const auto sum = k.collect(x);
  if (k.root.active()) filled(sum, [&](auto& view) { k.collect.into(x, view); });
  else {
    xt::xtensor<int, 2> none({0, 0});
    k.collect.into(x, none);
  }
}

BOOST_AUTO_TEST_CASE(a_view_of_another_shape_is_refused_on_all_workers) {
  const kernels k;
  const auto x = integers<int, 2>({height, width}, k.everyone.id());
  xt::xtensor<int, 2> wrong({height, k.root.active() ? width + 1 : width});
  BOOST_CHECK_THROW(k.spread.into(x, wrong), shape_error);
  BOOST_CHECK_THROW(k.all.into(x, wrong), shape_error);
  BOOST_TEST(same(k.all(x), k.all.adjoint(x)));  // and the next call works
}

BOOST_AUTO_TEST_CASE(shapes_change_between_calls_on_some_workers_alone) {
  const kernels k;
  const std::size_t me = k.everyone.id();
  for (std::size_t turn = 0; turn < 12; ++turn) {
    // the source's shape changes in every second call, the shapes of the other workers in every fourth
    const shape<2> sent{1 + (turn / 2) % 3, 2 + (turn / 4) % 2};
    const auto x = k.root.active() ? integers<int, 2>(sent, turn) : zero_volume<int, 2>(turn % (me + 2));
    BOOST_TEST(same(k.spread(x), integers<int, 2>(sent, turn)));
    // the numbers of rows move from worker to worker
    const std::size_t own = (turn + me) % 3;
    std::size_t rows = 0, start = 0;
    for (std::size_t w = 0; w < k.n; ++w) {
      if (w == me) start = rows;
      rows += (turn + w) % 3;
    }
    auto block = uninitialised<int, 2>({own, width});
    for (std::size_t e = 0; e < block.size(); ++e) block.data()[e] = static_cast<int>(start * width + e);
    const auto y = k.move(block);
    const interval columns = balanced_part(width, k.n, me);
    BOOST_TEST(y.shape()[0] == rows);
    bool right = y.shape()[1] == columns.size();
    for (std::size_t i = 0; right && i < rows; ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        right = right && y(i, j) == static_cast<int>(i * width + columns.start + j);
    BOOST_TEST(right);
    BOOST_TEST(same(k.move.adjoint(y), block));
  }
}

BOOST_AUTO_TEST_CASE(more_shapes_than_a_kernel_remembers_still_arrive) {
  const kernels k;
  for (std::size_t turn = 0; turn < 3; ++turn)
    for (std::size_t h = 0; h < 40; ++h) {
      const auto x = k.root.active() ? integers<float, 2>({h, 3}, h) : zero_volume<float, 2>();
      BOOST_TEST(same(k.spread(x), integers<float, 2>({h, 3}, h)));
      BOOST_TEST(k.all(integers<float, 2>({h, 2}, 0)).size() == 2 * h);
    }
}

BOOST_AUTO_TEST_SUITE_END()
