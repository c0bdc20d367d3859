// How the blocks of a kernel are transported, and how messages are built: options that a caller may choose.
#pragma once

#include <partita/core/version.hpp>

namespace partita {

/// The transport of blocks between two workers. All workers must pass the same value to the kernel.
enum class strategy {
  mixed,   ///< the default: shared memory between workers of one node, messages between nodes
  shared,  ///< shared memory; an error if the workers are not all on one node
  message  ///< messages only
};
/// How a message is built from boxes that are not contiguous in their block. All workers must pass the same value to
/// the kernel.
enum class message_form {
  by_size,  ///< the default: typed if the message is small, packed if it is large
  packed,   ///< one message per pair of workers, packed by the sender and unpacked by the receiver
  chunked,  ///< the packed data in pieces of 256 KB; each piece is sent while the next is packed
  typed,    ///< one message per pair of workers, with MPI derived datatypes
  measured  ///< the fastest form, measured by each pair of workers at its first exchange of more than 128 KB
};
using messages PARTITA_FORMER_NAME("use message_form") = message_form;

}  // namespace partita
