// What every kernel sends from host to host, by the counters of the hosts' network cards, over the least that has to:
// each byte once to each host that needs it. To be run by cluster.py, on as many workers of each host.
#include <unistd.h>
#include <boost/mpi/environment.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <sstream>
#include <string>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

struct traffic {
  std::int64_t bytes = 0, packets = 0;
};

/// What the network card of this host has sent.
traffic sent_by_card() {
  std::ifstream file("/proc/net/dev");
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find("eth0:");
    if (at == std::string::npos) continue;
    std::istringstream numbers(line.substr(at + 5));
    traffic sent;
    std::int64_t skipped = 0;
    for (int k = 0; k < 8; ++k) numbers >> skipped;
    numbers >> sent.bytes >> sent.packets;
    return sent;
  }
  return {};
}

class cluster {
 public:
  cluster() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_);
    MPI_Comm_rank(host_, &place_);
    MPI_Comm_rank(MPI_COMM_WORLD, &worker_);
    int first = place_ == 0 ? 1 : 0;
    MPI_Allreduce(&first, &hosts_, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    idle_ = measured([] {});
  }
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  ~cluster() { MPI_Comm_free(&host_); }
  std::size_t hosts() const { return static_cast<std::size_t>(hosts_); }
  bool speaks() const { return worker_ == 0; }

  /// What is carried for the program in all that hosts send meanwhile: without the 66 bytes that Ethernet, IP and TCP
  /// put before each packet, and without what an empty measurement sends.
  template <class F>
  double bytes(F f) {
    return measured(f) - idle_;
  }

 private:
  template <class F>
  double measured(F f) {
    const traffic before = settled();
    f();
    const traffic after = settled();
    const std::int64_t own = place_ == 0 ? after.bytes - before.bytes - headers * (after.packets - before.packets) : 0;
    std::int64_t all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return static_cast<double>(all);
  }
  /// Once nothing is pending: acknowledgements come late.
  static traffic settled() {
    MPI_Barrier(MPI_COMM_WORLD);
    ::usleep(60000);
    const traffic sent = sent_by_card();
    MPI_Barrier(MPI_COMM_WORLD);
    return sent;
  }

  static constexpr std::int64_t headers = 14 + 20 + 32;
  MPI_Comm host_ = MPI_COMM_NULL;
  int place_ = 0, worker_ = 0, hosts_ = 0;
  double idle_ = 0;
};

struct report {
  int passed = 0, failed = 0;

  /// `f()` is a call that has to send `least` bytes, and may send `limit` times as many.
  template <class F>
  void row(cluster& c, const char* name, std::size_t block, double least, double limit, F f) {
    for (int k = 0; k < 3; ++k) f();  // structures, connections, the choice of a form
    constexpr int calls = 10;
    const double each = c.bytes([&] {
      for (int k = 0; k < calls; ++k) f();
    }) / calls;
    const bool right = each <= limit * least && each >= 0.98 * least;
    ++(right ? passed : failed);
    if (c.speaks())
      std::printf("%-28s %8zu KiB  %11.0f  %11.0f  %6.3f%s\n", name, block >> 10U, each, least, each / least,
                  right ? "" : "  WRONG");
  }
};

void table(cluster& c, const world& everyone, std::size_t block, report& r) {
  const std::size_t P = everyone.size(), N = c.hosts(), me = everyone.id(), n = block / sizeof(double);
  const auto S = static_cast<double>(block), hosts = static_cast<double>(N), others = hosts - 1;
  const double whole = S * static_cast<double>(P), limit = block >= (std::size_t{64} << 10) ? 1.05 : 1.15;
  const auto rows = everyone.partition(extents<dynamic, 1>(P));
  const auto columns = everyone.partition(extents<1, dynamic>(P));
  const auto root = everyone.partition<1, 1>();
  const matrix x = xt::ones<double>({n / 64, std::size_t{64}}), none = zero_volume<double, 2>();
  const matrix& of_root = me == 0 ? x : none;
  const auto row = [&](const char* name, double least, auto f) { r.row(c, name, block, least, limit, f); };
  {
    const broadcast k(root, rows);
    row("broadcast", others * S, [&] { k(of_root); });
  }
  {
    const sum_reduce k(rows, root);
    row("sum_reduce", others * S, [&] { k(x); });
  }
  {
    const all_sum_reduce k(rows, dimensions<0>);
    row("all_sum_reduce", 2 * others * S, [&] { k(x); });
  }
  {
    const all_sum_reduce k(rows, dimensions<0>, reproducible);
    matrix numbers(x.shape());  // of like magnitude: what rounding would take from a sum has to be told, too
    for (std::size_t i = 0; i < n; ++i) numbers.data()[i] = std::sin(static_cast<double>(i + 100003 * me));
    row("all_sum_reduce, reproducible", 2 * others * S, [&] { k(numbers); });
  }
  {
    const all_gather k(rows, dimensions<0>);
    row("all_gather", others * whole, [&] { k(x); });
  }
  {
    const reduce_scatter k(columns, dimensions<1>);
    row("reduce_scatter", others * S, [&] { k(x); });
  }
  {
    const repartition k(rows, columns);
    row("repartition", whole * others / hosts, [&] { k(x); });
  }
  {
    const repartition gather(rows, root);
    const repartition scatter(root, rows);
    const matrix all = me == 0 ? matrix(xt::ones<double>({n / 64 * P, std::size_t{64}})) : none;
    row("gather", whole * others / hosts, [&] { gather(x); });
    row("scatter", whole * others / hosts, [&] { scatter(all); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const boost::mpi::environment environment(argc, argv);
  cluster c;
  const world everyone;
  report r;
  if (c.speaks()) std::printf("%-28s %12s  %11s  %11s  %6s\n", "", "block", "bytes sent", "the least", "ratio");
  for (const std::size_t block : {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20})
    table(c, everyone, block, r);
  if (c.speaks()) std::printf("%d passed, %d failed, 0 skipped\n", r.passed, r.failed);
  return r.failed == 0 ? 0 : 1;
}
