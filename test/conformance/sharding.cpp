// Sharding propagation: what the SPMD rules of PaddlePaddle's tests infer, held against the rules of the library.
//
// Shapes of results are computed by the rule, not read: what a record says of a result is its mapping. Departures are
// named in docs/departures-sharding.md.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <partita/rule/sharding/rules.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver.hpp"
#include "readers.hpp"

namespace {

using conformance::tally;
using nlohmann::json;
using namespace partita;

using axes_vector = std::vector<std::vector<int>>;  // for each dimension the mesh axes that cut it

// --- what a record says ---

bool is_absent(const json& tensor) { return tensor.at("shape").is_null(); }

shape_list shape_of(const json& tensor) {
  shape_list shape;
  for (const auto& extent : tensor.at("shape"))
    shape.push_back(extent.get<std::ptrdiff_t>() < 0 ? dynamic : extent.get<std::size_t>());
  return shape;
}
axes_vector axes_of(const json& mapping) {
  axes_vector all;
  for (const auto& entry : mapping) {
    if (entry.is_array()) all.push_back(entry.get<std::vector<int>>());
    else if (entry.get<int>() < 0) all.emplace_back();
    else all.push_back({entry.get<int>()});
  }
  return all;
}
axes_vector axes_of(const sharding& s) {
  axes_vector all(s.rank());
  for (std::size_t d = 0; d < s.rank(); ++d)
    for (std::size_t k = 0; k < s[d].size(); ++k) all[d].push_back(static_cast<int>(s[d][k]));
  return all;
}
pending_reduction kind_of(const std::string& name) {
  for (int k = 0; k <= static_cast<int>(pending_reduction::all); ++k)
    if (name == name_of(static_cast<pending_reduction>(k))) return static_cast<pending_reduction>(k);
  throw std::runtime_error("has the unknown reduction " + name);
}
/// A mapping that names a mesh axis twice, on purpose, as the reference reads it: the axis stays with the first of the
/// dimensions that want it, or with the largest.
void keep_axes_once(axes_vector& axes, const shape_list& shape, bool largest) {
  std::map<int, std::size_t> owner;
  for (std::size_t d = 0; d < axes.size(); ++d)
    for (const int a : axes[d])
      if (const auto [at, is_new] = owner.emplace(a, d); !is_new && largest && shape[d] > shape[at->second])
        at->second = d;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    std::set<int> kept;
    std::erase_if(axes[d], [&](int a) { return owner.at(a) != d || !kept.insert(a).second; });
  }
}
/// A tensor of this shape as the record places it; nothing is known of it without a mapping. Where a mapping is
/// `ambiguous` it may name an axis twice; a tensor is not partial over an axis that cuts it.
spec spec_of(const mesh& m, const json& tensor, const shape_list& shape, bool ambiguous, bool largest) {
  if (tensor.is_null() || tensor.at("dims_mapping").is_null()) return spec(shape);
  axes_vector axes = axes_of(tensor.at("dims_mapping"));
  if (shape.empty() && axes == axes_vector(1)) axes.clear();  // a scalar that is said to have a dimension
  if (ambiguous && axes.size() == shape.size()) keep_axes_once(axes, shape, largest);
  sharding layout(m, axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    axis_list by;
    for (const int a : axes[d]) by.push_back(m.checked_axis(static_cast<std::size_t>(a)));
    layout = layout.cut(d, by);
  }
  if (tensor.contains("partial"))
    for (const auto& [axis, kind] : tensor.at("partial").items())
      if ((layout.cut_axes() >> std::stoul(axis) & 1U) == 0) layout = layout.partial(std::stoul(axis), kind_of(kind));
  return spec(layout, shape);
}

// --- the call a record asks for ---

constexpr std::size_t not_passed = most_operands;

/// A rule, and which operand of the record is which of the rule's; those that carry a shape only are not passed.
struct call {
  rule made;
  std::vector<std::size_t> position;  ///< of each operand of the record
};

/// The name of an operation without what generations of the reference put to it: an underscore for in place, a version.
std::string plain_name(std::string name) {
  static const std::map<std::string, std::string> known = {{"reshape2", "reshape"},
                                                           {"squeeze2", "squeeze"},
                                                           {"unsqueeze2", "unsqueeze"},
                                                           {"transpose2", "transpose"},
                                                           {"flatten2", "flatten"},
                                                           {"flatten_contiguous_range", "flatten"},
                                                           {"expand_v2", "expand"},
                                                           {"expand_as_v2", "expand_as"},
                                                           {"top_k", "topk"},
                                                           {"top_k_v2", "topk"},
                                                           {"arg_max", "argmax"},
                                                           {"arg_min", "argmin"},
                                                           {"fill_any_like", "full_like"},
                                                           {"one_hot_v2", "one_hot"},
                                                           {"elementwise_floordiv", "floor_divide"},
                                                           {"elementwise_mod", "remainder"},
                                                           {"fused_rotary_position_embedding", "fused_rope"},
                                                           {"flash_attn", "flash_attention"},
                                                           {"fused_rms_norm", "rms_norm"},
                                                           {"linear_v2", "fused_gemm_epilogue"},
                                                           {"triu_triu", "tril_triu"},
                                                           {"tril", "tril_triu"}};
  const bool is_gradient = name.ends_with("_grad");
  if (is_gradient) name.resize(name.size() - 5);
  static const std::set<std::string> optimisers = {"sgd_", "momentum_", "adam_", "adamw_"};
  if (name.ends_with('_') && !optimisers.contains(name)) name.pop_back();
  if (const auto found = known.find(name); found != known.end()) name = found->second;
  return is_gradient ? name + "_grad" : name;
}

struct record {
  const json& all;
  const json& inputs = all.at("inputs");
  const json& attributes = all.at("attrs");
  std::string name = plain_name(all.at("rule"));

  std::size_t count() const { return inputs.size(); }
  /// The shape of operand i. Some records carry one that the operation would refuse, as the reference does not look at
  /// it: such an extent is taken from the operand that it must fit.
  shape_list shape(std::size_t i) const {
    shape_list s = shape_of(inputs.at(i));
    const auto axis = [&](std::ptrdiff_t otherwise) {
      return detail::checked_dimension(integer("axis", otherwise), s.size(), "conformance");
    };
    // labels: probabilities of all classes, or one number for each place; a gradient has them first, then softmax and
    // the gradient of the loss
    const bool of_entropy = name == "cross_entropy_with_softmax" || name == "softmax_with_cross_entropy",
               of_gradient = name == "cross_entropy_with_softmax_grad" || name == "softmax_with_cross_entropy_grad";
    const std::size_t labels = of_entropy ? 1 : 0, scores = of_entropy ? 0 : 1;
    const bool of_place = (of_entropy && i == 1) || (of_gradient && i != 1);
    if (of_place && s.size() == rank(scores)) {
      const std::size_t c = axis(-1);
      s = shape_of(inputs.at(scores));
      if (i != labels || !flag("soft_label")) s[c] = 1;
    }
    if (name == "matmul" && i == 1 && all.value("shape_conflict", false)) {
      const shape_list x = shape_of(inputs.at(0));
      s[s.size() - (flag("trans_y") ? 1 : 2)] = x[x.size() - (flag("trans_x") ? 2 : 1)];
    }
    if (name == "concat" && i > 0)
      for (std::size_t d = 0; d < s.size(); ++d)
        if (d != axis(0)) s[d] = shape_of(inputs.at(0))[d];
    if (name == "take_along_axis_grad" && i == 2) s = shape_of(inputs.at(1));
    return s;
  }
  std::size_t rank(std::size_t i) const { return inputs.at(i).at("shape").size(); }
  std::vector<shape_list> shapes(std::size_t first, std::size_t last) const {
    std::vector<shape_list> some;
    for (std::size_t i = first; i < last; ++i) some.push_back(shape(i));
    return some;
  }
  // An attribute that is null, or an empty list where a number is asked for, is as if it were not there; a list of one
  // entry is the entry, and a number the list of it.
  std::ptrdiff_t integer(const char* key, std::ptrdiff_t otherwise) const {
    const attributes::list entries = list(key);
    return entries.empty() ? otherwise : entries[0];
  }
  bool flag(const char* key, bool otherwise = false) const { return integer(key, otherwise ? 1 : 0) != 0; }
  attributes::list list(const char* key) const {
    attributes::list entries;
    const auto found = attributes.find(key);
    if (found == attributes.end() || found->is_null()) return entries;
    const auto add = [&](const json& entry) {
      if (entry.is_boolean()) entries.push_back(entry.get<bool>() ? 1 : 0);
      else if (entry.is_number()) entries.push_back(entry.get<std::ptrdiff_t>());
      else throw std::runtime_error(std::string("has the attribute ") + key + " = " + found->dump());
    };
    if (found->is_array()) std::for_each(found->begin(), found->end(), add);
    else add(*found);
    return entries;
  }
  /// Whether some operand is cut along dimension d.
  bool is_cut(std::size_t i, std::size_t d) const {
    const json& mapping = inputs.at(i).at("dims_mapping");
    return !mapping.is_null() && d < mapping.size() && !axes_of(mapping)[d].empty();
  }
};

using partita::attributes;

rule made(const operation& op, const std::vector<shape_list>& shapes) {
  const shape_span all(shapes.data(), shapes.size());
  return bind_shapes(op(all), all);
}
/// Operands in the order of the record.
call in_order(const rule& r) {
  call c{r, {}};
  for (std::size_t i = 0; i < r.operand_count; ++i) c.position.push_back(i);
  return c;
}
call of(const operation& op, const record& c) { return in_order(made(op, c.shapes(0, c.count()))); }
/// Only those operands of the record that are there, scalars left out if `scalars` is false.
std::vector<std::size_t> present(const record& c, bool scalars) {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < c.count(); ++i)
    if (!is_absent(c.inputs[i]) && (scalars || c.rank(i) > 0)) there.push_back(i);
  return there;
}
/// The k-th operand of the rule is operand there[k] of the record.
call passing(const rule& r, const std::vector<std::size_t>& there, std::size_t count) {
  call c{r, std::vector<std::size_t>(count, not_passed)};
  for (std::size_t k = 0; k < there.size(); ++k) c.position[there[k]] = k;
  return c;
}
std::vector<shape_list> shapes_at(const record& c, const std::vector<std::size_t>& there) {
  std::vector<shape_list> some;
  for (const std::size_t i : there) some.push_back(c.shape(i));
  return some;
}
attributes::list ranks_of_outputs(const record& c) {
  attributes::list ranks;
  for (const auto& output : c.all.at("outputs"))
    ranks.push_back(static_cast<std::ptrdiff_t>(output.at("shape").size()));
  return ranks;
}

operation reduction_of(const record& c) {
  const bool keep = c.flag("keep_dim") || c.flag("keepdims");
  const bool all = c.flag("reduce_all") || c.flag("asvector");
  const attributes::list axes = all ? attributes::list() : c.list("axis");
  if (c.name == "logsumexp" || c.name == "p_norm") return rules::whole_reduction(axes, keep);
  if (c.name == "squared_l2_norm" || c.name == "numel" || c.name == "frobenius_norm")
    return rules::sum_of_function(axes, keep);
  static const std::map<std::string, pending_reduction> kinds = {
      {"max", pending_reduction::max},         {"reduce_max", pending_reduction::max},
      {"amax", pending_reduction::max},        {"reduction", pending_reduction::max},
      {"min", pending_reduction::min},         {"amin", pending_reduction::min},
      {"reduce_min", pending_reduction::min},  {"mean", pending_reduction::avg},
      {"reduce_mean", pending_reduction::avg}, {"mean_all", pending_reduction::avg},
      {"prod", pending_reduction::prod},       {"reduce_prod", pending_reduction::prod},
      {"all", pending_reduction::all},         {"reduce_all", pending_reduction::all},
      {"any", pending_reduction::any},         {"reduce_any", pending_reduction::any},
      {"sum", pending_reduction::sum},         {"reduce_sum", pending_reduction::sum}};
  return rules::reduction(kinds.at(c.name), axes, keep);
}
operation expansion_of(const record& c) { return rules::expand(c.list("shape")); }
operation cross_entropy_of(const record& c) {
  const std::ptrdiff_t axis = c.integer("axis", -1), rank = static_cast<std::ptrdiff_t>(c.rank(0));
  const bool last = axis == -1 || axis == rank - 1;
  // the reference has two rules of this name: its C++ tests call that of the dynamic mode, which gathers the classes
  const bool dynamic_mode = c.all.at("source").get<std::string>().find("test/cpp/") != std::string::npos;
  return rules::cross_entropy_with_softmax(axis, c.flag("soft_label"),
                                           last && !dynamic_mode && c.flag("use_softmax", true));
}
operation padding_of(const record& c) {
  attributes::list touched;
  const auto paddings = c.list("paddings");
  for (std::size_t k = 0; k + 1 < paddings.size(); k += 2)
    if (paddings[k] != 0 || paddings[k + 1] != 0) touched.push_back(static_cast<std::ptrdiff_t>(k / 2));
  return rules::pad(touched);
}
operation split_of(const record& c) {
  if (c.name == "split_with_num")
    return rules::split_evenly(c.integer("axis", 0), static_cast<std::size_t>(c.integer("num", 1)));
  return rules::split(c.integer("axis", 0), c.list("sections"));
}
operation rolling(const record& c) {
  attributes::list axes = c.list("axis");
  if (axes.empty())
    for (std::size_t d = 0; d < c.rank(0); ++d) axes.push_back(static_cast<std::ptrdiff_t>(d));
  return rules::roll(axes);
}
operation matmul_of(const record& c) { return rules::matmul_transposed(c.flag("trans_x"), c.flag("trans_y")); }
operation embedding_of(const record& c) {
  return rules::embedding(c.flag("sparse") || c.integer("padding_idx", -1) != -1);
}
operation transposed_convolution_of(const record& c) {
  return rules::transposed_convolution(static_cast<std::size_t>(c.integer("groups", 1)));
}
operation cumulation_of(const record& c) {
  return c.flag("flatten") ? rules::replicated({1}) : rules::cumsum(c.integer("axis", 0));
}
/// Updates as many as indices: the records give other shapes, which no scatter accepts.
std::vector<shape_list> scattered(const record& c, std::size_t index, std::size_t updates, std::size_t x) {
  shape_list written = c.shape(updates);
  if (!written.empty() && c.rank(index) > 0) written[0] = c.shape(index)[0];
  return {c.shape(x), c.shape(index), written};
}

/// images, boxes, the number of boxes in each image -> a region for each box: channels are each for themselves.
rule regions_of_interest() { return rule("nchw,rx,n->rcpq").replicate("nhwrxpq").linear_in({0}).named("roi_align"); }
operation dispatch_of(const record& c) {
  return rules::expert_dispatch(static_cast<std::size_t>(c.integer("k", 1)),
                                static_cast<std::size_t>(c.integer("capacity", 0)));
}

using call_maker = std::function<call(const record&)>;

/// One operation on all operands.
call_maker simply(operation (*op)(const record&)) {
  return [op](const record& c) { return of(op(c), c); };
}
call_maker simply(const operation& op) {
  return [op](const record& c) { return of(op, c); };
}
/// The gradient of an operation on the first `operands` operands of the record.
call_maker gradient_of(operation (*op)(const record&), std::size_t operands, gradient_parts parts,
                       std::initializer_list<std::size_t> followers = {},
                       std::initializer_list<std::size_t> unread = {}) {
  return [op, operands, parts, followers = std::vector(followers), unread = std::vector(unread)](const record& c) {
    rule r = gradient(made(op(c), c.shapes(0, operands)), parts);
    for (const std::size_t i : followers) r = r.with_low_priority({i});
    for (const std::size_t i : unread) r = r.with_shape_only_operands({i});
    return in_order(r);
  };
}
/// The gradient of an operation of two operands: these, the result if the record has it, and its gradient. A second
/// operand that is absent has no gradient.
call_maker gradient_of_two(const operation& op) {
  return [op](const record& c) {
    const auto there = present(c, true);
    const bool one = is_absent(c.inputs.at(1));
    const std::size_t operands = one ? 1 : 2;
    const auto forward = shapes_at(c, {there.begin(), there.begin() + static_cast<std::ptrdiff_t>(operands)});
    const rule g = gradient(made(op, forward), {.results = there.size() - operands - 1});
    return passing(g, there, c.count());
  };
}
/// The gradient of a reduction: x, the result if the record has it, the result's gradient.
call gradient_of_reduction(const record& c) {
  record forward = c;
  forward.name.resize(c.name.size() - 5);
  // an element's gradient follows from the element, the result and its gradient: it may be cut where the result may not
  if (forward.name == "logsumexp" || forward.name == "p_norm") forward.name = "squared_l2_norm";
  const rule g = gradient(made(reduction_of(forward), c.shapes(0, 1)), {.results = c.count() - 2});
  return in_order(g.with_low_priority({0}));
}
/// labels, softmax, gradient of the loss -> gradient of the scores; the classes are whole unless they may be cut.
call gradient_of_cross_entropy(const record& c, std::size_t label, std::size_t softmax, bool cut_classes) {
  const operation op = rules::cross_entropy_with_softmax(c.integer("axis", -1), c.flag("soft_label"), cut_classes);
  const std::vector<shape_list> forward{c.shape(softmax), c.shape(label)};
  const rule g =
      gradient(made(op, forward), {.operands = 2, .results = 1, .result_gradients = 2, .operand_gradients = 1});
  return passing(g, {label, softmax, std::size_t{2}}, c.count());
}
/// What a tensor is called by the others of its operation: all of them have its shape.
call along_all(const record& c, std::ptrdiff_t axis, std::size_t results) {
  return in_order(made(rules::along({axis}, results), c.shapes(0, c.count())));
}
/// One unknown extent of a tensor that has as many elements as a known other is what is left.
void fill_unknown(shape_list& some, const shape_list& known) {
  std::size_t unknown = 0, left = 1, at = 0;
  for (const std::size_t extent : known) {
    if (extent == dynamic) return;
    left *= extent;
  }
  for (std::size_t d = 0; d < some.size(); ++d) {
    if (some[d] == dynamic) ++unknown, at = d;
    else if (some[d] != 0) left /= some[d];
  }
  if (unknown == 1) some[at] = left;
}
/// The gradient of squeeze, unsqueeze, reshape and flatten: the first operand is x, or carries its shape after one
/// dimension that means nothing (of an extent of 0 or unknown).
call unshaped(const record& c) {
  shape_list x;
  const std::size_t leading = c.rank(0) == 0 ? 1 : c.shape(0)[0];
  const bool shape_alone = leading == 0 || leading == dynamic;
  for (std::size_t d = shape_alone ? 1 : 0; d < c.rank(0); ++d) x.push_back(c.shape(0)[d]);
  shape_list y = c.shape(1);
  fill_unknown(x, y);
  fill_unknown(y, x);
  return passing(gradient(reshape_rule(x, y), {.operands = 0}), {1}, c.count());
}

const std::map<std::string, call_maker>& calls() {
  using r = const record&;
  static const std::map<std::string, call_maker> known = {
      {"add", simply(rules::add)},
      {"subtract", simply(rules::subtract)},
      {"multiply", simply(rules::multiply)},
      {"divide", simply(rules::divide)},
      {"maximum", simply(rules::maximum)},
      {"greater_than", simply(rules::elementwise)},
      {"less_than", simply(rules::elementwise)},
      {"swiglu", simply(rules::elementwise)},
      {"relu", simply(rules::relu)},
      {"pow", simply(rules::elementwise)},
      {"full_like", simply(rules::elementwise)},
      {"scale", simply(rules::scale)},
      {"cast", simply(rules::cast)},
      {"assign", simply(rules::assign)},
      {"add_n", simply(rules::add_n)},
      {"where", simply(rules::where)},
      {"where_grad", gradient_of([](r) { return rules::where; }, 3, {.operand_gradients = 6})},
      {"add_grad", gradient_of([](r) { return rules::add; }, 2, {})},
      {"multiply_grad", gradient_of([](r) { return rules::multiply; }, 2, {})},
      {"matmul", simply(matmul_of)},
      {"matmul_grad", gradient_of(matmul_of, 2, {})},
      {"matmul_v2", simply(matmul_of)},
      {"matmul_v2_grad", gradient_of(matmul_of, 2, {})},
      {"fused_gemm_epilogue", [](r c) { return of(rules::matmul_bias(c.flag("trans_x"), c.flag("trans_y")), c); }},
      {"fused_gemm_epilogue_grad", gradient_of([](r c) {
         return rules::matmul_bias(c.flag("trans_x"), c.flag("trans_y"));
       }, 3, {})},
      {"bmm", simply(rules::matmul)},
      {"bmm_grad", gradient_of([](r) { return rules::matmul; }, 2, {})},
      {"fused_linear_param_grad_add",
       [](r c) {
         const std::vector<shape_list> shapes = c.shapes(0, 2);
         return passing(bind_shapes(rules::linear_weight_gradient({shapes.data(), 2}), {shapes.data(), 2}), {0, 1},
             c.count());
       }},
      {"conv2d", simply(rules::convolution)},
      {"conv3d", simply(rules::convolution)},
      {"conv2d_grad", gradient_of([](r) { return rules::convolution; }, 2, {})},
      {"conv3d_grad", gradient_of([](r) { return rules::convolution; }, 2, {})},
      {"depthwise_conv2d", simply(rules::depthwise_convolution)},
      {"depthwise_conv2d_grad", gradient_of([](r) { return rules::depthwise_convolution; }, 2, {})},
      {"conv2d_transpose", simply(transposed_convolution_of)},
      {"conv2d_transpose_grad", gradient_of(transposed_convolution_of, 2, {})},
      {"max", simply(reduction_of)},
      {"min", simply(reduction_of)},
      {"sum", simply(reduction_of)},
      {"mean", simply(reduction_of)},
      {"prod", simply(reduction_of)},
      {"all", simply(reduction_of)},
      {"any", simply(reduction_of)},
      {"reduce_max", simply(reduction_of)},
      {"reduce_min", simply(reduction_of)},
      {"reduce_mean", simply(reduction_of)},
      {"reduce_sum", simply(reduction_of)},
      {"reduce_all", simply(reduction_of)},
      {"reduce_any", simply(reduction_of)},
      {"squared_l2_norm", simply(reduction_of)},
      {"numel", simply(reduction_of)},
      {"mean_all", simply(reduction_of)},
      {"logsumexp", simply(reduction_of)},
      {"p_norm", simply(reduction_of)},
      {"reduction_grad",
       [](r c) {
         const rule forward = made(rules::max(c.flag("reduce_all") ? attributes::list() : c.list("axis"),
             c.flag("keep_dim")), c.shapes(0, 1));
         return in_order(gradient(forward, {.results = 1}).with_low_priority({0}));
       }},
      {"mean_all_grad", gradient_of([](r) { return rules::mean(); }, 1, {}, {0})},
      {"argmax", [](r c) {
         return of(rules::argmax(c.flag("flatten") ? attributes::list() : c.list("axis"), c.flag("keepdims")), c);
       }},
      {"argmin", [](r c) {
         return of(rules::argmax(c.flag("flatten") ? attributes::list() : c.list("axis"), c.flag("keepdims")), c);
       }},
      {"cummax", [](r c) { return of(rules::cummax(c.integer("axis", -1)), c); }},
      {"cummin", [](r c) { return of(rules::cummin(c.integer("axis", -1)), c); }},
      {"cummax_grad", gradient_of([](r c) { return rules::cummax(c.integer("axis", -1)); }, 1,
          {.results = 2, .result_gradients = 1})},
      {"cummin_grad", gradient_of([](r c) { return rules::cummin(c.integer("axis", -1)); }, 1,
          {.results = 2, .result_gradients = 1})},
      {"softmax", [](r c) { return along_all(c, c.integer("axis", -1), 1); }},
      {"log_softmax", [](r c) { return along_all(c, c.integer("axis", -1), 1); }},
      {"softmax_grad", [](r c) { return along_all(c, c.integer("axis", -1), 1); }},
      {"log_softmax_grad", [](r c) { return along_all(c, c.integer("axis", -1), 1); }},
      {"argsort", [](r c) { return along_all(c, c.integer("axis", -1), 2); }},
      {"argsort_grad", [](r c) { return along_all(c, c.integer("axis", -1), 1); }},
      {"cumsum", simply(cumulation_of)},
      {"cumsum_grad", gradient_of(cumulation_of, 1, {}, {}, {0})},
      {"roll", simply(rolling)},
      {"roll_grad", gradient_of(rolling, 1, {}, {0})},
      {"triu", simply(rules::triu())},
      {"tril_triu", simply(rules::triu())},
      {"triu_grad", simply(rules::triu())},
      {"tril_triu_grad", simply(rules::triu())},
      {"layer_norm", [](r c) { return of(rules::layer_norm(c.integer("begin_norm_axis", -1)), c); }},
      {"layer_norm_grad", gradient_of([](r c) { return rules::layer_norm(c.integer("begin_norm_axis", -1)); }, 3,
                                      {.results = 6, .result_gradients = 1})},
      {"rms_norm", simply(rules::rms_norm())},
      {"rms_norm_grad", gradient_of([](r) { return rules::rms_norm(); }, 2, {.results = 2, .result_gradients = 1})},
      {"group_norm", [](r c) { return of(rules::group_norm(static_cast<std::size_t>(c.integer("groups", 1))), c); }},
      {"group_norm_grad", gradient_of([](r c) {
         return rules::group_norm(static_cast<std::size_t>(c.integer("groups", 1)));
       }, 3, {.results = 7, .result_gradients = 1})},
      {"instance_norm", simply(rules::instance_norm)},
      {"instance_norm_grad", gradient_of([](r) { return rules::instance_norm; }, 3,
          {.results = 6, .result_gradients = 1})},
      {"batch_norm_grad", [](r c) {  // x, scale, bias, four statistics, the gradient of y
         const shape_list channels{c.shape(0).size() > 1 ? c.shape(0)[1] : dynamic};
         const std::vector<shape_list> forward{c.shape(0), channels, channels, channels, channels};
         const rule g = gradient(made(c.flag("is_test") ? rules::batch_norm_inference : rules::batch_norm, forward),
             {.results = c.flag("is_test") ? 0U : 24U, .result_gradients = 1, .operand_gradients = 25});
         return passing(g, present(c, true), c.count());
       }},
      {"batch_norm", [](r c) { return of(c.flag("is_test") ? rules::batch_norm_inference : rules::batch_norm, c); }},
      {"cross_entropy_with_softmax_grad", [](r c) { return gradient_of_cross_entropy(c, 0, 1, false); }},
      {"softmax_with_cross_entropy", simply(cross_entropy_of)},
      {"softmax_with_cross_entropy_grad", [](r c) { return gradient_of_cross_entropy(c, 0, 1, false); }},
      {"c_softmax_with_cross_entropy_grad", [](r c) { return gradient_of_cross_entropy(c, 1, 0, true); }},
      {"cross_entropy_with_softmax", simply(cross_entropy_of)},
      {"c_softmax_with_cross_entropy", simply(cross_entropy_of)},
      {"lookup_table_v2", simply(embedding_of)},
      {"embedding", simply(embedding_of)},
      {"lookup_table_v2_grad", gradient_of(embedding_of, 2, {.operand_gradients = 2}, {}, {1})},
      {"embedding_grad", gradient_of(embedding_of, 2, {.operand_gradients = 2}, {}, {1})},
      {"c_embedding", simply(rules::vocabulary_embedding)},
      {"c_embedding_grad", gradient_of([](r) { return rules::vocabulary_embedding; }, 2, {.operand_gradients = 1})},
      {"reshape", [](r c) { return of(rules::reshape(c.list("shape")), c); }},
      {"flatten", [](r c) { return of(rules::flatten(c.integer("start_axis", 0), c.integer("stop_axis", -1)), c); }},
      {"squeeze", [](r c) { return of(rules::squeeze(c.list("axis")), c); }},
      {"unsqueeze", [](r c) { return of(rules::unsqueeze(c.list("axis")), c); }},
      {"reshape_grad", unshaped},
      {"flatten_grad", unshaped},
      {"squeeze_grad", unshaped},
      {"unsqueeze_grad", unshaped},
      {"transpose", [](r c) { return of(rules::transpose(c.list("perm")), c); }},
      {"transpose_grad", [](r c) {
         const auto perm = c.list("perm");
         auto x = shape_list::filled(perm.size(), 1);
         for (std::size_t d = 0; d < perm.size(); ++d) x[static_cast<std::size_t>(perm[d] < 0
             ? perm[d] + static_cast<std::ptrdiff_t>(perm.size()) : perm[d])] = c.shape(0)[d];
         return in_order(gradient(made(rules::transpose(perm), {x}), {.operands = 0}));
       }},
      {"expand", simply(expansion_of)},
      {"expand_grad", gradient_of(expansion_of, 1, {})},
      {"expand_as", simply(rules::elementwise)},
      {"expand_as_grad", [](r c) {
         return in_order(gradient(made(rules::elementwise, c.shapes(0, 2)), {.operands = 1, .operand_gradients = 1}));
       }},
      {"tile", [](r c) { return of(rules::tile(c.list("repeat_times")), c); }},
      {"tile_grad", gradient_of([](r c) { return rules::tile(c.list("repeat_times")); }, 1, {})},
      {"slice", [](r c) { return of(rules::slice(c.list("axes")), c); }},
      {"strided_slice", [](r c) { return of(rules::slice(c.list("axes")), c); }},
      {"strided_slice_grad", gradient_of([](r c) { return rules::slice(c.list("axes")); }, 1, {})},
      {"slice_grad", gradient_of([](r c) { return rules::slice(c.list("axes")); }, 1, {})},
      {"pad", simply(padding_of)},
      {"pad_grad", [](r c) { return of(padding_of(c), c); }},
      {"topk", [](r c) { return of(rules::topk(c.integer("axis", -1), static_cast<std::size_t>(c.integer("k", 1))),
          c); }},
      {"topk_grad", [](r c) {
         operation any_number = rules::topk(c.integer("axis", -1), 1);
         any_number.with.sizes = {};
         return in_order(gradient(made(any_number, c.shapes(0, 1)), {.results = 2, .result_gradients = 1}));
       }},
      {"concat", [](r c) { return of(rules::concatenate(c.integer("axis", 0)), c); }},
      {"concat_grad", [](r c) { return in_order(gradient(made(rules::concatenate(c.integer("axis", 0)), c.shapes(0,
          c.count() - 1)))); }},
      {"stack", [](r c) { return of(rules::stack(c.integer("axis", 0)), c); }},
      {"stack_grad", [](r c) {
         const std::size_t rank = c.rank(0), axis = detail::checked_dimension(c.integer("axis", 0), rank, "stack");
         shape_list part;
         if (c.shape(0)[axis] == dynamic) throw shape_error("stack_grad: requires a known number of results");
         for (std::size_t d = 0; d < rank; ++d)
           if (d != axis) part.push_back(c.shape(0)[d]);
         return in_order(gradient(made(rules::stack(c.integer("axis", 0)), std::vector<shape_list>(c.shape(0)[axis],
             part)), {.operands = 0}));
       }},
      {"split_grad", [](r c) { return of(rules::concatenate(c.integer("axis", 0)), c); }},
      {"split_with_num_grad", [](r c) { return of(rules::concatenate(c.integer("axis", 0)), c); }},
      {"unbind_grad", [](r c) { return of(rules::stack(c.integer("axis", 0)), c); }},
      {"split", simply(split_of)},
      {"split_with_num", simply(split_of)},
      {"unbind", [](r c) { return of(rules::unbind(c.integer("axis", 0)), c); }},
      {"gather", [](r c) { return of(rules::gather(c.integer("axis", 0)), c); }},
      {"gather_grad", gradient_of([](r c) { return rules::gather(c.integer("axis", 0)); }, 2, {.operand_gradients =
          1}, {0})},
      {"gather_nd", simply(rules::gather_nd)},
      {"gather_nd_grad", gradient_of([](r) { return rules::gather_nd; }, 2, {.operand_gradients = 1}, {0})},
      {"put_along_axis", [](r c) { return of(rules::put_along_axis(c.integer("axis", 0)), c); }},
      {"put_along_axis_grad", gradient_of([](r c) { return rules::put_along_axis(c.integer("axis", 0)); }, 3,
          {.results = 1, .operand_gradients = 5})},
      {"scatter_nd_add", simply(rules::scatter_nd_add)},
      {"scatter_nd_add_grad", [](r c) {
         return in_order(gradient(made(rules::scatter_nd_add, {c.shape(2), c.shape(0), c.shape(1)}),
             {.operands = 6, .operand_gradients = 5}));
       }},
      {"index_put", simply(rules::index_put)},
      {"index_put_grad", [](r c) {
         const std::size_t operands = c.count() - 1;
         return in_order(gradient(made(rules::index_put, c.shapes(0, operands)),
             {.operand_gradients = one_tensor(0) | one_tensor(operands - 1)}));
       }},
      {"roi_align", [](r c) {
         return passing(regions_of_interest(), {0, 1, 2}, c.count());
       }},
      {"roi_align_grad", [](r) {
         return in_order(gradient(regions_of_interest(), {.operand_gradients = 1}));
       }},
      {"moe_gate_dispatch", [](r c) {
         return passing(made(dispatch_of(c), c.shapes(0, 2)), {0, 1}, c.count());
       }},
      {"moe_gate_dispatch_grad", [](r c) {  // weights, places, experts, gradients of what was sent and of the weights
         const shape_list weights = c.shape(0), sent = c.shape(3);
         const std::vector<shape_list> forward{{weights[0], sent[2]}, {weights[0], sent[0]}};
         return in_order(gradient(made(rules::expert_dispatch(weights[1], sent[1]), forward),
             {.operands = 0, .results = 14, .result_gradients = 3}));
       }},
      {"moe_combine", simply(rules::expert_combine)},
      {"moe_combine_grad", gradient_of([](r) { return rules::expert_combine; }, 3, {.operand_gradients = 3})},
      {"index_select", [](r c) { return of(rules::index_select(c.integer("axis", 0)), c); }},
      {"index_select_grad", gradient_of([](r c) { return rules::index_select(c.integer("axis", 0)); }, 2,
          {.operand_gradients = 1}, {2})},
      {"take_along_axis", [](r c) { return of(rules::take_along_axis(c.integer("axis", 0)), c); }},
      {"take_along_axis_grad", gradient_of([](r c) { return rules::take_along_axis(c.integer("axis", 0)); }, 2,
          {.operand_gradients = 1})},
      {"scatter", [](r c) { return in_order(made(rules::scatter, scattered(c, 1, 2, 0))); }},
      {"scatter_grad", [](r c) {
         return in_order(gradient(made(rules::scatter, scattered(c, 0, 1, 2)), {.operands = 6, .operand_gradients =
             5}));
       }},
      {"one_hot", [](r c) { return of(rules::one_hot(static_cast<std::size_t>(c.integer("num_classes", 1))), c); }},
      {"sgd_", simply(rules::sgd)},
      {"momentum_", simply(rules::momentum)},
      {"adam_", simply(rules::adam)},
      {"adamw_", simply(rules::adamw)},
      {"nonzero", simply(rules::replicated({2}))},
      {"unique", [](r c) {
         const std::ptrdiff_t rank = c.list("axis").empty() ? 1 : static_cast<std::ptrdiff_t>(c.rank(0));
         return of(rules::replicated({rank, 1, 1, 1}), c);
       }},
      {"replicated", [](r c) { return of(rules::replicated(ranks_of_outputs(c)), c); }},
      {"default_data_parallel", [](r c) { return of(rules::data_parallel(ranks_of_outputs(c)), c); }},
      {"flash_attention", [](r c) {
         const auto there = present(c, false);
         return passing(made(rules::attention, shapes_at(c, there)), there, c.count());
       }},
      {"flash_attention_grad", [](r c) {
         const auto there = present(c, false);
         const rule forward = made(rules::attention, c.shapes(0, 3));
         return passing(gradient(forward, {.results = 5, .result_gradients = 1}), there, c.count());
       }},
      {"fused_rope", [](r c) {
         const auto there = present(c, true);
         std::size_t rotated = 0;
         for (const std::size_t i : there) rotated += i < 3;
         return passing(made(rules::rope(rotated, c.flag("time_major")), shapes_at(c, there)), there, c.count());
       }},
      {"fused_rope_grad", [](r c) {  // sine, cosine and positions come first; a gradient is rotated back
         auto there = present(c, true);
         std::size_t rotated = 0;
         for (const std::size_t i : there) rotated += i >= 3;
         std::rotate(there.begin(), there.end() - static_cast<std::ptrdiff_t>(rotated), there.end());
         return passing(made(rules::rope(rotated, c.flag("time_major")), shapes_at(c, there)), there, c.count());
       }},
  };
  return known;
}
/// Operations of elements whose rule says nothing but that; a gradient of one has the same rule.
bool is_elementwise(std::string name) {
  if (name.ends_with("_grad")) name.resize(name.size() - 5);
  static const std::set<std::string> names = {"abs",           "acos",
                                              "acosh",         "asin",
                                              "asinh",         "atan",
                                              "atanh",         "bernoulli",
                                              "bitwise_and",   "bitwise_not",
                                              "bitwise_or",    "bitwise_xor",
                                              "ceil",          "celu",
                                              "clip",          "cos",
                                              "cosh",          "digamma",
                                              "dropout",       "elu",
                                              "equal",         "erf",
                                              "erfinv",        "exp",
                                              "expm1",         "floor",
                                              "floor_divide",  "fmax",
                                              "fmin",          "gelu",
                                              "greater_equal", "greater_than",
                                              "hardshrink",    "hardsigmoid",
                                              "hardswish",     "hardtanh",
                                              "heaviside",     "isfinite",
                                              "isinf",         "isnan",
                                              "label_smooth",  "leaky_relu",
                                              "less_equal",    "less_than",
                                              "lgamma",        "log",
                                              "log10",         "log1p",
                                              "log2",          "logical_and",
                                              "logical_not",   "logical_or",
                                              "logical_xor",   "logit",
                                              "logsigmoid",    "maximum",
                                              "minimum",       "mish",
                                              "not_equal",     "pow",
                                              "reciprocal",    "relu",
                                              "relu6",         "remainder",
                                              "round",         "rsqrt",
                                              "scale",         "selu",
                                              "sigmoid",       "sign",
                                              "silu",          "sin",
                                              "sinh",          "softplus",
                                              "softshrink",    "softsign",
                                              "sqrt",          "square",
                                              "swish",         "tan",
                                              "tanh",          "tanh_shrink",
                                              "trunc",         "full_like",
                                              "fill",          "elementwise_pow",
                                              "swiglu",        "cast",
                                              "assign"};
  return names.contains(name);
}
/// Operations of two operands that are broadcast.
bool is_binary(const std::string& name) {
  static const std::set<std::string> names = {"subtract",
                                              "divide",
                                              "maximum",
                                              "minimum",
                                              "elementwise_add",
                                              "elementwise_sub",
                                              "elementwise_mul",
                                              "elementwise_div",
                                              "elementwise_pow",
                                              "elementwise_max",
                                              "elementwise_min",
                                              "fmax",
                                              "fmin",
                                              "atan2",
                                              "heaviside",
                                              "remainder",
                                              "floor_divide",
                                              "swiglu"};
  return names.contains(name);
}
bool is_reduction(const std::string& name) {
  static const std::set<std::string> names = {"sum",
                                              "mean",
                                              "max",
                                              "min",
                                              "prod",
                                              "all",
                                              "any",
                                              "amax",
                                              "amin",
                                              "reduce_sum",
                                              "reduce_mean",
                                              "reduce_max",
                                              "reduce_min",
                                              "reduce_prod",
                                              "reduce_all",
                                              "reduce_any",
                                              "logsumexp",
                                              "p_norm",
                                              "frobenius_norm",
                                              "squared_l2_norm"};
  return names.contains(name);
}
call unchecked_call_of(const record& c) {
  if (const auto found = calls().find(c.name); found != calls().end()) return found->second(c);
  const std::string of_gradient = c.name.ends_with("_grad") ? c.name.substr(0, c.name.size() - 5) : "";
  if (is_binary(of_gradient)) {
    const bool linear =
        of_gradient == "subtract" || of_gradient == "elementwise_add" || of_gradient == "elementwise_sub";
    return gradient_of_two(linear ? rules::subtract : rules::elementwise)(c);
  }
  if (is_reduction(of_gradient)) return gradient_of_reduction(c);
  if (is_reduction(c.name)) return of(reduction_of(c), c);
  if (is_binary(c.name)) return of(rules::elementwise, c);
  if (is_elementwise(c.name)) return of(rules::elementwise, c);
  throw std::runtime_error("is of the unknown operation " + c.name);
}
call call_of(const record& c) {
  call made = unchecked_call_of(c);
  bool all_there = made.position.size() == c.count();
  for (const std::size_t k : made.position) all_there = all_there && (k == not_passed || k < made.made.operand_count);
  if (!all_there)
    throw std::runtime_error("has " + std::to_string(c.count()) + " operands, and " + c.name + " takes " +
                             std::to_string(made.position.size()));
  return made;
}

// --- deliberate departures, by name ---

/// Why a record is not followed, or nothing.
std::optional<std::string> departure(const record& c) {
  const auto marked = [&](const char* key) { return c.all.contains(key) && c.all.at(key) != false; };
  const bool is_refused = !c.all.value("expect_error", json()).is_null();
  for (const auto& input : c.inputs) {
    if (!marked("invalid_on_purpose") || is_refused || is_absent(input) || input.at("dims_mapping").is_null()) continue;
    const bool scalar = input.at("shape").empty() && axes_of(input.at("dims_mapping")) == axes_vector(1);
    if (!scalar && input.at("shape").size() != input.at("dims_mapping").size())
      return "marked: invalid_on_purpose: a mapping of another rank";
  }
  const auto some_partial = [&](const char* key) {
    for (const auto& axes : c.all.value(key, json::array()))
      if (!axes.is_null() && !axes.empty()) return true;
    return false;
  };
  // what a reduced dimension is cut by must have become partial, whether the record says so or not
  const auto cut_along = [&](std::size_t i, std::size_t d) {
    const json& wanted = c.all.at("expect_inputs");
    return wanted.is_array() && i < wanted.size() && !wanted[i].is_null() && d < wanted[i].size() &&
           !axes_of(wanted[i])[d].empty();
  };
  bool reduced_is_cut = false;
  if (c.name == "logsumexp" || c.name == "p_norm") {
    const operation forward = reduction_of(c);
    const std::uint32_t reduced = detail::dimensions_or_all(forward.with.axes, c.rank(0), "reduction");
    for (std::size_t d = 0; d < c.rank(0); ++d) reduced_is_cut |= detail::has_bit(reduced, d) && cut_along(0, d);
  }
  if ((c.name == "logsumexp" || c.name == "p_norm") && (reduced_is_cut || some_partial("expect_partial")))
    return "no-such-reduction: partial values that no reduction kind finishes";
  if (c.name == "scatter" && (some_partial("expect_partial") || cut_along(1, 0) || cut_along(2, 0)))
    return "scatter-counted-twice: every worker would count the rows that it holds already";
  if (c.name == "gather" && c.all.at("direction") == "forward") {
    const std::size_t axis = detail::checked_dimension(c.integer("axis", 0), c.rank(0), "gather");
    const auto x = axes_of(c.inputs.at(0).at("dims_mapping")), index = axes_of(c.inputs.at(1).at("dims_mapping"));
    for (std::size_t d = 0; d < x.size(); ++d)
      for (const auto& entry : index)
        if (d != axis && !x[d].empty() && x[d] == entry)
          return "gather-keeps-conflict: the index stays cut by an axis that the result gave away";
  }
  if (c.name.starts_with("split") && c.all.at("direction") == "backward") {
    const std::size_t axis = detail::checked_dimension(c.integer("axis", 0), c.rank(0), "split");
    std::vector<int> wanted;
    for (const auto& output : c.all.at("outputs"))
      if (const auto axes = axes_of(output.at("dims_mapping")); axis < axes.size())
        wanted.insert(wanted.end(), axes[axis].begin(), axes[axis].end());
    for (const auto& output : c.all.at("outputs")) {
      const auto axes = axes_of(output.at("dims_mapping"));
      for (std::size_t d = 0; d < axes.size(); ++d)
        for (const int a : axes[d])
          if (d != axis && std::find(wanted.begin(), wanted.end(), a) != wanted.end())
            return "whole-takes-nothing: a dimension that must be whole takes no axis from one that may be cut";
    }
  }
  const json& expected = c.all.at("expect_inputs");
  for (std::size_t i = 0; expected.is_array() && i < expected.size() && i < c.count(); ++i) {
    if (expected[i].is_null() || is_absent(c.inputs[i])) continue;
    const auto axes = axes_of(expected[i]);
    for (std::size_t d = 0; d < axes.size() && d < c.rank(i); ++d)
      if (!axes[d].empty() && c.shape(i)[d] == 1) return "one-element: a dimension of one element is not cut";
  }
  return {};
}

// --- holding an answer against a record ---

std::string written(const sharding& s) { return json(axes_of(s)).dump(); }

std::vector<int> partial_axes_of(const sharding& s) {
  std::vector<int> axes;
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if (s.pending[a] != pending_reduction::none) axes.push_back(static_cast<int>(a));
  return axes;
}
void expect_layout(const json& expected, const sharding& got, const std::string& what) {
  if (expected.is_null()) return;
  if (got.rank() == 0 && axes_of(expected) == axes_vector(1)) return;  // a scalar has no dimensions, as in NumPy
  if (axes_of(expected) != axes_of(got))
    throw std::runtime_error(what + " is " + written(got) + " and not " + expected.dump());
}
void expect_pending(const json& all, std::size_t k, const sharding& got, const std::string& what) {
  if (all.is_null() || k >= all.size() || all[k].is_null()) return;
  const std::vector<int> pending = partial_axes_of(got);
  const bool right = all[k] == "yes" ? !pending.empty() : all[k] == json(pending);
  if (!right) throw std::runtime_error(what + " is partial over " + json(pending).dump() + " and not " + all[k].dump());
}

/// Whether the reference throws where an operand is cut along a dimension that must be whole; elsewhere it gathers.
bool refuses_cuts(const record& c) {
  const bool static_mode = c.all.at("source").get<std::string>().find("test/cpp/") == std::string::npos;
  return (static_mode && c.name == "cross_entropy_with_softmax") || c.name == "lookup_table_v2" ||
         c.name == "embedding";
}
propagation answer(const record& c, const call& asked) {
  const mesh m = mesh::of_shape(c.all.at("mesh_shape").get<std::vector<std::size_t>>());
  const bool backward = c.all.at("direction") == "backward", classic = c.all.at("semantics") == "classic";
  const bool ambiguous = c.all.contains("invalid_on_purpose") && c.all.value("expect_error", json()).is_null();
  std::vector<spec> operands(asked.made.operand_count), results;
  for (std::size_t i = 0; i < c.count(); ++i)
    if (asked.position[i] != not_passed) {
      shape_list shape = c.shape(i);
      const bool of_rows = c.name == "scatter", has_rows = of_rows || c.name == "scatter_grad";
      const std::size_t index = of_rows ? 1 : 0;
      if (has_rows && i == index + 1 && c.rank(index) > 0) shape[0] = c.shape(index)[0];
      operands[asked.position[i]] = spec_of(m, c.inputs[i], shape, ambiguous, !classic);
    }
  if (backward) {
    const json& outputs = c.all.at("outputs");
    std::size_t k = 0;
    for (std::size_t j = 0; j < asked.made.result_count; ++j) {
      while (k < outputs.size() && outputs.size() > asked.made.result_count && is_absent(outputs[k])) ++k;
      const bool scores = c.name == "flash_attention" && j == 1;  // a scalar in the record: not returned
      const json said = k < outputs.size() && !is_absent(outputs[k]) && !scores ? outputs[k] : json();
      results.push_back(spec_of(m, said, result_shape(asked.made, j), ambiguous, !classic));
      ++k;
    }
  }
  policy by = classic ? policy::paddle_classic : policy::paddle_coshard;
  if (refuses_cuts(c)) by = by.with(policy::unshard::refuse);
  return propagate(m, asked.made, spec_list(operands), spec_list(results),
                   backward ? direction::backward : direction::forward, by);
}

void hold_against(const record& c) {
  const call asked = call_of(c);
  const propagation got = answer(c, asked);
  if (!c.all.value("expect_error", json()).is_null()) throw std::runtime_error("is accepted and not refused");
  const json &operands = c.all.at("expect_inputs"), &results = c.all.at("expect_outputs");
  const json partial = c.all.value("expect_partial", json()),
             operand_partial = c.all.value("expect_input_partial", json());
  for (std::size_t i = 0; i < c.count() && i < operands.size(); ++i) {
    const std::string what = "operand " + std::to_string(i);
    if (asked.position[i] == not_passed) {
      if (!operands[i].is_null() && !operands[i].empty() && operands[i] != c.inputs[i].at("dims_mapping"))
        throw std::runtime_error(what + " is not passed");
      continue;
    }
    expect_layout(operands[i], got.operands[asked.position[i]], what);
    expect_pending(operand_partial, i, got.operands[asked.position[i]], what);
  }
  for (std::size_t j = 0; j < results.size(); ++j) {
    const std::string what = "result " + std::to_string(j);
    if (j >= got.results.size()) {
      if (!results[j].is_null() && !results[j].empty()) throw std::runtime_error(what + " is missing");
      continue;
    }
    expect_layout(results[j], got.results[j], what);
    expect_pending(partial, j, got.results[j], what);
  }
}

void run(const json& file, const std::string&, tally& result) {
  for (const json& one : file) {
    const record c{one};
    const std::string id = one.at("id");
    const bool refused = !one.value("expect_error", json()).is_null();
    try {
      if (const auto why = departure(c)) {
        result.skip(id, *why);
        continue;
      }
      hold_against(c);
      result.pass(id);
    } catch (const shape_error& problem) {
      refused ? result.pass(id) : result.skip(id, std::string("shapes: ") + problem.what());
    } catch (const error& problem) {
      refused ? result.pass(id) : result.fail(id, problem.what());
    } catch (const std::exception& problem) {
      result.fail(id, problem.what());
    }
  }
}

bool reads(const json& file, const std::string&) {
  return file.is_array() && !file.empty() && file.front().is_object() && file.front().contains("semantics") &&
         file.front().contains("mesh_shape");
}

}  // namespace

conformance::reader conformance::sharding_reader() { return {&reads, &run}; }
