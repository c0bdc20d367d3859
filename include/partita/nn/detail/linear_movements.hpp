// The communication of a linear layer: depending on the algorithm, x is sent to the workers that keep the weights,
// their products are summed to y, or both. Each algorithm has its own class.
//
// Each class has four operations: receive x, send the products to y, and the adjoints of these two. Products of the
// adjoint are summed over workers, where needed, while the caller computes. With checks::agree, all workers throw the
// error message of one worker in the first communicating operation of a forward or adjoint call.
#pragma once

#include <array>
#include <cstddef>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/plan/linear_plan.hpp>
#include <partita/rule/linear_rule.hpp>
#include <utility>

namespace partita::detail {

/// The memory that holds the elements of a pooled tensor; the type does not depend on the rank.
template <class T>
using pooled_storage = typename pooled_tensor<T, 1>::storage_type;

/// Makes a tensor of this shape from the elements, without a copy. The shape must have as many elements as are given.
template <class T, std::size_t Rank>
pooled_tensor<T, Rank> to_tensor(pooled_storage<T>&& elements, const std::array<std::size_t, Rank>& shape) {
  pooled_tensor<T, Rank> tensor;
  tensor.storage() = std::move(elements);
  tensor.resize(typename pooled_tensor<T, Rank>::shape_type(shape));
  return tensor;
}

/// An uninitialised tensor, allocated in `memory`, or in the pool on the heap if `memory` is null.
template <class T, std::size_t Rank>
pooled_tensor<T, Rank> uninitialised_tensor(arena* memory, const std::array<std::size_t, Rank>& shape) {
  if (memory != nullptr) return make_pooled<T, Rank>(*memory, shape);
  return pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(shape));
}

/// The extents of a tensor as a matrix: the product of all extents but the last, and the last extent.
template <std::size_t Rank>
std::array<std::size_t, 2> matrix_shape(const std::array<std::size_t, Rank>& shape) {
  std::size_t rows = 1;
  for (std::size_t d = 0; d + 1 < Rank; ++d) rows *= shape[d];
  return {rows, shape[Rank - 1]};
}

/// Reshapes a tensor to a matrix, whose columns are the last dimension, without a copy.
template <class T, std::size_t Rank>
pooled_tensor<T, 2> to_matrix(pooled_tensor<T, Rank>&& tensor) {
  const auto shape = matrix_shape(shape_array<Rank>(tensor.shape()));
  return to_tensor<T, 2>(std::move(tensor.storage()), shape);
}

/// Reshapes a matrix to a tensor with the batch dimensions of `shape`; the columns become the last dimension.
template <class T, std::size_t Rank>
pooled_tensor<T, Rank> restore_batch(pooled_tensor<T, 2>&& matrix, std::array<std::size_t, Rank> shape) {
  shape[Rank - 1] = matrix.shape()[1];
  return to_tensor<T, Rank>(std::move(matrix.storage()), shape);
}

/// A caller's block as dense memory: used in place if it is dense, otherwise packed into a copy.
template <class X>
class dense_argument {
 public:
  using T = element_of<X>;
  static constexpr std::size_t rank = rank_of<X>;  ///< the number of dimensions of the block

  /// Uses the memory of x if it is dense; otherwise copies x.
  explicit dense_argument(const X& x) : argument_(x) {
    if (argument_.block().dense()) return;
    packed_.resize(argument_.block().size());
    copy<T, rank>(dense_block<T>(packed_.data(), shape()), argument_.block());
  }
  const std::array<std::size_t, rank>& shape() const { return argument_.block().shape; }
  const T* data() const { return packed_.size() != 0 ? packed_.data() : argument_.block().data; }
  /// The block as a matrix, whose columns are the last dimension.
  auto matrix() const {
    const auto both = matrix_shape(shape());
    return xt::adapt(static_cast<const T*>(data()), both[0] * both[1], xt::no_ownership(), both);
  }

 private:
  block_argument<X> argument_;  ///< the caller's block
  pooled_storage<T> packed_;    ///< the copy of a block that is not dense; else empty
};

/// A block that was communicated to this worker. The class has the members of the class dense_argument.
template <class T, std::size_t Rank>
class received_block {
 public:
  explicit received_block(pooled_tensor<T, Rank>&& tensor) : tensor_(std::move(tensor)) {}
  std::array<std::size_t, Rank> shape() const { return shape_array<Rank>(tensor_.shape()); }
  const T* data() const { return tensor_.data(); }

 private:
  pooled_tensor<T, Rank> tensor_;  ///< the received elements
};

/// A product whose sum over the workers is pending: other workers may read its memory until the sum is complete.
template <class T, std::size_t Rank>
class pending_product {
 public:
  /// Makes a product whose sum over the workers is pending in `pending_sum`. With `in_place` the sum overwrites the
  /// memory of the product.
  pending_product(pooled_tensor<T, Rank>&& product, bool in_place, pending<pooled_tensor<T, Rank>>&& pending_sum)
      : product_(std::move(product)), is_in_place_(in_place), pending_sum_(std::move(pending_sum)) {}
  /// Makes a product that needs no sum over workers.
  explicit pending_product(pooled_tensor<T, Rank>&& product)
      : pending_product(std::move(product), true, {{}, nullptr, 0}) {}

  /// Waits for the sum, and returns this worker's block of it.
  pooled_tensor<T, Rank> finish() {
    auto sum = pending_sum_.finish();
    return is_in_place_ ? std::move(product_) : std::move(sum);
  }

 private:
  pooled_tensor<T, Rank> product_;               ///< this worker's contribution to the sum, or in place the sum
  bool is_in_place_;                             ///< whether the sum overwrites product_
  pending<pooled_tensor<T, Rank>> pending_sum_;  ///< destroyed before product_, so other workers have read product_
};

/// The communication of a linear layer with this algorithm.
template <class T, linear_algorithm Algorithm>
class linear_movements;

/// Weight-stationary: x is broadcast along the columns of p_w, and the products are summed along the rows of p_w.
template <class T>
class linear_movements<T, weight_stationary> {
  using any_grid_shape = dynamic_extents<2>;  ///< the extents of a partition of any grid shape

 public:
  linear_movements(const partition<any_grid_shape>& p_x, const partition<any_grid_shape>& p_y,
                   const partition<any_grid_shape>& p_w)
      : broadcast_(p_x, p_w), sum_(p_w, p_y, transpose_src) {}

  arena* memory() const { return broadcast_.memory(); }  ///< where products are allocated so that others may read them
  /// Returns the block of x that this worker multiplies. Collective, as are send_y, receive_dy and start_send_dx.
  template <class X>
  auto receive_x(const X& x, const text& error_message) {
    return kernel_access::call(broadcast_, x, error_message);
  }
  /// Sums the products of the workers, and returns this worker's block of y.
  template <std::size_t Rank>
  pooled_tensor<T, Rank> send_y(pooled_tensor<T, Rank>&& product, const text&) {
    if (!can_sum_in_place(sum_.plan())) return sum_(product);
    kernel_access::into(sum_, product, product, {});
    return std::move(product);
  }
  /// Communicates dy, and returns the block of dy that this worker multiplies.
  template <class Y>
  auto receive_dy(const Y& dy, const text& error_message) {
    return received_block<T, rank_of<Y>>(kernel_access::adjoint(sum_, dy, error_message));
  }
  /// Calls fill(), which computes the product, and starts the sum of the products of the workers to dx.
  template <std::size_t Rank, class Fill>
  pending_product<T, Rank> start_send_dx(pooled_tensor<T, Rank>&& product, const text& error_message, Fill fill) {
    const bool in_place = can_sum_in_place(broadcast_.plan());
    auto pending_sum = in_place ? kernel_access::start_adjoint_into(broadcast_, product, product, error_message, fill)
                                : kernel_access::start_adjoint(broadcast_, product, error_message, fill);
    return {std::move(product), in_place, std::move(pending_sum)};
  }
  /// Stores in `plan` what is communicated.
  void describe(linear_plan& plan) const {
    plan.input = broadcast_.plan();
    plan.output = sum_.plan();
  }

 private:
  /// Whether this worker contributes to one sum only and is its root, so that the sum can overwrite the contribution.
  static bool can_sum_in_place(const group_plan& plan) {
    return plan.groups.size() == 1 && plan.groups[0].position == 0 && plan.groups[0].root_is_large;
  }

  broadcast<any_grid_shape, any_grid_shape> broadcast_;              ///< broadcasts x to the workers of p_w
  sum_reduce<any_grid_shape, any_grid_shape, transpose_src_t> sum_;  ///< sums products to blocks of y
};

/// Column-parallel: x is gathered on all workers, and each worker's product is its block of y.
template <class T>
class linear_movements<T, column_parallel> {
  using any_grid_shape = dynamic_extents<2>;  ///< the extents of a partition of any grid shape

 public:
  linear_movements(const partition<any_grid_shape>& p_x, const partition<any_grid_shape>&,
                   const partition<any_grid_shape>&)
      : gather_(p_x, dimensions<1>) {}

  arena* memory() const { return gather_.memory(); }
  template <class X>
  auto receive_x(const X& x, const text& error_message) {
    const dense_argument<X> argument(x);
    return restore_batch(kernel_access::call(gather_, argument.matrix(), error_message), argument.shape());
  }
  template <std::size_t Rank>
  pooled_tensor<T, Rank> send_y(pooled_tensor<T, Rank>&& product, const text&) {
    return std::move(product);
  }
  template <class Y>
  auto receive_dy(const Y& dy, const text&) {
    return dense_argument<Y>(dy);
  }
  template <std::size_t Rank, class Fill>
  auto start_send_dx(pooled_tensor<T, Rank>&& product, const text& error_message, Fill fill) {
    struct batched_product {                 // the pending product as a tensor of the shape of x
      pending_product<T, 2> matrix_product;  ///< the product as a matrix
      std::array<std::size_t, Rank> shape;   ///< gives dx its batch extents
      pooled_tensor<T, Rank> finish() { return restore_batch(matrix_product.finish(), shape); }  ///< waits for the sum
    };
    const auto shape = shape_array<Rank>(product.shape());
    auto rows = to_matrix(std::move(product));
    auto pending_sum = kernel_access::start_adjoint(gather_, rows, error_message, fill);
    return batched_product{pending_product<T, 2>(std::move(rows), false, std::move(pending_sum)), shape};
  }
  void describe(linear_plan& plan) const { plan.members = gather_.members(); }  ///< lists the workers that gather x

 private:
  all_gather<any_grid_shape> gather_;  ///< gathers the blocks of x on all workers
};

/// Row-parallel: every worker multiplies its block of x; the products are summed and scattered over the workers.
template <class T>
class linear_movements<T, row_parallel> {
  using any_grid_shape = dynamic_extents<2>;  ///< the extents of a partition of any grid shape

 public:
  linear_movements(const partition<any_grid_shape>& p_x, const partition<any_grid_shape>&,
                   const partition<any_grid_shape>&)
      : scatter_(p_x, dimensions<1>) {}

  arena* memory() const { return scatter_.memory(); }
  template <class X>
  auto receive_x(const X& x, const text&) {
    const block_argument<X> argument(x);
    auto kept = uninitialised_tensor<T, rank_of<X>>(nullptr, argument.block().shape);
    copy<T, rank_of<X>>(block_of(kept), argument.block());
    return kept;
  }
  template <std::size_t Rank>
  pooled_tensor<T, Rank> send_y(pooled_tensor<T, Rank>&& product, const text& error_message) {
    const auto shape = shape_array<Rank>(product.shape());
    return restore_batch(kernel_access::call(scatter_, to_matrix(std::move(product)), error_message), shape);
  }
  template <class Y>
  auto receive_dy(const Y& dy, const text& error_message) {
    const dense_argument<Y> argument(dy);
    return received_block<T, rank_of<Y>>(
        restore_batch(kernel_access::adjoint(scatter_, argument.matrix(), error_message), argument.shape()));
  }
  template <std::size_t Rank, class Fill>
  pending_product<T, Rank> start_send_dx(pooled_tensor<T, Rank>&& product, const text&, Fill fill) {
    fill();
    return pending_product<T, Rank>(std::move(product));
  }
  void describe(linear_plan& plan) const { plan.members = scatter_.members(); }  ///< lists the workers that sum y

 private:
  reduce_scatter<any_grid_shape> scatter_;  ///< sums the products, and gives each worker its block of y
};

}  // namespace partita::detail
