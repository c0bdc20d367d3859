// What a worker shows of itself: its calls and their names, the worlds that it has left, and how others find its slot.
#include <partita/comm/detail/diagnostics/call_log.hpp>
#include <partita/comm/detail/node/status_slot.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ctime>
#include <string>

#include "printed.hpp"

namespace {

using partita::text;
using partita::detail::slot_address;
using partita::detail::status_slot;
using partita::detail::status_slots;

std::string named(const status_slot& slot, std::uint64_t fingerprint) {
  return slot.find_description(fingerprint).c_str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(status_slots_of_workers)

BOOST_AUTO_TEST_CASE(a_call_is_noted_with_its_world_its_number_and_a_name_that_is_asked_for_once) {
  static status_slot slot{};
  int asked = 0;
  const auto note = [&](std::uint64_t world, std::uint64_t number, std::uint64_t fingerprint) {
    slot.note(world, number, fingerprint, [&] { return text("call ") << fingerprint << " asked " << ++asked; });
  };
  note(3, 1, 11), note(4, 1, 12), note(3, 2, 11);
  BOOST_TEST(slot.call_count == 3U);
  const std::uint64_t expected[][3] = {{3, 1, 11}, {4, 1, 12}, {3, 2, 11}};
  for (std::size_t k = 0; k < 3; ++k) {
    BOOST_TEST(slot.last_calls[k].world == expected[k][0]);
    BOOST_TEST(slot.last_calls[k].number == expected[k][1]);
    BOOST_TEST(slot.last_calls[k].fingerprint == expected[k][2]);
  }
  BOOST_TEST(asked == 2);
  BOOST_TEST(named(slot, 11) == "call 11 asked 1");
  BOOST_TEST(named(slot, 12) == "call 12 asked 2");
  BOOST_TEST(named(slot, 13).empty());
  for (std::uint64_t k = 0; k < 62; ++k) note(5, k, 11);  // the list begins again after 64 calls
  BOOST_TEST((slot.call_count == 65 && slot.last_calls[0].world == 5 && slot.last_calls[0].number == 61));
  BOOST_TEST(slot.last_calls[1].world == 4U);
}

BOOST_AUTO_TEST_CASE(four_names_whose_fingerprints_meet_are_kept_and_a_fifth_displaces_one) {
  static status_slot slot{};
  constexpr std::uint64_t sets = status_slot::description_set_count;
  for (std::uint64_t k = 1; k <= 4; ++k) slot.store_description(k * sets + 7, text("name ") << k);
  slot.store_description(8, "beside");
  for (std::uint64_t k = 1; k <= 4; ++k) BOOST_TEST(named(slot, k * sets + 7) == "name " + std::to_string(k));
  slot.store_description(2 * sets + 7, "new");  // a name that is given again takes its own place
  BOOST_TEST(named(slot, 2 * sets + 7) == "new");
  for (const std::uint64_t k : {1U, 3U, 4U}) BOOST_TEST(named(slot, k * sets + 7) == "name " + std::to_string(k));
  slot.store_description(5 * sets + 7, "fifth");
  int kept = 0;
  for (std::uint64_t k = 1; k <= 5; ++k) kept += named(slot, k * sets + 7).empty() ? 0 : 1;
  BOOST_TEST(kept == 4);
  BOOST_TEST(named(slot, 5 * sets + 7) == "fifth");
  BOOST_TEST(named(slot, 8) == "beside");
}

BOOST_AUTO_TEST_CASE(a_name_keeps_as_many_characters_as_its_place_has) {
  static status_slot slot{};
  constexpr std::size_t room = status_slot::max_description_length - 1;
  std::string long_name;
  for (std::size_t k = 0; k < room + 20; ++k) long_name += static_cast<char>('a' + k % 26);
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, room - 1, room, room + 1, room + 20}) {
    slot.store_description(length + 1, long_name.substr(0, length).c_str());
    BOOST_TEST(named(slot, length + 1) == long_name.substr(0, length < room ? length : room));
  }
}

BOOST_AUTO_TEST_CASE(a_worker_has_left_a_world_before_the_calls_that_it_did_not_make) {
  static status_slot slot{};
  BOOST_TEST(!slot.has_left_before_call(6, 1));
  slot.note_departure(6, 3);
  slot.note_departure(9, 0);
  for (std::uint64_t calls = 0; calls < 6; ++calls) {
    BOOST_TEST(slot.has_left_before_call(6, calls) == (calls > 3), calls);
    BOOST_TEST(slot.has_left_before_call(9, calls) == (calls > 0), calls);
    BOOST_TEST(!slot.has_left_before_call(7, calls), calls);
  }
  // the last sixteen worlds are kept
  for (std::uint64_t world = 20; world < 34; ++world) slot.note_departure(world, world);
  BOOST_TEST((slot.has_left_before_call(6, 4) && slot.has_left_before_call(9, 1)));
  for (std::uint64_t world = 20; world < 34; ++world) {
    BOOST_TEST(slot.has_left_before_call(world, world + 1), world);
    BOOST_TEST(!slot.has_left_before_call(world, world), world);
  }
  slot.note_departure(40, 0);
  BOOST_TEST((!slot.has_left_before_call(6, 4) && slot.has_left_before_call(9, 1) && slot.has_left_before_call(40, 1)));
}

BOOST_AUTO_TEST_CASE(a_state_has_the_time_at_which_it_began) {
  static status_slot slot{};
  const std::uint64_t before = status_slot::nanoseconds();
  slot.set_process_state(status_slot::standing::is_waiting);
  const std::uint64_t after = status_slot::nanoseconds();
  BOOST_TEST((slot.state == status_slot::standing::is_waiting));
  BOOST_TEST((slot.state_begin_nanoseconds >= before && slot.state_begin_nanoseconds <= after));
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto seconds = static_cast<std::uint64_t>(now.tv_sec);
  BOOST_TEST((after / 1'000'000'000 == seconds || after / 1'000'000'000 + 1 == seconds));
}

BOOST_AUTO_TEST_CASE(a_slot_is_found_by_its_whole_address_and_mapped_once) {
  status_slots& slots = status_slots::instance();
  const slot_address own = slots.address();
  BOOST_TEST((own.process == static_cast<std::uint64_t>(::getpid()) && own.file != 0));
  BOOST_TEST((slots.own_slot().slot_secret == own.slot_secret && slots.own_slot().process == own.process));
  for (std::uint64_t slot_address::*part :
       {&slot_address::machine, &slot_address::process, &slot_address::file, &slot_address::slot_secret}) {
    slot_address other = own;
    other.*part += part == &slot_address::process ? 1U << 30U : 1;
    BOOST_TEST((slots.find(other) == nullptr));
  }
  slot_address without_file = own;
  without_file.file = 0;
  BOOST_TEST((slots.find(without_file) == nullptr));
  slots.own_slot().worker = 41;
  const status_slot* const found = slots.find(own);
  BOOST_TEST_REQUIRE((found != nullptr && found != &slots.own_slot()));
  BOOST_TEST(found->worker == 41U);
  slots.own_slot().worker = 42;  // the same memory
  BOOST_TEST(found->worker == 42U);
  BOOST_TEST((slots.find(own) == found));
  BOOST_TEST((slots.newest()->status == found && slots.newest()->slot_secret == own.slot_secret));
  // others wait if one of the slots that were found waits
  slots.own_slot().set_process_state(status_slot::standing::is_waiting);
  BOOST_TEST(slots.has_waiting_worker());
  for (const auto state : {status_slot::standing::is_making_world, status_slot::standing::is_computing}) {
    slots.own_slot().set_process_state(state);
    BOOST_TEST(!slots.has_waiting_worker());
  }
}

/// Also before its parent takes notice.
BOOST_AUTO_TEST_CASE(a_process_has_ended_if_it_is_not_there_or_waits_for_its_parent) {
  BOOST_TEST(!status_slots::has_ended(static_cast<std::uint64_t>(::getpid())));
  BOOST_TEST(status_slots::has_ended(std::uint64_t{1} << 40U));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  BOOST_TEST(status_slots::has_ended(static_cast<std::uint64_t>(child)));
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(status_slots::has_ended(static_cast<std::uint64_t>(child)));
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_worker_that_has_ended_are_printed_once) {
  using partita::detail::call_log;
  static status_slot slot{}, other{};
  slot.worker = 8, slot.process = 123, slot.slot_secret = 1001;
  other.worker = 9, other.process = 124, other.slot_secret = 1002;
  slot.note(1, 1, 5, [] { return text("f(x)"); });
  BOOST_TEST(std::string(call_log::worker_name(slot).c_str()) == "worker 8 (process 123)");
  const auto print = [](const status_slot& of) {
    return test::printed([&] { call_log::print_calls_of_ended_worker(of); });
  };
  const std::string once =
      "partita: worker 8 (process 123) has ended before its time\n"
      "partita: the last 1 call of worker 8 (process 123), the newest first:\n"
      "  call 1 of world 1: f(x)\n";
  BOOST_TEST(print(slot) == once);
  BOOST_TEST(print(slot).empty());
  BOOST_TEST(print(other) == "partita: worker 9 (process 124) has ended before its time\n");
  BOOST_TEST(status_slots::instance().own_slot().last_printed_secret == 1002U);
}

BOOST_AUTO_TEST_SUITE_END()
