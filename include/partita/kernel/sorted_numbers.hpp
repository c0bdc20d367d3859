// Functions of the sorted numbers of all workers: unique, searchsorted, top_k, a random permutation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/array/philox.hpp>
#include <partita/array/sort_key.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/kernel/send_to.hpp>
#include <partita/kernel/sort.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace detail {

/// Keeps one of several adjacent numbers with equal sort keys; all NaNs are equal.
template <class T>
void remove_duplicates(std::vector<T>& numbers) {
  const auto equal = [](T a, T b) { return sort_key(a) == sort_key(b); };
  numbers.erase(std::unique(numbers.begin(), numbers.end(), equal), numbers.end());
}
template <class T>
xt::xtensor<T, 1> copy_to_block(const std::vector<T>& numbers) {  ///< the numbers as a block of rank 1
  xt::xtensor<T, 1> all(std::array<std::size_t, 1>{numbers.size()});
  std::copy(numbers.begin(), numbers.end(), all.begin());
  return all;
}

}  // namespace detail

/// The distinct numbers of all workers in ascending order, each on one worker, as in `auto y = unique(everyone, x)`.
/// Worker 0 has the first numbers. Collective.
/// Shapes:   x is a block of rank 1 of any length; the result is not longer than x, and may be empty.
/// Requires: integers, float or double. NaNs come last and are equal to each other; the numbers 0.0 and -0.0 are equal.
/// Cost:     one call of sort, to which each worker passes its distinct numbers, and one all-gather of each worker's
///           last number.
template <class X>
auto unique(const world& everyone, const X& x) {
  if constexpr (detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    return detail::one_call(*everyone.state(), [&] {
      const xt::xtensor<T, 1> given = x;
      detail::agree_if_checked(*everyone.state(), detail::mixed(0x756e697175ULL, detail::type_number<T>()), {},
                               [&] { return text("partita::unique(everyone, x) of ") << given.size() << " numbers"; });
      std::vector<T> own(given.begin(), given.end());
      detail::number_order<T, false>::sort(own.data(), own.data() + own.size());
      detail::remove_duplicates(own);
      const auto sorted_tensor = sort(everyone, detail::copy_to_block(own));
      own.assign(sorted_tensor.begin(), sorted_tensor.end());
      detail::remove_duplicates(own);
      // A worker drops its first number if it equals the last number of the nearest preceding worker that has numbers.
      const auto last = detail::gather_numbers<2>(
          *everyone.state(), {own.empty() ? 0 : detail::sort_key(own.back()), own.empty() ? 0U : 1U});
      for (std::size_t k = everyone.id(); k-- > 0 && !own.empty();) {
        if (last[k][1] == 0) continue;
        if (last[k][0] == detail::sort_key(own.front())) own.erase(own.begin());
        break;
      }
      return detail::copy_to_block(own);
    });
  } else {
    return detail::rejected_call();
  }
}

/// Options of searchsorted.
struct searchsorted_options {
  bool right = false;  ///< whether numbers equal to x are counted, too
};

/// The positions at which the numbers of x would be inserted into sorted numbers: for each number of x, the count of
/// numbers of all workers in `sorted_tensor` that are less, or with `.right` not greater. Collective. For example
/// `searchsorted(everyone, sort(everyone, edges), x)`.
/// Shapes:   blocks of rank 1 of any lengths; the result has the length of x.
/// Requires: numbers of one type: integer, float or double; `sorted_tensor` in ascending order over all workers, as
///           sort returns it, NaNs last [shape_error]; equal options [disagreement_error]; on all workers.
/// Cost:     each number of x travels to one worker, and its position travels back.
template <class S, class X>
auto searchsorted(const world& everyone, const S& sorted_tensor, const X& x, const searchsorted_options& options = {}) {
  if constexpr (detail::has_sortable_elements<S>() && detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    static_assert(
        std::is_same_v<element_of<S>, T>,
        "partita::searchsorted(everyone, sorted, x): requires numbers of one type; xt::cast<T>(x) makes them");
    constexpr const char* call = "partita::searchsorted(everyone, sorted, x)";
    return detail::one_call(*everyone.state(), [&] {
      detail::world_state& world = *everyone.state();
      const xt::xtensor<T, 1> numbers = x, all = sorted_tensor;
      std::vector<std::uint64_t> keys(all.size());
      std::transform(all.begin(), all.end(), keys.begin(), [](T number) { return detail::sort_key(number); });
      const std::uint64_t number =
          detail::mixed(detail::mixed(0x7365617263ULL, detail::type_number<T>()), options.right ? 1 : 0);
      const auto describe = [&] { return text(call) << " of " << numbers.size() << " numbers"; };
      detail::agree_if_checked(world, number, {}, describe);
      const auto ends = detail::gather_numbers<3>(
          world, {keys.size(), keys.empty() ? 0 : keys.front(), keys.empty() ? 0 : keys.back()});
      // 1. Check on all workers together that the numbers are sorted.
      bool is_sorted = std::is_sorted(keys.begin(), keys.end());
      std::size_t first = 0;
      for (std::size_t k = 0; k < everyone.id(); ++k) {
        if (ends[k][0] != 0 && !keys.empty() && ends[k][2] > keys.front()) is_sorted = false;
        first += ends[k][0];
      }
      detail::local_error wrong;
      if (!is_sorted)
        wrong = detail::local_error(text(call) << ": requires sorted numbers, those of worker " << everyone.id()
                                               << " are not, or begin below those of a worker before it; "
                                                  "sort(everyone, x) sorts them");
      detail::agree_on_call(world, number, wrong, describe);
      // 2. Send each number to the first worker whose last number is not before it, or to the last worker with numbers.
      const auto rank_among = [&](const std::vector<std::uint64_t>& of, T number) {
        const std::uint64_t key = detail::sort_key(number);
        const auto at =
            options.right ? std::upper_bound(of.begin(), of.end(), key) : std::lower_bound(of.begin(), of.end(), key);
        return static_cast<std::size_t>(at - of.begin());
      };
      std::vector<std::size_t> holders, receivers(numbers.size());
      std::vector<std::uint64_t> last_keys;
      for (std::size_t k = 0; k < ends.size(); ++k)
        if (ends[k][0] != 0) holders.push_back(k), last_keys.push_back(ends[k][2]);
      for (std::size_t j = 0; j < numbers.size() && !holders.empty(); ++j)
        receivers[j] = holders[std::min(rank_among(last_keys, numbers(j)), holders.size() - 1)];
      const auto there = send_to(everyone, receivers);
      const auto asked = there(numbers);
      xt::xtensor<std::size_t, 1> places(std::array<std::size_t, 1>{asked.size()});
      for (std::size_t j = 0; j < places.size(); ++j) places(j) = first + rank_among(keys, asked(j));
      return xt::xtensor<std::size_t, 1>(there.adjoint(places));
    });
  } else {
    return detail::rejected_call();
  }
}

/// The greatest numbers of all workers in descending order, and their positions, counted through the blocks of all
/// workers in the order of the workers.
template <class T>
struct top_numbers {
  xt::xtensor<T, 1> values;             ///< in descending order
  xt::xtensor<std::size_t, 1> indices;  ///< the global position of each of `values`
};
/// The k greatest numbers of all workers, on all workers, as in `auto [values, indices] = top_k(everyone, x, 10)`. Of
/// equal numbers, the first ones are taken. Collective.
/// Requires: integers, float or double, at least k numbers [shape_error], equal k on all workers [disagreement_error].
///           NaNs count as greater than all numbers, and 0.0 and -0.0 as equal.
/// Cost:     a local selection; each worker sends at most k numbers and positions to each other worker.
/// Adjoint:  none; to differentiate, make an index_exchange whose wanted indices are `indices`: it returns the values,
///           and its adjoint adds their gradients to the elements of x.
template <class X>
auto top_k(const world& everyone, const X& x, std::size_t k) {
  if constexpr (detail::has_sortable_elements<X>()) {
    using T = element_of<X>;
    using order = detail::number_order<T, true>;  ///< descending, NaNs first
    constexpr const char* call = "partita::top_k(everyone, x, k)";
    return detail::one_call(*everyone.state(), [&] {
      detail::world_state& world = *everyone.state();
      const xt::xtensor<T, 1> numbers = x;
      const auto sizes = detail::agree_on_sizes(
          world, call, detail::mixed(detail::mixed(0x746f706bULL, detail::type_number<T>()), k), numbers.size(), 0);
      const std::uint64_t n = detail::sum_of_column(sizes, 0);
      if (k > n)
        throw shape_error((text(call) << ": requires at least k = " << k << " numbers on all workers, got " << n
                                      << "; take a smaller k")
                              .c_str());
      std::uint64_t place = 0;
      for (std::size_t w = 0; w < everyone.id(); ++w) place += sizes[w][0];
      std::vector<detail::key_and_position> best(numbers.size());
      for (std::size_t j = 0; j < best.size(); ++j) best[j] = {order::key(numbers(j)), place + j};
      const std::size_t most = std::min(k, best.size());
      std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(most), best.end());
      auto sent = detail::number_lists_by_worker::with_lengths(std::vector<std::size_t>(world.size(), 2 * most));
      for (std::size_t w = 0; w < world.size(); ++w)
        for (std::size_t j = 0; j < most; ++j) {
          sent.all[sent.first[w] + 2 * j] = best[j].key;
          sent.all[sent.first[w] + 2 * j + 1] = best[j].position;
        }
      const auto arrived = detail::exchange_lists(world, sent);
      best.resize(arrived.all.size() / 2);
      for (std::size_t j = 0; j < best.size(); ++j) best[j] = {arrived.all[2 * j], arrived.all[2 * j + 1]};
      std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k), best.end());
      top_numbers<T> top{xt::xtensor<T, 1>(std::array<std::size_t, 1>{k}),
                         xt::xtensor<std::size_t, 1>(std::array<std::size_t, 1>{k})};
      for (std::size_t j = 0; j < k; ++j) {
        top.values(j) = detail::value_from_sort_key<T>(~best[j].key);
        top.indices(j) = best[j].position;
      }
      return top;
    });
  } else {
    return detail::rejected_call();
  }
}

/// A random permutation of the rows of all workers. The permutation depends only on the seed and on the number of all
/// rows, not on their distribution. Returns, as argsort does, the global positions of the rows that this worker gets.
/// `index_exchange(everyone, interval{first, first + n}, permutation(everyone, n, seed))` moves rows, and its adjoint
/// moves the rows back. Collective.
/// Shapes:   n is the number of rows that this worker has and gets; n may differ between workers.
/// Requires: an equal seed on all workers [disagreement_error].
/// Cost:     as argsort of n keys on each worker.
inline xt::xtensor<std::size_t, 1> permutation(const world& everyone, std::size_t n, std::uint64_t seed) {
  return detail::one_call(*everyone.state(), [&] {
    constexpr const char* name = "partita::permutation(everyone, n, seed)";
    detail::world_state& world = *everyone.state();
    const auto sizes = detail::agree_on_sizes(world, name, detail::mixed(0x7065726d75ULL, seed), n, 0);
    std::uint64_t first = 0;
    for (std::size_t k = 0; k < everyone.id(); ++k) first += sizes[k][0];
    xt::xtensor<std::uint64_t, 1> keys(std::array<std::size_t, 1>{n});
    detail::random_words words(seed, 0);  // each key consists of two words
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint64_t high = words[2 * (first + j)], low = words[2 * (first + j) + 1];
      keys.data()[j] = high << 32U | low;
    }
    return argsort(everyone, keys);
  });
}

}  // namespace partita
