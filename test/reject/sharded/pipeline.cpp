// Compile-time errors of pipelines: elements that have no derivatives.
//
// first INTEGERS: partita::pipeline<T>: requires elements of float or double, as derivatives are no integers
// lines INTEGERS: 12
// first NO_OPTIONS: partita::pipeline<T>\(everyone, stages, options\): requires the world, a list of pipeline_stage
// lines NO_OPTIONS: 12
#include <partita/sharded/pipeline.hpp>
#include <vector>

using namespace partita;

void calls(const world& everyone, const std::vector<pipeline_stage>& stages) {
  const pipeline<double> right(everyone, stages, {.rows = 8});
#if defined(INTEGERS)
  const pipeline<int> wrong(everyone, stages, {.rows = 8});
#elif defined(NO_OPTIONS)
  const pipeline<double> wrong(everyone, stages);
#endif
}
