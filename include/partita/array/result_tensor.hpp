// The type of kernel results: an xtensor tensor that converts implicitly in one direction only.
#pragma once

#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/array/xtensor.hpp>
#include <type_traits>
#include <utility>

namespace partita {

/// An xtensor tensor to which no other expression converts implicitly, although it converts to plain tensors: so
/// `p.active() ? b(x) : zero_volume<float, 2>()` has a unique type. (A template with one parameter that derives from
/// the tensor, because xtensor accepts such a class as the same kind of expression.)
template <class Tensor>
class result_tensor : public Tensor {
 public:
  using typename Tensor::shape_type;

  result_tensor() = default;
  explicit result_tensor(const shape_type& shape) : Tensor(shape) {}  ///< of this shape; its elements are not set
  template <class E>
  explicit result_tensor(const xt::xexpression<E>& e) : Tensor(e) {}
  using Tensor::operator=;

  /// Sets each element to f(element, e) for a number e.
  template <class E, class F>
  result_tensor& scalar_computed_assign(const E& e, F&& f) {
    return Tensor::scalar_computed_assign(e, std::forward<F>(f)), *this;
  }
  // xt::noalias(y) = …, += … require that these assignment functions return the tensor itself.
#define PARTITA_DEFINE_ASSIGNMENT(name)              \
  template <class E>                                 \
  result_tensor& name(const xt::xexpression<E>& e) { \
    return Tensor::name(e), *this;                   \
  }
  PARTITA_DEFINE_ASSIGNMENT(assign)
  PARTITA_DEFINE_ASSIGNMENT(plus_assign)
  PARTITA_DEFINE_ASSIGNMENT(minus_assign)
  PARTITA_DEFINE_ASSIGNMENT(multiplies_assign)
  PARTITA_DEFINE_ASSIGNMENT(divides_assign)
  PARTITA_DEFINE_ASSIGNMENT(modulus_assign)
  PARTITA_DEFINE_ASSIGNMENT(bit_and_assign)
  PARTITA_DEFINE_ASSIGNMENT(bit_or_assign)
  PARTITA_DEFINE_ASSIGNMENT(bit_xor_assign)
#undef PARTITA_DEFINE_ASSIGNMENT
};

/// Computes `b += k(x)` in one pass, without xtensor's temporary for expressions that may refer to b.
template <class Storage, std::size_t Rank, xt::layout_type Layout, class Tag, class Tensor>
  requires(rank_of<Tensor> == Rank && std::is_same_v<typename Storage::value_type, element_of<Tensor>>)
auto& operator+=(xt::xtensor_container<Storage, Rank, Layout, Tag>& b, const result_tensor<Tensor>& y) {
  const auto to = block_of(b);
  const auto from = block_of(y);
  if (to.shape != from.shape) b += static_cast<const Tensor&>(y);  // xtensor's += repeats extents of 1
  else if (to.size() != 0) add_block(to.data, to.strides.data(), from.data, from.strides.data(), to.shape.data(), Rank);
  return b;
}

}  // namespace partita
