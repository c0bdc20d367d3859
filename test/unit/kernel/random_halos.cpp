// Random halos by the sequential executor: random decompositions, widths and boundaries on both sides of every
// dimension, also with blocks that are empty or narrower than the halo. Every cell is a copy of the cell in the
// definition, and the adjoint adds every cell to that cell.
#include <partita/kernel/halo_cells.hpp>
#include <partita/kernel/sequentially.hpp>
#include <partita/plan/halo_rounds.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "halo_oracle.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

namespace {

using namespace partita;
std::size_t below(std::mt19937& random, std::size_t n) { return random() % n; }

/// What a worker has at once is in a box that it keeps, or beyond a border where there is no cell.
template <std::size_t Rank, class From>
void expect_at_once(const halo_plan<Rank>& plan, const partita::index<Rank>& cell, const From& from) {
  if (!plan.box_available_at_start().contains(cell)) return;
  bool there = !from;
  for (const auto& k : plan.exchange.kept) {
    box<Rank> kept{k.destination_start, k.destination_start};
    for (std::size_t d = 0; d < Rank; ++d) kept.stop[d] += k.where.stop[d] - k.where.start[d];
    there = there || kept.contains(cell);
  }
  BOOST_REQUIRE(there);
}

/// It is the block, and along each dimension the cells beside it if none of these has a source.
template <std::size_t Rank>
void expect_all_at_once(const halo_plan<Rank>& plan, const std::array<std::size_t, Rank>& shape,
                        const std::vector<bool>& has_source) {
  box<Rank> wanted = plan.own_cells;
  if (wanted.empty()) return;
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto is_beyond = [&](std::size_t first, std::size_t last) {
      auto cell = plan.own_cells.start;
      for (cell[d] = first; cell[d] < last; ++cell[d])
        if (has_source[flat_index(cell, shape)]) return false;
      return true;
    };
    if (is_beyond(0, wanted.start[d])) wanted.start[d] = 0;
    if (is_beyond(wanted.stop[d], shape[d])) wanted.stop[d] = shape[d];
  }
  BOOST_REQUIRE((plan.box_available_at_start() == wanted));
}

/// What workers hold after the rounds, one for each dimension: each box that is sent or kept is copied from the block,
/// or from the window as the round before has left it, and what is sent to a worker is what it receives.
template <class Grid, std::size_t Rank>
std::vector<xt::xtensor<double, Rank>> after_rounds(const Grid& p, const decomposition<Rank>& owned,
                                                    const halo_widths<Rank>& widths,
                                                    const halo_boundaries<Rank>& beyond,
                                                    const std::vector<xt::xtensor<double, Rank>>& x,
                                                    std::vector<xt::xtensor<double, Rank>> windows) {
  std::vector<std::vector<exchange_plan<Rank>>> rounds;
  for (std::size_t worker = 0; worker < x.size(); ++worker) {
    windows[worker].fill(-1);
    rounds.push_back(plan_halo_rounds(p, owned, widths, beyond, plan_halo(p, owned, widths, beyond, worker)));
    BOOST_REQUIRE(rounds[worker].size() == rounds[0].size());
  }
  for (std::size_t r = 0; r < rounds[0].size(); ++r) {
    const auto from = r == 0 ? x : windows;
    using route = std::pair<std::size_t, std::size_t>;
    std::map<route, std::vector<box<Rank>>> sent, received;
    for (std::size_t worker = 0; worker < x.size(); ++worker) {
      const auto copy = [&](const box<Rank>& where, const auto& source, const auto& destination, std::size_t to) {
        std::array<std::size_t, Rank> shape{};
        for (std::size_t d = 0; d < Rank; ++d) shape[d] = where.stop[d] - where.start[d];
        for (std::size_t k = 0; k < volume_of(shape); ++k) {
          auto i = index_of(k, shape), j = i;
          for (std::size_t d = 0; d < Rank; ++d) i[d] += source[d], j[d] += destination[d];
          for (std::size_t d = 0; d < Rank; ++d)
            BOOST_REQUIRE((i[d] < from[worker].shape()[d] && j[d] < windows[to].shape()[d]));
          windows[to][j] = from[worker][i];
        }
      };
      for (const auto& k : rounds[worker][r].kept) copy(k.where, k.source_start, k.destination_start, worker);
      for (const auto& t : rounds[worker][r].sends) {
        sent[{worker, t.worker}].push_back(t.where);
        copy(t.where, t.at, t.where.start, t.worker);
      }
      for (const auto& t : rounds[worker][r].receives) {
        received[{t.worker, worker}].push_back(t.where);
        BOOST_REQUIRE((t.at == t.where.start));
      }
    }
    BOOST_REQUIRE((sent == received));
  }
  return windows;
}

template <std::size_t Rank>
void one_case(std::mt19937& random, std::size_t& wider, std::size_t& empty) {
  using block = xt::xtensor<double, Rank>;
  std::array<std::size_t, Rank> extents{}, parts{};
  halo_widths<Rank> widths;
  halo_boundaries<Rank> beyond(boundary::none, 7);
  if (below(random, 3) == 0) widths.shape = halo_shape::star;
  widths.of_empty_blocks = below(random, 3) == 0;
  std::vector<cut> cuts;
  bool any_empty = false;
  for (std::size_t d = 0; d < Rank; ++d) {
    parts[d] = 1 + below(random, Rank == 1 ? 6 : 3);
    std::vector<std::size_t> sizes(parts[d]);
    for (std::size_t& n : sizes) n = below(random, 5);
    cuts.push_back(cut::at(sizes));
    extents[d] = cuts[d].extent();
    const auto draw = [&](std::size_t& width, boundary& b) {
      b = static_cast<boundary>(below(random, 7));
      width = below(random, 4);
      if (b == boundary::reflect && width >= extents[d]) b = boundary::replicate;
    };
    draw(widths.before[d], beyond.before[d]);
    draw(widths.after[d], beyond.after[d]);
    beyond.value_after[d] = 8 + static_cast<double>(d), beyond.value_before[d] = 20 + static_cast<double>(d);
    for (const std::size_t n : sizes) wider += n > 0 && n < widths.before[d] ? 1 : 0, empty += n == 0 ? 1 : 0;
    for (const std::size_t n : sizes) any_empty = any_empty || n == 0;
  }
  const auto owned = decomposition<Rank>::make([&](std::size_t d) { return cuts[d]; });
  const std::size_t world = volume_of(parts) + below(random, 2);
  std::vector<std::size_t> ids(world);
  for (std::size_t k = 0; k < world; ++k) ids[k] = k;
  std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(volume_of(parts));
  const grid<dynamic_extents<Rank>> p{dynamic_extents<Rank>(parts), workers(ids)};

  std::vector<block> x, dy, dx;
  for (std::size_t worker = 0; worker < world; ++worker) {
    const auto shape = p.contains(worker) ? owned.shape(p.index(p.place(worker))) : std::array<std::size_t, Rank>{};
    x.push_back(xt::zeros<double>(shape));
    dx.push_back(xt::zeros<double>(shape));
    if (!p.contains(worker)) continue;
    const auto own = owned.block(p.index(p.place(worker)));
    for (std::size_t k = 0; k < x[worker].size(); ++k) {
      auto i = index_of(k, shape);
      for (std::size_t d = 0; d < Rank; ++d) i[d] += own.start[d];
      x[worker].data()[k] = static_cast<double>(flat_index(i, extents) + 1);
    }
  }
  const auto f = [](const std::array<std::ptrdiff_t, Rank>& i) {
    double sum = 0.5;
    for (const std::ptrdiff_t at : i) sum = 100 * sum + static_cast<double>(at);
    return sum;
  };
  sequentially::halo_exchange h(p, widths, beyond, f);
  const auto y = h(x);
  const bool has_rounds = widths.shape == halo_shape::box && !widths.of_empty_blocks;
  const auto by_dimension = has_rounds ? after_rounds(p, owned, widths, beyond, x, y) : y;
  std::size_t most = 0;
  for (std::size_t worker = 0; worker < world; ++worker) {
    dy.push_back(block(y[worker]));
    if (!p.contains(worker)) continue;
    const auto g = test::grown_block_of(owned, p.index(p.place(worker)), widths, beyond);
    BOOST_REQUIRE(std::equal(g.shape.begin(), g.shape.end(), y[worker].shape().begin()));
    const auto plan = plan_halo(p, owned, widths, beyond, worker);
    std::vector<bool> has_source(volume_of(g.shape));
    most = std::max(most, plan.exchange.messages_received());
    test::for_cells<Rank>(g, extents, beyond, [&](std::size_t k, auto from) {
      const auto local_cell = index_of(k, g.shape);
      auto global = g.first;
      for (std::size_t e = 0; e < Rank; ++e) global[e] += static_cast<std::ptrdiff_t>(local_cell[e]);
      if (widths.shape == halo_shape::star && test::is_corner<Rank>(owned, p.index(p.place(worker)), global)) from = {};
      expect_at_once(plan, index_of(k, g.shape), from);
      has_source[k] = static_cast<bool>(from);
      double outside = 0;  // of the first dimension in which the cell lies beyond the border
      for (std::size_t d = Rank; !from && d-- > 0;) {
        const auto at = g.first[d] + static_cast<std::ptrdiff_t>(local_cell[d]);
        const bool in_front = at < 0, behind = at >= static_cast<std::ptrdiff_t>(extents[d]);
        const boundary b = in_front ? beyond.before[d] : beyond.after[d];
        if (!(in_front || behind) || (extents[d] > 0 && !is_outside(b))) continue;
        const double constant = in_front ? beyond.value_before[d] : beyond.value_after[d];
        outside = b == boundary::function ? f(global) : b == boundary::constant ? constant : 0;
      }
      BOOST_REQUIRE(y[worker].data()[k] == (from ? static_cast<double>(flat_index(*from, extents) + 1) : outside));
      if (from) BOOST_REQUIRE(by_dimension[worker].data()[k] == y[worker].data()[k]);
      const double cotangent = static_cast<double>((3 * k + worker) % 11) - 5;
      dy[worker].data()[k] = cotangent;
      if (!from) return;
      partita::index<Rank> part{}, local{};
      for (std::size_t d = 0; d < Rank; ++d)
        owned.cuts[d].for_overlaps({(*from)[d], (*from)[d] + 1}, [&](std::size_t at, interval, std::size_t i,
                                                                     std::size_t) { part[d] = at, local[d] = i; });
      dx[p.worker(part)].data()[flat_index(local, owned.shape(part))] += cotangent;
    });
    expect_all_at_once(plan, g.shape, has_source);
  }
  // The worker with the most neighbours has as many as the costs say; an empty block may have fewer.
  const std::size_t told = costs_of_halo(owned, widths, beyond).messages_at_once;
  BOOST_REQUIRE((any_empty ? most <= told : most == told));
  const auto got = h.adjoint(dy);
  for (std::size_t worker = 0; worker < world; ++worker)
    if (p.contains(worker)) BOOST_REQUIRE(got[worker] == dx[worker]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_halos)

BOOST_AUTO_TEST_CASE(random_halos_are_copies_of_the_cells_that_the_definitions_name) {
  std::mt19937 random(20261122);
  std::size_t wider = 0, empty = 0;
  const std::size_t wanted = test::random_cases(6'000);
  for (std::size_t k = 0; k < wanted; ++k) {
    if (k % 3 == 0) one_case<1>(random, wider, empty);
    if (k % 3 == 1) one_case<2>(random, wider, empty);
    if (k % 3 == 2) one_case<3>(random, wider, empty);
  }
  BOOST_TEST(wider > wanted / 4);
  BOOST_TEST(empty > wanted / 4);
}

BOOST_AUTO_TEST_CASE(a_worker_of_a_million_plans_its_neighbours_alone) {
  const grid<dynamic_extents<2>> p{dynamic_extents<2>(1000, 1000), workers(0, 1'000'000)};
  const auto owned = decomposition<2>::balanced({8000, 9000}, {1000, 1000});
  const auto plan = plan_halo<dynamic_extents<2>, 2>(p, owned, {{1, 1}, {1, 1}}, boundary::periodic, 0);
  BOOST_TEST(plan.exchange.messages_sent() == 8U);
  BOOST_TEST(plan.exchange.messages_received() == 8U);
  BOOST_TEST(plan.exchange.elements_received() == 2U * 8 + 2 * 9 + 4);
}

BOOST_AUTO_TEST_CASE(reflected_ghosts_are_narrower_than_the_tensor) {
  const grid<dynamic_extents<1>> p{dynamic_extents<1>(2), workers(0, 2)};
  const std::vector<xt::xtensor<double, 1>> x{xt::ones<double>({3}), xt::ones<double>({2})};
  sequentially::halo_exchange h(p, halo_widths<1>{{5}, {0}}, boundary::reflect);
  BOOST_CHECK_THROW(h(x), shape_error);
  for (const std::size_t width : {4U, 5U, 6U}) {
    const auto plan = [&] {
      plan_halo(p, decomposition<1>::balanced({5}, {2}), halo_widths<1>{{0}, {width}},
                halo_boundaries<1>(boundary::reflect), 1);
    };
    const text words = text("partita::plan_halo: requires reflected ghosts of a width below the extent of the tensor, ")
                       << "got a width of " << width;
    BOOST_TEST(test::refused<shape_error>(plan).find(words.c_str()) == (width < 5 ? std::string::npos : 0));
  }
}

/// The interior and the border are all own cells, each once; a cell is interior if all cells within the widths are own.
BOOST_AUTO_TEST_CASE(interior_and_border_are_the_cells_of_a_block) {
  std::mt19937 random(12);
  for (int turn = 0; turn < 500; ++turn) {
    box<2> block;
    halo_widths<2> widths;
    for (std::size_t d = 0; d < 2; ++d) {
      block.start[d] = below(random, 4), block.stop[d] = block.start[d] + below(random, 6);
      widths.before[d] = below(random, 4), widths.after[d] = below(random, 4);
    }
    const halo_cells<2> cells(block, widths, {});
    std::vector<std::size_t> interior(100, 0), border(100, 0);
    for_interior(cells, [&](const partita::index<2>& i) { ++interior.at(10 * i[0] + i[1]); });
    for_border(cells, [&](const partita::index<2>& i) { ++border.at(10 * i[0] + i[1]); });
    const auto is_inside = [&](std::size_t i, std::size_t d) {
      return i >= block.start[d] + widths.before[d] && i + widths.after[d] < block.stop[d];
    };
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t j = 0; j < 10; ++j) {
        const bool own = block.contains({i, j}), inner = own && is_inside(i, 0) && is_inside(j, 1);
        wrong += interior[10 * i + j] != (inner ? 1U : 0U) || border[10 * i + j] != (own && !inner ? 1U : 0U);
      }
    BOOST_TEST(wrong == 0U);
  }
}

/// A random halo of blocks that all have cells, its plans in one round, and its plans by dimension.
BOOST_AUTO_TEST_CASE(rounds_have_as_many_messages_as_the_costs_say_and_both_sides_know_the_positions_in_windows) {
  std::mt19937 random(31);
  for (int turn = 0; turn < 60; ++turn) {
    std::array<std::size_t, 3> parts{};
    halo_widths<3> widths;
    halo_boundaries<3> edges(boundary::none);
    std::vector<cut> cuts;
    std::size_t grown = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      parts[d] = 1 + below(random, 3);
      std::vector<std::size_t> sizes(parts[d]);
      for (std::size_t& n : sizes) n = 1 + below(random, 4);
      cuts.push_back(cut::at(sizes));
      const boundary kinds[] = {boundary::none, boundary::zero, boundary::periodic, boundary::replicate};
      edges.before[d] = kinds[below(random, 4)], edges.after[d] = kinds[below(random, 4)];
      widths.before[d] = below(random, 3), widths.after[d] = below(random, 3);
      grown += widths.before[d] + widths.after[d] > 0 ? 1U : 0U;
    }
    const auto blocks = decomposition<3>::make([&](std::size_t d) { return cuts[d]; });
    const grid<dynamic_extents<3>> p{dynamic_extents<3>(parts)};
    std::vector<halo_plan<3>> whole;
    std::vector<std::vector<exchange_plan<3>>> rounds;
    for (std::size_t w = 0; w < p.size(); ++w) {
      whole.push_back(plan_halo(p, blocks, widths, edges, w));
      rounds.push_back(plan_halo_rounds(p, blocks, widths, edges, whole[w]));
      BOOST_REQUIRE(rounds[w].size() == std::max<std::size_t>(grown, 1));
    }
    std::size_t at_once = 0, by_dimension = 0, with_messages = 0;
    for (const auto& one : whole) at_once = std::max(at_once, one.exchange.messages_received());
    for (std::size_t r = 0; r < rounds[0].size(); ++r) {
      std::size_t most = 0;
      for (const auto& one : rounds) most = std::max(most, one[r].messages_received());
      by_dimension += most, with_messages += most > 0 ? 1U : 0U;
    }
    const halo_costs costs = costs_of_halo(blocks, widths, edges);
    BOOST_TEST(costs.messages_at_once == at_once);
    BOOST_TEST(costs.messages_by_dimension == by_dimension);
    BOOST_TEST(costs.rounds == with_messages);
    widths.shape = halo_shape::star;
    BOOST_TEST(costs_of_halo(blocks, widths, edges).messages_at_once == by_dimension);
    for (std::size_t w = 0; w < p.size(); ++w) {
      // The block's own cells, which a refreshed window has already, are the first that the worker keeps.
      const exchange_plan<3>& all = whole[w].exchange;
      const exchange_plan<3> ghosts = whole[w].ghost_exchange();
      const box<3> own = blocks.block(p.index(w));
      BOOST_REQUIRE((!all.kept.empty() && all.kept[0].where == own));
      BOOST_REQUIRE((all.kept[0].destination_start == whole[w].own_cells.start));
      BOOST_REQUIRE((ghosts.kept == std::vector<kept_box<3>>(all.kept.begin() + 1, all.kept.end())));
      BOOST_REQUIRE((ghosts.sends == all.sends && ghosts.receives == all.receives));
      // A reversed halo adds the worker's own cells first, and then those of its neighbours by their ids.
      std::vector<std::size_t> order{w};
      for (const auto& t : all.sends)
        if (order.back() != t.worker) order.push_back(t.worker);
      BOOST_REQUIRE((all.order == order && std::is_sorted(order.begin() + 1, order.end()) && !all.one_to_one));
      for (std::size_t r = 0; r < rounds[w].size(); ++r) {
        const exchange_plan<3>& round = rounds[w][r];
        BOOST_REQUIRE((round.worker == w && round.gives && round.takes && !round.one_to_one));
        BOOST_REQUIRE((round.extents == blocks.extents()));
        BOOST_REQUIRE((round.source_shape == (r == 0 ? own.shape() : all.destination_shape)));
        BOOST_REQUIRE((round.destination_shape == all.destination_shape));
        std::map<std::size_t, std::size_t> sent;  // boxes to each neighbour, which lists them in the same order
        for (const auto& t : round.sends) {
          const exchange_plan<3>& other = rounds[t.worker][r];
          std::size_t earlier = sent[t.worker]++;
          const auto received = std::find_if(other.receives.begin(), other.receives.end(),
                                             [&](const auto& one) { return one.worker == w && earlier-- == 0; });
          BOOST_REQUIRE((received != other.receives.end() && received->where == t.where));
          BOOST_REQUIRE((t.at_peer == place_in_block<3>::of(received->at, other.destination_shape)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_round_costs_as_much_as_four_messages) {
  for (std::size_t at_once = 0; at_once < 40; ++at_once)
    for (std::size_t by_dimension = 0; by_dimension < 8; ++by_dimension)
      for (std::size_t rounds = 0; rounds < 4; ++rounds)
        BOOST_TEST((halo_costs{at_once, by_dimension, rounds}.by_dimension_is_cheaper()) ==
                   (2.0 * static_cast<double>(rounds) + 0.5 * static_cast<double>(by_dimension) <
                    2.0 + 0.5 * static_cast<double>(at_once)));
  const auto costs = []<std::size_t Rank>(const std::array<std::size_t, Rank>& extents, std::size_t parts) {
    halo_widths<Rank> widths;
    widths.before.fill(1), widths.after.fill(1);
    std::array<std::size_t, Rank> each{};
    each.fill(parts);
    return costs_of_halo(decomposition<Rank>::balanced(extents, each), widths, {boundary::periodic});
  };
  const halo_costs flat = costs(std::array<std::size_t, 2>{30, 30}, 3),
                   cube = costs(std::array<std::size_t, 3>{30, 30, 30}, 3);
  BOOST_TEST((flat.messages_at_once == 8U && flat.messages_by_dimension == 4U && flat.rounds == 2U));
  BOOST_TEST((cube.messages_at_once == 26U && cube.messages_by_dimension == 6U && cube.rounds == 3U));
  BOOST_TEST((!flat.by_dimension_is_cheaper() && cube.by_dimension_is_cheaper()));
}

BOOST_AUTO_TEST_CASE(a_constant_beyond_a_border_is_a_number_of_the_element_type) {
  struct pair {
    int first = 3;
  };
  BOOST_TEST(detail::to_ghost_value<double>(-2.75) == -2.75);
  BOOST_TEST(detail::to_ghost_value<int>(2.75) == 2);
  BOOST_TEST((detail::to_ghost_value<std::complex<float>>(2.5) == std::complex<float>(2.5F, 0)));
  BOOST_TEST(detail::to_ghost_value<pair>(2.5).first == 3);  // an element that is no number has its default value
  using number = std::complex<float>;
  const grid<dynamic_extents<1>> p{dynamic_extents<1>(1), workers(0, 1)};
  sequentially::halo_exchange h(p, halo_widths<1>{{2}, {1}}, {{boundary::constant}, {boundary::zero}, {2.5}, {7}});
  const xt::xtensor<number, 1> x{{1, 1}, {3, -1}};
  const auto y = h(std::vector<xt::xtensor<number, 1>>(1, x));
  BOOST_TEST((y[0] == xt::xtensor<number, 1>{{2.5F, 0}, {2.5F, 0}, {1, 1}, {3, -1}, {0, 0}}));
}

BOOST_AUTO_TEST_SUITE_END()
