// Compile-time errors of the rows for which a condition holds: arguments of different kinds, of other ranks, and values
// of a traced program, whose extents are known before it runs.
//
// first MIXED: partita::select_if\(x, keep\): requires two arrays, or two sharded tensors
// lines MIXED: 12
// first RANK: partita::select_if\(x, keep\): requires x of rank 1 or more, and keep of rank 1
// lines RANK: 12
// first TRACED: partita::select_if\(x, keep\): .* in a traced program all extents are known before,
//   select_if
// lines TRACED: 12
#include <partita/sharded/select_if.hpp>
#include <partita/sharded/traced_function.hpp>

using namespace partita;

void calls(const sharded_tensor<float>& x, const sharded_tensor<int>& keep, const xt::xtensor<float, 2>& array,
           [[maybe_unused]] const xt::xtensor<int, 1>& mask, [[maybe_unused]] const traced& value) {
  select_if(x, keep);
  select_if(array, mask);
#if defined(MIXED)
  select_if(x, mask);
#elif defined(RANK)
  select_if(array, array);
#elif defined(TRACED)
  select_if(value, value);
#endif
}
