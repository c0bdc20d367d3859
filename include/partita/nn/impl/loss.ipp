// Defines the functions that nn/loss.hpp declares.
#pragma once

#include <cmath>
#include <partita/nn/loss.hpp>

namespace partita::detail {

PARTITA_DEF worker_groups sums_over_world::group_of_all(const world& everyone) {
  std::vector<std::size_t> ids(everyone.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = k;
  return worker_groups({ids});
}

PARTITA_DEF double smooth_l1_function::value(double x, double t) const {
  const double d = std::abs(x - t);
  return d < beta ? d * d / (2 * beta) : d - beta / 2;
}

PARTITA_DEF double smooth_l1_function::derivative(double x, double t) const {
  const double d = x - t;
  return std::abs(d) < beta ? d / beta : d > 0 ? 1 : d < 0 ? -1 : d;  // d is 0 or NaN
}

PARTITA_DEF double bce_with_logits_function::derivative(double x, double t) const {
  const double e = std::exp(-std::abs(x));
  return (x >= 0 ? 1 / (1 + e) : e / (1 + e)) - t;
}

PARTITA_DEF double kl_function::value(double x, double t) const {
  if (log_target) return std::exp(t) * (t - x);
  if (t == 0) return std::isnan(x) ? x : 0;           // t log t has the limit 0, also where x is log 0
  if (std::isinf(t)) return t * std::log(t) - t * x;  // PyTorch's difference: NaN if both terms are infinite
  return t * (std::log(t) - x);
}

}  // namespace partita::detail
