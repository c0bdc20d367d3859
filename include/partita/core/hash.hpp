// A 64-bit number that equal values share: what workers compare instead of the values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace partita {

/// Mixes values in order into one number: `hasher().mix(rank).mix(extents.array()).value()`. The same on every worker
/// and in constant expressions; made to find differences, not to resist an opponent.
class hasher {
 public:
  /// From the start, or from a number made before on.
  constexpr explicit hasher(std::uint64_t seed = 0) : state_(seed) {}

  /// One more value: of a type that has a fingerprint or no state, a number (a fraction by its bits), an enumerator,
  /// what an optional holds, or the values of a range in order and their count ([1, 2], [3] differs from [1], [2, 3]).
  template <class Value>
  constexpr hasher& mix(const Value& value) {
    if constexpr (requires { value.fingerprint(); }) return mix(value.fingerprint());
    else if constexpr (std::is_empty_v<Value>) return *this;
    else if constexpr (std::is_floating_point_v<Value>) return mix(std::bit_cast<std::uint64_t>(double(value)));
    else if constexpr (requires { value.has_value(); }) return value.has_value() ? mix(true).mix(*value) : mix(false);
    else if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      state_ = scrambled(state_ * golden + static_cast<std::uint64_t>(value));
    } else {
      mix(value.size());
      for (const auto& one : value) mix(one);
    }
    return *this;
  }
  /// A name, by its characters.
  constexpr hasher& mix(const char* characters) {
    while (*characters != '\0') mix(*characters++);
    return mix('\0');
  }

  constexpr std::uint64_t value() const { return state_; }

 private:
  /// 2^64 over the golden ratio, odd: the increment of splitmix64 (Steele, Lea, Flood 2014), as are the shifts and
  /// factors below.
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  static constexpr std::uint64_t scrambled(std::uint64_t z) {
    z += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace partita
