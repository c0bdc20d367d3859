// Staging buffers for small boxes between two workers of one node. The sender packs boxes where the receiver finds
// them: the sender need not wait for the receiver's address, and may pack before all workers agree.
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
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< the offset where there is no memory for buffers
  /// The most bytes of the boxes of a pair for which a staging buffer pays, although it costs a second copy. The copy
  /// does not pay where every worker has a core: a halo of 256^2 doubles took 1.4 us with it and 0.9 without. The copy
  /// pays where workers share cores, because a worker copies while it would wait for another to run: 10 us with it, 12
  /// without (bench/halo, 2 and 4 workers on 2 cores).
  static constexpr std::size_t max_bytes(bool oversubscribed) { return oversubscribed ? std::size_t{64} << 10U : 0; }

  staged_boxes() = default;
  staged_boxes(staged_boxes&& other) noexcept
      : arena_(other.arena_), buffer_bytes_(other.buffer_bytes_), header_(std::exchange(other.header_, nullptr)) {}
  staged_boxes& operator=(staged_boxes&&) = delete;
  PARTITA_INLINE ~staged_boxes();

  // Functions that the sender calls.

  /// Makes the buffers and returns the offset at which the receiver finds them, or `none` if there is no memory.
  PARTITA_DECL std::uint64_t make_buffers(arena& memory, std::size_t bytes);
  /// Signals that the boxes of an exchange are packed.
  void mark_packed(std::uint64_t exchange) { header_->packed.post(exchange); }
  /// Takes the signal back, before the receiver can have read it.
  void unmark_packed(std::uint64_t exchange) { header_->packed.post(exchange - 1); }

  // Functions that the receiver calls.

  /// Uses the buffers that the sender has made at this address.
  void attach(void* block, std::size_t bytes) {
    buffer_bytes_ = (bytes + alignment - 1) / alignment * alignment, header_ = static_cast<buffer_header*>(block);
  }
  /// Waits until the sender has packed the boxes of an exchange.
  void await_packed(std::uint64_t exchange, bool oversubscribed) const {
    header_->packed.wait(exchange, oversubscribed);
  }
  /// Signals that the boxes of an exchange are unpacked; the sender keeps the buffers until then.
  void mark_unpacked(std::uint64_t exchange) { header_->unpacked.post(exchange); }

  bool has_buffers() const { return header_ != nullptr; }  ///< Whether make_buffers() or attach() has given it buffers.
  /// The buffer that the exchange with this number uses, one of two in turn.
  char* buffer(std::uint64_t exchange) const {
    return reinterpret_cast<char*>(header_) + sizeof(buffer_header) + exchange % 2 * buffer_bytes_;
  }

 private:
  static constexpr std::size_t alignment = 64;  ///< each buffer starts at a cache line
  /// The flags in front of the two buffers: the last exchange that was packed, and the last that was unpacked.
  struct buffer_header {
    flag packed, unpacked;  ///< the epochs of both flags are numbers of exchanges
  };
  /// The bytes of the flags and both buffers.
  std::size_t size() const { return sizeof(buffer_header) + 2 * buffer_bytes_; }
  std::uint64_t last_packed_exchange() const { return header_->packed.epoch.load(std::memory_order_relaxed); }

  arena* arena_ = nullptr;           // the sender's arena; null at the receiver
  std::size_t buffer_bytes_ = 0;     // the size of one of the two buffers
  buffer_header* header_ = nullptr;  // null until there are buffers
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/staged_boxes.ipp>
#endif
