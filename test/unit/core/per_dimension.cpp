// A number for each dimension, or one for all.
#include <partita/core/per_dimension.hpp>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/rule/boundary.hpp>

#include <boost/test/unit_test.hpp>

using namespace partita;

namespace {

using pair = std::array<std::size_t, 2>;

static_assert(per_dimension<2>() == pair{0, 0});
static_assert(per_dimension<2>(3) == pair{3, 3});
static_assert(per_dimension<2>{3, 5} == pair{3, 5});
static_assert(per_dimension<2>(pair{3, 5}) == pair{3, 5});
static_assert(per_dimension<3>{3, 5, 7} == std::array<std::size_t, 3>{3, 5, 7});
static_assert(per_dimension<3>(4) == std::array<std::size_t, 3>{4, 4, 4});
static_assert(per_dimension<1>() == std::array<std::size_t, 1>{0});
static_assert(per_dimension<1>{3} == std::array<std::size_t, 1>{3});

}  // namespace

BOOST_AUTO_TEST_SUITE(core_per_dimension)

BOOST_AUTO_TEST_CASE(options_take_one_number_for_all_dimensions) {
  const convolution_options<2> o{.kernel = 3, .stride = {2}, .padding = {1, 0}};
  BOOST_TEST((o.kernel == pair{3, 3}));
  BOOST_TEST((o.stride == pair{2, 2}));
  BOOST_TEST((o.padding == pair{1, 0}));
  BOOST_TEST((o.dilation == pair{1, 1}));
  const max_pooling_options<2> pooling{.kernel = {2, 3}, .stride = 2};
  BOOST_TEST((*pooling.stride == pair{2, 2}));
  const max_pooling_options<2> each{.kernel = 2, .stride = {{1, 2}}};
  BOOST_TEST((*each.stride == pair{1, 2}));
  const halo_widths<2> widths{.before = 1, .after = {2, 1}};
  BOOST_TEST((widths == halo_widths<2>{{1, 1}, {2, 1}}));
}

BOOST_AUTO_TEST_SUITE_END()
