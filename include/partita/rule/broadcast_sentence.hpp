// The error messages of array broadcasting: the call, its requirement, both shapes, and the valid alternatives.
#pragma once

#include <cstddef>
#include <partita/core/short_list.hpp>
#include <partita/core/text.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <partita/rule/broadcast_in_dim_rule.hpp>
#include <partita/rule/numpy_broadcast.hpp>
#include <partita/rule/select_and_clamp_rule.hpp>

namespace partita {

namespace detail {

/// Writes a shape as [2, dynamic, 4].
template <class Extent>
constexpr text format_shape(const short_list<Extent>& shape) {
  text out("[");
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d > 0) out << ", ";
    if (shape[d] == Extent{dynamic}) out << "dynamic";
    else out << shape[d];
  }
  return out << "]";
}

/// The largest number of valid broadcast_dimensions that an error message lists.
inline constexpr std::size_t max_alternatives = 6;

/// Appends to `out` the valid broadcast_dimensions from `small` to `large` that begin with `chosen`, but stops after
/// max_alternatives. `found` is the number of those listed before; returns `found` plus the number of those added.
template <class Extent>
constexpr std::size_t list_alternatives(text& out, const short_list<Extent>& small, const short_list<Extent>& large,
                                        broadcast_dimensions_list chosen, std::size_t found) {
  if (found > max_alternatives) return found;
  const std::size_t i = chosen.size();
  if (i == small.size()) {
    if (found == max_alternatives) {
      out << " or ...";
    } else {
      out << (found == 0 ? "broadcast_dimensions<" : " or <");
      for (std::size_t k = 0; k < i; ++k) out << (k == 0 ? "" : ", ") << chosen[k];
      out << ">";
    }
    return found + 1;
  }
  std::size_t d = i == 0 ? 0 : static_cast<std::size_t>(chosen[i - 1]) + 1;
  for (; d + (small.size() - i) <= large.size(); ++d) {
    if (!may_be_mapped(small[i], large[d])) continue;
    auto longer = chosen;
    longer.push_back(static_cast<std::ptrdiff_t>(d));
    found = list_alternatives(out, small, large, longer, found);
  }
  return found;
}

/// Writes the suggestion of an error message: the broadcast_dimensions that would be valid for two shapes.
template <class Extent>
constexpr void append_alternatives(text& out, const short_list<Extent>& small, const short_list<Extent>& large) {
  out << "; ";
  if (small.empty()) {
    out << "leave broadcast_dimensions out for a scalar";
    return;
  }
  text list;
  const std::size_t found = list_alternatives(list, small, large, {}, 0);
  if (found == 0) out << "no broadcast_dimensions fit these shapes: transpose or reshape the smaller operand first";
  else out << list << " would be valid";
}

/// Whether the entries of `dims` are distinct, so that a transposition can sort them.
constexpr bool is_permuted(const broadcast_dimensions_list& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (dims[i] == dims[k]) return false;
  return true;
}

/// Writes the beginning of an error message: the call with its broadcast_dimensions, and "requires".
constexpr text format_call(const char* operation, const char* operands, const broadcast_dimensions_list& dims) {
  text out("partita::");
  out << operation << "(" << operands;
  if (!dims.empty()) {
    out << ", broadcast_dimensions<";
    for (std::size_t i = 0; i < dims.size(); ++i) out << (i == 0 ? "" : ", ") << dims[i];
    out << ">";
  }
  return out << "): requires ";
}

}  // namespace detail

/// Writes the error message of a binary operation that is not legal.
template <class Extent>
constexpr text explain_verdict(const broadcast_verdict& verdict, const char* operation, const short_list<Extent>& lhs,
                               const short_list<Extent>& rhs, const broadcast_dimensions_list& dims) {
  using enum broadcast_fault;
  text out = detail::format_call(operation, "lhs, rhs", dims);
  const bool is_lhs_smaller = lhs.size() < rhs.size();
  const auto& small = is_lhs_smaller ? lhs : rhs;
  const auto& large = is_lhs_smaller ? rhs : lhs;
  const char* small_name = is_lhs_smaller ? "lhs" : "rhs";
  const char* large_name = is_lhs_smaller ? "rhs" : "lhs";
  const std::size_t i = verdict.at;
  text shapes("; lhs is ");
  shapes << detail::format_shape(lhs) << ", rhs is " << detail::format_shape(rhs);
  switch (verdict.fault) {
    case same_rank_dims_not_identity:
      out << "operands of equal rank " << lhs.size()
          << " to have no broadcast_dimensions, or exactly 0, 1, ..., rank - 1" << shapes << "; leave them out"
          << (detail::is_permuted(dims) && dims.size() == lhs.size() ? ", or transpose first" : "");
      return out;
    case incompatible_shapes:
      out << "extents that are equal or 1 in every dimension; dimension " << i << " has " << lhs[i] << " against "
          << rhs[i] << shapes << "; reshape or slice one of them first";
      return out;
    case rank_mismatch_without_dims:
      out << "equal ranks, a scalar, or broadcast_dimensions" << shapes;
      break;
    case dims_size_mismatch:
      out << "one entry of broadcast_dimensions for each dimension of the smaller operand " << small_name << " ("
          << small.size() << "), got " << dims.size() << shapes;
      break;
    case dim_negative:
      out << "entries of broadcast_dimensions that are not negative; entry " << i << " is " << dims[i] << shapes;
      break;
    case dim_too_large:
      out << "entries of broadcast_dimensions below the rank of the larger operand " << large_name << " ("
          << large.size() << "); entry " << i << " is " << dims[i] << shapes;
      break;
    case indim_size_mismatch:
      out << "mapped extents that are equal or 1; dimension " << i << " of " << small_name << " (extent " << small[i]
          << ") is mapped to dimension " << dims[i] << " of " << large_name << " (extent "
          << large[static_cast<std::size_t>(dims[i])] << ")" << shapes;
      break;
    case dims_not_strictly_increasing:
      out << "strictly increasing broadcast_dimensions; entry " << i - 1 << " is " << dims[i - 1] << " and entry " << i
          << " is " << dims[i] << shapes;
      if (detail::is_permuted(dims)) out << "; transpose " << small_name << " first";
      break;
    default:
      return out << name_of(verdict.fault) << shapes;
  }
  detail::append_alternatives(out, small, large);
  return out;
}

/// Writes the error message of a broadcast_in_dim that is not legal.
template <class Extent>
constexpr text explain_verdict(const broadcast_verdict& verdict, strictness level, const short_list<Extent>& operand,
                               const short_list<Extent>& result, const broadcast_dimensions_list& dims) {
  using enum broadcast_fault;
  text out = detail::format_call("broadcast_in_dim", "x, result", dims);
  const std::size_t i = verdict.at;
  text shapes("; x is ");
  shapes << detail::format_shape(operand) << ", the result " << detail::format_shape(result);
  switch (verdict.fault) {
    case dims_size_mismatch:
      out << "one entry of broadcast_dimensions for each dimension of x (" << operand.size() << "), got " << dims.size()
          << shapes;
      break;
    case operand_rank_exceeds_output_rank:
      return out << "a result of at least the operand's rank" << shapes << "; sum over dimensions instead";
    case dim_out_of_range:
      out << "entries of broadcast_dimensions from 0 to " << result.size() << " - 1; entry " << i << " is " << dims[i]
          << shapes;
      break;
    case operand_size_mismatch:
      out << (level == strictness::hlo ? "extents equal to the result's" : "extents that are 1 or the result's")
          << "; dimension " << i << " of x (extent " << operand[i] << ") is mapped to dimension " << dims[i]
          << " of the result (extent " << result[static_cast<std::size_t>(dims[i])] << ")" << shapes;
      break;
    case dims_not_strictly_increasing:
      out << "strictly increasing broadcast_dimensions; entry " << i - 1 << " is " << dims[i - 1] << " and entry " << i
          << " is " << dims[i] << shapes;
      if (detail::is_permuted(dims)) return out << "; transpose x first, or pass the policy stablehlo";
      break;
    case dims_not_unique:
      out << "distinct broadcast_dimensions; entry " << i << " repeats " << dims[i] << shapes;
      break;
    default:
      return out << name_of(verdict.fault) << shapes;
  }
  detail::append_alternatives(out, operand, result);
  return out;
}

/// Writes the error message of a result that was given with a negative extent.
constexpr text explain_verdict(const broadcast_verdict& verdict, const short_list<std::ptrdiff_t>& result) {
  return text("partita::broadcast_in_dim(x, result): requires a result without negative extents; dimension ")
         << verdict.at << " of " << result << " is " << result[verdict.at] << "; give the extents of the whole result";
}

/// Writes the error message of a select or clamp that is not legal.
template <class Extent>
constexpr text explain_ternary(const char* call, const char* requirement, const short_list<Extent>& a,
                               const short_list<Extent>& b, const short_list<Extent>& c) {
  return text("partita::") << call << ": requires " << requirement << "; the shapes are " << detail::format_shape(a)
                           << ", " << detail::format_shape(b) << ", " << detail::format_shape(c)
                           << "; use broadcast_in_dim on the smaller ones first";
}

/// Writes the error message of operands that NumPy's rule rejects.
template <class Extent>
constexpr text explain_numpy(const broadcast_verdict& verdict, const char* operation,
                             const short_list<Extent>* operands, std::size_t count) {
  text out("partita::numpy::");
  out << operation << ": requires ";
  if (verdict.fault == broadcast_fault::no_operands) return out << "at least one operand";
  out << "extents that are equal or 1 in every dimension, counted from the last; dimension " << verdict.at
      << " of the result has no extent that fits all; the shapes are ";
  for (std::size_t k = 0; k < count; ++k) out << (k == 0 ? "" : ", ") << detail::format_shape(operands[k]);
  return out << "; reshape one of them first";
}

}  // namespace partita
