// The agreements of a chain of calls, recorded once and replayed when the same chain is called again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/world/failure.hpp>
#include <vector>

namespace partita::detail {

/// The agreements of one chain of calls, in order, as they are recorded while the workers agree. Later calls replay the
/// record, once all workers have agreed to replay it.
class recorded_agreements {
 public:
  /// Appends an agreement: the hash of the call, and the choices that all workers had in common.
  void record_step(std::uint64_t fingerprint, std::uint64_t common_choices) {
    steps_.push_back({fingerprint, common_choices});
  }
  /// Replays the record from its first step.
  void start_replay() { is_replaying_ = true, next_step_to_replay_ = 0; }
  bool is_replaying() const { return is_replaying_; }  ///< Whether the record is replayed, not continued.

  /// The choices that the workers have in common at the next step, or 0 if the step differs from the recorded step,
  /// if no recorded step is left, or if this worker has an error.
  std::uint64_t replay_step(std::uint64_t fingerprint, std::uint64_t choices, failure kind) {
    if (next_step_to_replay_ == steps_.size() || kind != failure::none) return 0;
    const step& expected = steps_[next_step_to_replay_++];
    return expected.fingerprint == fingerprint ? expected.common_choices & choices : 0;
  }
  /// Whether the workers had exactly one choice in common at each step, which they will have again for equal blocks.
  bool can_be_repeated() const {
    for (const step& one : steps_)
      if (one.common_choices == 0 || (one.common_choices & (one.common_choices - 1)) != 0) return false;
    return !steps_.empty();
  }

 private:
  /// One agreement: the hash of the call, and the choices that all workers had in common.
  struct step {
    std::uint64_t fingerprint, common_choices;  ///< the hash of the call; the common choices
  };
  std::vector<step> steps_;              // the record, in the order of the calls
  std::size_t next_step_to_replay_ = 0;  // an index in steps_
  bool is_replaying_ = false;            // see is_replaying()
};

}  // namespace partita::detail
