// Compares Fourier transforms of a cube with FFTW's local transforms and repartitions by hand, and with FFTW-MPI. The
// benchmark also compares real with complex numbers, odd or prime extents with a cube, three fields in one exchange
// with three calls, and the steps of the NAS benchmark FT with the same steps by hand.
#ifdef BENCH_FFTW
#include <fftw3-mpi.h>
#else
#include <fftw3.h>
#endif

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <tuple>
#include <vector>

#include "machine.hpp"

#include <partita/kernel/block_from.hpp>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/kernel/repartition.hpp>

namespace {

using namespace partita;
using number = std::complex<double>;
using block = xt::xtensor<number, 3>;

fftw_complex* as_fftw(number* x) { return reinterpret_cast<fftw_complex*>(x); }

/// The transform by hand from planes to columns: FFTW transforms planes, a repartition moves the numbers, and FFTW
/// transforms lines.
class by_hand {
 public:
  by_hand(const world& everyone, const std::array<std::size_t, 3>& n)
      : move_(everyone.partition(extents<dynamic, 1, 1>(everyone.size())),
              everyone.partition(extents<1, dynamic, 1>(everyone.size()))),
        planes_({balanced_part(n[0], everyone.size(), everyone.id()).size(), n[1], n[2]}),
        result_({n[0], balanced_part(n[1], everyone.size(), everyone.id()).size(), n[2]}) {
    const std::array all{static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2])};
    const int planes = static_cast<int>(planes_.shape()[0]), lines = static_cast<int>(result_.shape()[1]) * all[2];
    fftw_complex *const x = as_fftw(planes_.data()), *const y = as_fftw(result_.data());
    const auto plans = [&](int sign) {
      return std::array{
          fftw_plan_many_dft(2, &all[1], planes, x, nullptr, 1, all[1] * all[2], x, nullptr, 1, all[1] * all[2], sign,
                             FFTW_ESTIMATE),
          fftw_plan_many_dft(1, &all[0], lines, y, nullptr, lines, 1, y, nullptr, lines, 1, sign, FFTW_ESTIMATE)};
    };
    there_ = plans(FFTW_FORWARD), back_ = plans(FFTW_BACKWARD);
  }
  by_hand(const by_hand&) = delete;
  by_hand& operator=(const by_hand&) = delete;
  ~by_hand() {
    for (const auto& plans : {there_, back_})
      for (const fftw_plan plan : plans) fftw_destroy_plan(plan);
  }

  const block& operator()(const block& x) {
    std::copy_n(x.data(), x.size(), planes_.data());
    fftw_execute(there_[0]);
    move_.into(planes_, result_);
    fftw_execute(there_[1]);
    return result_;
  }
  /// The inverse transform, without its factor, of an expression of waves.
  template <class Waves>
  const block& inverse(const Waves& waves) {
    xt::noalias(result_) = waves;
    fftw_execute(back_[1]);
    move_.adjoint_into(result_, planes_);
    fftw_execute(back_[0]);
    return planes_;
  }

 private:
  repartition<extents<dynamic, 1, 1>, extents<1, dynamic, 1>> move_;
  block planes_, result_;
  std::array<fftw_plan, 2> there_, back_;  // the plans of planes and of lines
};

#ifdef BENCH_FFTW
/// The transform by FFTW-MPI, whose result is also transposed.
class by_fftw_mpi {
 public:
  explicit by_fftw_mpi(const std::array<std::size_t, 3>& n) {
    const std::array all{static_cast<std::ptrdiff_t>(n[0]), static_cast<std::ptrdiff_t>(n[1]),
                         static_cast<std::ptrdiff_t>(n[2])};
    std::ptrdiff_t rows = 0, start = 0, columns = 0, column = 0;
    const std::ptrdiff_t size =
        fftw_mpi_local_size_3d_transposed(all[0], all[1], all[2], MPI_COMM_WORLD, &rows, &start, &columns, &column);
    rows_ = static_cast<std::size_t>(rows);
    row_ = n[1] * n[2];
    data_ = fftw_alloc_complex(static_cast<std::size_t>(size));
    plan_ = fftw_mpi_plan_dft_3d(all[0], all[1], all[2], data_, data_, MPI_COMM_WORLD, FFTW_FORWARD,
                                 FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
  }
  by_fftw_mpi(const by_fftw_mpi&) = delete;
  by_fftw_mpi& operator=(const by_fftw_mpi&) = delete;
  ~by_fftw_mpi() { fftw_destroy_plan(plan_), fftw_free(data_); }

  void operator()(const block& x) {
    // FFTW-MPI gives the first workers as many rows as possible, whereas partita has balanced blocks
    std::copy_n(x.data(), std::min(x.size(), rows_ * row_), reinterpret_cast<number*>(data_));
    fftw_execute(plan_);
  }

 private:
  std::size_t rows_ = 0, row_ = 0;
  fftw_complex* data_ = nullptr;
  fftw_plan plan_ = nullptr;
};
#endif

number element(std::size_t i, std::size_t j, std::size_t k) {
  return {static_cast<double>((3 * i + 5 * j + 7 * k) % 11), static_cast<double>((i * j + k) % 4)};
}

/// Compares the transforms of one shape, which take turns. Returns whether the results are equal.
bool compare(const world& everyone, const std::array<std::size_t, 3>& n, int rounds, bench::rows& out) {
  const auto p_x = everyone.partition(extents<dynamic, 1, 1>(everyone.size()));
  const auto p_y = everyone.partition(extents<1, dynamic, 1>(everyone.size()));
  const block x = block_from<number>(p_x, dynamic_extents<3>(n), element);
  const xt::xtensor<double, 3> r =
      block_from<double>(p_x, dynamic_extents<3>(n), [](auto... i) { return element(i...).real(); });
  const auto f = fourier_transform<0, 1, 2>(p_x, p_y);
  const auto to_half_spectrum = fourier_transform<0, 1, 2>(p_x, p_y, real_to_complex, {.real_extent = n[2]});
  block y({n[0], balanced_part(n[1], everyone.size(), everyone.id()).size(), n[2]}),
      half({y.shape()[0], y.shape()[1], n[2] / 2 + 1});
  by_hand hand(everyone, n);
#ifdef BENCH_FFTW
  by_fftw_mpi fftw(n);
#endif
  std::vector<double> ours, manual, theirs, real;
  for (int k = -2; k < rounds; ++k) {
    const double partita_seconds = bench::timed([&] { f.into(x, y); }), hand_seconds = bench::timed([&] { hand(x); }),
                 real_seconds = bench::timed([&] { to_half_spectrum.into(r, half); });
    if (k >= 0) ours.push_back(partita_seconds), manual.push_back(hand_seconds), real.push_back(real_seconds);
#ifdef BENCH_FFTW
    const double fftw_seconds = bench::timed([&] { fftw(x); });
    if (k >= 0) theirs.push_back(fftw_seconds);
#endif
  }
  const block& known = hand(x);
  const double most = static_cast<double>(volume_of(n)) * 1e-13, partita_seconds = bench::median(ours);
  bool right = true;
  for (std::size_t k = 0; k < y.size(); ++k) right = right && std::abs(y.data()[k] - known.data()[k]) <= most;
  bench::row fields{{"seconds", partita_seconds},
                    {"seconds_by_hand", bench::median(manual)},
                    {"seconds_real", bench::median(real)},
                    {"to_by_hand", partita_seconds / bench::median(manual)},
                    {"real_to_complex", bench::median(real) / partita_seconds}};
  if (!theirs.empty()) {
    fields["seconds_fftw_mpi"] = bench::median(theirs);
    fields["fftw_mpi_to_ours"] = bench::median(theirs) / partita_seconds;
  }
  out.add(std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]), fields, ours.size());
  return right;
}

/// Compares transforms of odd or prime extents with those of a cube, in turn.
void compare_with_cube(const world& everyone, std::size_t n, int rounds, bench::rows& out) {
  const auto p_x = everyone.partition(extents<dynamic, 1, 1>(everyone.size()));
  const auto p_y = everyone.partition(extents<1, dynamic, 1>(everyone.size()));
  const auto f = fourier_transform<0, 1, 2>(p_x, p_y);
  const block x = block_from<number>(p_x, extents(n, n, n), element),
              z = block_from<number>(p_x, extents(n - 1, n + 1, n + 3), element);
  block of_cube = f(x), of_others = f(z);
  std::vector<double> cube, others;
  for (int k = -2; k < rounds; ++k) {
    const double one = bench::timed([&] { f.into(x, of_cube); }), other = bench::timed([&] { f.into(z, of_others); });
    if (k >= 0) cube.push_back(one), others.push_back(other);
  }
  out.add(std::to_string(n - 1) + " x " + std::to_string(n + 1) + " x " + std::to_string(n + 3) + " beside a cube",
          {{"seconds", bench::median(others)},
           {"seconds_cube", bench::median(cube)},
           {"to_cube", bench::median(others) / bench::median(cube)}},
          cube.size());
}

/// Compares a call of three fields, three calls of one field, and one call of one field, in turn. Returns whether all
/// results are equal.
bool compare_fields(const world& everyone, std::size_t n, int rounds, bench::rows& out) {
  const auto p_x = everyone.partition(extents<dynamic, 1, 1>(everyone.size()));
  const auto p_y = everyone.partition(extents<1, dynamic, 1>(everyone.size()));
  const auto f = fourier_transform<0, 1, 2>(p_x, p_y);
  const block x = block_from<number>(p_x, extents(n, n, n), element);
  const block y = 2.0 * x, z = 3.0 * x;
  block a, b, c, d = f(x), e = f(y), g = f(z);
  std::tie(a, b, c) = f(x, y, z);
  std::vector<double> together, apart, alone;
  for (int k = -2; k < rounds; ++k) {
    const double joint_seconds = bench::timed([&] { f.into(std::tie(x, y, z), std::tie(a, b, c)); });
    const double separate_seconds = bench::timed([&] { f.into(x, d), f.into(y, e), f.into(z, g); });
    const double single_seconds = bench::timed([&] { f.into(x, d); });
    if (k >= 0) together.push_back(joint_seconds), apart.push_back(separate_seconds), alone.push_back(single_seconds);
  }
  out.add("3 fields of " + std::to_string(n) + " x " + std::to_string(n) + " x " + std::to_string(n),
          {{"seconds", bench::median(together)},
           {"seconds_three_calls", bench::median(apart)},
           {"seconds_one_field", bench::median(alone)},
           {"to_three_calls", bench::median(together) / bench::median(apart)},
           {"to_one_field", bench::median(together) / bench::median(alone)}},
          together.size());
  return a == d && b == e && c == g;
}

/// Compares the transforms of the NAS benchmark FT with the same transforms by hand, in turn: one forward, and one back
/// for each of six steps, in which each wave decays. Returns whether the results are equal.
bool compare_nas_ft(const world& everyone, const char* name, const std::array<std::size_t, 3>& n, int rounds,
                    bench::rows& out) {
  const auto p_x = everyone.partition(extents<dynamic, 1, 1>(everyone.size()));
  const auto transform = fourier_transform<0, 1, 2>(p_x);
  const auto inverse = transform.inverse(dynamic_extents<3>(n));
  const block x = block_from<number>(p_x, dynamic_extents<3>(n), element);
  const auto decay_on = [&](const auto& p) {
    return xt::xtensor<double, 3>(block_from<double>(p, dynamic_extents<3>(n), [&](auto... i) {
      const std::array at{static_cast<std::size_t>(i)...};
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d) sum -= 4e-5 * static_cast<double>(std::min(at[d], n[d] - at[d]));
      return sum;
    }));
  };
  const auto decay = decay_on(transform.result_partition(dynamic_extents<3>(n)));
  const auto decay_by_hand = decay_on(everyone.partition(extents<1, dynamic, 1>(everyone.size())));
  by_hand hand(everyone, n);
  const double each = 1 / static_cast<double>(volume_of(n));
  number first = 0, first_by_hand = 0;  // the sums of one element over all steps
  std::vector<double> ours, manual;
  for (int k = -1; k < rounds; ++k) {
    const double partita_seconds = bench::timed([&] {
      const auto waves = transform(x);
      for (int t = 1; t <= 6; ++t) {
        const auto v = inverse(waves * xt::exp(decay * static_cast<double>(t)));
        first += v.data()[v.size() / 2];
      }
    });
    const double hand_seconds = bench::timed([&] {
      const block waves = hand(x);
      for (int t = 1; t <= 6; ++t) {
        const block& v = hand.inverse(waves * xt::exp(decay_by_hand * static_cast<double>(t)) * each);
        first_by_hand += v.data()[v.size() / 2];
      }
    });
    if (k >= 0) ours.push_back(partita_seconds), manual.push_back(hand_seconds);
  }
  out.add(std::string("NAS FT, class ") + name,
          {{"seconds", bench::median(ours)},
           {"seconds_by_hand", bench::median(manual)},
           {"to_by_hand", bench::median(ours) / bench::median(manual)}},
          ours.size());
  return std::abs(first - first_by_hand) <= 1e-10 * std::abs(first);
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
#ifdef BENCH_FFTW
  fftw_mpi_init();
#else
  out.note("FFTW-MPI is missing (libfftw3-mpi-dev)");
#endif
  bool right = true;
  for (const std::size_t n : line.counts("cubes")) right = compare(everyone, {n, n, n}, line.rounds(), out) && right;
  for (const std::size_t n : line.counts("fields")) right = compare_fields(everyone, n, line.rounds(), out) && right;
  constexpr std::tuple<const char*, std::array<std::size_t, 3>> classes[] = {
      {"S", {64, 64, 64}}, {"W", {32, 128, 128}}, {"A", {128, 256, 256}}};
  for (std::size_t k = 0; k < std::min(line.count("classes"), std::size(classes)); ++k)
    right = compare_nas_ft(everyone, std::get<0>(classes[k]), std::get<1>(classes[k]), line.rounds(), out) && right;
  const std::size_t n = line.count("uneven");
  compare_with_cube(everyone, n, line.rounds(), out);
  return compare(everyone, {n - 1, n + 1, n + 3}, line.rounds(), out) && right;
}

}  // namespace
int main(int argc, char** argv) {
  const bench::command_line line(
      "fourier", "Fourier transforms of cubes by hand, by FFTW-MPI and by partita", {2},
      {{"rounds", bench::argument::count, "samples of each", "7", "1"},
       {"cubes", bench::argument::list, "numbers along each edge", "128,256", "16"},
       {"fields", bench::argument::list, "numbers along each edge of three fields", "32,128", "8,16"},
       {"classes", bench::argument::count, "classes S, W, A of NAS FT from the first on", "3", "1"},
       {"uneven", bench::argument::count, "of N - 1, N + 1 and N + 3 numbers along the edges", "128", "16"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
