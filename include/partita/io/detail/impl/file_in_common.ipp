// Defines the functions that io/detail/file_in_common.hpp declares.
#pragma once

#include <partita/io/detail/file_in_common.hpp>

namespace partita::detail {

PARTITA_DEF int file_in_common::open() {
  if (file_.is_open()) return 0;
  const int error = file_.open(path_, O_RDONLY);
  if (error == 0 && call_.leads()) leader_version_ = version();
  return error;
}

PARTITA_DEF bool file_in_common::is_same_on_all(const file_error& mine) const {
  const bool one = !file_.is_open() || version() == leader_version_;
  if (call_.all(one && mine.empty())) return true;
  call_.throw_together(one ? mine : file_error{});
  return false;
}

}  // namespace partita::detail
