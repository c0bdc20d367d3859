// Blocks of memory: which are dense, where their parts are, and how an array becomes one.
#include <partita/array/as_element.hpp>
#include <partita/array/real_part.hpp>
#include <partita/array/strided.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <limits>
#include <vector>

namespace {

using namespace partita;
using shape3 = std::array<std::size_t, 3>;
using strides3 = std::array<std::ptrdiff_t, 3>;

/// The positions of the elements of a block relative to its first element, in C order.
std::vector<std::ptrdiff_t> positions_of(const shape3& shape, const strides3& strides) {
  std::vector<std::ptrdiff_t> all;
  for (std::size_t i = 0; i < shape[0]; ++i)
    for (std::size_t j = 0; j < shape[1]; ++j)
      for (std::size_t k = 0; k < shape[2]; ++k)
        all.push_back(static_cast<std::ptrdiff_t>(i) * strides[0] + static_cast<std::ptrdiff_t>(j) * strides[1] +
                      static_cast<std::ptrdiff_t>(k) * strides[2]);
  return all;
}

/// Calls f for shapes of extents up to 3 with strides of many kinds.
template <class F>
void for_each_block(F f) {
  constexpr std::ptrdiff_t strides[] = {-1, 0, 1, 2, 3, 6};
  for (std::size_t s = 0; s < 64; ++s)
    for (std::size_t t = 0; t < 216; ++t)
      f(shape3{s / 16, s / 4 % 4, s % 4}, strides3{strides[t / 36], strides[t / 6 % 6], strides[t % 6]});
}

static_assert(std::is_same_v<detail::real_of<float>, float> && detail::real_part<double>::count == 1);
static_assert(std::is_same_v<detail::real_of<std::complex<float>>, float>);
static_assert(detail::real_part<std::complex<double>>::count == 2);

}  // namespace

BOOST_AUTO_TEST_SUITE(strided_blocks)

BOOST_AUTO_TEST_CASE(a_block_is_dense_if_its_elements_follow_each_other_in_c_order) {
  std::size_t wrong = 0, dense = 0;
  for_each_block([&](const shape3& shape, const strides3& strides) {
    const strided<double, 3> block{nullptr, shape, strides};
    const auto all = positions_of(shape, strides);
    bool expected = true;
    for (std::size_t k = 0; k < all.size(); ++k) expected = expected && all[k] == static_cast<std::ptrdiff_t>(k);
    wrong += block.dense() == expected && block.size() == all.size() ? 0 : 1;
    dense += expected ? 1 : 0;
  });
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(dense > 1000U);
  BOOST_TEST((strided<double, 0>{}.dense() && strided<double, 0>{}.size() == 1));
}

BOOST_AUTO_TEST_CASE(a_part_has_the_elements_at_its_place_and_an_empty_part_the_address_of_the_block) {
  std::vector<double> memory(400);
  const strides3 strides{40, -7, 2};
  const strided<double, 3> block{memory.data() + 100, {4, 3, 5}, strides};
  for (std::size_t from = 0; from < 60; ++from)
    for (std::size_t size = 0; size < 24; ++size) {
      const shape3 at{from / 15, from / 5 % 3, from % 5}, extent{size / 12, size / 4 % 3, size % 4};
      const auto part = block.part(at, extent);
      std::ptrdiff_t first = 0;
      for (std::size_t d = 0; d < 3; ++d) first += static_cast<std::ptrdiff_t>(at[d]) * strides[d];
      BOOST_TEST((part.data == block.data + (part.size() == 0 ? 0 : first)));
      BOOST_TEST((part.shape == extent && part.strides == strides));
    }
  const strided<double, 3> nothing{nullptr, {0, 3, 5}, strides};
  BOOST_TEST((nothing.part({0, 1, 2}, {0, 2, 2}).data == nullptr));
}

BOOST_AUTO_TEST_CASE(dimension_k_of_a_permuted_block_is_dimension_axes_k) {
  double memory = 0;
  const strided<double, 3> block{&memory, {4, 3, 5}, {100, -7, 2}};
  axes_order<3> axes{0, 1, 2};
  do {
    const auto turned = block.permuted(axes);
    for (std::size_t k = 0; k < 3; ++k)
      BOOST_TEST((turned.shape[k] == block.shape[axes[k]] && turned.strides[k] == block.strides[axes[k]]));
    BOOST_TEST((turned.data == block.data));
  } while (std::next_permutation(axes.begin(), axes.end()));
}

BOOST_AUTO_TEST_CASE(a_dense_block_has_the_strides_of_c_order) {
  float memory = 0;
  for (std::size_t s = 0; s < 64; ++s) {
    const shape3 shape{s / 16, s / 4 % 4, s % 4};
    const auto block = dense_block<float, 3>(&memory, shape);
    const auto all = positions_of(shape, block.strides);
    for (std::size_t k = 0; k < all.size(); ++k) BOOST_TEST(all[k] == static_cast<std::ptrdiff_t>(k));
    BOOST_TEST((block.data == &memory && block.shape == shape && block.dense()));
  }
}

BOOST_AUTO_TEST_CASE(the_block_of_a_view_begins_at_its_first_element) {
  xt::xtensor<double, 3> a = xt::zeros<double>({4, 5, 6});
  auto part = xt::view(a, xt::range(1, 4), 2, xt::range(5, 0, -2));
  const auto block = block_of(part);
  BOOST_TEST((block.data == &a(1, 2, 5)));
  BOOST_TEST((block.shape == std::array<std::size_t, 2>{3, 3}));
  BOOST_TEST((block.strides == std::array<std::ptrdiff_t, 2>{30, -2}));
}

BOOST_AUTO_TEST_CASE(an_argument_in_memory_is_used_where_it_is_and_a_lazy_one_is_evaluated) {
  const xt::xtensor<double, 2> a{{1, 2, 3}, {4, 5, 6}};
  const block_argument<xt::xtensor<double, 2>> there(a);
  BOOST_TEST((there.block().data == a.data() && there.block().dense()));
  const auto lazy = a + 1.0;
  const block_argument<std::remove_const_t<decltype(lazy)>> evaluated(lazy);
  BOOST_TEST((evaluated.block().shape == std::array<std::size_t, 2>{2, 3}));
  for (std::size_t k = 0; k < 6; ++k) BOOST_TEST(evaluated.block().data[k] == static_cast<double>(k + 2));
}

BOOST_AUTO_TEST_CASE(a_block_without_elements_is_copied_without_memory) {
  copy<double, 2>(strided<double, 2>{nullptr, {0, 3}, {3, 1}}, strided<const double, 2>{nullptr, {0, 3}, {3, 1}});
  std::vector<double> to(6, -1), from{1, 2, 3, 4, 5, 6};
  copy<double, 2>({to.data(), {2, 3}, {1, 2}}, {from.data(), {2, 3}, {3, 1}});
  BOOST_TEST((to == std::vector<double>{1, 4, 2, 5, 3, 6}));
}

BOOST_AUTO_TEST_CASE(the_tensor_of_an_inactive_worker_has_no_elements_but_the_batch_of_a_matrix) {
  const auto line = zero_volume<int, 1>(7);
  const auto matrix = zero_volume<int, 2>(7);
  const auto cube = zero_volume<int, 3>(7), plain = zero_volume<int, 3>();
  BOOST_TEST((line.shape() == std::array<std::size_t, 1>{0}));
  BOOST_TEST((matrix.shape() == std::array<std::size_t, 2>{7, 0}));
  BOOST_TEST((cube.shape() == shape3{7, 0, 0}));
  BOOST_TEST((plain.shape() == shape3{0, 0, 0}));
  for (int turn = 0; turn < 20; ++turn) {
    {
      const xt::xtensor<double, 0> before(std::numeric_limits<double>::quiet_NaN());
    }  // memory that is taken again
    const auto scalar = zero_volume<double, 0>(7);
    BOOST_TEST(scalar() == 0.0);
  }
}

BOOST_AUTO_TEST_CASE(a_real_value_becomes_a_complex_element) {
  using complex = std::complex<float>;
  BOOST_TEST((detail::as_element<complex>(3) == complex(3, 0)));
  BOOST_TEST((detail::as_element<complex>(0.5) == complex(0.5F, 0)));
  BOOST_TEST((detail::as_element<complex>(complex(1, 2)) == complex(1, 2)));
  BOOST_TEST((detail::as_element<std::complex<double>>(complex(1, 2)) == std::complex<double>(1, 2)));
  BOOST_TEST(detail::as_element<int>(2.9) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
