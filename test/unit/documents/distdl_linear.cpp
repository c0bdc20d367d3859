// DistDL's page on its linear layer: the partitions, and the three steps of the algorithm and of its adjoint.
#include <partita/kernel/sequentially.hpp>
#include <partita/rule/linear_rule.hpp>
#include <partita/rule/worker_broadcast.hpp>

#include <boost/test/unit_test.hpp>
#include <vector>

namespace {

using namespace partita;
using block = xt::xtensor<int, 2>;
using blocks = std::vector<block>;
using position = partita::index<2>;

// the document's example: x on 1 x 4, y on 1 x 3, W on 3 x 4; 16 features in, 12 out
const grid p_x(extents<1, 4>{}, workers(0, 4));
const grid p_y(extents<1, 3>{}, workers(4, 7));
const grid p_w(extents<3, 4>{}, workers(0, 12));
constexpr std::size_t batch = 2, in = 16, out = 12, all_workers = 12;

int x_at(std::size_t b, std::size_t i) { return static_cast<int>(3 * b + i % 5); }
int w_at(std::size_t o, std::size_t i) { return static_cast<int>((o * 7 + i * 3) % 11) - 5; }
int bias_at(std::size_t o) { return static_cast<int>(100 * o); }
int dy_at(std::size_t b, std::size_t o) { return static_cast<int>(b + 2 * o) - 6; }

/// A matrix given by a function of the global index, over a grid.
template <class Extents, class F>
blocks spread(const grid<Extents>& p, const position& extents, F f) {
  const auto cuts = decomposition<2>::balanced(extents, p.shape());
  blocks held(all_workers, block::from_shape({batch, 0}));
  for (std::size_t k = 0; k < p.size(); ++k) {
    const auto where = cuts.block(p.index(k));
    auto own = block::from_shape(where.shape());
    for (std::size_t i = 0; i < own.shape(0); ++i)
      for (std::size_t j = 0; j < own.shape(1); ++j) own(i, j) = f(where.start[0] + i, where.start[1] + j);
    held[p.workers()[k]] = own;
  }
  return held;
}
blocks weights() { return spread(p_w, {out, in}, w_at); }

/// a (m x k) times b (n x k) transposed, or, as it stands, b (k x n).
block product(const block& a, const block& b, bool transposed) {
  const std::size_t n = b.shape(transposed ? 0 : 1);
  auto c = block::from_shape({a.shape(0), n});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t j = 0; j < n; ++j) {
      c(i, j) = 0;
      for (std::size_t k = 0; k < a.shape(1); ++k) c(i, j) += a(i, k) * (transposed ? b(j, k) : b(k, j));
    }
  return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_document_on_linear)

BOOST_AUTO_TEST_CASE(p_x_is_1_by_f_in_p_y_is_1_by_f_out_and_p_w_is_f_out_by_f_in) {
  BOOST_TEST(static_cast<bool>(judge_linear(p_x.shape(), p_y.shape(), p_w.shape())));
  BOOST_TEST(!judge_linear(p_y.shape(), p_x.shape(), p_w.shape()));
  BOOST_TEST((judge_linear(position{2, 4}, p_y.shape(), p_w.shape()).why == linear_verdict::reason::batch_is_cut));
  BOOST_TEST((weights()[0].shape(0) == out / 3 && weights()[0].shape(1) == in / 4));
}

BOOST_AUTO_TEST_CASE(step_1_broadcasts_x_down_the_columns_of_p_w) {
  const auto x = spread(p_x, {batch, in}, x_at);
  const auto on_w = sequentially::broadcast(p_x, p_w)(x);
  for (std::size_t worker = 0; worker < all_workers; ++worker) BOOST_TEST((on_w[worker] == x[worker % 4]));
}

BOOST_AUTO_TEST_CASE(step_3_requires_one_of_the_partitions_to_be_transposed) {
  BOOST_TEST(!judge_worker_broadcast(p_y.shape(), p_w.shape(), false, false, true));
  BOOST_TEST(static_cast<bool>(judge_worker_broadcast(p_y.shape(), p_w.shape(), true, false, true)));
}

BOOST_AUTO_TEST_CASE(the_three_steps_give_x_times_w_transposed_and_the_bias_once) {
  auto y = sequentially::broadcast(p_x, p_w)(spread(p_x, {batch, in}, x_at));
  const auto w = weights();
  for (std::size_t worker = 0; worker < all_workers; ++worker) {
    y[worker] = product(y[worker], w[worker], true);
    if (worker % 4 != 0) continue;  // the bias is on the 0th column of p_w only
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t o = 0; o < out / 3; ++o) y[worker](b, o) += bias_at(worker / 4 * (out / 3) + o);
  }
  const auto summed = sequentially::sum_reduce(p_w, p_y, transpose_dest)(y);
  const auto expected = spread(p_y, {batch, out}, [](std::size_t b, std::size_t o) {
    int sum = bias_at(o);
    for (std::size_t i = 0; i < in; ++i) sum += x_at(b, i) * w_at(o, i);
    return sum;
  });
  for (const std::size_t worker : {4U, 5U, 6U}) BOOST_TEST((summed[worker] == expected[worker]));
}

BOOST_AUTO_TEST_CASE(the_adjoint_broadcasts_dy_along_the_rows_and_sums_dx_down_the_columns) {
  auto dx = sequentially::sum_reduce(p_w, p_y, transpose_dest).adjoint(spread(p_y, {batch, out}, dy_at));
  const auto w = weights();
  for (std::size_t worker = 0; worker < all_workers; ++worker) dx[worker] = product(dx[worker], w[worker], false);
  const auto summed = sequentially::broadcast(p_x, p_w).adjoint(dx);
  const auto expected = spread(p_x, {batch, in}, [](std::size_t b, std::size_t i) {
    int sum = 0;
    for (std::size_t o = 0; o < out; ++o) sum += dy_at(b, o) * w_at(o, i);
    return sum;
  });
  for (const std::size_t worker : {0U, 1U, 2U, 3U}) BOOST_TEST((summed[worker] == expected[worker]));
}

BOOST_AUTO_TEST_SUITE_END()
