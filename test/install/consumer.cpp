// A program outside the repository: it needs every library that partita stands on, to compile and to link.
#include <boost/mpi.hpp>
#include <iostream>
#include <partita/array/xtensor.hpp>
#include <partita/core/index.hpp>
#include <xtensor-blas/xlinalg.hpp>

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const boost::mpi::communicator everyone;
  const partita::extents<partita::dynamic, 2> grid(everyone.size());
  const auto workers = static_cast<double>(partita::volume_of(grid.array())) / 2;
  const xt::xtensor<double, 2> ones = xt::ones<double>({4, 4});
  const double sum = xt::sum(xt::linalg::dot(ones, ones))();
  const double all = boost::mpi::all_reduce(everyone, sum, std::plus<double>());
  if (everyone.rank() == 0) std::cout << (all == 64 * workers ? "the consumer ran" : "the consumer computed wrongly") << '\n';
}
