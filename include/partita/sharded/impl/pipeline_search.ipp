// Defines the functions that sharded/pipeline_search.hpp declares.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <partita/sharded/pipeline_search.hpp>
#include <utility>

namespace partita {

PARTITA_DEF pipeline_answer search_pipeline(const pipeline_network& network, const pipeline_search_options& options) {
  /// The estimated times and memory of consecutive layers for one micro-batch.
  struct stage_estimate {
    double forward = 0, backward = 0, update = 0;  ///< seconds of the passes, and of the optimiser's update
    std::size_t peak_bytes = 0;                    ///< the most bytes that a worker needs in a step of one micro-batch
    std::size_t kept_bytes = 0;  ///< of peak_bytes, the bytes that the forward pass keeps for the backward pass
    std::size_t sent_bytes = 0;  ///< the bytes of a worker's block of the result
    search_candidate layouts{};  ///< found by search()
  };
  std::map<std::array<std::size_t, 4>, stage_estimate> known;
  const auto estimated = [&](std::size_t workers, std::size_t first, std::size_t last,
                             std::size_t rows) -> const stage_estimate& {
    const auto [place, is_new] = known.try_emplace({workers, first, last, rows});
    stage_estimate& one = place->second;
    if (!is_new) return one;
    graph g = network.program(workers, first, last, rows);
    // The input from the previous stage is not a weight, but its cotangent is sent back.
    std::uint32_t arrives = step_event::none;
    for (std::uint32_t v = 0; first > 0 && v < g.values() && arrives == step_event::none; ++v)
      if (g[value{v}].producer == graph::none && !g[value{v}].is_parameter) arrives = v;
    if (arrives != step_event::none) g.differentiate_by(value{arrives});
    const auto found = [&] {
      try {
        return search(g, options.links, options.memory, options.layouts);
      } catch (const partition_error&) {  // no layouts fit: find how much memory the stage needs
        return search(g, options.links, ~std::size_t{0}, options.layouts);
      }
    }();
    const graph annotated = found.annotated();
    const completion done = complete(annotated, found.by);
    const std::vector<sharding> states = found.states(done);
    const step_plan step = plan_step(done, found.model, states);
    const std::size_t bytes = found.model.element_bytes;
    std::size_t weights = 0, no_states = 0;  // in bytes; the optimiser has no state for the input
    for (std::uint32_t v = 0; v < g.values(); ++v) {
      const value at{v};
      if (!g[at].is_parameter) continue;
      const std::size_t of_states = found.model.states * g.block_bytes(at, states[v], bytes);
      if (v == arrives) no_states = of_states;
      weights += of_states + (v == arrives ? 0 : g.block_bytes(at, done[at], bytes));
    }
    for (const step_event& e : step.events) {
      if (e.kind == step_event::what::update) one.update += e.of == arrives ? 0 : e.seconds;
      else (e.backward ? one.backward : one.forward) += e.seconds;
      if (!e.backward) one.kept_bytes = e.bytes_held > weights ? e.bytes_held - weights : 0;
    }
    const value result{static_cast<std::uint32_t>(g.values() - 1)};
    one.sent_bytes = g.block_bytes(result, done[result], bytes);
    one.peak_bytes = step.peak() - no_states;
    one.layouts = found.best;
    return one;
  };

  pipeline_answer best;
  bool is_found = false;
  std::size_t least = ~std::size_t{0}, candidates = 0;
  const auto try_pipeline = [&](std::size_t stages, std::size_t micro_batches) {
    const std::size_t workers = network.workers / stages;
    const std::size_t rows = (network.rows + micro_batches - 1) / micro_batches;
    // 1. Divide the layers into stages. longest[p][l] is the least possible time of the longest of p stages that have
    // the first l layers.
    std::vector<double> until{0};
    for (std::size_t l = 0; l < network.layers; ++l) {
      const stage_estimate& one = estimated(workers, l, l + 1, rows);
      until.push_back(until.back() + one.forward + one.backward);
    }
    std::vector<std::vector<double>> longest(stages + 1, until);
    std::vector<std::vector<std::size_t>> begin(stages + 1, std::vector<std::size_t>(network.layers + 1, 0));
    for (std::size_t p = 2; p <= stages; ++p)
      for (std::size_t l = p; l <= network.layers; ++l) {
        longest[p][l] = -1;
        for (std::size_t from = p - 1; from < l; ++from)
          if (const double here = std::max(longest[p - 1][from], until[l] - until[from]);
              longest[p][l] < 0 || here < longest[p][l])
            longest[p][l] = here, begin[p][l] = from;
      }
    // 2. Estimate the times of each stage, and the memory of a worker.
    pipeline_answer one;
    one.workers_of_stage = workers, one.micro_batches = micro_batches;
    one.stages.resize(stages);
    for (std::size_t p = stages, last = network.layers; p > 0; last = begin[p--][last])
      one.stages[p - 1].first_layer = begin[p][last], one.stages[p - 1].end_layer = last;
    pipeline_shape shape{{}, static_cast<std::uint32_t>(micro_batches)};
    std::vector<const stage_estimate*> estimates;
    for (found_stage& s : one.stages) {
      const stage_estimate& e = estimated(workers, s.first_layer, s.end_layer, rows);
      s.layouts = e.layouts;
      shape.group_of.push_back(static_cast<std::uint32_t>(estimates.size()));
      estimates.push_back(&e);
      one.update_seconds = std::max(one.update_seconds, e.update);
      if (s.end_layer < network.layers)
        one.times.transfer_seconds =
            std::max(one.times.transfer_seconds,
                     options.between.latency + static_cast<double>(e.sent_bytes) * options.between.seconds_per_byte);
    }
    // 3. Simulate the stages in each order of tasks, and keep the fastest pipeline that fits into memory.
    for (const pipeline_order order : options.orders) {
      one.order = order;
      one.times.forward.clear(), one.times.backward.clear(), one.times.weights.clear();
      const bool has_weight_pass = order == pipeline_order::zero_bubble;
      for (const stage_estimate* e : estimates) {
        one.times.forward.push_back(e->forward);
        one.times.backward.push_back(has_weight_pass ? e->backward / 2 : e->backward);
        one.times.weights.push_back(has_weight_pass ? e->backward / 2 : 0);
      }
      one.run = simulate(shape, tasks_of(order, shape, one.times), one.times);
      one.peak = 0;
      for (const stage_estimate* e : estimates)
        one.peak = std::max(one.peak, e->peak_bytes + (std::max(one.run.most_kept, 1U) - 1) * e->kept_bytes);
      ++candidates;
      least = std::min(least, one.peak);
      if (one.peak > options.memory || (is_found && one.seconds() >= best.seconds())) continue;
      best = one, is_found = true;
    }
  };
  if (!network.program)
    throw partition_error("partita::search_pipeline: requires a function that makes the programs; give .program");
  if (options.layouts.model.times != nullptr)
    throw partition_error(
        "partita::search_pipeline: requires a model of speeds, as measured times are those of one program; leave "
        ".layouts.model.times null");
  for (std::size_t stages = 1; stages <= network.layers && stages <= network.workers; ++stages) {
    const bool is_asked = options.stages.empty() ||
                          std::find(options.stages.begin(), options.stages.end(), stages) != options.stages.end();
    if (network.workers % stages != 0 || !is_asked) continue;
    for (const std::size_t m : options.micro_batches)
      if (m > 0 && m <= network.rows) try_pipeline(stages, m);
  }
  if (candidates == 0)
    throw partition_error(text("partita::search_pipeline: requires numbers of stages, at most ")
                          << network.layers << ", that divide " << network.workers
                          << " workers, numbers of micro-batches up to " << network.rows
                          << ", and orders; give others in .stages, .micro_batches and .orders");
  if (!is_found)
    throw partition_error(text("partita::search_pipeline: requires a pipeline that fits into ")
                          << options.memory << " bytes of each worker, but the least that was found holds " << least
                          << "; give more memory, more workers, more stages or more micro-batches");
  best.candidates = candidates;
  return best;
}

}  // namespace partita
