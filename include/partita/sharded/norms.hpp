// Norms as functions of tensors: batch norm, group norm, root-mean-square norm and local response norm. The layer norm
// is `normalise`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/tensor_functions.hpp>

namespace partita {

/// The options of a local response norm, whose window is `size` channels.
struct local_response_options {
  std::size_t size = 5;                     ///< the number of channels of a window
  double alpha = 1e-4, beta = 0.75, k = 1;  ///< the numbers in x / (k + alpha / size * sum of x²)^beta
};
namespace detail {

/// Sums a tensor over all dimensions except the channels.
struct channel_sums_op {
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    attributes::list axes;
    for (std::size_t d = 0; d < x[0].size(); ++d)
      if (d != 1) axes.push_back(static_cast<std::ptrdiff_t>(d));
    return rules::reduction(pending_reduction::sum, axes, false)(x);
  }
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::sum_or_repeat}; }
};
template <class X>
auto channel_means(const X& x) {  ///< over batch and features, one mean per channel
  double n = 1;                   // the number of elements of one channel in all samples together
  for (std::size_t d = 0; d < x.extents().size(); ++d) n *= d == 1 ? 1 : static_cast<double>(x.extents()[d]);
  return multiply(call(channel_sums_op{}, x), 1 / n);
}

/// The rule of operations between images [n, (g c), ...] and one number per sample and group [n, g]. `images` and
/// `numbers` are the numbers of operands of each kind, and `has_result_per_group` decides which kind the result has.
template <std::size_t Groups>
constexpr partita::rule rule_of_groups(const char* name, std::size_t images, std::size_t numbers,
                                       bool has_result_per_group, const shape_list& x) {
  if (x.size() < 2)
    throw shape_error(text("partita::") << name << ": requires x = batch x channels x features, got " << x);
  partita::rule r;
  const std::size_t n = r.add_factor(dynamic, 'n'), g = r.add_factor(Groups, 'g'),
                    c = r.add_factor(dynamic, 'c', factor_kind::replicate);
  r.factors[g].merged_group = r.factors[c].merged_group = 1;
  std::size_t places[most_dimensions]{};
  for (std::size_t d = 2; d < x.size(); ++d) places[d] = r.add_factor(dynamic, nth_letter(d + 20));
  for (std::size_t t = 0; t <= images + numbers; ++t) {
    const bool is_result = t == images + numbers;
    is_result ? r.begin_result() : r.begin_operand();
    r.add_dimension(n);
    if (is_result ? has_result_per_group : t >= images) {
      r.add_dimension(g);
      continue;
    }
    r.add_dimension(g), r.add_term(c);
    for (std::size_t d = 2; d < x.size(); ++d) r.add_dimension(places[d]);
  }
  return r.complete().named(name);
}
/// Calls f(offset in the block of images, offset in the block of group numbers) for each element of a block of images.
template <class F>
void for_each_group(const shape_list& image, std::size_t local_groups, F f) {
  std::size_t cells = 1;
  for (std::size_t d = 2; d < image.size(); ++d) cells *= image[d];
  const std::size_t of_group = local_groups == 0 ? 1 : image[1] / local_groups;
  for (std::size_t k = 0, row = 0; row < image[0] * image[1]; ++row) {
    const std::size_t number = row / image[1] * local_groups + row % image[1] / of_group;
    for (std::size_t j = 0; j < cells; ++j, ++k) f(k, number);
  }
}

template <std::size_t Groups, bool Adds>
struct shift_groups_operation;

/// The operation x -> the sum of the elements of each sample and group.
template <std::size_t Groups>
struct group_sums_operation {
  static constexpr bool on_complex = false;          ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 1;  ///< bit mask: of operand 0 the adjoint reads extents and layout
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rule_of_groups<Groups>("group_sums", 1, 0, true, x[0]);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's summand of y
    for (T& element : y) element = T(0);
    for_each_group(x.shape, y.shape[1], [&](std::size_t k, std::size_t g) { y[g] = static_cast<T>(y[g] + x[k]); });
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< repeats dy over each group
    return apply_op(shift_groups_operation<Groups, false>{}, x, dy);
  }
};
/// The operation (x, numbers) -> each element of x (or 0, if Adds is false) plus the number of its sample and group.
template <std::size_t Groups, bool Adds>
struct shift_groups_operation {
  static constexpr bool on_complex = false;                   ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 0;           ///< bit mask; 0: the adjoint reads no elements of x or y
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rule_of_groups<Groups>("shift_groups", 1, 1, false, x[0]).with(Adds ? linearity::additive : linearity::none);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& group_numbers, const tensor_part<T>& y) const {
    for_each_group(x.shape, group_numbers.shape[1], [&](std::size_t k, std::size_t g) {
      y[k] = static_cast<T>((Adds ? x[k] : T(0)) + group_numbers[g]);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X&, const X&, const X&) const {  ///< the cotangent of operand i
    if (i == 1) return apply_op(group_sums_operation<Groups>{}, dy);
    return Adds ? dy : X{};
  }
};
/// The operation (x, numbers) -> each element of x times the number of its sample and group.
template <std::size_t Groups>
struct scale_groups_operation {
  static constexpr bool on_complex = false;                   ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 3;           ///< bit mask: the adjoint reads operands 0 and 1
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rule_of_groups<Groups>("scale_groups", 1, 1, false, x[0]);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& group_numbers, const tensor_part<T>& y) const {
    for_each_group(x.shape, group_numbers.shape[1],
                   [&](std::size_t k, std::size_t g) { y[k] = static_cast<T>(x[k] * group_numbers[g]); });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& group_numbers, const X&) const {  ///< of operand i
    if (i == 0) return apply_op(*this, dy, group_numbers);
    return apply_op(group_sums_operation<Groups>{}, multiply(dy, x));
  }
};

}  // namespace detail

/// The mean and the variance of each channel over batch and features, as in `const auto [mean, variance] =
/// batch_statistics(x)`. The variance is the sum of the squared distances from the mean, divided by the number n of
/// elements per channel; running variances usually divide this sum by n - 1.
/// Shapes: x is batch x channels x features; both results have one element per channel.
/// Cost: two reductions of one number per channel, if batch or features are sharded.
/// Adjoint: both results are differentiable; the adjoint is composed of the adjoints of the operations that compute
/// them.
template <detail::tensor_value X>
auto batch_statistics(const X& input) {
  const auto whole = [](const auto& y) {
    if constexpr (detail::tensor_kind<decltype(y)> == 3) return y;
    else return detail::reduce_pending_sums(y);
  };
  if constexpr (!detail::has_real_elements<X>()) {
    return detail::rejected_call{};
  } else {
    const auto x = whole(input);
    const auto mean = whole(detail::channel_means(x));
    const auto variance = whole(detail::channel_means(square(subtract(x, mean, broadcast_dimensions<1>))));
    return std::pair(mean, variance);
  }
}
/// Batch norm in evaluation: (x - mean) / sqrt(variance + epsilon) * gamma + beta with given channel statistics.
template <class X, class Mean, class Variance, class Gamma, class Beta>
  requires(detail::tensor_value<X> && detail::any_tensor<Mean> && detail::any_tensor<Variance> &&
           detail::any_tensor<Gamma> && detail::any_tensor<Beta>)
auto normalise_with_statistics(const X& x, const Mean& mean, const Variance& variance, const Gamma& gamma,
                               const Beta& beta, double epsilon = 1e-5) {  ///< batch norm in evaluation
  constexpr auto channels = broadcast_dimensions<1>;
  const auto normal = divide(subtract(x, mean, channels), sqrt(add(variance, epsilon)), channels);
  return add(multiply(normal, gamma, channels), beta, channels);
}
template <class X, class... Statistics>
PARTITA_FORMER_NAME("use normalise_with_statistics")
auto normalise_by(const X& x, const Statistics&... statistics) {  ///< the former name of normalise_with_statistics
  return normalise_with_statistics(x, statistics...);
}
/// Batch norm in training: normalise_with_statistics with the statistics of x.
template <class X, class Gamma, class Beta>
  requires(detail::any_tensor<X> && detail::any_tensor<Gamma> && detail::any_tensor<Beta>)
auto normalise_batch(const X& input, const Gamma& gamma, const Beta& beta, double epsilon = 1e-5) {
  return detail::call_with_tensor(input, [&](const auto& x) {
    const auto [mean, variance] = batch_statistics(x);
    return normalise_with_statistics(x, mean, variance, gamma, beta, epsilon);
  });
}
/// Group norm: `normalise_groups<4>(x, gamma, beta)`. The channels of each sample form `Groups` groups. The elements of
/// each group are normalised together; then each element is multiplied by gamma and added to beta of its channel. With
/// as many groups as channels the function is an instance norm.
/// Requires: a number of channels that is a multiple of the groups [shape_error].
/// Cost: two reductions of one number per sample and group, if features are sharded. The groups may be sharded, but the
/// channels of one group are not divided.
/// Adjoint: gradients with respect to x, gamma and beta.
template <std::size_t Groups, class X, class Gamma, class Beta>
  requires(detail::any_tensor<X> && detail::any_tensor<Gamma> && detail::any_tensor<Beta>)
auto normalise_groups(const X& input, const Gamma& gamma, const Beta& beta, double epsilon = 1e-5) {
  static_assert(Groups >= 1, "partita::normalise_groups<groups>(x, gamma, beta): requires at least one group");
  return detail::call_with_tensor(input, [&](const auto& x) {
    const auto& e = x.extents();
    if (e.size() < 2 || e[1] % Groups != 0)
      throw shape_error(text("partita::normalise_groups<groups>(x, gamma, beta): requires x = batch x channels x "
                             "features whose channels are a multiple of ")
                        << Groups << " groups, got extents " << e);
    double cells = static_cast<double>(e[1] / Groups);
    for (std::size_t d = 2; d < e.size(); ++d) cells *= static_cast<double>(e[d]);
    const auto sums = [](const auto& y) { return apply_op(detail::group_sums_operation<Groups>{}, y); };
    const auto centred = apply_op(detail::shift_groups_operation<Groups, true>{}, x, multiply(sums(x), -1 / cells));
    const auto variance = multiply(sums(square(centred)), 1 / cells);
    const auto normal =
        apply_op(detail::scale_groups_operation<Groups>{}, centred, divide(1, sqrt(add(variance, epsilon))));
    return add(multiply(normal, gamma, broadcast_dimensions<1>), beta, broadcast_dimensions<1>);
  });
}
/// Root-mean-square norm: x / sqrt(mean of x² + epsilon) along the last dimension, times gamma.
template <class X, class Gamma>
  requires(detail::any_tensor<X> && detail::any_tensor<Gamma>)
auto normalise_rms(const X& input, const Gamma& gamma, double epsilon = 1e-5) {
  return detail::call_with_tensor(input, [&](const auto& x) {
    const auto squares =
        multiply(detail::reduce_last_dimension<sum_t>(square(x)), 1 / detail::element_count_along<-1>(x));
    return detail::apply_aligned<element_functions::multiply>(divide(x, sqrt(add(squares, epsilon))), gamma);
  });
}

/// Local response norm: x / (k + alpha / size * sum of x²)^beta, where the sum is over a channel, the (size - 1) / 2
/// channels before and the size / 2 channels after it: `normalise_locally(x, {.size = 3})`.
/// Shapes: x is batch x channels x features.
/// Requires: a size of at least 1 [shape_error].
/// Cost: one pass for each channel of the window. Sharded channels stay sharded; in each pass a worker receives only
/// the elements that its block needs.
/// Adjoint: composed of the adjoints of the operations that compute the norm.
template <detail::any_tensor X>
auto normalise_locally(const X& input, const local_response_options& options = {}) {
  return detail::call_with_tensor(input, [&](const auto& x) {
    const shape_list all = x.extents();
    if (options.size == 0 || all.size() < 2)
      throw shape_error(text("partita::normalise_locally(x, options): requires a size of at least 1 and x = batch x "
                             "channels x features, got a size of ")
                        << options.size << " and extents " << all);
    const std::size_t before = (options.size - 1) / 2, channels = all[1];
    const auto squares = pad(square(x), dimensions<1>, {before, options.size - 1 - before});
    auto sums = slice(squares, dimensions<1>, {0, channels});
    for (std::size_t k = 1; k < options.size; ++k) sums = add(sums, slice(squares, dimensions<1>, {k, k + channels}));
    const auto base = add(multiply(sums, options.alpha / static_cast<double>(options.size)), options.k);
    return multiply(x, pow(base, -options.beta));
  });
}

}  // namespace partita
