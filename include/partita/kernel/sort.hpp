// Sorts the numbers of all workers in one exchange, so that each worker gets a result of exactly the chosen length.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/array/sort_key.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/index_movement.hpp>
#include <partita/kernel/detail/radix_sort.hpp>
#include <partita/kernel/detail/receiver_pattern.hpp>
#include <partita/kernel/detail/sort_cuts.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita {

/// Options of the functions sort and argsort.
struct sort_options {
  std::optional<std::size_t> length{};  ///< the length of the result on this worker; by default the length of x
  bool descending = false;              ///< whether the greatest numbers come first, and NaNs before them
};

namespace detail {

/// Ascending or descending order of numbers. NaNs are last in ascending and first in descending order.
template <sortable T, bool Descending>
struct number_order {
  static std::uint64_t key(T value) { return Descending ? ~sort_key(value) : sort_key(value); }  ///< least key is first
  static void sort(T* first, T* last) {  ///< sorts numbers of this worker in place
    radix_sort(first, static_cast<std::size_t>(last - first), [](T value) { return key(value); });
  }
};
/// Ascending order of keys that have positions.
struct position_order {
  static std::uint64_t key(const key_and_position& e) { return e.key; }  ///< the key alone, without the position
};

/// Copies a block into a pooled tensor, which the caller then sorts in place.
template <class X>
pooled_tensor<element_of<X>, 1> copy_to_pooled_tensor(const X& x) {
  const block_argument<X> given(x);
  pooled_tensor<element_of<X>, 1> own(given.block().shape);
  copy(block_of(own), given.block());
  return own;
}

/// The keys of sorted elements, for searches of positions.
template <class Order, class Element>
sorted_keys make_sorted_keys(const Element* elements, std::size_t size) {
  return {elements, size, [](const void* all, std::size_t n, std::uint64_t key) {
            const Element* const first = static_cast<const Element*>(all);
            const auto after = [](std::uint64_t k, const Element& e) { return k < Order::key(e); };
            return static_cast<std::size_t>(std::upper_bound(first, first + n, key, after) - first);
          }};
}

/// Agrees on a call with all workers. Returns for each worker its number of elements and the length of its result.
inline std::vector<number_array<2>> agree_on_sizes(world_state& world, const char* name, std::uint64_t fingerprint,
                                                   std::size_t size, std::size_t length,
                                                   const local_error& before = {}) {
  agree_if_checked(world, fingerprint, before, [&] { return text(name) << " of " << size << " numbers"; });
  return gather_numbers<2>(world, {size, length});
}
/// The sum over all workers of entry `column` of the result of agree_on_sizes.
inline std::uint64_t sum_of_column(const std::vector<number_array<2>>& sizes, std::size_t column) {
  std::uint64_t sum = 0;
  for (const auto& worker_sizes : sizes) sum += worker_sizes[column];
  return sum;
}

/// Merges consecutive sorted parts of a list, two at a time; `first` has the start of each part, and the end of the
/// list. Of equal elements, those of an earlier part come first. Conditional moves replace branches, which would be
/// mispredicted half of the time; so a merge takes half the time of std::inplace_merge.
template <class Order, class Element>
void merge_parts(Element* all, std::vector<std::size_t> first) {
  if (first.size() <= 2) return;
  const std::size_t size = first.back();
  scratch_storage<Element> other(size);
  Element *from = all, *to = other.data();
  for (; first.size() > 2; std::swap(from, to)) {
    std::vector<std::size_t> merged;
    for (std::size_t k = 0; k + 1 < first.size(); k += 2) {
      const Element *x = from + first[k], *y = from + first[k + 1];
      const Element *const end_x = y, *const end_y = from + first[std::min(k + 2, first.size() - 1)];
      Element* next = to + first[k];
      while (x != end_x && y != end_y) {
        const bool takes_y = Order::key(*y) < Order::key(*x);
        *next++ = *(takes_y ? y : x);
        x += takes_y ? 0 : 1, y += takes_y ? 1 : 0;
      }
      std::copy(y, end_y, std::copy(x, end_x, next));
      merged.push_back(first[k]);
    }
    merged.push_back(size);
    first = std::move(merged);
  }
  if (from != all) std::copy(from, from + size, all);
}

/// Returns this worker's range of the sorted elements of all workers. Requires that `own`, the elements of this worker,
/// is sorted.
template <class Order, class Element>
pooled_tensor<Element, 1> sort_and_distribute(const world& everyone, const pooled_tensor<Element, 1>& own,
                                              const std::vector<number_array<2>>& sizes,
                                              const index_call_texts& call_texts) {
  world_state& world = *everyone.state();
  if (const std::uint64_t given = sum_of_column(sizes, 0), wanted = sum_of_column(sizes, 1); given != wanted)
    throw shape_error((text(call_texts.call)
                       << ": requires results of all workers with as many elements as their blocks have, " << given
                       << "; the lengths that are wanted are " << wanted
                       << " together; leave out .length for blocks of the same sizes")
                          .c_str());
  std::vector<std::size_t> lengths;
  for (const auto& worker_sizes : sizes) lengths.push_back(worker_sizes[1]);
  const auto counts = counts_by_receiver(world, make_sorted_keys<Order>(own.data(), own.size()), lengths);
  std::shared_ptr<transport> shared_transport;
  open_transport(shared_transport, world);
  index_movement movement(
      index_planner(everyone.state(), shared_transport, make_pattern_by_counts(world, counts), call_texts));
  const block_argument<pooled_tensor<Element, 1>> block(own);
  auto share = movement.template forward<Element, 1>(block.block(), {}, "", {}, {}).finish();
  std::vector<std::size_t> first{0};
  const row_transfers& transfers = movement.pattern().transfers;
  const auto add_part = [&](std::size_t rows) {
    if (rows != 0) first.push_back(first.back() + rows);
  };
  bool is_kept = false;
  for (const auto& part : transfers.received_parts) {
    if (part.worker > world.id() && !std::exchange(is_kept, true)) add_part(counts[world.id()]);
    add_part(part.rows);
  }
  if (!is_kept) add_part(counts[world.id()]);
  merge_parts<Order>(share.data(), std::move(first));
  return share;
}

template <class X>
consteval bool has_sortable_elements() {  ///< whether X is a block of rank 1 of integers, float or double
  static_assert(has_known_rank<X>(),
                "partita::sort(everyone, x), argsort, quantile, unique, searchsorted, top_k: requires an xtensor "
                "expression whose rank is part of "
                "its type; as_rank<1>(v) gives it to a std::vector");
  if constexpr (ranked_array<X>) {
    static_assert(has_rank<X, 1>(),
                  "partita::sort(everyone, x), argsort, quantile, unique, searchsorted, top_k: requires a block of "
                  "rank 1; xt::flatten makes one");
    constexpr bool has_order = sortable<element_of<X>>;
    static_assert(has_order,
                  "partita::sort(everyone, x), argsort, quantile, unique, searchsorted, top_k: requires integers, "
                  "float or double");
    return rank_of<X> == 1 && has_order;
  } else {
    return false;
  }
}

/// A fingerprint of the arguments that must be equal on all workers.
template <class T>
std::uint64_t fingerprint_of_sort(std::uint64_t call, const sort_options& options) {
  return mixed(mixed(call, type_number<T>()), options.descending ? 1 : 0);
}

/// Calls f(order) with the order that the options describe.
template <class T, class F>
auto call_with_order(const sort_options& options, F f) {
  return options.descending ? f(number_order<T, true>()) : f(number_order<T, false>());
}

}  // namespace detail
}  // namespace partita

template <>
inline constexpr bool partita::moves_as_bytes<partita::detail::key_and_position> = true;

namespace partita {

/// The numbers of all workers in ascending (or descending) order, as in `auto y = sort(everyone, x)`. Worker 0 has the
/// first numbers; each worker gets as many numbers as it gave, or `.length`. Collective.
/// Shapes: x is a block of rank 1 of any length, also 0, that may differ between workers; so is the result.
/// Requires: integers, float or double; lengths whose sum is the number of all elements [shape_error], equal options
/// apart from the length [disagreement_error], on all workers. NaNs are last (first if descending), and 0.0 equals
/// -0.0.
/// Cost: a local radix sort, 16 small sums over all workers to find how many elements go to each worker, one exchange
/// in which an element moves at most once, and a merge. Memory: three times the bytes of the elements that this worker
/// passes and gets.
template <class X>
auto sort(const world& everyone, const X& x, const sort_options& options = {}) {
  if constexpr (detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    constexpr detail::index_call_texts call_texts{"partita::sort(everyone, x)", "element", "element"};
    return detail::one_call(*everyone.state(), [&] {
      auto own = detail::copy_to_pooled_tensor(x);
      const std::uint64_t call = detail::fingerprint_of_sort<T>(0x736f7274ULL, options);
      const auto sizes = detail::agree_on_sizes(*everyone.state(), call_texts.call, call, own.size(),
                                                options.length.value_or(own.size()));
      return detail::call_with_order<T>(options, [&](auto order) {
        order.sort(own.data(), own.data() + own.size());
        return detail::sort_and_distribute<decltype(order)>(everyone, own, sizes, call_texts);
      });
    });
  } else {
    return detail::rejected_call();
  }
}

/// The original positions of the elements of sort(everyone, x), counted through the blocks of all workers in the order
/// of the workers. Equal elements keep their order (the sort is stable). `index_exchange(everyone, interval{first,
/// first + n}, argsort(everyone, keys))` moves other rows into the order of the keys, and its adjoint moves them back.
/// Shapes, Requires, Cost: as for sort, with elements of 16 bytes.
template <class X>
auto argsort(const world& everyone, const X& x, const sort_options& options = {}) {
  if constexpr (detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    constexpr detail::index_call_texts call_texts{"partita::argsort(everyone, x)", "element", "element"};
    return detail::one_call(*everyone.state(), [&] {
      const auto numbers = detail::copy_to_pooled_tensor(x);
      const std::uint64_t call = detail::fingerprint_of_sort<T>(0x6172677331ULL, options);
      const auto sizes = detail::agree_on_sizes(*everyone.state(), call_texts.call, call, numbers.size(),
                                                options.length.value_or(numbers.size()));
      std::uint64_t place = 0;
      for (std::size_t k = 0; k < everyone.id(); ++k) place += sizes[k][0];
      pooled_tensor<detail::key_and_position, 1> own(std::array<std::size_t, 1>{numbers.size()});
      detail::call_with_order<T>(options, [&](auto order) {
        for (std::size_t j = 0; j < numbers.size(); ++j) own.data()[j] = {order.key(numbers.data()[j]), place + j};
      });
      detail::radix_sort(own.data(), own.size(), [](const auto& element) { return element.key; });
      const auto share = detail::sort_and_distribute<detail::position_order>(everyone, own, sizes, call_texts);
      xt::xtensor<std::size_t, 1> places(std::array<std::size_t, 1>{share.size()});
      for (std::size_t j = 0; j < places.size(); ++j) places.data()[j] = share.data()[j].position;
      return places;
    });
  } else {
    return detail::rejected_call();
  }
}

/// The quantiles of the numbers of all workers, on all workers: `quantile(everyone, x, {0.5})` is the median. Quantiles
/// between two numbers are interpolated linearly, as in NumPy; one NaN makes all quantiles NaN. Collective.
/// Requires: at least one number, and probabilities from 0 to 1 [shape_error]; equal probabilities on all workers
/// [disagreement_error].
/// Cost: a local sort, and 16 sums over all workers, each of 30 numbers for each quantile and 15 more. No elements
///       move.
template <class X>
auto quantile(const world& everyone, const X& x, const std::vector<double>& probabilities) {
  if constexpr (detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    using order = detail::number_order<T, false>;  ///< ascending, NaNs last
    constexpr const char* name = "partita::quantile(everyone, x, probabilities)";
    return detail::one_call(*everyone.state(), [&] {
      detail::world_state& world = *everyone.state();
      auto own = detail::copy_to_pooled_tensor(x);
      std::uint64_t call = detail::mixed(0x7175616e74ULL, detail::type_number<T>());
      detail::local_error found_error;
      for (const double q : probabilities) {
        call = detail::mixed(call, std::bit_cast<std::uint64_t>(q));
        if (!(q >= 0 && q <= 1))
          found_error = detail::local_error(text(name) << ": requires probabilities from 0 to 1, got "
                                                       << std::to_string(q).c_str());
      }
      const auto sizes = detail::agree_on_sizes(world, name, call, own.size(), 0, found_error);
      const std::uint64_t n = detail::sum_of_column(sizes, 0);
      if (n == 0) throw shape_error((text(name) << ": requires at least one number on some worker, got none").c_str());
      order::sort(own.data(), own.data() + own.size());
      std::vector<std::uint64_t> ranks{n - 1};  // the last number is a NaN if any number is
      for (const double q : probabilities) {
        const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(n - 1));
        ranks.push_back(rank);
        ranks.push_back(std::min(rank + 1, n - 1));
      }
      const auto keys =
          detail::keys_at_positions(world, detail::make_sorted_keys<order>(own.data(), own.size()), ranks);
      const auto number = [&](std::size_t k) { return static_cast<double>(detail::value_from_sort_key<T>(keys[k])); };
      xt::xtensor<double, 1> all(std::array<std::size_t, 1>{probabilities.size()});
      for (std::size_t k = 0; k < probabilities.size(); ++k) {
        const double at = probabilities[k] * static_cast<double>(n - 1), low = number(2 * k + 1),
                     high = number(2 * k + 2), share = at - std::floor(at);
        all(k) = std::isnan(number(0)) ? number(0) : share == 0 ? low : low + share * (high - low);
      }
      return all;
    });
  } else {
    return detail::rejected_call();
  }
}

}  // namespace partita
