// Defines the functions that kernel/detail/make_collective_movement.hpp declares.
#pragma once

#include <partita/kernel/detail/make_collective_movement.hpp>

namespace partita::detail {

PARTITA_DEF void expect_one_world(bool is_one_world, const char* call) {
  if (!is_one_world)
    throw partition_error(text(call) << ": requires partitions of one world; make both from the same world");
}

PARTITA_DEF collective_movement make_movement_in_groups(const world& everyone, const worker_groups& groups,
                                                        const group_kernel_choices& choices, group_plan::kind kind) {
  if (groups.id_end() > everyone.size())
    throw partition_error(text(choices.name)
                          << "(everyone, groups" << choices.reduction << "): requires workers of a world of "
                          << everyone.size() << ", got worker " << groups.id_end() - 1
                          << "; start more workers, or choose ids below " << everyone.size());
  text call(choices.name);
  call << "(everyone, groups" << choices.reduction << ") with groups [";
  constexpr std::size_t named = 8;  // the number of groups that are written; a fingerprint stands for more groups
  for (std::size_t g = 0; g < groups.size() && g < named; ++g)
    call << (g == 0 ? "" : ", ") << list_workers(groups.members(g));
  if (groups.size() > named) call << ", ... (groups number " << groups.fingerprint() << ")";
  call << "]";
  const std::uint64_t fingerprint = mixed(mixed(groups.fingerprint(), choices.fingerprint),
                                          64 + 2 * static_cast<std::uint64_t>(kind) + (choices.keep_batch ? 1 : 0));
  return {
      everyone.state(), groups.plan(everyone.id(), kind), {choices.name, call, fingerprint, choices.keep_batch, false}};
}

#ifdef PARTITA_CORE
PARTITA_COLLECTIVE_MOVEMENTS()
#endif

}  // namespace partita::detail
