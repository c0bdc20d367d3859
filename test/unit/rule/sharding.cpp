// Sharding propagation at run time: error messages, the log of decisions, the necessary movements, and names.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <partita/plan/mesh_block.hpp>
#include <partita/rule/sharding/cotangent.hpp>
#include <partita/rule/sharding/gradient.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;
using test::refused;

namespace {

const mesh m{axis{"data", 2}, axis{"model", 4}};
const rule product = rule("bmk,kn->bmn").named("product");
const spec x(m.layout("data", "", ""), {8, 128, 64});

std::size_t how_often(const propagation& p, decision::what done) {
  std::size_t n = 0;
  for (const decision& d : p.log) n += d.outcome == done;
  return n;
}
/// A decision in words: what, tensor, dimension, factor, axis, by which tensor or factor, and the reduction.
std::string told(const propagation& p) {
  const auto number = [](std::uint8_t n) { return n == decision::none ? std::string("-") : std::to_string(n); };
  const auto letter = [&](std::uint8_t f) { return std::string(1, f == decision::none ? '-' : p.factor_letters[f]); };
  std::string all;
  for (const decision& d : p.log)
    all += std::string(all.empty() ? "" : "; ") + name_of(d.outcome) + ' ' + number(d.tensor) + ' ' +
           number(d.dimension) + ' ' + letter(d.factor) + ' ' +
           (d.axis == decision::no_axis ? "-" : m.axes[d.axis].name()) + ' ' +
           (d.outcome == decision::what::loses_axis ? letter(d.by) : number(d.by)) + ' ' + name_of(d.kind);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharding_propagation)

BOOST_AUTO_TEST_CASE(a_size_that_contradicts_is_named_with_rule_operand_and_both_sizes) {
  const std::string said = refused([] { propagate(m, product, {x, spec(m.layout("", "model"), {48, 256})}); });
  BOOST_TEST(said ==
             "partita::propagate: requires one size of each factor, but 'k' is 64 before and 48 in operand 1 [48, 256] "
             "of product "
             "bmk,kn->bmn; give shapes that fit");
}

BOOST_AUTO_TEST_CASE(a_contested_axis_is_named_with_both_factors) {
  const auto call = [] {
    propagate(m, product, {x, spec(m.layout("", "data"), {64, 256})}, policy().with(policy::conflict::error));
  };
  BOOST_CHECK_THROW(call(), partition_error);
  BOOST_TEST(refused(call) ==
             "partita::propagate: requires a mesh axis to cut one factor, but \"data\" cuts 'b' and 'n' of product "
             "bmk,kn->bmn; leave one of "
             "them whole, or choose a policy that does");
}

BOOST_AUTO_TEST_CASE(tensors_that_cut_a_factor_differently_are_named_with_both_cuts) {
  const auto call = [] {
    propagate(m, product, {spec(m.layout("", "", "data"), {8, 128, 64}), spec(m.layout("model", ""), {64, 256})},
              policy::paddle_classic);
  };
  BOOST_TEST(refused(call) ==
             "partita::propagate: requires tensors that cut a factor by the same axes, but 'k' is cut by \"data\" in "
             "tensor 0 and by \"model\" "
             "in tensor 1 of product bmk,kn->bmn; cut them alike, or choose a policy that does");
}

BOOST_AUTO_TEST_CASE(a_move_that_is_forbidden_is_named_with_both_shardings) {
  const auto call = [] {
    propagate(m, rules::softmax(), {spec(m.layout("", "data"), {8, 64})}, policy().with(policy::reshard::forbid));
  };
  BOOST_TEST(
      refused(call) ==
      "partita::propagate: requires tensors that need not be moved, but operand 0 [8, 64] of softmax ab->ab has layout "
      "(, data) and must have layout "
      "(, ); reshard it before, or allow resharding");
}

BOOST_AUTO_TEST_CASE(a_cut_that_must_be_made_whole_is_refused_if_asked_and_other_moves_are_not) {
  constexpr policy strict = policy().with(policy::unshard::refuse);
  const spec scores(m.layout("", "data"), {8, 64});
  BOOST_TEST(refused([&] { propagate(m, rules::softmax(), {scores}, strict); }) ==
             "partita::propagate: requires dimensions whole that the operation needs whole, but dimension 1 of operand "
             "0 [8, 64] of softmax ab->ab has layout (, data); gather it before, or allow policy::unshard::gather");
  BOOST_TEST((propagate(m, rules::softmax(0), {scores}, strict).results[0] == m.layout("", "data")));
  const propagation p = propagate(
      m, product, {spec(m.layout("", "", "data"), {8, 128, 64}), spec(m.layout("model", ""), {64, 256})}, strict);
  BOOST_TEST(p.reshards.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_operation_without_a_rule_says_how_to_add_one) {
  BOOST_TEST(refused([] {
               registry::standard()("my_op", {{8, 64}});
             }) ==
             "partita::registry: requires an operation with a rule, and there is none for \"my_op\"; add one: "
             "registry.add(\"my_op\", "
             "\"ab,b->a\"), or allow registry::fallback::replicate");
  registry known = registry::standard();
  BOOST_TEST(!known.knows("my_op"));
  known.add("my_op", "ab,b->a");
  BOOST_TEST(known.knows("my_op"));
  BOOST_TEST(known("my_op", {{8, 64}, {64}}).operand_count == 2);
  known.add("my_op", [](const shape_span& shapes, const attributes&) { return rules::matmul(shapes); });
  BOOST_TEST(known("my_op", {{8, 64}, {64, 4}}).rank(2) == 2U);
}

BOOST_AUTO_TEST_CASE(shapes_that_a_ready_made_rule_cannot_take_are_named) {
  BOOST_TEST(
      refused([] {
        rules::matmul_bias()({{4, 8}, {8, 3}, {1, 3}});
      }) ==
      "partita::rules::matmul_bias: requires a bias of one dimension and a matrix on the right, not [1, 3] and [8, "
      "3]; reshape them");
  BOOST_TEST(refused([] {
               rules::grouped_convolution(3)({{2, 8, 5}, {6, 2, 3}});
             }) ==
             "partita::rules::convolution: requires multiples of 3 channels and filters, not [2, 8, 5] and [6, 2, 3]; "
             "give another number of groups");
  BOOST_TEST(
      refused([] {
        rules::put_along_axis(0)({{4, 8}, {2, 8}, {2, 4}});
      }) ==
      "partita::rules::put_along_axis: requires indices of the rank of x and values of the shape of the indices, "
      "not [4, 8], [2, 8] and [2, 4]; broadcast them before");
  const std::vector<shape_list> many(73, shape_list{4});
  BOOST_TEST(refused([&] {
               rules::add_n({many.data(), many.size()});
             }) == "partita::rules::elementwise: requires from 1 to 72 operands, not 73; give those");
}

/// What is refused, with the whole error message: its numbers are those of the call.
BOOST_AUTO_TEST_CASE(calls_that_do_not_fit_are_told_their_numbers) {
  struct wrong_call {
    const char* message;
    void (*call)();
  };
  BOOST_CHECK_NO_THROW(static_cast<void>(product.result_depends_on(7, {0})));
  constexpr wrong_call calls[] = {
      {"partita::rule::result_depends_on: requires one of the first 8 results, not result 8; put it before the others",
       [] { static_cast<void>(product.result_depends_on(8, {0})); }},
      {"partita::propagate: requires as many dimensions as the notation has, 3, but there are 2 in operand 0 [8, 64] "
       "of product bmk,kn->bmn; write \"...\" for those in front",
       [] {
         propagate(m, product, {spec(m.layout("", ""), {8, 64}), spec(m.layout("", ""), {64, 256})});
       }},
      {"partita::propagate: requires as many tensors as the notation has, 2 operands of product bmk,kn->bmn, but there "
       "are 1; give those",
       [] { propagate(m, product, {x}); }},
      {"partita::propagate: requires factors whose product is the extent, one of them unknown at most, but not so is "
       "dimension 0 of operand 0 [6] of split (ab)->ab; give the sizes of the factors",
       [] { propagate(m, rule("(ab)->ab").named("split"), {spec(m.layout(""), {6})}); }},
      {"partita::propagate: requires shardings of one mesh, but tensor 1 of product is on another mesh; make its "
       "sharding "
       "from the mesh that is given",
       [] {
         propagate(m, product, {x, spec(mesh{axis{"data", 3}}.layout("", ""), {64, 256})});
       }},
      {"partita::propagate: requires shardings of one mesh, but tensor 0 of product is on another mesh; make its "
       "sharding from the mesh that is given",
       [] {
         propagate(m, product, {spec(mesh{axis{"data", 2}, axis{"model", 3}}.layout("", "", ""), {8, 128, 64}), x});
       }},
      {"partita::propagate: requires shardings of one mesh, but tensor 2 of product is on another mesh; make its "
       "sharding from the mesh that is given",  // tensor 2 is the result
       [] {
         propagate(m, product, {x, spec(shape_list{64, 256})},
                   {spec(mesh{axis{"data", 3}}.layout("", "", ""), {8, 128, 256})}, direction::mixed);
       }},
      {"partita::propagate: requires one size of each factor, but '1' is 1 before and 3 in operand 0 [4, 3] of rule "
       "a1->a; give shapes that fit",
       [] {
         bind_shapes("a1->a", {{4, 3}});
       }},
      {"partita::propagate: requires one size of each factor, but 'n' is 256 before and 255 in result 0 [8, 128, 255] "
       "of product bmk,kn->bmn; give shapes that fit",
       [] {
         bind_shapes(product, {{8, 128, 64}, {64, 256}}, {{8, 128, 255}});
       }},
      {"partita::propagate: requires as many tensors as the notation has, 1 results of product bmk,kn->bmn, but there "
       "are 2; give those",
       [] {
         bind_shapes(product, {{8, 128, 64}, {64, 256}}, {{8, 128, 256}, {8, 128, 256}});
       }},
      {"partita::propagate: requires as many dimensions as the notation has, 2, but there are 1 in operand 0 [3] of "
       "rule ...ab->...ab; write \"...\" for those in front",
       [] { bind_shapes("...ab->...ab", {{3}}); }},
      {"partita::propagate: requires factors whose product is the extent, one of them unknown at most, but not so is "
       "dimension 0 of operand 2 [7] of rule a,b,(ab)->b; give the sizes of the factors",
       [] {
         bind_shapes("a,b,(ab)->b", {{2}, {3}, {7}});
       }},
      {"partita::propagate: requires factors whose product is the extent, one of them unknown at most, but not so is "
       "dimension 0 of operand 1 [10] of rule a,(ab)->b; give the sizes of the factors",
       [] {
         bind_shapes("a,(ab)->b", {{4}, {10}});
       }},
      {"partita::propagate: requires factors whose product is the extent, one of them unknown at most, but not so is "
       "dimension 0 of operand 1 [6] of rule a,(ab)->b; give the sizes of the factors",
       [] {
         bind_shapes("a,(ab)->b", {{0}, {6}});
       }},
      {"partita::propagate: requires tensors that need not be moved, but result 0 [8, 128, 256] of product bmk,kn->bmn "
       "has layout (data, , ) and must have layout (, , ); reshard it before, or allow resharding",
       [] {
         propagate(m, product, {x, spec(m.layout("", ""), {64, 256})}, {spec(m.layout("", "", ""), {8, 128, 256})},
                   direction::mixed, policy().with(policy::reshard::forbid));
       }},
      {"partita::spec: requires one entry of the sharding for each dimension, but there are 1 in (data) and the shape "
       "is [8, 4]; write \"\" for a dimension that is not cut",
       [] {
         spec(m.layout("data"), {8, 4});
       }},
      {"partita::cotangent: requires a value that is partial by sums, but the max over \"model\" is not taken; finish "
       "it before",
       [] { cotangent(m.layout("").partial("model", pending_reduction::max)); }},
      {"partita::gradient: requires a rule whose dimensions are known; give bind_shapes(rule, shapes)",
       [] { gradient(rule("...a->...a"), {}); }},
      {"partita::axis: requires a name of at most 15 characters without '+' and '?'; rename a+b",
       [] { axis("a+b", 2); }},
      {"partita::axis: requires a name of at most 15 characters without '+' and '?'; rename sixteen_letters_",
       [] { axis("sixteen_letters_", 2); }},
      {"partita::axis: requires a name; give it one", [] { axis("", 2); }},
      {"partita::axis: requires a worker along a; give 1", [] { axis("a", 0); }},
      {"partita::axis: requires as many workers as can be counted, got 4294967296 along a",
       [] { axis("a", std::size_t{1} << 32U); }},
      {"partita::mesh: requires different names; rename one axis a",
       [] {
         mesh{axis("a", 2), axis("ab", 2), axis("a", 4)};
       }},
      {"partita::mesh: requires as many workers as can be counted, got 4611686018427387904 times 4",
       [] {
         mesh{axis("a", 1U << 31U), axis("b", 1U << 31U), axis("c", 4)};
       }},
      {"partita::mesh: requires axis numbers below 2, not 2", [] { (void)m.size(2); }},
      {"partita::mesh: requires the name of an axis of the mesh, but there is no \"dat\"; there are data model",
       [] { (void)m.number("dat"); }},
      {"partita::mesh: requires the name of an axis of the mesh, but there is no \"models\"; there are data model",
       [] { (void)m.number("models"); }},
      {"partita::mesh::layout: requires every mesh axis at most once; \"model\" stands twice in one entry",
       [] { m.layout("", "model+model"); }},
      {"partita::sharding: requires every mesh axis at most once, but \"data\" cuts two dimensions of one tensor; "
       "leave one of them whole",
       [] { m.layout("data", "data"); }},
      {"partita::sharding: requires an axis that cuts no dimension, but \"data\" cuts one and the value cannot be "
       "partial over it too",
       [] { m.layout("data").partial("data"); }},
      {"partita::sharding: requires an axis that cuts no dimension, but \"data\" cuts one and the value cannot be "
       "reduced over it",
       [] { m.layout("data").reduced("data"); }},
      {"partita::sharding: requires an axis that is not in use, but \"data\" is partial",
       [] { m.layout("").partial("data").reduced("data"); }},
      {"partita::sharding: requires an axis that is not in use, but \"model\" is reduced",
       [] { m.layout("").reduced("model").partial("model"); }},
      {"partita::sharding: requires an axis that is not in use, but \"model\" must replicate",
       [] { m.layout("").replicate("model").partial("model"); }},
      {"partita::sharding: requires an axis that is not in use, but \"model\" is reduced",
       [] { m.layout("").reduced("model").cut(0, axis_list(1)); }},
      {"partita::sharding: requires an axis that is not in use, but \"data\" is",
       [] { m.layout("").partial("data").replicate("data"); }},
      {"partita::sharding: requires an axis that is not in use, but \"model\" is",
       [] { m.layout("model").replicate("model"); }},
      {"partita::sharding::dims_mapping: requires one axis at most for each dimension, but 2 cut dimension 1; read the "
       "axes of the dimension instead",
       [] { (void)m.layout("", "data+model").dims_mapping(); }},
      {"partita::sharding::placements: requires axes in the order of the mesh, but those of dimension 1 are not; "
       "placements cannot say it",
       [] { (void)m.layout("", "model+data").placements(); }},
      {"partita::sharding::of_placements: requires dimensions below 2, not 2",
       [] { sharding::of_placements(m, 2, {placement::shard(2)}); }},
      {"partita::rule: requires a letter of the notation, and there is no 'c' in it",
       [] { rule("ab->a").replicate("c"); }},
      {"partita::rule: requires reductions that commute, not sum and max; write one rule for each",
       [] { rule("abc->a").reduces("b", pending_reduction::max); }},
      {"partita::rule: requires \"->\" between operands and results, but character 4 of \"ab,c\" is not; write for "
       "example \"bmk,kn->bmn\"",
       [] { rule("ab,c"); }},
      {"partita::rules::convolution: requires images [batch, channels, ...] and filters of the same rank, not [2, 8] "
       "and [6, 2, 3]; reshape one",
       [] {
         rules::convolution({{2, 8}, {6, 2, 3}});
       }},
      {"partita::rules::convolution: requires multiples of 3 channels and filters, not [2, 6, 5] and [4, 2, 3]; give "
       "another number of groups",
       [] {
         rules::grouped_convolution(3)({{2, 6, 5}, {4, 2, 3}});
       }},
      {"partita::rules::expert_dispatch: requires tokens [s, h] and a gate [s, e], not [4, 8, 2] and [8, 4]; reshape "
       "them",
       [] {
         rules::expert_dispatch(2, 3)({{4, 8, 2}, {8, 4}});
       }},
      {"partita::propagate: requires as many dimensions as the notation has, 2, but there are 1 in operand 2 [6] of "
       "scatter ab,i,ib->ab; write \"...\" for those in front",
       [] {
         bind_shapes(rules::scatter({{4, 6}, {3}, {6}}), {{4, 6}, {3}, {6}});
       }},
      {"partita::rules::expert_dispatch: requires tokens [s, h] and a gate [s, e], not [8, 4] and [8, 4, 2]; reshape "
       "them",
       [] {
         rules::expert_dispatch(2, 3)({{8, 4}, {8, 4, 2}});
       }},
      {"partita::rules::split: requires parts that fill dimension 0 of [4], not 0 equal ones; give their extents",
       [] { rules::split_evenly(0, 0)({{4}}); }},
      {"partita::rules::split: requires parts that fill dimension 0 of [18446744073709551615, 4], not "
       "18446744073709551615 equal ones; give their extents",
       [] {
         rules::unbind(0)({shape_list{dynamic, std::size_t{4}}});
       }},
      {"partita::rules::group_norm: requires x [batch, channels, ...] with a multiple of 3 channels, not [2]; give "
       "another number of groups",
       [] { rules::group_norm(3)({{2}}); }},
      {"partita::rules::group_norm: requires x [batch, channels, ...] with a multiple of 3 channels, not [2, "
       "18446744073709551615]; give another number of groups",
       [] {
         rules::group_norm(3)({shape_list{std::size_t{2}, dynamic}});
       }},
      {"partita::rules::gather_nd: requires indices whose last extent is at most the rank of [4, 6], not []; add a "
       "last "
       "dimension of that extent",
       [] {
         rules::gather_nd({{4, 6}, shape_list{}});
       }},
      {"partita::reshape_rule: requires dynamic extents to stay dimensions of their own, not [18446744073709551615, 4] "
       "and [4, 18446744073709551615]; give shapes of the same number of elements",
       [] {
         reshape_rule({dynamic, std::size_t{4}}, {std::size_t{4}, dynamic});
       }},
      {"partita::reshape_rule: requires as many elements before as after, not [0, 4] and [4]; give shapes of the same "
       "number of elements",
       [] {
         reshape_rule({0, 4}, {4});
       }},
      {"partita::rules::gather_nd: requires indices whose last extent is at most the rank of [4, 6], not [3, 3]; add a "
       "last dimension of that extent",
       [] {
         rules::gather_nd({{4, 6}, {3, 3}});
       }},
      {"partita::rules::take_along_axis: requires operands of equal rank, not [4, 6] and [3]; unsqueeze one",
       [] {
         rules::take_along_axis(0)({{4, 6}, {3}});
       }},
      {"partita::rules::scatter_nd_add: requires indices [..., q] and updates [..., the last dimensions of x from q "
       "on], not [3, 1] and [3] for [8, 6]; reshape them",
       [] {
         rules::scatter_nd_add({{8, 6}, {3, 1}, {3}});
       }},
      {"partita::rules::index_put: requires values [dimensions of the indices, the last dimensions of x from 1 on], "
       "not [3] for [8, 6] and [3]; broadcast them before",
       [] {
         rules::index_put({{8, 6}, {3}, {3}});
       }},
      {"partita::rules::concatenate: requires operands of equal rank, not [2, 3] and [2]; stack makes a new dimension",
       [] {
         rules::concatenate(0)({{2, 3}, {2}});
       }},
      {"partita::rules::split: requires parts that fill dimension 1 of [4, 6], not 4 equal ones; give their extents",
       [] {
         rules::split_evenly(1, 4)({{4, 6}});
       }},
      {"partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not [4] and []; "
       "reshape them",
       [] {
         rules::matmul({{4}, shape_list{}});
       }},
      {"partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not [2, 4] and [4]; "
       "reshape them",
       [] {
         rules::matmul_transposed(false, true)({{2, 4}, {4}});
       }},
      {"partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not [] and [4]; "
       "reshape them",
       [] {
         rules::matmul({shape_list{}, {4}});
       }},
      {"partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not [4] and [4, 2]; "
       "reshape them",
       [] {
         rules::matmul_transposed(true, false)({{4}, {4, 2}});
       }},
      {"partita::rules::matmul_bias: requires a bias of one dimension and a matrix on the right, not [4] and [4]; "
       "reshape them",
       [] {
         rules::matmul_bias()({{2, 4}, {4}, {4}});
       }},
      {"partita::rules::scatter_nd_add: requires indices [..., q] and updates [..., the last dimensions of x from q "
       "on], not [] and [6] for [8, 6]; reshape them",
       [] {
         rules::scatter_nd_add({{8, 6}, shape_list{}, {6}});
       }},
      {"partita::rules::scatter_nd_add: requires indices [..., q] and updates [..., the last dimensions of x from q "
       "on], not [3, 3] and [] for [8, 6]; reshape them",
       [] {
         rules::scatter_nd_add({{8, 6}, {3, 3}, shape_list{}});
       }},
      {"partita::rules::index_put: requires values [dimensions of the indices, the last dimensions of x from 2 on], "
       "not [] for [8] and [3]; broadcast them before",
       [] {
         rules::index_put({{8}, {3}, {3}, shape_list{}});
       }},
      {"partita::rules::put_along_axis: requires indices of the rank of x and values of the shape of the indices, not "
       "[4, 8], [3] and [3]; broadcast them before",
       [] {
         rules::put_along_axis(0)({{4, 8}, {3}, {3}});
       }},
      {"partita::rules::convolution: requires images [batch, channels, ...] and filters of the same rank, not [8] and "
       "[8]; reshape one",
       [] {
         rules::convolution({{8}, {8}});
       }},
      {"partita::rules::transpose: requires each of 2 dimensions once, got 3 entries; give the order of all",
       [] {
         rules::transpose({1, 0, 1})({{4, 6}});
       }},
      {"partita::rules::transpose: requires each of 2 dimensions once, got 2 entries; give the order of all",
       [] {
         rules::transpose({0, -2})({{4, 6}});
       }},
      {"partita::rules::group_norm: requires x [batch, channels, ...] with a multiple of 4 channels, not [2, 6, 5]; "
       "give another number of groups",
       [] {
         rules::group_norm(4)({{2, 6, 5}, {6}, {6}});
       }},
      {"partita::rules::batch_norm: requires x [batch, channels, ...], not [4]; add a dimension",
       [] {
         rules::batch_norm({{4}, {4}, {4}});
       }},
      {"partita::rules::along: requires the dimensions that must be whole; give one, or use rules::elementwise",
       [] { rules::along({})({{4}}); }},
      {"partita::rules::transpose: requires each of 2 dimensions once, got 1 entries; give the order of all",
       [] {
         rules::transpose({1})({{4, 6}});
       }},
      {"partita::rules::expand: requires extents of 1 where they grow, but dimension 1 of [4, 3] shall be 6; tile "
       "repeats others",
       [] {
         rules::expand({5, 4, 6})({{4, 3}});
       }},
      {"partita::rules::elementwise: requires one entry of broadcast_dimensions for each dimension of the smaller "
       "operand, not 2 for 1; give those",
       [] {
         rules::elementwise_in_dimensions({0, 1})({{4, 6}, {4}});
       }},
      {"partita::reshape_rule: requires as many elements before as after, not [4, 6] and [5, 5]; give shapes of the "
       "same number of elements",
       [] {
         reshape_rule({4, 6}, {5, 5});
       }},
      {"partita::reshaped: requires a source dimension for each 0, and there is none for entry 2",
       [] {
         reshaped({4, 6}, std::array{0, 0, 0});
       }},
      {"partita::reshaped: requires one -1 at most; give the other extents",
       [] {
         reshaped({4, 6}, std::array{-1, -1});
       }},
      {"partita::reshaped: requires extents that divide 24 elements, not [1, 5]; change one",
       [] {
         reshaped({4, 6}, std::array{-1, 5});
       }},
  };
  for (const wrong_call& one : calls) BOOST_TEST(refused(one.call) == one.message);
}

/// A "..." stands for the remaining leading dimensions of its tensor, which are batch dimensions of one rule.
BOOST_AUTO_TEST_CASE(an_ellipsis_is_written_out_where_the_shapes_are_known) {
  struct short_and_long {
    const char *notation, *bound;
    std::vector<shape_list> shapes;
  };
  const short_and_long all[] = {
      {"...ab,ab->...ab", "ABab,ab->ABab", {{2, 3, 4, 5}, {4, 5}}},
      {"ab,...ab->...ab", "ab,Aab->Aab", {{4, 5}, {2, 4, 5}}},
      {"...ab,...ab->...b", "ABab,Bab->ABb", {{2, 3, 4, 5}, {3, 4, 5}}},
      {"...a,...b->...ab", "a,b->ab", {{2}, {3}}},
      {"...,...a->...", "A,Aa->A", {{2}, {2, 3}}},
      {"...Aa->...Aa", "BAa->BAa", {{2, 4, 5}}},  // a letter that the notation has is passed over
      {"...BA->...BA", "CBA->CBA", {{2, 4, 5}}},
      {"...Ba->...Ba", "ACBa->ACBa", {{2, 3, 4, 5}}},
  };
  for (const auto& [notation, bound_notation, shapes] : all) {
    const rule read(notation), whole = bind_shapes(read, {shapes.data(), shapes.size()});
    BOOST_TEST(((text() << "" << read) == notation));
    BOOST_TEST(((text() << "" << whole) == bound_notation), notation << " becomes " << (text() << "" << whole));
  }
}

/// The operands of a gradient are the values that it reads and the gradients of results, in this order, and its results
/// are the gradients of operands: each has the dimensions of its tensor.
BOOST_AUTO_TEST_CASE(a_gradient_reads_and_makes_the_tensors_that_are_asked_for) {
  const std::vector<std::string> operands{"ab", "bc", "c"}, results{"ac", "abc"};
  const std::vector<shape_list> shapes{{2, 3}, {3, 4}, {4}};
  const rule whole = bind_shapes("ab,bc,c->ac,abc", {shapes.data(), shapes.size()});
  for (tensor_set parts = 0; parts < 1024; ++parts) {
    const gradient_parts asked{parts & 7U, parts >> 3U & 3U, parts >> 5U & 3U, parts >> 7U};
    const auto add = [](std::string& all, const std::vector<std::string>& tensors, tensor_set these,
                        const char* before) {
      for (std::size_t t = 0; t < tensors.size(); ++t)
        if (contains(these, t)) all += (all.empty() ? before : ",") + tensors[t];
    };
    std::string in, out;
    add(in, operands, asked.operands, ""), add(in, results, asked.results, ""),
        add(in, results, asked.result_gradients, "");
    add(out, operands, asked.operand_gradients, "");
    if (in.empty() || out.empty()) continue;
    const rule made = gradient(whole, asked);
    BOOST_TEST(std::string(made.name()) == "rule gradient");
    BOOST_TEST(((text() << "" << made) == (in + "->" + out).c_str()),
               in << "->" << out << " is " << (text() << "" << made));
    for (std::size_t t = 0, values = made.operand_count; t < values; ++t) {
      const std::size_t gradients = (asked.result_gradients & 1U) + (asked.result_gradients >> 1U);
      BOOST_TEST(contains(made.constant, t) == (t + gradients < values));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_list_that_has_outgrown_its_place_is_copied_moved_and_compared_as_any_other) {
  growing_list<int, 2> few, many;
  few.push_back(1);
  for (int k = 0; k < 9; ++k) many.push_back(k);
  const growing_list<int, 2> copied(many);
  BOOST_TEST((copied == many && copied.data() != many.data()));
  many.push_back(many[0]);  // one of its own, while it grows
  BOOST_TEST(many.size() == 10U);
  BOOST_TEST((many[9] == 0 && !(many == copied)));
  growing_list<int, 2> moved(std::move(many));
  BOOST_TEST((moved.size() == 10U && many.empty()));
  many = few;
  few = std::move(moved);
  BOOST_TEST((few.size() == 10U && few[8] == 8 && many.size() == 1U && many[0] == 1));
  few = many;
  BOOST_TEST((few == many));
}

BOOST_AUTO_TEST_CASE(the_log_names_tensor_dimension_factor_axis_and_winner) {
  const auto p =
      propagate(m, product, {spec(m.layout("data", "", "model"), {8, 128, 64}), spec(m.layout("", "model"), {64, 256})},
                policy().with(policy::conflict::first_wins));
  BOOST_TEST(how_often(p, decision::what::takes_sharding) == 3U);
  BOOST_TEST(how_often(p, decision::what::loses_axis) == 1U);
  for (const decision& d : p.log) {
    if (d.outcome != decision::what::loses_axis) continue;
    BOOST_TEST(product.factors[d.factor].letter == 'n');
    BOOST_TEST(product.factors[d.by].letter == 'k');
    BOOST_TEST(d.axis == 1);
    BOOST_TEST(d.tensor == 1);
  }
  BOOST_TEST(how_often(p, decision::what::becomes_partial) == 1U);
}

/// Policies that only pass the axes of the leading dimension of a group take a dimension of one element for none.
BOOST_AUTO_TEST_CASE(a_dimension_of_one_element_does_not_lead_its_group) {
  for (const policy::merged_axes how : {policy::merged_axes::leading_only, policy::merged_axes::move_to_leading}) {
    policy by;
    by.merged_dimensions = how;
    const auto merged = [&](std::size_t first, std::size_t second, const char* cut_of_first,
                            const char* cut_of_second) {
      return propagate(m, "ab->(ab)", {spec(m.layout(cut_of_first, cut_of_second), {first, second})}, by).results[0];
    };
    BOOST_TEST((merged(1, 8, "", "data") == m.layout("data")));
    BOOST_TEST((merged(1, 8, "data", "model") == m.layout("model")));
    BOOST_TEST((merged(4, 8, "", "data") == m.layout("")));
    BOOST_TEST((merged(4, 1, "data", "") == m.layout("data")));
    BOOST_TEST((merged(1, 1, "data", "model") == m.layout("")));
  }
}

/// Each decision once, with everything that is recorded of it.
BOOST_AUTO_TEST_CASE(every_decision_is_recorded_with_its_tensor_dimension_factor_and_axis) {
  using enum policy::conflict;
  const auto of = [](const char* entry) { return spec(m.layout(entry), {8}); };
  const auto both = [](const char* rows, const char* columns, std::size_t extent = 8) {
    return spec(m.layout(rows, columns), {std::size_t{8}, extent});
  };
  const spec sums(m.layout("").partial("model"), {8}), least(m.layout("").partial("data", pending_reduction::min), {8});
  const policy ours{}, even = policy().with(policy::uneven::forbid);
  policy ordered, no_new, keeping, leading, moving;
  ordered.by_precedence = true, no_new.new_dimensions = false, keeping.keep_result_partials = true;
  leading.merged_dimensions = policy::merged_axes::leading_only;
  moving.merged_dimensions = policy::merged_axes::move_to_leading;
  rule alike = "ab,ab->ab";
  alike.has_equivalent_operands = true;
  const struct {
    rule how;
    std::vector<spec> operands, results;
    policy by;
    const char* wanted;
  } table[] = {
      {"ab,ab->ab",
       {both("data", ""), both("data+model", "")},
       {},
       ours,
       "took 0 0 a - - none; extended 1 0 a - - none"},
      {"a->a", {spec(m.layout("model"), {6})}, {}, even, "took 0 0 a - - none; uneven - - a model - none"},
      {rule("ab->ab").replicate("b"),
       {both("data", "model")},
       {},
       ours,
       "took 0 0 a - - none; must be whole 0 1 b model - none"},
      {"a1->a", {both("data", "model", 1)}, {}, ours, "took 0 0 a - - none; one element 0 1 - model - none"},
      {"ab->a", {both("data", "model", 1)}, {}, ours, "took 0 0 a - - none; one element 0 1 b model - none"},
      {"a,a->a",
       {of("data"), spec(m.layout("").replicate("data"), {8})},
       {},
       ours,
       "took 0 0 a - - none; keeps replicating 1 - a data - none"},
      {"b->ab", {spec(shape_list{8})}, {both("model", "")}, no_new, "not for new 1 0 a model - none"},
      {"b->ab", {spec(shape_list{8})}, {both("model", "")}, ours, "took 1 0 a - - none"},
      {rule("a->a").with(linearity::none), {sums}, {}, ours, "finishes partial 0 - - model - sum"},
      {"a->a", {sums}, {}, ours, "passes partial 0 - - model - sum"},
      {"ab->a", {both("", "model")}, {}, ours, "took 0 1 b - - none; becomes partial 1 - b model - sum"},
      {rule("ab->a").reduces("b", pending_reduction::max),
       {both("", "model")},
       {},
       ours,
       "took 0 1 b - - none; becomes partial 1 - b model - max"},
      {"a->a", {spec(shape_list{8})}, {least}, keeping, "keeps partial 1 - - data - min"},
      {"a->a", {spec(shape_list{8})}, {least}, ours, ""},
      {"ab,bc->ac",
       {both("", "model"), both("", "model")},
       {},
       ours.with(first_wins),
       "took 0 1 b - - none; took 1 1 c - - none; lost 1 - c model b none; becomes partial 2 - b model - sum"},
      {"ab,bc->ac",
       {both("", "model"), both("", "model")},
       {},
       ordered,
       "took 0 1 b - - none; took 1 1 c - - none; lost 0 - b model c none"},
      {"a,a->a", {of("data"), of("model")}, {}, ours.with(first_wins), "took 0 0 a - - none; overruled 1 0 a - 0 none"},
      {"a,a->a",
       {of("data"), of("model")},
       {},
       ours.with(most_shards),
       "took 0 0 a - - none; overruled 0 0 a - 1 none"},
      {"ab,ba->ab",  // the dimension is that of the tensor that is overruled
       {both("data", ""), both("", "model")},
       {},
       ours.with(most_shards),
       "took 0 0 a - - none; overruled 0 0 a - 1 none"},
      {"ab,ba->ab",
       {both("data", ""), both("", "model")},
       {},
       ours.with(first_wins),
       "took 0 0 a - - none; overruled 1 1 a - 0 none"},
      {"ab,cb->ac",
       {both("", "data"), both("", "model")},
       {},
       ours.with(join),
       "took 0 1 b - - none; joined - - b model - none; becomes partial 2 - b model - sum; becomes partial 2 - b data "
       "- sum"},
      {"ab,ab->ab",
       {both("data", ""), both("", "model")},
       {},
       ours.with(join),
       "took 1 1 b - - none; joined 0 0 a data - none"},
      {"ab->(ab)", {both("", "data")}, {}, ours, "took 0 1 b - - none; does not fit 1 0 b data - none"},
      {"abc->a(bc)", {spec(m.layout("", "data", ""), {4, 8, 8})}, {}, leading, "took 0 1 b - - none"},
      {"abc->a(bc)", {spec(m.layout("", "data", "model"), {4, 8, 8})}, {}, moving, "took 0 1 b - - none"},
      {"abc->a(bc)",
       {spec(m.layout("", "data", "model"), {4, 8, 8})},
       {},
       leading,
       "does not fit 0 2 c model - none; took 0 1 b - - none"},
      {alike, {both("data", ""), both("data", "")}, {}, ours.with(align), "took 0 - a data - none"},
      {alike, {both("data", ""), both("", "data")}, {}, ours.with(align), "took - - a data - none"},
  };
  for (const auto& row : table)
    BOOST_TEST(told(propagate(m, row.how, spec_list(row.operands), spec_list(row.results),
                              row.results.empty() ? direction::forward : direction::backward, row.by)) == row.wanted,
               (text() << "" << row.how));
}

/// A slice of what a worker has is no move that a policy forbids, and it is listed without bytes; so are results.
BOOST_AUTO_TEST_CASE(slices_cost_nothing_and_are_not_forbidden) {
  constexpr policy strict = policy().with(policy::reshard::forbid);
  const spec rows(m.layout("data", ""), {8, 8}), whole(m.layout("", ""), {8, 8});
  const propagation p = propagate(m, rules::add, {whole, rows}, strict);
  BOOST_TEST((p.reshards.size() == 1 && p.reshards[0] == reshard_need{0, 0}));
  BOOST_TEST((p.results[0] == m.layout("data", "")));
  const std::vector<spec> shapes{spec(shape_list{8, 8})}, columns{spec(m.layout("", "data"), {8, 8})};
  const propagation q = propagate(m, rules::softmax(), shapes, columns, direction::backward, strict);
  BOOST_TEST((q.results[0] == m.layout("", "") && q.reshards.size() == 1 && q.reshards[0] == reshard_need{1, 0}));
}

/// An operand of which nothing is known does not keep a product from passing sums; it could be no summand.
BOOST_AUTO_TEST_CASE(a_sum_passes_a_product_with_what_is_not_known_and_no_sum_with_it) {
  const spec sums(m.layout("data", "").partial("model"), {8, 6}), unknown(shape_list{8, 6});
  BOOST_TEST((propagate(m, rules::multiply, {sums, unknown}).results[0] == sums.layout));
  BOOST_TEST((propagate(m, rules::multiply, {unknown, sums}).results[0] == sums.layout));
  BOOST_TEST((propagate(m, rules::add, {sums, unknown}).results[0] == m.layout("data", "")));
  BOOST_TEST((propagate(m, rules::divide, {sums, unknown}).results[0] == sums.layout));
  BOOST_TEST((propagate(m, rules::divide, {unknown, sums}).results[0] == m.layout("data", "")));
  const rule unread = rule("ab,ab->ab").with(linearity::additive).with_shape_only_operands({1});
  BOOST_TEST((propagate(m, unread, {sums, unknown}).results[0] == sums.layout));
}

/// An operand of which only the shape is read proposes nothing and stays as it is, without what was asked of it.
BOOST_AUTO_TEST_CASE(an_operand_of_which_only_the_shape_is_read_may_have_any_layout) {
  const rule unread = rule("ab,ab->ab").with_shape_only_operands({1});
  const spec rows(m.layout("data", ""), {8, 8});
  for (const sharding& other : {m.layout("", "data"), m.layout("", "").partial("data"), m.layout("model", "data"),
                                m.layout("", "?").replicate("model").with_priority(2)}) {
    const propagation p = propagate(m, unread, {rows, spec(other, {8, 8})});
    BOOST_TEST((p.operands[0] == rows.layout && p.results[0] == rows.layout && p.reshards.empty()), other);
    BOOST_TEST(p.operands[1].same_layout(other), other);
    BOOST_TEST((p.operands[1].open == 0 && p.operands[1].must_replicate == 0 && p.operands[1].priority == 0), other);
  }
}

/// Backward, an operand is what the result asks for: what is pending in it is taken before. Else it passes.
BOOST_AUTO_TEST_CASE(what_is_pending_passes_in_the_direction_of_the_operation) {
  const std::vector<spec> sums{spec(m.layout("").partial("model"), {8})}, whole{spec(m.layout(""), {8})};
  const rule same = "a->a";
  const propagation back = propagate(m, same, sums, whole, direction::backward);
  BOOST_TEST((back.operands[0] == m.layout("") && back.results[0] == m.layout("")));
  const propagation mixed = propagate(m, same, sums, whole, direction::mixed);
  BOOST_TEST((mixed.operands[0] == sums[0].layout && mixed.results[0] == sums[0].layout));
  BOOST_TEST((mixed.reshards.size() == 1 && mixed.reshards[0] == reshard_need{1, 48}));  // 2 * 3 / 4 of 32 bytes
}

/// A result that was given as partial stays so over an axis that cuts none of its dimensions.
BOOST_AUTO_TEST_CASE(a_result_is_not_kept_partial_over_an_axis_that_cuts_it) {
  const std::vector<spec> operands{x, spec(m.layout("", ""), {64, 256})};
  for (const char* const axis : {"data", "model"}) {
    const std::vector<spec> results{spec(m.layout("", "", "").partial(axis), {8, 128, 256})};
    const sharding cut = m.layout("data", "", "");
    const propagation p = propagate(m, product, operands, results, direction::mixed, policy::paddle_classic);
    BOOST_TEST((p.results[0] == (std::string(axis) == "data" ? cut : cut.partial("model"))), axis);
  }
}

/// A result that must stay replicated over an axis is not partial over it either.
BOOST_AUTO_TEST_CASE(a_result_that_must_be_replicated_is_not_summed_over_the_axis) {
  const std::vector<spec> operands{spec(m.layout("data", "", "model"), {8, 128, 64}),
                                   spec(m.layout("model", ""), {64, 256})};
  for (const char* const axis : {"data", "model"}) {
    const std::vector<spec> results{spec(m.layout("", "", "").replicate(axis), {8, 128, 256})};
    const propagation p = propagate(m, product, operands, results, direction::forward);
    const sharding wanted =
        std::string(axis) == "data" ? m.layout("", "", "").partial("model") : m.layout("data", "", "");
    BOOST_TEST((p.results[0] == wanted), axis);
    BOOST_TEST(how_often(p, decision::what::keeps_replicating) == 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_mesh_is_known_by_its_sizes_whatever_its_axes_are_called) {
  const mesh other{axis{"rows", 2}, axis{"columns", 4}};
  const propagation p = propagate(m, product, {x, spec(other.layout("", "columns"), {64, 256})});
  BOOST_TEST((p.results[0] == m.layout("data", "", "model") && p.operands[1] == m.layout("", "model")));
  BOOST_TEST(p.reshards.empty());
}

/// Of tensors that are cut into as many blocks, the newer policy of the reference follows the one of the largest rank.
BOOST_AUTO_TEST_CASE(the_reference_follows_the_largest_of_equally_sharded_tensors) {
  const spec row(m.layout("data"), {8}), matrix(m.layout("data", ""), {8, 8});
  for (const propagation& p : {propagate(m, rules::add, {row, matrix}, policy::paddle_coshard),
                               propagate(m, rules::add, {matrix, row}, policy::paddle_coshard)})
    BOOST_TEST((p.results[0] == m.layout("data", "")));
}

BOOST_AUTO_TEST_CASE(tensors_are_numbered_with_the_operands_first_and_their_bytes_are_added) {
  const spec columns(m.layout("", "data"), {8, 8}), more(m.layout("", "model"), {8, 8});
  const propagation p = propagate(m, rules::along({1}, 2), {columns, more});
  BOOST_TEST((p.operands.size() == 2 && p.results.size() == 2 && p.reshards.size() == 2));
  for (std::size_t t = 0; t < 4; ++t) BOOST_TEST((&p[t] == (t < 2 ? &p.operands[t] : &p.results[t - 2])));
  BOOST_TEST((p.reshards[0] == reshard_need{0, 8 * 4 * 4} && p.reshards[1] == reshard_need{1, 8 * 6 * 4}));
  BOOST_TEST(p.bytes() == 8U * 10 * 4);
}

/// An extent that is not known is one element where costs are compared, the smallest where the largest wins, and may be
/// cut by any axis.
BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_loses_where_extents_are_compared) {
  const std::vector<spec> operands{spec(m.layout("model", ""), {dynamic, std::size_t{64}}),
                                   spec(m.layout("", "model"), {std::size_t{64}, std::size_t{4}})};
  for (const policy& by : {policy(), policy().with(policy::conflict::larger_dim_wins)})
    BOOST_TEST((propagate(m, rule("ab,bc->ac"), spec_list(operands), by).results[0] == m.layout("", "model")));
  const std::vector<spec> alike{spec(m.layout("model", ""), {dynamic, std::size_t{8}}),
                                spec(m.layout("", "model"), {dynamic, std::size_t{8}})};
  rule stacked = "ab,ab->ab";
  stacked.has_equivalent_operands = true;
  const policy aligns = policy().with(policy::conflict::align);
  BOOST_TEST((propagate(m, stacked, spec_list(alike), aligns).results[0] == m.layout("model", "")));
}

/// What is not known of a factor is not known of the dimensions that have it, however they are merged or broadcast.
BOOST_AUTO_TEST_CASE(a_dimension_with_a_factor_that_is_not_known_is_not_known) {
  const auto merged = [](std::size_t a, std::size_t b) {
    return result_shape(bind_shapes("a,b->(ab)", {shape_list{a}, shape_list{b}}), 0)[0];
  };
  BOOST_TEST((merged(3, 4) == 12 && merged(dynamic, 4) == dynamic && merged(4, dynamic) == dynamic));
  BOOST_TEST((merged(dynamic, dynamic) == dynamic && merged(1, dynamic) == dynamic && merged(0, 4) == 0));
  const auto added = [](const std::vector<shape_list>& shapes) {
    const shape_span all(shapes.data(), shapes.size());
    const rule r = bind_shapes(rules::add_n(all), all);
    const std::size_t extent = result_shape(r, 0)[0];
    text out;
    out << r << " of ";
    if (extent == dynamic) out << "?";
    else out << extent;
    return std::string(out.c_str());
  };
  const shape_list one{1}, five{5}, unknown{dynamic};
  BOOST_TEST(added({one, one}) == "a,a->a of 1");
  BOOST_TEST(added({one, five}) == "1,a->a of 5");
  BOOST_TEST(added({five, one}) == "a,1->a of 5");
  BOOST_TEST(added({one, unknown}) == "1,a->a of ?");
  BOOST_TEST(added({unknown, one}) == "a,1->a of ?");
  BOOST_TEST(added({unknown, five}) == "a,a->a of 5");
  BOOST_TEST(added({one, unknown, five}) == "1,a,a->a of 5");
  BOOST_TEST(added({unknown, one, one}) == "a,1,1->a of ?");
}

/// Shapes without elements share their dimensions if they are equal, and nothing if not.
BOOST_AUTO_TEST_CASE(reshapes_of_no_elements_share_nothing_unless_they_are_none) {
  const struct {
    shape_list from, to;
    const char* factors;
  } table[] = {{{0, 4}, {0, 4}, "ab->ab: 0 4 share"},
               {{2, 0}, {2, 0}, "ab->ab: 2 0 share"},
               {{0, 4}, {2, 0}, "ab->cd: 0 4 2 0 whole"},
               {{0}, {0, 3}, "a->bc: 0 0 3 whole"},
               {{3, 0, 2}, {0}, "abc->d: 3 0 2 0 whole"}};
  for (const auto& row : table) {
    const rule r = reshape_rule(row.from, row.to);
    text all;
    all << r << ":";
    bool share = true, whole = true;
    for (std::size_t f = 0; f < r.factor_count; ++f) {
      all << " " << r.factors[f].size;
      share = share && r.factors[f].kind == factor_kind::pass_through;
      whole = whole && r.factors[f].kind == factor_kind::replicate;
    }
    all << (share ? " share" : whole ? " whole" : " both");
    BOOST_TEST(all.c_str() == std::string(row.factors));
  }
}

BOOST_AUTO_TEST_CASE(what_must_move_is_listed_with_its_bytes) {
  const auto p = propagate(m, rules::softmax(), {spec(m.layout("data", "model"), {8, 64})});
  BOOST_TEST(p.reshards.size() == 1U);
  BOOST_TEST(p.reshards[0].tensor == 0);
  BOOST_TEST(p.bytes() == 4U * 64 * 3);  // 4 rows; three quarters of each, 4 bytes an element
}

BOOST_AUTO_TEST_CASE(a_partial_value_that_must_be_finished_costs_an_all_reduce) {
  const auto p = propagate(m, rules::elementwise, {spec(m.layout("data", "").partial("model"), {8, 64})});
  BOOST_TEST(p.bytes() == 2U * 3 * (4 * 64 * 4) / 4);
  BOOST_TEST(how_often(p, decision::what::finishes_partial) == 1U);
}

BOOST_AUTO_TEST_CASE(the_reference_keeps_what_a_result_is_said_to_owe) {
  const std::vector<spec> shapes{spec(shape_list{8, 128, 64}), spec(shape_list{64, 256})};
  const std::vector<spec> said{spec(m.layout("", "", "").partial("data"), {8, 128, 256})};
  BOOST_TEST(propagate(m, product, shapes, said, direction::backward, policy::paddle_classic).results[0].is_partial());
  BOOST_TEST(!propagate(m, product, shapes, said, direction::backward).results[0].is_partial());
}

BOOST_AUTO_TEST_CASE(the_order_of_alike_operands_does_not_decide) {
  // 16 rows cut along dimension 1 outweigh 4 + 2 along dimension 2, whoever comes first
  const spec a(m.layout("", "data", ""), {16, 16, 16}), b(m.layout("", "", "data"), {4, 16, 16}),
      c(m.layout("", "", "data"), {2, 16, 16});
  for (const policy& by : {policy(), policy::paddle_classic}) {
    BOOST_TEST((propagate(m, rules::concatenate(0), {a, b, c}, by).results[0] == m.layout("", "data", "")));
    BOOST_TEST((propagate(m, rules::concatenate(0), {c, b, a}, by).results[0] == m.layout("", "data", "")));
  }
}

BOOST_AUTO_TEST_CASE(what_is_cut_over_an_axis_has_no_cotangent_to_be_summed_over_it) {
  const rule sum = rule("ab,ab->ab");
  const shape_list e{8, 8};
  for (const char* const axis : {"data", "model"})
    for (const sharding& other :
         {m.layout("", ""), m.layout("data", ""), m.layout("", "model"), m.layout("model", "data")}) {
      const sharding w = m.layout("", "").reduced(axis);
      const propagation p = propagate(m, sum, {spec(w, e), spec(other, e)});
      BOOST_TEST(p.operands[0].cut_axes() == other.cut_axes());
      BOOST_TEST(p.operands[0].reduced_over == (w.reduced_over & ~other.cut_axes()));
    }
}

/// Which pending reductions an operation passes on, as a table of its definition.
BOOST_AUTO_TEST_CASE(sums_and_means_pass_linear_operations_and_extremes_monotone_ones) {
  using kinds = pending_reduction;
  for (const kinds kind : {kinds::none, kinds::sum, kinds::avg, kinds::max, kinds::min}) {
    const bool is_one = kind != kinds::none, adds = kind == kinds::sum || kind == kinds::avg,
               compares = kind == kinds::max || kind == kinds::min;
    BOOST_TEST(commutes(linearity::movement, kind) == is_one, name_of(kind));
    BOOST_TEST(commutes(linearity::additive, kind) == adds, name_of(kind));
    BOOST_TEST(commutes(linearity::multilinear, kind) == adds, name_of(kind));
    BOOST_TEST(commutes(linearity::monotone, kind) == compares, name_of(kind));
    BOOST_TEST(!commutes(linearity::none, kind), name_of(kind));
    for (const kinds by : {kinds::sum, kinds::avg, kinds::max, kinds::min}) {
      const bool both_add = adds && (by == kinds::sum || by == kinds::avg);
      BOOST_TEST(commutes(by, kind) == (by == kind || both_add), name_of(by) << " and " << name_of(kind));
    }
  }
}

/// An axis that is in use, in whichever way, is refused for every other use.
BOOST_AUTO_TEST_CASE(an_axis_has_one_use) {
  const sharding none(m, 2);
  const std::vector<sharding> used{none.cut(0, axis_list(1)), none.partial(1), none.replicate("model"),
                                   none.reduced(1)};
  for (const sharding& s : used) {
    BOOST_TEST(!refused<partition_error>([&] { (void)s.cut(1, axis_list(1)); }).empty(), s);
    BOOST_TEST(!refused<partition_error>([&] { (void)s.partial(1); }).empty(), s);
    BOOST_TEST(!refused<partition_error>([&] { (void)s.reduced(1); }).empty(), s);
    if (s.must_replicate == 0) BOOST_TEST(!refused<partition_error>([&] { (void)s.replicate("model"); }).empty(), s);
    BOOST_TEST(refused([&] {
                 (void)s.cut(1, axis_list(0)), (void)s.partial(std::size_t{0}), (void)s.reduced(std::size_t{0});
               }).empty(),
               s);
  }
}

/// Placements say every layout whose axes are in the order of the mesh, and no other one.
BOOST_AUTO_TEST_CASE(placements_come_back_or_are_refused) {
  const mesh three{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  std::size_t said = 0, others = 0;
  for (std::size_t code = 0; code < 64; ++code) {  // up to three axes of dimension 0
    axis_list axes;
    bool ascends = true;
    for (std::size_t rest = code; rest != 0; rest /= 4) {
      const std::size_t a = rest % 4;
      if (a == 0 || axes.contains(a - 1)) break;
      ascends = ascends && (axes.empty() || axes[axes.size() - 1] < a - 1);
      axes.push_back(a - 1);
    }
    const sharding s = sharding(three, 2).cut(0, axes);
    if (ascends) BOOST_TEST((sharding::of_placements(three, 2, s.placements()) == s), s);
    else BOOST_TEST(!refused<partition_error>([&] { (void)s.placements(); }).empty(), s);
    ++(ascends ? said : others);
  }
  BOOST_TEST((said > 0 && others > 0));
}

/// A norm needs the dimensions from its first one on unsharded, a softmax its one dimension, and no other.
BOOST_AUTO_TEST_CASE(a_norm_leaves_the_dimensions_in_front_sharded) {
  for (std::size_t rank = 1; rank <= 4; ++rank) {
    const shape_list shape = shape_list::filled(rank, 8);
    const auto expect = [&](const operation& of, std::size_t begin, std::size_t end) {
      const rule r = of(shape_span(&shape, 1));
      for (std::size_t d = 0; d < rank; ++d)
        BOOST_TEST((r.factors[r.term(r.at(0, d), 0)].kind == factor_kind::replicate) == (d >= begin && d < end), r);
    };
    for (std::size_t begin = 0; begin < rank; ++begin) {
      expect(rules::layer_norm(static_cast<std::ptrdiff_t>(begin)), begin, rank);
      expect(rules::layer_norm(static_cast<std::ptrdiff_t>(begin) - static_cast<std::ptrdiff_t>(rank)), begin, rank);
      expect(rules::softmax(static_cast<std::ptrdiff_t>(begin)), begin, begin + 1);
    }
    expect(rules::rms_norm(), rank - 1, rank);
  }
}

BOOST_AUTO_TEST_CASE(a_dimension_is_split_into_equal_parts_or_not_at_all) {
  for (std::size_t n = 1; n <= 8; ++n)
    for (std::size_t parts = 1; parts <= 6; ++parts) {
      const shape_list shape{3, n};
      const auto made = [&] { return rules::split_evenly(1, parts)(shape_span(&shape, 1)); };
      BOOST_TEST(refused<shape_error>([&] { (void)made(); }).empty() == (n % parts == 0), n << " into " << parts);
      if (n % parts != 0) continue;
      const rule r = bind_shapes(made(), spec_list(std::vector<spec>{spec(shape)}));
      BOOST_TEST(r.result_count == parts);
      BOOST_TEST((result_shape(r, parts - 1) == shape_list{3, n / parts}));
    }
}

/// An entry -1 is the one extent with which there are as many elements; there is none, or it is not clear, beside 0.
BOOST_AUTO_TEST_CASE(an_open_extent_is_found_by_counting_or_refused) {
  for (std::size_t code = 0; code < 4 * 4 * 4 * 4; ++code) {
    const std::size_t a = code % 4, b = code / 4 % 4, first = code / 16 % 4, second = code / 64;
    const shape_list from{a, b};
    const std::array<std::ptrdiff_t, 3> target{first == 0 ? 0 : static_cast<std::ptrdiff_t>(first), -1,
                                               static_cast<std::ptrdiff_t>(second + 1)};
    const std::size_t known = (first == 0 ? a : first) * (second + 1);
    shape_list to;
    const std::string said = refused<shape_error>([&] { to = reshaped(from, target); });
    BOOST_TEST(said.empty() == (known != 0 && a * b % known == 0),
               (text() << from << ", " << first << ", -1, " << second + 1));
    if (said.empty()) BOOST_TEST((to == shape_list{first == 0 ? a : first, a * b / known, second + 1}));
  }
}

/// An extent that is not known may be kept by 0, and an entry -1 is it where all others stay.
BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_is_kept_or_is_what_is_open) {
  for (std::size_t code = 0; code < 8 * 3 * 3; ++code) {
    const shape_list whole{2 + code % 2, 2 + code / 2 % 2, 2 + code / 4 % 2};
    const std::size_t unknown = code / 8 % 3, open = code / 24;
    shape_list from = whole;
    from[unknown] = dynamic;
    if (open == unknown) {
      std::array<std::ptrdiff_t, 3> target{};
      for (std::size_t d = 0; d < 3; ++d) target[d] = d == open ? -1 : static_cast<std::ptrdiff_t>(whole[d]);
      BOOST_TEST((reshaped(from, target) == from));
      target[(open + 1) % 3] += 1;
      BOOST_CHECK_THROW(reshaped(from, target), shape_error);
    } else {  // the third extent is merged into the open one
      const std::size_t third = 3 - unknown - open;
      std::array<std::ptrdiff_t, 3> target{};
      target[open] = -1, target[third] = 1;
      shape_list expected = from;
      expected[open] = whole[open] * whole[third], expected[third] = 1;
      BOOST_TEST((reshaped(from, target) == expected));
      BOOST_TEST((reshaped(whole, target)[unknown] == whole[unknown]));
    }
  }
}

/// A dimension of extent 1 has no factor, in the operand that has it only, whatever the other operands are and however
/// many.
BOOST_AUTO_TEST_CASE(a_dimension_of_one_element_has_no_factor_whatever_the_number_of_operands) {
  const shape_list whole{4, 5, 6};
  for (std::size_t operands = 2; operands <= 12; ++operands)
    for (std::size_t one = 0; one < operands; ++one)
      for (std::size_t dimension = 0; dimension < 3; ++dimension) {
        std::vector<shape_list> shapes(operands);
        for (std::size_t t = 0; t < operands; ++t)  // of rank 2 at first, then of rank 3
          for (std::size_t d = t < operands / 3 ? 1 : 0; d < 3; ++d) shapes[t].push_back(whole[d]);
        if (dimension >= shapes[one].size()) continue;
        shapes[one][dimension] = 1;
        const shape_span all(shapes.data(), shapes.size());
        const rule r = bind_shapes(rules::elementwise(all), all);
        for (std::size_t t = 0; t <= operands; ++t)
          for (std::size_t d = 0; d < r.rank(t); ++d) {
            const bool has_factor = t != one || d != dimension;
            BOOST_TEST(r.at(t, d).count == (has_factor ? 1U : 0U), operands << " operands: " << r);
            if (has_factor) BOOST_TEST(r.term(r.at(t, d), 0) == 3 - r.rank(t) + d, operands << " operands: " << r);
          }
      }
}

/// The side that is ahead waits until the other side has passed as many elements: what is behind them is shared again.
BOOST_AUTO_TEST_CASE(a_reshape_shares_what_is_in_front_of_the_dimensions_that_it_mixes_and_what_is_behind) {
  const struct {
    shape_list from, to;
    const char* factors;
  } table[] = {
      {{4, 6}, {6, 4}, "(ab)(df)->(ac)(ef): 2 2 3 3 2 2"},
      {{6, 4}, {4, 6}, "(ab)(ef)->(ac)(df): 2 3 2 3 2 2"},
      {{4, 6}, {3, 8}, "a(de)->b(ce): 4 3 4 3 2"},
      {{2, 9, 4}, {6, 12}, "a(bc)d->(ab)(cd): 2 3 3 4"},
      {{5, 4, 6}, {5, 6, 4}, "a(bc)(eg)->a(bd)(fg): 5 2 2 3 3 2 2"},
      {{9, 10}, {15, 6}, "(ab)(df)->(ac)(ef): 3 3 5 5 3 2"},
      {{8, 3, 4}, {12, 8}, "(ab)df->(ac)(ef): 4 2 3 3 2 4"},
  };
  for (const auto& row : table) {
    const rule r = reshape_rule(row.from, row.to);
    text all;
    all << r << ":";
    for (std::size_t f = 0; f < r.factor_count; ++f) all << " " << r.factors[f].size;
    BOOST_TEST(all.c_str() == std::string(row.factors));
  }
  // Matrices share the greatest common divisor of their numbers of rows, and that of their numbers of columns.
  const auto shared = [](const rule& r, std::size_t d) {
    std::size_t size = 1;
    for (std::size_t k = 0; k < r.at(0, d).count; ++k)
      for (std::size_t l = 0; l < r.at(1, d).count; ++l)
        if (r.term(r.at(0, d), k) == r.term(r.at(1, d), l)) size *= r.factors[r.term(r.at(0, d), k)].size;
    return size;
  };
  for (const std::size_t n : {24U, 36U, 60U, 72U})
    for (std::size_t i = 2; i < n; ++i)
      for (std::size_t j = 2; j < n; ++j)
        if (n % i == 0 && n % j == 0) {
          const rule r = reshape_rule({i, n / i}, {j, n / j});
          BOOST_TEST(shared(r, 0) == std::gcd(i, j), r << " of " << n << ", " << i << " and " << j << " rows");
          BOOST_TEST(shared(r, 1) == std::gcd(n / i, n / j), r << " of " << n << ", " << i << " and " << j << " rows");
        }
}

/// What a worker receives, by its blocks: the elements of its block of `to` that its block of `from` does not have.
BOOST_AUTO_TEST_CASE(the_bytes_of_a_reshard_are_those_of_the_elements_that_a_worker_does_not_have) {
  const mesh on{axis{"a", 2}, axis{"b", 3}};
  const shape_list shape{12, 18};
  std::vector<sharding> layouts;
  for (const char* rows : {"", "a", "b", "a+b", "b+a"})
    for (const char* columns : {"", "a", "b", "a+b", "b+a"})
      if (refused<partition_error>([&] { on.layout(rows, columns); }).empty())
        layouts.push_back(on.layout(rows, columns));
  std::size_t compared = 0;
  for (const sharding& from : layouts)
    for (const sharding& to : layouts) {
      bool slices_or_gathers = true;  // the bytes are a mean over all positions where a dimension is cut by other axes
      for (std::size_t d = 0; d < 2; ++d)
        slices_or_gathers =
            slices_or_gathers && (to.cuts[d].starts_with(from.cuts[d]) || from.cuts[d].starts_with(to.cuts[d]));
      if (!slices_or_gathers) continue;
      std::size_t received = 0;
      for (std::size_t w = 0; w < on.size(); ++w) {
        std::size_t wanted = 1, there = 1;
        const auto was = mesh_block(from, shape, w), is = mesh_block(to, shape, w);
        for (std::size_t d = 0; d < 2; ++d) {
          wanted *= is[d].size();
          there *= interval{std::max(was[d].start, is[d].start), std::min(was[d].stop, is[d].stop)}.size();
        }
        received += wanted - there;
      }
      BOOST_TEST(moved_bytes(from, to, shape, 8) == 8 * received / on.size(), (text() << "" << from << " to " << to));
      ++compared;
    }
  BOOST_TEST(compared > 40U);
  const mesh three{axis{"a", 3}};
  BOOST_TEST(moved_bytes(three.layout("a"), three.layout(""), {10}, 4) == 27U);  // the whole number nearest to 80 / 3
}

/// A pending reduction that the new layout does not have is taken: 2 (p - 1) / p of the block, whatever is pending
/// then.
BOOST_AUTO_TEST_CASE(a_pending_reduction_that_is_taken_costs_an_all_reduce_also_if_another_one_is_pending_afterwards) {
  const mesh on{axis{"a", 4}, axis{"b", 2}};
  const shape_list shape{16};
  for (int was = 0; was <= static_cast<int>(pending_reduction::log_sum_exp); ++was)
    for (int is = 0; is <= static_cast<int>(pending_reduction::log_sum_exp); ++is)
      for (const char* const rows : {"", "b"}) {
        sharding from = on.layout(rows), to = from;
        from.pending[0] = static_cast<pending_reduction>(was), to.pending[0] = static_cast<pending_reduction>(is);
        const std::size_t block = 8 * 16 / (*rows == 'b' ? 2 : 1);
        BOOST_TEST(moved_bytes(from, to, shape, 8) == (was == 0 || is == was ? 0 : 2 * 3 * block / 4),
                   (text() << "" << from << " to " << to).c_str());
      }
}

BOOST_AUTO_TEST_CASE(a_result_has_the_extent_to_which_its_operands_are_broadcast) {
  for (const std::size_t a : {1U, 4U, 5U})
    for (const std::size_t b : {1U, 4U, 5U})
      for (const std::size_t c : {1U, 4U, 5U}) {
        const shape_list operands[] = {{a}, {b}}, results[] = {{c}};
        const shape_span shapes(operands, 2);
        const bool fits = (a == b || a == 1 || b == 1) && c == std::max(a, b);
        const std::string message =
            refused<shape_error>([&] { bind_shapes(rules::add(shapes), shapes, shape_span(results, 1)); });
        BOOST_TEST(message.empty() == fits, a << " and " << b << " to " << c << ": " << message);
      }
}

BOOST_AUTO_TEST_SUITE_END()
