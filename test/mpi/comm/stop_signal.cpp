// When one worker gets a signal, all workers learn of it at the same call.
#include "mpi_test.hpp"

#include <pthread.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <partita/comm/stop_signal.hpp>
#include <thread>

BOOST_AUTO_TEST_SUITE(stop_signals)

BOOST_AUTO_TEST_CASE(one_worker_is_told_and_all_know) {
  using namespace partita;
  const world everyone(test::workers());
  for (const int number : {SIGTERM, SIGUSR1}) {
    const stop_signal stop(everyone, number);
    BOOST_TEST(!stop.received_by_any_worker());
    if (everyone.id() + 1 == everyone.size()) std::raise(number);
    BOOST_TEST(stop.received_by_any_worker());
    BOOST_TEST(stop.received_by_any_worker());
  }
  const stop_signal again(everyone);
  BOOST_TEST(!again.received_by_any_worker());
}

/// The process handles the signal again as it did before: by the default, not at all, or by a function of the program.
BOOST_AUTO_TEST_CASE(afterwards_the_signal_is_handled_as_before) {
  using namespace partita;
  const world everyone(test::workers());
  using handler = void (*)(int);
  for (const int number : {SIGTERM, SIGUSR1, SIGUSR2})
    for (const handler before : {handler(SIG_DFL), handler(SIG_IGN), handler([](int) {})}) {
      const auto original = std::signal(number, before);
      { const stop_signal stop(everyone, number); }
      BOOST_TEST((std::signal(number, original) == before), "signal " << number);
    }
}

/// A system call of the program in which the signal arrives goes on.
BOOST_AUTO_TEST_CASE(a_read_during_which_the_signal_arrives_is_not_interrupted) {
  using namespace partita;
  const world everyone(test::workers());
  int ends[2] = {};
  BOOST_TEST_REQUIRE(::pipe(ends) == 0);
  for (const int number : {SIGTERM, SIGUSR1}) {
    const stop_signal stop(everyone, number);
    std::thread other([&, reader = ::pthread_self()] {
      for (int k = 0; k < 20; ++k) {  // one of the signals arrives after the read has begun
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ::pthread_kill(reader, number);
      }
      BOOST_TEST(::write(ends[1], "x", 1) == 1);
    });
    char byte = 0;
    const ssize_t n = ::read(ends[0], &byte, 1);
    other.join();
    BOOST_TEST((n == 1 && byte == 'x'), "signal " << number);
    if (n != 1) BOOST_TEST(::read(ends[0], &byte, 1) == 1);
    BOOST_TEST(stop.received_by_any_worker());
  }
  ::close(ends[0]), ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()
