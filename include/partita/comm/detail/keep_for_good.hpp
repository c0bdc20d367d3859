// What others, or MPI, may still read and write although nobody here waits for it: kept until the process ends.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <partita/comm/detail/spin_lock.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Better kept than overwritten by what comes late.
template <class T>
void keep_for_good(std::unique_ptr<T> it) {
  try {
    static auto& all = *new std::vector<std::unique_ptr<T>>;
    static spin_lock keeping;
    const std::lock_guard one_at_a_time(keeping);
    if (it) all.push_back(std::move(it));
  } catch (const std::bad_alloc&) {  // then nothing knows it any more, which keeps it as well
    static_cast<void>(it.release());
  }
}

}  // namespace partita::detail
