// A mesh bound to workers of a world, with the cached exchanges between its shardings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/transport.hpp>
#include <partita/comm/world.hpp>
#include <partita/plan/placed_mesh.hpp>
#include <partita/plan/reshard_overlaps.hpp>
#include <partita/sharded/detail/box_moves.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/movement_log.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

struct world_of_nobody {
  static world made() { return world(nullptr); }
};

/// Everything that a movement on a mesh needs. Shared by all tensors on this mesh; `of` finds an existing one.
template <class = void>
class basic_bound_mesh {
 public:
  /// Requires: the workers of the mesh exist in the world [partition_error].
  basic_bound_mesh(world everyone, placed_mesh where)
      : world_(std::move(everyone)), where_(std::move(where)), place_(where_.place(world_.id())) {
    if (where_.workers().bound() > world_.size())
      throw partition_error(text("partita::shard: requires workers of a world of ")
                            << world_.size() << ", but the mesh " << where_.mesh() << " reaches worker "
                            << where_.workers().bound() - 1 << "; start more workers, or make a smaller mesh");
    hasher all;
    for (std::size_t a = 0; a < mesh().rank(); ++a) all.mix(mesh().axes[a].name()).mix(mesh().size(a));
    for (std::size_t k = 0; k < where_.size(); ++k) all.mix(where_.worker(k));
    fingerprint_ = all.value();
  }
  /// A mesh without a world, seen from its first position, for dry runs.
  explicit basic_bound_mesh(const partita::mesh& m) : world_(world_of_nobody::made()), where_(m), place_(0) {}
  /// The bound mesh of this world, mesh and workers. Equal on all workers that make the same calls.
  static std::shared_ptr<basic_bound_mesh> of(const world& everyone, const placed_mesh& where) {
    thread_local std::vector<std::weak_ptr<basic_bound_mesh>> known;
    for (std::size_t k = known.size(); k-- > 0;) {
      const auto one = known[k].lock();
      if (!one) known.erase(known.begin() + static_cast<std::ptrdiff_t>(k));
      else if (one->world_ == everyone && one->where_ == where) return one;
    }
    auto made = std::make_shared<basic_bound_mesh>(everyone, where);
    known.push_back(made);
    return made;
  }

  const partita::world& everyone() const { return world_; }
  const placed_mesh& where() const { return where_; }
  const partita::mesh& mesh() const { return where_.mesh(); }
  std::size_t place() const { return place_; }
  bool active() const { return place_ < where_.size(); }
  /// The global indices that this worker holds; empty if it is not on the mesh.
  short_list<interval> box(const sharding& s, const shape_list& shape) const {
    return active() ? mesh_block(s, shape, place_) : short_list<interval>::filled(shape.size(), interval{});
  }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// A hash of the axes, their sizes, and the workers on them.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Checks that all workers of the world make the same call on a tensor of elements T; otherwise all throw.
  /// `parameters` is a hash of further values that must be equal. Cost: that of an agreement.
  template <class T>
  void agree(const char* call, const sharding& from, const sharding& to, const shape_list& extents,
             std::uint64_t parameters = 0, const complaint& wrong = {}) {
    const std::uint64_t number = hasher(fingerprint_)
                                     .mix(call)
                                     .mix(type_number<T>())
                                     .mix(fingerprint_of(from))
                                     .mix(fingerprint_of(to))
                                     .mix(extents)
                                     .mix(parameters)
                                     .value();
    agree_if_checked(*world_.state(), number, wrong, [&] {
      text all(call);
      all << " from " << from;
      if (!from.same_layout(to)) all << " to " << to;
      return all << " of extents " << extents << " and elements of " << type_name<T>();
    });
  }
  /// Runs f() as one call of all workers of the world; see detail::one_call.
  template <class F>
  decltype(auto) one_call(F f) const {
    if (!world_.active()) return f();  // in a dry run
    return partita::detail::one_call(*world_.state(), f);
  }
  /// Records an operation that all workers of the world make, on the mesh or not; the next agreement compares it.
  /// Returns a number for its result, or 0 in a dry run, in which nothing is recorded.
  std::uint64_t note(std::uint64_t operation, const char* name, const shape_list& extents) {
    if (is_dry_run() || world_.state() == nullptr) return 0;
    return world_.state()->note_local(hasher(fingerprint_).mix(operation).value(), name, extents);
  }

  /// Executes the exchange `e` for a tensor of this shape, from `x` into `y`. The leading dimension of `y` numbers the
  /// summands; x has such a dimension of extent 1. All workers of the mesh make the call, after an agreement.
  template <class T>
  void move(const reshard_exchange& e, const shape_list& shape, const T* x, T* y) {
    amid_call([&] {
      if (const prepared_move* const made = prepared<T>(e, shape).get()) (*made)(x, y);
    });
  }
  /// The same, prepared for repeated use; null for a worker that is not on the mesh.
  template <class T>
  std::shared_ptr<const prepared_move> prepared(const reshard_exchange& e, const shape_list& shape) {
    return amid_call([&]() -> std::shared_ptr<const prepared_move> {
      find_ways();
      return active() ? kept(e, shape, element_kind::moved<T>()) : nullptr;
    });
  }
  /// Moves elements between boxes of any workers of the world, on this mesh or not. `known` gives the cached exchange,
  /// and `prepared` this worker's part of it, or null for a worker without a part. All workers of the world make the
  /// call, after an agreement.
  template <class T>
  void move(const box_overlaps& boxes, const T* x, T* y) {
    amid_call([&] {
      if (const prepared_move* const made = prepared(known<T>(boxes.had(), boxes.wanted())).get()) (*made)(x, y);
    });
  }
  template <class T>
  box_moves::known_move& known(std::vector<worker_box> had, std::vector<worker_box> wanted) {
    return boxes_.of(std::move(had), std::move(wanted), element_kind::moved<T>());
  }
  std::shared_ptr<const prepared_move> prepared(box_moves::known_move& one) {
    return amid_call([&]() -> std::shared_ptr<const prepared_move> {
      find_ways();
      const std::size_t me = world_.id();
      if (!one.overlaps.had()[me].there && !one.overlaps.wanted()[me].there) return nullptr;
      return boxes_.prepared(one, *ways_, me);
    });
  }
  /// The boxes of a tensor with this sharding, for all workers of the world.
  std::vector<worker_box> boxes_of(const sharding& s, const shape_list& shape) const {
    std::vector<worker_box> all(world_.size());
    for (std::size_t k = 0; k < where_.size(); ++k) {
      std::size_t summand = 0;
      for (std::size_t a = 0; a < mesh().rank(); ++a)
        if (s.owed[a] != owed_reduction::none) summand = summand * mesh().size(a) + coordinate_of(mesh(), k, a);
      all[where_.worker(k)] = {mesh_block(s, shape, k), summand, true};
    }
    return all;
  }

 private:
  struct entry {
    reshard_exchange e;
    shape_list shape;
    element_kind kind;
    std::shared_ptr<const prepared_move> move;
  };

  /// Runs f() during a call that the other workers have already committed to: running out of memory is reported to
  /// them.
  template <class F>
  decltype(auto) amid_call(F f) const {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      world_.state()->report().lacks_memory_amid_call();
      throw;
    }
  }
  void find_ways() {
    if (!ways_) ways_ = std::make_shared<transport>(world_.state()->communicator());
  }
  const std::shared_ptr<const prepared_move>& kept(const reshard_exchange& e, const shape_list& shape,
                                                   const element_kind& kind) {
    for (const entry& one : entries_)
      if (one.shape == shape && one.kind == kind && one.e == e) return one.move;
    constexpr std::size_t most_kept = 512;  // chosen: more than the movements of a training step with a dozen layers
    if (entries_.size() == most_kept) entries_.erase(entries_.begin());
    const auto made = std::make_shared<prepared_move>();
    made->exchange = ways_->exchange(plan(e, shape, kind.bytes, *made), kind);
    entries_.push_back({e, shape, kind, made});
    return entries_.back().move;
  }

  /// Every box has a leading dimension that numbers the summands.
  lowered_plan plan(const reshard_exchange& e, const shape_list& shape_of_all, std::size_t element_bytes,
                    prepared_move& made) const {
    const std::size_t rank = shape_of_all.size() + 1;
    lowered_plan low(rank);
    low.worker = world_.id();
    const auto held = mesh_block(e.from, shape_of_all, place_), wanted = mesh_block(e.to, shape_of_all, place_);
    low.source_shape = with_front(1, shape_of_box(held));
    low.received_shape = with_front(e.summands(), shape_of_box(wanted));
    const auto dense = [&](const std::vector<std::size_t>& shape) {
      std::vector<std::ptrdiff_t> steps(rank);
      dense_strides(shape.data(), rank, steps.data());
      return steps;
    };
    low.received_strides = made.y_steps = dense(low.received_shape);
    made.x_steps = dense(low.source_shape);
    const auto corner = [&](std::size_t front, const reshard_overlap& o, const short_list<interval>& block) {
      std::vector<std::size_t> at{front};
      for (std::size_t d = 0; d + 1 < rank; ++d) at.push_back(o.where[d].start - block[d].start);
      return at;
    };
    for (const reshard_overlap& o : in_order(overlaps_given(e, shape_of_all, place_))) {
      if (o.place == place_) continue;
      const auto shape = with_front(1, shape_of_box(o.where));
      const auto there = mesh_block(e.to, shape_of_all, o.place);
      const auto steps = dense(with_front(e.summands(), shape_of_box(there)));
      const auto at = corner(o.summand, o, there);
      std::ptrdiff_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) offset += static_cast<std::ptrdiff_t>(at[d]) * steps[d];
      low.add_send(where_.worker(o.place), shape.data(), corner(0, o, held).data(), offset, steps.data());
    }
    for (const reshard_overlap& o : in_order(overlaps_taken(e, shape_of_all, place_))) {
      const auto shape = with_front(1, shape_of_box(o.where));
      const auto at = corner(o.summand, o, wanted);
      if (o.place == place_) {
        low.add_kept(shape.data(), corner(0, o, held).data(), at.data());
      } else {
        low.receives.add(where_.worker(o.place), shape.data(), at.data());
        made.bytes += volume_in(shape_of_box(o.where)) * element_bytes;
        ++made.messages;
      }
    }
    return low;
  }
  std::vector<reshard_overlap> in_order(std::vector<reshard_overlap> all) const {
    std::sort(all.begin(), all.end(), [this](const reshard_overlap& a, const reshard_overlap& b) {
      return where_.worker(a.place) < where_.worker(b.place);
    });
    return all;
  }
  static std::vector<std::size_t> with_front(std::size_t n, const shape_list& rest) {
    std::vector<std::size_t> all{n};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  partita::world world_;
  placed_mesh where_;
  std::size_t place_;
  std::uint64_t fingerprint_ = 0;
  std::shared_ptr<transport> ways_;  // made with the first movement, by all workers of the world
  std::vector<entry> entries_;
  box_moves boxes_;
};
using bound_mesh = basic_bound_mesh<>;

}  // namespace partita::detail
