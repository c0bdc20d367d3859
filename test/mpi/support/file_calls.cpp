// Replaces system calls on files by ones that count and pass the call on.
#include "file_calls.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <atomic>

namespace {

std::atomic<std::size_t> bytes_read{0}, bytes_written{0}, synced_files{0}, synced_folders{0};

ssize_t counted(std::atomic<std::size_t>& bytes, long moved) {
  if (moved > 0) bytes += static_cast<std::size_t>(moved);
  return moved;
}

}  // namespace

test::file_calls test::counted_file_calls() { return {bytes_read, bytes_written, synced_files, synced_folders}; }

extern "C" {

ssize_t pread(int file, void* to, std::size_t bytes, off_t at) {
  return counted(bytes_read, ::syscall(SYS_pread64, file, to, bytes, at));
}
ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t at) {
  return counted(bytes_written, ::syscall(SYS_pwrite64, file, from, bytes, at));
}
int fdatasync(int file) {
  ++synced_files;
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
int fsync(int folder) {
  ++synced_folders;
  return static_cast<int>(::syscall(SYS_fsync, folder));
}

}  // extern "C"
