// Overlaps computation with a repartition and draws a time line of each worker, on 4 workers.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <string>

using namespace partita;
using clock_type = std::chrono::steady_clock;

/// A computation that does not depend on the tensor that is moved.
double compute(std::size_t times) {
  double sum = 0;
  for (std::size_t k = 1; k <= times; ++k) sum += std::sqrt(static_cast<double>(k));
  return sum;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  constexpr std::size_t side = 512, effort = 3'000'000;
  auto rows = everyone.partition<4, 1>();
  auto columns = everyone.partition<1, 4>();
  repartition to_columns(rows, columns);
  const auto x = block_from(rows, extents<side, side>{}, [](auto i, auto j) { return double(i) - double(j); });
  const auto first_result = to_columns(x);  // the first call exchanges shapes and causes page faults

  const auto begin = clock_type::now();
  const auto microseconds = [&] {
    return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
  };
  xt::xtensor<double, 1> times = xt::zeros<double>({std::size_t{5}});
  // [overlap]
  auto later = to_columns.start(x);  // collective: messages are pending when start returns
  times(0) = microseconds();
  const double sum = compute(effort);
  times(1) = microseconds();
  const auto y = later.finish();  // local: a worker calls finish when it needs y
  times(2) = microseconds();
  // [/overlap]
  const auto same_result = to_columns(x);  // the repartition without overlap, for comparison
  times(3) = microseconds();
  const double sum_again = compute(effort);
  times(4) = microseconds();

  // [gathered]
  const auto p = everyone.partition<4>();
  const auto all_times =
      repartition(p, everyone.partition<1>())(times);  // gathers 5 numbers of each worker on worker 0
  // [/gathered]
  if (everyone.id() == 0) {
    const double longest = *std::max_element(all_times.begin(), all_times.end());
    std::cout << "Each line is a worker, from left to right its time: > start, # compute, < finish,\n"
              << "then the same without overlap: = the whole movement, # compute. In all " << longest << " us.\n";
    for (std::size_t k = 0; k < 4; ++k) {
      std::string line;
      for (std::size_t part = 0; part < 5; ++part)  // draws the five intervals
        line.resize(static_cast<std::size_t>(72.0 * all_times(5 * k + part) / longest), ">#<=#"[part]);
      std::cout << "  worker " << k << " |" << line << "|\n";
    }
    std::cout << "Look at: < is short or not there where the boxes came while the worker computed. Between start and\n"
              << "finish no other kernel is called: it would wait for the pending operation.\n";
  }
  return y == same_result && y == first_result && sum == sum_again ? EXIT_SUCCESS : EXIT_FAILURE;
}
