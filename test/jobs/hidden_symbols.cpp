// A program that is compiled with -fvisibility=hidden, and a shared libpartita: what a call of one side sets, such as a
// log of movements, must reach the functions of the other. Runs on 2 workers.
#include <cstdio>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 2> ones = xt::ones<double>({8, 8});
  const auto x = shard(everyone, m.layout("a", ""), ones);
  const auto log = record_movements([&] { matmul(x, x); });
  bool is_refused = false;
  try {
    const no_implicit_reshard written;
    matmul(x, x);
  } catch (const error&) {
    is_refused = true;
  }
  const std::size_t pooled_bytes = pooled.bytes_in_use;
  if (log.size() == 1 && is_refused && pooled_bytes >= x.size() * sizeof(double)) return 0;
  std::printf("worker %zu: %zu movements are logged, not 1; an implicit reshard is %s; %zu bytes are pooled\n",
              everyone.id(), log.size(), is_refused ? "refused" : "made", pooled_bytes);
  return 1;
}
