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
  constexpr hasher() = default;
  /// Goes on from a number made before.
  constexpr explicit hasher(std::uint64_t seed) : state_(seed) {}

  /// One more value: an integer, a bool or an enumerator.
  template <class Value>
    requires(std::is_integral_v<Value> || std::is_enum_v<Value>)
  constexpr hasher& mix(Value value) {
    state_ = scrambled(state_ * golden + static_cast<std::uint64_t>(value));
    return *this;
  }
  /// A floating-point number, by its bits.
  template <class Value>
    requires std::is_floating_point_v<Value>
  constexpr hasher& mix(Value value) {
    return mix(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  }
  /// A name, by its characters.
  constexpr hasher& mix(const char* characters) {
    while (*characters != '\0') mix(*characters++);
    return mix('\0');
  }
  /// A value that has a fingerprint of its own.
  template <class Value>
    requires requires(const Value& value) { value.fingerprint(); }
  constexpr hasher& mix(const Value& value) {
    return mix(value.fingerprint());
  }
  /// A value of a type that has no state.
  template <class Value>
    requires(std::is_empty_v<Value> && !requires(const Value& value) { value.fingerprint(); })
  constexpr hasher& mix(const Value&) {
    return *this;
  }
  /// What an optional value holds, if anything.
  template <class Value>
    requires requires(const Value& value) {
      value.has_value();
      *value;
    }
  constexpr hasher& mix(const Value& value) {
    mix(value.has_value());
    return value.has_value() ? mix(*value) : *this;
  }
  /// The Members members of a struct, in order. Another number of members does not compile.
  template <std::size_t Members, class Struct>
  constexpr hasher& mix_members(const Struct& all) {
    static_assert(Members >= 1 && Members <= 11);
    if constexpr (Members == 1) {
      const auto& [a] = all;
      return mix_each(a);
    } else if constexpr (Members == 2) {
      const auto& [a, b] = all;
      return mix_each(a, b);
    } else if constexpr (Members == 3) {
      const auto& [a, b, c] = all;
      return mix_each(a, b, c);
    } else if constexpr (Members == 4) {
      const auto& [a, b, c, d] = all;
      return mix_each(a, b, c, d);
    } else if constexpr (Members == 5) {
      const auto& [a, b, c, d, e] = all;
      return mix_each(a, b, c, d, e);
    } else if constexpr (Members == 6) {
      const auto& [a, b, c, d, e, f] = all;
      return mix_each(a, b, c, d, e, f);
    } else if constexpr (Members == 7) {
      const auto& [a, b, c, d, e, f, g] = all;
      return mix_each(a, b, c, d, e, f, g);
    } else if constexpr (Members == 8) {
      const auto& [a, b, c, d, e, f, g, h] = all;
      return mix_each(a, b, c, d, e, f, g, h);
    } else if constexpr (Members == 9) {
      const auto& [a, b, c, d, e, f, g, h, i] = all;
      return mix_each(a, b, c, d, e, f, g, h, i);
    } else if constexpr (Members == 10) {
      const auto& [a, b, c, d, e, f, g, h, i, j] = all;
      return mix_each(a, b, c, d, e, f, g, h, i, j);
    } else {
      const auto& [a, b, c, d, e, f, g, h, i, j, k] = all;
      return mix_each(a, b, c, d, e, f, g, h, i, j, k);
    }
  }
  /// The values of a range in order, and how many they are: [1, 2], [3] differs from [1], [2, 3].
  template <class Range>
    requires requires(const Range& range) {
      range.begin();
      range.end();
      range.size();
    } && (!requires(const Range& range) { range.fingerprint(); })
  constexpr hasher& mix(const Range& range) {
    mix(range.size());
    for (const auto& value : range) mix(value);
    return *this;
  }

  constexpr std::uint64_t value() const { return state_; }

 private:
  template <class... Value>
  constexpr hasher& mix_each(const Value&... value) {
    (mix(value), ...);
    return *this;
  }
  /// 2^64 over the golden ratio, odd: the increment of splitmix64 (Steele, Lea, Flood 2014), as are the shifts and
  /// factors below.
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  static constexpr std::uint64_t scrambled(std::uint64_t z) {
    z += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace partita
