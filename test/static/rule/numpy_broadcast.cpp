// NumPy's rule, for any number of operands.
#include <array>
#include <partita/rule/broadcast_sentence.hpp>
#include <partita/rule/numpy_broadcast.hpp>

using namespace partita;

namespace {

template <std::size_t N>
constexpr auto judged(const std::array<shape_list, N>& operands) {
  return judge_numpy_broadcast(operands.data(), N);
}
constexpr auto numbers(const shape_list& a, const shape_list& b) { return judged(std::array{a, b}); }

// trailing dimensions meet; missing ones are 1
static_assert(numbers({2U, 3U}, {3U}).result == shape_list{2U, 3U});
static_assert(numbers({2U, 1U}, {3U}).result == shape_list{2U, 3U});
static_assert(numbers({}, {2U, 3U}).result == shape_list{2U, 3U});
static_assert(numbers({1U}, {0U}).result == shape_list{0U});
static_assert(judged(std::array<shape_list, 3>{shape_list{4U, 1U, 1U}, shape_list{3U, 1U}, shape_list{2U}}).result ==
              shape_list{4U, 3U, 2U});

// what does not fit names the dimension of the result
static_assert(numbers({2U, 3U}, {2U}).verdict == broadcast_verdict{broadcast_fault::incompatible_shapes, 1});
static_assert(numbers({5U, 2U, 3U}, {4U, 1U, 3U}).verdict.at == 0);
static_assert(judge_numpy_broadcast<std::size_t>(nullptr, 0).verdict.fault == broadcast_fault::no_operands);

// a bound and a number are not mixed, but for a 1
using bounds = short_list<known_extent>;
constexpr std::array<bounds, 2> mixed{bounds{known_extent::with_upper_bound(3)}, bounds{known_extent(3)}};
static_assert(judge_numpy_broadcast(mixed.data(), 2).verdict.fault == broadcast_fault::mixed_bounded_and_static);
constexpr std::array<bounds, 2> with_one{bounds{known_extent::with_upper_bound(3)}, bounds{known_extent(1)}};
static_assert(judge_numpy_broadcast(with_one.data(), 2).result == bounds{known_extent::with_upper_bound(3)});

constexpr std::array<bounds, 2> mixed_behind{bounds{known_extent(2), known_extent(3)},
                                             bounds{known_extent::with_upper_bound(3)}};
static_assert(judge_numpy_broadcast(mixed_behind.data(), 2).verdict ==
              broadcast_verdict{broadcast_fault::mixed_bounded_and_static, 1});
static_assert(explain_numpy<std::size_t>({broadcast_fault::no_operands, 0}, "add", nullptr, 0) ==
              "partita::numpy::add: requires at least one operand");

constexpr std::array<shape_list, 2> wrong{shape_list{2U, 3U}, shape_list{2U}};
static_assert(explain_numpy(judged(wrong).verdict, "add", wrong.data(), 2) ==
              "partita::numpy::add: requires extents that are equal or 1 in every dimension, counted from the last; "
              "dimension 1 of the result has no extent that fits all; the shapes are [2, 3], [2]; reshape one of them "
              "first");

}  // namespace
