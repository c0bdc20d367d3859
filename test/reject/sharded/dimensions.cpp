// Dimensions that a tensor does not have, or that are named twice; what is no order of them; letters that an einsum
// does not know, functions that are none, and those whose values are no integers: several of a kind in one case.
// first DIMENSIONS: partita: sum, mean, maximum and minimum\(x, dimensions<...>\) require dimensions that x has, each
//   once
// expect DIMENSIONS: partita::slice\(x, dimensions<d...>, {from, to}...\): requires dimensions that x has, each once
// expect DIMENSIONS: partita::split\(x, dimensions<d>, extents\): requires a dimension that x has
// lines DIMENSIONS: 60
// first REARRANGED: partita::flip\(x, dimensions<d...>\): requires dimensions that x has, each once
// expect REARRANGED: partita::roll\(x, dimensions<d...>, shift...\): requires dimensions that x has, each once
// expect REARRANGED: partita::tile\(x, dimensions<d...>, times...\): requires dimensions that x has, each once
// expect REARRANGED: partita::expand\(x, dimensions<d...>, extent...\): requires dimensions that x has, each once
// expect REARRANGED: partita::strided_slice\(x, dimensions<d...>, {start, stop, step}...\): requires dimensions that x
//   has
// expect REARRANGED: partita::squeeze\(x, dimensions<d...>\): requires dimensions that x has, each once
// expect REARRANGED: partita::unsqueeze\(x, dimensions<d...>\): requires dimensions of the result, each once
// expect REARRANGED: partita::softmax\(x, dimensions<d>\): requires a dimension that x has
// expect REARRANGED: partita::tril\(x\): requires a tensor of at least two dimensions
// lines REARRANGED: 108
// first CUMULATIVE: partita::cumsum\(x, dimensions<d>\): requires a dimension that x has
// expect CUMULATIVE: partita::cumprod\(x, dimensions<d>\): requires a dimension that x has
// expect CUMULATIVE: partita::cummax\(x, dimensions<d>\): requires a dimension that x has
// expect CUMULATIVE: partita::cummin\(x, dimensions<d>\): requires a dimension that x has
// expect CUMULATIVE: partita::cross_entropy\(scores, labels, dimensions<d>\): requires the dimension of the classes
// lines CUMULATIVE: 60
// first SORTED: partita::sort\(x, dimensions<d>\), argsort, top_k, quantile: requires a dimension that x has
// expect SORTED: partita::sort\(x, dimensions<d>\), argsort, top_k, quantile: requires integers, float or double
// expect SORTED: partita::quantile\(x, probability, dimensions<d>\): requires elements that are no integers
// lines SORTED: 36
// first ORDERS: partita::transpose\(x, permute<...>\): requires each of 0, 1, ..., rank\(x\) - 1 once
// lines ORDERS: 36
// first LETTERS: partita::einsum<notation>\(x...\): requires each letter once in a tensor, and none in parentheses
// expect LETTERS: partita::einsum<notation>\(x...\): requires the notation as part of the type
// lines LETTERS: 48
// first FUNCTIONS: partita::elementwise\(f, lhs, rhs\): requires a function of two elements first, which returns one
// expect FUNCTIONS: partita::value_and_gradient\(f, parameters...\): requires a function first
// lines FUNCTIONS: 36
// first NUMBERS: partita::per_dimension<N>: requires N numbers, or one for all of them
// lines NUMBERS: 18
// first RANKS: partita: requires one entry of broadcast_dimensions for each dimension of the smaller operand
// expect RANKS: partita::concatenate\(dimensions<d>, x...\): requires tensors of one rank
// expect RANKS: partita: requires operands of one rank, or a scalar
// expect RANKS: partita::where\(condition, a, b\): requires operands of one rank, or scalars
// lines RANKS: 60
// first FRACTIONS: partita: exp, log, sin and other functions of real numbers, and softmax\(x\), require elements
// lines FRACTIONS: 36
#include <partita/partita.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};

void calls(const world& everyone, const xt::xtensor<double, 2>& x) {
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto right = sum(transpose(X, permute<1, 0>), dimensions<0>);
  const halo_exchange periodic(everyone.partition<2, 2>(), {.before = 1, .after = {2, 1}}, boundary::periodic);
#if defined(DIMENSIONS)
  sum(X, dimensions<2>);
  sum(x, dimensions<0, 0>);
  mean(x, dimensions<0, 0>);
  slice(X, dimensions<0, 0>, {0, 1}, {0, 1});
  split(X, dimensions<3>, extents<1, 1>{});
#elif defined(REARRANGED)
  flip(X, dimensions<2>);
  roll(X, dimensions<0, 0>, 1, 1);
  tile(x, dimensions<3>, 2);
  expand(X, dimensions<2>, 2);
  strided_slice(x, dimensions<2>, {0, 1, 1});
  squeeze(X, dimensions<2>);
  unsqueeze(X, dimensions<1, 1>);
  softmax(x, dimensions<2>);
  tril(right);
#elif defined(CUMULATIVE)
  cumsum(X, dimensions<2>);
  cumprod(x, dimensions<2>);
  cummax(X, dimensions<2>);
  cummin(x, dimensions<3>);
  cross_entropy(X, xt::xtensor<int, 1>(), dimensions<2>);
#elif defined(SORTED)
  sort(X, dimensions<2>);
  top_k(xt::xtensor<std::complex<double>, 1>(), 1, dimensions<0>);
  quantile(xt::xtensor<int, 1>(), 0.5, dimensions<0>);
#elif defined(ORDERS)
  transpose(X, permute<0>);
  transpose(X, permute<0, 0>);
  transpose(x, permute<0, 2>);
#elif defined(LETTERS)
  einsum<"bb->b">(x);
  einsum<"bk->bkk">(X);
  einsum<"bk->(bk)">(X);
  einsum("bk->b", X);
#elif defined(FUNCTIONS)
  elementwise([](double one) { return one; }, x, x);
  elementwise([](double, double) {}, x, x);
  value_and_gradient(x, X);
#elif defined(NUMBERS)
  convolve<1>(reshape(x, extents<1, 1, 16>{}), reshape(x, extents<4, 2, 2>{}), {.stride = {1, 2}});
#elif defined(RANKS)
  add(X, right, broadcast_dimensions<2>);
  concatenate(dimensions<0>, X, right);
  less(X, right);
  where(right, X, X);
#elif defined(FRACTIONS)
  exp(shard<m.layout("data", "")>(everyone, xt::xtensor<int, 2>()));
  softmax(xt::xtensor<int, 2>());
#endif
  static_cast<void>(right), static_cast<void>(periodic);
}
