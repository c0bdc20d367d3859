// Blocks made from a function of the global index are the parts of one tensor, for every distribution.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/repartition.hpp>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

double at(std::size_t i, std::size_t j) { return static_cast<double>(100 * i + j); }

/// The 10 x 7 matrix, element by element.
matrix whole() {
  matrix a({10, 7});
  for (std::size_t i = 0; i < 10; ++i)
    for (std::size_t j = 0; j < 7; ++j) a(i, j) = at(i, j);
  return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_block_from_a_function_of_the_global_index)

BOOST_AUTO_TEST_CASE(is_the_part_of_the_balanced_cut) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  for (const auto& shape : {std::array<std::size_t, 2>{n, 1}, {1, n}, {n % 2 == 0 ? n / 2 : 1, n % 2 == 0 ? 2 : n}}) {
    const auto p = everyone.partition(extents(shape[0], shape[1]));
    const matrix block = block_from(p, extents<10, 7>{}, at);
    const interval rows = balanced_part(10, shape[0], p.index()[0]), columns = balanced_part(7, shape[1], p.index()[1]);
    BOOST_TEST((block == xt::view(whole(), xt::range(rows.start, rows.stop), xt::range(columns.start, columns.stop))));
  }
}

BOOST_AUTO_TEST_CASE(takes_extents_in_braces_and_in_arrays) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  const int n = 10;
  const unsigned m = 7;
  const auto block = block_from(p, extents(n, m), at);
  BOOST_TEST((block_from(p, {n, m}, at) == block));
  BOOST_TEST((block_from(p, std::array{10, 7}, at) == block));
  BOOST_TEST((block_from<float>(p, {10, 7}, at) == xt::cast<float>(block)));
  BOOST_TEST(test::refused<shape_error>([&] {
               block_from(p, {n - 11, 7}, at);
             }) == "partita: requires extents that are not negative, got -1; extents are counts");
}

BOOST_AUTO_TEST_CASE(is_the_part_of_any_cut) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n, 1)), root = everyone.partition(extents(1, 1));
  std::vector<std::size_t> sizes(n, 0);
  sizes.back() = 10;  // the other blocks are empty
  for (const auto& cuts :
       {decomposition<2>{{cut::at(sizes), cut::balanced(7, 1)}},
        decomposition<2>::block_cyclic({10, 7}, {n, 1}, {2, 3}), decomposition<2>::balanced({10, 7}, {n, 1})}) {
    const auto block = block_from(p, cuts, at);
    BOOST_TEST((block.shape() == cuts.shape(p.index())));
    repartition gather(p, root, source_cuts(cuts));  // puts each element at its global index
    const matrix all = gather(block);
    if (root.active()) BOOST_TEST((all == whole()));
  }
}

BOOST_AUTO_TEST_CASE(is_of_zero_volume_where_a_worker_is_not_active) {
  const world everyone(test::workers());
  const auto root = everyone.partition<1, 1, 1>();
  const auto block =
      block_from(root, extents(5, 2, 3), [](const partita::index<3>& i) { return static_cast<int>(i[0]); });
  static_assert(std::is_same_v<decltype(block), const xt::xtensor<int, 3>>);
  if (root.active()) BOOST_TEST(block(4, 1, 2) == 4);
  else BOOST_TEST((block.shape() == std::array<std::size_t, 3>{5, 0, 0}));
  const auto turned = block_from<std::complex<float>>(root.reshape<1>(), extents<3>{},
                                                      [](auto i) { return static_cast<double>(i) + 0.5; });
  static_assert(std::is_same_v<decltype(turned), const xt::xtensor<std::complex<float>, 1>>);
  if (root.active()) BOOST_TEST((turned(2) == std::complex<float>(2.5F, 0)));
  else BOOST_TEST(turned.size() == 0U);
  const auto scalar = block_from(everyone.partition(extents<>{}), extents<>{}, [] { return 7.0; });
  BOOST_TEST(scalar() == (root.active() ? 7.0 : 0.0));
}

BOOST_AUTO_TEST_CASE(needs_cuts_that_are_made_for_its_partition) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  const auto cuts = decomposition<2>::balanced({10, 7}, {everyone.size() + 1, 1});
  BOOST_TEST(test::refused<partition_error>([&] {
               block_from(p, cuts, at);
             }).find("partita::block_from(p, cuts, f): requires cuts into as many parts as p has") == 0U);
}

BOOST_AUTO_TEST_CASE(may_also_be_what_is_there_where_the_worker_is_active) {
  const world everyone(test::workers());
  const auto root = everyone.partition<1, 1>();
  const matrix a = whole();
  const auto block = block_on(root, a + 1.0);
  if (root.active()) BOOST_TEST((block == a + 1.0));
  else BOOST_TEST((block.shape() == std::array<std::size_t, 2>{10, 0}));
}

BOOST_AUTO_TEST_CASE(may_be_moved_by_cuts_under_their_former_names) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  const auto cuts = decomposition<2>::balanced({10, 7}, {everyone.size(), 1});
  const auto block = block_from<float>(p, {10, 7}, at);
  BOOST_TEST((repartition(p, p, from_cuts(cuts), to_cuts(cut::balanced(10, everyone.size()), cut::at({7})),
                          messages::packed)(block) == block));
  BOOST_TEST((united(p, p).workers() == p.workers() && united(workers(0, 1), workers(0, 2)) == workers(0, 2)));
}

BOOST_AUTO_TEST_SUITE_END()
