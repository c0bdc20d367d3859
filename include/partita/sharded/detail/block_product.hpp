// Products and sums of blocks over the factors of a rule: matrix products where there are any, loops where there are
// none.
#pragma once

#include <cstddef>
#include <limits>
#include <partita/array/gemm.hpp>
#include <partita/rule/sharding/bound.hpp>
#include <partita/sharded/detail/reshard_block.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// How far the elements of tensor t of a rule are apart along each factor, 0 where it lacks it, and how many there are.
struct factor_walk {
  std::ptrdiff_t step[most_factors] = {};
  bool has[most_factors] = {};

  factor_walk(const rule& r, std::size_t t, const shape_list& block, std::size_t* extent) {
    const auto steps = steps_in(block);
    for (std::size_t d = 0; d < r.rank(t); ++d) {
      if (r.at(t, d).count == 0) continue;
      const std::size_t f = r.term(r.at(t, d), 0);
      step[f] = steps[d];
      has[f] = true;
      extent[f] = block[d];
    }
  }
};

/// The factors of one tensor's dimensions, in their order.
inline std::vector<std::size_t> factors_in_order(const rule& r, std::size_t t) {
  std::vector<std::size_t> all;
  for (std::size_t d = 0; d < r.rank(t); ++d)
    if (r.at(t, d).count != 0) all.push_back(r.term(r.at(t, d), 0));
  return all;
}

template <class T>
T identity_of_owed(owed_reduction kind) {
  using limits = std::numeric_limits<T>;
  switch (kind) {
    case owed_reduction::prod:
    case owed_reduction::all:
      return T(1);
    case owed_reduction::max:
      return limits::has_infinity ? -limits::infinity() : limits::lowest();
    case owed_reduction::min:
      return limits::has_infinity ? limits::infinity() : limits::max();
    default:
      return T(0);
  }
}

/// y over its own factors = x, reduced over those that y lacks and repeated over those that x lacks.
template <class T>
void map_block(const rule& r, owed_reduction kind, const tensor_block<T>& x, const tensor_block<T>& y) {
  std::size_t extent[most_factors] = {};
  const factor_walk to(r, 1, y.shape, extent), from(r, 0, x.shape, extent);
  shape_list loops;
  short_list<std::ptrdiff_t> steps[2];
  const auto add = [&](std::size_t f) {
    loops.push_back(extent[f]);
    steps[0].push_back(to.step[f]);
    steps[1].push_back(from.step[f]);
  };
  bool reduces = false;
  for (const std::size_t f : factors_in_order(r, 0))
    if (!to.has[f]) add(f), reduces = true;
  for (const std::size_t f : factors_in_order(r, 1)) add(f);
  y.fill(identity_of_owed<T>(kind));
  const std::size_t last = loops.size();
  const std::ptrdiff_t sy = last == 0 ? 0 : steps[0][last - 1], sx = last == 0 ? 0 : steps[1][last - 1];
  for_each_row(loops, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
    T* to_row = y.data() + at[0];
    const T* from_row = x.data() + at[1];
    if (!reduces)
      for (std::size_t k = 0; k < n; ++k, to_row += sy, from_row += sx) *to_row = *from_row;
    else if (kind == owed_reduction::sum)
      for (std::size_t k = 0; k < n; ++k, to_row += sy, from_row += sx) *to_row = static_cast<T>(*to_row + *from_row);
    else
      for (std::size_t k = 0; k < n; ++k, to_row += sy, from_row += sx) *to_row = combined(kind, *to_row, *from_row);
  });
}

/// One operand of a product as batches of matrices: rows and columns merged from factors, packed if they do not merge.
template <class T>
struct matrices {
  strided<T, 2> one;
  std::vector<std::ptrdiff_t> batch_steps;
  tensor_block<T> packed;

  static bool merges(const std::vector<std::size_t>& factors, const std::size_t* extent, const std::ptrdiff_t* step) {
    for (std::size_t k = 0; k + 1 < factors.size(); ++k)
      if (step[factors[k]] != step[factors[k + 1]] * static_cast<std::ptrdiff_t>(extent[factors[k + 1]])) return false;
    return true;
  }
  static std::size_t size_of(const std::vector<std::size_t>& factors, const std::size_t* extent) {
    std::size_t n = 1;
    for (const std::size_t f : factors) n *= extent[f];
    return n;
  }
};

template <class T>
matrices<T> as_matrices(T* data, const std::vector<std::size_t>& batch, const std::vector<std::size_t>& rows,
                        const std::vector<std::size_t>& columns, const std::size_t* extent, const factor_walk& walk,
                        bool result) {
  using m = matrices<T>;
  m out;
  out.one.shape = {m::size_of(rows, extent), m::size_of(columns, extent)};
  const auto last = [&](const std::vector<std::size_t>& f) { return f.empty() ? 1 : walk.step[f.back()]; };
  const bool unit_columns = !result || out.one.shape[1] <= 1 || last(columns) == 1;
  if (m::merges(rows, extent, walk.step) && m::merges(columns, extent, walk.step) && unit_columns) {
    out.one.data = data;
    out.one.strides = {last(rows), last(columns)};
    for (const std::size_t f : batch) out.batch_steps.push_back(walk.step[f]);
    return out;
  }
  shape_list shape;
  for (const auto* part : {&batch, &rows, &columns})
    for (const std::size_t f : *part) shape.push_back(extent[f]);
  out.packed = tensor_block<T>(shape);
  out.one.data = out.packed.data();
  out.one.strides = {static_cast<std::ptrdiff_t>(out.one.shape[1]), 1};
  std::ptrdiff_t next = static_cast<std::ptrdiff_t>(out.one.size());
  out.batch_steps.assign(batch.size(), 0);
  for (std::size_t k = batch.size(); k-- > 0;) {
    out.batch_steps[k] = next;
    next *= static_cast<std::ptrdiff_t>(extent[batch[k]]);
  }
  return out;
}
/// Copies between a tensor and its packed matrices.
template <class T>
void pack(const matrices<T>& m, T* data, const std::vector<std::size_t>& batch, const std::vector<std::size_t>& rows,
          const std::vector<std::size_t>& columns, const factor_walk& walk, bool out) {
  if (!m.packed.memory) return;
  short_list<std::ptrdiff_t> steps[2];
  for (const auto* part : {&batch, &rows, &columns})
    for (const std::size_t f : *part) steps[1].push_back(walk.step[f]);
  steps[0] = steps_in(m.packed.shape);
  const std::size_t last = m.packed.shape.size();
  const std::ptrdiff_t s0 = last == 0 ? 0 : steps[0][last - 1], s1 = last == 0 ? 0 : steps[1][last - 1];
  for_each_row(m.packed.shape, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
    T *a = m.packed.data() + at[0], *b = data + at[1];
    for (std::size_t k = 0; k < n; ++k, a += s0, b += s1) out ? void(*b = *a) : void(*a = *b);
  });
}

/// c = the sum over what c lacks of a b, by loops.
template <class T>
void product_by_loops(const rule& r, const tensor_block<T>& a, const tensor_block<T>& b, const tensor_block<T>& c) {
  std::size_t extent[most_factors] = {};
  const factor_walk in_c(r, 2, c.shape, extent), in_a(r, 0, a.shape, extent), in_b(r, 1, b.shape, extent);
  shape_list loops;
  short_list<std::ptrdiff_t> steps[3];
  const auto add = [&](std::size_t f) {
    loops.push_back(extent[f]);
    steps[0].push_back(in_c.step[f]), steps[1].push_back(in_a.step[f]), steps[2].push_back(in_b.step[f]);
  };
  for (std::size_t f = 0; f < r.factor_count; ++f)
    if ((in_a.has[f] || in_b.has[f]) && !in_c.has[f]) add(f);
  for (const std::size_t f : factors_in_order(r, 2)) add(f);
  c.fill(T(0));
  const std::size_t last = loops.size();
  std::ptrdiff_t s[3] = {};
  for (std::size_t k = 0; k < 3 && last > 0; ++k) s[k] = steps[k][last - 1];
  for_each_row(loops, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
    T* y = c.data() + at[0];
    const T *x = a.data() + at[1], *w = b.data() + at[2];
    for (std::size_t k = 0; k < n; ++k, y += s[0], x += s[1], w += s[2]) *y = static_cast<T>(*y + *x * *w);
  });
}

/// The same, by matrix products where the factors make some: those of a and c are rows, of b and c columns, of a and b
/// alone summed, of all three a batch.
template <class T>
void product_block(const rule& r, const tensor_block<T>& a, const tensor_block<T>& b, const tensor_block<T>& c) {
  std::size_t extent[most_factors] = {};
  const factor_walk in_c(r, 2, c.shape, extent), in_a(r, 0, a.shape, extent), in_b(r, 1, b.shape, extent);
  std::vector<std::size_t> batch, rows, columns, summed;
  bool plain = std::is_floating_point_v<T>;
  for (const std::size_t f : factors_in_order(r, 2)) {
    if (in_a.has[f] && in_b.has[f]) batch.push_back(f);
    else if (in_a.has[f]) rows.push_back(f);
    else if (in_b.has[f]) columns.push_back(f);
    else plain = false;
  }
  for (const std::size_t f : factors_in_order(r, 0))
    if (!in_c.has[f] && in_b.has[f]) summed.push_back(f);
    else if (!in_c.has[f]) plain = false;
  for (const std::size_t f : factors_in_order(r, 1))
    if (!in_c.has[f] && !in_a.has[f]) plain = false;
  if constexpr (std::is_floating_point_v<T>) {
    if (plain) {
      const auto left = as_matrices<T>(a.data(), batch, rows, summed, extent, in_a, false);
      const auto right = as_matrices<T>(b.data(), batch, summed, columns, extent, in_b, false);
      const auto result = as_matrices<T>(c.data(), batch, rows, columns, extent, in_c, true);
      pack(left, a.data(), batch, rows, summed, in_a, false);
      pack(right, b.data(), batch, summed, columns, in_b, false);
      shape_list loops;
      short_list<std::ptrdiff_t> steps[3];
      for (std::size_t k = 0; k < batch.size(); ++k) {
        loops.push_back(extent[batch[k]]);
        steps[0].push_back(result.batch_steps[k]);
        steps[1].push_back(left.batch_steps[k]);
        steps[2].push_back(right.batch_steps[k]);
      }
      loops.push_back(1);
      for (auto& s : steps) s.push_back(0);
      for_each_row(loops, steps, [&](const std::ptrdiff_t* at, std::size_t) {
        strided<const T, 2> x = left.one, w = right.one;
        strided<T, 2> y = result.one;
        y.data += at[0], x.data += at[1], w.data += at[2];
        multiply<T>(x, w, T(0), y);
      });
      pack(result, c.data(), batch, rows, columns, in_c, true);
      return;
    }
  }
  product_by_loops(r, a, b, c);
}

}  // namespace partita::detail
