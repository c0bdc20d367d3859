// Small boxes between two workers of one node. The sender packs them where the receiver finds them. So the sender need
// not wait for the receiver's address, and boxes that it packs before all workers agree are there when they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/core/config.hpp>
#include <utility>

namespace partita::detail {

/// Two buffers of the sender, used in turn. All workers agree on a call between any two exchanges. When the sender
/// packs a buffer again, the agreement in between is complete, and the receiver took part in it only after it had
/// unpacked that buffer.
class staged_boxes {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  /// Up to how many bytes per pair the second copy pays. Never where every worker has a core: 256^2 doubles took 1.4 us
  /// with it and 0.9 without. Where workers share cores it pays, because a worker copies while it would have to wait
  /// for another one to run: 10 us and 12 (bench/halo on 2 and on 4 workers of 2 cores).
  static constexpr std::size_t most_bytes(bool oversubscribed) { return oversubscribed ? std::size_t{64} << 10U : 0; }

  staged_boxes() = default;
  staged_boxes(staged_boxes&& other) noexcept
      : arena_(other.arena_), bytes_(other.bytes_), head_(std::exchange(other.head_, nullptr)) {}
  staged_boxes& operator=(staged_boxes&&) = delete;
  PARTITA_INLINE ~staged_boxes();

  // The sender's side.

  /// The offset at which the receiver finds the buffers, or `none` if there is no memory.
  PARTITA_DECL std::uint64_t make(arena& memory, std::size_t bytes);
  void was_packed(std::uint64_t exchange) { head_->packed.post(exchange); }
  void was_not_packed(std::uint64_t exchange) { head_->packed.post(exchange - 1); }

  // The receiver's side.

  void find(void* block, std::size_t bytes) {
    bytes_ = (bytes + line - 1) / line * line, head_ = static_cast<head*>(block);
  }
  void await(std::uint64_t exchange, bool oversubscribed) const { head_->packed.wait(exchange, oversubscribed); }
  void was_taken(std::uint64_t exchange) { head_->taken.post(exchange); }

  /// Whether the buffers exist.
  bool there() const { return head_ != nullptr; }
  /// The buffer for this exchange.
  char* buffer(std::uint64_t exchange) const {
    return reinterpret_cast<char*>(head_) + sizeof(head) + exchange % 2 * bytes_;
  }

 private:
  static constexpr std::size_t line = 64;
  struct head {
    flag packed, taken;
  };
  std::size_t size() const { return sizeof(head) + 2 * bytes_; }
  std::uint64_t packed() const { return head_->packed.epoch.load(std::memory_order_relaxed); }

  arena* arena_ = nullptr;  // the sender's
  std::size_t bytes_ = 0;
  head* head_ = nullptr;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/staged_boxes.ipp>
#endif
