// Defines the functions that io/npy_header.hpp declares.
#pragma once

#include <partita/io/npy_header.hpp>

namespace partita {

PARTITA_DEF text npy_type_text(char byte_order, char kind, std::size_t item_bytes) {
  text name;
  return name << (item_bytes == 1 ? '|' : byte_order) << kind << item_bytes;
}

PARTITA_DEF std::string make_npy_header(const text& type, bool is_fortran_order, const std::size_t* extents,
                                        std::size_t rank) {
  std::string words = "{'descr': '" + std::string(type.begin(), type.end()) +
                      "', 'fortran_order': " + (is_fortran_order ? "True" : "False") + ", 'shape': (";
  for (std::size_t d = 0; d < rank; ++d) words += std::to_string(extents[d]) + (d + 1 < rank ? ", " : "");
  words += rank == 1 ? ",), }" : "), }";
  words.append(63 - (10 + words.size()) % 64, ' ');
  words += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(words.size() & 0xffU);
  header += static_cast<char>(words.size() >> 8U);
  return header + words;
}

}  // namespace partita

namespace partita::detail {

PARTITA_DEF npy_header_found npy_header_parser::read() {
  bool type = false, order = false, shape = false;
  if (!consume_if_next('{')) return header_with_error("begins with no dictionary");
  while (!consume_if_next('}')) {
    std::string key;
    if (!read_string(key)) return header_with_error("has an entry without a quoted name");
    if (!consume_if_next(':')) return header_with_error("has an entry without a colon");
    bool* const seen = key == "descr" ? &type : key == "fortran_order" ? &order : key == "shape" ? &shape : nullptr;
    if (seen == nullptr) return header_with_error("has an entry that is none of descr, fortran_order and shape");
    if (*seen) return header_with_error("has an entry twice");
    *seen = true;
    if (!(seen == &type ? read_type() : seen == &order ? read_order() : read_shape())) return std::move(parsed_);
    if (!consume_if_next(',') && !is_next_char('}'))
      return header_with_error("has entries without a comma between them");
  }
  if (!type || !order || !shape) return header_with_error("lacks one of descr, fortran_order and shape");
  skip_space();
  if (next_character_ != text_end_) return header_with_error("has more than spaces behind its dictionary");
  return check_total_size();
}

PARTITA_DEF npy_header_found npy_header_parser::header_with_error(const char* what) {
  set_error(what);
  return std::move(parsed_);
}

PARTITA_DEF bool npy_header_parser::set_error(const char* what) {
  if (parsed_.error_message.empty()) parsed_.error_message << "its header " << what;
  return false;
}

PARTITA_DEF bool npy_header_parser::consume_word(const char* word) {
  skip_space();
  const char* p = next_character_;
  for (; *word != '\0'; ++word, ++p)
    if (p == text_end_ || *p != *word) return false;
  next_character_ = p;
  return true;
}

PARTITA_DEF bool npy_header_parser::read_string(std::string& out) {
  const char quote = is_next_char('\'') ? '\'' : '"';
  if (!consume_if_next(quote)) return false;
  while (next_character_ != text_end_ && *next_character_ != quote && *next_character_ != '\\')
    out += *next_character_++;
  if (next_character_ == text_end_ || *next_character_ == '\\') return false;
  ++next_character_;
  return true;
}

PARTITA_DEF bool npy_header_parser::read_type() {
  if (is_next_char('[') || is_next_char('('))
    return set_error("names a structured type; only plain numbers, bool and complex numbers are read");
  std::string type;
  if (!read_string(type)) return set_error("has a type that is no quoted string");
  npy_header& h = parsed_.header;
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
    parsed_.error_message << "its header names the type '";
    for (std::size_t c = 0; c < type.size() && c < 40; ++c) parsed_.error_message << (type[c] < ' ' ? '?' : type[c]);
    parsed_.error_message << "'; only plain numbers, bool and complex numbers are read";
    return false;
  }
  if (n == 1) h.byte_order = '|';
  return true;
}

PARTITA_DEF bool npy_header_parser::read_order() {
  if (consume_word("True")) return parsed_.header.fortran_order = true;
  return consume_word("False") || set_error("has a fortran_order that is neither True nor False");
}

PARTITA_DEF bool npy_header_parser::read_shape() {
  npy_header& h = parsed_.header;
  if (!consume_if_next('(')) return set_error("has a shape that is no tuple");
  bool comma = true;
  while (!consume_if_next(')')) {
    if (!comma) return set_error("has a shape without commas");
    if (h.rank == npy_header::most_dimensions) return set_error("has a shape of more than 64 dimensions");
    if (!read_number(h.extents[h.rank])) return set_error("has a shape whose extents are not numbers below 2^63");
    consume_if_next('L');  // Python 2 writes L after a long number
    ++h.rank;
    comma = consume_if_next(',');
  }
  return h.rank != 1 || comma || set_error("has a shape that is a number in parentheses and no tuple");
}

PARTITA_DEF npy_header_found npy_header_parser::check_total_size() {
  npy_header& h = parsed_.header;
  h.data_bytes = h.item_bytes;
  for (std::size_t d = 0; d < h.rank; ++d)
    if (h.extents[d] == 0) h.data_bytes = 0;
  for (std::size_t d = 0; d < h.rank && h.data_bytes > 0; ++d) {
    if (h.data_bytes > static_cast<std::size_t>(-1) / 2 / h.extents[d])
      return header_with_error("has extents whose product is above 2^63 bytes");
    h.data_bytes *= h.extents[d];
  }
  return std::move(parsed_);
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF npy_header_found parse_npy_header(const unsigned char* bytes, std::size_t n) {
  npy_header_found found;
  const char magic[] = "\x93NUMPY";
  for (std::size_t k = 0; k < 6; ++k)
    if (n < 10 || bytes[k] != static_cast<unsigned char>(magic[k])) {
      found.error_message << (n < 10 ? "it is too short for a .npy file" : "it does not begin as a .npy file does");
      return found;
    }
  const unsigned version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0) {
    found.error_message << "it is a .npy file of version " << version << "." << unsigned{bytes[7]}
                        << "; versions 1.0, 2.0 and 3.0 are read";
    return found;
  }
  const std::size_t front = version == 1 ? 10 : 12;
  std::size_t length = 0;
  for (std::size_t k = front; k-- > 8 && n >= front;) length = length << 8U | bytes[k];
  if (n < front || length > npy_header_limit - front || length > n - front) {
    found.error_message << "its header is cut off or longer than " << npy_header_limit << " bytes";
    return found;
  }
  const char* const begin = reinterpret_cast<const char*>(bytes) + front;
  found = detail::npy_header_parser(begin, begin + length).read();
  found.header.data_at = front + length;
  if (found.error_message.empty() && found.header.data_bytes > static_cast<std::size_t>(-1) / 2 - found.header.data_at)
    found.error_message << "its header has extents whose product is above 2^63 bytes";
  return found;
}

}  // namespace partita
