// Times every kernel between hosts, alternating with the corresponding MPI call, and prints the medians as lines of
// JSON. test/cluster/cluster.py runs this program, with the same number of workers on each host.
#include <unistd.h>
#include <algorithm>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cluster_model.hpp"
#include "machine.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// The time by the clock of the machine that runs all hosts. MPI_Wtime is not used: it may begin at a process's start.
double now() { return bench::seconds(); }

/// The seconds until the last worker has its result. All hosts run on one machine and read one clock, so the call can
/// start at the same time on all workers.
template <class F>
double seconds(F f) {
  double start = now() + 0.003;
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  double own_start = std::max(start, now() + 0.001);
  MPI_Allreduce(&own_start, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  while (now() < start) ::usleep(100);
  f();
  const double own = now() - start;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// The estimate of cluster_model.hpp for a repartition from rows to columns over the link that this job has measured.
/// Short (eager) messages overlap with the agreement. Longer messages follow the agreement and need a rendezvous.
double modelled(const world& everyone, int hosts, std::size_t rows, std::size_t columns) {
  const std::size_t P = everyone.size(), nodes = static_cast<std::size_t>(hosts);
  const auto& link = detail::own_node::of(everyone.communicator()).link();
  cluster_parameters facts;
  facts.workers_on_node = P / nodes;
  facts.message = link.cost.seconds_per_message, facts.latency = link.cost.latency,
  facts.nic_byte = link.cost.seconds_per_byte;
  const grid<extents<dynamic, dynamic>> from(extents<dynamic, dynamic>(P, 1)), to(extents<dynamic, dynamic>(1, P));
  const auto there = decomposition<2>::balanced({rows, columns}, from.shape()),
             then = decomposition<2>::balanced({rows, columns}, to.shape());
  const double exchange = simulate_nodes(facts, P, sizeof(double), [&](std::size_t worker) {
                            return plan_repartition(from, there, to, then, worker);
                          }).seconds;
  const double agreement = detail::dissemination::choose_radix(nodes, link.cost).seconds(link.cost);
  const std::size_t longest = rows / P * (columns / P) * sizeof(double);
  return longest <= link.eager_bytes ? std::max(exchange, agreement) : agreement + 2 * facts.latency + exchange;
}

class table {
 public:
  table(const world& everyone, bench::rows& print, int hosts, std::string link, std::size_t block)
      : everyone_(everyone), out_(print), hosts_(hosts), link_(std::move(link)), block_(block) {
    const std::size_t P = everyone.size(), n = block / sizeof(double), columns = std::min<std::size_t>(n, 64);
    const int size = static_cast<int>(P), count = static_cast<int>(n);
    const auto all = everyone.partition(extents<dynamic, 1>(P));
    const auto columns_of_workers = everyone.partition(extents<1, dynamic>(P));
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
      const reduce_scatter k(columns_of_workers, dimensions<1>);
      row(
          "reduce_scatter", [&] { k(x); },
          [&] { MPI_Reduce_scatter_block(from, y.data(), count / size, MPI_DOUBLE, MPI_SUM, world_); });
    }
    if (columns % P == 0) {
      const repartition k(all, columns_of_workers);
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
          },
          modelled(everyone, hosts, P * (n / columns), columns));
      MPI_Type_free(&part);
    }
  }

 private:
  template <class Ours, class Theirs>
  void row(const char* name, Ours ours, Theirs theirs, double model = 0) const {
    for (int k = 0; k < 3; ++k) ours(), theirs();  // warm-up: plans, connections, the choice of an algorithm
    std::vector<double> first, second;
    double total_seconds = 0;
    constexpr std::size_t least = 5, most = 21;
    while (first.size() < least || (total_seconds < 1 && first.size() < most)) {
      first.push_back(seconds(ours));
      second.push_back(seconds(theirs));
      total_seconds += first.back() + second.back();
    }
    bench::row fields{{"link", link_},
                      {"hosts", hosts_},
                      {"workers", everyone_.size() / static_cast<std::size_t>(hosts_)},
                      {"kernel", name},
                      {"bytes", block_},
                      {"ms", 1e3 * bench::median(first)},
                      {"mpi", 1e3 * bench::median(second)}};
    if (model != 0) fields["model"] = 1e3 * model;
    out_.add(name, fields, first.size());
  }

  const world& everyone_;
  bench::rows& out_;
  int hosts_;
  std::string link_;
  std::size_t block_;
  MPI_Comm world_ = MPI_COMM_WORLD;
};

bool measure(const bench::command_line& line, bench::rows& out) {
  MPI_Comm host = MPI_COMM_NULL;
  int place = 0, hosts = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place);
  const int first = place == 0 ? 1 : 0;
  MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&host);
  const world everyone;
  for (const std::size_t bytes : line.counts("bytes"))
    table(everyone, out, hosts, line.word("link"), std::max(bytes, sizeof(double)));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "hosts", "every kernel between hosts beside MPI's own call for the same", {1},
      {{"link", bench::argument::word, "a name for the link between the hosts, for the rows", "unnamed"},
       {"bytes", bench::argument::list, "blocks of each worker", "64,4096,65536,1048576,4194304", "512"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
