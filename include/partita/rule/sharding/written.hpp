// Writing meshes, shardings and rules to streams: every type that can be written to a text can be written to a stream.
#pragma once

#include <cstddef>
#include <partita/core/text.hpp>

namespace partita {

struct mesh;
struct sharding;
struct rule;

/// Whether values of a type can be written to streams (`stream << value`), in the same form as to a text.
template <class Thing>
inline constexpr bool is_writable_to_streams = false;
template <>
inline constexpr bool is_writable_to_streams<mesh> = true;
template <>
inline constexpr bool is_writable_to_streams<sharding> = true;
template <>
inline constexpr bool is_writable_to_streams<rule> = true;

/// Writes a value to a stream (any stream with `write`) in the same form as to a text.
template <class Stream, class Thing>
  requires(is_writable_to_streams<Thing> && requires(Stream& stream, const char* p) { stream.write(p, 1); })
Stream& operator<<(Stream& stream, const Thing& value_to_print) {
  text written;
  written << value_to_print;
  return stream << written;
}

}  // namespace partita
