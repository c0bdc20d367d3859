// The file that a saved one takes the place of: found through symbolic links, its owner and mode handed on.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <partita/io/detail/posix_file.hpp>
#include <string>

namespace partita::detail {

/// What is found under a name before a file is saved there.
struct replaced_file {
  std::string path;     ///< the name without links: the new file goes there
  bool linked = false;  ///< whether the name given is a symbolic link
  bool there = false;   ///< whether there is something to replace
  int error = 0;        ///< ELOOP, or EINVAL for a device, a pipe or a socket
  struct stat status {};

  template <class = void>
  static replaced_file of(const std::string& name) {
    constexpr int most_links = 40;  // as Linux itself
    replaced_file found;
    found.path = name;
    for (int links = 0; ::lstat(found.path.c_str(), &found.status) == 0; ++links) {
      if (!S_ISLNK(found.status.st_mode)) {
        found.there = true;  // of a folder, the renaming says that it cannot be replaced
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

  /// The mode of the temporary: what nobody else may read is never open to them.
  mode_t first_mode() const { return there ? 0600 : 0666; }
  /// Gives the temporary the owner, as far as this process may, and the mode of what it replaces. 0 or an errno.
  template <class = void>
  int hand_on(const std::string& temporary) const {
    if (!there) return 0;
    mode_t mode = status.st_mode & 07777;
    if (::lchown(temporary.c_str(), status.st_uid, status.st_gid) != 0 &&
        ::lchown(temporary.c_str(), static_cast<uid_t>(-1), status.st_gid) != 0)
      mode &= 0777;  // a program that runs as its owner would run as another one
    return ::chmod(temporary.c_str(), mode) == 0 ? 0 : errno;
  }
};

}  // namespace partita::detail
