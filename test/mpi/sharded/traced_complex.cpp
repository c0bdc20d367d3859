// Traced programs that lead from real numbers to complex ones and back have the values and gradients of the program
// that is not traced, in all layouts, called and bound.
#include "check_operation.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/explain/completion_text.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/measured_times.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <tuple>

#if __has_include(<fftw3.h>)
#include <partita/sharded/fourier.hpp>
#endif

using namespace partita;

namespace {

using complex = std::complex<double>;
using test::placed;
using test::plain;
using test::same;

/// Two or three layouts for each argument of a program on any number of workers.
mesh mesh_of(const world& everyone) {
  const std::size_t n = everyone.size();
  return n % 2 == 0 && n > 2 ? mesh{axis{"a", 2}, axis{"b", n / 2}} : mesh{axis{"a", n}};
}
/// Axis k of the mesh shards dimension number + k of a tensor of this rank, if there is one.
sharding layout(const mesh& m, std::size_t rank, std::size_t number) {
  sharding s(m, rank);
  for (std::size_t a = 0; a < m.rank(); ++a) {
    const std::size_t d = (number + a) % (rank + 1);
    if (d == rank) continue;
    axis_list both = s[d];
    both.push_back(a);
    s = s.cut(d, both);
  }
  return s;
}

template <class X>
using element_of_argument = typename std::remove_cvref_t<X>::value_type;

/// The value and the gradients of f, given by a real sum, beside those of a program.
template <class Known, class Program, class Whole, class Parts, std::size_t... I>
void expect_equal(const Known& f, const Program& program, const Whole& whole, const Parts& parts,
                  std::index_sequence<I...>) {
  const auto loss = [](const auto& g) {
    return [&g](const auto&... x) {
      const auto y = g(x...);
      if constexpr (detail::is_complex<typename std::remove_cvref_t<decltype(y)>::value_type>)
        return sum(multiply(abs(y), partita::real(y)));
      else return sum(multiply(y, y));
    };
  };
  const auto known = value_and_gradient(loss(f), std::get<I>(whole)...);
  const auto found = value_and_gradient(loss(program), std::get<I>(parts)...);
  BOOST_TEST(same(program(std::get<I>(parts)...), f(std::get<I>(whole)...), 1e-9));
  BOOST_TEST(std::abs(known.value - found.value) <= 1e-9 * (1 + std::abs(known.value)));
  ([&] { BOOST_TEST(same(std::get<I>(found.gradients), std::get<I>(known.gradients), 1e-8)); }(), ...);
}

/// A polar form and back: real numbers, complex ones, and functions of both.
const auto turned = [](const auto& x, const auto& z) {
  const auto y = multiply(to_complex(x, sin(x)), z);
  return add(partita::real(y), multiply(x, abs(add(y, to_complex(x)))));
};

}  // namespace

BOOST_AUTO_TEST_CASE(values_are_real_or_complex_as_the_operations_say) {
  world everyone(test::workers());
  const mesh m = mesh_of(everyone);
  // [mixed]
  const auto program = trace(turned, spec(layout(m, 2, 0), {4, 3}), complex_spec(layout(m, 2, 1), {4, 3}));
  const sharded_tensor<double> x = placed<double>(everyone, layout(m, 2, 0), {4, 3}, 1);
  const sharded_tensor<std::complex<double>> z = placed<complex>(everyone, layout(m, 2, 1), {4, 3}, 2);
  const sharded_tensor<double> y = program(x, z);  // real, as turned(x, z) is
  // [/mixed]
  BOOST_TEST(same(y, turned(plain<double>({4, 3}, 1), plain<complex>({4, 3}, 2)), 1e-12));
  const auto wave = [](const auto& one) { return to_complex(cos(one), sin(one)); };
  const auto waves = trace(wave, spec(layout(m, 1, 0), {7}));
  const auto size = trace<complex>([](const auto& one) { return abs(one); }, spec(layout(m, 1, 0), {7}));
  const sharded_tensor<complex> e = waves(placed<double>(everyone, layout(m, 1, 0), {7}, 3));
  const sharded_tensor<double> ones = size(e);
  const sharded_tensor<float> ones_of_float = size(waves(placed<float>(everyone, layout(m, 1, 0), {7}, 3)));
  BOOST_TEST(same(e, wave(plain<double>({7}, 3))));
  ones.for_each_local([](const auto&, double one) { BOOST_TEST(std::abs(one - 1) < 1e-15); });
  ones_of_float.for_each_local([](const auto&, float one) { BOOST_TEST(std::abs(one - 1) < 1e-6F); });
}

BOOST_AUTO_TEST_CASE(programs_are_called_with_typed_tensors) {
  world everyone(test::workers());
  constexpr mesh m{axis{"a", 1}};
  const auto wave = [](const auto& one) { return to_complex(cos(one), one); };
  const auto program = trace(wave, spec(m.layout("a"), {3}));
  const auto x = shard<m.layout("a")>(everyone, xt::xtensor<double, 1>{1, 2, 3});
  const sharded_tensor<complex> y = program(x);
  if (everyone.id() == 0) BOOST_TEST((y.whole<1>() == wave(x).whole()));
}

BOOST_AUTO_TEST_CASE(gradients_pass_between_real_and_complex_values_in_all_layouts) {
  world everyone(test::workers());
  const mesh m = mesh_of(everyone);
  const auto pending = [](const auto& x, const auto& z) {  // products whose sums are pending
    const auto y = to_complex(matmul(x, x));
    return partita::imag(multiply(matmul(z, y), conj(z)));
  };
  for (std::size_t k = 0; k < 2; ++k) {
    const auto xs = layout(m, 2, k), zs = layout(m, 2, k + 1);
    const std::tuple whole{plain<double>({4, 4}, 1), plain<complex>({4, 4}, 2)};
    const std::tuple parts{placed<double>(everyone, xs, {4, 4}, 1), placed<complex>(everyone, zs, {4, 4}, 2)};
    const auto both = std::make_index_sequence<2>();
    expect_equal(turned, trace(turned, spec(xs, {4, 4}), complex_spec(zs, {4, 4})), whole, parts, both);
    const auto stopped = [](const auto& one, const auto& z) {  // no gradient goes through the other factor
      const auto both = multiply(to_complex(one), z);
      return add(multiply(abs(both), stop_gradient(partita::real(z))), partita::imag(multiply(stop_gradient(both), z)));
    };
    expect_equal(stopped, trace(stopped, spec(xs, {4, 4}), complex_spec(zs, {4, 4})), whole, parts, both);
    if (k > 0) continue;
    expect_equal(pending, trace(pending, spec(xs, {4, 4}), complex_spec({4, 4})), whole, parts, both);
  }
}

BOOST_AUTO_TEST_CASE(bound_programs_lead_from_real_arguments_to_complex_results_and_back) {
  world everyone(test::workers());
  const mesh m = mesh_of(everyone);
  const auto xs = layout(m, 2, 1), zs = layout(m, 2, 0);
  const auto wave = [](const auto& x) { return matmul(to_complex(x, sin(x)), to_complex(x)); };
  const auto size = [](const auto& z) { return abs(matmul(z, conj(z))); };
  const auto x = placed<double>(everyone, xs, {4, 4}, 1);
  const auto z = placed<complex>(everyone, zs, {4, 4}, 2);
  const auto expect = [&](const auto& f, const auto& program, const auto& given, const auto& whole) {
    const auto parameter = detail::parameter_of(whole);
    const auto y = f(parameter);
    using U = element_of_argument<decltype(y)>;
    detail::run_backward(y, plain<U>({4, 4}, 5));
    auto step = program.template bind<element_of_argument<decltype(given)>>(everyone, {0});
    BOOST_TEST(same(step(given), y, 1e-9));
    BOOST_TEST(same(step.backward(placed<U>(everyone, zs, {4, 4}, 5))[0], detail::gradient_of(parameter), 1e-9));
  };
  expect(wave, trace(wave, spec(xs, {4, 4})), x, plain<double>({4, 4}, 1));
  expect(size, trace<complex>(size, spec(zs, {4, 4})), z, plain<complex>({4, 4}, 2));
}

BOOST_AUTO_TEST_CASE(bound_programs_have_real_and_complex_arguments) {
  world everyone(test::workers());
  const mesh m = mesh_of(everyone);
  const auto pending = [](const auto& z, const auto& x) { return matmul(multiply(z, to_complex(x)), conj(z)); };
  const auto expect = [&]<class Result, class First, class Second>(const auto& f, const auto& program, Result,
                                                                   const First&, const Second&) {
    const auto a = detail::parameter_of(plain<First>({4, 4}, 1));
    const auto b = detail::parameter_of(plain<Second>({4, 4}, 2));
    const auto y = f(a, b);
    detail::run_backward(y, plain<Result>({4, 4}, 5));
    // [bound]
    bound_program<real_and_complex<double>, Result> step(program, everyone, {1, 0});
    // [/bound]
    for (int times = 0; times < 2; ++times) {
      const auto& z = step(placed<First>(everyone, layout(m, 2, 1), {4, 4}, 1),
                           placed<Second>(everyone, layout(m, 2, 2), {4, 4}, 2));
      BOOST_TEST(same(z, y, 1e-9));
      const auto& back = step.backward(placed<Result>(everyone, layout(m, 2, 0), {4, 4}, 5));
      BOOST_TEST(same(back[0].template of<Second>(), detail::gradient_of(b), 1e-9));
      BOOST_TEST(same(back[1].template of<First>(), detail::gradient_of(a), 1e-9));
      BOOST_TEST((back[0].is_complex() == detail::is_complex<Second> && back[1].is_complex() != back[0].is_complex()));
    }
  };
  expect(turned, trace(turned, spec(layout(m, 2, 0), {4, 4}), complex_spec(layout(m, 2, 1), {4, 4})), double(),
         double(), complex());
  expect(pending, trace(pending, complex_spec(layout(m, 2, 0), {4, 4}), spec({4, 4})), complex(), complex(), double());
  const auto program = trace(turned, spec(layout(m, 2, 0), {4, 3}), complex_spec({4, 3}));
  bound_program<real_and_complex<double>, double> step(program, everyone);
  const auto x = placed<double>(everyone, layout(m, 2, 0), {4, 3}, 1);
  const auto z = placed<complex>(everyone, layout(m, 2, 0), {4, 3}, 2);
  test::expect_refused<error>([&] { step(x, x); },
                              "tensor 1 was traced with elements of std::complex<double>, got double");
  test::expect_refused<error>([&] { bound_program<real_and_complex<double>, complex>(program, everyone); },
                              "the elements of the result, which are real");
  BOOST_TEST(same(step(x, z), turned(plain<double>({4, 3}, 1), plain<complex>({4, 3}, 2)), 1e-12));
}

BOOST_AUTO_TEST_CASE(the_completion_lists_what_moves_back) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto f = [](const auto& x, const auto& w) {
    const auto y = matmul(to_complex(x), to_complex(w));
    return sum(partita::real(multiply(y, conj(y))));
  };
  const auto program = trace(f, spec(m.layout("a", ""), {6, 4}), spec(m.layout("", "a"), {4, 6}));
  const auto x = placed<double>(everyone, m.layout("a", ""), {6, 4}, 1),
             w = placed<double>(everyone, m.layout("", "a"), {4, 6}, 2);
  std::vector<movement> made;
  for (const movement& one : record_movements([&] { value_and_gradient(program, x, w); }))
    if (one.backward) made.push_back(one);
  const auto& known = program.complete().back;
  BOOST_TEST(known.size() == made.size());
  for (std::size_t k = 0; k < known.size() && k < made.size(); ++k)
    BOOST_TEST((known[k].from == made[k].from && known[k].to == made[k].to && known[k].shape == made[k].extents));
}

BOOST_AUTO_TEST_CASE(estimates_count_both_numbers_of_a_complex_element) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const spec rows(m.layout("a", ""), {6, 4}), columns(m.layout("", "a"), {4, 6});
  const auto product = [](const auto& x, const auto& w) { return matmul(x, w); };
  const auto real = trace(product, rows, columns);
  const auto complex_ones = trace<complex>(product, rows, columns);
  const auto first = trace([](const auto& x, const auto& w) { return matmul(to_complex(x), w); }, rows,
                           complex_spec(m.layout("", "a"), {4, 6}));
  const auto halves = [](const completion& done) { return plan_step(done).bytes() / 2; };
  BOOST_TEST(halves(complex_ones.complete()) == plan_step(real.complete()).bytes());
  BOOST_TEST(complex_ones.complete().bytes() == 2 * real.complete().bytes());
  // what moves is the operand of the product, which is complex, or the argument of to_complex, which is real
  for (const graph_reshard& move : first.complete().reshards) {
    const bool is_complex = first.operations()[value{move.of}].is_complex;
    BOOST_TEST(first.complete().plan(move).bytes() ==
               (is_complex ? 2 : 1) *
                   plan_reshard(m, move.from, move.to, first.operations()[value{move.of}].shape).bytes());
  }
  BOOST_TEST(first.operations()[first.result()].is_complex);
  BOOST_TEST(!first.operations()[first.input(0)].is_complex);
  // gradients, too: twice the bytes, of the same moves
  const auto &back = real.complete().back, &complex_back = complex_ones.complete().back;
  BOOST_REQUIRE(back.size() == complex_back.size());
  for (std::size_t k = 0; k < back.size(); ++k) BOOST_TEST(complex_back[k].bytes == 2 * back[k].bytes);
  const auto told = [](const completion& done) {  // the bytes of the backward pass in the last line
    const std::string all = to_text(done);
    const std::size_t at = all.find("\nback: "), moves = all.find(" moves, ", at);
    return at == std::string::npos ? std::size_t{0} : std::stoul(all.substr(moves + 8));
  };
  const std::size_t bytes = told(real.complete());
  BOOST_TEST((bytes > 0) == (everyone.size() > 1));
  BOOST_TEST(told(complex_ones.complete()) == 2 * bytes);
  BOOST_TEST(real.fingerprint() != complex_ones.fingerprint());
}

BOOST_AUTO_TEST_CASE(wrong_types_of_elements_are_an_error_on_all_workers) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto program = trace(turned, spec(m.layout("a"), {5}), complex_spec({5}));
  const auto x = placed<double>(everyone, m.layout("a"), {5}, 1);
  const auto z = placed<complex>(everyone, m.layout("a"), {5}, 2);
  test::expect_refused<error>([&] { program(x, x); }, "argument 1 was traced for complex elements");
  test::expect_refused<error>([&] { program(z, z); }, "argument 0 was traced for real elements");
  const auto real =
      trace([](const auto& a, const auto& b) { return multiply(a, b); }, spec(m.layout("a"), {5}), spec({5}));
  test::expect_refused<error>([&] { real(x, z); }, "requires arguments of one type of elements");
  test::expect_refused<error>([&] { measured_times<double>(program, everyone); }, "elements of one type");
  test::expect_refused<error>([&] { program.bind<double>(everyone); }, "argument 1 was traced for complex elements");
  const auto waves = trace([](const auto& a) { return to_complex(a); }, spec(m.layout("a"), {5}));
  const traced_function without_type = waves;
  test::expect_refused<error>([&] { without_type(x); }, "requires a call for elements of the type of the result");
  const auto longer =
      trace([](const auto& a) { return multiply(to_complex(sin(a)), to_complex(cos(a))); }, spec(m.layout("a"), {64}));
  test::expect_refused<error>([&] { longer.bind<double>(everyone, {.memory = 1}); }, "got 1; give that much");
  BOOST_TEST(same(waves(x), to_complex(plain<double>({5}, 1))));  // after these errors as before
  test::expect_refused<shape_error>([&] { program(placed<double>(everyone, m.layout("a"), {4}, 1), z); },
                                    "argument 0 was traced with extents");
}

#if __has_include(<fftw3.h>)

namespace {

/// A layer of a Fourier neural operator with real arguments.
const auto fourier_layer = [](const auto& v, const auto& a, const auto& b, const auto& local) {
  const auto waves = resize_half_spectrum(rfft(v, dimensions<2, 3>), dimensions<2, 3>, 6, 3, 4);
  const auto mixed = einsum<"bixy,ioxy->boxy">(waves, to_complex(a, b));
  return gelu(add(irfft(resize_half_spectrum(mixed, dimensions<2, 3>, 4, 5, 6), dimensions<2, 3>, 6),
                  einsum<"bixy,io->boxy">(v, local)));
};

const std::vector<shape_list> extents_of_layer{{2, 2, 5, 6}, {2, 3, 3, 3}, {2, 3, 3, 3}, {2, 3}};
std::tuple<sharded_tensor<double>, sharded_tensor<double>, sharded_tensor<double>, sharded_tensor<double>>
whole_layer() {
  const auto& e = extents_of_layer;
  return {plain<double>(e[0], 1), plain<double>(e[1], 2), plain<double>(e[2], 3), plain<double>(e[3], 4)};
}
/// The same in layouts that are others for each number of workers.
auto layer_on(const world& everyone) {
  const auto on = [&](std::size_t i) {
    const shape_list& e = extents_of_layer[i];
    return placed<double>(everyone, layout(mesh_of(everyone), e.size(), everyone.size() % 3 + i), e,
                          static_cast<long long>(i) + 1);
  };
  return std::tuple{on(0), on(1), on(2), on(3)};
}
traced_function layer_traced_on(const world& everyone) {
  const mesh m = mesh_of(everyone);
  const std::size_t k = everyone.size() % 3;
  return trace(fourier_layer, spec(layout(m, 4, k), extents_of_layer[0]),
               spec(layout(m, 4, k + 1), extents_of_layer[1]), spec(extents_of_layer[2]), spec(extents_of_layer[3]));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_fourier_layer_of_real_fields_is_traced) {
  world everyone(test::workers());
  expect_equal(fourier_layer, layer_traced_on(everyone), whole_layer(), layer_on(everyone),
               std::make_index_sequence<4>());
}

BOOST_AUTO_TEST_CASE(a_fourier_layer_of_real_fields_is_bound) {
  world everyone(test::workers());
  const auto whole = whole_layer(), parts = layer_on(everyone);
  const auto loss = [&](const auto&... x) {
    return sum(multiply(fourier_layer(x...), plain<double>({2, 3, 5, 6}, 7)));
  };
  const auto known = std::apply([&](const auto&... x) { return value_and_gradient(loss, x...); }, whole);
  const auto program = layer_traced_on(everyone);
  const auto traced = std::apply(program, parts);
  auto step = program.bind<double>(everyone, {0, 1, 2, 3});
  for (int times = 0; times < 2; ++times) {
    const auto& z = std::apply([&](const auto&... x) -> const sharded_tensor<double>& { return step(x...); }, parts);
    BOOST_TEST(std::equal(z.data(), z.data() + z.size(), traced.data(), traced.data() + traced.size()));
    const auto& back = step.backward(placed<double>(everyone, z.layout(), z.extents(), 7));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ([&] { BOOST_TEST(same(back[I], std::get<I>(known.gradients), 1e-8)); }(), ...);
    }(std::make_index_sequence<4>());
  }
}

#endif
