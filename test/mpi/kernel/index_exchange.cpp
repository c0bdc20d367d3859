// What an index exchange sends between nodes, its blocks with ghosts, and its errors, which all workers throw together.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/send_to.hpp>
#include <random>
#include <set>
#include <string>

#include "../support/allocation_count.hpp"

namespace {

using namespace partita;
using indices = std::vector<std::size_t>;

/// Whether the call throws an Error on all workers whose message is the same on all of them and contains a part.
template <class Error, class Call>
void expect_refused(const world& everyone, const char* part, Call call) {
  const std::string message = test::refused<Error>(call);
  BOOST_TEST(message.find(part) != std::string::npos, "got '" << message << "', and not '" << part << "'");
  const std::uint64_t number = std::hash<std::string>()(message);
  BOOST_TEST(minimum_over(everyone, number) == maximum_over(everyone, number));
}

xt::xtensor<double, 1> numbers(std::size_t n, double first) {
  return first + xt::arange<double>(static_cast<double>(n));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(index_exchanges)

BOOST_AUTO_TEST_CASE(rows_are_combined_from_the_identity_on_in_the_order_of_the_workers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const index_exchange exchange(everyone, interval{4 * me, 4 * me + 4}, interval{0, 4 * P});
  const auto expect = [&](auto reduction, auto combined, auto value) {
    xt::xtensor<double, 1> dy = numbers(4 * P, 0);
    for (std::size_t i = 0; i < 4 * P; ++i) dy(i) = value(me, i);
    const auto dx = exchange.reduce(dy, reduction);
    for (std::size_t i = 4 * me; i < 4 * me + 4; ++i) {
      double wanted = value(0, i);
      for (std::size_t k = 1; k < P; ++k) wanted = combined(wanted, value(k, i));
      BOOST_TEST(dx(i - 4 * me) == wanted, "index " << i << ": " << dx(i - 4 * me) << " and not " << wanted);
    }
  };
  const auto small = [](std::size_t k, std::size_t i) { return 1.0 + static_cast<double>((3 * k + i) % 7); };
  expect(
      maximum, [](double a, double b) { return std::max(a, b); },
      [&](std::size_t k, std::size_t i) { return -small(k, i); });
  expect(
      minimum, [](double a, double b) { return std::min(a, b); }, small);
  expect(reductions::product, std::multiplies<>(), small);
  xt::xtensor<bool, 1> is_even(std::array{4 * P});
  for (std::size_t i = 0; i < 4 * P; ++i) is_even(i) = (me + i) % 2 == 0;
  const auto some = exchange.reduce(is_even, any), every = exchange.reduce(is_even, all);
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(some(i) == (P > 1 || i % 2 == 0));
    BOOST_TEST(every(i) == (P == 1 && i % 2 == 0));
  }
  if (std::getenv("PARTITA_NODES") != nullptr) return;  // there the workers of a node are combined first
  expect(sum_t(), std::plus<>(), [](std::size_t k, std::size_t i) {
    constexpr std::array<double, 5> apart{1e16, 1, -1e16, 3, 1e-3};  // their sum depends on the order
    return apart[(2 * k + i) % 5];
  });
}

BOOST_AUTO_TEST_CASE(a_row_travels_once_to_each_node) {
  if (std::getenv("PARTITA_SHARED") != nullptr || std::getenv("PARTITA_SHARED_FREE") != nullptr) return;
  for (const std::size_t nodes : {2U, 3U}) {
    const test::pretended apart("PARTITA_NODES", nodes == 2 ? "2" : "3");
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), me = everyone.id(), each = 10;
    const auto wanted_by = [&](std::size_t k) {
      indices all;
      for (std::size_t i = 0; i < each * P; ++i)
        if (i % 3 == 0 || (i + k) % 4 == 0) all.push_back(i);
      return all;
    };
    const index_exchange exchange(everyone, interval{each * me, each * (me + 1)}, wanted_by(me));
    const auto y = exchange(numbers(each, static_cast<double>(each * me)));
    const auto mine = wanted_by(me);
    for (std::size_t j = 0; j < mine.size(); ++j) BOOST_TEST(y(j) == static_cast<double>(mine[j]));
    // counted: each index that a node does not own, once for each node that wants it
    const auto node_of = [&](std::size_t k) { return detail::own_node::of(everyone.communicator()).node_of(k); };
    std::set<std::pair<std::size_t, std::size_t>> crossing;
    for (std::size_t k = 0; k < P; ++k)
      for (const std::size_t i : wanted_by(k))
        if (node_of(i / each) != node_of(k)) crossing.insert({node_of(k), i});
    std::uint64_t planned = 0;
    for (const auto& send : exchange.plan().sends)
      if (node_of(send.worker) != node_of(me)) planned += send.where.volume();
    BOOST_TEST(sum_over(everyone, planned) == crossing.size());
    BOOST_TEST(sum_over(everyone, exchange.counts().bytes_by_message) == 8 * crossing.size());
    const auto sums = exchange.adjoint(xt::xtensor<double, 1>(xt::ones<double>({mine.size()})));
    BOOST_TEST(sum_over(everyone, exchange.counts().bytes_by_message) == 8 * crossing.size());
    for (std::size_t r = 0; r < each; ++r) {
      std::size_t copies = 0;
      for (std::size_t k = 0; k < P; ++k)
        for (const std::size_t i : wanted_by(k)) copies += i == each * me + r ? 1U : 0U;
      BOOST_TEST(sums(r) == static_cast<double>(copies));
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_are_found_wherever_runs_of_any_lengths_are_owned) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), n = 7 * P + 5;
  std::mt19937 random(11);  // the same on all workers
  for (int round = 0; round < 6; ++round) {
    std::vector<indices> owned(P);
    for (std::size_t at = 0, next = 0; at < n; at = next) {
      next = std::min(n, at + 1 + random() % 9);
      indices run(next - at), &list = owned[random() % P];
      std::iota(run.begin(), run.end(), at);
      list.insert(list.begin(), run.begin(), run.end());  // the last run first
    }
    indices all(2 * n);
    for (std::size_t& one : all) one = random() % n;
    if (round % 2 == 0) std::sort(all.begin(), all.end());
    const auto wanted_by = [&](std::size_t worker) {
      return indices(all.begin(), all.end() - 3 * std::ptrdiff_t(worker));
    };
    const indices wanted = wanted_by(me);
    const index_exchange exchange(everyone, owned[me], wanted);
    xt::xtensor<double, 1> x(std::array{owned[me].size()}), expected(std::array{wanted.size()}),
        times = xt::zeros_like(x);
    std::copy(owned[me].begin(), owned[me].end(), x.begin());
    std::copy(wanted.begin(), wanted.end(), expected.begin());
    for (std::size_t k = 0; k < P; ++k)
      for (const std::size_t one : wanted_by(k))
        for (std::size_t j = 0; j < owned[me].size(); ++j) times(j) += owned[me][j] == one ? 1 : 0;
    BOOST_TEST((exchange(x) == expected));
    BOOST_TEST((exchange.adjoint(xt::xtensor<double, 1>(xt::ones_like(expected))) == times));
    std::set<std::size_t> others(wanted.begin(), wanted.end());
    for (const std::size_t one : owned[me]) others.erase(one);
    if (std::getenv("PARTITA_NODES") == nullptr) BOOST_TEST(exchange.plan().elements_received() == others.size());
  }
}

BOOST_AUTO_TEST_CASE(consecutive_rows_are_one_box_on_one_node) {
  const test::pretended together("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  indices all(100 * P);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const index_exchange exchange(everyone, interval{100 * me, 100 * me + 100}, all);
  BOOST_TEST(exchange.plan().sends.size() == P - 1);
  BOOST_TEST(exchange.plan().receives.size() == P - 1);
  BOOST_TEST(exchange.plan(3).elements_received() == 300 * (P - 1));
  // ... and are copied as one run for each worker.
  const detail::index_planner planner(everyone, interval{100 * me, 100 * me + 100}, all, detail::index_exchange_texts);
  const auto& pattern = *planner.pattern();
  BOOST_TEST(pattern.kept.has_one_run());
  BOOST_TEST(pattern.transfers.packed.groups().size() == P - 1);
  BOOST_TEST(pattern.transfers.placed_rows.groups().size() <= 2U);
}

BOOST_AUTO_TEST_CASE(rows_are_written_as_they_travel_whatever_their_width) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  // rows that no worker packs, into results and into views that others cannot reach; the widest are cut on their way
  indices wanted;
  for (std::size_t i = 0; i < 6 * P; i += 1 + i % 2) wanted.push_back((5 * i + me) % (6 * P));
  for (const std::size_t width : {1U, 3U, 16U, 33000U, 150001U}) {
    const index_exchange exchange(everyone, interval{6 * me, 6 * me + 6}, wanted);
    xt::xtensor<double, 2> x({6, 2 * width});
    for (std::size_t r = 0; r < 6; ++r)
      for (std::size_t c = 0; c < 2 * width; ++c) x(r, c) = static_cast<double>((6 * me + r) * 1000 + c % 999);
    const auto every_other = xt::view(x, xt::all(), xt::range(0, 2 * width, 2));
    const xt::xtensor<double, 2> dense = every_other;
    xt::xtensor<double, 3> view = xt::zeros<double>(std::array{wanted.size(), std::size_t{2}, width});
    exchange.into(dense, xt::view(view, xt::all(), 1, xt::all()));
    // all rows but its own, so that they are sent back as they are, from a view, too
    indices others;
    for (std::size_t i = 0; i < 6 * P; ++i)
      if (i / 6 != me) others.push_back(i);
    const index_exchange back(everyone, interval{6 * me, 6 * me + 6}, others);
    xt::xtensor<double, 2> wide({others.size(), 2 * width});
    for (std::size_t k = 0; k < wide.size(); ++k) wide.data()[k] = static_cast<double>(k % 977);
    const auto half = xt::view(wide, xt::all(), xt::range(0, 2 * width, 2));
    BOOST_TEST((back.adjoint(half) == back.adjoint(xt::xtensor<double, 2>(half))));
    const auto y = exchange(dense), z = exchange(every_other);
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::size_t c = 0; c < width; ++c) {
        const auto value = static_cast<double>(wanted[k] * 1000 + 2 * c % 999);
        if (y(k, c) != value || z(k, c) != value || view(k, 1, c) != value || view(k, 0, c) != 0) ++wrong;
      }
    BOOST_TEST(wrong == 0U, wrong << " elements of rows of " << width);
  }
}

BOOST_AUTO_TEST_CASE(what_was_announced_before_a_refused_call_is_taken_back) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const index_exchange exchange(everyone, interval{3 * me, 3 * me + 3}, interval{0, 3 * P});
  const xt::xtensor<double, 1> one = numbers(3, static_cast<double>(3 * me)), longer = numbers(4, 0);
  const xt::xtensor<double, 2> two = xt::view(one, xt::all(), xt::newaxis()) * xt::ones<double>({1, 2});
  const xt::xtensor<double, 1> all = numbers(3 * P, 0), back = static_cast<double>(P) * one;
  for (int round = 0; round < 4; ++round) {
    BOOST_TEST(exchange(one) == all);
    BOOST_TEST((xt::view(exchange(two), xt::all(), 1) == all));
    BOOST_TEST(exchange.adjoint(all) == back);
    const bool is_wrong = me == static_cast<std::size_t>(round) % P;
    expect_refused<shape_error>(everyone, "requires a block with a row for each",
                                [&] { static_cast<void>(exchange(is_wrong ? longer : one)); });
    // blocks of both shapes were exchanged before, so that each worker has a plan for its own
    if (P > 1)
      expect_refused<disagreement_error>(everyone, "(x)", [&] {
        if (is_wrong) static_cast<void>(exchange(two));
        else static_cast<void>(exchange(one));
      });
    if (P > 1)
      expect_refused<disagreement_error>(everyone, "(", [&] {
        if (is_wrong) static_cast<void>(exchange.adjoint(all));
        else static_cast<void>(exchange(one));
      });
  }
}

BOOST_AUTO_TEST_CASE(it_is_a_halo_exchange_where_indices_are_those_of_a_halo) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), n = 5 * P;
  const auto p = everyone.partition(extents(P));
  const halo_exchange halo(p, {.before = 2, .after = 1}, boundary::periodic);
  const std::size_t first = 5 * me;
  // [refresh]
  const index_exchange exchange(everyone, interval{first, first + 5},
                                {(first + n - 2) % n, (first + n - 1) % n, (first + 5) % n});
  const auto x = numbers(5, static_cast<double>(first));
  xt::xtensor<double, 1> u = xt::zeros<double>({8});
  xt::view(u, xt::range(0, 5)) = x;
  exchange.refresh(u);
  // [/refresh]
  const auto v = halo(x);
  BOOST_TEST((v == xt::xtensor<double, 1>{u(5), u(6), u(0), u(1), u(2), u(3), u(4), u(7)}));
}

BOOST_AUTO_TEST_CASE(several_fields_of_different_types_are_refreshed_together) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const index_exchange exchange(everyone, indices{me}, {(me + 1) % P, (me + P - 1) % P, (me + 1) % P});
  xt::xtensor<char, 1> a = xt::zeros<char>({4});
  xt::xtensor<double, 3> b = xt::zeros<double>({4, 2, 3});
  xt::xtensor<std::complex<float>, 2> c = xt::zeros<std::complex<float>>({4, 2});
  a(0) = static_cast<char>(me);
  for (std::size_t e = 0; e < 6; ++e) b.data()[e] = static_cast<double>(10 * me + e);
  c(0, 1) = {static_cast<float>(me), 1};
  exchange.refresh(a, b, c);
  for (std::size_t j = 1; j < 4; ++j) {
    const std::size_t other = j == 2 ? (me + P - 1) % P : (me + 1) % P;
    BOOST_TEST(a(j) == static_cast<char>(other));
    for (std::size_t e = 0; e < 6; ++e) BOOST_TEST(b.data()[6 * j + e] == static_cast<double>(10 * other + e));
    BOOST_TEST((c(j, 0) == std::complex<float>()));
    BOOST_TEST((c(j, 1) == std::complex<float>(static_cast<float>(other), 1)));
  }
  const double ghost = b(3, 1, 2);
  {
    auto later = exchange.start_refresh(a, b);
    later.finish();
    b(3, 1, 2) = -1;
  }
  BOOST_TEST(b(3, 1, 2) == -1.0);  // what is finished does not happen again
  b(3, 1, 2) = ghost;
  xt::xtensor<float, 1> f = xt::ones<float>({4});  // before b, so that a packed row of b does not begin after its bytes
  exchange.adjoint_refresh(f, b, c);
  BOOST_TEST(f(0) == 4.0F);
  const double back = static_cast<double>(10 * me);
  BOOST_TEST(b(0, 0, 0) == 4 * back);  // its own, and that of three ghosts
  BOOST_TEST((c(0, 1) == std::complex<float>(4 * static_cast<float>(me), 4)));
  BOOST_TEST(b(1, 1, 2) == 0.0);
  BOOST_TEST((c(3, 1) == std::complex<float>()));
}

BOOST_AUTO_TEST_CASE(rows_of_each_field_are_aligned_in_a_packed_row) {
  detail::row_call<4> call;
  const std::size_t element[] = {1, 8, 4, 16}, elements[] = {3, 1, 1, 2};
  for (std::size_t f = 0; f < 4; ++f) call.inputs[f].element_bytes = element[f], call.inputs[f].elements = elements[f];
  BOOST_TEST((call.offsets() == std::array<std::size_t, 4>{0, 8, 16, 32}));
  BOOST_TEST(call.row_pitch() == 64U);
  call.inputs[3].elements = 1, call.inputs[3].element_bytes = 2;
  BOOST_TEST(call.offsets()[3] == 20U);
  BOOST_TEST(call.row_pitch() == 32U);  // so that the next row begins as the first
}

BOOST_AUTO_TEST_CASE(a_pending_exchange_that_nobody_finishes_is_completed) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  xt::xtensor<double, 1> u = numbers(2, static_cast<double>(me));
  {
    const index_exchange exchange(everyone, indices{me}, {(me + 1) % P});
    { auto later = exchange.start_refresh(u); }
    BOOST_TEST(u(1) == static_cast<double>((me + 1) % P));
    auto first = exchange.start(numbers(1, 5.0));
    auto second = exchange.start(numbers(1, static_cast<double>(me)));  // completes the first
    BOOST_TEST(second.finish()(0) == static_cast<double>((me + 1) % P));
    BOOST_TEST(first.finish()(0) == 5.0);
  }
  auto later = index_exchange(everyone, indices{me}, {(me + 1) % P}).start(numbers(1, static_cast<double>(me)));
  BOOST_TEST(later.finish()(0) == static_cast<double>((me + 1) % P));
}

BOOST_AUTO_TEST_CASE(what_a_pending_exchange_needs_outlives_the_call) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), width = 300000;  // rows are longer than a slot of a ring
  const auto wide = [&](double value) { return xt::xtensor<double, 2>(std::array{std::size_t{1}, width}, value); };
  const auto number = [](std::size_t k) { return static_cast<double>(k); };
  auto forth = std::make_unique<index_exchange>(everyone, indices{me}, indices{(me + 1) % P});
  const index_exchange back(everyone, indices{me}, indices{(me + P - 1) % P});
  for (int round = 0; round < 3; ++round) {
    // Two kernels are pending, one of a tensor that ends with its call, the other of an expression.
    auto first = forth->start(wide(number(me)));
    auto second = back.start(wide(number(me)) + 100.0);
    const auto other = std::make_unique<index_exchange>(std::move(*forth));  // the first kernel is moved and destroyed
    forth.reset();
    const xt::xtensor<double, 2> over = wide(-1), again = wide(-2);  // where the temporaries were
    const auto z = second.finish(), y = first.finish();
    const auto is_all = [&](const auto& block, double value) {
      return std::all_of(block.data(), block.data() + block.size(), [&](double x) { return x == value; });
    };
    BOOST_TEST(y.size() == width);
    BOOST_TEST(is_all(y, number((me + 1) % P)));
    BOOST_TEST(is_all(z, number((me + P - 1) % P) + 100));
    BOOST_TEST((is_all(over, -1) && is_all(again, -2)));
    auto dx = other->start_adjoint(wide(number(me)));
    const xt::xtensor<double, 2> last = wide(-3);
    BOOST_TEST(is_all(dx.finish(), number((me + P - 1) % P)));
    BOOST_TEST(is_all(last, -3));
    forth = std::make_unique<index_exchange>(everyone, indices{me}, indices{(me + 1) % P});
  }
}

BOOST_AUTO_TEST_CASE(a_kernel_that_was_moved_from_is_an_error) {
  const world everyone(test::workers());
  index_exchange first(everyone, indices{everyone.id()}, {0});
  const index_exchange second = std::move(first);
  BOOST_TEST(second(numbers(1, static_cast<double>(everyone.id())))(0) == 0.0);
  for (const std::string& message :
       {test::refused([&] { first(numbers(1, 0.0)); }), test::refused([&] { static_cast<void>(first.plan()); })})
    BOOST_TEST(message.find("was not moved from") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(one_agreement_serves_a_chain) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const index_exchange next(everyone, indices{me}, {(me + 1) % P});
  const auto twice = compose(next, next);
  for (int call = 0; call < 5; ++call) {
    const double salt = 10.0 * call;
    BOOST_TEST(twice(numbers(1, salt + static_cast<double>(me)))(0) == salt + static_cast<double>((me + 2) % P));
    BOOST_TEST(twice.adjoint(numbers(1, salt + static_cast<double>((me + 2) % P)))(0) ==
               salt + static_cast<double>(me));
  }
}

BOOST_AUTO_TEST_CASE(steady_calls_allocate_nothing) {
  if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;
  const test::pretended one("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const index_exchange exchange(everyone, interval{9 * me, 9 * me + 9}, {(9 * me + 10) % (9 * P), 0, 3, 0});
  const xt::xtensor<double, 2> x = xt::ones<double>({9, 3}), dy = xt::ones<double>({4, 3});
  xt::xtensor<double, 2> u = xt::ones<double>({13, 3});
  const auto call = [&] {
    exchange(x);
    exchange.adjoint(dy);
    exchange.start(x).finish();
    exchange.refresh(u, u);
    exchange.adjoint_refresh(u);
  };
  for (int k = 0; k < 5; ++k) call();
  const std::size_t before = test::allocations();
  for (int k = 0; k < 5; ++k) call();
  const std::size_t allocations = test::allocations() - before;
  if (detail::arena::environment_allows_sharing()) BOOST_TEST(allocations == 0U);
}

BOOST_AUTO_TEST_CASE(no_worker_holds_more_than_what_it_owns_and_wants) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), each = 8000, few = 5;
  // 1. Ranges: of 2^40 rows of each worker only those that are wanted take memory.
  const std::size_t rows = std::size_t{1} << 40U, next = (me + 1) % P;
  test::largest_allocation();
  const index_exchange ranges(everyone, interval{rows * me, rows * (me + 1)}, {rows * next, rows * next + 7});
  BOOST_TEST(test::largest_allocation() < 4096U + 64 * P);
  BOOST_TEST(ranges.plan().elements_received() == (P == 1 ? 0 : 2));
  // 2. Lists, each with every P-th index: no list has an entry for each of the `each * P` indices of all workers. With
  // 6 workers that would be 1.4 times the bound, with more of them more.
  indices owned, wanted;
  for (std::size_t k = 0; k < each; ++k) owned.push_back((each - 1 - k) * P + me);
  for (std::size_t k = 0; k < few; ++k) wanted.push_back((7 * k * P + me + 1) % (each * P));
  test::largest_allocation(), test::most_in_use();
  const index_exchange lists(everyone, owned, wanted);
  BOOST_TEST(test::largest_allocation() <= 4 * sizeof(std::size_t) * (each + few) + 8192);
  BOOST_TEST(test::most_in_use() <= 12 * sizeof(std::size_t) * (each + few) + 8192 + 256 * P);
  xt::xtensor<double, 1> x = xt::zeros<double>({each});
  for (std::size_t k = 0; k < each; ++k) x(k) = static_cast<double>(owned[k]);
  test::most_in_use();
  const auto y = lists(x);
  BOOST_TEST(test::most_in_use() <= sizeof(double) * (each + few) + 4096 + 64 * P);
  for (std::size_t k = 0; k < few; ++k) BOOST_TEST(y(k) == static_cast<double>(wanted[k]));
}

BOOST_AUTO_TEST_CASE(wrong_indices_are_an_error_on_all_before_anything_moves) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  const auto owned = interval{3 * me, 3 * me + 3};
  expect_refused<shape_error>(everyone, "wants 1000", [&] {
    index_exchange(everyone, owned, me == last ? indices{0, 1000} : indices{});
  });
  expect_refused<shape_error>(everyone, "the number of those that are owned; worker", [&] {
    index_exchange(everyone, owned, me == last ? indices{0, 3 * P} : indices{});
  });
  expect_refused<shape_error>(
      everyone, "requires owned indices 0, 1, ..., n - 1, each on one worker: no worker owns index 2; give it an owner",
      [&] {
        index_exchange(everyone, me == 0 ? interval{0, 2} : owned, {});
        if (P == 1) index_exchange(everyone, indices{0, 1, 3}, {});
      });
  text owners;
  owners << "index 1 is owned by worker 0 and by worker " << last << "; leave it out of one list";
  expect_refused<shape_error>(everyone, owners.c_str(), [&] {
    indices own{3 * me, 3 * me + 1, 3 * me + 2};
    if (me == last) own.push_back(1);
    index_exchange(everyone, own, {});
  });
  expect_refused<shape_error>(everyone, "a negative index is none", [&] {
    index_exchange(everyone, std::vector<int>{me == last ? -1 : static_cast<int>(me)}, {});
  });
  expect_refused<shape_error>(everyone, "wants -2",
                              [&] { index_exchange(everyone, owned, std::vector<int>{me == last ? -2 : 0}); });
  for (const bool owns : {false, true}) {
    const text words = text("requires ranges that do not stop before they start, worker ")
                       << last << (owns ? " owns" : " wants")
                       << " one that does; interval{first, last} has the indices from first to last - 1";
    expect_refused<shape_error>(everyone, words.c_str(), [&] {
      const interval reversed = me == last ? interval{3 * me + 3, 3 * me} : interval{0, 0};
      index_exchange(everyone, owns ? reversed : owned, owns ? interval{} : reversed);
    });
  }
  // what follows works
  const index_exchange exchange(everyone, owned, {0});
  BOOST_TEST(exchange(numbers(3, 3.0 * static_cast<double>(me)))(0) == 0.0);
}

BOOST_AUTO_TEST_CASE(any_index_without_an_owner_is_named) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), n = 2 * P + 1;
  for (std::size_t missing = 0; missing + 1 < n; ++missing) {  // wherever it is in the parts of the directory
    indices own;                                               // no range on any worker that has two
    for (std::size_t i = me; i < n; i += P)
      if (i != missing) own.insert(own.begin(), i);
    text wanted;
    wanted << "no worker owns index " << missing << "; give it an owner";
    expect_refused<shape_error>(everyone, wanted.c_str(), [&] { index_exchange(everyone, own, {}); });
  }
}

BOOST_AUTO_TEST_CASE(wrong_blocks_are_an_error_on_all_before_anything_moves) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), last = everyone.size() - 1;
  const index_exchange exchange(everyone, interval{3 * me, 3 * me + 3}, {0, 2});
  const auto x = numbers(3, 3.0 * static_cast<double>(me));
  xt::xtensor<double, 1> view = xt::zeros<double>({2}), narrow = xt::zeros<double>({1}), whole = numbers(5, 0);
  for (int call = 0; call < 2; ++call) {
    text rows;
    rows << "requires a block with a row for each index that its worker owns, worker " << last
         << " has 3 and got a block of [4]";
    expect_refused<shape_error>(everyone, rows.c_str(), [&] { exchange(numbers(me == last ? 4 : 3, 0)); });
    expect_refused<shape_error>(everyone, "that its worker wants",
                                [&] { exchange.adjoint(numbers(me == last ? 3 : 2, 0)); });
    expect_refused<shape_error>(everyone, "owns and wants", [&] { exchange.refresh(me == 0 ? view : whole); });
    expect_refused<shape_error>(everyone, "requires a view of the shape of the result [2]",
                                [&] { exchange.into(x, me == last ? narrow : view); });
    expect_refused<shape_error>(everyone, "shares no element with x", [&] {
      xt::xtensor<double, 1> both = numbers(5, 0);
      auto part = xt::view(both, xt::range(0, 3));
      auto to = me == last ? xt::view(both, xt::range(2, 4)) : xt::view(both, xt::range(3, 5));
      exchange.into(part, to);
    });
    exchange(x);
    // nothing has moved
    BOOST_TEST((view == xt::zeros<double>({2}) && narrow == xt::zeros<double>({1}) && whole == numbers(5, 0)));
  }
  if (last == 0) return;
  expect_refused<disagreement_error>(everyone, "shape [3, 2] of double", [&] {
    if (me == 0) exchange(xt::xtensor<double, 2>(xt::ones<double>({3, 2})));
    else exchange(x);
  });
  expect_refused<disagreement_error>(everyone, "shape [3] of float", [&] {
    if (me == last) exchange(xt::xtensor<float, 1>(xt::ones<float>({3})));
    else exchange(x);
  });
  using rows_of_rows = xt::xtensor<int, 3>;
  const std::vector<rows_of_rows::shape_type> shapes{{3, 3, 2}, {3, 2, 3}, {3, 1, 6}, {3, 6, 1}, {3, 2, 2}};
  for (const auto& one : shapes)  // most have rows of as many elements; some differ along one dimension only
    for (const auto& other : shapes)
      if (one != other)
        expect_refused<disagreement_error>(everyone, "of int",
                                           [&] { exchange(rows_of_rows(xt::ones<int>(me == last ? one : other))); });
  expect_refused<disagreement_error>(everyone, ".reduce(dy, reduction)", [&] {
    if (me == last) exchange.reduce(numbers(2, 0), maximum);
    else exchange.reduce(numbers(2, 0), minimum);
  });
  expect_refused<disagreement_error>(everyone, ".adjoint(dy)", [&] {
    if (me == 0) exchange.adjoint(numbers(2, 0));
    else exchange(x);
  });
  expect_refused<disagreement_error>(everyone, "a block of shape [5] of double, a block of shape [5] of double", [&] {
    auto other = whole;
    if (me == 0) exchange.refresh(whole, other);
    else exchange.refresh(whole);
  });
  expect_refused<disagreement_error>(everyone, "2 owned and 0 wanted indices", [&] {
    if (me == 0) index_exchange(everyone, {0, 1}, {});
    else exchange(x);
  });
  BOOST_TEST((whole == numbers(5, 0)));
  BOOST_TEST(exchange(x)(1) == 2.0);
}

BOOST_AUTO_TEST_CASE(rows_that_are_sent_arrive_in_the_order_of_their_senders_and_return) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto receiver = [&](std::size_t k, std::size_t j) { return k % 3 == 1 ? P - 1 : (j * j + k) % P; };
  const auto rows_of = [](std::size_t k) { return k % 4 == 2 ? std::size_t{0} : 5 + k; };
  indices receivers;
  std::vector<double> wanted;
  for (std::size_t j = 0; j < rows_of(me); ++j) receivers.push_back(receiver(me, j));
  for (std::size_t k = 0; k < P; ++k)
    for (std::size_t j = 0; j < rows_of(k); ++j)
      if (receiver(k, j) == me) wanted.push_back(static_cast<double>(100 * k + j));
  const index_exchange there = send_to(everyone, receivers);
  const auto x = numbers(rows_of(me), 100.0 * static_cast<double>(me));
  const auto y = there(x);
  BOOST_TEST(std::equal(y.begin(), y.end(), wanted.begin(), wanted.end()));
  BOOST_TEST((there.rows_of_argument() == receivers.size() && there.rows_of_result() == wanted.size()));
  BOOST_TEST((there.adjoint(y) == x));
  std::size_t leaving = 0;
  for (const std::size_t to : receivers) leaving += to == me ? 0 : 1;
  BOOST_TEST(there.plan().elements_sent() == leaving);
  BOOST_TEST(there.plan(3).elements_sent() == 3 * leaving);
  for (const int wrong : {-1, static_cast<int>(P)}) {
    const text words = text("partita::send_to(everyone, receivers): requires receivers below the number of workers, ")
                       << P << "; worker " << P - 1 << " sends row 1 to " << wrong;
    expect_refused<shape_error>(everyone, words.c_str(), [&] {
      send_to(everyone, std::vector<int>{0, me == P - 1 ? wrong : 0});
    });
  }
  const text rows =
      text("partita::send_to(everyone, receivers)(x): requires a block with a row for each receiver, worker ")
      << P - 1 << " has 2 and got a block of [3]; dimension 0 numbers the indices";
  const auto two = send_to(everyone, {0, 0});
  expect_refused<shape_error>(everyone, rows.c_str(), [&] { two(numbers(me == P - 1 ? 3 : 2, 0)); });
  expect_refused<shape_error>(everyone, "for each row that its worker gets",
                              [&] { two.adjoint(numbers(me == P - 1 ? 1 : two.rows_of_result(), 0)); });
}

BOOST_AUTO_TEST_CASE(as_many_as_2_to_the_62_indices_may_be_owned_and_no_more) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), most = std::size_t{1} << 62U;
  const bool last = me + 1 == P;
  const auto owned = [&](std::size_t end) { return last ? interval{P - 1, end} : interval{me, me + 1}; };
  const index_exchange far(everyone, owned(most), {most - 1, 0});
  BOOST_TEST((far.rows_of_argument() == (last ? most - (P - 1) : 1) && far.rows_of_result() == 2));
  const text words = text("partita::index_exchange(everyone, owned, wanted): requires indices below 2^62, got ")
                     << P - 1 << " among those that worker " << P - 1 << " owns; a negative index is none";
  expect_refused<shape_error>(everyone, words.c_str(), [&] { index_exchange(everyone, owned(most + 1), {}); });
  const text beyond = text("requires each index that its worker wants to be below ")
                      << 3 * P << ", the number of those that are owned; worker " << P - 1 << " wants " << 3 * P;
  expect_refused<shape_error>(everyone, beyond.c_str(), [&] {
    index_exchange(everyone, interval{3 * me, 3 * me + 3}, last ? indices{3 * P - 1, 3 * P} : indices{});
  });
}

BOOST_AUTO_TEST_SUITE_END()
