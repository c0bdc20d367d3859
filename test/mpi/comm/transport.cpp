// The transport in a steady loop: no allocation and no page fault, and as many messages and bytes as the plan says.
#include "../support/allocation_count.hpp"
#include "../support/page_faults.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/plan/block_group.hpp>
#include <partita/plan/repartition_plan.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
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
    void post_receive(const partita::detail::block_memory& y) override { y_ = y, next_ = 0; }
    void post_send(const partita::detail::block_memory& x) override {
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
    partita::detail::exchange_traffic counts() const override {
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
  exchange.add_transport(channel(2, 3));
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

BOOST_AUTO_TEST_CASE(a_policy_follows_from_the_options_of_a_kernel_and_the_environment) {
  using partita::detail::transport_policy;
  for (const char* const setting : {"0", "1"}) {
    const test::pretended shared("PARTITA_SHARED", setting);
    const bool allowed = *setting == '1';
    BOOST_TEST(transport_policy::from_environment().shared == allowed);
    for (const message_form form : {message_form::by_size, message_form::chunked, message_form::measured})
      for (const strategy how : {strategy::mixed, strategy::shared, strategy::message}) {
        const transport_policy policy = transport_policy::of(how, form);
        BOOST_TEST(policy.shared == (allowed && how != strategy::message));
        BOOST_TEST(policy.refuse_messages == (how == strategy::shared));
        BOOST_TEST((policy.message.how == form));
        BOOST_TEST((policy.simulated_node == -1 && policy.arena_bytes == ~std::size_t{0} && policy.more.empty()));
      }
  }
}

BOOST_AUTO_TEST_CASE(a_transport_that_refuses_messages_needs_one_node_that_shares_memory) {
  using partita::detail::transport;
  const std::size_t n = all_workers();
  const int me = static_cast<int>(own_worker());
  const auto refusal = [&](bool shared, int node) {
    return test::refused<communication_error>(
        [&] { transport(MPI_COMM_WORLD, {.shared = shared, .refuse_messages = true, .simulated_node = node}); });
  };
  const std::size_t with_me =
      (n + 1 - static_cast<std::size_t>(me) % 2) / 2;  // of the even workers, or of the odd ones
  BOOST_TEST(refusal(true, me % 2) ==
             (n == 1 ? ""
                     : "partita: strategy::shared requires workers of one node, and " + std::to_string(with_me) +
                           " of " + std::to_string(n) + " share the node of this worker; take strategy::mixed"));
  const std::string none = refusal(false, 0);
  BOOST_TEST(none.empty() == (n == 1));
  if (n > 1) {
    BOOST_TEST(none.find("partita: strategy::shared requires shared memory, and there is none or too little (") == 0U);
    BOOST_TEST(none.ends_with(" bytes are free), or it is turned off (PARTITA_SHARED=0); take strategy::mixed"));
  }
}

BOOST_AUTO_TEST_CASE(a_transport_knows_whether_all_share_memory_and_whether_nodes_may_pass_boxes_on) {
  using partita::detail::transport;
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  const std::size_t n = all_workers(), me = own_worker();
  const auto bytes = partita::detail::element_kind::moved<std::complex<double>>();
  for (const std::size_t nodes : {std::size_t{1}, std::size_t{2}, n})
    for (const bool shared : {true, false}) {
      transport ways(MPI_COMM_WORLD, {.shared = shared, .simulated_node = static_cast<int>(me % nodes)});
      const bool several = nodes > 1 && n > 1;
      BOOST_TEST(ways.shares_one_memory() == (shared && !several && n > 1));
      BOOST_TEST(ways.can_forward() == (shared && several && nodes < n));
      BOOST_TEST(!ways.has_joint_messages());
      BOOST_TEST(ways.workers_with_needed_plans().empty());
      ways.join_messages();
      BOOST_TEST(ways.has_joint_messages() == (shared && several));
      std::vector<std::size_t> of_node;
      for (std::size_t k = me % nodes; k < n; k += nodes) of_node.push_back(k);
      const std::vector<std::size_t> needed = ways.has_joint_messages() ? of_node : std::vector<std::size_t>();
      BOOST_TEST(ways.workers_with_needed_plans() == needed, boost::test_tools::per_element());
      if (!several) continue;
      partita::detail::way& passing = ways.forwarding_channel(bytes);
      BOOST_TEST(&passing == &ways.forwarding_channel(bytes));
      // through memory it reaches this worker too, by messages it does not
      BOOST_TEST(passing.reaches(me) == (shared && of_node.size() > 1));
    }
  // a form of messages that the program chose is not changed by joint messages
  transport chosen(MPI_COMM_WORLD, {.simulated_node = static_cast<int>(me % 2), .message = {message_form::packed}});
  chosen.join_messages();
  BOOST_TEST(!chosen.has_joint_messages());
}

BOOST_AUTO_TEST_CASE(kernels_have_transports_of_different_numbers_which_all_workers_know) {
  std::size_t last = 0;
  for (int k = 0; k < 3; ++k) {
    const partita::detail::transport ways(MPI_COMM_WORLD);
    std::uint64_t least = ways.number(), most = least;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    BOOST_TEST((least == most && least != last));
    last = least;
  }
}

/// A block that is the sum of boxes: the order of the sum is that of the plan, the first box that covers the whole
/// block is copied, and the boxes that stay here are added at their place in the order.
BOOST_AUTO_TEST_CASE(received_boxes_are_added_in_the_order_of_the_plan) {
  struct added_box {
    std::size_t position, worker, start;
    std::vector<float> values;
  };
  const auto summed = partita::detail::element_kind::summed<float>();
  partita::detail::transport ways(MPI_COMM_WORLD);
  std::mt19937 random(3);
  for (int turn = 0; turn < 200; ++turn) {
    constexpr std::size_t own = 2;
    const std::size_t n = turn % 20 == 0 ? 0 : 1 + random() % 60, own_position = random() % 8;
    const auto number = [&] {
      return std::ldexp(static_cast<float>(random() % 4001) - 2000, static_cast<int>(random() % 40));
    };
    const auto box_of = [&](std::size_t position, std::size_t worker) {
      added_box b{position, worker, 0, {}};
      const std::size_t length = random() % 2 == 0 ? n : 1 + random() % n;
      b.start = random() % (n - length + 1);
      for (std::size_t k = 0; k < length; ++k) b.values.push_back(random() % 5 == 0 ? -0.0F : number());
      return b;
    };
    simulated_network net;
    simulated_way to_others(net, own);
    partita::detail::lowered_plan plan(1);
    plan.worker = own, plan.accumulate = true, plan.received_shape = {n}, plan.received_strides = {1};
    std::vector<added_box> received, kept;
    std::vector<float> x;
    std::size_t bytes = 0;
    for (std::size_t worker = 0; worker < 6 && n > 0; ++worker) {
      const std::size_t position = 2 * (random() % 5);  // several boxes may have one position
      for (std::size_t boxes = worker == own ? 0 : random() % 3; boxes > 0; --boxes) {
        received.push_back(box_of(position, worker));
        const added_box& b = received.back();
        const std::size_t length = b.values.size();
        plan.receives.add(worker, &length, &b.start);
        plan.sum_positions.push_back(position);
        std::vector<char> packed(length * sizeof(float));
        std::copy_n(reinterpret_cast<const char*>(b.values.data()), packed.size(), packed.data());
        net.queues[{worker, own}].push_back(packed);
        bytes += packed.size();
      }
    }
    for (std::size_t boxes = n > 0 ? random() % 3 : 0; boxes > 0; --boxes) {
      kept.push_back(box_of(own_position, own));
      const std::size_t length = kept.back().values.size(), from = x.size();
      plan.add_kept_box(&length, &from, &kept.back().start);
      x.insert(x.end(), kept.back().values.begin(), kept.back().values.end());
    }
    plan.sum_positions.push_back(own_position);
    // all boxes in the order of the sum
    std::vector<added_box> order;
    std::stable_sort(received.begin(), received.end(),
                     [](const added_box& a, const added_box& b) { return a.position < b.position; });
    for (const added_box& b : received)
      if (b.position <= own_position) order.push_back(b);
    order.insert(order.end(), kept.begin(), kept.end());
    for (const added_box& b : received)
      if (b.position > own_position) order.push_back(b);
    std::vector<float> expected(n, 0.0F);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool copied = k == 0 && order[k].values.size() == n;
      for (std::size_t i = 0; i < order[k].values.size(); ++i) {
        float& y = expected[order[k].start + i];
        y = copied ? order[k].values[i] : y + order[k].values[i];
      }
    }
    partita::detail::box_exchange exchange({&to_others}, ways.memory(), plan, summed, false);
    std::vector<float> y(2 * n + 1, 99.0F);
    const std::ptrdiff_t unit = 1, two = 2;
    const std::size_t before = pooled.bytes_in_use;
    pooled.reset_peak();
    exchange.start(x.data(), &unit, y.data(), &two);
    exchange.finish();
    BOOST_TEST(pooled.bytes_in_use == before);
    BOOST_TEST(pooled.most - before == bytes);
    bool right = true, beside = y[2 * n] == 99.0F;
    for (std::size_t i = 0; i < n; ++i) {
      right = right && y[2 * i] == expected[i] && std::signbit(y[2 * i]) == std::signbit(expected[i]);
      beside = beside && y[2 * i + 1] == 99.0F;
    }
    BOOST_TEST(right, "turn " << turn);
    BOOST_TEST(beside, "turn " << turn);
  }
}

/// Where several blocks are summed side by side, each is set to zero before, and nothing between them.
BOOST_AUTO_TEST_CASE(sums_in_several_blocks_begin_with_zeros_in_each_of_them) {
  const auto summed = partita::detail::element_kind::summed<float>();
  partita::detail::transport ways(MPI_COMM_WORLD);
  simulated_network net;
  simulated_way to_others(net, 2);
  partita::detail::lowered_plan plan(1);
  plan.worker = 2, plan.accumulate = plan.has_several_blocks = true, plan.received_shape = {1},
  plan.received_strides = {1};
  plan.blocks = partita::detail::box_list(1);
  const std::size_t two = 2, three = 3, starts[] = {0, 5, 1, 6};
  plan.blocks.add(2, &two, &starts[0]), plan.blocks.add(2, &three, &starts[1]);
  const std::size_t one = 1;
  plan.receives.add(0, &one, &starts[2]), plan.receives.add(1, &two, &starts[3]);
  plan.sum_positions = {0, 1, 2};
  for (const std::size_t from : {0U, 1U}) {
    const float values[] = {static_cast<float>(from + 3), 8};
    net.queues[{from, 2}].emplace_back(reinterpret_cast<const char*>(values),
                                       reinterpret_cast<const char*>(values + from + 1));
  }
  partita::detail::box_exchange exchange({&to_others}, ways.memory(), plan, summed, false);
  std::vector<float> y(9, 7);
  const std::ptrdiff_t unit = 1;
  exchange.start(y.data(), &unit, y.data(), &unit);
  exchange.finish();
  BOOST_TEST((y == std::vector<float>{0, 3, 7, 7, 7, 0, 4, 8, 7}));
}

BOOST_AUTO_TEST_CASE(an_exchange_is_needed_if_it_passes_something_on_and_starts_early_if_all_its_channels_do) {
  using partita::detail::box_exchange, partita::detail::lowered_plan;
  struct early_channel : simulated_network::box_transport {
    using box_transport::box_transport;
    bool early = true, needed = false;
    bool sends_speculatively() const override { return early; }
    bool is_needed() const override { return needed; }
  };
  partita::detail::transport ways(MPI_COMM_WORLD);
  simulated_network net;
  simulated_way to_others(net, 0);
  const std::vector<partita::detail::way*> by_preference{&to_others};
  const auto channel = [&](bool early, bool needed) {
    auto made = std::make_unique<early_channel>(net, lowered_plan(1), floats);
    made->early = early, made->needed = needed;
    return made;
  };
  const auto empty = [&](bool adds) {
    lowered_plan plan(1);
    plan.accumulate = adds, plan.received_shape = {0}, plan.received_strides = {1}, plan.sum_positions = {0};
    return std::make_unique<box_exchange>(by_preference, ways.memory(), plan,
                                          partita::detail::element_kind::summed<float>(), false);
  };
  const auto exchange = empty(false);
  BOOST_TEST((!exchange->is_needed() && exchange->sends_speculatively()));
  exchange->add_transport(channel(true, false));
  BOOST_TEST((!exchange->is_needed() && exchange->sends_speculatively()));
  exchange->add_transport(channel(false, false));
  BOOST_TEST((!exchange->is_needed() && !exchange->sends_speculatively()));
  exchange->add_transport(channel(true, true));
  BOOST_TEST((exchange->is_needed() && !exchange->sends_speculatively()));
  const auto forwarding = empty(false);
  forwarding->add_forwarding_transport(channel(true, false));
  BOOST_TEST(forwarding->is_needed());
  const auto in_two = empty(false);
  in_two->append_exchange(empty(false));
  BOOST_TEST((in_two->is_needed() && !in_two->sends_speculatively()));
  BOOST_TEST(!empty(true)->sends_speculatively());
}

/// A box of more pieces than a ring has slots needs both workers until the end; one that is written in place does not.
BOOST_AUTO_TEST_CASE(a_worker_is_needed_while_its_boxes_take_turns_in_the_slots_of_a_ring) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;  // the environment has decided
  const std::size_t n = all_workers(), me = own_worker();
  if (n == 1) return;
  const grid<dynamic_extents<1>> p{dynamic_extents<1>(n)};
  const auto group = block_group_of(p, {false}, me);
  for (const std::size_t each : {std::size_t{1000}, std::size_t{400000}})  // of one piece, and of seven
    for (const bool in_place : {true, false}) {
      partita::detail::transport ways(MPI_COMM_WORLD, {.shared = true, .simulated_node = 0});
      const auto exchange = ways.exchange(
          partita::detail::lowered(plan_allgather(group, balanced_parts<1>({each * n}, group.shape), me)), floats);
      std::vector<float> x(each), heap(each * n);
      auto pool = make_pooled<float, 1>(ways.memory(), {each * n});
      float* const y = in_place ? pool.data() : heap.data();
      for (std::size_t i = 0; i < each; ++i) x[i] = static_cast<float>((me * each + i) % 65521);
      const std::ptrdiff_t unit = 1;
      exchange->start(x.data(), &unit, y, &unit);
      exchange->finish();
      bool right = true;
      for (std::size_t i = 0; i < each * n; ++i) right = right && y[i] == static_cast<float>(i % 65521);
      BOOST_TEST(right);
      BOOST_TEST(exchange->is_needed() == (!in_place && each > 1000));
      BOOST_TEST(exchange->counts().bytes_shared == (n - 1) * each * sizeof(float));
    }
}

BOOST_AUTO_TEST_SUITE_END()
