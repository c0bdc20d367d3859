// What is to be said of a linear layer beside its partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/fingerprint.hpp>

namespace partita {

/// What the weights and the bias of a layer are at first.
enum class initial_values {
  uniform,  ///< in (-b, b), b = 1 / sqrt(in_features), as PyTorch's nn.Linear: by seed and global index alone
  zeros     ///< 0, for a program that assigns all of them
};

/// What a linear layer maps: feature counts of the whole layer, and whether it adds a bias; and what it begins with.
/// Layers of one seed and one shape begin alike: give each its own.
struct linear_options {
  std::size_t in_features = 0;
  std::size_t out_features = 0;
  bool bias = true;
  initial_values initial = initial_values::uniform;
  std::uint64_t seed = 0;

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<5>(*this); }
};

}  // namespace partita
