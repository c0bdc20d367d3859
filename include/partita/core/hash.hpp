// A 64-bit hash, which workers compare instead of the values themselves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace partita {

/// Mixes values in order into one hash: `hasher().mix(rank).mix(extents.array()).value()`. The same values in the same
/// order have the same hash on all workers and in constant expressions; 0.0 and -0.0 differ. Different values almost
/// always have different hashes; the hash is not cryptographic.
class hasher {
 public:
  /// Starts a new hash, or continues from `seed`, the value of an earlier hash.
  constexpr explicit hasher(std::uint64_t seed = 0) : state_(seed) {}

  /// Adds one value: the fingerprint() of a value that has one, a number (a floating-point number by the bits of its
  /// conversion to double), an enumerator, an optional, or the count and then the values of a range ([1, 2], [3]
  /// differs from [1], [2, 3]). An object of an empty type without a fingerprint() adds nothing.
  template <class Value>
  constexpr hasher& mix(const Value& value) {
    if constexpr (requires { value.fingerprint(); }) return mix(value.fingerprint());
    else if constexpr (std::is_empty_v<Value>) return *this;
    else if constexpr (std::is_floating_point_v<Value>) return mix(std::bit_cast<std::uint64_t>(double(value)));
    else if constexpr (requires { value.has_value(); }) return value.has_value() ? mix(true).mix(*value) : mix(false);
    else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      state_ = mix_bits(state_ * state_increment + static_cast<std::uint64_t>(value));
    } else {
      mix(value.size());
      for (const auto& one : value) mix(one);
    }
    return *this;
  }
  /// Adds a string: its characters one by one, and a final zero.
  constexpr hasher& mix(const char* characters) {
    while (*characters != '\0') mix(*characters++);
    return mix('\0');
  }

  constexpr std::uint64_t value() const { return state_; }  ///< The hash of all values so far.

 private:
  /// The increment of splitmix64 (Steele, Lea, Flood 2014): it is 2^64 divided by the golden ratio, rounded to an odd
  /// number. The shifts and factors of mix_bits() are also those of splitmix64.
  static constexpr std::uint64_t state_increment = 0x9e3779b97f4a7c15U;
  static constexpr std::uint64_t mix_bits(std::uint64_t z) {  ///< the number that splitmix64 gives in state z
    z += state_increment;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;  ///< the hash so far
};

}  // namespace partita
