// The header of a .npy file: written by make_npy_header, and read by a parser that evaluates nothing and trusts
// nothing.
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <string>
#include <type_traits>

namespace partita {

/// The header, which precedes the elements of a .npy file.
struct npy_header {
  /// The limit of NumPy is 32 dimensions (version 1) or 64 (version 2).
  static constexpr std::size_t most_dimensions = 64;

  char byte_order = '<';       ///< '<' little, '>' big, '|' for elements of one byte, which have no order
  char kind = 'f';             ///< 'b' bool, 'i' and 'u' integers, 'f' real, 'c' complex
  std::size_t item_bytes = 0;  ///< size of one element
  bool fortran_order = false;  ///< whether the first dimension is the fastest
  std::size_t rank = 0;
  std::array<std::size_t, most_dimensions> extents{};
  std::size_t data_at = 0;     ///< offset of the elements in the file
  std::size_t data_bytes = 0;  ///< size of all elements

  friend bool operator==(const npy_header&, const npy_header&) = default;
};

/// A header, or an error message if the bytes are not a header.
struct npy_header_found {
  npy_header header;
  text problem;
};

/// The maximum length of a header of plain numbers. A reader needs no more than this many bytes of a file.
inline constexpr std::size_t npy_header_limit = std::size_t{1} << 16U;

/// T is an element that a .npy file can hold: a number, bool or std::complex.
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

/// The byte order of this machine, as a .npy file writes it.
inline constexpr char native_byte_order = std::endian::native == std::endian::little ? '<' : '>';

/// The type as a .npy file writes it: "<f4", "|b1", "<c16".
PARTITA_DECL text npy_type_text(char byte_order, char kind, std::size_t item_bytes);
template <npy_element T>
text npy_type_of() {
  return npy_type_text(native_byte_order, npy_kind<T>, sizeof(T));
}

/// The header (version 1.0) of a file with these elements, padded so that they begin at a multiple of 64 bytes. They do
/// not begin at a page: xtensor 0.24 reads the header length as signed characters and could not read such a file.
PARTITA_DECL std::string make_npy_header(const text& type, bool columns_first, const std::size_t* extents,
                                         std::size_t rank);

namespace detail {

/// Parses the Python literal of a header: a dictionary of three known entries, nothing else.
class npy_literal {
 public:
  npy_literal(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  PARTITA_DECL npy_header_found read();

 private:
  PARTITA_DECL npy_header_found fail(const char* what);
  PARTITA_DECL bool say(const char* what);

  PARTITA_DECL void skip_space();
  PARTITA_DECL bool next_is(char c);
  PARTITA_DECL bool take(char c);
  PARTITA_DECL bool take_word(const char* word);
  /// A string in single or double quotes, without escapes.
  PARTITA_DECL bool read_string(std::string& out);
  /// A decimal number of at most 2^63 - 1.
  PARTITA_DECL bool read_number(std::size_t& value);

  PARTITA_DECL bool read_type();
  PARTITA_DECL bool read_order();
  PARTITA_DECL bool read_shape();

  PARTITA_DECL npy_header_found size_up();

  static constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;
  const unsigned char* at_;
  const unsigned char* end_;
  npy_header_found found_;
};

}  // namespace detail

/// Parses the header in the first n bytes of a file (the whole file, or npy_header_limit bytes of it). Supports
/// versions 1, 2 and 3. The Python literal is parsed by hand, with its entries in any order. Any other input gives an
/// error message: nothing is evaluated, no byte after the first n is read, and no number is used before it is known to
/// fit.
PARTITA_DECL npy_header_found parse_npy_header(const unsigned char* bytes, std::size_t n);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/npy_header.ipp>
#endif
