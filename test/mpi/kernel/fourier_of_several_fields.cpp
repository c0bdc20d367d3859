// A Fourier transform of several fields gives the bits of separate transforms, with the messages of one of them.
// Skipped if FFTW is not installed.
#include "mpi_test.hpp"

#if __has_include(<fftw3.h>)
#include "distance.hpp"
#include "fourier_oracle.hpp"
#include "pretended.hpp"
#include "refused.hpp"

#include <algorithm>
#include <array>
#include <boost/mpi/collectives/all_reduce.hpp>
#include <cmath>
#include <functional>
#include <partita/core/hash.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/fourier_transform.hpp>
#include <vector>

namespace {

using namespace partita;
using number = std::complex<double>;
using shape = std::array<std::size_t, 3>;

template <class T>
T element(const partita::index<3>& i, std::size_t field) {
  const std::uint64_t n = hasher(field).mix(i).value();
  const double a = static_cast<double>(n % 2001) / 1000 - 1, b = static_cast<double>(n / 4096 % 2001) / 1000 - 1;
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(a);
  else return T(number(a, b));
}
template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin()) &&
         std::equal(a.data(), a.data() + a.size(), b.data());
}

/// Where a tensor is and where its transform goes.
struct layouts {
  const char* name;
  dynamic_partition<3> p_x, p_y;
};
std::vector<layouts> some_layouts(const world& everyone) {
  const std::size_t n = everyone.size(), half = (n + 1) / 2;
  const auto on = [&](std::size_t a, std::size_t b, std::size_t c, const workers& who) {
    return everyone.partition(dynamic_extents<3>(shape{a, b, c}), who);
  };
  const workers all(0, n), few(n - half, n);
  const std::size_t two = n % 2 == 0 ? 2 : 1;
  return {{"slabs to other slabs", on(n, 1, 1, all), on(1, n, 1, all)},
          {"slabs to the same slabs", on(1, 1, n, all), on(1, 1, n, all)},
          {"pencils to pencils", on(n / two, two, 1, all), on(1, n / two, two, all)},
          {"some workers to others", on(half, 1, 1, few), on(1, 1, half, workers(0, half))}};
}

/// All ways to call a transform of three fields are three calls.
template <class X, class F, class Block>
void expect_three_calls(const F& f, const Block& block, const char* name) {
  const xt::xtensor<X, 3> a = block(1), b = block(2), c = block(3);
  const auto ya = f(a);
  const auto yb = f(b);
  const auto yc = f(c);
  using Y = element_of<decltype(ya)>;
  const auto are_results = [&](const auto& all) {
    const auto& [u, v, w] = all;
    return same(u, ya) && same(v, yb) && same(w, yc);
  };
  for (int call = 0; call < 2; ++call) BOOST_TEST(are_results(f(a, b, X(1) * c)), name);
  BOOST_TEST(are_results(f.start(a, b, c).finish()), name);
  const auto [yb_of_two, ya_of_two] = f(b, a);
  BOOST_TEST((same(ya_of_two, ya) && same(yb_of_two, yb)), name);
  xt::xtensor<Y, 3> u = ya, v = ya, w = ya;
  u.fill(Y(7)), v.fill(Y(7)), w.fill(Y(7));
  f.into(std::tie(a, b, c), std::tie(u, v, w));
  BOOST_TEST(are_results(std::tie(u, v, w)), name);

  const auto da = f.adjoint(ya);
  const auto db = f.adjoint(yb);
  const auto dc = f.adjoint(yc);
  const auto are_gradients = [&](const auto& all) {
    const auto& [du, dv, dw] = all;
    return same(du, da) && same(dv, db) && same(dw, dc);
  };
  for (int call = 0; call < 2; ++call) BOOST_TEST(are_gradients(f.adjoint(ya, yb, Y(1) * yc)), name);
  BOOST_TEST(are_gradients(f.start_adjoint(ya, yb, yc).finish()), name);
  xt::xtensor<X, 3> du = da, dv = da, dw = da;
  du.fill(X(7)), dv.fill(X(7)), dw.fill(X(7));
  f.adjoint_into(std::tie(ya, yb, yc), std::tie(du, dv, dw));
  BOOST_TEST(are_gradients(std::tie(du, dv, dw)), name);
}
template <class X, class Kind>
void expect_three_calls_everywhere(const world& everyone, Kind kind, const shape& extents,
                                   const fourier_options& options = {}) {
  for (const auto& [name, p_x, p_y] : some_layouts(everyone)) {
    const auto cut_by = [&, &p = p_x](const decomposition<3>& cuts) {
      return [&p, cuts](std::size_t field) {
        return block_from<X>(p, cuts, [field](const partita::index<3>& i) { return element<X>(i, field); });
      };
    };
    const shape grid = p_x.grid().shape();
    const auto balanced = cut_by(decomposition<3>::balanced(extents, grid));
    const auto on_the_first_worker = cut_by(decomposition<3>::make([&](std::size_t d) {
      std::vector<std::size_t> sizes(grid[d], 0);
      sizes[0] = extents[d];
      return cut::at(sizes);
    }));
    const auto f = fourier_transform<0, 1, 2>(p_x, p_y, kind, options);
    expect_three_calls<X>(f, balanced, name);
    expect_three_calls<X>(f, on_the_first_worker, name);
    expect_three_calls<X>(fourier_transform<0, 1, 2>(p_x, kind, options), balanced, name);
  }
}

double largest(double mine) { return boost::mpi::all_reduce(test::workers(), mine, boost::mpi::maximum<double>()); }
/// The largest difference of two blocks on any worker; infinite for other shapes.
template <class A, class B>
double difference(const A& a, const B& b) {
  double off = a.size() == b.size() && std::equal(a.shape().begin(), a.shape().end(), b.shape().begin()) ? 0 : INFINITY;
  if (a.size() == 0 && b.size() == 0) off = 0;
  for (std::size_t k = 0; k < a.size() && off < INFINITY; ++k)
    off = std::max(off, test::distance_between(number(a.data()[k]), number(b.data()[k])));
  return largest(off);
}
/// The scalar product of all blocks as real numbers.
template <class A, class B>
double dot(const A& a, const B& b) {
  double all = 0;
  for (std::size_t k = 0; k < a.size(); ++k) all += (std::conj(number(a.data()[k])) * number(b.data()[k])).real();
  return boost::mpi::all_reduce(test::workers(), all, std::plus<double>());
}

/// A transform of all dimensions is what its definition says, with the transpose as its adjoint; and an inverse that
/// brings the tensor back.
template <class X, class Kind>
void expect_definition(const world& everyone, Kind kind, const shape& real_extents, const fourier_options& options,
                       bool adjoint_too = true) {
  constexpr bool to_half = std::is_same_v<Kind, real_to_complex_t>, from_half = std::is_same_v<Kind, complex_to_real_t>;
  shape extents = real_extents;
  if (from_half) extents[2] = extents[2] / 2 + 1;
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(dynamic_extents<3>(shape{n, 1, 1}));
  const auto q = everyone.partition(dynamic_extents<3>(shape{1, n, 1}));
  test::whole_tensor<3> all(extents);
  for (std::size_t k = 0; k < all.values.size(); ++k) all.values[k] = element<X>(index_of(k, extents), 5);
  using T = std::conditional_t<from_half || detail::is_real_to_real<Kind>, double, number>;
  const auto block = [&](const auto& on) {
    return block_from<T>(on, dynamic_extents<3>(all.extents), [&](const partita::index<3>& i) {
      if constexpr (std::is_same_v<T, double>) return all.at(i).real();
      else return all.at(i);
    });
  };
  const auto x =
      block_from<X>(p, dynamic_extents<3>(extents), [](const partita::index<3>& i) { return element<X>(i, 5); });
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t d = to_half ? 2 - k : k;  // the real dimension first, or last
    real_transform real{};
    if constexpr (detail::is_real_to_real<Kind>) real = kind.transforms[Kind::size == 1 ? 0 : d];
    all.transform(d, detail::line_kind_of_dimension<Kind>(d, 3), real, options.inverse || from_half, options.norm,
                  real_extents[d]);
  }
  const auto f = fourier_transform<0, 1, 2>(p, q, kind, options);
  const auto y = f(x);
  BOOST_TEST(difference(y, block(q)) < 1e-11);
  BOOST_TEST((f.result_partition(dynamic_extents<3>(extents)) == q));
  const auto chosen = fourier_transform<0, 1, 2>(p, kind, options);
  BOOST_TEST(difference(chosen(x), block(chosen.result_partition(dynamic_extents<3>(extents)))) < 1e-11);
  if (!adjoint_too) return;
  xt::xtensor<element_of<decltype(y)>, 3> dy = y;
  for (std::size_t k = 0; k < dy.size(); ++k) dy.data()[k] *= static_cast<double>(k % 5) - 1;
  const double left = dot(y, dy), right = dot(x, f.adjoint(dy)), size = std::sqrt(dot(y, y) * dot(dy, dy));
  BOOST_TEST(std::abs(left - right) <= 1e-13 * size);
  const auto again = f.inverse()(y);
  if (from_half) BOOST_TEST(difference(f(again), y) < 1e-11);  // not every half of a spectrum is one
  else BOOST_TEST(difference(again, x) < 1e-12);
  BOOST_TEST(difference(chosen.inverse(dynamic_extents<3>(extents))(chosen(x)), again) < 1e-12);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fourier_transforms_of_several_fields)

BOOST_AUTO_TEST_CASE(two_fields_of_four_numbers_have_their_spectra) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>();
  const bool first = everyone.id() == 0;
  using line = xt::xtensor<number, 1>;
  const line x = first ? line{1, 2, 3, 4} : line(), y = first ? line{1, 0, 0, 0} : line();
  // [fields]
  const auto f = fourier_transform<0>(p, p);
  const auto [u, v] = f(x, y);  // one exchange
  const auto [x_back, y_back] = f.inverse()(u, v);
  // [/fields]
  if (!first) return;
  BOOST_TEST((u == line{{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}}));
  BOOST_TEST((v == line{1, 1, 1, 1}));
  BOOST_TEST((x_back == x && y_back == y));
}

BOOST_AUTO_TEST_CASE(all_kinds_and_norms_are_their_definitions) {
  const world everyone(test::workers());
  for (const fourier_norm norm : {fourier_norm::backward, fourier_norm::ortho, fourier_norm::forward}) {
    for (const bool inverse : {false, true}) {
      const fourier_options options{.norm = norm, .inverse = inverse};
      BOOST_TEST_CONTEXT("norm " << static_cast<int>(norm) << (inverse ? ", inverse" : "")) {
        expect_definition<number>(everyone, complex_to_complex, {5, 4, 6}, options);
        expect_definition<number>(everyone, complex_to_complex, {1, 3, 2}, options);
        for (int kind = 0; kind < 9; ++kind) BOOST_TEST_CONTEXT("transform " << kind)
        expect_definition<double>(everyone, real_to_real(static_cast<real_transform>(kind)), {5, 2, 4}, options);
        const auto three = real_to_real(real_transform::dct_2, real_transform::dst_1, real_transform::hartley);
        expect_definition<double>(everyone, three, {3, 4, 5}, options, false);
      }
    }
    for (const std::size_t n : {1U, 2U, 5U, 6U}) {
      expect_definition<double>(everyone, real_to_complex, {3, 4, n}, {.norm = norm, .real_extent = n});
      expect_definition<number>(everyone, complex_to_real, {3, 4, n}, {.norm = norm, .real_extent = n});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_transform_that_does_not_exist_says_what_it_requires) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<3>(shape{everyone.size(), 1, 1}));
  const auto zeros = [](auto element, const shape& extents) {
    return xt::xtensor<decltype(element), 3>(extents, element);
  };
  const std::string name = "partita::fourier_transform(p_x, p_y)";
  const auto refused = [&](auto call, const std::string& why) {
    const std::string said = test::refused<shape_error>(call);
    BOOST_TEST(said.find(why) != std::string::npos, said << " instead of " << why);
  };
  refused([&] { fourier_transform<0, 1, 2>(p, p, real_to_complex, {.inverse = true}); },
          name + ": real_to_complex has no option .inverse, because complex_to_real is its inverse");
  refused([&] { fourier_transform<0, 1, 2>(p, p, complex_to_real, {.inverse = true, .real_extent = 4}); },
          name + ": real_to_complex has no option .inverse");
  refused([&] { fourier_transform<0, 1, 2>(p, p, complex_to_real); },
          name +
              ": complex_to_real requires the number of real elements along dimension 2, as m complex numbers are "
              "half of the spectrum of 2 m - 2 or 2 m - 1 real ones; give {.real_extent = n}");
  refused([&] { fourier_transform<0, 1, 2>(p).inverse(); },
          name + ".inverse(): requires the extents of x, from which the layout of the result follows");
  refused([&] { fourier_transform<0, 1, 2>(p, p, real_to_complex).inverse(); }, "give {.real_extent = n}");
  const shape none{1, 2, 0}, three{1, 2, 3}, thin{1, 1, 2};
  const std::string rows = std::to_string(everyone.size());
  refused([&] { fourier_transform<0, 1, 2>(p, p, real_to_complex)(zeros(0.0, none)); },
          "requires at least one element along dimension 2, got a tensor of [" + rows + ", 2, 0]");
  refused([&] { fourier_transform<0, 1, 2>(p, p, real_to_complex, {.real_extent = 4})(zeros(0.0, three)); },
          "requires 4 elements along dimension 2, as {.real_extent = 4} says, got a tensor of [" + rows + ", 2, 3]");
  refused([&] { fourier_transform<0, 1, 2>(p, p, complex_to_real, {.real_extent = 6})(zeros(number(), three)); },
          "requires half of the spectrum of 6 real elements along dimension 2, which is 4 complex numbers, got a "
          "tensor of [" +
              rows + ", 2, 3]");
  refused([&] { fourier_transform<0, 1, 2>(p, p, real_to_real(real_transform::dct_1)).plan(thin); },
          "a cosine transform of type I requires at least 2 elements along dimension");
  const auto y = fourier_transform<0, 1, 2>(p, p, complex_to_real, {.real_extent = 5})(zeros(number(), three));
  BOOST_TEST(y.shape()[2] == 5U);
  BOOST_TEST(
      (fourier_transform<0, 1, 2>(p, p, complex_to_real, {.real_extent = 4})(zeros(number(), three)).shape()[2] == 4U));
}

BOOST_AUTO_TEST_CASE(each_field_has_the_bits_of_a_call_of_its_own) {
  const world everyone(test::workers());
  expect_three_calls_everywhere<number>(everyone, complex_to_complex, {7, 4, 6});
  expect_three_calls_everywhere<std::complex<float>>(everyone, complex_to_complex, {3, 5, 1}, {.inverse = true});
  expect_three_calls_everywhere<double>(everyone, real_to_complex, {4, 6, 9}, {.real_extent = 9});
  expect_three_calls_everywhere<number>(everyone, complex_to_real, {4, 6, 3}, {.real_extent = 5});
  expect_three_calls_everywhere<double>(everyone, real_to_real(real_transform::dct_2), {5, 2, 7});
}

BOOST_AUTO_TEST_CASE(so_it_has_without_shared_memory_and_on_several_nodes) {
  const std::array<std::array<const char*, 2>, 2> settings{{{"PARTITA_SHARED", "0"}, {"PARTITA_NODES", "2"}}};
  for (const auto& [setting, value] : settings) {
    const test::pretended as_if(setting, value);
    const world everyone(test::workers());
    expect_three_calls_everywhere<number>(everyone, complex_to_complex, {7, 4, 6});
  }
}

/// A complex number may begin wherever a real number may: behind a real number half an element away from others.
struct fields_in_one_object {
  std::array<number, 6> a{};
  double time = 5;
  std::array<number, 6> b{}, c{};
  double step = 6;

  static auto block(std::array<number, 6>& numbers) {
    return xt::adapt(numbers.data(), numbers.size(), xt::no_ownership(), std::array<std::size_t, 2>{2, 3});
  }
  bool has(const xt::xtensor<number, 2>& x, const xt::xtensor<number, 2>& y, const xt::xtensor<number, 2>& z) {
    return same(block(a), x) && same(block(b), y) && same(block(c), z) && time == 5 && step == 6;
  }
};

BOOST_AUTO_TEST_CASE(fields_half_an_element_apart_have_the_bits_of_calls_of_their_own) {
  for (const char* const shared : {"1", "0"}) {
    const test::pretended setting("PARTITA_SHARED", shared);
    const world everyone(test::workers());
    const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
    const auto f = fourier_transform<0>(p, p);  // of columns, which are cut: the first move takes the caller's blocks
    fields_in_one_object x, y;
    for (std::size_t k = 0; k < 6; ++k)
      for (std::size_t field = 0; field < 3; ++field)
        (field == 0 ? x.a : field == 1 ? x.b : x.c)[k] = element<number>({everyone.id(), k, 3}, field);
    const xt::xtensor<number, 2> a = x.block(x.a), b = x.block(x.b), c = x.block(x.c);
    const xt::xtensor<number, 2> ya = f(a), yb = f(b), yc = f(c), da = f.adjoint(a), db = f.adjoint(b),
                                 dc = f.adjoint(c);
    auto xa = x.block(x.a), xb = x.block(x.b), xc = x.block(x.c);
    auto to_a = y.block(y.a), to_b = y.block(y.b), to_c = y.block(y.c);
    for (int call = 0; call < 2; ++call) {
      const auto [u, v, w] = f(xa, xb, xc);
      BOOST_TEST((same(u, ya) && same(v, yb) && same(w, yc)));
      const auto [du, dv, dw] = f.start_adjoint(xa, xb, xc).finish();
      BOOST_TEST((same(du, da) && same(dv, db) && same(dw, dc)));
      f.into(std::tie(a, b, c), std::tie(to_a, to_b, to_c));
      BOOST_TEST(y.has(ya, yb, yc));
      f.adjoint_into(std::tie(xa, xb, xc), std::tie(to_a, to_b, to_c));
      BOOST_TEST(y.has(da, db, dc));
      f.into(std::tie(xb, xc, xa), std::tie(to_b, to_c, to_a));
      BOOST_TEST(y.has(ya, yb, yc));
      BOOST_TEST(x.has(a, b, c));
    }
  }
}

// [counts]
BOOST_AUTO_TEST_CASE(several_fields_take_the_messages_of_one) {
  const test::pretended shared("PARTITA_SHARED", "0");
  const world everyone(test::workers());
  for (const auto& [name, p_x, p_y] : some_layouts(everyone)) {
    const auto f = fourier_transform<0, 1, 2>(p_x, p_y);
    const extents<8, 6, 7> points;
    const auto x = block_from<number>(p_x, points, [](auto... i) { return element<number>({i...}, 1); });
    const auto y = f(x);
    const kernel_counts one = f.counts();
    BOOST_TEST(one.messages == f.plan(points).messages_sent(), name);
    const std::size_t plans = f.plans_made();
    for (int call = 0; call < 2; ++call) {
      const auto [u, v, w] = f(x, x, x);
      BOOST_TEST(f.counts().messages == one.messages, name);
      BOOST_TEST(f.counts().bytes_by_message == 3 * one.bytes_by_message, name);
      const auto [du, dv] = f.adjoint(y, y);
      const std::size_t of_two = f.counts().messages, bytes_of_two = f.counts().bytes_by_message;
      const auto dx = f.adjoint(y);
      BOOST_TEST(of_two == f.counts().messages, name);
      BOOST_TEST(bytes_of_two == 2 * f.counts().bytes_by_message, name);
    }
    BOOST_TEST(f.plans_made() == plans, name);  // a plan serves any number of fields
  }
}
// [/counts]

/// A call counts the bytes of all its moves, whether they are sent in messages or pass through shared memory.
BOOST_AUTO_TEST_CASE(the_bytes_of_a_call_are_those_of_all_its_moves, *test::with_room()) {
  const auto total = [](std::size_t mine) {
    return boost::mpi::all_reduce(test::workers(), mine, std::plus<std::size_t>());
  };
  for (const char* const way : {"0", "1"}) {
    const test::pretended shared("PARTITA_SHARED", way), nodes("PARTITA_NODES", "1");
    const world everyone(test::workers());
    for (const auto& [name, p_x, p_y] : some_layouts(everyone)) {
      const auto f = fourier_transform<0, 1, 2>(p_x, p_y);
      const extents<8, 6, 7> points;
      const auto x = block_from<number>(p_x, points, [](auto... i) { return element<number>({i...}, 1); });
      const std::size_t bytes = total(f.plan(points).bytes_sent(sizeof(double)));
      const auto y = f(x);
      const auto counted = [&, &name = name](std::size_t fields) {
        const kernel_counts one = f.counts();
        BOOST_TEST(total(one.bytes_by_message + one.bytes_shared) == fields * bytes, name);
        BOOST_TEST((way[0] == '0' ? one.bytes_shared : one.bytes_by_message) == 0U, name);
      };
      for (int call = 0; call < 2; ++call) {
        (void)f.adjoint(y), counted(1);
        (void)f(x, x), counted(2);
        (void)f(x), counted(1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(wrong_fields_are_one_error_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), size = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(size));
  const auto f = fourier_transform<0, 1>(p, p);
  using matrix = xt::xtensor<number, 2>;
  const auto block = [](std::size_t rows, std::size_t columns) {
    return matrix(std::array<std::size_t, 2>{rows, columns}, number(1));
  };
  const auto refused = [](auto call, const char* why) {
    const std::string message = test::refused<shape_error>(call);
    BOOST_TEST(message.find(why) != std::string::npos, message);
  };
  const matrix x = block(2, 4), narrow = block(2, 3);
  matrix u = block(2, 4), v = block(2, 4), small = block(1, 4);
  for (int call = 0; call < 2; ++call) {
    refused([&] { f(x, me + 1 == size ? narrow : x); },
            "requires fields of one shape, got [2, 4] and [2, 3] on worker");
    refused([&] { f.start(x, me + 1 == size ? narrow : x).finish(); }, "requires fields of one shape");
    refused([&] { f.adjoint(x, x, me == 0 ? narrow : x); }, "adjoint(dy...): requires fields of one shape");
    refused([&] { f.into(std::tie(x, x), std::tie(u, me == 0 ? small : v)); }, "requires views of one shape");
    refused([&] { f.into(std::tie(x, x), std::tie(u, me == 0 ? u : v)); },
            "no element with x and with the other views");
    refused([&] { f.into(std::tie(u, x), std::tie(v, me == 0 ? u : small)); }, "view");
    if (size > 1) {
      refused([&] { f(block(2, me == 0 ? 3 : 4), block(2, me == 0 ? 3 : 4)); }, "the blocks are ragged");
      test::expect_refused<disagreement_error>([&] {
        if (me == 0) f(x, x);
        else f(x, x, x);
      });
      test::expect_refused<disagreement_error>([&] {
        if (me == 0) f(x);
        else f(x, x);
      });
      test::expect_refused<disagreement_error>([&] {
        if (me == 0) f.adjoint(x, x);
        else f(x, x);
      });
    }
    const auto [a, b] = f(x, x);  // what follows works
    BOOST_TEST((same(a, f(x)) && same(b, a)));
  }
}

/// One worker gives another option, kind or partition of the result than all others.
BOOST_AUTO_TEST_CASE(a_transform_made_otherwise_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t size = everyone.size();
  const bool odd = everyone.id() + 1 == size;
  const auto p = everyone.partition(extents<dynamic, 1>(size)), same_p = everyone.partition(extents<dynamic, 1>(size));
  const xt::xtensor<number, 2> x(std::array<std::size_t, 2>{2, 3}, number(1));
  const xt::xtensor<double, 2> real(std::array<std::size_t, 2>{2, 3}, 1.0);
  const auto differ = [&](const auto& mine, const auto& theirs, const auto& field) {
    test::expect_refused<disagreement_error>([&] { (odd ? mine : theirs)(field); });
    test::expect_refused<disagreement_error>([&] { (odd ? mine : theirs)(field, field); });
  };
  const auto made = [&](const fourier_options& options) { return fourier_transform<1>(p, p, options); };
  differ(made({.norm = fourier_norm::ortho}), made({}), x);
  differ(made({.norm = fourier_norm::forward}), made({}), x);
  differ(made({.norm = fourier_norm::forward}), made({.norm = fourier_norm::ortho}), x);
  differ(made({.inverse = true}), made({}), x);
  const auto to_real = [&](std::size_t n) { return fourier_transform<1>(p, p, complex_to_real, {.real_extent = n}); };
  differ(to_real(4), to_real(5), x);
  const auto waves = [&](real_transform kind) { return fourier_transform<1>(p, p, real_to_real(kind)); };
  differ(waves(real_transform::dct_2), waves(real_transform::dct_3), real);
  differ(waves(real_transform::dct_2), waves(real_transform::dst_2), real);
  BOOST_TEST(same(fourier_transform<1>(p, same_p)(x), made({})(x)));  // equal arguments are no difference
}

/// The adjoint gives each worker the block that it had in x. Once the plan of an x in unbalanced blocks is evicted by
/// newer ones, the adjoint is refused.
BOOST_AUTO_TEST_CASE(the_adjoint_of_an_unbalanced_x_whose_plan_was_evicted_is_refused) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id(), size = everyone.size();
  using matrix = xt::xtensor<number, 2>;
  const auto f = fourier_transform<1>(everyone.partition(extents<dynamic, 1>(size)),
                                      everyone.partition(extents<1, dynamic>(size)));
  const auto block = [](std::size_t rows, std::size_t columns) {
    return matrix(std::array<std::size_t, 2>{rows, columns}, number(1));
  };
  const auto call_others = [&] {
    for (std::size_t k = 0; k < 33; ++k) f(block(2, size * (k + 9)));
  };
  const matrix x = block(me == 0 ? size + 1 : 1, 2 * size);  // 2 * size rows
  const matrix y = f(x);
  BOOST_TEST((f.adjoint(y).shape() == x.shape()));
  call_others();
  if (size > 1) test::expect_refused<shape_error>([&] { f.adjoint(y); }, "has been forgotten");
  f(x);
  BOOST_TEST((f.adjoint(y).shape() == x.shape()));
  // balanced blocks of a tensor of these extents need no memory
  f(block(2, 2 * size));
  call_others();
  BOOST_TEST((f.adjoint(y).shape() == block(2, 2 * size).shape()));
}

BOOST_AUTO_TEST_SUITE_END()

#else

BOOST_AUTO_TEST_SUITE(fourier_transforms_of_several_fields)

BOOST_AUTO_TEST_CASE(two_fields_of_four_numbers_have_their_spectra,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result none(false);
                       none.message() << "needs FFTW (libfftw3-dev)";
                       return none;
                     })) {}

BOOST_AUTO_TEST_SUITE_END()

#endif
