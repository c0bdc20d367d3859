// The update rules of the optimisers for one element: options, state and formulas, in one place for all kinds of
// parameters.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/error.hpp>

namespace partita {

/// v = momentum v + g, w = w - learning_rate v.
struct sgd_options {
  double learning_rate = 0.01;
  double momentum = 0;

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }
};

/// Kingma and Ba 2015, algorithm 1.
struct adam_options {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<4>(*this); }
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2): w = w - learning_rate weight_decay w
/// before each step of Adam.
struct adamw_options {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<5>(*this); }
};

namespace detail {

/// The real type that an optimiser computes with: a complex element is two real ones.
template <class T>
struct real_part {
  using type = T;
  static constexpr std::size_t count = 1;
};
template <class T>
struct real_part<std::complex<T>> {
  using type = T;
  static constexpr std::size_t count = 2;
};

/// One parameter in flat memory: n real numbers, and `States` numbers of state for each of them.
template <class Real, std::size_t States>
struct flat_parameter {
  std::size_t n;
  Real* value;
  const Real* gradient;
  std::array<Real*, States> state;
  Real factor = Real(1);  ///< multiplies the gradient
};

/// The number of state values that an optimiser keeps for each real number of a parameter.
template <class Options>
inline constexpr std::size_t states_of = 2;
template <>
inline constexpr std::size_t states_of<sgd_options> = 1;

/// Whether an optimiser with these options uses its state at all.
inline bool needs_state(const sgd_options& o) { return o.momentum != 0; }
template <class Options>
bool needs_state(const Options&) {
  return true;
}

/// The requirement that these options violate, or null. NaN violates every requirement.
inline const char* missing_of(const sgd_options& o) {
  return o.learning_rate >= 0 && o.momentum >= 0 ? nullptr : "a learning_rate and a momentum of at least 0";
}
template <class Adam>
const char* missing_of(const Adam& o) {
  if (!(o.learning_rate >= 0 && o.epsilon >= 0)) return "a learning_rate and an epsilon of at least 0";
  if constexpr (requires { o.weight_decay; })
    if (!(o.weight_decay >= 0)) return "a weight_decay of at least 0";
  return o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1 ? nullptr : "beta1 and beta2 from 0 on and below 1";
}
template <class Options>
void require_options(const char* call, const Options& o) {
  if (const char* const missing = missing_of(o); missing != nullptr)
    throw shape_error(text(call) << ": requires " << missing << "; look at what the options hold");
}

/// Step number `now`, counted from 1.
template <class Real>
void update(const sgd_options& o, int, const flat_parameter<Real, 1>& p) {
  const Real rate = static_cast<Real>(o.learning_rate), momentum = static_cast<Real>(o.momentum);
  Real* const velocity = p.state[0];
  if (!needs_state(o))
    for (std::size_t k = 0; k < p.n; ++k) p.value[k] -= rate * (p.factor * p.gradient[k]);
  else
    for (std::size_t k = 0; k < p.n; ++k) {
      velocity[k] = momentum * velocity[k] + p.factor * p.gradient[k];
      p.value[k] -= rate * velocity[k];
    }
}
template <class Real>
void update(const adam_options& o, int now, const flat_parameter<Real, 2>& p) {
  const double first_share = 1 / (1 - std::pow(o.beta1, now)), second_share = 1 / (1 - std::pow(o.beta2, now));
  // local copies: the compiler must assume that options alias the elements
  const double rate = o.learning_rate, epsilon = o.epsilon;
  const Real first = static_cast<Real>(o.beta1), second = static_cast<Real>(o.beta2);
  const Real first_rest = static_cast<Real>(1 - o.beta1), second_rest = static_cast<Real>(1 - o.beta2);
  const Real factor = p.factor;
  Real *const w = p.value, *const m = p.state[0], *const v = p.state[1];
  const Real* const gradient = p.gradient;
  for (std::size_t k = 0, n = p.n; k < n; ++k) {
    const Real g = factor * gradient[k];
    m[k] = first * m[k] + first_rest * g;
    v[k] = second * v[k] + second_rest * g * g;
    const double m_hat = static_cast<double>(m[k]) * first_share, v_hat = static_cast<double>(v[k]) * second_share;
    w[k] -= static_cast<Real>(rate * m_hat / (std::sqrt(v_hat) + epsilon));
  }
}
template <class Real>
void update(const adamw_options& o, int now, const flat_parameter<Real, 2>& p) {
  const Real kept = static_cast<Real>(1 - o.learning_rate * o.weight_decay);
  const adam_options adam{o.learning_rate, o.beta1, o.beta2, o.epsilon};
  // chosen: elements that were just decayed are still in a cache when they are updated
  constexpr std::size_t piece = 2048;
  for (std::size_t k = 0; k < p.n; k += piece) {
    const std::size_t n = p.n - k < piece ? p.n - k : piece;
    for (std::size_t j = k; j < k + n; ++j) p.value[j] *= kept;
    update(adam, now,
           flat_parameter<Real, 2>{n, p.value + k, p.gradient + k, {p.state[0] + k, p.state[1] + k}, p.factor});
  }
}

}  // namespace detail
}  // namespace partita
