// Packing numbers of any bit width into a stream of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partita::detail {

/// Appends bits to bytes, least significant bit first.
class bit_writer {
 public:
  explicit bit_writer(std::vector<char>& to) : to_(&to) {}

  /// Requires n <= 64 and a `value` without bits beyond the first n.
  void put(std::uint64_t value, unsigned n) {
    for (; n > half; n -= half, value >>= half) put(value & ((std::uint64_t{1} << half) - 1), half);
    held_ |= value << count_;
    for (count_ += n; count_ >= 8; count_ -= 8, held_ >>= 8U) to_->push_back(static_cast<char>(held_ & 0xffU));
  }
  void finish() {
    if (count_ != 0) to_->push_back(static_cast<char>(held_ & 0xffU));
    held_ = count_ = 0;
  }

 private:
  static constexpr unsigned half = 32;
  std::vector<char>* to_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

/// Reads numbers in the same order.
class bit_reader {
 public:
  explicit bit_reader(const char* from) : from_(from) {}

  std::uint64_t get(unsigned n) {
    if (n > half) {
      const std::uint64_t low = get(half);
      return low | get(n - half) << half;
    }
    for (; count_ < n; count_ += 8) held_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(*from_++)) << count_;
    const std::uint64_t value = held_ & ((std::uint64_t{1} << n) - 1);
    held_ >>= n;
    count_ -= n;
    return value;
  }

 private:
  static constexpr unsigned half = 32;
  const char* from_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

}  // namespace partita::detail
