// Element-wise operations with broadcasting: sharding propagation gives the same as the reference systems, checked at
// compile time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(forward(policy::paddle_classic, rules::add_n,
                      {by_axis{m22}({16, 16, 16}, {0, -1, -1}), by_axis{m22}({16, 16, 16}, {0, -1, -1})},
                      {by_axis{m22}({0, -1, -1}), by_axis{m22}({0, -1, -1}), by_axis{m22}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::add_n,
                      {spec(made_partial(by_axis{m22}({0, -1, -1}), 1, pending_reduction::sum), {16, 16, 16}),
                       spec(made_partial(by_axis{m22}({-1, -1, -1}), 1, pending_reduction::sum), {16, 16, 16})},
                      {made_partial(by_axis{m22}({0, -1, -1}), 1), made_partial(by_axis{m22}({0, -1, -1}), 1),
                       made_partial(by_axis{m22}({0, -1, -1}), 1)}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{96, 24, 48}, shape_list{48}},
                       {by_axis{m23}({0, -1, 1})},
                       {by_axis{m23}({0, -1, 1}), by_axis{m23}({1}), by_axis{m23}({0, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{96, 1, 1, 48}, shape_list{96, 24, 48}},
                       {by_axis{m23}({-1, 0, -1, 1})},
                       {by_axis{m23}({-1, -1, -1, 1}), by_axis{m23}({0, -1, 1}), by_axis{m23}({-1, 0, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{64, 36}, shape_list{64, 36}},
                       {by_axis{m4}({0, -1})}, {by_axis{m4}({0, -1}), by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{64, 36}, shape_list{64, 36}},
                       {by_axis{m4}({-1, -1})}, {by_axis{m4}({-1, -1}), by_axis{m4}({-1, -1}), by_axis{m4}({-1, -1})}));
static_assert(backward(policy::paddle_classic, rules::relu, {shape_list{64, 36}}, {by_axis{m4}({-1, 0})},
                       {by_axis{m4}({-1, 0}), by_axis{m4}({-1, 0})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{64, 36, 12}, shape_list{12}},
                       {by_axis{m4}({0, -1, -1})},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({-1}), by_axis{m4}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{64, 36, 12}, shape_list{12}},
                       {by_axis{m4}({-1, -1, 0})},
                       {by_axis{m4}({-1, -1, 0}), by_axis{m4}({0}), by_axis{m4}({-1, -1, 0})}));
static_assert(backward(policy::paddle_classic, rules::add, {shape_list{64, 36, 12}, shape_list{1, 12}},
                       {by_axis{m4}({-1, 0, -1})},
                       {by_axis{m4}({-1, 0, -1}), by_axis{m4}({-1, -1}), by_axis{m4}({-1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m23}({96, 24, 48}, {0, 1, -1}), by_axis{m23}({96, 24, 48}, {-1, -1, -1})},
                      {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m23}({96, 24, 48}, {0, -1, -1}), by_axis{m23}({96, 24, 48}, {-1, 1, 0})},
                      {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m23}({96, 24, 48}, {0, -1, -1}), by_axis{m23}({48}, {1})},
                      {by_axis{m23}({0, -1, 1}), by_axis{m23}({1}), by_axis{m23}({0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m23}({96, 24, 48}, {0, 1, -1}), by_axis{m23}({48}, {0})},
                      {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m4}({64, 36}, {0, -1}), by_axis{m4}({64, 36}, {-1, -1})},
                      {by_axis{m4}({0, -1}), by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m4}({64, 36}, {0, -1}), by_axis{m4}({64, 36}, {-1, 0})},
                      {by_axis{m4}({0, -1}), by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(forward(policy::paddle_classic, rules::relu, {by_axis{m4}({64, 36}, {-1, 0})},
                      {by_axis{m4}({-1, 0}), by_axis{m4}({-1, 0})}));
static_assert(forward(policy::paddle_classic, rules::add,
                      {by_axis{m4}({64, 36, 12}, {-1, 0, -1}), by_axis{m4}({12}, {-1})},
                      {by_axis{m4}({-1, 0, -1}), by_axis{m4}({-1}), by_axis{m4}({-1, 0, -1})}));
static_assert(forward(policy::paddle_classic, rules::elementwise,
                      {by_axis{m4}({1, 64}, {-1, 0}), by_axis{m4}({64}, {-1})},
                      {by_axis{m4}({-1, 0}), by_axis{m4}({0}), by_axis{m4}({-1, 0})}));
static_assert(forward(policy::paddle_classic, rules::cast, {by_axis{m22}({16, 16, 16}, {0, -1, 1})},
                      {by_axis{m22}({0, -1, 1}), by_axis{m22}({0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::scale, {by_axis{m22}({16, 16, 16}, {0, -1, 1})},
                      {by_axis{m22}({0, -1, 1}), by_axis{m22}({0, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::elementwise,
                      {by_axis{m23}({1, 48}, {-1, -1}), by_axis{m23}({2, 32, 48}, {0, 1, -1})},
                      {by_axis{m23}({-1, -1}), by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::elementwise, {shape_list{1, 48}, shape_list{2, 32, 48}},
                       {by_axis{m23}({0, 1, -1})},
                       {by_axis{m23}({-1, -1}), by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1})}));
static_assert(
    forward(policy::paddle_classic, rules::where,
            {by_axis{m22}({16, 16, 16}, {-1, 0, -1}), by_axis{m22}({16, 16}, {-1, 0}), by_axis{m22}({16}, {0})},
            {by_axis{m22}({-1, 0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({-1}), by_axis{m22}({-1, 0, -1})}));
static_assert(backward(policy::paddle_classic, rules::where,
                       {shape_list{16, 16, 16}, shape_list{16, 16}, shape_list{16}}, {by_axis{m22}({-1, 0, -1})},
                       {by_axis{m22}({-1, 0, -1}), by_axis{m22}({0, -1}), by_axis{m22}({-1}),
                        by_axis{m22}({-1, 0, -1})}));
