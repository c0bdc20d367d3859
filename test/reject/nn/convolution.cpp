// Compile-time errors of convolutions: a rank that differs from that of the partitions, a missing partition, integer
// elements, and an x of a different rank.
//
// expect PARTITION: partita::convolution\(p_x, options\): requires p_x = batch x 1 x features..., of rank Features \+ 2
// expect INTEGERS: partita::convolution<T, Features>: requires elements of type float or double
// expect RANK: partita::convolution<T, Features>\(x\): requires x of rank Features \+ 2: batch x channels x features
// lines RANK: 12
#include <partita/nn/convolution.hpp>

using namespace partita;

void calls(const partition<extents<1, 1, 2>>& p, const partition<extents<1, 1, 2, 1>>& p_2,
           const xt::xtensor<float, 3>& x, const xt::xtensor<float, 4>& x_2) {
  convolution<float, 1> c(p, {.in_channels = 1, .out_channels = 2, .kernel = {3}});
  c(x);
  (void)p_2, (void)x_2;
#if defined(PARTITION)
  convolution<float, 1>(p_2, {.in_channels = 1, .out_channels = 2, .kernel = {3}});
#elif defined(INTEGERS)
  convolution<int, 1>(p, {.in_channels = 1, .out_channels = 2, .kernel = {3}});
#elif defined(RANK)
  c(x_2);
#endif
}
