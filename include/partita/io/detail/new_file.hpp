// Writes a file on all workers under a temporary name, then renames it, so that it replaces an old file.
#pragma once

#include <cstddef>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <partita/io/detail/replaced_file.hpp>
#include <string>

namespace partita::detail {

inline constexpr const char* write_error_advice =  ///< the end of messages that a file cannot be written
    "free some space, or write where this worker may; what had this name before is untouched";

/// Makes a temporary file of `bytes` bytes beside `path` (or its target, if `path` is a symbolic link), calls
/// `write(file, name)`, which writes this worker's bytes and returns its error, and renames the file. Only on the
/// leader `file` is open. Collective.
template <class Write>
void replace_file(const file_call& call, const std::string& path, std::size_t bytes, bool sync, Write write) {
  // 1. Find the file to replace, and agree on the name of a temporary file in the same folder.
  const replaced_file old = call.is_leader() ? replaced_file::of(path) : replaced_file{};
  const auto [word, is_symlink] = call.broadcast_from_leader(random_word(), old.is_symlink);
  const std::string target = is_symlink != 0 ? call.broadcast_bytes(call.leader(), old.path) : path;
  const std::string temporary = temporary_name(target, word);
  // 2. On the leader (one of the workers), create the temporary file and reserve its space.
  posix_file file;
  temporary_file guard;  // removes the leader's temporary file after an error
  file_error call_error;
  if (call.is_leader()) {
    call_error = call.errno_error("replace", path, old.error, "give the name of a file, or one that is not taken yet");
    int error = call_error.empty() ? file.open(temporary, O_WRONLY | O_CREAT | O_EXCL, old.creation_mode()) : 0;
    if (error == 0 && file.is_open()) {
      guard.remove_file_in_destructor(temporary);
      error = file.reserve(bytes);
    }
    if (error != 0) call_error = call.errno_error("make", temporary, error, write_error_advice);
  }
  call.throw_together(call_error);
  // 3. On every worker, write the bytes of the file that belong to this worker.
  call.throw_together(write(file, temporary));
  // 4. On the leader, rename the temporary file to the name of the old file, which replaces the old file atomically.
  if (call.is_leader()) {
    int error = old.copy_owner_and_mode(temporary);
    if (error == 0) error = guard.rename_to(target);
    call_error = call.errno_error("give its name to", target, error, write_error_advice);
    if (call_error.empty() && sync)
      call_error = call.errno_error("put on the disk the folder of", target, sync_folder(parent_folder(target)),
                                    "the file is written, but a power failure may undo it");
  }
  call.throw_together(call_error);
}

}  // namespace partita::detail
