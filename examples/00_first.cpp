// A first program: redistributes a matrix from rows to columns and back, on 4 workers.
// [program]
#include <iostream>
#include <partita/partita.hpp>
#include <sstream>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto rows = everyone.partition(extents(everyone.size(), 1));     // each worker holds some rows of the matrix
  auto columns = everyone.partition(extents(1, everyone.size()));  // later each worker holds some columns

  const auto x = block_from(rows, extents<8, 6>{}, [](auto i, auto j) { return 10 * i + j; });
  repartition to_columns(rows, columns);
  const auto y = to_columns(x);                 // every element goes to the worker that holds its column
  const auto restored = to_columns.adjoint(y);  // the adjoint moves every element back to its row

  std::ostringstream line;
  line << "worker " << everyone.id() << " held " << x.shape(0) << " rows and now holds " << y.shape(1)
       << " columns; element (0, 0) of its block is " << (y.size() > 0 ? y(0, 0) : 0) << "\n";
  std::cout << line.str();
  return restored == x ? 0 : 1;
}
// [/program]
