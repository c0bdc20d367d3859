// Jobs in which one allocation of one worker fails, in kernels, layers and files whose values are those of a trial
// without failures: see short_of_memory.hpp.
#include "short_of_memory.hpp"

#include <cmath>
#include <complex>
#include <memory>
#include <partita/comm/balanced_extents.hpp>
#include <partita/comm/over_workers.hpp>
#include <partita/io/hdf5.hpp>
#include <partita/io/matrix_market.hpp>
#include <partita/io/optimiser_state.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/io/sharded_checkpoint.hpp>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/halo_exchanges.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/partitioned_elementwise.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/segments.hpp>
#include <partita/kernel/send_to.hpp>
#include <partita/kernel/sort.hpp>
#include <partita/kernel/sorted_numbers.hpp>
#include <partita/kernel/spectral_operator.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/kernel/token_dispatcher.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/flatten.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/nn/transposed_convolution.hpp>
#include <partita/nn/upsampling.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <tuple>
#include <vector>

namespace {

template <std::size_t Rank>
xt::xtensor<double, Rank> numbered(const std::array<std::size_t, Rank>& shape, std::size_t salt) {
  auto x = uninitialised<double, Rank>(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((7 * k + 5 * salt) % 23) - 11;
  return x;
}
template <class Kernel, class X>
void there_and_back(const Kernel& k, const X& x, values& got) {
  const auto y = k(x);
  got << y << k.adjoint(y);
  const auto later = k.start(x).finish();
  got << later;
}
/// Blocks that are so large that collectives and messages take their way for large ones.
constexpr std::size_t large = 60000;

const kind kinds[] = {
    {"sum_over",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         got << sum_over(s.everyone, s.v) << maximum_over(s.everyone, std::vector<double>{s.v, -s.v})
             << exclusive_scan(s.everyone, s.me + 1) << all_of(s.everyone, s.v > 0)
             << inclusive_scan(s.everyone, xt::xtensor<double, 1>(xt::ones<double>({30000}) * s.v), maximum);
       });
     }},
    {"large broadcast",
     [](const setting& s) -> call {
       auto k = std::make_shared<broadcast<line, line>>(s.root, s.p);
       return compared([=](values& got) { there_and_back(*k, numbered<1>({large}, s.me), got); });
     }},
    {"large sum_reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<sum_reduce<line, line>>(s.p, s.root);
       return compared([=](values& got) { there_and_back(*k, numbered<1>({large}, s.me), got); });
     }},
    {"large all_sum_reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_sum_reduce<line>>(s.p, dimensions<0>);
       return compared([=](values& got) { there_and_back(*k, numbered<1>({large}, s.me), got); });
     }},
    {"large all_gather",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_gather<line>>(s.p, dimensions<0>);
       return compared([=](values& got) { there_and_back(*k, numbered<1>({large + s.me}, s.me), got); });
     }},
    {"large repartition",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<plane, plane>>(s.rows, s.columns);
       return compared([=](values& got) { there_and_back(*k, numbered<2>({30, large / 30}, s.me), got); });
     }},
    {"repartition to given cuts",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const repartition k(s.p, s.p, result_cuts(cut::block_cyclic(7 * s.n, s.n, 2)));
         there_and_back(k, numbered<1>({std::size_t{7}}, s.me), got);
       });
     }},
    {"compositions",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto both = compose(sum_reduce(s.p, s.root), broadcast(s.root, s.p));
         const auto twice = add(both, both);
         const auto x = numbered<1>({std::size_t{6}}, s.me);
         got << twice(x) << twice.adjoint(x) << both.start(x).finish();
         got << adjoint_test(s.everyone, compose(twice, both), x, x).exact();
       });
     }},
    {"halo frames",
     [](const setting& s) -> call {
       const auto p = s.everyone.partition(balanced_extents<2>(s.n));
       auto h = std::make_shared<halo_exchange<dynamic_extents<2>>>(
           p, halo_widths<2>{.before = {1, 2}, .after = {1, 0}}, boundary::periodic);
       return compared([=, round = std::size_t{0}](values& got) mutable {
         ++round;
         auto u = h->frame<double>(extents(11 + round % 2, std::size_t{9}));
         h->refresh(u);
         got << u << (*h)(block_from(p, extents(9 + round, std::size_t{12}), [](auto i, auto j) {
           return static_cast<double>(7 * i + j);
         }));
       });
     }},
    {"halos of several fields",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto p = s.everyone.partition(balanced_extents<2>(s.n));
         const halo_exchange narrow(p, {.before = {1, 1}, .after = {1, 1}}, boundary::periodic);
         const halo_exchange wide(p, {.before = {2, 0}, .after = {0, 2}}, boundary::replicate);
         const halo_exchanges both(narrow, wide);
         auto [u, v] = both.frames<double>(extents(11, 8), extents(11, 8));
         both.refresh(u, v);
         const auto x = block_from(p, extents(11, 8), [](auto i, auto j) { return static_cast<double>(7 * i + j); });
         const auto [a, b] = both(x, x);
         const auto [da, db] = both.adjoint(a, b);
         got << u << v << a << b << da << db;
       });
     }},
    {"partitioned_elementwise",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto images = on(s.rows, extents(2 * s.n, std::size_t{3}));
         const auto biases = on(s.everyone.partition<1>(), extents(std::size_t{3}));
         const partitioned_elementwise add_bias(function::add{}, images, biases, broadcast_dimensions<1>);
         const xt::xtensor<double, 2> x = xt::ones<double>(images.block_shape());
         const xt::xtensor<double, 1> bias = xt::ones<double>(biases.block_shape());
         const auto z = add_bias(x, bias);
         got << z << add_bias.rhs().adjoint(z);
       });
     }},
    {"send_to",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const index_exchange there = send_to(s.everyone, std::vector<std::size_t>{0, s.n - 1, s.me, 0});
         there_and_back(there, numbered<2>({4, 3}, s.me), got);
       });
     }},
    {"token_dispatcher",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const token_dispatcher to(s.everyone, 5, std::vector<std::size_t>{0, 4, s.me, 2, 1, 0}, 2);
         const auto rows = to.dispatch(numbered<2>({3, 2}, s.me));
         const auto weights = numbered<2>({3, 2}, 1), dz = numbered<2>({3, 2}, 2);
         const auto [dy, dw] = to.combine_adjoint(rows, weights, dz);
         got << rows << to.combine(rows) << to.combine(rows, weights) << dy << dw;
       });
     }},
    {"segments",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const segments of(s.everyone, balanced_part(3, s.n, s.me), std::vector<std::size_t>{1, 0, 2, 1});
         const auto x = numbered<2>({4, 2}, s.me);
         const auto y = of.maximum(x);
         got << of.sum(x) << of.mean(x) << y << of.maximum_adjoint(x, y, y) << of.softmax(x);
       });
     }},
    {"orders of numbers",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = numbered<1>({20 + s.me}, s.me);
         const auto sorted = sort(s.everyone, x, {.descending = true});
         const auto top = top_k(s.everyone, x, 5);
         got << sorted << argsort(s.everyone, x) << quantile(s.everyone, x, {0.5}) << unique(s.everyone, x)
             << searchsorted(s.everyone, sort(s.everyone, x), x) << top.values << top.indices;
       });
     }},
    {"sort of many numbers",
     [](const setting& s) -> call {
       return compared([s](values& got) { got << sort(s.everyone, numbered<1>({large}, s.me)); });
     }},
    {"products of a sparse matrix",
     [](const setting& s) -> call {
       const std::size_t next = (s.me + 1) % s.n;
       auto a = std::make_shared<csr_matrix<double>>(
           s.everyone, interval{2 * s.me, 2 * s.me + 2}, interval{2 * s.me, 2 * s.me + 2},
           std::vector<triplet<double>>{{2 * s.me, 2 * next, 2.0}, {2 * s.me + 1, 2 * s.me, 3.0}});
       return compared([=](values& got) {
         const auto x = numbered<1>({std::size_t{2}}, s.me);
         const auto y = (*a)(x);
         got << y << a->adjoint(y) << a->values_adjoint(x, y) << (*a)(numbered<2>({2, 3}, s.me));
       });
     }},
#if __has_include(<fftw3.h>)
    {"fourier_transform",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto p = s.everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{s.n, 1, 1})),
                    q = s.everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{1, s.n, 1}));
         const dynamic_extents<3> points(std::array<std::size_t, 3>{4, 6, 5});
         const auto f = fourier_transform<0, 1, 2>(p, q);
         const auto x = block_from<std::complex<double>>(p, points, [](auto i, auto j, auto k) {
           return std::complex<double>(static_cast<double>(i + 2 * j), static_cast<double>(k));
         });
         const auto y = f(x);
         got << y << f.adjoint(y) << f.inverse()(y) << f.start(x).finish();
         const auto g = fourier_transform<0, 1, 2>(p, real_to_complex, {.real_extent = 5});
         const auto r =
             block_from<double>(p, points, [](auto i, auto j, auto k) { return static_cast<double>(i + 3 * j + k); });
         const auto half = g(r);
         got << half << g.inverse(points)(half);
       });
     }},
    {"spectral operators",
     [](const setting& s) -> call {
       const auto p = s.everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{s.n, 1, 1}));
       return compared([=](values& got) {
         const periodic_box<3> cell{{4, 6, 5}, {1, 2, 3}};
         const auto u = block_from<double>(p, dynamic_extents<3>(cell.points),
                                           [](auto i, auto j, auto k) { return static_cast<double>(i + 3 * j + k); });
         got << poisson_solver(p, cell)(u) << spectral_derivative(p, cell, 0)(u);
       });
     }},
#endif
    {"network on images",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto p = s.everyone.partition(dynamic_extents<4>(std::array<std::size_t, 4>{s.n, 1, 1, 1}));
         const auto row = s.everyone.partition(dynamic_extents<2>(std::array<std::size_t, 2>{1, s.n}));
         sequential network(
             batch_norm<double, 4>(p, {.channels = 2}),
             convolution<double, 2>(p, {.in_channels = 2, .out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}}),
             group_norm<double, 4>(p, {.groups = 2, .channels = 4}), relu<double>(), max_pooling(p, {.kernel = {2, 2}}),
             flatten(p, row), dropout(row, {.probability = 0.1}),
             linear<double, row_parallel>(row, row, row, {.in_features = 16, .out_features = 2 * s.n, .seed = 1}),
             layer_norm<double, 2>(row, {.shape = {2 * s.n}}));
         mse_loss<double, 2> loss(row);
         adam<double> optimiser(network.parameters(), {.learning_rate = 0.01});
         const auto x = numbered<4>({2, 2, 4, 4}, s.me);
         const auto wanted = numbered<2>({2 * s.n, 2}, s.me);
         for (int step = 0; step < 2; ++step) {
           got << loss(network(x), wanted);
           network.zero_gradients();
           network.adjoint(loss.adjoint());
           optimiser.step();
         }
         got << network(x);
       });
     }},
    {"network that is cut in space",
     [](const setting& s) -> call {
       const auto p = s.everyone.partition(dynamic_extents<3>(std::array<std::size_t, 3>{1, 1, s.n}));
       struct layers {
         convolution<double, 1> first;
         transposed_convolution<double, 1> second;
         average_pooling<dynamic_extents<3>> pool;
         upsampling<dynamic_extents<3>> up;
       };
       auto k =
           std::make_shared<layers>(layers{{p, {.in_channels = 1, .out_channels = 2, .kernel = {3}, .padding = {1}}},
                                           {p, {.in_channels = 2, .out_channels = 1, .kernel = {2}, .stride = {2}}},
                                           {p, average_pooling_options<1>{.kernel = {2}}},
                                           {p, upsampling_options<1>{.scale = 2.}}});
       return compared([=](values& got) {
         const auto x = numbered<3>({1, 1, 8}, s.me);
         const auto y = k->up(k->pool(k->second(k->first(x))));
         got << y << k->first.adjoint(k->second.adjoint(k->pool.adjoint(k->up.adjoint(y))));
         got << k->first.weight_gradient() << k->second.bias_gradient();
       });
     }},
    {"embedding",
     [](const setting& s) -> call {
       auto k = std::make_shared<embedding<double, 2>>(
           s.columns, embedding_options{.rows = 6, .columns = 2, .cut = embedding_cut::rows});
       return compared([=](values& got) {
         const auto y = (*k)(xt::xtensor<int, 1>{1, 5, 0});
         k->adjoint(y);
         got << y << k->weight_gradient();
       });
     }},
    {"conjugate gradients",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto p_u = s.everyone.partition(dynamic_extents<2>(std::array<std::size_t, 2>{1, s.n})),
                    p_a = s.everyone.partition(dynamic_extents<2>(std::array<std::size_t, 2>{s.n, 1}));
         linear<double> a(s.everyone.partition<1, 1>(), p_u, p_a,
                          {.in_features = 4, .out_features = 2 * s.n, .bias = false});
         for (std::size_t k = 0; k < a.weight().size(); ++k) a.weight().data()[k] = static_cast<double>(k);
         auto x = s.me == 0 ? numbered<2>({3, 4}, 0) : zero_volume<double, 2>(3);
         for (int step = 0; step < 3; ++step) {
           const auto y = a(x);
           const double length = sum_over(s.everyone, xt::sum<double>(y * y)());
           x = xt::xtensor<double, 2>(a.adjoint(y) / (1 + length));
           got << length << x;
         }
       });
     }},
    {"matrix market",
     [](const setting& s) -> call {
       const std::size_t next = (s.me + 1) % s.n;
       auto a = std::make_shared<csr_matrix<double>>(s.everyone, interval{s.me, s.me + 1}, interval{s.me, s.me + 1},
                                                     std::vector<triplet<double>>{{s.me, next, 2.0}});
       return compared([=](values& got) {
         save_matrix_market(s.folder + ".mtx", s.everyone, *a);
         const auto b = load_matrix_market<double>(s.folder + ".mtx", s.everyone);
         got << b.values() << b.rows().start;
       });
     }},
#if __has_include(<hdf5.h>)
    {"hdf5",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const std::string path = s.folder + ".h5";
         const auto x = numbered<2>({2, 6}, s.me);
         if (all_of(s.everyone, true) && s.me == 0) std::remove(path.c_str());
         got << all_of(s.everyone, true);  // before that, the file of an earlier call is gone
         save_hdf5(path, "x", s.rows, extents(2 * s.n, std::size_t{6}), x);
         got << load_hdf5<double, 2>(path, "x", s.columns);
       });
     }},
#endif
    {"saver of checkpoints",
     [](const setting& s) -> call {
       return compared([s, step = std::uint64_t{0}](values& got) mutable {
         checkpoint_saver saver(s.folder + "_saved", {.keep_last = 2, .files = {.sync = false}});
         const auto x = numbered<1>({s.size}, s.me);
         const auto first = ++step;
         saver.save(first, named("x", s.p, line(s.n * s.size), x));
         saver.save(++step, named("x", s.p, line(s.n * s.size), x));
         saver.finish();
         got << load_checkpoint(s.folder + "_saved", s.everyone, step).load<double, 1>("x", s.p);
         got << checkpoint_steps(s.folder + "_saved", s.everyone).empty();
       });
     }},
    {"list of tensors",
     [](const setting& s) -> call {
       return compared([s, step = std::uint64_t{0}](values& got) mutable {
         auto w = s.numbers(s.m.layout("a", ""), {2 * s.n, 3}), b = s.ones(s.m.layout(""), {4});
         save_tensors(s.folder + "_list", ++step, std::tie(w, b));
         auto v = s.ones(s.m.layout("", "a"), {2 * s.n, 3}), c = s.numbers(s.m.layout("a"), {4});
         load_tensors(s.folder + "_list", std::tie(v, c), step);
         got << v << c;
       });
     }},
    {"state of an optimiser",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         auto w = s.numbers(s.m.layout("a", ""), {2 * s.n, 3});
         sharded_adam<double> first({{w}}, {.learning_rate = 0.1}), second({{w}}, {.learning_rate = 0.1});
         first.step(std::tuple(w));
         save_optimiser(s.folder + ".adam.npy", s.everyone, first);
         load_optimiser(s.folder + ".adam.npy", s.everyone, second);
         second.step(std::tuple(w));
         got << w << second.steps();
       });
     }},
};

}  // namespace

int main(int argc, char** argv) { return run_trials(argc, argv, kinds); }
