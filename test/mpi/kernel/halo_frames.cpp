// Halo frames: blocks with ghosts that are made without an input block, stars without corners, a constant for each
// side, and ghosts around empty blocks.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <array>
#include <complex>
#include <partita/comm/balanced_extents.hpp>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/halo_exchanges.hpp>
#include <stdexcept>
#include <string>
#include <vector>

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
  for (const int width : {0, 1, 3}) {  // without names the first width is that before the block
    const auto given = static_cast<std::size_t>(width);
    BOOST_TEST((halo_exchange(p, {width, 1}, boundary::none).widths() == halo_widths<1>{{given}, {1}}));
    BOOST_TEST((halo_exchange(p, {1, width}, boundary::none).widths() == halo_widths<1>{{1}, {given}}));
  }
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

BOOST_AUTO_TEST_CASE(the_cells_of_a_halo_are_known_after_a_call_or_a_frame, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 1>();
  const halo_exchange h(p, {.before = {1, 2}, .after = {2, 0}}, {{boundary::periodic, boundary::none}});
  BOOST_TEST(refused<error>([&] { (void)h.cells(); }) ==
             "partita::halo_exchange::cells(): requires a call before, which says how the tensor is cut; call h(x) "
             "first, or make a frame");
  for (const bool by_frame : {true, false}) {
    const std::size_t rows = by_frame ? 7 : 8;
    if (by_frame) (void)h.frame<double>(extents(rows, std::size_t{3}));
    else (void)h(block_from(p, extents(rows, std::size_t{3}), at_cell));
    const halo_cells<2> cells = h.cells();
    if (everyone.id() == 0) {
      BOOST_TEST((cells.own == box<2>{{0, 0}, {4, 3}}));
      BOOST_TEST((cells.interior == box<2>{{1, 2}, {2, 3}}));
      BOOST_TEST((cells.window_start == std::array<std::ptrdiff_t, 2>{-1, 0}));  // no ghosts beyond the columns
      BOOST_TEST((cells.at(-1, 2) == partita::index<2>{0, 2}));
    } else if (everyone.id() == 1) {
      BOOST_TEST((cells.own == box<2>{{4, 0}, {rows, 3}}));
      BOOST_TEST((cells.window_start == std::array<std::ptrdiff_t, 2>{3, 0}));
      BOOST_TEST((cells.at(rows + 1, 0) == partita::index<2>{rows - 2, 0}));
    } else {
      BOOST_TEST((cells.own == box<2>() && cells.interior == box<2>()));
      BOOST_TEST((cells.window_start == std::array<std::ptrdiff_t, 2>{}));
    }
  }
  // the plan of this worker for a balanced tensor
  const auto cuts = decomposition<2>::balanced({7, 3}, {2, 1});
  const halo_boundaries<2> beyond = {boundary::periodic, boundary::none};
  const auto wanted = plan_halo(p.grid(), cuts, h.widths(), beyond, everyone.id());
  const auto plan = h.plan(extents<7, 3>{});
  BOOST_TEST((plan.sends == wanted.exchange.sends && plan.receives == wanted.exchange.receives));
  BOOST_TEST((plan.kept == wanted.exchange.kept && plan.destination_shape == wanted.exchange.destination_shape));
  BOOST_TEST(plan.elements_received() == (p.active() ? 9U : 0U));  // three rows of the neighbour
}

BOOST_AUTO_TEST_CASE(frames_of_tensors_that_are_cut_otherwise_along_the_last_dimension_have_plans_of_their_own) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<1, dynamic>(n));
  const halo_exchange h(p, {.before = {0, 1}, .after = {0, 0}}, boundary::zero);
  std::vector<std::size_t> even(n, 2), other = even;
  if (n > 1) other.front() = 1, other.back() = 3;
  for (int call = 0; call < 2; ++call)
    for (const auto& sizes : {even, other}) {
      const auto u = h.frame<double>(decomposition<2>(cut::at({3}), cut::at(sizes)));
      BOOST_TEST((u.shape() == std::array<std::size_t, 2>{3, sizes[me] + 1}));
    }
  BOOST_TEST(h.plans_made() == (n > 1 ? 2U : 1U));
}

BOOST_AUTO_TEST_CASE(corners_of_boxes_come_by_rounds_or_at_once_and_never_to_stars, *test::at_least(4)) {
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 2>();
  const auto x = block_from(p, extents<7, 6>{}, at_cell);
  const auto few = block_from(p, decomposition<2>(cut::at({3, 0}), cut::at({2, 4})), at_cell);  // two have no cells
  const auto messages = [&](const auto& h, const auto& block, const auto& wanted) {
    auto y = h(block);
    BOOST_TEST((y == wanted));
    const std::size_t sent = h.counts().messages;
    h.refresh(y);
    BOOST_TEST((y == wanted));
    return sent;
  };
  const halo_widths<2> box{{1, 1}, {1, 1}}, star{{1, 1}, {1, 1}, halo_shape::star};
  const halo_widths<2> frames{{1, 1}, {1, 1}, halo_shape::box, true};
  const halo_exchange of_boxes(p, box, boundary::none, halo_algorithm::one_round);
  const halo_exchange of_stars(p, star, boundary::none, halo_algorithm::one_round);
  const halo_exchange of_frames(p, frames, boundary::replicate, halo_algorithm::one_round);
  const auto boxes = of_boxes(x), stars = of_stars(x);
  const auto ghosted = of_frames(few);
  for (const halo_algorithm way : {halo_algorithm::one_round, halo_algorithm::by_dimension, halo_algorithm::by_cost}) {
    const std::size_t of_box = messages(halo_exchange(p, box, boundary::none, way), x, boxes);
    const std::size_t of_star = messages(halo_exchange(p, star, boundary::none, way), x, stars);
    const std::size_t of_frame = messages(halo_exchange(p, frames, boundary::replicate, way), few, ghosted);
    if (!p.active()) continue;
    BOOST_TEST(of_box == (way == halo_algorithm::by_dimension ? 2U : 3U));  // here two rounds cost more than a corner
    BOOST_TEST(of_star == 2U);
    BOOST_TEST(of_frame == of_frames.counts().messages);
  }
}

BOOST_AUTO_TEST_CASE(halos_with_other_arguments_on_one_worker_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const bool odd = everyone.id() + 1 == n;
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const xt::xtensor<double, 2> x = xt::ones<double>({3, 2});
  const auto differ = [&](const char* what, const auto& one, const auto& other) {
    const std::string said = refused<disagreement_error>([&] { (void)(odd ? other(x) : one(x)); });
    BOOST_TEST(said.find("workers make different calls") != std::string::npos, what << ": " << said);
  };
  const halo_widths<2> widths{{1, 1}, {1, 1}};
  const boundary periodic = boundary::periodic, constant = boundary::constant;
  const auto made = [&](const halo_widths<2>& w, const halo_boundaries<2>& b,
                        halo_algorithm way = halo_algorithm::one_round) { return halo_exchange(p, w, b, way); };
  const auto usual = made(widths, periodic);
  differ("before", usual, made({{1, 2}, {1, 1}}, periodic));
  differ("after", usual, made({{1, 1}, {1, 2}}, periodic));
  differ("before and after", made({{2, 1}, {1, 1}}, periodic), made({{1, 1}, {2, 1}}, periodic));
  differ("boundary before", usual, made(widths, {{periodic, boundary::zero}, {periodic, periodic}}));
  differ("boundary after", usual, made(widths, {{periodic, periodic}, {periodic, boundary::zero}}));
  differ("constant", made(widths, {constant, 1.0}), made(widths, {constant, 2.0}));
  using boundaries = std::array<boundary, 2>;
  using numbers = std::array<double, 2>;
  const boundaries both{constant, constant};
  differ("constant before", made(widths, {both, both, numbers{1, 2}, numbers{3, 4}}),
         made(widths, {both, both, numbers{1, 9}, numbers{3, 4}}));
  differ("constant after", made(widths, {both, both, numbers{1, 2}, numbers{3, 4}}),
         made(widths, {both, both, numbers{1, 2}, numbers{3, 9}}));
  differ("star", usual, made({{1, 1}, {1, 1}, halo_shape::star}, periodic));
  differ("of_empty_blocks", usual, made({{1, 1}, {1, 1}, halo_shape::box, true}, periodic));
  differ("rounds", usual, made(widths, periodic, halo_algorithm::by_dimension));
  const auto line = everyone.partition(extents(n));
  const halo_exchange h(line, {{1}, {1}}, boundary::periodic);
  std::vector<std::size_t> one(n, 2), other(n, 2);
  other.front() = 1, other.back() = 3;
  test::expect_refused<disagreement_error>([&] { (void)h.frame<double>(extents(odd ? 4 * n + 1 : 4 * n)); });
  test::expect_refused<disagreement_error>(
      [&] { (void)h.frame<double>(decomposition<1>(cut::at(odd ? other : one))); });
  test::expect_refused<disagreement_error>([&] {
    if (odd) (void)h.frame<float>(extents(4 * n));
    else (void)h.frame<double>(extents(4 * n));
  });
  test::expect_refused<disagreement_error>([&] {
    auto u = h.frame<double>(extents(4 * n));
    if (odd) h.refresh(u);
    else (void)h.frame<double>(extents(4 * n));
  });
  BOOST_TEST(h.frame<double>(extents(4 * n)).size() == 6U);
}

BOOST_AUTO_TEST_CASE(an_adjoint_and_a_refresh_without_a_call_before_say_which_one_is_missing) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const halo_exchange h(p, {{1}, {2}}, boundary::periodic);
  const halo_exchanges all(h, h);
  xt::xtensor<double, 1> u = xt::zeros<double>({5}), v = u;
  const auto said = [&](auto call) { return refused<shape_error>(call); };
  const std::string needs =
      ": requires blocks with ghosts of the shapes that a forward call gave before, or a frame; this worker's has the "
      "shape [5]; call ";
  BOOST_TEST(said([&] { h.adjoint(u); }) ==
             "partita::halo_exchange(p, widths, boundary).adjoint(dy)" + needs + "the kernel on x first");
  BOOST_TEST(said([&] { h.refresh(u); }) ==
             "partita::halo_exchange(p, widths, boundary).refresh(ghosted)" + needs + "the kernel on x first");
  BOOST_TEST(said([&] { all.adjoint(u, v); }) ==
             "partita::halo_exchanges(h...).adjoint(dy...)" + needs + "all(x...) first");
  BOOST_TEST(said([&] { all.refresh(u, v); }) ==
             "partita::halo_exchanges(h...).refresh(ghosted...)" + needs + "all(x...) first");
  (void)h.frame<double>(extents(2 * everyone.size()));
  h.refresh(u);
  BOOST_TEST(h.adjoint(u).size() == 2U);
  BOOST_TEST(said([&] {
               halo_exchange(p, {{1}, {1}}, {{boundary::zero}, {boundary::function}});
             }) ==
             "partita::halo_exchange(p, widths, boundary::function): requires a function of the global index; give it "
             "as the fourth argument: halo_exchange(p, widths, boundary, f)");
}

BOOST_AUTO_TEST_CASE(several_fields_have_the_sums_and_the_ghosts_of_each_of_them) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents(n));
  const halo_exchange first(p, {{1}, {2}}, boundary::periodic), second(p, {{2}, {0}}, boundary::replicate);
  const halo_exchanges both(first, second);
  const auto block = [&](std::size_t size, double from) {
    return xt::xtensor<double, 1>(from + 100.0 * static_cast<double>(me) + xt::arange<double>(double(size)));
  };
  std::size_t plans = 0;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t size : {2U, 3U}) {  // the shape of the second field alone changes
      const auto x = block(2, 1), y = block(size, 7);
      const auto u = first(x), v = second(y);
      const auto [a, b] = both(x, y);
      BOOST_TEST((a == u && b == v));
      const auto [dx, dy] = both.adjoint(u, v);
      BOOST_TEST((dx == first.adjoint(u) && dy == second.adjoint(v)));
      xt::xtensor<double, 1> c = u, d = v;
      c(0) = -1, d(0) = -1, c(c.size() - 1) = -1;
      both.refresh(c, d);
      BOOST_TEST((c == u && d == v));
    }
    if (round == 0) plans = both.counts().plans_made;
  }
  BOOST_TEST(plans == 2U);
  BOOST_TEST(both.counts().plans_made == 2U);
  // an error of the second field alone
  const decomposition<1> right(cut::balanced(2 * n, n)), wrong(cut::balanced(2 * n, n + 1));
  const std::string said = refused<shape_error>([&] { (void)both.frames<double>(right, wrong); });
  BOOST_TEST(said.find("requires a cut with one part for each worker along every dimension, got") != std::string::npos);
  const world other(test::workers());
  const halo_exchange elsewhere(other.partition(extents(n)), {{1}, {1}}, boundary::periodic);
  BOOST_TEST(refused<partition_error>([&] { halo_exchanges(first, elsewhere); }) ==
             "partita::halo_exchanges(h...): requires halo exchanges on partitions of one world");
  if (n < 2) return;
  const halo_exchanges three(first, second, first);
  const auto x = block(2, 1);
  const std::string differs = refused<disagreement_error>([&] {
    if (me + 1 == n) three(x, x, x);
    else both(x, x);
  });
  BOOST_TEST(differs.find("partita::halo_exchanges(h...)(x...) with 2 fields of double") != std::string::npos, differs);
  BOOST_TEST(differs.find("partita::halo_exchanges(h...)(x...) with 3 fields of double") != std::string::npos, differs);
  test::expect_refused<disagreement_error>([&] {
    const halo_exchanges swapped(second, first);
    if (me + 1 == n) swapped(x, x);
    else both(x, x);
  });
  // one field alone is exchanged otherwise on the last worker
  const halo_exchange other_exchange(p, {{2}, {1}}, boundary::replicate);
  const halo_exchanges fresh(first, second);  // a kernel that was called differs from new ones anyway
  const halo_exchanges other_first(other_exchange, second), other_second(first, other_exchange);
  for (const auto* const other : {&other_first, &other_second}) {
    test::expect_refused<disagreement_error>([&] { (me + 1 == n ? *other : fresh)(x, x); });
    test::expect_refused<disagreement_error>(
        [&] { (void)(me + 1 == n ? *other : fresh).frames<double>(right, right); });
  }
}

/// The ghosts of a worker whose boundary function throws arrive before the exception leaves the call: memory that was
/// freed is not written later.
BOOST_AUTO_TEST_CASE(an_exception_of_a_boundary_function_leaves_no_exchange_behind, *test::at_least(2)) {
  for (const char* const way : {"0", "1"}) {
    const test::pretended shared("PARTITA_SHARED", way);
    const world everyone(test::workers());
    const std::size_t n = everyone.size(), me = everyone.id(), width = 20000;
    const auto p = everyone.partition(extents(n));
    const bool throws = me == 0;
    bool now = false;
    const auto beyond = [&](const std::array<std::ptrdiff_t, 1>& i) -> double {
      if (now && throws) throw std::out_of_range("no value");
      return static_cast<double>(i[0]);
    };
    const halo_exchange h(p, {{width}, {width}}, boundary::function, beyond);
    const auto x = block_from(p, extents(n * width), [](std::size_t i) { return static_cast<double>(i); });
    const xt::xtensor<double, 1> wanted =
        xt::arange<double>(3.0 * double(width)) + (static_cast<double>(me) - 1) * static_cast<double>(width);
    BOOST_TEST((h(x) == wanted));
    for (int call = 0; call < 3; ++call) {
      now = true;
      if (throws) BOOST_CHECK_THROW(h(x), std::out_of_range);
      else BOOST_TEST((h(x) == wanted));
      now = false;
      std::vector<pooled_tensor<double, 1>> later;  // in the memory of the result that was not given
      for (std::size_t k = 0; k < 3; ++k)
        later.push_back(make_pooled<double, 1>(*h.memory(), std::array<std::size_t, 1>{3 * width})), later[k].fill(-7);
      BOOST_TEST((h(x) == wanted));
      for (const auto& one : later) BOOST_TEST((xt::amin(one)() == -7 && xt::amax(one)() == -7));
    }
  }
}

BOOST_AUTO_TEST_CASE(constants_are_numbers_of_the_type_of_the_elements) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>();
  const halo_exchange h(p, {{1}, {1}}, {{boundary::constant}, {boundary::constant}, {2.5}, {-1.75}});
  const bool here = p.active();
  using complex = std::complex<float>;
  const auto whole = h(here ? xt::xtensor<int, 1>{4, 5} : xt::xtensor<int, 1>());
  const auto waves = h(here ? xt::xtensor<complex, 1>{{4, 5}, {6, 7}} : xt::xtensor<complex, 1>());
  if (!here) return;
  BOOST_TEST((whole == xt::xtensor<int, 1>{2, 4, 5, -1}));
  BOOST_TEST((waves == xt::xtensor<complex, 1>{{2.5F, 0}, {4, 5}, {6, 7}, {-1.75F, 0}}));
}

BOOST_AUTO_TEST_SUITE_END()
