// Defines the functions that explain/plan_text.hpp declares.
#pragma once

#include <partita/explain/plan_text.hpp>

namespace partita::detail {

PARTITA_DEF long_text count_text(std::size_t n, const char* what) {
  long_text words;
  words << n << " " << what << (n == 1 ? "" : "s");
  return words;
}

PARTITA_DEF long_text size_text(std::size_t elements, std::size_t element_bytes) {
  long_text words = count_text(elements, "element");
  if (element_bytes != 0) words << " (" << elements * element_bytes << " bytes)";
  return words;
}

PARTITA_DEF long_text list_of_workers(const std::size_t* ids, std::size_t n) {
  const std::size_t most = 12;
  long_text words(n == 1 ? "worker " : "workers ");
  bool contiguous = n > 3;
  for (std::size_t k = 1; k < n; ++k) contiguous = contiguous && ids[k] == ids[k - 1] + 1;
  if (contiguous) return words << ids[0] << " to " << ids[n - 1];
  for (std::size_t k = 0; k < n && k < most; ++k) words << (k == 0 ? "" : ", ") << ids[k];
  if (n > most) words << " and " << n - most << " more";
  return words;
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF long_text to_text(const node_messages& all, std::size_t element_bytes) {
  long_text words;
  for (const node_message& m : all.messages)
    words << "worker " << m.from << " to worker " << m.to << ": " << detail::size_text(m.elements, element_bytes)
          << " in " << m.end_box - m.first_box << (m.end_box - m.first_box == 1 ? " box" : " boxes")
          << (m.is_joint ? ", joint\n" : "\n");
  return words;
}

PARTITA_DEF long_text to_text(const group_plan& plan) {
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
    if (gives) tree.for_each_child(g.position, add);
    else tree.for_each_child_smallest_first(g.position, add);
    const auto large = detail::list_of_workers(g.members.data() + (g.root_is_large ? 0 : 1),
                                               g.members.size() - (g.root_is_large ? 0 : 1));
    if (root || everywhere) all << (gives ? "gives its block to " : "takes the sum of the blocks of ") << large;
    else all << (gives ? "takes the block of worker " : "gives its block to the sum of worker ") << g.members[0];
    const char* next = "; ";
    if (!root && (everywhere || tree.parent(g.position) != 0)) {
      all << next << "by way of worker " << g.members[tree.parent(g.position)];
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

PARTITA_DEF long_text to_text(const linear_plan& plan) {
  long_text all;
  all << "worker " << plan.worker << " in linear: ";
  if (!plan.holds_weights) all << "holds no weights";
  else all << "multiplies by W " << plan.weights << (plan.has_bias ? " and adds the bias" : "");
  all << "\n";
  if (plan.algorithm == weight_stationary) return all << to_text(plan.input) << to_text(plan.output);
  if (plan.members.empty()) return all;
  return all << "worker " << plan.worker
             << (plan.algorithm == column_parallel ? " gathers x" : " scatters the sum of y") << " among "
             << detail::list_of_workers(plan.members.data(), plan.members.size()) << "\n";
}

PARTITA_DEF long_text to_text(const linear_cost& cost) {
  long_text all;
  all << cost.flops << " floating-point operations, " << cost.sent_bytes << " bytes sent and " << cost.received_bytes
      << " received in " << detail::count_text(cost.messages, "message") << ", " << cost.peak_bytes << " bytes held";
  if (cost.staging != 0) all << ", " << cost.staging << " of them for staging";
  return all << "\n";
}

PARTITA_DEF long_text to_text(const linear_choice& choice) {
  long_text all;
  if (!choice.is_possible)
    return all << "no algorithm of linear suits these partitions, this many workers and this memory\n";
  const char* const names[] = {"weight_stationary", "column_parallel", "row_parallel"};
  return all << names[static_cast<std::size_t>(choice.algorithm)] << " with p_w = " << detail::extents_text(choice.p_w)
             << "; the busiest worker: " << to_text(choice.cost);
}

PARTITA_DEF long_text to_text(const elementwise_plan& plan) {
  long_text all;
  all << plan;
  return all;
}

PARTITA_DEF long_text to_text(const movement_cost& cost, std::size_t element_bytes) {
  long_text all;
  all << detail::size_text(cost.elements_moved, element_bytes) << " moved in "
      << detail::count_text(cost.messages, "message") << ", " << detail::size_text(cost.elements_kept, element_bytes)
      << " kept, by " << detail::count_text(cost.workers, "worker") << "\n";
  if (cost.elements_moved == 0) return all;
  return all << "  the busiest sends " << detail::size_text(cost.most_sent, element_bytes) << ", receives "
             << detail::size_text(cost.most_received, element_bytes) << "; a worker exchanges with at most "
             << detail::count_text(cost.most_messages, "other worker") << "\n";
}

}  // namespace partita
