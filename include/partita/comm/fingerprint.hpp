// Fingerprints (hashes) with which workers check that they make the same call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/hash.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// A hash of a type, the same on all workers that run one program.
template <class T>
constexpr std::uint64_t type_number() {
  hasher hash;
  for (const char* c = __PRETTY_FUNCTION__; *c != '\0'; ++c) hash.mix(*c);
  return hash.value();
}

/// The name of a type, for error messages: "float", "std::complex<double>".
template <class T>
text type_name() {
  text name;
  const char* c = __PRETTY_FUNCTION__;  // "… [with T = float; …]" or "… [T = float]"
  while (*c != '\0' && !(c[0] == 'T' && c[1] == ' ' && c[2] == '=')) ++c;
  if (*c == '\0') return "a type without a name";
  int open = 0;
  for (c += 4; *c != '\0' && (open > 0 || (*c != ';' && *c != ']')); ++c) {
    open += *c == '<' || *c == '[' ? 1 : *c == '>' || *c == ']' ? -1 : 0;
    name << *c;
  }
  return name;
}

/// A hash of the values of all Members members of a struct, in order. If Members is wrong, the call does not compile.
template <std::size_t Members, class Struct>
constexpr std::uint64_t fingerprint_of_members(const Struct& all, std::uint64_t seed = 0) {
  static_assert(Members >= 1 && Members <= 11);
  const auto ordered_hash = [seed](const auto&... value) {
    hasher mixing(seed);
    (mixing.mix(value), ...);
    return mixing.value();
  };
  if constexpr (Members == 1) {
    const auto& [a] = all;
    return ordered_hash(a);
  } else if constexpr (Members == 2) {
    const auto& [a, b] = all;
    return ordered_hash(a, b);
  } else if constexpr (Members == 3) {
    const auto& [a, b, c] = all;
    return ordered_hash(a, b, c);
  } else if constexpr (Members == 4) {
    const auto& [a, b, c, d] = all;
    return ordered_hash(a, b, c, d);
  } else if constexpr (Members == 5) {
    const auto& [a, b, c, d, e] = all;
    return ordered_hash(a, b, c, d, e);
  } else if constexpr (Members == 6) {
    const auto& [a, b, c, d, e, f] = all;
    return ordered_hash(a, b, c, d, e, f);
  } else if constexpr (Members == 7) {
    const auto& [a, b, c, d, e, f, g] = all;
    return ordered_hash(a, b, c, d, e, f, g);
  } else if constexpr (Members == 8) {
    const auto& [a, b, c, d, e, f, g, h] = all;
    return ordered_hash(a, b, c, d, e, f, g, h);
  } else if constexpr (Members == 9) {
    const auto& [a, b, c, d, e, f, g, h, i] = all;
    return ordered_hash(a, b, c, d, e, f, g, h, i);
  } else if constexpr (Members == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = all;
    return ordered_hash(a, b, c, d, e, f, g, h, i, j);
  } else {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = all;
    return ordered_hash(a, b, c, d, e, f, g, h, i, j, k);
  }
}

/// The hash of a layer's options and of its element type.
template <class T, class Options>
std::uint64_t layer_fingerprint(const Options& options) {
  return hasher(type_number<T>()).mix(options).value();
}

/// The hash that results from mixing the hash b into the hash a.
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return hasher(a).mix(b).value(); }

}  // namespace partita::detail
