// A sharding rule: prints the shardings of operands and results and the communication that they need, with reasons.
// Without operands it prints what sharding each letter costs.
#pragma once

#include <optional>
#include <partita/explain/propagation_picture.hpp>
#include <partita/plan/plan_reshard.hpp>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

/// Parses a mesh such as data=2,model=4; multiplies sizes above 1 by `factor`.
inline partita::mesh mesh_from(const std::string& written, std::size_t factor) {
  partita::mesh m;
  for (const std::string& one : split(written, ',')) {
    const std::vector<std::string> parts = split(one, '=');
    if (parts.size() != 2) throw usage_error("--mesh is written as data=2,model=4");
    const std::size_t size = number(parts[1]);
    m.push_back(partita::axis(parts[0].c_str(), size > 1 ? size * factor : size));
  }
  return m;
}

/// Parses a tensor: 8x128x64, whose sharding is to be inferred, or 8x128x64@data,,model with an entry for each
/// dimension.
inline partita::spec spec_from(const partita::mesh& m, const std::string& written, std::size_t factor) {
  const std::size_t at = written.find('@');
  partita::shape_list shape = extents(written.substr(0, at));
  require_countable(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) shape[d] *= factor;
  if (at == std::string::npos) return partita::spec(shape);
  const std::vector<std::string> entries = split(written.substr(at + 1), ',');
  partita::sharding layout(m, entries.size());
  for (std::size_t d = 0; d < entries.size(); ++d) {
    const partita::sharding one = m.layout(entries[d].c_str());
    layout = layout.cut(d, one[0]);
    if (one.is_open(0)) layout.open = static_cast<std::uint16_t>(layout.open | 1U << d);
  }
  return {layout, shape};
}

inline std::string said(const partita::sharding& s) {
  partita::text words;
  words << s;
  return words.c_str();
}

/// Prints what sharding each letter of a rule means: all operands with the letter are sharded over one mesh axis.
inline void print_letters(const partita::rule& r, std::size_t size) {
  using namespace partita;
  if (size == 0) throw usage_error("--size takes 1 or more");
  const auto cut_by = [&](std::size_t f, const mesh& m) {
    const std::size_t parts = m.size(), even = (size + parts - 1) / parts * parts;
    std::vector<spec> operands;
    rule sized = r;  // the factors of a merged dimension such as (ab) need sizes
    for (std::size_t k = 0; k < r.factor_count; ++k)
      if (sized.factors[k].size == dynamic && !sized.factors[k].extents_may_differ)
        sized.factors[k].size = k == f ? even : size;
    for (std::size_t t = 0; t < r.operand_count; ++t) {
      shape_list shape;
      sharding layout(m, r.rank(t));
      bool done = false;
      for (std::size_t d = 0; d < r.rank(t); ++d) {
        std::size_t all = 1;
        for (std::size_t k = 0; k < r.at(t, d).count; ++k) {
          const std::size_t here = r.term(r.at(t, d), k);
          all *= here == f ? even : size;
          if (k == 0 && here == f && !done) layout = layout.cut(d, axis_list{0}), done = true;
        }
        shape.push_back(all);
      }
      require_countable(shape);
      operands.emplace_back(layout, shape);
    }
    return propagate(m, sized, spec_list(operands));
  };
  table letters({"sharded by 4", "layouts of operands", "layouts of results", ""});
  const mesh four{axis("4", 4)};
  for (std::size_t f = 0; f < r.factor_count; ++f) {
    if (r.factors[f].letter == '_') continue;
    const propagation p = cut_by(f, four);
    std::string operands, results;
    for (const sharding& s : p.operands) operands += (operands.empty() ? "" : " and ") + said(s);
    for (const sharding& s : p.results) results += (results.empty() ? "" : " and ") + said(s);
    letters.add({std::string(1, r.factors[f].letter), operands, results,
                 operands.find('4') == std::string::npos ? "cannot be sharded without the letter before it"
                 : !p.reshards.empty()                   ? "moves operands first"
                 : p.results[0].is_partial()             ? "each worker holds a summand"
                                                         : "nothing moves"});
  }
  letters.print();

  for (std::size_t f = 0; f < r.factor_count; ++f) {
    if (r.factors[f].kind != factor_kind::reduce || r.factors[f].letter == '_') continue;
    std::cout << "\ncost of completing the sum where " << r.factors[f].letter
              << " is sharded and every other letter counts " << size << "\n";
    table cost({"workers", "bytes received at most", "seconds"});
    for (std::size_t n = 10; n <= 1'000'000; n *= 10) {
      const mesh m{axis("workers", n)};
      const propagation p = cut_by(f, m);
      const sharding& partial = p.results[0];
      shape_list shape;
      for (std::size_t d = 0; d < partial.rank(); ++d) shape.push_back(size);
      require_countable(shape);
      const auto plan = plan_reshard(m, partial, partial.without_partials(), shape,
                                     {{network.seconds_per_message, 1 / network.bytes_per_second}});
      cost.add({std::to_string(n), bytes(static_cast<double>(plan.bytes())), seconds(plan.seconds())});
    }
    cost.print();
    print_model(false);
  }
}

/// Throws an error if the results of the operands have too many elements. Extents that the shapes do not determine
/// count as 1.
inline void require_countable_results(const partita::rule& r, const std::vector<partita::spec>& operands,
                                      const std::vector<partita::spec>& results) {
  const partita::rule sized = partita::bind_shapes(r, partita::spec_list(operands), partita::spec_list(results));
  for (std::size_t j = 0; j < sized.result_count; ++j) {
    partita::shape_list shape = partita::result_shape(sized, j);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == partita::dynamic) shape[d] = 1;
    require_countable(shape);
  }
}

/// Propagates shardings through the operation of the command line, with all extents of its tensors multiplied by
/// `factor`.
inline partita::propagation_picture propagated(const arguments& given, const partita::rule& r, const partita::mesh& m,
                                               std::size_t factor) {
  using namespace partita;
  std::vector<spec> operands, results;
  for (std::size_t k = 1; k < given.words().size(); ++k) operands.push_back(spec_from(m, given.words()[k], factor));
  if (operands.size() != r.operand_count)
    throw usage_error("the rule has " + std::to_string(r.operand_count) + " operands, give a shape for each");
  for (const std::string& one : given.values("--result")) results.push_back(spec_from(m, one, factor));
  require_countable_results(r, operands, results);
  const direction towards = results.empty()           ? direction::forward
                            : given.has("--backward") ? direction::backward
                                                      : direction::mixed;
  policy by;
  if (given.has("--forbid-moves")) by = by.with(policy::reshard::forbid);
  return {r, operands, results, propagate(m, r, spec_list(operands), spec_list(results), towards, by)};
}

/// The communication on one mesh as a short text: "all_gather model of operand 0".
inline std::string strategy(const partita::propagation_picture& of, bool before) {
  partita::long_text all;
  for (const partita::tensor_move& move : of.moves)
    if (of.is_before(move) == before)
      all << (all.empty() ? "" : "; ") << partita::detail::steps_text(move.plan) << " of " << of.name(move.tensor);
  return all.empty() ? "-" : all.c_str();
}

inline double moved(const partita::propagation_picture& of, bool before) {
  std::size_t all = 0;
  for (const partita::tensor_move& move : of.moves)
    if (of.is_before(move) == before) all += move.plan.bytes();
  return static_cast<double>(all);
}

/// Prints a row for each size of the mesh. The strategy may change from row to row, so each row names its
/// communication.
inline void print_growth(const arguments& given, const partita::rule& r, const std::string& axes) {
  using namespace partita;
  std::cout << "\ncost as mesh and tensors grow together, bytes received by a worker\n";
  shape_list sizes;
  const mesh m = mesh_from(axes, 1);
  for (std::size_t a = 0; a < m.rank(); ++a) sizes.push_back(m.size(a));
  std::vector<std::string> heading{"workers", "mesh", "before", "what moves before", "after", "what moves after"};
  table cost(heading);
  strategy_changes changes;
  bool too_large = false;
  for_scales(sizes, [&](std::size_t factor) {
    if (too_large) return;
    const mesh larger = mesh_from(axes, factor);
    text name;
    name << larger;
    std::optional<propagation_picture> found;
    try {
      found.emplace(propagated(given, r, larger, factor));
    } catch (const request_error&) {
      too_large = true;
      return;
    }
    const propagation_picture& grown = *found;
    const std::string before = strategy(grown, true), after = strategy(grown, false);
    const std::string workers = std::to_string(larger.size());
    changes.add(workers, before + " and " + after);
    cost.add({workers, name.c_str(), bytes(moved(grown, true)), before, bytes(moved(grown, false)), after});
  });
  cost.print();
  if (too_large) std::cout << truncation_note;
  changes.print("the moves");
  std::cout << "  (the mesh axes and extents above 1 are all multiplied by one number)\n";
}

inline int explain_sharding(int argc, char** argv) {
  using namespace partita;
  const arguments given(argc, argv, {"--mesh", "--result", "--size", "--svg"}, {"--backward", "--forbid-moves"});
  if (given.words().empty()) throw usage_error("give a rule such as \"bmk,kn->bmn\"");
  const rule r(given.words()[0].c_str());
  text title;
  title << r;
  std::cout << "rule " << title << ": a letter that is missing on the right is summed\n\n";
  if (given.has("--backward") && !given.has("--result")) throw usage_error("--backward takes --result");
  if (given.words().size() > 1 && given.has("--size")) throw usage_error("--size is for a rule without shapes");
  if (given.words().size() == 1) {
    for (const char* option : {"--mesh", "--result", "--forbid-moves"})
      if (given.has(option)) throw usage_error(std::string(option) + " takes the shapes of the operands, too");
    if (given.has("--svg")) throw usage_error("--svg takes the shapes of the operands, and a mesh");
    print_letters(r, given.count("--size", 1024));
    return 0;
  }
  const std::string axes = given.value("--mesh", "data=2,model=4");
  const propagation_picture p = propagated(given, r, mesh_from(axes, 1), 1);
  std::cout << explain(p.decided, r);
  if (!p.moves.empty()) std::cout << "\n" << to_text(p);
  print_growth(given, r, axes);
  for (std::size_t k = 0; k < p.decided.results.size(); ++k)
    if (p.decided.results[k].is_partial() && !given.has("--result"))
      std::cout << "  (the reduction of the partial sums of result " << k
                << " is not counted: --result SHAPE@LAYOUT requests and counts it)\n";
  if (given.has("--svg")) given.save(to_svg(p));
  return 0;
}

}  // namespace tool
