// The adjoint of a linear layer computes the gradient of the weights while dx is summed. The order of events shows it,
// not a clock.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <string>

#include "../support/product_watch.hpp"
#include "../support/words.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

double weight_at(std::size_t o, std::size_t i) { return static_cast<double>((7 * o + 3 * i) % 11) - 5; }

template <class P>
matrix block(const P& p, std::size_t rows, std::size_t features, std::size_t shift) {
  if (!p.active()) return zero_volume<double, 2>(rows);
  const interval own = balanced_part(features, p.size(), p.index()[1]);
  matrix x({rows, own.size()});
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < own.size(); ++j)
      x(r, j) = static_cast<double>((3 * r + 5 * (own.start + j) + shift) % 9) - 4;
  return x;
}

/// Removes the watch at the end of a case, also after an exception.
struct watching {
  ~watching() { test::watched_products() = {}; }
};

/// Checks that one worker has the gradient of its weights before any other worker has computed its part of dx.
template <linear_algorithm Algorithm>
void expect_overlap(const world& everyone, std::size_t f_x, std::size_t f_out, std::size_t f_in, std::size_t features) {
  const boost::mpi::communicator outside = test::workers();
  const auto p_x = everyone.partition(extents(1, f_x)), p_y = everyone.partition(extents(1, f_out));
  linear<double, Algorithm> layer(p_x, p_y, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = features, .out_features = features});
  initialise(layer, weight_at);
  const matrix x = block(p_x, 12, features, 0), dy = block(p_y, 12, features, 4);
  layer(x);
  const matrix dx = layer.adjoint(dy);
  const matrix gradient = layer.weight_gradient();
  const auto me = static_cast<int>(everyone.id());
  for (int early = 0; early < outside.size(); ++early) {
    layer(x);
    layer.zero_gradients();
    int before = 0, after = 0;
    bool heard = true;
    const watching until_the_end;
    test::watched_products() = {[&] {
                                  if (++before == 1 && me != early) heard = test::hears_from(outside, early);
                                },
                                [&] {
                                  if (++after == 2 && me == early) test::tell_all(outside);
                                }};
    const matrix again = layer.adjoint(dy);
    test::watched_products() = {};
    BOOST_TEST(before == 2);  // first dx, then the gradient
    BOOST_TEST(after == 2);
    BOOST_TEST(heard, "worker " << early << " waits for the others' products before it computes its gradient");
    BOOST_TEST((again == dx));
    BOOST_TEST((layer.weight_gradient() == gradient));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_adjoint_of_a_linear_layer)

BOOST_AUTO_TEST_CASE(computes_the_gradient_of_the_weights_before_others_have_their_share_of_dx, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  for (const std::size_t features : {2 * n, 60 * n}) {  // through slots, and directly in shared blocks
    expect_overlap<weight_stationary>(everyone, 1, n, 1, features);
    if (n % 2 == 0) expect_overlap<weight_stationary>(everyone, 2, n / 2, 2, features);
    expect_overlap<column_parallel>(everyone, n, n, 1, features);
  }
}

BOOST_AUTO_TEST_CASE(multiplies_nothing_if_it_is_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n));
  linear<double, column_parallel> layer(p, p, everyone.partition(extents(n, 1)),
                                        {.in_features = 4 * n, .out_features = 4 * n});
  initialise(layer, weight_at);
  const matrix x = block(p, 5, 4 * n, 0), dy = block(p, 5, 4 * n, 1), wrong = xt::ones<double>({4, 4});
  layer(x);
  layer.adjoint(dy);
  const matrix gradient = layer.weight_gradient();
  std::size_t products = 0;
  const watching until_the_end;
  test::watched_products().before = [&] { ++products; };
  const std::string said = test::refused([&] { layer.adjoint(everyone.id() + 1 == n ? wrong : dy); });
  test::watched_products() = {};
  BOOST_TEST(said.find("requires dy of the shape of the last result") != std::string::npos);
  BOOST_TEST(products == 0U);
  BOOST_TEST((layer.weight_gradient() == gradient));
}

BOOST_AUTO_TEST_SUITE_END()
