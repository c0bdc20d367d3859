// A composed kernel needs one agreement instead of one for each part, once all parts have plans. A worker that makes a
// different call gets an error, and the next calls work.
#include "../support/message_count.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"
#include "refused.hpp"
#include "twice.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <random>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

vector numbers(std::size_t n, std::size_t from) {
  return xt::arange<double>(static_cast<double>(n)) + static_cast<double>(from);
}

template <class F>
std::size_t messages_of(F f) {
  const std::size_t before = test::messages();
  f();
  return test::messages() - before;
}

/// A sum over all workers, in three steps.
struct chained {
  world everyone{test::workers()};
  std::size_t P = everyone.size(), me = everyone.id();
  partition<extents<dynamic>> row = everyone.partition(extents(P));
  partition<extents<1>> root = everyone.partition<1>(workers{P - 1}), first = everyone.partition<1>();
  sum_reduce<extents<dynamic>, extents<1>> collect{row, root};
  repartition<extents<1>, extents<1>> move{root, first};
  broadcast<extents<1>, extents<dynamic>> spread{first, row};

  auto chain() const { return compose(collect, move, spread); }
  auto spread_from_last() const { return broadcast(root, row); }
  vector sum(std::size_t n, std::size_t from) const {
    vector all = xt::zeros<double>({n});
    for (std::size_t k = 0; k < P; ++k) all += numbers(n, from + k);
    return all;
  }
};

using test::twice;
struct without_adjoint {
  vector operator()(const vector& x) const { return x; }
};
struct final_twice final : twice {};

using total = all_sum_reduce<extents<dynamic>>;
using most = all_reduce<extents<dynamic>, maximum_t>;
// what is made of operators is linear if all of them are; an operator of a program is, unless it says no
static_assert(composition<total, twice>::is_linear && operator_sum<total, twice>::is_linear);
static_assert(!composition<total, most>::is_linear && !composition<most, total>::is_linear);
static_assert(!operator_sum<total, most>::is_linear && !operator_sum<most, total>::is_linear);
static_assert(detail::operator_like<total> && detail::operator_like<most> && detail::operator_like<twice>);
static_assert(!detail::operator_like<vector> && !detail::operator_like<int> && !detail::operator_like<final_twice> &&
              !detail::operator_like<without_adjoint>);
// an error of one worker reaches all workers if one operator is a kernel of the library
static_assert(detail::reports_errors<total> && !detail::reports_errors<twice>);
static_assert(detail::reports_errors<composition<twice, total>> && detail::reports_errors<composition<total, twice>> &&
              !detail::reports_errors<composition<twice, twice>>);
static_assert(detail::reports_errors<operator_sum<twice, total>> &&
              detail::reports_errors<operator_sum<total, twice>> &&
              !detail::reports_errors<operator_sum<twice, twice>>);

}  // namespace

BOOST_AUTO_TEST_SUITE(compose_of_kernels)

BOOST_AUTO_TEST_CASE(a_steady_call_takes_one_agreement) {
  // between nodes an agreement consists of messages, which can be counted
  for (const char* const nodes : {"1", "64"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const chained k;
    const auto chain = k.chain();
    const vector x = numbers(5, k.me);
    vector view = numbers(5, 0);
    const auto forward = [&] { BOOST_TEST((chain(x) == k.sum(5, 0))); };
    const auto back = [&] { BOOST_TEST((chain.adjoint(x) == k.sum(5, 0))); };
    const auto into = [&] { chain.into(x, view); };
    const auto by_steps = [&] { k.spread(k.move(k.collect(x))); };
    const auto back_by_steps = [&] { k.collect.adjoint(k.move.adjoint(k.spread.adjoint(x))); };
    const auto agreement = [&] {
      k.everyone.state()->agree(17, 0, detail::failure::none, [] { return text("nothing"); });
    };
    for (int call = 0; call < 3; ++call) forward(), back(), into(), by_steps(), back_by_steps();
    const std::size_t one = messages_of(agreement);
    for (int call = 0; call < 3; ++call) {
      const std::size_t there = messages_of(by_steps), here = messages_of(back_by_steps);
      BOOST_TEST(messages_of(forward) + 2 * one == there);
      BOOST_TEST(messages_of(into) + 2 * one == there);
      BOOST_TEST(messages_of(back) + 2 * one == here);
      BOOST_TEST((view == k.sum(5, 0)));
    }
  }
}

BOOST_AUTO_TEST_CASE(its_counts_are_those_of_all_its_operators) {
  for (const char* const nodes : {"1", "64"}) {  // by shared memory, and by messages
    const test::pretended on("PARTITA_NODES", nodes);
    const chained k, apart;
    const auto chain = k.chain();
    const vector x = numbers(500, k.me);
    for (int call = 0; call < 2; ++call) BOOST_TEST((chain(x) == apart.spread(apart.move(apart.collect(x)))));
    const auto whole = chain.counts(), a = apart.collect.counts(), b = apart.move.counts(), c = apart.spread.counts();
    BOOST_TEST(whole.plans_made == a.plans_made + b.plans_made + c.plans_made);
    BOOST_TEST(whole.messages == a.messages + b.messages + c.messages);
    BOOST_TEST(whole.bytes_by_message == a.bytes_by_message + b.bytes_by_message + c.bytes_by_message);
    BOOST_TEST(whole.bytes_shared == a.bytes_shared + b.bytes_shared + c.bytes_shared);
  }
}

BOOST_AUTO_TEST_CASE(a_halo_exchange_agrees_together_with_the_other_steps) {
  for (const char* const nodes : {"1", "64"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    const auto row = everyone.partition(extents(everyone.size()));
    const repartition spread(everyone.partition<1>(), row);
    const halo_exchange surround(row, {.before = {1}, .after = {2}}, boundary::periodic);
    const auto chain = compose(spread, surround);
    const auto agreement = [&] {
      everyone.state()->agree(17, 0, detail::failure::none, [] { return text("nothing"); });
    };
    for (std::size_t call = 0; call < 6; ++call) {
      const vector x = everyone.id() == 0 ? numbers(3 * everyone.size(), call) : vector(zero_volume<double, 1>());
      vector y, z, dx, dz;
      const std::size_t by_steps = messages_of([&] { y = surround(spread(x)); });
      const std::size_t back_by_steps = messages_of([&] { dx = spread.adjoint(surround.adjoint(y)); });
      const std::size_t together = messages_of([&] { z = chain(x); });
      const std::size_t back_together = messages_of([&] { dz = chain.adjoint(y); });
      BOOST_TEST((z == y));
      BOOST_TEST((dz == dx));
      const std::size_t one = messages_of(agreement);
      if (call < 3) continue;
      BOOST_TEST(together + one == by_steps);
      BOOST_TEST(back_together + one == back_by_steps);
    }
  }
}

BOOST_AUTO_TEST_CASE(blocks_of_other_shapes_come_in_between) {
  const chained k;
  const auto chain = k.chain();
  std::mt19937 random(11);
  for (std::size_t trial = 0; trial < test::random_cases(60); ++trial) {
    const std::size_t n = random() % 5 == 0 ? 0 : 1 + random() % 7 * (random() % 9 == 0 ? 5000 : 1), way = random() % 4;
    const vector x = numbers(n, k.me + trial);
    vector y = numbers(n, 0);
    if (way == 0) y = chain(x);
    else if (way == 1) y = chain.adjoint(x);
    else if (way == 2) chain.into(x, y);
    else y = chain.start(x).finish();
    BOOST_TEST((y == k.sum(n, trial)));
  }
}

BOOST_AUTO_TEST_CASE(blocks_of_another_type_of_elements_come_in_between) {
  const world everyone(test::workers());
  const auto rows = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const auto columns = everyone.partition(extents<1, dynamic>(everyone.size()));
  const auto there_and_back = compose(repartition(columns, rows), repartition(rows, columns));
  const xt::xtensor<float, 2> x({2, 4}, 1.0F);
  const xt::xtensor<double, 2> y({2, 4}, 2.0);
  for (int call = 0; call < 6; ++call) {
    if (call % 4 < 2) BOOST_TEST((there_and_back(x) == x));
    else BOOST_TEST((there_and_back(y) == y));
  }
}

BOOST_AUTO_TEST_CASE(more_shapes_than_are_kept_and_whole_tensors_that_were_cut_otherwise) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto row = everyone.partition(extents(P));
  const auto chain = compose(repartition(everyone.partition<1>(), row), all_gather(row, dimensions<0>));
  for (std::size_t call = 0; call < 130; ++call) {
    const std::size_t n = 1 + (call < 6 ? call % 2 : call % 40);
    BOOST_TEST((chain(me == 0 ? numbers(n, call) : zero_volume<double, 1>()) == numbers(n, call)));
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_refused_on_all_workers_and_the_chain_goes_on, *test::at_least(2)) {
  for (const char* const nodes : {"1", "2"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const chained k;
    const auto chain = k.chain(), made_alike = k.chain();
    std::mt19937 random(5);
    for (std::size_t trial = 0; trial < test::random_cases(40); ++trial) {
      const bool odd = k.me == random() % k.P;
      const vector x = numbers(4, k.me), longer = numbers(5, k.me);
      vector view = numbers(odd ? 3 : 4, 0);
      switch (random() % 7) {
        case 0:
          BOOST_CHECK_THROW(odd ? chain.adjoint(x) : chain(x), disagreement_error);
          break;
        case 6: {
          vector filled = x;
          BOOST_CHECK_THROW(odd ? chain.into(x, filled) : void(chain(x)), disagreement_error);
          BOOST_TEST((filled == x));
          break;
        }
        case 1:
          BOOST_CHECK_THROW(chain(odd ? longer : x), shape_error);
          break;
        case 2:
          BOOST_CHECK_THROW(chain.into(x, view), shape_error);
          break;
        case 3: {
          const std::string sentence = test::refused<disagreement_error>([&] {
            if (odd) k.collect(x);
            else chain(x);
          });
          BOOST_TEST(sentence.find("partita::compose(a, b, ...)(x) of 3 operators") != std::string::npos);
          BOOST_TEST(sentence.find("partita::sum_reduce") != std::string::npos);
          break;
        }
        case 4:
          BOOST_CHECK_THROW(chain(odd ? xt::xtensor<float, 1>(x) : xt::xtensor<float, 1>(longer)), shape_error);
          break;
        default:
          BOOST_CHECK_THROW(chain.adjoint(odd ? longer : x), shape_error);
      }
      for (std::size_t call = random() % 4; call-- > 0;) {
        BOOST_TEST((chain(x) == k.sum(4, 0)));
        BOOST_TEST((made_alike(longer) == k.sum(5, 0)));
        BOOST_TEST((chain.adjoint(x) == k.sum(4, 0)));
        view = x;
        chain.into(x, view);
        BOOST_TEST((view == k.sum(4, 0)));
      }
    }
    const vector x = numbers(4, k.me);
    for (int call = 0; call < 3; ++call) BOOST_TEST((chain(x) == made_alike(x)));
    // identically constructed kernels are different kernels
    BOOST_CHECK_THROW(k.me == 0 ? chain(x) : made_alike(x), disagreement_error);
    BOOST_TEST((chain(x) == k.sum(4, 0)));
  }
}

BOOST_AUTO_TEST_CASE(a_sum_counts_what_both_operators_move) {
  for (const char* const nodes : {"1", "64"}) {  // by shared memory, and by messages
    const test::pretended on("PARTITA_NODES", nodes);
    const chained k;
    std::vector<std::size_t> others(k.P);
    for (std::size_t w = 0; w < k.P; ++w) others[w] = (w + 1) % k.P;
    const auto moved = k.everyone.partition(extents(k.P), workers(others));
    const auto one = [&] { return all_sum_reduce<extents<dynamic>>(k.row, dimensions<0>); };
    const auto other = [&] { return compose(repartition(k.row, moved), repartition(moved, k.row)); };
    const vector x = numbers(500, k.me);
    const auto a = one();
    const auto b = other();
    const auto both = add(one(), other());
    for (int call = 0; call < 2; ++call) {
      const vector each = vector(a(x)) + vector(b(x));
      BOOST_TEST((both(x) == each));
      const kernel_counts of_a = a.counts(), of_b = b.counts(), all = both.counts();
      BOOST_TEST(all.plans_made == of_a.plans_made + of_b.plans_made);
      BOOST_TEST(all.messages == of_a.messages + of_b.messages);
      BOOST_TEST(all.bytes_by_message == of_a.bytes_by_message + of_b.bytes_by_message);
      BOOST_TEST(all.bytes_shared == of_a.bytes_shared + of_b.bytes_shared);
    }
    // in every way to call it, and back
    const vector sum = vector(a(x)) + vector(b(x)), back = vector(a.adjoint(x)) + vector(b.adjoint(x));
    vector y = xt::zeros<double>({500}), dx = y;
    both.into(x, y);
    both.adjoint_into(x, dx);
    BOOST_TEST((y == sum && both.start(x).finish() == sum));
    BOOST_TEST((dx == back && both.adjoint(x) == back && both.start_adjoint(x).finish() == back));
  }
}

BOOST_AUTO_TEST_CASE(results_of_different_shapes_are_refused_on_all_workers_wherever_the_kernel_is,
                     *test::at_least(2)) {
  const chained k;
  const vector x = numbers(5, k.me);
  const auto expect_refused = [&](const char* what, const auto& both, bool back) {
    const auto refused = [&](auto call) {
      const std::string said = test::refused<shape_error>(call);
      BOOST_TEST(said.find("partita::add(a, b)(x): requires operators whose results have one shape on each worker, got "
                           "[") == 0,
                 what << ": '" << said << "'");
    };
    for (int call = 0; call < 2; ++call) {
      if (back) {
        refused([&] { both.adjoint(x); });
        refused([&] { both.start_adjoint(x).finish(); });
      } else {
        refused([&] { both(x); });
        refused([&] { both.start(x).finish(); });
      }
    }
    BOOST_TEST((k.chain()(x) == k.sum(5, 0)), what);  // what follows works
  };
  // the sum is on the last worker alone, and the adjoint of the broadcast on the first
  expect_refused("own and kernel", add(twice{}, k.collect), false);
  expect_refused("kernel and own", add(k.collect, twice{}), false);
  expect_refused("own and kernel, back", add(twice{}, k.spread), true);
  expect_refused("kernel and own, back", add(k.spread, twice{}), true);
  expect_refused("own and chain that begins with an own one", add(twice{}, compose(twice{}, k.collect)), false);
  expect_refused("chain that begins with an own one and own", add(compose(twice{}, k.collect), twice{}), false);
  expect_refused("own ones and kernel", add(add(twice{}, twice{}), k.collect), false);
  expect_refused("own and own, and kernel", add(twice{}, add(k.collect, k.collect)), false);
  vector view = x;
  const auto both = add(total(k.row, dimensions<0>), compose(twice{}, k.collect));
  test::expect_refused<shape_error>([&] { both.into(x, view); }, "requires operators whose results have one shape");
}

BOOST_AUTO_TEST_CASE(every_way_to_call_a_chain_or_a_sum_gives_the_same_also_with_temporaries) {
  const chained k;
  const auto chain = compose(k.collect, twice{}, k.spread_from_last());
  const auto both = add(broadcast(k.row, k.row, shared_view), compose(twice{}, total(k.row, dimensions<0>)));
  const vector x = numbers(6, k.me), of_chain = 2 * k.sum(6, 0), of_both = 2 * k.sum(6, 0) + x;
  for (int call = 0; call < 2; ++call) {
    BOOST_TEST((chain(x) == of_chain && chain.adjoint(x) == of_chain));
    BOOST_TEST((both(x) == of_both && both.adjoint(x) == of_both));
    vector y = xt::zeros<double>({6}), dx = y;
    chain.into(x, y);
    chain.adjoint_into(x, dx);
    BOOST_TEST((y == of_chain && dx == of_chain));
    vector changeable = x;  // an argument that is not const
    BOOST_TEST((chain.start(changeable).finish() == of_chain && chain.start_adjoint(changeable).finish() == of_chain));
    BOOST_TEST((both.start(changeable).finish() == of_both && both.start_adjoint(changeable).finish() == of_both));
    auto later = chain.start(vector(x));
    auto back = chain.start_adjoint(vector(x));
    const vector over = xt::zeros<double>({6}), over_too = over;  // where the temporaries were
    BOOST_TEST((later.finish() == of_chain && back.finish() == of_chain));
    auto sum_later = both.start(vector(x));
    const vector over_again = xt::zeros<double>({6});
    BOOST_TEST((sum_later.finish() == of_both));
    auto sum_back = both.start_adjoint(vector(x));
    const vector and_again = xt::zeros<double>({6});
    BOOST_TEST((sum_back.finish() == of_both));
  }
}

BOOST_AUTO_TEST_CASE(plans_are_in_the_order_of_the_operators_and_memory_is_that_of_the_last_or_of_the_first_of_a_sum) {
  const chained k;
  const auto chain = compose(k.collect, k.spread);
  BOOST_TEST((std::get<0>(chain.plan()) == k.collect.plan() && std::get<1>(chain.plan()) == k.spread.plan()));
  const auto [first, second] = add(k.collect, k.spread).plan();
  BOOST_TEST((first == k.collect.plan() && second == k.spread.plan()));
  BOOST_TEST((k.P == 1 || !(first == second)));
  const total used(k.row, dimensions<0>), fresh(k.row, dimensions<0>);
  used(numbers(3, k.me));  // now it has a pool
  BOOST_TEST_REQUIRE(used.memory() != nullptr);
  BOOST_TEST(compose(fresh, used).memory() == used.memory());
  BOOST_TEST(compose(used, fresh).memory() == nullptr);
  BOOST_TEST(add(used, fresh).memory() == used.memory());
  BOOST_TEST(add(fresh, used).memory() == nullptr);
}

BOOST_AUTO_TEST_CASE(a_call_of_a_chain_is_named_with_its_direction_and_its_block, *test::at_least(2)) {
  const chained k;
  const auto chain = k.chain();
  const vector x = numbers(4, k.me);
  const bool odd = k.me + 1 == k.P;
  const auto said = [&](auto call) {
    return test::refused<disagreement_error>([&] {
      if (odd) k.collect(x);
      else call();
    });
  };
  const char* const block = " of 3 operators with a block of shape [4] and elements of type double";
  BOOST_TEST(said([&] { chain(x); }).find(std::string("partita::compose(a, b, ...)(x)") + block) != std::string::npos);
  BOOST_TEST(said([&] { chain.adjoint(x); }).find(std::string("partita::compose(a, b, ...).adjoint(dy)") + block) !=
             std::string::npos);
  BOOST_TEST((chain(x) == k.sum(4, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
