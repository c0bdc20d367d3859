// Plans which bytes of a file each owner (a worker that writes it) holds and writes. No two owners write to one page.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/index.hpp>
#include <vector>

namespace partita {

/// The grid of slabs into which a tensor of these extents (in the order of the file: the last varies fastest) is
/// divided for at most `owners` owners. The first dimensions are divided into single indices and the next dimension
/// into balanced parts, so that each slab is a box of the tensor and one range of the file. More than half of `owners`
/// owners get a slab, if there are enough elements.
template <std::size_t Rank>
std::array<std::size_t, Rank> slab_grid(const std::array<std::size_t, Rank>& extents, std::size_t owners) {
  std::array<std::size_t, Rank> parts{};
  parts.fill(1);
  if (volume_of(extents) == 0) return parts;
  std::size_t made = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    parts[d] = extents[d] < owners / made ? extents[d] : owners / made;
    made *= parts[d];
    if (parts[d] < extents[d]) break;
  }
  return parts;
}

/// The byte ranges of a file. Owner k holds slab k, the bytes [slab_starts[k], slab_starts[k + 1]), and writes the
/// bytes [write_starts[k], write_starts[k + 1]), which begin and end at a page boundary (except at the end of the
/// file). Owner k sends the bytes of its slab before write_starts[k], at most one page, to an earlier owner. Owner 0
/// also writes the header.
struct file_domains {
  std::vector<std::size_t> slab_starts, write_starts;  ///< byte offsets in the file, one for each owner; then its size

  std::size_t owners() const { return slab_starts.size() - 1; }  ///< the number of owners
  std::size_t bytes() const { return slab_starts.back(); }       ///< the size of the file

  /// The number of bytes at the beginning of its slab that owner k sends to an earlier owner.
  std::size_t bytes_sent(std::size_t k) const {
    return k == 0 ? 0 : (write_starts[k] < slab_starts[k + 1] ? write_starts[k] : slab_starts[k + 1]) - slab_starts[k];
  }
  /// The number of bytes that owner k receives from later owners, and writes after its own bytes.
  std::size_t bytes_received(std::size_t k) const {
    return write_starts[k + 1] - (slab_starts[k + 1] > write_starts[k] ? slab_starts[k + 1] : write_starts[k]);
  }
};

/// The highest number of owners, at most `most`, that hold on average at least `least` of the data_bytes bytes each; 1
/// if there are fewer than `least` bytes. Messages for smaller slabs would cost more than they save.
constexpr std::size_t worthwhile_owners(std::size_t data_bytes, std::size_t least, std::size_t most) {
  const std::size_t wanted = least == 0 ? most : data_bytes / least;
  return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

/// The byte ranges of a file whose elements begin at byte `data_at`. The consecutive slabs have the numbers of bytes
/// `slab_bytes`, and a page has `page` bytes.
PARTITA_DECL file_domains plan_file_domains(std::size_t data_at, const std::vector<std::size_t>& slab_bytes,
                                            std::size_t page);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/file_domains.ipp>
#endif
