// repartition: prints what each worker sends and receives, how much crosses between nodes, and what it costs.
#pragma once

#include <partita/explain/repartition_picture.hpp>
#include <partita/plan/cost.hpp>
#include <partita/plan/node_messages.hpp>
#include <partita/rule/repartition_rule.hpp>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

inline std::string amount(std::size_t elements, std::size_t messages) {
  return messages == 0 ? "-" : std::to_string(elements) + " in " + std::to_string(messages);
}

/// Counts the elements and messages that stay on a node and those between nodes. Workers fill one node after another.
template <class Picture>
void print_nodes(const Picture& moved, std::size_t nodes, std::size_t element) {
  std::size_t bound = 0, stay = 0, own = 0, elements = 0, pairs = 0, messages = 0, joined = 0;
  for (const auto* side : {&moved.p_x.workers(), &moved.p_y.workers()}) bound = std::max(bound, side->id_end());
  if (bound > 10'000'000) throw request_error("--nodes takes partitions on workers below 10 000 000");
  if (nodes == 0 || nodes > bound) throw usage_error("--nodes takes 1 to " + std::to_string(bound));
  const auto node_of = [&](std::size_t worker) { return worker * nodes / bound; };
  std::vector<std::vector<std::size_t>> members(nodes);
  for (std::size_t worker = 0; worker < bound; ++worker) members[node_of(worker)].push_back(worker);
  for (const auto& here : members) {
    std::size_t sent = 0;
    const auto plan_of = [&](std::size_t worker) {
      const auto plan = moved.plan(worker);
      for (std::size_t k = 0; k < plan.sends.size(); ++k) {
        const std::size_t to = plan.sends[k].worker;
        const bool first = k == 0 || plan.sends[k - 1].worker != to, crosses = node_of(to) != node_of(worker);
        (crosses ? pairs : own) += first;
        sent += plan.sends[k].where.volume();
      }
      return plan;
    };
    for (const auto& m : partita::plan_node_messages(here, true, element, plan_of, node_of).messages)
      elements += m.elements, sent -= m.elements, ++messages, joined += m.is_joint;
    stay += sent;
  }
  std::cout << "\non " << nodes << " nodes that workers fill one after another: " << stay << " elements in " << own
            << " messages stay on their node, " << elements << " in " << messages << " cross between nodes";
  if (joined != 0)
    std::cout << ",\n  " << joined << " of them shared: small boxes of " << pairs - (messages - joined)
              << " pairs of workers";
  std::cout << "\n";
}

/// About how many non-empty intersections the blocks of two balanced partitions have.
inline double overlaps(const place& from, const place& to) {
  double all = 1;
  for (std::size_t d = 0; d < from.shape.size(); ++d) all *= static_cast<double>(from.shape[d] + to.shape[d] - 1);
  return all;
}

template <std::size_t Rank>
int explain_moves(const arguments& given, const place& from, const place& to, const partita::shape_list& tensor) {
  using namespace partita;
  const std::size_t element = given.count("--element", 4);
  const auto picture_of = [&](std::size_t factor) {
    std::array<std::size_t, Rank> extents{};
    for (std::size_t d = 0; d < Rank; ++d) extents[d] = tensor[d] * (from.shape[d] > 1 || to.shape[d] > 1 ? factor : 1);
    return repartition_picture(from.times(factor).grid<Rank>(), to.times(factor).grid<Rank>(),
                               dynamic_extents<Rank>(extents));
  };
  const auto moved = picture_of(1);
  std::cout << "legal: both partitions have the rank of the tensor; the input may have any distribution, the output "
               "has the balanced one\n\n";
  const workers all = union_of(moved.p_x.workers(), moved.p_y.workers());
  table each({"worker", "gives", "takes", "keeps", "sends", "receives"});
  for (std::size_t k = 0; k < all.size() && k < most_rows; ++k) {
    const auto plan = moved.plan(all[k]);
    each.add({std::to_string(all[k]), plan.gives ? written(plan.source_shape) : "-",
              plan.takes ? written(plan.destination_shape) : "-", std::to_string(plan.elements_kept()),
              amount(plan.elements_sent(), plan.messages_sent()),
              amount(plan.elements_received(), plan.messages_received())});
  }
  each.print();
  print_rest(all.size());
  std::cout << "  (6 in 2 means: 6 elements to or from 2 workers)\n";
  if (given.has("--worker")) std::cout << "\n" << to_text(moved.plan(given.count("--worker", 0)), element);
  std::cout << "\n" << to_text(cost_of(moved.p_x, moved.from, moved.p_y, moved.to), element);
  if (given.has("--nodes")) print_nodes(moved, given.count("--nodes", 1), element);

  std::cout << "\ncost as partitions and tensor grow together\n";
  table cost(
      {"workers", "from", "to", "tensor", "messages in all", "of the busiest", "bytes by the busiest", "seconds"});
  bool truncated = false, too_large = false;
  for_scales(from.size() > to.size() ? from.shape : to.shape, [&](std::size_t factor) {
    truncated = truncated || overlaps(from.times(factor), to.times(factor)) > 4e6;
    if (truncated) return;
    const auto larger = picture_of(factor);
    too_large = too_large || is_too_large(larger.from.extents());
    if (too_large) return;
    const auto sum = cost_of(larger.p_x, larger.from, larger.p_y, larger.to);
    const std::size_t most = std::max(sum.most_sent, sum.most_received);
    cost.add({std::to_string(sum.workers), written(larger.p_x.shape()), written(larger.p_y.shape()),
              written(larger.from.extents()), std::to_string(sum.messages), std::to_string(sum.most_messages),
              bytes(static_cast<double>(most * element)),
              seconds(sum.seconds(element, network.seconds_per_message, network.bytes_per_second))});
  });
  cost.print();
  if (too_large) std::cout << truncation_note;
  if (truncated && !too_large)
    std::cout << "  ... larger ones have more than 4 000 000 overlaps and take too long to count\n";
  print_model();
  if (!given.has("--svg")) return 0;
  if (all.size() > 100) throw request_error("--svg draws up to 100 workers");
  given.save(to_svg(moved, given.count("--worker", all[0]), element));
  return 0;
}

inline int explain_repartition(int argc, char** argv) {
  using namespace partita;
  const arguments given(argc, argv, {"--tensor", "--element", "--nodes", "--worker", "--svg"}, {});
  given.require_words(2, "give two partitions: P_X P_Y");
  const place from(given.words()[0]), to(given.words()[1]);
  const shape_list tensor = given.has("--tensor")
                                ? extents(given.value("--tensor", ""))
                                : [&] {  // each extent is 3 times the larger extent of p_x and p_y
                                    shape_list all;
                                    for (std::size_t d = 0; d < from.shape.size(); ++d)
                                      all.push_back(3 * std::max(from.shape[d], d < to.shape.size() ? to.shape[d] : 1));
                                    return all;
                                  }();
  std::cout << "repartition of a tensor " << written(tensor) << " from " << written(from.shape) << " to "
            << written(to.shape) << "\n";
  const auto verdict = judge_repartition(from.shape.size(), to.shape.size(), tensor.size());
  if (!verdict) {
    std::cout << "not legal: " << explain_verdict(verdict) << "\n";
    return 1;
  }
  require_countable(tensor);
  if (overlaps(from, to) > 4e6) throw request_error("partitions with up to 4 000 000 overlaps can be explained");
  return with_rank(from.shape.size(),
                   [&](auto rank) { return explain_moves<decltype(rank)::value>(given, from, to, tensor); });
}

}  // namespace tool
