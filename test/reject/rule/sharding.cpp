// Invalid propagations in constant expressions are compile-time errors with a message for each mistake.
//
// expect NOT_NOTATION: partita::rule: requires
// expect NO_ARROW: partita::rule: requires
// expect TWO_SIZES: partita::propagate: requires one size of each factor
// expect OTHER_RANK: partita::propagate: requires as many dimensions as the notation has
// expect TOO_FEW_OPERANDS: partita::propagate: requires as many tensors as the notation has
// expect MERGED_WRONGLY: partita::propagate: requires factors whose product is the extent
// expect ONE_AXIS_TWICE: partita::propagate: requires a mesh axis to cut one factor
// expect CUT_DIFFERENTLY: partita::propagate: requires tensors that cut a factor by the same axes
// expect MUST_MOVE: partita::propagate: requires tensors that need not be moved
// expect OTHER_MESH: partita::propagate: requires shardings of one mesh
// expect OTHER_NUMBER_OF_ELEMENTS: partita::reshape_rule: requires
// expect NO_SUCH_DIMENSION: requires a dimension of the
// expect NO_SUCH_LETTER: partita::rule: requires a letter of the notation
// expect NO_COMMON_REDUCTION: partita::rule: requires reductions that commute
// expect NO_RULE: partita::registry: requires an operation with a rule
// expect ELLIPSIS_IN_GRADIENT: partita::gradient: requires a rule whose dimensions are known
// expect LAYOUT_OF_OTHER_RANK: partita::spec: requires one entry of the sharding for each dimension
// expect AXIS_CUTS_TWICE: partita::sharding: requires every mesh axis at most once
// expect CUT_AND_PARTIAL: partita::sharding: requires an axis that cuts no dimension
// expect CUT_AND_REDUCED: partita::sharding: requires an axis that cuts no dimension
// expect PARTIAL_AND_REDUCED: partita::sharding: requires an axis that is not in use
// expect COTANGENT_OF_A_MAXIMUM: partita::cotangent: requires a value that is partial by sums
// expect TOO_MANY_OPERANDS: : requires from
// expect NO_SUCH_GROUPS: partita::rules::group_norm: requires x
// expect MERGED_UNKNOWN: partita::reshaped: requires extents that are known
#include <partita/rule/sharding/registry.hpp>

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}}, other{axis{"data", 3}};
constexpr rule product = "bmk,kn->bmn";
constexpr spec x{m.layout("data", "", ""), {8, 128, 64}}, w{m.layout("", "model"), {64, 256}};
constexpr auto right = propagate(m, product, {x, w});
static_assert(!(other == m));
static_assert(right.results[0] == m.layout("data", "", "model"));

#if defined(NOT_NOTATION)
constexpr rule wrong = "bmk;kn->bmn";
#elif defined(NO_ARROW)
constexpr rule wrong = "bmk,kn";
#elif defined(TWO_SIZES)
constexpr auto wrong = propagate(m, product, {x, spec{m.layout("", "model"), {48, 256}}});
#elif defined(OTHER_RANK)
constexpr auto wrong = propagate(m, product, {w, w});
#elif defined(TOO_FEW_OPERANDS)
constexpr auto wrong = propagate(m, product, {x});
#elif defined(MERGED_WRONGLY)
constexpr auto wrong = propagate(m, rule("(ab),a->b"), {spec{m.layout(""), {10}}, spec{m.layout(""), {4}}});
constexpr auto wrong_too = propagate(m, rule("a,(ab)->b"), {spec{m.layout(""), {4}}, spec{m.layout(""), {10}}});
#elif defined(ONE_AXIS_TWICE)
constexpr auto wrong =
    propagate(m, product, {x, spec{m.layout("", "data"), {64, 256}}}, policy().with(policy::conflict::error));
#elif defined(CUT_DIFFERENTLY)
constexpr auto wrong =
    propagate(m, product, {spec{m.layout("", "", "data"), {8, 128, 64}}, spec{m.layout("model", ""), {64, 256}}},
              policy::paddle_classic);
#elif defined(MUST_MOVE)
constexpr auto wrong =
    propagate(m, rules::softmax(), {spec{m.layout("", "data"), {8, 64}}}, policy().with(policy::reshard::forbid));
#elif defined(OTHER_MESH)
constexpr auto wrong = propagate(m, product, {x, spec{other.layout("", "data"), {64, 256}}});
#elif defined(OTHER_NUMBER_OF_ELEMENTS)
constexpr rule wrong = reshape_rule({6, 4}, {5, 5});
#elif defined(NO_SUCH_DIMENSION)
constexpr auto wrong = propagate(m, rules::softmax(2), {spec{m.layout("", ""), {8, 64}}});
#elif defined(NO_SUCH_LETTER)
constexpr rule wrong = product.replicate("z");
#elif defined(NO_COMMON_REDUCTION)
constexpr rule wrong = rule("abc->a").reduces("b", pending_reduction::max);
#elif defined(NO_RULE)
constexpr rule wrong = registry::standard()("my_op", {{8, 64}});
#elif defined(ELLIPSIS_IN_GRADIENT)
constexpr rule wrong = gradient("...d->...d");
#elif defined(LAYOUT_OF_OTHER_RANK)
constexpr spec wrong{m.layout("data"), {8, 64}};
#elif defined(AXIS_CUTS_TWICE)
constexpr sharding wrong = m.layout("data", "data");
#elif defined(CUT_AND_PARTIAL)
constexpr sharding wrong = m.layout("data", "").partial("data");
#elif defined(CUT_AND_REDUCED)
constexpr sharding wrong = m.layout("data", "").reduced("data");
#elif defined(PARTIAL_AND_REDUCED)
constexpr sharding wrong = m.layout("data", "").partial("model").reduced("model");
#elif defined(COTANGENT_OF_A_MAXIMUM)
constexpr sharding wrong = cotangent(m.layout("data", "").partial("model", pending_reduction::max));
#elif defined(TOO_MANY_OPERANDS)
constexpr std::array<shape_list, 73> many{};
constexpr rule wrong = rules::add_n({many.data(), many.size()});
#elif defined(NO_SUCH_GROUPS)
constexpr rule wrong = rules::group_norm(3)({{4, 8, 5}});
#elif defined(MERGED_UNKNOWN)
constexpr rule wrong = rules::reshape({-1, 32})({shape_list{dynamic, std::size_t{16}}});
#endif
