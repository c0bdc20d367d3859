// Operations at indices, on tensors without a mesh: every element is that of a loop over the indices, an index that is
// not valid gives or adds nothing, and what does not fit is refused with the first index or the extents at fault.
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/select_if.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/tensor_functions.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

constexpr std::size_t none = ~std::size_t{0};

template <class T>
sharded_tensor<T> tensor(const shape_list& extents, const std::vector<T>& elements) {
  detail::tensor_block<T> block(extents);
  std::copy(elements.begin(), elements.end(), block.data());
  return detail::tensor_of<T>(nullptr, sharding(mesh(), extents.size()), extents, block);
}
template <class T>
std::vector<T> elements_of(const sharded_tensor<T>& x) {
  return {x.data(), x.data() + x.size()};
}
std::size_t size_of(const shape_list& extents, std::size_t first, std::size_t last) {
  std::size_t n = 1;
  for (std::size_t d = first; d < last; ++d) n *= extents[d];
  return n;
}
template <class T>
std::vector<T> small_numbers(std::mt19937& random, std::size_t n) {
  std::vector<T> all(n);
  for (T& one : all) one = static_cast<T>(static_cast<int>(random() % 19) - 9);
  return all;
}
/// An index below a bound or, if `any`, also an element that is none; `index` gets the index or `none`.
template <class T>
T random_index(std::mt19937& random, std::size_t bound, bool any, std::size_t& index) {
  index = random() % bound;
  if (!any || random() % 3 != 0) return static_cast<T>(index);
  index = none;
  switch (random() % 4) {
    case 0:
      return static_cast<T>(bound);
    case 1:
      if constexpr (!std::is_integral_v<T>) return static_cast<T>(0.5);
      return static_cast<T>(bound + 7);
    case 2:
      return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(-5);
    default:
      return static_cast<T>(-1);
  }
}
template <class T>
struct some_indices {
  std::vector<T> elements{};
  std::vector<std::size_t> indices{};
  some_indices(std::mt19937& random, std::size_t n, std::size_t bound, bool any) {
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t index = 0;
      elements.push_back(random_index<T>(random, bound, any, index));
      indices.push_back(index);
    }
  }
};

const shape_list cube{3, 4, 2};

/// Compares take, scatter_add and scatter along dimension D with loops.
template <class T, std::size_t D>
void check_rows(std::mt19937& random) {
  const std::size_t outer = size_of(cube, 0, D), extent = cube[D], inner = size_of(cube, D + 1, 3);
  for (const shape_list& of_indices : {shape_list{}, shape_list{5}, shape_list{2, 3}, shape_list{0}}) {
    const std::size_t n = size_of(of_indices, 0, of_indices.size());
    const some_indices<T> some(random, n, extent, true);
    shape_list rows;
    for (std::size_t d = 0; d < D; ++d) rows.push_back(cube[d]);
    for (const std::size_t one : of_indices) rows.push_back(one);
    for (std::size_t d = D + 1; d < 3; ++d) rows.push_back(cube[d]);
    const std::vector<T> x = small_numbers<T>(random, 24), u = small_numbers<T>(random, outer * n * inner);
    std::vector<T> taken(u.size(), T(0)), sums(24, T(0)), added = x, put = x;
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < inner && some.indices[k] != none; ++i) {
          const std::size_t there = (o * extent + some.indices[k]) * inner + i, here = (o * n + k) * inner + i;
          taken[here] = x[there];
          sums[there] += u[here], added[there] += u[here], put[there] = sums[there];
        }
    const auto xs = tensor(cube, x), us = tensor(rows, u), is = tensor(of_indices, some.elements);
    const auto y = take(xs, is, dimensions<D>);
    BOOST_TEST((y.extents() == rows));
    BOOST_TEST((elements_of(y) == taken), "take along " << D << " at " << n);
    BOOST_TEST((elements_of(scatter_add(xs, is, us, dimensions<D>)) == added), "scatter_add along " << D);
    BOOST_TEST((elements_of(scatter(xs, is, us, dimensions<D>)) == put), "scatter along " << D);
  }
}

/// Compares the functions at indices along an axis with loops.
template <class T, std::size_t D>
void check_along_axis(std::mt19937& random) {
  const std::size_t outer = size_of(cube, 0, D), extent = cube[D], inner = size_of(cube, D + 1, 3);
  for (const std::size_t n : {0U, 1U, 5U})
    for (const bool any : {false, true}) {
      shape_list shape = cube;
      shape[D] = n;
      const some_indices<T> some(random, outer * n * inner, extent, any);
      const std::vector<T> x = small_numbers<T>(random, 24), u = small_numbers<T>(random, outer * n * inner);
      std::vector<T> taken(u.size(), T(0)), sums(24, T(0)), added = x, put = x;
      for (std::size_t here = 0; here < u.size(); ++here) {
        if (some.indices[here] == none) continue;
        const std::size_t there = (here / inner / n * extent + some.indices[here]) * inner + here % inner;
        taken[here] = x[there];
        sums[there] += u[here], added[there] += u[here], put[there] = sums[there];
      }
      const auto xs = tensor(cube, x), us = tensor(shape, u), is = tensor(shape, some.elements);
      const auto y = apply_op(detail::take_along_operation<D>{}, xs, is);  // as a traced program takes them
      BOOST_TEST((y.extents() == shape));
      BOOST_TEST((elements_of(y) == taken), "take_along_operation along " << D << " at " << n);
      if (!any) BOOST_TEST((elements_of(take_along_axis(xs, is, dimensions<D>)) == taken), "take_along_axis " << D);
      BOOST_TEST((elements_of(add_along_axis(xs, is, us, dimensions<D>)) == added), "add_along_axis " << D);
      BOOST_TEST((elements_of(put_along_axis(xs, is, us, dimensions<D>)) == put), "put_along_axis " << D);
    }
}

/// Compares the functions at tuples of K indices with loops.
template <class T, std::size_t K>
void check_tuples(std::mt19937& random) {
  const std::size_t places = size_of(cube, 0, K), width = size_of(cube, K, 3);
  for (const shape_list& counted : {shape_list{}, shape_list{5}, shape_list{2, 2}, shape_list{0}})
    for (const bool any : {false, true}) {
      const std::size_t n = size_of(counted, 0, counted.size());
      std::vector<T> elements;
      std::vector<std::size_t> rows;
      for (std::size_t k = 0; k < n; ++k) {
        std::size_t row = 0;
        for (std::size_t d = 0; d < K; ++d) {
          std::size_t index = 0;
          elements.push_back(random_index<T>(random, cube[d], any, index));
          row = row == none || index == none ? none : row * cube[d] + index;
        }
        rows.push_back(row);
      }
      shape_list of_indices = counted, of_updates = counted;
      of_indices.push_back(K);
      for (std::size_t d = K; d < 3; ++d) of_updates.push_back(cube[d]);
      const std::vector<T> x = small_numbers<T>(random, 24), u = small_numbers<T>(random, n * width);
      std::vector<T> taken(u.size(), T(0)), sums(24, T(0)), added = x, put = x;
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t c = 0; c < width && rows[k] != none; ++c) {
          BOOST_REQUIRE(rows[k] < places);
          const std::size_t there = rows[k] * width + c, here = k * width + c;
          taken[here] = x[there];
          sums[there] += u[here], added[there] += u[here], put[there] = sums[there];
        }
      const auto xs = tensor(cube, x), us = tensor(of_updates, u), is = tensor(of_indices, elements);
      const auto y = apply_op(detail::gather_nd_operation<K>{}, xs, is);  // as a traced program takes them
      BOOST_TEST((y.extents() == of_updates));
      BOOST_TEST((elements_of(y) == taken), "gather_nd_operation of " << K << " at " << n);
      if (!any) {
        const auto now = gather_nd<K>(xs, is);
        BOOST_TEST((now.extents() == of_updates));
        BOOST_TEST((elements_of(now) == taken), "gather_nd of " << K << " at " << n);
      }
      BOOST_TEST((elements_of(scatter_add_nd<K>(xs, is, us)) == added), "scatter_add_nd of " << K);
      BOOST_TEST((elements_of(scatter_nd<K>(xs, is, us)) == put), "scatter_nd of " << K);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indices_of_arrays)

BOOST_AUTO_TEST_CASE(an_element_is_an_index_if_it_is_a_whole_number_below_the_extent) {
  using complex = std::complex<double>;
  const auto of = [](auto element, std::size_t extent) { return detail::index_of_element(element, extent); };
  for (std::size_t extent = 0; extent < 5; ++extent)
    for (std::size_t k = 0; k < 7; ++k) {
      const std::size_t wanted = k < extent ? k : extent;
      BOOST_TEST(of(static_cast<int>(k), extent) == wanted);
      BOOST_TEST(of(static_cast<double>(k), extent) == wanted);
      BOOST_TEST(of(static_cast<float>(k), extent) == wanted);
      BOOST_TEST(of(std::uint64_t{k}, extent) == wanted);
      BOOST_TEST(of(complex(static_cast<double>(k), 0), extent) == wanted);
      BOOST_TEST(of(complex(static_cast<double>(k), 1e-300), extent) == extent);
      BOOST_TEST(of(static_cast<double>(k) + 0.5, extent) == extent);
      BOOST_TEST(of(-1 - static_cast<int>(k), extent) == extent);
    }
  BOOST_TEST(of(-0.0, 3) == 0U);
  BOOST_TEST(of(-0.25, 3) == 3U);
  BOOST_TEST(of(complex(1.5, 0), 3) == 3U);
  BOOST_TEST(of(std::numeric_limits<double>::quiet_NaN(), 3) == 3U);
  BOOST_TEST(of(std::numeric_limits<double>::infinity(), 3) == 3U);
  BOOST_TEST(of(0x1p63, none) == none);
  BOOST_TEST(of(0x1p62, none) == std::size_t{1} << 62);
  BOOST_TEST(of(std::numeric_limits<std::uint64_t>::max(), 3) == 3U);
  BOOST_TEST(of(std::int8_t{127}, 300) == 127U);  // the type is too small for the extent
  BOOST_TEST(of(std::int8_t{-1}, 300) == 300U);
  BOOST_TEST(of(std::int8_t{-1}, 255) == 255U);
}

BOOST_AUTO_TEST_CASE(a_dimension_has_at_most_as_many_indices_as_elements_represent) {
  using bytes = xt::xtensor<std::int8_t, 1>;
  const auto refused = [](const auto& call) { return test::refused<shape_error>(call); };
  BOOST_TEST(argmax(bytes(xt::ones<std::int8_t>({128})), dimensions<0>)() == 0);
  const auto largest = refused([] { (void)argmax(bytes(xt::ones<std::int8_t>({129})), dimensions<0>); });
  BOOST_TEST(largest.find("partita::argmax: requires indices that the elements of x represent, up to 127, got extents "
                          "[129] and dimension 0") != std::string::npos);
  const auto least = refused([] { (void)argmin(bytes(xt::ones<std::int8_t>({129})), dimensions<0>); });
  BOOST_TEST(least.find("partita::argmin: ") != std::string::npos);
  const auto expect_limit = [&](const char* function, const auto& call) {
    for (const std::size_t extent : {std::size_t{127}, std::size_t{128}, std::size_t{129}}) {
      const bytes x = xt::ones<std::int8_t>({extent});
      const text words = extent <= 128 ? text()
                                       : text("partita::")
                                             << function << ": requires indices that the elements of x represent, up "
                                             << "to 127, got extents [129] and dimension 0; cast x to double";
      BOOST_TEST(refused([&] { (void)call(x); }) == words.c_str(), function << " of " << extent);
    }
  };
  expect_limit("argmax", [](const bytes& x) { return argmax(x, dimensions<0>); });
  expect_limit("argmin", [](const bytes& x) { return argmin(x, dimensions<0>); });
  expect_limit("argsort", [](const bytes& x) { return argsort(x, dimensions<0>); });
  expect_limit("top_k", [](const bytes& x) { return top_k(x, 1, dimensions<0>); });
  const auto fits = [](auto element, std::size_t extent) {
    using T = decltype(element);
    try {
      detail::require_representable_indices<1, T>({7, extent}, "f");
    } catch (const shape_error&) {
      return false;
    }
    return true;
  };
  BOOST_TEST(fits(float(), std::size_t{1} << 24));
  BOOST_TEST(!fits(float(), (std::size_t{1} << 24) + 1));
  BOOST_TEST(fits(double(), std::size_t{1} << 53));
  BOOST_TEST(!fits(double(), (std::size_t{1} << 53) + 1));
  BOOST_TEST(fits(std::uint8_t(), 256));
  BOOST_TEST(!fits(std::uint8_t(), 257));
  BOOST_TEST(fits(std::int64_t(), std::size_t{1} << 63));
  detail::require_representable_indices<1, std::int8_t>({500}, "f");  // there is no dimension 1
}

BOOST_AUTO_TEST_CASE(rows_are_taken_and_added_at_the_elements_of_a_tensor) {
  std::mt19937 random(51);
  for (int round = 0; round < 4; ++round) {
    check_rows<double, 0>(random);
    check_rows<double, 1>(random);
    check_rows<double, 2>(random);
    check_rows<int, 1>(random);
  }
}

BOOST_AUTO_TEST_CASE(elements_are_taken_and_added_along_an_axis) {
  std::mt19937 random(52);
  for (int round = 0; round < 4; ++round) {
    check_along_axis<double, 0>(random);
    check_along_axis<double, 1>(random);
    check_along_axis<double, 2>(random);
    check_along_axis<int, 1>(random);
  }
}

BOOST_AUTO_TEST_CASE(rows_are_taken_and_added_at_tuples_of_indices) {
  std::mt19937 random(53);
  for (int round = 0; round < 4; ++round) {
    check_tuples<double, 1>(random);
    check_tuples<double, 2>(random);
    check_tuples<double, 3>(random);
    check_tuples<int, 2>(random);
  }
}

BOOST_AUTO_TEST_CASE(the_first_element_that_is_no_index_is_named) {
  const auto x = tensor<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto message = [](const auto& call) { return test::refused<shape_error>(call); };
  const std::string ends = "; an index is a whole number from 0";
  const auto wrong = tensor<int>({2, 3}, {0, 1, 2, 3, -1, 0});
  const auto along = message([&] { (void)take_along_axis(x, wrong, dimensions<1>); });
  BOOST_TEST(along.find("partita::take_along_axis: requires indices below the extent of dimension 1 of x, 3; a worker "
                        "has another one, element 3 of its block" +
                        ends) != std::string::npos);
  const auto rows = message([&] { (void)take_along_axis(x, tensor<double>({1, 3}, {0, 1.5, 2}), dimensions<0>); });
  BOOST_TEST(rows.find("dimension 0 of x, 2; a worker has another one, element 1 of its block") != std::string::npos);
  const auto tuples = message([&] { (void)gather_nd<2>(x, tensor<int>({3, 2}, {0, 2, 1, 3, 2, 0})); });
  BOOST_TEST(tuples.find("partita::gather_nd: requires indices below the extent of dimension 1 of x, 3; a worker has "
                         "another one, element 3 of its block" +
                         ends) != std::string::npos);
  const auto first = message([&] { (void)gather_nd<2>(x, tensor<int>({2, 2}, {2, 3, 0, 0})); });
  BOOST_TEST(first.find("dimension 0 of x, 2; a worker has another one, element 0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(extents_that_do_not_fit_are_refused) {
  const auto x = tensor<double>({2, 3}, {1, 2, 3, 4, 5, 6}), line = tensor<double>({2}, {0, 1});
  const auto wide = tensor<double>({3, 3}, std::vector<double>(9, 0)), one = tensor<double>({}, {0});
  const auto expect = [](const auto& call, const std::string& part) {
    const auto text = test::refused<shape_error>(call);
    BOOST_TEST(text.find(part) != std::string::npos, text);
  };
  const std::string alone = "requires indices whose extents differ from those of x along D = 1 alone, got ";
  expect([&] { (void)take_along_axis(x, wide, dimensions<1>); }, alone + "[3, 3] and [2, 3]");
  expect([&] { (void)take_along_axis(x, line, dimensions<1>); }, alone + "[2] and [2, 3]");
  const auto narrow = tensor<double>({1, 3}, {0, 1, 2});  // an extent of 1 is not repeated
  expect([&] { (void)take_along_axis(x, narrow, dimensions<1>); }, alone + "[1, 3] and [2, 3]");
  expect([&] { (void)take_along_axis(x, x, dimensions<2>); }, "along D = 2 alone, got [2, 3] and [2, 3]");
  BOOST_TEST((take_along_axis(x, tensor<double>({3, 3}, std::vector<double>(9, 1)), dimensions<0>).extents() ==
              shape_list{3, 3}));
  expect([&] { (void)apply_op(detail::take_along_operation<1>{}, x, wide); }, "along D = 1 alone, got [3, 3] and ");
  expect([&] { (void)apply_op(detail::take_along_operation<1>{}, x, narrow); }, "along D = 1 alone, got [1, 3] and ");
  const std::string last = "requires indices whose last extent is K = 2";
  expect([&] { (void)gather_nd<2>(x, tensor<double>({2, 3}, std::vector<double>(6, 0))); }, last);
  expect([&] { (void)gather_nd<2>(x, one); }, last);
  expect([&] { (void)gather_nd<2>(line, line); }, last);
  expect([&] { (void)apply_op(detail::gather_nd_operation<2>{}, line, line); }, last);
  expect([&] { (void)apply_op(detail::gather_nd_operation<2>{}, x, one); }, last);
  const std::string fit = ": requires updates that fit indices and x, got updates of ";
  expect([&] { (void)scatter_add(x, line, wide, dimensions<0>); }, "");
  expect(
      [&] {
        (void)scatter_add(x, line, tensor<double>({2, 2}, {1, 2, 3, 4}), dimensions<0>);
      },
      "partita::scatter_add" + fit + "[2, 2] and indices of [2] for x of [2, 3]");
  expect(
      [&] {
        (void)scatter(x, line, tensor<double>({2, 2}, {1, 2, 3, 4}), dimensions<0>);
      },
      "partita::scatter" + fit);
  expect([&] { (void)add_along_axis(x, wide, wide, dimensions<1>); }, "partita::add_along_axis" + fit);
  expect([&] { (void)put_along_axis(x, wide, wide, dimensions<1>); }, "partita::put_along_axis" + fit);
  expect([&] { (void)add_along_axis(x, line, x, dimensions<1>); },
         "requires updates and indices of equal extents with dimension 1, got updates of [2, 3] and indices of [2]");
  expect(
      [&] {
        (void)scatter_add_nd<1>(x, tensor<double>({2, 2, 1}, {0, 1, 0, 1}), line);
      },
      "requires indices whose last extent is K = 1, and updates with their other dimensions first, got indices of "
      "[2, 2, 1] and updates of [2]");
  expect([&] { (void)scatter_add_nd<2>(x, tensor<double>({2, 1}, {0, 1}), line); }, last);
  expect(
      [&] {
        (void)scatter_nd<2>(line, tensor<double>({1, 2}, {0, 1}), tensor<double>({1}, {3}));
      },
      "partita::scatter_nd<K>: requires x with at least K = 2 dimensions, got extents [2]");
}

BOOST_AUTO_TEST_CASE(lookup_and_take_keep_the_dimensions_of_the_labels) {
  const xt::xtensor<double, 2> table{{0, 1}, {10, 11}, {20, 21}};
  const xt::xtensor<int, 2> labels{{2, 0, 1}, {1, 1, 2}};
  const xt::xtensor<double, 3> found = lookup(table, labels), taken = take(table, labels, dimensions<0>);
  const xt::xtensor<double, 3> across = take(xt::xtensor<double, 2>(xt::transpose(table)), labels, dimensions<1>);
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t c = 0; c < 2; ++c) {
        BOOST_TEST(found(i, j, c) == 10 * labels(i, j) + static_cast<int>(c));
        BOOST_TEST(taken(i, j, c) == found(i, j, c));
        BOOST_TEST(across(c, i, j) == found(i, j, c));
      }
  test::expect_refused<shape_error>(
      [&] {
        (void)take(table, xt::xtensor<int, 1>{0, 3}, dimensions<0>);
      },
      "requires indices below the extent of dimension 0 of [3, 2], got 3");
  BOOST_CHECK_THROW((void)take(table, xt::xtensor<int, 1>{-1}, dimensions<0>), shape_error);
  BOOST_CHECK_THROW((void)lookup(table, xt::xtensor<int, 1>{3}), shape_error);
}

BOOST_AUTO_TEST_CASE(the_first_selected_rows_are_followed_by_rows_of_zeros) {
  using complex = std::complex<double>;
  std::mt19937 random(54);
  for (unsigned mask = 0; mask < 32; ++mask)
    for (const std::size_t rows : {0U, 1U, 3U, 5U, 7U}) {
      const std::vector<double> x = small_numbers<double>(random, 10);
      const std::vector<complex> z(x.begin(), x.end());
      std::vector<double> keep(5), wanted(2 * rows, 0);
      std::vector<int> whole(5);
      std::size_t n = 0;
      for (std::size_t k = 0; k < 5; ++k) {
        const bool is_kept = ((mask >> k) & 1U) != 0;
        keep[k] = is_kept ? (k % 2 == 0 ? -0.5 : 2) : 0, whole[k] = is_kept ? -3 : 0;
        if (is_kept && n++ < rows) wanted[2 * n - 2] = x[2 * k], wanted[2 * n - 1] = x[2 * k + 1];
      }
      const std::vector<complex> wanted_z(wanted.begin(), wanted.end()), keep_z(keep.begin(), keep.end());
      const auto xs = tensor({5, 2}, x);
      const auto zs = tensor({5, 2}, z);
      const auto by = tensor({5}, keep);
      const auto by_whole = tensor({5}, whole);
      const auto by_complex = tensor({5}, keep_z);
      const auto selected = select_if(xs, by, rows);
      BOOST_TEST((selected.extents() == shape_list{rows, 2}));
      BOOST_TEST((elements_of(selected) == wanted));
      BOOST_TEST((elements_of(select_if(xs, by_whole, rows)) == wanted));
      BOOST_TEST((elements_of(select_if(zs, by, rows)) == wanted_z));
      BOOST_TEST((elements_of(select_if(zs, by_whole, rows)) == wanted_z));
      BOOST_TEST((elements_of(select_if(zs, by_complex, rows)) == wanted_z));
      const xt::xtensor<double, 2> array = detail::as_array<2>(xs);
      const xt::xtensor<double, 1> mask_array = detail::as_array<1>(by);
      const xt::xtensor<double, 2> of_array = select_if(array, mask_array, rows);
      BOOST_TEST((std::vector<double>(of_array.begin(), of_array.end()) == wanted));
      const xt::xtensor<double, 2> all = select_if(array, mask_array);
      BOOST_TEST(all.shape()[0] == n);
      for (std::size_t k = 0; k < all.size() && k < wanted.size(); ++k) BOOST_TEST(all.data()[k] == wanted[k]);
    }
}

BOOST_AUTO_TEST_CASE(rows_are_selected_by_a_line_of_as_many_elements) {
  const auto x = tensor<double>({3, 2}, {1, 2, 3, 4, 5, 6}), line = tensor<double>({3}, {1, 0, 1});
  const std::string part =
      "partita::select_if(x, keep, rows): requires keep of rank 1 with an element for each row of "
      "x, got extents ";
  const auto expect = [&](const sharded_tensor<double>& rows, const sharded_tensor<double>& keep, const char* extents) {
    const auto text = test::refused<shape_error>([&] { (void)select_if(rows, keep, 2); });
    BOOST_TEST(text.find(part + extents) != std::string::npos, text);
  };
  expect(x, tensor<double>({4}, {1, 1, 1, 1}), "[3, 2] and [4]");
  expect(x, tensor<double>({2}, {1, 1}), "[3, 2] and [2]");
  expect(x, tensor<double>({3, 1}, {1, 1, 1}), "[3, 2] and [3, 1]");
  expect(tensor<double>({}, {1}), line, "[] and [3]");
  const xt::xtensor<double, 2> array{{1, 2}, {3, 4}};
  test::expect_refused<shape_error>(
      [&] {
        (void)select_if(array, xt::xtensor<double, 1>{1, 0, 1});
      },
      "requires an element of keep for each row of x, got extents");
  BOOST_CHECK_THROW((void)select_if(x, line), partition_error);  // without a mesh there is no exchange of rows
}

BOOST_AUTO_TEST_CASE(the_cross_entropy_of_no_rows_is_0) {
  const xt::xtensor<double, 2> scores = xt::zeros<double>({0, 3});
  const xt::xtensor<int, 1> labels = xt::zeros<int>({0});
  BOOST_TEST(cross_entropy(scores, labels)() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
