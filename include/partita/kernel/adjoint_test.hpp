// The adjoint test <F x, y> == <x, F* y>, for the library's kernels and for a program's own operators.
#pragma once

#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/tree.hpp>

namespace partita {

/// Returns the scalar product of two blocks of this worker; the elements of the first block are conjugated. The sum of
/// the results of all workers is the scalar product of the tensors. Blocks of zero volume have the product 0, even if
/// their shapes differ.
/// Requires: blocks of equal shapes [shape_error].
template <ranked_array A, ranked_array B>
auto local_dot(const A& a, const B& b) {
  using T = element_of<A>;
  const xt::xtensor<T, rank_of<A>> left = a, right = b;
  if (left.shape() != right.shape() && left.size() + right.size() != 0)
    throw shape_error(text("partita::local_dot(a, b): requires blocks of one shape, got ")
                      << left.shape() << " and " << right.shape());
  T sum{};
  for (std::size_t k = 0; k < left.size(); ++k) {
    if constexpr (detail::is_complex<T>) sum += std::conj(left.data()[k]) * right.data()[k];
    else sum = static_cast<T>(sum + left.data()[k] * right.data()[k]);
  }
  return sum;
}

/// Both sides of the identity <F x, y> == <x, F* y> for the whole tensors x and y; all workers get the same two
/// numbers.
template <class T>
struct adjoint_products {
  T forward{};   ///< the scalar product <F x, y>
  T backward{};  ///< the scalar product <x, F* y>

  /// Whether the two scalar products are exactly equal, as they must be for integer-valued data in any order of
  /// summation.
  bool exact() const { return forward == backward; }
};

/// Applies F to x and its adjoint to y, and compares the scalar products over all workers of the world.
/// Shapes:   x is this worker's input block, y a block of the shape of F(x).
/// Requires: F is callable as F(x) and as F.adjoint(y) on every worker of the world; F(x) has the shape of y, and
///           F.adjoint(y) has the shape of x, unless both compared blocks are empty [shape_error, on all workers].
/// Cost:     one call of F, one call of F.adjoint, one agreement, and one sum of two numbers over all workers.
template <class Operator, ranked_array X, ranked_array Y>
auto adjoint_test(const world& everyone, Operator&& f, const X& x, const Y& y) {
  using T = element_of<X>;
  text error_message;
  const auto product = [&error_message](const auto& a, const auto& b) {
    try {
      return local_dot(a, b);
    } catch (const shape_error& thrown) {
      error_message << (error_message.empty() ? "partita::adjoint_test(everyone, f, x, y): " : "; ")
                    << thrown.sentence();
      return T{};
    }
  };
  const T forward = product(f(x), y);
  T local[2] = {forward, product(x, f.adjoint(y))};
  detail::one_call(*everyone.state(), [&] {
    worker_group all;
    all.root_is_large = true;
    for (std::size_t k = 0; k < everyone.size(); ++k) all.members.push_back(k);
    all.position = everyone.id();
    detail::agree_if_checked(*everyone.state(), 0x61646a6f696e74ULL, detail::local_error(error_message),
                             [] { return text("partita::adjoint_test(everyone, f, x, y)"); });
    T incoming[2] = {};
    detail::tree_reduce(*everyone.state(), all, local, local, incoming, 2, detail::tag::first_user_tag,
                        [](T& a, const T& b) { a = static_cast<T>(a + b); });
    detail::tree_broadcast(*everyone.state(), all, local, 2, detail::tag::first_user_tag);
  });
  return adjoint_products<T>{local[0], local[1]};
}

}  // namespace partita
