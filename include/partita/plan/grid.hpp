// A Cartesian arrangement of workers: extents and the worker at each place. A grid is a partition that needs no MPI
// communicator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/extents.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/index.hpp>
#include <partita/core/product.hpp>
#include <partita/plan/workers.hpp>

namespace partita {

/// The number of workers that a partition of these extents needs. A number that overflows is a partition_error.
template <std::size_t Rank>
constexpr std::size_t required_workers(const std::array<std::size_t, Rank>& extents) {
  return product_of<partition_error>(extents, "partita::partition");
}

namespace detail {
/// Throws the error for a grid without workers, or without one place for each worker.
template <std::size_t Rank>
[[noreturn, gnu::noinline]] void reject_extents(const std::array<std::size_t, Rank>& shape, std::size_t workers) {
  const std::size_t places = required_workers(shape);
  if (places == 0 || workers == 0)
    throw partition_error(text("partita::partition: requires at least one worker, got the extents ")
                          << shape << " on " << workers
                          << " workers; give extents of at least 1 and choose a worker for each place");
  throw partition_error(text("partita::partition: requires as many workers as the extents ")
                        << shape << " have places (" << places << "), got " << workers << " workers; choose " << places
                        << " workers or other extents");
}
}  // namespace detail

/// Workers arranged in C order over `Extents`. A grid needs no MPI, so it can plan for any number of workers.
template <class Extents>
  requires is_extents<Extents>
class grid {
 public:
  using extents_type = Extents;
  static constexpr std::size_t rank() { return Extents::rank(); }

  /// Constructs a grid of as many workers as the extents have places, at least one [partition_error].
  grid(const Extents& extents, partita::workers worker_list)
      : extents_(extents), workers_(static_cast<partita::workers&&>(worker_list)) {
    const std::size_t places = required_workers(shape());
    if (places == 0 || places != workers_.size()) detail::reject_extents(shape(), workers_.size());
  }
  /// Constructs a grid of the workers with the lowest ids.
  explicit grid(const Extents& extents) : grid(extents, partita::workers(0, required_workers(extents.array()))) {}

  const Extents& extents() const { return extents_; }  ///< the number of workers along each dimension
  std::array<std::size_t, rank()> shape() const { return extents_.array(); }  ///< the extents as an array
  const partita::workers& workers() const { return workers_; }                ///< in C order of their positions
  std::size_t size() const { return workers_.size(); }                        ///< The number of workers.

  /// The id of the worker at a position, which must be inside the extents [partition_error].
  template <class Index = partita::index<0>>  // so that {} can be passed
  std::size_t worker(const Index& position) const {
    const auto i = index_from<rank()>(position);
    for (std::size_t d = 0; d < rank(); ++d)
      if (i[d] >= extents_[d])
        throw partition_error(text("partita::partition::worker(index): requires an index inside the extents ")
                              << shape() << ", got " << i);
    return workers_[flat_index(i, shape())];
  }
  /// The id of the worker at a position in braces, one coordinate for each dimension: `worker({1, 0})`.
  template <std::size_t N>
  std::size_t worker(const std::size_t (&i)[N]) const {
    return worker(index_from<rank()>(i));
  }
  /// The place of a worker in C order, or `size()` for a worker that is not in the grid.
  std::size_t place(std::size_t worker) const { return workers_.find(worker); }
  bool contains(std::size_t worker) const { return workers_.contains(worker); }  ///< whether a worker is in the grid
  /// The position with number `place` in C order. The number must be below size() [partition_error].
  partita::index<rank()> index(std::size_t place) const {
    if (place >= size())
      throw partition_error(text("partita::grid::index(place): requires a place below the number of workers ")
                            << size() << ", got " << place);
    return index_of(place, shape());
  }

  /// A grid of the same workers in the same order over different extents with the same number of places (for example
  /// with dimensions of 1 added or removed).
  template <std::size_t... E>
  grid<partita::extents<E...>> reshape(const partita::extents<E...>& new_extents) const {
    return {new_extents, workers_};
  }

  /// A hash that is equal for equal grids, so that workers can compare grids with one message of 8 bytes.
  std::uint64_t fingerprint() const {
    hasher hash;
    hash.mix(shape()).mix(workers_.is_range());
    for (std::size_t k = 0; k < (workers_.is_range() ? 1 : size()); ++k) hash.mix(workers_[k]);
    return hash.value();
  }

  template <class Other>
  friend bool operator==(const grid& a, const grid<Other>& b) {
    return a.extents() == b.extents() && a.workers() == b.workers();
  }

 private:
  Extents extents_;           ///< the number of workers along each dimension
  partita::workers workers_;  ///< in C order of their positions
};

}  // namespace partita
