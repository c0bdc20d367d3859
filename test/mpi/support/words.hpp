// Empty messages between workers outside all kernels, to show that a kernel does not wait.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <chrono>
#include <thread>

namespace test {

/// Waits for a message of another worker that must arrive while this worker makes no call. Returns false on a timeout.
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
    if (w != all.rank()) all.send(w, 1);  // without data, so the send does not wait
}

}  // namespace test
