// A completed program (all its shardings are inferred) as a drawing: operations, shardings of results, and reshards.
#pragma once

#include <cstddef>
#include <partita/explain/completion_text.hpp>
#include <partita/explain/listing.hpp>
#include <partita/explain/propagation_picture.hpp>
#include <vector>

namespace partita {
namespace detail {

/// Draws a program from top to bottom: a line for each value, and arcs on the left from a value to the operations that
/// read it.
template <class Graph>
class program_listing {
 public:
  /// Adds the rows and arcs of all values and operations of the program to the drawing.
  explicit program_listing(const completion_of<Graph>& done)
      : completion_(done), graph_(*done.program), value_rows_(graph_.values(), 0), has_reader_(graph_.values(), 0) {
    for (std::size_t o = 0; o < graph_.operations(); ++o)
      for (std::size_t i = 0; i < graph_.operation(o).operands; ++i)
        has_reader_[graph_.operand(graph_.operation(o), i).number] = 1;
    long_text title("mesh");
    for (std::size_t a = 0; a < graph_.on().rank(); ++a)
      title << (a > 0 ? " x " : " ") << graph_.on().axes[a].name() << " " << graph_.on().size(a);
    rows_.add(title, "", true, detail::dark_colour.ink);
    for (std::uint32_t v = 0; v < graph_.values(); ++v)
      if (graph_[value{v}].producer == Graph::none)
        add_value(value{v}, long_text() << name_of(graph_, value{v}) << " " << text_of(graph_[value{v}].shape));
    for (std::size_t o = 0; o < graph_.operations(); ++o) add_operation(o);
  }
  long_text svg() { return rows_.svg(); }  ///< The drawing as SVG.

 private:
  void add_value(value v, const long_text& description) {  ///< adds the row of v: the description, and its sharding
    value_rows_[v.number] = rows_.add_value(description, text_of(completion_[v]), graph_.annotation(v) != nullptr);
  }
  void add_operation(std::size_t o) {  ///< adds arcs to operation o, and the rows of its reshards and results
    const typename Graph::node& n = graph_.operation(o);
    std::vector<bool> moves;
    for (std::size_t i = 0; i < n.operands; ++i) {
      const graph_reshard* move = completion_.reshard_of(o, i);
      if (move != nullptr)
        rows_.add_move(
            long_text("    ") << steps_text(completion_.plan(*move)) << " of " << name_of(graph_, graph_.operand(n, i)),
            text_of(move->to));
      moves.push_back(move != nullptr);
    }
    for (std::size_t i = 0; i < n.operands; ++i)
      rows_.add_arc(value_rows_[graph_.operand(n, i).number], rows_.rows(), moves[i]);
    for (std::size_t j = 0; j < n.results; ++j) {
      const value v = graph_.of(n, n.operands + j);
      const graph_reshard* move = completion_.reshard_of(o, n.operands + j);
      if (j > 0 && has_reader_[v.number] == 0 && move == nullptr) continue;  // no operation reads the value
      add_value(v, j == 0 ? name_of(n) : name_of(graph_, v));
      if (move != nullptr)
        rows_.add_move(long_text("    then ") << steps_text(completion_.plan(*move)), text_of(move->to));
    }
  }

  const completion_of<Graph>& completion_;  ///< the completed program that is drawn
  const Graph& graph_;                      ///< the program that is drawn
  listing_rows rows_{};                     ///< the rows of the drawing
  std::vector<std::size_t> value_rows_;     ///< for each value, the number of its row
  std::vector<unsigned char> has_reader_;   ///< for each value, whether an operation reads it
};

}  // namespace detail

/// Writes a completed program in Graphviz's DOT language. Inputs are ellipses; operations are boxes with the shardings
/// of their results. An edge with communication is red and is labelled with the reshard steps.
template <class Graph>
long_text to_dot(const completion_of<Graph>& done) {
  const Graph& g = *done.program;
  long_text all("digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n");
  const auto id = [&](value v) {
    const std::uint32_t o = g[v].producer;
    return o == Graph::none ? long_text("v") << v.number : long_text("o") << o;
  };
  for (std::uint32_t v = 0; v < g.values(); ++v)
    if (g[value{v}].producer == Graph::none)
      all << "  " << id(value{v}) << " [shape=ellipse, label=\"" << detail::name_of(g, value{v}) << "\\n"
          << detail::text_of(done[value{v}]) << "\"];\n";
  for (std::size_t o = 0; o < g.operations(); ++o) {
    const typename Graph::node& n = g.operation(o);
    all << "  o" << o << " [label=\"" << detail::name_of(n);
    for (std::size_t j = 0; j < n.results; ++j) {
      all << "\\n" << detail::text_of(done[g.of(n, n.operands + j)]);
      if (const graph_reshard* move = done.reshard_of(o, n.operands + j))
        all << " after " << detail::steps_text(done.plan(*move));
    }
    all << "\"];\n";
    for (std::size_t i = 0; i < n.operands; ++i) {
      all << "  " << id(g.operand(n, i)) << " -> o" << o;
      if (const graph_reshard* move = done.reshard_of(o, i))
        all << " [color=red, fontcolor=red, label=\"" << detail::steps_text(done.plan(*move)) << "\"]";
      all << ";\n";
    }
  }
  return all << "}\n";
}

/// Draws a completed program from top to bottom. Annotated values are bold. Communication is red, and is drawn at the
/// operation that reads or computes the moved value.
template <class Graph>
long_text to_svg(const completion_of<Graph>& done) {
  return detail::program_listing<Graph>(done).svg();
}

}  // namespace partita
