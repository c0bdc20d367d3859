// The registry knows every operation of `rules::` by its name, and its rule propagates like the function.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <random>
#include <string>
#include <vector>

#include "simulated_mesh.hpp"

namespace {

using namespace partita;

struct twin {
  const char* name;
  operation made;                  ///< by the function of that name
  const char* definition;          ///< in the words of `described`
  std::vector<shape_list> shapes;  ///< of its operands
  attributes with{};               ///< what the name is called with for the same operation
};
attributes axes(const attributes::list& all) {
  attributes with;
  with.axes = all;
  return with;
}
attributes sizes(const attributes::extents_list& all) {
  attributes with;
  with.sizes = all;
  return with;
}
attributes axes_and_sizes(const attributes::list& all, const attributes::extents_list& extents) {
  attributes with = sizes(extents);
  with.axes = all;
  return with;
}
attributes count(std::size_t n, const attributes::list& all = {}) {
  attributes with = axes(all);
  with.count = n;
  return with;
}
attributes switches(bool x, bool y) {
  attributes with;
  with.x = x, with.y = y;
  return with;
}
attributes reducing(pending_reduction kind, const attributes::list& all) {
  attributes with = axes(all);
  with.kind = kind;
  return with;
}
attributes keeping(const attributes::list& all) {
  attributes with = axes(all);
  with.keep = true;
  return with;
}
attributes with_switches(attributes with, bool x, bool y) {
  with.x = x, with.y = y;
  return with;
}

/// A rule in words: its notation; the factors that are reduced and how, must be whole, or for which the operation
/// communicates itself; those of batches, and those of summed dimensions; those that repeat an extent of 1, agree only
/// in their axes, or stand in a merged dimension together; its linearity, and what else is said of its tensors; the
/// extents of its results.
std::string described(const rule& r, const shape_span& shapes) {
  text notation;
  notation << r;
  std::string out = notation.c_str();
  const auto letters = [&](const char* what, auto has) {
    std::string all;
    for (std::size_t f = 0; f < r.factor_count; ++f)
      if (has(r.factors[f])) all += r.factors[f].letter;
    if (!all.empty()) out += std::string(" ") + what + " " + all;
  };
  using enum factor_kind;
  for (int k = 1; k <= static_cast<int>(pending_reduction::all); ++k)
    letters(name_of(static_cast<pending_reduction>(k)),
            [&](const factor& f) { return f.kind == reduce && static_cast<int>(f.how) == k; });
  letters("whole", [](const factor& f) { return f.kind == replicate; });
  letters("itself", [](const factor& f) { return f.kind == collective; });
  letters("first", [](const factor& f) { return f.precedence == 0; });
  letters("last", [](const factor& f) { return f.precedence == 2; });
  letters("repeated", [](const factor& f) { return f.broadcasts; });
  letters("loose", [](const factor& f) { return f.extents_may_differ; });
  letters("implied", [](const factor& f) { return f.implicit_replicate; });
  for (std::size_t g = 1; g <= r.factor_count; ++g)
    letters("together", [&](const factor& f) { return f.merged_group == g; });
  const auto tensors = [&](const char* what, tensor_set set) {
    if (set == 0) return;
    out += std::string(" ") + what;
    for (std::size_t t = 0; t < r.tensor_count(); ++t)
      if ((set >> t & 1U) != 0) out += " " + std::to_string(t);
  };
  const char* const names[] = {"none", "movement", "additive", "multilinear", "monotone"};
  out += std::string(", ") + names[static_cast<std::size_t>(r.how)];
  if (r.has_equivalent_operands) out += " alike";
  tensors("following", r.low_priority_operands);
  tensors("unread", r.shape_only_operands);
  tensors("constant", r.constant);
  for (std::size_t j = 0; j < std::min(r.result_count + std::size_t{0}, rule::most_results_with_unused); ++j)
    tensors(("result " + std::to_string(j) + " without").c_str(), r.unused_operands[j]);
  if (shapes.size() == 0) return out;
  const rule whole = bind_shapes(r, shapes);
  out += ':';
  for (std::size_t j = 0; j < r.result_count; ++j) {
    std::string extents;
    for (const std::size_t extent : result_shape(whole, j))
      extents += "x" + (extent == dynamic ? "?" : std::to_string(extent));
    out += " " + (extents.empty() ? "1" : extents.substr(1));
  }
  return out;
}

}  // namespace

namespace partita::rules {  // where their names are found first

inline std::vector<twin> twins() {
  const shape_list x{4, 6}, y{6, 8}, image{4, 6, 5, 5}, heads{2, 8, 4, 6};
  const std::vector<shape_list> one{x}, two{x, x}, three{x, x, x}, cube{{4, 6, 8}};
  return {
      {"elementwise", elementwise, "ab,ab->ab first ab repeated ab, none: 4x6", two},
      {"elementwise_outputs", elementwise_outputs(3), "ab,ab->ab,ab,ab first ab repeated ab, none: 4x6 4x6 4x6", two,
       count(3)},
      {"elementwise_in_dimensions",
       elementwise_in_dimensions({0}),
       "ab,a->ab first ab repeated ab, none: 4x6",
       {x, {4}},
       axes({0})},
      {"add", rules::add, "ab,ab->ab first ab repeated ab, additive: 4x6", two},
      {"subtract", subtract, "ab,ab->ab first ab repeated ab, additive: 4x6", two},
      {"add_n", add_n, "ab,ab,ab->ab first ab repeated ab, additive: 4x6", three},
      {"multiply", multiply, "ab,ab->ab first ab repeated ab, multilinear: 4x6", two},
      {"divide", divide, "ab,ab->ab first ab repeated ab, multilinear constant 1: 4x6", two},
      {"scale", scale, "ab->ab first ab repeated ab, additive: 4x6", one},
      {"cast", cast, "ab->ab first ab repeated ab, movement: 4x6", one},
      {"assign", assign, "ab->ab first ab repeated ab, movement: 4x6", one},
      {"relu", relu, "ab->ab first ab repeated ab, monotone: 4x6", one},
      {"maximum", maximum, "ab,ab->ab first ab repeated ab, none: 4x6", two},
      {"where", where, "ab,ab,ab->ab first ab repeated ab, additive constant 0: 4x6", three},
      {"matmul", matmul, "mk,kn->mn sum k last k, multilinear: 4x8", {x, y}},
      {"matmul_transposed",
       matmul_transposed(true, false),
       "km,kn->mn sum k last k, multilinear: 4x8",
       {{6, 4}, y},
       switches(true, false)},
      {"matmul_bias", matmul_bias(), "mk,kn,n->mn whole k last k, none: 4x8", {x, y, {8}}},
      {"bmm", bmm, "bmk,bkn->bmn sum k first b last k, multilinear: 2x4x8", {{2, 4, 6}, {2, 6, 8}}},
      {"linear", linear, "...i,oi->...o sum i last i, multilinear: 4x8", {x, {8, 6}}},
      {"linear_weight_gradient",
       linear_weight_gradient,
       "...k,...n->kn,n sum k last k, multilinear result 1 without 0: 6x8 8",
       {x, {4, 8}}},
      {"convolution",
       convolution,
       "nc__,mc__->nm__ sum c whole ______ last c____, multilinear: 4x8x?x?",
       {image, {8, 6, 3, 3}}},
      {"grouped_convolution",
       grouped_convolution(2),
       "n(gc)__,(gm)c__->n(gm)__ whole c______ first g last c____ together gcm, multilinear: "
       "4x8x?x?",
       {image, {8, 3, 3, 3}},
       count(2)},
      {"depthwise_convolution",
       depthwise_convolution,
       "ng__,g1__->ng__ whole ______ first g last ____, multilinear: 4x6x?x?",
       {image, {6, 1, 3, 3}}},
      {"transposed_convolution",
       transposed_convolution(),
       "nc__,cm__->nm__ sum c whole ______ last c____, multilinear: 4x8x?x?",
       {image, {6, 8, 3, 3}}},
      {"reduction", reduction(pending_reduction::max, {1}).named("reduction"),
       "ab->a max b first a last b, monotone: 4", one, reducing(pending_reduction::max, {1})},
      {"sum", sum({1}), "ab->a sum b first a last b, additive: 4", one, axes({1})},
      {"mean", mean(), "ab-> avg ab last ab, additive: 1", one},
      {"max", rules::max({0}, true), "ab->1b max a first b last a, monotone: 1x6", one, keeping({0})},
      {"min", rules::min({1}), "ab->a min b first a last b, monotone: 4", one, axes({1})},
      {"sum_of_function", sum_of_function({0}), "ab->b sum a first b last a, none: 6", one, axes({0})},
      {"whole_reduction", whole_reduction({0}), "ab->b whole a first b last a, none: 6", one, axes({0})},
      {"logsumexp", logsumexp({-1}), "ab->a whole b first a last b, none: 4", one, axes({-1})},
      {"p_norm", p_norm(), "ab-> whole ab last ab, none: 1", one},
      {"argmax", argmax({1}), "ab->a whole b first a last b, none: 4", one, axes({1})},
      {"along", rules::along({1}, 2, true), "ab->ab,ab whole b first ab, additive: 4x6 4x6", one,
       with_switches(count(2, {1}), true, false)},
      {"softmax", softmax(), "ab->ab whole b first ab, none: 4x6", one},
      {"argsort", argsort(0), "ab->ab,ab whole a first ab, none: 4x6 4x6", one, axes({0})},
      {"cumsum", cumsum(1), "ab->ab whole b first ab, additive: 4x6", one, axes({1})},
      {"cummax", cummax(1), "ab->ab,ab whole b first ab, none: 4x6 4x6", one, axes({1})},
      {"cummin", cummin(0), "ab->ab,ab whole a first ab, none: 4x6 4x6", one, axes({0})},
      {"roll", roll({1}), "ab->ab whole b first ab, additive: 4x6", one, axes({1})},
      {"triu", triu(), "abc->abc whole bc first abc, additive: 4x6x8", cube},
      {"cross_entropy_with_softmax",
       cross_entropy_with_softmax(),
       "ab,a->ab,a1 itself b first a last b, none: 4x6 4x1",
       {x, {4}}},
      {"cross_entropy_with_softmax", cross_entropy_with_softmax(-1, true),
       "ab,ab->ab,a1 whole b first a last b, none: 4x6 4x1", two, switches(true, false)},
      {"layer_norm", layer_norm(), "ab,_,_->ab,a,a whole b__ last b__, none: 4x6 4 4", {x, {6}, {6}}},
      {"rms_norm", rms_norm(), "ab,_->ab,a whole b_ last b_, none: 4x6 4", {x, {6}}},
      {"group_norm",
       group_norm(2),
       "n(ge)__,(ge),(ge)->n(ge)__,ng,ng whole e__ first g last e__ together ge, none: 4x6x5x5 4x2 4x2",
       {image, {6}, {6}},
       count(2)},
      {"instance_norm",
       instance_norm,
       "ng__,g,g->ng__,ng,ng whole __ first g last __, none: 4x6x5x5 4x6 4x6",
       {image, {6}, {6}}},
      {"batch_norm",
       batch_norm,
       "ncwx,c,c,c,c->ncwx,c,c,c,c whole nwx first c last nwx, none: 4x6x5x5 6 6 6 6",
       {image, {6}, {6}, {6}, {6}}},
      {"synchronised_batch_norm",
       synchronised_batch_norm,
       "ncwx,c,c,c,c->ncwx,c,c,c,c itself nwx first c last nwx, none: 4x6x5x5 6 6 6 6",
       {image, {6}, {6}, {6}, {6}}},
      {"batch_norm_inference",
       batch_norm_inference,
       "ncwx,c,c,c,c->ncwx first c, none: 4x6x5x5",
       {image, {6}, {6}, {6}, {6}}},
      {"reshape", reshape({8, 3}), "a(bc)->(ab)c first abc together abc, movement: 8x3", one, sizes({8, 3})},
      {"flatten", flatten(), "abc->(abc) first abc together abc, movement: 192", cube},
      {"squeeze", squeeze(), "a1c->ac sum b first ac last b, movement: 4x6", {{4, 1, 6}}},
      {"unsqueeze", unsqueeze({1}), "ab->a1b first ab, movement: 4x1x6", one, axes({1})},
      {"transpose", transpose({1, 0}), "ab->ba first ab, movement: 6x4", one, axes({1, 0})},
      {"expand", expand({3, 4, 6}), "ab->cab first ab, movement: 3x4x6", one, sizes({3, 4, 6})},
      {"tile", tile({2, 1}), "ab->cb whole ac first b last a, movement: 8x6", one, sizes({2, 1})},
      {"slice", slice({1}, {3}), "ab->a_ whole b_ first a last b, movement: 4x3", one, axes_and_sizes({1}, {3})},
      {"pad", pad({1}, {8}), "ab->a_ whole b_ first a last b, none: 4x8", one, axes_and_sizes({1}, {8})},
      {"topk", topk(1, 2), "ab->a_,a_ whole b__ first a last b__, none: 4x2 4x2", one, axes_and_sizes({1}, {2})},
      {"concatenate", concatenate(1), "a_,a_->a_ whole __ first a last _, movement alike: 4x12", two, axes({1})},
      {"stack", stack(1), "ab,ab->a_b whole _ first ab, movement alike: 4x2x6", two, axes({1})},
      {"split", split(1, {2, 4}), "a_->a_,a_ whole ___ first a last ___, movement: 4x2 4x4", one,
       axes_and_sizes({1}, {2, 4})},
      {"split_evenly", split_evenly(1, 3), "a_->a_,a_,a_ whole __ first a last _, movement: 4x2 4x2 4x2", one,
       count(3, {1})},
      {"unbind", unbind(1), "a_->a,a,a,a,a,a whole _ first a last _, movement: 4 4 4 4 4 4", one, axes({1})},
      {"gather", gather(1), "ab,c->ac whole b last b, multilinear constant 1: 4x3", {x, {3}}, axes({1})},
      {"index_select", index_select(), "ab,c->cb whole a last a, multilinear constant 1: 3x6", {x, {3}}},
      {"gather_nd", gather_nd, "ab,cd->cb whole ad last ad, multilinear constant 1: 3x6", {x, {3, 1}}},
      {"take_along_axis", take_along_axis(1), "ab,ac->ac whole b first a last b, multilinear constant 1: 4x6", two,
       axes({1})},
      {"put_along_axis", put_along_axis(1), "ab,a_,a_->ab whole b_ first a last _, none: 4x6", three, axes({1})},
      {"scatter", scatter, "ab,i,ib->ab whole ai last i, none following 0: 4x6", {x, {3}, {3, 6}}},
      {"scatter_nd_add",
       scatter_nd_add,
       "ab,cd,cb->ab whole acd last cd, additive constant 1: 4x6",
       {x, {3, 1}, {3, 6}}},
      {"index_put", index_put, "ab,c,cb->ab whole ac last c, none: 4x6", {x, {3}, {3, 6}}},
      {"one_hot", one_hot(7), "ab->abc first ab, none: 4x6x7", one, count(7)},
      {"embedding", embedding(), "ab,vh->abh sum v last v, multilinear constant 0: 4x6x6", {x, {8, 6}}},
      {"vocabulary_embedding",
       vocabulary_embedding,
       "vh,ab->abh sum v last v, multilinear constant 1: 4x6x6",
       {{8, 6}, x}},
      {"attention",
       attention,
       "bshd,bthd,bthe->bshe,bhst,bhs whole stde first bh last tde, none: 2x8x4x6 2x4x8x8 2x4x8",
       {heads, heads, heads}},
      {"sequence_parallel_attention",
       sequence_parallel_attention,
       "bshd,bthd,bthe->bshe,bhst,bhs whole tde first bh last tde, none: 2x8x4x6 2x4x8x8 2x4x8",
       {heads, heads, heads}},
      {"rope", rope(2), "bshd,bshd->bshd,bshd whole sd first bshd, none: 2x8x4x6 2x8x4x6", {heads, heads}, count(2)},
      {"expert_dispatch",
       expert_dispatch(2, 3),
       "sh,s_->ech,sk,ks,sk whole s_ck last sh_eck, none: 4x3x6 8x2 2x8 8x2",
       {{8, 6}, {8, 4}},
       count(3, {2})},
      {"expert_combine",
       expert_combine,
       "rh,sk,sk->sh sum k whole r last rk, multilinear constant 2: 8x6",
       {{12, 6}, {8, 2}, {8, 2}}},
      {"update", update(2), "ab,ab,ab,_->ab,ab whole _ last _ loose _, none: 4x6 4x6", {x, x, x, {1}}, count(2)},
      {"sgd", sgd, "ab,_,ab->ab whole _ last _ loose _, none: 4x6", {x, {1}, x}},
      {"momentum", momentum, "ab,ab,ab,_->ab,ab whole _ last _ loose _, none: 4x6 4x6", {x, x, x, {1}}},
      {"adam",
       adam,
       "ab,ab,_,ab,ab,_,_->ab,ab,ab,_,_ whole _ last ab_ loose _, none: 4x6 4x6 4x6 ? "
       "?",
       {x, x, {1}, x, x, {1}, {1}}},
      {"adamw",
       adamw,
       "ab,ab,_,ab,ab,_,_->ab,ab,ab,_,_ whole _ last ab_ loose _, none: 4x6 4x6 4x6 ? "
       "?",
       {x, x, {1}, x, x, {1}, {1}}},
      {"replicated", replicated({2}), "__,__->__ whole _ first _ loose _, none: ?x?", two, sizes({2})},
      {"data_parallel", data_parallel({2, 1}),
       "b_,b_->b_,b whole _ first b last _ loose b_, none: ?x? "
       "?",
       two, sizes({2, 1})},
  };
}

/// The same operations with other parameters.
inline std::vector<twin> with_other_parameters() {
  const shape_list x{4, 6}, y{6, 8}, cube{4, 6, 8}, image{4, 6, 5, 5}, heads{2, 8, 4, 6};
  const std::vector<shape_list> one{x}, two{x, x}, three{x, x, x};
  return {
      {"matmul_transposed", matmul_transposed(false, true), "mk,nk->mn sum k last k, multilinear: 4x8", {x, {8, 6}}},
      {"matmul", matmul, "amk,k->am sum kn first a last kn repeated a, multilinear: 2x4", {{2, 4, 6}, {6}}},
      {"matmul", matmul, "k,k-> sum mkn last mkn, multilinear: 1", {{6}, {6}}},
      {"matmul_bias", matmul_bias(true, false, true), "km,kn,n->mn itself k last k, none: 4x8", {{6, 4}, y, {8}}},
      {"matmul_bias", matmul_bias(false, true), "mk,nk,n->mn whole k last k, none: 4x8", {x, {8, 6}, {8}}},
      {"transposed_convolution",
       transposed_convolution(2),
       "n(gc)__,(gc)m__->n(gm)__ whole c______ first g last c____ together gcm, multilinear: "
       "4x8x?x?",
       {image, {6, 4, 3, 3}}},
      {"convolution", convolution, "nc_,mc_->nm_ sum c whole ___ last c__, multilinear: 4x8x?", {{4, 6, 5}, {8, 6, 3}}},
      {"reduction", reduction(pending_reduction::prod, {0}, true), "ab->1b prod a first b last a, none: 1x6", one},
      {"reduction", reduction(pending_reduction::any), "ab-> any ab last ab, none: 1", one},
      {"sum", sum({0}, true), "ab->1b sum a first b last a, additive: 1x6", one},
      {"mean", mean({1}, true), "ab->a1 avg b first a last b, additive: 4x1", one},
      {"min", rules::min({}, true), "ab->11 min ab last ab, monotone: 1x1", one},
      {"sum_of_function", sum_of_function({1}, true), "ab->a1 sum b first a last b, none: 4x1", one},
      {"whole_reduction", whole_reduction({1}, true), "ab->a1 whole b first a last b, none: 4x1", one},
      {"logsumexp", logsumexp({0}, true), "ab->1b whole a first b last a, none: 1x6", one},
      {"p_norm", p_norm({1}, true), "ab->a1 whole b first a last b, none: 4x1", one},
      {"argmax", argmax({0}, true), "ab->1b whole a first b last a, none: 1x6", one},
      {"along", rules::along({0, 1}), "ab->ab whole ab first ab, none: 4x6", one},
      {"softmax", softmax(0), "ab->ab whole a first ab, none: 4x6", one},
      {"cross_entropy_with_softmax",
       cross_entropy_with_softmax(0),
       "ab,b->ab,1b itself a first b last a, none: 4x6 1x6",
       {x, {6}}},
      {"layer_norm",
       layer_norm(1),
       "abc,__,__->abc,a,a whole bc____ last bc____, none: 2x4x6 2 2",
       {{2, 4, 6}, {4, 6}, {4, 6}}},
      {"layer_norm", layer_norm(), "ab->ab,a,a whole b first a last b, none: 4x6 4 4", one},
      {"group_norm",
       group_norm(3),
       "n(ge)__->n(ge)__,ng,ng whole e__ first ng last e__ together ge, none: 4x6x5x5 4x3 4x3",
       {image}},
      {"reshape", reshape({2, -1, 0}), "(ab)cd->a(bc)d first abcd together abc, movement: 2x12x5", {{8, 3, 5}}},
      {"reshape", reshape({0, 2, -1}), "a(bc)d->ab(cd) first abcd together bcd, movement: 5x2x12", {{5, 8, 3}}},
      {"flatten", flatten(1), "abc->a(bc) first abc together bc, movement: 4x48", {cube}},
      {"flatten", flatten(0, 1), "abc->(ab)c first abc together ab, movement: 24x8", {cube}},
      {"squeeze", squeeze({1}), "a1c->ac sum b first ac last b, movement: 1x6", {{1, 1, 6}}},
      {"unsqueeze", unsqueeze({0, -1}), "ab->1ab1 first ab, movement: 1x4x6x1", one},
      {"transpose", transpose({2, 0, 1}), "abc->cab first abc, movement: 8x4x6", {cube}},
      {"expand", expand({-1, 6}), "ab->ac sum b first a last b, movement: 4x6", {{4, 1}}},
      {"slice", slice({0}), "ab->_b whole a_ first b last a, movement: ?x6", one},
      {"pad", pad({0, 1}), "ab->__ whole ab__ last ab, none: ?x?", one},
      {"concatenate", concatenate(0), "_b,_b,_b->_b whole __ first b last _, movement alike: 12x6", three},
      {"stack", stack(0), "ab,ab,ab->_ab whole _ first ab, movement alike: 3x4x6", three},
      {"stack", stack(-1), "ab,ab->ab_ whole _ first ab, movement alike: 4x6x2", two},
      {"split", split(0, {1, 3}), "_b->_b,_b whole ___ first b last ___, movement: 1x6 3x6", one},
      {"unbind", unbind(0), "_b->b,b whole _ first b last _, movement: 6 6", {{2, 6}}},
      {"gather", gather(0), "ab,c->cb whole a last a, multilinear constant 1: 3x6", {x, {3}}},
      {"index_select", index_select(1), "ab,c->ac whole b last b, multilinear constant 1: 4x3", {x, {3}}},
      {"gather_nd", gather_nd, "abc,de->dc whole abe last abe, multilinear constant 1: 3x8", {cube, {3, 2}}},
      {"take_along_axis", take_along_axis(0), "ab,cb->cb whole a first b last a, multilinear constant 1: 4x6", two},
      {"scatter_nd_add",
       scatter_nd_add,
       "abc,de,dc->abc whole abde last de, additive constant 1: 4x6x8",
       {cube, {3, 2}, {3, 8}}},
      {"embedding", embedding(true), "ab,vh->abh whole v last v, multilinear constant 0: 4x6x6", {x, {8, 6}}},
      {"rope", rope(1, true), "sbhd->sbhd whole sd first bshd, none: 2x8x4x6", {heads}},
      {"rope", rope(1, true), "sbhd,bs->sbhd whole sd first bs, none: 2x8x4x6", {heads, {8, 2}}},
      {"rope",
       rope(3),
       "bshd,bshd,bshd,bs,bs->bshd,bshd,bshd whole sd first bs, none: 2x8x4x6 2x8x4x6 2x8x4x6",
       {heads, heads, heads, {2, 8}, {2, 8}}},
      {"update", update(1, {1, 0}), "ab,ab,_->ab,_, whole _ last ab_ loose _, none: 4x6 ? 1", {x, x, {1}}},
      {"replicated", replicated({1, 0}), "__,__->_, whole _ last _ loose _, none: ? 1", two},
      {"data_parallel",
       data_parallel({1, 3}),
       "b_->b,b__ whole _ first b last _ loose b_, none: ? "
       "?x?x?",
       {x}},
      {"elementwise", elementwise, "ab,ab->ab first ab repeated ab, none: ?x6", {{dynamic, 6}, {1, 6}}},
      {"elementwise", elementwise, "ab,b->ab first ab repeated ab, none: 4x6", {{4, 1}, {6}}},
      {"where", where, "ab,b,ab->ab first ab repeated ab, additive constant 0: 4x6", {x, {1}, {4, 1}}},
      {"attention",
       attention,
       "bshd,bthd,bthe,____->bshe,bhst,bhs whole stde____ last tde____, none: 2x8x4x6 2x4x8x8 2x4x8",
       {heads, heads, heads, {2, 1, 8, 8}}},
      {"sequence_parallel_attention",
       sequence_parallel_attention,
       "bshd,bthd,bthe,__->bshe,bhst,bhs whole tde__ last tde__, none: 2x8x4x6 2x4x8x8 2x4x8",
       {heads, heads, heads, {8, 8}}},
      {"rope",
       rope(1),
       "bshd,____,____->bshd whole sd________ last ________, none: 2x8x4x6",
       {heads, {1, 8, 1, 6}, {1, 8, 1, 6}}},
      {"linear", linear, "...i,oi->...o sum i last i, multilinear: 4x6x3", {cube, {3, 8}}},
      {"linear_weight_gradient",
       linear_weight_gradient,
       "...k,...n->kn,n sum k last k, multilinear result 1 without 0: 8x3 3",
       {cube, {4, 6, 3}}},
      {"expert_dispatch",
       expert_dispatch(1, 5),
       "sh,s_->ech,sk,ks,sk whole s_ck last sh_eck, none: 2x5x6 8x1 1x8 8x1",
       {{8, 6}, {8, 2}}},
      {"expert_combine",
       expert_combine,
       "rh,sk,sk->sh sum k whole r last rk, multilinear constant 2: 8x6",
       {{10, 6}, {8, 1}, {8, 1}}},
      {"split_evenly", split_evenly(0, 2), "_b->_b,_b whole __ first b last _, movement: 2x6 2x6", one},
      {"elementwise_in_dimensions",
       elementwise_in_dimensions({-1}),
       "b,ab->ab first ab repeated ab, none: 4x6",
       {{6}, x}},
      {"elementwise_in_dimensions",
       elementwise_in_dimensions({2, 0}),
       "abc,ca->abc first abc repeated abc, none: 4x6x8",
       {cube, {8, 4}}},
      {"elementwise_in_dimensions", elementwise_in_dimensions({0}), "ab,ab->ab first ab repeated ab, none: 4x6", two},
      {"matmul",
       matmul,
       "abmk,bkn->abmn sum k first ab last k repeated ab, multilinear: 2x5x4x8",
       {{2, 5, 4, 6}, {5, 6, 8}}},
      {"matmul", matmul, "k,akn->an sum mk first a last mk repeated a, multilinear: 2x8", {{6}, {2, 6, 8}}},
      {"matmul_bias",
       matmul_bias(),
       "amk,kn,n->amn whole k first a last k repeated a, none: 2x4x8",
       {{2, 4, 6}, y, {8}}},
      {"depthwise_convolution",
       depthwise_convolution,
       "ng__,(gm)1__->n(gm)__ whole ______ first g last ____ together gm, multilinear: 4x12x?x?",
       {image, {12, 1, 3, 3}}},
      {"grouped_convolution",
       grouped_convolution(4),
       "n(gc)__,gc__->ng__ whole c______ first g last c____ together gc, multilinear: 2x4x?x?",
       {{2, 8, 5, 5}, {4, 2, 3, 3}}},
      {"sum", sum({0, -1}), "abc->b sum ac first b last ac, additive: 6", {cube}},
      {"along",
       [] {
         operation o = rules::along({});
         o.with.keep = true;
         return o;
       }(),
       "ab->ab whole ab first ab, none: 4x6", one},
      {"along", rules::along({0}), "ab,ab->ab whole a first ab, none: 4x6", two},
      {"softmax", softmax(), "->, none: 1", {shape_list{}}},
      {"cross_entropy_with_softmax",
       cross_entropy_with_softmax(),
       "ab,a1->ab,a1 itself b first a last b, none: 4x6 4x1",
       {x, {4, 1}}},
      {"cross_entropy_with_softmax",
       cross_entropy_with_softmax(-1, false, false),
       "ab,a->ab,a1 whole b first a last b, none: 4x6 4x1",
       {x, {4}}},
      {"cross_entropy_with_softmax", cross_entropy_with_softmax(0, true),
       "ab,ab->ab,1b whole a first b last a, none: 4x6 1x6", two},
      {"rms_norm", rms_norm(), "ab->ab,a whole b first a last b, none: 4x6 4", one},
      {"instance_norm",
       instance_norm,
       "ng_->ng_,ng,ng whole _ first ng last _, none: 4x?x5 4x? 4x?",
       {shape_list{std::size_t{4}, dynamic, std::size_t{5}}}},
      {"flatten", flatten(), "->a whole a, movement: 1", {shape_list{}}},
      {"squeeze", squeeze({0}), "1bc->bc sum a first bc last a, movement: 4x1", {{1, 4, 1}}},
      {"squeeze", squeeze({-1, 0}), "1b1->b sum ac first b last ac, movement: 4", {{1, 4, 1}}},
      {"expand", expand({6}), "ab->ab first ab, movement: 4x6", one},
      {"expand", expand({5, -1, 6}), "ab->cab first ab, movement: 5x1x6", {{1, 6}}},
      {"tile", tile({2}), "ab->ac whole bc first a last b, movement: 4x12", one},
      {"tile", tile({3, 1, 1}), "ab->cab first ab, movement: 3x4x6", one},
      {"slice", slice({-1}, {3}), "ab->a_ whole b_ first a last b, movement: 4x3", one},
      {"slice", slice({1, 0}, {5}), "ab->__ whole ab__ last ab, movement: ?x5", one},
      {"slice", slice({1, 0}, {5, 3}), "ab->__ whole ab__ last ab, movement: 3x5", one},
      {"pad", pad({-2, 1}, {9, 7}), "ab->__ whole ab__ last ab, none: 9x7", one},
      {"topk", topk(0, 3), "ab->_b,_b whole a__ first b last a__, none: 3x6 3x6", one},
      {"concatenate", concatenate(-1), "a_,a_->a_ whole ___ first a last __, movement alike: 4x8", {x, {4, 2}}},
      {"concatenate", concatenate(1), "a_->a_ whole __ first a last _, movement alike: 4x6", one},
      {"unbind", unbind(-1), "a_->a,a whole _ first a last _, movement: 4 4", {{4, 2}}},
      {"gather", gather(0), "ab,cd->cdb whole a last a, multilinear constant 1: 3x5x6", {x, {3, 5}}},
      {"gather", gather(1), "ab,->a whole b last b, multilinear constant 1: 4", {x, shape_list{}}},
      {"gather_nd", gather_nd, "ab,c->ab whole c last c, multilinear constant 1: 4x6", {x, {0}}},
      {"take_along_axis", take_along_axis(1), "ab,cd->cd whole abc last ab, multilinear constant 1: 3x5", {x, {3, 5}}},
      {"put_along_axis", put_along_axis(1), "ab,__,__->ab whole ab__ last __, none: 4x6", {x, {3, 2}, {3, 2}}},
      {"scatter", scatter, "ab,,b->ab whole ai last i, none following 0: 4x6", {x, shape_list{}, {6}}},
      {"scatter", scatter, "ab,,ib->ab whole ai last i, none following 0: 4x6", {x, shape_list{}, {1, 6}}},
      {"scatter", scatter, "ab,i_,ib->ab whole ai_ last i_, none following 0: 4x6", {x, {3, 1}, {3, 6}}},
      {"index_put", index_put, "abc,d,d,dc->abc whole abd last d, none: 4x6x8", {cube, {3}, {3}, {3, 8}}},
      {"embedding", embedding(), "a,vh->ah sum v last v, multilinear constant 0: 4x6", {{4}, {8, 6}}},
      {"expert_dispatch",
       expert_dispatch(1, 0),
       "sh,s_->ech,sk,ks,sk whole s_ck last sh_eck, none: 2x?x6 8x1 1x8 8x1",
       {{8, 6}, {8, 2}}},
      {"update", update(1), "ab,__->ab whole _ last _ loose _, none: 4x6", {x, {4, 1}}},
  };
}

}  // namespace partita::rules

namespace {

using partita::rules::twins;

template <class List>
bool same(const List& a, const List& b) {
  return a == b;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(operations_by_name)

BOOST_AUTO_TEST_CASE(a_name_propagates_as_the_function_of_that_name) {
  const registry known = registry::standard();
  const mesh m{axis("a", 2), axis("b", 2)};
  std::mt19937_64 random(7);
  for (const twin& t : twins()) {
    BOOST_TEST_CONTEXT(t.name) {
      BOOST_TEST(known.knows(t.name));
      if (!known.knows(t.name)) continue;
      const shape_span shapes(t.shapes.data(), t.shapes.size());
      const rule named = known(t.name, shapes, t.with), made = t.made(shapes);
      BOOST_TEST(std::string(t.made.name) == t.name);
      std::size_t cut = 0;
      for (std::size_t k = 0; k < 20; ++k) {
        std::vector<spec> operands;
        for (const shape_list& s : t.shapes)
          operands.emplace_back(simulated::random_sharding(m, s.size(), random, {pending_reduction::sum}), s);
        const propagation a = propagate(m, named, operands), b = propagate(m, made, operands);
        BOOST_TEST((same(a.operands, b.operands) && same(a.results, b.results) && same(a.reshards, b.reshards)));
        for (const sharding& s : a.results) cut += s.cut_axes() != 0;
      }
      BOOST_TEST((cut > 0 || std::string(t.name) == "replicated" || std::string(t.name) == "p_norm" ||
                  std::string(t.name) == "mean"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rule_is_its_definition) {
  for (const std::vector<twin>& all : {twins(), partita::rules::with_other_parameters()})
    for (const twin& t : all) {
      const shape_span shapes(t.shapes.data(), t.shapes.size());
      BOOST_TEST(described(t.made(shapes), shapes) == t.definition, t.name);
    }
}

BOOST_AUTO_TEST_CASE(a_notation_is_its_definition) {
  const auto is = [](const char* notation, const char* definition) {
    BOOST_TEST(described(rule(notation), shape_span()) == definition);
  };
  is("(ab)c->a(bc)", "(ab)c->a(bc) first abc together abc, multilinear");
  is("(ab)(cd)->a(bc)d", "(ab)(cd)->a(bc)d first abcd together abcd, multilinear");
  is("a(bc)(de)->(ab)cd(e)", "a(bc)(de)->(ab)cde first abcde together de together abc, multilinear");
  is("...k,k->...", "...k,k->... sum k last k, multilinear");
  is("a...,b...->ab...", "a...,b...->ab..., multilinear");
  is("a1b_,b->a1b", "a1b_,b->a1b whole _ first b last _, multilinear");
  is("aZ,Zb->b", "aZ,Zb->b sum aZ last aZ, multilinear");
  is("->", "->, multilinear");
  is("(ab),(cd)->(ab)(cd)", "(ab),(cd)->(ab)(cd) together ab together cd, multilinear");
  is("abc,abd->bcd", "abc,abd->bcd sum a first b last a, multilinear");
}

/// Many operands take no more room than a few, and are what they are.
BOOST_AUTO_TEST_CASE(tensors_of_equal_dimensions_share_them) {
  for (const std::size_t n : {2U, 8U, 9U, 40U}) {
    const std::vector<shape_list> shapes(n, shape_list{4, 6, 5});
    const rule made = rules::add_n(shape_span(shapes.data(), n));
    BOOST_TEST(made.dimension_count <= 3 * (rule::tensors_with_own_dimensions + 2));
    BOOST_TEST(made.operand_count == n);
    for (std::size_t t = 0; t <= n; ++t) {
      BOOST_TEST(made.rank(t) == 3U);
      for (std::size_t d = 0; d < 3; ++d)
        BOOST_TEST((made.at(t, d) == made.at(0, d) || t < rule::tensors_with_own_dimensions));
      BOOST_TEST(made.factors_of(t) == 7U);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_name_of_the_list_is_held_against_its_function) {
  // (those that have no function of their own are other names of one: negate, argmin, log_softmax, prod, any, all)
  const std::vector<std::string> aliases{"negate", "argmin", "log_softmax", "prod", "any", "all"};
  const std::vector<twin> all = twins();
  for (const operation& one : detail::standard_operations) {
    const bool is_held =
        std::any_of(all.begin(), all.end(), [&](const twin& t) { return std::string(t.name) == one.name; });
    const bool is_alias = std::find(aliases.begin(), aliases.end(), one.name) != aliases.end();
    BOOST_TEST(is_held != is_alias, one.name);
  }
}

BOOST_AUTO_TEST_CASE(functions_without_known_properties_are_known_by_their_names) {
  const char* const names[] = {"abs",     "ceil",       "clip",  "cos",  "dropout",    "equal",       "exp",
                               "gelu",    "greater",    "floor", "less", "logical_or", "logical_and", "logical_not",
                               "minimum", "less_equal", "pow",   "log",  "rsqrt",      "not_equal",   "greater_equal",
                               "sigmoid", "silu",       "sin",   "sqrt", "square",     "swiglu",      "tanh"};
  const registry known = registry::standard();
  const std::vector<shape_list> two{{4, 6}, {6}};
  const shape_span shapes(two.data(), 2);
  for (const char* const name : names) {
    BOOST_TEST(known.knows(name), name);
    if (known.knows(name)) BOOST_TEST((known(name, shapes) == rules::elementwise(shapes).named(name)), name);
  }
  BOOST_TEST(known.size() == std::size(detail::standard_operations) + std::size(names));
}

BOOST_AUTO_TEST_CASE(an_order_names_each_dimension_once) {
  const std::vector<shape_list> matrix{{6, 4}};
  const shape_span shapes(matrix.data(), matrix.size());
  BOOST_TEST(std::string(rules::transpose({1, -2})(shapes).name()) == "transpose");
  BOOST_CHECK_THROW(rules::transpose({0, 0})(shapes), shape_error);
  BOOST_CHECK_THROW(rules::transpose({1, -1})(shapes), shape_error);
  BOOST_CHECK_THROW(rules::transpose({1})(shapes), shape_error);
}

/// An extent that is not known makes extents of results unknown, or leaves them as they are; it counts as no number.
BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_is_not_known_in_results) {
  std::size_t unknown = 0, refused = 0;
  for (const twin& t : twins()) {
    const auto results = [&](const std::vector<shape_list>& shapes) {
      const shape_span all(shapes.data(), shapes.size());
      const rule made = bind_shapes(t.made(all), all);
      std::vector<shape_list> out;
      for (std::size_t j = 0; j < made.result_count; ++j) out.push_back(result_shape(made, j));
      return out;
    };
    const std::vector<shape_list> whole = results(t.shapes);
    for (std::size_t i = 0; i < t.shapes.size(); ++i)
      for (std::size_t d = 0; d < t.shapes[i].size(); ++d)
        BOOST_TEST_CONTEXT(t.name << " of operand " << i << ", " << d) {
          std::vector<shape_list> shapes = t.shapes, found;
          if (shapes[i][d] == 1) continue;  // what is 1 may be left out, or repeated
          shapes[i][d] = dynamic;
          try {
            found = results(shapes);
          } catch (const shape_error&) {  // it must be known
            ++refused;
            continue;
          }
          BOOST_REQUIRE(found.size() == whole.size());
          for (std::size_t j = 0; j < found.size(); ++j) {
            BOOST_REQUIRE(found[j].size() == whole[j].size());
            for (std::size_t e = 0; e < found[j].size(); ++e) {
              BOOST_TEST((found[j][e] == whole[j][e] || found[j][e] == dynamic));
              unknown += found[j][e] != whole[j][e];
            }
          }
        }
  }
  BOOST_TEST(unknown > 60U);
  BOOST_TEST(refused < 20U);
}

BOOST_AUTO_TEST_CASE(what_is_sharded_as_a_batch_is_the_first_dimension_of_each_tensor) {
  const std::vector<shape_list> two{{4, 6}, {4}};
  const shape_span shapes(two.data(), 2);
  BOOST_TEST(((text() << "" << rules::data_parallel({3, 0, 1})(shapes)) == "b_,b->b__,,b"));
  BOOST_TEST(((text() << "" << rules::replicated({3, 0, 1})(shapes)) == "__,_->___,,_"));
}

/// Given lists and counts replace those of the operation, switches are added, and the kind is used where it is asked
/// for.
BOOST_AUTO_TEST_CASE(each_attribute_that_is_given_by_name_reaches_the_operation_and_no_other_changes) {
  const auto values = [](const attributes& of) {
    text all;
    all << of.axes << ' ' << of.sizes << (of.keep ? " keep" : "") << (of.x ? " x" : "") << (of.y ? " y" : "") << ' '
        << of.count << ' ' << name_of(of.kind);
    return std::string(all.c_str());
  };
  for (std::size_t own = 0; own < 64; ++own)
    for (std::size_t given = 0; given < 64; ++given)
      for (const bool uses_kind : {false, true}) {
        const auto made = [](std::size_t bits, std::ptrdiff_t n, pending_reduction kind) {
          attributes with;
          if (bits & 1U) with.axes = {n};
          if (bits & 2U) with.sizes = {n + 1, n + 2};
          if (bits & 4U) with.count = static_cast<std::size_t>(n + 3);
          with.keep = (bits & 8U) != 0, with.x = (bits & 16U) != 0, with.y = (bits & 32U) != 0;
          with.kind = kind;
          return with;
        };
        attributes expected = made(own, 10, pending_reduction::max);
        const operation one{"one", nullptr, expected};
        const attributes replacing = made(given, 20, pending_reduction::prod);
        if (given & 1U) expected.axes = replacing.axes;
        if (given & 2U) expected.sizes = replacing.sizes;
        if (given & 4U) expected.count = replacing.count;
        if (given & 8U) expected.keep = true;
        if (given & 16U) expected.x = true;
        if (given & 32U) expected.y = true;
        if (uses_kind) expected.kind = pending_reduction::prod;
        BOOST_TEST(values(one.with_attributes(replacing, uses_kind).with) == values(expected));
      }
}

BOOST_AUTO_TEST_CASE(other_names_stand_for_what_they_say) {
  const registry known = registry::standard();
  const shape_list x{4, 6};
  BOOST_TEST((known("log_softmax", {x}).named("") == rules::softmax()({x}).named("")));
  BOOST_TEST((known("argmin", {x}).named("") == rules::argmax()({x}).named("")));
  BOOST_TEST((known("negate", {x}).named("") == rules::scale({x}).named("")));
  BOOST_TEST((known("prod", {x}).named("") == rules::reduction(pending_reduction::prod)({x}).named("")));
  BOOST_TEST((known("tanh", {x}).named("") == rules::elementwise({x}).named("")));
}

BOOST_AUTO_TEST_SUITE_END()
