// Defines the functions that array/detail/bit_stream.hpp declares.
#pragma once

#include <partita/array/detail/bit_stream.hpp>

namespace partita::detail {

PARTITA_DEF void bit_writer::put(std::uint64_t value, unsigned n) {
  for (; n > half; n -= half, value >>= half) put(value & ((std::uint64_t{1} << half) - 1), half);
  held_ |= value << count_;
  for (count_ += n; count_ >= 8; count_ -= 8, held_ >>= 8U) to_->push_back(static_cast<char>(held_ & 0xffU));
}

PARTITA_DEF void bit_writer::finish() {
  if (count_ != 0) to_->push_back(static_cast<char>(held_ & 0xffU));
  held_ = count_ = 0;
}

PARTITA_DEF std::uint64_t bit_reader::get(unsigned n) {
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

}  // namespace partita::detail
