// The main function of the tests on several workers.
//
//  * MPI is initialised before the run and finalised after it, so that no global fixture outlives it.
//  * After each case the workers agree on its outcome: a case passes only if it passed on every worker.
//  * A worker that failed waits PARTITA_TEST_GRACE seconds (3) for the others, which may hang in a call that it left.
//  * A case that takes longer than PARTITA_TEST_LIMIT seconds (120) ends the job; every worker stuck in it prints its
//  name.
//  * Log lines begin with the worker's number and are written whole; worker 0 prints the closing line for all.
#include <unistd.h>

#include <boost/mpi/environment.hpp>
#include <boost/test/framework.hpp>
#include <boost/test/results_reporter.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/unit_test_log.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "closing_line.hpp"
#include "mpi_test.hpp"
#include "random_cases.hpp"

namespace bt = boost::unit_test;
namespace mpi = boost::mpi;

namespace {

using seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

constexpr int timeout_status = 86;  // the exit status of a job that the watchdog has ended

/// Writes whole lines with a prefix, each by one write(), so that lines of several workers do not mix.
class line_buffer : public std::streambuf {
 public:
  explicit line_buffer(std::string prefix) : prefix_(std::move(prefix)) {}
  ~line_buffer() override { write_line(); }

 protected:
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return c;
    line_ += static_cast<char>(c);
    if (c == '\n') write_line();
    return c;
  }

 private:
  void write_line() {
    const bool empty = line_.empty() || line_ == "\n" || line_.starts_with("Running ");
    const std::string whole = prefix_ + line_;
    line_.clear();
    if (!empty) [[maybe_unused]]
      const auto written = ::write(STDOUT_FILENO, whole.data(), whole.size());
  }
  std::string prefix_, line_;
};

seconds seconds_from_environment(const char* name, double default_seconds) {
  const char* value = std::getenv(name);
  return seconds(value != nullptr ? std::atof(value) : default_seconds);
}

/// Ends the job when a case takes longer than the limit, and prints its name.
class watchdog {
 public:
  explicit watchdog(std::ostream& log) : log_(log), thread_([this] { watch(); }) {}
  ~watchdog() {
    tell([this] { has_ended_ = true; });
    thread_.join();
  }
  void start(const std::string& name) {
    tell([&] { case_ = name; });
  }
  void stop() {
    tell([this] { case_.reset(); });
  }

 private:
  template <class Change>
  void tell(Change change) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      change();
      ++changes_;
    }
    changed_.notify_one();
  }
  void watch() {
    const seconds limit = seconds_from_environment("PARTITA_TEST_LIMIT", 120);
    std::unique_lock<std::mutex> lock(mutex_);
    while (!has_ended_) {
      const auto seen = changes_;
      const auto has_changed = [&] { return changes_ != seen; };
      if (!case_) {
        changed_.wait(lock, has_changed);
      } else if (!changed_.wait_for(lock, limit, has_changed)) {
        log_ << "fatal: " << *case_ << ": not done after " << limit.count() << " s; ending the job" << std::endl;
        std::this_thread::sleep_for(seconds(0.5));  // so that the other workers can print the same
        std::_Exit(timeout_status);
      }
    }
  }
  std::ostream& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> case_;
  std::size_t changes_ = 0;
  bool has_ended_ = false;
  std::thread thread_;
};

/// Makes all workers agree on the outcome of each case.
class agreement : public bt::test_observer {
 public:
  agreement(const mpi::communicator& everyone, std::ostream& log)
      : everyone_(everyone, mpi::comm_duplicate), log_(log), watchdog_(log) {}

  std::size_t passed() const { return passed_; }
  std::size_t failed() const { return failed_; }
  std::size_t skipped() const { return skipped_; }

  int priority() override { return 1000; }  // the observer is called after those of the log and the results
  void test_unit_start(const bt::test_unit& unit) override {
    if (unit.p_type != bt::TUT_CASE) return;
    own_failure_ = 0;
    watchdog_.start(unit.full_name());
  }
  void assertion_result(bt::assertion_result result) override {
    if (result != bt::AR_PASSED) own_failure_ = 1;
  }
  void exception_caught(const boost::execution_exception&) override { own_failure_ = 1; }
  void test_aborted() override { own_failure_ = 1; }
  void test_unit_aborted(const bt::test_unit&) override { own_failure_ = 1; }
  void test_unit_finish(const bt::test_unit& unit, unsigned long) override;
  void test_unit_skipped(const bt::test_unit& unit, bt::const_string reason) override;

  mpi::communicator workers_of_the_case() {
    if (!workers_) workers_.emplace(everyone_, mpi::comm_duplicate);
    return *workers_;
  }

 private:
  mpi::communicator everyone_;
  std::optional<mpi::communicator> workers_;
  std::vector<mpi::communicator> failed_cases_;
  std::ostream& log_;
  watchdog watchdog_;
  int own_failure_ = 0;
  std::size_t passed_ = 0, failed_ = 0, skipped_ = 0;
};

void agreement::test_unit_finish(const bt::test_unit& unit, unsigned long) {
  if (unit.p_type != bt::TUT_CASE) return;
  int any = 0, done = 0;
  MPI_Request request;
  MPI_Iallreduce(&own_failure_, &any, 1, MPI_INT, MPI_MAX, MPI_Comm(everyone_), &request);
  const seconds grace = seconds_from_environment("PARTITA_TEST_GRACE", 3);
  const auto start = steady_clock::now();
  for (int attempt = 0;; ++attempt) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) break;
    if (attempt > 1000) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (own_failure_ != 0 && steady_clock::now() - start > grace) {
      log_ << "fatal: " << unit.full_name()
           << ": this worker has failed, and others have not come to the end of the case; ending the job" << std::endl;
      MPI_Abort(MPI_COMM_WORLD, timeout_status);
    }
  }
  watchdog_.stop();
  if (any != 0 && workers_)
    // the communicator is not freed: MPI may deliver the messages of a freed communicator to the next communicator
    failed_cases_.push_back(*workers_);
  workers_.reset();
  if (any != 0 && own_failure_ == 0 && everyone_.rank() == 0)
    log_ << unit.full_name() << ": failed on another worker" << std::endl;
  ++(any != 0 ? failed_ : passed_);
}

void agreement::test_unit_skipped(const bt::test_unit& unit, bt::const_string reason) {
  if (!unit.is_enabled()) return;  // the case is not selected on the command line
  struct : bt::test_tree_visitor {
    std::size_t cases = 0;
    void visit(const bt::test_case&) override { ++cases; }
  } below;
  bt::traverse_test_tree(unit, below, true);
  skipped_ += below.cases;
  if (everyone_.rank() == 0) log_ << unit.full_name() << ": skipped, " << reason << std::endl;
}

mpi::communicator* everyone = nullptr;
agreement* case_agreement = nullptr;
std::ostream* log_stream = nullptr;

// Boost.Test sets its streams to the standard streams while it parses the command line; this function runs afterwards.
bool initialise() {
  static std::ostream nowhere(nullptr);
  bt::unit_test_log.set_stream(*log_stream);
  bt::results_reporter::set_stream(nowhere);  // the closing line replaces this report
  return true;
}

}  // namespace

boost::mpi::communicator test::workers() { return case_agreement->workers_of_the_case(); }

int test::number_of_workers() { return everyone->size(); }

int main(int argc, char** argv) {
  ::setenv("BOOST_TEST_COLOR_OUTPUT", "no", 0);
  ::setenv("BOOST_TEST_CATCH_SYSTEM_ERRORS", "no", 0);
  mpi::environment environment(argc, argv, mpi::threading::multiple);
  mpi::communicator world;
  everyone = &world;
  line_buffer lines("[worker " + std::to_string(world.rank()) + " of " + std::to_string(world.size()) + "] ");
  std::ostream log(&lines);
  log_stream = &log;

  auto agreed = std::make_unique<agreement>(world, log);
  case_agreement = agreed.get();
  bt::framework::register_observer(*agreed);
  const int status = bt::unit_test_main(&initialise, argc, argv);
  bt::framework::deregister_observer(*agreed);
  bt::unit_test_log.set_stream(std::cout);      // Boost.Test writes to its streams again in exit(),
  bt::results_reporter::set_stream(std::cerr);  // when the streams of this file are destroyed

  const auto passed = agreed->passed(), failed = agreed->failed(), skipped = agreed->skipped();
  agreed.reset();
  int all = 0;
  MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_Comm(world));
  if (world.rank() == 0 && test::random_calls() > 0) std::cout << "random calls: " << test::random_calls() << std::endl;
  if (world.rank() == 0 && test::random_operations() > 0)
    std::cout << "random operations: " << test::random_operations() << std::endl;
  if (world.rank() == 0) test::write_closing_line(std::cout, passed, failed, skipped);
  world.barrier();  // mpirun may kill the other workers as soon as one ends with a status other than 0
  return all != 0 ? all : test::status_of(passed, failed, skipped);  // the status is the same on every worker
}
