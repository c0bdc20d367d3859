// The sum of floating-point numbers with one final rounding. The sum depends neither on the order of the numbers nor on
// the number of zeros among them.
//
// Two numbers keep the running sum and its rounding error (Knuth's TwoSum, TAOCP 4.2.2). As long as the rounding error
// is exact, too, the exact sum is known and is rounded once. If the rounding error of an element's sum is not exact,
// that element is summed again in a fixed-point number that covers the whole exponent range (Kulisch). So every element
// is correctly rounded, and nearly all elements are summed fast.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/array/detail/loops.hpp>
#include <type_traits>

namespace partita::detail {

/// A fixed-point number that represents any sum of up to 2^31 values of T exactly.
template <class T>
class long_accumulator {
  using limits = std::numeric_limits<T>;
  static_assert(std::is_floating_point_v<T> && limits::radix == 2 && limits::digits <= 64);

 public:
  /// Adds a number exactly. Infinities and NaNs are summed separately.
  void add(T x) {
    if (!std::isfinite(x)) {
      non_finite_sum_ = has_non_finite_ ? non_finite_sum_ + x : x;
      has_non_finite_ = true;
      return;
    }
    if (x == 0) return;
    int exponent = 0;
    const T fraction = std::frexp(x < 0 ? -x : x, &exponent);
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, limits::digits));
    int at = exponent - limits::min_exponent;
    if (at < 0) {  // the bits below a subnormal number are zero
      mantissa >>= -at;
      at = 0;
    }
    const auto place = static_cast<std::size_t>(at);
    const std::uint64_t low = (mantissa & low_word_mask) << (place % 32), high = (mantissa >> 32U) << (place % 32);
    std::int64_t* const d = digits_ + place / 32;
    const std::int64_t sign = x < 0 ? -1 : 1;
    d[0] += sign * static_cast<std::int64_t>(low & low_word_mask);
    d[1] += sign * static_cast<std::int64_t>((low >> 32U) + (high & low_word_mask));
    d[2] += sign * static_cast<std::int64_t>(high >> 32U);
  }

  /// The number of type T nearest to the sum, ties to even. A zero sum is +0; infinity minus infinity is NaN.
  T round_to_nearest() {
    if (has_non_finite_) return non_finite_sum_;
    const bool negative = propagate_carries() < 0;
    if (negative) {
      for (std::int64_t& d : digits_) d = -d;
      propagate_carries();
    }
    // 1. Find the highest set bit of the sum, and take as many bits as T has.
    std::size_t top = 32 * digit_count;  // the position after the highest set bit
    while (top > 0 && bits(top - 1, 1) == 0) --top;
    constexpr std::size_t precision = limits::digits;
    std::size_t shift = top > precision ? top - precision : 0;
    std::uint64_t mantissa = bits(shift, precision);
    // 2. Round to nearest, ties to even, by the remaining bits of the sum.
    if (shift > 0 && bits(shift - 1, 1) != 0) {
      bool beyond = (mantissa & 1U) != 0;
      for (std::size_t k = 0; !beyond && k + 1 < shift; k += 32)
        beyond = bits(k, shift - 1 - k < 32 ? shift - 1 - k : 32) != 0;
      if (beyond && ++mantissa == 0) {  // the mantissa of 64 bits overflowed
        mantissa = std::uint64_t{1} << 63U;
        ++shift;
      }
    }
    const T size =
        std::ldexp(static_cast<T>(mantissa), static_cast<int>(shift) + limits::min_exponent - limits::digits);
    return negative ? -size : size;
  }

 private:
  static constexpr std::uint64_t low_word_mask = 0xffffffffU;  ///< the bits of one digit
  /// The number of digits of 32 bits that cover the exponents of T, and the carries of 2^31 sums.
  static constexpr std::size_t digit_count =
      static_cast<std::size_t>(limits::max_exponent - limits::min_exponent + limits::digits) / 32 + 4;

  /// Propagates carries so that every digit but the last has 32 bits; returns the last digit.
  std::int64_t propagate_carries() {
    for (std::size_t k = 0; k + 1 < digit_count; ++k) {
      const std::int64_t over = digits_[k] >> 32;
      digits_[k] -= over * (std::int64_t{1} << 32);
      digits_[k + 1] += over;
    }
    return digits_[digit_count - 1];
  }
  /// The n bits of the sum from bit `first` on; n is at most 64. Requires propagated carries and a sum that is not
  /// negative.
  std::uint64_t bits(std::size_t first, std::size_t n) const {
    std::uint64_t value = 0;
    for (std::size_t taken = 0; taken < n;) {
      const std::size_t bit = first + taken, k = bit / 32, from = bit % 32;
      const std::size_t here = 32 - from < n - taken ? 32 - from : n - taken;
      const std::uint64_t digit = k < digit_count ? static_cast<std::uint64_t>(digits_[k]) & low_word_mask : 0;
      value |= ((digit >> from) & (low_word_mask >> (32 - here))) << taken;
      taken += here;
    }
    return value;
  }

  std::int64_t digits_[digit_count] = {};  ///< the sum in base 2^32, lowest digit first, before carries are propagated
  T non_finite_sum_{};                     ///< the sum of all infinities and NaNs
  bool has_non_finite_ = false;            ///< whether an infinity or a NaN was added
};

/// The sum of value(0) … value(count - 1), rounded once.
template <class T, class Value>
T sum_by_accumulator(const Value& value, std::size_t count) {
  long_accumulator<T> sum;
  bool all_negative_zero = count != 0;
  for (std::size_t k = 0; k < count; ++k) {
    const T x = value(k);
    all_negative_zero = all_negative_zero && x == 0 && std::signbit(x);
    sum.add(x);
  }
  return all_negative_zero ? -T{} : sum.round_to_nearest();
}

// If the compiler may reorder sums or use a higher precision than T, only sums in fixed point are exact.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
inline constexpr bool keeps_rounding_order = false;  ///< sums may be reordered, or rounded later than written
#else
inline constexpr bool keeps_rounding_order = true;  ///< each sum is rounded to its type, in the order as written
#endif

/// Calls f(first, length, sum, rounding, inexact) for each run of elements of `count` blocks, with the running sums of
/// these elements, their rounding errors, and flags of elements whose sum is not exactly the running sum plus its
/// rounding error.
template <class T, class Block, class F>
void for_each_run(const Block& block, std::size_t count, std::size_t n, F f) {
  constexpr std::size_t most = 4096 / sizeof(T);
  alignas(64) T sum[most], rounding[most];
  alignas(64) typename unsigned_of_size<T>::type inexact_marks[most];
  for (std::size_t k = 0; k < n; k += most) {
    const std::size_t length = n - k < most ? n - k : most;
    for (std::size_t i = 0; i < length; ++i) rounding[i] = T{}, inexact_marks[i] = 0;
    if (count != 0) std::copy_n(block(0) + k, length, sum);
    else std::fill_n(sum, length, T{});
    for (std::size_t b = 1; b < count; ++b)
      add_run_with_errors(best_instruction_set(), sum, rounding, inexact_marks, block(b) + k, length);
    f(k, length, sum, rounding, inexact_marks);
  }
}

/// Computes the element-wise sums of `count` blocks of n numbers, each rounded once; block(k) is the start of block k.
/// Shapes:   `to` has room for n elements and may be one of the blocks.
/// Requires: float, double or long double; rounding to nearest; fewer than 2^31 blocks.
/// Cost:     about 12 operations for each element of each block, vectorized; some hundred times more for an element
///           whose sum cancels almost entirely, and always for long double or if the compiler may reorder sums.
template <class T, class Block>
void exact_sum(const Block& block, std::size_t count, std::size_t n, T* to) {
  static_assert(std::is_floating_point_v<T>);
  const auto again = [&](std::size_t k) {
    return sum_by_accumulator<T>([&](std::size_t b) { return block(b)[k]; }, count);
  };
  if constexpr (sizeof(T) <= 8 && keeps_rounding_order) {
    for_each_run<T>(block, count, n,
                    [&](std::size_t k, std::size_t length, T* sum, const T* rounding, const auto* inexact_marks) {
                      // The sum plus its rounding error, unless the error is zero: -0 + 0 would be +0.
                      for (std::size_t i = 0; i < length; ++i)
                        sum[i] = rounding[i] == 0 ? sum[i] : sum[i] + rounding[i];
                      for (std::size_t i = 0; i < length; ++i)
                        if (inexact_marks[i] != 0) sum[i] = again(k + i);
                      std::copy_n(sum, length, to + k);
                    });
  } else {
    for (std::size_t k = 0; k < n; ++k) to[k] = again(k);
  }
}

}  // namespace partita::detail
