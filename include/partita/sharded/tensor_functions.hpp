// Functions composed of operations: activations, softmax, norms and losses, for plain arrays, sharded tensors and
// traced values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/activation.hpp>
#include <partita/sharded/detail/take_operations.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/operations.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// Executes the pending reductions of x, so that a function that reads x twice moves it only once.
template <class T, auto Layout>
auto reduce_pending_sums(const typed_sharded<T, Layout>& x) {
  if constexpr (layout_of_name<Layout>.is_partial())
    return typed_sharded<T, layout_name_without_partials<Layout>>(
        reshard(x.run_time_tensor(), layout_without_partials<Layout>));
  else return x;
}
template <class T>
sharded_tensor<T> reduce_pending_sums(const sharded_tensor<T>& x) {
  return x.layout().is_partial() ? reshard(x, x.layout().without_partials()) : x;
}
/// Makes complex elements and integer elements a compile-time error for functions of real numbers that are composed of
/// operations, because some of these operations would accept such elements.
template <class X>
consteval bool has_real_elements() {
  constexpr bool are_real = !is_complex<element_of_tensor<X>>;
  static_assert(are_real,
                "partita: softmax, log_softmax, attention, cross_entropy and norms require real elements; apply them "
                "to real(z), imag(z), abs(z) or angle(z), which are in partita/sharded/complex.hpp");
  constexpr bool are_fractions = !std::is_integral_v<element_of_tensor<X>>;
  static_assert(are_fractions,
                "partita: exp, log, sin and other functions of real numbers, and softmax(x), require elements that are "
                "no integers; cast x to float or double");
  return are_real && are_fractions;
}
/// Applies f to a tensor of real numbers. A plain array is converted to a tensor without a mesh, and the result back to
/// an array.
template <class X, class F>
auto call_with_tensor(const X& x, F f) {
  if constexpr (!has_real_elements<X>()) return rejected_call{};
  else if constexpr (tensor_kind<X> == 0) return as_array<rank_of<X>>(f(as_run_time(x)));
  else if constexpr (tensor_kind<X> == 3) return f(x);
  else return f(reduce_pending_sums(x));
}

template <class R, class X>
auto reduce_last_dimension(const X& x) {  ///< reduces x by R along the last dimension, which keeps extent 1
  return call(reduction_op<R, true, -1>{}, x);
}
/// Applies an element function to operands that are aligned at their last dimension.
template <const auto& F, class X, class Y>
auto apply_aligned(const X& x, const Y& y) {
  return call(elements_op<F, true>{}, x, y);
}

template <std::ptrdiff_t D, class X>
auto softmax_along(const X& input) {  ///< along D, counted from 0; -1: the last dimension
  return call_with_tensor(input, [](const auto& x) {
    const auto e = exp(subtract(x, stop_gradient(call(reduction_op<maximum_t, true, D>{}, x))));
    return divide(e, call(reduction_op<sum_t, true, D>{}, e));
  });
}
template <std::ptrdiff_t D, class X>
auto log_softmax_along(const X& input) {  ///< along D, counted from 0; -1: the last dimension
  return call_with_tensor(input, [](const auto& x) {
    const auto moved = subtract(x, stop_gradient(call(reduction_op<maximum_t, true, D>{}, x)));
    return subtract(moved, log(call(reduction_op<sum_t, true, D>{}, exp(moved))));
  });
}

struct take_at_labels_operation;

/// The adjoint of take_at_labels_operation: makes a row of zeros for each element of dy, and puts the element at the
/// index that is its label.
struct put_at_labels_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads no elements of x or y
  static constexpr std::size_t parameters = 2;       ///< number of data members, each equal on all workers
  known_indices labels;                              ///< the labels of all rows, on every worker
  std::size_t classes;                               ///< the number of classes

  static constexpr partita::rule rule(const shape_span&) { return partita::rule("r->rc").named("gradient of a pick"); }
  shape_list result_extents(const shape_span& dy) const { return {dy[0][0], classes}; }  ///< rows x classes
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<T>& x) const {  ///< computes this worker's block of x
    for (T& element : x) element = T(0);
    const interval own = x.box[1];
    for_each_index<0>(labels, x, [&](std::size_t k, std::size_t label) {
      if (label >= own.start && label < own.stop) x[k * own.size() + label - own.start] = dy[k];
    });
  }
  template <class X>
  X adjoint(std::size_t, const X& dx, const X&, const X&) const;  ///< takes dx at the labels
};
/// Takes the element of each row at the index that is the row's label. If classes are sharded, the result is a partial
/// sum: a worker has 0 for labels of classes that it does not hold.
struct take_at_labels_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads no elements of x or y
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  known_indices labels;                              ///< the labels of all rows, on every worker

  static constexpr partita::rule rule(const shape_span&) { return partita::rule("rc->r").named("pick"); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's summand of y
    const interval own = x.box[1];
    for_each_index<0>(labels, x, [&](std::size_t k, std::size_t label) {
      y[k] = label >= own.start && label < own.stop ? x[k * own.size() + label - own.start] : T(0);
    });
  }
  /// The gradient gets the layout of x, so that sharded classes stay sharded.
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of the operand
    using T = typename X::value_type;
    sharding there = layout_of(x.layout().without_partials()), rows = there;
    rows.cuts[--rows.dimensions] = axis_list();
    const std::vector<X> input{dy};
    return run_operation<T>(bind_operation<1, T>(put_at_labels_operation{labels, x.extents()[1]}, input), input,
                            {&rows, &there});
  }
};
template <class X>
X put_at_labels_operation::adjoint(std::size_t, const X& dx, const X&, const X&) const {
  return apply_op(take_at_labels_operation{labels}, dx);
}

/// The labels as a list of numbers. Throws an error if a label is not below n.
template <ranked_array Labels>
std::shared_ptr<const std::vector<std::size_t>> check_labels(std::size_t n, const char* call, const Labels& labels) {
  auto all = std::make_shared<std::vector<std::size_t>>();
  const xt::xtensor<element_of<Labels>, rank_of<Labels>> input = labels;
  for (const auto label : input) {
    if (label < 0 || static_cast<std::size_t>(label) >= n)
      throw shape_error(text("partita::")
                        << call << ": requires labels below " << n << ", got " << static_cast<long long>(label));
    all->push_back(static_cast<std::size_t>(label));
  }
  return all;
}

}  // namespace detail

/// The value of x as a constant for differentiation, which has no gradient.
template <class T, auto Layout>
typed_sharded<T, Layout> stop_gradient(const typed_sharded<T, Layout>& x) {
  return typed_sharded<T, Layout>(detail::detach(x.run_time_tensor()));
}
template <class T>
sharded_tensor<T> stop_gradient(const sharded_tensor<T>& x) {
  return detail::detach(x);
}
template <ranked_array X>
const X& stop_gradient(const X& x) {  ///< returns the array x, which has no gradient
  return x;
}

namespace detail {

template <const auto& F, class X>
using activation_call = decltype(call(elements_op<F>{}, std::declval<const X&>()));  ///< the type of F(x)

/// `relu` and `sigmoid` are class templates of layers. The specialisations of `relu` and `sigmoid` for tensors derive
/// from this class, so that `relu(x)` of a tensor is the value of the function.
template <const auto& F, class Value>
struct activated_value : Value {
  template <class X>
  explicit activated_value(const X& x) : Value(call(elements_op<F>{}, x)) {}  ///< computes F of x
};

}  // namespace detail

/// The function `relu(x)`: the larger of 0 and each element of a tensor, array or traced value. `relu<float>()` is the
/// layer.
template <detail::any_tensor Value>
class relu<Value> : public detail::activated_value<element_functions::relu, Value> {
 public:
  using detail::activated_value<element_functions::relu, Value>::activated_value;
};
template <detail::any_tensor X>
relu(const X&) -> relu<detail::activation_call<element_functions::relu, X>>;

/// The function `sigmoid(x)`, 1 / (1 + exp(-x)) of each element of a tensor, an array or a traced value.
/// `sigmoid<float>()` is the layer.
template <detail::any_tensor Value>
class sigmoid<Value> : public detail::activated_value<element_functions::sigmoid, Value> {
 public:
  using detail::activated_value<element_functions::sigmoid, Value>::activated_value;
};
template <detail::any_tensor X>
sigmoid(const X&) -> sigmoid<detail::activation_call<element_functions::sigmoid, X>>;
template <detail::any_tensor X>
sigmoid(const sigmoid<X>&) -> sigmoid<detail::activation_call<element_functions::sigmoid, sigmoid<X>>>;

/// exp(x) divided by its sum along the last dimension, or along a given dimension: `softmax(x, dimensions<1>)`. If the
/// dimension of the softmax is sharded, two numbers per line along it (maximum and sum) are reduced over the workers,
/// and no tensor is gathered.
template <detail::any_tensor X>
auto softmax(const X& input) {
  return detail::softmax_along<-1>(input);
}
template <detail::any_tensor X, std::size_t D>
auto softmax(const X& input, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>, "partita::softmax(x, dimensions<d>): requires a dimension that x has");
  if constexpr (detail::has_dimensions<X, D>) return detail::softmax_along<static_cast<std::ptrdiff_t>(D)>(input);
}
template <detail::any_tensor X>
auto log_softmax(const X& input) {  ///< log(softmax(x)) along the last dimension, without overflow
  return detail::log_softmax_along<-1>(input);
}
template <detail::any_tensor X, std::size_t D>
auto log_softmax(const X& input, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>,
                "partita::log_softmax(x, dimensions<d>): requires a dimension that x has");
  if constexpr (detail::has_dimensions<X, D>) return detail::log_softmax_along<static_cast<std::ptrdiff_t>(D)>(input);
}
/// Layer norm: (x - mean) / sqrt(variance + epsilon) along the last dimension, times gamma, plus beta.
template <class X, class Gamma, class Beta>
  requires(detail::any_tensor<X> && detail::any_tensor<Gamma> && detail::any_tensor<Beta>)
auto normalise(const X& input, const Gamma& gamma, const Beta& beta, double epsilon = 1e-5) {
  return detail::call_with_tensor(input, [&](const auto& x) {
    const double share = 1 / detail::element_count_along<-1>(x);
    const auto centred = subtract(x, multiply(detail::reduce_last_dimension<sum_t>(x), share));
    const auto variance = multiply(detail::reduce_last_dimension<sum_t>(square(centred)), share);
    const auto normal = divide(centred, sqrt(add(variance, epsilon)));
    return detail::apply_aligned<element_functions::add>(
        detail::apply_aligned<element_functions::multiply>(normal, gamma), beta);
  });
}
/// The mean over rows of -log softmax(scores)[label], as a scalar tensor. The classes, dimension 1, may be sharded; no
/// row is gathered.
/// Shapes: scores are rows x classes; every worker passes the labels of all rows.
/// Requires: labels of an integer type [compile time], one per row, below the number of classes [shape_error].
template <detail::any_tensor Scores, ranked_array Labels>
auto cross_entropy(const Scores& input, const Labels& labels) {
  constexpr bool are_integers = std::is_integral_v<element_of<Labels>>;
  static_assert(are_integers, "partita::cross_entropy(scores, labels): requires labels of an integer type");
  const auto loss = [&](const auto& x) {
    const std::size_t rows = x.extents()[0], classes = x.extents()[1];
    if (static_cast<std::size_t>(labels.size()) != rows)
      throw shape_error(text("partita::cross_entropy: requires one label for each row, got ")
                        << static_cast<std::size_t>(labels.size()) << " labels and scores of extents " << x.extents());
    const auto top =
        stop_gradient(detail::reduce_pending_sums(detail::call(detail::reduction_op<maximum_t, true, -1>{}, x)));
    const auto moved = subtract(x, top);
    const auto label_scores = detail::call(
        detail::take_at_labels_operation{{detail::check_labels(classes, "cross_entropy", labels), {rows}}}, moved);
    const auto all = log(sum(exp(moved), dimensions<1>));
    return multiply(subtract(sum(all), sum(label_scores)), rows == 0 ? 0.0 : 1.0 / static_cast<double>(rows));
  };
  if constexpr (!are_integers || !detail::has_real_elements<Scores>()) return detail::rejected_call{};
  else if constexpr (detail::tensor_kind<Scores> == 0) return detail::as_array<0>(loss(detail::as_run_time(input)));
  else return loss(detail::reduce_pending_sums(input));
}
/// Looks up the table row of each label. If the rows of the table are sharded, the result is a pending sum, to which a
/// worker contributes zeros for the rows that it does not hold.
/// Shapes: the table is rows x width; the result has the extents of the labels, followed by the width.
/// Requires: labels of an integer type [compile time], below the number of rows of the table, the same on every worker
/// [shape_error].
template <detail::any_tensor Table, ranked_array Labels>
auto lookup(const Table& table, const Labels& labels) {
  constexpr bool are_integers = std::is_integral_v<element_of<Labels>>;
  static_assert(are_integers, "partita::lookup(table, labels): requires labels of an integer type");
  shape_list extents;
  for (const auto extent : labels.shape()) extents.push_back(static_cast<std::size_t>(extent));
  const auto go = [&](const auto& x) {
    return detail::call(
        detail::take_operation<0, rank_of<Labels>, true>{
            {detail::check_labels(x.extents()[0], "lookup", labels), extents}},
        x);
  };
  if constexpr (!are_integers) return detail::rejected_call{};
  else if constexpr (detail::tensor_kind<Table> == 0)
    return detail::as_array<rank_of<Labels> + 1>(go(detail::as_run_time(table)));
  else return go(table);
}

PARTITA_FALLBACK_CLASS(relu, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::relu: requires a tensor or an array, relu(x), or as a layer an element type, relu<float>()");
}

PARTITA_FALLBACK_CLASS(sigmoid, detail::arguments_not_given) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::sigmoid: requires a tensor or an array, sigmoid(x), or as a layer an element type, sigmoid<float>()");
}

}  // namespace partita
