// The file that a save replaces. The file is found through symbolic links. The new file gets the old file's mode and,
// if this process may set it, its owner.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <partita/core/config.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <string>

namespace partita::detail {

/// The file, if any, that a new file of the same name will replace.
struct replaced_file {
  std::string path;         ///< the name with symbolic links resolved, which the new file gets
  bool is_symlink = false;  ///< whether the name given is a symbolic link
  bool exists = false;      ///< whether there is a file to replace
  int error = 0;            ///< 0, ELOOP for too many links, or EINVAL for a device, a pipe or a socket
  struct stat status {};    ///< what the system says of the old file: its mode, its owner

  PARTITA_DECL static replaced_file of(const std::string& name);  ///< looks up the file of this name

  /// The mode with which the temporary file is created. If there is an old file, other users cannot read the new file
  /// before it has the old file's mode.
  mode_t creation_mode() const { return exists ? 0600 : 0666; }
  /// Gives the temporary file the mode of the file that it replaces and, if this process may set it, the owner. Returns
  /// 0 or an errno.
  PARTITA_DECL int copy_owner_and_mode(const std::string& temporary) const;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/replaced_file.ipp>
#endif
