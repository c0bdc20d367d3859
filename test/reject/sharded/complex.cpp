// Operations that have no meaning for complex elements are compile-time errors.
//
// expect MAXIMUM: partita: requires real elements, as this operation takes no complex ones
// lines MAXIMUM: 13
// expect LARGEST: partita: requires real elements, as this operation takes no complex ones
// lines LARGEST: 12
// expect LARGEST_SO_FAR: partita: requires real elements, as this operation takes no complex ones
// lines LARGEST_SO_FAR: 12
// expect SUM_OF_BOTH: partita: requires operands of one element type; cast them first, or make complex ones by
//   to_complex\(x\)
// lines SUM_OF_BOTH: 12
// expect REAL_INDICES: partita: requires operands of one element type; cast them first, or make complex ones by
//   to_complex\(x\)
// lines REAL_INDICES: 12
// expect RELU: partita: requires real elements, as this operation takes no complex ones
// lines RELU: 12
// expect ABSOLUTE_VALUE: partita: requires real elements, as this operation takes no complex ones
// lines ABSOLUTE_VALUE: 12
// expect LESS: partita: requires real elements, as this operation takes no complex ones
// lines LESS: 12
// expect TYPED: partita: requires real elements, as this operation takes no complex ones
// lines TYPED: 12
// expect TRACED: partita: requires real elements, as this operation takes no complex ones
// lines TRACED: 12
// expect SOFTMAX: partita: softmax, log_softmax, attention, cross_entropy and norms require real elements
// lines SOFTMAX: 12
// expect ATTENTION: partita: softmax, log_softmax, attention, cross_entropy and norms require real elements
// lines ATTENTION: 12
// expect LABELS: partita: softmax, log_softmax, attention, cross_entropy and norms require real elements
// lines LABELS: 12
// expect NORM: partita: softmax, log_softmax, attention, cross_entropy and norms require real elements
// lines NORM: 12
// expect STATISTICS: partita: softmax, log_softmax, attention, cross_entropy and norms require real elements
// lines STATISTICS: 12
// expect LOSS: partita: requires real elements, as this operation takes no complex ones
// lines LOSS: 12
// expect CONVOLUTION: partita: requires real elements, as this operation takes no complex ones
// lines CONVOLUTION: 12
// expect POOL: partita: requires real elements, as this operation takes no complex ones
// lines POOL: 12
// expect UPSAMPLE: partita: requires real elements, as this operation takes no complex ones
// lines UPSAMPLE: 12
// expect REAL: partita::real\(z\): requires complex elements
// lines REAL: 12
// expect ANGLE: partita::angle\(z\): requires complex elements
// lines ANGLE: 12
// expect PARTS: partita::to_complex\(re, im\): requires one or two tensors, or arrays, of float or of double
// lines PARTS: 12
// expect BOUND: partita::bound_program: requires tensors of the element type that it was bound for
// lines BOUND: 12
// expect BOUND_FOR_BOTH: partita::bound_program: requires tensors of the element type that it was bound for
// lines BOUND_FOR_BOTH: 12
#include <partita/sharded/attention.hpp>
#include <partita/sharded/call.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/tensor_functions.hpp>

using namespace partita;

constexpr mesh m{axis{"a", 2}};
using complex = std::complex<double>;

void calls(const world& everyone, const xt::xtensor<complex, 2>& z, const xt::xtensor<double, 2>& x,
           const xt::xtensor<int, 2>& k, const traced_complex& t, bound_program<double>& step,
           bound_program<real_and_complex<float>, float>& step_of_both) {
  const auto Z = shard(everyone, m.layout("a", ""), z);
  const auto images = shard<complex>(everyone, sharding(m, 3), {2, 2, 8}, [](const auto&) { return complex(1); });
  const auto typed = shard<m.layout("a", "")>(everyone, z);
  auto doubled = add(x, x);
  auto also_doubled = add(k, k);
  auto summed = add(sum(typed), sum(typed));
  auto product = multiply(t, to_complex(abs(t)));
  auto variances = add(variance(typed, dimensions<0>), variance(typed, dimensions<0>));
  auto of_array = add(variance(z, dimensions<0>), variance(x, dimensions<0>));
  auto of_program = add(variance(t, dimensions<0>), variance(abs(t), dimensions<0>));
  auto accepted = matmul(conj(Z), to_complex(partita::real(Z), abs(Z)));
  auto gradients = step.backward(step(partita::real(Z)));
  auto result = step_of_both();
#if defined(MAXIMUM)
  auto refused = maximum(Z, Z);
#elif defined(LARGEST)
  auto refused = maximum(Z, dimensions<0>);
#elif defined(LARGEST_SO_FAR)
  auto refused = cummax(Z, dimensions<0>);
#elif defined(SUM_OF_BOTH)
  auto refused = add(typed, partita::real(typed));
#elif defined(REAL_INDICES)
  auto refused = take(Z, partita::real(Z), dimensions<0>);
#elif defined(RELU)
  auto refused = apply_to_elements<element_functions::relu>(Z);
#elif defined(ABSOLUTE_VALUE)
  auto refused = detail::call(detail::elements_op<element_functions::abs>{}, Z);
#elif defined(LESS)
  auto refused = less(Z, Z);
#elif defined(TYPED)
  auto refused = maximum(typed, typed);
#elif defined(TRACED)
  auto refused = maximum(t, t);
#elif defined(SOFTMAX)
  auto refused = softmax(typed);
#elif defined(ATTENTION)
  auto refused = attention(Z, Z, Z);
#elif defined(LABELS)
  auto refused = cross_entropy(Z, xt::xtensor<int, 1>());
#elif defined(NORM)
  auto refused = normalise_groups<1>(Z, Z, Z);
#elif defined(STATISTICS)
  auto refused = batch_statistics(t);
#elif defined(LOSS)
  auto refused = losses::mse(Z, Z);
#elif defined(CONVOLUTION)
  auto refused = convolve<1>(images, images);
#elif defined(POOL)
  auto refused = average_pool<1>(images, {});
#elif defined(UPSAMPLE)
  auto refused = upsample<1>(images, {});
#elif defined(REAL)
  auto refused = partita::real(x);
#elif defined(ANGLE)
  auto refused = angle(x);
#elif defined(PARTS)
  auto refused = to_complex(k);
#elif defined(BOUND)
  auto refused = step(Z);
#elif defined(BOUND_FOR_BOTH)
  auto refused = step_of_both(Z);
#endif
}
