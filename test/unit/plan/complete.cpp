// Completion of whole programs, and its laws on random programs.
#include <partita/explain/completion_picture.hpp>
#include <partita/rule/sharding/rules.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

namespace {

using namespace partita;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

/// A feed-forward block with a residual.
struct block {
  graph g{m};
  value x = g.input({8, 128, 64}, "x"), up_weight = g.input({64, 256}, "up_weight"),
        down_weight = g.input({256, 64}, "down_weight");
  value up = g.apply(rules::matmul, {x, up_weight}, "up");
  value active = g.apply(rules::elementwise, {up}, "gelu");
  value down = g.apply(rules::matmul, {active, down_weight}, "down");
  value y = g.apply(rules::add, {x, down}, "residual");
};

/// Operations of a few kinds on matrices, and annotations of random values.
graph random_program(std::mt19937_64& random, std::size_t operations, std::size_t annotations, bool open = true) {
  static constexpr mesh on{axis{"a", 2}, axis{"b", 2}, axis{"c", 4}};
  graph g(on);
  std::vector<value> all;
  for (std::size_t k = 0; k < 4; ++k) all.push_back(g.input({16, 16}));
  const auto any = [&] {
    return all[all.size() < 12 || random() % 4 == 0 ? random() % all.size() : all.size() - 1 - random() % 12];
  };
  for (std::size_t k = 0; k < operations; ++k) {
    switch (random() % 6) {
      case 0:
        all.push_back(g.apply(rules::matmul, {any(), any()}));
        break;
      case 1:
        all.push_back(g.apply(rules::add, {any(), any()}));
        break;
      case 2:
        all.push_back(g.apply(rules::transpose({1, 0}), {any()}));
        break;
      case 3:
        all.push_back(g.apply(rules::softmax(), {any()}));
        break;
      case 4:
        all.push_back(g.apply(rules::elementwise, {any()}));
        break;
      default:
        all.push_back(
            g.apply(reshape_rule({4, 4, 16}, {16, 16}), {g.apply(reshape_rule({16, 16}, {4, 4, 16}), {any()})}));
    }
  }
  for (std::size_t k = 0; k < annotations; ++k) {
    const value v = any();
    sharding s(on, 2);
    for (std::size_t a = 0; a < 3; ++a)
      if (const std::size_t d = random() % 4; d < 2) s.cuts[d].push_back(a);
    if (open) s.open = static_cast<std::uint16_t>(random() % 4);
    g.constrain(v, s, random() % 3);
  }
  return g;
}

/// The lines of `all` that begin with these words, with what follows them.
std::string lines_with(const std::string& all, const std::string& begin) {
  std::string found;
  for (std::size_t at = 0, end = 0; at < all.size(); at = end + 1) {
    end = std::min(all.find('\n', at), all.size());
    if (all.compare(at, begin.size(), begin) == 0) found += all.substr(at, end - at) + '\n';
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(completing_a_program)

BOOST_AUTO_TEST_CASE(two_annotations_give_the_feed_forward_block_that_people_write_by_hand) {
  block b;
  b.g.constrain(b.x, m.layout("data", "", ""));
  b.g.constrain(b.up_weight, m.layout("", "model"), 1);
  const completion done = complete(b.g);
  BOOST_TEST((done[b.up] == m.layout("data", "", "model")));
  BOOST_TEST((done[b.active] == m.layout("data", "", "model")));
  BOOST_TEST((done[b.down_weight] == m.layout("model", "")));
  BOOST_TEST((done[b.down] == m.layout("data", "", "").partial("model")));
  BOOST_TEST((done[b.y] == m.layout("data", "", "")));
  BOOST_REQUIRE(done.reshards.size() == 1U);
  const auto plan = done.plan(done.reshards[0]);
  BOOST_TEST(plan.size() == 1U);
  BOOST_TEST((plan[0].done == reshard_step::what::all_reduce));
  BOOST_TEST(done.bytes() == 2U * 3 * (8 * 128 * 64 * 4 / 2) / 4);
}

BOOST_AUTO_TEST_CASE(what_is_known_at_the_end_reaches_the_beginning) {
  block b;
  b.g.constrain(b.y, m.layout("data", "model", ""));
  const completion done = complete(b.g);
  for (const value v : {b.x, b.up, b.active, b.down, b.y}) {
    BOOST_TEST((done[v][0] == axis_list(0)));
    BOOST_TEST((done[v][1] == axis_list(1)));
  }
  BOOST_TEST((done[b.up_weight] == m.layout("", "")));
  BOOST_TEST(done.reshards.empty());
}

BOOST_AUTO_TEST_CASE(a_lower_priority_goes_first) {
  const auto of_x = [](std::size_t rows, std::size_t columns) {
    graph g(m);
    const value x = g.input({64, 64}, "x"), y = g.input({64, 64}, "y");
    const value z = g.apply(rules::add, {x, y});
    g.constrain(x, m.layout("model", ""), rows);
    g.constrain(y, m.layout("", "model"), columns);
    return complete(g)[z];
  };
  BOOST_TEST((of_x(0, 1) == m.layout("model", "")));
  BOOST_TEST((of_x(1, 0) == m.layout("", "model")));
}

BOOST_AUTO_TEST_CASE(an_input_with_a_layout_has_the_priority_of_this_layout) {
  for (const std::size_t priority : {0U, 1U, 7U, 255U}) {
    const sharding layout = m.layout("model", "").with_priority(priority);
    graph g(m);
    const value x = g.input({64, 64}, layout, "x"), w = g.parameter({64, 64}, layout, "w");
    for (const value v : {x, w}) {
      BOOST_TEST((*g.annotation(v) == layout));
      BOOST_TEST(std::size_t{g.annotation(v)->priority} == priority);
    }
    BOOST_TEST((!g[x].is_parameter && g[w].is_parameter));
    // A second annotation replaces the first one and its priority.
    g.constrain(w, layout);
    BOOST_TEST(std::size_t{g.annotation(w)->priority} == 0U);
  }
  // The lower of two priorities goes first, for both ways to make an input.
  for (const bool is_parameter : {false, true})
    for (const std::size_t rows : {0U, 1U, 2U})
      for (const std::size_t columns : {0U, 1U, 2U}) {
        if (rows == columns) continue;
        graph g(m);
        const auto add = [&](const sharding& layout) {
          return is_parameter ? g.parameter({64, 64}, layout) : g.input({64, 64}, layout);
        };
        const value x = add(m.layout("model", "").with_priority(rows)),
                    y = add(m.layout("", "model").with_priority(columns));
        const value z = g.apply(rules::add, {x, y});
        BOOST_TEST((complete(g)[z] == (rows < columns ? m.layout("model", "") : m.layout("", "model"))));
      }
}

BOOST_AUTO_TEST_CASE(operations_that_pass_axes_on_come_before_products_of_one_priority) {
  for (const bool product_first : {true, false}) {
    graph g(m);
    const value x = g.input({64, 64}, "x"), w = g.input({64, 64}, "w");
    value product, copy;
    const auto multiply = [&] { product = g.apply(rules::matmul, {x, w}); };
    if (product_first) multiply();
    copy = g.apply(rules::elementwise, {x});
    if (!product_first) multiply();
    g.constrain(product, m.layout("model", ""));
    g.constrain(copy, m.layout("", "model"));
    BOOST_TEST((complete(g)[x] == m.layout("", "model")));
  }
}

BOOST_AUTO_TEST_CASE(a_value_takes_no_axis_over_which_its_cotangent_is_summed) {
  graph g(m);
  const value w = g.input({64, 64}, m.layout("?", "?").reduced("data"), "w");
  const value x = g.input({64, 64}, m.layout("data", "model"), "x");
  g.apply(rules::multiply, {w, x});
  BOOST_TEST((complete(g)[w].cuts == m.layout("", "model").cuts));
}

BOOST_AUTO_TEST_CASE(annotated_dimensions_stay_as_said_unless_they_are_open) {
  block b;
  b.g.constrain(b.x, m.layout("data", "", ""));
  b.g.constrain(b.up, m.layout("", "", ""), 1);
  BOOST_TEST((complete(b.g)[b.up] == m.layout("", "", "")));
  b.g.constrain(b.up, m.layout("?", "?", "?"), 1);
  BOOST_TEST((complete(b.g)[b.up] == m.layout("data", "", "")));
  b.g.constrain(b.up, m.layout("?", "?", "?").replicate("data"), 1);
  BOOST_TEST((complete(b.g)[b.up] == m.layout("", "", "")));
}

BOOST_AUTO_TEST_CASE(an_open_dimension_that_is_cut_already_takes_the_axes_behind_its_own) {
  block b;
  b.g.constrain(b.x, m.layout("data+model", "", ""));
  b.g.constrain(b.up, m.layout("data+?", "?", "?"), 1);
  BOOST_TEST((complete(b.g)[b.up] == m.layout("data+model", "", "")));
}

BOOST_AUTO_TEST_CASE(a_partial_value_that_several_read_is_finished_once) {
  block b;
  b.g.constrain(b.up_weight, m.layout("", "model"));
  b.g.apply(rules::softmax(), {b.down});
  const completion done = complete(b.g);
  BOOST_TEST((done[b.down] == m.layout("", "", "")));
  BOOST_TEST(done.reshards.size() == 1U);
  BOOST_TEST(done.reshards[0].tensor == 2U);
}

BOOST_AUTO_TEST_CASE(completion_of_random_programs_is_deterministic_ends_and_only_adds) {
  std::mt19937_64 random(5);
  std::size_t added = 0, taken_away = 0, different = 0, foreign = 0, broken = 0, late = 0;
  for (std::size_t k = 0; k < 300; ++k) {
    const graph g = random_program(random, 40, 5);
    const completion done = complete(g), again = complete(g);
    different += !(done.layouts == again.layouts && done.reshards == again.reshards && done.visits == again.visits);
    // every axis is added once to a value, and each time its neighbours are asked at most once more
    std::size_t neighbours = 0;
    for (std::size_t o = 0; o < g.operations(); ++o) neighbours += g.operation(o).how.tensor_count();
    late += done.visits > 6 * g.operations() + 3 * neighbours * 3;
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      const sharding& layout = done[value{v}];
      if (const sharding* said = g.annotation(value{v}))
        for (std::size_t d = 0; d < layout.rank(); ++d) {
          taken_away += !layout.cuts[d].starts_with(said->cuts[d]);
          foreign += !said->is_open(d) && !(layout.cuts[d] == said->cuts[d]);
          added += layout.cuts[d].size() - said->cuts[d].size();
        }
      std::uint32_t seen = 0;
      for (std::size_t d = 0; d < layout.rank(); ++d) {
        broken += (seen & layout.cuts[d].set()) != 0;
        seen |= layout.cuts[d].set();
      }
      for (std::size_t a = 0; a < layout.on.rank(); ++a)
        broken += layout.pending[a] != pending_reduction::none && (seen >> a & 1U) != 0;
    }
    // operations find what they need: what is read lies as needed, or is moved
    for (const graph_reshard& move : done.reshards) {
      const auto plan = done.plan(move);
      broken += plan.empty() || !(plan[plan.size() - 1].after.cuts == move.to.cuts) ||
                !(plan[plan.size() - 1].after.pending == move.to.pending);
    }
  }
  BOOST_TEST(different == 0U);
  BOOST_TEST(taken_away == 0U);
  BOOST_TEST(foreign == 0U);
  BOOST_TEST(broken == 0U);
  BOOST_TEST(late == 0U);
  BOOST_TEST(added > 100U);
}

BOOST_AUTO_TEST_CASE(every_axis_of_every_value_is_explained_back_to_an_annotation) {
  std::mt19937_64 random(23);
  std::size_t unexplained = 0, axes = 0;
  for (std::size_t k = 0; k < 60; ++k) {
    const graph g = random_program(random, 30, 4);
    const completion done = complete(g);
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      const std::string words = std::string(explain(done, value{v}));
      const auto count = [&](const std::string& what) {
        std::size_t n = 0;
        for (std::size_t at = words.find(what); at != std::string::npos; at = words.find(what, at + 1)) ++n;
        return n;
      };
      axes += count("is sharded over");
      unexplained += count("is sharded over") != count("is annotated");
    }
  }
  BOOST_TEST(unexplained == 0U);
  BOOST_TEST(axes > 500U);
}

/// An axis of a sum is explained by the operand that has it, whatever dimensions of one element the other operand has.
BOOST_AUTO_TEST_CASE(an_axis_of_a_sum_comes_from_the_operand_that_is_sharded) {
  for (const shape_list& other :
       {shape_list{8, 16}, shape_list{8, 1}, shape_list{1, 16}, shape_list{1, 1}, shape_list{16}})
    for (const bool first : {false, true})
      for (std::size_t d = 0; d < 2; ++d) {
        graph g(m);
        const value y = g.input({8, 16}, "y"), z = g.input(other, "z");
        g.constrain(y, d == 0 ? m.layout("model", "") : m.layout("", "model"));
        const value sum = g.apply(rules::add, {first ? y : z, first ? z : y}, "sum");
        const std::string words = std::string(explain(complete(g), sum));
        BOOST_TEST(words.find("because y is annotated") != std::string::npos, words);
      }
}

BOOST_AUTO_TEST_CASE(a_completion_is_written_and_drawn_with_its_layouts_and_each_move_where_it_is) {
  std::mt19937_64 random(29);
  std::size_t drawn = 0, cut = 0, pending = 0;
  for (std::size_t k = 0; k < 20; ++k) {
    const graph g = random_program(random, 16, 6);
    const completion done = complete(g);
    const auto reshard_of = [&](std::size_t o, std::size_t t) -> std::string {
      for (const graph_reshard& move : done.reshards)
        if (move.operation == o && move.tensor == t) return detail::steps_text(done.plan(move)).c_str();
      return "";
    };
    const auto id = [&](value v) {
      const std::uint32_t o = g[v].producer;
      return o == graph::none ? "v" + std::to_string(v.number) : "o" + std::to_string(o);
    };
    std::string edges, moves;
    std::size_t bytes = 0;
    for (const graph_reshard& move : done.reshards) bytes += done.plan(move).bytes();
    for (std::size_t o = 0; o < g.operations(); ++o) {
      const auto& n = g.operation(o);
      for (std::size_t i = 0; i < n.operands; ++i) {
        const value v = g.operand(n, i);
        const std::string move = reshard_of(o, i);
        edges += "  " + id(v) + " -> o" + std::to_string(o);
        edges += (move.empty() ? "" : " [color=red, fontcolor=red, label=\"" + move + "\"]") + ";\n";
        if (!move.empty()) moves += ">    " + move + " of " + std::string(detail::name_of(g, v)) + "<\n";
      }
      if (const std::string move = reshard_of(o, n.operands); !move.empty()) moves += ">    then " + move + "<\n";
    }
    // The edges of the program, and the moves beside the operations that need them.
    const std::string dot = to_dot(done), svg = to_svg(done);
    std::string edges_of_dot, moves_of_svg;
    for (std::size_t at = 0, end = 0; at < dot.size(); at = end + 1) {
      end = dot.find('\n', at);
      if (dot.find(" -> o", at) < end) edges_of_dot += dot.substr(at, end + 1 - at);
    }
    for (std::size_t at = svg.find(">    "); at != std::string::npos; at = svg.find(">    ", at + 1))
      moves_of_svg += svg.substr(at, svg.find('<', at) + 1 - at) + '\n', ++drawn;
    BOOST_TEST(edges_of_dot == edges);
    BOOST_TEST(moves_of_svg == moves);
    text sum;
    sum << done.reshards.size() << " moves, " << bytes << " bytes to the busiest worker\n";
    BOOST_TEST(std::string(to_text(done)).ends_with(sum.c_str()), to_text(done) << " and not " << sum);
    BOOST_TEST(done.bytes() == bytes);
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      const sharding& layout = done[value{v}];
      std::string dimensions, sums;
      for (std::size_t d = 0; d < layout.rank(); ++d)
        for (std::size_t a = 0; a < layout.cuts[d].size(); ++a, ++cut)
          dimensions +=
              "  dimension " + std::to_string(d) + " is sharded over " + g.on().axes[layout.cuts[d][a]].name() + '\n';
      for (std::size_t a = 0; a < g.on().rank(); ++a)
        if (layout.pending[a] != pending_reduction::none)
          sums += std::string(" sum over ") + g.on().axes[a].name(), ++pending;
      const std::string words = explain(done, value{v});
      BOOST_TEST(lines_with(words, "  dimension ") == dimensions);
      std::string sums_of_words;
      for (std::size_t at = words.find("  has a pending"); at != std::string::npos;
           at = words.find("  has a pending", at + 1))
        sums_of_words += words.substr(at + 15, words.find(':', at) - at - 15);
      BOOST_TEST(sums_of_words == sums);
    }
  }
  BOOST_TEST(drawn > 50U);
  BOOST_TEST(cut > 200U);
  BOOST_TEST(pending > 0U);
}

/// The last line of a completed program adds up what goes back: reshards, and windows of operations, of real and of
/// complex elements.
BOOST_AUTO_TEST_CASE(what_goes_back_is_listed_and_added_up) {
  const block b;
  completion done = complete(b.g);
  const std::string forward = to_text(done);
  BOOST_TEST(forward == "0 moves, 0 bytes to the busiest worker\n");
  const sharding whole = m.layout("", ""), rows = m.layout("data", ""), partial = whole.partial("data");
  struct row {
    backward_reshard move;
    std::size_t bytes;
    std::string lines;
  };
  const std::vector<row> table{
      {{"down", {8, 64}, partial, whole}, 2048, "down, [8, 64] (, ) partial sum over data\n  all_reduce data"},
      {{"gelu", {8, 64}, rows, rows, 96}, 96, "inside gelu, [8, 64] (data, ): what its blocks read of others, "},
      {{"up", {8, 64}, rows, whole}, 1024, "up, [8, 64] (data, )\n  all_gather data"},
      {{"scan", {8, 64}, rows, rows, 40}, 40, "inside scan, [8, 64] (data, ): what its blocks read of others, "},
      {{"add", {8, 64}, rows, whole, 0, true}, 2048, "add, [8, 64] (data, )\n  all_gather data"}};
  for (std::size_t chosen = 0; chosen < std::size_t{1} << table.size(); ++chosen) {
    done.back.clear();
    std::size_t bytes = 0, at = 0;
    for (std::size_t k = 0; k < table.size(); ++k)
      if ((chosen >> k & 1U) != 0) done.back.push_back(table[k].move), bytes += table[k].bytes;
    const std::string all = to_text(done);
    BOOST_TEST(all.starts_with(forward));
    for (std::size_t k = 0; k < table.size(); ++k) {
      if ((chosen >> k & 1U) == 0) continue;
      at = all.find("\nback, " + table[k].lines, at);
      BOOST_REQUIRE(at != std::string::npos);
      const std::size_t end = at + 7 + table[k].lines.size();
      BOOST_TEST(all.substr(end, all.find('\n', end) - end).find(std::to_string(table[k].bytes) + " bytes") !=
                     std::string::npos,
                 all);
    }
    const std::string sum = "\nback: " + std::to_string(done.back.size()) + " moves, " + std::to_string(bytes) +
                            " bytes to the busiest worker\n";
    BOOST_TEST((chosen == 0 ? all == forward : all.ends_with(sum)), all << " does not end with " << sum);
  }
}

/// The whole program in DOT, and all its communication as text: a partial product is reduced before the operation that
/// reads it or, if its layout is annotated, after the operation that makes it.
BOOST_AUTO_TEST_CASE(a_program_is_written_in_dot_and_its_communication_in_order) {
  for (const bool is_annotated : {false, true}) {
    graph g(m);
    const value x = g.input({8, 64}, m.layout("data", "model"), "x"), w = g.input({64, 16}, m.layout("model", ""));
    const value y = g.apply("ab,bc->ac", {x, w}, "y");
    if (is_annotated) g.constrain(y, m.layout("data", ""));
    g.apply(rule("ab->ab").with(linearity::none), {y}, "s");
    const completion done = complete(g);
    BOOST_TEST_REQUIRE(done.reshards.size() == 1U);
    const reshard_plan plan = done.plan(done.reshards[0]);
    const std::string steps = detail::steps_text(plan);
    std::string lines, indented;
    for (const reshard_step& one : plan) {
      text line;
      line << one << "\n";
      lines += std::string("  ") + line.c_str(), indented += std::string("    ") + line.c_str();
    }
    BOOST_TEST(steps.find("model") != std::string::npos);
    const std::string made = is_annotated ? "(data, ) after " + steps : "(data, ) partial sum over model";
    BOOST_TEST(std::string(to_dot(done)) ==
               "digraph program {\n"
               "  node [shape=box, fontname=\"sans-serif\"];\n"
               "  edge [fontname=\"sans-serif\"];\n"
               "  v0 [shape=ellipse, label=\"x\\n(data, model)\"];\n"
               "  v1 [shape=ellipse, label=\"value 1\\n(model, )\"];\n"
               "  o0 [label=\"y ab,bc->ac\\n" +
                   made +
                   "\"];\n"
                   "  v0 -> o0;\n"
                   "  v1 -> o0;\n"
                   "  o1 [label=\"s ab->ab\\n(data, )\"];\n"
                   "  o0 -> o1" +
                   (is_annotated ? "" : " [color=red, fontcolor=red, label=\"" + steps + "\"]") +
                   ";\n"
                   "}\n");
    const std::string moved = is_annotated ? "after y ab,bc->ac" : "before s ab->ab";
    BOOST_TEST(std::string(to_text(done)) == moved + ", y (data, ) partial sum over model\n" + lines + "1 moves, " +
                                                 std::to_string(plan.bytes()) + " bytes to the busiest worker\n");
    BOOST_TEST(std::string(explain(done, y)).ends_with("  moved " + moved + ":\n" + indented),
               explain(done, y).c_str());
    BOOST_TEST(std::string(explain(done, x)).find("moved") == std::string::npos);
  }
}

/// Several results of an operation have numbers. A drawing has the first one, and those that an operation reads.
BOOST_AUTO_TEST_CASE(results_have_numbers_and_those_that_are_read_are_drawn) {
  for (const bool first_is_read : {false, true})
    for (const bool second_is_read : {false, true}) {
      graph g(m);
      const operation_results pair = g.apply("ab->ab,ab", {g.input({8, 16}, "x")}, "pair");
      if (first_is_read) g.apply("ab->ab", {pair[0]}, "one");
      if (second_is_read) g.apply("ab->ab", {pair[1]}, "other");
      const completion done = complete(g);
      const std::string svg = to_svg(done), dot = to_dot(done);
      BOOST_TEST(svg.find(">pair ab-&gt;ab,ab<") != std::string::npos, svg);
      BOOST_TEST((svg.find(">pair[1]<") != std::string::npos) == second_is_read, svg);
      BOOST_TEST(dot.find("  o0 [label=\"pair ab->ab,ab\\n(, )\\n(, )\"];\n") != std::string::npos, dot);
      BOOST_TEST(std::string(explain(done, pair[0])).starts_with("pair[0] [8, 16] has the layout (, )\n"));
      BOOST_TEST(std::string(explain(done, pair[1])).starts_with("pair[1] [8, 16] has the layout (, )\n"));
    }
}

// What an operation rejects, of all that a propagation decides.
constexpr bool rejects_these_decisions_only() {
  using enum decision::what;
  for (const auto outcome : {takes_sharding, extended, joined, one_element, new_dimension, becomes_partial,
                             passes_partial, finishes_partial, keeps_partial})
    if (detail::is_rejected_proposal(outcome)) return false;
  for (const auto outcome : {overruled, loses_axis, uneven, must_be_whole, does_not_fit, keeps_replicating})
    if (!detail::is_rejected_proposal(outcome)) return false;
  return true;
}
static_assert(rejects_these_decisions_only());

BOOST_AUTO_TEST_CASE(explain_says_which_annotation_through_what_and_what_was_lost) {
  block b;
  b.g.constrain(b.x, m.layout("data", "", ""));
  b.g.constrain(b.up_weight, m.layout("", "model"), 1);
  const completion done = complete(b.g);
  BOOST_TEST(std::string(explain(done, b.active)) ==
             "gelu [8, 128, 256] has the layout (data, , model)\n"
             "  dimension 0 is sharded over data\n"
             "    because up is, by 'a' of gelu abc->abc\n"
             "    because x is, by 'a' of up amk,kn->amn\n"
             "    because x is annotated (data, , ), priority 0\n"
             "  dimension 2 is sharded over model\n"
             "    because up is, by 'c' of gelu abc->abc\n"
             "    because up_weight is, by 'n' of up amk,kn->amn\n"
             "    because up_weight is annotated (, model), priority 1\n");
  BOOST_TEST(std::string(to_dot(done)).find("[color=red, fontcolor=red, label=\"all_reduce model\"]") !=
             std::string::npos);
  BOOST_TEST(std::string(to_svg(done)).find("all_reduce model of down") != std::string::npos);

  graph g(m);
  const value x = g.input({64, 64}, "x"), y = g.input({64, 64}, "y");
  g.constrain(x, m.layout("model", ""));
  g.constrain(y, m.layout("", "model"), 1);
  g.apply(rules::add, {x, y}, "sum");
  BOOST_TEST(std::string(explain(complete(g), y)).find("lost in sum ab,ab->ab: model for 'b', lost: 'a' has it") !=
             std::string::npos);
}

/// The operand that is sharded over more workers wins, at any place among the operands, and is named for the others.
BOOST_AUTO_TEST_CASE(explain_names_the_operand_that_overrules_another_one) {
  const char* const names[] = {"first", "second", "third"};
  for (const rule& r : {rule("ab,ab->ab"), rule("ab,ab,ab->ab")})
    for (std::size_t winner = 0; winner < r.operand_count; ++winner) {
      graph g(m);
      std::vector<value> operands;
      for (std::size_t i = 0; i < r.operand_count; ++i)
        operands.push_back(g.input({16, 16}, m.layout(i == winner ? "model" : "data", ""), names[i]));
      if (r.operand_count == 2) g.apply(r, {operands[0], operands[1]}, "sum");
      else g.apply(r, {operands[0], operands[1], operands[2]}, "sum");
      const completion done = complete(g);
      const std::string line = std::string(": for 'a', overruled by ") + names[winner] + "\n";
      for (std::size_t i = 0; i < r.operand_count; ++i) {
        const std::string words = explain(done, operands[i]);
        const bool is_overruled = words.find("overruled") != std::string::npos;
        BOOST_TEST(is_overruled == (words.find(line) != std::string::npos), words);
        if (i == winner) BOOST_TEST(!is_overruled, words);
        if (i == (winner == 0 ? 1U : 0U)) BOOST_TEST(is_overruled, words);  // others may agree with this one
      }
    }
}

BOOST_AUTO_TEST_CASE(explain_says_the_layout_of_a_cotangent_that_differs_from_that_of_its_value) {
  graph g(m);
  const value w = g.input({64, 64}, m.layout("", "model").reduced("data"), "w"), x = g.input({64, 64}, "x");
  g.apply(rules::multiply, {w, x}, "product");
  const completion done = complete(g);
  BOOST_TEST(std::string(explain(done, w))
                 .find(std::string(
                     (text("its cotangent has the layout ") << "" << m.layout("", "model").partial("data")).c_str())) !=
             std::string::npos);
  BOOST_TEST(std::string(explain(done, x)).find("cotangent") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_says_why) {
  graph g(m);
  const value x = g.input({64, 32});
  const auto says = [](const char* part) { return [part](const error& e) { return e.sentence().contains(part); }; };
  BOOST_CHECK_EXCEPTION(g.constrain(x, m.layout("data")), shape_error,
                        says("one entry of the sharding for each dimension"));
  BOOST_CHECK_EXCEPTION(g.constrain(value{7}, m.layout("data")), shape_error, says("there is no value 7"));
  BOOST_CHECK_EXCEPTION(g.constrain(x, mesh{axis{"data", 3}}.layout("data", "")), partition_error,
                        says("is on another mesh"));
  BOOST_CHECK_EXCEPTION(g.apply(rules::matmul, {x, x}), shape_error, says("one size of each factor"));
}

BOOST_AUTO_TEST_CASE(annotations_of_every_priority_are_propagated) {
  for (const std::size_t priority : {0U, 1U, 128U, 254U, 255U}) {
    graph g(m);
    const value x = g.input({64, 64}, "x");
    const value z = g.apply(rules::elementwise, {x});
    g.constrain(z, m.layout("model", ""), priority);
    BOOST_TEST((complete(g)[x] == m.layout("model", "")));
    g.release(z);
    BOOST_TEST(g.annotation(z) == nullptr);
    BOOST_TEST((complete(g)[x] == m.layout("", "")));
  }
}

BOOST_AUTO_TEST_CASE(a_reshard_is_planned_with_the_links_and_for_the_elements_that_are_moved) {
  std::mt19937_64 random(7);
  const mesh_links links{{3, 0.5}, {2, 1}, {5, 2}};
  std::size_t moves = 0, complex_moves = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    graph g = random_program(random, 20, 5);
    for (std::uint32_t v = 0; v < g.values(); ++v) g.set_complex(value{v}, random() % 2 == 0);
    const completion done = complete(g);
    for (const graph_reshard& move : done.reshards)
      for (const std::size_t real : {2U, 4U, 8U}) {
        const auto& moved = g[value{move.of}];
        BOOST_TEST((done.plan(move, links, real) ==
                    plan_reshard(g.on(), move.from, move.to, moved.shape, links, moved.is_complex ? 2 * real : real)));
        BOOST_TEST(g.element_bytes(value{move.of}, real) == (moved.is_complex ? 2 * real : real));
        ++moves, complex_moves += moved.is_complex ? 1U : 0U;
      }
  }
  BOOST_TEST((complex_moves > 0U && complex_moves < moves));
}

BOOST_AUTO_TEST_CASE(an_extent_that_is_not_known_counts_as_one_in_the_bytes_of_a_block) {
  graph g(m);
  const value x = g.input({dynamic, 6}), y = g.input({5, 6});
  BOOST_TEST(g.block_bytes(x, m.layout("", "model"), 4) == 1U * 2 * 4);
  BOOST_TEST(g.block_bytes(x, m.layout("data", ""), 4) == 1U * 6 * 4);
  BOOST_TEST(g.block_bytes(y, m.layout("data", "model"), 8) == 3U * 2 * 8);
}

BOOST_AUTO_TEST_CASE(results_have_the_given_name_or_that_of_the_rule_and_are_complex_if_an_operand_is) {
  for (const bool first : {false, true})
    for (const bool second : {false, true}) {
      graph g(m);
      const value x = g.input({8, 8}), y = g.input({8, 8});
      g.set_complex(x, first), g.set_complex(y, second);
      const rule two = rule("ab,ab->ab,ab").named("pair");
      const operation_results unnamed = g.apply(two, {x, y}), named = g.apply(two, {x, y}, "both");
      BOOST_TEST(unnamed.size() == 2U);
      for (std::size_t j = 0; j < 2; ++j) {
        BOOST_TEST(std::string(g[unnamed[j]].name.c_str()) == "pair");
        BOOST_TEST(std::string(g[named[j]].name.c_str()) == "both");
        BOOST_TEST(g[named[j]].is_complex == (first || second));
        BOOST_TEST(g[named[j]].producer == 1U);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_value_of_another_graph_is_refused_by_every_function) {
  graph g(m);
  const value x = g.input({8, 8}), unknown{1};
  const auto is_refused = [](auto call) {
    try {
      call();
    } catch (const shape_error& e) {
      return e.sentence().contains(
          "partita::graph: requires values of this graph, and there is no value 1; make it first");
    }
    return false;
  };
  BOOST_TEST(is_refused([&] { g.constrain(unknown, m.layout("", "")); }));
  BOOST_TEST(is_refused([&] { g.release(unknown); }));
  BOOST_TEST(is_refused([&] { g.set_complex(unknown, true); }));
  BOOST_TEST(is_refused([&] { g.differentiate_by(unknown); }));
  BOOST_TEST(is_refused([&] { g.apply(rule("ab,ab->ab"), {x, unknown}); }));
  BOOST_TEST(is_refused([&] { g.apply(rules::add, {x, unknown}); }));
  BOOST_TEST(g.operations() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
