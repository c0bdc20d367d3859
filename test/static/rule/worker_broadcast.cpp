// Worker broadcast for all shapes of up to three dimensions with extents 1 to 3 and both transpositions: compares the
// result of the check and the pairs with an independent implementation of DistDL's document.
//
// The document: a dimension broadcasts where the small extent matches the large one or is 1; rank(small) <=
// rank(large), and the small shape is extended to the left with ones; a transposition reverses a shape before that.
// Workers of a partition are numbered in C order, and a transposition changes the shape, not the numbers.
#include <partita/rule/worker_broadcast.hpp>

using namespace partita;

namespace {

using reason = worker_broadcast_verdict::reason;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

// --- the document, by force ---

/// A shape as the rule sees it: reversed, then extended on the left with ones.
template <std::size_t Rank, std::size_t R>
constexpr shape<R> seen(shape<Rank> given, bool transposed) {
  shape<R> all{};
  for (std::size_t d = 0; d < R; ++d) {
    const std::size_t missing = R - Rank;
    all[d] = d < missing ? 1 : given[transposed ? Rank - 1 - (d - missing) : d - missing];
  }
  return all;
}

/// What the rule says; all extents are known.
template <std::size_t S, std::size_t L>
constexpr reason verdict_of_the_document(shape<S> small, shape<L> large, bool transpose_small, bool transpose_large) {
  if constexpr (S > L) {
    return reason::small_rank_exceeds_large;
  } else {
    const auto s = seen<S, L>(small, transpose_small), l = seen<L, L>(large, transpose_large);
    for (std::size_t d = 0; d < L; ++d)
      if (s[d] != l[d] && s[d] != 1) return reason::extents_differ;
    return reason::legal;
  }
}

/// Whether two large workers receive from the same small worker: their positions are equal in every dimension in which
/// the small partition has more than one worker.
template <std::size_t S, std::size_t L>
struct by_force {
  shape<L> large;
  shape<L> cut_here{};  // 1 where the small partition distinguishes the large workers

  constexpr by_force(shape<S> small, shape<L> large_shape, bool transpose_small, bool transpose_large)
      : large(large_shape) {
    const auto s = seen<S, L>(small, transpose_small);
    for (std::size_t d = 0; d < L; ++d) cut_here[transpose_large ? L - 1 - d : d] = s[d] == 1 ? 0 : 1;
  }
  /// -1, 0 or 1: the order of two large workers, by the dimensions that the small partition distinguishes.
  constexpr int compare(const shape<L>& a, const shape<L>& b) const {
    for (std::size_t d = 0; d < L; ++d)
      if (cut_here[d] == 1 && a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
    return 0;
  }
  /// The next position in C order.
  constexpr void advance(shape<L>& i) const {
    for (std::size_t d = L; d-- > 0;) {
      if (++i[d] < large[d]) return;
      i[d] = 0;
    }
  }
  constexpr std::size_t workers() const {
    std::size_t n = 1;
    for (const std::size_t extent : large) n *= extent;
    return n;
  }
};

/// Checks small_partner, large_partner and large_workers_per_small against a loop over all large workers:
/// the k-th group in C order receives from small worker k, and the members of a group are in C order.
template <std::size_t S, std::size_t L>
constexpr bool pairs_as_the_document(shape<S> small, shape<L> large, bool transpose_small, bool transpose_large) {
  const by_force<S, L> force(small, large, transpose_small, transpose_large);
  const worker_pairing<L> pairing(small, large, transpose_small, transpose_large);
  std::size_t small_workers = 1, heard = 0, next = 0;
  for (const std::size_t extent : small) small_workers *= extent;
  const std::size_t n = force.workers();
  shape<L> first{};
  for (std::size_t p = 0; p < n; ++p, force.advance(first)) {
    // who is before it, and is it the first of its group?
    bool leads = true;
    shape<L> other{};
    for (std::size_t q = 0; q < p && leads; ++q, force.advance(other)) leads = force.compare(other, first) != 0;
    if (!leads) continue;
    std::size_t members = 0, lower = 0;
    other = {};
    for (std::size_t q = 0; q < n; ++q, force.advance(other)) {
      const int order = force.compare(other, first);
      if (order < 0) ++lower;
      if (order != 0) continue;
      if (pairing.small_partner(other) != next || pairing.large_partner(next, members) != q) return false;
      ++members;
    }
    if (members != pairing.large_workers_per_small() || lower != next * members) return false;
    heard += members;
    ++next;
  }
  return next == small_workers && heard == n;
}

// --- all small shapes ---

constexpr std::size_t shapes_of(std::size_t rank) { return rank == 0 ? 1 : 3 * shapes_of(rank - 1); }
template <std::size_t Rank>
constexpr shape<Rank> shape_number(std::size_t number) {
  shape<Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d, number /= 3) all[d] = 1 + number % 3;
  return all;
}

/// All small shapes of rank S against one large shape.
template <std::size_t S, std::size_t L, std::size_t Number, bool TransposeSmall, bool TransposeLarge>
constexpr bool all_small_shapes() {
  constexpr shape<L> large = shape_number<L>(Number);
  for (std::size_t k = 0; k < shapes_of(S); ++k) {
    const auto small = shape_number<S>(k);
    const auto verdict = judge_worker_broadcast(small, large, TransposeSmall, TransposeLarge);
    if (verdict.why != verdict_of_the_document<S, L>(small, large, TransposeSmall, TransposeLarge)) return false;
    if (verdict.small_rank != S || verdict.large_rank != L || verdict.reduction) return false;
    if constexpr (S <= L) {
      if (verdict && !pairs_as_the_document<S, L>(small, large, TransposeSmall, TransposeLarge)) return false;
      if (verdict.why == reason::extents_differ) {  // the first dimension that breaks the rule, and what stands there
        const auto s = seen<S, L>(small, TransposeSmall), l = seen<L, L>(large, TransposeLarge);
        const std::size_t d = verdict.dimension;
        if (s[d] == 1 || s[d] == l[d] || verdict.small_extent != s[d] || verdict.large_extent != l[d]) return false;
        for (std::size_t before = 0; before < d; ++before)
          if (s[before] != 1 && s[before] != l[before]) return false;
      }
    }
  }
  return true;
}
template <std::size_t S, std::size_t L, bool TransposeSmall, bool TransposeLarge, std::size_t... Number>
constexpr bool all_shapes(std::index_sequence<Number...>) {
  // each a constant expression of its own: compilers bound the steps of one
  return (std::bool_constant<all_small_shapes<S, L, Number, TransposeSmall, TransposeLarge>()>::value && ...);
}
template <std::size_t S, std::size_t L>
constexpr bool as_documented = all_shapes<S, L, false, false>(std::make_index_sequence<shapes_of(L)>()) &&
                               all_shapes<S, L, true, false>(std::make_index_sequence<shapes_of(L)>()) &&
                               all_shapes<S, L, false, true>(std::make_index_sequence<shapes_of(L)>()) &&
                               all_shapes<S, L, true, true>(std::make_index_sequence<shapes_of(L)>());

static_assert(as_documented<0, 0> && as_documented<0, 1> && as_documented<0, 2> && as_documented<0, 3>);
static_assert(as_documented<1, 0> && as_documented<1, 1> && as_documented<1, 2> && as_documented<1, 3>);
static_assert(as_documented<2, 0> && as_documented<2, 1> && as_documented<2, 2> && as_documented<2, 3>);
static_assert(as_documented<3, 0> && as_documented<3, 1> && as_documented<3, 2> && as_documented<3, 3>);

// --- the corners, one by one ---

/// The verdict's reason for literal shapes.
template <std::size_t S, std::size_t L>
constexpr reason why(const std::size_t (&small)[S], const std::size_t (&large)[L], bool transpose_small = false,
                     bool transpose_large = false) {
  return judge_worker_broadcast(index_from<S>(small), index_from<L>(large), transpose_small, transpose_large).why;
}
static_assert(why({2}, {2, 3}) == reason::extents_differ);  // extended on the left: 2 meets 3
static_assert(why({3}, {2, 3}) == reason::legal);
static_assert(why({2}, {2, 3}, false, true) == reason::legal);          // the large shape is seen as 3 x 2
static_assert(why({3, 4}, {2, 3, 4}, true) == reason::extents_differ);  // reversed, then extended: 1 x 4 x 3
static_assert(why({4, 3}, {2, 3, 4}, true) == reason::legal);
static_assert(why({3, 1}, {3, 4}, true, true) == reason::legal);  // 1 x 3 against 4 x 3
static_assert(why({1, 3}, {3, 4}, true, false) == reason::legal);
static_assert(why({2, 2}, {2}) == reason::small_rank_exceeds_large);
static_assert(why({1, 1}, {1}) == reason::small_rank_exceeds_large);  // also where ones could be taken away

// what is not known yet breaks no rule; what is known does
static_assert(why({dynamic}, {2}) == reason::legal && why({2}, {dynamic}) == reason::legal);
static_assert(why({dynamic, 2}, {4, 3}) == reason::extents_differ);
static_assert(judge_static_broadcast<extents<dynamic, 1>, extents<3, 4>>(false, false));
static_assert(judge_static_broadcast<extents<1, 3>, extents<3, 4>>(true, false));
static_assert(!judge_static_broadcast<extents<1, 3>, extents<3, 4>>(false, false));

// a transposition of the destination pairs by numbers: worker r of 4 x 1 is the r-th of the columns of 3 x 4
constexpr worker_pairing<2> columns(shape<2>{4, 1}, shape<2>{3, 4}, false, true);
static_assert(columns.large_workers_per_small() == 3);
static_assert(columns.small_partner({0, 2}) == 2 && columns.small_partner({2, 2}) == 2 &&
              columns.small_partner({2, 3}) == 3);
static_assert(columns.large_partner(2, 0) == 2 && columns.large_partner(2, 1) == 6 &&
              columns.large_partner(2, 2) == 10);

// the pairing by given dimensions is that of the shapes that match there
constexpr worker_pairing<3> given(shape<3>{2, 3, 4}, {false, true, false});
constexpr worker_pairing<3> matched(shape<2>{3, 1}, shape<3>{2, 3, 4}, false, false);
constexpr bool same_pairing() {
  for (std::size_t k = 0; k < 24; ++k) {
    const auto i = index_of(k, shape<3>{2, 3, 4});
    if (given.small_partner(i) != matched.small_partner(i) ||
        given.large_partner(k % 3, k / 3) != matched.large_partner(k % 3, k / 3))
      return false;
  }
  return given.large_workers_per_small() == 8 && matched.large_workers_per_small() == 8;
}
static_assert(same_pairing());

// the sentences: both shapes, the dimension, and the way out, in the words of the call that was made
template <std::size_t S, std::size_t L>
constexpr text told(const shape<S>& small, const shape<L>& large, bool transpose_small, bool transpose_large,
                    bool reduction) {
  return explain_verdict(judge_worker_broadcast(small, large, transpose_small, transpose_large, reduction), small,
                         large, transpose_small, transpose_large);
}
static_assert(told(shape<2>{1, 3}, shape<2>{3, 1}, false, false, false) ==
              "partita::broadcast(p_x, p_y): requires every extent of p_x, extended on the left with ones, to be 1 or "
              "the extent of p_y; extents of p_x are [1, 3], of p_y [3, 1]: dimension 1 has 3 against 1; pass "
              "transpose_src or transpose_dest to reverse a partition, or reshape() one of them");
static_assert(told(shape<1>{2}, shape<2>{3, 2}, false, true, true)
                  .contains("partita::sum_reduce(p_x, p_y): requires every extent of p_y"));
static_assert(told(shape<1>{2}, shape<2>{3, 2}, false, true, true)
                  .contains("of p_x [3, 2] (transposed): dimension 1 has 2 against 3"));
static_assert(told(shape<2>{2, 2}, shape<1>{2}, false, false, false) ==
              "partita::broadcast(p_x, p_y): requires rank(p_x) <= rank(p_y), got 2 and 1; use sum_reduce for the "
              "opposite direction");
static_assert(
    told(shape<2>{2, 2}, shape<1>{2}, false, false, true).contains("use broadcast for the opposite direction"));

}  // namespace
