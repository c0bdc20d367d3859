// Which of the proposed shardings propagation chooses, by each policy: a definition in lists of axes, for rules without
// merged dimensions, gives the same answers.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <numeric>
#include <partita/rule/sharding/propagate.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;
using axes = std::vector<std::size_t>;

/// An operation on operands of these letters, and how each dimension of the operands, and of the result if it is given,
/// is sharded. Tensors from `first` on propose their axes.
struct problem {
  mesh on;
  std::vector<std::string> operands;
  std::string result;
  std::map<char, std::size_t> extents;
  std::vector<std::vector<axes>> given;
  std::vector<std::size_t> element_bytes;  ///< of each tensor that is given
  std::size_t first = 0;
  policy by;

  const std::string& tensor(std::size_t i) const { return i < operands.size() ? operands[i] : result; }
  std::string notation() const {
    std::string all;
    for (const std::string& one : operands) all += (all.empty() ? "" : ",") + one;
    return all + "->" + result;
  }
  /// The letters in the order of the notation.
  std::string letters() const {
    std::string all;
    for (const char c : notation())
      if (c >= 'a' && all.find(c) == std::string::npos) all += c;
    return all;
  }
  std::size_t blocks(const axes& list) const {
    std::size_t n = 1;
    for (const std::size_t a : list) n *= on.size(a);
    return n;
  }
  sharding layout(std::size_t i) const {
    sharding s(on, tensor(i).size());
    for (std::size_t d = 0; d < tensor(i).size(); ++d)
      for (const std::size_t a : given[i][d]) s.cuts[d].push_back(a);
    return s;
  }
  spec given_spec(std::size_t i) const {
    return spec(layout(i), shape(tensor(i))).with_element_bytes(element_bytes[i]);
  }
  shape_list shape(const std::string& of) const {
    shape_list all;
    for (const char c : of) all.push_back(extents.at(c));
    return all;
  }
};

bool has(const axes& list, std::size_t a) { return std::find(list.begin(), list.end(), a) != list.end(); }
bool starts_with(const axes& list, const axes& with) {
  return list.size() >= with.size() && std::equal(with.begin(), with.end(), list.begin());
}
axes without(axes list, std::size_t a) {
  list.erase(std::remove(list.begin(), list.end(), a), list.end());
  return list;
}

struct definition {
  const problem& p;
  std::map<char, axes> cut{};

  bool is_summed(char c) const { return p.result.find(c) == std::string::npos; }
  bool is_everywhere(char c) const {
    return !is_summed(c) && std::all_of(p.operands.begin(), p.operands.end(),
                                        [&](const std::string& one) { return one.find(c) != std::string::npos; });
  }
  /// The bytes that the tensors receive if these axes shard a letter, and those of the sum that is then pending.
  std::size_t bytes(char c, const axes& list) {
    std::size_t all = 0;
    for (std::size_t i = p.first; i < p.given.size(); ++i)
      for (std::size_t d = 0; d < p.tensor(i).size(); ++d) {
        if (p.tensor(i)[d] != c || p.given[i][d].empty()) continue;
        sharding to = p.layout(i);
        to.cuts[d] = axis_list();
        for (const std::size_t a : list) to.cuts[d].push_back(a);
        all += moved_bytes(p.layout(i), to, p.shape(p.tensor(i)), p.element_bytes[i]);
      }
    if (!is_summed(c)) return all;
    double block = 0;  // of elements as large as the largest of the operands that are multiplied
    for (std::size_t i = 0; i < p.operands.size(); ++i)
      if (p.operands[i].find(c) != std::string::npos) block = std::max(block, static_cast<double>(p.element_bytes[i]));
    for (const char r : p.result) block *= static_cast<double>(p.extents.at(r));
    for (const char r : p.letters())
      if (!is_summed(r)) block /= static_cast<double>(p.blocks(cut[r]));
    const auto workers = static_cast<double>(p.blocks(list));
    return all + static_cast<std::size_t>(2 * (workers - 1) / workers * block);
  }
  /// All axes of a letter that tensors shard differently: longer lists first, then more blocks, then lower axes.
  axes joined(char c) const {
    std::vector<axes> lists;
    for (std::size_t i = p.first; i < p.given.size(); ++i)
      for (std::size_t d = 0; d < p.tensor(i).size(); ++d)
        if (p.tensor(i)[d] == c && !p.given[i][d].empty()) lists.push_back(p.given[i][d]);
    std::stable_sort(lists.begin(), lists.end(), [&](const axes& a, const axes& b) {
      if (a.size() != b.size()) return a.size() > b.size();
      return p.blocks(a) != p.blocks(b) ? p.blocks(a) > p.blocks(b) : a < b;
    });
    axes all;
    for (const axes& list : lists)
      for (const std::size_t a : list)
        if (!has(all, a)) all.push_back(a);
    return all;
  }
  /// Each tensor in turn proposes its axes.
  void adopt() {
    using enum policy::conflict;
    std::set<char> differing;
    for (std::size_t i = p.first; i < p.given.size(); ++i)
      for (std::size_t d = 0; d < p.tensor(i).size(); ++d) {
        const char c = p.tensor(i)[d];
        const axes& list = p.given[i][d];
        if (starts_with(cut[c], list)) continue;
        const bool larger = p.blocks(list) > p.blocks(cut[c]);
        if (starts_with(list, cut[c])) cut[c] = list;
        else if (p.by.disagreement == join) differing.insert(c);
        else if (p.by.disagreement == cost ? bytes(c, list) < bytes(c, cut[c])
                                           : larger && p.by.disagreement != first_wins)
          cut[c] = list;
      }
    for (const char c : differing) cut[c] = joined(c);
  }
  /// The tensor with most lists of several axes, then most blocks, is followed; the others add axes that it leaves.
  void follow_the_most_cut() {
    const auto worth = [&](std::size_t i) {
      std::size_t lists = 0, blocks = 1;
      for (const axes& list : p.given[i]) lists += list.size() > 1, blocks *= p.blocks(list);
      return std::pair(lists, blocks);
    };
    std::size_t best = p.first;
    for (std::size_t i = best; i < p.given.size(); ++i)
      if (worth(i) > worth(best)) best = i;
    std::set<std::size_t> used;
    const auto add = [&](std::size_t i) {
      for (std::size_t d = 0; d < p.tensor(i).size(); ++d)
        for (const std::size_t a : p.given[i][d])
          if (used.insert(a).second) cut[p.tensor(i)[d]].push_back(a);
    };
    add(best);
    for (std::size_t i = p.first; i < p.given.size(); ++i) add(i);
  }
  /// Letters that request an axis, in the order of tensors and dimensions.
  std::string contenders(const std::string& among, std::size_t a) {
    std::string all;
    for (std::size_t i = p.first; i < p.given.size(); ++i)
      for (std::size_t d = 0; d < p.tensor(i).size(); ++d) {
        const char c = p.tensor(i)[d];
        if (among.find(c) != std::string::npos && has(p.given[i][d], a) && has(cut[c], a) &&
            all.find(c) == std::string::npos)
          all += c;
      }
    return all;
  }
  double worth(char c, const std::string& all, std::size_t a) {
    using enum policy::conflict;
    if (p.by.axis_conflict == first_wins) return 0;
    if (p.by.axis_conflict == most_shards) return static_cast<double>(p.blocks(cut[c]));
    if (p.by.axis_conflict != cost) return static_cast<double>(p.extents.at(c));
    std::size_t all_bytes = bytes(c, cut[c]);
    for (const char other : all)
      if (other != c) all_bytes += bytes(other, without(cut[other], a));
    return -static_cast<double>(all_bytes);
  }
  /// Each axis goes to one of these letters.
  void share_out(const std::string& among, std::set<std::size_t>& taken) {
    std::set<std::size_t> wanted, contested;
    for (const char c : among) {
      for (const std::size_t a : taken) cut[c] = without(cut[c], a);
      while (p.by.blocks == policy::uneven::forbid && p.extents.at(c) % p.blocks(cut[c]) != 0) cut[c].pop_back();
      for (const std::size_t a : cut[c])
        if (!wanted.insert(a).second) contested.insert(a);
    }
    for (const std::size_t a : contested) {
      const std::string all = contenders(among, a);
      if (all.empty()) continue;
      char winner = all[0];
      for (const char c : all)
        if (worth(c, all, a) > worth(winner, all, a)) winner = c;
      for (const char c : all)
        if (c != winner) cut[c] = without(cut[c], a);
    }
    taken.insert(wanted.begin(), wanted.end());
  }
  void resolve() {
    const std::string letters = p.letters();
    const bool elementwise = std::all_of(letters.begin(), letters.end(), [&](char c) { return is_everywhere(c); });
    if (p.by.disagreement == policy::conflict::join && elementwise && p.given.size() - p.first > 1)
      follow_the_most_cut();
    else adopt();
    std::set<std::size_t> taken;
    if (!p.by.by_precedence) share_out(letters, taken);
    for (int precedence = 0; p.by.by_precedence && precedence < 3; ++precedence) {
      std::string among;
      for (const char c : letters)
        if (precedence == (is_everywhere(c) ? 0 : is_summed(c) ? 2 : 1)) among += c;
      share_out(among, taken);
    }
  }
};

problem random_problem(std::mt19937_64& random) {
  using enum policy::conflict;
  static const std::vector<std::vector<std::string>> rules = {
      {"ab", "ab", "ab"}, {"ab", "ab", "ab", "ab"}, {"ab", "bc", "ac"},  {"abc", "acd", "abd"}, {"abc", "abc"},
      {"ab", "a"},        {"ab", "cb", "ac"},       {"abc", "bc", "ab"}, {"ab", "b", "a", "ab"}};
  problem p;
  const std::vector<std::string>& tensors = rules[random() % rules.size()];
  p.operands.assign(tensors.begin(), tensors.end() - 1);
  p.result = tensors.back();
  const char* const names[] = {"p", "q", "r"};
  for (const char* const name : names) p.on.push_back(axis(name, 2 + random() % 3));
  for (const char c : p.letters()) p.extents[c] = std::vector<std::size_t>{4, 6, 8, 12, 16, 24}[random() % 6];
  const std::size_t towards = random() % 3;  // forward, mixed, backward
  for (std::size_t i = 0; i < p.operands.size() + (towards > 0 ? 1 : 0); ++i) {
    const std::string& one = p.tensor(i);
    std::vector<axes> dimensions(one.size());
    axes order{0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t a : order)
      if (const std::size_t d = random() % (one.size() + 1); d < one.size()) dimensions[d].push_back(a);
    p.given.push_back(dimensions);
    p.element_bytes.push_back(std::vector<std::size_t>{1, 2, 4, 4, 8}[random() % 5]);
  }
  if (towards == 2) p.first = p.operands.size();
  const policy::conflict all[] = {first_wins, larger_dim_wins, most_shards, cost, join};
  p.by.axis_conflict = all[random() % 5], p.by.disagreement = all[random() % 5];
  p.by.by_precedence = random() % 2 == 0;
  p.by.blocks = random() % 2 == 0 ? policy::uneven::forbid : policy::uneven::balanced;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resolving_conflicts)

BOOST_AUTO_TEST_CASE(what_is_chosen_is_what_the_policy_says) {
  std::mt19937_64 random(31);
  const std::size_t cases = test::random_cases(20000);
  std::size_t changed = 0;
  bool same = true;
  for (std::size_t k = 0; k < cases && same; ++k) {
    const problem p = random_problem(random);
    std::vector<spec> operands;
    for (std::size_t i = 0; i < p.operands.size(); ++i) operands.push_back(p.given_spec(i));
    std::vector<spec> results;
    if (p.given.size() > p.operands.size()) results.push_back(p.given_spec(p.operands.size()));
    const direction towards = results.empty() ? direction::forward
                              : p.first == 0  ? direction::mixed
                                              : direction::backward;
    const propagation found =
        propagate(p.on, rule(p.notation().c_str()), spec_list(operands), spec_list(results), towards, p.by);
    definition wanted{p};
    wanted.resolve();
    const auto expected = [&](const std::string& of) {
      sharding s(p.on, of.size());
      for (std::size_t d = 0; d < of.size(); ++d)
        for (const std::size_t a : wanted.cut[of[d]]) s.cuts[d].push_back(a);
      return s;
    };
    for (std::size_t i = 0; i < p.operands.size(); ++i) {
      same = same && found.operands[i] == expected(p.operands[i]);
      changed += !(found.operands[i] == p.layout(i));
    }
    sharding result = expected(p.result);
    for (const char c : p.letters())
      if (wanted.is_summed(c))
        for (const std::size_t a : wanted.cut[c]) result.pending[a] = pending_reduction::sum;
    same = same && found.results[0] == result;
    // what moves: operands from what is given to what is needed, the result from what is made to what is given
    std::vector<reshard_need> moves;
    for (std::size_t i = 0; i < p.given.size(); ++i) {
      const bool is_operand = i < p.operands.size();
      const sharding &from = is_operand ? operands[i].layout : found.results[0],
                     &to = is_operand ? found.operands[i] : results[0].layout;
      if (!from.same_layout(to))
        moves.push_back(
            {static_cast<std::uint8_t>(i), moved_bytes(from, to, p.shape(p.tensor(i)), p.element_bytes[i])});
    }
    same = same && std::vector<reshard_need>(found.reshards.begin(), found.reshards.end()) == moves;
    if (same) continue;
    text all;
    for (const sharding& s : found.operands) all << ' ' << s;
    all << " -> " << found.results[0] << ", not -> " << result << " of";
    for (std::size_t i = p.first; i < p.given.size(); ++i) all << ' ' << p.shape(p.tensor(i)) << ' ' << p.layout(i);
    BOOST_TEST(same, p.notation() << all.c_str() << " by " << static_cast<int>(p.by.disagreement) << ' '
                                  << static_cast<int>(p.by.axis_conflict) << ' ' << p.by.by_precedence);
  }
  BOOST_TEST(changed > cases / 2);
}

/// Operands of one shape that are alike: an axis that cuts the same dimension of all of them stays there; every other
/// axis goes to the dimension without an axis that costs least: for each operand that this dimension does
/// not cut yet, the elements of its block, times the workers of the axis. Of equal costs the first dimension is taken.
BOOST_AUTO_TEST_CASE(operands_that_are_alike_are_aligned_at_the_lowest_cost) {
  std::mt19937_64 random(33);
  const std::size_t cases = test::random_cases(8000);
  std::size_t disputes = 0;
  bool same = true;
  for (std::size_t k = 0; k < cases && same; ++k) {
    problem p;
    const char* const names[] = {"p", "q", "r"};
    for (const char* const name : names) p.on.push_back(axis(name, 2 + 2 * (random() % 2)));
    const std::string letters = "abc";
    for (const char c : letters) p.extents[c] = std::vector<std::size_t>{2, 4, 8, 16}[random() % 4];
    const std::size_t whole = random() % 4;  // a dimension that must be unsharded, or none
    for (std::size_t i = 2 + random() % 3; i > 0; --i) {
      std::vector<axes> dimensions(3);
      for (std::size_t a = 0; a < 3; ++a)
        if (const std::size_t d = random() % 4; d < 3) dimensions[d].push_back(a);
      p.operands.push_back(letters), p.given.push_back(dimensions), p.element_bytes.push_back(4);
    }
    p.result = letters;
    std::vector<axes> wanted(3);
    std::vector<bool> has_axis(3, false);
    axes disputed;
    for (std::size_t a = 0; a < 3; ++a) {
      std::vector<std::size_t> places;
      for (const std::vector<axes>& one : p.given)
        places.push_back(static_cast<std::size_t>(
            std::find_if(one.begin(), one.end(), [&](const axes& list) { return has(list, a); }) - one.begin()));
      const bool agree = std::equal(places.begin() + 1, places.end(), places.begin());
      if (!agree || (places[0] < 3 && places[0] == whole)) disputed.push_back(a);
      else if (places[0] < 3) wanted[places[0]].push_back(a), has_axis[places[0]] = true;
    }
    disputes += disputed.size();
    for (const std::size_t a : disputed) {
      std::size_t best = 3, least = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        if (d == whole || has_axis[d] || p.extents[letters[d]] < p.on.size(a)) continue;
        std::size_t cost = 0;  // in 64ths of elements: blocks of up to 64 workers are counted exactly
        for (const std::vector<axes>& one : p.given) {
          if (!one[d].empty()) continue;
          std::size_t block = 64 * p.on.size(a);
          for (std::size_t e = 0; e < 3; ++e) block = block * p.extents[letters[e]] / p.blocks(one[e]);
          cost += block;
        }
        if (best == 3 || cost < least) best = d, least = cost;
      }
      if (best < 3) wanted[best].push_back(a), has_axis[best] = true;
    }
    rule how = rule(p.notation().c_str());
    if (whole < 3) how = how.replicate(std::string(1, letters[whole]).c_str());
    how.has_equivalent_operands = true;
    std::vector<spec> operands;
    for (std::size_t i = 0; i < p.operands.size(); ++i) operands.push_back(p.given_spec(i));
    const propagation found = propagate(p.on, how, spec_list(operands), policy().with(policy::conflict::align));
    sharding expected(p.on, 3);
    for (std::size_t d = 0; d < 3; ++d)
      for (const std::size_t a : wanted[d]) expected.cuts[d].push_back(a);
    for (const sharding& s : found.operands) same = same && s == expected;
    same = same && found.results[0] == expected;
    if (same) continue;
    text all;
    all << found.results[0] << ", not " << expected << " of";
    for (std::size_t i = 0; i < p.operands.size(); ++i) all << ' ' << p.layout(i);
    BOOST_TEST(same, all.c_str() << " of " << (text() << "" << p.shape(letters)) << " on " << (text() << "" << p.on)
                                 << (whole < 3 ? " whole in " : " ") << whole);
  }
  BOOST_TEST(disputes > cases / 2);
}

/// A tensor that must be replicated over an axis is neither cut by it nor partial over it.
BOOST_AUTO_TEST_CASE(what_must_be_replicated_is_replicated) {
  std::mt19937_64 random(34);
  std::size_t changed = 0;
  for (std::size_t k = 0; k < test::random_cases(4000); ++k) {
    const problem p = random_problem(random);
    const std::size_t chosen = random() % p.given.size(), a = random() % 3;
    if ((p.layout(chosen).cut_axes() >> a & 1U) != 0) continue;
    const auto found = [&](bool replicate) {
      std::vector<spec> all;
      for (std::size_t i = 0; i < p.given.size(); ++i) all.push_back(p.given_spec(i));
      if (replicate) all[chosen].layout = all[chosen].layout.replicate(p.on.axes[a].name());
      const auto result = all.begin() + static_cast<std::ptrdiff_t>(p.operands.size());
      const std::vector<spec> operands(all.begin(), result), results(result, all.end());
      const direction towards = results.empty() ? direction::forward
                                : p.first == 0  ? direction::mixed
                                                : direction::backward;
      return propagate(p.on, rule(p.notation().c_str()), spec_list(operands), spec_list(results), towards, p.by);
    };
    const auto touches = [&](const sharding& s) {
      return (s.cut_axes() >> a & 1U) != 0 || s.pending[a] != pending_reduction::none;
    };
    BOOST_TEST_REQUIRE(!touches(found(true)[chosen]), p.notation());
    changed += touches(found(false)[chosen]);
  }
  BOOST_TEST(changed > 0U);
}

BOOST_AUTO_TEST_CASE(the_cheapest_choice_is_the_same_for_elements_of_any_size) {
  std::mt19937_64 random(32);
  for (std::size_t k = 0; k < test::random_cases(4000); ++k) {
    problem p = random_problem(random);
    p.by.axis_conflict = p.by.disagreement = policy::conflict::cost;
    for (auto& one : p.extents) one.second *= 1728;  // every number of blocks divides it: all costs are whole numbers
    const auto found = [&](std::size_t element_bytes) {
      std::vector<spec> all;
      for (std::size_t i = 0; i < p.given.size(); ++i)
        all.push_back(spec(p.layout(i), p.shape(p.tensor(i))).with_element_bytes(element_bytes));
      const auto result = all.begin() + static_cast<std::ptrdiff_t>(p.operands.size());
      const std::vector<spec> operands(all.begin(), result), results(result, all.end());
      const direction towards = results.empty() ? direction::forward
                                : p.first == 0  ? direction::mixed
                                                : direction::backward;
      const propagation one =
          propagate(p.on, rule(p.notation().c_str()), spec_list(operands), spec_list(results), towards, p.by);
      std::vector<sharding> layouts(one.operands.begin(), one.operands.end());
      layouts.push_back(one.results[0]);
      return layouts;
    };
    const auto of_floats = found(4);
    for (const std::size_t bytes : {1U, 2U, 8U, 16U}) BOOST_TEST_REQUIRE((found(bytes) == of_floats), p.notation());
  }
}

BOOST_AUTO_TEST_SUITE_END()
