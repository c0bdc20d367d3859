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
  void write_down(std::uint64_t fingerprint, std::uint64_t common) { steps_.push_back({fingerprint, common}); }
  void replay() { answers_ = true, next_ = 0; }
  bool answers() const { return answers_; }

  /// The choices that the workers have in common at the next step; 0 if this step differs from the recorded step.
  std::uint64_t next(std::uint64_t fingerprint, std::uint64_t choices, failure kind) {
    if (next_ == steps_.size() || kind != failure::none) return 0;
    const step& expected = steps_[next_++];
    return expected.fingerprint == fingerprint ? expected.common & choices : 0;
  }
  /// Whether each step had exactly one choice in common, which the step then has again for blocks of the same shapes.
  bool can_be_repeated() const {
    for (const step& one : steps_)
      if (one.common == 0 || (one.common & (one.common - 1)) != 0) return false;
    return !steps_.empty();
  }

 private:
  struct step {
    std::uint64_t fingerprint, common;
  };
  std::vector<step> steps_;
  std::size_t next_ = 0;
  bool answers_ = false;
};

}  // namespace partita::detail
