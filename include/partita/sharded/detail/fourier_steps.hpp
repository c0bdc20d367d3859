// Fourier transforms along whole dimensions of blocks, and the layouts in which the dimensions of a tensor are
// transformed one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/local_transform.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
#include <partita/sharded/detail/convert_elements.hpp>
#include <partita/sharded/detail/whole_dimension.hpp>
#include <partita/sharded/operate.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Transforms dense elements of shape `from` along one dimension, by a transform plan that this thread caches. A
/// transform of complex to real numbers overwrites x.
template <class In, class Out>
void transform_line(In* x, const shape_list& from, Out* y, const shape_list& to, line_transform line) {
  if (shape_size(to) == 0) return;
  static thread_local local_transforms transforms(false);
  // View the shape as three dimensions: all before the transformed one, this dimension, and all after it.
  std::array<std::size_t, 3> shape_x{1, from[line.dimension], 1}, shape_y{1, to[line.dimension], 1};
  for (std::size_t d = 0; d < from.size(); ++d)
    if (d != line.dimension) shape_x[d < line.dimension ? 0 : 2] *= from[d];
  shape_y[0] = shape_x[0], shape_y[2] = shape_x[2];
  line.dimension = 1;
  transforms.run(dense_block<In, 3>(x, shape_x), dense_block<Out, 3>(y, shape_y), {line});
}
/// Transforms elements along several dimensions if the element type does not change, else along the one dimension of
/// lines[0].
template <class In, class Out>
void transform_lines(const In* x, const shape_list& from, Out* y, const shape_list& to,
                     const std::vector<line_transform>& lines) {
  if (shape_size(from) == 0) {
    std::fill_n(y, shape_size(to), Out(0));
  } else if constexpr (std::is_same_v<In, Out>) {
    std::copy_n(x, shape_size(from), y);
    for (const line_transform& line : lines) transform_line(y, from, y, to, line);
  } else if constexpr (is_complex<In>) {
    tensor_block<In> kept(from);
    std::copy_n(x, shape_size(from), kept.data());
    transform_line(kept.data(), from, y, to, lines[0]);
  } else {
    transform_line(x, from, y, to, lines[0]);
  }
}

/// The shape of this worker's block of a tensor of these extents in the layout of x.
template <class T>
shape_list shape_of_block(const sharded_tensor<T>& x, const shape_list& extents) {
  const auto& on = x.state()->on;
  return on ? shape_of_box(on->box(layout_of(x.layout()), extents)) : extents;
}
/// Transforms x in its layout, in which the transformed dimensions must not be sharded. `extents` are the extents of
/// the result. In a transform between real numbers and half of their spectrum, n is the number of real numbers along
/// the transformed dimension.
template <class U, class T>
sharded_tensor<U> transform_whole_dimensions(const char* name, const sharded_tensor<T>& x, const shape_list& extents,
                                             const std::vector<line_transform>& lines, std::size_t n) {
  hasher all;
  for (const line_transform& line : lines) {
    all.mix(line.dimension).mix(line.kind).mix(line.real).mix(line.is_backward).mix(line.factor);
    for (const end_factors& ends : {line.before, line.after}) all.mix(ends.first).mix(ends.last);
  }
  std::vector<line_transform> back;
  for (const line_transform& line : lines) back.push_back(adjoint_transform(line, n));
  return convert_elements<U, T>(
      name, all.value(), {x}, layout_of(x.layout()), extents,
      [lines, from = x.state()->block.shape, to = shape_of_block(x, extents)](const T* const* memory, U* y) {
        transform_lines(memory[0], from, y, to, lines);
      },
      [name, back, n, shape = x.extents()](std::size_t, const sharded_tensor<U>& dy) {
        return transform_whole_dimensions<T, U>(name, dy, shape, back, n);
      });
}

/// The layout of the result of a transform of a tensor in layout s along the dimensions `all`, of which `left` remain
/// to be transformed.
constexpr sharding layout_after_transform(sharding s, std::uint32_t left, std::uint32_t all) {
  s = layout_of_function(true, s);
  while (left != 0) {
    s = make_dimension_whole(s, left, all);
    left &= ~whole_dimensions(s, left);
  }
  return s;
}

/// The kind of a transform, the same along all dimensions that are transformed: a Fourier transform of complex numbers,
/// or a cosine or sine transform of real numbers; with its direction and its norm.
struct transform_kind {
  bool inverse = false;                            ///< whether this is the inverse transform
  fourier_norm norm = fourier_norm::backward;      ///< which direction is scaled; see fourier_norm
  line_kind kind = line_kind::complex_to_complex;  ///< the element types of input and result
  real_transform real = real_transform::dct_1;     ///< the transform of real numbers, if `kind` is real_to_real

  /// The transform of this kind along dimension d of extent n.
  line_transform line(std::size_t d, std::size_t n) const { return make_transform(d, kind, real, inverse, norm, n); }
};

/// Throws a shape_error unless a value of extents x has all of these dimensions, and enough elements along them.
inline void require_transform(const char* call, const shape_list& x, std::initializer_list<std::size_t> dimensions,
                              const transform_kind& kind = {}) {
  for (const std::size_t d : dimensions) {
    if (d >= x.size())
      throw shape_error(text("partita::") << call << ": requires dimensions below the rank, but dimension " << d
                                          << " of a value of extents " << x << " is to be transformed; count from 0");
    if (kind.kind == line_kind::real_to_real && kind.real == real_transform::dct_1 && x[d] == 1)
      throw shape_error(text("partita::")
                        << call << ": a cosine transform of type I requires at least 2 elements "
                        << "along dimension " << d << ", got a tensor of " << x << "; take another type");
  }
}

/// Transforms x along the dimensions of the bit mask `left`, without a change of the element type.
template <class T>
sharded_tensor<T> transform_all(const char* name, sharded_tensor<T> x, std::uint32_t left, std::uint32_t all,
                                const transform_kind& kind) {
  while (left != 0) {
    sharding s = make_dimension_whole(layout_of_function(true, x.layout()), left, all);
    x = to_layout(x, s);
    const std::uint32_t now = x.state()->on ? whole_dimensions(s, left) : left;
    std::vector<line_transform> lines;
    for (std::size_t d = 0; d < x.rank(); ++d)
      if (has_bit(now, d)) lines.push_back(kind.line(d, x.extents()[d]));
    x = transform_whole_dimensions<T>(name, x, x.extents(), lines, 0);
    left &= ~now;
  }
  return x;
}
/// Transforms x along dimension d, from n real numbers to half of their spectrum or back.
template <class U, class T>
sharded_tensor<U> transform_half_spectrum(const char* name, const sharded_tensor<T>& x, std::size_t d,
                                          std::uint32_t all, fourier_norm norm, std::size_t n) {
  const std::uint32_t left = std::uint32_t{1} << d;
  constexpr bool to_real = is_complex<T>;
  shape_list extents = x.extents();
  extents[d] = to_real ? n : half_spectrum_extent(n);
  return transform_whole_dimensions<U>(
      name, to_layout(x, make_dimension_whole(layout_of_function(true, x.layout()), left, all)), extents,
      {make_transform(d, to_real ? line_kind::complex_to_real : line_kind::real_to_complex, {}, to_real, norm, n)}, n);
}

// The operations below are transforms in traced programs.

/// The transform along dimension D, which must not be sharded, without a change of the element type; or the transpose
/// of this transform.
template <std::size_t D, bool OfComplex>
struct transform_operation {
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask of values that the adjoint reads: none
  static constexpr std::size_t parameters = 5;       ///< the number of data members, equal on all workers
  static constexpr bool on_complex = OfComplex;      ///< whether complex elements are accepted
  bool inverse = false;                              ///< whether this is the inverse transform
  fourier_norm norm = fourier_norm::backward;        ///< which direction is scaled; see fourier_norm
  line_kind kind = line_kind::complex_to_complex;    ///< the element types of input and result
  real_transform real = real_transform::dct_1;       ///< the transform of real numbers, if `kind` is real_to_real
  bool transposed = false;                           ///< whether this is the transpose of the transform

  static constexpr partita::rule rule(const shape_span& x) {  ///< a sharding rule that leaves dimension D whole
    return rules::along({static_cast<std::ptrdiff_t>(D)}, 1, true).named(OfComplex ? "fft" : "dct")(x);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< transforms block x to block y
    const line_transform line = transform_kind{inverse, norm, kind, real}.line(D, x.extents[D]);
    transform_lines(x.memory, x.shape, y.memory, y.shape, {transposed ? adjoint_transform(line, x.extents[D]) : line});
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    return apply_op(transform_operation{inverse, norm, kind, real, !transposed}, dy);
  }
};

/// The transform along dimension D, which must not be sharded, from n real numbers to half of their spectrum, or back.
template <bool ToReal, std::size_t D>
struct half_spectrum_operation {
  /// The element types of operand and result, where double stands for both precisions.
  using operand_type = std::conditional_t<ToReal, std::complex<double>, double>;
  using result_type = std::conditional_t<ToReal, double, std::complex<double>>;  ///< a placeholder for both precisions
  static constexpr std::size_t parameters = 2;  ///< the number of data members, equal on all workers
  fourier_norm norm = fourier_norm::backward;   ///< which direction is scaled; see fourier_norm
  std::size_t n = 0;                            ///< the number of real numbers along dimension D

  static constexpr const char* name() { return ToReal ? "irfft" : "rfft"; }  ///< of the operation, in logs and errors
  static constexpr partita::rule rule(const shape_span& x) {  ///< a sharding rule that leaves dimension D whole
    return rules::slice({static_cast<std::ptrdiff_t>(D)}).named(name())(x).with(linearity::additive);
  }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y = x[0];
    y[D] = ToReal ? n : half_spectrum_extent(n);
    return y;
  }
  template <class T>
  auto convert(const std::vector<sharded_tensor<T>>& x) const {  ///< transforms the tensor x[0] at once
    using result_element = std::conditional_t<ToReal, real_of<T>, std::complex<real_of<T>>>;  ///< in T's precision
    return transform_half_spectrum<result_element>(name(), x[0], D, std::uint32_t{1} << D, norm, n);
  }
};

}  // namespace partita::detail
