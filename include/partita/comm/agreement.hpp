// What a worker has to complain about, and how all workers come to throw the same.
#pragma once

#include <cstdint>
#include <new>
#include <partita/comm/world.hpp>

namespace partita::detail {

/// A worker's objection to a call: the kind of error and its sentence, or none.
struct complaint {
  failure kind = failure::none;
  text sentence;

  complaint() = default;
  /// A sentence that is not empty is a shape_error.
  explicit complaint(const text& objection)
      : kind(objection.empty() ? failure::none : failure::shape), sentence(objection) {}
  complaint(failure why, const text& objection) : kind(why), sentence(objection) {}

  bool any() const { return kind != failure::none; }
};

/// All workers throw if one of them complains, and the same; at level checks::local a worker that complains throws
/// alone. `fingerprint` tells this call from others, `describe()` says what it is. Returns the choices that all workers
/// have in common (those given where nobody asks). Cost: what world_state::agree costs; none at level checks::local.
template <class Describe>
std::uint64_t agree_if_checked(world_state& world, std::uint64_t fingerprint, const complaint& own, Describe describe,
                               std::uint64_t choices = 0, speculative_send* ahead = nullptr) {
  if (world.level() == checks::agree)
    return world.agree(
        fingerprint, choices, own.kind, [&] { return own.any() ? own.sentence : text(describe()); }, ahead);
  world.begin_call(fingerprint, describe);
  world.end_under_way();
  world.report().was_heard();
  if (own.any()) {
    world.leave_messages_unread();
    raise(own.kind, own.sentence);
  }
  return choices;
}

/// What `learn(complaint&)` finds out. What it throws on one worker becomes the complaint of all; if the others cannot
/// come to hear it, because they wait for this worker where it threw, the job is ended with that sentence. Only what
/// MPI reports goes on as it is: there is no agreeing after it.
template <class Structure, class Learn>
Structure learnt(world_state& world, complaint& trouble, Learn learn) {
  struct scope {
    explicit scope(hang_report& report) : report_(report) { report_.learning(true); }
    ~scope() { report_.learning(false); }
    hang_report& report_;
  } const now(world.report());
  if (trace::on()) trace::goes_on();
  try {
    return learn(trouble);
  } catch (const communication_error&) {
    throw;
  } catch (const error& thrown) {
    trouble = {failure_of(thrown), thrown.sentence()};
  } catch (const std::bad_alloc&) {
    trouble = {failure::memory, text("partita: worker ")
                                    << world.id() << " has no memory to prepare " << world.report().name()
                                    << "; give each worker smaller blocks, or more memory"};
  } catch (const std::exception& thrown) {
    trouble = {failure::other, text("partita: worker ") << world.id() << " cannot prepare " << world.report().name()
                                                        << ": " << thrown.what()};
  }
  world.leave_messages_unread();
  world.report().final_message(trouble.sentence);
  return {};
}

}  // namespace partita::detail
