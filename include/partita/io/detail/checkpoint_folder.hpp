// The calls of one worker on a folder of checkpoints: list the saved steps, remove steps and leftovers of killed jobs.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <string>
#include <vector>

namespace partita::detail {

/// The name of the folder of a step, such as "step-000000000012". Names of steps below 10^12, sorted, are in the order
/// of the steps.
PARTITA_DECL std::string step_folder_name(std::uint64_t step);

/// The saved steps in a folder, ascending, and the names of leftovers of killed jobs. `error` is 0 or an errno.
struct checkpoint_list {
  std::vector<std::uint64_t> steps;         ///< the steps that were saved completely, ascending
  std::vector<std::string> leftover_names;  ///< folders of steps whose saving or removal was not completed
  int error = 0;                            ///< the errno if the folder cannot be read, else 0
};
PARTITA_DECL checkpoint_list list_checkpoints(const std::string& folder);  ///< reads the folder on this worker

/// Removes a folder and its contents. Returns 0, also if the folder does not exist or another job removes it, or an
/// errno. The function uses POSIX because <filesystem> takes a tenth of a second to compile.
PARTITA_DECL int remove_folder(const std::string& folder);

/// The lock of the folder of an incomplete step, which is a lock of the file manifest.json in the folder. The job that
/// saves the step holds the lock, and a job that wants to remove the folder must take the lock first. The system
/// releases the lock when a process ends, also by kill -9.
class folder_lock {
 public:
  /// Makes a folder that no other job removes during the lifetime of this object (without locks: until it is unchanged
  /// for a day). Returns 0 or an errno, which is EAGAIN if another job was about to remove the folder.
  PARTITA_DECL int make(const std::string& folder);
  /// Whether no job saves into a leftover folder; if true, no job begins to do so during the lifetime of this object.
  /// On a file system without locks the result is true if nothing was written to the folder for a day.
  PARTITA_DECL bool lock_if_unused(const std::string& folder);

 private:
  posix_file manifest_file_;  ///< the file manifest.json in the folder, whose lock is that of the folder
};

/// Removes a leftover folder of an incomplete step, unless a job still saves into it. Returns 0 or an errno.
PARTITA_DECL int remove_leftover(const std::string& folder);
/// Removes a step. The folder of the step is renamed first, so that no job takes a partly removed step for a complete
/// one. Returns 0 (also if another job removes the step) or an errno.
PARTITA_DECL int remove_step(const std::string& folder, std::uint64_t step);

/// The temporary folder in which a step is saved. The destructor removes the folder, unless it was renamed.
class temporary_folder {
 public:
  temporary_folder() = default;  ///< no folder until make()
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    if (!path_.empty()) static_cast<void>(remove_folder(path_));
  }
  /// Makes the folder `path`. Returns 0 or an errno; after EAGAIN or EEXIST the caller should try another name.
  PARTITA_DECL int make(const std::string& path);
  /// Renames the folder to `path`. Returns 0 or an errno, which is ENOTEMPTY or EEXIST if a folder of that name exists.
  PARTITA_DECL int rename_to(const std::string& path);

 private:
  std::string path_;  ///< the folder that the destructor removes, or empty
  folder_lock lock_;  ///< keeps other jobs from removing the folder
};

/// Whether a file of this name and size exists. The function opens the file, because NFS only then asks the server.
PARTITA_DECL bool is_whole_file(const std::string& path, std::size_t bytes);
/// Writes or replaces a small file, and with `sync` waits until it is on the disk. Returns 0 or an errno.
PARTITA_DECL int write_small_file(const std::string& path, const std::string& bytes, bool sync);
/// Reads a whole file into `bytes`. Returns 0 or an errno, which is EFBIG if the file has more than `most` bytes.
PARTITA_DECL int read_small_file(const std::string& path, std::string& bytes, std::size_t most);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/checkpoint_folder.ipp>
#endif
