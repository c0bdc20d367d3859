// Jobs in which one allocation of one worker fails, in programs of sharded tensors whose values are those of a trial
// without failures: see short_of_memory.hpp.
#include "short_of_memory.hpp"

#include <complex>
#include <memory>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/cast.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/fourier.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/gradient_norm.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/recompute.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/select_if.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/sort_elements.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>
#include <vector>

namespace {

using tensor = sharded_tensor<double>;

tensor made(const setting& s, const sharding& layout, const shape_list& shape, std::size_t salt) {
  return shard<double>(s.everyone, layout, shape, [salt](const auto& i) {
    std::size_t at = salt;
    for (const std::size_t one : i) at = 7 * at + one;
    return static_cast<double>(at % 13) / 4 - 1.5;
  });
}

const auto network = [](const auto& x, const auto& w, const auto& b, const auto& u) {
  return matmul(relu(add(matmul(x, w), b, broadcast_dimensions<1>)), u);
};

/// Calls a program that is bound with these options, and its adjoint.
call bound(const setting& s, const schedule_options& options) {
  const std::size_t n = 2 * s.n;
  const auto program = trace(network, spec(s.m.layout("a", ""), {n, 4}), spec(s.m.layout("", "a"), {4, n}),
                             spec(s.m.layout("a"), {n}), spec(s.m.layout("a", ""), {n, 3}));
  auto step = std::make_shared<bound_program<double>>(program.bind<double>(s.everyone, {0, 1, 2, 3}, options));
  return compared([=](values& got) {
    const tensor& y = (*step)(made(s, s.m.layout("a", ""), {n, 4}, 1), made(s, s.m.layout("", "a"), {4, n}, 2),
                              made(s, s.m.layout("a"), {n}, 3), made(s, s.m.layout("a", ""), {n, 3}, 4));
    got << reshard(y, y.layout().without_partials());
    for (const tensor& g : step->backward(made(s, layout_of_cotangent(y.layout()), {n, 3}, 5)))
      got << reshard(g, g.layout().without_partials());
  });
}

const kind kinds[] = {
    {"bound with overlap", [](const setting& s) -> call { return bound(s, {.overlap = true}); }},
    {"bound in order", [](const setting& s) -> call { return bound(s, {.overlap = false}); }},
    {"pipeline",
     [](const setting& s) -> call {
       const mesh one{axis{"data", 1}};
       const sharding cut = one.layout("data", "");
       std::vector<pipeline_stage> list;
       for (std::size_t k = 0; k < s.n; ++k) {
         const placed_mesh where(one, workers(k, k + 1));
         if (k + 1 < s.n)
           list.push_back({[=](std::size_t n) {
                             return trace([](const auto& x, const auto& w) { return relu(matmul(x, w)); },
                                          spec(cut, {n, 3}), spec({3, 3}));
                           },
                           where});
         else
           list.push_back({[=](std::size_t n) {
                             return trace(
                                 [](const auto& x, const auto& t, const auto& w) {
                                   const auto d = subtract(matmul(x, w), t);
                                   return sum(multiply(d, d));
                                 },
                                 spec(cut, {n, 3}), spec({n, 3}), spec({3, 3}));
                           },
                           where});
       }
       const auto on = [=](std::size_t k, const shape_list& shape, std::size_t salt) {
         const mesh whole{axis{"all", 1}};
         return reshard(made(s, sharding(whole, 2), shape, salt), list[k].where, one.layout("", ""));
       };
       auto step =
           std::make_shared<pipeline<double>>(s.everyone, list, pipeline_options{.rows = 4, .micro_batches = 2});
       return compared([=](values& got) {
         std::vector<std::vector<tensor>> weights(s.n);
         for (std::size_t k = 0; k < s.n; ++k) weights[k].push_back(on(k, {3, 3}, k));
         got << (*step)(on(0, {4, 3}, 1), on(s.n - 1, {4, 3}, 2), weights);
         for (const auto& of_stage : step->gradients())
           for (const auto& g : of_stage) got << g;
       });
     }},
    {"transformer block",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", "", ""), {2 * s.n, 4, 4}, 1), ones = made(s, s.m.layout(""), {4}, 2);
         const auto q = made(s, s.m.layout("", "", ""), {4, 2, 2}, 3),
                    o = made(s, s.m.layout("", "", "a"), {2, 2, 4}, 4), up = made(s, s.m.layout("a", ""), {4, 6}, 5);
         const auto loss = [&](const auto& n, const auto& a, const auto& b, const auto& c) {
           const auto h = normalise(x, n, n);
           const auto seen = attention(einsum<"btc,chd->bhtd">(h, a), einsum<"btc,chd->bhtd">(h, a),
                                       einsum<"btc,chd->bhtd">(h, a), {.causal = true});
           const auto y = add(x, einsum<"bhtd,hdc->btc">(seen, b));
           return mean(square(log_softmax(gelu(einsum<"btc,cf->btf">(y, c)))));
         };
         auto [value, gradients] = value_and_gradient(loss, ones, q, o, up);
         got << value << clip_by_global_norm(gradients, 0.5);
         std::apply([&](const auto&... g) { (got << ... << reshard(g, g.layout().without_partials())); }, gradients);
       });
     }},
    {"labels",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto table = made(s, s.m.layout("a", ""), {5, 3}, 1);
         const auto at = shard(s.everyone, s.m.layout("a"), xt::xtensor<double, 1>{4, 0, 2, 0});
         const auto loss = [&](const auto& t) {
           return cross_entropy(take(t, at, dimensions<0>), xt::xtensor<int, 1>{0, 1, 2, 1});
         };
         const auto [value, gradients] = value_and_gradient(loss, table);
         got << value << std::get<0>(gradients) << lookup(table, xt::xtensor<int, 1>{1, 4});
       });
     }},
    {"gather and scatter",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {5, 3}, 1), u = made(s, s.m.layout("a", ""), {4, 3}, 2);
         const auto at = shard(s.everyone, s.m.layout("a"), xt::xtensor<double, 1>{4, 0, 2, 0});
         const auto pairs = shard(s.everyone, s.m.layout("a", ""), xt::xtensor<double, 2>{{4, 0}, {1, 2}});
         got << scatter_add(x, at, u, dimensions<0>) << scatter(x, at, u, dimensions<0>) << gather_nd<2>(x, pairs);
         const auto bound = bind_indices(x, at);
         got << bound.take(x) << bound.scatter_add(x, u);
       });
     }},
    {"order of elements",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a"), {7 * s.n}, 1), y = made(s, s.m.layout("a", ""), {5, 3}, 2);
         got << sort(x) << argsort(x) << top_k(x, 3).values << unique(x);
         got << sort(y, dimensions<0>) << top_k(y, 2, dimensions<0>).values;
         const auto loss = [](const auto& z) { return sum(square(sort(z))); };
         got << std::get<0>(value_and_gradient(loss, x).gradients);
       });
     }},
    {"select_if",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {3 * s.n, 2}, 1), keep = made(s, s.m.layout("a"), {3 * s.n}, 2);
         got << select_if(x, keep > 0) << select_if(x, keep > 0, 2);
       });
     }},
    {"parts and order",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {4 * s.n, 3}, 1),
                    y = made(s, s.m.layout("", "a"), {4 * s.n, 3}, 2);
         got << concatenate(dimensions<0>, x, y) << roll(x, dimensions<0>, 3) << flip(x, dimensions<0>)
             << tile(x, dimensions<0>, 2) << strided_slice(x, dimensions<0>, {0, 7, 2}) << transpose(x)
             << reshape(x, {3, 4 * s.n}) << stack(dimensions<0>, x, y) << triu(x);
         const auto parts = split<2>(x, dimensions<0>);
         got << parts[0] << parts[1];
       });
     }},
    {"pools and filters",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("", "", "a"), {1, 2, 6 * s.n}, 1),
                    k = made(s, s.m.layout("", "", ""), {2, 2, 3}, 2);
         const auto loss = [&](const auto& z, const auto& w) {
           const auto y = convolve<1>(z, w, {.padding = {1}});
           return sum(
               square(upsample<1>(average_pool<1>(max_pool<1>(y, {.kernel = {2}}), {.kernel = {3}}), {.scale = 2.})));
         };
         const auto [value, gradients] = value_and_gradient(loss, x, k);
         got << value << std::get<0>(gradients)
             << reshard(std::get<1>(gradients), std::get<1>(gradients).layout().without_partials());
       });
     }},
    {"batch statistics",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", "", ""), {2 * s.n, 2, 3}, 1), g = made(s, s.m.layout(""), {2}, 2);
         const auto loss = [&](const auto& z, const auto& w) { return sum(square(normalise_batch(z, w, w))); };
         const auto [value, gradients] = value_and_gradient(loss, x, g);
         got << value << std::get<0>(gradients) << reshard(std::get<1>(gradients), g.layout());
       });
     }},
    {"reductions",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {4 * s.n, 3}, 1);
         const auto whole = [](const auto& y) { return reshard(y, y.layout().without_partials()); };
         got << sum(x).number() << mean(x).number() << whole(maximum(x, dimensions<0>))
             << whole(argmax(x, dimensions<0>)) << whole(cumsum(x, dimensions<0>)) << softmax(x, dimensions<0>);
       });
     }},
#if __has_include(<fftw3.h>)
    {"spectra",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {4 * s.n, 6}, 1);
         const auto half = rfft(x, dimensions<0, 1>);
         got << half << irfft(half, dimensions<0, 1>, 6) << dct(x, dimensions<0>);
       });
     }},
#endif
    {"scan of two states",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {2 * s.n, 3}, 1), w = made(s, s.m.layout("", "a"), {3, 3}, 2);
         const auto loss = [&](const auto& v) {
           const auto step = [](std::size_t i, const auto& state, const auto& u) {
             const auto& [now, before] = state;
             return std::tuple{add(tanh(matmul(now, u)), multiply(before, static_cast<double>(i))), now};
           };
           return sum(std::get<0>(scan(step, std::tuple{x, x}, 5, {.recompute_every = 2}, v)));
         };
         const auto [value, gradients] = value_and_gradient(loss, w);
         got << value << reshard(std::get<0>(gradients), w.layout());
       });
     }},
    {"recompute",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {2 * s.n, 3}, 1), w = made(s, s.m.layout("", "a"), {3, 3}, 2);
         const auto block = [](const auto& a, const auto& b) { return tanh(matmul(a, b)); };
         const auto loss = [&](const auto& u, const auto& v) {
           return sum(square(recompute(block, recompute(block, u, v), v)));
         };
         const auto [value, gradients] = value_and_gradient(loss, x, w);
         got << value << std::get<0>(gradients) << reshard(std::get<1>(gradients), w.layout());
       });
     }},
    {"training",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         auto w = made(s, s.m.layout("", "a"), {4, 2 * s.n}, 1), u = made(s, s.m.layout("a", ""), {2 * s.n, 2}, 2);
         sharded_adamw<double> o({w, u}, {.learning_rate = 0.1}, optimiser_state_axes{"a"});
         const auto x = made(s, s.m.layout("a", ""), {2 * s.n, 4}, 3);
         for (int step = 0; step < 2; ++step) {
           const auto loss = [&](const auto& a, const auto& b) { return mean(square(matmul(relu(matmul(x, a)), b))); };
           const auto [value, gradients] = value_and_gradient(loss, w, u);
           o.step(gradients, clip_norm{1});
           got << value;
         }
         got << w << u;
       });
     }},
    {"mesh smaller than the world",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const mesh m{axis{"a", s.n > 1 ? s.n - 1 : 1}};
         const auto x = made(s, m.layout("a", ""), {6, 3}, 1), w = made(s, m.layout("", "a"), {3, 4}, 2);
         const auto loss = [&](const auto& v) { return sum(matmul(x, v)); };
         const auto [value, gradients] = value_and_gradient(loss, w);
         got << value << std::get<0>(gradients) << sum(x).number();
         const placed_mesh other(mesh{axis{"b", 1}}, workers(s.n - 1, s.n));
         got << reshard(x, other, other.mesh().layout("b", ""));
       });
     }},
    {"traced program",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto program = trace([](const auto& x, const auto& w) { return sum(square(matmul(x, w))); },
                                    spec(s.m.layout("a", ""), {2 * s.n, 3}), spec(s.m.layout("", "a"), {3, 3}));
         const auto x = made(s, s.m.layout("a", ""), {2 * s.n, 3}, 1), w = made(s, s.m.layout("", "a"), {3, 3}, 2);
         const auto [value, gradients] = value_and_gradient(program, x, w);
         got << value << std::get<0>(gradients) << cast<float>(x) << clip(x, 0, 1);
       });
     }},
    {"large tensors",
     [](const setting& s) -> call {
       return compared([s](values& got) {
         const auto x = made(s, s.m.layout("a", ""), {40 * s.n, 500}, 1);
         got << reshard(x, s.m.layout("", "a")) << reshard(x, s.m.layout("", ""))
             << reshard(sum(x, dimensions<0>), s.m.layout(""));
       });
     }},
};

}  // namespace

int main(int argc, char** argv) { return run_trials(argc, argv, kinds); }
