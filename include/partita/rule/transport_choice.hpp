// Which way the blocks of a kernel take, and how a message is made of them: what a caller may choose.
#pragma once

namespace partita {

/// Which way blocks take between two workers. Every worker of a kernel names the same.
enum class strategy {
  mixed,   ///< through shared memory between workers of one node, as messages between nodes (what is done if nothing is
           ///< said)
  shared,  ///< the same where all workers share one node's memory, and an error where they do not
  message  ///< as messages alone
};
/// How a message is made of boxes that do not lie contiguous in their block. Every worker of a kernel names the same.
enum class messages {
  by_size,  ///< typed if it is small, packed if it is large (what is done if nothing is said)
  packed,   ///< one for each pair of workers, gathered by the sender and spread by the receiver
  chunked,  ///< the same in pieces of 256 KB, each on its way while the next one is gathered
  typed,    ///< one for each pair, left to MPI's derived types
  measured  ///< as was fastest when a pair tried all at its first exchange of more than 128 KB
};

}  // namespace partita
