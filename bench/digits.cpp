// Compares an epoch of the digits network (64-48-10, float32, 1440 rows) with the same network written by hand on MPI
// and CBLAS. The two programs alternate in one run; the input features of both layers are partitioned over the workers.
#include "linear_by_hand.hpp"
#include "machine.hpp"

#include <cmath>
#include <partita/kernel/repartition.hpp>
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

constexpr std::size_t rows = 1440, pixels = 64, hidden = 48, classes = 10;
constexpr float rate = 0.5F;

float pixel(std::size_t row, std::size_t column) {
  return static_cast<float>((row * 7 + column * 13 + row * column) % 17) / 16.F;
}
int label(std::size_t row) { return static_cast<int>((row * 5 + row / 7) % classes); }
double first_weight(std::size_t i, std::size_t j) {
  return std::sin(1.0 + static_cast<double>(pixels * i + j)) * std::sqrt(2.0 / pixels);
}
double second_weight(std::size_t i, std::size_t j) {
  return std::sin(2.0 + static_cast<double>(hidden * i + j)) * std::sqrt(2.0 / hidden);
}

/// The network by hand: both layers are partitioned along their input features; worker 0 holds the values between them.
class by_hand {
 public:
  explicit by_hand(int workers)
      : workers_(workers), one_(1, workers, rows, pixels, hidden, true), two_(1, workers, rows, hidden, classes, true) {
    const auto id = static_cast<std::size_t>(bench::worker()), n = static_cast<std::size_t>(workers);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < pixels / n; ++j) one_.x[r * (pixels / n) + j] = pixel(r, id * (pixels / n) + j);
    for (std::size_t i = 0; i < hidden; ++i)
      for (std::size_t j = 0; j < pixels / n; ++j)
        one_.w[i * (pixels / n) + j] = static_cast<float>(first_weight(i, id * (pixels / n) + j));
    for (std::size_t i = 0; i < classes; ++i)
      for (std::size_t j = 0; j < hidden / n; ++j)
        two_.w[i * (hidden / n) + j] = static_cast<float>(second_weight(i, id * (hidden / n) + j));
    packed_.resize(rows * hidden);
  }
  float epoch() {
    const auto n = static_cast<std::size_t>(workers_), part = hidden / n;
    const int count = static_cast<int>(rows * part);
    one_.forward();
    if (bench::worker() == 0)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t j = 0; j < part; ++j)
            packed_[(k * rows + r) * part + j] = std::max(one_.y[r * hidden + k * part + j], 0.F);
    MPI_Scatter(packed_.data(), count, MPI_FLOAT, two_.x.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    two_.forward();
    float loss = 0;
    if (bench::worker() == 0)
      for (std::size_t r = 0; r < rows; ++r)
        loss += softmax(two_.y.data() + r * classes, two_.dy.data() + r * classes, label(r));
    MPI_Bcast(&loss, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (auto* layer : {&one_, &two_}) {
      std::fill(layer->dw.begin(), layer->dw.end(), 0.F);
      std::fill(layer->db.begin(), layer->db.end(), 0.F);
    }
    two_.adjoint();
    MPI_Gather(two_.dx.data(), count, MPI_FLOAT, packed_.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (bench::worker() == 0)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t r = 0; r < rows; ++r)
          for (std::size_t j = 0; j < part; ++j) {
            const std::size_t at = r * hidden + k * part + j;
            one_.dy[at] = one_.y[at] > 0 ? packed_[(k * rows + r) * part + j] : 0.F;
          }
    one_.adjoint();
    for (auto* layer : {&one_, &two_}) {
      for (std::size_t k = 0; k < layer->w.size(); ++k) layer->w[k] -= rate * layer->dw[k];
      for (std::size_t k = 0; k < layer->b.size(); ++k) layer->b[k] -= rate * layer->db[k];
    }
    return loss / static_cast<float>(rows);
  }

 private:
  /// Returns the loss of a row, and writes its gradient for the mean over all rows.
  static float softmax(const float* score, float* gradient, int wanted) {
    const float most = *std::max_element(score, score + classes);
    float sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += gradient[c] = std::exp(score[c] - most);
    for (std::size_t c = 0; c < classes; ++c)
      gradient[c] = (gradient[c] / sum - (static_cast<int>(c) == wanted ? 1.F : 0.F)) / static_cast<float>(rows);
    return std::log(sum) - (score[wanted] - most);
  }

  int workers_;
  bench::linear_by_hand one_, two_;
  std::vector<float> packed_;
};

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t n = everyone.size();
  if (pixels % n != 0 || hidden % n != 0) throw bench::usage_error("requires workers that divide 64 and 48");
  const int epochs = line.rounds("epochs");
  by_hand raw(static_cast<int>(n));

  const auto one = everyone.partition<1, 1>();
  const auto p_x = everyone.partition(extents<1, dynamic>(n)), p_w = everyone.partition(extents<1, dynamic>(n));
  linear<float> first(p_x, one, p_w, {.in_features = pixels, .out_features = hidden});
  linear<float> second(p_x, one, p_w, {.in_features = hidden, .out_features = classes});
  initialise(first, first_weight);
  initialise(second, second_weight);
  sequential network(std::move(first), relu<float>(), repartition(one, p_x), std::move(second));
  sgd<float> optimiser(network.parameters(), {.learning_rate = rate});
  softmax_cross_entropy<float> loss(one);
  xt::xtensor<float, 2> x({rows, pixels / n});
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < pixels / n; ++j) x(r, j) = pixel(r, everyone.id() * (pixels / n) + j);
  xt::xtensor<int, 1> labels = xt::zeros<int>({rows});
  for (std::size_t r = 0; r < rows; ++r) labels(r) = label(r);

  std::vector<double> times[2];
  double largest_difference = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double loss_by_hand = 0, loss_of_layers = 0;
    times[0].push_back(bench::timed([&] { loss_by_hand = static_cast<double>(raw.epoch()); }));
    times[1].push_back(bench::timed([&] {
      loss_of_layers = static_cast<double>(loss(network(x), labels));
      network.zero_gradients();
      network.adjoint(loss.adjoint());
      optimiser.step();
    }));
    largest_difference = std::max(largest_difference, std::abs(loss_by_hand - loss_of_layers));
  }
  const char* const names[] = {"by hand", "partita"};
  for (std::size_t v = 0; v < 2; ++v)
    out.add_peer(
        "epoch of 64-48-10, 1440 rows", names[v], times[v],
        {{"bytes", rows * pixels * sizeof(float)}, {"ratio", bench::median(times[v]) / bench::median(times[0])}});
  return largest_difference <= 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("digits", "an epoch of the digits network against the same by hand on MPI and CBLAS",
                                 {1}, {{"epochs", bench::argument::count, "epochs of each", "60", "2"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
