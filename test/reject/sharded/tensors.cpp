// Typed tensors reject operations that their layout does not allow at compile time.
//
// expect PARTIAL_READ: partita::sharded: requires a value whose sums are taken, but this one is partial;
//   reshard<m.layout\(...\)>\(x\) takes them
// expect PARTIAL_WHOLE: requires a value whose sums are taken, but this one is partial
// expect OTHER_MESH: partita: requires operands on one mesh; make their layouts from the same mesh
// expect RESHARD_MESH: partita::reshard<layout>\(x\): requires a layout of the mesh that x is on
// expect RESHARD_RANK: partita::reshard<layout>\(x\): requires one entry of the layout for each dimension of x
// expect SHARD_RANK: partita::shard<layout>\(everyone, x\): requires one entry of the layout for each dimension of x
// expect ELEMENTS: partita: requires operands of one element type; cast them first
// expect NO_RULE: partita::apply_op\(op, x...\): requires an operation that declares `static constexpr partita::rule
// expect NO_DIMENSION: partita::slice\(x, dimensions<d...>, {from, to}...\): requires dimensions that x has
// expect NO_FEATURES: partita::convolve<D>\(x, w, options\): requires D = 1, 2 or 3 features, x = batch x channels x
// expect NO_WINDOWS: partita::max_pool<D>\(x, options\): requires x = batch x channels x D features
// expect REAL_INDICES: partita::take\(x, indices, dimensions<d>\): requires indices of an integer type
// expect IMPLICIT_MOVE: partita: requires operands that need not be moved, as their mesh has no_implicit_reshard\(\)
// expect READS_BY_AXES: (layout_name<\d+>\{"data=2,model=2 \(data, \)"\}|'const sharded<float, partita::sharding\{\{)
// first RANKS: partita: requires operands of one rank, or a scalar; say by broadcast_dimensions<...> where the smaller
// lines RANKS: 12
// lines PARTIAL_WHOLE: 12
// lines RESHARD_RANK: 12
// lines SHARD_RANK: 12
// lines ELEMENTS: 12
// lines NO_RULE: 12
// lines NO_DIMENSION: 12
// lines NO_FEATURES: 12
// lines NO_WINDOWS: 12
// lines REAL_INDICES: 12
// lines PARTIAL_READ: 12
// lines OTHER_MESH: 12
// lines RESHARD_MESH: 12
// lines IMPLICIT_MOVE: 12
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/tensor_functions.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 2}}, other{axis{"data", 4}};

constexpr mesh written = mesh(axis{"a", 2}).no_implicit_reshard();

struct no_rule {};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, const xt::xtensor<double, 2>& d) {
  const auto X = shard<m.layout("", "model")>(everyone, x);
  const auto W = shard<m.layout("model", "")>(everyone, x);
  const auto Y = matmul(X, W);
  const auto V = shard<other.layout("data", "")>(everyone, x);
  const auto D = shard<m.layout("", "")>(everyone, d);
  const auto E = shard<written.layout("", "a")>(everyone, x);
  const auto Z = reshard<m.layout("data", "")>(Y);
  Z.local();
#if defined(PARTIAL_READ)
  Y.local();
#elif defined(PARTIAL_WHOLE)
  Y.whole();
#elif defined(OTHER_MESH)
  matmul(X, V);
#elif defined(RESHARD_MESH)
  reshard<other.layout("", "")>(X);
#elif defined(RESHARD_RANK)
  reshard<m.layout("")>(X);
#elif defined(SHARD_RANK)
  shard<m.layout("data")>(everyone, x);
#elif defined(NO_RULE)
  apply_op(no_rule{}, X);
#elif defined(NO_DIMENSION)
  slice(X, dimensions<2>, {0, 1});
#elif defined(NO_FEATURES)
  convolve<1>(X, W);
#elif defined(NO_WINDOWS)
  max_pool<2>(X, {.kernel = {2, 2}});
#elif defined(REAL_INDICES)
  take(X, xt::xtensor<double, 1>{1}, dimensions<0>);
#elif defined(IMPLICIT_MOVE)
  matmul(E, E);
#elif defined(READS_BY_AXES)
  [[maybe_unused]] const int number = Z;
#elif defined(RANKS)
  add(X, sum(X, dimensions<0>));
#elif defined(ELEMENTS)
  matmul(X, D);
#endif
}
