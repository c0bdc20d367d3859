// The laws of the index exchange: random indices, with every law of a kernel, and equality with one process.
#include "law.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <algorithm>
#include <numeric>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <random>

namespace {

using namespace partita;
using law::integers;
using law::same;
using indices = std::vector<std::size_t>;

/// The indices that each worker owns and wants; all workers draw the same.
struct index_sets {
  std::vector<indices> owned, wanted;
  std::size_t n = 0;

  index_sets(std::size_t workers, std::mt19937& random) : owned(workers), wanted(workers) {
    n = random() % 4 == 0 ? random() % 3 : random() % 40;
    indices all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const bool ranges = random() % 2 == 0, one_owner = random() % 5 == 0;
    if (!ranges) std::shuffle(all.begin(), all.end(), random);
    std::size_t owner = random() % workers;
    for (const std::size_t i : all) {  // runs of a random length go to random workers, some of which own nothing
      if (!one_owner && random() % (ranges ? 5 : 2) == 0) owner = random() % workers;
      owned[owner].push_back(i);
    }
    const std::size_t kind = random() % 5;
    for (std::size_t k = 0; k < workers && n > 0; ++k) {
      if (kind == 0) wanted[k] = wanted[0];  // all want the same
      if (kind == 1) wanted[k] = owned[k];   // only its own
      if (kind == 2)                         // all indices but its own, in the order of their owners
        for (std::size_t from = 0; from < workers; ++from)
          if (from != k) wanted[k].insert(wanted[k].end(), owned[from].begin(), owned[from].end());
      if (kind > 2 || (kind == 0 && k == 0))
        for (std::size_t many = random() % 3 == 0 ? 0 : random() % 30; many > 0; --many) {
          const std::size_t i = random() % n;
          for (std::size_t run = 0; run < (kind == 3 ? 1U : 4U) && i + run < n; ++run) wanted[k].push_back(i + run);
        }
    }
  }
};

template <std::size_t Rank>
law::shape<Rank> shape_of(std::size_t rows, const law::shape<Rank>& row) {
  law::shape<Rank> all = row;
  all[0] = rows;
  return all;
}

/// The exchange in one process.
struct in_one_process {
  const index_sets& sets;

  template <class T, std::size_t Rank>
  static auto rows(const std::vector<indices>& lists, const xt::xtensor<T, Rank>& like) {
    std::vector<xt::xtensor<T, Rank>> all;
    for (const indices& list : lists) {
      law::shape<Rank> shape{};
      std::copy(like.shape().begin(), like.shape().end(), shape.begin());
      all.push_back(uninitialised<T, Rank>(shape_of(list.size(), shape)));
    }
    return all;
  }
  /// Calls f(element of x, element of y) for each wanted element, in the order of the workers.
  template <class X, class Y, class F>
  void for_each(X& x, Y& y, F f) const {
    indices owner(sets.n), row(sets.n);
    for (std::size_t k = 0; k < sets.owned.size(); ++k)
      for (std::size_t r = 0; r < sets.owned[k].size(); ++r) owner[sets.owned[k][r]] = k, row[sets.owned[k][r]] = r;
    for (std::size_t k = 0; k < sets.wanted.size(); ++k)
      for (std::size_t j = 0; j < sets.wanted[k].size(); ++j) {
        const std::size_t i = sets.wanted[k][j], n = y[k].size() / sets.wanted[k].size();
        for (std::size_t e = 0; e < n; ++e) f(x[owner[i]].data()[row[i] * n + e], y[k].data()[j * n + e]);
      }
  }
  template <class X>
  auto operator()(const std::vector<X>& x) const {
    auto y = rows(sets.wanted, x[0]);
    for_each(x, y, [](const auto& from, auto& to) { to = from; });
    return y;
  }
  template <class Y, class Reduction = sum_t>
  auto adjoint(const std::vector<Y>& dy, Reduction op = {}) const {
    auto dx = rows(sets.owned, dy[0]);
    for (auto& block : dx) block.fill(detail::reduction_identity<Reduction, element_of<Y>>());
    for_each(dx, dy, [op](auto& to, const auto& from) { to = static_cast<element_of<Y>>(op(to, from)); });
    return dx;
  }
};

template <class T, std::size_t Rank>
void check_blocks(const world& everyone, const index_exchange& exchange, const index_sets& sets,
                  const law::shape<Rank>& row, std::size_t salt) {
  const in_one_process all{sets};
  const std::size_t me = everyone.id();
  const auto x = [&](std::size_t k) { return integers<T, Rank>(shape_of(sets.owned[k].size(), row), k + salt); };
  const auto dy = [&](std::size_t k) { return integers<T, Rank>(shape_of(sets.wanted[k].size(), row), k + salt + 7); };
  law::expect_all_laws(everyone, exchange, all, true, x, true, dy);
  std::vector<xt::xtensor<T, Rank>> x_of_all, dy_of_all;
  for (std::size_t k = 0; k < everyone.size(); ++k) x_of_all.push_back(x(k)), dy_of_all.push_back(dy(k));
  if constexpr (std::is_arithmetic_v<T>)
    BOOST_TEST(same(exchange.reduce(dy(me), maximum), all.adjoint(dy_of_all, maximum)[me]));
  // in place: owned rows, ghosts behind them
  const std::size_t owned = sets.owned[me].size(), ghosts = sets.wanted[me].size();
  auto both = integers<T, Rank>(shape_of(owned + ghosts, row), 3);
  const std::size_t first_ghost = x(me).size();
  const auto put = [&](const auto& block, std::size_t at) {
    std::copy_n(block.data(), block.size(), both.data() + at);
  };
  const auto expect = [&](const auto& rows, const auto& behind) {
    BOOST_TEST(std::equal(rows.data(), rows.data() + rows.size(), both.data()));
    BOOST_TEST(std::equal(behind.data(), behind.data() + behind.size(), both.data() + first_ghost));
  };
  put(x(me), 0);
  exchange.refresh(both);
  expect(x(me), all(x_of_all)[me]);
  put(dy(me), first_ghost);
  exchange.adjoint_refresh(both);
  const auto sum = all.adjoint(dy_of_all)[me];
  expect(law::combined(T(1), x(me), T(1), sum), xt::xtensor<T, Rank>(xt::zeros_like(dy(me))));
}

void check(const world& everyone, std::mt19937& random) {
  const index_sets sets(everyone.size(), random);
  const std::size_t me = everyone.id();
  const index_exchange exchange(everyone, sets.owned[me], sets.wanted[me]);
  const std::size_t salt = random() % 9;
  check_blocks<double, 1>(everyone, exchange, sets, {0}, salt);
  check_blocks<int, 2>(everyone, exchange, sets, {0, 3}, salt);
  check_blocks<double, 1>(everyone, exchange, sets, {0}, salt + 1);
  check_blocks<std::complex<float>, 3>(everyone, exchange, sets, {0, 2, 3}, salt);
  check_blocks<short, 2>(everyone, exchange, sets, {0, 0}, salt);
}

/// One exchange and its adjoint, with small integers: few calls, so that there can be many cases.
template <class T>
void check_values(const world& everyone, std::mt19937& random) {
  const index_sets sets(everyone.size(), random);
  const in_one_process all{sets};
  const std::size_t me = everyone.id(), salt = random() % 9, width = 1 + random() % 3;
  std::vector<xt::xtensor<T, 2>> x, dy;
  for (std::size_t k = 0; k < everyone.size(); ++k) {
    x.push_back(integers<T, 2>({sets.owned[k].size(), width}, k + salt));
    dy.push_back(integers<T, 2>({sets.wanted[k].size(), width}, k + salt + 7));
  }
  const index_exchange exchange(everyone, sets.owned[me], sets.wanted[me]);
  const bool equal = same(exchange(x[me]), all(x)[me]), adjoint = same(exchange.adjoint(dy[me]), all.adjoint(dy)[me]);
  BOOST_TEST(equal);
  BOOST_TEST(adjoint);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(index_exchange_laws)

BOOST_AUTO_TEST_CASE(two_ghosts_of_a_ring) {
  const world everyone(test::workers());
  const std::size_t p = everyone.size(), me = everyone.id();
  const index_exchange exchange(everyone, interval{2 * me, 2 * me + 2}, {(2 * me + 2) % (2 * p), 0});
  const xt::xtensor<double, 1> x{10.0 * static_cast<double>(me), 10.0 * static_cast<double>(me) + 1};
  const auto y = exchange(x);
  BOOST_TEST(y(0) == 10.0 * static_cast<double>((me + 1) % p));
  BOOST_TEST(y(1) == 0.0);
  const auto dx = exchange.adjoint(xt::xtensor<double, 1>{1, 100});
  BOOST_TEST(dx(0) == (me == 0 ? 1 + 100 * static_cast<double>(p) : 1.0));
  BOOST_TEST(dx(1) == 0.0);
}

BOOST_AUTO_TEST_CASE(every_law_holds_for_random_indices) {
  for (const char* const nodes : {"1", "2", "3"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    std::mt19937 random(20261126);
    for (int trial = 0; trial < 20; ++trial) check(everyone, random);
  }
}

/// 10 000 on 1, 2, 3, 4 and 6 workers together.
BOOST_AUTO_TEST_CASE(values_and_adjoints_of_two_thousand_random_index_sets_are_those_of_one_process) {
  std::mt19937 random(28);
  const auto check_some = [&](const char* nodes, std::size_t count) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    for (std::size_t k = 0; k < test::random_cases(count); ++k)
      if (k % 2 == 0) check_values<double>(everyone, random);
      else check_values<short>(everyone, random);
  };
  check_some("1", 1600), check_some("2", 200), check_some("3", 200);
}

BOOST_AUTO_TEST_CASE(the_adjoint_adds_up_in_the_order_of_the_workers) {
  const test::pretended one("PARTITA_NODES", "1");
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  std::mt19937 random(7);
  index_sets sets(everyone.size(), random);
  sets.n = 3 * everyone.size();
  indices all(sets.n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t k = 0; k < everyone.size(); ++k) {
    sets.owned[k] = {3 * k, 3 * k + 1, 3 * k + 2};
    std::shuffle(all.begin(), all.end(), random);
    sets.wanted[k] = all;
  }
  std::vector<xt::xtensor<double, 1>> dy;  // numbers whose sum depends on the order
  for (const indices& wanted : sets.wanted) {
    dy.push_back(uninitialised<double, 1>({wanted.size()}));
    for (double& e : dy.back()) e = 1 / (1 + static_cast<double>(random() % 1000));
  }
  const index_exchange exchange(everyone, sets.owned[me], sets.wanted[me]);
  BOOST_TEST(same(exchange.adjoint(dy[me]), in_one_process{sets}.adjoint(dy)[me]));
}

BOOST_AUTO_TEST_CASE(every_law_holds_where_calls_are_not_compared) {
  const world everyone(test::workers(), checks::local);
  std::mt19937 random(11);
  for (int trial = 0; trial < 5; ++trial) check(everyone, random);
}

BOOST_AUTO_TEST_SUITE_END()
