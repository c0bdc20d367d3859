// Repartitions between random decompositions (balanced, random, block-cyclic, staggered) with the dimensions in every
// order: each element of each block equals the function of its global index, which for block-cyclic parts follows from
// ScaLAPACK's formulas, and the adjoint returns every block.
#include <partita/kernel/sequentially.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "random_cases.hpp"
#include "refused.hpp"

namespace {

using namespace partita;
template <std::size_t Rank>
using index = partita::index<Rank>;  // not the function of <strings.h>
using indices = std::vector<std::size_t>;

/// How many of the cases were of each kind.
struct census {
  std::size_t cases = 0, cyclic_sources = 0, cyclic_results = 0, explicit_sources = 0, explicit_results = 0,
              permuted = 0, staggered = 0, empty_blocks = 0, idle_workers = 0;
};

std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

/// A cut, and by part the indices that it holds, in the order in which they lie there.
struct known_cut {
  cut how;
  std::vector<indices> held;
};

std::vector<std::size_t> random_sizes(std::mt19937& random, std::size_t n, std::size_t p) {
  std::vector<std::size_t> places(p + 1, 0), sizes(p);
  places[p] = n;
  for (std::size_t k = 1; k < p; ++k) places[k] = below(random, n + 1);
  std::sort(places.begin(), places.end());
  for (std::size_t k = 0; k < p; ++k) sizes[k] = places[k + 1] - places[k];
  return sizes;
}

std::vector<indices> consecutive(const std::vector<std::size_t>& sizes) {
  std::vector<indices> held(sizes.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t i = 0; i < sizes[k]; ++i) held[k].push_back(next++);
  return held;
}

known_cut random_cut(std::mt19937& random, std::size_t n, std::size_t p) {
  const std::size_t kind = below(random, 3);
  if (kind == 0) {
    std::vector<std::size_t> sizes(p);
    for (std::size_t k = 0; k < p; ++k) sizes[k] = n / p + (k < n % p ? 1 : 0);
    return {cut::balanced(n, p), consecutive(sizes)};
  }
  if (kind == 1) {
    const auto sizes = random_sizes(random, n, p);
    return {cut::at(sizes), consecutive(sizes)};
  }
  const std::size_t block = 1 + below(random, 4);
  std::vector<indices> held(p);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t part = i / block % p, at = i / (block * p) * block + i % block;  // INDXG2P, INDXG2L
    held[part].resize(std::max(held[part].size(), at + 1));
    held[part][at] = i;
  }
  return {cut::block_cyclic(n, p, block), held};
}

template <std::size_t Rank>
std::array<std::size_t, Rank> random_grid(std::mt19937& random, std::size_t most) {
  std::array<std::size_t, Rank> shape;
  shape.fill(1);
  for (std::size_t turn = 0, places = 1; turn < Rank; ++turn) {
    const std::size_t d = below(random, Rank);
    places /= shape[d];
    shape[d] = 1 + below(random, most / places);
    places *= shape[d];
  }
  return shape;
}

/// One side: its grid, and for each worker the indices that its block holds along each dimension.
template <std::size_t Rank>
struct side {
  grid<dynamic_extents<Rank>> places;
  std::vector<std::array<indices, Rank>> by_place;

  side(const std::array<std::size_t, Rank>& shape, const workers& chosen)
      : places(dynamic_extents<Rank>(shape), chosen), by_place(places.size()) {}

  void hold(const std::vector<known_cut>& cuts) {
    for (std::size_t place = 0; place < by_place.size(); ++place)
      for (std::size_t d = 0; d < Rank; ++d) by_place[place][d] = cuts[d].held[places.index(place)[d]];
  }
  /// The block of a worker; `value(index)` is the element at an index of this side's tensor.
  template <class Value>
  xt::xtensor<std::int32_t, Rank> block(std::size_t worker, Value value) const {
    const std::size_t place = places.place(worker);
    if (place == places.size()) return zero_volume<std::int32_t, Rank>(0);
    std::array<std::size_t, Rank> shape{};
    for (std::size_t d = 0; d < Rank; ++d) shape[d] = by_place[place][d].size();
    auto block = uninitialised<std::int32_t, Rank>(shape);
    for (std::size_t k = 0; k < volume_of(shape); ++k) {
      index<Rank> i = index_of(k, shape);
      for (std::size_t d = 0; d < Rank; ++d) i[d] = by_place[place][d][i[d]];
      block.data()[k] = value(i);
    }
    return block;
  }
};

workers random_workers(std::mt19937& random, std::size_t count, std::size_t world) {
  std::vector<std::size_t> ids(world);
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  if (below(random, 3) != 0) std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(count);
  return workers(ids);
}

template <std::size_t Rank>
decomposition<Rank> cuts_of(const std::vector<known_cut>& all) {
  return decomposition<Rank>::make([&](std::size_t d) { return all[d].how; });
}

template <class Blocks>
text differences(const Blocks& got, const Blocks& wanted, const char* what) {
  for (std::size_t worker = 0; worker < wanted.size(); ++worker) {
    const bool nothing = got[worker].size() == 0 && wanted[worker].size() == 0;
    if (!nothing && !(got[worker] == wanted[worker])) return text(what) << " of worker " << worker << " is wrong";
  }
  return {};
}

template <class Move, class Blocks>
text forth_and_back(Move move, const Blocks& x, const Blocks& y) {
  const auto got = move(x);
  const text problem = differences(got, y, "the block");
  return problem.empty() ? differences(move.adjoint(got), x, "the adjoint") : problem;
}

template <std::size_t... P>
text one_case(std::mt19937& random, census& seen) {
  constexpr std::size_t Rank = sizeof...(P);
  constexpr axes_order<Rank> axes{P...};
  const std::size_t world = 1 + below(random, 24);
  std::array<std::size_t, Rank> extents{};
  static constexpr std::size_t largest[] = {0, 60, 16, 8, 5};
  for (auto& n : extents) n = below(random, 30) == 0 ? 0 : 1 + below(random, largest[Rank]);
  const auto turned = in_result_order(extents, axes);
  const auto from_grid = random_grid<Rank>(random, world), to_grid = random_grid<Rank>(random, world);
  side<Rank> source(from_grid, random_workers(random, volume_of(from_grid), world));
  side<Rank> result(to_grid, random_workers(random, volume_of(to_grid), world));

  std::vector<known_cut> given, wanted;
  for (std::size_t d = 0; d < Rank; ++d) given.push_back(random_cut(random, extents[d], from_grid[d]));
  const bool in_balance = below(random, 4) == 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    wanted.push_back(random_cut(random, turned[d], to_grid[d]));
    while (in_balance && wanted[d].how.how() != cut::kind::balanced)
      wanted[d] = random_cut(random, turned[d], to_grid[d]);
  }
  source.hold(given);
  result.hold(wanted);
  const bool staggered = !in_balance && Rank > 1 && below(random, 4) == 0;
  if (staggered) {  // the last dimension is cut at other places in each line, the others at the same; no cuts can say
                    // that
    std::vector<known_cut> lines;
    for (std::size_t place = 0; place < source.by_place.size(); ++place) {
      const index<Rank> i = source.places.index(place);
      if (i[Rank - 1] == 0) {
        const auto sizes = random_sizes(random, extents[Rank - 1], from_grid[Rank - 1]);
        lines.push_back({cut::at(sizes), consecutive(sizes)});
      }
      for (std::size_t d = 0; d + 1 < Rank; ++d) {
        const interval part = balanced_part(extents[d], from_grid[d], i[d]);
        source.by_place[place][d].resize(part.size());
        std::iota(source.by_place[place][d].begin(), source.by_place[place][d].end(), part.start);
      }
      source.by_place[place][Rank - 1] = lines.back().held[i[Rank - 1]];
    }
  }

  const auto of_x = [&](const index<Rank>& i) { return static_cast<std::int32_t>(flat_index(i, extents)) + 1; };
  const auto of_y = [&](const index<Rank>& j) { return of_x(in_source_order(j, axes)); };
  std::vector<xt::xtensor<std::int32_t, Rank>> x, y;
  for (std::size_t worker = 0; worker < world; ++worker) {
    x.push_back(source.block(worker, of_x));
    y.push_back(result.block(worker, of_y));
  }

  ++seen.cases;
  const auto any = [](const auto& cuts, cut::kind kind) {
    return std::any_of(cuts.begin(), cuts.end(), [&](const known_cut& c) { return c.how.how() == kind; });
  };
  if (!staggered && any(given, cut::kind::block_cyclic)) ++seen.cyclic_sources;
  if (!staggered && any(given, cut::kind::explicit_sizes)) ++seen.explicit_sources;
  if (any(wanted, cut::kind::block_cyclic)) ++seen.cyclic_results;
  if (any(wanted, cut::kind::explicit_sizes)) ++seen.explicit_results;
  if (axes != same_axes<Rank>()) ++seen.permuted;
  if (staggered) ++seen.staggered;
  for (const auto& block : y)
    if (block.size() == 0 && volume_of(extents) > 0) {
      ++seen.empty_blocks;
      break;
    }
  for (std::size_t worker = 0; worker < world; ++worker)
    if (!source.places.contains(worker) && !result.places.contains(worker)) {
      ++seen.idle_workers;
      break;
    }

  const auto from = source_cuts(cuts_of<Rank>(given));
  const auto to = result_cuts(cuts_of<Rank>(wanted));
  const auto &p_x = source.places, &p_y = result.places;
  if (staggered) return forth_and_back(sequentially::repartition(p_x, p_y, permute<P...>, to), x, y);
  if (in_balance) return forth_and_back(sequentially::repartition(p_x, p_y, from, permute<P...>), x, y);
  return forth_and_back(sequentially::repartition(p_x, p_y, permute<P...>, from, to), x, y);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_random_cuts)

BOOST_AUTO_TEST_CASE(thirty_thousand_random_cuts_in_every_order_of_the_dimensions_are_exact) {
  const std::size_t wanted = test::random_cases(30'000);
  std::mt19937 random(20261121);
  census seen;
  using trial = text (*)(std::mt19937&, census&);
  constexpr trial trials[] = {one_case<0>,       one_case<0, 1>,      one_case<1, 0>,    one_case<0, 1, 2>,
                              one_case<0, 2, 1>, one_case<1, 0, 2>,   one_case<1, 2, 0>, one_case<2, 0, 1>,
                              one_case<2, 1, 0>, one_case<3, 1, 0, 2>};
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < wanted && wrong < 5; ++k) {
    text problem;
    try {
      problem = trials[k % std::size(trials)](random, seen);
    } catch (const error& e) {
      problem = text(e.what());
    }
    if (problem.empty()) continue;
    ++wrong;
    BOOST_TEST_ERROR("case " << k << ": " << problem.c_str());
  }
  BOOST_TEST(seen.cases == wanted);
  for (const std::size_t kind : {seen.cyclic_sources, seen.cyclic_results, seen.explicit_sources, seen.explicit_results,
                                 seen.permuted, seen.staggered, seen.empty_blocks, seen.idle_workers})
    BOOST_TEST(kind > wanted / 20);
}

BOOST_AUTO_TEST_CASE(cuts_of_either_side_and_every_order_have_fingerprints_of_their_own) {
  using cuts = detail::repartition_cuts<2>;
  constexpr std::array<std::size_t, 2> grid{2, 2};
  std::set<std::uint64_t> numbers{cuts(grid, grid).fingerprint(), cuts(grid, grid, permute<1, 0>).fingerprint()};
  std::vector<decomposition<2>> all;
  for (const cut& rows : {cut::at({2, 2}), cut::at({1, 3}), cut::block_cyclic(4, 2, 1)})
    for (const cut& columns : {cut::at({2, 2}), cut::at({3, 1})}) all.push_back(decomposition<2>{{rows, columns}});
  for (const auto& one : all) {
    numbers.insert(cuts(grid, grid, source_cuts(one)).fingerprint());
    numbers.insert(cuts(grid, grid, result_cuts(one)).fingerprint());
    numbers.insert(cuts(grid, grid, result_cuts(one), permute<1, 0>).fingerprint());
    for (const auto& other : all) numbers.insert(cuts(grid, grid, source_cuts(one), result_cuts(other)).fingerprint());
  }
  BOOST_TEST(numbers.size() == 2 + 3 * all.size() + all.size() * all.size());
}

BOOST_AUTO_TEST_CASE(a_block_for_each_worker_of_the_world_is_needed) {
  const grid<dynamic_extents<1>> p(dynamic_extents<1>(2), workers{0, 3});
  const auto cuts = decomposition<1>::balanced({4}, {2});
  sequentially::repartition move(p, p, permute<0>, source_cuts(cuts), result_cuts(cuts));
  for (const std::size_t n : {2U, 3U, 4U, 5U}) {
    std::vector<xt::xtensor<std::int32_t, 1>> x(n, {1, 2});
    const std::string message = test::refused<partition_error>([&] { move(x); });
    BOOST_TEST(message.empty() == (n >= 4), n);
    BOOST_TEST((n >= 4 || message.find("a partition with worker 3") != std::string::npos), message);
  }
}

/// The sequential kernels refuse what the others do.
BOOST_AUTO_TEST_CASE(blocks_that_are_no_tensor_or_not_that_of_the_cuts_are_refused) {
  using block = xt::xtensor<std::int32_t, 2>;
  const auto of = [](std::size_t rows, std::size_t columns) -> block { return xt::ones<int>({rows, columns}); };
  const auto says = []<class Error = shape_error>(const char* words, auto call) {
    test::expect_refused<Error>(call, words);
  };
  using grid_type = grid<dynamic_extents<2>>;
  const grid_type square(dynamic_extents<2>(2, 2), workers(0, 4)), row(dynamic_extents<2>(1, 4), workers(0, 4)),
      column(dynamic_extents<2>(4, 1), workers(0, 4));
  const std::vector<block> good(4, of(2, 3)), ragged{of(2, 3), of(2, 3), of(2, 3), of(2, 4)},
      overlapping{of(1, 3), of(2, 1), of(2, 1), of(1, 3)};
  sequentially::repartition to_row(square, row);
  BOOST_CHECK_NO_THROW(to_row(good));
  says("partita::sequentially::repartition(p_x, p_y)(x) with p_x = [2, 2]: the blocks are ragged: along dimension 1",
       [&] { to_row(ragged); });
  const auto fits = decomposition<2>::balanced({4, 6}, {1, 4}), other = decomposition<2>::balanced({4, 7}, {1, 4});
  BOOST_CHECK_NO_THROW(sequentially::repartition(square, row, result_cuts(fits))(good));
  says(
      "partita::sequentially::repartition(p_x, p_y): requires cuts that add up to the extents of the tensor; the "
      "result "
      "has extents [4, 6], result_cuts(...) cuts [4, 7]; make the cuts for [4, 6]",
      [&] { sequentially::repartition(square, row, result_cuts(other))(good); });
  says("requires blocks that are cut as source_cuts(...) says, which gives [2, 4] at [0, 0]; got a block of [2, 3]",
       [&] {
         sequentially::repartition(square, row, source_cuts(decomposition<2>::balanced({4, 7}, {2, 2})))(good);
       });
  // whichever block is another
  for (std::size_t odd = 0; odd < 4; ++odd) {
    std::vector<block> all = good;
    all[odd] = of(2, 4);
    says("requires blocks that are cut as source_cuts(...) says, which gives [2, 3] at", [&] {
      sequentially::repartition(square, row, source_cuts(decomposition<2>::balanced({4, 6}, {2, 2})))(all);
    });
    sequentially::halo_exchange ghosts(square, halo_widths<2>{{1, 1}, {1, 1}}, boundary::zero);
    says("the blocks are ragged", [&] { ghosts(all); });
    all[odd ^ 1U] = of(2, 2);
    says("requires blocks that are cut alike in every line", [&] { ghosts(all); });
  }
  BOOST_CHECK_NO_THROW(sequentially::all_to_all(row, column));
  says.operator()<partition_error>(
      "partita::sequentially::all_to_all(p_from, p_to): requires partitions of which one dimension of p_from is cut "
      "into "
      "k times fewer parts in p_to",
      [&] { sequentially::all_to_all(row, grid_type(dynamic_extents<2>(3, 1), workers(0, 3))); });
  sequentially::all_gather whole(square, dimensions<0, 1>);
  BOOST_CHECK_NO_THROW(whole(good));
  says("partita::sequentially::all_gather: the blocks are ragged: along dimension 1", [&] { whole(ragged); });
  says("partita::sequentially::all_gather: the blocks ", [&] { whole(overlapping); });
  const std::vector<block> too_few(3, of(2, 3));
  sequentially::halo_exchange ghosts(square, halo_widths<2>{{1, 1}, {1, 1}}, boundary::zero);
  const char* const each =
      "requires one block for each worker of the world, got 3 blocks and a partition with worker 3";
  says.operator()<partition_error>(each, [&] { to_row(too_few); });
  says.operator()<partition_error>(each, [&] { whole(too_few); });
  says.operator()<partition_error>(each, [&] { ghosts(too_few); });
  says.operator()<partition_error>(each, [&] { to_row.adjoint(too_few); });
  says.operator()<partition_error>(each, [&] { sequentially::reduce_scatter(row, dimensions<1>)(too_few); });
  says.operator()<partition_error>(each, [&] { sequentially::all_sum_reduce(row, dimensions<1>)(too_few); });
  // the worker without a block is in the small or in the large partition alone
  const auto between = [&](const grid_type& small, const grid_type& large) {
    says.operator()<partition_error>(each, [&] { sequentially::broadcast(small, large)(too_few); });
    says.operator()<partition_error>(each, [&] { sequentially::broadcast(small, large).adjoint(too_few); });
    says.operator()<partition_error>(each, [&] { sequentially::sum_reduce(large, small)(too_few); });
    says.operator()<partition_error>(each, [&] { sequentially::sum_reduce(large, small).adjoint(too_few); });
    says.operator()<partition_error>(each, [&] { sequentially::reduce(large, small, maximum)(too_few); });
  };
  between(grid_type(dynamic_extents<2>(1, 1), workers{3}), grid_type(dynamic_extents<2>(1, 3), workers(0, 3)));
  between(grid_type(dynamic_extents<2>(1, 1), workers{0}), row);
}

BOOST_AUTO_TEST_CASE(cuts_that_do_not_fit_the_partitions_or_each_other_are_refused) {
  using cuts = detail::repartition_cuts<2>;
  using shape = std::array<std::size_t, 2>;
  constexpr shape two{2, 1}, three{1, 3};
  const auto of_two = decomposition<2>::balanced({4, 6}, two), of_three = decomposition<2>::balanced({4, 6}, three),
             wide = decomposition<2>::balanced({4, 7}, three), turned = decomposition<2>::balanced({6, 4}, three);
  const auto said = []<class Error = shape_error>(auto call) { return test::refused<Error>(call); };
  BOOST_TEST(said.operator()<partition_error>([&] { cuts(two, three, source_cuts(of_three)); }) ==
             "partita::repartition(p_x, p_y, source_cuts(...)): requires as many parts along each dimension as p_x has "
             "workers; the cuts have [1, 3] parts, p_x = [2, 1]; cut into [2, 1] parts, or choose a partition of [1, "
             "3]");
  BOOST_TEST(said.operator()<partition_error>([&] { cuts(two, three, result_cuts(of_two)); }) ==
             "partita::repartition(p_x, p_y, result_cuts(...)): requires as many parts along each dimension as p_y has "
             "workers; the cuts have [2, 1] parts, p_y = [1, 3]; cut into [1, 3] parts, or choose a partition of [2, "
             "1]");
  BOOST_TEST(said([&] { cuts(two, three, source_cuts(of_two), result_cuts(wide)); }) ==
             "partita::repartition(p_x, p_y, source_cuts(...), result_cuts(...)): requires cuts that add up to the "
             "extents of the tensor; the result has extents [4, 6], result_cuts(...) cuts [4, 7]; make the cuts for "
             "[4, 6]");
  BOOST_TEST(!said([&] { cuts(two, three, source_cuts(of_two), result_cuts(turned)); }).empty());
  BOOST_TEST(said([&] { cuts(two, three, permute<1, 0>, source_cuts(of_two), result_cuts(turned)); }).empty());
  const cuts given(two, three, source_cuts(of_two));
  BOOST_TEST(given.error_message({4, 6}).empty());
  BOOST_TEST(std::string(given.error_message({4, 7}).c_str()) ==
             "requires cuts that add up to the extents of the tensor; x has extents [4, 7], source_cuts(...) cuts [4, "
             "6]; make the cuts for [4, 7]");
  // the extents of x are those of the result, turned back
  BOOST_TEST((cuts(two, three, permute<1, 0>).source_extents({5, 7}) == shape{7, 5}));
  BOOST_TEST((cuts(two, three, permute<1, 0>).result_cuts({5, 7}).extents() == shape{7, 5}));
  BOOST_TEST((detail::repartition_cuts<3>({1, 1, 1}, {1, 1, 1}, permute<1, 2, 0>).source_extents({2, 3, 4}) ==
              std::array<std::size_t, 3>{4, 2, 3}));
}

BOOST_AUTO_TEST_SUITE_END()
