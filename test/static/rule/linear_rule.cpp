// The linear layer: which partitions fit together under each algorithm, and the first that does not.
#include <partita/rule/linear_rule.hpp>

using namespace partita;

namespace {

using reason = linear_verdict::reason;
template <std::size_t... E>
inline constexpr std::array<std::size_t, sizeof...(E)> p{E...};

// weight_stationary: p_w = f_out x f_in
static_assert(judge_linear(p<1, 4>, p<1, 3>, p<3, 4>) && judge_linear(p<1, 1, 4>, p<3>, p<3, 4>));
static_assert(judge_linear(p<1, 3>, p<1, 3>, p<3, 4>).why == reason::features_differ);
static_assert(judge_linear(p<2, 4>, p<1, 3>, p<3, 4>).why == reason::batch_is_cut);
static_assert(judge_linear(p<1, 4>, p<2, 1, 3>, p<3, 4>).output);  // x is right, y is not
static_assert(judge_linear(p<1, 4>, p<1, 2, 3>, p<3, 4>).dimension == 1);
static_assert(judge_linear(p<>, p<1, 3>, p<3, 4>).why == reason::no_features);
static_assert(judge_linear(p<1, 4>, p<1, 3>, p<3, 4, 1>).why == reason::weight_rank);

// column_parallel: p_w = f x 1; row_parallel: p_w = 1 x f; x and y are cut alike
static_assert(judge_linear(p<1, 3>, p<1, 3>, p<3, 1>, column_parallel));
static_assert(judge_linear(p<1, 3>, p<1, 3>, p<1, 3>, row_parallel));
static_assert(judge_linear(p<1, 3>, p<1, 3>, p<1, 3>, column_parallel).why == reason::weights_cut_both_ways);
static_assert(judge_linear(p<1, 3>, p<1, 3>, p<3, 1>, row_parallel).dimension == 0);
static_assert(judge_linear(p<1, 3>, p<1, 2>, p<3, 1>, column_parallel).output);

// what is not known yet breaks no rule
static_assert(judge_linear(p<1, dynamic>, p<dynamic, 3>, p<3, 4>) &&
              judge_linear(p<1, 4>, p<1, 3>, p<dynamic, dynamic>));

// the sentences say what the algorithm asks for, all three partitions, and which of them to change
template <std::size_t X, std::size_t Y, std::size_t W>
constexpr text told(const std::array<std::size_t, X>& x, const std::array<std::size_t, Y>& y,
                    const std::array<std::size_t, W>& w, linear_algorithm algorithm = weight_stationary) {
  return explain_verdict(judge_linear(x, y, w, algorithm), x, y, w, algorithm);
}
static_assert(told(p<1, 4>, p<1, 2>, p<3, 4>) ==
              "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x "
              "f_in, got p_x = [1, 4], p_y = [1, 2], p_w = [3, 4]: p_y cuts the features into 2, p_w into 3; choose "
              "p_y with 3 in its last dimension, or another p_w");
static_assert(told(p<2, 4>, p<1, 3>, p<3, 4>).contains("p_x cuts dimension 0, a batch dimension, into 2"));
static_assert(told(p<>, p<1, 3>, p<3, 4>).contains("p_x has no dimension for the features"));
static_assert(told(p<1, 4>, p<1, 3>, p<3>).contains("rank(p_w) is 1, not 2"));
static_assert(told(p<1, 3>, p<1, 3>, p<1, 3>, column_parallel).contains("choose p_w with 1 column"));
static_assert(told(p<1, 3>, p<1, 3>, p<3, 1>, row_parallel).contains("linear<T, row_parallel>"));

}  // namespace
