// The steps on blocks that a worker executes in one run of a program, in order. They are recorded once and then
// executed many times in preallocated storage. Blocks may have elements of different types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/config.hpp>
#include <partita/sharded/detail/execution.hpp>
#include <partita/sharded/detail/planned_exchange.hpp>
#include <partita/sharded/detail/step_storage.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <vector>

namespace partita::detail {

/// The steps of a program.
class bound_steps final : public step_list {
 public:
  std::size_t size() const { return steps_.size(); }
  /// The number of a block whose memory is passed from outside for each run; to be called before `settle`.
  PARTITA_DECL std::uint32_t held_outside(const step_block& one);
  /// Whether the block is set by a step and not visible from outside.
  PARTITA_DECL bool is_made_inside(const step_block& one);

  /// Assigns storage to all blocks. Blocks that no step sets are constants and keep their memory.
  PARTITA_DECL void settle(arena* reached_by_others);
  void set_memory(std::uint32_t block_number, void* memory) { blocks_[block_number].at = memory; }

  PARTITA_DECL void run(std::size_t first, std::size_t end) const;
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t bytes_apart() const { return bytes_apart_; }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  static constexpr std::size_t none = ~std::size_t{0};
  struct step {
    std::vector<std::uint32_t> x{};
    std::uint32_t y = nothing;
    std::unique_ptr<block_step> done{};
    std::shared_ptr<planned_exchange> exchange{};
  };
  struct block {
    step_block made{};  // kept until all numbers are assigned, so that no other block gets its address
    std::size_t first = none, last = 0;
    bool moved = false, outside = false;
    void* at = nullptr;
  };

  PARTITA_INLINE void put(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<block_step> done,
                          const std::shared_ptr<planned_exchange>& exchange) override;
  PARTITA_DECL std::uint32_t number_of(const step_block& one, bool moved);

  std::vector<step> steps_;
  std::vector<block> blocks_;
  tensor_block<std::uint64_t> storage_[2];
  std::size_t bytes_held_ = 0, bytes_apart_ = 0;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/bound_steps.ipp>
#endif
