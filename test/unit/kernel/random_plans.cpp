// A hundred thousand random repartitions, executed for all workers in this process: every element of every block equals
// the function of its global index, and the adjoint returns every block.
#include <partita/kernel/sequentially.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;
template <std::size_t Rank>
using index = partita::index<Rank>;  // not the function of <strings.h>

/// How many of the cases were of each kind: a generator that never makes one proves nothing about it.
struct census {
  std::size_t plans = 0, uneven = 0, with_empty_blocks = 0, empty_tensors = 0, overlapping = 0, disjoint = 0,
              same_workers = 0, idle_workers = 0, smaller_than_grid = 0, staggered = 0, one_source = 0,
              one_destination = 0;
};

std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

/// n as p numbers that add up to it: even, at random places, or all in one.
std::vector<std::size_t> random_sizes(std::mt19937& random, std::size_t n, std::size_t p) {
  std::vector<std::size_t> sizes(p, 0);
  switch (below(random, 3)) {
    case 0:
      for (std::size_t k = 0; k < p; ++k) sizes[k] = n / p + (k < n % p ? 1 : 0);
      break;
    case 1: {
      std::vector<std::size_t> places(p + 1, 0);
      places[p] = n;
      for (std::size_t k = 1; k < p; ++k) places[k] = below(random, n + 1);
      std::sort(places.begin(), places.end());
      for (std::size_t k = 0; k < p; ++k) sizes[k] = places[k + 1] - places[k];
      break;
    }
    default:
      sizes[below(random, p)] = n;
  }
  return sizes;
}

template <std::size_t Rank>
std::array<std::size_t, Rank> random_grid(std::mt19937& random, std::size_t most) {
  std::array<std::size_t, Rank> shape;
  shape.fill(1);
  std::size_t places = 1;
  for (std::size_t turn = 0; turn < Rank; ++turn) {
    const std::size_t d = below(random, Rank), room = most / (places / shape[d]);
    places /= shape[d];
    shape[d] = 1 + below(random, room);
    places *= shape[d];
  }
  return shape;
}

std::vector<std::size_t> random_workers(std::mt19937& random, std::size_t count, std::size_t world) {
  std::vector<std::size_t> ids(world);
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  if (below(random, 3) != 0) std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(count);
  return ids;
}

/// The element of the tensor at a global index.
template <std::size_t Rank>
std::int32_t element(const index<Rank>& i, const std::array<std::size_t, Rank>& extents) {
  return static_cast<std::int32_t>(flat_index(i, extents)) + 1;
}

template <std::size_t Rank>
xt::xtensor<std::int32_t, Rank> block_at(const std::array<std::size_t, Rank>& start,
                                         const std::array<std::size_t, Rank>& shape,
                                         const std::array<std::size_t, Rank>& extents) {
  auto block = uninitialised<std::int32_t, Rank>(shape);
  const std::size_t n = volume_of(shape);
  for (std::size_t k = 0; k < n; ++k) {
    index<Rank> i = index_of(k, shape);
    for (std::size_t d = 0; d < Rank; ++d) i[d] += start[d];
    block.data()[k] = element(i, extents);
  }
  return block;
}

template <std::size_t Rank>
bool same(const xt::xtensor<std::int32_t, Rank>& a, const xt::xtensor<std::int32_t, Rank>& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

/// One random tensor, cut and moved. Returns what went wrong, or nothing.
template <std::size_t Rank>
text one_plan(std::mt19937& random, census& seen) {
  using shape_type = std::array<std::size_t, Rank>;
  const std::size_t world = 1 + below(random, 64);
  const shape_type from_grid = random_grid<Rank>(random, below(random, 4) == 0 ? 1 : world);
  const shape_type to_grid = random_grid<Rank>(random, below(random, 4) == 0 ? 1 : world);
  shape_type extents{};
  static constexpr std::size_t largest[] = {0, 200, 24, 10, 6, 5};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = below(random, 40) == 0 ? 0 : 1 + below(random, largest[Rank]);
  const std::vector<std::size_t> givers = random_workers(random, volume_of(from_grid), world);
  std::vector<std::size_t> takers = random_workers(random, volume_of(to_grid), world);
  if (givers.size() + takers.size() <= world && below(random, 2) == 0) {  // disjoint on purpose
    takers.clear();
    for (std::size_t w = 0; takers.size() < volume_of(to_grid); ++w)
      if (std::find(givers.begin(), givers.end(), w) == givers.end()) takers.push_back(w);
  }

  // the cut of the source: the same along all lines, or along one dimension differently in each line
  std::array<std::vector<std::size_t>, Rank> sizes;
  for (std::size_t d = 0; d < Rank; ++d) sizes[d] = random_sizes(random, extents[d], from_grid[d]);
  const bool staggered = Rank > 1 && below(random, 4) == 0;
  const std::size_t loose = below(random, Rank);
  std::vector<shape_type> starts(givers.size()), shapes(givers.size());
  std::vector<std::vector<std::size_t>> lines(givers.size());
  for (std::size_t place = 0; place < givers.size(); ++place) {
    const index<Rank> i = index_of(place, from_grid);
    for (std::size_t d = 0; d < Rank; ++d) {
      const std::vector<std::size_t>* along = &sizes[d];
      if (staggered && d == loose) {
        index<Rank> head = i;
        head[d] = 0;
        auto& line = lines[flat_index(head, from_grid)];
        if (line.empty()) line = random_sizes(random, extents[d], from_grid[d]);
        along = &line;
      }
      starts[place][d] =
          std::accumulate(along->begin(), along->begin() + static_cast<std::ptrdiff_t>(i[d]), std::size_t{0});
      shapes[place][d] = (*along)[i[d]];
    }
  }

  std::vector<xt::xtensor<std::int32_t, Rank>> x(world, zero_volume<std::int32_t, Rank>(7));
  for (std::size_t place = 0; place < givers.size(); ++place)
    x[givers[place]] = block_at(starts[place], shapes[place], extents);

  const grid<dynamic_extents<Rank>> p_x{dynamic_extents<Rank>(from_grid), workers(givers)};
  const grid<dynamic_extents<Rank>> p_y{dynamic_extents<Rank>(to_grid), workers(takers)};
  sequentially::repartition move(p_x, p_y);
  const auto y = move(x);
  if (y.size() != world) return "there is not one result for each worker";

  std::size_t both = 0, on_any = givers.size();
  for (std::size_t worker = 0; worker < world; ++worker) {
    const auto taker = std::find(takers.begin(), takers.end(), worker);
    const bool gives = std::find(givers.begin(), givers.end(), worker) != givers.end();
    if (taker == takers.end()) {
      const std::size_t batch = gives ? x[worker].shape()[0] : 7;
      if (y[worker].size() != 0 || (Rank > 1 && y[worker].shape()[0] != batch))
        return text("worker ") << worker << " takes nothing and has a block of " << y[worker].shape();
      continue;
    }
    both += gives ? 1U : 0U;
    on_any += gives ? 0U : 1U;
    const index<Rank> j = index_of(static_cast<std::size_t>(taker - takers.begin()), to_grid);
    shape_type start{}, shape{};
    for (std::size_t d = 0; d < Rank; ++d) {
      const std::size_t q = extents[d] / to_grid[d], r = extents[d] % to_grid[d];
      start[d] = j[d] * q + std::min(j[d], r);
      shape[d] = q + (j[d] < r ? 1 : 0);
    }
    if (!same(y[worker], block_at(start, shape, extents)))
      return text("worker ") << worker << " has a wrong block at " << j << " of " << to_grid << ", tensor of "
                             << extents;
  }

  const auto back = move.adjoint(y);
  for (std::size_t worker = 0; worker < world; ++worker) {
    const bool gives = std::find(givers.begin(), givers.end(), worker) != givers.end();
    if (gives ? !same(back[worker], x[worker]) : back[worker].size() != 0)
      return text("the adjoint does not give worker ")
             << worker << " its block back, grids " << from_grid << " and " << to_grid;
  }

  ++seen.plans;
  if (staggered) ++seen.staggered;
  for (std::size_t d = 0; d < Rank; ++d)
    if (extents[d] % to_grid[d] != 0) {
      ++seen.uneven;
      break;
    }
  for (const auto& shape : shapes)
    if (volume_of(shape) == 0) {
      ++seen.with_empty_blocks;
      break;
    }
  for (std::size_t d = 0; d < Rank; ++d)
    if (extents[d] < to_grid[d]) {
      ++seen.smaller_than_grid;
      break;
    }
  if (volume_of(extents) == 0) ++seen.empty_tensors;
  if (both == 0) ++seen.disjoint;
  if (both > 0 && both < on_any) ++seen.overlapping;
  if (both == on_any) ++seen.same_workers;
  if (on_any < world) ++seen.idle_workers;
  if (givers.size() == 1) ++seen.one_source;
  if (takers.size() == 1) ++seen.one_destination;
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_random_plans)

BOOST_AUTO_TEST_CASE(a_hundred_thousand_random_repartitions_are_exact) {
  const std::size_t wanted = test::random_cases(100'000);
  std::mt19937 random(20240229);
  census seen;
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < wanted && wrong < 5; ++k) {
    text problem;
    try {
      switch (k % 5) {
        case 0:
          problem = one_plan<1>(random, seen);
          break;
        case 1:
          problem = one_plan<2>(random, seen);
          break;
        case 2:
          problem = one_plan<3>(random, seen);
          break;
        case 3:
          problem = one_plan<4>(random, seen);
          break;
        default:
          problem = one_plan<5>(random, seen);
      }
    } catch (const error& e) {
      problem = text(e.what());
    }
    if (problem.empty()) continue;
    ++wrong;
    BOOST_TEST_ERROR("plan " << k << ": " << problem.c_str());
  }
  BOOST_TEST(seen.plans == wanted);
  for (const std::size_t kind :
       {seen.uneven, seen.with_empty_blocks, seen.overlapping, seen.disjoint, seen.same_workers, seen.idle_workers,
        seen.smaller_than_grid, seen.staggered, seen.one_source, seen.one_destination})
    BOOST_TEST(kind > wanted / 100);
  BOOST_TEST(seen.empty_tensors > wanted / 1000);
}

BOOST_AUTO_TEST_SUITE_END()
