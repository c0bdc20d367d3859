// Element-wise operations on partitioned tensors: they equal the local result on every worker and send no unnecessary
// message.
#include <partita/kernel/partitioned_elementwise.hpp>

#include <boost/mpi/collectives/all_reduce.hpp>
#include <functional>
#include <sstream>
#include <vector>

#include "../support/agreement_messages.hpp"
#include "../support/message_count.hpp"
#include "mpi_test.hpp"

namespace {

using namespace partita;

/// The block of a global array that this worker holds.
template <class Placement, class T, std::size_t N>
xt::xtensor<T, N> block_of(const Placement& p, const xt::xtensor<T, N>& global) {
  xt::xtensor<T, N> block = xt::zeros<T>(p.block_shape());  // on a worker without the scalar it is 0
  if (!p.partition.active()) return block;
  const auto where =
      decomposition<N>::balanced(p.extents.array(), p.partition.extents().array()).block(p.partition.index());
  for (std::size_t k = 0; k < block.size(); ++k) {
    auto i = index_of(k, where.shape());
    for (std::size_t d = 0; d < N; ++d) i[d] += where.start[d];
    block.data()[k] = global.data()[flat_index(i, global.shape())];
  }
  return block;
}

/// An array that every worker can compute: small integers, so that sums are exact in any order.
template <std::size_t N>
xt::xtensor<double, N> whole(const std::array<std::size_t, N>& shape, int seed) {
  xt::xtensor<double, N> x(shape);
  int k = seed;
  for (auto& value : x) value = (k = (k * 31 + 11) % 41) - 20;
  return x;
}

template <class X, class Y>
double dot(const X& x, const Y& y) {
  BOOST_TEST(x.size() == y.size());
  double sum = 0;
  for (std::size_t k = 0; k < x.size() && k < y.size(); ++k) sum += x.data()[k] * y.data()[k];
  return sum;
}
double over_workers(double mine) { return boost::mpi::all_reduce(test::workers(), mine, std::plus<double>()); }

/// Checks <B x, dz> == <x, B* dz>, summed over all workers.
template <class B, class From, class To, std::size_t N, std::size_t R>
void check_adjoint(const B& b, const From& from, const To& to, const xt::xtensor<double, N>& x,
                   const xt::xtensor<double, R>& dz) {
  const auto x_here = block_of(from, x);
  const auto dz_here = block_of(to, dz);
  const double forward = over_workers(dot(b(x_here), dz_here));
  const double back = over_workers(dot(x_here, b.adjoint(dz_here)));
  BOOST_TEST(forward == back);
}

const auto minus = [](double a, double b) { return 10 * a - b; };

/// Checks that the operation on blocks gives the blocks of the operation on whole arrays, and that both broadcasts obey
/// the adjoint law.
template <class Operation, class Lhs, class Rhs, class Dims>
void check(const Operation& op, const Lhs& lhs, const Rhs& rhs, const Dims& dims) {
  const auto x = whole(lhs.extents.array(), 3);
  const auto y = whole(rhs.extents.array(), 7);
  constexpr std::size_t rank = Lhs::rank() > Rhs::rank() ? Lhs::rank() : Rhs::rank();
  const xt::xtensor<double, rank> z = elementwise(minus, x, y, dims);
  const auto here = op(block_of(lhs, x), block_of(rhs, y));
  BOOST_TEST((here == block_of(op.result(), z)));
  BOOST_TEST((here.shape() == op.result().block_shape()));
  // blocks may be lazy expressions
  BOOST_TEST((op(block_of(lhs, x) + 0.0, 1.0 * block_of(rhs, y)) == here));
  const auto dz = whole(op.result().extents.array(), 5);
  check_adjoint(op.lhs(), lhs, op.result(), x, dz);
  check_adjoint(op.rhs(), rhs, op.result(), y, dz);
}

std::size_t n_workers() { return static_cast<std::size_t>(test::number_of_workers()); }
world everyone() { return world(test::workers()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(partitioned_elementwise_operations)

/// Checks an operation whose shapes and dimensions are known only at run time, over every partition along one dimension
/// of the larger operand. The smaller operand is on one worker, or partitioned along its own first dimension.
template <std::size_t L, std::size_t R>
void check_example(const std::array<std::size_t, L>& lhs, const std::array<std::size_t, R>& rhs,
                   const broadcast_dimensions_list& dims) {
  const auto all = everyone();
  const auto cut_along = [&]<std::size_t Rank>(const std::array<std::size_t, Rank>& shape, std::size_t d) {
    std::array<std::size_t, Rank> parts{};
    for (std::size_t k = 0; k < Rank; ++k) parts[k] = k == d ? n_workers() : 1;
    return on(all.partition(dynamic_extents<Rank>(parts)), dynamic_extents<Rank>(shape));
  };
  const auto whole_on_the_last = [&]<std::size_t Rank>(const std::array<std::size_t, Rank>& shape) {
    std::array<std::size_t, Rank> one{};
    for (std::size_t& parts : one) parts = 1;
    return on(all.partition(dynamic_extents<Rank>(one), workers(n_workers() - 1, n_workers())),
              dynamic_extents<Rank>(shape));
  };
  const auto p_z = [&](std::size_t d) {
    std::array<std::size_t, (L > R ? L : R)> parts{};
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k] = k == d ? n_workers() : 1;
    return all.partition(dynamic_extents<(L > R ? L : R)>(parts));
  };
  for (std::size_t d = 0; d < (L > R ? L : R); ++d) {
    const auto x = L >= R ? cut_along(lhs, d) : whole_on_the_last(lhs);
    const auto y = L >= R ? whole_on_the_last(rhs) : cut_along(rhs, d);
    check(partitioned_elementwise(minus, x, y, dims, p_z(d)), x, y, dims);
    const auto u = cut_along(lhs, 0);
    const auto v = cut_along(rhs, 0);
    check(partitioned_elementwise(minus, u, v, dims, p_z(d)), u, v, dims);
  }
}

BOOST_AUTO_TEST_CASE(examples_of_the_reference_equal_the_local_result_on_any_number_of_workers) {
  using cuboid = std::array<std::size_t, 4>;
  using cube = std::array<std::size_t, 3>;
  using matrix = std::array<std::size_t, 2>;
  using vector = std::array<std::size_t, 1>;
  check_example(matrix{2, 3}, vector{3}, {1});
  check_example(matrix{3, 3}, vector{3}, {0});
  check_example(matrix{3, 3}, vector{3}, {1});
  check_example(cube{2, 3, 4}, matrix{3, 4}, {1, 2});
  const cuboid m{2, 3, 4, 5};
  for (std::ptrdiff_t d = 0; d < 4; ++d) check_example(m, vector{m[static_cast<std::size_t>(d)]}, {d});
  for (std::ptrdiff_t d = 0; d < 4; ++d)
    for (std::ptrdiff_t e = d + 1; e < 4; ++e)
      check_example(m, matrix{m[static_cast<std::size_t>(d)], m[static_cast<std::size_t>(e)]}, {d, e});
  check_example(matrix{2, 1}, matrix{2, 3}, broadcast_dimensions_list{});
  check_example(cube{1, 2, 5}, cube{7, 2, 5}, broadcast_dimensions_list{});
  check_example(cube{7, 2, 5}, cube{7, 1, 5}, broadcast_dimensions_list{});
  check_example(matrix{2, 1}, matrix{1, 3}, broadcast_dimensions_list{});
  check_example(vector{4}, matrix{1, 2}, {0});
  check_example(matrix{1, 2}, cube{4, 3, 1}, {1, 2});
}

BOOST_AUTO_TEST_CASE(a_row_that_is_cut_as_the_columns_are_stays_where_it_is) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(1, n_workers())), extents<5, 7>{});
  const auto row = on(all.partition(extents(n_workers())), extents<7>{});
  const partitioned_elementwise op(minus, m, row, broadcast_dimensions<1>);
  BOOST_TEST(op.lhs().plan().stays());
  BOOST_TEST(op.rhs().plan().stays());
  check(op, m, row, broadcast_dimensions<1>);
}

BOOST_AUTO_TEST_CASE(a_row_on_one_worker_is_broadcast_to_all) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(n_workers(), 1)), extents<5, 7>{});
  const auto row = on(all.partition(extents(1), workers(n_workers() - 1, n_workers())), extents<7>{});
  const partitioned_elementwise op(minus, row, m, broadcast_dimensions<1>);
  BOOST_TEST(op.rhs().plan().stays());
  BOOST_TEST(!op.lhs().plan().repartitions);
  BOOST_TEST(op.lhs().plan().broadcasts == (n_workers() > 1));
  check(op, row, m, broadcast_dimensions<1>);
}

BOOST_AUTO_TEST_CASE(a_row_that_is_cut_in_another_way_is_repartitioned) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(n_workers(), 1)), extents<5, 7>{});
  const auto row = on(all.partition(extents(n_workers())), extents<7>{});
  const auto p_z = all.partition(extents(n_workers(), 1));
  const partitioned_elementwise op(minus, m, row, broadcast_dimensions<1>, p_z);
  BOOST_TEST(op.lhs().plan().stays());
  BOOST_TEST(op.rhs().plan().repartitions == (n_workers() > 1));
  check(op, m, row, broadcast_dimensions<1>);
}

BOOST_AUTO_TEST_CASE(both_operands_of_an_outer_operation_go_to_the_result, *test::at_least(4)) {
  const auto all = everyone();
  const auto column = on(all.partition<2, 1>(), extents<4, 1>{});
  const auto row = on(all.partition<1, 2>(workers{3, 1}), extents<1, 3>{});
  BOOST_CHECK_THROW(partitioned_elementwise(minus, column, row), partition_error);
  const partitioned_elementwise op(minus, column, row, broadcast_dimensions<>, all.partition<2, 2>());
  BOOST_TEST(op.lhs().plan().broadcasts);
  BOOST_TEST(op.rhs().plan().broadcasts);
  check(op, column, row, broadcast_dimensions<>);
}

BOOST_AUTO_TEST_CASE(operands_of_the_composition_example_come_together, *test::at_least(2)) {
  const auto all = everyone();
  const auto x = on(all.partition<1, 2>(), extents<1, 2>{});
  const auto y = on(all.partition<2, 1, 1>(), extents<4, 3, 1>{});
  const partitioned_elementwise op(minus, x, y, broadcast_dimensions<1, 2>, all.partition<2, 1, 1>());
  check(op, x, y, broadcast_dimensions<1, 2>);
  const partitioned_elementwise turned(minus, x, y, broadcast_dimensions_list{1, 2}, all.partition<1, 1, 2>());
  check(turned, x, y, broadcast_dimensions<1, 2>);
}

BOOST_AUTO_TEST_CASE(blocks_of_extent_one_are_not_extents_of_one, *test::at_least(4)) {
  const auto all = everyone();
  const auto cut = on(all.partition<4, 1>(), extents<4, 3>{});
  const auto uncut = on(all.partition<1, 1>(), extents<4, 3>{});
  const partitioned_elementwise op(minus, cut, uncut);
  BOOST_TEST(op.rhs().plan().repartitions);
  check(op, cut, uncut, broadcast_dimensions<>);
  const auto four = on(all.partition<4>(), extents(4));
  const auto eight = on(all.partition<2>(), extents(8));
  BOOST_CHECK_THROW(partitioned_elementwise(minus, four, eight), shape_error);
}

BOOST_AUTO_TEST_CASE(tensors_smaller_than_their_partitions_have_empty_blocks) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(n_workers(), 1)), extents<2, 3>{});
  const auto one = on(all.partition(extents(n_workers(), 1)), extents<1, 3>{});
  const auto nothing = on(all.partition(extents(n_workers(), 1)), extents<0, 3>{});
  check(partitioned_elementwise(minus, m, one), m, one, broadcast_dimensions<>);
  check(partitioned_elementwise(minus, one, one), one, one, broadcast_dimensions<>);
  check(partitioned_elementwise(minus, one, nothing), one, nothing, broadcast_dimensions<>);
}

BOOST_AUTO_TEST_CASE(scalars_go_everywhere_and_their_adjoint_is_the_whole_sum) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(1, n_workers())), extents<3, 8>{});
  const auto s = on(all.partition(extents<>{}, workers(0, 1)), extents<>{});
  check(partitioned_elementwise(minus, s, m), s, m, broadcast_dimensions<>);
}

BOOST_AUTO_TEST_CASE(channel_biases_reach_images_cut_in_batch_and_rows, *test::at_least(4)) {
  const auto all = everyone();
  const auto images = on(all.partition<2, 1, 2, 1>(), extents<5, 3, 7, 4>{});
  const auto bias = on(all.partition<3>(), extents<3>{});
  const partitioned_elementwise op(function::add{}, images, bias, broadcast_dimensions<1>, all.partition<2, 1, 2, 1>());
  BOOST_TEST(op.rhs().plan().repartitions);
  BOOST_TEST(op.rhs().plan().broadcasts);
  const auto x = whole(images.extents.array(), 3);
  const auto b = whole(bias.extents.array(), 7);
  const xt::xtensor<double, 4> z = add(x, b, broadcast_dimensions<1>);
  BOOST_TEST((op(block_of(images, x), block_of(bias, b)) == block_of(op.result(), z)));
}

BOOST_AUTO_TEST_CASE(no_message_is_sent_for_operands_that_are_where_they_are_needed) {
  const world all(test::workers(), checks::local);
  const auto m = on(all.partition(extents(1, n_workers())), extents<5, 12>{});
  const auto row = on(all.partition(extents(n_workers())), extents<12>{});
  const partitioned_elementwise op(minus, m, row, broadcast_dimensions<1>);
  const auto x = block_of(m, whole(m.extents.array(), 3));
  const auto y = block_of(row, whole(row.extents.array(), 7));
  const std::size_t before = test::messages();
  const auto z = op(x, y);
  const auto dy = op.rhs().adjoint(z);
  BOOST_TEST(test::messages() == before);
  BOOST_TEST(dy.size() == y.size());
}

BOOST_AUTO_TEST_CASE(only_what_moves_costs_messages) {
  const world all(test::workers(), checks::local);
  const auto m = on(all.partition(extents(n_workers(), 1)), extents<12, 5>{});
  const auto row = on(all.partition<1>(), extents<5>{});
  const partitioned_elementwise op(minus, m, row, broadcast_dimensions<1>);
  const auto x = block_of(m, whole(m.extents.array(), 3));
  const auto y = block_of(row, whole(row.extents.array(), 7));
  (void)op(x, y);  // the first call also sends the block shapes
  const std::size_t before = test::messages();
  (void)op(x, y);
  const double sent = over_workers(static_cast<double>(test::messages() - before));
  // workers that only receive a block agree with the others first, at every level of checks
  const double agreement = over_workers(static_cast<double>(test::messages_of_an_agreement(all)));
  BOOST_TEST(sent == static_cast<double>(test::workers_told_by_message(all) - 1) + agreement);
}

BOOST_AUTO_TEST_CASE(a_wrong_block_on_one_worker_is_an_error_on_all) {
  const auto all = everyone();
  const auto m = on(all.partition(extents(n_workers(), 1)), extents<12, 5>{});
  const auto row = on(all.partition<1>(), extents<5>{});
  const partitioned_elementwise op(minus, m, row, broadcast_dimensions<1>);
  const auto x = block_of(m, whole(m.extents.array(), 3));
  const auto y = block_of(row, whole(row.extents.array(), 7));
  xt::xtensor<double, 2> wrong = xt::zeros<double>({13, 5});  // more rows than any block has
  const bool here = all.id() + 1 == n_workers();
  BOOST_CHECK_EXCEPTION(op(here ? wrong : x, y), shape_error, [](const shape_error& e) {
    return e.sentence().contains("requires as x the block of the balanced cut");
  });
  const auto z = op(x, y);  // the next call works
  BOOST_CHECK_THROW(op.rhs().adjoint(here ? wrong : z), shape_error);
}

BOOST_AUTO_TEST_CASE(plans_are_printed) {
  const auto all = everyone();
  const auto m = on(all.partition<1, 1>(), extents<5, 7>{});
  const auto row = on(all.partition<1>(), extents<7>{});
  std::ostringstream out;
  out << partitioned_elementwise(minus, m, row, broadcast_dimensions<1>).plan();
  BOOST_TEST(
      out.str() ==
      "lhs: extents [5, 7] over [1, 1]: stays\nrhs: extents [7] over [1]: stays\nresult: extents [5, 7] over [1, 1]\n");
}

BOOST_AUTO_TEST_CASE(of_equally_fine_partitions_the_result_has_that_of_lhs, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = on(everyone.partition<2>(workers{0, 1}), extents(6)),
             q = on(everyone.partition<2>(workers{1, 0}), extents(6));
  BOOST_TEST((partitioned_elementwise(minus, p, q).result().partition.workers() == p.partition.workers()));
  BOOST_TEST((partitioned_elementwise(minus, q, p).result().partition.workers() == q.partition.workers()));
}

BOOST_AUTO_TEST_SUITE_END()
