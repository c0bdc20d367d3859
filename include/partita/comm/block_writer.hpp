// The interface of a block that an exchange sends although its elements are not stored as one block in memory.
#pragma once

#include <cstddef>

namespace partita::detail {

/// A source block of an exchange, which writes each box directly to the memory from which the receiver reads the box.
class block_writer {
 public:
  virtual ~block_writer() = default;
  /// Writes a box of the block to the dense memory `to`, in C order. The box has the extents `shape` and begins at
  /// position `at` in the block; both arrays have one number for each dimension of the block.
  virtual void write(const std::size_t* shape, const std::size_t* at, char* to) const = 0;
};

}  // namespace partita::detail
