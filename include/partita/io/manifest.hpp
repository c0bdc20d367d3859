// The manifest of a checkpoint, the file manifest.json, which is written and parsed without a JSON library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/io/crc32c.hpp>
#include <partita/io/npy_header.hpp>
#include <string>
#include <vector>

namespace partita {

/// The entry of a tensor in the manifest of a checkpoint. The tensor is in the file NAME.npy.
struct manifest_tensor {
  std::string name, type;                ///< the tensor's name; its element type as in NumPy, such as "<f4"
  std::vector<std::size_t> extents;      ///< the extents of the whole tensor
  std::size_t bytes = 0;                 ///< the size of the file NAME.npy
  std::vector<std::uint32_t> checksums;  ///< the CRC-32C of each slab of the file; the last slab may be shorter

  friend bool operator==(const manifest_tensor&, const manifest_tensor&) = default;
};

/// The contents of a manifest.
struct manifest {
  std::uint64_t step = 0;                ///< the number of the saved step
  std::size_t slab_bytes = 0;            ///< the number of bytes of a file per checksum
  std::vector<manifest_tensor> tensors;  ///< the entries of the tensors, in the order in which they were saved

  /// The indices of the tensors, sorted by name.
  PARTITA_DECL std::vector<std::size_t> indices_by_name() const;
  friend bool operator==(const manifest&, const manifest&) = default;
};

/// A manifest, or an error message if the text is not a manifest.
struct manifest_found {
  partita::manifest manifest;  ///< the manifest, if there is no error
  text error_message;          ///< what is wrong, or empty
};

/// Whether a string is a valid tensor name, of 1 to 100 of the characters A-Z a-z 0-9 _ - and dot, not beginning with a
/// dot.
PARTITA_DECL bool is_tensor_name(const std::string& name);

namespace detail {

inline constexpr std::size_t manifest_seal_bytes = 27;  ///< the size of the result of manifest_seal

PARTITA_DECL std::string to_hexadecimal(std::uint32_t sum);  ///< the eight hexadecimal digits of a checksum
/// The last lines of a manifest, which hold the checksum of the n characters before them.
inline std::string manifest_seal(const char* text, std::size_t n) {
  return "  \"checksum\": \"" + to_hexadecimal(crc32c(text, n)) + "\"\n}\n";
}

/// Parses a manifest: JSON with known entries in any order, strings without escapes, and whole numbers. The grammar
/// limits the nesting, so hostile input cannot nest deeply.
class manifest_reader : private token_reader {
 public:
  explicit manifest_reader(const std::string& text) : token_reader(text.data(), text.data() + text.size()) {}

  PARTITA_DECL manifest_found read();  ///< parses the whole text

 private:
  PARTITA_DECL bool set_error(const char* what);  ///< keeps the first error; returns false
  PARTITA_DECL void check_manifest();             ///< sets an error if a name, or a number of checksums, is wrong

  PARTITA_DECL bool read_json_string(std::string& out);  ///< parses a string; returns whether there is one
  PARTITA_DECL bool read_checksum(std::uint32_t& sum);   ///< parses a string of 8 hexadecimal digits

  template <class Item>
  bool read_list(Item read_item) {  ///< parses a list in brackets; read_item() parses one entry
    if (!consume_if_next('[')) return false;
    if (consume_if_next(']')) return true;
    do
      if (!read_item()) return false;
    while (consume_if_next(','));
    return consume_if_next(']');
  }
  /// Parses an object that has exactly these entries, each once, in any order; value(k) parses the value of entry k.
  template <std::size_t N, class Value>
  bool read_entries(const char* const (&names)[N], Value value) {
    bool seen[N] = {};
    std::size_t count = 0;
    if (!consume_if_next('{')) return false;
    do {
      std::string key;
      if (!read_json_string(key) || !consume_if_next(':')) return false;
      std::size_t k = 0;
      while (k < N && key != names[k]) ++k;
      if (k == N || seen[k] || !value(k)) return false;
      seen[k] = true;
      ++count;
    } while (consume_if_next(','));
    return count == N && consume_if_next('}');
  }
  PARTITA_DECL bool read_tensor();  ///< parses the entry of a tensor, and adds it to parsed_

  manifest_found parsed_;  ///< what was parsed so far, and the first error
};

}  // namespace detail

/// The manifest as JSON; its last entry is a checksum of the text before it.
PARTITA_DECL std::string to_json(const manifest& m);

/// Parses the output of to_json. A manifest that was edited is rejected, because it contains a checksum of its text.
PARTITA_DECL manifest_found parse_manifest(const std::string& json);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/manifest.ipp>
#endif
