// One call of a Fourier transform: the block on its way through the layouts, transformed in each and moved to the next.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <partita/array/local_transform.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/kernel/detail/fourier_engine.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/target.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// A block of this worker: the caller's, or one that the call owns and may overwrite.
template <class T, std::size_t Rank>
struct fourier_block {
  strided<const T, Rank> block{};
  pooled_tensor<T, Rank> own{};
  pooled_tensor<T, Rank> next{};  ///< what a pending move fills
  bool is_own = false;

  void hold(pooled_tensor<T, Rank> tensor) {
    own = std::move(tensor);
    is_own = true;
    block = block_of(own);
  }
  /// The memory of the block, copied first if it is the caller's.
  strided<T, Rank> writable() {
    if (!is_own) {
      auto copied = pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(block.shape));
      copy<T, Rank>(block_of(copied), block);
      hold(std::move(copied));
    }
    return block_of(own);
  }
};

/// A call with blocks of In whose result has blocks of Out: real or complex numbers of one precision.
template <class In, class Out, std::size_t Rank>
class fourier_run {
  using real = real_of<In>;
  using shape_type = std::array<std::size_t, Rank>;
  template <class T>
  using tensor = pooled_tensor<T, Rank>;

 public:
  fourier_run(std::shared_ptr<fourier_engine<Rank>> engine, const fourier_structure<Rank>& s, bool forward,
              const strided<const In, Rank>& x, const target<Out, Rank>& wanted)
      : engine_(std::move(engine)),
        route_(s.route),
        moves_(s.moves),
        result_shape_(forward ? s.block_y : s.block_x),
        forward_(forward),
        wanted_(wanted) {
    at<In>().block = x;
    is_out_ = std::is_same_v<In, Out>;
  }

  /// Transforms in the first layout and starts the move to the next. Returns whether there is one.
  bool begin() {
    engine_->begin_counting();
    transform_here();
    return start_move();
  }
  /// Completes what begin() has started, and the rest. The result is empty if the caller's view was filled.
  tensor<Out> finish() {
    while (pending_in_ || pending_out_) {
      if (pending_in_) arrive<In>(pending_in_);
      else arrive<Out>(pending_out_);
      ++done_;
      transform_here();
      start_move();
    }
    if (wanted_.given) return {};
    block_on_its_way<Out>& result = at<Out>();
    if (!result.is_own) result.writable();
    return std::move(result.own);
  }
  /// Leaves the move that begin() has started pending until the next agreement.
  void leave_under_way() { move_now().leave_under_way(); }

 private:
  template <class T>
  using block_on_its_way = fourier_block<T, Rank>;
  template <class T>
  using pending_move = std::optional<pending<tensor<T>>>;

  template <class T>
  block_on_its_way<T>& at() {
    if constexpr (std::is_same_v<T, In>) return in_;
    else return out_;
  }
  const fourier_stage<Rank>& stage(std::size_t k) const { return (*route_)[forward_ ? k : route_->size() - 1 - k]; }
  const std::vector<line_transform>& lines(std::size_t k) const {
    return forward_ ? stage(k).lines : stage(k).adjoint_lines;
  }
  bool is_last(std::size_t k) const { return k + 1 == route_->size(); }
  repartition_movement<Rank>& move_now() const { return *moves_[forward_ ? done_ : moves_.size() - 1 - done_]; }

  /// Whether the transforms in layout k change the type of the elements.
  bool converts(std::size_t k) const {
    if constexpr (std::is_same_v<In, Out>) return false;
    for (const line_transform& line : lines(k))
      if (line.kind != line_kind::complex_to_complex) return true;
    return false;
  }

  void transform_here() {
    if (!stage(done_).p.active()) {  // no block here: an empty one, of what the elements are after this layout
      is_out_ = is_out_ || converts(done_);
      if (is_out_) at<Out>().hold(tensor<Out>(zero_volume<Out, Rank>()));
      else at<In>().hold(tensor<In>(zero_volume<In, Rank>()));
    } else if (converts(done_)) {
      if constexpr (!std::is_same_v<In, Out>) convert();
    } else if (!lines(done_).empty()) {
      if (is_out_) transform_in_place(at<Out>());
      else transform_in_place(at<In>());
    }
  }
  /// The same type before and after.
  template <class T>
  void transform_in_place(block_on_its_way<T>& here) {
    if constexpr (std::is_same_v<T, Out>) {
      if (is_last(done_) && wanted_.given) {
        // the move before this has filled the caller's view already, if there was one
        return engine_->local().run(filled_ ? strided<const T, Rank>(wanted_.block) : here.block, wanted_.block,
                                    lines(done_));
      }
    }
    if (here.is_own) return engine_->local().run(here.block, block_of(here.own), lines(done_));
    auto result = tensor<T>(typename tensor<T>::shape_type(here.block.shape));
    engine_->local().run(here.block, block_of(result), lines(done_));
    here.hold(std::move(result));
  }
  /// In before, Out after.
  void convert() {
    const fourier_stage<Rank>& here = stage(done_);
    const shape_type &from = forward_ ? here.before : here.after, &to = forward_ ? here.after : here.before;
    shape_type shape = in_.block.shape;  // a dimension that is not whole here has no element, or only one
    for (std::size_t d = 0; d < Rank; ++d)
      if (from[d] != to[d] && shape[d] == from[d]) shape[d] = to[d];
    strided<Out, Rank> result = wanted_.block;
    if (!is_last(done_) || !wanted_.given) {
      out_.hold(tensor<Out>(typename tensor<Out>::shape_type(shape)));
      result = block_of(out_.own);
    }
    if constexpr (std::is_floating_point_v<Out>) engine_->local().run(in_.writable(), result, lines(done_));
    else engine_->local().run(in_.block, result, lines(done_));
    in_ = {};
    is_out_ = true;
  }

  bool start_move() {
    if (is_last(done_)) return false;
    if (is_out_) start_move(at<Out>(), pending_of<Out>());
    else start_move(at<In>(), pending_of<In>());
    return true;
  }
  template <class T>
  pending_move<T>& pending_of() {
    if constexpr (std::is_same_v<T, In>) return pending_in_;
    else return pending_out_;
  }
  template <class T>
  void start_move(block_on_its_way<T>& here, pending_move<T>& later) {
    target<T, Rank> to;
    if (is_last(done_ + 1)) {
      if constexpr (std::is_same_v<T, Out>) {
        filled_ = wanted_.given && is_out_ && stage(done_ + 1).p.active();
        if (filled_) to = wanted_;
      }
      // several x may have results of one shape: the shape of the block says to which of them the adjoint goes
      if (!forward_ && !filled_ && stage(done_ + 1).p.active()) {
        here.next = room_for<T>(move_now());
        to = {true, block_of(here.next)};
      }
    }
    repartition_movement<Rank>& move = move_now();
    if (forward_) later.emplace(move.template forward<T>(here.block, to, "(x)", local_error()));
    else later.emplace(move.template backward<T>(here.block, to, ".adjoint(dy)", local_error()));
    engine_->count(move);
  }
  template <class T>
  void arrive(pending_move<T>& later) {
    auto moved = later->finish();
    later.reset();
    block_on_its_way<T>& here = at<T>();
    const bool into_room = !forward_ && !filled_ && is_last(done_ + 1) && stage(done_ + 1).p.active();
    auto room = std::move(here.next);
    here = {};
    if (!filled_) here.hold(into_room ? std::move(room) : std::move(moved));
  }
  /// Memory for this worker's block in the first layout, after its transforms.
  template <class T>
  tensor<T> room_for(const repartition_movement<Rank>& move) const {
    const fourier_stage<Rank>& first = route_->front();
    shape_type shape = result_shape_;
    for (std::size_t d = 0; d < Rank; ++d)
      if (first.before[d] != first.after[d] && shape[d] == first.before[d]) shape[d] = first.after[d];
    return move.memory() != nullptr ? make_pooled<T, Rank>(*move.memory(), shape)
                                    : tensor<T>(typename tensor<T>::shape_type(shape));
  }

  std::shared_ptr<fourier_engine<Rank>> engine_;
  std::shared_ptr<const fourier_route<Rank>> route_;
  std::vector<repartition_movement<Rank>*> moves_;
  shape_type result_shape_;
  bool forward_;
  target<Out, Rank> wanted_;
  std::size_t done_ = 0;  ///< layouts before the one where the block is
  bool is_out_ = false;   ///< the elements are those of the result
  bool filled_ = false;   ///< the last move writes into the caller's view
  fourier_block<In, Rank> in_;
  fourier_block<Out, Rank> out_;
  pending_move<In> pending_in_;
  pending_move<Out> pending_out_;
};

}  // namespace partita::detail
