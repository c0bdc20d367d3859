// A small block needs one latency between nodes, since it is sent before workers of other nodes have agreed. To show
// this, the receiver does not start its call, so it cannot agree, until the block has arrived.
#include "../support/message_count.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <cstdlib>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

bool is_in_order() {
  const char* const shared = std::getenv("PARTITA_SHARED");
  return (shared == nullptr || shared[0] != '0') && std::getenv("PARTITA_SHARED_FREE") == nullptr;
}

/// Whether a block from worker `from` arrives while this worker makes no call.
bool comes_by_itself(const world& everyone, int from) {
  const double start = MPI_Wtime();
  int there = 0;
  while (there == 0 && MPI_Wtime() - start < 5)
    MPI_Iprobe(from, everyone.state()->block_tag(), everyone.state()->communicator(), &there, MPI_STATUS_IGNORE);
  return there != 0;
}

vector numbers(std::size_t n, std::size_t worker) {
  vector x(std::array<std::size_t, 1>{n});
  for (std::size_t i = 0; i < n; ++i) x(i) = static_cast<double>(i + 10 * worker);
  return x;
}

/// The sum of the numbers of all workers.
vector sum(std::size_t n, std::size_t P) {
  vector x(std::array<std::size_t, 1>{n});
  for (std::size_t i = 0; i < n; ++i) x(i) = static_cast<double>(i * P + 5 * P * (P - 1));
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_latency)

BOOST_AUTO_TEST_CASE(small_blocks_leave_before_other_nodes_agree, *test::at_least(2)) {
  if (!is_in_order()) return;  // without shared memory the agreement is different
  const test::pretended apart("PARTITA_NODES", "2");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P));
  const auto root = everyone.partition<1>();
  const broadcast b(root, all);
  const sum_reduce s(all, root);
  const all_sum_reduce a(all, dimensions<0>);
  const vector none = zero_volume<double, 1>();
  for (const std::size_t n : {8U, 200U})
    for (int call = 0; call < 3; ++call) {
      const auto from = [&](std::size_t receiver, int sender, const char* name) {
        if (call > 0 && me == receiver)
          BOOST_TEST(comes_by_itself(everyone, sender), name << " waits for an agreement");
      };
      const vector x = numbers(n, me);
      from(1, 0, "broadcast");
      BOOST_TEST((b(me == 0 ? x : none) == numbers(n, 0)));
      from(0, 1, "sum_reduce");
      const vector total = s(x);
      if (me == 0) BOOST_TEST((total == sum(n, P)));
      from(1, 0, "all_sum_reduce");
      BOOST_TEST((a(x) == sum(n, P)));
    }
}

BOOST_AUTO_TEST_CASE(boxes_that_left_for_a_call_that_fails_or_for_another_cut_are_nobodys, *test::at_least(2)) {
  for (const char* const nodes : {"2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), me = everyone.id();
    const auto rows = everyone.partition(extents<dynamic, 1>(P));
    const auto columns = everyone.partition(extents<1, dynamic>(P));
    const repartition turn(rows, columns), other(rows, columns);
    const all_gather gather(rows, dimensions<0>);
    const reduce_scatter scatter(rows, dimensions<0>);
    using matrix = xt::xtensor<double, 2>;
    // a block of a tensor whose last worker has `extra` more rows, and the expected result
    const auto block = [&](std::size_t first, std::size_t n, std::size_t columns_from, std::size_t to,
                           std::size_t salt) {
      matrix x(std::array<std::size_t, 2>{n, to - columns_from});
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < x.shape(1); ++j)
          x(i, j) = static_cast<double>(1000 * salt + 100 * (first + i) + columns_from + j);
      return x;
    };
    const auto right = [&](std::size_t extra, std::size_t salt) {
      const std::size_t own = me + 1 == P ? 2 + extra : 2, all = 2 * P + extra;
      const matrix x = block(2 * me, own, 0, 2 * P, salt);
      BOOST_TEST((turn(x) == block(0, all, 2 * me, 2 * me + 2, salt)));
      BOOST_TEST((turn.adjoint(turn(x)).shape(1) == 2 * P));
      BOOST_TEST((other(x) == block(0, all, 2 * me, 2 * me + 2, salt)));
      BOOST_TEST((gather(x) == block(0, all, 0, 2 * P, salt)));
      const auto part = balanced_part(all, P, me);
      const matrix sum = static_cast<double>(P) * block(part.start, part.size(), 0, 2 * P, salt);
      BOOST_TEST((scatter(block(0, all, 0, 2 * P, salt)) == sum));
      BOOST_TEST((gather.adjoint(block(0, all, 0, 2 * P, salt)).shape(1) == 2 * P));
    };
    right(0, 1), right(0, 2);
    for (std::size_t trial = 3; trial < 9; ++trial) {
      const std::size_t odd = trial % P;
      const matrix x = block(2 * me, 2, 0, 2 * P, 50 + trial);
      BOOST_CHECK_THROW(me == odd ? other(x) : turn(x), disagreement_error);
      BOOST_CHECK_THROW(me == odd ? turn(x) : gather(x), disagreement_error);
      const matrix whole = block(0, 2 * P + trial % 3, 0, 2 * P, 60 + trial);  // all workers know the plan of its sum
      BOOST_CHECK_THROW(me == odd ? gather(x) : scatter(whole), disagreement_error);
      BOOST_CHECK_THROW(scatter(me == odd ? x : whole), shape_error);
      matrix view = matrix::from_shape({me == odd ? 3 : 2 * P, std::size_t{2}});
      BOOST_CHECK_THROW(turn.into(x, view), shape_error);
      right(0, trial);
      // for the other kernels the plan has different blocks, or there is none
      for (std::size_t k = 0; k < 3; ++k) right((trial + k) % 3, trial + k);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_box_leaves_before_other_nodes_agree, *test::at_least(2)) {
  if (!is_in_order()) return;
  const test::pretended apart("PARTITA_NODES", "2");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P));
  const all_gather gather(all, dimensions<0>);
  const reduce_scatter scatter(all, dimensions<0>);
  const auto comes_first = [&](int from) {  // a box from the other node, which has sent nothing else to this node
    const double start = MPI_Wtime();
    int there = 0;
    while (MPI_Wtime() - start < 5 && there == 0)
      for (int tag = 1000; tag < 1000 + 32 && there == 0; ++tag)
        MPI_Iprobe(from, tag, everyone.state()->communicator(), &there, MPI_STATUS_IGNORE);
    return there != 0;
  };
  for (int call = 0; call < 4; ++call) {
    if (call > 1 && me == 1) BOOST_TEST(comes_first(0));
    const vector whole = gather(numbers(1, me));
    for (std::size_t k = 0; k < P; ++k) BOOST_TEST(whole(k) == static_cast<double>(10 * k));
    if (call > 1 && me == 1) BOOST_TEST(comes_first(MPI_ANY_SOURCE));
    const vector part = scatter(numbers(P, me));
    BOOST_TEST((part.size() == 1 && part(0) == static_cast<double>(P * me + 5 * P * (P - 1))));
  }
}

// A worker whose long message is requested first starts to send at once. If our announcements came later, they would
// queue behind that data in the NIC.
BOOST_AUTO_TEST_CASE(long_messages_are_announced_before_those_of_others_are_asked_for, *test::at_least(2)) {
  const test::pretended apart("PARTITA_NODES", std::to_string(test::number_of_workers()).c_str());
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), others = P - 1;
  const auto rows = everyone.partition(extents<dynamic, 1>(P));
  const auto columns = everyone.partition(extents<1, dynamic>(P));
  const repartition turn(rows, columns, message_form::packed);
  const xt::xtensor<double, 2> x = xt::ones<double>({std::size_t{2000}, P});
  for (int call = 0; call < 3; ++call) {
    test::order_of_starts();
    BOOST_TEST(turn(x).shape(0) == 2000 * P);
    const std::string order = test::order_of_starts();
    BOOST_TEST(order == std::string(others, 's') + std::string(others, 'r'));
  }
}

BOOST_AUTO_TEST_CASE(what_left_for_a_call_that_fails_is_not_taken_for_another, *test::at_least(2)) {
  // on one node, a block is visible to the others before the agreement
  for (const char* const nodes : {"1", "2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), me = everyone.id();
    const auto all = everyone.partition(extents(P));
    const auto root = everyone.partition<1>();
    const broadcast b(root, all);
    const sum_reduce s(all, root);
    const all_sum_reduce a(all, dimensions<0>), other(all, dimensions<0>);
    const vector none = zero_volume<double, 1>();
    constexpr std::size_t n = 4;
    const auto right = [&](std::size_t shift) {
      BOOST_TEST((b(me == 0 ? numbers(n, shift) : none) == numbers(n, shift)));
      const vector total = s(numbers(n, me));
      if (me == 0) BOOST_TEST((total == sum(n, P)));
      BOOST_TEST((a(numbers(n, me)) == sum(n, P)));
      BOOST_TEST((other(numbers(n, me)) == sum(n, P)));
    };
    right(1);
    for (std::size_t trial = 2; trial < 6; ++trial) {
      const std::size_t odd = trial % P;  // the worker that makes the mistake
      const vector x = numbers(n, 100 + me);
      BOOST_CHECK_THROW(me == odd ? other(x) : a(x), disagreement_error);
      BOOST_CHECK_THROW(a(me == odd ? numbers(n + 1, 7) : x), shape_error);  // detected when shapes are exchanged
      if (me == odd) BOOST_CHECK_THROW(s(x), disagreement_error);
      else BOOST_CHECK_THROW(b(me == 0 ? x : none), disagreement_error);
      vector view = vector::from_shape({me == odd ? n + 1 : n});  // also detected when shapes are exchanged
      BOOST_CHECK_THROW(b.into(me == 0 ? x : none, view), shape_error);
      for (std::size_t call = 0; call < trial; ++call) right(trial + call);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
