// A kernel that was used before gives what a new one gives: for blocks of different shapes with the same volume,
// elements of other types with the same size, and other values, in random order, forward and adjoint.
#include "mpi_test.hpp"
#include "random_cases.hpp"

#include <array>
#include <cstdint>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/linear.hpp>
#include <random>

namespace {

using namespace partita;
using shape = std::array<std::size_t, 2>;

constexpr std::array<shape, 8> shapes{{{1, 24}, {2, 12}, {3, 8}, {4, 6}, {6, 4}, {8, 3}, {12, 2}, {24, 1}}};

template <class T>
xt::xtensor<T, 2> block(const shape& extents, std::size_t seed) {
  xt::xtensor<T, 2> x(extents);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<T>((k * 7 + seed * 13) % 31) - T(15);
  return x;
}

/// One call forward and one back, of the kernel that is kept and of a new one.
template <class T, class Kept, class Make>
void expect_as_new(const char* name, const Kept& kept, Make make, bool active, const shape& extents, std::size_t seed) {
  const auto fresh = make();
  const xt::xtensor<T, 2> x = active ? block<T>(extents, seed) : zero_volume<T, 2>();
  const xt::xtensor<T, 2> y = kept(x), wanted = fresh(x);
  BOOST_TEST((y == wanted), name << " of blocks of " << extents[0] << " x " << extents[1]);
  const xt::xtensor<T, 2> dy = y + T(1 + seed % 5);
  const xt::xtensor<T, 2> dx = kept.adjoint(dy), wanted_dx = fresh.adjoint(dy);
  BOOST_TEST((dx == wanted_dx), name << ".adjoint of blocks of " << extents[0] << " x " << extents[1]);
}

/// Calls f with a value of one of the types.
template <class F>
void of_some_type(std::size_t which, F f) {
  switch (which % 4) {
    case 0:
      return f(double{});
    case 1:
      return f(std::int64_t{});
    case 2:
      return f(float{});
    default:
      return f(std::int32_t{});
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_change)

BOOST_AUTO_TEST_CASE(a_kernel_that_was_used_before_gives_what_a_new_one_gives) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const auto one = everyone.partition<1, 1>(workers(P - 1, P));
  const auto rows = everyone.partition(extents<dynamic, 1>(P));
  const auto columns = everyone.partition(extents<1, dynamic>(P));
  const auto with = [&](const char* name, auto make, bool active) {
    return [name, make, active, kept = make()](std::size_t type, const shape& s, std::size_t seed) {
      of_some_type(type, [&](auto zero) { expect_as_new<decltype(zero)>(name, kept, make, active, s, seed); });
    };
  };
  const auto kernels = std::tuple{
      with(
          "broadcast", [&] { return broadcast(one, rows); }, one.active()),
      with(
          "sum_reduce", [&] { return sum_reduce(rows, one); }, true),
      with(
          "all_sum_reduce", [&] { return all_sum_reduce(rows, dimensions<0>); }, true),
      with(
          "all_sum_reduce, reproducible", [&] { return all_sum_reduce(rows, dimensions<0>, reproducible); }, true),
      with(
          "repartition", [&] { return repartition(rows, columns); }, true),
      with(
          "scatter", [&] { return repartition(one, rows); }, one.active()),
      with(
          "all_gather", [&] { return all_gather(rows, dimensions<0>); }, true),
      with(
          "reduce_scatter", [&] { return reduce_scatter(rows, dimensions<0>); }, true),
      with(
          "halo_exchange",
          [&] {
            return halo_exchange(rows, {{1, 1}, {1, 1}}, boundary::periodic);
          },
          true)};
  std::mt19937 random(29);  // the same on all workers
  for (std::size_t k = 0; k < test::random_cases(200); ++k) {
    const std::size_t which = random() % std::tuple_size_v<decltype(kernels)>, type = random();
    const shape s = shapes[random() % shapes.size()];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((which == I ? std::get<I>(kernels)(type, s, k + everyone.id()) : void()), ...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(kernels)>>());
  }
}

BOOST_AUTO_TEST_CASE(a_linear_layer_adds_up_the_gradients_of_all_batches) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const auto p_x = everyone.partition(extents<1, dynamic>(P)), p_y = p_x;
  const auto p_w = everyone.partition(extents<dynamic, dynamic>(P, 1));
  const auto p_one = everyone.partition<1, 1>();
  const auto make = [&] {
    linear<double> layer(p_one, p_y, p_w, {.in_features = 3, .out_features = 2 * P});
    for (std::size_t k = 0; k < layer.weight().size(); ++k) layer.weight().data()[k] = static_cast<double>(k % 5) - 2;
    for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias().data()[k] = static_cast<double>(k % 3);
    return layer;
  };
  auto kept = make();
  xt::xtensor<double, 2> sum = xt::zeros_like(kept.weight());
  std::mt19937 random(31);
  for (std::size_t k = 0; k < 12; ++k) {
    const std::size_t batch = 1 + random() % 40;
    auto fresh = make();
    const xt::xtensor<double, 2> x = p_one.active() ? block<double>({batch, 3}, k) : zero_volume<double, 2>(batch);
    const xt::xtensor<double, 2> y = kept(x), wanted = fresh(x);
    BOOST_TEST((y == wanted));
    const xt::xtensor<double, 2> dy = y + 1;
    const xt::xtensor<double, 2> dx = kept.adjoint(dy), wanted_dx = fresh.adjoint(dy);
    BOOST_TEST((dx == wanted_dx));
    sum += fresh.weight_gradient();
    BOOST_TEST((kept.weight_gradient() == sum));
  }
}

BOOST_AUTO_TEST_SUITE_END()
