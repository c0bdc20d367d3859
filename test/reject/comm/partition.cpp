// A partition without values for its dynamic extents, and arguments that would mean a different partition, are
// compile-time errors. The library's message comes first, with few lines after it.
//
// expect DYNAMIC_WITHOUT_VALUE: partita::world::partition<E...>\(\): requires extents that are all known; pass
//   extents<dynamic, ...>\(n\) as an argument
// first NOT_EXTENTS: partita::partition<Extents>: requires extents, as in partition<extents<2, 3>>
// lines NOT_EXTENTS: 12
// first VECTOR: partita::world::partition<E...>\(chosen\): requires its workers as partita::workers; write
//   partition<E...>\(workers\(first, last\)\), or partition<E...>\(workers\(ids\)\)
// lines VECTOR: 12
// first VECTOR_AFTER_EXTENTS: partita::world::partition\(extents, chosen\): requires its workers as partita::workers
// lines VECTOR_AFTER_EXTENTS: 12
// first NUMBERS: partita::world::partition\(n, ...\): requires extents that say so; write partition<2, 3>\(\), or
//   partition\(extents\(2, 3\)\)
// lines NUMBERS: 12
// first BRACES: partita::world::partition\(\{...\}\): requires extents that say so
// lines BRACES: 12
// first WORKERS_ALONE: partita::world::partition\(workers\): requires extents; write partition<n>\(workers\)
// lines WORKERS_ALONE: 12
// first TOO_FEW_COORDINATES: partita::index: requires one coordinate for each dimension between the braces
// lines TOO_FEW_COORDINATES: 12
// first TOO_MANY_COORDINATES: partita::index: requires one coordinate for each dimension between the braces
// lines TOO_MANY_COORDINATES: 12
// first NO_COORDINATES: partita::index: requires a position as a partita::index of that rank
// lines NO_COORDINATES: 12
// first NUMBER_AS_INDEX: partita::index: requires a position as a partita::index of that rank
// lines NUMBER_AS_INDEX: 12
// first NUMBER_FOR_WORKERS: partita::world::partition<E...>\(chosen\): requires its workers as partita::workers
// lines NUMBER_FOR_WORKERS: 12
// first NEGATIVE: partita::world::partition<E...>\(\): requires extents of 1 or more, got a negative one
// lines NEGATIVE: 12
// first WORLD_OF_A_NUMBER: partita::world\(communicator\): requires an MPI communicator, or nothing for all workers
// lines WORLD_OF_A_NUMBER: 12
// first FIRST_AND_LAST: partita::world::partition<E...>\(chosen\): requires its workers as partita::workers
// lines FIRST_AND_LAST: 12
#include <partita/comm/partition.hpp>

using namespace partita;

void calls(const world& everyone, const std::vector<int>& ids) {
  static_cast<void>(everyone.partition<2, 3>(workers(0, 6)));
  static_cast<void>(everyone.partition<2>({0, 1}));
  static_cast<void>(everyone.partition<2>(workers(ids)));
  static_cast<void>(everyone.partition(extents<>{}, workers{2}).worker({}));
  static_cast<void>(everyone.partition(extents<dynamic, 3>(2)).worker({1, 0}));
#if defined(DYNAMIC_WITHOUT_VALUE)
  static_cast<void>(everyone.partition<dynamic, 3>(workers(0, 6)));
#elif defined(NOT_EXTENTS)
  partition<int> refused = everyone.partition<2>();
#elif defined(VECTOR)
  auto p = everyone.partition<2>(ids);
#elif defined(VECTOR_AFTER_EXTENTS)
  auto p = everyone.partition(extents<2>{}, ids);
#elif defined(NUMBERS)
  auto p = everyone.partition(2, 2);
#elif defined(BRACES)
  auto p = everyone.partition({2});
#elif defined(WORKERS_ALONE)
  auto p = everyone.partition(workers{2});
#elif defined(TOO_FEW_COORDINATES)
  static_cast<void>(everyone.partition<2, 2>().worker({1}));
#elif defined(TOO_MANY_COORDINATES)
  static_cast<void>(everyone.partition<2>().worker({1, 0}));
#elif defined(NO_COORDINATES)
  static_cast<void>(everyone.partition<2>().worker({}));
#elif defined(NUMBER_AS_INDEX)
  static_cast<void>(everyone.partition<2>().worker(1));
#elif defined(NUMBER_FOR_WORKERS)
  auto p = everyone.partition<2, 2>(4);
#elif defined(NEGATIVE)
  auto p = everyone.partition<2, -1>();
#elif defined(WORLD_OF_A_NUMBER)
  const world refused(4);
#elif defined(FIRST_AND_LAST)
  auto p = everyone.partition<2>(0, 2);
#endif
}
