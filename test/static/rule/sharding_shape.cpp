// Changes of shape: sharding propagation gives the same as the reference systems, checked at compile time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(forward(policy::paddle_classic, rules::expand({-1, -1, 10, -1}),
                      {by_axis{m24}({8, 12, 1, 24}, {0, -1, -1, 1})},
                      {by_axis{m24}({0, -1, -1, 1}), by_axis{m24}({0, -1, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::expand({1, -1, -1, 1, -1}),
                      {by_axis{m24}({8, 12, 1, 24}, {1, 0, -1, -1})},
                      {by_axis{m24}({1, 0, -1, -1}), by_axis{m24}({-1, 1, 0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::expand({4, -1, 12, 8, -1}),
                      {by_axis{m24}({8, 12, 1, 24}, {1, -1, -1, 0})},
                      {by_axis{m24}({1, -1, -1, 0}), by_axis{m24}({-1, 1, -1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::expand({4, 1, -1, -1, 1, -1}),
                      {by_axis{m24}({8, 12, 1, 24}, {1, -1, -1, 0})},
                      {by_axis{m24}({1, -1, -1, 0}), by_axis{m24}({-1, -1, 1, -1, -1, 0})}));
static_assert(backward(policy::paddle_classic, rules::expand({-1, -1, 8, -1}), {shape_list{8, 12, 1, 24}},
                       {by_axis{m24}({-1, -1, 0, 1})}, {by_axis{m24}({-1, -1, -1, 1}), by_axis{m24}({-1, -1, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::expand({-1, -1, 10, -1}), {shape_list{8, 12, 1, 24}},
                       {by_axis{m24}({0, -1, -1, 1})}, {by_axis{m24}({0, -1, -1, 1}), by_axis{m24}({0, -1, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::expand({1, -1, -1, -1, -1}), {shape_list{8, 12, 1, 24}},
                       {by_axis{m24}({-1, 1, 0, -1, -1})},
                       {by_axis{m24}({1, 0, -1, -1}), by_axis{m24}({-1, 1, 0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::expand({4, -1, -1, 8, -1}), {shape_list{8, 12, 1, 24}},
                       {by_axis{m24}({0, -1, -1, 1, -1})},
                       {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(1, 2), {shape_list{8, 16, 8, 24}},
                       {by_axis{m24}({0, 1, -1})}, {by_axis{m24}({0, 1, -1, -1}), by_axis{m24}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(0, -1), {shape_list{8, 16, 8, 24}}, {by_axis{m24}({-1})},
                       {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(0, -1), {shape_list{8, 16, 8, 24}}, {by_axis{m24}({0})},
                       {by_axis{m24}({0, -1, -1, -1}), by_axis{m24}({0})}));
static_assert(backward(policy::paddle_classic, rules::flatten(0, -1), {shape_list{8, 16, 8, 24}}, {by_axis{m24}({1})},
                       {by_axis{m24}({1, -1, -1, -1}), by_axis{m24}({1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(1, -1), {shape_list{8, 16, 8, 24}},
                       {by_axis{m24}({-1, -1})}, {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(1, -1), {shape_list{8, 16, 8, 24}},
                       {by_axis{m24}({0, -1})}, {by_axis{m24}({0, -1, -1, -1}), by_axis{m24}({0, -1})}));
static_assert(backward(policy::paddle_classic, rules::flatten(1, -1), {shape_list{8, 16, 8, 24}},
                       {by_axis{m24}({0, 1})}, {by_axis{m24}({0, 1, -1, -1}), by_axis{m24}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::flatten(1, 2), {by_axis{m24}({8, 16, 8, 24}, {0, -1, -1, 1})},
                      {by_axis{m24}({0, -1, -1, 1}), by_axis{m24}({0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::flatten(1, 2), {by_axis{m24}({8, 16, 8, 24}, {-1, 0, -1, 1})},
                      {by_axis{m24}({-1, 0, -1, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, 0, 1, -1, -1})},
                       {by_axis{m23}({0, -1, 1, -1}), by_axis{m23}({-1, 0, 1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, -1, -1, -1, -1})},
                       {by_axis{m23}({-1, -1, -1, -1}), by_axis{m23}({-1, -1, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, 1, -1, 0, -1})},
                       {by_axis{m23}({1, -1, -1, 0}), by_axis{m23}({-1, 1, -1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({3, 24, 6, 8, 24}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({1, -1, -1, -1, 0})},
                       {by_axis{m23}({1, -1, -1, 0}), by_axis{m23}({1, -1, -1, -1, 0})}));
static_assert(backward(policy::paddle_classic, rules::reshape({6, 12, 48, 24}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, -1, 0, 1})}, {by_axis{m23}({-1, -1, 0, 1}), by_axis{m23}({-1, -1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({72, 3, 16, 24}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({0, 1, -1, -1})}, {by_axis{m23}({0, -1, 1, -1}), by_axis{m23}({0, 1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, 0, -1, -1, 1})},
                       {by_axis{m23}({0, -1, -1, -1}), by_axis{m23}({-1, 0, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::reshape({3, 24, 6, 8, 24}), {shape_list{6, 12, 48, 24}},
                       {by_axis{m23}({-1, 1, -1, -1, 0})},
                       {by_axis{m23}({-1, -1, -1, 0}), by_axis{m23}({-1, -1, -1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}),
                      {by_axis{m23}({6, 12, 48, 24}, {0, -1, 1, -1})},
                      {by_axis{m23}({0, -1, 1, -1}), by_axis{m23}({-1, 0, 1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}),
                      {by_axis{m23}({6, 12, 48, 24}, {-1, 0, -1, 1})},
                      {by_axis{m23}({-1, -1, -1, -1}), by_axis{m23}({-1, -1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({1, 72, 48, 4, 6}),
                      {by_axis{m23}({6, 12, 48, 24}, {1, -1, -1, 0})},
                      {by_axis{m23}({1, -1, -1, 0}), by_axis{m23}({-1, 1, -1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({3, 24, 6, 8, 24}),
                      {by_axis{m23}({6, 12, 48, 24}, {0, 1, -1, -1})},
                      {by_axis{m23}({-1, -1, -1, -1}), by_axis{m23}({-1, -1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({3, 24, 6, 8, 24}),
                      {by_axis{m23}({6, 12, 48, 24}, {1, -1, -1, 0})},
                      {by_axis{m23}({1, -1, -1, 0}), by_axis{m23}({1, -1, -1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::reshape({3, 24, 6, -1, 24}),
                      {by_axis{m23}({6, 12, 48, 24}, {-1, -1, 0, 1})},
                      {by_axis{m23}({-1, -1, 0, 1}), by_axis{m23}({-1, -1, 0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({1, 72, 0, 4, 6}),
                      {by_axis{m23}({6, 12, 48, 24}, {1, -1, -1, 0})},
                      {by_axis{m23}({1, -1, -1, 0}), by_axis{m23}({-1, 1, -1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({72, 3, 16, 24}),
                      {by_axis{m23}({6, 12, 48, 24}, {0, -1, 1, -1})},
                      {by_axis{m23}({0, -1, 1, -1}), by_axis{m23}({0, 1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({72, 3, 16, 24}),
                      {by_axis{m23}({6, 12, 48, 24}, {1, -1, 0, -1})},
                      {by_axis{m23}({1, -1, -1, -1}), by_axis{m23}({1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::reshape({6, 12, 48, 24}),
                      {by_axis{m23}({1, 72, 48, 4, 6}, {-1, 1, -1, 0, -1})},
                      {by_axis{m23}({-1, 1, -1, 0, -1}), by_axis{m23}({1, -1, -1, 0})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({192}), {by_axes{m22}({4, 6, 8}, {{0}, {1}, {}})},
                      {by_axes{m22}({{0, 1}, {}, {}}), by_axes{m22}({{0, 1}})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({192}), {by_axes{m22}({4, 6, 8}, {{}, {0}, {1}})},
                      {by_axes{m22}({{}, {}, {}}), by_axes{m22}({{}})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({192}), {by_axes{m22}({4, 6, 8}, {{0, 1}, {}, {}})},
                      {by_axes{m22}({{0, 1}, {}, {}}), by_axes{m22}({{0, 1}})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({4, 6, 8}), {by_axes{m22}({192}, {{0, 1}})},
                      {by_axes{m22}({{0, 1}}), by_axes{m22}({{0, 1}, {}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({6, 4, 8}), {by_axes{m22}({192}, {{0, 1}})},
                      {by_axes{m22}({{}}), by_axes{m22}({{}, {}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::reshape({2, 12, 8}), {by_axes{m22}({4, 6, 8}, {{0}, {1}, {}})},
                      {by_axes{m22}({{0}, {}, {}}), by_axes{m22}({{0}, {}, {}})}));
static_assert(backward(policy::paddle_classic, rules::slice({-1}), {shape_list{8, 8, 16, 16}},
                       {by_axis{m24}({-1, -1, 0, 1})}, {by_axis{m24}({-1, -1, 0, -1}), by_axis{m24}({-1, -1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::slice({-1}), {shape_list{8, 8, 16, 16}},
                       {by_axis{m24}({-1, 1, 0, -1})}, {by_axis{m24}({-1, 1, 0, -1}), by_axis{m24}({-1, 1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::slice({1, 2}), {shape_list{8, 8, 16, 16}},
                       {by_axis{m24}({-1, 1, 0, -1})},
                       {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::slice({0, 1, 2, 3}), {shape_list{8, 8, 16, 16}},
                       {by_axis{m24}({0, 1, -1, -1})},
                       {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::slice({1, 2}), {by_axis{m24}({8, 8, 16, 16}, {0, -1, -1, 1})},
                      {by_axis{m24}({0, -1, -1, 1}), by_axis{m24}({0, -1, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::slice({1, 2}), {by_axis{m24}({8, 8, 16, 16}, {-1, 1, 0, -1})},
                      {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::slice({0, 1, 2, 3}),
                      {by_axis{m24}({8, 8, 16, 16}, {0, 1, -1, -1})},
                      {by_axis{m24}({-1, -1, -1, -1}), by_axis{m24}({-1, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({0, 2}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({0, 1})}, {by_axis{m24}({-1, 0, -1, 1}), by_axis{m24}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({1, 2}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({-1, 0, 1})}, {by_axis{m24}({-1, 0, -1, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({-4}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({0, -1, 1})}, {by_axis{m24}({-1, 0, -1, 1}), by_axis{m24}({0, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({0, 2}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({1, 0})}, {by_axis{m24}({-1, 1, -1, 0}), by_axis{m24}({1, 0})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({-4}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({1, -1, 0})}, {by_axis{m24}({-1, 1, -1, 0}), by_axis{m24}({1, -1, 0})}));
static_assert(backward(policy::paddle_classic, rules::squeeze({-4}), {shape_list{1, 8, 1, 16}},
                       {by_axis{m24}({1, 0, -1})}, {by_axis{m24}({-1, 1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::squeeze({0, 2}), {by_axis{m24}({1, 8, 1, 16}, {-1, 0, -1, 1})},
                      {by_axis{m24}({-1, 0, -1, 1}), by_axis{m24}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::tile({2, 2, 1, 1}), {by_axis{m22}({16, 16, 16}, {0, -1, 1})},
                      {by_axis{m22}({-1, -1, 1}), by_axis{m22}({-1, -1, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::tile({2, 2, 1, 1}), {shape_list{16, 16, 16}},
                       {by_axis{m22}({-1, -1, -1, 1})}, {by_axis{m22}({-1, -1, 1}), by_axis{m22}({-1, -1, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::tile({2, 2, 1, 1}), {by_axis{m22}({6, 8, 10}, {0, -1, 1})},
                      {by_axis{m22}({-1, -1, 1}), by_axis{m22}({-1, -1, -1, 1})}));
static_assert(forward(policy::paddle_coshard, rules::tile({1, 2}), {by_axes{m222}({8, 16, 24}, {{0, 1}, {}, {2}})},
                      {by_axes{m222}({{0, 1}, {}, {}}), by_axes{m222}({{0, 1}, {}, {}})}));
static_assert(backward(policy::paddle_classic, rules::transpose({0, 2, 3, 1}), {shape_list{64, 48, 36, 24}},
                       {by_axis{m23}({-1, -1, -1, -1})},
                       {by_axis{m23}({-1, -1, -1, -1}), by_axis{m23}({-1, -1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::transpose({-1, 0, -2, 1}), {shape_list{64, 48, 36, 24}},
                       {by_axis{m23}({1, -1, 0, -1})}, {by_axis{m23}({-1, -1, 0, 1}), by_axis{m23}({1, -1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::transpose({1, 0}), {shape_list{64, 36}}, {by_axis{m4}({-1, 0})},
                       {by_axis{m4}({0, -1}), by_axis{m4}({-1, 0})}));
static_assert(backward(policy::paddle_classic, rules::transpose({0, 1}), {shape_list{64, 36}}, {by_axis{m4}({0, -1})},
                       {by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(forward(policy::paddle_classic, rules::transpose({0, 2, 3, 1}),
                      {by_axis{m23}({64, 48, 36, 24}, {-1, 0, 1, -1})},
                      {by_axis{m23}({-1, 0, 1, -1}), by_axis{m23}({-1, 1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::transpose({0, 2, 3, 1}),
                      {by_axis{m23}({64, 48, 36, 24}, {-1, -1, -1, -1})},
                      {by_axis{m23}({-1, -1, -1, -1}), by_axis{m23}({-1, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::transpose({-1, 0, -2, 1}),
                      {by_axis{m23}({64, 48, 36, 24}, {-1, -1, 0, 1})},
                      {by_axis{m23}({-1, -1, 0, 1}), by_axis{m23}({1, -1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::transpose({1, 0}), {by_axis{m4}({64, 36}, {0, -1})},
                      {by_axis{m4}({0, -1}), by_axis{m4}({-1, 0})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({0}), {shape_list{8, 16}}, {by_axis{m24}({-1, 0, 1})},
                       {by_axis{m24}({0, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({-1}), {shape_list{8, 16}}, {by_axis{m24}({0, 1, -1})},
                       {by_axis{m24}({0, 1}), by_axis{m24}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({1, 2}), {shape_list{8, 16}},
                       {by_axis{m24}({0, -1, -1, 1})}, {by_axis{m24}({0, 1}), by_axis{m24}({0, -1, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({0, 1, 2}), {shape_list{8, 16}},
                       {by_axis{m24}({-1, -1, -1, 0, 1})}, {by_axis{m24}({0, 1}), by_axis{m24}({-1, -1, -1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({0}), {shape_list{8, 16}}, {by_axis{m24}({-1, 1, 0})},
                       {by_axis{m24}({1, 0}), by_axis{m24}({-1, 1, 0})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({-1}), {shape_list{8, 16}}, {by_axis{m24}({1, 0, -1})},
                       {by_axis{m24}({1, 0}), by_axis{m24}({1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({1, 2}), {shape_list{8, 16}},
                       {by_axis{m24}({1, -1, -1, 0})}, {by_axis{m24}({1, 0}), by_axis{m24}({1, -1, -1, 0})}));
static_assert(backward(policy::paddle_classic, rules::unsqueeze({0, 1, 2}), {shape_list{8, 16}},
                       {by_axis{m24}({-1, -1, -1, 1, 0})}, {by_axis{m24}({1, 0}), by_axis{m24}({-1, -1, -1, 1, 0})}));
