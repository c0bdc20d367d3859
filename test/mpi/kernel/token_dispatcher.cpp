// Tokens reach the experts that they choose, in order and without padding; combine brings the results back, with exact
// adjoints.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <functional>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/token_dispatcher.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using rows = xt::xtensor<double, 2>;

constexpr std::size_t width = 2;

struct routing {
  const char* name;
  std::size_t experts, per_token, kind;

  std::size_t tokens_of(std::size_t worker) const { return worker % 3 == 1 ? 0 : 5 + worker; }
  std::size_t choice(std::size_t worker, std::size_t token, std::size_t j) const {
    if (kind == 0) return (3 * worker + token * token + 2 * j) % experts;
    if (kind == 1) return experts - 1;       // all tokens to one expert
    return (token + j) % 2 * (experts - 1);  // most experts have no token
  }
  /// A number of a token, of an expert's weight, of a choice.
  static double of_token(std::size_t worker, std::size_t token, std::size_t c) {
    return static_cast<double>((7 * worker + 3 * token + 5 * c) % 9) - 4;
  }
  static double weight(std::size_t worker, std::size_t token, std::size_t j) {
    return static_cast<double>((worker + 2 * token + 3 * j) % 5) - 1;
  }
};

constexpr routing table[] = {{"one choice", 7, 1, 0},
                             {"two choices", 5, 2, 0},
                             {"three choices, all one", 4, 3, 1},
                             {"all to one", 6, 1, 1},
                             {"experts without tokens", 9, 2, 2},
                             {"one expert", 1, 1, 0}};

}  // namespace

BOOST_AUTO_TEST_SUITE(dispatching_tokens)

BOOST_AUTO_TEST_CASE(each_worker_has_one_expert_and_a_token_for_each) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  // [dispatch]
  std::vector<std::size_t> choice(P);  // token t of each worker chooses expert t
  for (std::size_t t = 0; t < P; ++t) choice[t] = t;
  const token_dispatcher to_experts(everyone, P, choice);
  const xt::xtensor<double, 1> tokens = xt::arange<double>(0, static_cast<double>(P));
  const auto rows_of_expert = to_experts.dispatch(tokens);
  const auto y = to_experts.combine(2 * rows_of_expert);
  // [/dispatch]
  BOOST_TEST(rows_of_expert.size() == P);
  for (const double e : rows_of_expert) BOOST_TEST(e == static_cast<double>(me));
  BOOST_TEST((y == 2 * tokens));
}

BOOST_AUTO_TEST_CASE(all_routings_are_those_of_a_loop_over_all_tokens) {
  for (const char* const nodes : {"1", "2"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    const world everyone(test::workers());
    const std::size_t P = everyone.size(), me = everyone.id();
    for (const routing& r : table) BOOST_TEST_CONTEXT(r.name) {
        const std::size_t n = r.tokens_of(me);
        rows x = xt::zeros<double>({n, width}), dz = x, weights = xt::zeros<double>({n, r.per_token}),
             dweights = weights;
        std::vector<std::size_t> choice;
        for (std::size_t t = 0; t < n; ++t) {
          for (std::size_t c = 0; c < width; ++c) x(t, c) = r.of_token(me, t, c), dz(t, c) = r.of_token(t, me, c + 1);
          for (std::size_t j = 0; j < r.per_token; ++j) {
            choice.push_back(r.choice(me, t, j));
            weights(t, j) = r.weight(me, t, j);
          }
        }
        const token_dispatcher to(everyone, r.experts, choice, r.per_token);
        BOOST_TEST((to.experts() == balanced_part(r.experts, P, me)));
        BOOST_TEST(to.tokens() == n);
        const auto arrived = to.dispatch(x);
        rows expected = xt::zeros<double>({to.rows(), width}), y = expected, dy = expected;
        std::size_t at = 0;
        for (std::size_t e = to.experts().start; e < to.experts().stop; ++e) {
          BOOST_TEST(to.rows_of(e).start == at);
          for (std::size_t k = 0; k < P; ++k)
            for (std::size_t t = 0; t < r.tokens_of(k); ++t)
              for (std::size_t j = 0; j < r.per_token; ++j) {
                if (r.choice(k, t, j) != e) continue;
                BOOST_TEST_REQUIRE(at < to.rows());
                for (std::size_t c = 0; c < width; ++c) {
                  expected(at, c) = r.of_token(k, t, c);
                  y(at, c) = static_cast<double>(e + 1) * r.of_token(k, t, c);
                  dy(at, c) = r.weight(k, t, j) * r.of_token(t, k, c + 1);
                }
                ++at;
              }
          BOOST_TEST(to.rows_of(e).stop == at);
        }
        for (std::size_t e = 0; e <= r.experts; ++e)
          if (e < to.experts().start || e >= to.experts().stop) BOOST_TEST((to.rows_of(e) == interval{}));
        BOOST_TEST(at == to.rows());
        BOOST_TEST((arrived == expected));
        rows sum = xt::zeros<double>({n, width}), weighted = sum;
        for (std::size_t t = 0; t < n; ++t)
          for (std::size_t j = 0; j < r.per_token; ++j)
            for (std::size_t c = 0; c < width; ++c) {
              const double e = static_cast<double>(r.choice(me, t, j) + 1) * x(t, c);
              sum(t, c) += e, weighted(t, c) += weights(t, j) * e, dweights(t, j) += e * dz(t, c);
            }
        const rows z = to.combine(y);
        BOOST_TEST((z == sum));
        BOOST_TEST((to.combine(y, weights) == weighted));
        const auto gradients = to.combine_adjoint(y, weights, dz);
        BOOST_TEST((gradients.first == dy));
        BOOST_TEST((gradients.second == dweights));
        const double there = xt::sum<double>(arrived * y)(), back = xt::sum<double>(x * z)();
        BOOST_TEST(sum_over(everyone, there) == sum_over(everyone, back));
        // other elements and ranks by the same object
        const xt::xtensor<int, 1> number = xt::cast<int>(xt::view(x, xt::all(), 0));
        BOOST_TEST((xt::cast<double>(to.dispatch(number)) == xt::view(expected, xt::all(), 0)));
      }
  }
}

BOOST_AUTO_TEST_CASE(each_choice_of_another_worker_travels_once) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const token_dispatcher to(everyone, P, std::vector<std::size_t>(6, P - 1), 2);
  BOOST_TEST(to.plan(5).elements_received() == (me == P - 1 ? 5 * 6 * (P - 1) : 0));
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  test::expect_refused<shape_error>(
      [&] {
        token_dispatcher(everyone, 3, {1, me == last ? 3U : 0U});
      },
      "requires choices below the number of experts, 3; worker");
  test::expect_refused<shape_error>([&] { token_dispatcher(everyone, 0, {0}); }, "requires choices below");
  test::expect_refused<shape_error>([&] { token_dispatcher(everyone, 3, std::vector<int>(me == last ? 3 : 4), 2); },
                                    "requires 2 choices for each token");
  test::expect_refused<shape_error>([&] { token_dispatcher(everyone, 3, {1, 0, 2}, 0); }, "requires 0 choices");
  const token_dispatcher to(everyone, 3, {0, 2, 1, 1}, 2);
  const xt::xtensor<double, 1> x{1, 2}, bad{1, 2, 3}, weights{1, 1, 1, 1}, y = to.dispatch(x);
  const xt::xtensor<double, 1> bad_y = xt::ones<double>({to.rows() + 1});
  const auto one = [&](const auto& wrong, const auto& right) { return me == last ? wrong : right; };
  test::expect_refused<shape_error>([&] { to.dispatch(one(bad, x)); },
                                    ".dispatch(x): requires a row of x for each token, 2 on worker");
  test::expect_refused<shape_error>(
      [&] { to.combine(one(bad_y, y)); },
      ".combine(y): requires a block with a row for each choice of an expert of the worker");
  test::expect_refused<shape_error>([&] { to.combine(y, one(bad, weights)); }, "requires a weight for each choice, 4");
  test::expect_refused<shape_error>([&] { to.combine_adjoint(y, one(bad, weights), x); }, "a weight for each choice");
  const std::size_t rows_of_last = sum_over(everyone, me == last ? to.rows() : std::size_t{0});
  const text of_rows = text("requires a row of y for each choice of an expert of the worker, ")
                       << rows_of_last << " on worker " << last << ", got " << rows_of_last + 1
                       << "; dimension 0 numbers tokens or rows";
  test::expect_refused<shape_error>([&] { to.combine_adjoint(one(bad_y, y), weights, x); }, of_rows.c_str());
  test::expect_refused<shape_error>([&] { to.combine_adjoint(y, weights, one(bad, x)); }, "a row of x for each token");
  const xt::xtensor<double, 2> wide = xt::ones<double>({to.rows(), std::size_t{2}}), narrow = xt::ones<double>({2, 1});
  test::expect_refused<shape_error>([&] { to.combine_adjoint(wide, weights, narrow); },
                                    "rows of y and dz of as many elements");
  if (P > 1) {
    test::expect_refused<disagreement_error>([&] { token_dispatcher(everyone, me == last ? 4 : 3, {0}); });
    test::expect_refused<disagreement_error>([&] { token_dispatcher(everyone, 3, {0, 1}, me == last ? 1 : 2); });
    test::expect_refused<disagreement_error>([&] { me == last ? to.combine(y) : to.combine(y, weights); });
  }
  BOOST_TEST((to.combine(to.dispatch(x)) == 2 * x));
}

BOOST_AUTO_TEST_CASE(any_two_functions_are_told_apart, *test::at_least(2)) {
  const world everyone(test::workers());
  const bool last = everyone.id() + 1 == everyone.size();
  for (const std::size_t per_token : {1U, 2U}) {
    const token_dispatcher to(everyone, 3, std::vector<std::size_t>{0, 2, 1, 1}, per_token);
    const xt::xtensor<double, 1> x = xt::ones<double>({4 / per_token}), weights = xt::ones<double>({4}),
                                 y = to.dispatch(x);
    const std::vector<std::function<void()>> calls{[&] { (void)to.dispatch(x); }, [&] { (void)to.combine(y); },
                                                   [&] { (void)to.combine(y, weights); },
                                                   [&] { (void)to.combine_adjoint(y, weights, x); }};
    for (const auto& one : calls)
      for (const auto& other : calls)
        if (&one != &other) test::expect_refused<disagreement_error>([&] { (last ? one : other)(); });
    BOOST_TEST((to.combine(to.dispatch(x)) == static_cast<double>(per_token) * x));
  }
}

BOOST_AUTO_TEST_CASE(wrong_choices_are_named_with_their_worker_and_a_plan_is_for_rows_of_one_element) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id(), last = P - 1;
  const auto said = [](auto call) { return test::refused<shape_error>(call); };
  const std::string name = "partita::token_dispatcher(everyone, experts, choice, per_token): requires ";
  const text high = text("choices below the number of experts, 3; worker ") << last << " has choice 3";
  BOOST_TEST(said([&] {
               token_dispatcher(everyone, 3, std::vector<int>{1, me == last ? 3 : 2});
             }) == name + high.c_str());
  const text negative = text("choices below the number of experts, 3; worker ") << last << " has choice -1";
  BOOST_TEST(said([&] {
               token_dispatcher(everyone, 3, std::vector<int>{1, me == last ? -1 : 2});
             }) == name + negative.c_str());
  const text odd = text("2 choices for each token, worker ") << last << " has 3 choices";
  BOOST_TEST(said([&] { token_dispatcher(everyone, 3, std::vector<int>(me == last ? 3 : 4), 2); }) ==
             name + odd.c_str());
  const token_dispatcher to(everyone, P, std::vector<std::size_t>(6, last), 2);
  BOOST_TEST(to.plan().elements_received() == to.plan(1).elements_received());
  BOOST_TEST(to.plan().elements_received() == (me == last ? 6 * (P - 1) : 0));
  BOOST_TEST(to.plan(3).elements_sent() == (me == last ? 0U : 18U));
}

BOOST_AUTO_TEST_SUITE_END()
