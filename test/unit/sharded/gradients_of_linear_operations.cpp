// Gradients of linear operations on plain arrays: for a linear f, element e of the gradient of sum(w f(x)) is sum(w
// f(u)), where u is 1 at element e and 0 elsewhere.
#include <partita/sharded/gather.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/spectrum.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;

/// Compares the gradient of each element of x, for all w that are 1 at one element of the result.
template <class F>
void check(const char* name, const F& f, const matrix& x = xt::zeros<double>({5, 3})) {
  matrix w = f(x);
  std::vector<matrix> of_units;
  for (std::size_t e = 0; e < x.size(); ++e) {
    matrix u = xt::zeros_like(x);
    u.data()[e] = 1;
    of_units.push_back(f(u));
  }
  w.fill(0);
  for (std::size_t k = 0; k < w.size(); ++k) {
    w.data()[k] = 1;
    const matrix dx =
        std::get<0>(value_and_gradient([&](const auto& a) { return sum(multiply(f(a), w)); }, x).gradients);
    w.data()[k] = 0;
    for (std::size_t e = 0; e < x.size(); ++e)
      BOOST_TEST(dx.data()[e] == of_units[e].data()[k], name << ", of result " << k << " by element " << e);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gradients_of_linear_operations)

BOOST_AUTO_TEST_CASE(they_are_the_transposes) {
  const auto& rows = dimensions<0>;
  check("flip", [](const auto& x) { return flip(x, dimensions<0, 1>); });
  check("roll", [](const auto& x) { return roll(x, dimensions<0, 1>, 2, -1); });
  check("tile", [](const auto& x) { return tile(x, dimensions<0, 1>, 2, 3); });
  check("strided_slice", [](const auto& x) { return strided_slice(x, dimensions<0, 1>, {1, 5, 3}, {0, 3, 2}); });
  check("tril", [](const auto& x) { return tril(x, -1); });
  check("triu", [](const auto& x) { return triu(x, 1); });
  check(
      "expand", [](const auto& x) { return expand(x, dimensions<1>, 4); }, xt::zeros<double>({5, 1}));
  check("slice", [&](const auto& x) { return slice(x, rows, {1, 4}); });
  check("pad", [&](const auto& x) { return pad(x, rows, {1, 2}); });
  check("transpose", [](const auto& x) { return transpose(x, permute<1, 0>); });
  check("cumsum", [&](const auto& x) { return cumsum(x, rows); });
  check("fftshift", [](const auto& x) { return fftshift(x, dimensions<0, 1>); });
  check("ifftshift", [](const auto& x) { return ifftshift(x, dimensions<0, 1>); });
  const xt::xtensor<int, 1> some{4, 0, 4, 2};
  check("take", [&](const auto& x) { return take(x, some, rows); });
  const xt::xtensor<int, 0> one(1);
  check("take of one row", [&](const auto& x) { return unsqueeze(take(x, one, rows), rows); });
  const auto& columns = dimensions<1>;
  check("take of one column", [&](const auto& x) { return unsqueeze(take(x, one, columns), columns); });
  const auto as_kind_of = [](const auto& x, const matrix& indices) {
    if constexpr (ranked_array<std::remove_cvref_t<decltype(x)>>) return indices;
    else return detail::as_run_time(indices);
  };
  const matrix numbers{{4, 0, 1}, {4, 4, 1}}, places{{4}, {0}, {4}, {2}};
  check("take_along_axis", [&](const auto& x) { return take_along_axis(x, as_kind_of(x, numbers), rows); });
  check("gather_nd", [&](const auto& x) { return gather_nd<1>(x, as_kind_of(x, places)); });
  // by an index that is a tensor, here of one element
  const auto by_number = [&](const auto& x) {
    return unsqueeze(take(x, add(sum(multiply(x, 0)), 2), columns), columns);
  };
  check("take by a number", by_number);
}

/// The adjoints of operations at indices are operations themselves, of which a second derivative asks a gradient.
BOOST_AUTO_TEST_CASE(adjoints_are_the_transposes_of_their_own_adjoints) {
  const auto known = [](std::vector<std::size_t> all) {
    const shape_list extents{all.size()};
    return detail::known_indices{std::make_shared<const std::vector<std::size_t>>(std::move(all)), extents};
  };
  const auto as_kind_of = [](const auto& x, const auto& indices) {
    if constexpr (ranked_array<std::remove_cvref_t<decltype(x)>>) return indices;
    else return detail::as_run_time(indices);
  };
  check("insert_zeros", [](const auto& x) {
    return apply_op(detail::insert_zeros_operation<0>{{}, {index_progression{1, 11, 2}}, {12}}, x);
  });
  const auto rows = known({1, 0, 1, 5, 3});
  check("take_adjoint", [&](const auto& x) { return apply_op(detail::take_adjoint_op<0, 1, false>{rows, 6}, x); });
  check("lookup_adjoint", [&](const auto& x) { return apply_op(detail::take_adjoint_op<0, 1, true>{rows, 6}, x); });
  const auto labels = known({2, 0, 1, 1, 2}), places = known({3, 0, 1, 3, 2});
  check("put_at_labels", [&](const auto& x) {
    return apply_op(detail::put_at_labels_operation{places, 4}, apply_op(detail::take_at_labels_operation{labels}, x));
  });
  const xt::xtensor<double, 1> at{5, 0, 5, -1, 2};
  check("add_rows", [&](const auto& x) { return apply_op(detail::add_rows_operation<0>{6}, x, as_kind_of(x, at)); });
  const matrix along{{3, 0, 1}, {3, 1, 1}, {0, 4, 2}, {1, 0, 0}, {3, 2, 2}};
  check("add_along_axis",
        [&](const auto& x) { return apply_op(detail::add_along_axis_operation<0>{4}, x, as_kind_of(x, along)); });
  const matrix tuples{{5}, {0}, {5}, {6}, {2}};
  check("scatter_add_nd",
        [&](const auto& x) { return apply_op(detail::scatter_add_nd_operation<1>{{6}}, x, as_kind_of(x, tuples)); });
  const detail::class_targets targets{std::make_shared<const std::vector<std::size_t>>(
                                          std::vector<std::size_t>{2, 0, detail::class_targets::ignored, 1, 2}),
                                      std::make_shared<const std::vector<double>>(std::vector<double>{1, 2, 0.5}),
                                      0.25,
                                      {5}};
  check("weigh_classes", [&](const auto& x) {
    return unsqueeze(apply_op(detail::weigh_classes_operation<1>{targets}, x), dimensions<1>);
  });
}

BOOST_AUTO_TEST_CASE(extents_that_do_not_fit_are_refused) {
  const matrix x = xt::ones<double>({5, 3}), column = xt::ones<double>({5, 1});
  BOOST_CHECK_THROW((void)expand(x, dimensions<1>, 4), shape_error);
  BOOST_CHECK_THROW((void)squeeze(x, dimensions<1>), shape_error);
  BOOST_TEST((squeeze(column, dimensions<1>) == xt::xtensor<double, 1>{1, 1, 1, 1, 1}));
  const auto refuses = [&](const index_progression& one) {
    return !test::refused<shape_error>([&] { (void)strided_slice(x, dimensions<0>, one); }).empty();
  };
  BOOST_TEST(refuses({0, 5, 0}));
  BOOST_TEST(refuses({3, 2, 1}));
  BOOST_TEST(refuses({0, 6, 1}));
  BOOST_TEST(refuses({5, 6, 3}));
  BOOST_TEST(!refuses({0, 5, 7}));
  BOOST_TEST(!refuses({5, 5, 1}));
  test::expect_refused<shape_error>(
      [&] {
        (void)strided_slice(x, dimensions<0>, {1, 6, 2});
      },
      "but got those from 1 up to 6 in steps of 2 of dimension 0 of [5, 3]");
  const auto refuses_slice = [&](const interval& one) {
    return !test::refused<shape_error>([&] { (void)slice(x, dimensions<0>, one); }).empty();
  };
  BOOST_TEST(refuses_slice({3, 2}));
  BOOST_TEST(refuses_slice({0, 6}));
  BOOST_TEST(!refuses_slice({5, 5}));
  BOOST_TEST(!refuses_slice({0, 5}));
}

BOOST_AUTO_TEST_CASE(of_no_copies_a_gradient_is_0) {
  const matrix x = xt::ones<double>({2, 3});
  const auto f = [](const auto& a) { return sum(tile(a, dimensions<0>, 0)); };
  BOOST_TEST((std::get<0>(value_and_gradient(f, x).gradients) == matrix(xt::zeros<double>({2, 3}))));
}

BOOST_AUTO_TEST_CASE(shifted_frequencies_rise_and_come_back) {
  for (const std::size_t n : {1U, 2U, 5U, 8U}) {
    xt::xtensor<double, 1> waves(std::array{n});  // in the order of fftfreq
    for (std::size_t k = 0; k < n; ++k)
      waves(k) = static_cast<double>(k) - (k < (n + 1) / 2 ? 0 : static_cast<double>(n));
    const xt::xtensor<double, 1> rising = fftshift(waves, dimensions<0>);
    for (std::size_t k = 0; k + 1 < n; ++k) BOOST_TEST(rising(k) + 1 == rising(k + 1));
    BOOST_TEST((ifftshift(rising, dimensions<0>) == waves));
  }
}

BOOST_AUTO_TEST_SUITE_END()
