// Defines the functions that io/manifest.hpp declares.
#pragma once

#include <cstdio>
#include <partita/io/manifest.hpp>

namespace partita {

PARTITA_DEF std::vector<std::size_t> manifest::by_name() const {
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

PARTITA_DEF std::string hexadecimal(std::uint32_t sum) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(sum));
  return digits;
}

PARTITA_DEF manifest_found manifest_reader::read() {
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
  if (!read) set_problem("is not written as one");
  else if (at_ != end_) set_problem("has more than spaces behind its end");
  else if (format != "partita checkpoint" || version != 1) set_problem("is of another format or version");
  else check();
  return std::move(found_);
}

PARTITA_DEF bool manifest_reader::set_problem(const char* what) {
  if (found_.problem.empty()) found_.problem << "its manifest " << what;
  return false;
}

PARTITA_DEF void manifest_reader::check() {
  const manifest& m = found_.manifest;
  if (m.slab_bytes == 0) set_problem("has slabs of no bytes");
  for (std::size_t k = 0; k < m.tensors.size() && found_.problem.empty(); ++k) {
    const manifest_tensor& t = m.tensors[k];
    if (!is_tensor_name(t.name)) set_problem("names a tensor as none may be called");
    if (t.checksums.size() != (t.bytes == 0 ? 0 : (t.bytes - 1) / m.slab_bytes + 1))
      set_problem("has not one checksum for each slab");
  }
  const std::vector<std::size_t> order = m.by_name();
  for (std::size_t k = 1; k < order.size(); ++k)
    if (m.tensors[order[k]].name == m.tensors[order[k - 1]].name) set_problem("names a tensor twice");
}

PARTITA_DEF void manifest_reader::skip_space() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

PARTITA_DEF bool manifest_reader::take(char c) {
  skip_space();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

PARTITA_DEF bool manifest_reader::string(std::string& out) {
  if (!take('"')) return false;
  const char* const first = at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= ' ') ++at_;
  if (at_ == end_ || *at_ != '"') return false;
  out.assign(first, at_++);
  return true;
}

PARTITA_DEF bool manifest_reader::checksum(std::uint32_t& sum) {
  std::string digits;
  if (!string(digits) || digits.size() != 8) return false;
  sum = 0;
  for (const char c : digits) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    sum = sum << 4U | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return true;
}

PARTITA_DEF bool manifest_reader::tensor() {
  manifest_tensor& t = found_.manifest.tensors.emplace_back();
  return entries({"name", "type", "extents", "bytes", "crc32c"}, [&](std::size_t k) {
    switch (k) {
      case 0:
        return string(t.name);
      case 1:
        return string(t.type);
      case 2:
        return list([&] { return t.extents.size() < npy_header::most_dimensions && number(t.extents.emplace_back()); });
      case 3:
        return number(t.bytes);
      default:
        return list([&] { return checksum(t.checksums.emplace_back()); });
    }
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
      json += (s == 0 ? "\"" : ", \"") + detail::hexadecimal(t.checksums[s]) + "\"";
    json += "]}";
  }
  json += "\n  ],\n";
  return json + detail::manifest_seal(json.data(), json.size());
}

PARTITA_DEF manifest_found parse_manifest(const std::string& json) {
  const std::size_t n = json.size() < detail::manifest_seal_bytes ? 0 : json.size() - detail::manifest_seal_bytes;
  if (n == 0 || json.compare(n, std::string::npos, detail::manifest_seal(json.data(), n)) != 0) {
    manifest_found found;
    found.problem << "its manifest is not what was written: its checksum differs";
    return found;
  }
  return detail::manifest_reader(json).read();
}

}  // namespace partita
