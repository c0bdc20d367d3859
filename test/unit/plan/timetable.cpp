// What is computed and what is pending at any time of a step.
#include "occurrences.hpp"
#include "random_steps.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/explain/timetable_picture.hpp>
#include <partita/plan/timetable.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace partita;
using test::occurrences;
using test::random_program;
using what = ordered_step::what;

BOOST_AUTO_TEST_CASE(a_movement_is_pending_while_what_does_not_need_it_is_computed) {
  // block 1 = moved block 0; block 3 = computed of block 2; block 4 of 1 and 3
  const std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 5, .bytes = 8, .received = 8},
                                      {.reads = {2}, .sets = 3, .seconds = 3, .bytes = 16},
                                      {.reads = {1, 3}, .sets = 4, .seconds = 2, .bytes = 4}};
  const auto order = order_steps(program, 0, 3, {2, 10});
  BOOST_TEST(order.size() == 4U);
  BOOST_TEST((order[0].action == what::start && order[1].action == what::compute && order[2].action == what::finish));
  const timetable times = timetable_of(program, order);
  BOOST_TEST(times.seconds() == 7);  // 10 one after the other
  BOOST_TEST(times.computing() == 5);
  BOOST_TEST(times.moving() == 5);
  BOOST_TEST(times.waiting() == 2);
  BOOST_TEST(times.longest_chain == 7);
  BOOST_TEST(times.lower_bound() == 5);
  BOOST_TEST(times.received_bytes() == 8U);
  BOOST_TEST(times.peak() == 28U);
  BOOST_TEST(times.entries[0].until == 5);
  BOOST_TEST(times.entries[0].bytes_held == 8U);
  BOOST_TEST(times.entries[1].bytes_held == 24U);
}

BOOST_AUTO_TEST_CASE(movements_follow_each_other_on_one_link) {
  // two movements, each with a computation that needs it
  const std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 5},
                                      {.reads = {2}, .sets = 3, .moves = true, .seconds = 5},
                                      {.reads = {1}, .sets = 4, .seconds = 3},
                                      {.reads = {3}, .sets = 5, .seconds = 1}};
  const timetable times = timetable_of(program, order_steps(program, 0, 4, {2, 10}));
  BOOST_TEST(times.entries[0].until == 5);
  BOOST_TEST(times.entries[1].until == 10);
  BOOST_TEST(times.entries[2].from == 5);
  BOOST_TEST(times.seconds() == 11);
  BOOST_TEST(times.moving() == 10);
  BOOST_TEST(times.waiting() == 7);
  // one movement while another one is pending
  const timetable measured =
      timetable_of(program, order_steps(program, 0, 4, {2, 10}), {0, 0, 2, 2, 2, 5, 5, 6, 6, 20, 20, 21});
  BOOST_TEST(measured.entries[0].until == 5);
  BOOST_TEST(measured.moving() == 20);
  std::vector<ordered_step> nested = order_steps(program, 0, 4, {2, 10});
  std::swap(nested[2], nested[4]);  // the second movement is finished first
  BOOST_TEST(timetable_of(program, nested, {0, 0, 2, 2, 2, 5, 5, 6, 6, 20, 20, 21}).moving() == 20);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_movement_goes_on_as_soon_as_it_has_arrived) {
  // a movement, a sum of what arrived, a movement of the sum; meanwhile four computations
  std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 5},
                                {.reads = {1}, .sets = 2, .seconds = 1},
                                {.reads = {2}, .sets = 3, .moves = true, .seconds = 5}};
  for (std::uint32_t k = 0; k < 4; ++k) program.push_back({.reads = {10}, .sets = 11 + k, .seconds = 3});
  const timetable times = timetable_of(program, order_steps(program, 0, program.size(), {2, 10}));
  BOOST_TEST(times.seconds() == 13);  // 6 when the first has arrived, 7 with the sum, then 6 of computing
  BOOST_TEST(times.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(measured_times_take_the_place_of_estimated_ones) {
  const std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 5},
                                      {.reads = {2}, .sets = 3, .seconds = 3},
                                      {.reads = {1, 3}, .sets = 4, .seconds = 2}};
  const auto order = order_steps(program, 0, 3, {2, 10});
  const timetable times = timetable_of(program, order, {0, 1, 1, 7, 7, 8, 8, 9});
  BOOST_TEST(times.is_measured);
  BOOST_TEST(times.seconds() == 9);
  BOOST_TEST(times.computing() == 7);
  BOOST_TEST(times.waiting() == 2);  // one second to start it, and one until it has arrived
  BOOST_TEST(times.moving() == 8);
  BOOST_TEST(times.longest_chain == 7);
}

BOOST_AUTO_TEST_CASE(estimated_times_of_random_orders_are_consistent) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 40);
    double all = 0;
    for (const step_use& one : program) all += one.seconds;
    const timetable times = timetable_of(program, order_steps(program, 0, program.size(), {4, ~std::size_t{0}}));
    BOOST_TEST(times.seconds() <= all);
    BOOST_TEST(times.seconds() >= times.lower_bound());
    BOOST_TEST(times.lower_bound() == std::max(times.computing(), times.moving()));
    BOOST_TEST(times.seconds() >= times.longest_chain);
    BOOST_TEST(times.computing() + times.waiting() == times.seconds());
  }
}

BOOST_AUTO_TEST_CASE(a_timetable_is_written_and_drawn) {
  const std::vector<step_use> program{
      {.reads = {0}, .sets = 1, .moves = true, .seconds = 5e-3, .bytes = 8000, .received = 4000, .name = "matmul"},
      {.reads = {2}, .sets = 3, .seconds = 3e-3, .bytes = 16000, .name = "relu"},
      {.reads = {1, 3}, .sets = 4, .is_backward = true, .seconds = 2e-3, .bytes = 4000, .name = "gradient of matmul"}};
  const timetable times = timetable_of(program, order_steps(program, 0, 3, {2, 10}));
  const std::string expected =
      "at 0.00 ns  moves for matmul    takes 5.00 ms   8.00 kB held, 4.00 kB received\n"
      "at 0.00 ns  relu                takes 3.00 ms   24.0 kB held\n"
      "at 5.00 ms  gradient of matmul  takes 2.00 ms   28.0 kB held\n"
      "a step takes 7.00 ms, estimated: computing 5.00 ms, waiting for movements 2.00 ms; movements are pending for "
      "5.00 ms, 60.0 % of it while something is computed\n"
      "no order takes less than 5.00 ms, the larger of computing and moving, or than 7.00 ms, the longest chain of "
      "entries of which each needs the one before\n";
  BOOST_TEST(std::string(to_text(times)) == expected);
  const std::string drawn = to_svg(times);
  for (const char* part : {"moves for matmul", ">relu<", "gradient of matmul", "memory, at most 28.0 kB", ">7.00 ms<"})
    BOOST_TEST(drawn.find(part) != std::string::npos);
}

/// A line separates the entries of the forward pass from those of the backward pass. The axis of time ends with the
/// entry that ends last, which need not be the one that starts last.
BOOST_AUTO_TEST_CASE(a_drawn_timetable_separates_passes_and_ends_with_its_last_entry) {
  for (std::size_t last = 0; last < 3; ++last)
    for (std::size_t backward = 0; backward < 8; ++backward) {
      timetable times;
      std::size_t changes = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const bool is_backward = (backward >> k & 1U) != 0;
        const double from = 1.0 + static_cast<double>(k), until = k == last ? 16 : from + 1;
        times.entries.push_back({.moves = k == 1, .is_backward = is_backward, .from = from, .until = until});
        changes += is_backward && (k == 0 || !times.entries[k - 1].is_backward) ? 1U : 0U;
      }
      const std::string drawn = to_svg(times);
      for (const char* tick : {">0<", ">4.00 s<", ">8.00 s<", ">12.0 s<", ">16.0 s<"})
        BOOST_TEST(occurrences(drawn, tick) == 1U, tick << " in " << drawn);
      BOOST_TEST(occurrences(drawn, std::string("stroke=\"") + detail::pale_colour.ink + "\" stroke-width") == changes,
                 drawn);
    }
}

/// A worker may wait for longer than its movements are pending, because it waits for what another worker sends later.
BOOST_AUTO_TEST_CASE(no_share_of_a_movement_is_hidden_if_the_worker_waits_for_longer_than_it_lasts) {
  const std::string start = "movements are pending for 4.00 s, ", end = " of it while something is computed\n";
  for (const double waited : {0.0, 1.0, 3.0, 4.0, 5.0, 40.0}) {
    timetable times;
    times.entries.push_back({.moves = true, .from = 1, .until = 5, .waited_seconds = waited});
    const std::string share = waited == 0 ? "100 %" : waited == 1 ? "75.0 %" : waited == 3 ? "25.0 %" : "0.00 %";
    const std::string words = to_text(times);
    BOOST_TEST(words.find(start + share + end) != std::string::npos, words);
  }
  // A receive is posted at 0 and waited for until 7; its sender starts at 5.
  const std::vector<step_use> program{{.reads = {0}, .sets = 1, .moves = true, .seconds = 2}};
  const std::vector<ordered_step> order{
      {.action = what::post_receive}, {.action = what::start}, {.action = what::finish}};
  const timetable times = timetable_of(program, order, {0, 0, 5, 5, 0, 7});
  BOOST_TEST(times.moving() == 2);
  BOOST_TEST(times.waiting() == 7);
  const std::string words = to_text(times);
  BOOST_TEST(words.find("pending for 2.00 s, 0.00 % of it") != std::string::npos, words);
  // Without movements there is nothing to hide.
  BOOST_TEST(std::string(to_text(timetable())).find("pending") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(in_the_order_of_the_program_all_movements_are_waited_for) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const std::vector<step_use> program = random_program(random, 1 + random() % 30);
    const timetable times =
        timetable_of(program, order_steps(program, 0, program.size(), order_limits::in_program_order()));
    double all = 0;
    for (const step_use& one : program) all += one.seconds;
    BOOST_TEST(times.seconds() == all);
    BOOST_TEST(times.computing() + times.moving() == all);
    BOOST_TEST(times.waiting() == times.moving());
  }
}

/// A computation may be measured; on a chain, a movement always counts with its estimated time.
BOOST_AUTO_TEST_CASE(the_longest_chain_has_the_most_seconds_of_entries_of_which_each_needs_the_one_before) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<step_use> program = random_program(random, 1 + random() % 40);
    for (std::uint32_t k = 0; k < program.size(); ++k) program[k].sets = k + 3;  // each block is set once
    const auto order = order_steps(program, 0, program.size(), {3, 40});
    std::vector<double> measured(2 * order.size(), 0), seconds(program.size(), 0);
    double now = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      measured[2 * k] = now, measured[2 * k + 1] = now += static_cast<double>(random() % 5);
      if (order[k].action == what::compute) seconds[order[k].step] = measured[2 * k + 1] - measured[2 * k];
    }
    for (const bool is_measured : {false, true}) {
      std::vector<double> chain(program.size() + 3, 0);  // up to the step that sets a block
      for (std::size_t k = 0; k < program.size(); ++k) {
        for (const std::uint32_t x : program[k].reads) chain[k + 3] = std::max(chain[k + 3], chain[x]);
        chain[k + 3] += is_measured && !program[k].moves ? seconds[k] : program[k].seconds;
      }
      const timetable times = timetable_of(program, order, is_measured ? measured : std::vector<double>{});
      BOOST_TEST(times.longest_chain == *std::max_element(chain.begin(), chain.end()));
      std::size_t received = 0;
      for (const step_use& one : program) received += one.received;
      BOOST_TEST(times.received_bytes() == received);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_times_of_a_timetable_are_those_of_its_entries) {
  std::mt19937 random(9);
  for (int round = 0; round < 300; ++round) {
    timetable times;
    std::vector<bool> is_pending(40, false);  // in each second
    double computing = 0, waiting = 0, end = 0;
    std::size_t from = 0, received = 0, peak = 0;
    for (std::size_t k = random() % 8; k > 0; --k) {
      from += random() % 4;
      const std::size_t until = from + random() % 9;
      timetable::entry one;
      one.moves = random() % 3 != 0;
      one.from = static_cast<double>(from), one.until = static_cast<double>(until);
      one.waited_seconds = static_cast<double>(random() % 5);
      one.received_bytes = random() % 100, one.bytes_held = random() % 100;
      for (std::size_t t = from; one.moves && t < until; ++t) is_pending[t] = true;
      computing += one.moves ? 0 : one.until - one.from, waiting += one.waited_seconds;
      end = std::max(end, one.until), received += one.received_bytes, peak = std::max(peak, one.bytes_held);
      times.entries.push_back(one);
    }
    const auto moving = static_cast<double>(std::count(is_pending.begin(), is_pending.end(), true));
    BOOST_TEST(times.moving() == moving);
    BOOST_TEST(times.computing() == computing);
    BOOST_TEST(times.waiting() == waiting);
    BOOST_TEST(times.seconds() == end);
    BOOST_TEST(times.received_bytes() == received);
    BOOST_TEST(times.peak() == peak);
    BOOST_TEST(times.lower_bound() == std::max(computing, moving));
  }
}

/// What two movements that share messages receive is in the entry of the first, wherever a computation is begun.
BOOST_AUTO_TEST_CASE(movements_that_share_messages_share_the_entry_of_the_first_of_them) {
  const std::vector<step_use> program{
      {.reads = {0}, .sets = 1, .moves = true, .seconds = 5, .received = 8},
      {.reads = {2}, .sets = 3, .moves = true, .seconds = 5, .message_leader = 0, .received = 16},
      {.reads = {4}, .sets = 5, .seconds = 3}};
  for (std::size_t place = 0; place < 3; ++place) {
    std::vector<ordered_step> order{{.action = what::start, .step = 0},
                                    {.action = what::start, .step = 1},
                                    {.action = what::finish, .step = 0},
                                    {.action = what::finish, .step = 1}};
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), {.action = what::compute, .step = 2});
    const timetable times = timetable_of(program, order);
    BOOST_TEST_REQUIRE(times.entries.size() == 2U);
    for (const timetable::entry& one : times.entries) {
      BOOST_TEST(one.received_bytes == (one.moves ? 24U : 0U));
      BOOST_TEST(one.joint_movements == (one.moves ? 1U : 0U));
    }
    BOOST_TEST(times.entries[0].moves == (place > 0));
  }
}
