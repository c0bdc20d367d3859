// Compares the order of the estimates of `search` with measured times: training steps of three networks, in turn, with
// some of all possible layouts and with the ten best layouts. The parts of a step are first measured separately.
#include "machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <partita/partita.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/measured_times.hpp>
#include <partita/sharded/pool.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using real = float;

struct candidate {
  std::vector<sharding> layouts;  ///< the layouts of the arguments of more than one dimension; x is first
  double estimated = 0;
  std::function<void()> step{};
  std::vector<double> samples{};
};

/// A network: a function of x and of parameters.
struct network {
  const char* name;
  std::vector<shape_list> shapes;
  traced_function program;
  /// An executable training step with the annotations of a candidate.
  std::function<std::function<void()>(const world&, const std::vector<sharding>&)> step;

  /// The traced program with the annotations of a candidate, and its parameters.
  graph annotated(const std::vector<sharding>& layouts) const {
    graph g = program.operations();
    g.release(program.input(0));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (i < layouts.size() && shapes[i].size() > 1) g.constrain(program.input(i), layouts[i]);
      if (i > 0) g.differentiate_by(program.input(i));
    }
    return g;
  }
};

template <std::size_t N, class F>
network network_of(const char* name, const mesh& m, const std::array<shape_list, N>& shapes, const F& f) {
  const auto traced_with = [=](const std::vector<sharding>& layouts) {
    auto program = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return trace(f, spec(sharding(m, shapes[0].size()), shapes[0]), spec(shapes[I + 1])...);
    }(std::make_index_sequence<N - 1>());
    for (std::size_t i = 0; i < layouts.size(); ++i)
      if (shapes[i].size() > 1) program.constrain(program.input(i), layouts[i]);
    return program;
  };
  struct state {
    bound_program<real> run;
    std::vector<sharded_tensor<real>> x;
    sharded_tensor<real> dy;
    sharded_adamw<real> optimiser;
  };
  const auto step = [=](const world& everyone, const std::vector<sharding>& layouts) -> std::function<void()> {
    const auto program = traced_with(layouts);
    const auto layout_of = [&](value v) {
      sharding s = program.complete()[v].without_partials();
      s.open = s.must_replicate = 0;
      return s;
    };
    std::vector<sharded_tensor<real>> x;
    for (std::size_t i = 0; i < N; ++i)
      x.push_back(shard<real>(everyone, layout_of(program.input(i)), shapes[i], [=](const auto& at) {
        double salt = double(i);
        for (const std::size_t one : at) salt = 17 * salt + double(one);
        return real(std::sin(salt) / (i == 0 ? 1 : 10));
      }));
    const auto dy = shard<real>(everyone, layout_of_cotangent(layout_of(program.result())),
                                program.operations()[program.result()].shape, [](const auto&) { return real(0.01); });
    std::vector<std::size_t> parameters(N - 1);
    std::iota(parameters.begin(), parameters.end(), std::size_t{1});
    const auto all = std::make_shared<state>(state{program.template bind<real>(everyone, parameters), x, dy, {{}, {}}});
    // With a small learning rate all steps compute with about the same numbers.
    all->optimiser = sharded_adamw<real>(std::vector<parameter_ref<real>>(all->x.begin() + 1, all->x.end()),
                                         {.learning_rate = 1e-7});
    return [all] {
      [&]<std::size_t... I>(std::index_sequence<I...>) { all->run(all->x[I]...); }(std::make_index_sequence<N>());
      const auto& gradients = all->run.backward(all->dy);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        all->optimiser.step(std::tuple{gradients[I]...});
      }(std::make_index_sequence<N - 1>());
    };
  };
  return {name, {shapes.begin(), shapes.end()}, traced_with({}), step};
}

std::vector<network> networks(const mesh& m) {
  const auto perceptron = [](const auto& x, const auto& w1, const auto& b1, const auto& w2, const auto& b2) {
    const auto h = relu(add(matmul(x, w1), b1, broadcast_dimensions<1>));
    return add(matmul(h, w2), b2, broadcast_dimensions<1>);
  };
  const auto transformer = [](const auto& x, const auto& q, const auto& k, const auto& v, const auto& o, const auto& up,
                              const auto& down) {
    const auto seen = attention(einsum<"btc,chd->bhtd">(x, q), einsum<"btc,chd->bhtd">(x, k),
                                einsum<"btc,chd->bhtd">(x, v), {.causal = true});
    const auto y = add(x, einsum<"bhtd,hdc->btc">(seen, o));
    return add(y, einsum<"btf,fc->btc">(gelu(einsum<"btc,cf->btf">(y, up)), down));
  };
  const auto convolutions = [](const auto& x, const auto& first, const auto& second, const auto& w) {
    const auto layer = [](const auto& z, const auto& filters) {
      return max_pool<2>(relu(convolve<2>(z, filters, {.padding = {2, 2}})), {.kernel = {2, 2}});
    };
    return matmul(reshape(layer(layer(x, first), second), {16, 784}), w);
  };
  const shape_list head{128, 4, 32};
  return {
      network_of("perceptron", m, std::array<shape_list, 5>{{{200, 784}, {784, 256}, {256}, {256, 10}, {10}}},
                 perceptron),
      network_of("transformer block", m,
                 std::array<shape_list, 7>{{{8, 64, 128}, head, head, head, {4, 32, 128}, {128, 512}, {512, 128}}},
                 transformer),
      network_of("convolutions", m,
                 std::array<shape_list, 4>{{{16, 1, 28, 28}, {8, 1, 5, 5}, {16, 8, 5, 5}, {784, 64}}}, convolutions)};
}

/// All layouts of a tensor in which every axis shards at most one dimension, into equal blocks.
std::vector<sharding> layouts_of(const mesh& m, const shape_list& shape) {
  std::vector<sharding> all{sharding(m, shape.size())};
  for (std::size_t a = 0; a < m.rank() && shape.size() > 1; ++a)
    for (std::size_t k = 0, n = all.size(); k < n; ++k)
      for (std::size_t d = 0; d < shape.size(); ++d) {
        axis_list cuts = all[k].cuts[d];
        cuts.push_back(a);
        if (shape[d] % m.size(cuts) == 0) all.push_back(all[k].cut(d, cuts));
      }
  return all;
}
/// All candidates if their number is at most `most`, or else `most` candidates that are chosen at random.
std::vector<candidate> candidates(const network& net, const mesh& m, std::size_t most) {
  std::vector<std::vector<sharding>> choices;
  double number = 1;
  for (const shape_list& shape : net.shapes) {
    choices.push_back(layouts_of(m, shape));
    number *= double(choices.back().size());
  }
  std::mt19937 random(1);
  std::vector<candidate> all;
  std::vector<std::size_t> at(choices.size(), 0);
  for (bool more = true; more && all.size() < most;) {
    candidate& one = all.emplace_back();
    if (number > double(most))
      for (std::size_t k = 0; k < at.size(); ++k) at[k] = random() % choices[k].size();
    for (std::size_t k = 0; k < at.size(); ++k) one.layouts.push_back(choices[k][at[k]]);
    if (number > double(most)) continue;
    std::size_t k = 0;  // the number of the next candidate
    while (k < at.size() && ++at[k] == choices[k].size()) at[k++] = 0;
    more = k < at.size();
  }
  return all;
}
void estimate(const network& net, std::vector<candidate>& all, const step_model& model) {
  for (candidate& one : all) {
    const graph g = net.annotated(one.layouts);
    one.estimated = plan_step(complete(g), model).seconds();
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const candidate& a, const candidate& b) { return a.estimated < b.estimated; });
}
/// `n` candidates that are evenly spaced from the best estimate to the worst.
std::vector<candidate> spread_over(const std::vector<candidate>& all, std::size_t n) {
  std::vector<candidate> some;
  for (std::size_t k = 0; k < n; ++k) some.push_back(all[k * (all.size() - 1) / (n - 1)]);
  return some;
}
/// The `n` best candidates whose estimates differ from one to the next by at least the relative difference
/// `least_difference`.
std::vector<candidate> best_of(const std::vector<candidate>& all, std::size_t n, double least_difference) {
  std::vector<candidate> some;
  for (const candidate& one : all)
    if (some.size() < n && (some.empty() || one.estimated >= some.back().estimated * (1 + least_difference)))
      some.push_back(one);
  return some;
}

/// Spearman's rank correlation of two lists; no list has equal numbers.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& of) {
    std::vector<double> all;
    for (const double one : of)
      all.push_back(double(std::count_if(of.begin(), of.end(), [&](double x) { return x < one; })));
    return all;
  };
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = double(a.size() - 1) / 2;
  double products = 0, x_squares = 0, y_squares = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    products += (x[k] - middle) * (y[k] - middle);
    x_squares += (x[k] - middle) * (x[k] - middle), y_squares += (y[k] - middle) * (y[k] - middle);
  }
  return x_squares * y_squares > 0 ? products / std::sqrt(x_squares * y_squares) : 0;
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const mesh m = everyone.size() == 4 ? mesh{axis{"a", 2}, axis{"b", 2}} : mesh{axis{"a", 2}};
  constexpr double least_difference =
      0.01;  // chosen because medians of one candidate differ by as much from run to run
  bool right = true;
  std::vector<network> all_networks = networks(m);
  if (line.quick()) all_networks.resize(1, all_networks[0]);
  for (const network& net : all_networks) {
    measured_times<real> times(net.program, everyone, adamw_options{});
    search_options how;
    how.model.element_bytes = sizeof(real), how.model.states = 2, how.model.times = &times;
    std::vector<candidate> all = candidates(net, m, line.count("candidates"));
    estimate(net, all, how.model);
    const double start = bench::seconds();
    times.measure_again();
    const double measuring_seconds = bench::seconds() - start;
    if (!line.quick()) times.measure_again();  // the cores may have had other work
    estimate(net, all, how.model);
    // The search must find a candidate that is as good as the best of all.
    const graph g = net.annotated({});
    if (line.quick()) how.most = 20;
    const search_answer found = search(g, {}, ~std::size_t{0}, how);
    right = right && (!found.is_exact || found.best.cost.seconds() <= all[0].estimated * (1 + 1e-9));

    std::vector<candidate> groups[] = {spread_over(all, std::min(all.size(), line.count("spread"))),
                                       best_of(all, 10, least_difference)};
    for (std::vector<candidate>& chosen : groups) {
      for (candidate& c : chosen) c.step = net.step(everyone, c.layouts);
      for (int round = -3; round < line.rounds("steps"); ++round)
        for (candidate& c : chosen) {
          const double one = bench::timed(c.step);
          if (round >= 0) c.samples.push_back(one);
        }
      std::vector<double> estimated, measured;
      const bool are_best = &chosen == &groups[1];
      for (candidate& c : chosen) {
        c.step = nullptr;
        estimated.push_back(c.estimated), measured.push_back(bench::median(c.samples));
        text layouts;
        for (std::size_t k = 0; k < c.layouts.size(); ++k)
          if (net.shapes[k].size() > 1) layouts << (k == 0 ? "" : " ") << c.layouts[k];
        out.add_peer(layouts.c_str(), are_best ? "best" : "spread", c.samples,
                     {{"network", net.name}, {"seconds_estimated", c.estimated}});
      }
      out.add_derived("rank correlation", {{"network", net.name},
                                           {"which", are_best ? "best" : "spread"},
                                           {"value", rank_correlation(estimated, measured)},
                                           {"of", chosen.size()},
                                           {"candidates", all.size()},
                                           {"parts", times.size()},
                                           {"seconds_to_measure", measuring_seconds},
                                           {"judged", found.evaluated_candidates},
                                           {"seconds_found", found.best.cost.seconds()}});
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "search_order", "whether search orders layouts as they run, by training steps of three networks", {2, 4},
      {{"steps", bench::argument::count, "samples of each candidate", "40", "1"},
       {"candidates", bench::argument::count, "layouts of a network that are estimated", "3000", "12"},
       {"spread", bench::argument::count, "of these, how many are measured, evenly spaced", "30", "3"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
