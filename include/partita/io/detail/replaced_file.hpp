// The file that a save replaces: found through symbolic links; the new file gets its owner and mode.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <partita/io/detail/posix_file.hpp>
#include <string>

namespace partita::detail {

/// What exists under a name before a file is saved there.
struct replaced_file {
  std::string path;     ///< the name with symbolic links resolved: the new file goes there
  bool linked = false;  ///< whether the name given is a symbolic link
  bool there = false;   ///< whether there is a file to replace
  int error = 0;        ///< ELOOP, or EINVAL for a device, a pipe or a socket
  struct stat status {};

  template <class = void>
  static replaced_file of(const std::string& name) {
    constexpr int most_links = 40;  // the limit of Linux
    replaced_file found;
    found.path = name;
    for (int links = 0; ::lstat(found.path.c_str(), &found.status) == 0; ++links) {
      if (!S_ISLNK(found.status.st_mode)) {
        found.there = true;  // for a folder, rename reports that it cannot be replaced
        if (!S_ISREG(found.status.st_mode) && !S_ISDIR(found.status.st_mode)) found.error = EINVAL;
        return found;
      }
      if (links == most_links) {
        found.error = ELOOP;
        return found;
      }
      found.linked = true;
      char target[4096];
      const ssize_t length = ::readlink(found.path.c_str(), target, sizeof target);
      if (length <= 0) break;
      const std::string to(target, static_cast<std::size_t>(length));
      found.path = to[0] == '/' ? to : folder_of(found.path) + "/" + to;
    }
    return found;
  }

  /// The mode of the temporary file: if others may not read the old file, they can never read the new one.
  mode_t first_mode() const { return there ? 0600 : 0666; }
  /// Gives the temporary file the owner of the file that it replaces, if this process may set it, and its mode. Returns
  /// 0 or an errno.
  template <class = void>
  int hand_on(const std::string& temporary) const {
    if (!there) return 0;
    mode_t mode = status.st_mode & 07777;
    if (::lchown(temporary.c_str(), status.st_uid, status.st_gid) != 0 &&
        ::lchown(temporary.c_str(), static_cast<uid_t>(-1), status.st_gid) != 0)
      mode &= 0777;  // drops setuid and setgid: the program would run as another user
    return ::chmod(temporary.c_str(), mode) == 0 ? 0 : errno;
  }
};

}  // namespace partita::detail
