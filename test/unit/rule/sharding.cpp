// Sharding propagation at run time: error messages, the log of decisions, the necessary movements, and names.
#include <boost/test/unit_test.hpp>
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
  for (const decision& d : p.log) n += d.done == done;
  return n;
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
      "partita::propagate: requires tensors that need not be moved, but operand 0 [8, 64] of softmax ab->ab lies "
      "(, data) and must lie "
      "(, ); reshard it before, or allow resharding");
}

BOOST_AUTO_TEST_CASE(a_cut_that_must_be_made_whole_is_refused_if_asked_and_other_moves_are_not) {
  constexpr policy strict = policy().with(policy::whole::refuse);
  const spec scores(m.layout("", "data"), {8, 64});
  BOOST_TEST(refused([&] { propagate(m, rules::softmax(), {scores}, strict); }) ==
             "partita::propagate: requires dimensions whole that the operation needs whole, but dimension 1 of operand "
             "0 [8, 64] of softmax ab->ab lies (, data); gather it before, or allow policy::whole::gather");
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
  BOOST_TEST(how_often(p, decision::what::took) == 3U);
  BOOST_TEST(how_often(p, decision::what::lost) == 1U);
  for (const decision& d : p.log) {
    if (d.done != decision::what::lost) continue;
    BOOST_TEST(product.factors[d.factor].letter == 'n');
    BOOST_TEST(product.factors[d.by].letter == 'k');
    BOOST_TEST(d.axis == 1);
    BOOST_TEST(d.tensor == 1);
  }
  BOOST_TEST(how_often(p, decision::what::becomes_partial) == 1U);
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
      BOOST_TEST(p.operands[0].cutting() == other.cutting());
      BOOST_TEST(p.operands[0].reduced_over == (w.reduced_over & ~other.cutting()));
    }
}

BOOST_AUTO_TEST_SUITE_END()
