// Compares a repartition with a memcpy of the same bytes and with other implementations of the same repartition,
// alternating in one run, on 2 or on 4 workers.
#include "machine.hpp"
#include "peers.hpp"
#if defined(BENCH_PETSC)
#include "petsc.hpp"
#endif

#include <partita/kernel/repartition.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace partita;

struct {
  bench::rows* out = nullptr;
  bool quick = false, keep_disturbed = false;
  std::string case_name;
  std::size_t samples = 0, most_bytes = 0;
} chosen;

/// One implementation: a function for each tensor of the case, which returns the address of its result.
struct variant {
  std::string name;
  bool moves = true;  ///< false for memcpy and for the raw exchange of contiguous bytes, which do not repartition
  std::vector<std::function<const float*()>> run{};
};

/// The blocks of one tensor in heap memory, whose pages are touched before any timing.
struct blocks {
  bench::shape x_shape, y_shape;
  std::size_t x_size, y_size, most;
  std::vector<float> x, y, other;

  explicit blocks(const bench::problem& p) {
    const auto worker = static_cast<std::size_t>(bench::worker());
    bench::shape turned = p.extents;
    if (p.transposed) std::swap(turned[0], turned[1]);
    x_shape = bench::block_of(p.extents, p.from, worker).size();
    y_shape = bench::block_of(turned, p.to, worker).size();
    x_size = bench::volume(x_shape);
    y_size = bench::volume(y_shape);
    most = std::max(x_size, y_size);
    for (auto* block : {&x, &y, &other}) block->resize(most + 16);
  }
  void rewrite(std::size_t round) {
    const auto worker = static_cast<std::size_t>(bench::worker());
    for (std::size_t k = 0; k < x_size; ++k) x[k] = static_cast<float>((k * 7 + worker * 1000003 + round) % 1000003);
  }
};

/// Reads all elements of a result once, as a program would.
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
std::array<std::size_t, Rank> array_of(const bench::shape& s) {
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = s[d];
  return all;
}

/// The heap memory of a block as an xtensor.
template <std::size_t Rank>
auto tensor_on(std::vector<float>& memory, const bench::shape& s) {
  return xt::adapt(memory.data(), bench::volume(s), xt::no_ownership(), array_of<Rank>(s));
}

/// The kernel repartition between the two grids of a problem.
template <std::size_t Rank, class... Policies>
auto ours(const world& everyone, const bench::problem& p, Policies... policies) {
  const auto on = [&](const bench::shape& grid) {
    return everyone.partition(dynamic_extents<Rank>(array_of<Rank>(grid)), workers(0, bench::volume(grid)));
  };
  auto p_x = on(p.from), p_y = on(p.to);
  return std::make_shared<repartition<dynamic_extents<Rank>, dynamic_extents<Rank>, Policies...>>(p_x, p_y,
                                                                                                  policies...);
}

/// The call y = r(x), with a new result from the pool in each call.
template <std::size_t Rank, class Kernel>
std::function<const float*()> pooled(const Kernel& r, blocks& b) {
  using result = decltype((*r)(tensor_on<Rank>(b.x, b.x_shape)));
  const auto y = std::make_shared<std::unique_ptr<result>>();
  return [r, y, &b] {
    y->reset();
    *y = std::make_unique<result>((*r)(tensor_on<Rank>(b.x, b.x_shape)));
    return static_cast<const float*>((*y)->data());
  };
}
/// The call r.into(x, y), where y is memory of the caller.
template <std::size_t Rank, class Kernel>
std::function<const float*()> into_the_heap(const Kernel& r, blocks& b) {
  return [r, &b] {
    r->into(tensor_on<Rank>(b.x, b.x_shape), tensor_on<Rank>(b.y, b.y_shape));
    return static_cast<const float*>(b.y.data());
  };
}

/// All implementations for tensors that share their grids. In a case of several tensors, each implementation moves all
/// tensors one after another.
template <std::size_t Rank, class... Policies>
std::vector<variant> all_ways(const world& everyone, const std::vector<bench::problem>& problems,
                              std::vector<blocks>& all, Policies... policies) {
  std::vector<variant> ways;
  const auto add = [&](const char* name, std::function<const float*()> run, bool moves = true) {
    for (variant& known : ways)
      if (known.name == name) return known.run.push_back(std::move(run));
    ways.push_back({name, moves, {std::move(run)}});
  };
  const auto shared = ours<Rank>(everyone, problems[0], policies...);
  const auto by_messages = ours<Rank>(everyone, problems[0], policies..., strategy::message, message_form::measured);
  const int me = bench::worker(), n = bench::workers();
  for (std::size_t k = 0; k < problems.size(); ++k) {
    const bench::problem& p = problems[k];
    blocks& b = all[k];
    const auto peer = [&](const char* name, bench::call f, bool moves = true) {
      float *const x = b.x.data(), *const y = b.y.data();
      add(
          name, [f, x, y] { return f(x, y), y; }, moves);
    };
    add(
        "memcpy",
        [&b] { return static_cast<const float*>(std::memcpy(b.other.data(), b.x.data(), b.most * sizeof(float))); },
        false);
    add("partita", pooled<Rank>(shared, b));
    add("partita, into the heap", into_the_heap<Rank>(shared, b));
    add("partita, messages alone", into_the_heap<Rank>(by_messages, b));
    if (!p.transposed) {
      peer("MPI contiguous", bench::raw_contiguous(p, me, n), false);
      peer("MPI types", bench::raw_types(p, me, n));
      peer("MPI packed", bench::raw_packed(p, me, n));
      peer("MPI_Alltoallw", bench::raw_alltoallw(p, me, n));
    }
#if defined(BENCH_SCALAPACK)
    if (bench::scalapack_supports(p, n)) peer("ScaLAPACK psgemr2d", bench::scalapack(p, me, n));
#endif
#if defined(BENCH_PETSC)
    if (bench::petsc_supports(p)) peer("PETSc VecScatter", bench::petsc(p, b.x.data(), b.y.data(), me, n));
#endif
#if defined(BENCH_FFTW)
    if (p.transposed) peer("FFTW-MPI transpose", bench::fftw(p, b.x.data(), b.y.data()));
#endif
  }
  return ways;
}

void report(const std::string& title, std::size_t bytes, const std::string& name, bench::regime r,
            const std::vector<double>& samples, double memcpy_median) {
  if (samples.empty()) return;
  chosen.out->add_peer(
      title, name, samples,
      {{"bytes", bytes}, {"ratio_to_memcpy", bench::median(samples) / memcpy_median}, {"regime", name_of(r)}});
}

template <std::size_t Rank>
void measure(const std::string& title, const std::vector<bench::problem>& problems, bench::regime_meter& meter,
             int samples, bool reads_result = false) {
  if (!chosen.case_name.empty() && title != chosen.case_name) return;
  for (const bench::problem& p : problems)
    if (bench::volume(p.extents) * sizeof(float) > chosen.most_bytes) return;
  const world everyone;
  std::vector<blocks> all(problems.begin(), problems.end());
  std::vector<variant> ways;
  if constexpr (Rank == 2) {
    ways = problems[0].transposed ? all_ways<Rank>(everyone, problems, all, permute<1, 0>)
                                  : all_ways<Rank>(everyone, problems, all);
  } else {
    ways = all_ways<Rank>(everyone, problems, all);
  }

  // Before any timing, every implementation must give the same result as the kernel, element by element.
  for (std::size_t k = 0; k < all.size(); ++k) {
    blocks& b = all[k];
    b.rewrite(0);
    const float* const first = ways[1].run[k]();
    const std::vector<float> expected(first, first + b.y_size);
    for (const variant& v : ways) {
      if (!v.moves) continue;
      b.rewrite(0);
      if (std::memcmp(v.run[k](), expected.data(), b.y_size * sizeof(float)) == 0) continue;
      std::fprintf(stderr, "%s, %s: worker %d holds something else\n", title.c_str(), v.name.c_str(), bench::worker());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  std::vector<std::vector<double>> times[3];
  for (auto& t : times) t.resize(ways.size());
  // A sample is discarded if another program ran on a worker's core during the sample or delayed its start, unless
  // workers share cores, where this happens in every sample.
  const std::size_t inner = all[0].most * sizeof(float) < (std::size_t{1} << 20) ? 20 : 1;
  volatile float sink = 0;
  if (chosen.samples != 0) samples = static_cast<int>(chosen.samples);
  else if (chosen.quick) samples = samples / 3 + 3;
  const double end_time = bench::seconds() + (chosen.quick ? 6 : 20);
  bool enough = false;
  for (int s = -1; !enough; ++s) {
    for (std::size_t v = 0; v < ways.size(); ++v) {
      const bench::regime before = meter.now();
      double total = 0;
      std::size_t undisturbed = 0;
      for (std::size_t k = 0; k < inner; ++k) {
        for (blocks& b : all) b.rewrite(static_cast<std::size_t>(s + 2) + k);
        int disturbed = 0;
        const auto [seconds, apart] = bench::sampled([&] {
          const long interrupted = bench::interruptions();
          for (std::size_t t = 0; t < all.size(); ++t) {
            const float* const result = ways[v].run[t]();
            if (reads_result) sink = sink + sum_of(result, all[t].y_size);
          }
          disturbed = bench::interruptions() != interrupted;
        });
        if (apart > 2e-6 + seconds / 50) disturbed = 1;
        if (meter.crowded() || chosen.keep_disturbed) disturbed = 0;
        MPI_Allreduce(MPI_IN_PLACE, &disturbed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (disturbed != 0) continue;
        total += seconds;
        ++undisturbed;
      }
      const bench::regime after = meter.now();
      if (s >= 0 && (before == after || chosen.keep_disturbed) && undisturbed > 0)
        times[static_cast<int>(before)][v].push_back(total / static_cast<double>(undisturbed));
    }
    int over = s + 1 >= 4 * samples || bench::seconds() > end_time;
    for (auto& regime : times) {
      std::size_t smallest_count = regime[0].size();
      for (const auto& t : regime) smallest_count = std::min(smallest_count, t.size());
      if (smallest_count >= static_cast<std::size_t>(samples)) over = 1;
    }
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    enough = over != 0;
  }
  std::size_t bytes = 0;
  for (const bench::problem& p : problems) bytes += bench::volume(p.extents) * sizeof(float);
  for (int r = 0; r < 3; ++r) {
    if (times[r][0].size() < (chosen.keep_disturbed ? 1U : 3U)) continue;
    const double copy = bench::median(times[r][0]);
    for (std::size_t v = 0; v < ways.size(); ++v)
      report(title, bytes, ways[v].name, static_cast<bench::regime>(r), times[r][v], copy);
  }
}

/// Compares a repartition to balanced blocks, from blocks of 500 to 1499 numbers whose sizes change in every call, with
/// the same by hand: MPI_Allgather of the sizes and MPI_Alltoallv.
void measure_changing_sizes(bench::regime_meter& meter) {
  const std::string title = "changing sizes";
  if (!chosen.case_name.empty() && title != chosen.case_name) return;
  const world everyone;
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto line = everyone.partition(extents(n));
  const repartition even(line, line);
  std::vector<double> memory(1500), copied(1500), by_hand(1500);
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<double>(1500 * me + k);
  std::vector<int> sizes(n), sent(n), sent_from(n), received(n), received_to(n);
  const auto moved_by_hand = [&](int mine) {
    MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::size_t total = 0, first = 0;
    for (std::size_t w = 0; w < n; total += static_cast<std::size_t>(sizes[w++]))
      if (w == me) first = total;
    const cut balanced = cut::balanced(total, n);
    const interval given{first, first + static_cast<std::size_t>(mine)}, taken = balanced.part(me);
    const auto common = [](const interval& a, const interval& b) {
      return static_cast<int>(interval{std::max(a.start, b.start), std::min(a.stop, b.stop)}.size());
    };
    const auto after = [](std::size_t a, std::size_t b) { return static_cast<int>(a > b ? a - b : 0); };
    for (std::size_t w = 0, at = 0; w < n; at += static_cast<std::size_t>(sizes[w++])) {
      const interval to = balanced.part(w), from{at, at + static_cast<std::size_t>(sizes[w])};
      sent[w] = common(given, to), sent_from[w] = after(to.start, first);
      received[w] = common(from, taken), received_to[w] = after(at, taken.start);
    }
    by_hand.resize(taken.size());
    MPI_Alltoallv(memory.data(), sent.data(), sent_from.data(), MPI_DOUBLE, by_hand.data(), received.data(),
                  received_to.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  };
  const auto moved_by_kernel = [&](int mine) {
    return even(xt::adapt(memory.data(), static_cast<std::size_t>(mine), xt::no_ownership(),
                          std::array<std::size_t, 1>{static_cast<std::size_t>(mine)}));
  };
  std::size_t state = me + 1;
  const auto next_size = [&state] { return static_cast<int>(500 + (state = state * 48271 % 2147483647) % 1000); };
  const int check = next_size();
  moved_by_hand(check);
  if (const auto y = moved_by_kernel(check); !std::equal(y.begin(), y.end(), by_hand.begin(), by_hand.end())) {
    std::fprintf(stderr, "%s: worker %d holds something else\n", title.c_str(), bench::worker());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  constexpr const char* names[] = {"memcpy", "partita", "MPI_Allgather and MPI_Alltoallv"};
  std::vector<double> times[3];
  volatile double sink = 0;  // prevents the compiler from removing the copies
  const std::size_t samples = chosen.samples != 0 ? chosen.samples : chosen.quick ? 5 : 41, calls = 100;
  for (std::size_t s = 0; s <= samples; ++s)
    for (std::size_t way = 0; way < 3; ++way) {
      const auto [seconds, apart] = bench::sampled([&] {
        for (std::size_t k = 0; k < calls; ++k) {
          const int size = next_size();
          if (way == 0) {
            std::memcpy(copied.data(), memory.data(), static_cast<std::size_t>(size) * sizeof(double));
            sink = copied[k];
          } else if (way == 1) moved_by_kernel(size);
          else moved_by_hand(size);
        }
      });
      if (s > 0) times[way].push_back(seconds / static_cast<double>(calls));
    }
  for (std::size_t way = 0; way < 3; ++way)
    report(title, n * 1000 * sizeof(double), names[way], meter.now(), times[way], bench::median(times[0]));
}

void all_cases() {
  bench::regime_meter meter;
  const auto n = static_cast<std::size_t>(bench::workers());
  const auto rows_to_columns = [&](std::size_t rows, std::size_t columns) {
    return std::vector<bench::problem>{{{rows, columns}, {n, 1}, {1, n}}};
  };
  measure<2>("256^2", rows_to_columns(256, 256), meter, 41);
  measure<2>("2048^2", rows_to_columns(2048, 2048), meter, 31);
  measure<2>("2048^2 and read", rows_to_columns(2048, 2048), meter, 31, true);
  measure<2>("uneven 1021 x 2039", rows_to_columns(1021, 2039), meter, 31);
  measure<2>("uneven 1021 x 2039 and read", rows_to_columns(1021, 2039), meter, 31, true);
  measure<2>("1024^2", rows_to_columns(1024, 1024), meter, 31);
  measure<2>("1024^2 and read", rows_to_columns(1024, 1024), meter, 31, true);
  measure<2>("scatter 2048^2", {{{2048, 2048}, {1, 1}, {n, 1}}}, meter, 21);
  measure<2>("gather 2048^2", {{{2048, 2048}, {n, 1}, {1, 1}}}, meter, 21);
  measure<2>("batch 64 then 96", {{{64, 4096}, {n, 1}, {1, n}}, {{96, 4096}, {n, 1}, {1, n}}}, meter, 21);
  measure<2>("transpose 4096^2", {{{4096, 4096}, {n, 1}, {n, 1}, true}}, meter, 15);
  measure<3>("256^3", {{{256, 256, 256}, {n, 1, 1}, {1, 1, n}}}, meter, 15);
  measure_changing_sizes(meter);
  if (n == 2) {
    measure<4>("64^4", {{{64, 64, 64, 64}, {n, 1, 1, 1}, {1, 1, 1, n}}}, meter, 15);
    measure<2>("8192^2", rows_to_columns(8192, 8192), meter, 9);
  }
  if (n == 4) {
    measure<3>("pencils 256^3", {{{256, 256, 256}, {1, 2, 2}, {2, 1, 2}}}, meter, 15);
    measure<2>("4096^2", rows_to_columns(4096, 4096), meter, 15);
    measure<2>("4096^2 squares to rows", {{{4096, 4096}, {2, 2}, {4, 1}}}, meter, 15);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "repartition", "repartitions against a memcpy and all other ways to do them", {1},
      {{"case", bench::argument::word, "only the case of this name, such as 2048^2"},
       {"rounds", bench::argument::count, "samples of each way; without it 9 to 41, by the case"},
       {"most-bytes", bench::argument::count, "no tensors beyond so many bytes", "1073741824"},
       {"keep-disturbed", bench::argument::none, "also keep samples that another program disturbed"}});
  return bench::run_on_workers(argc, argv, line, [](const bench::command_line& given, bench::rows& out) {
    chosen.out = &out;
    chosen.quick = given.quick(), chosen.keep_disturbed = given.has("keep-disturbed");
    chosen.case_name = given.word("case");
    if (given.has("rounds")) chosen.samples = given.count("rounds");
    chosen.most_bytes = given.count("most-bytes");
#if !defined(BENCH_SCALAPACK)
    out.note("ScaLAPACK was not found when this was built: left out");
#endif
#if !defined(BENCH_PETSC)
    out.note("PETSc was not found when this was built: left out");
#endif
#if !defined(BENCH_FFTW)
    out.note("FFTW-MPI was not found when this was built: left out");
#endif
    all_cases();
#if defined(BENCH_PETSC)
    PetscFinalize();
#endif
    return true;
  });
}
