// Defines the functions that explain/long_text.hpp declares.
#pragma once

#include <partita/explain/long_text.hpp>

namespace partita {

PARTITA_DEF long_text& long_text::operator<<(char c) {
  characters_.back() = c;
  characters_.push_back('\0');
  return *this;
}

PARTITA_DEF long_text& long_text::operator<<(const char* characters) {
  while (*characters != '\0') *this << *characters++;
  return *this;
}

PARTITA_DEF long_text& long_text::operator<<(const long_text& tail) {
  characters_.reserve(characters_.size() + tail.size());
  for (std::size_t k = 0, n = tail.size(); k < n; ++k) *this << tail.characters_[k];
  return *this;
}

PARTITA_DEF std::size_t long_text::columns() const {
  std::size_t n = 0;
  for (const char c : *this) n += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return n;
}

PARTITA_DEF long_text& long_text::pad(std::size_t column_count) {
  for (std::size_t n = columns(); n < column_count; ++n) *this << ' ';
  return *this;
}

}  // namespace partita
