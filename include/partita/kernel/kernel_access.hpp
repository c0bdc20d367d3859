// Gives other kernels and layers, but not programs, access to private calls of a kernel: calls with an error that all
// workers throw together, and calls whose input is computed only after all workers have agreed.
#pragma once

#include <partita/core/text.hpp>
#include <utility>

namespace partita::detail {

/// An empty error message, so that a call without errors need not construct one.
inline const text no_error;

/// Calls of a kernel with additional arguments. If one worker passes an `error_message` that is not empty, all workers
/// throw it as a shape_error at checks::agree. `fill()` is called after all workers have agreed, and must have written
/// the elements of dy when it returns; so a worker that computes longer does not delay the agreement. A view may be the
/// memory of x or dy, if the worker belongs to only one group and contributes a block to this group.
struct kernel_access {
  template <class Kernel, class X>
  static auto call(const Kernel& kernel, const X& x, const text& error_message) {  ///< blocking; returns the result
    return kernel.forward_(x, error_message);
  }
  template <class Kernel, class X, class View>
  static void into(const Kernel& kernel, const X& x, View&& view, const text& error_message) {  ///< fills a view
    kernel.forward_(x, view, error_message);
  }
  template <class Kernel, class Y>
  static auto adjoint(const Kernel& kernel, const Y& dy, const text& error_message) {  ///< returns the adjoint's result
    return kernel.backward_(dy, error_message);
  }
  /// Starts the adjoint, whose finish() returns its result; start_adjoint_into writes the result into `view`.
  template <class Kernel, class Y, class Fill>
  static auto start_adjoint(const Kernel& kernel, const Y& dy, const text& error_message, Fill fill) {
    return kernel.begin_backward_(dy, error_message, std::move(fill));
  }
  /// Starts the adjoint, whose result is written into `view`.
  template <class Kernel, class Y, class View, class Fill>
  static auto start_adjoint_into(const Kernel& kernel, const Y& dy, View&& view, const text& error_message, Fill fill) {
    return kernel.begin_backward_(dy, view, error_message, std::move(fill));
  }
  /// Returns the world and the number of a kernel whose workers agree on plans and on nothing else.
  template <class Kernel>
  static auto identity(const Kernel& kernel) -> decltype(kernel.identity_()) {
    return kernel.identity_();
  }
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  template <class Kernel>
  static auto throw_together(const Kernel& kernel, const text& error_message)
      -> decltype(kernel.throw_together_(error_message)) {
    return kernel.throw_together_(error_message);
  }
};

/// The operator K can report an error of one worker to all workers: it is a kernel of the library, or is made of
/// operators of which one is such a kernel.
template <class K>
concept reports_errors =
    requires(const K& k, const text& error_message) { kernel_access::throw_together(k, error_message); };

/// The first of some operators that can report errors to all workers; the first of all if none can.
template <class First, class... Rest>
constexpr const auto& reporter_of(const First& first, const Rest&... rest) {
  if constexpr (reports_errors<First> || !(reports_errors<Rest> || ...)) return first;
  else return reporter_of(rest...);
}

}  // namespace partita::detail
