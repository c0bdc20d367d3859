// Defines the functions that comm/detail/diagnostics/json_text.hpp declares.
#pragma once

#include <cstddef>
#include <partita/comm/detail/diagnostics/json_text.hpp>

namespace partita::detail {

/// The length in bytes of the UTF-8 character at the start of a text; the length is 0 if the bytes are not valid UTF-8.
PARTITA_DECL std::size_t utf8_character_length(std::string_view utf8_text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(utf8_text[k])); };
  const unsigned first = byte(0);
  const std::size_t n = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (n == 0 || n > utf8_text.size()) return 0;
  for (std::size_t k = 1; k < n; ++k)
    if ((byte(k) & 0xc0U) != 0x80U) return 0;
  if (n == 3 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0))) return 0;
  if (n == 4 && ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90))) return 0;
  return n;
}

PARTITA_DEF std::string json_escaped(std::string_view utf8_text) {
  std::string all;
  while (!utf8_text.empty()) {
    const std::size_t n = utf8_character_length(utf8_text);
    if (n == 0) all += '?';
    else if (static_cast<unsigned char>(utf8_text[0]) < ' ') all += ' ';
    else (utf8_text[0] == '"' || utf8_text[0] == '\\' ? all += '\\' : all) += utf8_text.substr(0, n);
    utf8_text.remove_prefix(n == 0 ? 1 : n);
  }
  return all;
}

}  // namespace partita::detail
