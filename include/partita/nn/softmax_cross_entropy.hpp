// The softmax cross entropy of scores whose classes are partitioned over workers. A worker stores only its block.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/core/version.hpp>
#include <partita/plan/cut.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// The mean over the batch of -log softmax(scores)[label].
/// Shapes:   scores are batch x classes, split along the classes over p = 1 x … x f, balanced; every worker of p passes
///           the labels of the whole batch.
/// Requires: labels below the number of classes, one for each row [shape_error, on all workers].
/// Cost:     each call makes two reductions and two broadcasts of one or two values per row over p, one broadcast of
///           the loss over the world, and a few reductions of one or two numbers over the world to check the arguments.
/// Adjoint:  adjoint() is this worker's block of (softmax - one-hot) / batch for the last scores.
template <class T>
class softmax_cross_entropy {
 public:
  template <class Extents>
  explicit softmax_cross_entropy(const partition<Extents>& p)
      : world_(p.world().state()),
        is_active_(p.active()),
        fingerprint_(detail::mixed(p.grid().fingerprint(), detail::type_number<T>())) {
    static_assert(Extents::rank() >= 1,
                  "partita::softmax_cross_entropy(p): requires p = 1 x ... x f, of rank 1 at least");
    const auto shape = p.grid().shape();
    if (shape.back() != p.size())
      throw partition_error(text("partita::softmax_cross_entropy(p): requires p = 1 x ... x f, got ")
                            << shape << "; repartition the scores so that only the classes are cut");
    for (std::size_t k = 0; k < p.size(); ++k) class_group_.members.push_back(p.workers()[k]);
    class_group_.position = p.workers().find(world_->id());
    all_workers_.members.push_back(class_group_.members[0]);
    for (std::size_t k = 0; k < world_->size(); ++k)
      if (k != class_group_.members[0]) all_workers_.members.push_back(k);
    for (std::size_t k = 0; k < all_workers_.members.size(); ++k)
      if (all_workers_.members[k] == world_->id()) all_workers_.position = k;
  }

  /// Returns the loss, which is the same on every worker of the world.
  template <ranked_array Scores, class Labels>
  T operator()(const Scores& scores, const Labels& labels) {
    static_assert(rank_of<Scores> == 2 && std::is_same_v<element_of<Scores>, T>,
                  "partita::softmax_cross_entropy<T>(scores, labels): requires scores of rank 2 (batch x classes) and "
                  "element type T");
    return detail::one_call(*world_, [&] {
      was_called_ = false;  // if this call fails, adjoint() has no loss to differentiate
      const std::size_t batch = agree_on_batch(scores, labels);
      T loss(0);
      if (is_active_) {
        // 1. Compute the largest score of each whole row, over all its classes.
        const std::vector<T> top = row_maxima(scores, batch);
        // 2. Compute two sums over each whole row: of exp(score - largest), and of (score - largest) at the label.
        std::vector<T> sums(2 * batch, T(0));
        gradient_ = scores;
        for (std::size_t i = 0; i < batch; ++i)
          for (std::size_t j = 0; j < own_classes_.size(); ++j) {
            if (static_cast<std::size_t>(labels(i)) == own_classes_.start + j)
              sums[batch + i] = gradient_(i, j) - top[i];
            gradient_(i, j) = std::exp(gradient_(i, j) - top[i]);
            sums[i] += gradient_(i, j);
          }
        all_reduce(sums, [](T& a, T b) { a += b; });
        // 3. Compute the loss and its gradient (softmax - one-hot) / batch.
        for (std::size_t i = 0; i < batch; ++i) {
          loss += std::log(sums[i]) - sums[batch + i];
          for (std::size_t j = 0; j < own_classes_.size(); ++j) {
            const T one_hot = static_cast<std::size_t>(labels(i)) == own_classes_.start + j ? T(1) : T(0);
            gradient_(i, j) = (gradient_(i, j) / sums[i] - one_hot) / static_cast<T>(batch);
          }
        }
        if (batch > 0) loss /= static_cast<T>(batch);
      } else {
        gradient_ = scores;
      }
      detail::tree_broadcast(*world_, all_workers_, &loss, 1, detail::tag::first_user_tag);
      was_called_ = true;
      return loss;
    });
  }

  /// This worker's block of the gradient of the last loss, by the scores. Requires a previous loss [shape_error].
  const xt::xtensor<T, 2>& adjoint() const {
    if (!was_called_)
      throw shape_error(
          "partita::softmax_cross_entropy::adjoint(): requires a loss before; call loss(scores, labels) first");
    return gradient_;
  }

  /// The number of rows whose largest score is at the label (of equal scores the lowest class counts), the same on
  /// every worker.
  template <ranked_array Scores, class Labels>
  std::size_t count_correct(const Scores& scores, const Labels& labels) {
    return detail::one_call(*world_, [&] {
      const std::size_t batch = agree_on_batch(scores, labels);
      std::uint64_t right = 0;
      if (is_active_) {
        const std::vector<T> top = row_maxima(scores, batch);
        std::vector<std::uint64_t> best(batch, std::numeric_limits<std::uint64_t>::max());
        for (std::size_t i = 0; i < batch; ++i)
          for (std::size_t j = own_classes_.size(); j-- > 0;)
            if (scores(i, j) == top[i]) best[i] = own_classes_.start + j;
        all_reduce(best, [](std::uint64_t& a, std::uint64_t b) { a = b < a ? b : a; });
        for (std::size_t i = 0; i < batch; ++i) right += best[i] == static_cast<std::uint64_t>(labels(i)) ? 1 : 0;
      }
      detail::tree_broadcast(*world_, all_workers_, &right, 1, detail::tag::first_user_tag);
      return right;
    });
  }
  template <ranked_array Scores, class Labels>
  PARTITA_FORMER_NAME("use count_correct")
  std::size_t correct(const Scores& scores, const Labels& labels) {  ///< the former name of count_correct()
    return count_correct(scores, labels);
  }

 private:
  /// Throws the same error on all workers unless scores and labels fit. Stores the range of classes of this worker, and
  /// returns the batch extent.
  template <class Scores, class Labels>
  std::size_t agree_on_batch(const Scores& scores, const Labels& labels) {
    const auto batch = static_cast<std::size_t>(scores.shape()[0]);
    text error_message;
    static_assert(std::is_integral_v<std::remove_cvref_t<decltype(labels(0))>>,
                  "partita::softmax_cross_entropy<T>(scores, labels): requires labels of an integer type");
    const auto call = [] { return text("partita::softmax_cross_entropy(scores, labels)"); };
    detail::agree_if_checked(*world_, fingerprint_, {}, call);
    const std::uint64_t mine = is_active_ ? static_cast<std::uint64_t>(scores.shape()[1]) : 0;
    const std::uint64_t classes = detail::sum_of_all(*world_, detail::number_array<1>{mine})[0];
    if (is_active_) {
      own_classes_ = balanced_part(classes, class_group_.members.size(), class_group_.position);
      if (own_classes_.size() != mine)
        error_message << "partita::softmax_cross_entropy: requires a balanced cut of the classes, worker "
                      << world_->id() << " of " << class_group_.members.size() << " has " << mine << " of " << classes
                      << " classes, not " << own_classes_.size();
      else if (static_cast<std::size_t>(labels.size()) != batch)
        error_message << "partita::softmax_cross_entropy: requires one label for each row, got "
                      << static_cast<std::size_t>(labels.size()) << " labels and " << batch << " rows on worker "
                      << world_->id() << "; give every worker the labels of the whole batch";
      for (std::size_t i = 0; i < batch && error_message.empty(); ++i)
        if (const auto label = static_cast<std::int64_t>(labels(i));
            label < 0 || static_cast<std::uint64_t>(label) >= classes)
          error_message << "partita::softmax_cross_entropy: requires labels below the number of classes (" << classes
                        << "), label " << i << " is " << label;
    }
    detail::agree_if_checked(*world_, fingerprint_, detail::local_error(error_message), call);
    // All workers of p must pass the same batch extent. One maximum over the workers, of the extent and of its bitwise
    // complement, gives the largest and the smallest extent.
    const auto most =
        detail::maximum_over_workers(*world_, detail::number_array<2>{is_active_ ? batch : 0, is_active_ ? ~batch : 0});
    if (most[0] != ~most[1])
      throw shape_error(text("partita::softmax_cross_entropy: requires one batch extent on all workers, got ")
                        << ~most[1] << " to " << most[0]);
    return batch;
  }

  /// The largest score of each row, over all classes. Collective among the workers of p.
  template <class Scores>
  std::vector<T> row_maxima(const Scores& scores, std::size_t batch) {
    std::vector<T> top(batch, std::numeric_limits<T>::lowest());
    for (std::size_t i = 0; i < batch; ++i)
      for (std::size_t j = 0; j < own_classes_.size(); ++j) top[i] = scores(i, j) > top[i] ? scores(i, j) : top[i];
    all_reduce(top, [](T& a, T b) { a = b > a ? b : a; });
    return top;
  }

  /// Combines the values of the workers of p element by element; all of them get the results.
  template <class U, class Combine>
  void all_reduce(std::vector<U>& values, Combine operation) {
    std::vector<U> incoming(values.size());
    detail::tree_reduce(*world_, class_group_, values.data(), values.data(), incoming.data(), values.size(),
                        detail::tag::first_user_tag, operation);
    detail::tree_broadcast(*world_, class_group_, values.data(), values.size(), detail::tag::first_user_tag);
  }

  std::shared_ptr<detail::world_state> world_;  ///< the world of p, with workers outside of p
  bool is_active_;                              ///< whether this worker belongs to p
  std::uint64_t fingerprint_;                   ///< a hash of the partition and of the element type
  worker_group class_group_, all_workers_;      ///< the workers of p; those of the world, the first worker of p first
  interval own_classes_;                        ///< the classes of this worker in the last call
  bool was_called_ = false;                     ///< whether the last call succeeded, as adjoint() requires
  xt::xtensor<T, 2> gradient_;                  ///< this worker's block of the gradient of the last loss, by the scores
};

PARTITA_FALLBACK_CLASS(softmax_cross_entropy, detail::element_type_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::softmax_cross_entropy<T>(p): requires an element type and a partition of rank 2; write "
                "softmax_cross_entropy<float>(p)");
}

}  // namespace partita
