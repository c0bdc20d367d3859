// The arguments of one worker in a collective call in groups of workers: its blocks, and the call's identity as a
// number and as text for error messages. The code is compiled once, for all element types and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/collective_transfer.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/untyped_block.hpp>

namespace partita::detail {

/// The element type of a call, as a number and as a name.
struct element_type_id {
  std::uint64_t number = 0;  ///< identifies the type, and is equal on all workers
  text (*name)() = nullptr;  ///< writes the name of the type
};
template <class T>
inline constexpr element_type_id element_type_id_v{type_number<T>(), &type_name<T>};  ///< the id of the type T

/// The arguments with which this worker calls a collective movement.
struct collective_call {
  group_direction direction = group_direction::spread;  ///< the direction in which the blocks move
  const element_kind* kind = nullptr;                   ///< how the elements are copied and sent
  const element_operation* operation = nullptr;         ///< the reduction, if the call needs it; else null
  const reduction_steps* steps = nullptr;               ///< the code of reductions; null if blocks are spread
  const element_type_id* element_type = nullptr;        ///< the type of the elements
  untyped_block x{};                                    ///< this worker's input block
  const untyped_block* view = nullptr;                  ///< the caller's view to fill, or null
  bool in_place = false;                                ///< whether `view` may be the memory of x
  bool shares = false;                                  ///< whether the workers of a node share one result block
  bool is_non_blocking = false;         ///< whether the call only starts the operation, which is finished later
  const text* error_message = nullptr;  ///< this worker's error message, if not empty

  /// The key of the call in the plan cache. `includes_block` is true if this worker sends x: the key has x's shape.
  PARTITA_DECL plan_key key(bool includes_block) const;
  /// Whether the call has a given key; compares without constructing a key.
  PARTITA_DECL bool matches_key(const plan_key& key, bool includes_block) const;

  /// The fingerprint of the call, which must be equal on all workers; the parameter `kernel` is the kernel's
  /// fingerprint. Different algorithms of reduction, and blocking and non-blocking calls, have different fingerprints,
  /// because they send different messages. The parameter `channels_id` identifies the kernel's channels (0 before they
  /// are open); it distinguishes identically constructed kernels, which use separate shared memory.
  PARTITA_DECL std::uint64_t fingerprint(std::uint64_t kernel, std::uint64_t channels_id) const;
  PARTITA_DECL text describe(const text& kernel) const;  ///< the call in messages, which begins with `kernel`

  bool has_error() const { return error_message != nullptr && !error_message->empty(); }  ///< on this worker
  /// Whether the call would write a view that shares memory with x although `in_place` is false.
  bool writes_what_it_reads() const { return view != nullptr && !in_place && blocks_share_memory(x, *view); }
  /// The error that this worker has found in its arguments. The function is not inlined, so that correct calls do not
  /// reserve stack space for a long message; reserving it would take as long as moving a small block.
  PARTITA_DECL [[gnu::noinline]] local_error own_error(const char* kernel, std::size_t worker) const;
  /// Sets an error if the view to fill does not have the shape of the result.
  PARTITA_DECL void expect_view_shape(const char* kernel, const block_shape& shape, local_error& found_error) const;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/collective_call.ipp>
#endif
