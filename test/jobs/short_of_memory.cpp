// Jobs in which one allocation of one worker fails: for every kind of call, the n-th operator new of one worker throws
// std::bad_alloc. short_of_memory.py runs it under mpirun as `short_of_memory FOLDER WORKER KIND PHASE FIRST STEP
// MOST`. It tries n = FIRST, FIRST + STEP, ... until the call makes fewer allocations, at most MOST times. Each trial
// makes its own world, which ends before the exception is caught. A trial passes if no value is wrong and either all
// workers throw or none does, or if the job ends with an error message. Without arguments `short_of_memory` prints the
// kinds.
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
#include <partita/sharded/sharded.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The number of the allocation that fails, counted from the call that arms it.
struct injection {
  static inline thread_local bool armed = false;
  static inline long left = 0;
  static inline bool fired = false;

  static void arm(long n) { left = n, fired = false, armed = true; }
  static void disarm() { armed = false; }
  static void* allocate(std::size_t bytes, std::size_t alignment) {
    if (armed && --left == 0) {
      fired = true, armed = false;
      throw std::bad_alloc();
    }
    const std::size_t whole = (bytes / alignment + 1) * alignment;
    void* const block =
        alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, whole) : std::malloc(whole);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
};

}  // namespace

void* operator new(std::size_t n) { return injection::allocate(n, alignof(std::max_align_t)); }
void* operator new[](std::size_t n) { return injection::allocate(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, std::align_val_t a) { return injection::allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return injection::allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

using namespace partita;

namespace {

using line = extents<dynamic>;
using plane = extents<dynamic, dynamic>;
/// Makes a call and returns whether its result is right.
using call = std::function<bool()>;

/// The worker, its world, and its blocks for all kinds of calls.
struct setting {
  world everyone;
  std::string folder;
  std::size_t n = everyone.size(), me = everyone.id(), size = 12;
  double v = static_cast<double>(me + 1), total = static_cast<double>(n * (n + 1) / 2);
  partition<line> p = everyone.partition(extents(n)), root = everyone.partition(extents(std::size_t{1}));
  partition<plane> rows = everyone.partition(extents(n, std::size_t{1})),
                   columns = everyone.partition(extents(std::size_t{1}, n));
  mesh m{axis{"a", n}};

  xt::xtensor<double, 1> vec() const { return xt::ones<double>({size}) * v; }
  xt::xtensor<double, 2> mat(std::size_t a, std::size_t b) const { return xt::ones<double>({a, b}) * v; }
  sharded_tensor<double> numbers(const sharding& layout, const shape_list& shape) const {
    return shard<double>(everyone, layout, shape, [](const auto& i) { return static_cast<double>(i[0] + 1); });
  }
  sharded_tensor<double> ones(const sharding& layout, const shape_list& shape) const {
    return shard<double>(everyone, layout, shape, [](const auto&) { return 1.0; });
  }
};

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

struct kind {
  const char* name;
  call (*make)(const setting&);
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
         sharded_adamw<double> o({q}, {.weight_decay = 0.0}, state_over{"a"});
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

/// The outcome of a trial on one worker.
enum class outcome : int { right, wrong, refused, out_of_memory, other };

struct report {
  outcome how = outcome::right;
  std::string message;
};

/// Runs a trial as an ordinary program would: it makes calls, and its world ends when one of them throws.
report trial(const kind& which, const std::string& phase, const std::string& folder, bool fails_here, long n) {
  report here;
  try {
    const setting s{.everyone = world(), .folder = folder};
    all_sum_reduce meet(s.p, dimensions<0>);
    bool right = is(meet(s.vec()), s.total, s.size);
    const auto arm = [&] {
      if (fails_here) injection::arm(n);
    };
    // without a world, the other workers cannot learn of the failure
    const bool makes_a_world = which.make == kinds[0].make;
    if (phase == "first" && !makes_a_world) arm();
    const call made = which.make(s);
    if (phase == "first" && makes_a_world) arm();
    if (phase == "steady") {
      right = made() && made() && right;
      arm();
    }
    right = made() && right;
    injection::disarm();
    right = is(meet(s.vec()), s.total, s.size) && made() && right;
    if (!right) here.how = outcome::wrong;
  } catch (const error& e) {
    here = {outcome::refused, e.what()};
  } catch (const std::bad_alloc& e) {
    here = {outcome::out_of_memory, e.what()};
  } catch (const std::exception& e) {
    here = {outcome::other, e.what()};
  }
  injection::disarm();
  return here;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  if (argc == 1)
    for (const kind& one : kinds) std::printf("%s\n", one.name);
  if (argc != 8) return argc == 1 ? 0 : 2;
  const std::string folder = argv[1], name = argv[3], phase = argv[4];
  const kind* which = nullptr;
  for (const kind& one : kinds)
    if (one.name == name) which = &one;
  if (which == nullptr) return 2;
  MPI_Comm judge = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &judge);
  int me = 0, fails = std::atoi(argv[2]);
  MPI_Comm_rank(judge, &me);
  detail::hang_report::patience = 1;
  const long first = std::atol(argv[5]), step = std::atol(argv[6]), most = std::atol(argv[7]);
  for (long n = first, tried = 0; tried < most; n += step, ++tried) {
    if (me == fails) std::printf("TRY %ld\n", n), std::fflush(stdout);
    const report here = trial(*which, phase, folder, me == fails, n);
    int mine[3] = {static_cast<int>(here.how), -static_cast<int>(here.how), here.how == outcome::wrong ? 1 : 0}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_INT, MPI_MAX, judge);
    if (all[2] != 0 || (all[0] != 0 && all[1] == 0) || all[0] == static_cast<int>(outcome::other))
      std::printf("WRONG worker %d: outcome %d: %s\n", me, mine[0], here.message.c_str()), std::fflush(stdout);
    if (me == fails)
      std::printf("ENDED %ld %s\n", n, all[0] == 0 ? "right" : here.message.c_str()), std::fflush(stdout);
    int fired = injection::fired ? 1 : 0;
    MPI_Bcast(&fired, 1, MPI_INT, fails, judge);
    if (fired == 0) {
      if (me == fails) std::printf("DONE\n");
      break;
    }
  }
  MPI_Comm_free(&judge);
}
