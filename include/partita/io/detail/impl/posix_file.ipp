// Defines the functions that io/detail/posix_file.hpp declares.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <partita/io/detail/posix_file.hpp>

namespace partita::detail {

PARTITA_DEF int posix_file::open(const std::string& path, int open_flags, mode_t mode) {
  static_cast<void>(close());
  if (open_flags == O_RDONLY) open_flags |= O_NONBLOCK;
  do file_descriptor_ = ::open(path.c_str(), open_flags | O_CLOEXEC, mode);
  while (file_descriptor_ < 0 && errno == EINTR);
  return file_descriptor_ < 0 ? errno : 0;
}

PARTITA_DEF int posix_file::close() {
  if (file_descriptor_ < 0) return 0;
  const int result = ::close(file_descriptor_);
  file_descriptor_ = -1;
  return result != 0 && errno != EINTR ? errno : 0;
}

PARTITA_DEF int posix_file::read(void* to, std::size_t bytes, std::size_t at) const {
  return transfer_all_bytes(bytes, [&](std::size_t done, std::size_t count) {
    return ::pread(file_descriptor_, static_cast<char*>(to) + done, count, static_cast<off_t>(at + done));
  });
}

PARTITA_DEF int posix_file::write(const void* from, std::size_t bytes, std::size_t at) const {
  const file_size_errors no_signal;
  const int error = transfer_all_bytes(bytes, [&](std::size_t done, std::size_t count) {
    return ::pwrite(file_descriptor_, static_cast<const char*>(from) + done, count, static_cast<off_t>(at + done));
  });
  return error == end_of_file ? EIO : error;
}

PARTITA_DEF int posix_file::size(std::size_t& bytes) const {
  struct stat status {};
  if (::fstat(file_descriptor_, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
  bytes = static_cast<std::size_t>(status.st_size);
  return 0;
}

PARTITA_DEF std::uint64_t posix_file::fingerprint() const {
  struct stat status {};
  if (::fstat(file_descriptor_, &status) != 0) return 0;
  return hasher().mix(status.st_ino).mix(status.st_size).mix(status.st_mtim.tv_sec).mix(status.st_mtim.tv_nsec).value();
}

PARTITA_DEF bool posix_file::has_name(const std::string& path) const {
  struct stat open_status {
  }, path_status{};
  return ::fstat(file_descriptor_, &open_status) == 0 && ::stat(path.c_str(), &path_status) == 0 &&
         open_status.st_dev == path_status.st_dev && open_status.st_ino == path_status.st_ino;
}

PARTITA_DEF int posix_file::lock(bool shared) const {
  int result = 0;
  do result = ::flock(file_descriptor_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

PARTITA_DEF int posix_file::wait_for_lock(bool shared) const {
  constexpr int trials = 500;  // 5 s, chosen: longer than most datasets take, shorter than what looks like a hang
  constexpr useconds_t pause = 10000;
  int error = lock(shared);
  for (int trial = 1; trial < trials && error == EWOULDBLOCK; ++trial) {
    ::usleep(pause);
    error = lock(shared);
  }
  return is_lock_unsupported(error) ? 0 : error;
}

PARTITA_DEF int posix_file::reserve(std::size_t bytes) const {
  const file_size_errors no_signal;
#ifdef __linux__
  if (bytes == 0 || ::fallocate(file_descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR) return errno;
#endif
  return ::ftruncate(file_descriptor_, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}

PARTITA_DEF int posix_file::try_to_reserve(std::size_t before, std::size_t bytes) const {
  const int error = reserve(bytes);
  const int result = ::ftruncate(file_descriptor_, static_cast<off_t>(before));
  return error != 0 ? error : result != 0 ? errno : 0;
}

PARTITA_DEF int posix_file::file_size_error(std::size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur ? EFBIG
                                                                                                             : 0;
}

PARTITA_DEF int posix_file::sync() const {
#ifdef __APPLE__
  return ::fsync(file_descriptor_) == 0 ? 0 : errno;
#else
  return ::fdatasync(file_descriptor_) == 0 ? 0 : errno;
#endif
}

PARTITA_DEF std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

PARTITA_DEF int sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: the file system has no fsync
  ::close(descriptor);
  return error;
}

PARTITA_DEF std::string temporary_name(const std::string& path, std::uint64_t random_number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(random_number));
  return path + ".tmp." + digits;
}

PARTITA_DEF std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (::getentropy(&word, sizeof word) == 0) return word;
  // The system call is missing in Linux before 3.17, and a sandbox may forbid it. The numbers of one process must
  // differ, too, because the caller tries another name if a name is taken.
  static std::atomic<std::uint64_t> calls{0};
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return hasher().mix(::getpid()).mix(now.tv_sec).mix(now.tv_nsec).mix(++calls).value();
}

PARTITA_DEF text error_text(int error) {
  text words;
  if (error == end_of_file) return words << "the file ends too early";
  return words << std::strerror(error) << " (errno " << error << ")";
}

PARTITA_DEF int temporary_file::rename_to(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
  path_.clear();
  return 0;
}

}  // namespace partita::detail
