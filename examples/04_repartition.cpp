// Redistributes a tensor from one partition to another, and its gradient back, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

/// The values of the tensor x(i, j) = 100 i + j inside a box.
xt::xtensor<float, 2> values_in(const box<2>& mine) {
  xt::xtensor<float, 2> x(mine.shape());
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t j = 0; j < x.shape(1); ++j)
      x(i, j) = static_cast<float>(100 * (mine.start[0] + i) + mine.start[1] + j);
  return x;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [kernel]
  auto p_x = everyone.partition<2, 2>();
  auto p_y = everyone.partition<1, 3>();
  repartition r(p_x, p_y);
  // [/kernel]
  const auto before = decomposition<2>::balanced({7, 9}, {2, 2});
  const xt::xtensor<float, 2> x = values_in(before.block(p_x.index()));

  // [plan]
  const auto plan = r.plan(extents<7, 9>{});  // a plan needs no message
  if (everyone.id() == 1) std::cout << to_text(plan, sizeof(float));
  // [/plan]

  // [call]
  const auto y = r(x);           // this worker's columns of the tensor; worker 3 gets none
  const auto dx = r.adjoint(y);  // the adjoint redistributes y to the blocks of x
  // [/call]
  // [overlap]
  auto later = r.start(x);
  // compute something else while the boxes travel
  const auto overlapped = later.finish();
  // [/overlap]

  if (everyone.id() == 1)
    std::cout
        << "Look at: the plan was printed before any data was sent. Each line is a box of the 7 x 9 tensor; a box of\n"
        << "many short runs takes longer to pack than a box of few long runs.\n";
  bool right = dx == x && overlapped == y;
  const auto after = decomposition<2>::balanced({7, 9}, {1, 3});
  if (p_y.active()) right = right && y == values_in(after.block(p_y.index()));
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
