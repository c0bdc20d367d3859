// Broadcast, sum-reduce and all-sum-reduce against MPI_Bcast, MPI_Reduce and MPI_Allreduce of the same bytes on the same
// workers, in turn within one run. One JSON line a case: medians over the repetitions of the slowest worker, in
// microseconds. Workers make the same calls here, so the agreement before each call is left out (checks::local).
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

namespace {

using namespace partita;

/// Seconds of the clock that all workers of a node share.
double now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Microseconds from the moment at which all workers begin until the last of them is through. They begin at an agreed time,
/// because workers leave a barrier one after the other, some microseconds apart. What they got is read afterwards.
template <class F, class Use>
double timed(MPI_Comm everyone, bool crowded, F f, Use use) {
  MPI_Barrier(everyone);
  double start = now() + (crowded ? 60e-6 : 20e-6);
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, everyone);
  while (now() < start)
    if (crowded) std::this_thread::yield();
  const auto result = f();
  double mine = 1e6 * (now() - start), slowest = 0;
  use(result);
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, everyone);
  return slowest;
}

/// Brings a result into the cache of its owner.
template <class Block>
void read_through(const Block& block) {
  float sum = 0;
  for (std::size_t k = 0; k < block.size(); k += 16) sum += block.data()[k];
  volatile float kept = sum;
  static_cast<void>(kept);
}

double median(std::vector<double>& t) {
  std::nth_element(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.size() / 2), t.end());
  return t[t.size() / 2];
}

/// `renew` writes the sources anew before each call: as in real use they lie in the cache of their owner and nowhere else.
template <class Ours, class Theirs, class Renew>
void compare(const world& everyone, const char* kernel, const char* peer, std::size_t bytes, Renew renew, Ours ours, Theirs theirs) {
  const MPI_Comm c = everyone.communicator();
  const bool crowded = node::of(everyone.state()->communicator()).oversubscribed();
  const std::size_t times = bytes <= 65536 ? 201 : bytes <= (std::size_t{1} << 20) ? 61 : bytes <= (std::size_t{16} << 20) ? 15 : 7;
  std::vector<double> a, b;
  for (std::size_t k = 0; k < times + 3; ++k) {
    renew(k);
    const double mine = timed(c, crowded, ours, [](const auto& y) { read_through(y); });
    renew(k + 1);
    const double other = timed(c, crowded, theirs, [](const auto& y) { read_through(y); });
    if (k < 3) continue;  // pools fill, pages are touched
    a.push_back(mine);
    b.push_back(other);
  }
  const double mine = median(a), other = median(b);
  if (everyone.id() == 0)
    std::printf("{\"bench\": \"collectives\", \"case\": \"%s\", \"bytes\": %zu, \"workers\": %zu, \"us\": %.2f, \"peer\": \"%s\", "
                "\"peer_us\": %.2f, \"peer_over_ours\": %.2f}\n",
                kernel, bytes, everyone.size(), mine, peer, other, other / mine);
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone(checks::local);
  const MPI_Comm c = everyone.communicator();
  const auto all = everyone.partition(extents<dynamic>(everyone.size()));
  const auto one = everyone.partition(extents<1>{});
  const std::size_t most = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : std::size_t{64} << 20;
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
    compare(everyone, "broadcast", "MPI_Bcast", bytes, renew_root, [&] { return b(source); },
            [&] { return MPI_Bcast(to.data(), count, MPI_FLOAT, 0, c), std::span<const float>(to); });
    compare(everyone, "sum_reduce", "MPI_Reduce", bytes, renew, [&] { return s(x); },
            [&] { return MPI_Reduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, 0, c), std::span<const float>(to); });
    compare(everyone, "all_sum_reduce", "MPI_Allreduce", bytes, renew, [&] { return a(x); },
            [&] { return MPI_Allreduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, c), std::span<const float>(to); });
    compare(everyone, "broadcast, shared_view", "MPI_Bcast", bytes, renew_root, [&] { return b_view(source); },
            [&] { return MPI_Bcast(to.data(), count, MPI_FLOAT, 0, c), std::span<const float>(to); });
    compare(everyone, "sum_reduce, reproducible", "MPI_Reduce", bytes, renew, [&] { return s_once(x); },
            [&] { return MPI_Reduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, 0, c), std::span<const float>(to); });
    compare(everyone, "all_sum_reduce, reproducible", "MPI_Allreduce", bytes, renew, [&] { return a_once(x); },
            [&] { return MPI_Allreduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, c), std::span<const float>(to); });
  }
}
