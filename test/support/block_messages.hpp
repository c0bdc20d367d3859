// The messages that all members of a group send together, by the definition of each route of plan/between_nodes.hpp.
#pragma once

#include <cstddef>
#include <partita/plan/between_nodes.hpp>

namespace test {

using partita::block_route, partita::block_routes;

/// The number of messages for a block that has more elements than the group has members.
inline std::size_t messages_of_spread(const block_routes& r) {
  return r.broadcast_route() == block_route::split ? r.piece_count() * (r.members - 1) : r.members - 1;
}

inline std::size_t messages_of_sum_to_all(const block_routes& r) {
  constexpr std::size_t piece = block_routes::exchanged_piece;
  switch (r.sum_to_all_route()) {
    case block_route::along_tree:
      return 2 * (r.members - 1);
    case block_route::direct:
      return r.members * (r.members - 1) * ((r.bytes + piece - 1) / piece);
    default:
      return 2 * r.members * (r.members - 1);
  }
}

}  // namespace test
