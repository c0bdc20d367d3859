// Optimisers of sharded parameters give the same as the sequential optimisers on gathered tensors, for all layouts of
// gradients, parameters and state. The stages of ZeRO keep and move what their layouts say.
#include "layouts.hpp"

#include <complex>
#include <limits>
#include <partita/nn/optimiser.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;
using vector = xt::xtensor<double, 1>;

double whole_number(const short_list<std::size_t>& i, long long salt) {
  return static_cast<double>(test::numbered(i, salt) % 19 - 9);
}
/// A tensor of integers. If it is partial, every worker holds a summand that is not zero.
sharded_tensor<double> integers(const world& everyone, const sharding& s, const shape_list& extents, long long salt) {
  auto x = shard<double>(everyone, s, extents, [&](const auto& i) { return whole_number(i, salt); });
  if (!x.state()->on->active()) return x;
  double off = 0;
  for (std::size_t a = 0; a < s.on.rank(); ++a) {
    if (s.pending[a] == pending_reduction::none) continue;
    const double c = static_cast<double>(coordinate_of(s.on, x.state()->on->place(), a)),
                 n = static_cast<double>(s.on.size(a));
    off += c > 0 ? 3 * c : -3 * n * (n - 1) / 2;
  }
  double* const all = x.data();
  for (std::size_t k = 0; k < x.size(); ++k) all[k] += off;
  return x;
}
template <std::size_t N>
xt::xtensor<double, N> whole_integers(const shape_list& extents, long long salt) {
  return detail::as_array<N>(detail::as_run_time([&] {
    std::array<std::size_t, N> shape{};
    for (std::size_t d = 0; d < N; ++d) shape[d] = extents[d];
    xt::xtensor<double, N> x(shape);
    for (std::size_t k = 0; k < x.size(); ++k) {
      short_list<std::size_t> i = shape_list::filled(N, 0);
      for (std::size_t d = N, rest = k; d-- > 0; rest /= shape[d]) i[d] = rest % shape[d];
      x.data()[k] = whole_number(i, salt);
    }
    return x;
  }()));
}
sharding any_of(const std::vector<sharding>& all, std::mt19937& random, bool may_owe) {
  for (;;)
    if (const sharding& s = all[random() % all.size()]; may_owe || !s.is_partial()) return s;
}

/// Compares a few steps of both, with random layouts.
template <class Sharded, class Sequential, class Options>
void expect_the_sequential_one(const Options& options) {
  world everyone(test::workers());
  std::mt19937 random(11);
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto two = test::layouts(m, 2), one = test::layouts(m, 1);
    const shape_list wide = test::random_extents(random, 2), narrow = test::random_extents(random, 1);
    auto w = integers(everyone, any_of(two, random, false), wide, 1);
    auto b = integers(everyone, any_of(one, random, false), narrow, 2);
    matrix u = whole_integers<2>(wide, 1), du = u;
    vector c = whole_integers<1>(narrow, 2), dc = c;
    const sharding there = any_of(two, random, false), own = w.layout();
    Sharded optimiser({{w, there}, b}, options, optimiser_state_axes{"a"});
    Sequential truth({parameter<double>(u, du), parameter<double>(c, dc)}, options);
    for (int step = 0; step < 3; ++step) {
      optimiser.step(std::tuple(integers(everyone, any_of(two, random, true), wide, 10 + step),
                                integers(everyone, any_of(one, random, true), narrow, 20 + step)));
      du = whole_integers<2>(wide, 10 + step), dc = whole_integers<1>(narrow, 20 + step);
      truth.step();
    }
    BOOST_TEST(w.layout().same_layout(own));
    BOOST_TEST(optimiser.state_layout(0).same_layout(there));
    BOOST_TEST(optimiser.steps() == 3U);
    const matrix now = w.whole<2>();
    const vector then = b.whole<1>();
    if (everyone.id() >= m.size()) continue;
    BOOST_TEST((now == u), own << " state " << there);
    BOOST_TEST((then == c));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharded_optimisers)

BOOST_AUTO_TEST_CASE(steps_are_those_of_the_sequential_optimisers_wherever_all_lies) {
  expect_the_sequential_one<sharded_sgd<double>, sgd<double>>(sgd_options{.learning_rate = 0.25});
  expect_the_sequential_one<sharded_sgd<double>, sgd<double>>(sgd_options{.learning_rate = 0.25, .momentum = 0.5});
  expect_the_sequential_one<sharded_adam<double>, adam<double>>(adam_options{.learning_rate = 0.1});
  expect_the_sequential_one<sharded_adamw<double>, adamw<double>>(adamw_options{.learning_rate = 0.1});
  expect_the_sequential_one<sharded_sgd<double>, sgd<double>>(
      sgd_options{.learning_rate = 0.25, .momentum = 0.5, .dampening = 0.5, .weight_decay = 0.5});
  expect_the_sequential_one<sharded_sgd<double>, sgd<double>>(
      sgd_options{.learning_rate = 0.25, .momentum = 0.5, .weight_decay = 0.5, .nesterov = true});
  expect_the_sequential_one<sharded_adam<double>, adam<double>>(
      adam_options{.learning_rate = 0.1, .weight_decay = 0.5, .amsgrad = true});
  expect_the_sequential_one<sharded_adamw<double>, adamw<double>>(
      adamw_options{.learning_rate = 0.1, .weight_decay = 0.5, .amsgrad = true});
}

BOOST_AUTO_TEST_CASE(parameters_alone_take_the_options_of_the_rule_by_default) {
  world everyone(test::workers());
  const mesh m = test::meshes(everyone.size()).front();
  auto w = integers(everyone, test::layouts(m, 1).front(), {6}, 1);
  auto v = w;
  const auto g = integers(everyone, w.layout(), {6}, 2);
  sharded_adam<double> by_default({w}), written({v}, {.learning_rate = 0.001});
  by_default.step(std::tuple(g)), written.step(std::tuple(g));
  BOOST_TEST((detail::as_array<1>(w) == detail::as_array<1>(v)));
}

BOOST_AUTO_TEST_CASE(an_optimiser_of_nothing_is_made_of_empty_braces) {
  const sharded_adamw<double> none{{}, {}};
  BOOST_TEST(none.parameters() == 0U);
}

BOOST_AUTO_TEST_CASE(parameters_with_names_are_those_of_the_list_without) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  auto w = integers(everyone, m.layout("a"), {6}, 1), b = integers(everyone, m.layout(""), {3}, 2);
  auto v = w, c = b;
  const named_parameters<double> names{{"w", w}, {"b", b}};
  sharded_adamw<double> named(names, {.weight_decay = 0.5}, optimiser_state_axes{"a"}),
      listed({v, c}, {.weight_decay = 0.5});
  const std::tuple g(integers(everyone, m.layout("a"), {6}, 3), integers(everyone, m.layout(""), {3}, 4));
  named.step(g), listed.step(g);
  BOOST_TEST((names.size() == 2U && names.name(1) == "b" && named.parameters() == 2U));
  for (std::size_t k = 0; k < w.size(); ++k) BOOST_TEST(w.data()[k] == v.data()[k]);
  for (std::size_t k = 0; k < b.size(); ++k) BOOST_TEST(b.data()[k] == c.data()[k]);
  sharded_sgd<double> by_default(names);
  by_default.step(g);
}

BOOST_AUTO_TEST_CASE(the_norm_counts_each_element_once) {
  world everyone(test::workers());
  std::mt19937 random(3);
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto two = test::layouts(m, 2), one = test::layouts(m, 1);
    for (int k = 0; k < 4; ++k) {
      const shape_list wide = test::random_extents(random, 2), narrow = test::random_extents(random, 1);
      const sharding s = any_of(two, random, true), t = any_of(one, random, true);
      std::tuple g(integers(everyone, s, wide, k), integers(everyone, t, narrow, 7));
      const matrix u = whole_integers<2>(wide, k);
      const vector c = whole_integers<1>(narrow, 7);
      double squares = 0;
      for (const double x : u) squares += x * x;
      for (const double x : c) squares += x * x;
      const double norm = global_norm(g), most = std::sqrt(squares) / 4;  // so that the factor is exactly 1/4
      const double had = clip_by_global_norm(g, most);
      const matrix quarter = reshard(std::get<0>(g), sharding(m, 2)).whole<2>();
      BOOST_TEST(std::get<0>(g).layout() == s);
      if (everyone.id() >= m.size()) continue;
      BOOST_TEST(norm == std::sqrt(squares), s << " and " << t);
      BOOST_TEST(had == norm);
      for (std::size_t i = 0; i < u.size(); ++i) BOOST_TEST(std::abs(quarter.data()[i] - u.data()[i] / 4) <= 1e-15);
    }
  }
  const std::tuple arrays(matrix{{3, 0}, {0, 0}}, vector{4});
  BOOST_TEST(global_norm(arrays) == 5);
}

BOOST_AUTO_TEST_CASE(a_clipped_step_is_a_step_along_shorter_gradients) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const shape_list extents{5, 3};
  auto w = integers(everyone, m.layout("", ""), extents, 1);
  const auto g = integers(everyone, m.layout("", "").partial("a"), extents, 2);
  sharded_sgd<double> optimiser({w}, {.learning_rate = 0.5}, optimiser_state_axes{"a"});
  const std::size_t before = detail::run_state.movement_totals.bytes;
  const double norm = global_norm(std::tuple(g)), most = norm / 2;
  const std::size_t taken = detail::run_state.movement_totals.bytes - before;
  BOOST_TEST(optimiser.step(std::tuple(g), clip_norm{most}) == norm);
  // the gradient moves once for both its norm and its step, and the parameter is gathered
  const matrix u = whole_integers<2>(extents, 1), d = whole_integers<2>(extents, 2), now = w.whole<2>();
  const std::size_t gathered =
      (15 - detail::shape_size(detail::shape_of_box(w.state()->on->box(optimiser.state_layout(0), extents)))) *
      sizeof(double);
  BOOST_TEST(detail::run_state.movement_totals.bytes - before == 2 * taken + gathered);
  BOOST_TEST((now == matrix(u - 0.5 * 0.5 * d)));
}

BOOST_AUTO_TEST_CASE(the_stages_of_zero_are_layouts) {
  world everyone(test::workers());
  const std::size_t d = everyone.size(), rows = 12 % d == 0 ? 12 : 2 * d, n = rows * 5;
  const mesh m{axis{"data", d}};
  const shape_list extents{rows, 5};
  const auto x = integers(everyone, m.layout("data", ""), {7, rows}, 3);
  const sharding whole = m.layout("", ""), cut = m.layout("data", ""), used = whole.reduced("data");
  struct stage {
    sharding parameter;
    const char* over;
    std::size_t state_share, gradient_share, parameter_share;  // a worker keeps n / share of n elements
    std::size_t moved_by_gradient, moved_by_step;              // in units of n (d - 1) / d elements for each worker
  };
  const stage stages[] = {{whole, "", 1, 1, 1, 2, 0},
                          {whole, "data", d, 1, 1, 2, 1},
                          {whole.reduced("data"), "data", d, 1, 1, 0, 2},
                          {cut, "data", d, d, d, 2, 0}};
  std::vector<matrix> results;
  const std::size_t before = detail::run_state.movement_totals.bytes;
  shard<double>(everyone, m.layout().partial("data"), {}, [](const auto&) { return 1; }).number();
  const std::size_t of_value = detail::run_state.movement_totals.bytes - before;
  for (const stage& s : stages) {
    auto w = reshard(integers(everyone, whole, extents, 1), s.parameter);
    sharded_adam<double> optimiser({w}, {.learning_rate = 0.1}, optimiser_state_axes{s.over});
    for (int k = 0; k < 3; ++k) {
      const std::size_t start = detail::run_state.movement_totals.bytes;
      const auto f = [&](const auto& v) { return sum(multiply(matmul(x, reshard(v, used)), 0.5)); };
      const auto [value, gradients] = value_and_gradient(f, w);
      const std::size_t between = detail::run_state.movement_totals.bytes;
      optimiser.step(gradients);
      const std::size_t unit = n * (d - 1) / d * sizeof(double);
      BOOST_TEST(between - start - of_value == s.moved_by_gradient * unit, s.parameter << " " << s.over);
      BOOST_TEST(detail::run_state.movement_totals.bytes - between == s.moved_by_step * unit,
                 s.parameter << " " << s.over);
      BOOST_TEST(std::get<0>(gradients).size() == n / s.gradient_share);
    }
    BOOST_TEST(optimiser.state_bytes() == 2 * n / s.state_share * sizeof(double));
    BOOST_TEST(w.size() == n / s.parameter_share);
    results.push_back(w.whole<2>());
  }
  for (const matrix& one : results) BOOST_TEST((one == results[0]));
}

BOOST_AUTO_TEST_CASE(typed_tensors_and_arrays_are_parameters_too, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  const matrix x = whole_integers<2>({6, 5}, 1), start = whole_integers<2>({5, 3}, 2);
  const auto train = [](const auto& input, auto w, optimiser_state_axes further) {
    sharded_sgd<double> optimiser({w}, {.learning_rate = 0.125, .momentum = 0.5}, further);
    for (int k = 0; k < 2; ++k)
      optimiser.step(value_and_gradient([&](const auto& v) { return sum(matmul(input, v)); }, w).gradients);
    return w;
  };
  const auto w = train(shard<m.layout("data", "")>(everyone, x), shard<m.layout("", "model")>(everyone, start),
                       optimiser_state_axes{"data"});
  static_assert(decltype(w)::layout() == m.layout("", "model"));
  const matrix sharded = w.whole(), plain = train(x, start, {});
  if (everyone.id() < 4) BOOST_TEST((sharded == plain));
}

BOOST_AUTO_TEST_CASE(options_that_are_left_out_are_the_defaults) {
  const world everyone(test::workers());
  const mesh m{axis{"data", everyone.size()}};
  auto x = integers(everyone, m.layout("data", ""), {4, 3}, 1), y = x;
  const auto g = integers(everyone, m.layout("data", ""), {4, 3}, 2);
  sharded_adam<double> one({x}), other({y}, adam_options{});
  for (int step = 0; step < 3; ++step) one.step(std::tuple(g)), other.step(std::tuple(g));
  BOOST_TEST((reshard(x, m.layout("", "")).whole<2>() == reshard(y, m.layout("", "")).whole<2>()));
  const std::vector<parameter<double>> none;
  const sgd<double> a(none);
  const adam<double> b(none);
  const adamw<double> c(none);
}

BOOST_AUTO_TEST_CASE(complex_parameters_move_as_pairs_of_real_ones) {
  const world everyone(test::workers());
  using complex = std::complex<double>;
  const mesh m{axis{"a", everyone.size()}};
  const matrix pairs = whole_integers<2>({7, 2}, 1);
  auto numbers = xt::xtensor<complex, 1>::from_shape({7});
  for (std::size_t k = 0; k < 7; ++k) numbers(k) = complex(pairs(k, 0), pairs(k, 1));
  auto z = shard(everyone, m.layout("a"), numbers);
  auto x = shard(everyone, m.layout("a", ""), pairs);
  sharded_adam<complex> one({z}, {.learning_rate = 0.5});
  sharded_adam<double> other({x}, {.learning_rate = 0.5});
  for (int step = 0; step < 2; ++step) {
    one.step(std::tuple(multiply(z, z)));
    other.step(std::tuple(shard(everyone, m.layout("a", ""), [&] {
      matrix squares({7, 2});
      const matrix now = reshard(x, m.layout("", "")).whole<2>();
      for (std::size_t k = 0; k < 7; ++k) {
        const complex square = complex(now(k, 0), now(k, 1)) * complex(now(k, 0), now(k, 1));
        squares(k, 0) = square.real(), squares(k, 1) = square.imag();
      }
      return squares;
    }())));
  }
  const auto found = reshard(z, m.layout("")).whole<1>();
  const auto expected = reshard(x, m.layout("", "")).whole<2>();
  for (std::size_t k = 0; k < 7; ++k) BOOST_TEST(found(k) == complex(expected(k, 0), expected(k, 1)));
}

BOOST_AUTO_TEST_CASE(a_state_is_restored_in_its_own_layout_alone) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}, axis{"b", 1}};
  auto w = integers(everyone, m.layout("", ""), {4, 3}, 1);
  sharded_adam<double> optimiser({{w, m.layout("a", "")}}, {});
  for (const sharding& s : test::layouts(m, 2)) {
    const auto value = integers(everyone, s, {4, 3}, 2);
    const bool fits = s.same_layout(optimiser.state_layout(0));
    BOOST_TEST(test::refused<partition_error>([&] { optimiser.restore(0, 1, value); }).empty() == fits, s);
  }
}

/// A state on a mesh of other axes, or of other workers, has blocks for other workers.
BOOST_AUTO_TEST_CASE(a_state_is_restored_on_its_own_mesh_alone) {
  world everyone(test::workers());
  const std::size_t n = everyone.size(), less = n > 1 ? n - 1 : 1;
  const mesh m{axis{"a", less}}, renamed{axis{"b", less}};
  auto w = integers(everyone, m.layout("a", ""), {12, 3}, 1);
  sharded_adam<double> optimiser({w}, {});
  const auto own = integers(everyone, m.layout("a", ""), {12, 3}, 2);
  std::vector<sharded_tensor<double>> others{integers(everyone, renamed.layout("b", ""), {12, 3}, 2)};
  if (n > 1) {
    others.push_back(reshard(own, placed_mesh(m, workers(1, n)), m.layout("a", "")));
    const mesh larger{axis{"a", n}};
    others.push_back(integers(everyone, larger.layout("a", ""), {12, 3}, 2));
  }
  for (const auto& other : others)
    for (const std::size_t s : {std::size_t{0}, std::size_t{1}}) {
      test::expect_refused<partition_error>([&] { optimiser.restore(0, s, other); },
                                            "restore: requires a tensor on the mesh of the state");
      optimiser.restore(0, s, own);
      BOOST_TEST(optimiser.state(0, s).state()->on == w.state()->on);
    }
}

BOOST_AUTO_TEST_CASE(wrong_gradients_are_refused_on_all_workers) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  auto w = integers(everyone, m.layout("a", ""), {4, 3}, 1);
  sharded_adam<double> optimiser({w}, {});
  const auto refuse = [&](const auto& g) { return test::refused<shape_error>([&] { optimiser.step(g); }); };
  BOOST_TEST(refuse(std::tuple(w, w)) ==
             "partita::sharded_optimiser::step: requires a gradient for each of the 1 parameters, got 2");
  BOOST_TEST(refuse(std::tuple(integers(everyone, m.layout("a", ""), {3, 3}, 1))) ==
             "partita::sharded_optimiser::step: requires for parameter 0 a gradient of its extents [4, 3], got [3, 3]; "
             "give gradients in the order of the parameters");
  BOOST_TEST(test::refused<partition_error>([&] {
               optimiser.step(std::tuple(matrix({4, 3})));
             }).substr(0, 84) ==
             "partita::sharded_optimiser::step: requires for parameter 0 a gradient on its mesh; m");
  for (const double most : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto gradients = std::tuple(w);
    BOOST_TEST(test::refused<shape_error>([&] { optimiser.step(gradients, clip_norm{most}); }) ==
               "partita::sharded_optimiser::step(gradients, clip_norm): requires a limit that is a number and not "
               "negative");
    BOOST_TEST(test::refused<shape_error>([&] { (void)clip_by_global_norm(gradients, most); }) ==
               "partita::clip_by_global_norm(gradients, most): requires a limit that is a number and not negative");
  }
}

BOOST_AUTO_TEST_SUITE_END()
