// Operations on tensors of complex numbers, and their gradients, equal those on whole arrays for all layouts.
#include "check_complex.hpp"

#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/select_if.hpp>

using namespace partita;

namespace {

using v = std::vector<sharded_tensor<test::complex>>;
using test::complex;

}  // namespace

BOOST_AUTO_TEST_CASE(the_parts_of_a_complex_tensor_are_real_tensors) {
  // [parts]
  const xt::xtensor<complex, 1> z{complex(3, 4), complex(0, -2)};
  const xt::xtensor<double, 1> re = real(z), im = imag(z), size = abs(z), angles = angle(z);
  const xt::xtensor<complex, 1> again = to_complex(re, im);
  // |z|² increases most in the direction of z: the gradient is 2 z
  const auto [loss, gradients] = value_and_gradient([](const auto& x) { return sum(square(abs(x))); }, z);
  // [/parts]
  BOOST_TEST((re == xt::xtensor<double, 1>{3, 0}));
  BOOST_TEST((im == xt::xtensor<double, 1>{4, -2}));
  BOOST_TEST((size == xt::xtensor<double, 1>{5, 2}));
  BOOST_TEST(angles(1) == -std::acos(0.0));
  BOOST_TEST((again == z));
  BOOST_TEST((to_complex(re) == xt::xtensor<complex, 1>{complex(3), complex(0)}));
  BOOST_TEST((partita::real(multiply(z, conj(z))) == xt::xtensor<double, 1>{25, 4}));
  BOOST_TEST(loss == 29);
  BOOST_TEST((std::get<0>(gradients) == xt::xtensor<complex, 1>{complex(6, 8), complex(0, -4)}));
  const xt::xtensor<complex, 1> zero{complex(0)};
  const auto at_zero = [&](auto f) { return std::get<0>(value_and_gradient(f, zero).gradients)(0); };
  BOOST_TEST(at_zero([](const auto& x) { return sum(abs(x)); }) == complex(0));
  BOOST_TEST(at_zero([](const auto& x) { return sum(angle(x)); }) == complex(0));
}

BOOST_AUTO_TEST_CASE(linear_operations_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(27);
  constexpr test::operation_law<> linear{.is_linear = true};
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    const std::size_t a = random() % 7, b = random() % 7, c = random() % 4;
    const auto check = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<complex>(everyone, name, random, extents, f, linear);
    };
    check("add", {{a, b}, {a, b}}, [](const v& x) { return subtract(add(x[0], x[1]), multiply(x[1], 3)); });
    check("conj", {{a, b}}, [](const v& x) { return conj(x[0]); });
    check("real", {{a, b}}, [](const v& x) { return partita::real(x[0]); });
    check("imag", {{a, b}}, [](const v& x) { return partita::imag(x[0]); });
    check("to_complex", {{a, b}, {a, b}},
          [](const v& x) { return to_complex(partita::imag(x[0]), partita::real(x[1])); });
    check("to_complex of one", {{a, b}}, [](const v& x) { return to_complex(partita::imag(x[0])); });
    // one value read as complex, and by its parts, in another order than it was made
    check("both", {{a, b}, {a, b}}, [](const v& x) {
      const auto s = add(x[0], x[1]);
      const auto re = partita::real(s);
      const auto t = add(to_complex(partita::imag(s), re), conj(s));
      return add(partita::imag(t), multiply(re, 2));
    });
    check("sum", {{a, b, c}}, [](const v& x) { return sum(x[0], dimensions<1>); });
    check("sum of all", {{a, b}}, [](const v& x) { return sum(x[0]); });
    check("transpose", {{a, b}}, [](const v& x) { return transpose(x[0]); });
    check("slice", {{a, b}}, [&](const v& x) { return slice(x[0], dimensions<0>, {0, a}); });
  }
}

BOOST_AUTO_TEST_CASE(products_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(28);
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    const std::size_t a = random() % 7, b = random() % 7, c = random() % 4;
    const auto check = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<complex>(everyone, name, random, extents, f);
    };
    check("multiply", {{a, b}, {a, b}}, [](const v& x) { return multiply(x[0], x[1]); });
    check("multiply, broadcast", {{a, b}, {1, b}}, [](const v& x) { return x[0] * x[1]; });
    check("square", {{a, b}}, [](const v& x) { return square(x[0]); });
    check("norm", {{a, b}}, [](const v& x) { return partita::real(multiply(x[0], conj(x[0]))); });
    check("matmul", {{a, b}, {b, c}}, [](const v& x) { return matmul(x[0], x[1]); });
    test::check_elements<std::complex<float>>(everyone, "matmul of float", random, {{a, b}, {b, c}},
                                              [](const auto& x) { return matmul(x[0], conj(x[1])); });
    check("product of waves", {{a, b, c}, {b, a, c}}, [](const v& x) { return einsum<"bix,iox->box">(x[0], x[1]); });
    check("einsum", {{a, b, c}, {b, c}}, [](const v& x) { return einsum<"abc,bc->ab">(x[0], x[1]); });
    check("matmul of parts", {{a, b}},
          [](const v& x) { return matmul(partita::real(transpose(x[0])), partita::imag(x[0])); });
    check("where", {{a, b}, {a, b}, {a, b}}, [](const v& x) { return where(x[0], x[1], x[2]); });
    check("where of a real condition", {{a, b}, {a, b}, {a, b}},
          [](const v& x) { return where(greater(partita::imag(x[0]), 0), x[1], where(partita::real(x[2]), 1, x[0])); });
    check("equal_to", {{a, b}, {a, b}}, [](const v& x) { return multiply(equal_to(x[0], x[1]), x[1]); });
    test::check_elements<complex>(everyone, "abs", random, {{a, b}}, [](const v& x) { return abs(x[0]); },
                                  {.tolerance = 1e-13});
    test::check_elements<complex>(everyone, "abs of pending sums", random, {{a, b}, {b, c}},
                                  [](const v& x) { return abs(matmul(x[0], x[1])); }, {.tolerance = 1e-13});
    test::check_elements<complex>(everyone, "angle", random, {{a, b}}, [](const v& x) { return angle(x[0]); },
                                  {.tolerance = 1e-13});
    test::check_elements<complex>(everyone, "divide", random, {{a, b}, {a, b}},
                                  [](const v& x) { return divide(x[0], add(x[1], 100)); }, {.tolerance = 1e-13});
    test::check_elements<complex>(everyone, "exp", random, {{a, b}}, [](const v& x) { return exp(x[0]); },
                                  {.tolerance = 1e-11});
    test::check_elements<complex>(everyone, "mean", random, {{a, b, c + 1}},
                                  [](const v& x) { return mean(x[0], dimensions<2>); }, {.tolerance = 1e-13});
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_the_slopes_along_both_axes) {
  const xt::xtensor<complex, 1> z{complex(0.3, 0.4), complex(-1.1, 0.7), complex(0.2, -1.3), complex(-0.6, -0.8)};
  const xt::xtensor<complex, 1> w{complex(1, 2), complex(-1, 1), complex(2, 1), complex(0.5, -3)};
  const auto check = [&](const char* name, auto f) {
    test::check_differences(name, z, [&](const auto& x) {
      const auto y = multiply(detail::as_run_time(w), f(detail::as_run_time(x)));
      const auto loss = add(sum(partita::real(y)), sum(square(partita::imag(y))));
      if constexpr (ranked_array<decltype(x)>) return detail::as_array<0>(loss);
      else return loss;
    });
  };
  check("multiply", [&](const auto& x) { return multiply(x, x); });
  check("divide", [&](const auto& x) { return divide(detail::as_run_time(w), x); });
  check("number over", [&](const auto& x) { return divide(2, x); });
  check("exp", [](const auto& x) { return exp(x); });
  check("log", [](const auto& x) { return log(x); });
  check("sqrt", [](const auto& x) { return sqrt(x); });
  check("square", [](const auto& x) { return square(x); });
  check("tanh", [](const auto& x) { return tanh(x); });
  check("sin", [](const auto& x) { return sin(x); });
  check("cos", [](const auto& x) { return cos(x); });
  check("tan", [](const auto& x) { return tan(x); });
  check("rsqrt", [](const auto& x) { return rsqrt(x); });
  check("reciprocal", [](const auto& x) { return reciprocal(x); });
  check("conj", [](const auto& x) { return conj(x); });
  check("parts", [](const auto& x) { return to_complex(abs(x), angle(x)); });
  check("product", [](const auto& x) { return einsum<"a,b->a">(x, conj(exp(x))); });
}

BOOST_AUTO_TEST_CASE(reductions_by_products_and_running_sums_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(29);
  for (std::size_t k = 0; k < test::random_cases(8); ++k) {
    const std::size_t a = random() % 4, b = random() % 4;
    test::check_elements<complex>(everyone, "product_of", random, {{a, b}},
                                  [](const v& x) { return product_of(x[0], dimensions<1>); }, {.tolerance = 1e-9});
    test::check_elements<complex>(everyone, "cumsum", random, {{a, b}},
                                  [](const v& x) { return cumsum(x[0], dimensions<0>); }, {.is_linear = true});
    test::check_elements<complex>(everyone, "cumprod", random, {{a, b}},
                                  [](const v& x) { return cumprod(x[0], dimensions<0>); }, {.tolerance = 1e-9});
    test::check_elements<complex>(everyone, "variance", random, {{a + 2, b}},
                                  [](const v& x) { return variance(x[0], dimensions<0>); }, {.tolerance = 1e-12});
  }
}

BOOST_AUTO_TEST_CASE(products_of_all_before_and_variances_have_the_values_and_gradients_of_their_formulas) {
  // torch.cumprod(z, 0), torch.var(z, 0), and the gradients of (w * y).real.sum() and of the variance
  const xt::xtensor<complex, 1> z{complex(1, 1), complex(0, 2), complex(0, 0), complex(3, -1)};
  const xt::xtensor<complex, 1> products{complex(1, 1), complex(-2, 2), complex(0, 0), complex(0, 0)};
  BOOST_TEST((cumprod(z, dimensions<0>) == products));
  const auto of_products = [](const auto& x) { return sum(partita::real(cumprod(x, dimensions<0>))); };
  const auto of_variance = [](const auto& x) { return variance(x, dimensions<0>); };
  const auto by_product = std::get<0>(value_and_gradient(of_products, z).gradients);
  BOOST_TEST((by_product == xt::xtensor<complex, 1>{complex(1, -2), complex(1, -1), complex(-6, -10), complex(0, 0)}));
  const auto [value, gradients] = value_and_gradient(of_variance, z);
  BOOST_TEST(std::abs(value - 11.0 / 3) < 1e-15);
  const xt::xtensor<complex, 1> distances{complex(0, 0.5), complex(-1, 1.5), complex(-1, -0.5), complex(2, -1.5)};
  BOOST_TEST(xt::amax(xt::abs(std::get<0>(gradients) - distances * 2.0 / 3.0))() < 1e-15);
}

BOOST_AUTO_TEST_CASE(moved_selected_and_scattered_elements_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(30);
  constexpr test::operation_law<> linear{.is_linear = true};
  const xt::xtensor<std::size_t, 1> rows{2, 0, 2};
  for (std::size_t k = 0; k < test::random_cases(5); ++k) {
    const std::size_t a = 3 + random() % 4, b = 1 + random() % 5;
    const auto check = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<complex>(everyone, name, random, extents, f, linear);
    };
    check("pad", {{a, b}}, [](const v& x) { return pad(x[0], dimensions<0, 1>, {1, 2}, {0, 1}); });
    check("concatenate", {{a, b}, {2, b}}, [](const v& x) { return concatenate(dimensions<0>, x[0], x[1]); });
    check("stack", {{a, b}, {a, b}}, [](const v& x) { return stack(dimensions<1>, x[0], x[1]); });
    check("flip, roll", {{a, b}}, [](const v& x) { return flip(roll(x[0], dimensions<0>, 1), dimensions<1>); });
    check("tril", {{a, b}}, [](const v& x) { return tril(x[0]); });
    check("take", {{a, b}}, [&](const v& x) { return take(x[0], rows, dimensions<0>); });
    check("lookup", {{a, b}}, [&](const v& x) { return lookup(x[0], rows); });
    check("drop", {{a, b}}, [](const v& x) { return apply_dropout(x[0], {.probability = 0.5, .seed = 3}, 1); });
    // indices are tensors of the type of x, on its mesh
    const auto like = [&](const sharded_tensor<complex>& x, const shape_list& e, auto f) {
      const sharding whole(x.layout().on, e.size());
      const auto element = [&](const auto& i) { return complex(static_cast<double>(f(i))); };
      if (x.state()->on) return shard<complex>(everyone, whole, e, element);
      auto y = test::plain<complex>(e, 0);
      y.for_each_local([&](const auto& i, complex& at) { at = element(i); });
      return y;
    };
    const auto index = [](const auto& i) { return i[0] * 2 % 3; };
    check("take, of a tensor", {{a, b}}, [&](const v& x) { return take(x[0], like(x[0], {4}, index), dimensions<0>); });
    check("take_along_axis", {{a, b}}, [&](const v& x) {
      return take_along_axis(x[0], like(x[0], {4, b}, index), dimensions<0>);
    });
    check("gather_nd", {{a, b}}, [&](const v& x) { return gather_nd<1>(x[0], like(x[0], {4, 1}, index)); });
    // rows of a tensor on a mesh, and of an array
    const mesh line{axis{"a", everyone.size()}};
    const xt::xtensor<complex, 1> z = xt::arange<double>(double(a)) * complex(1, -1);
    const xt::xtensor<int, 1> keep = xt::cast<int>(xt::arange<int>(int(a)) % 2);
    const auto kept = select_if(shard(everyone, line.layout("a"), z), shard(everyone, line.layout("a"), keep));
    BOOST_TEST((reshard(kept, sharding(line, 1)).whole<1>() == select_if(z, keep)));
    check("scatter_add", {{a, b}, {2, b}},
          [&](const v& x) { return scatter_add(x[0], like(x[0], {2}, index), x[1], dimensions<0>); });
    check("scatter", {{a, b}, {2, b}},
          [&](const v& x) { return scatter(x[0], like(x[0], {2}, index), x[1], dimensions<0>); });
  }
}

BOOST_AUTO_TEST_CASE(steps_conditions_and_indices_of_complex_elements_are_alike_in_all_ways, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<complex, 2> z({5, 3});
  for (std::size_t k = 0; k < z.size(); ++k) z.data()[k] = complex(double(k * 7 % 5) - 2, double(k * 3 % 4) - 1);
  const auto f = [](const auto& x) {
    const auto steps = scan([](const auto& u, const auto& p) { return add(multiply(u, p), conj(u)); }, x, 2, x);
    const auto some = where(greater(partita::real(x), 0.0), steps, conj(x));
    const auto column = partita::squeeze(slice(x, dimensions<1>, {0, 1}), dimensions<1>);
    const auto rows = select_if(some, partita::real(column), 2);
    const auto places = multiply(slice(column, dimensions<0>, {0, 1}), 0);  // one index: 0
    return add(scatter(rows, places, slice(x, dimensions<0>, {4, 5}), dimensions<0>),
               take(some, places, dimensions<0>));
  };
  const auto loss = [](const auto& y) { return add(sum(partita::real(multiply(y, conj(y)))), sum(partita::imag(y))); };
  const auto of = [&](const auto& g) { return [&](const auto& x) { return loss(g(x)); }; };
  const auto known = value_and_gradient(of(f), z);
  const auto& gradient = std::get<0>(known.gradients);
  for (std::size_t k = 0; k < z.size(); ++k)
    for (const complex along : {complex(1, 0), complex(0, 1)}) {
      auto more = z, less = z;  // the steps change no condition
      more.data()[k] += 1e-6 * along;
      less.data()[k] -= 1e-6 * along;
      const auto value = [&](const auto& x) { return value_and_gradient(of(f), x).value; };
      if (z.data()[k].real() == 0 && along.real() != 0) continue;
      const double slope = (value(more) - value(less)) / 2e-6;
      const double there = along.real() != 0 ? gradient.data()[k].real() : gradient.data()[k].imag();
      BOOST_TEST(std::abs(slope - there) < 1e-6 * (1 + std::abs(there)), k << ": " << slope << ' ' << there);
    }
  const auto expect = [&](double value, const sharded_tensor<complex>& dx) {
    const auto dz = reshard(dx, m.layout("", ""));
    BOOST_TEST((everyone.id() >= 4 || (value == known.value && dz.whole<2>() == gradient)));
  };
  const auto Z = shard(everyone, m.layout("data", "model"), z);
  const auto typed = shard<m.layout("data", "model")>(everyone, z);
  const auto of_tensor = value_and_gradient(of(f), Z);
  expect(of_tensor.value, std::get<0>(of_tensor.gradients));
  const auto of_typed = value_and_gradient(of(f), typed);
  expect(of_typed.value, std::get<0>(of_typed.gradients).run_time_tensor());
  const auto of_program = value_and_gradient(of(trace<complex>(f, spec(m.layout("data", "model"), {5, 3}))), Z);
  expect(of_program.value, std::get<0>(of_program.gradients));
}

BOOST_AUTO_TEST_CASE(parts_of_other_extents_are_refused) {
  const xt::xtensor<double, 2> re{{1, 2}, {3, 4}}, im{{1, 2}};
  BOOST_CHECK_THROW(to_complex(re, im), shape_error);
  BOOST_CHECK_THROW(to_complex(im, re), shape_error);
}

BOOST_AUTO_TEST_CASE(arrays_types_and_programs_have_the_same_complex_values, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<complex, 2> z({5, 3}), w({3, 4});
  for (std::size_t k = 0; k < z.size(); ++k) z.data()[k] = complex(static_cast<double>(k) - 4, 3 - double(k % 5));
  for (std::size_t k = 0; k < w.size(); ++k) w.data()[k] = complex(2 - static_cast<double>(k % 3), double(k % 4));
  const auto f = [](const auto& a, const auto& b) {
    const auto y = matmul(conj(a), b);
    return add(multiply(y, to_complex(partita::imag(y), partita::real(y))), to_complex(partita::real(y)));
  };
  const auto y = detail::as_array<2>(f(detail::as_run_time(z), detail::as_run_time(w)));
  const auto Z = shard<m.layout("data", "model")>(everyone, z);
  const auto W = shard<m.layout("model", "")>(everyone, w);
  const auto Y = f(Z, W);
  static_assert(std::is_same_v<decltype(partita::real(Z)), sharded<double, m.layout("data", "model")>>);
  static_assert(decltype(partita::real(matmul(Z, W)))::layout().is_partial());
  static_assert(!decltype(abs(matmul(Z, W)))::layout().is_partial());
  const auto all = reshard<m.layout("", "")>(Y).whole();
  // [program]
  const auto program = trace<complex>(f, spec(m.layout("data", ""), {5, 3}), spec({3, 4}));
  // [/program]
  const auto traced = reshard(program(Z, W), m.layout("", "")).whole<2>();
  const auto loss = [&](const auto& g) {
    return [&](const auto& a, const auto& b) { return sum(partita::real(g(a, b))); };
  };
  const auto [known, gradients] = value_and_gradient(loss(f), z, w);
  const auto [value, of_program] = value_and_gradient(loss(program), Z, W);
  const auto dz = reshard(std::get<0>(of_program).run_time_tensor(), m.layout("", "")).whole<2>();
  const auto dw = reshard(std::get<1>(of_program).run_time_tensor(), m.layout("", "")).whole<2>();
  auto step = program.bind<complex>(everyone, {0, 1});
  const auto bound = reshard(step(Z, W), m.layout("", "")).whole<2>();
  const auto ones = shard<complex>(everyone, step(Z, W).layout(), {5, 4}, [](const auto&) { return complex(1); });
  const auto& back = step.backward(ones);
  const auto bound_dz = reshard(back[0], m.layout("", "")).whole<2>();
  if (everyone.id() >= 4) return;
  BOOST_TEST((all == y));
  BOOST_TEST((traced == y));
  BOOST_TEST((bound == y));
  BOOST_TEST(value == known);
  BOOST_TEST((dz == std::get<0>(gradients)));
  BOOST_TEST((dw == std::get<1>(gradients)));
  BOOST_TEST((bound_dz == std::get<0>(gradients)));
}
