// Optimisers refuse what they cannot change, and gradients of other elements.
//
// expect CONSTANT: partita::sharded_optimiser: requires parameters that are tensors and may be changed
// expect NO_TENSOR: partita::sharded_optimiser: requires parameters that are tensors and may be changed
// expect OTHER_ELEMENTS: partita::sharded_optimiser: requires parameters of the optimiser's element type
// expect OTHER_GRADIENT: partita::sharded_optimiser::step: requires gradients that are tensors of the
//   parameters' elements
// lines CONSTANT: 12
// lines NO_TENSOR: 12
// lines OTHER_ELEMENTS: 12
// lines OTHER_GRADIENT: 12
#include <partita/sharded/sharded_optimiser.hpp>

using namespace partita;

void calls(sharded_tensor<float> w, sharded_tensor<double> d, const sharded_tensor<float> c, int n) {
  sharded_adam<float> optimiser({w}, {});
  optimiser.step(std::tuple(c));
#if defined(CONSTANT)
  trained<float> wrong(c);
#elif defined(NO_TENSOR)
  trained<float> wrong(n);
#elif defined(OTHER_ELEMENTS)
  trained<float> wrong(d);
#elif defined(OTHER_GRADIENT)
  optimiser.step(std::tuple(d));
#endif
  (void)d, (void)n;
}
