// Hang reports: a long wait names the missing workers, so there are no silent hangs.
#include "mpi_test.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/mpi/collectives/all_gather.hpp>
#include <cstdlib>
#include <fstream>
#include <new>
#include <optional>
#include <partita/comm/shared_view.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

const vector x{1, 2, 3};

/// Sets PARTITA_PATIENCE during its lifetime.
class patience {
 public:
  explicit patience(const char* seconds) { ::setenv("PARTITA_PATIENCE", seconds, 1); }
  ~patience() { ::unsetenv("PARTITA_PATIENCE"); }
};
/// During its lifetime, waits are reported after the given seconds, and the reports are written to a file.
class told {
 public:
  explicit told(double seconds) : name_("/tmp/partita_hang_report_" + std::to_string(::getpid())) {
    detail::hang_report::seconds_until_report = seconds;
    before_ = ::dup(2);
    const int file = ::open(name_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ::dup2(file, 2);
    ::close(file);
  }
  ~told() {
    stop();
    ::unlink(name_.c_str());
  }
  std::vector<std::string> lines() {
    stop();
    std::ifstream file(name_);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }

 private:
  void stop() {
    detail::hang_report::seconds_until_report = 10;
    if (before_ < 0) return;
    ::dup2(before_, 2);
    ::close(before_);
    before_ = -1;
  }
  std::string name_;
  int before_;
};

template <class Error, class Call>
std::string sentence_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}
bool has(const std::string& all, const char* part) { return all.find(part) != std::string::npos; }

auto sum_over(const world& w) { return all_sum_reduce(w.partition(extents(w.size())), dimensions<0>); }

void expect_all_well() {
  const world fresh(test::workers());
  BOOST_TEST(sum_over(fresh)(x)(2) == 3.0 * static_cast<double>(fresh.size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hang_reports)

BOOST_AUTO_TEST_CASE(two_worlds_used_in_another_order_are_an_error_if_asked_for, *test::at_least(2)) {
  const patience little("0.7");  // applies to the end of a world as well
  const world a(test::workers()), b(test::workers());
  const auto on_a = sum_over(a), on_b = sum_over(b);
  on_a(x), on_b(x);
  const std::string said = sentence_of<communication_error>([&] {
    if (a.id() == 1) on_b(x), on_a(x);
    else on_a(x), on_b(x);
  });
  BOOST_TEST(has(said, "has waited for"), said);
  BOOST_TEST(has(said, "in partita::all_sum_reduce(p, dimensions)"), said);
  BOOST_TEST(has(said, "PARTITA_PATIENCE makes this an error"), said);
  // a call on a lost world is reported at once
  BOOST_TEST(has(sentence_of<communication_error>([&] { (a.id() == 1 ? on_b : on_a)(x); }), "make a new world"));
  boost::mpi::communicator(test::workers()).barrier();
  expect_all_well();
}

BOOST_AUTO_TEST_CASE(one_world_more_is_an_error_if_asked_for, *test::at_least(2)) {
  const patience little("0.7");
  const world a(test::workers());
  const auto on_a = sum_over(a);
  on_a(x);
  // not freed: its operations are still pending when the wait is given up
  static const auto& other = *new boost::mpi::communicator(test::workers(), boost::mpi::comm_duplicate);
  {
    const bool makes = a.id() + 1 == a.size();
    const std::string said = sentence_of<communication_error>([&] {
      if (makes) const world more(other);
      else on_a(x);
    });
    BOOST_TEST(has(said, makes ? "in partita::world(communicator) of" : "in partita::all_sum_reduce"), said);
  }
  boost::mpi::communicator(test::workers()).barrier();
  expect_all_well();
}

BOOST_AUTO_TEST_CASE(a_worker_that_computes_for_long_is_named_once_by_the_lowest_that_waits, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto sum = sum_over(everyone);
  const std::size_t n = everyone.size();
  sum(x);
  told where(1.0);
  test::workers().barrier();
  if (everyone.id() + 1 == n) std::this_thread::sleep_for(std::chrono::seconds(4));
  const auto y = sum(x);
  BOOST_TEST(y(0) == static_cast<double>(n));  // without PARTITA_PATIENCE the job is not ended
  const auto lines = where.lines();
  std::size_t told = 0;
  for (const std::string& line : lines) told += line.starts_with("partita: worker") ? 1 : 0;
  BOOST_TEST(told == (everyone.id() == 0 ? 1U : 0U));
  BOOST_TEST((everyone.id() == 0 ? lines.size() >= 3 : lines.empty()));
  if (lines.size() < 3) return;
  BOOST_TEST(has(lines[0], "partita: worker 0 has waited for 1 s in partita::all_sum_reduce(p, dimensions)"), lines[0]);
  BOOST_TEST(has(lines[0], ("; worker " + std::to_string(n - 1) + " (process ").c_str()), lines[0]);
  BOOST_TEST(has(lines[0], "is missing: it computes, and made call 2 of world"), lines[0]);
  if (n == 3) BOOST_TEST(has(lines[0], "; waiting here as well: [1]"), lines[0]);
  BOOST_TEST(has(lines[1], (" calls of worker " + std::to_string(n - 1) + " (process ").c_str()), lines[1]);
  BOOST_TEST(has(lines[2], "  call 2 of world "), lines[2]);
}

BOOST_AUTO_TEST_CASE(levels_of_checks_that_differ_are_refused_when_the_world_is_made, *test::at_least(2)) {
  const auto given = test::workers();
  const std::string said = sentence_of<disagreement_error>(
      [&] { const world everyone(given, given.rank() == 1 ? checks::local : checks::agree); });
  BOOST_TEST(said ==
             "partita::world: requires one level of checks on all workers, got checks::agree on worker 0 and "
             "checks::local on worker 1; give every worker of a world the same");
  expect_all_well();
}

BOOST_AUTO_TEST_CASE(a_forked_child_leaves_its_parents_world_alone_and_may_not_use_it) {
  std::optional<world> everyone(test::workers());
  std::optional sum(sum_over(*everyone));
  (*sum)(x);
  void* const shared =
      ::mmap(nullptr, sizeof(detail::lent_header), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const header = ::new (shared) detail::lent_header{};
  header->view_count = 1;
  const detail::lent_block_lease view(header);
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const detail::lent_block_lease copy(view);
    }  // not counted, neither made nor destroyed
    const std::string said = sentence_of<communication_error>([&] { (*sum)(x); });
    everyone.reset();
    sum.reset();  // this releases the last reference to the world
    ::_exit(has(said, "this is a forked child of one") ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  BOOST_TEST(header->view_count == 1);
  test::workers().barrier();
  BOOST_TEST((*sum)(x)(0) == static_cast<double>(everyone->size()));
}

BOOST_AUTO_TEST_CASE(a_world_that_was_moved_from_is_refused) {
  world everyone(test::workers());
  const auto p = everyone.partition<1>();
  const world moved = std::move(everyone);
  BOOST_TEST(has(sentence_of<partition_error>([&] { everyone.size(); }), "was moved from"));          // NOLINT
  BOOST_TEST(has(sentence_of<partition_error>([&] { everyone.partition<1>(); }), "was moved from"));  // NOLINT
  BOOST_TEST((p.world() == moved));
}

namespace {

/// Destroyed after main, when MPI is finalised: using a kernel is an error then, but its world is destroyed silently.
struct after_finalize {
  using kernel = decltype(sum_over(std::declval<world>()));
  std::optional<world> everyone;
  std::optional<kernel> sum;
  ~after_finalize() {
    if (!everyone) return;
    const bool refused =
        has(sentence_of<communication_error>([&] { (*sum)(x); }), "MPI_Finalize has been called") &&
        has(sentence_of<communication_error>([] { const world late; }), "MPI_Finalize has been called");
    if (refused) return;
    [[maybe_unused]] const auto n = ::write(2, "fatal: a call after MPI_Finalize is not refused\n", 48);
    std::_Exit(1);
  }
} kept;

}  // namespace

BOOST_AUTO_TEST_CASE(calls_after_finalize_are_refused_as_the_exit_status_shows) {
  kept.everyone.emplace(test::workers());
  kept.sum.emplace(sum_over(*kept.everyone));
  BOOST_TEST((*kept.sum)(x)(0) == static_cast<double>(kept.everyone->size()));
}

BOOST_AUTO_TEST_SUITE_END()
