// Decompositions: made from cuts or from the extents of blocks, and the blocks that they return.
#include <partita/kernel/given_cuts.hpp>
#include <partita/plan/decomposition.hpp>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;
using position = partita::index<2>;

const cut rows = cut::at({3, 0, 2}), columns = cut::balanced(7, 2);

}  // namespace

BOOST_AUTO_TEST_SUITE(decomposing_a_tensor)

BOOST_AUTO_TEST_CASE(it_is_made_from_one_cut_for_each_dimension_with_or_without_braces) {
  const decomposition<2> d(rows, columns);
  BOOST_TEST((d == decomposition<2>{rows, columns}));
  BOOST_TEST((d == decomposition<2>{{rows, columns}}));
  BOOST_TEST((d == decomposition(rows, columns)));
  BOOST_TEST((d == decomposition<2>(std::array<cut, 2>{rows, columns})));
  BOOST_TEST((d == source_cuts(rows, columns).cuts));
  BOOST_TEST((d == result_cuts(d).cuts));
  BOOST_TEST((decomposition<1>(rows) == source_cuts(rows).cuts));
  BOOST_TEST((decomposition(rows).parts() == partita::index<1>{3}));
  BOOST_TEST((d.extents() == position{5, 7}));
  BOOST_TEST((d.parts() == position{3, 2}));
  BOOST_TEST(!(d == decomposition(columns, rows)));
}

BOOST_AUTO_TEST_CASE(an_element_has_an_owner_and_a_place_in_its_block) {
  const decomposition<2> d(rows, columns);
  BOOST_TEST((d.owner({3, 5}) == position{2, 1}));
  BOOST_TEST((d.place({3, 5}) == position{0, 1}));
  BOOST_TEST((d.owner(position{2, 0}) == position{0, 0}));
  BOOST_TEST((d.place(position{2, 0}) == position{2, 0}));
  BOOST_TEST(!refused<shape_error>([&] { (void)d.owner({5, 0}); }).empty());
  BOOST_TEST(!refused<shape_error>([&] { (void)d.place({0, 7}); }).empty());
}

BOOST_AUTO_TEST_CASE(blocks_are_the_product_of_the_parts) {
  const decomposition<2> d(rows, columns);
  BOOST_TEST((d.shape({0, 0}) == position{3, 4}));
  BOOST_TEST((d.block({2, 1}) == box<2>{{3, 4}, {5, 7}}));
  BOOST_TEST(d.block({1, 1}).empty());
  BOOST_TEST((decomposition<2>::balanced({7, 8}, {2, 2}).block(position{1, 0}) == box<2>{{4, 0}, {7, 4}}));
  BOOST_TEST((decomposition<2>::block_cyclic({7, 8}, {2, 2}, {2, 3}).shape({1, 1}) == position{3, 3}));
  BOOST_TEST((decomposition<0>::balanced({}, {}).block({}) == box<0>{}));
}

BOOST_AUTO_TEST_CASE(a_position_outside_is_refused) {
  const auto d = decomposition<2>::balanced({7, 8}, {2, 2});
  BOOST_TEST(refused<shape_error>([&] {
               d.block({5, 5});
             }) == "partita::cut: requires a part below the number of parts 2, got part 5");
  BOOST_TEST(refused<shape_error>([&] { d.shape({0, 2}); }).find("got part 2") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] {
               decomposition<2>::block_cyclic({7, 8}, {2, 2}, {2, 3}).block({0, 0});
             }).find("a block-cyclic block is many boxes") != std::string::npos);
  BOOST_TEST(refused<shape_error>([] {
               decomposition<2>::balanced({7, 8}, {2, 0});
             }).find("8 indices over 0 parts") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(blocks_side_by_side_are_cartesian_staggered_or_wrong_with_a_reason) {
  const auto whole = lay_out<2>({{3, 4}, {3, 3}, {0, 4}, {0, 3}}, {2, 2});
  BOOST_TEST((whole.error_message.empty() && whole.cartesian && whole.extents == position{3, 7}));
  const auto staggered = lay_out<2>({{3, 4}, {2, 3}, {1, 4}, {2, 3}}, {2, 2});
  BOOST_TEST((staggered.error_message.empty() && !staggered.cartesian && staggered.extents == position{4, 7}));
  BOOST_TEST((staggered.boxes[3] == box<2>{{2, 4}, {4, 7}}));
  BOOST_TEST(lay_out<2>({{3, 4}, {2, 3}, {1, 4}, {1, 3}}, {2, 2}).error_message.contains("the blocks are ragged"));
  BOOST_TEST(lay_out<2>({{2, 2}, {1, 1}, {1, 1}, {2, 2}}, {2, 2}).error_message ==
             "the blocks overlap: those at [0, 0] and [1, 1] of the partition both hold [1, 2) x [1, 2); stagger the "
             "cuts in one dimension only");
  BOOST_TEST(lay_out<2>({{2, 1}, {1, 2}, {1, 2}, {2, 1}}, {2, 2}).error_message.contains("leave holes"));
  BOOST_TEST(refused<shape_error>([] {
               lay_out<2>({{3, 4}}, {1, 2});
             }) ==
             "partita::lay_out(shapes, grid): requires one shape for each place of the grid [1, 2], got 1 shapes");
  const std::size_t most = static_cast<std::size_t>(-1);
  BOOST_TEST(lay_out<1>({{most}, {1}}, {2}).error_message.contains("along dimension 0 than can be counted"));
}

BOOST_AUTO_TEST_CASE(blocks_are_cartesian_if_each_has_the_sizes_of_its_row_and_of_its_column) {
  constexpr std::size_t sizes = 3, all = 6561;  // each of eight extents is 0, 1 or 2
  for (std::size_t k = 0, rest = 0; k < all; ++k) {
    std::vector<position> shapes(4);
    rest = k;
    for (position& shape : shapes)
      for (std::size_t& n : shape) n = rest % sizes, rest /= sizes;
    const auto layout = lay_out<2>(shapes, {2, 2});
    bool cartesian = true, kept = true;
    for (std::size_t place = 0; place < 4; ++place) {
      cartesian = cartesian && shapes[place] == position{shapes[place / 2 * 2][0], shapes[place % 2][1]};
      kept =
          kept && (layout.cartesian || !layout.error_message.empty() || layout.boxes[place].shape() == shapes[place]);
    }
    BOOST_REQUIRE(layout.cartesian == cartesian);
    BOOST_REQUIRE(kept);
  }
}

BOOST_AUTO_TEST_CASE(ragged_blocks_and_holes_are_described_with_their_numbers) {
  BOOST_TEST(lay_out<2>({{3, 4}, {2, 3}, {1, 4}, {1, 3}}, {2, 2}).error_message ==
             "the blocks are ragged: along dimension 0, the line of the partition that ends at [1, 1] holds 3 indices, "
             "the line through index 0 holds 4; give every line the same total");
  BOOST_TEST(lay_out<2>({{3, 4}, {3, 3}, {1, 4}, {1, 2}}, {2, 2}).error_message ==
             "the blocks are ragged: along dimension 1, the line of the partition that ends at [1, 1] holds 6 indices, "
             "the line through index 0 holds 7; give every line the same total");
  BOOST_TEST(lay_out<2>({{2, 1}, {1, 2}, {1, 2}, {2, 1}}, {2, 2}).error_message ==
             "the blocks leave holes: together they hold 8 elements of a tensor of extents [3, 3]; stagger the cuts in "
             "one dimension only");
  const std::size_t most = static_cast<std::size_t>(-1);
  BOOST_TEST(lay_out<2>({{1, most}, {1, 1}}, {1, 2}).error_message ==
             "the blocks hold more indices along dimension 1 than can be counted: 18446744073709551615 + 1");
}

BOOST_AUTO_TEST_CASE(decompositions_that_differ_in_a_cut_or_in_the_order_of_the_cuts_have_different_fingerprints) {
  std::vector<decomposition<2>> all;
  for (const cut& first : {rows, cut::at({3, 2, 0}), cut::balanced(5, 3)})
    for (const cut& second : {columns, cut::balanced(7, 3), cut::at({3, 2, 0})}) all.emplace_back(first, second);
  all.emplace_back(columns, rows);
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b)
      BOOST_TEST((all[a].fingerprint() == all[b].fingerprint()) == (a == b), a << " and " << b);
}

BOOST_AUTO_TEST_SUITE_END()
