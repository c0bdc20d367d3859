// Array broadcasting of two operands by XLA's rules: whether a broadcast is legal, the shape of its result, and the
// result dimensions to which each operand is mapped.
//
// First, the operand of lower rank is mapped to the operand of higher rank by explicit, strictly increasing
// broadcast_dimensions (a scalar needs none). Second, in each dimension, an extent of 1 of either operand is expanded
// to the extent of the other operand. XLA never promotes ranks implicitly. (OpenXLA, "Broadcasting semantics".)
#pragma once

#include <cstddef>
#include <partita/core/short_list.hpp>
#include <partita/rule/dimension_map.hpp>
#include <partita/rule/known_extent.hpp>

namespace partita {

/// The result dimensions to which the dimensions of an operand are mapped, as a run-time list: {0, 2}.
using broadcast_dimensions_list = short_list<std::ptrdiff_t>;

/// The errors of a broadcast. The enumerators have the names that the recorded conformance tests use.
enum class broadcast_fault {
  none,  ///< the shapes broadcast
  // Errors of a binary operation on two operands.
  same_rank_dims_not_identity,   ///< ranks are equal, and broadcast_dimensions is not 0, 1, …
  rank_mismatch_without_dims,    ///< ranks differ, no operand is a scalar, and broadcast_dimensions is empty
  dims_size_mismatch,            ///< not one entry of broadcast_dimensions for each dimension of the smaller operand
  dim_negative,                  ///< an entry of broadcast_dimensions is negative
  dim_too_large,                 ///< an entry of broadcast_dimensions is no dimension of the larger operand
  indim_size_mismatch,           ///< a dimension is mapped to one of another extent, and neither is 1
  dims_not_strictly_increasing,  ///< an entry of broadcast_dimensions is not larger than the one before it
  incompatible_shapes,           ///< two extents differ, and neither is 1
  // Errors of broadcast_in_dim.
  operand_rank_exceeds_output_rank,  ///< the operand has more dimensions than the result
  dim_out_of_range,                  ///< an entry of broadcast_dimensions is no dimension of the result
  operand_size_mismatch,             ///< an extent of the operand does not fit that of the result
  dims_not_unique,                   ///< two dimensions are mapped to one dimension of the result
  negative_output_size,              ///< the result has a negative extent
  // Errors of NumPy's rule.
  no_operands,               ///< there is no operand
  mixed_bounded_and_static,  ///< a dynamic extent and a static extent other than 1 meet in one dimension
};

/// Returns the name of a broadcast error as text.
constexpr const char* name_of(broadcast_fault fault) {
  constexpr const char* names[] = {"none",
                                   "same_rank_dims_not_identity",
                                   "rank_mismatch_without_dims",
                                   "dims_size_mismatch",
                                   "dim_negative",
                                   "dim_too_large",
                                   "indim_size_mismatch",
                                   "dims_not_strictly_increasing",
                                   "incompatible_shapes",
                                   "operand_rank_exceeds_output_rank",
                                   "dim_out_of_range",
                                   "operand_size_mismatch",
                                   "dims_not_unique",
                                   "negative_output_size",
                                   "no_operands",
                                   "mixed_bounded_and_static"};
  return names[static_cast<std::size_t>(fault)];
}

/// The result of checking a broadcast: the first error in XLA's order, and its position.
struct broadcast_verdict {
  broadcast_fault fault = broadcast_fault::none;  ///< the first error, or `none`
  std::size_t at = 0;  ///< the index of the wrong entry of broadcast_dimensions, or the wrong dimension

  constexpr explicit operator bool() const { return fault == broadcast_fault::none; }
  friend constexpr bool operator==(const broadcast_verdict&, const broadcast_verdict&) = default;
};

namespace detail {

/// Whether the list `dims` is 0, 1, …, rank - 1, so that no dimension is moved.
constexpr bool is_identity(const broadcast_dimensions_list& dims, std::size_t rank) {
  if (dims.size() != rank) return false;
  for (std::size_t i = 0; i < rank; ++i)
    if (dims[i] != static_cast<std::ptrdiff_t>(i)) return false;
  return true;
}

}  // namespace detail

/// Checks by XLA's rules whether shapes `lhs` and `rhs` broadcast. A std::size_t that is `dynamic`, so unknown,
/// violates no rule.
template <class Extent>
constexpr broadcast_verdict judge_array_broadcast(const short_list<Extent>& lhs, const short_list<Extent>& rhs,
                                                  const broadcast_dimensions_list& dims = {}) {
  using enum broadcast_fault;
  const std::size_t rank = lhs.size() > rhs.size() ? lhs.size() : rhs.size();
  if (lhs.size() == rhs.size()) {
    if (!dims.empty() && !detail::is_identity(dims, rank)) return {same_rank_dims_not_identity, 0};
    for (std::size_t d = 0; d < rank; ++d)
      if (!combine_extents(lhs[d], rhs[d]).legal) return {incompatible_shapes, d};
    return {};
  }
  const auto& small = lhs.size() < rhs.size() ? lhs : rhs;
  const auto& large = lhs.size() < rhs.size() ? rhs : lhs;
  if (dims.empty() && !small.empty()) return {rank_mismatch_without_dims, 0};
  if (dims.size() != small.size()) return {dims_size_mismatch, 0};
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) return {dim_negative, i};
    const auto d = static_cast<std::size_t>(dims[i]);
    if (d >= rank) return {dim_too_large, i};
    if (!may_be_mapped(small[i], large[d])) return {indim_size_mismatch, i};
    if (i > 0 && dims[i - 1] >= dims[i]) return {dims_not_strictly_increasing, i};
  }
  return {};
}

/// A legal broadcast of two operands: the shape of the result, and the result dimensions of each operand.
template <class Extent>
struct basic_resolved_broadcast {
  short_list<Extent> result;  ///< the shape of the result
  dimension_map lhs;          ///< the result dimensions of the first operand
  dimension_map rhs;          ///< the result dimensions of the second operand
};
using resolved_broadcast = basic_resolved_broadcast<std::size_t>;  ///< the usual type: extents are numbers

/// Maps the dimensions of an operand of rank `rank` to a result of rank `result_rank`, given legal `dims`.
constexpr dimension_map map_of_operand(std::size_t rank, std::size_t result_rank,
                                       const broadcast_dimensions_list& dims) {
  return rank == result_rank ? dimension_map::identity(rank)
                             : dimension_map(short_list<std::size_t>(dims), result_rank);
}

/// Computes the shape of the result and the dimension maps of both operands. Requires a legal broadcast.
template <class Extent>
constexpr basic_resolved_broadcast<Extent> resolve_array_broadcast(const short_list<Extent>& lhs,
                                                                   const short_list<Extent>& rhs,
                                                                   const broadcast_dimensions_list& dims = {}) {
  const std::size_t rank = lhs.size() > rhs.size() ? lhs.size() : rhs.size();
  basic_resolved_broadcast<Extent> all{short_list<Extent>::filled(rank, Extent{1}),
                                       map_of_operand(lhs.size(), rank, dims), map_of_operand(rhs.size(), rank, dims)};
  const short_list<Extent> a = all.lhs.lift(lhs), b = all.rhs.lift(rhs);
  for (std::size_t d = 0; d < rank; ++d) all.result[d] = combine_extents(a[d], b[d]).extent;
  return all;
}

/// Computes the shape of the result of a broadcast. Requires a legal broadcast.
template <class Extent>
constexpr short_list<Extent> broadcast_shape(const short_list<Extent>& lhs, const short_list<Extent>& rhs,
                                             const broadcast_dimensions_list& dims = {}) {
  return resolve_array_broadcast(lhs, rhs, dims).result;
}

}  // namespace partita
