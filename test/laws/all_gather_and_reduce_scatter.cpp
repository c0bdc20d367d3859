// All-gather and reduce-scatter are adjoint to each other, along any dimensions of a partition and for any block sizes.
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/reduce_scatter.hpp>

#include "law.hpp"
#include "refused.hpp"

namespace {

using namespace law;

struct table_row {
  const char* name;
  place<2> on;
  bool fits(const world& everyone) const { return on.bound() <= everyone.size(); }
};
const std::vector<table_row> table = {
    {"one worker alone", {{1, 1}, {0}}},
    {"a column of two, the last first", {{2, 1}, {1, 0}}},
    {"a row of two, one worker idle", {{1, 2}, {2, 0}}},
    {"a square", {{2, 2}, {3, 1, 2, 0}}},
    {"a row of three, half of the workers idle", {{1, 3}, {5, 1, 3}}},
    {"a grid of all", {{3, 2}, {0, 1, 2, 3, 4, 5}}},
};

/// The extents of the block at a place of the partition. Block sizes are uneven; for every second tensor the first
/// block along each dimension is empty.
shape<2> part_at(const partita::index<2>& i, std::size_t tensor) {
  return {2 * i[0] + tensor % 2, 3 - i[1] % 2 + tensor % 3};
}

template <class Dimensions>
void expect_mutual_adjoints(const world& everyone, const table_row& r, Dimensions along) {
  const auto p = r.on.on(everyone);
  const all_gather g(p, along);
  const reduce_scatter s(p, along);
  sequentially::all_gather g_1(p, along);
  const std::size_t me = everyone.id();
  const auto at = [&](std::size_t worker) { return p.grid().index(p.grid().place(worker)); };
  const auto active = [&](std::size_t worker) { return p.grid().place(worker) < p.size(); };
  for (std::size_t tensor = 0; tensor < 3; ++tensor) {
    const auto part = [&](std::size_t worker) {
      return active(worker) ? integers<double, 2>(part_at(at(worker), tensor), worker) : zero_volume<double, 2>(worker);
    };
    // all members of a group know the shape of the gathered tensor: that of the sequential result
    std::vector<xt::xtensor<double, 2>> parts;
    for (std::size_t k = 0; k < everyone.size(); ++k) parts.push_back(part(k));
    const auto wholes = g_1(parts);
    const auto whole = [&](std::size_t worker) {
      return active(worker)
                 ? integers<double, 2>(shape<2>{wholes[worker].shape()[0], wholes[worker].shape()[1]}, worker + 9)
                 : zero_volume<double, 2>(worker);
    };
    // a cotangent of other extents is scattered as if nothing had been gathered before
    std::vector<xt::xtensor<double, 2>> others;
    for (std::size_t k = 0; k < everyone.size(); ++k) {
      const auto& one = wholes[k].shape();
      others.push_back(active(k) ? integers<double, 2>(shape<2>{one[0] + 2, one[1] + 3}, k + 5)
                                 : xt::xtensor<double, 2>(zero_volume<double, 2>(k)));
    }
    const auto after = g_1.adjoint(others), fresh = sequentially::all_gather(p, along).adjoint(others);
    for (std::size_t k = 0; k < everyone.size(); ++k) BOOST_TEST(same(after[k], fresh[k]));
    g_1(parts);
    expect_all_laws(everyone, g, g_1, p.active(), part, p.active(), whole);
    const auto y = s(whole(me));  // its result has balanced blocks
    expect_adjoint(everyone, s, p.active(), whole(me), p.active(),
                   integers<double, 2>(shape<2>{y.shape()[0], y.shape()[1]}, me + 4));
    const xt::xtensor<double, 2> balanced_part = y;
    g(balanced_part);  // the adjoint of g refers to its last call
    expect_adjoint_of_adjoint(g, s, balanced_part, whole(me));
    expect_adjoint_of_adjoint(s, g, whole(me), balanced_part);
    expect_linear([&](const auto& block) { return s(block); }, whole(me), me + 23);
    expect_same_in_view([&](auto&& view) { s.into(whole(me), view); }, y);
    BOOST_TEST(same(s.start(whole(me)).finish(), y));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_all_gather_and_reduce_scatter)

BOOST_AUTO_TEST_CASE(they_are_mutual_adjoints_along_any_dimensions) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const auto& r) {
    expect_mutual_adjoints(everyone, r, dimensions<>);
    expect_mutual_adjoints(everyone, r, dimensions<0>);
    expect_mutual_adjoints(everyone, r, dimensions<1>);
    expect_mutual_adjoints(everyone, r, dimensions<0, 1>);
    expect_mutual_adjoints(everyone, r, all_dimensions_but<1>);
  });
}

/// The parts are those of the balanced cut, in which no part is longer by two than another.
BOOST_AUTO_TEST_CASE(the_adjoint_of_a_reduce_scatter_takes_balanced_blocks_alone, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<2>(everyone.size(), 1));
  const reduce_scatter s(p, dimensions<0>);
  const auto block = [&](std::size_t first) { return integers<double, 2>({everyone.id() == 0 ? first : 1, 2}, 1); };
  test::expect_refused<shape_error>([&] { s.adjoint(block(3)); }, "requires blocks cut as the result of the forward");
  BOOST_TEST(s.adjoint(block(2)).shape()[0] == everyone.size() + 1);
}

BOOST_AUTO_TEST_CASE(scattered_sums_gathered_are_sums_for_all) {
  const world everyone(test::workers());
  const std::size_t lines = everyone.size() % 2 == 0 ? 2 : 1;
  const auto p = everyone.partition(extents(lines, everyone.size() / lines));
  const auto x = integers<int, 2>({7, 5}, everyone.id());
  const auto expect = [&](auto along) {
    BOOST_TEST(same(all_gather(p, along)(reduce_scatter(p, along)(x)), all_sum_reduce(p, along)(x)));
  };
  expect(dimensions<0>);
  expect(dimensions<1>);
  expect(dimensions<0, 1>);
}

BOOST_AUTO_TEST_SUITE_END()
