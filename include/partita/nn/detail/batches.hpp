// Finds two workers that passed an x with different batch extents. Called when a batch is new or a call has failed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// Returns "[3] on worker 0 and [4] on worker 2" for the first worker of p_x and the next worker with different batch
/// extents; empty if all workers have the same batch extents. Collective: all workers of the world of p_x must call
/// this function.
template <class Extents, class Shape>
text batch_mismatch_text(const partition<Extents>& p_x, const Shape& x_shape) {
  world_state& everyone = *p_x.world().state();
  return one_call(everyone, [&]() -> text {
    everyone.report().note_agreement();
    // the number of batch extents, followed by these extents
    number_array<1 + most_dimensions> mine{x_shape.size() - 1};
    std::copy(x_shape.begin(), x_shape.end() - 1, mine.begin() + 1);
    const auto all = gather_numbers(everyone, mine);

    const auto batch_of = [&](std::size_t id) {
      return std::vector<std::uint64_t>(all[id].begin() + 1,
                                        all[id].begin() + 1 + static_cast<std::ptrdiff_t>(all[id][0]));
    };
    const std::size_t one = p_x.workers()[0];
    for (std::size_t k = 1; k < p_x.size(); ++k)
      if (const std::size_t other = p_x.workers()[k]; batch_of(other) != batch_of(one))
        return text() << batch_of(one) << " on worker " << one << " and " << batch_of(other) << " on worker " << other;
    return {};
  });
}

}  // namespace partita::detail
