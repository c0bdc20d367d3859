// PaddlePaddle's guide to sharding propagation rules ("切分推导规则参考文档"): its concepts, its elementwise rule with
// the guide's own unit tests, and its reshape (6, 12, 24, 48) -> (72, 24, 6, 8).
#include <partita/plan/mesh_block.hpp>
#include <partita/rule/sharding/registry.hpp>

#include <boost/test/unit_test.hpp>
#include <initializer_list>

namespace {

using namespace partita;

constexpr mesh line = mesh::of_shape(shape_list{4});             // ProcessMesh(mesh=[0, 1, 2, 3])
constexpr mesh two_by_three = mesh::of_shape(shape_list{2, 3});  // ProcessMesh([[0, 1, 2], [3, 4, 5]])
constexpr mesh three_by_two = mesh::of_shape(shape_list{3, 2});  // [[0, 1], [2, 3], [4, 5]]

sharding at(const mesh& m, std::initializer_list<int> mapping) { return sharding::of_dims_mapping(m, mapping); }

/// What a rule infers from its operands, as the reference's first generation of rules does.
propagation forward(const mesh& m, const rule& r, std::initializer_list<spec> operands) {
  return propagate(m, r, spec_list(operands), policy::paddle_classic);
}
/// What it infers from its results, for operands of which the shapes are known.
propagation backward(const mesh& m, const rule& r, std::initializer_list<spec> operands,
                     std::initializer_list<spec> results) {
  return propagate(m, r, spec_list(operands), spec_list(results), direction::backward, policy::paddle_classic);
}

const shape_list from{6, 12, 24, 48}, to{72, 24, 6, 8};

}  // namespace

BOOST_AUTO_TEST_SUITE(the_document_on_sharding_rules)

BOOST_AUTO_TEST_CASE(with_dims_mapping_minus_1_1_a_6x12_tensor_on_3x2_has_6x6_blocks_equal_on_the_three_machines) {
  const sharding s = at(three_by_two, {-1, 1});
  for (std::size_t worker = 0; worker < 6; ++worker) {
    const auto block = mesh_block(s, {6, 12}, worker);
    BOOST_TEST((block[0] == interval{0, 6}));
    BOOST_TEST((block[1] == interval{worker % 2 * 6, worker % 2 * 6 + 6}));
  }
}

BOOST_AUTO_TEST_CASE(with_dims_mapping_0_1_both_dimensions_are_cut_and_with_0_minus_1_only_the_rows) {
  for (std::size_t worker = 0; worker < 6; ++worker) {
    const auto both = mesh_block(at(three_by_two, {0, 1}), {6, 12}, worker);
    BOOST_TEST((both[0] == interval{worker / 2 * 2, worker / 2 * 2 + 2} && both[1].size() == 6));
    const auto rows = mesh_block(at(three_by_two, {0, -1}), {6, 12}, worker);
    BOOST_TEST((rows[0] == both[0] && rows[1] == interval{0, 12}));
  }
}

BOOST_AUTO_TEST_CASE(the_notation_of_matmul_is_ij_jk_ik_and_the_letter_that_vanishes_is_summed) {
  const rule matmul = "ij,jk->ik";
  BOOST_TEST((matmul.factors[matmul.number('j')].kind == factor_kind::reduce));
  BOOST_TEST((matmul.factors[matmul.number('i')].kind == factor_kind::pass_through));
  const auto got =
      forward(two_by_three, matmul, {{at(two_by_three, {0, 1}), {64, 36}}, {at(two_by_three, {1, -1}), {36, 48}}});
  BOOST_TEST((got.results[0] == at(two_by_three, {0, -1}).partial(1)));
}

BOOST_AUTO_TEST_CASE(elementwise_without_broadcasting_is_abc_abc_abc) {
  const rule add = rules::add({shape_list{96, 24, 48}, shape_list{96, 24, 48}});
  for (std::size_t d = 0; d < 3; ++d) BOOST_TEST((add.factors[d].kind == factor_kind::pass_through));
  BOOST_TEST(add.factor_count == 3U);
}

BOOST_AUTO_TEST_CASE(test_single_mesh_dim_0_minus_1_and_minus_1_minus_1_give_0_minus_1_everywhere) {
  const rule add = rules::add({shape_list{64, 36}, shape_list{64, 36}});
  const auto got = forward(line, add, {{at(line, {0, -1}), {64, 36}}, {at(line, {-1, -1}), {64, 36}}});
  BOOST_TEST((got.operands[0] == at(line, {0, -1})));
  BOOST_TEST((got.operands[1] == at(line, {0, -1})));
  BOOST_TEST((got.results[0] == at(line, {0, -1})));
}

BOOST_AUTO_TEST_CASE(test_backward_multi_mesh_dim_0_1_minus_1_goes_to_both_inputs) {
  const shape_list shape{96, 24, 48};
  const rule add = rules::add({shape, shape});
  const auto got = backward(two_by_three, add, {spec(shape), spec(shape)}, {{at(two_by_three, {0, 1, -1}), shape}});
  BOOST_TEST((got.operands.size() == 2 && got.results.size() == 1));
  BOOST_TEST((got.operands[0] == at(two_by_three, {0, 1, -1})));
  BOOST_TEST((got.operands[1] == at(two_by_three, {0, 1, -1})));
  BOOST_TEST((got.results[0] == at(two_by_three, {0, 1, -1})));
}

BOOST_AUTO_TEST_CASE(reshape_6_12_24_48_to_72_24_6_8_flattens_two_dimensions_keeps_one_and_splits_one) {
  BOOST_TEST((text() << "" << reshape_rule(from, to)) == text("abc(de)->(ab)cde"));
}

BOOST_AUTO_TEST_CASE(reshape_passes_on_the_first_flattened_the_kept_and_the_first_split_dimension) {
  const rule reshape = rules::reshape({72, 24, 6, 8})({from});
  const auto major = forward(two_by_three, reshape, {{at(two_by_three, {0, -1, 1, -1}), from}});
  BOOST_TEST((major.operands[0] == at(two_by_three, {0, -1, 1, -1})));
  BOOST_TEST((major.results[0] == at(two_by_three, {0, 1, -1, -1})));
  const auto split = forward(two_by_three, reshape, {{at(two_by_three, {-1, -1, 0, 1}), from}});
  BOOST_TEST((split.results[0] == at(two_by_three, {-1, 0, 1, -1})));
  // the second of two flattened dimensions cannot stay cut: its blocks would not be one range of the 72
  const auto minor = forward(two_by_three, reshape, {{at(two_by_three, {-1, 0, 1, -1}), from}});
  BOOST_TEST((minor.operands[0] == at(two_by_three, {-1, -1, 1, -1})));
  BOOST_TEST((minor.results[0] == at(two_by_three, {-1, 1, -1, -1})));
}

BOOST_AUTO_TEST_CASE(a_0_in_the_target_of_a_reshape_is_the_extent_of_the_source) {
  BOOST_TEST((reshaped(from, attributes::list{0, 12, 24, 6, 8}) == shape_list{6, 12, 24, 6, 8}));
}

BOOST_AUTO_TEST_CASE(the_reverse_of_reshape_infers_the_operand_from_the_result) {
  const rule reshape = rules::reshape({72, 24, 6, 8})({from});
  const auto got = backward(two_by_three, reshape, {spec(from)}, {{at(two_by_three, {0, -1, 1, -1}), to}});
  BOOST_TEST((got.operands[0] == at(two_by_three, {0, -1, -1, 1})));
  BOOST_TEST((got.results[0] == at(two_by_three, {0, -1, 1, -1})));
}

BOOST_AUTO_TEST_CASE(add_is_registered_under_its_name) {
  const rule add = rules::add({shape_list{64, 36}, shape_list{64, 36}});
  const shape_list shapes[] = {{64, 36}, {64, 36}};
  BOOST_TEST((registry::standard()("add", shape_span(shapes, 2)) == add));
}

BOOST_AUTO_TEST_SUITE_END()
