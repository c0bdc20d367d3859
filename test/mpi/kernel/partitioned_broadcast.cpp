// A small tensor is moved and repeated over a large one that is cut: a row of one worker over the rows of a matrix.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>

namespace {

using namespace partita;

double x_at(std::size_t i, std::size_t j) { return static_cast<double>(7 * i + j); }
double y_at(std::size_t j) { return static_cast<double>(3 * j + 1); }
const auto minus = [](double a, double b) { return 10 * a - b; };
constexpr std::size_t one = 1, five = 5;

}  // namespace

BOOST_AUTO_TEST_SUITE(partitioned_broadcasts)

BOOST_AUTO_TEST_CASE(a_row_is_subtracted_from_the_rows_of_a_matrix) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const extents large(n + 1, five);
  const auto rows = everyone.partition(extents(n, one)), columns = everyone.partition(extents(one, n));
  const auto last = everyone.partition(extents(one), workers(n - 1, n)), cut = everyone.partition(extents(n));
  const auto y_of = [&](const auto& p) { return block_from<double>(p, extents(five), y_at); };
  for (const auto& p_x : {rows, columns}) {
    const auto x = on(p_x, extents(n + 1, five));
    const auto block = block_from<double>(p_x, large, x_at);
    for (const auto& p_y : {last, cut})
      for (const auto& p_z : {rows, columns}) {
        const auto op = partitioned_elementwise(minus, x, on(p_y, extents(five)), broadcast_dimensions_list{1}, p_z);
        const auto z = block_from<double>(p_z, large, [](auto i, auto j) { return minus(x_at(i, j), y_at(j)); });
        BOOST_TEST((op(block, y_of(p_y)) == z));
        BOOST_TEST((op(1.0 * block, y_of(p_y) + 0.0) == z));  // blocks may be lazy expressions
        BOOST_TEST(adjoint_test(everyone, op.lhs(), block, z).exact());
        BOOST_TEST(adjoint_test(everyone, op.rhs(), y_of(p_y), z).exact());
        // each worker repeats its part of the row, and adds up what comes back
        BOOST_TEST((op.rhs()(y_of(p_y)) == block_from<double>(p_z, large, [](auto, auto j) { return y_at(j); })));
        const auto dy = op.rhs().adjoint(block_from<double>(p_z, large, [](auto, auto j) { return y_at(j); }));
        if (p_y.active()) BOOST_TEST((dy == static_cast<double>(n + 1) * y_of(p_y)));
      }
  }
  // without a partition of the result it is that of the operand that is cut more finely
  const auto alone = partitioned_elementwise(minus, on(last, extents(five)), on(columns, extents(n + 1, five)),
                                             broadcast_dimensions_list{1});
  BOOST_TEST((alone.result().partition == columns));
  BOOST_TEST((alone(y_of(last), block_from<double>(columns, large, x_at)) ==
              block_from<double>(columns, large, [](auto i, auto j) { return minus(y_at(j), x_at(i, j)); })));
}

BOOST_AUTO_TEST_CASE(blocks_of_other_shapes_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto rows = everyone.partition(extents(n, one));
  const auto all = everyone.partition(extents(one));
  const auto op = partitioned_elementwise(minus, on(rows, extents(2 * n, five)), on(all, extents(five)),
                                          broadcast_dimensions_list{1});
  const xt::xtensor<double, 2> x = xt::ones<double>({2, 5}), wrong = xt::ones<double>({3, 5});
  const xt::xtensor<double, 1> y = block_from<double>(all, extents(five), y_at);
  const bool odd = everyone.id() + 1 == n;
  BOOST_TEST(!test::refused<shape_error>([&] { op(odd ? wrong : x, y); }).empty());
  BOOST_TEST(!test::refused<shape_error>([&] { op.lhs().adjoint(odd ? wrong : x); }).empty());
  BOOST_TEST(op(x, y).size() == 10U);  // what follows works
}

BOOST_AUTO_TEST_SUITE_END()
