// Optimisers of sharded parameters. Only layouts decide how gradients and parameters are resharded and how the
// optimiser's state is sharded, so the stages of ZeRO are layouts.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/core/version.hpp>
#include <partita/sharded/gradient_norm.hpp>
#include <partita/sharded/named_parameters.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// The mesh axes, written as in a layout's entry, that shard an optimiser's state further than its parameters; see
/// cut_further. Without axes, and unless parameter_ref gives a layout, the state has the parameter's layout.
struct optimiser_state_axes {
  const char* axes = "";  ///< such as "data"; empty: no further axes
};
using state_over PARTITA_FORMER_NAME("use optimiser_state_axes") = optimiser_state_axes;
/// The option of a step of an optimiser that scales all gradients so that their global norm is at most `most`.
struct clip_norm {
  double most;  ///< the largest norm that gradients keep without scaling
};

/// An update rule, and its state for each element of sharded parameters, as in `sharded_adam<float> optimiser({w1, w2},
/// {.learning_rate = 0.001}, optimiser_state_axes{"data"})`. A step reshards each gradient and parameter to the layout
/// of the state, updates this worker's block, and reshards the parameter back to its old layout.
/// Shapes:   one gradient per parameter, with its extents [shape_error] and on its mesh [partition_error].
/// Cost:     communication only by the reshards of gradients and parameters, and none if parameter, gradient and state
///           have the same layout. The reshards are a slice and an all_gather if the state is sharded over the data
///           axis (ZeRO 1), a reduce_scatter and an all_gather if the parameter is `reduced` over this axis, so that
///           its gradient is partial (ZeRO 2), and none if the parameter is sharded over this axis (ZeRO 3).
template <class T, class Options>
class sharded_optimiser {
 public:
  sharded_optimiser(std::vector<parameter_ref<T>> parameters, const Options& options,
                    optimiser_state_axes state_axes = {})
      : parameters_(std::move(parameters)), options_(options) {
    detail::require_options("partita::sharded_optimiser", options);
    for (const parameter_ref<T>& p : parameters_) {
      const sharded_tensor<T> w = p.read();
      const sharding own = detail::layout_of(w.layout());
      detail::require_no_pending_reduction(own, "sharded_optimiser");
      layouts_.push_back(detail::layout_of(p.state_layout() ? *p.state_layout()
                                           : w.state()->on  ? cut_further(own, w.extents(), state_axes.axes)
                                                            : own));
    }
    make_state();
  }
  /// Makes an optimiser with the default options of the rule: `sharded_adam<float> optimiser({w1, w2})`.
  explicit sharded_optimiser(std::initializer_list<parameter_ref<T>> parameters)
      : sharded_optimiser(std::vector<parameter_ref<T>>(parameters), Options()) {}
  PARTITA_FALLBACK_CONSTRUCTOR(sharded_optimiser) {
    static_assert(detail::dependent_false<Given...>,
                  "partita::sharded_optimiser: requires its parameters in braces, then options that name their values; "
                  "write sharded_adam<float> optimiser({w1, w2}, {.learning_rate = 0.001})");
  }

  explicit sharded_optimiser(std::vector<parameter_ref<T>> parameters)
      : sharded_optimiser(std::move(parameters), Options()) {}
  /// Makes an optimiser of named parameters, in their order.
  template <class Named>  // a template, so that {w1, w2} is not converted to it
    requires std::is_same_v<Named, named_parameters<T>>
  sharded_optimiser(const Named& parameters, const Options& options, optimiser_state_axes state_axes = {})
      : sharded_optimiser(parameters.all(), options, state_axes) {}
  template <class Named>
    requires std::is_same_v<Named, named_parameters<T>>
  explicit sharded_optimiser(const Named& parameters) : sharded_optimiser(parameters.all()) {}  ///< by default options

  /// Makes one step with gradients in the order of the parameters, as value_and_gradient returns them. Collective.
  template <class... G>
  void step(const std::tuple<G...>& gradients) {
    const auto there = to_state_layout(gradients);
    log_call(there, 0);
    update_parameters(there, 1);
  }
  /// Makes one step with gradients that are scaled so that their global norm is at most `clip.most`. Returns the
  /// gradients' norm before scaling. The norm is computed in the layout of the state, so only one number per worker is
  /// exchanged for it.
  template <class... G>
  double step(const std::tuple<G...>& gradients, clip_norm clip) {
    detail::require_limit("partita::sharded_optimiser::step(gradients, clip_norm)", clip.most);
    const auto there = to_state_layout(gradients);
    log_call(there, clip.most);
    const double norm = detail::norm_of_list(there);
    update_parameters(there, detail::clipping_factor(norm, clip.most));
    return norm;
  }

  PARTITA_FALLBACK_OVERLOAD(step) {
    static_assert(
        detail::dependent_false<Given...>,
        "partita::sharded_optimiser::step(gradients): requires the gradients that value_and_gradient returns, "
        "a std::tuple with one for each parameter; write optimiser.step(gradients)");
  }

  Options& options() { return options_; }  ///< those of the update rule; may be changed between steps
  /// The number of steps taken so far, for learning-rate schedules.
  std::size_t steps() const { return static_cast<std::size_t>(steps_); }
  /// The layout of the optimiser's states for parameter number p.
  const sharding& state_layout(std::size_t p) const { return layouts_.at(p); }
  /// State s of parameter p: for Adam the first and the second moment, and with amsgrad the largest second moment so
  /// far; for SGD with momentum the velocity.
  const sharded_tensor<T>& state(std::size_t p, std::size_t s) const { return states_.at(p).at(s); }
  std::size_t parameters() const { return parameters_.size(); }  ///< the number of parameters
  /// The number of states that each parameter has now.
  std::size_t states_of_parameter() const { return states_.empty() ? 0 : states_[0].size(); }
  /// Sets state s of parameter p to a saved state; see load_optimiser. The saved tensor must be on the mesh of the
  /// optimiser's state and have its layout [partition_error].
  void restore(std::size_t p, std::size_t s, const sharded_tensor<T>& value) {
    if (value.state()->on != state(p, s).state()->on)
      throw partition_error(
          "partita::sharded_optimiser::restore: requires a tensor on the mesh of the state; reshard it to that mesh");
    if (!(value.extents() == state(p, s).extents()) || !value.layout().same_layout(layouts_[p]))
      throw partition_error(
          text("partita::sharded_optimiser::restore: requires a tensor with the layout of the state, ")
          << "" << layouts_[p] << " of " << state(p, s).extents() << ", got " << value.layout() << " of "
          << value.extents() << "; reshard it before");
    states_[p][s] = value;
  }
  void restore_steps(std::size_t step_count) { steps_ = static_cast<int>(step_count); }  ///< Sets the number of steps.
  /// The bytes of state that this worker keeps in addition to parameters and gradients.
  std::size_t state_bytes() const {
    std::size_t bytes = 0;
    for (const auto& of_one : states_)
      for (const auto& one : of_one) bytes += one.size() * sizeof(T);
    return bytes;
  }

 private:
  static constexpr std::size_t max_states = detail::max_state_count<Options>;  ///< the most states of one parameter
  using real = detail::real_of<T>;  ///< T, or for a complex T the type of its two parts

  /// Creates the states that the options need and that do not exist, because SGD may switch to momentum at any step.
  void make_state() {
    const std::size_t used = detail::states_used(options_);
    if (used <= states_of_parameter()) return;
    states_.resize(parameters_.size());
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const sharded_tensor<T> w = parameters_[p].read();
      while (states_[p].size() < used) {
        const auto& on = w.state()->on;
        detail::tensor_block<T> none(on ? detail::shape_of_box(on->box(layouts_[p], w.extents())) : w.extents());
        none.fill(T(0));
        states_[p].push_back(detail::tensor_of(on, layouts_[p], w.extents(), std::move(none)));
      }
    }
  }

  /// Checks the gradients, and reshards each to the layout of its parameter's states.
  template <class... G>
  std::vector<sharded_tensor<T>> to_state_layout(const std::tuple<G...>& gradients) const {
    constexpr bool are_gradients = (detail::has_elements_of_type<G, T> && ...);
    static_assert(are_gradients,
                  "partita::sharded_optimiser::step: requires gradients that are tensors of the parameters' elements");
    if constexpr (are_gradients) return reshard_gradients(detail::list_gradients(gradients));
    else return std::vector<sharded_tensor<T>>();
  }
  std::vector<sharded_tensor<T>> reshard_gradients(std::vector<sharded_tensor<T>> all) const {  ///< and checks them
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
    for (std::size_t p = 0; p < all.size(); ++p) all[p] = reshard(detail::detach(all[p]), layouts_[p]);
    return all;
  }

  /// Updates all parameters and states by the gradients times `factor`.
  void update_parameters(const std::vector<sharded_tensor<T>>& gradients, double factor) {
    make_state();
    ++steps_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const sharding own = parameters_[p].read().layout();
      if (detail::have_same_block(own, layouts_[p])) {  // keeping a copy of the tensor would make data() copy memory
        update_block(p, parameters_[p].data(), gradients[p], factor);
        continue;
      }
      // Reshard the parameter to the layout of its state, update it, and reshard it back.
      sharded_tensor<T> part = reshard(parameters_[p].read(), layouts_[p]);
      update_block(p, part.data(), gradients[p], factor);
      parameters_[p].write(reshard(part, own));
    }
  }
  /// Checks and records the options of this step and its gradients; the next agreement compares them on all workers.
  void log_call(const std::vector<sharded_tensor<T>>& gradients, double max_norm) const {
    detail::require_options("partita::sharded_optimiser::step", options_);
    if (parameters_.empty()) return;
    hasher all(detail::type_number<Options>());
    all.mix(options_).mix(parameters_.size()).mix(max_norm);
    for (const parameter_ref<T>& one : parameters_) all.mix(one.read().state()->number);
    const auto& first = *gradients[0].state();
    detail::record_operation<T>(all.value(), "sharded_optimiser::step", first.on.get(), first.extents, gradients);
  }
  /// Updates this worker's block of parameter p, at address `value`, and of its states.
  void update_block(std::size_t p, T* value, const sharded_tensor<T>& gradient, double factor) {
    const std::size_t n = gradient.size() * detail::real_part<T>::count;
    real* const x = reinterpret_cast<real*>(value);
    const real* const dx = reinterpret_cast<const real*>(gradient.data());
    detail::flat_parameter<real, max_states> flat{n, x, dx, {}, static_cast<real>(factor)};
    for (std::size_t s = 0; s < states_of_parameter(); ++s)
      flat.state[s] = reinterpret_cast<real*>(states_[p][s].data());
    detail::update(options_, steps_, flat);
  }

  std::vector<parameter_ref<T>> parameters_;            ///< references to the tensors that a step updates
  Options options_;                                     ///< of the update rule
  std::vector<sharding> layouts_;                       ///< for each parameter, the layout of its states
  std::vector<std::vector<sharded_tensor<T>>> states_;  ///< for each parameter, its states, such as moments
  int steps_ = 0;                                       ///< the number of steps taken so far
};

/// Stochastic gradient descent, with momentum if the options ask for it, on sharded parameters.
template <class T>
using sharded_sgd = sharded_optimiser<T, sgd_options>;
template <class T>
using sharded_adam = sharded_optimiser<T, adam_options>;  ///< Adam
template <class T>
using sharded_adamw = sharded_optimiser<T, adamw_options>;  ///< AdamW, with decoupled weight decay

}  // namespace partita
