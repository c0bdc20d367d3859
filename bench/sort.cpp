// Compares sort, argsort and quantile of the numbers of all workers with std::sort of all numbers on one core.
#include <partita/kernel/sort.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

using namespace partita;

/// The numbers of worker k: random, sorted, reversed or equal.
std::vector<double> numbers(const std::string& kind, std::size_t worker, std::size_t count) {
  std::mt19937_64 random(worker);
  std::vector<double> all(count);
  for (std::size_t j = 0; j < count; ++j) {
    const auto place = static_cast<double>(worker * count + j);
    all[j] = kind == "random"     ? static_cast<double>(random())
             : kind == "sorted"   ? place
             : kind == "reversed" ? -place
                                  : 1;
  }
  return all;
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t P = everyone.size(), me = everyone.id(), each = line.count("numbers") / P;
  bool right = true;
  for (const std::string kind : {"random", "sorted", "reversed", "equal"}) {
    const auto own = numbers(kind, me, each);
    const auto x = xt::adapt(own, std::array<std::size_t, 1>{each});
    std::vector<double> all;
    for (std::size_t k = 0; k < P && me == 0; ++k) {
      const auto numbers_of_worker = numbers(kind, k, each);
      all.insert(all.end(), numbers_of_worker.begin(), numbers_of_worker.end());
    }
    std::vector<double> sorted, places, median, alone, result;
    for (int k = -1; k < line.rounds(); ++k) {
      const double sort_seconds = bench::timed([&] {
        const auto y = sort(everyone, x);
        result.assign(y.begin(), y.end());
      });
      const double argsort_seconds = bench::timed([&] { argsort(everyone, x); });
      const double quantile_seconds = bench::timed([&] { quantile(everyone, x, {0.5}); });
      auto one = all;
      const double std_sort_seconds =
          bench::timed([&] { std::sort(one.begin(), one.end()); });  // all other workers wait
      if (me == 0) right = right && std::equal(result.begin(), result.end(), one.begin());
      if (k < 0) continue;
      sorted.push_back(sort_seconds), places.push_back(argsort_seconds), median.push_back(quantile_seconds),
          alone.push_back(std_sort_seconds);
    }
    out.add(kind,
            {{"numbers", each * P},
             {"seconds_sort", bench::median(sorted)},
             {"seconds_argsort", bench::median(places)},
             {"seconds_quantile", bench::median(median)},
             {"seconds_one_core", bench::median(alone)},
             {"one_core_to_sort", bench::median(alone) / bench::median(sorted)}},
            sorted.size());
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("sort", "sorted numbers against std::sort on one core", {2},
                                 {{"rounds", bench::argument::count, "samples of each", "5", "1"},
                                  {"numbers", bench::argument::count, "numbers of all workers", "10000000", "1000"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
