// Lists of numbers from every worker to every worker, of any lengths and in any number of rounds.
#include "mpi_test.hpp"

#include <partita/comm/numbers_by_worker.hpp>

using namespace partita;
using detail::number_lists_by_worker;

BOOST_AUTO_TEST_SUITE(numbers_to_each_worker)

BOOST_AUTO_TEST_CASE(each_worker_gets_what_the_others_have_for_it) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto length = [](std::size_t from, std::size_t to) { return (3 * from + to) % 5; };
  const auto number = [](std::size_t from, std::size_t to, std::size_t k) { return 100 * from + 10 * to + k; };
  std::vector<std::size_t> lengths(P);
  for (std::size_t k = 0; k < P; ++k) lengths[k] = length(me, k);
  auto mine = number_lists_by_worker::with_lengths(lengths);
  for (std::size_t k = 0; k < P; ++k)
    for (std::size_t i = 0; i < lengths[k]; ++i) mine.all[mine.first[k] + i] = number(me, k, i);
  for (const std::size_t most : {std::size_t{1000}, 2 * P, std::size_t{1}}) {
    const auto theirs = detail::exchange_lists(*everyone.state(), mine, most);
    for (std::size_t k = 0; k < P; ++k) {
      BOOST_TEST(theirs.count(k) == length(k, me));
      for (std::size_t i = 0; i < theirs.count(k); ++i) BOOST_TEST(theirs.list_of_worker(k)[i] == number(k, me, i));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_where_there_is_nothing) {
  const world everyone(test::workers());
  const auto none = number_lists_by_worker::with_lengths(std::vector<std::size_t>(everyone.size(), 0));
  BOOST_TEST(detail::exchange_lists(*everyone.state(), none).all.empty());
}

BOOST_AUTO_TEST_SUITE_END()
