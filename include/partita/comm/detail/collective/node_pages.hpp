// The channel by which groups of workers exchange blocks through the shared memory of a node. Each worker has one page
// of shared memory for each of its groups; the members synchronise through these pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/group_plan.hpp>
#include <vector>

namespace partita::detail {

/// The pages of shared memory through which groups of workers of one node exchange blocks. The constructor is
/// collective over the workers of the node.
class node_pages final : public group_channel {
 public:
  PARTITA_DECL node_pages(const own_node& members, arena& memory, const group_plan& plan);
  node_pages(const node_pages&) = delete;
  node_pages& operator=(const node_pages&) = delete;
  PARTITA_INLINE ~node_pages() override;

  PARTITA_INLINE bool reaches(std::size_t worker) const override;  ///< Whether a worker shares this node's memory.
  PARTITA_INLINE std::unique_ptr<group_transport> prepare_group(const worker_group& group) override;

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< for a group that a worker does not have
  /// The pages of one worker, as it shows them to the others of its node.
  struct pages_of_worker {
    std::uint64_t group[2] = {none, none}, page[2] = {none, none};  ///< numbers of its groups; offsets of their pages
    bool in_shared_memory = true;                                   ///< whether all its pages are in shared memory
  };

  const own_node& members_;                       ///< the workers of this node
  arena& memory_;                                 ///< the arena from which this worker allocates its pages
  void* pages_[2] = {nullptr, nullptr};           ///< the pages of this worker, one for each of its groups; else null
  std::vector<pages_of_worker> pages_by_worker_;  ///< the pages of each worker of the node
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/collective/impl/node_pages.ipp>
#endif
