// Access to the parts of a kernel that other kernels and layers are built from, and that programs do not call: errors
// that all workers throw together, and elements that are computed once all have agreed.
#pragma once

#include <partita/core/text.hpp>
#include <utility>

namespace partita::detail {

/// Calls of a kernel with hooks. `objection` is a sentence, or empty: where one worker has one, all throw it as a
/// shape_error. The elements of dy are there when `fill()` returns, which is called once all workers have agreed: who
/// computes longer than the others does not keep them waiting. A view may be where x or dy is, if the worker is in one
/// group only and gives a block to it.
struct kernel_access {
  template <class Kernel, class X>
  static auto call(const Kernel& kernel, const X& x, const text& objection) {
    return kernel.forward_(x, objection);
  }
  template <class Kernel, class X, class View>
  static void into(const Kernel& kernel, const X& x, View&& view, const text& objection) {
    kernel.forward_(x, view, objection);
  }
  template <class Kernel, class Y>
  static auto adjoint(const Kernel& kernel, const Y& dy, const text& objection) {
    return kernel.backward_(dy, objection);
  }
  template <class Kernel, class Y, class Fill>
  static auto start_adjoint(const Kernel& kernel, const Y& dy, const text& objection, Fill fill) {
    return kernel.begin_backward_(dy, objection, std::move(fill));
  }
  template <class Kernel, class Y, class View, class Fill>
  static auto start_adjoint_into(const Kernel& kernel, const Y& dy, View&& view, const text& objection, Fill fill) {
    return kernel.begin_backward_(dy, view, objection, std::move(fill));
  }
  /// Of a kernel that agrees on its structures and on nothing else.
  template <class Kernel>
  static auto identity(const Kernel& kernel) -> decltype(kernel.identity_()) {
    return kernel.identity_();
  }
  /// All workers come here, and throw if one of them has an objection.
  template <class Kernel>
  static auto object(const Kernel& kernel, const text& objection) -> decltype(kernel.object_(objection)) {
    return kernel.object_(objection);
  }
};

}  // namespace partita::detail
