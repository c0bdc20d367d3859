// Blocks whose boxes are written while they travel.
#pragma once

#include <cstddef>

namespace partita::detail {

/// A block whose elements are not in memory as a whole.
class block_writer {
 public:
  virtual ~block_writer() = default;
  /// Writes the box of a shape that begins at a position in the block to dense memory, in C order. The shape and the
  /// position have as many numbers as the block has dimensions.
  virtual void write(const std::size_t* shape, const std::size_t* at, char* to) const = 0;
};

}  // namespace partita::detail
