// Takes rows of sharded tensors, and adds updates to rows, at indices that are used many times: the index exchange is
// planned once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/rule/sharding/moved_bytes.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sharded.hpp>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// The layout of rank `rank` whose first dimensions are sharded as those of the layout `first`. If `first` has a
/// smaller rank, the other dimensions are not sharded.
constexpr sharding layout_of_rank(const sharding& first, std::size_t rank) {
  sharding s(first.on, rank);
  for (std::size_t d = 0; d < first.rank() && d < rank; ++d) s.cuts[d] = first.cuts[d];
  return s;
}
/// The name of the layout that has the rank of the layout OfX, dimension 0 sharded as in the layout OfRows, and no
/// other sharded dimension.
template <auto OfX, auto OfRows>
inline constexpr auto row_layout_name =
    name_of_layout<layout_of_rank(layout_of_rank(layout_of_name<OfRows>, 1), layout_of_name<OfX>.rank())>;

/// What one worker stores about bound indices. A row of a tensor is its elements at one position along the first
/// dimensions (one or more); an index is the number of a row. Workers whose mesh coordinates differ only along axes
/// that shard the first dimensions exchange rows with each other; workers whose coordinates differ only along other
/// axes hold the same rows.
struct index_binding {
  std::shared_ptr<bound_mesh> on;     ///< the mesh of tensors and indices; null for plain arrays
  sharding row_layout, index_layout;  ///< the layouts of the first dimensions of a tensor of rows, and of the indices
  shape_list extents, index_extents;  ///< the first extents of a tensor of rows, and the extents of the indices
  bool adds_updates = true;  ///< false: another worker that holds the same indices adds their updates to the rows
  std::unique_ptr<index_exchange> exchange{};  ///< sends rows to the workers that hold their indices; null for arrays
  std::vector<std::size_t> row_numbers{};      ///< for tensors without a mesh, the numbers of the rows to take

  /// A view of the block of a tensor of these extents as a matrix: the positions along the first `first` dimensions are
  /// the rows of the matrix, and the positions along the other dimensions are its columns.
  template <class T>
  static auto as_matrix(const tensor_block<T>& block, const shape_list& extents, std::size_t first = 1) {
    std::size_t rows = 1, width = 1;
    for (std::size_t d = 0; d < extents.size(); ++d)
      (d < first ? rows : width) *= d < first ? block.shape[d] : extents[d];
    return xt::adapt(block.data(), rows * width, xt::no_ownership(), std::array{rows, width});
  }
};
using shared_binding = std::shared_ptr<const index_binding>;  ///< copies of bound_indices and the tape share it

/// A tensor has one copy for each combination of coordinates along the mesh axes that do not shard the tensor. Returns
/// the number of the copy of which this worker holds a block; 0 if it is not on the mesh.
inline std::size_t replica_number(const bound_mesh& on, const sharding& split) {
  std::size_t group = 0;
  for (std::size_t a = 0; a < on.mesh().rank() && on.active(); ++a)
    if (!has_bit(split.cut_axes(), a)) group = group * on.mesh().size(a) + coordinate_of(on.mesh(), on.place(), a);
  return group;
}

/// Throws an error in a dry run, and while a program is being bound.
inline void require_immediate_execution(const char* call) {
  if (run_state.is_dry_run || run_state.steps != nullptr)
    throw error((text("partita::") << call
                                   << ": requires a call that is carried out at once; traced programs, bound "
                                      "programs and dry runs use take and scatter_add without bound indices")
                    .c_str());
}

/// Throws an error unless x is on the mesh of the indices, the first extents of x equal `rows`, and this is neither a
/// dry run nor a program being bound.
template <class T>
void require_rows(const index_binding& b, const sharded_tensor<T>& x, const shape_list& rows, const char* call) {
  static_assert(summable_element<T>,
                "partita::bound_indices: requires tensors of elements that can be summed; bool cannot, cast them");
  require_immediate_execution(call);
  if (x.state()->on != b.on)
    throw partition_error(text("partita::") << call
                                            << ": requires a tensor on the mesh of the indices; make both from the "
                                               "same mesh");
  bool fits = x.rank() >= rows.size();
  for (std::size_t d = 0; d < rows.size() && fits; ++d) fits = x.extents()[d] == rows[d];
  if (!fits)
    throw shape_error(text("partita::") << call << ": requires a tensor whose first extents are " << rows
                                        << ", got extents " << x.extents());
}

/// Reshards x so that its first dimensions are sharded as in `rows`, and no other dimension is sharded. Throws an error
/// if elements would have to move and implicit reshards are forbidden (in a backward pass they are not).
template <class T>
sharded_tensor<T> reshard_rows(const sharded_tensor<T>& x, const sharding& rows, const char* call) {
  const sharding wanted = layout_of_rank(rows, x.rank());
  if (is_move_forbidden(x.layout()) && moved_bytes(x.layout(), wanted, x.extents(), sizeof(T)) > 0)
    throw partition_error(text("partita::") << call << ": requires operands that need not be moved, but one of extents "
                                            << x.extents() << " has layout " << x.layout() << " and must have layout "
                                            << wanted << "; reshard it before");
  return reshard(x, wanted);
}

/// Counts an index exchange, and the messages and bytes that this worker received in it; logs the bytes if movements
/// are logged. In the adjoint direction a worker receives as many bytes as it sends in the forward direction.
template <class T>
void log_exchange(const index_binding& b, const char* call, bool forward, const sharding& from, const sharding& to,
                  const shape_list& extents, std::size_t width) {
  const auto plan = b.exchange->plan(width);
  const std::size_t bytes = (forward ? plan.elements_received() : plan.elements_sent()) * sizeof(T);
  run_state.movement_totals.exchanges += 1;
  run_state.movement_totals.bytes += bytes;
  run_state.movement_totals.messages += forward ? plan.receives.size() : plan.sends.size();
  if (run_state.log != nullptr)
    run_state.log->push_back({text(call), run_state.is_backward, from, to, extents, bytes, 0, is_complex<T>});
}

/// Replaces the extents of the first `first` dimensions by the list `leading`.
inline shape_list replace_leading_extents(const shape_list& extents, std::size_t first, const shape_list& leading) {
  shape_list all = leading;
  for (std::size_t d = first; d < extents.size(); ++d) all.push_back(extents[d]);
  return all;
}

/// Returns the rows of `input` at the indices (forward), or, for each row number, the sum of the rows of `input` that
/// have this number as index.
template <class T>
sharded_tensor<T> exchange_rows(const shared_binding& b, const sharded_tensor<T>& input, bool forward,
                                const char* call) {
  const shape_list &operand_leading = forward ? b->extents : b->index_extents,
                   &result_leading = forward ? b->index_extents : b->extents;
  require_rows(*b, input, operand_leading, call);
  const shape_list extents = replace_leading_extents(input.extents(), operand_leading.size(), result_leading);
  const auto record = [&](const sharded_tensor<T>& x, const sharding& layout, tensor_block<T> y, std::uint64_t number) {
    return record_on_tape<T>(tensor_of<T>(b->on, layout, extents, std::move(y), number), {x}, [&] {
      return
          [b, forward, call](std::size_t, const sharded_tensor<T>& dy) { return exchange_rows(b, dy, !forward, call); };
    });
  };
  if (!b->on) {
    tensor_block<T> y = zero_block<T>(extents);
    const auto from = index_binding::as_matrix(input.state()->block, input.extents(), operand_leading.size());
    auto to = index_binding::as_matrix(y, extents, result_leading.size());
    for (std::size_t k = 0; k < b->row_numbers.size(); ++k)
      for (std::size_t c = 0; c < to.shape(1); ++c)
        if (forward) to(k, c) = from(b->row_numbers[k], c);
        else to(b->row_numbers[k], c) += from(k, c);
    return record(input, sharding(mesh(), extents.size()), std::move(y), 0);
  }
  const sharded_tensor<T> x = reshard_rows(input, forward ? b->row_layout : b->index_layout, call);
  sharding layout = layout_of_rank(forward ? b->index_layout : b->row_layout, extents.size());
  tensor_block<T> y(shape_of_box(b->on->box(layout, extents)), b->on->memory());
  for (std::size_t a = 0; a < b->on->mesh().rank() && !forward; ++a)  // a worker sums over its own indices only
    if (has_bit(b->index_layout.cut_axes(), a) && !has_bit(b->row_layout.cut_axes(), a)) layout = layout.partial(a);
  const std::uint64_t number = record_operation<T>(hasher(fingerprint_of(layout)).mix(result_leading).value(), call,
                                                   b->on.get(), extents, *x.state());
  const auto block = forward || b->adds_updates ? x.state()->block : zero_block<T>(x.state()->block.shape);
  const auto from = index_binding::as_matrix(block, x.extents(), operand_leading.size());
  auto filled = index_binding::as_matrix(y, extents, result_leading.size());
  if (forward) b->exchange->into(from, filled);
  else b->exchange->adjoint_into(from, filled);
  log_exchange<T>(*b, forward ? "take" : "scatter_add", forward, x.layout(), layout, extents, filled.shape(1));
  return record(x, layout, std::move(y), number);
}
template <class T>
sharded_tensor<T> take_rows(const shared_binding& b, const sharded_tensor<T>& x,
                            const char* call = "bound_indices::take(x)") {  ///< the rows of x at the indices
  return exchange_rows(b, x, true, call);
}
/// Returns, for each row, the sum of the updates whose index is the number of this row. add_rows is the adjoint of
/// take_rows.
template <class T>
sharded_tensor<T> add_rows(const shared_binding& b, const sharded_tensor<T>& updates) {
  return exchange_rows(b, updates, false, "bound_indices::scatter_add(x, updates)");
}

/// The offsets, in the C order of a tensor of these extents, of the elements of a box. If `zeroed_dimension` is not
/// `dynamic`, each offset is computed with index 0 along this dimension.
inline std::vector<std::size_t> row_offsets(const short_list<interval>& box, const shape_list& extents,
                                            std::size_t zeroed_dimension = dynamic) {
  std::vector<std::size_t> all{0};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    std::vector<std::size_t> next;
    next.reserve(all.size() * box[d].size());
    for (const std::size_t place : all)
      for (std::size_t i = box[d].start; i < box[d].stop; ++i)
        next.push_back(place * extents[d] + (d == zeroed_dimension ? 0 : i));
    all = std::move(next);
  }
  return all;
}

/// The offsets of the elements of a box in the C order of a tensor of these extents, plus `first`: an interval if the
/// offsets are consecutive, otherwise a list.
inline index_list box_indices(const short_list<interval>& box, const shape_list& extents, std::size_t first) {
  std::size_t d = 0, start = 0;
  while (d < extents.size() && box[d].size() == 1) ++d;
  bool is_range = true;
  for (++d; d < extents.size(); ++d) is_range = is_range && box[d].size() == extents[d];
  if (!is_range) {
    std::vector<std::size_t> all = row_offsets(box, extents);
    for (std::size_t& place : all) place += first;
    return all;
  }
  for (std::size_t k = 0; k < extents.size(); ++k) start = start * extents[k] + box[k].start;
  return interval{first + start, first + start + shape_size(shape_of_box(box))};
}

/// Plans the exchange of bound indices. `find(message)` returns, for each index in this worker's block, the number of
/// the row in the C order of the extents `b.extents`; if an index is not valid, it sets the error `message`.
/// `parameter` must be equal on all workers. Collective.
template <class Find>
shared_binding plan_binding(index_binding b, const char* call, const Find& find, std::size_t parameter = 0) {
  local_error message;
  if (!b.on) {
    b.row_numbers = find(message);
    if (message.any()) throw shape_error(message.sentence.c_str());
    return std::make_shared<const index_binding>(std::move(b));
  }
  const bound_mesh& on = *b.on;
  return on.one_call([&] {
    for (std::size_t a = 0; a < on.mesh().rank() && on.active(); ++a)
      if (has_bit(b.row_layout.cut_axes(), a) && !has_bit(b.index_layout.cut_axes(), a) &&
          coordinate_of(on.mesh(), on.place(), a) != 0)
        b.adds_updates = false;
    std::vector<std::size_t> wanted = on.active() ? find(message) : std::vector<std::size_t>();
    hasher number(0x62696e64U);
    number.mix(fingerprint_of(b.row_layout)).mix(fingerprint_of(b.index_layout)).mix(b.extents).mix(b.index_extents);
    number.mix(call).mix(parameter);
    agree_on_call(*on.everyone().state(), number.value(), message,
                  [&] { return text(call) << " of extents " << b.extents << " and " << b.index_extents; });
    const std::size_t first = replica_number(on, b.row_layout) * shape_size(b.extents);
    for (std::size_t& place : wanted) place += first;
    const index_list owned = on.active() ? box_indices(on.box(b.row_layout, b.extents), b.extents, first) : interval{};
    b.exchange = std::make_unique<index_exchange>(on.everyone(), owned, std::move(wanted));
    return std::make_shared<const index_binding>(std::move(b));
  });
}

/// Sets the error message, unless one is set already, for an index that is not below `extent`, the extent of dimension
/// `dimension`. The index is element `element` of this worker's block of indices.
inline void set_index_error(local_error& message, const char* call, std::size_t dimension, std::size_t extent,
                            std::size_t element) {
  if (!message.any())
    message = local_error(text(call) << ": requires indices below the extent of dimension " << dimension << " of x, "
                                     << extent << "; a worker has another one, element " << element
                                     << " of its block; an index is a whole number from 0");
}
/// Makes a tensor of rank 1 whose blocks hold the elements that an index exchange delivers.
template <class Numbers>
auto tensor_from_exchange(const index_exchange& exchange, const Numbers& local_elements,
                          const std::shared_ptr<bound_mesh>& on, const char* call, const sharding& layout,
                          const shape_list& extents) {
  using T = typename Numbers::value_type;
  tensor_block<T> block(shape_of_box(on->box(layout, extents)), on->memory());
  auto filled = index_binding::as_matrix(block, extents);
  exchange.into(xt::adapt(local_elements.data(), local_elements.size(), xt::no_ownership(),
                          std::array{local_elements.size(), std::size_t{1}}),
                filled);
  const std::uint64_t number = record_tensor<T>(on, call, layout, extents);
  return tensor_of<T>(on, layout, extents, std::move(block), number);
}
template <class T>
sharded_tensor<T> reduce_if_partial(const sharded_tensor<T>& x, const char* call) {  ///< x, reduced if it is partial
  return x.layout().is_partial() ? reshard_rows(x, x.layout(), call) : x;
}

/// Binds the indices to the rows of x, the positions along its dimension 0; see bind_indices.
template <class T, class I>
shared_binding bind_to_rows(const sharded_tensor<T>& x, const sharded_tensor<I>& given) {
  constexpr const char* call = "partita::bind_indices(x, indices)";
  const auto on = x.state()->on;
  if (!on || given.state()->on != on)
    throw partition_error(text(call) << ": requires x and indices on one mesh; shard both on the same one");
  if (x.rank() == 0 || given.rank() != 1)
    throw shape_error(text(call) << ": requires x of rank 1 or more and indices of rank 1, got extents " << x.extents()
                                 << " and " << given.extents());
  const sharded_tensor<I> indices = reduce_if_partial(given, "bind_indices(x, indices)");
  const std::size_t extent = x.extents()[0];
  return plan_binding({on, layout_of_rank(x.layout(), 1), layout_of(indices.layout()), {extent}, indices.extents()},
                      call, [&](local_error& message) {
                        std::vector<std::size_t> wanted;
                        for (std::size_t k = 0; k < indices.size(); ++k) {
                          wanted.push_back(index_of_element(indices.data()[k], extent));
                          if (wanted.back() >= extent) set_index_error(message, call, 0, extent, k);
                        }
                        return wanted;
                      });
}

}  // namespace detail

/// Takes rows of sharded tensors at fixed indices, and adds updates to these rows: `const auto rows = bind_indices(x,
/// indices); auto y = rows.take(x); x = rows.scatter_add(x, updates);`. `Layout` is the name of the layout of the
/// indices, or empty if their layout is known only at run time.
/// Shapes: each index is a position along dimension 0 of x. The result of `take` and the updates have the extents of x,
/// except that extent 0 is the number of indices. Dimension 0 of the result of `take` is sharded as the indices are.
/// Requires: x and updates on the mesh of the indices [partition_error]; the extent of dimension 0 of x equals that of
/// the tensor given to bind_indices, and updates have one row for each index [shape_error]; no call in a dry run, or
/// while a program is being bound [error].
/// Cost: `take` first reshards x to the sharding of dimension 0 at binding, `scatter_add` the updates to that of the
/// indices, other dimensions whole; a row is then sent at most once to each other worker that needs it. scatter_add
/// also reduces the summed updates over the mesh axes that shard the indices but not dimension 0 of x.
/// Adjoint: for `take`, each row of dy is added to the row of dx at its index. For `scatter_add`, the gradient with
/// respect to x is dy, and the gradient with respect to the updates is the rows of dy at the indices.
template <auto... Layout>
class bound_indices {
 public:
  explicit bound_indices(detail::shared_binding binding) : binding_(std::move(binding)) {}  ///< made by bind_indices

  /// Returns the rows of x at the bound indices.
  template <class T>
  sharded_tensor<T> take(const sharded_tensor<T>& x) const {
    return detail::take_rows(binding_, x);
  }
  template <class T, auto LayoutOfX>
  auto take(const typed_sharded<T, LayoutOfX>& x) const {
    static_assert(sizeof...(Layout) == 1,
                  "partita::bound_indices::take(x): requires indices with a layout in their type for a tensor with a "
                  "layout in its type; x.run_time_tensor() has none");
    if constexpr (sizeof...(Layout) == 1)
      return typed_sharded<T, detail::row_layout_name<LayoutOfX, Layout...>>(take(x.run_time_tensor()));
    else return detail::rejected_call{};
  }
  template <class X>
  auto take(const X&) const {  ///< fallback: a compile-time error
    static_assert(detail::dependent_false<X>,
                  "partita::bound_indices::take(x): requires a sharded tensor; values of a traced program use take(x, "
                  "indices, dimensions<0>)");
    return detail::rejected_call{};
  }
  /// Returns x with row k of the updates added to the row of x at index k of the bound indices, for all k.
  template <class T>
  sharded_tensor<T> scatter_add(const sharded_tensor<T>& x, const sharded_tensor<T>& updates) const {
    detail::require_rows(*binding_, x, binding_->extents, "bound_indices::scatter_add(x, updates)");
    return add(x, detail::add_rows(binding_, updates));
  }
  template <class T, auto LayoutOfX, auto LayoutOfUpdates>
  auto scatter_add(const typed_sharded<T, LayoutOfX>& x, const typed_sharded<T, LayoutOfUpdates>& updates) const {
    return reshard<layout_of_name<LayoutOfX>>(scatter_add(x.run_time_tensor(), updates.run_time_tensor()));
  }
  template <class X, class Updates>
  auto scatter_add(const X&, const Updates&) const {  ///< fallback: a compile-time error
    return reject_updates<X>();
  }
  /// Returns x with the rows at the indices replaced by the updates; updates with equal indices are summed. Cost: two
  /// index exchanges, where scatter_add makes one.
  template <class T>
  sharded_tensor<T> scatter(const sharded_tensor<T>& x, const sharded_tensor<T>& updates) const {
    detail::require_rows(*binding_, x, binding_->extents, "bound_indices::scatter(x, updates)");
    return where(detail::add_rows(binding_, detail::ones_like(updates)), detail::add_rows(binding_, updates), x);
  }
  template <class T, auto LayoutOfX, auto LayoutOfUpdates>
  auto scatter(const typed_sharded<T, LayoutOfX>& x, const typed_sharded<T, LayoutOfUpdates>& updates) const {
    return reshard<layout_of_name<LayoutOfX>>(scatter(x.run_time_tensor(), updates.run_time_tensor()));
  }
  template <class X, class Updates>
  auto scatter(const X&, const Updates&) const {  ///< fallback: a compile-time error
    return reject_updates<X>();
  }
  /// The index exchange that `take` makes; `scatter_add` makes this exchange in the opposite direction.
  const index_exchange& exchange() const { return *binding_->exchange; }

 private:
  template <class X>
  static detail::rejected_call reject_updates() {  ///< the compile-time error of scatter and scatter_add
    static_assert(detail::dependent_false<X>,
                  "partita::bound_indices::scatter(x, updates), scatter_add: requires two sharded tensors of one "
                  "element type, both with layouts in their types or both without");
    return {};
  }

  detail::shared_binding binding_;  ///< the rows and the planned exchange; shared by copies
};

/// Plans an index exchange for tensors whose dimension 0 has the extent and the sharding of dimension 0 of x. The
/// indices are whole numbers of any element type. Collective.
/// Requires: x and indices on one mesh [partition_error]; x of rank 1 or more, indices of rank 1 and below the extent
/// of dimension 0 of x [shape_error, on all workers].
template <class T, class I>
bound_indices<> bind_indices(const sharded_tensor<T>& x, const sharded_tensor<I>& indices) {
  return bound_indices<>(detail::bind_to_rows(x, indices));
}
template <class T, auto LayoutOfX, class I, auto LayoutOfIndices>
bound_indices<LayoutOfIndices> bind_indices(const typed_sharded<T, LayoutOfX>& x,
                                            const typed_sharded<I, LayoutOfIndices>& indices) {
  return bound_indices<LayoutOfIndices>(detail::bind_to_rows(x.run_time_tensor(), indices.run_time_tensor()));
}

PARTITA_FALLBACK_OVERLOAD(bind_indices) {
  static_assert(detail::dependent_false<Given...>,
                "partita::bind_indices(x, indices): requires two sharded tensors, both with layouts in their types or "
                "both without");
  return detail::rejected_call{};
}

}  // namespace partita
