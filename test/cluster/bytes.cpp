// What every kernel sends from host to host, by the counters of the hosts' network cards, over the least that has to:
// each byte once to each host that needs it. To be run by cluster.py, on as many workers of each host.
#include <unistd.h>
#include <boost/mpi/environment.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <sstream>
#include <string>
#include <vector>

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

/// How many segments TCP has sent again on this host, which it does if an acknowledgement is late.
std::int64_t segments_sent_again() {
  std::ifstream file("/proc/net/snmp");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Tcp:", 0) != 0) continue;
    std::istringstream words(line);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    for (std::size_t k = 0; k < names.size() && k < all.size(); ++k)
      if (names[k] == "RetransSegs") return std::stoll(all[k]);
    names = all;  // the first of the two lines holds the names, the second one the numbers
  }
  return 0;
}

class cluster {
 public:
  cluster() {
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_);
    MPI_Comm_rank(host_, &place_);
    MPI_Comm_rank(MPI_COMM_WORLD, &worker_);
    int first = place_ == 0 ? 1 : 0;
    MPI_Allreduce(&first, &hosts_, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    idle_ = bytes([] {});
  }
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;
  ~cluster() { MPI_Comm_free(&host_); }
  std::size_t hosts() const { return static_cast<std::size_t>(hosts_); }
  bool speaks() const { return worker_ == 0; }
  int repeated() const { return repeated_; }

  /// What is carried for the program in all that hosts send meanwhile: without the 66 bytes that Ethernet, IP and TCP
  /// put before each packet, and without what an empty measurement sends. A measurement in which TCP has sent something
  /// again, because a host had no processor for long, is made again, up to 10 times.
  template <class F>
  double bytes(F f) {
    for (int k = 0; k < 10; ++k)
      if (const double sent = measured(f); !sent_again_) return sent - idle_;
      else ++repeated_;
    return measured(f) - idle_;
  }

 private:
  template <class F>
  double measured(F f) {
    const traffic before = settled();
    const std::int64_t again = segments_sent_again();
    f();
    const traffic after = settled();
    const std::int64_t sent = after.bytes - before.bytes - headers * (after.packets - before.packets);
    const std::int64_t own[2] = {place_ == 0 ? sent : 0, segments_sent_again() - again};
    std::int64_t all[2] = {};
    MPI_Allreduce(own, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    sent_again_ = all[1] != 0;
    return static_cast<double>(all[0]);
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
  bool sent_again_ = false;
  int repeated_ = 0;
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
  if (c.speaks() && c.repeated() > 0)
    std::printf("%d measurements made again: TCP had sent segments again\n", c.repeated());
  if (c.speaks()) std::printf("%d passed, %d failed, 0 skipped\n", r.passed, r.failed);
  return r.failed == 0 ? 0 : 1;
}
