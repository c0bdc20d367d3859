// Compile-time errors of bound indices: arguments that are no sharded tensors, or of which one has its layout in its
// type and the other has not.
//
// first ARRAY: partita::bind_indices\(x, indices\): requires two sharded tensors
// lines ARRAY: 12
// first TAKE_ARRAY: partita::bound_indices::take\(x\): requires a sharded tensor
// lines TAKE_ARRAY: 12
// first TAKE_TYPED: partita::bound_indices::take\(x\): requires indices with a layout in their type
// lines TAKE_TYPED: 12
// first UPDATES: partita::bound_indices::scatter\(x, updates\), scatter_add: requires two sharded tensors of one
//   element type
// lines UPDATES: 12
#include <partita/sharded/bind_indices.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}};

void calls(const sharded_tensor<float>& x, const sharded_tensor<int>& at, const sharded<float, m.layout("data", "")>& y,
           [[maybe_unused]] const xt::xtensor<float, 2>& array) {
  const auto legal = bind_indices(x, at);
  legal.scatter_add(x, legal.take(x));
  legal.take(y.run_time_tensor());
#if defined(ARRAY)
  bind_indices(array, at);
#elif defined(TAKE_ARRAY)
  legal.take(array);
#elif defined(TAKE_TYPED)
  legal.take(y);
#elif defined(UPDATES)
  legal.scatter_add(y, x);
#endif
}
