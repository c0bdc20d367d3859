// A reshard plan: the steps that are executed to move a tensor from one sharding to another, with the cost of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/mesh_links.hpp>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// A step in the plan of a reshard. A step that moves elements is one exchange of boxes (an all_reduce may be two), in
/// which each worker receives what it lacks from a worker that has it. The step is named after the collective that it
/// replaces, if any.
struct reshard_step {
  enum class what : std::uint8_t {  ///< the kind of a step, named after a collective
    slice,                          ///< every worker keeps a part of its block: nothing moves
    make_partial,                   ///< a complete value becomes partial: nothing moves
    all_gather,                     ///< the minor axis of dimension `from` becomes replicated
    all_to_all,                     ///< the minor axis of dimension `from` becomes the minor axis of `to`
    reduce_scatter,                 ///< every worker receives all summands of its new block, and reduces them
    all_reduce,                     ///< the value becomes complete on all workers that hold its summands
    permute,   ///< axes exchange their roles: every worker receives the whole block of another worker
    exchange,  ///< any other change of the sharding
  };
  static constexpr std::uint8_t none = 255;  ///< no axis, or no dimension

  what done = what::slice;              ///< the collective that names the step
  std::uint8_t axis = none;             ///< the axis, if the step changes the role of one axis only
  std::uint8_t from = none, to = none;  ///< the dimensions that the axis shards before and after the step
  std::uint8_t rounds = 0;    ///< the number of exchanges: 0 if nothing moves, 2 for an all_reduce in two halves
  std::uint32_t reduced = 0;  ///< as bits, the axes whose summands are reduced
  pending_reduction kind = pending_reduction::none;  ///< the reduction of a step that reduces
  std::size_t bytes = 0;                             ///< bytes that the worker with the most bytes receives
  std::size_t mean_bytes = 0;                        ///< bytes that a worker receives on average, rounded up
  std::size_t messages = 0;                          ///< messages that the worker with the most messages receives
  double seconds = 0, latency_seconds = 0;           ///< of the slowest worker; the latter is for latencies
  sharding after{};                                  ///< the sharding after the step
  friend constexpr bool operator==(const reshard_step&, const reshard_step&) = default;
};

template <>
inline constexpr bool is_writable_to_streams<reshard_step> = true;

constexpr const char* name_of(reshard_step::what done) {
  constexpr const char* names[] = {"slice",          "make_partial", "all_gather", "all_to_all",
                                   "reduce_scatter", "all_reduce",   "permute",    "exchange"};
  return names[static_cast<std::size_t>(done)];
}

/// The steps of a reshard in order, and their total cost.
struct reshard_plan {
  static constexpr std::size_t most_steps = 4 + most_axes;  ///< the capacity of `steps`
  bounded_list<reshard_step, most_steps> steps{};           ///< in the order of execution

  constexpr std::size_t size() const { return steps.size(); }  ///< The number of steps.
  constexpr bool empty() const { return steps.empty(); }       ///< whether nothing changes
  constexpr const reshard_step& operator[](std::size_t k) const { return steps[k]; }
  constexpr const reshard_step* begin() const { return steps.begin(); }
  constexpr const reshard_step* end() const { return steps.end(); }

 private:
  /// The sum over the steps of a number of each step. Its definition is before its callers, because clang otherwise
  /// rejects the callers in constant expressions.
  template <class Number>
  constexpr Number sum(Number reshard_step::*part) const {
    Number all = 0;
    for (const reshard_step& one : steps) all += one.*part;
    return all;
  }

 public:
  /// The sum, over the steps, of the bytes that the worker with the most bytes in this step receives.
  constexpr std::size_t bytes() const { return sum(&reshard_step::bytes); }
  constexpr std::size_t mean_bytes() const { return sum(&reshard_step::mean_bytes); }       ///< the sum of step means
  constexpr std::size_t messages() const { return sum(&reshard_step::messages); }           ///< the sum of step maxima
  constexpr double seconds() const { return sum(&reshard_step::seconds); }                  ///< the sum of step maxima
  constexpr double latency_seconds() const { return sum(&reshard_step::latency_seconds); }  ///< the part for latencies
  friend constexpr bool operator==(const reshard_plan&, const reshard_plan&) = default;
};

/// Writes the axis or the reduced axes of a step, if it has any: for example " model" or " data+model".
template <std::size_t Capacity>
constexpr basic_text<Capacity>& write_axes(basic_text<Capacity>& out, const reshard_step& one) {
  const char* before = " ";
  for (std::size_t a = 0; a < one.after.on.rank(); ++a)
    if (a == one.axis || (one.reduced >> a & 1U) != 0) out << before << one.after.on.axes[a].name(), before = "+";
  return out;
}

/// Writes a step, for example "all_to_all model from 1 to 0, 4096 bytes -> (data+model, )".
template <std::size_t Capacity>
constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const reshard_step& one) {
  write_axes(out << name_of(one.done), one);
  if (one.kind != pending_reduction::none) out << ' ' << name_of(one.kind);
  if (one.from != reshard_step::none) out << " from " << one.from;
  if (one.to != reshard_step::none) out << " to " << one.to;
  return out << ", " << one.bytes << " bytes -> " << one.after;
}
/// Writes a plan, one line for each step. The operator is no template, because clang would then prefer that for ranges.
constexpr text& operator<<(text& out, const reshard_plan& plan) {
  for (const reshard_step& one : plan) out << one << '\n';
  return out;
}
/// Writes all lines of a plan to any stream with `write`, whatever the number of lines.
template <class Stream>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const reshard_plan& plan) {
  for (const reshard_step& one : plan) stream << one << text("\n");
  return stream;
}

}  // namespace partita
