// Saves and loads sharded tensors as .npy files, and shards an array that one worker has.
#pragma once

#include <array>
#include <cstddef>
#include <partita/io/npy.hpp>
#include <partita/sharded/sharded.hpp>
#include <partita/sharded/sharded_partition.hpp>
#include <string>
#include <vector>

namespace partita {
namespace detail {

template <std::size_t Rank>
std::array<std::size_t, Rank> extents_as_array(const shape_list& extents, const char* call) {  ///< checks the rank
  if (extents.size() != Rank)
    throw shape_error(text(call) << ": requires the rank of the tensor, which is " << extents.size() << ", not " << Rank
                                 << "; name that");
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = extents[d];
  return all;
}

/// Makes a tensor with this layout from blocks that some workers hold. Each worker receives the elements of its block
/// from workers that hold them. Collective.
template <class T>
sharded_tensor<T> shard_held_blocks(const std::shared_ptr<bound_mesh>& on, const std::vector<worker_box>& held_boxes,
                                    const T* given, const sharding& layout, const shape_list& extents,
                                    std::uint64_t number) {
  const sharding finished = layout_of(layout.without_partials());
  tensor_block<T> block(shape_of_box(on->box(finished, extents)), on->memory());
  on->move(held_boxes, on->boxes_of(finished, extents), given, block.data());
  return tensor_of(on, layout, extents, resharded(*on, block, finished, layout_of(layout), extents), number);
}

/// Makes a tensor with this layout from the blocks of a partition, which hold one copy of the tensor. Collective.
template <class T, class Extents>
sharded_tensor<T> shard_from_partition(const char* call, const std::shared_ptr<bound_mesh>& on,
                                       const partition<Extents>& p, const T* given, const sharding& layout,
                                       const shape_list& extents, std::uint64_t number) {
  auto held_boxes = on->boxes_of(layout_of(layout.without_partials()), extents);
  for (std::size_t w = 0; w < held_boxes.size(); ++w)
    held_boxes[w].has_box = held_boxes[w].has_box && p.workers().find(w) < p.size();
  return on->one_call([&] {
    on->template agree<T>(call, layout, layout, extents);
    return shard_held_blocks(on, held_boxes, given, layout, extents, number);
  });
}

}  // namespace detail

/// Writes a tensor as a .npy file that NumPy can read: `save_npy<2>("w.npy", x)`, or `save_npy("w.npy", x)` for a typed
/// tensor.
/// Shapes:   Rank is the rank of the tensor, at least 1 [shape_error].
/// Requires: a tensor that is on a mesh and is not partial [partition_error], and what save_npy of a block requires.
/// Cost:     that of save_npy of a block; of several replicas of a block, only one is sent to the owners of the file.
template <std::size_t Rank, class T>
void save_npy(const std::string& path, const sharded_tensor<T>& x) {
  detail::require_no_pending_reduction(x.layout(), "save_npy");
  const auto tensor_extents = detail::extents_as_array<Rank>(x.extents(), "partita::save_npy<rank>(path, x)");
  const auto& on = x.state()->on;
  if (!on) throw partition_error("partita::save_npy(path, x): requires a tensor on a mesh; shard it first");
  const auto there = partition_of<Rank>(detail::layout_of(x.layout()), x.extents(), on->where());
  const partition<dynamic_extents<Rank>> p(on->everyone(), there.arrangement);
  auto block = zero_volume<T, Rank>();
  if (p.active()) block = x.template local<Rank>();
  save_npy(path, p, dynamic_extents<Rank>(tensor_extents), block, source_cuts(there.cuts));
}
template <class T, auto Layout>
void save_npy(const std::string& path, const typed_sharded<T, Layout>& x) {
  save_npy<layout_of_name<Layout>.rank()>(path, x.run_time_tensor());
}
/// Reads a file as a tensor with this layout, as in `load_npy<float, 2>("w.npy", everyone, layout, {8, 4})`.
/// Requires: a file with the given extents [shape_error], and what load_npy on a partition requires.
/// Cost:     that of load_npy for one copy of the tensor, and one exchange that sends the blocks to their replicas.
template <class T, std::size_t Rank>
sharded_tensor<T> load_npy(const std::string& path, const world& everyone, const sharding& layout,
                           const shape_list& extents) {
  detail::require_layout(layout, extents);
  detail::extents_as_array<Rank>(extents, "partita::load_npy<T, rank>(path, world, layout, extents)");
  return detail::one_call(*everyone.state(), [&] {
    const auto on = detail::bound_mesh::of(everyone, placed_mesh(layout.on));
    const std::uint64_t number = detail::record_tensor<T>(on, "load_npy", layout, extents);
    const sharding finished = detail::layout_of(layout.without_partials());
    const auto there = partition_of<Rank>(finished, extents, on->where());
    const partition<dynamic_extents<Rank>> p(everyone, there.arrangement);
    const xt::xtensor<T, Rank> block = load_npy<T, Rank>(path, p, result_cuts(there.cuts));
    return detail::shard_from_partition("load_npy", on, p, block.data(), layout, extents, number);
  });
}

/// Shards a whole array that one worker has; the arrays of the other workers are not read: `shard_from(everyone, 0,
/// layout, {8, 4}, x)`. Collective.
/// Shapes:   x on the given worker has the given extents [shape_error, on all workers]; the layout has one entry per
///           extent.
/// Requires: the number of a worker of the world [partition_error].
/// Cost:     one exchange: each worker receives its block.
template <ranked_array X>
sharded_tensor<element_of<X>> shard_from(const world& everyone, std::size_t worker, const sharding& layout,
                                         const shape_list& extents, const X& x) {
  detail::require_layout(layout, extents);
  if (worker >= everyone.size())
    throw partition_error(text("partita::shard_from: requires a worker below ")
                          << everyone.size() << ", got " << worker << "; choose one of the world");
  const bool mine = everyone.id() == worker;
  return detail::one_call(*everyone.state(), [&] {
    const shape_list given = detail::shape_of(x);
    detail::local_error wrong;
    if (mine && !(given == extents))
      wrong = detail::local_error(text("partita::shard_from: requires an array of the extents that are said, ")
                                  << extents << ", got " << given << " on worker " << worker);
    const auto on = detail::bound_mesh::of(everyone, placed_mesh(layout.on));
    const std::uint64_t number = detail::record_tensor<element_of<X>>(on, "shard_from", layout, extents);
    on->template agree<element_of<X>>("shard_from", layout, layout, extents, worker, wrong);
    std::vector<worker_box> held_boxes(everyone.size());
    for (const std::size_t extent : extents) held_boxes[worker].box.push_back({0, extent});
    held_boxes[worker].has_box = true;
    detail::tensor_block<element_of<X>> block;
    if (mine) block = detail::block_of_array(x);
    return detail::shard_held_blocks(on, held_boxes, block.data(), layout, extents, number);
  });
}

}  // namespace partita
