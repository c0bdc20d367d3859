// Inferring how tensors lie on a mesh, at compile time, and planning how to move them on 1 worker.
#include <cstdlib>
#include <iostream>
#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/registry.hpp>

using namespace partita;

// [mesh]
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr sharding xs = m.layout("data", "", "");                   // dimension 0 is cut in two, all else is whole
constexpr sharding ws = m.layout("", "model");                      // columns are cut in four
constexpr sharding both = m.layout("data+model", "");               // by data, and each half by model
constexpr sharding owing = m.layout("data", "").partial("model");   // four summands of each half
// [/mesh]
static_assert(both[0].size() == 2 && owing.is_partial());

// [propagate]
constexpr rule product = "bmk,kn->bmn";  // k is missing on the right: it is summed
constexpr auto s = propagate(m, product, {spec{xs, {8, 128, 64}}, spec{ws, {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
static_assert(s.reshards.empty());

constexpr auto row = propagate(m, product, {spec{m.layout("", "", "model"), {8, 128, 64}}, spec{m.layout("model", ""), {64, 256}}});
static_assert(row.results[0] == m.layout("", "", "").partial("model"));  // each worker has summed over its part of k
// [/propagate]

// [backward]
constexpr spec unknown_x{{8, 128, 64}}, unknown_w{{64, 256}}, y{m.layout("data", "", "model"), {8, 128, 256}};
constexpr auto needed = propagate(m, product, {unknown_x, unknown_w}, {y}, direction::backward);
static_assert(needed.operands[0] == xs && needed.operands[1] == ws);
// [/backward]

// [reshard]
constexpr auto steps = plan_reshard(m, m.layout("model", ""), m.layout("", "model"), extents<8, 256>{});
static_assert(steps.size() == 1 && steps[0].done == reshard_step::what::all_to_all);
// [/reshard]

// [own]
// every row of x is ranked against all others: rows pass, the columns a worker needs are all of them
constexpr rule rank_rows = rule("rc->r").replicate("c").with(linearity::none).named("rank_rows");
static_assert(propagate(m, rank_rows, {spec{m.layout("data", "model"), {64, 32}}}).operands[0] == m.layout("data", ""));

constexpr registry mine = registry::standard().add("scale_rows", "rc,r->rc");  // and all ready-made ones, by name
// [/own]
static_assert(mine.knows("scale_rows") && mine.knows("softmax"));

int main() {
  // [links]
  const mesh_links slow_racks{{5e-6, 1e-9}, {1e-7, 1e-11}};  // seconds to start and for a byte, along each axis
  constexpr mesh cluster{axis{"rack", 4}, axis{"card", 8}};
  const auto plan = plan_reshard(cluster, cluster.layout("").partial("rack"), cluster.layout(""), {1 << 20}, slow_racks);
  text words;
  words << plan;  // slice card, all_reduce rack, all_gather card: the slow axis carries an eighth
  std::cout << words;
  // [/links]

  // [conflict]
  try {
    constexpr policy strict = policy{}.with(policy::reshard::forbid);
    propagate(m, rank_rows, {spec{m.layout("data", "model"), {64, 32}}}, strict);
  } catch (const partition_error& e) {
    std::cout << e.what() << '\n';
  }
  // [/conflict]
  return plan.size() == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
