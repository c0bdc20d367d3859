// The folder of checkpoints as one worker sees it: its steps, the leftovers of killed jobs, and what must be removed.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::detail {

/// The name of a step, such as "step-000000000012". The names sort in the order of the steps.
PARTITA_DECL std::string step_name(std::uint64_t step);

/// The steps in a folder, ascending, and the leftovers. `error` is 0 or an errno.
struct checkpoint_list {
  std::vector<std::uint64_t> steps;
  std::vector<std::string> leftovers;
  int error = 0;
};
PARTITA_DECL checkpoint_list list_checkpoints(const std::string& folder);

/// Removes a folder and its contents. Returns 0, also if there is no such folder, or an errno. It uses POSIX because
/// including <filesystem> takes a tenth of a second.
PARTITA_DECL int remove_folder(const std::string& folder);

/// The lock of a folder that is not a complete step. A job that saves a step keeps its manifest locked, and a job that
/// removes leftovers must lock it first. The system releases the lock when a process ends, also by kill -9.
class folder_lock {
 public:
  /// Makes a folder that no other job removes during the lifetime of this object. Returns 0 or an errno; EAGAIN if
  /// another job was about to remove it.
  PARTITA_DECL int make(const std::string& folder);
  /// Whether no job is saving into a leftover folder; then no job starts to during the lifetime of this object. If the
  /// file system has no locks, this is assumed when nothing was written there for a day.
  PARTITA_DECL bool claim(const std::string& folder);

 private:
  posix_file manifest_;
};

/// Removes the leftovers of a killed job, but nothing that another job is still saving. Returns 0 or an errno.
PARTITA_DECL int remove_leftover(const std::string& folder);
/// Removes a step. It is renamed first, so that a partly removed step is never taken for a complete one. Returns 0 also
/// if another job removes it.
PARTITA_DECL int remove_step(const std::string& folder, std::uint64_t step);

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
  PARTITA_DECL int make(const std::string& path);
  /// Returns 0 or an errno; ENOTEMPTY or EEXIST if the name is taken.
  PARTITA_DECL int rename_to(const std::string& path);

 private:
  std::string path_;
  folder_lock lock_;
};

/// Whether a file of this size exists. The file is opened, because NFS asks the server for the size only then.
PARTITA_DECL bool is_whole_file(const std::string& path, std::size_t bytes);
/// Writes a small file, replacing an existing one, and puts it on the disk. Returns 0 or an errno.
PARTITA_DECL int write_small_file(const std::string& path, const std::string& bytes, bool sync);
/// Reads a file of at most `most` bytes. Returns 0 or an errno.
PARTITA_DECL int read_small_file(const std::string& path, std::string& bytes, std::size_t most);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/checkpoint_folder.ipp>
#endif
