// Words that workers send each other outside of every kernel, to show what a kernel does not wait for.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <chrono>
#include <thread>

namespace test {

/// Waits for a word of another worker that must come without this one's doing; false if it does not come in time.
inline bool hears_from(const boost::mpi::communicator& all, int worker) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    if (all.iprobe(worker, 1)) return all.recv(worker, 1), true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
}

inline void tell_all(const boost::mpi::communicator& all) {
  for (int w = 0; w < all.size(); ++w)
    if (w != all.rank()) all.send(w, 1);  // of no bytes: waits for nobody
}

}  // namespace test
