// Defines the functions that comm/detail/diagnostics/call_log.hpp declares.
#pragma once

#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <partita/comm/detail/diagnostics/call_log.hpp>

namespace partita::detail {

PARTITA_DEF void print_line(text line) {
  line << '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.c_str(), line.size());
}

PARTITA_DEF void call_log::print_calls(const status_slot& of) {
  const std::uint64_t all = of.call_count,
                      kept = all < status_slot::kept_call_count ? all : status_slot::kept_call_count;
  if (kept == 0) return;
  print_line(text("partita: the last ") << kept << (kept == 1 ? " call of " : " calls of ") << worker_name(of)
                                        << ", the newest first:");
  bool is_printed[status_slot::kept_call_count] = {};
  for (std::uint64_t back = 1; back <= kept; ++back) {
    if (is_printed[back - 1]) continue;
    const status_slot::call& newest = find_call(of, all - back);
    const std::uint64_t world = newest.world, fingerprint = newest.fingerprint;
    std::size_t times = 0;
    for (std::uint64_t before = back; before <= kept; ++before) {
      const status_slot::call& call = find_call(of, all - before);
      if (call.world != world || call.fingerprint != fingerprint) continue;
      is_printed[before - 1] = true;
      ++times;
    }
    text line("  ");
    if (world == 0) line << "the making of a world";
    else line << "call " << newest.number.load() << " of world " << world;
    if (times > 1) line << " (and " << times - 1 << " before like it)";
    const text sentence = of.find_description(fingerprint);
    print_line(line << ": " << (sentence.empty() ? text("a call whose name was displaced") : sentence));
  }
}

PARTITA_DEF text call_log::worker_name(const status_slot& of) {
  return text("worker ") << of.worker.load() << " (process " << of.process.load() << ")";
}

PARTITA_DEF void call_log::print_calls_of_ended_worker(const status_slot& of) {
  status_slots& pages = status_slots::instance();
  for (auto slot = pages.newest(); slot != nullptr; slot = slot->older_slot)
    if (slot->status->last_printed_secret == of.slot_secret) return;
  if (pages.own_slot().last_printed_secret.exchange(of.slot_secret) == of.slot_secret) return;
  print_line(text("partita: ") << worker_name(of) << " has ended before its time");
  print_calls(of);
}

PARTITA_DEF void call_log::install_handlers() {
  [[maybe_unused]] static const bool is_installed = [] {
    previous_terminate_handler() = std::set_terminate(&call_log::handle_terminate);
    struct sigaction before {};  // how the program handles SIGTERM so far
    if (::sigaction(SIGTERM, nullptr, &before) == 0 && (before.sa_flags & SA_SIGINFO) == 0 &&
        before.sa_handler == SIG_DFL) {
      struct sigaction own_action {};  // prints the calls of workers that have ended
      own_action.sa_handler = &call_log::report_ended_workers_on_sigterm;
      ::sigaction(SIGTERM, &own_action, nullptr);
    }
    return true;
  }();
}

PARTITA_DEF std::terminate_handler& call_log::previous_terminate_handler() {
  static std::terminate_handler handler = nullptr;
  return handler;
}

PARTITA_DEF bool call_log::has_other_worker_ended() {
  for (auto slot = status_slots::instance().newest(); slot != nullptr; slot = slot->older_slot)
    if (slot->status->state == standing::has_failed || has_ended(*slot->status)) return true;
  return false;
}

PARTITA_DEF void call_log::report_exception(status_slot& own, bool continues_output) {
  text reason;
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    reason << "std::terminate";
  } catch (const std::exception& thrown) {
    if (!continues_output) reason << "an uncaught exception: ";
    reason << thrown.what();
  } catch (...) {
    reason << "an uncaught exception that is no std::exception";
  }
  text sentence("partita: ");
  sentence << worker_name(own) << (continues_output ? " ends as well: " : " ends by ") << reason;
  print_line(sentence);
  const char* const message = (continues_output ? reason : sentence).c_str();
  const std::size_t length = std::strlen(message), most = sizeof own.final_message - 1;
  std::memcpy(own.final_message, message, length < most ? length : most);
  own.final_message[length < most ? length : most] = '\0';
  own.set_process_state(standing::has_failed);
  if (!continues_output) print_calls(own);
}

PARTITA_DEF void call_log::handle_terminate() {
  static std::atomic_flag began;
  if (!process::is_forked() && !began.test_and_set()) {
    status_slots& pages = status_slots::instance();
    const bool continues_output = has_other_worker_ended();
    report_exception(pages.own_slot(), continues_output);
    // Waiting workers look at the status slots ten times a second; without this delay the job would end before they see
    // the slot of this worker. A worker that fails only because of another waits longer, so that the other worker ends
    // the job and the output is not repeated.
    const timespec delay{continues_output ? 3 : 0, 400'000'000};
    if (pages.newest() != nullptr) ::nanosleep(&delay, nullptr);
  }
  if (previous_terminate_handler() != nullptr) previous_terminate_handler()();
  std::abort();
}

PARTITA_DEF void call_log::report_ended_workers_on_sigterm(int signal_number) {
  if (!process::is_forked()) {
    status_slots& pages = status_slots::instance();
    pages.own_slot().set_process_state(standing::got_sigterm);
    for (auto slot = pages.newest(); slot != nullptr; slot = slot->older_slot) {
      const standing state = slot->status->state;
      if (state == standing::has_ended || state == standing::got_sigterm || state == standing::has_failed) continue;
      if (!status_slots::has_ended(slot->status->process)) continue;
      print_calls_of_ended_worker(*slot->status);
    }
  }
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

}  // namespace partita::detail
