// The policies of kernels: tags, so that what a kernel does is part of its type.
#pragma once

#include <type_traits>

namespace partita {

/// Reverse the extents of the source partition before the rule of worker broadcast is applied.
struct transpose_src_t {};
inline constexpr transpose_src_t transpose_src{};
/// Reverse the extents of the destination partition before the rule of worker broadcast is applied.
struct transpose_dest_t {};
inline constexpr transpose_dest_t transpose_dest{};
/// Zero-volume results do not keep the batch extent (dimension 0) of what the worker gave.
struct discard_batch_t {};
inline constexpr discard_batch_t discard_batch{};

/// Sums are rounded once: the same bits in whatever order the workers stand, on however many nodes, and however many
/// workers give zeros.
struct reproducible_t {};
inline constexpr reproducible_t reproducible{};
/// A broadcast gives a tensor that is only read, a shared_view_of: one block on each node.
struct shared_view_t {};
inline constexpr shared_view_t shared_view{};

/// T is one of `Policies`.
template <class T, class... Policies>
inline constexpr bool has_policy = (std::is_same_v<T, Policies> || ...);

/// T is a policy of the worker broadcast and reduction kernels.
template <class T>
concept broadcast_policy =
    std::is_same_v<T, transpose_src_t> || std::is_same_v<T, transpose_dest_t> || std::is_same_v<T, discard_batch_t> ||
    std::is_same_v<T, reproducible_t> || std::is_same_v<T, shared_view_t>;

namespace detail {
/// The same of all of them, as a variable: g++ does not explain one.
template <class... Policies>
inline constexpr bool broadcast_policies = (broadcast_policy<Policies> && ...);
}  // namespace detail

}  // namespace partita
