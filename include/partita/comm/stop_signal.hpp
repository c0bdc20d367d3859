// Handles the signal that batch systems send before they kill a job, such that all workers react to it at the same
// point of the program.
#pragma once

#include <atomic>
#include <csignal>
#include <partita/comm/world.hpp>
#include <utility>

namespace partita {

/// While this object lives, the signal does not end this worker but is remembered: `if (stop.on_any()) { save; break;
/// }`.
/// Requires: one object at a time, destroyed before its world. mpirun sends SIGTERM to all workers and kills them a
///           second later, unless it is given more time (--mca odls_base_sigkill_timeout 60).
/// Cost:     none until asked; `on_any` costs an agreement.
class stop_signal {
 public:
  explicit stop_signal(world everyone, int number = SIGTERM) : everyone_(std::move(everyone)), number_(number) {
    seen() = false;
    struct sigaction ours {};
    ours.sa_handler = [](int) { seen() = true; };
    ours.sa_flags = SA_RESTART;
    ::sigaction(number_, &ours, &before_);
  }
  stop_signal(const stop_signal&) = delete;
  stop_signal& operator=(const stop_signal&) = delete;
  ~stop_signal() { ::sigaction(number_, &before_, nullptr); }

  /// Whether any worker of the world has received the signal. The same result on all workers. Collective.
  template <class = void>
  bool on_any() const {
    constexpr std::uint64_t fingerprint = 0x73746f70;
    return everyone_.state()->agree(fingerprint, seen() ? 0 : 1, detail::failure::none,
                                    [] { return text("partita::stop_signal::on_any()"); }) == 0;
  }

 private:
  static std::atomic<bool>& seen() {
    static std::atomic<bool> it{false};
    return it;
  }

  world everyone_;
  int number_;
  struct sigaction before_ {};
};

}  // namespace partita
