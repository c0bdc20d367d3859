// One call of a Fourier transform: the blocks of its fields pass through the layouts; the fields are transformed in
// each layout, and moved to the next layout together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <partita/array/local_transform.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/detail/fourier_engine.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/target.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// A block of this worker: the caller's block, or a block that the call owns and may overwrite.
template <class T, std::size_t Rank>
struct fourier_block {
  strided<const T, Rank> block{};        ///< the elements, in own_tensor or in memory of the caller
  pooled_tensor<T, Rank> own_tensor{};   ///< the memory of the block, if owns_block is true
  pooled_tensor<T, Rank> next_tensor{};  ///< the memory that a pending move fills, if this call allocates it
  bool owns_block = false;               ///< whether the block is in own_tensor

  void set_own_tensor(pooled_tensor<T, Rank> tensor) {  // makes the tensor the memory of this block
    own_tensor = std::move(tensor);
    owns_block = true;
    block = block_of(own_tensor);
  }
  /// Returns the block in memory that may be overwritten; a block of the caller is copied first.
  strided<T, Rank> make_writable() {
    if (!owns_block) {
      auto copied = pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(block.shape));
      copy<T, Rank>(block_of(copied), block);
      set_own_tensor(std::move(copied));
    }
    return block_of(own_tensor);
  }
};

/// The result of a call with N fields: one tensor, or a tuple of tensors.
template <class T, std::size_t Rank, std::size_t N>
auto join_fields(std::array<pooled_tensor<T, Rank>, N> fields) {
  if constexpr (N == 1) return std::move(fields[0]);
  else return std::apply([](auto&... each) { return std::tuple(std::move(each)...); }, fields);
}

/// A call with N blocks of In whose results are blocks of Out: real or complex numbers of one precision.
template <class In, class Out, std::size_t Rank, std::size_t N>
class fourier_run {
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a tensor or a block
  template <class T>
  using tensor = pooled_tensor<T, Rank>;  ///< the memory of one block

 public:
  fourier_run(std::shared_ptr<fourier_engine<Rank>> engine, const fourier_structure<Rank>& s, bool forward,
              const std::array<strided<const In, Rank>, N>& x, const std::array<target<Out, Rank>, N>& outputs)
      : engine_(std::move(engine)),
        route_(s.route),
        layout_moves_(s.moves),
        result_block_shape_(forward ? s.y_shape : s.x_shape),
        forward_(forward),
        outputs_(outputs) {
    for (std::size_t f = 0; f < N; ++f) fields<In>()[f].block = x[f];
    has_result_type_ = std::is_same_v<In, Out>;
  }

  /// Transforms the fields in the first layout and starts the move to the next; returns false if there is no next.
  bool begin() {
    engine_->reset_counted_traffic();
    transform_in_layout();
    return start_move();
  }
  /// Completes the move that begin() started, and all later moves. Results are empty if the caller passed views.
  auto finish() {
    while (pending_move_of_operand_type_ || pending_move_of_result_type_) {
      if (pending_move_of_operand_type_) finish_move<In>(pending_move_of_operand_type_);
      else finish_move<Out>(pending_move_of_result_type_);
      ++finished_layout_count_;
      transform_in_layout();
      start_move();
    }
    std::array<tensor<Out>, N> results;
    for (std::size_t f = 0; f < N && !has_views_to_fill(); ++f) {
      fourier_block<Out, Rank>& result = fields<Out>()[f];
      if (!result.owns_block) result.make_writable();
      results[f] = std::move(result.own_tensor);
    }
    return join_fields(std::move(results));
  }
  /// Lets the move that begin() started remain pending until the next agreement of all workers.
  void keep_call_pending() { current_repartition().keep_call_pending(); }

 private:
  template <class T>
  using field_blocks = std::array<fourier_block<T, Rank>, N>;  ///< this worker's block of each field
  /// The pending move of all fields to the next layout; empty if no move is pending.
  template <class T>
  using pending_move = std::optional<pending<std::conditional_t<N == 1, tensor<T>, std::array<tensor<T>, N>>>>;

  template <class T>
  field_blocks<T>& fields() {  // this worker's blocks with elements T, one for each field
    if constexpr (std::is_same_v<T, In>) return fields_of_operand_type_;
    else return fields_of_result_type_;
  }
  /// The layout in which the call transforms after k moves.
  const fourier_stage<Rank>& stage(std::size_t k) const { return (*route_)[forward_ ? k : route_->size() - 1 - k]; }
  const std::vector<line_transform>& lines(std::size_t k) const {  // the transforms in the layout after k moves
    return forward_ ? stage(k).lines : stage(k).adjoint_lines;
  }
  bool is_last(std::size_t k) const { return k + 1 == route_->size(); }  ///< whether stage(k) is the last layout
  /// Whether the caller has passed views that the results are written to.
  bool has_views_to_fill() const { return outputs_[0].is_given; }
  fields_repartition<Rank>& current_repartition() const {  // the move to the next layout
    return *layout_moves_[forward_ ? finished_layout_count_ : layout_moves_.size() - 1 - finished_layout_count_];
  }

  /// Whether the transforms in layout k change the type of the elements.
  bool changes_element_type(std::size_t k) const {
    if constexpr (std::is_same_v<In, Out>) return false;
    for (const line_transform& line : lines(k))
      if (line.kind != line_kind::complex_to_complex) return true;
    return false;
  }

  void transform_in_layout() {  // transforms all fields in the current layout
    const fourier_stage<Rank>& here = stage(finished_layout_count_);
    if (!here.p.active()) {  // use an empty block, with the element type after the transforms
      const auto cuts =
          decomposition<Rank>::balanced(forward_ ? here.extents_after : here.extents_before, here.p.grid().shape());
      has_result_type_ = has_result_type_ || changes_element_type(finished_layout_count_);
      for (std::size_t f = 0; f < N; ++f) {
        if (has_result_type_) fields<Out>()[f].set_own_tensor(tensor<Out>(make_empty_block<Out>(cuts)));
        else fields<In>()[f].set_own_tensor(tensor<In>(make_empty_block<In>(cuts)));
      }
    } else if (changes_element_type(finished_layout_count_)) {
      if constexpr (!std::is_same_v<In, Out>) {
        for (std::size_t f = 0; f < N; ++f) change_type(f);
        has_result_type_ = true;
      }
    } else if (!lines(finished_layout_count_).empty()) {
      for (std::size_t f = 0; f < N; ++f) {
        if (has_result_type_) transform_in_place(fields<Out>()[f], f);
        else transform_in_place(fields<In>()[f], f);
      }
    } else if (is_last(finished_layout_count_) && has_views_to_fill() && !fills_views_) {
      for (std::size_t f = 0; f < N; ++f) copy<Out, Rank>(outputs_[f].block, fields<Out>()[f].block);
    }
  }
  /// Transforms a block in the current layout without changing the type of its elements.
  template <class T>
  void transform_in_place(fourier_block<T, Rank>& here, std::size_t f) {
    if constexpr (std::is_same_v<T, Out>) {
      if (is_last(finished_layout_count_) && has_views_to_fill()) {
        // If fills_views_ is true, the last move has written the operand of these transforms to the caller's view.
        const strided<Out, Rank>& view = outputs_[f].block;
        return engine_->transforms().run(fills_views_ ? strided<const T, Rank>(view) : here.block, view,
                                         lines(finished_layout_count_));
      }
    }
    if (here.owns_block)
      return engine_->transforms().run(here.block, block_of(here.own_tensor), lines(finished_layout_count_));
    auto result = tensor<T>(typename tensor<T>::shape_type(here.block.shape));
    engine_->transforms().run(here.block, block_of(result), lines(finished_layout_count_));
    here.set_own_tensor(std::move(result));
  }
  /// Transforms a block of In to a block of Out in the current layout.
  void change_type(std::size_t f) {
    const fourier_stage<Rank>& here = stage(finished_layout_count_);
    const shape_type &from = forward_ ? here.extents_before : here.extents_after,
                     &to = forward_ ? here.extents_after : here.extents_before;
    // A transformed dimension that is distributed over several workers has at most one element.
    shape_type shape = fields_of_operand_type_[f].block.shape;
    for (std::size_t d = 0; d < Rank; ++d)
      if (from[d] != to[d] && shape[d] == from[d]) shape[d] = to[d];
    strided<Out, Rank> result = outputs_[f].block;
    if (!is_last(finished_layout_count_) || !has_views_to_fill()) {
      fields_of_result_type_[f].set_own_tensor(tensor<Out>(typename tensor<Out>::shape_type(shape)));
      result = block_of(fields_of_result_type_[f].own_tensor);
    }
    if constexpr (std::is_floating_point_v<Out>)
      engine_->transforms().run(fields_of_operand_type_[f].make_writable(), result, lines(finished_layout_count_));
    else engine_->transforms().run(fields_of_operand_type_[f].block, result, lines(finished_layout_count_));
    fields_of_operand_type_[f] = {};
  }

  bool start_move() {  // moves all fields to the next layout; returns whether there is one
    if (is_last(finished_layout_count_)) return false;
    if (has_result_type_) start_move(fields<Out>(), pending_move_of_type<Out>());
    else start_move(fields<In>(), pending_move_of_type<In>());
    return true;
  }
  template <class T>
  pending_move<T>& pending_move_of_type() {  // the pending move of blocks with elements T
    if constexpr (std::is_same_v<T, In>) return pending_move_of_operand_type_;
    else return pending_move_of_result_type_;
  }
  template <class T>
  void start_move(field_blocks<T>& here, pending_move<T>& later) {
    fields_repartition<Rank>& move = current_repartition();
    std::array<strided<const T, Rank>, N> from;
    std::array<target<T, Rank>, N> to;
    for (std::size_t f = 0; f < N; ++f) from[f] = here[f].block;
    if (!are_whole_elements_apart(from))  // blocks of the caller: own blocks begin at pages
      for (std::size_t f = 0; f < N; ++f) from[f] = here[f].make_writable();
    if (is_last(finished_layout_count_ + 1)) {
      if constexpr (std::is_same_v<T, Out>) {
        fills_views_ = has_views_to_fill() && has_result_type_ && stage(finished_layout_count_ + 1).p.active() &&
                       can_move_to_views();
        if (fills_views_) to = outputs_;
      }
      // Tensors x of different shapes may have results of one shape; the shape of `next_tensor` shows which x it is.
      for (std::size_t f = 0; f < N && fills_own_memory(); ++f) {
        here[f].next_tensor = allocate_for_move<T>(move);
        to[f] = {true, block_of(here[f].next_tensor)};
      }
    }
    later.emplace(move.template start<T, N>(forward_, from, to, forward_ ? "(x)" : ".adjoint(dy)"));
    engine_->add_traffic(move);
  }
  /// Whether one move can write to the caller's views of all fields.
  bool can_move_to_views() const {
    std::array<strided<Out, Rank>, N> views;
    for (std::size_t f = 0; f < N; ++f) views[f] = outputs_[f].block;
    return are_whole_elements_apart(views);
  }
  /// Whether the move to the last layout fills memory that allocate_for_move returns.
  bool fills_own_memory() const {
    return !forward_ && !fills_views_ && is_last(finished_layout_count_ + 1) &&
           stage(finished_layout_count_ + 1).p.active();
  }
  template <class T>
  void finish_move(pending_move<T>& later) {  // completes the move of the fields, which have elements T
    std::array<tensor<T>, N> moved;
    if constexpr (N == 1) moved[0] = later->finish();
    else moved = later->finish();
    later.reset();
    for (std::size_t f = 0; f < N; ++f) {
      fourier_block<T, Rank>& here = fields<T>()[f];
      auto room = std::move(here.next_tensor);
      here = {};
      if (!fills_views_) here.set_own_tensor(fills_own_memory() ? std::move(room) : std::move(moved[f]));
    }
  }
  /// Allocates this worker's block in the first layout, with the extents after the forward transforms in that layout.
  template <class T>
  tensor<T> allocate_for_move(const fields_repartition<Rank>& move) const {
    const fourier_stage<Rank>& first = route_->front();
    shape_type shape = result_block_shape_;
    for (std::size_t d = 0; d < Rank; ++d)
      if (first.extents_before[d] != first.extents_after[d] && shape[d] == first.extents_before[d])
        shape[d] = first.extents_after[d];
    return move.memory() != nullptr ? make_pooled<T, Rank>(*move.memory(), shape)
                                    : tensor<T>(typename tensor<T>::shape_type(shape));
  }

  std::shared_ptr<fourier_engine<Rank>> engine_;         ///< the transform
  std::shared_ptr<const fourier_route<Rank>> route_;     ///< the layouts, in the order of a forward call
  std::vector<fields_repartition<Rank>*> layout_moves_;  ///< the moves between layouts, in the order of a forward call
  shape_type result_block_shape_;                        ///< the shape of this worker's block of the result
  bool forward_;                                         ///< false in an adjoint call
  std::array<target<Out, Rank>, N> outputs_;             ///< the caller's view for each field, if the call passes views
  std::size_t finished_layout_count_ = 0;                ///< the number of layouts that the blocks have left so far
  bool has_result_type_ = false;                         ///< whether the elements have the type of the result
  bool fills_views_ = false;                             ///< whether the last move writes into the caller's views
  field_blocks<In> fields_of_operand_type_;              ///< the blocks before their elements become Out
  field_blocks<Out> fields_of_result_type_;              ///< the blocks afterwards; not used if In is Out
  pending_move<In> pending_move_of_operand_type_;        ///< the pending move, if it moves elements In
  pending_move<Out> pending_move_of_result_type_;        ///< the pending move, if it moves elements Out
};

}  // namespace partita::detail
