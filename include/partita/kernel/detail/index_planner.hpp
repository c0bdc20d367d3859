// The planner of an index exchange: rows as one box for each receiver.
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

/// A block of a call, as messages describe it.
struct described_block {
  const std::size_t* shape = nullptr;
  std::size_t rank = 0;
  text (*type)() = nullptr;
};

/// The plans for rows of some number of bytes.
struct index_structure : planned_boxes<2> {
  exchanges_by_kind returning{};  ///< back, between workers of one node, before rows travel between nodes
  /// Where all workers share memory, the rows that leave are not packed first.
  std::shared_ptr<gathered_rows> leaving{};
};

/// How messages name a call, and what a block has a row for.
struct index_words {
  const char *call, *owned, *wanted;
};
inline constexpr index_words exchange_words{"partita::index_exchange(everyone, owned, wanted)",
                                            "index that its worker owns", "index that its worker wants"};

/// Plans an index exchange. The executor moves rows of bytes: the block at the source has the rows that this worker
/// sends, grouped by their receivers, the block at the destination those that it receives, grouped by their senders. A
/// plan depends on the number of bytes of a row alone.
class index_planner {
 public:
  static constexpr std::size_t rank = 2;
  static constexpr bool sums_back = false, checks_itself = false;
  using structure = index_structure;

  /// Collective: see learnt_pattern.
  PARTITA_DECL index_planner(const partita::world& everyone, const index_list& owned, const index_list& wanted,
                             const index_words& words);
  index_planner(std::shared_ptr<world_state> world, std::shared_ptr<transport> ways, index_pattern pattern,
                const index_words& words)
      : world_(std::move(world)),
        ways_(std::move(ways)),
        pattern_(std::make_shared<const index_pattern>(std::move(pattern))),
        words_(words) {}

  const std::shared_ptr<world_state>& world() const { return world_; }
  const char* name() const { return words_.call; }
  const index_words& words() const { return words_; }
  static std::uint64_t fingerprint() { return 131; }
  static bool keeps_batch() { return false; }
  PARTITA_DECL text describe(const char* direction, const std::array<std::size_t, 2>& packed, const text& type) const;
  /// The blocks of the next call, which `describe` describes.
  void describe_next(const described_block* blocks, std::size_t count) { blocks_ = blocks, count_ = count; }
  const std::shared_ptr<const index_pattern>& pattern() const { return pattern_; }
  /// The transport, which is open from the start.
  const std::shared_ptr<transport>& ways() const { return ways_; }

  PARTITA_DECL structure learn(const box_call<2>& call, std::shared_ptr<transport>& ways, local_error& trouble) const;
  PARTITA_DECL std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                                      const std::shared_ptr<transport>& ways) const;
  /// What returns rows to the worker of this node that passed them on.
  PARTITA_DECL const std::shared_ptr<box_exchange>& returning(structure& s, const element_kind& kind) const;
  /// What this worker sends and receives if a row has this many elements.
  PARTITA_DECL exchange_plan<2> plan(std::size_t row_elements) const;

 private:
  std::shared_ptr<world_state> world_;
  std::shared_ptr<transport> ways_;
  std::shared_ptr<const index_pattern> pattern_;
  index_words words_;
  const described_block* blocks_ = nullptr;
  std::size_t count_ = 0;
};

#ifdef PARTITA_CORE
PARTITA_MOVEMENT_OF(extern, index_planner)
#endif

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/index_planner.ipp>
#endif
