// Times how one worker plans a repartition among thousands to a million simulated workers, without MPI.
#include <partita/plan/repartition_plan.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "harness.hpp"

namespace {

std::size_t allocated = 0;

bench::rows* out = nullptr;
std::size_t most_workers = 0, rounds = 0;

template <std::size_t Rank>
void measure(const char* name, std::array<std::size_t, Rank> extents, std::array<std::size_t, Rank> from,
             std::array<std::size_t, Rank> to) {
  using namespace partita;
  const grid<dynamic_extents<Rank>> source{dynamic_extents<Rank>(from)}, destination{dynamic_extents<Rank>(to)};
  const auto given = decomposition<Rank>::balanced(extents, from), wanted = decomposition<Rank>::balanced(extents, to);
  const std::size_t workers = source.size();
  if (workers > most_workers) return;
  std::vector<double> samples;
  std::size_t overlaps = 0, bytes = 0;
  for (std::size_t k = 0; k < rounds; ++k) {
    const std::size_t worker = k * 7919 % workers;
    const std::size_t before = allocated;
    const double start = bench::seconds();
    const auto plan = plan_repartition(source, given, destination, wanted, worker);
    samples.push_back(bench::seconds() - start);
    bytes = allocated - before;
    overlaps = plan.sends.size() + plan.receives.size() + plan.kept.size();
  }
  out->add_peer(name, "partita", samples, {{"workers", workers}, {"bytes", bytes}, {"overlaps", overlaps}});
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t n) {
  allocated += n;
  if (void* p = std::malloc(n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main(int argc, char** argv) {
  const bench::command_line line(
      "plan", "planning a repartition for one of up to a million workers, without any MPI", {1, 1},
      {{"rounds", bench::argument::count, "plans of each case", "201", "11"},
       {"most-workers", bench::argument::count, "the largest number of workers", "1000000", "1024"}});
  // glibc returns memory to the system after every plan until the program has freed its first large block. Every
  // program that repartitions tensors has freed such a block; without this line 20 us of page faults are measured.
  { const std::vector<char> tensor(std::size_t{16} << 20); }
  return bench::run_alone(argc, argv, line, [](const bench::command_line& given, bench::rows& to) {
    out = &to, rounds = given.count("rounds"), most_workers = given.count("most-workers");
    measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {1024, 1}, {32, 32});
    measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {10000, 1}, {100, 100});
    measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {1000000, 1}, {1000, 1000});
    measure<3>("pencils", {4096, 4096, 4096}, {1, 32, 32}, {32, 1, 32});
    measure<3>("pencils", {4096, 4096, 4096}, {1, 100, 100}, {100, 1, 100});
    measure<3>("pencils", {4096, 4096, 4096}, {1, 1000, 1000}, {1000, 1, 1000});
    measure<3>("slabs to cubes", {4096, 4096, 4096}, {1000, 1, 1}, {10, 10, 10});
    return true;
  });
}
