// Windows into a tensor, and the indices that fill cells outside its borders, compared with a loop over cells.
#include <partita/plan/window.hpp>

#include <boost/test/unit_test.hpp>
#include <optional>

using namespace partita;

namespace {

/// The index that fills a cell, if one does.
std::optional<std::ptrdiff_t> index_of_cell(std::ptrdiff_t cell, std::ptrdiff_t n, boundary b) {
  if (cell >= 0 && cell < n) return cell;
  if (b == boundary::periodic) return (cell % n + n) % n;
  if (b == boundary::replicate) return cell < 0 ? 0 : n - 1;
  if (b == boundary::reflect) return cell < 0 ? -cell : 2 * (n - 1) - cell;
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(windows_of_a_tensor)

BOOST_AUTO_TEST_CASE(a_boundary_condition_is_found_on_whatever_side_it_is) {
  for (const boundary one : {boundary::none, boundary::periodic, boundary::constant})
    for (std::size_t side = 0; side < 4; ++side) {
      halo_boundaries<2> all(boundary::zero);
      (side < 2 ? all.before : all.after)[side % 2] = one;
      BOOST_TEST((all.any(one) && all.any(boundary::zero) && !all.any(boundary::reflect)));
    }
}

BOOST_AUTO_TEST_CASE(runs_fill_each_cell_by_the_index_that_belongs_there) {
  for (const boundary before : {boundary::none, boundary::periodic, boundary::reflect, boundary::replicate})
    for (const boundary after : {boundary::none, boundary::periodic, boundary::reflect, boundary::replicate})
      for (std::ptrdiff_t n = 1; n < 6; ++n)
        for (std::ptrdiff_t start = 1 - n; start <= n; ++start)
          for (std::ptrdiff_t stop = start; stop < 2 * n; ++stop) {
            std::vector<std::optional<std::ptrdiff_t>> cells(static_cast<std::size_t>(stop - start));
            detail::for_each_run({start, stop}, static_cast<std::size_t>(n), before, after,
                                 [&](std::size_t at, interval range) {
                                   for (std::size_t i = range.start; i < range.stop; ++i, ++at)
                                     cells[at] = static_cast<std::ptrdiff_t>(i);
                                 });
            bool right = true;
            for (std::ptrdiff_t cell = start; cell < stop; ++cell)
              right = right && cells[static_cast<std::size_t>(cell - start)] ==
                                   index_of_cell(cell, n, cell < 0 ? before : after);
            BOOST_TEST(right);
          }
}

BOOST_AUTO_TEST_CASE(blocks_grow_by_their_widths_and_end_where_there_is_nothing_beyond) {
  const auto owned = decomposition<1>::balanced({7}, {3});
  halo_widths<1> widths;
  widths.before = {2}, widths.after = {1};
  halo_boundaries<1> beyond(boundary::none);
  beyond.before = {boundary::none}, beyond.after = {boundary::periodic};
  const auto windows = halo_windows(owned, widths, beyond);
  BOOST_TEST((windows[0] == std::vector<window>{{0, 4}, {1, 6}, {3, 8}}));
  BOOST_TEST((window{3, 1}.size()) == 0U);
}

BOOST_AUTO_TEST_CASE(reflected_ghosts_are_narrower_than_the_tensor) {
  halo_widths<1> widths;
  widths.before = {3}, widths.after = {0};
  halo_boundaries<1> beyond(boundary::none);
  beyond.before = {boundary::reflect}, beyond.after = {boundary::none};
  BOOST_TEST(halo_error<1>({4}, widths, beyond).empty());
  BOOST_TEST(!halo_error<1>({3}, widths, beyond).empty());
}

BOOST_AUTO_TEST_CASE(a_constant_behind_lists_of_boundaries_is_that_of_all_sides) {
  const std::array<boundary, 2> each{boundary::constant, boundary::zero};
  const std::array<double, 2> three{3, 3};
  for (const halo_boundaries<2>& edges : {halo_boundaries<2>(each, 3), halo_boundaries<2>(each, each, 3)})
    BOOST_TEST(
        (edges.before == each && edges.after == each && edges.value_before == three && edges.value_after == three));
}

BOOST_AUTO_TEST_SUITE_END()
