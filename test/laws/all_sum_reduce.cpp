// All-sum-reduce is its own adjoint, on any dimensions of any partition.
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "law.hpp"

namespace {

using namespace law;

struct table_row {
  const char* name;
  place<3> on;

  bool fits(const world& everyone) const { return on.bound() <= everyone.size(); }
};

const std::vector<table_row> table = {
    {"one worker alone", {{1, 1, 1}, {0}}},
    {"a line", {{1, 2, 1}, {1, 0}}},
    {"three in a column", {{3, 1, 1}, {2, 0, 1}}},
    {"a grid", {{2, 1, 2}, {3, 0, 2, 1}}},
    {"a line with idle workers", {{1, 1, 3}, {5, 1, 3}}},
    {"a grid of all", {{1, 3, 2}, {0, 1, 2, 3, 4, 5}}},
};

template <class Dimensions>
void expect_self_adjoint(const world& everyone, const table_row& r, Dimensions dimensions) {
  const auto p = r.on.on(everyone);
  const all_sum_reduce a(p, dimensions);
  const sequentially::all_sum_reduce a_1(p, dimensions);
  const auto block = [&](std::size_t number) {
    return [&, number](std::size_t worker) {
      const group_plan plan = a_1.plan(worker);
      return plan.large ? integers<double, 2>({plan.groups[0].number % 3, 4}, worker + number)
                        : zero_volume<double, 2>(worker);
    };
  };
  expect_all_laws(everyone, a, a_1, p.active(), block(0), p.active(), block(31));
  expect_adjoint_of_adjoint(a, a, block(0)(everyone.id()), block(31)(everyone.id()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_all_sum_reduce)

BOOST_AUTO_TEST_CASE(it_is_its_own_adjoint_along_any_dimensions) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const auto& r) {
    expect_self_adjoint(everyone, r, dimensions<>);
    expect_self_adjoint(everyone, r, dimensions<0>);
    expect_self_adjoint(everyone, r, dimensions<1>);
    expect_self_adjoint(everyone, r, dimensions<2, 0>);
    expect_self_adjoint(everyone, r, dimensions<0, 1, 2>);
    expect_self_adjoint(everyone, r, all_dimensions_but<1>);
    expect_self_adjoint(everyone, r, all_dimensions_but<>);
  });
}

BOOST_AUTO_TEST_CASE(it_is_a_sum_reduce_and_a_broadcast) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto root = everyone.partition<1>();
  const auto x = integers<int, 1>({9}, everyone.id());
  BOOST_TEST(same(all_sum_reduce(p, dimensions<0>)(x), broadcast(root, p)(sum_reduce(p, root)(x))));
}

BOOST_AUTO_TEST_CASE(dimension_after_dimension_is_both_at_once) {
  const world everyone(test::workers());
  const std::size_t lines = everyone.size() % 2 == 0 ? 2 : 1;
  const auto p = everyone.partition(extents(lines, everyone.size() / lines));
  const auto x = integers<int, 2>({2, 5}, everyone.id());
  BOOST_TEST(same(all_sum_reduce(p, dimensions<1>)(all_sum_reduce(p, dimensions<0>)(x)),
                  all_sum_reduce(p, dimensions<0, 1>)(x)));
}

BOOST_AUTO_TEST_CASE(it_fills_a_view_with_the_same) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const all_sum_reduce a(p, dimensions<0>);
  const auto x = integers<int, 2>({3, 4}, everyone.id());
  xt::xtensor<int, 2> big = xt::ones<int>({6, 9}) * -7;
  auto view = xt::view(big, xt::range(0, 6, 2), xt::range(1, 9, 2));
  a.into(x, view);
  BOOST_TEST(same(xt::xtensor<int, 2>(view), a(x)));
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 9; ++j)
      if (i % 2 == 1 || j % 2 == 0) BOOST_TEST(big(i, j) == -7);
}

BOOST_AUTO_TEST_SUITE_END()
