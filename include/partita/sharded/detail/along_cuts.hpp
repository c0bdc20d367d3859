// Operations along sharded dimensions without gathering them: each worker receives the window of the operand that its
// block of the result reads, or the sums of the preceding blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/sharded/detail/apply.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The operation reports which index box of its operand an index box of its result reads.
template <class Op>
concept reads_windows =
    requires(const Op& op, const short_list<interval>& box, const shape_list& extents) { op.window(box, extents); };
/// The operation is a cumulative sum along a dimension: the sum of a block is added to the blocks after it.
template <class Op>
concept carries_sums = requires(const Op& op) { op.carries_backwards(); };
/// The operation needs no dimension whole: `Op::along` has a bit for each dimension that it works along.
template <class Op>
concept works_along_cuts = reads_windows<Op> || carries_sums<Op>;

template <class Op>
constexpr bool is_cut_along(const sharding& x) {
  for (std::size_t d = 0; d < x.rank(); ++d)
    if ((Op::along >> d & 1U) != 0 && !x.cuts[d].empty()) return true;
  return false;
}
/// The layout of the result: sharded as the operand is. Pending sums pass through if the operation is linear.
template <class Op>
constexpr sharding layout_along(const sharding& x) {
  sharding y = x;
  y.open = y.kept_whole = y.reduced_over = 0;
  y.priority = 0;
  for (owed_reduction& kind : y.owed)
    if (!Op::is_linear || kind != owed_reduction::sum) kind = owed_reduction::none;
  return y;
}

/// Returns whether a movement is needed, after all workers agreed on it. Throws if a movement is needed while implicit
/// reshards are forbidden.
template <class T>
bool agreed_move(bound_mesh& on, const char* name, box_moves::known_move& move, const sharding& lies,
                 const shape_list& extents) {
  const std::size_t most = move.most();
  if (most == 0) return false;
  if (are_moves_written(lies))
    throw partition_error(text("partita::")
                          << name << ": requires operands that need not be moved, but of extents " << extents
                          << " on the mesh " << lies.on << ", which lies " << lies << ", it brings " << most * sizeof(T)
                          << " bytes to a worker; reshard it before");
  const bool writes_down = step_list<T>::in_use != nullptr;
  if (log_in_use != nullptr || writes_down) {
    std::size_t received = 0;
    const std::size_t me = on.everyone().id();
    for (const box_overlap& o : move.overlaps.taken(me))
      if (o.worker != me) received += volume_in(shape_of_box(o.where)) * sizeof(T);
    const auto note = [=, called = text(name)] { log_movement(called.c_str(), lies, lies, extents, received); };
    if (writes_down) step_list<T>::in_use->add_note(note);
    else note();
    if (writes_down || log_in_use->is_dry) return true;
  }
  on.agree<T>(name, lies, lies, extents, most);
  return true;
}

/// Moves boxes, or records the movement as a step.
template <class T>
void move_boxes(bound_mesh& on, box_moves::known_move& known, const tensor_block<T>& x, const tensor_block<T>& y) {
  const auto made = on.prepared(known);
  if (!made) return;
  if (auto* const steps = step_list<T>::in_use)
    steps->add(
        {x}, y, [made](const T* const* from, T* to) { (*made)(from[0], to); }, true);
  else (*made)(x.data(), y.data());
}
/// Applies the operation's local function to a block, now or as a recorded step.
template <class T, class Op>
void compute_part(const Op& op, const tensor_block<T>& x, const tensor_place& from, const tensor_block<T>& y,
                  const tensor_place& to) {
  const auto compute = [op, from, to, x_shape = x.shape, y_shape = y.shape](const T* const* x_memory, T* y_memory) {
    op.local(tensor_part<const T>{x_memory[0], x_shape, from.box, from.extents},
             tensor_part<T>{y_memory, y_shape, to.box, to.extents});
  };
  const T* const memory[] = {x.data()};
  if (auto* const steps = step_list<T>::in_use) steps->add({x}, y, compute);
  else compute(memory, y.data());
}

template <class T, class Op>
void compute_window(const Op& op, const char* name, bound_mesh& on, const tensor_block<T>& x, const sharding& lies,
                    const shape_list& extents, const tensor_block<T>& y, const tensor_place& to) {
  auto wanted = on.boxes_of(lies, to.extents);
  for (worker_box& one : wanted)
    if (one.there) one.box = op.window(one.box, extents);
  const short_list<interval> mine = wanted[on.everyone().id()].box;
  auto& known = on.known<T>(on.boxes_of(lies, extents), std::move(wanted));
  if (!agreed_move<T>(on, name, known, lies, extents)) {
    if (on.active() && !is_dry_run()) compute_part(op, x, {on.box(lies, extents), extents}, y, to);
    return;
  }
  if (is_dry_run()) return;
  const tensor_block<T> read(shape_of_box(mine), on.memory());
  move_boxes(on, known, x, read);
  if (on.active()) compute_part(op, read, {mine, extents}, y, to);
}

/// A block as [outer, n, inner], where n is the dimension of a cumulative sum; and the number of blocks before (or
/// after) it.
struct carried_sums {
  std::size_t outer = 1, n = 0, inner = 1, blocks = 0;
  bool backwards = false;

  /// The sum of this block along the dimension, for each outer and inner index.
  template <class T>
  void total(const T* y, T* sums) const {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i)
        sums[o * inner + i] = n == 0 ? T(0) : y[(o * n + (backwards ? 0 : n - 1)) * inner + i];
  }
  /// Adds the sums of the other blocks to each element of this block.
  template <class T>
  void add(const T* before, T* y) const {
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i) {
        T sum(0);
        for (std::size_t b = 0; b < blocks; ++b) sum = static_cast<T>(sum + before[(o * blocks + b) * inner + i]);
        for (std::size_t k = 0; k < n; ++k) {
          T& one = y[(o * n + k) * inner + i];
          one = static_cast<T>(one + sum);
        }
      }
  }
};

/// Adds the sums of the blocks before (or after) this one along the dimension to a block that already holds its own
/// cumulative sum.
template <class T, class Op>
void carry_sums(const Op& op, const char* name, bound_mesh& on, const sharding& lies, const tensor_block<T>& y,
                const shape_list& whole) {
  std::size_t along = 0;
  while ((Op::along >> along & 1U) == 0) ++along;
  // 1. The totals of the blocks form a tensor with one index per block along the dimension. Each worker holds its own
  // total, and needs those of the blocks before (or after) it.
  const axis_list axes = lies.cuts[along];
  shape_list extents = whole;
  extents[along] = on.mesh().size(axes);
  auto had = on.boxes_of(lies, whole), wanted = had;
  for (std::size_t k = 0; k < on.where().size(); ++k) {
    std::size_t number = 0;
    for (std::size_t a = 0; a < axes.size(); ++a)
      number = number * on.mesh().size(axes[a]) + coordinate_of(on.mesh(), k, axes[a]);
    const std::size_t worker = on.where().worker(k);
    had[worker].box[along] = {number, number + 1};
    wanted[worker].box[along] =
        op.carries_backwards() ? interval{number + 1, extents[along]} : interval{std::size_t{0}, number};
  }
  const short_list<interval> mine = wanted[on.everyone().id()].box;
  auto& known = on.known<T>(std::move(had), std::move(wanted));
  if (!agreed_move<T>(on, name, known, lies, whole) || is_dry_run()) return;
  // 2. Exchange the totals.
  carried_sums sums{.n = y.shape[along], .blocks = on.active() ? mine[along].size() : 0};
  sums.backwards = op.carries_backwards();
  for (std::size_t d = 0; d < y.shape.size(); ++d) (d < along ? sums.outer : sums.inner) *= d == along ? 1 : y.shape[d];
  const tensor_block<T> total(shape_list{sums.outer, sums.inner}), before(shape_of_box(mine), on.memory());
  auto* const steps = step_list<T>::in_use;
  if (steps != nullptr) steps->add({y}, total, [sums](const T* const* from, T* to) { sums.total(from[0], to); });
  else sums.total(y.data(), total.data());
  move_boxes(on, known, total, before);
  // 3. Add the received totals to the elements of this block.
  if (!on.active()) return;
  if (steps != nullptr) steps->add({before}, y, [sums](const T* const* from, T* to) { sums.add(from[0], to); });
  else sums.add(before.data(), y.data());
}

/// Runs an operation along a sharded dimension. Collective if anything moves.
template <class T, class Op>
sharded_tensor<T> run_along_cuts(const Op& op, const sharded_tensor<T>& x) {
  const auto on = x.state()->on;
  return on->one_call([&] {
    const sharding lies = layout_along<Op>(x.layout());
    const shape_list shapes[] = {x.extents()};
    const shape_span span(shapes, 1);
    const text name(Op::rule(span).name());
    const naming_operation named(name.c_str());
    shape_list extents = x.extents();
    if constexpr (requires { op.result_extents(span); }) extents = op.result_extents(span);
    const std::uint64_t number = noted<T>(number_of_operation(op), name.c_str(), on.get(), extents, *x.state());
    const tensor_block<T> given = resharded(*on, x.state()->block, x.layout(), lies, x.extents());
    tensor_block<T> block(shape_of_box(on->box(lies, extents)));
    const tensor_place to{on->box(lies, extents), extents};
    if constexpr (reads_windows<Op>) {
      compute_window(op, name.c_str(), *on, given, lies, x.extents(), block, to);
    } else {
      if (on->active() && !is_dry_run()) compute_part(op, given, to, block, to);
      carry_sums(op, name.c_str(), *on, lies, block, extents);
    }
    auto made = tensor_of<T>(on, lies, extents, std::move(block), number);
    return recorded<T>(std::move(made), {x}, [&] {
      const auto operand = tensor_of<T>(on, lies, x.extents(), without_elements(given), x.state()->number);
      const auto result = tensor_of<T>(on, lies, extents, shape_alone<T>(shape_of_box(on->box(lies, extents))), number);
      return [op, operand, result](std::size_t i, const sharded_tensor<T>& dy) {
        return sharded_tensor<T>(op.adjoint(i, dy, operand, result));
      };
    });
  });
}

}  // namespace partita::detail
