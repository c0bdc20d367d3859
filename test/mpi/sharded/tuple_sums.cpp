// Sums of tuples of tensors, as for the gradients of two batches, are element-wise.
#include "check_operation.hpp"

#include <partita/sharded/tuple_sums.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_of_two_batches_are_added_up) {
  const xt::xtensor<double, 1> a{1, 2, 3};
  const xt::xtensor<double, 2> b{{4, 5}};
  const auto loss = [](double weight) {
    return [weight](const auto& x, const auto& y) {
      return add(multiply(sum(multiply(x, x)), weight), sum(multiply(y, weight)));
    };
  };
  const auto one = value_and_gradient(loss(1), a, b), two = value_and_gradient(loss(10), a, b);
  const auto both = one.gradients + two.gradients;
  static_assert(
      std::is_same_v<std::remove_cvref_t<decltype(both)>, std::tuple<xt::xtensor<double, 1>, xt::xtensor<double, 2>>>);
  BOOST_TEST((std::get<0>(both) == xt::xtensor<double, 1>{22, 44, 66}));
  BOOST_TEST((std::get<1>(both) == xt::xtensor<double, 2>{{11, 11}}));

  const world everyone(test::workers());
  const mesh line{axis{"data", everyone.size()}};
  const auto A = shard(everyone, line.layout("data"), a);
  const auto B = shard(everyone, line.layout("", "data"), b);
  const auto sums = add(value_and_gradient(loss(1), A, B).gradients, value_and_gradient(loss(10), A, B).gradients);
  BOOST_TEST((reshard(std::get<0>(sums), line.layout("")).whole<1>() == std::get<0>(both)));
  BOOST_TEST((reshard(std::get<1>(sums), line.layout("", "")).whole<2>() == std::get<1>(both)));
}

BOOST_AUTO_TEST_CASE(typed_tensors_keep_their_layouts_when_tuples_are_added, *test::at_least(4)) {
  const world everyone(test::workers());
  const xt::xtensor<double, 2> x{{1, 2}, {3, 4}};
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto Y = shard<m.layout("", "model")>(everyone, x);
  const auto all = std::tuple(X, Y) + std::tuple(X, Y);
  static_assert(std::tuple_element_t<0, std::remove_cvref_t<decltype(all)>>::layout() == m.layout("data", "model"));
  static_assert(std::tuple_element_t<1, std::remove_cvref_t<decltype(all)>>::layout() == m.layout("", "model"));
  const auto whole = reshard<m.layout("", "")>(std::get<0>(all)).whole();
  if (everyone.id() < 4) BOOST_TEST((whole == xt::xtensor<double, 2>{{2, 4}, {6, 8}}));
}
