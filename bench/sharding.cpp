// What inferring shardings costs: one operation, a whole program, a reshard plan, and a static_assert.
//
//   sharding [--json] [--compile COMMAND]     COMMAND compiles one file, for example "g++ -std=c++20 -fsyntax-only
//   -Iinclude"
#include <partita/plan/search.hpp>
#include <partita/rule/sharding/rules.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../test/support/transformer.hpp"

namespace {

using namespace partita;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool json = false;

/// Median and least seconds of one call; `calls` of them are timed together, `times` times.
template <class Call>
void measure(const char* name, std::size_t calls, double bound, Call call, std::size_t times = 21) {
  std::vector<double> samples;
  for (std::size_t k = 0; k < times; ++k) {
    const double start = seconds();
    for (std::size_t n = 0; n < calls; ++n) call(n);
    samples.push_back((seconds() - start) / static_cast<double>(calls));
  }
  std::sort(samples.begin(), samples.end());
  if (json)
    std::printf(
        "{\"bench\": \"sharding\", \"case\": \"%s\", \"peer\": \"partita\", \"seconds_median\": %.9f, \"seconds_min\": "
        "%.9f, \"seconds_bound\": %.9f}\n",
        name, samples[times / 2], samples[0], bound);
  else std::printf("%-52s %12.3f us (min %.3f)", name, samples[times / 2] * 1e6, samples[0] * 1e6);
  if (!json && bound > 0)
    std::printf("   at most %.0f us: %s", bound * 1e6, samples[times / 2] <= bound ? "yes" : "NO");
  if (!json) std::printf("\n");
}

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

/// A stack of feed-forward layers with residuals, four operations each; the annotations are at the beginning and in the
/// middle.
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

/// One file with so many static_asserts over different shapes and shardings.
double compiled(const std::string& command, std::size_t asserts) {
  const std::string file = "sharding_static_assert.cpp";
  {
    std::ofstream out(file);
    out << "#include <partita/rule/sharding/propagate.hpp>\nusing namespace partita;\nconstexpr mesh m{axis{\"data\", "
           "2}, axis{\"model\", 4}};\n"
           "constexpr rule product = \"bmk,kn->bmn\";\n";
    for (std::size_t k = 1; k <= asserts; ++k)
      out << "static_assert(propagate(m, product, {spec{m.layout(\"data\", \"\", \"\"), {8, " << 8 * k
          << ", 64}}, spec{m.layout(\"\", \"model\"), {64, 256}}}).results[0] == m.layout(\"data\", \"\", "
             "\"model\"));\n";
  }
  double best = 1e30;
  for (int k = 0; k < 3; ++k) {
    const double start = seconds();
    if (std::system((command + " " + file).c_str()) != 0) return -1;
    best = std::min(best, seconds() - start);
  }
  std::remove(file.c_str());
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const char* compiler = nullptr;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--json") == 0) json = true;
    if (std::strcmp(argv[k], "--compile") == 0 && k + 1 < argc) compiler = argv[++k];
  }
  std::size_t kept = 0;  // what is computed is used

  const rule product = "bmk,kn->bmn";
  std::vector<spec> operands{spec{m.layout("data", "", ""), {8, 128, 64}}, spec{m.layout("", "model"), {64, 256}}};
  measure("propagate, a matrix product", 20000, 1e-6, [&](std::size_t n) {
    operands[0].shape[1] = 128 + n % 8;
    kept += propagate(m, product, operands).results[0].cutting();
  });
  measure("propagate, rules::matmul from its shapes", 20000, 0, [&](std::size_t n) {
    operands[0].shape[1] = 128 + n % 8;
    kept += propagate(m, rules::matmul, operands).results[0].cutting();
  });
  const sharding rows = m.layout("model", ""), columns = m.layout("", "data+model");
  measure("plan_reshard, a mesh of two axes", 2000, 0, [&](std::size_t n) {
    kept += plan_reshard(m, rows, columns, {std::size_t{256}, 128 + 8 * (n % 8)}).size();
  });
  constexpr mesh four{axis{"rack", 2}, axis{"node", 4}, axis{"socket", 2}, axis{"card", 4}};
  const sharding from = four.layout("rack+node", "socket", "").partial("card"),
                 to = four.layout("card", "", "node+rack");
  measure("plan_reshard, a mesh of four axes, three dimensions", 5, 0, [&](std::size_t) {
    kept += plan_reshard(four, from, to, {256, 256, 256}).size();
  });

  const graph program = layers(10000);
  measure("complete, 10000 operations", 1, 0.1, [&](std::size_t) { kept += complete(program).reshards.size(); });
  const graph small = layers(100);
  measure("complete, 100 operations", 10, 0, [&](std::size_t) { kept += complete(small).reshards.size(); });

  constexpr mesh cluster{axis{"data", 4}, axis{"model", 8}};
  const graph transformer = test::transformer(cluster, 2, 32, false);
  search_options adam;
  adam.model.states = 2;
  measure(
      "search, a transformer of two layers on 4 x 8", 1, 2,
      [&](std::size_t) {
        kept += search(transformer, {{1e-5, 1e-10}, {1e-6, 1e-11}}, ~std::size_t{0}, adam).judged;
      },
      3);

  if (compiler != nullptr) {
    const double one = compiled(compiler, 1), many = compiled(compiler, 101);
    if (one < 0 || many < 0) return EXIT_FAILURE;
    if (json)
      std::printf(
          "{\"bench\": \"sharding\", \"case\": \"one static_assert\", \"peer\": \"partita\", \"seconds_median\": %.9f, "
          "\"seconds_min\": %.9f}\n",
          (many - one) / 100, (many - one) / 100);
    else
      std::printf("%-52s %12.3f us, and %.0f ms for the first\n", "one static_assert more", (many - one) / 100 * 1e6,
                  one * 1e3);
  }
  return kept > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
