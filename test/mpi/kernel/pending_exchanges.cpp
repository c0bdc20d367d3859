// Pending exchanges: some workers finish them before the next call of their world, the others after it, and nothing
// hangs at any level of checks. If workers need each other to finish, the next call finishes the exchange first.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/halo_exchanges.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>

#include "../support/same_bits.hpp"

namespace {

using namespace partita;
using test::same_bits;

/// The value of the cell i of a periodic tensor.
template <std::size_t Rank>
double cell(const std::array<std::ptrdiff_t, Rank>& i, const std::array<std::size_t, Rank>& extents, double shift) {
  double value = shift;
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto n = static_cast<std::ptrdiff_t>(extents[d]);
    value = 100 * value + static_cast<double>((i[d] + n) % n);
  }
  return value;
}

/// Calls f(element, index) for all elements of y, whose first one has the global index `start`.
template <std::size_t Rank, class Y, class F>
void for_cells(Y& y, const std::array<std::ptrdiff_t, Rank>& start, F f) {
  for (std::size_t k = 0; k < y.size(); ++k) {
    std::array<std::ptrdiff_t, Rank> i = start;
    for (std::size_t d = Rank, rest = k; d-- > 0;) {
      i[d] += static_cast<std::ptrdiff_t>(rest % y.shape()[d]);
      rest /= y.shape()[d];
    }
    f(y.data()[k], i);
  }
}

/// A periodic halo of one cell on a grid of workers, and what it moves.
template <std::size_t Rank>
struct halo {
  static constexpr std::size_t side = 3;

  world everyone;
  partition<dynamic_extents<Rank>> p;
  std::array<std::size_t, Rank> extents{};
  halo_exchange<dynamic_extents<Rank>> h;

  halo(const world& all, const std::array<std::size_t, Rank>& parts, halo_algorithm way)
      : everyone(all),
        p(all.partition(dynamic_extents<Rank>(parts))),
        h(p, ones(), halo_boundaries<Rank>(boundary::periodic), way) {
    for (std::size_t d = 0; d < Rank; ++d) extents[d] = side * parts[d];
  }
  static halo_widths<Rank> ones() {
    halo_widths<Rank> widths;
    widths.before.fill(1), widths.after.fill(1);
    return widths;
  }
  std::array<std::ptrdiff_t, Rank> start() const {
    std::array<std::ptrdiff_t, Rank> at{};
    for (std::size_t d = 0; d < Rank && p.active(); ++d) at[d] = static_cast<std::ptrdiff_t>(side * p.index()[d]);
    return at;
  }
  std::array<std::ptrdiff_t, Rank> window() const {
    auto at = start();
    for (auto& i : at) --i;
    return at;
  }
  xt::xtensor<double, Rank> block(double shift) const {
    std::array<std::size_t, Rank> shape{};
    shape.fill(p.active() ? side : 0);
    xt::xtensor<double, Rank> x(shape);
    for_cells(x, start(), [&](double& value, const auto& i) { value = cell(i, extents, shift); });
    return x;
  }
  /// The block in a window whose ghosts are not filled.
  xt::xtensor<double, Rank> hollow(double shift) const {
    std::array<std::size_t, Rank> shape{};
    shape.fill(p.active() ? side + 2 : 0);
    xt::xtensor<double, Rank> w(shape);
    for_cells(w, window(), [&](double& value, const auto& i) {
      bool own = true;
      for (std::size_t d = 0; d < Rank; ++d)
        own = own && i[d] >= start()[d] && i[d] < start()[d] + static_cast<std::ptrdiff_t>(side);
      value = own ? cell(i, extents, shift) : -1;
    });
    return w;
  }
  template <class Y>
  bool is_filled(const Y& y, double shift) const {
    bool right = !p.active() || y.size() != 0;
    for_cells(y, window(), [&](double value, const auto& i) { right = right && value == cell(i, extents, shift); });
    return right;
  }
};

/// Other calls of all workers: no worker may wait in one of them for a worker that still needs it to finish a pending
/// exchange.
struct calls_between {
  static constexpr const char* names[] = {
      "a broadcast",      "a sum", "a repartition", "a halo exchange", "a start of another halo exchange",
      "a world of a part"};

  world everyone;
  std::size_t n = everyone.size();
  partition<extents<dynamic>> all = everyone.partition(extents(n));
  partition<extents<1>> one = everyone.partition<1>();
  broadcast<extents<1>, extents<dynamic>> spread{one, all};
  all_sum_reduce<extents<dynamic>> total{all, dimensions<0>};
  repartition<extents<1>, extents<dynamic>> scatter{one, all};
  halo_exchange<extents<dynamic>> ring{all, halo_widths<1>{{1}, {1}}, halo_boundaries<1>(boundary::periodic)};

  /// Making a world takes long.
  std::size_t turns(std::size_t which) const { return which == 5 ? 2 : 2 * n; }
  /// Makes a call and returns whether its result is right.
  bool make(std::size_t which) const {
    const auto me = static_cast<double>(everyone.id()), size = static_cast<double>(n);
    const double before = everyone.id() == 0 ? size - 1 : me - 1;
    const xt::xtensor<double, 1> x{me}, numbers = xt::arange<double>(one.active() ? size : 0);
    switch (which) {
      case 0:
        return spread(numbers) == xt::arange<double>(size);
      case 1:
        return total(x)(0) == size * (size - 1) / 2;
      case 2:
        return scatter(numbers)(0) == me;
      case 3:
        return ring(x)(0) == before;
      case 4:
        return ring.start(x).finish()(0) == before;
      default:
        return everyone.part(workers(0, n)).id() == everyone.id();
    }
  }
};

/// Whether this worker finishes sooner: in each turn one worker finishes before the others, or after them.
bool finishes_sooner(std::size_t turn, std::size_t worker) { return (turn / 2 == worker) == (turn % 2 == 0); }

/// Starts a halo exchange on all workers. Some workers finish it before the other call, the others after it.
template <std::size_t Rank>
void expect_any_order(const world& everyone, const std::array<std::size_t, Rank>& parts, halo_algorithm way) {
  std::size_t size = 1;
  for (const std::size_t k : parts) size *= k;
  if (size > everyone.size()) return;
  const halo<Rank> field(everyone, parts, way);
  const calls_between others{everyone};
  double shift = 0;
  for (std::size_t which = 0; which < std::size(calls_between::names); ++which)
    for (std::size_t turn = 0; turn < others.turns(which); ++turn) {
      const bool sooner = finishes_sooner(turn, everyone.id());
      const auto x = field.block(++shift);
      auto later = field.h.start(x);
      std::optional<pooled_tensor<double, Rank>> y;
      if (sooner) y = later.finish();
      BOOST_TEST(others.make(which), calls_between::names[which] << " in turn " << turn);
      if (!sooner) y = later.finish();
      BOOST_TEST(field.is_filled(*y, shift), "a start beside " << calls_between::names[which] << " in turn " << turn);
      auto w = field.hollow(++shift);
      auto filled = field.h.start_refresh(w);
      if (sooner) filled.finish();
      BOOST_TEST(others.make(which), calls_between::names[which] << " in turn " << turn);
      if (!sooner) filled.finish();
      BOOST_TEST(field.is_filled(w, shift), "a refresh beside " << calls_between::names[which] << " in turn " << turn);
    }
}

void expect_any_order_on_all_grids() {
  for (const checks level : {checks::agree, checks::local}) {
    const world everyone(test::workers(), level);
    const std::size_t n = everyone.size();
    for (const halo_algorithm way : {halo_algorithm::one_round, halo_algorithm::by_dimension}) {
      if (n < 4) expect_any_order<2>(everyone, {1, n}, way);
      if (n < 4) expect_any_order<3>(everyone, {n, 1, 1}, way);
      expect_any_order<2>(everyone, {2, 2}, way);
      expect_any_order<2>(everyone, {3, 2}, way);
      expect_any_order<3>(everyone, {2, 1, 2}, way);
      expect_any_order<3>(everyone, {1, 3, 2}, way);
    }
  }
}

/// Starts an exchange on all workers; some finish it before a broadcast, the others after it. `is_right(later)`
/// finishes it and returns whether the result is right.
template <class Start, class IsRight>
void expect_any_end(const world& everyone, const char* name, Start start, IsRight is_right) {
  const calls_between others{everyone};
  for (std::size_t turn = 0; turn < 2 * everyone.size(); ++turn) {
    const bool sooner = finishes_sooner(turn, everyone.id());
    auto later = start();
    bool right = !sooner || is_right(later);
    right = others.make(0) && right;
    right = (sooner || is_right(later)) && right;
    BOOST_TEST(right, name << " in turn " << turn);
  }
}

using matrix = xt::xtensor<float, 2>;

float element(std::size_t i, std::size_t j) { return static_cast<float>((7 * i + j) % 1009); }
/// The block of a matrix with `element` that begins at (i, j).
matrix block(std::size_t rows, std::size_t columns, std::size_t i, std::size_t j) {
  matrix x(std::array<std::size_t, 2>{rows, columns});
  float* next = x.data();
  for (std::size_t a = 0; a < rows; ++a)
    for (std::size_t b = 0; b < columns; ++b) *next++ = element(i + a, j + b);
  return x;
}

/// Exchanges of blocks that are larger than the rings and buffers they pass through.
void expect_any_end_of_large_blocks() {
  constexpr std::size_t rows = 2, wide = 600000;
  const world everyone(test::workers(), checks::local);
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto by_rows = everyone.partition(extents<dynamic, 1>(n));
  const auto by_columns = everyone.partition(extents<1, dynamic>(n));
  const matrix x = block(rows, wide, rows * me, 0);
  const interval own = balanced_part(wide, n, me);
  const matrix columns = block(rows * n, own.size(), 0, own.start);
  const auto is_columns = [&](auto& later) { return same_bits(later.finish(), columns); };
  const repartition by_chunks(by_rows, by_columns, strategy::message, message_form::chunked);
  expect_any_end(
      everyone, "chunks", [&] { return by_chunks.start(x); }, is_columns);

  // the windows are not in shared memory, so that ghosts pass through rings
  const halo_exchange h(by_rows, {.before = {1, 0}, .after = {0, 0}}, boundary::periodic);
  const matrix window = h(x);
  matrix u = window, v = window;
  const auto empty = [&] { std::fill_n(u.data(), wide, -1.0F), std::fill_n(v.data(), wide, -1.0F); };
  const auto is_filled = [&](auto& later) { return later.finish(), same_bits(u, window); };
  const auto are_filled = [&](auto& later) { return is_filled(later) && same_bits(v, window); };
  expect_any_end(
      everyone, "a refresh", [&] { return empty(), h.start_refresh(u); }, is_filled);
  const halo_exchanges both(h, h);
  both(x, x);
  expect_any_end(
      everyone, "two refreshes", [&] { return empty(), both.start_refresh(u, v); }, are_filled);
}

/// Exchanges whose boxes go to one worker of each node, which passes them on.
void expect_any_end_of_groups() {
  constexpr std::size_t rows = 3, wide = 40;
  for (const checks level : {checks::agree, checks::local}) {
    const world everyone(test::workers(), level);
    const std::size_t n = everyone.size(), me = everyone.id();
    const auto by_rows = everyone.partition(extents<dynamic, 1>(n));
    const matrix part = block(rows, wide, rows * me, 0), whole = block(rows * n, wide, 0, 0);
    const matrix sum = static_cast<float>(n) * part;
    const all_gather gather(by_rows, dimensions<0>);
    expect_any_end(
        everyone, "an all_gather", [&] { return gather.start(part); },
        [&](auto& later) { return later.finish() == whole; });
    const reduce_scatter scatter(by_rows, dimensions<0>);
    expect_any_end(
        everyone, "a reduce_scatter", [&] { return scatter.start(whole); },
        [&](auto& later) { return later.finish() == sum; });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pending_exchanges)

BOOST_AUTO_TEST_CASE(of_halos_end_before_or_after_the_next_call) { expect_any_order_on_all_grids(); }

BOOST_AUTO_TEST_CASE(of_halos_between_nodes_end_before_or_after_the_next_call) {
  for (const char* const count : {"2", "3"}) {
    const test::pretended nodes("PARTITA_NODES", count);
    expect_any_order_on_all_grids();
  }
}

BOOST_AUTO_TEST_CASE(of_large_blocks_end_before_or_after_the_next_call) { expect_any_end_of_large_blocks(); }

BOOST_AUTO_TEST_CASE(of_large_blocks_end_so_without_room_in_shared_memory) {
  const test::pretended full("PARTITA_SHARED_FREE", "0");
  expect_any_end_of_large_blocks();
}

BOOST_AUTO_TEST_CASE(of_groups_end_before_or_after_the_next_call) {
  expect_any_end_of_groups();
  const test::pretended nodes("PARTITA_NODES", "2");
  expect_any_end_of_groups();
}

BOOST_AUTO_TEST_SUITE_END()
