// Infers the sharding of tensors on a mesh at compile time and plans how to reshard them, on 1 worker.
#include <cstdlib>
#include <iostream>
#include <partita/explain/propagation_text.hpp>
#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/registry.hpp>
#include <partita/sharded/sharded_partition.hpp>

using namespace partita;

// [mesh]
constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr sharding xs =
    m.layout("data", "", "");                   // dimension 0 is divided in two; the other dimensions are not sharded
constexpr sharding ws = m.layout("", "model");  // the columns are divided in four
constexpr sharding both = m.layout("data+model", "");  // rows are divided by data, and each half by model
constexpr sharding summands = m.layout("data", "").partial("model");  // each half of the rows has four summands
// [/mesh]
static_assert(both[0].size() == 2 && summands.is_partial());

// [propagate]
constexpr rule product = "bmk,kn->bmn";  // the product is summed over k, which the result lacks
constexpr auto s = propagate(m, product, {spec{xs, {8, 128, 64}}, spec{ws, {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
static_assert(s.reshards.empty());

constexpr auto row =
    propagate(m, product, {spec{m.layout("", "", "model"), {8, 128, 64}}, spec{m.layout("model", ""), {64, 256}}});
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
// one result for each row of x: rows may be sharded, but a worker needs all columns of its rows
constexpr rule rank_rows = rule("rc->r").replicate("c").with(linearity::none).named("rank_rows");
static_assert(propagate(m, rank_rows, {spec{m.layout("data", "model"), {64, 32}}}).operands[0] == m.layout("data", ""));

constexpr registry mine = registry::standard().add("scale_rows", "rc,r->rc");  // also finds the library's rules
// [/own]
static_assert(mine.knows("scale_rows") && mine.knows("softmax"));

// [dims-mapping]
constexpr mesh pm = mesh::of_shape(std::array{2, 4});  // a process mesh, whose axes are named 0 and 1
constexpr sharding x0 = sharding::of_dims_mapping(pm, {0, -1, 1});
constexpr sharding x1 = sharding::of_placements(pm, 3, {placement::shard(0), placement::shard(2)});
static_assert(x0 == x1 && x0 == pm.layout("0", "", "1") && x0.dims_mapping()[2] == 1);
static_assert(pm.layout("0+1", "").placements()[1] == placement::shard(0));  // co-shard: two axes on dimension 0
static_assert(pm.layout("0", "").partial("1").placements()[1] == placement::partial(pending_reduction::sum));
// [/dims-mapping]

// [paddle-policy]
constexpr auto as_paddle =
    propagate(pm, rules::matmul, {spec{pm.layout("0", "1"), {64, 32}}, spec{pm.layout("", "0"), {32, 48}}},
              policy::paddle_classic);
static_assert(as_paddle.results[0] == pm.layout("0", "").partial("1"));  // the first operand keeps axis 0
// [/paddle-policy]

int main() {
  // [explain-one]
  const auto p = propagate(m, product, {spec{m.layout("", "", "model"), {8, 128, 64}}, spec{ws, {64, 256}}});
  std::cout << p << explain(p, product);  // layouts, reshards, and the reason of every decision
  // [/explain-one]

  // [process-mesh]
  const auto on_four = placed_mesh::of_ids({{4, 5}, {6, 7}}, "data", "model");  // a mesh of workers 4 to 7 of a world
  const sharding nested = on_four.mesh().layout("data+model", "");
  const auto place = partition_of<2>(nested, {9, 6}, on_four);
  // partition q(everyone, place.arrangement);  repartition r(p, q, result_cuts(place.cuts));
  const auto block = mesh_block(nested, {9, 6}, on_four.place(6));  // worker 6 holds rows 5 and 6, all columns
  // [/process-mesh]
  const bool right = place.cuts.cuts[0] == cut::at({3, 2, 2, 2}) && block[0] == interval{5, 7} &&
                     place.arrangement.worker({2, 0}) == 6;

  // [links]
  const mesh_links slow_racks{{5e-6, 1e-9}, {1e-7, 1e-11}};  // seconds per message and per byte, along each axis
  constexpr mesh cluster{axis{"rack", 4}, axis{"card", 8}};
  const auto plan =
      plan_reshard(cluster, cluster.layout("").partial("rack"), cluster.layout(""), {1 << 20}, slow_racks);
  text words;
  words << plan;  // slice card, all_reduce rack, all_gather card: each card reduces an eighth over the racks
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
  std::cout
      << "Look at: no number was computed and no worker was needed. The first lines say what follows from two\n"
         "shardings and why, the next how a sum over slow links is cheapest, the last what a strict policy refuses.\n";
  return right && plan.size() == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
