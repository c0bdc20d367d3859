// Rows of sharded tensors at indices that are used many times: take and scatter_add by one index exchange.
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

/// The layout of a tensor whose dimension 0 is cut over these axes, and no other one. They are passed by reference,
/// because g++ 12 cannot copy an empty list in a constant expression.
constexpr sharding rows_layout(const mesh& on, std::size_t rank, const axis_list& axes) {
  sharding s(on, rank);
  s.cuts[0] = axes;
  return s;
}

/// The name of such a layout, with the axes of the indices.
template <auto OfX, auto OfIndices>
inline constexpr auto name_of_rows =
    name_of_layout<rows_layout(layout_named<OfX>.on, layout_named<OfX>.rank(), layout_named<OfIndices>.cuts[0])>;

/// What one worker knows of bound indices. Workers that differ in axes over which the rows of x are not cut hold the
/// same rows; those that differ in no other axes exchange with each other.
struct index_binding {
  std::shared_ptr<bound_mesh> on;
  axis_list owners, takers;           ///< the axes over which the rows of x, and the indices, are cut
  std::size_t extent = 0, count = 0;  ///< of the rows of x, and of the indices
  bool is_counted = true;             ///< of workers that have the same indices of the same rows, one is counted
  std::unique_ptr<index_exchange> exchange{};

  template <class T>
  static auto matrix_of(const tensor_block<T>& block, const shape_list& extents) {
    const std::size_t rows = block.shape[0], width = row_elements(extents);
    return xt::adapt(block.data(), rows * width, xt::no_ownership(), std::array{rows, width});
  }
};
using shared_binding = std::shared_ptr<const index_binding>;

/// The number of the group of this worker: those of one group differ only in these axes.
inline std::size_t group_along(const bound_mesh& on, axis_list axes) {
  std::size_t group = 0;
  for (std::size_t a = 0; a < on.mesh().rank() && on.active(); ++a)
    if (!axes.contains(a)) group = group * on.mesh().size(a) + coordinate_of(on.mesh(), on.place(), a);
  return group;
}

inline void require_at_once(const char* call) {
  if (executing.is_dry || executing.steps != nullptr)
    throw error((text("partita::") << call
                                   << ": requires a call that is carried out at once; traced programs, bound "
                                      "programs and dry runs use take and scatter_add without bound indices")
                    .c_str());
}

/// Requires: a tensor on the mesh of the indices, and `rows` rows, in a call that is carried out at once.
template <class T>
void require_rows(const index_binding& b, const sharded_tensor<T>& x, std::size_t rows, const char* call) {
  static_assert(summable_element<T>,
                "partita::bound_indices: requires tensors of elements that can be summed; bool cannot, cast them");
  require_at_once(call);
  if (x.state()->on != b.on)
    throw partition_error(text("partita::") << call
                                            << ": requires a tensor on the mesh of the indices; make both from the "
                                               "same mesh");
  if (x.rank() == 0 || x.extents()[0] != rows)
    throw shape_error(text("partita::") << call << ": requires a tensor with " << rows
                                        << " rows in dimension 0, got extents " << x.extents());
}

/// The tensor with its rows cut over these axes, in a scope that does not forbid moves of operands.
template <class T>
sharded_tensor<T> with_rows(const index_binding& b, const sharded_tensor<T>& x, axis_list axes, const char* call) {
  const sharding wanted = rows_layout(b.on->mesh(), x.rank(), axes);
  if (are_moves_written(x.layout()) && moved_bytes(x.layout(), wanted, x.extents(), sizeof(T)) > 0)
    throw partition_error(text("partita::")
                          << call << ": requires operands that need not be moved, but one of extents " << x.extents()
                          << " lies " << x.layout() << " and must lie " << wanted << "; reshard it before");
  return reshard(x, wanted);
}

/// Counts and logs what this worker received in a call of the exchange; back, it received what it sends forward.
template <class T>
void log_exchange(const index_binding& b, const char* call, bool forward, const sharding& from, const sharding& to,
                  const shape_list& extents) {
  const auto plan = b.exchange->plan(row_elements(extents));
  const std::size_t bytes = (forward ? plan.elements_received() : plan.elements_sent()) * sizeof(T);
  executing.moved.exchanges += 1;
  executing.moved.bytes += bytes;
  executing.moved.messages += forward ? plan.receives.size() : plan.sends.size();
  if (executing.log != nullptr)
    executing.log->push_back({text(call), executing.is_backward, from, to, extents, bytes, 0});
}

template <class T>
sharded_tensor<T> sum_at_indices(const shared_binding& b, const sharded_tensor<T>& given);

template <class T>
sharded_tensor<T> taken_at_indices(const shared_binding& b, const sharded_tensor<T>& given) {
  require_rows(*b, given, b->extent, "bound_indices::take(x)");
  const sharded_tensor<T> x = with_rows(*b, given, b->owners, "bound_indices::take(x)");
  const sharding layout = rows_layout(b->on->mesh(), given.rank(), b->takers);
  shape_list extents = x.extents();
  extents[0] = b->count;
  const std::uint64_t number =
      noted<T>(hasher(fingerprint_of(layout)).mix(b->count).value(), "bound take", b->on.get(), extents, *x.state());
  tensor_block<T> y(shape_of_box(b->on->box(layout, extents)), b->on->memory());
  auto filled = index_binding::matrix_of(y, extents);
  b->exchange->into(index_binding::matrix_of(x.state()->block, extents), filled);
  log_exchange<T>(*b, "take", true, x.layout(), layout, extents);
  return recorded<T>(tensor_of<T>(b->on, layout, extents, std::move(y), number), {x},
                     [&] { return [b](std::size_t, const sharded_tensor<T>& dy) { return sum_at_indices(b, dy); }; });
}
/// The sum of the rows at each index: the adjoint of taken_at_indices.
template <class T>
sharded_tensor<T> sum_at_indices(const shared_binding& b, const sharded_tensor<T>& given) {
  require_rows(*b, given, b->count, "bound_indices::scatter_add(x, updates)");
  const sharded_tensor<T> x = with_rows(*b, given, b->takers, "bound_indices::scatter_add(x, updates)");
  sharding layout = rows_layout(b->on->mesh(), given.rank(), b->owners);
  shape_list extents = x.extents();
  extents[0] = b->extent;
  tensor_block<T> y(shape_of_box(b->on->box(layout, extents)), b->on->memory());
  for (std::size_t k = 0; k < b->takers.size(); ++k)  // a worker has the sum of some of the indices
    if (!b->owners.contains(b->takers[k])) layout = layout.partial(b->takers[k]);
  const std::uint64_t number = noted<T>(hasher(fingerprint_of(layout)).mix(b->extent).value(), "bound scatter_add",
                                        b->on.get(), extents, *x.state());
  const auto block = b->is_counted ? x.state()->block : zero_block<T>(x.state()->block.shape);
  auto filled = index_binding::matrix_of(y, extents);
  b->exchange->adjoint_into(index_binding::matrix_of(block, extents), filled);
  log_exchange<T>(*b, "scatter_add", false, x.layout(), layout, extents);
  return recorded<T>(tensor_of<T>(b->on, layout, extents, std::move(y), number), {x},
                     [&] { return [b](std::size_t, const sharded_tensor<T>& dy) { return taken_at_indices(b, dy); }; });
}

template <class T, class I>
shared_binding bound_at(const sharded_tensor<T>& x, const sharded_tensor<I>& given) {
  constexpr const char* call = "partita::bind_indices(x, indices)";
  const auto on = x.state()->on;
  if (!on || given.state()->on != on)
    throw partition_error(text(call) << ": requires x and indices on one mesh; shard both on the same one");
  if (x.rank() == 0 || given.rank() != 1)
    throw shape_error(text(call) << ": requires x of rank 1 or more and indices of rank 1, got extents " << x.extents()
                                 << " and " << given.extents());
  const sharded_tensor<I> indices = given.layout().is_partial() ? reshard(given, given.layout().finished()) : given;
  return on->one_call([&] {
    auto b = std::make_shared<index_binding>();
    b->on = on, b->owners = x.layout()[0], b->takers = indices.layout()[0];
    b->extent = x.extents()[0], b->count = indices.extents()[0];
    for (std::size_t a = 0; a < on->mesh().rank() && on->active(); ++a)
      if (b->owners.contains(a) && !b->takers.contains(a) && coordinate_of(on->mesh(), on->place(), a) != 0)
        b->is_counted = false;
    const std::size_t first = group_along(*on, b->owners) * b->extent;
    std::vector<std::size_t> wanted;
    local_error wrong;
    for (std::size_t k = 0; k < indices.size() && on->active(); ++k) {
      const std::size_t index = index_said(indices.data()[k], b->extent);
      if (index >= b->extent && !wrong.any())
        wrong = local_error(text(call) << ": requires indices below the extent of dimension 0 of x, " << b->extent
                                       << "; worker " << on->worker() << " has another one, element " << k
                                       << " of its block; an index is a whole number from 0");
      wanted.push_back(first + index);
    }
    const std::uint64_t number = hasher(0x62696e64U)
                                     .mix(fingerprint_of(x.layout()))
                                     .mix(fingerprint_of(indices.layout()))
                                     .mix(b->extent)
                                     .mix(b->count)
                                     .value();
    agree_together(*on->everyone().state(), number, wrong,
                   [&] { return text(call) << " of extents " << x.extents() << " and " << indices.extents(); });
    interval own = on->box(rows_layout(on->mesh(), 1, b->owners), {b->extent})[0];
    own.start += first, own.stop += first;
    b->exchange = std::make_unique<index_exchange>(on->everyone(), on->active() ? own : interval{}, std::move(wanted));
    return shared_binding(std::move(b));
  });
}

}  // namespace detail

/// The rows of sharded tensors at fixed indices: `const auto rows = bind_indices(x, indices); auto y = rows.take(x); x
/// = rows.scatter_add(x, updates);`. Made by bind_indices; `Layout` is that of the indices if it is part of their type.
/// Shapes:   indices of dimension 0; `take` has the extents of x with the number of indices in place of it, and so have
///           updates. The result of `take` is cut as the indices are.
/// Requires: tensors on the mesh of the indices [partition_error] with these extents [shape_error], in a call that is
///           carried out at once [error].
/// Cost:     a row moves to each worker that takes it, once; no tensor is gathered, except dimensions other than 0 that
///           are cut. The result of scatter_add may be reduced over axes that cut only the indices.
/// Adjoint:  that of `take` adds each row to where it was taken from; of `scatter_add`, dy for x, and the rows of dy at
///           the indices for the updates.
template <auto... Layout>
class bound_indices {
 public:
  explicit bound_indices(detail::shared_binding binding) : binding_(std::move(binding)) {}

  template <class T>
  sharded_tensor<T> take(const sharded_tensor<T>& x) const {
    return detail::taken_at_indices(binding_, x);
  }
  template <class T, auto LayoutOfX>
  auto take(const typed_sharded<T, LayoutOfX>& x) const {
    static_assert(sizeof...(Layout) == 1,
                  "partita::bound_indices::take(x): requires indices with a layout in their type for a tensor with a "
                  "layout in its type; x.at_run_time() has none");
    if constexpr (sizeof...(Layout) == 1)
      return typed_sharded<T, detail::name_of_rows<LayoutOfX, Layout...>>(take(x.at_run_time()));
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
    detail::require_rows(*binding_, x, binding_->extent, "bound_indices::scatter_add(x, updates)");
    return add(x, detail::sum_at_indices(binding_, updates));
  }
  template <class T, auto LayoutOfX, auto LayoutOfUpdates>
  auto scatter_add(const typed_sharded<T, LayoutOfX>& x, const typed_sharded<T, LayoutOfUpdates>& updates) const {
    return reshard<layout_named<LayoutOfX>>(scatter_add(x.at_run_time(), updates.at_run_time()));
  }
  template <class X, class Updates>
  auto scatter_add(const X&, const Updates&) const {
    static_assert(detail::dependent_false<X>,
                  "partita::bound_indices::scatter_add(x, updates): requires two sharded tensors of one element type, "
                  "both with layouts in their types or both without");
    return detail::rejected_call{};
  }
  /// What moves in a call of `take`; in the opposite direction in `scatter_add`.
  const index_exchange& exchange() const { return *binding_->exchange; }

 private:
  detail::shared_binding binding_;
};

/// Binds indices to a tensor whose rows are cut as those of x are: an index exchange is planned once. Collective. The
/// elements of `indices` are whole numbers of any type.
template <class T, class I>
bound_indices<> bind_indices(const sharded_tensor<T>& x, const sharded_tensor<I>& indices) {
  return bound_indices<>(detail::bound_at(x, indices));
}
template <class T, auto LayoutOfX, class I, auto LayoutOfIndices>
bound_indices<LayoutOfIndices> bind_indices(const typed_sharded<T, LayoutOfX>& x,
                                            const typed_sharded<I, LayoutOfIndices>& indices) {
  return bound_indices<LayoutOfIndices>(detail::bound_at(x.at_run_time(), indices.at_run_time()));
}

PARTITA_FALLBACK_OVERLOAD(bind_indices) {
  static_assert(detail::dependent_false<Given...>,
                "partita::bind_indices(x, indices): requires two sharded tensors, both with layouts in their types or "
                "both without");
  return detail::rejected_call{};
}

}  // namespace partita
