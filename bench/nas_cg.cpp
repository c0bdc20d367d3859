// The NAS benchmark CG: compares iterations with products of a csr_matrix and with PETSc's MatMult.
#include "../examples/nas_cg.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#ifdef BENCH_PETSC
#include "ghosts_petsc.hpp"
#endif
#include "machine.hpp"

namespace {

using namespace partita;

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  bool right = true;
  const std::size_t most = std::min(line.count("classes"), std::size(nas_cg::classes));
  for (std::size_t which = 0; which < most; ++which) {
    const auto& c = nas_cg::classes[which];
    const interval mine = balanced_part(c.n, everyone.size(), everyone.id());
    const csr_matrix<double> a(everyone, mine, mine, nas_cg::entries_of(c, everyone.size(), everyone.id()));
    std::vector<double> ours, theirs;
    const auto timed = [&](std::vector<double>& seconds, const auto& product) {
      double zeta = 0;
      seconds.push_back(bench::timed([&] { zeta = nas_cg::zeta_of(everyone, c, mine.size(), product); }));
      right = right && std::abs(zeta - c.published) < 1e-10 * c.published;
    };
#ifdef BENCH_PETSC
    bench::by_mat_mult petsc(mine.start, mine.size(), a.triplets());
    const auto mat_mult = [&](const nas_cg::values& x) {
      nas_cg::values y = nas_cg::values::from_shape({mine.size()});
      petsc.multiply(x.data(), y.data());
      return y;
    };
#endif
    for (int k = 0; k < line.rounds(); ++k) {
      timed(ours, a);
#ifdef BENCH_PETSC
      timed(theirs, mat_mult);
#endif
    }
    bench::row row{{"rows", c.n}, {"entries", a.entries()}, {"seconds", bench::median(ours)}};
    if (!theirs.empty()) row["mat_mult_to_product"] = bench::median(theirs) / bench::median(ours);
    out.add(std::string("class ") + c.name, row, ours.size());
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("nas_cg", "NAS CG with products of a sparse matrix and with PETSc's MatMult", {1},
                                 {{"rounds", bench::argument::count, "samples of each", "9", "1"},
                                  {"classes", bench::argument::count, "classes S, W, A from the first on", "3", "1"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
