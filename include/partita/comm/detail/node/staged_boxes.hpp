// Staging buffers for small boxes between two workers of one node. The sender packs boxes where the receiver finds
// them: it need not wait for the receiver's address, and may pack before all workers agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/core/config.hpp>
#include <utility>

namespace partita::detail {

/// Two buffers of a sender, used in turn. Between two exchanges, all workers agree on the next call. When the sender
/// packs a buffer again, the agreement in between is complete, and the receiver took part in that agreement only after
/// it had unpacked the buffer.
class staged_boxes {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  /// The most bytes of the boxes of a pair for which a staging buffer pays, although it costs a second copy. The copy
  /// never pays where every worker has a core: a halo of 256^2 doubles took 1.4 us with it and 0.9 without. The copy
  /// pays where workers share cores, because a worker copies while it would wait for another to run: 10 us with it, 12
  /// without (bench/halo, 2 and 4 workers on 2 cores).
  static constexpr std::size_t max_bytes(bool oversubscribed) { return oversubscribed ? std::size_t{64} << 10U : 0; }

  staged_boxes() = default;
  staged_boxes(staged_boxes&& other) noexcept
      : arena_(other.arena_), bytes_(other.bytes_), slot_header_(std::exchange(other.slot_header_, nullptr)) {}
  staged_boxes& operator=(staged_boxes&&) = delete;
  PARTITA_INLINE ~staged_boxes();

  // Calls of the sender.

  /// Makes the buffers and returns the offset at which the receiver finds them, or `none` if there is no memory.
  PARTITA_DECL std::uint64_t make(arena& memory, std::size_t bytes);
  void mark_packed(std::uint64_t exchange) { slot_header_->packed.post(exchange); }
  void unmark_packed(std::uint64_t exchange) { slot_header_->packed.post(exchange - 1); }

  // Calls of the receiver.

  void find(void* block, std::size_t bytes) {
    bytes_ = (bytes + line - 1) / line * line, slot_header_ = static_cast<slot_header*>(block);
  }
  void wait_for_epoch(std::uint64_t exchange, bool oversubscribed) const {
    slot_header_->packed.wait(exchange, oversubscribed);
  }
  void mark_taken(std::uint64_t exchange) { slot_header_->taken.post(exchange); }

  /// Whether the buffers exist.
  bool has_buffers() const { return slot_header_ != nullptr; }
  /// The buffer that the exchange with this number uses, one of two in turn.
  char* buffer(std::uint64_t exchange) const {
    return reinterpret_cast<char*>(slot_header_) + sizeof(slot_header) + exchange % 2 * bytes_;
  }

 private:
  static constexpr std::size_t line = 64;
  struct slot_header {
    flag packed, taken;
  };
  std::size_t size() const { return sizeof(slot_header) + 2 * bytes_; }
  std::uint64_t last_packed_exchange() const { return slot_header_->packed.epoch.load(std::memory_order_relaxed); }

  arena* arena_ = nullptr;  // the sender's arena; null at the receiver
  std::size_t bytes_ = 0;
  slot_header* slot_header_ = nullptr;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/staged_boxes.ipp>
#endif
