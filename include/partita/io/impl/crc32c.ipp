// Defines the functions that io/crc32c.hpp declares.
#pragma once

#include <cstring>
#include <partita/io/crc32c.hpp>

namespace partita::detail {

/// Makes eight tables; tables[k][b] is the effect of byte b on the checksum if k zero bytes follow. The tables are
/// computed at run time, because few machines need them, and a constant expression would take long to compile.
PARTITA_DECL crc32c_tables make_crc32c_tables() {
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

PARTITA_DEF std::uint32_t crc32c_by_tables(const unsigned char* bytes, std::size_t n, std::uint32_t before) {
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

PARTITA_DEF __attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(const unsigned char* bytes,
                                                                                  std::size_t n, std::uint32_t before) {
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

PARTITA_DEF bool has_crc32c_instruction() {
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  return has_sse42;
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF std::uint32_t crc32c(const void* bytes, std::size_t n, std::uint32_t before) {
  const auto* const first = static_cast<const unsigned char*>(bytes);
  return detail::has_crc32c_instruction() ? detail::crc32c_by_instruction(first, n, before)
                                          : detail::crc32c_by_tables(first, n, before);
}

}  // namespace partita
