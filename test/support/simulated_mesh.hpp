// Simulated devices of a mesh: tensors of small integers are sharded into blocks and reassembled without MPI.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <partita/plan/mesh_boxes.hpp>
#include <partita/plan/plan_boxes.hpp>
#include <partita/plan/plan_reshard.hpp>
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

inline number combine(pending_reduction kind, number a, number b) {
  using enum pending_reduction;
  switch (kind) {
    case sum:
    case avg:
      return a + b;
    case max:
      return std::max(a, b);
    case min:
      return std::min(a, b);
    case prod:
      return a * b;
    case any:
      return a != 0 || b != 0;
    case all:
      return a != 0 && b != 0;
    case log_sum_exp:
    case none:
      break;
  }
  throw std::logic_error("no reduction is pending");
}
inline std::uint64_t mixed(std::uint64_t h) {
  h ^= h >> 33, h *= 0xff51afd7ed558ccdU, h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53U;
  return h ^ h >> 33;
}
inline bool is_logical(const sharding& s) {
  for (const pending_reduction kind : s.pending)
    if (kind == pending_reduction::any || kind == pending_reduction::all) return true;
  return false;
}

/// The part of `value` on device k of p along an axis with a pending reduction: the parts reduce to the value.
/// `draw_seed` is the same on devices that must hold the same; `scale` keeps averages of parts integers.
inline number part_of(number value, pending_reduction kind, std::size_t k, std::size_t p, std::uint64_t draw_seed,
                      number scale) {
  const auto draw = [&](std::size_t i) {
    return scale * (static_cast<number>(mixed(draw_seed + 977 * (i + 1)) % 7) - 3);
  };
  const std::size_t holder = mixed(draw_seed) % p;
  number sum_of_others = 0;
  using enum pending_reduction;
  switch (kind) {
    case sum:
    case avg:
      for (std::size_t i = 1; i < p; ++i) sum_of_others += draw(i);
      return k != 0 ? draw(k) : (kind == avg ? static_cast<number>(p) * value : value) - sum_of_others;
    case max:
      return k == holder ? value : value - std::abs(draw(k));
    case min:
      return k == holder ? value : value + std::abs(draw(k));
    case prod:
      return k == holder ? value : 1;
    case any:
      return value != 0 && (k == holder || draw(k) > 0);
    case all:
      return value != 0 || (k != holder && draw(k) > 0);
    case log_sum_exp:
    case none:
      break;
  }
  throw std::logic_error("no reduction is pending");
}

/// Shards a tensor. For a pending reduction, elements are split at random into parts that differ by multiples of
/// `scale` and are the same on devices that hold the same block.
inline devices cut(const tensor& whole, const sharding& s, std::uint64_t seed, number scale = 1) {
  devices all;
  const std::uint32_t cutting = s.cut_axes();
  for (const pending_reduction kind : s.pending)
    if (kind == pending_reduction::avg) scale *= static_cast<number>(s.on.size());
  for (std::size_t k = 0; k < s.on.size(); ++k) {
    const block own = mesh_block(s, whole.shape, k);
    tensor t(shape_of(own));
    std::uint64_t draw_seed = mixed(seed);
    for (std::size_t a = 0; a < s.on.rank(); ++a)
      if ((cutting >> a & 1U) != 0) draw_seed = mixed(draw_seed + 31 * coordinate_of(s.on, k, a) + 7 * a);
    std::size_t at = 0;
    for_each_index(t.shape, [&](const shape_list& i) {
      number value = whole(shifted(i, own, 1));
      std::uint64_t here = mixed(draw_seed + at);
      for (std::size_t a = 0; a < s.on.rank(); ++a)
        if (s.pending[a] != pending_reduction::none) {
          const std::size_t place = coordinate_of(s.on, k, a);
          value = part_of(value, s.pending[a], place, s.on.size(a), here, scale);
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
inline devices reduced(const devices& all, const mesh& m, std::size_t a, pending_reduction kind) {
  devices out = all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto group = group_along(m, k, a);
    for (std::size_t at = 0; at < all[k].values.size(); ++at) {
      number value = all[group[0]].values[at];
      for (std::size_t g = 1; g < group.size(); ++g) value = combine(kind, value, all[group[g]].values[at]);
      if (kind == pending_reduction::avg) {
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
    if (s.pending[a] != pending_reduction::none) all = reduced(all, s.on, a, s.pending[a]);
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

/// The numbers of elements and of messages that each device received from other devices.
struct traffic {
  std::vector<std::size_t> elements{}, messages{};
  explicit traffic(std::size_t count) : elements(count, 0), messages(count, 0) {}
};

/// Executes one exchange of boxes by the plans of all devices. `shapes` has the shape of the whole tensor as each
/// device sees it. Summands that a device gathers are combined.
inline devices exchanged(const reshard_exchange& e, pending_reduction kind, const std::vector<shape_list>& shapes,
                         const devices& all, traffic& received) {
  const placed_mesh where(e.from.on);
  devices out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto plan = plan_boxes(overlaps_of(e, shapes[k], where, all.size()), k);
    std::vector<number> received_values(tensor::volume(plan.destination_shape));
    std::vector<char> there(received_values.size(), 0);
    const auto copy_box = [&](const shape_list& part, const shape_list& at, const tensor& from,
                              const place_in_block<dynamic>& place) {
      const auto to = place_in_block<dynamic>::of(at, plan.destination_shape);
      for_each_index(part, [&](const shape_list& i) {
        std::ptrdiff_t destination = static_cast<std::ptrdiff_t>(to.offset),
                       source = static_cast<std::ptrdiff_t>(place.offset);
        for (std::size_t d = 0; d < i.size(); ++d) {
          destination += static_cast<std::ptrdiff_t>(i[d]) * to.steps[d];
          source += static_cast<std::ptrdiff_t>(i[d]) * place.steps[d];
        }
        if (there[static_cast<std::size_t>(destination)]++ != 0) throw std::runtime_error("an element arrives twice");
        received_values[static_cast<std::size_t>(destination)] = from.values.at(static_cast<std::size_t>(source));
      });
    };
    for (const auto& one : plan.kept)
      copy_box(one.where.shape(), one.destination_start, all[k],
               place_in_block<dynamic>::of(one.source_start, plan.source_shape));
    for (const auto& one : plan.receives) copy_box(one.where.shape(), one.at, all[one.worker], one.at_peer);
    if (std::find(there.begin(), there.end(), 0) != there.end()) throw std::runtime_error("an element does not arrive");
    received.elements[k] += plan.elements_received();
    received.messages[k] += plan.receives.size();
    tensor t(shape_of(mesh_block(e.to, shapes[k], k)));
    for (std::size_t at = 0; at < t.values.size(); ++at) {
      t.values[at] = received_values[at];
      for (std::size_t s = 1; s < e.summands(); ++s)
        t.values[at] = combine(kind, t.values[at], received_values[s * t.values.size() + at]);
    }
    out.push_back(t);
  }
  return out;
}
/// The blocks of all devices, with the shapes that a sharding gives them.
inline devices in_shapes(devices all, const sharding& s, const shape_list& shape) {
  for (std::size_t k = 0; k < all.size(); ++k) all[k].shape = shape_of(mesh_block(s, shape, k));
  return all;
}

/// Makes an axis partial: for sums and products, all devices except the first hold the neutral element.
inline devices made_partial(const reshard_step& step, const mesh& m, devices all) {
  for (std::size_t k = 0; k < all.size(); ++k)
    if (coordinate_of(m, k, step.axis) != 0 &&
        (step.kind == pending_reduction::sum || step.kind == pending_reduction::prod))
      std::fill(all[k].values.begin(), all[k].values.end(), step.kind == pending_reduction::prod ? 1 : 0);
  return all;
}

/// Executes one step of a plan, as sharded tensors do.
inline devices executed(const reshard_step& step, const sharding& before, const devices& all, const shape_list& shape,
                        traffic& received) {
  if (step.done == reshard_step::what::make_partial) return made_partial(step, before.on, all);
  if (step.rounds == 0) {  // every device keeps a part of its block
    devices out;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const block had = mesh_block(before, shape, k), wanted = mesh_block(step.after, shape, k);
      tensor t(shape_of(wanted));
      std::size_t at = 0;
      for_each_index(t.shape, [&](const shape_list& i) {
        const shape_list global = shifted(i, wanted, 1);
        if (!holds(had, global)) throw std::runtime_error("a slice needs an element of another device");
        t.values[at++] = all[k](shifted(global, had, -1));
      });
      out.push_back(t);
    }
    return out;
  }
  std::vector<std::vector<reshard_exchange>> exchanges(all.size());
  std::vector<std::vector<shape_list>> shapes;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::size_t round = 0;
    detail::for_each_exchange(step, before, shape, all[k].values.size(),
                              [&](const reshard_exchange& e, const shape_list& whole) {
                                exchanges[k].push_back(e);
                                shapes.resize(std::max(shapes.size(), round + 1));
                                shapes[round++].push_back(whole);
                              });
  }
  devices now = all;
  for (std::size_t round = 0; round < exchanges[0].size(); ++round)
    now = exchanged(exchanges[0][round], step.kind, shapes[round], now, received);
  number parts = 1;
  for (std::size_t a = 0; a < before.on.rank(); ++a)
    if ((step.reduced >> a & 1U) != 0 && before.pending[a] == pending_reduction::avg)
      parts *= static_cast<number>(before.on.size(a));
  for (tensor& one : now)
    for (number& v : one.values) {
      if (v % parts != 0) throw std::runtime_error("an average is no integer");
      v /= parts;
    }
  return in_shapes(now, step.after, shape);
}

/// A random sharding of this rank: every axis shards a dimension, replicates, or has a pending reduction of some kind.
template <class Random>
sharding random_sharding(const mesh& m, std::size_t rank, Random& random,
                         std::initializer_list<pending_reduction> kinds = {}) {
  sharding s(m, rank);
  std::vector<std::size_t> axes(m.rank());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::shuffle(axes.begin(), axes.end(), random);
  for (const std::size_t a : axes) {
    const std::size_t choice = random() % (rank + 1 + (kinds.size() > 0 ? 1 : 0));
    if (choice < rank) s.cuts[choice].push_back(a);
    if (choice == rank + 1) s.pending[a] = kinds.begin()[random() % kinds.size()];
  }
  return s;
}

/// A random pair of shardings of a tensor whose extents all axes divide; every second source is partial.
struct random_pair {
  mesh on;
  shape_list shape;
  sharding from, to;

  template <class Random>
  random_pair(Random& random, std::size_t least_axes, std::size_t most_axes, std::size_t largest_axis) {
    const char* names[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (std::size_t a = 0, rank = least_axes + random() % (most_axes - least_axes + 1); a < rank; ++a)
      on.push_back(axis(names[a], 2 + random() % (largest_axis - 1)));
    for (std::size_t rank = 1 + random() % 3; rank > 0; --rank) shape.push_back(on.size() * (1 + random() % 2));
    from = random() % 2 == 0 ? random_sharding(on, shape.size(), random)
                             : random_sharding(on, shape.size(), random, {pending_reduction::sum});
    to = random_sharding(on, shape.size(), random);
  }
};

}  // namespace simulated
