// The error for a product that overflows.
#include <partita/core/index.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(core_product)

BOOST_AUTO_TEST_CASE(a_product_that_cannot_be_counted_is_an_error_that_names_the_call_the_bound_and_the_extents) {
  constexpr std::size_t half = std::size_t{1} << 32;
  BOOST_TEST(refused<shape_error>([] { extents(half, half).size(); }) ==
             "partita::extents::size(): requires a product of extents of at most 18446744073709551615, got the extents "
             "[4294967296, 4294967296]; give smaller extents");
  BOOST_TEST(refused<shape_error>([] {
               volume_of(partita::index<3>{half, 2, half});
             }).find("partita::volume_of(shape): requires a product") == 0U);
  BOOST_TEST(refused<partition_error>([] {
               product_of<partition_error>(partita::index<2>{half, half}, "partita::call");
             }).find("partita::call: requires a product") == 0U);
  BOOST_TEST(refused([] { volume_of(partita::index<3>{half, half, 0}); }).empty());
  // in any order: a later factor does not make up for an overflow
  partita::index<4> all{1, 2, half, half};
  do BOOST_TEST(!refused<shape_error>([&] { volume_of(all); }).empty());
  while (std::next_permutation(all.begin(), all.end()));
}

BOOST_AUTO_TEST_SUITE_END()
