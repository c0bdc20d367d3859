// The NAS benchmark CG of class S: an eigenvalue of a random sparse matrix by conjugate gradients, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/partita.hpp>
#include <string>

#include "nas_cg.hpp"

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::string class_name = argc > 1 ? argv[1] : "S";
  const auto& c = nas_cg::classes[class_name == "A" ? 2 : class_name == "W" ? 1 : 0];
  // [matrix]
  const interval mine = balanced_part(c.n, everyone.size(), everyone.id());  // the rows of this worker
  const csr_matrix<double> a(everyone, mine, mine, nas_cg::entries_of(c, everyone.size(), everyone.id()));
  // [/matrix]
  const double zeta = nas_cg::zeta_of(everyone, c, mine.size(), a);

  const double relative_error = std::abs(zeta - c.published) / c.published;
  const double number = sum_over(everyone, static_cast<double>(a.entries()));
  if (everyone.id() == 0)
    std::cout << "class " << c.name << ": " << c.n << " rows, " << number << " entries\nzeta " << std::setprecision(14)
              << zeta << ", published " << c.published << (relative_error < 1e-10 ? "\n" : ", not equal\n");
  return relative_error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
