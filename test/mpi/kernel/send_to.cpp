// Rows go to the workers that their senders name, and return.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/compose.hpp>
#include <partita/kernel/send_to.hpp>
#include <vector>

using namespace partita;

BOOST_AUTO_TEST_SUITE(sending_to)

BOOST_AUTO_TEST_CASE(rows_arrive_in_the_order_of_their_senders_and_return) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto rows_of = [&](std::size_t k) { return k % 3 == 1 ? 0 : 3 * P + k; };
  for (const std::size_t kind : {0U, 1U, 2U, 3U}) {
    // scattered, all to one, none to this worker itself, all to itself
    const auto receiver = [&](std::size_t k, std::size_t j) {
      return kind == 0 ? (j * j + k) % P : kind == 1 ? P - 1 : kind == 2 ? (k + 1) % P : k;
    };
    std::vector<std::size_t> receivers;
    xt::xtensor<double, 2> x = xt::zeros<double>({rows_of(me), std::size_t{2}});
    for (std::size_t j = 0; j < rows_of(me); ++j) {
      receivers.push_back(receiver(me, j));
      x(j, 0) = static_cast<double>(me), x(j, 1) = static_cast<double>(j);
    }
    const index_exchange there = send_to(everyone, receivers);
    const auto y = there(x);
    std::size_t at = 0;
    for (std::size_t k = 0; k < P; ++k)
      for (std::size_t j = 0; j < rows_of(k); ++j)
        if (receiver(k, j) == me) {
          BOOST_TEST_REQUIRE(at < y.shape(0));
          BOOST_TEST(y(at, 0) == static_cast<double>(k));
          BOOST_TEST(y(at, 1) == static_cast<double>(j));
          ++at;
        }
    BOOST_TEST(y.shape(0) == at);
    BOOST_TEST(there.rows_of_result() == at);
    BOOST_TEST(there.rows_of_argument() == receivers.size());
    BOOST_TEST((there.adjoint(y) == x));
    const auto far = compose(there);
    BOOST_TEST((far(x) == y));
    // other elements by the same object, into a view
    const xt::xtensor<int, 1> number = xt::cast<int>(xt::view(x, xt::all(), 1));
    xt::xtensor<int, 1> got = xt::zeros<int>({at});
    there.into(number, got);
    BOOST_TEST((xt::cast<double>(got) == xt::view(y, xt::all(), 1)));
    std::uint64_t sent = 0;
    for (const std::size_t to : receivers) sent += to == me ? 0 : 1;
    std::uint64_t planned = 0;
    for (const auto& part : there.plan().sends) planned += part.where.volume();
    BOOST_TEST(planned == sent);
    const std::string message = test::refused<shape_error>(
        [&] { there(xt::xtensor<int, 1>(xt::zeros<int>({me == 0 ? receivers.size() + 1 : receivers.size()}))); });
    BOOST_TEST(
        message.find("partita::send_to(everyone, receivers)(x): requires a block with a row for each receiver") !=
            std::string::npos,
        message);
  }
}

BOOST_AUTO_TEST_CASE(a_receiver_that_does_not_exist_is_an_error_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), P = everyone.size();
  for (const int wrong : {-1, static_cast<int>(P)}) {
    const std::string message = test::refused<shape_error>([&] {
      send_to(everyone, std::vector<int>{0, me == P - 1 ? wrong : 0});
    });
    BOOST_TEST(message.find("requires receivers below the number of workers") != std::string::npos, message);
  }
  if (P > 1)
    test::expect_refused<disagreement_error>([&] {
      if (me == 0) send_to(everyone, {0});
      else index_exchange(everyone, {0}, {0});
    });
  BOOST_TEST(send_to(everyone, {0})(xt::xtensor<int, 1>{7}).size() == (me == 0 ? P : 0));
}

BOOST_AUTO_TEST_SUITE_END()
