// Arranges workers in partitions, one for each block of a tensor, on 6 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  // [partitions]
  world everyone;                                      // world(communicator) uses an existing MPI_Comm
  auto p_x = everyone.partition<2, 3>();               // workers 0 to 5, in C order
  auto p_y = everyone.partition<1, 3>(workers(3, 6));  // the half-open range of workers 3, 4, 5
  auto p_z = everyone.partition(extents<dynamic, 2>(2), workers{5, 2, 0, 1});  // listed workers, in this order
  // [/partitions]

  // [derived]
  auto column = p_x.subset<2>(workers{1, 4});  // the workers at places 1 and 4 of p_x
  auto flat = p_x.reshape<1, 1, 6>();          // the workers of p_x as a grid of 1 x 1 x 6
  auto p_union = union_of(p_y, column);        // the workers of p_y, then those of column that are not in p_y
  // [/derived]

  // every worker, active or not, knows all partitions without communication: worker 0 prints them
  if (everyone.id() == 0) {
    std::cout << "p_x is 2 x 3:\n";
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) std::cout << "  worker " << p_x.worker({i, j}) << (j == 2 ? "\n" : "");
    std::cout << "p_z is " << p_z.extents()[0] << " x 2:\n";
    for (std::size_t i = 0; i < 2; ++i)
      std::cout << "  worker " << p_z.worker({i, 0}) << "  worker " << p_z.worker({i, 1}) << "\n";
    // [blocks]
    // the balanced decomposition of 7 rows and 8 columns: the first 7 mod 2 rows of workers hold one row more
    const auto cut = decomposition<2>::balanced({7, 8}, p_x.extents().array());
    std::cout << "a 7 x 8 tensor on p_x: worker 2 holds " << cut.block({0, 2}) << "\n";
    // [/blocks]
  }

  if (everyone.id() == 0)
    std::cout
        << "Look at: the workers of p_z are in the order of their list, and every worker knows all partitions\n"
        << "without a message. 7 rows over 2 workers are divided into 4 and 3: the first workers hold one more.\n";
  bool right = p_x.size() == 6 && flat.size() == 6 && column.worker({1}) == 4 && p_union.size() == 4;
  // [asked]
  if (p_z.active()) right = right && p_z.worker(p_z.index()) == everyone.id();
  // [/asked]
  return right && p_y.active() == (everyone.id() >= 3) ? EXIT_SUCCESS : EXIT_FAILURE;
}
