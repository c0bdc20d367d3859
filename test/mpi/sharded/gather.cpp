// take_along_axis and gather_nd, and their gradients, are their definitions as loops, in any layouts, also in traced
// and in bound programs.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <cmath>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <utility>
#include <vector>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;
using cube = xt::xtensor<double, 3>;
using numbers = xt::xtensor<int, 2>;

template <class X>
X made(std::array<std::size_t, rank_of<X>> shape, std::size_t salt) {
  X x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((7 * k + 5 * salt) % 11) - 5;
  return x;
}
template <std::size_t N, class X>
auto whole(const X& x) {
  return reshard(x, sharding(x.layout().on, x.rank())).template whole<N>();
}
std::vector<mesh> meshes(std::size_t P) {
  std::vector<mesh> all{mesh{axis{"a", P}, axis{"b", 1}}};
  if (P > 2) all.push_back(mesh{axis{"a", 2}, axis{"b", 1}});  // smaller than the world
  if (P % 2 == 0) all.push_back(mesh{axis{"a", 2}, axis{"b", P / 2}});
  return all;
}

/// Checks a traced program that is called as a function, and its bound program, with the layouts of its arguments.
template <std::size_t N, std::size_t R, class F>
void check_traced(const world& everyone, const xt::xtensor<double, R>& x, const numbers& indices, const F& f,
                  const xt::xtensor<double, N>& y, const xt::xtensor<double, N>& weights,
                  const xt::xtensor<double, R>& dx, const sharding& of_x, const sharding& of_indices) {
  const auto at = xt::xtensor<double, 2>(xt::cast<double>(indices));
  const auto shapes = [](const auto& a) { return detail::shape_of(a); };
  const auto program = trace(f, spec(of_x, shapes(x)), spec(of_indices, shapes(at)));
  const auto u = shard(everyone, of_x, x), i = shard(everyone, of_indices, at);
  const auto z = program(u, i);
  const bool on = everyone.id() < of_x.on.size();
  BOOST_TEST((whole<N>(z) == y) == on, "traced, " << of_x << " at " << of_indices);
  const auto w = shard(everyone, z.layout().without_partials(), weights);
  const auto loss = [&](const auto& v) { return sum(multiply(program(v, i), w)); };
  const auto d = std::get<0>(value_and_gradient(loss, u).gradients);
  BOOST_TEST((whole<R>(d) == dx) == on, "gradient of the traced program, " << of_x << " at " << of_indices);
  auto step = program.template bind<double>(everyone, {0});
  BOOST_TEST((whole<N>(step(u, i)) == y) == on, "bound, " << of_x << " at " << of_indices);
  const auto& gradients = step.backward(shard(everyone, layout_of_cotangent(z.layout()), weights));
  BOOST_TEST((whole<R>(gradients[0]) == dx) == on, "gradient of the bound program, " << of_x << " at " << of_indices);
}

/// Checks f(x, indices) and the gradient of the sum of its products with weights, in all layouts: `place(k)` is the
/// place in x that element k of the result has.
template <std::size_t N, class X, class F, class Place>
void check(const world& everyone, const X& x, const numbers& indices, const F& f,
           const std::array<std::size_t, N>& shape, const Place& place) {
  constexpr std::size_t rank = rank_of<X>;
  xt::xtensor<double, N> y(shape), weights = made<xt::xtensor<double, N>>(shape, 3);
  X dx = xt::zeros_like(x);
  for (std::size_t k = 0; k < y.size(); ++k) {
    y.data()[k] = x.data()[place(k)];
    dx.data()[place(k)] += weights.data()[k];
  }
  const auto loss_by = [&](const auto& at, const auto& w) {
    return [&](const auto& u) { return sum(multiply(f(u, at), w)); };
  };
  BOOST_TEST((f(x, indices) == y));
  std::size_t pairs = 0;
  for (const mesh& m : meshes(everyone.size())) {
    const bool on = everyone.id() < m.size();
    const sharding none(m, rank);
    for (const sharding& of_x :
         {none, none.cut(0, axis_list{0}), none.cut(1, axis_list{0}), none.cut(0, axis_list{1}).cut(1, axis_list{0})})
      for (const sharding& of_indices : {m.layout("a", ""), m.layout("", "a"), m.layout("", ""), m.layout("b", "a")}) {
        const auto u = shard(everyone, of_x, x);
        const auto at = shard(everyone, of_indices, indices);
        const auto taken = f(u, at);
        BOOST_TEST((whole<N>(taken) == y) == on, of_x << " at " << of_indices);
        const auto w = shard(everyone, taken.layout(), weights);
        const auto d = std::get<0>(value_and_gradient(loss_by(at, w), u).gradients);
        BOOST_TEST((whole<rank>(d) == dx) == on, "gradient, " << of_x << " at " << of_indices);
        if (pairs++ % 23 == 0) check_traced(everyone, x, indices, f, y, weights, dx, of_x, of_indices);
      }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gathering)

BOOST_AUTO_TEST_CASE(elements_along_an_axis) {
  const world everyone(test::workers());
  // [along]
  const matrix scores{{3, 1, 2}, {5, 9, 7}};
  const numbers best{{0}, {1}};
  const matrix largest = take_along_axis(scores, best, dimensions<1>);  // {{3}, {9}}
  // [/along]
  BOOST_TEST((largest == matrix{{3}, {9}}));
  const matrix x = made<matrix>({5, 4}, 1);
  for (const std::size_t extent : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
    numbers down({extent, std::size_t{4}}), across({std::size_t{5}, extent});
    for (std::size_t k = 0; k < down.size(); ++k) down.data()[k] = static_cast<int>((k * k + 1) % 5);
    for (std::size_t k = 0; k < across.size(); ++k) across.data()[k] = static_cast<int>((k * k + 2) % 4);
    check<2>(
        everyone, x, down, [](const auto& u, const auto& i) { return take_along_axis(u, i, dimensions<0>); },
        {extent, 4}, [&](std::size_t k) { return static_cast<std::size_t>(down.data()[k]) * 4 + k % 4; });
    check<2>(
        everyone, x, across, [](const auto& u, const auto& i) { return take_along_axis(u, i, dimensions<1>); },
        {5, extent}, [&](std::size_t k) { return k / extent * 4 + static_cast<std::size_t>(across.data()[k]); });
  }
}

BOOST_AUTO_TEST_CASE(rows_at_several_indices) {
  const world everyone(test::workers());
  // [rows]
  const matrix table{{1, 2, 3}, {4, 5, 6}};
  const numbers places{{1, 0}, {0, 2}};
  const xt::xtensor<double, 1> picked = gather_nd<2>(table, places);  // {4, 3}
  const matrix lines = gather_nd<1>(table, numbers{{1}, {1}});        // {{4, 5, 6}, {4, 5, 6}}
  // [/rows]
  BOOST_TEST((picked == xt::xtensor<double, 1>{4, 3}));
  BOOST_TEST((lines == matrix{{4, 5, 6}, {4, 5, 6}}));
  const cube x = made<cube>({4, 3, 2}, 2);
  numbers at({std::size_t{7}, std::size_t{2}});
  for (std::size_t n = 0; n < 7; ++n) at(n, 0) = static_cast<int>((n * n) % 4), at(n, 1) = static_cast<int>(2 * n % 3);
  check<2>(
      everyone, x, at, [](const auto& u, const auto& i) { return gather_nd<2>(u, i); }, {7, 2},
      [&](std::size_t k) { return static_cast<std::size_t>(at(k / 2, 0) * 6 + at(k / 2, 1) * 2) + k % 2; });
  const numbers rows{{3}, {0}, {3}};
  check<3>(
      everyone, x, rows, [](const auto& u, const auto& i) { return gather_nd<1>(u, i); }, {3, 3, 2},
      [&](std::size_t k) { return static_cast<std::size_t>(rows(k / 6, 0)) * 6 + k % 6; });
}

// In a traced program elements that are no index give zeros; otherwise they are an error.
BOOST_AUTO_TEST_CASE(elements_that_are_no_index) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const std::vector<double> any{-1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, std::nan("")};
  const std::size_t n = any.size();
  const auto is_index = [](double said, std::size_t extent) {
    return said >= 0 && said < static_cast<double>(extent) && said == std::floor(said);
  };
  const matrix x = made<matrix>({3, 2}, 1);
  matrix pairs({n * n, 2}), down({n, 2}), at_pairs({n * n, 1}),
      at_down = xt::zeros<double>({n, std::size_t{2}}), of_pairs = xt::zeros<double>({3, 2}), of_down = of_pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      pairs(i * n + j, 0) = any[i], pairs(i * n + j, 1) = any[j];
      const bool is_there = is_index(any[i], 3) && is_index(any[j], 2);
      if (is_there) of_pairs(static_cast<std::size_t>(any[i]), static_cast<std::size_t>(any[j])) += 1;
      at_pairs(i * n + j, 0) = is_there ? x(static_cast<std::size_t>(any[i]), static_cast<std::size_t>(any[j])) : 0;
    }
    for (std::size_t c = 0; c < 2; ++c) {
      down(i, c) = any[i];
      if (!is_index(any[i], 3)) continue;
      at_down(i, c) = x(static_cast<std::size_t>(any[i]), c), of_down(static_cast<std::size_t>(any[i]), c) += 1;
    }
  }
  const auto X = shard(everyone, m.layout("", "a"), x);
  const auto expect = [&](const auto& f, const matrix& indices, const matrix& y, const matrix& dx) {
    const auto I = shard(everyone, m.layout("a", ""), indices);
    const auto program = trace(f, spec(m.layout("", "a"), {3, 2}), spec(m.layout("a", ""), detail::shape_of(indices)));
    const auto loss = [&](const auto& u) { return sum(program(u, I)); };
    const matrix made = whole<2>(program(X, I)), back = whole<2>(std::get<0>(value_and_gradient(loss, X).gradients));
    BOOST_TEST((made == y));
    BOOST_TEST((back == dx));
  };
  expect([](const auto& u, const auto& i) { return take_along_axis(u, i, dimensions<0>); }, down, at_down, of_down);
  expect(
      [](const auto& u, const auto& i) {
        return reshape(gather_nd<2>(u, i), shape_list{i.extents()[0], 1});
      },
      pairs, at_pairs, of_pairs);
  for (const double said : any) {
    const auto call = [&] { take_along_axis(X, shard(everyone, m.layout("a", ""), matrix{{said, 0}}), dimensions<0>); };
    if (is_index(said, 3)) BOOST_CHECK_NO_THROW(call());
    else test::expect_refused<shape_error>(call, "an index is a whole number from 0");
  }
}

BOOST_AUTO_TEST_CASE(the_layout_of_the_result_is_part_of_its_type, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"a", 2}};
  const auto x = shard<m.layout("", "a")>(everyone, matrix{{3, 1}, {5, 9}});
  const auto at = shard<m.layout("a", "")>(everyone, numbers{{1, 0}, {0, 0}});
  const sharded<double, m.layout("a", "")> y = take_along_axis(x, at, dimensions<1>);
  const sharded<double, m.layout("a")> z = gather_nd<2>(x, at);
  if (everyone.id() < 2) {
    BOOST_TEST((y.whole() == matrix{{1, 3}, {5, 5}}));
    BOOST_TEST((z.whole() == xt::xtensor<double, 1>{5, 3}));
  } else {
    y.whole(), z.whole();
  }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}}, other{axis{"b", everyone.size()}};
  const auto x = shard(everyone, m.layout("a", ""), made<matrix>({4, 2}, 1));
  const auto at = [&](const mesh& on, const numbers& all) {
    return shard(everyone, sharding(on, 2).cut(0, axis_list{0}), all);
  };
  test::expect_refused<shape_error>(
      [&] {
        take_along_axis(x, at(m, {{1, 4}}), dimensions<0>);
      },
      "below the extent of dimension 0 of x, 4");
  test::expect_refused<shape_error>(
      [&] {
        take_along_axis(x, at(m, {{1, 0, 1}}), dimensions<0>);
      },
      "along D = 0 alone, got [1, 3] and [4, 2]");
  BOOST_CHECK_THROW(trace([](const auto& u, const auto& i) { return take_along_axis(u, i, dimensions<1>); },
                          spec(m.layout("", ""), {4, 2}), spec(m.layout("", ""), {3, 2})),
                    shape_error);
  BOOST_CHECK_THROW(trace([](const auto& u, const auto& i) { return gather_nd<3>(u, i); },
                          spec(m.layout("", ""), {4, 2}), spec(m.layout("", ""), {1, 3})),
                    shape_error);
  test::expect_refused<shape_error>([&] { take_along_axis(x, at(m, {{1}}), dimensions<0>); },
                                    "along D = 0 alone, got [1, 1] and [4, 2]");
  test::expect_refused<shape_error>(
      [&] {
        gather_nd<3>(x, at(m, {{1, 0, 0}}));
      },
      "got indices of [1, 3] and x of [4, 2]");
  test::expect_refused<partition_error>([&] { take_along_axis(x, at(other, {{1, 1}}), dimensions<0>); }, "on one mesh");
  test::expect_refused<shape_error>(
      [&] {
        gather_nd<2>(x, at(m, {{1, 0}, {3, -1}}));
      },
      "below the extent of dimension 1 of x, 2");
  test::expect_refused<shape_error>([&] { gather_nd<1>(x, at(m, {{1, 0}})); }, "whose last extent is K = 1");
  test::expect_refused<partition_error>([&] { gather_nd<2>(x, at(other, {{1, 1}})); }, "on one mesh");
  BOOST_CHECK_THROW(trace([](const auto& u, const auto& i) { return take_along_axis(u, i, dimensions<0>); },
                          spec(m.layout("", ""), {4, 2}), spec(m.layout("", ""), {1, 3})),
                    shape_error);
  BOOST_CHECK_THROW(trace([](const auto& u, const auto& i) { return gather_nd<1>(u, i); },
                          spec(m.layout("", ""), {4, 2}), spec(m.layout("", ""), {1, 2})),
                    shape_error);
  if (everyone.size() > 1) {
    const auto square = shard(everyone, m.layout("a", ""), numbers{{1, 0}, {0, 1}});
    const bool first = everyone.id() == 0;
    test::expect_refused<disagreement_error>([&] {
      first ? take_along_axis(square, square, dimensions<0>) : take_along_axis(square, square, dimensions<1>);
    });
    const auto terms = shard(everyone, m.layout("", "").partial("a"), numbers{{3, 1}});
    const no_implicit_reshard written_down;
    test::expect_refused<partition_error>([&] { gather_nd<2>(x, terms); }, "requires operands that need not be moved");
    test::expect_refused<partition_error>([&] { take_along_axis(x, terms, dimensions<0>); },
                                          "requires operands that need not be moved");
  }
  BOOST_TEST((whole<1>(gather_nd<2>(x, at(m, {{3, 1}})))(0) == made<matrix>({4, 2}, 1)(3, 1)) == true);
}

BOOST_AUTO_TEST_SUITE_END()
