// Joining and splitting tensors: sharding propagation gives the same as the reference systems, checked at compile time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(
    backward(policy::paddle_classic, rules::concatenate(0),
             {shape_list{16, 16, 16}, shape_list{4, 16, 16}, shape_list{2, 16, 16}}, {by_axis{m22}({-1, 1, 0})},
             {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0})}));
static_assert(forward(policy::paddle_classic, rules::concatenate(0),
                      {by_axis{m22}({16, 16, 16}, {-1, 0, 1}), by_axis{m22}({4, 16, 16}, {-1, 1, 0}),
                       by_axis{m22}({2, 16, 16}, {-1, -1, 0})},
                      {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}),
                       by_axis{m22}({-1, 1, 0})}));
static_assert(forward(policy::paddle_classic, rules::concatenate(0),
                      {by_axis{m22}({16, 16, 16}, {-1, 0, 1}), by_axis{m22}({4, 16, 16}, {-1, 1, 0}),
                       by_axis{m22}({2, 16, 16}, {-1, -1, 0})},
                      {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}),
                       by_axis{m22}({-1, 1, 0})}));
static_assert(
    backward(policy::paddle_classic, rules::concatenate(0),
             {shape_list{16, 16, 16}, shape_list{4, 16, 16}, shape_list{2, 16, 16}}, {by_axis{m22}({-1, 1, 0})},
             {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0})}));
static_assert(backward(policy::paddle_classic, rules::split_evenly(-1, 3), {shape_list{96, 32, 48, 24}},
                       {by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1})},
                       {by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1}),
                        by_axis{m23}({0, 1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::split_evenly(1, 2), {shape_list{64, 32, 48}},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::split(2, {15, 16, 17}), {shape_list{64, 32, 48}},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}),
                        by_axis{m4}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::split(2, {15, 16, 17}), {shape_list{64, 32, 48}},
                       {by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1})},
                       {by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1}), by_axis{m4}({-1, -1, -1}),
                        by_axis{m4}({-1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::split_evenly(-2, 2), {shape_list{64, 32, 48}},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})},
                       {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::split_evenly(-1, 3),
                      {by_axis{m23}({96, 32, 48, 24}, {0, 1, -1, -1})},
                      {by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1}), by_axis{m23}({0, 1, -1, -1}),
                       by_axis{m23}({0, 1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::split(0, {32, 32, 32}),
                      {by_axis{m23}({96, 32, 48, 24}, {0, 1, -1, -1})},
                      {by_axis{m23}({-1, 1, -1, -1}), by_axis{m23}({-1, 1, -1, -1}), by_axis{m23}({-1, 1, -1, -1}),
                       by_axis{m23}({-1, 1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::split(2, {15, 16, 17}), {by_axis{m4}({64, 32, 48}, {0, -1, -1})},
                      {by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}), by_axis{m4}({0, -1, -1}),
                       by_axis{m4}({0, -1, -1})}));
static_assert(forward(
    policy::paddle_classic, rules::stack(0),
    {by_axis{m22}({16, 8, 4}, {-1, 0, 1}), by_axis{m22}({16, 8, 4}, {-1, 1, 0}), by_axis{m22}({16, 8, 4}, {-1, -1, 0})},
    {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, -1, 1, 0})}));
static_assert(backward(policy::paddle_classic, rules::stack(0),
                       {shape_list{16, 8, 4}, shape_list{16, 8, 4}, shape_list{16, 8, 4}},
                       {by_axis{m22}({-1, -1, 1, 0})},
                       {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}),
                        by_axis{m22}({-1, -1, 1, 0})}));
static_assert(forward(
    policy::paddle_classic, rules::stack(1),
    {by_axis{m22}({16, 8, 4}, {-1, 0, 1}), by_axis{m22}({16, 8, 4}, {-1, 1, 0}), by_axis{m22}({16, 8, 4}, {-1, -1, 0})},
    {by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, 1, 0}), by_axis{m22}({-1, -1, 1, 0})}));
static_assert(forward(policy::paddle_classic, rules::unbind(1), {by_axis{m23}({64, 2, 48}, {-1, -1, -1})},
                      {by_axis{m23}({-1, -1, -1}), by_axis{m23}({-1, -1}), by_axis{m23}({-1, -1})}));
static_assert(forward(policy::paddle_classic, rules::unbind(1), {by_axis{m23}({64, 2, 48}, {0, -1, 1})},
                      {by_axis{m23}({0, -1, 1}), by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::unbind(-2), {by_axis{m23}({64, 2, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, -1, -1}), by_axis{m23}({0, -1}), by_axis{m23}({0, -1})}));
static_assert(backward(policy::paddle_classic, rules::unbind(1), {shape_list{64, 2, 48}},
                       {by_axis{m23}({0, 1}), by_axis{m23}({0, -1})},
                       {by_axis{m23}({0, -1, 1}), by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::unbind(-2), {shape_list{64, 2, 48}},
                       {by_axis{m23}({0, -1}), by_axis{m23}({-1, 1})},
                       {by_axis{m23}({0, -1, 1}), by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
