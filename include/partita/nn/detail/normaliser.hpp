// The common part of the norms: means and deviations over some dimensions of a partitioned tensor, and the adjoint.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/nn/detail/scale_and_shift.hpp>
#include <vector>

namespace partita::detail {

/// Throws an error unless epsilon is at least 0, so that a variance plus epsilon has a square root.
inline void require_epsilon(const char* name, double epsilon) {
  if (!(epsilon >= 0)) throw shape_error(text(name) << ": requires an epsilon of at least 0; 1e-5 is usual");
}

/// The number of elements, their mean, and the sum of their squared deviations from the mean.
struct moments {
  double count = 0, mean = 0, squared_deviation_sum = 0;  ///< of a set; the last: the sum of (element - mean)^2
};

/// Computes the moments of the union of two sets from the moments of both (Chan, Golub and LeVeque 1979). The formula
/// is accurate even if means are much larger than deviations.
struct merge_moments {
  static constexpr const char* name = "moments";      ///< the reduction in error messages
  static constexpr moments identity() { return {}; }  ///< the moments of no elements
  constexpr moments operator()(const moments& a, const moments& b) const {
    const double count = a.count + b.count;
    if (count == 0) return {};
    const double distance = b.mean - a.mean;
    return {count, a.mean + distance * (b.count / count),
            a.squared_deviation_sum + b.squared_deviation_sum + distance * distance * (a.count * b.count / count)};
  }
};

}  // namespace partita::detail

template <>
inline constexpr bool partita::moves_as_bytes<partita::detail::moments> = true;

namespace partita::detail {

/// Maps each element of a block to one of `count` numbers: the element at index i gets the number offsets[0][i[0]] + …
/// + offsets[Rank - 1][i[Rank - 1]].
template <std::size_t Rank>
struct element_map {
  std::array<std::vector<std::size_t>, Rank> offsets{};  ///< for each dimension, one offset for each index
  std::size_t count = 1;                                 ///< the numbers are 0 to count - 1

  /// Makes the map in which all elements of a block of this shape have the number 0.
  explicit element_map(const std::array<std::size_t, Rank>& shape) {
    for (std::size_t d = 0; d < Rank; ++d) offsets[d].assign(shape[d], 0);
  }
  /// Numbers the elements by their indices in the dimensions with `is_dimension_numbered[d]`, in C order; elements that
  /// differ in the other dimensions only have the same number.
  element_map(const std::array<std::size_t, Rank>& shape, const std::array<bool, Rank>& is_dimension_numbered)
      : element_map(shape) {
    for (std::size_t d = Rank; d-- > 0;) {
      if (!is_dimension_numbered[d]) continue;
      for (std::size_t i = 0; i < shape[d]; ++i) offsets[d][i] = i * count;
      count *= shape[d];
    }
  }
};

/// Normalises blocks. Statistics are taken over the `is_averaged` dimensions; parameters are the same along the
/// `is_shared` dimensions. With `has_mean` the mean is subtracted; root mean square normalisation does not subtract it.
template <class T, std::size_t Rank>
class normaliser {
  using any_grid_shape = dynamic_extents<Rank>;  ///< the extents of a partition of any grid shape

 public:
  normaliser(const partition<any_grid_shape>& p, const std::array<bool, Rank>& is_averaged,
             const std::array<bool, Rank>& is_shared, bool has_mean)
      : merge_moments_(p, list_dimensions(is_averaged), merge_moments{}),
        sum_statistics_(p, list_dimensions(is_averaged), partita::sum),
        sum_parameters_(p, list_dimensions(is_shared), partita::sum),
        has_same_groups_(is_averaged == is_shared),
        has_mean_(has_mean) {}

  /// Sets the statistic and the parameter of each element of the next blocks: elements with the same number share a
  /// statistic, or a parameter.
  void set_element_maps(element_map<Rank> statistics, element_map<Rank> parameters) {
    statistics_map_ = std::move(statistics);
    parameter_map_ = std::move(parameters);
  }

  /// Returns the moments of each statistic of this block, over the whole tensor. Cost: one all_reduce.
  std::vector<moments> compute_moments(const xt::xtensor<T, Rank>& x) const {
    auto block_moments = uninitialised<moments, 1>({statistics_map_.count});
    for (auto& m : block_moments) m = moments{};
    for_each_element(x.shape(), [&](std::size_t k, std::size_t s, std::size_t) {
      block_moments(s).count += 1;
      block_moments(s).mean += static_cast<double>(x.data()[k]);
    });
    for (auto& m : block_moments) m.mean = m.count > 0 ? m.mean / m.count : 0;
    for_each_element(x.shape(), [&](std::size_t k, std::size_t s, std::size_t) {
      const double distance = static_cast<double>(x.data()[k]) - block_moments(s).mean;
      block_moments(s).squared_deviation_sum += distance * distance;
    });
    const auto all = merge_moments_(block_moments);
    return {all.begin(), all.end()};
  }
  /// Returns (x - mean) / sqrt(variance + epsilon) * gamma + beta, where mean and variance are functions of the number
  /// of the element's statistic.
  template <class Mean, class Spread>
  xt::xtensor<T, Rank> normalise(const xt::xtensor<T, Rank>& x, Mean mean, Spread variance, double epsilon,
                                 const norm_weights<T>& by) {
    inverse_deviation_.resize(statistics_map_.count);
    std::vector<double> subtracted(statistics_map_.count, 0);
    for (std::size_t s = 0; s < statistics_map_.count; ++s) {
      inverse_deviation_[s] = 1 / std::sqrt(variance(s) + epsilon);
      if (has_mean_) subtracted[s] = mean(s);
    }
    normalised_x_.resize(x.shape());
    auto y = uninitialised<T, Rank>(shape_array<Rank>(x.shape()));
    for_each_element(x.shape(), [&](std::size_t k, std::size_t s, std::size_t q) {
      const double n = (static_cast<double>(x.data()[k]) - subtracted[s]) * inverse_deviation_[s];
      normalised_x_.data()[k] = n;
      y.data()[k] = static_cast<T>(n * (by.has_scale ? static_cast<double>(by.gamma[q]) : 1) +
                                   (by.beta ? static_cast<double>(by.beta[q]) : 0));
    });
    return y;
  }
  /// Returns the gradient with respect to x, and adds the gradients of gamma and beta if the norm has them.
  /// `are_statistics_fixed` says that the statistics were not computed from x. Cost: one all_reduce; two if the norm
  /// has a weight that is shared along dimensions other than the averaged ones.
  xt::xtensor<T, Rank> adjoint(const xt::xtensor<T, Rank>& dy, bool are_statistics_fixed,
                               const std::vector<double>& counts, const norm_weights<T>& by) const {
    const std::size_t statistics = statistics_map_.count, parameters = parameter_map_.count;
    const auto g = [&](std::size_t k, std::size_t q) {
      return static_cast<double>(dy.data()[k]) * (by.has_scale ? static_cast<double>(by.gamma[q]) : 1);
    };
    // 1. Sum over this block. For each parameter sum dy (the gradient of beta) and dy n (the gradient of gamma), where
    // n is the normalised x; for each statistic sum dy gamma and dy gamma n.
    auto parameter_sums = uninitialised<double, 2>({2, parameters});
    auto statistic_sums = uninitialised<double, 2>({2, statistics});
    parameter_sums.fill(0), statistic_sums.fill(0);
    for_each_element(dy.shape(), [&](std::size_t k, std::size_t s, std::size_t q) {
      parameter_sums(0, q) += static_cast<double>(dy.data()[k]);
      parameter_sums(1, q) += static_cast<double>(dy.data()[k]) * normalised_x_.data()[k];
      statistic_sums(0, s) += g(k, q);
      statistic_sums(1, s) += g(k, q) * normalised_x_.data()[k];
    });
    // 2. Add up the sums over the workers that share the parameter or the statistic.
    if (has_same_groups_ || by.has_scale) parameter_sums = sum_parameters_(parameter_sums);
    if (has_same_groups_) {  // here all elements that share a statistic have the same gamma
      for (std::size_t s = 0; s < statistics; ++s)
        for (std::size_t row = 0; row < 2; ++row)
          statistic_sums(row, s) = parameter_sums(row, s) * (by.has_scale ? static_cast<double>(by.gamma[s]) : 1);
    } else if (!are_statistics_fixed) {
      statistic_sums = sum_statistics_(statistic_sums);
    }
    for (std::size_t q = 0; by.has_scale && q < parameters; ++q)
      by.gamma_gradient[q] += static_cast<T>(parameter_sums(1, q));
    for (std::size_t q = 0; by.beta_gradient != nullptr && q < parameters; ++q)
      by.beta_gradient[q] += static_cast<T>(parameter_sums(0, q));
    // 3. Compute dx = (dy gamma - mean(dy gamma) - n mean(dy gamma n)) / sqrt(variance + epsilon), without both means
    // if `are_statistics_fixed`, and without the first mean if `has_mean_` is false.
    auto dx = uninitialised<T, Rank>(shape_array<Rank>(dy.shape()));
    for_each_element(dy.shape(), [&](std::size_t k, std::size_t s, std::size_t q) {
      double slope = g(k, q);
      if (!are_statistics_fixed) {
        slope -= normalised_x_.data()[k] * statistic_sums(1, s) / counts[s];
        if (has_mean_) slope -= statistic_sums(0, s) / counts[s];
      }
      dx.data()[k] = static_cast<T>(slope * inverse_deviation_[s]);
    });
    return dx;
  }
  /// The error message of a call of the adjoint: `message` if it is not empty, else a message if there was no forward
  /// call or dy does not have the shape of the last result, else an empty text.
  text error_in(const xt::xtensor<T, Rank>& dy, bool active, bool forward_done, const char* name, text message) const {
    if (message.empty() && (!forward_done || (active && dy.shape() != normalised_x_.shape())))
      message << name << ".adjoint(dy): requires a dy of the shape of the last result"
              << (forward_done ? "" : "; call the layer first") << ", got " << dy.shape();
    return message;
  }

 private:
  /// The dimensions that a mask marks.
  static dimension_list list_dimensions(const std::array<bool, Rank>& chosen) {
    dimension_list list;
    for (std::size_t d = 0; d < Rank; ++d)
      if (chosen[d]) list.push_back(d);
    return list;
  }
  /// Calls f(offset of the element, number of its statistic, number of its parameter) for all elements in C order.
  template <class Shape, class F>
  void for_each_element(const Shape& shape, F f) const {
    index<Rank> i{};
    std::size_t volume = 1;
    for (std::size_t d = 0; d < Rank; ++d) volume *= static_cast<std::size_t>(shape[d]);
    const auto& s_last = statistics_map_.offsets[Rank - 1];
    const auto& q_last = parameter_map_.offsets[Rank - 1];
    for (std::size_t k = 0; k < volume;) {
      std::size_t s = 0, q = 0;
      for (std::size_t d = 0; d + 1 < Rank; ++d)
        s += statistics_map_.offsets[d][i[d]], q += parameter_map_.offsets[d][i[d]];
      for (std::size_t j = 0; j < s_last.size(); ++j, ++k) f(k, s + s_last[j], q + q_last[j]);
      for (std::size_t d = Rank - 1; d-- > 0;) {
        if (++i[d] < static_cast<std::size_t>(shape[d])) break;
        i[d] = 0;
      }
    }
  }

  all_reduce<any_grid_shape, merge_moments> merge_moments_;  ///< merges moments over workers that share statistics
  /// Reductions among the workers whose blocks share statistics, and among those whose blocks share parameters.
  all_reduce<any_grid_shape, sum_t> sum_statistics_, sum_parameters_;
  bool has_same_groups_, has_mean_;  ///< has_same_groups_: elements share a parameter exactly if they share a statistic
  /// The number of the statistic, and of the parameter, of each element of this worker's last block.
  element_map<Rank> statistics_map_{std::array<std::size_t, Rank>{}}, parameter_map_{std::array<std::size_t, Rank>{}};
  std::vector<double> inverse_deviation_;   ///< 1 / sqrt(variance + epsilon), for each statistic of the last x
  xt::xtensor<double, Rank> normalised_x_;  ///< this worker's block of the last x, normalised, before gamma and beta
};

/// The split of a norm's channels into this number of parts: channel_cut of the options, by default a balanced split.
template <class Options>
cut cut_of_channels(const Options& options, std::size_t parts, const char* name) {
  if (options.channels > std::size_t{1} << 40U)  // chosen: an array of this size can be requested
    throw shape_error(text(name) << ": requires at most 2^40 channels, got " << options.channels
                                 << "; numbers must not be negative");
  const cut chosen = options.channel_cut ? *options.channel_cut : cut::balanced(options.channels, parts);
  if (chosen.extent() != options.channels || chosen.parts() != parts)
    throw shape_error(text(name) << ": requires a channel_cut of the " << options.channels << " channels into the "
                                 << parts << " parts that p has along dimension 1, got one of " << chosen.extent()
                                 << " into " << chosen.parts());
  return chosen;
}
/// The range of the channels that this worker keeps.
template <class Extents, class Options>
interval part_of_channels(const partition<Extents>& p, const Options& options, const char* name) {
  const cut channel_cut = cut_of_channels(options, p.grid().shape()[1], name);
  interval own;
  if (p.active()) channel_cut.for_pieces(p.index()[1], [&](interval piece, std::size_t) { own = piece; });
  return own;
}
/// Throws the same error on all workers unless x has the number of channels and their split that the norm was made for.
template <std::size_t Rank>
void require_channels(const tensor_layout<Rank>& tensor, const cut& channel_cut, const char* name) {
  if (tensor.extents[1] != channel_cut.extent())
    throw shape_error(text(name) << ": requires x of " << channel_cut.extent() << " channels in dimension 1, got "
                                 << tensor.extents);
  for (std::size_t k = 0; k < tensor.sizes[1].size(); ++k)
    if (tensor.sizes[1][k] != channel_cut.size(k))
      throw shape_error(text(name) << ": requires the channels cut as the layer was made for, " << channel_cut.size(k)
                                   << " in part " << k << ", got " << tensor.sizes[1][k]
                                   << "; say {.channel_cut = ...}, or repartition x");
}

}  // namespace partita::detail
