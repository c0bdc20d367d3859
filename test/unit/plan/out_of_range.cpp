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

/// One beyond a limit is refused in the words of that limit, and the limit itself is taken.
BOOST_AUTO_TEST_CASE(limits_of_groups_meshes_and_lists_are_named) {
  const auto groups = [](std::vector<std::vector<std::size_t>> lists) {
    return refused<partition_error>([&] { worker_groups of(lists); });
  };
  BOOST_TEST(groups({{0}, {2, 1}}) == "");
  BOOST_TEST(groups({{0}, {}, {1}}) ==
             "partita::worker_groups: requires groups that have a worker, group 1 has none; leave it out");
  BOOST_TEST(
      groups({{0, 3}, {3}}) ==
      "partita::worker_groups: requires each worker in one group at most, worker 3 is named in group 0 and again "
      "in group 1");
  BOOST_TEST(
      groups({{0}, {2, 2}}) ==
      "partita::worker_groups: requires each worker in one group at most, worker 2 is named in group 1 and again "
      "in group 1");
  BOOST_TEST(groups({{0}, {(std::size_t{1} << 31U) + 1}}) ==
             "partita::worker_groups: requires ids of workers, got 2147483649 in group 1");
  const mesh m{axis{"a", 2}, axis{"b", 3}};
  BOOST_TEST(refused<partition_error>([&] { groups_along(m, "a", (std::size_t{1} << 31U) - 5); }) ==
             "partita::groups_along(mesh, axes, first): requires workers that MPI can count, got 6 from worker "
             "2147483643 on");
  const auto block = [&](const shape_list& shape) {
    return refused<shape_error>([&] { mesh_block(m.layout("a", ""), shape, 0); });
  };
  BOOST_TEST(block({4, 4}) == "");
  for (const shape_list& shape : {shape_list{4}, shape_list{4, 4, 4}})
    BOOST_TEST(block(shape) == (text("partita::mesh_block(sharding, shape, worker): requires a shape of the sharding's "
                                     "rank 2, got the shape ")
                                << shape)
                                   .c_str());
  bounded_list<std::size_t, 3> list{1, 2};
  BOOST_TEST(refused<shape_error>([&] { list.push_back(3); }) == "");
  BOOST_TEST(refused<shape_error>([&] { list.push_back(4); }) ==
             "partita: requires a list of at most 3 entries; split what it describes");
  const auto laid = [](std::size_t first, std::size_t second) {
    return lay_out<1>({{first}, {second}}, {2}).error_message;
  };
  BOOST_TEST(laid(half, half - 1) == "");
  BOOST_TEST(laid(half, half) ==
             (text("the blocks hold more indices along dimension 0 than can be counted: ") << half << " + " << half));
  BOOST_TEST(refused<shape_error>([] {
               lay_out<1>({{1}, {1}, {1}}, {2});
             }) == "partita::lay_out(shapes, grid): requires one shape for each place of the grid [2], got 3 shapes");
}

BOOST_AUTO_TEST_SUITE_END()
