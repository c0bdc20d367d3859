// Writes and parses the header of a .npy file. The parser evaluates no Python code and checks every number.
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <limits>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <string>
#include <type_traits>

namespace partita {

/// The contents of the header of a .npy file, which precedes the elements.
struct npy_header {
  /// NumPy 2 supports up to 64 dimensions, and NumPy 1 up to 32.
  static constexpr std::size_t most_dimensions = 64;

  char byte_order = '<';       ///< '<' little, '>' big, '|' for elements of one byte, which have no order
  char kind = 'f';             ///< 'b' bool, 'i' and 'u' integers, 'f' real, 'c' complex
  std::size_t item_bytes = 0;  ///< the number of bytes of one element
  bool fortran_order = false;  ///< whether the index of the first dimension varies fastest
  std::size_t rank = 0;        ///< the number of dimensions
  std::array<std::size_t, most_dimensions> extents{};  ///< the extents of the tensor: the first `rank` entries
  std::size_t data_at = 0;                             ///< the offset of the first element in the file
  std::size_t data_bytes = 0;                          ///< the number of bytes of all elements

  friend bool operator==(const npy_header&, const npy_header&) = default;
};

/// A header, or an error message if the bytes are not a header.
struct npy_header_found {
  npy_header header;   ///< the header, if the bytes are one
  text error_message;  ///< what is wrong, or empty
};

/// The maximum number of bytes of a header. A parser needs at most this number of bytes of a file.
inline constexpr std::size_t npy_header_limit = std::size_t{1} << 16U;

/// The letter of element type T in a .npy file, where T is a number, bool or std::complex; 0 for other types.
template <class T>
inline constexpr char npy_kind = std::is_same_v<T, bool>                          ? 'b'
                                 : std::is_floating_point_v<T>                    ? 'f'
                                 : std::is_integral_v<T> && std::is_signed_v<T>   ? 'i'
                                 : std::is_integral_v<T> && std::is_unsigned_v<T> ? 'u'
                                                                                  : '\0';
template <class T>
inline constexpr char npy_kind<std::complex<T>> = std::is_floating_point_v<T> ? 'c' : '\0';
template <class T>
concept npy_element = npy_kind<T> != '\0';

/// The character for the byte order of this machine in a .npy file.
inline constexpr char native_byte_order = std::endian::native == std::endian::little ? '<' : '>';

/// The name of an element type in a .npy file, such as "<f4", "|b1" or "<c16".
PARTITA_DECL text npy_type_text(char byte_order, char kind, std::size_t item_bytes);
/// The name of the type T in a .npy file of this machine.
template <npy_element T>
text npy_type_of() {
  return npy_type_text(native_byte_order, npy_kind<T>, sizeof(T));
}

/// Makes the header (version 1.0) of a file, padded so that the elements begin at a multiple of 64 bytes. The header is
/// not padded to a page, because xtensor 0.24 misreads long headers: it reads the header length as signed characters.
PARTITA_DECL std::string make_npy_header(const text& type, bool is_fortran_order, const std::size_t* extents,
                                         std::size_t rank);

namespace detail {

/// Reads the tokens of a header or of a manifest one after the other, and skips the spaces before each token.
class token_reader {
 protected:
  token_reader(const char* begin, const char* end) : next_character_(begin), text_end_(end) {}

  void skip_space() {  ///< moves to the next character that is not a space
    while (next_character_ != text_end_ && (*next_character_ == ' ' || *next_character_ == '\n' ||
                                            *next_character_ == '\t' || *next_character_ == '\r'))
      ++next_character_;
  }
  /// Whether c is the next character that is not a space.
  bool is_next_char(char c) {
    skip_space();
    return next_character_ != text_end_ && *next_character_ == c;
  }
  bool consume_if_next(char c) {  ///< skips c, and returns true, if c comes next
    if (!is_next_char(c)) return false;
    ++next_character_;
    return true;
  }
  /// Parses a decimal number of at most `most`, for std::size_t 2^63 - 1. Returns whether there is such a number.
  template <class Number>
  bool read_number(Number& value, Number most = std::numeric_limits<Number>::max() / 2) {
    skip_space();
    const char* const first = next_character_;
    value = 0;
    for (; next_character_ != text_end_ && *next_character_ >= '0' && *next_character_ <= '9'; ++next_character_) {
      const auto digit = static_cast<Number>(*next_character_ - '0');
      if (value > (most - digit) / 10) return false;
      value = value * 10 + digit;
    }
    return next_character_ != first && (next_character_ - first == 1 || *first != '0');
  }

  const char* next_character_;  ///< the first character that is not parsed yet
  const char* text_end_;        ///< the address after the last character
};

/// Parses the Python literal in a header, which must be a dictionary with three known entries.
class npy_header_parser : private token_reader {
 public:
  npy_header_parser(const char* begin, const char* end) : token_reader(begin, end) {}

  PARTITA_DECL npy_header_found read();  ///< parses the whole literal

 private:
  PARTITA_DECL npy_header_found header_with_error(const char* what);  ///< returns parsed_ with the error `what`
  PARTITA_DECL bool set_error(const char* what);                      ///< keeps the first error; returns false

  PARTITA_DECL bool consume_word(const char* word);  ///< skips the word, and returns true, if it comes next
  /// Parses a string in single or double quotes, without escapes.
  PARTITA_DECL bool read_string(std::string& out);

  PARTITA_DECL bool read_type();   ///< parses the value of the entry descr
  PARTITA_DECL bool read_order();  ///< parses the value of the entry fortran_order
  PARTITA_DECL bool read_shape();  ///< parses the value of the entry shape

  PARTITA_DECL npy_header_found check_total_size();  ///< computes data_bytes; an error if it is 2^63 or more

  npy_header_found parsed_;  ///< what was parsed so far, and the first error
};

}  // namespace detail

/// Parses the header in the first n bytes of a file (the whole file, or npy_header_limit bytes of it). Versions 1, 2
/// and 3 are supported. The entries of the Python literal may be in any order. Any other input gives an error message:
/// no Python code is evaluated, no byte after the first n is read, and no number is used before it is known to fit.
PARTITA_DECL npy_header_found parse_npy_header(const unsigned char* bytes, std::size_t n);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/npy_header.ipp>
#endif
