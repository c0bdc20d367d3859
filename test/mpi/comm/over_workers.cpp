// Numbers combined over all workers: sums, extremes, conditions and scans.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <array>
#include <boost/mpi/collectives.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <partita/partita.hpp>
#include <string>
#include <vector>

using namespace partita;
using test::refused;

namespace {

/// Numbers whose floating-point sum depends on the order of summation.
double awkward(std::size_t k) { return (k % 2 == 0 ? 1e16 : 1.0) / (1.0 + 0.1 * static_cast<double>(k)); }

struct longest {
  static constexpr int identity() { return 0; }
  constexpr int operator()(int a, int b) const { return a > b ? a : b; }
};

template <class T>
bool same_on_all(const world& everyone, const T& value) {
  T first = value;
  MPI_Bcast(&first, static_cast<int>(sizeof(T)), MPI_BYTE, 0, everyone.communicator());
  return boost::mpi::all_reduce(everyone.communicator(), std::memcmp(&first, &value, sizeof(T)) == 0,
                                std::logical_and<>());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(over_workers)

BOOST_AUTO_TEST_CASE(every_worker_gets_the_sum_of_all_numbers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id();
  BOOST_TEST(sum_over(everyone, id + 1) == n * (n + 1) / 2);
  BOOST_TEST(sum_over(everyone, -static_cast<int>(id)) == -static_cast<int>(n * (n - 1) / 2));
  BOOST_TEST(sum_over(everyone, std::uint64_t{1} << 63U) == (n % 2 == 0 ? 0 : std::uint64_t{1} << 63U));
  BOOST_TEST(sum_over(everyone, 0.5F) == 0.5F * static_cast<float>(n));
  const std::complex<double> z(1, static_cast<double>(id));
  const auto number = static_cast<double>(n);
  BOOST_TEST((sum_over(everyone, z) == std::complex<double>(number, number * (number - 1) / 2)));
}

BOOST_AUTO_TEST_CASE(a_sum_is_taken_in_the_order_of_the_workers) {
  const world everyone(test::workers());
  double expected = awkward(0);
  for (std::size_t k = 1; k < everyone.size(); ++k) expected += awkward(k);
  const double all = sum_over(everyone, awkward(everyone.id()));
  BOOST_TEST(all == expected);
  BOOST_TEST(same_on_all(everyone, all));
}

BOOST_AUTO_TEST_CASE(extremes_of_signed_unsigned_and_fractions) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id();
  BOOST_TEST(maximum_over(everyone, -1 - static_cast<int>(id)) == -1);
  BOOST_TEST(minimum_over(everyone, -1 - static_cast<int>(id)) == -static_cast<int>(n));
  BOOST_TEST(maximum_over(everyone, id == n - 1 ? ~std::uint64_t{0} : 1U) == ~std::uint64_t{0});
  BOOST_TEST(minimum_over(everyone, 2.5 * static_cast<double>(id)) == 0.0);
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(maximum_over(everyone, -infinity) == -infinity);
  for (std::size_t k = 0; k < n; ++k) {
    const double x = id == k ? std::numeric_limits<double>::quiet_NaN() : 1.0;
    BOOST_TEST(std::isnan(maximum_over(everyone, x)));
    BOOST_TEST(std::isnan(minimum_over(everyone, x)));
  }
}

BOOST_AUTO_TEST_CASE(conditions_on_all_workers_and_on_any) {
  const world everyone(test::workers());
  const bool last = everyone.id() == everyone.size() - 1, one = everyone.size() == 1;
  BOOST_TEST(all_of(everyone, true));
  BOOST_TEST(!any_of(everyone, false));
  BOOST_TEST(any_of(everyone, last));
  BOOST_TEST(all_of(everyone, last) == one);
  BOOST_TEST(!all_of(everyone, !last));
  BOOST_TEST(all_of(everyone, 7) == 1);
  BOOST_TEST(inclusive_scan(everyone, 7, all) == 1);  // also of worker 0 alone, which combines nothing
  BOOST_TEST(inclusive_scan(everyone, 7, any) == 1);
  BOOST_TEST(any_of(everyone, last ? 7 : 0) == 1);
  BOOST_TEST((any_of(everyone, std::array<bool, 2>{last, false}) == std::array<bool, 2>{true, false}));
}

BOOST_AUTO_TEST_CASE(scans_combine_the_workers_before_and_up_to_this_one) {
  const world everyone(test::workers());
  const std::size_t id = everyone.id();
  BOOST_TEST(exclusive_scan(everyone, id + 1) == id * (id + 1) / 2);
  BOOST_TEST(inclusive_scan(everyone, id + 1) == (id + 1) * (id + 2) / 2);
  BOOST_TEST(exclusive_scan(everyone, 3 - static_cast<int>(id), maximum) ==
             (id == 0 ? std::numeric_limits<int>::lowest() : 3));
  BOOST_TEST(inclusive_scan(everyone, 3 - static_cast<int>(id), minimum) == 3 - static_cast<int>(id));
  BOOST_TEST(exclusive_scan(everyone, 2.0, reductions::product) == std::pow(2.0, static_cast<double>(id)));
  BOOST_TEST(inclusive_scan(everyone, static_cast<double>(id), mean) == 0.5 * static_cast<double>(id));
  // the mean of the workers before; worker 0 has none before it, and gets the identity
  BOOST_TEST(exclusive_scan(everyone, static_cast<double>(id), mean) ==
             (id == 0 ? 0.0 : 0.5 * static_cast<double>(id - 1)));
  double expected = 0;
  for (std::size_t k = 0; k <= id; ++k) expected = k == 0 ? awkward(0) : expected + awkward(k);
  BOOST_TEST(inclusive_scan(everyone, awkward(id)) == expected);
}

BOOST_AUTO_TEST_CASE(arrays_and_tensors_are_combined_element_by_element) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id();
  const std::array<double, 3> x{1.0, static_cast<double>(id), -1.0};
  const auto count = static_cast<double>(n);
  BOOST_TEST((sum_over(everyone, x) == std::array<double, 3>{count, count * (count - 1) / 2, -count}));
  BOOST_TEST(maximum_over(everyone, std::vector<std::size_t>{id, n - id}) == (std::vector<std::size_t>{n - 1, n}));
  BOOST_TEST(sum_over(everyone, std::vector<int>{}).empty());
  const xt::xtensor<float, 2> t{{1, 2, 3}, {4, 5, 6}};
  BOOST_TEST((sum_over(everyone, t + t) == xt::xtensor<float, 2>(2.0F * static_cast<float>(n) * t)));
  const xt::xtensor<float, 2, xt::layout_type::column_major> turned = t;
  BOOST_TEST((sum_over(everyone, turned) == xt::xtensor<float, 2>(static_cast<float>(n) * t)));
  const xt::xarray<int> any_rank = xt::ones<int>({2, 1, 2});
  BOOST_TEST((sum_over(everyone, any_rank) == xt::xarray<int>(static_cast<int>(n) * any_rank)));
  BOOST_TEST(reduce_over(everyone, static_cast<int>(id), longest{}) == static_cast<int>(n) - 1);
  BOOST_TEST(reduce_over(everyone, 1.0 + static_cast<double>(id), mean) == 0.5 * (count + 1));
}

BOOST_AUTO_TEST_CASE(arrays_longer_than_a_piece_are_combined_whole) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), id = everyone.id(), length = 3 * 8192 + 5;
  std::vector<std::uint64_t> x(length);
  for (std::size_t i = 0; i < length; ++i) x[i] = i * (id + 1);
  const auto all = sum_over(everyone, x), before = exclusive_scan(everyone, x);
  bool right = true;
  for (std::size_t i = 0; i < length; ++i)
    right = right && all[i] == i * (n * (n + 1) / 2) && before[i] == i * (id * (id + 1) / 2);
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(a_part_combines_the_numbers_of_its_workers_alone) {
  const world everyone(test::workers());
  const auto part = everyone.split(everyone.id() % 2);
  BOOST_TEST(sum_over(part, 1) == static_cast<int>(part.size()));
  BOOST_TEST(sum_over(everyone, 1) == static_cast<int>(everyone.size()));
}

BOOST_AUTO_TEST_CASE(rows_and_columns_of_a_partition_combine_their_own_numbers, *test::at_least(4)) {
  const world everyone(test::workers());
  const std::size_t columns = everyone.size() / 2;
  const auto p = everyone.partition(extents<2, dynamic>(columns));
  const world row = along(p, dimensions<1>), column = along(p, dimensions<0>);
  BOOST_TEST((row.active() == p.active() && column.active() == p.active()));
  BOOST_TEST((p == everyone.partition(extents<2, dynamic>(columns))));
  BOOST_TEST(!(p == world(test::workers()).partition(extents<2, dynamic>(columns))));  // of the same workers
  if (!p.active()) return;
  std::size_t in_row = 0, in_column = 0;
  for (std::size_t j = 0; j < columns; ++j) in_row += p.worker({p.index()[0], j});
  for (std::size_t i = 0; i < 2; ++i) in_column += p.worker({i, p.index()[1]});
  BOOST_TEST(sum_over(row, everyone.id()) == in_row);
  BOOST_TEST(sum_over(column, everyone.id()) == in_column);
}

BOOST_AUTO_TEST_CASE(at_local_checks_the_results_are_the_same) {
  const world everyone(test::workers(), checks::local);
  BOOST_TEST(sum_over(everyone, 1) == static_cast<int>(everyone.size()));
  BOOST_TEST(exclusive_scan(everyone, 1) == static_cast<int>(everyone.id()));
}

BOOST_AUTO_TEST_CASE(a_different_call_on_one_worker_is_the_same_error_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  using call = std::function<void(bool odd)>;
  const std::vector<call> table{
      [&](bool odd) { (void)(odd ? maximum_over(everyone, 1) : sum_over(everyone, 1)); },
      [&](bool odd) { (void)(odd ? minimum_over(everyone, 1) : maximum_over(everyone, 1)); },
      [&](bool odd) { (void)(odd ? inclusive_scan(everyone, 1) : exclusive_scan(everyone, 1)); },
      [&](bool odd) { (void)(odd ? inclusive_scan(everyone, 1) : sum_over(everyone, 1)); },
      [&](bool odd) { (void)(odd ? any_of(everyone, true) : all_of(everyone, true)); },
      [&](bool odd) { odd ? (void)sum_over(everyone, 1.0) : (void)sum_over(everyone, 1); },
      [&](bool odd) { odd ? (void)sum_over(everyone, 1U) : (void)sum_over(everyone, 1); },
      [&](bool odd) { odd ? (void)sum_over(everyone, std::array<int, 1>{1}) : (void)sum_over(everyone, 1); },
      [&](bool odd) { (void)sum_over(everyone, std::vector<int>(odd ? 3 : 2)); },
      [&](bool odd) {
        (void)sum_over(everyone, xt::xarray<int>::from_shape({odd ? 2U : 3U, odd ? 3U : 2U}));
      },
      [&](bool odd) { (void)sum_over(everyone, std::vector<int>(odd ? 0 : 2)); },
      [&](bool odd) {
        odd ? (void)sum_over(everyone, std::array<int, 2>{}) : (void)sum_over(everyone, std::array<int, 3>{});
      },
      [&](bool odd) {
        (void)sum_over(everyone, xt::xtensor<int, 2>({odd ? 2U : 3U, odd ? 3U : 2U}, 1));
      },
  };
  for (std::size_t k = 0; k < table.size(); ++k)
    for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
      const std::string message = refused<disagreement_error>([&] { table[k](everyone.id() == odd); });
      BOOST_TEST(message.find("workers make different calls") != std::string::npos, "call " << k << ": " << message);
      const std::size_t same = std::hash<std::string>()(message);
      BOOST_TEST(minimum_over(everyone, same) == maximum_over(everyone, same), "call " << k);
    }
  BOOST_TEST(sum_over(everyone, 1) == static_cast<int>(everyone.size()));
}

BOOST_AUTO_TEST_CASE(a_message_names_the_call_of_each_worker_with_its_reduction_type_and_extents, *test::at_least(2)) {
  const world everyone(test::workers());
  const bool first = everyone.id() == 0;
  const std::size_t others = everyone.size() - 1;
  const std::string rest = others == 1   ? ", worker 1 makes "
                           : others == 2 ? ", worker 1 and 1 other make "
                                         : ", worker 1 and " + std::to_string(others - 1) + " others make ";
  const auto expect = [&](auto call, auto other_call, const char* one, const char* other) {
    const std::string told = refused<disagreement_error>([&] {
      if (first) call();
      else other_call();
    });
    BOOST_TEST(told == std::string("partita: workers make different calls: worker 0 makes ") + one + rest + other +
                           "; every worker of a world makes every call with the same arguments");
  };
  using matrix = xt::xtensor<float, 2>;
  const matrix wide = xt::zeros<float>({2, 3}), tall = xt::zeros<float>({3, 2});
  expect([&] { (void)sum_over(everyone, 1); }, [&] { (void)maximum_over(everyone, 1.5); },
         "partita::sum_over(everyone, x) with partita::sum_t of a int of each worker",
         "partita::maximum_over(everyone, x) with partita::maximum_t of a double of each worker");
  expect([&] { (void)minimum_over(everyone, wide); }, [&] { (void)minimum_over(everyone, tall); },
         "partita::minimum_over(everyone, x) with partita::minimum_t of float elements, extents [2, 3]",
         "partita::minimum_over(everyone, x) with partita::minimum_t of float elements, extents [3, 2]");
  expect([&] { (void)all_of(everyone, true); }, [&] { (void)any_of(everyone, true); },
         "partita::all_of(everyone, x) with partita::all_t of a bool of each worker",
         "partita::any_of(everyone, x) with partita::any_t of a bool of each worker");
  expect([&] { (void)reduce_over(everyone, 1.0, mean); }, [&] { (void)reduce_over(everyone, 1.0, sum); },
         "partita::reduce_over(everyone, x) with partita::mean_t of a double of each worker",
         "partita::reduce_over(everyone, x) with partita::sum_t of a double of each worker");
  expect([&] { (void)exclusive_scan(everyone, std::vector<int>(4)); },
         [&] { (void)inclusive_scan(everyone, std::vector<int>(4)); },
         "partita::exclusive_scan(everyone, x) with partita::sum_t of int elements, extents [4]",
         "partita::inclusive_scan(everyone, x) with partita::sum_t of int elements, extents [4]");
  expect([&] { (void)exclusive_scan(everyone, 1, maximum); }, [&] { (void)exclusive_scan(everyone, 1, minimum); },
         "partita::exclusive_scan(everyone, x) with partita::maximum_t of a int of each worker",
         "partita::exclusive_scan(everyone, x) with partita::minimum_t of a int of each worker");
}

BOOST_AUTO_TEST_SUITE_END()
