// The algorithms for blocks between workers on different nodes. The choice depends only on the cost of messages, and is
// the same on all workers.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/cut.hpp>

namespace partita {

/// How a block gets from one member to all, from all to one as a sum, or from all to all as a sum.
enum class block_route {
  along_tree,  ///< whole, along the binomial tree
  directly,    ///< whole, from each member that has one directly to each that needs it
  in_parts     ///< in parts; each part is passed on by one member
};

/// Seconds of a message between two nodes: the latency, and the time that each message and each byte takes.
struct link_cost {
  double latency = 10e-6, message = 1e-6, byte = 1e-10;  // MPI on 80 Gbit; similar on slower links
};

/// What one member sends and receives of a block: elements, and messages in both directions.
struct block_traffic {
  std::size_t sent = 0, received = 0, messages = 0;
};

/// The algorithms for spreading a block of `bytes`, or for summing blocks, among `members`.
struct block_routes {
  std::size_t members = 1, bytes = 0;
  link_cost link{};

  /// The number of steps of the binomial tree.
  constexpr std::size_t rounds() const {
    std::size_t n = 0;
    while ((std::size_t{1} << n) < members) ++n;
    return n;
  }
  /// The number of pieces of a block that is spread in parts; piece k is passed on by member 1 + k % (members - 1).
  constexpr std::size_t pieces() const {
    constexpr std::size_t piece = std::size_t{128} << 10, most = 16;  // of each member
    const std::size_t each = members < 2 ? 1 : bytes / ((members - 1) * piece);
    return (members - 1) * (each < 1 ? 1 : each > most ? most : each);
  }
  constexpr std::size_t passed_on_by(std::size_t piece) const { return 1 + piece % (members - 1); }
  /// The elements of piece k if n elements are split into so many pieces.
  static constexpr interval part(std::size_t n, std::size_t pieces, std::size_t k) {
    return balanced_part(n, pieces, k);
  }

  constexpr double seconds_of_spread(block_route route) const {
    switch (route) {
      case block_route::along_tree:
        return number(rounds()) * (link.latency + whole());
      case block_route::directly:
        return link.latency + number(members - 1) * whole();
      default:  // the last piece is passed on when all have left the root
        return 2 * link.latency + number(2 * pieces()) * link.message +
               number(bytes) * link.byte * (1 + number(members - 2) / number(pieces()));
    }
  }
  constexpr double seconds_of_sum(block_route route) const { return seconds_of_spread(route); }
  constexpr double seconds_of_sum_to_all(block_route route) const {
    switch (route) {
      case block_route::along_tree:
        return 2 * seconds_of_spread(route);
      case block_route::directly:
        return seconds_of_spread(route);
      default:
        return 2 * (link.latency + number(members - 1) * (link.message + number(bytes / members) * link.byte));
    }
  }

  /// What a member sends and receives when a block of n elements is spread.
  constexpr block_traffic traffic_of_spread(std::size_t member, std::size_t n) const {
    if (spread() == block_route::along_tree) return along_tree(member, n, true);
    if (spread() == block_route::directly) return directly(member, n, true);
    const std::size_t all = pieces(), others = members - 1;
    if (member == 0) return {n, 0, all};
    std::size_t own = 0;
    for (std::size_t k = member - 1; k < all; k += others) own += part(n, all, k).size();
    return {(others - 1) * own, n, all + all / others * (others - 1)};
  }
  /// What a member sends and receives when blocks of n elements are summed on the first member.
  constexpr block_traffic traffic_of_sum(std::size_t member, std::size_t n) const {
    return sum() == block_route::along_tree ? along_tree(member, n, false) : directly(member, n, false);
  }

  /// The route from the first member to all.
  constexpr block_route spread() const {
    return members < 3 ? block_route::along_tree
                       : best(&block_routes::seconds_of_spread, {block_route::directly, block_route::in_parts});
  }
  /// The route to one member. The receiver's link is the bottleneck, so splitting into parts would not help.
  constexpr block_route sum() const {
    return members < 3 || bytes > most_gathered ? block_route::along_tree
                                                : best(&block_routes::seconds_of_sum, {block_route::directly});
  }
  /// The route of a sum to all. Two members exchange their whole blocks. With more members that would send more data
  /// than necessary, so it is used only for blocks that are no longer than the overhead of any message.
  constexpr block_route sum_to_all() const {
    if (members <= 2 || bytes == 0) return block_route::directly;
    return bytes <= shorter_than_a_message ? best(&block_routes::seconds_of_sum_to_all, {block_route::directly})
                                           : best(&block_routes::seconds_of_sum_to_all, {block_route::in_parts});
  }

  /// The size of one message of a block that is exchanged whole.
  static constexpr std::size_t exchanged_piece = std::size_t{256} << 10;

 private:
  constexpr block_traffic along_tree(std::size_t member, std::size_t n, bool away) const {
    std::size_t below = 0;
    binomial_tree{members}.for_below(member, [&](std::size_t) { ++below; });
    const std::size_t above = member == 0 ? 0 : 1;
    return {(away ? below : above) * n, (away ? above : below) * n, below + above};
  }
  constexpr block_traffic directly(std::size_t member, std::size_t n, bool away) const {
    const std::size_t blocks = member == 0 ? members - 1 : 1;
    return away == (member == 0) ? block_traffic{blocks * n, 0, blocks} : block_traffic{0, blocks * n, blocks};
  }

  static constexpr std::size_t most_gathered = 16384;  // one member has buffers for this much from each of the others
  static constexpr std::size_t shorter_than_a_message = 256;  // three times the headers of a packet

  static constexpr double number(std::size_t n) { return static_cast<double>(n); }
  constexpr double whole() const { return link.message + number(bytes) * link.byte; }
  /// The fastest of the tree and these routes.
  constexpr block_route best(double (block_routes::*seconds)(block_route) const,
                             std::initializer_list<block_route> routes) const {
    block_route chosen = block_route::along_tree;
    for (const block_route route : routes)
      if ((this->*seconds)(route) < (this->*seconds)(chosen)) chosen = route;
    return chosen;
  }
};

/// The traffic from the workers of one node to those of another: the number of senders, receivers and pairs, and the
/// total bytes.
struct node_traffic {
  std::size_t senders = 0, receivers = 0, pairs = 0, bytes = 0;
  link_cost link{};

  /// The number of joint messages between the two nodes; 0 if one message for each pair of workers costs less. Each
  /// joint message waits once for each of its workers, and they copy its bytes once more on both sides.
  constexpr std::size_t joined() const {
    constexpr std::size_t longest = std::size_t{256} << 10;
    constexpr double meeting = 0.25e-6, copied_byte = 0.5e-9;
    const std::size_t least = senders < receivers ? senders : receivers, wish = (bytes + longest - 1) / longest;
    const std::size_t lanes = wish < 1 ? 1 : wish < least ? wish : least;
    const double together = static_cast<double>(lanes) * link.message +
                            static_cast<double>(senders + receivers) * meeting +
                            static_cast<double>(bytes) * copied_byte;
    return lanes < pairs && together < static_cast<double>(pairs) * link.message ? lanes : 0;
  }
  /// Which of the workers that take part in a message posts it: a different one for each other node.
  static constexpr std::size_t owner(std::size_t workers, std::size_t other_node, std::size_t lane) {
    return (other_node + lane) % workers;
  }
};

}  // namespace partita
