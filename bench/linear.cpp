// Compares a linear layer, forward and with its adjoint, with its local products alone, with the layer written by hand
// on MPI and CBLAS, and with ScaLAPACK's psgemm, alternating in one run. W is partitioned over all workers.
#include "linear_by_hand.hpp"
#include "machine.hpp"

#include <cmath>
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
  std::size_t f_out = 0, f_in = 0;
  int rounds = 15;
} chosen;

#if defined(BENCH_SCALAPACK)
/// y = x W^T by psgemm. ScaLAPACK reads a row-major matrix as its transpose, so it computes y^T = W x^T on f_in x f_out
/// workers. Each worker holds one block of each matrix; the batch is also partitioned.
class scalapack {
 public:
  scalapack(int f_out, int f_in, int batch, int features) : batch_(batch), features_(features) {
    Cblacs_get(0, 0, &context_);
    Cblacs_gridinit(&context_, "Column", f_in, f_out);  // worker i f_in + j is at (j, i), as for the layer's W
    const auto up = [](int a, int b) { return (a + b - 1) / b; };
    const auto describe = [&](int rows, int columns, int* d) {
      const int descriptor[9] = {1, context_, rows, columns, up(rows, f_in), up(columns, f_out), 0, 0, up(rows, f_in)};
      std::copy_n(descriptor, 9, d);
      return std::vector<float>(static_cast<std::size_t>(descriptor[4]) * static_cast<std::size_t>(descriptor[5]), 1.F);
    };
    w_ = describe(features, features, w_descriptor_);
    x_ = describe(features, batch, x_descriptor_);
    y_ = describe(features, batch, y_descriptor_);
  }
  void forward() {
    const float unit = 1, zero = 0;
    const int one = 1;
    psgemm_("T", "N", &features_, &batch_, &features_, &unit, w_.data(), &one, &one, w_descriptor_, x_.data(), &one,
            &one, x_descriptor_, &zero, y_.data(), &one, &one, y_descriptor_);
  }
  /// Computes dW^T = x^T dy and dx^T = W^T dy^T, using y as dy.
  void adjoint() {
    const float unit = 1, zero = 0;
    const int one = 1;
    psgemm_("N", "T", &features_, &features_, &batch_, &unit, x_.data(), &one, &one, x_descriptor_, y_.data(), &one,
            &one, y_descriptor_, &zero, dw(), &one, &one, w_descriptor_);
    psgemm_("N", "N", &features_, &batch_, &features_, &unit, w_.data(), &one, &one, w_descriptor_, y_.data(), &one,
            &one, y_descriptor_, &zero, dx(), &one, &one, x_descriptor_);
  }

 private:
  float* dw() { return dw_.resize(w_.size()), dw_.data(); }
  float* dx() { return dx_.resize(x_.size()), dx_.data(); }

  int batch_, features_, context_ = 0;
  int w_descriptor_[9], x_descriptor_[9], y_descriptor_[9];
  std::vector<float> w_, x_, y_, dw_, dx_;
};
#endif

/// One implementation of the layer: the forward call alone, and with its adjoint.
struct variant {
  std::string name;
  std::function<void()> run;
  std::vector<double> samples{};
};

void report(bench::rows& out, const std::string& what, const char* regime, std::size_t batch, std::size_t features,
            const std::vector<variant>& variants) {
  const double median_alone = bench::median(variants[0].samples), least_alone = bench::least(variants[0].samples);
  const auto by = [](std::size_t a, std::size_t b) { return std::to_string(a) + "x" + std::to_string(b); };
  for (const variant& v : variants)
    out.add_peer(what + " " + by(batch, features) + " on " + by(chosen.f_out, chosen.f_in), v.name, v.samples,
                 {{"bytes", 2 * batch * features * sizeof(float)},
                  {"ratio", bench::median(v.samples) / median_alone},
                  {"ratio_of_minima", bench::least(v.samples) / least_alone},
                  {"regime", regime}});
}

void measure(bench::rows& out, bench::regime_meter& meter, const world& everyone, std::size_t batch,
             std::size_t features) {
  const std::size_t f_out = chosen.f_out, f_in = chosen.f_in;
  bench::linear_by_hand raw(static_cast<int>(f_out), static_cast<int>(f_in), static_cast<int>(batch),
                            static_cast<int>(features), static_cast<int>(features));
  std::vector<std::size_t> workers_of_y;
  for (std::size_t i = 0; i < f_out; ++i) workers_of_y.push_back(i * f_in);
  const auto p_x = everyone.partition(extents<1, dynamic>(f_in));
  const auto p_y = everyone.partition(extents<1, dynamic>(f_out), workers(workers_of_y));
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
  const double work = 2e-9 * static_cast<double>(batch * features * features /
                                                 (f_out * f_in));  // the work of a call, in units of about 10 ms
  const int inner = work < 0.01 ? 20 : work < 0.1 ? 5 : 1;
  bench::seen_regimes met;
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
  report(out, "forward", regime, batch, features, forward);
  report(out, "forward and adjoint", regime, batch, features, both);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "linear", "a linear layer against its products alone, the same by hand, and ScaLAPACK", {1},
      {{"grid", bench::argument::pair, "f_out and f_in of the workers that hold W; without it 1 and all"},
       {"batch", bench::argument::list, "rows of x", "1,16,64,256,1024", "16"},
       {"features", bench::argument::list, "features of x and of y", "256,1024,4096", "48"},
       {"rounds", bench::argument::count, "samples of each", "15", "2"}});
  return bench::run_on_workers(argc, argv, line, [](const bench::command_line& given, bench::rows& out) {
    const world everyone;
    chosen = {1, everyone.size(), given.rounds()};
    if (given.has("grid")) chosen.f_out = given.counts("grid")[0], chosen.f_in = given.counts("grid")[1];
    if (chosen.f_out * chosen.f_in != everyone.size())
      throw bench::usage_error("requires --grid f_out f_in with f_out x f_in = the number of workers");
    for (const std::size_t features : given.counts("features"))
      if (features % chosen.f_out != 0 || features % chosen.f_in != 0)
        throw bench::usage_error("requires --features that both numbers of --grid divide");
#if !defined(BENCH_SCALAPACK)
    out.note("ScaLAPACK was not found when this was built: left out");
#endif
    bench::regime_meter meter;
    for (const std::size_t features : given.counts("features"))
      for (const std::size_t batch : given.counts("batch")) measure(out, meter, everyone, batch, features);
    return true;
  });
}
