// The transport in a steady loop: no allocation and no page fault, and as many messages and bytes as the plan says.
#include "../support/allocation_count.hpp"
#include "../support/page_faults.hpp"
#include "pretended.hpp"

#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/plan/block_group.hpp>
#include <partita/plan/repartition_plan.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>
#include <vector>

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
/// A third channel, without MPI or shared memory: a network inside this process. A sent box waits in the queue of its
/// pair of workers until the receiver takes it. Every box is recorded.
class simulated_network {
 public:
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::vector<char>>> queues;
  std::size_t boxes = 0, bytes = 0;

  class box_transport : public partita::detail::box_transport {
   public:
    box_transport(simulated_network& net, partita::detail::lowered_plan boxes,
                  const partita::detail::element_kind& kind)
        : net_(&net), plan_(std::move(boxes)), kind_(kind) {}
    void expect(const partita::detail::block_memory& y) override { y_ = y, next_ = 0; }
    void give(const partita::detail::block_memory& x) override {
      for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
        std::vector<char> packed(plan_.sends.volume(k) * kind_.bytes);
        pack_box(kind_, plan_.sends[k], plan_.rank, x, packed.data(), true, stores::cached);
        ++net_->boxes, net_->bytes += packed.size();
        net_->queues[{plan_.worker, plan_.sends[k].worker}].push_back(std::move(packed));
      }
    }
    bool advance() override {
      for (; next_ < plan_.receives.size(); ++next_) {
        auto& queue = net_->queues[{plan_.receives[next_].worker, plan_.worker}];
        if (queue.empty()) return false;
        pack_box(kind_, plan_.receives[next_], plan_.rank, y_, queue.front().data(), false, stores::cached);
        queue.erase(queue.begin());
      }
      return true;
    }
    void finish() override {}
    partita::detail::carried counts() const override {
      return {plan_.sends.size(), plan_.sends.volume() * kind_.bytes, 0};
    }

   private:
    simulated_network* net_;
    partita::detail::lowered_plan plan_;
    partita::detail::element_kind kind_;
    partita::detail::block_memory y_;
    std::size_t next_ = 0;
  };
};
/// The channel of one worker to the simulated network.
class simulated_way : public partita::detail::way {
 public:
  simulated_way(simulated_network& net, std::size_t own) : net_(&net), own_(own) {}
  bool reaches(std::size_t worker) const override { return worker != own_; }
  std::unique_ptr<partita::detail::box_transport> prepare(partita::detail::lowered_plan boxes,
                                                          const partita::detail::element_kind& kind) override {
    return std::make_unique<simulated_network::box_transport>(*net_, std::move(boxes), kind);
  }

 private:
  simulated_network* net_;
  std::size_t own_;
};

const auto floats = partita::detail::element_kind::moved<float>();

/// Moves a tensor of floats from rows to columns.
class rows_to_columns {
 public:
  explicit rows_to_columns(const partita::detail::transport_policy& policy) : ways_(MPI_COMM_WORLD, policy) {}

  /// Returns the sum of the result, so that the result is read.
  float call(std::size_t rows, std::size_t columns, const std::vector<float>& x) {
    const std::size_t n = all_workers(), me = own_worker();
    const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})},
        wide{dynamic_extents<2>(std::size_t{1}, n)};
    auto& exchange = exchanges_[{rows, columns}];
    if (!exchange) {
      plan_ = plan_repartition(tall, decomposition<2>::balanced({rows, columns}, {n, 1}), wide,
                               decomposition<2>::balanced({rows, columns}, {1, n}), me);
      exchange = ways_.exchange(partita::detail::lowered(plan_), floats);
    }
    current = exchange.get();
    const interval own = balanced_part(columns, n, me);
    auto y = make_pooled<float, 2>(ways_.memory(), {rows, own.size()});
    const auto columns_step = static_cast<std::ptrdiff_t>(columns), own_step = static_cast<std::ptrdiff_t>(own.size());
    const std::ptrdiff_t x_strides[] = {columns_step, 1}, y_strides[] = {own_step, 1};
    exchange->start(x.data(), x_strides, y.data(), y_strides);
    exchange->finish();
    float sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += y.data()[k];
    return sum;
  }

  partita::detail::box_exchange* current = nullptr;
  const exchange_plan<2>& plan() const { return plan_; }

 private:
  partita::detail::transport ways_;
  std::map<std::array<std::size_t, 2>, std::unique_ptr<partita::detail::box_exchange>> exchanges_;
  exchange_plan<2> plan_;
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

BOOST_AUTO_TEST_CASE(on_one_node_there_is_no_message_and_what_is_shared_is_what_the_plan_says) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;    // the environment has decided
  rows_to_columns move({.shared = true, .simulated_node = 0});  // one node, even if the environment pretends several
  std::vector<float> x(600 * 600, 1.F);
  move.call(500, 600, x);
  std::size_t elements = 0;
  for (const auto& b : move.plan().sends) elements += b.where.volume();
  BOOST_TEST(move.current->counts().messages == 0U);
  BOOST_TEST(move.current->counts().bytes_shared == elements * sizeof(float));
}

BOOST_AUTO_TEST_CASE(between_nodes_there_is_one_message_for_each_pair_and_its_bytes_are_the_plans) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  for (int nodes : {2, 3}) {
    rows_to_columns move({.shared = true, .simulated_node = static_cast<int>(own_worker()) % nodes});
    std::vector<float> x(600 * 600, 1.F);
    move.call(500, 600, x);
    std::size_t messages = 0, elements = 0;
    const auto node_of = [&](std::size_t worker) { return worker % static_cast<std::size_t>(nodes); };
    for (const auto& b : move.plan().sends)
      if (node_of(b.worker) != node_of(own_worker())) ++messages, elements += b.where.volume();
    BOOST_TEST(move.current->counts().messages == messages);
    BOOST_TEST(move.current->counts().bytes_by_message == elements * sizeof(float));
  }
}

BOOST_AUTO_TEST_CASE(an_exchange_counts_what_all_its_channels_carry) {
  using partita::detail::box_exchange, partita::detail::lowered_plan;
  partita::detail::transport ways(MPI_COMM_WORLD);
  simulated_network net;
  simulated_way to_all(net, 0);
  const auto sends = [](std::size_t boxes, std::size_t elements) {
    lowered_plan plan(1);
    const std::size_t start = 0;
    const std::ptrdiff_t stride = 1;
    for (std::size_t k = 1; k <= boxes; ++k) plan.add_send(k, &elements, &start, 0, &stride);
    return plan;
  };
  const auto channel = [&](std::size_t boxes, std::size_t elements) {
    return std::make_unique<simulated_network::box_transport>(net, sends(boxes, elements), floats);
  };
  const std::vector<partita::detail::way*> by_preference{&to_all};
  box_exchange exchange(by_preference, ways.memory(), sends(1, 2), floats, false);
  std::size_t messages = 1, elements = 2;
  const auto expect_counts = [&](const char* what) {
    BOOST_TEST(exchange.counts().messages == messages, what);
    BOOST_TEST(exchange.counts().bytes_by_message == elements * sizeof(float), what);
    BOOST_TEST(exchange.counts().bytes_shared == 0U, what);
  };
  expect_counts("the boxes of its plan");
  exchange.also(channel(2, 3));
  messages += 2, elements += 6;
  expect_counts("and those of a further channel");
  exchange.append_exchange(std::make_unique<box_exchange>(by_preference, ways.memory(), sends(4, 5), floats, false));
  messages += 4, elements += 20;
  expect_counts("and those of a second exchange");
  exchange.add_forwarding_transport(channel(8, 7));
  messages += 8, elements += 56;
  expect_counts("and those that are passed on");
}

BOOST_AUTO_TEST_CASE(what_stays_where_it_is_moves_nothing) {
  partita::detail::transport ways(MPI_COMM_WORLD);
  const std::size_t n = all_workers();
  const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})};
  const auto balanced = decomposition<2>::balanced({50, 60}, {n, 1});
  auto exchange =
      ways.exchange(partita::detail::lowered(plan_repartition(tall, balanced, tall, balanced, own_worker())), floats);
  BOOST_TEST(exchange->counts().messages == 0U);
  BOOST_TEST(exchange->counts().bytes_by_message == 0U);
  BOOST_TEST(exchange->counts().bytes_shared == 0U);
}

BOOST_AUTO_TEST_CASE(exchanges_that_overlap_do_not_mix) {
  const std::size_t n = all_workers(), me = own_worker(), rows = 301, columns = 257;
  const grid<dynamic_extents<2>> tall{dynamic_extents<2>(n, std::size_t{1})},
      wide{dynamic_extents<2>(std::size_t{1}, n)};
  for (int nodes : {1, 2}) {
    const partita::detail::transport_policy policy{.shared = true, .simulated_node = static_cast<int>(me) % nodes};
    partita::detail::transport first(MPI_COMM_WORLD, policy), second(MPI_COMM_WORLD, policy);
    const auto plan =
        partita::detail::lowered(plan_repartition(tall, decomposition<2>::balanced({rows, columns}, {n, 1}), wide,
                                                  decomposition<2>::balanced({rows, columns}, {1, n}), me));
    auto a = first.exchange(plan, floats), b = second.exchange(plan, floats);
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
        const std::ptrdiff_t x_strides[] = {x_step, 1}, y_strides[] = {y_step, 1};
        a->start(x1.data(), x_strides, to1, y_strides);
        b->start(x2.data(), x_strides, to2, y_strides);
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

BOOST_AUTO_TEST_CASE(a_third_way_carries_the_same_plans_and_sums_what_is_reversed) {
  // five simulated workers in this process: gathers a vector, and reduce-scatters vectors
  constexpr std::size_t n = 5, whole = 12;
  const partita::detail::own_node members(MPI_COMM_WORLD);
  auto& memory = partita::detail::arena::of(members, ~std::size_t{0});
  const grid p(extents<n>{});
  simulated_network net;
  const auto summed = partita::detail::element_kind::summed<float>();
  std::vector<simulated_way> ways;
  for (std::size_t k = 0; k < n; ++k) ways.emplace_back(net, k);
  std::vector<std::unique_ptr<partita::detail::box_exchange>> there, back;
  std::size_t boxes = 0, elements = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto group = block_group_of(p, {false}, k);
    const auto plan = plan_allgather(group, balanced_parts<1>({whole}, group.shape), k);
    boxes += plan.sends.size(), elements += plan.elements_sent();
    const auto exchange = [&](const exchange_plan<1>& planned) {
      return std::make_unique<partita::detail::box_exchange>(std::vector<partita::detail::way*>{&ways[k]}, memory,
                                                             partita::detail::lowered(planned), summed, false);
    };
    there.push_back(exchange(plan));
    back.push_back(exchange(reversed(plan)));
  }
  std::vector<std::vector<float>> x(n), y(n), sums(n);
  const std::ptrdiff_t one = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const interval own = balanced_part(whole, n, k);
    for (std::size_t i = own.start; i < own.stop; ++i) x[k].push_back(static_cast<float>(i + 1));
    y[k].resize(whole), sums[k].resize(own.size());
  }
  for (std::size_t k = 0; k < n; ++k) there[k]->start(x[k].data(), &one, y[k].data(), &one);
  for (std::size_t k = 0; k < n; ++k) there[k]->finish();
  BOOST_TEST(net.boxes == boxes);
  BOOST_TEST(net.bytes == elements * sizeof(float));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < whole; ++i) BOOST_TEST(y[k][i] == static_cast<float>(i + 1));
  for (std::size_t k = 0; k < n; ++k) back[k]->start(y[k].data(), &one, sums[k].data(), &one);
  for (std::size_t k = 0; k < n; ++k) back[k]->finish();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < sums[k].size(); ++i) BOOST_TEST(sums[k][i] == static_cast<float>(n) * x[k][i]);
}

BOOST_AUTO_TEST_CASE(a_kernel_takes_flags_for_each_worker_of_the_node_and_no_ring_before_one_is_needed) {
  const partita::detail::own_node& members = partita::detail::own_node::of(MPI_COMM_WORLD);
  partita::detail::arena& memory = partita::detail::arena::of(members, partita::detail::transport_policy{}.arena_bytes);
  const std::size_t before = memory.resident_bytes();
  std::vector<std::unique_ptr<partita::detail::transport>> kernels;
  constexpr std::size_t made = 20;
  for (std::size_t k = 0; k < made; ++k)
    kernels.push_back(std::make_unique<partita::detail::transport>(MPI_COMM_WORLD));
  const std::size_t flags = partita::detail::spare_blocks::round_up_block_bytes(256 * members.size());
  BOOST_TEST(memory.resident_bytes() - before <= made * flags);
  if (all_workers() <= 16) BOOST_TEST(flags == 4096U);
}

BOOST_AUTO_TEST_CASE(boxes_go_by_message_where_no_room_is_left_for_a_ring) {
  const std::size_t n = all_workers(), me = own_worker(), each = 300001;  // slots of a size that no other test uses
  partita::detail::transport ways(MPI_COMM_WORLD);
  const test::pretended none("PARTITA_SHARED_FREE", "0");
  std::vector<std::pair<void*, std::size_t>> taken;  // blocks that earlier tests left in the pool
  for (std::size_t bytes = std::size_t{1} << 24; bytes > 2048; bytes -= bytes / 9) do
      taken.emplace_back(ways.memory().allocate(bytes), bytes);
    while (ways.memory().is_in_own_part(taken.back().first));
  const grid<dynamic_extents<1>> p{dynamic_extents<1>(n)};
  const auto group = block_group_of(p, {false}, me);
  const auto plan = plan_allgather(group, balanced_parts<1>({each * n}, group.shape), me);
  const auto exchange = ways.exchange(partita::detail::lowered(plan), floats);
  std::vector<float> x(each), y(each * n);
  const std::ptrdiff_t one = 1;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < each; ++i)
      x[i] = static_cast<float>((me * each + i) % 65537) + static_cast<float>(round);
    exchange->start(x.data(), &one, y.data(), &one);
    exchange->finish();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      wrong += y[i] == static_cast<float>(i % 65537) + static_cast<float>(round) ? 0 : 1;
    BOOST_TEST(wrong == 0U);
  }
  for (const auto& [block, bytes] : taken) ways.memory().release(block, bytes);
}

BOOST_AUTO_TEST_SUITE_END()
