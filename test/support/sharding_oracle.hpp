// Operations on small integers, written from their mathematical definitions. Simulated devices execute them block by
// block.
//
// An operation gives a letter to every dimension of every tensor: dimensions with the same letter must be sharded in
// the same way, and '_' must not be sharded. Elements are read by their global index from the block that a device
// holds; reading outside the block is an error.
#pragma once

#include <functional>
#include <partita/rule/sharding/propagate.hpp>
#include "simulated_mesh.hpp"

namespace oracle {

using namespace simulated;

/// One device's view of a tensor.
struct view {
  const tensor* t = nullptr;
  const block* own = nullptr;
  number operator()(const shape_list& i) const {
    std::size_t at = 0;
    if (i.size() != own->size()) throw std::runtime_error("another rank");
    for (std::size_t d = 0; d < i.size(); ++d) {
      if (i[d] < (*own)[d].start || i[d] >= (*own)[d].stop)
        throw std::runtime_error("an operand's element is elsewhere");
      at = at * (*own)[d].size() + i[d] - (*own)[d].start;
    }
    return t->values[at];
  }
};

/// The range of indices of each letter on a device.
struct ranges {
  std::array<interval, 128> of{};
  std::array<bool, 128> known{};
  const interval& operator[](char letter) const { return of[static_cast<std::size_t>(letter)]; }
};

struct operation_case {
  using formula =
      std::function<number(const std::vector<view>&, std::size_t result, const shape_list& i, const ranges&)>;
  std::string name;
  std::string letters;  ///< the letters of all tensors, separated by ',' and '>'
  std::vector<shape_list> operands, results;
  rule how;
  formula value;
  number low = -3, high = 3, times = 1;  ///< the range of the operands' elements, which are multiples of `times`
  bool by_order = false;                 ///< a reshape, which keeps the C order of the elements: no letters, no formula
  std::uint32_t indices = 0;             ///< a bit for each operand of indices: its values are in [0, index_limit)
  number index_limit = 1;
};

inline std::vector<std::string> letters_by_tensor(const std::string& letters) {
  std::vector<std::string> all{""};
  for (const char c : letters) {
    if (c == ',' || c == '>') all.emplace_back();
    else all.back() += c;
  }
  return all;
}

/// The result blocks that one device computes from its operand blocks. Throws if the device lacks an element.
inline devices executed(const operation_case& op, const std::vector<view>& operands,
                        const std::vector<block>& result_blocks) {
  devices out;
  if (op.by_order) {
    tensor t(shape_of(result_blocks[0]));
    if (t.values.size() != operands[0].t->values.size()) throw std::runtime_error("blocks of different volume");
    t.values = operands[0].t->values;
    return {t};
  }
  const auto letters = letters_by_tensor(op.letters);
  ranges local;
  for (std::size_t t = 0; t < letters.size(); ++t) {
    const block& own = t < operands.size() ? *operands[t].own : result_blocks[t - operands.size()];
    const shape_list& shape = t < operands.size() ? op.operands[t] : op.results[t - operands.size()];
    if (own.size() != letters[t].size()) throw std::logic_error("letters of another rank: " + op.name);
    for (std::size_t d = 0; d < own.size(); ++d) {
      const auto c = static_cast<std::size_t>(letters[t][d]);
      if (letters[t][d] == '_') {
        if (!(own[d] == interval{0, shape[d]})) throw std::runtime_error("a dimension is not whole");
      } else if (!local.known[c]) {
        local.known[c] = true, local.of[c] = own[d];
      } else if (!(local.of[c] == own[d])) {
        throw std::runtime_error("a letter is cut in two ways");
      }
    }
  }
  for (std::size_t j = 0; j < result_blocks.size(); ++j) {
    tensor t(shape_of(result_blocks[j]));
    std::size_t at = 0;
    for_each_index(t.shape, [&](const shape_list& i) {
      t.values[at++] = op.value(operands, j, shifted(i, result_blocks[j], 1), local);
    });
    out.push_back(t);
  }
  return out;
}

inline block whole_block(const shape_list& shape) {
  block all;
  for (const std::size_t extent : shape) all.push_back({0, extent});
  return all;
}

/// The whole operands, and the results of the operation on them.
struct reference_case {
  std::vector<tensor> operands;
  devices results;
};
template <class Random>
reference_case reference_case_of(const operation_case& op, Random& random) {
  reference_case all;
  std::vector<block> blocks, result_blocks;
  std::vector<view> views;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const bool places = (op.indices >> i & 1U) != 0;
    all.operands.push_back(
        random_tensor(op.operands[i], random, places ? 0 : op.low, places ? op.index_limit - 1 : op.high));
    if (!places)
      for (number& v : all.operands.back().values) v *= op.times;
    blocks.push_back(whole_block(op.operands[i]));
  }
  for (std::size_t i = 0; i < op.operands.size(); ++i) views.push_back({&all.operands[i], &blocks[i]});
  for (const shape_list& shape : op.results) result_blocks.push_back(whole_block(shape));
  all.results = executed(op, views, result_blocks);
  return all;
}

/// Shards the operands as given, executes the operation on every device, and compares the results. Returns an empty
/// string if all results are right, or else an error message.
template <class Operands, class Results>
std::string wrong(const operation_case& op, const reference_case& whole, const Operands& operands,
                  const Results& results, std::uint64_t seed) {
  try {
    std::vector<devices> operand_blocks;
    const mesh& m = operands[0].on;
    for (std::size_t i = 0; i < whole.operands.size(); ++i)
      operand_blocks.push_back(simulated::cut(whole.operands[i], operands[i], seed + i, op.times));
    std::vector<devices> computed_blocks(op.results.size());
    for (std::size_t k = 0; k < m.size(); ++k) {
      std::vector<block> blocks, result_blocks;
      std::vector<view> views;
      for (std::size_t i = 0; i < operand_blocks.size(); ++i)
        blocks.push_back(mesh_block(operands[i], op.operands[i], k));
      for (std::size_t i = 0; i < operand_blocks.size(); ++i) views.push_back({&operand_blocks[i][k], &blocks[i]});
      for (std::size_t j = 0; j < op.results.size(); ++j)
        result_blocks.push_back(mesh_block(results[j], op.results[j], k));
      devices mine = executed(op, views, result_blocks);
      for (std::size_t j = 0; j < mine.size(); ++j) computed_blocks[j].push_back(mine[j]);
    }
    for (std::size_t j = 0; j < computed_blocks.size(); ++j)
      if (!(reassembled(computed_blocks[j], results[j], op.results[j]) == whole.results[j])) return "other values";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

// --- helpers that define operations ---

template <class Random>
std::size_t one_of(Random& random, std::initializer_list<std::size_t> all) {
  return all.begin()[random() % all.size()];
}
template <class Random>
std::size_t extent(Random& random) {
  return one_of(random, {1, 2, 3, 4, 4, 6});
}
template <class Random>
shape_list some_shape(Random& random, std::size_t least, std::size_t most) {
  shape_list s;
  for (std::size_t n = least + random() % (most - least + 1); n > 0; --n) s.push_back(extent(random));
  return s;
}
inline std::string alphabet(std::size_t n) { return std::string("abcdefghij").substr(0, n); }
inline shape_list replaced(shape_list s, std::size_t d, std::size_t value) {
  s[d] = value;
  return s;
}
inline shape_list without(const shape_list& s, std::size_t removed) {
  shape_list r;
  for (std::size_t d = 0; d < s.size(); ++d)
    if (d != removed) r.push_back(s[d]);
  return r;
}
inline shape_list inserted(const shape_list& s, std::size_t at, std::size_t value) {
  shape_list r;
  for (std::size_t d = 0; d <= s.size(); ++d) {
    if (d == at) r.push_back(value);
    if (d < s.size()) r.push_back(s[d]);
  }
  return r;
}

/// The sum of the products of all operands in `operand_bits` (bits), over the letters that are in the operands but not
/// in the result.
inline number einsum_value(const std::vector<std::string>& letters, std::size_t result, std::uint32_t operand_bits,
                           const std::vector<view>& x, const shape_list& i, const ranges& local) {
  std::array<std::size_t, 128> at{};
  std::string summed;
  const std::string& here = letters[result];
  for (std::size_t d = 0; d < here.size(); ++d) at[static_cast<std::size_t>(here[d])] = i[d];
  for (std::size_t t = 0; t < x.size(); ++t)
    for (const char c : letters[t])
      if ((operand_bits >> t & 1U) != 0 && here.find(c) == std::string::npos && summed.find(c) == std::string::npos)
        summed += c;
  number all = 0;
  const std::function<void(std::size_t)> sum = [&](std::size_t n) {
    if (n < summed.size()) {
      for (std::size_t k = local[summed[n]].start; k < local[summed[n]].stop; ++k)
        at[static_cast<std::size_t>(summed[n])] = k, sum(n + 1);
      return;
    }
    number product = 1;
    for (std::size_t t = 0; t < x.size(); ++t) {
      if ((operand_bits >> t & 1U) == 0) continue;
      shape_list place;
      for (const char c : letters[t]) place.push_back(at[static_cast<std::size_t>(c)]);
      product *= x[t](place);
    }
    all += product;
  };
  sum(0);
  return all;
}

template <class Random>
std::array<std::size_t, 128> random_sizes(Random& random) {
  std::array<std::size_t, 128> size{};
  for (auto& n : size) n = extent(random);
  return size;
}
inline shape_list sized(const std::string& letters, const std::array<std::size_t, 128>& size) {
  shape_list s;
  for (const char c : letters) s.push_back(size[static_cast<std::size_t>(c)]);
  return s;
}

template <class Random>
operation_case random_einsum(Random& random) {
  static const char* const all[] = {"mk,kn->mn", "bmk,bkn->bmn", "bmk,kn->bmn", "k,k->",    "ab->ba",
                                    "abc->ac",   "ij,jk,kl->il", "a,b->ab",     "ab,ab->a", "bsd,btd->bst",
                                    "a,a->a",    "ab,b->a",      "abc,c->ba",   "ab->"};
  operation_case op;
  const std::string notation = all[random() % std::size(all)];
  op.name = "einsum " + notation;
  op.letters = notation;
  op.letters.erase(op.letters.find('-'), 1);
  op.how = rule(notation.c_str());
  const auto letters = letters_by_tensor(op.letters);
  const auto size = random_sizes(random);
  for (std::size_t t = 0; t + 1 < letters.size(); ++t) op.operands.push_back(sized(letters[t], size));
  op.results = {sized(letters.back(), size)};
  op.value = [letters](const std::vector<view>& x, std::size_t, const shape_list& i, const ranges& local) {
    return einsum_value(letters, letters.size() - 1, ~std::uint32_t{0}, x, i, local);
  };
  return op;
}

}  // namespace oracle
