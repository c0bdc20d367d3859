// Distributes a matrix in ScaLAPACK's blocks and by chosen numbers of rows, and transposes it, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

/// Element (i, j) of the 10 x 7 matrix.
double a_at(std::size_t i, std::size_t j) { return static_cast<double>(10 * i + j); }

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const std::size_t me = everyone.id();

  // [cyclic]
  auto rows = everyone.partition<4, 1>();
  auto square = everyone.partition<2, 2>();
  const auto a = block_from(rows, extents<10, 7>{}, a_at);  // this worker's rows, from a function of the global index
  const auto cyclic =
      decomposition<2>::block_cyclic({10, 7}, {2, 2}, {3, 2});  // blocks of ScaLAPACK's MB = 3 and NB = 2
  repartition to_cyclic(rows, square, result_cuts(cyclic));
  repartition from_cyclic(square, rows,
                          source_cuts(cyclic));      // a block's shape does not say which rows and columns it holds
  const auto cyclic_block = to_cyclic(a);            // the layout that a library such as ScaLAPACK needs
  const auto same_rows = from_cyclic(cyclic_block);  // equals a: balanced rows
  // [/cyclic]

  // [explicit]
  repartition to_uneven(rows, rows, result_cuts(cut::at({1, 3, 3, 3}), cut::balanced(7, 1)));
  const auto uneven_rows = to_uneven(a);  // worker 0 gets one row, because it has other work
  // [/explicit]

  // [transpose]
  repartition transposition(rows, rows, permute<1, 0>);  // dimension 0 of the result is dimension 1 of a
  const auto a_transposed = transposition(a);            // this worker's rows of the transpose, 7 x 10
  const auto a_restored = transposition.adjoint(a_transposed);
  // [/transpose]
  if (me == 1) std::cout << to_text(transposition.plan(extents<10, 7>{}), sizeof(double));

  if (me == 1)
    std::cout
        << "A 10 x 7 matrix went from rows to ScaLAPACK's block-cyclic layout and back, and was transposed.\n"
        << "Look at: the plan of worker 1. A transpose is a repartition whose boxes are transposed when they are\n"
        << "written; every element is sent once.\n";
  const auto cuts = decomposition<2>{{cut::at({1, 3, 3, 3}), cut::balanced(7, 1)}};
  const auto transposed = [](std::size_t i, std::size_t j) { return a_at(j, i); };
  const bool right = same_rows == a && a_restored == a &&
                     a_transposed == block_from(rows, extents<7, 10>{}, transposed) &&
                     uneven_rows == block_from(rows, cuts, a_at);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
