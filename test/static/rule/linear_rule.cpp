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

static_assert(judge_linear(p<1, 3>, p<1, 3>, p<3, dynamic>, column_parallel) &&
              judge_linear(p<1, 3>, p<1, 3>, p<dynamic, 3>, row_parallel));

// what an error names if a rule is violated: the partition, its dimension, the extent there, and the one that is
// required
constexpr bool tells(const linear_verdict& v, reason why, bool output, std::size_t dimension, std::size_t extent,
                     std::size_t required_extent) {
  return v.why == why && v.output == output && v.dimension == dimension && v.extent == extent &&
         v.required_extent == required_extent;
}
static_assert(tells(judge_linear(p<1, 5, 4>, p<2, 3>, p<3, 4>), reason::batch_is_cut, false, 1, 5, 1));
static_assert(tells(judge_linear(p<1, 4>, p<6, 1, 3>, p<3, 4>), reason::batch_is_cut, true, 0, 6, 1));
static_assert(tells(judge_linear(p<1, 5>, p<1, 2>, p<3, 4>), reason::features_differ, false, 1, 5, 4));
static_assert(tells(judge_linear(p<4>, p<1, 1, 2>, p<3, 4>), reason::features_differ, true, 2, 2, 3));
static_assert(tells(judge_linear(p<1, 4>, p<>, p<3, 4>), reason::no_features, true, 0, 0, 0));
static_assert(tells(judge_linear(p<1, 4>, p<1, 3>, p<3, 4, 5>), reason::weight_rank, false, 0, 3, 2));
static_assert(tells(judge_linear(p<1, 3>, p<1, 3>, p<3, 2>, column_parallel), reason::weights_cut_both_ways, false, 1,
                    2, 1));
static_assert(tells(judge_linear(p<1, 3>, p<1, 3>, p<5, 3>, row_parallel), reason::weights_cut_both_ways, false, 0, 5,
                    1));
static_assert(tells(judge_linear(p<1, 2>, p<1, 2>, p<3, 1>, column_parallel), reason::features_differ, false, 1, 2, 3));
static_assert(tells(judge_linear(p<1, 3>, p<1, 2>, p<1, 3>, row_parallel), reason::features_differ, true, 1, 2, 3));

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
static_assert(told(p<1, 4>, p<>, p<3, 4>).contains(": p_y has no dimension for the features"));
static_assert(told(p<1, 3>, p<1, 3>, p<1, 2>, column_parallel) ==
              "partita::linear<T, column_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and "
              "p_w = f x 1 on the same workers, got p_x = [1, 3], p_y = [1, 3], p_w = [1, 2]: p_w cuts the input "
              "features into 2; choose p_w with 1 column, or weight_stationary");
static_assert(told(p<1, 3>, p<1, 3>, p<2, 1>, row_parallel) ==
              "partita::linear<T, row_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and "
              "p_w = 1 x f on the same workers, got p_x = [1, 3], p_y = [1, 3], p_w = [2, 1]: p_w cuts the output "
              "features into 2; choose p_w with 1 row, or weight_stationary");

}  // namespace
