// The parameters of an optimiser, with the sizes they had when it was made, and the state that it keeps for each
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

/// Parameters of T, and `States` numbers of state for each real number in them.
template <class T, std::size_t States>
class optimised {
 public:
  using real = typename real_part<T>::type;
  using flat = flat_parameter<real, States>;

  optimised(const char* call, std::vector<parameter<T>> parameters)
      : call_(call), parameters_(std::move(parameters)), states_(parameters_.size()) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      sizes_.push_back(parameters_[p].size());
      for (auto& state : states_[p]) state.resize(numbers(p), real(0));
    }
  }

  /// Calls f with every parameter, after checking that all parameters and their gradients still have their sizes.
  template <class F>
  void for_each(F f) {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      if (parameters_[p].size() != sizes_[p])
        throw shape_error(text(call_) << ": requires parameter " << p << " to keep the " << sizes_[p]
                                      << " elements that it had when the optimiser was made, got "
                                      << parameters_[p].size() << "; assign a block of the first shape");
      if (const text problem = parameters_[p].problem(); !problem.empty())
        throw shape_error(text(call_) << ": requires for parameter " << p << " " << problem
                                      << "; assign a gradient of that shape");
    }
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      flat one{numbers(p),
               reinterpret_cast<real*>(parameters_[p].value()),
               reinterpret_cast<const real*>(parameters_[p].gradient()),
               {}};
      for (std::size_t s = 0; s < States; ++s) one.state[s] = states_[p][s].data();
      f(one);
    }
  }

 private:
  std::size_t numbers(std::size_t p) const { return sizes_[p] * real_part<T>::count; }

  const char* call_;
  std::vector<parameter<T>> parameters_;
  std::vector<std::size_t> sizes_;
  std::vector<std::array<std::vector<real>, States>> states_;
};

}  // namespace partita::detail
