// Plans the change of a spectrum's number of points: the boxes of the spectrum that move, the zeros between these boxes
// in the result, and the sums and factors of Nyquist waves, which are both positive and negative waves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/resized_line.hpp>
#include <partita/array/strided.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A factor for all elements of a block at one index along a dimension.
struct scaled_plane {
  std::size_t dimension = 0, index_in_block = 0;  ///< the dimension, and the plane's index along it
  double factor = 1;                              ///< by which the elements of the plane are multiplied
};

/// The plan for a spectrum's blocks, and the elements of the results that are scaled or not filled by the exchange.
template <std::size_t Rank>
struct spectrum_structure : planned_boxes<Rank> {
  /// The planes that are multiplied after the exchange: in this worker's block of y, and of the adjoint's result.
  std::shared_ptr<const std::vector<scaled_plane>> scaled_planes{}, adjoint_scaled_planes{};
  /// For each dimension and index of y's block (of the adjoint's result): 1 if the exchange fills elements there, else
  /// 0.
  std::array<std::vector<char>, Rank> is_index_filled{}, is_adjoint_index_filled{};
};

/// The planner for a spectrum whose dimension d is resized by lines[d], in balanced blocks on p_x and on p_y.
template <std::size_t Rank>
class spectrum_planner {
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a spectrum or a block
  using line_list = std::array<resized_line, Rank>;  ///< how each dimension is resized

 public:
  static constexpr std::size_t rank = Rank;                       ///< the number of dimensions of the spectrum
  static constexpr bool sums_back = true, checks_itself = false;  ///< the adjoint adds, and its plan is agreed on
  using structure = spectrum_structure<Rank>;                     ///< a cached plan

  spectrum_planner(const char* name, const dynamic_partition<Rank>& p_x, const dynamic_partition<Rank>& p_y,
                   const line_list& lines)
      : name_(name),
        p_x_(p_x),
        p_y_(p_y),
        resized_lines_(lines),
        x_cuts_(decomposition<Rank>::make(
            [&](std::size_t d) { return cut::balanced(lines[d].source_extent(), p_x.grid().shape()[d]); })),
        y_cuts_(decomposition<Rank>::make(
            [&](std::size_t d) { return cut::balanced(lines[d].extent(), p_y.grid().shape()[d]); })) {
    hasher all(129);
    all.mix(p_x.grid().fingerprint()).mix(p_y.grid().fingerprint());
    for (const resized_line& line : lines) all.mix(line.n).mix(line.m).mix(line.is_half_spectrum);
    fingerprint_ = all.value();
  }

  const char* name() const { return name_; }                  ///< the call in messages
  std::uint64_t fingerprint() const { return fingerprint_; }  ///< identifies the kernel; equal on all workers
  std::shared_ptr<world_state> world() const { return p_x_.world().state(); }  ///< the world of p_x and p_y
  static constexpr bool keeps_batch() { return true; }  ///< empty results have the batch extent of x
  text describe(const char* direction, const shape_type& shape, const text& type) const {  // a call in messages
    return describe_call(name_, direction, p_x_, shape, type);
  }

  /// What a worker sends, keeps and receives. The waves that are kept form up to 2^Rank boxes. Each box moves as in a
  /// repartition of a tensor that consists of this box only; then its positions are converted to those in the blocks.
  exchange_plan<Rank> plan_of(std::size_t worker) const {
    exchange_plan<Rank> all;
    all.worker = worker;
    all.extents = x_cuts_.extents();
    const std::size_t source_place = p_x_.grid().place(worker), destination_place = p_y_.grid().place(worker);
    all.gives = source_place < p_x_.size(), all.takes = destination_place < p_y_.size();
    if (all.gives) all.source_shape = x_cuts_.shape(block_index(p_x_, worker));
    if (all.takes) all.destination_shape = y_cuts_.shape(block_index(p_y_, worker));
    for (std::size_t corner = 0; corner < std::size_t{1} << Rank; ++corner) {
      std::array<wave_range, Rank> waves{};
      bool none = false;
      for (std::size_t d = 0; d < Rank; ++d) {
        waves[d] = resized_lines_[d].wave_ranges()[corner >> d & 1U];
        none = none || waves[d].count == 0;
      }
      if (!none) add_boxes_of_wave_ranges(all, waves);
    }
    group_by_peer(all.sends);
    group_by_peer(all.receives);
    for (const resized_line& line : resized_lines_) all.accumulate = all.accumulate || line.adds_two_waves();
    return all;
  }
  exchange_plan<Rank> make_adjoint_plan(const exchange_plan<Rank>& there) const {  // the reverse of a plan
    exchange_plan<Rank> back = reversed(there);
    back.extents = y_cuts_.extents();
    back.accumulate = false;
    for (const resized_line& line : resized_lines_) back.accumulate = back.accumulate || line.splits_one_wave();
    return back;
  }

  /// Makes the plan of a call. Collective.
  structure learn(const box_call<Rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    open_transport(shared_transport, *world());
    structure s;
    s.there = plan_of(world()->id());
    s.back = make_adjoint_plan(s.there);
    const exchange_plan<Rank>& plan = s.plan(call.forward);
    if (plan.gives && plan.source_shape != call.shape)
      found_error = local_error(text(name_) << call.direction << ": requires the balanced block of a spectrum of "
                                            << plan.extents << ", which is " << plan.source_shape << " on worker "
                                            << world()->id() << ", got " << call.shape << "; repartition it");
    std::vector<scaled_plane> scaled_planes, adjoint_scaled_planes;
    for (std::size_t d = 0; d < Rank; ++d) {
      const resized_line& line = resized_lines_[d];
      s.is_index_filled[d].assign(s.there.destination_shape[d], 0),
          s.is_adjoint_index_filled[d].assign(s.there.source_shape[d], 0);
      const interval own_x = s.there.gives ? own_part(x_cuts_, p_x_, d) : interval{},
                     own_y = s.there.takes ? own_part(y_cuts_, p_y_, d) : interval{};
      for (const wave_range& waves : line.wave_ranges()) {
        mark_filled(s.is_index_filled[d], own_y, waves.destination_start, waves.count);
        mark_filled(s.is_adjoint_index_filled[d], own_x, waves.source_start, waves.count);
      }
      if (line.factor() == 1) continue;
      add_plane(scaled_planes, own_y, d, line.shared_wave(), line.factor());
      if (line.splits_one_wave()) add_plane(scaled_planes, own_y, d, line.m - line.shared_wave(), line.factor());
      add_plane(adjoint_scaled_planes, own_x, d, line.shared_wave(), line.factor());
    }
    s.scaled_planes = std::make_shared<const std::vector<scaled_plane>>(std::move(scaled_planes));
    s.adjoint_scaled_planes = std::make_shared<const std::vector<scaled_plane>>(std::move(adjoint_scaled_planes));
    return s;
  }
  /// Makes the exchange that carries out plan s in one direction.
  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind,
                                         const std::shared_ptr<transport>& shared_transport) const {
    return lasting_exchange(shared_transport, world(), lowered(s.plan(forward)), kind);
  }
  /// Sets the elements of the result to zero that no box covers. If boxes are added, the exchange itself does this.
  template <class T>
  void do_overlapped_work(const structure& s, bool forward, const strided<T, Rank>& to, exchange_operation&) const {
    const exchange_plan<Rank>& plan = s.plan(forward);
    if (!plan.takes || plan.accumulate || volume_of(to.shape) == 0) return;
    const auto& is_index_filled = forward ? s.is_index_filled : s.is_adjoint_index_filled;
    bool all = true;
    for (const std::vector<char>& along : is_index_filled)
      for (const char one : along) all = all && one != 0;
    if (all) return;
    fill_unmarked_elements<T>(to, is_index_filled, 0, to.data, false);
  }

 private:
  /// The index of a worker's block in the grid of p.
  static index<Rank> block_index(const dynamic_partition<Rank>& p, std::size_t worker) {
    return p.grid().index(p.grid().place(worker));
  }
  /// This worker's indices along dimension d.
  static interval own_part(const decomposition<Rank>& cuts, const dynamic_partition<Rank>& p, std::size_t d) {
    return cuts.cuts[d].part(p.index()[d]);
  }
  /// Marks the indices from, ..., from + count - 1, as far as they are in this worker's part.
  static void mark_filled(std::vector<char>& is_index_filled, const interval& own, std::size_t from,
                          std::size_t count) {
    for (std::size_t i = from; i < from + count; ++i)
      if (i >= own.start && i < own.stop) is_index_filled[i - own.start] = 1;
  }
  /// Adds the plane with index i along dimension d to the list, if it is in this worker's part.
  static void add_plane(std::vector<scaled_plane>& all, const interval& own, std::size_t d, std::size_t i,
                        double factor) {
    if (i >= own.start && i < own.stop) all.push_back({d, i - own.start, factor});
  }
  /// Sets elements to zero whose index along a dimension from d on is not marked, or all of them if `zero` is true.
  template <class T>
  static void fill_unmarked_elements(const strided<T, Rank>& to,
                                     const std::array<std::vector<char>, Rank>& is_index_filled, std::size_t d, T* at,
                                     bool zero) {
    for (std::size_t i = 0; i < to.shape[d]; ++i, at += to.strides[d]) {
      const bool now = zero || is_index_filled[d][i] == 0;
      if (d + 1 < Rank) fill_unmarked_elements<T>(to, is_index_filled, d + 1, at, now);
      else if (now) *at = T(0);
    }
  }

  /// The parts of a balanced decomposition within a range of indices.
  static decomposition<Rank> cut_to_range(const decomposition<Rank>& cuts, const shape_type& first,
                                          const shape_type& count) {
    return decomposition<Rank>::make([&](std::size_t d) {
      std::vector<std::size_t> sizes;
      for (std::size_t k = 0; k < cuts.cuts[d].parts(); ++k) {
        const interval own = cuts.cuts[d].part(k);
        const std::size_t start = own.start > first[d] ? own.start : first[d];
        const std::size_t end = first[d] + count[d], stop = own.stop < end ? own.stop : end;
        sizes.push_back(stop > start ? stop - start : 0);
      }
      return cut::at(sizes);
    });
  }
  /// Adds the boxes of the waves in these ranges to a plan.
  void add_boxes_of_wave_ranges(exchange_plan<Rank>& all, const std::array<wave_range, Rank>& waves) const {
    shape_type from{}, to{}, count{};
    for (std::size_t d = 0; d < Rank; ++d)
      from[d] = waves[d].source_start, to[d] = waves[d].destination_start, count[d] = waves[d].count;
    const exchange_plan<Rank> part = plan_repartition(p_x_.grid(), cut_to_range(x_cuts_, from, count), p_y_.grid(),
                                                      cut_to_range(y_cuts_, to, count), all.worker);
    const auto moved = [](box<Rank> where, const shape_type& by) {
      for (std::size_t d = 0; d < Rank; ++d) where.start[d] += by[d], where.stop[d] += by[d];
      return where;
    };
    // The position of a box of the tensor in the block of a worker.
    const auto at = [](const box<Rank>& where, const decomposition<Rank>& cuts, const dynamic_partition<Rank>& p,
                       std::size_t worker) {
      shape_type start = cuts.block(block_index(p, worker)).start;
      for (std::size_t d = 0; d < Rank; ++d) start[d] = where.start[d] - start[d];
      return start;
    };
    const auto there = [&](const box<Rank>& where, const decomposition<Rank>& cuts, const dynamic_partition<Rank>& p,
                           std::size_t worker) {
      return place_in_block<Rank>::of(at(where, cuts, p, worker), cuts.shape(block_index(p, worker)));
    };
    for (const transfer<Rank>& one : part.sends)
      all.sends.push_back({one.worker, moved(one.where, from), at(moved(one.where, from), x_cuts_, p_x_, all.worker),
                           there(moved(one.where, to), y_cuts_, p_y_, one.worker)});
    for (const transfer<Rank>& one : part.receives)
      all.receives.push_back({one.worker, moved(one.where, to), at(moved(one.where, to), y_cuts_, p_y_, all.worker),
                              there(moved(one.where, from), x_cuts_, p_x_, one.worker)});
    for (const kept_box<Rank>& one : part.kept)
      all.kept.push_back({moved(one.where, from), at(moved(one.where, from), x_cuts_, p_x_, all.worker),
                          at(moved(one.where, to), y_cuts_, p_y_, all.worker)});
  }

  const char* name_;                     ///< the call in messages
  dynamic_partition<Rank> p_x_, p_y_;    ///< the partitions of x and of the result
  line_list resized_lines_;              ///< how each dimension is resized
  decomposition<Rank> x_cuts_, y_cuts_;  ///< the balanced decompositions of x and of the result
  std::uint64_t fingerprint_ = 0;        ///< identifies partitions and resized lines; equal on all workers
};

/// A pending result; finish() multiplies some planes of the result by factors.
template <class T, std::size_t Rank>
class pending_spectrum {
 public:
  pending_spectrum(pending<pooled_tensor<T, Rank>> moved, const target<T, Rank>& output,
                   std::shared_ptr<const std::vector<scaled_plane>> scaled_planes)
      : pending_movement_(std::move(moved)), output_(output), scaled_planes_(std::move(scaled_planes)) {}
  /// Keeps an object alive until the exchange is complete.
  void keep(std::shared_ptr<const void> object_to_keep) { pending_movement_.keep(std::move(object_to_keep)); }
  auto finish() {  // waits, multiplies the planes, and returns the result
    auto y = pending_movement_.finish();
    for (const scaled_plane& plane : *scaled_planes_) multiply(output_.is_given ? output_.block : block_of(y), plane);
    return y;
  }

 private:
  static void multiply(strided<T, Rank> plane, const scaled_plane& by) {
    plane.data += static_cast<std::ptrdiff_t>(by.index_in_block) * plane.strides[by.dimension];
    plane.shape[by.dimension] = 1;
    multiply(plane, 0, plane.data, by.factor);
  }
  static void multiply(const strided<T, Rank>& plane, std::size_t d, T* at, double factor) {  // the elements of a plane
    for (std::size_t i = 0; i < plane.shape[d]; ++i, at += plane.strides[d])
      if (d + 1 < Rank) multiply(plane, d + 1, at, factor);
      else *at *= static_cast<typename T::value_type>(factor);
  }

  pending<pooled_tensor<T, Rank>> pending_movement_;                ///< the pending exchange of the boxes
  target<T, Rank> output_;                                          ///< the caller's view, if there is one
  std::shared_ptr<const std::vector<scaled_plane>> scaled_planes_;  ///< the planes of the result to be multiplied
};

/// The movement of a spectrum; boxes may be added in both directions.
template <std::size_t Rank>
class spectrum_movement : public planned_movement<spectrum_planner<Rank>> {
  using base = planned_movement<spectrum_planner<Rank>>;  ///< moves the boxes of a spectrum

 public:
  using base::base;

  template <class T, class Fill>
  pending_spectrum<T, Rank> forward(const strided<const T, Rank>& x, const target<T, Rank>& output,
                                    const char* direction, const local_error& before, Fill fill) {  // starts a call
    return begin<T>(true, x, output, direction, before, fill);
  }
  template <class T, class Fill>
  pending_spectrum<T, Rank> backward(const strided<const T, Rank>& dy, const target<T, Rank>& output,
                                     const char* direction, const local_error& before, Fill fill) {  // the adjoint
    return begin<T>(false, dy, output, direction, before, fill);
  }

 private:
  template <class T, class Fill>
  pending_spectrum<T, Rank> begin(bool forward, const strided<const T, Rank>& x, const target<T, Rank>& output,
                                  const char* direction, const local_error& before, Fill fill) {  // starts a call
    auto moved = this->template begin_call<T>(forward, element_kind::summed<T>(), x, output, direction, before, fill);
    const auto& s = *this->plans_.last_plan();
    return {std::move(moved), output, forward ? s.scaled_planes : s.adjoint_scaled_planes};
  }
};

}  // namespace partita::detail
