// A worker that has no memory for a call causes no hang: either all workers throw, or those that wait for it report
// that it has left.
#include "mpi_test.hpp"

#include <new>
#include <optional>
#include <partita/comm/agreement.hpp>
#include <partita/comm/one_call.hpp>
#include <string>

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

BOOST_AUTO_TEST_SUITE_END()
