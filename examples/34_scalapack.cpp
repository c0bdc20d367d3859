// Passes matrices to ScaLAPACK and back: solves a system, and compares a product with our SUMMA, on 4 workers.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdgesv_(const int* n, const int* nrhs, double* a, const int* ia, const int* ja, const int* desca, int* pivots,
             double* b, const int* ib, const int* jb, const int* descb, int* info);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* b, const int* ib,
             const int* jb, const int* descb, const double* beta, double* c, const int* ic, const int* jc,
             const int* descc);
}

using namespace partita;
constexpr int one = 1;

// [matrix]
/// A matrix in ScaLAPACK's layout: block-cyclic over 2 x 2 workers, with a column-major block on each worker.
struct cyclic_matrix {
  cyclic_matrix(const partition<extents<2, 2>>& square, int context, std::size_t rows, std::size_t columns)
      : cuts(decomposition<2>::block_cyclic({rows, columns}, {2, 2}, {block, block})),
        local_extents{cuts.cuts[0].size(square.index()[0]), cuts.cuts[1].size(square.index()[1])},
        memory(local_extents[0] * local_extents[1]),
        descriptor{1, context, int(rows), int(columns), int(block), int(block), 0, 0, int(local_extents[0])} {}

  auto view() {
    return as_rank<2>(memory.data(), local_extents, {1, std::ptrdiff_t(local_extents[0])});
  }  // the view refers to `memory`

  static constexpr std::size_t block = 32;
  decomposition<2> cuts;
  std::array<std::size_t, 2> local_extents;  // the numbers of rows and columns that this worker holds
  std::vector<double> memory;
  int descriptor[9];
};
// [/matrix]

double a_at(std::size_t i, std::size_t j) {
  return (i == j ? 8.0 : 0.0) + std::sin(static_cast<double>(3 * i + 5 * j));
}
double b_at(std::size_t i, std::size_t j) { return std::cos(static_cast<double>(i + 2 * j)); }

/// Solves A x = b, with the rows of A and of b on four workers, and returns the largest error of A x.
double solve(const world& everyone, int context, std::size_t n) {
  // [solve]
  auto rows = everyone.partition<4, 1>();
  auto square = everyone.partition<2, 2>();
  const auto a = block_from(rows, extents(n, n), a_at);  // the program's own distribution: balanced rows
  const auto b = block_from(rows, extents(n, std::size_t{1}), b_at);

  cyclic_matrix a_cyclic(square, context, n, n), b_cyclic(square, context, n, 1);
  repartition(rows, square, result_cuts(a_cyclic.cuts)).into(a, a_cyclic.view());  // writes into ScaLAPACK's memory
  repartition(rows, square, result_cuts(b_cyclic.cuts)).into(b, b_cyclic.view());
  std::vector<int> pivots(a_cyclic.local_extents[0] + cyclic_matrix::block);
  const int order = int(n);
  int info = 0;
  pdgesv_(&order, &one, a_cyclic.memory.data(), &one, &one, a_cyclic.descriptor, pivots.data(), b_cyclic.memory.data(),
          &one, &one, b_cyclic.descriptor, &info);
  const auto x = repartition(square, rows, source_cuts(b_cyclic.cuts))(b_cyclic.view());  // x has balanced rows
  // [/solve]
  if (info != 0) return HUGE_VAL;

  // computes A x for the check: every worker gets all of x for its rows of A
  const auto to_all = broadcast(everyone.partition<1>(), everyone.partition<4>());
  const auto whole_x = to_all(repartition(rows, everyone.partition<1, 1>())(x));
  double difference = 0;
  for (std::size_t i = 0; i < a.shape(0); ++i) {
    double sum = -b(i, 0);
    for (std::size_t j = 0; j < n; ++j) sum += a(i, j) * whole_x(j, 0);
    difference = std::max(difference, std::abs(sum));
  }
  return all_reduce(everyone.partition<4>(), dimensions<0>, maximum)(as_rank<1>({difference}))(0);
}

/// Computes c += a b for row-major blocks. BLAS reads the blocks as column-major, that is as c^T += b^T a^T.
template <class A, class B>
void add_product(const A& a, const B& b, xt::xtensor<double, 2>& c) {
  const int rows = int(c.shape(0)), columns = int(c.shape(1)), inner = int(a.shape(1));
  const double unit = 1;
  dgemm_("N", "N", &columns, &rows, &inner, &unit, b.data(), &columns, a.data(), &inner, &unit, c.data(), &columns);
}

struct seconds {
  double summa_seconds = 0, pdgemm_seconds = 0, difference = 0;
};

/// Computes C = A B by SUMMA with one panel per block, and by pdgemm; returns the times of both.
seconds multiply_both(const world& everyone, int context, std::size_t n) {
  using clock = std::chrono::steady_clock;
  auto square = everyone.partition<2, 2>();
  all_reduce slowest(everyone.partition<4>(), dimensions<0>, maximum);  // gives the slowest time; also a barrier
  const auto timed = [&](auto&& run) {
    slowest(as_rank<1>({0.0}));
    const auto start = clock::now();
    run();
    return slowest(as_rank<1>({std::chrono::duration<double>(clock::now() - start).count()}))(0);
  };
  const auto a = block_from(square, extents(n, n), a_at), b = block_from(square, extents(n, n), b_at);

  // [summa]
  std::vector<partition<extents<2, 1>>> columns{square.subset<2, 1>(workers{0, 2}), square.subset<2, 1>(workers{1, 3})};
  std::vector<partition<extents<1, 2>>> rows{square.subset<1, 2>(workers{0, 1}), square.subset<1, 2>(workers{2, 3})};
  xt::xtensor<double, 2> c({a.shape(0), b.shape(1)});
  const auto summa = [&] {
    c.fill(0.0);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto of_a = broadcast(columns[k], square)(block_on(columns[k], a));
      const auto of_b = broadcast(rows[k], square)(block_on(rows[k], b));
      add_product(of_a, of_b, c);
    }
  };
  // [/summa]

  // [pdgemm]
  cyclic_matrix a_cyclic(square, context, n, n), b_cyclic(square, context, n, n), c_cyclic(square, context, n, n);
  repartition to_cyclic(square, square, result_cuts(a_cyclic.cuts));
  to_cyclic.into(a, a_cyclic.view());
  to_cyclic.into(b, b_cyclic.view());
  const auto pdgemm = [&] {
    const int order = int(n);
    const double unit = 1, zero = 0;
    pdgemm_("N", "N", &order, &order, &order, &unit, a_cyclic.memory.data(), &one, &one, a_cyclic.descriptor,
            b_cyclic.memory.data(), &one, &one, b_cyclic.descriptor, &zero, c_cyclic.memory.data(), &one, &one,
            c_cyclic.descriptor);
  };
  // [/pdgemm]

  seconds took{HUGE_VAL, HUGE_VAL, 0};
  for (int round = 0; round < 5; ++round) {
    took.summa_seconds = std::min(took.summa_seconds, timed(summa));
    took.pdgemm_seconds = std::min(took.pdgemm_seconds, timed(pdgemm));
  }
  const auto pdgemm_result = repartition(square, square, source_cuts(c_cyclic.cuts))(c_cyclic.view());
  double difference = 0;
  for (std::size_t k = 0; k < c.size(); ++k)
    difference = std::max(difference, std::abs(c.data()[k] - pdgemm_result.data()[k]));
  took.difference = slowest(as_rank<1>({difference}))(0);
  return took;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  int context = 0;
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 2);  // worker 2 i + j is at (i, j), as in partition<2, 2>

  constexpr std::size_t unknowns = 300, edge = 512;
  const double residual = solve(everyone, context, unknowns);
  const seconds took = multiply_both(everyone, context, edge);
  Cblacs_gridexit(context);
  const bool right = residual < 1e-10 && took.difference < 1e-9;
  if (everyone.id() == 0)
    std::cout
        << "A x = b with " << unknowns << " unknowns: rows of A went to ScaLAPACK's 2 x 2 block-cyclic layout,\n"
        << "pdgesv solved, rows of x came back. A x misses b by " << residual << ".\n"
        << "C = A B with " << edge << " x " << edge << " matrices, the best of five times in this run:\n"
        << "  SUMMA of broadcasts " << 1e3 * took.summa_seconds << " ms, ScaLAPACK's pdgemm "
        << 1e3 * took.pdgemm_seconds << " ms, the results differ by " << took.difference << ".\n"
        << "Look at: `into` writes ScaLAPACK's memory, by columns, without a copy between; `source_cuts` reads it.\n"
        << (right ? "Both agree.\n" : "They do NOT agree.\n");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
