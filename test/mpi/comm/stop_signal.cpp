// When one worker gets a signal, all workers learn of it at the same call.
#include "mpi_test.hpp"

#include <csignal>
#include <partita/comm/stop_signal.hpp>

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

BOOST_AUTO_TEST_SUITE_END()
