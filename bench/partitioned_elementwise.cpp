// Adding a row to a matrix that is spread over workers: where the row is in place, on one worker, and cut in another
// way.
//
//   bench/run partitioned_elementwise -n 4 [rows of each worker] [columns]     best time of a call, in microseconds
#include <boost/mpi/environment.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <partita/kernel/partitioned_elementwise.hpp>

using namespace partita;

namespace {

template <class Operation, class X, class Y>
void time_it(const world& everyone, const char* name, const Operation& op, const X& x, const Y& y) {
  double best = 1e30;
  for (int k = 0; k < 30; ++k) {
    MPI_Barrier(everyone.communicator());
    const auto start = std::chrono::steady_clock::now();
    const auto z = op(x, y);
    double mine = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count(),
           slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, everyone.communicator());
    best = slowest < best ? slowest : best;
  }
  if (everyone.id() == 0) std::printf("%-34s %10.1f\n", name, best);
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone(checks::local);
  const std::size_t p = everyone.size();
  const std::size_t n = p * (argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 512);
  const std::size_t m = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 512;
  const auto wide = on(everyone.partition(extents(1, p)), extents(n, m));  // columns are cut
  const auto tall = on(everyone.partition(extents(p, 1)), extents(n, m));  // rows are cut
  const auto cut = on(everyone.partition(extents(p)), extents(m));
  const auto whole = on(everyone.partition<1>(), extents(m));
  const auto block = [](const auto& placed) { return xt::eval(xt::ones<float>(placed.block_shape())); };

  time_it(
      everyone, "local add of blocks, no kernel",
      [](const auto& x, const auto& y) { return xt::xtensor<float, 2>(add(x, y, broadcast_dimensions<1>)); },
      block(wide), block(cut));
  time_it(everyone, "the row is where it is needed",
          partitioned_elementwise(function::add{}, wide, cut, broadcast_dimensions<1>), block(wide), block(cut));
  time_it(everyone, "the row is on one worker",
          partitioned_elementwise(function::add{}, tall, whole, broadcast_dimensions<1>), block(tall), block(whole));
  time_it(everyone, "the row is cut in another way",
          partitioned_elementwise(function::add{}, tall, cut, broadcast_dimensions<1>, tall.partition), block(tall),
          block(cut));
}
