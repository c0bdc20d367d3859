// Gather operations: sharding propagation gives the same as the reference systems, checked at compile time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(forward(policy::paddle_classic, rules::vocabulary_embedding,
                      {by_axis{m24}({512, 768}, {-1, -1}), by_axis{m24}({4, 1024}, {1, -1})},
                      {by_axis{m24}({-1, -1}), by_axis{m24}({1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::vocabulary_embedding,
                      {by_axis{m24}({512, 768}, {1, -1}), by_axis{m24}({4, 1024}, {-1, -1})},
                      {by_axis{m24}({1, -1}), by_axis{m24}({-1, -1}), made_partial(by_axis{m24}({-1, -1, -1}), 1)}));
static_assert(backward(policy::paddle_classic, rules::embedding(), {shape_list{4, 1024}, shape_list{512, 768}},
                       {by_axis{m24}({1, -1, -1})},
                       {by_axis{m24}({1, -1}), by_axis{m24}({-1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::embedding(), {shape_list{4, 1024}, shape_list{512, 768}},
                       {by_axis{m24}({-1, 0, 1})},
                       {by_axis{m24}({-1, 0}), by_axis{m24}({-1, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::embedding(), {shape_list{4, 1024}, shape_list{512, 768}},
                       {by_axis{m24}({1, 0, -1})},
                       {by_axis{m24}({1, 0}), by_axis{m24}({-1, -1}), by_axis{m24}({1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::embedding(),
                      {by_axis{m24}({4, 1024}, {1, -1}), by_axis{m24}({512, 768}, {-1, 0})},
                      {by_axis{m24}({1, -1}), by_axis{m24}({-1, 0}), by_axis{m24}({1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::embedding(),
                      {by_axis{m24}({4, 1024}, {1, -1}), by_axis{m24}({512, 768}, {0, -1})},
                      {by_axis{m24}({1, -1}), by_axis{m24}({0, -1}), made_partial(by_axis{m24}({1, -1, -1}), 0)}));
static_assert(forward(policy::paddle_classic, rules::gather(1),
                      {by_axis{m23}({64, 32, 48}, {0, 1, -1}), by_axis{m23}({16}, {1})},
                      {by_axis{m23}({0, -1, -1}), by_axis{m23}({1}), by_axis{m23}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::gather(1), {shape_list{64, 32, 48}, shape_list{16}},
                       {by_axis{m23}({1, 0, -1})},
                       {by_axis{m23}({1, -1, -1}), by_axis{m23}({0}), by_axis{m23}({1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::gather(0),
                      {by_axis{m4}({64, 32, 48}, {0, -1, -1}), by_axis{m4}({16}, {0})},
                      {by_axis{m4}({-1, -1, -1}), by_axis{m4}({0}), by_axis{m4}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::gather_nd,
                      {by_axis{m24}({10, 20}, {-1, -1}), by_axis{m24}({2, 4, 1}, {0, -1, -1})},
                      {by_axis{m24}({-1, -1}), by_axis{m24}({0, -1, -1}), by_axis{m24}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::gather_nd,
                      {by_axis{m24}({10}, {-1}), by_axis{m24}({8, 1}, {0, -1})},
                      {by_axis{m24}({-1}), by_axis{m24}({0, -1}), by_axis{m24}({0})}));
static_assert(backward(policy::paddle_classic, rules::gather_nd, {shape_list{10, 20}, shape_list{2, 4, 1}},
                       {by_axis{m24}({0, -1, -1})},
                       {by_axis{m24}({-1, -1}), by_axis{m24}({0, -1, -1}), by_axis{m24}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::gather_nd, {shape_list{10}, shape_list{8, 1}},
                       {by_axis{m24}({0})}, {by_axis{m24}({-1}), by_axis{m24}({0, -1}), by_axis{m24}({0})}));
static_assert(forward(policy::paddle_coshard, rules::index_select(1),
                      {by_axes{m222}({8, 16, 32}, {{0, 1}, {2}, {}}), by_axes{m222}({8}, {{}})},
                      {by_axes{m222}({{0, 1}, {}, {}}), by_axes{m222}({{}}), by_axes{m222}({{0, 1}, {}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::index_select(1),
                      {by_axes{m222}({8, 16, 32}, {{0, 1}, {2}, {}}), by_axes{m222}({8}, {{2}})},
                      {by_axes{m222}({{0, 1}, {}, {}}), by_axes{m222}({{2}}), by_axes{m222}({{0, 1}, {2}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::index_select(1),
                      {by_axes{m222}({8, 16, 32}, {{0, 1}, {2}, {}}), by_axes{m222}({8}, {{0}})},
                      {by_axes{m222}({{0, 1}, {}, {}}), by_axes{m222}({{}}), by_axes{m222}({{0, 1}, {}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::index_select(1),
                      {by_axes{m222}({8, 16, 32}, {{2}, {}, {}}), by_axes{m222}({8}, {{0, 1}})},
                      {by_axes{m222}({{2}, {}, {}}), by_axes{m222}({{0, 1}}), by_axes{m222}({{2}, {0, 1}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::index_select(1),
                      {by_axes{m222}({8, 16, 32}, {{0}, {}, {}}), by_axes{m222}({8}, {{0, 1}})},
                      {by_axes{m222}({{0}, {}, {}}), by_axes{m222}({{1}}), by_axes{m222}({{0}, {1}, {}})}));
static_assert(forward(policy::paddle_classic, rules::one_hot(30000), {by_axis{m24}({4, 1024}, {0, 1})},
                      {by_axis{m24}({0, 1}), by_axis{m24}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::one_hot(30000), {shape_list{4, 1024}}, {by_axis{m24}({0, 1, -1})},
                       {by_axis{m24}({0, 1}), by_axis{m24}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::one_hot(30000), {shape_list{4, 1024}}, {by_axis{m24}({0, -1, 1})},
                       {by_axis{m24}({0, -1}), by_axis{m24}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(0),
                      {by_axis{m4}({64, 32, 48}, {-1, -1, -1}), by_axis{m4}({64, 32, 48}, {0, -1, -1})},
                      {by_axis{m4}({-1, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(0),
                      {by_axis{m4}({64, 32, 48}, {0, -1, -1}), by_axis{m4}({64, 32, 48}, {-1, -1, -1})},
                      {by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(0),
                      {by_axis{m4}({64, 32, 48}, {-1, 0, -1}), by_axis{m4}({64, 32, 48}, {-1, -1, -1})},
                      {by_axis{m4}({-1, 0, -1}), by_axis{m4}({-1, 0, -1}), by_axis{m4}({-1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(0),
                      {by_axis{m24}({64, 32, 48}, {-1, 0, -1}), by_axis{m24}({64, 32, 48}, {-1, -1, 1})},
                      {by_axis{m24}({-1, 0, 1}), by_axis{m24}({-1, 0, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(0),
                      {by_axis{m24}({64, 32, 48}, {0, -1, -1}), by_axis{m24}({64, 32, 48}, {1, -1, -1})},
                      {by_axis{m24}({-1, -1, -1}), by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::take_along_axis(1),
                      {by_axis{m24}({64, 32, 48}, {-1, -1, 0}), by_axis{m24}({8, 4, 48}, {-1, 1, 0})},
                      {by_axis{m24}({-1, -1, 0}), by_axis{m24}({-1, 1, 0}), by_axis{m24}({-1, 1, 0})}));
