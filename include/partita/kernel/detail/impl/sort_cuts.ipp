// Defines the functions that kernel/detail/sort_cuts.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/facts.hpp>
#include <partita/kernel/detail/sort_cuts.hpp>

namespace partita::detail {

PARTITA_DEF std::vector<std::uint64_t> keys_at_positions(world_state& world, const sorted_keys& keys,
                                                         const std::vector<std::uint64_t>& positions) {
  // Each round finds four more bits of each of the searched keys. The key at position positions[r] is the smallest key
  // such that more than positions[r] elements have this key or a smaller one.
  constexpr std::size_t tried_digits = 15, bits = 4, all_bits = 64;
  std::vector<std::uint64_t> found(positions.size(), 0), counts(positions.size() * tried_digits);
  for (std::size_t shift = all_bits; shift != 0 && !positions.empty();) {
    shift -= bits;
    const std::uint64_t below = (std::uint64_t{1} << shift) - 1;  // all bits below the four bits of this round
    for (std::size_t r = 0; r < positions.size(); ++r)
      for (std::size_t digit = 0; digit < tried_digits; ++digit)
        counts[r * tried_digits + digit] =
            keys.count_up_to(found[r] + (static_cast<std::uint64_t>(digit) << shift) + below);
    const auto sums = sum_of_all(world, counts);
    for (std::size_t r = 0; r < positions.size(); ++r) {
      std::uint64_t digit = 0;
      while (digit < tried_digits && sums[r * tried_digits + digit] <= positions[r]) ++digit;
      found[r] += digit << shift;
    }
  }
  return found;
}

PARTITA_DEF std::vector<std::size_t> counts_by_receiver(world_state& world, const sorted_keys& keys,
                                                        const std::vector<std::size_t>& lengths) {
  // A cut is a boundary between the elements of two consecutive receivers. Find the key of the last element before each
  // cut, and the number of elements with this key before the cut.
  const std::size_t cuts = world.size() - 1;
  std::vector<std::uint64_t> before(cuts, 0), positions;
  for (std::size_t k = 0, sum = 0; k < cuts; ++k) {
    before[k] = sum += lengths[k];
    if (sum != 0) positions.push_back(sum - 1);
  }
  const auto found = keys_at_positions(world, keys, positions);
  std::vector<std::uint64_t> smaller_keys(cuts, 0), equal(cuts, 0);
  const std::size_t empty_cuts = cuts - positions.size();  // the number of cuts that are before all elements
  for (std::size_t k = empty_cuts; k < cuts; ++k) {
    const std::uint64_t key = found[k - empty_cuts];
    smaller_keys[k] = key == 0 ? 0 : keys.count_up_to(key - 1);
    equal[k] = keys.count_up_to(key) - smaller_keys[k];
  }
  const auto smaller_on_all_workers = sum_of_all(world, smaller_keys),
             equal_before = sum_over_lower_workers(world, equal);
  std::vector<std::size_t> counts(world.size(), 0);
  std::size_t at = 0;
  for (std::size_t k = 0; k < cuts; ++k) {
    const std::uint64_t wanted =
        before[k] - smaller_on_all_workers[k];  // the number of equal elements of all workers before the cut
    const std::uint64_t mine = wanted > equal_before[k] ? std::min(wanted - equal_before[k], equal[k]) : 0;
    counts[k] = smaller_keys[k] + mine - at;
    at = smaller_keys[k] + mine;
  }
  counts[cuts] = keys.size - at;
  return counts;
}

}  // namespace partita::detail
