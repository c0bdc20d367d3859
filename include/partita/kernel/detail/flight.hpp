// What a kernel gives back of an exchange that has begun and not ended, and the exchanges that it keeps for a structure and comes
// back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/strided.hpp>
#include <partita/comm/flight.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The exchanges of one structure in one direction: one for each element type that came along.
class exchanges_by_type {
 public:
  template <class Exchange, class Make>
  const std::shared_ptr<Exchange>& find(Make make) {
    for (const entry& e : entries_)
      if (e.type == &key<Exchange>) return *static_cast<std::shared_ptr<Exchange>*>(e.exchange.get());
    entries_.push_back({&key<Exchange>, std::make_shared<std::shared_ptr<Exchange>>(make())});
    return *static_cast<std::shared_ptr<Exchange>*>(entries_.back().exchange.get());
  }

 private:
  template <class>
  static inline const char key = 0;
  struct entry {
    const char* type;
    std::shared_ptr<void> exchange;
  };
  std::vector<entry> entries_;
};

/// A result on its way. Let go of without being asked for, it still arrives, because the other workers count on it.
template <class Result>
class pending {
 public:
  pending(Result result, std::shared_ptr<flight> way, std::uint64_t number)
      : result_(std::move(result)), way_(std::move(way)), number_(number) {}
  pending(pending&&) noexcept = default;
  pending& operator=(pending&&) = delete;
  ~pending() {
    if (way_) way_->land(number_);
  }

  /// Keeps something alive until the end: a block that was evaluated for this exchange.
  void keep(std::shared_ptr<const void> needed) { needed_ = std::move(needed); }

  /// Waits for what is still to come and gives the result, once.
  Result finish() {
    if (way_) way_->land(number_);
    way_.reset();
    return std::move(result_);
  }

 private:
  Result result_;
  std::shared_ptr<flight> way_;
  std::uint64_t number_;
  std::shared_ptr<const void> needed_;
};

/// What begin(block) returns for the block of x, which is kept to the end if x is lazy and had to be evaluated.
template <class X, class Begin>
auto begun(const X& x, Begin begin) {
  if constexpr (strided_array<const X>) {
    return begin(block_argument<X>(x).block());
  } else {
    auto argument = std::make_shared<const block_argument<X>>(x);
    auto later = begin(argument->block());
    later.keep(std::move(argument));
    return later;
  }
}

}  // namespace partita::detail
