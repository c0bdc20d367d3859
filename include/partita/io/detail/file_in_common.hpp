// One file that several workers read while other jobs may replace it: all workers read the same version, or start
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <string>
#include <utility>

namespace partita::detail {

/// A file that each worker opens by name. The leader opens it first and keeps it open, so that no other file gets its
/// inode; the other workers compare their file with the leader's.
class file_in_common {
 public:
  file_in_common(const file_call& call, const std::string& path) : call_(call), path_(path) {}

  const std::string& path() const { return path_; }
  const posix_file& file() const { return file_; }
  /// Opens the file on this worker, if it is not open. Returns 0 or an errno.
  PARTITA_DECL int open();
  /// Sends to all workers which file the leader has opened. Collective.
  void agree() { wanted_ = call_.numbers_of_leader(wanted_)[0]; }
  /// Whether each worker that has opened the file has the leader's file, and no process has written to it since. An
  /// error of one worker is thrown on all workers. Collective.
  PARTITA_DECL bool is_one(const file_trouble& mine) const;

 private:
  std::uint64_t version() const { return file_.version(); }

  const file_call& call_;
  const std::string& path_;
  posix_file file_;
  std::uint64_t wanted_ = 0;
};

/// Calls read(file, again) until it returns a value. It returns none, on all workers, if the file was replaced or
/// written to meanwhile. Collective.
template <class Read>
auto read_unchanged(const file_call& call, const std::string& path, Read read) {
  constexpr int most = 100;  // chosen: another job may replace a file between two opens once in a while, not each time
  for (int trial = 0; trial < most; ++trial) {
    file_in_common file(call, path);
    if (auto got = read(file, trial > 0)) return *std::move(got);
  }
  call.refuse(file_trouble::kind::io, text("requires a file that stays as it is while the workers read it; each of ")
                                          << most << " times somebody had replaced " << path.c_str()
                                          << " or written to it, or not all workers see the same file under this "
                                             "name; wait for the job that writes it, and name a file that all see")
      .raise();
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/file_in_common.ipp>
#endif
