// Partitions: Cartesian arrangements of the workers of a world.
//
// Everything about a partition is known on every worker, active or not, without communication.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/world.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/core/version.hpp>
#include <partita/plan/grid.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <utility>
#include <vector>

namespace partita {

namespace detail {
/// Throws the error for the worker `highest`, which a world of this size does not have. The function depends on the
/// rank only, so that all types of extents of one rank share it.
template <std::size_t Rank>
[[noreturn, gnu::noinline]] void throw_too_few_workers(const std::array<std::size_t, Rank>& shape, std::size_t highest,
                                                       std::size_t size_of_world) {
  throw partition_error(text("partita::world::partition: requires workers of a world of ")
                        << size_of_world << ", got worker " << highest << " (extents " << shape
                        << "); start more workers, or choose ids below " << size_of_world);
}
}  // namespace detail

/// The workers of a world in a Cartesian arrangement, see the specialisation for extents. This primary template stands
/// for any other argument, which is a compile-time error with a readable message.
template <class NoExtents>
class partition {
  static_assert(is_extents<NoExtents>,
                "partita::partition<Extents>: requires extents, as in partition<extents<2, 3>>; "
                "everyone.partition<2, 3>() makes one; kernels and layers of partitions take none, as in dropout d(p)");

 public:
  template <class... Anything>
  partition(const Anything&...) {}
  static constexpr std::size_t rank() { return 1; }
};

/// The workers of a world in a Cartesian arrangement, one worker for each block of a tensor. A value type: two
/// partitions are equal if their worlds, their workers, the order of the workers and the extents are equal.
template <class Extents>
  requires is_extents<Extents>
class partition<Extents> {
 public:
  using extents_type = Extents;
  static constexpr std::size_t rank() { return Extents::rank(); }

  partition(partita::world everyone, partita::grid<Extents> arrangement)
      : world_(std::move(everyone)), grid_(std::move(arrangement)), place_(grid_.place(world_.id())) {
    if (grid_.workers().id_end() > world_.size())
      detail::throw_too_few_workers(grid_.shape(), grid_.workers().id_end() - 1, world_.size());
  }
  /// Converts a partition to a type in which some extents are known at run time only, or to a type with static extents
  /// of the same values.
  template <class Other>
    requires(!std::is_same_v<Other, Extents> && std::is_constructible_v<Extents, const Other&>)
  explicit(!std::is_convertible_v<const Other&, Extents>) partition(const partition<Other>& other)
      : partition(other.world(), partita::grid<Extents>(Extents(other.extents()), other.workers())) {}

  bool active() const { return place_ < grid_.size(); }  ///< Whether this worker is in the partition: it holds a block.
  /// The position of this worker. Requires active() [partition_error].
  partita::index<rank()> index() const {
    if (!active())
      throw partition_error(text("partita::partition::index(): requires an active worker; worker ")
                            << world_.id() << " is not in the partition; ask active() first");
    return grid_.index(place_);
  }
  const Extents& extents() const { return grid_.extents(); }  ///< The number of workers along each dimension.
  std::size_t size() const { return grid_.size(); }           ///< The number of workers, which is that of the blocks.
  /// The id of the worker at a position. Requires: a position inside the extents [partition_error].
  template <class Index = partita::index<0>>  // the default makes worker({}) compile: {} has no type to deduce
  std::size_t worker(const Index& i) const {
    return grid_.worker(i);
  }
  /// The id of the worker at a position in braces, one coordinate for each dimension: `worker({1, 0})`.
  template <std::size_t N>
  std::size_t worker(const std::size_t (&i)[N]) const {
    return grid_.worker(i);
  }
  /// Fallback: coordinates without braces are a compile-time error with a readable message.
  template <class... Coordinate>
    requires(sizeof...(Coordinate) > 1)
  std::size_t worker(const Coordinate&...) const {
    static_assert(detail::dependent_false<Coordinate...>,
                  "partita::partition::worker(index): requires the coordinates of the position between braces; write "
                  "worker({1, 0})");
    return 0;
  }
  const partita::workers& workers() const { return grid_.workers(); }  ///< The workers, in C order of their positions.
  const partita::grid<Extents>& grid() const { return grid_; }         ///< The arrangement, without the world.
  const partita::world& world() const { return world_; }               ///< The world of the workers.

  /// The same partition in a type whose extents are all known at run time: all partitions of one rank have one type,
  /// `dynamic_partition`, for example in `wide ? p_1.as_dynamic() : p_2.as_dynamic()` or a `std::vector` of partitions.
  auto as_dynamic() const { return partition<dynamic_extents<rank()>>(*this); }

  /// A partition of some workers of this partition. `chosen` lists the places of these workers in this partition, from
  /// 0 on in C order, in the order of the new partition.
  template <std::size_t... E>
  partition<partita::extents<E...>> subset(const partita::extents<E...>& shape, const partita::workers& chosen) const {
    return {world_, partita::grid<partita::extents<E...>>(shape, grid_.workers().subset(chosen))};
  }
  template <std::size_t... E>
  partition<partita::extents<E...>> subset(const partita::workers& chosen) const {
    return subset(partita::extents<E...>{}, chosen);
  }
  /// A partition of the same workers in the same order, with other extents of the same total size.
  template <std::size_t... E>
  partition<partita::extents<E...>> reshape(const partita::extents<E...>& shape) const {
    return {world_, grid_.reshape(shape)};
  }
  /// The same with extents that are known at compile time: `p.reshape<3, 2>()`.
  template <std::size_t... E>
    requires(sizeof...(E) > 0)
  partition<partita::extents<E...>> reshape() const {
    return reshape(partita::extents<E...>{});
  }

  template <class Other>
  friend bool operator==(const partition& a, const partition<Other>& b) {
    return a.world() == b.world() && a.grid() == b.grid();
  }

 private:
  partita::world world_;         ///< the world of the workers
  partita::grid<Extents> grid_;  ///< the extents, and the workers in C order
  std::size_t place_;  ///< the number of this worker's position in C order; size() if it is not in the partition
};

/// A partition of rank `Rank` with extents known at run time. Every partition of this rank converts to this type.
template <std::size_t Rank>
using dynamic_partition = partition<dynamic_extents<Rank>>;

template <class Extents>
partition(world, grid<Extents>) -> partition<Extents>;

/// Writes a partition to a stream, as in `partition [2, 2] of workers [0, 1, 2, 3], this worker at [0, 1]`.
template <class Stream, class Extents>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const partition<Extents>& p) {
  constexpr std::size_t most_shown = 32;  // chosen: as many ids as fit on one line
  text written("partition ");
  written << p.extents().array() << " of workers [";
  for (std::size_t k = 0; k < p.size() && k < most_shown; ++k) written << (k == 0 ? "" : ", ") << p.grid().workers()[k];
  written << (p.size() > most_shown ? ", ...], " : "], ");
  if (p.active()) written << "this worker at " << p.index();
  else written << "not this worker";
  return stream << written;
}

namespace detail {
/// The partition p in the type with run-time extents of rank `Rank`. If a static_assert of the caller has already
/// rejected p for its rank, this function adds no second compile error.
template <std::size_t Rank, class Extents>
partition<dynamic_extents<Rank>> erase_extents(const partition<Extents>& p) {
  if constexpr (Extents::rank() == Rank) return partition<dynamic_extents<Rank>>(p);
  else throw partition_error("partita: requires a partition of another rank");
}
}  // namespace detail

/// A partition of rank 1 of the workers of p in order, followed by the workers of q that are not in p. Requires:
/// partitions of one world [partition_error].
template <class P, class Q>
partition<extents<dynamic>> union_of(const partition<P>& p, const partition<Q>& q) {
  if (!(p.world() == q.world()))
    throw partition_error("partita::union_of(p, q): requires partitions of one world; make both from the same world");
  workers all = union_of(p.workers(), q.workers());
  const extents<dynamic> shape(all.size());
  return {p.world(), grid<extents<dynamic>>(shape, std::move(all))};
}
/// The old name of union_of, for partitions and for workers.
template <class A, class B>
PARTITA_FORMER_NAME("use union_of")
auto united(const A& a, const B& b) {
  return union_of(a, b);
}

/// A world of the workers of p whose position differs from this worker's in these dimensions only, in C order: for
/// example its row or its column. A worker outside of p gets a world that is not active(). Cost: that of world::part().
template <class Extents, std::size_t... D>
world along(const partition<Extents>& p, dimensions_t<D...> free_dimensions) {
  static_assert(((D < Extents::rank()) && ...),
                "partita::along(p, dimensions<...>): requires dimensions of the partition, below its rank");
  if (!p.active()) return p.world().part(workers(0, 0));
  const auto kept = kept_dimensions<Extents::rank()>(free_dimensions);
  const auto own = p.index();
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const auto other = p.grid().index(k);
    bool same = true;
    for (std::size_t d = 0; d < Extents::rank(); ++d) same = same && (!kept[d] || other[d] == own[d]);
    if (same) chosen.push_back(p.worker(other));
  }
  return p.world().part(workers(std::move(chosen)));
}

}  // namespace partita
