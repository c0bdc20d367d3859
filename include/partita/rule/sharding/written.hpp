// Meshes, shardings and rules on a stream: what a text can write, any stream can.
#pragma once

#include <cstddef>
#include <partita/core/text.hpp>

namespace partita {

struct mesh;
struct sharding;
struct rule;

/// Whether a thing is written to streams as a text writes it.
template <class Thing>
inline constexpr bool is_written_as_text = false;
template <>
inline constexpr bool is_written_as_text<mesh> = true;
template <>
inline constexpr bool is_written_as_text<sharding> = true;
template <>
inline constexpr bool is_written_as_text<rule> = true;

/// Writes a thing to a stream (any stream with `write`), as a text does.
template <class Stream, class Thing>
  requires(is_written_as_text<Thing> && requires(Stream& stream, const char* p) { stream.write(p, 1); })
Stream& operator<<(Stream& stream, const Thing& thing) {
  text written;
  written << thing;
  return stream << written;
}

}  // namespace partita
