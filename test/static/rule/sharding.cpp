// Sharding propagation at compile time: notation, binding, all policies, partial values, gradients.
#include <partita/rule/sharding/registry.hpp>

using namespace partita;

namespace {

// one rule for all conflicts, and nothing else is another one
static_assert([] {
  policy all = policy::paddle_classic;
  all.axis_conflict = all.disagreement = all.equivalent_operands = policy::conflict::join;
  return policy::paddle_classic.with(policy::conflict::join) == all;
}());

// what each policy chooses, member by member
constexpr bool chooses(const policy& p, policy::conflict axis, policy::conflict tensors, policy::conflict alike,
                       policy::uneven blocks, policy::merged_axes merged, const std::array<bool, 5>& others) {
  return p.axis_conflict == axis && p.disagreement == tensors && p.equivalent_operands == alike && p.blocks == blocks &&
         p.merged_dimensions == merged && p.by_precedence == others[0] && p.new_dimensions == others[1] &&
         p.ignores_low_priority_operands == others[2] && p.uneven_if_only_proposal == others[3] &&
         p.keep_result_partials == others[4] && p.moves == policy::reshard::allow &&
         p.needed == policy::unshard::gather;
}
static_assert(chooses(policy(), policy::conflict::cost, policy::conflict::cost, policy::conflict::cost,
                      policy::uneven::balanced, policy::merged_axes::same_blocks_only,
                      {false, true, false, false, false}));
static_assert(chooses(policy::paddle_classic, policy::conflict::first_wins, policy::conflict::error,
                      policy::conflict::align, policy::uneven::smaller_last_block, policy::merged_axes::leading_only,
                      {false, false, true, false, true}));
static_assert(chooses(policy::paddle_coshard, policy::conflict::larger_dim_wins, policy::conflict::join,
                      policy::conflict::align, policy::uneven::forbid, policy::merged_axes::move_to_leading,
                      {true, false, true, true, true}));
// one choice, and nothing else is another one
static_assert([] {
  policy blocks, moves, needed;
  blocks.blocks = policy::uneven::forbid, moves.moves = policy::reshard::forbid,
  needed.needed = policy::unshard::refuse;
  return policy().with(policy::uneven::forbid) == blocks && policy().with(policy::reshard::forbid) == moves &&
         policy().with(policy::unshard::refuse) == needed && !(blocks == policy()) && !(moves == policy()) &&
         !(needed == policy());
}());

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr rule product = "bmk,kn->bmn";

// --- notation ---

constexpr bool reads_back(const char* notation) { return (text() << "" << rule(notation)) == notation; }
static_assert(reads_back("bmk,kn->bmn"));
static_assert(reads_back("...mk,...kn->...mn"));
static_assert(reads_back("(ab)c->a(bc)"));
static_assert(reads_back("ab->a1"));
static_assert(reads_back("nc__,mc__->nm__"));
static_assert(reads_back("->"));
static_assert(rule("bmk,kn->bmn").factors[product.number('k')].kind == factor_kind::reduce);
static_assert(rule("bmk,kn->bmn").factors[product.number('b')].kind == factor_kind::pass_through);
static_assert(rule("ab->ab").replicate("b").factors[1].kind == factor_kind::replicate);

template <rule R>
struct operation_of_type {};
static_assert(sizeof(operation_of_type<rule("bmk,kn->bmn")>) == 1);  // a rule can be a template argument

// --- reshape: the factors that two shapes share ---

constexpr bool reshapes(const shape_list& from, const shape_list& to, const char* notation) {
  return (text() << "" << reshape_rule(from, to)) == notation;
}
static_assert(reshapes({8, 4}, {2, 16}, "(ab)c->a(bc)"));
static_assert(reshapes({8}, {2, 4}, "(ab)->ab"));
static_assert(reshapes({2, 4}, {8}, "ab->(ab)"));
static_assert(reshape_rule({3, 2}, {2, 3}).factor_count == 4);  // nothing in common
static_assert(reshapes({1, 8}, {8, 1}, "ab->bc"));
static_assert(reshapes({32}, {8, 1, 4}, "(ac)->abc"));
static_assert(reshapes({5, 7}, {5, 7}, "ab->ab"));
static_assert(reshapes({}, {1}, "->a"));
static_assert(reshaped({6, 12, 48, 24}, attributes::list{3, 24, 6, -1, 24}) == shape_list{3, 24, 6, 8, 24});
static_assert(reshaped({6, 12}, attributes::list{0, -1, 4}) == shape_list{6, 3, 4});

constexpr bool product_holds(const shape_list& from, const shape_list& to) {
  const rule r = bind_shapes(reshape_rule(from, to), {from}, {to});
  return result_shape(r, 0) == to;
}
static_assert(product_holds({3, 4, 4}, {2, 3, 8}));
static_assert(product_holds({4, 7, 5, 8}, {14, 10, 8}));
static_assert(product_holds({5, 2, 5, 3}, {5, 3, 5, 2}));
static_assert(product_holds({6, 12, 48, 24}, {72, 3, 16, 24}));

// --- the default policy ---

constexpr auto s =
    propagate(m, product, {spec{m.layout("data", "", ""), {8, 128, 64}}, spec{m.layout("", "model"), {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
static_assert(s.operands[0] == m.layout("data", "", "") && s.operands[1] == m.layout("", "model"));
static_assert(s.reshards.empty());

constexpr auto contracted =
    propagate(m, product, {spec{m.layout("data", "", "model"), {8, 128, 64}}, spec{m.layout("model", ""), {64, 256}}});
static_assert(contracted.results[0] == m.layout("data", "", "").partial("model"));
static_assert(contracted.reshards.empty());

// if one operand is sharded, the other one is sliced: no bytes
constexpr auto sliced = propagate(m, rules::add, {spec{m.layout("data", ""), {8, 6}}, spec{m.layout(""), {6}}});
static_assert(sliced.results[0] == m.layout("data", "") && sliced.bytes() == 0);
constexpr auto longer =
    propagate(m, rules::add, {spec{m.layout("data", ""), {8, 6}}, spec{m.layout("data+model", ""), {8, 6}}});
static_assert(longer.results[0] == m.layout("data+model", "") && longer.bytes() == 0);

// a conflict over an axis is resolved so that fewer bytes move
constexpr auto small_moves =
    propagate(m, product, {spec{m.layout("model", "", ""), {8, 2, 2}}, spec{m.layout("", "model"), {2, 4096}}});
static_assert(small_moves.results[0] == m.layout("", "", "model"));
constexpr auto first_wins =
    propagate(m, product, {spec{m.layout("model", "", ""), {8, 2, 2}}, spec{m.layout("", "model"), {2, 4096}}},
              policy().with(policy::conflict::first_wins));
static_assert(first_wins.results[0] == m.layout("model", "", ""));
constexpr auto larger_wins =
    propagate(m, product, {spec{m.layout("model", "", ""), {8, 2, 2}}, spec{m.layout("", "model"), {2, 4096}}},
              policy().with(policy::conflict::larger_dim_wins));
static_assert(larger_wins.results[0] == m.layout("", "", "model"));

// a dimension that does not divide: as it is said, or not at all
constexpr auto uneven = propagate(m, rules::relu, {spec{m.layout("model"), {6}}});
static_assert(uneven.results[0] == m.layout("model"));
constexpr auto even = propagate(m, rules::relu, {spec{m.layout("model"), {6}}}, policy().with(policy::uneven::forbid));
static_assert(even.results[0] == m.layout("") && even.reshards.size() == 1 && even.bytes() == 18);  // 6 - 6/4 floats

// merged dimensions stay sharded if the blocks stay the same
constexpr auto kept = propagate(m, rules::flatten(), {spec{m.layout("data", ""), {8, 6}}});
static_assert(kept.results[0] == m.layout("data"));
constexpr auto both = propagate(m, rules::flatten(), {spec{m.layout("data", "model"), {2, 8}}});
static_assert(both.results[0] == m.layout("data+model") && both.reshards.empty());
constexpr auto inner = propagate(m, rules::flatten(), {spec{m.layout("data", "model"), {8, 8}}});
static_assert(inner.results[0] == m.layout("data") && inner.operands[0] == m.layout("data", ""));
constexpr auto split = propagate(m, rules::reshape({2, 4, 3}), {spec{m.layout("data+model", ""), {8, 3}}});
static_assert(split.results[0] == m.layout("data", "model", "") && split.reshards.empty());
constexpr auto ragged = propagate(m, rules::flatten(), {spec{m.layout("data", ""), {5, 4}}});
static_assert(ragged.results[0] == m.layout(""));  // 12 and 8 elements are not 10 and 10

// a new dimension may be cut, if the policy says so
constexpr shape_list column{1, 8};
constexpr rule grown = rules::expand({4, 8})({column});
constexpr spec row{column}, wide{m.layout("model", ""), {4, 8}};
static_assert(propagate(m, grown, spec_list(&row, 1), spec_list(&wide, 1), direction::backward).results[0] ==
              m.layout("model", ""));
static_assert(propagate(m, grown, spec_list(&row, 1), spec_list(&wide, 1), direction::backward, policy::paddle_classic)
                  .results[0] == m.layout("", ""));

// a dimension that must stay replicated does
constexpr auto pinned =
    propagate(m, rules::add, {spec{m.layout("data", ""), {8, 6}}, spec{m.layout("", "").replicate("data"), {8, 6}}});
static_assert(pinned.results[0] == m.layout("", ""));

// --- both directions ---

constexpr spec unknown_x{shape_list{8, 128, 64}}, unknown_w{shape_list{64, 256}};
constexpr std::array shapes_only{unknown_x, unknown_w};
constexpr spec wanted{m.layout("data", "", "model"), {8, 128, 256}};
constexpr auto back = propagate(m, product, spec_list(shapes_only), spec_list(&wanted, 1), direction::backward);
static_assert(back.operands[0] == m.layout("data", "", "") && back.operands[1] == m.layout("", "model"));
constexpr std::array one_known{spec{m.layout("data", "", ""), {8, 128, 64}}, unknown_w};
constexpr spec columns{m.layout("", "", "model"), {8, 128, 256}};
constexpr auto mixed = propagate(m, product, spec_list(one_known), spec_list(&columns, 1), direction::mixed);
static_assert(mixed.results[0] == m.layout("data", "", "model") && mixed.operands[1] == m.layout("", "model"));

// --- partial values: they stay partial where that is valid, are reduced where it is not, and are never dropped ---

constexpr spec partial{m.layout("data", "").partial("model"), {8, 6}}, whole{m.layout("data", ""), {8, 6}};
constexpr auto scaled = propagate(m, rules::scale, {partial});
static_assert(scaled.results[0] == m.layout("data", "").partial("model") && scaled.reshards.empty());
constexpr auto summed = propagate(m, rules::add, {partial, partial});
static_assert(summed.results[0] == m.layout("data", "").partial("model"));
constexpr auto one_partial =
    propagate(m, rules::add, {partial, whole});  // x + b on every worker would count b four times
static_assert(one_partial.results[0] == m.layout("data", "") && one_partial.reshards.size() == 1);
constexpr auto times = propagate(m, rules::multiply, {partial, whole});
static_assert(times.results[0] == m.layout("data", "").partial("model"));
constexpr auto squared = propagate(m, rules::multiply, {partial, partial});
static_assert(squared.results[0] == m.layout("data", "") && squared.reshards.size() == 2);
constexpr auto activated = propagate(m, rules::elementwise, {partial});
static_assert(activated.results[0] == m.layout("data", "") && activated.operands[0] == m.layout("data", ""));
constexpr spec largest{m.layout("data", "").partial("model", pending_reduction::max), {8, 6}};
static_assert(propagate(m, rules::relu, {largest}).results[0] ==
              m.layout("data", "").partial("model", pending_reduction::max));
static_assert(propagate(m, rules::scale, {largest}).results[0] == m.layout("data", ""));
static_assert(propagate(m, rules::max({1}), {largest}).results[0] ==
              m.layout("data").partial("model", pending_reduction::max));
static_assert(propagate(m, rules::sum({1}), {largest}).results[0] == m.layout("data"));
static_assert(propagate(m, rules::max({1}), {partial}).results[0] == m.layout("data"));
static_assert(propagate(m, rules::assign, {largest}).results[0] ==
              m.layout("data", "").partial("model", pending_reduction::max));
static_assert(propagate(m, rules::mean({0}), {spec{m.layout("data"), {7}}}).results[0] ==
              m.layout());  // 4 and 3 weigh differently
static_assert(propagate(m, rules::mean({0}), {spec{m.layout("data"), {8}}}).results[0] ==
              m.layout().partial("data", pending_reduction::avg));
static_assert(propagate(m, rules::softmax(), {spec{m.layout("data", "model"), {8, 8}}}).operands[0] ==
              m.layout("data", ""));

// --- gradients: derived ---

constexpr shape_list x_shape{8, 128, 64}, w_shape{64, 256};
constexpr rule product_gradient = gradient(bind_shapes(product, {x_shape, w_shape}));
static_assert((text() << "" << product_gradient) == "bmk,kn,bmn->bmk,kn");
constexpr auto backwards = propagate(m, product_gradient,
                                     {spec{m.layout("data", "", ""), x_shape}, spec{m.layout("", "model"), w_shape},
                                      spec{m.layout("data", "", "model"), {8, 128, 256}}});
static_assert(backwards.results[0] == m.layout("data", "", "").partial("model"));
static_assert(backwards.results[1] == m.layout("", "model").partial("data"));
static_assert(backwards.reshards.empty());
constexpr rule bias_gradient = gradient(bind_shapes(rules::add({{8, 6}, {6}}), {{8, 6}, {6}}));
static_assert(propagate(m, bias_gradient,
                        {spec{m.layout("data", ""), {8, 6}}, spec{m.layout(""), {6}},
                         spec{m.layout("data", ""), {8, 6}}})
                  .results[1] == m.layout("").partial("data"));

// --- a result that depends on some operands only ---

constexpr auto weights = propagate(m, rules::linear_weight_gradient,
                                   {spec{m.layout("data", "model"), {8, 16}}, spec{m.layout("data", ""), {8, 12}}});
static_assert(weights.results[0] == m.layout("model", "").partial("data") &&
              weights.results[1] == m.layout("").partial("data"));

// --- the registry ---

constexpr registry known = registry::standard();
static_assert(known.knows("matmul") && !known.knows("my_op"));
constexpr registry more = registry::standard().add("my_op", "abc,c->ab");
static_assert((text() << "" << more("my_op", {{2, 3, 4}, {4}})) == "abc,c->ab");
static_assert(propagate(m, registry(registry::fallback::replicate)("unheard_of", {{8, 6}}), {whole}).operands[0] ==
              m.layout("", ""));

// --- the log says why ---

constexpr bool says(const propagation& p, decision::what done) {
  for (const decision& d : p.log)
    if (d.outcome == done) return true;
  return false;
}
static_assert(says(s, decision::what::takes_sharding) && says(contracted, decision::what::becomes_partial) &&
              says(small_moves, decision::what::loses_axis));
static_assert(says(even, decision::what::uneven) && says(inner, decision::what::does_not_fit) &&
              says(longer, decision::what::extended));
static_assert(says(pinned, decision::what::keeps_replicating) && says(scaled, decision::what::passes_partial));
static_assert(says(one_partial, decision::what::finishes_partial));

}  // namespace
