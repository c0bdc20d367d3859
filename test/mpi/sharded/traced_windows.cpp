// In traced programs, operations along sharded dimensions receive what their blocks read of others, and no dimension is
// gathered: the results are those of the function on tensors, and each worker receives what the completion says.
#include "check_bound.hpp"
#include "random_cases.hpp"

#include <algorithm>
#include <partita/explain/completion_text.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>

using namespace partita;

namespace {

sharded_tensor<double> integers(const world& everyone, const sharding& layout, const shape_list& extents, int salt) {
  return shard<double>(everyone, layout, extents, [=](const auto& index) {
    return static_cast<double>(test::numbered(index, salt) * 7 % 13 - 6);
  });
}
std::size_t largest(const world& everyone, std::size_t here) {
  PMPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_UNSIGNED_LONG, MPI_MAX, everyone.state()->communicator());
  return here;
}
bool same_values(const sharded_tensor<double>& a, const sharded_tensor<double>& b) {
  return test::same_blocks(reshard(a, sharding(a.layout().on, a.layout().rank())),
                           reshard(b, sharding(b.layout().on, b.layout().rank())));
}

/// Traces f for tensors of these layouts and extents, and compares the program with f: values, gradients, and the bytes
/// of each window. Returns how many windows moved something.
template <class F, std::size_t... I>
std::size_t check_windows(const world& everyone, const F& f, const std::vector<spec>& specs,
                          std::index_sequence<I...>) {
  const auto program = trace(f, specs[I]...);
  const completion& done = program.complete();
  const std::vector<sharded_tensor<double>> x{
      integers(everyone, specs[I].layout, specs[I].shape, static_cast<int>(I) + 1)...};
  std::vector<movement> made;
  sharded_tensor<double> y;
  made = record_movements([&] { y = program(x[I]...); });
  BOOST_TEST(same_values(y, f(x[I]...)), to_text(done).c_str());
  std::size_t windows = 0, next = 0;
  const graph& g = program.operations();
  std::erase_if(made, [](const movement& one) { return !one.from.same_layout(one.to); });
  for (std::size_t o = 0; o < program.operations().operations(); ++o) {
    const auto& n = g.operation(o);
    std::vector<sharding> lies;
    std::vector<shape_list> shapes;
    for (std::size_t t = 0; t <= n.operands; ++t)
      lies.push_back(done.used_layout(o, t)), shapes.push_back(g[g.of(n, t)].shape);
    const std::size_t all = done.window(o, {}, sizeof(double)).elements;
    std::size_t each = 0;  // the elements of all operands together, each to its busiest worker
    for (std::size_t i = 0; all > 0 && i < n.operands; ++i) {
      std::size_t said = 0;
      for (std::size_t place = 0; place < g.on().size(); ++place)
        said = std::max(said, n.window->receive_cost(i, place, lies.data(), shapes.data()).elements);
      if (said == 0) continue;
      ++windows, each += said;
      BOOST_TEST_REQUIRE(next < made.size());
      BOOST_TEST(largest(everyone, made[next].bytes) == said * sizeof(double), made[next].operation.c_str());
      BOOST_TEST(made[next++].most_bytes == said * sizeof(double));
    }
    BOOST_TEST((all <= each && (all > 0) == (each > 0)));
  }
  BOOST_TEST(next == made.size());
  const auto loss = [](const auto& of) { return [&](const auto&... a) { return sum(square(of(a...))); }; };
  const auto wanted = value_and_gradient(loss(f), x[I]...), got = value_and_gradient(loss(program), x[I]...);
  BOOST_TEST(wanted.value == got.value);
  BOOST_TEST((same_values(std::get<I>(wanted.gradients), std::get<I>(got.gradients)) && ...), to_text(done).c_str());
  return windows;
}

/// The meshes on all workers.
std::vector<mesh> whole_meshes(std::size_t workers) {
  std::vector<mesh> all = test::meshes(workers);
  std::erase_if(all, [&](const mesh& m) { return m.size() != workers; });
  return all;
}

const auto cumulated = [](const auto& x) { return cumsum(x, dimensions<0>); };
const auto sliced = [](const auto& x) { return slice(x, dimensions<0, 1>, {1, 7}, {2, 5}); };
const auto padded = [](const auto& x) { return pad(x, 2.0, dimensions<0>, {3, 1}); };
const auto composed = [](const auto& x) {
  return slice(cumsum(pad(x, dimensions<0, 1>, {2, 3}, {1, 0}), dimensions<0>), dimensions<0>, {1, 9});
};
const auto divided = [](const auto& x) {
  const auto [one, two] = split<2>(x, dimensions<0>);
  return add(multiply(one, two), cumsum(two, dimensions<0>));
};
/// A step of the wave equation on a periodic line: the neighbours are slices of the line with its ends repeated.
const auto wave = [](const auto& now, const auto& before) {
  const auto wider = pad(now, dimensions<0>, {1, 1});
  const auto left = slice(wider, dimensions<0>, {0, 8}), right = slice(wider, dimensions<0>, {2, 10});
  return subtract(add(left, right), before);
};
const auto concatenated = [](const auto& x, const auto& y) { return concatenate(dimensions<0>, x, y, x); };
const auto concatenated_and_cut = [](const auto& x, const auto& y) {
  return cumsum(slice(concatenate(dimensions<0>, y, x), dimensions<0>, {3, 12}), dimensions<0>);
};
const auto convolved = [](const auto& x, const auto& w) { return convolve<2>(x, w, {.padding = {1, 1}}); };
const auto network = [](const auto& x, const auto& v, const auto& w) {
  return max_pool<2>(relu(convolve<2>(average_pool<2>(convolve<2>(x, v, {.padding = {1, 1}}), {.kernel = {2, 2}}), w,
                                      {.padding = {1, 1}})),
                     {.kernel = {2, 2}});
};
/// LeNet, with smaller filters and fewer channels.
const auto lenet = [](const auto& x, const auto& v, const auto& w, const auto& dense) {
  const auto layer = [](const auto& images, const auto& filters) {
    return max_pool<2>(relu(convolve<2>(images, filters, {.padding = {1, 1}})), {.kernel = {2, 2}});
  };
  return matmul(reshape(layer(layer(x, v), w), shape_list{2, 18}), dense);
};
/// Two levels: down by pooling, up by interpolation, and the upper level added.
const auto u_net = [](const auto& x, const auto& v, const auto& w) {
  const auto top = relu(convolve<2>(x, v, {.padding = {1, 1}}));
  const auto low = relu(convolve<2>(max_pool<2>(top, {.kernel = {2, 2}}), w, {.padding = {1, 1}}));
  return add(top, upsample<2>(low, {.scale = 2}));
};

/// Two levels whose upper one is joined with the lower one, as channels, before the last convolution.
const auto joined_u_net = [](const auto& x, const auto& v, const auto& w, const auto& u) {
  const auto top = relu(convolve<2>(x, v, {.padding = {1, 1}}));
  const auto low = relu(convolve<2>(max_pool<2>(top, {.kernel = {2, 2}}), w, {.padding = {1, 1}}));
  return convolve<2>(concatenate(dimensions<1>, top, upsample<2>(low, {.scale = 2})), u, {.padding = {1, 1}});
};
/// A step of the wave equation on a plane with resting borders: 2 now - before, and the neighbours less 4 now.
const auto plane_wave = [](const auto& now, const auto& before) {
  return subtract(subtract(add(add(pad(slice(now, dimensions<0>, {1, 12}), dimensions<0>, {0, 1}),
                                   pad(slice(now, dimensions<0>, {0, 11}), dimensions<0>, {1, 0})),
                               add(pad(slice(now, dimensions<1>, {1, 8}), dimensions<1>, {0, 1}),
                                   pad(slice(now, dimensions<1>, {0, 7}), dimensions<1>, {1, 0}))),
                           multiply(now, 2)),
                  before);
};

/// The bytes that the busiest worker receives in windows.
template <class F>
std::size_t window_bytes(const F& program, const auto&... x) {
  std::vector<movement> made = record_movements([&] { program(x...); });
  std::size_t bytes = 0;
  for (const movement& one : made)
    if (one.from.same_layout(one.to)) bytes += one.most_bytes;
  return bytes;
}
/// Checks a traced program against the typed program of the same text, bit by bit, and against the arrays of one
/// process, exactly, with the gradients of the sum of the squares.
template <sharding Images, sharding... Others, class F, class X, class... W>
auto check_typed(const world& everyone, const F& f, const X& x, const W&... w) {
  const auto typed = std::tuple{shard<Images>(everyone, x), shard<Others>(everyone, w)...};
  const auto loss = [](const auto& of) { return [&](const auto&... a) { return sum(square(of(a...))); }; };
  return std::apply(
      [&](const auto&... t) {
        const auto program = trace(f, spec(t.layout(), t.extents())...);
        const auto of_arrays = value_and_gradient(loss(f), x, w...);
        const auto of_types = value_and_gradient(loss(f), t...);
        const auto traced = value_and_gradient(loss(program), t.run_time_tensor()...);
        BOOST_TEST((of_types.value == of_arrays.value && traced.value == of_arrays.value));
        const auto y = f(t...).run_time_tensor();
        BOOST_TEST(same_values(program(t.run_time_tensor()...), y));
        constexpr std::size_t rank = rank_of<std::remove_cvref_t<decltype(f(x, w...))>>;
        const xt::xtensor<double, rank> expected = f(x, w...);
        const auto whole = reshard(y, sharding(y.layout().on, rank)).template whole<rank>();
        const bool active = everyone.id() < Images.on.size();
        BOOST_TEST((whole == expected) == active);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          const auto equal = [&]<class G>(const G& exact, const auto& one, const auto& other) {
            constexpr std::size_t n = rank_of<G>;
            const auto a = [&](const auto& d) { return reshard(d, sharding(d.layout().on, n)).template whole<n>(); };
            const auto p = a(one.run_time_tensor()), q = a(other);
            BOOST_TEST(((p == exact) == active && (q == exact) == active));
          };
          (equal(std::get<I>(of_arrays.gradients), std::get<I>(of_types.gradients), std::get<I>(traced.gradients)),
           ...);
        }(std::make_index_sequence<1 + sizeof...(W)>());
        return window_bytes(program, t.run_time_tensor()...);
      },
      typed);
}
/// Whole numbers from -3 to 3.
template <std::size_t N>
xt::xtensor<double, N> small(const std::array<std::size_t, N>& shape, std::size_t salt) {
  xt::xtensor<double, N> x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((5 * k + k / 7 + salt) % 7) - 3;
  return x;
}
/// LeNet, a U-Net and a wave, with rows over P workers.
template <std::size_t P>
void check_typed_on(const world& everyone) {
  static constexpr mesh m{axis{"rows", P}};
  constexpr sharding rows = m.layout("", "", "rows", ""), four = m.layout("", "", "", "");
  const xt::xtensor<double, 4> v = small<4>({2, 1, 3, 3}, 2), w = small<4>({2, 2, 3, 3}, 3);
  const auto le_net = [](const auto& x, const auto& a, const auto& b, const auto& dense) {
    const auto layer = [](const auto& images, const auto& filters) {
      return max_pool<2>(relu(convolve<2>(images, filters, {.padding = {1, 1}})), {.kernel = {2, 2}});
    };
    return matmul(reshape<m.layout("", "")>(layer(layer(x, a), b), {1, 48}), dense);
  };
  // Each worker has 48 / P rows of 8 columns, of batch 1; a worker with two neighbours receives a row from each.
  const std::size_t sides = P == 1 ? 0 : P == 2 ? 1 : 2, cell = sizeof(double);
  const auto images = small<4>({1, 1, 48, 8}, 1);
  BOOST_TEST((check_typed<rows, four, four, m.layout("", "")>(everyone, le_net, images, v, w, small<2>({48, 4}, 6))) ==
             sides * cell * (8 * 1 + 4 * 2));  // a row of the image, and one of 2 channels of half the columns
  BOOST_TEST((check_typed<rows, four, four, four>(everyone, joined_u_net, images, v, w, small<4>({1, 4, 3, 3}, 4))) ==
             sides * cell * (8 * 1 + 4 * 2 + 8 * 4));
  // The rows above and below are windows of their own, of one row each.
  BOOST_TEST((check_typed<m.layout("rows", ""), m.layout("rows", "")>(
                 everyone, plane_wave, small<2>({12, 8}, 1), small<2>({12, 8}, 5))) == (P == 1 ? 0 : 2) * cell * 8);
}

}  // namespace

BOOST_AUTO_TEST_CASE(traced_networks_have_the_bits_of_typed_ones_and_move_their_halos) {
  const world everyone(test::workers());
  switch (everyone.size()) {
    case 1:
      return check_typed_on<1>(everyone);
    case 2:
      return check_typed_on<2>(everyone);
    case 3:
      return check_typed_on<3>(everyone);
    case 4:
      return check_typed_on<4>(everyone);
    case 6:
      return check_typed_on<6>(everyone);
    default:
      BOOST_TEST_MESSAGE("one of the numbers of workers whose types are compiled");
  }
}

BOOST_AUTO_TEST_CASE(traced_programs_work_along_sharded_dimensions) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  std::mt19937 random(71);
  std::size_t windows = 0;
  const auto one = std::make_index_sequence<1>();
  const auto two = std::make_index_sequence<2>();
  const std::vector<mesh> known = whole_meshes(P);
  for (std::size_t k = 0; k < 1 + test::random_cases(23); ++k) {
    const mesh m = known[k == 0 ? 0 : random() % known.size()];
    const auto all = test::layouts(m, 2);
    const sharding rows = sharding(m, 2).cut(0, axis_list(0));
    const std::vector<spec> x{spec(k == 0 ? rows : all[random() % all.size()], {8, 5})};
    windows += check_windows(everyone, cumulated, x, one);
    windows += check_windows(everyone, sliced, x, one);
    windows += check_windows(everyone, padded, x, one);
    windows += check_windows(everyone, composed, x, one);
    windows += check_windows(everyone, divided, x, one);
    const spec other(all[random() % all.size()], {6, 5});
    windows += check_windows(everyone, concatenated, {x[0], other}, two);
    windows += check_windows(everyone, concatenated_and_cut, {x[0], other}, two);
    windows +=
        check_windows(everyone, plane_wave,
                      {spec(all[random() % all.size()], {12, 8}), spec(all[random() % all.size()], {12, 8})}, two);
    windows += check_windows(everyone, wave, {x[0], spec(all[random() % all.size()], {8, 5})}, two);
  }
  BOOST_TEST((P == 1 || windows > 0U), windows);
}

BOOST_AUTO_TEST_CASE(traced_networks_keep_their_features_sharded) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size();
  std::size_t windows = 0;
  const std::vector<mesh> known = whole_meshes(P);
  std::mt19937 random(73);
  for (std::size_t k = 0; k < 1 + test::random_cases(5); ++k) {
    const mesh m = known[k == 0 ? 0 : random() % known.size()];
    const std::size_t last = m.rank() - 1;
    const sharding rows = sharding(m, 4).cut(2, axis_list(0)), columns = sharding(m, 4).cut(3, axis_list(last));
    const sharding images = k % 3 == 0 ? rows : k % 3 == 1 || m.rank() == 1 ? columns : rows.cut(3, axis_list(last));
    const sharding whole(m, 4);
    const spec x(images, {2, 2, 16, 12}), v(whole, {3, 2, 3, 3}), w(whole, {3, 3, 3, 3});
    windows += check_windows(everyone, convolved, {x, v}, std::make_index_sequence<2>());
    windows += check_windows(everyone, network, {x, v, w}, std::make_index_sequence<3>());
    windows += check_windows(everyone, u_net, {x, v, w}, std::make_index_sequence<3>());
    windows += check_windows(
        everyone, joined_u_net,
        {spec(images, {2, 1, 16, 12}), spec(whole, {2, 1, 3, 3}), spec(whole, {2, 2, 3, 3}), spec(whole, {1, 4, 3, 3})},
        std::make_index_sequence<4>());
    windows += check_windows(everyone, lenet,
                             {spec(images, {2, 1, 12, 12}), spec(whole, {2, 1, 3, 3}), spec(whole, {2, 2, 3, 3}),
                              spec(sharding(m, 2), {18, 4})},
                             std::make_index_sequence<4>());
  }
  BOOST_TEST((P == 1 || windows > 0U), windows);
}

BOOST_AUTO_TEST_CASE(completion_reshards_nothing_where_windows_suffice) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const sharding rows = m.layout("", "", "a", "");
  const auto program = trace(network, spec(rows, {2, 2, 16, 12}), spec(m.layout("", "", "", ""), {3, 2, 3, 3}),
                             spec(m.layout("", "", "", ""), {3, 3, 3, 3}));
  const completion& done = program.complete();
  BOOST_TEST(done.reshards.empty());
  BOOST_TEST((done[program.result()][2] == axis_list(0)));
  const step_plan plan = plan_step(done);
  std::size_t bytes = 0;
  for (const step_event& one : plan.events)
    if (one.kind == step_event::what::window) bytes += one.bytes;
  BOOST_TEST(bytes == done.bytes());
  BOOST_TEST((everyone.size() == 1) == (bytes == 0));
}

BOOST_AUTO_TEST_CASE(a_steady_step_along_sharded_dimensions_allocates_nothing) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  test::check_bound(everyone, trace(composed, spec(m.layout("a", ""), {8, 5})), std::make_index_sequence<1>());
  test::check_bound(everyone,
                    trace(u_net, spec(m.layout("", "", "a", ""), {2, 2, 16, 12}),
                          spec(m.layout("", "", "", ""), {3, 2, 3, 3}), spec(m.layout("", "", "", ""), {3, 3, 3, 3})),
                    std::make_index_sequence<3>());
}

BOOST_AUTO_TEST_CASE(consecutive_windows_become_one_exchange_of_a_wider_window) {
  const world everyone(test::workers());
  const auto pooled = [](const auto& x, const auto& v, const auto& w, const auto& b) {
    const auto y = convolve<2>(relu(convolve<2>(x, v, b, {.padding = {1, 1}})), w, {.padding = {1, 2}});
    return max_pool<2>(y, {.kernel = {3, 3}, .stride = 2, .padding = {1, 1}});
  };
  for (const mesh& m : test::meshes(everyone.size()))
    for (const std::size_t rows :
         {std::size_t{3}, 7 * m.size(0) + 2}) {  // few rows: windows reach over several workers
      const auto images = m.rank() == 1 ? sharding(m, 4).cut(2, axis_list(0))
                                        : sharding(m, 4).cut(2, axis_list(0)).cut(3, axis_list(1));
      const std::size_t columns = m.rank() == 1 ? 5 : 7 * m.size(1);
      const auto program = trace(pooled, spec(images, {2, 2, rows, columns}), spec(sharding(m, 4), {3, 2, 3, 3}),
                                 spec(sharding(m, 4), {2, 3, 3, 5}), spec(sharding(m, 1), {3}));
      // [wider]
      auto apart = program.bind<double>(everyone, {0, 1, 2, 3});
      auto wider =
          program.bind<double>(everyone, {0, 1, 2, 3}, {.wider_windows = true, .model = {.multiply_adds = 1e20}});
      // [/wider]
      const auto x = [&](std::size_t k) { return test::argument(everyone, program, k); };
      std::size_t exchanges[2] = {};
      const auto called = [&](auto& step) {
        const std::size_t before = detail::run_state.movement_totals.exchanges;
        const auto y = step(x(0), x(1), x(2), x(3));
        exchanges[&step == &wider] = detail::run_state.movement_totals.exchanges - before;
        return y;
      };
      const auto y = called(apart), z = called(wider);
      BOOST_TEST(test::same_blocks(y, z));
      if (rows > 3 && m.size() == everyone.size() && m.size(0) > 1) {
        BOOST_TEST(exchanges[0] == 3U);
        BOOST_TEST(exchanges[1] == 1U);
      }
      const auto dy = test::made(everyone, layout_of_cotangent(y.layout()), y.extents(), 9);
      const auto expected = apart.backward(dy), gradients = wider.backward(dy);
      for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(test::same_blocks(expected[k], gradients[k]));
    }
}

BOOST_AUTO_TEST_CASE(the_search_shards_features_where_that_is_cheaper) {
  const mesh m{axis{"a", 4}};
  const auto traced_for = [&](std::size_t n) {
    return trace(
        [](const auto& x, const auto& w) {
          return relu(convolve<2>(x, w, {.padding = {1, 1}}));
        },
        spec({1, 1, n, n}), spec(sharding(m, 4), {1, 1, 3, 3}));
  };
  const auto large = traced_for(1024), small = traced_for(4);
  const auto found = search(large.operations(), {{1e-6, 1e-10}}),
             for_small = search(small.operations(), {{1e-6, 1e-10}});
  const auto cuts = [](const auto& answer) {
    const graph g = answer.annotated();
    const sharding layout = complete(g)[value{0}];
    return !layout[2].empty() || !layout[3].empty();
  };
  BOOST_TEST(cuts(found));
  BOOST_TEST(!cuts(for_small));
  BOOST_TEST(found.best.cost.computing_seconds < 2e-3);
}
