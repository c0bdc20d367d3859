// Windows into a tensor, and the indices that fill cells outside its borders, compared with a loop over cells.
#include <partita/plan/window.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

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

BOOST_AUTO_TEST_CASE(cells_from_the_tensor_are_those_that_an_index_fills) {
  const boundary kinds[] = {boundary::zero,    boundary::constant,  boundary::function,
                            boundary::reflect, boundary::replicate, boundary::periodic};
  for (const boundary before : kinds)
    for (const boundary after : kinds)
      for (std::ptrdiff_t n = 0; n < 4; ++n)
        for (std::ptrdiff_t start = -3; start < 6; ++start)
          for (std::ptrdiff_t stop = start; stop < start + 6; ++stop) {
            const interval found = detail::cells_from_tensor({start, stop}, static_cast<std::size_t>(n), before, after);
            bool right = found.start <= found.stop && found.stop <= static_cast<std::size_t>(stop - start);
            for (std::ptrdiff_t cell = start; cell < stop; ++cell) {
              const bool is_filled = n > 0 && !(cell < 0 && is_outside(before)) && !(cell >= n && is_outside(after));
              const auto k = static_cast<std::size_t>(cell - start);
              right = right && (found.start <= k && k < found.stop) == is_filled;
            }
            BOOST_TEST(right, n << " cells, [" << start << ", " << stop << ")");
          }
}

BOOST_AUTO_TEST_CASE(the_window_of_some_places_reaches_from_their_first_cell_to_their_last) {
  for (const sliding& kernel : {sliding{3, 1, 1}, sliding{2, 2, 0}, sliding{3, 2, 2, 2}, sliding{1, 3, 0}})
    for (std::size_t first = 0; first < 4; ++first)
      for (std::size_t last = first; last < 5; ++last) {
        std::vector<std::ptrdiff_t> cells;
        for (std::size_t place = first; place < last; ++place)
          for (std::size_t tap = 0; tap < kernel.kernel; ++tap)
            cells.push_back(static_cast<std::ptrdiff_t>(place * kernel.stride + tap * kernel.dilation) -
                            static_cast<std::ptrdiff_t>(kernel.padding));
        window expected;
        if (!cells.empty())
          expected = {*std::min_element(cells.begin(), cells.end()), *std::max_element(cells.begin(), cells.end()) + 1};
        BOOST_TEST((input_window(kernel, {first, last}) == expected));
      }
}

BOOST_AUTO_TEST_CASE(a_reflected_side_that_is_too_wide_is_named_with_its_dimension) {
  const std::array<std::size_t, 2> shape{3, 5};
  for (const std::size_t d : {0U, 1U})
    for (const bool after : {false, true})
      for (std::size_t width = 0; width < 7; ++width) {
        halo_widths<2> widths;
        halo_boundaries<2> edges(boundary::periodic);
        (after ? edges.after : edges.before)[d] = boundary::reflect;
        (after ? widths.after : widths.before)[d] = width;
        (after ? widths.before : widths.after)[d] = 9;  // of another boundary condition
        const std::string expected =
            "requires reflected ghosts of a width below the extent of the tensor, got a width of " +
            std::to_string(width) + " along dimension " + std::to_string(d) +
            " of extents [3, 5]; give a smaller width, or take boundary::periodic or boundary::replicate";
        BOOST_TEST(std::string(halo_error<2>(shape, widths, edges).c_str()) == (width < shape[d] ? "" : expected));
        widths.after[d] = widths.before[d] = width;
        edges.after[d] = edges.before[d] = boundary::reflect;  // only one of two wrong sides is named
        BOOST_TEST(std::string(halo_error<2>(shape, widths, edges).c_str()) == (width < shape[d] ? "" : expected));
        std::array<std::size_t, 2> no_cells = shape;
        no_cells[d] = 0;  // a tensor without elements has no ghosts to reflect
        BOOST_TEST(halo_error<2>(no_cells, widths, edges).empty());
      }
}

BOOST_AUTO_TEST_SUITE_END()
