// Copies the blocks of a partition to the workers of a larger partition, on 6 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [kernel]
  auto p_x = everyone.partition<1, 3>();  // workers 0 1 2
  auto p_y = everyone.partition<2, 3>();  // workers 0 1 2 above 3 4 5
  broadcast b(p_x, p_y);
  // [/kernel]

  // [call]
  xt::xtensor<double, 2> x = zero_volume<double, 2>();  // the argument of a worker that is not in p_x
  if (p_x.active()) {
    const std::size_t column = p_x.index()[1];
    x = (10.0 * static_cast<double>(column)) *
        xt::ones<double>({2 + column, 4 * column});  // blocks may differ in shape
  }
  const auto y = b(x);  // every worker of p_y gets the block of its column
  // [/call]

  // [plan]
  if (everyone.id() == 1) std::cout << b.plan();  // the blocks that this worker sends and receives
  // [/plan]

  // [policies]
  auto p_c = everyone.partition<3, 1>();                                     // the workers of p_x as a column
  const auto y_from_column = broadcast(p_c, p_y, transpose_src)(x);          // reversed, the extents of p_c are 1 x 3
  const auto sums = sum_reduce(p_y, p_c, transpose_dest, discard_batch)(y);  // workers 3 4 5 get a block of 0 x 0
  // [/policies]

  if (everyone.id() == 0)
    std::cout
        << "Three workers gave a block each; all six now hold the block of their column.\n"
        << "Look at: worker 1 sends to worker 4 only. The blocks differ in shape, and the program need not say so.\n";
  const std::size_t column = p_y.index()[1];
  const xt::xtensor<double, 2> expected =
      (10.0 * static_cast<double>(column)) * xt::ones<double>({2 + column, 4 * column});
  const bool sums_are_right = p_c.active() ? sums == 2.0 * expected : sums.shape(0) == 0;
  return y == expected && y_from_column == expected && sums_are_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
