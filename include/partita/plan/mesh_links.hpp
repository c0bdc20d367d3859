// The speed of messages along the axes of a mesh.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <partita/rule/sharding/mesh.hpp>

namespace partita {

/// The cost of a message along one mesh axis: the latency in seconds, and the seconds for each byte.
struct mesh_link {
  double latency = 1e-6, seconds_per_byte = 1e-10;  ///< both in seconds
  friend constexpr bool operator==(const mesh_link&, const mesh_link&) = default;
};

/// The links of a mesh, one for each axis, and the overhead of each step of a reshard, in seconds.
struct mesh_links {
  std::array<mesh_link, most_axes> along{};  ///< the link along each mesh axis
  double step = 1e-9;                        ///< the seconds that each step of a reshard takes in addition

  constexpr mesh_links() = default;  ///< the default link along each axis
  /// Constructs links from a list in the order of the axes; axes that are not listed have the default.
  constexpr mesh_links(std::initializer_list<mesh_link> all) {
    std::size_t a = 0;
    for (const mesh_link& one : all)
      if (a < most_axes) along[a++] = one;
  }
  friend constexpr bool operator==(const mesh_links&, const mesh_links&) = default;
};

}  // namespace partita
