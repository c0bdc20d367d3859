// A call of a chain of kernels needs one agreement of the workers instead of one for each kernel, once all kernels use
// cached plans: the results of the kernels' agreements are cached by the shape of the chain's block.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/strided.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/untyped_block.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// K is a kernel that has an identity: its arguments determine the shapes of its results, and its calls agree on plans
/// only.
template <class K>
concept has_identity = requires(const K& k) {
  { kernel_access::identity(k) } -> std::same_as<kernel_identity>;
};

template <class X>
concept has_shape = ranked_array<X> && rank_of<X> <= most_dimensions;
/// Copies the shape of any expression to a block_shape.
template <has_shape X>
block_shape to_block_shape(const X& x) {
  block_shape shape{};
  for (std::size_t d = 0; d < rank_of<X>; ++d) shape[d] = static_cast<std::size_t>(x.shape()[d]);
  return shape;
}

/// This worker's call of a chain of kernels.
struct chained_call {
  const char* name;                   ///< the name of the call as the user writes it
  std::size_t operator_count;         ///< the number of operators in the chain
  kernel_identity chain_identity;     ///< the world, and a fingerprint of the chain
  std::uint64_t element_type_number;  ///< the number of the element type, equal on all workers
  text (*element_type_name)();        ///< writes the element type in messages
  std::size_t rank;                   ///< the rank of the block
  block_shape shape{}, view_shape{};  ///< the shapes of this worker's block and of the view to fill
  bool fills_view = false;            ///< whether the caller passes the view to fill

  bool matches_key(const plan_key& key) const {  // whether the key has the shapes of this call
    return key.block.equals(&shape, rank) && key.view.equals(fills_view ? &view_shape : nullptr, rank);
  }
  plan_key key() const {  // the shapes of the block, and of the view if there is one
    plan_key found{{rank, shape}, {}};
    if (fills_view) found.view = {rank, view_shape};
    return found;
  }
  text describe() const {  // the call in messages
    text all("partita::");
    all << name << " of " << operator_count << " operators with a block of shape " << shape_text(shape, rank);
    return all << " and elements of type " << element_type_name();
  }
};

/// Runs the calls of a chain of kernels in one direction, forward or adjoint, and caches the kernels' agreements.
class chained_calls {
 public:
  /// Runs a call of the chain. `run()` calls the kernels one after another and returns the result; `plan_count()` is
  /// the number of plans that the kernels have made. At checks::agree all workers agree on the call of the chain; if
  /// every worker has cached the kernels' agreements in a call with these shapes, and the kernels have made no plan
  /// since that call, the cached agreements are replayed; otherwise each kernel makes its own agreement.
  template <class Made, class Run>
  auto carry_out(const chained_call& call, Made plan_count, Run run) {
    world_state& world = *call.chain_identity.world;
    const auto describe = [&] { return call.describe(); };
    const thread_guard only(world.calling_thread(), describe);
    return one_call(world, [&] { return carry_out(world, call, describe, plan_count, run); });
  }

 private:
  template <class Describe, class Made, class Run>
  auto carry_out(world_state& world, const chained_call& call, Describe describe, Made plan_count, Run run) {
    if (world.level() != checks::agree || world.uses_recorded_steps()) return run();
    const std::size_t known = plan_count();
    const std::uint64_t agreed_plan_set = world.agree(
        mixed(mixed(call.chain_identity.number, call.element_type_number),
              call.fills_view ? 32 + call.rank : call.rank),
        calls_.matching_plans([&](const agreed_call& c) {
          return c.plan_count == known && c.element_type_number == call.element_type_number && call.matches_key(c.key);
        }),
        failure::none, describe);
    agreed_call fresh;
    agreed_call& now = agreed_plan_set != 0 ? calls_.use_last_plan(agreed_plan_set) : fresh;
    if (agreed_plan_set != 0) now.steps.start_replay();
    auto result = run_recorded(world, now.steps, run);
    if (agreed_plan_set == 0 && plan_count() == known && fresh.steps.can_be_repeated()) {
      fresh.key = call.key();
      fresh.element_type_number = call.element_type_number;
      fresh.plan_count = known;
      calls_.add(std::move(fresh));
    }
    return result;
  }
  /// A call on which all workers have agreed, in the form in which it is cached.
  struct agreed_call {
    plan_key key;                           ///< the shapes of this worker's block and of the view to fill
    std::uint64_t element_type_number = 0;  ///< the number of the element type
    std::size_t plan_count = 0;             ///< the number of plans that the kernels had made before the call
    recorded_agreements steps;              ///< the results of the kernels' agreements
  };
  /// Returns run(); meanwhile the kernels' agreements are recorded in `steps`, or replayed from it.
  template <class Run>
  static auto run_recorded(world_state& world, recorded_agreements& steps, Run run) {
    const auto stop = [](world_state* of) { of->use_recorded_steps(nullptr); };
    const std::unique_ptr<world_state, decltype(stop)> stop_at_end(&world, stop);
    world.use_recorded_steps(&steps);
    return run();
  }

  plan_cache<agreed_call> calls_;  ///< the cached calls
};

}  // namespace partita::detail
