// Times element-wise operations with array broadcasting: ours, the equivalent xtensor expression, and loops by hand.
#include <partita/array/elementwise.hpp>
#include <string>
#include <vector>

#include "harness.hpp"

namespace {

bench::rows* table = nullptr;
std::string group;  // the element type and the extents of a group of rows

struct measurement {
  int repetitions;  ///< the number of samples
  int calls;        ///< the number of calls in each sample, since the clock cannot resolve one call of less than a
                    ///< microsecond
};

template <class F>
double once(F& f, int calls) {
  const double start = bench::seconds();
  for (int k = 0; k < calls; ++k) f();
  return (bench::seconds() - start) / calls;
}

/// Times the three variants in turn, so that a disturbance of the machine affects all three.
template <class Ours, class Bare, class Hand>
void compare(const char* name, measurement m, Ours ours, Bare bare, Hand hand) {
  std::vector<double> samples[3];
  for (int k = 0; k < m.repetitions; ++k) {
    samples[0].push_back(once(ours, m.calls));
    samples[1].push_back(once(bare, m.calls));
    samples[2].push_back(once(hand, m.calls));
  }
  const char* const names[] = {"partita", "xtensor", "by hand"};
  const double best = bench::least(samples[0]);
  for (std::size_t k = 0; k < 3; ++k)
    table->add_peer(group + name, names[k], samples[k], {{"partita_to_this", best / bench::least(samples[k])}});
}

template <class T>
void run(const char* type, std::size_t n, std::size_t m, int times) {
  const measurement repetitions{times, static_cast<int>((std::size_t{1} << 17) / (n * m) + 1)};
  using partita::broadcast_dimensions;
  using partita::broadcast_dimensions_list;
  xt::xtensor<T, 2> a = xt::ones<T>({n, m}), b = xt::ones<T>({n, m}), z = xt::zeros<T>({n, m});
  xt::xtensor<T, 1> row = xt::ones<T>({m}), column = xt::ones<T>({n});
  T *out = z.data(), *in = a.data(), *other = b.data(), *r = row.data(), *c = column.data();
  group = std::string(type) + " " + std::to_string(n) + " x " + std::to_string(m) + ",";
  compare(
      " matrix + matrix", repetitions, [&] { xt::noalias(z) = partita::add(a, b); }, [&] { xt::noalias(z) = a + b; },
      [&] {
        for (std::size_t i = 0; i < n * m; ++i) out[i] = in[i] + other[i];
      });
  compare(
      " matrix + row <1>", repetitions, [&] { xt::noalias(z) = partita::add(a, row, broadcast_dimensions<1>); },
      [&] { xt::noalias(z) = a + row; },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + r[j];
      });
  compare(
      " matrix + column <0>", repetitions, [&] { xt::noalias(z) = partita::add(a, column, broadcast_dimensions<0>); },
      [&] { xt::noalias(z) = a + xt::view(column, xt::all(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + c[i];
      });
  compare(
      " matrix + column, run-time list", repetitions,
      [&] { xt::noalias(z) = partita::add(a, column, broadcast_dimensions_list{0}); },
      [&] { xt::noalias(z) = a + xt::view(column, xt::all(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + c[i];
      });
  compare(
      " matrix * number", repetitions, [&] { xt::noalias(z) = partita::multiply(a, 3); },
      [&] { xt::noalias(z) = a * T{3}; },
      [&] {
        for (std::size_t i = 0; i < n * m; ++i) out[i] = in[i] * T{3};
      });
  compare(
      " (matrix + row) * column", repetitions,
      [&] {
        xt::noalias(z) =
            partita::multiply(partita::add(a, row, broadcast_dimensions<1>), column, broadcast_dimensions<0>);
      },
      [&] { xt::noalias(z) = (a + row) * xt::view(column, xt::all(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = (in[i * m + j] + r[j]) * c[i];
      });

  const std::size_t images = 8, channels = 16, pixels = n * m / (images * channels) / 16;
  xt::xtensor<T, 4> batch = xt::ones<T>({images, channels, pixels, std::size_t{16}}), batch_out = batch;
  xt::xtensor<T, 1> bias = xt::ones<T>({channels});
  T *to = batch_out.data(), *from = batch.data(), *shift = bias.data();
  const std::size_t image = pixels * 16;
  compare(
      " images + channel bias <1>", repetitions,
      [&] { xt::noalias(batch_out) = partita::add(batch, bias, broadcast_dimensions<1>); },
      [&] { xt::noalias(batch_out) = batch + xt::view(bias, xt::all(), xt::newaxis(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < images * channels; ++i)
          for (std::size_t j = 0; j < image; ++j) to[i * image + j] = from[i * image + j] + shift[i % channels];
      });
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "elementwise", "element-wise operations against the bare xtensor expression and loops by hand", {1, 1},
      {{"rounds", bench::argument::count, "samples of each call on 512 x 512 elements", "50", "2"},
       {"side", bench::argument::count, "the most rows and columns", "4096", "256"}});
  return bench::run_alone(argc, argv, line, [](const bench::command_line& given, bench::rows& to) {
    table = &to;
    const int rounds = given.rounds();
    const auto at_most = [most = given.count("side")](std::size_t n) { return std::min(n, most); };
    run<float>("float", at_most(512), at_most(512), rounds);
    run<double>("double", at_most(512), at_most(512), rounds);
    run<double>("double", at_most(2048), at_most(2048), rounds / 4 + 1);
    run<float>("float", at_most(64), at_most(64), rounds * 4);
    run<float>("float", at_most(4096), 8, rounds);
    return true;
  });
}
