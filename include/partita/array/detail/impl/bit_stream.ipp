// Defines the functions that array/detail/bit_stream.hpp declares.
#pragma once

#include <partita/array/detail/bit_stream.hpp>

namespace partita::detail {

PARTITA_DEF void bit_writer::write(std::uint64_t value, unsigned n) {
  for (; n > chunk_bits; n -= chunk_bits, value >>= chunk_bits)
    write(value & ((std::uint64_t{1} << chunk_bits) - 1), chunk_bits);
  buffered_bits_ |= value << buffered_bit_count_;
  for (buffered_bit_count_ += n; buffered_bit_count_ >= 8; buffered_bit_count_ -= 8, buffered_bits_ >>= 8U)
    bytes_->push_back(static_cast<char>(buffered_bits_ & 0xffU));
}

PARTITA_DEF void bit_writer::finish() {
  if (buffered_bit_count_ != 0) bytes_->push_back(static_cast<char>(buffered_bits_ & 0xffU));
  buffered_bits_ = buffered_bit_count_ = 0;
}

PARTITA_DEF std::uint64_t bit_reader::read(unsigned n) {
  if (n > chunk_bits) {
    const std::uint64_t low = read(chunk_bits);
    return low | read(n - chunk_bits) << chunk_bits;
  }
  for (; buffered_bit_count_ < n; buffered_bit_count_ += 8)
    buffered_bits_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(*bytes_++)) << buffered_bit_count_;
  const std::uint64_t value = buffered_bits_ & ((std::uint64_t{1} << n) - 1);
  buffered_bits_ >>= n;
  buffered_bit_count_ -= n;
  return value;
}

}  // namespace partita::detail
