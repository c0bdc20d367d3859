// Meshes that are smaller than the world: layouts are the same on workers on and outside the mesh, and numbers are
// equal on all workers.
#include "layouts.hpp"

#include <algorithm>
#include <boost/mpi/collectives.hpp>
#include <functional>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/gradient_norm.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/recompute.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace partita;

namespace {

using tensor = sharded_tensor<double>;

/// All meshes with one axis or two axes and at most as many places as workers.
std::vector<mesh> all_meshes(std::size_t workers) {
  std::vector<mesh> all;
  for (std::size_t a = 1; a <= workers; ++a) all.push_back(mesh{axis{"a", a}});
  for (std::size_t a = 2; a <= workers; ++a)
    for (std::size_t b = 2; a * b <= workers; ++b) all.push_back(mesh{axis{"a", a}, axis{"b", b}});
  return all;
}
double element(const short_list<std::size_t>& i, long long salt) {
  return static_cast<double>(test::numbered(i, salt) * 7 % 11) - 5.25;
}
tensor plain(const shape_list& e, long long salt) {
  auto x = detail::tensor_of<double>(nullptr, sharding(mesh(), e.size()), e, detail::tensor_block<double>(e));
  x.for_each_local([&](const auto& i, double& v) { v = element(i, salt); });
  return x;
}
tensor placed(const world& everyone, const sharding& s, const shape_list& e, long long salt) {
  return shard<double>(everyone, s, e, [&](const auto& i) { return element(i, salt); });
}
text layout_of(const tensor& x) { return text() << "" << x.layout() << x.extents(); }
/// Whether all workers of the world have the same text or number.
template <class A>
bool is_same_on_all(const boost::mpi::communicator& all, const A& mine) {
  std::vector<A> them;
  boost::mpi::all_gather(all, mine, them);
  return std::count(them.begin(), them.end(), them[0]) == all.size();
}

struct operation_of_two {
  const char* name;
  std::function<tensor(const tensor&, const tensor&)> f;
};
const operation_of_two operations[] = {
    {"x * x", [](const tensor& x, const tensor&) { return multiply(x, x); }},
    {"x + y", [](const tensor& x, const tensor& y) { return add(x, y); }},
    {"x + y / 2", [](const tensor& x, const tensor& y) { return add(x, multiply(y, 0.5)); }},
    {"2 x - y / 2", [](const tensor& x, const tensor& y) { return multiply(x, 2.0) - multiply(y, 0.5); }},
    {"minimum", [](const tensor& x, const tensor& y) { return minimum(x, y); }},
    {"where", [](const tensor& x, const tensor& y) { return where(less(x, y), x, y); }},
    {"tanh of a product", [](const tensor& x, const tensor& y) { return tanh(multiply(x, y)); }},
    {"relu", [](const tensor& x, const tensor& y) { return relu(add(x, y)); }},
    {"matmul", [](const tensor& x, const tensor& y) { return matmul(x, transpose(y)); }},
    {"matmul and a bias", [](const tensor& x, const tensor& y) { return add(matmul(transpose(x), x), sum(y)); }},
    {"sum of rows", [](const tensor& x, const tensor& y) { return sum(multiply(x, y), dimensions<1>); }},
    {"mean", [](const tensor& x, const tensor& y) { return mean(add(x, y)); }},
    {"maximum of columns", [](const tensor& x, const tensor& y) { return maximum(add(x, y), dimensions<0>); }},
    {"softmax", [](const tensor& x, const tensor& y) { return softmax(add(x, y)); }},
    {"cumsum", [](const tensor& x, const tensor& y) { return cumsum(add(x, y), dimensions<0>); }},
    {"concatenate", [](const tensor& x, const tensor& y) { return concatenate(dimensions<0>, x, multiply(y, y)); }},
    {"lookup",
     [](const tensor& x, const tensor& y) {
       return lookup(add(x, y), xt::xtensor<int, 1>{0, 0});
     }},
    {"take", [](const tensor& x, const tensor& y) { return take(add(x, y), xt::xtensor<int, 1>{0}, dimensions<1>); }},
    {"reshape", [](const tensor& x,
                   const tensor& y) { return reshape(multiply(x, y), shape_list{detail::shape_size(x.extents())}); }},
    {"einsum", [](const tensor& x, const tensor& y) { return einsum<"ij,ij->j">(x, add(y, y)); }},
    {"pad",
     [](const tensor& x, const tensor& y) {
       return pad(add(x, y), dimensions<1>, {1, 1});
     }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_product_has_one_layout_whatever_else_is_asked, *test::at_least(2)) {
  const world everyone(test::workers());
  const mesh m{axis{"a", 2}};
  const auto x =
      shard<double>(everyone, m.layout("", "a"), {3, 1}, [](const auto& i) { return 1 + static_cast<double>(i[0]); });
  const auto y = multiply(x, x);
  text in_a_gradient;
  value_and_gradient(
      [&](const auto& u) {
        const auto z = multiply(u, u);
        in_a_gradient = layout_of(z);
        return sum(z);
      },
      x);
  BOOST_TEST(in_a_gradient == layout_of(y));
  const auto whole = reshard(y, m.layout("", "")).whole<2>();
  if (everyone.id() < 2) BOOST_TEST((whole == xt::xtensor<double, 2>{{1}, {4}, {9}}));
}

BOOST_AUTO_TEST_CASE(layouts_and_values_do_not_depend_on_being_on_the_mesh) {
  const auto communicator = test::workers();
  const world everyone(communicator);
  std::mt19937 random(7);
  const std::size_t extents[] = {1, 2, 3};
  for (const mesh& m : all_meshes(everyone.size())) {
    auto all = test::layouts(m, 2);
    for (const operation_of_two& one : operations) {
      const auto& f = one.f;
      for (int round = 0, rounds = everyone.size() < 4 ? 6 : 2; round < rounds; ++round) {
        const std::size_t rows = extents[random() % 3], columns = random() % 2 == 0 ? 1 : extents[random() % 3];
        const shape_list e = random() % 2 == 0 ? shape_list{rows, columns} : shape_list{columns, rows};
        const sharding s = all[random() % all.size()], t = random() % 2 == 0 ? s : all[random() % all.size()];
        const auto x = placed(everyone, s, e, 1), y = placed(everyone, t, e, 2);
        const text how = text(one.name) << " of " << s << " and " << t << " with " << e;
        const tensor z = f(x, y), expected = f(plain(e, 1), plain(e, 2));
        BOOST_TEST(is_same_on_all(communicator, std::string(layout_of(z).c_str())), how);
        const sharding finished(m, z.rank());
        const auto moved = reshard(z, finished);
        bool same = moved.extents() == expected.extents();
        for (std::size_t k = 0; same && everyone.id() < m.size() && k < expected.size(); ++k)
          same = std::abs(moved.data()[k] - expected.data()[k]) < 1e-12;
        BOOST_TEST(same, how);
        text recorded;
        const auto loss = [&](const auto& u, const auto& v) {
          const auto w = f(u, v);
          recorded = layout_of(w);
          return sum(square(w));
        };
        const auto d = value_and_gradient(loss, x, y);
        BOOST_TEST(recorded == layout_of(z), how);
        const auto whole = value_and_gradient([&](const auto& u, const auto& v) { return sum(square(f(u, v))); },
                                              plain(e, 1), plain(e, 2));
        BOOST_TEST(std::abs(d.value - whole.value) <= 1e-12 * std::abs(whole.value), how);
        BOOST_TEST(is_same_on_all(communicator, d.value), how);
        BOOST_TEST(is_same_on_all(communicator, std::string(layout_of(std::get<0>(d.gradients)).c_str())), how);
        BOOST_TEST(is_same_on_all(communicator, std::string(layout_of(std::get<1>(d.gradients)).c_str())), how);
        const auto back = reshard(std::get<1>(d.gradients), sharding(m, 2));
        same = true;
        for (std::size_t k = 0; everyone.id() < m.size() && k < back.size(); ++k)
          same = same && std::abs(back.data()[k] - std::get<1>(whole.gradients).data()[k]) < 1e-11;
        BOOST_TEST(same, how);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(layouts_of_images_do_not_depend_on_being_on_the_mesh) {
  const auto communicator = test::workers();
  const world everyone(communicator);
  std::mt19937 random(8);
  const std::pair<const char*, std::function<tensor(const tensor&, const tensor&)>> of_images[] = {
      {"convolve",
       [](const tensor& x, const tensor& w) {
         return convolve<2>(x, w, {.padding = {1, 1}});
       }},
      {"relu of convolve", [](const tensor& x, const tensor& w) { return relu(convolve<2>(multiply(x, x), w)); }},
      {"max_pool",
       [](const tensor& x, const tensor& w) {
         return max_pool<2>(multiply(x, sum(w)), {.kernel = {1, 2}});
       }},
      {"adaptive_average_pool",
       [](const tensor& x, const tensor& w) {
         return adaptive_average_pool<2>(multiply(x, sum(w)), {.size = {1, 1}});
       }},
  };
  for (const mesh& m : all_meshes(everyone.size())) {
    const auto all = test::layouts(m, 4);
    for (const auto& one : of_images)
      for (int round = 0; round < 2; ++round) {
        const shape_list e{1 + random() % 2, 1 + random() % 2, 1 + random() % 3, 2 + random() % 2};
        const shape_list filter{1 + random() % 2, e[1], 1, 2};
        const sharding s = all[random() % all.size()], t = all[random() % all.size()];
        const text how = text(one.first) << " of " << s << " and " << t << " with " << e << " and " << filter;
        const auto x = placed(everyone, s, e, 1), w = placed(everyone, t, filter, 2);
        const auto& f = one.second;
        text recorded;
        const auto d = value_and_gradient(
            [&](const auto& u, const auto& v) {
              const auto y = f(u, v);
              recorded = layout_of(y);
              return sum(square(y));
            },
            x, w);
        const auto whole = value_and_gradient([&](const auto& u, const auto& v) { return sum(square(f(u, v))); },
                                              plain(e, 1), plain(filter, 2));
        BOOST_TEST(recorded == layout_of(f(x, w)), how);
        BOOST_TEST(is_same_on_all(communicator, std::string(recorded.c_str())), how);
        BOOST_TEST(is_same_on_all(communicator, d.value), how);
        BOOST_TEST(std::abs(d.value - whole.value) <= 1e-12 * std::abs(whole.value), how);
      }
  }
}

BOOST_AUTO_TEST_CASE(layouts_of_programs_do_not_depend_on_being_on_the_mesh) {
  const auto communicator = test::workers();
  const world everyone(communicator);
  std::mt19937 random(9);
  const auto check = [&](const char* name, const auto& f) {
    for (const mesh& m : all_meshes(everyone.size())) {
      const auto all = test::layouts(m, 2);
      const shape_list e{1 + random() % 3, 1 + random() % 2}, other{random() % 2 == 0 ? 1 : e[0], e[1]};
      const sharding s = all[random() % all.size()].without_partials(),
                     t = all[random() % all.size()].without_partials();
      const text how = text(name) << " of " << s << " and " << t << " with " << e << " and " << other;
      const auto x = placed(everyone, s, e, 1), y = placed(everyone, t, other, 2);
      const auto program = trace(f, spec(s, e), spec(t, other));
      const tensor z = program(x, y), expected = f(plain(e, 1), plain(other, 2));
      auto step = program.template bind<double>(everyone, {0, 1});
      const tensor bound = step(x, y);
      BOOST_TEST(is_same_on_all(communicator, std::string(layout_of(z).c_str())), how);
      BOOST_TEST(layout_of(bound) == layout_of(z), how);
      BOOST_TEST(std::abs(sum(z).number() - sum(expected).number()) < 1e-12, how);
      BOOST_TEST(sum(z).number() == sum(bound).number(), how);
      const auto loss = [&](const auto& u, const auto& v) { return sum(square(program(u, v))); };
      const auto d = value_and_gradient(loss, x, y).gradients;
      const auto& back = step.backward(multiply(z, 2));
      BOOST_TEST(layout_of(back[0]) == layout_of(std::get<0>(d)), how);
      BOOST_TEST(std::abs(sum(square(back[1])).number() - sum(square(std::get<1>(d))).number()) < 1e-9, how);
    }
  };
  check("x + y", [](const auto& x, const auto& y) { return add(x, y); });
  check("tanh of a product", [](const auto& x, const auto& y) { return tanh(multiply(x, y)); });
  check("minimum", [](const auto& x, const auto& y) { return minimum(x, multiply(y, 0.5)); });
  check("matmul", [](const auto& x, const auto& y) { return matmul(x, transpose(y)); });
  check("softmax", [](const auto& x, const auto& y) { return softmax(add(x, y)); });
  check("sum of rows", [](const auto& x, const auto& y) { return sum(multiply(x, y), dimensions<1>); });
}

BOOST_AUTO_TEST_CASE(a_number_is_the_same_on_every_worker_of_the_world) {
  const auto communicator = test::workers();
  const world everyone(communicator);
  for (const mesh& m : all_meshes(everyone.size())) {
    const sharding cut = sharding(m, 1).cut(0, axis_list(0));
    const auto x = shard<double>(everyone, cut, {5}, [](const auto& i) { return 1.5 + static_cast<double>(i[0]); });
    const auto one = shard<double>(everyone, cut, {1}, [](const auto&) { return 4.25; });
    const auto scalar = shard<double>(everyone, sharding(m, 0), {}, [](const auto&) { return 0.75; });
    BOOST_TEST(sum(x).number() == 17.5);
    BOOST_TEST(one.number() == 4.25);
    BOOST_TEST(scalar.number() == 0.75);
    BOOST_TEST(scalar.whole<0>()() == 0.75);
    BOOST_TEST(add(exp(multiply(scalar, 0)), scalar).number() == 1.75);
    BOOST_TEST(value_and_gradient([](const auto& u) { return sum(square(u)); }, x).value == 71.25);
    BOOST_TEST(
        value_and_gradient([](const auto& u) { return sum(recompute([](const auto& v) { return square(v); }, u)); }, x)
            .value == 71.25);
    BOOST_TEST(global_norm(std::tuple(one, one)) == std::sqrt(2 * 4.25 * 4.25));
    test::expect_refused<shape_error>([&] { x.number(); });
    const placed_mesh at_the_end(m, workers(everyone.size() - m.size(), everyone.size()));
    BOOST_TEST(reshard(one, at_the_end, cut).number() == 4.25);
    BOOST_TEST(sum(square(reshard(x, at_the_end, cut))).number() == 71.25);
    std::size_t seen = 0;
    scalar.for_each_local([&](const auto&, double) { ++seen; });
    BOOST_TEST(seen == (everyone.id() < m.size() ? 1U : 0U));
  }
}
