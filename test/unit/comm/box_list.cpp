// Lists of boxes: how a box is cut into pieces, found in its block, packed and unpacked, compared with loops over its
// elements.
#include <partita/comm/detail/exchange/way.hpp>
#include <partita/core/index.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace partita;
using detail::block_memory, detail::box_list, detail::element_kind, detail::listed_box;
using numbers = std::vector<std::size_t>;
using steps = std::vector<std::ptrdiff_t>;

std::size_t product(const numbers& shape) {
  std::size_t all = 1;
  for (const std::size_t n : shape) all *= n;
  return all;
}
/// The index of element k of a shape in C order.
numbers element_at(std::size_t k, const numbers& shape) {
  numbers i(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; k /= shape[d]) i[d] = k % shape[d];
  return i;
}
numbers sum(numbers a, const numbers& b) {
  for (std::size_t d = 0; d < a.size(); ++d) a[d] += b[d];
  return a;
}
std::ptrdiff_t offset_of(const numbers& i, const steps& strides) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < i.size(); ++d) offset += static_cast<std::ptrdiff_t>(i[d]) * strides[d];
  return offset;
}
numbers random_numbers(std::size_t count, std::size_t from, std::size_t to, std::mt19937& random) {
  numbers all(count);
  for (std::size_t& n : all) n = from + random() % (to - from + 1);
  return all;
}

/// A block of int32_t in which each element has a value of its own, with gaps and reversed dimensions.
struct strided_block {
  numbers shape;
  steps strides;
  std::size_t origin = 0;
  std::vector<std::int32_t> memory;

  strided_block(const numbers& extents, std::mt19937& random) : shape(extents), strides(extents.size()) {
    std::size_t room = 1;
    for (std::size_t d = shape.size(); d-- > 0; room *= shape[d] + random() % 2)
      strides[d] = static_cast<std::ptrdiff_t>(room);
    memory.assign(room + 1, -1);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (random() % 3 == 0) {
        origin += (shape[d] - 1) * static_cast<std::size_t>(strides[d]);
        strides[d] = -strides[d];
      }
    for (std::size_t k = 0; k < product(shape); ++k) at(element_at(k, shape)) = static_cast<std::int32_t>(k + 1);
  }
  std::int32_t& at(const numbers& i) {
    return memory.at(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(origin) + offset_of(i, strides)));
  }
  block_memory block() { return {reinterpret_cast<char*>(memory.data() + origin), strides.data()}; }
};

constexpr element_kind kind = element_kind::moved<std::int32_t>();

}  // namespace

BOOST_AUTO_TEST_SUITE(lists_of_boxes)

BOOST_AUTO_TEST_CASE(a_box_is_cut_along_its_outer_dimensions_into_slabs_that_are_as_large_as_allowed) {
  const auto pieces = [](const numbers& shape, std::size_t most) {  // of elements of four bytes
    box_list list(shape.size());
    const numbers at(shape.size(), 0);
    list.add_cut({0, 0, shape.data(), at.data()}, 4, most);
    std::vector<numbers> all;
    for (std::size_t k = 0; k < list.size(); ++k) all.emplace_back(list[k].shape, list[k].shape + shape.size());
    return all;
  };
  const auto copies = [](std::size_t n, const numbers& shape) { return std::vector<numbers>(n, shape); };
  BOOST_TEST((pieces({4, 3}, 48) == copies(1, {4, 3})));
  BOOST_TEST((pieces({4, 3}, 47) == std::vector<numbers>{{3, 3}, {1, 3}}));
  BOOST_TEST((pieces({4, 3}, 24) == copies(2, {2, 3})));
  BOOST_TEST((pieces({4, 3}, 23) == copies(4, {1, 3})));
  BOOST_TEST((pieces({4, 3}, 12) == copies(4, {1, 3})));
  BOOST_TEST((pieces({2, 3}, 11) == std::vector<numbers>{{1, 2}, {1, 1}, {1, 2}, {1, 1}}));
  BOOST_TEST((pieces({1, 5}, 8) == std::vector<numbers>{{1, 2}, {1, 2}, {1, 1}}));
  BOOST_TEST((pieces({2, 1, 2}, 3) == copies(4, {1, 1, 1})));  // an element is not cut
  BOOST_TEST((pieces({}, 3) == copies(1, {})));
  BOOST_TEST((pieces({0, 3}, 100).empty() && pieces({3, 0}, 1).empty()));
}

BOOST_AUTO_TEST_CASE(the_pieces_of_a_box_have_its_elements_in_order_at_places_that_follow_each_other) {
  std::mt19937 random(5);
  for (int turn = 0; turn < 400; ++turn) {
    const std::size_t rank = random() % 5, element = std::array<std::size_t, 3>{1, 4, 12}[random() % 3],
                      most = 1 + random() % 120;
    const numbers shape = random_numbers(rank, 1, 4, random), at = random_numbers(rank, 0, 9, random);
    box_list list(rank);
    list.add_cut({7, 40, shape.data(), at.data()}, element, most);
    std::size_t next = 0;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const listed_box b = list[k];
      const numbers piece(b.shape, b.shape + rank), start(b.at, b.at + rank);
      BOOST_TEST(b.worker == 7U);
      BOOST_TEST(b.staging_offset == 40 + next * element);
      BOOST_TEST(list.volume(k) == product(piece));
      BOOST_TEST((product(piece) * element <= most || product(piece) == 1));
      for (std::size_t e = 0; e < product(piece); ++e, ++next)
        BOOST_REQUIRE((sum(element_at(e, piece), start) == sum(element_at(next, shape), at)));
    }
    BOOST_TEST(next == product(shape));
    BOOST_TEST(list.volume() == product(shape));
  }
}

BOOST_AUTO_TEST_CASE(a_list_keeps_what_is_added_at_every_rank) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    box_list list(rank);
    BOOST_TEST((list.empty() && list.size() == 0 && list.volume() == 0));
    for (std::size_t k = 0; k < 5; ++k) {
      const numbers shape(rank, k + 1), at(rank, 10 * k);
      if (k % 2 == 0) list.add(k + 20, shape.data(), at.data(), k + 30);
      else list.add({k + 20, k + 30, shape.data(), at.data()});
      BOOST_TEST((!list.empty() && list.size() == k + 1));
    }
    for (std::size_t k = 0; k < 5; ++k) {
      const listed_box b = list[k];
      BOOST_TEST((b.worker == k + 20 && b.staging_offset == k + 30));
      BOOST_TEST((numbers(b.shape, b.shape + rank) == numbers(rank, k + 1)));
      BOOST_TEST((numbers(b.at, b.at + rank) == numbers(rank, 10 * k)));
    }
    list.clear();
    BOOST_TEST((list.empty() && list.rank() == rank));
  }
}

BOOST_AUTO_TEST_CASE(dense_strides_number_the_elements_in_order) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 60; ++turn) {
    const numbers shape = random_numbers(random() % 5, 1, 4, random);
    steps strides(shape.size(), -5);
    detail::dense_strides(shape.data(), shape.size(), strides.data());
    BOOST_TEST(detail::element_count_of_shape(shape.data(), shape.size()) == product(shape));
    for (std::size_t k = 0; k < product(shape); ++k)
      BOOST_TEST(offset_of(element_at(k, shape), strides) == static_cast<std::ptrdiff_t>(k));
  }
  const numbers none{3, 0, 2};
  BOOST_TEST(detail::element_count_of_shape(none.data(), 3) == 0U);
}

BOOST_AUTO_TEST_CASE(a_box_is_contiguous_if_its_elements_follow_each_other) {
  std::mt19937 random(9);
  std::size_t contiguous = 0;
  constexpr int turns = 600;
  for (int turn = 0; turn < turns; ++turn) {
    const numbers shape = random_numbers(random() % 4, 1, 3, random);
    steps strides(shape.size());
    detail::dense_strides(shape.data(), shape.size(), strides.data());
    if (!shape.empty() && random() % 2 == 0)
      strides[random() % shape.size()] = static_cast<std::ptrdiff_t>(random() % 9) - 1;
    bool expected = true;
    for (std::size_t k = 0; k < product(shape); ++k)
      expected = expected && offset_of(element_at(k, shape), strides) == static_cast<std::ptrdiff_t>(k);
    BOOST_TEST(detail::is_contiguous(shape.data(), strides.data(), shape.size()) == expected);
    contiguous += expected ? 1 : 0;
  }
  BOOST_TEST((contiguous > turns / 4 && contiguous < turns * 9 / 10));
}

BOOST_AUTO_TEST_CASE(dimensions_of_extent_one_are_dropped_from_boxes_with_more_dimensions_than_a_tensor_has) {
  const auto dropped = [](numbers shape) {
    std::size_t rank = shape.size();
    const std::size_t first = detail::drop_unit_extents(shape.data(), rank);
    return std::array<std::size_t, 2>{first, rank};
  };
  using pair = std::array<std::size_t, 2>;
  BOOST_TEST((dropped(numbers(16, 1)) == pair{0, 16}));
  numbers long_shape(17, 1);
  BOOST_TEST((dropped(long_shape)[1] == 0U));
  long_shape[4] = 3;
  BOOST_TEST((dropped(long_shape) == pair{4, 1}));
  long_shape[7] = 0;
  BOOST_TEST((dropped(long_shape) == pair{4, 4}));
  long_shape[16] = 2;
  BOOST_TEST((dropped(long_shape) == pair{4, 13}));
  long_shape[0] = 2;
  BOOST_TEST((dropped(long_shape) == pair{0, 17}));
}

BOOST_AUTO_TEST_CASE(a_box_is_packed_in_order_and_unpacked_to_where_it_was) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 200; ++turn) {
    const std::size_t rank = random() % 4;
    strided_block from(random_numbers(rank, 1, 5, random), random), to(from);
    numbers shape(rank), at(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      shape[d] = 1 + random() % from.shape[d];
      at[d] = random() % (from.shape[d] - shape[d] + 1);
    }
    const listed_box b{0, 0, shape.data(), at.data()};
    BOOST_TEST(detail::box_offset(b, from.strides.data(), rank) == offset_of(at, from.strides));
    BOOST_TEST((detail::box_address(b, from.block(), rank, 4) == reinterpret_cast<char*>(&from.at(at))));
    const std::size_t n = product(shape);
    std::vector<std::int32_t> packed(n + 1, -7), expected;
    for (std::size_t k = 0; k < n; ++k) expected.push_back(from.at(sum(element_at(k, shape), at)));
    expected.push_back(-7);
    char* const end = reinterpret_cast<char*>(packed.data() + n);
    BOOST_TEST((detail::pack_box(kind, b, rank, from.block(), reinterpret_cast<char*>(packed.data()), true,
                                 stores::cached) == end));
    BOOST_TEST(packed == expected, boost::test_tools::per_element());
    for (std::size_t k = 0; k < n; ++k) packed[k] = static_cast<std::int32_t>(1000 + k);
    BOOST_TEST((detail::pack_box(kind, b, rank, to.block(), reinterpret_cast<char*>(packed.data()), false,
                                 stores::by_size) == end));
    for (std::size_t k = 0; k < n; ++k) from.at(sum(element_at(k, shape), at)) = static_cast<std::int32_t>(1000 + k);
    BOOST_TEST((to.memory == from.memory));
  }
}

BOOST_AUTO_TEST_CASE(a_staged_box_is_dense_at_its_place_in_the_staging_area) {
  std::vector<std::int32_t> area(30), packed(6, 0);
  for (std::size_t k = 0; k < area.size(); ++k) area[k] = static_cast<std::int32_t>(k);
  const numbers shape{2, 3}, at{50, 60};  // where the box lies in its block does not matter
  const listed_box b{0, 4 * sizeof(std::int32_t), shape.data(), at.data()};
  const block_memory memory{reinterpret_cast<char*>(area.data()), nullptr};
  BOOST_TEST((detail::box_address(b, memory, 2, 4) == reinterpret_cast<char*>(area.data() + 4)));
  detail::pack_box(kind, b, 2, memory, reinterpret_cast<char*>(packed.data()), true, stores::cached);
  BOOST_TEST((packed == std::vector<std::int32_t>{4, 5, 6, 7, 8, 9}));
  packed = {-4, -5, -6, -7, -8, -9};
  detail::pack_box(kind, b, 2, memory, reinterpret_cast<char*>(packed.data()), false, stores::cached);
  for (std::size_t k = 0; k < area.size(); ++k) {
    const auto before = static_cast<std::int32_t>(k);
    BOOST_TEST(area[k] == (k >= 4 && k < 10 ? -before : before));
  }
}

BOOST_AUTO_TEST_CASE(a_block_writer_is_asked_for_each_box_where_it_is_packed) {
  struct writer : detail::block_writer {
    mutable numbers asked_shape, asked_at;
    void write(const std::size_t* shape, const std::size_t* at, char* to) const override {
      asked_shape.assign(shape, shape + 2), asked_at.assign(at, at + 2);
      *to = 'x';
    }
  } const source{};
  const numbers shape{2, 3}, at{5, 6};
  char memory[64] = {};
  char* const end = detail::pack_box(kind, {0, 0, shape.data(), at.data()}, 2, {nullptr, nullptr, &source}, memory + 8,
                                     true, stores::cached);
  BOOST_TEST((source.asked_shape == shape && source.asked_at == at && memory[8] == 'x'));
  BOOST_TEST((end == memory + 8 + 24));
}

BOOST_AUTO_TEST_CASE(kept_boxes_are_copied_from_their_place_in_the_source_to_that_in_the_destination) {
  std::mt19937 random(13);
  strided_block x({4, 5}, random), y({6, 3}, random);
  const numbers shape{2, 3}, from{1, 2}, to{3, 0}, one{1, 1}, corner{0, 4}, last{5, 2};
  detail::lowered_plan plan(2);
  plan.add_kept_box(shape.data(), from.data(), to.data());
  plan.add_kept_box(one.data(), corner.data(), last.data());
  strided_block expected = y;
  for (std::size_t k = 0; k < 6; ++k)
    expected.at(sum(element_at(k, shape), to)) = x.at(sum(element_at(k, shape), from));
  expected.at(last) = x.at(corner);
  detail::keep_boxes(plan, kind, x.block(), y.block(), stores::by_size);
  BOOST_TEST(y.memory == expected.memory, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_transports_carry_is_added_up) {
  detail::exchange_traffic all{1, 2, 3};
  all += {10, 200, 3000};
  BOOST_TEST((all.messages == 11 && all.bytes_by_message == 202 && all.bytes_shared == 3003));
}

BOOST_AUTO_TEST_SUITE_END()
