// Invalid changes of a linear layer between two calls: all workers throw the same error message, and neither data nor
// gradients change.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <functional>
#include <partita/nn/linear.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using test::refused;
using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

/// This worker's two columns of a matrix on p = 1 x f.
template <class P>
matrix block(const P& p, std::size_t rows) {
  return p.active() ? matrix(xt::ones<double>({rows, std::size_t{2}})) : zero_volume<double, 2>(rows);
}

/// Checks that all workers have the same error message, and that it contains `part`.
void expect_one_sentence(const world& everyone, const std::string& said, const std::string& part) {
  BOOST_TEST(said.find(part) != std::string::npos, "it says: " << said);
  std::size_t sum = 0;
  for (const char c : said) sum = 31 * sum + static_cast<unsigned char>(c);
  std::uint64_t same[4] = {sum, ~sum, 0, 0}, all[4]{};
  everyone.state()->all_and(same, all);
  BOOST_TEST((all[0] | all[1]) == ~std::uint64_t{0}, "another worker hears something else than: " << said);
}

/// Invalidates a block of the last worker with weights, before a forward call, and between the call and its adjoint.
template <linear_algorithm Algorithm>
void expect_blocks_are_checked(std::size_t f_x, std::size_t f_y, std::size_t f_out, std::size_t f_in) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition(extents(1, f_x)), p_y = everyone.partition(extents(1, f_y)),
             p_w = everyone.partition(extents(f_out, f_in));
  linear<double, Algorithm> layer(p_x, p_y, p_w, {.in_features = 2 * f_x, .out_features = 2 * f_y});
  const std::size_t last = p_w.size() - 1, first_column = (f_out - 1) * f_in;
  const matrix x = block(p_x, 3), dy = block(p_y, 3);
  const matrix y = layer(x);
  const matrix dx = layer.adjoint(dy);
  const matrix gradient = layer.weight_gradient();
  const vector bias_gradient = layer.bias_gradient();
  struct change {
    const char* block;
    std::size_t worker;
    std::function<void()> make, undo;
  };
  const matrix weight = layer.weight();
  const vector bias = layer.bias();
  const std::vector<change> changes = {{"weight", last,
                                        [&] {
                                          layer.weight() = xt::ones<double>({weight.shape(0), weight.shape(1) + 1});
                                        },
                                        [&] { layer.weight() = weight; }},
                                       {"weight", last,
                                        [&] {
                                          layer.weight() = xt::ones<double>({weight.size(), std::size_t{1}});
                                        },
                                        [&] { layer.weight() = weight; }},
                                       {"weight_gradient", last,
                                        [&] {
                                          layer.weight_gradient() = xt::zeros<double>({1, 1});
                                        },
                                        [&] { layer.weight_gradient() = gradient; }},
                                       {"bias", first_column,
                                        [&] {
                                          layer.bias() = vector{1, 2, 3};
                                        },
                                        [&] { layer.bias() = bias; }},
                                       {"bias_gradient", first_column, [&] { layer.bias_gradient() = vector{0}; },
                                        [&] { layer.bias_gradient() = bias_gradient; }}};
  for (const change& c : changes) BOOST_TEST_CONTEXT(c.block) {
      const std::string wants = std::string("requires a ") + c.block + " block of ";
      if (everyone.id() == c.worker) c.make();
      expect_one_sentence(everyone, refused<shape_error>([&] { layer(x); }), "partita::linear(x): " + wants);
      if (everyone.id() == c.worker) c.undo();
      BOOST_TEST((layer(x) == y));

      if (everyone.id() == c.worker) c.make();
      expect_one_sentence(everyone, refused<shape_error>([&] { layer.adjoint(dy); }),
                          "partita::linear::adjoint(dy): " + wants);
      if (everyone.id() == c.worker) c.undo();
      BOOST_TEST((layer.weight_gradient() == gradient));
      BOOST_TEST((layer.bias_gradient() == bias_gradient));
    }
  layer.zero_gradients();
  BOOST_TEST((layer.adjoint(dy) == dx));  // the adjoint still refers to the last successful forward call
  BOOST_TEST((layer.weight_gradient() == gradient));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(what_a_program_assigns_to_a_linear_layer)

BOOST_AUTO_TEST_CASE(is_checked_at_every_call_by_every_algorithm) {
  const std::size_t n = static_cast<std::size_t>(test::number_of_workers());
  expect_blocks_are_checked<weight_stationary>(1, n, n, 1);
  expect_blocks_are_checked<weight_stationary>(n, 1, 1, n);
  if (n % 2 == 0) expect_blocks_are_checked<weight_stationary>(n / 2, 2, 2, n / 2);
  expect_blocks_are_checked<column_parallel>(n, n, n, 1);
  expect_blocks_are_checked<row_parallel>(n, n, 1, n);
}

BOOST_AUTO_TEST_CASE(is_checked_where_a_worker_holds_no_weights, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  linear<double> layer(one, one, one, {.in_features = 2, .out_features = 2});
  if (everyone.id() == 1) layer.bias() = vector{1};
  expect_one_sentence(everyone, refused<shape_error>([&] { layer(block(one, 3)); }),
                      "partita::linear(x): requires a bias block of [0] on worker 1, bias() is now [1]");
}

template <linear_algorithm Algorithm>
void expect_one_batch(std::size_t f_out, std::size_t f_in) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents(1, n)), p_w = everyone.partition(extents(f_out, f_in));
  const auto p_y = everyone.partition(extents(1, Algorithm == weight_stationary ? 1 : n));
  linear<double, Algorithm> layer(p_x, p_y, p_w, {.in_features = 2 * n, .out_features = 2 * n});
  const matrix y = layer(block(p_x, 3));
  expect_one_sentence(everyone, refused<shape_error>([&] { layer(block(p_x, everyone.id() + 1 == n ? 4 : 3)); }),
                      "partita::linear(x): requires x of one batch on all workers of p_x, got [3] on worker 0 and [4] "
                      "on worker " +
                          std::to_string(n - 1));
  expect_one_sentence(everyone, refused<shape_error>([&] { layer.adjoint(y); }), "requires a forward call before");
  BOOST_TEST((layer(block(p_x, 3)) == y));
  const auto pictures = [&](std::size_t images) {
    return xt::xtensor<double, 3>(xt::ones<double>({images, std::size_t{2}, std::size_t{2}}));
  };
  expect_one_sentence(everyone, refused<shape_error>([&] { layer(pictures(everyone.id() == 0 ? 5 : 3)); }),
                      "got [5, 2] on worker 0 and [3, 2] on worker 1");
  // the same number of rows, but different rows
  const auto turned = [&](std::size_t images) {
    return xt::xtensor<double, 3>(xt::ones<double>({images, std::size_t{6 / images}, std::size_t{2}}));
  };
  expect_one_sentence(everyone, refused<shape_error>([&] { layer(turned(everyone.id() == 0 ? 2 : 3)); }),
                      "got [2, 3] on worker 0 and [3, 2] on worker 1");
  BOOST_TEST(layer(turned(2)).dimension() == 3U);
}

BOOST_AUTO_TEST_CASE(batches_that_differ_are_named_in_the_call_of_the_user, *test::at_least(2)) {
  const std::size_t n = static_cast<std::size_t>(test::number_of_workers());
  expect_one_batch<weight_stationary>(1, n);
  expect_one_batch<column_parallel>(n, 1);
  expect_one_batch<row_parallel>(1, n);
}

// With checks::local only one worker throws, and the others continue. Their messages to it stay unread, and no later
// world of the job may receive them.
BOOST_AUTO_TEST_CASE(batches_that_differ_are_refused_in_the_name_of_the_layer_at_local_checks_too, *test::at_least(2)) {
  const world everyone(test::workers(), checks::local);
  const auto p_x = everyone.partition(extents(1, everyone.size()));
  const auto p_y = everyone.partition<1, 1>();
  linear<double> layer(p_x, p_y, p_x, {.in_features = 2 * everyone.size(), .out_features = 2});
  const std::string said = refused<shape_error>([&] { layer(block(p_x, everyone.id() == 0 ? 4 : 3)); });
  if (p_y.active())  // only the workers that sum can see it
    BOOST_TEST(said.find("partita::linear(x): requires x of one batch on all workers of p_x") == 0U);
}

BOOST_AUTO_TEST_CASE(a_layer_that_was_moved_from_says_so) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  linear<double> layer(one, one, one, {.in_features = 2, .out_features = 2}), other = std::move(layer);
  other(block(one, 3));
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { layer(block(one, 3)); }, [&] { layer.adjoint(block(one, 3)); }, [&] { layer.weight(); },
           [&] { layer.zero_gradients(); }, [&] { layer.parameters(); }, [&] { layer.plan(); }})
    BOOST_TEST(refused<partition_error>(call).find("partita::linear: requires a layer that is there") == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
