// Agreements on a call, by which an error that one worker has is thrown by all workers of the call.
#pragma once

#include <cstdint>
#include <new>
#include <partita/comm/world.hpp>

namespace partita::detail {

/// This worker's error in a call: its kind and its message, or no error.
struct local_error {
  failure kind = failure::none;  ///< the kind of the error; `none` if this worker has no error
  text sentence;                 ///< the error message

  local_error() = default;
  /// An empty message stands for no error, any other message for a shape_error.
  explicit local_error(const text& error_message)
      : kind(error_message.empty() ? failure::none : failure::shape), sentence(error_message) {}
  local_error(failure why, const text& error_message) : kind(why), sentence(error_message) {}

  bool any() const { return kind != failure::none; }  ///< Whether there is an error.
};

/// Calls world_state::agree for a call, at any level of checks: all workers throw an error if the fingerprints (hashes
/// of the call) differ, or if one worker has an error. `describe()` returns the text of the call. Returns the bitwise
/// AND of the `choices` of all workers. Cost: that of world_state::agree.
template <class Describe>
std::uint64_t agree_on_call(world_state& world, std::uint64_t fingerprint, const local_error& own, Describe describe,
                            std::uint64_t choices = 0, speculative_send* speculative = nullptr) {
  return world.agree(
      fingerprint, choices, own.kind, [&] { return own.any() ? own.sentence : text(describe()); }, speculative);
}

/// Calls world_state::agree as agree_on_call does, but at level checks::local the workers do not agree: only the worker
/// with the error throws, and the result is this worker's own choices.
template <class Describe>
std::uint64_t agree_if_checked(world_state& world, std::uint64_t fingerprint, const local_error& own, Describe describe,
                               std::uint64_t choices = 0, speculative_send* speculative = nullptr) {
  if (world.level() == checks::agree) return agree_on_call(world, fingerprint, own, describe, choices, speculative);
  world.begin_call(fingerprint, describe);
  world.finish_pending_operation();
  world.report().clear_final_message();
  if (own.any()) {
    world.leave_messages_unread();
    raise(own.kind, own.sentence);
  }
  return choices;
}

/// Runs `learn(local_error&)`, which prepares what a call needs, and returns its result. An exception of `learn` on one
/// worker is returned in `found_error`, which all workers throw at the next agreement. If the other workers never reach
/// that agreement, because they wait for data of the worker that threw, the job ends with the message of the exception.
/// A communication_error, which MPI reports, is not caught: the workers cannot agree after such an error.
template <class Structure, class Learn>
Structure prepare_call(world_state& world, local_error& found_error, Learn learn) {
  struct scope {
    explicit scope(hang_report& report) : report_(report) { report_.set_is_preparing_call(true); }
    ~scope() { report_.set_is_preparing_call(false); }
    hang_report& report_;
  } const now(world.report());
  if (trace::is_on()) trace::continue_call();
  try {
    return learn(found_error);
  } catch (const communication_error&) {
    throw;
  } catch (const error& thrown) {
    found_error = {failure_kind_of_error(thrown), thrown.sentence()};
  } catch (const std::bad_alloc&) {
    found_error = {failure::memory, text("partita: worker ")
                                        << world.id() << " has no memory to prepare " << world.report().call_name()
                                        << "; give each worker smaller blocks, or more memory"};
  } catch (const std::exception& thrown) {
    found_error = {failure::other, text("partita: worker ") << world.id() << " cannot prepare "
                                                            << world.report().call_name() << ": " << thrown.what()};
  }
  world.leave_messages_unread();
  world.report().set_final_message(found_error.sentence);
  return {};
}

}  // namespace partita::detail
