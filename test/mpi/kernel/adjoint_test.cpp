// The public adjoint test: kernels that pass it, kernels that fail it, and errors that are the same on all workers.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// Doubles its argument; the direction in `wrong_on` is wrong on the last worker.
struct twice {
  enum class fault { none, adjoint, shape } what = fault::none;
  bool here = false;

  matrix operator()(const matrix& x) const {
    if (what == fault::shape && here) return matrix::from_shape({x.shape()[1] + 1, x.shape()[0]});
    return 2 * x;
  }
  matrix adjoint(const matrix& y) const { return (what == fault::adjoint && here ? 3.0 : 2.0) * y; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(adjoint_test_of_operators)

BOOST_AUTO_TEST_CASE(an_adjoint_passes_and_a_wrong_one_on_one_worker_does_not) {
  const world everyone(test::workers());
  const bool last = everyone.id() + 1 == everyone.size();
  const matrix x{{1, 2, 3}, {4, 5, 6}}, y{{3, 1, 2}, {5, 4, 7}};
  BOOST_TEST(adjoint_test(everyone, twice{}, x, y).exact());
  BOOST_TEST(!adjoint_test(everyone, twice{twice::fault::adjoint, last}, x, y).exact());
}

BOOST_AUTO_TEST_CASE(the_first_block_of_a_scalar_product_is_conjugated) {
  using number = std::complex<double>;
  const xt::xtensor<number, 1> a{number(1, 2), number(0, 1)}, b{number(3, 4), number(5, 0)};
  BOOST_TEST((local_dot(a, b) == number(11, -7)));  // (1 - 2i)(3 + 4i) - i 5
  BOOST_TEST((local_dot(b, a) == number(11, 7)));
  BOOST_TEST((local_dot(a, a) == number(6, 0)));
  BOOST_TEST(local_dot(matrix{{1, 2}, {3, 4}}, matrix{{5, 6}, {7, 8}}) == 70);
  BOOST_TEST((local_dot(xt::xtensor<number, 0>(number(0, 2)), xt::xtensor<number, 0>(number(3, 0))) == number(0, -6)));
  struct {  // the product with i, whose adjoint is the product with -i
    xt::xtensor<number, 1> operator()(const xt::xtensor<number, 1>& x) const { return number(0, 1) * x; }
    xt::xtensor<number, 1> adjoint(const xt::xtensor<number, 1>& y) const { return number(0, -1) * y; }
  } const turn;
  const world everyone(test::workers());
  const auto products = adjoint_test(everyone, turn, a, b);
  const auto count = static_cast<double>(everyone.size());
  BOOST_TEST((products.forward == number(-7, -11) * count));  // -i of the first block, times (11 - 7i)
  BOOST_TEST(products.exact());
}

BOOST_AUTO_TEST_CASE(zero_volumes_of_inactive_workers_may_have_any_batch) {
  const world everyone(test::workers());
  const bool active = everyone.id() == 0;
  const matrix x = active ? matrix{{1, 2}, {3, 4}} : zero_volume<double, 2>(1);
  const matrix y = active ? matrix{{4, 3}, {2, 1}} : zero_volume<double, 2>(2);
  const auto products = adjoint_test(everyone, twice{}, x, y);
  BOOST_TEST(products.forward == 40);
  BOOST_TEST(products.backward == 40);
}

BOOST_AUTO_TEST_CASE(a_block_of_another_shape_on_one_worker_is_refused_on_all) {
  const world everyone(test::workers());
  const bool last = everyone.id() + 1 == everyone.size();
  const matrix x{{1, 2, 3}, {4, 5, 6}};
  const auto said = test::refused<shape_error>([&] { adjoint_test(everyone, twice{twice::fault::shape, last}, x, x); });
  BOOST_TEST(said.find("requires blocks of one shape, got [4, 2] and [2, 3]") != std::string::npos,
             "it says: " << said);
  BOOST_TEST(adjoint_test(everyone, twice{}, x, x).exact());
}

BOOST_AUTO_TEST_SUITE_END()
