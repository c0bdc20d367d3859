// Losses and optimisers reject blocks of invalid types at compile time.
//
// expect LOSS_RANK: partita::softmax_cross_entropy<T>\(scores, labels\): requires scores of rank 2 \(batch x classes\)
//   and element type T
// lines LOSS_RANK: 12
// expect LOSS_ELEMENTS: requires scores of rank 2 \(batch x classes\) and element type T
// lines LOSS_ELEMENTS: 12
// expect LOSS_PARTITION: partita::softmax_cross_entropy\(p\): requires p = 1 x ... x f, of rank 1 at least
// lines LOSS_PARTITION: 12
// expect ACTIVATION_ELEMENTS: partita::activation<T>\(x\): requires elements of type T; cast x first
// lines ACTIVATION_ELEMENTS: 12
// expect ACTIVATION_NO_RANK: partita::activation<T>\(x\): requires an x whose rank is part of its type
// lines ACTIVATION_NO_RANK: 12
// expect NO_PARAMETERS: partita::sequential::parameters\(\): requires a layer that has parameters
// lines NO_PARAMETERS: 12
#include <partita/nn/activation.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 2>& x, const xt::xtensor<double, 3>& higher,
           const xt::xtensor<int, 1>& labels) {
  softmax_cross_entropy<float> loss(everyone.partition<1, 4>());
  loss(x, labels);
  relu<float> activate;
  activate(x);
  sequential network(relu<float>{}, sigmoid<float>{});
  network(x);
#if defined(LOSS_RANK)
  softmax_cross_entropy<double>(everyone.partition<4>())(higher, labels);
#elif defined(LOSS_ELEMENTS)
  softmax_cross_entropy<double>(everyone.partition<4>())(x, labels);
#elif defined(LOSS_PARTITION)
  softmax_cross_entropy<float> refused(everyone.partition(extents<>{}));
#elif defined(ACTIVATION_ELEMENTS)
  activate(higher);
#elif defined(ACTIVATION_NO_RANK)
  activate(xt::xarray<float>(x));
#elif defined(NO_PARAMETERS)
  network.parameters();
#endif
  static_cast<void>(higher);
}
