// Compares an operation along the lines of a tensor of rank 3 with its definition, on plain arrays, run-time tensors
// and traced programs.
#pragma once

#include <cmath>
#include <mpi_test.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

namespace test {

using cube = xt::xtensor<double, 3>;

/// Whether all elements are equal, or NaN in both.
inline bool same(const cube& a, const cube& b) {
  bool all = a.shape() == b.shape();
  for (std::size_t k = 0; all && k < a.size(); ++k)
    all = a.data()[k] == b.data()[k] || (std::isnan(a.data()[k]) && std::isnan(b.data()[k]));
  return all;
}
inline cube gathered(const partita::sharded_tensor<double>& x) {
  return reshard(x, partita::sharding(x.layout().on, 3)).whole<3>();
}

/// The tensor X of x, and an operation on it with its traced program.
template <class F>
struct operation_along {
  const F& f;
  const cube& x;
  const partita::sharded_tensor<double>& X;
  partita::traced_function program;

  operation_along(const F& function, const cube& whole, const partita::sharded_tensor<double>& cut)
      : f(function),
        x(whole),
        X(cut),
        program(partita::trace(function,
                               partita::spec(cut.layout(), {whole.shape()[0], whole.shape()[1], whole.shape()[2]}))) {}

  /// Expects f(x) to be y, and the gradient of loss(f, weights) to be dx, where W has the weights. Collective.
  template <class Loss>
  void expect(const cube& y, const cube& dx, const Loss& loss, const cube& weights,
              const partita::sharded_tensor<double>& W, const partita::text& how) const {
    BOOST_TEST(same(f(x), y), how);
    BOOST_TEST(same(std::get<0>(partita::value_and_gradient(loss(f, weights), x).gradients), dx), how);
    const auto parts = partita::value_and_gradient(loss(f, W), X),
               traced = partita::value_and_gradient(loss(program, W), X);
    const cube whole = gathered(f(X)), whole_dx = gathered(std::get<0>(parts.gradients)),
               of_program = gathered(program(X)), of_program_dx = gathered(std::get<0>(traced.gradients));
    if (!X.state()->on->active()) return;
    BOOST_TEST(same(whole, y), how);
    BOOST_TEST(same(whole_dx, dx), how);
    BOOST_TEST(same(of_program, y), how);
    BOOST_TEST(same(of_program_dx, dx), how);
  }
};

}  // namespace test
