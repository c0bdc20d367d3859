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

inline constexpr std::size_t page = 4096;

/// Memory with one part of equal size for each member of a node; every member maps all parts until its process ends.
class shared_mapping {
 public:
  shared_mapping() = default;
  /// Maps parts of `wished_bytes` bytes, or less if a member has less address space; maps nothing if a part would have
  /// less than `min_bytes` bytes. Collective.
  PARTITA_DECL shared_mapping(const own_node& members, std::size_t wished_bytes, std::size_t min_bytes);

  /// The number of bytes that each member of the node has in this memory, or 0 if there is no shared memory.
  std::size_t size() const { return size_; }
  /// The start of the part of this memory that belongs to the member at a place of the node.
  char* part(std::size_t place) const { return mapped_base_ + place * size_; }

 private:
  PARTITA_DECL static bool can_map(std::size_t bytes);
  PARTITA_DECL static std::size_t smallest_of_members(const own_node& members, std::size_t mine);
  PARTITA_DECL static int make_file(std::size_t bytes);
  PARTITA_DECL static std::array<std::uint64_t, 4> file_identity(int file, std::uint64_t process, std::uint64_t number);
  /// Opens the file that another process has open, and checks the file's inode, because in another container the same
  /// process id may mean another process.
  PARTITA_DECL static int open_by_identity(const std::array<std::uint64_t, 4>& wanted);

  char* mapped_base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/shared_mapping.ipp>
#endif
