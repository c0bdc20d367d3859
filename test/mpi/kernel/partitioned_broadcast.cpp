// A small tensor is moved and repeated over a large one that is cut: a row of one worker over the rows of a matrix.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>
#include <string>

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

BOOST_AUTO_TEST_CASE(blocks_may_be_views_that_begin_anywhere_in_an_array) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n, one));
  const auto last = everyone.partition(extents(one), workers(n - 1, n));
  const auto op = partitioned_elementwise(minus, on(p, extents(n + 1, five)), on(last, extents(five)),
                                          broadcast_dimensions_list{1}, p);
  const auto x = block_from<double>(p, extents(n + 1, five), x_at);
  const auto y = block_from<double>(last, extents(five), y_at);
  const auto z = block_from<double>(p, extents(n + 1, five), [](auto i, auto j) { return minus(x_at(i, j), y_at(j)); });
  const auto sums = block_from<double>(last, extents(five), [&](auto j) {
    double sum = 0;
    for (std::size_t i = 0; i <= n; ++i) sum += x_at(i, j);
    return sum;
  });
  const std::size_t rows = x.shape()[0], numbers = y.shape()[0];
  for (const std::size_t first : {0U, 1U, 3U})
    for (const std::size_t step : {1U, 2U}) {
      xt::xtensor<double, 2> around({3 + 2 * rows, 3 + 2 * five}, -1000);
      xt::xtensor<double, 1> longer({3 + 2 * numbers}, -1000);
      auto wide =
          xt::view(around, xt::range(first, first + step * rows, step), xt::range(first, first + step * five, step));
      auto line = xt::view(longer, xt::range(first, first + step * numbers, step));
      wide = x, line = y;
      BOOST_TEST((op(wide, line) == z), "from " << first << ", step " << step);
      const auto dy = op.rhs().adjoint(wide);
      BOOST_TEST((last.active() ? dy == sums : dy.size() == 0), "from " << first << ", step " << step);
    }
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

BOOST_AUTO_TEST_CASE(the_result_is_on_the_workers_of_the_finer_operand) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto at = [&](std::size_t a, std::size_t b, const workers& who) {
    return everyone.partition(extents(a, b), who);
  };
  const workers all(0, n), first(0, 1), last(n - 1, n);
  const extents size(2 * n, 2 * n);
  const auto result = [&](const auto& lhs, const auto& rhs) {
    return partitioned_elementwise(minus, lhs, rhs).result().partition;
  };
  BOOST_TEST((result(on(at(1, 1, first), size), on(at(1, 1, last), size)).workers() == first));  // equal: lhs
  BOOST_TEST((result(on(at(1, 1, last), size), on(at(1, 1, first), size)).workers() == last));
  BOOST_TEST((result(on(at(n, 1, all), size), on(at(1, 1, last), size)) == at(n, 1, all)));
  BOOST_TEST((result(on(at(1, 1, last), size), on(at(1, n, all), size)) == at(1, n, all)));
  const auto row = on(everyone.partition(extents(one), last), extents(2 * n));  // equal: the larger rank
  const auto matrix = on(at(1, 1, first), size);
  const auto both = [&](const auto& lhs, const auto& rhs) {
    return partitioned_elementwise(minus, lhs, rhs, broadcast_dimensions_list{1}).result().partition.workers();
  };
  BOOST_TEST((both(row, matrix) == first));
  BOOST_TEST((both(matrix, row) == first));
  if (n == 1) return;
  text wanted(
      "partita::partitioned_elementwise(f, lhs, rhs): requires one operand that is cut at least as fine as the ");
  wanted << "other in every dimension of the result; lhs is cut " << std::array<std::size_t, 2>{n, 1} << ", rhs "
         << std::array<std::size_t, 2>{1, n} << "; pass the partition of the result";
  test::expect_refused<partition_error>([&] { result(on(at(n, 1, all), size), on(at(1, n, all), size)); },
                                        wanted.c_str());
}

BOOST_AUTO_TEST_CASE(an_error_names_the_block_that_is_required_and_the_block_that_is_there) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents(n, one)), few = everyone.partition(extents(one, one), workers(n - 1, n));
  const partitioned_broadcast spread(on(few, extents(1, 5)), on(p, extents(3 * n, 5)), broadcast_dimensions_list{0, 1});
  const partitioned_broadcast turned(on(few, extents(1, 5)), on(p, extents(2 * n, 5)), broadcast_dimensions_list{0, 1});
  const auto block = [](std::size_t a, std::size_t b) { return xt::xtensor<double, 2>(xt::ones<double>({a, b})); };
  const bool odd = me + 1 == n;
  test::expect_refused<shape_error>(
      [&] { spread(odd ? block(1, 4) : block(3, 3)); },  // other workers may pass any block
      "partita::partitioned_broadcast(x): requires as x the block of the balanced cut of extents [1, 5] over [1, 1], "
      "here of shape [1, 5], got [1, 4]; repartition the tensor first");
  text of_result(
      "partita::partitioned_broadcast.adjoint(dy): requires as dy the block of the balanced cut of extents ");
  of_result << std::array<std::size_t, 2>{3 * n, 5} << " over " << std::array<std::size_t, 2>{n, 1}
            << ", here of shape [3, 5], got [3, 6]; repartition the tensor first";
  test::expect_refused<shape_error>([&] { spread.adjoint(odd ? block(3, 6) : block(3, 5)); }, of_result.c_str());
  const auto op = partitioned_elementwise(minus, on(few, extents(1, 5)), on(p, extents(3 * n, 5)));
  test::expect_refused<shape_error>(
      [&] { op(odd ? block(2, 5) : block(0, 0), block(3, 5)); },
      "partita::partitioned_elementwise(x, y): requires as x the block of the balanced cut of extents [1, 5]");
  test::expect_refused<shape_error>([&] { op(block(1, 5), odd ? block(2, 5) : block(3, 5)); },
                                    "requires as y the block");
  if (n > 1) {
    const auto x = block(1, 5);
    test::expect_refused<disagreement_error>([&] { odd ? spread(x) : turned(x); });
    test::expect_refused<disagreement_error>([&] { odd ? spread.adjoint(block(3, 5)) : spread(x); });
    // so are calls that move nothing
    const auto still = [&](std::size_t columns) {
      return partitioned_broadcast(on(p, extents(3 * n, one)), on(p, extents(3 * n, columns)),
                                   broadcast_dimensions_list{0, 1});
    };
    const auto to_five = still(5), to_six = still(6);
    test::expect_refused<disagreement_error>([&] { odd ? to_five(block(3, 1)) : to_six(block(3, 1)); });
    test::expect_refused<disagreement_error>([&] { odd ? to_five.adjoint(block(3, 5)) : to_five(block(3, 1)); });
    const auto but_one = everyone.partition(extents(n - 1, one), workers(0, n - 1));
    const partitioned_broadcast fewer(on(few, extents(1, 5)), on(but_one, extents(3 * n - 3, 5)),
                                      broadcast_dimensions_list{0, 1});
    test::expect_refused<shape_error>([&] { add(spread, fewer)(x); }, "whose results have one shape on each worker");
  }
  BOOST_TEST((spread(block(1, 5)) == block(3, 5)));  // what follows works
  const auto dx = spread.adjoint(block(3, 5));
  if (odd) BOOST_TEST((dx == 3.0 * static_cast<double>(n) * block(1, 5)));
  else BOOST_TEST(dx.size() == 0U);
  const world other(test::workers());
  test::expect_refused<partition_error>(
      [&] {
        partitioned_broadcast(on(few, extents(1, 5)), on(other.partition(extents(n, one)), extents(n, 5)),
                              broadcast_dimensions_list{0, 1});
      },
      "partita::partitioned_broadcast(from, to): requires partitions of one world");
}

/// Without agreements each worker finds the error in its own blocks; here all workers have one, so that none waits.
BOOST_AUTO_TEST_CASE(a_wrong_block_is_refused_without_agreements_too) {
  const world everyone(test::workers(), checks::local);
  const std::size_t n = everyone.size();
  const auto p = on(everyone.partition(extents(n, one)), extents(3 * n, 5));
  const partitioned_elementwise op(minus, p, p);
  const auto block = [](std::size_t rows) { return xt::xtensor<double, 2>(xt::ones<double>({rows, std::size_t{5}})); };
  const struct {
    std::size_t rows_of_x, rows_of_y;
    const char* sentence;
  } table[] = {{2, 3, "partita::partitioned_elementwise(x, y): requires as x the block"},
               {3, 4, "partita::partitioned_elementwise(x, y): requires as y the block"},
               {0, 2, "partita::partitioned_elementwise(x, y): requires as x the block"}};
  for (const auto& [rows_of_x, rows_of_y, sentence] : table)
    test::expect_refused<shape_error>([&, x = block(rows_of_x), y = block(rows_of_y)] { op(x, y); }, sentence);
  test::expect_refused<shape_error>([&] { op.lhs()(block(2)); },
                                    "partita::partitioned_broadcast(x): requires as x the block");
  test::expect_refused<shape_error>([&] { op.lhs().adjoint(block(4)); },
                                    "partita::partitioned_broadcast.adjoint(dy): requires as dy the block");
  BOOST_TEST((op(block(3), block(3)) == minus(1, 1) * block(3)));  // what follows works
}

BOOST_AUTO_TEST_CASE(a_placed_tensor_has_no_block_on_other_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const bool alone = n == 1;
  const auto few = everyone.partition(extents(alone ? one : 2, one), alone ? workers{0} : workers{1, 0});
  const auto t = on(few, extents(5, 3));
  const std::array<std::size_t, 2> shapes[] = {{alone ? 5U : 2U, 3}, {3, 3}, {0, 0}};  // worker 0 is at place 1
  BOOST_TEST((t.block_shape() == shapes[me < 2 ? me : 2]));
  const xt::xtensor<double, 2> wrong = xt::ones<double>({7, 7});
  BOOST_TEST(t.error_message_for(wrong, "x").empty() == !few.active());
  BOOST_TEST(t.error_message_for(xt::xtensor<double, 2>(xt::ones<double>(t.block_shape())), "x").empty());
  BOOST_TEST(t.fingerprint() == on(few, extents(5, 3)).fingerprint());
  BOOST_TEST(t.fingerprint() != on(few, extents(3, 5)).fingerprint());
  if (!alone) BOOST_TEST(t.fingerprint() != on(everyone.partition<1, 1>(), extents(5, 3)).fingerprint());
}

BOOST_AUTO_TEST_CASE(workers_without_a_block_get_an_empty_one_that_knows_its_batch) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto last = everyone.partition(extents(one, one, one), workers(n - 1, n));
  const bool there = me + 1 == n;
  using shape = std::array<std::size_t, 3>;
  const auto sum = [](auto i, auto j, auto k) { return i + j + k; };
  const auto block = block_from<int>(last, extents(4, 2, 3), sum);
  BOOST_TEST((block.shape() == (there ? shape{4, 2, 3} : shape{4, 0, 0})));
  const auto uneven = block_from<int>(last, decomposition<3>{{cut::at({7}), cut::at({2}), cut::at({3})}}, sum);
  BOOST_TEST((uneven.shape() == (there ? shape{7, 2, 3} : shape{7, 0, 0})));
  const auto of_index = block_from(last, {4, 2, 3}, [](const partita::index<3>& i) { return i[0] * 100 + i[2]; });
  if (there) BOOST_TEST((of_index(3, 1, 2) == 302U && of_index.size() == 24U));
  const auto line = everyone.partition(extents(one), workers(n - 1, n));
  BOOST_TEST(block_from<int>(line, extents(4), [](auto i) { return i; }).shape()[0] == (there ? 4U : 0U));
  const auto point = everyone.partition(extents<>(), workers(n - 1, n));
  BOOST_TEST((block_from<int>(point, extents<>(), [] { return 5; })() == (there ? 5 : 0)));
  const xt::xtensor<int, 3> given = xt::ones<int>({4, 2, 3});
  BOOST_TEST((block_on(last, given + 1).shape() == (there ? shape{4, 2, 3} : shape{4, 0, 0})));
  BOOST_TEST(block_on(line, xt::xtensor<int, 1>{1, 2, 3}).size() == (there ? 3U : 0U));
  BOOST_TEST((block_on(point, xt::xtensor<int, 0>(6))() == (there ? 6 : 0)));
  text wanted("partita::block_from(p, cuts, f): requires cuts into as many parts as p has, got cuts into ");
  wanted << "[1, 2, 1] for p = [1, 1, 1]; make the decomposition for the extents of p";
  test::expect_refused<partition_error>(
      [&] {
        block_from<int>(last, decomposition<3>::balanced({4, 2, 3}, {1, 2, 1}), sum);
      },
      wanted.c_str());
}

BOOST_AUTO_TEST_CASE(a_scalar_product_conjugates_its_first_block_and_names_both_shapes) {
  using number = std::complex<double>;
  const xt::xtensor<number, 1> a{number(1, 2), number(0, 1)}, b{number(3, 4), number(5, 0)};
  BOOST_TEST((local_dot(a, b) == number(11, -7)));
  BOOST_TEST((local_dot(b, a) == number(11, 7)));
  BOOST_TEST(local_dot(xt::xtensor<int, 2>{{1, 2}, {3, 4}}, xt::xtensor<int, 2>{{5, 6}, {7, 8}}) == 70);
  BOOST_TEST(local_dot(zero_volume<double, 2>(3), zero_volume<double, 2>(4)) == 0);
  const xt::xtensor<double, 1> two{1, 2}, three{1, 2, 3}, none;
  const std::string why = "partita::local_dot(a, b): requires blocks of one shape, got [";
  test::expect_refused<shape_error>([&] { local_dot(two, three); }, (why + "2] and [3]").c_str());
  test::expect_refused<shape_error>([&] { local_dot(two, none); }, (why + "2] and [0]").c_str());
  test::expect_refused<shape_error>([&] { local_dot(none, two); }, (why + "0] and [2]").c_str());
}

BOOST_AUTO_TEST_CASE(an_adjoint_test_adds_up_both_sides_over_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  using line = xt::xtensor<double, 1>;
  struct scaled {
    double there = 2, back = 2;
    std::size_t longer_there = 0, longer_back = 0;
    line operator()(const line& x) const {
      return there * (longer_there == 0 ? x : line(xt::ones<double>({x.size() + longer_there})));
    }
    line adjoint(const line& y) const {
      return back * (longer_back == 0 ? y : line(xt::ones<double>({y.size() + longer_back})));
    }
  };
  const line x{1, 2 + static_cast<double>(me)}, y{3, 1};
  const double all = static_cast<double>(n);  // the sum of 3 + 2 + id
  const double product = 5 * all + all * (all - 1) / 2;
  const auto wrong = adjoint_test(everyone, scaled{3, 5}, x, y);
  BOOST_TEST(wrong.forward == 3 * product);
  BOOST_TEST(wrong.backward == 5 * product);
  BOOST_TEST(!wrong.exact());
  BOOST_TEST(adjoint_test(everyone, scaled{}, x, y).exact());
  const bool odd = me + 1 == n;
  const std::string call =
      "partita::adjoint_test(everyone, f, x, y): partita::local_dot(a, b): requires blocks of one "
      "shape, got [";
  const auto refused = [&](const scaled& f, const std::string& why) {
    test::expect_refused<shape_error>([&] { adjoint_test(everyone, odd ? f : scaled{}, x, y); }, (call + why).c_str());
  };
  refused({2, 2, 1, 0}, "3] and [2]");
  refused({2, 2, 0, 2}, "2] and [4]");
  refused({2, 2, 1, 2}, "3] and [2]; partita::local_dot(a, b): requires blocks of one shape, got [2] and [4]");
  BOOST_TEST(adjoint_test(everyone, scaled{}, x, y).exact());  // what follows works
}

BOOST_AUTO_TEST_SUITE_END()
