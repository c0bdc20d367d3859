// Reductions, softmax, norms, cross entropy: sharding propagation gives the same as the reference systems, checked at
// compile time.
#include "sharding_cases.hpp"

using namespace sharding_cases;

static_assert(forward(policy::paddle_classic, rules::argmax({1}, false), {by_axis{m23}({64, 32, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, -1, -1}), by_axis{m23}({0, -1})}));
static_assert(forward(policy::paddle_classic, rules::argmax({-1}, false), {by_axis{m23}({64, 32, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::argmax({-1}, true), {by_axis{m23}({64, 32, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::argmax({1}, false), {shape_list{64, 32, 48}},
                       {by_axis{m23}({0, -1})}, {by_axis{m23}({0, -1, -1}), by_axis{m23}({0, -1})}));
static_assert(backward(policy::paddle_classic, rules::argmax({-1}, false), {shape_list{64, 32, 48}},
                       {by_axis{m23}({0, 1})}, {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::argmax({}, true), {shape_list{64, 32, 48}},
                       {by_axis{m23}({0, 1, -1})}, {by_axis{m23}({-1, -1, -1}), by_axis{m23}({-1, -1, -1})}));
static_assert(forward(policy::paddle_coshard, rules::argsort(-1), {by_axes{m222}({16, 32, 48}, {{0, 1}, {2}, {}})},
                      {by_axes{m222}({{0, 1}, {2}, {}}), by_axes{m222}({{0, 1}, {2}, {}}),
                       by_axes{m222}({{0, 1}, {2}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::argsort(2), {by_axes{m222}({16, 32, 48}, {{0}, {}, {1, 2}})},
                      {by_axes{m222}({{0}, {}, {}}), by_axes{m222}({{0}, {}, {}}), by_axes{m222}({{0}, {}, {}})}));
static_assert(forward(policy::paddle_coshard, rules::argsort(1),
                      {by_axes{m222}({10, 32, 48, 24}, {{0, 1}, {2}, {}, {}})},
                      {by_axes{m222}({{0, 1}, {}, {}, {}}), by_axes{m222}({{0, 1}, {}, {}, {}}),
                       by_axes{m222}({{0, 1}, {}, {}, {}})}));
static_assert(backward(policy::paddle_classic, rules::cross_entropy_with_softmax(-1, false),
                       {shape_list{8, 1024, 50304}, shape_list{8, 1024, 1}},
                       {by_axis{m24}({-1, -1, 0}), by_axis{m24}({-1, -1, -1})},
                       {by_axis{m24}({-1, -1, 0}), by_axis{m24}({-1, -1, -1}), by_axis{m24}({-1, -1, 0}),
                        by_axis{m24}({-1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::cross_entropy_with_softmax(-1, false),
                       {shape_list{8, 1024, 50304}, shape_list{8, 1024, 1}},
                       {by_axis{m24}({-1, -1, 0}), by_axis{m24}({1, -1, -1})},
                       {by_axis{m24}({1, -1, 0}), by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, 0}),
                        by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::cross_entropy_with_softmax(-1, false),
                      {by_axis{m24}({8, 1024, 50304}, {-1, -1, 0}), by_axis{m24}({8, 1024, 1}, {1, -1, -1})},
                      {by_axis{m24}({1, -1, 0}), by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, 0}),
                       by_axis{m24}({1, -1, -1})}));
// labels that are probabilities: the classes are whole, whether or not they may be sharded for class numbers
static_assert(forward(policy::paddle_classic, rules::cross_entropy_with_softmax(-1, true),
                      {by_axis{m24}({8, 1024, 50304}, {-1, -1, 0}), by_axis{m24}({8, 1024, 50304}, {1, -1, 0})},
                      {by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1}),
                       by_axis{m24}({1, -1, -1})}));
// sums may stay pending through what is linear, and not through a softmax
static_assert(forward(policy{}, rules::cumsum(1), {spec(made_partial(by_axis{m24}({-1, -1, 1}), 0), {64, 32, 48})},
                      {made_partial(by_axis{m24}({-1, -1, 1}), 0), made_partial(by_axis{m24}({-1, -1, 1}), 0)}));
static_assert(forward(policy{}, rules::softmax(1), {spec(made_partial(by_axis{m24}({-1, -1, 1}), 0), {64, 32, 48})},
                      {by_axis{m24}({-1, -1, 1}), by_axis{m24}({-1, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::cumsum(1), {by_axis{m24}({64, 32, 48}, {-1, 0, 1})},
                      {by_axis{m24}({-1, -1, 1}), by_axis{m24}({-1, -1, 1})}));
static_assert(forward(policy::paddle_classic, rules::cumsum(0), {by_axis{m24}({64, 32, 48}, {-1, 0, 1})},
                      {by_axis{m24}({-1, 0, 1}), by_axis{m24}({-1, 0, 1})}));
static_assert(backward(policy::paddle_classic, rules::cumsum(1), {shape_list{64, 32, 48}}, {by_axis{m24}({-1, -1, 1})},
                       {by_axis{m24}({-1, -1, 1}), by_axis{m24}({-1, -1, 1})}));
static_assert(backward(policy::paddle_classic, rules::layer_norm(2),
                       {shape_list{64, 32, 1024}, shape_list{1024}, shape_list{1024}},
                       {by_axis{m23}({1, -1, -1}), by_axis{m23}({1, -1}), by_axis{m23}({1, -1})},
                       {by_axis{m23}({1, -1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({1, -1, -1}),
                        by_axis{m23}({1, -1}), by_axis{m23}({1, -1})}));
static_assert(backward(policy::paddle_classic, rules::layer_norm(2),
                       {shape_list{64, 32, 1024}, shape_list{1024}, shape_list{1024}},
                       {by_axis{m23}({-1, -1, -1}), by_axis{m23}({0, -1}), by_axis{m23}({-1, 1})},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1}),
                        by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::layer_norm(2),
                       {shape_list{64, 32, 1024}, shape_list{1024}, shape_list{1024}},
                       {by_axis{m23}({-1, 1, -1}), by_axis{m23}({0, -1}), by_axis{m23}({-1, -1})},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1}),
                        by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::layer_norm(2),
                       {shape_list{64, 32, 1024}, shape_list{1024}, shape_list{1024}},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1, -1}), by_axis{m23}({-1, -1})},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1}),
                        by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(backward(policy::paddle_classic, rules::layer_norm(2),
                       {shape_list{64, 32, 1024}, shape_list{1024}, shape_list{1024}},
                       {by_axis{m23}({0, -1, -1}), by_axis{m23}({-1, 1}), by_axis{m23}({-1, -1})},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1}),
                        by_axis{m23}({0, 1}), by_axis{m23}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::layer_norm(2),
                      {by_axis{m23}({64, 32, 1024}, {1, -1, -1}), by_axis{m23}({1024}, {-1}),
                       by_axis{m23}({1024}, {-1})},
                      {by_axis{m23}({1, -1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({1, -1, -1}),
                       by_axis{m23}({1, -1}), by_axis{m23}({1, -1})}));
static_assert(forward(policy::paddle_classic, rules::layer_norm(2),
                      {by_axis{m23}({64, 32, 1024}, {1, 0, -1}), by_axis{m23}({1024}, {0}), by_axis{m23}({1024}, {0})},
                      {by_axis{m23}({1, 0, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({1, 0, -1}),
                       by_axis{m23}({1, 0}), by_axis{m23}({1, 0})}));
static_assert(forward(policy::paddle_classic, rules::layer_norm(1),
                      {by_axis{m23}({64, 32, 1024}, {0, -1, -1}), by_axis{m23}({32768}, {-1}),
                       by_axis{m23}({32768}, {1})},
                      {by_axis{m23}({0, -1, -1}), by_axis{m23}({-1}), by_axis{m23}({-1}), by_axis{m23}({0, -1, -1}),
                       by_axis{m23}({0}), by_axis{m23}({0})}));
static_assert(forward(policy::paddle_classic, rules::logsumexp({1}, false), {by_axis{m4}({64, 32}, {0, -1})},
                      {by_axis{m4}({0, -1}), by_axis{m4}({0})}));
static_assert(forward(policy::paddle_classic, rules::logsumexp({1}, true), {by_axis{m4}({64, 32}, {0, -1})},
                      {by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(forward(policy::paddle_classic, rules::logsumexp({1, 2}, false),
                      {by_axis{m23}({96, 24, 48}, {0, -1, -1})}, {by_axis{m23}({0, -1, -1}), by_axis{m23}({0})}));
static_assert(forward(policy::paddle_classic, rules::logsumexp({1, 2}, false),
                      {by_axis{m23}({96, 24, 48}, {1, -1, -1})}, {by_axis{m23}({1, -1, -1}), by_axis{m23}({1})}));
static_assert(backward(policy::paddle_classic, rules::logsumexp({0}, false), {shape_list{64, 32}}, {by_axis{m4}({-1})},
                       {by_axis{m4}({-1, -1}), by_axis{m4}({-1})}));
static_assert(backward(policy::paddle_classic, rules::logsumexp({0}, true), {shape_list{64, 32}},
                       {by_axis{m4}({-1, -1})}, {by_axis{m4}({-1, -1}), by_axis{m4}({-1, -1})}));
static_assert(forward(policy::paddle_classic, rules::mean(), {by_axis{m22}({4, 8}, {0, -1})},
                      {by_axis{m22}({0, -1}), made_partial(by_axis{m22}({}), 0, pending_reduction::avg)}));
static_assert(backward(policy::paddle_classic, rules::max({1, 2}, false), {shape_list{96, 24, 48}},
                       {by_axis{m23}({-1})}, {by_axis{m23}({-1, -1, -1}), by_axis{m23}({-1})}));
static_assert(backward(policy::paddle_classic, rules::max({1, 2}, false), {shape_list{96, 24, 48}}, {by_axis{m23}({1})},
                       {by_axis{m23}({1, -1, -1}), by_axis{m23}({1})}));
static_assert(backward(policy::paddle_classic, rules::max({1, 2}, true), {shape_list{96, 24, 48}},
                       {by_axis{m23}({0, -1, -1})}, {by_axis{m23}({0, -1, -1}), by_axis{m23}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::max({0}, false), {shape_list{64, 32}}, {by_axis{m4}({-1})},
                       {by_axis{m4}({-1, -1}), by_axis{m4}({-1})}));
static_assert(backward(policy::paddle_classic, rules::max({0}, true), {shape_list{64, 32}}, {by_axis{m4}({-1, -1})},
                       {by_axis{m4}({-1, -1}), by_axis{m4}({-1, -1})}));
static_assert(backward(policy::paddle_classic, rules::max({1}, true), {shape_list{64, 32}}, {by_axis{m4}({0, -1})},
                       {by_axis{m4}({0, -1}), by_axis{m4}({0, -1})}));
static_assert(backward(policy::paddle_classic, rules::max({0, 1}, false), {shape_list{64, 32}}, {by_axis{m4}({})},
                       {by_axis{m4}({-1, -1}), by_axis{m4}({})}));
static_assert(backward(policy::paddle_classic, rules::max({0, 1}, true), {shape_list{64, 32}}, {by_axis{m4}({-1, -1})},
                       {by_axis{m4}({-1, -1}), by_axis{m4}({-1, -1})}));
static_assert(forward(policy::paddle_classic, rules::max({1, 2}, false), {by_axis{m23}({96, 24, 48}, {0, -1, -1})},
                      {by_axis{m23}({0, -1, -1}), by_axis{m23}({0})}));
static_assert(forward(policy::paddle_classic, rules::max({1, 2}, false), {by_axis{m23}({96, 24, 48}, {1, -1, -1})},
                      {by_axis{m23}({1, -1, -1}), by_axis{m23}({1})}));
static_assert(forward(policy::paddle_classic, rules::max({1, 2}, false), {by_axis{m23}({96, 24, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, 1, -1}), made_partial(by_axis{m23}({0}), 1, pending_reduction::max)}));
static_assert(forward(policy::paddle_classic, rules::max({1, 2}, true), {by_axis{m23}({96, 24, 48}, {0, 1, -1})},
                      {by_axis{m23}({0, 1, -1}), made_partial(by_axis{m23}({0, -1, -1}), 1, pending_reduction::max)}));
static_assert(forward(policy::paddle_classic, rules::max({0}, false), {by_axis{m4}({64, 32}, {0, -1})},
                      {by_axis{m4}({0, -1}), made_partial(by_axis{m4}({-1}), 0, pending_reduction::max)}));
static_assert(backward(policy::paddle_classic, rules::sum_of_function({1, 2}, false), {shape_list{96, 24, 48}},
                       {by_axis{m23}({0})}, {by_axis{m23}({0, -1, -1}), by_axis{m23}({0})}));
static_assert(backward(policy::paddle_classic, rules::sum_of_function({1, 2}, false), {shape_list{96, 24, 48}},
                       {by_axis{m23}({1})}, {by_axis{m23}({1, -1, -1}), by_axis{m23}({1})}));
static_assert(backward(policy::paddle_classic, rules::sum_of_function({1, 2}, true), {shape_list{96, 24, 48}},
                       {by_axis{m23}({0, -1, -1})}, {by_axis{m23}({0, -1, -1}), by_axis{m23}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::sum_of_function({0}, false), {shape_list{64, 32}},
                       {by_axis{m4}({-1})}, {by_axis{m4}({-1, -1}), by_axis{m4}({-1})}));
static_assert(forward(policy::paddle_classic, rules::rms_norm(),
                      {by_axis{m23}({64, 32, 1024}, {1, -1, -1}), by_axis{m23}({1024}, {-1})},
                      {by_axis{m23}({1, -1, -1}), by_axis{m23}({-1}), by_axis{m23}({1, -1, -1}),
                       by_axis{m23}({1, -1})}));
static_assert(forward(policy::paddle_classic, rules::rms_norm(),
                      {by_axis{m23}({64, 32, 1024}, {1, 0, -1}), by_axis{m23}({1024}, {0})},
                      {by_axis{m23}({1, 0, -1}), by_axis{m23}({-1}), by_axis{m23}({1, 0, -1}), by_axis{m23}({1, 0})}));
static_assert(backward(policy::paddle_classic, rules::rms_norm(), {shape_list{64, 32, 1024}, shape_list{1024}},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({0, -1})},
                       {by_axis{m23}({0, 1, -1}), by_axis{m23}({-1}), by_axis{m23}({0, 1, -1}), by_axis{m23}({0, 1})}));
static_assert(forward(policy::paddle_classic, rules::roll({0, 2}), {by_axis{m22}({16, 16, 16}, {0, 1, -1})},
                      {by_axis{m22}({-1, 1, -1}), by_axis{m22}({-1, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::softmax(-1), {shape_list{8, 16, 48}}, {by_axis{m24}({1, -1, -1})},
                       {by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::softmax(-1), {shape_list{8, 16, 48}}, {by_axis{m24}({-1, 1, -1})},
                       {by_axis{m24}({-1, 1, -1}), by_axis{m24}({-1, 1, -1})}));
static_assert(backward(policy::paddle_classic, rules::softmax(-1), {shape_list{8, 16, 48}}, {by_axis{m24}({1, -1, 0})},
                       {by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::softmax(-1), {by_axis{m24}({8, 16, 48}, {1, -1, -1})},
                      {by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::softmax(-1), {by_axis{m24}({8, 16, 48}, {-1, 1, -1})},
                      {by_axis{m24}({-1, 1, -1}), by_axis{m24}({-1, 1, -1})}));
static_assert(forward(policy::paddle_classic, rules::softmax(-1), {by_axis{m24}({8, 16, 48}, {1, -1, 0})},
                      {by_axis{m24}({1, -1, -1}), by_axis{m24}({1, -1, -1})}));
static_assert(forward(policy::paddle_classic, rules::softmax(1), {by_axis{m24}({8, 16, 48}, {-1, 1, 0})},
                      {by_axis{m24}({-1, -1, 0}), by_axis{m24}({-1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::softmax(-2), {by_axis{m24}({8, 16, 48}, {-1, 1, 0})},
                      {by_axis{m24}({-1, -1, 0}), by_axis{m24}({-1, -1, 0})}));
static_assert(forward(policy::paddle_classic, rules::triu(), {by_axis{m22}({16, 16, 16}, {0, -1, 1})},
                      {by_axis{m22}({0, -1, -1}), by_axis{m22}({0, -1, -1})}));
static_assert(backward(policy::paddle_classic, rules::triu(), {shape_list{16, 16, 16}}, {by_axis{m22}({0, -1, 1})},
                       {by_axis{m22}({0, -1, -1}), by_axis{m22}({0, -1, -1})}));
