// The parameters of an optimiser, their sizes when the optimiser was made, and the state that it keeps for each
// element.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/expression.hpp>
#include <partita/nn/parameter.hpp>
#include <partita/nn/update_rule.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Parameters with elements of type T, and `States` numbers of optimiser state for each real number in the parameters.
template <class T, std::size_t States>
class optimised_parameters {
 public:
  using real = real_of<T>;  ///< the type of the numbers that are updated: two of them for a complex element
  using flat_type = flat_parameter<real, States>;  ///< the argument of the function given to for_each()

  /// `state_count` states per real number are allocated at once; the others are allocated on first use.
  optimised_parameters(const char* call, std::vector<parameter<T>> parameters, std::size_t state_count)
      : call_name_(call), parameters_(std::move(parameters)), states_(parameters_.size()) {
    for (const auto& p : parameters_) sizes_.push_back(p.size());
    make_states(state_count);
  }

  /// Calls f with every parameter and `state_count` states of each of its numbers. Throws an error, before the first
  /// call of f, if a parameter or gradient does not have the size that it had when the optimiser was made.
  template <class F>
  void for_each(std::size_t state_count, F f) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (parameters_[p].size() != sizes_[p])
        throw shape_error(text(call_name_) << ": requires parameter " << p << " to keep the " << sizes_[p]
                                           << " elements that it had when the optimiser was made, got "
                                           << parameters_[p].size() << "; assign a block of the first shape");
      if (const text problem = parameters_[p].error_message(); !problem.empty())
        throw shape_error(text(call_name_)
                          << ": requires for parameter " << p << " " << problem << "; assign a gradient of that shape");
    }
    make_states(state_count);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      flat_type one{real_count(p),
                    reinterpret_cast<real*>(parameters_[p].value()),
                    reinterpret_cast<const real*>(parameters_[p].gradient()),
                    {}};
      for (std::size_t s = 0; s < state_count; ++s) one.state[s] = states_[p][s].data();
      f(one);
    }
  }

 private:
  /// Allocates the first `state_count` states of all parameters; new states are zeros.
  void make_states(std::size_t state_count) {
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      for (std::size_t s = 0; s < state_count; ++s) states_[p][s].resize(real_count(p), real(0));
  }
  /// The number of real numbers in parameter p.
  std::size_t real_count(std::size_t p) const { return sizes_[p] * real_part<T>::count; }

  const char* call_name_;                 ///< the call in error messages
  std::vector<parameter<T>> parameters_;  ///< references to the tensors of the layers
  std::vector<std::size_t> sizes_;        ///< the number of elements of each parameter when the optimiser was made
  std::vector<std::array<std::vector<real>, States>> states_;  ///< for each parameter, its states; empty until used
};

}  // namespace partita::detail
