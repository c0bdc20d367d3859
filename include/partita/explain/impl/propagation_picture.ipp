// Defines the functions that explain/propagation_picture.hpp declares.
#pragma once

#include <partita/explain/propagation_picture.hpp>

namespace partita::detail {

PARTITA_DEF long_text steps_text(const reshard_plan& plan) {
  long_text all;
  for (const reshard_step& one : plan) {
    text name(name_of(one.done));
    all << (all.empty() ? "" : ", ") << write_axes(name, one);
  }
  return all;
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF propagation_picture::propagation_picture(const rule& r, const std::vector<spec>& given,
                                                     const std::vector<spec>& results, const propagation& p,
                                                     const mesh_links& mesh_costs)
    : of(r), operands(given), decided(p) {
  const mesh& m = p[0].on;
  for (std::size_t i = 0; i < given.size(); ++i) add(m, i, given[i], given[i].layout, p.operands[i], mesh_costs);
  for (std::size_t j = 0; j < results.size() && j < p.results.size(); ++j)
    add(m, given.size() + j, results[j], p.results[j], results[j].layout, mesh_costs);
}

PARTITA_DEF long_text propagation_picture::name(std::size_t tensor) const {
  const bool is_operand = tensor < operands.size();
  return long_text(is_operand ? "operand " : "result ") << (is_operand ? tensor : tensor - operands.size());
}

PARTITA_DEF void propagation_picture::add(const mesh& m, std::size_t tensor, const spec& given, const sharding& from,
                                          const sharding& to, const mesh_links& mesh_costs) {
  if (given.known && !from.same_layout(to))
    moves.push_back({tensor, from, to, plan_reshard(m, from, to, given.shape, mesh_costs, given.element_bytes)});
}

PARTITA_DEF long_text to_text(const propagation_picture& picture) {
  long_text all;
  for (const tensor_move& move : picture.moves) {
    all << (all.empty() ? "" : "\n") << (picture.is_before(move) ? "before, " : "after, ") << picture.name(move.tensor)
        << " moves by\n";
    for (const reshard_need& estimate : picture.decided.reshards)
      if (estimate.tensor == move.tensor && estimate.bytes != move.plan.bytes())
        all << "(" << move.plan.bytes() << " bytes to a worker, where the estimate was " << estimate.bytes << ")\n";
    for (const reshard_step& step : move.plan) all << detail::text_of(step) << "\n";
  }
  return all;
}

PARTITA_DEF long_text to_svg(const propagation_picture& picture) {
  detail::listing_rows rows;
  const propagation& p = picture.decided;
  rows.add((long_text("mesh ") << detail::text_of(p[0].on)), "", true, detail::dark_colour.ink);
  std::vector<std::size_t> row_of;
  for (std::size_t i = 0; i < picture.operands.size(); ++i) {
    const spec& one = picture.operands[i];
    row_of.push_back(rows.add_value(picture.name(i) << " " << detail::text_of(one.shape),
                                    detail::text_of(one.known ? one.layout : p.operands[i]), one.known));
  }
  const auto add_moves = [&](std::size_t tensor, const char* text_before_move) {
    bool any = false;
    for (const tensor_move& move : picture.moves)
      if (move.tensor == tensor) {
        rows.add_move(long_text(text_before_move) << detail::steps_text(move.plan) << " of " << picture.name(tensor),
                      detail::text_of(move.to));
        any = true;
      }
    return any;
  };
  std::vector<bool> moves;
  for (std::size_t i = 0; i < picture.operands.size(); ++i) moves.push_back(add_moves(i, "    "));
  for (std::size_t i = 0; i < row_of.size(); ++i) rows.add_arc(row_of[i], rows.rows(), moves[i]);
  for (std::size_t j = 0; j < p.results.size(); ++j) {
    const std::size_t tensor = picture.operands.size() + j;
    rows.add_value(picture.name(tensor) << " of " << detail::text_of(picture.of), detail::text_of(p.results[j]), false);
    add_moves(tensor, "    then ");
  }
  return rows.svg();
}

}  // namespace partita
