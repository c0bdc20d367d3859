// The algorithms that broadcast or sum a block among workers on different nodes. The choice of an algorithm depends
// only on the number of workers, the bytes of the block and the cost of messages, and is the same on all workers.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/cut.hpp>

namespace partita {

/// How a block is broadcast from one member of a group, or blocks are summed on one member or on all members.
enum class block_route {
  along_tree,  ///< whole blocks are sent along the binomial tree
  direct,      ///< each member that has a block sends it whole to each member that needs it
  split        ///< blocks are sent in parts; each part is passed on by one member
};

/// The cost of messages between two nodes, in seconds. The default values were measured with MPI on links of 80 Gbit/s.
struct link_cost {
  double latency = 10e-6, seconds_per_message = 1e-6, seconds_per_byte = 1e-10;  ///< latency: once for each round
  /// The time of one message of this many bytes, without the latency.
  constexpr double message_seconds(double bytes) const { return seconds_per_message + bytes * seconds_per_byte; }
};

/// What one member of a group sends and receives: the elements, and the number of messages in both directions together.
struct block_traffic {
  std::size_t sent_elements = 0, received_elements = 0, messages = 0;  ///< messages: in both directions
};

/// The algorithms for broadcasting a block of `bytes` bytes, or for summing such blocks, among `members` workers.
struct block_routes {
  std::size_t members = 1, bytes = 0;  ///< bytes: of one worker's block
  link_cost link{};                    ///< the cost of messages between the members

  /// The number of rounds of messages of the binomial tree.
  constexpr std::size_t rounds() const {
    std::size_t n = 0;
    while ((std::size_t{1} << n) < members) ++n;
    return n;
  }
  /// The number of pieces of a block that is broadcast in parts; member 1 + k % (members - 1) passes on piece k.
  constexpr std::size_t piece_count() const {
    constexpr std::size_t piece = std::size_t{128} << 10, most = 16;  // the largest number of pieces for each member
    const std::size_t each = members < 2 ? 1 : bytes / ((members - 1) * piece);
    return (members - 1) * (each < 1 ? 1 : each > most ? most : each);
  }
  /// The member that passes on a piece of a block that is broadcast in parts.
  constexpr std::size_t forwarding_member(std::size_t piece) const { return 1 + piece % (members - 1); }
  /// The range of the elements in piece k of a block of n elements that is divided into `pieces` pieces.
  static constexpr interval part(std::size_t n, std::size_t pieces, std::size_t k) {
    return balanced_part(n, pieces, k);
  }

  /// The estimated time, in seconds, of a broadcast from member 0 to all members by the algorithm `route`.
  constexpr double seconds_of_broadcast(block_route route) const {
    switch (route) {
      case block_route::along_tree:
        return as_double(rounds()) * (link.latency + link.message_seconds(as_double(bytes)));
      case block_route::direct:
        return link.latency + as_double(members - 1) * link.message_seconds(as_double(bytes));
      default:  // the last piece is passed on after all pieces have left the root
        return 2 * link.latency + as_double(2 * piece_count()) * link.seconds_per_message +
               as_double(bytes) * link.seconds_per_byte * (1 + as_double(members - 2) / as_double(piece_count()));
    }
  }
  /// The estimated time, in seconds, of a sum on member 0 by the algorithm `route`.
  constexpr double seconds_of_sum(block_route route) const { return seconds_of_broadcast(route); }
  constexpr double seconds_of_sum_to_all(block_route route) const {  ///< the estimated time of a sum on all members
    switch (route) {
      case block_route::along_tree:
        return 2 * seconds_of_broadcast(route);
      case block_route::direct:
        return seconds_of_broadcast(route);
      default:
        return 2 * (link.latency + as_double(members - 1) * link.message_seconds(as_double(bytes / members)));
    }
  }

  /// The traffic of a member when member 0 broadcasts a block of n elements by the algorithm broadcast_route().
  constexpr block_traffic traffic_of_broadcast(std::size_t member, std::size_t n) const {
    if (broadcast_route() == block_route::along_tree) return tree_traffic(member, n, true);
    if (broadcast_route() == block_route::direct) return direct_traffic(member, n, true);
    const std::size_t all = piece_count(), others = members - 1;
    if (member == 0) return {n, 0, all};
    std::size_t own = 0;
    for (std::size_t k = member - 1; k < all; k += others) own += part(n, all, k).size();
    return {(others - 1) * own, n, all + all / others * (others - 1)};
  }
  /// The traffic of a member when blocks of n elements are summed on member 0 by the algorithm sum_route().
  constexpr block_traffic traffic_of_sum(std::size_t member, std::size_t n) const {
    return sum_route() == block_route::along_tree ? tree_traffic(member, n, false) : direct_traffic(member, n, false);
  }

  /// The fastest algorithm for a broadcast from the first member to all members.
  constexpr block_route broadcast_route() const {
    return members < 3 ? block_route::along_tree
                       : choose(&block_routes::seconds_of_broadcast, {block_route::direct, block_route::split});
  }
  /// The fastest algorithm for a sum at one member. The link of this member is the bottleneck, so that dividing the
  /// blocks would not help. Blocks of more than 16 KB are summed along the tree, because a direct sum needs a buffer
  /// for each member.
  constexpr block_route sum_route() const {
    return members < 3 || bytes > max_gathered_bytes ? block_route::along_tree
                                                     : choose(&block_routes::seconds_of_sum, {block_route::direct});
  }
  /// The fastest algorithm for a sum on all members of a group. Two members exchange whole blocks. Three or more
  /// members exchange whole blocks directly only if a block has at most 256 bytes, because an exchange in parts sends
  /// fewer bytes.
  constexpr block_route sum_to_all_route() const {
    if (members <= 2 || bytes == 0) return block_route::direct;
    return bytes <= max_header_bytes ? choose(&block_routes::seconds_of_sum_to_all, {block_route::direct})
                                     : choose(&block_routes::seconds_of_sum_to_all, {block_route::split});
  }

  /// The number of bytes in one message of a block that is exchanged whole.
  static constexpr std::size_t exchanged_piece = std::size_t{256} << 10;

 private:
  /// The traffic of a member along the tree; is_outgoing: from the root, else to the root.
  constexpr block_traffic tree_traffic(std::size_t member, std::size_t n, bool is_outgoing) const {
    std::size_t below = 0;
    binomial_tree{members}.for_each_child(member, [&](std::size_t) { ++below; });
    const std::size_t above = member == 0 ? 0 : 1;
    return {(is_outgoing ? below : above) * n, (is_outgoing ? above : below) * n, below + above};
  }
  /// The traffic of a member if whole blocks are sent directly; is_outgoing: from the root, else to the root.
  constexpr block_traffic direct_traffic(std::size_t member, std::size_t n, bool is_outgoing) const {
    const std::size_t blocks = member == 0 ? members - 1 : 1;
    return is_outgoing == (member == 0) ? block_traffic{blocks * n, 0, blocks} : block_traffic{0, blocks * n, blocks};
  }

  static constexpr std::size_t max_gathered_bytes = 16384;  ///< bytes of the largest block of a direct sum on 1 member
  static constexpr std::size_t max_header_bytes = 256;      ///< bytes of the largest block of a direct sum on 3 or more

  static constexpr double as_double(std::size_t n) { return static_cast<double>(n); }
  /// The algorithm with the smallest time `seconds`: the binomial tree or one of `routes`.
  constexpr block_route choose(double (block_routes::*seconds)(block_route) const,
                               std::initializer_list<block_route> routes) const {
    block_route chosen = block_route::along_tree;
    for (const block_route route : routes)
      if ((this->*seconds)(route) < (this->*seconds)(chosen)) chosen = route;
    return chosen;
  }
};

/// The traffic from the workers of one node to those of another node: the number of senders, of receivers and of pairs,
/// and the total bytes.
struct node_traffic {
  std::size_t senders = 0, receivers = 0, worker_pairs = 0, bytes = 0;  ///< worker_pairs: that exchange a box
  link_cost link{};                                                     ///< the cost of messages between the nodes

  /// The number of joint messages from one node to the other, each of which carries boxes of several pairs of workers;
  /// it is 0 if one message for each pair of workers costs less. Joint messages cost a short wait for each sender and
  /// receiver, and another copy of all bytes on both nodes.
  constexpr std::size_t joint_message_count() const {
    constexpr std::size_t longest = std::size_t{256} << 10;
    constexpr double short_wait = 0.25e-6, copied_byte = 0.5e-9;
    const std::size_t fewest = senders < receivers ? senders : receivers, wanted = (bytes + longest - 1) / longest;
    const std::size_t lanes = wanted < 1 ? 1 : wanted < fewest ? wanted : fewest;
    const double joint = static_cast<double>(lanes) * link.seconds_per_message +
                         static_cast<double>(senders + receivers) * short_wait +
                         static_cast<double>(bytes) * copied_byte;
    return lanes < worker_pairs && joint < static_cast<double>(worker_pairs) * link.seconds_per_message ? lanes : 0;
  }
  /// The index of the worker that posts joint message `lane`, among the `workers` workers of the node that take part in
  /// the message. The index depends on the number of the other node, so that different workers post the messages to
  /// different nodes.
  static constexpr std::size_t owner(std::size_t workers, std::size_t other_node, std::size_t lane) {
    return (other_node + lane) % workers;
  }
};

}  // namespace partita
