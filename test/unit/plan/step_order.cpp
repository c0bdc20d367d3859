// Orders of steps in which movements are pending while other steps are computed: laws over random programs.
#include "random_steps.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <partita/plan/step_order.hpp>

#include <random>
#include <set>
#include <vector>

using namespace partita;
using test::depends, test::random_program;
using what = ordered_step::what;

namespace {

/// The position in the order at which a step is begun, and at which it is done.
struct place {
  std::size_t begun = ~std::size_t{0}, done = ~std::size_t{0};
};
std::vector<place> places_of(const std::vector<ordered_step>& order, std::size_t steps) {
  std::vector<place> all(steps);
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (order[k].action != what::finish) all[order[k].step].begun = k;
    if (order[k].action != what::start) all[order[k].step].done = k;
  }
  return all;
}

/// The order by its definition: a movement starts as soon as it can; what has arrived is finished, then the first step
/// that can is computed.
std::vector<ordered_step> order_by_definition(const std::vector<step_use>& program, const order_limits& limits) {
  const std::size_t n = program.size();
  std::vector<bool> begun(n, false), done(n, false);
  std::vector<ordered_step> order, pending;
  double now = 0, link_free = 0;
  const auto first_that_can = [&](bool moves) {
    const std::size_t earliest = static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
    for (std::size_t k = earliest; k < n && k - earliest <= limits.ahead; ++k) {
      bool can = !begun[k] && program[k].moves == moves;
      for (std::size_t a = 0; a < k; ++a) can = can && (done[a] || !depends(program[a], program[k]));
      if (can) return k;
    }
    return n;
  };
  const auto begin = [&](what does, std::size_t k, std::uint32_t lane, double until) {
    begun[k] = true;
    order.push_back({does, static_cast<std::uint32_t>(k), lane, now, until});
  };
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    for (std::size_t k = first_that_can(true); k < n && pending.size() < limits.max_pending; k = first_that_can(true)) {
      std::uint32_t lane = 0;
      const auto is_taken = [&](const ordered_step& one) { return one.channel == lane; };
      while (std::any_of(pending.begin(), pending.end(), is_taken)) ++lane;
      link_free = std::max(now, link_free) + program[k].seconds;
      begin(what::start, k, lane, link_free);
      pending.push_back(order.back());
    }
    const std::size_t k = first_that_can(false);
    if (!pending.empty() && (pending.front().until <= now || k == n)) {  // they arrive in the order of their starts
      const ordered_step arrived = pending.front();
      pending.erase(pending.begin());
      order.push_back({what::finish, arrived.step, arrived.channel, now, std::max(now, arrived.until)});
    } else {
      begin(what::compute, k, 0, now + program[k].seconds);
    }
    now = order.back().until;
    done[order.back().step] = true;
  }
  return order;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_order_is_that_of_its_definition) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    std::vector<step_use> program = random_program(random, 1 + random() % 20);
    for (step_use& one : program) one.seconds = static_cast<double>(random() % 3);
    const order_limits limits{1 + random() % 4, random() % 3 == 0 ? ~std::size_t{0} : random() % 6};
    const auto order = order_steps(program, 0, program.size(), limits), expected = order_by_definition(program, limits);
    BOOST_TEST((order == expected));
    for (std::size_t k = 0; k < order.size() && k < expected.size(); ++k)
      BOOST_TEST((order[k].from == expected[k].from && order[k].until == expected[k].until));
  }
}

BOOST_AUTO_TEST_CASE(a_step_begins_after_what_it_needs_is_done) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 40);
    const order_limits limits{1 + random() % 5, random() % 2 == 0 ? ~std::size_t{0} : random() % 20};
    const auto order = order_steps(program, 0, program.size(), limits);
    const auto at = places_of(order, program.size());
    bool right = true;
    std::set<std::uint32_t> lanes;
    std::size_t earliest = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const ordered_step& one = order[k];
      while (earliest < program.size() && at[earliest].done < k) ++earliest;
      if (one.action != what::finish) right = right && one.step - earliest <= limits.ahead;
      if (one.action == what::start)
        right = right && lanes.insert(one.channel).second && one.channel < limits.max_pending;
      if (one.action == what::finish) right = right && lanes.erase(one.channel) == 1;
      right = right && program[one.step].moves == (one.action != what::compute);
    }
    BOOST_TEST(right);
    std::size_t events = program.size();
    for (std::size_t b = 0; b < program.size(); ++b) {
      events += program[b].moves ? 1 : 0;
      right = right && at[b].begun <= at[b].done && at[b].done < order.size();
      for (std::size_t a = 0; a < b; ++a)
        if (depends(program[a], program[b])) right = right && at[a].done < at[b].begun;
    }
    BOOST_TEST(right);
    BOOST_TEST(order.size() == events);
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_the_program_is_kept_if_nothing_may_be_done_ahead) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 30);
    const auto order = order_steps(program, 0, program.size(), order_limits::in_program_order());
    double now = 0;
    std::size_t k = 0;
    for (std::uint32_t s = 0; s < program.size(); ++s) {
      const what first = program[s].moves ? what::start : what::compute;
      BOOST_TEST((order[k].action == first && order[k].step == s && order[k].from == now));
      if (program[s].moves) ++k;
      BOOST_TEST((order[k].action == (program[s].moves ? what::finish : what::compute) && order[k].step == s));
      now += program[s].seconds;
      BOOST_TEST(order[k++].until == now);
    }
    BOOST_TEST(k == order.size());
  }
}

BOOST_AUTO_TEST_CASE(a_block_lives_while_a_step_that_needs_it_is_pending) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 40);
    const auto order = order_steps(program, 0, program.size(), {1 + random() % 5, random() % 20});
    const auto at = places_of(order, program.size());
    const block_lives lives = lives_of(program, order);
    // by a loop over all blocks and steps
    for (std::uint32_t block = 0; block < lives.last_use.size(); ++block) {
      std::size_t first = block_lives::never, last = 0;
      for (std::size_t s = 0; s < program.size(); ++s) {
        bool needs = program[s].sets == block;
        if (needs) first = std::min(first, at[s].begun);
        for (const std::uint32_t x : program[s].reads) needs = needs || x == block;
        if (needs) last = std::max(last, at[s].done);
      }
      BOOST_TEST(lives.first_set[block] == first);
      BOOST_TEST(lives.last_use[block] == last);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_part_of_a_program_is_ordered_as_if_it_were_alone_from_the_given_time_on) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 30);
    const std::size_t first = random() % program.size(), end = first + 1 + random() % (program.size() - first);
    const std::vector<step_use> part(program.begin() + static_cast<std::ptrdiff_t>(first),
                                     program.begin() + static_cast<std::ptrdiff_t>(end));
    const order_limits limits{1 + random() % 4, random() % 20};
    const auto now = static_cast<double>(random() % 7);
    const auto found = order_steps(program, first, end, limits, now), alone = order_steps(part, 0, part.size(), limits);
    BOOST_TEST_REQUIRE(found.size() == alone.size());
    bool right = true;
    for (std::size_t k = 0; k < found.size(); ++k)
      right = right && found[k].action == alone[k].action && found[k].step == alone[k].step + first &&
              found[k].channel == alone[k].channel && found[k].from == alone[k].from + now &&
              found[k].until == alone[k].until + now;
    BOOST_TEST(right);
    BOOST_TEST(order_steps(program, first, first, limits, now).empty());
  }
}
