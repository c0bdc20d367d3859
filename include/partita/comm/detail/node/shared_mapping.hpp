// One memory area that all workers of a node map. It is a file without a name, so that a killed job leaves nothing
// behind. Every step that can fail on one worker fails on all.
//
// MPI_Win_allocate_shared is not used: where one worker cannot map the window (ulimit -v) or open its file, Open MPI
// 4.1 waits for the other workers forever, a killed job leaves osc_sm.* in /dev/shm, and MPICH 4.0 touches every page
// of the window.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/comm/file_size_errors.hpp>

namespace partita::detail {

inline constexpr std::size_t page = 4096;

/// One part of equal size for each member of a node; every member maps all parts. It stays until the process ends.
class shared_mapping {
 public:
  shared_mapping() = default;
  /// Parts of `wished` bytes, or less if a member has less address space; no memory if that is below `least`.
  /// Collective.
  shared_mapping(const own_node& members, std::size_t wished, std::size_t least) {
    const std::size_t n = members.size();
    std::size_t size = wished / page * page;
    // a quarter of the address space left, so that a program under ulimit -v keeps room for itself
    while (size >= least && !could_map(4 * n * size)) size = size / 2 / page * page;
    size = smallest(members, size);
    if (size < least) return;

    // The first member makes the file, and the other members open it.
    std::array<std::uint64_t, 4> file{};
    const int made = members.place() == 0 ? make_file(n * size) : -1;
    if (made >= 0) file = identity_of(made, static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(made));
    check(MPI_Bcast(file.data(), 4, MPI_UINT64_T, 0, members.communicator()), "MPI_Bcast");
    void* mapped = MAP_FAILED;
    if (const int found = made >= 0 ? made : opened(file); found >= 0) {
      mapped = ::mmap(nullptr, n * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, found, 0);
      if (made < 0) ::close(found);
    }
    // Keep the mapping only if all members have it.
    const bool all = smallest(members, mapped == MAP_FAILED ? 0 : 1) != 0;
    if (made >= 0) ::close(made);
    if (all) {
      base_ = static_cast<char*>(mapped);
      size_ = size;
    } else if (mapped != MAP_FAILED) {
      ::munmap(mapped, n * size);
    }
  }

  /// The bytes of each part: the same on all members; 0 if there is no shared memory.
  std::size_t size() const { return size_; }
  /// The part of the member at a place.
  char* part(std::size_t place) const { return base_ + place * size_; }

 private:
  static bool could_map(std::size_t bytes) {
    void* const tried = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return tried != MAP_FAILED && ::munmap(tried, bytes) == 0;
  }
  static std::size_t smallest(const own_node& members, std::size_t mine) {
    unsigned long long given = mine, least = 0;
    check(MPI_Allreduce(&given, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, members.communicator()), "MPI_Allreduce");
    return least;
  }
  static int make_file(std::size_t bytes) {
    const file_size_errors no_signal;
    const int file = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
    if (file >= 0) ::close(file);
    return -1;
  }
  static std::array<std::uint64_t, 4> identity_of(int file, std::uint64_t process, std::uint64_t number) {
    struct stat state {};
    if (::fstat(file, &state) != 0) return {};
    return {process, number, std::uint64_t{state.st_dev}, std::uint64_t{state.st_ino}};
  }
  /// Opens the file that another process has open. It checks the inode, because in another container the same process
  /// id may mean another process.
  template <class = void>
  static int opened(const std::array<std::uint64_t, 4>& wanted) {
    if (wanted[3] == 0) return -1;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu", static_cast<unsigned long long>(wanted[0]),
                  static_cast<unsigned long long>(wanted[1]));
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || identity_of(file, wanted[0], wanted[1]) == wanted) return file;
    ::close(file);
    return -1;
  }

  char* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace partita::detail
