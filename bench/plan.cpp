// What planning a repartition costs one worker, for thousands to a million simulated workers, without any MPI.
#include <partita/plan/repartition_plan.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace {

std::size_t allocated = 0;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <std::size_t Rank>
void measure(const char* name, std::array<std::size_t, Rank> extents, std::array<std::size_t, Rank> from,
             std::array<std::size_t, Rank> to, bool json) {
  using namespace partita;
  const grid<dynamic_extents<Rank>> source{dynamic_extents<Rank>(from)}, destination{dynamic_extents<Rank>(to)};
  const auto given = decomposition<Rank>::balanced(extents, from), wanted = decomposition<Rank>::balanced(extents, to);
  const std::size_t workers = source.size();
  std::vector<double> samples;
  std::size_t overlaps = 0, bytes = 0;
  for (std::size_t k = 0; k < 201; ++k) {
    const std::size_t worker = k * 7919 % workers;
    const std::size_t before = allocated;
    const double start = seconds();
    const auto plan = plan_repartition(source, given, destination, wanted, worker);
    samples.push_back(seconds() - start);
    bytes = allocated - before;
    overlaps = plan.sends.size() + plan.receives.size() + plan.kept.size();
  }
  std::sort(samples.begin(), samples.end());
  const double median = samples[samples.size() / 2];
  if (json)
    std::printf(
        "{\"bench\": \"plan\", \"case\": \"%s\", \"workers\": %zu, \"bytes\": %zu, \"peer\": \"partita\", "
        "\"seconds_median\": %.9f, \"seconds_min\": %.9f, \"overlaps\": %zu}\n",
        name, workers, bytes, median, samples[0], overlaps);
  else
    std::printf("%-28s %8zu workers %6zu overlaps %9.2f us (min %.2f) %8zu bytes allocated\n", name, workers, overlaps,
                median * 1e6, samples[0] * 1e6, bytes);
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
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  // glibc gives memory back to the system after every plan until a program has freed its first large block, as any
  // program that plans a repartition of tensors has; without this line 20 us of page faults are measured.
  { const std::vector<char> tensor(std::size_t{16} << 20); }
  measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {1024, 1}, {32, 32}, json);
  measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {10000, 1}, {100, 100}, json);
  measure<2>("P x 1 to a square", {1 << 20, 1 << 20}, {1000000, 1}, {1000, 1000}, json);
  measure<3>("pencils", {4096, 4096, 4096}, {1, 32, 32}, {32, 1, 32}, json);
  measure<3>("pencils", {4096, 4096, 4096}, {1, 100, 100}, {100, 1, 100}, json);
  measure<3>("pencils", {4096, 4096, 4096}, {1, 1000, 1000}, {1000, 1, 1000}, json);
  measure<3>("slabs to cubes", {4096, 4096, 4096}, {1000, 1, 1}, {10, 10, 10}, json);
}
