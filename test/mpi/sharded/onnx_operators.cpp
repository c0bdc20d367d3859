// Operators of ONNX that the library composes of others, as docs/coming-from-onnx.md writes them: each has the values
// of its definition, a loop, on tensors and in traced programs, those of matrices also on arrays.
#include "layouts.hpp"

#include <algorithm>
#include <cmath>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;
using images = xt::xtensor<double, 4>;
using tensor = sharded_tensor<double>;

/// Small numbers, of which some are 0 and most are positive.
template <std::size_t N>
xt::xtensor<double, N> numbers(const std::array<std::size_t, N>& shape, std::size_t salt) {
  xt::xtensor<double, N> x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((7 * k + 3 * salt) % 10) / 4 - 0.75;
  return x;
}
template <std::size_t N>
xt::xtensor<double, N> whole(const tensor& x) {
  return reshard(x, sharding(x.layout().on, x.rank())).template whole<N>();
}
template <class X>
bool is_close(const X& a, const X& b, double tolerance = 1e-13) {
  bool all = a.shape() == b.shape();
  for (std::size_t k = 0; all && k < a.size(); ++k)
    all = std::abs(a.data()[k] - b.data()[k]) <= tolerance * (1 + std::abs(b.data()[k]));
  return all;
}

// Each row has a name, element (i, j) of its definition, and the composition as the page writes it.
#define COMPOSITIONS(ROW)                                                                                         \
  ROW(And, x(i, j) != 0 && y(i, j) != 0, multiply(not_equal_to(x, 0), not_equal_to(y, 0)))                        \
  ROW(Or, x(i, j) != 0 || y(i, j) != 0, maximum(not_equal_to(x, 0), not_equal_to(y, 0)))                          \
  ROW(Xor, (x(i, j) != 0) != (y(i, j) != 0), not_equal_to(equal_to(x, 0), equal_to(y, 0)))                        \
  ROW(Not, x(i, j) == 0, equal_to(x, 0))                                                                          \
  ROW(Neg, -x(i, j), multiply(x, -1))                                                                             \
  ROW(Mean, (x(i, j) + y(i, j)) / 2, divide(add(x, y), 2))                                                        \
  ROW(HardSigmoid, std::clamp(0.2 * x(i, j) + 0.5, 0.0, 1.0), clip(add(multiply(x, 0.2), 0.5), 0, 1))             \
  ROW(Shrink, shrunk(x(i, j)), where(greater(abs(x), 0.5), subtract(x, multiply(sign(x), 0.25)), 0))              \
  ROW(PRelu, x(i, j) < 0 ? x(i, j) * y(i, j) : x(i, j), where(less(x, 0), multiply(x, y), x))                     \
  ROW(ReduceL1, row(x, i, [](double a) { return std::abs(a); }), sum(abs(x), dimensions<1>, keep_dimensions))     \
  ROW(ReduceL2, std::sqrt(row(x, i, square_of)), sqrt(sum(square(x), dimensions<1>, keep_dimensions)))            \
  ROW(ReduceSumSquare, row(x, i, square_of), sum(square(x), dimensions<1>, keep_dimensions))                      \
  ROW(ReduceLogSum, std::log(row(x, i, [](double a) { return a; })), log(sum(x, dimensions<1>, keep_dimensions))) \
  ROW(LpNormalization, x(i, j) / std::sqrt(row(x, i, square_of)),                                                 \
      divide(x, sqrt(sum(square(x), dimensions<1>, keep_dimensions))))                                            \
  ROW(MeanVarianceNormalization, normal(x, i, j),                                                                 \
      divide(subtract(x, mean(x, dimensions<1>, keep_dimensions)),                                                \
             sqrt(unsqueeze(variance(x, dimensions<1>, 0), dimensions<1>))))                                      \
  ROW(Hardmax, is_first_largest(x, i, j), one_hot(argmax(x, dimensions<1>), 4))                                   \
  ROW(QuantizeLinear, std::clamp(std::nearbyint(x(i, j) / 0.25) + 3, 0.0, 255.0),                                 \
      clip(add(round(divide(x, 0.25)), 3), 0, 255))                                                               \
  ROW(DequantizeLinear, (x(i, j) - 3) * 0.25, multiply(subtract(x, 3), 0.25))                                     \
  ROW(Gemm, 0.5 * product(x, y, i, j) + 2, add(multiply(matmul(x, transpose(y)), 0.5), 2))                        \
  ROW(CenterCropPad, j == 0 || j == 5 ? 0 : x(i + 1, j - 1),                                                      \
      pad(slice(x, dimensions<0>, {1, 3}), dimensions<1>, {1, 1}))                                                \
  ROW(EyeLike, i == j, tril(triu(add(multiply(x, 0), 1))))

constexpr auto square_of = [](double a) { return a * a; };
template <class F>
double row(const matrix& x, std::size_t i, F f) {
  double all = 0;
  for (std::size_t j = 0; j < x.shape(1); ++j) all += f(x(i, j));
  return all;
}
double shrunk(double a) { return std::abs(a) <= 0.5 ? 0 : a < 0 ? a + 0.25 : a - 0.25; }
double normal(const matrix& x, std::size_t i, std::size_t j) {
  const double n = static_cast<double>(x.shape(1)), mean = row(x, i, [](double a) { return a; }) / n;
  return (x(i, j) - mean) / std::sqrt(row(x, i, [&](double a) { return (a - mean) * (a - mean); }) / n);
}
bool is_first_largest(const matrix& x, std::size_t i, std::size_t j) {
  for (std::size_t k = 0; k < x.shape(1); ++k)
    if (k < j ? x(i, k) >= x(i, j) : x(i, k) > x(i, j)) return false;
  return true;
}
double product(const matrix& x, const matrix& y, std::size_t i, std::size_t j) {
  double all = 0;
  for (std::size_t k = 0; k < x.shape(1); ++k) all += x(i, k) * y(j, k);
  return all;
}

struct composition {
  const char* name;
  double (*element)(const matrix&, const matrix&, std::size_t, std::size_t);
};
#define ROW(name, element, ...)                                                                           \
  {#name,                                                                                                 \
   []([[maybe_unused]] const matrix& x, [[maybe_unused]] const matrix& y, [[maybe_unused]] std::size_t i, \
      [[maybe_unused]] std::size_t j) -> double { return element; }},
constexpr composition compositions[] = {COMPOSITIONS(ROW)};
#undef ROW

/// What functions of arrays give is computed when it is read, and has a type of its own for each function.
template <class Y>
auto computed_at_once(const Y& y) {
  if constexpr (ranked_array<Y>) return matrix(y);
  else return y;
}
/// The composition of this row, chosen at run time, so that all are compiled as one program.
template <class X>
auto of_row(std::size_t number, const X& x, [[maybe_unused]] const X& y) {
  std::size_t k = 0;
#define ROW(name, element, ...) \
  if (k++ == number) return computed_at_once(__VA_ARGS__);
  COMPOSITIONS(ROW)
#undef ROW
  throw std::logic_error("no such row");
}

// [depth]
/// n x (b b c) x h x w becomes n x c x (h b) x (w b): each cell gets b x b cells from its channels (ONNX's mode DCR).
const auto depth_to_space = [](const auto& x, std::size_t b) {
  const shape_list e = x.extents();
  const std::size_t n = e[0], c = e[1] / (b * b), h = e[2], w = e[3];
  const auto apart = transpose(reshape(x, shape_list{n, b, b, c, h, w}), permute<0, 3, 4, 1, 5, 2>);
  return reshape(apart, shape_list{n, c, h * b, w * b});
};
/// The inverse: the cells of each b x b square become channels of one cell.
const auto space_to_depth = [](const auto& x, std::size_t b) {
  const shape_list e = x.extents();
  const std::size_t n = e[0], c = e[1], h = e[2] / b, w = e[3] / b;
  const auto apart = transpose(reshape(x, shape_list{n, c, h, b, w, b}), permute<0, 3, 5, 1, 2, 4>);
  return reshape(apart, shape_list{n, b * b * c, h, w});
};
// [/depth]

#define COMPOSITIONS_OF_IMAGES(ROW)                                                                                   \
  ROW(DepthToSpace, x(n, (i % 2 * 2 + j % 2) * 2 + c, i / 2, j / 2), depth_to_space(x, 2))                            \
  ROW(SpaceToDepth, x(n, c % 8, i * 2 + c / 8 / 2, j * 2 + c / 8 % 2), space_to_depth(x, 2))                          \
  ROW(GlobalLpPool, std::sqrt(squares(x, n, c, 0, 4, 0, 6)), sqrt(sum(square(x), dimensions<2, 3>, keep_dimensions))) \
  ROW(LpPool, std::sqrt(squares(x, n, c, 2 * i, 2 * i + 2, 2 * j, 2 * j + 2)),                                        \
      sqrt(multiply(average_pool<2>(square(x), {.kernel = {2, 2}}), 4)))                                              \
  ROW(LRN, x(n, c, i, j) / std::pow(2 + 0.5 / 4 * near(x, n, c, i, j), 0.75),                                         \
      normalise_locally(x, {.size = 4, .alpha = 0.5, .beta = 0.75, .k = 2}))

double squares(const images& x, std::size_t n, std::size_t c, std::size_t i, std::size_t i_end, std::size_t j,
               std::size_t j_end) {
  double all = 0;
  for (; i < i_end; ++i)
    for (std::size_t k = j; k < j_end; ++k) all += x(n, c, i, k) * x(n, c, i, k);
  return all;
}
/// The squares of one channel before, this one and two after it.
double near(const images& x, std::size_t n, std::size_t c, std::size_t i, std::size_t j) {
  double all = 0;
  for (std::size_t k = c == 0 ? 0 : c - 1; k < std::min<std::size_t>(c + 3, x.shape(1)); ++k)
    all += x(n, k, i, j) * x(n, k, i, j);
  return all;
}
struct composition_of_images {
  const char* name;
  double (*element)(const images&, std::size_t, std::size_t, std::size_t, std::size_t);
};
#define ROW(name, element, ...)                                                                         \
  {#name,                                                                                               \
   []([[maybe_unused]] const images& x, [[maybe_unused]] std::size_t n, [[maybe_unused]] std::size_t c, \
      [[maybe_unused]] std::size_t i, [[maybe_unused]] std::size_t j) -> double { return element; }},
constexpr composition_of_images compositions_of_images[] = {COMPOSITIONS_OF_IMAGES(ROW)};
#undef ROW
template <class X>
auto of_image_row(std::size_t number, const X& x) {
  std::size_t k = 0;
#define ROW(name, element, ...) \
  if (k++ == number) return X(__VA_ARGS__);
  COMPOSITIONS_OF_IMAGES(ROW)
#undef ROW
  throw std::logic_error("no such row");
}

// [recurrent]
/// The step `t` of an LSTM whose state is (h, c): x is steps x batch x in, w (4 hidden) x in, r (4 hidden) x hidden,
/// and the gates are in the order of ONNX.
const auto lstm = [](std::size_t t, const auto& state, const auto& x, const auto& w, const auto& r, const auto& b) {
  const auto& [h, c] = state;
  const auto now = squeeze(slice(x, dimensions<0>, {t, t + 1}), dimensions<0>);
  const auto gates = add(add(matmul(now, transpose(w)), matmul(h, transpose(r))), b, broadcast_dimensions<1>);
  const auto [in, out, forget, cell] = split<4>(gates, dimensions<1>);
  const auto next = add(multiply(sigmoid(forget), c), multiply(sigmoid(in), tanh(cell)));
  return std::tuple{multiply(sigmoid(out), tanh(next)), next};
};
/// The step `t` of a GRU whose state is h (ONNX's linear_before_reset = 1, as in PyTorch).
const auto gru = [](std::size_t t, const auto& h, const auto& x, const auto& w, const auto& r, const auto& b) {
  const auto now = squeeze(slice(x, dimensions<0>, {t, t + 1}), dimensions<0>);
  const auto [xz, xr, xn] = split<3>(add(matmul(now, transpose(w)), b, broadcast_dimensions<1>), dimensions<1>);
  const auto [hz, hr, hn] = split<3>(matmul(h, transpose(r)), dimensions<1>);
  const auto z = sigmoid(add(xz, hz)), reset = sigmoid(add(xr, hr));
  return add(multiply(subtract(1, z), tanh(add(xn, multiply(reset, hn)))), multiply(z, h));
};
/// The last hidden state of each.
const auto last_of_lstm = [](const auto& h, const auto& x, const auto& w, const auto& r, const auto& b) {
  return std::get<0>(scan(lstm, std::tuple{h, h}, 4, x, w, r, b));
};
const auto last_of_gru = [](const auto& h, const auto& x, const auto& w, const auto& r, const auto& b) {
  return scan(gru, h, 4, x, w, r, b);
};
// [/recurrent]

using cube = xt::xtensor<double, 3>;
using line = xt::xtensor<double, 1>;
double logistic(double a) { return 1 / (1 + std::exp(-a)); }
/// The definitions, one number after the other.
matrix defined(bool is_lstm, matrix h, const cube& x, const matrix& w, const matrix& r, const line& b) {
  const std::size_t hidden = h.shape(1);
  matrix c = h;
  for (std::size_t t = 0; t < x.shape(0); ++t) {
    const matrix before = h;
    for (std::size_t n = 0; n < h.shape(0); ++n)
      for (std::size_t k = 0; k < hidden; ++k) {
        double of_x[4] = {}, of_h[4] = {};
        for (std::size_t g = 0; g < (is_lstm ? 4U : 3U); ++g) {
          of_x[g] = b(g * hidden + k);
          for (std::size_t q = 0; q < x.shape(2); ++q) of_x[g] += x(t, n, q) * w(g * hidden + k, q);
          for (std::size_t q = 0; q < hidden; ++q) of_h[g] += before(n, q) * r(g * hidden + k, q);
        }
        const auto gate = [&](std::size_t g) { return logistic(of_x[g] + of_h[g]); };
        if (is_lstm) {
          c(n, k) = gate(2) * c(n, k) + gate(0) * std::tanh(of_x[3] + of_h[3]);
          h(n, k) = gate(1) * std::tanh(c(n, k));
        } else {
          h(n, k) = (1 - gate(0)) * std::tanh(of_x[2] + gate(1) * of_h[2]) + gate(0) * before(n, k);
        }
      }
  }
  return h;
}

template <class F>
void check_recurrent(const world& everyone, std::mt19937& random, bool is_lstm, const F& f) {
  const std::size_t gates = is_lstm ? 4 : 3, hidden = 3;
  const matrix h = numbers<2>({2, hidden}, 1), w = numbers<2>({gates * hidden, 2}, 3),
               r = numbers<2>({gates * hidden, hidden}, 4);
  const cube x = numbers<3>({4, 2, 2}, 2);
  const line b = numbers<1>({gates * hidden}, 5);
  const matrix y = defined(is_lstm, h, x, w, r, b);
  // the derivatives by w as differences of the definition
  matrix dw = w;
  for (std::size_t k = 0; k < w.size(); ++k) {
    matrix above = w, below = w;
    above.data()[k] += 1e-5, below.data()[k] -= 1e-5;
    dw.data()[k] =
        (xt::sum(defined(is_lstm, h, x, above, r, b))() - xt::sum(defined(is_lstm, h, x, below, r, b))()) / 2e-5;
  }
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto any = [&](std::size_t rank) {
      const auto all = test::layouts(m, rank);
      return all[random() % all.size()].without_partials();
    };
    const auto H = shard(everyone, any(2), h), W = shard(everyone, any(2), w), R = shard(everyone, any(2), r);
    const auto X = shard(everyone, any(3), x);
    const auto B = shard(everyone, any(1), b);
    const auto program =
        trace(f, spec(H.layout(), H.extents()), spec(X.layout(), X.extents()), spec(W.layout(), W.extents()),
              spec(R.layout(), R.extents()), spec(B.layout(), B.extents()));
    const auto of = [&](const auto& g) {
      return value_and_gradient([&](const auto& one) { return sum(g(H, X, one, R, B)); }, W);
    };
    const matrix now = whole<2>(f(H, X, W, R, B)), then = whole<2>(program(H, X, W, R, B)),
                 d = whole<2>(std::get<0>(of(f).gradients)), e = whole<2>(std::get<0>(of(program).gradients));
    if (everyone.id() >= m.size()) continue;
    BOOST_TEST((is_close(now, y) && is_close(then, y)), X.layout());
    BOOST_TEST((is_close(d, dw, 1e-8) && is_close(e, dw, 1e-8)), W.layout());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(compositions_have_the_values_of_their_definitions) {
  const world everyone(test::workers());
  const matrix x = numbers<2>({4, 4}, 1), y = numbers<2>({4, 4}, 2);
  const mesh m{axis{"a", everyone.size()}};
  const auto X = shard(everyone, m.layout("a", ""), x), Y = shard(everyone, m.layout("", "a"), y);
  for (std::size_t k = 0; k < std::size(compositions); ++k) {
    const auto f = [k](const auto& u, const auto& v) { return of_row(k, u, v); };
    const matrix of_arrays = f(x, y);
    matrix expected = of_arrays;
    for (std::size_t i = 0; i < expected.shape(0); ++i)
      for (std::size_t j = 0; j < expected.shape(1); ++j) expected(i, j) = compositions[k].element(x, y, i, j);
    const auto program = trace(f, spec(X.layout(), X.extents()), spec(Y.layout(), Y.extents()));
    BOOST_TEST(is_close(of_arrays, expected), compositions[k].name);
    BOOST_TEST(is_close(whole<2>(f(X, Y)), expected), compositions[k].name);
    BOOST_TEST(is_close(whole<2>(program(X, Y)), expected), compositions[k].name);
  }
}

BOOST_AUTO_TEST_CASE(compositions_of_images_have_the_values_of_their_definitions) {
  const world everyone(test::workers());
  const images x = numbers<4>({2, 8, 4, 6}, 1);
  std::mt19937 random(3);
  for (std::size_t k = 0; k < std::size(compositions_of_images); ++k) {
    const mesh m{axis{"a", everyone.size()}};
    const auto all = test::layouts(m, 4);
    const auto X = shard(everyone, all[random() % all.size()].without_partials(), x);
    const auto f = [k](const auto& u) { return of_image_row(k, u); };
    const images y = whole<4>(f(X));
    images expected = y, dx = x;
    for (std::size_t n = 0; n < y.shape(0); ++n)
      for (std::size_t c = 0; c < y.shape(1); ++c)
        for (std::size_t i = 0; i < y.shape(2); ++i)
          for (std::size_t j = 0; j < y.shape(3); ++j)
            expected(n, c, i, j) = compositions_of_images[k].element(x, n, c, i, j);
    const auto program = trace(f, spec(X.layout(), X.extents()));
    BOOST_TEST(is_close(y, expected), compositions_of_images[k].name);
    BOOST_TEST(is_close(whole<4>(program(X)), expected), compositions_of_images[k].name);
    const auto of = [&](const auto& g, const tensor& at) {
      return whole<4>(std::get<0>(value_and_gradient([&](const auto& u) { return sum(square(g(u))); }, at).gradients));
    };
    const images one = of(f, shard(everyone, m.layout("", "", "", ""), x));
    BOOST_TEST((is_close(of(f, X), one) && is_close(of(program, X), one)), compositions_of_images[k].name);
    // what is only moved has twice itself as the gradient of the sum of its squares
    BOOST_TEST((k > 1 || is_close(one, images(2 * x))), compositions_of_images[k].name);
  }
  BOOST_CHECK_THROW(normalise_locally(x, {.size = 0}), shape_error);
}

BOOST_AUTO_TEST_CASE(an_lstm_and_a_gru_are_scans_of_their_steps) {
  const world everyone(test::workers());
  std::mt19937 random(9);
  check_recurrent(everyone, random, true, last_of_lstm);
  check_recurrent(everyone, random, false, last_of_gru);
}
