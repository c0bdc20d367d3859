// The rule of repartition: both partitions and the tensor have the same rank.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>

namespace partita {

/// The result of checking a repartition between partitions of given ranks, of a tensor of a given rank.
struct repartition_verdict {
  enum class reason { legal, partition_ranks_differ, tensor_rank_differs };  ///< the latter: from both partitions' rank

  reason why = reason::legal;                                          ///< the rule that is violated, or `legal`
  std::size_t source_rank = 0, destination_rank = 0, tensor_rank = 0;  ///< the ranks that were compared

  constexpr explicit operator bool() const { return why == reason::legal; }
};

/// Checks that the ranks of both partitions and of the tensor are equal.
constexpr repartition_verdict judge_repartition(std::size_t source_rank, std::size_t destination_rank,
                                                std::size_t tensor_rank) {
  using reason = repartition_verdict::reason;
  repartition_verdict verdict{reason::legal, source_rank, destination_rank, tensor_rank};
  if (source_rank != destination_rank) verdict.why = reason::partition_ranks_differ;
  else if (tensor_rank != source_rank) verdict.why = reason::tensor_rank_differs;
  return verdict;
}

constexpr text explain_verdict(const repartition_verdict& verdict) {
  using reason = repartition_verdict::reason;
  text sentence("partita::repartition(p_x, p_y): ");
  if (verdict.why == reason::partition_ranks_differ)
    sentence << "requires partitions of equal rank, got rank(p_x) = " << verdict.source_rank
             << " and rank(p_y) = " << verdict.destination_rank << "; reshape() one of them with extents of 1";
  else
    sentence << "requires a block of the rank of its partitions, got rank(x) = " << verdict.tensor_rank
             << " and rank(p_x) = " << verdict.source_rank << "; reshape() the partitions with extents of 1";
  return sentence;
}

}  // namespace partita
