// How long every kernel takes between hosts, beside MPI's own call for the same: alternating, medians, a line of JSON
// for each. To be run by support/cluster.py, on as many workers of each host: `times LINK [BYTES...]`.
#include <unistd.h>
#include <algorithm>
#include <boost/mpi/environment.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// Of the machine, of which all hosts are part; MPI_Wtime counts from the start of each process.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The hosts are one machine, so that all workers read one clock: a call begins everywhere at the same time, and takes
/// until the last of them has its result.
template <class F>
double seconds(F f) {
  double start = now() + 0.003;
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  double late = std::max(start, now() + 0.001);
  MPI_Allreduce(&late, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  while (now() < start) ::usleep(100);
  f();
  const double own = now() - start;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

class table {
 public:
  table(const world& everyone, int hosts, const char* link, std::size_t block)
      : everyone_(everyone), hosts_(hosts), link_(link), block_(block) {
    const std::size_t P = everyone.size(), n = block / sizeof(double), columns = std::min<std::size_t>(n, 64);
    const int size = static_cast<int>(P), count = static_cast<int>(n);
    const auto all = everyone.partition(extents<dynamic, 1>(P));
    const auto beside = everyone.partition(extents<1, dynamic>(P));
    const auto root = everyone.partition<1, 1>();
    const matrix x = xt::ones<double>({n / columns, columns}), none = zero_volume<double, 2>();
    matrix y(x.shape()), whole({P * (n / columns), columns});
    const double* const from = x.data();
    {
      const broadcast k(root, all);
      const matrix& of_root = everyone.id() == 0 ? x : none;
      row(
          "broadcast", [&] { k(of_root); },
          [&] { MPI_Bcast(everyone.id() == 0 ? const_cast<double*>(from) : y.data(), count, MPI_DOUBLE, 0, world_); });
    }
    {
      const sum_reduce k(all, root);
      row(
          "sum_reduce", [&] { k(x); }, [&] { MPI_Reduce(from, y.data(), count, MPI_DOUBLE, MPI_SUM, 0, world_); });
    }
    {
      const all_sum_reduce k(all, dimensions<0>);
      row(
          "all_sum_reduce", [&] { k(x); }, [&] { MPI_Allreduce(from, y.data(), count, MPI_DOUBLE, MPI_SUM, world_); });
    }
    {
      const all_gather k(all, dimensions<0>);
      row(
          "all_gather", [&] { k(x); },
          [&] { MPI_Allgather(from, count, MPI_DOUBLE, whole.data(), count, MPI_DOUBLE, world_); });
    }
    if (n % P == 0) {
      const reduce_scatter k(beside, dimensions<1>);
      row(
          "reduce_scatter", [&] { k(x); },
          [&] { MPI_Reduce_scatter_block(from, y.data(), count / size, MPI_DOUBLE, MPI_SUM, world_); });
    }
    if (columns % P == 0) {
      const repartition k(all, beside);
      const int rows = count / static_cast<int>(columns), width = static_cast<int>(columns / P);
      MPI_Datatype part = MPI_DATATYPE_NULL;
      MPI_Type_vector(rows, width, static_cast<int>(columns), MPI_DOUBLE, &part);
      MPI_Type_commit(&part);
      const std::vector<int> once(P, 1), each(P, rows * width);
      const std::vector<MPI_Datatype> parts(P, part), numbers(P, MPI_DOUBLE);
      std::vector<int> out(P), in(P);
      for (int w = 0; w < size; ++w) {
        out[static_cast<std::size_t>(w)] = w * width * static_cast<int>(sizeof(double));
        in[static_cast<std::size_t>(w)] = w * rows * width * static_cast<int>(sizeof(double));
      }
      row(
          "repartition", [&] { k(x); },
          [&] {
            MPI_Alltoallw(from, once.data(), out.data(), parts.data(), y.data(), each.data(), in.data(), numbers.data(),
                          world_);
          });
      MPI_Type_free(&part);
    }
  }

 private:
  template <class Ours, class Theirs>
  void row(const char* name, Ours ours, Theirs theirs) const {
    for (int k = 0; k < 3; ++k) ours(), theirs();  // structures, connections, the choice of a form
    std::vector<double> first, second;
    double spent = 0;
    constexpr std::size_t least = 5, most = 21;
    while (first.size() < least || (spent < 1 && first.size() < most)) {
      first.push_back(seconds(ours));
      second.push_back(seconds(theirs));
      spent += first.back() + second.back();
    }
    if (everyone_.id() == 0) {
      std::printf(
          "{\"bench\": \"hosts\", \"link\": \"%s\", \"hosts\": %d, \"workers\": %zu, \"kernel\": \"%s\", \"bytes\": "
          "%zu, "
          "\"ms\": %.3f, \"mpi\": %.3f}\n",
          link_, hosts_, everyone_.size() / static_cast<std::size_t>(hosts_), name, block_, 1e3 * median(first),
          1e3 * median(second));
      std::fflush(stdout);
    }
  }

  const world& everyone_;
  int hosts_;
  const char* link_;
  std::size_t block_;
  MPI_Comm world_ = MPI_COMM_WORLD;
};

}  // namespace

int main(int argc, char** argv) {
  const boost::mpi::environment environment(argc, argv);
  MPI_Comm host = MPI_COMM_NULL;
  int place = 0, hosts = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place);
  const int first = place == 0 ? 1 : 0;
  MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&host);
  const world everyone;
  std::vector<std::size_t> blocks;
  for (int k = 2; k < argc; ++k) blocks.push_back(std::strtoul(argv[k], nullptr, 10));
  if (blocks.empty()) blocks = {64, 4096, 65536, 1048576, 4194304};
  for (const std::size_t block : blocks) table(everyone, hosts, argc > 1 ? argv[1] : "", block);
  return 0;
}
