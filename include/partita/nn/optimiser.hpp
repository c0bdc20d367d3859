// Optimisers. Each worker updates the blocks that it keeps, without communication.
//
// A complex element is treated as two real numbers, as in PyTorch: its gradient holds the derivatives with respect to
// these two numbers.
#pragma once

#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/optimised_parameters.hpp>
#include <partita/nn/parameter.hpp>
#include <partita/nn/update_rule.hpp>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// An optimiser of the parameters of layers: an update rule, and the state that it keeps.
template <class T, class Options>
class optimiser_of_layers {
 public:
  /// Makes one step with the current gradients, and does not reset the gradients to zero. Requires parameters and
  /// gradients of the sizes that they had when the optimiser was made, and valid options [shape_error on this worker;
  /// then no parameter is changed].
  void step() {
    require_options(call_name_, options_);
    parameters_.for_each(states_used(options_), [&](const auto& p) { update(options_, steps_ + 1, p); });
    ++steps_;
  }
  Options& options() { return options_; }  ///< those of the next steps; a program may assign them

 protected:
  optimiser_of_layers(const char* call, std::vector<parameter<T>> parameters, const Options& options)
      : parameters_(call, std::move(parameters), states_used(options)), options_(options), call_name_(call) {
    require_options(call, options);
  }

 private:
  optimised_parameters<T, max_state_count<Options>> parameters_;  ///< the tensors of the layers, with states
  Options options_;                                               ///< the options of the next steps
  const char* call_name_;                                         ///< the call in error messages
  int steps_ = 0;                                                 ///< the number of steps so far
};

}  // namespace detail

/// Stochastic gradient descent: v = momentum v + g, w = w - learning_rate v. `sgd_options` adds dampening, weight decay
/// and Nesterov's momentum.
template <class T>
class sgd : public detail::optimiser_of_layers<T, sgd_options> {
 public:
  sgd(std::vector<parameter<T>> parameters, const sgd_options& options)
      : detail::optimiser_of_layers<T, sgd_options>("partita::sgd::step()", std::move(parameters), options) {}
  explicit sgd(std::vector<parameter<T>> parameters) : sgd(std::move(parameters), sgd_options()) {}
  template <class... A>
  explicit sgd(const A&...) : sgd(std::vector<parameter<T>>(), sgd_options()) {  ///< always a compile-time error
    static_assert(detail::dependent_false<A...>,
                  "partita::sgd<T>(parameters, options): requires the parameters of layers and options; write "
                  "sgd<float>(layer.parameters(), {.learning_rate = ...})");
  }
};

/// The optimiser Adam (Kingma and Ba 2015, algorithm 1). `adam_options` adds weight decay and AMSGrad.
template <class T>
class adam : public detail::optimiser_of_layers<T, adam_options> {
 public:
  adam(std::vector<parameter<T>> parameters, const adam_options& options)
      : detail::optimiser_of_layers<T, adam_options>("partita::adam::step()", std::move(parameters), options) {}
  explicit adam(std::vector<parameter<T>> parameters) : adam(std::move(parameters), adam_options()) {}
  template <class... A>
  explicit adam(const A&...) : adam(std::vector<parameter<T>>(), adam_options()) {
    static_assert(detail::dependent_false<A...>,
                  "partita::adam<T>(parameters, options): requires the parameters of layers and options; write "
                  "adam<float>(layer.parameters(), {.learning_rate = ...})");
  }
};

/// The optimiser AdamW, Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).
template <class T>
class adamw : public detail::optimiser_of_layers<T, adamw_options> {
 public:
  adamw(std::vector<parameter<T>> parameters, const adamw_options& options)
      : detail::optimiser_of_layers<T, adamw_options>("partita::adamw::step()", std::move(parameters), options) {}
  explicit adamw(std::vector<parameter<T>> parameters) : adamw(std::move(parameters), adamw_options()) {}
  template <class... A>
  explicit adamw(const A&...) : adamw(std::vector<parameter<T>>(), adamw_options()) {
    static_assert(detail::dependent_false<A...>,
                  "partita::adamw<T>(parameters, options): requires the parameters of layers and options; write "
                  "adamw<float>(layer.parameters(), {.learning_rate = ...})");
  }
};

PARTITA_FALLBACK_CLASS(sgd, detail::element_type_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::sgd(parameters, options): requires the parameters of layers, and options that say their "
                "names; write sgd(layer.parameters(), {.learning_rate = 0.01})");
}

PARTITA_FALLBACK_CLASS(adam, detail::element_type_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::adam(parameters, options): requires the parameters of layers, and options that say their "
                "names; write adam(layer.parameters(), {.learning_rate = 0.01})");
}

PARTITA_FALLBACK_CLASS(adamw, detail::element_type_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::adamw(parameters, options): requires the parameters of layers, and options that say their "
                "names; write adamw(layer.parameters(), {.learning_rate = 0.01})");
}

}  // namespace partita
