// The numbers by which workers find out whether they make the same call.
#pragma once

#include <cstdint>
#include <partita/core/hash.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// A number for a type, the same on all workers of one program.
template <class T>
constexpr std::uint64_t type_number() {
  hasher hash;
  for (const char* c = __PRETTY_FUNCTION__; *c != '\0'; ++c) hash.mix(*c);
  return hash.value();
}

/// What a type is called, for sentences: "float", "std::complex<double>".
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

/// A number of the options of a layer and the type of its elements.
template <class T, class Options>
std::uint64_t number_of_layer(const Options& options) {
  return hasher(type_number<T>()).mix(options).value();
}

/// The number a with b mixed in.
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return hasher(a).mix(b).value(); }

}  // namespace partita::detail
