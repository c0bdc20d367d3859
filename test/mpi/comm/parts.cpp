// Worlds of some workers: kernels in such a world communicate among its workers only.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <algorithm>
#include <optional>
#include <partita/comm/partition.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/repartition.hpp>
#include <string>

using namespace partita;
using test::refused;

namespace {

using vector = xt::xtensor<double, 1>;

/// The sum of the ids of the workers of a world.
double sum_of_numbers(const world& w) {
  return all_sum_reduce(w.partition(extents(w.size())), dimensions<0>)(vector{static_cast<double>(w.id())})(0);
}
double sum_below(std::size_t n) { return static_cast<double>(n * (n - 1) / 2); }

}  // namespace

BOOST_AUTO_TEST_SUITE(parts_of_worlds)

BOOST_AUTO_TEST_CASE(only_the_workers_chosen_take_part, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const bool chosen = everyone.id() != 0;
  const auto part = chosen ? everyone.part(workers(1, n)) : everyone.part(workers(0, 0));  // worker 0 does not call
  BOOST_TEST(part.active() == chosen);
  if (chosen) {
    BOOST_TEST(part.size() == n - 1);
    BOOST_TEST(part.id() == everyone.id() - 1);
    for (int k = 0; k < 10; ++k) BOOST_TEST(sum_of_numbers(part) == sum_below(n - 1));
  } else {
    BOOST_TEST(refused<partition_error>([&] { part.size(); }).find("ask active() first") != std::string::npos);
    BOOST_TEST(refused<partition_error>([&] { part.partition<1>(); }).find("a part of others") != std::string::npos);
  }
  BOOST_TEST(sum_of_numbers(everyone) == sum_below(n));
}

BOOST_AUTO_TEST_CASE(two_parts_make_different_calls_at_once, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), half = n / 2;
  const bool low = everyone.id() < half;
  const auto part = everyone.part(low ? workers(0, half) : workers(half, n));
  const auto all = part.partition(extents(part.size()));
  if (low) {
    for (int k = 0; k < 25; ++k) BOOST_TEST(sum_of_numbers(part) == sum_below(half));
  } else {
    const repartition gather(all, part.partition<1>());
    for (int k = 0; k < 40; ++k) {
      const auto whole = gather(vector{static_cast<double>(part.id())});
      BOOST_TEST(whole.size() == (part.id() == 0 ? n - half : 0));
      if (part.id() == 0) BOOST_TEST(whole(whole.size() - 1) == static_cast<double>(n - half - 1));
    }
  }
  BOOST_TEST(sum_of_numbers(everyone) == sum_below(n));
}

BOOST_AUTO_TEST_CASE(a_part_numbers_its_workers_in_the_order_of_the_choice) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  std::vector<std::size_t> backwards;
  for (std::size_t k = n; k-- > 0;) backwards.push_back(k);
  const auto part = everyone.part(workers(backwards));
  BOOST_TEST(part.id() == n - 1 - everyone.id());
  BOOST_TEST(sum_of_numbers(part) == sum_below(n));
}

BOOST_AUTO_TEST_CASE(parts_of_parts_outlive_what_they_were_made_of) {
  std::optional<world> everyone(test::workers());
  const std::size_t n = everyone->size(), id = everyone->id();
  std::optional<world> part(everyone->split(id % 2));
  const std::size_t same = (n + 1 - id % 2) / 2;
  BOOST_TEST(part->size() == same);
  BOOST_TEST(part->id() == id / 2);
  const auto first = part->part(workers(0, std::min<std::size_t>(2, same)));
  part.reset();
  everyone.reset();
  if (first.active()) BOOST_TEST(sum_of_numbers(first) == sum_below(first.size()));
}

/// Colours are whole numbers of 64 bits: those that differ in one bit, the lowest or the highest, are different.
BOOST_AUTO_TEST_CASE(colours_that_differ_in_any_bit_are_different) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id(), one = 1;
  for (const std::size_t common : {std::size_t{0}, one << 31U, ~std::size_t{0}})
    for (const unsigned bit : {0U, 7U, 31U, 32U, 63U}) {
      const world part = everyone.split(common ^ (id % 2) << bit);
      BOOST_TEST(part.size() == (n + 1 - id % 2) / 2, "bit " << bit);
      BOOST_TEST(part.id() == id / 2, "bit " << bit);
    }
}

/// The message names the levels of worker 0 and of the first worker that differs from it.
BOOST_AUTO_TEST_CASE(workers_with_different_levels_of_checks_are_named_with_their_levels, *test::at_least(2)) {
  const auto given = test::workers();
  const auto n = static_cast<std::size_t>(given.size()), id = static_cast<std::size_t>(given.rank());
  for (const std::size_t odd : {std::size_t{0}, std::size_t{1}, n - 1})
    for (const bool local : {false, true}) {
      const checks level = (id == odd) == local ? checks::local : checks::agree;
      const std::size_t other = odd == 0 ? 1 : odd;
      const bool first_is_local = (odd == 0) == local;
      const text right = text("partita::world: requires one level of checks on all workers, got ")
                         << (first_is_local ? "checks::local" : "checks::agree") << " on worker 0 and "
                         << (first_is_local ? "checks::agree" : "checks::local") << " on worker " << other
                         << "; give every worker of a world the same";
      BOOST_TEST(refused<disagreement_error>([&] { const world everyone(given, level); }) == right.c_str());
    }
}

BOOST_AUTO_TEST_CASE(a_part_checks_calls_as_its_world_does) {
  for (const checks level : {checks::agree, checks::local}) {
    const world everyone(test::workers(), level);
    const std::size_t n = everyone.size();
    const world part = everyone.part(workers(0, n)), half = everyone.split(everyone.id() % 2),
                row = along(everyone.partition(extents(n, std::size_t{1})), dimensions<0>);
    for (const world& one : {part, half, row, half.part(workers(0, half.size())), part.split(3)})
      BOOST_TEST((one.level() == level && one.partition(extents(one.size())).world().level() == level));
  }
}

BOOST_AUTO_TEST_CASE(rows_and_columns_of_a_partition_are_worlds, *test::at_least(6)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 3>(workers{5, 4, 3, 2, 1, 0});
  const auto row = along(p, dimensions<1>), column = along(p, dimensions<0>), all = along(p, dimensions<0, 1>);
  BOOST_TEST(row.active() == p.active());
  if (!p.active()) return;
  BOOST_TEST(row.size() == 3U);
  BOOST_TEST(row.id() == p.index()[1]);
  BOOST_TEST(column.size() == 2U);
  BOOST_TEST(column.id() == p.index()[0]);
  BOOST_TEST(all.id() == 5 - everyone.id());
  BOOST_TEST(sum_of_numbers(row) == 3);
  BOOST_TEST(sum_of_numbers(column) == 1);
}

BOOST_AUTO_TEST_CASE(a_row_of_chosen_workers_has_their_ids_in_their_order) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), one = 1;
  std::vector<std::size_t> backwards, behind;  // n - 1, …, 0 and 1, …, n - 1, 0
  for (std::size_t k = 0; k < n; ++k) backwards.push_back(n - 1 - k), behind.push_back((k + 1) % n);
  for (const auto& ids : {backwards, behind}) {
    const auto row = everyone.partition(extents(one, n), workers(ids)),
               column = everyone.partition(extents(n, one), workers(ids));
    for (const world& all : {along(row, dimensions<1>), along(column, dimensions<0>)}) {
      std::vector<std::size_t> found(all.size());
      const std::size_t id = everyone.id();
      MPI_Allgather(&id, sizeof id, MPI_BYTE, found.data(), sizeof id, MPI_BYTE, all.communicator());
      BOOST_TEST(found == ids);
    }
    for (const world& alone : {along(row, dimensions<0>), along(column, dimensions<1>)}) BOOST_TEST(alone.size() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(parts_that_are_named_differently_are_an_error_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  BOOST_TEST(refused<partition_error>([&] { everyone.part(workers(0, n + 1)); }).find("choose ids below") !=
             std::string::npos);
  if (everyone.id() < 2)
    BOOST_TEST(refused<disagreement_error>([&] {
                 everyone.part(everyone.id() == 0 ? workers{0, 1} : workers{1, 0});
               }).find("all workers of a part name the same") != std::string::npos);
  BOOST_TEST(sum_of_numbers(everyone) == sum_below(n));
}

BOOST_AUTO_TEST_CASE(parts_are_made_and_dropped_without_end) {
  const world everyone(test::workers());
  for (std::size_t k = 0; k < 300; ++k) {
    const auto part = everyone.split((everyone.id() + k) % 2);
    BOOST_TEST(part.active());
    if (k % 30 == 0) BOOST_TEST(sum_of_numbers(part) == sum_below(part.size()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
