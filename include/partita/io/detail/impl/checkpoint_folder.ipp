// Defines the functions that io/detail/checkpoint_folder.hpp declares.
#pragma once

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <partita/io/detail/checkpoint_folder.hpp>

namespace partita::detail {

PARTITA_DEF std::string step_folder_name(std::uint64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%012llu", static_cast<unsigned long long>(step));
  return name;
}

/// Whether this is the name of a step that was saved completely; if so, sets `step` to the number of the step.
PARTITA_DECL bool is_step_name(const std::string& name, std::uint64_t& step) {
  if (name.size() < 17 || name.size() > 25 || name.compare(0, 5, "step-") != 0) return false;
  step = 0;
  for (std::size_t k = 5; k < name.size(); ++k) {
    if (name[k] < '0' || name[k] > '9') return false;
    step = step * 10 + static_cast<std::uint64_t>(name[k] - '0');
  }
  return name == step_folder_name(step);
}

/// Whether this is the name of a step whose saving or removal was not completed.
PARTITA_DECL bool is_leftover_name(const std::string& name) {
  const std::size_t dot = name.find(".tmp.");
  std::uint64_t step = 0;
  return dot != std::string::npos && name.size() == dot + 21 && is_step_name(name.substr(0, dot), step);
}

PARTITA_DEF checkpoint_list list_checkpoints(const std::string& folder) {
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
    else if (is_leftover_name(name)) list.leftover_names.push_back(name);
    errno = 0;
  }
  list.error = errno;
  ::closedir(entries);
  std::sort(list.steps.begin(), list.steps.end());
  return list;
}

PARTITA_DEF int remove_folder(const std::string& folder) {
  const auto remove_one = [](const char* path, const struct stat*, int, FTW*) {
    return ::remove(path) == 0 || errno == ENOENT ? 0 : errno;
  };
  constexpr int open_folders = 16;  // the most folders that are open at once; a checkpoint contains no folders
  const int status = ::nftw(folder.c_str(), remove_one, open_folders, FTW_DEPTH | FTW_PHYS);
  const int error = status >= 0 ? status : errno;
  return error == ENOENT || error == ENOTEMPTY || error == EEXIST ? 0 : error;  // another job may have removed it
}

PARTITA_DEF int folder_lock::make(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) != 0) return errno;
  const std::string name = folder + "/manifest.json";
  int error = manifest_file_.open(name, O_RDWR | O_CREAT | O_EXCL);
  if (error == ENOENT || error == EEXIST) return EAGAIN;
  if (error == 0) error = manifest_file_.lock();
  if (error == EWOULDBLOCK) return EAGAIN;
  if (error != 0) return posix_file::is_lock_unsupported(error) ? 0 : error;
  return manifest_file_.has_name(name) ? 0 : EAGAIN;
}

PARTITA_DEF bool folder_lock::lock_if_unused(const std::string& folder) {
  const std::string name = folder + "/manifest.json";
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return false;
  if (!S_ISDIR(status.st_mode)) return true;  // no job saves into a file or a link
  int error = manifest_file_.open(name, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (error == ELOOP || error == EISDIR) return true;
  if (error == 0) error = manifest_file_.lock();
  if (error == 0) return manifest_file_.has_name(name);
  constexpr std::time_t day = 24 * 60 * 60;
  return posix_file::is_lock_unsupported(error) && std::time(nullptr) - status.st_mtime > day;
}

PARTITA_DEF int remove_leftover(const std::string& folder) {
  folder_lock lock;
  return lock.lock_if_unused(folder) ? remove_folder(folder) : 0;
}

PARTITA_DEF int remove_step(const std::string& folder, std::uint64_t step) {
  const std::string name = folder + "/" + step_folder_name(step), removed_name = temporary_name(name, random_word());
  if (::rename(name.c_str(), removed_name.c_str()) == 0) return remove_folder(removed_name);
  return errno == ENOENT ? 0 : errno;
}

PARTITA_DEF int temporary_folder::make(const std::string& path) {
  const int error = lock_.make(path);
  if (error == 0) path_ = path;
  else if (error != EEXIST && error != EAGAIN) static_cast<void>(remove_folder(path));
  return error;
}

PARTITA_DEF int temporary_folder::rename_to(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) return errno;
  path_.clear();
  return 0;
}

PARTITA_DEF bool is_whole_file(const std::string& path, std::size_t bytes) {
  posix_file file;
  std::size_t found = 0;
  return file.open(path, O_RDONLY) == 0 && file.size(found) == 0 && found == bytes;
}

PARTITA_DEF int write_small_file(const std::string& path, const std::string& bytes, bool sync) {
  posix_file file;
  int error = file.open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (error == 0) error = file.write(bytes.data(), bytes.size(), 0);
  if (error == 0 && sync) error = file.sync();
  const int closed = file.close();
  return error != 0 ? error : closed;
}

PARTITA_DEF int read_small_file(const std::string& path, std::string& bytes, std::size_t most) {
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
