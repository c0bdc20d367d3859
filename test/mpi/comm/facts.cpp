// The small allgather: every worker gets the data of all workers.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/comm/facts.hpp>
#include <string>
#include <vector>

using namespace partita;
using detail::number_array;

BOOST_AUTO_TEST_SUITE(facts_among_workers)

BOOST_AUTO_TEST_CASE(all_workers_know_what_each_has_said) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  const std::uint64_t P = everyone.size(), me = everyone.id();
  const auto all = detail::gather_numbers<2>(state, {me, 7 * me});
  BOOST_TEST(all.size() == P);
  for (std::uint64_t k = 0; k < P; ++k) BOOST_TEST((all[k] == number_array<2>{k, 7 * k}));
  BOOST_TEST((detail::sum_of_all<2>(state, {me, 1}) == number_array<2>{P * (P - 1) / 2, P}));
}

BOOST_AUTO_TEST_CASE(numbers_are_compared_without_a_sign) {
  const world everyone(test::workers());
  const std::uint64_t P = everyone.size(), me = everyone.id(), high = std::uint64_t{1} << 63U;
  const auto most =
      detail::maximum_over_workers<3>(*everyone.state(), {me, me == P - 1 ? high + 2 : 1, ~std::uint64_t{0} - me});
  BOOST_TEST((most == number_array<3>{P - 1, high + 2, ~std::uint64_t{0}}));
}

BOOST_AUTO_TEST_CASE(words_are_put_together_by_exclusive_or) {
  const world everyone(test::workers());
  std::vector<std::uint32_t> words{1U << everyone.id(), 5};
  detail::xor_over_workers(*everyone.state(), words);
  BOOST_TEST(words[0] == (1U << everyone.size()) - 1);
  BOOST_TEST(words[1] == (everyone.size() % 2 == 1 ? 5U : 0U));
}

BOOST_AUTO_TEST_CASE(something_holds_on_all_workers_or_not) {
  const world everyone(test::workers());
  for (int call = 0; call < 3; ++call) {
    BOOST_TEST(everyone.state()->is_true_on_all(true));
    BOOST_TEST(everyone.state()->is_true_on_all(everyone.id() + 1 != everyone.size()) == false);
  }
}

BOOST_AUTO_TEST_CASE(what_one_worker_says_all_know) {
  const world everyone(test::workers());
  const std::uint64_t me = everyone.id();
  for (std::size_t from = 0; from < everyone.size(); ++from)
    BOOST_TEST((detail::broadcast_numbers<3>(*everyone.state(), from, {me, 10 * me + 1, ~me}) ==
                number_array<3>{from, 10 * from + 1, ~std::uint64_t{from}}));
}

BOOST_AUTO_TEST_CASE(lists_are_added_up_over_all_workers_and_over_those_before) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  const std::uint64_t P = everyone.size(), me = everyone.id();
  using list = std::vector<std::uint64_t>;
  for (int call = 0; call < 2; ++call) {
    BOOST_TEST((detail::sum_of_all(state, list{me, 1, 5 * me}) == list{P * (P - 1) / 2, P, 5 * P * (P - 1) / 2}));
    BOOST_TEST((detail::sum_over_lower_workers(state, list{me + 1, 1, 7}) == list{me * (me + 1) / 2, me, 7 * me}));
    BOOST_TEST(detail::sum_over_lower_workers(state, 3 * me + 2) == 3 * me * (me - 1) / 2 + 2 * me);
  }
  BOOST_TEST(detail::sum_of_all(state, list{}).empty());
}

BOOST_AUTO_TEST_CASE(extents_are_a_list_that_is_never_empty) {
  BOOST_TEST((detail::extents_and_zero<0>({}) == number_array<1>{0}));
  BOOST_TEST((detail::extents_and_zero<3>({4, 0, 6}) == number_array<4>{4, 0, 6, 0}));
}

/// The numbers of the workers pass with an agreement, but not with the first one, which makes the memory for them.
BOOST_AUTO_TEST_CASE(numbers_pass_with_an_agreement_where_all_workers_share_memory) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  const auto agree = [&](std::uint64_t call) {
    return state.agree(3000 + call, 0, detail::failure::none, [] { return text("a call of a test"); });
  };
  const detail::own_node& members = detail::own_node::of(state.communicator());
  const bool one_memory = members.size() == everyone.size() && detail::arena::arena_by_environment(members).shared();
  for (std::uint64_t call = 0; call < 4; ++call) {
    const std::uint64_t own[] = {100 * call + everyone.id(), call};
    const bool passed = state.publish_numbers(own, 2);
    BOOST_TEST(passed == (call > 0 && one_memory));
    agree(call);
    for (std::size_t k = 0; passed && k < everyone.size(); ++k) {
      BOOST_TEST(state.published_numbers(k)[0] == 100 * call + k);
      BOOST_TEST(state.published_numbers(k)[1] == call);
    }
  }
}

BOOST_AUTO_TEST_CASE(workers_agree_on_the_choices_that_all_of_them_offer) {
  const world everyone(test::workers());
  detail::world_state& state = *everyone.state();
  constexpr std::uint64_t all_choices = ~(std::uint64_t{1} << 63U);
  for (std::uint64_t call = 0; call < 5; ++call) {
    const std::uint64_t own = all_choices & ~(std::uint64_t{1} << (3 * everyone.id() + call));
    std::uint64_t expected = all_choices;
    for (std::size_t k = 0; k < everyone.size(); ++k) expected &= ~(std::uint64_t{1} << (3 * k + call));
    BOOST_TEST(state.agree(2007, own, detail::failure::none, [] { return text("a call"); }) == expected);
  }
  // operations that workers make alone are compared by the next agreement, and have numbers at checks::agree only
  const world careless(test::workers(), checks::local);
  BOOST_TEST(careless.state()->log_local_operation(3, "add") == 0U);
  const std::uint64_t first = state.log_local_operation(3, "add", {2}),
                      second = state.log_local_operation(3, "add", {2});
  BOOST_TEST((first != 0 && first != second));
  if (everyone.size() == 1) return;
  if (everyone.id() == 0) state.log_local_operation(4, "multiply", {5});
  const std::string told = test::refused<disagreement_error>(
      [&] { state.agree(2007, 0, detail::failure::none, [] { return text("a call"); }); });
  const std::size_t others = everyone.size() - 1;
  const std::string rest = others == 1   ? " makes "
                           : others == 2 ? " and 1 other make "
                                         : " and " + std::to_string(others - 1) + " others make ";
  BOOST_TEST(told ==
             "partita: workers make different calls: worker 0 makes multiply of a tensor of extents [5], worker 1" +
                 rest + "no operation of a tensor; every worker of a world makes every call with the same arguments");
  BOOST_TEST(state.agree(2007, 1, detail::failure::none, [] { return text("a call"); }) == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
