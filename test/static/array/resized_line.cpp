// The spectrum of n points as that of m points: each wave arrives with the weight that it has by definition.
#include <partita/array/resized_line.hpp>

using partita::detail::resized_line;

namespace {

constexpr std::size_t most = 9;
using matrix = std::array<std::array<double, most>, most>;

constexpr std::size_t extent_of(std::size_t n, bool is_half) { return is_half ? n / 2 + 1 : n; }

/// Entry (k, j) is the weight of number j of the source in number k of the result, as users of the class compute it.
constexpr matrix by_ranges(const resized_line& line) {
  matrix weights{};
  for (const auto& range : line.wave_ranges())
    for (std::size_t k = 0; k < range.count; ++k) {
      const std::size_t from = range.source_start + k;
      weights[range.destination_start + k][from] +=
          line.is_lengthened() && from == line.shared_wave() ? line.factor() : 1;
    }
  if (!line.is_lengthened())
    for (double& weight : weights[line.shared_wave()]) weight *= line.factor();
  return weights;
}

/// The same by the waves of both lines: wave w of n points is number w, or n + w if w is negative.
constexpr matrix by_definition(std::size_t n, std::size_t m, bool is_half) {
  matrix weights{};
  const std::size_t least = n < m ? n : m;
  for (std::size_t w = 0; 2 * w <= least; ++w) {
    const bool is_shared = 2 * w == least && n != m;  // one number of the shorter line is wave w and wave -w
    const double weight = !is_shared ? 1 : n < m ? 0.5 : is_half ? 2 : 1;
    weights[w][w] = weight;
    if (w > 0 && !is_half) {
      weights[m - w][n - w] = weight;
      if (is_shared && n < m) weights[m - w][w] = weight;
      if (is_shared && n > m) weights[w][n - w] = weight;
    }
  }
  return weights;
}

constexpr bool all_weights_are_those_of_the_definition(bool is_half) {
  for (std::size_t n = 1; n <= most; ++n)
    for (std::size_t m = 1; m <= most; ++m) {
      const resized_line line{n, m, is_half};
      if (by_ranges(line) != by_definition(n, m, is_half)) return false;
      if (line.source_extent() != extent_of(n, is_half) || line.extent() != extent_of(m, is_half)) return false;
      const bool is_shared = n != m && (n < m ? n : m) % 2 == 0;
      if (line.adds_two_waves() != (is_shared && !is_half && n > m)) return false;
      if (line.splits_one_wave() != (is_shared && !is_half && n < m)) return false;
      if (line.has_shared_nyquist_wave() != is_shared || line.is_lengthened() != (n < m)) return false;
    }
  return true;
}
static_assert(all_weights_are_those_of_the_definition(false));
static_assert(all_weights_are_those_of_the_definition(true));

// no points share no wave
static_assert(!resized_line{0, 4, false}.has_shared_nyquist_wave() && resized_line{4, 0, false}.factor() == 1);

}  // namespace
