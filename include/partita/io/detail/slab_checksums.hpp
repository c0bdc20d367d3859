// The checksums of a file that several workers own, one for every `slab_bytes` bytes (a slab): each owner computes the
// checksums of its bytes, and one worker combines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <partita/io/crc32c.hpp>
#include <partita/io/detail/slabs.hpp>
#include <string>
#include <vector>

namespace partita::detail {

/// The number of slabs of `slab` bytes that contain some of the bytes [first, last) of a file.
constexpr std::size_t count_touched_slabs(std::size_t first, std::size_t last, std::size_t slab) {
  return first >= last ? 0 : (last - 1) / slab - first / slab + 1;
}
/// Calls f(k, from, to) for each slab k of `slab` bytes that contains some of the bytes [first, last) of a file: those
/// in slab k are [from, to).
template <class F>
void for_each_touched_slab(std::size_t first, std::size_t last, std::size_t slab, F f) {
  while (first < last) {
    const std::size_t number = first / slab, end = (number + 1) * slab < last ? (number + 1) * slab : last;
    f(number, first, end);
    first = end;
  }
}

/// For each slab of `slab_bytes` bytes, the checksum of those of its bytes that this worker owns. The array `data` has
/// the elements that this worker owns; `header_bytes` are the bytes before the first element, which the first owner
/// owns.
template <std::size_t Rank>
std::vector<std::uint32_t> compute_own_checksums(const slab_partition<Rank>& where, const std::string& header_bytes,
                                                 const unsigned char* data, std::size_t slab_bytes) {
  std::vector<std::uint32_t> own;
  if (!where.is_owner()) return own;
  const file_domains& d = where.domains;
  const std::size_t place = where.owner_position(), data_at = d.slab_starts[place];
  for_each_touched_slab(place == 0 ? 0 : data_at, d.slab_starts[place + 1], slab_bytes,
                        [&](std::size_t, std::size_t first, std::size_t last) {
                          std::uint32_t sum = 0;
                          if (first < data_at)
                            sum = crc32c(header_bytes.data() + first, (last < data_at ? last : data_at) - first);
                          if (last > data_at) {
                            const std::size_t from = first < data_at ? data_at : first;
                            sum = crc32c(data + (from - data_at), last - from, sum);
                          }
                          own.push_back(sum);
                        });
  return own;
}

/// Returns the checksums of all slabs of a file on the leader of the call, and nothing on the other workers. `own` is
/// the result of compute_own_checksums on this worker. Collective. Cost: one message of 4 bytes per slab from each
/// owner.
template <std::size_t Rank>
std::vector<std::uint32_t> combine_file_checksums(const file_call& call, const slab_partition<Rank>& where,
                                                  const std::vector<std::uint32_t>& own, std::size_t slab_bytes) {
  const file_domains& d = where.domains;
  const auto begin_of = [&](std::size_t k) { return k == 0 ? std::size_t{0} : d.slab_starts[k]; };
  const std::size_t n = d.owners();
  std::vector<std::size_t> counts(n);
  std::size_t all = 0;
  for (std::size_t k = 0; k < n; ++k)
    all += counts[k] = sizeof(std::uint32_t) * count_touched_slabs(begin_of(k), d.slab_starts[k + 1], slab_bytes);
  auto mine = uninitialised<std::uint8_t, 1>({sizeof(std::uint32_t) * own.size()});
  if (mine.size() != 0) std::memcpy(mine.data(), own.data(), mine.size());
  const auto one = call.everyone().partition(extents<dynamic>(std::size_t{1}), workers{call.leader()});
  const auto pieces = repartition(where.owners.reshape(extents<dynamic>(n)), one, source_cuts(cut::at(counts)),
                                  result_cuts(cut::at({all})))(mine);
  if (!call.is_leader()) return {};
  std::vector<std::uint32_t> sums((d.bytes() + slab_bytes - 1) / slab_bytes, 0);
  const auto* piece = pieces.data();
  for (std::size_t k = 0; k < n; ++k)
    for_each_touched_slab(begin_of(k), d.slab_starts[k + 1], slab_bytes,
                          [&](std::size_t number, std::size_t first, std::size_t last) {
                            std::uint32_t sum = 0;
                            std::memcpy(&sum, piece, sizeof sum);
                            piece += sizeof sum;
                            sums[number] = crc32c_of_both(sums[number], sum, last - first);
                          });
  return sums;
}

}  // namespace partita::detail
