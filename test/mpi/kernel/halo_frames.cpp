// Halo frames: blocks with ghosts that are made without an input block, stars without corners, a constant for each
// side, and ghosts around empty blocks.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <array>
#include <partita/comm/balanced_extents.hpp>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/halo_exchanges.hpp>
#include <string>

using namespace partita;
using test::refused;

namespace {

double at_cell(std::size_t i, std::size_t j) { return static_cast<double>(100 * i + j); }

/// Sets the own cells of a block with ghosts.
template <class U>
void set_own_cells(const halo_cells<2>& cells, U& u) {
  const auto set = [&](const partita::index<2>& i) { u[cells.at(i[0], i[1])] = at_cell(i[0], i[1]); };
  for_interior(cells, set);
  for_border(cells, set);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frames_of_halos)

BOOST_AUTO_TEST_CASE(a_frame_is_filled_and_refreshed_without_a_first_call) {
  for (const halo_algorithm way : {halo_algorithm::one_round, halo_algorithm::by_dimension}) {
    const world everyone(test::workers());
    const auto p = everyone.partition(balanced_extents<2>(everyone.size()));
    const halo_exchange h(p, {.before = {1, 2}, .after = {1, 0}}, {{boundary::periodic, boundary::constant}, 7.0}, way);
    for (const std::size_t rows : {std::size_t{12}, std::size_t{13}}) {
      auto u = h.frame<double>(extents(rows, std::size_t{9}));
      set_own_cells(h.cells(), u);
      h.refresh(u);
      const auto wanted = h(block_from(p, extents(rows, std::size_t{9}), at_cell));
      BOOST_TEST((u == wanted));
    }
    BOOST_TEST(h.plans_made() == 2U);  // a call uses the plan that a frame has made
    const auto uneven = p.grid().shape()[0] == 1 ? cut::at({5}) : cut::balanced(5, p.grid().shape()[0]);
    const decomposition<2> cuts(uneven, cut::balanced(4, p.grid().shape()[1]));
    auto v = h.frame<float>(cuts);
    BOOST_TEST(xt::sum(v)() == 0.0F);
    BOOST_TEST(v.size() >= volume_of(cuts.shape(p.index())));
  }
}

BOOST_AUTO_TEST_CASE(a_second_frame_of_the_same_cuts_uses_the_plan_of_the_first) {
  const world everyone(test::workers());
  const halo_exchange h(everyone.partition(extents(everyone.size())), {{1}, {1}}, boundary::periodic);
  for (int k = 0; k < 3; ++k) BOOST_TEST(h.frame<double>(extents(3 * everyone.size())).size() == 5U);
  BOOST_TEST(h.plans_made() == 1U);
}

BOOST_AUTO_TEST_CASE(frames_of_several_fields_are_refreshed_together) {
  const world everyone(test::workers());
  const auto p = everyone.partition(balanced_extents<2>(everyone.size()));
  const halo_exchange narrow(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
  const halo_exchange wide(p, {.before = {2, 0}, .after = {0, 2}}, boundary::replicate);
  const halo_exchanges both(narrow, wide);
  const extents global(std::size_t{11}, std::size_t{8});
  auto [u, v] = both.frames<double>(global, global);
  const auto a = narrow.frame<double>(global), b = wide.frame<double>(global);
  BOOST_TEST((u == a && v == b));
  const auto wanted_u = narrow(block_from(p, global, at_cell)), wanted_v = wide(block_from(p, global, at_cell));
  set_own_cells(narrow.cells(), u);
  set_own_cells(wide.cells(), v);
  both.refresh(u, v);
  BOOST_TEST((u == wanted_u && v == wanted_v));
  // fields of different tensors, and an error of the first of them alone
  const auto parts = balanced_extents<2>(everyone.size());
  const decomposition<2> other(cut::balanced(7, parts[0]), cut::balanced(10, parts[1])),
      wrong(cut::balanced(7, parts[0] + 1), cut::balanced(10, parts[1]));
  const auto [s, t] =
      both.frames<double>(decomposition<2>(cut::balanced(11, parts[0]), cut::balanced(8, parts[1])), other);
  BOOST_TEST((s == narrow.frame<double>(global) && t == wide.frame<double>(other)));
  BOOST_TEST(refused<shape_error>([&] { (void)both.frames<double>(wrong, other); }).find("one part for each worker") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(workers_outside_the_partition_get_an_empty_frame, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>(workers{everyone.size() - 1});
  const halo_exchange h(p, {{1}, {2}}, boundary::periodic);
  auto u = h.frame<double>(extents(5));
  BOOST_TEST(u.size() == (p.active() ? 8U : 0U));
  h.refresh(u);
}

BOOST_AUTO_TEST_CASE(a_cut_that_does_not_fit_the_partition_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n));
  const halo_exchange h(p, {{1}, {1}}, boundary::periodic), mirror(p, {{9}, {0}}, boundary::reflect);
  const auto parts = refused<shape_error>([&] { (void)h.frame<double>(decomposition<1>(cut::balanced(9, n + 1))); });
  BOOST_TEST(parts.find(".frame(cuts): requires a cut with one part for each worker") != std::string::npos);
  const auto dealt = refused<shape_error>([&] { (void)h.frame<double>(decomposition<1>(cut::block_cyclic(9, n, 1))); });
  BOOST_TEST(dealt.find("got a block-cyclic one along dimension 0") != std::string::npos);
  const auto reflected = refused<shape_error>([&] { (void)mirror.frame<double>(extents(9)); });
  BOOST_TEST(reflected.find(".frame(cuts): requires reflected ghosts") != std::string::npos);
  BOOST_TEST(h.frame<double>(extents(2 * n)).size() == 4U);
}

BOOST_AUTO_TEST_CASE(widths_beyond_their_limits_are_refused_and_those_at_them_taken) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const auto one = everyone.partition<1>();
  constexpr std::size_t most = static_cast<std::size_t>(-1) / 8;
  for (const std::size_t n : {most, most + 1, static_cast<std::size_t>(-1)})
    for (const bool before : {false, true}) {
      const halo_widths<1> widths{{before ? n : 0}, {before ? 0 : n}};
      const text words = text("partita::halo_exchange(p, widths, boundary): requires widths of at most ")
                         << most << ", got " << n << " along dimension 0; a negative width is none";
      const std::string said = refused<shape_error>([&] { halo_exchange(one, widths, boundary::none); });
      BOOST_TEST(said == (n > most ? words.c_str() : ""));
    }
  const std::string wide = refused<shape_error>([&] { const halo_exchange three(p, {1, 2, 3}, boundary::none); });
  BOOST_TEST(
      wide ==
      "partita::halo_exchange(p, widths, boundary): requires two widths along one dimension, before and after the "
      "block, got 3; write {.before = 1, .after = 1}");
  for (const std::size_t width : {4U, 5U}) {
    const halo_exchange reflected(one, {.before = {width}, .after = {0}}, boundary::reflect);
    const xt::xtensor<double, 1> x = xt::ones<double>({everyone.id() == 0 ? 5U : 0U});
    const std::string said = refused<shape_error>([&] { reflected(x); });
    const std::string words =
        "partita::halo_exchange(p, widths, boundary)(x): requires reflected ghosts of a width below the extent of the "
        "tensor, got a width "
        "of 5";
    BOOST_TEST((width == 4 ? said.empty() : said.find(words) == 0), said);
  }
}

BOOST_AUTO_TEST_CASE(a_star_sends_no_corners, *test::at_least(4)) {
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 2>();
  const halo_exchange all(p, {.before = {1, 1}, .after = {1, 1}}, boundary::zero);
  const halo_exchange star(p, {.before = {1, 1}, .after = {1, 1}, .shape = halo_shape::star}, boundary::zero);
  const auto x = block_from(p, extents<6, 6>{}, [](std::size_t, std::size_t) { return 1.0; });
  const auto y = star(x);
  (void)all(x);
  if (p.active()) {
    BOOST_TEST(all.counts().messages == 3U);
    BOOST_TEST(star.counts().messages == 2U);
    BOOST_TEST(star.counts().bytes_by_message == 2 * 3 * sizeof(double));
    BOOST_TEST(xt::sum(y)() == 9 + 2 * 3);
  }
  auto u = star.frame<double>(extents<6, 6>{});
  u.fill(5);
  star.refresh(u);
  BOOST_TEST((xt::sum(u)() == (p.active() ? 5 * (9 + 2 * 3) : 0)));
  const halo_exchanges both(star, star);
  const auto [a, b] = both(x, x);
  BOOST_TEST((a == y && b == y));
  BOOST_TEST(adjoint_test(everyone, star, x, xt::xtensor<double, 2>(2.0 * y + 1.0)).exact());
}

BOOST_AUTO_TEST_CASE(every_side_may_have_a_constant_of_its_own) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const halo_exchange h(
      p, {.before = {1, 1}, .after = {1, 1}},
      {{boundary::constant, boundary::constant}, {boundary::constant, boundary::constant}, {10.0, 20.0}, {30.0, 40.0}});
  const auto y = h(block_from(p, extents(n, std::size_t{3}), [](std::size_t, std::size_t) { return 1.0; }));
  const bool first = everyone.id() == 0, last = everyone.id() == n - 1;
  BOOST_TEST(y(0, 1) == (first ? 10.0 : 1.0));
  BOOST_TEST(y(2, 1) == (last ? 30.0 : 1.0));
  BOOST_TEST(y(1, 0) == 20.0);
  BOOST_TEST(y(1, 4) == 40.0);
  BOOST_TEST(y(0, 0) == (first ? 10.0 : 20.0));  // the first dimension decides
}

BOOST_AUTO_TEST_CASE(an_empty_block_may_have_ghosts) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n));
  std::vector<std::size_t> sizes(n, 0);
  sizes[0] = 3;  // all other blocks are empty
  const halo_exchange h(p, {.before = {2}, .after = {1}, .of_empty_blocks = true}, boundary::periodic);
  auto u = h.frame<double>(decomposition<1>(cut::at(sizes)));
  BOOST_TEST(u.size() == (everyone.id() == 0 ? 6U : 3U));
  if (everyone.id() == 0) u(2) = 1, u(3) = 2, u(4) = 3;
  h.refresh(u);
  if (everyone.id() == 0) BOOST_TEST((u == xt::xtensor<double, 1>{2, 3, 1, 2, 3, 1}));
  else BOOST_TEST((u == xt::xtensor<double, 1>{2, 3, 1}));
  xt::xtensor<double, 1> x = xt::zeros<double>({sizes[everyone.id()]});
  for (std::size_t k = 0; k < x.size(); ++k) x(k) = static_cast<double>(k + 1);
  BOOST_TEST((h(x) == u));
  BOOST_TEST(adjoint_test(everyone, h, x, u).exact());
}

BOOST_AUTO_TEST_SUITE_END()
