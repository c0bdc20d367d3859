// The headers without MPI and xtensor cause none of these warnings in a program that includes them: here the warnings
// are errors, also in the templates that are instantiated below.
#pragma GCC diagnostic error "-Wshadow"
#pragma GCC diagnostic error "-Wsign-conversion"
#pragma GCC diagnostic error "-Wold-style-cast"
#include <partita/core/box.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/short_list.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/explain/svg.hpp>
#include <partita/kernel/given_cuts.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/elementwise_plan.hpp>
#include <partita/plan/linear_cost.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <partita/rule/broadcast_factors.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/permute.hpp>
#include <partita/rule/repartition_rule.hpp>
#include <partita/rule/transport_choice.hpp>
#include <partita/rule/worker_broadcast.hpp>

template class partita::basic_text<80>;
template class partita::extents<2, partita::dynamic>;
template class partita::short_list<int>;
template struct partita::box<2>;
template class partita::grid<partita::extents<2, partita::dynamic>>;
template struct partita::decomposition<2>;
template class partita::worker_pairing<2>;
template partita::layout_of_blocks<2> partita::lay_out(const std::vector<std::array<std::size_t, 2>>&,
                                                       const std::array<std::size_t, 2>&);

namespace {

using namespace partita;

static_assert(hasher().mix(index<2>{1, 2}).value() != 0);
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});
static_assert(choose({.batch = 2, .in_features = 4, .out_features = 4}, 2, 2, 4).is_possible);
static_assert(mesh_block(mesh(axis("a", 2)).layout("a"), {7}, 1)[0] == interval{4, 7});
static_assert(inverse_axes(axes_order<3>{2, 0, 1}) == axes_order<3>{1, 2, 0});

[[maybe_unused]] long_text written(const grid<extents<2, 3>>& p) {
  long_text out;
  out << plan_operand(p, {4U, 6U}, dimension_map::identity(2), p, {4U, 6U});
  return out.pad(80);
}
[[maybe_unused]] std::size_t pieces(const cut& c) {
  std::size_t n = 0;
  c.for_overlaps({0, c.extent()}, [&](std::size_t, interval, std::size_t, std::size_t) { ++n; });
  binomial_tree{c.parts()}.for_each_child(0, [&](std::size_t) { ++n; });
  return n + result_cuts(c).cuts.parts()[0];
}

}  // namespace
