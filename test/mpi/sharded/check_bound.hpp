// Compares a bound program with its traced program called as a function: the results are bitwise identical, and the
// bound program allocates nothing and needs one agreement in each direction.
#pragma once

#include "layouts.hpp"

#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <utility>
#include <vector>
#include "../support/allocation_count.hpp"

namespace test {

using namespace partita;

inline sharded_tensor<double> made(const world& everyone, const sharding& layout, const shape_list& extents, int salt) {
  return shard<double>(everyone, layout, extents,
                       [=](const auto& index) { return static_cast<double>(numbered(index, salt) * 7 % 13 - 6) / 8; });
}
inline bool same_blocks(const sharded_tensor<double>& a, const sharded_tensor<double>& b) {
  bool all = a.layout().same_layout(b.layout()) && a.size() == b.size();
  for (std::size_t k = 0; all && a.state()->active() && k < a.size(); ++k) all = a.data()[k] == b.data()[k];
  return all;
}

/// The number of calls of this worker in all worlds, each with one agreement.
inline std::uint64_t calls() { return detail::status_slots::instance().own_slot().call_count; }

/// An argument with the layout that completion has given it.
inline sharded_tensor<double> argument(const world& everyone, const traced_function& program, std::size_t k,
                                       int round = 0) {
  sharding layout = program.complete()[program.input(k)];
  layout.open = layout.must_replicate = 0;
  return made(everyone, layout, program.operations()[program.input(k)].shape, static_cast<int>(k) + 1 + 10 * round);
}

/// Runs the traced program forward and backward as a function, and the bound one, in three rounds with other values.
/// The bound one executes its steps in the order of the program, and while movements are pending.
template <std::size_t... I>
void check_bound(const world& everyone, const traced_function& program, std::index_sequence<I...>) {
  bound_program<double> steps[] = {program.bind<double>(everyone, {I...}, {.overlap = false}),
                                   program.bind<double>(everyone, {I...}, {.overlap = true})};
  std::uint64_t agreements = 0;
  for (int round = 0; round < 3; ++round) {
    const std::vector<sharded_tensor<double>> x{detail::parameter_of(argument(everyone, program, I, round))...};
    const auto y = program(x[I]...);
    const auto dy = made(everyone, layout_of_cotangent(y.layout()), y.extents(), 99 + round);
    detail::run_backward(y, dy);
    const auto bare = std::vector{stop_gradient(x[I])...};
    for (auto& step : steps) {
      const std::size_t before = allocations();
      const std::uint64_t called = calls();
      const auto& z = step(bare[I]...);
      const auto& gradients = step.backward(dy);
      agreements += calls() - called;
      const std::size_t allocated = allocations() - before;
      if (round > 0) BOOST_TEST(allocated == 0U);
      BOOST_TEST(same_blocks(z, y));
      for (std::size_t k = 0; k < x.size(); ++k) BOOST_TEST(same_blocks(gradients[k], detail::gradient_of(x[k])));
    }
    if (dy.state()->active()) BOOST_TEST(steps[0].bytes_held() < steps[0].bytes_without_sharing());
  }
  BOOST_TEST(agreements == 12U);
}

}  // namespace test
