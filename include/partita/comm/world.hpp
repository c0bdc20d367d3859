// `world`: a set of workers (MPI ranks) that compute together, with a private communicator that all objects made from
// it share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <partita/comm/detail/world/shared_world.hpp>
#include <partita/comm/detail/world/world_state.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/grid.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

template <class Extents>
class partition;

namespace detail {
struct empty_world;  // a type for a mesh that is planned before the program has workers

/// The ids of the workers that pass the same colour as this worker, in ascending order. Collective.
PARTITA_DECL std::vector<std::size_t> workers_with_colour(world_state& state, std::uint64_t colour);
}  // namespace detail

/// The workers of a communicator; a worker is an MPI rank. Copies of a world are cheap: they share one private
/// communicator, which is usually freed with the last copy.
class world {
 public:
  PARTITA_DECL explicit world(checks level = checks::agree);  ///< A world of all workers of MPI_COMM_WORLD. Collective.
  /// A world of the workers of an existing communicator (an MPI_Comm converts, also one made by MPI_Comm_split).
  /// Collective over that communicator. If PARTITA_PATIENCE ends the wait for the other workers with an error, do not
  /// free the given communicator any more.
  PARTITA_DECL explicit world(const boost::mpi::communicator& communicator, checks level = checks::agree);

  /// Fallback: any other argument is a compile-time error with a readable message.
  template <class Given>
    requires(!std::is_convertible_v<const Given&, const boost::mpi::communicator&> && !std::is_same_v<Given, checks> &&
             !std::is_null_pointer_v<Given>)
  explicit world(const Given&, checks = checks::agree) {
    static_assert(detail::dependent_false<Given>,
                  "partita::world(communicator): requires an MPI communicator, or nothing for all workers of the "
                  "program; some of them are world().part(workers(0, n))");
  }

  /// Whether this worker belongs to the world. The result is false only for a part() of other workers, or for a world
  /// that was moved from.
  bool active() const { return state_ != nullptr; }
  std::size_t size() const { return state_or_throw().size(); }  ///< The number of workers.
  std::size_t id() const { return state_or_throw().id(); }      ///< The id of this worker: its rank in communicator().
  checks level() const { return state_or_throw().level(); }     ///< The level of checks.
  /// The private communicator of the world; send the messages of your program on another one.
  boost::mpi::communicator communicator() const { return {state_or_throw().communicator(), boost::mpi::comm_attach}; }

  /// A partition with these extents on the first workers of the world, or on the chosen workers in the given order.
  /// Requires: as many workers as blocks and at least one; each worker at most once; all of this world
  ///           [partition_error].
  /// Cost:     no communication.
  template <std::size_t... E>
  auto partition(const extents<E...>& shape, partita::workers chosen) const -> partita::partition<extents<E...>> {
    return {*this, grid<extents<E...>>(shape, std::move(chosen))};
  }
  template <std::size_t... E>
  auto partition(const extents<E...>& shape) const -> partita::partition<extents<E...>> {
    return partition(shape, workers(0, required_workers(shape.array())));
  }
  template <std::size_t... E>
  auto partition(partita::workers chosen) const -> partita::partition<extents<E...>> {
    static_assert(extents<E...>::is_static(),
                  "partita::world::partition<E...>(): requires extents that are all known; pass extents<dynamic, "
                  "...>(n) as an argument");
    static_assert(sizeof...(E) > 0,
                  "partita::world::partition(workers): requires extents; write partition<n>(workers), or "
                  "partition(extents(n), workers); for rank 0, partition(extents<>{}, workers)");
    return partition(extents<E...>{}, std::move(chosen));
  }
  /// A partition with the extents E on the first workers of the world: `everyone.partition<2, 3>()`.
  template <std::size_t... E>
  auto partition() const -> partita::partition<extents<E...>> {
    static_assert(extents<E...>::is_static(),
                  "partita::world::partition<E...>(): requires extents that are all known; pass extents<dynamic, "
                  "...>(n) as an argument");
    return partition(extents<E...>{}, workers(0, required_workers(extents<E...>{}.array())));
  }

  /// Fallbacks for arguments that a partition does not accept and that would be misread: each fallback gives one
  /// readable compile-time error.
  template <class T, class Meant = extents<dynamic>>
  auto partition(std::initializer_list<T>) const {
    static_assert(detail::dependent_false<T>,
                  "partita::world::partition({...}): requires extents that say so; write partition<2, 3>(), or "
                  "partition(extents(2, 3)); a list of workers is workers{...}, after the extents");
    return detail::undefined_object<partita::partition<Meant>>();
  }
  template <class... Integer>
    requires(sizeof...(Integer) > 0 && (std::is_integral_v<Integer> && ...))
  auto partition(Integer...) const {
    static_assert(detail::dependent_false<Integer...>,
                  "partita::world::partition(n, ...): requires extents that say so; write partition<2, 3>(), or "
                  "partition(extents(2, 3)) where they are known at run time only");
    return detail::undefined_object<partita::partition<dynamic_extents<sizeof...(Integer)>>>();
  }
  template <std::size_t... E, class Chosen, class... More>
    requires((sizeof...(E) != 0 || !std::is_integral_v<Chosen>) && !is_extents<Chosen> &&
             (sizeof...(More) > 0 || !std::is_convertible_v<const Chosen&, workers>))
  auto partition(const Chosen&, const More&...) const {
    static_assert(detail::dependent_false<Chosen>,
                  "partita::world::partition<E...>(chosen): requires its workers as partita::workers; write "
                  "partition<E...>(workers(first, last)), or partition<E...>(workers(ids)) for a container of ids");
    return detail::undefined_object<partita::partition<extents<E...>>>();
  }
  template <long long... E>
    requires((E < 0) || ...)
  auto partition() const {
    static_assert(sizeof...(E) == 0,
                  "partita::world::partition<E...>(): requires extents of 1 or more, got a negative one");
    return detail::undefined_object<partita::partition<extents<static_cast<std::size_t>(E < 0 ? 1 : E)...>>>();
  }
  template <std::size_t... E, class Chosen>
    requires(!std::is_convertible_v<const Chosen&, workers>)
  auto partition(const extents<E...>&, const Chosen&) const {
    static_assert(detail::dependent_false<Chosen>,
                  "partita::world::partition(extents, chosen): requires its workers as partita::workers; write "
                  "partition(extents, workers(first, last)), or partition(extents, workers(ids)) for a container");
    return detail::undefined_object<partita::partition<extents<E...>>>();
  }

  /// A world of some workers of this world, numbered in the given order. The kernels of the new world agree among its
  /// workers only, and may be called while the other workers do something else. A worker that is not chosen gets a
  /// world that is not active(), and need not make this call.
  /// Requires: workers of this world [partition_error], the same list on all chosen workers [disagreement_error].
  /// Cost:     a message from each chosen worker and back, a new communicator, and its own shared memory at the first
  ///           call.
  PARTITA_DECL world part(const partita::workers& chosen) const;
  /// A world of the workers that pass the same colour, in ascending order. Collective. Cost: an agreement, an
  /// MPI_Allgather, and that of part().
  PARTITA_DECL world split(std::size_t colour) const;

  /// Fallback: any other argument is a compile-time error with a readable message.
  template <class Chosen>
    requires(!std::is_convertible_v<const Chosen&, partita::workers>)
  world part(const Chosen&) const {
    static_assert(detail::dependent_false<Chosen>,
                  "partita::world::part(workers): requires its workers as partita::workers; write part(workers(0, n)), "
                  "or part(workers(ids)) for a container of ids");
    return *this;
  }
  template <class Colour>
    requires(!std::is_convertible_v<const Colour&, std::size_t>)
  world split(const Colour&) const {
    static_assert(detail::dependent_false<Colour>,
                  "partita::world::split(colour): requires a number, equal on the workers that shall be together");
    return *this;
  }

  /// What the copies of this world share, for kernels. Requires active() [partition_error].
  const std::shared_ptr<detail::world_state>& state() const {
    state_or_throw();
    return state_;
  }
  /// Whether two objects are copies of the same world.
  friend bool operator==(const world& a, const world& b) { return a.state_ == b.state_; }

 private:
  friend struct detail::empty_world;
  explicit world(std::nullptr_t) {}
  PARTITA_DECL static MPI_Comm require_initialised();  ///< Returns MPI_COMM_WORLD; throws if MPI is not initialised.
  /// The state. Requires active() [partition_error].
  const detail::world_state& state_or_throw() const {
    if (!state_) throw_not_in_world();
    return *state_;
  }
  PARTITA_DECL [[noreturn]] static void throw_not_in_world();  ///< Throws partition_error.
  std::shared_ptr<detail::world_state> state_;                 ///< null if this worker does not belong to the world
};

/// Writes a world to a stream, as in `world of 4 workers, this is worker 1`.
template <class Stream>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const world& w) {
  if (!w.active()) return stream << text("world of other workers");
  return stream << (text("world of ") << w.size() << " workers, this is worker " << w.id());
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/comm/impl/world.ipp>
#endif
