// Layers whose partitions or elements cannot fit do not compile.
//
// expect WEIGHT_RANK: linear.p_x, p_y, p_w.: requires p_w = f_out x f_in, of rank 2
// expect NO_FEATURES: linear.p_x, p_y, p_w.: requires p_x = 1 x ... x f_in and p_y = 1 x ... x f_out, of rank 1 at least
// expect BATCH_IS_CUT: linear.p_x, p_y, p_w.: requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in
// expect INPUT_FEATURES: linear.p_x, p_y, p_w.: requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in
// expect OUTPUT_FEATURES: linear.p_x, p_y, p_w.: requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in
// expect ELEMENT: linear<T>.x.: requires elements of type T; cast x first
// expect SCALAR: linear<T>.x.: requires x of rank 1 at least
// expect ADJOINT_ELEMENT: linear<T>.adjoint.dy.: requires elements of type T; cast dy first
// expect ACTIVATION_ELEMENT: activation<T>.x.: requires elements of type T; cast x first
#include <partita/nn/activation.hpp>
#include <partita/nn/linear.hpp>

using namespace partita;

int main() {
  const world everyone;
  const auto p_x = everyone.partition<1, 4>();
  const auto p_y = everyone.partition<1, 3>();
  const auto p_w = everyone.partition<3, 4>();
  const linear_options options{.in_features = 16, .out_features = 12};
  const xt::xtensor<float, 2> x = xt::ones<float>({2, 4});
  linear<float> layer(p_x, p_y, p_w, options);
  layer(x);
#if defined(WEIGHT_RANK)
  linear<float> wrong(p_x, p_y, everyone.partition<12>(), options);
#elif defined(NO_FEATURES)
  linear<float> wrong(everyone.partition(extents<>{}), p_y, everyone.partition<3, 1>(), options);
#elif defined(BATCH_IS_CUT)
  linear<float> wrong(everyone.partition<2, 4>(), p_y, p_w, options);
#elif defined(INPUT_FEATURES)
  linear<float> wrong(p_y, p_y, p_w, options);
#elif defined(OUTPUT_FEATURES)
  linear<float> wrong(p_x, p_x, p_w, options);
#elif defined(ELEMENT)
  layer(xt::xtensor<double, 2>(xt::ones<double>({2, 4})));
#elif defined(SCALAR)
  layer(xt::xtensor<float, 0>(1.0F));
#elif defined(ADJOINT_ELEMENT)
  layer.adjoint(xt::xtensor<double, 2>(xt::ones<double>({2, 4})));
#elif defined(ACTIVATION_ELEMENT)
  relu<float>()(xt::xtensor<double, 2>(xt::ones<double>({2, 4})));
#endif
}
