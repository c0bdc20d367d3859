// The cost of sharding inference: for one operation, a whole program, a reshard plan, and a static_assert.
#include <partita/plan/search.hpp>
#include <partita/rule/sharding/rules.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "../test/support/simulated_mesh.hpp"
#include "../test/support/transformer.hpp"
#include "harness.hpp"

namespace {

using namespace partita;

bench::rows* out = nullptr;
std::size_t rounds = 0;
bool quick = false;

/// Prints the median and minimum seconds of one call. Each sample times `calls` calls together.
template <class Call>
void measure(const char* name, std::size_t calls, double bound, Call call, std::size_t most = 21) {
  const std::size_t times = std::min(rounds, most);
  if (quick) calls = 1;
  std::vector<double> samples;
  for (std::size_t k = 0; k < times; ++k) {
    const double start = bench::seconds();
    for (std::size_t n = 0; n < calls; ++n) call(n);
    samples.push_back((bench::seconds() - start) / static_cast<double>(calls));
  }
  bench::row more = bench::row::object();
  if (bound > 0) more = {{"seconds_bound", bound}, {"within_bound", bench::median(samples) <= bound}};
  out->add_peer(name, "partita", samples, more);
}

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

/// A stack of feed-forward layers with residuals, with four operations each. The input and the first weight of each
/// layer have annotations.
graph layers(std::size_t operations) {
  graph g(m);
  value x = g.input({64, 256});
  g.constrain(x, m.layout("data", ""));
  for (std::size_t k = 0; k < operations / 4; ++k) {
    const value up = g.input({256, 1024}), down = g.input({1024, 256});
    g.constrain(up, m.layout("", "model"), 1);
    const value h = g.apply(rules::elementwise, {g.apply(rules::matmul, {x, up})});
    x = g.apply(rules::add, {x, g.apply(rules::matmul, {h, down})});
  }
  return g;
}

/// Seconds to compile one file with `assertion_count` static_asserts over different shapes and shardings.
double compiled(const std::string& command, std::size_t assertion_count) {
  const bench::temporary_folder folder(std::filesystem::temp_directory_path(), "partita_bench_sharding");
  const std::string file = folder.path / "sharding_static_assert.cpp";
  {
    std::ofstream source(file);
    source
        << "#include <partita/rule/sharding/propagate.hpp>\nusing namespace partita;\nconstexpr mesh m{axis{\"data\", "
           "2}, axis{\"model\", 4}};\n"
           "constexpr rule product = \"bmk,kn->bmn\";\n";
    for (std::size_t k = 1; k <= assertion_count; ++k)
      source << "static_assert(propagate(m, product, {spec{m.layout(\"data\", \"\", \"\"), {8, " << 8 * k
             << ", 64}}, spec{m.layout(\"\", \"model\"), {64, 256}}}).results[0] == m.layout(\"data\", \"\", "
                "\"model\"));\n";
  }
  double best = 1e30;
  for (int k = 0; k < 3; ++k) {
    const double start = bench::seconds();
    if (std::system((command + " " + file).c_str()) != 0) throw std::runtime_error("cannot compile with " + command);
    best = std::min(best, bench::seconds() - start);
  }
  return best;
}

bool measure_all(const std::string& compiler, std::size_t operations) {
  std::size_t sink = 0;  // uses the results, so that the compiler keeps them

  const rule product = "bmk,kn->bmn";
  std::vector<spec> operands{spec{m.layout("data", "", ""), {8, 128, 64}}, spec{m.layout("", "model"), {64, 256}}};
  measure("propagate, a matrix product", 20000, 1e-6, [&](std::size_t n) {
    operands[0].shape[1] = 128 + n % 8;
    sink += propagate(m, product, operands).results[0].cut_axes();
  });
  measure("propagate, rules::matmul from its shapes", 20000, 0, [&](std::size_t n) {
    operands[0].shape[1] = 128 + n % 8;
    sink += propagate(m, rules::matmul, operands).results[0].cut_axes();
  });
  const sharding rows = m.layout("model", ""), columns = m.layout("", "data+model");
  measure("plan_reshard, a mesh of two axes", 2000, 0, [&](std::size_t n) {
    sink += plan_reshard(m, rows, columns, {std::size_t{256}, 128 + 8 * (n % 8)}).size();
  });
  constexpr mesh four_axes{axis{"rack", 2}, axis{"node", 4}, axis{"socket", 2}, axis{"card", 4}};
  const sharding from = four_axes.layout("rack+node", "socket", "").partial("card"),
                 to = four_axes.layout("card", "", "node+rack");
  measure("plan_reshard, a mesh of four axes, three dimensions", 5, 0, [&](std::size_t) {
    sink += plan_reshard(four_axes, from, to, {256, 256, 256}).size();
  });

  mesh seven_axes;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) seven_axes.push_back(axis(name, 2));
  const sharding from_seven = seven_axes.layout("a+b", "c", "d+e").partial("f"),
                 to_seven = seven_axes.layout("e+f", "g", "b");
  measure("plan_reshard, a mesh of seven axes, a partial sum", 200, 1e-4, [&](std::size_t n) {
    sink += plan_reshard(seven_axes, from_seven, to_seven, {std::size_t{256}, 256, 128 + 8 * (n % 8)}).size();
  });

  std::mt19937_64 random(29);  // the random pairs of shardings of test/unit/plan/plan_reshard.cpp
  std::vector<simulated::random_pair> pairs;
  while (pairs.size() < (quick ? 20U : 2000U)) pairs.emplace_back(random, 1, 3, 4);
  measure("plan_reshard, random pairs on one to three axes, each", pairs.size(), 1e-4,
          [&](std::size_t n) { sink += plan_reshard(pairs[n].on, pairs[n].from, pairs[n].to, pairs[n].shape).size(); });

  const graph program = layers(operations);
  const std::string name = "complete, " + std::to_string(operations) + " operations";
  measure(name.c_str(), 1, operations == 10000 ? 0.1 : 0,
          [&](std::size_t) { sink += complete(program).reshards.size(); });
  const graph small = layers(100);
  measure("complete, 100 operations", 10, 0, [&](std::size_t) { sink += complete(small).reshards.size(); });

  constexpr mesh cluster{axis{"data", 4}, axis{"model", 8}};
  const graph transformer = test::transformer(cluster, 2, 32, false);
  search_options adam;
  adam.model.states = 2;
  measure(
      "search, a transformer of two layers on 4 x 8", 1, 2,
      [&](std::size_t) {
        sink += search(transformer, {{1e-5, 1e-10}, {1e-6, 1e-11}}, ~std::size_t{0}, adam).evaluated_candidates;
      },
      3);

  if (!compiler.empty()) {
    const double one = compiled(compiler, 1), many = compiled(compiler, 101);
    out->add_peer("one static_assert", "partita", {(many - one) / 100}, {{"seconds_first", one}});
  }
  return sink > 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "sharding", "inferring shardings: an operation, a program, a reshard plan, a static_assert", {1, 1},
      {{"rounds", bench::argument::count, "samples of each", "21", "2"},
       {"operations", bench::argument::count, "of the large program", "10000", "200"},
       {"compile", bench::argument::word,
        "a command that compiles one file, such as 'g++ -std=c++20 -fsyntax-only -Iinclude'"}});
  return bench::run_alone(argc, argv, line, [](const bench::command_line& given, bench::rows& to) {
    out = &to, rounds = given.count("rounds"), quick = given.quick();
    return measure_all(given.word("compile"), given.count("operations"));
  });
}
