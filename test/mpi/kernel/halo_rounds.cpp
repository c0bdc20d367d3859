// Exchanging ghosts dimension by dimension gives the same as exchanging them at once, on random halos, with 2 d
// messages.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <algorithm>
#include <partita/kernel/halo_exchange.hpp>
#include <random>
#include <vector>

namespace {

using namespace partita;

/// Exchanges the same random halo in both ways; all workers use the same seed.
template <std::size_t Rank>
void one_halo(const world& everyone, std::mt19937& random) {
  std::array<std::size_t, Rank> parts{};
  parts.fill(1);
  std::size_t left = everyone.size();
  for (std::size_t d = 0; d < Rank; ++d) parts[d] = 1 + random() % std::min<std::size_t>(3, left), left /= parts[d];
  std::vector<cut> cuts;
  halo_widths<Rank> widths;
  halo_boundaries<Rank> beyond(boundary::none, 7);
  for (std::size_t d = 0; d < Rank; ++d) {
    std::vector<std::size_t> sizes(parts[d]);
    for (std::size_t& n : sizes) n = random() % 5;
    cuts.push_back(cut::at(sizes));
    const auto draw = [&](std::size_t& width, boundary& b) {
      width = random() % 4, b = static_cast<boundary>(random() % 6);
      if (b == boundary::reflect && width >= cuts[d].extent()) b = boundary::replicate;
    };
    draw(widths.before[d], beyond.before[d]);
    draw(widths.after[d], beyond.after[d]);
  }
  const auto owned = decomposition<Rank>::make([&](std::size_t d) { return cuts[d]; });
  const auto p = everyone.partition(dynamic_extents<Rank>(parts));
  const halo_exchange at_once(p, widths, beyond, halo_algorithm::one_round);
  const halo_exchange by_dimension(p, widths, beyond, halo_algorithm::by_dimension);
  auto x = p.active() ? uninitialised<double, Rank>(owned.shape(p.index())) : zero_volume<double, Rank>();
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(random() % 1000 + 1000 * everyone.id());
  const auto y = at_once(x);
  for (int times = 0; times < 2; ++times) BOOST_TEST((by_dimension(x) == y));
  xt::xtensor<double, Rank> u = y, v = y;
  for (std::size_t k = 0; k < u.size(); ++k) u.data()[k] += 0.5, v.data()[k] += 0.5;
  at_once.refresh(u);
  by_dimension.refresh(v);
  BOOST_TEST((u == v));
  BOOST_TEST((by_dimension.adjoint(y) == at_once.adjoint(y)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(halo_rounds)

BOOST_AUTO_TEST_CASE(ghosts_that_come_dimension_by_dimension_are_those_that_come_at_once) {
  const world everyone(test::workers());
  std::mt19937 random(2026);
  for (int times = 0; times < 12; ++times) {
    const test::pretended shared("PARTITA_SHARED", times % 2 == 0 ? "1" : "0");
    one_halo<1>(everyone, random);
    // workers with blocks of different sizes have drawn different numbers
    random.seed(static_cast<unsigned>(3 * times));
    one_halo<2>(everyone, random);
    random.seed(static_cast<unsigned>(3 * times + 1));
    one_halo<3>(everyone, random);
    random.seed(static_cast<unsigned>(3 * times + 2));
  }
}

BOOST_AUTO_TEST_CASE(corners_cost_no_message_of_their_own, *test::at_least(4)) {
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 2>();
  const halo_widths<2> widths{{1, 1}, {1, 1}};
  const halo_exchange at_once(p, widths, boundary::none, halo_algorithm::one_round);
  const halo_exchange by_dimension(p, widths, boundary::none, halo_algorithm::by_dimension);
  const halo_exchange by_cost(p, widths, boundary::none);
  const auto x = p.active() ? xt::xtensor<double, 2>(xt::ones<double>({4, 4})) : zero_volume<double, 2>();
  at_once(x), by_dimension(x), by_cost(x);
  if (!p.active()) return;
  BOOST_TEST(at_once.counts().messages == 3U);
  BOOST_TEST(by_dimension.counts().messages == 2U);
  BOOST_TEST(by_cost.counts().messages == 3U);
}

BOOST_AUTO_TEST_CASE(two_rounds_cost_as_much_as_eight_messages_and_three_rounds_less_than_twenty_six) {
  const auto costs = []<std::size_t Rank>(const std::array<std::size_t, Rank>& extents,
                                          const std::array<std::size_t, Rank>& parts) {
    halo_widths<Rank> widths;
    widths.before.fill(1), widths.after.fill(1);
    return costs_of_halo(decomposition<Rank>::balanced(extents, parts), widths, {boundary::periodic});
  };
  const auto flat = costs(std::array<std::size_t, 2>{30, 30}, std::array<std::size_t, 2>{3, 3});
  BOOST_TEST(flat.messages_at_once == 8U);
  BOOST_TEST(flat.messages_by_dimension == 4U);
  BOOST_TEST(!flat.by_dimension_is_cheaper());
  const auto cube = costs(std::array<std::size_t, 3>{30, 30, 30}, std::array<std::size_t, 3>{3, 3, 3});
  BOOST_TEST(cube.messages_at_once == 26U);
  BOOST_TEST(cube.messages_by_dimension == 6U);
  BOOST_TEST(cube.rounds == 3U);
  BOOST_TEST(cube.by_dimension_is_cheaper());
}

BOOST_AUTO_TEST_SUITE_END()
