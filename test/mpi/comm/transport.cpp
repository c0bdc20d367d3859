// What a steady loop costs: no allocation, no page fault; and the counts of messages and bytes are the
// plan's.
#include "../support/allocation_count.hpp"
#include "../support/page_faults.hpp"

#include <partita/comm/pooled.hpp>
#include <partita/comm/schedule.hpp>
#include <partita/comm/transport.hpp>

#include <cstdlib>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>

namespace {

using namespace partita;

std::size_t own_worker() {
  int w = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &w);
  return static_cast<std::size_t>(w);
}
std::size_t all_workers() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return static_cast<std::size_t>(n);
}
/// Rows to columns of a tensor of floats.
class rows_to_columns {
 public:
  explicit rows_to_columns(const transport_policy& policy) : ways_(MPI_COMM_WORLD, policy) {}

  /// The sum of the result, so that somebody reads it.
  float call(std::size_t rows, std::size_t columns, const std::vector<float>& x) {
    const std::size_t n = all_workers(), me = own_worker();
    const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})},
        wide{dynamic_extents<2>(std::size_t{1}, n)};
    auto& exchange = exchanges_[{rows, columns}];
    if (!exchange) {
      auto schedule = schedule_repartition(tall, decomposition<2>::balanced({rows, columns}, {n, 1}), wide,
                                           decomposition<2>::balanced({rows, columns}, {1, n}), same_axes<2>(), me);
      schedule_ = schedule;
      exchange = ways_.exchange<float, 2>(std::move(schedule));
    }
    current = exchange.get();
    const interval own = balanced_part(columns, n, me);
    auto y = make_pooled<float, 2>(ways_.memory(), {rows, own.size()});
    const auto columns_step = static_cast<std::ptrdiff_t>(columns), own_step = static_cast<std::ptrdiff_t>(own.size());
    exchange->start(x.data(), {columns_step, 1}, y.data(), {own_step, 1});
    exchange->finish();
    float sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += y.data()[k];
    return sum;
  }

  box_exchange<float, 2>* current = nullptr;
  const exchange_schedule<2>& schedule() const { return schedule_; }
 private:
  transport ways_;
  std::map<std::array<std::size_t, 2>, std::unique_ptr<box_exchange<float, 2>>> exchanges_;
  exchange_schedule<2> schedule_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(transporting_boxes)

BOOST_AUTO_TEST_CASE(a_steady_loop_neither_allocates_nor_faults) {
  rows_to_columns move({});
  std::vector<float> x(600 * 600, 1.F);
  for (int k = 0; k < 20; ++k) {
    move.call(500, 600, x);
    move.call(601, 599, x);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::size_t allocated = test::allocations();
  float sum = 0;
  const long faults = test::least_page_faults(50, [&] {
    sum += move.call(500, 600, x);
    sum += move.call(601, 599, x);
  });
  BOOST_TEST(test::allocations() == allocated);
  BOOST_TEST(faults == 0);
  BOOST_TEST(sum > 0);
}

BOOST_AUTO_TEST_CASE(on_one_node_nothing_is_mailed_and_what_is_shared_is_what_the_schedule_says) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  rows_to_columns move({.shared = true, .pretended_node = 0});  // one node, whatever the environment pretends
  std::vector<float> x(600 * 600, 1.F);
  move.call(500, 600, x);
  std::size_t elements = 0;
  for (const auto& b : move.schedule().sends) elements += volume_of(b.shape);
  BOOST_TEST(move.current->messages_sent() == 0U);
  BOOST_TEST(move.current->bytes_shared() == elements * sizeof(float));
}

BOOST_AUTO_TEST_CASE(between_nodes_there_is_one_message_for_each_pair_and_its_bytes_are_the_schedules) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  for (int nodes : {2, 3}) {
    rows_to_columns move({.shared = true, .pretended_node = static_cast<int>(own_worker()) % nodes});
    std::vector<float> x(600 * 600, 1.F);
    move.call(500, 600, x);
    std::size_t messages = 0, elements = 0;
    const auto node_of = [&](std::size_t worker) { return worker % static_cast<std::size_t>(nodes); };
    for (const auto& b : move.schedule().sends)
      if (node_of(b.worker) != node_of(own_worker())) ++messages, elements += volume_of(b.shape);
    BOOST_TEST(move.current->messages_sent() == messages);
    BOOST_TEST(move.current->bytes_mailed() == elements * sizeof(float));
  }
}

BOOST_AUTO_TEST_CASE(what_stays_where_it_is_moves_nothing) {
  transport ways(MPI_COMM_WORLD);
  const std::size_t n = all_workers();
  const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})};
  const auto balanced = decomposition<2>::balanced({50, 60}, {n, 1});
  auto exchange =
      ways.exchange<float, 2>(schedule_repartition(tall, balanced, tall, balanced, same_axes<2>(), own_worker()));
  BOOST_TEST(exchange->messages_sent() == 0U);
  BOOST_TEST(exchange->bytes_mailed() == 0U);
  BOOST_TEST(exchange->bytes_shared() == 0U);
}

BOOST_AUTO_TEST_CASE(exchanges_that_overlap_do_not_mix) {
  const std::size_t n = all_workers(), me = own_worker(), rows = 301, columns = 257;
  const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})},
      wide{dynamic_extents<2>(std::size_t{1}, n)};
  for (int nodes : {1, 2}) {
    const transport_policy policy{.shared = true, .pretended_node = static_cast<int>(me) % nodes};
    transport first(MPI_COMM_WORLD, policy), second(MPI_COMM_WORLD, policy);
    const auto schedule = schedule_repartition(tall, decomposition<2>::balanced({rows, columns}, {n, 1}), wide,
                                               decomposition<2>::balanced({rows, columns}, {1, n}), same_axes<2>(), me);
    auto a = first.exchange<float, 2>(schedule), b = second.exchange<float, 2>(schedule);
    const interval own_rows = balanced_part(rows, n, me), own_columns = balanced_part(columns, n, me);
    const auto x_step = static_cast<std::ptrdiff_t>(columns), y_step = static_cast<std::ptrdiff_t>(own_columns.size());
    std::vector<float> x1(own_rows.size() * columns), x2(x1.size());
    for (std::size_t k = 0; k < x1.size(); ++k) {
      x1[k] = static_cast<float>(own_rows.start * columns + k);
      x2[k] = -x1[k];
    }
    bool right = true;
    for (bool pooled : {true, false}) {
      for (int round = 0; round < 10; ++round) {
        auto y1 = make_pooled<float, 2>(first.memory(), {rows, own_columns.size()});
        auto y2 = make_pooled<float, 2>(second.memory(), {rows, own_columns.size()});
        std::vector<float> heap1(y1.size()), heap2(y2.size());
        float* const to1 = pooled ? y1.data() : heap1.data();
        float* const to2 = pooled ? y2.data() : heap2.data();
        a->start(x1.data(), {x_step, 1}, to1, {y_step, 1});
        b->start(x2.data(), {x_step, 1}, to2, {y_step, 1});
        b->finish();
        a->finish();
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < own_columns.size(); ++j) {
            const auto value = static_cast<float>(i * columns + own_columns.start + j);
            right = right && to1[i * own_columns.size() + j] == value && to2[i * own_columns.size() + j] == -value;
          }
      }
    }
    BOOST_TEST(right);
  }
}

BOOST_AUTO_TEST_SUITE_END()
