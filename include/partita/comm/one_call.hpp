// Runs a call that all workers of a world make, and handles missing memory (std::bad_alloc) in it.
#pragma once

#include <new>
#include <partita/comm/detail/world/world_state.hpp>

namespace partita::detail {

/// While this object lives, the hang report knows that this worker is in a call of all workers. Until the workers agree
/// on the call, call_progress() is `before_agreement`.
class call_scope {
 public:
  explicit call_scope(hang_report& report) : hang_report_(report), previous_progress_(report.call_progress()) {
    if (previous_progress_ == hang_report::progress::outside)
      hang_report_.call_progress(hang_report::progress::before_agreement);
  }
  ~call_scope() { hang_report_.call_progress(previous_progress_); }
  call_scope(const call_scope&) = delete;
  call_scope& operator=(const call_scope&) = delete;

 private:
  hang_report& hang_report_;                 ///< the report of the world of the call
  hang_report::progress previous_progress_;  ///< of this worker before this call, restored at its end
};

/// Returns f(), a call of all workers. If f() throws std::bad_alloc, no worker waits forever. If the workers have not
/// yet agreed on the call, this worker takes part in their agreement with an error, which all workers throw. After the
/// agreement, and always at checks::local, the other workers depend on this worker; if there are any, it prints an
/// error and ends the job.
/// Cost: none.
template <class F>
decltype(auto) one_call(world_state& world, F f) {
  const call_scope now(world.report());
  try {
    return f();
  } catch (const std::bad_alloc&) {
    world.on_memory_lack();
    throw;
  }
}

}  // namespace partita::detail
