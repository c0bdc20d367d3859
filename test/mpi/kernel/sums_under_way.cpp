// Non-blocking sums: they give the same bits as blocking ones, also when several are pending, dropped, or finished in a
// different order; and a start does not wait for other workers.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>

#include "../support/allocation_count.hpp"
#include "../support/same_bits.hpp"
#include "../support/words.hpp"

namespace {

using namespace partita;
using partita::detail::kernel_access;
using test::hears_from;
using test::refused;
using test::same_bits;
using test::tell_all;

constexpr std::size_t sizes[] = {0, 1, 7, 1024, 2049, 65536, 65537, 200001};

/// Irregular numbers of very different sizes and both signs, so that the result depends on the order of summation.
xt::xtensor<double, 1> block(std::size_t n, std::size_t worker, std::size_t shift = 0) {
  const std::array<std::size_t, 1> shape{n};
  xt::xtensor<double, 1> x(shape);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t mixed = (i * 2654435761U + (worker + 7 * shift) * 40503U) % 100003;
    x(i) = (mixed % 2 == 0 ? 1.0 : -1.0) *
           std::ldexp(1.0 + static_cast<double>(mixed) / 1009, static_cast<int>(mixed % 61) - 30);
  }
  return x;
}

/// The summing kernels of a world: to a root inside or outside the group, along rows with overlapping groups, to all.
struct kernels {
  world everyone;
  std::size_t P = everyone.size(), me = everyone.id();
  partition<extents<dynamic>> all = everyone.partition(extents<dynamic>(P));
  partition<extents<1>> last = everyone.partition(extents<1>{}, workers(P - 1, P));
  sum_reduce<extents<dynamic>, extents<1>> to_last{all, last};
  sum_reduce<extents<dynamic>, extents<1>, reproducible_t> exactly{all, last, reproducible};
  broadcast<extents<1>, extents<dynamic>> from_last{last, all};
  all_sum_reduce<extents<dynamic>> total{all, dimensions<0>};
  reduce_scatter<extents<dynamic>> parts{all, dimensions<0>};
  all_gather<extents<dynamic>> whole{all, dimensions<0>};

  explicit kernels(checks level = checks::agree) : everyone(test::workers(), level) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sums_under_way)

BOOST_AUTO_TEST_CASE(are_the_same_bits_as_at_one_go) {
  const kernels k;
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me);
    const auto y = k.to_last(x), exact = k.exactly(x), dx = k.from_last.adjoint(x), sum = k.total(x), part = k.parts(x);
    for (int times = 0; times < 6; ++times) {  // more calls than a group has slots
      auto later = k.to_last.start(x);
      BOOST_TEST(same_bits(later.finish(), y));
      auto exactly_later = k.exactly.start(x);
      BOOST_TEST(same_bits(exactly_later.finish(), exact));
      auto adjoint_later = k.from_last.start_adjoint(x);
      BOOST_TEST(same_bits(adjoint_later.finish(), dx));
      auto total_later = k.total.start(x);
      BOOST_TEST(same_bits(total_later.finish(), sum));
      auto part_later = k.parts.start(x);
      BOOST_TEST(same_bits(part_later.finish(), part));
    }
  }
}

BOOST_AUTO_TEST_CASE(of_blocks_in_shared_memory_of_views_and_of_expressions_are_the_same_bits) {
  const kernels k;
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me);
    const auto shared = k.total(x);  // a result, which the other workers read in place
    const auto y = k.to_last(shared), doubled = k.to_last(2.0 * x);
    auto later = k.to_last.start(shared);
    BOOST_TEST(same_bits(later.finish(), y));
    auto lazy = k.to_last.start(2.0 * x);  // the expression is evaluated, and the value kept until finish()
    BOOST_TEST(same_bits(lazy.finish(), doubled));
    const std::array<std::size_t, 2> shape{n, 2};
    xt::xtensor<double, 2> pairs(shape);
    xt::view(pairs, xt::all(), 0) = x;
    xt::view(pairs, xt::all(), 1) = -x;
    const auto first = xt::view(pairs, xt::all(), 0);
    // each call packs its own copy
    auto strided = k.to_last.start(first), strided_too = k.from_last.start_adjoint(first);
    BOOST_TEST(same_bits(strided_too.finish(), k.from_last.adjoint(x)));
    BOOST_TEST(same_bits(strided.finish(), k.to_last(x)));
  }
}

BOOST_AUTO_TEST_CASE(of_several_kernels_leave_room_for_each_other_and_for_any_other_call) {
  const kernels k;
  const auto beside = k.everyone.partition(extents<1>{});
  const broadcast b(beside, k.all);
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me), x2 = block(n + 3, k.me, 1);
    const auto y = k.to_last(x), y2 = k.exactly(x2), sum = k.total(x), dx = k.from_last.adjoint(x2), part = k.parts(x);
    auto first = k.to_last.start(x);
    auto second = k.exactly.start(x2);
    auto third = k.total.start(x);
    auto fourth = k.from_last.start_adjoint(x2);
    auto fifth = k.parts.start(x);
    const auto own = block(k.me == 0 ? n : 0, 9);
    const auto copy = b(own);
    BOOST_TEST(same_bits(copy, block(n, 9)));
    const auto back = b.adjoint(copy);
    BOOST_TEST(back.size() == own.size());
    BOOST_TEST(same_bits(third.finish(), sum));  // not in the order of the starts, but the same order on all workers
    BOOST_TEST(same_bits(first.finish(), y));
    BOOST_TEST(same_bits(fifth.finish(), part));
    BOOST_TEST(same_bits(fourth.finish(), dx));
    BOOST_TEST(same_bits(second.finish(), y2));
  }
}

BOOST_AUTO_TEST_CASE(end_when_another_call_of_their_kernel_begins) {
  const kernels k;
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me), x2 = block(n, k.me, 1);
    const auto y = k.to_last(x), y2 = k.to_last(x2), sum = k.total(x), sum2 = k.total(x2), part = k.parts(x),
               part2 = k.parts(x2);
    auto first = k.to_last.start(x);
    auto second = k.to_last.start(x2);
    const auto dy = k.to_last.adjoint(y);
    BOOST_TEST(same_bits(k.to_last(x), y));
    BOOST_TEST(same_bits(second.finish(), y2));
    BOOST_TEST(same_bits(first.finish(), y));
    auto third = k.total.start(x), fourth = k.total.start(x2);
    BOOST_TEST(same_bits(fourth.finish(), sum2));
    BOOST_TEST(same_bits(third.finish(), sum));
    auto fifth = k.parts.start(x), sixth = k.parts.start(x2);
    BOOST_TEST(same_bits(k.parts.adjoint(part), k.whole(part)));
    BOOST_TEST(same_bits(sixth.finish(), part2));
    BOOST_TEST(same_bits(fifth.finish(), part));
  }
}

BOOST_AUTO_TEST_CASE(may_end_in_another_order_and_place_on_each_worker) {
  const kernels k;
  const auto by_rows = k.everyone.partition(extents<dynamic, 1>(k.P));
  const auto by_columns = k.everyone.partition(extents<1, dynamic>(k.P));
  const repartition r(by_rows, by_columns, strategy::message, message_form::chunked);
  const repartition pushed(by_rows, by_columns);
  xt::xtensor<float, 2> rows(std::array<std::size_t, 2>{300 / k.P, 4001});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = static_cast<float>(i + k.me);
  const auto columns = r(rows);
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me), x2 = block(n, k.me, 1);
    const auto y = k.to_last(x), sum = k.total(x2), part = k.parts(x);
    for (std::size_t other = 0; other < k.P; ++other) {
      const bool sooner = k.me == other;
      auto first = k.to_last.start(x);
      auto second = k.total.start(x2);
      if (sooner) BOOST_TEST(same_bits(second.finish(), sum));
      BOOST_TEST(same_bits(first.finish(), y));
      if (!sooner) BOOST_TEST(same_bits(second.finish(), sum));
      auto third = k.parts.start(x);
      if (sooner) BOOST_TEST(same_bits(third.finish(), part));
      BOOST_TEST(same_bits(k.total(x2), sum));
      if (!sooner) BOOST_TEST(same_bits(third.finish(), part));
      auto fourth = r.start(rows);
      auto fifth = pushed.start(rows);
      if (sooner) BOOST_TEST(same_bits(fourth.finish(), columns));
      auto sixth = k.from_last.start_adjoint(x);
      if (!sooner) BOOST_TEST(same_bits(fourth.finish(), columns));
      BOOST_TEST(same_bits(sixth.finish(), k.from_last.adjoint(x)));
      BOOST_TEST(same_bits(fifth.finish(), columns));
    }
  }
}

BOOST_AUTO_TEST_CASE(that_are_let_go_still_arrive_and_disturb_nothing) {
  const kernels k;
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me);
    const auto y = k.to_last(x), sum = k.total(x), part = k.parts(x);
    { const auto forgotten = k.to_last.start(x); }
    { const auto forgotten = k.total.start(x); }
    { const auto forgotten = k.parts.start(x); }
    try {
      const auto unfinished = k.to_last.start(x);
      throw std::string("something else went wrong");
    } catch (const std::string&) {
    }
    if (k.me == 0) {  // one worker finishes the operation, the others drop it
      auto later = k.to_last.start(x);
      later.finish();
    } else {
      static_cast<void>(k.to_last.start(x));
    }
    BOOST_TEST(same_bits(k.to_last(x), y));
    BOOST_TEST(same_bits(k.total(x), sum));
    BOOST_TEST(same_bits(k.parts(x), part));
  }
}

BOOST_AUTO_TEST_CASE(outlive_their_kernel_and_end_when_their_elements_cannot_be_computed) {
  const kernels k;
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me);
    const auto y = k.to_last(x), dx = k.from_last.adjoint(x), part = k.parts(x);
    std::optional<sum_reduce<extents<dynamic>, extents<1>>> kernel(std::in_place, k.all, k.last);
    auto later = kernel->start(x);
    kernel.reset();
    BOOST_TEST(same_bits(later.finish(), y));
    std::optional<reduce_scatter<extents<dynamic>>> scatter(std::in_place, k.all, dimensions<0>);
    auto part_later = scatter->start(x);
    scatter.reset();
    BOOST_TEST(same_bits(part_later.finish(), part));

    const auto failing = [&] {
      if (k.me == k.P - 1) throw std::string("out of numbers");
    };
    try {
      auto never = kernel_access::start_adjoint(k.from_last, x, {}, failing);
      never.finish();
      BOOST_TEST(k.me != k.P - 1);
    } catch (const std::string&) {
      BOOST_TEST(k.me == k.P - 1);
    }
    try {
      auto never = kernel_access::start_adjoint(k.whole, x, {}, failing);
      never.finish();
    } catch (const std::string&) {
    }
    BOOST_TEST(same_bits(k.from_last.adjoint(x), dx));
    BOOST_TEST(same_bits(k.parts(x), part));
  }
}

BOOST_AUTO_TEST_CASE(are_refused_at_their_start_and_nothing_is_under_way_then) {
  const kernels k;
  const bool last = k.me + 1 == k.P;
  bool filled = false;
  const auto x = block(5, k.me), odd = block(last ? 6 : 5, k.me);
  if (k.P > 1) {
    BOOST_TEST(refused<shape_error>([&] {
                 k.to_last.start(odd);
               }).find("requires the blocks that are summed to have one shape") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] {
                 k.total.start(odd);
               }).find("requires the blocks that are summed to have one shape") != std::string::npos);
    BOOST_TEST(refused<shape_error>([&] {
                 k.parts.start(odd);
               }).find("requires the blocks that are summed to have one shape") != std::string::npos);
    BOOST_TEST(refused<disagreement_error>(
                   [&] { last ? static_cast<void>(k.to_last.start(x)) : static_cast<void>(k.total.start(x)); }) != "");
    BOOST_TEST(refused<disagreement_error>([&] {
                 last ? static_cast<void>(k.total.start(x)) : static_cast<void>(k.total(x));
               }).find("type double (8 bytes), by start; every worker") != std::string::npos);
  }
  const text error_message = last ? "the last worker will not" : "";
  BOOST_TEST(refused<shape_error>([&] {
               kernel_access::start_adjoint(k.from_last, x, error_message, [&] { filled = true; });
             }) == "the last worker will not");
  BOOST_TEST(refused<shape_error>([&] {
               kernel_access::start_adjoint(k.whole, x, error_message, [&] { filled = true; });
             }) == "the last worker will not");
  BOOST_TEST(!filled);
  const auto total = k.total(x);
  auto later = k.total.start(x);
  BOOST_TEST(same_bits(later.finish(), total));
}

BOOST_AUTO_TEST_CASE(begin_without_waiting_for_anybody, *test::at_least(2)) {
  const boost::mpi::communicator outside = test::workers();
  const kernels k(checks::local);  // with an agreement, a start would wait for all workers
  const auto me = static_cast<int>(k.me);
  for (std::size_t n : sizes) {
    const auto x = block(n, k.me);
    const auto y = k.to_last(x), sum = k.total(x), dx = k.from_last.adjoint(x);
    for (int early = 0; early < outside.size(); ++early) {
      // one worker starts, computes, and reports that before any other worker makes the call
      if (me != early && !hears_from(outside, early))
        BOOST_TEST(false, "worker " << early << " waits at the start of a sum");
      auto first = k.to_last.start(x);
      auto second = k.total.start(x);
      auto third = k.from_last.start_adjoint(x);
      const auto other = block(n, 3);  // its own computation
      if (me == early) tell_all(outside);
      BOOST_TEST(same_bits(first.finish(), y));
      BOOST_TEST(same_bits(second.finish(), sum));
      BOOST_TEST(same_bits(third.finish(), dx));
    }
  }
}

BOOST_AUTO_TEST_CASE(wait_for_nobodys_elements_once_all_have_agreed, *test::at_least(2)) {
  const boost::mpi::communicator outside = test::workers();
  const kernels k;
  const auto me = static_cast<int>(k.me);
  for (std::size_t n : sizes) {
    xt::xtensor<double, 1> x = block(n, k.me), dy = x;
    const auto expected = k.from_last.adjoint(x), part = k.parts(x);
    for (int early = 0; early < outside.size(); ++early) {
      dy.fill(0);
      auto later = kernel_access::start_adjoint(k.from_last, dy, {}, [&] {
        if (me != early && !hears_from(outside, early))
          BOOST_TEST(false, "worker " << early << " waits for the elements of others");
        std::copy(x.begin(), x.end(), dy.begin());
      });
      if (me == early) tell_all(outside);
      BOOST_TEST(same_bits(later.finish(), expected));
      auto part_later = kernel_access::start_adjoint(k.whole, dy, {}, [&] {
        if (me != early && !hears_from(outside, early))
          BOOST_TEST(false, "worker " << early << " waits for the elements of others");
      });
      if (me == early) tell_all(outside);
      BOOST_TEST(same_bits(part_later.finish(), part));
    }
  }
}

BOOST_AUTO_TEST_CASE(are_on_their_way_by_message_when_they_have_begun, *test::at_least(2)) {
  const boost::mpi::communicator outside = test::workers();
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(outside, checks::local);
  const auto two = everyone.partition(extents<2>{});
  const std::size_t me = everyone.id();
  for (std::size_t root = 0; root < 2; ++root) {
    const auto one = everyone.partition(extents<1>{}, workers(root, root + 1));
    const sum_reduce s(two, one);
    const all_sum_reduce a(two, dimensions<0>), plain(two, dimensions<0>);
    for (std::size_t n : sizes) {
      const auto x = block(n, me);
      const auto y = s(x);
      const auto sum = a(x);
      auto later = s.start(x);
      auto beside = a.start(x);
      BOOST_TEST(same_bits(plain(x), sum));  // its messages are not confused with those of the pending calls
      if (me == 1 - root && !hears_from(outside, static_cast<int>(root)))
        BOOST_TEST(false, "the root waits for the end of a contributor");
      BOOST_TEST(same_bits(later.finish(), y));
      if (me == root) outside.send(static_cast<int>(1 - root), 1);
      BOOST_TEST(same_bits(beside.finish(), sum));
    }
  }
}

BOOST_AUTO_TEST_CASE(of_blocks_that_lie_still_allocate_nothing_in_a_steady_loop) {
  const kernels k;
  const char* const free_memory = std::getenv("PARTITA_SHARED_FREE");
  if (free_memory != nullptr) return;  // the environment has decided
  for (std::size_t n : {7U, 30000U, 150000U}) {
    const auto x = block(n, k.me);
    const auto once = [&] {
      auto first = k.to_last.start(x);
      auto second = k.total.start(x);
      auto third = k.from_last.start_adjoint(x);
      const auto y = first.finish(), sum = second.finish(), dx = third.finish();
    };
    for (int times = 0; times < 4; ++times) once();
    const std::size_t before = test::allocations();
    for (int times = 0; times < 5; ++times) once();
    const std::size_t since = test::allocations() - before;
    BOOST_TEST(since == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
