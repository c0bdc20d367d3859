// Defines the functions that comm/detail/world/process.hpp declares.
#pragma once

#include <pthread.h>
#include <partita/comm/detail/world/process.hpp>
#include <partita/comm/mpi.hpp>

namespace partita::detail {

PARTITA_DEF void process::expect_worker(const char* call) {
  if (current_state().load(std::memory_order_relaxed) == standing::unknown_standing) find_state(call);
  switch (current_state().load(std::memory_order_relaxed)) {
    case standing::after_finalize:
      throw communication_error(text(call) << ": requires MPI, and MPI_Finalize has been called; keep the "
                                              "boost::mpi::environment alive for longer than worlds and kernels");
    case standing::in_forked_child:
      throw communication_error(text(call) << ": requires a worker, and this is a forked child of one; let the child "
                                              "do what needs no kernels, or start it by exec");
    default:
      return;
  }
}

PARTITA_DEF bool process::is_worker() {
  const standing is = current_state().load(std::memory_order_relaxed);
  return is == standing::worker || is == standing::is_traced_worker;
}

PARTITA_DEF void process::mark_as_traced() {
  standing expected = standing::worker;
  current_state().compare_exchange_strong(expected, standing::is_traced_worker);
}

PARTITA_DEF std::atomic<void (*)()>& process::finalize_callback() {
  static std::atomic<void (*)()> call{nullptr};
  return call;
}

PARTITA_DEF std::atomic<process::standing>& process::current_state() {
  static std::atomic<standing> it{standing::unknown_standing};
  return it;
}

PARTITA_DEF void process::find_state(const char* call) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0)
    throw communication_error(text(call) << ": requires MPI; make a boost::mpi::environment first and keep it alive");
  standing expected = standing::unknown_standing;
  if (!current_state().compare_exchange_strong(expected, finalized != 0 ? standing::after_finalize : standing::worker))
    return;
  if (finalized != 0) return;
  // MPI_Finalize first deletes the attributes of MPI_COMM_SELF, which calls this function
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(
            MPI_COMM_NULL_COPY_FN,
            [](MPI_Comm, int, void*, void*) -> int {
              current_state() = standing::after_finalize;
              if (const auto tell = finalize_callback().load(); tell != nullptr) tell();
              return MPI_SUCCESS;
            },
            &key, nullptr),
        "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  ::pthread_atfork(nullptr, nullptr, [] { current_state() = standing::in_forked_child; });
}

}  // namespace partita::detail
