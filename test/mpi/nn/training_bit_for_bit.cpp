// A whole training run that is bitwise reproducible on any number of workers: the batch has a fixed number of pieces,
// one worker computes each piece, and the gradients of the pieces are added in the order of the pieces.
#include "../support/folder.hpp"
#include "mpi_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

constexpr std::size_t pieces = 12, rows = 4, features = 7, hidden = 9, classes = 5;

auto make_network(const world& alone) {
  const auto p = alone.partition<1, 1>();
  linear<float> first(p, p, p, {.in_features = features, .out_features = hidden});
  linear<float> second(p, p, p, {.in_features = hidden, .out_features = classes});
  const auto weight = [](std::size_t i, std::size_t j) { return std::sin(static_cast<double>(3 * i + 5 * j + 1)) / 2; };
  initialise(first, weight), initialise(second, weight);
  return sequential(std::move(first), relu<float>(), std::move(second));
}

/// Trains with the pieces distributed over the workers of a world. Every worker holds all weights.
class run {
 public:
  explicit run(const world& everyone) : everyone_(everyone) {
    for (const auto& p : network_.parameters()) count_ += p.size();
  }
  void step() {
    const interval own = balanced_part(pieces, everyone_.size(), everyone_.id());
    xt::xtensor<float, 2> mine({own.size(), count_});
    for (std::size_t k = own.start; k < own.stop; ++k) {
      network_.zero_gradients();
      xt::xtensor<float, 2> x({rows, features});
      auto labels = uninitialised<int, 1>({rows});
      for (std::size_t r = 0; r < rows; ++r) {
        labels(r) = static_cast<int>((5 * k + 3 * r) % classes);
        for (std::size_t f = 0; f < features; ++f) x(r, f) = std::cos(static_cast<float>(k + 7 * r + 3 * f));
      }
      loss_(network_(x), labels);
      network_.adjoint(loss_.adjoint());
      float* to = mine.data() + (k - own.start) * count_;
      for (const auto& p : network_.parameters()) to = std::copy_n(p.gradient(), p.size(), to);
    }
    const auto all = gather_(mine);
    const float* from = all.data();
    network_.zero_gradients();
    for (std::size_t k = 0; k < pieces; ++k)
      for (const auto& p : network_.parameters())
        for (std::size_t e = 0; e < p.size(); ++e) p.gradient()[e] += *from++;
    optimiser_.step();
  }
  /// All weights in one vector.
  xt::xtensor<float, 1> weights() {
    auto all = uninitialised<float, 1>({count_});
    float* to = all.data();
    for (const auto& p : network_.parameters()) to = std::copy_n(p.value(), p.size(), to);
    return all;
  }
  void resume(const xt::xtensor<float, 1>& all) {
    const float* from = all.data();
    for (const auto& p : network_.parameters()) {
      std::copy_n(from, p.size(), p.value());
      from += p.size();
    }
  }

 private:
  world everyone_, alone_{boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach)};
  decltype(make_network(alone_)) network_ = make_network(alone_);
  softmax_cross_entropy<float> loss_{alone_.partition<1, 1>()};
  sgd<float> optimiser_{network_.parameters(), {.learning_rate = 0.125}};
  all_gather<extents<dynamic, dynamic>> gather_{everyone_.partition(extents(everyone_.size(), std::size_t{1})),
                                                dimensions<0>};
  std::size_t count_ = 0;
};

bool same_bits(const xt::xtensor<float, 1>& a, const xt::xtensor<float, 1>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training_bit_for_bit)

BOOST_AUTO_TEST_CASE(is_the_run_of_one_worker_also_when_it_was_resumed_from_a_checkpoint) {
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const test::folder folder(test::workers());
  run whole(alone), parted(everyone);
  const auto begin = whole.weights();
  const auto p = everyone.partition<1>();
  {
    checkpoint_saver saver(folder / "run");
    for (std::uint64_t step = 1; step <= 20; ++step) {
      whole.step(), parted.step();
      const extents<dynamic> all(begin.size());
      if (step == 12)
        saver.save(step, named("weights", p, all, p.active() ? parted.weights() : zero_volume<float, 1>()));
    }
  }
  BOOST_TEST(same_bits(whole.weights(), parted.weights()));
  BOOST_TEST(!same_bits(begin, parted.weights()));

  // every worker gets the weights: one worker loads them and broadcasts them
  const checkpoint latest = load_checkpoint(folder / "run", everyone);
  const broadcast spread(p, everyone.partition(extents(everyone.size())));
  run resumed(everyone);
  resumed.resume(spread(latest.load<float, 1>("weights", p)));
  for (std::uint64_t step = latest.step(); step < 20; ++step) resumed.step();
  BOOST_TEST(same_bits(resumed.weights(), whole.weights()));
}

BOOST_AUTO_TEST_CASE(is_so_for_reproducible_sums_in_any_order_of_the_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  std::vector<std::size_t> backwards;
  for (std::size_t k = n; k-- > 0;) backwards.push_back(k);
  const auto p = everyone.partition(extents(n)), q = everyone.partition(extents(n), workers(backwards));
  const all_sum_reduce forth(p, dimensions<0>, reproducible), back(q, dimensions<0>, reproducible);
  xt::xtensor<float, 1> w = xt::zeros<float>({std::size_t{33}}), v = w;
  for (std::size_t step = 0; step < 20; ++step) {
    const auto gradient = [&](const xt::xtensor<float, 1>& at) {
      auto g = uninitialised<float, 1>({at.size()});
      for (std::size_t k = 0; k < g.size(); ++k)
        g(k) = std::sin(at(k) * 3 + static_cast<float>(step + 11 * k)) *
               std::pow(10.0F, static_cast<float>(everyone.id()));
      return g;
    };
    w -= 0.1F * forth(gradient(w));
    v -= 0.1F * back(gradient(v));
  }
  BOOST_TEST(same_bits(w, v));
}

BOOST_AUTO_TEST_SUITE_END()
