// The operations slice, pad, concatenate and split, which divide and join tensors along dimensions. The operations are
// declared in the same form as a user-defined operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/array/real_part.hpp>
#include <partita/plan/cut.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/join.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
#include <partita/sharded/element_operations.hpp>
#include <partita/sharded/operate.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The numbers of elements that `pad` adds along a dimension, before the first and after the last element of x.
struct margin {
  std::size_t before = 0, after = 0;  ///< how many elements are added before, and after, those of x

  constexpr std::uint64_t fingerprint() const { return hasher().mix(before).mix(after).value(); }  ///< a hash
};

namespace detail {

/// Copies a box of shape `shape` that begins at index `from` of block x to index `to` of block y.
template <class T>
void copy_elements(const tensor_part<const T>& x, const shape_list& from, const tensor_part<T>& y, const shape_list& to,
                   const shape_list& shape) {
  const std::array steps{strides_of(y.shape), strides_of(x.shape)};
  std::ptrdiff_t there = 0, here = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    there += static_cast<std::ptrdiff_t>(to[d]) * steps[0][d];
    here += static_cast<std::ptrdiff_t>(from[d]) * steps[1][d];
  }
  for_each_row(shape, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
    const T* source = x.memory + here + at[1];
    T* target = y.memory + there + at[0];
    for (std::size_t k = 0; k < n; ++k) target[k] = source[k];
  });
}
/// The index that has the entries `starts` along the dimensions D, and 0 along all other dimensions.
template <std::size_t... D>
shape_list corner_from_starts(std::size_t rank, const std::array<std::size_t, sizeof...(D)>& starts) {
  shape_list at = shape_list::filled(rank, 0);
  std::size_t k = 0;
  ((at[D] = starts[k++]), ...);
  return at;
}

template <bool Zeros, std::size_t... D>
struct pad_operation;

/// The operation that takes the elements of x in one interval along each of the dimensions D.
template <std::size_t... D>
struct slice_operation {
  static constexpr bool on_integers = true, is_linear = true;  ///< accepts integers; pending sums of x stay pending
  static constexpr std::uint32_t along = ((std::uint32_t{1} << D) | ... | 0U);  ///< a bit for each dimension D
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads extents only
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  std::array<interval, sizeof...(D)> intervals;      ///< for each of the dimensions D, the indices of x to take

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::slice({static_cast<std::ptrdiff_t>(D)...})(x);
  }
  shape_list result_extents(const shape_span& x) const {  ///< those of x, with shorter D
    shape_list y = x[0];
    std::size_t k = 0;
    const auto take = [&](std::size_t d) {
      const interval one = intervals[k++];
      if (one.start > one.stop || one.stop > y[d])
        throw shape_error(text("partita::slice: requires indices of the tensor, but those from ")
                          << one.start << " up to " << one.stop << " of dimension " << d << " are not among " << x[0]);
      y[d] = one.size();
    };
    (take(D), ...);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    if (y.size() == 0) return;
    std::size_t k = 0;
    const std::array<std::size_t, sizeof...(D)> starts{(intervals[k++].start + y.box[D].start - x.box[D].start)...};
    copy_elements(x, corner_from_starts<D...>(y.shape.size(), starts), y, corner_from_starts<D...>(y.shape.size(), {}),
                  y.shape);
  }
  short_list<interval> window(short_list<interval> box, const shape_list&) const {  ///< what a box of the result reads
    std::size_t k = 0;
    ((box[D] = {box[D].start + intervals[k].start, box[D].stop + intervals[k].start}, ++k), ...);
    return box;
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< pads dy with zeros
    pad_operation<true, D...> back{};
    std::size_t k = 0;
    ((back.margins[k] = {intervals[k].start, x.extents()[D] - intervals[k].stop}, ++k), ...);
    return apply_op(back, dy);
  }
};

/// The operation that adds elements equal to `fill_value`, or zeros, before and after x along each of the dimensions D.
template <bool Zeros, std::size_t... D>
struct pad_operation {
  static constexpr bool on_integers = true, is_linear = Zeros;  ///< accepts integers; Zeros: pending sums stay pending
  static constexpr std::uint32_t along = ((std::uint32_t{1} << D) | ... | 0U);  ///< a bit for each dimension D
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads extents only
  static constexpr std::size_t parameters = 2;       ///< number of data members, each equal on all workers
  std::array<margin, sizeof...(D)> margins{};        ///< for each of the dimensions D, how many elements are added
  double fill_value = 0;                             ///< the value of the added elements, unless Zeros

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    const partita::rule r = rules::pad({static_cast<std::ptrdiff_t>(D)...})(x);
    return Zeros ? r.with(linearity::additive) : r;
  }
  shape_list result_extents(const shape_span& x) const {  ///< those of x, with longer D
    shape_list y = x[0];
    std::size_t k = 0;
    ((y[D] += margins[k].before + margins[k].after, ++k), ...);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    for (T& element : y) element = T(static_cast<real_of<T>>(fill_value));
    const short_list<interval> read = window(y.box, x.extents);
    const shape_list shape = shape_of_box(read);
    if (shape_size(shape) == 0) return;
    std::size_t k = 0;
    const std::array<std::size_t, sizeof...(D)> to{(margins[k++].before + read[D].start - y.box[D].start)...};
    copy_elements(x, corner_from_starts<D...>(shape.size(), {(read[D].start - x.box[D].start)...}), y,
                  corner_from_starts<D...>(shape.size(), to), shape);
  }
  short_list<interval> window(short_list<interval> box, const shape_list& x) const {  ///< what the box of y reads
    std::size_t k = 0;
    const auto inside = [&](std::size_t d) {
      const std::size_t before = margins[k++].before, end = before + x[d];
      const std::size_t from = box[d].start < before ? before : box[d].start,
                        to = box[d].stop < end ? box[d].stop : end;
      box[d] = from < to ? interval{from - before, to - before} : interval{0, 0};
    };
    (inside(D), ...);
    return box;
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< takes the slice of dy that x fills
    slice_operation<D...> back{};
    std::size_t k = 0;
    ((back.intervals[k] = {margins[k].before, margins[k].before + x.extents()[D]}, ++k), ...);
    return apply_op(back, dy);
  }
};

template <std::size_t D, std::size_t Operands>
struct concatenate_operation {                       ///< joins its operands along dimension D
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads extents only
  /// All operands are read in windows along dimension D; see reads_features.
  static constexpr std::uint32_t windowed = Operands < 32 ? (std::uint32_t{1} << Operands % 32) - 1U : 0U,
                                 features = std::uint32_t{1} << D;
  static constexpr std::size_t anchor = Operands;             ///< the windows are positioned by the result
  static constexpr bool sharded_only_in_programs = true;      ///< without tracing, dimension D of x is not sharded
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::concatenate(static_cast<std::ptrdiff_t>(D))(x);
  }
  /// The interval of indices of operand i along D that the interval y of indices of the result along D reads.
  template <class Extents>
  static interval operand_interval(std::size_t i, interval y, const Extents& get_extent) {
    std::size_t start = 0;
    for (std::size_t k = 0; k < i; ++k) start += get_extent(k);
    const std::size_t end = start + get_extent(i);
    const std::size_t from = y.start > start ? y.start : start, to = y.stop < end ? y.stop : end;
    return from < to ? interval{from - start, to - start} : interval{};
  }
  /// The interval of operand i along dimension D that box y of the result reads.
  short_list<interval> window(std::size_t i, const short_list<interval>& y, const shape_span& x) const {
    return {operand_interval(i, y[D], [&](std::size_t k) { return x[k][D]; })};
  }
  template <class T>
  void local(const std::vector<tensor_part<const T>>& x, const tensor_part<T>& y) const {  ///< this worker's block of y
    shape_list here = shape_list::filled(y.shape.size(), 0), there = here;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const interval part = operand_interval(i, y.box[D], [&](std::size_t k) { return x[k].extents[D]; });
      shape_list shape = y.shape;
      shape[D] = part.size();
      if (shape_size(shape) == 0) continue;
      here[D] = part.start - x[i].box[D].start;
      copy_elements(x[i], here, y, there, shape);
      there[D] += part.size();
    }
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const std::vector<X>& x, const X&) const {  ///< the slice of dy from operand i
    std::size_t start = 0;
    for (std::size_t k = 0; k < i; ++k) start += x[k].extents()[D];
    return apply_op(slice_operation<D>{{interval{start, start + x[i].extents()[D]}}}, dy);
  }
};

/// The parts of x of these extents along dimension D.
template <std::size_t D, class X, std::size_t N>
auto parts_of(const X& x, const std::array<std::size_t, N>& extents) {
  std::size_t start = 0;
  const auto part = [&](std::size_t extent) {
    const interval one{start, start + extent};
    start = one.stop;
    return apply_op(slice_operation<D>{{one}}, x);
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<decltype(part(0)), N>{part(extents[I])...};
  }(std::make_index_sequence<N>());
}
template <std::size_t>
using interval_in_dimension = interval;  ///< one argument for each dimension of a call
template <std::size_t>
using margin_in_dimension = margin;  ///< one argument for each dimension of a call

}  // namespace detail

/// Takes the elements of x in intervals of some dimensions, as in `slice(x, dimensions<0, 2>, {1, 4}, {0, 2})`. A
/// sliced dimension that is sharded stays sharded.
/// Shapes: for each named dimension, one interval inside of the extent of x [shape_error].
/// Requires: dimensions that x has, each once [compile time]. Pending sums stay pending.
/// Cost: a copy of the result. If sliced dimensions are sharded, each worker receives only the elements of x that
/// its block of the result needs.
/// Adjoint: pads dy with zeros.
template <detail::any_tensor X, std::size_t... D>
auto slice(const X& x, dimensions_t<D...>, const detail::interval_in_dimension<D>&... of) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::slice(x, dimensions<d...>, {from, to}...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::slice_operation<D...>{{of...}}, x);
}
/// Adds zeros, or elements equal to `number`, before and after the elements of x along some dimensions, as in `pad(x,
/// dimensions<0, 1>, {1, 2}, {0, 1})`. A padded dimension that is sharded stays sharded.
/// Adjoint: the slice of dy without the added elements.
template <detail::any_tensor X, std::size_t... D>
auto pad(const X& x, dimensions_t<D...>, const detail::margin_in_dimension<D>&... by) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::pad(x, dimensions<d...>, {before, after}...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::pad_operation<true, D...>{{by...}, 0}, x);
}
template <detail::any_tensor X, std::size_t... D>
auto pad(const X& x, double number, dimensions_t<D...>, const detail::margin_in_dimension<D>&... by) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::pad(x, number, dimensions<d...>, {before, after}...)"));
  if constexpr (detail::has_dimensions<X, D...>)
    return apply_op(detail::pad_operation<false, D...>{{by...}, number}, x);
}
/// Joins tensors along dimension D: `concatenate(dimensions<0>, x, y, z)`. All other dimensions usually keep their
/// sharding; D keeps its sharding only in traced programs, for at most 8 tensors.
/// Shapes: the tensors have equal extents except along D [shape_error].
/// Requires: tensors of one mesh and one element type [compile time; partition_error].
/// Cost: a copy of the result. A tensor that is sharded along D is gathered along D; in traced programs with at most 8
/// tensors, a worker receives only the elements of its block of the result.
/// Adjoint: the gradient of each tensor is the slice of dy along D that the tensor has filled.
template <std::size_t D, class... X>
  requires(sizeof...(X) > 0 && (detail::any_tensor<X> && ...))
auto concatenate(dimensions_t<D>, const X&... x) {
  static_assert((detail::has_dimensions<X, D> && ...),
                "partita::concatenate(dimensions<d>, x...): requires a dimension that all x have; count from 0");
  constexpr bool one_rank = detail::are_of_one_rank<X...>();
  static_assert(one_rank, "partita::concatenate(dimensions<d>, x...): requires tensors of one rank");
  if constexpr ((detail::has_dimensions<X, D> && ...) && one_rank)
    return apply_op(detail::concatenate_operation<D, sizeof...(X)>{}, x...);
}
/// Splits x along a dimension into parts of these extents: `auto [q, k, v] = split(x, dimensions<1>, extents<8, 8,
/// 8>{})`; or into n balanced parts, where the first parts may have one element more: `split<3>(x, dimensions<1>)`. A
/// sharded dimension stays sharded in each part.
/// Shapes: the parts have the extents of x except along the dimension.
/// Requires: extents whose sum is the extent of the dimension [shape_error]. Pending sums stay pending.
/// Cost: that of one `slice` for each part.
/// Adjoint: the sum of the parts' cotangents, each padded with zeros.
template <detail::any_tensor X, std::size_t D, std::size_t... E>
auto split(const X& x, dimensions_t<D>, const extents<E...>& parts) {
  static_assert(detail::has_dimensions<X, D>,
                "partita::split(x, dimensions<d>, extents): requires a dimension that x has");
  if constexpr (detail::has_dimensions<X, D>) {
    const auto all = parts.array();
    std::size_t sum = 0;
    for (const std::size_t one : all) sum += one;
    const shape_list whole = detail::operand_extents(x);
    if (D >= whole.size() || sum != whole[D])
      throw shape_error(text("partita::split: requires parts that fill dimension ")
                        << D << " of " << whole << ", but they have " << sum << " elements together");
    return detail::parts_of<D>(x, all);
  } else {
    return detail::rejected_call{};
  }
}
template <std::size_t N, detail::any_tensor X, std::size_t D>
auto split(const X& x, dimensions_t<D>) {  ///< into N balanced parts
  static_assert(N > 0, "partita::split<n>(x, dimensions<d>): requires at least one part");
  static_assert(detail::has_dimensions<X, D>, "partita::split<n>(x, dimensions<d>): requires a dimension that x has");
  if constexpr (N > 0 && detail::has_dimensions<X, D>) {
    const shape_list whole = detail::operand_extents(x);
    const std::size_t n = whole[detail::checked_dimension(static_cast<std::ptrdiff_t>(D), whole.size(), "split")];
    std::array<std::size_t, N> parts{};
    for (std::size_t k = 0; k < N; ++k) parts[k] = balanced_part(n, N, k).size();
    return detail::parts_of<D>(x, parts);
  } else {
    return detail::rejected_call{};
  }
}

}  // namespace partita
