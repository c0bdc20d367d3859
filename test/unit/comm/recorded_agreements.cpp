// What workers compare in an agreement: recorded steps, the operations that they made alone, the parts that they
// choose, and what a worker says of its errors.
#include <partita/comm/detail/diagnostics/disagreement.hpp>
#include <partita/comm/detail/world/local_operations.hpp>
#include <partita/comm/detail/world/part_communicator.hpp>
#include <partita/comm/detail/world/recorded_agreements.hpp>
#include <partita/comm/detail/world/thread_guard.hpp>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using detail::failure, detail::local_operations, detail::recorded_agreements;

std::string words(const text& t) { return t.c_str(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(agreements_of_workers)

BOOST_AUTO_TEST_CASE(recorded_steps_are_replayed_in_order_with_the_choices_that_are_still_offered) {
  recorded_agreements steps;
  BOOST_TEST((!steps.is_replaying() && !steps.can_be_repeated()));
  steps.record_step(10, 0b0100);
  BOOST_TEST(steps.can_be_repeated());
  steps.record_step(20, 0b0001);
  steps.record_step(30, 0b1000);
  BOOST_TEST((steps.can_be_repeated() && !steps.is_replaying()));
  for (int replay = 0; replay < 2; ++replay) {
    steps.start_replay();
    BOOST_TEST(steps.is_replaying());
    BOOST_TEST(steps.replay_step(10, 0b0110, failure::none) == 0b0100U);
    BOOST_TEST(steps.replay_step(20, 0b1111, failure::none) == 0b0001U);
    BOOST_TEST(steps.replay_step(30, 0b1000, failure::none) == 0b1000U);
    BOOST_TEST(steps.replay_step(30, 0b1000, failure::none) == 0U);  // there is no fourth step
  }
  steps.start_replay();
  BOOST_TEST(steps.replay_step(11, 0b0100, failure::none) == 0U);  // another call
  BOOST_TEST(steps.replay_step(20, 0b0010, failure::none) == 0U);  // the choice is not offered
  BOOST_TEST(steps.replay_step(30, 0b1000, failure::shape) == 0U);
}

BOOST_AUTO_TEST_CASE(steps_can_be_repeated_if_each_had_exactly_one_choice) {
  const auto can_be_repeated = [](std::initializer_list<std::uint64_t> choices) {
    recorded_agreements steps;
    for (const std::uint64_t common : choices) steps.record_step(1, common);
    return steps.can_be_repeated();
  };
  BOOST_TEST(can_be_repeated({1, 2, std::uint64_t{1} << 62U}));
  BOOST_TEST(!can_be_repeated({}));
  BOOST_TEST(!can_be_repeated({0}));
  BOOST_TEST(!can_be_repeated({4, 0}));
  BOOST_TEST(!can_be_repeated({3}));
  BOOST_TEST(!can_be_repeated({3, 1}));
  BOOST_TEST(!can_be_repeated({1, 6, 1}));
}

BOOST_AUTO_TEST_CASE(the_first_sixteen_operations_since_an_agreement_are_named) {
  local_operations done;
  std::set<std::uint64_t> results;
  for (std::uint64_t k = 0; k < 18; ++k) {
    const std::string name = "operation " + std::to_string(k);
    const std::uint64_t made = done.note(100 + k, name.c_str(), {k, 2});
    BOOST_TEST(done.history_hash() == made);
    results.insert(made);
  }
  BOOST_TEST(results.size() == 18U);  // each result has a number of its own
  for (std::size_t k = 0; k < 16; ++k) {
    BOOST_TEST(done.fingerprint(k) == 100 + k);
    BOOST_TEST(words(done.description(k)) ==
               "operation " + std::to_string(k) + " of a tensor of extents [" + std::to_string(k) + ", 2]");
  }
  BOOST_TEST((done.fingerprint(16) == 0 && done.fingerprint(17) == 0));
  BOOST_TEST(words(done.description(16)) == "operations of tensors after the 16th since the last agreement");
  const std::uint64_t before = done.history_hash();
  done.clear_named_operations();
  BOOST_TEST((done.history_hash() == before && done.fingerprint(0) == 0));
  BOOST_TEST(words(done.description(0)) == "no operation of a tensor");
  done.note(7, "add", {3});
  BOOST_TEST((done.fingerprint(0) == 7 && done.fingerprint(1) == 0 && done.history_hash() != before));
  done.reset();
  BOOST_TEST((done.history_hash() == 0 && done.fingerprint(0) == 0));
  local_operations other;
  BOOST_TEST(done.note(9, "x", {}) == other.note(9, "x", {}));  // as if nothing had been before
  local_operations order;
  order.note(1, "", {}), order.note(2, "", {}), other.reset(), other.note(2, "", {}), other.note(1, "", {});
  BOOST_TEST(order.history_hash() != other.history_hash());
}

BOOST_AUTO_TEST_CASE(a_name_of_an_operation_keeps_thirty_one_characters) {
  local_operations done;
  const std::string name = "abcdefghijklmnopqrstuvwxyz01234567";
  done.note(1, name.c_str(), {}), done.note(2, name.substr(0, 31).c_str(), {}), done.note(3, "", {});
  BOOST_TEST(words(done.description(0)) == name.substr(0, 31) + " of a tensor of extents []");
  BOOST_TEST(words(done.description(1)) == name.substr(0, 31) + " of a tensor of extents []");
  BOOST_TEST(words(done.description(2)) == " of a tensor of extents []");
}

BOOST_AUTO_TEST_CASE(operations_that_differ_later_than_the_named_ones_have_no_number) {
  std::vector<detail::call_report> reports(3);
  for (auto& one : reports) one.operations.fill(5);
  reports[1].operations_hash = 9;
  BOOST_TEST(detail::first_difference(reports).operation == 16U);
  reports[2].operations[15] = 6;
  BOOST_TEST(detail::first_difference(reports).operation == 15U);
  reports[1].operations[0] = 6;
  BOOST_TEST(detail::first_difference(reports).operation == 0U);
}

BOOST_AUTO_TEST_CASE(calls_that_read_alike_are_told_apart_by_their_numbers) {
  const auto told = [](std::initializer_list<std::pair<std::uint64_t, const char*>> calls) {
    std::vector<detail::call_report> reports;
    for (const auto& [number, sentence] : calls) {
      reports.emplace_back();
      reports.back().fingerprint = number, reports.back().sentence = sentence;
    }
    return words(detail::describe_difference(reports));
  };
  const std::string alike =
      "; where they read alike, the layouts, the order of the workers, the element types, the parameters or the "
      "operands differ, or they are calls of two kernels that were constructed identically (numbers 8 and 3)";
  const std::string end = "; every worker of a world makes every call with the same arguments";
  BOOST_TEST(told({{8, "f(x)"}, {3, "f(x)"}}) ==
             "partita: workers make different calls: worker 0 makes f(x), worker 1 makes f(x)" + alike + end);
  BOOST_TEST(told({{8, "f(x)"}, {3, "g(x)"}, {8, "f(x)"}, {4, "g(x)"}}) ==
             "partita: workers make different calls: worker 0 and 1 other make f(x), worker 1 makes g(x), worker 3 "
             "makes g(x)" +
                 alike + end);
  BOOST_TEST(told({{8, "f(x)"}, {3, "g(x)"}}).find("read alike") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_error_of_the_lowest_worker_is_thrown_and_none_is_an_error_too) {
  std::vector<detail::call_report> reports(3);
  BOOST_TEST(test::refused<communication_error>([&] { detail::throw_first_error(reports); }) ==
             "partita: an agreement failed for a reason that no worker gave");
  reports[2].kind = static_cast<std::uint64_t>(failure::shape), reports[2].sentence = "of worker 2";
  BOOST_TEST(test::refused<shape_error>([&] { detail::throw_first_error(reports); }) == "of worker 2");
  reports[0].kind = static_cast<std::uint64_t>(failure::partition), reports[0].sentence = "of worker 0";
  BOOST_TEST(test::refused<partition_error>([&] { detail::throw_first_error(reports); }) == "of worker 0");
}

BOOST_AUTO_TEST_CASE(worlds_that_cannot_be_made_say_what_each_worker_gave) {
  const auto local = static_cast<std::uint64_t>(checks::local), agree = static_cast<std::uint64_t>(checks::agree);
  BOOST_TEST(words(detail::describe_unequal_checks(local, 3, agree)) ==
             "partita::world: requires one level of checks on all workers, got checks::local on worker 0 and "
             "checks::agree on worker 3; give every worker of a world the same");
  BOOST_TEST(
      words(detail::describe_unequal_settings({1, "a"}, {4, "b"})) ==
      "partita::world: requires programs that were compiled in one way on all workers, got a on worker 1 and b on "
      "worker 4; compile the programs of all workers with the same headers and the same options");
}

BOOST_AUTO_TEST_CASE(a_part_has_a_number_and_a_name_by_its_workers_in_order) {
  const std::vector<workers> parts{workers(0, 1), workers(1, 2),    workers(0, 2),    workers{1, 0},    workers(0, 3),
                                   workers{0, 2}, workers{0, 2, 1}, workers{2, 0, 1}, workers{1, 0, 2}, workers(1, 3)};
  std::set<std::uint64_t> different;
  for (const workers& one : parts) different.insert(detail::part_fingerprint(one));
  BOOST_TEST(different.size() == parts.size());
  BOOST_TEST((detail::part_fingerprint(workers(2, 4)) == detail::part_fingerprint(workers{2, 3})));
  BOOST_TEST(words(detail::describe_part(workers(2, 5))) == "partita::world::part(workers) of workers(2, 5)");
  BOOST_TEST(words(detail::describe_part(workers{7, 1, 3})) ==
             "partita::world::part(workers) of 3 workers from 7 to 3");
}

BOOST_AUTO_TEST_CASE(one_thread_at_a_time_is_in_the_calls_of_a_world_and_may_nest_them) {
  std::atomic<std::thread::id> calling{};
  const std::string sentence =
      "partita: two threads make calls of one world at once, one of them f(x); make a world for each thread, in the "
      "same order on all workers";
  const auto refused_elsewhere = [&] {
    std::string told;
    std::thread([&] {
      told = test::refused<communication_error>([&] { detail::thread_guard(&calling, "f(x)"); });
      const std::string composed =
          test::refused<communication_error>([&] { detail::thread_guard(&calling, [] { return text("f(x)"); }); });
      if (composed != told) told += " differs from " + composed;
    }).join();
    return told;
  };
  {
    const detail::thread_guard outer(&calling, "g(x)");
    BOOST_TEST((calling.load() == std::this_thread::get_id()));
    BOOST_TEST(refused_elsewhere() == sentence);
    { const detail::thread_guard inner(&calling, "h(x)"); }
    BOOST_TEST(refused_elsewhere() == sentence);  // the inner call has not ended the outer one
  }
  BOOST_TEST((calling.load() == std::thread::id()));
  BOOST_TEST(refused_elsewhere().empty());
  std::thread([&] { const detail::thread_guard alone(nullptr, "f(x)"); }).join();
}

BOOST_AUTO_TEST_SUITE_END()
