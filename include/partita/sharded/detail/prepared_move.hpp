// A prepared movement of boxes that can be executed repeatedly; and the totals of all movements.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/box_exchange.hpp>
#include <vector>

namespace partita::detail {

/// The totals of all movements so far, as this worker saw them.
struct movement_counts {
  std::size_t exchanges = 0;  ///< rounds of messages
  std::size_t bytes = 0;      ///< received from other workers
  std::size_t messages = 0;   ///< boxes received from other workers
};
inline thread_local movement_counts movements;

/// This worker's part of a movement, between dense blocks.
struct prepared_move {
  std::unique_ptr<box_exchange> exchange{};
  std::vector<std::ptrdiff_t> x_steps{}, y_steps{};
  std::size_t bytes = 0, messages = 0;  ///< received from other workers

  template <class = void>
  void operator()(const void* x, void* y) const {
    movements.bytes += bytes;
    movements.messages += messages;
    ++movements.exchanges;
    exchange->start(x, x_steps.data(), y, y_steps.data());
    exchange->finish();
  }
};

}  // namespace partita::detail
