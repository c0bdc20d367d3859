// broadcast_in_dim: one operand is broadcast to a given result shape, with three levels of strictness.
//
// XLA has three rules of broadcast_in_dim, which differ in the allowed order of dimensions and in whether an extent of
// 1 is expanded. The level of strictness is therefore a policy value, and the rule of XlaBuilder is the default.
#pragma once

#include <cstddef>
#include <partita/rule/array_broadcast.hpp>

namespace partita {

/// The rule that a broadcast_in_dim follows.
enum class strictness {
  xla_builder,  ///< XlaBuilder: strictly increasing dimensions; an extent is 1 or that of the result
  stablehlo,    ///< StableHLO: distinct dimensions in any order (a transposition); an extent is 1 or the result's
  hlo,          ///< the HLO instruction: distinct dimensions in any order; extents equal
};

/// The strictness as a policy tag, as in `broadcast_in_dim(x, extents<3, 2>{}, broadcast_dimensions<1, 0>, stablehlo)`.
template <strictness Level>
struct strictness_t {};
inline constexpr strictness_t<strictness::xla_builder> xla_builder{};  ///< XlaBuilder's rule.
inline constexpr strictness_t<strictness::stablehlo> stablehlo{};      ///< StableHLO's rule.
inline constexpr strictness_t<strictness::hlo> hlo{};                  ///< The rule of the HLO instruction.

/// Checks a broadcast_in_dim. Extents that are `dynamic` violate no rule before they are known.
///
/// The order of checks is that of XLA. Level xla_builder checks the number of dimensions, the operand's rank, then
/// range, extent and order of each dimension in turn. Levels stablehlo and hlo check the number of dimensions, all
/// ranges, distinctness, then all extents.
constexpr broadcast_verdict judge_broadcast_in_dim(const shape_list& operand, const shape_list& result,
                                                   const broadcast_dimensions_list& dims,
                                                   strictness level = strictness::xla_builder) {
  using enum broadcast_fault;
  const auto in_range = [&](std::size_t i) {
    return dims[i] >= 0 && dims[i] < static_cast<std::ptrdiff_t>(result.size());
  };
  const auto fits = [&](std::size_t i) {
    const bool equal = combine_equal_extents(operand[i], result[static_cast<std::size_t>(dims[i])]).legal;
    return equal || (operand[i] == 1 && level != strictness::hlo);
  };
  if (dims.size() != operand.size()) return {dims_size_mismatch, 0};
  if (level == strictness::xla_builder) {
    if (operand.size() > result.size()) return {operand_rank_exceeds_output_rank, 0};
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (!in_range(i)) return {dim_out_of_range, i};
      if (!fits(i)) return {operand_size_mismatch, i};
      if (i > 0 && dims[i - 1] >= dims[i]) return {dims_not_strictly_increasing, i};
    }
    return {};
  }
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!in_range(i)) return {dim_out_of_range, i};
  for (std::size_t i = 0; i < dims.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (dims[k] == dims[i]) return {dims_not_unique, i};
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!fits(i)) return {operand_size_mismatch, i};
  return {};
}

/// Checks that no signed result extent is negative. A caller checks this condition before all others.
constexpr broadcast_verdict judge_result_extents(const short_list<std::ptrdiff_t>& result) {
  for (std::size_t d = 0; d < result.size(); ++d)
    if (result[d] < 0) return {broadcast_fault::negative_output_size, d};
  return {};
}

}  // namespace partita
