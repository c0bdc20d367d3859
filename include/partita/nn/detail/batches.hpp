// Finds the workers that passed an x of different batches; runs only after a call was rejected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/comm/partition.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// Returns "[3] on worker 0 and [4] on worker 2" for the first two workers of p_x that differ; empty if all have the
/// same batch. Collective over the world of p_x.
template <class Extents>
text difference_of_batches(const partition<Extents>& p_x, const std::vector<std::size_t>& batch) {
  const world& everyone = p_x.world();
  constexpr std::size_t length = 1 + most_dimensions;  // the number of extents, followed by the extents
  std::vector<std::uint64_t> all(length * everyone.size()), incoming(all.size());
  all[length * everyone.id()] = batch.size();
  for (std::size_t d = 0; d < batch.size(); ++d) all[length * everyone.id() + 1 + d] = batch[d];
  worker_group group;
  for (std::size_t id = 0; id < everyone.size(); ++id) group.members.push_back(id);
  group.position = everyone.id();
  collect(*everyone.state(), group, all.data(), all.data(), incoming.data(), all.size(), tag::user,
          [](std::uint64_t& a, std::uint64_t b) { a = std::max(a, b); });
  spread(*everyone.state(), group, all.data(), all.size(), tag::user);

  const auto batch_of = [&](std::size_t id) {
    const std::uint64_t* const own = all.data() + length * id;
    return std::vector<std::uint64_t>(own + 1, own + 1 + own[0]);
  };
  const std::size_t one = p_x.workers()[0];
  for (std::size_t k = 1; k < p_x.size(); ++k)
    if (const std::size_t other = p_x.workers()[k]; batch_of(other) != batch_of(one))
      return text() << batch_of(one) << " on worker " << one << " and " << batch_of(other) << " on worker " << other;
  return {};
}

}  // namespace partita::detail
