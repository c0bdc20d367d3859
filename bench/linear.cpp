// How long a linear layer takes, forward and with its adjoint, against the same local products alone, the layer written
// by hand on MPI and CBLAS, and ScaLAPACK's psgemm: in one run and in turn. W is cut over as many workers as there are:
//   mpirun -n 2 bench/linear [--json] [--grid f_out f_in] [--batch n] [--features n] [--rounds n]
#include "linear_by_hand.hpp"
#include "machine.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <partita/nn/linear.hpp>
#include <string>
#include <vector>

#if defined(BENCH_SCALAPACK)
extern "C" {
void Cblacs_get(int, int, int*);
void Cblacs_gridinit(int*, const char*, int, int);
void psgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
             const int*, const int*, const float*, const int*, const int*, const int*, const float*, float*, const int*,
             const int*, const int*);
}
#endif

namespace {

using namespace partita;

struct {
  bool json = false;
  std::size_t f_out = 0, f_in = 0, batch = 0, features = 0;
  int rounds = 15;
} chosen;

#if defined(BENCH_SCALAPACK)
/// y = x W^T by psgemm. A row-major matrix is its transpose to ScaLAPACK: y^T = W x^T on f_in x f_out workers, each
/// with one block of each matrix, the batch cut as well.
class scalapack {
 public:
  scalapack(int f_out, int f_in, int batch, int features) : batch_(batch), features_(features) {
    Cblacs_get(0, 0, &context_);
    Cblacs_gridinit(&context_, "Column", f_in, f_out);  // worker i f_in + j at (j, i), as the layer's W
    const auto up = [](int a, int b) { return (a + b - 1) / b; };
    const auto describe = [&](int rows, int columns, int* d) {
      const int of_this[9] = {1, context_, rows, columns, up(rows, f_in), up(columns, f_out), 0, 0, up(rows, f_in)};
      std::copy_n(of_this, 9, d);
      return std::vector<float>(static_cast<std::size_t>(of_this[4]) * static_cast<std::size_t>(of_this[5]), 1.F);
    };
    w_ = describe(features, features, of_w_);
    x_ = describe(features, batch, of_x_);
    y_ = describe(features, batch, of_y_);
  }
  void forward() {
    const float one_f = 1, zero_f = 0;
    const int one = 1;
    psgemm_("T", "N", &features_, &batch_, &features_, &one_f, w_.data(), &one, &one, of_w_, x_.data(), &one, &one,
            of_x_, &zero_f, y_.data(), &one, &one, of_y_);
  }
  /// dW^T = x^T dy and dx^T = W^T dy^T, with y in the place of dy.
  void adjoint() {
    const float one_f = 1, zero_f = 0;
    const int one = 1;
    psgemm_("N", "T", &features_, &features_, &batch_, &one_f, x_.data(), &one, &one, of_x_, y_.data(), &one, &one,
            of_y_, &zero_f, dw(), &one, &one, of_w_);
    psgemm_("N", "N", &features_, &batch_, &features_, &one_f, w_.data(), &one, &one, of_w_, y_.data(), &one, &one,
            of_y_, &zero_f, dx(), &one, &one, of_x_);
  }

 private:
  float* dw() { return dw_.resize(w_.size()), dw_.data(); }
  float* dx() { return dx_.resize(x_.size()), dx_.data(); }

  int batch_, features_, context_ = 0;
  int of_w_[9], of_x_[9], of_y_[9];
  std::vector<float> w_, x_, y_, dw_, dx_;
};
#endif

/// One way to compute a layer: only forward, or with its adjoint.
struct variant {
  std::string name;
  std::function<void()> run;
  std::vector<double> samples{};
};

void report(const char* what, const char* regime, std::size_t batch, std::size_t features,
            const std::vector<variant>& variants) {
  if (bench::worker() != 0) return;
  const double median_alone = bench::median(variants[0].samples), least_alone = bench::least(variants[0].samples);
  if (!chosen.json)
    std::printf("%s, %zu x %zu on %zu x %zu, %s\n", what, batch, features, chosen.f_out, chosen.f_in, regime);
  for (const variant& v : variants) {
    const double median = bench::median(v.samples), least = bench::least(v.samples);
    if (chosen.json)
      std::printf(
          "{\"bench\": \"linear\", \"case\": \"%s %zux%zu on %zux%zu\", \"workers\": %d, \"bytes\": %zu, \"peer\": "
          "\"%s\", "
          "\"seconds_median\": %.9f, \"seconds_min\": %.9f, \"ratio\": %.4f, \"ratio_of_minima\": %.4f, \"regime\": "
          "\"%s\", \"samples\": %zu}\n",
          what, batch, features, chosen.f_out, chosen.f_in, bench::workers(), 2 * batch * features * sizeof(float),
          v.name.c_str(), median, least, median / median_alone, least / least_alone, regime, v.samples.size());
    else
      std::printf("  %-10s %11.1f us  min %11.1f  %7.3f x products, minima %7.3f x\n", v.name.c_str(), median * 1e6,
                  least * 1e6, median / median_alone, least / least_alone);
  }
  std::fflush(stdout);
}

void measure(bench::regime_meter& meter, const world& everyone, std::size_t batch, std::size_t features) {
  const std::size_t f_out = chosen.f_out, f_in = chosen.f_in;
  bench::linear_by_hand raw(static_cast<int>(f_out), static_cast<int>(f_in), static_cast<int>(batch),
                            static_cast<int>(features), static_cast<int>(features));
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < f_out; ++i) ends.push_back(i * f_in);
  const auto p_x = everyone.partition(extents<1, dynamic>(f_in));
  const auto p_y = everyone.partition(extents<1, dynamic>(f_out), workers(ends));
  linear<float> layer(p_x, p_y, everyone.partition(extents<dynamic, dynamic>(f_out, f_in)),
                      {.in_features = features, .out_features = features, .bias = false});
  layer.weight().fill(1.F);
  xt::xtensor<float, 2> x = zero_volume<float, 2>(batch), dy = x;
  if (p_x.active()) x = xt::ones<float>({batch, features / f_in});
  if (p_y.active()) dy = xt::ones<float>({batch, features / f_out});
  std::vector<variant> forward, both;
  const auto add = [&](const char* name, const std::function<void()>& first, const std::function<void()>& second) {
    forward.push_back({name, first});
    both.push_back({name, [=] { first(), second(); }});
  };
  add(
      "products", [&] { raw.product(); }, [&] { raw.adjoint_products(); });
  add(
      "by hand", [&] { raw.forward(); }, [&] { raw.adjoint(); });
  add(
      "partita", [&] { layer(x); }, [&] { layer.adjoint(dy); });
#if defined(BENCH_SCALAPACK)
  scalapack psgemm(static_cast<int>(f_out), static_cast<int>(f_in), static_cast<int>(batch),
                   static_cast<int>(features));
  add(
      "psgemm", [&] { psgemm.forward(); }, [&] { psgemm.adjoint(); });
#endif
  const double work =
      2e-9 * static_cast<double>(batch * features * features / (f_out * f_in));  // in units of about 10 ms
  const int inner = work < 0.01 ? 20 : work < 0.1 ? 5 : 1;
  bench::regimes_met met;
  for (int round = -2; round < chosen.rounds; ++round) {
    met.add(meter.now());
    for (auto* variants : {&forward, &both})
      for (variant& v : *variants) {
        double total = 0;
        for (int k = 0; k < inner; ++k) total += bench::timed(v.run);
        if (round >= 0) v.samples.push_back(total / inner);
      }
  }
  const char* const regime = met.most();
  report("forward", regime, batch, features, forward);
  report("forward and adjoint", regime, batch, features, both);
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  chosen.f_out = 1, chosen.f_in = everyone.size();
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto number = [&] { return k + 1 < argc ? static_cast<std::size_t>(std::atoi(argv[++k])) : 0; };
    if (word == "--json") chosen.json = true;
    if (word == "--grid") chosen.f_out = number(), chosen.f_in = number();
    if (word == "--batch") chosen.batch = number();
    if (word == "--features") chosen.features = number();
    if (word == "--rounds") chosen.rounds = static_cast<int>(number());
  }
  if (chosen.f_out * chosen.f_in != everyone.size()) {
    if (everyone.id() == 0) std::fprintf(stderr, "linear: f_out x f_in must be the number of workers\n");
    return 1;
  }
#if !defined(BENCH_SCALAPACK)
  if (everyone.id() == 0 && !chosen.json) std::printf("ScaLAPACK was not found when this was built: left out\n");
#endif
  bench::regime_meter meter;
  for (const std::size_t features : {256U, 1024U, 4096U})
    for (const std::size_t batch : {1U, 16U, 64U, 256U, 1024U})
      if ((chosen.features == 0 || chosen.features == features) && (chosen.batch == 0 || chosen.batch == batch))
        measure(meter, everyone, batch, features);
}
