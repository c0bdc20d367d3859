// A mesh that is bound to workers of a world, with a cache of the exchanges between its shardings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/transport.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/cached_plans.hpp>
#include <partita/plan/mesh_boxes.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/planned_exchange.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The steps of a reshard, and the bytes that workers receive in them.
struct planned_reshard {
  std::vector<reshard_step> steps{};   ///< the steps of the plan, in order
  std::size_t max_received_bytes = 0;  ///< the most bytes that any worker receives
  std::size_t received_bytes = 0;      ///< the bytes that this worker receives; 0 if it is not on the mesh
  bool moves = false;                  ///< whether some worker receives elements

  PARTITA_DECL planned_reshard(const sharding& from, const sharding& to, const shape_list& shape, std::size_t place,
                               std::size_t element_bytes);  ///< for the worker at position `place` of the mesh
};

/// Makes a world without workers, for a mesh of a dry run.
struct empty_world {
  static world make() { return world(nullptr); }  ///< a world without workers
};

/// A mesh on workers of a world, with cached plans and channels for movements. All tensors that a thread makes on one
/// mesh of one world share a bound_mesh; `of` returns it.
class bound_mesh {
 public:
  /// Binds a mesh to a world. Requires: the workers of the mesh exist in the world [partition_error].
  PARTITA_DECL bound_mesh(world everyone, placed_mesh where);
  /// A mesh without a world, for dry runs: this worker has the first position of the mesh.
  PARTITA_DECL explicit bound_mesh(const partita::mesh& m);
  /// Returns the bound_mesh of this world, mesh and workers that still exists in this thread, or makes a new one.
  PARTITA_DECL static std::shared_ptr<bound_mesh> of(const world& everyone, const placed_mesh& where);

  const partita::world& everyone() const { return world_; }          ///< the world of the mesh
  const placed_mesh& where() const { return placed_mesh_; }          ///< the mesh and its workers
  const partita::mesh& mesh() const { return placed_mesh_.mesh(); }  ///< the mesh, without its workers
  /// The position of this worker on the mesh; not below the size of the mesh if the worker is not on it.
  std::size_t place() const { return place_; }
  /// The id of this worker in the world; without a world, the id of the first worker of the mesh.
  std::size_t worker() const { return world_.active() ? world_.id() : placed_mesh_.worker(0); }
  bool active() const { return place_ < placed_mesh_.size(); }  ///< whether this worker is on the mesh
  /// The box of global indices that this worker holds; empty if the worker is not on the mesh.
  short_list<interval> box(const sharding& s, const shape_list& shape) const {
    return active() ? mesh_block(s, shape, place_) : short_list<interval>::filled(shape.size(), interval{});
  }
  /// The memory for blocks that other workers of the node may read; null before the first call of channels().
  arena* memory() const { return !channels_by_lane_.empty() ? &channels_by_lane_.front()->memory() : nullptr; }

  /// A hash of the axes of the mesh, their sizes, and the workers on the mesh; 0 without a world.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Makes all workers of the world agree that they make the same call on a tensor of elements T, or throw the same
  /// error. `parameters` is a hash of further values that must be equal. Cost: one agreement; none at checks::local.
  template <class T>
  void agree(const char* call, const sharding& from, const sharding& to, const shape_list& extents,
             std::uint64_t parameters = 0, const local_error& failure = {}) {
    hasher number(fingerprint_);
    number.mix(call).mix(type_number<T>()).mix(fingerprint_of(from)).mix(fingerprint_of(to)).mix(extents);
    number.mix(parameters);
    agree_if_checked(*world_.state(), number.value(), failure, [&] {
      text all("partita::");
      all << call << " from " << from;
      if (!from.same_layout(to)) all << " to " << to;
      return all << " of extents " << extents << " and elements of " << type_name<T>();
    });
  }
  /// Runs f() as one call of all workers of the world; see detail::one_call.
  template <class F>
  decltype(auto) one_call(F f) const {
    if (!world_.active()) return f();  // a dry run has no world
    return partita::detail::one_call(*world_.state(), f);
  }
  /// Records an operation, which the next agreement compares. All workers of the world must record it, also those that
  /// are not on the mesh. Returns a number for its result; 0 in a dry run and at checks::local, which record nothing.
  PARTITA_DECL std::uint64_t log_operation(std::uint64_t operation, const char* name, const shape_list& extents);

  /// The steps of a reshard of a tensor of this shape, from the cache or newly planned.
  template <class T>
  std::shared_ptr<planned_reshard> plan_reshard(const sharding& from, const sharding& to, const shape_list& shape) {
    return cached_plan<T>(reshards_, hasher().mix(fingerprint_of(from)).mix(fingerprint_of(to)).mix(shape),
                          [&] { return planned_reshard(from, to, shape, place_, sizeof(T)); });
  }
  /// The exchange `e` for a tensor of this shape, from the cache or newly planned. If the exchange gathers summands,
  /// the result has an additional first dimension, with an index for each summand, and the operand one with extent 1.
  template <class T>
  std::shared_ptr<planned_exchange> plan_exchange(const reshard_exchange& e, const shape_list& shape) {
    return cached_plan<T>(exchanges_,
                          hasher().mix(fingerprint_of(e.from)).mix(fingerprint_of(e.to)).mix(e.reduced).mix(shape),
                          [&] { return lower_exchange<T>(overlaps_of(e, shape, placed_mesh_, world_size())); });
  }
  /// The exchange from the boxes `source` that the workers of the world hold to the boxes `target` that they need, from
  /// the cache or newly planned. Workers outside of this mesh may take part.
  template <class T>
  std::shared_ptr<planned_exchange> plan_exchange(const std::vector<worker_box>& source,
                                                  const std::vector<worker_box>& target) {
    hasher number(1);
    for (const auto* side : {&source, &target})
      for (const worker_box& one : *side) {
        number.mix(one.has_box).mix(one.summand_index).mix(one.replica).mix(one.box.size());
        for (const interval& part : one.box) number.mix(part.start).mix(part.stop);
      }
    return cached_plan<T>(exchanges_, number, [&] { return lower_exchange<T>(box_overlaps(source, target)); });
  }
  /// Opens the channels of an exchange. Returns whether this worker takes part in the exchange. All workers of the
  /// world make the call, after an agreement. Exchanges that are pending at the same time need different lanes.
  template <class Exchange>
  bool open(Exchange& move, std::size_t lane = 0) {
    return run_reporting_bad_alloc([&] { return move.open(channels(lane)); });
  }
  /// The channels of lane `lane`, made by the first call, which all workers of the world make after an agreement.
  PARTITA_DECL transport& channels(std::size_t lane = 0);
  /// The estimated cost of a movement: that of the measured link between nodes or, if the world is on one node, that of
  /// memory with a bandwidth of `memory_bytes` bytes per second.
  PARTITA_DECL link_cost movement_link(double memory_bytes = 1e10);
  /// Executes an exchange from x into y. All workers of the world make the call, after an agreement.
  template <class T>
  void move(planned_exchange& made, const T* x, T* y) {
    run_reporting_bad_alloc([&] {
      if (open(made)) made(x, y);
    });
  }
  /// Moves elements from the boxes `source` (block x) to the boxes `target` (block y). All workers of the world make
  /// the call, after an agreement.
  template <class T>
  void move(const std::vector<worker_box>& source, const std::vector<worker_box>& target, const T* x, T* y) {
    run_reporting_bad_alloc([&] { move(*plan_exchange<T>(source, target), x, y); });
  }
  /// The boxes that the workers of the world hold of a tensor with this sharding.
  std::vector<worker_box> boxes_of(const sharding& s, const shape_list& shape) const {
    return boxes_on_mesh(placed_mesh_, world_size(), s, shape);
  }

 private:
  /// The number of plans that a cache keeps: chosen above the number of movements in a training step of 12 layers.
  static constexpr std::size_t max_plans = 512;
  template <class Plan>
  struct cache_entry {             ///< a plan in a cache
    std::uint64_t key = 0;         ///< a hash of all that determines the plan
    std::shared_ptr<Plan> plan{};  ///< the plan of an exchange or of a reshard
  };

  /// Runs f() in a call to which the other workers have committed: at a std::bad_alloc, this worker ends the job.
  template <class F>
  decltype(auto) run_reporting_bad_alloc(F f) const {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      world_.state()->report().on_memory_lack_midcall();
      throw;
    }
  }
  /// The number of workers of the world; in a dry run, of those up to the last worker of the mesh.
  std::size_t world_size() const { return world_.active() ? world_.size() : placed_mesh_.workers().id_end(); }
  template <class T>
  planned_exchange lower_exchange(box_overlaps boxes) const {  ///< plans this worker's part of a movement
    return {std::move(boxes), worker(), element_kind::moved<T>()};
  }
  /// The plan with this number for elements T, from the cache or made by `make()`.
  template <class T, class Plan, class Make>
  static std::shared_ptr<Plan> cached_plan(plan_cache<cache_entry<Plan>, max_plans>& all, hasher number, Make make) {
    const std::uint64_t n = number.mix(type_number<T>()).value();
    if (const auto* const found = all.find([n](const cache_entry<Plan>& one) { return one.key == n; }))
      return found->plan;
    return all.add({n, std::make_shared<Plan>(make())}).plan;
  }

  partita::world world_;                                      ///< the world of the mesh; without workers in a dry run
  placed_mesh placed_mesh_;                                   ///< the mesh and its workers
  std::size_t place_;                                         ///< the position of this worker on the mesh, see place()
  std::uint64_t fingerprint_ = 0;                             ///< see fingerprint()
  std::vector<std::shared_ptr<transport>> channels_by_lane_;  ///< a lane for each movement pending at one time
  plan_cache<cache_entry<planned_exchange>, max_plans> exchanges_;  ///< cached plans of exchanges
  plan_cache<cache_entry<planned_reshard>, max_plans> reshards_;    ///< cached plans of reshards
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/bound_mesh.ipp>
#endif
