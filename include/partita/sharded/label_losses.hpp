// Losses of labels: the cross entropy of scores with classes along any dimension. Options are a label that is ignored,
// weights of classes, and label smoothing.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// How labels determine the target probabilities of the classes.
struct cross_entropy_loss_options {
  std::optional<std::int64_t> ignore_index{};  ///< labels with this value have no loss and no weight
  std::vector<double> class_weights{};         ///< one weight for each class; empty: all weights are 1
  double label_smoothing = 0;                  ///< the share of each target that is spread evenly over all classes
};

namespace detail {

/// The target of each class for each label: the weight of the class, times the share of the label that the class gets
/// by label smoothing.
struct class_targets {
  static constexpr std::size_t ignored = ~std::size_t{0};  ///< in place of the class number of an ignored label
  std::shared_ptr<const std::vector<std::size_t>> labels;  ///< class numbers in C order, or `ignored`
  std::shared_ptr<const std::vector<double>> weights;      ///< one weight for each class
  double smoothing = 0;                                    ///< the share of a label that is spread over all classes
  shape_list label_extents{};                              ///< those of the scores without the classes

  double target_of(std::size_t label, std::size_t c) const {  ///< the target of class c for this label
    const double share = smoothing / static_cast<double>(weights->size());
    return label == ignored ? 0 : (*weights)[c] * ((label == c ? 1 - smoothing : 0) + share);
  }
  /// The sum of the weights of the classes of all labels that are not ignored.
  double total_weight() const {
    double sum = 0;
    for (const std::size_t label : *labels) sum += label == ignored ? 0 : (*weights)[label];
    return sum;
  }
  std::uint64_t fingerprint() const {  ///< a hash, by which workers compare their calls
    return hasher().mix(*labels).mix(*weights).mix(smoothing).mix(label_extents).value();
  }
};

/// Calls f(k, j, target) for each element k of a block with classes along dimension D. j is the offset of the element
/// in a block without dimension D, and `target` is the target of the element's class.
template <std::size_t D, class T, class F>
void for_each_target(const class_targets& targets, const tensor_part<T>& block, F f) {
  short_list<interval> places;
  for (std::size_t d = 0; d < block.box.size(); ++d)
    if (d != D) places.push_back(block.box[d]);
  const dimension_loops n(block.shape, D);
  const std::size_t first = block.box[D].start;
  for_each_label(*targets.labels, places, targets.label_extents, [&](std::size_t j, std::size_t label) {
    for (std::size_t c = 0; c < n.middle; ++c)
      f((j / n.inner * n.middle + c) * n.inner + j % n.inner, j, targets.target_of(label, first + c));
  });
}

/// The adjoint of weigh_classes_operation: multiplies each element of dy by the target of each class, so that the
/// result has dimension D of classes again.
template <std::size_t D>
struct weigh_classes_adjoint_operation {
  static constexpr bool on_complex = false;          ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads no elements of x or y
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  class_targets targets;                             ///< of all labels, on every worker

  static constexpr partita::rule rule(const shape_span& dy) {  ///< the sharding rule for operands of these shapes
    partita::rule r;
    const separate_factors f(r, dy[0]);
    r.begin_operand();
    f.write(r);
    r.begin_result();
    for (std::size_t d = 0; d < dy[0].size(); ++d) {
      if (d == D) add_open_dimension(r);
      r.add_dimension(f[d]);
    }
    if (dy[0].size() == D) add_open_dimension(r);
    return r.complete().named("gradient of cross_entropy");
  }
  shape_list result_extents(const shape_span& dy) const {  ///< those of dy with the classes
    shape_list x;
    for (std::size_t d = 0; d <= dy[0].size(); ++d)
      x.push_back(d == D ? targets.weights->size() : dy[0][d < D ? d : d - 1]);
    return x;
  }
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<T>& x) const {  ///< computes this worker's block of x
    for_each_target<D>(targets, x, [&](std::size_t k, std::size_t j, double target) {
      x[k] = target == 0 ? T(0) : static_cast<T>(static_cast<T>(target) * dy[j]);
    });
  }
};
/// Sums x times the target over the classes, which are dimension D. An element of x whose target is 0 is not read,
/// because it may be infinite.
template <std::size_t D>
struct weigh_classes_operation {
  static constexpr bool on_complex = false;          ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads no elements of x or y
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  class_targets targets;                             ///< of all labels, on every worker

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::sum({static_cast<std::ptrdiff_t>(D)}).named("cross_entropy")(x);
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's summand of y
    for (T& element : y) element = T(0);
    for_each_target<D>(targets, x, [&](std::size_t k, std::size_t j, double target) {
      if (target != 0) y[j] += static_cast<T>(target) * x[k];
    });
  }
  /// Computes dx in the layout of x, so that the classes of dx are sharded as the classes of x are.
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {  ///< the cotangent of the operand
    using T = typename X::value_type;
    const sharding there = layout_of(x.layout().without_partials());
    sharding places(there.on, there.rank() - 1);
    for (std::size_t d = 0; d < there.rank(); ++d)
      if (d != D) places.cuts[d < D ? d : d - 1] = there.cuts[d];
    const weigh_classes_adjoint_operation<D> back{targets};
    return run_operation<T>(bind_operation<1, T>(back, {dy}), {dy}, {&places, &there});
  }
};

/// The target distributions for labels. Throws an error unless labels, weights and smoothing fit these scores.
template <std::size_t D, ranked_array Labels>
class_targets make_targets(const shape_list& scores, const Labels& labels, const cross_entropy_loss_options& form) {
  const std::size_t classes = scores[D];
  class_targets all;
  for (std::size_t d = 0; d < scores.size(); ++d)
    if (d != D) all.label_extents.push_back(scores[d]);
  if (!(shape_of(labels) == all.label_extents))
    throw shape_error(text("partita::cross_entropy: requires one label for each place of scores of extents ")
                      << scores << " with classes along dimension " << D << ", got labels of extents "
                      << shape_of(labels));
  if (!form.class_weights.empty() && form.class_weights.size() != classes)
    throw shape_error(text("partita::cross_entropy: requires no class_weights or one for each of ")
                      << classes << " classes, got " << form.class_weights.size());
  if (!(form.label_smoothing >= 0 && form.label_smoothing <= 1))
    throw shape_error("partita::cross_entropy: requires a label_smoothing from 0 to 1");
  auto numbers = std::make_shared<std::vector<std::size_t>>();
  const xt::xtensor<element_of<Labels>, rank_of<Labels>> input = labels;
  for (const auto label : input) {
    const bool counts = !form.ignore_index || static_cast<std::int64_t>(label) != *form.ignore_index;
    if (counts && (label < 0 || static_cast<std::size_t>(label) >= classes))
      throw shape_error(text("partita::cross_entropy: requires labels below ")
                        << classes << " or equal to ignore_index, got " << static_cast<long long>(label));
    numbers->push_back(counts ? static_cast<std::size_t>(label) : class_targets::ignored);
  }
  all.labels = std::move(numbers);
  all.weights = std::make_shared<std::vector<double>>(form.class_weights.empty() ? std::vector<double>(classes, 1.0)
                                                                                 : form.class_weights);
  all.smoothing = form.label_smoothing;
  return all;
}

}  // namespace detail

/// The mean cross entropy, as a scalar tensor, with classes along dimension 1 or along the given dimension, as in
/// `cross_entropy(scores, labels, {.ignore_index = -100})`, `cross_entropy(scores, labels, dimensions<3>,
/// {.class_weights = {1, 2}, .label_smoothing = 0.1})`. The loss of a label l is -log softmax(scores)[l] w[l], where
/// w[l] is the weight of its class; with smoothing s the loss is (1 - s) times this value plus s times the mean over
/// all classes c of -log softmax(scores)[c] w[c]. Ignored labels do not count. The sum of the losses is divided by the
/// sum of all w[l]; if the sum of all w[l] is 0, the result is 0.
/// Shapes:   labels have the extents of the scores without dimension D; every worker passes all labels.
/// Requires: labels of an integer type [compile time], below the number of classes or equal to ignore_index; weights
///           for all classes or for none, and a smoothing from 0 to 1 [shape_error].
/// Cost:     if the classes are sharded, at most three numbers per label are reduced over the workers, and the scores
///           are not gathered.
/// Adjoint:  dy times the weighted difference of softmax and targets; labels have no gradient.
template <detail::any_tensor Scores, ranked_array Labels, std::size_t D>
auto cross_entropy(const Scores& input, const Labels& labels, dimensions_t<D>,
                   const cross_entropy_loss_options& form = {}) {
  constexpr bool are_integers = std::is_integral_v<element_of<Labels>>, has_classes = detail::has_dimensions<Scores, D>;
  static_assert(are_integers, "partita::cross_entropy(scores, labels): requires labels of an integer type");
  static_assert(has_classes,
                "partita::cross_entropy(scores, labels, dimensions<d>): requires the dimension of the classes, counted "
                "from 0");
  const auto loss = [&](const auto& x) {
    if (D >= x.extents().size())
      throw shape_error(text("partita::cross_entropy: requires scores with a dimension ")
                        << D << " of classes, got scores of extents " << x.extents());
    const detail::class_targets targets = detail::make_targets<D>(x.extents(), labels, form);
    const double total = targets.total_weight();
    const auto weighted = detail::call(detail::weigh_classes_operation<D>{targets}, log_softmax(x, dimensions<D>));
    return multiply(sum(weighted), total == 0 ? 0.0 : -1.0 / total);
  };
  if constexpr (!are_integers || !has_classes) return detail::rejected_call{};
  else if constexpr (detail::tensor_kind<Scores> == 0) return detail::as_array<0>(loss(detail::as_run_time(input)));
  else if constexpr (detail::tensor_kind<Scores> == 3) return loss(input);
  else return loss(detail::reduce_pending_sums(input));
}
template <detail::any_tensor Scores, ranked_array Labels>
auto cross_entropy(const Scores& scores, const Labels& labels, const cross_entropy_loss_options& form) {
  return cross_entropy(scores, labels, dimensions<1>, form);
}

}  // namespace partita
