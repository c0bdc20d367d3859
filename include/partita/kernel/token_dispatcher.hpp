// Sends tokens to the experts that they choose, and combines the results of the experts, without padding.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/one_call.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/index_movement.hpp>
#include <partita/kernel/detail/receiver_pattern.hpp>
#include <partita/kernel/index_list.hpp>
#include <partita/plan/cut.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// Routes tokens to experts that are distributed evenly over the workers, as in `token_dispatcher to(everyone, experts,
/// choice); auto rows = to.dispatch(x); …; auto y = to.combine(computed, weights);`. Collective.
/// Shapes:   x and y have a row (index of dimension 0) for each token of this worker, and any further dimensions;
///           `choice` has `experts_per_token` experts for each token, one token after the other, and `weights` an
///           element for each choice. `dispatch` returns a row for each choice of an expert of this worker, in
///           ascending order of the experts and, for each expert, in the order of workers and tokens; an expert has the
///           rows `rows_of(expert)`.
/// Requires: choices below `experts`, and equal `experts` and `experts_per_token` on all workers [shape_error,
///           disagreement_error, on all workers].
/// Cost:     `dispatch` sends one row to the expert for each choice, `combine` one row back; `combine_adjoint` sends
///           for each choice one row of the gradient and the weight to the expert, and one number back, the gradient of
///           the weight. The constructor makes three exchanges of lists, one of which contains the choices.
/// Adjoint:  The functions `dispatch` and `combine` (without weights) are adjoint to each other.
class token_dispatcher {
 public:
  /// Collective. `choice` has the experts of this worker's tokens: a container of integers.
  token_dispatcher(const world& everyone, std::size_t experts, const index_list& choice,
                   std::size_t experts_per_token = 1)
      : experts_(balanced_part(experts, everyone.size(), everyone.id())),
        experts_per_token_(experts_per_token),
        movement_(make_planner(everyone, experts, choice)) {}

  const interval& experts() const { return experts_; }  ///< The range of the experts of this worker.
  /// The range of the rows of an expert in the result of `dispatch`; empty for an expert of another worker.
  interval rows_of(std::size_t expert) const {
    if (expert < experts_.start || expert >= experts_.stop) return {};
    return {first_row_[expert - experts_.start], first_row_[expert - experts_.start + 1]};
  }
  /// The number of tokens of this worker.
  std::size_t tokens() const { return movement_.pattern().owned_count / experts_per_token_; }
  std::size_t rows() const { return movement_.pattern().wanted_count; }  ///< The number of rows that dispatch returns.

  /// Returns a row for each choice of an expert of this worker: the row of the token that made the choice.
  template <class X>
  auto dispatch(const X& x) const {
    if constexpr (accepts_block<X>()) return dispatch_rows(dispatch_call_number, x, ".dispatch(x)");
    else return detail::rejected_call();
  }
  /// The sum of the rows that the chosen experts computed for each token.
  template <class Y>
  auto combine(const Y& y) const {
    if constexpr (accepts_block<Y>()) {
      return sum_returned_rows(movement_.combine<sum_t>(combine_call_number, y, ".combine(y)"),
                               [](std::size_t) { return element_of<Y>(1); });
    } else {
      return detail::rejected_call();
    }
  }
  /// The sum of the rows that the chosen experts computed for each token, with a weight for each choice.
  template <class Y, class Weights>
  auto combine(const Y& y, const Weights& weights) const {
    if constexpr (accepts_real_elements<Y, Weights>()) {
      constexpr const char* call = ".combine(y, weights)";
      const xt::xtensor<element_of<Y>, rank_of<Weights>> w = weights;
      detail::local_error found_error;
      expect_count(found_error, call, "a weight for each choice", w.size(), movement_.pattern().owned_count);
      return sum_returned_rows(movement_.combine<sum_t>(weighted_call_number, y, call, found_error),
                               [&](std::size_t k) { return w.data()[k]; });
    } else {
      return detail::rejected_call();
    }
  }
  /// The adjoint of z = combine(y, weights): the pair of dy and the gradient of the weights.
  template <class Y, class Weights, class Dz>
  auto combine_adjoint(const Y& y, const Weights& weights, const Dz& dz) const {
    if constexpr (accepts_real_elements<Y, Weights>() && accepts_real_elements<Y, Dz>() && is_same_rank<Y, Dz>()) {
      using T = element_of<Y>;
      constexpr const char* call = ".combine_adjoint(y, weights, dz)";
      const xt::xtensor<T, rank_of<Y>> rows_y = y, given = dz;
      const xt::xtensor<T, rank_of<Weights>> w = weights;
      detail::local_error found_error;
      expect_count(found_error, call, "a weight for each choice", w.size(), movement_.pattern().owned_count);
      expect_count(found_error, call, "a row of y for each choice of an expert of the worker", rows_y.shape(0), rows());
      expect_count(found_error, call, "rows of y and dz of as many elements", detail::row_elements(rows_y.shape()),
                   detail::row_elements(given.shape()));
      auto dy = dispatch_rows(adjoint_call_number, given, call, found_error);
      xt::xtensor<T, 1> flat(std::array{w.size()}), products = xt::zeros<T>({rows()});
      std::copy_n(w.data(), w.size(), flat.data());
      const auto weight_of = movement_.copy(dispatch_call_number, flat, call);
      const std::size_t width = detail::row_elements(rows_y.shape());
      for (std::size_t r = 0; r < rows(); ++r)
        for (std::size_t e = r * width; e < (r + 1) * width; ++e) {
          products(r) += rows_y.data()[e] * dy.data()[e];
          dy.data()[e] *= weight_of(r);
        }
      const auto gradient = movement_.combine<sum_t>(combine_call_number, products, call);
      xt::xtensor<T, rank_of<Weights>> dw = w;
      std::copy_n(gradient.data(), gradient.size(), dw.data());
      return std::pair(std::move(dy), std::move(dw));
    } else {
      return detail::rejected_call();
    }
  }

  /// What this worker sends and receives in `dispatch` if rows have `row_elements` elements. Cost: no communication.
  exchange_plan<2> plan(std::size_t row_elements = 1) const { return movement_.planner().plan(row_elements); }

 private:
  /// Texts for error messages.
  static constexpr detail::index_call_texts call_texts{
      "partita::token_dispatcher(everyone, experts, choice, per_token)", "choice of its tokens",
      "choice of an expert of the worker"};
  /// Identifies the first exchange of a call; all workers compare this number.
  enum call_number : std::uint64_t {
    dispatch_call_number = 1,  ///< For `dispatch`.
    combine_call_number,       ///< For `combine` without weights.
    weighted_call_number = 6,  ///< For `combine` with weights.
    adjoint_call_number        ///< For `combine_adjoint`.
  };

  /// Sends choices to the workers of the experts, plans the exchange, and fills first_row_. Collective.
  detail::index_planner make_planner(const world& everyone, std::size_t experts, const index_list& choice) {
    const auto& state = everyone.state();
    return detail::one_call(*state, [&] {
      std::shared_ptr<detail::transport> shared_transport;
      auto pattern = detail::make_pattern_by_expert(*state, shared_transport, experts, choice, experts_per_token_,
                                                    call_texts.call, first_row_);
      return detail::index_planner(state, std::move(shared_transport), std::move(pattern), call_texts);
    });
  }
  /// Sends the row of each token to each of its experts.
  template <class X>
  auto dispatch_rows(call_number number, const X& x, const char* call, detail::local_error before = {}) const {
    using T = element_of<X>;
    const xt::xtensor<T, rank_of<X>> given = x;
    expect_count(before, call, "a row of x for each token", given.shape(0), tokens());
    if (experts_per_token_ == 1) return movement_.copy(number, given, call, before);
    auto shape = given.shape();
    shape[0] = movement_.pattern().owned_count;
    xt::xtensor<T, rank_of<X>> rows(shape);
    const std::size_t width = detail::row_elements(given.shape());
    for (std::size_t k = 0; k < shape[0] && !before.any(); ++k)
      std::copy_n(given.data() + k / experts_per_token_ * width, width, rows.data() + k * width);
    return movement_.copy(number, rows, call, before);
  }
  /// The weighted sum of the rows of each token's choices, in the order of the choices.
  template <class T, std::size_t Rank, class Weight>
  pooled_tensor<T, Rank> sum_returned_rows(pooled_tensor<T, Rank> returned, Weight weight) const {
    std::array<std::size_t, Rank> shape{};
    std::copy(returned.shape().begin(), returned.shape().end(), shape.begin());
    const std::size_t choices = shape[0], width = detail::row_elements(returned.shape());
    shape[0] = tokens();
    auto y = make_pooled<T, Rank>(*movement_.memory(), shape);
    for (std::size_t k = 0; k < choices; ++k)
      for (std::size_t e = 0; e < width; ++e) {
        T& sum = y.data()[k / experts_per_token_ * width + e];
        const T term = static_cast<T>(weight(k) * returned.data()[k * width + e]);
        sum = k % experts_per_token_ == 0 ? term : static_cast<T>(sum + term);
      }
    return y;
  }
  /// Sets an error unless `actual_count` equals the required number `wanted`.
  void expect_count(detail::local_error& found_error, const char* call, const char* what, std::size_t actual_count,
                    std::size_t wanted) const {
    if (found_error.any() || actual_count == wanted) return;
    found_error = detail::local_error(text(call_texts.call) << call << ": requires " << what << ", " << wanted
                                                            << " on worker " << movement_.state().id() << ", got "
                                                            << actual_count << "; dimension 0 numbers tokens or rows");
  }

  template <class X>
  static consteval bool accepts_block() {  ///< whether X is a block of rows that can be added
    constexpr bool has_rows = detail::has_summable_elements<X>() && !detail::has_rank<X, 0>();
    static_assert(has_rows,
                  "partita::token_dispatcher: requires an xtensor expression whose rank is part of its type and 1 or "
                  "more, of elements that MPI can move and that can be summed, as float or double; as_rank<1>(v) gives "
                  "the rank to a std::vector");
    return has_rows;
  }
  template <class Y, class Other>
  static consteval bool accepts_real_elements() {  ///< whether both have floating-point elements of one type
    if constexpr (accepts_block<Y>() && accepts_block<Other>()) {
      constexpr bool real = std::floating_point<element_of<Y>> && std::is_same_v<element_of<Y>, element_of<Other>>;
      static_assert(real,
                    "partita::token_dispatcher::combine(y, weights), combine_adjoint(y, weights, dz): requires "
                    "floating-point elements of one type; xt::cast<float>(weights) makes them");
      return real;
    } else {
      return false;
    }
  }
  template <class Y, class Dz>
  static consteval bool is_same_rank() {  ///< whether both have one rank; if not, a compile-time error
    static_assert(rank_of<Y> == rank_of<Dz>,
                  "partita::token_dispatcher::combine_adjoint(y, weights, dz): requires y and dz of one rank");
    return rank_of<Y> == rank_of<Dz>;
  }

  interval experts_;                    ///< the experts of this worker
  std::size_t experts_per_token_;       ///< the number of choices that each token makes
  std::vector<std::size_t> first_row_;  ///< the first row of each expert of this worker, and the number of all rows
  mutable detail::index_movement movement_;  ///< moves the rows; mutable, because a call caches plans
};

}  // namespace partita
