// A completed program as a drawing: operations and how their results lie, reshards where they are.
#pragma once

#include <cstddef>
#include <partita/explain/completion_text.hpp>
#include <string>
#include <vector>

namespace partita {
namespace detail {

inline std::string escaped(const std::string& plain) {
  std::string all;
  for (const char c : plain) {
    if (c == '&') all += "&amp;";
    else if (c == '<') all += "&lt;";
    else if (c == '>') all += "&gt;";
    else if (c == '"') all += "&quot;";
    else all += c;
  }
  return all;
}
/// The steps of a move in a line: reduce_scatter model, all_gather data.
inline std::string steps_of(const completion& done, const graph_reshard& move) {
  std::string all;
  for (const reshard_step& one : done.plan(move)) {
    all += all.empty() ? "" : ", ";
    all += name_of(one.done);
    if (one.axis != reshard_step::none) all += std::string(" ") + one.after.on.axes[one.axis].name();
  }
  return all;
}
inline const graph_reshard* move_of(const completion& done, std::size_t o, std::size_t t) {
  for (const graph_reshard& move : done.reshards)
    if (move.operation == o && move.tensor == t) return &move;
  return nullptr;
}

}  // namespace detail

/// The program in Graphviz's language: inputs are ellipses, operations boxes with the shardings of their results; an edge that
/// moves data is red and says how.
inline std::string to_dot(const completion& done) {
  const graph& g = *done.program;
  std::string all = "digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  const auto id = [&](value v) {
    const std::uint32_t o = g[v].producer;
    return o == graph::nobody ? "v" + std::to_string(v.number) : "o" + std::to_string(o);
  };
  for (std::uint32_t v = 0; v < g.values(); ++v)
    if (g[value{v}].producer == graph::nobody)
      all += "  " + id(value{v}) + " [shape=ellipse, label=\"" + detail::name_of(g, value{v}) + "\\n" + detail::words(done[value{v}]) + "\"];\n";
  for (std::size_t o = 0; o < g.operations(); ++o) {
    const graph::node& n = g.operation(o);
    all += "  o" + std::to_string(o) + " [label=\"" + detail::name_of(n);
    for (std::size_t j = 0; j < n.results; ++j) {
      all += "\\n" + detail::words(done[g.of(n, n.operands + j)]);
      if (const graph_reshard* move = detail::move_of(done, o, n.operands + j)) all += " after " + detail::steps_of(done, *move);
    }
    all += "\"];\n";
    for (std::size_t i = 0; i < n.operands; ++i) {
      all += "  " + id(g.operand(n, i)) + " -> o" + std::to_string(o);
      if (const graph_reshard* move = detail::move_of(done, o, i)) all += " [color=red, fontcolor=red, label=\"" + detail::steps_of(done, *move) + "\"]";
      all += ";\n";
    }
  }
  return all + "}\n";
}

/// The program from top to bottom, a line for each value; arcs on the left lead from a value to its readers, and what moves
/// on the way stands in red where it is read or made.
inline std::string to_svg(const completion& done) {
  const graph& g = *done.program;
  const std::size_t row = 26, left = 150;
  struct line {
    std::string words, layout;
    bool moves = false;
  };
  std::vector<line> lines;
  std::vector<std::size_t> row_of(g.values(), 0);
  struct arc {
    std::size_t from, to;
    bool moves;
  };
  std::vector<arc> arcs;
  for (std::uint32_t v = 0; v < g.values(); ++v)
    if (g[value{v}].producer == graph::nobody) {
      row_of[v] = lines.size();
      const bool said = g.annotation(value{v}) != nullptr;
      lines.push_back({detail::name_of(g, value{v}) + " " + detail::words(g[value{v}].shape) + (said ? "  annotated" : ""), detail::words(done[value{v}])});
    }
  for (std::size_t o = 0; o < g.operations(); ++o) {
    const graph::node& n = g.operation(o);
    const std::size_t operands_begin = arcs.size();
    for (std::size_t i = 0; i < n.operands; ++i) {
      const graph_reshard* move = detail::move_of(done, o, i);
      if (move != nullptr)
        lines.push_back({"  " + detail::steps_of(done, *move) + " of " + detail::name_of(g, g.operand(n, i)), detail::words(move->to), true});
      arcs.push_back({row_of[g.operand(n, i).number], 0, move != nullptr});
    }
    for (std::size_t a = operands_begin; a < arcs.size(); ++a) arcs[a].to = lines.size();
    for (std::size_t j = 0; j < n.results; ++j) {
      const value v = g.of(n, n.operands + j);
      row_of[v.number] = lines.size();
      const bool said = g.annotation(v) != nullptr;
      lines.push_back({(j == 0 ? detail::name_of(n) : detail::name_of(g, v)) + (said ? "  annotated" : ""), detail::words(done[v])});
      if (const graph_reshard* move = detail::move_of(done, o, n.operands + j))
        lines.push_back({"  then " + detail::steps_of(done, *move), detail::words(move->to), true});
    }
  }
  const auto number = [](std::size_t n) { return std::to_string(n); };
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"" + number(row * lines.size() + 20) +
                    "\" font-family=\"sans-serif\" font-size=\"14\">\n";
  const auto height_of = [&](std::size_t k) { return row * k + row / 2 + 10; };
  for (const arc& one : arcs) {
    const std::size_t from = height_of(one.from), to = height_of(one.to), far = (to - from) / 3 + 12, bend = left - (far < left - 10 ? far : left - 10);
    out += "<path d=\"M " + number(left) + " " + number(from) + " C " + number(bend) + " " + number(from) + " " + number(bend) + " " + number(to) + " " +
           number(left) + " " + number(to) + "\" fill=\"none\" stroke=\"" + (one.moves ? "#c0392b" : "#8aa4bd") + "\"/>\n";
  }
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::string y = number(height_of(k) + 5), color = lines[k].moves ? "#c0392b" : "#1f2d3a";
    out += "<circle cx=\"" + number(left) + "\" cy=\"" + number(height_of(k)) + "\" r=\"3\" fill=\"" + color + "\"/>\n";
    out += "<text x=\"" + number(left + 10) + "\" y=\"" + y + "\" fill=\"" + color + "\">" + detail::escaped(lines[k].words) + "</text>\n";
    out += "<text x=\"" + number(left + 420) + "\" y=\"" + y + "\" fill=\"" + color + "\">" + detail::escaped(lines[k].layout) + "</text>\n";
  }
  return out + "</svg>\n";
}

}  // namespace partita
