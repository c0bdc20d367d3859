// The parts that hold a range of indices, compared with looking up every index.
#include <partita/plan/cut.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;

cut random_cut(std::size_t n, std::size_t p, std::mt19937& random) {
  if (random() % 3 == 0) return cut::balanced(n, p);
  if (random() % 2 == 0) return cut::block_cyclic(n, p, 1 + random() % 5);
  std::vector<std::size_t> sizes(p, 0);
  for (std::size_t k = 0; k < n; ++k) ++sizes[random() % p];
  return cut::at(sizes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cutting_a_dimension)

BOOST_AUTO_TEST_CASE(the_parts_of_a_range_are_those_that_hold_its_indices_in_order_and_without_gaps) {
  std::mt19937 random(1);
  bool right = true;
  for (int trial = 0; trial < 5000; ++trial) {
    const std::size_t n = random() % 40, p = 1 + random() % 8;
    const cut c = random_cut(n, p, random);
    std::vector<std::pair<std::size_t, std::size_t>> holder(n);  // of each index: the part, and where in its block
    for (std::size_t k = 0; k < p; ++k) {
      std::size_t held = 0;
      c.for_pieces(k, [&](interval piece, std::size_t at) {
        for (std::size_t i = piece.start; i < piece.stop; ++i) holder[i] = {k, at + i - piece.start};
        held += piece.size();
      });
      right = right && held == c.size(k);
    }
    const std::size_t start = random() % (n + 1), stop = start + random() % (n - start + 1);
    std::size_t next = start, pieces = 0;
    c.for_overlaps({start, stop}, [&](std::size_t part, interval range, std::size_t at, std::size_t size) {
      right = right && size == c.size(part);
      right = right && range.start == next && range.stop > range.start;
      for (std::size_t i = range.start; i < range.stop; ++i)
        right = right && holder[i] == std::make_pair(part, at + i - range.start);
      next = range.stop;
      ++pieces;
    });
    right = right && next == stop && pieces <= c.count_overlaps({start, stop});
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(every_index_has_one_owner_and_a_place_in_its_block) {
  const cut rows = cut::at({3, 0, 2});
  BOOST_TEST((rows.part(0) == interval{0, 3}));
  BOOST_TEST((rows.part(1) == interval{3, 3}));
  BOOST_TEST((rows.part(2) == interval{3, 5}));
  BOOST_TEST(rows.owner(3) == 2);
  BOOST_TEST(rows.place(4) == 1);
  BOOST_TEST((cut::balanced(7, 2).part(1) == interval{4, 7}));
  BOOST_TEST(cut::balanced(7, 2).owner(4) == 1);
  const cut dealt = cut::block_cyclic(10, 2, 2);  // 0 1 | 2 3 | 4 5 | 6 7 | 8 9
  BOOST_TEST(dealt.owner(3) == 1);
  BOOST_TEST(dealt.owner(4) == 0);
  BOOST_TEST(dealt.place(5) == 3);
  std::mt19937 random(2);
  bool right = true;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = random() % 40, p = 1 + random() % 8;
    const cut c = random_cut(n, p, random);
    std::size_t held = 0;
    for (std::size_t k = 0; k < p; ++k)
      c.for_pieces(k, [&](interval piece, std::size_t at) {
        for (std::size_t i = piece.start; i < piece.stop; ++i, ++held)
          right = right && c.owner(i) == k && c.place(i) == at + i - piece.start;
        if (c.how() != cut::kind::block_cyclic) right = right && c.part(k) == piece;
      });
    right = right && held == n;
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(an_index_beyond_the_extent_and_a_part_of_many_ranges_are_refused) {
  for (const cut& c : {cut::balanced(5, 2), cut::at({3, 2}), cut::block_cyclic(5, 2, 1), cut::balanced(5, 9)}) {
    BOOST_TEST(refused<shape_error>([&] { (void)c.owner(5); }).find("below the extent 5") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { (void)c.place(5); }).find("below the extent 5") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] { (void)c.part(c.parts()); }).find("requires a part") != std::string::npos);
  }
  BOOST_TEST(refused<shape_error>([] { (void)cut::block_cyclic(5, 2, 1).part(0); }).find("for_pieces") !=
             std::string::npos);
  BOOST_TEST(refused<shape_error>([] { (void)cut::balanced(0, 2).owner(0); }).find("index 0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_cut_into_no_parts_is_refused_however_it_is_made) {
  const std::string sentence =
      "partita::cut: requires at least one part, got 7 indices over 0 parts; a partition has at least one worker along "
      "each dimension";
  BOOST_TEST(refused<shape_error>([] { cut::balanced(7, 0); }) == sentence);
  BOOST_TEST(refused<shape_error>([] { cut::block_cyclic(7, 0, 2); }) == sentence);
  BOOST_TEST(refused<shape_error>([] { balanced_part(7, 0, 0); }) == sentence);
  BOOST_TEST(refused<shape_error>([] { balanced_owner(7, 0, 0); }) == sentence);
  BOOST_TEST(refused<shape_error>([] { cut::at({}); }).find("0 indices over 0 parts") != std::string::npos);
  BOOST_TEST(refused([] { cut::balanced(0, 1); }).empty());  // no indices are legal
}

BOOST_AUTO_TEST_CASE(a_part_or_a_range_that_the_cut_does_not_have_is_refused_by_every_kind) {
  for (const cut& c : {cut::balanced(7, 2), cut::at({3, 4}), cut::block_cyclic(7, 2, 2)}) {
    BOOST_TEST(refused<shape_error>([&] { c.size(2); }) ==
               "partita::cut: requires a part below the number of parts 2, got part 2");
    BOOST_TEST(refused<shape_error>([&] { c.for_pieces(5, [](interval, std::size_t) {}); }).find("got part 5") !=
               std::string::npos);
    BOOST_TEST(refused<shape_error>([&] {
                 c.for_overlaps({3, 8}, [](std::size_t, interval, std::size_t, std::size_t) {});
               }) == "partita::cut: requires a range of the 7 indices that are cut, got [3, 8)");
    BOOST_TEST(refused<shape_error>([&] { c.count_overlaps({3, 8}); }).find("got [3, 8)") != std::string::npos);
    BOOST_TEST(c.count_overlaps({9, 9}) == 0U);  // an empty range has no place
  }
  BOOST_TEST(refused<shape_error>([] { balanced_part(7, 2, 2); }).find("got part 2") != std::string::npos);
  BOOST_TEST(refused<shape_error>([] { balanced_owner(7, 2, 7); }).find("got [7, 8)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sizes_and_blocks_that_cannot_be_counted_are_refused) {
  const std::size_t all = static_cast<std::size_t>(-1);
  BOOST_TEST(refused<shape_error>([&] {
               cut::at({3, all - 2});
             }) ==
             "partita::cut::at(sizes): requires sizes that sum up to at most 18446744073709551615, got 3 + "
             "18446744073709551613 in part 1; a negative size is none");
  BOOST_TEST(cut::at({3, all - 3}).extent() == all);
  BOOST_TEST(refused<shape_error>([&] {
               cut::block_cyclic(7, 4, all / 2);
             }).find("4 parts and blocks of 9223372036854775807; give a smaller block") != std::string::npos);
  BOOST_TEST(refused<shape_error>([&] { cut::block_cyclic(all, 1, 1); }).find("requires n + p * block") !=
             std::string::npos);
  BOOST_TEST(refused<shape_error>([] { cut::block_cyclic(7, 2, 0); }).find("block of at least 1") != std::string::npos);
  BOOST_TEST(balanced_part(all, 2, 1).stop == all);
}

BOOST_AUTO_TEST_CASE(blocks_of_n_over_p_rounded_up_are_the_slabs_of_fftw) {
  for (std::size_t n = 1; n < 20; ++n)
    for (std::size_t p = 1; p < 7; ++p) {
      const std::size_t block = (n + p - 1) / p;  // FFTW_MPI_DEFAULT_BLOCK
      const cut slabs = cut::block_cyclic(n, p, block);
      for (std::size_t k = 0; k < p; ++k)
        BOOST_TEST(slabs.size(k) == (k * block < n ? std::min(block, n - k * block) : 0));
    }
}

BOOST_AUTO_TEST_CASE(equal_cuts_share_a_fingerprint_and_others_do_not) {
  BOOST_TEST((cut::at({3, 4}).fingerprint() == cut::at({3, 4}).fingerprint()));
  BOOST_TEST((cut::at({3, 4}).fingerprint() != cut::at({4, 3}).fingerprint()));
  BOOST_TEST((cut::at({4, 3}).fingerprint() != cut::balanced(7, 2).fingerprint()));
  BOOST_TEST((cut::block_cyclic(7, 2, 1).fingerprint() != cut::block_cyclic(7, 2, 2).fingerprint()));
}

/// Parts that are empty, between the first and the last part of a range, are counted, too.
BOOST_AUTO_TEST_CASE(overlaps_are_counted_with_the_empty_parts_between_them) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = random() % 30, p = 1 + random() % 8;
    const cut c = random_cut(n, p, random);
    const std::size_t start = random() % (n + 1), stop = start + random() % (n - start + 1);
    std::vector<std::size_t> parts;
    c.for_overlaps({start, stop}, [&](std::size_t part, interval, std::size_t, std::size_t) { parts.push_back(part); });
    std::size_t expected = parts.size();
    if (c.how() != cut::kind::block_cyclic && !parts.empty())
      for (std::size_t k = parts.front(); k < parts.back(); ++k) expected += c.size(k) == 0 ? 1U : 0U;
    BOOST_TEST(c.count_overlaps({start, stop}) == expected);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_range_overlaps_no_part_wherever_it_is) {
  for (const cut& c : {cut::balanced(7, 2), cut::at({3, 4}), cut::block_cyclic(7, 2, 2)})
    for (const interval range : {interval{0, 0}, interval{4, 4}, interval{9, 9}, interval{5, 3}}) {
      std::size_t calls = 0;
      c.for_overlaps(range, [&](std::size_t, interval, std::size_t, std::size_t) { ++calls; });
      BOOST_TEST(calls == 0U);
      BOOST_TEST(c.count_overlaps(range) == 0U);
      BOOST_TEST(range.size() == 0U);
    }
}

BOOST_AUTO_TEST_CASE(cuts_are_equal_and_have_equal_fingerprints_only_if_all_of_them_is_equal) {
  const std::vector<cut> all{cut::balanced(6, 2),
                             cut::balanced(7, 2),
                             cut::balanced(6, 3),
                             cut::balanced(2, 6),
                             cut::at({6}),
                             cut::at({3, 3}),
                             cut::at({0, 6}),
                             cut::at({6, 0}),
                             cut::at({3, 3, 0}),
                             cut::at({2, 4}),
                             cut::block_cyclic(6, 2, 1),
                             cut::block_cyclic(6, 2, 2),
                             cut::block_cyclic(7, 2, 1),
                             cut::block_cyclic(6, 3, 1)};
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b) {
      BOOST_TEST((all[a] == all[b]) == (a == b), a << " and " << b);
      BOOST_TEST((all[a].fingerprint() == all[b].fingerprint()) == (a == b), a << " and " << b);
    }
  const std::vector<interval> ranges{{0, 0}, {0, 2}, {1, 2}, {2, 1}, {2, 0}};
  for (std::size_t a = 0; a < ranges.size(); ++a)
    for (std::size_t b = 0; b < ranges.size(); ++b)
      BOOST_TEST((ranges[a].fingerprint() == ranges[b].fingerprint()) == (a == b));
}

BOOST_AUTO_TEST_CASE(a_cut_that_reuses_the_memory_of_another_has_nothing_else_of_it) {
  const cut expected = cut::at({2, 0, 3});
  for (const cut& old : {cut::balanced(5, 2), cut::at({1, 2, 3, 4}), cut::at({9}), cut::block_cyclic(7, 2, 2)})
    BOOST_TEST((cut::at({2, 0, 3}, old) == expected));
}

BOOST_AUTO_TEST_CASE(indices_and_one_round_of_blocks_may_add_up_to_the_largest_number) {
  const std::size_t all = static_cast<std::size_t>(-1);
  BOOST_TEST(cut::block_cyclic(all - 4, 2, 2).extent() == all - 4);
  BOOST_TEST(refused<shape_error>([&] { cut::block_cyclic(all - 3, 2, 2); }).find("give a smaller block") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
