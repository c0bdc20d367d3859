// The state of this process: a worker, a worker that records a trace, a process after MPI_Finalize, or the forked child
// of a worker, which must not use its parent's communication.
#pragma once

#include <pthread.h>
#include <atomic>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/error.hpp>

namespace partita::detail {

class process {
 public:
  enum class standing { unknown, worker, traced, finalized, forked };

  /// Throws if this process cannot communicate. The state is cached, so that later calls cost one load. Requires MPI
  /// [communication_error].
  template <class = void>
  static void expect_worker(const char* call) {
    if (now().load(std::memory_order_relaxed) == standing::unknown) find_out(call);
    switch (now().load(std::memory_order_relaxed)) {
      case standing::finalized:
        throw communication_error(text(call) << ": requires MPI, and MPI_Finalize has been called; keep the "
                                                "boost::mpi::environment alive for longer than worlds and kernels");
      case standing::forked:
        throw communication_error(text(call) << ": requires a worker, and this is a forked child of one; let the child "
                                                "do what needs no kernels, or start it by exec");
      default:
        return;
    }
  }
  /// Whether this process may still communicate with the other workers.
  static bool is_worker() {
    const standing is = now().load(std::memory_order_relaxed);
    return is == standing::worker || is == standing::traced;
  }
  /// A worker whose calls are not traced. One test answers both questions that each call has.
  static bool is_untraced_worker() { return now().load(std::memory_order_relaxed) == standing::worker; }
  static void is_traced() {
    standing expected = standing::worker;
    now().compare_exchange_strong(expected, standing::traced);
  }
  /// The function that is called when MPI_Finalize begins on this worker; the library sets one.
  static std::atomic<void (*)()>& at_finalize() {
    static std::atomic<void (*)()> call{nullptr};
    return call;
  }
  static bool is_forked() { return now().load(std::memory_order_relaxed) == standing::forked; }

 private:
  static std::atomic<standing>& now() {
    static std::atomic<standing> it{standing::unknown};
    return it;
  }
  static void find_out(const char* call) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized == 0)
      throw communication_error(text(call) << ": requires MPI; make a boost::mpi::environment first and keep it alive");
    standing expected = standing::unknown;
    if (!now().compare_exchange_strong(expected, finalized != 0 ? standing::finalized : standing::worker)) return;
    if (finalized != 0) return;
    // MPI_Finalize first deletes the attributes of MPI_COMM_SELF
    int key = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void*, void*) -> int {
                now() = standing::finalized;
                if (const auto tell = at_finalize().load(); tell != nullptr) tell();
                return MPI_SUCCESS;
              },
              &key, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
    ::pthread_atfork(nullptr, nullptr, [] { now() = standing::forked; });
  }
};

}  // namespace partita::detail
