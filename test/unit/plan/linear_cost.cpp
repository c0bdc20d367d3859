// The predicted cost of linear layers: one case by hand, the first worker has the highest cost, and the choice of the
// algorithm.
#include <array>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <partita/explain/plan_text.hpp>
#include <partita/plan/linear_cost.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;

constexpr linear_problem wide{64, 1024, 4096}, narrow{64, 4096, 1024};

// gathering the fewer input features costs less than scattering the many output features, and the other way round
static_assert(choose(wide, 4, 4, 4).algorithm == column_parallel);
static_assert(choose(narrow, 4, 4, 4).algorithm == row_parallel);
static_assert(choose(wide, 4, 4, 4).p_w == std::array<std::size_t, 2>{4, 1});
// sixteen workers multiply faster than four
static_assert(choose(wide, 4, 4, 16).algorithm == weight_stationary);
static_assert(choose(wide, 2, 3, 6).p_w == std::array<std::size_t, 2>{3, 2});
static_assert(!choose(wide, 2, 3, 5).is_possible);
static_assert(!choose(wide, 4, 4, 4, {.memory = 1000}).is_possible);
// a slow network sends the work to fewer workers
static_assert(choose(narrow, 1, 1, 1).algorithm == column_parallel && choose(narrow, 1, 1, 1).cost.sent_bytes == 0);

std::string words(const auto& what) {
  const long_text all = to_text(what);
  return std::string(all.begin(), all.end());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cost_of_linear_layers)

BOOST_AUTO_TEST_CASE(two_by_two_is_as_worked_out_by_hand) {
  // batch 3, 4 input and 6 output features: a worker holds 3 x 2 weights, multiplies 3 x 2 of x to 3 x 3 of y
  const linear_cost first = predict(weight_stationary, {3, 4, 6, 8}, {2, 2});
  BOOST_TEST(first.flops == 3U * 2 * 3 * 3 * 2);
  BOOST_TEST(first.sent_bytes == (6 + 9) * 8U);      // x to the worker below, dy to the worker beside
  BOOST_TEST(first.received_bytes == (6 + 9) * 8U);  // their products
  BOOST_TEST(first.messages == 4U);
  BOOST_TEST(first.peak_bytes == (2 * (6 + 3) + 6 + 9 + 6) * 8U);
  BOOST_TEST(predict(weight_stationary, {3, 4, 6, 8}, {2, 2}, partita::index<2>{0, 1}).peak_bytes ==
             (2 * 6 + 6 + 9 + 6) * 8U);  // no bias there
}

BOOST_AUTO_TEST_CASE(nobody_has_more_to_do_than_the_first_worker) {
  for (const linear_problem& problem : {linear_problem{3, 7, 11}, {64, 100, 30}, {1, 1, 1}, {5, 2, 9, 8, false}})
    for (std::size_t f_out = 1; f_out <= 5; ++f_out)
      for (std::size_t f_in = 1; f_in <= 5; ++f_in)
        for (const linear_algorithm algorithm : {weight_stationary, column_parallel, row_parallel}) {
          if ((algorithm == column_parallel && f_in != 1) || (algorithm == row_parallel && f_out != 1)) continue;
          const linear_cost most = predict(algorithm, problem, {f_out, f_in});
          for (std::size_t i = 0; i < f_out; ++i)
            for (std::size_t j = 0; j < f_in; ++j) {
              const linear_cost cost = predict(algorithm, problem, {f_out, f_in}, partita::index<2>{i, j});
              BOOST_TEST(cost.flops <= most.flops);
              BOOST_TEST(cost.peak_bytes <= most.peak_bytes);
              if (algorithm == weight_stationary) BOOST_TEST(cost.sent_bytes <= most.sent_bytes);
            }
        }
}

BOOST_AUTO_TEST_CASE(all_workers_together_receive_what_they_send_and_send_no_empty_message) {
  for (const std::size_t features : {1U, 2U, 7U})
    for (const std::size_t batch : {0U, 3U})
      for (std::size_t f_out = 1; f_out <= 4; ++f_out)
        for (std::size_t f_in = 1; f_in <= 4; ++f_in)
          for (const linear_algorithm algorithm : {weight_stationary, column_parallel, row_parallel}) {
            if ((algorithm == column_parallel && f_in != 1) || (algorithm == row_parallel && f_out != 1)) continue;
            const linear_problem problem{batch, features, 3, 8};
            std::size_t sent = 0, received = 0, messages = 0;
            for (std::size_t i = 0; i < f_out; ++i)
              for (std::size_t j = 0; j < f_in; ++j) {
                const linear_cost cost = predict(algorithm, problem, {f_out, f_in}, partita::index<2>{i, j});
                BOOST_TEST((cost.messages == 0) == (cost.sent_bytes + cost.received_bytes == 0));
                sent += cost.sent_bytes, received += cost.received_bytes, messages += cost.messages;
              }
            BOOST_TEST(sent == received);
            BOOST_TEST(messages % 2 == 0U);
          }
}

BOOST_AUTO_TEST_CASE(parallel_layers_gather_parts_and_scatter_wholes) {
  for (const std::size_t features : {1U, 2U, 3U, 8U})
    for (std::size_t workers = 1; workers <= 5; ++workers)
      for (std::size_t me = 0; me < workers; ++me) {
        const std::size_t batch = 3, bytes = 8;
        std::size_t sent = 0, received = 0, messages = 0;
        for (std::size_t other = 0; other < workers; ++other) {
          if (other == me) continue;
          const std::size_t mine = batch * balanced_part(features, workers, me).size() * bytes;
          const std::size_t theirs = batch * balanced_part(features, workers, other).size() * bytes;
          sent += mine + theirs, received += theirs + mine;  // forward, and the parts of the gradient back
          messages += 2 * ((mine > 0 ? 1U : 0U) + (theirs > 0 ? 1U : 0U));
        }
        for (const linear_algorithm algorithm : {column_parallel, row_parallel}) {
          const bool gathers = algorithm == column_parallel;
          const linear_problem problem{batch, gathers ? features : 4, gathers ? 4 : features, bytes};
          const linear_cost cost = gathers ? predict(algorithm, problem, {workers, 1}, partita::index<2>{me, 0})
                                           : predict(algorithm, problem, {1, workers}, partita::index<2>{0, me});
          BOOST_TEST(cost.sent_bytes == sent);
          BOOST_TEST(cost.received_bytes == received);
          BOOST_TEST(cost.messages == messages);
        }
      }
}

/// A row-parallel layer gathers and scatters its results as a column-parallel one does its operands.
BOOST_AUTO_TEST_CASE(row_parallel_and_column_parallel_layers_mirror_each_other) {
  for (const std::size_t in : {2U, 5U, 64U})
    for (const std::size_t out : {1U, 7U, 64U})
      for (std::size_t workers = 1; workers <= 4; ++workers) {
        const linear_problem rows{3, in, out, 8, false}, columns{3, out, in, 8, false};
        const linear_cost cost = predict(row_parallel, rows, {1, workers}),
                          mirrored = predict(column_parallel, columns, {workers, 1});
        const std::size_t part = 8 * 3 * balanced_part(out, workers, 0).size(),
                          x = 8 * 3 * balanced_part(in, workers, 0).size(), y = 8 * 3 * out,
                          weights = 2 * 8 * out * balanced_part(in, workers, 0).size();
        BOOST_TEST((cost.staging == (workers - 1) * part && cost.staging == mirrored.staging));
        BOOST_TEST((cost.sent_bytes == mirrored.sent_bytes && cost.messages == mirrored.messages &&
                    cost.flops == mirrored.flops));
        BOOST_TEST(cost.peak_bytes == weights + x + y + std::max(cost.staging + part, x));
        BOOST_TEST(mirrored.peak_bytes == weights + y + std::max(x, y + cost.staging + part));
      }
}

BOOST_AUTO_TEST_CASE(a_choice_is_told_in_words) {
  BOOST_TEST(words(choose({2, 4, 6}, 2, 2, 2)) ==
             "column_parallel with p_w = 2 x 1; the busiest worker: 144 floating-point operations, 32 bytes sent and "
             "32 received in 4 messages, "
             "216 bytes held, 16 of them for staging\n");
  BOOST_TEST(words(choose({2, 4, 6}, 2, 3, 5)) ==
             "no algorithm of linear suits these partitions, this many workers and this memory\n");
}

BOOST_AUTO_TEST_CASE(each_number_of_a_cost_is_told_by_its_name) {
  const linear_cost cost{
      .flops = 1, .sent_bytes = 2, .received_bytes = 3, .messages = 4, .peak_bytes = 5, .staging = 6};
  BOOST_TEST(words(cost) ==
             "1 floating-point operations, 2 bytes sent and 3 received in 4 messages, 5 bytes held, 6 of them for "
             "staging\n");
}

BOOST_AUTO_TEST_CASE(of_equally_fast_algorithms_one_with_fewer_workers_is_chosen_and_of_those_the_first) {
  const double fast = std::numeric_limits<double>::infinity();
  for (std::size_t parts = 1; parts <= 3; ++parts) {
    const linear_choice found = choose({2, 4, 6}, parts, parts, parts * parts, {fast, fast, 0});
    BOOST_TEST(found.seconds == 0);
    BOOST_TEST((found.algorithm == column_parallel));
    BOOST_TEST((found.p_w == std::array<std::size_t, 2>{parts, 1}));
  }
}

BOOST_AUTO_TEST_CASE(a_cost_that_cannot_be_counted_and_a_place_outside_are_refused) {
  const std::size_t much = std::size_t{1} << 32;
  const partita::linear_problem huge{.batch = much, .in_features = much, .out_features = much};
  BOOST_TEST(test::refused<partita::shape_error>([&] {
               partita::predict(partita::weight_stationary, huge, {1, 1});
             }).find("partita::predict(linear): requires a product of extents of at most") == 0U);
  const partita::linear_problem small{.batch = 2, .in_features = 4, .out_features = 4};
  BOOST_TEST(test::refused<partita::shape_error>([&] {
               partita::predict(partita::weight_stationary, small, {2, 2}, {0, 2});
             }).find("requires a part below the number of parts 2, got part 2") != std::string::npos);
  BOOST_TEST(!partita::choose(small, much, much, 4).is_possible);  // 2^64 workers are more than 4
}

BOOST_AUTO_TEST_CASE(seconds_add_up_those_of_arithmetic_of_bytes_in_both_directions_and_of_messages) {
  const linear_machine machine{.flops_per_second = 4, .bytes_per_second = 2, .seconds_per_message = 8};
  BOOST_TEST(machine.seconds({.flops = 12}) == 3);
  BOOST_TEST(machine.seconds({.sent_bytes = 6}) == 3);
  BOOST_TEST(machine.seconds({.received_bytes = 10}) == 5);
  BOOST_TEST(machine.seconds({.messages = 2}) == 16);
  BOOST_TEST(machine.seconds({.peak_bytes = 7, .staging = 9}) == 0);
  BOOST_TEST(machine.seconds({12, 6, 10, 2, 7, 9}) == 3 + 3 + 5 + 16);
  // a core of 100 Gflop/s, a network of 5 GB/s and 2 us for a message, and any memory
  const linear_machine usual;
  BOOST_TEST(usual.seconds({.flops = 100'000'000'000}) == 1);
  BOOST_TEST(usual.seconds({.sent_bytes = 2'000'000'000, .received_bytes = 3'000'000'000}) == 1);
  BOOST_TEST(usual.seconds({.messages = 1}) == 2e-6);
  BOOST_TEST(usual.memory == ~std::size_t{0});
}

/// A cost equal to the limit of memory, and as many workers as there are, are not too much.
BOOST_AUTO_TEST_CASE(the_fastest_algorithm_is_chosen_of_those_for_which_there_are_workers_and_memory) {
  struct candidate {
    linear_algorithm algorithm;
    std::array<std::size_t, 2> p_w;
  };
  const linear_problem problem{8, 12, 20};
  for (std::size_t x = 1; x <= 3; ++x)
    for (std::size_t y = 1; y <= 3; ++y)
      for (std::size_t workers = 1; workers <= 9; ++workers) {
        std::vector<candidate> all;
        if (x == y) all = {{column_parallel, {x, 1}}, {row_parallel, {1, x}}};
        all.push_back({weight_stationary, {y, x}});
        std::vector<std::size_t> limits{~std::size_t{0}};
        for (const candidate& one : all) {
          const std::size_t peak = predict(one.algorithm, problem, one.p_w).peak_bytes;
          limits.push_back(peak), limits.push_back(peak - 1);
        }
        for (const std::size_t memory : limits) {
          const linear_machine machine{.memory = memory};
          const candidate* fastest = nullptr;
          double least = 0;
          for (const candidate& one : all) {
            const linear_cost cost = predict(one.algorithm, problem, one.p_w);
            const double seconds = machine.seconds(cost);
            if (one.p_w[0] * one.p_w[1] > workers || cost.peak_bytes > memory) continue;
            if (fastest == nullptr || seconds < least) fastest = &one, least = seconds;
          }
          const linear_choice found = choose(problem, x, y, workers, machine);
          BOOST_TEST(found.is_possible == (fastest != nullptr));
          if (fastest == nullptr) continue;
          BOOST_TEST((found.algorithm == fastest->algorithm && found.p_w == fastest->p_w));
          BOOST_TEST((found.cost == predict(fastest->algorithm, problem, fastest->p_w)));
          BOOST_TEST(found.seconds == least);
        }
      }
}

BOOST_AUTO_TEST_SUITE_END()
