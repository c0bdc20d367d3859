// Every public function of the plans that takes a number throws an error message if the number is out of range, which
// includes converted negative numbers.
#include <partita/comm/mesh_groups.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/placed_mesh.hpp>
#include <partita/plan/worker_groups.hpp>
#include <partita/plan/workers.hpp>
#include <partita/sharded/sharded_partition.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;

constexpr std::size_t minus_one = static_cast<std::size_t>(-1), half = std::size_t{1} << 63U;

/// Whether f throws an error of this type for each of these numbers, with a message that contains the function's name.
template <class Error, class F>
bool all_refused(std::initializer_list<std::size_t> numbers, const std::string& name, F f) {
  bool all = true;
  for (const std::size_t n : numbers) all = all && refused<Error>([&] { f(n); }).find(name) == 0;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers_out_of_range)

BOOST_AUTO_TEST_CASE(places_among_workers_are_refused_in_ranges_and_lists) {
  for (const workers& chosen : {workers(3, 5), workers{7, 2}, workers(0, 0)}) {
    BOOST_TEST(all_refused<partition_error>({chosen.size(), half, minus_one}, "partita::workers",
                                            [&](std::size_t n) { chosen[n]; }));
    BOOST_TEST(chosen.find(minus_one) == chosen.size());
    BOOST_TEST(!chosen.contains(half));
  }
}

BOOST_AUTO_TEST_CASE(indices_and_parts_of_cuts_are_refused) {
  BOOST_TEST(
      all_refused<shape_error>({7, half, minus_one}, "partita::cut", [](std::size_t n) { balanced_owner(7, 2, n); }));
  BOOST_TEST(
      all_refused<shape_error>({2, half, minus_one}, "partita::cut", [](std::size_t n) { balanced_part(7, 2, n); }));
  for (const cut& c : {cut::balanced(7, 2), cut::at({3, 4}), cut::block_cyclic(7, 2, 2)})
    BOOST_TEST(all_refused<shape_error>({2, half, minus_one}, "partita::cut", [&](std::size_t n) {
      c.size(n);
      c.for_pieces(n, [](interval, std::size_t) {});
    }));
  const auto both = decomposition<2>::balanced({4, 6}, {2, 3});
  BOOST_TEST(all_refused<shape_error>({2, half, minus_one}, "partita::cut", [&](std::size_t n) {
    both.shape({n, 0});
  }));
  BOOST_TEST(all_refused<shape_error>({3, half, minus_one}, "partita::cut", [&](std::size_t n) {
    both.block({0, n});
  }));
  BOOST_TEST(all_refused<shape_error>({0}, "partita::cut", [](std::size_t n) { cut::nested(7, {n}); }));
}

BOOST_AUTO_TEST_CASE(places_and_positions_of_grids_are_refused) {
  const grid<extents<2, 3>> g{extents<2, 3>{}};
  BOOST_TEST(all_refused<partition_error>({6, half, minus_one}, "partita::grid", [&](std::size_t n) { g.index(n); }));
  BOOST_TEST(all_refused<partition_error>({2, half, minus_one}, "partita::partition", [&](std::size_t n) {
    g.worker({n, 0});
  }));
  BOOST_TEST((!g.contains(minus_one) && g.place(half) == g.size()));
}

BOOST_AUTO_TEST_CASE(groups_that_are_not_there_are_refused) {
  const worker_groups groups({{0, 2}, {1}});
  BOOST_TEST(all_refused<partition_error>({2, half, minus_one}, "partita::worker_groups",
                                          [&](std::size_t n) { groups.members(n); }));
  BOOST_TEST((groups.group_of(minus_one) == groups.size() && groups.group_of(half) == groups.size()));
  BOOST_TEST(all_refused<partition_error>({half, minus_one}, "partita::worker_groups", [&](std::size_t n) {
    worker_groups({{0, n}});
  }));
  BOOST_TEST(worker_groups(std::vector<std::vector<std::size_t>>{}).size() == 0U);
}

BOOST_AUTO_TEST_CASE(axes_of_a_mesh_and_its_workers_are_refused) {
  const mesh m{axis{"a", 2}, axis{"b", 3}};
  BOOST_TEST(all_refused<partition_error>({2, half, minus_one}, "partita::mesh", [&](std::size_t n) { m.size(n); }));
  BOOST_TEST(all_refused<partition_error>({6, half, minus_one}, "partita::mesh",
                                          [&](std::size_t n) { coordinate_of(m, n, 0); }));
  BOOST_TEST(all_refused<partition_error>({2, half, minus_one}, "partita::mesh",
                                          [&](std::size_t n) { coordinate_of(m, 0, n); }));
  BOOST_TEST(all_refused<partition_error>({0}, "partita::axis", [](std::size_t n) { axis("a", n); }));
  // more workers than can be counted, along an axis and on all of them
  BOOST_TEST(all_refused<partition_error>({half, minus_one}, "partita::axis", [](std::size_t n) { axis("a", n); }));
  BOOST_TEST(all_refused<partition_error>({std::size_t{1} << 31U}, "partita::mesh", [](std::size_t n) {
    mesh{axis{"a", n}, axis{"b", n}, axis{"c", n}};
  }));
  BOOST_TEST(all_refused<partition_error>({minus_one, minus_one - 5, half}, "partita::groups_along",
                                          [&](std::size_t n) { groups_along(m, "a", n); }));
  const placed_mesh placed(m);
  BOOST_TEST(all_refused<partition_error>({6, half, minus_one}, "partita::placed_mesh",
                                          [&](std::size_t n) { placed.worker(n); }));
  BOOST_TEST(all_refused<partition_error>({3, half, minus_one}, "partita::partition_of",
                                          [&](std::size_t n) { partition_of<1>(m.layout("a"), {8}, placed, n); }));
}

BOOST_AUTO_TEST_SUITE_END()
