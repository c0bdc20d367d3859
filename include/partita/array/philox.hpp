// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011): random words that depend only on a key and a counter.
#pragma once

#include <array>
#include <cstdint>

namespace partita::detail {

/// Computes four random words for a counter of four words. With one key, different counters give different results.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

/// A stream of random words for one seed and one step. Word number k depends only on the seed, the step and k, so it is
/// equal on all workers.
class random_words {
 public:
  /// The random numbers of this seed and this step.
  constexpr random_words(std::uint64_t seed, std::uint64_t step)
      : philox_key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}, step_(step) {}

  constexpr std::uint32_t operator[](std::uint64_t k) {
    if (const std::uint64_t block = k / 4; block != block_) {
      block_ = block;
      words_of_block_ = philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32U),
                                static_cast<std::uint32_t>(step_), static_cast<std::uint32_t>(step_ >> 32U)},
                               philox_key_);
    }
    return words_of_block_[k % 4];
  }

 private:
  std::array<std::uint32_t, 2> philox_key_;         ///< the lower and the upper half of the seed
  std::uint64_t step_, block_ = ~std::uint64_t{0};  ///< word k is in block k / 4; block_ is that of the last call
  std::array<std::uint32_t, 4> words_of_block_{};   ///< the words of block_
};

}  // namespace partita::detail
