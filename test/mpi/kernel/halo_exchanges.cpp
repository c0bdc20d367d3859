// An exchange of several fields gives bitwise the same as separate exchanges, with one message for each pair of
// workers. Ghosts may also come from a function, alone and together with others.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <partita/kernel/halo_exchanges.hpp>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

/// Multiples of 1/3, whose sums depend on the order of summation.
template <std::size_t Rank>
xt::xtensor<double, Rank> thirds(const std::array<std::size_t, Rank>& shape, std::size_t seed) {
  auto x = uninitialised<double, Rank>(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((7 * k + 5 * seed) % 23) / 3;
  return x;
}
template <std::size_t Rank, class P>
xt::xtensor<double, Rank> block_on(const P& p, const decomposition<Rank>& cuts, std::size_t seed) {
  return p.active() ? thirds<Rank>(cuts.shape(p.index()), seed + p.world().id()) : zero_volume<double, Rank>();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(halo_exchanges_of_several_fields)

BOOST_AUTO_TEST_CASE(fields_of_other_widths_ranks_and_partitions_get_what_each_gets_alone) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), half = (n + 1) / 2;
  const auto rows = everyone.partition(extents<dynamic, 1>(n));
  const auto columns = everyone.partition(extents<1, dynamic>(half), workers(n - half, n));
  const auto line = everyone.partition(extents<dynamic>(n));
  const halo_exchange h_u(rows, {{1, 1}, {1, 1}}, boundary::periodic);
  const halo_exchange h_v(columns, {{0, 2}, {3, 1}}, {{boundary::replicate, boundary::zero}});
  const halo_exchange h_w(line, {{4}, {0}}, {boundary::constant, 2.5});
  const halo_exchanges all(h_u, h_v, h_w);
  // with empty blocks, and with ghosts from more than one neighbour
  for (const std::size_t size : {3 * n, std::size_t{2}, 4 * n + 1}) {
    const auto u = block_on<2>(rows, decomposition<2>::balanced({size, 5}, {n, 1}), 1);
    const auto v = block_on<2>(columns, decomposition<2>::balanced({3, size}, {1, half}), 2);
    const auto w = block_on<1>(line, decomposition<1>::balanced({size}, {n}), 3);
    const auto gu = h_u(u), gv = h_v(v);
    const auto gw = h_w(w);
    for (int times = 0; times < 2; ++times) {
      const auto [a, b, c] = all(u, v, 1 * w);
      BOOST_TEST((a == gu && b == gv && c == gw));
      const auto [du, dv, dw] = all.adjoint(3 * gu, gv, gw);
      BOOST_TEST((du == h_u.adjoint(3 * gu)));
      BOOST_TEST((dv == h_v.adjoint(gv)));
      BOOST_TEST((dw == (line.active() ? h_w.adjoint(gw) : gw)));
    }
    matrix a = gu, b = gv;  // separate copies, in which ghosts are filled
    vector c = gw;
    const auto change = [&](auto& ghosted, const auto& p, const auto& kernel, const auto& own) {
      if (!p.active() || own.size() == 0) return kernel(own);
      ghosted += 1.0;
      return kernel(own + 1.0);
    };
    const auto wanted_u = change(a, rows, h_u, u);
    const auto wanted_v = change(b, columns, h_v, v);
    const auto wanted_w = change(c, line, h_w, w);
    auto later = all.start_refresh(a, b, c);
    later.finish();
    BOOST_TEST((a == wanted_u && b == wanted_v && c == wanted_w));
    all.refresh(a, b, c);
    BOOST_TEST((a == wanted_u && b == wanted_v && c == wanted_w));
  }
  BOOST_TEST(all.counts().plans_made == 3U);
}

BOOST_AUTO_TEST_CASE(there_is_one_message_for_each_pair_whatever_the_number_of_fields) {
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const halo_exchange one(p, {{1, 1}, {1, 1}}, boundary::periodic), two(p, {{2, 2}, {2, 2}}, boundary::periodic);
  const halo_exchanges all(one, two, one, two);
  const auto cuts = decomposition<2>::balanced({3 * n, 4}, {n, 1});
  const auto x = block_on<2>(p, cuts, 1), y = block_on<2>(p, cuts, 2);
  const auto a = one(x), b = two(y);
  auto [ga, gb, gc, gd] = all(x, y, y, x);
  BOOST_TEST((ga == a && gb == b && gc == one(y) && gd == two(x)));
  BOOST_TEST(all.counts().messages == two.counts().messages);
  BOOST_TEST(all.counts().bytes_by_message == 2 * (one.counts().bytes_by_message + two.counts().bytes_by_message));
  all.refresh(ga, gb, gc, gd);
  BOOST_TEST(all.counts().messages == two.counts().messages);
  BOOST_TEST((ga == a && gb == b));
  const auto [da, db, dc, dd] = all.adjoint(ga, gb, gc, gd);
  BOOST_TEST((da == one.adjoint(a) && db == two.adjoint(b)));
  BOOST_TEST(all.counts().messages == two.counts().messages);
}

BOOST_AUTO_TEST_CASE(there_may_be_any_number_of_fields) {
  const std::array<std::array<const char*, 2>, 3> settings{
      {{"PARTITA_SHARED", "0"}, {"PARTITA_SHARED", "1"}, {"PARTITA_NODES", "2"}}};
  for (const auto& [name, value] : settings) {
    const test::pretended as_if(name, value);
    const world everyone(test::workers());
    const std::size_t n = everyone.size();
    const auto p = everyone.partition(extents<1, dynamic, 1>(n));
    const halo_exchange h(p, {{1, 2, 1}, {1, 1, 0}}, boundary::periodic);
    const auto cuts = decomposition<3>::balanced({4, 3 * n, 5}, {1, n, 1});
    const auto field = [&](std::size_t k) { return block_on<3>(p, cuts, k); };
    const halo_exchanges six(h, h, h, h, h, h);  // 23 dimensions in total
    const halo_exchanges nine(h, h, h, h, h, h, h, h, h);
    for (int times = 0; times < 2; ++times) {
      auto y = six(field(0), field(1), field(2), field(3), field(4), field(5));
      const auto right = [&](std::size_t k, const auto& one) { return one == h(field(k)); };
      const auto six_are_right = [&] {
        return right(0, std::get<0>(y)) && right(1, std::get<1>(y)) && right(2, std::get<2>(y)) &&
               right(3, std::get<3>(y)) && right(4, std::get<4>(y)) && right(5, std::get<5>(y));
      };
      BOOST_TEST(six_are_right());
      const std::size_t messages = six.counts().messages;
      BOOST_TEST(messages == h.counts().messages);
      std::apply([&](auto&... each) { six.refresh(each...); }, y);
      BOOST_TEST(six_are_right());
      const auto dx = std::apply([&](const auto&... each) { return six.adjoint(each...); }, y);
      BOOST_TEST((std::get<0>(dx) == h.adjoint(std::get<0>(y)) && std::get<5>(dx) == h.adjoint(std::get<5>(y))));
      const auto z = nine(field(0), field(1), field(2), field(3), field(4), field(5), field(6), field(7), field(8));
      BOOST_TEST((right(0, std::get<0>(z)) && right(4, std::get<4>(z)) && right(8, std::get<8>(z))));
    }
  }
}

BOOST_AUTO_TEST_CASE(ghosts_of_a_function_know_their_global_index_and_change_with_time) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  double time = 0;
  const halo_exchange h(p, {{1, 1}, {2, 1}}, {{boundary::function, boundary::periodic}}, [&time](const auto& i) {
    return time + 1000 * static_cast<double>(i[0]) + static_cast<double>(i[1]);
  });
  const halo_exchange still(p, {{1, 1}, {2, 1}}, {{boundary::zero, boundary::periodic}});
  const halo_exchanges both(h, still);
  const auto x = block_on<2>(p, decomposition<2>::balanced({2 * n, 3}, {n, 1}), 1);
  auto u = h(x);
  const auto is_right = [&](const auto& ghosted, const auto& zeros) {
    const auto origin = h.cells().window_start;
    bool right = true;
    for (std::size_t a = 0; a < ghosted.shape()[0]; ++a)
      for (std::size_t b = 0; b < ghosted.shape()[1]; ++b) {
        const auto i = origin[0] + static_cast<std::ptrdiff_t>(a), j = origin[1] + static_cast<std::ptrdiff_t>(b);
        const bool outside = i < 0 || i >= static_cast<std::ptrdiff_t>(2 * n);
        right = right && ghosted(a, b) ==
                             (outside ? time + 1000 * static_cast<double>(i) + static_cast<double>(j) : zeros(a, b));
      }
    return right;
  };
  auto v = still(x);
  const auto zeros = v;
  BOOST_TEST(is_right(u, zeros));
  time = 0.5;
  h.refresh(u);
  BOOST_TEST(is_right(u, zeros));
  time = 1.5;
  const auto [a, b] = both(x, x);
  BOOST_TEST((is_right(a, zeros) && b == zeros));
  time = 2.5;
  both.refresh(u, v);
  BOOST_TEST((is_right(u, zeros) && v == zeros));
  BOOST_TEST((h.adjoint(u) == still.adjoint(u)));
  const auto says = test::refused<shape_error>([&] { halo_exchange(p, {{1, 1}, {1, 1}}, boundary::function); });
  BOOST_TEST(says.find("give it as the fourth argument") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(widths_without_names_are_the_two_sides_of_one_dimension) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size()));
  const halo_exchange h(p, {1, 2}, boundary::zero);
  BOOST_TEST((h.widths() == halo_widths<1>{.before = 1, .after = 2}));
  BOOST_TEST(test::refused<shape_error>([&] {
               halo_exchange(p, {1, 2, 3}, boundary::zero);
             }).find("got 3") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(boundaries_in_braces_are_one_for_each_dimension) {
  const halo_boundaries<2> each = {boundary::periodic, boundary::zero};
  BOOST_TEST((each == halo_boundaries<2>{{boundary::periodic, boundary::zero}}));
  BOOST_TEST((each.after == std::array{boundary::periodic, boundary::zero}));
  const halo_boundaries<2> constants = {boundary::constant, 2.5};
  BOOST_TEST((constants == halo_boundaries<2>{{boundary::constant, boundary::constant}, 2.5}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic>(n));
  const halo_exchange h(p, {{1}, {1}}, boundary::periodic), mirror(p, {{n + 9}, {0}}, boundary::reflect);
  const halo_exchanges both(h, mirror);
  const auto x = block_on<1>(p, decomposition<1>::balanced({n}, {n}), 1);
  const auto says = test::refused<shape_error>([&] { both(x, x); });
  BOOST_TEST(says.find("halo_exchanges(h...)(x...): requires reflected ghosts") != std::string::npos);
  vector u = x, v = x;
  BOOST_TEST(test::refused<shape_error>([&] { both.refresh(u, v); }).find("call all(x...) first") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
