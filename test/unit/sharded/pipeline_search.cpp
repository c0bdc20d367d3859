// The search of a pipeline: its answer is the fastest of what it compares, keeps within memory, and is what its own
// times simulate.
#include <algorithm>
#include <bit>
#include <boost/test/tools/floating_point_comparison.hpp>
#include <boost/test/unit_test.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <partita/sharded/pipeline_search.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

// [network]
/// Four layers of `width` features; the batch is sharded over the workers of a stage.
pipeline_network layers_of(std::size_t width, std::size_t rows, std::size_t workers) {
  const auto program = [width](std::size_t n, std::size_t first, std::size_t last, std::size_t micro_batch) {
    const mesh m{axis{"data", n}};
    graph g(m);
    value x = g.input({micro_batch, width}, m.layout("data", ""), "x");
    for (std::size_t l = first; l < last; ++l)
      x = g.apply(rules::relu, {g.apply(rules::matmul, {x, g.parameter({width, width})})});
    return g;
  };
  return {.layers = 4, .workers = workers, .rows = rows, .program = program};
}
// [/network]

/// Slow between the workers of a stage, as between machines.
pipeline_search_options slow_links() {
  pipeline_search_options options;
  options.layouts.most = 30;
  options.links = mesh_links{{1e-5, 1e-8}};
  options.between = {1e-5, 1e-8};
  return options;
}

/// Layer l takes rows of widths[l] elements and makes rows of widths[l + 1]; `seen` gets the rows of all programs.
pipeline_network layers_between(const std::vector<std::size_t>& widths, std::size_t rows, std::size_t workers,
                                std::set<std::size_t>* seen = nullptr) {
  const auto program = [widths, seen](std::size_t n, std::size_t first, std::size_t last, std::size_t micro_batch) {
    if (seen != nullptr) seen->insert(micro_batch);
    const mesh m{axis{"data", n}};
    graph g(m);
    value x = g.input({micro_batch, widths[first]}, m.layout("data", ""), "x");
    for (std::size_t l = first; l < last; ++l)
      x = g.apply(rules::relu, {g.apply(rules::matmul, {x, g.parameter({widths[l], widths[l + 1]})})});
    return g;
  };
  return {.layers = widths.size() - 1, .workers = workers, .rows = rows, .program = program};
}

/// One number of stages, of micro-batches, and one order.
pipeline_search_options only(std::size_t stages, std::size_t micro_batches,
                             pipeline_order order = pipeline_order::gpipe) {
  pipeline_search_options options = slow_links();
  options.stages = {stages}, options.micro_batches = {micro_batches}, options.orders = {order};
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(search_of_a_pipeline)

BOOST_AUTO_TEST_CASE(stages_spare_the_sums_of_gradients_where_links_are_slow) {
  // [search]
  pipeline_search_options options;
  options.links = mesh_links{{1e-5, 1e-8}};                                         // between the workers of a stage
  options.between = {1e-5, 1e-8};                                                   // from one stage to the next
  const pipeline_answer found = search_pipeline(layers_of(1024, 256, 4), options);  // 4 workers
  // [/search]
  BOOST_TEST(found.stages.size() == 4U);
  BOOST_TEST(found.micro_batches > 1U);
  BOOST_TEST(found.workers_of_stage == 1U);
  for (std::size_t s = 0; s < 4; ++s) {  // equal layers make equal stages
    BOOST_TEST(found.stages[s].first_layer == s);
    BOOST_TEST(found.stages[s].end_layer == s + 1);
  }
  options.stages = {1};
  BOOST_TEST(found.seconds() < search_pipeline(layers_of(1024, 256, 4), options).seconds());
  const pipeline_answer rows = search_pipeline(layers_of(64, 65536, 4));  // nearly no weights: the batch is cut
  BOOST_TEST(rows.stages.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_fastest_of_all_that_are_compared) {
  for (const std::size_t workers : {1U, 2U, 6U}) {
    const auto network = layers_of(256, 64, workers);
    pipeline_search_options all = slow_links();
    all.micro_batches = {1, 4, 7};
    const pipeline_answer found = search_pipeline(network, all);
    std::size_t candidates = 0;
    double least = 1e300;
    for (std::size_t stages = 1; stages <= 4; ++stages)
      for (const std::size_t micro_batches : {1U, 4U, 7U})
        for (const pipeline_order order :
             {pipeline_order::gpipe, pipeline_order::one_forward_one_backward, pipeline_order::zero_bubble}) {
          if (workers % stages != 0) continue;
          pipeline_search_options one = slow_links();
          one.stages = {stages}, one.micro_batches = {micro_batches}, one.orders = {order};
          const pipeline_answer here = search_pipeline(network, one);
          least = std::min(least, here.seconds());
          BOOST_TEST(here.candidates == 1U);
          candidates += here.candidates;
          // the simulation of its own times
          pipeline_shape shape{{}, static_cast<std::uint32_t>(here.micro_batches)};
          for (std::uint32_t s = 0; s < here.stages.size(); ++s) shape.group_of.push_back(s);
          BOOST_TEST(here.run.seconds == simulate(shape, tasks_of(order, shape, here.times), here.times).seconds);
          BOOST_TEST(here.times.forward.size() == stages);
          const bool apart = order == pipeline_order::zero_bubble;
          for (std::size_t s = 0; s < stages; ++s)
            BOOST_TEST(here.times.weights[s] == (apart ? here.times.backward[s] : 0));
          if (stages == 1) BOOST_TEST(here.times.transfer_seconds == 0);
        }
    BOOST_TEST(found.seconds() == least);
    BOOST_TEST(found.candidates == candidates);
  }
}

BOOST_AUTO_TEST_CASE(equal_stages_take_the_time_of_the_formula) {
  pipeline_search_options options = slow_links();
  options.stages = {4}, options.micro_batches = {8}, options.orders = {pipeline_order::one_forward_one_backward};
  options.between = {0, 0};
  const pipeline_answer found = search_pipeline(layers_of(256, 64, 4), options);
  const double one = found.times.forward[0] + found.times.backward[0];
  BOOST_TEST(found.times.transfer_seconds == 0);
  BOOST_TEST(found.times.backward[0] < found.times.backward[1]);  // the first stage computes no gradient of its input
  const double other = found.times.forward[1] + found.times.backward[1];
  BOOST_TEST(found.run.seconds <= (8 + 4 - 1) * other * (1 + 1e-12));
  BOOST_TEST(found.run.seconds >= (8 + 4 - 1) * one * (1 - 1e-12));
  BOOST_TEST(found.update_seconds > 0);
}

BOOST_AUTO_TEST_CASE(a_limit_of_memory_is_kept_or_refused_with_the_least_that_was_found) {
  pipeline_search_options options = slow_links();
  const auto network = layers_of(256, 4096, 4);
  const pipeline_answer free = search_pipeline(network, options);
  options.memory = free.peak;
  BOOST_TEST(search_pipeline(network, options).seconds() == free.seconds());
  options.memory = free.peak - 1;
  const pipeline_answer tight = search_pipeline(network, options);
  BOOST_TEST(tight.peak <= options.memory);
  BOOST_TEST(tight.seconds() >= free.seconds());
  std::size_t least = ~std::size_t{0};
  for (const std::size_t stages : {1U, 2U, 4U})
    for (const std::size_t micro_batches : {1U, 16U, 32U})
      for (const pipeline_order order : options.orders)
        least = std::min(least, search_pipeline(network, only(stages, micro_batches, order)).peak);
  options.memory = 1000, options.micro_batches = {1, 32, 16};
  BOOST_TEST(
      test::refused<partition_error>([&] { search_pipeline(network, options); })
          .find("requires a pipeline that fits into 1000 bytes of each worker, but the least that was found holds " +
                std::to_string(least) + ";") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_other_division_of_the_layers_has_a_shorter_longest_stage) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::size_t> widths;
    for (std::size_t k = 0; k < 6; ++k) widths.push_back(8 + random() % 200);
    const std::size_t layers = 5, stages = 2 + random() % 3;
    std::set<std::size_t> rows;
    const auto single = search_pipeline(layers_between(widths, 64, layers), only(layers, 7)).times;
    const auto found = search_pipeline(layers_between(widths, 64, stages, &rows), only(stages, 7)).stages;
    BOOST_TEST((rows == std::set<std::size_t>{10}));  // the largest of seven parts of 64 rows
    const auto longest = [&](std::size_t begins) {    // bit l: a stage begins with layer l
      double most = 0, now = 0;
      for (std::size_t l = 0; l < layers; ++l) {
        now = ((begins >> l) & 1U) != 0 ? 0 : now;
        now += single.forward[l] + single.backward[l];
        most = std::max(most, now);
      }
      return most;
    };
    std::size_t chosen = 0;
    double least = 1e300;
    for (std::size_t s = 0; s < stages; ++s) {
      chosen |= std::size_t{1} << found[s].first_layer;
      BOOST_TEST(found[s].first_layer == (s == 0 ? 0 : found[s - 1].end_layer));
      BOOST_TEST(found[s].first_layer < found[s].end_layer);
    }
    BOOST_TEST(found.back().end_layer == layers);
    for (std::size_t begins = 1; begins < (std::size_t{1} << layers); begins += 2)
      if (static_cast<std::size_t>(std::popcount(begins)) == stages) least = std::min(least, longest(begins));
    BOOST_TEST(longest(chosen) <= least * (1 + 1e-12));
  }
}

BOOST_AUTO_TEST_CASE(stages_take_the_times_and_the_memory_of_their_layers) {
  const std::size_t rows = 8;
  for (const std::vector<std::size_t>& widths :
       {std::vector<std::size_t>{32, 16, 160, 48}, {160, 16, 32, 48}, {16, 200, 48, 8}}) {
    pipeline_search_options options = only(3, 1);
    options.layouts.model.states = 2;
    const auto found = search_pipeline(layers_between(widths, rows, 3), options);
    double update_seconds = 0;
    std::size_t widest = 0, peak = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      options.stages = {1};
      const auto alone = search_pipeline(layers_between({widths[l], widths[l + 1]}, rows, 1), options);
      BOOST_TEST(found.times.forward[l] == alone.times.forward[0]);
      BOOST_TEST((found.times.backward[l] > alone.times.backward[0]) == (l > 0));  // the cotangent of what arrives
      const search_candidate& layouts = found.stages[l].layouts;
      BOOST_TEST(layouts.is_found);
      BOOST_TEST((layouts.cost.peak == alone.peak) == (l == 0));
      update_seconds = std::max(update_seconds, alone.update_seconds);
      widest = std::max(widest, l == 0 ? 0 : widths[l]);
      // what arrives has no states of the optimiser
      const std::size_t states = l == 0 ? 0 : 2 * rows * widths[l] * options.layouts.model.element_bytes;
      peak = std::max(peak, layouts.cost.peak - states);
    }
    BOOST_TEST(found.update_seconds == update_seconds);
    BOOST_TEST(found.peak == peak);
    const double bytes = static_cast<double>(rows * widest * options.layouts.model.element_bytes);
    BOOST_TEST(found.times.transfer_seconds == options.between.latency + bytes * options.between.seconds_per_byte);
  }
}

BOOST_AUTO_TEST_CASE(every_further_micro_batch_takes_the_memory_of_its_own_values) {
  const std::size_t width = 64;
  for (const std::size_t stages : {1U, 2U}) {
    std::size_t kept_before = 0;
    for (const std::size_t rows : {4U, 8U, 16U}) {  // of a micro-batch
      const auto peak = [&](std::size_t micro_batches, std::size_t states = 0) {
        pipeline_search_options options = only(stages, micro_batches);
        options.layouts.model.states = states;
        return search_pipeline(layers_between({width, width, width}, micro_batches * rows, stages), options).peak;
      };
      const std::size_t one = peak(1), kept = peak(2) - one;
      for (const std::size_t micro_batches : {3U, 5U})
        BOOST_TEST(peak(micro_batches) == one + (micro_batches - 1) * kept);
      BOOST_TEST(kept > 0U);
      if (kept_before > 0) BOOST_TEST(kept == 2 * kept_before);  // values have rows, weights and states have none
      kept_before = kept;
      BOOST_TEST(peak(1, 3) - one == 3 * (3 - stages) * width * width * 4);
    }
  }
  // as many micro-batches as rows, and one more than there are rows
  BOOST_TEST(search_pipeline(layers_between({8, 8}, 4, 1), only(1, 4)).candidates == 1U);
  BOOST_TEST(test::refused<partition_error>([] {
               search_pipeline(layers_between({8, 8}, 4, 1), only(1, 5));
             }).find("micro-batches up to 4") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_compared_is_refused) {
  pipeline_search_options options;
  options.stages = {3};
  const auto message = test::refused<partition_error>([&] { search_pipeline(layers_of(64, 64, 4), options); });
  BOOST_TEST(message.find("at most 4, that divide 4 workers") != std::string::npos);
  BOOST_TEST(test::refused<partition_error>([] { search_pipeline({}); }).find("give .program") != std::string::npos);
  struct none : step_times {
    double seconds(std::size_t, const std::vector<sharding>&, tensor_set) override { return 0; }
    double seconds(const sharding&, const sharding&, const shape_list&) override { return 0; }
    double update_seconds(std::size_t) override { return 0; }
  } of_another_program;
  options.layouts.model.times = &of_another_program;
  const auto times = test::refused<partition_error>([&] { search_pipeline(layers_of(64, 64, 4), options); });
  BOOST_TEST(times.find("measured times are those of one program") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
