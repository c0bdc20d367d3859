// A Cartesian arrangement of workers: extents and who stands where. A partition without its world.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/extents.hpp>
#include <partita/core/index.hpp>
#include <partita/plan/workers.hpp>

namespace partita {

/// Workers arranged in C order over `Extents`. Pure: plans for any number of workers are made from grids, without MPI.
template <class Extents>
  requires is_extents<Extents>
class grid {
 public:
  using extents_type = Extents;
  static constexpr std::size_t rank() { return Extents::rank(); }

  /// Requires as many workers as the extents have places [partition_error].
  grid(const Extents& extents, partita::workers chosen)
      : extents_(extents), workers_(static_cast<partita::workers&&>(chosen)) {
    if (extents_.size() != workers_.size())
      throw partition_error(text("partita::partition: requires as many workers as the extents ")
                            << extents_.array() << " have places (" << extents_.size() << "), got " << workers_.size()
                            << " workers; choose " << extents_.size() << " workers or other extents");
  }
  /// On the first workers of the world.
  explicit grid(const Extents& extents) : grid(extents, partita::workers(0, extents.size())) {}

  const Extents& extents() const { return extents_; }
  std::array<std::size_t, rank()> shape() const { return extents_.array(); }
  const partita::workers& workers() const { return workers_; }
  std::size_t size() const { return workers_.size(); }

  /// The id of the worker at a position.
  std::size_t worker(const partita::index<rank()>& i) const {
    for (std::size_t d = 0; d < rank(); ++d)
      if (i[d] >= extents_[d])
        throw partition_error(text("partita::partition::worker(index): requires an index inside the extents ")
                              << extents_.array() << ", got " << i);
    return workers_[number_of(i, shape())];
  }
  /// The C-order place of a worker, or `size()` if it is not in the grid.
  std::size_t place(std::size_t worker) const { return workers_.find(worker); }
  bool contains(std::size_t worker) const { return workers_.contains(worker); }
  /// The position of a place.
  partita::index<rank()> index(std::size_t place) const { return index_of(place, shape()); }

  /// The same workers in the same order under other extents of the same size (dimensions of 1 added or removed, say).
  template <std::size_t... E>
  grid<partita::extents<E...>> reshape(const partita::extents<E...>& other) const {
    return {other, workers_};
  }

  /// A number that equal grids share, to compare over workers with one message of 8 bytes.
  std::uint64_t fingerprint() const {
    std::uint64_t hash = 1469598103934665603ULL;
    const auto mix = [&hash](std::size_t value) { hash = (hash ^ (value + 0x9e3779b97f4a7c15ULL)) * 1099511628211ULL; };
    mix(rank());
    for (std::size_t d = 0; d < rank(); ++d) mix(extents_[d]);
    if (workers_.is_range()) {
      mix(workers_.empty() ? 0 : workers_[0]);
    } else {
      for (std::size_t k = 0; k < workers_.size(); ++k) mix(workers_[k]);
    }
    return hash;
  }

  template <class Other>
  friend bool operator==(const grid& a, const grid<Other>& b) {
    return a.extents() == b.extents() && a.workers() == b.workers();
  }

 private:
  Extents extents_;
  partita::workers workers_;
};

}  // namespace partita
