// A movement of boxes that is worked out and can be made again and again; and what all movements came to.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/box_exchange.hpp>
#include <vector>

namespace partita::detail {

/// What all movements of this process did so far, as this worker saw it.
struct movement_counts {
  std::size_t exchanges = 0;  ///< rounds of messages
  std::size_t bytes = 0;      ///< received from other workers
  std::size_t messages = 0;   ///< boxes that others gave
};
inline thread_local movement_counts movements;

/// This worker's part of a movement, between dense blocks.
struct prepared_move {
  std::unique_ptr<box_exchange> exchange{};
  std::vector<std::ptrdiff_t> x_steps{}, y_steps{};
  std::size_t bytes = 0, messages = 0;  ///< that come from others

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
