// The public interface of the library: programs outside this repository use these names. The cases need twelve workers,
// and test/meson.build runs them on twelve.
#include <partita/partita.hpp>
#include <sstream>
#include <type_traits>
#include <vector>

#include "mpi_test.hpp"

namespace {

using namespace partita;

// array broadcasting, checked at compile time
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<2, 3>, extents<1, 3>>::value == extents<2, 3>{});

// sharding propagation
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr sharding xs = m.layout("data", "", "");
constexpr sharding ws = m.layout("", "model");
constexpr rule product = "bmk,kn->bmn";
constexpr auto s = propagate(m, product, {spec{xs, {8, 128, 64}}, spec{ws, {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
constexpr auto steps = plan_reshard(m, m.layout("data", ""), m.layout("", "data"), extents<8, 256>{});
static_assert(steps.size() == 1);
// layouts: two axes, an open dimension, a pending sum; built-in rules; the backward direction; a registry
static_assert(m.layout("data+model", "")[0].size() == 2 && m.layout("", "") == sharding(m.layout("", "")));
static_assert(m.layout("data", "").partial("model").is_partial());
static_assert(m.layout("?", "") != m.layout("", ""));
static_assert(propagate(m, rules::matmul, {spec{m.layout("data", ""), {8, 64}}, spec{ws, {64, 256}}}).results[0] ==
              m.layout("data", "model"));
static_assert(propagate(m, product, {spec{{8, 128, 64}}, spec{{64, 256}}},
                        {spec{m.layout("data", "", "model"), {8, 128, 256}}}, direction::backward)
                  .operands[1] == ws);
static_assert(registry::standard().knows("softmax"));

/// A block of a matrix whose element (i, j) is a function of i and j.
xt::xtensor<float, 2> block(const box<2>& where) {
  xt::xtensor<float, 2> x(std::array<std::size_t, 2>{where.stop[0] - where.start[0], where.stop[1] - where.start[1]});
  for (std::size_t i = 0; i < x.shape()[0]; ++i)
    for (std::size_t j = 0; j < x.shape()[1]; ++j)
      x(i, j) = static_cast<float>(16 * (where.start[0] + i) + where.start[1] + j);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(front_door)

BOOST_AUTO_TEST_CASE(a_world_is_made_of_all_workers_or_of_a_communicator) {
  world everyone;
  const world same(boost::mpi::communicator{}), fast(test::workers(), checks::local);
  BOOST_TEST(everyone.size() == same.size());
  BOOST_TEST(everyone.id() == same.id());
  BOOST_TEST((everyone.level() == checks::agree && fast.level() == checks::local));
  const auto all = everyone.partition(extents(everyone.size()));
  const all_sum_reduce count(all, dimensions<0>);
  const xt::xtensor<int, 1> one{1};
  BOOST_TEST(count(one)(0) == static_cast<int>(everyone.size()));
}

BOOST_AUTO_TEST_CASE(partitions_kernels_and_the_linear_layer_are_called_as_written, *test::at_least(12)) {
  world everyone(test::workers());
  const std::size_t n = 2;
  auto p_x = everyone.partition<1, 4>();
  auto p_y = everyone.partition<1, 3>(workers(4, 7));
  auto p_w = everyone.partition<3, 4>();
  auto p_d = everyone.partition(extents<dynamic, 2>(n), workers{5, 2, 0, 1});
  auto p_z = everyone.partition<4, 1>();
  static_assert(p_x.rank() == 2);
  BOOST_TEST(p_x.size() == 4U);
  BOOST_TEST(p_x.extents()[1] == 4U);
  BOOST_TEST(p_d.worker({1, 0}) == 0U);
  if (p_x.active()) BOOST_TEST(p_x.worker(p_x.index()) == everyone.id());

  broadcast b(p_x, p_w);
  broadcast transposed(p_y, p_w, transpose_src, discard_batch);
  sum_reduce sum(p_w, p_y, transpose_src);
  all_sum_reduce a(p_w, dimensions<0>);
  repartition r(p_x, p_z);

  xt::xtensor<float, 2> x = zero_volume<float, 2>(8);
  if (p_x.active()) x = xt::ones<float>({8, 4});
  auto y = r(x);
  auto dx = r.adjoint(y);
  BOOST_TEST(dx.shape(1) == (p_x.active() ? 4U : 0U));
  xt::xtensor<float, 2> big = xt::zeros<float>({16, 16});
  r.into(x, xt::view(big, xt::range(0, 2), xt::all()));
  BOOST_TEST(xt::sum(big)() == (p_z.active() ? 32.0F : 0.0F));
  auto plan = r.plan(extents<8, 16>{});
  std::ostringstream out;
  out << plan << b.plan() << transposed.plan() << sum.plan() << a.plan();
  BOOST_TEST(out.str().find("worker " + std::to_string(everyone.id()) + " in broadcast") != std::string::npos);
  BOOST_TEST(to_svg(plan).size() > 0U);

  linear<float> layer(p_x, p_y, p_w, {.in_features = 16, .out_features = 12, .bias = true});
  layer.weight().fill(1.0F), layer.bias().fill(0.0F);
  auto z = layer(x);
  if (p_y.active()) BOOST_TEST(z == 16 * xt::ones<float>({8, 4}));
  auto dz = layer.adjoint(z);
  BOOST_TEST(dz.shape(1) == (p_x.active() ? 4U : 0U));
  BOOST_TEST(layer.bias_gradient().size() == layer.bias().size());
  BOOST_TEST(layer.weight_gradient().size() == layer.weight().size());
}

BOOST_AUTO_TEST_CASE(every_kernel_gives_what_it_promises_on_twelve_workers, *test::at_least(12)) {
  world everyone(test::workers());
  const std::size_t me = everyone.id();
  auto p_x = everyone.partition<1, 4>();
  auto p_y = everyone.partition<1, 3>(workers(4, 7));
  auto p_w = everyone.partition<3, 4>();

  // broadcasts the block of a worker of p_x to a whole column of p_w, and sums in the adjoint
  broadcast b(p_x, p_w);
  const auto x = p_x.active() ? block({{0, 4 * me}, {8, 4 * me + 4}}) : zero_volume<float, 2>(8);
  const auto y = b(x);
  const std::size_t column = me % 4;
  const auto whole = block({{0, 4 * column}, {8, 4 * column + 4}});
  if (p_w.active()) BOOST_TEST((y == whole));
  const auto dx = b.adjoint(y);
  if (p_x.active()) BOOST_TEST((dx == 3.0F * x));
  BOOST_TEST(adjoint_test(everyone, b, x, y).exact());

  // sums a row of p_w into a worker of p_y, whose shape is reversed
  sum_reduce s(p_w, p_y, transpose_src);
  static_assert(std::is_same_v<decltype(broadcast(p_y, p_w, transpose_src, discard_batch)),
                               broadcast<extents<1, 3>, extents<3, 4>, transpose_src_t, discard_batch_t>>);
  broadcast back(p_y, p_w, transpose_src, discard_batch);
  const xt::xtensor<float, 2> ones = xt::ones<float>({2, 5});
  sum_reduce upright(p_w, p_y, transpose_dest);
  const auto z = upright(ones);
  if (p_y.active()) BOOST_TEST((z == 4.0F * ones));
  const auto again = back(p_y.active() ? xt::xtensor<float, 2>(z) : zero_volume<float, 2>());
  if (p_w.active()) BOOST_TEST((again == 4.0F * ones));
  BOOST_TEST((s.plan().large == p_w.active()));

  // sums along dimensions
  all_sum_reduce columns(p_w, dimensions<0>), rows(p_w, all_dimensions_but<0>);
  const float own = static_cast<float>(me);
  if (p_w.active()) {
    const float column_sum = 3.0F * static_cast<float>(column) + 12.0F,
                row_sum = 4.0F * static_cast<float>(me / 4 * 4) + 6.0F;
    BOOST_TEST((columns(own * ones) == column_sum * ones));
    BOOST_TEST((rows(own * ones) == row_sum * ones));
  } else {
    columns(own * ones);
    rows(own * ones);
  }
  all_gather gather(p_w, dimensions<1>);
  const auto gathered = gather(own * ones);
  reduce_scatter scatter(p_w, dimensions<1>);
  const auto part = scatter(gathered);
  BOOST_TEST(gathered.shape(1) == (p_w.active() ? 20U : 5U));
  if (p_w.active()) BOOST_TEST((part == 4.0F * own * ones));

  // a non-blocking repartition to different cuts with a permutation
  repartition turn(p_x, everyone.partition<4, 1>(), permute<1, 0>,
                   result_cuts(cut::at({3, 0, 5, 8}), cut::balanced(8, 1)));
  auto later = turn.start(x);
  const auto turned = later.finish();
  if (me < 4) BOOST_TEST(turned.shape(0) == std::vector<std::size_t>({3, 0, 5, 8})[me]);
  const auto returned = turn.adjoint(turned);
  if (p_x.active()) BOOST_TEST((returned == x));
  BOOST_TEST(cost_of(p_x, p_w.subset<4, 1>(workers(0, 4)), extents<8, 16>{}).elements_moved == 96U);
  BOOST_TEST((relabelled(p_x, p_x, extents<8, 16>{}) == p_x));

  // results in one block for each node, and correctly rounded sums
  broadcast viewed(p_x, p_w, shared_view);
  const auto view = viewed(x);
  if (p_w.active()) BOOST_TEST((view == whole));
  all_sum_reduce exact(p_w, dimensions<0, 1>, reproducible);
  BOOST_TEST((!p_w.active() || exact(0.25F * ones)(1, 4) == 3.0F));
}

BOOST_AUTO_TEST_CASE(a_network_of_layers_learns_as_written, *test::at_least(12)) {
  world everyone(test::workers());
  auto p_x = everyone.partition<1, 4>();
  auto p_y = everyone.partition<1, 3>(workers(4, 7));
  auto p_w = everyone.partition<3, 4>();
  linear<float> layer(p_x, p_y, p_w, {.in_features = 16, .out_features = 12});
  kaiming_uniform(layer, 7);
  linear<float, row_parallel> narrow(p_x, p_x, p_x, {.in_features = 16, .out_features = 8, .bias = false});
  linear<float, column_parallel> wide(p_x, p_x, everyone.partition<4, 1>(), {.in_features = 16, .out_features = 8});
  const auto x = p_x.active() ? block({{0, 4 * everyone.id()}, {8, 4 * everyone.id() + 4}}) : zero_volume<float, 2>(8);
  BOOST_TEST(narrow(x).shape(1) == (p_x.active() ? 2U : 0U));
  BOOST_TEST(wide(x).shape(1) == (p_x.active() ? 2U : 0U));
  relu<float> positive;
  const auto y = positive(layer(x));
  for (const float e : y) BOOST_TEST(e >= 0.0F);
  layer.adjoint(positive.adjoint(y));
  sgd<float> step(layer.parameters(), {.learning_rate = 0.5});
  step.step();
  BOOST_TEST(layer.weight_box().shape()[0] == layer.weight().shape()[0]);
  std::ostringstream out;
  out << layer.plan();
  BOOST_TEST(out.str().find("in linear") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(arrays_are_broadcast_as_written) {
  const xt::xtensor<float, 1> v{1, 2, 3};
  const xt::xtensor<float, 2> matrix = xt::ones<float>({2, 3}), slice = xt::ones<float>({2, 4});
  const xt::xtensor<float, 3> cuboid = xt::ones<float>({2, 3, 4});
  const xt::xtensor<float, 2> z = add(matrix, v, broadcast_dimensions<1>);
  const xt::xtensor<float, 3> e =
      elementwise([](float p, float q) { return p + q; }, cuboid, slice, broadcast_dimensions<0, 2>);
  const xt::xtensor<float, 3> w = broadcast_in_dim(v, extents<2, 3, 4>{}, broadcast_dimensions<1>);
  BOOST_TEST(z(1, 2) == 4.0F);
  BOOST_TEST(e(1, 2, 3) == 2.0F);
  BOOST_TEST(w(1, 2, 3) == 3.0F);
}

BOOST_AUTO_TEST_CASE(every_operation_on_arrays_has_its_name) {
  const xt::xtensor<double, 2> a{{1, 4, 9}, {-2, 5, 0}};
  const xt::xtensor<double, 1> v{2, 4, 3};
  const auto expect = [&](const auto& lazy, const auto& of, const char* name) {
    const xt::xtensor<double, 2> result = lazy;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        BOOST_TEST(result(i, j) == static_cast<double>(of(a(i, j), v(j))), name << " at " << i << ", " << j);
  };
  const auto d = broadcast_dimensions<1>;
  expect(
      add(a, v, d), [](double p, double q) { return p + q; }, "add");
  expect(
      subtract(a, v, d), [](double p, double q) { return p - q; }, "subtract");
  expect(
      multiply(a, v, d), [](double p, double q) { return p * q; }, "multiply");
  expect(
      divide(a, v, d), [](double p, double q) { return p / q; }, "divide");
  expect(
      remainder(a, v, d), [](double p, double q) { return std::fmod(p, q); }, "remainder");
  expect(
      power(a, v, d), [](double p, double q) { return std::pow(p, q); }, "power");
  expect(
      maximum(a, v, d), [](double p, double q) { return p > q ? p : q; }, "maximum");
  expect(
      minimum(a, v, d), [](double p, double q) { return p < q ? p : q; }, "minimum");
  expect(
      partita::atan2(a, v, d), [](double p, double q) { return std::atan2(p, q); }, "atan2");
  expect(
      equal_to(a, v, d), [](double p, double q) { return p == q; }, "equal_to");
  expect(
      not_equal_to(a, v, d), [](double p, double q) { return p != q; }, "not_equal_to");
  expect(
      less(a, v, d), [](double p, double q) { return p < q; }, "less");
  expect(
      less_equal(a, v, d), [](double p, double q) { return p <= q; }, "less_equal");
  expect(
      greater(a, v, d), [](double p, double q) { return p > q; }, "greater");
  expect(
      greater_equal(a, v, d), [](double p, double q) { return p >= q; }, "greater_equal");
  const xt::xtensor<double, 2> held = clamp(0.0, a, 4.0);
  BOOST_TEST(held(1, 0) == 0.0);
  BOOST_TEST(held(0, 2) == 4.0);
  const xt::xtensor<bool, 2> mask = greater(a, 1.0);
  const xt::xtensor<double, 2> chosen = select(mask, a, xt::xtensor<double, 2>(-1.0 * a));
  BOOST_TEST(chosen(1, 0) == 2.0);
  BOOST_TEST(chosen(0, 1) == 4.0);
  const xt::xtensor<unsigned, 1> bits{6, 5}, other{3, 4};
  const xt::xtensor<unsigned, 1> both = bitwise_and(bits, other), any = bitwise_or(bits, other),
                                 one = bitwise_xor(bits, other);
  BOOST_TEST((both(0) == 2U && any(0) == 7U && one(1) == 1U));
}

BOOST_AUTO_TEST_CASE(errors_have_their_types) {
  static_assert(std::is_base_of_v<error, shape_error> && std::is_base_of_v<error, partition_error> &&
                std::is_base_of_v<error, disagreement_error> && std::is_base_of_v<error, communication_error>);
  const world everyone(test::workers());
  BOOST_CHECK_THROW(everyone.partition(extents(everyone.size() + 1)), partition_error);
}

BOOST_AUTO_TEST_SUITE_END()
