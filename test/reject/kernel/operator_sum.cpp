// The adjoint of a sum of operators is a compile-time error with one message if an operator has no adjoint.
//
// first ADJOINT: partita::add\(a, b\).adjoint\(dy\): requires linear operators; one of these has no adjoint
// lines ADJOINT: 12
// first ADJOINT_INTO: partita::add\(a, b\).adjoint\(dy\): requires linear operators
// lines ADJOINT_INTO: 12
// first START_ADJOINT: partita::add\(a, b\).adjoint\(dy\): requires linear operators
// lines START_ADJOINT: 12
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/operator_sum.hpp>

using namespace partita;

void calls(const world& everyone, xt::xtensor<float, 2>& x) {
  const auto p = everyone.partition<3, 2>();
  const all_reduce total(p, dimensions<0>, sum);
  const auto legal = add(total, total);
  const auto not_linear = add(total, all_reduce(p, dimensions<0>, maximum));
  legal.adjoint(x);
  not_linear(x);
#if defined(ADJOINT)
  not_linear.adjoint(x);
#elif defined(ADJOINT_INTO)
  not_linear.adjoint_into(x, x);
#elif defined(START_ADJOINT)
  not_linear.start_adjoint(x);
#endif
}
