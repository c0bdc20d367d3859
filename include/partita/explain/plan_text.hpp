// Plans as text: what a worker sends to each worker, what the worker receives, and what it keeps.
#pragma once

#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/cost.hpp>
#include <partita/plan/elementwise_plan.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/linear_cost.hpp>
#include <partita/plan/linear_plan.hpp>
#include <partita/plan/node_messages.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <type_traits>

namespace partita {

namespace detail {

/// Writes a number with its noun: "1 message", "2 messages".
PARTITA_DECL long_text count_text(std::size_t n, const char* what);

/// Writes a number of elements as "6 elements", with their bytes if the size of an element is known.
PARTITA_DECL long_text size_text(std::size_t elements, std::size_t element_bytes);

/// The length, in elements, of the contiguous runs of a part of shape `part` in a dense block of shape `block`.
template <class Shape>
std::size_t contiguous_elements(const Shape& part, const Shape& block) {
  std::size_t run = 1;
  for (std::size_t d = part.size(); d-- > 0;) {
    run *= part[d];
    if (part[d] != block[d]) break;
  }
  return run;
}

/// Writes worker ids as "worker 3", "workers 1, 4, 7" or "workers 0 to 99"; of a list of other ids only the first 12
/// are written, and how many follow.
PARTITA_DECL long_text list_of_workers(const std::size_t* ids, std::size_t n);

}  // namespace detail

/// Writes the repartition plan of one worker: a line for each box that it sends, keeps or receives, and a line of
/// totals, or only that nothing moves; also numbers of bytes if `element_bytes` is not 0.
template <std::size_t Rank>
long_text to_text(const repartition_plan<Rank>& plan, std::size_t element_bytes = 0) {
  long_text all;
  all << "worker " << plan.worker << (Rank == 0 ? ", " : ", tensor ") << detail::extents_text(plan.extents);
  if constexpr (Rank != dynamic)
    if (plan.axes != same_axes<Rank>())
      all << " turned to " << detail::extents_text(in_result_order(plan.extents, plan.axes));
  all << ": ";
  if (!plan.gives && !plan.takes) return all << "takes no part\n";
  if (plan.gives) all << "gives " << detail::extents_text(plan.source_shape) << (plan.takes ? ", " : "");
  if (plan.takes) all << "takes " << detail::extents_text(plan.destination_shape);
  all << "\n";
  if (plan.identity()) {
    all << "  identity: nothing moves";
    if (plan.elements_kept() > 0)
      all << ", " << detail::size_text(plan.elements_kept(), element_bytes) << " copied here";
    return all << "\n";
  }

  struct row {                                 ///< one line: a box that is sent, kept or received
    long_text peer_text, box_text, size_text;  ///< "to worker 1", the ranges of the box, its number of elements
  };
  std::vector<row> rows;
  const auto add = [&](long_text peer_text, const box<Rank>& moved, const auto& block) {
    row next;
    next.peer_text = static_cast<long_text&&>(peer_text);
    next.box_text << moved;
    const std::size_t n = moved.volume(), run = detail::contiguous_elements(moved.shape(), block);
    next.size_text << detail::size_text(n, element_bytes);
    if (run < n) next.size_text << " in " << n / run << " runs of " << run;
    rows.push_back(static_cast<row&&>(next));
  };
  const auto add_all = [&](const std::vector<transfer<Rank>>& moves, const char* preposition, const auto& block) {
    for (std::size_t k = 0; k < moves.size(); ++k) {
      long_text peer_text;
      if (k == 0 || moves[k - 1].worker != moves[k].worker) peer_text << preposition << " worker " << moves[k].worker;
      add(peer_text, moves[k].where, block);
    }
  };
  add_all(plan.sends, "to", plan.source_shape);
  for (std::size_t k = 0; k < plan.kept.size(); ++k) add(k == 0 ? "stays" : "", plan.kept[k].where, plan.source_shape);
  add_all(plan.receives, "from", plan.destination_shape);

  std::size_t first = 0, second = 0;
  for (const row& r : rows) {
    first = r.peer_text.size() > first ? r.peer_text.size() : first;
    second = r.box_text.size() > second ? r.box_text.size() : second;
  }
  for (row& r : rows) all << "  " << r.peer_text.pad(first + 2) << r.box_text.pad(second + 2) << r.size_text << "\n";
  return all << "  in all: sends " << detail::size_text(plan.elements_sent(), element_bytes) << " to "
             << detail::count_text(plan.messages_sent(), "worker") << ", receives "
             << detail::size_text(plan.elements_received(), element_bytes) << " from "
             << detail::count_text(plan.messages_received(), "worker") << ", copies "
             << detail::size_text(plan.elements_kept(), element_bytes) << " here\n";
}

/// Writes the messages that leave or enter a node, one line for each message.
PARTITA_DECL long_text to_text(const node_messages& all, std::size_t element_bytes = 0);

/// Writes one worker's part in a broadcast or a sum: the source and the destination of each block, and the messages
/// along the tree.
PARTITA_DECL long_text to_text(const group_plan& plan);

/// Writes the weights of a worker of a linear layer, and the worker's part in the communication of x and of y.
PARTITA_DECL long_text to_text(const linear_plan& plan);

/// Writes the floating-point operations, the communication and the memory of one worker in a linear layer.
PARTITA_DECL long_text to_text(const linear_cost& cost);

/// Writes the algorithm that was chosen for a linear layer, the partition of the weights, and the cost of the busiest
/// worker; or, if no algorithm is possible, a line that says so.
PARTITA_DECL long_text to_text(const linear_choice& choice);

/// Writes the plan of an element-wise operation: the movement that each operand needs, and the partition of the result.
PARTITA_DECL long_text to_text(const elementwise_plan& plan);

/// Writes the cost of one repartition, summed over all workers, and the most that a single worker sends and receives.
PARTITA_DECL long_text to_text(const movement_cost& cost, std::size_t element_bytes = 0);

namespace detail {

/// The types whose stream output is the result of `to_text`.
template <class T>
concept streams_its_text =
    std::is_same_v<T, group_plan> || std::is_same_v<T, linear_plan> || std::is_same_v<T, linear_cost> ||
    std::is_same_v<T, linear_choice> || std::is_same_v<T, movement_cost>;

}  // namespace detail

/// Writes a plan or a cost to a stream, as in `std::cout << plan`, `std::cout << cost`.
template <class Stream, detail::streams_its_text Told>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const Told& one) {
  return stream << to_text(one);
}
template <class Stream, std::size_t Rank>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const repartition_plan<Rank>& plan) {
  return stream << to_text(plan);
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/plan_text.ipp>
#endif
