// Sums blocks onto fewer workers (the adjoint of a broadcast) and onto all workers (all-reduce), on 6 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto p_x = everyone.partition<1, 3>();
  auto p_y = everyone.partition<2, 3>();
  const auto id = static_cast<double>(everyone.id());

  // [sum]
  sum_reduce s(p_y, p_x);
  const xt::xtensor<double, 1> y{id, 10 * id};
  const auto x = s(y);  // workers 0 1 2 get the sum of their column, the other workers nothing
  // [/sum]
  bool right = p_x.active() ? x == xt::xtensor<double, 1>{2 * id + 3, 20 * id + 30} : x.size() == 0;

  // [adjoint]
  broadcast b(p_x, p_y);  // the adjoint of b sums as s does, and the adjoint of s copies as b does
  const auto products = adjoint_test(everyone, b, x, y);
  // [/adjoint]
  if (everyone.id() == 0)
    std::cout << "<B x, y> = " << products.forward << ", <x, B* y> = " << products.backward << "\n";
  right = right && products.exact();

  // [all]
  all_sum_reduce rows(p_y, dimensions<0>);  // sums over dimension 0 of p_y; all six workers get a sum
  const auto z = rows(y);
  all_sum_reduce everything(p_y, all_dimensions_but<>);  // sums over every dimension of p_y
  const auto total = everything(y);
  // [/all]
  // [overlap]
  auto later = rows.start(y);
  // compute something else here, but do not change y before finish()
  const auto sums = later.finish();
  // [/overlap]
  if (everyone.id() == 4) std::cout << rows.plan();
  if (everyone.id() == 0)
    std::cout
        << "Look at: the two numbers are equal. A sum over workers is the adjoint of a copy to workers, exactly;\n"
        << "the plan of worker 4 names the workers whose blocks are added.\n";
  right = right && z == s.adjoint(x) && sums == z && total == xt::xtensor<double, 1>{15, 150};
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
