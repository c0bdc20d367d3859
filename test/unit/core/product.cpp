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

BOOST_AUTO_TEST_CASE(parameters_have_at_most_2_to_the_40_elements_and_no_extent_of_more_also_beside_an_extent_of_0) {
  constexpr std::size_t most = std::size_t{1} << 40;
  const std::size_t values[] = {0, 1, 2, most / 2, most, most + 1, std::size_t{1} << 62, static_cast<std::size_t>(-3)};
  for (const std::size_t a : values)
    for (const std::size_t b : values) {
      const bool fits = a <= most && b <= most && (a == 0 || b <= most / a);
      const std::string message = refused<shape_error>([&] {
        require_no_overflow(std::array{a, b}, "in x out", "partita::call");
      });
      const text expected = text("partita::call: requires in x out of at most 2^40 elements in all, got ")
                            << std::array{a, b} << "; numbers must not be negative";
      BOOST_TEST(message == (fits ? "" : expected.c_str()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
