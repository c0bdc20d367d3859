// Runs a call that all workers of a world make, and handles missing memory (std::bad_alloc) in it.
#pragma once

#include <new>
#include <partita/comm/detail/world/world_state.hpp>

namespace partita::detail {

/// Returns f(), a call of all workers. std::bad_alloc leaves no other worker waiting. If the workers have not yet
/// agreed on the call, this worker takes part in their agreement with an error, which all workers throw. If they have
/// agreed, and always at checks::local, the other workers depend on this one, so it prints an error and ends the job.
/// Cost: none.
template <class F>
decltype(auto) one_call(world_state& world, F f) {
  struct scope {
    explicit scope(hang_report& of) : report(of), before(of.in_call()) {
      if (before == hang_report::progress::outside) report.in_call(hang_report::progress::before_agreement);
    }
    ~scope() { report.in_call(before); }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    hang_report& report;
    hang_report::progress before;
  } const now(world.report());
  try {
    return f();
  } catch (const std::bad_alloc&) {
    world.lacks_memory();
    throw;
  }
}

}  // namespace partita::detail
