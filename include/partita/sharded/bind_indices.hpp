// Takes rows of sharded tensors at indices that are used many times, and adds to them, by one planned index exchange.
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

/// The layout of a tensor of this rank whose first dimensions are sharded as those of `first`, and no others.
constexpr sharding layout_of_rank(const sharding& first, std::size_t rank) {
  sharding s(first.on, rank);
  for (std::size_t d = 0; d < first.rank() && d < rank; ++d) s.cuts[d] = first.cuts[d];
  return s;
}
/// The name of the layout of a tensor of the rank of x whose dimension 0 is sharded as dimension 0 of another tensor.
template <auto OfX, auto OfRows>
inline constexpr auto row_layout_name =
    name_of_layout<layout_of_rank(layout_of_rank(layout_of_name<OfRows>, 1), layout_of_name<OfX>.rank())>;

/// What one worker stores about bound indices. The indices number the rows of a tensor, one row for each place in its
/// first dimensions (one or more). Workers that differ only in axes over which these dimensions are sharded exchange
/// rows with each other; workers that differ only in other axes hold the same rows.
struct index_binding {
  std::shared_ptr<bound_mesh> on;
  sharding row_layout, index_layout;  ///< the layouts of the rows that are indexed, and of the indices
  shape_list extents, index_extents;
  bool adds_updates = true;  ///< of workers that have the same indices of the same rows, only one adds updates
  std::unique_ptr<index_exchange> exchange{};
  std::vector<std::size_t> row_numbers{};  ///< for tensors without a mesh, the numbers of the rows to take

  /// A block of a tensor of these extents as a matrix of its rows, which number the first `first` dimensions.
  template <class T>
  static auto as_matrix(const tensor_block<T>& block, const shape_list& extents, std::size_t first = 1) {
    std::size_t rows = 1, width = 1;
    for (std::size_t d = 0; d < extents.size(); ++d)
      (d < first ? rows : width) *= d < first ? block.shape[d] : extents[d];
    return xt::adapt(block.data(), rows * width, xt::no_ownership(), std::array{rows, width});
  }
};
using shared_binding = std::shared_ptr<const index_binding>;

/// The number of the copy of a tensor of which this worker holds a block. Workers that hold one copy together differ
/// only in the axes that shard the tensor.
inline std::size_t replica_number(const bound_mesh& on, const sharding& split) {
  std::size_t group = 0;
  for (std::size_t a = 0; a < on.mesh().rank() && on.active(); ++a)
    if (!has_bit(split.cut_axes(), a)) group = group * on.mesh().size(a) + coordinate_of(on.mesh(), on.place(), a);
  return group;
}

inline void require_no_trace(const char* call) {
  if (run_state.is_dry_run || run_state.steps != nullptr)
    throw error((text("partita::") << call
                                   << ": requires a call that is carried out at once; traced programs, bound "
                                      "programs and dry runs use take and scatter_add without bound indices")
                    .c_str());
}

/// Throws an error unless x is on the mesh of the indices and has rows of these extents, and the call is executed at
/// once.
template <class T>
void require_rows(const index_binding& b, const sharded_tensor<T>& x, const shape_list& rows, const char* call) {
  static_assert(summable_element<T>,
                "partita::bound_indices: requires tensors of elements that can be summed; bool cannot, cast them");
  require_no_trace(call);
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

/// Reshards x so that its rows are sharded as in `rows`. Throws an error where implicit reshards are forbidden.
template <class T>
sharded_tensor<T> reshard_rows(const sharded_tensor<T>& x, const sharding& rows, const char* call) {
  const sharding wanted = layout_of_rank(rows, x.rank());
  if (is_move_forbidden(x.layout()) && moved_bytes(x.layout(), wanted, x.extents(), sizeof(T)) > 0)
    throw partition_error(text("partita::") << call << ": requires operands that need not be moved, but one of extents "
                                            << x.extents() << " has layout " << x.layout() << " and must have layout "
                                            << wanted << "; reshard it before");
  return reshard(x, wanted);
}

/// Counts and logs the bytes that this worker received in a call of the exchange. In the opposite direction a worker
/// receives the bytes that it sends forward.
template <class T>
void log_exchange(const index_binding& b, const char* call, bool forward, const sharding& from, const sharding& to,
                  const shape_list& extents, std::size_t width) {
  const auto plan = b.exchange->plan(width);
  const std::size_t bytes = (forward ? plan.elements_received() : plan.elements_sent()) * sizeof(T);
  run_state.moved.exchanges += 1;
  run_state.moved.bytes += bytes;
  run_state.moved.messages += forward ? plan.receives.size() : plan.sends.size();
  if (run_state.log != nullptr)
    run_state.log->push_back({text(call), run_state.is_backward, from, to, extents, bytes, 0, is_complex<T>});
}

/// Replaces the extents of the first `first` dimensions by the list `leading`.
inline shape_list replace_leading_extents(const shape_list& extents, std::size_t first, const shape_list& leading) {
  shape_list all = leading;
  for (std::size_t d = first; d < extents.size(); ++d) all.push_back(extents[d]);
  return all;
}

template <class T>
sharded_tensor<T> exchange_rows(const shared_binding& b, const sharded_tensor<T>& input, bool forward,
                                const char* call) {
  const shape_list &had = forward ? b->extents : b->index_extents, &gets = forward ? b->index_extents : b->extents;
  require_rows(*b, input, had, call);
  const shape_list extents = replace_leading_extents(input.extents(), had.size(), gets);
  const auto record = [&](const sharded_tensor<T>& x, const sharding& layout, tensor_block<T> y, std::uint64_t number) {
    return record_on_tape<T>(tensor_of<T>(b->on, layout, extents, std::move(y), number), {x}, [&] {
      return
          [b, forward, call](std::size_t, const sharded_tensor<T>& dy) { return exchange_rows(b, dy, !forward, call); };
    });
  };
  if (!b->on) {
    tensor_block<T> y = zero_block<T>(extents);
    const auto from = index_binding::as_matrix(input.state()->block, input.extents(), had.size());
    auto to = index_binding::as_matrix(y, extents, gets.size());
    for (std::size_t k = 0; k < b->row_numbers.size(); ++k)
      for (std::size_t c = 0; c < to.shape(1); ++c)
        if (forward) to(k, c) = from(b->row_numbers[k], c);
        else to(b->row_numbers[k], c) += from(k, c);
    return record(input, sharding(mesh(), extents.size()), std::move(y), 0);
  }
  const sharded_tensor<T> x = reshard_rows(input, forward ? b->row_layout : b->index_layout, call);
  sharding layout = layout_of_rank(forward ? b->index_layout : b->row_layout, extents.size());
  tensor_block<T> y(shape_of_box(b->on->box(layout, extents)), b->on->memory());
  for (std::size_t a = 0; a < b->on->mesh().rank() && !forward; ++a)  // workers have sums over some indices only
    if (has_bit(b->index_layout.cut_axes(), a) && !has_bit(b->row_layout.cut_axes(), a)) layout = layout.partial(a);
  const std::uint64_t number =
      record_operation<T>(hasher(fingerprint_of(layout)).mix(gets).value(), call, b->on.get(), extents, *x.state());
  const auto block = forward || b->adds_updates ? x.state()->block : zero_block<T>(x.state()->block.shape);
  const auto from = index_binding::as_matrix(block, x.extents(), had.size());
  auto filled = index_binding::as_matrix(y, extents, gets.size());
  if (forward) b->exchange->into(from, filled);
  else b->exchange->adjoint_into(from, filled);
  log_exchange<T>(*b, forward ? "take" : "scatter_add", forward, x.layout(), layout, extents, filled.shape(1));
  return record(x, layout, std::move(y), number);
}
template <class T>
sharded_tensor<T> take_rows(const shared_binding& b, const sharded_tensor<T>& x,
                            const char* call = "bound_indices::take(x)") {
  return exchange_rows(b, x, true, call);
}
/// Sums, for each row, the updates at the indices of this row. The adjoint of take_rows.
template <class T>
sharded_tensor<T> add_rows(const shared_binding& b, const sharded_tensor<T>& updates) {
  return exchange_rows(b, updates, false, "bound_indices::scatter_add(x, updates)");
}

/// The numbers, in the C order of a tensor of these extents, of the elements of a box. If `zeroed_dimension` is a
/// dimension, the index 0 replaces the index along it.
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

/// The numbers of the elements of a box, in C order, plus `first`: an interval if they are consecutive, else a list.
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

/// Plans the exchange of bound indices. `find(wrong)` returns, for each index in this worker's block, the number of the
/// row, in the C order of the extents `b.extents`, or sets the error. The number `parameter` must be equal on all
/// workers. Collective.
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
    const std::uint64_t number = hasher(0x62696e64U)
                                     .mix(fingerprint_of(b.row_layout))
                                     .mix(fingerprint_of(b.index_layout))
                                     .mix(b.extents)
                                     .mix(b.index_extents)
                                     .mix(call)
                                     .mix(parameter)
                                     .value();
    agree_on_call(*on.everyone().state(), number, message,
                  [&] { return text(call) << " of extents " << b.extents << " and " << b.index_extents; });
    const std::size_t first = replica_number(on, b.row_layout) * shape_size(b.extents);
    for (std::size_t& place : wanted) place += first;
    const index_list owned = on.active() ? box_indices(on.box(b.row_layout, b.extents), b.extents, first) : interval{};
    b.exchange = std::make_unique<index_exchange>(on.everyone(), owned, std::move(wanted));
    return std::make_shared<const index_binding>(std::move(b));
  });
}

/// Sets an error for element `element` of a block of indices, which is not below the extent of a dimension.
inline void set_index_error(local_error& message, const char* call, std::size_t dimension, std::size_t extent,
                            std::size_t element) {
  if (!message.any())
    message = local_error(text(call) << ": requires indices below the extent of dimension " << dimension << " of x, "
                                     << extent << "; a worker has another one, element " << element
                                     << " of its block; an index is a whole number from 0");
}
/// Makes a tensor of rank 1 whose blocks hold the elements that an index exchange delivers.
template <class Numbers>
auto tensor_from_exchange(const index_exchange& exchange, const Numbers& own, const std::shared_ptr<bound_mesh>& on,
                          const char* call, const sharding& layout, const shape_list& extents) {
  using T = typename Numbers::value_type;
  tensor_block<T> block(shape_of_box(on->box(layout, extents)), on->memory());
  auto filled = index_binding::as_matrix(block, extents);
  exchange.into(xt::adapt(own.data(), own.size(), xt::no_ownership(), std::array{own.size(), std::size_t{1}}), filled);
  const std::uint64_t number = record_tensor<T>(on, call, layout, extents);
  return tensor_of<T>(on, layout, extents, std::move(block), number);
}
template <class T>
sharded_tensor<T> reduce_if_partial(const sharded_tensor<T>& x, const char* call) {
  return x.layout().is_partial() ? reshard_rows(x, x.layout(), call) : x;
}

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

/// Takes rows of sharded tensors at fixed indices, and adds to them: `const auto rows = bind_indices(x, indices); auto
/// y = rows.take(x); x = rows.scatter_add(x, updates);`. `Layout` is the layout of the indices if their type has it.
/// Shapes: each index is a position along dimension 0 of x. The result of `take`, and updates, have the extents of x
/// with the number of indices as extent 0. Dimension 0 of the result of `take` is sharded as the indices are.
/// Requires: tensors on the mesh of the indices [partition_error] with these extents [shape_error], in a call that is
/// executed at once [error].
/// Cost: a row is sent once to each worker that takes it; only sharded dimensions other than 0 are gathered. The
/// result of scatter_add may be reduced over axes that shard only the indices.
/// Adjoint: the adjoint of `take` adds each row to the row that it was taken from; that of `scatter_add` gives x dy,
/// and the updates the rows of dy at the indices.
template <auto... Layout>
class bound_indices {
 public:
  explicit bound_indices(detail::shared_binding binding) : binding_(std::move(binding)) {}

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
  auto take(const X&) const {
    static_assert(detail::dependent_false<X>,
                  "partita::bound_indices::take(x): requires a sharded tensor; values of a traced program use take(x, "
                  "indices, dimensions<0>)");
    return detail::rejected_call{};
  }
  /// Adds each update to the row of x at its index.
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
  auto scatter_add(const X&, const Updates&) const {
    return reject_updates<X>();
  }
  /// Replaces the rows of x at the indices by the updates, summed for equal indices. Cost: two index exchanges.
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
  auto scatter(const X&, const Updates&) const {
    return reject_updates<X>();
  }
  /// The index exchange that `take` makes; `scatter_add` makes this exchange in the opposite direction.
  const index_exchange& exchange() const { return *binding_->exchange; }

 private:
  template <class X>
  static detail::rejected_call reject_updates() {
    static_assert(detail::dependent_false<X>,
                  "partita::bound_indices::scatter(x, updates), scatter_add: requires two sharded tensors of one "
                  "element type, both with layouts in their types or both without");
    return {};
  }

  detail::shared_binding binding_;
};

/// Binds indices to tensors whose rows are sharded as those of x, by planning an index exchange. The indices are whole
/// numbers of any element type. Collective.
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
