// The update rules of the optimisers for one element: options, state and formulas, in one place for all kinds of
// parameters.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/array/real_part.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/error.hpp>
#include <type_traits>

namespace partita {

/// Options of stochastic gradient descent: g = g + weight_decay w, v = momentum v + (1 - dampening) g, w = w -
/// learning_rate v; in the first step v = g. With `nesterov`, w = w - learning_rate (g + momentum v) (Sutskever et al.
/// 2013).
struct sgd_options {
  double learning_rate = 0.01;  ///< multiplies v, or g + momentum v with `nesterov`
  double momentum = 0;          ///< the share of the previous v that is kept
  double dampening = 0;         ///< reduces the share of the gradient in v, from the second step on
  double weight_decay = 0;      ///< times w is added to the gradient
  bool nesterov = false;        ///< whether Nesterov's momentum is used

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<5>(*this); }  ///< a hash of all members
};

/// Options of Adam (Kingma and Ba 2015, algorithm 1), whose gradient is g + weight_decay w. With `amsgrad`, the largest
/// second moment so far is used instead of the second moment (Reddi et al., 2018, algorithm 2).
struct adam_options {
  double learning_rate = 0.001;  ///< multiplies the step
  double beta1 = 0.9;            ///< the share of the previous mean of the gradient that is kept
  double beta2 = 0.999;          ///< the share of the previous mean of the squared gradient that is kept
  double epsilon = 1e-8;         ///< added to the square root of the second moment
  double weight_decay = 0;       ///< times w is added to the gradient
  bool amsgrad = false;          ///< whether the largest second moment so far is used

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<6>(*this); }  ///< a hash of all members
};

/// Options of AdamW, Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2): w = w - learning_rate
/// weight_decay w before each step of Adam.
struct adamw_options {
  double learning_rate = 0.001;  ///< multiplies the step
  double beta1 = 0.9;            ///< the share of the previous mean of the gradient that is kept
  double beta2 = 0.999;          ///< the share of the previous mean of the squared gradient that is kept
  double epsilon = 1e-8;         ///< added to the square root of the second moment
  double weight_decay = 0.01;    ///< times w and the learning rate is subtracted from w before a step
  bool amsgrad = false;          ///< whether the largest second moment so far is used

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<6>(*this); }  ///< a hash of all members
};

namespace detail {

/// One parameter in flat memory: n real numbers, and `States` numbers of state for each of them.
template <class Real, std::size_t States>
struct flat_parameter {
  std::size_t n;                    ///< the number of real numbers
  Real* value;                      ///< the parameter's numbers, which are updated
  const Real* gradient;             ///< n numbers, which are only read
  std::array<Real*, States> state;  ///< arrays of n numbers; null for each state that the optimiser does not use
  Real gradient_factor = Real(1);   ///< multiplies the gradient before it is used
};

/// The largest number of state values that an optimiser keeps for each real number of a parameter.
template <class Options>
inline constexpr std::size_t max_state_count = 3;
template <>
inline constexpr std::size_t max_state_count<sgd_options> = 1;

/// The number of state values per real number that an optimiser with these options uses.
inline std::size_t states_used(const sgd_options& o) { return o.momentum != 0 ? 1 : 0; }
template <class Adam>
std::size_t states_used(const Adam& o) {
  return o.amsgrad ? 3 : 2;
}

/// The text of the requirement that these options violate, or null. NaN violates every requirement.
inline const char* violated_requirement(const sgd_options& o) {
  if (!(o.learning_rate >= 0 && o.momentum >= 0)) return "a learning_rate and a momentum of at least 0";
  if (!(o.weight_decay >= 0)) return "a weight_decay of at least 0";
  if (!(o.dampening >= 0 && o.dampening <= 1)) return "a dampening from 0 to 1";
  return o.nesterov && (o.momentum == 0 || o.dampening != 0) ? "a momentum above 0, and no dampening, for nesterov"
                                                             : nullptr;
}
template <class Adam>
const char* violated_requirement(const Adam& o) {  ///< the requirement that these options violate, or null
  if (!(o.learning_rate >= 0 && o.epsilon >= 0)) return "a learning_rate and an epsilon of at least 0";
  if (!(o.weight_decay >= 0)) return "a weight_decay of at least 0";
  return o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1 ? nullptr : "beta1 and beta2 from 0 on and below 1";
}
/// Throws a shape_error if the options violate a requirement.
template <class Options>
void require_options(const char* call, const Options& o) {
  if (const char* const missing = violated_requirement(o); missing != nullptr)
    throw shape_error(text(call) << ": requires " << missing << "; look at what the options hold");
}

/// Calls f(std::true_type) or f(std::false_type), so that a loop in f is compiled separately for each value, without a
/// branch in the loop.
template <class F>
void call_with_constant(bool is, F f) {
  if (is) f(std::true_type());
  else f(std::false_type());
}

/// Makes the update step with number `step`, counted from 1, for one parameter.
template <class Real>
void update(const sgd_options& o, int step, const flat_parameter<Real, 1>& p) {
  const Real rate = static_cast<Real>(o.learning_rate), momentum = static_cast<Real>(o.momentum),
             decay = static_cast<Real>(o.weight_decay), share = static_cast<Real>(step == 1 ? 1 : 1 - o.dampening),
             factor = p.gradient_factor;
  const std::size_t n = p.n;
  Real *const w = p.value, *const velocity = p.state[0];
  const Real* const gradient = p.gradient;
  const bool has_velocity = states_used(o) > 0, uses_nesterov = o.nesterov;
  call_with_constant(o.weight_decay != 0, [=](auto has_decay) {
    const auto slope = [=](std::size_t k) {
      const Real g = factor * gradient[k];
      if constexpr (decltype(has_decay)::value) return static_cast<Real>(g + decay * w[k]);
      else return g;
    };
    if (!has_velocity)
      for (std::size_t k = 0; k < n; ++k) w[k] -= rate * slope(k);
    else
      call_with_constant(uses_nesterov, [=](auto is_nesterov) {
        for (std::size_t k = 0; k < n; ++k) {
          const Real g = slope(k);
          velocity[k] = momentum * velocity[k] + share * g;
          if constexpr (decltype(is_nesterov)::value) w[k] -= rate * (g + momentum * velocity[k]);
          else w[k] -= rate * velocity[k];
        }
      });
  });
}
/// Makes step `step` of Adam, counted from 1, for one parameter.
template <class Real>
void update(const adam_options& o, int step, const flat_parameter<Real, 3>& p) {
  const double first_correction = 1 / (1 - std::pow(o.beta1, step)),
               second_correction = 1 / (1 - std::pow(o.beta2, step));
  // The options are copied into local variables, because the compiler must assume that the options alias the elements.
  const double rate = o.learning_rate, epsilon = o.epsilon;
  const Real first = static_cast<Real>(o.beta1), second = static_cast<Real>(o.beta2);
  const Real first_weight = static_cast<Real>(1 - o.beta1), second_weight = static_cast<Real>(1 - o.beta2);
  const Real factor = p.gradient_factor, decay = static_cast<Real>(o.weight_decay);
  const std::size_t n = p.n;
  Real *const w = p.value, *const m = p.state[0], *const v = p.state[1], *const largest = p.state[2];
  const Real* const gradient = p.gradient;
  const bool keeps = o.amsgrad;
  call_with_constant(o.weight_decay != 0, [=](auto has_decay) {
    call_with_constant(keeps, [=](auto keeps_maximum) {
      for (std::size_t k = 0; k < n; ++k) {
        Real g = factor * gradient[k];
        if constexpr (decltype(has_decay)::value) g += decay * w[k];
        m[k] = first * m[k] + first_weight * g;
        v[k] = second * v[k] + second_weight * g * g;
        Real second_moment = v[k];
        if constexpr (decltype(keeps_maximum)::value)
          second_moment = largest[k] = largest[k] > v[k] ? largest[k] : v[k];
        const double m_hat = static_cast<double>(m[k]) * first_correction,
                     v_hat = static_cast<double>(second_moment) * second_correction;
        w[k] -= static_cast<Real>(rate * m_hat / (std::sqrt(v_hat) + epsilon));
      }
    });
  });
}
template <class Real>
void update(const adamw_options& o, int step, const flat_parameter<Real, 3>& p) {
  const Real remaining_share = static_cast<Real>(1 - o.learning_rate * o.weight_decay);
  const adam_options adam{o.learning_rate, o.beta1, o.beta2, o.epsilon, 0, o.amsgrad};
  // chosen: elements whose weight decay was just applied are still in a cache when Adam updates them
  constexpr std::size_t piece = 2048;
  for (std::size_t k = 0; k < p.n; k += piece) {
    const std::size_t n = p.n - k < piece ? p.n - k : piece;
    for (std::size_t j = k; j < k + n; ++j) p.value[j] *= remaining_share;
    flat_parameter<Real, 3> one{n, p.value + k, p.gradient + k, p.state, p.gradient_factor};
    for (Real*& state : one.state)
      if (state != nullptr) state += k;
    update(adam, step, one);
  }
}

}  // namespace detail
}  // namespace partita
