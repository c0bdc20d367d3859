// Prints the last calls of a worker from its status slot. The worker itself prints them when an exception leaves main;
// another worker of its machine prints them when the process was killed, or when the worker does not come to a call.
#pragma once

#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <partita/comm/detail/node/status_slot.hpp>
#include <partita/comm/detail/process.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// Prints one line with a single write, so that lines of several workers do not mix. Safe in a signal handler.
inline void print_line(text line) {
  line << '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.c_str(), line.size());
}

/// The call log in a status slot. It never allocates or locks, so a signal handler may print it.
class call_log {
 public:
  /// Prints the last calls, newest first: one line for each distinct call.
  template <class = void>
  static void print(const status_slot& of) {
    const std::uint64_t all = of.calls, kept = all < status_slot::kept ? all : status_slot::kept;
    if (kept == 0) return;
    print_line(text("partita: the last ")
               << kept << (kept == 1 ? " call of " : " calls of ") << name(of) << ", the newest first:");
    bool told[status_slot::kept] = {};
    for (std::uint64_t back = 1; back <= kept; ++back) {
      if (told[back - 1]) continue;
      const status_slot::call& newest = call_of(of, all - back);
      const std::uint64_t world = newest.world, fingerprint = newest.fingerprint;
      std::size_t times = 0;
      for (std::uint64_t before = back; before <= kept; ++before) {
        const status_slot::call& call = call_of(of, all - before);
        if (call.world != world || call.fingerprint != fingerprint) continue;
        told[before - 1] = true;
        ++times;
      }
      text line("  ");
      if (world == 0) line << "the making of a world";
      else line << "call " << newest.number.load() << " of world " << world;
      if (times > 1) line << " (and " << times - 1 << " before like it)";
      const text sentence = of.name_of(fingerprint);
      print_line(line << ": " << (sentence.empty() ? text("a call whose name was displaced") : sentence));
    }
  }
  static text name(const status_slot& of) {
    return text("worker ") << of.worker.load() << " (process " << of.process.load() << ")";
  }
  /// Prints the calls of a worker that has ended, unless another worker has printed them already.
  template <class = void>
  static void print_of_the_gone(const status_slot& of) {
    status_slots& pages = status_slots::instance();
    for (auto known = pages.newest(); known != nullptr; known = known->older)
      if (known->page->told_of == of.secret) return;
    if (pages.own().told_of.exchange(of.secret) == of.secret) return;
    print_line(text("partita: ") << name(of) << " has ended before its time");
    print(of);
  }

  /// Installs the handlers that report an uncaught exception and an early end of the process. They are installed once.
  static void keep() {
    [[maybe_unused]] static const bool once = [] {
      previous() = std::set_terminate(&call_log::on_terminate);
      struct sigaction before {};
      if (::sigaction(SIGTERM, nullptr, &before) == 0 && (before.sa_flags & SA_SIGINFO) == 0 &&
          before.sa_handler == SIG_DFL) {
        struct sigaction ours {};
        ours.sa_handler = &call_log::on_sigterm;
        ::sigaction(SIGTERM, &ours, nullptr);
      }
      return true;
    }();
  }

 private:
  using standing = status_slot::standing;

  static std::terminate_handler& previous() {
    static std::terminate_handler handler = nullptr;
    return handler;
  }
  static const status_slot::call& call_of(const status_slot& of, std::uint64_t number) {
    return of.last[number % status_slot::kept];
  }
  /// Whether another worker ended before this one. Then this worker's end is only a consequence, and not reported in
  /// detail.
  static bool follows_another() {
    for (auto known = status_slots::instance().newest(); known != nullptr; known = known->older)
      if (known->page->stands == standing::failed || is_gone(*known->page)) return true;
    return false;
  }
  static bool is_gone(const status_slot& of) {
    return of.stands == standing::ended || status_slots::has_ended(of.process);
  }
  /// Prints the uncaught exception, and stores it in `final_message` so that other workers can quote it.
  template <class = void>
  static void explain_end(status_slot& own, bool follows) {
    text cause;
    try {
      if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
      cause << "std::terminate";
    } catch (const std::exception& thrown) {
      if (!follows) cause << "an exception that nobody caught: ";
      cause << thrown.what();
    } catch (...) {
      cause << "an exception that nobody caught, and that is no std::exception";
    }
    text sentence("partita: ");
    sentence << name(own) << (follows ? " ends as well: " : " ends by ") << cause;
    print_line(sentence);
    const char* const words = (follows ? cause : sentence).c_str();
    const std::size_t length = std::strlen(words), most = sizeof own.final_message - 1;
    std::memcpy(own.final_message, words, length < most ? length : most);
    own.final_message[length < most ? length : most] = '\0';
    own.stand(standing::failed);
    if (!follows) print(own);
  }

  [[noreturn]] static void on_terminate() {
    static std::atomic_flag began;
    if (!process::is_forked() && !began.test_and_set()) {
      status_slots& pages = status_slots::instance();
      const bool follows = follows_another();
      explain_end(pages.own(), follows);
      // Waiting workers look at the status slots ten times a second; without this delay the job would end before they
      // see this one. A worker that fails only because of another waits longer, so that the other one ends the job and
      // the output is not repeated.
      const timespec while_others_look{follows ? 3 : 0, 400'000'000};
      if (pages.newest() != nullptr) ::nanosleep(&while_others_look, nullptr);
    }
    if (previous() != nullptr) previous()();
    std::abort();
  }
  /// mpirun sends SIGTERM to the other workers as soon as one worker has ended: the last moment at which they can
  /// report which one it was.
  static void on_sigterm(int number) {
    if (!process::is_forked()) {
      status_slots& pages = status_slots::instance();
      pages.own().stand(standing::told_to_end);
      for (auto known = pages.newest(); known != nullptr; known = known->older) {
        const standing stands = known->page->stands;
        if (stands == standing::ended || stands == standing::told_to_end || stands == standing::failed) continue;
        if (!status_slots::has_ended(known->page->process)) continue;
        print_of_the_gone(*known->page);
      }
    }
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
};

}  // namespace partita::detail
