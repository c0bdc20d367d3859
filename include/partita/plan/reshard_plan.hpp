// A reshard plan: the elementary steps that move a tensor from one sharding to another, with the bytes of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// One step. All but `permute` act along one mesh axis: each among the workers whose coordinates differ only along it.
struct reshard_step {
  enum class what : std::uint8_t {
    slice,           ///< a replicated axis shards dimension `to`: every worker keeps its part
    owe,             ///< a complete value becomes partial: nothing moves
    all_gather,      ///< the minor axis of dimension `from` becomes replicated
    all_to_all,      ///< the minor axis of dimension `from` becomes the minor axis of `to`
    reduce_scatter,  ///< a partial axis is reduced, and shards dimension `to`
    all_reduce,      ///< a partial axis is reduced, and becomes replicated
    permute,         ///< axes exchange their roles: every worker receives the whole block of another
  };
  static constexpr std::uint8_t none = 255;

  what done = what::slice;
  std::uint8_t axis = none, from = none, to = none;
  owed_reduction kind = owed_reduction::none;
  std::size_t bytes = 0;  ///< received by a worker; for a reduction, by a ring algorithm
  double seconds = 0;
  sharding after{};
  friend constexpr bool operator==(const reshard_step&, const reshard_step&) = default;
};

template <>
inline constexpr bool is_written_as_text<reshard_step> = true;

constexpr const char* name_of(reshard_step::what done) {
  constexpr const char* names[] = {"slice",          "owe",        "all_gather", "all_to_all",
                                   "reduce_scatter", "all_reduce", "permute"};
  return names[static_cast<std::size_t>(done)];
}

/// The cost of a message along one mesh axis: its latency, and seconds for each byte.
struct mesh_link {
  double latency = 1e-6;
  double seconds_per_byte = 1e-10;
  friend constexpr bool operator==(const mesh_link&, const mesh_link&) = default;
};

/// The links of a mesh, one for each axis, and the overhead of a step that sends nothing.
struct mesh_links {
  std::array<mesh_link, most_axes> along{};
  double step = 1e-9;

  constexpr mesh_links() = default;
  /// In the order of the axes; axes that are not listed have the default.
  constexpr mesh_links(std::initializer_list<mesh_link> all) {
    std::size_t a = 0;
    for (const mesh_link& one : all)
      if (a < most_axes) along[a++] = one;
  }
};

struct reshard_plan {
  static constexpr std::size_t most_steps = 32;
  bounded_list<reshard_step, most_steps> steps{};

  constexpr std::size_t size() const { return steps.size(); }
  constexpr bool empty() const { return steps.empty(); }
  constexpr const reshard_step& operator[](std::size_t k) const { return steps[k]; }
  constexpr const reshard_step* begin() const { return steps.begin(); }
  constexpr const reshard_step* end() const { return steps.end(); }
  constexpr std::size_t bytes() const {
    std::size_t all = 0;
    for (const reshard_step& one : steps) all += one.bytes;
    return all;
  }
  constexpr double seconds() const {
    double all = 0;
    for (const reshard_step& one : steps) all += one.seconds;
    return all;
  }
  friend constexpr bool operator==(const reshard_plan&, const reshard_plan&) = default;
};

/// Writes a step: all_to_all model from 1 to 0, 4096 bytes -> (data+model, ).
template <std::size_t Capacity>
constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const reshard_step& one) {
  out << name_of(one.done);
  if (one.axis != reshard_step::none) out << ' ' << one.after.on.axes[one.axis].name();
  if (one.kind != owed_reduction::none) out << ' ' << name_of(one.kind);
  if (one.from != reshard_step::none) out << " from " << one.from;
  if (one.to != reshard_step::none) out << " to " << one.to;
  return out << ", " << one.bytes << " bytes -> " << one.after;
}
/// Writes a plan, one line for each step. Not a template, because clang would prefer the text's own output of ranges.
constexpr text& operator<<(text& out, const reshard_plan& plan) {
  for (const reshard_step& one : plan) out << one << '\n';
  return out;
}
/// Writes all lines of a plan to any stream with `write`, whatever their number.
template <class Stream>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const reshard_plan& plan) {
  for (const reshard_step& one : plan) stream << one << text("\n");
  return stream;
}

}  // namespace partita
