// The result of a repartition is the same for every strategy and on every machine, and it sends what its plan says.
#include "../support/agreement_messages.hpp"
#include "../support/allocation_count.hpp"
#include "../support/message_count.hpp"
#include "../support/page_faults.hpp"
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <partita/kernel/repartition.hpp>

#include <string>
#include <vector>

namespace {

using namespace partita;

const std::vector<strategy> strategies = {strategy::mixed, strategy::message};
const std::vector<message_form> forms = {message_form::by_size, message_form::packed, message_form::chunked,
                                         message_form::typed, message_form::measured};

/// Rows of a tensor whose elements encode their indices, and the expected results.
struct rows {
  world everyone;
  std::size_t n = everyone.size();
  partition<extents<dynamic, 1>> p_x = everyone.partition(extents<dynamic, 1>(n));
  partition<extents<1, dynamic>> p_y = everyone.partition(extents<1, dynamic>(n));
  std::size_t height = 301, width = 403;

  explicit rows(checks level = checks::agree) : everyone(test::workers(), level) {}

  template <class T>
  T element(std::size_t i, std::size_t j, int shift) const {
    return static_cast<T>(static_cast<int>(i * width + j) + shift);
  }
  template <class T>
  xt::xtensor<T, 2> block(int shift) const {
    const interval own = balanced_part(height, n, everyone.id());
    xt::xtensor<T, 2> x({own.size(), width});
    for (std::size_t i = 0; i < own.size(); ++i)
      for (std::size_t j = 0; j < width; ++j) x(i, j) = element<T>(own.start + i, j, shift);
    return x;
  }
  /// Whether y is this worker's columns.
  template <class T, class Y>
  bool columns(const Y& y, int shift) const {
    const interval own = balanced_part(width, n, everyone.id());
    bool right = y.shape()[0] == height && y.shape()[1] == own.size();
    for (std::size_t i = 0; right && i < height; ++i)
      for (std::size_t j = 0; j < own.size(); ++j) right = right && y(i, j) == element<T>(i, own.start + j, shift);
    return right;
  }
  /// Whether y is this worker's rows of the transpose.
  template <class T, class Y>
  bool transposed(const Y& y, int shift) const {
    const interval own = balanced_part(width, n, everyone.id());
    bool right = y.shape()[0] == own.size() && y.shape()[1] == height;
    for (std::size_t j = 0; right && j < own.size(); ++j)
      for (std::size_t i = 0; i < height; ++i) right = right && y(j, i) == element<T>(i, own.start + j, shift);
    return right;
  }
};

/// Checks forward, adjoint, permuted and non-blocking calls and calls into a view, with every strategy and form.
template <class T>
void every_way_gives_the_same() {
  const rows c;
  for (const strategy how : strategies)
    for (const message_form form : forms)
      BOOST_TEST_CONTEXT("strategy " << static_cast<int>(how) << ", messages " << static_cast<int>(form)) {
        const repartition r(c.p_x, c.p_y, how, form);
        const repartition turn(c.p_x, c.p_x, permute<1, 0>, how, form);
        for (int round = 0; round < 3; ++round) {
          const auto x = c.block<T>(round);
          const auto y = r(x);
          BOOST_TEST(c.columns<T>(y, round));
          BOOST_TEST((r.adjoint(y) == x));
          const auto t = turn(x);
          BOOST_TEST(c.transposed<T>(t, round));
          BOOST_TEST((turn.adjoint(t) == x));
          auto later = r.start(x);
          const auto z = later.finish();
          BOOST_TEST(c.columns<T>(z, round));
          xt::xtensor<T, 2> wide({c.height + 1, y.shape()[1] + 2});
          auto middle =
              xt::view(wide, xt::range(std::size_t{1}, c.height + 1), xt::range(std::size_t{1}, y.shape()[1] + 1));
          r.into(x, middle);
          BOOST_TEST(c.columns<T>(middle, round));
        }
      }
}

/// The number of messages that a call of r sends, without those of the agreement, which checks::local skips.
template <class R, class X>
std::size_t messages_of_a_call(const R& r, const X& x) {
  for (int k = 0; k < 2; ++k) static_cast<void>(r(x));  // metadata is sent only in the first calls
  const std::size_t before = test::messages();
  const auto y = r(x);
  return test::messages() - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_strategies_of_a_repartition)

BOOST_AUTO_TEST_CASE(all_give_the_same) {
  every_way_gives_the_same<float>();
  every_way_gives_the_same<double>();
}
BOOST_AUTO_TEST_CASE(all_give_the_same_when_workers_live_on_two_nodes) {
  const test::pretended nodes("PARTITA_NODES", "2");
  every_way_gives_the_same<float>();
}
BOOST_AUTO_TEST_CASE(all_give_the_same_when_workers_live_on_three_nodes) {
  const test::pretended nodes("PARTITA_NODES", "3");
  every_way_gives_the_same<int>();
}
/// Each pair of workers exchanges more than 128 KB, and so each measures its form, also the pairs behind the first.
BOOST_AUTO_TEST_CASE(every_pair_measures_its_form_and_gives_the_same) {
  rows c;
  c.height = c.width = 131 * c.n;
  const repartition r(c.p_x, c.p_y, strategy::message, message_form::measured);
  const repartition half(c.p_x, c.p_y, strategy::message, message_form::measured);
  for (int round = 0; round < 3; ++round) {
    const auto x = c.block<double>(round);
    const auto y = r(x);
    BOOST_TEST(c.columns<double>(y, round));
    BOOST_TEST((r.adjoint(y) == x));
    BOOST_TEST(c.columns<float>(half(c.block<float>(round)), round));  // pairs that measure nothing
  }
}
BOOST_AUTO_TEST_CASE(all_give_the_same_when_no_shared_memory_is_left) {
  {
    const rows before;  // memory that was taken earlier may be used up or not; both must work
    static_cast<void>(repartition(before.p_x, before.p_y)(before.block<double>(0)));
  }
  const test::pretended none("PARTITA_SHARED_FREE", "0");
  every_way_gives_the_same<double>();
}

BOOST_AUTO_TEST_CASE(shared_memory_alone_serves_one_node_and_is_refused_on_all_workers_where_there_is_more_than_one) {
  {
    const test::pretended one("PARTITA_NODES", "1"), on("PARTITA_SHARED", "1");
    const rows c;
    const repartition r(c.p_x, c.p_y, strategy::shared);
    if (std::getenv("PARTITA_SHARED_FREE") == nullptr) BOOST_TEST(c.columns<float>(r(c.block<float>(1)), 1));
  }
  if (test::number_of_workers() < 2) return;
  {
    const test::pretended two("PARTITA_NODES", "2");
    const rows c;
    const repartition r(c.p_x, c.p_y, strategy::shared);
    BOOST_CHECK_EXCEPTION(r(c.block<float>(0)), communication_error, [](const communication_error& e) {
      return std::string(e.what()).find("strategy::shared requires workers of one node") != std::string::npos;
    });
    BOOST_TEST(c.columns<float>(repartition(c.p_x, c.p_y)(c.block<float>(2)),
                                2));  // and the next call works
  }
  {
    const test::pretended one("PARTITA_NODES", "1"), off("PARTITA_SHARED", "0");
    const rows c;
    const repartition r(c.p_x, c.p_y, strategy::shared);
    BOOST_CHECK_THROW(r(c.block<float>(0)), communication_error);
  }
}

BOOST_AUTO_TEST_CASE(workers_that_name_different_strategies_are_told_so, *test::at_least(2)) {
  const rows c;
  const repartition r(c.p_x, c.p_y, c.everyone.id() == 0 ? strategy::message : strategy::mixed);
  BOOST_CHECK_THROW(r(c.block<float>(0)), disagreement_error);
}

BOOST_AUTO_TEST_CASE(messages_are_one_for_each_pair_of_workers_on_different_nodes) {
  for (const std::size_t nodes : {1U, 2U, 3U}) {
    const test::pretended some("PARTITA_NODES", std::to_string(nodes).c_str()), on("PARTITA_SHARED", "1");
    if (std::getenv("PARTITA_SHARED_FREE") != nullptr) return;
    const rows c(checks::local);
    const auto plan = repartition(c.p_x, c.p_y).plan(std::array<std::size_t, 2>{c.height, c.width});
    const std::size_t me = c.everyone.id();
    const auto pairs = static_cast<std::size_t>(std::count_if(
        plan.sends.begin(), plan.sends.end(), [&](const auto& t) { return t.worker % nodes != me % nodes; }));
    const auto x = c.block<float>(0);
    // the plan is looked up collectively
    const std::size_t agreement = test::messages_of_an_agreement(c.everyone);
    for (const message_form form : {message_form::by_size, message_form::packed, message_form::typed}) {
      BOOST_TEST(messages_of_a_call(repartition(c.p_x, c.p_y, form), x) == pairs + agreement);
      BOOST_TEST(messages_of_a_call(repartition(c.p_x, c.p_y, strategy::message, form), x) ==
                 plan.messages_sent() + agreement);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_stays_where_it_is_sends_nothing_but_the_agreement) {
  const rows c(checks::local);
  const repartition r(c.p_x, c.p_x, strategy::message);
  BOOST_TEST(r.plan(std::array<std::size_t, 2>{c.height, c.width}).identity());
  BOOST_TEST(messages_of_a_call(r, c.block<float>(0)) == test::messages_of_an_agreement(c.everyone));
}

/// Page faults or allocations of the library would happen in every call; those of MPI happen only sometimes.
BOOST_AUTO_TEST_CASE(a_steady_loop_neither_allocates_nor_plans_nor_faults_whatever_the_strategy) {
  rows c, d;
  d.height = 350;
  for (const strategy how : strategies)
    for (const message_form form : forms)
      BOOST_TEST_CONTEXT("strategy " << static_cast<int>(how) << ", messages " << static_cast<int>(form)) {
        const repartition r(c.p_x, c.p_y, how, form);
        const auto x = c.block<float>(0), x2 = d.block<float>(0);
        const auto large = r(x2).shape();
        xt::xtensor<float, 2> heap({large[0], large[1]});
        float sum = 0;
        const auto once = [&] {
          for (const auto* block : {&x, &x2}) {
            const auto y = r(*block);
            for (const float value : y) sum += value;
            const auto back = r.adjoint(y);
            for (const float value : back) sum += value;
          }
          r.into(x2, heap);
        };
        for (int k = 0; k < 10; ++k) once();
        const std::size_t allocated = test::allocations(), planned = r.plans_made();
        const long faults = test::least_page_faults(4, once);
        const std::size_t allocated_since = test::allocations() - allocated;
        BOOST_TEST(allocated_since == 0U);
        BOOST_TEST(r.plans_made() == planned);
        BOOST_TEST(planned <= 3U);  // two shapes, one of them also with a view
        BOOST_TEST(faults == 0);
        BOOST_TEST(sum > 0);
      }
}

BOOST_AUTO_TEST_SUITE_END()
