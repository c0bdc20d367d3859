// Exact sums in messages between workers: a short list of numbers whose sum is exactly the sum of all added numbers.
//
// The first term is the number nearest to the sum, the next term is nearest to the remainder, and so on (Shewchuk's
// expansions, Discrete & Computational Geometry 18, 1997). For numbers of similar magnitude, the second term has only a
// few bits below the last bit of the first term. Therefore a message holds complete numbers for the first terms and, if
// possible, only a few bits for each second term. An exact sum of integers is one term if its element type represents
// the sum.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <partita/array/detail/bit_stream.hpp>
#include <partita/array/exact_sum.hpp>
#include <vector>

namespace partita::detail {

/// Whether sums of T are sent as terms: true only for float and double, which the fast loops support, unless the
/// compiler may reorder sums.
template <class T>
inline constexpr bool supports_exact_terms =
    std::is_floating_point_v<T> && sizeof(T) <= 8 && std::numeric_limits<T>::is_iec559 && keeps_rounding_order;

/// Computes two terms of each sum of `count` blocks of n numbers; a second term is NaN if the two terms may not add up
/// to the exact sum.
template <class T, class Block>
void compute_two_terms(const Block& block, std::size_t count, std::size_t n, T* first_terms, T* second_terms) {
  for_each_run<T>(block, count, n,
                  [&](std::size_t k, std::size_t length, const T* sum, const T* rounding, auto* inexact) {
                    for (std::size_t i = 0; i < length; ++i) {
                      const T near = rounding[i] == 0 ? sum[i] : sum[i] + rounding[i], of_rounding = near - sum[i];
                      const T left = (sum[i] - (near - of_rounding)) + (rounding[i] - of_rounding);
                      first_terms[k + i] = near;
                      second_terms[k + i] = inexact[i] == 0 ? left : std::numeric_limits<T>::quiet_NaN();
                    }
                  });
}

/// Computes all terms of the sum of value(0) … value(count - 1), at least one term. If the sum is not finite, the only
/// term is the infinity or NaN.
template <class T, class Value>
void compute_all_terms(const Value& value, std::size_t count, std::vector<T>& terms) {
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
    terms.push_back(rounded.round_to_nearest());
  }
  if (terms.size() > 1) terms.pop_back();
}

/// A number as `multiple` * 2^-digit_count units in the last place (ulp) of another number; the multiple is odd or 0.
struct trailing_digits {
  unsigned digit_count = 0;   ///< the number of binary digits below the last digit of the other number; or 0
  std::int64_t multiple = 0;  ///< odd and of either sign, or 0

  static constexpr unsigned max_digits = 16;  ///< the largest digit_count
  /// The smallest multiple that `digit_count` digits can express; the largest multiple is its negative.
  static std::int64_t smallest_multiple(unsigned digit_count) {
    return digit_count < 2 ? -static_cast<std::int64_t>(digit_count) : 1 - (std::int64_t{1} << (digit_count - 1));
  }
  /// The number of bits in which a multiple of `digit_count` digits is encoded.
  static unsigned bits(unsigned digit_count) { return digit_count < 2 ? digit_count : digit_count - 1; }

  /// Expresses `rest` in digits below those of `number`; the multiple is 0 if this is impossible. Requires that
  /// `rest` is not 0.
  template <class T>
  static trailing_digits of(T number, T rest) {
    const float_parts a = split_float(number), b = split_float(rest);
    const auto zeros = static_cast<unsigned>(__builtin_ctzll(b.mantissa));
    const std::int64_t depth = a.exponent - b.exponent - zeros;
    if (depth < 1 || depth > max_digits) return {};
    trailing_digits d{static_cast<unsigned>(depth), static_cast<std::int64_t>(b.mantissa >> zeros)};
    if (std::signbit(rest)) d.multiple = -d.multiple;
    const std::int64_t least = smallest_multiple(d.digit_count);
    return d.multiple >= least && d.multiple <= -least ? d : trailing_digits{};
  }
  /// The number that these digits express below the digits of `number`: the inverse of of().
  template <class T>
  T value_below(T number) const {
    constexpr int lowest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    return std::ldexp(static_cast<T>(multiple),
                      lowest - 1 + static_cast<int>(split_float(number).exponent) - static_cast<int>(digit_count));
  }

 private:
  struct float_parts {       ///< the number's magnitude is mantissa * 2^exponent times a constant of its type
    std::int64_t exponent;   ///< the biased exponent of the number, 1 for subnormal numbers
    std::uint64_t mantissa;  ///< all digits of the number, as an integer without a sign
  };
  template <class T>
  static float_parts split_float(T x) {  ///< exponent and mantissa of a finite number, from its bits
    constexpr unsigned digits = std::numeric_limits<T>::digits - 1;
    const std::uint64_t all = std::bit_cast<typename unsigned_of_size<T>::type>(x);
    const std::uint64_t fraction = all & ((std::uint64_t{1} << digits) - 1);
    const std::uint64_t exponent = (all >> digits) & ((std::uint64_t{1} << (8 * sizeof(T) - 1 - digits)) - 1);
    if (exponent == 0) return {1, fraction};
    return {static_cast<std::int64_t>(exponent), fraction | std::uint64_t{1} << digits};
  }
};

/// Exact sums of n elements, which are sent from node to node. Blocks and messages from other nodes are added; the sums
/// are then written as a message again or, at the last node, rounded.
class exact_terms {
 public:
  virtual ~exact_terms() = default;
  /// Starts empty sums of n elements.
  virtual void clear(std::size_t n) = 0;
  /// Adds a block of n elements, which must stay in place until the sums are written or rounded.
  virtual void add(const char* block) = 0;
  /// Adds the exact sums that another node wrote to `message`.
  virtual void add_message(const std::vector<char>& message) = 0;
  /// Replaces `message` by the exact sums of all blocks and messages.
  virtual void write(std::vector<char>& message) = 0;
  /// Stores in `to` the n sums of all blocks and messages, each rounded once.
  virtual void round(char* to) = 0;
};

/// Exact sums of elements that consist of `Width` numbers T each.
template <class T, std::size_t Width>
class typed_exact_terms final : public exact_terms {
 public:
  void clear(std::size_t n) override {  ///< starts empty sums of n elements
    n_ = n * Width;
    blocks_.clear();
    used_list_count_ = 0;
  }
  void add(const char* block) override { blocks_.push_back(reinterpret_cast<const T*>(block)); }  ///< adds a block
  /// Stores in `to` the sums of all blocks and messages, each rounded once.
  void round(char* to) override { exact_sum<T>(block(), blocks_.size(), n_, reinterpret_cast<T*>(to)); }

  /// Writes the first terms of all sums and, if any sum has more terms, a byte that identifies the encoding of the
  /// further terms, and the further terms of all sums.
  void write(std::vector<char>& message) override {
    first_terms_.resize(n_), second_terms_.resize(n_);
    compute_two_terms<T>(block(), blocks_.size(), n_, first_terms_.data(), second_terms_.data());
    remaining_terms_.clear(), term_counts_.clear();
    std::size_t close = 0, wide = 0;  // the sizes of both encodings, in bits
    for (std::size_t i = 0; i < n_; ++i) {
      const std::size_t before = remaining_terms_.size();
      if (std::isnan(second_terms_[i])) {
        compute_all_terms<T>([&](std::size_t k) { return blocks_[k][i]; }, blocks_.size(), terms_of_sum_);
        first_terms_[i] = terms_of_sum_[0];
        remaining_terms_.insert(remaining_terms_.end(), terms_of_sum_.begin() + 1, terms_of_sum_.end());
      } else if (second_terms_[i] != 0) {
        remaining_terms_.push_back(second_terms_[i]);
      }
      const std::size_t more = remaining_terms_.size() - before, as_numbers = more * (bits + 1) + 1;
      term_counts_.push_back(static_cast<std::uint32_t>(more));
      const trailing_digits d =
          more == 1 ? trailing_digits::of(first_terms_[i], remaining_terms_.back()) : trailing_digits{};
      wide += as_numbers;
      close += more == 0         ? 1
               : d.multiple == 0 ? trailing_digits::max_digits + 1 + as_numbers
                                 : d.digit_count + 1 + d.bits(d.digit_count);
    }
    message.resize(n_ * sizeof(T));
    std::memcpy(message.data(), first_terms_.data(), message.size());
    if (remaining_terms_.empty()) return;
    const bool by_digits = close < wide;
    message.push_back(by_digits ? 1 : 0);
    bit_writer to(message);
    const T* next = remaining_terms_.data();
    for (std::size_t i = 0; i < n_; next += term_counts_[i++]) {
      const trailing_digits d =
          by_digits && term_counts_[i] == 1 ? trailing_digits::of(first_terms_[i], *next) : trailing_digits{};
      if (by_digits && (term_counts_[i] == 0 || d.multiple != 0)) {
        to.write(0, d.digit_count), to.write(1, 1);
        to.write(static_cast<std::uint64_t>(d.multiple - d.smallest_multiple(d.digit_count)) / 2,
                 d.bits(d.digit_count));
        continue;
      }
      if (by_digits) to.write(0, trailing_digits::max_digits + 1);
      for (std::uint32_t k = 0; k < term_counts_[i]; ++k)
        to.write(1, 1), to.write(std::bit_cast<bit_pattern>(next[k]), bits);
      to.write(0, 1);
    }
    to.finish();
  }

  void add_message(const std::vector<char>& message) override {  ///< adds the sums of another node
    const std::size_t first = append_received_terms(), bytes = n_ * sizeof(T);
    std::memcpy(received_terms_[first].data(), message.data(), bytes);
    if (message.size() > bytes) {
      const bool by_digits = message[bytes] == 1;
      bit_reader from(message.data() + bytes + 1);
      for (std::size_t i = 0; i < n_; ++i) {
        trailing_digits d;
        while (by_digits && d.digit_count <= trailing_digits::max_digits && from.read(1) == 0) ++d.digit_count;
        if (by_digits && d.digit_count == 0) continue;
        if (by_digits && d.digit_count <= trailing_digits::max_digits) {
          d.multiple =
              static_cast<std::int64_t>(2 * from.read(d.bits(d.digit_count))) + d.smallest_multiple(d.digit_count);
          received_terms(first, 1)[i] = d.value_below(received_terms_[first][i]);
          continue;
        }
        for (std::size_t k = 1; from.read(1) == 1; ++k)
          received_terms(first, k)[i] = std::bit_cast<T>(static_cast<bit_pattern>(from.read(bits)));
      }
    }
    for (std::size_t k = first; k < used_list_count_; ++k) blocks_.push_back(received_terms_[k].data());
  }

 private:
  static constexpr unsigned bits = 8 * sizeof(T);          ///< the number of bits of a T
  using bit_pattern = typename unsigned_of_size<T>::type;  ///< an unsigned integer with the bits of a T

  /// Returns a function from k to the k-th of all added lists of numbers.
  auto block() const {
    return [this](std::size_t k) { return blocks_[k]; };
  }
  /// Takes one more list of n_ terms into use, all -0, and returns its index in received_terms_.
  std::size_t append_received_terms() {
    if (used_list_count_ == received_terms_.size()) received_terms_.emplace_back();
    received_terms_[used_list_count_].assign(n_, -T{});  // -0 changes no sum, not even the sign of zero
    return used_list_count_++;
  }
  /// The k-th terms of a received message whose first terms are received_terms_[first].
  T* received_terms(std::size_t first, std::size_t k) {
    while (used_list_count_ <= first + k) append_received_terms();
    return received_terms_[first + k].data();
  }

  std::size_t n_ = 0, used_list_count_ = 0;     ///< the numbers T of a block; the lists of received_terms_ in use
  std::vector<const T*> blocks_;                ///< all added lists of n_ numbers: blocks, and lists of received_terms_
  std::vector<std::vector<T>> received_terms_;  ///< lists of n_ received terms, whose memory stays after clear()
  std::vector<T> first_terms_, second_terms_, remaining_terms_, terms_of_sum_;  ///< for write(); the last: of one sum
  std::vector<std::uint32_t> term_counts_;  ///< the number of terms of each sum after the first, in write()
};

}  // namespace partita::detail
