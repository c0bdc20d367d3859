// The choice of pencils: the fewest moves, no idle worker that a pencil would employ, no gathered array.
#include <algorithm>
#include <array>
#include <boost/test/tools/floating_point_comparison.hpp>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <partita/kernel/detail/pencils.hpp>
#include <random>
#include <vector>
#include "../../../bench/transform_model.hpp"

namespace {

using namespace partita;
using detail::choose_pencils;
using detail::pencil;
using detail::pencil_request;
using route = std::vector<pencil>;

std::size_t largest(const shape_list& extents, const shape_list& grid) {
  std::size_t n = 1;
  for (std::size_t d = 0; d < grid.size(); ++d) n *= (extents[d] + grid[d] - 1) / grid[d];
  return n;
}
std::size_t places(const shape_list& grid) {
  std::size_t n = 1;
  for (const std::size_t parts : grid) n *= parts;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pencils_of_transforms)

BOOST_AUTO_TEST_CASE(slabs_move_once_and_once_back) {
  const pencil_request slabs{.extents = {256, 256, 256},
                             .grid_x = {4, 1, 1},
                             .grid_y = {4, 1, 1},
                             .dimensions = {0, 1, 2},
                             .workers = 4,
                             .in_place = true};
  BOOST_TEST((choose_pencils(slabs) == route{{{4, 1, 1}, {1, 2}}, {{1, 4, 1}, {0}}, {{4, 1, 1}, {}}}));
}

BOOST_AUTO_TEST_CASE(a_free_layout_of_the_result_saves_the_move_back) {
  const pencil_request free{
      .extents = {256, 256, 256}, .grid_x = {4, 1, 1}, .grid_y = {}, .dimensions = {0, 1, 2}, .workers = 4};
  BOOST_TEST((choose_pencils(free) == route{{{4, 1, 1}, {1, 2}}, {{1, 4, 1}, {0}}}));
}

BOOST_AUTO_TEST_CASE(dimensions_that_are_not_cut_are_transformed_where_they_are) {
  pencil_request whole{.extents = {64, 9, 5},
                       .grid_x = {4, 1, 1},
                       .grid_y = {4, 1, 1},
                       .dimensions = {1, 2},
                       .workers = 4,
                       .in_place = true};
  BOOST_TEST((choose_pencils(whole) == route{{{4, 1, 1}, {1, 2}}}));
  whole.in_place = false;  // x is not balanced, so that the result needs a move
  BOOST_TEST((choose_pencils(whole) == route{{{4, 1, 1}, {1, 2}}, {{4, 1, 1}, {}}}));
}

BOOST_AUTO_TEST_CASE(the_last_move_lands_where_the_result_is_wanted) {
  const pencil_request across{
      .extents = {64, 64, 64}, .grid_x = {1, 1, 4}, .grid_y = {4, 1, 1}, .dimensions = {0, 1, 2}, .workers = 4};
  BOOST_TEST((choose_pencils(across) == route{{{1, 1, 4}, {0, 1}}, {{4, 1, 1}, {2}}}));
}

BOOST_AUTO_TEST_CASE(a_cube_on_1024_workers_moves_no_more_than_it_must) {
  // 512 slabs would leave half of the workers idle: pencils of 32 x 32, and two moves within groups of 32 workers
  const cluster_parameters facts;  // 16 nodes of 64 workers
  const auto moves = moves_of_transform(
      {.extents = {512, 512, 512}, .grid_x = {32, 32, 1}, .grid_y = {}, .dimensions = {0, 1, 2}, .workers = 1024},
      facts, sizeof(std::complex<double>), 2);
  constexpr std::size_t cube = 512U * 512U * 512U, node_bytes = cube / 16U * sizeof(std::complex<double>);
  BOOST_TEST_REQUIRE(moves.size() == 2U);
  for (const transform_move& move : moves) {
    // a line that is cut into 32 parts becomes whole: 31 parts leave their workers, each for the same one of them
    BOOST_TEST(move.cost.elements_moved == cube / 32U * 31U);
    BOOST_TEST(move.cost.elements_moved == move.least_elements);
    BOOST_TEST(move.cost.elements_kept == cube / 32U);
    BOOST_TEST(move.cost.messages == 31U * 1024U);
    BOOST_TEST(move.cost.most_messages == 31U);
    BOOST_TEST(move.cost.imbalance() == 1);
  }
  // the first move stays within nodes; in the second one the lines along dimension 0, each of which is cut over all
  // nodes, become whole: 15 of 16 parts arrive from other nodes, and the NICs are never idle
  BOOST_TEST(moves[0].node.bytes == 0U);
  BOOST_TEST(moves[1].node.bytes == node_bytes / 16U * 15U);
  BOOST_TEST(moves[1].node.messages == 64U * 30U);
  BOOST_TEST(moves[1].node.bound == static_cast<double>(node_bytes / 16U * 15U) * facts.nic_byte,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(moves[1].node.seconds >= moves[1].node.bound);
  BOOST_TEST(moves[1].node.seconds <= 1.05 * moves[1].node.bound);
}

BOOST_AUTO_TEST_CASE(more_workers_than_slabs_get_pencils) {
  const pencil_request many{.extents = {16, 16, 16},
                            .grid_x = {8, 8, 1},
                            .grid_y = {8, 8, 1},
                            .dimensions = {0, 1, 2},
                            .workers = 64,
                            .in_place = true};
  const route pencils = choose_pencils(many);
  BOOST_TEST((pencils.size() == 4U));  // 16 slabs would leave 48 workers idle
  for (const pencil& p : pencils) BOOST_TEST((places(p.grid) == 64U));
}

BOOST_AUTO_TEST_CASE(half_of_a_spectrum_is_taken_before_all_others_and_left_after_them) {
  pencil_request real{.extents = {32, 32, 17},
                      .grid_x = {1, 1, 4},
                      .grid_y = {4, 1, 1},
                      .dimensions = {0, 1, 2},
                      .workers = 4,
                      .first_dimension = 2};
  const route forward = choose_pencils(real);
  BOOST_TEST((forward.front().dimensions.empty()));
  BOOST_TEST((forward[1].dimensions[0] == 2U));
  real.first_dimension = pencil_request::no_dimension;
  real.last_dimension = 2;
  BOOST_TEST((choose_pencils(real) == route{{{1, 1, 4}, {0, 1}}, {{4, 1, 1}, {2}}}));
}

BOOST_AUTO_TEST_CASE(one_line_alone_is_gathered) {
  const pencil_request line{
      .extents = {1, 30}, .grid_x = {1, 3}, .grid_y = {1, 3}, .dimensions = {0, 1}, .workers = 3, .in_place = true};
  BOOST_TEST((choose_pencils(line) == route{{{1, 3}, {0}}, {{1, 1}, {1}}, {{1, 3}, {}}}));
}

BOOST_AUTO_TEST_CASE(random_routes_transform_each_dimension_once_where_it_is_whole) {
  std::mt19937 random(20261126);
  for (int k = 0; k < 3000; ++k) {
    const std::size_t rank = 1 + random() % 4, workers = 1 + random() % 12;
    pencil_request r{.extents = {}, .grid_x = {}, .grid_y = {}, .dimensions = {}, .workers = workers};
    const bool free = random() % 3 == 0;
    std::size_t left_x = workers, left_y = workers, long_dimensions = 0, whole = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      r.extents.push_back(1 + random() % 9);
      r.grid_x.push_back(1 + random() % left_x);
      left_x /= r.grid_x[d];
      if (!free) r.grid_y.push_back(1 + random() % left_y), left_y /= r.grid_y[d];
      if (random() % 4 != 0) r.dimensions.push_back(d);
      long_dimensions += r.extents[d] > 1 ? 1 : 0;
      whole *= r.extents[d];
    }
    if (r.dimensions.empty()) r.dimensions.push_back(0);
    r.in_place = r.grid_x == r.grid_y && random() % 2 == 0;
    const std::size_t last = r.dimensions[r.dimensions.size() - 1], order = random() % 3;
    if (order == 1) r.first_dimension = last;
    if (order == 2) r.last_dimension = last;

    const route found = choose_pencils(r);
    std::vector<std::size_t> done;
    for (std::size_t at = 0; at < found.size(); ++at) {
      for (const std::size_t d : found[at].dimensions) {
        BOOST_TEST((found[at].grid[d] == 1U || r.extents[d] == 1U));
        done.push_back(d);
      }
      const bool between = at > 0 && (free || at + 1 < found.size());
      if (between) BOOST_TEST(places(found[at].grid) <= workers);
      if (between && long_dimensions > 1 && workers > 1 && found[at].grid != r.grid_x)
        BOOST_TEST(largest(r.extents, found[at].grid) < whole);
    }
    BOOST_TEST(done.size() == r.dimensions.size());
    for (const std::size_t d : r.dimensions) BOOST_TEST(std::count(done.begin(), done.end(), d) == 1);
    if (order == 1) BOOST_TEST(done.front() == last);
    if (order == 2) BOOST_TEST(done.back() == last);
    BOOST_TEST((found.front().grid == r.grid_x));
    if (!free) BOOST_TEST((found.back().grid == r.grid_y));
    BOOST_TEST(found.size() <= 4U);
  }
}

namespace {

/// All grids of at most so many workers.
void add_grids(std::vector<shape_list>& all, shape_list grid, std::size_t rank, std::size_t workers) {
  if (grid.size() == rank) return all.push_back(grid);
  for (std::size_t parts = 1; parts <= workers; ++parts) {
    shape_list longer = grid;
    longer.push_back(parts);
    add_grids(all, longer, rank, workers / parts);
  }
}
/// The cost of a route by its definition: a block for each transformed dimension, and the larger one for each move;
/// none if a layout in between transforms nothing, or if something is left.
std::size_t cost_of(const pencil_request& r, const std::vector<shape_list>& layouts, bool ends_in_between) {
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<std::size_t> left(r.dimensions.begin(), r.dimensions.end());
  std::size_t cost = 0;
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    const std::size_t block = largest(r.extents, layouts[k]), before = left.size();
    if (k > 0) cost += std::max(largest(r.extents, layouts[k - 1]), block);
    std::erase_if(left, [&](std::size_t d) { return layouts[k][d] == 1 || r.extents[d] <= 1; });
    if (k > 0 && before == left.size() && (ends_in_between || k + 1 < layouts.size())) return none;
    cost += (before - left.size()) * block;
  }
  return left.empty() ? cost : none;
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_route_through_two_layouts_costs_less) {
  std::mt19937 random(20261127);
  std::size_t compared = 0;
  for (int k = 0; k < 400; ++k) {
    const std::size_t rank = 2 + random() % 2, workers = 2 + random() % 5;
    pencil_request r{.extents = {}, .grid_x = {}, .grid_y = {}, .dimensions = {}, .workers = workers};
    std::size_t whole = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      r.extents.push_back(1 + random() % 9), r.dimensions.push_back(d);
      whole *= r.extents[d];
    }
    std::vector<shape_list> grids;
    add_grids(grids, {}, rank, workers);
    r.grid_x = grids[random() % grids.size()];
    const bool free = random() % 2 == 0;
    if (!free) r.grid_y = grids[random() % grids.size()];
    if (free && cost_of(r, {r.grid_x}, false) != ~std::size_t{0}) continue;  // it stays where it is
    std::vector<shape_list> between;
    for (const shape_list& grid : grids)
      if (largest(r.extents, grid) < whole) between.push_back(grid);
    std::size_t least = ~std::size_t{0};
    const auto consider = [&](std::vector<shape_list> route) {
      if (!free) route.push_back(r.grid_y);
      least = std::min(least, cost_of(r, route, free));
    };
    consider({r.grid_x});
    for (const shape_list& a : between) {
      consider({r.grid_x, a});
      for (const shape_list& b : between) consider({r.grid_x, a, b});
    }
    if (least == ~std::size_t{0}) continue;  // a line alone has to be gathered
    std::vector<shape_list> found;
    for (const pencil& one : choose_pencils(r)) found.push_back(one.grid);
    BOOST_TEST(cost_of(r, found, free) == least);
    ++compared;
  }
  BOOST_TEST(compared > 300U);
}

BOOST_AUTO_TEST_SUITE_END()
