// Compares the linear layer with y = x W^T + b, which every worker computes itself from integers, so results are exact.
#include "layer_twin.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/plan/cut.hpp>
#include <partita/plan/linear_cost.hpp>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../support/allocation_count.hpp"
#include "../support/message_count.hpp"

namespace {

using namespace partita;
using test::refused;
using elements = std::tuple<float, double, std::complex<float>, std::complex<double>>;

/// The elements of the global tensors, as functions of the global index.
double x_at(std::size_t row, std::size_t i) { return static_cast<double>((3 * row + 5 * i) % 9) - 4; }
double w_at(std::size_t o, std::size_t i) { return static_cast<double>((7 * o + 3 * i) % 11) - 5; }
double b_at(std::size_t o) { return static_cast<double>(5 * o % 13) - 6; }
double dy_at(std::size_t row, std::size_t o) { return static_cast<double>((2 * row + 3 * o) % 7) - 3; }

struct row {
  const char* name;
  std::size_t f_out, f_in;
  std::vector<std::size_t> x, y, w;  // workers
  std::size_t in, out;
};

const std::vector<row> table = {
    {"one worker", 1, 1, {0}, {0}, {0}, 5, 3},
    {"everything elsewhere", 1, 1, {0}, {1}, {2}, 4, 6},
    {"a row of two", 1, 2, {0, 1}, {0}, {0, 1}, 7, 2},
    {"a column of two", 2, 1, {1}, {1, 0}, {0, 1}, 3, 5},
    {"a row of three, uneven", 1, 3, {2, 0, 1}, {1}, {0, 1, 2}, 7, 4},
    {"two by two", 2, 2, {0, 1}, {2, 3}, {0, 1, 2, 3}, 8, 6},
    {"two by two, any order, uneven", 2, 2, {3, 1}, {1, 0}, {2, 0, 3, 1}, 7, 5},
    {"fewer features than workers", 2, 2, {0, 2}, {0, 1}, {0, 1, 2, 3}, 1, 1},
    {"two by three", 2, 3, {0, 1, 2}, {3, 5}, {0, 1, 2, 3, 4, 5}, 10, 7},
    {"three by two", 3, 2, {4, 5}, {0, 1, 2}, {5, 4, 3, 2, 1, 0}, 5, 8},
    {"three by four", 3, 4, {0, 1, 2, 3}, {4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 16, 12},
};

/// This worker's block of a matrix whose columns are partitioned over p.
template <class P, class At>
xt::xtensor<double, 2> block(const P& p, std::size_t rows, std::size_t features, At at) {
  if (!p.active()) return zero_volume<double, 2>(rows);
  const interval own = balanced_part(features, p.size(), p.index()[1]);
  xt::xtensor<double, 2> x({rows, own.size()});
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < own.size(); ++j) x(r, j) = at(r, own.start + j);
  return x;
}

template <linear_algorithm Algorithm = weight_stationary>
void expect_layer(const world& everyone, const row& r, bool bias) {
  const std::size_t parts = Algorithm == weight_stationary ? 0 : r.x.size();
  const auto p_x = everyone.partition(extents(1, parts != 0 ? parts : r.f_in), workers(r.x)),
             p_y = everyone.partition(extents(1, parts != 0 ? parts : r.f_out), workers(r.y)),
             p_w = everyone.partition(extents(r.f_out, r.f_in), workers(r.w));
  linear<double, Algorithm> layer(p_x, p_y, p_w, {.in_features = r.in, .out_features = r.out, .bias = bias});
  if (bias) initialise(layer, w_at);
  else layer.weight() = block_from(p_w, extents(r.out, r.in), w_at);  // has another shape where p_w has no worker
  const box<2> mine = layer.weight_box();
  for (std::size_t o = 0; o < layer.bias().size(); ++o) layer.bias()(o) = b_at(mine.start[0] + o);
  BOOST_TEST((layer.bias().size() != 0) ==
             (bias && p_w.active() && p_w.index()[1] == 0 && layer.weight().shape()[0] != 0));
  const linear_plan plan = layer.plan();
  BOOST_TEST((plan.worker == everyone.id() && plan.algorithm == Algorithm && plan.weights == mine));
  BOOST_TEST((plan.holds_weights == p_w.active()));
  BOOST_TEST((plan.has_bias == (bias && p_w.active() && p_w.index()[1] == 0)));
  if constexpr (Algorithm == weight_stationary) {
    BOOST_TEST((plan.input == broadcast(p_x, p_w).plan() && plan.members.empty()));
    BOOST_TEST((plan.output == sum_reduce(p_w, p_y, transpose_src).plan()));
  } else {
    BOOST_TEST((plan.input == group_plan{} && plan.output == group_plan{}));
    BOOST_TEST((plan.members == (p_x.active() ? r.x : std::vector<std::size_t>{})));
  }

  for (std::size_t batch : {3U, 1U, 0U, 20U}) {
    layer.zero_gradients();
    const auto x = block(p_x, batch, r.in, x_at);
    const auto y = layer(x);
    const auto wanted = block(p_y, batch, r.out, [&](std::size_t row, std::size_t o) {
      double sum = bias ? b_at(o) : 0;
      for (std::size_t i = 0; i < r.in; ++i) sum += w_at(o, i) * x_at(row, i);
      return sum;
    });
    if (p_y.active()) BOOST_TEST((y.shape() == wanted.shape() && y == wanted));
    else BOOST_TEST(y.size() == 0U);

    for (int times = 1; times <= 2; ++times) {  // gradients accumulate
      const auto dx = layer.adjoint(block(p_y, batch, r.out, dy_at));
      const auto dx_wanted = block(p_x, batch, r.in, [&](std::size_t row, std::size_t i) {
        double sum = 0;
        for (std::size_t o = 0; o < r.out; ++o) sum += w_at(o, i) * dy_at(row, o);
        return sum;
      });
      if (p_x.active()) BOOST_TEST((dx.shape() == dx_wanted.shape() && dx == dx_wanted));
      else BOOST_TEST(dx.size() == 0U);
      bool right = true;
      for (std::size_t o = mine.start[0]; o < mine.stop[0]; ++o) {
        for (std::size_t i = mine.start[1]; i < mine.stop[1]; ++i) {
          double sum = 0;
          for (std::size_t row = 0; row < batch; ++row) sum += dy_at(row, o) * x_at(row, i);
          right = right && layer.weight_gradient()(o - mine.start[0], i - mine.start[1]) == times * sum;
        }
        double sum = 0;
        for (std::size_t row = 0; row < batch; ++row) sum += dy_at(row, o);
        if (layer.bias().size() != 0) right = right && layer.bias_gradient()(o - mine.start[0]) == times * sum;
      }
      BOOST_TEST(right);
    }
  }
}

/// All grids of two dimensions with so many places.
std::vector<std::pair<std::size_t, std::size_t>> grids_of(std::size_t workers) {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t rows = 1; rows <= workers; ++rows)
    if (workers % rows == 0) all.emplace_back(rows, workers / rows);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_linear_layer)

BOOST_AUTO_TEST_CASE(gives_what_one_worker_computes_on_any_grid) {
  const world everyone(test::workers());
  for (const row& r : table)
    if (workers(r.w).id_end() <= everyone.size() && workers(r.x).id_end() <= everyone.size() &&
        workers(r.y).id_end() <= everyone.size())
      BOOST_TEST_CONTEXT(r.name) {
        expect_layer(everyone, r, true);
        expect_layer(everyone, r, false);
      }
}

BOOST_AUTO_TEST_CASE(gives_the_same_by_either_parallel_algorithm) {
  const world everyone(test::workers());
  for (std::size_t f = 1; f <= everyone.size(); ++f)
    for (const std::array<std::size_t, 2>& features :
         {std::array<std::size_t, 2>{7, 5}, {8, 12}, {1, 9}, {11, 1}, {2, 2}}) {
      std::vector<std::size_t> ids;
      for (std::size_t k = 0; k < f; ++k)
        ids.push_back((f == everyone.size() ? 2 * f - 1 - k : everyone.size() - 1 - k) % everyone.size());
      const std::string name =
          std::to_string(f) + " workers, " + std::to_string(features[0]) + " to " + std::to_string(features[1]);
      BOOST_TEST_CONTEXT(name) for (const bool bias : {true, false}) {
        expect_layer<column_parallel>(everyone, {"", f, 1, ids, ids, ids, features[0], features[1]}, bias);
        expect_layer<row_parallel>(everyone, {"", 1, f, ids, ids, ids, features[0], features[1]}, bias);
      }
    }
}

template <class T, linear_algorithm Algorithm>
void expect_adjoint(const world& everyone, std::size_t f_x, std::size_t f_y, std::size_t f_out, std::size_t f_in) {
  const auto p_x = everyone.partition(extents(1, f_x)), p_y = everyone.partition(extents(1, f_y));
  linear<T, Algorithm> layer(p_x, p_y, everyone.partition(extents(f_out, f_in)),
                             {.in_features = 7, .out_features = 5, .bias = false});
  const auto turned = [](double real) {  // gives complex elements non-zero imaginary parts
    const T element = partita::detail::as_element<T>(real);
    if constexpr (std::is_arithmetic_v<T>) return element;
    else return element * T(1, 2);
  };
  initialise(layer, [&](std::size_t o, std::size_t i) { return turned(w_at(o, i)); });
  const auto own = [&](const xt::xtensor<double, 2>& real) {
    xt::xtensor<T, 2> all(real.shape());
    std::transform(real.begin(), real.end(), all.begin(), turned);
    return all;
  };
  const xt::xtensor<T, 2> x = own(block(p_x, 3, 7, x_at)), dy = own(block(p_y, 3, 5, dy_at));
  BOOST_TEST(adjoint_test(everyone, layer, x, dy).exact());
  layer.zero_gradients();
  layer(x), layer.adjoint(dy);
  const box<2> mine = layer.weight_box();
  const double of_turned = std::is_arithmetic_v<T> ? 1 : 5;  // (1 + 2 i) times its conjugate
  bool right = true;
  for (std::size_t o = mine.start[0]; o < mine.stop[0]; ++o)
    for (std::size_t i = mine.start[1]; i < mine.stop[1]; ++i) {
      double sum = 0;
      for (std::size_t r = 0; r < 3; ++r) sum += dy_at(r, o) * x_at(r, i);
      right = right && layer.weight_gradient()(o - mine.start[0], i - mine.start[1]) ==
                           partita::detail::as_element<T>(of_turned * sum);
    }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(passes_the_adjoint_test_by_every_algorithm, T, elements) {
  const world everyone(test::workers());
  for (std::size_t f = 1; f <= everyone.size(); ++f) {
    expect_adjoint<T, weight_stationary>(everyone, 1, f, f, 1);
    expect_adjoint<T, weight_stationary>(everyone, f, 1, 1, f);
    expect_adjoint<T, column_parallel>(everyone, f, f, f, 1);
    expect_adjoint<T, row_parallel>(everyone, f, f, 1, f);
  }
}

template <linear_algorithm Algorithm>
void expect_steady(const world& everyone, std::size_t f_x, std::size_t f_y, std::size_t f_out, std::size_t f_in) {
  const auto p_x = everyone.partition(extents(1, f_x)), p_y = everyone.partition(extents(1, f_y));
  linear<double, Algorithm> layer(p_x, p_y, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = 70, .out_features = 110});
  const auto x = block(p_x, 40, 70, x_at), dy = block(p_y, 40, 110, dy_at);
  const bool on_one_node = partita::detail::own_node::of(everyone.communicator()).size() == everyone.size() &&
                           partita::detail::arena::environment_allows_sharing();
  std::size_t allocations = 0, messages = 0;
  for (int round = 0; round < 10; ++round) {
    if (round == 4) allocations = test::allocations(), messages = test::messages();
    layer(x);
    layer.adjoint(dy);
  }
  allocations = test::allocations() - allocations,
  messages = test::messages() - messages;  // BOOST_TEST itself allocates
  if (on_one_node || everyone.size() == 1) {
    BOOST_TEST(allocations == 0U);
    BOOST_TEST(messages == 0U);
  }
}

BOOST_AUTO_TEST_CASE(neither_allocates_nor_speaks_to_MPI_in_a_steady_loop_on_one_node) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  expect_steady<weight_stationary>(everyone, 1, n, n, 1);
  expect_steady<weight_stationary>(everyone, n, 1, 1, n);
  if (n % 2 == 0) expect_steady<weight_stationary>(everyone, n / 2, 2, 2, n / 2);
  expect_steady<column_parallel>(everyone, n, n, n, 1);
  expect_steady<row_parallel>(everyone, n, n, 1, n);
}

/// Rows of 2^(row mod 50) with alternating signs, so that a sum shows which rows it contains.
template <linear_algorithm Algorithm>
void expect_bias_gradient(const world& everyone, std::size_t f_x, std::size_t f_y, std::size_t f_out,
                          std::size_t f_in) {
  const auto p_x = everyone.partition(extents(1, f_x)), p_y = everyone.partition(extents(1, f_y));
  linear<double, Algorithm> layer(p_x, p_y, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = 3, .out_features = 7});
  const auto at = [](std::size_t row, std::size_t o) {
    return std::ldexp((row + o) % 2 == 0 ? 1.0 : -1.0, static_cast<int>(row));
  };
  for (const std::size_t batch : {std::size_t{16}, std::size_t{17}, std::size_t{20}, std::size_t{33}}) {
    layer.zero_gradients();
    layer(block(p_x, batch, 3, x_at));
    layer.adjoint(block(p_y, batch, 7, at));
    for (std::size_t o = 0; o < layer.bias().size(); ++o) {
      double wanted = 0;
      for (std::size_t row = 0; row < batch; ++row) wanted += at(row, layer.weight_box().start[0] + o);
      BOOST_TEST(layer.bias_gradient()(o) == wanted);
    }
  }
}

BOOST_AUTO_TEST_CASE(adds_every_row_of_a_long_batch_to_the_bias_gradient) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  expect_bias_gradient<weight_stationary>(everyone, 1, n, n, 1);
  expect_bias_gradient<weight_stationary>(everyone, n, 1, 1, n);
  expect_bias_gradient<column_parallel>(everyone, n, n, n, 1);
  expect_bias_gradient<row_parallel>(everyone, n, n, 1, n);
}

BOOST_AUTO_TEST_CASE(takes_batches_of_any_rank) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents(1, 1, n));
  linear<float> layer(p_x, everyone.partition<1, 1, 1>(), everyone.partition(extents(1, n)),
                      {.in_features = 2 * n, .out_features = 3});
  initialise(layer, w_at);
  const xt::xtensor<float, 3> x = xt::reshape_view(xt::arange<float>(24), std::array<std::size_t, 3>{3, 4, 2});
  const xt::xtensor<float, 2> flat = xt::reshape_view(x, std::array<std::size_t, 2>{12, 2});
  const auto y = layer(x);
  const auto rows = layer(flat);
  const auto single = layer(xt::xtensor<float, 1>(xt::view(flat, 5, xt::all())));
  if (everyone.id() == 0) {
    BOOST_TEST((y.shape() == std::array<std::size_t, 3>{3, 4, 3}));
    for (std::size_t k = 0; k < y.size(); ++k) BOOST_TEST(y.data()[k] == rows.data()[k]);
    for (std::size_t o = 0; o < 3; ++o) BOOST_TEST(single(o) == rows(5, o));
  }
}

/// The parts of complex weights are drawn for themselves: within the bound of real ones / sqrt(2), and not alike.
/// Weights are uniform in (-b, b) for the b of each definition, and a block of the layer holds a part of those that the
/// layer has on one worker.
BOOST_AUTO_TEST_CASE(first_weights_are_those_of_one_worker_on_any_grid) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const linear_options o{.in_features = 40, .out_features = 120, .seed = 7};
  const auto one = alone.partition(extents(std::size_t{1}, std::size_t{1}));
  linear<double> whole(one, one, one, o);
  const auto within = [&](double bound) {
    const auto squares = xt::mean(whole.weight() * whole.weight())();
    BOOST_TEST((xt::amax(xt::abs(whole.weight()))() < bound && xt::amax(xt::abs(whole.weight()))() > 0.98 * bound));
    BOOST_TEST(std::abs(3 * squares / (bound * bound) - 1) < 0.05);
  };
  for (const auto& grid : grids_of(everyone.size())) {
    const std::size_t f_out = grid.first, f_in = grid.second;
    const auto p_x = everyone.partition(extents(std::size_t{1}, f_in)),
               p_y = everyone.partition(extents(std::size_t{1}, f_out)), p_w = everyone.partition(extents(f_out, f_in));
    linear<double> layer(p_x, p_y, p_w, o);
    const auto same = [&] {
      const box<2> mine = layer.weight_box();
      bool equal = true;
      for (std::size_t i = mine.start[0]; i < mine.stop[0]; ++i) {
        for (std::size_t j = mine.start[1]; j < mine.stop[1]; ++j)
          equal = equal && layer.weight()(i - mine.start[0], j - mine.start[1]) == whole.weight()(i, j);
        if (layer.bias().size() != 0) equal = equal && layer.bias()(i - mine.start[0]) == whole.bias()(i);
      }
      BOOST_TEST(equal, f_out << " x " << f_in);
    };
    whole = linear<double>(one, one, one, o);
    same(), within(1 / std::sqrt(40.0));
    kaiming_uniform(layer, 3), kaiming_uniform(whole, 3);
    same(), within(std::sqrt(6 / 40.0));
    xavier_uniform(layer, 3), xavier_uniform(whole, 3);
    same(), within(std::sqrt(6 / 160.0));
  }
}

BOOST_AUTO_TEST_CASE(both_parts_of_complex_weights_are_random) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  const linear<std::complex<double>> layer(one, one, one, {.in_features = 8, .out_features = 500});
  double most[2] = {}, both = 0, squares = 0;
  for (const auto& w : layer.weight()) {
    most[0] = std::max(most[0], std::abs(w.real())), most[1] = std::max(most[1], std::abs(w.imag()));
    both += w.real() * w.imag(), squares += std::norm(w) / 2;
  }
  for (const double part : most) BOOST_TEST((!one.active() || (part < 0.25 && part > 0.24)));
  BOOST_TEST((!one.active() || std::abs(both) < 0.05 * squares));
}

/// Element (o, i) of W is random number o * in_features + i of the seed, and the bias has the numbers after those of W.
BOOST_AUTO_TEST_CASE(first_values_are_numbered_in_C_order_and_each_rule_sets_the_bias_to_0) {
  const world everyone(test::workers());
  const linear_options o{.in_features = 5, .out_features = 7, .seed = 11};
  for (const auto& [f_out, f_in] : grids_of(everyone.size())) {
    const auto p_x = everyone.partition(extents(1, f_in)), p_y = everyone.partition(extents(1, f_out)),
               p_w = everyone.partition(extents(f_out, f_in));
    linear<double> layer(p_x, p_y, p_w, o);
    const box<2> mine = layer.weight_box();
    const auto expect = [&](const char* name, auto weight_at, auto bias_at) {
      std::size_t wrong = 0;
      for (std::size_t i = mine.start[0]; i < mine.stop[0]; ++i)
        for (std::size_t j = mine.start[1]; j < mine.stop[1]; ++j)
          wrong += layer.weight()(i - mine.start[0], j - mine.start[1]) == weight_at(5 * i + j) ? 0 : 1;
      for (std::size_t k = 0; k < layer.bias().size(); ++k)
        wrong += layer.bias()(k) == bias_at(mine.start[0] + k) ? 0 : 1;
      BOOST_TEST(wrong == 0U, name);
    };
    const auto draw = [](double bound, std::uint64_t seed) {
      return [=](std::size_t k) { return partita::detail::draw_uniform<double>(bound, seed, k); };
    };
    const auto zero = [](std::size_t) { return 0.0; };
    expect("by default", draw(1 / std::sqrt(5.0), 11),
           [&](std::size_t k) { return draw(1 / std::sqrt(5.0), 11)(35 + k); });
    layer.bias().fill(1);
    layer.weight() = xt::ones<double>({1, 1});  // a block of another shape is replaced
    initialise(layer, [](std::size_t i, std::size_t j) { return static_cast<double>(5 * i + j); });
    expect(
        "a function", [](std::size_t k) { return static_cast<double>(k); }, zero);
    layer.bias().fill(1);
    kaiming_uniform(layer, 3);
    expect("kaiming", draw(std::sqrt(6.0 / 5), 3), zero);
    layer.bias().fill(1);
    xavier_uniform(layer, 4);
    expect("xavier", draw(std::sqrt(6.0 / 12), 4), zero);
    linear_options zeros = o;
    zeros.initial = initial_values::zeros;
    layer = linear<double>(p_x, p_y, p_w, zeros);
    expect("zeros", zero, zero);
  }
}

BOOST_AUTO_TEST_CASE(a_layer_of_no_input_features_gives_its_bias) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  linear<double> layer(one, one, one, {.in_features = 0, .out_features = 3});
  for (const double b : layer.bias()) BOOST_TEST(b == 0);
  for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias()(k) = static_cast<double>(k) - 4;
  const xt::xtensor<double, 2> none = zero_volume<double, 2>(2);
  const auto y = layer(none);
  for (std::size_t k = 0; k < y.size(); ++k) BOOST_TEST(y.data()[k] == static_cast<double>(k % 3) - 4);
  BOOST_TEST(y.size() == (one.active() ? 6U : 0U));
  const auto dx = layer.adjoint(y);
  BOOST_TEST((dx.size() == 0 && (!one.active() || dx.shape()[0] == 2)));
  for (std::size_t k = 0; k < layer.bias().size(); ++k) BOOST_TEST(layer.bias_gradient()(k) == 2 * layer.bias()(k));
}

/// A batch of two dimensions, and one whose rows are not adjacent in memory, give the same as one of one dimension.
template <linear_algorithm Algorithm>
void expect_batches(const world& everyone, std::size_t f_out, std::size_t f_in) {
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n));
  linear<double, Algorithm> layer(p, p, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = 2 * n, .out_features = 3 * n});
  initialise(layer, w_at);
  const xt::xtensor<double, 2> x = block(p, 6, 2 * n, x_at), dy = block(p, 6, 3 * n, dy_at);
  const xt::xtensor<double, 2> y = layer(x), dx = layer.adjoint(dy), dw = layer.weight_gradient();
  xt::xtensor<double, 3> x_3({3, 2, 2}), dy_3({3, 2, 3});
  std::copy(x.begin(), x.end(), x_3.begin()), std::copy(dy.begin(), dy.end(), dy_3.begin());
  const auto y_3 = layer(x_3);
  const auto dx_3 = layer.adjoint(dy_3);
  BOOST_TEST((y_3.shape() == dy_3.shape() && std::equal(y.begin(), y.end(), y_3.begin())));
  BOOST_TEST((dx_3.shape() == x_3.shape() && std::equal(dx.begin(), dx.end(), dx_3.begin())));
  BOOST_TEST((layer.weight_gradient() == 2 * dw));
  const xt::xtensor<double, 2> x_across = xt::transpose(x), dy_across = xt::transpose(dy);
  const auto y_again = layer(xt::transpose(x_across));
  const auto dx_again = layer.adjoint(xt::transpose(dy_across));
  BOOST_TEST((y_again == y && dx_again == dx));
  BOOST_TEST((layer.weight_gradient() == 3 * dw));
}

BOOST_AUTO_TEST_CASE(takes_batches_of_any_rank_and_of_any_strides_by_either_parallel_algorithm) {
  const world everyone(test::workers());
  expect_batches<column_parallel>(everyone, everyone.size(), 1);
  expect_batches<row_parallel>(everyone, 1, everyone.size());
}

/// The bytes of weights, gradients and activations in a forward call and its adjoint are those of predict().
template <linear_algorithm Algorithm>
void expect_memory(const world& everyone, std::size_t f_out, std::size_t f_in) {
  constexpr std::size_t batch = 24, in = 60, out = 37;
  std::vector<std::size_t> of_y;
  for (std::size_t k = 0; k < f_out * (Algorithm == weight_stationary ? 1 : f_in); ++k)
    of_y.push_back(Algorithm == weight_stationary ? k * f_in : k);
  const std::size_t parts = Algorithm == weight_stationary ? f_in : f_out * f_in;
  const auto p_x = everyone.partition(extents(1, parts)),
             p_y = everyone.partition(extents(1, of_y.size()), workers(of_y)),
             p_w = everyone.partition(extents(f_out, f_in));
  const auto x = block(p_x, batch, in, x_at), dy = block(p_y, batch, out, dy_at);
  const std::size_t before = pooled.bytes_in_use;
  linear<double, Algorithm> layer(p_x, p_y, p_w, {.in_features = in, .out_features = out});
  for (int times = 0; times < 3; ++times) {
    pooled.reset_peak();
    layer(x);
    layer.adjoint(dy);
  }
  const std::size_t weights = 2 * (layer.weight().size() + layer.bias().size()) * sizeof(double);
  const auto predicted = predict(Algorithm, {batch, in, out, sizeof(double)}, {f_out, f_in}, p_w.index());
  BOOST_TEST(pooled.most - before + weights == predicted.peak_bytes, f_out << " x " << f_in);
}

BOOST_AUTO_TEST_CASE(holds_the_memory_that_is_predicted_by_every_algorithm) {
  const test::pretended one("PARTITA_NODES", "1");
  const world everyone(test::workers());
  for (const auto& [f_out, f_in] : grids_of(everyone.size())) expect_memory<weight_stationary>(everyone, f_out, f_in);
  expect_memory<column_parallel>(everyone, everyone.size(), 1);
  expect_memory<row_parallel>(everyone, 1, everyone.size());
}

/// Blocks of different shapes than the layer's are refused at the call that would use them, by their name.
BOOST_AUTO_TEST_CASE(refuses_gradients_and_parameters_of_other_shapes_by_their_names) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n)), one = everyone.partition(extents(1, 1)),
             p_w = everyone.partition(extents(n, 1));
  const linear_options o{.in_features = 2 * n, .out_features = 3 * n};
  test::expect_shapes_kept("weight_stationary", everyone, linear<double>(one, p, p_w, o), block(one, 4, 2 * n, x_at));
  test::expect_shapes_kept("column_parallel", everyone, linear<double, column_parallel>(p, p, p_w, o),
                           block(p, 4, 2 * n, x_at));
  linear<double, column_parallel> layer(p, p, p_w, o);
  const auto x = block(p, 4, 2 * n, x_at), dy = block(p, 4, 3 * n, dy_at);
  layer(x);
  const auto check = [&](const char* name, auto& held, const char* right) {
    const auto kept = held;
    auto shape = kept.shape();
    if (everyone.id() + 1 == n) ++shape[0];
    held = xt::ones<double>(shape);
    const text words = text(": requires a ")
                       << name << " block of " << right << " on worker " << n - 1 << ", " << name << "() is now ";
    test::expect_refused<shape_error>([&] { layer(x); }, (text("partita::linear(x)") << words).c_str());
    held = kept;
    layer(x);
    held = xt::ones<double>(shape);
    test::expect_refused<shape_error>([&] { layer.adjoint(dy); },
                                      (text("partita::linear::adjoint(dy)") << words).c_str());
    held = kept;
    layer(x);
  };
  const text of_weight = text("[3, ") << 2 * n << "]";
  check("weight", layer.weight(), of_weight.c_str());
  check("bias", layer.bias(), "[3]");
  check("weight_gradient", layer.weight_gradient(), of_weight.c_str());
  check("bias_gradient", layer.bias_gradient(), "[3]");
  test::expect_refused<shape_error>(
      [&] { linear<double>(one, one, one, {.in_features = static_cast<std::size_t>(-1), .out_features = 2}); },
      "partita::linear(p_x, p_y, p_w, options): requires out_features x in_features of at most 2^40 elements in all, "
      "got "
      "[2, 18446744073709551615]");
}

template <linear_algorithm Algorithm>
void expect_one_batch(const world& everyone, std::size_t f_out, std::size_t f_in) {
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n));
  linear<double, Algorithm> layer(p, p, everyone.partition(extents(f_out, f_in)),
                                  {.in_features = 2 * n, .out_features = 2 * n});
  const auto pictures = [](std::size_t images) {  // six rows, of two features
    return xt::xtensor<double, 3>(xt::ones<double>({images, 6 / images, std::size_t{2}}));
  };
  for (int times = 0; times < 2; ++times)
    for (const std::size_t odd : {std::size_t{0}, n - 1}) {
      layer(pictures(3));
      test::expect_refused<shape_error>(
          [&] { layer(pictures(everyone.id() == odd ? 2 : 3)); },
          odd == 0
              ? "partita::linear(x): requires x of one batch on all workers of p_x, got [2, 3] on worker 0 and [3, 2] "
                "on worker 1; give every worker the same rows of x"
              : "got [3, 2] on worker 0 and [2, 3] on worker ");
      test::expect_refused<shape_error>([&] { layer.adjoint(pictures(3)); }, "requires a forward call before");
    }
}

BOOST_AUTO_TEST_CASE(refuses_batches_of_as_many_rows_in_other_dimensions, *test::at_least(2)) {
  const world everyone(test::workers());
  expect_one_batch<column_parallel>(everyone, everyone.size(), 1);
  expect_one_batch<row_parallel>(everyone, 1, everyone.size());
}

BOOST_AUTO_TEST_CASE(refuses_batches_that_differ_in_its_own_name_without_an_agreement, *test::at_least(2)) {
  const world everyone(test::workers(), checks::local);
  const auto p = everyone.partition(extents(1, everyone.size()));
  const auto one = everyone.partition(extents(1, 1));
  linear<double> layer(p, one, p, {.in_features = 2 * everyone.size(), .out_features = 2});
  const std::string said =
      refused<shape_error>([&] { layer(block(p, everyone.id() == 0 ? 4 : 3, 2 * everyone.size(), x_at)); });
  if (one.active()) BOOST_TEST(said.find("partita::linear(x): requires x of one batch on all workers of p_x; ") == 0U);
}

BOOST_AUTO_TEST_CASE(refuses_an_option_of_one_worker_alone, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(1, n)), one = everyone.partition(extents(1, 1)),
             column = everyone.partition(extents(n, 1));
  for (const std::size_t odd : {std::size_t{0}, n - 1}) {
    const linear_options o{.in_features = 2 * n, .out_features = 2 * n, .seed = everyone.id() == odd ? 1U : 2U};
    const auto check = [&](auto layer) { BOOST_TEST(!refused([&] { layer(block(p, 3, 2 * n, x_at)); }).empty()); };
    check(linear<double>(p, one, p, o));
    check(linear<double, column_parallel>(p, p, column, o));
    check(linear<double, row_parallel>(p, p, p, o));
  }
}

BOOST_AUTO_TEST_CASE(lends_its_weights_and_gradients_to_an_optimiser_also_after_it_was_moved) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1, everyone.size()));
  linear<double, column_parallel> made(p, p, everyone.partition(extents(everyone.size(), 1)),
                                       {.in_features = everyone.size(), .out_features = everyone.size()});
  const auto all = made.parameters();
  linear<double, column_parallel> layer = std::move(made);
  BOOST_TEST((all.size() == 2 && all[0].value() == layer.weight().data() && all[1].value() == layer.bias().data()));
  BOOST_TEST((all[0].gradient() == layer.weight_gradient().data() && all[0].size() == everyone.size()));
  BOOST_TEST((all[1].gradient() == layer.bias_gradient().data() && all[1].size() == 1));
  layer.weight_gradient().fill(1), layer.bias_gradient().fill(1);
  layer.zero_gradients();
  BOOST_TEST((xt::amax(layer.weight_gradient())() == 0 && layer.bias_gradient()(0) == 0));
  const char* const gone = "partita::linear: requires a layer that is there, this one was moved from";
  test::expect_refused<partition_error>([&] { made(block(p, 3, everyone.size(), x_at)); }, gone);
  test::expect_refused<partition_error>([&] { made.plan(); }, gone);
}

BOOST_AUTO_TEST_SUITE_END()
