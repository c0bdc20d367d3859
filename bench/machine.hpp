// Common parts of all MPI benchmarks: a main function, a clock of all workers, samples, the regime of the machine.
#pragma once

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "harness.hpp"

namespace bench {

inline int worker() {
  int w = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &w);
  return w;
}
inline int workers() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// Whether `is_right` is true on all workers.
inline bool right_everywhere(bool is_right) {
  int own = is_right ? 1 : 0, all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

/// Runs an MPI benchmark: body(line, rows) returns whether this worker's results are right. Worker 0 prints the rows.
template <class Body>
int run_on_workers(int argc, char** argv, command_line line, Body body) {
  struct session {
    session(int& count, char**& words) { MPI_Init(&count, &words); }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { MPI_Finalize(); }
  } const mpi(argc, argv);
  const auto n = static_cast<std::size_t>(workers());
  if (const auto status = line.read(argc, argv, n, worker() == 0)) return *status;
  try {
    rows out(line, n, worker() == 0);
    const bool right = right_everywhere(body(std::as_const(line), out));
    return out.status(right);
  } catch (const usage_error& e) {  // thrown by all workers, since they have the same command line
    return worker() == 0 ? line.print_error(e) : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: worker %d: %s\n", line.name(), worker(), e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

/// The time of one call, from the first start to the last end over all workers, and the difference of their starts. The
/// processes of one machine share the clock.
struct sample {
  double seconds, apart;
};

template <class Call>
sample sampled(Call call) {
  MPI_Barrier(MPI_COMM_WORLD);
  double own_times[3], all[3];
  own_times[0] = seconds();
  own_times[1] = -own_times[0];
  call();
  own_times[2] = seconds();
  MPI_Allreduce(own_times, all, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return {all[2] + all[1], all[0] + all[1]};
}
template <class Call>
double timed(Call call) {
  return sampled(call).seconds;
}

/// How often this worker has lost its core to another process (involuntary context switches).
inline long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// The distance between two cores. A hypervisor moves virtual cores between caches within seconds, and a ratio of
/// samples from before and after such a move means nothing.
enum class regime { near, far, oversubscribed };
inline const char* name_of(regime r) {
  return r == regime::near ? "near" : r == regime::far ? "far" : "oversubscribed";
}

class regime_meter {
 public:
  regime_meter() {
    void* base = nullptr;
    MPI_Win_allocate_shared(worker() == 0 ? 256 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, &base);
    auto address = reinterpret_cast<std::uintptr_t>(base);
    address = (address + 127) / 128 * 128;
    flags_ = reinterpret_cast<std::atomic<long>*>(address);
    if (worker() == 0) flags_[0] = flags_[8] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~regime_meter() { MPI_Win_free(&window_); }

  /// The one-way latency in seconds of a flag between workers 0 and 1, the best of some tries. All workers get the same
  /// number.
  double latency() {
    double result = 1;
    const int rounds = 20;
    for (int batch = 0; batch < 10 && worker() < 2 && workers() > 1 && !crowded(); ++batch) {
      const double start = seconds();
      for (int k = 0; k < rounds; ++k) {
        ++count_;
        if (worker() == 0) {
          flags_[0].store(count_, std::memory_order_release);
          while (flags_[8].load(std::memory_order_acquire) < count_) {
          }
        } else {
          while (flags_[0].load(std::memory_order_acquire) < count_) {
          }
          flags_[8].store(count_, std::memory_order_release);
        }
      }
      result = std::min(result, (seconds() - start) / rounds / 2);
    }
    MPI_Bcast(&result, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return result;
  }
  regime now() { return crowded() ? regime::oversubscribed : latency() < 90e-9 ? regime::near : regime::far; }
  static bool crowded() { return workers() > static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::atomic<long>* flags_ = nullptr;
  long count_ = 0;
};

/// Counts the regimes that were seen during a measurement.
class seen_regimes {
 public:
  void add(regime r) { ++times_[static_cast<std::size_t>(r)]; }
  /// The name of the most frequent regime.
  const char* most() const { return name_of(static_cast<regime>(std::max_element(times_, times_ + 3) - times_)); }

 private:
  int times_[3] = {};
};

}  // namespace bench
