// A mixture of experts that are distributed over the workers: each token is sent to its expert and back, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/kernel/token_dispatcher.hpp>
#include <partita/partita.hpp>
#include <utility>
#include <vector>

using namespace partita;
using rows = xt::xtensor<double, 2>;

constexpr std::size_t tokens = 240, width = 8, experts = 6, steps = 20;
constexpr double rate = 0.5;

/// Row i of a matrix whose numbers, between -1 and 1, are functions of their index.
xt::xtensor<double, 1> numbers(std::size_t i, std::size_t count, double salt) {
  return xt::sin((static_cast<double>(i) + salt) * xt::arange<double>(1, static_cast<double>(count) + 1));
}

/// Trains on tokens and experts that are distributed over the workers. Returns the weights of the gate, which all
/// workers have, and the loss before and after the training.
std::pair<rows, std::pair<double, double>> train(const world& everyone) {
  const interval mine = balanced_part(tokens, everyone.size(), everyone.id());
  const std::size_t n = mine.size();
  rows x = xt::zeros<double>({n, width}), wanted = x, gate = xt::zeros<double>({width, experts});
  for (std::size_t t = 0; t < n; ++t) {
    xt::row(x, static_cast<std::ptrdiff_t>(t)) = numbers(mine.start + t, width, 0.5);
    xt::row(wanted, static_cast<std::ptrdiff_t>(t)) = xt::abs(xt::row(x, static_cast<std::ptrdiff_t>(t)));
  }
  for (std::size_t i = 0; i < width; ++i) xt::row(gate, static_cast<std::ptrdiff_t>(i)) = numbers(i, experts, 0.1);
  std::vector<rows> weights(
      experts, rows(xt::zeros<double>({width, width})));  // the worker uses the weights of its experts only
  for (std::size_t e = 0; e < experts; ++e)
    for (std::size_t i = 0; i < width; ++i)
      xt::row(weights[e], static_cast<std::ptrdiff_t>(i)) = 0.3 * numbers(e * width + i, width, 0.7);

  std::pair<double, double> losses;
  for (std::size_t step = 0; step < steps; ++step) {
    const rows probabilities = softmax(matmul(x, gate));
    const auto chosen = xt::xtensor<std::size_t, 1>(xt::cast<std::size_t>(argmax(probabilities, dimensions<1>)));
    const xt::xtensor<double, 1> weight = xt::amax(probabilities, {1});
    // [layer]
    const token_dispatcher to_experts(everyone, experts, chosen);
    const rows received_tokens = to_experts.dispatch(x);
    const auto rows_of_expert = [&](auto& all, std::size_t e) {
      const interval own = to_experts.rows_of(e);
      return xt::view(all, xt::range(own.start, own.stop));
    };
    rows expert_results = xt::zeros_like(received_tokens);
    for (std::size_t e = to_experts.experts().start; e < to_experts.experts().stop; ++e)
      rows_of_expert(expert_results, e) = einsum<"tj,ij->ti">(rows_of_expert(received_tokens, e), weights[e]);
    const rows y = to_experts.combine(expert_results, weight);  // every token gets its result on its own worker
    // [/layer]

    const rows difference = y - wanted, dy = 2.0 / tokens * difference;
    (step == 0 ? losses.first : losses.second) =
        sum_over(everyone, xt::sum<double>(difference * difference)()) / tokens;
    // [gradient]
    const auto [d_results, d_weight] = to_experts.combine_adjoint(expert_results, weight, dy);
    for (std::size_t e = to_experts.experts().start; e < to_experts.experts().stop; ++e)
      weights[e] -= rate * einsum<"ti,tj->ij">(rows_of_expert(d_results, e), rows_of_expert(received_tokens, e));
    // [/gradient]
    rows scores = xt::zeros<double>({n, experts});  // the gradient of one element of softmax
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t e = 0; e < experts; ++e)
        scores(t, e) = weight(t) * ((e == chosen(t) ? 1 : 0) - probabilities(t, e)) * d_weight(t);
    const rows d_gate = einsum<"tc,te->ce">(x, scores);
    std::vector<double> sums(d_gate.begin(), d_gate.end());
    sums = sum_over(everyone, sums);
    gate -= rate * xt::adapt(sums, d_gate.shape());
  }
  return {gate, losses};
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const auto [gate, losses] = train(everyone);

  // check: every worker trains the whole network alone, by the same function
  const auto [sequential_gate, sequential_losses] = train(everyone.part(workers{everyone.id()}));
  const double difference =
      xt::amax(xt::abs(gate - sequential_gate))() + std::abs(losses.second - sequential_losses.second);
  const double wrong_workers = sum_over(everyone, difference < 1e-9 ? 0.0 : 1.0);
  if (everyone.id() == 0)
    std::cout << tokens << " tokens, " << experts << " experts on " << everyone.size() << " workers: loss "
              << losses.first << " before, " << losses.second << " after " << steps << " steps\n"
              << (wrong_workers == 0 ? "the same as on one worker\n" : "not what one worker computes\n");
  return wrong_workers == 0 && losses.second < 0.5 * losses.first ? EXIT_SUCCESS : EXIT_FAILURE;
}
