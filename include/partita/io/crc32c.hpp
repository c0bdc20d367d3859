// The checksum CRC-32C (Castagnoli) detects any change within 32 consecutive bits, and all but 1 in 2^32 other changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>

namespace partita {

namespace detail {

inline constexpr std::uint32_t crc32c_polynomial = 0x82f63b78U;  ///< the polynomial of CRC-32C; x^0 is the highest bit

using crc32c_tables = std::array<std::array<std::uint32_t, 256>, 8>;  ///< [k][b]: effect of byte b before k zero bytes

/// Computes the checksum of n bytes with eight tables. `before` is the checksum of the preceding bytes.
PARTITA_DECL std::uint32_t crc32c_by_tables(const unsigned char* bytes, std::size_t n, std::uint32_t before);

#if defined(__x86_64__)
/// Computes the CRC-32C checksum of n bytes by the processor's CRC instruction, which requires SSE4.2. The code uses
/// builtins because including <immintrin.h> alone costs more compile time than the rest of io/.
PARTITA_DECL __attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(const unsigned char* bytes,
                                                                                   std::size_t n, std::uint32_t before);
PARTITA_DECL bool has_crc32c_instruction();  ///< whether this processor has SSE4.2
#else
inline std::uint32_t crc32c_by_instruction(const unsigned char* bytes, std::size_t n, std::uint32_t before) {
  return crc32c_by_tables(bytes, n, before);
}
inline bool has_crc32c_instruction() { return false; }
#endif

/// The product of two polynomials modulo the polynomial of CRC-32C. All polynomials are written with their bits
/// reversed: x^0 is the highest bit.
constexpr std::uint32_t multiply_crc32c(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t power = std::uint32_t{1} << 31U; power != 0; power >>= 1U) {
    if ((a & power) != 0) product ^= b;
    b = (b & 1U) != 0 ? b >> 1U ^ crc32c_polynomial : b >> 1U;
  }
  return product;
}

}  // namespace detail

/// The CRC-32C checksum of n bytes. `before` is the checksum of the preceding bytes, 0 if there are none.
PARTITA_DECL std::uint32_t crc32c(const void* bytes, std::size_t n, std::uint32_t before = 0);

namespace detail {

/// The polynomial x^(8n) modulo the polynomial of CRC-32C. The product of x^(8n) and the checksum of some bytes is the
/// contribution of these bytes to the checksum of a sequence in which n bytes follow them.
constexpr std::uint32_t crc32c_shift(std::uint64_t n) {
  std::uint32_t all = std::uint32_t{1} << 31U;    // the polynomial 1
  std::uint32_t shift = std::uint32_t{1} << 23U;  // the polynomial x^8, squared in each step
  for (; n != 0; n >>= 1U) {
    if ((n & 1U) != 0) all = multiply_crc32c(all, shift);
    shift = multiply_crc32c(shift, shift);
  }
  return all;
}

}  // namespace detail

/// The checksum of two consecutive pieces of a file, computed from the checksums `first` and `second` of the pieces, so
/// that each worker can compute the checksum of its own piece. The second piece has n bytes.
constexpr std::uint32_t crc32c_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t n) {
  return detail::multiply_crc32c(first, detail::crc32c_shift(n)) ^ second;
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/crc32c.ipp>
#endif
