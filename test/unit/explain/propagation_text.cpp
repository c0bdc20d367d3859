// Results and decisions of propagation, meshes, shardings, rules and reshard plans as readable text.
#include <partita/explain/propagation_text.hpp>

#include <boost/test/unit_test.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <sstream>
#include <string>

namespace {

using namespace partita;

const mesh m{axis{"data", 2}, axis{"model", 4}};
const rule product = rule("bmk,kn->bmn").named("product");

template <class T>
std::string streamed(const T& thing) {
  std::ostringstream out;
  out << thing;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(propagation_in_words)

BOOST_AUTO_TEST_CASE(a_mesh_a_sharding_and_a_rule_are_written_to_a_stream) {
  BOOST_TEST(streamed(m) == "data 2 x model 4");
  BOOST_TEST(streamed(m.layout("data+model", "", "?").with_priority(1)) == "(data+model, , ?)");
  BOOST_TEST(streamed(m.layout("data", "").partial("model", pending_reduction::max)) ==
             "(data, ) partial max over model");
  BOOST_TEST(streamed(product) == "bmk,kn->bmn");
  BOOST_TEST(streamed(rule("...(ab)_,1->...ab")) == "...(ab)_,1->...ab");
}

BOOST_AUTO_TEST_CASE(a_reshard_plan_is_written_a_line_a_step) {
  BOOST_TEST(streamed(plan_reshard(m, m.layout("model", ""), m.layout("", "model"), {8, 256})) ==
             "all_to_all model from 0 to 1, 1536 bytes -> (, model)\n");
  const auto long_plan = plan_reshard(m, m.layout("model", "data"), m.layout("data", "model"), {8, 256});
  std::size_t lines = 0;
  for (const char c : streamed(long_plan)) lines += c == '\n';
  BOOST_TEST(lines == long_plan.size());
}

BOOST_AUTO_TEST_CASE(a_text_has_a_plan_a_line_a_step_too_and_not_in_brackets) {
  text written;
  written << plan_reshard(m, m.layout("model", ""), m.layout("", "model"), {8, 256});
  BOOST_TEST(written.c_str() == std::string("all_to_all model from 0 to 1, 1536 bytes -> (, model)\n"));
}

BOOST_AUTO_TEST_CASE(a_propagation_is_written_a_line_a_tensor_and_a_line_a_move) {
  const auto p = propagate(m, rules::softmax(), {spec(m.layout("data", "model"), {8, 64})});
  BOOST_TEST(streamed(p) ==
             "operand 0 (data, )\n"
             "result 0 (data, )\n"
             "before, operand 0 moves: 768 bytes to a worker\n");
  for (std::size_t t = 0; t < p.operands.size() + p.results.size(); ++t) {  // each tensor has its place
    propagation one{p.operands, p.results};
    one.reshards.push_back(p.reshards[0]);
    one.reshards[0].tensor = static_cast<decltype(reshard_need::tensor)>(t);
    BOOST_TEST(streamed(one).find(t < p.operands.size() ? "before, operand 0" : "after, result 0") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_explanation_says_every_decision_with_the_letters_of_the_rule) {
  const auto p =
      propagate(m, product, {spec(m.layout("data", "", "model"), {8, 128, 64}), spec(m.layout("", "model"), {64, 256})},
                policy().with(policy::conflict::first_wins));
  BOOST_TEST(streamed(explain(p, product)) ==
             "product bmk,kn->bmn on data 2 x model 4\n"
             "operand 0 (data, , model)\n"
             "operand 1 (model, )\n"
             "result 0 (data, , ) partial sum over model\n"
             "before, operand 1 moves: 12288 bytes to a worker\n"
             "  'b' is sharded like dimension 0 of operand 0\n"
             "  'k' is sharded like dimension 2 of operand 0\n"
             "  'n' is sharded like dimension 1 of operand 1\n"
             "  'n' is not sharded over model, because 'k' is\n"
             "  result 0 is partial (sum) over model, because 'k' is sharded over it\n");
}

BOOST_AUTO_TEST_CASE(whatever_is_not_used_is_said_with_its_reason) {
  const std::string whole =
      streamed(explain(propagate(m, rules::softmax(), {spec(m.layout("", "data+model"), {8, 64})})));
  BOOST_TEST(
      whole.find("  'b' is not sharded over data of dimension 1 of operand 0: the operation needs it unsharded\n"
                 "  'b' is not sharded over model of dimension 1 of operand 0: the operation needs it unsharded\n") !=
      std::string::npos);
  const std::string other =
      streamed(explain(propagate(m, rules::add, {spec(m.layout("data"), {8}), spec(m.layout("model"), {8})})));
  BOOST_TEST(other.find("dimension 0 of operand 0 shards 'a' differently and follows operand 1\n") !=
             std::string::npos);
  const std::string one =
      streamed(explain(propagate(m, rules::add, {spec(m.layout("", "data"), {8, 1}), spec(m.layout("", ""), {8, 4})})));
  BOOST_TEST(one.find("what cuts it of dimension 1 of operand 0") == std::string::npos);
  BOOST_TEST(one.find("data of dimension 1 of operand 0 is not used: it has one element, or is broadcast\n") !=
             std::string::npos);
  const std::string merged =
      streamed(explain(propagate(m, rules::reshape({2, 12}), {spec(m.layout("model", ""), {6, 4})})));
  BOOST_TEST(merged.find("model of dimension 0 of operand 0 is not used: its blocks would not be blocks of what it is "
                         "merged with\n") != std::string::npos);
  const std::string finished = streamed(explain(propagate(m, rules::relu, {spec(m.layout("").partial("data"), {8})})));
  BOOST_TEST(finished.find("  operand 0 is reduced (sum) over data before the operation\n") != std::string::npos);
  const std::string passed = streamed(explain(propagate(m, rules::scale, {spec(m.layout("").partial("data"), {8})})));
  BOOST_TEST(passed.find("  operand 0 stays partial (sum) over data, and so are the results\n") != std::string::npos);
}

/// A decision names its factor by its letter, its axis by its name, and tensors by their places; the factor or the axis
/// may be missing.
BOOST_AUTO_TEST_CASE(each_kind_of_decision_has_its_sentence) {
  using enum decision::what;
  propagation p;
  for (int k = 0; k < 2; ++k) p.operands.push_back(m.layout("", ""));
  p.results.push_back(m.layout("", ""));
  p.factor_letters[0] = 'b', p.factor_letters[3] = 'k';
  constexpr std::uint8_t none = decision::none, no_axis = decision::no_axis;
  constexpr pending_reduction sum = pending_reduction::sum, max = pending_reduction::max;
  const std::pair<decision, const char*> table[] = {
      {{takes_sharding, 1, 0, 0}, "'b' is sharded like dimension 0 of operand 1"},
      {{takes_sharding, 1, 0, 0, 1}, "'b' is sharded over model"},
      {{takes_sharding, 2, 1, 5}, "a dimension is sharded like dimension 1 of result 0"},
      {{extended, 2, 1, 3}, "'k' is sharded further, like dimension 1 of result 0"},
      {{joined, 1, 1, 0, 0}, "'b' is also sharded over data, like dimension 1 of operand 1"},
      {{joined, none, none, 0, 0}, "'b' is also sharded over data"},
      {{overruled, 0, 1, 3, no_axis, 1}, "dimension 1 of operand 0 shards 'k' differently and follows operand 1"},
      {{overruled, 2, none, 3, no_axis, 0}, "result 0 shards 'k' differently and follows operand 0"},
      {{loses_axis, none, none, 0, 1, 3}, "'b' is not sharded over model, because 'k' is"},
      {{uneven, 0, 0, 0, 1}, "'b' is not sharded over model: blocks would be uneven"},
      {{must_be_whole, 1, 1, 3, 0},
       "'k' is not sharded over data of dimension 1 of operand 1: the operation needs it unsharded"},
      {{one_element, 1, 1, none, 0},
       "data of dimension 1 of operand 1 is not used: it has one element, or is broadcast"},
      {{one_element, none, none}, "what cuts it of no tensor is not used: it has one element, or is broadcast"},
      {{does_not_fit, 0, 0, none, 1},
       "model of dimension 0 of operand 0 is not used: its blocks would not be blocks of what it is merged with"},
      {{keeps_replicating, 2, none, 0, 1}, "'b' is not sharded over model: result 0 must be replicated over it"},
      {{new_dimension, 2, 1, 3, 0}, "data of dimension 1 of result 0 is not used: only results have 'k'"},
      {{becomes_partial, 2, none, 3, 1, none, sum},
       "result 0 is partial (sum) over model, because 'k' is sharded over it"},
      {{passes_partial, 0, none, none, 0, none, max},
       "operand 0 stays partial (max) over data, and so are the results"},
      {{finishes_partial, 1, none, none, 1, none, sum}, "operand 1 is reduced (sum) over model before the operation"},
      {{keeps_partial, 2, none, none, 0, none, max},
       "result 0 is declared partial (max) over data, and is made so after the operation"}};
  const detail::decision_writer writer(p);
  for (const auto& [one, sentence] : table) {
    BOOST_TEST(std::string(writer.describe(one)) == sentence);
    p.log.push_back(one);
  }
  std::string all = "operand 0 (, )\noperand 1 (, )\nresult 0 (, )\n";
  for (const auto& [one, sentence] : table) all += std::string("  ") + sentence + "\n";
  BOOST_TEST(std::string(explain(p)) == all);
}

BOOST_AUTO_TEST_SUITE_END()
