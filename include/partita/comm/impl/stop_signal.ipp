// Defines the functions that comm/stop_signal.hpp declares.
#pragma once

#include <partita/comm/stop_signal.hpp>
#include <utility>

namespace partita {

PARTITA_DEF stop_signal::stop_signal(world everyone, int number) : everyone_(std::move(everyone)), number_(number) {
  signal_flag() = false;
  struct sigaction handler {};
  handler.sa_handler = [](int) { signal_flag() = true; };
  handler.sa_flags = SA_RESTART;
  ::sigaction(number_, &handler, &previous_action_);
}

PARTITA_DEF bool stop_signal::received_by_any_worker() const {
  constexpr std::uint64_t fingerprint = 0x73746f70;
  return everyone_.state()->agree(fingerprint, signal_flag() ? 0 : 1, detail::failure::none,
                                  [] { return text("partita::stop_signal::received_by_any_worker()"); }) == 0;
}

PARTITA_DEF std::atomic<bool>& stop_signal::signal_flag() {
  static std::atomic<bool> it{false};
  return it;
}

}  // namespace partita
