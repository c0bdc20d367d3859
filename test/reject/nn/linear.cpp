// A linear layer on partitions that do not match, or of blocks of a different type, is a compile-time error.
//
// expect WEIGHT_RANK: partita::linear\(p_x, p_y, p_w\): requires p_w = f_out x f_in, of rank 2
// lines WEIGHT_RANK: 12
// expect NO_FEATURES: requires p_x = 1 x ... x f_in and p_y = 1 x ... x f_out, of rank 1 at least
// lines NO_FEATURES: 12
// expect INPUT_FEATURES: partita::linear\(p_x, p_y, p_w\): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w
//   = f_out x f_in
// lines INPUT_FEATURES: 12
// expect OUTPUT_FEATURES: requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in
// lines OUTPUT_FEATURES: 12
// expect BATCH_IS_CUT: requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in
// lines BATCH_IS_CUT: 12
// expect COLUMN_PARALLEL: partita::linear<T, column_parallel>\(p_x, p_y, p_w\): requires p_x = 1 x ... x f, p_y = 1 x
//   ... x f and p_w = f x 1
// lines COLUMN_PARALLEL: 12
// expect ROW_PARALLEL: partita::linear<T, row_parallel>\(p_x, p_y, p_w\): requires p_x = 1 x ... x f, p_y = 1 x ... x f
//   and p_w = 1 x f
// lines ROW_PARALLEL: 12
// expect ELEMENTS: partita::linear<T>\(x\): requires elements of type T; cast x first
// lines ELEMENTS: 12
// expect ADJOINT_ELEMENTS: partita::linear<T>.adjoint\(dy\): requires elements of type T; cast dy first
// lines ADJOINT_ELEMENTS: 12
// expect SCALAR: partita::linear<T>\(x\): requires x of rank 1 at least: batch x ... x in_features
// lines SCALAR: 12
// expect NO_RANK: partita::linear<T>\(x\): requires an x whose rank is part of its type, as an xt::xtensor; give
//   as_rank<2>\(x\)
// lines NO_RANK: 12
// expect ADJOINT_NO_RANK: partita::linear<T>.adjoint\(dy\): requires a dy whose rank is part of its type
// lines ADJOINT_NO_RANK: 12
// expect NO_TYPE: partita::linear\(p_x, p_y, p_w, options\): requires an element type and options that say their names
// lines NO_TYPE: 12
// expect NO_OPTIONS: partita::linear<T>\(p_x, p_y, p_w, options\): requires three partitions, then options
// lines NO_OPTIONS: 12
// expect NEITHER: partita::linear\(p_x, p_y, p_w, options\): requires an element type
// lines NEITHER: 12
// first NO_PARTITIONS: partita::linear<T>\(p_x, p_y, p_w, options\): requires three partitions, then options
// lines NO_PARTITIONS: 12
#include <partita/nn/linear.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 2>& x, const xt::xtensor<double, 2>& other,
           const xt::xtensor<float, 0>& scalar) {
  const auto p_x = everyone.partition<1, 4>();
  const auto p_y = everyone.partition<1, 1, 3>();
  const auto p_w = everyone.partition<3, 4>();
  const linear_options options{.in_features = 16, .out_features = 12};
  linear<float> layer(p_x, p_y, p_w, options);
  linear<float> known_later(everyone.partition(extents<1, dynamic>(4)), p_y, everyone.partition(extents<3, dynamic>(4)),
                            options);
  linear<float, column_parallel> columns(p_x, p_x, everyone.partition<4, 1>(), options);
  linear<float, row_parallel> rows(p_x, p_x, everyone.partition<1, 4>(), options);
  layer.adjoint(layer(x));
#if defined(WEIGHT_RANK)
  linear<float> refused(p_x, p_y, p_y, options);
#elif defined(NO_FEATURES)
  linear<float> refused(everyone.partition(extents<>{}), p_y, p_w, options);
#elif defined(INPUT_FEATURES)
  linear<float> refused(p_y, p_y, p_w, options);
#elif defined(OUTPUT_FEATURES)
  linear<float> refused(p_x, p_x, p_w, options);
#elif defined(BATCH_IS_CUT)
  linear<float> refused(everyone.partition<2, 4>(), p_y, p_w, options);
#elif defined(COLUMN_PARALLEL)
  linear<float, column_parallel> refused(p_x, p_x, everyone.partition<1, 4>(), options);
#elif defined(ROW_PARALLEL)
  linear<float, row_parallel> refused(p_x, p_y, everyone.partition<1, 4>(), options);
#elif defined(ELEMENTS)
  layer(other);
#elif defined(ADJOINT_ELEMENTS)
  layer.adjoint(other);
#elif defined(SCALAR)
  layer(scalar);
#elif defined(NO_RANK)
  layer(xt::xarray<float>(x));
#elif defined(ADJOINT_NO_RANK)
  layer.adjoint(xt::xarray<float>(x));
#elif defined(NO_TYPE)
  linear refused(p_x, p_y, p_w, {.in_features = 16, .out_features = 12});
#elif defined(NO_OPTIONS)
  linear<float> refused(p_x, p_y, p_w);
#elif defined(NEITHER)
  linear refused(p_x, p_y, p_w);
#elif defined(NO_PARTITIONS)
  linear<float> refused(everyone, options);
#endif
  static_cast<void>(other);
  static_cast<void>(scalar);
}
