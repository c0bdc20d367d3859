// A worker that has no memory for a call causes no hang: either all workers throw, or those that wait for it report
// that it has left.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <new>
#include <optional>
#include <partita/comm/agreement.hpp>
#include <partita/comm/one_call.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace partita;

namespace {

text describe() { return "a call of a test"; }
void agree(const world& everyone) { detail::agree_if_checked(*everyone.state(), 7, detail::local_error(), describe); }

/// Sets after how many seconds a wait is long, during its lifetime.
class patience {
 public:
  explicit patience(double seconds) { detail::hang_report::seconds_until_report = seconds; }
  ~patience() { detail::hang_report::seconds_until_report = 10; }
};

void wait_for(double seconds) {
  for (detail::backoff p(false); p.seconds() < seconds;) p.pause();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_call_of_all_workers)

BOOST_AUTO_TEST_CASE(a_worker_without_memory_before_the_agreement_makes_all_throw_its_error, *test::at_least(2)) {
  const world everyone(test::workers());
  for (std::size_t round = 0; round < 6; ++round) {
    const std::size_t short_of_memory = round % everyone.size();
    const std::string expected = "worker " + std::to_string(short_of_memory) + " has no memory for a call";
    BOOST_CHECK_EXCEPTION(detail::one_call(*everyone.state(),
                                           [&] {
                                             if (everyone.id() == short_of_memory) throw std::bad_alloc();
                                             agree(everyone);
                                           }),
                          communication_error,
                          [&](const error& e) { return std::string(e.what()).find(expected) != std::string::npos; });
    BOOST_CHECK_NO_THROW(detail::one_call(*everyone.state(), [&] { agree(everyone); }));
  }
}

BOOST_AUTO_TEST_CASE(it_makes_them_throw_also_where_they_compare_blocks, *test::at_least(2)) {
  const world everyone(test::workers());
  agree(everyone);
  BOOST_CHECK_THROW(detail::one_call(*everyone.state(),
                                     [&] {
                                       if (everyone.id() == 1) throw std::bad_alloc();
                                       everyone.state()->is_true_on_all(true);
                                     }),
                    communication_error);
  BOOST_TEST(everyone.state()->is_true_on_all(true));
  BOOST_TEST(!everyone.state()->is_true_on_all(everyone.id() != 0));
}

BOOST_AUTO_TEST_CASE(a_failure_does_not_last) {
  const world everyone(test::workers());
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK_THROW(detail::one_call(*everyone.state(), []() -> int { throw shape_error("another error"); }),
                      shape_error);
    BOOST_TEST(detail::one_call(*everyone.state(), [&] {
                 agree(everyone);
                 return 5;
               }) == 5);
  }
}

BOOST_AUTO_TEST_CASE(one_worker_alone_throws_what_it_threw) {
  const world everyone(test::workers());
  const world alone = everyone.part(workers{everyone.id()});
  const auto run = [&] {
    agree(alone);
    throw std::bad_alloc();
  };
  BOOST_CHECK_THROW(detail::one_call(*alone.state(), run), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(those_that_wait_for_a_worker_that_left_say_so, *test::at_least(2)) {
  std::optional<world> everyone(std::in_place, test::workers(), checks::local);
  const patience short_wait(0.2);
  if (everyone->id() == 0) return everyone.reset();
  agree(*everyone);
  BOOST_CHECK_EXCEPTION(wait_for(10), communication_error, [](const error& e) {
    const std::string said = e.what();
    return said.find("worker 0") != std::string::npos && said.find("has left the world") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_worker_that_has_ended_the_call_may_leave, *test::at_least(2)) {
  std::optional<world> everyone(std::in_place, test::workers(), checks::local);
  const patience short_wait(0.2);
  agree(*everyone);
  if (everyone->id() == 0) return everyone.reset();
  BOOST_CHECK_NO_THROW(wait_for(0.8));
}

BOOST_AUTO_TEST_CASE(one_that_failed_in_the_call_is_missing_there, *test::at_least(2)) {
  std::optional<world> everyone(std::in_place, test::workers(), checks::local);
  const patience short_wait(0.2);
  if (everyone->id() == 0) {
    BOOST_CHECK_THROW(detail::agree_if_checked(*everyone->state(), 7, detail::local_error("alone"), describe),
                      shape_error);
    return everyone.reset();
  }
  agree(*everyone);
  BOOST_CHECK_THROW(wait_for(10), communication_error);
}

BOOST_AUTO_TEST_CASE(a_call_is_before_its_agreement_and_then_after_it_also_with_calls_inside) {
  using progress = detail::hang_report::progress;
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  const auto now = [&] { return state.report().call_progress(); };
  BOOST_TEST((now() == progress::outside));
  agree(everyone);
  BOOST_TEST((now() == progress::outside));  // an agreement outside of a call
  for (int call = 0; call < 2; ++call)
    detail::one_call(state, [&] {
      BOOST_TEST((now() == progress::before_agreement));
      detail::one_call(state, [&] { BOOST_TEST((now() == progress::before_agreement)); });
      BOOST_TEST((now() == progress::before_agreement));
      agree(everyone);
      BOOST_TEST((now() == progress::after_agreement));
      detail::one_call(state, [&] { BOOST_TEST((now() == progress::after_agreement)); });
      BOOST_TEST((now() == progress::after_agreement));
    });
  BOOST_TEST((now() == progress::outside));
  BOOST_CHECK_THROW(detail::one_call(state, []() -> int { throw shape_error("an error"); }), shape_error);
  BOOST_TEST((now() == progress::outside));
}

/// An exception while a call is prepared becomes the error of this worker, which all workers throw later.
BOOST_AUTO_TEST_CASE(an_exception_of_preparing_a_call_is_kept_as_the_error_of_the_worker) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  agree(everyone);
  const std::string me = "partita: worker " + std::to_string(everyone.id());
  const auto trouble_of = [&](auto thrown) {
    detail::local_error trouble;
    const int prepared = detail::prepare_call<int>(state, trouble, [&](detail::local_error&) -> int { throw thrown; });
    BOOST_TEST(prepared == 0);
    return trouble;
  };
  const auto expect = [&](auto thrown, detail::failure kind, const std::string& sentence) {
    const detail::local_error trouble = trouble_of(thrown);
    BOOST_TEST((trouble.any() && trouble.kind == kind));
    BOOST_TEST(std::string(trouble.sentence.c_str()) == sentence);
  };
  expect(shape_error("why"), detail::failure::shape, "why");
  expect(partition_error("why"), detail::failure::partition, "why");
  expect(io_error("why"), detail::failure::io, "why");
  expect(error("why"), detail::failure::other, "why");
  expect(std::bad_alloc(), detail::failure::memory,
         me + " has no memory to prepare a call of a test; give each worker smaller blocks, or more memory");
  expect(std::runtime_error("a reason"), detail::failure::other, me + " cannot prepare a call of a test: a reason");
  BOOST_CHECK_THROW(trouble_of(communication_error("lost")), communication_error);
  detail::local_error none;
  BOOST_TEST(detail::prepare_call<int>(state, none, [](detail::local_error& found) {
               found = detail::local_error("found");
               return 7;
             }) == 7);
  BOOST_TEST((none.any() && none.kind == detail::failure::shape));
  agree(everyone);  // the error was not taken to the agreement, and nothing of it is left
}

BOOST_AUTO_TEST_CASE(a_message_is_a_shape_error_and_no_message_is_none) {
  using detail::failure, detail::local_error;
  BOOST_TEST((!local_error().any() && local_error().kind == failure::none));
  BOOST_TEST((!local_error("").any() && local_error("why").any() && local_error("why").kind == failure::shape));
  BOOST_TEST((local_error(failure::io, "").any() && local_error(failure::io, "why").kind == failure::io));
  const world everyone(test::workers());
  for (const failure kind : {failure::shape, failure::partition, failure::io, failure::other})
    for (std::size_t worker = 0; worker < everyone.size(); ++worker) {
      const local_error own = everyone.id() == worker ? local_error(kind, "of one worker") : local_error();
      BOOST_CHECK_EXCEPTION(detail::agree_on_call(*everyone.state(), 7, own, describe), error, [&](const error& e) {
        return detail::failure_kind_of_error(e) == kind && std::string(e.what()) == "of one worker";
      });
    }
  BOOST_TEST(detail::agree_on_call(*everyone.state(), 7, local_error(), describe, 5) == 5U);
  const world careless(test::workers(), checks::local);
  BOOST_TEST(detail::agree_if_checked(*careless.state(), 7, local_error(), describe, everyone.id()) == everyone.id());
  BOOST_TEST(detail::agree_if_checked(*everyone.state(), 7, local_error(), describe, everyone.id() + 2) ==
             (everyone.size() == 1   ? 2U
              : everyone.size() == 2 ? (2U & 3U)
                                     : 0U));
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_throw_waits_as_long_as_a_report_takes_or_as_the_user_said) {
  using detail::hang_report;
  const patience until_report(3);
  {
    const test::pretended of_user("PARTITA_PATIENCE", "0.5");
    BOOST_TEST((hang_report::seconds_until_error() == 0.5 && hang_report::max_wait_seconds() == 0.5));
  }
  const test::pretended never("PARTITA_PATIENCE", "0");
  BOOST_TEST((hang_report::seconds_until_error() == 0.0 && hang_report::max_wait_seconds() == 3.0));
}

/// Records what a wait tells its watcher.
struct recording_watcher : detail::wait_watcher {
  std::vector<double> told{};
  int ends = 0;
  void on_long_wait(double seconds) override { told.push_back(seconds); }
  void on_wait_end() noexcept override { ++ends; }
  void on_memory_lack(std::size_t) noexcept override {}
  void on_memory_lack_midcall() noexcept override {}
};

BOOST_AUTO_TEST_CASE(a_wait_tells_its_watcher_ten_times_a_second_and_when_it_ends) {
  recording_watcher mine, other;
  detail::wait_watcher* const before = std::exchange(detail::watcher, &mine);
  wait_for(0.02);
  BOOST_TEST(mine.ends == (mine.told.empty() ? 0 : 1));  // a short wait tells nothing
  mine.told.clear(), mine.ends = 0;
  wait_for(0.45);
  BOOST_TEST(!mine.told.empty());
  for (std::size_t k = 0; k < mine.told.size(); ++k)
    BOOST_TEST(mine.told[k] >= (k == 0 ? 0.1 : mine.told[k - 1] + 0.1));
  BOOST_TEST(mine.ends == 1);
  {
    detail::backoff p(true);
    while (p.seconds() < 0.15) p.pause();
    detail::watcher = &other;  // the watcher that heard of the wait hears of its end
  }
  BOOST_TEST((mine.ends == 2 && other.ends == 0 && other.told.empty()));
  detail::watcher = nullptr;
  wait_for(0.15);
  BOOST_TEST(mine.ends == 2);
  detail::watcher = before;
}

/// Where each worker is: worker 0 waits in a call, the others have made another one and compute.
BOOST_AUTO_TEST_CASE(a_wait_that_is_an_error_says_who_waits_where_and_who_is_missing, *test::at_least(2)) {
  const test::pretended patience_of_users("PARTITA_PATIENCE", "0.3");
  // not freed: an operation is left pending in it
  static const auto* const kept = new boost::mpi::communicator(test::workers(), boost::mpi::comm_duplicate);
  const boost::mpi::communicator& all = *kept;
  const world everyone(all);
  const auto say = [&](const char* name, std::uint64_t number) {
    detail::agree_if_checked(*everyone.state(), number, detail::local_error(), [&] { return text(name); });
  };
  say("the first call", 901), say("the second call", 902);
  if (everyone.id() == 0) {
    const std::string said = test::refused<communication_error>([&] { say("the third call", 903); });
    BOOST_TEST(said.find("partita: worker 0 has waited for ") == 0U, said);
    BOOST_TEST(said.find(" s in the third call, call 3 of world ") != std::string::npos, said);
    BOOST_TEST(said.find(" (" + std::to_string(everyone.size()) + " workers); worker 1 (process ") !=
               std::string::npos);
    BOOST_TEST(said.find(" is missing: it computes, and made call 2 of world ") != std::string::npos);
    BOOST_TEST(said.find(" last, the second call") != std::string::npos);
    BOOST_TEST((said.find(", and so do workers [2") != std::string::npos) == (everyone.size() > 2), said);
    BOOST_TEST(said.ends_with("; PARTITA_PATIENCE makes this an error, let it be longer if one computes for so long"));
    // the world is lost, which is said at once
    const std::string later = test::refused<communication_error>([&] { say("a later call", 904); });
    BOOST_TEST(
        later ==
        "partita: a worker has left the world or was lost in an earlier call, and a later call needs all; make a "
        "new world of the workers that are there");
  }
  MPI_Barrier(all);
}

BOOST_AUTO_TEST_SUITE_END()
