// Leaks memory that other workers, or MPI, may still read or write after this worker has stopped waiting.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Keeps an object forever, because a late message could overwrite its memory after the memory is used again.
template <class T>
void leak_on_purpose(std::unique_ptr<T> object_to_leak) {
  try {
    static auto& all = *new std::vector<std::unique_ptr<T>>;
    static spin_lock lock;
    const std::lock_guard one_at_a_time(lock);
    if (object_to_leak) all.push_back(std::move(object_to_leak));
  } catch (const std::bad_alloc&) {  // without memory for a pointer, the object is leaked without one
    static_cast<void>(object_to_leak.release());
  }
}

}  // namespace partita::detail
