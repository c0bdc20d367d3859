// Compares broadcast, sum-reduce and all-sum-reduce with MPI_Bcast, MPI_Reduce and MPI_Allreduce of the same bytes on
// the same workers, and with a memcpy by each worker. The variants alternate within one run. All workers are known to
// make the same calls, so the agreement before each call is switched off (checks::local).
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "machine.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

namespace {

using namespace partita;

/// The time in seconds by a clock that all workers of a node share.
double now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Seconds from the common start until the last worker has finished. All workers start at an agreed time, because they
/// leave a barrier some microseconds apart. `use` reads the result after the time was taken.
template <class F, class Use>
double timed(MPI_Comm everyone, bool crowded, F f, Use use) {
  MPI_Barrier(everyone);
  double start = now() + (crowded ? 60e-6 : 20e-6);
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, everyone);
  while (now() < start)
    if (crowded) std::this_thread::yield();
  const auto result = f();
  double own_seconds = now() - start, slowest = 0;
  use(result);
  MPI_Allreduce(&own_seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, everyone);
  return slowest;
}

/// Reads a result once, so that it is in the cache of its worker.
template <class Block>
void read_through(const Block& block) {
  float sum = 0;
  for (std::size_t k = 0; k < block.size(); k += 16) sum += block.data()[k];
  volatile float sink = sum;
  static_cast<void>(sink);
}

/// Times the three variants in turn. `renew` writes the sources again before each call, so that they are only in the
/// cache of their owner, as in real use.
template <class Ours, class Theirs, class Copy, class Renew>
void compare(const world& everyone, bench::rows& out, std::size_t rounds, bench::regime_meter& meter,
             const char* kernel, const char* peer, std::size_t bytes, Renew renew, Ours ours, Theirs theirs,
             Copy copy) {
  const MPI_Comm c = everyone.communicator();
  const bool crowded = partita::detail::own_node::of(everyone.state()->communicator()).oversubscribed();
  const std::size_t times = rounds != 0                        ? rounds
                            : bytes <= 65536                   ? 201
                            : bytes <= (std::size_t{1} << 20)  ? 61
                            : bytes <= (std::size_t{16} << 20) ? 15
                                                               : 7;
  const char* const names[] = {"memcpy", "partita", peer};
  std::vector<double> taken[3];
  bench::seen_regimes met;
  for (std::size_t k = 0; k < times + 3; ++k) {
    if (k % 20 == 0) met.add(meter.now());
    const auto once = [&](std::size_t way, auto call) {
      renew(k + way);
      const double t = timed(c, crowded, call, [](const auto& y) { read_through(y); });
      if (k >= 3) taken[way].push_back(t);  // the first three calls fill pools and cause page faults
    };
    once(1, ours);
    once(2, theirs);
    once(0, copy);
  }
  const double of_copy = bench::median(taken[0]), of_peer = bench::median(taken[2]);
  for (std::size_t k = 0; k < 3; ++k)
    out.add_peer(kernel, names[k], taken[k],
                 {{"bytes", bytes},
                  {"ratio_to_memcpy", bench::median(taken[k]) / of_copy},
                  {"ratio_to_mpi", bench::median(taken[k]) / of_peer},
                  {"regime", met.most()}});
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone(checks::local);
  const MPI_Comm c = everyone.communicator();
  const auto all = everyone.partition(extents<dynamic>(everyone.size()));
  const auto one = everyone.partition(extents<1>{});
  bench::regime_meter meter;
  const std::size_t most = line.count("most-bytes"), rounds = line.has("rounds") ? line.count("rounds") : 0;
  for (std::size_t bytes = 256; bytes <= most; bytes *= bytes == 256 ? 16 : 4) {
    const std::size_t n = bytes / sizeof(float);
    const std::array<std::size_t, 1> whole{n}, root{everyone.id() == 0 ? n : 0};
    xt::xtensor<float, 1> x = xt::ones<float>(whole), source = xt::ones<float>(root);
    std::vector<float> from(n, 1.F), to(n);
    const auto renew_root = [&](std::size_t k) {
      std::fill_n(source.data(), source.size(), static_cast<float>(k));
      if (everyone.id() == 0) std::fill(to.begin(), to.end(), static_cast<float>(k));
    };
    const auto renew = [&](std::size_t k) {
      std::fill_n(x.data(), n, static_cast<float>(k));
      std::fill(from.begin(), from.end(), static_cast<float>(k));
    };
    const auto count = static_cast<int>(n);
    const broadcast b(one, all);
    const sum_reduce s(all, one);
    const all_sum_reduce a(all, dimensions<0>);
    const broadcast b_view(one, all, shared_view);
    const sum_reduce s_once(all, one, reproducible);
    const all_sum_reduce a_once(all, dimensions<0>, reproducible);
    const auto copy = [&] { return std::memcpy(to.data(), from.data(), bytes), std::span<const float>(to); };
    const auto compare_with = [&](const char* kernel, const char* peer, auto renew_sources, auto ours, auto theirs) {
      compare(everyone, out, rounds, meter, kernel, peer, bytes, renew_sources, ours, theirs, copy);
    };
    const auto bcast = [&] { return MPI_Bcast(to.data(), count, MPI_FLOAT, 0, c), std::span<const float>(to); };
    const auto reduce = [&] {
      return MPI_Reduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, 0, c), std::span<const float>(to);
    };
    const auto allreduce = [&] {
      return MPI_Allreduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, c), std::span<const float>(to);
    };
    compare_with(
        "broadcast", "MPI_Bcast", renew_root, [&] { return b(source); }, bcast);
    compare_with(
        "sum_reduce", "MPI_Reduce", renew, [&] { return s(x); }, reduce);
    compare_with(
        "all_sum_reduce", "MPI_Allreduce", renew, [&] { return a(x); }, allreduce);
    compare_with(
        "broadcast, shared_view", "MPI_Bcast", renew_root, [&] { return b_view(source); }, bcast);
    compare_with(
        "sum_reduce, reproducible", "MPI_Reduce", renew, [&] { return s_once(x); }, reduce);
    compare_with(
        "all_sum_reduce, reproducible", "MPI_Allreduce", renew, [&] { return a_once(x); }, allreduce);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "collectives", "broadcast, sum_reduce and all_sum_reduce against MPI's own calls and a memcpy", {1},
      {{"most-bytes", bench::argument::count, "the largest block; blocks begin at 256 bytes", "67108864", "4096"},
       {"rounds", bench::argument::count, "samples of each call; without it 7 to 201, by the bytes", "", "5"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
