// Saves the state of an optimiser of sharded parameters in one file, which a different number of workers may load.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/as_element.hpp>
#include <partita/io/npy.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// All numbers of an optimiser as one sequence, in balanced parts on all workers of a world: first the number of steps
/// taken, then each state of each parameter in C order, and last a fingerprint of the extents of the parameters (files
/// of earlier versions have no fingerprint).
template <class T, class Options>
class flat_state {
 public:
  /// The number of steps n is stored as n / steps_per_unit and n % steps_per_unit, which a float holds exactly.
  static constexpr std::size_t steps_per_unit = 1U << 20U;

  flat_state(const world& everyone, sharded_optimiser<T, Options>& optimiser)  ///< refers to the optimiser
      : everyone_(everyone),
        mesh_(bound_mesh::of(everyone, placed_mesh(partita::mesh(axis("workers", everyone.size()))))),
        optimiser_(optimiser) {
    for (std::size_t p = 0; p < optimiser.parameters(); ++p)
      for (std::size_t s = 0; s < optimiser.states_of_parameter(); ++s) state_numbers_ += shape_size(extents(p, s));
    file_numbers_ = state_numbers_ + 1;
  }

  /// Throws the same error on all workers, before elements are moved, if the workers make different calls. Collective.
  void require_agreement(const char* call) const {
    const sharding whole(mesh_->mesh(), 1);
    mesh_->agree<T>(call, whole, whole, {state_numbers_}, fingerprint());
  }
  std::size_t numbers_in_file() const { return file_numbers_; }  ///< the length of the sequence in the file
  /// Sets numbers_in_file(); returns whether a file of this length can be read, with or without a fingerprint.
  bool accept_file_length(std::size_t numbers) {
    file_numbers_ = numbers;
    return numbers == state_numbers_ || numbers == state_numbers_ + 1;
  }
  /// The sum of `mine` over all workers. Collective.
  std::size_t sum_over_workers(std::size_t mine) const {
    std::size_t sum = 0;
    for (const auto& [n] : gather_numbers<1>(*mesh_->everyone().state(), {mine})) sum += static_cast<std::size_t>(n);
    return sum;
  }
  /// The partition of a tensor of rank 1 over all workers.
  auto partition_of_all_workers() const { return everyone_.partition(partita::extents<dynamic>(everyone_.size())); }
  /// Returns this worker's part of the sequence. Collective.
  xt::xtensor<T, 1> flatten_state() const {
    const interval mine = part(everyone_.id());
    xt::xtensor<T, 1> all(std::array<std::size_t, 1>{mine.size()});
    for (std::size_t k = mine.start; k < mine.stop && k < 2; ++k)
      all(k - mine.start) =
          as_element<T>(k == 0 ? optimiser_.steps() / steps_per_unit : optimiser_.steps() % steps_per_unit);
    if (mine.start <= state_numbers_ && state_numbers_ < mine.stop)
      all(state_numbers_ - mine.start) = as_element<T>(fingerprint());
    for_each_state([&](const std::vector<worker_box>& held, const std::vector<worker_box>& flat, const sharding& rows,
                       std::size_t p, std::size_t s) {
      const sharded_tensor<T> there = reshard(optimiser_.state(p, s), rows);
      mesh_->move(held, flat, there.data(), all.data() + index_in_part(flat));
    });
    return all;
  }
  /// Whether the fingerprint in the file is that of this optimiser; true if the file has no fingerprint. The parameter
  /// `own_part` is this worker's part of the file. All workers get the same result. Collective.
  bool matches_parameters(const xt::xtensor<T, 1>& own_part) const {
    return file_numbers_ == state_numbers_ ||
           to_real_number(broadcast_file_numbers<1>(own_part, state_numbers_)[0]) == static_cast<double>(fingerprint());
  }
  /// Sets the optimiser's state from a file; `own_part` is this worker's part of the file. Collective.
  void restore(const xt::xtensor<T, 1>& own_part) {
    const std::array<T, 2> front = broadcast_file_numbers<2>(own_part, 0);
    for_each_state([&](const std::vector<worker_box>& held, const std::vector<worker_box>& flat, const sharding& rows,
                       std::size_t p, std::size_t s) {
      const sharded_tensor<T>& old = optimiser_.state(p, s);
      const auto& on = old.state()->on;
      tensor_block<T> block(on ? shape_of_box(on->box(rows, old.extents())) : old.extents());
      mesh_->move(flat, held, own_part.data() + index_in_part(flat), block.data());
      const auto there = tensor_of(on, on ? rows : old.layout(), old.extents(), std::move(block));
      optimiser_.restore(p, s, on ? reshard(there, old.layout()) : there);
    });
    optimiser_.restore_steps(static_cast<std::size_t>(to_real_number(front[0])) * steps_per_unit +
                             static_cast<std::size_t>(to_real_number(front[1])));
  }

 private:
  static double to_real_number(const T& x) {  ///< the real part of x
    if constexpr (real_part<T>::count == 1) return static_cast<double>(x);
    else return static_cast<double>(x.real());
  }
  /// The range of the numbers in the file that a worker writes or reads.
  interval part(std::size_t worker) const { return balanced_part(file_numbers_, everyone_.size(), worker); }
  /// The index, in this worker's part, of the first number of the visited state; `flat` is the argument that
  /// for_each_state passes.
  std::size_t index_in_part(const std::vector<worker_box>& flat) const {
    const worker_box& own = flat[everyone_.id()];
    return own.has_box ? state_start_ + own.box[0].start - part(everyone_.id()).start : 0;
  }
  /// A fingerprint of the number and the extents of the optimiser states, small enough to be exact in a float.
  std::size_t fingerprint() const {
    hasher number;
    for (std::size_t p = 0; p < optimiser_.parameters(); ++p)
      for (std::size_t s = 0; s < optimiser_.states_of_parameter(); ++s) {
        number.mix(p).mix(s);
        for (const std::size_t extent : extents(p, s)) number.mix(extent);
      }
    return static_cast<std::size_t>(number.value() % steps_per_unit);
  }
  /// Gives all workers the N numbers of the file from index `begin` of the file on; `own_part` is this worker's part of
  /// the file. Collective.
  template <std::size_t N>
  std::array<T, N> broadcast_file_numbers(const xt::xtensor<T, 1>& own_part, std::size_t begin) const {
    std::array<T, N> numbers{};
    std::vector<worker_box> owned_boxes(everyone_.size()), wanted_boxes(everyone_.size());
    const std::size_t end = begin + N, mine = part(everyone_.id()).start;
    for (std::size_t w = 0; w < everyone_.size(); ++w) {
      const interval own = part(w);
      const std::size_t from = own.start > begin ? own.start : begin, to = own.stop < end ? own.stop : end;
      owned_boxes[w] = {{from < to ? interval{from - begin, to - begin} : interval{0, 0}}, 0, from < to};
      wanted_boxes[w] = {{interval{0, N}}, 0, true};
    }
    mesh_->move(owned_boxes, wanted_boxes,
                own_part.data() + (begin > mine && owned_boxes[everyone_.id()].has_box ? begin - mine : 0),
                numbers.data());
    return numbers;
  }
  /// The extents of state s of parameter p.
  const shape_list& extents(std::size_t p, std::size_t s) const { return optimiser_.state(p, s).extents(); }
  /// Calls f(held, flat, rows, p, s) for each state s of each parameter p. The sharding `rows` divides the rows of the
  /// state over the workers of its mesh. held[w] is the range of the state's elements that worker w has with this
  /// sharding, and flat[w] is the range that worker w has in the file.
  template <class F>
  void for_each_state(F f) const {
    state_start_ = 2;
    for (std::size_t p = 0; p < optimiser_.parameters(); ++p)
      for (std::size_t s = 0; s < optimiser_.states_of_parameter(); ++s) {
        const sharded_tensor<T>& x = optimiser_.state(p, s);
        const std::size_t n = shape_size(x.extents());
        sharding rows(x.layout().on, x.rank());
        for (std::size_t a = 0; a < rows.on.rank() && rows.rank() > 0; ++a) rows.cuts[0].push_back(a);
        std::vector<worker_box> held(everyone_.size()), flat(everyone_.size());
        if (x.state()->on) held = x.state()->on->boxes_of(rows, x.extents());
        for (std::size_t w = 0; w < everyone_.size(); ++w) {
          interval own{0, n};
          if (x.state()->on && rows.rank() > 0 && held[w].has_box) {
            const std::size_t one = x.extents()[0] == 0 ? 0 : n / x.extents()[0];
            own = {held[w].box[0].start * one, held[w].box[0].stop * one};
          }
          held[w] = {{own}, 0, !x.state()->on || held[w].has_box};
          const interval mine = part(w);
          const std::size_t from = mine.start > state_start_ ? mine.start : state_start_,
                            to = mine.stop < state_start_ + n ? mine.stop : state_start_ + n;
          flat[w] = {{from < to ? interval{from - state_start_, to - state_start_} : interval{0, 0}}, 0, from < to};
        }
        f(held, flat, rows, p, s);
        state_start_ += n;
      }
  }

  world everyone_;                            ///< the workers that save or load the state
  std::shared_ptr<bound_mesh> mesh_;          ///< all workers, along one axis
  sharded_optimiser<T, Options>& optimiser_;  ///< the optimiser whose state is saved or restored
  std::size_t state_numbers_ = 2;             ///< the length of the sequence without the fingerprint
  std::size_t file_numbers_ = 3;         ///< the length of the sequence in the file, in most files with the fingerprint
  mutable std::size_t state_start_ = 2;  ///< the index in the sequence of the state that is visited
};

}  // namespace detail

/// Saves the state of an optimiser and its number of steps as one .npy file of one dimension: `save_optimiser(
/// "adam.npy", everyone, optimiser)`. The parameters themselves are saved by save_npy or save_checkpoint.
/// Requires: what save_npy requires [io_error, on all workers]. All workers of the world call save_optimiser.
/// Cost:     each state is resharded by rows and then moved to balanced parts of the file; a call of save_npy follows.
template <class T, class Options>
void save_optimiser(const std::string& path, const world& everyone, sharded_optimiser<T, Options>& optimiser) {
  const detail::flat_state<T, Options> flat(everyone, optimiser);
  const xt::xtensor<T, 1> all = detail::one_call(*everyone.state(), [&] {
    flat.require_agreement("save_optimiser");
    return flat.flatten_state();
  });
  save_npy(path, flat.partition_of_all_workers(), extents<dynamic>(flat.numbers_in_file()), all);
}
/// Restores the state that save_optimiser saved into an optimiser of the same kind with parameters of the same extents,
/// which may have any layouts on any number of workers.
/// Requires: a file that save_optimiser wrote for parameters of these extents, in this order [io_error, shape_error, on
///           all workers]. In a file of an earlier version, which has no fingerprint, only the number of elements is
///           checked.
template <class T, class Options>
void load_optimiser(const std::string& path, const world& everyone, sharded_optimiser<T, Options>& optimiser) {
  detail::flat_state<T, Options> flat(everyone, optimiser);
  const auto places = flat.partition_of_all_workers();
  const xt::xtensor<T, 1> all = load_npy<T, 1>(path, places);
  detail::one_call(*everyone.state(), [&] {
    flat.require_agreement("load_optimiser");
    const std::size_t held = flat.sum_over_workers(all.size());
    const std::size_t wanted_boxes = flat.numbers_in_file();
    if (!flat.accept_file_length(held))
      throw shape_error(text("partita::load_optimiser(\"")
                        << path.c_str() << "\", world, optimiser): requires the state of as many elements as these "
                        << "parameters take, " << wanted_boxes << " numbers, but the file has " << held);
    if (!flat.matches_parameters(all))
      throw shape_error(text("partita::load_optimiser(\"")
                        << path.c_str()
                        << "\", world, optimiser): requires the state of parameters of these extents, in "
                        << "this order, and the file is of others; give the parameters in the order of the saved ones");
    flat.restore(all);
  });
}

}  // namespace partita
