// A walk over several blocks of one shape: it visits each element once, in the order that is asked for.
#include <partita/array/row_walk.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace {

using places = std::array<std::ptrdiff_t, 2>;
using walk_type = partita::detail::row_walk<2, 6>;

/// Two blocks of one shape.
struct blocks {
  std::vector<std::size_t> shape;
  std::vector<places> strides;
};

walk_type walk_of(const blocks& b) {
  walk_type walk;
  for (std::size_t d = 0; d < b.shape.size(); ++d) walk.add(b.shape[d], b.strides[d]);
  return walk;
}

/// The places of all elements, in C order.
std::vector<places> in_c_order(const blocks& b) {
  std::vector<places> all;
  const std::size_t size = std::accumulate(b.shape.begin(), b.shape.end(), std::size_t{1}, std::multiplies<>());
  for (std::size_t k = 0; k < size; ++k) {
    places at{};
    std::size_t rest = k;
    for (std::size_t d = b.shape.size(); d-- > 0; rest /= b.shape[d])
      for (std::size_t block = 0; block < 2; ++block)
        at[block] += static_cast<std::ptrdiff_t>(rest % b.shape[d]) * b.strides[d][block];
    all.push_back(at);
  }
  return all;
}

/// The places that a walk visits, in its order; counts its rows.
std::vector<places> visited(const walk_type& walk, std::size_t& rows) {
  std::vector<places> all;
  const places step = walk.innermost_plane().column_step;
  rows = 0;
  walk.for_each_row([&](const places& first, std::size_t n) {
    ++rows;
    for (std::size_t i = 0; i < n; ++i)
      all.push_back(
          {first[0] + static_cast<std::ptrdiff_t>(i) * step[0], first[1] + static_cast<std::ptrdiff_t>(i) * step[1]});
  });
  return all;
}

/// The strides of a dense block whose dimensions lie in memory in this order, the last one innermost.
std::vector<std::ptrdiff_t> dense_in(const std::vector<std::size_t>& order, const std::vector<std::size_t>& shape) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  std::ptrdiff_t next = 1;
  for (std::size_t k = order.size(); k-- > 0; next *= static_cast<std::ptrdiff_t>(shape[order[k]]))
    strides[order[k]] = next;
  return strides;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(walking_rows)

BOOST_AUTO_TEST_CASE(each_element_of_both_blocks_is_visited_once_in_c_order_or_that_of_the_first_block) {
  std::mt19937 random(3);
  std::size_t out_of_order = 0, out_of_sorted_order = 0, unsorted = 0, rows = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    blocks b;
    b.shape.resize(random() % 7);
    for (std::size_t& n : b.shape) n = random() % 12 == 0 ? 0 : 1 + random() % 3;
    std::vector<std::size_t> order(b.shape.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (random() % 3 != 0) std::shuffle(order.begin(), order.end(), random);
    const auto first = dense_in(order, b.shape);
    if (random() % 3 != 0) std::shuffle(order.begin(), order.end(), random);
    const auto second = dense_in(order, b.shape);
    for (std::size_t d = 0; d < b.shape.size(); ++d)
      b.strides.push_back({first[d], random() % 4 == 0 ? 0 : random() % 6 == 0 ? -second[d] : second[d]});
    auto all = in_c_order(b);
    walk_type walk = walk_of(b);
    out_of_order += visited(walk, rows) == all ? 0 : 1;
    walk.sort_by_first_block();
    std::sort(all.begin(), all.end());  // the first block is dense: its places are 0, 1, 2, ...
    const auto sorted = visited(walk, rows);
    out_of_sorted_order += sorted == all ? 0 : 1;
    for (std::size_t k = 0; k < sorted.size(); ++k) unsorted += sorted[k][0] == static_cast<std::ptrdiff_t>(k) ? 0 : 1;
  }
  BOOST_TEST(out_of_order == 0U);
  BOOST_TEST(out_of_sorted_order == 0U);
  BOOST_TEST(unsorted == 0U);
}

BOOST_AUTO_TEST_CASE(blocks_that_are_contiguous_together_are_one_row) {
  const std::vector<std::size_t> shape{2, 3, 1, 4};
  std::size_t rows = 0;
  std::vector<std::size_t> order{0, 1, 2, 3};
  do {
    const auto strides = dense_in(order, shape);
    blocks alike{shape, {}}, apart{shape, {}};
    for (std::size_t d = 0; d < 4; ++d) {
      alike.strides.push_back({strides[d], strides[d]});
      apart.strides.push_back({strides[d], d == order[0] || (d == order[1] && order[0] == 2) ? 100 : strides[d]});
    }
    walk_type one = walk_of(alike), several = walk_of(apart);
    one.sort_by_first_block(), several.sort_by_first_block();
    BOOST_TEST(visited(one, rows).size() == 24U);
    BOOST_TEST(rows == 1U);
    visited(several, rows);  // the second block has a gap after each outermost row
    BOOST_TEST(rows == shape[order[0] == 2 ? order[1] : order[0]]);
  } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(a_block_of_no_dimension_is_one_row_of_one_element) {
  std::size_t rows = 0;
  BOOST_TEST((visited(walk_of({}), rows) == std::vector<places>{{0, 0}}));
  BOOST_TEST(rows == 1U);
  BOOST_TEST((visited(walk_of({{1, 1}, {{5, 5}, {7, 7}}}), rows) == std::vector<places>{{0, 0}}));
  BOOST_TEST(visited(walk_of({{1, 0, 2}, {{5, 5}, {7, 7}, {1, 1}}}), rows).empty());
}

BOOST_AUTO_TEST_SUITE_END()
