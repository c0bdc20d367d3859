// Arguments that kernels accept: blocks by global index, arrays of dynamic rank, ranges, raw memory, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto row = everyone.partition<1, 2>();   // workers 0 and 1
  auto grid = everyone.partition<2, 2>();  // all four workers
  broadcast b(row, grid);

  // [blocks]
  const auto x = block_from(row, extents<3, 5>{}, [](auto i, auto j) { return 5.0 * double(i) + double(j); });
  const auto y = b(x);  // worker 0 passes 3 of 5 columns, worker 1 the other 2, workers 2 and 3 none
  const auto z = b(block_on(row, 2.0 * y));  // only the workers of row pass the array 2.0 * y
  // [/blocks]

  // [ranks]
  xt::xarray<double> a = y;                         // an array whose rank is known at run time
  const auto from_dynamic_rank = b(as_rank<2>(a));  // refers to the memory of a: nothing is copied
  std::vector<double> v(4, 1.0);
  all_sum_reduce sum(everyone.partition<4>(), dimensions<0>);
  const auto sum_of_vectors = sum(as_rank<1>(v));  // the sum is {4, 4, 4, 4}
  const auto sum_of_lists = sum(as_rank<1>({2.0, 3.0}));
  // [/ranks]

  // [memory]
  double* const memory = v.data();                         // memory of any library
  const auto square = sum(as_rank<1>(memory, {2}, {2}));   // 2 numbers with a stride of 2
  const auto table = b.adjoint(b(as_rank<2>(v, {2, 2})));  // the vector v as a 2 x 2 matrix
  const auto by_columns =
      b(as_rank<2>(memory, {2, 2}, {1, 2}));  // column-major, as in LAPACK, with leading dimension 2
  // [/memory]

  // [results]
  const xt::xtensor<double, 2> copied = b(x);  // a result refers to pooled memory: this copies it
  const auto block_of_row = row.active() ? y : zero_volume<double, 2>();
  // [/results]

  const bool right = copied == y && block_of_row.size() == (row.active() ? y.size() : 0) &&
                     xt::all(xt::equal(z, 2.0 * y)) && from_dynamic_rank == y && sum_of_vectors(3) == 4.0 &&
                     sum_of_lists(1) == 12.0 && square(1) == 4.0 && by_columns(0, 1) == 1.0 &&
                     table.size() == (row.active() ? 4U : 0U);
  if (everyone.id() == 0)
    std::cout
        << "Blocks came from a function of the global index, from xtensor arrays of both kinds, and from a vector.\n"
        << "Look at: each worker gave a vector of four ones; their sum, " << sum_of_vectors(3)
        << ", came back on every worker.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
