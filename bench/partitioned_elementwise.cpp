// Times how a row is added to a distributed matrix: when the row already has a matching partition, when one worker
// holds it, and when it has a different partition.
#include <partita/kernel/partitioned_elementwise.hpp>
#include <vector>

#include "machine.hpp"

using namespace partita;

namespace {

template <class Operation, class X, class Y>
void time_it(bench::rows& out, int rounds, const char* name, const Operation& op, const X& x, const Y& y) {
  std::vector<double> samples;
  for (int k = -1; k < rounds; ++k)
    if (const double one = bench::timed([&] { op(x, y); }); k >= 0) samples.push_back(one);
  out.add_peer(name, "partita", samples);
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone(checks::local);
  const int rounds = line.rounds();
  const std::size_t p = everyone.size(), n = p * line.count("rows"), m = line.count("columns");
  const auto by_columns = on(everyone.partition(extents(1, p)), extents(n, m));  // the matrix is partitioned by columns
  const auto by_rows = on(everyone.partition(extents(p, 1)), extents(n, m));     // the matrix is partitioned by rows
  const auto cut = on(everyone.partition(extents(p)), extents(m));
  const auto whole = on(everyone.partition<1>(), extents(m));
  const auto block = [](const auto& placed) { return xt::eval(xt::ones<float>(placed.block_shape())); };

  time_it(
      out, rounds, "local add of blocks, no kernel",
      [](const auto& x, const auto& y) { return xt::xtensor<float, 2>(add(x, y, broadcast_dimensions<1>)); },
      block(by_columns), block(cut));
  time_it(out, rounds, "the row is where it is needed",
          partitioned_elementwise(function::add{}, by_columns, cut, broadcast_dimensions<1>), block(by_columns),
          block(cut));
  time_it(out, rounds, "the row is on one worker",
          partitioned_elementwise(function::add{}, by_rows, whole, broadcast_dimensions<1>), block(by_rows),
          block(whole));
  time_it(out, rounds, "the row is cut in another way",
          partitioned_elementwise(function::add{}, by_rows, cut, broadcast_dimensions<1>, by_rows.partition),
          block(by_rows), block(cut));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("partitioned_elementwise", "adding a row to a matrix that is spread over workers", {1},
                                 {{"rounds", bench::argument::count, "samples of each call", "30", "2"},
                                  {"rows", bench::argument::count, "rows of each worker", "512", "8"},
                                  {"columns", bench::argument::count, "columns of the matrix", "512", "24"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
