// A completed program (all its shardings are inferred) as a drawing: operations, shardings of results, and reshards.
#pragma once

#include <cstddef>
#include <partita/explain/completion_text.hpp>
#include <partita/explain/listing.hpp>
#include <partita/explain/propagation_picture.hpp>
#include <vector>

namespace partita {
namespace detail {

template <class Graph>
const graph_reshard* find_reshard(const completion_of<Graph>& done, std::size_t o, std::size_t t) {
  for (const graph_reshard& move : done.reshards)
    if (move.operation == o && move.tensor == t) return &move;
  return nullptr;
}

/// Draws a program from top to bottom: a line for each value, and arcs on the left from a value to the operations that
/// read it.
template <class Graph>
class program_listing {
 public:
  explicit program_listing(const completion_of<Graph>& done)
      : result_(done), g_(*done.program), value_rows_(g_.values(), 0), has_reader_(g_.values(), 0) {
    for (std::size_t o = 0; o < g_.operations(); ++o)
      for (std::size_t i = 0; i < g_.operation(o).operands; ++i) has_reader_[g_.operand(g_.operation(o), i).number] = 1;
    long_text title("mesh");
    for (std::size_t a = 0; a < g_.on().rank(); ++a)
      title << (a > 0 ? " x " : " ") << g_.on().axes[a].name() << " " << g_.on().size(a);
    rows_.add(title, "", true, detail::dark_colour.ink);
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      if (g_[value{v}].producer == Graph::none)
        add_value(value{v}, long_text() << name_of(g_, value{v}) << " " << text_of(g_[value{v}].shape));
    for (std::size_t o = 0; o < g_.operations(); ++o) add_operation(o);
  }
  long_text svg() { return rows_.svg(); }

 private:
  void add_value(value v, const long_text& description) {
    value_rows_[v.number] = rows_.add_value(description, text_of(result_[v]), g_.annotation(v) != nullptr);
  }
  void add_operation(std::size_t o) {
    const typename Graph::node& n = g_.operation(o);
    std::vector<bool> moves;
    for (std::size_t i = 0; i < n.operands; ++i) {
      const graph_reshard* move = find_reshard(result_, o, i);
      if (move != nullptr)
        rows_.add_move(long_text("    ") << steps_text(result_.plan(*move)) << " of " << name_of(g_, g_.operand(n, i)),
                       text_of(move->to));
      moves.push_back(move != nullptr);
    }
    for (std::size_t i = 0; i < n.operands; ++i)
      rows_.add_arc(value_rows_[g_.operand(n, i).number], rows_.rows(), moves[i]);
    for (std::size_t j = 0; j < n.results; ++j) {
      const value v = g_.of(n, n.operands + j);
      const graph_reshard* move = find_reshard(result_, o, n.operands + j);
      if (j > 0 && has_reader_[v.number] == 0 && move == nullptr) continue;  // no operation reads the value
      add_value(v, j == 0 ? name_of(n) : name_of(g_, v));
      if (move != nullptr) rows_.add_move(long_text("    then ") << steps_text(result_.plan(*move)), text_of(move->to));
    }
  }

  const completion_of<Graph>& result_;
  const Graph& g_;
  listing_rows rows_{};
  std::vector<std::size_t> value_rows_;
  std::vector<unsigned char> has_reader_;
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
      if (const graph_reshard* move = detail::find_reshard(done, o, n.operands + j))
        all << " after " << detail::steps_text(done.plan(*move));
    }
    all << "\"];\n";
    for (std::size_t i = 0; i < n.operands; ++i) {
      all << "  " << id(g.operand(n, i)) << " -> o" << o;
      if (const graph_reshard* move = detail::find_reshard(done, o, i))
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
