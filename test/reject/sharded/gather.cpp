// Compile-time errors of elements and rows at indices: arguments of different kinds, dimensions that x does not have.
//
// first MIXED: partita::take_along_axis\(x, indices, dimensions<D>\): requires two arrays, two sharded tensors
// lines MIXED: 12
// first AXIS: partita::take_along_axis\(x, indices, dimensions<D>\): requires x and indices of one rank above D
// lines AXIS: 12
// first COUNT: partita::gather_nd<K>\(x, indices\): requires K, the number of dimensions that are counted
// lines COUNT: 12
// first DIMENSIONS: partita::gather_nd<K>\(x, indices\): requires x of rank K or more
// lines DIMENSIONS: 12
#include <partita/sharded/gather.hpp>

using namespace partita;

void calls(const sharded_tensor<float>& x, const sharded_tensor<int>& at, const xt::xtensor<float, 2>& array,
           const xt::xtensor<int, 2>& indices) {
  take_along_axis(x, at, dimensions<1>);
  gather_nd<2>(array, indices);
#if defined(MIXED)
  take_along_axis(x, indices, dimensions<1>);
#elif defined(AXIS)
  take_along_axis(array, indices, dimensions<2>);
#elif defined(COUNT)
  gather_nd(x, at);
#elif defined(DIMENSIONS)
  gather_nd<3>(array, indices);
#endif
}
