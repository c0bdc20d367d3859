// Promises of kernels that move boxes, beside their values: an adjoint refers to its forward call or is an error, input
// and output must not overlap, error messages show the difference, and a result can be taken once.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using test::refused;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using numbers = std::vector<std::size_t>;

bool says(const std::string& sentence, const char* part) { return sentence.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(the_face_of_exchanges)

BOOST_AUTO_TEST_CASE(an_adjoint_whose_forward_call_is_forgotten_says_so_until_there_is_another, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic>(n));
  const repartition r(p, p);
  const all_gather g(p, dimensions<0>);
  const std::size_t own = me == 0 ? n + 1 : 1;
  const vector x = xt::ones<double>({own});
  const auto y = r(x);
  const auto whole = g(x);
  BOOST_TEST(r.adjoint(y).size() == own);
  BOOST_TEST(g.adjoint(whole).size() == own);
  for (std::size_t k = 0; k < 32; ++k) {
    const vector other = xt::ones<double>({20 + k + me});
    r(other);
    g(other);
  }
  BOOST_TEST(says(refused<shape_error>([&] { r.adjoint(y); }), "has been forgotten; call the kernel on x again"));
  BOOST_TEST(says(refused<shape_error>([&] { g.adjoint(whole); }), "has been forgotten; call the kernel on x again"));
  r(x);
  g(x);
  BOOST_TEST(r.adjoint(y).size() == own);
  BOOST_TEST(g.adjoint(whole).size() == own);
  // A balanced tensor of these extents takes the place of the other one, also when both are forgotten.
  const vector balanced = xt::ones<double>({std::size_t{2}});
  r(balanced);
  g(balanced);
  for (std::size_t k = 0; k < 32; ++k) {
    const vector other = xt::ones<double>({20 + k + me});
    r(other);
    g(other);
  }
  BOOST_TEST(r.adjoint(y).size() == 2U);
  BOOST_TEST(g.adjoint(whole).size() == 2U);
  for (std::size_t k = 0; k < 32; ++k) {  // a balanced decomposition needs no memory
    const vector other = xt::ones<double>({60 + k});
    r(other);
    r.adjoint(r(vector(xt::ones<double>({std::size_t{3}}))));
  }
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_transposition_needs_no_forward_call) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<1, dynamic>(everyone.size()));
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{5, 3}, {2, 7}, {4, 4}, {1, 6}, {0, 5}}) {
    const auto number = [](std::size_t i, std::size_t j) { return static_cast<double>(10 * i + j); };
    const matrix x = block_from(p, extents(rows, columns), number);
    const matrix y = block_from(p, extents(columns, rows), [&](std::size_t j, std::size_t i) { return number(i, j); });
    const repartition transposed(p, p, permute<1, 0>);
    BOOST_TEST((transposed.adjoint(y) == x), rows << " x " << columns);
    BOOST_TEST((transposed(x) == y), rows << " x " << columns);
  }
}

BOOST_AUTO_TEST_CASE(a_view_of_the_memory_that_is_read_is_refused_and_one_beside_it_is_not) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<1, dynamic>(everyone.size()));
  const repartition r(p, p);
  const repartition turn(everyone.partition<1, 1>(), everyone.partition<1, 1>(), permute<1, 0>);
  const all_gather g(p, dimensions<0>);
  matrix z = xt::ones<double>({4, 6});
  auto left = xt::view(z, xt::all(), xt::range(0, 3)), right = xt::view(z, xt::all(), xt::range(3, 6)),
       middle = xt::view(z, xt::all(), xt::range(2, 5));
  const char* const sentence = "requires a view that shares no element with x";
  BOOST_TEST(says(refused<shape_error>([&] { r.into(z, z); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { r.adjoint_into(z, z); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { r.into(left, middle); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { g.into(z, z); }), sentence));
  matrix square = xt::ones<double>({3, 3});
  BOOST_TEST(says(refused<shape_error>([&] { turn.into(square, square); }), sentence));
  xt::view(z, xt::all(), xt::range(0, 3)) = 7.0;
  r.into(left, right);
  BOOST_TEST(z(2, 4) == 7.0);
}

BOOST_AUTO_TEST_CASE(a_result_is_given_once_and_a_kernel_that_was_moved_from_says_so) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  repartition r(p, p);
  all_gather g(p, dimensions<0>);
  const vector x = xt::ones<double>({3});
  auto later = r.start(x);
  BOOST_TEST(later.finish().size() == 3U);
  BOOST_TEST(says(refused<error>([&] { later.finish(); }), "requires a result that is still to be given"));
  const auto kept = std::move(r);
  const auto kept_too = std::move(g);
  BOOST_TEST(says(refused<error>([&] { r(x); }), "moved from"));  // NOLINT: that is the test
  BOOST_TEST(says(refused<error>([&] { g(x); }), "moved from"));  // NOLINT
  BOOST_TEST(kept(x).size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_disagreement_shows_the_elements_and_the_workers, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic>(n));
  const repartition r(p, p);
  const std::string types = refused<disagreement_error>([&] {
    if (everyone.id() == 0) r(xt::xtensor<float, 1>(xt::ones<float>({2})));
    else r(xt::xtensor<int, 1>(xt::ones<int>({2})));
  });
  BOOST_TEST(says(types, "of float"));
  BOOST_TEST(says(types, "of int"));
  const auto one = everyone.partition<1>(), other = everyone.partition<1>(workers{1});
  const repartition to_first(one, one), to_second(one, other);
  const vector x = xt::ones<double>({2});
  const std::string ids = refused<disagreement_error>([&] { everyone.id() == 0 ? to_first(x) : to_second(x); });
  BOOST_TEST(says(ids, "on worker 0"));
  BOOST_TEST(says(ids, "on worker 1"));
}

BOOST_AUTO_TEST_CASE(gathers_along_other_dimensions_on_one_worker_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<1, dynamic>(n));
  const all_gather rows(p, dimensions<0>), columns(p, dimensions<1>), both(p, dimensions<0, 1>);
  const reduce_scatter parts(p, dimensions<0>);
  const matrix x = xt::ones<double>({2, 3});
  for (std::size_t odd = 0; odd < n; ++odd) {
    const bool here = everyone.id() == odd;
    test::expect_refused<disagreement_error>([&] { here ? rows(x) : columns(x); });
    test::expect_refused<disagreement_error>([&] { here ? both(x) : columns(x); });
    test::expect_refused<disagreement_error>([&] { here ? both(x) : rows(x); });
    test::expect_refused<disagreement_error>([&] { here ? rows.adjoint(x) : rows(x); });
    test::expect_refused<disagreement_error>([&] { here ? parts(x) : rows.adjoint(x); });  // both add into parts
    BOOST_TEST((rows(x) == x && columns(x).shape(1) == 3 * n));                            // what follows works
  }
}

BOOST_AUTO_TEST_CASE(sums_into_parts_are_added_in_ascending_order_of_the_workers, *test::at_least(3)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<3>(workers{2, 0, 1});
  const reduce_scatter s(p, dimensions<0>);
  const double given[] = {1e16, 1, 1};
  const std::size_t me = everyone.id();
  const auto x = p.active() ? vector(xt::ones<double>({3}) * given[me]) : zero_volume<double, 1>();
  const auto y = s(x);
  if (p.active()) BOOST_TEST(y(0) == (1e16 + 1) + 1);
}

BOOST_AUTO_TEST_CASE(a_group_has_the_workers_whose_other_indices_are_equal, *test::at_least(4)) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  const auto p = everyone.partition<2, 2>(workers{3, 0, 2, 1});  // [[3, 0], [2, 1]]
  const numbers rows[] = {{3, 0}, {2, 1}, {2, 1}, {3, 0}}, columns[] = {{0, 1}, {0, 1}, {3, 2}, {3, 2}};
  const auto expect = [&](const numbers& got, const numbers& wanted) {
    BOOST_TEST((me < 4 ? got == wanted : got.empty()));
  };
  const std::size_t row = me % 4;
  expect(all_gather(p, dimensions<1>).members(), rows[row]);
  expect(all_gather(p, dimensions<0>).members(), columns[row]);
  expect(all_gather(p, all_dimensions_but<0>).members(), rows[row]);
  expect(all_gather(p, dimensions<0, 1>).members(), {3, 0, 2, 1});
  expect(reduce_scatter(p, dimensions<1>).members(), rows[row]);
  expect(reduce_scatter(p, all_dimensions_but<1>).members(), columns[row]);
  expect(reduce_scatter(p, dimensions<>).members(), {me});
}

BOOST_AUTO_TEST_CASE(a_wrong_plan_or_adjoint_says_what_was_cut_and_where) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic>(n));
  const auto one = everyone.partition<1>();
  const repartition dealt(p, one, result_cuts(cut::at({7})));
  const repartition from(one, p, source_cuts(cut::at({7})));
  const auto refused_by = [&](auto call, const std::string& wanted) {
    const std::string said = refused<shape_error>(call);
    BOOST_TEST(said.find(wanted) != std::string::npos, said << " instead of " << wanted);
  };
  const std::string plan =
      "partita::repartition(p_x, p_y).plan(extents): requires cuts that add up to the extents of the "
      "tensor; ";
  refused_by([&] { dealt.plan(extents(6)); },
             plan + "the result has extents [6], result_cuts(...) cuts [7]; make the cuts for [6]");
  refused_by([&] { from.plan(extents(6)); },
             plan + "x has extents [6], source_cuts(...) cuts [7]; make the cuts for [6]");
  refused_by([&] { dealt.messages_between_nodes(extents(6), 8); }, "requires cuts that add up to the extents");
  BOOST_TEST(dealt.plan(extents(7)).extents[0] == 7U);
  const node_messages none = dealt.messages_between_nodes(extents(7), 8);  // no call has been made
  BOOST_TEST(none.boxes.empty());
  BOOST_TEST(none.messages.empty());

  const repartition r(p, p);
  const vector good = xt::ones<double>({3}), bad = xt::ones<double>({5});
  if (n > 1) {
    text wanted(
        "partita::repartition(p_x, p_y).adjoint(dy): requires dy to be cut over p_y as the result of the forward "
        "call was (the balanced cut of [");
    wanted << 3 * n + 2 << "] over [" << n << "] gives worker ";
    refused_by([&] { r.adjoint(me == n - 1 ? bad : good); }, wanted.c_str());
    refused_by([&] { r.adjoint(me == n - 1 ? bad : good); }, "), got a block of [");
    text blocks("partita::reduce_scatter(p, dimensions)(x) with p = [");
    blocks << n << "]: requires the blocks that are summed to have one shape, got [3] on worker 0 and [5] on worker "
           << n - 1 << "; give every worker of a sum a block of the same shape";
    refused_by([&] { reduce_scatter(p, dimensions<0>)(me == n - 1 ? bad : good); }, blocks.c_str());
    text parts("partita::reduce_scatter(p, dimensions).adjoint(dy) with p = [");
    parts << n << "]: requires blocks cut as the result of the forward call was (the balanced cut of [" << 3 * n + 2
          << "] over [" << n << "]), got a block of [";
    refused_by([&] { reduce_scatter(p, dimensions<0>).adjoint(me == n - 1 ? bad : good); }, parts.c_str());
  }
  const repartition given(p, p, result_cuts(cut::at(numbers(n, 3))));
  text of_given("requires dy to be cut over p_y as the result of the forward call was (the given cut of [");
  of_given << 3 * n << "] over [" << n << "] gives worker " << n - 1 << " [3]), got a block of [5]";
  refused_by([&] { given.adjoint(me == n - 1 ? bad : good); }, of_given.c_str());
  const repartition of_blocks(p, one, source_cuts(cut::at(numbers(n, 3))));
  text of_source("partita::repartition(p_x, p_y, source_cuts(...))(x): requires blocks that are cut as ");
  refused_by([&] { of_blocks(me == n - 1 ? bad : good); }, of_source.c_str());
  text got("[3] of [");
  got << 3 * n << "]; got a block of [5]; give that block, or other cuts";
  refused_by([&] { of_blocks(me == n - 1 ? bad : good); }, got.c_str());
  BOOST_TEST((r(good) == good));  // what follows works
  BOOST_TEST((r.adjoint(good) == good));
}

BOOST_AUTO_TEST_CASE(a_call_is_named_with_its_partitions_and_its_block, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic>(n));
  const auto last = everyone.partition<1>(workers(n - 1, n));
  const repartition r(p, last);
  const all_gather g(p, dimensions<0>);
  const reduce_scatter s(p, dimensions<0>);
  const vector x = xt::ones<double>({2});
  const auto expect = [&](auto call, const text& wanted) {
    const std::string said = refused<disagreement_error>(call);
    BOOST_TEST(said.find(wanted.c_str()) != std::string::npos, said << " instead of " << wanted.c_str());
  };
  const auto on = [&](const char* call) {
    text all(call);
    return all << " with p = [" << n << "] on workers 0-" << n - 1 << " and a block of shape [2] of double";
  };
  expect([&] { me == 0 ? g(x) : g.adjoint(x); }, on("partita::all_gather(p, dimensions)(x)"));
  expect([&] { me == 0 ? g(x) : g.adjoint(x); }, on("partita::all_gather(p, dimensions).adjoint(dy)"));
  expect([&] { me == 0 ? s(x) : g(x); }, on("partita::reduce_scatter(p, dimensions)(x)"));
  text moved("partita::repartition(p_x, p_y)(x) with p_x = [");
  moved << n << "] on workers 0-" << n - 1 << ", p_y = [1] on worker " << n - 1
        << " and a block of shape [2] of double";
  expect([&] { me == 0 ? r(x) : g(x); }, moved);
  text back("partita::repartition(p_x, p_y).adjoint(dy) with p_x = [");
  back << n << "] on workers 0-" << n - 1 << ", p_y = [1] on worker " << n - 1;
  expect([&] { me == 0 ? r(x) : r.adjoint(x); }, back);
}

BOOST_AUTO_TEST_SUITE_END()
