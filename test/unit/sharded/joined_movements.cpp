// Which small movements of a program share their messages: laws over random programs.
#include "../plan/random_steps.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/plan/timetable.hpp>
#include <partita/sharded/detail/joined_movements.hpp>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace partita;
using what = ordered_step::what;

BOOST_AUTO_TEST_CASE(movements_that_do_not_need_each_other_share_their_messages) {
  // three blocks are moved, and then the first again; block 7 is the sum of what has arrived
  const auto moved = [](std::uint32_t x, std::uint32_t y) {
    return step_use{.reads = {x}, .sets = y, .moves = true, .seconds = 5, .shared_seconds = 4, .received = 8};
  };
  std::vector<step_use> program{moved(0, 3), moved(1, 4), moved(3, 5), moved(2, 6)};
  program.push_back({.reads = {4, 5, 6}, .sets = 7, .seconds = 1});
  const auto order = detail::order_and_join_steps(program, 0, 5, {2, 10});
  BOOST_TEST(program[1].message_leader == 0U);
  BOOST_TEST(program[2].message_leader == step_use::nothing);
  BOOST_TEST(program[3].message_leader == 0U);
  const timetable times = timetable_of(program, order);
  BOOST_TEST(times.seconds() == 4 + 3 + 5 + 1);  // 21 one by one
  BOOST_TEST(times.waiting() == 4 + 3 + 5);
  BOOST_TEST(times.entries.size() == 3U);
  BOOST_TEST(times.entries[0].joint_movements == 2U);
  BOOST_TEST(times.entries[0].received_bytes == 24U);
  BOOST_TEST(times.entries[1].joint_movements == 0U);
}

BOOST_AUTO_TEST_CASE(movements_share_messages_only_if_no_time_is_lost) {
  // The first block is long ahead of the second: it is moved while the second one is computed.
  std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 5, .shared_seconds = 3},
                                {.reads = {2}, .sets = 3, .seconds = 20},
                                {.reads = {3}, .sets = 4, .moves = true, .seconds = 5, .shared_seconds = 3}};
  BOOST_TEST(detail::order_and_join_steps(program, 0, 3, {2, 10}).back().until == 25);
  BOOST_TEST(program[2].message_leader == step_use::nothing);
  // Long movements, and those that have no part that is saved, do not.
  for (step_use& one : program) one.shared_seconds = 2;
  program[1].seconds = 0;
  BOOST_TEST(detail::find_small_movements(program, 0, 3).empty());
  for (step_use& one : program) one.seconds = one.shared_seconds = 0;
  BOOST_TEST(detail::find_small_movements(program, 0, 3).empty());
}

/// One order of the steps is tried for each pair of movements. After 64 orders no more movements share messages.
BOOST_AUTO_TEST_CASE(at_most_64_orders_of_the_steps_are_tried) {
  for (const std::size_t tried : {0U, 1U, 62U, 63U, 64U, 65U}) {
    std::vector<step_use> program;
    std::uint32_t last = 0, next = 1;  // the block that the next steps read, and the next unused block
    const auto move = [&](std::uint32_t from) {
      program.push_back({.reads = {from}, .sets = next, .moves = true, .seconds = 5, .shared_seconds = 3});
      return next++;
    };
    const auto compute = [&](std::vector<std::uint32_t> from, double seconds) {
      program.push_back({.reads = std::move(from), .sets = next, .seconds = seconds});
      return next++;
    };
    // If these two movements shared messages, the first one would have to wait for the long computation.
    for (std::size_t k = 0; k < tried; ++k) {
      const std::uint32_t early = move(last), computed = compute({last}, 20), late = move(computed);
      last = compute({early, late}, 1);
    }
    const auto first = static_cast<std::uint32_t>(program.size());
    const std::uint32_t a = move(last), b = move(last);
    compute({a, b}, 1);
    detail::order_and_join_steps(program, 0, program.size(), {2, 10});
    for (std::uint32_t k = 0; k < first; ++k) BOOST_TEST(program[k].message_leader == step_use::nothing);
    BOOST_TEST((program[first + 1].message_leader == first) == (tried < 64), tried << " pairs before");
  }
}

BOOST_AUTO_TEST_CASE(half_of_the_movements_share_messages_if_all_of_them_would_lose_time) {
  for (const std::uint32_t ready : {2U, 4U}) {
    // These blocks are ready; that of the last movement is computed meanwhile.
    std::vector<step_use> program;
    for (std::uint32_t k = 0; k < ready; ++k)
      program.push_back({.reads = {k}, .sets = 10 + k, .moves = true, .seconds = 5, .shared_seconds = 4});
    program.push_back({.reads = {20}, .sets = 21, .seconds = 40});
    program.push_back({.reads = {21}, .sets = 22, .moves = true, .seconds = 5, .shared_seconds = 4});
    BOOST_TEST(detail::order_and_join_steps(program, 0, program.size(), {4, 100}).back().until == 45);
    // of three two are tried, of five three, which begin with the first
    std::vector<std::uint32_t> expected(program.size(), step_use::nothing);
    expected[1] = 0;
    if (ready == 4) expected[2] = 0;
    for (std::size_t k = 0; k < program.size(); ++k) BOOST_TEST(program[k].message_leader == expected[k], "step " << k);
  }
}

BOOST_AUTO_TEST_CASE(movements_are_alike_if_as_many_are_on_the_longest_chains_before_them) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<step_use> program = test::random_program(random, 1 + random() % 30);
    for (step_use& one : program)
      if (one.moves) one.shared_seconds = static_cast<double>(random() % 5) * one.seconds / 4;
    std::vector<std::size_t> level(program.size(), 0);
    std::vector<std::vector<std::uint32_t>> expected, found;  // in the order of their first movements
    std::vector<std::size_t> levels;
    for (std::uint32_t b = 0; b < program.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a)
        if (test::depends(program[a], program[b])) level[b] = std::max(level[b], level[a] + (program[a].moves ? 1 : 0));
      if (!program[b].moves || program[b].shared_seconds == 0 || program[b].shared_seconds < program[b].seconds / 2)
        continue;
      const auto at = static_cast<std::size_t>(std::find(levels.begin(), levels.end(), level[b]) - levels.begin());
      if (at == levels.size()) levels.push_back(level[b]), expected.emplace_back();
      expected[at].push_back(b);
    }
    for (const auto& those : detail::find_small_movements(program, 0, program.size())) found.push_back(those.steps);
    BOOST_TEST((found == expected));
  }
}

/// The entry of movements that share messages tells the bytes that are held when the last of them has started.
BOOST_AUTO_TEST_CASE(what_is_held_during_an_entry_are_the_blocks_that_are_set_and_needed_later) {
  std::mt19937 random(8);
  std::size_t grown = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<step_use> program = test::random_program(random, 1 + random() % 40);
    for (std::uint32_t k = 0; k < program.size(); ++k) {  // each block is set once
      step_use& one = program[k];
      one.sets = k + 3;
      if (one.moves) one.shared_seconds = one.seconds;
    }
    const auto order = detail::order_and_join_steps(program, 0, program.size(), {3, 40});
    const auto held_at = [&](std::size_t now) {
      std::size_t bytes = 0;
      for (const step_use& maker : program) {
        bool is_set = false, is_needed = false;
        for (std::size_t k = 0; k < order.size(); ++k) {
          const step_use& one = program[order[k].step];
          const bool sets = one.sets == maker.sets;
          is_set = is_set || (sets && k <= now);
          is_needed = is_needed || (k >= now && (sets || std::count(one.reads.begin(), one.reads.end(), maker.sets)));
        }
        bytes += is_set && is_needed ? maker.bytes : 0;
      }
      return bytes;
    };
    std::vector<std::size_t> expected, found;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (order[k].action == what::finish) continue;
      const std::size_t held = held_at(k);
      if (program[order[k].step].message_leader == step_use::nothing) expected.push_back(held);
      else grown += held > expected.back() ? 1U : 0U, expected.back() = held;
    }
    for (const timetable::entry& one : timetable_of(program, order).entries) found.push_back(one.bytes_held);
    BOOST_TEST(found == expected, boost::test_tools::per_element());
  }
  BOOST_TEST(grown > 0U);
}

BOOST_AUTO_TEST_CASE(random_programs_take_no_longer_and_lack_no_step) {
  std::mt19937 random(5);
  std::size_t joined = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<step_use> program = test::random_program(random, 1 + random() % 40);
    for (step_use& one : program)
      if (one.moves) one.shared_seconds = static_cast<double>(random() % 10) * one.seconds / 10;
    const order_limits limits{1 + random() % 4, random() % 3 == 0 ? 0 : random() % 40};
    const auto alone = order_steps(program, 0, program.size(), limits);
    const auto order = detail::order_and_join_steps(program, 0, program.size(), limits);
    BOOST_TEST(order.size() == alone.size());
    BOOST_TEST(order.back().until <= alone.back().until * (1 + 1e-9));
    // Each step begins when what it reads is set, and what it sets is read no more.
    std::vector<std::size_t> begun(program.size()), done(program.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (order[k].action != what::finish) begun[order[k].step] = k;
      if (order[k].action != what::start) done[order[k].step] = k;
    }
    bool right = true;
    for (std::size_t b = 0; b < program.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (test::depends(program[a], program[b])) right = right && done[a] < begun[b];
    // Movements that share messages start one after another on one lane; no other movement is pending on it.
    std::set<std::uint32_t> lanes;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const step_use& one = program[order[k].step];
      if (one.message_leader != step_use::nothing && order[k].action == what::start) {
        ++joined;
        const std::uint32_t before = order[k - 1].step;
        right = right && order[k - 1].action == what::start && order[k - 1].channel == order[k].channel &&
                (before == one.message_leader || program[before].message_leader == one.message_leader) &&
                2 * one.shared_seconds >= one.seconds;
      } else if (order[k].action == what::start) {
        right = right && lanes.insert(order[k].channel).second;
      } else if (order[k].action == what::finish && one.message_leader == step_use::nothing) {
        right = right && lanes.erase(order[k].channel) == 1;
      }
    }
    BOOST_TEST(right);
  }
  BOOST_TEST(joined > 100U);
}
