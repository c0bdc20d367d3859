// Defines the functions that io/detail/replaced_file.hpp declares.
#pragma once

#include <cerrno>
#include <partita/io/detail/replaced_file.hpp>

namespace partita::detail {

PARTITA_DEF replaced_file replaced_file::of(const std::string& name) {
  constexpr int most_links = 40;  // the number of symbolic links that Linux follows
  replaced_file found;
  found.path = name;
  for (int links = 0; ::lstat(found.path.c_str(), &found.status) == 0; ++links) {
    if (!S_ISLNK(found.status.st_mode)) {
      found.exists = true;  // a folder is not rejected here, because rename reports that it cannot be replaced
      if (!S_ISREG(found.status.st_mode) && !S_ISDIR(found.status.st_mode)) found.error = EINVAL;
      return found;
    }
    if (links == most_links) {
      found.error = ELOOP;
      return found;
    }
    found.is_symlink = true;
    char target[4096];
    const ssize_t length = ::readlink(found.path.c_str(), target, sizeof target);
    if (length <= 0) break;
    const std::string to(target, static_cast<std::size_t>(length));
    found.path = to[0] == '/' ? to : parent_folder(found.path) + "/" + to;
  }
  return found;
}

PARTITA_DEF int replaced_file::copy_owner_and_mode(const std::string& temporary) const {
  if (!exists) return 0;
  mode_t mode = status.st_mode & 07777;
  if (::lchown(temporary.c_str(), status.st_uid, status.st_gid) != 0 &&
      ::lchown(temporary.c_str(), static_cast<uid_t>(-1), status.st_gid) != 0)
    mode &= 0777;  // drops setuid and setgid, with which a program would run as another user
  return ::chmod(temporary.c_str(), mode) == 0 ? 0 : errno;
}

}  // namespace partita::detail
