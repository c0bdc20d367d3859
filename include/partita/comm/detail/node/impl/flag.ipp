// Defines the functions that comm/detail/node/flag.hpp declares.
#pragma once

#include <partita/comm/detail/node/flag.hpp>
#include <thread>

namespace partita::detail {

PARTITA_DEF void backoff::pause() {
  if (++waited_ < spins_) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (waited_ == spins_ && trace::on() && trace::begin_wait()) long_ = true, traced_ = clock::now();
  if (waited_ % 64 == 0) {
    int arrived = 0;  // not on MPI_COMM_SELF, where MPICH 4.0 makes no progress
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    look_at_the_clock();
  }
  std::this_thread::yield();
}

PARTITA_DEF void backoff::look_at_the_clock() {
  const clock::time_point now = clock::now();
  if (began_ == clock::time_point{}) began_ = now;
  seconds_ = std::chrono::duration<double>(now - began_).count();
  if (seconds_ < report_at_) return;
  report_at_ = seconds_ + seconds_between_reports;
  if (watcher == nullptr) return;
  told_ = watcher;
  long_ = true;
  told_->still_waits(seconds_);
}

PARTITA_DEF void backoff::end() {
  if (told_ != nullptr) told_->waits_no_more();
  if (traced_ != clock::time_point{}) trace::end_wait(clock::now() - traced_);
}

PARTITA_DEF void flag::post(std::uint64_t new_epoch, std::uint64_t new_value) {
  value = new_value;
  epoch.store(new_epoch, std::memory_order_release);
}

PARTITA_DEF std::uint64_t flag::wait(std::uint64_t expected, bool oversubscribed) const {
  for (backoff p(oversubscribed); !posted(expected);) p.pause();
  return value;
}

}  // namespace partita::detail
