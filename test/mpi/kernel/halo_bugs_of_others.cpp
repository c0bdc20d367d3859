// Bugs that other libraries had in halo exchanges, one named case for each. Every cell is compared with the definition,
// and the adjoint must satisfy <H x, y> == <x, H* y> on integers.
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/halo_exchange.hpp>

#include <vector>

#include "halo_oracle.hpp"
#include "mpi_test.hpp"
#include "refused.hpp"

namespace {

using namespace partita;

template <std::size_t Rank>
using sizes = std::array<std::vector<std::size_t>, Rank>;

template <std::size_t Rank>
decomposition<Rank> cut_into(const sizes<Rank>& all) {
  return decomposition<Rank>::make([&](std::size_t d) { return cut::at(all[d]); });
}
template <std::size_t Rank, class P>
xt::xtensor<double, Rank> block_of_worker(const P& p, const decomposition<Rank>& cuts, double offset = 0) {
  if (!p.active()) return zero_volume<double, Rank>();
  const auto own = cuts.block(p.index());
  auto x = uninitialised<double, Rank>(cuts.shape(p.index()));
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto i = index_of(k, own.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += own.start[d];
    x.data()[k] = offset + static_cast<double>(flat_index(i, cuts.extents()));
  }
  return x;
}
/// Whether all cells of a block with ghosts have the values of the definition.
template <std::size_t Rank, class P, class Y>
bool is_right(const P& p, const decomposition<Rank>& cuts, const halo_widths<Rank>& widths,
              const halo_boundaries<Rank>& beyond, const Y& y, double offset = 0) {
  if (!p.active()) return y.size() == 0;
  const auto g = test::grown_block_of(cuts, p.index(), widths, beyond);
  bool right = std::equal(g.shape.begin(), g.shape.end(), y.shape().begin());
  if (!right) return false;
  test::for_cells<Rank>(g, cuts.extents(), beyond, [&](std::size_t k, const auto& from) {
    const double wanted =
        from ? offset + static_cast<double>(flat_index(*from, cuts.extents())) : beyond.value_before[0];
    right = right && y.data()[k] == wanted;
  });
  return right;
}

/// Checks all properties of one exchange. `parts` are the numbers of workers along each dimension.
template <std::size_t Rank>
void expect_halo(const sizes<Rank>& blocks, const halo_widths<Rank>& widths, const halo_boundaries<Rank>& beyond) {
  const world everyone(test::workers());
  const auto cuts = cut_into<Rank>(blocks);
  const std::size_t wanted = volume_of(cuts.parts());
  if (wanted > everyone.size()) return;
  const auto p = everyone.partition(dynamic_extents<Rank>(cuts.parts()));
  const halo_exchange h(p, widths, beyond);
  const auto x = block_of_worker<Rank>(p, cuts);
  const auto y = h(x);
  BOOST_TEST(is_right<Rank>(p, cuts, widths, beyond, y));
  if (beyond.value_before[0] == 0) {
    xt::xtensor<double, Rank> dy = y;
    for (std::size_t k = 0; k < dy.size(); ++k) dy.data()[k] = static_cast<double>((3 * k + everyone.id()) % 7) - 3;
    BOOST_TEST(adjoint_test(everyone, h, x, dy).exact());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(halo_bugs_of_others)

BOOST_AUTO_TEST_CASE(two_periodic_workers_are_left_and_right_of_each_other) {  // Oceananigans 5843
  expect_halo<1>({{{4, 3}}}, {{1}, {2}}, boundary::periodic);
  expect_halo<2>({{{2, 3}, {5}}}, {{2, 1}, {2, 1}}, boundary::periodic);
}
BOOST_AUTO_TEST_CASE(one_periodic_worker_is_its_own_neighbour) {  // miniWeather
  expect_halo<2>({{{3}, {4}}}, {{2, 1}, {1, 2}}, boundary::periodic);
  expect_halo<1>({{{2}}}, {{5}, {7}}, boundary::periodic);  // the tensor fits into the halo more than twice
}
BOOST_AUTO_TEST_CASE(a_block_of_one_cell_is_edge_and_corner_at_once) {  // IPPL 302
  expect_halo<3>({{{1, 2}, {1, 1}, {3}}}, {{1, 1, 1}, {1, 1, 1}}, boundary::periodic);
  expect_halo<2>({{{1, 1, 1}, {1, 1}}}, {{1, 1}, {1, 1}}, boundary::none);
}
BOOST_AUTO_TEST_CASE(a_halo_wider_than_the_neighbours_block_takes_several_hops) {  // Heat, PRK, DistDL
  expect_halo<1>({{{1, 1, 2, 1}}}, {{3}, {4}}, boundary::zero);
  expect_halo<1>({{{1, 1, 1, 1, 2, 1}}}, {{4}, {3}}, boundary::periodic);
  expect_halo<1>({{{2, 2, 1, 1}}}, {{2}, {0}}, boundary::none);  // DistDL's smallest: 6 over 4
}
BOOST_AUTO_TEST_CASE(workers_that_hold_nothing_stand_in_the_middle_and_at_the_end) {  // Heat 568
  expect_halo<1>({{{3, 0, 2}}}, {{2}, {2}}, boundary::reflect);
  expect_halo<1>({{{0, 3, 0, 0}}}, {{1}, {1}}, boundary::periodic);
  expect_halo<2>({{{2, 0}, {0, 4}}}, {{1, 1}, {1, 1}}, boundary::replicate);
}
BOOST_AUTO_TEST_CASE(widths_before_and_after_differ) {  // distributed-ranges 293
  expect_halo<1>({{{3, 4, 2}}}, {{2}, {1}}, boundary::none);
  expect_halo<2>({{{3, 2}, {2, 2}}}, {{0, 2}, {1, 0}}, boundary::periodic);
}
BOOST_AUTO_TEST_CASE(a_width_is_zero_in_one_dimension) {  // Chapel 11431
  expect_halo<2>({{{3, 2}, {2, 3}}}, {{0, 1}, {0, 1}}, boundary::periodic);
  expect_halo<2>({{{3, 2}, {2, 3}}}, {{0, 0}, {0, 0}}, boundary::zero);
}
BOOST_AUTO_TEST_CASE(one_worker_exchanges_nothing_and_the_others_do) {  // MPAS 184
  expect_halo<1>({{{2, 2, 0, 0}}}, {{1}, {1}}, boundary::none);
  expect_halo<1>({{{5}}}, {{1}, {1}}, boundary::none);  // with several workers, the others are idle
}
BOOST_AUTO_TEST_CASE(a_buffer_is_overwritten_right_after_the_call_in_a_loop) {  // Heat 2150
  const world everyone(test::workers());
  const auto cuts = decomposition<1>::balanced({3 * everyone.size() + 1}, {everyone.size()});
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  const halo_widths<1> widths{{1}, {2}};
  const halo_exchange h(p, widths, boundary::periodic);
  auto x = block_of_worker<1>(p, cuts);
  for (int times = 0; times < 50; ++times) {
    x = block_of_worker<1>(p, cuts, times);
    const auto y = h(x);
    x.fill(-1);
    BOOST_TEST(is_right<1>(p, cuts, widths, boundary::periodic, y, times));
  }
}
BOOST_AUTO_TEST_CASE(corners_come_right_in_two_and_three_dimensions) {  // MPIHaloArrays 4
  expect_halo<2>({{{2, 2}, {3, 1, 2}}}, {{1, 1}, {1, 1}}, boundary::none);
  expect_halo<2>({{{2, 2}, {3, 2}}}, {{2, 2}, {2, 2}}, {{boundary::periodic, boundary::zero}});
  expect_halo<3>({{{2}, {2, 1}, {1, 3}}}, {{1, 1, 1}, {1, 1, 1}},
                 {{boundary::reflect, boundary::periodic, boundary::none}});
}
BOOST_AUTO_TEST_CASE(an_exchange_that_is_begun_ends_while_other_things_are_computed) {  // dash 686
  const world everyone(test::workers());
  const auto cuts = decomposition<2>::balanced({4 * everyone.size(), 3}, {everyone.size(), 1});
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const halo_widths<2> widths{{1, 1}, {1, 1}};
  const halo_exchange h(p, widths, boundary::replicate);
  const auto x = block_of_worker<2>(p, cuts);
  auto later = h.start(x);
  const double sum = xt::sum(x)();
  const auto y = later.finish();
  BOOST_TEST(is_right<2>(p, cuts, widths, boundary::replicate, y));
  BOOST_TEST(sum == xt::sum(x)());
}
BOOST_AUTO_TEST_CASE(two_fields_of_different_widths_and_shapes_keep_apart) {  // DALES 45
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic>(n));
  const halo_widths<1> narrow{{1}, {1}}, wide{{3}, {2}};
  const halo_exchange a(p, narrow, boundary::periodic), b(p, wide, boundary::periodic);
  for (const std::size_t size : {2 * n, 3 * n + 1, 2 * n}) {
    const auto cuts = decomposition<1>::balanced({size}, {n});
    const auto x = block_of_worker<1>(p, cuts);
    const auto y = a(x), z = b(x);
    BOOST_TEST(is_right<1>(p, cuts, narrow, boundary::periodic, y));
    BOOST_TEST(is_right<1>(p, cuts, wide, boundary::periodic, z));
  }
}
BOOST_AUTO_TEST_CASE(a_copy_of_the_exchange_keeps_its_widths_and_boundaries) {  // Chapel 3726
  const world everyone(test::workers());
  const auto cuts = decomposition<1>::balanced({2 * everyone.size()}, {everyone.size()});
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  const halo_widths<1> widths{{2}, {1}};
  halo_exchange first(p, widths, {boundary::constant, 9});
  const auto x = block_of_worker<1>(p, cuts);
  auto moved = std::move(first);
  const auto copy = moved;
  BOOST_TEST(is_right<1>(p, cuts, widths, {boundary::constant, 9}, copy(x)));
  BOOST_TEST(is_right<1>(p, cuts, widths, {boundary::constant, 9}, moved(x)));
}
BOOST_AUTO_TEST_CASE(the_cells_of_a_worker_are_its_own_and_never_ghosts) {  // Chapel 7657
  const world everyone(test::workers());
  const auto cuts = decomposition<2>::balanced({2 * everyone.size() + 1, 5}, {everyone.size(), 1});
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
  const auto x = block_of_worker<2>(p, cuts);
  BOOST_TEST(test::refused([&] { h.cells(); }) ==
             "partita::halo_exchange::cells(): requires a call before, which says how the tensor is cut; call h(x) "
             "first, or make a frame");
  auto u = h(x);
  const auto cells = h.cells();
  BOOST_TEST((cells.own == cuts.block(p.index())));
  std::size_t interior = 0, border = 0;
  for_interior(cells, [&](const partita::index<2>&) { ++interior; });
  for_border(cells, [&](const partita::index<2>& i) {
    ++border;
    BOOST_TEST(cells.own.contains(i));
    BOOST_TEST(!cells.interior.contains(i));
  });
  BOOST_TEST(interior == cells.interior.volume());
  BOOST_TEST(interior + border == x.size());
  for_interior(cells, [&](const partita::index<2>& i) {
    BOOST_TEST(u[cells.at(i[0], i[1])] == x(i[0] - cells.own.start[0], i[1]));
  });

  xt::view(u, xt::range(1, u.shape()[0] - 1), xt::range(1, u.shape()[1] - 1)) += 100.0;  // one step of a simulation
  auto later = h.start_refresh(u);
  later.finish();
  BOOST_TEST(is_right<2>(p, cuts, h.widths(), boundary::periodic, u, 100));
}

BOOST_AUTO_TEST_SUITE_END()
