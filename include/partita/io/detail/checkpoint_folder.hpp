// The folder of checkpoints as one worker sees it: its steps, the leftovers of killed jobs, and what must be removed.
#pragma once

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <partita/io/detail/posix_file.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::detail {

/// The name of a step, such as "step-000000000012". The names sort in the order of the steps.
inline std::string step_name(std::uint64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%012llu", static_cast<unsigned long long>(step));
  return name;
}
/// Whether this is the name of a step that was saved completely.
template <class = void>
inline bool is_step_name(const std::string& name, std::uint64_t& step) {
  if (name.size() < 17 || name.size() > 25 || name.compare(0, 5, "step-") != 0) return false;
  step = 0;
  for (std::size_t k = 5; k < name.size(); ++k) {
    if (name[k] < '0' || name[k] > '9') return false;
    step = step * 10 + static_cast<std::uint64_t>(name[k] - '0');
  }
  return name == step_name(step);
}
/// Whether this is the name of a step whose saving or removal was not completed.
template <class = void>
inline bool is_leftover_name(const std::string& name) {
  const std::size_t dot = name.find(".tmp.");
  std::uint64_t step = 0;
  return dot != std::string::npos && name.size() == dot + 21 && is_step_name(name.substr(0, dot), step);
}

/// The steps in a folder, ascending, and the leftovers. `error` is 0 or an errno.
struct checkpoint_list {
  std::vector<std::uint64_t> steps;
  std::vector<std::string> leftovers;
  int error = 0;
};
template <class = void>
checkpoint_list list_checkpoints(const std::string& folder) {
  checkpoint_list list;
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) {
    list.error = errno;
    return list;
  }
  errno = 0;
  while (const dirent* const entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    std::uint64_t step = 0;
    if (is_step_name(name, step)) list.steps.push_back(step);
    else if (is_leftover_name(name)) list.leftovers.push_back(name);
    errno = 0;
  }
  list.error = errno;
  ::closedir(entries);
  std::sort(list.steps.begin(), list.steps.end());
  return list;
}

/// Removes a folder and its contents. Returns 0, also if there is no such folder, or an errno. It uses POSIX because
/// including <filesystem> takes a tenth of a second.
template <class = void>
int remove_folder(const std::string& folder) {
  const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
    return ::remove(path) == 0 || errno == ENOENT ? 0 : errno;
  };
  constexpr int open_folders = 16;  // at a time; a checkpoint contains no folders
  const int status = ::nftw(folder.c_str(), remove_one, open_folders, FTW_DEPTH | FTW_PHYS);
  const int error = status >= 0 ? status : errno;
  return error == ENOENT || error == ENOTEMPTY || error == EEXIST ? 0 : error;  // another job also removes it
}

/// The lock of a folder that is not a complete step. A job that saves a step keeps its manifest locked, and a job that
/// removes leftovers must lock it first. The system releases the lock when a process ends, also by kill -9.
class folder_lock {
 public:
  /// Makes a folder that no other job removes during the lifetime of this object. Returns 0 or an errno; EAGAIN if
  /// another job was about to remove it.
  template <class = void>
  int make(const std::string& folder) {
    if (::mkdir(folder.c_str(), 0777) != 0) return errno;
    const std::string name = folder + "/manifest.json";
    int error = manifest_.open(name, O_RDWR | O_CREAT | O_EXCL);
    if (error == ENOENT || error == EEXIST) return EAGAIN;
    if (error == 0) error = manifest_.lock();
    if (error == EWOULDBLOCK) return EAGAIN;
    if (error != 0) return posix_file::has_no_locks(error) ? 0 : error;
    return manifest_.has_name(name) ? 0 : EAGAIN;
  }
  /// Whether no job is saving into a leftover folder; then no job starts to during the lifetime of this object. If the
  /// file system has no locks, this is assumed when nothing was written there for a day.
  template <class = void>
  bool claim(const std::string& folder) {
    const std::string name = folder + "/manifest.json";
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return false;
    if (!S_ISDIR(status.st_mode)) return true;  // a file or a link; jobs make only folders
    int error = manifest_.open(name, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (error == ELOOP || error == EISDIR) return true;
    if (error == 0) error = manifest_.lock();
    if (error == 0) return manifest_.has_name(name);
    constexpr std::time_t day = 24 * 60 * 60;
    return posix_file::has_no_locks(error) && std::time(nullptr) - status.st_mtime > day;
  }

 private:
  posix_file manifest_;
};

/// Removes the leftovers of a killed job, but nothing that another job is still saving. Returns 0 or an errno.
template <class = void>
int remove_leftover(const std::string& folder) {
  folder_lock lock;
  return lock.claim(folder) ? remove_folder(folder) : 0;
}
/// Removes a step. It is renamed first, so that a partly removed step is never taken for a complete one. Returns 0 also
/// if another job removes it.
template <class = void>
int remove_step(const std::string& folder, std::uint64_t step) {
  const std::string name = folder + "/" + step_name(step), doomed = temporary_name(name, random_word());
  if (::rename(name.c_str(), doomed.c_str()) == 0) return remove_folder(doomed);
  return errno == ENOENT ? 0 : errno;
}

/// The folder in which a step is saved; removed by the destructor, unless it was renamed.
class temporary_folder {
 public:
  temporary_folder() = default;
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    if (!path_.empty()) static_cast<void>(remove_folder(path_));
  }
  /// Returns 0 or an errno; after EAGAIN or EEXIST the caller should try another name.
  template <class = void>
  int make(const std::string& path) {
    const int error = lock_.make(path);
    if (error == 0) path_ = path;
    else if (error != EEXIST && error != EAGAIN) static_cast<void>(remove_folder(path));
    return error;
  }
  /// Returns 0 or an errno; ENOTEMPTY or EEXIST if the name is taken.
  int rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::string path_;
  folder_lock lock_;
};

/// Whether a file of this size exists. The file is opened, because NFS asks the server for the size only then.
inline bool is_whole_file(const std::string& path, std::size_t bytes) {
  posix_file file;
  std::size_t found = 0;
  return file.open(path, O_RDONLY) == 0 && file.size(found) == 0 && found == bytes;
}
/// Writes a small file, replacing an existing one, and puts it on the disk. Returns 0 or an errno.
inline int write_small_file(const std::string& path, const std::string& bytes, bool sync) {
  posix_file file;
  int error = file.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (error == 0) error = file.write(bytes.data(), bytes.size(), 0);
  if (error == 0 && sync) error = file.sync();
  const int closed = file.close();
  return error != 0 ? error : closed;
}
/// Reads a file of at most `most` bytes. Returns 0 or an errno.
template <class = void>
inline int read_small_file(const std::string& path, std::string& bytes, std::size_t most) {
  posix_file file;
  std::size_t size = 0;
  int error = file.open(path, O_RDONLY);
  if (error == 0) error = file.size(size);
  if (error == 0 && size > most) error = EFBIG;
  if (error != 0) return error;
  bytes.resize(size);
  return file.read(bytes.data(), size, 0);
}

}  // namespace partita::detail
