// The sharding oracle: simulated devices execute operations on the blocks that propagation chooses, and the reassembled
// results must equal those of the operation on whole tensors.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include "oracle_operations.hpp"
#include "random_cases.hpp"

namespace {

using namespace oracle;

mesh random_mesh(std::mt19937_64& random, std::size_t most_rank) {
  static const char* const names[] = {"a", "b", "c"};
  mesh m;
  for (std::size_t a = 0, rank = 1 + random() % most_rank; a < rank; ++a)
    m.push_back(axis(names[a], one_of(random, {2, 2, 3, 4})));
  return m.size() <= 12 ? m : random_mesh(random, most_rank);
}
std::initializer_list<pending_reduction> random_kinds(const operation_case& op, std::mt19937_64& random) {
  static constexpr std::initializer_list<pending_reduction> sums{pending_reduction::sum, pending_reduction::avg},
      most{pending_reduction::max}, least{pending_reduction::min}, products{pending_reduction::prod},
      some{pending_reduction::any}, every{pending_reduction::all}, none{};
  const std::size_t which = random() % 8;
  const bool logical = op.low == 0 && op.high == 1;
  if (which < 3 && op.times == 1) return sums;
  if (which == 3) return most;
  if (which == 4) return least;
  if (which == 5) return logical ? some : products;
  if (which == 6 && logical) return every;
  return none;
}
policy random_policy(std::mt19937_64& random) {
  using enum policy::conflict;
  static constexpr policy::conflict all[] = {cost, cost, first_wins, larger_dim_wins, most_shards, join, align};
  policy p = policy{}.with(all[random() % std::size(all)]);
  static constexpr policy::uneven blocks[] = {policy::uneven::balanced, policy::uneven::balanced,
                                              policy::uneven::smaller_last_block, policy::uneven::forbid};
  p.blocks = blocks[random() % 4];
  p.by_precedence = random() % 2 == 0;
  if (random() % 4 == 0)
    p.merged_dimensions = random() % 2 == 0 ? policy::merged_axes::leading_only : policy::merged_axes::move_to_leading;
  return p;
}
text described(const operation_case& op, const mesh& m, const propagation& p, const std::vector<spec>& given,
               const std::string& why) {
  text out;
  out << op.name.c_str() << ' ' << op.how << " mesh";
  for (std::size_t a = 0; a < m.rank(); ++a) out << ' ' << m.axes[a].name() << ' ' << m.size(a);
  for (std::size_t i = 0; i < given.size(); ++i)
    out << "\n  operand " << given[i].shape << ' ' << given[i].layout << " -> " << p.operands[i];
  for (std::size_t j = 0; j < p.results.size(); ++j) out << "\n  result " << op.results[j] << ' ' << p.results[j];
  return out << "\n  " << why.c_str();
}

std::vector<spec> random_specs(const operation_case& op, const mesh& m, std::mt19937_64& random,
                               bool only_sums_of_linear = false) {
  static constexpr std::initializer_list<pending_reduction> sums{pending_reduction::sum}, none{};
  // (a gradient takes the values of operands, too, and is linear in the gradients of results alone)
  const bool linear = op.how.how != linearity::none && op.how.how != linearity::monotone && op.times == 1 &&
                      op.name.find("gradient") != 0;
  std::vector<spec> all;
  const auto kinds = only_sums_of_linear ? (linear ? sums : none) : random_kinds(op, random);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const bool places = (op.indices >> i & 1U) != 0;
    all.emplace_back(random_sharding(m, op.operands[i].size(), random, !places && random() % 2 == 0 ? kinds : none),
                     op.operands[i]);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_oracle_of_sharding)

BOOST_AUTO_TEST_CASE(no_answer_is_unsound_in_a_hundred_thousand_random_cases) {
  const std::size_t cases = test::random_cases(120000);
  std::mt19937_64 random(2026);
  std::map<std::string, std::size_t> unsound;
  std::size_t all = 0, partial = 0, cut_further = 0;
  for (std::size_t k = 0; k < cases; ++k) {
    const operation_case op = random_operation(random);
    const mesh m = random_mesh(random, 3);
    const auto given = random_specs(op, m, random);
    const auto p = propagate(m, op.how, given, random_policy(random));
    for (std::size_t j = 0; j < p.results.size(); ++j) {
      partial += p.results[j].is_partial();
      cut_further += p.results[j].cut_axes() != 0;
    }
    const std::string why = wrong(op, reference_case_of(op, random), p.operands, p.results, random());
    if (!why.empty() && unsound[op.name]++ == 0) BOOST_TEST_MESSAGE(described(op, m, p, given, why).c_str());
    ++all;
  }
  for (const auto& [name, n] : unsound) BOOST_ERROR(n << " unsound answers for " << name);
  BOOST_TEST(all == cases);
  // and the answers are not just "replicate everything"
  BOOST_TEST(partial > all / 20);
  BOOST_TEST(cut_further > all / 3);
}

BOOST_AUTO_TEST_CASE(a_rule_that_is_wrong_is_found_out) {
  // softmax, with a rule that lets its row be cut; a sum that is said to be whole
  std::mt19937_64 random(1);
  const mesh m{axis("a", 2)};
  operation_case op;
  while (op.name != "softmax" || op.operands[0] != shape_list{4}) op = random_along(random);
  const auto lies = propagate(m, rule("a->a"), {spec{m.layout("a"), {4}}});
  BOOST_TEST(wrong(op, reference_case_of(op, random), lies.operands, lies.results, 1) == "a dimension is not whole");
  while (op.name != "einsum ab,ab->a" || op.operands[0] != shape_list{3, 4}) op = random_einsum(random);
  auto half = propagate(m, op.how, {spec{m.layout("", "a"), {3, 4}}, spec{m.layout("", "a"), {3, 4}}});
  BOOST_TEST(wrong(op, reference_case_of(op, random), half.operands, half.results, 1) == "");
  half.results[0] = half.results[0].without_partials();
  BOOST_TEST(wrong(op, reference_case_of(op, random), half.operands, half.results, 1) == "devices disagree");
}

BOOST_AUTO_TEST_CASE(answers_backward_and_mixed_are_sound) {
  std::mt19937_64 random(7);
  std::map<std::string, std::size_t> unsound;
  const std::size_t cases = test::random_cases(20000);
  for (std::size_t k = 0; k < cases; ++k) {
    const operation_case op = random_operation(random);
    const mesh m = random_mesh(random, 3);
    const auto given = random_specs(op, m, random);
    std::vector<spec> results;
    for (const shape_list& shape : op.results) results.emplace_back(random_sharding(m, shape.size(), random), shape);
    const auto p = propagate(m, op.how, given, results, random() % 2 == 0 ? direction::backward : direction::mixed,
                             random_policy(random));
    const std::string why = wrong(op, reference_case_of(op, random), p.operands, p.results, random());
    if (!why.empty() && unsound[op.name]++ == 0) BOOST_TEST_MESSAGE(described(op, m, p, given, why).c_str());
  }
  for (const auto& [name, n] : unsound) BOOST_ERROR(n << " unsound answers for " << name);
  BOOST_TEST(unsound.empty());
}

BOOST_AUTO_TEST_CASE(on_one_axis_nothing_is_moved_that_could_have_stayed) {
  std::mt19937_64 random(99);
  std::map<std::string, std::size_t> needless;
  std::size_t moved = 0;
  const std::size_t cases = test::random_cases(30000);
  for (std::size_t k = 0; k < cases; ++k) {
    const operation_case op = random_operation(random);
    // where channels stand in groups, what is whole is sliced as the other side is cut: a group has one list of axes
    if (op.name.find("convolution in groups") != std::string::npos || op.name == "grouped convolution" ||
        op.name == "depthwise convolution")
      continue;
    // a dimension of one element is never cut, and what is done along it is nothing
    bool degenerate = op.results.size() > 2;
    for (const shape_list& s : op.operands)
      for (const std::size_t e : s) degenerate = degenerate || e == 1;
    if (degenerate) continue;
    const mesh m{axis("a", one_of(random, {2, 3}))};
    const auto given = random_specs(op, m, random, true);
    const auto p = propagate(m, op.how, given);
    if (p.reshards.empty()) continue;
    ++moved;
    // is there any sharding of the results that these operands give as they lie?
    std::vector<sharding> as_given;
    for (const spec& one : given) as_given.push_back(one.layout);
    std::vector<reference_case> tries;
    for (std::size_t n = 0; n < 16; ++n) tries.push_back(reference_case_of(op, random));
    std::vector<sharding> candidates(op.results.size());
    const std::function<bool(std::size_t)> any = [&](std::size_t j) -> bool {
      if (j == op.results.size())
        return std::all_of(tries.begin(), tries.end(), [&](const reference_case& one) {
          return wrong(op, one, as_given, candidates, random()).empty();
        });
      const std::size_t rank = op.results[j].size();
      for (std::size_t d = 0; d < rank; ++d) {
        candidates[j] = sharding(m, rank).cut(d, axis_list(0));
        if (any(j + 1)) return true;
      }
      candidates[j] = sharding(m, rank);
      if (any(j + 1)) return true;
      for (const pending_reduction kind :
           {pending_reduction::sum, pending_reduction::avg, pending_reduction::max, pending_reduction::min,
            pending_reduction::prod, pending_reduction::any, pending_reduction::all}) {
        candidates[j] = sharding(m, rank).partial(std::size_t{0}, kind);
        if (any(j + 1)) return true;
      }
      return false;
    };
    if (any(0) && needless[op.name]++ == 0) {
      text also;
      for (const sharding& s : candidates) also << " could be " << s;
      BOOST_TEST_MESSAGE(described(op, m, p, given, also.c_str()).c_str());
    }
  }
  for (const auto& [name, n] : needless) BOOST_ERROR(n << " needless reshards for " << name);
  BOOST_TEST(moved > cases / 30);
}

BOOST_AUTO_TEST_SUITE_END()
