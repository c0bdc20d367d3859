// From partitions to the movement between them, or to the sentence that refuses them.
#pragma once

#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/group_movement.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/worker_broadcast.hpp>

namespace partita::detail {

/// Refuses partitions of different worlds.
template <class P, class Q>
void expect_one_world(const partition<P>& p, const partition<Q>& q, const char* call) {
  if (!(p.world() == q.world()))
    throw partition_error(text(call) << ": requires partitions of one world; make both from the same world");
}

/// The movement between a small and a large partition, after the rule has been asked.
template <class Small, class Large>
group_movement make_group_movement(const partition<Small>& small, const partition<Large>& large, bool transpose_small,
                                   bool transpose_large, bool reduction, bool keep_batch) {
  const char* name = reduction ? "partita::sum_reduce" : "partita::broadcast";
  text call(name);
  call << "(p_x, p_y) with p_x = " << (reduction ? text() << large.grid().shape() : text() << small.grid().shape())
       << ", p_y = " << (reduction ? text() << small.grid().shape() : text() << large.grid().shape());
  expect_one_world(small, large, name);
  const auto s = small.grid().shape();
  const auto l = large.grid().shape();
  const auto verdict = judge_worker_broadcast(s, l, transpose_small, transpose_large, reduction);
  if (!verdict) throw partition_error(explain_verdict(verdict, s, l, transpose_small, transpose_large));
  const worker_pairing<Large::rank()> pairing(s, l, transpose_small, transpose_large);
  std::uint64_t fingerprint = mixed(small.grid().fingerprint(), large.grid().fingerprint());
  fingerprint = mixed(fingerprint, (reduction ? 1U : 0U) + (transpose_small ? 2U : 0U) + (transpose_large ? 4U : 0U) +
                                       (keep_batch ? 8U : 0U));
  const auto kind = reduction ? group_plan::kind::sum_reduce : group_plan::kind::broadcast;
  return {small.world().state(), plan_groups(small.grid(), large.grid(), pairing, small.world().id(), kind), name, call,
          fingerprint, keep_batch};
}

}  // namespace partita::detail
