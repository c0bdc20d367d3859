// Fallbacks for a kernel whose arguments are not the required partitions, which give one readable compile-time error.
#pragma once

#include <partita/comm/partition.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/worker_groups.hpp>
#include <partita/rule/kernel_dimensions.hpp>

namespace partita::detail {

/// Placeholder for partitions that were not passed.
struct no_partitions {};

template <class A>
inline constexpr bool is_partition = false;  // whether A is a partition
template <class Extents>
inline constexpr bool is_partition<partition<Extents>> = true;

/// Whether the arguments begin with two partitions, or with a world and groups, or are one kernel, which is copied.
template <class... A>
inline constexpr bool begins_with_partitions = false;
template <class A>
inline constexpr bool begins_with_partitions<A> = !is_partition<A>;
template <class A, class B, class... Rest>
inline constexpr bool begins_with_partitions<A, B, Rest...> = is_partition<A> && is_partition<B>;
template <class... Rest>
inline constexpr bool begins_with_partitions<world, worker_groups, Rest...> = true;

/// Whether the arguments begin as begins_with_partitions requires, followed by a reduction, or are one kernel.
template <class... A>
inline constexpr bool has_partitions_and_reduction = begins_with_partitions<A...> && sizeof...(A) != 2;

/// Whether the arguments are a partition and some of its dimensions, or one kernel, which is copied.
template <class... A>
inline constexpr bool is_dimensions_argument = false;
template <class A>
inline constexpr bool is_dimensions_argument<A> = !is_partition<A>;
template <class A, class B>
inline constexpr bool is_dimensions_argument<A, B> = is_partition<A> && !is_not_a_dimension_list<B>;

}  // namespace partita::detail
