// A string of any length, for explanations. Including <string> would double the compile time of explain/.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// A string of any length. Converts to std::string, and can be written to any stream that has `write`.
class long_text {
 public:
  long_text() = default;
  long_text(const char* characters) { *this << characters; }  // NOLINT: a literal is a long text

  std::size_t size() const { return characters_.size() - 1; }  ///< the number of bytes
  bool empty() const { return size() == 0; }
  const char* c_str() const { return characters_.data(); }
  const char* begin() const { return characters_.data(); }
  const char* end() const { return characters_.data() + size(); }

  PARTITA_DECL long_text& operator<<(char c);
  PARTITA_DECL long_text& operator<<(const char* characters);
  PARTITA_DECL long_text& operator<<(const long_text& tail);
  template <std::size_t Capacity>
  long_text& operator<<(const basic_text<Capacity>& sentence) {
    return *this << sentence.c_str();
  }
  template <class Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, char> && !std::is_same_v<Integer, bool>)
  long_text& operator<<(Integer value) {
    return *this << (basic_text<24>() << value);
  }

  /// The number of characters in UTF-8: continuation bytes are not counted.
  PARTITA_DECL std::size_t columns() const;
  /// Appends blanks until the text has `column_count` columns.
  PARTITA_DECL long_text& pad(std::size_t column_count);

  /// Converts the text to a std::string, or to any type that is constructible from a pointer and a length.
  template <class String>
    requires(std::is_constructible_v<String, const char*, std::size_t>)
  operator String() const {  // NOLINT: a long text is a string
    return String(c_str(), size());
  }

  friend bool operator==(const long_text& a, const long_text& b) { return a.characters_ == b.characters_; }
  friend bool operator==(const long_text& a, const char* b) { return a == long_text(b); }

 private:
  std::vector<char> characters_ = std::vector<char>(1, '\0');  ///< the text, and a zero at its end
};

/// Writes a long_text to a stream (any stream with `write`). The type `Text` is deduced, so that this overload does not
/// convert literals that are written to a stream.
template <class Stream, class Text>
  requires(std::is_same_v<Text, long_text> && requires(Stream& stream, const char* p) { stream.write(p, 1); })
Stream& operator<<(Stream& stream, const Text& value) {
  stream.write(value.c_str(), static_cast<std::ptrdiff_t>(value.size()));
  return stream;
}

namespace detail {
/// Writes a value as a `text` (at most 1500 characters), and returns this as a long_text.
template <class Thing>
long_text text_of(const Thing& value) {
  text all;
  all << value;
  return long_text() << all;
}
/// Writes a shape as 2 x 3; the shape of a scalar is written as "scalar".
template <class Shape>
long_text extents_text(const Shape& shape, const char* times = " x ") {
  long_text words(shape.size() == 0 ? "scalar" : "");
  for (std::size_t d = 0; d < shape.size(); ++d) words << (d == 0 ? "" : times) << shape[d];
  return words;
}
}  // namespace detail

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/long_text.ipp>
#endif
