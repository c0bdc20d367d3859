// In which rounds of small messages all nodes come to know what each of them has to say.
#pragma once

#include <cstddef>
#include <partita/plan/between_nodes.hpp>

namespace partita::detail {

/// After round k every node knows what radix^(k + 1) nodes up to it have said: it has heard up to radix - 1 others at
/// once. Source: Hensgen, Finkel and Manber, Two algorithms for barrier synchronization (1988), of radix 2; Hoefler et
/// al., Fast barrier synchronization for InfiniBand (2006), of any. That some are heard of twice must not matter.
struct dissemination {
  std::size_t nodes = 1, radix = 2;

  static constexpr std::size_t most_messages = 63;  ///< of a round, chosen: each has a place of its own in memory

  /// The fastest over this link: dear messages make many rounds, a long way few.
  static constexpr dissemination over(std::size_t nodes, const link_cost& link) {
    dissemination best{nodes, 2};
    for (std::size_t radix = 3; radix <= nodes && radix <= most_messages + 1; ++radix)
      if (const dissemination other{nodes, radix}; other.seconds(link) < best.seconds(link)) best = other;
    return best;
  }

  /// Calls f(round, distance) for each message of a node, to the node so much further on; it gets one from the node so
  /// much before. All distances are different, and less than the number of nodes.
  template <class F>
  constexpr void for_messages(F f) const {
    std::size_t round = 0;
    for (std::size_t step = 1; step < nodes; step *= radix, ++round)
      for (std::size_t k = 1; k < radix && k * step < nodes; ++k) f(round, k * step);
  }
  constexpr std::size_t rounds() const {
    std::size_t n = 0;
    for_messages([&](std::size_t round, std::size_t) { n = round + 1; });
    return n;
  }
  /// That each node sends, and gets.
  constexpr std::size_t messages() const {
    std::size_t n = 0;
    for_messages([&](std::size_t, std::size_t) { ++n; });
    return n;
  }
  constexpr double seconds(const link_cost& link) const {
    return static_cast<double>(rounds()) * link.latency + static_cast<double>(2 * messages()) * link.message;
  }
};

}  // namespace partita::detail
