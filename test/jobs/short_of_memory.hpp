// Trials in which one allocation of one worker fails: for every kind of call, the n-th operator new of one worker
// throws std::bad_alloc. short_of_memory.py runs a program of them under mpirun as `PROGRAM FOLDER WORKER KIND PHASE
// N,N,...`. It tries these n, in their order, until the call makes fewer allocations. With `places` for the numbers it
// lists the allocations instead: the first and the last one that is made from each place. A place is a call stack: the
// function that allocates, the one that has called it, and so on. Each trial makes its own world, which ends before the
// exception is caught; in the phase `goes on` each call is caught by itself, and the program makes further calls. A
// trial passes if no value is wrong and either all workers throw or none does, or if the job ends with an error
// message. Without arguments a program prints its kinds.
#pragma once

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <boost/mpi/environment.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <partita/comm/world.hpp>
#include <partita/core/hash.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/sharded/sharded.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The number of the allocation that fails, counted from the call that arms it.
struct injection {
  static inline thread_local bool armed = false;
  static inline long left = 0;
  static inline bool fired = false;
  /// The first and the last allocation of each place, by the hash of its call stack, if they are listed.
  static inline std::map<std::uint64_t, std::array<long, 2>>* places = nullptr;

  static void arm(long n) { left = n, fired = false, armed = true; }
  static void disarm() { armed = false; }
  /// While it exists no allocation fails.
  struct pause {
    bool before = std::exchange(armed, false);
    ~pause() { armed = before; }
  };
  static void note_place() {
    const pause now;
    std::array<void*, 100> stack;
    partita::hasher place;
    for (int k = backtrace(stack.data(), static_cast<int>(stack.size())); k-- > 0;)
      place.mix(reinterpret_cast<std::uintptr_t>(stack[static_cast<std::size_t>(k)]));
    places->try_emplace(place.value(), std::array{-left, -left}).first->second[1] = -left;
  }
  static void* allocate(std::size_t bytes, std::size_t alignment) {
    if (armed && --left == 0) {
      fired = true, armed = false;
      throw std::bad_alloc();
    }
    if (armed && places != nullptr) note_place();
    const std::size_t whole = (bytes / alignment + 1) * alignment;
    void* const block =
        alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, whole) : std::malloc(whole);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
};

}  // namespace

void* operator new(std::size_t n) { return injection::allocate(n, alignof(std::max_align_t)); }
void* operator new[](std::size_t n) { return injection::allocate(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, std::align_val_t a) { return injection::allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return injection::allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace partita;

namespace {

using line = extents<dynamic>;
using plane = extents<dynamic, dynamic>;
/// Makes a call and returns whether its result is right.
using call = std::function<bool()>;

/// The worker, its world, and its blocks for all kinds of calls.
struct setting {
  world everyone;
  std::string folder;
  std::size_t n = everyone.size(), me = everyone.id(), size = 12;
  double v = static_cast<double>(me + 1), total = static_cast<double>(n * (n + 1) / 2);
  partition<line> p = everyone.partition(extents(n)), root = everyone.partition(extents(std::size_t{1}));
  partition<plane> rows = everyone.partition(extents(n, std::size_t{1})),
                   columns = everyone.partition(extents(std::size_t{1}, n));
  mesh m{axis{"a", n}};

  xt::xtensor<double, 1> vec() const { return xt::ones<double>({size}) * v; }
  xt::xtensor<double, 2> mat(std::size_t a, std::size_t b) const { return xt::ones<double>({a, b}) * v; }
  sharded_tensor<double> numbers(const sharding& layout, const shape_list& shape) const {
    return shard<double>(everyone, layout, shape, [](const auto& i) { return static_cast<double>(i[0] + 1); });
  }
  sharded_tensor<double> ones(const sharding& layout, const shape_list& shape) const {
    return shard<double>(everyone, layout, shape, [](const auto&) { return 1.0; });
  }
};

struct kind {
  const char* name;
  call (*make)(const setting&);
};

/// What a call gives on this worker. Its own memory never fails.
class values {
 public:
  template <class X>
  values& operator<<(const X& x) {
    const injection::pause now;
    if constexpr (requires { x.data(); })
      for (std::size_t k = 0; k < x.size(); ++k) add(x.data()[k]);
    else add(x);
    return *this;
  }
  bool operator==(const values&) const = default;

 private:
  template <class T>
  void add(const T& one) {
    if constexpr (requires { one.real(); }) all_.push_back(one.real()), all_.push_back(one.imag());
    else all_.push_back(static_cast<double>(one));
  }
  std::vector<double> all_;
};

/// The values of calls that are expected, of each call of a kind in its order: those of a trial without failures.
inline std::vector<values> expected_values;
inline bool expecting = false;

/// A call whose values `f(values&)` must be those of a trial without failures. Calls that depend on earlier calls, as
/// those of a layer that adds up its gradients, are not compared after one of them has failed.
template <class F>
call compared(F f) {
  return [f, calls = std::size_t{0}, has_failed = false]() mutable {
    const std::size_t number = calls++;
    const bool after_a_failure = std::exchange(has_failed, true);
    values got;
    f(got);
    has_failed = after_a_failure;
    const injection::pause now;
    if (expecting && number == expected_values.size()) expected_values.push_back(got);
    const bool is_repeated = expected_values.size() > 1 && expected_values[0] == expected_values[1];
    return (has_failed && !is_repeated) || (number < expected_values.size() && expected_values[number] == got);
  };
}

/// The outcome of a trial on one worker.
enum class outcome : int { right, wrong, refused, out_of_memory, other };

struct report {
  outcome how = outcome::right;
  std::string message;
};

/// What a call gives, or how it ends.
template <class F>
report tried(F f) {
  try {
    return {f() ? outcome::right : outcome::wrong, {}};
  } catch (const error& e) {
    return {outcome::refused, e.what()};
  } catch (const std::bad_alloc& e) {
    return {outcome::out_of_memory, e.what()};
  } catch (const std::exception& e) {
    return {outcome::other, e.what()};
  }
}

/// A call that all workers make between the others: whether it gives the sum of all.
template <class Sum>
bool all_meet(const Sum& meet, const setting& s) {
  for (const double element : meet(s.vec()))
    if (element != s.total) return false;
  return true;
}

/// Workers that make a world cannot learn that another worker has failed before it, so the program's own code does not
/// fail there.
bool makes_a_world(const kind& which) { return std::string(which.name) == "world"; }

/// Runs a trial as an ordinary program would: it makes calls, and its world ends when one of them throws.
report trial(const kind& which, const std::string& phase, const std::string& folder, bool fails_here, long n) {
  const report here = tried([&] {
    const setting s{.everyone = world(), .folder = folder};
    all_sum_reduce meet(s.p, dimensions<0>);
    bool right = all_meet(meet, s);
    const auto arm = [&] {
      if (fails_here) injection::arm(n);
    };
    if (phase == "first" && !makes_a_world(which)) arm();
    const call made = which.make(s);
    if (phase == "first" && makes_a_world(which)) arm();
    if (phase == "steady") {
      right = made() && made() && right;
      arm();
    }
    right = made() && right;
    injection::disarm();
    return all_meet(meet, s) && made() && right;
  });
  injection::disarm();
  return here;
}

/// Runs a trial as a program does that catches the errors of each call and goes on with the next one: how each of its
/// calls ended. Their values must be right if all workers have thrown the same errors.
using reports = std::array<report, 6>;
reports trial_going_on(const kind& which, const std::string& folder, bool fails_here, long n) {
  reports all;
  const setting s{.everyone = world(), .folder = folder};
  all_sum_reduce meet(s.p, dimensions<0>);
  const auto meets = [&] { return all_meet(meet, s); };
  call made, again;
  // workers that make a part of a world do not learn either that another one has gone on to its next call
  if (makes_a_world(which) || which.name == std::string("part")) made = which.make(s);
  if (fails_here) injection::arm(n);
  all[0] = tried([&] {
    if (!made) made = which.make(s);
    return made();
  });
  injection::disarm();
  all[1] = tried(meets);
  all[2] = tried([&] { return !made || made(); });
  all[3] = tried([&] { return (again = which.make(s))(); });
  all[4] = tried([&] { return !again || again(); });
  all[5] = tried(meets);
  return all;
}

reports run_trial(const kind& which, const std::string& phase, const std::string& folder, bool fails_here, long n) {
  if (phase == "goes on") return trial_going_on(which, folder, fails_here, n);
  return {trial(which, phase, folder, fails_here, n)};
}

/// Prints the allocations of `run()`, a trial without a failure: two of each place.
template <class Run>
void list_places(Run run) {
  std::map<std::uint64_t, std::array<long, 2>> places;
  injection::places = &places;
  run();
  injection::places = nullptr;
  std::set<long> all;
  for (const auto& [stack, numbers] : places) all.insert(numbers.begin(), numbers.end());
  std::printf("PLACES %zu:", places.size());
  for (const long n : all) std::printf(" %ld", n);
  std::printf("\n");
}

int run_trials(int argc, char** argv, std::span<const kind> kinds) {
  boost::mpi::environment environment(argc, argv);
  if (argc == 1)
    for (const kind& one : kinds) std::printf("%s\n", one.name);
  if (argc != 6) return argc == 1 ? 0 : 2;
  const std::string folder = argv[1], name = argv[3], phase = argv[4];
  const kind* which = nullptr;
  for (const kind& one : kinds)
    if (one.name == name) which = &one;
  if (which == nullptr) return 2;
  MPI_Comm judge = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &judge);
  int me = 0, fails = std::atoi(argv[2]);
  MPI_Comm_rank(judge, &me);
  detail::hang_report::seconds_until_report = 1;
  expecting = true;
  if (const report here = trial(*which, "steady", folder, false, 0); here.how != outcome::right)
    std::printf("WRONG worker %d without a failure: %s\n", me, here.message.c_str()), std::fflush(stdout);
  expecting = false;
  if (argv[5] == std::string("places")) {
    if (me == fails) list_places([&] { return run_trial(*which, phase, folder, true, 0); });
    else run_trial(*which, phase, folder, false, 0);
    MPI_Comm_free(&judge);
    return 0;
  }
  std::istringstream numbers(argv[5]);
  for (std::string number; std::getline(numbers, number, ',');) {
    const long n = std::stol(number);
    if (me == fails) std::printf("TRY %ld\n", n), std::fflush(stdout);
    const auto calls = run_trial(*which, phase, folder + number, me == fails, n);
    bool together = true;  // so far, all calls have ended in the same way on all workers
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const report& here = calls[k];
      int mine[3] = {static_cast<int>(here.how), -static_cast<int>(here.how), here.how == outcome::wrong ? 1 : 0},
          all[3];
      MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, judge);
      const bool wrong = all[2] != 0 || all[0] == static_cast<int>(outcome::other);
      const bool alone = all[0] != 0 && all[1] == 0;
      if (together && (wrong || (phase != "goes on" && alone)))
        std::printf("WRONG worker %d, call %zu: outcome %d: %s\n", me, k, mine[0], here.message.c_str()),
            std::fflush(stdout);
      if (all[0] != 0 && me == fails && k > 0)
        std::printf("LATER call %zu: outcome %d: %s\n", k, mine[0], here.message.c_str());
      together = together && all[0] == -all[1];
      if (me == fails && k == 0)
        std::printf("ENDED %ld %s\n", n, all[0] == 0 ? "right" : here.message.c_str()), std::fflush(stdout);
    }
    int fired = injection::fired ? 1 : 0;
    MPI_Bcast(&fired, 1, MPI_INT, fails, judge);
    if (fired == 0) {
      if (calls[0].how != outcome::right)
        std::printf("WRONG worker %d without a failure: %s\n", me, calls[0].message.c_str()), std::fflush(stdout);
      if (me == fails) std::printf("DONE\n");
      break;
    }
  }
  MPI_Comm_free(&judge);
  return 0;
}

}  // namespace
