// Lists of mesh axes, sets of tensors, meshes, shardings and rules as values: what they hold, how they are written, and
// how much fits into them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <partita/rule/sharding/gradient.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <partita/rule/sharding/tensors_of_rule.hpp>
#include <random>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;
using test::refused;

namespace {

using numbers = std::vector<std::size_t>;

numbers numbers_of(axis_list axes) {
  numbers all;
  for (std::size_t k = 0; k < axes.size(); ++k) all.push_back(axes[k]);
  return all;
}
axis_list list_of(const numbers& all) {
  axis_list axes;
  for (const std::size_t a : all) axes.push_back(a);
  return axes;
}
template <class Thing>
std::string written(const Thing& thing) {
  text all;
  all << thing;
  return all.c_str();
}
/// What the factors of a rule are: letter, kind, and how the factor is reduced.
std::string factors_of(const rule& r) {
  const char* const kinds[] = {"passes", "reduces", "whole", "itself"};
  std::string all;
  for (std::size_t f = 0; f < r.factor_count; ++f)
    all += std::string(1, r.factors[f].letter) + ' ' + kinds[static_cast<std::size_t>(r.factors[f].kind)] + ' ' +
           name_of(r.factors[f].how) + "; ";
  return all;
}

const mesh m{axis{"data", 2}, axis{"model", 4}};

}  // namespace

BOOST_AUTO_TEST_SUITE(values_of_sharding)

/// Every operation of a list of up to eight axes, beside the same one on a vector of numbers.
BOOST_AUTO_TEST_CASE(a_list_of_axes_is_a_list_of_different_numbers_in_order) {
  std::mt19937_64 random(8);
  numbers order(most_axes), other(most_axes);
  std::iota(order.begin(), order.end(), 0U), std::iota(other.begin(), other.end(), 0U);
  for (std::size_t trial = 0; trial < 6; ++trial) {
    std::shuffle(order.begin(), order.end(), random), std::shuffle(other.begin(), other.end(), random);
    for (std::size_t n = 0; n <= most_axes; ++n) {
      const numbers wanted(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
      const axis_list list = list_of(wanted);
      BOOST_TEST((numbers_of(list) == wanted));
      BOOST_TEST((list.size() == n && list.empty() == (n == 0)));
      std::uint32_t set = 0;
      for (const std::size_t a : wanted) set |= 1U << a;
      BOOST_TEST(list.set() == set);
      for (std::size_t a = 0; a < most_axes; ++a) {
        const bool has = std::find(wanted.begin(), wanted.end(), a) != wanted.end();
        BOOST_TEST(list.contains(a) == has);
        numbers rest = wanted;
        rest.erase(std::remove(rest.begin(), rest.end(), a), rest.end());
        BOOST_TEST((numbers_of(list.without(a)) == rest));
        axis_list more = list;
        more.push_back(a);
        BOOST_TEST((has ? more == list : more.size() == n + 1 && more.back() == a));
      }
      for (std::size_t k = 0; k <= most_axes; ++k) {
        const auto from = wanted.begin() + static_cast<std::ptrdiff_t>(std::min(k, n));
        BOOST_TEST((numbers_of(list.from(k)) == numbers(from, wanted.end())));
        const numbers prefix(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k));
        BOOST_TEST(list.starts_with(list_of(prefix)) == (k <= n), n << " and " << k);
        const numbers first(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(k));
        BOOST_TEST(list.starts_with(list_of(first)) ==
                   (k <= n && std::equal(first.begin(), first.end(), order.begin())));
        numbers both = wanted;
        for (const std::size_t a : first)
          if (std::find(both.begin(), both.end(), a) == both.end()) both.push_back(a);
        axis_list joined = list;
        joined.append(list_of(first));
        BOOST_TEST((numbers_of(joined) == both));
      }
      if (n == 0) continue;
      BOOST_TEST(list.back() == wanted.back());
      axis_list shorter = list;
      shorter.pop_back();
      BOOST_TEST((numbers_of(shorter) == numbers(wanted.begin(), wanted.end() - 1)));
    }
  }
}

/// The last bit of a set of tensors stands for all tensors from 63 on.
BOOST_AUTO_TEST_CASE(a_set_of_the_first_tensors_has_these_and_no_other) {
  for (const std::size_t n : {0U, 1U, 2U, 31U, 32U, 33U, 62U, 63U, 64U, 65U, 136U})
    for (std::size_t t = 0; t < 140; ++t) {
      const std::size_t bit = std::min<std::size_t>(t, 63);
      BOOST_TEST(contains(first_tensors(n), t) == (n >= 64 || bit < n), n << " and " << t);
      BOOST_TEST(contains(one_tensor(t), n) == (bit == std::min<std::size_t>(n, 63)), n << " and " << t);
    }
}

BOOST_AUTO_TEST_CASE(a_mesh_has_up_to_eight_axes_with_different_names) {
  const mesh of_sizes = mesh::of_shape(std::vector<int>{2, 3, 4});
  BOOST_TEST((of_sizes == mesh{axis{"0", 2}, axis{"1", 3}, axis{"2", 4}}));
  BOOST_TEST((of_sizes.rank() == 3 && of_sizes.size() == 24));
  BOOST_TEST((of_sizes.size(std::size_t{0}) == 2 && of_sizes.size(std::size_t{2}) == 4));
  BOOST_TEST((of_sizes.size(list_of({2, 1})) == 12 && of_sizes.size(axis_list()) == 1));
  mesh most = mesh::of_shape(std::vector<int>(most_axes, 2));
  BOOST_TEST((most.rank() == 8 && most.size() == 256));
  BOOST_TEST(refused<partition_error>([&] { most.push_back(axis("a", 2)); }) ==
             "partita::mesh: requires at most 8 axes; merge some");
  const mesh long_names{axis{"fifteen_letters", 2}, axis{"fifteen_letter", 3}};
  BOOST_TEST((long_names.number("fifteen_letters") == 0 && long_names.number("fifteen_letter") == 1));
  BOOST_TEST(m.number("data+model", 4) == 0U);
  BOOST_TEST(refused<partition_error>([] { axis("a?", 2); }) ==
             "partita::axis: requires a name of at most 15 characters without '+' and '?'; rename a?");
  const mesh strict = m.no_implicit_reshard();
  BOOST_TEST((strict.requires_explicit_reshards && !m.requires_explicit_reshards && !(strict == m)));
  BOOST_TEST((strict.rank() == 2 && strict.axes[0] == m.axes[0] && strict.axes[1] == m.axes[1]));
}

BOOST_AUTO_TEST_CASE(a_layout_is_read_and_written_entry_by_entry) {
  const sharding s = m.layout("data+?", "?", "model", "");
  const numbers none, data{0}, model{1};
  BOOST_TEST(
      (numbers_of(s[0]) == data && numbers_of(s[1]) == none && numbers_of(s[2]) == model && numbers_of(s[3]) == none));
  BOOST_TEST((s.is_open(0) && s.is_open(1) && !s.is_open(2) && !s.is_open(3)));
  BOOST_TEST(written(s) == "(data+?, ?, model, )");
  BOOST_TEST((numbers_of(m.layout("model+data")[0]) == numbers{1, 0}));
  BOOST_TEST(written(m.layout("model+data", "")) == "(model+data, )");
  BOOST_TEST(written(m.layout("")) == "()");
  BOOST_TEST(written(m.layout("data").reduced("model")) == "(data) reduced over model");
  BOOST_TEST(written(m.layout("").partial("data", pending_reduction::avg).partial("model")) ==
             "() partial avg over data partial sum over model");
  BOOST_TEST(written(m.layout("").partial("model").reduced("data")) == "() partial sum over model reduced over data");
  BOOST_TEST((m.layout("data").cut(0, list_of({0, 1})) == m.layout("data+model")));  // its own axes are free again
  BOOST_TEST(sharding(m, 16).rank() == 16U);
  BOOST_TEST(refused<shape_error>([] { sharding(m, 17); }) ==
             "partita::sharding: requires at most 16 dimensions; reshape to fewer");
}

/// Two shardings lay a tensor out alike if each dimension and each pending reduction is the same, whatever else
/// differs.
BOOST_AUTO_TEST_CASE(a_layout_is_what_the_dimensions_and_the_pending_reductions_are) {
  const sharding s = m.layout("data", "");
  BOOST_TEST((s.same_layout(s) && s.same_layout(m.layout("data", "?")) && s.same_layout(s.replicate("model"))));
  BOOST_TEST((s.same_layout(s.with_priority(3)) && s.with_priority(3).priority == 3));
  BOOST_TEST((s.same_layout(s.reduced("model")) && s.partial("model").same_layout(s.partial(1))));
  for (const sharding& other : {m.layout("", "data"), m.layout("", ""), m.layout("data", "model"), m.layout("data"),
                                m.layout("data", "", ""), m.layout("model", ""), s.partial("model")})
    BOOST_TEST((!s.same_layout(other) && !other.same_layout(s)), written(other));
  BOOST_TEST(!s.partial("model").same_layout(s.partial("model", pending_reduction::max)));
  BOOST_TEST(!m.layout("").partial("data").same_layout(m.layout("").partial("model")));
  BOOST_TEST((s.partial("model").is_partial() && m.layout("").partial("data").is_partial() && !s.is_partial()));
  BOOST_TEST((s.partial("model").without_partials() == s));
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t a = 0; a < 2; ++a) BOOST_TEST(sharding(m, 2).cut(d, axis_list(a)).cut_axes() == 1U << a);
  BOOST_TEST(m.layout("model", "data").cut_axes() == 3U);
}

/// Each axis cuts one of two dimensions, is partial by some reduction, or replicates: placements and mappings say it.
BOOST_AUTO_TEST_CASE(what_each_axis_does_comes_back_from_placements_and_mappings) {
  const mesh three{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  for (std::size_t code = 0; code < 5 * 5 * 5; ++code) {
    sharding s(three, 2);
    std::vector<placement> wanted;
    std::vector<int> mapping{-1, -1};
    bool is_mapped = true;
    for (std::size_t a = 0, rest = code; a < 3; ++a, rest /= 5) {
      const std::size_t role = rest % 5;
      if (role < 2) {
        s.cuts[role].push_back(a);
        is_mapped = is_mapped && mapping[role] < 0;
        mapping[role] = static_cast<int>(a);
        wanted.push_back(placement::shard(role));
      } else if (role < 4) {
        const pending_reduction kind = role == 2 ? pending_reduction::sum : pending_reduction::max;
        s = s.partial(a, kind);
        wanted.push_back(placement::partial(kind));
      } else {
        wanted.push_back(placement::replicate());
      }
    }
    const auto found = s.placements();
    BOOST_TEST((std::vector<placement>(found.begin(), found.end()) == wanted), written(s));
    BOOST_TEST((sharding::of_placements(three, 2, wanted) == s), written(s));
    if (is_mapped) {
      const auto dimensions = s.dims_mapping();
      BOOST_TEST((std::vector<int>(dimensions.begin(), dimensions.end()) == mapping), written(s));
      BOOST_TEST((sharding::of_dims_mapping(three, mapping) == s.without_partials()), written(s));
    } else {
      BOOST_CHECK_THROW((void)s.dims_mapping(), partition_error);
    }
  }
  BOOST_TEST(refused<partition_error>([] {
               sharding::of_placements(m, 1, {placement::replicate(), placement::replicate(), placement::replicate()});
             }) == "partita::mesh: requires axis numbers below 2, not 2");
  BOOST_TEST(refused<partition_error>([] {
               sharding::of_dims_mapping(m, {-1, 2});
             }) == "partita::mesh: requires axis numbers below 2, not 2");
}

BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_counts_as_one_element_of_what_moves) {
  BOOST_TEST(moved_bytes(m.layout("data"), m.layout(""), {dynamic}, 4) == 2U);
  BOOST_TEST(moved_bytes(m.layout("", "data"), m.layout("", ""), {dynamic, std::size_t{8}}, 4) == 16U);
  BOOST_TEST(moved_bytes(m.layout("").partial("model"), m.layout(""), {dynamic}, 8) == 12U);
}

// --- rules ---

/// What a rule holds at most, and what is said of one more.
BOOST_AUTO_TEST_CASE(a_rule_holds_as_much_as_is_said_and_refuses_one_more) {
  const auto filled = [](std::size_t n, auto add) {
    rule r;
    for (std::size_t k = 0; k < n; ++k) add(r);
    return r;
  };
  const auto add_factor = [](rule& r) { r.add_factor(dynamic, 'a'); };
  BOOST_TEST(filled(32, add_factor).factor_count == 32);
  BOOST_TEST(refused<shape_error>([&] { filled(33, add_factor); }) ==
             "partita::rule: requires at most 32 factors; split the operation");
  const auto add_operand = [](rule& r) { r.begin_operand(); };
  BOOST_TEST(filled(72, add_operand).operand_count == 72);
  BOOST_TEST(refused<shape_error>([&] { filled(73, add_operand); }) ==
             "partita::rule: requires at most 72 operands, before the results; split the operation");
  BOOST_TEST(refused<shape_error>([&] {
               rule r;
               r.begin_operand(), r.begin_result(), r.begin_operand();
             }) == "partita::rule: requires at most 72 operands, before the results; split the operation");
  const auto with_results = [&](std::size_t operands, std::size_t results) {
    rule r = filled(operands, add_operand);
    for (std::size_t j = 0; j < results; ++j) r.begin_result();
    return r;
  };
  BOOST_TEST((with_results(1, 72).result_count == 72 && with_results(64, 72).tensor_count() == 136));
  BOOST_TEST(refused<shape_error>([&] { with_results(1, 73); }) ==
             "partita::rule: requires at most 72 results, and 136 operands and results together, not 1 and more than "
             "72; split the operation");
  BOOST_TEST(refused<shape_error>([&] { with_results(65, 72); }) ==
             "partita::rule: requires at most 72 results, and 136 operands and results together, not 65 and more than "
             "71; split the operation");
  const auto with_dimensions = [](std::size_t n) {
    rule r;
    r.begin_operand();
    for (std::size_t k = 0; k < n; ++k) r.add_dimension();
    return r;
  };
  BOOST_TEST(with_dimensions(96).rank(0) == 96U);
  BOOST_TEST(refused<shape_error>([&] { with_dimensions(97); }) ==
             "partita::rule: requires at most 96 different dimensions in all; split the operation");
  const auto with_terms = [](std::size_t n) {
    rule r;
    r.begin_operand(), r.add_dimension();
    const std::size_t f = r.add_factor(dynamic, 'a');
    for (std::size_t k = 0; k < n; ++k) r.add_term(f);
    return r;
  };
  BOOST_TEST(with_terms(128).at(0, 0).count == 128);
  BOOST_TEST(refused<shape_error>([&] { with_terms(129); }) ==
             "partita::rule: requires at most 128 factors in all; split the operation");
}

BOOST_AUTO_TEST_CASE(a_name_has_up_to_31_letters) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
  for (std::size_t n = 0; n <= letters.size(); ++n) {
    const std::string name = letters.substr(0, n);
    const rule r = rule("a,a->a").named("longer_than_some").named(name.c_str());
    BOOST_TEST(std::string(r.name()) == (n == 0 ? "rule" : name.substr(0, 31)));
    BOOST_TEST(std::string(gradient(r).name()) == (std::string(r.name()) + " gradient").substr(0, 31));
  }
}

/// Where reading stops, and what is required there.
BOOST_AUTO_TEST_CASE(a_notation_that_cannot_be_read_is_told_its_character) {
  const char* const letters = "letters, '1', '_', \"...\", '(', ')', ',' and one \"->\"";
  const char* const merged = "letters between '(' and ')'";
  const char* const ellipsis = "\"...\" at most once in each tensor";
  const char* const arrow = "\"->\" between operands and results";
  const struct {
    const char *notation, *required;
    std::size_t character;
  } table[] = {
      {"a;b->c", letters, 1},      {"a-b->c", letters, 1},     {")->", letters, 0},      {"a->b->c", letters, 4},
      {"a2->a", letters, 1},       {"@->", letters, 0},        {"[->", letters, 0},      {"`->", letters, 0},
      {"{->", letters, 0},         {"ab,c->a>", letters, 7},   {"a(b->c", merged, 3},    {"(a1)->b", merged, 2},
      {"(ab", merged, 3},          {"(a b)->a", merged, 2},    {"a..b->a", ellipsis, 1}, {"a.->a", ellipsis, 1},
      {"...a...->a", ellipsis, 4}, {"a->......", ellipsis, 6}, {"", arrow, 0},           {"ab", arrow, 2}};
  for (const auto& row : table)
    BOOST_TEST(refused<shape_error>([&] { rule(row.notation); }) ==
               std::string("partita::rule: requires ") + row.required + ", but character " +
                   std::to_string(row.character) + " of \"" + row.notation +
                   "\" is not; write for example \"bmk,kn->bmn\"");
  BOOST_TEST((rule(" b mk, kn -> bmn ") == rule("bmk,kn->bmn")));
  BOOST_TEST((written(rule("azAZ->ZAza")) == "azAZ->ZAza" && rule("azAZ->ZAza").factor_count == 4));
  BOOST_TEST((written(rule("...a,...->...a,...")) == "...a,...->...a,..."));
  BOOST_TEST((rule("a_->a").factors[1].letter == '_' && rule("a_->a").factors[1].kind == factor_kind::replicate));
  BOOST_CHECK_THROW(rule("a_->a").replicate("_"), shape_error);
}

/// How a missing factor is reduced decides what may stay pending in the operands.
BOOST_AUTO_TEST_CASE(a_rule_that_reduces_otherwise_than_by_sums_passes_extremes_or_nothing) {
  for (int k = 1; k <= static_cast<int>(pending_reduction::log_sum_exp); ++k) {
    const auto kind = static_cast<pending_reduction>(k);
    const rule r = rule("abc->a").reduces("bc", kind);
    BOOST_TEST((r.factors[1].how == kind && r.factors[2].how == kind), name_of(kind));
    BOOST_TEST((r.factors[0].how == pending_reduction::sum));
    const bool adds = kind == pending_reduction::sum || kind == pending_reduction::avg;
    const bool compares = kind == pending_reduction::max || kind == pending_reduction::min;
    BOOST_TEST((r.how == (adds       ? linearity::multilinear
                          : compares ? linearity::monotone
                                     : linearity::none)),
               name_of(kind));
    BOOST_TEST(refused<shape_error>([&] { (void)rule("abc->a").reduces("b", kind); }).empty() == adds, name_of(kind));
    BOOST_TEST(refused<shape_error>([&] { (void)rule("ab->ab").reduces("b", kind); }).empty(), name_of(kind));
  }
}

BOOST_AUTO_TEST_CASE(what_is_said_of_operands_adds_up_or_replaces_what_was_said) {
  const rule r = "a,a,a->a";
  BOOST_TEST(r.linear_in({1}).constant == 5U);
  BOOST_TEST(r.linear_in({1}).linear_in({0, 2}).constant == 2U);
  BOOST_TEST(r.linear_in({}).constant == 7U);
  BOOST_TEST(r.with_low_priority({0}).with_low_priority({2}).low_priority_operands == 5U);
  BOOST_TEST(r.with_shape_only_operands({1}).with_shape_only_operands({2}).shape_only_operands == 6U);
  BOOST_TEST(r.result_depends_on(0, {1}).unused_operands[0] == 5U);
  BOOST_TEST(rule("ab,b,c->a").summed_factors(0) == 6U);
  BOOST_TEST(rule("ab,b,c->a").result_depends_on(0, {0, 1}).summed_factors(0) == 2U);
  BOOST_TEST(
      (factors_of(rule("ab,bc->a").collective("b").replicate("c")) == "a passes sum; b itself sum; c whole sum; "));
}

/// A gradient sums whatever some operand lacks; what the operation needs whole or moves itself stays so.
BOOST_AUTO_TEST_CASE(a_gradient_sums_the_factors_that_an_operand_lacks) {
  const auto made = [](const rule& of, const std::vector<shape_list>& shapes, gradient_parts parts = {}) {
    return gradient(bind_shapes(of, {shapes.data(), shapes.size()}), parts);
  };
  const rule product = made("ab,bc->ac", {{2, 3}, {3, 4}});
  BOOST_TEST(factors_of(product) == "a reduces sum; b passes sum; c reduces sum; ");
  BOOST_TEST((product.how == linearity::additive && !product.has_equivalent_operands));
  BOOST_TEST((product.factors[0].size == 2 && product.factors[1].size == 3 && product.factors[2].size == 4));
  BOOST_TEST(factors_of(made("ab,bc->ac", {{2, 3}, {3, 4}}, {.operand_gradients = 1})) ==
             "a passes sum; b passes sum; c reduces sum; ");
  const rule most = rule("abcd->ac").reduces("bd", pending_reduction::max).replicate("c").collective("d");
  BOOST_TEST(factors_of(made(most, {{2, 3, 4, 5}})) == "a passes sum; b passes sum; c whole sum; d itself sum; ");
  const std::vector<shape_list> two{{4, 6}, {4, 6}};
  const rule stacked = made(rules::stack(0)({two.data(), 2}), two, {.operands = 0});
  BOOST_TEST((stacked.has_equivalent_operands && stacked.operand_count == 1 && stacked.result_count == 2));
}

BOOST_AUTO_TEST_CASE(a_rule_of_the_tensors_of_another_sums_what_its_result_lacks) {
  const std::vector<shape_list> shapes{{2, 3}, {3}};
  rule of = bind_shapes(rules::add({shapes.data(), 2}), {shapes.data(), 2});
  of = of.replicate("a").reduces("b", pending_reduction::max).named("sum");
  const rule back = detail::select_tensors(of, {2}, 1, "back");
  BOOST_TEST(written(back) == "ab->b");
  BOOST_TEST(std::string(back.name()) == "back");
  BOOST_TEST(factors_of(back) == "a reduces sum; b passes sum; ");
  BOOST_TEST((back.how == linearity::multilinear && back.factors[0].size == 2 && back.factors[1].size == 3));
  BOOST_TEST((!back.factors[0].broadcasts && !back.factors[1].broadcasts && back.constant == 0));
  BOOST_TEST(written(detail::select_tensors("ab,(bc)->ac", {2, 1}, 0, "")) == "ac,(bc)->ab");
}

// --- operations ---

BOOST_AUTO_TEST_CASE(factors_have_letters_of_both_cases_and_then_none) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t k = 0; k < 60; ++k) BOOST_TEST(detail::nth_letter(k) == (k < letters.size() ? letters[k] : '_'), k);
}

BOOST_AUTO_TEST_CASE(a_dimension_counts_from_both_ends_and_there_is_no_other) {
  for (std::ptrdiff_t rank = 0; rank <= 4; ++rank)
    for (std::ptrdiff_t axis = -6; axis <= 6; ++axis) {
      std::size_t found = 0;
      const std::string said = refused<shape_error>(
          [&] { found = detail::checked_dimension(axis, static_cast<std::size_t>(rank), "softmax"); });
      if (axis >= -rank && axis < rank) {
        BOOST_TEST(said == "");
        BOOST_TEST(found == static_cast<std::size_t>((axis + rank) % rank));
      } else {
        BOOST_TEST(said == "partita::rules::softmax: requires a dimension of the " + std::to_string(rank) +
                               " there are, not " + std::to_string(axis) + "; count from 0, or from -1 backwards");
      }
    }
}

/// How many operands each operation takes: fewer and more are refused, and these are not for their number.
BOOST_AUTO_TEST_CASE(an_operation_takes_the_operands_that_it_has) {
  const struct {
    operation of;
    const char* name;
    std::size_t least, most;
  } table[] = {{rules::elementwise, "elementwise", 1, 72},
               {rules::where, "where", 3, 3},
               {rules::matmul, "matmul", 2, 2},
               {rules::matmul_bias(), "matmul_bias", 3, 3},
               {rules::convolution, "convolution", 2, 2},
               {rules::sum(), "reduction", 1, 1},
               {rules::softmax(), "along", 1, 72},
               {rules::cross_entropy_with_softmax(), "cross_entropy", 2, 2},
               {rules::layer_norm(), "norm", 1, 3},
               {rules::group_norm(1), "group_norm", 1, 3},
               {rules::batch_norm, "batch_norm", 3, 5},
               {rules::reshape({-1}), "reshape", 1, 1},
               {rules::flatten(), "flatten", 1, 1},
               {rules::squeeze(), "squeeze", 1, 1},
               {rules::unsqueeze({0}), "unsqueeze", 1, 1},
               {rules::transpose({1, 0}), "transpose", 1, 1},
               {rules::expand({-1}), "expand", 1, 1},
               {rules::tile({1}), "tile", 1, 1},
               {rules::slice({0}), "slice", 1, 1},
               {rules::concatenate(0), "concatenate", 1, 72},
               {rules::stack(0), "stack", 1, 72},
               {rules::split_evenly(0, 2), "split", 1, 1},
               {rules::gather(), "gather", 2, 2},
               {rules::gather_nd, "gather_nd", 2, 2},
               {rules::take_along_axis(0), "take_along_axis", 2, 2},
               {rules::put_along_axis(0), "put_along_axis", 3, 3},
               {rules::scatter, "scatter", 3, 3},
               {rules::scatter_nd_add, "scatter_nd_add", 3, 3},
               {rules::index_put, "index_put", 3, 18},
               {rules::one_hot(3), "one_hot", 1, 1},
               {rules::embedding(), "embedding", 2, 2},
               {rules::attention, "attention", 3, 8},
               {rules::rope(1), "rope", 1, 6},
               {rules::expert_dispatch(1, 1), "expert_dispatch", 2, 2},
               {rules::update(1), "update", 2, 72}};
  for (const auto& row : table)
    for (const std::size_t n : {row.least - 1, row.least, row.most, row.most + 1}) {
      const std::vector<shape_list> shapes(n, shape_list{4, 6});
      const std::string said = refused<shape_error>([&] { (void)row.of(shape_span(shapes.data(), n)); });
      const std::string number = std::string("partita::rules::") + row.name + ": requires from " +
                                 std::to_string(row.least) + " to " + std::to_string(row.most) + " operands, not " +
                                 std::to_string(n) + "; give those";
      if (n < row.least || n > row.most) BOOST_TEST(said == number);
      else BOOST_TEST(said.find(" operands, not ") == std::string::npos, said);
    }
}

BOOST_AUTO_TEST_CASE(a_registry_holds_256_operations_in_order) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < 257; ++k) names.push_back("op" + std::to_string(k));
  registry known;
  for (std::size_t k = 0; k < 256; ++k) known.add(names[k].c_str(), "ab->a");
  BOOST_TEST(known.size() == 256U);
  BOOST_TEST(refused<shape_error>([&] { known.add(names[256].c_str(), "ab->a"); }) ==
             "partita::registry: requires at most 256 operations; use another registry");
  known.add("op255", "ab->b");
  known.add("op0", "ab->ba");
  BOOST_TEST((known.size() == 256 && known.knows("op255") && !known.knows("op256") && !known.knows("op")));
  for (std::size_t k = 0; k < 256; ++k) BOOST_TEST(std::string(known.name(k)) == names[k]);
  BOOST_TEST((written(known("op255", {{2, 3}})) == "ab->b" && written(known("op0", {{2, 3}})) == "ab->ba"));
  BOOST_TEST((written(known("op254", {{2, 3}})) == "ab->a" && std::string(known("op7", {{2, 3}}).name()) == "op7"));
}

/// A rule has the name by which it was found, also where it is made by a function, or is not known.
BOOST_AUTO_TEST_CASE(a_rule_has_the_name_by_which_it_was_found) {
  registry known = registry::standard(registry::fallback::replicate);
  known.add("by_function", [](const shape_span& shapes, const attributes& with) {
    return with.keep ? rule("ab->ab") : rules::sum()(shapes);
  });
  for (const char* name : {"tanh", "log_softmax", "negate", "add", "by_function", "unheard_of"})
    BOOST_TEST(std::string(known(name, {{4, 6}}).name()) == name);
  attributes with;
  with.keep = true;
  BOOST_TEST(
      (written(known("by_function", {{4, 6}}, with)) == "ab->ab" && written(known("by_function", {{4, 6}})) == "ab->"));
  BOOST_TEST((written(known("unheard_of", {{4, 6}, {4}})) == "__,_->__"));
  BOOST_TEST((written(known("unheard_of", {{4}, {4, 6}})) == "_,__->_" && written(known("unheard_of", {})) == "->"));
}

BOOST_AUTO_TEST_SUITE_END()
