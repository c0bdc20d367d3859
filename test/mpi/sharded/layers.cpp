// Norms and losses as functions of tensors, and a network of all layers: for arrays, typed, run-time and traced
// tensors.
#include "check_operation.hpp"
#include "distance.hpp"

#include <cmath>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

template <std::size_t N>
xt::xtensor<double, N> numbers(const std::array<std::size_t, N>& shape, double salt) {
  xt::xtensor<double, N> x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = std::sin(salt + 1.7 * static_cast<double>(k));
  return x;
}
template <class X, class Y>
double apart(const X& x, const Y& y) {
  double most = x.shape() == y.shape() ? 0 : 1;
  for (std::size_t k = 0; k < x.size() && most < 1; ++k)
    most = std::max(most, test::distance_between(x.data()[k], y.data()[k]));
  return most;
}

/// Images and the parameters of a small network.
const auto network = [](const auto& x, const auto& w, const auto& b, const auto& gamma, const auto& beta) {
  const auto y = normalise_batch(convolve<2>(x, w, b, {.padding = {1, 1}}), gamma, beta);
  const auto small = average_pool<2>(max_pool<2>(y, {.kernel = {2, 2}}), {.kernel = {2, 1}});
  return upsample<2>(normalise_groups<2>(normalise_rms(small, slice(gamma, dimensions<0>, {0, 3})), gamma, beta),
                     {.scale = 2});
};

}  // namespace

BOOST_AUTO_TEST_CASE(groups_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(23);
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(16); ++k) {
    const std::size_t n = random() % 4, c = 2 * (random() % 3), s = random() % 6;
    test::check_linear(everyone, "sums", random, {{n, c, s}},
                       [](const v& x) { return apply_op(detail::group_sums_operation<2>{}, x[0]); });
    test::check_linear(everyone, "shift", random, {{n, c, s}, {n, std::size_t{2}}},
                       [](const v& x) { return apply_op(detail::shift_groups_operation<2, true>{}, x[0], x[1]); });
    test::check(everyone, "scale", random, {{n, c, s}, {n, std::size_t{2}}},
                [](const v& x) { return apply_op(detail::scale_groups_operation<2>{}, x[0], x[1]); });
    test::check(everyone, "losses", random, {{n, s}, {n, s}},
                [](const v& x) { return add(losses::mse(x[0], x[1]), losses::l1(x[1], x[0])); });
  }
}

BOOST_AUTO_TEST_CASE(extents_that_a_layer_does_not_fit_are_refused) {
  const auto x = numbers<3>({3, 2, 4}, 1);
  const xt::xtensor<double, 1> gamma{2, 3}, beta{5, -1};
  BOOST_CHECK_THROW(normalise_groups<3>(x, gamma, beta), shape_error);
  BOOST_CHECK_THROW(convolve<1>(x, numbers<3>({2, 3, 1}, 1)), shape_error);
  BOOST_CHECK_THROW(convolve<1>(x, numbers<3>({2, 2, 5}, 1)), shape_error);
  BOOST_CHECK_THROW(max_pool<1>(x, {.kernel = {5}}), shape_error);
}

BOOST_AUTO_TEST_CASE(a_network_is_one_program_for_all, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"rows", 2}};
  const auto x = numbers<4>({3, 2, 8, 6}, 1);
  const auto w = numbers<4>({4, 2, 3, 3}, 2);
  const auto b = numbers<1>({4}, 3), gamma = numbers<1>({4}, 4), beta = numbers<1>({4}, 5);
  const auto y = network(x, w, b, gamma, beta);
  const auto X = shard<m.layout("data", "", "rows", "")>(everyone, x);
  const auto W = shard<m.layout("", "", "", "")>(everyone, w);
  const auto B = shard<m.layout("")>(everyone, b), G = shard<m.layout("")>(everyone, gamma),
             C = shard<m.layout("")>(everyone, beta);
  const auto Y = network(X, W, B, G, C);
  static_assert(decltype(convolve<2>(X, W))::layout() == m.layout("data", "", "rows", ""));
  static_assert(decltype(max_pool<2>(X, {.kernel = {2, 2}}))::layout() == m.layout("data", "", "rows", ""));
  const auto typed = reshard<m.layout("", "", "", "")>(Y).whole();
  const auto in_channels = shard(everyone, m.layout("", "data", "", "rows"), x);
  const auto run_time_tensor =
      reshard(network(in_channels, W.run_time_tensor(), B.run_time_tensor(), G.run_time_tensor(), C.run_time_tensor()),
              m.layout("", "", "", ""))
          .whole<4>();
  const auto program = trace(network, spec(m.layout("data", "", "rows", ""), {3, 2, 8, 6}), spec({4, 2, 3, 3}),
                             spec({4}), spec({4}), spec({4}));
  const auto traced = reshard(program(X, W, B, G, C), m.layout("", "", "", "")).whole<4>();
  const auto loss = [&](const auto& images, const auto&... weights) {
    return sum(losses::smooth_l1(network(images, weights...),
                                 multiply(network(stop_gradient(images), stop_gradient(weights)...), 2)));
  };
  const auto [value, gradients] = value_and_gradient(loss, X.run_time_tensor(), W.run_time_tensor(),
                                                     B.run_time_tensor(), G.run_time_tensor(), C.run_time_tensor());
  const auto at_one = [&](const auto& all, std::size_t rank) { return shard(everyone, sharding(m, rank), all); };
  const auto [same, expected] =
      value_and_gradient(loss, at_one(x, 4), at_one(w, 4), at_one(b, 1), at_one(gamma, 1), at_one(beta, 1));
  const auto dx = std::get<0>(gradients).whole<4>(), dx_there = std::get<0>(expected).whole<4>();
  const auto dw = std::get<1>(gradients).whole<4>(), dw_there = std::get<1>(expected).whole<4>();
  const auto dg = std::get<3>(gradients).whole<1>(), dg_there = std::get<3>(expected).whole<1>();
  if (everyone.id() >= 4) return;
  BOOST_TEST(apart(typed, y) < 1e-12);
  BOOST_TEST(apart(run_time_tensor, y) < 1e-12);
  BOOST_TEST(apart(traced, y) < 1e-12);
  BOOST_TEST(std::abs(value - same) < 1e-12);
  BOOST_TEST(apart(dx, dx_there) < 1e-12);
  BOOST_TEST(apart(dw, dw_there) < 1e-12);
  BOOST_TEST(apart(dg, dg_there) < 1e-12);
}
