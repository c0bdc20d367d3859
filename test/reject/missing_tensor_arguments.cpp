// Arguments of calls on tensors that are missing or not tensors: the library's message is the first error, with few
// other lines.
//
// first NO_LAYOUT: partita::shard<layout>\(everyone, x\): requires a layout, the world and an array
// lines NO_LAYOUT: 12
// first NO_WORLD: partita::shard<layout>\(everyone, x\): requires a layout, the world and an array
// lines NO_WORLD: 12
// first STRINGS: partita::shard<layout>\(everyone, x\): requires elements that are trivially copyable
// lines STRINGS: 12
// first GRADIENT: partita::value_and_gradient\(f, parameters...\): requires parameters that are tensors or arrays
// lines GRADIENT: 12
// first NOTATION: partita::einsum<notation>\(x...\): requires tensors or arrays of a known rank
// lines NOTATION: 12
// first SOFTMAX: partita::softmax\(x, dimensions<d>\): requires a tensor or an array of a known rank
// lines SOFTMAX: 12
// first MATMUL: partita::matmul\(a, b\): requires two tensors or arrays of a known rank
// lines MATMUL: 12
// first SUM: partita::sum\(x, dimensions<...>\): requires dimensions as part of the type
// lines SUM: 12
// first NO_FUNCTION: partita::elementwise\(f, lhs, rhs\): requires a function of two elements first
// lines NO_FUNCTION: 12
// first A_NUMBER: partita::elementwise\(f, lhs, rhs\): requires a function of two elements first
// lines A_NUMBER: 12
// first STRING_LAYOUT: partita::mesh::layout: requires the axes of each dimension as characters
// lines STRING_LAYOUT: 12
#include <partita/partita.hpp>

using namespace partita;

constexpr mesh devices{axis{"data", 2}, axis{"model", 2}};

void calls(const world& everyone, const xt::xtensor<double, 2>& x) {
  const auto X = shard<devices.layout("data", "")>(everyone, x);
  const auto Y = softmax(relu(matmul(X, X)));
  const auto Z = reshape<devices.layout("data", "")>(einsum<"bk->kb">(Y), {6, 4});
  const auto total = sum(Z, dimensions<0>);
  const auto both = elementwise([](double a, double b) { return a + b; }, x, add(x, x));
#if defined(NO_LAYOUT)
  auto refused = shard(everyone, x);
#elif defined(NO_WORLD)
  auto refused = shard<devices.layout("data", "")>(x);
#elif defined(STRINGS)
  auto refused = shard<devices.layout("data", "")>(everyone, xt::xtensor<std::string, 2>());
#elif defined(GRADIENT)
  auto refused = value_and_gradient([](const auto& a) { return a; }, 3);
#elif defined(NOTATION)
  auto refused = einsum<"bk,kn->bn">(X, 3);
#elif defined(SOFTMAX)
  auto refused = softmax(3);
#elif defined(MATMUL)
  auto refused = matmul(x, 3);
#elif defined(SUM)
  auto refused = sum(X, 0);
#elif defined(NO_FUNCTION)
  auto refused = elementwise(x, x);
#elif defined(A_NUMBER)
  auto refused = elementwise(3, x, x);
#elif defined(STRING_LAYOUT)
  auto refused = devices.layout(std::string("data"), "");
#endif
  static_cast<void>(total), static_cast<void>(both);
}
