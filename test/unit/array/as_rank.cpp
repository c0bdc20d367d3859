// as_rank for arrays without a static rank: it refers to existing memory without a copy, and throws an error message if
// the rank differs.
#include <array>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <partita/array/as_rank.hpp>
#include <span>
#include <string>
#include <vector>

#include "refused.hpp"

#if __has_include(<xtensor/generators/xbuilder.hpp>)
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xmanipulation.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmanipulation.hpp>
#endif

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

xt::xarray<double> numbered(const std::vector<std::size_t>& shape) {
  xt::xarray<double> a = xt::zeros<double>(shape);
  for (std::size_t k = 0; k < a.size(); ++k) a.data()[k] = static_cast<double>(k);
  return a;
}

/// The address of an array's memory.
template <class A>
auto memory_of(const A& a) {
  return block_of(a);
}

/// Checks for a result that refers to memory, and for one that owns its memory.
template <class R>
constexpr bool owns = std::is_same_v<R, xt::xtensor<element_of<R>, rank_of<R>>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(as_rank_of)

BOOST_AUTO_TEST_CASE(an_array_refers_to_its_memory_and_may_be_written) {
  xt::xarray<double> a = numbered({3, 4});
  auto r = as_rank<2>(a);
  static_assert(strided_array<decltype(r)> && rank_of<decltype(r)> == 2 && !owns<decltype(r)>);
  static_assert(rank_of<decltype(a)> == static_cast<std::size_t>(-1) && !ranked_array<decltype(a)>);
  static_assert(rank_of<std::vector<double>> == static_cast<std::size_t>(-1) && !ranked_array<std::vector<double>>);
  const auto block = block_of(r);
  BOOST_TEST(block.data == a.data());
  BOOST_TEST((block.shape == std::array<std::size_t, 2>{3, 4} && block.dense()));
  r(1, 2) = -1;
  BOOST_TEST(a(1, 2) == -1.0);
  const xt::xarray<double>& constant = a;
  auto read_only = as_rank<2>(constant);
  static_assert(std::is_same_v<decltype(block_of(read_only).data), const double*>);
  BOOST_TEST((as_rank<2>(constant) == a));
}

BOOST_AUTO_TEST_CASE(views_keep_their_strides_and_need_only_the_array_below_to_live_on) {
  xt::xarray<double> a = numbered({4, 1, 6});
  const auto squeezed = as_rank<2>(xt::squeeze(a));
  static_assert(!owns<std::remove_const_t<decltype(squeezed)>>);
  BOOST_TEST(memory_of(squeezed).data == a.data());
  BOOST_TEST((squeezed == xt::reshape_view(a, {4, 6})));
  const auto every_second = as_rank<2>(xt::strided_view(a, {xt::range(1, 4), 0, xt::range(0, 6, 2)}));
  BOOST_TEST((every_second == matrix{{6, 8, 10}, {12, 14, 16}, {18, 20, 22}}));
  BOOST_TEST((memory_of(every_second).strides == std::array<std::ptrdiff_t, 2>{6, 2}));
  const auto part = as_rank<2>(xt::view(a, xt::range(2, 4), 0));
  BOOST_TEST((part == matrix{{12, 13, 14, 15, 16, 17}, {18, 19, 20, 21, 22, 23}}));
  const xt::xarray<double, xt::layout_type::column_major> columns = a;
  BOOST_TEST((as_rank<3>(columns) == a));
  BOOST_TEST(memory_of(as_rank<3>(columns)).data == columns.data());
  const matrix ranked{{1, 2}, {3, 4}};
  BOOST_TEST(memory_of(as_rank<2>(ranked)).data == ranked.data());
}

BOOST_AUTO_TEST_CASE(what_is_lazy_or_about_to_end_is_kept) {
  const auto eye = as_rank<2>(xt::eye<double>(3));
  static_assert(owns<std::remove_const_t<decltype(eye)>>);
  BOOST_TEST((eye == matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  BOOST_TEST((as_rank<1>(xt::squeeze(numbered({1, 3}))) == xt::xtensor<double, 1>{0, 1, 2}));
  const xt::xarray<double> a = numbered({2, 2});
  BOOST_TEST((as_rank<2>(a + 1.0) == matrix{{1, 2}, {3, 4}}));
  xt::xarray<double> leaves = numbered({2, 3});
  const double* const memory = leaves.data();
  const auto kept = as_rank<2>(std::move(leaves));
  static_assert(owns<std::remove_const_t<decltype(kept)>>);
  BOOST_TEST(kept.data() == memory);  // moved, not copied
  BOOST_TEST((kept == numbered({2, 3})));
}

BOOST_AUTO_TEST_CASE(ranges_are_of_rank_1) {
  std::vector<float> v{1, 2, 3};
  std::array<int, 2> pair{4, 5};
  const double old[] = {6, 7};
  BOOST_TEST(memory_of(as_rank<1>(v)).data == v.data());
  as_rank<1>(v)(1) = 9;
  BOOST_TEST(v[1] == 9.F);
  BOOST_TEST((as_rank<1>(pair) == xt::xtensor<int, 1>{4, 5}));
  BOOST_TEST(memory_of(as_rank<1>(old)).data == &old[0]);
  BOOST_TEST(memory_of(as_rank<1>(std::span(v).subspan(1))).data == v.data() + 1);  // a span may end before its memory
  const auto kept = as_rank<1>(std::vector<double>{1, 2});
  static_assert(owns<std::remove_const_t<decltype(kept)>>);
  BOOST_TEST((kept == xt::xtensor<double, 1>{1, 2}));
  BOOST_TEST((as_rank<1>({1.5, 2.5}) == xt::xtensor<double, 1>{1.5, 2.5}));
  BOOST_TEST(as_rank<1>(std::vector<double>{}).size() == 0U);
}

BOOST_AUTO_TEST_CASE(numbers_are_of_rank_0) {
  double s = 3;
  auto r = as_rank<0>(s);
  static_assert(ranked_array<decltype(r)> && rank_of<decltype(r)> == 0);
  BOOST_TEST(r() == 3.0);
  BOOST_TEST(block_of(r).data == &s);
  r() = 4;
  BOOST_TEST(s == 4.0);
  BOOST_TEST(as_rank<0>(5)() == 5);
  BOOST_TEST((as_rank<0>(std::complex<float>(1, 2))() == std::complex<float>(1, 2)));
}

BOOST_AUTO_TEST_CASE(another_rank_is_refused_in_one_sentence) {
  const xt::xarray<double> a = numbered({3, 4, 5}), none;
  BOOST_TEST(
      test::refused<shape_error>([&] { as_rank<2>(a); }) ==
      "partita::as_rank<2>(a): requires an array of rank 2, got one of rank 3 and extents [3, 4, 5]; reshape it, "
      "or ask for as_rank<3>(a)");
  BOOST_TEST(
      test::refused<shape_error>([&] { as_rank<2>(xt::squeeze(a + 1.0)); }) ==
      "partita::as_rank<2>(a): requires an array of rank 2, got one of rank 3 and extents [3, 4, 5]; reshape it, "
      "or ask for as_rank<3>(a)");
  BOOST_TEST(test::refused<shape_error>([&] { as_rank<1>(none); }).find("got one of rank 0 and extents []") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
