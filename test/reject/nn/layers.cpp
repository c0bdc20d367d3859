// Layers reject tensors of a different rank or element type, and options that they do not have, at compile time.
//
// expect LOSS_RANK: partita::elementwise_loss<T, Rank>\(p\): requires a partition of that rank
// lines LOSS_RANK: 12
// expect LOSS_ELEMENTS: requires blocks of elements T and of that rank
// lines LOSS_ELEMENTS: 12
// expect SCORES: requires x of elements T and of that rank, and targets of integers
// lines SCORES: 12
// expect POOL_RANK: requires x of the rank of p, batch x channels x features
// lines POOL_RANK: 12
// expect POOL_FEATURES: partita::max_pooling\(p, options\): requires p = batch x channels x features
// lines POOL_FEATURES: 12
// expect NORM_RANK: partita::batch_norm<T, Rank>\(p, options\): requires p of the rank of x
// lines NORM_RANK: 12
// expect NORM_ELEMENTS: partita::batch_norm<T, Rank>\(x\): requires an xt::xtensor of elements T and of that rank
// lines NORM_ELEMENTS: 12
// expect NORM_DIMENSIONS: partita::layer_norm<T, Rank, K>: requires 1 <= K <= Rank
// lines NORM_DIMENSIONS: 12
// expect DROPOUT_RANK: partita::dropout\(p, options\)\(x\): requires x of the rank of p
// lines DROPOUT_RANK: 12
// expect NUMBERS: partita::embedding<T, Rank>\(x\): requires integers, of one dimension fewer than the result
// lines NUMBERS: 12
// expect FLATTEN: partita::flatten\(p_x, p_y\): requires p_y = b x f, of rank 2
// lines FLATTEN: 12
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/flatten.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/pooling.hpp>

using namespace partita;

void calls(const partition<extents<2, 1, 2>>& p, const partition<extents<1, 4>>& row, const xt::xtensor<float, 3>& x,
           const xt::xtensor<float, 2>& matrix, const xt::xtensor<double, 3>& wide) {
  mse_loss<float, 3> loss(p);
  loss(x, x);
  cross_entropy_loss<float, 3> entropy(p);
  max_pooling pool(p, {.kernel = {2}});
  pool(x);
  batch_norm<float, 3> norm(p, {.channels = 4});
  norm(x);
  dropout drop(p);
  drop(x);
  embedding<float, 3> table(p, {.rows = 3, .columns = 4});
  flatten flat(p, row);
  flat(x);
#if defined(LOSS_RANK)
  mse_loss<float, 2> refused(p);
#elif defined(LOSS_ELEMENTS)
  loss(x, wide);
#elif defined(SCORES)
  entropy(x, matrix);
#elif defined(POOL_RANK)
  pool(matrix);
#elif defined(POOL_FEATURES)
  max_pooling<extents<1, 4>> refused(row, {});
#elif defined(NORM_RANK)
  batch_norm<float, 2> refused(p, {.channels = 4});
#elif defined(NORM_ELEMENTS)
  norm(wide);
#elif defined(NORM_DIMENSIONS)
  layer_norm<float, 2, 3> refused(row, {.shape = {1, 2, 3}});
#elif defined(DROPOUT_RANK)
  drop(matrix);
#elif defined(NUMBERS)
  table(matrix);
#elif defined(FLATTEN)
  flatten refused(p, p);
#endif
  (void)wide, (void)matrix;
}
