// Spectra between partitions with another number of points are those of resize_spectrum on the whole array, exactly,
// with exact adjoints; padding and truncation is the identity.
#include "../../laws/law.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <partita/kernel/spectral_resize.hpp>
#include <partita/partita.hpp>
#include <partita/sharded/spectrum.hpp>
#include <vector>

namespace {

using namespace partita;
using complex = std::complex<double>;
using line = xt::xtensor<complex, 1>;
using plane = xt::xtensor<complex, 2>;
using shape = std::array<std::size_t, 2>;

static_assert(linear_operator<spectral_resize<2>, plane, plane>);
static_assert(
    linear_operator<spectral_resize<2>, xt::xtensor<std::complex<float>, 2>, xt::xtensor<std::complex<float>, 2>>);

template <class P>
auto block(const P& p, const plane& whole) {
  return block_from<complex>(p, extents(whole.shape()[0], whole.shape()[1]),
                             [&](auto i, auto j) { return whole(i, j); });
}

/// A pair of partitions of these shapes, on the workers from this one on.
struct layouts {
  shape from, to;
  std::size_t first = 0;
};
std::vector<layouts> all_layouts(const world& everyone) {
  const std::size_t n = everyone.size(), two = n % 2 == 0 ? 2 : 1;
  std::vector<layouts> all{{{n, 1}, {1, n}}, {{n / two, two}, {two, n / two}}, {{1, n}, {1, n}}};
  if (n > 2) all.push_back({{n - 1, 1}, {1, n - 2}, 1});  // some workers only give, or take no part
  return all;
}

/// All laws for these points, along dimension 0 and half or all of dimension 1.
template <std::size_t... Half>
void expect_right(const world& everyone, const shape& before, const shape& after, dimensions_t<Half...> half) {
  constexpr bool is_half = sizeof...(Half) == 1;
  const shape of_x{before[0], is_half ? before[1] / 2 + 1 : before[1]},
      of_y{after[0], is_half ? after[1] / 2 + 1 : after[1]};
  const auto x = law::integers<complex, 2>(of_x, 1), dy = law::integers<complex, 2>(of_y, 2);
  const auto resized = [&](const plane& z, const shape& from, const shape& to) {
    if constexpr (is_half) return resize_half_spectrum(z, dimensions<0, 1>, from[1], to[0], to[1]);
    else return resize_spectrum(z, dimensions<0, 1>, to[0], to[1]);
  };
  const plane y = resized(x, before, after);
  for (const layouts& one : all_layouts(everyone)) {
    const auto on = [&](const shape& s) {
      return everyone.partition(dynamic_extents<2>(s), workers(one.first, one.first + s[0] * s[1]));
    };
    const auto p = on(one.from), q = on(one.to);
    const spectral_resize resize(p, q, extents(before[0], before[1]), extents(after[0], after[1]), half);
    BOOST_TEST_CONTEXT(before[0] << " x " << before[1] << " to " << after[0] << " x " << after[1]) {
      const auto block_x = block(p, x), block_dy = block(q, dy);
      const auto block_y = resize(block_x);
      if (q.active()) BOOST_TEST(law::same(block_y, block(q, y)));
      law::expect_adjoint(everyone, resize, p.active(), block_x, q.active(), block_dy);
      law::expect_linear([&](const auto& b) { return resize(b); }, block_x, 5);
      law::expect_same_in_view([&](auto&& view) { resize.into(block_x, view); }, block_y);
      BOOST_TEST(law::same(resize.start(block_x).finish(), block_y));
      const auto block_dx = resize.adjoint(block_dy);
      law::expect_same_in_view([&](auto&& view) { resize.adjoint_into(block_dy, view); }, block_dx);
      BOOST_TEST(law::same(resize.start_adjoint(block_dy).finish(), block_dx));
      BOOST_TEST(resize.plan().elements_sent() <= block_x.size() * 4);
      if (before[0] <= after[0] && before[1] <= after[1]) {  // padded, and truncated again
        const spectral_resize back(q, p, extents(after[0], after[1]), extents(before[0], before[1]), half);
        const auto again = compose(resize, back)(block_x);
        if (p.active()) BOOST_TEST(law::same(again, block_x));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spectra_of_other_numbers_of_points)

BOOST_AUTO_TEST_CASE(one_line_of_four_waves) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(1)), q = everyone.partition(extents(everyone.size()));
  // [line]
  const spectral_resize pad(p, q, extents(4), extents(6));
  const auto four = block_from<complex>(p, extents(4), [](auto i) { return std::array{1., 2., 6., 3.}[i]; });
  const auto six = pad(four);  // waves 0, 1, 2, 3, -2, -1: wave 2 of four was also wave -2
  // [/line]
  const auto wanted = block_from<complex>(q, extents(6), [](auto i) { return std::array{1., 2., 3., 0., 3., 3.}[i]; });
  BOOST_TEST(law::same(six, wanted));
  const auto dx = pad.adjoint(wanted);
  if (p.active()) BOOST_TEST(law::same(dx, line{1, 2, 3, 3}));
}

BOOST_AUTO_TEST_CASE(whole_spectra_grow_and_shrink) {
  const world everyone(test::workers());
  for (const auto& [before, after] : std::vector<std::pair<shape, shape>>{
           {{4, 6}, {6, 9}}, {{7, 8}, {4, 3}}, {{4, 7}, {6, 4}}, {{5, 1}, {5, 2}}, {{2, 3}, {2, 3}}})
    expect_right(everyone, before, after, dimensions<>);
}

BOOST_AUTO_TEST_CASE(halves_of_spectra_grow_and_shrink) {
  const world everyone(test::workers());
  for (const auto& [before, after] :
       std::vector<std::pair<shape, shape>>{{{4, 6}, {6, 9}}, {{7, 8}, {4, 6}}, {{3, 9}, {4, 4}}, {{1, 1}, {2, 2}}})
    expect_right(everyone, before, after, dimensions<1>);
}

BOOST_AUTO_TEST_CASE(between_nodes_spectra_are_the_same, *test::at_least(2)) {
  const test::pretended nodes("PARTITA_NODES", "2");
  const world everyone(test::workers());
  expect_right(everyone, {8, 6}, {4, 9}, dimensions<>);
  expect_right(everyone, {8, 6}, {4, 9}, dimensions<1>);
}

BOOST_AUTO_TEST_CASE(only_the_waves_that_stay_move) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents(n, 1));
  const spectral_resize cut(p, p, extents(3 * n, 4), extents(2 * n + 1, 3));
  std::size_t kept = cut.plan().elements_kept(), sent = cut.plan().elements_sent();
  cut(block(p, law::integers<complex, 2>({3 * n, 4}, 1)));
  const kernel_counts counts = cut.counts();
  BOOST_TEST(counts.bytes_by_message + counts.bytes_shared == sent * sizeof(complex));
  std::uint64_t all[2] = {kept, sent};
  PMPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_UINT64_T, MPI_SUM, everyone.communicator());
  BOOST_TEST(all[0] + all[1] == (2 * n + 1) * 3);
}

BOOST_AUTO_TEST_CASE(a_wrong_block_is_an_error_on_all_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  const spectral_resize resize(p, p, extents(4, 4), extents(6, 6));
  test::expect_refused<shape_error>(
      [&] {
        resize(xt::xtensor<complex, 2>(xt::ones<complex>({7, 4})));
      },
      "requires the balanced block of a spectrum of");
  test::expect_refused<shape_error>([&] { spectral_resize(p, p, extents(4, 0), extents(6, 6)); },
                                    "requires at least one point along dimension 1");
  // a block with a wrong extent on the last worker, in both directions, also when the plan is known
  const std::size_t n = everyone.size(), me = everyone.id();
  const spectral_resize longer(p, p, extents(2 * n, std::size_t{4}), extents(3 * n, std::size_t{6}));
  const auto block = [](std::size_t rows, std::size_t columns) {
    return xt::xtensor<complex, 2>(xt::ones<complex>({rows, columns}));
  };
  for (int round = 0; round < 2; ++round) {
    for (const auto& [a, b] : {std::array<std::size_t, 2>{0, 1}, {1, 0}, {2, 1}, {1, 2}}) {
      const auto wrong = [&, a = a, b = b](std::size_t rows, std::size_t columns) {
        return me + 1 == n ? block(rows + a - 1, columns + b - 1) : block(rows, columns);
      };
      auto x = block(2, 4), y = block(3, 6);
      const auto of_x = wrong(2, 4), of_y = wrong(3, 6);
      text why_x, why_y;
      why_x << "(x): requires the balanced block of a spectrum of [" << 2 * n << ", 4], which is [2, 4] on worker "
            << n - 1 << ", got [" << 1 + a << ", " << 3 + b << "]";
      why_y << "(dy): requires the balanced block of a spectrum of [" << 3 * n << ", 6], which is [3, 6] on worker "
            << n - 1 << ", got [" << 2 + a << ", " << 5 + b << "]";
      test::expect_refused<shape_error>([&] { longer(of_x); }, why_x.c_str());
      test::expect_refused<shape_error>([&] { longer.adjoint(of_y); }, why_y.c_str());
      test::expect_refused<shape_error>([&] { longer.start(of_x).finish(); }, why_x.c_str());
      test::expect_refused<shape_error>([&] { longer.start_adjoint(of_y).finish(); }, why_y.c_str());
      test::expect_refused<shape_error>([&] { longer.into(of_x, y); }, why_x.c_str());
      test::expect_refused<shape_error>([&] { longer.adjoint_into(of_y, x); }, why_y.c_str());
    }
    BOOST_TEST(longer(block(2, 4)).size() == 18U);
    BOOST_TEST(longer.adjoint(block(3, 6)).size() == 8U);
  }
}

BOOST_AUTO_TEST_CASE(only_a_batch_dimension_that_keeps_its_length_may_be_empty) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents(everyone.size(), 1));
  struct {
    shape before, after;
    bool half, is_refused;
    std::size_t dimension;
  } const table[] = {{{0, 4}, {6, 6}, false, true, 0},  {{4, 4}, {0, 6}, false, true, 0},
                     {{0, 4}, {0, 6}, false, false, 0}, {{4, 0}, {4, 0}, false, false, 0},
                     {{4, 0}, {4, 0}, true, true, 1},   {{4, 4}, {4, 0}, true, true, 1},
                     {{0, 4}, {0, 4}, true, false, 0},  {{1, 1}, {1, 1}, true, false, 0}};
  for (const auto& row : table) {
    const auto make = [&] {
      const extents before(row.before[0], row.before[1]), after(row.after[0], row.after[1]);
      if (row.half) spectral_resize(p, p, before, after, dimensions<1>);
      else spectral_resize(p, p, before, after);
    };
    std::string wanted;
    if (row.is_refused) {
      text all("partita::spectral_resize(p_x, p_y, before, after): requires at least one point along dimension ");
      all << row.dimension << ", got " << row.before << " and " << row.after << "; give the points of the fields";
      wanted = all.c_str();
    }
    const std::string said = test::refused<shape_error>(make);
    BOOST_TEST(said.find(wanted) != std::string::npos, said << " instead of " << wanted);
    BOOST_TEST(said.empty() == wanted.empty(), said);
  }
}

BOOST_AUTO_TEST_CASE(spectra_of_other_points_on_one_worker_disagree, *test::at_least(2)) {
  const world everyone(test::workers());
  const bool odd = everyone.id() + 1 == everyone.size();
  const auto p = everyone.partition<1, 1>(), q = everyone.partition<1, 1>(workers{1});
  const plane x = p.active() ? plane(xt::ones<complex>({4, 3})) : zero_volume<complex, 2>();
  const auto differ = [&](const spectral_resize<2>& mine, const spectral_resize<2>& theirs) {
    test::expect_refused<disagreement_error>([&] { (odd ? mine : theirs)(x); });
  };
  const spectral_resize of_all(p, p, extents(4, 3), extents(6, 3));
  differ(spectral_resize(p, p, extents(4, 4), extents(6, 4), dimensions<1>), of_all);  // 3 waves are half of 4
  differ(spectral_resize(p, p, extents(4, 3), extents(8, 3)), of_all);
  differ(spectral_resize(p, p, extents(5, 3), extents(6, 3)), of_all);
  differ(spectral_resize(p, q, extents(4, 3), extents(6, 3)), of_all);
  differ(spectral_resize(p, p, extents(4, 4), extents(4, 4), dimensions<1>),
         spectral_resize(p, p, extents(4, 5), extents(4, 4), dimensions<1>));
  differ(spectral_resize(p, p, extents(4, 4), extents(4, 5), dimensions<1>),
         spectral_resize(p, p, extents(4, 4), extents(4, 4), dimensions<1>));
  const auto y = of_all(x);  // what follows works
  if (p.active()) BOOST_TEST(y.shape()[0] == 6U);
}

BOOST_AUTO_TEST_CASE(the_plan_of_a_resized_spectrum_has_the_boxes_of_its_waves) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>(), q = everyone.partition<1>(workers(everyone.size() - 1, everyone.size()));
  const bool gives = p.active(), takes = q.active(), alone = everyone.size() == 1;
  struct {
    std::size_t before, after, waves, boxes;
  } const table[] = {{4, 6, 5, 2}, {6, 4, 5, 2}, {5, 8, 5, 2}, {8, 5, 5, 2}, {3, 3, 3, 1}, {1, 4, 1, 1}};
  for (const auto& row : table) {
    const exchange_plan<1> plan = spectral_resize(p, q, extents(row.before), extents(row.after)).plan();
    BOOST_TEST_CONTEXT(row.before << " to " << row.after) {
      BOOST_TEST(plan.worker == everyone.id());
      BOOST_TEST(plan.gives == gives);
      BOOST_TEST(plan.takes == takes);
      BOOST_TEST(plan.extents[0] == row.before);
      BOOST_TEST(plan.source_shape[0] == (gives ? row.before : 0));
      BOOST_TEST(plan.destination_shape[0] == (takes ? row.after : 0));
      BOOST_TEST(plan.elements_kept() == (alone ? row.waves : 0));
      BOOST_TEST(plan.elements_sent() == (gives && !alone ? row.waves : 0));
      BOOST_TEST(plan.kept.size() == (alone ? row.boxes : 0));
      BOOST_TEST(plan.accumulate == (row.before == 6));
      if (alone && row.boxes == 2) {  // the negative waves are at the end of both lines
        BOOST_TEST(plan.kept[1].where.stop[0] == row.before);
        BOOST_TEST(plan.kept[1].where.start[0] == row.before - 2);
        BOOST_TEST(plan.kept[1].destination_start[0] == row.after - 2);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
