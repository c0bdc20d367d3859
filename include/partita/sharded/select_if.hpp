// Selects the rows of a tensor for which a condition holds: all of them, or a given number of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <partita/comm/facts.hpp>
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/cast.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/scatter.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// The indices of the rows to keep, in ascending order, sharded as the rows of x are.
template <class T, class M>
sharded_tensor<std::size_t> find_kept_indices(const sharded_tensor<T>& x, const sharded_tensor<M>& keep) {
  const auto on = x.state()->on;
  const sharding line = layout_of_rank(x.layout(), 1);
  const sharded_tensor<M> mask = reshard_rows(keep, line, "select_if(x, keep)");
  return on->one_call([&] {
    const world& everyone = on->everyone();
    agree_if_checked(*everyone.state(), hasher().mix("select_if").mix(x.extents()).value(), {},
                     [&] { return text("partita::select_if(x, keep) of extents ") << x.extents(); });
    // 1. Find the indices of kept rows in this worker's block, and count the kept rows in the blocks before it.
    const std::size_t group = replica_number(*on, line), start = on->box(line, keep.extents())[0].start;
    std::vector<std::size_t> own;
    for (std::size_t k = 0; k < mask.size() && on->active(); ++k)
      if (mask.data()[k] != M{}) own.push_back(start + k);
    std::size_t before = 0, count = 0;
    for (const auto& [is_active, of_group, from, kept] :
         gather_numbers<4>(*everyone.state(), {on->active() ? 1U : 0U, group, start, own.size()})) {
      if (is_active != 0 && of_group == 0) count += kept;
      if (is_active != 0 && of_group == group && from < start) before += kept;
    }
    // 2. Send the indices to the workers that will have their rows, among workers that together hold one copy of x.
    const shape_list extents{count};
    const interval there = on->active() ? on->box(line, extents)[0] : interval{};
    const std::size_t first = group * count;
    const index_exchange exchange(everyone,
                                  on->active() ? interval{first + before, first + before + own.size()} : interval{},
                                  on->active() ? interval{first + there.start, first + there.stop} : interval{});
    return tensor_from_exchange(exchange, own, on, "select_if", line, extents);
  });
}

}  // namespace detail

/// Selects the rows of x (indices of dimension 0) for which `keep` is not 0, in their order, as in `auto y =
/// select_if(x, keep);`. The number of selected rows is y.extents()[0]. Collective.
/// Shapes:   keep has rank 1 and one element for each row of x. Dimension 0 of the result is sharded over the mesh axes
///           that shard dimension 0 of x, and no other dimension is sharded.
/// Requires: x and keep on one mesh [partition_error], with extents as described under Shapes [shape_error]; no call in
///           a dry run or while a program is bound [error].
/// Cost:     an exchange of the indices of the selected rows, and an exchange of the selected rows; sharded dimensions
///           of x other than 0 are gathered first.
/// Adjoint:  moves each row of dy back to its place in x; rows that were not selected get 0. `keep` has no gradient.
template <class T, class M>
sharded_tensor<T> select_if(const sharded_tensor<T>& x, const sharded_tensor<M>& keep) {
  detail::require_immediate_execution("select_if(x, keep)");
  if (!x.state()->on || keep.state()->on != x.state()->on)
    throw partition_error("partita::select_if(x, keep): requires tensors on one mesh; shard both on the same one");
  if (x.rank() == 0 || keep.rank() != 1 || keep.extents()[0] != x.extents()[0])
    throw shape_error(text("partita::select_if(x, keep): requires keep of rank 1 with an element for each row of x, "
                           "got extents ")
                      << x.extents() << " and " << keep.extents());
  const auto indices = detail::find_kept_indices(x, keep);
  return detail::take_rows(detail::bind_to_rows(x, indices), x);
}
template <class T, auto Layout, class M, auto LayoutOfKeep>
auto select_if(const typed_sharded<T, Layout>& x, const typed_sharded<M, LayoutOfKeep>& keep) {
  static_assert(layout_of_name<Layout>.rank() >= 1 && layout_of_name<LayoutOfKeep>.rank() == 1,
                "partita::select_if(x, keep): requires x of rank 1 or more, and keep of rank 1");
  return typed_sharded<T, detail::row_layout_name<Layout, Layout>>(
      select_if(x.run_time_tensor(), keep.run_time_tensor()));
}
/// Selects the rows of a plain array for which `keep` is not 0.
template <ranked_array X, ranked_array M>
auto select_if(const X& x, const M& keep) {
  static_assert(rank_of<M> == 1 && rank_of<X> >= 1,
                "partita::select_if(x, keep): requires x of rank 1 or more, and keep of rank 1");
  if constexpr (rank_of<M> == 1 && rank_of<X> >= 1) {
    const xt::xtensor<element_of<X>, rank_of<X>> given = x;
    const xt::xtensor<element_of<M>, 1> mask = keep;
    auto shape = given.shape();
    if (mask.size() != shape[0])
      throw shape_error(text("partita::select_if(x, keep): requires an element of keep for each row of x, got extents ")
                        << given.shape() << " and " << mask.shape());
    shape[0] = 0;
    for (const auto& element : mask) shape[0] += element != element_of<M>{} ? 1U : 0U;
    xt::xtensor<element_of<X>, rank_of<X>> y(shape);
    const std::size_t width = detail::row_elements(given.shape());
    std::size_t to = 0;
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (mask(i) != element_of<M>{})
        for (std::size_t c = 0; c < width; ++c) y.data()[to++] = given.data()[i * width + c];
    return y;
  } else {
    return detail::rejected_call{};
  }
}

/// Selects the first `rows` rows of x for which `keep` is not 0. If fewer rows are selected, rows of zeros follow them.
/// The extents of the result are known before the call, so a traced program can contain the call. The sum of
/// `not_equal_to(keep, 0)` is the number of rows for which `keep` is not 0.
/// Shapes:   the result has the extents of x, except that extent 0 is `rows`. x is a tensor of any kind; keep has the
///           same kind, rank 1, and one element for each row of x.
/// Requires: extents as described under Shapes [shape_error]. The element type of x must represent the number of rows
///           of x exactly.
/// Cost:     a cumulative sum of keep. The rows of x are usually not moved: if dimension 0 of x is sharded, the result
///           is a partial sum, which is reduced when an operation needs its elements.
/// Adjoint:  moves each row of dy back to its place in x; rows that were not selected get 0. `keep` has no gradient.
template <class X, class Keep>
  requires(detail::tensor_value<X> && detail::tensor_kind<X> == detail::tensor_kind<Keep>)
auto select_if(const X& x, const Keep& keep, std::size_t rows) {
  const shape_list of_x = detail::operand_extents(x), of_keep = detail::operand_extents(keep);
  if (of_x.empty() || of_keep.size() != 1 || of_keep[0] != of_x[0])
    throw shape_error(text("partita::select_if(x, keep, rows): requires keep of rank 1 with an element for each row of "
                           "x, got extents ")
                      << of_x << " and " << of_keep);
  const auto selected = [&](const auto& kept) {                                // kept: 1 or 0
    const auto places = add(multiply(kept, cumsum(kept, dimensions<0>)), -1);  // -1 is not an index
    return apply_op(detail::add_rows_operation<0>{rows}, x, places);
  };
  const auto kept = not_equal_to(stop_gradient(keep), 0);
  using element = detail::element_of_tensor<X>;
  using real = detail::real_of<element>;
  if constexpr (std::is_same_v<element, detail::element_of_tensor<Keep>>) return selected(kept);
  else if constexpr (!detail::is_complex<element>) return selected(cast<element>(kept));
  else if constexpr (std::is_same_v<real, detail::element_of_tensor<Keep>>) return selected(to_complex(kept));
  else return selected(to_complex(cast<real>(kept)));
}
template <ranked_array X, ranked_array M>
auto select_if(const X& x, const M& keep, std::size_t rows) {
  static_assert(rank_of<M> == 1 && rank_of<X> >= 1,
                "partita::select_if(x, keep, rows): requires x of rank 1 or more, and keep of rank 1");
  if constexpr (rank_of<M> == 1 && rank_of<X> >= 1) {
    const auto y = select_if(x, keep);
    auto shape = y.shape();
    shape[0] = rows;
    xt::xtensor<element_of<X>, rank_of<X>> all = xt::zeros<element_of<X>>(shape);
    std::copy_n(y.data(), std::min(y.size(), all.size()), all.data());
    return all;
  } else {
    return detail::rejected_call{};
  }
}

PARTITA_FALLBACK_OVERLOAD(select_if) {
  static_assert(detail::dependent_false<Given...>,
                "partita::select_if(x, keep): requires two arrays, or two sharded tensors, both with layouts in their "
                "types or both without; in a traced program all extents are known before, select_if(x, keep, rows) "
                "gives as many rows");
  return detail::rejected_call{};
}

}  // namespace partita
