// The common part of layers whose outputs depend on windows of a tensor. Each worker gets the inputs that its block of
// the output needs; the adjoint sends the gradients of these inputs to the workers that own the inputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/kernel/window_movement.hpp>
#include <partita/nn/taps.hpp>
#include <partita/rule/reduction.hpp>
#include <vector>

namespace partita::detail {

/// The number of feature dimensions of a tensor of this rank, after batch and channels, or 1 if the rank is rejected.
template <std::size_t Rank>
inline constexpr std::size_t feature_dims_of_rank = Rank > 2 ? Rank - 2 : 1;

/// Computes, for each worker, the window that its outputs need. `Rule` describes the layer: name(),
/// error_message(extents) (an error message or empty), outputs(extents), and taps_of(dimension, outputs, extent).
template <class Rule, std::size_t Rank>
class window_planner {
 public:
  static constexpr std::size_t rank = Rank;  ///< the number of dimensions of x and y

  window_planner(partition<dynamic_extents<Rank>> p, Rule rule) : p_(std::move(p)), rule_(std::move(rule)) {
    fingerprint_ =
        hasher(p_.grid().fingerprint()).mix(type_number<Rule>()).mix(rule_.name()).mix(rule_.fingerprint()).value();
  }
  const char* name() const { return rule_.name(); }  ///< the call in error messages
  const partition<dynamic_extents<Rank>>& p() const { return p_; }
  const Rule& rule() const { return rule_; }                           ///< which inputs an output needs
  std::uint64_t fingerprint() const { return fingerprint_; }           ///< a hash of partition and rule
  halo_boundaries<Rank> boundaries() const { return boundary::none; }  ///< windows do not reach beyond the tensor
  text error_message(const std::array<std::size_t, Rank>& extents) const { return rule_.error_message(extents); }
  /// The part of a worker in the exchange, for an x whose blocks are split by `cuts`.
  halo_plan<Rank> plan(const decomposition<Rank>& cuts, std::size_t worker) const {
    // Computes, for each part of the output along each dimension, the range of inputs that the taps of the part need.
    const auto n = cuts.extents(), parts = p_.grid().shape(), m = rule_.outputs(n);
    windows_of_parts<Rank> windows;
    for (std::size_t d = 0; d < Rank; ++d)
      for (std::size_t k = 0; k < parts[d]; ++k) {
        const interval needed = rule_.taps_of(d, balanced_part(m[d], parts[d], k), n[d]).footprint();
        windows[d].push_back({static_cast<std::ptrdiff_t>(needed.start), static_cast<std::ptrdiff_t>(needed.stop)});
      }
    return plan_windows(p_.grid(), cuts, windows, boundaries(), windows_of_grid<dynamic_extents<Rank>>{&p_.grid()},
                        worker);
  }

 private:
  partition<dynamic_extents<Rank>> p_;  ///< the partition of x and y
  Rule rule_;                           ///< which inputs an output needs
  std::uint64_t fingerprint_;           ///< a hash of partition and rule
};

/// The taps of this worker's outputs along each dimension, and the shapes of its window and of its outputs.
template <std::size_t Rank>
struct local_taps {
  /// Input indices are relative to the window. `by_dimension` has no initialiser {}, because with {} compilers would
  /// take the default constructor for noexcept.
  std::array<taps, Rank> by_dimension;
  std::array<std::size_t, Rank> window{}, outputs{};  ///< the shapes of this worker's window of x and block of y
};

/// The exchange that gives each worker its window of a layer's input, and the adjoint of this exchange.
template <class Rule, std::size_t Rank>
class window_exchange {
 public:
  window_exchange(const partition<dynamic_extents<Rank>>& p, const Rule& rule) : movement_({p, rule}) {}

  const partition<dynamic_extents<Rank>>& p() const { return movement_.windows().p(); }
  const Rule& rule() const { return movement_.windows().rule(); }         ///< which inputs an output needs
  const local_taps<Rank>& taps_of_worker() const { return local_taps_; }  ///< the taps in the last receive_window()

  /// Returns this worker's window of x. Collective.
  template <class X>
  auto receive_window(const X& x) {
    using T = element_of<X>;
    const block_argument<X> argument(x);
    auto window = movement_.template forward<T>(argument.block(), {}, "(x)", local_error()).finish();
    local_taps_ = {};
    if (!p().active()) return window;
    const auto n = movement_.last_call_cuts().extents(), m = rule().outputs(n), parts = p().grid().shape();
    // Compute the taps of this worker's outputs, relative to the start of its window.
    local_taps_.window = shape_array<Rank>(window.shape());
    for (std::size_t d = 0; d < Rank; ++d) {
      local_taps_.by_dimension[d] = rule().taps_of(d, balanced_part(m[d], parts[d], p().index()[d]), n[d]);
      const auto start = static_cast<std::size_t>(movement_.last_window_plan()->start[d]);
      for (std::size_t& i : local_taps_.by_dimension[d].input) i -= start;
      local_taps_.outputs[d] = local_taps_.by_dimension[d].outputs();
    }
    was_called_ = true;
    return window;
  }
  /// The error message if dy does not have the shape of the last result; empty if it has.
  template <class Y>
  text error_in(const Y& dy) const {
    text error_message;
    if (p().active() && (!was_called_ || shape_array<Rank>(dy.shape()) != local_taps_.outputs))
      error_message << rule().name() << ".adjoint(dy): requires a dy of the shape of the last result, "
                    << local_taps_.outputs << ", got " << dy.shape() << "; call the layer first";
    return error_message;
  }
  /// Sends the gradients of the windows to the owners of the inputs, and returns their sum: this worker's block of the
  /// gradient with respect to x.
  template <class T>
  xt::xtensor<T, Rank> send_window_gradient(const xt::xtensor<T, Rank>& gradient, const text& error_message) {
    return movement_.template backward<T>(block_of(gradient), {}, ".adjoint(dy)", local_error(error_message)).finish();
  }

 private:
  window_movement<window_planner<Rule, Rank>> movement_;  ///< gives each worker its window of x
  local_taps<Rank> local_taps_;                           ///< the taps of this worker's outputs in the last call
  bool was_called_ = false;                               ///< whether there was a call, so that local_taps_ is set
};

/// Calls f(offset of an output, product of the output's divisors along all dimensions) for every output.
template <std::size_t Rank, class F>
void visit_divisors(const local_taps<Rank>& worker_taps, F f) {
  const std::size_t volume = volume_of(worker_taps.outputs);
  for (std::size_t k = 0; k < volume; ++k) {
    const auto i = index_of(k, worker_taps.outputs);
    double divisor = 1;
    for (std::size_t d = 0; d < Rank; ++d) divisor *= worker_taps.by_dimension[d].divisor[i[d]];
    f(k, divisor);
  }
}

/// Buffers for the intermediate results when taps are applied to one dimension after the other. A caller that keeps the
/// buffers between calls of the same shapes allocates them once.
template <class T>
struct taps_buffers {
  std::vector<T> from{}, to{};  ///< the operand and the result along one dimension, exchanged after it

  /// Allocates memory for all intermediate results.
  template <std::size_t Rank>
  void reserve(const local_taps<Rank>& worker_taps) {
    std::size_t most = 1;
    for (std::size_t d = 0; d < Rank; ++d)
      most *= worker_taps.window[d] > worker_taps.outputs[d] ? worker_taps.window[d] : worker_taps.outputs[d];
    from.reserve(most), to.reserve(most);
  }
};

/// Computes y by applying the taps of one dimension after the other to a dense x, and divides at the end.
template <class T, std::size_t Rank>
void apply_taps(const local_taps<Rank>& worker_taps, const T* x, taps_buffers<T>& buffers, T* y) {
  auto& [from, to] = buffers;
  buffers.reserve(worker_taps);
  std::array<std::size_t, Rank> shape = worker_taps.window;
  for (std::size_t d = Rank; d-- > 0;) {
    const taps& t = worker_taps.by_dimension[d];
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < d; ++k) outer *= shape[k];
    for (std::size_t k = d + 1; k < Rank; ++k) inner *= shape[k];
    to.assign(outer * t.outputs() * inner, T(0));
    const T* const source = d + 1 == Rank ? x : from.data();
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t j = 0; j < t.outputs(); ++j)
        for (std::size_t k = t.first[j]; k < t.first[j + 1]; ++k) {
          const T* const a = source + (o * shape[d] + t.input[k]) * inner;
          T* const b = to.data() + (o * t.outputs() + j) * inner;
          const T w = static_cast<T>(t.weight[k]);
          for (std::size_t i = 0; i < inner; ++i) b[i] = static_cast<T>(b[i] + w * a[i]);
        }
    shape[d] = t.outputs();
    from.swap(to);
  }
  const T* const sums = from.data();
  visit_divisors(worker_taps,
                 [=](std::size_t k, double divisor) { y[k] = static_cast<T>(sums[k] / static_cast<T>(divisor)); });
}
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> apply_taps(const local_taps<Rank>& worker_taps, const T* x) {
  taps_buffers<T> buffers;
  auto y = uninitialised<T, Rank>(worker_taps.outputs);
  apply_taps(worker_taps, x, buffers, y.data());
  return y;
}

/// The adjoint of apply_taps(): computes the gradient of the window from dy.
template <class T, std::size_t Rank>
void apply_taps_adjoint(const local_taps<Rank>& worker_taps, const T* dy, taps_buffers<T>& buffers, T* dx) {
  auto& [from, to] = buffers;
  buffers.reserve(worker_taps);
  std::array<std::size_t, Rank> shape = worker_taps.outputs;
  from.assign(dy, dy + volume_of(shape));
  T* const given = from.data();
  visit_divisors(worker_taps,
                 [=](std::size_t k, double divisor) { given[k] = static_cast<T>(given[k] / static_cast<T>(divisor)); });
  for (std::size_t d = 0; d < Rank; ++d) {
    const taps& t = worker_taps.by_dimension[d];
    std::size_t outer = 1, inner = 1;
    for (std::size_t k = 0; k < d; ++k) outer *= shape[k];
    for (std::size_t k = d + 1; k < Rank; ++k) inner *= shape[k];
    to.assign(outer * worker_taps.window[d] * inner, T(0));
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t j = 0; j < t.outputs(); ++j)
        for (std::size_t k = t.first[j]; k < t.first[j + 1]; ++k) {
          const T* const a = from.data() + (o * t.outputs() + j) * inner;
          T* const b = to.data() + (o * worker_taps.window[d] + t.input[k]) * inner;
          const T w = static_cast<T>(t.weight[k]);
          for (std::size_t i = 0; i < inner; ++i) b[i] = static_cast<T>(b[i] + w * a[i]);
        }
    shape[d] = worker_taps.window[d];
    from.swap(to);
  }
  std::copy(from.begin(), from.end(), dx);
}
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> apply_taps_adjoint(const local_taps<Rank>& worker_taps, const xt::xtensor<T, Rank>& dy) {
  taps_buffers<T> buffers;
  auto dx = uninitialised<T, Rank>(worker_taps.window);
  apply_taps_adjoint(worker_taps, dy.data(), buffers, dx.data());
  return dx;
}

/// Whether X may be the x of a layer of rank Rank; if not, a compile-time error says what is required.
template <class X, std::size_t Rank>
consteval bool is_valid_input() {
  constexpr bool fits = has_rank<X, Rank>() && has_addressable_elements<X>();
  static_assert(fits,
                "partita: a layer over p requires x of the rank of p, batch x channels x features, as an xt::xtensor "
                "of numbers; reshape() p, or as_rank<4>(x)");
  return fits;
}
/// Whether Y may be the dy of a layer of rank Rank; if not, a compile-time error says what is required.
template <class Y, std::size_t Rank>
consteval bool is_valid_gradient() {
  constexpr bool fits = has_rank<Y, Rank>() && has_summable_elements<Y>();
  static_assert(fits, "partita: a layer over p requires dy of the rank of p, as an xt::xtensor of numbers");
  return fits;
}

/// A reduction for windowed_layer. Each output is the sum of its inputs times their weights along all dimensions,
/// divided by the output's divisors.
struct weighted_taps {
  template <class T, std::size_t Rank>
  xt::xtensor<T, Rank> forward(const local_taps<Rank>& worker_taps, const T* window) const {  ///< returns y
    return apply_taps<T, Rank>(worker_taps, window);
  }
  /// Returns the gradient of the window.
  template <class T, std::size_t Rank>
  xt::xtensor<T, Rank> backward(const local_taps<Rank>& worker_taps, const xt::xtensor<T, Rank>& dy) const {
    return apply_taps_adjoint<T, Rank>(worker_taps, dy);
  }
};

/// A layer whose outputs are computed from windows of x. The class `Rule` says which inputs an output needs; the class
/// `Taps` computes the outputs from the window, and the gradient of the window from dy.
template <class Rule, class Extents, class Taps>
class windowed_layer {
 protected:
  static constexpr std::size_t rank = Extents::rank();  ///< the number of dimensions of x and y

 public:
  template <class X>
  auto operator()(const X& x) {
    if constexpr (is_valid_input<X, rank>()) {
      using T = element_of<X>;
      const auto window = exchange_.receive_window(x);
      if (!exchange_.p().active()) return xt::xtensor<T, rank>(window);
      return taps_.template forward<T, rank>(exchange_.taps_of_worker(), window.data());
    } else {
      return rejected_call{};
    }
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  template <class Y>
  /// Returns this worker's block of the gradient with respect to the last x.
  auto adjoint(const Y& dy) {
    if constexpr (is_valid_gradient<Y, rank>()) {
      using T = element_of<Y>;
      const xt::xtensor<T, rank> block = dy;
      const text error_message = exchange_.error_in(block);
      if (!exchange_.p().active()) return exchange_.send_window_gradient(block, error_message);
      const local_taps<rank>& worker_taps = exchange_.taps_of_worker();
      return exchange_.send_window_gradient(error_message.empty() ? taps_.template backward<T, rank>(worker_taps, block)
                                                                  : uninitialised<T, rank>(worker_taps.window),
                                            error_message);
    } else {
      return rejected_call{};
    }
  }

 protected:
  windowed_layer(const partition<Extents>& p, const Rule& rule)
      : exchange_(partition<dynamic_extents<rank>>(p), rule) {}

 private:
  window_exchange<Rule, rank> exchange_;  ///< gives this worker the window of x that its outputs need
  Taps taps_;                             ///< computes outputs from windows, and gradients of windows
};

}  // namespace partita::detail
