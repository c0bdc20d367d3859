// The agreements of a chain of calls, recorded once and replayed when the same chain is called again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/failure.hpp>
#include <vector>

namespace partita::detail {

/// The agreements of one chain, in their order: written down while the workers make them, or answered from what was
/// written down, which all workers have agreed to do.
class recorded_agreements {
 public:
  template <class = void>
  void write_down(std::uint64_t fingerprint, std::uint64_t common) {
    steps_.push_back({fingerprint, common});
  }
  void replay() { answers_ = true, next_ = 0; }
  bool answers() const { return answers_; }

  /// What the workers have in common at the next step; 0 if that is another one than was written down.
  std::uint64_t next(std::uint64_t fingerprint, std::uint64_t choices, failure kind) {
    if (next_ == steps_.size() || kind != failure::none) return 0;
    const step& expected = steps_[next_++];
    return expected.fingerprint == fingerprint ? expected.common & choices : 0;
  }
  /// Whether each step had one choice and no other, which it has whenever blocks of these shapes come again.
  template <class = void>
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
