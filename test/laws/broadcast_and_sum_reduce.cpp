// Broadcast and sum-reduce are adjoint to each other, on partitions of all kinds and with every policy.
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "law.hpp"

namespace {

using namespace law;

template <std::size_t S, std::size_t L>
using rows = std::vector<row<S, L>>;

const rows<2, 2> of_rank_2 = {
    {"one worker alone", {{1, 1}, {0}}, {{1, 1}, {0}}},
    {"one source, one other destination", {{1, 1}, {0}}, {{1, 1}, {1}}},
    {"one source, all of a row", {{1, 1}, {1}}, {{1, 2}, {0, 1}}},
    {"disjoint", {{1, 1}, {2}}, {{2, 1}, {1, 0}}},
    {"overlapping in one worker", {{1, 2}, {2, 0}}, {{2, 2}, {0, 1, 2, 3}}},
    {"the same workers in another order", {{2, 2}, {3, 1, 2, 0}}, {{2, 2}, {0, 1, 2, 3}}},
    {"the same partition", {{2, 2}, {0, 1, 2, 3}}, {{2, 2}, {0, 1, 2, 3}}},
    {"a column over a grid, one worker idle", {{2, 1}, {4, 0}}, {{2, 2}, {1, 3, 0, 2}}},
    {"a row over a grid of all", {{1, 3}, {5, 4, 3}}, {{2, 3}, {0, 1, 2, 3, 4, 5}}},
    {"three fed by three others", {{3, 1}, {0, 1, 2}}, {{3, 1}, {3, 4, 5}}},
};
const rows<1, 3> extended_on_the_left = {
    {"one worker alone", {{1}, {0}}, {{1, 1, 1}, {0}}},
    {"a row of two", {{2}, {1, 0}}, {{1, 1, 2}, {0, 1}}},
    {"a row under two planes", {{2}, {0, 3}}, {{2, 1, 2}, {0, 1, 2, 3}}},
    {"a row of three under two", {{3}, {0, 1, 2}}, {{1, 2, 3}, {5, 4, 3, 2, 1, 0}}},
};

/// The extents of the block of a group: uneven, and sometimes empty.
shape<2> block_of_group(std::size_t number) {
  return {1 + number % 3, number % 4 == 3 ? std::size_t{0} : 4 - number % 2};
}

/// Checks both kernels between the partitions of a row, with these policies.
template <std::size_t S, std::size_t L, class Broadcast, class SumReduce, class Sequential, class SequentialSum>
void expect_mutual_adjoints(const world& everyone, const row<S, L>& r, const Broadcast& b, const SumReduce& s,
                            const Sequential& b_1, const SequentialSum& s_1) {
  const auto small = r.from.on(everyone);
  const auto large = r.to.on(everyone);
  const auto x_of = [&](std::size_t worker) {
    const std::size_t place = small.grid().place(worker);
    return place < small.size() ? integers<double, 2>(block_of_group(place), worker) : zero_volume<double, 2>(worker);
  };
  const auto y_of = [&](std::size_t worker) {
    const group_plan plan = b_1.plan(worker);
    return plan.large ? integers<double, 2>(block_of_group(plan.member_group()->number), worker + 17)
                      : zero_volume<double, 2>(worker);
  };
  const std::size_t me = everyone.id();
  expect_all_laws(everyone, b, b_1, small.active(), x_of, large.active(), y_of);
  expect_all_laws(everyone, s, s_1, large.active(), y_of, small.active(), x_of);
  expect_adjoint_of_adjoint(b, s, x_of(me), y_of(me));
  BOOST_TEST((b.plan() == b_1.plan(me)));
  BOOST_TEST((s.plan() == s_1.plan(me)));
}

/// The same on all rows of a table, for policies with the same meaning for sum_reduce and broadcast.
template <std::size_t S, std::size_t L, class... Policy>
void expect_mutual_adjoints(const rows<S, L>& table, Policy... policies) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const auto& r) {
    const auto p = r.from.on(everyone);
    const auto q = r.to.on(everyone);
    expect_mutual_adjoints(everyone, r, broadcast(p, q, policies...), sum_reduce(q, p, policies...),
                           sequentially::broadcast(p, q, policies...), sequentially::sum_reduce(q, p, policies...));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_broadcast_and_sum_reduce)

BOOST_AUTO_TEST_CASE(they_are_mutual_adjoints_on_partitions_of_rank_two) { expect_mutual_adjoints(of_rank_2); }

BOOST_AUTO_TEST_CASE(so_they_are_without_the_batch_extent) { expect_mutual_adjoints(of_rank_2, discard_batch); }

BOOST_AUTO_TEST_CASE(so_they_are_between_partitions_of_different_ranks) {
  expect_mutual_adjoints(extended_on_the_left);
}

BOOST_AUTO_TEST_CASE(so_they_are_with_transpositions) {
  const rows<2, 2> source_reversed = {
      {"one worker alone", {{1, 1}, {0}}, {{1, 1}, {0}}},
      {"a column over a row", {{2, 1}, {1, 0}}, {{1, 2}, {0, 1}}},
      {"a row over a grid's columns", {{1, 2}, {0, 3}}, {{2, 2}, {0, 1, 2, 3}}},
      {"a grid over its transpose", {{2, 3}, {0, 1, 2, 3, 4, 5}}, {{3, 2}, {5, 0, 4, 1, 3, 2}}},
  };
  const world everyone(test::workers());
  for_each_row(everyone, source_reversed, [&](const auto& r) {
    const auto p = r.from.on(everyone);
    const auto q = r.to.on(everyone);
    expect_mutual_adjoints(everyone, r, broadcast(p, q, transpose_src), sum_reduce(q, p, transpose_dest),
                           sequentially::broadcast(p, q, transpose_src),
                           sequentially::sum_reduce(q, p, transpose_dest));
    expect_mutual_adjoints(everyone, r, broadcast(p, q, transpose_dest), sum_reduce(q, p, transpose_src),
                           sequentially::broadcast(p, q, transpose_dest),
                           sequentially::sum_reduce(q, p, transpose_src));
  });
  const rows<1, 2> both_reversed = {
      {"one worker alone", {{1}, {0}}, {{1, 1}, {0}}},
      {"extended on the right", {{2}, {1, 0}}, {{2, 2}, {0, 1, 2, 3}}},
      {"three rows of two", {{3}, {1, 3, 5}}, {{3, 2}, {0, 1, 2, 3, 4, 5}}},
  };
  expect_mutual_adjoints(both_reversed, transpose_src, transpose_dest);
}

BOOST_AUTO_TEST_CASE(a_broadcast_by_way_of_a_row_is_the_broadcast) {
  const world everyone(test::workers());
  const std::size_t columns = everyone.size() % 2 == 0 ? everyone.size() / 2 : everyone.size(),
                    lines = everyone.size() / columns;
  const auto root = everyone.partition<1, 1>(workers{everyone.size() - 1});
  const auto row = everyone.partition(extents(1, columns));
  const auto all = everyone.partition(extents(lines, columns));
  const auto x = root.active() ? integers<int, 2>({3, 5}, 1) : zero_volume<int, 2>();
  BOOST_TEST(same(broadcast(row, all)(broadcast(root, row)(x)), broadcast(root, all)(x)));
  const auto y = integers<int, 2>({3, 5}, everyone.id());
  const auto by_way = sum_reduce(row, root)(sum_reduce(all, row)(y)), at_once = sum_reduce(all, root)(y);
  if (root.active()) BOOST_TEST(same(by_way, at_once));
}

BOOST_AUTO_TEST_CASE(summing_what_was_broadcast_multiplies_by_the_number_of_copies) {
  const world everyone(test::workers());
  const auto root = everyone.partition<1>();
  const auto all = everyone.partition(extents(everyone.size()));
  const auto x = root.active() ? integers<long, 3>({2, 3, 4}, 1) : zero_volume<long, 3>();
  const xt::xtensor<long, 3> many = x * static_cast<long>(everyone.size());
  const auto sum = sum_reduce(all, root)(broadcast(root, all)(x));
  if (root.active()) BOOST_TEST(same(sum, many));
}

BOOST_AUTO_TEST_CASE(even_the_identity_gives_a_copy) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto x = integers<float, 1>({6}, everyone.id());
  auto y = broadcast(p, p)(x);
  auto z = sum_reduce(p, p)(x);
  BOOST_TEST(same(y, x));
  BOOST_TEST(same(z, x));
  BOOST_TEST((y.data() != x.data() && z.data() != x.data()));
}

BOOST_AUTO_TEST_SUITE_END()
