// Composing arguments that are not operators, or calling the adjoint of a composition with a step that has none, is a
// compile-time error with one message.
//
// first NOTHING: partita::compose\(a, b, ...\): requires one operator or more, as kernels and layers are
// lines NOTHING: 12
// first A_FUNCTION: partita::compose\(a, b, ...\): requires one operator or more, as kernels and layers are; give a
//   function a struct with operator\(\) and adjoint\(\)
// lines A_FUNCTION: 12
// first AN_ARRAY: partita::compose\(a, b, ...\): requires one operator or more
// lines AN_ARRAY: 12
// first ADJOINT: partita::compose\(a, b, ...\).adjoint\(dy\): requires linear operators; one of these has no adjoint
// lines ADJOINT: 12
// first ADJOINT_INTO: partita::compose\(a, b, ...\).adjoint\(dy\): requires linear operators
// lines ADJOINT_INTO: 12
// first START_ADJOINT: partita::compose\(a, b, ...\).adjoint\(dy\): requires linear operators
// lines START_ADJOINT: 12
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/compose.hpp>

using namespace partita;

void calls(const world& everyone, xt::xtensor<float, 2>& x) {
  const auto p = everyone.partition<3, 2>();
  const all_reduce total(p, dimensions<0>, sum);
  const auto legal = compose(total, total);
  const auto not_linear = compose(total, all_reduce(p, dimensions<0>, maximum));
  legal.adjoint(x);
  not_linear(x);
#if defined(NOTHING)
  auto refused = compose();
#elif defined(A_FUNCTION)
  auto refused = compose(total, [](const auto& y) { return y; });
#elif defined(AN_ARRAY)
  auto refused = compose(total, x);
#elif defined(ADJOINT)
  not_linear.adjoint(x);
#elif defined(ADJOINT_INTO)
  not_linear.adjoint_into(x, x);
#elif defined(START_ADJOINT)
  not_linear.start_adjoint(x);
#endif
}
