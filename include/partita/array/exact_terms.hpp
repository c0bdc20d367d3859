// Exact sums in transit: a list of numbers whose sum is exactly the sum of all added numbers, in as few bytes as
// possible.
//
// The first term is the number nearest to the sum, the next term is nearest to the remainder, and so on (Shewchuk's
// expansions, Discrete & Computational Geometry 18, 1997). For numbers of similar magnitude, the second term has only a
// few bits below the last bit of the first term. These bits, not complete numbers, are written after the first terms.
// Sums of integers have no second term.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <partita/array/detail/bit_stream.hpp>
#include <partita/array/exact_sum.hpp>
#include <vector>

namespace partita::detail {

/// Whether sums of T are sent as terms: only for the two types that the fast loops support.
template <class T>
inline constexpr bool has_exact_terms =
    std::is_floating_point_v<T> && sizeof(T) <= 8 && std::numeric_limits<T>::is_iec559 && sums_are_rounded_as_written;

/// Computes two terms of each sum of `count` blocks of n numbers; `rest` is NaN where two terms are not exact.
template <class T, class Block>
void two_terms(const Block& block, std::size_t count, std::size_t n, T* nearest, T* rest) {
  for_each_run<T>(block, count, n,
                  [&](std::size_t k, std::size_t length, const T* sum, const T* rounding, auto* inexact) {
                    for (std::size_t i = 0; i < length; ++i) {
                      const T near = rounding[i] == 0 ? sum[i] : sum[i] + rounding[i], of_rounding = near - sum[i];
                      const T left = (sum[i] - (near - of_rounding)) + (rounding[i] - of_rounding);
                      nearest[k + i] = near;
                      rest[k + i] = inexact[i] == 0 ? left : std::numeric_limits<T>::quiet_NaN();
                    }
                  });
}

/// Computes all terms of the sum of value(0) … value(count - 1), at least one term. If the sum is not finite, the only
/// term is the infinity or NaN.
template <class T, class Value>
void all_terms(const Value& value, std::size_t count, std::vector<T>& terms) {
  long_accumulator<T> left;
  bool finite = true;
  for (std::size_t k = 0; k < count; ++k) {
    left.add(value(k));
    finite = finite && std::isfinite(value(k));
  }
  terms.assign(1, sum_by_accumulator<T>(value, count));
  while (finite && terms.back() != 0) {
    T& term = terms.back();
    if (!std::isfinite(term)) term = std::copysign(std::numeric_limits<T>::max(), term);  // the largest finite number
    left.add(-term);
    long_accumulator<T> rounded = left;
    terms.push_back(rounded.rounded());
  }
  if (terms.size() > 1) terms.pop_back();
}

/// A number just below the last digit of another number: an odd multiple of 2^-below of the value of that digit.
struct digits_below {
  unsigned below = 0;  ///< the number of digits below; 0: no digits
  std::int64_t multiple = 0;

  static constexpr unsigned most = 16;
  /// The smallest multiple for `below` digits; the largest multiple is its negative.
  static std::int64_t first(unsigned below) {
    return below < 2 ? -static_cast<std::int64_t>(below) : 1 - (std::int64_t{1} << (below - 1));
  }
  /// The number of bits that encode the multiple of `below` digits.
  static unsigned bits(unsigned below) { return below < 2 ? below : below - 1; }

  /// Expresses `rest` as digits below `number`; multiple 0 if `rest` cannot be expressed so. Requires rest != 0.
  template <class T>
  static digits_below of(T number, T rest) {
    const parts a = parts_of(number), b = parts_of(rest);
    const auto zeros = static_cast<unsigned>(__builtin_ctzll(b.mantissa));
    const std::int64_t depth = a.exponent - b.exponent - zeros;
    if (depth < 1 || depth > most) return {};
    digits_below d{static_cast<unsigned>(depth), static_cast<std::int64_t>(b.mantissa >> zeros)};
    if (std::signbit(rest)) d.multiple = -d.multiple;
    const std::int64_t least = first(d.below);
    return d.multiple >= least && d.multiple <= -least ? d : digits_below{};
  }
  template <class T>
  T value_below(T number) const {
    constexpr int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    return std::ldexp(static_cast<T>(multiple),
                      lowest - 1 + static_cast<int>(parts_of(number).exponent) - static_cast<int>(below));
  }

 private:
  struct parts {
    std::int64_t exponent;  ///< the exponent of the last digit, 1 for the smallest numbers
    std::uint64_t mantissa;
  };
  template <class T>
  static parts parts_of(T x) {
    typename bits_of<T>::type bits;
    std::memcpy(&bits, &x, sizeof x);
    constexpr unsigned digits = std::numeric_limits<T>::digits - 1;
    const std::uint64_t all = bits, fraction = all & ((std::uint64_t{1} << digits) - 1);
    const std::uint64_t exponent = (all >> digits) & ((std::uint64_t{1} << (8 * sizeof(T) - 1 - digits)) - 1);
    if (exponent == 0) return {1, fraction};
    return {static_cast<std::int64_t>(exponent), fraction | std::uint64_t{1} << digits};
  }
};

/// Sums of n elements in transit between nodes. Blocks and messages from other nodes are added; the sums are then
/// written as a message again or, at the last node, rounded.
class exact_terms {
 public:
  virtual ~exact_terms() = default;
  /// Starts an empty sum.
  virtual void clear(std::size_t n) = 0;
  /// Adds a block, which must stay in place until the sum is computed.
  virtual void add(const char* block) = 0;
  virtual void add_message(const std::vector<char>& message) = 0;
  virtual void write(std::vector<char>& message) = 0;
  /// Writes the sum of all blocks and messages, rounded once.
  virtual void round(char* to) = 0;
};

/// Exact sums of elements that consist of `Width` numbers T each.
template <class T, std::size_t Width>
class exact_terms_of final : public exact_terms {
 public:
  void clear(std::size_t n) override {
    n_ = n * Width;
    blocks_.clear();
    used_ = 0;
  }
  void add(const char* block) override { blocks_.push_back(reinterpret_cast<const T*>(block)); }
  void round(char* to) override { exact_sum<T>(block(), blocks_.size(), n_, reinterpret_cast<T*>(to)); }

  /// Writes the first terms and, if any sum has more terms, their encoding and these further terms.
  void write(std::vector<char>& message) override {
    nearest_.resize(n_), rest_.resize(n_);
    two_terms<T>(block(), blocks_.size(), n_, nearest_.data(), rest_.data());
    others_.clear(), count_.clear();
    std::size_t close = 0, wide = 0;  // the sizes of both encodings, in bits
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t before = others_.size();
      if (std::isnan(rest_[i])) {
        all_terms<T>([&](std::size_t k) { return blocks_[k][i]; }, blocks_.size(), terms_);
        nearest_[i] = terms_[0];
        others_.insert(others_.end(), terms_.begin() + 1, terms_.end());
      } else if (rest_[i] != 0) {
        others_.push_back(rest_[i]);
      }
      const std::size_t more = others_.size() - before, as_numbers = more * (bits + 1) + 1;
      count_.push_back(static_cast<std::uint32_t>(more));
      const digits_below d = more == 1 ? digits_below::of(nearest_[i], others_.back()) : digits_below{};
      wide += as_numbers;
      close += more == 0 ? 1 : d.multiple == 0 ? digits_below::most + 1 + as_numbers : d.below + 1 + d.bits(d.below);
    }
    message.resize(n_ * sizeof(T));
    std::memcpy(message.data(), nearest_.data(), message.size());
    if (others_.empty()) return;
    const bool by_digits = close < wide;
    message.push_back(by_digits ? 1 : 0);
    bit_writer to(message);
    const T* next = others_.data();
    for (std::size_t i = 0; i < n_; next += count_[i++]) {
      const digits_below d = by_digits && count_[i] == 1 ? digits_below::of(nearest_[i], *next) : digits_below{};
      if (by_digits && (count_[i] == 0 || d.multiple != 0)) {
        to.put(0, d.below), to.put(1, 1);
        to.put(static_cast<std::uint64_t>(d.multiple - d.first(d.below)) / 2, d.bits(d.below));
        continue;
      }
      if (by_digits) to.put(0, digits_below::most + 1);
      for (std::uint32_t k = 0; k < count_[i]; ++k) to.put(1, 1), to.put(bits_in(next[k]), bits);
      to.put(0, 1);
    }
    to.finish();
  }

  void add_message(const std::vector<char>& message) override {
    const std::size_t first = new_terms(), bytes = n_ * sizeof(T);
    std::memcpy(received_[first].data(), message.data(), bytes);
    if (message.size() > bytes) {
      const bool by_digits = message[bytes] == 1;
      bit_reader from(message.data() + bytes + 1);
      for (std::size_t i = 0; i < n_; ++i) {
        digits_below d;
        while (by_digits && d.below <= digits_below::most && from.get(1) == 0) ++d.below;
        if (by_digits && d.below == 0) continue;
        if (by_digits && d.below <= digits_below::most) {
          d.multiple = static_cast<std::int64_t>(2 * from.get(d.bits(d.below))) + d.first(d.below);
          term(first, 1)[i] = d.value_below(received_[first][i]);
          continue;
        }
        for (std::size_t k = 1; from.get(1) == 1; ++k) term(first, k)[i] = number_of(from.get(bits));
      }
    }
    for (std::size_t k = first; k < used_; ++k) blocks_.push_back(received_[k].data());
  }

 private:
  static constexpr unsigned bits = 8 * sizeof(T);
  using raw = typename bits_of<T>::type;

  static raw bits_in(T x) {
    raw all;
    std::memcpy(&all, &x, sizeof x);
    return all;
  }
  static T number_of(std::uint64_t all) {
    const raw narrow = static_cast<raw>(all);
    T x;
    std::memcpy(&x, &narrow, sizeof x);
    return x;
  }
  auto block() const {
    return [this](std::size_t k) { return blocks_[k]; };
  }
  std::size_t new_terms() {
    if (used_ == received_.size()) received_.emplace_back();
    received_[used_].assign(n_, -T{});  // -0 changes no sum, not even the sign of zero
    return used_++;
  }
  /// The k-th terms of a received message whose first terms are received_[first].
  T* term(std::size_t first, std::size_t k) {
    while (used_ <= first + k) new_terms();
    return received_[first + k].data();
  }

  std::size_t n_ = 0, used_ = 0;
  std::vector<const T*> blocks_;
  std::vector<std::vector<T>> received_;  // the first `used_` lists are in use since clear
  std::vector<T> nearest_, rest_, others_, terms_;
  std::vector<std::uint32_t> count_;  // the number of further terms of each sum
};

}  // namespace partita::detail
