// Each worker has two threads with a world each. Both threads compute ROUNDS sums and broadcasts at the same time, and
// every element of every result is checked. Run under mpirun as `two_threads ROUNDS [REPORT]`; a line of JSON is
// appended to the report.
#include <array>
#include <atomic>
#include <boost/mpi/environment.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <thread>

using namespace partita;

namespace {

bool all_are(const xt::xtensor<double, 1>& x, double value, std::size_t size) {
  bool right = x.size() == size;
  for (std::size_t k = 0; k < x.size(); ++k) right = right && x.data()[k] == value;
  return right;
}

/// Runs rounds with blocks of different sizes: messages, small blocks in shared memory, and large blocks in it.
std::size_t wrong_results(const world& w, std::size_t rounds, std::size_t most) {
  const auto p = w.partition(extents(w.size()));
  const all_sum_reduce sum(p, dimensions<0>);
  const broadcast spread(w.partition<1>(), p);
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < rounds; ++k) {
    const std::size_t m = k % 16 == 0 ? most : 1 + k % 7;
    const auto value = static_cast<double>(most + k);
    xt::xtensor<double, 1> x(std::array<std::size_t, 1>{m});
    for (std::size_t i = 0; i < m; ++i) x.data()[i] = value;
    const bool right = all_are(sum(x), value * static_cast<double>(w.size()), m) && all_are(spread(x), value, m);
    wrong += right ? 0 : 1;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv, boost::mpi::threading::multiple);
  if (argc < 2) return 2;
  const world one, two;
  if (environment.thread_level() < boost::mpi::threading::multiple) {
    if (one.id() == 0) std::cout << "0 passed, 0 failed, 1 skipped: MPI has no MPI_THREAD_MULTIPLE" << std::endl;
    return 77;
  }
  const auto rounds = static_cast<std::size_t>(std::atol(argv[1]));
  std::atomic<std::size_t> wrong = 0;
  std::thread other([&] { wrong += wrong_results(two, rounds, 4999); });
  wrong += wrong_results(one, rounds, 5000);
  other.join();
  const auto here = static_cast<double>(wrong.load());
  const double all = all_sum_reduce(one.partition(extents(one.size())), dimensions<0>)(xt::xtensor<double, 1>{here})(0);
  if (one.id() != 0) return all == 0 ? 0 : 1;
  std::cout << rounds << " rounds by two threads of " << one.size() << " workers, " << all << " wrong results\n"
            << (all == 0 ? "1 passed, 0" : "0 passed, 1") << " failed, 0 skipped" << std::endl;
  if (argc > 2)
    std::ofstream(argv[2], std::ios::app)
        << "{\"name\": \"two threads\", \"workers\": " << one.size() << ", \"rounds\": " << rounds
        << ", \"wrong\": " << all << ", \"failed\": " << (all == 0 ? 0 : 1) << "}\n";
  return all == 0 ? 0 : 1;
}
