// Simulated devices of a mesh: tensors of small integers are sharded into blocks and reassembled without MPI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/reshard_plan.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulated {

using namespace partita;
using number = std::int64_t;

/// A dense tensor in C order.
struct tensor {
  shape_list shape{};
  std::vector<number> values{};

  tensor() = default;
  explicit tensor(const shape_list& s, number fill = 0) : shape(s), values(volume(s), fill) {}
  static std::size_t volume(const shape_list& s) {
    std::size_t n = 1;
    for (const std::size_t extent : s) n *= extent;
    return n;
  }
  std::size_t place(const shape_list& i) const {
    std::size_t at = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + i[d];
    return at;
  }
  number& operator()(const shape_list& i) { return values[place(i)]; }
  number operator()(const shape_list& i) const { return values[place(i)]; }
  friend bool operator==(const tensor&, const tensor&) = default;
};

/// Calls f(index) for every index of a shape, in C order.
template <class F>
void for_each_index(const shape_list& shape, F f) {
  if (tensor::volume(shape) == 0) return;
  auto i = shape_list::filled(shape.size(), 0);
  while (true) {
    f(static_cast<const shape_list&>(i));
    std::size_t d = shape.size();
    while (d > 0 && i[d - 1] + 1 == shape[d - 1]) i[--d] = 0;
    if (d == 0) return;
    ++i[d - 1];
  }
}

template <class Random>
tensor random_tensor(const shape_list& shape, Random& random, number low = -3, number high = 3) {
  tensor t(shape);
  for (number& v : t.values) v = low + static_cast<number>(random() % static_cast<std::uint64_t>(high - low + 1));
  return t;
}

using block = short_list<interval>;

inline shape_list shape_of(const block& b) {
  shape_list shape;
  for (const interval& part : b) shape.push_back(part.size());
  return shape;
}
inline shape_list shifted(const shape_list& i, const block& b, int sign) {
  shape_list j;
  for (std::size_t d = 0; d < i.size(); ++d) j.push_back(sign > 0 ? i[d] + b[d].start : i[d] - b[d].start);
  return j;
}
inline bool holds(const block& b, const shape_list& i) {
  for (std::size_t d = 0; d < i.size(); ++d)
    if (i[d] < b[d].start || i[d] >= b[d].stop) return false;
  return true;
}

/// The blocks of one tensor on all devices.
using devices = std::vector<tensor>;

inline number combine(owed_reduction kind, number a, number b) {
  switch (kind) {
    case owed_reduction::sum:
    case owed_reduction::avg:
      return a + b;
    case owed_reduction::max:
      return std::max(a, b);
    case owed_reduction::min:
      return std::min(a, b);
    case owed_reduction::prod:
      return a * b;
    case owed_reduction::any:
      return a != 0 || b != 0;
    case owed_reduction::all:
      return a != 0 && b != 0;
    case owed_reduction::none:
      break;
  }
  throw std::logic_error("nothing is owed");
}
inline std::uint64_t mixed(std::uint64_t h) {
  h ^= h >> 33, h *= 0xff51afd7ed558ccdU, h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53U;
  return h ^ h >> 33;
}
inline bool is_logical(const sharding& s) {
  for (const owed_reduction kind : s.owed)
    if (kind == owed_reduction::any || kind == owed_reduction::all) return true;
  return false;
}

/// The part of `value` on device k of p along an axis with a pending reduction: the parts reduce to the value. `dice`
/// is the same on devices that must hold the same; `scale` keeps averages of parts integers.
inline number part_of(number value, owed_reduction kind, std::size_t k, std::size_t p, std::uint64_t dice,
                      number scale) {
  const auto die = [&](std::size_t i) { return scale * (static_cast<number>(mixed(dice + 977 * (i + 1)) % 7) - 3); };
  const std::size_t holder = mixed(dice) % p;
  number others = 0;
  switch (kind) {
    case owed_reduction::sum:
    case owed_reduction::avg:
      for (std::size_t i = 1; i < p; ++i) others += die(i);
      return k != 0 ? die(k) : (kind == owed_reduction::avg ? static_cast<number>(p) * value : value) - others;
    case owed_reduction::max:
      return k == holder ? value : value - std::abs(die(k));
    case owed_reduction::min:
      return k == holder ? value : value + std::abs(die(k));
    case owed_reduction::prod:
      return k == holder ? value : 1;
    case owed_reduction::any:
      return value != 0 && (k == holder || die(k) > 0);
    case owed_reduction::all:
      return value != 0 || (k != holder && die(k) > 0);
    case owed_reduction::none:
      break;
  }
  throw std::logic_error("nothing is owed");
}

/// Shards a tensor. For a pending reduction, elements are split at random into parts that differ by multiples of
/// `scale` and are the same on devices that hold the same block.
inline devices cut(const tensor& whole, const sharding& s, std::uint64_t seed, number scale = 1) {
  devices all;
  const std::uint32_t cutting = s.cutting();
  for (const owed_reduction kind : s.owed)
    if (kind == owed_reduction::avg) scale *= static_cast<number>(s.on.size());
  for (std::size_t k = 0; k < s.on.size(); ++k) {
    const block own = mesh_block(s, whole.shape, k);
    tensor t(shape_of(own));
    std::uint64_t dice = mixed(seed);
    for (std::size_t a = 0; a < s.on.rank(); ++a)
      if ((cutting >> a & 1U) != 0) dice = mixed(dice + 31 * coordinate_of(s.on, k, a) + 7 * a);
    std::size_t at = 0;
    for_each_index(t.shape, [&](const shape_list& i) {
      number value = whole(shifted(i, own, 1));
      std::uint64_t here = mixed(dice + at);
      for (std::size_t a = 0; a < s.on.rank(); ++a)
        if (s.owed[a] != owed_reduction::none) {
          const std::size_t place = coordinate_of(s.on, k, a);
          value = part_of(value, s.owed[a], place, s.on.size(a), here, scale);
          here = mixed(here + place + 1);
        }
      t.values[at++] = value;
    });
    all.push_back(t);
  }
  return all;
}

/// The workers that differ from `worker` at most in their place along axis a, in the order of their places.
inline std::vector<std::size_t> group_along(const mesh& m, std::size_t worker, std::size_t a) {
  std::size_t stride = 1;
  for (std::size_t k = m.rank(); k-- > a + 1;) stride *= m.size(k);
  const std::size_t first = worker - coordinate_of(m, worker, a) * stride;
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < m.size(a); ++k) all.push_back(first + k * stride);
  return all;
}

/// Reduces over one axis, on every device.
inline devices reduced(const devices& all, const mesh& m, std::size_t a, owed_reduction kind) {
  devices out = all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto group = group_along(m, k, a);
    for (std::size_t at = 0; at < all[k].values.size(); ++at) {
      number value = all[group[0]].values[at];
      for (std::size_t g = 1; g < group.size(); ++g) value = combine(kind, value, all[group[g]].values[at]);
      if (kind == owed_reduction::avg) {
        const auto p = static_cast<number>(group.size());
        if (value % p != 0) throw std::runtime_error("an average is no integer");
        value /= p;
      }
      out[k].values[at] = value;
    }
  }
  return out;
}

/// Reassembles a tensor from its blocks. Throws an error message if blocks have wrong shapes or devices disagree.
inline tensor reassembled(devices all, const sharding& s, const shape_list& shape) {
  for (std::size_t k = 0; k < all.size(); ++k)
    if (!(all[k].shape == shape_of(mesh_block(s, shape, k))))
      throw std::runtime_error("device " + std::to_string(k) + " holds a block of another shape");
  for (std::size_t a = s.on.rank(); a-- > 0;)
    if (s.owed[a] != owed_reduction::none) all = reduced(all, s.on, a, s.owed[a]);
  tensor whole(shape);
  std::vector<char> seen(whole.values.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const block own = mesh_block(s, shape, k);
    std::size_t at = 0;
    for_each_index(all[k].shape, [&](const shape_list& i) {
      const std::size_t there = whole.place(shifted(i, own, 1));
      const number value = all[k].values[at++];
      if (seen[there] != 0 && whole.values[there] != value) throw std::runtime_error("devices disagree");
      whole.values[there] = value;
      seen[there] = 1;
    });
  }
  if (std::find(seen.begin(), seen.end(), 0) != seen.end()) throw std::runtime_error("an element is nowhere");
  return whole;
}

/// Executes one step of a reshard, using only blocks of the workers that take part. `received` counts the elements that
/// all workers receive from others.
inline devices executed(const reshard_step& step, const sharding& before, const devices& all, const shape_list& shape,
                        std::size_t& received) {
  using enum reshard_step::what;
  const mesh& m = before.on;
  const sharding& after = step.after;
  devices source = all;
  if (step.done == all_reduce || step.done == reduce_scatter) source = reduced(all, m, step.axis, step.kind);
  if (step.done == owe) {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (coordinate_of(m, k, step.axis) != 0 &&
          (step.kind == owed_reduction::sum || step.kind == owed_reduction::prod))
        std::fill(source[k].values.begin(), source[k].values.end(), step.kind == owed_reduction::prod ? 1 : 0);
    return source;
  }
  devices out;
  std::vector<std::size_t> given(all.size(), 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const block wanted = mesh_block(after, shape, k);
    tensor t(shape_of(wanted));
    std::vector<std::size_t> peers{k};
    if (step.done == all_gather || step.done == all_to_all) peers = group_along(m, k, step.axis);
    if (step.done == permute) {
      peers.clear();
      for (std::size_t p = 0; p < all.size() && peers.empty(); ++p) {
        bool same_owed = given[p] == 0 && mesh_block(before, shape, p) == wanted;
        for (std::size_t a = 0; a < m.rank(); ++a)
          same_owed =
              same_owed && (before.owed[a] == owed_reduction::none || coordinate_of(m, p, a) == coordinate_of(m, k, a));
        if (same_owed) peers = {p};
      }
      if (peers.empty()) throw std::runtime_error("no worker is left that has the block");
      ++given[peers[0]];
    }
    std::size_t at = 0;
    for_each_index(t.shape, [&](const shape_list& i) {
      const shape_list there = shifted(i, wanted, 1);
      const auto has = std::find_if(peers.begin(), peers.end(),
                                    [&](std::size_t p) { return holds(mesh_block(before, shape, p), there); });
      if (has == peers.end()) throw std::runtime_error("an element is with nobody in the group");
      t.values[at++] = source[*has](shifted(there, mesh_block(before, shape, *has), -1));
      received += *has != k && !holds(mesh_block(before, shape, k), there);
    });
    out.push_back(t);
  }
  return out;
}

/// A random sharding of this rank: every axis shards a dimension, replicates, or has a pending reduction of some kind.
template <class Random>
sharding random_sharding(const mesh& m, std::size_t rank, Random& random,
                         std::initializer_list<owed_reduction> kinds = {}) {
  sharding s(m, rank);
  std::vector<std::size_t> axes(m.rank());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::shuffle(axes.begin(), axes.end(), random);
  for (const std::size_t a : axes) {
    const std::size_t choice = random() % (rank + 1 + (kinds.size() > 0 ? 1 : 0));
    if (choice < rank) s.cuts[choice].push_back(a);
    if (choice == rank + 1) s.owed[a] = kinds.begin()[random() % kinds.size()];
  }
  return s;
}

}  // namespace simulated
