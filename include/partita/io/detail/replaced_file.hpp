// The file that a save replaces: found through symbolic links; the new file gets its owner and mode.
#pragma once

#include <sys/stat.h>
#include <unistd.h>
#include <partita/core/config.hpp>
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

  PARTITA_DECL static replaced_file of(const std::string& name);

  /// The mode of the temporary file: if others may not read the old file, they can never read the new one.
  mode_t first_mode() const { return there ? 0600 : 0666; }
  /// Gives the temporary file the owner of the file that it replaces, if this process may set it, and its mode. Returns
  /// 0 or an errno.
  PARTITA_DECL int hand_on(const std::string& temporary) const;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/replaced_file.ipp>
#endif
