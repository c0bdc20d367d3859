// Helpers for adjoints that are composed of operations on tensors.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/tensors_of_rule.hpp>
#include <partita/sharded/detail/arithmetic_functions.hpp>
#include <partita/sharded/detail/elements_op.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// The complex conjugate of a value that an adjoint reads. Real numbers are returned unchanged.
template <class T>
sharded_tensor<T> conjugate_of(const sharded_tensor<T>& x) {
  if constexpr (is_complex<T>)
    return run_elements(elements_op<element_functions::conj<std::conditional_t<true, void, T>>>{}, std::vector{x});
  else return x;
}

/// The function that computes the cotangents of the operands x of an operation from the cotangent of its result y.
template <class T>
cotangent_function<T> make_adjoint(const applied_operation& op, const std::vector<sharded_tensor<T>>& x,
                                   const sharded_tensor<T>& y) {
  switch (op.work) {
    case block_work::product:
      return [op, x](std::size_t i, const sharded_tensor<T>& dy) {
        return run_operation<T>({select_tensors(op.how, {2, 1 - i}, i, "gradient of a product"), block_work::product},
                                {dy, conjugate_of(x[1 - i])});
      };
    case block_work::reshape:
      return [op](std::size_t, const sharded_tensor<T>& dy) {
        return run_operation<T>(
            {select_tensors(op.how, {1}, 0, "reshape back").with(linearity::movement), block_work::reshape}, {dy});
      };
    case block_work::custom:
      return [op, x, y](std::size_t i, const sharded_tensor<T>& dy) {
        return declared_cotangent(*op.custom, op.how.name(), i, dy, x, y);
      };
    case block_work::sum_or_repeat:
      break;
  }
  const applied_operation back{select_tensors(op.how, {1}, 0, "repeat over what was summed"),
                               block_work::sum_or_repeat};
  return [back](std::size_t, const sharded_tensor<T>& dy) { return run_operation<T>(back, {dy}); };
}

}  // namespace partita::detail
