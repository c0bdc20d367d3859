// Compares pushing boxes slab by slab directly into the blocks of others with copying element by element: rows longer
// than a slab, several rows in one slab, several receivers, all ranks, with and without non-temporal stores.
#include <partita/comm/detail/node/push.hpp>
#include <partita/core/index.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;

/// A box of the source, and where it goes.
template <std::size_t Rank>
struct box_to_push {
  std::array<std::size_t, Rank> shape{};
  partita::index<Rank> at{};
};

template <std::size_t Rank>
std::array<std::ptrdiff_t, Rank> strides_of(const std::array<std::size_t, Rank>& shape) {
  std::array<std::ptrdiff_t, Rank> strides{};
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0; next *= static_cast<std::ptrdiff_t>(shape[d])) strides[d] = next;
  return strides;
}

/// A block of this shape cut at the given places of each dimension into boxes, each for a receiver of its own.
template <std::size_t Rank>
void expect_pushed(const std::array<std::size_t, Rank>& shape, const std::array<std::vector<std::size_t>, Rank>& cuts,
                   std::size_t padding, bool streaming) {
  const std::size_t n = volume_of(shape);
  std::array<std::size_t, Rank> parts{}, padded = shape;
  padded[Rank - 1] += padding;
  std::array<std::ptrdiff_t, Rank> from_strides = strides_of(padded);
  std::vector<double> from(volume_of(padded), -2);
  const auto source = [&](const partita::index<Rank>& i) {
    std::size_t at = 0;
    for (std::size_t d = 0; d < Rank; ++d) at += i[d] * static_cast<std::size_t>(from_strides[d]);
    return at;
  };
  for (std::size_t k = 0; k < n; ++k) from[source(index_of(k, shape))] = static_cast<double>(k);
  std::size_t boxes_in_all = 1;
  for (std::size_t d = 0; d < Rank; ++d) boxes_in_all *= parts[d] = cuts[d].size() - 1;
  std::vector<box_to_push<Rank>> boxes;
  detail::push_list list(Rank);
  std::vector<std::vector<double>> received;
  std::vector<char*> blocks;
  for (std::size_t b = 0; b < boxes_in_all; ++b) {
    const partita::index<Rank> place = index_of(b, parts);
    box_to_push<Rank> box;
    for (std::size_t d = 0; d < Rank; ++d) {
      box.at[d] = cuts[d][place[d]];
      box.shape[d] = cuts[d][place[d] + 1] - box.at[d];
    }
    list.add(b, {0, 0, box.shape.data(), box.at.data()}, 3 * sizeof(double), strides_of(box.shape).data());
    received.emplace_back(volume_of(box.shape) + 6, -1);
    boxes.push_back(box);
  }
  for (auto& block : received) blocks.push_back(reinterpret_cast<char*>(block.data()));
  list.sort();
  list.push(0, list.size(), detail::element_kind::moved<double>(), shape.data(),
            {reinterpret_cast<char*>(from.data()), from_strides.data()}, blocks, streaming);
  std::size_t wrong = 0;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const std::size_t size = volume_of(boxes[b].shape);
    for (std::size_t k = 0; k < size + 6; ++k) {
      double expected = -1;  // beside the box nothing is written
      if (k >= 3 && k < size + 3) {
        partita::index<Rank> i = index_of(k - 3, boxes[b].shape);
        for (std::size_t d = 0; d < Rank; ++d) i[d] += boxes[b].at[d];
        expected = static_cast<double>(flat_index(i, shape));
      }
      wrong += received[b][k] == expected ? 0 : 1;
    }
  }
  BOOST_TEST(wrong == 0U, "a block of rank " << Rank << " and " << n << " elements in " << boxes.size() << " boxes: "
                                             << wrong << " elements are wrong" << (streaming ? ", streaming" : ""));
}

template <std::size_t Rank>
void expect_random_boxes(std::size_t most) {
  std::mt19937 random(Rank);
  for (std::size_t trial = 0; trial < test::random_cases(120); ++trial) {
    std::array<std::size_t, Rank> shape{};
    std::array<std::vector<std::size_t>, Rank> cuts;
    std::size_t left = most;
    for (std::size_t k = 0; k < Rank; ++k) {
      const std::size_t d = (trial + k) % Rank;
      shape[d] = 1 + random() % left;
      left = std::max<std::size_t>(1, left / shape[d]);
      cuts[d] = {0, shape[d]};
      for (std::size_t c = random() % 3; c > 0; --c) cuts[d].push_back(random() % (shape[d] + 1));
      std::sort(cuts[d].begin(), cuts[d].end());
    }
    expect_pushed<Rank>(shape, cuts, trial % 3, trial % 4 != 0);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pushing_boxes)

BOOST_AUTO_TEST_CASE(rows_longer_than_a_slab_arrive_at_their_place) {
  for (const bool streaming : {true, false})
    for (const unsigned n : {4095U, 4096U, 4097U, 5000U, 8192U, 9000U}) {
      const std::size_t columns = n;
      expect_pushed<2>({4, columns}, {{{0, 4}, {0, 2500, columns}}}, 0, streaming);
      expect_pushed<2>({5, columns}, {{{0, 2, 5}, {0, 1, columns - 1, columns}}}, 7, streaming);
      expect_pushed<3>({2, 3, columns}, {{{0, 1, 2}, {0, 3}, {0, 4000, columns}}}, 1, streaming);
      expect_pushed<3>({3, 1, columns}, {{{0, 3}, {0, 1}, {0, 100, columns}}}, 0, streaming);
      expect_pushed<1>({columns}, {{{0, 1, 4000, columns}}}, 0, streaming);
    }
}

BOOST_AUTO_TEST_CASE(several_rows_a_slab_arrive_at_their_place) {
  for (const bool streaming : {true, false}) {
    expect_pushed<2>({1000, 9}, {{{0, 450, 1000}, {0, 4, 9}}}, 0, streaming);
    expect_pushed<2>({50, 1500}, {{{0, 1, 49, 50}, {0, 700, 1500}}}, 3, streaming);
    expect_pushed<4>({3, 2, 40, 300}, {{{0, 1, 3}, {0, 2}, {0, 13, 40}, {0, 150, 300}}}, 0, streaming);
  }
}

BOOST_AUTO_TEST_CASE(random_boxes_of_every_rank_arrive_at_their_place) {
  expect_random_boxes<1>(30000);
  expect_random_boxes<2>(30000);
  expect_random_boxes<3>(30000);
  expect_random_boxes<5>(30000);
}

BOOST_AUTO_TEST_SUITE_END()
