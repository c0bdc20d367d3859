// A program outside the repository: a linear layer, which takes every library that partita stands on.
#include <boost/mpi/environment.hpp>
#include <iostream>
#include <partita/partita.hpp>
#include <xtensor-blas/xlinalg.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto p_x = everyone.partition<1, 1>();
  auto p_y = everyone.partition(extents(1, everyone.size()));
  auto p_w = everyone.partition(extents(everyone.size(), 1));
  linear<double> layer(p_x, p_y, p_w, {.in_features = 3, .out_features = 4});
  initialise(layer, [](std::size_t i, std::size_t j) { return static_cast<double>(i + j); });

  xt::xtensor<double, 2> x = zero_volume<double, 2>(2);
  if (p_x.active()) x = xt::ones<double>({2, 3});
  const auto y = layer(x);

  xt::xtensor<double, 2> w({4, 3});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) w(i, j) = static_cast<double>(i + j);
  const xt::xtensor<double, 2> whole = xt::linalg::dot(xt::ones<double>({2, 3}), xt::transpose(w));
  const box<2> mine = layer.weight_box();
  const xt::xtensor<double, 2> expected = xt::view(whole, xt::all(), xt::range(mine.start[0], mine.stop[0]));
  if (!(y == expected)) return 1;
  if (everyone.id() == 0) std::cout << "the layers ran" << std::endl;
}
