// The execution of a program with real and complex values, and of one whose element types are known only at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/plan/complete.hpp>
#include <partita/sharded/detail/wider_windows.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <partita/sharded/traced.hpp>
#include <vector>

namespace partita::detail {

/// A tensor whose element type is known only at run time.
struct untyped_tensor {
  std::shared_ptr<void> state{};  ///< a tensor_state of this element type
  std::uint64_t type = 0;         ///< the type_number of the element type

  template <class T>
  static untyped_tensor from_tensor(const sharded_tensor<T>& x) {  ///< shares the tensor's state
    return {x.state(), type_number<T>()};
  }
  template <class T>
  sharded_tensor<T> as_tensor() const {  ///< T must be the type of the elements
    return sharded_tensor<T>(std::static_pointer_cast<tensor_state<T>>(state));
  }
};

/// The functions that execute a program with real and complex values. Tracing an operation that converts between real
/// and complex values sets these functions in the program.
struct mixed_type_execution {
  virtual ~mixed_type_execution() = default;
  /// Executes a program on an array of its arguments, and returns its result.
  virtual untyped_tensor run(const traced_function& program, const untyped_tensor* arguments) const = 0;
  /// Returns the reshards that the backward pass of the program makes.
  virtual std::vector<backward_reshard> backward_reshards(const traced_function& program) const = 0;
};

/// The interface to the values of a program that is being executed, which hides their element types.
struct program_values {
  virtual ~program_values() = default;
  /// begin() is called before the first operation of a program, with the layouts of all operations.
  virtual void begin(std::vector<placed_operation>&) {}
  /// Makes argument number `argument` the value v of the program, in this layout.
  virtual void set_argument(std::size_t argument, value v, const sharding& layout) = 0;
  /// Executes an operation that reads its operands in `operand_layouts` and computes its result in `computed_layout`,
  /// and reshards the result to `final_layout`.
  virtual void execute(std::size_t operation, const std::vector<sharding>& operand_layouts,
                       const sharding& computed_layout, const sharding& final_layout) = 0;
};

}  // namespace partita::detail
