// Fallback overloads of tensor functions: a call that no other overload accepts is a compile-time error that states
// what the function requires.
#pragma once

#include <partita/core/rejected_call.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sharded.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

namespace partita {

PARTITA_FALLBACK_OVERLOAD(reshape) {
  static_assert(detail::dependent_false<Given...>,
                "partita::reshape(x, extents): requires a tensor or an array and the extents of the result; of a typed "
                "tensor the layout, too: reshape<m.layout(...)>(x, {6, 4})");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(reshape)

PARTITA_FALLBACK_OVERLOAD(reshard) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::reshard<layout>(x): requires a tensor made by shard and a layout of its mesh; write "
      "reshard<m.layout(\"data\", \"\")>(x), or reshard(x, layout) of a tensor whose layout is known at run time");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(reshard)

PARTITA_FALLBACK_OVERLOAD(shard) {
  static_assert(detail::dependent_false<Given...>,
                "partita::shard<layout>(everyone, x): requires a layout, the world and an array, in this order; write "
                "shard<m.layout(\"data\", \"\")>(everyone, x), or shard(everyone, m.layout(\"data\", \"\"), x)");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(shard)

PARTITA_FALLBACK_OVERLOAD(mean) {
  static_assert(detail::dependent_false<Given...>,
                "partita::mean(x, dimensions<...>): requires a tensor or an array, and dimensions as part of the type; "
                "write mean(x, dimensions<0>)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(sum) {
  static_assert(detail::dependent_false<Given...>,
                "partita::sum(x, dimensions<...>): requires a tensor or an array, and dimensions as part of the type; "
                "write sum(x, dimensions<0>)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(transpose) {
  static_assert(detail::dependent_false<Given...>,
                "partita::transpose(x, permute<...>): requires a tensor, and an order of its dimensions as part of the "
                "type; write transpose(x, permute<1, 0>)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(matmul) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::matmul(a, b): requires two tensors or arrays of a known rank; multiply(x, number) is for numbers");
  return detail::rejected_call{};
}

#define PARTITA_REQUIRES_DIMENSION_OF(name, if_not_last)                                                              \
  "partita::" name "(x, dimensions<d>): requires a tensor or an array of a known rank, and the dimension" if_not_last \
  " as part of the type; write " name "(x, dimensions<0>)"
PARTITA_FALLBACK_OVERLOAD(softmax) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_DIMENSION_OF("softmax", ", if it is not the last one,"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(log_softmax) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_DIMENSION_OF("log_softmax", ", if it is not the last one,"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(argmax) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_DIMENSION_OF("argmax", ""));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(argmin) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_DIMENSION_OF("argmin", ""));
  return detail::rejected_call{};
}
#undef PARTITA_REQUIRES_DIMENSION_OF

PARTITA_FALLBACK_OVERLOAD(sort) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::sort(x, dimensions<d>): requires a tensor or an array, and the dimension as part of the type; "
      "write sort(x, dimensions<0>); sort(everyone, x) of partita/kernel/sort.hpp sorts the numbers of all "
      "workers");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(argsort) {
  static_assert(detail::dependent_false<Given...>,
                "partita::argsort(x, dimensions<d>): requires a tensor or an array, and the dimension as part of the "
                "type; write argsort(x, dimensions<0>); argsort(everyone, x) of partita/kernel/sort.hpp is for the "
                "numbers of all workers");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(top_k) {
  static_assert(detail::dependent_false<Given...>,
                "partita::top_k(x, k, dimensions<d>): requires a tensor or an array, a number, and the dimension as "
                "part of the type; write top_k(x, 3, dimensions<0>); top_k(everyone, x, 3) of "
                "partita/kernel/sorted_numbers.hpp is for the numbers of all workers");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(quantile) {
  static_assert(detail::dependent_false<Given...>,
                "partita::quantile(x, probability, dimensions<d>): requires a tensor or an array, a number, and the "
                "dimension as part of the type; write quantile(x, 0.5, dimensions<0>); quantile(everyone, x, {0.5}) of "
                "partita/kernel/sort.hpp is for the numbers of all workers");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(gelu) {
  static_assert(detail::dependent_false<Given...>, "partita::gelu(x): requires a tensor or an array of a known rank");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(where) {
  static_assert(detail::dependent_false<Given...>,
                "partita::where(condition, a, b): requires a condition and two tensors, or one and a number");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(slice) {
  static_assert(detail::dependent_false<Given...>,
                "partita::slice(x, dimensions<d...>, {from, to}...): requires a tensor, dimensions as part of the "
                "type, and an interval for each of them");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(pad) {
  static_assert(detail::dependent_false<Given...>,
                "partita::pad(x, dimensions<d...>, {before, after}...): requires a tensor, dimensions as part of the "
                "type, and two numbers for each of them");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(concatenate) {
  static_assert(detail::dependent_false<Given...>,
                "partita::concatenate(dimensions<d>, x...): requires the dimension as part of the type first, then "
                "tensors; write concatenate(dimensions<0>, x, y)");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(split) {
  static_assert(detail::dependent_false<Given...>,
                "partita::split(x, dimensions<d>, extents): requires a tensor, a dimension as part of the type and the "
                "extents of the parts; or split<3>(x, dimensions<0>)");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(split)

PARTITA_FALLBACK_OVERLOAD(take) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::take(x, indices, dimensions<d>): requires a tensor, indices and a dimension as part of the type");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(scatter) {
  static_assert(detail::dependent_false<Given...>,
                "partita::scatter(x, indices, updates, dimensions<d>): requires three tensors and a dimension as part "
                "of the type");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(cross_entropy) {
  static_assert(detail::dependent_false<Given...>,
                "partita::cross_entropy(scores, labels): requires scores, a tensor or an array of rows x classes, and "
                "an array of integer labels");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(lookup) {
  static_assert(detail::dependent_false<Given...>,
                "partita::lookup(table, labels): requires a tensor or an array of labels x width, and an array of "
                "integer labels");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(normalise) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::normalise(x, gamma, beta): requires three tensors or arrays, and a number for epsilon at most");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(apply_op) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::apply_op(op, x...): requires an operation that declares a rule, and tensors or arrays as operands");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(trace) {
  static_assert(detail::dependent_false<Given...>,
                "partita::trace(f, specs...): requires a function of tensors, and a spec for each of its parameters");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(attention) {
  static_assert(detail::dependent_false<Given...>,
                "partita::attention(q, k, v): requires three tensors: queries, keys and values");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(plan_reshard) {
  static_assert(detail::dependent_false<Given...>,
                "partita::plan_reshard(m, from, to, extents): requires a mesh, two layouts and the extents of the "
                "tensor, in this order");
  return detail::rejected_call{};
}

/// Fallback: a range-based for loop over a tensor is a compile-time error with a readable message.
template <detail::tensor_value X>
void begin(const X&) {
  static_assert(detail::dependent_false<X>,
                "partita: for (auto e : x) requires an array, and x is a tensor; loop over this worker's block, "
                "x.local(), or call x.for_each_local(f)");
}
template <detail::tensor_value X>
void end(const X&) {}  ///< Fallback; see begin.

}  // namespace partita
