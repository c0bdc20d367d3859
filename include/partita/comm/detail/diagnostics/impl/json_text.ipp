// Defines the functions that comm/detail/diagnostics/json_text.hpp declares.
#pragma once

#include <cstddef>
#include <partita/comm/detail/diagnostics/json_text.hpp>

namespace partita::detail {

/// The length in bytes of the UTF-8 character at the start of a text; 0 if the bytes are not valid UTF-8.
PARTITA_DECL std::size_t utf8_character(std::string_view words) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(words[k])); };
  const unsigned first = byte(0);
  const std::size_t n = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (n == 0 || n > words.size()) return 0;
  for (std::size_t k = 1; k < n; ++k)
    if ((byte(k) & 0xc0U) != 0x80U) return 0;
  if (n == 3 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0))) return 0;
  if (n == 4 && ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90))) return 0;
  return n;
}

PARTITA_DEF std::string json_escaped(std::string_view words) {
  std::string all;
  while (!words.empty()) {
    const std::size_t n = utf8_character(words);
    if (n == 0) all += '?';
    else if (static_cast<unsigned char>(words[0]) < ' ') all += ' ';
    else (words[0] == '"' || words[0] == '\\' ? all += '\\' : all) += words.substr(0, n);
    words.remove_prefix(n == 0 ? 1 : n);
  }
  return all;
}

}  // namespace partita::detail
