// Matrix products and convolution: sharding propagation gives the same as the reference systems, checked at compile
// time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(forward(policy::paddle_coshard, rules::matmul,
                      {by_axes{m222}({4, 16, 8}, {{0, 1}, {2}, {}}), by_axes{m222}({4, 8, 32}, {{0, 1}, {}, {}})},
                      {by_axes{m222}({{0, 1}, {2}, {}}), by_axes{m222}({{0, 1}, {}, {}}),
                       by_axes{m222}({{0, 1}, {2}, {}})}));
static_assert(forward(policy::paddle_classic, rules::convolution,
                      {by_axis{m222}({2, 4, 8, 8}, {0, -1, -1, -1}), by_axis{m222}({10, 4, 3, 3}, {-1, -1, -1, -1})},
                      {by_axis{m222}({0, -1, -1, -1}), by_axis{m222}({-1, -1, -1, -1}),
                       by_axis{m222}({0, -1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::convolution,
                      {by_axis{m222}({2, 4, 8, 8}, {-1, -1, -1, -1}), by_axis{m222}({10, 4, 3, 3}, {0, -1, -1, -1})},
                      {by_axis{m222}({-1, -1, -1, -1}), by_axis{m222}({0, -1, -1, -1}),
                       by_axis{m222}({-1, 0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::convolution,
                      {by_axis{m222}({2, 4, 8, 8}, {0, -1, -1, -1}), by_axis{m222}({10, 4, 3, 3}, {1, -1, -1, -1})},
                      {by_axis{m222}({0, -1, -1, -1}), by_axis{m222}({1, -1, -1, -1}), by_axis{m222}({0, 1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::convolution,
                      {by_axis{m222}({2, 4, 8, 8}, {-1, 0, -1, -1}), by_axis{m222}({10, 4, 3, 3}, {-1, 0, -1, -1})},
                      {by_axis{m222}({-1, 0, -1, -1}), by_axis{m222}({-1, 0, -1, -1}),
                       made_partial(by_axis{m222}({-1, -1, -1, -1}), 0)}));
static_assert(forward(policy::paddle_classic, rules::convolution,
                      {by_axis{m222}({2, 4, 8, 8}, {0, 2, -1, -1}), by_axis{m222}({10, 4, 3, 3}, {1, 2, -1, -1})},
                      {by_axis{m222}({0, 2, -1, -1}), by_axis{m222}({1, 2, -1, -1}),
                       made_partial(by_axis{m222}({0, 1, -1, -1}), 2)}));
static_assert(backward(policy::paddle_classic, rules::convolution, {shape_list{2, 4, 8, 8}, shape_list{10, 4, 3, 3}},
                       {by_axis{m222}({0, 1, -1, -1})},
                       {by_axis{m222}({0, -1, -1, -1}), by_axis{m222}({1, -1, -1, -1}),
                        by_axis{m222}({0, 1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::matmul_transposed(false, false),
                       {shape_list{64, 32}, shape_list{32, 48}}, {by_axis{m23}({1, 0})},
                       {by_axis{m23}({1, -1}), by_axis{m23}({-1, 0}), by_axis{m23}({1, 0})}));
static_assert(backward(policy::paddle_classic, rules::matmul_transposed(false, false),
                       {shape_list{1, 64, 32}, shape_list{512, 48, 32, 48}}, {by_axis{m23}({1, 0, -1, -1})},
                       {by_axis{m23}({-1, -1, -1}), by_axis{m23}({1, 0, -1, -1}), by_axis{m23}({1, 0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::matmul_transposed(false, false),
                       {shape_list{512, 48, 64, 32}, shape_list{512, 1, 32, 48}}, {by_axis{m23}({-1, 0, -1, 1})},
                       {by_axis{m23}({-1, 0, -1, -1}), by_axis{m23}({-1, -1, -1, 1}), by_axis{m23}({-1, 0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::matmul_transposed(false, false),
                      {by_axis{m23}({64, 32}, {1, 0}), by_axis{m23}({32, 48}, {0, -1})},
                      {by_axis{m23}({1, 0}), by_axis{m23}({0, -1}), made_partial(by_axis{m23}({1, -1}), 0)}));
static_assert(forward(policy::paddle_classic, rules::matmul_transposed(false, false),
                      {by_axis{m23}({64, 32}, {1, -1}), by_axis{m23}({32, 48}, {-1, -1})},
                      {by_axis{m23}({1, -1}), by_axis{m23}({-1, -1}), by_axis{m23}({1, -1})}));
static_assert(forward(policy::paddle_classic, rules::matmul_transposed(false, false),
                      {by_axis{m23}({64, 32}, {-1, -1}), by_axis{m23}({32, 48}, {-1, 0})},
                      {by_axis{m23}({-1, -1}), by_axis{m23}({-1, 0}), by_axis{m23}({-1, 0})}));
static_assert(forward(policy::paddle_classic, rules::matmul_transposed(false, false),
                      {by_axis{m23}({64, 32}, {1, 0}), by_axis{m23}({32, 48}, {-1, -1})},
                      {by_axis{m23}({1, 0}), by_axis{m23}({0, -1}), made_partial(by_axis{m23}({1, -1}), 0)}));
static_assert(forward(policy::paddle_classic, rules::matmul_transposed(false, false),
                      {by_axis{m23}({64, 32}, {-1, -1}), by_axis{m23}({32, 48}, {1, 0})},
                      {by_axis{m23}({-1, 1}), by_axis{m23}({1, 0}), made_partial(by_axis{m23}({-1, 0}), 1)}));
