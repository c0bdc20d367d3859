// b += k(x) for results of kernels: the sum by NumPy's rule, as xtensor computes it for its own tensors.
#include <partita/array/result_tensor.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <type_traits>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;
using shape_type = std::array<std::size_t, 2>;

matrix counted(const shape_type& shape, double first) {
  matrix m(shape);
  for (std::size_t k = 0; k < m.size(); ++k) m.data()[k] = first + static_cast<double>(k);
  return m;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(results_of_kernels)

BOOST_AUTO_TEST_CASE(a_result_is_added_to_a_tensor_by_numpys_rule_or_refused) {
  for (std::size_t all = 0; all < 256; ++all) {
    const shape_type shape{all % 4, all / 4 % 4}, other{all / 16 % 4, all / 64};
    matrix b = counted(shape, 10);
    const matrix before = b;
    const result_tensor<matrix> y(counted(other, 100));
    bool fits = true;
    shape_type sum{};
    for (std::size_t d = 0; d < 2; ++d) {
      fits = fits && (shape[d] == other[d] || shape[d] == 1 || other[d] == 1);
      sum[d] = shape[d] == 1 ? other[d] : shape[d];
    }
    const text what = text() << shape << " += " << other;
    if (!fits) {
      BOOST_CHECK_THROW(b += y, xt::broadcast_error);
      BOOST_TEST((b == before), what.c_str());
      continue;
    }
    b += y;
    BOOST_TEST((b.shape() == sum), what.c_str());
    for (std::size_t i = 0; i < sum[0]; ++i)
      for (std::size_t j = 0; j < sum[1]; ++j)
        BOOST_TEST(b(i, j) == before(shape[0] == 1 ? 0 : i, shape[1] == 1 ? 0 : j) +
                                  y(other[0] == 1 ? 0 : i, other[1] == 1 ? 0 : j),
                   what.c_str());
  }
}

BOOST_AUTO_TEST_CASE(each_assignment_without_a_temporary_is_that_of_its_operator) {
  using whole = xt::xtensor<int, 1>;
  const whole before{12, 7, -9}, x{5, 2, 4};
  const auto check = [&](const char* name, auto assign, auto f) {
    result_tensor<whole> by_array(before), by_number(before);
    assign(by_array, x + 0);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(by_array(i) == f(before(i), x(i)), name);
    assign(by_number, 3);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(by_number(i) == f(before(i), 3), name);
  };
  check(
      "+=", [](auto& y, const auto& e) { xt::noalias(y) += e; }, [](int a, int b) { return a + b; });
  check(
      "-=", [](auto& y, const auto& e) { xt::noalias(y) -= e; }, [](int a, int b) { return a - b; });
  check(
      "*=", [](auto& y, const auto& e) { xt::noalias(y) *= e; }, [](int a, int b) { return a * b; });
  check(
      "/=", [](auto& y, const auto& e) { xt::noalias(y) /= e; }, [](int a, int b) { return a / b; });
  check(
      "%=", [](auto& y, const auto& e) { xt::noalias(y) %= e; }, [](int a, int b) { return a % b; });
  check(
      "&=", [](auto& y, const auto& e) { xt::noalias(y) &= e; }, [](int a, int b) { return a & b; });
  check(
      "|=", [](auto& y, const auto& e) { xt::noalias(y) |= e; }, [](int a, int b) { return a | b; });
  check(
      "^=", [](auto& y, const auto& e) { xt::noalias(y) ^= e; }, [](int a, int b) { return a ^ b; });
  result_tensor<whole> y(before);
  xt::noalias(y) = x + 1;
  BOOST_TEST((y == whole{6, 3, 5}));
}

BOOST_AUTO_TEST_CASE(a_result_becomes_a_tensor_and_no_tensor_becomes_a_result_by_itself) {
  static_assert(std::is_convertible_v<result_tensor<matrix>, matrix>);
  static_assert(!std::is_convertible_v<matrix, result_tensor<matrix>>);
  static_assert(!std::is_convertible_v<shape_type, result_tensor<matrix>>);
  const result_tensor<matrix> sized(shape_type{2, 3}), y(counted({2, 3}, 5));
  BOOST_TEST((sized.shape() == shape_type{2, 3}));
  BOOST_TEST((y == counted({2, 3}, 5)));
}

BOOST_AUTO_TEST_SUITE_END()
