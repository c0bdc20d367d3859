// Convolutions and pooling over three feature dimensions equal those of the whole tensors for all layouts.
#include "check_operation.hpp"

#include <partita/sharded/pool.hpp>

using namespace partita;

namespace {

using test::tensor;
using v = std::vector<tensor>;
using three = std::array<std::size_t, 3>;

/// The definition, by loops over places, channels and taps.
tensor by_definition(const tensor& x, const tensor& w, const convolve_options<3>& o) {
  const shape_list &a = x.extents(), &b = w.extents();
  three places{};
  for (std::size_t f = 0; f < 3; ++f)
    places[f] = (a[2 + f] + 2 * o.padding[f] - o.dilation[f] * (b[2 + f] - 1) - 1) / o.stride[f] + 1;
  const shape_list shape{a[0], b[0], places[0], places[1], places[2]};
  auto y = detail::tensor_of<long long>(nullptr, sharding(mesh(), 5), shape, detail::tensor_block<long long>(shape));
  const auto at = [](const tensor& t, std::size_t n, std::size_t c, const three& i) {
    const shape_list& e = t.extents();
    return t.data()[(((n * e[1] + c) * e[2] + i[0]) * e[3] + i[1]) * e[4] + i[2]];
  };
  y.for_each_local([&](const auto& i, long long& sum) {
    sum = 0;
    for (std::size_t k = 0; k < b[1] * b[2] * b[3] * b[4]; ++k) {
      const three t{k / b[4] / b[3] % b[2], k / b[4] % b[3], k % b[4]};
      const std::size_t c = k / b[4] / b[3] / b[2];
      three cell{};
      bool inside = true;
      for (std::size_t f = 0; f < 3; ++f) {
        cell[f] = i[2 + f] * o.stride[f] + t[f] * o.dilation[f] - o.padding[f];  // wraps below 0
        inside = inside && cell[f] < a[2 + f];
      }
      if (inside) sum += at(x, i[0], c, cell) * at(w, i[1], c, t);
    }
  });
  return y;
}

}  // namespace

BOOST_AUTO_TEST_CASE(convolutions_of_cubes_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(59);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    const std::size_t n = below(3), c = 1 + below(2), m = 1 + below(2);
    convolve_options<3> o;
    three taps{}, cells{};
    for (std::size_t f = 0; f < 3; ++f) {
      o.stride[f] = 1 + below(2), o.padding[f] = below(2), o.dilation[f] = 1 + below(2), taps[f] = 1 + below(2);
      cells[f] = o.dilation[f] * (taps[f] - 1) + 1 + below(4);
    }
    const auto f = [&](const v& x) { return convolve<3>(x[0], x[1], o); };
    const shape_list x{n, c, cells[0], cells[1], cells[2]}, w{m, c, taps[0], taps[1], taps[2]};
    const tensor a = test::plain(x, 1), b = test::plain(w, 2), y = f({a, b}), z = by_definition(a, b, o);
    BOOST_TEST((y.extents() == z.extents() && std::equal(y.data(), y.data() + y.size(), z.data())));
    test::check(everyone, "convolve", random, {x, w}, f);
    test::check(everyone, "convolve_transposed", random,
                {{n, m, cells[0], cells[1], cells[2]}, {m, c, taps[0] + 1, taps[1] + 1, taps[2] + 1}},
                [&](const v& one) {
                  return convolve_transposed<3>(one[0], one[1], {.stride = o.stride, .dilation = o.dilation});
                });
  }
}

BOOST_AUTO_TEST_CASE(windows_of_cubes_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(61);
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    max_pooling_options<3> o;
    three stride{}, cells{}, size{};
    for (std::size_t f = 0; f < 3; ++f) {
      o.kernel[f] = 1 + random() % 3, stride[f] = 1 + random() % 3, size[f] = 1 + random() % 4;
      o.padding[f] = random() % (o.kernel[f] / 2 + 1);
      cells[f] = o.kernel[f] + random() % 4;
    }
    o.stride = stride;
    const shape_list x{random() % 3, random() % 3, cells[0], cells[1], cells[2]};
    test::check(everyone, "max_pool", random, {x}, [&](const v& one) { return max_pool<3>(one[0], o); });
    test::check(everyone, "adaptive_max_pool", random, {x},
                [&](const v& one) { return adaptive_max_pool<3>(one[0], {.size = size}); });
    test::check_linear(everyone, "upsample", random, {x},
                       [&](const v& one) { return upsample<3>(one[0], {.size = size}); });
  }
}
