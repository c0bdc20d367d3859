// The operations take_along_axis and gather_nd in traced programs. The operations read x with its indexed dimensions
// unsharded; the indices may be sharded, for gather_nd not along their last dimension. The operations are declared in
// the same form as a user-defined operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/index.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/scatter.hpp>

namespace partita::detail {

/// Calls f(index, offset in a tensor that has `extent` along dimension D, offset in the block of the indices) for each
/// index of a block.
template <std::size_t D, class T, class F>
void for_each_index_along(const tensor_part<const T>& indices, std::size_t extent, F f) {
  const dimension_loops n(indices.shape, D);
  for (std::size_t o = 0; o < n.outer; ++o)
    for (std::size_t k = 0; k < n.middle; ++k)
      for (std::size_t i = 0; i < n.inner; ++i) {
        const std::size_t index_offset = (o * n.middle + k) * n.inner + i,
                          index = index_of_element(indices[index_offset], extent);
        f(index, (o * extent + index) * n.inner + i, index_offset);
      }
}

/// The adjoint of take_along_operation: (dy, indices) -> for each index along dimension D, of extent `extent`, the sum
/// of the elements of dy that have this index.
template <std::size_t D>
struct add_along_axis_operation;

/// The operation (x, indices) -> the elements of x at these indices along dimension D.
template <std::size_t D>
struct take_along_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices

  static constexpr partita::rule rule(const shape_span& x) {  ///< a sharding rule that leaves D whole in x
    for (std::size_t d = 0; d < x[0].size() && x[0].size() == x[1].size(); ++d)
      if (d != D && x[0][d] != x[1][d])
        throw shape_error(text("partita::take_along_axis: requires indices whose extents differ from those of x along "
                               "D = ")
                          << D << " alone, got " << x[1] << " and " << x[0]);
    return rules::take_along_axis(static_cast<std::ptrdiff_t>(D))(x);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& indices, const tensor_part<T>& y) const {
    const std::size_t extent = x.extents[D];
    for_each_index_along<D>(indices, extent, [&](std::size_t index, std::size_t x_offset, std::size_t index_offset) {
      y[index_offset] = index < extent ? x[x_offset] : T(0);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& indices, const X&) const {  ///< the cotangent of x
    if (i == 1) return {};
    return apply_op(add_along_axis_operation<D>{x.extents()[D]}, dy, indices);
  }
};
template <std::size_t D>
struct add_along_axis_operation {                    ///< the adjoint of take_along_operation
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices
  static constexpr std::size_t parameters = 1;       ///< the number of data members, equal on all workers
  std::size_t extent;                                ///< the extent of dimension D of the result

  static constexpr partita::rule rule(const shape_span& dy) {  ///< a sharding rule that leaves D whole in the result
    if (dy[0].size() <= D || dy[1].size() != dy[0].size())
      throw shape_error(text("partita::add_along_axis: requires updates and indices of equal extents with dimension ")
                        << D << ", got updates of " << dy[0] << " and indices of " << dy[1]);
    partita::rule r;
    const separate_factors f(r, dy[0]);
    r.begin_operand();
    f.write(r);
    r.begin_operand();
    f.write(r);
    r.begin_result();
    for (std::size_t d = 0; d < dy[0].size(); ++d) d == D ? r.add_whole_dimension() : r.add_dimension(f[d]);
    return r.complete().linear_in({0}).named("add_along_axis");
  }
  shape_list result_extents(const shape_span& dy) const {  ///< the extents of the whole result
    shape_list x = dy[0];
    x[D] = extent;
    return x;
  }
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<const T>& indices, const tensor_part<T>& x) const {
    for (T& element : x) element = T(0);
    for_each_index_along<D>(indices, extent, [&](std::size_t index, std::size_t x_offset, std::size_t index_offset) {
      if (index < extent) x[x_offset] = static_cast<T>(x[x_offset] + dy[index_offset]);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dx, const X&, const X& indices, const X&) const {  ///< the cotangent of dy
    if (i == 1) return {};
    return apply_op(take_along_operation<D>{}, dx, indices);
  }
};

/// Calls f(whether the row exists, number of the row in dimensions of these extents, k) for each tuple k of K indices.
template <std::size_t K, class T, class F>
void for_each_index_tuple(const tensor_part<const T>& indices, const shape_list& extents, F f) {
  for (std::size_t n = 0; n < indices.size() / K; ++n) {
    std::size_t place = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d < K; ++d) {
      const std::size_t index = index_of_element(indices[n * K + d], extents[d]);
      is_inside = is_inside && index < extents[d];
      place = place * extents[d] + index;
    }
    f(is_inside, place, n);
  }
}

/// The adjoint of gather_nd_operation: (dy, indices) -> for each position in the first K dimensions, of extents
/// `extents`, the sum of the rows of dy that have this position as index.
template <std::size_t K>
struct scatter_add_nd_operation;

/// The operation (x, indices) -> the rows of x at tuples of indices of its first K dimensions.
template <std::size_t K>
struct gather_nd_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices

  static constexpr partita::rule rule(const shape_span& x) {  ///< the first K dimensions of x are not sharded
    if (x[1].size() == 0 || x[1][x[1].size() - 1] != K || x[0].size() < K)
      throw shape_error(text("partita::gather_nd<K>: requires indices whose last extent is K = ")
                        << K << ", which count the first K dimensions of x, got indices of " << x[1] << " and x of "
                        << x[0]);
    return rules::gather_nd(x);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& indices, const tensor_part<T>& y) const {
    const std::size_t rows = indices.size() / K, width = rows == 0 ? 0 : y.size() / rows;
    for_each_index_tuple<K>(indices, x.extents, [&](bool is_inside, std::size_t place, std::size_t n) {
      for (std::size_t c = 0; c < width; ++c) y[n * width + c] = is_inside ? x[place * width + c] : T(0);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& indices, const X&) const {  ///< the cotangent of x
    if (i == 1) return {};
    shape_list extents;
    for (std::size_t d = 0; d < K; ++d) extents.push_back(x.extents()[d]);
    return apply_op(scatter_add_nd_operation<K>{extents}, dy, indices);
  }
};
template <std::size_t K>
struct scatter_add_nd_operation {                    ///< the adjoint of gather_nd_operation
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices
  static constexpr std::size_t parameters = 1;       ///< the number of data members, equal on all workers
  shape_list extents;                                ///< the extents of the first K dimensions of the result

  static constexpr partita::rule rule(const shape_span& dy) {  ///< the first K dimensions of the result are whole
    // When the layout of a typed tensor is inferred, the indices' last extent is dynamic.
    const std::size_t last = dy[1].size() == 0 ? 0 : dy[1][dy[1].size() - 1];
    if ((last != K && last != dynamic) || dy[0].size() + 1 < dy[1].size())
      throw shape_error(text("partita::scatter_nd<K>: requires indices whose last extent is K = ")
                        << K << ", and updates with their other dimensions first, got indices of " << dy[1]
                        << " and updates of " << dy[0]);
    const std::size_t counted = dy[1].size() - 1;
    partita::rule r;
    const separate_factors f(r, dy[0]);
    r.begin_operand();
    f.write(r);
    r.begin_operand();
    for (std::size_t d = 0; d < counted; ++d) r.add_dimension(f[d]);
    r.add_whole_dimension(K);
    r.begin_result();
    for (std::size_t d = 0; d < K; ++d) r.add_whole_dimension();
    for (std::size_t d = counted; d < dy[0].size(); ++d) r.add_dimension(f[d]);
    return r.complete().linear_in({0}).named("scatter_add_nd");
  }
  shape_list result_extents(const shape_span& dy) const {  ///< the extents of the whole result
    shape_list x = extents;
    for (std::size_t d = dy[1].size() - 1; d < dy[0].size(); ++d) x.push_back(dy[0][d]);
    return x;
  }
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<const T>& indices, const tensor_part<T>& x) const {
    for (T& element : x) element = T(0);
    const std::size_t rows = indices.size() / K, width = rows == 0 ? 0 : dy.size() / rows;
    for_each_index_tuple<K>(indices, extents, [&](bool is_inside, std::size_t place, std::size_t n) {
      for (std::size_t c = 0; c < width && is_inside; ++c)
        x[place * width + c] = static_cast<T>(x[place * width + c] + dy[n * width + c]);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dx, const X&, const X& indices, const X&) const {  ///< the cotangent of dy
    if (i == 1) return {};
    return apply_op(gather_nd_operation<K>{}, dx, indices);
  }
};

}  // namespace partita::detail
