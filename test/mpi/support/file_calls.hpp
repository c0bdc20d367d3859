// Counts what this worker reads and writes of files, and how often it waits until something is on the disk.
#pragma once

#include <cstddef>

namespace test {

/// What was read and written by pread and pwrite, and the calls of fdatasync (of files) and fsync (of folders).
struct file_calls {
  std::size_t bytes_read = 0, bytes_written = 0, synced_files = 0, synced_folders = 0;
  friend bool operator==(const file_calls&, const file_calls&) = default;
};
/// The calls of this worker so far.
file_calls counted_file_calls();
/// The calls of this worker while a function runs.
template <class Function>
file_calls file_calls_of(Function function) {
  const file_calls before = counted_file_calls();
  function();
  const file_calls after = counted_file_calls();
  return {after.bytes_read - before.bytes_read, after.bytes_written - before.bytes_written,
          after.synced_files - before.synced_files, after.synced_folders - before.synced_folders};
}

}  // namespace test
