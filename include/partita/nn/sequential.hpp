// The composition of layers to a network.
#pragma once

#include <partita/array/expression.hpp>
#include <partita/nn/parameter.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {
namespace detail {

/// Whether Layer is a class, but not a tensor. Layers may accept any tensor type, so nothing else can be checked here.
template <class Layer>
inline constexpr bool may_be_layer = std::is_class_v<Layer> && !array_expression<Layer>;

}  // namespace detail

/// The composition of layers: the first argument is applied first. All workers call the network, also workers that are
/// inactive in some layer.
/// Adjoint:  adjoint(dy) calls the adjoints of the layers in reverse order; each layer accumulates its gradients.
template <class... Layers>
class sequential {
 public:
  explicit sequential(Layers... layers) : layers_(std::move(layers)...) {
    static_assert((detail::may_be_layer<Layers> && ...),
                  "partita::sequential(layers...): requires layers, which are called with a block and have an adjoint");
  }

  template <class X>
  auto operator()(const X& x) {
    return forward_from_layer<0>(x);
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return forward_from_layer<0>(x);
  }
  /// Calls the adjoints of the layers in reverse order, and returns the gradient with respect to x.
  template <class Y>
  auto adjoint(const Y& dy) {
    return adjoint_from_layer<sizeof...(Layers)>(dy);
  }

  /// Layer K, counted from 0.
  template <std::size_t K>
  auto& layer() {
    return std::get<K>(layers_);
  }
  /// Sets this worker's gradients of all layers to zero.
  void zero_gradients() {
    for_each_layer([](auto& layer) {
      if constexpr (requires { layer.zero_gradients(); }) layer.zero_gradients();
    });
  }
  /// Sets the layers that act differently in training and in evaluation (batch_norm, dropout) to training mode.
  void train() {
    for_each_layer([](auto& layer) {
      if constexpr (requires { layer.train(); }) layer.train();
    });
  }
  /// Sets the layers that have a mode to evaluation mode.
  void evaluate() {
    for_each_layer([](auto& layer) {
      if constexpr (requires { layer.evaluate(); }) layer.evaluate();
    });
  }
  /// The parameters of all layers. The result stays valid as long as the network lives.
  auto parameters() {
    static_assert(has_parameters, "partita::sequential::parameters(): requires a layer that has parameters");
    if constexpr (has_parameters) return collect_parameters(first_parameters<0>());
  }

 private:
  template <class Layer>
  static constexpr bool layer_has_parameters = requires(Layer& layer) { layer.parameters(); };
  static constexpr bool has_parameters = (layer_has_parameters<Layers> || ...);  ///< whether any layer has parameters

  /// Applies layer K and all later layers to x.
  template <std::size_t K, class X>
  auto forward_from_layer(const X& x) {
    if constexpr (K == sizeof...(Layers)) return x;
    else return forward_from_layer<K + 1>(std::get<K>(layers_)(x));
  }
  /// Applies the adjoints of the first K layers to dy, that of layer K - 1 first.
  template <std::size_t K, class Y>
  auto adjoint_from_layer(const Y& dy) {
    if constexpr (K == 0) return dy;
    else return adjoint_from_layer<K - 1>(std::get<K - 1>(layers_).adjoint(dy));
  }
  /// Calls f(layer) for each layer, the first layer first.
  template <class F>
  void for_each_layer(F f) {
    std::apply([&](auto&... layer) { (f(layer), ...); }, layers_);
  }
  /// The parameters of the first layer that has any, from layer K on.
  template <std::size_t K>
  auto first_parameters() {
    if constexpr (requires { std::get<K>(layers_).parameters(); }) return std::get<K>(layers_).parameters();
    else return first_parameters<K + 1>();
  }
  /// The parameters of all layers; `all` only gives the type of the result.
  template <class Vector>
  Vector collect_parameters(Vector all) {
    all.clear();
    for_each_layer([&](auto& layer) {
      if constexpr (requires { layer.parameters(); })
        for (auto& p : layer.parameters()) all.push_back(p);
    });
    return all;
  }

  std::tuple<Layers...> layers_;  ///< the first is applied first
};

}  // namespace partita
