// Deals a matrix out in ScaLAPACK's blocks, cuts rows where the caller says, and transposes, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

/// Rows [first, last) of the 10 x 7 matrix a(i, j) = 10 i + j.
xt::xtensor<double, 2> rows_of_a(std::size_t first, std::size_t last) {
  xt::xtensor<double, 2> a({last - first, std::size_t{7}});
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t j = 0; j < 7; ++j) a(i - first, j) = static_cast<double>(10 * i + j);
  return a;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const std::size_t me = everyone.id();
  const interval own = balanced_part(10, 4, me);
  const xt::xtensor<double, 2> a = rows_of_a(own.start, own.stop);

  // [cyclic]
  auto rows = everyone.partition<4, 1>();
  auto square = everyone.partition<2, 2>();
  const auto dealt = decomposition<2>::block_cyclic({10, 7}, {2, 2}, {3, 2});  // ScaLAPACK's MB = 3, NB = 2
  repartition deal(rows, square, to_cuts(dealt));
  repartition collect(square, rows, from_cuts(dealt));  // which rows and columns a block holds, its shape does not tell
  const auto blocks = deal(a);          // now a library that computes on block-cyclic matrices could have it
  const auto again = collect(blocks);   // rows in balance
  // [/cyclic]

  // [explicit]
  repartition lighter(rows, rows, to_cuts(cut::at({1, 3, 3, 3}), cut::balanced(7, 1)));
  const auto few = lighter(a);  // worker 0 has other things to do
  // [/explicit]

  // [transpose]
  repartition turn(rows, rows, permute<1, 0>);  // dimension 0 of the result is dimension 1 of a
  const auto at = turn(a);                      // this worker's rows of the transpose, 7 x 10
  const auto back = turn.adjoint(at);
  // [/transpose]
  if (me == 1) std::cout << to_text(turn.plan(extents<10, 7>{}), sizeof(double));

  const interval turned = balanced_part(7, 4, me);
  bool right = again == a && back == a && at.shape(0) == turned.size() && at.shape(1) == 10;
  for (std::size_t i = 0; i < at.shape(0); ++i)
    for (std::size_t j = 0; j < 10; ++j) right = right && at(i, j) == static_cast<double>(10 * j + turned.start + i);
  right = right && few == (me == 0 ? rows_of_a(0, 1) : rows_of_a(3 * me - 2, 3 * me + 1));
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
