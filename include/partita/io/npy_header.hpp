// The header of a .npy file: written by make_npy_header, and read by a parser that evaluates nothing and trusts
// nothing.
#pragma once

#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
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
inline text npy_type_text(char byte_order, char kind, std::size_t item_bytes) {
  text name;
  return name << (item_bytes == 1 ? '|' : byte_order) << kind << item_bytes;
}
template <npy_element T>
text npy_type_of() {
  return npy_type_text(native_byte_order, npy_kind<T>, sizeof(T));
}

/// The header (version 1.0) of a file with these elements, padded so that they begin at a multiple of 64 bytes. They do
/// not begin at a page: xtensor 0.24 reads the header length as signed characters and could not read such a file.
template <class = void>
std::string make_npy_header(const text& type, bool columns_first, const std::size_t* extents, std::size_t rank) {
  std::string words = "{'descr': '" + std::string(type.begin(), type.end()) +
                      "', 'fortran_order': " + (columns_first ? "True" : "False") + ", 'shape': (";
  for (std::size_t d = 0; d < rank; ++d) words += std::to_string(extents[d]) + (d + 1 < rank ? ", " : "");
  words += rank == 1 ? ",), }" : "), }";
  words.append(63 - (10 + words.size()) % 64, ' ');
  words += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(words.size() & 0xffU);
  header += static_cast<char>(words.size() >> 8U);
  return header + words;
}

namespace detail {

/// Parses the Python literal of a header: a dictionary of three known entries, nothing else.
class npy_literal {
 public:
  npy_literal(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

  template <class = void>
  npy_header_found read() {
    bool type = false, order = false, shape = false;
    if (!take('{')) return fail("begins with no dictionary");
    while (!take('}')) {
      std::string key;
      if (!read_string(key)) return fail("has an entry without a quoted name");
      if (!take(':')) return fail("has an entry without a colon");
      bool* const seen = key == "descr" ? &type : key == "fortran_order" ? &order : key == "shape" ? &shape : nullptr;
      if (seen == nullptr) return fail("has an entry that is none of descr, fortran_order and shape");
      if (*seen) return fail("has an entry twice");
      *seen = true;
      if (!(seen == &type ? read_type() : seen == &order ? read_order() : read_shape())) return std::move(found_);
      if (!take(',') && !next_is('}')) return fail("has entries without a comma between them");
    }
    if (!type || !order || !shape) return fail("lacks one of descr, fortran_order and shape");
    skip_space();
    if (at_ != end_) return fail("has more than spaces behind its dictionary");
    return size_up();
  }

 private:
  npy_header_found fail(const char* what) {
    say(what);
    return std::move(found_);
  }
  bool say(const char* what) {
    if (found_.problem.empty()) found_.problem << "its header " << what;
    return false;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    return at_ != end_ && *at_ == static_cast<unsigned char>(c);
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool take_word(const char* word) {
    skip_space();
    const unsigned char* p = at_;
    for (; *word != '\0'; ++word, ++p)
      if (p == end_ || *p != static_cast<unsigned char>(*word)) return false;
    at_ = p;
    return true;
  }
  /// A string in single or double quotes, without escapes.
  template <class = void>
  bool read_string(std::string& out) {
    const char quote = next_is('\'') ? '\'' : '"';
    if (!take(quote)) return false;
    while (at_ != end_ && *at_ != static_cast<unsigned char>(quote) && *at_ != '\\') out += static_cast<char>(*at_++);
    if (at_ == end_ || *at_ == '\\') return false;
    ++at_;
    return true;
  }
  /// A decimal number of at most 2^63 - 1.
  bool read_number(std::size_t& value) {
    skip_space();
    const unsigned char* const first = at_;
    value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      const std::size_t digit = *at_ - std::size_t{'0'};
      if (value > (most - digit) / 10) return false;
      value = value * 10 + digit;
    }
    return at_ != first && (at_ - first == 1 || *first != '0');
  }

  template <class = void>
  bool read_type() {
    if (next_is('[') || next_is('('))
      return say("names a structured type; only plain numbers, bool and complex numbers are read");
    std::string type;
    if (!read_string(type)) return say("has a type that is no quoted string");
    npy_header& h = found_.header;
    std::size_t k = 0;
    h.byte_order = native_byte_order;
    if (k < type.size() && (type[k] == '<' || type[k] == '>' || type[k] == '|' || type[k] == '=')) {
      if (type[k] != '=') h.byte_order = type[k];
      ++k;
    }
    h.kind = k < type.size() ? type[k++] : '\0';
    for (; k < type.size() && type[k] >= (h.item_bytes == 0 ? '1' : '0') && type[k] <= '9' && h.item_bytes < 100; ++k)
      h.item_bytes = h.item_bytes * 10 + static_cast<std::size_t>(type[k] - '0');
    const std::size_t n = h.item_bytes;
    const bool integer = n == 1 || n == 2 || n == 4 || n == 8;
    const bool known = (h.kind == 'b' && n == 1) || ((h.kind == 'i' || h.kind == 'u') && integer) ||
                       (h.kind == 'f' && (n == 2 || n == 4 || n == 8 || n == 12 || n == 16)) ||
                       (h.kind == 'c' && (n == 8 || n == 16 || n == 24 || n == 32));
    if (k != type.size() || !known || (n > 1 && h.byte_order == '|')) {
      found_.problem << "its header names the type '";
      for (std::size_t c = 0; c < type.size() && c < 40; ++c) found_.problem << (type[c] < ' ' ? '?' : type[c]);
      found_.problem << "'; only plain numbers, bool and complex numbers are read";
      return false;
    }
    if (n == 1) h.byte_order = '|';
    return true;
  }
  bool read_order() {
    if (take_word("True")) return found_.header.fortran_order = true;
    return take_word("False") || say("has a fortran_order that is neither True nor False");
  }
  bool read_shape() {
    npy_header& h = found_.header;
    if (!take('(')) return say("has a shape that is no tuple");
    bool comma = true;
    while (!take(')')) {
      if (!comma) return say("has a shape without commas");
      if (h.rank == npy_header::most_dimensions) return say("has a shape of more than 64 dimensions");
      if (!read_number(h.extents[h.rank])) return say("has a shape whose extents are not numbers below 2^63");
      take('L');  // the suffix of a long in Python 2
      ++h.rank;
      comma = take(',');
    }
    return h.rank != 1 || comma || say("has a shape that is a number in parentheses and no tuple");
  }

  npy_header_found size_up() {
    npy_header& h = found_.header;
    h.data_bytes = h.item_bytes;
    for (std::size_t d = 0; d < h.rank; ++d)
      if (h.extents[d] == 0) h.data_bytes = 0;
    for (std::size_t d = 0; d < h.rank && h.data_bytes > 0; ++d) {
      if (h.data_bytes > most / h.extents[d]) return fail("has extents whose product is above 2^63 bytes");
      h.data_bytes *= h.extents[d];
    }
    return std::move(found_);
  }

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
template <class = void>
npy_header_found parse_npy_header(const unsigned char* bytes, std::size_t n) {
  npy_header_found found;
  const char magic[] = "\x93NUMPY";
  for (std::size_t k = 0; k < 6; ++k)
    if (n < 10 || bytes[k] != static_cast<unsigned char>(magic[k])) {
      found.problem << (n < 10 ? "it is too short for a .npy file" : "it does not begin as a .npy file does");
      return found;
    }
  const unsigned version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0) {
    found.problem << "it is a .npy file of version " << version << "." << unsigned{bytes[7]}
                  << "; versions 1.0, 2.0 and 3.0 are read";
    return found;
  }
  const std::size_t front = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t k = front; k-- > 8 && n >= front;) length = length << 8U | bytes[k];
  if (n < front || length > npy_header_limit - front || length > n - front) {
    found.problem << "its header is cut off or longer than " << npy_header_limit << " bytes";
    return found;
  }
  found = detail::npy_literal(bytes + front, bytes + front + length).read();
  found.header.data_at = front + length;
  if (found.problem.empty() && found.header.data_bytes > static_cast<std::size_t>(-1) / 2 - found.header.data_at)
    found.problem << "its header has extents whose product is above 2^63 bytes";
  return found;
}

}  // namespace partita
