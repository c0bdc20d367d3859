// Defines the functions that comm/detail/node/flag.hpp declares.
#pragma once

#include <partita/comm/detail/node/flag.hpp>
#include <thread>

namespace partita::detail {

PARTITA_DEF void backoff::pause() {
  if (++pause_count_ < max_spins_) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (pause_count_ == max_spins_ && trace::is_on() && trace::begin_wait())
    is_long_wait_ = true, trace_begin_time_ = clock::now();
  if (pause_count_ % 64 == 0) {
    int arrived = 0;  // not on MPI_COMM_SELF, where MPICH 4.0 makes no progress
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    check_clock();
  }
  std::this_thread::yield();
}

PARTITA_DEF void backoff::check_clock() {
  const clock::time_point now = clock::now();
  if (begin_time_ == clock::time_point{}) begin_time_ = now;
  seconds_ = std::chrono::duration<double>(now - begin_time_).count();
  if (seconds_ < next_report_seconds_) return;
  next_report_seconds_ = seconds_ + seconds_between_reports;
  if (watcher == nullptr) return;
  notified_watcher_ = watcher;
  is_long_wait_ = true;
  notified_watcher_->on_long_wait(seconds_);
}

PARTITA_DEF void backoff::report_wait_end() {
  if (notified_watcher_ != nullptr) notified_watcher_->on_wait_end();
  if (trace_begin_time_ != clock::time_point{}) trace::end_wait(clock::now() - trace_begin_time_);
}

PARTITA_DEF void flag::post(std::uint64_t new_epoch, std::uint64_t new_value) {
  value = new_value;
  epoch.store(new_epoch, std::memory_order_release);
}

PARTITA_DEF std::uint64_t flag::wait(std::uint64_t expected_epoch, bool oversubscribed) const {
  for (backoff p(oversubscribed); !posted(expected_epoch);) p.pause();
  return value;
}

}  // namespace partita::detail
