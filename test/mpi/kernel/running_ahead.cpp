// Workers that are early or late, and that overwrite their blocks as soon as a call returns: a kernel must not read its
// input after the call, and must not reuse memory that other workers still read.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

constexpr checks levels[] = {checks::local, checks::agree};
constexpr std::size_t sizes[] = {100, 5000, 70000};  // one slot, several slots, more than two chunks

vector full(std::size_t n, double value) {
  vector x(std::array<std::size_t, 1>{n});
  x.fill(value);
  return x;
}

/// The part of element i that depends on its piece of the block, so that exchanged pieces are detected.
double piece(std::size_t i) { return static_cast<double>(i / 1024 % 64); }

/// Allocates a block of a given size from the pool of the world's kernels and overwrites it. If a kernel had freed a
/// block while others still read it, they would read these values.
void take_and_write(const world& everyone, std::size_t n) {
  const auto policy = partita::detail::transport_policy::from_environment();
  auto& pool = partita::detail::arena::of(partita::detail::own_node::of(everyone.state()->communicator()),
                                          policy.shared ? policy.arena_bytes : 0);
  make_pooled<double, 1>(pool, {n}).fill(-3000.0);
}

/// Calls a kernel many times. Each worker fills x from at(worker, turn), calls, then overwrites x and the result at
/// once, and allocates and overwrites shared memory; workers sleep in turn. Every element of the result must equal
/// expected(element, turn). The variants: x is on the heap; x is a result in shared memory; the call fills a tensor on
/// the heap; the call is non-blocking.
template <class Kernel, class At, class Expected>
void expect_reuse(const world& everyone, const char* name, const Kernel& kernel, bool gives, std::size_t n, At at,
                  Expected expected) {
  const std::size_t me = everyone.id(), P = everyone.size();
  const auto all = everyone.partition(extents(P));
  const broadcast copy(all, all);
  const std::size_t turns = 2 + test::random_cases(n > 10000 ? 3 : 10);
  const auto run = [&](auto& x, const char* where, const auto& call) {
    std::size_t wrong = 0;
    vector got;
    for (std::size_t k = 1; k <= turns; ++k) {
      for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = at(me, k) + piece(i);
      if (k % P == me && k % 3 == 0) ::usleep(1500);
      auto&& y = call(x);
      std::fill_n(x.data(), x.size(), -1000.0);
      take_and_write(everyone, x.size());
      got = y;
      std::fill_n(y.data(), y.size(), -2000.0);
      if (k % P == (me + 1) % P && k % 4 == 0) ::usleep(1500);
      bool right = true;
      const double* const data = got.data();
      for (std::size_t i = 0, size = got.size(); i < size; ++i) right = right && data[i] == expected(i, k);
      wrong += right ? 0 : 1;
    }
    BOOST_TEST(wrong == 0U, name << " of " << n << " elements " << where << ": " << wrong << " of " << turns
                                 << " results are wrong on worker " << me);
  };
  vector x = full(gives ? n : 0, 0);
  const auto at_once = [&](const auto& block) { return kernel(block); };
  run(x, "on the heap", at_once);
  vector target = kernel(x);
  run(x, "on the heap, into the heap", [&](const auto& block) -> vector& {
    kernel.into(block, target);
    return target;
  });
  const auto begun = [&](const auto& block) {
    auto later = kernel.start(block);
    take_and_write(everyone, block.size());
    return later.finish();
  };
  run(x, "on the heap, begun", begun);
  auto shared = copy(x);
  run(shared, "in shared memory", at_once);
  run(shared, "in shared memory, begun", begun);
}

double value_of_element(std::size_t worker, std::size_t turn) { return static_cast<double>(3 * worker + 7 * turn); }
double sum_of(std::size_t P, std::size_t turn) {
  double sum = 0;
  for (std::size_t w = 0; w < P; ++w) sum += value_of_element(w, turn);
  return sum;
}

void expect_reuse_by_all_kernels(checks level) {
  const world everyone(test::workers(), level);
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P));
  const auto first = everyone.partition<1>(), last = everyone.partition<1>(workers(P - 1, P));
  const auto sum = [&](std::size_t i, std::size_t k) { return sum_of(P, k) + static_cast<double>(P) * piece(i); };
  for (const std::size_t n : sizes) {
    expect_reuse(everyone, "broadcast", broadcast(first, all), first.active(), n, value_of_element,
                 [](std::size_t i, std::size_t k) { return value_of_element(0, k) + piece(i); });
    expect_reuse(everyone, "broadcast from the last", broadcast(last, all), last.active(), n, value_of_element,
                 [&](std::size_t i, std::size_t k) { return value_of_element(P - 1, k) + piece(i); });
    if (P > 1)
      expect_reuse(everyone, "broadcast to the others", broadcast(last, everyone.partition(extents(P - 1))),
                   last.active(), n, value_of_element,
                   [&](std::size_t i, std::size_t k) { return value_of_element(P - 1, k) + piece(i); });
    expect_reuse(everyone, "sum_reduce", sum_reduce(all, first), true, n, value_of_element, sum);
    expect_reuse(everyone, "sum_reduce to the last", sum_reduce(all, last), true, n, value_of_element, sum);
    expect_reuse(everyone, "all_sum_reduce", all_sum_reduce(all, dimensions<0>), true, n, value_of_element, sum);
    const std::size_t own = balanced_part(n, P, me).start;
    expect_reuse(everyone, "reduce_scatter", reduce_scatter(all, dimensions<0>), true, n, value_of_element,
                 [&](std::size_t i, std::size_t k) { return sum(own + i, k); });
    expect_reuse(everyone, "all_gather", all_gather(all, dimensions<0>), true, n, value_of_element,
                 [n](std::size_t i, std::size_t k) { return value_of_element(i / n, k) + piece(i % n); });
    const auto other = everyone.partition(extents(P), [&] {  // the same workers, shifted by one place
      std::vector<std::size_t> ids;
      for (std::size_t w = 0; w < P; ++w) ids.push_back((w + 1) % P);
      return workers(ids);
    }());
    const std::size_t from = (me + P - 1) % P;
    expect_reuse(everyone, "repartition", repartition(all, other), true, n, value_of_element,
                 [&](std::size_t i, std::size_t k) { return value_of_element(from, k) + piece(i); });
    expect_reuse(everyone, "scatter", repartition(first, all), first.active(), n, value_of_element,
                 [&](std::size_t i, std::size_t k) { return value_of_element(0, k) + piece(own + i); });
  }
}

/// Numbers that depend on the index, the worker and the kernel.
double number(std::size_t i, std::size_t worker, std::size_t kernel) {
  return static_cast<double>((3 * i + 11 * worker + 101 * kernel) % 1009);
}
vector sum_of_numbers(std::size_t n, std::size_t P, std::size_t kernel) {
  vector sum = full(n, 0);
  double* const data = sum.data();
  for (std::size_t w = 0; w < P; ++w)
    for (std::size_t i = 0; i < n; ++i) data[i] += number(i, w, kernel);
  return sum;
}
/// Whether two blocks have equal sizes and equal elements.
template <class A, class B>
bool same(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

/// Starts non-blocking sums by several kernels, makes other calls in between, and finishes them in a different order.
void expect_any_end(checks level) {
  const world everyone(test::workers(), level);
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P));
  const auto first = everyone.partition<1>(), last = everyone.partition<1>(workers(P - 1, P));
  for (const std::size_t n : {std::size_t{1}, std::size_t{50}, std::size_t{3000}, std::size_t{40000}}) {
    // new kernels for each size: without agreement a worker that only receives cannot see that blocks change
    const all_sum_reduce a(all, dimensions<0>), b(all, dimensions<0>);
    const sum_reduce to_first(all, first), to_last(all, last);
    const reduce_scatter parts(all, dimensions<0>);
    const broadcast spread(first, all);
    const repartition r(all, last), q(all, first);
    for (std::size_t turn = 0; turn < (n > 10000 ? 1U : 4U); ++turn) {
      std::vector<vector> pairs;  // so that the input is not contiguous and has to be packed
      for (std::size_t k = 0; k < 7; ++k) {
        pairs.push_back(full(2 * n, -5));
        for (std::size_t i = 0; i < n; ++i) pairs[k].data()[2 * i] = number(i, me, k + turn);
      }
      const auto given = [&](std::size_t k) { return xt::view(pairs[k], xt::range(0, 2 * n, 2)); };
      const auto sum = [&](std::size_t k) { return sum_of_numbers(n, P, k + turn); };
      auto one = a.start(given(0));
      auto two = to_last.start(given(1));
      if (me == turn % P) ::usleep(2000);
      auto three = b.start(given(2));
      auto four = to_first.start(given(3));
      auto five = parts.start(given(4));
      auto six = r.start(given(5));
      auto seven = q.start(given(6));
      const auto meanwhile = spread(first.active() ? full(n, 3.0 + static_cast<double>(turn)) : vector(full(0, 0)));
      BOOST_TEST(same(meanwhile, full(n, 3.0 + static_cast<double>(turn))));
      const auto whole = [&](std::size_t k) {
        vector y = full(P * n, 0);
        for (std::size_t w = 0; w < P; ++w)
          for (std::size_t i = 0; i < n; ++i) y.data()[w * n + i] = number(i, w, k + turn);
        return y;
      };
      const auto y7 = seven.finish();
      if (first.active()) BOOST_TEST(same(y7, whole(6)));
      const auto y3 = three.finish();
      BOOST_TEST(same(y3, sum(2)));
      if (me + 1 == P) ::usleep(1000);
      const auto y4 = four.finish();
      if (first.active()) BOOST_TEST(same(y4, sum(3)));
      const auto y2 = two.finish();
      if (last.active()) BOOST_TEST(same(y2, sum(1)));
      const auto y6 = six.finish();
      if (last.active()) BOOST_TEST(same(y6, whole(5)));
      const auto y5 = five.finish();
      const interval part = balanced_part(n, P, me);
      const auto sum5 = sum(4);
      BOOST_TEST((y5.size() == part.size() && std::equal(y5.data(), y5.data() + y5.size(), sum5.data() + part.start)));
      const auto y1 = one.finish();
      BOOST_TEST(same(y1, sum(0)));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(running_ahead)

BOOST_AUTO_TEST_CASE(a_block_may_change_as_soon_as_a_call_returns) {
  for (const checks level : levels) expect_reuse_by_all_kernels(level);
}

BOOST_AUTO_TEST_CASE(a_large_block_may_change_as_soon_as_a_broadcast_returns) {
  for (const checks level : levels) {
    const world everyone(test::workers(), level);
    const auto all = everyone.partition(extents(everyone.size()));
    const auto one = everyone.partition<1>();
    expect_reuse(everyone, "broadcast", broadcast(one, all), one.active(), std::size_t{1} << 19U, value_of_element,
                 [](std::size_t i, std::size_t k) { return value_of_element(0, k) + piece(i); });
  }
}

BOOST_AUTO_TEST_CASE(a_block_may_change_as_soon_as_a_call_between_nodes_returns) {
  const test::pretended nodes("PARTITA_NODES", "2");
  expect_reuse_by_all_kernels(checks::local);
}

BOOST_AUTO_TEST_CASE(what_is_under_way_ends_in_any_order) {
  for (const checks level : levels) expect_any_end(level);
}

BOOST_AUTO_TEST_CASE(what_is_under_way_between_nodes_ends_in_any_order) {
  for (const char* const nodes : {"2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    for (const checks level : levels) expect_any_end(level);
  }
}

BOOST_AUTO_TEST_CASE(what_is_under_way_as_messages_ends_in_any_order) {
  const test::pretended none("PARTITA_SHARED", "0");
  for (const checks level : levels) expect_any_end(level);
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_shared_view_keeps_what_it_shows) {
  for (const checks level : levels) {
    const world everyone(test::workers(), level);
    const std::size_t P = everyone.size(), me = everyone.id();
    const auto all = everyone.partition(extents(P));
    const auto one = everyone.partition<1>();
    const broadcast s(one, all, shared_view);
    const sum_reduce t(all, one, shared_view);
    const auto block = [&](double value) { return one.active() ? full(5000, value) : full(0, 0); };
    using view = std::decay_t<decltype(s(block(1)))>;
    // one worker keeps a view of the first block while all others drop theirs: a copy, a copy of a destroyed copy, an
    // assigned view, a moved view, or the last of several copies
    const auto keep = [](std::size_t way, view& original) -> std::optional<view> {
      if (way == 0) return original;
      if (way == 1) {
        const auto first = std::make_unique<view>(original);
        return *first;
      }
      if (way == 3) return std::move(original);
      if (way == 4) {
        const std::vector<view> several(5, original);
        return several[2];
      }
      return std::nullopt;
    };
    for (std::size_t turn = 0; turn < 5 * P; ++turn) {
      const bool keeps = turn / 5 == me;
      std::optional<view> original(s(block(1))), other(t.adjoint(block(2))), kept;
      if (keeps && turn % 5 != 2) {
        kept = keep(turn % 5, *original);
      } else if (keeps) {
        kept.emplace(*other);
        *kept = *original;
      }
      original.reset();
      other.reset();
      everyone.communicator().barrier();
      for (int k = 3; k < 7; ++k) {  // the owner reuses a block only when no worker views it any more
        const auto fresh = s(block(k)), more = t.adjoint(block(-k));
        BOOST_TEST(fresh(4999) == k);
        BOOST_TEST(more(0) == -k);
        everyone.communicator().barrier();
      }
      if (keeps) BOOST_TEST(same(*kept, full(5000, 1)));
      everyone.communicator().barrier();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
