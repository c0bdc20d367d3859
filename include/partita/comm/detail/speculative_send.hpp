// Sends that start before all workers have agreed on the call, and are discarded if the agreement fails.
#pragma once

#include <cstdint>
#include <partita/comm/detail/node/shared_flags.hpp>

namespace partita::detail {

/// What a call begins once the workers of this node agree on it, while those of other nodes are still asked: it may be
/// for nothing, but all of the node do it. Where there is one node only, what a worker begins by itself.
class speculative_send : private shared_flags::listener {
 public:
  /// Set in the choices of who begins nothing.
  static constexpr std::uint64_t nothing = std::uint64_t{1} << 63U;

 protected:
  ~speculative_send() = default;
  /// `choices`: those that the workers of this node have in common.
  virtual void begin(std::uint64_t choices) = 0;
  /// Must be something that this worker alone can take back.
  virtual void begin_alone() = 0;

 private:
  template <class>
  friend class basic_and_allreduce;
  void hear_nobody_yet() final { begin_alone(); }
  void hear_node(const shared_flags::words& all) final {
    if ((all[0] | all[1]) == ~std::uint64_t{0} && all[3] != 0 && (all[2] & ~nothing) != 0) begin(all[2] & ~nothing);
  }
};

}  // namespace partita::detail
