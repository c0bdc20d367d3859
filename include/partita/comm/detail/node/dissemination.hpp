// The dissemination algorithm: the rounds of small messages after which all nodes know the words of all nodes.
#pragma once

#include <cstddef>
#include <partita/plan/between_nodes.hpp>

namespace partita::detail {

/// After round k every node knows the words of the radix^(k + 1) nodes up to and including itself; in each round a node
/// receives from up to radix - 1 others. Source: Hensgen, Finkel and Manber, Two algorithms for barrier synchronization
/// (1988), for radix 2; Hoefler et al., Fast barrier synchronization for InfiniBand (2006), for any radix. Some words
/// reach a node twice, so the operation on the words must be idempotent.
struct dissemination {
  std::size_t nodes = 1, radix = 2;  ///< radix: each round multiplies the words that a node knows by it

  static constexpr std::size_t max_messages = 63;  ///< the most messages of a node in one round (chosen)

  /// The fastest radix for this link: with expensive messages many rounds are best, with a long latency few.
  static constexpr dissemination choose_radix(std::size_t nodes, const link_cost& link) {
    dissemination best{nodes, 2};
    for (std::size_t radix = 3; radix <= nodes && radix <= max_messages + 1; ++radix)
      if (const dissemination other{nodes, radix}; other.seconds(link) < best.seconds(link)) best = other;
    return best;
  }

  /// Calls f(round, distance) for each message of a node. The node sends to the node `distance` further on, and
  /// receives from the node `distance` before it. All distances are different and below the number of nodes.
  template <class F>
  constexpr void for_each_message(F f) const {
    std::size_t round = 0;
    for (std::size_t step = 1; step < nodes; step *= radix, ++round)
      for (std::size_t k = 1; k < radix && k * step < nodes; ++k) f(round, k * step);
  }
  /// The number of rounds.
  constexpr std::size_t rounds() const {
    std::size_t n = 0;
    for_each_message([&](std::size_t round, std::size_t) { n = round + 1; });
    return n;
  }
  /// The number of messages that each node sends, which is also the number that it receives.
  constexpr std::size_t messages() const {
    std::size_t n = 0;
    for_each_message([&](std::size_t, std::size_t) { ++n; });
    return n;
  }
  /// The estimated time of all rounds.
  constexpr double seconds(const link_cost& link) const {
    return static_cast<double>(rounds()) * link.latency +
           static_cast<double>(2 * messages()) * link.seconds_per_message;
  }
};

}  // namespace partita::detail
