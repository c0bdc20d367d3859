// Compares copies and sums of blocks with simple loops.
#include <partita/array/copy.hpp>

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <complex>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "random_cases.hpp"

namespace {

using partita::stores;
using partita::detail::instruction_set;
using strides = std::vector<std::ptrdiff_t>;
using shape_type = std::vector<std::size_t>;

std::vector<instruction_set> sets() {
  std::vector<instruction_set> all;
  for (auto set : {instruction_set::baseline, instruction_set::avx2, instruction_set::avx512})
    if (set <= partita::detail::best_instruction_set()) all.push_back(set);
  return all;
}

/// A block inside a padded buffer: the position of element 0 and the strides.
struct layout {
  strides step;
  std::size_t origin, size;
};

/// Dimensions nested in random order, some with gaps between rows and some running backwards.
layout random_layout(const shape_type& shape, std::mt19937& random) {
  layout l{strides(shape.size()), 0, 1};
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random() % 2 == 0) std::reverse(order.begin(), order.end());
  if (random() % 4 == 0) std::shuffle(order.begin(), order.end(), random);
  std::ptrdiff_t next = random() % 6 == 0 ? 3 : 1;
  std::size_t origin = random() % 5;
  for (std::size_t d : order) {
    const auto n = static_cast<std::ptrdiff_t>(shape[d]);
    const bool backwards = random() % 6 == 0;
    l.step[d] = backwards ? -next : next;
    if (backwards && n > 0) origin += static_cast<std::size_t>((n - 1) * next);
    next *= std::max<std::ptrdiff_t>(n, 1);
    if (random() % 3 == 0) next += static_cast<std::ptrdiff_t>(random() % 7);
    if (random() % 16 == 0) next = (next + 63) / 64 * 64;
  }
  l.origin = origin;
  l.size = static_cast<std::size_t>(next) + 8;
  return l;
}

shape_type random_shape(std::mt19937& random) {
  shape_type shape(random() % 9);
  const std::size_t most = shape.size() <= 1   ? 3000
                           : shape.size() == 2 ? 140
                           : shape.size() == 3 ? 40
                           : shape.size() < 6  ? 9
                                               : 4;
  for (auto& n : shape) {
    n = random() % most + 1;
    if (random() % 8 == 0) n = 1;
    if (random() % 60 == 0) n = 0;
  }
  return shape;
}

template <class Step>
void for_each_index(const shape_type& shape, Step step) {
  for (auto n : shape)
    if (n == 0) return;
  shape_type i(shape.size());
  for (;;) {
    step(i);
    std::size_t d = shape.size();
    for (;; --d) {
      if (d == 0) return;
      if (++i[d - 1] < shape[d - 1]) break;
      i[d - 1] = 0;
    }
  }
}

std::size_t place(const layout& l, const shape_type& i) {
  auto at = static_cast<std::ptrdiff_t>(l.origin);
  for (std::size_t d = 0; d < i.size(); ++d) at += static_cast<std::ptrdiff_t>(i[d]) * l.step[d];
  return static_cast<std::size_t>(at);
}

template <std::size_t N>
struct bytes {
  unsigned char value[N];
  friend bool operator==(const bytes& a, const bytes& b) { return std::memcmp(a.value, b.value, N) == 0; }
};

template <class T>
T some(std::mt19937& random) {
  T value{};
  if constexpr (std::is_same_v<T, std::string>) {
    value = std::to_string(random());
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    value = T(static_cast<float>(random() % 1000), static_cast<float>(random() % 1000));
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = static_cast<T>(random() % 50);
  } else {
    for (auto& b : value.value) b = static_cast<unsigned char>(random());
  }
  return value;
}

enum class operation { copy, add };

/// One random case: the block must equal the result of the simple loop, and everything around it must be unchanged.
template <class T>
bool agrees(operation what, instruction_set set, stores how, unsigned seed) {
  std::mt19937 random(seed);
  const auto shape = random_shape(random);
  const auto a = random_layout(shape, random), b = random_layout(shape, random);
  std::vector<T> to(a.size), from(b.size);
  for (auto& v : to) v = some<T>(random);
  for (auto& v : from) v = some<T>(random);
  auto expected = to;
  for_each_index(shape, [&](const shape_type& i) {
    T& e = expected[place(a, i)];
    const T& s = from[place(b, i)];
    if constexpr (requires { e + s; }) {
      if (what == operation::add) {
        e = static_cast<T>(e + s);
        return;
      }
    }
    e = s;
  });
  if (what == operation::copy)
    partita::copy_block(to.data() + a.origin, a.step.data(), from.data() + b.origin, b.step.data(), shape.data(),
                        shape.size(), how, set);
  else if constexpr (requires(T v) { v + v; })
    partita::add_block(to.data() + a.origin, a.step.data(), from.data() + b.origin, b.step.data(), shape.data(),
                       shape.size(), set);
  return to == expected;
}

template <class T>
void copies_agree() {
  for (auto set : sets())
    for (auto how : {stores::cached, stores::streaming, stores::by_size})
      for (unsigned seed = 0; seed < test::random_cases(200); ++seed)
        BOOST_REQUIRE_MESSAGE(agrees<T>(operation::copy, set, how, seed),
                              "copy of " << sizeof(T) << "-byte elements, set " << int(set) << ", stores " << int(how)
                                         << ", seed " << seed);
}

template <class T>
void sums_agree() {
  for (auto set : sets())
    for (unsigned seed = 0; seed < test::random_cases(200); ++seed)
      BOOST_REQUIRE_MESSAGE(agrees<T>(operation::add, set, stores::by_size, seed),
                            "sum of " << sizeof(T) << "-byte elements, set " << int(set) << ", seed " << seed);
}

/// Whether the transpose of a rows x columns matrix that starts `off` elements into its buffer is that of its
/// definition if its rows are written every `pitch` elements, the first one `off` elements after the beginning of a
/// cache line, and whether nothing else is written.
template <class T>
bool transposes(std::size_t rows, std::size_t columns, std::size_t pitch, std::size_t off, stores how,
                instruction_set set) {
  std::vector<T> from(rows * columns + off), buffer(columns * pitch + off + 64);
  std::mt19937 random(7);
  for (auto& v : from) v = some<T>(random);
  for (auto& v : buffer) v = some<T>(random);
  std::size_t origin = 0;
  while (reinterpret_cast<std::uintptr_t>(&buffer[origin]) % 64 != 0 && origin < 60) ++origin;
  origin += off;
  auto expected = buffer;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) expected[origin + j * pitch + i] = from[off + i * columns + j];
  const std::size_t shape[] = {rows, columns};
  const std::ptrdiff_t a[] = {1, static_cast<std::ptrdiff_t>(pitch)}, b[] = {static_cast<std::ptrdiff_t>(columns), 1};
  partita::copy_block(buffer.data() + origin, a, from.data() + off, b, shape, 2, how, set);
  return buffer == expected;
}

/// The rows of the transpose are shorter than the distance between them.
template <class T>
void transposes_to_narrow_rows_agree() {
  for (auto set : sets())
    for (std::size_t rows : {2U, 3U, 7U, 16U, 35U})
      for (std::size_t columns : {2U, 16U, 65U})
        for (std::size_t off : {0U, 1U, 3U, 6U, 13U})
          BOOST_REQUIRE_MESSAGE(
              transposes<T>(rows, columns, 128, off, stores::streaming, set),
              rows << " x " << columns << " of " << sizeof(T) << " bytes, off " << off << ", set " << int(set));
}

template <class T>
void transposes_agree() {
  for (auto set : sets())
    for (auto how : {stores::cached, stores::streaming})
      for (std::size_t rows : {2U, 15U, 16U, 64U, 100U, 128U, 320U})
        for (std::size_t columns : {2U, 3U, 16U, 33U, 64U, 130U})
          for (std::size_t off : {0U, 1U})
            BOOST_REQUIRE_MESSAGE(
                transposes<T>(rows, columns, rows, off, how, set),
                rows << " x " << columns << " of " << sizeof(T) << " bytes, off " << off << ", set " << int(set));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copying_blocks)

BOOST_AUTO_TEST_CASE(one_byte_elements_copy_as_the_simple_loop_does) { copies_agree<std::uint8_t>(); }
BOOST_AUTO_TEST_CASE(two_byte_elements_copy_as_the_simple_loop_does) { copies_agree<std::int16_t>(); }
BOOST_AUTO_TEST_CASE(four_byte_elements_copy_as_the_simple_loop_does) { copies_agree<float>(); }
BOOST_AUTO_TEST_CASE(eight_byte_elements_copy_as_the_simple_loop_does) { copies_agree<double>(); }
BOOST_AUTO_TEST_CASE(sixteen_byte_elements_copy_as_the_simple_loop_does) { copies_agree<std::complex<double>>(); }
BOOST_AUTO_TEST_CASE(elements_of_any_size_copy_as_the_simple_loop_does) {
  copies_agree<bytes<3>>();
  copies_agree<bytes<6>>();
  copies_agree<bytes<12>>();
  copies_agree<bytes<24>>();
  copies_agree<bytes<40>>();
}
BOOST_AUTO_TEST_CASE(elements_that_own_memory_are_assigned_one_by_one) { copies_agree<std::string>(); }

BOOST_AUTO_TEST_CASE(sums_are_those_of_the_simple_loop) {
  sums_agree<float>();
  sums_agree<double>();
  sums_agree<std::int8_t>();
  sums_agree<std::uint16_t>();
  sums_agree<int>();
  sums_agree<long>();
  sums_agree<long double>();
  sums_agree<std::complex<float>>();
  sums_agree<std::string>();
}

BOOST_AUTO_TEST_CASE(blocks_whose_unit_strides_differ_are_transposed) {
  transposes_agree<std::uint8_t>();
  transposes_agree<std::uint16_t>();
  transposes_agree<float>();
  transposes_agree<double>();
  transposes_agree<std::complex<double>>();
  transposes_agree<bytes<12>>();
}

BOOST_AUTO_TEST_CASE(rows_that_are_shorter_than_the_rest_of_a_line_are_streamed_alone) {
  transposes_to_narrow_rows_agree<std::uint8_t>();
  transposes_to_narrow_rows_agree<float>();
  transposes_to_narrow_rows_agree<double>();
  transposes_to_narrow_rows_agree<std::complex<double>>();
}

BOOST_AUTO_TEST_CASE(an_address_that_no_element_type_would_have_is_copied_from_and_to) {
  std::vector<char> from(1 << 12), to(1 << 12);
  std::iota(from.begin(), from.end(), char{0});
  const std::size_t shape[] = {17, 23};
  const std::ptrdiff_t a[] = {8, 8 * 17}, b[] = {8 * 23, 8};
  // bytes at odd addresses, moved as runs of 8
  const std::size_t bytes_shape[] = {17, 23, 8};
  const std::ptrdiff_t bytes_a[] = {a[0], a[1], 1}, bytes_b[] = {b[0], b[1], 1};
  for (auto set : sets()) {
    std::fill(to.begin(), to.end(), char{0});
    partita::copy_block(to.data() + 3, bytes_a, from.data() + 1, bytes_b, bytes_shape, 3, stores::streaming, set);
    for (std::size_t i = 0; i < shape[0]; ++i)
      for (std::size_t j = 0; j < shape[1]; ++j)
        BOOST_REQUIRE(std::memcmp(&to[3 + 8 * (j * 17 + i)], &from[1 + 8 * (i * 23 + j)], 8) == 0);
  }
}

/// Of a line in `to`, of any byte in `from`, as blocks of a pool and of malloc lie; rows of `from` at changing places
/// of a line.
BOOST_AUTO_TEST_CASE(rows_that_begin_anywhere_in_a_line_arrive_where_lines_begin) {
  constexpr std::size_t line = 64, rows = 5;
  std::vector<unsigned char> room(rows * 2048 + line), from(rows * 1500 + line);
  unsigned char* const to = room.data() + (line - reinterpret_cast<std::uintptr_t>(room.data()) % line) % line;
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<unsigned char>(k * 7 + k / 256);
  bool right = true;
  for (const instruction_set set : sets())
    for (std::size_t n : {255U, 256U, 257U, 319U, 320U, 512U, 600U, 1023U})
      for (std::size_t start = 0; start < line; start += 3)
        for (const std::ptrdiff_t step : {1024, 1033, 1436}) {
          std::fill(room.begin(), room.end(), static_cast<unsigned char>(0));
          const std::ptrdiff_t to_strides[] = {2048 - 64, 1}, from_strides[] = {step, 1};
          const std::size_t shape[] = {rows, n};
          partita::copy_block(to, to_strides, from.data() + start, from_strides, shape, 2, stores::cached, set);
          for (std::size_t i = 0; i < rows; ++i) {
            const unsigned char* const row = to + i * (2048 - 64);
            const unsigned char* const wanted = from.data() + start + i * static_cast<std::size_t>(step);
            right = right && std::equal(row, row + n, wanted) &&
                    std::all_of(row + n, row + 2048 - 64, [](int b) { return b == 0; });
          }
        }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(nothing_is_touched_where_an_extent_is_zero) {
  const std::size_t shape[] = {3, 0, 2};
  const std::ptrdiff_t step[] = {1, 1, 1};
  partita::copy_block<float>(nullptr, step, nullptr, step, shape, 3);
  partita::add_block<float>(nullptr, step, nullptr, step, shape, 3);
}

BOOST_AUTO_TEST_CASE(a_scalar_is_one_element) {
  float to = 1;
  const float from = 2;
  partita::copy_block<float>(&to, nullptr, &from, nullptr, nullptr, 0);
  BOOST_TEST(to == 2);
  partita::add_block<float>(&to, nullptr, &from, nullptr, nullptr, 0);
  BOOST_TEST(to == 4);
}

BOOST_AUTO_TEST_CASE(more_dimensions_than_loops_are_walked_in_slices) {
  const std::vector<std::size_t> shape(18, 2);
  std::vector<std::ptrdiff_t> forwards(18), backwards(18);
  for (std::size_t d = 0; d < 18; ++d) {
    forwards[d] = std::ptrdiff_t{1} << d;
    backwards[17 - d] = std::ptrdiff_t{1} << d;
  }
  std::vector<int> from(std::size_t{1} << 18), to(from.size()), back(from.size());
  std::iota(from.begin(), from.end(), 0);
  partita::copy_block(to.data(), forwards.data(), from.data(), backwards.data(), shape.data(), 18);
  BOOST_TEST(to[1] == 1 << 17);
  partita::copy_block(back.data(), backwards.data(), to.data(), forwards.data(), shape.data(), 18);
  BOOST_TEST((back == from));
  partita::add_block(back.data(), backwards.data(), to.data(), forwards.data(), shape.data(), 18);
  BOOST_TEST(back[5] == 10);
}

BOOST_AUTO_TEST_CASE(slices_of_unequal_extents_are_copied_to_their_places) {
  for (const std::size_t last : {1U, 5U}) {
    std::vector<std::size_t> shape(18, 1);
    shape[0] = 3, shape[2] = 2, shape[15] = 4, shape[17] = last;
    std::vector<std::ptrdiff_t> rows(18), columns(18);  // the last, or the first dimension is contiguous
    std::ptrdiff_t volume = 1, turned = 1;
    for (std::size_t d = 18; d-- > 0; volume *= static_cast<std::ptrdiff_t>(shape[d])) rows[d] = volume;
    for (std::size_t d = 0; d < 18; turned *= static_cast<std::ptrdiff_t>(shape[d++])) columns[d] = turned;
    std::vector<int> from(static_cast<std::size_t>(volume)), to(from.size(), -1), expected(from.size());
    std::iota(from.begin(), from.end(), 0);
    for (std::size_t k = 0; k < from.size(); ++k) {
      std::ptrdiff_t at = 0;
      for (std::size_t d = 0; d < 18; ++d)
        at += columns[d] * (static_cast<std::ptrdiff_t>(k) / rows[d] % static_cast<std::ptrdiff_t>(shape[d]));
      expected[static_cast<std::size_t>(at)] = from[k];
    }
    partita::copy_block(to.data(), columns.data(), from.data(), rows.data(), shape.data(), 18);
    BOOST_TEST((to == expected));
    partita::add_block(to.data(), columns.data(), from.data(), rows.data(), shape.data(), 18);
    for (int& n : expected) n *= 2;
    BOOST_TEST((to == expected));
  }
}

/// At the edge between blocks that the loops hold and blocks that are divided into slices, which is one dimension lower
/// for elements that consist of several units.
BOOST_AUTO_TEST_CASE(blocks_of_13_to_18_dimensions_are_copied_and_added_element_by_element) {
  const auto test = []<class T>(T) {
    for (std::size_t rank = 13; rank <= 18; ++rank)
      for (std::size_t wide = 0; wide < rank; ++wide)
        for (const std::size_t last : {1U, 3U}) {
          shape_type shape(rank, 1);
          shape[0] = 2, shape[wide] = 2, shape[rank - 1] = last;
          layout rows{strides(rank), 0, 1}, columns{strides(rank), 0, 1};
          for (std::size_t d = rank; d-- > 0; rows.size *= shape[d])
            rows.step[d] = static_cast<std::ptrdiff_t>(rows.size);
          for (std::size_t d = 0; d < rank; columns.size *= shape[d++])
            columns.step[d] = static_cast<std::ptrdiff_t>(columns.size);
          std::mt19937 random(static_cast<unsigned>(rank));
          std::vector<T> from(rows.size), to(rows.size), expected(rows.size);
          for (T& value : from) value = some<T>(random);
          for_each_index(shape, [&](const shape_type& i) { expected[place(columns, i)] = from[place(rows, i)]; });
          partita::copy_block(to.data(), columns.step.data(), from.data(), rows.step.data(), shape.data(), rank);
          BOOST_TEST((to == expected), "rank " << rank << ", " << sizeof(T) << " bytes, last " << last);
          if constexpr (requires(T v) { v + v; }) {
            partita::add_block(to.data(), columns.step.data(), from.data(), rows.step.data(), shape.data(), rank);
            for (T& value : expected) value = static_cast<T>(value + value);
            BOOST_TEST((to == expected), "sums of rank " << rank << ", " << sizeof(T) << " bytes, last " << last);
          }
        }
  };
  test(std::uint8_t{}), test(double{}), test(std::complex<double>{}), test(bytes<12>{}), test(bytes<40>{});
  test(std::string{});
}

BOOST_AUTO_TEST_CASE(the_last_cache_has_a_plausible_size) {
  BOOST_TEST(partita::detail::last_level_cache_bytes() >= std::size_t{1} << 18);
  BOOST_TEST(partita::detail::last_level_cache_bytes() <= std::size_t{1} << 31);
}

BOOST_AUTO_TEST_CASE(the_last_cache_is_the_largest_that_the_system_lists) {
  std::size_t largest = 0;
  for (int level = 0; level < 8; ++level) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size");
    std::size_t bytes = 0;
    char unit = 0;
    if (!(file >> bytes)) break;
    file >> unit;
    largest = std::max(largest, bytes * (unit == 'K' ? 1024U : unit == 'M' ? 1024U * 1024U : 1U));
  }
  const std::size_t expected = largest != 0 ? largest : std::size_t{32} * 1024 * 1024;
  BOOST_TEST(partita::detail::last_level_cache_bytes() == expected);
  BOOST_TEST(!partita::detail::exceeds_cache(expected / 5 * 2));
  BOOST_TEST(partita::detail::exceeds_cache(expected / 5 * 2 + 1));
}

#if defined(__x86_64__)
BOOST_AUTO_TEST_CASE(the_best_instruction_set_is_one_that_the_system_lists) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) continue;
  if (line.empty()) return;  // a system that lists none
  line += ' ';
  const auto has = [&](const char* flag) { return line.find(std::string(" ") + flag + ' ') != std::string::npos; };
  const bool has_512 = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512vbmi");
  const auto expected = has_512       ? instruction_set::avx512
                        : has("avx2") ? instruction_set::avx2
                                      : instruction_set::baseline;
  BOOST_TEST((partita::detail::best_instruction_set() == expected));
}
#endif

BOOST_AUTO_TEST_CASE(elements_are_copied_in_the_largest_unit_of_up_to_16_bytes_that_divides_them) {
  for (std::size_t n = 1; n <= 100; ++n) {
    std::size_t unit = 16;
    while (n % unit != 0) unit /= 2;
    BOOST_TEST(partita::detail::copy_unit_bytes(n) == unit);
  }
}

BOOST_AUTO_TEST_SUITE_END()
