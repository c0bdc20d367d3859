// Gradients of integers, of traced values and without a function, elements of traced values, programs bound for other
// elements than numbers, and labels that are not integers, are compile-time errors.
//
// first INTEGERS: partita::value_and_gradient\(f, parameters...\): requires floating-point parameters
// lines INTEGERS: 12
// first INTEGER_ARRAYS: partita::value_and_gradient\(f, parameters...\): requires floating-point parameters
// lines INTEGER_ARRAYS: 12
// first TYPED_INTEGERS: partita::value_and_gradient\(f, parameters...\): requires floating-point parameters
// lines TYPED_INTEGERS: 12
// first NO_FUNCTION: partita::value_and_gradient\(f, parameters...\): requires a function first
// lines NO_FUNCTION: 12
// first NO_PARAMETER: partita::value_and_gradient\(f, parameters...\): requires parameters that are tensors or arrays
// lines NO_PARAMETER: 12
// first BOUND_FOR_TEXTS: partita::traced_function::bind<T>\(everyone, gradients, options\): requires elements of a type
// lines BOUND_FOR_TEXTS: 12
// expect TRACED: partita::value_and_gradient\(f, parameters...\): requires parameters that have elements
// lines TRACED: 12
// first NUMBER: partita::traced::number\(\): requires elements
// lines NUMBER: 12
// first WHOLE: partita::traced::whole\(\): requires elements
// lines WHOLE: 12
// first LOOKUP: partita::lookup\(table, labels\): requires labels of an integer type
// lines LOOKUP: 12
// first LOOKUP_OF_ARRAYS: partita::lookup\(table, labels\): requires labels of an integer type
// lines LOOKUP_OF_ARRAYS: 12
// first CROSS_ENTROPY: partita::cross_entropy\(scores, labels\): requires labels of an integer type
// lines CROSS_ENTROPY: 12
// expect LOSS_LAYER: partita::softmax_cross_entropy<T>\(scores, labels\): requires labels of an integer type
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>

using namespace partita;

constexpr mesh m{axis{"a", 2}};

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<int, 2>& numbers,
           const xt::xtensor<int, 1>& labels, const xt::xtensor<double, 1>& fractions,
           softmax_cross_entropy<double>& layer) {
  const auto loss = [](const auto& u) { return sum(multiply(u, u)); };
  const auto X = shard(everyone, m.layout("a", ""), x);
  const auto K = shard(everyone, m.layout("a", ""), numbers);
  const auto typed = shard<m.layout("a", "")>(everyone, numbers);
  auto all = value_and_gradient(loss, X);
  auto rows = lookup(X, labels);
  auto entropy = cross_entropy(X, labels);
  layer(x, labels);
#if defined(INTEGERS)
  auto refused = value_and_gradient(loss, K);
#elif defined(INTEGER_ARRAYS)
  auto refused = value_and_gradient(loss, numbers);
#elif defined(TYPED_INTEGERS)
  auto refused = value_and_gradient(loss, typed);
#elif defined(NO_FUNCTION)
  auto refused = value_and_gradient(3, X);
#elif defined(NO_PARAMETER)
  auto refused = value_and_gradient(loss);
#elif defined(BOUND_FOR_TEXTS)
  auto refused = trace(loss, spec(m.layout("a", ""), {4, 2})).bind<std::string>(everyone, {0});
#elif defined(TRACED)
  trace(
      [&](const auto& u) {
        auto refused = value_and_gradient(loss, u);
        return u;
      },
      spec(m.layout("a", ""), {4, 2}));
#elif defined(NUMBER)
  trace([&](const auto& u) { return sum(u).number() > 0 ? u : relu(u); }, spec(m.layout("a", ""), {4, 2}));
#elif defined(WHOLE)
  trace(
      [&](const auto& u) {
        auto refused = u.template whole<2>();
        return u;
      },
      spec(m.layout("a", ""), {4, 2}));
#elif defined(LOOKUP)
  auto refused = lookup(X, fractions);
#elif defined(LOOKUP_OF_ARRAYS)
  auto refused = lookup(x, fractions);
#elif defined(CROSS_ENTROPY)
  auto refused = cross_entropy(X, fractions);
#elif defined(LOSS_LAYER)
  layer(x, fractions);
#endif
  static_cast<void>(K), static_cast<void>(typed), static_cast<void>(fractions);
}
