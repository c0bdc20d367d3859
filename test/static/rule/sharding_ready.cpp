// Sharding propagation of built-in rules, checked at compile time: layers, scatter, experts, optimisers, and operations
// of many tensors.
#include "sharding_cases.hpp"

using namespace sharding_cases;

namespace {

constexpr policy ours{};

// --- norms ---

static_assert(forward(ours, rules::group_norm(4),
                      {by_axis{m24}({8, 16, 5, 5}, {0, 1, -1, -1}), by_axis{m24}({16}, {1}), by_axis{m24}({16}, {1})},
                      {by_axis{m24}({0, 1, -1, -1}), by_axis{m24}({1}), by_axis{m24}({1}), by_axis{m24}({0, 1, -1, -1}),
                       by_axis{m24}({0, 1}), by_axis{m24}({0, 1})}));
// two groups cannot be cut in four
static_assert(forward(ours, rules::group_norm(2),
                      {by_axis{m24}({8, 16, 5, 5}, {0, 1, -1, -1}), by_axis{m24}({16}, {1}), by_axis{m24}({16}, {1})},
                      {by_axis{m24}({0, -1, -1, -1}), by_axis{m24}({-1}), by_axis{m24}({-1}),
                       by_axis{m24}({0, -1, -1, -1}), by_axis{m24}({0, -1}), by_axis{m24}({0, -1})}));
static_assert(forward(ours, rules::instance_norm, {by_axis{m22}({8, 3, 6}, {0, 1, -1})},
                      {by_axis{m22}({0, 1, -1}), by_axis{m22}({0, 1, -1}), by_axis{m22}({0, 1}),
                       by_axis{m22}({0, 1})}));
static_assert(forward(ours, rules::batch_norm,
                      {by_axis{m22}({8, 4, 6}, {0, 1, -1}), by_axis{m22}({4}, {-1}), by_axis{m22}({4}, {-1}),
                       by_axis{m22}({4}, {-1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({-1, 1, -1}), by_axis{m22}({1}), by_axis{m22}({1}), by_axis{m22}({1}),
                       by_axis{m22}({1}), by_axis{m22}({-1, 1, -1}), by_axis{m22}({1}), by_axis{m22}({1}),
                       by_axis{m22}({1}), by_axis{m22}({1})}));
static_assert(forward(ours, rules::synchronised_batch_norm,
                      {by_axis{m22}({8, 4, 6}, {0, -1, -1}), by_axis{m22}({4}, {-1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({0, -1, -1}), by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({0, -1, -1}),
                       by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({-1})}));
static_assert(forward(ours, rules::batch_norm_inference,
                      {by_axis{m22}({8, 4, 6}, {0, -1, 1}), by_axis{m22}({4}, {-1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({0, -1, 1}), by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({0, -1, 1})}));

// --- products and convolutions ---

static_assert(forward(ours, rules::matmul_bias(),
                      {by_axis{m22}({8, 16}, {0, -1}), by_axis{m22}({16, 4}, {-1, 1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({0, -1}), by_axis{m22}({-1, 1}), by_axis{m22}({1}), by_axis{m22}({0, 1})}));
// the summed dimension is gathered: two partial results would count the bias twice
static_assert(forward(ours, rules::matmul_bias(),
                      {by_axis{m22}({8, 16}, {-1, 1}), by_axis{m22}({16, 4}, {1, -1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({-1, -1}), by_axis{m22}({-1, -1}), by_axis{m22}({-1}), by_axis{m22}({-1, -1})}));
static_assert(forward(ours, rules::matmul_bias(false, false, true),
                      {by_axis{m22}({8, 16}, {-1, 1}), by_axis{m22}({16, 4}, {1, -1}), by_axis{m22}({4}, {-1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({1, -1}), by_axis{m22}({-1}), by_axis{m22}({-1, -1})}));
static_assert(forward(ours, rules::grouped_convolution(4),
                      {by_axis{m24}({2, 8, 5, 5}, {0, 1, -1, -1}), by_axis{m24}({16, 2, 3, 3}, {-1, -1, -1, -1})},
                      {by_axis{m24}({0, 1, -1, -1}), by_axis{m24}({1, -1, -1, -1}), by_axis{m24}({0, 1, -1, -1})}));
static_assert(forward(ours, rules::depthwise_convolution,
                      {by_axis{m22}({2, 7, 5}, {-1, 0, -1}), by_axis{m22}({7, 1, 3}, {-1, -1, -1})},
                      {by_axis{m22}({-1, 0, -1}), by_axis{m22}({0, -1, -1}), by_axis{m22}({-1, 0, -1})}));
static_assert(forward(ours, rules::transposed_convolution(),
                      {by_axis{m22}({2, 4, 5}, {-1, 0, -1}), by_axis{m22}({4, 6, 3}, {-1, 1, -1})},
                      {by_axis{m22}({-1, 0, -1}), by_axis{m22}({0, 1, -1}),
                       made_partial(by_axis{m22}({-1, 1, -1}), 0)}));

// --- writing by index ---

static_assert(forward(ours, rules::put_along_axis(1),
                      {by_axis{m22}({8, 6}, {0, 1}), by_axis{m22}({8, 3}, {-1, -1}), by_axis{m22}({8, 3}, {-1, -1})},
                      {by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({0, -1})}));
static_assert(forward(ours, rules::scatter_nd_add,
                      {by_axis{m22}({8, 6}, {0, 1}), by_axis{m22}({3, 1}, {0, -1}), by_axis{m22}({3, 6}, {0, -1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({-1, -1}), by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1})}));
static_assert(forward(ours, rules::index_put,
                      {by_axis{m22}({8, 6, 4}, {0, -1, 1}), by_axis{m22}({3}, {-1}), by_axis{m22}({3}, {-1}),
                       by_axis{m22}({3, 4}, {-1, -1})},
                      {by_axis{m22}({-1, -1, 1}), by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({-1, 1}),
                       by_axis{m22}({-1, -1, 1})}));
static_assert(forward(ours, rules::cummax(1), {by_axis{m22}({8, 6}, {0, 1})},
                      {by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({0, -1})}));
static_assert(forward(ours, rules::cummin(0), {by_axis{m22}({8, 6}, {0, 1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1})}));

// --- experts: columns pass, experts are cut where the result asks for it ---

static_assert(forward(ours, rules::expert_dispatch(2, 8),
                      {by_axis{m22}({16, 32}, {0, 1}), by_axis{m22}({16, 4}, {0, -1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({-1, -1}), by_axis{m22}({-1, -1, 1}), by_axis{m22}({-1, -1}),
                       by_axis{m22}({-1, -1}), by_axis{m22}({-1, -1})}));
static_assert(backward(ours, rules::expert_dispatch(2, 8), {shape_list{16, 32}, shape_list{16, 4}},
                       {by_axis{m22}({0, -1, 1}), by_axis{m22}({-1, -1}), by_axis{m22}({-1, -1}),
                        by_axis{m22}({-1, -1})},
                       {by_axis{m22}({-1, 1}), by_axis{m22}({-1, -1}), by_axis{m22}({0, -1, 1})}));
static_assert(forward(ours, rules::expert_combine,
                      {by_axis{m22}({32, 8}, {-1, 1}), by_axis{m22}({16, 2}, {0, -1}), by_axis{m22}({16, 2}, {0, -1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({0, 1})}));

// --- optimisers: the state lies as the parameter, a partial gradient is finished first ---

static_assert(forward(ours, rules::adam,
                      {by_axis{m22}({8, 6}, {0, -1}), spec(made_partial(by_axis{m22}({0, -1}), 1), {8, 6}),
                       by_axis{m22}({1}, {-1}), by_axis{m22}({8, 6}, {0, -1}), by_axis{m22}({8, 6}, {0, -1}),
                       by_axis{m22}({1}, {-1}), by_axis{m22}({1}, {-1})},
                      {by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({-1}), by_axis{m22}({0, -1}),
                       by_axis{m22}({0, -1}), by_axis{m22}({-1}), by_axis{m22}({-1}), by_axis{m22}({0, -1}),
                       by_axis{m22}({0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({-1}), by_axis{m22}({-1})}));
static_assert(forward(ours, rules::sgd,
                      {by_axis{m22}({8, 6}, {0, 1}), by_axis{m22}({1}, {-1}), by_axis{m22}({8, 6}, {-1, -1})},
                      {by_axis{m22}({0, 1}), by_axis{m22}({-1}), by_axis{m22}({0, 1}), by_axis{m22}({0, 1})}));

// --- many tensors ---

template <std::size_t N>
constexpr bool concatenated() {
  std::array<spec, N> all{};
  for (spec& one : all) one = by_axis{m24}({8, 3, 16}, {0, -1, 1});
  const propagation p = propagate(m24, rules::concatenate(1), spec_list(all));
  for (const sharding& s : p.operands)
    if (!(s == by_axis{m24}({0, -1, 1}))) return false;
  return p.operands.size() == N && p.reshards.empty() && p.results[0] == by_axis{m24}({0, -1, 1});
}
static_assert(concatenated<13>() && concatenated<64>());

template <std::size_t N>
constexpr bool unbound() {
  const propagation p = propagate(m24, rules::unbind(1), {spec(by_axis{m24}({0, 1, -1}), shape_list{8UL, N, 16UL})});
  for (const sharding& s : p.results)
    if (!(s == by_axis{m24}({0, -1}))) return false;
  return p.results.size() == N && p.reshards.size() == 1 && p.operands[0] == by_axis{m24}({0, -1, -1});
}
static_assert(unbound<12>() && unbound<64>());

// broadcast operands share the dimensions that they have in common, also after their dimensions of 1 are known
constexpr bool added() {
  std::array<spec, 64> all{};
  for (std::size_t k = 0; k < 64; ++k)
    all[k] = k == 0       ? by_axis{m24}({8, 16}, {0, 1})
             : k % 2 == 0 ? by_axis{m24}({8, 1}, {-1, -1})
                          : by_axis{m24}({1, 16}, {-1, -1});
  const propagation p = propagate(m24, rules::add_n, spec_list(all));
  return p.results[0] == by_axis{m24}({0, 1}) && p.operands[62] == by_axis{m24}({0, -1}) &&
         p.operands[63] == by_axis{m24}({-1, 1});
}
static_assert(added());

// the gradient of an unbind of 64 is a stack of 64
constexpr bool gradient_of_many() {
  const shape_list x{8, 64, 16};
  const rule g = gradient(bind_shapes(rules::unbind(1)({x}), {x}), {.operands = 0});
  std::array<spec, 64> all{};
  for (spec& one : all) one = by_axis{m24}({8, 16}, {0, -1});
  return propagate(m24, g, spec_list(all)).results[0] == by_axis{m24}({0, -1, -1});
}
static_assert(gradient_of_many());

// parts of 64 different extents are as many whole dimensions
constexpr bool parts_of_all_extents() {
  std::array<shape_list, 64> shapes{};
  std::size_t length = 0;
  for (std::size_t k = 0; k < 64; ++k) shapes[k] = shape_list{8UL, k + 1}, length += k + 1;
  const shape_span all(shapes.data(), 64);
  const rule r = bind_shapes(rules::concatenate(1)(all), all);
  return result_shape(r, 0) == shape_list{8UL, length};
}
static_assert(parts_of_all_extents());

// --- extents that are not known: what stays a dimension of its own passes, what is merged does not ---

static_assert(forward(ours, rules::flatten(1, 2), {by_axis{m22}({8UL, dynamic, 16UL}, {0, 1, -1})},
                      {by_axis{m22}({0, -1, -1}), by_axis{m22}({0, -1})}));
static_assert(forward(ours, rules::reshape({-1, 4, 4}), {by_axis{m22}({dynamic, 16UL}, {0, 1})},
                      {by_axis{m22}({0, 1}), by_axis{m22}({0, 1, -1})}));
static_assert(forward(ours, rules::tile({2, 1}), {by_axis{m22}({dynamic, 16UL}, {0, 1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1})}));
static_assert(forward(ours, rules::split_evenly(0, 2), {by_axis{m22}({dynamic, 16UL}, {0, 1})},
                      {by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1}), by_axis{m22}({-1, 1})}));
static_assert(result_shape(bind_shapes(rules::concatenate(0)({shape_list{dynamic, 3UL}, shape_list{4, 3}}),
                                       {shape_list{dynamic, 3UL}, shape_list{4, 3}}),
                           0) == shape_list{dynamic, 3UL});

}  // namespace
