// Completion finds the shardings of all values of a program from a few annotations, and the reshards between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/graph.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <vector>

namespace partita {

/// Why axis `axis` shards dimension `dimension` of the value `of`: it was annotated, or the operation `operation`
/// propagated it from the value `from`.
struct cut_origin {
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no operation, or no further origin
  std::uint32_t of = 0;                                     ///< the value whose dimension the axis shards
  std::uint8_t dimension = 0, axis = 0;                     ///< the sharded dimension, and the mesh axis that shards it
  std::uint32_t operation = none;    ///< the operation that propagated the axis; `none` for an annotation
  std::uint8_t factor = 0;           ///< the number of the factor, in the rule of the operation
  std::uint32_t from = 0;            ///< the value from which the axis was propagated; else `of`
  std::uint8_t from_dimension = 0;   ///< the dimension of that value from which the axis was propagated
  std::uint32_t next_origin = none;  ///< the index in `cut_origins` of the next origin of `of`, or `none`
  friend constexpr bool operator==(const cut_origin&, const cut_origin&) = default;
};

/// A reshard of an operand before an operation, or of a result after the operation.
struct graph_reshard {
  std::uint32_t operation = 0;  ///< the number of the operation in the program
  std::uint8_t tensor = 0;      ///< the number of the tensor in the operation, operands first
  std::uint32_t of = 0;         ///< the value that is moved
  sharding from{}, to{};        ///< the shardings before and after the reshard
  friend constexpr bool operator==(const graph_reshard&, const graph_reshard&) = default;
};

/// A reshard in the backward pass: of a cotangent, or of a value that the operation of a gradient reads.
struct backward_reshard {
  text operation{};       ///< the operation that needs the move
  shape_list shape{};     ///< the global extents of the tensor
  sharding from{}, to{};  ///< the shardings before and after the reshard
  /// The bytes that the busiest worker receives, if `from` equals `to`: the operation itself communicates. Else 0.
  std::size_t bytes = 0;
  bool is_complex = false;  ///< whether an element is a pair of real numbers
};

/// The shardings of a program's values, and the moves between them. The graph of the program must outlive this object.
template <class Graph>
struct completion_of {
  const Graph* program = nullptr;         ///< the program that was completed
  std::vector<sharding> layouts{};        ///< the sharding of each value; partial only if annotated so, or if read once
  std::vector<graph_reshard> reshards{};  ///< the reshards in the order of the program
  std::vector<backward_reshard> back{};   ///< the reshards of the backward pass, if the program was traced
  std::vector<cut_origin> cut_origins{};  ///< the origins of all sharded axes, linked for each value
  std::vector<std::uint32_t> first_cut_origin{};  ///< for each value, an index in `cut_origins`, or `none`
  policy by{};                                    ///< the policy of propagation
  std::size_t visits = 0;                         ///< how many times the completion visited an operation

  const sharding& operator[](value v) const { return layouts[v.number]; }
  /// The origin of axis a in dimension d of value v; null if the axis does not shard the dimension.
  const cut_origin* origin_of_cut(value v, std::size_t d, std::size_t a) const {
    for (std::uint32_t k = first_cut_origin[v.number]; k != cut_origin::none; k = cut_origins[k].next_origin)
      if (cut_origins[k].dimension == d && cut_origins[k].axis == a) return &cut_origins[k];
    return nullptr;
  }
  /// The plan of a reshard, with its cost if a real number has `real` bytes.
  template <class Move>
  reshard_plan plan(const Move& move, const mesh_links& links = {}, std::size_t real = 4) const {
    const value v{move.of};
    return plan_reshard(program->on(), move.from, move.to, (*program)[v].shape, links, program->element_bytes(v, real));
  }
  /// The reshard of tensor t of operation o (operands are numbered first), or null.
  const graph_reshard* reshard_of(std::size_t o, std::size_t t) const {
    std::size_t first = 0, end = reshards.size();  // the moves are in the order of the operations
    while (first < end) {
      const std::size_t middle = first + (end - first) / 2;
      if (reshards[middle].operation < o) first = middle + 1;
      else end = middle;
    }
    for (; first < reshards.size() && reshards[first].operation == o; ++first)
      if (reshards[first].tensor == t) return &reshards[first];
    return nullptr;
  }
  /// The sharding in which operation o reads or makes its tensor t.
  const sharding& used_layout(std::size_t o, std::size_t t) const {
    const graph_reshard* move = reshard_of(o, t);
    const auto& n = program->operation(o);
    return move == nullptr ? (*this)[program->of(n, t)] : t < n.operands ? move->to : move->from;
  }
  /// The cost of what operation o itself moves along sharded dimensions; zero if the operation moves nothing.
  exchange_cost window(std::size_t o, const mesh_links& links = {}, std::size_t real = 4) const {
    const auto& n = program->operation(o);
    if (n.window == nullptr) return {};
    std::vector<sharding> used_layouts;
    std::vector<shape_list> shapes;
    bool needed = false;
    for (std::size_t t = 0; t < n.how.tensor_count(); ++t) {
      used_layouts.push_back(used_layout(o, t));
      shapes.push_back((*program)[program->of(n, t)].shape);
      needed = needed || n.window->is_needed(t, used_layouts.back());
    }
    if (!needed) return {};
    return window_cost(*n.window, used_layouts.data(), shapes.data(), n.operands, links,
                       program->element_bytes(value{n.first_result}, real));
  }
  /// The bytes that the busiest worker receives in the communication of operation o itself; a real number has 4 bytes.
  std::size_t window_bytes(std::size_t o) const {
    return window(o).elements * program->element_bytes(value{program->operation(o).first_result}, 4);
  }
  /// The bytes that the busiest worker of each reshard and of each operation with a window receives, summed over the
  /// program. A real number has 4 bytes.
  std::size_t bytes() const {
    std::size_t all = 0;
    for (const graph_reshard& one : reshards) all += plan(one).bytes();
    for (std::size_t o = 0; o < program->operations(); ++o) all += window_bytes(o);
    return all;
  }
};
using completion = completion_of<graph>;  ///< The usual type of a completed program.

/// Finds the shardings of all values of a program from its annotations, and the necessary moves.
/// Shapes:   those of the graph.
/// Requires: a policy that rejects nothing that the program needs [partition_error].
/// Cost:     time in O(operations + axes that are added), about a microsecond for each; memory for all values.
/// Adjoint:  the completion of the program's gradients, which are operations of the graph like any others.
template <std::size_t Letters>
completion_of<basic_graph<Letters>> complete(const basic_graph<Letters>& program, const policy& by = {});
#ifdef PARTITA_CORE
extern template completion complete(const graph&, const policy&);
#endif

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/complete.ipp>
#endif
