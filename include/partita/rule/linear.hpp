// The linear layer: which partitions of x, y and the weights fit together?
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>

namespace partita {

/// The verdict on the partitions of a linear layer: p_w is f_out x f_in, p_x is 1 x … x f_in, p_y is 1 x … x f_out.
struct linear_verdict {
  enum class reason { legal, weight_rank, no_features, batch_is_cut, features_differ };

  reason why = reason::legal;
  bool output = false;         ///< the partition that breaks the rule is p_y (else p_x)
  std::size_t dimension = 0;   ///< the dimension of that partition
  std::size_t extent = 0;      ///< its extent there
  std::size_t required = 0;    ///< what the rule asks for

  constexpr explicit operator bool() const { return why == reason::legal; }
};

/// Judges extents given as arrays; an entry that is `dynamic` is not known yet and breaks no rule.
template <std::size_t X, std::size_t Y, std::size_t W>
constexpr linear_verdict judge_linear(const std::array<std::size_t, X>& x, const std::array<std::size_t, Y>& y,
                                      const std::array<std::size_t, W>& w) {
  using reason = linear_verdict::reason;
  if constexpr (W != 2) {
    return {.why = reason::weight_rank, .extent = W, .required = 2};
  } else {
    const auto side = [](const auto& p, std::size_t features, bool output) -> linear_verdict {
      const std::size_t rank = p.size();
      if (rank == 0) return {.why = reason::no_features, .output = output};
      for (std::size_t d = 0; d + 1 < rank; ++d)
        if (p[d] != 1 && p[d] != dynamic)
          return {.why = reason::batch_is_cut, .output = output, .dimension = d, .extent = p[d], .required = 1};
      const std::size_t cut = p[rank - 1];
      if (cut != features && cut != dynamic && features != dynamic)
        return {.why = reason::features_differ, .output = output, .dimension = rank - 1, .extent = cut, .required = features};
      return {};
    };
    const linear_verdict input = side(x, w[1], false);
    return input ? side(y, w[0], true) : input;
  }
}

template <std::size_t X, std::size_t Y, std::size_t W>
constexpr text explain_verdict(const linear_verdict& verdict, const std::array<std::size_t, X>& x,
                               const std::array<std::size_t, Y>& y, const std::array<std::size_t, W>& w) {
  using reason = linear_verdict::reason;
  text sentence("partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in");
  sentence << ", got p_x = " << x << ", p_y = " << y << ", p_w = " << w << ": ";
  const char* name = verdict.output ? "p_y" : "p_x";
  switch (verdict.why) {
    case reason::weight_rank: sentence << "rank(p_w) is " << verdict.extent << ", not 2"; break;
    case reason::no_features: sentence << name << " has no dimension for the features"; break;
    case reason::batch_is_cut:
      sentence << name << " cuts dimension " << verdict.dimension << ", a batch dimension, into " << verdict.extent
               << "; repartition x before the layer";
      break;
    case reason::features_differ:
      sentence << name << " cuts the features into " << verdict.extent << ", p_w into " << verdict.required
               << "; choose " << name << " with " << verdict.required << " in its last dimension, or another p_w";
      break;
    case reason::legal: break;
  }
  return sentence;
}

}  // namespace partita
