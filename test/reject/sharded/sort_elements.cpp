// Compile-time errors of sorting all elements: values of a traced program, tensors of other ranks, complex elements,
// and quantiles of integers.
//
// first TRACED: partita::sort\(x\), argsort, top_k, quantile, unique: requires a sharded tensor; in a traced program
//   use sort\(x, dimensions<0>\)
// lines TRACED: 12
// first RANK: partita::sort\(x\), argsort, top_k, quantile, unique: requires a tensor of rank 1; sort\(x,
//   dimensions<d>\)
// lines RANK: 12
// first ORDER: partita::sort\(x\), argsort, top_k, quantile, unique: requires integers, float or double
// lines ORDER: 12
// first FRACTIONS: partita::quantile\(x, probability\): requires elements that are no integers
// lines FRACTIONS: 12
#include <complex>
#include <partita/sharded/sort_elements.hpp>
#include <partita/sharded/traced_function.hpp>

using namespace partita;

constexpr mesh m{axis{"a", 2}};

void calls(const sharded_tensor<float>& x, [[maybe_unused]] const sharded<float, m.layout("a", "")>& rows,
           [[maybe_unused]] const sharded_tensor<std::complex<float>>& z,
           [[maybe_unused]] const sharded_tensor<int>& whole, [[maybe_unused]] const traced& value) {
  sort(x, {.descending = true});
  quantile(x, 0.5);
#if defined(TRACED)
  top_k(value, 2);
#elif defined(RANK)
  sort(rows);
#elif defined(ORDER)
  argsort(z);
#elif defined(FRACTIONS)
  quantile(whole, 0.5);
#endif
}
