// How long a repartition takes, against a memcpy of the same bytes and against the other ways to do it, all in one run
// and in turn. Start it on 2 or on 4 workers: mpirun -n 2 bench/repartition [--json] [--quick] [case]
#include "machine.hpp"
#include "peers.hpp"

#include <partita/comm/box_exchange.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/schedule.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace partita;

struct options {
  bool json = false, quick = false;
  std::string only;
} chosen;

/// Blocks as the heap gives them, touched before any timing.
struct blocks {
  std::vector<float> x, y, other;
};

/// One way to do it: what is called, and where the result then lies.
struct variant {
  std::string name;
  std::function<const float*()> run;
  bool moves = true;  ///< memcpy and the raw exchange of contiguous bytes do not repartition anything
};

/// Reads a result once, as whoever asked for it would.
float sum_of(const float* p, std::size_t n) {
  float s[16] = {};
  std::size_t k = 0;
  for (; k + 16 <= n; k += 16)
    for (std::size_t i = 0; i < 16; ++i) s[i] += p[k + i];
  float total = 0;
  for (float v : s) total += v;
  return total;
}

template <std::size_t Rank>
class ours {
 public:
  ours(const bench::problem& p, const node& members, arena& memory, node_channel* channel, int tag,
       const mail_policy& mail = {})
      : memory_(memory) {
    std::array<std::size_t, Rank> from{}, to{}, extents{}, turned{};
    axes_order<Rank> axes = same_axes<Rank>();
    if constexpr (Rank > 1)
      if (p.transposed) std::swap(axes[0], axes[1]);
    for (std::size_t d = 0; d < Rank; ++d) from[d] = p.from[d], to[d] = p.to[d], extents[d] = p.extents[d];
    for (std::size_t d = 0; d < Rank; ++d) turned[d] = extents[axes[d]];
    const grid<dynamic_extents<Rank>> source{dynamic_extents<Rank>(from)}, destination{dynamic_extents<Rank>(to)};
    auto schedule = schedule_repartition(source, decomposition<Rank>::balanced(extents, from), destination,
                                         decomposition<Rank>::balanced(turned, to), axes,
                                         static_cast<std::size_t>(bench::worker()));
    x_strides_ = detail::dense_strides(schedule.source_shape);
    y_strides_ = schedule.received_strides;
    size_ = volume_of(schedule.received_shape);
    exchange_ =
        std::make_unique<box_exchange<float, Rank>>(MPI_COMM_WORLD, tag, members, channel, std::move(schedule), mail);
  }

  /// As r(x): a fresh result from the pool each time.
  const float* pooled(const float* x) {
    result_ = {};
    result_ = make_pooled<float, 1>(memory_, {size_});
    into(x, result_.data());
    return result_.data();
  }
  /// As r.into(x, y).
  void into(const float* x, float* y) {
    exchange_->start(x, x_strides_, y, y_strides_);
    exchange_->finish();
  }

 private:
  arena& memory_;
  std::array<std::ptrdiff_t, Rank> x_strides_{}, y_strides_{};
  std::size_t size_ = 0;
  std::unique_ptr<box_exchange<float, Rank>> exchange_;
  pooled_tensor<float, 1> result_;
};

void report(const bench::problem& p, const std::string& name, bench::regime r, const std::vector<double>& samples,
            double memcpy_median, double best_peer) {
  if (bench::worker() != 0 || samples.empty()) return;
  const std::size_t bytes = bench::volume(p.extents) * sizeof(float);
  const double median = bench::median(samples);
  if (chosen.json)
    std::printf(
        "{\"bench\": \"repartition\", \"case\": \"%s\", \"workers\": %d, \"bytes\": %zu, \"peer\": \"%s\", "
        "\"seconds_median\": %.9f, \"seconds_min\": %.9f, \"ratio_to_memcpy\": %.3f, \"regime\": \"%s\", \"samples\": "
        "%zu}\n",
        p.name.c_str(), bench::workers(), bytes, name.c_str(), median, bench::least(samples), median / memcpy_median,
        name_of(r), samples.size());
  else
    std::printf("  %-26s %11.1f us  min %11.1f  %6.2f x memcpy  %5.2f x best peer\n", name.c_str(), median * 1e6,
                bench::least(samples) * 1e6, median / memcpy_median, median / best_peer);
  std::fflush(stdout);
}

template <std::size_t Rank>
void measure(const bench::problem& p, bench::regime_meter& meter, int samples, bool then_read = false) {
  if (!chosen.only.empty() && p.name.find(chosen.only) == std::string::npos) return;
  const int me = bench::worker(), n = bench::workers();
  const auto worker = static_cast<std::size_t>(me);
  bench::shape turned = p.extents;
  if (p.transposed) std::swap(turned[0], turned[1]);
  const std::size_t x_size = bench::volume(bench::block_of(p.extents, p.from, worker).size());
  const std::size_t y_size = bench::volume(bench::block_of(turned, p.to, worker).size());
  const std::size_t most = std::max(x_size, y_size);
  blocks b{std::vector<float>(most + 16), std::vector<float>(most + 16), std::vector<float>(most + 16)};
  float *const x = b.x.data(), *const y = b.y.data();

  const node members(MPI_COMM_WORLD);
  arena& memory = arena::of(members);
  node_channel channel(members, memory);
  ours<Rank> shared(p, members, memory, &channel, 1), mailed(p, members, memory, nullptr, 2, {messages::measured});

  std::vector<variant> variants;
  variants.push_back({"memcpy",
                      [&] { return static_cast<const float*>(std::memcpy(b.other.data(), x, most * sizeof(float))); },
                      false});
  variants.push_back({"partita", [&] { return shared.pooled(x); }});
  variants.push_back({"partita, into the heap", [&] { return shared.into(x, y), y; }});
  const auto peer = [&](const char* name, bench::call f, bool moves = true) {
    variants.push_back({name, [f, x, y] { return f(x, y), y; }, moves});
  };
  if (!p.transposed) {
    variants.push_back({"partita, by mail", [&] { return mailed.into(x, y), y; }});
    peer("MPI contiguous", bench::raw_contiguous(p, me, n), false);
    peer("MPI types", bench::raw_types(p, me, n));
    peer("MPI packed", bench::raw_packed(p, me, n));
    peer("MPI_Alltoallw", bench::raw_alltoallw(p, me, n));
#if defined(BENCH_SCALAPACK)
    const auto even = [&](const bench::shape& grid) {
      return p.extents[0] % grid[0] == 0 && p.extents[1] % grid[1] == 0;
    };
    if (Rank == 2 && bench::volume(p.from) == static_cast<std::size_t>(n) &&
        bench::volume(p.to) == static_cast<std::size_t>(n) && even(p.from) && even(p.to))
      peer("ScaLAPACK psgemr2d", bench::scalapack(p, me, n));
#endif
  }
#if defined(BENCH_FFTW)
  if (p.transposed) peer("FFTW-MPI transpose", bench::fftw(p, x, y));
#endif

  const auto rewrite = [&](std::size_t round) {
    for (std::size_t k = 0; k < x_size; ++k) x[k] = static_cast<float>((k * 7 + worker * 1000003 + round) % 1000003);
  };
  // Every way must give what ours gives, element by element, before anything is timed.
  rewrite(0);
  const float* const first = shared.pooled(x);
  const std::vector<float> expected(first, first + y_size);
  for (const variant& v : variants) {
    if (!v.moves) continue;
    rewrite(0);
    const float* const result = v.run();
    if (std::memcmp(result, expected.data(), y_size * sizeof(float)) != 0) {
      std::fprintf(stderr, "%s, %s: worker %d holds something else\n", p.name.c_str(), v.name.c_str(), me);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  std::vector<std::vector<double>> times[3];
  for (auto& t : times) t.resize(variants.size());
  const std::size_t inner = most * sizeof(float) < (std::size_t{1} << 20) ? 20 : 1;
  volatile float sink = 0;
  if (chosen.quick) samples = samples / 3 + 3;
  for (int s = -1; s < samples; ++s)
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const bench::regime before = meter.now();
      double total = 0;
      for (std::size_t k = 0; k < inner; ++k) {
        rewrite(static_cast<std::size_t>(s + 2) + k);
        total += bench::timed([&] {
          const float* const result = variants[v].run();
          if (then_read) sink = sink + sum_of(result, y_size);
        });
      }
      const bench::regime after = meter.now();
      if (s >= 0 && before == after) times[static_cast<int>(before)][v].push_back(total / static_cast<double>(inner));
    }
  for (int r = 0; r < 3; ++r) {
    if (times[r][0].size() < 3) continue;
    const double copy = bench::median(times[r][0]);
    double best = 1e30;
    for (std::size_t v = 0; v < variants.size(); ++v)
      if (variants[v].moves && variants[v].name.rfind("partita", 0) != 0 && !times[r][v].empty())
        best = std::min(best, bench::median(times[r][v]));
    if (me == 0 && !chosen.json)
      std::printf("%s, %d workers, %s (%zu samples)\n", p.name.c_str(), n,
                  bench::name_of(static_cast<bench::regime>(r)), times[r][0].size());
    for (std::size_t v = 0; v < variants.size(); ++v)
      report(p, variants[v].name, static_cast<bench::regime>(r), times[r][v], copy, best);
  }
}

/// A layer whose batch alternates between two sizes: both schedules are kept, nothing is planned again.
void alternating(bench::regime_meter& meter, int samples) {
  const auto n = static_cast<std::size_t>(bench::workers());
  measure<2>({"batch 64", {64, 4096}, {n, 1}, {1, n}}, meter, samples);
  measure<2>({"batch 96", {96, 4096}, {n, 1}, {1, n}}, meter, samples);
}

void all_cases() {
  bench::regime_meter meter;
  const auto n = static_cast<std::size_t>(bench::workers());
  measure<2>({"256^2", {256, 256}, {n, 1}, {1, n}}, meter, 41);
  measure<2>({"2048^2", {2048, 2048}, {n, 1}, {1, n}}, meter, 31);
  measure<2>({"2048^2 and read", {2048, 2048}, {n, 1}, {1, n}}, meter, 31, true);
  measure<2>({"uneven 1021 x 2039", {1021, 2039}, {n, 1}, {1, n}}, meter, 31);
  measure<2>({"scatter 2048^2", {2048, 2048}, {1, 1}, {n, 1}}, meter, 21);
  measure<2>({"gather 2048^2", {2048, 2048}, {n, 1}, {1, 1}}, meter, 21);
  alternating(meter, 21);
  measure<2>({"transpose 4096^2", {4096, 4096}, {n, 1}, {n, 1}, true}, meter, 15);
  measure<3>({"256^3", {256, 256, 256}, {n, 1, 1}, {1, 1, n}}, meter, 15);
  if (n == 2) {
    measure<4>({"64^4", {64, 64, 64, 64}, {n, 1, 1, 1}, {1, 1, 1, n}}, meter, 15);
    measure<2>({"8192^2", {8192, 8192}, {n, 1}, {1, n}}, meter, 9);
  }
  if (n == 4) {
    measure<3>({"pencils 256^3", {256, 256, 256}, {1, 2, 2}, {2, 1, 2}}, meter, 15);
    measure<2>({"4096^2", {4096, 4096}, {n, 1}, {1, n}}, meter, 15);
    measure<2>({"4096^2 squares to rows", {4096, 4096}, {2, 2}, {4, 1}}, meter, 15);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--json")
      chosen.json = true;
    else if (word == "--quick")
      chosen.quick = true;
    else
      chosen.only = word;
  }
  if (bench::worker() == 0 && !chosen.json) {
#if !defined(BENCH_SCALAPACK)
    std::printf("ScaLAPACK was not found when this was built: left out\n");
#endif
#if !defined(BENCH_FFTW)
    std::printf("FFTW-MPI was not found when this was built: left out\n");
#endif
  }
  all_cases();
  MPI_Finalize();
}
