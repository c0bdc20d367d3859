// The plan of an element-wise operation on two partitioned tensors: the partition of the result, and the movements that
// bring each operand to the workers that need it.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <partita/plan/grid.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// The movements of an operand to the workers of the result: at most a repartition, and then at most a broadcast.
struct operand_route {
  dimension_map map;             ///< from the dimensions of the operand to those of the result
  shape_list extents;            ///< the global extents of the operand
  shape_list operand_partition;  ///< the partition of the operand
  shape_list needed;  ///< the partition that the result's partition induces on the operand, in the operand's rank
  std::vector<std::size_t> roots;  ///< for each block of `needed`, the id of the first result worker that needs it
  bool repartitions = false;       ///< whether the operand's partition differs from the needed partition
  bool broadcasts = false;         ///< whether more or other workers need the operand's blocks than hold them

  bool stays() const { return !repartitions && !broadcasts; }  ///< Whether the operand need not move.
  friend bool operator==(const operand_route&, const operand_route&) = default;
};

/// The plan of an element-wise operation on two partitioned tensors.
struct elementwise_plan {
  shape_list result;     ///< global extents of the result
  shape_list partition;  ///< the partition of the result
  operand_route lhs;     ///< the movements of the first operand
  operand_route rhs;     ///< the movements of the second operand

  friend bool operator==(const elementwise_plan&, const elementwise_plan&) = default;
};

/// The partition that the partition of a result induces on an operand: the same number of parts where the operand spans
/// the result's dimension, 1 where the operand is repeated. The function takes global extents, because a block of
/// extent 1 does not imply a global extent of 1.
PARTITA_DECL shape_list induced_partition(const dimension_map& map, const shape_list& operand, const shape_list& result,
                                          const shape_list& partition);

/// The partition of the operand that is at least as fine as the other operand's in every dimension of the result; null
/// if neither partition is. If both are equally fine, `lhs` is returned; the caller passes the operand of larger rank
/// as `lhs`.
PARTITA_DECL const shape_list* finer_partition(const shape_list& lhs, const shape_list& rhs);

/// Plans how one operand is moved to the partition of the result.
template <class Own, class Whole>
operand_route plan_operand(const grid<Own>& src, const shape_list& operand, const dimension_map& map,
                           const grid<Whole>& whole, const shape_list& result) {
  const shape_list partition(whole.shape());
  operand_route route{map, operand, shape_list(src.shape()), induced_partition(map, operand, result, partition), {}};
  const shape_list parts = map.lift(route.needed);
  index<Whole::rank()> each{};
  for (std::size_t d = 0; d < Whole::rank(); ++d) each[d] = parts[d];
  const std::size_t groups = required_workers(each);
  for (std::size_t number = 0; number < groups; ++number) route.roots.push_back(whole.worker(index_of(number, each)));
  route.repartitions = !(route.operand_partition == route.needed);
  const bool is_whole_partition = parts == partition;
  route.broadcasts = !is_whole_partition || (!route.repartitions && !(src.workers() == whole.workers()));
  return route;
}

namespace detail {

/// Writes global extents and their partition, as in `extents [6] over [4]`.
template <class Text>
void write_partitioned_extents(Text& out, const shape_list& extents, const shape_list& partition) {
  const auto write = [&out](const shape_list& shape) {
    out << "[";
    for (std::size_t d = 0; d < shape.size(); ++d) out << (d == 0 ? "" : ", ") << shape[d];
    out << "]";
  };
  out << "extents ";
  write(extents);
  out << " over ";
  write(partition);
}

}  // namespace detail

/// Writes a route, as in `extents [6] over [4]: repartition, then worker broadcast`.
template <class Text, class Route>
  requires(std::is_same_v<Route, operand_route> && requires(Text& out) { out << "" << std::size_t{}; })
Text& operator<<(Text& out, const Route& route) {
  detail::write_partitioned_extents(out, route.extents, route.operand_partition);
  out << (route.stays() ? ": stays" : ": ") << (route.repartitions ? "repartition" : "")
      << (route.repartitions && route.broadcasts ? ", then " : "") << (route.broadcasts ? "worker broadcast" : "");
  return out;
}

/// Writes the plan of an element-wise operation in three lines.
template <class Text, class Plan>
  requires(std::is_same_v<Plan, elementwise_plan> && requires(Text& out) { out << "" << std::size_t{}; })
Text& operator<<(Text& out, const Plan& plan) {
  out << "lhs: " << plan.lhs << "\nrhs: " << plan.rhs << "\nresult: ";
  detail::write_partitioned_extents(out, plan.result, plan.partition);
  out << "\n";
  return out;
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/elementwise_plan.ipp>
#endif
