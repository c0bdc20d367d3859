// The few calls of POSIX that files need: whole transfers, an errno as the result, and a temporary that replaces.
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

/// What `transfer_all` returns where a file ends too early; no errno is negative.
inline constexpr int end_of_file = -1;

/// Calls move(done, count) until n bytes are moved: it returns how many it moved (0 is the end of the file), or -1 and
/// errno. What is interrupted is tried again. 0, an errno, or end_of_file.
template <class Move>
int transfer_all(std::size_t n, Move move) {
  constexpr std::size_t most = std::size_t{1} << 30U;  // Linux moves at most 2^31 - 4096 bytes a call, others less
  for (std::size_t done = 0; done < n;) {
    const ssize_t moved = move(done, n - done < most ? n - done : most);
    if (moved > 0) done += static_cast<std::size_t>(moved);
    else if (moved == 0) return end_of_file;
    else if (errno != EINTR) return errno;
  }
  return 0;
}

/// An open file, closed with its object.
class posix_file {
 public:
  posix_file() = default;
  posix_file(const posix_file&) = delete;
  posix_file& operator=(const posix_file&) = delete;
  ~posix_file() { static_cast<void>(close()); }

  /// 0 or an errno. What is read only is not waited for: a pipe that nobody writes to would never open.
  int open(const std::string& path, int flags, mode_t mode = 0666) {
    static_cast<void>(close());
    if (flags == O_RDONLY) flags |= O_NONBLOCK;
    do descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (descriptor_ < 0 && errno == EINTR);
    return descriptor_ < 0 ? errno : 0;
  }
  bool is_open() const { return descriptor_ >= 0; }
  /// 0 or what a file system that writes late has to say.
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
  /// What another file under the same name does not have, nor this one after somebody has written to it: as long as it
  /// is open somewhere, its inode is given to no other. Without the number of the device, which each machine gives
  /// for itself. 0 if it cannot be found out.
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
  /// Locks the file, also against other objects of this process, until it is closed or the process ends, however that
  /// happens. 0 or an errno: EWOULDBLOCK if somebody else has locked it.
  int lock(bool shared = false) const {
    int result = 0;
    do result = ::flock(descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  }
  /// The same, but waits for a while if somebody else has locked it. 0 also where the file system has no locks.
  template <class = void>
  int wait_for_lock(bool shared) const {
    constexpr int trials = 500;  // five seconds: chosen, longer than most datasets take and shorter than a hang
    constexpr useconds_t pause = 10000;
    int error = lock(shared);
    for (int trial = 1; trial < trials && error == EWOULDBLOCK; ++trial) {
      ::usleep(pause);
      error = lock(shared);
    }
    return has_no_locks(error) ? 0 : error;
  }
  /// Whether that is what a file system without locks returns.
  static bool has_no_locks(int error) {
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == EBADF;
  }
  /// Takes the room for so many bytes, so that a full disk is found before anything is written. A file system that
  /// cannot reserve gets the size only (posix_fallocate would write every page of it instead).
  int reserve(std::size_t bytes) const {
    const file_size_errors no_signal;
#ifdef __linux__
    if (bytes == 0 || ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) return errno;
#endif
    return ::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }
  /// Whether there is room for so many bytes, for others to write: the file has `before` bytes again afterwards.
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
  /// The data are on the disk when it returns.
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

/// Where the name `path` stands.
template <class = void>
inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The names in a folder are on the disk when it returns.
inline int sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: a file system without it
  ::close(descriptor);
  return error;
}

/// The name of a temporary beside `path` that nobody else has.
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

/// Calls what makes temporaries. An exception that nobody catches would end the program without a destructor run, and
/// they would stay.
template <class Call>
void unwound(Call call) {
  try {
    call();
  } catch (...) {
    throw;
  }
}

/// Removes a file when its object goes, unless it was kept.
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
  /// Gives it the name `path`, in place of what had it. 0 or an errno; then nothing has changed.
  int rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::string path_;
};

}  // namespace partita::detail
