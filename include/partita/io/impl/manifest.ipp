// Defines the functions that io/manifest.hpp declares.
#pragma once

#include <cstdio>
#include <limits>
#include <partita/io/manifest.hpp>

namespace partita {

PARTITA_DEF std::vector<std::size_t> manifest::indices_by_name() const {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tensors[a].name < tensors[b].name; });
  return order;
}

PARTITA_DEF bool is_tensor_name(const std::string& name) {
  for (const char c : name)
    if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
          c == '.'))
      return false;
  return !name.empty() && name.size() <= 100 && name[0] != '.';
}

}  // namespace partita

namespace partita::detail {

PARTITA_DEF std::string to_hexadecimal(std::uint32_t sum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(sum));
  return digits;
}

PARTITA_DEF manifest_found manifest_reader::read() {
  std::string format;
  std::size_t version = 0;
  const bool read =
      read_entries({"format", "version", "step", "slab_bytes", "tensors", "checksum"}, [&](std::size_t k) {
        std::string seal;
        return k == 0   ? read_json_string(format)
               : k == 1 ? read_number(version)
               : k == 2 ? read_number(parsed_.manifest.step, std::numeric_limits<std::uint64_t>::max())
               : k == 3 ? read_number(parsed_.manifest.slab_bytes)
               : k == 4 ? read_list([&] { return read_tensor(); })
                        : read_json_string(seal);
      });
  skip_space();
  if (!read) set_error("is not written as one");
  else if (next_character_ != text_end_) set_error("has more than spaces behind its end");
  else if (format != "partita checkpoint" || version != 1) set_error("is of another format or version");
  else check_manifest();
  return std::move(parsed_);
}

PARTITA_DEF bool manifest_reader::set_error(const char* what) {
  if (parsed_.error_message.empty()) parsed_.error_message << "its manifest " << what;
  return false;
}

PARTITA_DEF void manifest_reader::check_manifest() {
  const manifest& m = parsed_.manifest;
  if (m.slab_bytes == 0) set_error("has slabs of no bytes");
  for (std::size_t k = 0; k < m.tensors.size() && parsed_.error_message.empty(); ++k) {
    const manifest_tensor& t = m.tensors[k];
    if (!is_tensor_name(t.name)) set_error("names a tensor as none may be called");
    if (t.checksums.size() != (t.bytes == 0 ? 0 : (t.bytes - 1) / m.slab_bytes + 1))
      set_error("has not one checksum for each slab");
  }
  const std::vector<std::size_t> order = m.indices_by_name();
  for (std::size_t k = 1; k < order.size(); ++k)
    if (m.tensors[order[k]].name == m.tensors[order[k - 1]].name) set_error("names a tensor twice");
}

PARTITA_DEF bool manifest_reader::read_json_string(std::string& out) {
  if (!consume_if_next('"')) return false;
  const char* const first = next_character_;
  while (next_character_ != text_end_ && *next_character_ != '"' && *next_character_ != '\\' &&
         static_cast<unsigned char>(*next_character_) >= ' ')
    ++next_character_;
  if (next_character_ == text_end_ || *next_character_ != '"') return false;
  out.assign(first, next_character_++);
  return true;
}

PARTITA_DEF bool manifest_reader::read_checksum(std::uint32_t& sum) {
  std::string digits;
  if (!read_json_string(digits) || digits.size() != 8) return false;
  sum = 0;
  for (const char c : digits) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    sum = sum << 4U | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return true;
}

PARTITA_DEF bool manifest_reader::read_tensor() {
  manifest_tensor& t = parsed_.manifest.tensors.emplace_back();
  return read_entries({"name", "type", "extents", "bytes", "crc32c"}, [&](std::size_t k) {
    const auto read_extent = [&] {
      return t.extents.size() < npy_header::most_dimensions && read_number(t.extents.emplace_back());
    };
    return k == 0   ? read_json_string(t.name)
           : k == 1 ? read_json_string(t.type)
           : k == 2 ? read_list(read_extent)
           : k == 3 ? read_number(t.bytes)
                    : read_list([&] { return read_checksum(t.checksums.emplace_back()); });
  });
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF std::string to_json(const manifest& m) {
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
      json += (s == 0 ? "\"" : ", \"") + detail::to_hexadecimal(t.checksums[s]) + "\"";
    json += "]}";
  }
  json += "\n  ],\n";
  return json + detail::manifest_seal(json.data(), json.size());
}

PARTITA_DEF manifest_found parse_manifest(const std::string& json) {
  const std::size_t n = json.size() < detail::manifest_seal_bytes ? 0 : json.size() - detail::manifest_seal_bytes;
  if (n == 0 || json.compare(n, std::string::npos, detail::manifest_seal(json.data(), n)) != 0) {
    manifest_found found;
    found.error_message << "its manifest is not what was written: its checksum differs";
    return found;
  }
  return detail::manifest_reader(json).read();
}

}  // namespace partita
