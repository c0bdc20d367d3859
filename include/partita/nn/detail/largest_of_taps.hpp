// Layers that give the largest element of each window.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/detail/windowed.hpp>
#include <vector>

namespace partita::detail {

/// A layer whose output is the largest of its taps, the first of them in C order where several are.
template <class Rule, class Extents>
class largest_of_taps {
 protected:
  static constexpr std::size_t rank = Extents::rank();

 public:
  template <class X>
  auto operator()(const X& x) {
    if constexpr (takes_block<X, rank>()) return taken(x);
  }
  template <class X>
  auto forward(const X& x) {
    return (*this)(x);
  }
  template <class Y>
  auto adjoint(const Y& dy) {
    if constexpr (takes_block_back<Y, rank>()) return taken_back(dy);
  }

 protected:
  largest_of_taps(const partition<Extents>& p, const Rule& rule) : moved_(partition<dynamic_extents<rank>>(p), rule) {}

 private:
  template <class X>
  auto taken(const X& x) {
    using T = element_of<X>;
    const auto window = moved_.bring(x);
    if (!moved_.p().active()) return xt::xtensor<T, rank>(window);
    const local_taps<rank>& by = moved_.local();
    auto y = uninitialised<T, rank>(by.outputs);
    chosen_.assign(y.size(), none);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const auto o = index_of(k, by.outputs);
      T best = maximum_t::identity<T>();
      std::array<std::size_t, rank> tap{};
      for (std::size_t d = 0; d < rank; ++d) tap[d] = by.along[d].first[o[d]];
      bool more = true;
      for (std::size_t d = 0; d < rank; ++d) more = more && tap[d] < by.along[d].first[o[d] + 1];
      while (more) {
        std::size_t at = 0;
        for (std::size_t d = 0; d < rank; ++d) at = at * by.window[d] + by.along[d].input[tap[d]];
        const T value = window.data()[at];
        if (chosen_[k] == none || value > best || (value != value && best == best)) best = value, chosen_[k] = at;
        std::size_t d = rank;
        while (d > 0 && ++tap[d - 1] == by.along[d - 1].first[o[d - 1] + 1])
          tap[d - 1] = by.along[d - 1].first[o[d - 1]], --d;
        more = d > 0;
      }
      y.data()[k] = best;
    }
    return y;
  }
  template <class Y>
  auto taken_back(const Y& dy) {
    using T = element_of<Y>;
    const xt::xtensor<T, rank> block = dy;
    const text objection = moved_.objection_to(block);
    if (!moved_.p().active()) return moved_.deliver(block, objection);
    auto of_window = uninitialised<T, rank>(moved_.local().window);
    of_window.fill(T(0));
    for (std::size_t k = 0; k < block.size() && objection.empty(); ++k)
      if (chosen_[k] != none)
        of_window.data()[chosen_[k]] = static_cast<T>(of_window.data()[chosen_[k]] + block.data()[k]);
    return moved_.deliver(of_window, objection);
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  windowed<Rule, rank> moved_;
  std::vector<std::size_t> chosen_;  // for each output where its tap is in the window
};

}  // namespace partita::detail
