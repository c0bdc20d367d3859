// The counter-based generator reproduces Random123's known answers.
#include <partita/array/philox.hpp>

using partita::detail::philox;

namespace {

using words = std::array<std::uint32_t, 4>;

// kat_vectors of Random123 1.14: philox4x32 10
static_assert(philox({0, 0, 0, 0}, {0, 0}) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// a stream is asked in any order
static_assert([] {
  partita::detail::random_words ahead(7, 2), at_random(7, 2), other_step(7, 3);
  std::array<std::uint32_t, 12> all{};
  for (std::size_t k = 0; k < 12; ++k) all[k] = ahead[k];
  return at_random[9] == all[9] && at_random[0] == all[0] && at_random[11] == all[11] && other_step[0] != all[0] &&
         all[0] == philox({0, 0, 2, 0}, {7, 0})[0] && all[5] == philox({1, 0, 2, 0}, {7, 0})[1];
}());

// a random number depends on all 64 bits of its position, of the seed and of the step
constexpr bool word_is_that_of_the_counter(std::uint64_t seed, std::uint64_t step, std::uint64_t k) {
  const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  const auto high = [](std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32U); };
  partita::detail::random_words stream(seed, step);
  return stream[k] == philox({low(k / 4), high(k / 4), low(step), high(step)}, {low(seed), high(seed)})[k % 4];
}
static_assert([] {
  constexpr std::uint64_t numbers[] = {0, 1, 0xffffffff, 0x100000000, 0x3ffffffff, 0x400000001, 0x123456789abcdef3};
  for (const std::uint64_t n : numbers)
    if (!word_is_that_of_the_counter(n, 2, 5) || !word_is_that_of_the_counter(7, n, 5) ||
        !word_is_that_of_the_counter(7, 2, n))
      return false;
  return true;
}());

}  // namespace
