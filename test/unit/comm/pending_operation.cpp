// A pending operation of a kernel is finished once, by whoever waits for it first; a view of a lent block counts while
// it lives.
#include <partita/comm/pending_operation.hpp>
#include <partita/comm/shared_view.hpp>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace {

using partita::detail::lent_block_lease;
using partita::detail::lent_header;
using partita::detail::pending_operation;

struct counted_exchange {
  int finished = 0;
  bool has_memory = true;
  void finish() {
    ++finished;
    if (!has_memory) throw std::bad_alloc();
  }
};

/// A watcher that counts how often memory was missing in the middle of a call.
struct counting_watcher : partita::detail::wait_watcher {
  int lacks_midcall = 0;
  void on_long_wait(double) override {}
  void on_wait_end() noexcept override {}
  void on_memory_lack(std::size_t) noexcept override {}
  void on_memory_lack_midcall() noexcept override { ++lacks_midcall; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pending_operations)

BOOST_AUTO_TEST_CASE(a_wait_finishes_the_operation_that_is_pending_and_no_other) {
  pending_operation pending;
  pending.wait(), pending.wait(0), pending.wait(1);  // nothing is pending
  const auto first = std::make_shared<counted_exchange>(), second = std::make_shared<counted_exchange>();
  const std::uint64_t number = pending.start(first);
  pending.wait(number + 1), pending.wait(number - 1);
  BOOST_TEST(first->finished == 0);
  pending.wait(number);
  BOOST_TEST(first->finished == 1);
  pending.wait(number), pending.wait();
  BOOST_TEST(first->finished == 1);
  BOOST_TEST(first.use_count() == 1);  // the exchange is not kept
  const std::uint64_t next = pending.start(second);
  BOOST_TEST(next == number + 1);
  pending.wait(number);  // an earlier one
  BOOST_TEST(second->finished == 0);
  pending.wait();
  BOOST_TEST(second->finished == 1);
  BOOST_TEST(pending.start(second) == number + 2);
  pending.wait(number + 2);
  BOOST_TEST((second->finished == 2 && first->finished == 1));
}

BOOST_AUTO_TEST_CASE(an_operation_without_memory_tells_the_watcher_of_the_world_in_which_it_began) {
  counting_watcher at_start, later;
  partita::detail::wait_watcher* const before = std::exchange(partita::detail::watcher, &at_start);
  pending_operation pending;
  const auto poor = std::make_shared<counted_exchange>();
  poor->has_memory = false;
  pending.start(poor);
  partita::detail::watcher = &later;
  BOOST_CHECK_THROW(pending.wait(), std::bad_alloc);
  BOOST_TEST((at_start.lacks_midcall == 1 && later.lacks_midcall == 0));
  BOOST_CHECK_NO_THROW(pending.wait());
  BOOST_TEST(poor->finished == 1);
  partita::detail::watcher = nullptr;
  pending.start(poor);
  BOOST_CHECK_THROW(pending.wait(), std::bad_alloc);
  BOOST_TEST((at_start.lacks_midcall == 1 && later.lacks_midcall == 0));
  partita::detail::watcher = before;
}

BOOST_AUTO_TEST_CASE(a_lent_block_counts_the_views_of_it) {
  static lent_header header{};
  header.view_count = 1;  // the lender counts the first view
  const auto views = [] { return header.view_count.load(); };
  {
    lent_block_lease first(&header);
    BOOST_TEST((views() == 1 && first()));
    {
      const lent_block_lease copy(first);
      BOOST_TEST((views() == 2 && copy() && first()));
      lent_block_lease assigned;
      BOOST_TEST(!assigned());
      assigned = copy;
      BOOST_TEST((views() == 3 && assigned()));
      assigned = lent_block_lease();
      BOOST_TEST((views() == 2 && !assigned()));
      assigned = std::move(first);
      BOOST_TEST((views() == 2 && assigned() && !first()));  // NOLINT: a view that was moved from is none
      first = assigned;
      BOOST_TEST((views() == 3 && first()));
    }
    BOOST_TEST((views() == 1 && first()));
    const lent_block_lease moved(std::move(first));
    BOOST_TEST((views() == 1 && moved()));
  }
  BOOST_TEST(views() == 0U);
  const auto view = partita::detail::make_shared_view<double, 2>(nullptr, {0, 3});
  BOOST_TEST((view.size() == 0 && view.shape()[1] == 3 && views() == 0));
}

BOOST_AUTO_TEST_SUITE_END()
