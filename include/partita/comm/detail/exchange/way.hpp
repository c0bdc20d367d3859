// The interface of a channel (`way`) that carries boxes between workers, and blocks between the members of groups:
// which workers it reaches, and how it moves boxes.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/exchange/lowered_plan.hpp>

namespace partita::detail {

/// The traffic of one worker in one exchange: messages, and bytes sent by message and through shared memory.
struct exchange_traffic {
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;  ///< what this worker sent in the exchange

  exchange_traffic& operator+=(const exchange_traffic& more) {
    messages += more.messages, bytes_by_message += more.bytes_by_message, bytes_shared += more.bytes_shared;
    return *this;
  }
};

/// Copies the boxes that stay on this worker.
inline void keep_boxes(const lowered_plan& plan, const element_kind& kind, const block_memory& x, const block_memory& y,
                       stores mode) {
  for (std::size_t k = 0; k < plan.kept.size(); ++k)
    kind.copy(box_address(plan.kept_destinations[k], y, plan.rank, kind.bytes), y.strides,
              box_address(plan.kept[k], x, plan.rank, kind.bytes), x.strides, plan.kept[k].shape, plan.rank, kind.bytes,
              mode);
}

/// The boxes of one exchange on one channel, which moves the boxes many times, for blocks that may differ from call to
/// call. Both workers of a pair take part in each exchange, in the same order.
class box_transport {
 public:
  virtual ~box_transport() = default;
  /// Announces the address of this worker's result block y to the workers that send to it, without waiting.
  virtual void post_receive(const block_memory& y) = 0;
  /// Whether an exchange may start before the workers have agreed on it, and be rolled back if they do not agree.
  virtual bool sends_speculatively() const { return false; }
  /// Starts an exchange early: announces y, and packs x as far as possible without waiting.
  virtual void start_speculatively(const block_memory&, const block_memory& y) { post_receive(y); }
  /// Starts to send x, for which it may wait until the receivers have called post_receive().
  virtual void post_send(const block_memory& x) = 0;
  /// All workers of a node call this function when they have agreed on the exchange, but other nodes have not yet:
  /// messages to other nodes that need no answer may be sent now. The caller must then call post_receive(), and
  /// post_send() with the same x, or roll_back().
  virtual void send_speculatively(const block_memory&) {}
  virtual void roll_back() {}  ///< Undoes an early start, because the workers did not agree on the exchange.
  /// Advances all pending transfers without waiting. Returns true if this channel has no pending transfer.
  virtual bool advance() = 0;
  /// Completes the exchange after the last advance(). When finish() returns, y is complete and x may change.
  virtual void finish() = 0;
  /// Makes the transport carry the boxes of another plan, for which it reuses its memory, and stores the old plan in
  /// the parameter. Returns false, and changes nothing, if the transport cannot carry that plan: then prepare() opens
  /// another transport. The two workers of a pair may get different results of follow().
  virtual bool follow(lowered_plan&) { return false; }
  virtual exchange_traffic counts() const = 0;  ///< The traffic of this worker in one exchange.
  /// Whether other workers may need further calls by this worker to finish a started exchange: this worker forwards
  /// data of others, or the boxes of a pair move in more pieces than there is room for.
  virtual bool is_needed() const { return false; }
};

// [way]
/// A channel between the workers of one kernel: the memory of a node, messages, or a channel of a test or of another
/// machine. A channel that reaches this worker itself also copies the boxes that stay on this worker.
class way : public group_channel {
 public:
  /// Whether the channel can move elements of this kind between workers.
  virtual bool carries(const element_kind&) const { return true; }
  /// Makes the object that transports these boxes. Collective for the workers between which the boxes move.
  virtual std::unique_ptr<box_transport> prepare(lowered_plan boxes, const element_kind& kind) = 0;
};
// [/way]

}  // namespace partita::detail
