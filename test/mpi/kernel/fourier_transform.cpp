// Fourier, cosine and sine transforms between random partitions are what their definitions say, with exact adjoints;
// what is moved is the plan. Skipped if FFTW is not installed.
#include "distance.hpp"
#include "mpi_test.hpp"

#if __has_include(<fftw3.h>)
#include "fourier_oracle.hpp"
#include "random_cases.hpp"
#include "refused.hpp"

#include <algorithm>
#include <boost/mpi/collectives/all_reduce.hpp>
#include <cstdlib>
#include <functional>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/kernel/linear_operator.hpp>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace partita;
using detail::line_kind;
using test::number;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

template <std::size_t Rank>
number drawn(const partita::index<Rank>& i, std::size_t salt) {
  std::uint64_t n = hasher(salt).mix(i).value();
  return {static_cast<double>(n % 2001) / 1000 - 1, static_cast<double>(n / 4096 % 2001) / 1000 - 1};
}
template <class T>
T element(number z) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(z.real());
  else return T(z);
}

double sum(double mine) { return boost::mpi::all_reduce(test::workers(), mine, std::plus<double>()); }
double largest(double mine) { return boost::mpi::all_reduce(test::workers(), mine, boost::mpi::maximum<double>()); }
std::size_t sum(std::size_t mine) { return boost::mpi::all_reduce(test::workers(), mine, std::plus<std::size_t>()); }

/// The inner product of real numbers, of this worker's elements or of all.
template <class A, class B>
double dot_here(const A& a, const B& b) {
  double all = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    all += number(a.data()[k]).real() * number(b.data()[k]).real() +
           number(a.data()[k]).imag() * number(b.data()[k]).imag();
  return all;
}
template <class A, class B>
double dot(const A& a, const B& b) {
  return sum(dot_here(a, b));
}
/// Equal shapes and elements; or equal shapes.
template <class A, class B>
bool same(const A& a, const B& b) {
  if constexpr (requires { a.shape(); })
    return same(a.shape(), b.shape()) && std::equal(a.data(), a.data() + a.size(), b.data());
  else return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
/// Between nodes, small boxes are counted twice: as shared with the worker that sends them in a joint message.
const bool on_one_node = std::getenv("PARTITA_NODES") == nullptr;

/// All workers draw the same numbers.
using generator = std::mt19937;

template <std::size_t Rank>
dynamic_partition<Rank> random_partition(const world& everyone, generator& random) {
  std::size_t left = 1 + random() % everyone.size(), size = 1;
  shape<Rank> grid{};
  grid.fill(1);
  for (std::size_t tries = 0; tries < 8; ++tries) {
    const std::size_t d = random() % Rank, by = 2 + random() % 3;
    if (left / by == 0) continue;
    grid[d] *= by, left /= by, size *= by;
  }
  std::vector<std::size_t> ids(everyone.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = k;
  if (random() % 2 == 0) std::shuffle(ids.begin(), ids.end(), random);
  ids.resize(size);
  return everyone.partition(dynamic_extents<Rank>(grid), workers(ids));
}
template <std::size_t Rank>
decomposition<Rank> random_cuts(const shape<Rank>& extents, const shape<Rank>& grid, generator& random) {
  return decomposition<Rank>::make([&](std::size_t d) {
    std::vector<std::size_t> sizes(grid[d]);
    std::size_t left = extents[d];
    for (std::size_t& size : sizes) left -= size = random() % (left + 1);
    sizes[random() % sizes.size()] += left;
    return cut::at(sizes);
  });
}
template <std::size_t Rank>
shape<Rank> random_extents(generator& random) {
  constexpr std::size_t choices[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13};
  shape<Rank> all{};
  do {
    for (std::size_t& n : all) n = choices[random() % std::size(choices)];
  } while (volume_of(all) > 700);
  return all;
}

/// A block whose elements are those of a whole tensor.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> block_of_whole(const dynamic_partition<Rank>& p, const decomposition<Rank>& cuts,
                                    test::whole_tensor<Rank>& all) {
  return block_from<T>(p, cuts, [&](const partita::index<Rank>& i) { return element<T>(all.at(i)); });
}
template <std::size_t Rank>
test::whole_tensor<Rank> random_tensor(const shape<Rank>& extents, std::size_t salt, bool real) {
  test::whole_tensor<Rank> all(extents);
  for (std::size_t k = 0; k < all.values.size(); ++k) {
    all.values[k] = drawn(index_of(k, extents), salt);
    if (real) all.values[k].imag(0);
  }
  return all;
}
/// The farthest element of this worker from those of a whole tensor, relative to the largest of these; infinite for
/// another shape.
template <class Y, std::size_t Rank>
double error_here(const Y& y, const dynamic_partition<Rank>& p, test::whole_tensor<Rank>& all) {
  using T = element_of<Y>;
  const auto wanted = block_of_whole<T>(p, decomposition<Rank>::balanced(all.extents, p.grid().shape()), all);
  double off = 0, most = 1e-300;
  for (const number& z : all.values) most = std::max(most, std::abs(z));
  if (p.active() && !std::equal(y.shape().begin(), y.shape().end(), wanted.shape().begin())) off = INFINITY;
  if (!p.active() && y.size() != 0) off = INFINITY;
  for (std::size_t k = 0; k < y.size() && off < INFINITY; ++k)
    off = std::max(off, test::distance_between(number(y.data()[k]), number(wanted.data()[k])));
  return off / most;
}
template <class Y, std::size_t Rank>
double error_of(const Y& y, const dynamic_partition<Rank>& p, test::whole_tensor<Rank>& all) {
  return largest(error_here(y, p, all));
}

/// What this worker found in many cases, which all workers compare by two messages.
struct many_cases {
  std::vector<double> errors, sums;  // of each case: one error, and so many sums
  std::vector<std::string> what;
  static constexpr std::size_t sums_of_each = 6;

  void expect(double bound) {
    std::vector<double> error(errors.size()), sum(sums.size());
    const auto count = [](const auto& all) { return static_cast<int>(all.size()); };
    boost::mpi::all_reduce(test::workers(), errors.data(), count(errors), error.data(), boost::mpi::maximum<double>());
    boost::mpi::all_reduce(test::workers(), sums.data(), count(sums), sum.data(), std::plus<double>());
    for (std::size_t k = 0; k < what.size(); ++k) {
      const double* const s = &sum[sums_of_each * k];  // <y, dy>, <x, dx>, <y, y>, <dy, dy>, bytes counted, planned
      BOOST_TEST(error[k] < bound, what[k] << "differs by " << error[k]);
      BOOST_TEST(std::abs(s[0] - s[1]) <= bound * std::sqrt(s[2] * s[3]), what[k] << s[0] << " and " << s[1]);
      BOOST_TEST(s[4] == s[5], what[k] << s[4] << " bytes and not " << s[5]);
    }
    *this = many_cases();
  }
};

template <class Kind, class Real, std::size_t Rank, std::size_t... D>
struct checked {
  using X = std::conditional_t<std::is_same_v<Kind, real_to_complex_t> || detail::is_real_to_real<Kind>, Real,
                               std::complex<Real>>;
  using Y = std::conditional_t<std::is_same_v<Kind, complex_to_real_t> || detail::is_real_to_real<Kind>, Real,
                               std::complex<Real>>;
  static constexpr std::size_t count = sizeof...(D), along[count] = {D...}, last = along[count - 1];
  static constexpr double bound = std::is_same_v<Real, double> ? 1e-13 : 1e-5;

  /// A random transform, its operand, and its result by the definition.
  struct drawn {
    const fourier_operator<Kind, Rank, D...>& f;
    const dynamic_partition<Rank>&p_x, &q;
    const shape<Rank>& extents;
    const xt::xtensor<X, Rank>& x;
    test::whole_tensor<Rank>& all;
    bool free, uneven;
    xt::xtensor<Y, Rank> other_result(generator& random) const {
      auto dy_of_all = random_tensor(all.extents, random(), std::is_floating_point_v<Y>);
      return block_of_whole<Y>(q, decomposition<Rank>::balanced(all.extents, q.grid().shape()), dy_of_all);
    }
  };
  template <class Check>
  static void draw(const world& everyone, generator& random, const shape<Rank>& real_extents, Check check) {
    Kind kind{};
    if constexpr (detail::is_real_to_real<Kind>)
      for (std::size_t k = 0; k < count; ++k) {
        kind.transforms[k] = static_cast<real_transform>(random() % 9);
        if (real_extents[along[k]] == 1 && kind.transforms[k] == real_transform::dct_1)
          kind.transforms[k] = real_transform::dct_4;
      }
    const auto norm = static_cast<fourier_norm>(random() % 3);
    constexpr bool half = std::is_same_v<Kind, real_to_complex_t> || std::is_same_v<Kind, complex_to_real_t>;
    const bool inverse = !half && random() % 2 == 0, free = random() % 4 == 0, uneven = random() % 3 == 0;
    const std::size_t real_extent = half ? real_extents[last] : 0;
    const auto p_x = random_partition<Rank>(everyone, random);
    const auto p_y = random() % 3 == 0 ? p_x : random_partition<Rank>(everyone, random);
    const fourier_options options{.norm = norm, .inverse = inverse, .real_extent = real_extent};
    const auto f =
        free ? fourier_transform<D...>(p_x, kind, options) : fourier_transform<D...>(p_x, p_y, kind, options);

    shape<Rank> extents = real_extents;
    if (std::is_same_v<Kind, complex_to_real_t>) extents[last] = real_extent / 2 + 1;
    auto all = random_tensor(extents, random(), std::is_floating_point_v<X>);
    const auto cuts = uneven ? random_cuts(extents, p_x.grid().shape(), random)
                             : decomposition<Rank>::balanced(extents, p_x.grid().shape());
    const xt::xtensor<X, Rank> x = block_of_whole<X>(p_x, cuts, all);

    // the definition, the last dimension first where it is real
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = std::is_same_v<Kind, real_to_complex_t> ? count - 1 - k : k;
      real_transform real{};
      if constexpr (detail::is_real_to_real<Kind>) real = kind.transforms[at];
      all.transform(along[at], detail::line_kind_of_dimension<Kind>(at, count), real,
                    inverse || std::is_same_v<Kind, complex_to_real_t>, norm, real_extents[along[at]]);
    }
    const auto q = f.result_partition(dynamic_extents<Rank>(extents));
    std::ostringstream context;
    context << "extents " << (text() << extents) << " p_x " << p_x << " p_y " << q << (free ? " free" : "")
            << (uneven ? " uneven" : "") << " norm " << static_cast<int>(norm) << (inverse ? " inverse" : "") << '\n';
    check(drawn{f, p_x, q, extents, x, all, free, uneven}, context.str());
    ++test::random_calls();
  }
  /// The values, the bytes and the adjoint, which are compared with those of other cases.
  static void brief(const world& everyone, generator& random, const shape<Rank>& real_extents, many_cases& cases) {
    draw(everyone, random, real_extents, [&](const drawn& a, const std::string& context) {
      const xt::xtensor<Y, Rank> y = a.f(a.x);
      const kernel_counts counts = a.f.counts();
      const xt::xtensor<Y, Rank> dy = a.other_result(random);
      const xt::xtensor<X, Rank> dx = a.f.adjoint(dy);
      const bool is_back = !a.p_x.active() || same(dx.shape(), a.x.shape());
      cases.errors.push_back(is_back ? error_here(y, a.q, a.all) : INFINITY);
      for (const double one : {dot_here(y, dy), dot_here(a.x, dx), dot_here(y, y), dot_here(dy, dy)})
        cases.sums.push_back(one);
      const bool counted = !a.uneven && on_one_node;
      for (const std::size_t bytes :
           {counts.bytes_by_message + counts.bytes_shared, counted ? a.f.plan(a.extents).bytes_sent(sizeof(Real)) : 0})
        cases.sums.push_back(counted ? static_cast<double>(bytes) : 0);
      cases.what.push_back(context);
    });
  }
  static void once(const world& everyone, generator& random, const shape<Rank>& real_extents) {
    draw(everyone, random, real_extents, [&](const drawn& a, const std::string& context) {
      const auto& [f, p_x, q, extents, x, all, free, uneven] = a;
      const auto plan = f.plan(extents);
      BOOST_TEST_CONTEXT(context << plan) {
        const xt::xtensor<Y, Rank> y = f(x);
        BOOST_TEST(error_of(y, q, all) < bound);
        if (!uneven && on_one_node) {
          const kernel_counts counts = f.counts();
          BOOST_TEST(sum(counts.bytes_by_message + counts.bytes_shared) == sum(plan.bytes_sent(sizeof(Real))));
        }
        const xt::xtensor<Y, Rank> dy = a.other_result(random);
        const xt::xtensor<X, Rank> dx = f.adjoint(dy);
        if (p_x.active()) BOOST_TEST(std::equal(dx.shape().begin(), dx.shape().end(), x.shape().begin()));
        const double left = dot(y, dy), right = dot(x, dx), size = std::sqrt(dot(y, y) * dot(dy, dy));
        BOOST_TEST(std::abs(left - right) <= bound * size);

        // the other ways to call it give the same bits
        BOOST_TEST(same(f(x), y));
        BOOST_TEST(same(f.start(x).finish(), y));
        auto of_temporary = f.start(xt::xtensor<X, Rank>(x));
        const xt::xtensor<X, Rank> over(x.shape(), X(9));  // where it was
        BOOST_TEST(same(of_temporary.finish(), y));
        auto back_of_temporary = f.start_adjoint(xt::xtensor<Y, Rank>(dy));
        const xt::xtensor<Y, Rank> over_there(dy.shape(), Y(9));
        BOOST_TEST(same(back_of_temporary.finish(), dx));
        xt::xtensor<Y, Rank> y_into = y;
        y_into.fill(Y(7));
        f.into(x, y_into);
        BOOST_TEST(same(y_into, y));
        BOOST_TEST(same(f.adjoint(dy), dx));
        BOOST_TEST(same(f.start_adjoint(dy).finish(), dx));
        xt::xtensor<X, Rank> dx_into = dx;
        dx_into.fill(X(7));
        f.adjoint_into(dy, dx_into);
        BOOST_TEST(same(dx_into, dx));

        if constexpr (!std::is_same_v<Kind, complex_to_real_t>) {  // not every half of a spectrum is one
          const auto g = free ? f.inverse(dynamic_extents<Rank>(extents)) : f.inverse();
          auto x_of_all = random_tensor(extents, 0, std::is_floating_point_v<X>);
          const auto back =
              block_of_whole<X>(p_x, decomposition<Rank>::balanced(extents, p_x.grid().shape()), x_of_all);
          xt::xtensor<X, Rank> again = g(f(back));
          if (!p_x.active()) again = back;
          double off = 0;
          for (std::size_t k = 0; k < back.size(); ++k)
            off = std::max(off, test::distance_between(number(again.data()[k]), number(back.data()[k])));
          BOOST_TEST(largest(off) < bound);
        }
      }
    });
  }
  static void times(std::size_t n, const world& everyone, std::size_t seed) {
    generator random(static_cast<unsigned>(seed));
    for (std::size_t k = 0; k < test::random_cases(n); ++k) once(everyone, random, random_extents<Rank>(random));
  }
};
/// Blocks that are larger than an L1 cache.
template <class Kind, class Real, std::size_t... D>
void check_large(const world& everyone, std::size_t seed) {
  generator random(static_cast<unsigned>(seed));
  checked<Kind, Real, 3, D...>::once(everyone, random, {26, 33, 21});
  checked<Kind, Real, 3, D...>::once(everyone, random, {34, 17, 40});
}
template <class Kind, class Real, std::size_t Rank, std::size_t... D>
void check(std::size_t n, const world& everyone, std::size_t seed) {
  checked<Kind, Real, Rank, D...>::times(n, everyone, seed);
}
/// 150 cases of small extents.
template <class Kind, class Real, std::size_t Rank, std::size_t... D>
void check_many(const world& everyone, std::size_t seed) {
  constexpr std::size_t choices[] = {1, 1, 2, 3, 5, 7, 4, 6, 11, 13};
  generator random(static_cast<unsigned>(seed));
  many_cases cases;
  for (std::size_t k = 0; k < test::random_cases(150); ++k) {
    shape<Rank> extents{};
    do
      for (std::size_t& n : extents) n = choices[random() % std::size(choices)];
    while (volume_of(extents) > 130);
    checked<Kind, Real, Rank, D...>::brief(everyone, random, extents, cases);
  }
  cases.expect(checked<Kind, Real, Rank, D...>::bound);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fourier_transforms)

BOOST_AUTO_TEST_CASE(four_numbers_have_their_spectrum) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>();
  const xt::xtensor<number, 1> x = everyone.id() == 0 ? xt::xtensor<number, 1>{1, 2, 3, 4} : xt::xtensor<number, 1>();
  const auto y = fourier_transform<0>(p, p)(x);
  if (everyone.id() != 0) return;
  BOOST_TEST((y == xt::xtensor<number, 1>{{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}}));
}

BOOST_AUTO_TEST_CASE(complex_transforms_are_their_definition) {
  const world everyone(test::workers());
  check<complex_to_complex_t, double, 1, 0>(5, everyone, 1);
  check<complex_to_complex_t, double, 2, 0>(5, everyone, 2);
  check<complex_to_complex_t, double, 2, 1, 0>(7, everyone, 3);
  check<complex_to_complex_t, double, 3, 0, 1, 2>(10, everyone, 4);
  check<complex_to_complex_t, double, 3, 1>(5, everyone, 5);
  check<complex_to_complex_t, double, 4, 1, 3>(5, everyone, 6);
  check<complex_to_complex_t, double, 4, 0, 1, 2, 3>(5, everyone, 7);
  check<complex_to_complex_t, float, 3, 0, 2>(5, everyone, 8);
}

BOOST_AUTO_TEST_CASE(real_transforms_have_half_of_a_spectrum) {
  const world everyone(test::workers());
  check<real_to_complex_t, double, 1, 0>(5, everyone, 11);
  check<real_to_complex_t, double, 2, 0, 1>(7, everyone, 12);
  check<real_to_complex_t, double, 3, 0, 1, 2>(10, everyone, 13);
  check<real_to_complex_t, double, 3, 2, 0>(5, everyone, 14);
  check<real_to_complex_t, float, 2, 1>(5, everyone, 15);
}

BOOST_AUTO_TEST_CASE(half_of_a_spectrum_has_its_real_tensor) {
  const world everyone(test::workers());
  check<complex_to_real_t, double, 1, 0>(5, everyone, 21);
  check<complex_to_real_t, double, 2, 0, 1>(7, everyone, 22);
  check<complex_to_real_t, double, 3, 0, 1, 2>(10, everyone, 23);
  check<complex_to_real_t, double, 3, 2, 0>(5, everyone, 24);
  check<complex_to_real_t, float, 2, 1>(5, everyone, 25);
}

BOOST_AUTO_TEST_CASE(cosine_and_sine_transforms_are_their_definitions) {
  const world everyone(test::workers());
  check<real_to_real_t<1>, double, 1, 0>(15, everyone, 31);
  check<real_to_real_t<2>, double, 2, 0, 1>(15, everyone, 32);
  check<real_to_real_t<3>, double, 3, 0, 1, 2>(10, everyone, 33);
  check<real_to_real_t<1>, float, 2, 1>(5, everyone, 34);
}

BOOST_AUTO_TEST_CASE(large_blocks_are_transformed_some_lines_at_a_time) {
  const world everyone(test::workers());
  check_large<complex_to_complex_t, double, 0, 1, 2>(everyone, 41);
  check_large<real_to_complex_t, double, 0, 1, 2>(everyone, 42);
  check_large<real_to_complex_t, double, 2, 0>(everyone, 43);
  check_large<complex_to_real_t, double, 0, 1, 2>(everyone, 44);
  check_large<complex_to_real_t, double, 2, 0>(everyone, 45);
  check_large<real_to_real_t<3>, double, 0, 1, 2>(everyone, 46);
  check_large<complex_to_complex_t, float, 0, 2>(everyone, 47);
}

BOOST_AUTO_TEST_CASE(two_thousand_small_transforms_are_their_definitions) {
  const world everyone(test::workers());
  check_many<complex_to_complex_t, double, 1, 0>(everyone, 51);
  check_many<complex_to_complex_t, double, 2, 1, 0>(everyone, 52);
  check_many<complex_to_complex_t, double, 3, 0, 1, 2>(everyone, 53);
  check_many<complex_to_complex_t, double, 4, 1, 3>(everyone, 54);
  check_many<complex_to_complex_t, double, 4, 0, 1, 2, 3>(everyone, 55);
  check_many<real_to_complex_t, double, 2, 0, 1>(everyone, 56);
  check_many<real_to_complex_t, double, 3, 0, 1, 2>(everyone, 57);
  check_many<real_to_complex_t, double, 3, 2, 0>(everyone, 58);
  check_many<complex_to_real_t, double, 2, 0, 1>(everyone, 59);
  check_many<complex_to_real_t, double, 3, 0, 1, 2>(everyone, 60);
  check_many<complex_to_real_t, double, 3, 2, 0>(everyone, 61);
  check_many<real_to_real_t<1>, double, 1, 0>(everyone, 62);
  check_many<real_to_real_t<2>, double, 2, 0, 1>(everyone, 63);
  check_many<real_to_real_t<3>, double, 3, 0, 1, 2>(everyone, 64);
}

using complex_block = xt::xtensor<number, 3>;
using pencils = fourier_operator<complex_to_complex_t, 3, 0, 1, 2>;
static_assert(linear_operator<pencils, complex_block, complex_block>);
static_assert(linear_operator<fourier_operator<real_to_complex_t, 3, 2>, xt::xtensor<double, 3>, complex_block>);
static_assert(linear_operator<fourier_operator<complex_to_real_t, 3, 2>, complex_block, xt::xtensor<double, 3>>);
static_assert(linear_operator<fourier_operator<real_to_real_t<1>, 2, 0>, xt::xtensor<float, 2>, xt::xtensor<float, 2>>);

// [moves]
BOOST_AUTO_TEST_CASE(dimensions_that_are_not_cut_move_nothing) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1, 1>(everyone.size()));
  const auto f = fourier_transform<1, 2>(p, p);
  const complex_block x =
      block_from<number>(p, extents<7, 4, 5>{}, [](auto... i) { return drawn(partita::index<3>{i...}, 1); });
  for (int call = 0; call < 2; ++call) {
    const complex_block y = f(x);
    const complex_block dx = f.adjoint(y);
    BOOST_TEST(std::abs(dot(y, y) - dot(dx, x)) < 1e-13 * dot(y, y));
    BOOST_TEST(f.counts().messages == 0U);
    BOOST_TEST(f.counts().bytes_by_message + f.counts().bytes_shared == 0U);
  }
  BOOST_TEST(f.plan(extents<7, 4, 5>{}).moves() == 0U);
  BOOST_TEST(f.plans_made() == 1U);
}
// [/moves]

BOOST_AUTO_TEST_CASE(later_calls_make_no_plans_and_one_kernel_takes_tensors_of_many_extents) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const auto f = fourier_transform<0, 1>(p, p, real_to_complex);
  std::size_t made = 0;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t n : {8U, 9U, 5U}) {  // 8 and 9 numbers have 5 in half of their spectrum
      auto all = random_tensor<2>({6, n}, n, true);
      const auto cuts = decomposition<2>::balanced({6, n}, p.grid().shape());
      const xt::xtensor<double, 2> x = block_of_whole<double>(p.as_dynamic(), cuts, all);
      all.transform(1, line_kind::real_to_complex, {}, false, fourier_norm::backward, n);
      all.transform(0, line_kind::complex_to_complex, {}, false, fourier_norm::backward, 6);
      const xt::xtensor<number, 2> y = f(x);
      BOOST_TEST(error_of(y, p.as_dynamic(), all) < 1e-13);
      BOOST_TEST(same(f.adjoint(y).shape(), x.shape()));
    }
    if (round == 0) made = f.plans_made();
  }
  BOOST_TEST(f.plans_made() == made);
}

BOOST_AUTO_TEST_CASE(the_adjoint_goes_back_to_the_blocks_of_the_last_x_or_to_those_of_the_view) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const std::size_t n = 2 * everyone.size(), me = everyone.id(), last = everyone.size() - 1;
  // all on the first worker, and all on the last
  const auto on = [&](std::size_t worker) {
    complex_block x(complex_block::shape_type{me == worker ? n : 0, 4, 1});
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = drawn(partita::index<1>{k}, 3);
    return x;
  };
  const auto q = p.reshape(extents<dynamic, 1, 1>(everyone.size()));
  const auto f = fourier_transform<1>(q, q);
  const complex_block first = on(0), second = on(last);
  const complex_block y = f(first);
  BOOST_TEST(same(y, f(second)));
  BOOST_TEST(same(f.adjoint(y).shape(), second.shape()));
  complex_block view = first;
  f.adjoint_into(y, view);
  BOOST_TEST(std::abs(dot(view, first) - dot(y, y)) <= 1e-13 * dot(y, y));
}

BOOST_AUTO_TEST_CASE(a_move_that_occurs_twice_goes_back_to_the_blocks_of_each, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition<1, 2>();
  const auto p_y = everyone.partition<2, 1>();
  const auto f = fourier_transform<0, 1>(p_x, p_y, real_to_complex);
  BOOST_TEST(f.plan(extents<3, 2>{}).moves() == 3U);  // from p_x to p_y, and once more: half of 2 numbers are 2
  const std::size_t columns = everyone.id() == 0 ? 2 : 0, rows = everyone.id() < 2 ? 3 : 0;
  const xt::xtensor<double, 2> x(std::array<std::size_t, 2>{rows, columns}, 1.0);
  const xt::xtensor<number, 2> y = f(x);
  for (int call = 0; call < 3; ++call) {
    const xt::xtensor<double, 2> dx = f.adjoint(y);
    BOOST_TEST(dx.size() == x.size());
    BOOST_TEST(std::abs(dot(dx, x) - dot(y, y)) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(it_composes_with_other_operators_and_is_measured_and_copied) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const auto f = fourier_transform<0, 1>(p, {.norm = fourier_norm::ortho, .measure = true});
  const auto g = f.inverse(extents<6, 10>{});
  const auto both = compose(f, g);
  const xt::xtensor<number, 2> x =
      block_from<number>(p, extents<6, 10>{}, [](auto... i) { return drawn(partita::index<2>{i...}, 9); });
  for (int call = 0; call < 4; ++call) {
    const xt::xtensor<number, 2> again = both(x), back = both.adjoint(x);
    double off = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      off = std::max({off, std::abs(again.data()[k] - x.data()[k]), std::abs(back.data()[k] - x.data()[k])});
    BOOST_TEST(largest(off) < 1e-13);
  }
  const auto copy = f;
  BOOST_TEST(copy.plans_made() == f.plans_made());
  if (everyone.size() > 1) BOOST_TEST(f.plan(extents<6, 10>{}).moves() == 1U);
  BOOST_TEST(f.result_partition(extents<6, 10>{}).extents()[0] == 1U);
}

BOOST_AUTO_TEST_CASE(a_result_of_no_block_has_the_shape_that_block_from_gives) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  const extents points(P + 2, std::size_t{3});  // the layout of the spectrum has at most 3 workers
  const auto p = everyone.partition(extents(P, std::size_t{1}));
  const auto few = everyone.partition<1, 1>();
  const xt::xtensor<number, 2> x = block_from<number>(p, points, [](auto i, auto j) {
    return drawn(partita::index<2>{i, j}, 5);
  });
  auto f = fourier_transform<0, 1>(p);
  const xt::xtensor<double, 2> twice = block_from(f.result_partition(points), points, [](auto, auto) { return 2.0; });
  xt::xtensor<number, 2> waves = f(x);
  BOOST_TEST((waves.shape() == twice.shape()));
  waves *= twice;
  double off = 0;
  const xt::xtensor<number, 2> doubled = f.inverse(points)(waves);
  for (std::size_t k = 0; k < x.size(); ++k) off = std::max(off, std::abs(doubled.data()[k] - 2.0 * x.data()[k]));
  BOOST_TEST(largest(off) < 1e-12);

  auto half = fourier_transform<0, 1>(few, few, real_to_complex, {.real_extent = 3});
  const xt::xtensor<double, 2> one = block_from(few, points, [](auto i, auto j) {
    return drawn(partita::index<2>{i, j}, 6).real();
  });
  const xt::xtensor<number, 2> spectrum = half(one);
  BOOST_TEST((spectrum.shape() ==
              block_from<number>(few, extents(P + 2, std::size_t{2}), [](auto, auto) { return number(); }).shape()));
  BOOST_TEST((half.adjoint(spectrum).shape() == one.shape()));
}

BOOST_AUTO_TEST_CASE(views_of_any_strides_are_read_and_filled) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<1, 1>());
  const auto f = fourier_transform<0, 1>(p, p, real_to_real(real_transform::dct_2, real_transform::dst_1));
  const std::size_t n = everyone.id() == 0 ? 1 : 0;
  xt::xtensor<double, 2> large({9 * n, 12 * n});
  for (std::size_t k = 0; k < large.size(); ++k) large.data()[k] = drawn(partita::index<1>{k}, 5).real();
  const auto x = xt::view(large, xt::range(1, 9, 2), xt::range(0, 12, 3));
  const xt::xtensor<double, 2> whole = x, y = f(whole);
  BOOST_TEST(same(f(x), y));
  BOOST_TEST(same(f(2.0 * x / 2.0), y));
  xt::xtensor<double, 2> room({std::size_t{8}, 8 * n});  // no elements on other workers, as their results
  room.fill(0);
  auto view = xt::view(room, xt::range(0, 8, 2), xt::range(1, 8, 2));
  f.into(x, view);
  BOOST_TEST(same(xt::xtensor<double, 2>(view), y));
  xt::xtensor<double, 2> wider_room({std::size_t{4}, 12 * n});  // the same extents and alignment, other strides
  wider_room.fill(0);
  auto other = xt::view(wider_room, xt::all(), xt::range(1, 12, 3));
  f.into(x, other);
  BOOST_TEST(same(xt::xtensor<double, 2>(other), y));
  BOOST_TEST(same(xt::xtensor<double, 2>(view), y));
}

BOOST_AUTO_TEST_CASE(what_has_no_transform_is_the_same_error_on_all_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const std::size_t me = everyone.id(), size = everyone.size();
  const auto refused = [](auto call, const char* why) {
    const std::string message = test::refused<shape_error>(call);
    BOOST_TEST(message.find(why) != std::string::npos, message);
  };
  const auto block = [&](std::size_t rows, std::size_t columns) {
    return xt::xtensor<number, 2>(std::array<std::size_t, 2>{rows, columns}, number(1));
  };
  const auto real_block = [&](std::size_t rows, std::size_t columns) {
    return xt::xtensor<double, 2>(std::array<std::size_t, 2>{rows, columns}, 1.0);
  };
  refused([&] { fourier_transform<1>(p, p, complex_to_real); }, "give {.real_extent = n}");
  refused([&] { fourier_transform<1>(p, p, real_to_complex, {.inverse = true}); }, "leave the option out");
  refused([&] { fourier_transform<1>(p, p, complex_to_real, {.real_extent = 9})(block(2, 4)); },
          "which is 5 complex numbers, got a tensor of");
  refused([&] { fourier_transform<1>(p, p, real_to_complex, {.real_extent = 9})(real_block(2, 8)); },
          "requires 9 elements along dimension 1");
  refused([&] { fourier_transform<1>(p, p, real_to_complex)(real_block(2, 0)); },
          "requires at least one element along dimension 1");
  refused([&] { fourier_transform<1>(p, p, real_to_real(real_transform::dct_1))(real_block(2, 1)); },
          "a cosine transform of type I requires at least 2 elements");
  refused([&] { fourier_transform<1>(p, p, real_to_complex).adjoint(block(2, 5)); }, "call it with an x first");
  refused([&] { fourier_transform<1>(p).adjoint(block(2, 5)); }, "requires a dy of the shape of a result");
  refused([&] { fourier_transform<1>(p).inverse(); }, "write inverse(extents)");
  const auto f = fourier_transform<0, 1>(p, p);
  if (size > 1) refused([&] { f(block(2, me == 0 ? 3 : 4)); }, "the blocks are ragged");
  if (size > 1) refused([&] { f.adjoint(block(me == 0 ? 2 : 4, 3)); }, "requires dy in the balanced blocks");
  xt::xtensor<number, 2> x = block(2, 3);
  refused([&] { f.into(x, x); }, "shares no element with x");
  xt::xtensor<number, 2> narrow = block(2, 2), wide = block(2, 3);
  refused([&] { f.into(x, me == 0 ? narrow : wide); }, "requires a view of the shape of the result");
  if (size > 1)
    test::expect_refused<disagreement_error>([&] {
      if (me == 0) f(x);
      else f.adjoint(x);
    });
  // what only one worker says, and what is made of the same blocks
  const auto disagree = [&](const fourier_options& mine, const fourier_options& theirs) {
    test::expect_refused<disagreement_error>([&] { fourier_transform<1>(p, p, me == 0 ? mine : theirs)(x); });
  };
  if (size > 1) {
    disagree({.norm = fourier_norm::ortho}, {.norm = fourier_norm::forward});
    disagree({.inverse = true}, {});
    test::expect_refused<disagreement_error>([&] {
      const real_transform kind = me == 0 ? real_transform::dct_2 : real_transform::dct_3;
      fourier_transform<1>(p, p, real_to_real(kind))(real_block(2, 3));
    });
  }
  // what follows works
  const xt::xtensor<number, 2> y = f(x), back = f.inverse()(y);
  BOOST_TEST(std::abs(back(0, 0) - number(1)) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()

#else

BOOST_AUTO_TEST_SUITE(fourier_transforms)

BOOST_AUTO_TEST_CASE(four_numbers_have_their_spectrum,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result none(false);
                       none.message() << "needs FFTW (libfftw3-dev)";
                       return none;
                     })) {}

BOOST_AUTO_TEST_SUITE_END()

#endif
