// A job in which one worker fails. It is run by faults.py, which checks how and when the job ends and what it prints.
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <partita/comm/stop_signal.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <stdexcept>
#include <string>

using namespace partita;

namespace {

volatile std::sig_atomic_t for_ever = 1;

void go_wrong(const std::string& how) {
  if (how == "throws") throw std::runtime_error("there is no more milk");
  if (how == "throws a number") throw 17;
  if (how == "is killed") ::raise(SIGKILL);
  if (how == "crashes") ::raise(SIGSEGV);
  if (how == "exits") std::exit(3);
  if (how == "vanishes") ::_exit(3);
  if (how == "aborts") std::abort();
  if (how == "finalizes") MPI_Finalize();
  if (how == "loops")
    while (for_ever != 0) continue;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc != 3) return 2;
  const world everyone;
  const std::size_t n = everyone.size();
  const all_sum_reduce sum(everyone.partition(extents(n)), dimensions<0>);
  const repartition turn(everyone.partition(extents(n, std::size_t{1})),
                         everyone.partition(extents(std::size_t{1}, n)));
  const xt::xtensor<double, 1> x{1, 2, 3};
  const xt::xtensor<float, 2> rows = xt::ones<float>({std::size_t{2}, 3 * n});
  // a program that moves rows to columns and back
  const mesh m{axis{"a", n}};
  const sharding by_rows = m.layout("a", ""), by_columns = m.layout("", "a");
  const auto there_and_back = [&](const auto& y) {
    return constrain(multiply(constrain(multiply(y, 2), by_columns), 0.5), by_rows);
  };
  auto program = trace(there_and_back, spec(by_rows, {n, n})).bind<float>(everyone, {0});
  const auto z = shard<float>(everyone, by_rows, {n, n}, [](const auto& i) { return static_cast<float>(i[0]); });
  std::optional<stop_signal> stop;
  if (argv[1] == std::string("is asked to end")) stop.emplace(everyone);
  const bool ends_late = argv[1] == std::string("ends late"), ends = argv[1] == std::string("ends") || ends_late;
  for (long k = 0, most = std::atol(argv[2]);; ++k) {
    if (ends_late && k == 1 && everyone.id() + 1 == n) ::usleep(200'000);
    if (sum(x)(2) != 3.0 * static_cast<double>(n) || turn(rows).size() != 6 * n) {
      std::printf("WRONG VALUES\n");
      return 1;
    }
    if (stop && stop->received_by_any_worker()) {
      std::printf("worker %zu saves after call %ld\n", everyone.id(), k);
      return 0;
    }
    if (k < most) continue;
    if (stop && k == most && everyone.id() + 1 == n) ::raise(SIGTERM);
    if (ends) return program(z).data()[0] == z.data()[0] && program.backward(z)[0].data()[0] == z.data()[0] ? 0 : 1;
    if (everyone.id() + 1 == n) go_wrong(argv[1]);
    else if (argv[1] == std::string("finalizes")) const world never_made;
  }
}
