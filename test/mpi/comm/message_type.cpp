// MPI datatypes of boxes: they list the elements of a box in C order, whatever its strides.
#include "mpi_test.hpp"

#include <algorithm>
#include <array>
#include <partita/comm/detail/message/message_type.hpp>
#include <partita/core/index.hpp>
#include <random>
#include <vector>

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
    MPI_Datatype type = partita::detail::type_of_box(shape.data(), strides.data(), 3, element);
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
