// The folder of checkpoints as one worker sees it: which steps are there, what a killed job left, what is to go.
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

/// "step-000000000012": names in the order of their steps.
inline std::string step_name(std::uint64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%012llu", static_cast<unsigned long long>(step));
  return name;
}
/// Whether a name is that of a step that was saved whole.
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
/// Whether a name is that of a step that was not saved to its end, or not removed to its end.
template <class = void>
inline bool is_leftover_name(const std::string& name) {
  const std::size_t dot = name.find(".tmp.");
  std::uint64_t step = 0;
  return dot != std::string::npos && name.size() == dot + 21 && is_step_name(name.substr(0, dot), step);
}

/// The steps in a folder, ascending, and the leftovers. 0 or an errno.
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

/// Removes a folder and what is in it: 0, also if there is none, or an errno. By POSIX, as <filesystem> takes a tenth
/// of a second to include.
template <class = void>
int remove_folder(const std::string& folder) {
  const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
    return ::remove(path) == 0 || errno == ENOENT ? 0 : errno;
  };
  constexpr int open_folders = 16;  // at a time; a checkpoint has none in it
  const int status = ::nftw(folder.c_str(), remove_one, open_folders, FTW_DEPTH | FTW_PHYS);
  const int error = status >= 0 ? status : errno;
  return error == ENOENT || error == ENOTEMPTY || error == EEXIST ? 0 : error;  // another job removes it, too
}

/// The lock of a folder that is not a step yet: the job that saves a step keeps its manifest locked, and a job that
/// removes what is left over locks it before. The system unlocks it when a process ends, also by kill -9.
class folder_lock {
 public:
  /// Makes a folder that no other job removes while this object lives: 0 or an errno; EAGAIN if another job was about
  /// to remove it.
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
  /// Whether no job saves into a folder that is left over; then none begins to while this object lives. Where the file
  /// system has no locks, that is so if nothing was written there for a day.
  template <class = void>
  bool claim(const std::string& folder) {
    const std::string name = folder + "/manifest.json";
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return false;
    if (!S_ISDIR(status.st_mode)) return true;  // a file or a link, which no job has made
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

/// Removes what a job has left that was killed, but nothing that another job still saves. 0 or an errno.
template <class = void>
int remove_leftover(const std::string& folder) {
  folder_lock lock;
  return lock.claim(folder) ? remove_folder(folder) : 0;
}
/// Removes a step: first its name, so that half of one is never taken for a whole one. 0 also if another job does.
template <class = void>
int remove_step(const std::string& folder, std::uint64_t step) {
  const std::string name = folder + "/" + step_name(step), doomed = temporary_name(name, random_word());
  if (::rename(name.c_str(), doomed.c_str()) == 0) return remove_folder(doomed);
  return errno == ENOENT ? 0 : errno;
}

/// The folder in which a step is saved; removed when its object goes, unless it was kept.
class temporary_folder {
 public:
  temporary_folder() = default;
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    if (!path_.empty()) static_cast<void>(remove_folder(path_));
  }
  /// 0 or an errno; EAGAIN or EEXIST if another name is worth a trial.
  template <class = void>
  int make(const std::string& path) {
    const int error = lock_.make(path);
    if (error == 0) path_ = path;
    else if (error != EEXIST && error != EAGAIN) static_cast<void>(remove_folder(path));
    return error;
  }
  /// 0 or an errno; ENOTEMPTY or EEXIST if there is something of this name.
  int rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
    path_.clear();
    return 0;
  }

 private:
  std::string path_;
  folder_lock lock_;
};

/// Whether there is a file of so many bytes. It is opened, because NFS asks the server for the size only then.
inline bool is_whole_file(const std::string& path, std::size_t bytes) {
  posix_file file;
  std::size_t found = 0;
  return file.open(path, O_RDONLY) == 0 && file.size(found) == 0 && found == bytes;
}
/// Writes a small file, in place of one that may be there, and puts it on the disk. 0 or an errno.
inline int write_small_file(const std::string& path, const std::string& bytes, bool sync) {
  posix_file file;
  int error = file.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (error == 0) error = file.write(bytes.data(), bytes.size(), 0);
  if (error == 0 && sync) error = file.sync();
  const int closed = file.close();
  return error != 0 ? error : closed;
}
/// Reads a file of at most `most` bytes. 0 or an errno.
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
