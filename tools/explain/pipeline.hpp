// pipeline: prints how long each order of a pipeline leaves workers idle, and what each group of workers does.
#pragma once

#include <partita/explain/pipeline_picture.hpp>
#include <partita/explain/quantities.hpp>
#include <partita/plan/pipeline_order.hpp>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

inline constexpr std::pair<const char*, partita::pipeline_order> pipeline_orders[] = {
    {"gpipe", partita::pipeline_order::gpipe},
    {"one_forward_one_backward", partita::pipeline_order::one_forward_one_backward},
    {"interleaved", partita::pipeline_order::interleaved},
    {"zero_bubble", partita::pipeline_order::zero_bubble}};

/// F0 for the forward pass of micro-batch 0, with the stage where a group has several: F0.2.
inline std::string written(const partita::pipeline_task& one, bool with_stage) {
  constexpr const char letters[] = {'F', 'B', 'W'};
  const std::string pass(1, letters[static_cast<std::size_t>(one.pass)]);
  return pass + std::to_string(one.micro_batch) + (with_stage ? "." + std::to_string(one.stage) : "");
}

inline int explain_pipeline(int argc, char** argv) {
  using namespace partita;
  const arguments given(argc, argv,
                        {"--groups", "--order", "--forward", "--backward", "--weights", "--moving", "--svg"}, {});
  given.require_words(2, "give the number of stages and of micro-batches");
  const std::size_t stages = number(given.words()[0]), micro_batches = number(given.words()[1]);
  const std::size_t groups = given.count("--groups", stages);
  if (stages == 0 || micro_batches == 0 || stages > 10000 / micro_batches)
    throw request_error("give 1 to 10 000 passes: stages times micro-batches");
  if (groups == 0 || groups > stages) throw usage_error("--groups takes 1 to " + std::to_string(stages));
  pipeline_shape shape{{}, static_cast<std::uint32_t>(micro_batches)};
  for (std::size_t s = 0; s < stages; ++s) shape.group_of.push_back(static_cast<std::uint32_t>(s % groups));
  const auto ms = [&](const char* name, std::size_t usual) {
    return static_cast<double>(given.count(name, usual)) * 1e-3;
  };
  const double forward = ms("--forward", 1), backward = ms("--backward", 2), weights = ms("--weights", 1);
  const auto times_of = [&](bool apart) {
    const auto each = [&](double one) { return std::vector<double>(stages, one); };
    return pipeline_times{each(forward), each(apart ? backward - weights : backward), each(weights), ms("--moving", 0)};
  };
  if (forward == 0 || backward == 0) throw usage_error("--forward and --backward take 1 millisecond or more");
  if (weights > backward) throw usage_error("--weights is a part of --backward");
  const std::string chosen = given.value("--order", "one_forward_one_backward");
  bool is_known = false;
  std::cout << "a pipeline of " << stages << (stages == 1 ? " stage on " : " stages on ") << groups
            << (groups == 1 ? " group of workers, " : " groups of workers, ") << micro_batches
            << (micro_batches == 1 ? " micro-batch\n\n" : " micro-batches\n\n");
  table all({"order", "idle", "seconds", "micro-batches kept by a stage"});
  pipeline_run run;
  pipeline_tasks tasks;
  for (const auto& [name, order] : pipeline_orders) {
    const pipeline_times times = times_of(order == pipeline_order::zero_bubble);
    const pipeline_tasks list = tasks_of(order, shape, times);
    const pipeline_run one = simulate(shape, list, times);
    all.add({name, std::string(detail::percentage(one.idle)), seconds(one.seconds), std::to_string(one.most_kept)});
    if (chosen != name) continue;
    is_known = true;
    run = one, tasks = list;
  }
  if (!is_known)
    throw usage_error("'" + chosen +
                      "' is no order; --order takes gpipe, one_forward_one_backward, "
                      "interleaved or zero_bubble");
  all.print();
  std::cout << "\n" << chosen << ": F is a forward pass, B a backward pass, W the gradients of weights\n";
  for (std::size_t g = 0; g < tasks.size() && g < most_rows; ++g) {
    std::cout << "  group " << g << ":";
    for (const pipeline_task& one : tasks[g]) std::cout << " " << written(one, groups < stages);
    std::cout << "\n";
  }
  print_rest(tasks.size());
  if (given.has("--svg")) given.save(to_svg(run));
  return 0;
}

}  // namespace tool
