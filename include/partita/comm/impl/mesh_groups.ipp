// Defines the functions that comm/mesh_groups.hpp declares.
#pragma once

#include <partita/comm/mesh_groups.hpp>
#include <vector>

namespace partita {

PARTITA_DEF worker_groups groups_along(const mesh& m, const char* axes, std::size_t first) {
  constexpr std::size_t most = std::size_t{1} << 31U;
  if (m.size() > most || first > most - m.size())
    throw partition_error(text("partita::groups_along(mesh, axes, first): requires workers that MPI can count, got ")
                          << m.size() << " from worker " << first << " on");
  std::vector<char> named(m.rank(), 0);
  for (const char* c = axes; *c != '\0';) {
    std::size_t length = 0;
    while (c[length] != '\0' && c[length] != '+') ++length;
    named[m.number(c, length)] = 1;
    c += length + (c[length] == '+' ? 1 : 0);
  }
  std::vector<std::size_t> colours(first + m.size(), worker_groups::no_colour);
  for (std::size_t worker = 0; worker < m.size(); ++worker) {
    std::size_t colour = 0;
    for (std::size_t a = 0; a < m.rank(); ++a)
      if (named[a] == 0) colour = colour * m.size(a) + coordinate_of(m, worker, a);
    colours[first + worker] = colour;
  }
  return worker_groups::by_colour(colours);
}

}  // namespace partita
