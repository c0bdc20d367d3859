// Packing numbers of any bit width into a stream of bytes.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Appends bits to bytes, least significant bit first.
class bit_writer {
 public:
  explicit bit_writer(std::vector<char>& to) : bytes_(&to) {}  ///< appends to the bytes in `to`

  /// Appends the n lowest bits of `value`. Requires: n <= 64, and all higher bits of `value` are 0.
  PARTITA_DECL void write(std::uint64_t value, unsigned n);
  PARTITA_DECL void finish();  ///< appends the last bits, filled up with zeros to a whole byte

 private:
  static constexpr unsigned chunk_bits = 32;  ///< wider numbers are written in pieces of this width
  std::vector<char>* bytes_;                  ///< the stream, which the caller owns
  std::uint64_t buffered_bits_ = 0;           ///< bits that do not fill a byte yet
  unsigned buffered_bit_count_ = 0;           ///< the number of buffered bits
};

/// Reads numbers from bytes in the bit order of bit_writer.
class bit_reader {
 public:
  explicit bit_reader(const char* from) : bytes_(from) {}  ///< `from` is the first byte

  PARTITA_DECL std::uint64_t read(unsigned n);  ///< the next n bits as a number; n <= 64

 private:
  static constexpr unsigned chunk_bits = 32;  ///< wider numbers are read in pieces of this width
  const char* bytes_;                         ///< the next byte to read
  std::uint64_t buffered_bits_ = 0;           ///< bits of earlier bytes that are not read yet
  unsigned buffered_bit_count_ = 0;           ///< the number of buffered bits
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/array/detail/impl/bit_stream.ipp>
#endif
