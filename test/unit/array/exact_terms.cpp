// Exact partial sums that are sent between nodes: for all numbers and all routes the result is the correctly rounded
// sum, and numbers of similar magnitude need hardly more bytes than one block.
#include <partita/array/exact_terms.hpp>

#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace partita::detail;
using numbers = boost::mpl::list<float, double>;

static_assert(supports_exact_terms<float> && supports_exact_terms<double>);
static_assert(!supports_exact_terms<long double> && !supports_exact_terms<int>);

template <class T>
const char* bytes_of_block(const std::vector<T>& block) {
  return reinterpret_cast<const char*>(block.data());
}

/// A number of each kind: of like magnitude, of all magnitudes, whole, the largest, the smallest, none at all.
template <class T>
T sample(unsigned kind, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T x = static_cast<T>(static_cast<double>(random() >> 11U) * 0x1p-52 - 1);
  const int reach = std::min(limits::max_exponent - 2, 400);
  switch (kind % 7) {
    case 0:
      return x;
    case 1:
      return std::ldexp(x, static_cast<int>(random() % static_cast<unsigned>(2 * reach)) - reach);
    case 2:
      return static_cast<T>(random() % 100);
    case 3:
      return std::copysign(limits::max(), x);
    case 4:
      return limits::denorm_min() * static_cast<T>(random() % 9);
    case 5:
      return random() % 2 == 0 ? -T{} : T{};
    default:
      return random() % 3 == 0 ? limits::infinity() : x;
  }
}

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// How many bytes `from` writes, and `to` has added them.
std::size_t pass(exact_terms& from, exact_terms& to) {
  std::vector<char> message;
  from.write(message);
  to.add_message(message);
  return message.size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exact_terms_on_their_way)

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_that_pass_nodes_are_those_of_all_numbers_rounded_once, T, numbers) {
  std::mt19937_64 random(11);
  const std::size_t n = 700;
  for (unsigned turn = 0; turn < 60; ++turn) {
    const std::size_t each = 1 + random() % 5, nodes = 1 + random() % 4;
    std::vector<std::vector<T>> blocks(each * nodes, std::vector<T>(n));
    for (std::size_t i = 0; i < n; ++i) {
      const auto kind = static_cast<unsigned>(turn % 2 == 0 ? turn / 2 : random() % 7);
      for (auto& block : blocks) block[i] = sample<T>(kind, random);
      if (random() % 3 == 0 && blocks.size() > 1) blocks.back()[i] = -blocks[0][i];
    }
    typed_exact_terms<T, 1> sums[4], between, root;
    between.clear(n), root.clear(n);
    for (std::size_t k = 0; k < nodes; ++k) {
      sums[k].clear(n);
      for (std::size_t b = 0; b < each; ++b) sums[k].add(bytes_of_block(blocks[k * each + b]));
      pass(sums[k], k % 2 == 0 ? root : between);  // some by way of another
    }
    if (nodes > 1) pass(between, root);
    std::vector<T> sum(n);
    root.round(reinterpret_cast<char*>(sum.data()));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i)
      wrong += same(sum[i], sum_by_accumulator<T>([&](std::size_t b) { return blocks[b][i]; }, blocks.size())) ? 0 : 1;
    BOOST_TEST(wrong == 0U, wrong << " sums of " << blocks.size() << " are wrong in turn " << turn);
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_any_width_are_read_as_they_were_written) {
  std::mt19937_64 random(5);
  for (unsigned turn = 0; turn < 50; ++turn) {
    std::vector<std::pair<std::uint64_t, unsigned>> all;
    std::vector<char> bytes;
    bit_writer to(bytes);
    unsigned bits = 0;
    for (unsigned k = 0; k < 40; ++k) {
      const auto width = static_cast<unsigned>(random() % 65);
      all.emplace_back(width == 0 ? 0 : random() >> (64U - width), width);
      to.write(all.back().first, width), bits += width;
    }
    to.finish();
    BOOST_TEST(bytes.size() == (bits + 7) / 8);
    bit_reader from(bytes.data());
    for (const auto& [number, width] : all) BOOST_TEST(from.read(width) == number, width << " bits");
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_of_like_numbers_take_hardly_more_than_one_block, T, numbers) {
  std::mt19937_64 random(3);
  const std::size_t n = 8192;
  for (const unsigned kind : {2U, 0U, 1U})
    for (const std::size_t count : {2U, 4U, 8U}) {
      std::vector<std::vector<T>> blocks(count, std::vector<T>(n));
      typed_exact_terms<T, 1> node, root;
      node.clear(n), root.clear(n);
      for (auto& block : blocks) {
        for (T& x : block) x = sample<T>(kind, random);
        node.add(bytes_of_block(block));
      }
      const std::size_t bytes = pass(node, root), plain = n * sizeof(T);
      const double bits = 8.0 * static_cast<double>(bytes - plain) / static_cast<double>(n);
      BOOST_TEST_MESSAGE(count << " blocks of kind " << kind << ": " << bits << " bits a number more");
      if (kind == 2) BOOST_TEST(bytes == plain);
      if (kind == 0) BOOST_TEST(bits < 4 + 2 * std::log2(count));
      if (kind == 1 && count == 2) BOOST_TEST(bits < 8 * sizeof(T) + 2);
    }
}

BOOST_AUTO_TEST_CASE(numbers_are_written_again_after_the_stream_is_finished) {
  std::vector<char> bytes;
  bit_writer to(bytes);
  to.write(5, 3), to.finish(), to.finish();
  to.write(0xabcd, 16), to.write(1, 1), to.finish();
  BOOST_TEST((bytes == std::vector<char>{5, static_cast<char>(0xcd), static_cast<char>(0xab), 1}));
}

/// One number of which the sum of a message and of other blocks is made.
template <class T>
T rest_behind(const std::vector<char>& message, std::size_t n, std::size_t i, const std::vector<T>& others) {
  typed_exact_terms<T, 1> root;
  root.clear(n);
  root.add_message(message);
  std::vector<std::vector<T>> blocks;
  for (const T other : others) blocks.emplace_back(n, other);
  for (const auto& block : blocks) root.add(bytes_of_block(block));
  std::vector<T> sum(n);
  root.round(reinterpret_cast<char*>(sum.data()));
  return sum[i];
}

/// The last bit of 1.5 is worth an ulp. A rest of d digits below it takes 2 d bits, and 3 for d = 1, up to 16 digits;
/// any other rest takes a bit before and behind it, and 17 more where other rests are written as digits.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_rest_takes_two_bits_for_each_digit_below_its_number, T, numbers) {
  using limits = std::numeric_limits<T>;
  constexpr std::size_t number_bits = 8 * sizeof(T);
  const auto bytes_for = [](std::size_t bits) { return (bits + 7) / 8; };
  for (unsigned d = 1; d <= 20; ++d) {
    const std::size_t digits = d == 1 ? 3 : 2 * d, whole = number_bits + 2;
    const T ulp = limits::epsilon(), most = d == 1 ? 1 : std::ldexp(T(1), static_cast<int>(d) - 1) - 1;
    for (const T multiple : {T(1), T(-1), most, -most}) {
      const T rest = std::ldexp(ulp * multiple, -static_cast<int>(d));
      const std::vector<T> number{T(1.5)}, small{rest};
      typed_exact_terms<T, 1> node;
      node.clear(1), node.add(bytes_of_block(number)), node.add(bytes_of_block(small));
      std::vector<char> message;
      node.write(message);
      BOOST_TEST(message.size() == sizeof(T) + 1 + bytes_for(d <= 16 ? digits : whole),
                 d << " digits, " << multiple << " of the last");
      BOOST_TEST(rest_behind<T>(message, 1, 0, {T(-1.5)}) == rest);
    }
    // beside a number without a rest, and a sum of three terms: the shorter one of both encodings
    const T tiny = std::ldexp(T(1), -limits::digits - 6), rest = std::ldexp(ulp, -static_cast<int>(d));
    const std::vector<T> one{3, T(1.5), 1}, two{0, rest, tiny}, three{0, 0, tiny * tiny};
    typed_exact_terms<T, 1> node;
    node.clear(3);
    for (const auto* block : {&one, &two, &three}) node.add(bytes_of_block(*block));
    std::vector<char> message;
    node.write(message);
    const std::size_t of_three_terms = 2 * (number_bits + 1) + 1;
    const std::size_t as_digits = 1 + (d <= 16 ? digits : 17 + whole) + 17 + of_three_terms;
    const std::size_t as_numbers = 1 + whole + of_three_terms;
    BOOST_TEST(message.size() == 3 * sizeof(T) + 1 + bytes_for(std::min(as_digits, as_numbers)), d << " digits of 3");
    BOOST_TEST(rest_behind<T>(message, 3, 0, {T(-3)}) == 0);
    BOOST_TEST(rest_behind<T>(message, 3, 1, {T(-1.5)}) == rest);
    BOOST_TEST(rest_behind<T>(message, 3, 2, {T(-1)}) == tiny);
    BOOST_TEST(rest_behind<T>(message, 3, 2, {T(-1), -tiny}) == tiny * tiny);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(both_numbers_of_complex_elements_are_summed_and_a_cleared_sum_forgets, T, numbers) {
  std::mt19937_64 random(13);
  typed_exact_terms<T, 2> node, root;
  for (unsigned turn = 0; turn < 20; ++turn) {
    const std::size_t n = 1 + random() % 9, count = random() % 4;
    std::vector<std::vector<T>> blocks(count, std::vector<T>(2 * n));
    node.clear(n), root.clear(n);
    for (auto& block : blocks) {
      for (T& x : block) x = sample<T>(turn, random);
      node.add(bytes_of_block(block));
    }
    for (std::size_t messages = 0; messages < turn % 3; ++messages) pass(node, root);
    std::vector<T> sum(2 * n + 1, T(7));
    root.round(reinterpret_cast<char*>(sum.data()));
    std::size_t wrong = sum.back() == T(7) ? 0 : 1;
    for (std::size_t i = 0; i < 2 * n; ++i) {
      const T expected = sum_by_accumulator<T>([&](std::size_t k) { return blocks[k % count][i]; }, count * (turn % 3));
      const bool is_nothing = count == 0 || turn % 3 == 0;  // no numbers: zero, of either sign where messages say so
      wrong += (is_nothing ? sum[i] == 0 : same(sum[i], expected)) ? 0 : 1;
    }
    BOOST_TEST(wrong == 0U, wrong << " sums of " << count << " blocks are wrong in turn " << turn);
  }
}

BOOST_AUTO_TEST_SUITE_END()
