// The front door as the design writes it: programs outside this repository are compiled against these names.
#include <partita/partita.hpp>
#include <sstream>

#include "mpi_test.hpp"

namespace {

using namespace partita;

// array broadcasting, judged by the compiler
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});

// sharding propagation
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr sharding xs = m.layout("data", "", "");
constexpr sharding ws = m.layout("", "model");
constexpr rule product = "bmk,kn->bmn";
constexpr auto s = propagate(m, product, {spec{xs, {8, 128, 64}}, spec{ws, {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
constexpr auto steps = plan_reshard(m, m.layout("data", ""), m.layout("", "data"), extents<8, 256>{});
static_assert(steps.size() == 1);

}  // namespace

BOOST_AUTO_TEST_SUITE(front_door)

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
  layer.weight().fill(1.0F);
  auto z = layer(x);
  if (p_y.active()) BOOST_TEST(z == 16 * xt::ones<float>({8, 4}));
  auto dz = layer.adjoint(z);
  BOOST_TEST(dz.shape(1) == (p_x.active() ? 4U : 0U));
  BOOST_TEST(layer.bias_gradient().size() == layer.bias().size());
  BOOST_TEST(layer.weight_gradient().size() == layer.weight().size());
}

BOOST_AUTO_TEST_CASE(arrays_are_broadcast_as_written) {
  const xt::xtensor<float, 1> v{1, 2, 3};
  const xt::xtensor<float, 2> matrix = xt::ones<float>({2, 3}), slice = xt::ones<float>({2, 4});
  const xt::xtensor<float, 3> cuboid = xt::ones<float>({2, 3, 4});
  const xt::xtensor<float, 2> z = add(matrix, v, broadcast_dimensions<1>);
  const xt::xtensor<float, 3> e = elementwise([](float p, float q) { return p + q; }, cuboid, slice, broadcast_dimensions<0, 2>);
  const xt::xtensor<float, 3> w = broadcast_in_dim(v, extents<2, 3, 4>{}, broadcast_dimensions<1>);
  BOOST_TEST(z(1, 2) == 4.0F);
  BOOST_TEST(e(1, 2, 3) == 2.0F);
  BOOST_TEST(w(1, 2, 3) == 3.0F);
}

BOOST_AUTO_TEST_SUITE_END()
