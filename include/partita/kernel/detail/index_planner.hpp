// The planner of an index exchange: the rows for each receiver are one box.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/index_pattern.hpp>
#include <partita/kernel/detail/row_block.hpp>
#include <utility>

namespace partita::detail {

/// The shape, the rank and the element type of a block that is passed to a call, for error messages.
struct described_block {
  const std::size_t* shape = nullptr;  ///< the extents of the block
  std::size_t rank = 0;                ///< the number of extents
  text (*type)() = nullptr;            ///< writes the element type
};

/// The plan for rows of a certain number of bytes.
struct index_structure : planned_boxes<2> {
  exchanges_by_kind exchanges_that_return_rows{};  ///< for adjoints: return rows within a node, before others leave it
  /// The rows that this worker sends, if all workers share memory, so that the rows need not be packed; otherwise null.
  std::shared_ptr<rows_to_gather> unpacked_rows{};
};

/// Texts for error messages: how a call is written, and what an owned row and a wanted row belong to.
struct index_call_texts {
  const char *call, *owned, *wanted;  ///< the call as it is written; what owned and wanted rows belong to
};
/// The texts of the kernel index_exchange; other kernels that move rows by index have their own texts.
inline constexpr index_call_texts index_exchange_texts{"partita::index_exchange(everyone, owned, wanted)",
                                                       "index that its worker owns", "index that its worker wants"};

/// Plans an index exchange. The executor moves rows of bytes: the source block has the rows that this worker sends, by
/// receiver, the destination block those that it receives, by sender. A plan depends on the bytes of a row only.
class index_planner {
 public:
  static constexpr std::size_t rank = 2;                           ///< dimensions: rows, and bytes of a row
  static constexpr bool sums_back = false, checks_itself = false;  ///< the adjoint copies, and its plan is agreed on
  using structure = index_structure;                               ///< a cached plan

  /// Makes a planner with the pattern of the owned and wanted indices of all workers. Collective.
  PARTITA_DECL index_planner(const partita::world& everyone, const index_list& owned, const index_list& wanted,
                             const index_call_texts& texts);
  index_planner(std::shared_ptr<world_state> world, std::shared_ptr<transport> shared_transport, index_pattern pattern,
                const index_call_texts& texts)
      : world_(std::move(world)),
        transport_(std::move(shared_transport)),
        pattern_(std::make_shared<const index_pattern>(std::move(pattern))),
        call_texts_(texts) {}

  const std::shared_ptr<world_state>& world() const { return world_; }  ///< the world of the kernel
  const char* name() const { return call_texts_.call; }                 ///< the kernel in messages
  const index_call_texts& call_texts() const { return call_texts_; }    ///< texts for error messages
  static std::uint64_t fingerprint() { return 131; }                    ///< equal for all index exchanges
  static bool keeps_batch() { return false; }                           ///< false: an empty result keeps no rows of x
  /// Describes the call that describe_next_call() announced, for error messages.
  PARTITA_DECL text describe(const char* direction, const std::array<std::size_t, 2>& packed, const text& type) const;
  /// Sets the blocks that the next `describe` writes into the description of its call.
  void describe_next_call(const described_block* blocks, std::size_t count) {
    described_blocks_ = blocks, described_block_count_ = count;
  }
  const std::shared_ptr<const index_pattern>& pattern() const { return pattern_; }  ///< the rows that are moved
  /// The transport of the rows, which is open after construction.
  const std::shared_ptr<transport>& shared_transport() const { return transport_; }

  /// Makes the plan for rows of the number of bytes that a call has.
  PARTITA_DECL structure learn(const box_call<2>& call, std::shared_ptr<transport>& shared_transport,
                               local_error& found_error) const;
  /// Makes the exchange that carries out plan s in one direction.
  PARTITA_DECL std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                                      const std::shared_ptr<transport>& shared_transport) const;
  /// Finds or makes the exchange of the adjoint in which rows return to the worker of this node that passed them on.
  PARTITA_DECL const std::shared_ptr<box_exchange>& find_return_exchange(structure& s, const element_kind& kind) const;
  /// The rows that this worker sends and receives, if rows have `row_elements` elements.
  PARTITA_DECL exchange_plan<2> plan(std::size_t row_elements) const;

 private:
  std::shared_ptr<world_state> world_;                 ///< the world of the kernel
  std::shared_ptr<transport> transport_;               ///< the open transport of the rows
  std::shared_ptr<const index_pattern> pattern_;       ///< the rows that this worker sends, keeps and receives
  index_call_texts call_texts_;                        ///< texts for error messages
  const described_block* described_blocks_ = nullptr;  ///< the blocks of the next call, for messages
  std::size_t described_block_count_ = 0;              ///< the number of these blocks
};

#ifdef PARTITA_CORE
PARTITA_INSTANTIATE_BOX_MOVEMENT(extern, index_planner)
#endif

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/index_planner.ipp>
#endif
