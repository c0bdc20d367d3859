// Compile-time errors of pipelines: elements that have no derivatives.
//
// first INTEGERS: partita::pipeline<T>: requires elements of float or double, as derivatives are no integers
// lines INTEGERS: 12
#include <partita/sharded/pipeline.hpp>
#include <vector>

using namespace partita;

void calls(const world& everyone, const std::vector<pipeline_stage>& stages) {
  const pipeline<double> right(everyone, stages, {.rows = 8});
#if defined(INTEGERS)
  const pipeline<int> wrong(everyone, stages, {.rows = 8});
#endif
}
