// The number of bytes that a change of layout communicates, by which propagation compares its choices.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/spec.hpp>

namespace partita {

/// Estimates the bytes that a worker receives, averaged over the workers, in the reshard of `from` to `to`. For each
/// axis over which `to` lacks a pending reduction of `from`, this is 2 (p - 1) / p of the block for p workers along the
/// axis. Making partial values from replicated values, and slicing blocks that the worker already has, cost nothing.
constexpr std::size_t moved_bytes(const sharding& from, const sharding& to, const shape_list& shape,
                                  std::size_t element_bytes) {
  double wanted = static_cast<double>(element_bytes), there = wanted, held = wanted;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const axis_list was = from.cuts[d], is = to.cuts[d];
    const double extent = shape[d] == dynamic ? 1 : static_cast<double>(shape[d]);
    std::size_t same = 0;
    while (same < was.size() && same < is.size() && was[same] == is[same]) ++same;
    double common = 1, old_rest = 1, new_rest = 1;
    for (std::size_t k = 0; k < was.size(); ++k)
      (k < same ? common : old_rest) *= static_cast<double>(from.on.size(was[k]));
    for (std::size_t k = same; k < is.size(); ++k) new_rest *= static_cast<double>(from.on.size(is[k]));
    wanted *= extent / (common * new_rest);
    held *= extent / (common * old_rest);
    there *= extent / (common * old_rest * new_rest);
  }
  double received = wanted - there;
  for (std::size_t a = 0; a < from.on.rank(); ++a)
    if (from.pending[a] != pending_reduction::none && to.pending[a] != from.pending[a]) {
      const double p = static_cast<double>(from.on.size(a));
      received += 2 * (p - 1) / p * held;
    }
  return static_cast<std::size_t>(received + 0.5);
}

}  // namespace partita
