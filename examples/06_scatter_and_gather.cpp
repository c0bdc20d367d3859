// Scatters a tensor from one worker over all workers, and gathers it again, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [kernels]
  auto root = everyone.partition<1, 1>();  // worker 0
  auto rows = everyone.partition<4, 1>();
  repartition scatter(root, rows);
  repartition gather(rows, root);
  // [/kernels]

  // [call]
  const auto x = block_from<int>(root, extents<10, 3>{}, [](auto i, auto j) { return 3 * i + j; });
  const auto own_rows = scatter(x);                  // the four workers get 3, 3, 2 and 2 of the 10 rows
  const auto squares = gather(own_rows * own_rows);  // an expression is accepted as well as an array
  // [/call]

  if (everyone.id() == 0) std::cout << scatter.plan(extents<10, 3>{}) << gather.plan(extents<10, 3>{});
  // [uneven]
  // the blocks of the input may have any sizes: views of 2, 1, 2 and 1 rows make a tensor of 6 rows
  const auto gathered_views = gather(xt::view(own_rows, xt::range(everyone.id() % 2, std::size_t{2}), xt::all()));
  // [/uneven]

  if (everyone.id() == 0)
    std::cout << "A tensor of 10 rows went from worker 0 to four workers, was squared there, and came back.\n"
              << "Look at: 3, 3, 2 and 2 rows. Scatter and gather are repartitions with one worker on one side.\n";
  bool right = own_rows.shape(0) == (everyone.id() < 2 ? 3U : 2U);
  if (root.active()) {
    right = right && gathered_views.shape(0) == 6;
    for (std::size_t k = 0; k < x.size(); ++k) right = right && squares.data()[k] == x.data()[k] * x.data()[k];
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
