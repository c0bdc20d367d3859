// Defines the functions that plan/placed_mesh.hpp declares.
#pragma once

#include <partita/plan/placed_mesh.hpp>

namespace partita {

PARTITA_DEF placed_mesh::placed_mesh(const partita::mesh& m, partita::workers ids)
    : mesh_(m), workers_(static_cast<partita::workers&&>(ids)) {
  if (workers_.size() != m.size())
    throw partition_error(text("partita::placed_mesh: requires as many workers as the mesh ")
                          << "" << m << " has places (" << m.size() << "), got " << workers_.size() << "; give "
                          << m.size());
}

PARTITA_DEF placed_mesh placed_mesh::of_ids(std::initializer_list<row> ids, const char* major, const char* minor) {
  std::vector<std::size_t> all;
  const std::size_t columns = append_rows(all, ids);
  return {partita::mesh(axis(major, ids.size()), axis(minor, columns)), partita::workers(all)};
}

PARTITA_DEF placed_mesh placed_mesh::of_ids(std::initializer_list<std::initializer_list<row>> ids, const char* major,
                                            const char* middle, const char* minor) {
  std::vector<std::size_t> all;
  std::size_t rows = 0, columns = 0;
  for (const auto& plane : ids) {
    const std::size_t width = append_rows(all, plane);
    if (rows != 0 && (plane.size() != rows || width != columns)) reject_ragged_rows(width, columns);
    rows = plane.size(), columns = width;
  }
  return {partita::mesh(axis(major, ids.size()), axis(middle, rows), axis(minor, columns)), partita::workers(all)};
}

PARTITA_DEF std::size_t placed_mesh::worker(std::size_t place) const {
  if (place >= size())
    throw partition_error(text("partita::placed_mesh::worker: requires a place below ") << size() << ", got " << place);
  return workers_[place];
}

PARTITA_DEF void placed_mesh::reject_ragged_rows(std::size_t row_size, std::size_t other_size) {
  throw partition_error(text("partita::placed_mesh::of_ids: requires rows of one length, not ")
                        << other_size << " and " << row_size << "; give a full arrangement");
}

PARTITA_DEF std::size_t placed_mesh::append_rows(std::vector<std::size_t>& all, std::initializer_list<row> rows) {
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  for (const row& one : rows) {
    if (one.size() != columns) reject_ragged_rows(one.size(), columns);
    all.insert(all.end(), one);
  }
  return columns;
}

}  // namespace partita
