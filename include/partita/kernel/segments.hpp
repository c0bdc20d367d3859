// Sums, means, maxima and softmax over segments: rows of all workers that have the same segment number.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <partita/array/real_part.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/index_movement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/index_list.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// Reduces rows by their segments, for example the edges of a graph by their target nodes, as in `segments to(everyone,
/// nodes, target_of_edges); auto y = to.sum(x);`. A worker owns some segments and has rows of any segments. Collective.
/// Shapes:   x has one row (index of dimension 0) for each entry of `segment_of_rows`, and any further dimensions; a
///           result by segment has one row for each entry of `owned`.
/// Requires: what index_exchange(everyone, owned, segment_of_rows) requires.
/// Cost:     `rows`, `sum`, `mean`, `mean_adjoint` and `maximum` take one index exchange each, in which at most one row
///           per segment travels between two workers; `maximum_adjoint` takes three exchanges, `softmax` four,
///           `softmax_adjoint` two. The constructor makes an index exchange and one sum.
/// Adjoint:  `sum` and `rows` are adjoint to each other; the others are `mean_adjoint`, `maximum_adjoint`,
///           `softmax_adjoint`.
class segments {
 public:
  /// Collective. `owned` and `segment_of_rows` are segment numbers, for this worker: `interval{first, last}`, or a
  /// container of integers. `balanced_part(number, everyone.size(), everyone.id())` distributes the segments evenly.
  segments(const world& everyone, const index_list& owned, const index_list& segment_of_rows)
      : movement_(detail::index_planner(everyone, owned, segment_of_rows, call_texts)) {
    const xt::xtensor<std::size_t, 1> ones = xt::ones<std::size_t>({segment_of_rows.size()});
    const auto sums = movement_.combine<sum_t>(sum_call_number, ones, ".sizes()");
    sizes_.assign(sums.begin(), sums.end());
  }

  PARTITA_FALLBACK_CONSTRUCTOR(segments) {
    static_assert(detail::dependent_false<Given...>,
                  "partita::segments(everyone, owned, segment_of_rows): requires the world first, then the segments "
                  "that this worker owns and that of each of its rows: interval{first, last}, or a container of "
                  "integers");
  }

  /// The number of rows that each segment of this worker has on all workers together.
  const std::vector<std::size_t>& sizes() const { return sizes_; }
  /// The number of rows of x on this worker: of the entries of `segment_of_rows`.
  std::size_t rows_of_argument() const { return movement_.pattern().wanted_count; }
  std::size_t rows_of_result() const { return movement_.pattern().owned_count; }  ///< The number of owned segments.
  /// What this worker exchanges in `rows` and, in the opposite direction, in `sum`, if rows have `row_elements`
  /// elements. Cost: no communication.
  exchange_plan<2> plan(std::size_t row_elements = 1) const { return movement_.planner().plan(row_elements); }

  /// Returns, for each row of this worker, the row of y that belongs to the row's segment. `rows` is the adjoint of
  /// `sum`.
  template <class Y>
  auto rows(const Y& y) const {
    if constexpr (accepts_block<Y>()) return movement_.copy(rows_call_number, y, ".rows(y)");
    else return detail::rejected_call();
  }
  /// The sum of the rows of each segment; it is 0 for a segment without rows. Its adjoint is `rows`.
  template <class X>
  auto sum(const X& x) const {
    if constexpr (accepts_summable_rows<X>()) return movement_.combine<sum_t>(sum_call_number, x, ".sum(x)");
    else return detail::rejected_call();
  }
  /// The mean of the rows of each segment; it is 0 for a segment without rows.
  template <class X>
  auto mean(const X& x) const {
    if constexpr (accepts_floating_elements<X>()) {
      auto y = movement_.combine<sum_t>(mean_call_number, x, ".mean(x)");
      divide_by_sizes(y);
      return y;
    } else {
      return detail::rejected_call();
    }
  }
  /// The adjoint of mean: each row gets dy of its segment, divided by the size of the segment.
  template <class Y>
  auto mean_adjoint(const Y& dy) const {
    if constexpr (accepts_floating_elements<Y>()) {
      xt::xtensor<element_of<Y>, rank_of<Y>> share = dy;
      if (share.shape(0) == rows_of_result()) divide_by_sizes(share);
      return movement_.copy(mean_adjoint_call_number, share, ".mean_adjoint(dy)");
    } else {
      return detail::rejected_call();
    }
  }
  /// The maximum of the rows of each segment; for a segment without rows it is minus infinity or the least integer.
  template <class X>
  auto maximum(const X& x) const {
    if constexpr (accepts_ordered_elements<X>())
      return movement_.combine<maximum_t>(maximum_call_number, x, ".maximum(x)");
    else return detail::rejected_call();
  }
  /// The adjoint of y = maximum(x): each row that equals the maximum of its segment gets an equal share of dy.
  template <class X, class Y, class Dy>
  auto maximum_adjoint(const X& x, const Y& y, const Dy& dy) const {
    if constexpr (accepts_real_elements<X>() && have_equal_types<X, Y>() && have_equal_types<X, Dy>()) {
      using T = element_of<X>;
      constexpr const char* call = ".maximum_adjoint(x, y, dy)";
      xt::xtensor<T, rank_of<X>> equal = x, share = dy;
      const xt::xtensor<T, rank_of<X>> largest = y;
      detail::local_error found_error;
      expect_block_shape(found_error, call, "x", equal.shape(), rows_of_argument(), equal.shape());
      expect_block_shape(found_error, call, "y", largest.shape(), rows_of_result(), equal.shape());
      expect_block_shape(found_error, call, "dy", share.shape(), rows_of_result(), equal.shape());
      const auto most = movement_.copy(maximum_adjoint_call_number, largest, call, found_error);
      for (std::size_t k = 0; k < equal.size(); ++k) {
        const T a = equal.data()[k], b = most.data()[k];
        equal.data()[k] = T(a == b || (a != a && b != b) ? 1 : 0);
      }
      const auto count = movement_.combine<sum_t>(sum_call_number, equal, call);
      for (std::size_t k = 0; k < share.size(); ++k) share.data()[k] /= count.data()[k];
      auto dx = movement_.copy(rows_call_number, share, call);
      for (std::size_t k = 0; k < dx.size(); ++k)
        if (equal.data()[k] == T(0)) dx.data()[k] = T(0);
      return dx;
    } else {
      return detail::rejected_call();
    }
  }
  /// The softmax of each segment: exp(x) divided by its sum over the rows of the same segment, element by element,
  /// without overflow, as for weights of attention in a graph. The result has the shape of x.
  template <class X>
  auto softmax(const X& x) const {
    if constexpr (accepts_real_elements<X>()) {
      constexpr const char* call = ".softmax(x)";
      xt::xtensor<element_of<X>, rank_of<X>> y = x;
      const auto most =
          movement_.copy(rows_call_number, movement_.combine<maximum_t>(softmax_call_number, y, call), call);
      for (std::size_t k = 0; k < y.size(); ++k) y.data()[k] = std::exp(y.data()[k] - most.data()[k]);
      const auto whole = movement_.copy(rows_call_number, movement_.combine<sum_t>(sum_call_number, y, call), call);
      for (std::size_t k = 0; k < y.size(); ++k) y.data()[k] /= whole.data()[k];
      return y;
    } else {
      return detail::rejected_call();
    }
  }
  /// The adjoint of y = softmax(x): returns y * (dy - s), where s is the sum of y * dy over the rows of the same
  /// segment.
  template <class Y, class Dy>
  auto softmax_adjoint(const Y& y, const Dy& dy) const {
    if constexpr (accepts_real_elements<Y>() && have_equal_types<Y, Dy>()) {
      constexpr const char* call = ".softmax_adjoint(y, dy)";
      const xt::xtensor<element_of<Y>, rank_of<Y>> weight = y, given = dy;
      detail::local_error found_error;
      expect_block_shape(found_error, call, "y", weight.shape(), rows_of_argument(), weight.shape());
      expect_block_shape(found_error, call, "dy", given.shape(), rows_of_argument(), weight.shape());
      xt::xtensor<element_of<Y>, rank_of<Y>> dx = weight;
      for (std::size_t k = 0; k < dx.size() && !found_error.any(); ++k) dx.data()[k] *= given.data()[k];
      const auto whole = movement_.copy(
          rows_call_number, movement_.combine<sum_t>(softmax_adjoint_call_number, dx, call, found_error), call);
      for (std::size_t k = 0; k < dx.size(); ++k) dx.data()[k] = weight.data()[k] * (given.data()[k] - whole.data()[k]);
      return dx;
    } else {
      return detail::rejected_call();
    }
  }

 private:
  /// Texts for the error messages of the index exchange.
  static constexpr detail::index_call_texts call_texts{"partita::segments(everyone, owned, segment_of_rows)",
                                                       "segment that its worker owns", "entry of segment_of_rows"};
  /// Identifies the first exchange of a call; all workers compare this number.
  enum call_number : std::uint64_t {
    rows_call_number = 1,         ///< For `rows`.
    sum_call_number,              ///< For `sum`.
    mean_call_number = 6,         ///< For `mean`.
    mean_adjoint_call_number,     ///< For `mean_adjoint`.
    maximum_call_number,          ///< For `maximum`.
    maximum_adjoint_call_number,  ///< For `maximum_adjoint`.
    softmax_call_number,          ///< For `softmax`.
    softmax_adjoint_call_number   ///< For `softmax_adjoint`.
  };

  /// Divides each row by the size of its segment.
  template <class Y>
  void divide_by_sizes(Y& y) const {
    const std::size_t width = sizes_.empty() ? 0 : y.size() / sizes_.size();
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      for (std::size_t e = 0; e < width && sizes_[i] != 0; ++e)
        y.data()[i * width + e] /= static_cast<detail::real_of<element_of<Y>>>(sizes_[i]);
  }
  /// Sets an error if a block does not have `rows` rows of the shape of another block's rows.
  template <class Shape>
  void expect_block_shape(detail::local_error& found_error, const char* call, const char* name, const Shape& shape,
                          std::size_t rows, Shape wanted) const {
    wanted[0] = rows;
    if (!found_error.any() && shape != wanted)
      found_error =
          detail::local_error(text(call_texts.call) << call << ": requires " << name << " of shape " << wanted
                                                    << ", got " << shape << " on worker " << movement_.state().id()
                                                    << "; dimension 0 numbers the rows of x, of y the segments");
  }

  template <class X>
  static consteval bool accepts_block() {  ///< whether X is a block of rows that can be moved
    constexpr bool has_rows = detail::has_known_rank<X>() && !detail::has_rank<X, 0>();
    static_assert(has_rows,
                  "partita::segments: requires an xtensor expression whose rank is part of its type and 1 or more, "
                  "whose dimension 0 numbers the rows; as_rank<1>(v) gives it to a std::vector");
    static_assert(!has_rows || detail::has_addressable_elements<X>(),
                  "partita::segments: requires elements that MPI can move and that are trivially copyable: arithmetic, "
                  "std::complex, or a type declared with moves_as_bytes");
    return has_rows && detail::has_addressable_elements<X>();
  }
  template <class X>
  static consteval bool accepts_summable_rows() {  ///< whether X is a block of rows that can be added
    if constexpr (accepts_block<X>()) {
      static_assert(detail::has_summable_elements<X>(), PARTITA_REQUIRES_SUMMABLE("partita::segments::sum(x)"));
      return detail::has_summable_elements<X>();
    } else {
      return false;
    }
  }
  template <class X>
  static consteval bool accepts_floating_elements() {  ///< whether X has real or complex floating-point elements
    if constexpr (accepts_block<X>()) {
      constexpr bool divides = std::floating_point<element_of<X>> || detail::is_complex<element_of<X>>;
      static_assert(divides,
                    "partita::segments::mean(x), mean_adjoint(dy): requires elements that can be divided, as float, "
                    "double or std::complex of them; xt::cast<double>(x) makes them");
      return divides;
    } else {
      return false;
    }
  }
  template <class X>
  static consteval bool accepts_ordered_elements() {  ///< whether X has elements that have a maximum
    if constexpr (accepts_block<X>()) {
      constexpr bool has_order = maximum_t::takes<element_of<X>>;
      static_assert(has_order,
                    "partita::segments::maximum(x): requires numbers that have an order; complex ones have "
                    "none");
      return has_order;
    } else {
      return false;
    }
  }
  template <class X>
  static consteval bool accepts_real_elements() {  ///< whether X has real floating-point elements
    if constexpr (accepts_block<X>()) {
      constexpr bool is_real = std::floating_point<element_of<X>>;
      static_assert(is_real,
                    "partita::segments::softmax(x), softmax_adjoint(y, dy), maximum_adjoint(x, y, dy): requires "
                    "floating-point elements; xt::cast<double>(x) makes them");
      return is_real;
    } else {
      return false;
    }
  }
  template <class X, class Other>
  static consteval bool have_equal_types() {  ///< whether both arguments have one rank and one element type
    constexpr bool same = [] {
      if constexpr (ranked_array<Other>)
        return rank_of<Other> == rank_of<X> && std::is_same_v<element_of<Other>, element_of<X>>;
      else return false;
    }();
    static_assert(
        same,
        "partita::segments::softmax_adjoint(y, dy), maximum_adjoint(x, y, dy): requires arguments of one rank "
        "and one element type");
    return same;
  }

  mutable detail::index_movement movement_;  ///< moves the rows; mutable, because a call caches plans
  std::vector<std::size_t> sizes_;           ///< the rows that each segment of this worker has on all workers
};

}  // namespace partita
