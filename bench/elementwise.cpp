// Element-wise operations under array broadcasting: ours, the bare xtensor expression it stands for, and loops by hand.
//
//   elementwise [repetitions]     best time of each in microseconds, and ours over the better of the other two
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <partita/array/elementwise.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

struct measurement {
  int repetitions;  ///< the best of so many
  int calls;        ///< in each, so that a call of less than a microsecond is not lost in the clock
};

template <class F>
double once(F& f, int calls) {
  const auto start = clock_type::now();
  for (int k = 0; k < calls; ++k) f();
  return std::chrono::duration<double, std::micro>(clock_type::now() - start).count() / calls;
}

/// The three are timed in turn, so that a disturbance of the machine meets all of them.
template <class Ours, class Bare, class Hand>
void compare(const char* name, measurement m, Ours ours, Bare bare, Hand hand) {
  double best[3] = {1e30, 1e30, 1e30};
  for (int k = 0; k < m.repetitions; ++k) {
    const double now[3] = {once(ours, m.calls), once(bare, m.calls), once(hand, m.calls)};
    for (int i = 0; i < 3; ++i) best[i] = now[i] < best[i] ? now[i] : best[i];
  }
  std::printf("%-34s ours %10.3f   xtensor %10.3f   by hand %10.3f   ours/xtensor %.3f   ours/hand %.3f\n", name,
              best[0], best[1], best[2], best[0] / best[1], best[0] / best[2]);
}

template <class T>
void run(const char* type, std::size_t n, std::size_t m, int times) {
  const measurement repetitions{times, static_cast<int>((std::size_t{1} << 17) / (n * m) + 1)};
  using partita::broadcast_dimensions;
  using partita::broadcast_dimensions_list;
  xt::xtensor<T, 2> a = xt::ones<T>({n, m}), b = xt::ones<T>({n, m}), z = xt::zeros<T>({n, m});
  xt::xtensor<T, 1> row = xt::ones<T>({m}), column = xt::ones<T>({n});
  T *out = z.data(), *in = a.data(), *other = b.data(), *r = row.data(), *c = column.data();
  std::printf("%s %zu x %zu\n", type, n, m);
  compare(
      "  matrix + matrix", repetitions, [&] { xt::noalias(z) = partita::add(a, b); }, [&] { xt::noalias(z) = a + b; },
      [&] {
        for (std::size_t i = 0; i < n * m; ++i) out[i] = in[i] + other[i];
      });
  compare(
      "  matrix + row <1>", repetitions, [&] { xt::noalias(z) = partita::add(a, row, broadcast_dimensions<1>); },
      [&] { xt::noalias(z) = a + row; },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + r[j];
      });
  compare(
      "  matrix + column <0>", repetitions, [&] { xt::noalias(z) = partita::add(a, column, broadcast_dimensions<0>); },
      [&] { xt::noalias(z) = a + xt::view(column, xt::all(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + c[i];
      });
  compare(
      "  matrix + column, run-time list", repetitions,
      [&] { xt::noalias(z) = partita::add(a, column, broadcast_dimensions_list{0}); },
      [&] { xt::noalias(z) = a + xt::view(column, xt::all(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < m; ++j) out[i * m + j] = in[i * m + j] + c[i];
      });
  compare(
      "  matrix * number", repetitions, [&] { xt::noalias(z) = partita::multiply(a, 3); },
      [&] { xt::noalias(z) = a * T{3}; },
      [&] {
        for (std::size_t i = 0; i < n * m; ++i) out[i] = in[i] * T{3};
      });
  compare(
      "  (matrix + row) * column", repetitions,
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
      "  images + channel bias <1>", repetitions,
      [&] { xt::noalias(batch_out) = partita::add(batch, bias, broadcast_dimensions<1>); },
      [&] { xt::noalias(batch_out) = batch + xt::view(bias, xt::all(), xt::newaxis(), xt::newaxis()); },
      [&] {
        for (std::size_t i = 0; i < images * channels; ++i)
          for (std::size_t j = 0; j < image; ++j) to[i * image + j] = from[i * image + j] + shift[i % channels];
      });
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 50;
  run<float>("float", 512, 512, repetitions);
  run<double>("double", 512, 512, repetitions);
  run<double>("double", 2048, 2048, repetitions / 4 + 1);
  run<float>("float", 64, 64, repetitions * 4);
  run<float>("float", 4096, 8, repetitions);
}
