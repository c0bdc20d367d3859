// The public names can be written without partita:: in a program that includes all of C, POSIX and the C++ standard
// library, with one exception: `index` is a function in <strings.h>, so it must be partita::index there
// (docs/pitfalls.md, test/reject/names.cpp).
#include "all_standard_headers.hpp"
// the library after them
#include <partita/partita.hpp>

using namespace partita;

namespace {

// what C and POSIX call by names that ours could hide
[[maybe_unused]] void theirs() {
  signal(SIGINT, SIG_DFL);
  fd_set none;
  FD_ZERO(&none);
  timeval now{0, 0};
  select(0, &none, nullptr, nullptr, &now);
  static_cast<void>(send(0, nullptr, 0, 0));
  static_cast<void>(remainder(3.0, 2.0) + atan2(1.0, 2.0) + log(1.0) + pow(2.0, 2.0) + tanh(1.0) + sqrt(4.0));
  static_cast<void>(::index("partita", 't'));
  wait(nullptr);
  pause();
}

// partitions and kernels
[[maybe_unused]] void kernels(const world& everyone, const xt::xtensor<float, 2>& x) {
  const partition p_x = everyone.partition<1, 4>();
  const partition p_y = everyone.partition(extents<dynamic, 4>(2), workers(0, 8));
  const partita::index<2> place = p_x.index();
  broadcast b(p_x, p_y, transpose_src, transpose_dest, discard_batch);
  sum_reduce s(p_y, p_x);
  all_sum_reduce a(p_x, dimensions<0>);
  all_gather g(p_x, all_dimensions_but<0>);
  reduce_scatter c(p_x, dimensions<1>);
  repartition r(p_x, everyone.partition<4, 1>(), result_cuts(cut::balanced(8, 4), cut::at({8})));
  const auto plan = r.plan({8, 8});
  std::cout << plan << to_svg(plan) << p_x.worker(place);
  xt::xtensor<float, 2> y = b(x);
  y = zero_volume<float, 2>();
  linear<float> layer(p_x, p_x, everyone.partition<4, 4>(), {.in_features = 16, .out_features = 12, .bias = true});
  y = layer(x);
}

// arrays
[[maybe_unused]] void arrays(const xt::xtensor<float, 2>& m, const xt::xtensor<float, 1>& v) {
  xt::xtensor<float, 2> z = add(m, v, broadcast_dimensions<1>);
  z = subtract(z, m);
  z = multiply(z, m);
  z = divide(z, m);
  z = maximum(z, m);
  z = minimum(z, m);
  z = power(z, m);
  z = elementwise([](float a, float b) { return a + b; }, m, v, broadcast_dimensions<1>);
  z = broadcast_in_dim(v, extents<2, 3>{}, broadcast_dimensions<1>);
}

// pure values
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr sharding layout = m.layout("data", "");
constexpr rule product = "bk,kn->bn";
constexpr box<1> all{{0}, {8}};
constexpr interval part = balanced_part(8, 4, 1);
constexpr auto inferred = propagate(m, product, {spec{layout, {8, 64}}, spec{m.layout("", "model"), {64, 256}}});
static_assert(inferred.results[0] == m.layout("data", "model"));
static_assert(all.volume() == 8 && part == interval{2, 4} && volume_of(partita::index<2>{2, 3}) == 6);
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});
[[maybe_unused]] const grid arranged(extents<2, 3>{});
[[maybe_unused]] const decomposition cuts(cut::balanced(8, 2), cut::block_cyclic(8, 2, 2));

// errors
[[maybe_unused]] bool caught() {
  try {
    throw shape_error("a message");
  } catch (const partition_error&) {
  } catch (const disagreement_error&) {
  } catch (const communication_error&) {
  } catch (const io_error&) {
  } catch (const error& e) {
    return text(e.what()) == "a message";
  }
  return false;
}

}  // namespace
