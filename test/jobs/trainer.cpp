// Trains in an endless loop and saves checkpoints meanwhile until it is killed, or checks what was saved.
// killed_training.py runs it. All numbers are multiples of 1/64 and a step follows the sign of the gradient, so the
// weights after each step are known, and bitwise identical on any number of workers.
#include <fcntl.h>
#include <unistd.h>
#include <fstream>
#include <iostream>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/nn/linear.hpp>
#include <string>

using namespace partita;

namespace {

constexpr std::size_t rows = 6, in = 5, out = 7;
constexpr std::uint64_t between = 400;  // steps between checkpoints
constexpr double rate = 1.0 / 64;

double input(std::uint64_t step, std::size_t r, std::size_t i) {
  return static_cast<double>((step + 3 * r + i) % 5) - 2;
}
double target(std::uint64_t step, std::size_t r, std::size_t o) {
  return static_cast<double>((2 * step + r * o) % 7) - 3;
}
double moved(double weight, double gradient) {
  return weight - rate * static_cast<double>((gradient > 0) - (gradient < 0));
}

/// The reference weights, computed by loops, of a step and of later steps.
class expected_weights {
 public:
  const double* after(std::uint64_t steps) {
    for (; step_ < steps; ++step_) {
      double gradient[out * in] = {};
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t o = 0; o < out; ++o) {
          double error = -target(step_, r, o);
          for (std::size_t i = 0; i < in; ++i) error += w_[o * in + i] * input(step_, r, i);
          for (std::size_t i = 0; i < in; ++i) gradient[o * in + i] += error * input(step_, r, i);
        }
      for (std::size_t k = 0; k < out * in; ++k) w_[k] = moved(w_[k], gradient[k]);
    }
    return w_;
  }

 private:
  std::uint64_t step_ = 0;
  double w_[out * in] = {};
};

auto rows_of_weights(const world& everyone) { return everyone.partition(extents<dynamic, 1>(everyone.size())); }

int train(const world& everyone, const std::string& folder) {
  std::ofstream(folder + "/pid." + std::to_string(everyone.id())) << ::getpid() << '\n';
  const auto one = everyone.partition<1, 1>();
  const auto p_y = everyone.partition(extents<1, dynamic>(everyone.size()));
  const auto p_w = rows_of_weights(everyone);
  linear<double> layer(one, p_y, p_w, {.in_features = in, .out_features = out, .bias = false});
  layer.weight() = xt::zeros<double>(layer.weight().shape());
  std::uint64_t step = 0;
  if (!checkpoint_steps(folder + "/run", everyone).empty()) {
    const checkpoint latest = load_checkpoint(folder + "/run", everyone);
    layer.weight() = latest.load<double, 2>("weight", p_w);
    step = latest.step();
  }
  // progress for the script that checks after the kill: the step, the last saved step, whether a save is pending
  std::uint64_t stand[3] = {step, step, 0};
  const int page = ::open((folder + "/stand." + std::to_string(everyone.id())).c_str(), O_CREAT | O_RDWR, 0600);
  const auto say = [&] { return ::pwrite(page, stand, sizeof stand, 0) == sizeof stand; };
  checkpoint_saver saver(folder + "/run", {.keep_last = 2});
  const std::size_t first_output = balanced_part(out, everyone.size(), everyone.id()).start;
  for (std::uint64_t under_way = step; say();) {
    layer.zero_gradients();
    auto x = one.active() ? uninitialised<double, 2>({rows, in}) : zero_volume<double, 2>(rows);
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = input(step, k / in, k % in);
    auto dy = layer(x);
    for (std::size_t r = 0; r < dy.shape(0); ++r)
      for (std::size_t o = 0; o < dy.shape(1); ++o) dy(r, o) -= target(step, r, first_output + o);
    layer.adjoint(dy);
    const auto& gradient = layer.weight_gradient();
    for (std::size_t k = 0; k < gradient.size(); ++k)
      layer.weight().data()[k] = moved(layer.weight().data()[k], gradient.data()[k]);
    stand[0] = ++step;
    if (step % between != 0) continue;
    stand[2] = 1;
    if (!say()) break;
    // when it returns, the previous one is on the disk
    saver.save(step, named("weight", p_w, extents<out, in>{}, layer.weight()));
    stand[1] = under_way, stand[2] = 0;
    under_way = step;
  }
  return 1;
}

/// Checks that every existing checkpoint belongs to a step and has the weights of that step.
int look(const world& everyone, const std::string& folder) {
  const auto p_w = rows_of_weights(everyone);
  const std::size_t first = balanced_part(out, everyone.size(), everyone.id()).start;
  std::uint64_t latest = 0;
  bool right = true;
  expected_weights expected;
  for (const std::uint64_t step : checkpoint_steps(folder + "/run", everyone)) {
    const auto weight = load_checkpoint(folder + "/run", everyone, step).load<double, 2>("weight", p_w);
    const double* const there = expected.after(step) + first * in;
    for (std::size_t k = 0; k < weight.size(); ++k) right = right && weight.data()[k] == there[k];
    right = right && step % between == 0;
    latest = step;
  }
  if (everyone.id() == 0) std::cout << "latest " << latest << std::endl;
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc != 3) return 2;
  const world everyone;
  return argv[1] == std::string("train") ? train(everyone, argv[2]) : look(everyone, argv[2]);
}
