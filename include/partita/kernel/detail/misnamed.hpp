// What a kernel stands for that was given something else than the partitions it is made of: a sentence.
#pragma once

#include <partita/comm/partition.hpp>
#include <partita/core/left_out.hpp>
#include <partita/plan/worker_groups.hpp>
#include <partita/rule/kernel_dimensions.hpp>

namespace partita::detail {

/// In the place of partitions that were not given.
struct no_partitions {};

template <class A>
inline constexpr bool is_partition = false;
template <class Extents>
inline constexpr bool is_partition<partition<Extents>> = true;

/// What a kernel between two partitions, or in groups of a world, begins with, or a kernel itself to be copied.
template <class... A>
inline constexpr bool begins_with_two = false;
template <class A>
inline constexpr bool begins_with_two<A> = !is_partition<A>;
template <class A, class B, class... Rest>
inline constexpr bool begins_with_two<A, B, Rest...> = is_partition<A> && is_partition<B>;
template <class... Rest>
inline constexpr bool begins_with_two<world, worker_groups, Rest...> = true;

/// What a reduction begins with.
template <class... A>
inline constexpr bool begins_with_reduction = begins_with_two<A...> && sizeof...(A) != 2;

/// What a kernel along dimensions of one partition is made of, or a kernel itself to be copied.
template <class... A>
inline constexpr bool is_made_of_dimensions = false;
template <class A>
inline constexpr bool is_made_of_dimensions<A> = !is_partition<A>;
template <class A, class B>
inline constexpr bool is_made_of_dimensions<A, B> = is_partition<A> && !no_dimensions<B>;

}  // namespace partita::detail
