// Broadcast, sum-reduce and all-sum-reduce against MPI_Bcast, MPI_Reduce and MPI_Allreduce of the same bytes on the same
// workers, in turn within one run. One JSON line a case: medians over the repetitions of the slowest worker, in
// microseconds. Workers make the same calls here, so the agreement before each call is left out (checks::local).
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

using namespace partita;

/// Microseconds that the slowest worker takes for one call, all of them starting together.
template <class F>
double timed(MPI_Comm everyone, F f) {
  MPI_Barrier(everyone);
  const double start = MPI_Wtime();
  f();
  double mine = 1e6 * (MPI_Wtime() - start), slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, everyone);
  return slowest;
}

double median(std::vector<double>& t) {
  std::nth_element(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.size() / 2), t.end());
  return t[t.size() / 2];
}

template <class Ours, class Theirs>
void compare(const world& everyone, const char* kernel, const char* peer, std::size_t bytes, Ours ours, Theirs theirs) {
  const MPI_Comm c = everyone.communicator();
  const std::size_t times = bytes <= 65536 ? 301 : bytes <= (std::size_t{1} << 20) ? 101 : 21;
  std::vector<double> a, b;
  for (std::size_t k = 0; k < times + 3; ++k) {
    const double mine = timed(c, ours), other = timed(c, theirs);
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
  for (std::size_t bytes = 256; bytes <= std::size_t{64} << 20; bytes *= bytes == 256 ? 16 : 4) {
    const std::size_t n = bytes / sizeof(float);
    const std::array<std::size_t, 1> whole{n}, root{everyone.id() == 0 ? n : 0};
    const xt::xtensor<float, 1> x = xt::ones<float>(whole), source = xt::ones<float>(root);
    std::vector<float> from(n, 1.F), to(n);
    const auto count = static_cast<int>(n);
    const broadcast b(one, all);
    const sum_reduce s(all, one);
    const all_sum_reduce a(all, dimensions<0>);
    compare(everyone, "broadcast", "MPI_Bcast", bytes, [&] { b(source); },
            [&] { MPI_Bcast(to.data(), count, MPI_FLOAT, 0, c); });
    compare(everyone, "sum_reduce", "MPI_Reduce", bytes, [&] { s(x); },
            [&] { MPI_Reduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, 0, c); });
    compare(everyone, "all_sum_reduce", "MPI_Allreduce", bytes, [&] { a(x); },
            [&] { MPI_Allreduce(from.data(), to.data(), count, MPI_FLOAT, MPI_SUM, c); });
  }
}
