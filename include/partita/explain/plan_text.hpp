// Plans as text: what this worker sends to each worker, what it receives, and what stays.
#pragma once

#include <cstddef>
#include <partita/core/box.hpp>
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

/// Written as 2 x 3; the shape of a scalar is "scalar".
template <std::size_t Rank>
long_text in_words(const std::array<std::size_t, Rank>& shape, const char* times = " x ") {
  long_text words(Rank == 0 ? "scalar" : "");
  for (std::size_t d = 0; d < Rank; ++d) words << (d == 0 ? "" : times) << shape[d];
  return words;
}

/// Written as "1 message", "2 messages".
inline long_text counted(std::size_t n, const char* what) {
  long_text words;
  words << n << " " << what << (n == 1 ? "" : "s");
  return words;
}

/// Written as "6 elements", with their bytes if the size of an element is known.
inline long_text amount(std::size_t elements, std::size_t element_bytes) {
  long_text words = counted(elements, "element");
  if (element_bytes != 0) words << " (" << elements * element_bytes << " bytes)";
  return words;
}

/// The number of elements of a part that are contiguous in a dense block.
template <std::size_t Rank>
std::size_t run_length(const std::array<std::size_t, Rank>& part, const std::array<std::size_t, Rank>& block) {
  std::size_t run = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    run *= part[d];
    if (part[d] != block[d]) break;
  }
  return run;
}

/// Written as "worker 3", "workers 1, 4, 7", "workers 0 to 99"; only the start of long lists.
inline long_text list_of_workers(const std::size_t* ids, std::size_t n) {
  const std::size_t most = 12;
  long_text words(n == 1 ? "worker " : "workers ");
  bool contiguous = n > 3;
  for (std::size_t k = 1; k < n; ++k) contiguous = contiguous && ids[k] == ids[k - 1] + 1;
  if (contiguous) return words << ids[0] << " to " << ids[n - 1];
  for (std::size_t k = 0; k < n && k < most; ++k) words << (k == 0 ? "" : ", ") << ids[k];
  if (n > most) words << " and " << n - most << " more";
  return words;
}

}  // namespace detail

/// The plan as text, one line for each box; with bytes if the size of an element is given.
template <std::size_t Rank>
long_text to_text(const repartition_plan<Rank>& plan, std::size_t element_bytes = 0) {
  long_text all;
  all << "worker " << plan.worker << (Rank == 0 ? ", " : ", tensor ") << detail::in_words(plan.extents);
  if (plan.axes != same_axes<Rank>())
    all << " turned to " << detail::in_words(in_result_order(plan.extents, plan.axes));
  all << ": ";
  if (!plan.gives && !plan.takes) return all << "takes no part\n";
  if (plan.gives) all << "gives " << detail::in_words(plan.source_shape) << (plan.takes ? ", " : "");
  if (plan.takes) all << "takes " << detail::in_words(plan.destination_shape);
  all << "\n";
  if (plan.identity()) {
    all << "  identity: nothing moves";
    if (plan.elements_kept() > 0) all << ", " << detail::amount(plan.elements_kept(), element_bytes) << " copied here";
    return all << "\n";
  }

  struct row {
    long_text who, where, what;
  };
  std::vector<row> rows;
  const auto add = [&](long_text who, const box<Rank>& where, const std::array<std::size_t, Rank>& block) {
    row next;
    next.who = static_cast<long_text&&>(who);
    next.where << where;
    const std::size_t n = where.volume(), run = detail::run_length(where.shape(), block);
    next.what << detail::amount(n, element_bytes);
    if (run < n) next.what << " in " << n / run << " runs of " << run;
    rows.push_back(static_cast<row&&>(next));
  };
  const auto add_all = [&](const std::vector<transfer<Rank>>& moves, const char* way,
                           const std::array<std::size_t, Rank>& block) {
    for (std::size_t k = 0; k < moves.size(); ++k) {
      long_text who;
      if (k == 0 || moves[k - 1].worker != moves[k].worker) who << way << " worker " << moves[k].worker;
      add(who, moves[k].where, block);
    }
  };
  add_all(plan.sends, "to", plan.source_shape);
  for (std::size_t k = 0; k < plan.kept.size(); ++k) add(k == 0 ? "stays" : "", plan.kept[k].where, plan.source_shape);
  add_all(plan.receives, "from", plan.destination_shape);

  std::size_t first = 0, second = 0;
  for (const row& r : rows) {
    first = r.who.size() > first ? r.who.size() : first;
    second = r.where.size() > second ? r.where.size() : second;
  }
  for (row& r : rows) all << "  " << r.who.pad(first + 2) << r.where.pad(second + 2) << r.what << "\n";
  return all << "  in all: sends " << detail::amount(plan.elements_sent(), element_bytes) << " to "
             << detail::counted(plan.messages_sent(), "worker") << ", receives "
             << detail::amount(plan.elements_received(), element_bytes) << " from "
             << detail::counted(plan.messages_received(), "worker") << ", copies "
             << detail::amount(plan.elements_kept(), element_bytes) << " here\n";
}

/// The messages that leave or enter a node, one line for each.
inline long_text to_text(const node_messages& all, std::size_t element_bytes = 0) {
  long_text words;
  for (const node_message& m : all.messages)
    words << "worker " << m.from << " to worker " << m.to << ": " << detail::amount(m.elements, element_bytes) << " in "
          << m.last - m.first << (m.last - m.first == 1 ? " box" : " boxes") << (m.joined ? ", joint\n" : "\n");
  return words;
}

/// The part of one worker in a broadcast or a sum: the source and the destination of each block, and the messages along
/// the tree.
inline long_text to_text(const group_plan& plan) {
  using kind = group_plan::kind;
  long_text all;
  all << "worker " << plan.worker << " in "
      << (plan.movement == kind::broadcast    ? "broadcast"
          : plan.movement == kind::sum_reduce ? "sum_reduce"
                                              : "all_sum_reduce");
  if (plan.groups.empty()) return all << ": takes no part\n";
  for (const worker_group& g : plan.groups) {
    all << (plan.groups.size() == 1 ? ": " : &g == plan.groups.data() ? ":\n  " : "  ");
    if (g.members.size() == 1) {
      all << "keeps its block; nothing moves\n";
      continue;
    }
    const binomial_tree tree{g.members.size()};
    const bool root = g.position == 0, gives = plan.movement == kind::broadcast,
               everywhere = plan.movement == kind::all_sum_reduce;
    std::vector<std::size_t> below;
    const auto add = [&](std::size_t position) { below.push_back(g.members[position]); };
    if (gives) tree.for_below(g.position, add);
    else tree.for_below_smallest_first(g.position, add);
    const auto large = detail::list_of_workers(g.members.data() + (g.root_is_large ? 0 : 1),
                                               g.members.size() - (g.root_is_large ? 0 : 1));
    if (root || everywhere) all << (gives ? "gives its block to " : "takes the sum of the blocks of ") << large;
    else all << (gives ? "takes the block of worker " : "gives its block to the sum of worker ") << g.members[0];
    const char* next = "; ";
    if (!root && (everywhere || tree.above(g.position) != 0)) {
      all << next << "by way of worker " << g.members[tree.above(g.position)];
      next = ", ";
    }
    if (!below.empty())
      all << next
          << (everywhere ? "exchanges with "
              : !gives   ? "receives from "
              : root     ? "sends it to "
                         : "sends it on to ")
          << detail::list_of_workers(below.data(), below.size());
    all << "\n";
  }
  return all;
}

/// The weights of a worker, and its part in the broadcast of x and in the sum of the products.
inline long_text to_text(const linear_plan& plan) {
  long_text all;
  all << "worker " << plan.worker << " in linear: ";
  if (!plan.multiplies) all << "holds no weights";
  else all << "multiplies by W " << plan.weights << (plan.has_bias ? " and adds the bias" : "");
  all << "\n";
  if (plan.algorithm == weight_stationary) return all << to_text(plan.input) << to_text(plan.output);
  if (plan.members.empty()) return all;
  return all << "worker " << plan.worker
             << (plan.algorithm == column_parallel ? " gathers x" : " scatters the sum of y") << " among "
             << detail::list_of_workers(plan.members.data(), plan.members.size()) << "\n";
}

/// The operations, communication and memory of one worker.
inline long_text to_text(const linear_cost& cost) {
  long_text all;
  all << cost.flops << " floating-point operations, " << cost.sent << " bytes sent and " << cost.received
      << " received in " << detail::counted(cost.messages, "message") << ", " << cost.memory << " bytes held";
  if (cost.staging != 0) all << ", " << cost.staging << " of them for staging";
  return all << "\n";
}

/// The chosen algorithm, its partitions and its cost.
inline long_text to_text(const linear_choice& choice) {
  long_text all;
  if (!choice.possible)
    return all << "no algorithm of linear suits these partitions, this many workers and this memory\n";
  const char* const names[] = {"weight_stationary", "column_parallel", "row_parallel"};
  return all << names[static_cast<std::size_t>(choice.algorithm)] << " with p_w = " << detail::in_words(choice.p_w)
             << "; the busiest worker: " << to_text(choice.cost);
}

/// The plan in three lines: the requirements of each operand, and the partition of the result.
inline long_text to_text(const elementwise_plan& plan) {
  long_text all;
  all << plan;
  return all;
}

/// The communication of all workers together, and how balanced it is.
inline long_text to_text(const movement_cost& cost, std::size_t element_bytes = 0) {
  long_text all;
  all << detail::amount(cost.elements_moved, element_bytes) << " moved in " << detail::counted(cost.messages, "message")
      << ", " << detail::amount(cost.elements_kept, element_bytes) << " kept, by "
      << detail::counted(cost.workers, "worker") << "\n";
  if (cost.elements_moved == 0) return all;
  return all << "  the busiest sends " << detail::amount(cost.most_sent, element_bytes) << ", receives "
             << detail::amount(cost.most_received, element_bytes) << ", meets "
             << detail::counted(cost.most_messages, "worker") << " each way at most\n";
}

namespace detail {

/// The types whose stream output is their to_text.
template <class T>
concept streams_its_text =
    std::is_same_v<T, group_plan> || std::is_same_v<T, linear_plan> || std::is_same_v<T, linear_cost> ||
    std::is_same_v<T, linear_choice> || std::is_same_v<T, movement_cost>;

}  // namespace detail

/// Supports `std::cout << plan` and `std::cout << cost`.
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
