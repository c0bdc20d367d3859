// b += k(x) for results of kernels: the sum by NumPy's rule, as xtensor computes it for its own tensors.
#include <partita/array/result_tensor.hpp>

#include <array>
#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_SUITE_END()
