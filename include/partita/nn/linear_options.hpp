// The options of a linear layer, other than its partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/fingerprint.hpp>

namespace partita {

/// The initial values of the weights and the bias of a layer.
enum class initial_values {
  uniform,  ///< in [-b, b], b = 1 / sqrt(weights per output), as in PyTorch; a function of seed and global index only
  zeros     ///< all weights and the bias are 0, for a program that assigns them itself
};

/// The numbers of input and output features of the whole layer, whether it adds a bias, and its initial values. Layers
/// with the same seed and shape start with the same weights: give each layer its own seed.
struct linear_options {
  std::size_t in_features = 0;                       ///< the last extent of x
  std::size_t out_features = 0;                      ///< the last extent of y
  bool bias = true;                                  ///< whether the layer has a bias
  initial_values initial = initial_values::uniform;  ///< how the weights and the bias start
  std::uint64_t seed = 0;                            ///< the seed of the initial weights

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<5>(*this); }  ///< a hash of all members
};

}  // namespace partita
