// The POSIX calls that files need: complete transfers, an errno as the result, and a temporary file that replaces
// another.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <partita/comm/file_size_errors.hpp>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <string>

namespace partita::detail {

/// The result of `transfer_all` if the file ends too early; no errno is negative.
inline constexpr int end_of_file = -1;

/// Calls move(done, count) until n bytes are moved. move returns how many bytes it moved (0 at the end of the file), or
/// -1 and errno. Interrupted calls are repeated. Returns 0, an errno, or end_of_file.
template <class Move>
int transfer_all(std::size_t n, Move move) {
  constexpr std::size_t most = std::size_t{1} << 30U;  // Linux moves at most 2^31 - 4096 bytes per call, others less
  for (std::size_t done = 0; done < n;) {
    const ssize_t moved = move(done, n - done < most ? n - done : most);
    if (moved > 0) done += static_cast<std::size_t>(moved);
    else if (moved == 0) return end_of_file;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

/// An open file, closed by its destructor.
class posix_file {
 public:
  posix_file() = default;
  posix_file(const posix_file&) = delete;
  posix_file& operator=(const posix_file&) = delete;
  ~posix_file() { static_cast<void>(close()); }

  /// Returns 0 or an errno. Opening for reading does not block: a pipe without a writer would never open.
  int open(const std::string& path, int flags, mode_t mode = 0666) {
    static_cast<void>(close());
    if (flags == O_RDONLY) flags |= O_NONBLOCK;
    do descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (descriptor_ < 0 && errno == EINTR);
    return descriptor_ < 0 ? errno : 0;
  }
  bool is_open() const { return descriptor_ >= 0; }
  /// Returns 0, or the error of a file system that writes late.
  int close() {
    if (descriptor_ < 0) return 0;
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result != 0 && errno != EINTR ? errno : 0;
  }
  int read(void* to, std::size_t bytes, std::size_t at) const {
    return transfer_all(bytes, [&](std::size_t done, std::size_t count) {
      return ::pread(descriptor_, static_cast<char*>(to) + done, count, static_cast<off_t>(at + done));
    });
  }
  template <class = void>
  int write(const void* from, std::size_t bytes, std::size_t at) const {
    const file_size_errors no_signal;
    const int error = transfer_all(bytes, [&](std::size_t done, std::size_t count) {
      return ::pwrite(descriptor_, static_cast<const char*>(from) + done, count, static_cast<off_t>(at + done));
    });
    return error == end_of_file ? EIO : error;
  }
  int size(std::size_t& bytes) const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return errno;
    if (!S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    bytes = static_cast<std::size_t>(status.st_size);
    return 0;
  }
  /// A fingerprint of the file that differs from that of another file under the same name, and changes when a process
  /// writes to the file. While the file is open somewhere, no other file gets its inode. The number of the device is
  /// not included, because each machine assigns its own. 0 if the fingerprint cannot be determined.
  std::uint64_t version() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return 0;
    return hasher()
        .mix(status.st_ino)
        .mix(status.st_size)
        .mix(status.st_mtim.tv_sec)
        .mix(status.st_mtim.tv_nsec)
        .value();
  }
  /// Whether this file still has that name.
  bool has_name(const std::string& path) const {
    struct stat here {
    }, there{};
    return ::fstat(descriptor_, &here) == 0 && ::stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
  }
  /// Locks the file, also against other objects of this process, until it is closed or the process ends in any way.
  /// Returns 0 or an errno: EWOULDBLOCK if another process or object holds the lock.
  int lock(bool shared = false) const {
    int result = 0;
    do result = ::flock(descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  }
  /// The same, but waits for some time if another process or object holds the lock. Returns 0 also if the file system
  /// has no locks.
  template <class = void>
  int wait_for_lock(bool shared) const {
    constexpr int trials = 500;  // five seconds: chosen, longer than most datasets take to write and shorter than a
                                 // hang
    constexpr useconds_t pause = 10000;
    int error = lock(shared);
    for (int trial = 1; trial < trials && error == EWOULDBLOCK; ++trial) {
      ::usleep(pause);
      error = lock(shared);
    }
    return has_no_locks(error) ? 0 : error;
  }
  /// Whether this is the error of a file system without locks.
  static bool has_no_locks(int error) {
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == EBADF;
  }
  /// Reserves space for so many bytes, so that a full disk is detected before anything is written. If the file system
  /// cannot reserve, only the size is set (posix_fallocate would write every page instead).
  int reserve(std::size_t bytes) const {
    const file_size_errors no_signal;
#ifdef __linux__
    if (bytes == 0 || ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) return errno;
#endif
    return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }
  /// Checks that there is space for so many bytes, which others will write; afterwards the file has `before` bytes
  /// again. Returns 0 or an errno.
  int try_to_reserve(std::size_t before, std::size_t bytes) const {
    const int error = reserve(bytes);
    const int result = ::ftruncate(descriptor_, static_cast<off_t>(before));
    return error != 0 ? error : result != 0 ? errno : 0;
  }
  /// EFBIG if this process may not write a file of so many bytes (ulimit -f), else 0.
  static int room_by_limit(std::size_t bytes) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur ? EFBIG
                                                                                                               : 0;
  }
  /// Puts the data on the disk. Returns 0 or an errno.
  int sync() const {
#ifdef __APPLE__
    return ::fsync(descriptor_) == 0 ? 0 : errno;
#else
    return ::fdatasync(descriptor_) == 0 ? 0 : errno;
#endif
  }

 private:
  int descriptor_ = -1;
};

/// The folder that contains `path`.
template <class = void>
inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Puts the names in a folder on the disk. Returns 0 or an errno.
inline int sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: a file system without it
  ::close(descriptor);
  return error;
}

/// The unique name of a temporary file beside `path`.
inline std::string temporary_name(const std::string& path, std::uint64_t random) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random));
  return path + ".tmp." + digits;
}
inline std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (::getentropy(&word, sizeof word) != 0)
    word = static_cast<std::uint64_t>(static_cast<std::uint32_t>(::getpid())) * std::uint64_t{0x9e3779b97f4a7c15};
  return word;
}

/// "No space left on device (errno 28)".
template <class = void>
inline text error_text(int error) {
  text words;
  if (error == end_of_file) return words << "the file ends too early";
  return words << std::strerror(error) << " (errno " << error << ")";
}

/// Calls a function that makes temporary files. It catches and rethrows exceptions, because an exception without a
/// handler would end the program without running destructors, and the files would remain.
template <class Call>
void unwound(Call call) {
  try {
    call();
  } catch (...) {
    throw;
  }
}

/// Removes a file in its destructor, unless the file was kept.
class temporary_file {
 public:
  temporary_file() = default;
  explicit temporary_file(std::string path) : path_(std::move(path)) {}
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  template <class = void>
  void remove_later(const std::string& path) {
    path_ = path;
  }
  /// Renames the file to `path`, replacing an existing file. Returns 0 or an errno; after an error nothing has changed.
  int rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::string path_;
};

}  // namespace partita::detail
