// The parameters of a model: references to tensors of any kind, alone or in a list with names, for optimisers and
// checkpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <partita/sharded/operate.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// X is a tensor or an array of elements T.
template <class X, class T>
concept has_elements_of_type = any_tensor<X> && std::is_same_v<element_of_tensor<X>, T>;

}  // namespace detail

/// A parameter of an optimiser: a typed or run-time tensor, or a plain array. The optimiser keeps a reference, so the
/// parameter must outlive it.
template <class T>
class parameter_ref {
 public:
  /// The optimiser's state for this parameter gets the layout `state_layout`; if none is given, the optimiser derives
  /// the layout from that of the parameter.
  template <class P>
    requires(!std::is_same_v<std::remove_const_t<P>, parameter_ref>)
  parameter_ref(P& parameter, std::optional<sharding> state_layout = {})  // NOLINT: written {w1, w2} in a list
      : state_layout_(std::move(state_layout)) {
    constexpr bool may_be_trained = detail::any_tensor<P> && !std::is_const_v<P>;
    static_assert(may_be_trained,
                  "partita::sharded_optimiser: requires parameters that are tensors and may be changed");
    constexpr bool has_elements = may_be_trained && detail::has_elements_of_type<P, T>;
    static_assert(has_elements || !may_be_trained,
                  "partita::sharded_optimiser: requires parameters of the optimiser's element type");
    if constexpr (has_elements) {
      read_value_ = [&parameter]() -> sharded_tensor<T> { return detail::as_run_time(parameter); };
      get_data_ = [&parameter] { return parameter.data(); };
      write_value_ = [&parameter](const sharded_tensor<T>& value) {
        if constexpr (detail::tensor_kind<P> == 0) parameter = detail::as_array<rank_of<P>>(value);
        else parameter = P(value);
      };
    }
  }

  sharded_tensor<T> read() const { return read_value_(); }  ///< the value, as a tensor with a run-time layout
  T* data() const { return get_data_(); }                   ///< this worker's block, which may be changed
  void write(const sharded_tensor<T>& value) const { write_value_(value); }      ///< sets the parameter to this value
  const std::optional<sharding>& state_layout() const { return state_layout_; }  ///< of the optimiser's state, if given

 private:
  std::optional<sharding> state_layout_;  ///< of the optimiser's state; none: derived from the parameter's layout
  std::function<sharded_tensor<T>()> read_value_;              ///< returns the parameter as a run-time tensor
  std::function<T*()> get_data_;                               ///< returns the address of this worker's block
  std::function<void(const sharded_tensor<T>&)> write_value_;  ///< sets the parameter to a value
};

/// Parameters with names, for optimisers and checkpoints: `named_parameters<float> all{{"weight", w}, {"bias", b}}`,
/// then `sharded_adam<float> optimiser(all)`, `save_tensors("run", step, all)` and `load_tensors("run", all)`.
/// Gradients must be in the order of the list; checkpoints use the names. The list keeps references to the tensors,
/// which must outlive the list and the optimisers made from it.
/// Requires: names that differ from each other [shape_error]; for checkpoints, tensors on a mesh, and names that are
/// valid in file names.
template <class T>
class named_parameters {
 public:
  struct entry {                 ///< a parameter and its name
    std::string name;            ///< differs from the names of all other parameters
    parameter_ref<T> parameter;  ///< the reference to the tensor
  };

  named_parameters(std::initializer_list<entry> all) {
    for (const entry& one : all) add(one.name, one.parameter);
  }
  /// Adds a parameter. The name must differ from the names of all other parameters [shape_error].
  void add(const std::string& name, const parameter_ref<T>& parameter) {
    for (const std::string& other : names_)
      if (other == name)
        throw shape_error(text("partita::named_parameters: requires a name of its own for each parameter; \"")
                          << name.c_str() << "\" is given twice");
    names_.push_back(name);
    all_.push_back(parameter);
  }

  std::size_t size() const { return all_.size(); }                       ///< the number of parameters
  const std::string& name(std::size_t p) const { return names_.at(p); }  ///< of parameter p, from 0
  const std::vector<parameter_ref<T>>& all() const { return all_; }      ///< in order, without names
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<std::string> names_;     ///< in the order of all_
  std::vector<parameter_ref<T>> all_;  ///< the parameters, in the order in which they were given
};

}  // namespace partita
