// Defines the functions that io/detail/common_file.hpp declares.
#pragma once

#include <partita/io/detail/common_file.hpp>

namespace partita::detail {

PARTITA_DEF int common_file::open() {
  if (file_.is_open()) return 0;
  const int error = file_.open(path_, O_RDONLY);
  if (error == 0 && call_.is_leader()) version_on_leader_ = fingerprint();
  return error;
}

PARTITA_DEF bool common_file::is_same_on_all(const file_error& mine) const {
  const bool same = !file_.is_open() || fingerprint() == version_on_leader_;
  if (call_.is_true_on_all(same && mine.empty())) return true;
  call_.throw_together(same ? mine : file_error{});
  return false;
}

}  // namespace partita::detail
