// Blocks whose boxes are written as they travel.
#pragma once

#include <cstddef>

namespace partita::detail {

/// A block that is nowhere in memory as a whole.
class written_block {
 public:
  virtual ~written_block() = default;
  /// Writes the box of a shape that begins at a place in the block to dense memory, in C order. Both have as many
  /// numbers as the block has dimensions.
  virtual void write(const std::size_t* shape, const std::size_t* at, char* to) const = 0;
};

}  // namespace partita::detail
