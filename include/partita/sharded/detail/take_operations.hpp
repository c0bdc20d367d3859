// The operations that take elements at indices or labels that every worker has, and their adjoints, which are declared
// in the same form as a user-defined operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/hash.hpp>
#include <partita/rule/sharding/operation.hpp>
#include <partita/sharded/operate.hpp>
#include <vector>

namespace partita::detail {

/// An array of indices, with its extents, of which every worker has a copy.
struct known_indices {
  std::shared_ptr<const std::vector<std::size_t>> values;  ///< the indices, in C order
  shape_list extents{};                                    ///< the extents of the array

  std::uint64_t fingerprint() const { return hasher().mix(*values).mix(extents).value(); }  ///< a hash of both members
};

/// Calls f(k, label) for each row k of the box `rows`, with the label at the row's global index.
template <class F>
void for_each_label(const std::vector<std::size_t>& labels, const short_list<interval>& rows, const shape_list& extents,
                    F f) {
  const shape_list shape = shape_of_box(rows);
  const std::size_t n = shape_size(shape);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t remaining = k, at = 0, step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += (rows[d].start + remaining % shape[d]) * step;
      remaining /= shape[d];
      step *= extents[d];
    }
    f(k, labels[at]);
  }
}
/// Calls f(k, index) for the k-th index, from 0, that belongs to a block. The dimensions of the index array are the
/// dimensions D, D + 1, … of the block.
template <std::size_t D, class T, class F>
void for_each_index(const known_indices& indices, const tensor_part<T>& block, F f) {
  short_list<interval> rows;
  for (std::size_t k = 0; k < indices.extents.size(); ++k) rows.push_back(block.box[D + k]);
  for_each_label(*indices.values, rows, indices.extents, f);
}

template <std::size_t D, std::size_t Rank, bool Cut = false>
struct take_operation;

/// The adjoint of take_operation, which adds each row of dy to the row that it was taken from. If `Cut` is true,
/// dimension D of the result may be sharded, and a worker ignores the rows of dy that belong to rows of the result that
/// it does not hold.
template <std::size_t D, std::size_t Rank, bool Cut>
struct take_adjoint_op {
  static constexpr bool on_integers = true;          ///< accepts integers
  static constexpr std::uint32_t adjoint_reads = 0;  ///< the adjoint reads extents only
  static constexpr std::size_t parameters = 2;       ///< the number of data members, which the workers compare
  known_indices indices;                             ///< the rows of the result to which the rows of dy are added
  std::size_t extent;                                ///< the extent of dimension D of the result

  static constexpr partita::rule rule(const shape_span& dy) {  ///< dimension D of the result is whole unless `Cut`
    partita::rule r;
    const separate_factors f(r, dy[0]);
    r.begin_operand();
    f.write(r);
    r.begin_result();
    for (std::size_t d = 0; d < dy[0].size(); ++d) {
      if (d == D) add_indexed_dimension(r);
      if (d < D || d >= D + Rank) r.add_dimension(f[d]);
    }
    if (dy[0].size() == D) add_indexed_dimension(r);
    return r.complete().named(Cut ? "gradient of a lookup" : "gradient of take");
  }
  shape_list result_extents(const shape_span& dy) const {  ///< the extents of the whole result
    shape_list x;
    for (std::size_t d = 0; d < D; ++d) x.push_back(dy[0][d]);
    x.push_back(extent);
    for (std::size_t d = D + Rank; d < dy[0].size(); ++d) x.push_back(dy[0][d]);
    return x;
  }
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<T>& x) const {  ///< sums rows of dy in block x
    for (T& element : x) element = T(0);
    const dimension_loops n(dy.shape, D, Rank);
    const interval own = x.box[D];
    for_each_index<D>(indices, dy, [&](std::size_t k, std::size_t index) {
      for (std::size_t o = 0; o < n.outer && index >= own.start && index < own.stop; ++o)
        for (std::size_t i = 0; i < n.inner; ++i)
          x[(o * own.size() + index - own.start) * n.inner + i] += dy[(o * n.middle + k) * n.inner + i];
    });
  }
  template <class X>
  X adjoint(std::size_t, const X& dx, const X&, const X&) const {  ///< the cotangent of dy
    return apply_op(take_operation<D, Rank, Cut>{indices}, dx);
  }

 private:
  static constexpr void add_indexed_dimension(partita::rule& r) {  ///< adds dimension D to the result of r
    if (Cut) add_open_dimension(r);
    else r.add_whole_dimension();
  }
};

/// Takes the elements at indices along dimension D. If `Cut` is true, dimension D may be sharded; then a worker has 0
/// for the elements that it does not hold, and the result is a partial sum.
template <std::size_t D, std::size_t Rank, bool Cut>
struct take_operation {
  static constexpr bool on_integers = true;          ///< accepts integers
  static constexpr std::uint32_t adjoint_reads = 0;  ///< the adjoint reads extents only
  static constexpr std::size_t parameters = 1;       ///< the number of data members, which the workers compare
  known_indices indices;                             ///< the rows of x that are taken

  static constexpr partita::rule rule(const shape_span& x) {  ///< dimension D of x is whole unless `Cut`
    partita::rule r;
    const separate_factors f(r, x[0], Cut ? 0 : std::uint32_t{1} << D);
    r.begin_operand();
    f.write(r);
    r.begin_result();
    for (std::size_t d = 0; d < x[0].size(); ++d) {
      if (d != D) r.add_dimension(f[d]);
      for (std::size_t k = 0; d == D && k < Rank; ++k) add_open_dimension(r);
    }
    return Cut ? r.complete().named("lookup") : r.complete().with(linearity::movement).named("take");
  }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y;
    for (std::size_t d = 0; d < x[0].size(); ++d) {
      if (d != D) y.push_back(x[0][d]);
      for (std::size_t k = 0; d == D && k < Rank; ++k) y.push_back(indices.extents[k]);
    }
    for (const std::size_t one : *indices.values)
      if (one >= x[0][D])
        throw shape_error(text("partita::take: requires indices below the extent of dimension ")
                          << D << " of " << x[0] << ", got " << one);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< 0 for indices outside of block x
    const dimension_loops n(y.shape, D, Rank);
    const interval own = x.box[D];
    for_each_index<D>(indices, y, [&](std::size_t k, std::size_t index) {
      const bool is_in_block = index >= own.start && index < own.stop;
      for (std::size_t o = 0; o < n.outer; ++o)
        for (std::size_t i = 0; i < n.inner; ++i)
          y[(o * n.middle + k) * n.inner + i] =
              is_in_block ? x[(o * own.size() + index - own.start) * n.inner + i] : T(0);
    });
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of x
    return apply_op(take_adjoint_op<D, Rank, Cut>{indices, x.extents()[D]}, dy);
  }
};

}  // namespace partita::detail
