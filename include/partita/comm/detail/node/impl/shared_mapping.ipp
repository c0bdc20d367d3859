// Defines the functions that comm/detail/node/shared_mapping.hpp declares.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <partita/comm/detail/node/shared_mapping.hpp>

namespace partita::detail {

PARTITA_DEF shared_mapping::shared_mapping(const own_node& members, std::size_t wished_bytes, std::size_t min_bytes) {
  const std::size_t n = members.size();
  std::size_t size = wished_bytes / page * page;
  // map at most a quarter of the address space, so that a program under ulimit -v keeps room for itself
  while (size >= min_bytes && !can_map(4 * n * size)) size = size / 2 / page * page;
  size = smallest_of_members(members, size);
  if (size < min_bytes) return;

  // The first member makes the file, and the other members open it.
  std::array<std::uint64_t, 4> file{};
  const int made = members.place() == 0 ? make_file(n * size) : -1;
  if (made >= 0) file = file_identity(made, static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(made));
  check(MPI_Bcast(file.data(), 4, MPI_UINT64_T, 0, members.communicator()), "MPI_Bcast");
  void* mapped = MAP_FAILED;
  if (const int found = made >= 0 ? made : open_by_identity(file); found >= 0) {
    mapped = ::mmap(nullptr, n * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, found, 0);
    if (made < 0) ::close(found);
  }
  // Keep the mapping only if all members have mapped the file.
  const bool all = smallest_of_members(members, mapped == MAP_FAILED ? 0 : 1) != 0;
  if (made >= 0) ::close(made);
  if (all) {
    mapped_base_ = static_cast<char*>(mapped);
    part_bytes_ = size;
  } else if (mapped != MAP_FAILED) {
    ::munmap(mapped, n * size);
  }
}

PARTITA_DEF bool shared_mapping::can_map(std::size_t bytes) {
  void* const tried = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return tried != MAP_FAILED && ::munmap(tried, bytes) == 0;
}

PARTITA_DEF std::size_t shared_mapping::smallest_of_members(const own_node& members, std::size_t mine) {
  unsigned long long given = mine, smallest = 0;
  check(MPI_Allreduce(&given, &smallest, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, members.communicator()), "MPI_Allreduce");
  return smallest;
}

PARTITA_DEF int shared_mapping::make_file(std::size_t bytes) {
  const file_size_errors no_signal;
  const int file = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) ::close(file);
  return -1;
}

PARTITA_DEF std::array<std::uint64_t, 4> shared_mapping::file_identity(int file, std::uint64_t process,
                                                                       std::uint64_t number) {
  struct stat state {};
  if (::fstat(file, &state) != 0) return {};
  return {process, number, std::uint64_t{state.st_dev}, std::uint64_t{state.st_ino}};
}

PARTITA_DEF int shared_mapping::open_by_identity(const std::array<std::uint64_t, 4>& wanted) {
  if (wanted[3] == 0) return -1;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu", static_cast<unsigned long long>(wanted[0]),
                static_cast<unsigned long long>(wanted[1]));
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0 || file_identity(file, wanted[0], wanted[1]) == wanted) return file;
  ::close(file);
  return -1;
}

}  // namespace partita::detail
