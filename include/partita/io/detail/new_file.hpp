// A file that all workers write under a temporary name, which then replaces the file that had its name before.
#pragma once

#include <cstddef>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <partita/io/detail/replaced_file.hpp>
#include <string>

namespace partita::detail {

inline constexpr const char* way_out_of_writing =
    "free some space, or write where this worker may; what had this name before is untouched";

/// Makes a temporary file of so many bytes beside `path`, which `write(file, temporary)` fills, and renames it when all
/// of it is written. The leader's file is open; write is collective and returns this worker's error. Collective.
template <class Write>
void replace_file(const file_call& call, const std::string& path, std::size_t bytes, bool sync, Write write) {
  // 1. Find the file to replace, and agree on the name of a temporary file beside it.
  const replaced_file old = call.leads() ? replaced_file::of(path) : replaced_file{};
  const auto [word, linked] = call.numbers_of_leader(random_word(), old.linked);
  const std::string target = linked != 0 ? call.bytes_of(call.leader(), old.path) : path;
  const std::string temporary = temporary_name(target, word);
  // 2. The leader creates the temporary file and reserves its space.
  posix_file file;
  temporary_file guard;  // the leader removes its temporary file in any case
  file_trouble trouble;
  if (call.leads()) {
    trouble = call.cannot("replace", path, old.error, "give the name of a file, or one that is not taken yet");
    int error = trouble.empty() ? file.open(temporary, O_WRONLY | O_CREAT | O_EXCL, old.first_mode()) : 0;
    if (error == 0 && file.is_open()) {
      guard.remove_later(temporary);
      error = file.reserve(bytes);
    }
    if (error != 0) trouble = call.cannot("make", temporary, error, way_out_of_writing);
  }
  call.settle(trouble);
  // 3. The workers write their ranges.
  call.settle(write(file, temporary));
  // 4. The leader gives the temporary file the name of the old one, which replaces the old one atomically.
  if (call.leads()) {
    int error = old.hand_on(temporary);
    if (error == 0) error = guard.rename_to(target);
    trouble = call.cannot("give its name to", target, error, way_out_of_writing);
    if (trouble.empty() && sync)
      trouble = call.cannot("put on the disk the folder of", target, sync_folder(folder_of(target)),
                            "the file is written, but a power failure may undo it");
  }
  call.settle(trouble);
}

}  // namespace partita::detail
