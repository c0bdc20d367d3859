// A string of bounded length, built without allocation and also in constant expressions.
//
// Every error message of the library is a `text`. The same code writes a message at compile time and at run time, and
// exceptions hold it without <string> (which alone costs more compile time than all headers of core/).
#pragma once

#include <cstddef>
#include <type_traits>

namespace partita {

/// A string of at most `Capacity` characters; longer text is truncated and ends with "...".
template <std::size_t Capacity>
class basic_text {
 public:
  constexpr basic_text() = default;
  constexpr basic_text(const char* characters) { *this << characters; }  // NOLINT: a literal is a text

  static constexpr std::size_t capacity() { return Capacity; }  ///< the maximum number of characters
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const char* c_str() const { return characters_; }
  constexpr const char* begin() const { return characters_; }
  constexpr const char* end() const { return characters_ + size_; }
  constexpr char operator[](std::size_t i) const { return characters_[i]; }

  constexpr basic_text& operator<<(char c) {
    if (size_ < Capacity) {
      characters_[size_++] = c;
    } else {
      for (std::size_t i = 0; i < 3 && i < Capacity; ++i) characters_[Capacity - 1 - i] = '.';
    }
    return *this;
  }

  constexpr basic_text& operator<<(const char* characters) {
    while (*characters != '\0') *this << *characters++;
    return *this;
  }

  template <std::size_t Other>
  constexpr basic_text& operator<<(const basic_text<Other>& other) {
    for (char c : other) *this << c;
    return *this;
  }

  /// Writes an integer in decimal.
  template <class Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, char> && !std::is_same_v<Integer, bool>)
  constexpr basic_text& operator<<(Integer value) {
    using unsigned_integer = std::make_unsigned_t<Integer>;  ///< holds every absolute value
    const auto absolute = static_cast<unsigned_integer>(value);
    if constexpr (std::is_signed_v<Integer>)
      if (value < 0) return (*this << '-').append_digits(static_cast<unsigned_integer>(~absolute + 1U));
    return append_digits(absolute);
  }

  /// Writes the elements of a range in brackets: [2, 3]; nested ranges are written in nested brackets.
  template <class Range>
    requires requires(const Range& range) {
      range.begin();
      range.end();
      range.size();
    }
  constexpr basic_text& operator<<(const Range& range) {
    *this << '[';
    const char* separator = "";
    for (const auto& element : range) {
      *this << separator << element;
      separator = ", ";
    }
    return *this << ']';
  }

  constexpr bool contains(const char* part) const {  ///< whether the string `part` occurs in this text
    for (std::size_t start = 0; start <= size_; ++start) {
      std::size_t k = 0;
      while (part[k] != '\0' && start + k < size_ && characters_[start + k] == part[k]) ++k;
      if (part[k] == '\0') return true;
    }
    return false;
  }

  template <std::size_t Other>
  friend constexpr bool operator==(const basic_text& a, const basic_text<Other>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  friend constexpr bool operator==(const basic_text& a, const char* b) { return a == basic_text<Capacity>(b); }

 private:
  template <class Unsigned>
  constexpr basic_text& append_digits(Unsigned value) {  ///< appends a number in decimal
    if (value >= 10U) append_digits(static_cast<Unsigned>(value / 10U));
    return *this << static_cast<char>('0' + static_cast<int>(value % 10U));
  }

  char characters_[Capacity + 1]{};  ///< the characters; a zero follows the last one
  std::size_t size_ = 0;             ///< the number of characters, without the zero
};

/// The string type of messages: at most 1500 characters, longer messages are truncated.
using text = basic_text<1500>;

/// Writes a text to a stream (any stream with `write`), so that core/ needs no stream header.
template <class Stream, std::size_t Capacity>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const basic_text<Capacity>& sentence) {
  stream.write(sentence.c_str(), static_cast<std::ptrdiff_t>(sentence.size()));
  return stream;
}

}  // namespace partita
