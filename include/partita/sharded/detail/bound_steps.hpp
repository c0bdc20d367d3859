// What a worker does with blocks in one run of a program, in order: written down once instead of being done, and then
// done many times in storage that is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <partita/sharded/detail/step_storage.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita::detail {

/// The steps of a program on blocks of T. While `in_use` names one, what computes or moves blocks adds a step to it and
/// leaves their elements alone.
template <class T>
class bound_steps {
 public:
  using work = std::function<void(const T* const* x, T* y)>;
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};
  static inline thread_local bound_steps* in_use = nullptr;

  std::size_t size() const { return steps_.size(); }
  /// One more step: y of x. What moves elements between workers says so, and has its blocks where others reach them.
  void add(const std::vector<tensor_block<T>>& x, const tensor_block<T>& y, work done, bool moves = false) {
    step one{{}, nothing, std::move(done)};
    for (const auto& operand : x) one.x.push_back(number_of(operand, moves));
    one.y = number_of(y, moves);
    block& set = blocks_[one.y];
    if (set.first == none) set.first = steps_.size();
    set.last = steps_.size();
    steps_.push_back(std::move(one));
  }
  /// A step that touches no block.
  void add_note(std::function<void()> f) {
    steps_.push_back({{}, nothing, [f = std::move(f)](const T* const*, T*) { f(); }});
  }
  /// The number of a block whose memory comes from outside, each time anew; before `settle`.
  std::uint32_t held_outside(const tensor_block<T>& one) {
    const std::uint32_t k = number_of(one, false);
    blocks_[k].outside = true;
    return k;
  }
  /// Set by a step, and not seen from outside.
  bool is_made_inside(const tensor_block<T>& one) {
    const block& known = blocks_[number_of(one, false)];
    return known.first != none && !known.outside;
  }

  /// Deals the storage. Blocks that no step sets are constants, and stay as they are.
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
    numbers_.clear();
  }
  void set_memory(std::uint32_t block_number, T* memory) { blocks_[block_number].at = memory; }

  void run(std::size_t first, std::size_t end) const {
    const T* x[32] = {};  // operate() takes fewer
    for (std::size_t k = first; k < end; ++k) {
      const step& one = steps_[k];
      for (std::size_t i = 0; i < one.x.size(); ++i) x[i] = one.x[i] == nothing ? nullptr : blocks_[one.x[i]].at;
      one.done(x, one.y == nothing ? nullptr : blocks_[one.y].at);
    }
  }
  std::size_t bytes_held() const { return bytes_held_; }
  std::size_t bytes_apart() const { return bytes_apart_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct step {
    std::vector<std::uint32_t> x;
    std::uint32_t y;
    work done;
  };
  struct block {
    tensor_block<T> made{};  // as long as numbers are given, so that no other has its address
    std::size_t first = none, last = 0;
    bool moved = false, outside = false;
    T* at = nullptr;
  };

  std::uint32_t number_of(const tensor_block<T>& one, bool moved) {
    if (one.data() == nullptr) return nothing;
    const auto [found, fresh] = numbers_.try_emplace(one.data(), static_cast<std::uint32_t>(blocks_.size()));
    if (fresh) blocks_.push_back({one});
    block& known = blocks_[found->second];
    known.moved = known.moved || moved;
    known.last = steps_.size();
    return found->second;
  }

  std::vector<step> steps_;
  std::vector<block> blocks_;
  std::unordered_map<const T*, std::uint32_t> numbers_;
  tensor_block<T> storage_[2];
  std::size_t bytes_held_ = 0, bytes_apart_ = 0;
};

/// Steps are written down into a list as long as one lives.
template <class T>
class writing_steps {
 public:
  explicit writing_steps(bound_steps<T>& list) : before_(bound_steps<T>::in_use) { bound_steps<T>::in_use = &list; }
  ~writing_steps() { bound_steps<T>::in_use = before_; }
  writing_steps(const writing_steps&) = delete;
  writing_steps& operator=(const writing_steps&) = delete;

 private:
  bound_steps<T>* before_;
};

}  // namespace partita::detail
