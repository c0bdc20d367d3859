// The rule of the linear layer: which partitions of x, y and the weights fit together.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>
#include <partita/core/text.hpp>

namespace partita {

/// How a linear layer distributes y = x W^T + b over workers.
enum class linear_algorithm {
  /// W is split in both dimensions: x is broadcast to the workers of W, and the products are summed; p_w = f_out x
  /// f_in, p_x = 1 x … x f_in, p_y = 1 x … x f_out
  weight_stationary,
  /// W is split along the output features: every worker gathers the whole x; p_w = f x 1, p_x = p_y = 1 x … x f, same
  /// workers
  column_parallel,
  /// W is split along the input features: the products are summed and scattered; p_w = 1 x f, p_x = p_y = 1 x … x f,
  /// same workers
  row_parallel
};
using enum linear_algorithm;

/// The result of checking the partitions of a linear layer.
struct linear_verdict {
  /// What is wrong. weight_rank: p_w is not of rank 2; weights_cut_both_ways: column_parallel, but p_w cuts the input
  /// features, or row_parallel, but p_w cuts the output features; no_features: p_x or p_y has rank 0; batch_is_cut: p_x
  /// or p_y cuts another dimension than the last; features_differ: p_x or p_y does not cut the features as p_w does.
  enum class reason { legal, weight_rank, weights_cut_both_ways, no_features, batch_is_cut, features_differ };

  reason why = reason::legal;       ///< the rule that is violated, or `legal`
  bool output = false;              ///< the partition that violates the rule is p_y (otherwise p_x or p_w)
  std::size_t dimension = 0;        ///< the dimension of the partition that violates the rule
  std::size_t extent = 0;           ///< the extent of the partition along `dimension`
  std::size_t required_extent = 0;  ///< the extent that the rule requires along `dimension`

  constexpr explicit operator bool() const { return why == reason::legal; }
};

/// Checks the extents of the partitions of a linear layer; an entry that is `dynamic` violates no rule yet.
template <std::size_t X, std::size_t Y, std::size_t W>
constexpr linear_verdict judge_linear(const std::array<std::size_t, X>& x, const std::array<std::size_t, Y>& y,
                                      const std::array<std::size_t, W>& w,
                                      linear_algorithm algorithm = weight_stationary) {
  using reason = linear_verdict::reason;
  if constexpr (W != 2) {
    return {.why = reason::weight_rank, .extent = W, .required_extent = 2};
  } else {
    const auto side = [](const auto& p, std::size_t feature_count, bool output) -> linear_verdict {
      const std::size_t rank = p.size();
      if (rank == 0) return {.why = reason::no_features, .output = output};
      for (std::size_t d = 0; d + 1 < rank; ++d)
        if (p[d] != 1 && p[d] != dynamic)
          return {.why = reason::batch_is_cut, .output = output, .dimension = d, .extent = p[d], .required_extent = 1};
      const std::size_t cut = p[rank - 1];
      if (cut != feature_count && cut != dynamic && feature_count != dynamic)
        return {.why = reason::features_differ,
                .output = output,
                .dimension = rank - 1,
                .extent = cut,
                .required_extent = feature_count};
      return {};
    };
    if (algorithm != weight_stationary) {
      const std::size_t whole = algorithm == column_parallel ? 1 : 0;
      if (w[whole] != 1 && w[whole] != dynamic)
        return {.why = reason::weights_cut_both_ways, .dimension = whole, .extent = w[whole], .required_extent = 1};
    }
    const linear_verdict input = side(x, w[algorithm == column_parallel ? 0 : 1], false);
    return input ? side(y, w[algorithm == row_parallel ? 1 : 0], true) : input;
  }
}

/// Writes the call of a linear layer for an error message, with its requirements on the partitions.
constexpr text linear_call(linear_algorithm algorithm) {
  switch (algorithm) {
    case column_parallel:
      return "partita::linear<T, column_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and "
             "p_w = f x 1 on the same workers";
    case row_parallel:
      return "partita::linear<T, row_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and p_w = "
             "1 x f on the same workers";
    case weight_stationary:
      break;
  }
  return "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in";
}

template <std::size_t X, std::size_t Y, std::size_t W>
constexpr text explain_verdict(const linear_verdict& verdict, const std::array<std::size_t, X>& x,
                               const std::array<std::size_t, Y>& y, const std::array<std::size_t, W>& w,
                               linear_algorithm algorithm = weight_stationary) {
  using reason = linear_verdict::reason;
  text sentence = linear_call(algorithm);
  sentence << ", got p_x = " << x << ", p_y = " << y << ", p_w = " << w << ": ";
  const char* name = verdict.output ? "p_y" : "p_x";
  switch (verdict.why) {
    case reason::weight_rank:
      sentence << "rank(p_w) is " << verdict.extent << ", not 2";
      break;
    case reason::weights_cut_both_ways:
      sentence << "p_w cuts the " << (verdict.dimension == 1 ? "input" : "output") << " features into "
               << verdict.extent << "; choose p_w with " << (verdict.dimension == 1 ? "1 column" : "1 row")
               << ", or weight_stationary";
      break;
    case reason::no_features:
      sentence << name << " has no dimension for the features";
      break;
    case reason::batch_is_cut:
      sentence << name << " cuts dimension " << verdict.dimension << ", a batch dimension, into " << verdict.extent
               << "; repartition x before the layer";
      break;
    case reason::features_differ:
      sentence << name << " cuts the features into " << verdict.extent << ", p_w into " << verdict.required_extent
               << "; choose " << name << " with " << verdict.required_extent
               << " in its last dimension, or another p_w";
      break;
    case reason::legal:
      break;
  }
  return sentence;
}

}  // namespace partita
