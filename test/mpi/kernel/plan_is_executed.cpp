// Plans are executed as printed: each worker sends the messages, boxes and bytes of its plan, for random grids,
// decompositions and orders of dimensions, through shared memory and by messages, forward and adjoint.
#include "../support/agreement_messages.hpp"
#include "../support/message_count.hpp"
#include "../support/random_partition.hpp"
#include "mpi_test.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/repartition.hpp>

#include <boost/mpi/collectives.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;
using grid_shape = dynamic_extents<2>;

/// The messages and bytes that one call posts, as counted by MPI's profiling interface.
struct posted {
  std::size_t messages, bytes;
};
template <class Call>
posted posts(Call call) {
  const std::size_t messages = test::messages(), bytes = test::bytes_sent();
  call();
  return {test::messages() - messages, test::bytes_sent() - bytes};
}

/// Checks that `call`, made for the third time, does what the plan says.
template <class Kernel, class Call>
void expect_executed(const world& everyone, const Kernel& kernel, const exchange_plan<2>& plan, bool by_message,
                     Call call) {
  call();
  call();  // after the first calls, agreements use flags in shared memory
  const posted all = posts(call);
  const std::size_t bytes = plan.elements_sent() * sizeof(double);
  const kernel_counts counts = kernel.counts();
  BOOST_TEST(counts.messages == (by_message ? plan.messages_sent() : 0));
  BOOST_TEST(counts.bytes_by_message == (by_message ? bytes : 0));
  BOOST_TEST(counts.bytes_shared == (by_message ? 0 : bytes));
  // the agreement before a call reads shared memory, or is one collective without shared memory, or is messages
  const std::size_t agreement = test::messages_of_an_agreement(everyone);
  BOOST_TEST((all.bytes == counts.bytes_by_message || all.bytes == counts.bytes_by_message + 32 * agreement));
  BOOST_TEST(all.messages == counts.messages + agreement);
}

/// An element that encodes its worker and its index in the tensor.
double element_of_worker(std::size_t worker, std::size_t i, std::size_t j) {
  return static_cast<double>(10000 * worker + 100 * i + j);
}
/// A worker's block of the balanced decomposition, with elements that encode the worker.
template <class Extents>
xt::xtensor<double, 2> given_block(const partition<grid_shape>& p, const Extents& whole) {
  return block_from(p, whole, [&](std::size_t i, std::size_t j) { return element_of_worker(p.world().id(), i, j); });
}
/// Checks that every element of y came from the worker and the box in the plan.
void expect_boxes(const exchange_plan<2>& plan, const xt::xtensor<double, 2>& y) {
  if (!plan.takes) return;
  xt::xtensor<double, 2> planned({plan.destination_shape[0], plan.destination_shape[1]});
  planned.fill(-1);
  std::size_t filled = 0;
  for (const transfer<2>& r : plan.receives)
    for (std::size_t a = r.where.start[0]; a < r.where.stop[0]; ++a)
      for (std::size_t b = r.where.start[1]; b < r.where.stop[1]; ++b, ++filled) {
        std::array<std::size_t, 2> source{};
        source[plan.axes[0]] = a, source[plan.axes[1]] = b;
        planned(r.at[0] + a - r.where.start[0], r.at[1] + b - r.where.start[1]) =
            element_of_worker(r.worker, source[0], source[1]);
      }
  for (const kept_box<2>& k : plan.kept)
    for (std::size_t i = k.where.start[0]; i < k.where.stop[0]; ++i)
      for (std::size_t j = k.where.start[1]; j < k.where.stop[1]; ++j, ++filled) {
        const std::array<std::size_t, 2> from_start{i - k.where.start[0], j - k.where.start[1]};
        planned(k.destination_start[0] + from_start[plan.axes[0]], k.destination_start[1] + from_start[plan.axes[1]]) =
            element_of_worker(plan.worker, i, j);
      }
  BOOST_TEST(filled == planned.size());
  BOOST_TEST((y == planned));
}

// [planner]
/// A planner of a program: element i of a list moves to place (step * i) mod n. Its plan has one box for each index,
/// and the executor carries it out as those of the library.
class stride_planner {
 public:
  static constexpr std::size_t rank = 1;
  static constexpr bool sums_back = false, checks_itself = false;
  using structure = partita::detail::planned_boxes<1>;

  stride_planner(const world& everyone, std::size_t step) : everyone_(everyone), step_(step) {}

  std::shared_ptr<partita::detail::world_state> world() const { return everyone_.state(); }
  static const char* name() { return "strided(everyone, step)"; }
  std::uint64_t fingerprint() const { return partita::detail::mixed(4711, step_); }
  static bool keeps_batch() { return false; }
  static text describe(const char* direction, const std::array<std::size_t, 1>& shape, const text& type) {
    return text(name()) << direction << " with a block of shape " << shape << " of " << type;
  }

  /// The plans in both directions for blocks of these sizes. Collective.
  structure learn(const partita::detail::box_call<1>& call, std::shared_ptr<partita::detail::transport>& channels,
                  partita::detail::local_error& trouble) const {
    open_transport(channels, *world());
    const std::size_t n = partita::detail::sum_of_all<1>(*world(), {call.shape[0]})[0], me = everyone_.id();
    const cut cuts = cut::balanced(n, everyone_.size());
    if (cuts.size(me) != call.shape[0])
      trouble = partita::detail::local_error(text(name()) << call.direction << ": requires balanced blocks");
    structure s;
    s.there.worker = me, s.there.gives = s.there.takes = true;
    s.there.extents = {n}, s.there.source_shape = s.there.destination_shape = {cuts.size(me)};
    for (std::size_t i = 0; i < n && !trouble.any(); ++i) {
      const std::size_t j = step_ * i % n, from = cuts.owner(i), to = cuts.owner(j);
      const std::array<std::size_t, 1> at_from{cuts.place(i)}, at_to{cuts.place(j)};
      if (from == me && to == me) s.there.kept.push_back({{{i}, {i + 1}}, at_from, at_to});
      else if (from == me) s.there.sends.push_back({to, {{i}, {i + 1}}, at_from, {at_to[0]}});
      else if (to == me) s.there.receives.push_back({from, {{j}, {j + 1}}, at_to, {at_from[0]}});
    }
    const auto by_peer = [](const auto& a, const auto& b) { return a.worker < b.worker; };
    std::stable_sort(s.there.sends.begin(), s.there.sends.end(), by_peer);
    std::stable_sort(s.there.receives.begin(), s.there.receives.end(), by_peer);
    s.back = reversed(s.there);
    return s;
  }
  std::shared_ptr<partita::detail::box_exchange> exchange(
      const structure& s, bool forward, const partita::detail::element_kind& kind,
      const std::shared_ptr<partita::detail::transport>& channels) const {
    return lasting_exchange(channels, world(), partita::detail::lowered(s.plan(forward)), kind);
  }

 private:
  partita::world everyone_;
  std::size_t step_;
};
// [/planner]

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_is_executed)

BOOST_AUTO_TEST_CASE(what_leaves_a_worker_in_a_repartition_is_what_its_plan_sends) {
  const world everyone(test::workers());
  std::mt19937 random(11);
  for (std::size_t trial = 0; trial < test::random_cases(12); ++trial) {
    const auto p_x = test::random_partition(everyone, random), p_y = test::random_partition(everyone, random);
    const std::size_t rows = 1 + random() % 20, columns = 1 + random() % 20;
    const extents<dynamic, dynamic> global(rows, columns);
    const auto each = [&](strategy how) {
      const repartition r(p_x, p_y, permute<1, 0>, how, message_form::packed);
      const auto plan = r.plan(global);
      auto x = given_block(p_x, global);
      auto y = r(x);
      expect_boxes(plan, y);
      const auto dy = given_block(p_y, extents<dynamic, dynamic>(columns, rows));
      expect_boxes(reversed(plan), r.adjoint(dy));
      const bool by_message = how == strategy::message;
      // the environment pretends several nodes or missing shared memory, in the same way on all workers
      const bool pretends = !partita::detail::arena::environment_allows_sharing() ||
                            std::getenv("PARTITA_NODES") != nullptr || std::getenv("PARTITA_SHARED_FREE") != nullptr;
      if (!by_message && pretends) return;
      expect_executed(everyone, r, plan, by_message, [&] { y = r(x); });
      expect_executed(everyone, r, reversed(plan), by_message, [&] { x = r.adjoint(y); });
    };
    each(strategy::message);
    each(strategy::mixed);
  }
}

BOOST_AUTO_TEST_CASE(what_leaves_a_worker_in_an_all_gather_and_its_adjoint_is_what_its_plan_sends) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const all_gather g(p, dimensions<0>);
  const auto plan = g.plan(extents<13, 4>{});
  xt::xtensor<double, 2> x = given_block(everyone.partition(grid_shape(n, 1)), extents<13, 4>{});
  expect_boxes(plan, g(x));
  x.fill(1);
  // with several nodes a worker may forward a block in place of its owner: only the total over all workers is the same
  const bool together = std::getenv("PARTITA_NODES") != nullptr;
  const auto expect_sent = [&](const auto& executed) {
    const auto sum = [&](std::size_t own) {
      return together ? boost::mpi::all_reduce(test::workers(), own, std::plus<>()) : own;
    };
    const kernel_counts counts = g.counts();
    BOOST_TEST(sum(counts.bytes_shared + counts.bytes_by_message) == sum(executed.elements_sent() * sizeof(double)));
  };
  auto y = g(x);
  expect_sent(plan);
  BOOST_TEST(plan.elements_sent() == (n - 1) * x.size());
  x = g.adjoint(y);
  expect_sent(reversed(plan));
  for (const double value : x) BOOST_TEST(value == static_cast<double>(n));
}

BOOST_AUTO_TEST_CASE(a_planner_of_a_program_lists_single_indices) {
  const world everyone(test::workers());
  const std::size_t n = 29, step = 12;  // n is a prime number, so that each place gets one element
  const cut cuts = cut::balanced(n, everyone.size());
  const std::size_t own = cuts.size(everyone.id());
  partita::detail::planned_movement<stride_planner> strided(stride_planner(everyone, step));
  xt::xtensor<double, 1> x = xt::zeros<double>({own}), wanted = x;
  for (std::size_t i = 0; i < n; ++i) {
    if (cuts.owner(i) == everyone.id()) x(cuts.place(i)) = static_cast<double>(i);
    if (cuts.owner(step * i % n) == everyone.id()) wanted(cuts.place(step * i % n)) = static_cast<double>(i);
  }
  using given = partita::strided<const double, 1>;
  for (int times = 0; times < 3; ++times) {
    const auto y = strided.forward<double>(given(block_of(x)), {}, "(x)", {}).finish();
    BOOST_TEST((y == wanted));
    BOOST_TEST((strided.backward<double>(given(block_of(y)), {}, ".adjoint(dy)", {}).finish() == x));
  }
  BOOST_TEST(strided.plans_made() == 1U);
  const kernel_counts counts = strided.counts();
  std::size_t sent = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (cuts.owner(step * i % n) == everyone.id() && cuts.owner(i) != everyone.id()) ++sent;  // the last call went back
  BOOST_TEST(counts.bytes_by_message + counts.bytes_shared == sent * sizeof(double));
}

BOOST_AUTO_TEST_SUITE_END()
