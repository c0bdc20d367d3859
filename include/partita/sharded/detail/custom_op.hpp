// The interface to the local functions and adjoints of operations that a program declares as a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <partita/comm/fingerprint.hpp>
#include <partita/sharded/detail/tape.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// This worker's block of a tensor, as it is passed to a local function: dense elements in C order, and the box of the
/// block's indices in the tensor.
template <class T>
struct tensor_part {
  T* memory = nullptr;         ///< the elements of the block
  shape_list shape{};          ///< the shape of the block
  short_list<interval> box{};  ///< the box of indices of the block in the tensor
  shape_list extents{};        ///< the extents of the tensor

  std::size_t size() const { return detail::shape_size(shape); }  ///< the number of elements of the block
  T* begin() const { return memory; }
  T* end() const { return memory + size(); }
  T& operator[](std::size_t k) const { return memory[k]; }
};

namespace detail {

/// An operation with a local function of its own; typed_custom_op has its functions for one element type.
struct custom_op {
  const std::uint64_t fingerprint;  ///< the same on all workers for equal operations
  explicit custom_op(std::uint64_t op_fingerprint) : fingerprint(op_fingerprint) {}
  custom_op(const custom_op&) = delete;
  custom_op& operator=(const custom_op&) = delete;
  virtual ~custom_op() = default;
};
/// A number that is equal for equal operations on all workers. An operation with parameters declares the number of its
/// data members, `static constexpr std::size_t parameters = 2`, so that the workers compare their values.
template <class Op>
std::uint64_t fingerprint_of_operation(const Op& op) {
  if constexpr (requires { std::integral_constant<std::size_t, Op::parameters>(); })
    return fingerprint_of_members<Op::parameters>(op, type_number<Op>());
  else return type_number<Op>();
}
/// The local function and the adjoint of a custom_op for elements of T.
template <class T>
struct typed_custom_op {
  virtual ~typed_custom_op() = default;
  /// Computes this worker's block y of the result from the blocks x of the operands.
  virtual void compute(const std::vector<tensor_part<const T>>& x, const tensor_part<T>& y) const = 0;
  /// Returns the local function for repeated calls on blocks of the same boxes, whose memory is passed with each call.
  /// An operation that defines its own `prepared` computes what does not depend on the elements once, before the calls.
  virtual std::function<void(const T* const*, T*)> prepared(const std::vector<tensor_part<const T>>& x,
                                                            const tensor_part<T>& y) const {
    return [this, parts = x, part = y](const T* const* from, T* to) mutable {
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].memory = from[i];
      part.memory = to;
      compute(parts, part);
    };
  }
  virtual bool has_adjoint() const = 0;  ///< whether the operation declares an adjoint
  /// Returns the cotangent of operand i, or an empty tensor if the operand has no cotangent.
  virtual sharded_tensor<T> cotangent(std::size_t i, const sharded_tensor<T>& dy,
                                      const std::vector<sharded_tensor<T>>& x, const sharded_tensor<T>& y) const = 0;
};

/// X for any index, to expand a pack of indices into a list of equal types.
template <std::size_t, class X>
using type_at_every_index = X;
/// The function `local` of Op takes the operands as separate arguments, not as one list.
template <class Op, class T, std::size_t... I>
concept takes_each = requires(const Op& op, const type_at_every_index<I, tensor_part<const T>>&... x,
                              const tensor_part<T>& y) { op.local(x..., y); };  ///< computes block y from blocks x
/// Op has, instead of `local`, a function `prepared`, which returns a function of the blocks' memory.
template <class Op, class T, std::size_t... I>
concept prepares = requires(const Op& op, const type_at_every_index<I, tensor_part<const T>>&... x,
                            const tensor_part<T>& y) { op.prepared(x..., y); };  ///< returns the function for y
template <class Op, class T, std::size_t... I>
concept has_adjoint_of_each =  ///< Op::adjoint takes the operands as separate arguments
    requires(const Op& op, std::size_t i, const sharded_tensor<T>& y,
             const type_at_every_index<I, sharded_tensor<T>>&... x) { op.adjoint(i, y, x..., y); };  ///< of operand i
template <class Op, class T>
concept has_adjoint_of_list =  ///< Op::adjoint takes the operands as one list
    requires(const Op& op, const sharded_tensor<T>& y, const std::vector<sharded_tensor<T>>& x) {
      op.adjoint(std::size_t{0}, y, x, y);
    };

/// Calls the local function and the adjoint that operation Op declares, for elements of T.
template <class Op, class T, class Operands>
struct typed_work_of_op;
template <class Op, class T, std::size_t... I>
struct typed_work_of_op<Op, T, std::index_sequence<I...>> : typed_custom_op<T> {  ///< calls the functions of `op`
  using tensor = sharded_tensor<T>;  ///< an operand, the result or a cotangent
  Op op;                             ///< the operation as the program declares it

  explicit typed_work_of_op(const Op& declared) : op(declared) {}

  void compute(const std::vector<tensor_part<const T>>& x, const tensor_part<T>& y) const override {
    if constexpr (prepares<Op, T, I...>) op.prepared(x[I]..., y)(x[I].memory..., y.memory);
    else if constexpr (takes_each<Op, T, I...>) op.local(x[I]..., y);
    else op.local(x, y);
  }
  std::function<void(const T* const*, T*)> prepared(const std::vector<tensor_part<const T>>& x,
                                                    const tensor_part<T>& y) const override {  ///< see typed_custom_op
    if constexpr (prepares<Op, T, I...>)
      return [run = op.prepared(x[I]..., y)](const T* const* from, T* to) mutable { run(from[I]..., to); };
    else return typed_custom_op<T>::prepared(x, y);
  }
  bool has_adjoint() const override { return has_adjoint_of_each<Op, T, I...> || has_adjoint_of_list<Op, T>; }
  tensor cotangent(std::size_t i, const tensor& dy, const std::vector<tensor>& x, const tensor& y) const override {
    if constexpr (has_adjoint_of_each<Op, T, I...>) return op.adjoint(i, dy, x[I]..., y);
    else if constexpr (has_adjoint_of_list<Op, T>) return op.adjoint(i, dy, x, y);
    else return {};
  }
};
/// The custom_op of an operation that is declared as the struct Op, for each of the element types T.
template <class Op, std::size_t Operands, class... T>
struct work_of_op final : custom_op, typed_work_of_op<Op, T, std::make_index_sequence<Operands>>... {
  explicit work_of_op(const Op& declared)
      : custom_op(fingerprint_of_operation(declared)),
        typed_work_of_op<Op, T, std::make_index_sequence<Operands>>(declared)... {}
};

/// The functions of an operation for elements of T. Throws an error if the operation has none for T.
template <class T>
const typed_custom_op<T>& work_for_type(const custom_op& custom, const char* name) {
  if (const auto* found = dynamic_cast<const typed_custom_op<T>*>(&custom)) return *found;
  throw error(text("partita: requires elements of float or double to run ")
              << name << " in a traced program; declare it `static constexpr bool on_integers = true`, or cast them");
}

/// Computes the cotangent of operand i by the adjoint that operation `custom` declares. If operand i has no cotangent,
/// the result is an empty tensor.
template <class T>
sharded_tensor<T> declared_cotangent(const custom_op& custom, const char* name, std::size_t i,
                                     const sharded_tensor<T>& dy, const std::vector<sharded_tensor<T>>& x,
                                     const sharded_tensor<T>& y) {
  const auto& declared = work_for_type<T>(custom, name);
  if (!declared.has_adjoint())
    throw error(text("partita::value_and_gradient: ")
                << name << " has no adjoint; declare one, or stop_gradient its operands");
  auto dx = declared.cotangent(i, dy, x, y);
  if (dx.state() != nullptr && !(dx.extents() == x[i].extents()))
    throw shape_error(text("partita::apply_op: requires adjoints of the extents of their operands, but that of ")
                      << name << " gives " << dx.extents() << " for operand " << i << " of extents " << x[i].extents());
  return dx;
}

}  // namespace detail
}  // namespace partita
