// What a way between workers is to an exchange: whom it reaches, and how it carries the boxes that are given to it.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/lowered_plan.hpp>

namespace partita::detail {

/// Messages that leave this worker in one exchange, and the bytes of its boxes that leave it.
struct carried {
  std::size_t messages = 0, bytes_by_message = 0, bytes_shared = 0;

  carried& operator+=(const carried& more) {
    messages += more.messages, bytes_by_message += more.bytes_by_message, bytes_shared += more.bytes_shared;
    return *this;
  }
};

/// Copies what stays with its worker.
inline void keep_boxes(const lowered_plan& plan, const element_kind& kind, const block_memory& x, const block_memory& y,
                       stores how) {
  for (std::size_t k = 0; k < plan.kept.size(); ++k)
    kind.copy(address_of(plan.kept_to[k], y, plan.rank, kind.bytes), y.strides,
              address_of(plan.kept[k], x, plan.rank, kind.bytes), x.strides, plan.kept[k].shape, plan.rank, kind.bytes,
              how);
}

/// The boxes of one exchange on one way, carried again and again for blocks that come and go. Both sides of a pair take
/// part in each, in the same order.
class carrier {
 public:
  virtual ~carrier() = default;
  /// Tells the senders where y is; waits for nobody.
  virtual void expect(const block_memory& y) = 0;
  /// Whether an exchange may begin while the workers are still asked whether they agree to it, and be taken back if
  /// they do not. Then it is expected, and x is packed as far as that waits for nobody.
  virtual bool sends_speculatively() const { return false; }
  virtual void begin_ahead(const block_memory&, const block_memory& y) { expect(y); }
  /// Begins to carry x; may wait until the receivers expect.
  virtual void give(const block_memory& x) = 0;
  /// Before all workers agree on the exchange, but all of this node do, who come here together: what leaves for other
  /// nodes at once may leave. What follows is expect and give of the same x, or roll_back.
  virtual void send_speculatively(const block_memory&) {}
  /// Of what has begun, or left, before all agreed.
  virtual void roll_back() {}
  /// Moves on what can move without waiting; true when nothing is left to do here.
  virtual bool advance() = 0;
  /// After the last advance: y is complete when it returns, and x may change.
  virtual void finish() = 0;
  virtual carried counts() const = 0;
  /// Whether others need this worker to finish, because it passes on what is not its own.
  virtual bool passes_on() const { return false; }
};

// [way]
/// A way between the workers of one kernel: the memory of a node, messages, or what a test or another machine offers.
class way {
 public:
  virtual ~way() = default;
  /// Whether a worker can be reached; both ends say the same. A way that reaches this worker itself also copies what
  /// stays.
  virtual bool reaches(std::size_t worker) const = 0;
  /// Whether it can carry such elements at all.
  virtual bool carries(const element_kind&) const { return true; }
  /// A carrier for these boxes, all of which it reaches. Collective for those that they move between.
  virtual std::unique_ptr<carrier> prepare(lowered_plan boxes, const element_kind& kind) = 0;
};
// [/way]

}  // namespace partita::detail
