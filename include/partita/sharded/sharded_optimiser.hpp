// Optimisers of sharded parameters. Where a gradient is brought, where the state lies and what is brought back follows
// from layouts alone: the stages of ZeRO are layouts.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <partita/sharded/gradient_norm.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

template <class X>
auto element_or_none_of() {
  if constexpr (any_tensor<X>) return std::type_identity<element_of_tensor<X>>();
  else return std::type_identity<void>();
}
/// The element of a tensor; void of what is none.
template <class X>
using element_or_none = typename decltype(element_or_none_of<X>())::type;

}  // namespace detail

/// A parameter of an optimiser: a typed or run-time tensor, or a plain array. It is referred to and must live as long.
template <class T>
class trained {
 public:
  /// Its state lies as the parameter does, or as a layout says.
  template <class P>
    requires(!std::is_same_v<std::remove_const_t<P>, trained>)
  trained(P& parameter, std::optional<sharding> state_layout = {})  // NOLINT: written {w1, w2} in a list
      : state_layout_(std::move(state_layout)) {
    constexpr bool may_be_trained = detail::any_tensor<P> && !std::is_const_v<P>;
    static_assert(may_be_trained,
                  "partita::sharded_optimiser: requires parameters that are tensors and may be changed");
    constexpr bool has_elements = may_be_trained && std::is_same_v<detail::element_or_none<P>, T>;
    static_assert(has_elements || !may_be_trained,
                  "partita::sharded_optimiser: requires parameters of the optimiser's element type");
    if constexpr (has_elements) {
      read_ = [&parameter]() -> sharded_tensor<T> { return detail::as_run_time(parameter); };
      data_ = [&parameter] { return parameter.data(); };
      write_ = [&parameter](const sharded_tensor<T>& value) {
        if constexpr (detail::tensor_kind<P> == 0) parameter = detail::as_array<rank_of<P>>(value);
        else parameter = P(value);
      };
    }
  }

  sharded_tensor<T> read() const { return read_(); }
  T* data() const { return data_(); }
  void write(const sharded_tensor<T>& value) const { write_(value); }
  const std::optional<sharding>& state_layout() const { return state_layout_; }

 private:
  std::optional<sharding> state_layout_;
  std::function<sharded_tensor<T>()> read_;
  std::function<T*()> data_;
  std::function<void(const sharded_tensor<T>&)> write_;
};

/// The mesh axes, as in a layout's entry, that cut an optimiser's state further than its parameters are cut; see
/// cut_further. None: the state lies as the parameters do.
struct state_over {
  const char* axes = "";
};
/// The largest global norm of gradients with which a step is taken.
struct clip_norm {
  double most;
};

/// An update rule, and what it keeps for each element of sharded parameters: `sharded_adam<float> optimiser({w1, w2},
/// {.learning_rate = 0.001}, state_over{"data"})`. A step brings each gradient to where the state lies, updates there
/// what a worker holds, and brings the parameter back to its own layout.
/// Shapes:   a gradient for each parameter, of its extents [shape_error], on its mesh [partition_error].
/// Cost:     what these two reshards take, and no more: nothing where parameter, gradient and state lie alike. State
///           cut over the data axis (ZeRO 1) takes a slice and an all_gather; a parameter `reduced` over it, whose
///           gradient is partial (ZeRO 2), a reduce_scatter and an all_gather; a parameter cut over it (ZeRO 3)
///           neither.
template <class T, class Options>
class sharded_optimiser {
 public:
  sharded_optimiser(std::vector<trained<T>> parameters, const Options& options, state_over further = {})
      : parameters_(std::move(parameters)), options_(options) {
    detail::require_options("partita::sharded_optimiser", options);
    for (const trained<T>& p : parameters_) {
      const sharded_tensor<T> w = p.read();
      const sharding own = detail::bare(w.layout());
      detail::require_whole_value(own, "sharded_optimiser");
      layouts_.push_back(detail::bare(p.state_layout() ? *p.state_layout()
                                      : w.state()->on  ? cut_further(own, w.extents(), further.axes)
                                                       : own));
    }
    make_state();
  }
  /// With the options that the rule has by default: `sharded_adam<float> optimiser({w1, w2})`.
  explicit sharded_optimiser(std::initializer_list<trained<T>> parameters)
      : sharded_optimiser(std::vector<trained<T>>(parameters), Options()) {}
  template <class... Given>
    requires(sizeof...(Given) > 0)
  explicit sharded_optimiser(const Given&...) : sharded_optimiser(std::vector<trained<T>>(), Options()) {
    static_assert(detail::dependent_false<Given...>,
                  "partita::sharded_optimiser: requires its parameters in braces, then options that name their values; "
                  "write sharded_adam<float> optimiser({w1, w2}, {.learning_rate = 0.001})");
  }
  template <class Given, class... More>
    requires(!std::is_convertible_v<const Given&, Options>)
  sharded_optimiser(std::initializer_list<trained<T>> parameters, const Given&, const More&...)
      : sharded_optimiser(parameters) {
    static_assert(detail::dependent_false<Given>,
                  "partita::sharded_optimiser: requires options that name their values after the parameters; write "
                  "sharded_adam<float> optimiser({w1, w2}, {.learning_rate = 0.001})");
  }

  explicit sharded_optimiser(std::vector<trained<T>> parameters)
      : sharded_optimiser(std::move(parameters), Options()) {}

  /// One step along gradients in the order of the parameters, as value_and_gradient gives them. Collective.
  template <class... G>
  void step(const std::tuple<G...>& gradients) {
    advance(brought(gradients), 1);
  }
  /// The same along gradients that are scaled so that their global norm is `clip.most` at most; gives the norm that
  /// they had. The norm is taken where the state lies: nothing moves for it but one number.
  template <class... G>
  double step(const std::tuple<G...>& gradients, clip_norm clip) {
    const auto there = brought(gradients);
    const double norm = detail::norm_of(there);
    advance(there, detail::clipping_factor(norm, clip.most));
    return norm;
  }

  Options& options() { return options_; }
  /// Steps taken so far: what a schedule asks for.
  std::size_t steps() const { return static_cast<std::size_t>(steps_); }
  /// How the state of parameter p lies.
  const sharding& state_layout(std::size_t p) const { return layouts_.at(p); }
  /// Number s of the state of parameter p: of Adam the first moment, the second; of SGD with momentum the velocity.
  const sharded_tensor<T>& state(std::size_t p, std::size_t s) const { return state_.at(p).at(s); }
  /// How many parameters there are, and how many states each has now.
  std::size_t parameters() const { return parameters_.size(); }
  std::size_t states_of_parameter() const { return state_.empty() ? 0 : states; }
  /// Sets what was saved; see load_optimiser. Requires a tensor that lies as that state does [partition_error].
  void restore(std::size_t p, std::size_t s, const sharded_tensor<T>& value) {
    if (!(value.extents() == state(p, s).extents()) || !value.layout().same_layout(layouts_[p]))
      throw partition_error(text("partita::sharded_optimiser::restore: requires a tensor that lies as the state, ")
                            << "" << layouts_[p] << " of " << state(p, s).extents() << ", got " << value.layout()
                            << " of " << value.extents() << "; reshard it before");
    state_[p][s] = value;
  }
  void restore_steps(std::size_t taken) { steps_ = static_cast<int>(taken); }
  /// What this worker keeps beside parameters and gradients.
  std::size_t state_bytes() const {
    std::size_t bytes = 0;
    for (const auto& of_one : state_)
      for (const auto& one : of_one) bytes += one.size() * sizeof(T);
    return bytes;
  }

 private:
  static constexpr std::size_t states = detail::states_of<Options>;
  using real = typename detail::real_part<T>::type;

  /// SGD may turn to momentum at any step.
  void make_state() {
    if (!detail::needs_state(options_) || !state_.empty()) return;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const sharded_tensor<T> w = parameters_[p].read();
      state_.emplace_back();
      for (std::size_t s = 0; s < states; ++s) {
        const auto& on = w.state()->on;
        detail::tensor_block<T> none(on ? detail::shape_of_box(on->box(layouts_[p], w.extents())) : w.extents());
        none.fill(T(0));
        state_[p].push_back(detail::tensor_of(on, layouts_[p], w.extents(), std::move(none)));
      }
    }
  }

  template <class... G>
  std::vector<sharded_tensor<T>> brought(const std::tuple<G...>& gradients) const {
    constexpr bool are_gradients = (std::is_same_v<detail::element_or_none<G>, T> && ...);
    static_assert(are_gradients,
                  "partita::sharded_optimiser::step: requires gradients that are tensors of the parameters' elements");
    if constexpr (are_gradients) return brought_here(detail::as_run_time_list(gradients));
    else return std::vector<sharded_tensor<T>>();
  }
  std::vector<sharded_tensor<T>> brought_here(std::vector<sharded_tensor<T>> all) const {
    if (all.size() != parameters_.size())
      throw shape_error(text("partita::sharded_optimiser::step: requires a gradient for each of the ")
                        << parameters_.size() << " parameters, got " << all.size());
    for (std::size_t p = 0; p < all.size(); ++p) {
      const sharded_tensor<T> w = parameters_[p].read();
      if (!(w.extents() == all[p].extents()))
        throw shape_error(text("partita::sharded_optimiser::step: requires for parameter ")
                          << p << " a gradient of its extents " << w.extents() << ", got " << all[p].extents()
                          << "; give gradients in the order of the parameters");
      if (w.state()->on != all[p].state()->on)
        throw partition_error(text("partita::sharded_optimiser::step: requires for parameter ")
                              << p << " a gradient on its mesh; make both from one mesh");
    }
    for (std::size_t p = 0; p < all.size(); ++p) all[p] = reshard(detail::detached(all[p]), layouts_[p]);
    return all;
  }

  void advance(const std::vector<sharded_tensor<T>>& gradients, double factor) {
    detail::require_options("partita::sharded_optimiser::step", options_);
    note();
    make_state();
    ++steps_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const sharding own = parameters_[p].read().layout();
      if (detail::is_one_block(own,
                               layouts_[p])) {  // a copy of the parameter that lived on would have its memory copied
        update(p, parameters_[p].data(), gradients[p], factor);
        continue;
      }
      sharded_tensor<T> part = reshard(parameters_[p].read(), layouts_[p]);
      update(p, part.data(), gradients[p], factor);
      parameters_[p].write(reshard(part, own));
    }
  }
  /// The next agreement compares the options of the steps.
  void note() const {
    if (parameters_.empty()) return;
    const sharded_tensor<T> w = parameters_[0].read();
    hasher all(detail::type_number<Options>());
    all.mix(options_).mix(parameters_.size());
    detail::noted<T>(all.value(), "sharded_optimiser::step", w.state()->on.get(), w.extents(), *w.state());
  }
  void update(std::size_t p, T* value, const sharded_tensor<T>& gradient, double factor) {
    const std::size_t n = gradient.size() * detail::real_part<T>::count;
    detail::flat_parameter<real, states> flat{n,
                                              reinterpret_cast<real*>(value),
                                              reinterpret_cast<const real*>(gradient.data()),
                                              {},
                                              static_cast<real>(factor)};
    for (std::size_t s = 0; s < states && !state_.empty(); ++s)
      flat.state[s] = reinterpret_cast<real*>(state_[p][s].data());
    detail::update(options_, steps_, flat);
  }

  std::vector<trained<T>> parameters_;
  Options options_;
  std::vector<sharding> layouts_;
  std::vector<std::vector<sharded_tensor<T>>> state_;
  int steps_ = 0;
};

/// Stochastic gradient descent with momentum, Adam and AdamW on sharded parameters.
template <class T>
using sharded_sgd = sharded_optimiser<T, sgd_options>;
template <class T>
using sharded_adam = sharded_optimiser<T, adam_options>;
template <class T>
using sharded_adamw = sharded_optimiser<T, adamw_options>;

}  // namespace partita
