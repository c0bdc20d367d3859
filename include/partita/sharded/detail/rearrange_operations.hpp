// The operations that rearrange the elements of sharded tensors: their rules, the boxes that they read, their copies of
// blocks, and their adjoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/reductions.hpp>
#include <vector>

namespace partita {

/// The indices start, start + step, … that are below stop.
struct index_progression {
  std::size_t start = 0, stop = 0, step = 1;  ///< `step` is the distance of two indices; `stop` is excluded

  constexpr std::size_t size() const { return stop <= start ? 0 : (stop - start + step - 1) / step; }  ///< their number
  constexpr std::uint64_t fingerprint() const { return hasher().mix(start).mix(stop).mix(step).value(); }  ///< a hash
};

namespace detail {

/// Copies elements of x to a result. Each index of the result along a dimension comes from one index of x along this
/// dimension, or from none: then the elements of the result at this index are 0.
class index_mapped_copy {
 public:
  static constexpr std::size_t no_source = ~std::size_t{0};  ///< in place of an index: the element is 0

  /// `from(d, i)` is the index of tensor x along dimension d from which index i of the result comes, or `no_source`.
  template <class X, class Y, class From>
  index_mapped_copy(const X& x, const Y& y, const From& from) : shape_(y.shape) {
    const auto steps = strides_of(x.shape);
    for (std::size_t d = 0; d < shape_.size(); ++d)
      for (std::size_t k = 0; k < shape_[d]; ++k) {
        const std::size_t i = from(d, y.box[d].start + k);
        offsets_.push_back(i == no_source ? -1 : static_cast<std::ptrdiff_t>(i - x.box[d].start) * steps[d]);
      }
  }
  template <class T>
  void operator()(const T* x, T* y) const {
    if (shape_size(shape_) > 0) copy(x, y, 0, offsets_.data(), true);
  }

 private:
  /// Sets the elements of the result at fixed indices of the dimensions before d. Returns the address after them.
  template <class T>
  T* copy(const T* x, T* y, std::size_t d, const std::ptrdiff_t* offsets, bool there) const {
    if (d == shape_.size()) {
      *y = there ? *x : T(0);
      return y + 1;
    }
    for (std::size_t k = 0; k < shape_[d]; ++k) {
      const bool has_source = there && offsets[k] >= 0;
      y = copy(has_source ? x + offsets[k] : x, y, d + 1, offsets + shape_[d], has_source);
    }
    return y;
  }

  shape_list shape_;                     ///< the shape of the result
  std::vector<std::ptrdiff_t> offsets_;  ///< in x, for each dimension and index of the result; -1: no source
};

/// The position of dimension d in the list D of dimensions, counted from 0; the length of D if d is not in D.
template <std::size_t... D>
constexpr std::size_t index_in_dimensions(std::size_t d) {
  constexpr std::array<std::size_t, sizeof...(D)> all{D...};
  std::size_t k = 0;
  while (k < sizeof...(D) && all[k] != d) ++k;
  return k;
}

/// The common part of operations that rearrange elements along the dimensions D. `Op::source(k, i, n)` is the index
/// along the k-th of these dimensions, where x has extent n, from which index i of the result comes;
/// `Op::read_interval(k, interval, n)` is the interval of x that an interval of the result reads.
template <class Op, std::size_t... D>
struct rearrangement {
  static constexpr bool on_integers = true, is_linear = true;  ///< accepts integers; may precede a pending sum
  static constexpr std::uint32_t along = ((std::uint32_t{1} << D) | ... | 0U);  ///< the dimensions D, as a bit mask
  static constexpr std::uint32_t adjoint_reads = 0;                             ///< the adjoint reads extents only

  /// Returns the function that copies a block of x to block y.
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    const Op& op = static_cast<const Op&>(*this);
    return index_mapped_copy(x, y, [&](std::size_t d, std::size_t i) {
      const std::size_t k = index_in_dimensions<D...>(d);
      return k == sizeof...(D) ? i : op.source(k, i, x.extents[d]);
    });
  }
  /// The box of x, a tensor with these extents, that box `box` of the result reads.
  short_list<interval> window(short_list<interval> box, const shape_list& x) const {
    std::size_t k = 0;
    const auto read = [&](std::size_t d) {
      box[d] = box[d].size() == 0 ? interval{} : static_cast<const Op&>(*this).read_interval(k, box[d], x[d]);
      ++k;
    };
    (read(D), ...);
    return box;
  }
};
/// The rule of an operation along the dimensions D that keeps all extents.
template <std::size_t... D>
constexpr partita::rule rule_keeping_extents(const char* name, const shape_span& x) {
  return rules::along({static_cast<std::ptrdiff_t>(D)...}, 1, true).named(name)(x);
}
/// The rule of an operation that changes the extents along the dimensions D.
template <std::size_t... D>
constexpr partita::rule rule_of_resizing(const char* name, const shape_span& x) {
  return rules::slice({static_cast<std::ptrdiff_t>(D)...}).named(name)(x);
}

template <std::size_t... D>
struct flip_operation : rearrangement<flip_operation<D...>, D...> {  ///< reverses the order along the dimensions D
  static constexpr partita::rule rule(const shape_span& x) { return rule_keeping_extents<D...>("flip", x); }
  std::size_t source(std::size_t, std::size_t i, std::size_t n) const { return n - 1 - i; }  ///< where i comes from
  /// The indices of x, which has extent n, that the interval y of the result reads.
  interval read_interval(std::size_t, interval y, std::size_t n) const { return {n - y.stop, n - y.start}; }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    return apply_op(*this, dy);
  }
};

template <std::size_t... D>
struct roll_operation : rearrangement<roll_operation<D...>, D...> {  ///< rotates x along the dimensions D
  static constexpr std::size_t parameters = 1;      ///< the number of data members, which the workers compare
  std::array<std::ptrdiff_t, sizeof...(D)> shifts;  ///< by how many positions elements move along each of D

  static constexpr partita::rule rule(const shape_span& x) { return rule_keeping_extents<D...>("roll", x); }
  std::size_t source(std::size_t k, std::size_t i, std::size_t n) const {  ///< the index of x from which index i comes
    const auto extent = static_cast<std::ptrdiff_t>(n);
    return (i + static_cast<std::size_t>((extent - shifts[k] % extent) % extent)) % n;
  }
  interval read_interval(std::size_t k, interval y, std::size_t n) const {  ///< the indices of x that y reads
    const std::size_t start = source(k, y.start, n);
    return start + y.size() <= n ? interval{start, start + y.size()} : interval{0, n};
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    std::array<std::ptrdiff_t, sizeof...(D)> back = shifts;
    for (std::ptrdiff_t& one : back) one = -one;
    return apply_op(roll_operation{{}, back}, dy);
  }
};

template <std::size_t... D>
struct tile_operation : rearrangement<tile_operation<D...>, D...> {  ///< repeats x along the dimensions D
  static constexpr std::size_t parameters = 1;    ///< the number of data members, which the workers compare
  std::array<std::size_t, sizeof...(D)> repeats;  ///< the number of copies along each of the dimensions D

  static constexpr partita::rule rule(const shape_span& x) { return rule_of_resizing<D...>("tile", x); }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y = x[0];
    std::size_t k = 0;
    ((y[D] *= repeats[k++]), ...);
    return y;
  }
  std::size_t source(std::size_t, std::size_t i, std::size_t n) const { return i % n; }  ///< the index of x for i
  interval read_interval(std::size_t, interval y, std::size_t n) const {  ///< the indices of x that y reads
    const std::size_t start = y.start % n;
    return start + y.size() <= n ? interval{start, start + y.size()} : interval{0, n};
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of x
    return sum_copies<0, D...>(dy, x.extents());
  }

 private:
  /// Sums the copies of x in dy along the K-th of the dimensions, and then along the dimensions after it.
  template <std::size_t K, std::size_t First, std::size_t... More, class X>
  X sum_copies(const X& dy, const shape_list& x) const {
    const std::size_t n = x[First];
    X sum = apply_op(slice_operation<First>{{interval{0, repeats[K] == 0 ? 0 : n}}}, dy);
    for (std::size_t t = 1; t < repeats[K]; ++t)
      sum = add(sum, apply_op(slice_operation<First>{{interval{t * n, (t + 1) * n}}}, dy));
    if (repeats[K] == 0) sum = apply_op(pad_operation<true, First>{{margin{0, n}}, 0}, sum);
    if constexpr (sizeof...(More) == 0) return sum;
    else return sum_copies<K + 1, More...>(sum, x);
  }
};

template <std::size_t... D>
struct strided_operation;

/// The adjoint of a strided slice, which places the elements of dy with zeros between them.
template <std::size_t... D>
struct insert_zeros_operation : rearrangement<insert_zeros_operation<D...>, D...> {
  static constexpr std::size_t parameters = 2;          ///< the number of data members, which the workers compare
  std::array<index_progression, sizeof...(D)> indices;  ///< the indices of the result to which the elements move
  std::array<std::size_t, sizeof...(D)> extents;        ///< the extents of the result along the dimensions D

  static constexpr partita::rule rule(const shape_span& x) { return rule_of_resizing<D...>("spread", x); }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y = x[0];
    std::size_t k = 0;
    ((y[D] = extents[k++]), ...);
    return y;
  }
  std::size_t source(std::size_t k, std::size_t i, std::size_t n) const {  ///< the index of dy that moves to i, if any
    if (i < indices[k].start || (i - indices[k].start) % indices[k].step != 0) return index_mapped_copy::no_source;
    const std::size_t at = (i - indices[k].start) / indices[k].step;
    return at < n ? at : index_mapped_copy::no_source;
  }
  interval read_interval(std::size_t k, interval y, std::size_t n) const {  ///< the indices of dy that y reads
    const auto first_from = [&](std::size_t i) {
      const std::size_t at = i <= indices[k].start ? 0 : (i - indices[k].start + indices[k].step - 1) / indices[k].step;
      return at < n ? at : n;
    };
    const std::size_t start = first_from(y.start), stop = first_from(y.stop);
    return start < stop ? interval{start, stop} : interval{};
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of the operand
    return apply_op(strided_operation<D...>{{}, indices}, dy);
  }
};
template <std::size_t... D>
struct strided_operation : rearrangement<strided_operation<D...>, D...> {  ///< takes elements at regular indices
  static constexpr std::size_t parameters = 1;          ///< the number of data members, which the workers compare
  std::array<index_progression, sizeof...(D)> indices;  ///< the indices of x that are taken along the dimensions D

  static constexpr partita::rule rule(const shape_span& x) { return rule_of_resizing<D...>("strided_slice", x); }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y = x[0];
    std::size_t k = 0;
    const auto take = [&](std::size_t d) {
      const index_progression one = indices[k++];
      if (one.step == 0 || one.start > one.stop || one.stop > y[d])
        throw shape_error(
            text("partita::strided_slice: requires indices of the tensor and a step of at least 1, but got "
                 "those from ")
            << one.start << " up to " << one.stop << " in steps of " << one.step << " of dimension " << d << " of "
            << x[0]);
      y[d] = one.size();
    };
    (take(D), ...);
    return y;
  }
  /// The index of x, along the k-th of the dimensions D, from which index i of the result comes.
  std::size_t source(std::size_t k, std::size_t i, std::size_t) const { return indices[k].start + i * indices[k].step; }
  interval read_interval(std::size_t k, interval y, std::size_t) const {  ///< the indices of x that y reads
    return {source(k, y.start, 0), source(k, y.stop - 1, 0) + 1};
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of x
    return apply_op(insert_zeros_operation<D...>{{}, indices, {x.extents()[D]...}}, dy);
  }
};

template <std::size_t... D>
struct expand_operation {                                ///< repeats the only element along each of the dimensions D
  static constexpr bool on_integers = true;              ///< accepts integers
  static constexpr std::uint32_t adjoint_reads = 0;      ///< the adjoint reads extents only
  static constexpr std::size_t parameters = 1;           ///< the number of data members, which the workers compare
  std::array<std::size_t, sizeof...(D)> target_extents;  ///< the extents of the result along the dimensions D

  static constexpr partita::rule rule(const shape_span& x) {  ///< does not shard the dimensions D of x
    partita::rule r;
    const separate_factors f(r, x[0]);
    r.begin_operand();
    for (std::size_t d = 0; d < x[0].size(); ++d) {
      if (index_in_dimensions<D...>(d) < sizeof...(D)) r.factors[f[d]].size = dynamic, r.add_dimension();
      else r.add_dimension(f[d]);
    }
    r.begin_result();
    f.write(r);
    return r.complete().named("expand").with(linearity::movement);
  }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y = x[0];
    std::size_t k = 0;
    ((y[D] = target_extents[k++]), ...);
    return y;
  }
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< copies block x to block y
    return index_mapped_copy(x, y, [](std::size_t d, std::size_t i) {
      return index_in_dimensions<D...>(d) < sizeof...(D) ? std::size_t{0} : i;
    });
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    return sum(dy, dimensions<D...>, keep_dimensions);
  }
};

/// Keeps the elements on a diagonal of the last two dimensions and on one side of it, and sets the others to 0.
template <bool Lower>
struct triangle_operation {
  static constexpr bool on_integers = true;          ///< accepts integers
  static constexpr std::uint32_t adjoint_reads = 0;  ///< the adjoint reads extents only
  static constexpr std::size_t parameters = 1;       ///< the number of data members, which the workers compare
  std::ptrdiff_t diagonal = 0;                       ///< column - row of the elements on the diagonal

  static constexpr partita::rule rule(const shape_span& x) {  ///< the rule of an elementwise operation
    return rules::elementwise.named(Lower ? "tril" : "triu")(x).with(linearity::additive);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes block y from block x
    const std::size_t rank = y.shape.size(), rows = y.shape[rank - 2], columns = y.shape[rank - 1];
    for (std::size_t k = 0; k < y.size(); ++k) {
      const auto row = static_cast<std::ptrdiff_t>(y.box[rank - 2].start + k / columns % rows),
                 column = static_cast<std::ptrdiff_t>(y.box[rank - 1].start + k % columns);
      const bool stays = Lower ? column - row <= diagonal : column - row >= diagonal;
      y[k] = stays ? x[k] : T(0);
    }
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< the cotangent of x
    return apply_op(*this, dy);
  }
};

template <std::size_t... D>
struct squeeze_operation {                                    ///< removes the dimensions D, whose extents are 1
  static constexpr partita::rule rule(const shape_span& x) {  ///< the dimensions other than D may be sharded
    partita::rule r;
    const separate_factors f(r, x[0]);
    for (std::size_t t = 0; t < 2; ++t) {
      t == 0 ? r.begin_operand() : r.begin_result();
      for (std::size_t d = 0; d < x[0].size(); ++d) {
        if (index_in_dimensions<D...>(d) == sizeof...(D)) r.add_dimension(f[d]);
        else if (t == 0) r.factors[f[d]].size = dynamic, r.add_dimension();
      }
    }
    return r.complete().named("squeeze").with(linearity::movement);
  }
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::reshape}; }
};
template <std::size_t... D>
struct unsqueeze_operation {                                  ///< inserts the dimensions D, with extents 1
  static constexpr partita::rule rule(const shape_span& x) {  ///< all dimensions of x may be sharded
    return rules::unsqueeze({static_cast<std::ptrdiff_t>(D)...})(x);
  }
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::reshape}; }
};

/// Whether X has at least two dimensions, as far as its type shows.
template <class X>
inline constexpr bool has_matrix_rank = static_rank<X>() >= 2;

}  // namespace detail

}  // namespace partita
