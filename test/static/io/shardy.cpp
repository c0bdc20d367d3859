// Shardy's textual rules are parsed, and printed again unchanged.
#include <partita/io/shardy.hpp>
#include <partita/rule/sharding/rules.hpp>

using namespace partita;

namespace {

constexpr bool is_written(const text& out, const char* expected) {
  const char* c = out.c_str();
  while (*c != '\0' && *c == *expected) ++c, ++expected;
  return *c == *expected;
}
constexpr bool comes_back(const char* written) {
  text out;
  out << as_shardy{rule_from_shardy(written)};
  return is_written(out, written);
}
constexpr bool writes(const rule& r, const char* expected) {
  text out;
  out << as_shardy{r};
  return is_written(out, expected);
}

static_assert(comes_back("([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"));
static_assert(comes_back("([i, j, l], [i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}"));
static_assert(comes_back("([i], [i])->([]) {i=32} reduction={i}"));
static_assert(comes_back("([ij])->([i, j]) {i=2, j=4}"));
static_assert(comes_back("([i, lm, n])->([j, k, mn]) {i=3, j=2, k=3, l=2, m=2, n=4}"));
static_assert(comes_back("([i, j, k, l])->([i, j, k, l]) {i=2, j=4, k=8, l=8} need_replication={k, l}"));
static_assert(comes_back("([i, j, k, l])->([i, j, k, l]) {i=4, j=32, k=8, l=2} permutation={j, l}"));
static_assert(comes_back("([i, j, k], [])->([i, k]) {i=2, j=64, k=13} reduction={j}"));
static_assert(rule_from_shardy("([i, j])->([i]) {i=2, j=64}").factors[1].kind == factor_kind::replicate);
static_assert(comes_back("([], [i, j], [])->([i, j]) {i=4, j=8}"));
static_assert(comes_back("([], [])->([]) {}"));
// what is said to be whole is written again, what only follows is not
static_assert(comes_back("([i, j, k])->([i, j]) {i=4, j=2, k=2} need_replication={k}"));
static_assert(comes_back("([i, j, k])->([i, j]) {i=4, j=2, k=1}"));
// a factor that only some results have is not summed in the others
static_assert(comes_back("([i, j, k, l], [k], [k])->([i, j, k, l], [k], [k]) {i=4, j=8, k=16, l=32}"));
static_assert(comes_back("([i, j, k])->([i, j, k], [i, k]) {i=8, j=4, k=4}"));
static_assert(rule_from_shardy("([i, k])->([i, k], [k]) {i=4, k=16}").factors[0].kind == factor_kind::replicate);
static_assert(rule_from_shardy("([i, k])->([i, k], [k]) {i=4, k=16} reduction={i}").factors[0].kind ==
              factor_kind::reduce);
// however many operands have it: it is summed only if two or more of them and no result have it
constexpr factor_kind kind_of_first(const char* written) { return rule_from_shardy(written).factors[0].kind; }
static_assert(kind_of_first("([i, k])->([k], [k]) {i=4, k=16}") == factor_kind::replicate);
static_assert(kind_of_first("([i, k], [i])->([k], [k]) {i=4, k=16}") == factor_kind::reduce);
static_assert(kind_of_first("([i, k], [i])->([i, k], [k]) {i=4, k=16}") == factor_kind::replicate);
static_assert(kind_of_first("([i, k], [i], [i])->([k], [i]) {i=4, k=16}") == factor_kind::replicate);
static_assert(kind_of_first("([i, k], [i])->([i, k], [i]) {i=4, k=16}") == factor_kind::pass_through);
static_assert(comes_back("([i, j, l], [i, j, k])->([i, l, k]) {i=8, j=3, k=5, l=3} need_replication={j, k, l}"));
static_assert(
    comes_back("([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x], [y, z, z_1, z_2])->([z_2]) "
               "{i=1, j=1, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1, t=1, u=1, v=1, w=1, x=1, y=1, z=1, "
               "z_1=3, z_2=5} reduction={i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1}"));

// the same rule as the notation's, with sizes
constexpr rule product = rule_from_shardy("#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32}>");
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr spec x{m.layout("data", ""), {8, 32}}, w{m.layout("", "model"), {32, 16}};
static_assert(propagate(m, product, {x, w}).results[0] == propagate(m, "ik,kj->ij", {x, w}).results[0]);
static_assert(rule_from_shardy("([ij])->([i, j]) {i=2, j=4}").factors[0].merged_group ==
              rule_from_shardy("([ij])->([i, j]) {i=2, j=4}").factors[1].merged_group);

// Factors are of one group if a chain of merged dimensions connects them: the groups are written as the number of the
// first factor of each.
constexpr bool has_groups(const rule& r, const char* expected) {
  for (std::size_t f = 0; f < r.factor_count; ++f) {
    std::size_t first = f;
    for (std::size_t g = f; g-- > 0;)
      if (r.factors[f].merged_group != 0 && r.factors[g].merged_group == r.factors[f].merged_group) first = g;
    if (expected[f] == '-' ? r.factors[f].merged_group != 0
                           : r.factors[f].merged_group == 0 || first != static_cast<std::size_t>(expected[f] - '0'))
      return false;
  }
  return true;
}
static_assert(has_groups(rule_from_shardy("([i, j])->([i, j]) {i=2, j=4}"), "--"));
static_assert(has_groups(rule_from_shardy("([ij, kl, m])->([i, j, k, l, m]) {i=2, j=2, k=2, l=2, m=2}"), "0022-"));
static_assert(has_groups(rule_from_shardy("([ij, k])->([i, jk]) {i=2, j=4, k=4}"), "000"));
static_assert(has_groups(rule_from_shardy("([ij, kl])->([i, jk, l]) {i=2, j=2, k=2, l=2}"), "0000"));
static_assert(has_groups(rule_from_shardy("([ij, k, lm])->([i, jk, l, m]) {i=2, j=2, k=2, l=2, m=2}"), "00033"));
static_assert(has_groups(rule_from_shardy("([ij], [kl], [jk])->([i, l]) {i=2, j=2, k=2, l=2}"), "0000"));
static_assert(has_groups(rule("(ab)(cd),ab->a(bc)d"), "0000") && has_groups(rule("(ab)(cd)->abcd"), "0022"));
// and what Shardy reads of the ready-made ones
static_assert(writes(bind_shapes(rules::softmax()({{8, 64}}), shape_span{{8, 64}}),
                     "([i, j])->([i, j]) {i=8, j=64} need_replication={j}"));
static_assert(writes(bind_shapes(rule("a1->a"), shape_span{{8, 1}}), "([i, j])->([i]) {i=8, j=1}"));
static_assert(writes(reshape_rule({8, 4}, {2, 16}), "([ij, k])->([i, jk]) {i=2, j=4, k=4}"));

}  // namespace
