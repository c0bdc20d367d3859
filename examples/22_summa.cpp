// Multiplies block-distributed matrices by broadcasts along rows and columns of workers (SUMMA), on 6 workers.
#include <cstdlib>
#include <iostream>
#include <optional>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

constexpr std::size_t rows = 7, inner = 8, columns = 5;
int a_at(std::size_t i, std::size_t k) { return static_cast<int>(i + 2 * k) % 5 - 2; }
int b_at(std::size_t k, std::size_t j) { return static_cast<int>(3 * k + j) % 7 - 3; }
int c_at(std::size_t i, std::size_t j) {
  int sum = 0;
  for (std::size_t k = 0; k < inner; ++k) sum += a_at(i, k) * b_at(k, j);
  return sum;
}

/// Computes c += a b for three local blocks.
template <class A, class B, class C>
void add_product(const A& a, const B& b, C& c) {
  for (std::size_t i = 0; i < c.shape(0); ++i)
    for (std::size_t k = 0; k < a.shape(1); ++k)
      for (std::size_t j = 0; j < c.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [summa]
  constexpr std::size_t grid_rows = 2, grid_columns = 3;
  auto p = everyone.partition<grid_rows, grid_columns>();
  // the number of panels into which both operands are split along the inner dimension: any number fits any grid
  constexpr std::size_t panels = 4;
  xt::xtensor<int, 2> c = 0 * block_from<int>(p, extents<rows, columns>{}, c_at);
  std::size_t received = 0;
  for (std::size_t k = 0; k < panels; ++k) {
    auto a_column = p.subset<grid_rows, 1>(
        workers{k % grid_columns, grid_columns + k % grid_columns});  // workers with panel k of A
    auto b_row = p.subset<1, grid_columns>(workers(
        k % grid_rows * grid_columns, k % grid_rows * grid_columns + grid_columns));  // workers with panel k of B
    const interval panel = balanced_part(inner, panels, k);
    const auto a_panel = block_from<int>(a_column, extents(rows, panel.size()),
                                         [&](auto i, auto kk) { return a_at(i, panel.start + kk); });
    const auto b_panel = block_from<int>(b_row, extents(panel.size(), columns),
                                         [&](auto kk, auto j) { return b_at(panel.start + kk, j); });
    const auto received_a = broadcast(a_column, p)(a_panel);  // broadcasts along the rows of workers
    const auto received_b = broadcast(b_row, p)(b_panel);     // broadcasts along the columns of workers
    add_product(received_a, received_b, c);
    received += received_a.size() + received_b.size();
  }
  // [/summa]

  const bool right = c == block_from<int>(p, extents<rows, columns>{}, c_at);
  if (everyone.id() == 0)
    std::cout << "C = A B with A " << rows << " x " << inner << " and B " << inner << " x " << columns << " on "
              << grid_rows << " x " << grid_columns << " workers, in " << panels << " panels.\n"
              << "Worker 0 holds " << c.shape(0) << " x " << c.shape(1) << " of C and has seen " << received
              << " numbers of A and B, of " << rows * inner + inner * columns << " that there are.\n"
              << "Look at: each step is two broadcasts, of a column of A along the rows of workers and of a row of B\n"
              << "along their columns. C never moves. The result is " << (right ? "exactly" : "NOT")
              << " that of one worker.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
