// The manifest of a checkpoint: manifest.json, written and parsed by hand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <partita/core/error.hpp>
#include <partita/io/crc32c.hpp>
#include <partita/io/npy_header.hpp>
#include <string>
#include <vector>

namespace partita {

/// One tensor of a checkpoint: the file NAME.npy.
struct manifest_tensor {
  std::string name, type;  ///< "<f4" and the like
  std::vector<std::size_t> extents;
  std::size_t bytes = 0;                 ///< size of the file
  std::vector<std::uint32_t> checksums;  ///< CRC-32C of each slab of the file; the last slab may be shorter

  friend bool operator==(const manifest_tensor&, const manifest_tensor&) = default;
};

struct manifest {
  std::uint64_t step = 0;
  std::size_t slab_bytes = 0;
  std::vector<manifest_tensor> tensors;

  /// The indices of the tensors, sorted by name.
  template <class = void>
  std::vector<std::size_t> by_name() const {
    std::vector<std::size_t> order(tensors.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
    return order;
  }
  friend bool operator==(const manifest&, const manifest&) = default;
};

/// A manifest, or an error message if the text is not a manifest.
struct manifest_found {
  partita::manifest manifest;
  text problem;
};

/// Whether a string is a valid tensor name: 1 to 100 of the characters A-Z a-z 0-9 _ - and dot, not beginning with a
/// dot.
template <class = void>
inline bool is_tensor_name(const std::string& name) {
  for (const char c : name)
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
          c == '.'))
      return false;
  return !name.empty() && name.size() <= 100 && name[0] != '.';
}

namespace detail {

inline constexpr std::size_t manifest_seal_bytes = 27;

inline std::string hexadecimal(std::uint32_t sum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(sum));
  return digits;
}
/// The last lines of a manifest: the checksum of the text before them.
inline std::string manifest_seal(const char* text, std::size_t n) {
  return "  \"checksum\": \"" + hexadecimal(crc32c(text, n)) + "\"\n}\n";
}

/// Parses a manifest by its grammar: JSON with known entries in any order, strings without escapes, whole numbers. The
/// grammar limits the nesting, so hostile input cannot nest deeply.
class manifest_reader {
 public:
  template <class = void>
  explicit manifest_reader(const std::string& text) : at_(text.data()), end_(text.data() + text.size()) {}

  template <class = void>
  manifest_found read() {
    std::string format;
    std::size_t version = 0;
    const bool read = entries({"format", "version", "step", "slab_bytes", "tensors", "checksum"}, [&](std::size_t k) {
      std::string seal;
      switch (k) {
        case 0:
          return string(format);
        case 1:
          return number(version);
        case 2:
          return number(found_.manifest.step, std::numeric_limits<std::uint64_t>::max());
        case 3:
          return number(found_.manifest.slab_bytes);
        case 4:
          return list([&] { return tensor(); });
        default:
          return string(seal);
      }
    });
    skip_space();
    if (!read) say("is not written as one");
    else if (at_ != end_) say("has more than spaces behind its end");
    else if (format != "partita checkpoint" || version != 1) say("is of another format or version");
    else check();
    return std::move(found_);
  }

 private:
  template <class = void>
  bool say(const char* what) {
    if (found_.problem.empty()) found_.problem << "its manifest " << what;
    return false;
  }
  template <class = void>
  void check() {
    const manifest& m = found_.manifest;
    if (m.slab_bytes == 0) say("has slabs of no bytes");
    for (std::size_t k = 0; k < m.tensors.size() && found_.problem.empty(); ++k) {
      const manifest_tensor& t = m.tensors[k];
      if (!is_tensor_name(t.name)) say("names a tensor as none may be called");
      if (t.checksums.size() != (t.bytes == 0 ? 0 : (t.bytes - 1) / m.slab_bytes + 1))
        say("has not one checksum for each slab");
    }
    const std::vector<std::size_t> order = m.by_name();
    for (std::size_t k = 1; k < order.size(); ++k)
      if (m.tensors[order[k]].name == m.tensors[order[k - 1]].name) say("names a tensor twice");
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  template <class = void>
  bool string(std::string& out) {
    if (!take('"')) return false;
    const char* const first = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= ' ') ++at_;
    if (at_ == end_ || *at_ != '"') return false;
    out.assign(first, at_++);
    return true;
  }
  template <class Number>
  bool number(Number& value, Number most = std::numeric_limits<Number>::max() / 2) {
    skip_space();
    const char* const first = at_;
    value = 0;
    for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
      const auto digit = static_cast<Number>(*at_ - '0');
      if (value > (most - digit) / 10) return false;
      value = value * 10 + digit;
    }
    return at_ != first && (at_ - first == 1 || *first != '0');
  }
  template <class = void>
  bool checksum(std::uint32_t& sum) {
    std::string digits;
    if (!string(digits) || digits.size() != 8) return false;
    sum = 0;
    for (const char c : digits) {
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
      sum = sum << 4U | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
  }

  template <class Item>
  bool list(Item item) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do
      if (!item()) return false;
    while (take(','));
    return take(']');
  }
  /// An object with exactly these entries, each once, in any order.
  template <std::size_t N, class Value>
  bool entries(const char* const (&names)[N], Value value) {
    bool seen[N] = {};
    std::size_t count = 0;
    if (!take('{')) return false;
    do {
      std::string key;
      if (!string(key) || !take(':')) return false;
      std::size_t k = 0;
      while (k < N && key != names[k]) ++k;
      if (k == N || seen[k] || !value(k)) return false;
      seen[k] = true;
      ++count;
    } while (take(','));
    return count == N && take('}');
  }
  template <class = void>
  bool tensor() {
    manifest_tensor& t = found_.manifest.tensors.emplace_back();
    return entries({"name", "type", "extents", "bytes", "crc32c"}, [&](std::size_t k) {
      switch (k) {
        case 0:
          return string(t.name);
        case 1:
          return string(t.type);
        case 2:
          return list(
              [&] { return t.extents.size() < npy_header::most_dimensions && number(t.extents.emplace_back()); });
        case 3:
          return number(t.bytes);
        default:
          return list([&] { return checksum(t.checksums.emplace_back()); });
      }
    });
  }

  const char* at_;
  const char* end_;
  manifest_found found_;
};

}  // namespace detail

/// The manifest as JSON; its last entry is a checksum of the text before it.
template <class = void>
std::string to_json(const manifest& m) {
  std::string json =
      "{\n  \"format\": \"partita checkpoint\",\n  \"version\": 1,\n  \"step\": " + std::to_string(m.step) +
      ",\n  \"slab_bytes\": " + std::to_string(m.slab_bytes) + ",\n  \"tensors\": [";
  for (std::size_t k = 0; k < m.tensors.size(); ++k) {
    const manifest_tensor& t = m.tensors[k];
    json +=
        (k == 0 ? "\n" : ",\n") + ("    {\"name\": \"" + t.name) + "\", \"type\": \"" + t.type + "\", \"extents\": [";
    for (std::size_t d = 0; d < t.extents.size(); ++d) json += (d == 0 ? "" : ", ") + std::to_string(t.extents[d]);
    json += "], \"bytes\": " + std::to_string(t.bytes) + ",\n     \"crc32c\": [";
    for (std::size_t s = 0; s < t.checksums.size(); ++s)
      json += (s == 0 ? "\"" : ", \"") + detail::hexadecimal(t.checksums[s]) + "\"";
    json += "]}";
  }
  json += "\n  ],\n";
  return json + detail::manifest_seal(json.data(), json.size());
}

/// Parses the output of to_json. If even one bit of the text was changed, it is rejected: do not edit a manifest.
template <class = void>
manifest_found parse_manifest(const std::string& json) {
  const std::size_t n = json.size() < detail::manifest_seal_bytes ? 0 : json.size() - detail::manifest_seal_bytes;
  if (n == 0 || json.compare(n, std::string::npos, detail::manifest_seal(json.data(), n)) != 0) {
    manifest_found found;
    found.problem << "its manifest is not what was written: its checksum differs";
    return found;
  }
  return detail::manifest_reader(json).read();
}

}  // namespace partita
