// The messages and memory of a linear layer equal the prediction, byte for byte, on every worker, for every algorithm.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <cstdlib>
#include <partita/nn/linear.hpp>
#include <partita/plan/linear_cost.hpp>
#include <string>
#include <vector>

#include "../support/message_count.hpp"

namespace {

using namespace partita;

/// A layer with weights on the first workers, and with x on their row 0 and y on their column 0, or both on all of
/// them.
template <linear_algorithm Algorithm>
struct placed_layer {
  linear_problem problem;
  std::array<std::size_t, 2> shape;
  partition<extents<dynamic, dynamic>> p_w;
  partition<extents<1, dynamic>> p_x, p_y;
  linear<float, Algorithm> layer;
  xt::xtensor<float, 2> x, dy;

  placed_layer(const world& everyone, const linear_problem& given, const std::array<std::size_t, 2>& grid)
      : problem(given),
        shape(grid),
        p_w(everyone.partition(extents<dynamic, dynamic>(grid[0], grid[1]))),
        p_x(everyone.partition(extents<1, dynamic>(parts(grid[1])))),
        p_y(everyone.partition(extents<1, dynamic>(parts(grid[0])), column(grid))),
        layer(p_x, p_y, p_w,
              {.in_features = given.in_features, .out_features = given.out_features, .bias = given.bias}),
        x(block(p_x, given.in_features)),
        dy(block(p_y, given.out_features)) {}

  void round() {
    layer(x);
    layer.adjoint(dy);
  }
  linear_cost predicted() const {
    return p_w.active() ? predict(Algorithm, problem, shape, p_w.index()) : linear_cost{};
  }

 private:
  std::size_t parts(std::size_t along) const { return Algorithm == weight_stationary ? along : shape[0] * shape[1]; }
  static workers column(const std::array<std::size_t, 2>& grid) {
    if (Algorithm != weight_stationary) return workers(0, grid[0] * grid[1]);
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < grid[0]; ++i) ids.push_back(i * grid[1]);
    return workers(ids);
  }
  xt::xtensor<float, 2> block(const partition<extents<1, dynamic>>& p, std::size_t features) const {
    if (!p.active()) return zero_volume<float, 2>(problem.batch);
    return xt::ones<float>({problem.batch, balanced_part(features, p.size(), p.index()[1]).size()});
  }
};

/// Calls f with every grid that fits on the workers, with even and uneven sizes.
template <linear_algorithm Algorithm, class F>
void for_each_layer(const world& everyone, F f) {
  for (std::size_t f_out = 1; f_out <= everyone.size(); ++f_out)
    for (std::size_t f_in = 1; f_out * f_in <= everyone.size(); ++f_in) {
      if ((Algorithm == column_parallel && f_in != 1) || (Algorithm == row_parallel && f_out != 1)) continue;
      for (const linear_problem& problem : {linear_problem{24, 60, 36}, {5, 7, 11}, {96, 130, 40, 4, false}}) {
        placed_layer<Algorithm> placed(everyone, problem, {f_out, f_in});
        const std::string name = std::to_string(f_out) + " x " + std::to_string(f_in) + ", " +
                                 std::to_string(problem.in_features) + " features";
        BOOST_TEST_CONTEXT(name) f(placed);
      }
    }
}

template <linear_algorithm Algorithm>
void expect_bytes(const world& everyone) {
  for_each_layer<Algorithm>(everyone, [](auto& placed) {
    placed.round();
    placed.round();
    const std::size_t before = test::bytes_sent();
    placed.round();
    const std::size_t sent = test::bytes_sent() - before;
    BOOST_TEST(sent == placed.predicted().sent_bytes);
  });
}

template <linear_algorithm Algorithm>
void expect_memory(const world& everyone) {
  const std::size_t before = pooled.bytes_in_use;
  for_each_layer<Algorithm>(everyone, [&](auto& placed) {
    placed.round();
    placed.round();
    pooled.reset_peak();
    placed.round();
    const std::size_t weights = (placed.layer.weight().size() + placed.layer.weight_gradient().size() +
                                 placed.layer.bias().size() + placed.layer.bias_gradient().size()) *
                                sizeof(float);
    const std::size_t held = pooled.most - before + weights;
    BOOST_TEST(held == placed.predicted().peak_bytes);
  });
}

/// During its lifetime, workers of new worlds use messages only.
struct without_shared_memory {
  without_shared_memory() { ::setenv("PARTITA_SHARED", "0", 1); }
  without_shared_memory(const without_shared_memory&) = delete;
  ~without_shared_memory() { ::unsetenv("PARTITA_SHARED"); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_cost_of_a_linear_layer)

BOOST_AUTO_TEST_CASE(the_bytes_sent_are_those_predicted) {
  if (std::getenv("PARTITA_SHARED") != nullptr || std::getenv("PARTITA_NODES") != nullptr)
    return;  // the environment has decided
  const without_shared_memory here;
  const world everyone(test::workers());
  expect_bytes<weight_stationary>(everyone);
  expect_bytes<column_parallel>(everyone);
  expect_bytes<row_parallel>(everyone);
}

BOOST_AUTO_TEST_CASE(the_memory_held_is_that_predicted) {
  // with several nodes all_gather and reduce_scatter also hold data that they forward within the node
  const test::pretended one("PARTITA_NODES", "1");
  const world everyone(test::workers());
  expect_memory<weight_stationary>(everyone);
  expect_memory<column_parallel>(everyone);
  expect_memory<row_parallel>(everyone);
}

BOOST_AUTO_TEST_SUITE_END()
