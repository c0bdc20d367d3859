// Convolutions of sharded tensors, and their gradients, exactly equal those of the whole tensors for all layouts.
#include "check_bound.hpp"
#include "check_operation.hpp"

#include <partita/sharded/convolve.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/traced_function.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

using test::tensor;
using v = std::vector<tensor>;

/// The definition, by loops over one feature dimension.
tensor by_definition(const tensor& x, const tensor& w, const convolve_options<1>& o, std::size_t groups) {
  const shape_list &a = x.extents(), &b = w.extents();
  const std::size_t places = (a[2] + 2 * o.padding[0] - o.dilation[0] * (b[2] - 1) - 1) / o.stride[0] + 1;
  const tensor y = test::plain({a[0], b[0], places}, 0);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::size_t n = k / places / b[0], m = k / places % b[0], i = k % places, first = m / (b[0] / groups) * b[1];
    long long sum = 0;
    for (std::size_t c = 0; c < b[1]; ++c)
      for (std::size_t t = 0; t < b[2]; ++t) {
        const std::size_t cell = i * o.stride[0] + t * o.dilation[0];
        if (cell < o.padding[0] || cell >= a[2] + o.padding[0]) continue;
        sum += w.data()[(m * b[1] + c) * b[2] + t] * x.data()[(n * a[1] + first + c) * a[2] + cell - o.padding[0]];
      }
    const_cast<long long*>(y.data())[k] = sum;
  }
  return y;
}

bool equal(const tensor& x, const tensor& y) {
  return x.extents() == y.extents() && std::equal(x.data(), x.data() + x.size(), y.data());
}

}  // namespace

BOOST_AUTO_TEST_CASE(convolutions_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(17);
  for (std::size_t k = 0; k < test::random_cases(24); ++k) {
    const std::size_t n = random() % 4, c = 1 + random() % 3, m = 1 + random() % 3, t = 1 + random() % 3;
    const convolve_options<1> o{
        .stride = {1 + random() % 3}, .padding = {random() % 3}, .dilation = {1 + random() % 2}};
    const std::size_t cells = o.dilation[0] * (t - 1) + 1 + random() % 9;
    const auto f = [&](const v& x) { return convolve<1>(x[0], x[1], o); };
    const tensor x = test::plain({n, c, cells}, 1), w = test::plain({m, c, t}, 2);
    BOOST_TEST(equal(f({x, w}), by_definition(x, w, o, 1)));
    test::check(everyone, "convolve", random, {{n, c, cells}, {m, c, t}}, f);
    const auto in_groups = [&](const v& one) { return convolve<1, 2>(one[0], one[1], o); };
    const tensor more = test::plain({n, 2 * c, cells}, 1), filters = test::plain({2 * m, c, t}, 2);
    BOOST_TEST(equal(in_groups({more, filters}), by_definition(more, filters, o, 2)));
    test::check(everyone, "convolve in groups", random, {{n, 2 * c, cells}, {2 * m, c, t}}, in_groups);
    test::check(everyone, "convolve_transposed", random, {{n, m, cells}, {m, c, t + 1}}, [&](const v& one) {
      return convolve_transposed<1>(one[0], one[1], {.stride = o.stride, .dilation = o.dilation});
    });
    const tensor filters_of = test::plain({m, c, t}, 1), images_of = test::plain({n, c, cells}, 2);
    const auto on_mesh = [&](const tensor& like, const tensor& whole, long long salt) {
      if (!like.state()->on) return whole;
      return test::placed(everyone, sharding(like.layout().on, 3), whole.extents(), salt);
    };
    test::check_linear(everyone, "in images", random, {{n, c, cells}},
                       [&](const v& one) { return convolve<1>(one[0], on_mesh(one[0], filters_of, 1), o); });
    test::check_linear(everyone, "in filters", random, {{m, c, t}},
                       [&](const v& one) { return convolve<1>(on_mesh(one[0], images_of, 2), one[0], o); });
  }
}

BOOST_AUTO_TEST_CASE(neighbours_give_the_cells_that_places_look_at, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t p = everyone.size();
  const mesh m{axis{"a", p}};
  const auto x = test::placed(everyone, m.layout("", "", "a"), {std::size_t{1}, std::size_t{1}, 8 * p}, 1);
  const auto w = test::placed(everyone, m.layout("", "", ""), {1, 1, 3}, 2);
  const auto received = [&](const auto& f) {
    const std::size_t before = detail::run_state.movement_totals.bytes;
    const auto y = f();
    BOOST_TEST((y.layout() == m.layout("", "", "a")));
    return (detail::run_state.movement_totals.bytes - before) / sizeof(long long);
  };
  const std::size_t neighbours = (everyone.id() > 0 ? 1U : 0U) + (everyone.id() + 1 < p ? 1U : 0U);
  BOOST_TEST(received([&] { return convolve<1>(x, w, {.padding = {1}}); }) == neighbours);
  BOOST_TEST(received([&] { return convolve_transposed<1>(x, w, {.padding = {1}}); }) == neighbours);
  BOOST_TEST(movements_of([&](const auto& one) { return convolve<1>(one, w, {.padding = {1}}); }, x).size() == 2U);
  BOOST_TEST(movements_of([&](const auto& one) { return convolve<1>(one, w, {.padding = {1}}); }, x)[0].bytes ==
             neighbours * sizeof(long long));
  const no_implicit_reshard written_down;
  BOOST_CHECK_THROW(convolve<1>(x, w, {.padding = {1}}), partition_error);
}

BOOST_AUTO_TEST_CASE(a_program_that_reads_wider_windows_has_the_bits_of_one_that_does_not) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto two = [](const auto& x, const auto& v, const auto& w) {
    return convolve<1>(relu(convolve<1>(x, v, {.padding = {1}})), w, {.padding = {2}});
  };
  for (const std::size_t cells :
       {std::size_t{3}, 5 * everyone.size() + 2}) {  // few: windows reach over several workers
    const auto program = trace(two, spec(m.layout("", "", "a"), {2, 2, cells}), spec(m.layout("", "", ""), {3, 2, 3}),
                               spec(m.layout("", "", ""), {2, 3, 5}));
    auto apart = program.bind<double>(everyone, {0, 1, 2});
    auto wider = program.bind<double>(everyone, {0, 1, 2}, {.wider_windows = true, .model = {.multiply_adds = 1e20}});
    const auto x = [&](std::size_t k) { return test::argument(everyone, program, k); };
    const auto y = apart(x(0), x(1), x(2));
    BOOST_TEST(test::same_blocks(wider(x(0), x(1), x(2)), y));
    const auto dy = test::made(everyone, layout_of_cotangent(y.layout()), y.extents(), 9);
    const auto expected = apart.backward(dy), gradients = wider.backward(dy);
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(test::same_blocks(expected[k], gradients[k]));
  }
}

BOOST_AUTO_TEST_CASE(images_and_filters_of_other_channels_are_refused) {
  for (std::size_t images = 1; images <= 4; ++images)
    for (std::size_t first = 1; first <= 4; ++first)
      for (std::size_t second = 1; second <= 4; ++second) {
        const tensor x = test::plain({2, images, 5}, 1), w = test::plain({first, second, 3}, 2);
        const auto is_refused = [](auto call) { return !test::refused<shape_error>(call).empty(); };
        BOOST_TEST(is_refused([&] { (void)convolve<1>(x, w); }) == (images != second));
        BOOST_TEST(is_refused([&] { (void)convolve<1, 2>(x, w); }) == (images != 2 * second || first % 2 != 0));
        BOOST_TEST(is_refused([&] { (void)convolve_transposed<1>(x, w); }) == (images != first));
      }
}

/// Extents, strides and paddings for which a result has no cell or position are refused, and all others are taken.
BOOST_AUTO_TEST_CASE(convolutions_without_a_position_and_transposed_ones_without_a_cell_are_refused) {
  const auto takes = [](auto call) { return test::refused<shape_error>(call).empty(); };
  const tensor w = test::plain({1, 1, 3}, 2);
  for (std::size_t n = 1; n <= 4; ++n)
    for (std::size_t padding = 0; padding <= 3; ++padding)
      for (std::size_t stride = 1; stride <= 2; ++stride) {
        const tensor x = test::plain({1, 1, n}, 1);
        BOOST_TEST(takes([&] { (void)convolve<1>(x, w, {.stride = {stride}, .padding = {padding}}); }) ==
                   (3 <= n + 2 * padding));
        for (std::size_t more = 0; more <= 2; ++more)
          BOOST_TEST(takes([&] {
                       (void)convolve_transposed<1>(
                           x, w, {.stride = {stride}, .padding = {padding}, .output_padding = {more}});
                     }) == (more < stride && (n - 1) * stride + 3 + more > 2 * padding));
      }
}
