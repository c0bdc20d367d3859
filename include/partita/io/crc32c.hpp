// CRC-32C (Castagnoli): detects every change within 32 consecutive bits, and every other change except 1 in 2^32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace partita {

namespace detail {

inline constexpr std::uint32_t crc32c_polynomial = 0x82f63b78U;  // with its bits reversed

using crc32c_tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// tables[k][b] is the effect of byte b on the checksum if k zero bytes follow. Computed at run time when needed,
/// because few machines need them, and as a constant expression they would take longer to compile than the rest of this
/// file.
template <class = void>
inline crc32c_tables make_crc32c_tables() {
  crc32c_tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1U) != 0 ? sum >> 1U ^ crc32c_polynomial : sum >> 1U;
    tables[0][b] = sum;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = tables[k - 1][b] >> 8U ^ tables[0][tables[k - 1][b] & 0xffU];
  return tables;
}

/// Processes eight bytes at a time with eight tables.
template <class = void>
inline std::uint32_t crc32c_by_tables(const unsigned char* bytes, std::size_t n, std::uint32_t before) {
  static const crc32c_tables tables = make_crc32c_tables();
  std::uint32_t sum = ~before;
  for (; n >= 8; n -= 8, bytes += 8) {
    const std::uint32_t low = sum ^ (bytes[0] | std::uint32_t{bytes[1]} << 8U | std::uint32_t{bytes[2]} << 16U |
                                     std::uint32_t{bytes[3]} << 24U);
    sum = tables[7][low & 0xffU] ^ tables[6][low >> 8U & 0xffU] ^ tables[5][low >> 16U & 0xffU] ^
          tables[4][low >> 24U] ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
  }
  for (; n > 0; --n) sum = sum >> 8U ^ tables[0][(sum ^ *bytes++) & 0xffU];
  return ~sum;
}

#if defined(__x86_64__)
/// Uses the machine's CRC instruction. Requires SSE4.2. It uses builtins because including <immintrin.h> alone costs
/// more than the rest of io/.
__attribute__((target("sse4.2"))) inline std::uint32_t crc32c_by_machine(const unsigned char* bytes, std::size_t n,
                                                                         std::uint32_t before) {
  std::uint64_t sum = ~before;
  for (; n >= 8; n -= 8, bytes += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    sum = __builtin_ia32_crc32di(sum, word);
  }
  auto rest = static_cast<std::uint32_t>(sum);
  for (; n > 0; --n) rest = __builtin_ia32_crc32qi(rest, *bytes++);
  return ~rest;
}
inline bool machine_has_crc32c() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#else
inline std::uint32_t crc32c_by_machine(const unsigned char* bytes, std::size_t n, std::uint32_t before) {
  return crc32c_by_tables(bytes, n, before);
}
inline bool machine_has_crc32c() { return false; }
#endif

/// The product of two polynomials modulo CRC-32C's, all with their bits reversed (x^0 is the highest bit).
constexpr std::uint32_t crc32c_product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t power = std::uint32_t{1} << 31U; power != 0; power >>= 1U) {
    if ((a & power) != 0) product ^= b;
    b = (b & 1U) != 0 ? b >> 1U ^ crc32c_polynomial : b >> 1U;
  }
  return product;
}

}  // namespace detail

/// The checksum of n bytes. `before` is the checksum of the preceding bytes, if there are any.
inline std::uint32_t crc32c(const void* bytes, std::size_t n, std::uint32_t before = 0) {
  const auto* const first = static_cast<const unsigned char*>(bytes);
  return detail::machine_has_crc32c() ? detail::crc32c_by_machine(first, n, before)
                                      : detail::crc32c_by_tables(first, n, before);
}

namespace detail {

/// x to the power of 8 n. A checksum times this is its contribution to the checksum if n more bytes follow.
constexpr std::uint32_t crc32c_shift(std::uint64_t n) {
  std::uint32_t all = std::uint32_t{1} << 31U;    // 1
  std::uint32_t shift = std::uint32_t{1} << 23U;  // x^8, then squared in each step
  for (; n != 0; n >>= 1U) {
    if ((n & 1U) != 0) all = crc32c_product(all, shift);
    shift = crc32c_product(shift, shift);
  }
  return all;
}

}  // namespace detail

/// The checksum of two consecutive pieces from their two checksums; the second piece has n bytes. So each worker can
/// sum its own piece.
constexpr std::uint32_t crc32c_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t n) {
  return detail::crc32c_product(first, detail::crc32c_shift(n)) ^ second;
}

}  // namespace partita
