// POSIX calls on files, which transfer all bytes and return an errno, and temporary files, which are removed or
// renamed.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <partita/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <partita/comm/file_size_errors.hpp>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <string>

namespace partita::detail {

/// The result of `transfer_all_bytes` if the file ends before all bytes are read. No errno is negative.
inline constexpr int end_of_file = -1;

/// Calls move(done, count) until n bytes are moved. move must return the number of bytes that it moved (0 at the end of
/// the file), or -1 and set errno. Interrupted calls are repeated. Returns 0, an errno, or end_of_file.
template <class Move>
int transfer_all_bytes(std::size_t n, Move move) {
  constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30U;  // less than the limit in Linux, 2^31 - 4096 bytes
  for (std::size_t done = 0; done < n;) {
    const ssize_t moved = move(done, n - done < max_bytes_per_call ? n - done : max_bytes_per_call);
    if (moved > 0) done += static_cast<std::size_t>(moved);
    else if (moved == 0) return end_of_file;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

/// A file, closed until open() is called; the destructor closes the file.
class posix_file {
 public:
  posix_file() = default;
  posix_file(const posix_file&) = delete;
  posix_file& operator=(const posix_file&) = delete;
  ~posix_file() { static_cast<void>(close()); }

  /// Opens a file. Returns 0 or an errno. Opening for reading does not block, because the open of a pipe without a
  /// writer would never return.
  PARTITA_DECL int open(const std::string& path, int open_flags, mode_t mode = 0666);
  bool is_open() const { return file_descriptor_ >= 0; }
  /// Closes the file. Returns 0, or the errno of a file system that writes data when a file is closed.
  PARTITA_DECL int close();
  /// Reads `bytes` bytes from offset `at` on. Returns 0, an errno, or end_of_file.
  PARTITA_DECL int read(void* to, std::size_t bytes, std::size_t at) const;
  /// Writes `bytes` bytes from offset `at` on. Returns 0 or an errno.
  PARTITA_DECL int write(const void* from, std::size_t bytes, std::size_t at) const;
  PARTITA_DECL int size(std::size_t& bytes) const;  ///< sets `bytes` to the size of the file; returns 0 or an errno
  /// A fingerprint of the file's inode, size and time of the last write, which changes at nearly every write to the
  /// file, and differs from that of any file that replaces it while it is open (no other file gets the inode of an open
  /// file). The fingerprint does not depend on the device number, because each machine assigns its own. If there is an
  /// error, the fingerprint is 0.
  PARTITA_DECL std::uint64_t fingerprint() const;
  /// Whether the name `path` still refers to this file.
  PARTITA_DECL bool has_name(const std::string& path) const;
  /// Locks the file, also against other objects of this process, until it is closed or the process ends in any way.
  /// Returns 0 or an errno, for example EWOULDBLOCK if another process or object holds the lock.
  PARTITA_DECL int lock(bool shared = false) const;
  /// Locks the file as lock() does, but waits up to 5 s if another process or object holds the lock. Returns 0 also if
  /// the file system has no locks.
  PARTITA_DECL int wait_for_lock(bool shared) const;
  /// Whether `error` is an errno that a file system without locks returns.
  static bool is_lock_unsupported(int error) {
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == EBADF;
  }
  /// Reserves space for this number of bytes, so that a full disk is detected before any byte is written. If the file
  /// system cannot reserve, only the size is set (posix_fallocate would write every page instead).
  PARTITA_DECL int reserve(std::size_t bytes) const;
  /// Checks that the disk has space for a file of `bytes` bytes, if the file system can reserve space, then sets the
  /// size of the file back to `before`. Returns 0 or an errno.
  PARTITA_DECL int try_to_reserve(std::size_t before, std::size_t bytes) const;
  /// Returns EFBIG if this process may not write a file of this number of bytes (ulimit -f), else 0.
  PARTITA_DECL static int file_size_error(std::size_t bytes);
  /// Waits until the data of the file are on the disk. Returns 0 or an errno.
  PARTITA_DECL int sync() const;

 private:
  int file_descriptor_ = -1;  ///< -1 if no file is open
};

/// The folder that contains `path`.
PARTITA_DECL std::string parent_folder(const std::string& path);

/// Waits until the names of the files in a folder are on the disk. Returns 0 or an errno.
PARTITA_DECL int sync_folder(const std::string& folder);

/// A name for a temporary file in the folder of `path`, unique by a random number.
PARTITA_DECL std::string temporary_name(const std::string& path, std::uint64_t random_number);
PARTITA_DECL std::uint64_t random_word();  ///< a random number for temporary_name

/// The message of an errno, such as "No space left on device (errno 28)".
PARTITA_DECL text error_text(int error);

/// Calls a function that makes temporary files, and catches and rethrows its exceptions. An exception without a handler
/// could end the program without running destructors, so that the files would remain.
template <class Call>
void call_with_unwinding(Call call) {
  try {
    call();
  } catch (...) {
    throw;
  }
}

/// The name of a temporary file. The destructor removes the file, unless it was renamed.
class temporary_file {
 public:
  temporary_file() = default;
  explicit temporary_file(std::string path) : path_(std::move(path)) {}  ///< makes no file
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void remove_file_in_destructor(const std::string& path) { path_ = path; }  ///< unless rename_to() comes first
  /// Renames the file to `path`, replacing an existing file. Returns 0 or an errno; after an error nothing has changed.
  PARTITA_DECL int rename_to(const std::string& path);

 private:
  std::string path_;  ///< the file that the destructor removes, or empty
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/posix_file.ipp>
#endif
