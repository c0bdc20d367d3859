// MPI datatypes: that of an element type orders and adds its values as C++ does; that of a box lists its elements in C
// order, whatever its strides.
#include "mpi_test.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <partita/comm/detail/message/message_type.hpp>
#include <partita/comm/element.hpp>
#include <partita/core/index.hpp>
#include <random>
#include <vector>

namespace {

/// What MPI makes of two values of one type.
template <class T>
T combined(const T& a, T b, MPI_Op how) {
  const MPI_Datatype type = partita::detail::datatype<T>();
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  BOOST_TEST(bytes == static_cast<int>(sizeof(T)));
  MPI_Reduce_local(&a, &b, 1, type, how);
  return b;
}
template <class... T>
void order_as_numbers_do() {
  const auto test = []<class N>(N) {
    using limits = std::numeric_limits<N>;
    for (const N a : {limits::lowest(), limits::max(), static_cast<N>(-1), N(0), N(1)})
      for (const N b : {limits::lowest(), limits::max(), static_cast<N>(-1), N(0), N(1)}) {
        BOOST_TEST((combined(a, b, MPI_MAX) == std::max(a, b)), sizeof(N) << limits::is_integer);
        BOOST_TEST((combined(a, b, MPI_MIN) == std::min(a, b)), sizeof(N) << limits::is_integer);
      }
  };
  (test(T()), ...);
}
template <class... T>
void add_as_numbers_do() {
  const auto test = []<class N>(N) {
    constexpr N half = static_cast<N>(std::numeric_limits<N>::max() / 2);  // the highest byte takes part
    for (const N a : {half, N(0), N(1)})
      for (const N b : {half, N(0), N(3)}) {
        BOOST_TEST((combined(a, b, MPI_SUM) == static_cast<N>(a + b)), sizeof(N) << std::numeric_limits<N>::is_integer);
      }
  };
  (test(T()), ...);
}
template <class... T>
void add_as_complex_numbers_do() {
  const auto test = []<class N>(N) { BOOST_TEST((combined(N(1, 2), N(4, 8), MPI_SUM) == N(5, 10))); };
  (test(T()), ...);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_type_orders_and_adds_its_values_as_numbers) {
  order_as_numbers_do<std::int8_t, std::int16_t, std::int32_t, std::int64_t, long, float, double, long double>();
  add_as_numbers_do<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                    std::uint64_t, long, unsigned long long, float, double, long double>();
  add_as_complex_numbers_do<std::complex<float>, std::complex<double>, std::complex<long double>>();
  BOOST_TEST(combined(true, false, MPI_LOR));
  BOOST_TEST((combined(std::byte{5}, std::byte{3}, MPI_BAND) == std::byte{1}));
}

/// MPICH 4.0 orders unsigned numbers as if they were signed, so the library never asks MPI for this order.
boost::test_tools::assertion_result is_not_mpich(boost::unit_test::test_unit_id) {
#ifdef MPICH
  boost::test_tools::assertion_result result(false);
  result.message() << "MPICH orders unsigned numbers as if signed";
  return result;
#else
  return true;
#endif
}
BOOST_AUTO_TEST_CASE(an_unsigned_type_orders_its_values_as_numbers, *boost::unit_test::precondition(is_not_mpich)) {
  order_as_numbers_do<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, unsigned long long>();
}

BOOST_AUTO_TEST_CASE(a_type_lists_the_elements_of_a_box_in_order) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t element = std::array<std::size_t, 4>{1, 4, 8, 12}[random() % 4];
    std::array<std::size_t, 3> shape{}, order{0, 1, 2};
    std::array<std::ptrdiff_t, 3> strides{};
    std::shuffle(order.begin(), order.end(), random);
    std::size_t room = 1;
    for (const std::size_t d : order) {  // some dimensions are contiguous, others have gaps
      shape[d] = 1 + random() % 4;
      strides[d] = static_cast<std::ptrdiff_t>(room);
      room *= shape[d] + random() % 2;
    }
    std::vector<char> memory(room * element), expected;
    for (char& byte : memory) byte = static_cast<char>(random());
    const std::size_t volume = shape[0] * shape[1] * shape[2];
    for (std::size_t k = 0; k < volume; ++k) {
      const auto i = partita::index_of(k, shape);
      std::ptrdiff_t at = 0;
      for (std::size_t d = 0; d < 3; ++d) at += static_cast<std::ptrdiff_t>(i[d]) * strides[d];
      const auto first = memory.begin() + at * static_cast<std::ptrdiff_t>(element);
      expected.insert(expected.end(), first, first + static_cast<std::ptrdiff_t>(element));
    }
    MPI_Datatype type = partita::detail::make_box_type(shape.data(), strides.data(), 3, element);
    MPI_Type_commit(&type);
    std::vector<char> packed(expected.size());
    int bytes = 0, at = 0;
    MPI_Type_size(type, &bytes);
    BOOST_REQUIRE(bytes == static_cast<int>(packed.size()));
    MPI_Pack(memory.data(), 1, type, packed.data(), bytes, &at, MPI_COMM_SELF);
    BOOST_TEST((packed == expected));
    MPI_Type_free(&type);
  }
}
