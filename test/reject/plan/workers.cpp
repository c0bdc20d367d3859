// A single number does not select workers, and a position in braces must have one coordinate for each dimension.
//
// first NUMBER: partita::workers\(n\): requires a range or a list; write workers\(0, n\) for the first n workers
// lines NUMBER: 12
// first NOT_INTEGERS: no matching (function|constructor)
// first BLOCK_OF_OTHER_RANK: partita::index: requires one coordinate for each dimension between the braces
// lines BLOCK_OF_OTHER_RANK: 12
// expect CUTS_OF_OTHER_RANK: no matching (function|constructor|conversion)
#include <partita/plan/decomposition.hpp>
#include <partita/plan/workers.hpp>

using namespace partita;

void calls(const std::vector<int>& ids, const std::vector<double>& numbers, const cut& c) {
  static_cast<void>(workers(0, 4));
  static_cast<void>(workers{4});
  static_cast<void>(workers(ids));
  static_cast<void>(numbers);
  static_cast<void>(decomposition<2>(c, c).block({0, 0}));
#if defined(NUMBER)
  workers refused(4);
#elif defined(NOT_INTEGERS)
  workers refused(numbers);
#elif defined(BLOCK_OF_OTHER_RANK)
  static_cast<void>(decomposition<2>(c, c).block({1}));
#elif defined(CUTS_OF_OTHER_RANK)
  static_cast<void>(decomposition<2>(c));
#endif
}
