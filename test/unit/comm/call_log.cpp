// The call log of a worker: a line for each of its last calls, the newest first.
#include <partita/comm/detail/diagnostics/call_log.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <string>

namespace {

/// What a call prints to the standard error stream.
template <class Call>
std::string printed(Call call) {
  int ends[2] = {};
  BOOST_REQUIRE(::pipe(ends) == 0);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO), ::close(ends[1]);
  call();
  ::dup2(before, STDERR_FILENO), ::close(before);
  std::string all;
  char some[512];
  for (ssize_t n = 0; (n = ::read(ends[0], some, sizeof some)) > 0;) all.append(some, static_cast<std::size_t>(n));
  ::close(ends[0]);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_call_log_has_a_line_for_each_call_the_newest_first) {
  static partita::detail::status_slot slot{};
  slot.worker = 3, slot.process = 77;
  std::uint64_t number = 0;
  const auto note = [&](std::uint64_t world, char call) {
    slot.note(world, ++number, static_cast<std::uint64_t>(call), [&] { return partita::text("call ") << call; });
  };
  const auto log = [] { return printed([] { partita::detail::call_log::print_calls(slot); }); };
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

/// A process that may open no more files keeps its slot in its own memory, where no other process finds it.
BOOST_AUTO_TEST_CASE(a_worker_without_a_spare_file_has_a_slot_of_its_own) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_more{0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &no_more) != 0) ::_exit(2);
    try {
      auto& slots = partita::detail::status_slots::instance();
      const bool right = slots.address().file == 0 && slots.own_slot().slot_secret == slots.address().slot_secret &&
                         slots.own_slot().process == static_cast<std::uint64_t>(::getpid());
      ::_exit(right ? 0 : 3);
    } catch (...) {
      ::_exit(4);
    }
  }
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFEXITED(status) ? WEXITSTATUS(status) : -1) == 0);
}
