// Fourier transforms of sharded tensors, and their gradients, equal those of whole arrays for all layouts. Skipped if
// FFTW is not installed.
#include "check_complex.hpp"
#include "distance.hpp"
#include "refused.hpp"

#if __has_include(<fftw3.h>)
#include <fourier_oracle.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/fourier.hpp>
#include <partita/sharded/movements.hpp>
#include <string_view>

using namespace partita;

namespace {

using v = std::vector<sharded_tensor<test::complex>>;
using u = std::vector<sharded_tensor<double>>;
using test::complex;

/// The transform of a matrix along dimension d by its definition.
xt::xtensor<complex, 2> defined(const xt::xtensor<complex, 2>& x, std::size_t d, bool inverse) {
  xt::xtensor<complex, 2> y = xt::zeros_like(x);
  const std::size_t n = x.shape()[d];
  const auto& roots = test::roots_of_unity(n);
  for (std::size_t i = 0; i < x.shape()[0]; ++i)
    for (std::size_t j = 0; j < x.shape()[1]; ++j)
      for (std::size_t k = 0; k < n; ++k) {
        const complex root = roots[k * (d == 0 ? i : j) % n];
        y(i, j) += x(d == 0 ? k : i, d == 0 ? j : k) * (inverse ? root / static_cast<double>(n) : std::conj(root));
      }
  return y;
}
template <class A, class B>
double distance(const A& a, const B& b) {
  double most = a.size() == b.size() ? 0 : 1;
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k)
    most = std::max(most, test::distance_between(a.data()[k], b.data()[k]));
  return most;
}
xt::xtensor<complex, 2> numbers(std::size_t rows, std::size_t columns) {
  xt::xtensor<complex, 2> z({rows, columns});
  for (std::size_t k = 0; k < z.size(); ++k)
    z.data()[k] = complex(std::sin(1.3 * static_cast<double>(k)), std::cos(2.1 * static_cast<double>(k)));
  return z;
}
std::size_t reshards(const std::vector<movement>& all) {
  std::size_t n = 0;
  for (const movement& one : all) n += one.from.same_layout(one.to) ? 0U : 1U;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_wave_has_one_number_in_its_spectrum) {
  // [wave]
  const xt::xtensor<double, 1> wave{1, 0, -1, 0};  // cos(2 pi x / 4)
  const xt::xtensor<complex, 1> spectrum = fft(to_complex(wave), dimensions<0>), half = rfft(wave, dimensions<0>);
  const xt::xtensor<double, 1> again = irfft(half, dimensions<0>, 4);
  // [/wave]
  BOOST_TEST((spectrum == xt::xtensor<complex, 1>{complex(0), complex(2), complex(0), complex(2)}));
  BOOST_TEST((half == xt::xtensor<complex, 1>{complex(0), complex(2), complex(0)}));
  BOOST_TEST((again == wave));
  BOOST_CHECK_THROW(irfft(half, dimensions<0>, 6), shape_error);
}

BOOST_AUTO_TEST_CASE(transforms_are_those_of_the_definition) {
  for (const std::size_t rows : {1U, 4U, 7U})
    for (const std::size_t columns : {1U, 5U, 6U}) {
      const auto z = numbers(rows, columns);
      const xt::xtensor<double, 2> x = partita::real(z);
      const auto spectrum = defined(defined(z, 0, false), 1, false);
      const auto half = defined(defined(to_complex(x), 0, false), 1, false);
      BOOST_TEST(distance(fft(z, dimensions<0>), defined(z, 0, false)) < 1e-13);
      BOOST_TEST(distance(fft(z, dimensions<0, 1>), spectrum) < 1e-12);
      BOOST_TEST(distance(ifft(z, dimensions<1>), defined(z, 1, true)) < 1e-13);
      BOOST_TEST(distance(ifft(fft(z, dimensions<1, 0>), dimensions<0, 1>), z) < 1e-14);
      const auto y = rfft(x, dimensions<0, 1>);
      BOOST_TEST(y.shape()[1] == columns / 2 + 1);
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j <= columns / 2; ++j) BOOST_TEST(std::abs(y(i, j) - half(i, j)) < 1e-12);
      BOOST_TEST(distance(irfft(y, dimensions<0, 1>, columns), x) < 1e-14);
      using enum fourier_norm;
      BOOST_TEST(distance(irfft(rfft(x, dimensions<1, 0>, ortho), dimensions<1, 0>, rows, ortho), x) < 1e-14);
      BOOST_TEST(distance(ifft(fft(z, dimensions<0>, forward), dimensions<0>, forward), z) < 1e-14);
    }
}

BOOST_AUTO_TEST_CASE(cosine_and_sine_transforms_are_those_of_the_definition) {
  const std::array cosines{real_transform::dct_1, real_transform::dct_2, real_transform::dct_3, real_transform::dct_4};
  const std::array sines{real_transform::dst_1, real_transform::dst_2, real_transform::dst_3, real_transform::dst_4};
  for (const std::size_t n : {2U, 5U, 8U})
    for (std::size_t type = 1; type <= 4; ++type)
      for (const fourier_norm norm : {fourier_norm::backward, fourier_norm::ortho, fourier_norm::forward}) {
        const xt::xtensor<double, 2> x = partita::real(numbers(3, n));
        const auto check = [&](const xt::xtensor<double, 2>& y, real_transform kind, bool inverse) {
          for (std::size_t i = 0; i < 3; ++i) {
            std::vector<complex> row(n);
            for (std::size_t j = 0; j < n; ++j) row[j] = x(i, j);
            const auto known = test::line(detail::line_kind::real_to_real, kind, inverse, norm, n, row);
            for (std::size_t j = 0; j < n; ++j) BOOST_TEST(std::abs(y(i, j) - known[j].real()) < 1e-12);
          }
        };
        check(dct(x, dimensions<1>, type, norm), cosines[type - 1], false);
        check(idct(x, dimensions<1>, type, norm), cosines[type - 1], true);
        check(dst(x, dimensions<1>, type, norm), sines[type - 1], false);
        check(idst(x, dimensions<1>, type, norm), sines[type - 1], true);
      }
}

BOOST_AUTO_TEST_CASE(tensors_of_all_layouts_have_the_transforms_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(31);
  constexpr test::operation_law<> linear{.is_linear = true, .tolerance = 1e-9};
  using enum fourier_norm;
  for (std::size_t k = 0; k < test::random_cases(10); ++k) {
    const std::size_t a = random() % 7, b = 1 + random() % 6, c = random() % 4;
    const fourier_norm norm = std::array{backward, ortho, forward}[random() % 3];
    const auto check = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<complex>(everyone, name, random, extents, f, linear);
    };
    const auto check_real = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<double>(everyone, name, random, extents, f, linear);
    };
    check("fft of one", {{a, b}}, [&](const v& x) { return fft(x[0], dimensions<1>, norm); });
    check("fft", {{a, b, c}}, [&](const v& x) { return fft(x[0], dimensions<0, 2>, norm); });
    check("fft of all", {{a, b}}, [&](const v& x) { return fft(x[0], dimensions<0, 1>, norm); });
    check("ifft of all", {{a, b, c}}, [&](const v& x) { return ifft(x[0], dimensions<2, 1, 0>, norm); });
    check_real("rfft", {{a, b}}, [&](const u& x) { return rfft(x[0], dimensions<0, 1>, norm); });
    check_real("rfft of the first", {{b, a, c}}, [&](const u& x) { return rfft(x[0], dimensions<1, 0>, norm); });
    check("irfft", {{a, b / 2 + 1}}, [&](const v& x) { return irfft(x[0], dimensions<0, 1>, b, norm); });
    check("irfft of one", {{b / 2 + 1, a, c}}, [&](const v& x) { return irfft(x[0], dimensions<0>, b, norm); });
    test::check_elements<std::complex<float>>(everyone, "fft of float", random, {{a, b}},
                                              [&](const auto& x) { return fft(x[0], dimensions<1, 0>, norm); },
                                              {.tolerance = 1e-3});
    const std::size_t type = 1 + random() % 4;
    check_real("dct", {{a, b + 1}}, [&](const u& x) { return dct(x[0], dimensions<1>, type, norm); });
    check_real("idct", {{b + 1, c, 2}}, [&](const u& x) { return idct(x[0], dimensions<2, 0>, type, norm); });
    check_real("dst", {{a, b, c}}, [&](const u& x) { return dst(x[0], dimensions<1, 0>, type, norm); });
    check_real("idst", {{a, b}}, [&](const u& x) { return idst(x[0], dimensions<0, 1>, type, norm); });
    // real numbers, their spectrum times a spectrum, and back: a convolution
    check_real("convolution", {{a, b}}, [&](const u& x) {
      const auto y = rfft(x[0], dimensions<0, 1>, norm);
      return irfft(add(y, multiply(conj(y), 2)), dimensions<0, 1>, b, norm);
    });
  }
}

BOOST_AUTO_TEST_CASE(tensors_without_elements_have_transforms) {
  world everyone(test::workers());
  std::mt19937 random(5);
  for (const mesh& m : test::meshes(everyone.size()))
    for (const sharding& s : test::layouts(m, 2)) {
      if (random() % 4 != 0) continue;
      const auto x = shard<double>(everyone, s, {0, 4}, [](const auto&) { return 1.0; });
      const auto spectrum = rfft(x, dimensions<1>);
      BOOST_TEST((spectrum.extents() == shape_list{0, 3}));
      BOOST_TEST((irfft(spectrum, dimensions<1>, 5).extents() == shape_list{0, 5}));
      BOOST_TEST((fft(spectrum, dimensions<1>).extents() == shape_list{0, 3}));
      BOOST_TEST((dct(x, dimensions<1>).extents() == shape_list{0, 4}));
      const auto along = [](const auto& one) { return sum(square(irfft(rfft(one, dimensions<1>), dimensions<1>, 4))); };
      BOOST_TEST((std::get<0>(value_and_gradient(along, x).gradients).extents() == shape_list{0, 4}));
      // no points have one frequency, of nothing
      const auto y = shard<double>(everyone, s, {4, 0}, [](const auto&) { return 1.0; });
      const auto of_nothing = reshard(rfft(y, dimensions<1>), sharding(m, 2));
      BOOST_TEST((of_nothing.extents() == shape_list{4, 1}));
      of_nothing.for_each_local([](const auto&, const auto& v) { BOOST_TEST((v == std::complex<double>())); });
    }
}

BOOST_AUTO_TEST_CASE(forward_product_and_inverse_move_twice, *test::at_least(2)) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto z = numbers(7, 6);
  const auto Z = shard(everyone, m.layout("a", ""), z), K = shard(everyone, m.layout("", "a"), z);
  // [filter]
  const auto filter = [](const auto& x, const auto& k) {
    return ifft(multiply(fft(x, dimensions<1, 0>), k), dimensions<0, 1>);
  };
  // [/filter]
  const auto known = detail::as_array<2>(filter(detail::as_run_time(z), detail::as_run_time(z)));
  const auto y = filter(Z, K);
  BOOST_TEST(y.layout().same_layout(m.layout("a", "")));
  BOOST_TEST(reshards(record_movements([&] { filter(Z, K); })) == 2U);
  // no worker receives more than its block in either move
  for (const movement& one : record_movements([&] { filter(Z, K); })) BOOST_TEST(one.bytes <= 42 * sizeof(complex));
  const auto all = y.whole<2>();
  const auto program = trace<complex>(filter, spec(m.layout("a", ""), {7, 6}), spec(m.layout("", "a"), {7, 6}));
  std::vector<movement> log = record_movements([&] { program(Z, K); });
  BOOST_TEST(reshards(log) == 2U);
  const auto traced = reshard(program(Z, K), m.layout("", "")).whole<2>();
  BOOST_TEST(distance(all, known) < 1e-13);
  BOOST_TEST(distance(traced, known) < 1e-13);
}

BOOST_AUTO_TEST_CASE(types_and_programs_have_the_same_transforms, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  const auto z = numbers(6, 5);
  const xt::xtensor<double, 2> x = partita::real(z);
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto Z = shard<m.layout("data", "model")>(everyone, to_complex(x));
  const auto X2 = shard<m.layout("data", "model")>(everyone, x);
  static_assert(decltype(fft(Z, dimensions<1>))::layout() == m.layout("data+model", ""));
  static_assert(decltype(rfft(X, dimensions<0, 1>))::layout() == m.layout("", "data"));
  static_assert(decltype(irfft(rfft(X, dimensions<0, 1>), dimensions<0, 1>, 5))::layout() == m.layout("data", ""));
  const auto f = [](const auto& one) {
    const auto y = rfft(one, dimensions<0, 1>);
    return irfft(multiply(y, y), dimensions<0, 1>, 5);
  };
  const auto loss = [&](const auto& g) {
    return [&g](const auto& one) {
      const auto y = g(one);
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(y)>::value_type, double>)
        return sum(multiply(y, y));
      else return sum(partita::real(multiply(y, y)));
    };
  };
  const auto whole = [&](const auto& one) { return f(detail::as_run_time(one)); };
  const auto [known, gradients] = value_and_gradient(loss(whole), x);
  const auto [value, of_types] = value_and_gradient(loss(f), X);
  const auto program = trace(f, spec(m.layout("data", "model"), {6, 5}));
  BOOST_TEST((program.operations()[program.result()].shape == shape_list{6, 5}));
  const auto [of_program, program_gradients] = value_and_gradient(loss(program), X2);
  // cosines and sines, in a program of real elements
  const auto g = [](const auto& one) {
    const auto y = dct(one, dimensions<0, 1>, 3);
    return idst(multiply(y, y), dimensions<1>);
  };
  const auto of_arrays = [&](const auto& one) { return g(detail::as_run_time(one)); };
  const auto [known_g, gradients_g] = value_and_gradient(loss(of_arrays), x);
  const auto [value_g, of_types_g] = value_and_gradient(loss(g), X);
  const auto program_g = trace(g, spec(m.layout("data", ""), {6, 5}));
  const auto [traced_g, of_program_g] = value_and_gradient(loss(program_g), X);
  const auto dg = reshard<m.layout("", "")>(std::get<0>(of_types_g)).whole();
  const auto dg_of_program = reshard(std::get<0>(of_program_g).run_time_tensor(), m.layout("", "")).template whole<2>();
  const auto dx = reshard<m.layout("", "")>(std::get<0>(of_types)).whole();
  const auto dz = reshard(std::get<0>(program_gradients).run_time_tensor(), m.layout("", "")).whole<2>();
  if (everyone.id() >= 4) return;
  BOOST_TEST(std::abs(value_g - known_g) < 1e-10 * std::abs(known_g));
  BOOST_TEST(std::abs(traced_g - known_g) < 1e-10 * std::abs(known_g));
  BOOST_TEST(distance(dg, std::get<0>(gradients_g)) < 1e-9 * std::abs(known_g));
  BOOST_TEST(distance(dg_of_program, std::get<0>(gradients_g)) < 1e-9 * std::abs(known_g));
  BOOST_TEST(std::abs(value - known) < 1e-10 * std::abs(known));
  BOOST_TEST(std::abs(of_program - known) < 1e-10 * std::abs(known));
  BOOST_TEST(distance(dx, std::get<0>(gradients)) < 1e-9);
  BOOST_TEST(distance(dz, std::get<0>(gradients)) < 1e-9);
}

/// A spectrum is squared between both transforms, so that a norm that is ignored in one direction changes the factor.
BOOST_AUTO_TEST_CASE(transforms_of_programs_have_the_factors_of_their_norms) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  using enum fourier_norm;
  const double n = 30;  // the number of elements
  const auto z = numbers(6, 5);
  const xt::xtensor<double, 2> x = partita::real(z);
  const auto Z = shard(everyone, m.layout("a", ""), z);
  const auto X = shard(everyone, m.layout("a", ""), x);
  const auto whole = [&](const auto& y) { return reshard(y, m.layout("", "")).template whole<2>(); };
  const auto of_complex = [](fourier_norm there, fourier_norm back) {
    return [=](const auto& one) {
      const auto y = fft(one, dimensions<0, 1>, there);
      return ifft(multiply(y, y), dimensions<0, 1>, back);
    };
  };
  const auto of_real = [](fourier_norm there, fourier_norm back) {
    return [=](const auto& one) {
      const auto y = rfft(one, dimensions<0, 1>, there);
      return irfft(multiply(y, y), dimensions<0, 1>, 5, back);
    };
  };
  const auto squares = [](const auto& f) {
    return [&f](const auto& one) {
      const auto y = f(one);
      return sum(multiply(y, y));
    };
  };
  const auto usual_z = whole(of_complex(backward, backward)(Z));
  const auto usual_x = whole(of_real(backward, backward)(X));
  const auto usual = value_and_gradient(squares(of_real(backward, backward)), X);
  const auto usual_dx = whole(std::get<0>(usual.gradients));
  for (const fourier_norm there : {backward, ortho, forward})
    for (const fourier_norm back : {backward, ortho, forward}) {
      // the factors of a transform: 1, 1 / sqrt(n) and 1 / n; those of an inverse in the opposite order
      const double forth = there == backward ? 1 : there == ortho ? 1 / std::sqrt(n) : 1 / n;
      const double inverse = back == backward ? 1 : back == ortho ? std::sqrt(n) : n;
      const double factor = forth * forth * inverse;
      const auto complex_program = trace<complex>(of_complex(there, back), spec(m.layout("a", ""), {6, 5}));
      const auto program = trace(of_real(there, back), spec(m.layout("a", ""), {6, 5}));
      const auto [value, gradients] = value_and_gradient(squares(program), X);
      const auto y = whole(complex_program(Z));
      const auto r = whole(program(X)), dx = whole(std::get<0>(gradients));
      BOOST_TEST(distance(y, xt::xtensor<complex, 2>(factor * usual_z)) <= 1e-12 * factor * n * n);
      BOOST_TEST(distance(r, xt::xtensor<double, 2>(factor * usual_x)) <= 1e-12 * factor * n * n);
      BOOST_TEST(std::abs(value - factor * factor * usual.value) <= 1e-12 * factor * factor * usual.value);
      BOOST_TEST(distance(dx, xt::xtensor<double, 2>(factor * factor * usual_dx)) <=
                 1e-12 * factor * factor * usual.value);
    }
}

BOOST_AUTO_TEST_CASE(a_transform_that_one_worker_makes_otherwise_is_refused, *test::at_least(2)) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto Z = shard(everyone, m.layout("a", ""), numbers(4, 4));
  const auto X = partita::real(Z);
  const bool odd = everyone.id() == 0;
  const auto refused = [&](const auto& call) {  // at the next agreement at the latest
    test::expect_refused<error>([&] { (void)reshard(call(), m.layout("", "a")); });
  };
  const fourier_norm norm = odd ? fourier_norm::ortho : fourier_norm::backward;
  refused([&] { return fft(Z, dimensions<1>, norm); });
  refused([&] { return odd ? fft(Z, dimensions<1>) : ifft(Z, dimensions<1>); });
  refused([&] { return odd ? fft(Z, dimensions<1>) : fft(Z, dimensions<0>); });
  refused([&] { return rfft(X, dimensions<1>, norm); });
  refused([&] { return irfft(Z, dimensions<1>, 6, norm); });
  refused([&] { return irfft(Z, dimensions<1>, odd ? 6 : 7); });
  refused([&] { return dct(X, dimensions<1>, odd ? 2 : 3); });
  refused([&] { return odd ? dct(X, dimensions<1>) : dst(X, dimensions<1>); });
}

BOOST_AUTO_TEST_CASE(a_dimension_that_a_tensor_does_not_have_is_refused) {
  world everyone(test::workers());
  constexpr mesh m{axis{"a", 1}};
  const auto Z = shard(everyone, m.layout("a", ""), numbers(4, 4));
  const auto X = partita::real(Z);
  const std::string wanted = "dimension 2 of a value of extents [4, 4]";
  const auto says = [&](const auto& call) {
    return test::refused<shape_error>(call).find(wanted) != std::string::npos;
  };
  BOOST_TEST(says([&] { fft(Z, dimensions<2>); }));
  BOOST_TEST(says([&] { fft(Z, dimensions<0, 2>); }));
  BOOST_TEST(says([&] { ifft(Z, dimensions<2>); }));
  BOOST_TEST(says([&] { rfft(X, dimensions<2>); }));
  BOOST_TEST(says([&] { rfft(X, dimensions<2, 0>); }));
  BOOST_TEST(says([&] { irfft(Z, dimensions<2>, 6); }));
  BOOST_TEST(test::refused<shape_error>([&] { fft(Z, dimensions<40>); }).find("dimension 40") != std::string::npos);
  BOOST_TEST(says([&] { dct(X, dimensions<2>); }));
  BOOST_TEST(test::refused([&] { idct(X, dimensions<0>, 5); }).find("type 1, 2, 3 or 4, got 5") != std::string::npos);
  BOOST_TEST(test::refused([&] { dst(X, dimensions<0>, 0); }).find("type 1, 2, 3 or 4, got 0") != std::string::npos);
  const auto line = partita::real(shard(everyone, m.layout("", ""), numbers(4, 1)));
  BOOST_TEST(test::refused<shape_error>([&] { dct(line, dimensions<0, 1>, 1); }).find("along dimension 1") !=
             std::string::npos);
  const spec square(m.layout("a", ""), {4, 4});
  BOOST_TEST(says([&] { trace([](const auto& x) { return idst(x, dimensions<2>); }, square); }));
  BOOST_TEST(says([&] { trace<complex>([](const auto& z) { return fft(z, dimensions<2>); }, square); }));
  BOOST_TEST(says([&] { trace([](const auto& z) { return rfft(z, dimensions<2>); }, square); }));
  BOOST_TEST(says([&] { trace<complex>([](const auto& z) { return irfft(z, dimensions<1, 2>, 6); }, square); }));
}

#else

BOOST_AUTO_TEST_CASE(a_wave_has_one_number_in_its_spectrum,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result none(false);
                       none.message() << "needs FFTW (libfftw3-dev)";
                       return none;
                     })) {}

#endif
