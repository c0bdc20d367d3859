// Executes operations along sharded dimensions without gathering these dimensions. Each worker receives the window of
// the operand that its block of the result reads or, for a cumulative operation, the totals of the preceding blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/reduction.hpp>
#include <partita/sharded/detail/apply.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Op has a function `window`, which returns the box of its operand that a box of its result reads.
template <class Op>
concept reads_windows =
    requires(const Op& op, const short_list<interval>& box, const shape_list& extents) { op.window(box, extents); };
/// Op is a cumulative operation along a dimension, such as cumsum: each block is combined with the totals of the blocks
/// before it, or after it if the operation runs backwards.
template <class Op>
concept carries_totals = requires(const Op& op) { op.carries_backwards(); };
/// Operation Op can work along sharded dimensions. `Op::along` has a bit for each dimension along which Op works.
template <class Op>
concept works_along_cuts = reads_windows<Op> || carries_totals<Op>;

template <class Op>
constexpr bool is_sharded_along(const sharding& x) {  ///< whether x shards a dimension along which Op works
  for (std::size_t d = 0; d < x.rank(); ++d)
    if ((Op::along >> d & 1U) != 0 && !x.cuts[d].empty()) return true;
  return false;
}
/// The layout of the result of Op, which is sharded as the operand is. If Op is linear, pending sums of the operand
/// stay pending in the result; all other pending reductions are executed before Op.
template <class Op>
constexpr sharding layout_along_cuts(const sharding& x) {
  sharding y = x;
  y.open = y.must_replicate = y.reduced_over = 0;
  y.priority = 0;
  for (pending_reduction& kind : y.pending)
    if (!Op::is_linear || kind != pending_reduction::sum) kind = pending_reduction::none;
  return y;
}

/// Executes a planned movement along sharded dimensions if it moves elements: announces the movement, then calls
/// `move()`. Throws a partition_error if elements would move where implicit reshards are forbidden.
template <class T, class Move>
void move_along_cuts(bound_mesh& on, const char* name, const planned_exchange& exchange, const sharding& layout,
                     const shape_list& extents, Move move) {
  const std::size_t most = exchange.max_received_elements();
  if (most == 0) return;
  if (is_move_forbidden(layout))
    throw partition_error(text("partita::")
                          << name << ": requires operands that need not be moved, but of extents " << extents
                          << " on the mesh " << layout.on << ", which has layout " << layout << ", it brings "
                          << most * sizeof(T) << " bytes to a worker; reshard it before");
  on.one_call([&] {
    const announced_movement<T> one(on, name, layout, layout, extents, exchange.counts().bytes, most * sizeof(T), most);
    move();
    one.log_received_bytes();
  });
}

/// The part of an operand that this worker reads: a window, or its own block if no worker reads more than its block.
template <class T>
struct block_window {
  short_list<interval> box{};  ///< the indices of the part in the tensor
  tensor_block<T> block{};     ///< the elements of the part
};
/// Moves to each worker the elements of the operand x in its target box, if some worker needs elements of others.
template <class T>
block_window<T> fetch_window(bound_mesh& on, const char* name, const tensor_block<T>& x, const sharding& layout,
                             const shape_list& extents, const std::vector<worker_box>& target_boxes) {
  const auto exchange = on.plan_exchange<T>(on.boxes_of(layout, extents), target_boxes);
  block_window<T> read{on.box(layout, extents), x};
  move_along_cuts<T>(on, name, *exchange, layout, extents, [&] {
    if (on.active()) read.box = target_boxes[on.worker()].box;
    read.block = new_block<T>(shape_of_box(read.box), on.memory());
    move_boxes(on, exchange, x, read.block);
  });
  return read;
}

/// The reduction by which an operation combines the totals of blocks: a sum, or the reduction `Op::carried`. A
/// reduction with a member `tuple_size` combines tuples of that many elements; element c of a tuple is in the c-th of
/// `tuple_size` equal parts of a block's memory.
template <class Op>
struct carry_reduction {
  using type = sum_t;  ///< a sum, unless Op declares another reduction
};
template <class Op>
  requires requires { typename Op::carried; }  ///< the reduction that Op declares
struct carry_reduction<Op> {
  using type = typename Op::carried;
};
template <class R>
constexpr std::size_t carried_number_count() {  ///< the count of numbers that R combines at a time
  if constexpr (requires { R::tuple_size; }) return R::tuple_size;
  else return 1;
}
template <class R, class T>
using carried_numbers = std::array<T, carried_number_count<R>()>;  ///< one number, or one tuple, of elements of T

template <class R, class T>
constexpr carried_numbers<R, T> carried_identity() {  ///< the neutral element of R
  if constexpr (requires { R::tuple_size; }) return R::template identity<T>();
  else return {reduction_identity<R, T>()};
}
/// Combines by R the total of the positions before a position (`before`) and the numbers at it (`here`), in this order.
template <class R, class T>
constexpr carried_numbers<R, T> combine_carried_numbers(const carried_numbers<R, T>& before,
                                                        const carried_numbers<R, T>& here) {
  if constexpr (requires { R::tuple_size; }) return R()(before, here);
  else return {combine_two_elements<R>(before[0], here[0])};
}

/// A block's extents merged to [outer, middle, inner]: `middle` is the product of the extents of the chosen dimensions,
/// `outer` that of the dimensions before them, and `inner` that of the dimensions after them.
struct dimension_loops {
  std::size_t outer = 1, middle = 1, inner = 1;  ///< products of extents: before, of and after the chosen dimensions
  dimension_loops(const shape_list& shape, std::size_t first, std::size_t dimensions = 1) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      (d < first ? outer : d < first + dimensions ? middle : inner) *= shape[d];
  }
};

/// A block as [tuple_size, outer, n, inner], where the elements of a tuple are along the first dimension. Along each
/// line (the dimension of extent n) a running total is carried, from position to position and from worker to worker.
struct carried_lines {
  std::size_t outer = 1, n = 0, inner = 1;  ///< a line of n elements for each of outer x inner places
  bool is_reversed = false;                 ///< whether positions in a line are counted from its end

  carried_lines(const shape_list& shape, std::size_t dimension, std::size_t tuple_size, bool reversed)
      : is_reversed(reversed) {  ///< the lines of a block of this shape along `dimension`
    const dimension_loops all(shape, dimension);
    outer = all.outer / tuple_size, n = all.middle, inner = all.inner;
  }
  /// The tuple of numbers at position k of line (o, i).
  template <class R, class T>
  carried_numbers<R, T> load(const T* x, std::size_t o, std::size_t k, std::size_t i) const {
    carried_numbers<R, T> tuple{};
    for (std::size_t c = 0; c < tuple.size(); ++c) tuple[c] = x[offset_of(c, o, k, i)];
    return tuple;
  }
  /// Sets the tuple of numbers at position k of line (o, i).
  template <class R, class T>
  void store(T* y, std::size_t o, std::size_t k, std::size_t i, const carried_numbers<R, T>& tuple) const {
    for (std::size_t c = 0; c < tuple.size(); ++c) y[offset_of(c, o, k, i)] = tuple[c];
  }
  template <class F>
  void for_each_line(F f) const {  ///< calls f(o, i) for each line
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i) f(o, i);
  }
  /// Sets each element of y to the combination of the elements of x in its line up to and including its position.
  template <class R, class T>
  void scan_lines(const T* x, T* y) const {
    for_each_line([&](std::size_t o, std::size_t i) {
      auto running_total = carried_identity<R, T>();
      for (std::size_t k = 0; k < n; ++k) {
        running_total = combine_carried_numbers<R, T>(running_total, load<R>(x, o, k, i));
        store<R, T>(y, o, k, i, running_total);
      }
    });
  }
  /// Copies the total of each line of y, which scan_lines() has set: the last element of the line, or the neutral
  /// element if the line is empty.
  template <class R, class T>
  void copy_line_totals(const T* y, T* totals) const {
    const carried_lines one = resized_lines(1);
    for_each_line([&](std::size_t o, std::size_t i) {
      one.store<R, T>(totals, o, 0, i, n == 0 ? carried_identity<R, T>() : load<R>(y, o, n - 1, i));
    });
  }
  /// Combines the totals of the `blocks` blocks before (or after) this block with each element of this block.
  template <class R, class T>
  void add_totals(const T* totals, std::size_t blocks, T* y) const {
    const carried_lines before = resized_lines(blocks);
    for_each_line([&](std::size_t o, std::size_t i) {
      auto running_total = carried_identity<R, T>();
      for (std::size_t b = 0; b < blocks; ++b)
        running_total = combine_carried_numbers<R, T>(running_total, before.load<R>(totals, o, b, i));
      for (std::size_t k = 0; k < n; ++k)
        store<R, T>(y, o, k, i, combine_carried_numbers<R, T>(running_total, load<R>(y, o, k, i)));
    });
  }

 private:
  std::size_t offset_of(std::size_t c, std::size_t o, std::size_t k, std::size_t i) const {  ///< of number c of a tuple
    return ((c * outer + o) * n + (is_reversed ? n - 1 - k : k)) * inner + i;
  }
  carried_lines resized_lines(std::size_t extent) const {  ///< these lines, with n = `extent`
    carried_lines resized = *this;
    resized.n = extent;
    return resized;
  }
};

/// Combines the totals of the blocks before (or, if `is_reversed`, after) this worker's block y along a dimension with
/// each element of y. y already holds the cumulative sums (or other combinations by R) of this block alone.
template <class R, class T>
void carry_totals(std::size_t dimension, bool is_reversed, const char* name, bound_mesh& on, const sharding& layout,
                  const tensor_block<T>& y, const shape_list& y_extents) {
  // 1. Plan the movement of the totals, a tensor that has one index per block along the dimension. Each worker holds
  // the totals of its block, and needs those of the blocks before (or after) it.
  const axis_list axes = layout.cuts[dimension];
  shape_list extents = y_extents;
  extents[dimension] = on.mesh().size(axes);
  auto source_boxes = on.boxes_of(layout, y_extents), target_boxes = source_boxes;
  for (std::size_t k = 0; k < on.where().size(); ++k) {
    const std::size_t number = part_number(on.mesh(), axes, k);
    const std::size_t worker = on.where().worker(k);
    source_boxes[worker].box[dimension] = {number, number + 1};
    target_boxes[worker].box[dimension] =
        is_reversed ? interval{number + 1, extents[dimension]} : interval{std::size_t{0}, number};
  }
  const short_list<interval> mine = target_boxes[on.worker()].box;
  const auto exchange = on.plan_exchange<T>(source_boxes, target_boxes);
  const carried_lines lines(y.shape, dimension, carried_number_count<R>(), is_reversed);
  const std::size_t blocks = on.active() ? mine[dimension].size() : 0;
  // 2. Exchange the totals.
  tensor_block<T> before;
  move_along_cuts<T>(on, name, *exchange, layout, y_extents, [&] {
    const auto totals = new_block<T>(shape_list{carried_number_count<R>(), lines.outer, lines.inner});
    before = new_block<T>(shape_of_box(mine), on.memory());
    run_step({y}, totals, [lines](const T* const* from, T* to) { lines.copy_line_totals<R>(from[0], to); });
    move_boxes(on, exchange, totals, before);
  });
  // 3. Combine the totals of other workers with the elements of this worker's block.
  if (before.memory && on.active() && blocks > 0)
    run_step({before}, y, [lines, blocks](const T* const* from, T* to) { lines.add_totals<R>(from[0], blocks, to); });
}

/// An operation along sharded dimensions as function pointers, so that the code that calls them is compiled only once
/// for each element type. Exactly one of the pointers `window` and `carry` is not null.
template <class T>
struct operation_along_cuts {
  const void* operation = nullptr;  ///< the operation, the first argument of `window`
  /// Returns the box of the operand that `box` of the result reads; `extents` are those of the operand.
  short_list<interval> (*window)(const void*, const short_list<interval>& box, const shape_list& extents) = nullptr;
  decltype(&carry_totals<sum_t, T>) carry = nullptr;  ///< null, or carry_totals for a reduction
  std::size_t dimension = 0;                          ///< of `carry`: the dimension along which totals are combined
  bool is_reversed = false;  ///< of `carry`: whether totals of the blocks after a block are added, not before
};

/// Executes an operation along sharded dimensions in the layout `layout`. Collective if elements move.
template <class T>
sharded_tensor<T> run_along_cuts(const operation_along_cuts<T>& how, const applied_operation& work,
                                 const std::vector<sharded_tensor<T>>& operands, const sharding& layout) {
  const auto& x = operands[0];
  const auto on = x.state()->on;
  return on->one_call([&] {
    const char* const name = work.how.name();
    const scoped_name named(name);
    const shape_list extents = result_shape(work.how, 0);
    const std::uint64_t number = record_operation<T>(operation_fingerprint(work), name, on.get(), extents, *x.state());
    const tensor_block<T> given = resharded(*on, x.state()->block, x.layout(), layout, x.extents());
    const box_in_tensor result_box{on->box(layout, extents), extents};
    block_window<T> read{on->box(layout, x.extents()), given};
    if (how.window != nullptr) {
      auto target_boxes = on->boxes_of(layout, extents);
      for (worker_box& one : target_boxes)
        if (one.has_box) one.box = how.window(how.operation, one.box, x.extents());
      read = fetch_window(*on, name, given, layout, x.extents(), target_boxes);
    }
    const auto block = on->active() ? local_result<T>(work, {read.block}, {{read.box, x.extents()}}, result_box)
                                    : new_block<T>(shape_of_box(result_box.box));
    if (how.carry != nullptr) how.carry(how.dimension, how.is_reversed, name, *on, layout, block, extents);
    const auto y = tensor_of<T>(on, layout, extents, block, number);
    return x.state()->node == nullptr ? y : record_result(work, operands, {layout}, {given}, y);
  });
}
/// Executes an operation along sharded dimensions, in the operand's layout or, in a program, in `fixed_layout`.
template <class T, class Op>
sharded_tensor<T> run_along_cuts(const Op& op, const sharded_tensor<T>& x, const sharding* fixed_layout = nullptr) {
  const std::vector<sharded_tensor<T>> operands{x};
  operation_along_cuts<T> how;
  if constexpr (reads_windows<Op>) {
    how.operation = &op;
    how.window = [](const void* operation, const short_list<interval>& box, const shape_list& extents) {
      return static_cast<const Op*>(operation)->window(box, extents);
    };
  } else {
    how.carry = &carry_totals<typename carry_reduction<Op>::type, T>;
    how.is_reversed = op.carries_backwards();
    while ((Op::along >> how.dimension & 1U) == 0) ++how.dimension;
  }
  return run_along_cuts(how, bind_operation<1>(op, operands), operands,
                        layout_along_cuts<Op>(fixed_layout != nullptr ? *fixed_layout : x.layout()));
}

}  // namespace partita::detail
