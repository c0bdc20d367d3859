// The call log of a worker: a line for each of its last calls, the newest first.
#include <partita/comm/detail/diagnostics/call_log.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <exception>
#include <string>

#include "child_process.hpp"
#include "printed.hpp"

BOOST_AUTO_TEST_CASE(a_call_log_has_a_line_for_each_call_the_newest_first) {
  static partita::detail::status_slot slot{};
  slot.worker = 3, slot.process = 77;
  std::uint64_t number = 0;
  const auto note = [&](std::uint64_t world, char call) {
    slot.note(world, ++number, static_cast<std::uint64_t>(call), [&] { return partita::text("call ") << call; });
  };
  const auto log = [] { return test::printed([] { partita::detail::call_log::print_calls(slot); }); };
  BOOST_TEST(log().empty());
  note(0, 'w');
  BOOST_TEST(log() ==
             "partita: the last 1 call of worker 3 (process 77), the newest first:\n  the making of a world: call w\n");
  for (const char call : {'a', 'b', 'a', 'a', 'c'}) note(2, call);
  note(4, 'a');
  BOOST_TEST(log() ==
             "partita: the last 7 calls of worker 3 (process 77), the newest first:\n"
             "  call 7 of world 4: call a\n"
             "  call 6 of world 2: call c\n"
             "  call 5 of world 2 (and 2 before like it): call a\n"
             "  call 3 of world 2: call b\n"
             "  the making of a world: call w\n");
}

BOOST_AUTO_TEST_CASE(a_call_whose_name_has_no_place_left_is_listed_without_it) {
  using partita::detail::status_slot;
  static status_slot slot{};
  slot.worker = 1, slot.process = 5;
  // names of calls whose fingerprints are equal modulo the number of sets share the places of one set
  constexpr std::size_t places = status_slot::descriptions_per_set, calls = places + 1;
  for (std::uint64_t k = 1; k <= calls; ++k)
    slot.note(2, k, k * status_slot::description_set_count, [&] { return partita::text("call ") << k; });
  const std::string log = test::printed([] { partita::detail::call_log::print_calls(slot); });
  std::size_t named = 0, displaced = 0;
  std::string expected = "partita: the last 5 calls of worker 1 (process 5), the newest first:\n";
  for (std::uint64_t k = calls; k > 0; --k) {
    const std::string front = "  call " + std::to_string(k) + " of world 2: ", name = "call " + std::to_string(k);
    const bool has_name = log.find(front + name + "\n") != std::string::npos;
    named += has_name ? 1 : 0, displaced += has_name ? 0 : 1;
    expected += front + (has_name ? name : std::string("a call whose name was displaced")) + "\n";
  }
  BOOST_TEST(log == expected);
  BOOST_TEST(named == places);
  BOOST_TEST(displaced == 1U);
  BOOST_TEST(log.find("call 5 of world 2: call 5\n") != std::string::npos);  // the newest displaced another
}

BOOST_AUTO_TEST_CASE(a_log_has_the_last_64_calls) {
  static partita::detail::status_slot slot{};
  for (std::uint64_t k = 1; k <= 70; ++k) slot.note(1, k, k, [&] { return partita::text("call ") << k; });
  std::string expected = "partita: the last 64 calls of worker 0 (process 0), the newest first:\n";
  for (std::uint64_t k = 70; k > 6; --k)
    expected += "  call " + std::to_string(k) + " of world 1: call " + std::to_string(k) + "\n";
  BOOST_TEST(test::printed([] { partita::detail::call_log::print_calls(slot); }) == expected);
}

/// The library handles SIGTERM only if the program leaves the signal to the system.
BOOST_AUTO_TEST_CASE(a_program_that_handles_the_signal_goes_on_to_handle_it) {
  struct sigaction ways[4] = {};
  ways[0].sa_handler = SIG_DFL, ways[1].sa_handler = SIG_IGN, ways[2].sa_handler = [](int) {};
  ways[3].sa_sigaction = [](int, siginfo_t*, void*) {}, ways[3].sa_flags = SA_SIGINFO;
  for (std::size_t k = 0; k < 4; ++k)
    BOOST_TEST(test::status_of_child([&] {
                 struct sigaction now {};
                 ::sigaction(SIGTERM, &ways[k], nullptr);
                 partita::detail::call_log::install_handlers();
                 ::sigaction(SIGTERM, nullptr, &now);
                 return now.sa_handler == ways[k].sa_handler && (now.sa_flags & SA_SIGINFO) == ways[k].sa_flags ? 1 : 0;
               }) == (k == 0 ? 0 : 1),
               k);
}

/// A program that ends by an exception calls its own handler of std::terminate after that of the library.
BOOST_AUTO_TEST_CASE(the_terminate_handler_of_the_program_is_called) {
  BOOST_TEST(test::status_of_child([]() -> int {
               ::close(STDERR_FILENO);  // the library prints the last calls
               std::set_terminate([] { ::_exit(7); });
               partita::detail::call_log::install_handlers();
               std::terminate();
             }) == 7);
}

/// A process that may open no more files keeps its slot in its own memory, where no other process finds it.
BOOST_AUTO_TEST_CASE(a_worker_without_a_spare_file_has_a_slot_of_its_own) {
  BOOST_TEST(test::status_of_child([] {
               const rlimit no_more{0, 0};
               if (::setrlimit(RLIMIT_NOFILE, &no_more) != 0) return 2;
               try {
                 auto& slots = partita::detail::status_slots::instance();
                 const bool right = slots.address().file == 0 &&
                                    slots.own_slot().slot_secret == slots.address().slot_secret &&
                                    slots.own_slot().process == static_cast<std::uint64_t>(::getpid());
                 return right ? 0 : 3;
               } catch (...) {
                 return 4;
               }
             }) == 0);
}
