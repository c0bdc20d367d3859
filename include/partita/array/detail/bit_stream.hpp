// Packing numbers of any bit width into a stream of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Appends bits to bytes, least significant bit first.
class bit_writer {
 public:
  explicit bit_writer(std::vector<char>& to) : bytes_(&to) {}

  /// Appends the n lowest bits of `value`. Requires: n <= 64, and all higher bits of `value` are 0.
  PARTITA_DECL void write(std::uint64_t value, unsigned n);
  PARTITA_DECL void finish();

 private:
  static constexpr unsigned chunk_bits = 32;
  std::vector<char>* bytes_;
  std::uint64_t buffered_bits_ = 0;
  unsigned bit_count_ = 0;
};

/// Reads numbers from bytes in the bit order of bit_writer.
class bit_reader {
 public:
  explicit bit_reader(const char* from) : bytes_(from) {}

  PARTITA_DECL std::uint64_t read(unsigned n);

 private:
  static constexpr unsigned chunk_bits = 32;
  const char* bytes_;
  std::uint64_t buffered_bits_ = 0;
  unsigned bit_count_ = 0;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/array/detail/impl/bit_stream.ipp>
#endif
