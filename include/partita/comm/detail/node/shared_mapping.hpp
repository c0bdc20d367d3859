// One memory area that all workers of a node map. The area is a file without a name, so that a killed job leaves
// nothing behind. If a step fails on one worker, all workers of the node take the step as failed.
//
// MPI_Win_allocate_shared is not used: where one worker cannot map the window (ulimit -v) or open its file, Open MPI
// 4.1 waits for the other workers forever, a killed job leaves osc_sm.* in /dev/shm, and MPICH 4.0 touches every page
// of the window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/node.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/file_size_errors.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

inline constexpr std::size_t page = 4096;  ///< the number of bytes of a page of memory

/// Memory with one part of equal size for each member of a node; every member maps all parts until its process ends.
class shared_mapping {
 public:
  shared_mapping() = default;
  /// Maps parts of `wished_bytes` bytes, or less if a member has less address space; maps nothing if a part would have
  /// less than `min_bytes` bytes or a member cannot map the memory. Collective.
  PARTITA_DECL shared_mapping(const own_node& members, std::size_t wished_bytes, std::size_t min_bytes);

  /// The number of bytes that each member of the node has in this memory, or 0 if there is no shared memory.
  std::size_t part_bytes() const { return part_bytes_; }
  /// The start of the part of this memory that belongs to the member at a place of the node.
  char* part(std::size_t place) const { return mapped_base_ + place * part_bytes_; }

 private:
  /// Whether this process has address space for this number of bytes left.
  PARTITA_DECL static bool can_map(std::size_t bytes);
  /// The smallest of the numbers that the members of the node pass. Collective over the node.
  PARTITA_DECL static std::size_t smallest_of_members(const own_node& members, std::size_t mine);
  /// Makes a file without a name in /dev/shm, and returns its descriptor; -1 if that fails.
  PARTITA_DECL static int make_file(std::size_t bytes);
  /// The id of the process that has the file open, the file's descriptor in that process, its device and its inode.
  PARTITA_DECL static std::array<std::uint64_t, 4> file_identity(int file, std::uint64_t process, std::uint64_t number);
  /// Opens the file that another process has open, and checks the file's inode, because in another container the same
  /// process id may mean another process.
  PARTITA_DECL static int open_by_identity(const std::array<std::uint64_t, 4>& wanted);

  char* mapped_base_ = nullptr;  ///< the start of the first member's part
  std::size_t part_bytes_ = 0;   ///< 0 if nothing is mapped
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/shared_mapping.ipp>
#endif
