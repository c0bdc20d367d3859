// The search of a pipeline: its answer is the fastest of what it compares, keeps within memory, and is what its own
// times simulate.
#include <algorithm>
#include <boost/test/tools/floating_point_comparison.hpp>
#include <boost/test/unit_test.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <partita/sharded/pipeline_search.hpp>

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
    BOOST_TEST(found.stages[s].first == s);
    BOOST_TEST(found.stages[s].last == s + 1);
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
          if (stages == 1) BOOST_TEST(here.times.moving == 0);
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
  BOOST_TEST(found.times.moving == 0);
  BOOST_TEST(found.times.backward[0] < found.times.backward[1]);  // the first stage computes no gradient of its input
  const double other = found.times.forward[1] + found.times.backward[1];
  BOOST_TEST(found.run.seconds <= (8 + 4 - 1) * other * (1 + 1e-12));
  BOOST_TEST(found.run.seconds >= (8 + 4 - 1) * one * (1 - 1e-12));
  BOOST_TEST(found.updating > 0);
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
  options.memory = 1000;
  BOOST_TEST(test::refused<partition_error>([&] {
               search_pipeline(network, options);
             }).find("requires a pipeline that fits into 1000 bytes of each worker, but the least that was found") !=
             std::string::npos);
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
    double of_update(std::size_t) override { return 0; }
  } of_another_program;
  options.layouts.model.times = &of_another_program;
  const auto times = test::refused<partition_error>([&] { search_pipeline(layers_of(64, 64, 4), options); });
  BOOST_TEST(times.find("measured times are those of one program") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
