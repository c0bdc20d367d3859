// An exchange, or a sum, that has begun and not ended.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace partita::detail {

/// At most one exchange, or sum, of a kernel is under way; whoever wants to begin another ends it first.
class pending_operation {
 public:
  /// Returns the number of this operation.
  template <class Exchange>
  std::uint64_t start(std::shared_ptr<Exchange> exchange) {
    under_way_ = std::move(exchange);
    finish_ = [](void* it) { static_cast<Exchange*>(it)->finish(); };
    return ++number_;
  }
  template <class = void>
  void wait() {
    if (const auto ends = std::exchange(under_way_, nullptr)) finish_(ends.get());
  }
  /// Ends the operation of this number, if it has not ended.
  template <class = void>
  void wait(std::uint64_t number) {
    if (number == number_) wait();
  }

 private:
  std::shared_ptr<void> under_way_;
  void (*finish_)(void*) = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace partita::detail
