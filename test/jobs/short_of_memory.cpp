// Jobs in which one allocation of one worker fails, in kernels, layers, sharded calls and files: see
// short_of_memory.hpp.
#include "short_of_memory.hpp"

#include <unistd.h>
#include <algorithm>
#include <boost/mpi/environment.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/io/sharded_npy.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/all_to_all.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/halo_exchange.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sort.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

template <class Y>
bool is(const Y& y, double value, std::size_t size) {
  bool right = y.size() == size;
  for (const double element : y) right = right && element == value;
  return right;
}
template <class A, class B>
bool are_equal(const A& a, const B& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}
/// The numbers first, first + 1, ...
xt::xtensor<double, 1> counted(std::size_t first, std::size_t size) {
  xt::xtensor<double, 1> x = xt::zeros<double>({size});
  for (std::size_t k = 0; k < size; ++k) x(k) = static_cast<double>(first + k);
  return x;
}
/// Whether pairs of rows are those of worker 0, 1, ...
template <class Y>
bool is_by_rows(const Y& y, std::size_t n) {
  bool right = y.shape()[0] == 2 * n;
  const std::size_t width = static_cast<std::size_t>(y.shape()[1]);
  for (std::size_t k = 0; right && k < y.size(); ++k) right = y.data()[k] == static_cast<double>(k / width / 2 + 1);
  return right;
}

/// Blocks of other sizes in every call, some of them empty. `round` counts the calls; the first one moves more sizes
/// than a kernel has plans for.
class changing_sizes {
 public:
  template <class Move>
  bool operator()(Move move) {
    bool right = true;
    const std::size_t first = next_, last = first + (first == 0 ? 70 : 4);
    next_ = last;
    for (std::size_t round = first; round < last; ++round) right = move(round) && right;
    return right;
  }
  static std::size_t of(std::size_t worker, std::size_t round) {
    return (round + worker) % 4 == 0 ? 0 : (round * (worker + 2) + round / 5) % 13;
  }

 private:
  std::size_t next_ = 0;
};

const kind kinds[] = {
    {"world",
     [](const setting& s) -> call {
       return [s] {
         const world other;
         return is(all_sum_reduce(other.partition(extents(s.n)), dimensions<0>)(s.vec()), s.total, s.size);
       };
     }},
    {"part",
     [](const setting& s) -> call {
       return [s] {
         const world some = s.everyone.part(workers(0, s.n > 1 ? s.n - 1 : 1));
         if (!some.active()) return true;
         const all_sum_reduce sum(some.partition(extents(some.size())), dimensions<0>);
         return is(sum(s.vec()), static_cast<double>(some.size() * (some.size() + 1) / 2), s.size);
       };
     }},
    {"split",
     [](const setting& s) -> call {
       return [s] {
         const world same = s.everyone.split(0);
         return is(all_sum_reduce(same.partition(extents(s.n)), dimensions<0>)(s.vec()), s.total, s.size);
       };
     }},
    {"broadcast",
     [](const setting& s) -> call {
       auto k = std::make_shared<broadcast<line, line>>(s.root, s.p);
       return [=] { return is((*k)(s.vec()), 1, s.size); };
     }},
    {"broadcast adjoint",
     [](const setting& s) -> call {
       auto k = std::make_shared<broadcast<line, line>>(s.root, s.p);
       return [=] { return is(k->adjoint(s.vec()), s.total, s.me == 0 ? s.size : 0); };
     }},
    {"sum_reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<sum_reduce<line, line>>(s.p, s.root);
       return [=] { return is((*k)(s.vec()), s.total, s.me == 0 ? s.size : 0); };
     }},
    {"all_sum_reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_sum_reduce<line>>(s.p, dimensions<0>);
       return [=] { return is((*k)(s.vec()), s.total, s.size); };
     }},
    {"all_sum_reduce started",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_sum_reduce<line>>(s.p, dimensions<0>);
       return [=] {
         const auto x = s.vec();
         return is(k->start(x).finish(), s.total, s.size);
       };
     }},
    {"reproducible sum",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_sum_reduce<line, reproducible_t>>(s.p, dimensions<0>, reproducible);
       return [=] { return is((*k)(s.vec()), s.total, s.size); };
     }},
    {"all_reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<decltype(all_reduce(s.p, dimensions<0>, maximum))>(s.p, dimensions<0>, maximum);
       return [=] { return is((*k)(s.vec()), static_cast<double>(s.n), s.size); };
     }},
    {"reduce",
     [](const setting& s) -> call {
       auto k = std::make_shared<decltype(reduce(s.p, s.root, maximum))>(s.p, s.root, maximum);
       return [=] { return is((*k)(s.vec()), static_cast<double>(s.n), s.me == 0 ? s.size : 0); };
     }},
    {"repartition",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<plane, plane>>(s.rows, s.columns);
       return [=] { return is_by_rows((*k)(s.mat(2, s.n * s.size)), s.n); };
     }},
    {"repartition adjoint",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<plane, plane>>(s.rows, s.columns);
       return [=] { return is(k->adjoint((*k)(s.mat(2, s.n * s.size))), s.v, 2 * s.n * s.size); };
     }},
    {"repartition started",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<plane, plane>>(s.rows, s.columns);
       return [=] {
         const auto x = s.mat(2, s.n * s.size);
         return is_by_rows(k->start(x).finish(), s.n);
       };
     }},
    {"repartition of changing sizes",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<line, line>>(s.p, s.p);
       return [=, sizes = changing_sizes()]() mutable {
         return sizes([&](std::size_t round) {
           std::size_t before = 0, all = 0;
           for (std::size_t w = 0; w < s.n; all += sizes.of(w++, round)) before += w < s.me ? sizes.of(w, round) : 0;
           const xt::xtensor<double, 1> x = counted(before + round, sizes.of(s.me, round));
           const interval own = cut::balanced(all, s.n).part(s.me);
           xt::xtensor<double, 1> y = counted(0, own.size());
           if (round % 4 == 0) k->into(x, y);
           else if (round % 4 == 1) y = k->start(x).finish();
           else y = (*k)(x);
           if (round % 4 == 2) y = (*k)(x);  // the plan is used again
           return are_equal(y, counted(own.start + round, own.size())) && are_equal(k->adjoint(y), x);
         });
       };
     }},
    {"repartition of blocks that stay",
     [](const setting& s) -> call {
       auto k = std::make_shared<repartition<line, line>>(s.p, s.p);
       return [=, sizes = changing_sizes()]() mutable {
         return sizes([&](std::size_t round) {  // in every fourth call no worker waits for another
           const std::size_t last = round % 4 == 0 ? 20 + round : 3,
                             others = round % 4 == 0 ? last : 4 * (round / 4) + (round % 4 == 2 ? 11 : 9);
           const xt::xtensor<double, 1> x = counted(s.me * others + round, s.me + 1 == s.n ? last : others);
           const interval own = cut::balanced((s.n - 1) * others + last, s.n).part(s.me);
           const bool right = are_equal((*k)(x), counted(own.start + round, own.size()));
           return right && (round % 4 == 0 || are_equal(k->adjoint(counted(own.start + round, own.size())), x));
         });
       };
     }},
    {"repartition of staggered blocks",
     [](const setting& s) -> call {
       const std::size_t lines = s.n % 2 == 0 ? 2 : 1, along = s.n / lines;
       auto k = std::make_shared<repartition<plane, plane>>(s.everyone.partition(extents(lines, along)), s.columns);
       return [=, sizes = changing_sizes()]() mutable {
         return sizes([&](std::size_t round) {
           const std::size_t width = 3 + round % 40, own = s.me / along;
           const auto end = [&](std::size_t line, std::size_t place) {
             return place == along ? width : place * (round * (line + 1) % (width / along + 1));
           };
           const std::size_t from = end(own, s.me % along), to = end(own, s.me % along + 1),
                             rows = 1 + (round + own) % 2, above = own == 0 ? 0 : 1 + round % 2;
           xt::xtensor<double, 2> x = xt::zeros<double>({rows, to - from});
           for (std::size_t i = 0; i < rows; ++i)
             for (std::size_t j = 0; j < to - from; ++j) x(i, j) = static_cast<double>(1000 * (above + i) + from + j);
           const auto y = (*k)(x);
           const cut balanced = cut::balanced(width, s.n);
           bool right = y.shape()[0] == (lines == 1 ? rows : 3) && y.shape()[1] == balanced.size(s.me);
           for (std::size_t i = 0; right && i < y.shape()[0]; ++i)
             for (std::size_t j = 0; right && j < y.shape()[1]; ++j)
               right = y(i, j) == static_cast<double>(1000 * i + balanced.part(s.me).start + j);
           return right && are_equal(k->adjoint(y), x);
         });
       };
     }},
    {"all_gather",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_gather<plane>>(s.rows, dimensions<0>);
       return [=] { return is_by_rows((*k)(s.mat(2, s.size)), s.n); };
     }},
    {"reduce_scatter",
     [](const setting& s) -> call {
       auto k = std::make_shared<reduce_scatter<plane>>(s.rows, dimensions<0>);
       return [=] { return is((*k)(s.mat(2 * s.n, s.size)), s.total, 2 * s.size); };
     }},
    {"all_to_all",
     [](const setting& s) -> call {
       auto k = std::make_shared<all_to_all<plane, plane>>(s.rows, s.columns);
       return [=] { return is_by_rows((*k)(s.mat(2, 300 * s.n)), s.n); };
     }},
    {"halo_exchange",
     [](const setting& s) -> call {
       const halo_exchange given(s.p, {.before = {1}, .after = {1}}, boundary::periodic);
       auto k = std::make_shared<std::remove_const_t<decltype(given)>>(s.p, halo_widths<1>{.before = {1}, .after = {1}},
                                                                       boundary::periodic);
       const double before = static_cast<double>((s.me + s.n - 1) % s.n + 1),
                    after = static_cast<double>((s.me + 1) % s.n + 1);
       return [=] {
         const auto y = (*k)(s.vec());
         const bool right = y.size() == s.size + 2 && y(0) == before && y(1) == s.v && y(s.size + 1) == after;
         return right && k->adjoint(y).size() == s.size;
       };
     }},
    {"index_exchange",
     [](const setting& s) -> call {
       return [s] {  // each worker owns two rows, and wants the next two
         const std::size_t next = (s.me + 1) % s.n;
         const index_exchange k(s.everyone, {2 * s.me, 2 * s.me + 1}, {2 * next, 2 * next + 1});
         const auto y = k(s.mat(2, s.size));
         return is(y, static_cast<double>(next + 1), 2 * s.size) && is(k.adjoint(y), s.v, 2 * s.size);
       };
     }},
    {"csr_matrix",
     [](const setting& s) -> call {
       return [s] {
         const std::size_t next = (s.me + 1) % s.n;
         const csr_matrix<double> a(s.everyone, {s.me, s.me + 1}, {s.me, s.me + 1}, {{s.me, next, 2.0}});
         const xt::xtensor<double, 1> x{s.v};
         const double back = static_cast<double>((s.me + s.n - 1) % s.n + 1);
         return is(a(x), 2 * static_cast<double>(next + 1), 1) && is(a.adjoint(x), 2 * back, 1);
       };
     }},
    {"sort of numbers",
     [](const setting& s) -> call {
       return [s] {
         xt::xtensor<double, 1> x = xt::ones<double>({s.size}) * static_cast<double>(s.n - s.me);
         return is(sort(s.everyone, x), s.v, s.size);
       };
     }},
    {"compose",
     [](const setting& s) -> call {
       auto k = std::make_shared<decltype(compose(broadcast(s.root, s.p), sum_reduce(s.p, s.root)))>(
           compose(broadcast(s.root, s.p), sum_reduce(s.p, s.root)));
       return [=] { return is((*k)(s.vec()), static_cast<double>(s.n), s.me == 0 ? s.size : 0); };
     }},
    {"linear",
     [](const setting& s) -> call {
       auto k =
           std::make_shared<linear<double>>(s.everyone.partition<1, 1>(), s.columns, s.rows,
                                            linear_options{.in_features = 4, .out_features = 2 * s.n, .bias = false});
       k->weight().fill(1);
       return [=] {
         xt::xtensor<double, 2> x = xt::ones<double>({s.me == 0 ? s.size : 0, s.me == 0 ? std::size_t{4} : 0});
         if (s.me != 0) x = zero_volume<double, 2>(s.size);
         const auto y = (*k)(x);
         const auto dx = k->adjoint(y);
         k->zero_gradients();
         return is(y, 4, 2 * s.size) && dx.size() == (s.me == 0 ? 4 * s.size : 0);
       };
     }},
    {"convolution",
     [](const setting& s) -> call {
       const auto p = s.everyone.partition(extents(std::size_t{1}, std::size_t{1}, s.n));
       auto k = std::make_shared<convolution<double, 1>>(
           p,
           convolution_options<1>{.in_channels = 1, .out_channels = 1, .kernel = {3}, .padding = {1}, .bias = false});
       k->weight().fill(1);
       return [=] {
         const xt::xtensor<double, 3> x = xt::ones<double>({std::size_t{1}, std::size_t{1}, s.size}) * s.v;
         const auto y = (*k)(x);
         const auto dx = k->adjoint(y);
         k->zero_gradients();
         return y.size() == s.size && dx.size() == s.size && y(0, 0, s.size / 2) == 3 * s.v;
       };
     }},
    {"batch_norm",
     [](const setting& s) -> call {
       auto k = std::make_shared<batch_norm<double, 2>>(s.rows, batch_norm_options{.channels = 2});
       return [=] {
         return is((*k)(xt::xtensor<double, 2>(xt::ones<double>({s.size, std::size_t{2}}))), 0, 2 * s.size);
       };
     }},
    {"softmax_cross_entropy",
     [](const setting& s) -> call {
       auto k = std::make_shared<softmax_cross_entropy<double>>(s.columns);
       return [=] {
         const xt::xtensor<double, 2> x = xt::zeros<double>({s.size, std::size_t{3}});
         const xt::xtensor<int, 1> labels = xt::zeros<int>({s.size});
         const double loss = (*k)(x, labels);
         return std::abs(loss - std::log(3.0 * static_cast<double>(s.n))) < 1e-9 && k->adjoint().size() == 3 * s.size;
       };
     }},
    {"whole tensor",
     [](const setting& s) -> call {
       return [s] {
         const auto y = s.numbers(s.m.layout("a"), {s.n * s.size}).whole<1>();
         return y.size() == s.n * s.size && y(s.n * s.size - 1) == static_cast<double>(s.n * s.size);
       };
     }},
    {"sharded sum",
     [](const setting& s) -> call {
       const double all = static_cast<double>(s.n * s.size);
       return [=] { return sum(s.numbers(s.m.layout("a"), {s.n * s.size})).number() == all * (all + 1) / 2; };
     }},
    {"reshard",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.numbers(s.m.layout("a", ""), {2 * s.n, s.n * s.size});
         const auto y = reshard(x, s.m.layout("", "a")).local<2>();
         return y.size() == 2 * s.n * s.size && y(2 * s.n - 1, 0) == static_cast<double>(2 * s.n);
       };
     }},
    {"shard_from",
     [](const setting& s) -> call {
       return [s] {
         const xt::xtensor<double, 1> x = xt::ones<double>({s.n * s.size}) * s.v;
         return is(shard_from(s.everyone, 0, s.m.layout("a"), {s.n * s.size}, x).local<1>(), 1, s.size);
       };
     }},
    {"get",
     [](const setting& s) -> call {
       return [s] {
         const auto y = shard_blocks(s.everyone, s.m.layout("a"), {s.n * s.size}, s.vec());
         return y.get({shape_list{s.n * s.size - 1}})[0] == static_cast<double>(s.n);
       };
     }},
    {"put",
     [](const setting& s) -> call {
       return [s] {
         auto x = s.numbers(s.m.layout("a"), {s.n * s.size});
         x.put({shape_list{s.me}}, {100.0 + static_cast<double>(s.me)});
         return x.get({shape_list{s.n - 1}})[0] == 100.0 + static_cast<double>(s.n - 1);
       };
     }},
    {"matmul",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.ones(s.m.layout("", "a"), {3, s.n * s.size}),
                    y = s.ones(s.m.layout("a", ""), {s.n * s.size, 2});
         const auto z = reshard(matmul(x, y), s.m.layout("", "")).local<2>();
         return is(z, static_cast<double>(s.n * s.size), 6);
       };
     }},
    {"slice",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.numbers(s.m.layout("a"), {s.n * s.size + 2});
         const auto y = slice(x, dimensions<0>, {1, s.n * s.size + 1}).whole<1>();
         return y.size() == s.n * s.size && y(0) == 2;
       };
     }},
    {"pad",
     [](const setting& s) -> call {
       return [s] {
         const auto y = pad(s.numbers(s.m.layout("a"), {s.n * s.size}), dimensions<0>, {1, 1}).whole<1>();
         return y.size() == s.n * s.size + 2 && y(0) == 0 && y(1) == 1;
       };
     }},
    {"cumsum",
     [](const setting& s) -> call {
       return [s] {
         const auto y = cumsum(s.ones(s.m.layout("a"), {s.n * s.size}), dimensions<0>).whole<1>();
         return y(s.n * s.size - 1) == static_cast<double>(s.n * s.size);
       };
     }},
    {"take",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.numbers(s.m.layout("a", ""), {2 * s.n, s.size});
         const auto y = take(x, xt::xtensor<int, 1>{1, 0}, dimensions<0>).whole<2>();
         return y(0, 0) == 2 && y(1, 0) == 1;
       };
     }},
    {"convolve",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.ones(s.m.layout("", "", "a"), {1, 1, s.n * s.size}),
                    k = s.ones(s.m.layout("", "", ""), {1, 1, 3});
         const auto y = convolve<1>(x, k, {.padding = {1}}).whole<3>();
         return y(0, 0, 0) == 2 && y(0, 0, s.n * s.size / 2) == 3;
       };
     }},
    {"value_and_gradient",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.numbers(s.m.layout("a", ""), {2 * s.n, s.size}), y = s.ones(s.m.layout("", ""), {s.size, 2});
         const auto [l, g] = value_and_gradient([&](const auto& q) { return sum(matmul(x, q)); }, y);
         return std::get<0>(g).template local<2>()(0, 0) == static_cast<double>(s.n * (2 * s.n + 1));
       };
     }},
    {"bound program",
     [](const setting& s) -> call {
       auto f = trace([](const auto& x, const auto& y) { return matmul(x, y); },
                      spec(s.m.layout("a", ""), {2 * s.n, s.size}), spec({s.size, 2}));
       f.constrain(f.result(), s.m.layout("", ""));
       auto made = std::make_shared<bound_program<double>>(f.bind<double>(s.everyone, {1}));
       return [=] {
         const auto x = s.numbers(s.m.layout("a", ""), {2 * s.n, s.size}), y = s.ones(s.m.layout("", ""), {s.size, 2}),
                    d = s.ones(s.m.layout("", ""), {2 * s.n, 2});
         const bool right = (*made)(x, y).local<2>()(2 * s.n - 1, 0) == static_cast<double>(2 * s.n * s.size);
         const auto& g = made->backward(d);
         return right && reshard(g[0], s.m.layout("", "")).local<2>()(0, 0) == static_cast<double>(s.n * (2 * s.n + 1));
       };
     }},
    {"take_along_axis",
     [](const setting& s) -> call {
       return [s] {
         const auto x = s.numbers(s.m.layout("a", ""), {2 * s.n, 3});
         const auto last = shard<double>(s.everyone, s.m.layout("", "a"), {1, 3},
                                         [&s](const auto&) { return static_cast<double>(2 * s.n - 1); });
         const auto y = reshard(take_along_axis(x, last, dimensions<0>), s.m.layout("", ""));
         return is(y.local<2>(), static_cast<double>(2 * s.n), 3);
       };
     }},
    {"scan",
     [](const setting& s) -> call {
       return [s] {
         const auto w = s.ones(s.m.layout("", "a"), {2, 2 * s.n});
         const auto f = [](const auto& u) {
           return sum(scan([](const auto& one) { return add(one, one); }, u, 4, {.checkpoints = 1}));
         };
         const auto [value, gradients] = value_and_gradient(f, w);
         return value == static_cast<double>(64 * s.n) && is(std::get<0>(gradients).template local<2>(), 16, 4);
       };
     }},
    {"sharded optimiser",
     [](const setting& s) -> call {
       return [s] {
         auto q = s.ones(s.m.layout(""), {s.n * s.size});
         sharded_adamw<double> o({q}, {.weight_decay = 0.0}, optimiser_state_axes{"a"});
         const auto x = s.numbers(s.m.layout("a"), {s.n * s.size});
         const auto [l, g] = value_and_gradient([&](const auto& z) { return sum(multiply(x, z)); }, q);
         o.step(g, clip_norm{1.0});
         return q.local<1>()(0) < 1;
       };
     }},
    {"attention",
     [](const setting& s) -> call {
       return [s] {
         const auto q = s.ones(s.m.layout("", "", "a", ""), {1, 1, s.size * s.n, 2});
         const auto z = reshard(attention(q, q, q, {.causal = false}), s.m.layout("", "", "", "")).local<4>();
         return std::abs(z(0, 0, 0, 0) - 1) < 1e-12;
       };
     }},
    {"npy",
     [](const setting& s) -> call {
       return [s] {
         constexpr file_options unsure{.owner_bytes = 4096, .sync = false};
         save_npy(s.folder + ".npy", s.p, line(s.n * s.size), s.vec(), unsure);
         return is(load_npy<double, 1>(s.folder + ".npy", s.p, unsure), s.v, s.size);
       };
     }},
    {"sharded npy",
     [](const setting& s) -> call {
       return [s] {
         save_npy<1>(s.folder + ".sharded.npy", s.ones(s.m.layout("a"), {s.n * s.size}));
         const auto y = load_npy<double, 1>(s.folder + ".sharded.npy", s.everyone, s.m.layout("a"), {s.n * s.size});
         return is(y.local<1>(), 1, s.size);
       };
     }},
    {"checkpoint",
     [](const setting& s) -> call {
       return [s, step = std::uint64_t{0}]() mutable {
         constexpr file_options unsure{.owner_bytes = 4096, .sync = false};
         save_checkpoint(s.folder, ++step, named("x", s.p, line(s.n * s.size), s.vec()),
                         checkpoint_options{.keep_last = 1, .slab_bytes = 1024, .files = unsure});
         return is(load_checkpoint(s.folder, s.everyone, step).load<double, 1>("x", s.p), s.v, s.size);
       };
     }},
};

}  // namespace

int main(int argc, char** argv) { return run_trials(argc, argv, kinds); }
