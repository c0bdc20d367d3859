// Derivatives and solutions of equations in a periodic box are those of analytic functions, with exact adjoints.
// Skipped if FFTW is not installed.
#include "distance.hpp"
#include "mpi_test.hpp"

#if __has_include(<fftw3.h>)
#include "refused.hpp"

#include <boost/mpi/collectives/all_reduce.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <partita/core/hash.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/spectral_operator.hpp>
#include <partita/kernel/walled_box.hpp>
#include <vector>

namespace {

using namespace partita;
using field = xt::xtensor<double, 3>;

// [box]
const periodic_box<3> cell{{12, 9, 10}, {2 * std::numbers::pi, 3, 5}};  // points, and lengths
// [/box]

std::vector<dynamic_partition<3>> partitions(const world& everyone) {
  const std::size_t n = everyone.size(), two = n % 2 == 0 ? 2 : 1;
  const auto on = [&](std::size_t a, std::size_t b, std::size_t c, const workers& who) {
    return everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{a, b, c}), who);
  };
  return {on(n, 1, 1, workers(0, n)), on(n / two, 1, two, workers(0, n)), on(1, n, 1, workers(0, n)),
          on(1, 1, 1, workers(n - 1, n))};
}
/// The block of a function of the position.
template <class F>
field block(const dynamic_partition<3>& p, F f) {
  return block_from<double>(p, dynamic_extents<3>(cell.points), [&](auto... i) {
    std::size_t d = 0;
    const auto at = [&](std::size_t k) {
      const double x = cell.lengths[d] * static_cast<double>(k) / static_cast<double>(cell.points[d]);
      ++d;
      return x;
    };
    const std::array<double, 3> x{at(static_cast<std::size_t>(i))...};
    return f(x[0], x[1], x[2]);
  });
}
double largest_difference(const field& a, const field& b) {
  double off = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t k = 0; k < a.size() && off < INFINITY; ++k)
    off = std::max(off, test::distance_between(a.data()[k], b.data()[k]));
  return boost::mpi::all_reduce(test::workers(), off, boost::mpi::maximum<double>());
}
double dot(const field& a, const field& b) {
  double all = 0;
  for (std::size_t k = 0; k < a.size(); ++k) all += a.data()[k] * b.data()[k];
  return boost::mpi::all_reduce(test::workers(), all, std::plus<double>());
}
field noise(const dynamic_partition<3>& p, std::size_t salt) {
  return block_from<double>(p, dynamic_extents<3>(cell.points), [salt](auto... i) {
    return static_cast<double>(hasher(salt).mix(partita::index<3>{i...}).value() % 2001) / 1000 - 1;
  });
}

constexpr double of_y = 2 * std::numbers::pi / 3, of_z = 2 * std::numbers::pi / 5;
double wave_at(double x, double y, double z) { return std::sin(2 * x) * std::cos(of_y * y) * std::sin(3 * of_z * z); }
constexpr double multiple = 4 + of_y * of_y + 9 * of_z * of_z;  // minus its Laplacian is this multiple of it

}  // namespace

BOOST_AUTO_TEST_SUITE(spectral_operators)

BOOST_AUTO_TEST_CASE(wave_numbers_are_in_the_order_of_fftfreq) {
  static_assert(wave_number(0, 5) == 0 && wave_number(2, 5) == 2 && wave_number(3, 5) == -2 && wave_number(4, 5) == -1);
  static_assert(wave_number(0, 4) == 0 && wave_number(1, 4) == 1 && wave_number(2, 4) == -2 && wave_number(3, 4) == -1);
  static_assert(wave_number(0, 1) == 0);
  BOOST_TEST(periodic_box<1>{{4}}.angular_wave_number(0, 3) == -1.0);
}

BOOST_AUTO_TEST_CASE(they_are_exact_for_the_waves_of_the_box) {
  const world everyone(test::workers());
  for (const auto& p : partitions(everyone)) {
    const field u = block(p, wave_at);
    const auto of = [&](double by) { return field(by * u); };
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0)(u), block(p, [](double x, double y, double z) {
                                    return 2 * std::cos(2 * x) * std::cos(of_y * y) * std::sin(3 * of_z * z);
                                  })) < 1e-13);
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 2)(u), block(p, [](double x, double y, double z) {
                                    return 3 * of_z * std::sin(2 * x) * std::cos(of_y * y) * std::cos(3 * of_z * z);
                                  })) < 1e-13);
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 1, 2)(u), of(-of_y * of_y)) < 1e-12);
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0, 4)(u), of(16)) < 1e-11);
    // [solver]
    const auto solve = poisson_solver(p, cell);
    const field solution = solve(of(multiple));  // minus the Laplacian of u is multiple * u
    // [/solver]
    BOOST_TEST(largest_difference(solution, u) < 1e-13);
    BOOST_TEST(largest_difference(helmholtz_solver(p, cell, 2.5)(of(multiple + 2.5)), u) < 1e-13);
    BOOST_TEST(largest_difference(spectral_truncation(p, cell)(u), u) < 1e-13);  // waves 2 of 12, 1 of 9, 3 of 10
    // wave 4 of 12 is above a third, and wave 6 has no derivative
    const field high = block(p, [](double x, double, double) { return std::cos(4 * x); });
    const field highest = block(p, [](double x, double, double) { return std::cos(6 * x); });
    BOOST_TEST(largest_difference(spectral_truncation(p, cell)(high), field(0.0 * u)) < 1e-13);
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0)(highest), field(0.0 * u)) < 1e-13);
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0, 2)(highest), field(-36.0 * highest)) < 1e-11);
  }
}

BOOST_AUTO_TEST_CASE(their_adjoints_are_their_transposes) {
  const world everyone(test::workers());
  for (const auto& p : partitions(everyone)) {
    const field x = noise(p, 1), y = noise(p, 2);
    const auto check = [&](const auto& k) {
      const field kx = k(x), ky = k.adjoint(y);
      BOOST_TEST(std::abs(dot(kx, y) - dot(x, ky)) <= 1e-13 * std::sqrt(dot(kx, kx) * dot(y, y)));
    };
    check(spectral_derivative(p, cell, 2));
    check(spectral_derivative(p, cell, 0, 3));
    check(spectral_derivative(p, cell, 1, 2));
    check(poisson_solver(p, cell));
    check(helmholtz_solver(p, cell, 1));
    check(spectral_truncation(p, cell));
    check(compose(spectral_derivative(p, cell, 0), poisson_solver(p, cell)));
    const xt::xtensor<float, 3> in_float = xt::cast<float>(x);
    const field exact = poisson_solver(p, cell)(x);
    BOOST_TEST(largest_difference(xt::cast<double>(poisson_solver(p, cell)(in_float)), exact) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(a_wave_without_a_direction_has_no_odd_derivative) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{everyone.size(), 1, 1}));
  // the highest wave along x, in a field that varies along the others: 6 waves on 12 points
  const field u = block(
      p, [](double x, double y, double z) { return std::cos(6 * x) * (1 + std::cos(of_y * y) + std::sin(of_z * z)); });
  for (const unsigned order : {1U, 3U})
    BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0, order)(u), field(0.0 * u)) < 1e-10);
  BOOST_TEST(largest_difference(spectral_derivative(p, cell, 0, 2)(u), field(-36.0 * u)) < 1e-10);
}

BOOST_AUTO_TEST_CASE(solutions_between_walls_are_exact_for_their_sines_and_cosines) {
  const world everyone(test::workers());
  for (unsigned mask = 0; mask < 8; ++mask) {
    // [walls]
    walled_box<3> room{{12, 9, 10}, {2, 3, 5}};  // dirichlet on all sides
    // [/walls]
    for (std::size_t d = 0; d < 3; ++d)
      if ((mask >> d & 1U) != 0) room.walls[d] = wall::neumann;
    for (const auto& p : partitions(everyone)) {
      // wave 3 along dimension 0, 2 along 1, 1 along 2
      double of_u = 0;
      for (std::size_t d = 0; d < 3; ++d) of_u += std::pow(std::numbers::pi * double(3 - d) / room.lengths[d], 2);
      const auto of = [&](double by) {
        return field(block_from<double>(p, dynamic_extents<3>(room.points), [&](auto... i) {
          double all = by;
          std::size_t d = 0;
          const auto along = [&](std::size_t k) {
            const double x = std::numbers::pi * double(3 - d) / room.lengths[d] * room.position(d, k);
            all *= room.walls[d] == wall::neumann ? std::cos(x) : std::sin(x);
            ++d;
          };
          (along(static_cast<std::size_t>(i)), ...);
          return all;
        }));
      };
      const auto solve = poisson_solver(p, room);
      const auto shifted = helmholtz_solver(p, room, 2.5);
      BOOST_TEST(largest_difference(solve(of(of_u)), of(1)) < 1e-13);
      BOOST_TEST(largest_difference(shifted(of(of_u + 2.5)), of(1)) < 1e-13);
      if (mask == 7) BOOST_TEST(largest_difference(solve(field(of(of_u) + 3.0)), of(1)) < 1e-13);  // without the mean
      const field x = noise(p, 1), y = noise(p, 2), kx = solve(x), ky = solve.adjoint(y);
      BOOST_TEST(std::abs(dot(kx, y) - dot(x, ky)) <= 1e-13 * std::sqrt(dot(kx, kx) * dot(y, y)));
      const field hx = shifted(x), hy = shifted.adjoint(y);
      BOOST_TEST(std::abs(dot(hx, y) - dot(x, hy)) <= 1e-13 * std::sqrt(dot(hx, hx) * dot(y, y)));
    }
  }
  const auto p = everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{everyone.size(), 1, 1}));
  const walled_box<3> room{{12, 9, 10}};
  const std::string shift = test::refused<shape_error>([&] { helmholtz_solver(p, room, 0); });
  BOOST_TEST(shift.find("requires a positive shift") != std::string::npos, shift);
  const field x = noise(p, 1), narrow(std::array<std::size_t, 3>{x.shape()[0], 9, 9});
  const std::string block =
      test::refused<shape_error>([&] { poisson_solver(p, room)(everyone.id() == 0 ? narrow : x); });
  BOOST_TEST(block.find("requires the balanced block") != std::string::npos, block);
}

BOOST_AUTO_TEST_CASE(solutions_in_a_channel_are_exact_for_its_waves) {
  const world everyone(test::workers());
  for (const auto across : {wall::dirichlet, wall::neumann}) {
    // [channel]
    walled_box<3> channel{{12, 9, 10}, {2 * std::numbers::pi, 2, 5}};
    channel.walls = {wall::periodic, wall::dirichlet, wall::periodic};
    // [/channel]
    channel.walls[1] = across;
    constexpr double k_y = std::numbers::pi;
    const auto u = [&](std::size_t i, std::size_t j, std::size_t k) {
      const double x = channel.position(0, i), y = k_y * channel.position(1, j), z = of_z * channel.position(2, k);
      return (across == wall::neumann ? std::cos(y) : std::sin(y)) *
             (std::sin(2 * x - z) + std::cos(x) * std::cos(5 * z));
    };
    // minus its Laplacian
    const auto f = [&](std::size_t i, std::size_t j, std::size_t k) {
      const double x = channel.position(0, i), y = k_y * channel.position(1, j), z = of_z * channel.position(2, k);
      return (across == wall::neumann ? std::cos(y) : std::sin(y)) *
             ((4 + k_y * k_y + of_z * of_z) * std::sin(2 * x - z) +
              (1 + k_y * k_y + 25 * of_z * of_z) * std::cos(x) * std::cos(5 * z));
    };
    const auto points = dynamic_extents<3>(channel.points);
    for (const auto& p : partitions(everyone)) {
      const field of_u = block_from<double>(p, points, u), of_f = block_from<double>(p, points, f);
      const auto solve = poisson_solver(p, channel);
      const auto shifted = helmholtz_solver(p, channel, 2.5);
      BOOST_TEST(largest_difference(solve(of_f), of_u) < 1e-13);
      BOOST_TEST(largest_difference(shifted(field(of_f + 2.5 * of_u)), of_u) < 1e-13);
      const field x = noise(p, 1), y = noise(p, 2), kx = solve(x), ky = solve.adjoint(y);
      BOOST_TEST(std::abs(dot(kx, y) - dot(x, ky)) <= 1e-13 * std::sqrt(dot(kx, kx) * dot(y, y)));
      const auto one = partitions(everyone).back();
      const field of_one_worker = poisson_solver(one, channel)(noise(one, 1));
      BOOST_TEST(largest_difference(kx, repartition(one, p)(of_one_worker)) < 1e-14);
    }
  }
  // with periods along all dimensions it is the solver of the periodic box, also for the highest waves
  walled_box<3> around{cell.points, cell.lengths};
  around.walls.fill(wall::periodic);
  for (const auto& p : partitions(everyone)) {
    const field x = noise(p, 3);
    BOOST_TEST(largest_difference(poisson_solver(p, around)(x), poisson_solver(p, cell)(x)) < 1e-13);
    BOOST_TEST(largest_difference(helmholtz_solver(p, around, 1)(x), helmholtz_solver(p, cell, 1)(x)) < 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_one_error_on_all_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{everyone.size(), 1, 1}));
  const auto refused = [](const std::string& message, const char* why) {
    BOOST_TEST(message.find(why) != std::string::npos, message);
  };
  refused(test::refused<partition_error>([&] { spectral_derivative(p, cell, 3); }),
          "below the rank 3 of the box, got 3");
  refused(test::refused<shape_error>([&] { helmholtz_solver(p, cell, 0); }), "requires a positive shift, got 0.0");
  const auto k = poisson_solver(p, cell);
  const field x = noise(p, 1), narrow(std::array<std::size_t, 3>{x.shape()[0], 9, 9});
  const std::size_t first = balanced_part(cell.points[0], everyone.size(), 0).size();
  text shapes;
  shapes << "which is [" << first << ", 9, 10] on worker 0, got [" << first << ", 9, 9]";
  refused(test::refused<shape_error>([&] { k(everyone.id() == 0 ? narrow : x); }), shapes.c_str());
  refused(test::refused<shape_error>([&] { k(everyone.id() == 0 ? narrow : x); }), "requires the balanced block");
  refused(test::refused<shape_error>([&] { k.adjoint(narrow); }), "requires the balanced block");
  if (everyone.size() > 1) {
    const bool odd = everyone.id() + 1 == everyone.size();
    const auto differ = [&](const auto& mine, const auto& theirs) {
      test::expect_refused<disagreement_error>([&] { (odd ? mine : theirs)(x); });
    };
    periodic_box<3> longer = cell;
    longer.lengths[1] = 4;
    differ(k, poisson_solver(p, longer));
    differ(k, spectral_truncation(p, cell));
    differ(helmholtz_solver(p, cell, 1), helmholtz_solver(p, cell, 2));
    differ(spectral_derivative(p, cell, 0), spectral_derivative(p, cell, 1));
    differ(spectral_derivative(p, cell, 0, 1), spectral_derivative(p, cell, 0, 5));
    walled_box<3> room{cell.points}, wide = room, open = room;
    wide.lengths[2] = 4, open.walls[1] = wall::neumann;
    differ(poisson_solver(p, room), poisson_solver(p, wide));
    differ(poisson_solver(p, room), poisson_solver(p, open));
    differ(helmholtz_solver(p, room, 1), helmholtz_solver(p, room, 2));
    const auto slope = spectral_derivative(p, cell, 0);
    test::expect_refused<disagreement_error>([&] { odd ? slope(x) : slope.adjoint(x); });
  }
  BOOST_TEST(largest_difference(k(x), k.adjoint(x)) < 1e-13);  // what follows works: it is symmetric
}

BOOST_AUTO_TEST_CASE(a_box_says_where_its_points_and_which_its_waves_are) {
  constexpr double pi = std::numbers::pi;
  const periodic_box<3> around{{8, 9, 6}, {2, 3, 4 * pi}};
  for (std::size_t i = 0; i < 8; ++i) {
    const double wave = i < 4 ? double(i) : double(i) - 8;
    BOOST_TEST(std::abs(around.angular_wave_number(0, i) - pi * wave) < 1e-14);
    BOOST_TEST(around.is_nyquist(0, i) == (i == 4));
    BOOST_TEST(!around.is_nyquist(1, i));
    BOOST_TEST(around.two_thirds_rule_keeps({i, 0, 0}) == (std::abs(wave) <= 2));
    BOOST_TEST(around.two_thirds_rule_keeps({0, i, 0}) == (i < 3 || i > 6));  // not wave 3 of 9
  }
  BOOST_TEST(!around.two_thirds_rule_keeps({0, 0, 2}));  // nor wave 2 of 6
  BOOST_TEST(!around.two_thirds_rule_keeps({3, 1, 1}));  // all dimensions count
  BOOST_TEST(std::abs(around.square({7, 0, 2}) - (pi * pi + 1)) < 1e-13);
  BOOST_TEST((around.half_spectrum() == std::array<std::size_t, 3>{8, 9, 4}));
  BOOST_TEST((periodic_box<2>{{4, 7}}.half_spectrum() == std::array<std::size_t, 2>{4, 4}));
  BOOST_TEST((periodic_box<2>{{4, 7}}.lengths == std::array{2 * pi, 2 * pi}));

  walled_box<3> room{{4, 5, 6}, {2, 5, 3}};
  BOOST_TEST((room.walls == std::array{wall::dirichlet, wall::dirichlet, wall::dirichlet}));
  BOOST_TEST((walled_box<2>{{4, 7}}.lengths == std::array{pi, pi}));
  room.walls = {wall::dirichlet, wall::neumann, wall::periodic};
  const double sines[] = {1, 2, 3, 4}, cosines[] = {0, 1, 2, 3, 4}, circles[] = {0, 1, 2, 3, 2, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(room.position(0, i) == 0.25 + 0.5 * double(i));
    BOOST_TEST(std::abs(room.angular_wave_number(0, i) - sines[i] * pi / 2) < 1e-14);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    BOOST_TEST(room.position(1, i) == 0.5 + double(i));
    BOOST_TEST(std::abs(room.angular_wave_number(1, i) - cosines[i] * pi / 5) < 1e-14);
  }
  for (std::size_t i = 0; i < 6; ++i)
    BOOST_TEST(std::abs(room.angular_wave_number(2, i) - circles[i] * 2 * pi / 3) < 1e-14);
  BOOST_TEST(std::abs(room.square({1, 0, 5}) - (pi * pi + 4 * pi * pi / 9)) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_mean_is_lost_by_poisson_and_divided_by_the_shift_of_helmholtz) {
  const world everyone(test::workers());
  walled_box<3> closed{cell.points}, leaky = closed;
  closed.walls.fill(wall::neumann);
  leaky.walls = {wall::neumann, wall::neumann, wall::periodic};
  for (const auto& p : partitions(everyone)) {
    const field ones = block(p, [](double, double, double) { return 1.0; });
    const auto is = [&](const auto& operation, double value) {
      BOOST_TEST(largest_difference(operation(ones), field(value * ones)) < 1e-14);
    };
    is(poisson_solver(p, cell), 0);
    is(poisson_solver(p, closed), 0);
    is(poisson_solver(p, leaky), 0);
    is(helmholtz_solver(p, cell, 4), 0.25);
    is(helmholtz_solver(p, closed, 0.5), 2);
    is(helmholtz_solver(p, leaky, 8), 0.125);
    is(spectral_truncation(p, cell), 1);
    is(spectral_derivative(p, cell, 1, 0), 1);
    is(spectral_derivative(p, cell, 1), 0);
  }
  const auto p = partitions(everyone).front();
  const walled_box<3> room{cell.points};
  for (const double shift : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    test::expect_refused<shape_error>([&] { helmholtz_solver(p, cell, shift); }, "requires a positive shift, got ");
    test::expect_refused<shape_error>([&] { helmholtz_solver(p, room, shift); },
                                      "; poisson_solver solves the equation without it");
  }
}

BOOST_AUTO_TEST_CASE(an_operator_multiplies_each_wave_by_its_factor_and_back_by_the_conjugate) {
  const world everyone(test::workers());
  const auto factor = [](const partita::index<3>& i) {  // not that of another index
    return std::complex<double>(double(i[0] * 100 + i[1] * 10 + i[2]), double(i[1]) - double(i[2]));
  };
  for (const auto& p : partitions(everyone)) {
    const spectral_operator<3> own(p, cell, factor);
    for (const auto& [a, b, c] : {std::array<std::size_t, 3>{1, 2, 3}, {0, 1, 2}, {4, 0, 1}, {2, 3, 4}}) {
      const auto phase = [&, a = a, b = b, c = c](double x, double y, double z) {
        return double(a) * x + of_y * double(b) * y + of_z * double(c) * z;
      };
      const std::complex<double> by = factor({a, b, c});
      const auto wanted = [&](double sign) {  // the real part of the factor times the wave
        return block(p, [&](double x, double y, double z) {
          return by.real() * std::cos(phase(x, y, z)) - sign * by.imag() * std::sin(phase(x, y, z));
        });
      };
      const field wave = block(p, [&](double x, double y, double z) { return std::cos(phase(x, y, z)); });
      BOOST_TEST(largest_difference(own(wave), wanted(1)) < 1e-10);
      BOOST_TEST(largest_difference(own.adjoint(wave), wanted(-1)) < 1e-10);
    }
  }
}

BOOST_AUTO_TEST_CASE(sums_on_other_workers_are_one_error_on_all_of_them, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto on = [&](std::size_t count) {
    return everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{count, 1, 1}), workers(0, count));
  };
  const auto p = on(n), few = on(n - 1);  // the last worker alone has results of two shapes
  const std::array<std::size_t, 3> points{2 * n, 4, 3}, fewer{2 * n - 2, 4, 3};
  const field x = block_from<double>(p, dynamic_extents<3>(points), [](auto i, auto j, auto k) { return i * j + k; });
  const char* const why = "requires operators whose results have one shape on each worker, got ";
  const periodic_box<3> box{points}, small{fewer};
  test::expect_refused<shape_error>([&] { add(spectral_truncation(p, box), spectral_truncation(few, small))(x); }, why);
  test::expect_refused<shape_error>([&] { add(spectral_truncation(few, small), poisson_solver(p, box)).adjoint(x); },
                                    why);
  const walled_box<3> room{points}, closet{fewer};
  test::expect_refused<shape_error>([&] { add(poisson_solver(p, room), poisson_solver(few, closet))(x); }, why);
  const auto solve = poisson_solver(p, box);  // what follows works
  BOOST_TEST(largest_difference(add(solve, solve)(x), field(2.0 * solve(x))) < 1e-14);
  BOOST_TEST(largest_difference(add(solve, poisson_solver(p, room))(x), field(solve(x) + poisson_solver(p, room)(x))) <
             1e-14);
}

BOOST_AUTO_TEST_SUITE_END()

#else

BOOST_AUTO_TEST_SUITE(spectral_operators)

BOOST_AUTO_TEST_CASE(wave_numbers_are_in_the_order_of_fftfreq,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result none(false);
                       none.message() << "needs FFTW (libfftw3-dev)";
                       return none;
                     })) {}

BOOST_AUTO_TEST_SUITE_END()

#endif
