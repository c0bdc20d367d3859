// A mesh placed on workers of a world: the worker at each place, as in process meshes with explicit ids.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/core/config.hpp>
#include <partita/plan/workers.hpp>
#include <partita/rule/sharding/mesh.hpp>
#include <vector>

namespace partita {

/// A mesh, and the ids of its workers in C order over the axes.
class placed_mesh {
 public:
  /// A mesh on the workers `ids` in this order. There must be a different worker for each place [partition_error].
  PARTITA_DECL placed_mesh(const partita::mesh& m, partita::workers ids);
  /// A mesh on the first workers of a world.
  explicit placed_mesh(const partita::mesh& m) : placed_mesh(m, partita::workers(0, m.size())) {}

  using row = std::initializer_list<std::size_t>;  ///< the ids of the workers along one axis
  /// A mesh from worker ids arranged along the axes: of_ids({{4, 5}, {6, 7}}, "data", "model"). Rows of different
  /// lengths are a partition_error.
  static placed_mesh of_ids(row ids, const char* name) {
    return {partita::mesh(axis(name, ids.size())), partita::workers(ids)};
  }
  /// Makes a mesh of two axes from one row of worker ids for each index of the major axis.
  PARTITA_DECL static placed_mesh of_ids(std::initializer_list<row> ids, const char* major, const char* minor);
  PARTITA_DECL static placed_mesh of_ids(std::initializer_list<std::initializer_list<row>> ids, const char* major,
                                         const char* middle, const char* minor);

  const partita::mesh& mesh() const { return mesh_; }           ///< the axes, without ids
  const partita::workers& workers() const { return workers_; }  ///< in C order over the axes
  std::size_t size() const { return workers_.size(); }          ///< The number of workers.
  /// The id of the worker at a place. Requires a place below size() [partition_error].
  PARTITA_DECL std::size_t worker(std::size_t place) const;
  std::size_t place(std::size_t worker) const { return workers_.find(worker); }  ///< in C order, or size() if absent

  friend bool operator==(const placed_mesh&, const placed_mesh&) = default;

 private:
  /// Throws the partition_error for rows of two different lengths.
  PARTITA_DECL [[noreturn]] static void reject_ragged_rows(std::size_t row_size, std::size_t other_size);
  /// Appends the ids of all rows to `all`, and returns the length of a row.
  PARTITA_DECL static std::size_t append_rows(std::vector<std::size_t>& all, std::initializer_list<row> rows);

  partita::mesh mesh_;        ///< the axes
  partita::workers workers_;  ///< the worker at each place
};

template <>
inline constexpr bool is_writable_to_streams<placed_mesh> = true;
/// Writes a placed mesh as its axes and the ids, for example data 2 x model 2 on [4, 5, 6, 7].
template <std::size_t Capacity>
basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const placed_mesh& m) {
  out << m.mesh() << " on [";
  for (std::size_t k = 0; k < m.size(); ++k) out << (k == 0 ? "" : ", ") << m.workers()[k];
  return out << ']';
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/placed_mesh.ipp>
#endif
