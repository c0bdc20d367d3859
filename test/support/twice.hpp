// An operator as a program may have one of its own.
#pragma once

#include <partita/array/strided.hpp>

namespace test {

/// Doubles a block.
struct twice {
  template <class X>
  auto operator()(const X& x) const {
    return xt::xtensor<partita::element_of<X>, partita::rank_of<X>>(2 * x);
  }
  template <class Y>
  auto adjoint(const Y& dy) const {
    return (*this)(dy);
  }
};

}  // namespace test
