// Worlds and partitions: a communicator, and Cartesian arrangements of its workers.
//
// Everything about a partition is known on every worker, active or not, without communication.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/world.hpp>
#include <partita/plan/grid.hpp>

namespace partita {

template <class Extents>
  requires is_extents<Extents>
class partition;

/// The workers of a communicator. Cheap to copy; the copies share one private communicator, freed with the last of them.
class world {
 public:
  /// All workers of MPI_COMM_WORLD. Collective.
  explicit world(checks level = checks::agree) : world(initialised(), level) {}
  /// The workers of an existing communicator (an MPI_Comm converts, also one made by a split). Collective over it.
  explicit world(const boost::mpi::communicator& communicator, checks level = checks::agree)
      : state_(std::make_shared<detail::world_state>(MPI_Comm(communicator), level)) {}

  std::size_t size() const { return state_->size(); }
  /// The id of this worker: its place in the communicator.
  std::size_t id() const { return state_->id(); }
  checks level() const { return state_->level(); }
  boost::mpi::communicator communicator() const { return {state_->communicator(), boost::mpi::comm_attach}; }

  /// A partition of these extents on the first workers, or on the workers chosen, in that order.
  /// Requires: as many workers as places, each once, all of this world [partition_error]. Cost: no communication.
  template <std::size_t... E>
  auto partition(const extents<E...>& shape, partita::workers chosen) const -> partita::partition<extents<E...>> {
    return {*this, grid<extents<E...>>(shape, std::move(chosen))};
  }
  template <std::size_t... E>
  auto partition(const extents<E...>& shape) const -> partita::partition<extents<E...>> {
    return partition(shape, workers(0, shape.size()));
  }
  template <std::size_t... E>
  auto partition(partita::workers chosen) const -> partita::partition<extents<E...>> {
    static_assert(extents<E...>::is_static(),
                  "partita::world::partition<E...>(): requires extents that are all known; pass extents<dynamic, ...>(n) as an argument");
    return partition(extents<E...>{}, std::move(chosen));
  }
  template <std::size_t... E>
  auto partition() const -> partita::partition<extents<E...>> {
    return partition<E...>(workers(0, extents<E...>{}.size()));
  }

  const std::shared_ptr<detail::world_state>& state() const { return state_; }
  /// Whether two values are copies of one world.
  friend bool operator==(const world& a, const world& b) { return a.state_ == b.state_; }

 private:
  static boost::mpi::communicator initialised() {
    int flag = 0;
    MPI_Initialized(&flag);
    if (flag == 0)
      throw communication_error("partita::world: requires MPI; make a boost::mpi::environment first and keep it alive");
    return {MPI_COMM_WORLD, boost::mpi::comm_attach};
  }
  std::shared_ptr<detail::world_state> state_;
};

/// Workers of a world in a Cartesian arrangement, one for each block of a tensor. A value: equal if workers, order and extents are.
template <class Extents>
  requires is_extents<Extents>
class partition {
 public:
  using extents_type = Extents;
  static constexpr std::size_t rank() { return Extents::rank(); }

  partition(partita::world everyone, partita::grid<Extents> arrangement)
      : world_(std::move(everyone)), grid_(std::move(arrangement)), place_(grid_.place(world_.id())) {
    if (grid_.workers().bound() > world_.size())
      throw partition_error(text("partita::world::partition: requires workers of a world of ")
                            << world_.size() << ", got worker " << grid_.workers().bound() - 1 << " (extents "
                            << grid_.shape() << "); start more workers, or choose ids below " << world_.size());
  }
  /// The same partition with some extents forgotten by the type (static to dynamic), or the other way round if they agree.
  template <class Other>
    requires(!std::is_same_v<Other, Extents> && std::is_constructible_v<Extents, const Other&>)
  explicit(!std::is_convertible_v<const Other&, Extents>) partition(const partition<Other>& other)
      : partition(other.world(), partita::grid<Extents>(Extents(other.extents()), other.workers())) {}

  /// Whether this worker belongs to the partition.
  bool active() const { return place_ < grid_.size(); }
  /// This worker's position. Requires active() [partition_error].
  partita::index<rank()> index() const {
    if (!active())
      throw partition_error(text("partita::partition::index(): requires an active worker; worker ")
                            << world_.id() << " is not in the partition; ask active() first");
    return grid_.index(place_);
  }
  const Extents& extents() const { return grid_.extents(); }
  std::size_t size() const { return grid_.size(); }
  /// The id of the worker at a position.
  std::size_t worker(const partita::index<rank()>& i) const { return grid_.worker(i); }
  const partita::workers& workers() const { return grid_.workers(); }
  const partita::grid<Extents>& grid() const { return grid_; }
  const partita::world& world() const { return world_; }

  /// A partition of some workers of this one, named by their places here; the order of the choice is kept.
  template <std::size_t... E>
  partition<partita::extents<E...>> subset(const partita::extents<E...>& shape, const partita::workers& chosen) const {
    return {world_, partita::grid<partita::extents<E...>>(shape, grid_.workers().subset(chosen))};
  }
  template <std::size_t... E>
  partition<partita::extents<E...>> subset(const partita::workers& chosen) const {
    return subset(partita::extents<E...>{}, chosen);
  }
  /// The same workers in the same order under other extents of the same size.
  template <std::size_t... E>
  partition<partita::extents<E...>> reshape(const partita::extents<E...>& shape) const {
    return {world_, grid_.reshape(shape)};
  }
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
  partita::world world_;
  partita::grid<Extents> grid_;
  std::size_t place_;
};

/// The workers of p in order, then those of q that are not in p, along one dimension.
template <class P, class Q>
partition<extents<dynamic>> united(const partition<P>& p, const partition<Q>& q) {
  if (!(p.world() == q.world()))
    throw partition_error("partita::united(p, q): requires partitions of one world; make both from the same world");
  workers all = united(p.workers(), q.workers());
  const extents<dynamic> shape(all.size());
  return {p.world(), grid<extents<dynamic>>(shape, std::move(all))};
}

}  // namespace partita
