// One worker passes an argument that differs from the others'. One table has each argument of each call on sharded
// tensors, programs and their files. All workers throw, at the next agreement at the latest, and the world still works.
#include "layouts.hpp"

#include <boost/mpi/collectives.hpp>
#include <cmath>
#include <functional>
#include <partita/partita.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/select_if.hpp>
#include <partita/sharded/sort_elements.hpp>
#include <refused.hpp>
#include <vector>

using namespace partita;

namespace {

struct half_up {
  static constexpr std::size_t parameters = 1;
  double shift = 0;
  static constexpr partita::rule rule(const shape_span& shapes) { return rules::elementwise.named("half_up")(shapes); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] / 2 + static_cast<T>(shift);
  }
};

struct calls {
  const world& everyone;
  std::size_t n = everyone.size();
  mesh m{axis{"a", n}};

  sharded_tensor<double> tensor(const sharding& s, const shape_list& e) const {
    return shard<double>(everyone, s, e, [](const auto& i) { return static_cast<double>(test::numbered(i) % 11); });
  }
  sharded_tensor<double> rows() const { return tensor(m.layout("a", ""), {2 * n, 6}); }
  sharded_tensor<double> whole() const { return tensor(m.layout("", ""), {2 * n, 6}); }
};

/// A call that all workers make; its argument says whether this worker is the one that differs. It ends in an
/// agreement.
struct mismatch {
  const char* name;
  std::function<void(const calls&, bool odd)> call;
};

/// Makes a call that needs an agreement of all workers for every layout.
template <class T>
void agree(const sharded_tensor<T>& x) {
  (void)reshard(x, sharding(x.layout().on, x.rank())).get({});
}
template <class F>
traced_function traced_by(const calls& c, F f) {
  return trace(f, spec(c.m.layout("a", ""), {2 * c.n, 6}), spec(c.m.layout("a", ""), {2 * c.n, 6}));
}
template <class F, class G>
void bound(const calls& c, bool odd, F f, G g) {
  auto step =
      odd ? traced_by(c, g).template bind<double>(c.everyone) : traced_by(c, f).template bind<double>(c.everyone);
  agree(step(c.rows(), c.rows()));
}

const std::vector<mismatch> table{
    {"shard, extents", [](const calls& c, bool odd) { agree(c.tensor(c.m.layout("a"), {odd ? 4 * c.n : 2 * c.n})); }},
    {"shard, layout",
     [](const calls& c, bool odd) {
       agree(c.tensor(odd ? c.m.layout("a", "") : c.m.layout("", ""), {2 * c.n, 6}));
     }},
    {"shard, cut dimension",
     [](const calls& c, bool odd) {
       (void)c.tensor(odd ? c.m.layout("a", "") : c.m.layout("", "a"), {2 * c.n, 2 * c.n}).whole<2>();
     }},
    {"shard, element type",
     [](const calls& c, bool odd) {
       if (odd) agree(shard<std::int64_t>(c.everyone, c.m.layout("a"), {8}, [](const auto&) { return 1; }));
       else agree(c.tensor(c.m.layout("a"), {8}));
     }},
    {"shard, mesh size",
     [](const calls& c, bool odd) {
       const mesh m{axis{"a", odd ? c.n - 1 : c.n}};
       agree(shard<double>(c.everyone, m.layout("a"), {4 * c.n}, [](const auto&) { return 1.; }));
     }},
    {"shard, name of the axis",
     [](const calls& c, bool odd) {
       const mesh m{axis{odd ? "b" : "a", c.n}};
       agree(shard<double>(c.everyone, sharding(m, 1).cut(0, axis_list(0)), {4 * c.n}, [](const auto&) { return 1.; }));
     }},
    {"shard_from, worker",
     [](const calls& c, bool odd) {
       const xt::xtensor<double, 1> x = xt::ones<double>({8});
       agree(shard_from(c.everyone, odd ? 1 : 0, c.m.layout("a"), {8}, x));
     }},
    {"shard_from, element type",
     [](const calls& c, bool odd) {
       const xt::xtensor<double, 1> x = xt::ones<double>({8});
       const xt::xtensor<std::int64_t, 1> i = xt::ones<std::int64_t>({8});
       if (odd) agree(shard_from(c.everyone, 0, c.m.layout("a"), {8}, i));
       else agree(shard_from(c.everyone, 0, c.m.layout("a"), {8}, x));
     }},
    {"shard_from, layout",
     [](const calls& c, bool odd) {
       const xt::xtensor<double, 1> x = xt::ones<double>({8});
       agree(shard_from(c.everyone, 0, c.m.layout(odd ? "a" : ""), {8}, x));
     }},
    {"shard_blocks, layout",
     [](const calls& c, bool odd) {
       const xt::xtensor<double, 2> x = xt::ones<double>({2, 2});
       agree(shard_blocks(c.everyone, odd ? c.m.layout("a", "") : c.m.layout("", "a"),
                          odd ? shape_list{2 * c.n, 2} : shape_list{2, 2 * c.n}, x));
     }},
    {"shard_blocks, element type",
     [](const calls& c, bool odd) {
       const xt::xtensor<double, 1> x = xt::ones<double>({2});
       const xt::xtensor<std::int64_t, 1> i = xt::ones<std::int64_t>({2});
       if (odd) agree(shard_blocks(c.everyone, c.m.layout("a"), {2 * c.n}, i));
       else agree(shard_blocks(c.everyone, c.m.layout("a"), {2 * c.n}, x));
     }},
    {"reshard, layout",
     [](const calls& c, bool odd) {
       (void)reshard(c.whole(), odd ? c.m.layout("a", "") : c.m.layout("", "a"));
       agree(c.rows());
     }},
    {"reshard, operand",
     [](const calls& c, bool odd) {
       const auto x = c.rows(), y = c.rows();
       (void)reshard(odd ? y : x, c.m.layout("", ""));
     }},
    {"reshard, workers of the mesh",
     [](const calls& c, bool odd) {
       std::vector<std::size_t> ids(c.n);
       for (std::size_t k = 0; k < c.n; ++k) ids[k] = odd ? c.n - 1 - k : k == 0 ? 1 : k == 1 ? 0 : k;
       if (c.n == 2) {
         ids[0] = odd ? 0 : 1;
         ids[1] = odd ? 1 : 0;
       }
       agree(reshard(c.whole(), placed_mesh(c.m, workers(ids)), c.m.layout("a", "")));
     }},
    {"get, layout",
     [](const calls& c, bool odd) { (void)c.tensor(c.m.layout(odd ? "a" : ""), {4 * c.n}).get({shape_list{0}}); }},
    {"get for put",
     [](const calls& c, bool odd) {
       auto x = c.tensor(c.m.layout("a"), {4 * c.n});
       if (odd) x.put({shape_list{0}}, {1.});
       else (void)x.get({shape_list{0}});
     }},
    {"put, layout",
     [](const calls& c, bool odd) {
       c.tensor(c.m.layout(odd ? "a" : ""), {4096 * c.n}).put({shape_list{4096 * c.n - 1}}, {7.});
     }},
    {"put, tensor",
     [](const calls& c, bool odd) {
       auto x = c.rows(), y = c.rows();
       (odd ? y : x).put({shape_list{0, 0}}, {7.});
     }},
    {"whole, tensor",
     [](const calls& c, bool odd) {
       const auto x = c.rows(), y = c.rows();
       (void)(odd ? reshard(y, c.m.layout("", "")) : reshard(x, c.m.layout("", "")));
     }},
    {"add for multiply",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       agree(odd ? multiply(x, x) : add(x, x));
     }},
    {"subtract, order",
     [](const calls& c, bool odd) {
       const auto x = c.rows(), y = c.rows();
       agree(odd ? subtract(y, x) : subtract(x, y));
     }},
    {"multiply, number", [](const calls& c, bool odd) { agree(multiply(c.rows(), odd ? 2. : 3.)); }},
    {"relu for tanh",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       agree(odd ? tanh(x) : relu(x));
     }},
    {"sum for mean",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       (void)(odd ? mean(x) : sum(x)).number();
     }},
    {"maximum for minimum",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       agree(odd ? minimum(x, dimensions<0>) : maximum(x, dimensions<0>));
     }},
    {"sum, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? sum(x, dimensions<0>) : sum(x, dimensions<1>));
     }},
    {"matmul, order",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6}), y = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? matmul(y, x) : matmul(x, y));
     }},
    {"einsum, notation",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? einsum<"ij,kj->ik">(x, x) : einsum<"ij,jk->ik">(x, x));
     }},
    {"transpose",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? transpose(x) : multiply(x, 1.));
     }},
    {"reshape, extents",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 4});
       agree(odd ? reshape(x, extents(4, 6)) : reshape(x, extents(3, 8)));
     }},
    {"slice, window",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a"), {4 * c.n});
       const std::size_t s = odd ? 2 : 1;
       agree(slice(x, dimensions<0>, {s, s + 2 * c.n}));
     }},
    {"slice of what is whole",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout(""), {4 * c.n});
       const std::size_t s = odd ? 2 : 1;
       agree(slice(x, dimensions<0>, {s, s + 2}));
     }},
    {"slice for pad",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a"), {4 * c.n});
       agree(odd ? pad(x, dimensions<0>, {3, 0}) : slice(x, dimensions<0>, {1, 4 * c.n}));
     }},
    {"pad, margins",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a"), {4 * c.n});
       agree(odd ? pad(x, dimensions<0>, {3, 0}) : pad(x, dimensions<0>, {0, 3}));
     }},
    {"concatenate, order",
     [](const calls& c, bool odd) {
       const auto x = c.whole(), y = c.whole();
       agree(odd ? concatenate(dimensions<1>, y, x) : concatenate(dimensions<1>, x, y));
     }},
    {"take, indices",
     [](const calls& c, bool odd) {
       const xt::xtensor<int, 1> some{0, 1}, others{1, 0};
       agree(take(c.whole(), odd ? others : some, dimensions<0>));
     }},
    {"lookup, rows",
     [](const calls& c, bool odd) {
       const xt::xtensor<int, 1> some{0, 1}, others{1, 0};
       agree(lookup(c.whole(), odd ? others : some));
     }},
    {"one_hot, classes",
     [](const calls& c, bool odd) {
       const auto i = shard<double>(c.everyone, c.m.layout("a"), {2 * c.n}, [](const auto&) { return 1.; });
       agree(one_hot(i, odd ? 3 : 4));
     }},
    {"cumsum, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? cumsum(x, dimensions<0>) : cumsum(x, dimensions<1>));
     }},
    {"argmax, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("", ""), {6, 6});
       agree(odd ? argmax(x, dimensions<0>) : argmax(x, dimensions<1>));
     }},
    {"cross_entropy, labels",
     [](const calls& c, bool odd) {
       xt::xtensor<int, 1> l = xt::zeros<int>({2 * c.n});
       if (odd) l(0) = 1;
       (void)cross_entropy(c.rows(), l).number();
     }},
    {"smooth_l1, beta",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       agree(losses::smooth_l1(x, x, {.beta = odd ? 2. : 1.}));
     }},
    {"drop, seed",
     [](const calls& c, bool odd) { agree(apply_dropout(c.rows(), {.probability = 0.5, .seed = odd ? 2U : 1U}, 0)); }},
    {"drop, step",
     [](const calls& c, bool odd) { agree(apply_dropout(c.rows(), {.probability = 0.5, .seed = 1}, odd ? 2 : 1)); }},
    {"normalise_rms, epsilon",
     [](const calls& c, bool odd) {
       agree(normalise_rms(c.rows(), c.tensor(c.m.layout(""), {6}), odd ? 1e-3 : 1e-5));
     }},
    {"convolve, padding and kernel",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 2, 8});
       const auto w = c.tensor(c.m.layout("", "", ""), {2, 2, 3});
       agree(convolve<1>(x, w, {.stride = odd ? 2 : 1, .padding = 1}));
     }},
    {"max_pool, stride",
     [](const calls& c, bool odd) {
       agree(max_pool<1>(c.tensor(c.m.layout("a", "", ""), {2 * c.n, 2, 8}),
                         {.kernel = 2, .stride = per_dimension<1>(odd ? 1 : 2)}));
     }},
    {"apply_op, parameter", [](const calls& c, bool odd) { agree(apply_op(half_up{odd ? 1. : 0.}, c.rows())); }},
    {"value_and_gradient, parameter",
     [](const calls& c, bool odd) {
       const auto w = c.whole(), u = c.whole();
       const auto [v, g] = value_and_gradient(
           [&](const auto& p) { return odd ? sum(multiply(w, p)) : sum(multiply(p, u)); }, odd ? u : w);
       agree(std::get<0>(g));
     }},
    {"value_and_gradient on some",
     [](const calls& c, bool odd) {
       const auto w = c.rows();
       if (!odd) (void)value_and_gradient([&](const auto& p) { return sum(multiply(p, p)); }, w);
       agree(w);
     }},
    {"optimiser, parameter",
     [](const calls& c, bool odd) {
       auto w = c.rows(), v = c.rows();
       const auto g = c.rows();
       sharded_sgd<double> o({odd ? v : w}, {.learning_rate = 0.1});
       o.step(std::tuple(g));
       agree(c.rows());
     }},
    {"optimiser, rate",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       const auto g = c.rows();
       sharded_sgd<double> o({w}, {.learning_rate = odd ? 0.1 : 0.2});
       o.step(std::tuple(g));
       agree(c.rows());
     }},
    {"bind, operation",
     [](const calls& c, bool odd) {
       bound(
           c, odd, [](const auto& x, const auto& y) { return add(relu(x), y); },
           [](const auto& x, const auto& y) { return add(tanh(x), y); });
     }},
    {"bind, wiring",
     [](const calls& c, bool odd) {
       bound(
           c, odd, [](const auto& x, const auto& y) { return subtract(x, y); },
           [](const auto& x, const auto& y) { return subtract(y, x); });
     }},
    {"bind, number",
     [](const calls& c, bool odd) {
       bound(
           c, odd, [](const auto& x, const auto& y) { return add(multiply(x, 2), y); },
           [](const auto& x, const auto& y) { return add(multiply(x, 3), y); });
     }},
    {"bind, window",
     [](const calls& c, bool odd) {
       bound(
           c, odd,
           [](const auto& x, const auto& y) {
             return add(slice(x, dimensions<1>, {0, 2}), slice(y, dimensions<1>, {0, 2}));
           },
           [](const auto& x, const auto& y) {
             return add(slice(x, dimensions<1>, {1, 3}), slice(y, dimensions<1>, {0, 2}));
           });
     }},
    {"bind, stopped gradient",
     [](const calls& c, bool odd) {
       bound(
           c, odd, [](const auto& x, const auto& y) { return multiply(x, stop_gradient(y)); },
           [](const auto& x, const auto& y) { return multiply(stop_gradient(x), y); });
     }},
    {"bind, element type",
     [](const calls& c, bool odd) {
       const auto f = traced_by(c, [](const auto& x, const auto& y) { return add(x, y); });
       if (odd) (void)f.bind<float>(c.everyone);
       else (void)f.bind<double>(c.everyone);
     }},
    {"bind, extents",
     [](const calls& c, bool odd) {
       const auto f = trace([](const auto& x) { return sum(x); }, spec(c.m.layout("a"), {odd ? 100 * c.n : 2 * c.n}));
       (void)f.bind<double>(c.everyone);
     }},
    {"bind, layout of an argument",
     [](const calls& c, bool odd) {
       const auto f = trace([](const auto& x) { return sum(x); }, spec(c.m.layout(odd ? "a" : ""), {2 * c.n}));
       (void)f.bind<double>(c.everyone);
     }},
    {"bind, arguments of gradients",
     [](const calls& c, bool odd) {
       const auto f = traced_by(c, [](const auto& x, const auto& y) { return multiply(x, y); });
       (void)f.bind<double>(c.everyone, {odd ? std::size_t{1} : std::size_t{0}});
     }},
    {"bind, order of gradients",
     [](const calls& c, bool odd) {
       const auto f = traced_by(c, [](const auto& x, const auto& y) { return multiply(x, y); });
       (void)f.bind<double>(c.everyone, odd ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{0, 1});
     }},
    {"bind, annotation of the result",
     [](const calls& c, bool odd) {
       auto f = traced_by(c, [](const auto& x, const auto& y) { return add(x, y); });
       if (odd) f.constrain(f.result(), c.m.layout("", ""));
       (void)f.bind<double>(c.everyone);
     }},
    {"bound program, order of arguments",
     [](const calls& c, bool odd) {
       auto step = traced_by(c, [](const auto& x, const auto& y) { return subtract(x, y); }).bind<double>(c.everyone);
       const auto x = c.rows(), y = c.rows();
       if (odd) (void)step(y, x);
       else (void)step(x, y);
     }},
};

// The same for options, and for the operations that rearrange, reduce and accumulate.
const std::vector<mismatch> options{
    {"flip, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? flip(x, dimensions<0>) : flip(x, dimensions<1>));
     }},
    {"roll, shift",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? roll(x, dimensions<1>, 2) : roll(x, dimensions<1>, 1));
     }},
    {"roll for flip",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? flip(x, dimensions<1>) : roll(x, dimensions<1>, 1));
     }},
    {"tile, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? tile(x, dimensions<0>, 2) : tile(x, dimensions<1>, 2));
     }},
    {"strided_slice, start",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? strided_slice(x, dimensions<1>, {1, 5, 2}) : strided_slice(x, dimensions<1>, {0, 4, 2}));
     }},
    {"strided_slice, step",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? strided_slice(x, dimensions<1>, {0, 5, 3}) : strided_slice(x, dimensions<1>, {0, 3, 2}));
     }},
    {"tril for triu",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? triu(x) : tril(x));
     }},
    {"tril, diagonal",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? tril(x, 1) : tril(x));
     }},
    {"unsqueeze, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? unsqueeze(x, dimensions<0>) : unsqueeze(x, dimensions<2>));
     }},
    {"stack, order",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? stack(dimensions<0>, x, flip(x, dimensions<0>)) : stack(dimensions<0>, flip(x, dimensions<0>), x));
     }},
    {"pad, number",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? pad(x, 2., dimensions<1>, {1, 0}) : pad(x, 1., dimensions<1>, {1, 0}));
     }},
    {"softmax, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? softmax(x, dimensions<0>) : softmax(x, dimensions<1>));
     }},
    {"softmax for log_softmax",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? log_softmax(x) : softmax(x));
     }},
    {"clip, limit",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? clip(x, 0., 5.) : clip(x, 0., 4.));
     }},
    {"cast, its result unused",
     [](const calls& c, bool odd) {
       const auto x = c.rows();
       if (odd) (void)cast<float>(x);
       else (void)cast<long>(x);
       agree(x);
     }},
    {"cast",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? cast<double>(cast<long>(x)) : cast<double>(cast<float>(x)));
     }},
    {"elu, alpha",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? elu(x, 0.5) : elu(x));
     }},
    {"leaky_relu, slope",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? leaky_relu(x, 0.1) : leaky_relu(x));
     }},
    {"softplus, threshold",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? softplus(x, 1., 3.) : softplus(x, 1.));
     }},
    {"pow, exponent",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? pow(x, 3.) : pow(x, 2.));
     }},
    {"subtract, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? subtract(2., x) : subtract(x, 2.));
     }},
    {"divide, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? divide(2., x) : divide(x, 2.));
     }},
    {"where, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? where(x, 2., x) : where(x, x, 2.));
     }},
    {"less, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? less(2., x) : less(x, 2.));
     }},
    {"pow, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? pow(2., x) : pow(x, 2.));
     }},
    {"maximum, order",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? maximum(flip(x, dimensions<0>), x) : maximum(x, flip(x, dimensions<0>)));
     }},
    {"less for less_equal",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? less_equal(x, x) : less(x, x));
     }},
    {"where, order",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? where(x, x, multiply(x, 2)) : where(x, multiply(x, 2), x));
     }},
    {"where, number",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? where(x, x, 1.) : where(x, x, 2.));
     }},
    {"cumprod for cumsum",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? cumprod(x, dimensions<1>) : cumsum(x, dimensions<1>));
     }},
    {"cummax for cummin",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? cummax(x, dimensions<1>) : cummin(x, dimensions<1>));
     }},
    {"product_of for sum",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? product_of(x, dimensions<1>) : sum(x, dimensions<1>));
     }},
    {"any_of for all_of",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? any_of(x, dimensions<1>) : all_of(x, dimensions<1>));
     }},
    {"log_sum_exp, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? log_sum_exp(x, dimensions<0>) : log_sum_exp(x, dimensions<1>));
     }},
    {"sum, keep_dimensions",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? reshape(sum(x, dimensions<1>, keep_dimensions), {2 * c.n}) : sum(x, dimensions<1>));
     }},
    {"variance, correction",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? variance(x, dimensions<1>, 0) : variance(x, dimensions<1>));
     }},
    {"sort, direction",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(sort(x, dimensions<1>, {.descending = odd}));
     }},
    {"top_k, k",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(sum(top_k(x, odd ? 1 : 2, dimensions<1>).values));
     }},
    {"argmin for argmax",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? argmin(x, dimensions<1>) : argmax(x, dimensions<1>));
     }},
    {"einsum, of which",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? einsum<"ij,ij->i">(x, x) : einsum<"ij,ij->j">(x, x));
     }},
    {"stop_gradient",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       agree(odd ? stop_gradient(multiply(x, 2)) : multiply(x, 3));
     }},
    {"scatter for scatter_add",
     [](const calls& c, bool odd) {
       const auto x = c.whole();
       const auto index = shard<double>(c.everyone, c.m.layout(""), {2 * c.n},
                                        [](const auto& i) { return static_cast<double>(i[0]); });
       agree(odd ? scatter(x, index, x, dimensions<0>) : scatter_add(x, index, x, dimensions<0>));
     }},
    {"cross_entropy, labels along a dimension",
     [](const calls& c, bool odd) {
       xt::xtensor<int, 1> l = xt::zeros<int>({2 * c.n});
       if (odd) l(0) = 1;
       (void)cross_entropy(c.rows(), l, dimensions<1>).number();
     }},
    {"cross_entropy, ignore_index",
     [](const calls& c, bool odd) {
       xt::xtensor<int, 1> l = xt::zeros<int>({2 * c.n});
       l(0) = 1;
       (void)cross_entropy(c.rows(), l, dimensions<1>, {.ignore_index = odd ? 1 : 2}).number();
     }},
    {"cross_entropy, class_weights",
     [](const calls& c, bool odd) {
       const xt::xtensor<int, 1> l = xt::zeros<int>({2 * c.n});
       (void)cross_entropy(c.rows(), l, dimensions<1>, {.class_weights = {odd ? 2. : 1., 1, 1, 1, 1, 1}}).number();
     }},
    {"cross_entropy, label_smoothing",
     [](const calls& c, bool odd) {
       const xt::xtensor<int, 1> l = xt::zeros<int>({2 * c.n});
       (void)cross_entropy(c.rows(), l, dimensions<1>, {.label_smoothing = odd ? 0.1 : 0.2}).number();
     }},
    {"average_pool for max_pool",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       agree(odd ? average_pool<1>(x, {.kernel = 2}) : max_pool<1>(x, {.kernel = 2}));
     }},
    {"upsample, mode",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       agree(upsample<1>(x, {.scale = 2, .mode = odd ? upsampling_mode::linear : upsampling_mode::nearest}));
     }},
    {"convolve, dilation",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       const auto w = c.tensor(c.m.layout("", "", ""), {4, 4, 2});
       agree(slice(convolve<1>(x, w, {.dilation = odd ? 2 : 1}), dimensions<2>, {0, 6}));
     }},
    {"convolve, groups",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       const auto w = c.tensor(c.m.layout("", "", ""), {4, 2, 2}), v = c.tensor(c.m.layout("", "", ""), {4, 1, 2});
       agree(odd ? convolve<1, 4>(x, v) : convolve<1, 2>(x, w));
     }},
    {"normalise_groups, groups",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       const auto g = c.tensor(c.m.layout(""), {4});
       agree(odd ? normalise_groups<2>(x, g, g) : normalise_groups<4>(x, g, g));
     }},
    {"normalise_batch, epsilon",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", "", ""), {2 * c.n, 4, 8});
       const auto g = c.tensor(c.m.layout(""), {4});
       agree(normalise_batch(x, g, g, odd ? 1e-3 : 1e-5));
     }},
    {"attention, causal",
     [](const calls& c, bool odd) {
       const auto q = c.tensor(c.m.layout("a", "", ""), {c.n, 4, 4});
       agree(attention(q, q, q, {.causal = odd}));
     }},
    {"optimiser, momentum",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_sgd<double> o({w}, {.momentum = odd ? 0.5 : 0.9});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, dampening",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_sgd<double> o({w}, {.momentum = 0.9, .dampening = odd ? 0.1 : 0.2});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, weight_decay",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_sgd<double> o({w}, {.weight_decay = odd ? 0.1 : 0.2});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, nesterov",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_sgd<double> o({w}, {.momentum = 0.9, .nesterov = odd});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, beta1",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_adam<double> o({w}, {.beta1 = odd ? 0.8 : 0.9});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, beta2",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_adam<double> o({w}, {.beta2 = odd ? 0.9 : 0.99});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, epsilon",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_adam<double> o({w}, {.epsilon = odd ? 1e-4 : 1e-8});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, amsgrad",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_adam<double> o({w}, {.amsgrad = odd});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, decoupled weight_decay",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_adamw<double> o({w}, {.weight_decay = odd ? 0.1 : 0.2});
       o.step(std::tuple(c.rows()));
       agree(c.rows());
     }},
    {"optimiser, clip_norm",
     [](const calls& c, bool odd) {
       auto w = c.rows();
       sharded_sgd<double> o({w}, {});
       o.step(std::tuple(c.rows()), clip_norm{odd ? 1. : 2.});
       agree(c.rows());
     }},
    {"optimiser, order of gradients",
     [](const calls& c, bool odd) {
       auto w = c.rows(), v = c.rows();
       const auto g = c.rows(), h = c.rows();
       sharded_sgd<double> o({w, v}, {});
       o.step(odd ? std::tuple(h, g) : std::tuple(g, h));
       agree(c.rows());
     }},
    {"clip_by_global_norm, limit",
     [](const calls& c, bool odd) {
       auto g = std::tuple(c.rows());
       (void)clip_by_global_norm(g, odd ? 1. : 2.);
       agree(c.rows());
     }},
    {"optimiser, optimiser_state_axes",
     [](const calls& c, bool odd) {
       auto w = c.whole();
       auto o = odd ? sharded_adam<double>({w}, {}) : sharded_adam<double>({w}, {}, optimiser_state_axes{"a"});
       o.step(std::tuple(c.whole()));
       agree(c.rows());
     }},
    {"take_along_axis, dimension",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a", ""), {2 * c.n, 2 * c.n}), zeros = multiply(x, 0);
       agree(odd ? take_along_axis(x, zeros, dimensions<1>) : take_along_axis(x, zeros, dimensions<0>));
     }},
    {"sort of all elements, direction",
     [](const calls& c, bool odd) { agree(sort(c.tensor(c.m.layout("a"), {2 * c.n}), {.descending = odd})); }},
    {"argsort of all elements for sort",
     [](const calls& c, bool odd) {
       const auto x = c.tensor(c.m.layout("a"), {2 * c.n});
       if (odd) agree(argsort(x));
       else agree(sort(x));
     }},
    {"permutation, seed", [](const calls& c, bool odd) { agree(permutation(c.rows(), odd ? 1 : 2)); }},
    {"recompute, function",
     [](const calls& c, bool odd) {
       const auto w = c.rows();
       const auto f = [odd](const auto& p) { return odd ? relu(p) : tanh(p); };
       const auto all = value_and_gradient([&](const auto& p) { return sum(recompute(f, p)); }, w);
       agree(std::get<0>(all.gradients));
     }},
};

std::vector<mismatch> all_rows() {
  std::vector<mismatch> all = table;
  all.insert(all.end(), options.begin(), options.end());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_call_with_another_argument_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const calls c{everyone};
  for (const mismatch& one : all_rows())
    for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
      bool refused = false;
      try {
        one.call(c, everyone.id() == odd);
        agree(c.rows());
      } catch (const disagreement_error&) {
        refused = true;
      }
      BOOST_TEST(boost::mpi::all_reduce(everyone.communicator(), refused, std::logical_and<>()),
                 one.name << " on worker " << odd);
      agree(c.rows());  // the world still works
    }
}

BOOST_AUTO_TEST_CASE(the_same_calls_are_made_where_no_worker_is_odd, *test::at_least(2)) {
  const world everyone(test::workers());
  const calls c{everyone};
  for (const mismatch& one : all_rows())
    for (const bool odd : {false, true})
      if (everyone.size() > 1 || !odd) one.call(c, odd);
}

BOOST_AUTO_TEST_CASE(the_message_names_the_operation_that_differs, *test::at_least(2)) {
  const world everyone(test::workers());
  const calls c{everyone};
  const auto x = c.rows();
  std::string said;
  try {
    agree(everyone.id() == 0 ? add(x, x) : multiply(x, x));
  } catch (const disagreement_error& e) {
    said = e.what();
  }
  BOOST_TEST(said.find("worker 0 makes add of a tensor of extents") != std::string::npos, said);
  BOOST_TEST(said.find("multiply of a tensor of extents") != std::string::npos, said);
}

/// What all workers pass alike, but beyond a limit, is refused on all of them with the words of that limit.
BOOST_AUTO_TEST_CASE(arguments_of_all_workers_beyond_a_limit_are_refused_in_its_words) {
  const world everyone(test::workers());
  const calls c{everyone};
  const std::size_t n = 2 * c.n;
  const auto refuses = [&]<class Error = shape_error>(const std::string& words, auto call) {
    test::expect_refused<Error>(call, words.c_str());
    agree(c.rows());  // the world still works
  };
  const std::string of_rows = '[' + std::to_string(n) + ", 6]", of_line = '[' + std::to_string(n) + ']',
                    of_images = '[' + std::to_string(n) + ", 4, 8]";
  const auto x = c.rows(), line = c.tensor(c.m.layout("a"), {n}), w = c.tensor(c.m.layout("", "", ""), {4, 4, 2}),
             images = c.tensor(c.m.layout("a", "", ""), {n, 4, 8}), g = c.tensor(c.m.layout(""), {4});
  const std::string of_convolve = "requires images batch x channels x 1 features and filters out x in x 1 features, ";
  refuses(of_convolve + "got " + of_rows + " and [4, 4, 2]", [&] { convolve<1>(x, w); });
  refuses(of_convolve + "got " + of_images + " and " + of_rows, [&] { convolve<1>(images, x); });
  refuses("partita::convolve<D>(x, w, options): requires a stride of at least 1 along every feature dimension, got 0",
          [&] { convolve<1>(images, w, {.stride = 0}); });
  refuses("partita::convolve<D>(x, w, options): requires x of 8 channels, got extents " + of_images,
          [&] { convolve<1, 2>(images, w); });
  refuses("requires x = batch x channels x 1 features, got " + of_rows, [&] { max_pool<1>(x, {.kernel = 2}); });
  refuses("requires windows of at most the padded tensor, got one of 9 cells along dimension 2",
          [&] { max_pool<1>(images, {.kernel = 9}); });
  agree(max_pool<1>(images, {.kernel = 8}));
  for (const auto* const wrong : {&x, &line})
    refuses("requires x = batch x channels x features whose channels are a multiple of 4 groups, got extents " +
                (wrong == &x ? of_rows : of_line),
            [&] { normalise_groups<4>(*wrong, g, g); });
  const std::string of_local = "requires a size of at least 1 and x = batch x channels x features, got a size of ";
  refuses(of_local + "0 and extents " + of_rows, [&] { normalise_locally(x, {.size = 0}); });
  refuses(of_local + "1 and extents " + of_line, [&] { normalise_locally(line, {.size = 1}); });
  agree(normalise_locally(x, {.size = 1}));
  const xt::xtensor<int, 1> labels = xt::zeros<int>({n});
  refuses("partita::cross_entropy: requires scores with a dimension 1 of classes, got scores of extents " + of_line,
          [&] { cross_entropy(line, labels, dimensions<1>); });
  refuses("partita::cross_entropy: requires no class_weights or one for each of 6 classes, got 5",
          [&] { cross_entropy(x, labels, dimensions<1>, {.class_weights = std::vector<double>(5, 1.)}); });
  for (const double wrong : {-0.001, 1.001})
    refuses("partita::cross_entropy: requires a label_smoothing from 0 to 1",
            [&] { cross_entropy(x, labels, dimensions<1>, {.label_smoothing = wrong}); });
  for (const double limit : {0., 1.}) agree(cross_entropy(x, labels, dimensions<1>, {.label_smoothing = limit}));
  agree(clip(x, 1., 1.));
  for (const double low : {1.001, std::nan("")})
    refuses("partita::clip(x, low, high): requires low <= high; give the smaller one first",
            [&] { (void)clip(x, low, 1.); });
  const std::string of_rank = "partita::sharded_tensor: requires the rank of the tensor, which is ";
  refuses(of_rank + "2, not 1; name that", [&] { (void)x.whole<1>(); });
  refuses(of_rank + "1, not 2; name that", [&] { (void)line.whole<2>(); });
  refuses.operator()<error>("value_and_gradient: half_up has no adjoint; declare one, or stop_gradient its operands",
                            [&] { value_and_gradient([](const auto& p) { return sum(apply_op(half_up{}, p)); }, x); });
  const mesh other{axis{"b", c.n}};
  refuses.operator()<partition_error>("partita::global_norm: requires gradients on one mesh of one world", [&] {
    auto both = std::tuple(x, c.tensor(other.layout("b", ""), {n, 6}));
    (void)clip_by_global_norm(both, 1.);
  });
  auto step = traced_by(c, [](const auto& a, const auto& b) { return add(a, b); });
  const std::string of_program = "partita::trace: the program has 2 arguments, got ";
  refuses(of_program + "1; give those", [&] { step(x); });
  refuses(of_program + "3; give those", [&] { step(x, x, x); });
  refuses("partita::trace: argument 1 was traced with extents " + of_rows + ", got " + of_line, [&] { step(x, line); });
}

/// Operands on two meshes are refused by every function of two tensors, where the meshes have axes of other names, and
/// where one mesh lies on other workers.
BOOST_AUTO_TEST_CASE(operands_on_two_meshes_are_refused_by_every_function_of_two_tensors) {
  const world everyone(test::workers());
  const calls c{everyone};
  const std::size_t n = c.n > 1 ? c.n - 1 : 1;
  const mesh m{axis{"a", n}}, renamed{axis{"b", n}};
  const auto ones = [&](const sharding& s, const shape_list& extents) {
    return shard<double>(everyone, s, extents, [](const auto&) { return 1.; });
  };
  const auto x = ones(m.layout("a", ""), {2 * n, 2}), i = ones(m.layout("a"), {2 * n});
  using tensor = sharded_tensor<double>;
  std::vector<std::array<tensor, 2>> others{
      {ones(renamed.layout("b", ""), {2 * n, 2}), ones(renamed.layout("b"), {2 * n})}};
  if (c.n > 1) {
    const placed_mesh moved(m, workers(1, c.n));
    others.push_back({reshard(x, moved, x.layout()), reshard(i, moved, i.layout())});
  }
  const auto bound = bind_indices(x, i);
  for (const auto& other : others) {
    const tensor &y = other[0], &j = other[1];
    const auto refuses = [&](const char* words, auto call) {
      test::expect_refused<partition_error>(call, words);
      agree(c.rows());  // the world still works
    };
    const char* const operands = ": requires operands on one mesh of one world";
    refuses(operands, [&] { add(x, y); });
    refuses(operands, [&] { matmul(x, transpose(y)); });
    refuses(operands, [&] { where(x, x, y); });
    refuses(operands, [&] { concatenate(dimensions<0>, x, y); });
    refuses(operands, [&] { take(x, j, dimensions<0>); });
    refuses(operands, [&] { scatter_add(x, i, y, dimensions<0>); });
    refuses("partita::to_complex(re, im): requires tensors on one mesh of one world", [&] { to_complex(x, y); });
    refuses("partita::take_along_axis: requires x and indices on one mesh",
            [&] { take_along_axis(x, y, dimensions<0>); });
    refuses("partita::gather_nd: requires x and indices on one mesh", [&] { gather_nd<2>(x, y); });
    refuses("partita::select_if(x, keep): requires tensors on one mesh", [&] { select_if(x, j); });
    refuses("partita::bind_indices(x, indices): requires x and indices on one mesh", [&] { bind_indices(x, j); });
    refuses("partita::bound_indices::take(x): requires a tensor on the mesh of the indices", [&] { bound.take(y); });
    for (const bool is_x_wrong : {false, true}) {
      const tensor &rows = is_x_wrong ? y : x, &updates = is_x_wrong ? x : y;
      refuses("partita::bound_indices::scatter_add(x, updates): requires a tensor on the mesh of the indices",
              [&] { bound.scatter_add(rows, updates); });
      refuses("partita::bound_indices::scatter", [&] { bound.scatter(rows, updates); });
    }
    refuses("partita::global_norm: requires gradients on one mesh of one world",
            [&] { global_norm(std::tuple(x, y)); });
  }
}

/// An array that is sharded has the extents that are said: it is refused on all workers if only one of them sees it.
BOOST_AUTO_TEST_CASE(arrays_of_other_extents_than_are_said_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const calls c{everyone};
  const xt::xtensor<double, 2> x = xt::ones<double>({2, 6});
  for (const shape_list& said : {shape_list{2, 5}, shape_list{3, 6}, shape_list{2, 7}, shape_list{1, 6},
                                 shape_list{3, 4}, shape_list{6, 2}, shape_list{12, 1}})
    for (const std::size_t worker : {std::size_t{0}, everyone.size() - 1}) {
      const text words = text("partita::shard_from: requires an array of the extents that are said, ")
                         << said << ", got [2, 6] on worker " << worker;
      test::expect_refused<shape_error>([&] { shard_from(everyone, worker, c.m.layout("a", ""), said, x); },
                                        words.c_str());
      agree(c.rows());  // the world still works
    }
  for (const std::size_t beyond : {everyone.size(), static_cast<std::size_t>(-1)}) {
    const text words = text("partita::shard_from: requires a worker below ") << everyone.size() << ", got " << beyond;
    test::expect_refused<partition_error>(
        [&] {
          shard_from(everyone, beyond, c.m.layout("a", ""), {2, 6}, x);
        },
        words.c_str());
  }
  for (const std::size_t rows : {std::size_t{1}, std::size_t{3}}) {
    const xt::xtensor<double, 2> block = xt::ones<double>({everyone.id() + 1 == everyone.size() ? rows : 2, c.n});
    const text words = text("partita::shard_blocks: requires blocks as the layout ")
                       << "" << c.m.layout("a", "") << " cuts extents [" << 2 * c.n << ", " << c.n
                       << "], here of shape [2, " << c.n << "], got [" << rows << ", " << c.n << "]";
    test::expect_refused<shape_error>(
        [&] {
          shard_blocks(everyone, c.m.layout("a", ""), {2 * c.n, c.n}, block);
        },
        words.c_str());
    agree(c.rows());
  }
}
