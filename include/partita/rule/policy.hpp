// The policies of kernels: tags, so that what a kernel does is part of its type.
#pragma once

#include <array>
#include <cstddef>
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

/// Sums are rounded once: the same bits in whatever order the workers stand, on however many nodes, and however many workers
/// give zeros.
struct reproducible_t {};
inline constexpr reproducible_t reproducible{};
/// A broadcast gives a tensor that is only read, a shared_view_of: one block on each node.
struct shared_view_t {};
inline constexpr shared_view_t shared_view{};

/// Which way blocks take between two workers. Every worker of a kernel names the same.
enum class strategy {
  mixed,   ///< through shared memory between workers of one node, as messages between nodes (what is done if nothing is said)
  shared,  ///< the same where all workers share one node's memory, and an error where they do not
  message  ///< as messages alone
};
/// How a message is made of boxes that do not lie contiguous in their block. Every worker of a kernel names the same.
enum class messages {
  by_size,  ///< typed if it is small, packed if it is large (what is done if nothing is said)
  packed,   ///< one for each pair of workers, gathered by the sender and spread by the receiver
  chunked,  ///< the same in pieces of 256 KB, each on its way while the next one is gathered
  typed,    ///< one for each pair, left to MPI's derived types
  measured  ///< as was fastest when a pair tried all at its first exchange of more than 128 KB
};

/// T is one of `Policies`.
template <class T, class... Policies>
inline constexpr bool has_policy = (std::is_same_v<T, Policies> || ...);

/// T is a policy of the worker broadcast and reduction kernels.
template <class T>
concept broadcast_policy = std::is_same_v<T, transpose_src_t> || std::is_same_v<T, transpose_dest_t> ||
                           std::is_same_v<T, discard_batch_t> || std::is_same_v<T, reproducible_t> || std::is_same_v<T, shared_view_t>;

/// The partition dimensions a kernel acts along, as a value: `dimensions<0, 2>`.
template <std::size_t... D>
struct dimensions_t {};
template <std::size_t... D>
inline constexpr dimensions_t<D...> dimensions{};
/// The partition dimensions a kernel leaves alone: it acts along all others.
template <std::size_t... D>
struct all_dimensions_but_t {};
template <std::size_t... D>
inline constexpr all_dimensions_but_t<D...> all_dimensions_but{};

/// Which of `Rank` dimensions a kernel leaves alone. Dimensions that do not exist are passed over: who asks refuses them.
template <std::size_t Rank, std::size_t... D>
constexpr std::array<bool, Rank> kept_dimensions(dimensions_t<D...>) {
  std::array<bool, Rank> kept{};
  for (std::size_t d = 0; d < Rank; ++d) kept[d] = ((d != D) && ...);
  return kept;
}
template <std::size_t Rank, std::size_t... D>
constexpr std::array<bool, Rank> kept_dimensions(all_dimensions_but_t<D...>) {
  std::array<bool, Rank> kept{};
  for (std::size_t d = 0; d < Rank; ++d) kept[d] = ((d == D) || ...);
  return kept;
}

}  // namespace partita
