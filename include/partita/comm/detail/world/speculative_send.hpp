// Sends that start before all workers have agreed on the call, and that may have to be discarded.
#pragma once

#include <cstdint>
#include <partita/comm/detail/node/shared_flags.hpp>

namespace partita::detail {

/// A send that a call starts when the workers of this node agree on the call, while other nodes have not answered yet.
/// The send may have to be discarded, but then all workers of the node discard it. On a single node, a worker
/// already starts before it has heard from any other, if it can undo the start alone.
class speculative_send : private shared_flags::listener {
 public:
  /// The bit by which a worker says that it starts no speculative send.
  static constexpr std::uint64_t nothing = std::uint64_t{1} << 63U;

 protected:
  ~speculative_send() = default;
  /// Starts the send. `choices` has a bit for each choice, such as a cached plan, that all workers of this node offered
  /// in the agreement (world_state::agree).
  virtual void begin(std::uint64_t choices) = 0;
  /// Starts a send that this worker can undo without the other workers.
  virtual void begin_undoable_send() = 0;

 private:
  friend class and_allreduce;
  void notify_own_words_written() final { begin_undoable_send(); }        ///< on a single node only
  void receive_and_of_node_words(const shared_flags::words& all) final {  ///< calls begin() if the node's workers agree
    if ((all[0] | all[1]) == ~std::uint64_t{0} && all[3] != 0 && (all[2] & ~nothing) != 0) begin(all[2] & ~nothing);
  }
};

}  // namespace partita::detail
