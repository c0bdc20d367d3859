// A file that several workers read while other jobs may replace it. All workers read the same version, or read again.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <string>
#include <utility>

namespace partita::detail {

/// A file that each worker opens by its name. The leader opens the file first and keeps it open, so that no other file
/// gets its inode; the other workers compare the file that they open with that of the leader.
class common_file {
 public:
  common_file(const file_call& call, const std::string& path) : call_(call), path_(path) {}  ///< opens nothing yet

  const std::string& path() const { return path_; }  ///< the name of the file
  const posix_file& file() const { return file_; }   ///< the file as this worker opened it
  /// Opens the file on this worker, unless it is open already. Returns 0 or an errno.
  PARTITA_DECL int open();
  /// Sends the fingerprint of the leader's file to all workers. Collective.
  void agree_on_version() { version_on_leader_ = call_.broadcast_from_leader(version_on_leader_)[0]; }
  /// Whether all workers that opened the file opened the same file as the leader, and no process has written to it
  /// since. If a worker passes an error, and its file is not open or is the leader's, unchanged, all workers throw the
  /// error. Collective.
  PARTITA_DECL bool is_same_on_all(const file_error& mine) const;

 private:
  std::uint64_t fingerprint() const { return file_.fingerprint(); }  ///< the fingerprint of this worker's file

  const file_call& call_;                ///< the call that reads the file
  const std::string& path_;              ///< the name of the file, which the caller keeps
  posix_file file_;                      ///< closed until this worker calls open()
  std::uint64_t version_on_leader_ = 0;  ///< the fingerprint of the leader's file
};

/// Calls read(file, is_retry) until it returns a value, at most 100 times, then throws an io_error. read must return no
/// value, on all workers, if the file was replaced or written to while the workers read it. Collective.
template <class Read>
auto read_unchanged_file(const file_call& call, const std::string& path, Read read) {
  constexpr int max_trials = 100;  // chosen: another job may replace the file between two opens, but not each time
  for (int trial = 0; trial < max_trials; ++trial) {
    common_file file(call, path);
    if (auto got = read(file, trial > 0)) return *std::move(got);
  }
  call.make_error(file_error::kind::io, text("requires a file that stays as it is while the workers read it; each of ")
                                            << max_trials << " times somebody had replaced " << path.c_str()
                                            << " or written to it, or not all workers see the same file under this "
                                               "name; wait for the job that writes it, and name a file that all see")
      .raise();
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/common_file.ipp>
#endif
