// Compares kernels in groups of workers with loops over the members. Groups are made at run time from lists, colours
// and mesh axes; blocks have any rank.
#include <partita/comm/mesh_groups.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <partita/kernel/reduce.hpp>

#include "law.hpp"
#include "refused.hpp"

namespace {

using namespace law;

template <std::size_t Rank>
xt::xtensor<double, Rank> folded(const shape<Rank>& extents, const std::vector<std::size_t>& members) {
  auto y = integers<double, Rank>(extents, members[0]);
  for (std::size_t k = 1; k < members.size(); ++k) y = y + integers<double, Rank>(extents, members[k]);
  return y;
}

template <std::size_t Rank>
void expect_in_groups(const world& everyone, const worker_groups& groups) {
  const std::size_t me = everyone.id(), g = groups.group_of(me);
  const bool active = g != groups.size(), root = active && groups.members(g)[0] == me;
  shape<Rank> extents{};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = active ? 2 + (g + d) % 3 : 1;  // groups may differ in shape
  const auto x = integers<double, Rank>(extents, me), dy = integers<double, Rank>(extents, me + 5);
  const all_reduce a(everyone, groups, sum);
  const reduce r(everyone, groups, sum);
  const broadcast b(everyone, groups);
  const auto total = a(x), at_root = r(x), copy = b(x);
  BOOST_TEST(same(total, active ? folded(extents, groups.members(g)) : x));
  BOOST_TEST(same(copy, active ? integers<double, Rank>(extents, groups.members(g)[0]) : x));
  BOOST_TEST(same(at_root, root || !active ? xt::xtensor<double, Rank>(total)
                                           : zero_volume<double, Rank>(Rank > 0 ? extents[0] : 0)));
  BOOST_TEST(same(b(at_root), total));
  expect_adjoint(everyone, a, active, x, active, dy);
  const auto dy_at_root = root || !active ? dy : zero_volume<double, Rank>(Rank > 0 ? extents[0] : 0);
  expect_adjoint(everyone, r, active, x, root, dy_at_root);
  const auto x_at_root = root || !active ? x : zero_volume<double, Rank>(Rank > 0 ? extents[0] : 0);
  expect_adjoint(everyone, b, root, x_at_root, active, dy);
  BOOST_TEST(same(r.adjoint(dy_at_root), b(dy_at_root)));
}

template <class K>
concept kernel = linear_operator<K, xt::xtensor<float, 3>, xt::xtensor<float, 3>>;
static_assert(kernel<broadcast<worker_groups, worker_groups>>);
static_assert(kernel<reduce<worker_groups, worker_groups, sum_t>>);
static_assert(kernel<all_reduce<worker_groups, mean_t>>);
static_assert(!kernel<all_reduce<worker_groups, maximum_t>>);

}  // namespace

BOOST_AUTO_TEST_SUITE(kernels_in_groups_of_workers)

BOOST_AUTO_TEST_CASE(give_what_a_loop_over_the_members_gives_for_blocks_of_any_rank) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  // in descending order; the last worker but one is in no group
  std::vector<std::vector<std::size_t>> lists(P > 3 ? 2 : 1);
  for (std::size_t k = P; k-- > 0;)
    if (P < 3 || k != P - 2) lists[k % lists.size()].push_back(k);
  const worker_groups listed(lists);
  std::vector<std::size_t> colours(P);
  for (std::size_t k = 0; k < P; ++k) colours[k] = 100 - k % 3;
  const auto coloured = worker_groups::by_colour(colours);
  expect_in_groups<0>(everyone, listed);
  expect_in_groups<1>(everyone, coloured);
  expect_in_groups<2>(everyone, listed);
  expect_in_groups<4>(everyone, coloured);
}

BOOST_AUTO_TEST_CASE(are_those_of_workers_that_differ_along_mesh_axes) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), lines = P % 2 == 0 ? 2 : 1;
  const mesh m{axis{"data", lines}, axis{"model", P / lines}};
  const auto along_data = groups_along(m, "data"), along_both = groups_along(m, "data+model");
  BOOST_TEST(along_data.size() == P / lines);
  BOOST_TEST(along_both.size() == 1U);
  BOOST_TEST((groups_along(m, "").size() == P));
  expect_in_groups<2>(everyone, along_data);
  expect_in_groups<1>(everyone, groups_along(m, "model"));
  const auto p = everyone.partition(extents<dynamic, dynamic>(lines, P / lines));
  const auto x = integers<double, 3>({2, 1, 5}, everyone.id());  // its rank differs from that of the partition
  BOOST_TEST(same(all_reduce(everyone, along_data, maximum)(x), all_reduce(p, dimensions<0>, maximum)(x)));
  BOOST_TEST(same(all_reduce(everyone, along_both, sum)(x), all_reduce(p, dimension_list{0, 1}, sum)(x)));
}

BOOST_AUTO_TEST_CASE(that_cannot_be_are_refused) {
  const world everyone(test::workers());
  using lists = std::vector<std::vector<std::size_t>>;
  const auto says = [](const std::string& sentence, const char* part) {
    return sentence.find(part) != std::string::npos;
  };
  BOOST_TEST(says(test::refused<partition_error>([] {
                    worker_groups(lists{{0, 1}, {1}});
                  }),
                  "requires each worker in one group at most, worker 1 is named in group 0 and again in group 1"));
  BOOST_TEST(says(test::refused<partition_error>([] { worker_groups(lists{{0}, {}}); }), "group 1 has none"));
  BOOST_TEST(says(test::refused<partition_error>([] { worker_groups(lists{{std::size_t{0} - 1}}); }),
                  "requires ids of workers"));
  const worker_groups outside(lists{{everyone.size()}});
  BOOST_TEST(says(test::refused<partition_error>([&] { all_reduce(everyone, outside, sum); }),
                  "requires workers of a world of"));
  const worker_groups no_groups(lists{});
  const xt::xtensor<int, 1> x{1, 2};
  BOOST_TEST(same(all_reduce(everyone, no_groups, sum)(x), x));
}

BOOST_AUTO_TEST_SUITE_END()
