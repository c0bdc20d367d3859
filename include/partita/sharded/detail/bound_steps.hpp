// The steps on blocks that a worker executes in one run of a program, in order. They are recorded once and then
// executed many times in preallocated storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/sharded/detail/execution.hpp>
#include <partita/sharded/detail/step_storage.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The steps of a program on blocks of T.
template <class T>
class bound_steps final : public step_list<T> {
 public:
  std::size_t size() const { return steps_.size(); }
  /// The number of a block whose memory is passed from outside for each run; to be called before `settle`.
  std::uint32_t held_outside(const tensor_block<T>& one) {
    const std::uint32_t k = number_of(one, false);
    blocks_[k].outside = true;
    return k;
  }
  /// Whether the block is set by a step and not visible from outside.
  bool is_made_inside(const tensor_block<T>& one) {
    const block& known = blocks_[number_of(one, false)];
    return known.first != none && !known.outside;
  }

  /// Assigns storage to all blocks. Blocks that no step sets are constants and keep their memory.
  void settle(arena* reached_by_others) {
    for (const bool moved : {false, true}) {
      std::vector<block_lifetime> lives;
      std::vector<std::size_t> whose;
      for (std::size_t k = 0; k < blocks_.size(); ++k) {
        block& one = blocks_[k];
        if (one.outside || one.first == none || one.moved != moved) continue;
        lives.push_back({(one.made.size() + (one.made.size() == 0 ? 1 : 0)) * sizeof(T), one.first, one.last, 0});
        whose.push_back(k);
        bytes_apart_ += lives.back().bytes;
      }
      const std::size_t bytes = place_in_storage(lives);
      if (bytes == 0) continue;
      storage_[moved] = tensor_block<T>(shape_list{bytes / sizeof(T) + 1}, moved ? reached_by_others : nullptr);
      bytes_held_ += bytes;
      for (std::size_t k = 0; k < whose.size(); ++k)
        blocks_[whose[k]].at = storage_[moved].data() + lives[k].offset / sizeof(T);
    }
    for (block& one : blocks_) {
      const bool constant = !one.outside && one.first == none;
      if (constant) one.at = one.made.data();
      else one.made = {};
    }
  }
  void set_memory(std::uint32_t block_number, T* memory) { blocks_[block_number].at = memory; }

  void run(std::size_t first, std::size_t end) const {
    const T* x[32] = {};  // operate() allows fewer operands
    for (std::size_t k = first; k < end; ++k) {
      const step& one = steps_[k];
      for (std::size_t i = 0; i < one.x.size(); ++i) x[i] = one.x[i] == nothing ? nullptr : blocks_[one.x[i]].at;
      (*one.done)(x, one.y == nothing ? nullptr : blocks_[one.y].at);
    }
  }
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t bytes_apart() const { return bytes_apart_; }

 private:
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  static constexpr std::size_t none = ~std::size_t{0};
  struct step {
    std::vector<std::uint32_t> x;
    std::uint32_t y;
    std::unique_ptr<block_step<T>> done;
  };
  struct block {
    tensor_block<T> made{};  // kept until all numbers are assigned, so that no other block gets its address
    std::size_t first = none, last = 0;
    bool moved = false, outside = false;
    T* at = nullptr;
  };

  void put(const std::vector<tensor_block<T>>& x, const tensor_block<T>& y, std::unique_ptr<block_step<T>> done,
           bool moves) override {
    step one{{}, nothing, std::move(done)};
    for (const auto& operand : x) one.x.push_back(number_of(operand, moves));
    one.y = number_of(y, moves);
    if (one.y != nothing && blocks_[one.y].first == none) blocks_[one.y].first = steps_.size();
    steps_.push_back(std::move(one));
  }
  std::uint32_t number_of(const tensor_block<T>& one, bool moved) {
    if (one.data() == nullptr) return nothing;
    std::size_t k = 0;
    while (k < blocks_.size() && blocks_[k].made.data() != one.data()) ++k;
    if (k == blocks_.size()) blocks_.push_back({one});
    blocks_[k].moved = blocks_[k].moved || moved;
    blocks_[k].last = steps_.size();
    return static_cast<std::uint32_t>(k);
  }

  std::vector<step> steps_;
  std::vector<block> blocks_;
  tensor_block<T> storage_[2];
  std::size_t bytes_held_ = 0, bytes_apart_ = 0;
};

}  // namespace partita::detail
