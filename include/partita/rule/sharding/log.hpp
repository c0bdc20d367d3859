// The log of propagation: every decision and its reason, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/bounded_list.hpp>
#include <partita/rule/sharding/pending_reduction.hpp>

namespace partita {

/// One decision about one mesh axis, or about all axes of a dimension if `axis` is `no_axis`.
struct decision {
  enum class what : std::uint8_t {  ///< what was decided, and why
    takes_sharding,                 ///< a factor is sharded in the same way as dimension `dimension` of tensor `tensor`
    extended,                       ///< a factor is sharded by further axes, as dimension `dimension` of `tensor` is
    joined,             ///< a factor is also sharded by this axis, although another tensor shards it differently
    overruled,          ///< tensor `tensor` shards the factor differently, and follows tensor `by`
    loses_axis,         ///< the factor requested the axis, but factor `by` got the axis
    uneven,             ///< the axis would shard the factor unevenly
    must_be_whole,      ///< the operation needs the dimension unsharded
    one_element,        ///< a dimension of one element, or a broadcast dimension, is not sharded
    does_not_fit,       ///< the blocks would not be blocks of the merged or split dimension
    keeps_replicating,  ///< the tensor must stay replicated over the axis
    new_dimension,      ///< only results have the dimension, and the policy shards only dimensions of operands
    becomes_partial,    ///< the result is partial over the axis, which shards a factor that it lacks; `kind` is the
                        ///< reduction
    passes_partial,     ///< the operand stays partial over the axis, and so do the results
    finishes_partial,   ///< the operand must be reduced over the axis before the operation
    keeps_partial,      ///< the given layout of the result is partial over the axis: the result is made so afterwards
  };
  static constexpr std::uint8_t no_axis = 255, none = 255;  ///< no tensor, dimension, factor or axis

  what outcome = what::takes_sharding;           ///< what was decided
  std::uint8_t tensor = none, dimension = none;  ///< the tensor (operands first, then results) and its dimension
  std::uint8_t factor = none, axis = no_axis;    ///< the factor of the rule, and the mesh axis
  std::uint8_t by = none;  ///< overruled: the tensor that is followed; loses_axis: the factor that got the axis
  pending_reduction kind = pending_reduction::none;  ///< the reduction, for decisions on partial values
  friend constexpr bool operator==(const decision&, const decision&) = default;
};

constexpr const char* name_of(decision::what done) {
  constexpr const char* names[] = {
      "took",        "extended",        "joined",         "overruled",        "lost",
      "uneven",      "must be whole",   "one element",    "does not fit",     "keeps replicating",
      "not for new", "becomes partial", "passes partial", "finishes partial", "keeps partial"};
  return names[static_cast<std::size_t>(done)];
}

/// A tensor that must be resharded: an operand before the operation, a result after the operation.
struct reshard_need {
  std::uint8_t tensor = 0;  ///< the number of the tensor: operands first, then results
  std::size_t bytes = 0;    ///< the bytes that a worker receives on average, as moved_bytes estimates them
  friend constexpr bool operator==(const reshard_need&, const reshard_need&) = default;
};

}  // namespace partita
