// Reference results of every kernel, written from the documents as plain loops over a simulated world. Blocks are
// functions of the worker and of the call, so every worker computes its own reference result without communication.
// Nothing of the library is included here, so no mistake can be on both sides.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <type_traits>
#include <vector>

namespace oracle {

using list = std::vector<std::size_t>;

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014): a permutation of 64 bits without a pattern.
inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}
template <class... More>
std::uint64_t mixed(std::uint64_t first, std::uint64_t second, More... more) {
  return mixed(mixed(first + 0x9e3779b97f4a7c15ULL) ^ second, more...);
}

/// A seed that differs between runs with and without shared memory or pretended nodes; it is the same on all workers.
inline std::uint64_t seed_here(std::uint64_t seed) {
  for (const char* name : {"PARTITA_SHARED", "PARTITA_SHARED_FREE", "PARTITA_NODES"}) {
    const char* const value = std::getenv(name);
    seed = mixed(seed, value == nullptr ? std::uint64_t{0} : 1 + std::strtoull(value, nullptr, 10));
  }
  return seed;
}

/// Counter-based random numbers: the k-th draw depends only on the seed and k, so all workers draw the same numbers.
class random {
 public:
  explicit random(std::uint64_t seed) : seed_(seed) {}
  std::size_t below(std::size_t n) { return mixed(seed_, ++drawn_) % n; }
  std::size_t between(std::size_t first, std::size_t last) { return first + below(last - first + 1); }
  bool once_in(std::size_t n) { return below(n) == 0; }
  std::uint64_t number() { return mixed(seed_, ++drawn_); }
  /// `count` different numbers out of 0 … n - 1, in random order.
  list some_of(std::size_t n, std::size_t count) {
    list all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t k = 0; k < count; ++k) std::swap(all[k], all[between(k, n - 1)]);
    all.resize(count);
    return all;
  }
  /// `rank` extents whose product is at most `most`.
  list grid(std::size_t rank, std::size_t most) {
    list shape(rank, 1);
    const list order = some_of(rank, rank);
    for (const std::size_t d : order) {
      shape[d] = between(1, most);
      most /= shape[d];
    }
    return shape;
  }

 private:
  std::uint64_t seed_, drawn_ = 0;
};

/// Element k of the block of a worker in a call: a small integer, so that all sums are exact.
template <class T>
T value(std::uint64_t call, std::size_t worker, std::size_t k) {
  const std::uint64_t h = mixed(call * 64 + worker) + k * 0x9e3779b97f4a7c15ULL;
  const int a = static_cast<int>((h >> 35U) % 17) - 8, b = static_cast<int>((h >> 17U) % 15) - 7;
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(a);
  else return T(static_cast<typename T::value_type>(a), static_cast<typename T::value_type>(b));
}

inline std::size_t volume(const list& shape) {
  std::size_t product = 1;
  for (const std::size_t n : shape) product *= n;
  return product;
}
inline list index_of(std::size_t number, const list& shape) {
  list i(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; number /= shape[d]) i[d] = number % shape[d];
  return i;
}
inline std::size_t number_of(const list& i, const list& shape) {
  std::size_t number = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) number = number * shape[d] + i[d];
  return number;
}

template <class T>
struct block {
  list shape;
  std::vector<T> data;

  explicit block(list extents) : shape(std::move(extents)), data(volume(shape), T{}) {}
  /// The block that a worker passes to a call.
  block(list extents, std::uint64_t call, std::size_t worker) : block(std::move(extents)) {
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = value<T>(call, worker, k);
  }
  void add(const block& other) {
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<T>(data[k] + other.data[k]);
  }
};

/// The result of an inactive worker, for a block of this rank.
template <class T>
block<T> nothing(const list& given, bool keep_batch, std::size_t batch = 0) {
  list none(given.size(), 0);
  if (given.size() >= 2 && keep_batch) none[0] = given[batch];
  return block<T>(none);
}

/// Workers in a Cartesian grid, in C order.
struct arrangement {
  list shape, ids;

  std::size_t size() const { return ids.size(); }
  std::size_t place(std::size_t worker) const {
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), worker) - ids.begin());
  }
  bool has(std::size_t worker) const { return place(worker) < size(); }
  list index(std::size_t worker) const { return index_of(place(worker), shape); }
};

// ---- worker broadcast and its sum ------------------------------------------------------------------------------

/// The pairs of workers of a small and a large grid. A transposition first reverses the shape, then the small shape is
/// extended on the left with ones; the workers keep their order.
struct pairing {
  arrangement small, large;
  bool small_reversed = false, large_reversed = false;

  /// For each dimension of `large`, before any transposition: whether `small` has the same extent.
  std::vector<bool> equal_extents() const {
    list s = small.shape, l = large.shape;
    if (small_reversed) std::reverse(s.begin(), s.end());
    s.insert(s.begin(), l.size() - s.size(), 1);
    if (large_reversed) std::reverse(l.begin(), l.end());
    std::vector<bool> same(l.size());
    for (std::size_t d = 0; d < l.size(); ++d) same[large_reversed ? l.size() - 1 - d : d] = s[d] == l[d];
    return same;
  }
  /// The place, in the small grid, of the worker that is paired with a worker of the large grid.
  std::size_t partner(std::size_t large_worker) const {
    const auto same = equal_extents();
    const list i = large.index(large_worker);
    std::size_t number = 0;
    for (std::size_t d = 0; d < i.size(); ++d)
      if (same[d]) number = number * large.shape[d] + i[d];
    return number;
  }

  template <class T, class Give>
  block<T> copied(Give give, std::size_t me, bool keep_batch) const {
    if (large.has(me)) return give(small.ids[partner(me)]);
    return small.has(me) ? nothing<T>(give(me).shape, keep_batch) : give(me);
  }
  template <class T, class Give>
  block<T> summed(Give give, std::size_t me, bool keep_batch) const {
    if (!small.has(me)) return large.has(me) ? nothing<T>(give(me).shape, keep_batch) : give(me);
    std::vector<block<T>> sum;
    for (const std::size_t worker : large.ids)
      if (partner(worker) == small.place(me)) {
        if (sum.empty()) sum.push_back(give(worker));
        else sum[0].add(give(worker));
      }
    return sum.at(0);
  }
};

// ---- groups along dimensions of one arrangement ------------------------------------------------------------------

struct grouping {
  arrangement on;
  std::vector<bool> along;  ///< dimensions along which the workers of a group differ

  list members(std::size_t me) const {
    const list mine = on.index(me);
    list all;
    for (const std::size_t worker : on.ids) {
      const list i = on.index(worker);
      bool is_member = true;
      for (std::size_t d = 0; d < i.size(); ++d) is_member = is_member && (along[d] || i[d] == mine[d]);
      if (is_member) all.push_back(worker);
    }
    return all;
  }
  /// The first member of the group, which identifies the group.
  std::size_t group(std::size_t me) const { return members(me)[0]; }

  template <class T, class Give>
  block<T> summed(Give give, std::size_t me) const {
    if (!on.has(me)) return give(me);
    const list all = members(me);
    block<T> sum = give(all[0]);
    for (std::size_t k = 1; k < all.size(); ++k) sum.add(give(all[k]));
    return sum;
  }
  /// The first index of a worker's block in the tensor that is gathered from its group, and the extents of that tensor.
  template <class Shape>
  void lay_out(Shape shape_of, std::size_t worker, list& start, list& whole) const {
    const list i = on.index(worker);
    start.assign(i.size(), 0);
    whole = shape_of(worker);
    for (std::size_t d = 0; d < i.size(); ++d) {
      if (!along[d]) continue;
      whole[d] = 0;
      list j = i;
      for (j[d] = 0; j[d] < on.shape[d]; ++j[d]) {
        const std::size_t size = shape_of(on.ids[number_of(j, on.shape)])[d];
        if (j[d] < i[d]) start[d] += size;
        whole[d] += size;
      }
    }
  }
  template <class T, class Give, class Shape>
  block<T> gathered(Give give, Shape shape_of, std::size_t me) const {
    if (!on.has(me)) return give(me);
    list start, whole;
    lay_out(shape_of, me, start, whole);
    block<T> y(whole);
    for (const std::size_t worker : members(me)) {
      lay_out(shape_of, worker, start, whole);
      const block<T> part = give(worker);
      for (std::size_t k = 0; k < part.data.size(); ++k) {
        list i = index_of(k, part.shape);
        for (std::size_t d = 0; d < i.size(); ++d) i[d] += start[d];
        y.data[number_of(i, whole)] = part.data[k];
      }
    }
    return y;
  }
  /// This worker's part of the sum of the group's blocks; shape_of gives the shapes of the parts.
  template <class T, class Give, class Shape>
  block<T> part_of_sum(Give give, Shape shape_of, std::size_t me) const {
    if (!on.has(me)) return give(me);
    list start, whole;
    lay_out(shape_of, me, start, whole);
    const block<T> sum = summed<T>(give, me);
    block<T> y(shape_of(me));
    for (std::size_t k = 0; k < y.data.size(); ++k) {
      list i = index_of(k, y.shape);
      for (std::size_t d = 0; d < i.size(); ++d) i[d] += start[d];
      y.data[k] = sum.data[number_of(i, whole)];
    }
    return y;
  }
};

// ---- distributed tensors -------------------------------------------------------------------------------------------

/// The parts of one dimension: the indices that each part holds, in the order of its memory.
using parts = std::vector<list>;

/// Balanced parts: the first n mod p of the p parts hold one index more.
inline parts balanced(std::size_t n, std::size_t p) {
  parts all(p);
  std::size_t next = 0;
  for (std::size_t k = 0; k < p; ++k)
    for (std::size_t size = n / p + (k < n % p ? 1 : 0); size > 0; --size) all[k].push_back(next++);
  return all;
}
inline parts of_sizes(const list& sizes) {
  parts all(sizes.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t size = sizes[k]; size > 0; --size) all[k].push_back(next++);
  return all;
}
/// Block-cyclic parts: blocks of b indices go to the parts in turn.
inline parts dealt(std::size_t n, std::size_t p, std::size_t b) {
  parts all(p);
  for (std::size_t i = 0; i < n; ++i) all[i / b % p].push_back(i);
  return all;
}

/// A tensor whose elements are functions of their index, partitioned over a grid of workers.
struct cut_tensor {
  arrangement on;
  std::vector<parts> cuts;  ///< the parts of each dimension

  list shape(std::size_t worker) const {
    const list i = on.index(worker);
    list sizes;
    for (std::size_t d = 0; d < i.size(); ++d) sizes.push_back(cuts[d][i[d]].size());
    return sizes;
  }
  /// The block of a permuted tensor: its dimension d is dimension axes[d] of the tensor with the given extents.
  template <class T>
  block<T> of(std::size_t worker, std::uint64_t call, const list& extents, const list& axes) const {
    const list place = on.index(worker);
    block<T> block_of_worker(shape(worker));
    list i(extents.size());
    for (std::size_t k = 0; k < block_of_worker.data.size(); ++k) {
      const list at = index_of(k, block_of_worker.shape);
      for (std::size_t d = 0; d < at.size(); ++d) i[axes[d]] = cuts[d][place[d]][at[d]];
      block_of_worker.data[k] = value<T>(call, 0, number_of(i, extents));
    }
    return block_of_worker;
  }
};

}  // namespace oracle
