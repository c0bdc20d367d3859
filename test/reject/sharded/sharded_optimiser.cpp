// Optimisers reject constant parameters and gradients of a different element type at compile time.
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
// first NO_BRACES: partita::sharded_optimiser: requires its parameters in braces, then options that name their values
// lines NO_BRACES: 12
// first A_NUMBER: partita::sharded_optimiser: requires its parameters in braces, then options that name their values
// lines A_NUMBER: 12
// first A_TENSOR: partita::sharded_optimiser::step\(gradients\): requires the gradients that value_and_gradient returns
// lines A_TENSOR: 12
#include <partita/sharded/sharded_optimiser.hpp>

using namespace partita;

void calls(sharded_tensor<float> w, sharded_tensor<double> d, const sharded_tensor<float> c, int n) {
  sharded_adam<float> optimiser({w}, {});
  optimiser.step(std::tuple(c));
  const sharded_adam<double> by_default({d});
  const adam_options slow{.learning_rate = 1e-4};
  const sharded_adam<double> by_name({d, d}, slow), over({d}, slow, optimiser_state_axes{"data"});
#if defined(CONSTANT)
  parameter_ref<float> wrong(c);
#elif defined(NO_TENSOR)
  parameter_ref<float> wrong(n);
#elif defined(OTHER_ELEMENTS)
  parameter_ref<float> wrong(d);
#elif defined(OTHER_GRADIENT)
  optimiser.step(std::tuple(d));
#elif defined(NO_BRACES)
  const sharded_adam<double> wrong(d);
#elif defined(A_NUMBER)
  const sharded_adam<double> wrong({d}, 0.1);
#elif defined(A_TENSOR)
  optimiser.step(c);
#endif
  (void)d, (void)n;
}
