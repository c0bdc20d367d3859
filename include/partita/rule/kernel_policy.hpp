// The policies of kernels are tags, so that the behaviour of a kernel is part of its type.
#pragma once

#include <type_traits>

namespace partita {

/// With this policy, the extents of the source partition are reversed before the worker broadcast rule is applied.
struct transpose_src_t {};
inline constexpr transpose_src_t transpose_src{};  ///< Reverses the extents of the source partition first.
/// With this policy, the extents of the destination partition are reversed before the worker broadcast rule is applied.
struct transpose_dest_t {};
inline constexpr transpose_dest_t transpose_dest{};  ///< Reverses the extents of the destination partition first.
/// With this policy, zero-volume results do not keep the batch extent (dimension 0) of the worker's input block.
struct discard_batch_t {};
inline constexpr discard_batch_t discard_batch{};  ///< Zero-volume results do not keep the batch extent.

/// With this policy, sums are rounded only once, at the end, and are bitwise equal for every order of the workers,
/// every number of nodes, and any number of workers that contribute zeros.
struct reproducible_t {};
inline constexpr reproducible_t reproducible{};  ///< Sums are bitwise equal in every order of the workers.
/// With this policy, a broadcast returns a read-only tensor (a shared_view_of) that all workers of a node share: one
/// block per node.
struct shared_view_t {};
inline constexpr shared_view_t shared_view{};  ///< The workers of a node share one read-only block.

/// Whether T is one of the types `Policies`.
template <class T, class... Policies>
inline constexpr bool has_policy = (std::is_same_v<T, Policies> || ...);

/// T is a policy of the worker broadcast and reduction kernels.
template <class T>
concept broadcast_policy =
    std::is_same_v<T, transpose_src_t> || std::is_same_v<T, transpose_dest_t> || std::is_same_v<T, discard_batch_t> ||
    std::is_same_v<T, reproducible_t> || std::is_same_v<T, shared_view_t>;

namespace detail {
/// Each of `Policies` is a broadcast_policy. A variable makes g++ print a shorter error than a concept would.
template <class... Policies>
inline constexpr bool are_broadcast_policies = (broadcast_policy<Policies> && ...);
}  // namespace detail

}  // namespace partita
