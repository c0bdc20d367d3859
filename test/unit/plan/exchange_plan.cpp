// Exchange plans from cuts and from boxes: both are equal; sender and receiver agree on every box and its position in
// both blocks; no element is lost; and replicas are read once and summed in the adjoint.
#include <partita/plan/block_group.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/repartition_plan.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "random_cases.hpp"
#include "refused.hpp"

namespace {

using namespace partita;
using runtime_grid = grid<dynamic_extents<3>>;

cut random_cut(std::size_t n, std::size_t p, bool cyclic, std::mt19937& random) {
  if (cyclic && random() % 2 == 0) return cut::block_cyclic(n, p, 1 + random() % 3);
  std::vector<std::size_t> sizes(p, 0);
  for (std::size_t k = 0; k < n; ++k) ++sizes[random() % p];
  return random() % 3 == 0 ? cut::balanced(n, p) : cut::at(sizes);
}

struct trial {
  std::array<std::size_t, 3> extents, turned, from_grid, to_grid;
  axes_order<3> axes;
  decomposition<3> from, to;
  runtime_grid src, dst;

  static trial make(unsigned seed, bool cyclic) {
    std::mt19937 random(seed);
    std::array<std::size_t, 3> extents{}, turned{}, a{}, b{};
    axes_order<3> axes = same_axes<3>();
    std::shuffle(axes.begin(), axes.end(), random);
    for (std::size_t d = 0; d < 3; ++d) extents[d] = 1 + random() % 9, a[d] = 1 + random() % 3, b[d] = 1 + random() % 3;
    for (std::size_t d = 0; d < 3; ++d) turned[d] = extents[axes[d]];
    const auto from =
        decomposition<3>::make([&](std::size_t d) { return random_cut(extents[d], a[d], cyclic, random); });
    const auto to = decomposition<3>::make([&](std::size_t d) { return random_cut(turned[d], b[d], cyclic, random); });
    return {extents,
            turned,
            a,
            b,
            axes,
            from,
            to,
            runtime_grid(dynamic_extents<3>(a)),
            runtime_grid(dynamic_extents<3>(b))};
  }
  std::size_t workers() const { return std::max(src.size(), dst.size()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(planning_exchanges)

BOOST_AUTO_TEST_CASE(cuts_and_boxes_give_the_same_plan) {
  for (unsigned seed = 0; seed < test::random_cases(100); ++seed) {
    const trial t = trial::make(seed, false);
    for (std::size_t worker = 0; worker < t.workers(); ++worker)
      BOOST_TEST((plan_repartition(t.src, t.from, t.dst, t.to, worker, t.axes) ==
                  plan_repartition(t.src, partita::detail::block_boxes(t.from, t.src), t.dst,
                                   partita::detail::block_boxes(t.to, t.dst), worker, t.axes)),
                 "seed " << seed << ", worker " << worker);
  }
}

BOOST_AUTO_TEST_CASE(what_one_sends_the_other_receives_box_by_box_where_both_say_and_everything_arrives) {
  for (unsigned seed = 0; seed < test::random_cases(100); ++seed) {
    const trial t = trial::make(seed, true);
    using place = std::array<std::size_t, 3>;
    // where in the tensor (in the result's dimensions), in the giver's block, in the taker's
    using told = std::tuple<place, place_in_block<3>, place_in_block<3>>;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<told>> sent, received;
    std::size_t elements = 0;
    for (std::size_t worker = 0; worker < t.workers(); ++worker) {
      const auto p = plan_repartition(t.src, t.from, t.dst, t.to, worker, t.axes);
      for (const auto& b : p.sends)
        sent[{worker, b.worker}].push_back(
            {in_result_order(b.where.start, t.axes), place_in_block<3>::of(b.at, p.source_shape), b.at_peer}),
            elements += b.where.volume();
      for (const auto& b : p.receives)
        received[{b.worker, worker}].push_back(
            {b.where.start, b.at_peer, place_in_block<3>::of(b.at, p.destination_shape)});
      elements += p.elements_kept();
      BOOST_TEST((reversed(reversed(p)) == p));
    }
    BOOST_TEST((sent == received), "seed " << seed);
    BOOST_TEST(elements == volume_of(t.extents), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(every_taker_of_a_replicated_tensor_gets_each_element_once_from_the_owner_that_is_nearest) {
  for (unsigned seed = 0; seed < test::random_cases(50); ++seed) {
    const trial t = trial::make(seed, true);
    const std::size_t n = t.src.size(), m = t.dst.size();
    const replicas<dynamic_extents<3>> from{{t.src, {t.src.extents(), workers(n, 2 * n)}}};
    const replicas<dynamic_extents<3>> to{{t.dst, {t.dst.extents(), workers(m, 2 * m)}}};
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> sent, received;
    std::vector<std::size_t> given(2 * n, 0);
    for (std::size_t worker = 0; worker < 2 * std::max(n, m); ++worker) {
      const auto p = plan_repartition(from, t.from, to, t.to, worker, t.axes);
      for (const auto& b : p.sends) sent[{worker, b.worker}] += b.where.volume();
      for (const auto& b : p.receives) {
        received[{b.worker, worker}] += b.where.volume();
        const std::size_t place = b.worker % n, one = place, other = place + n;
        const auto away = [&](std::size_t id) { return id < worker ? worker - id : id - worker; };
        BOOST_TEST(away(b.worker) == std::min(away(one), away(other)));
      }
      BOOST_TEST(p.elements_received() + p.elements_kept() == (p.takes ? volume_of(p.destination_shape) : 0));
      BOOST_TEST(reversed(p).accumulate);
      BOOST_TEST(!reversed(reversed(p)).accumulate);
    }
    BOOST_TEST((sent == received), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(decompositions_of_two_tensors_and_replicas_of_two_shapes_are_refused) {
  using grid_type = grid<dynamic_extents<1>>;
  const grid_type two(dynamic_extents<1>(2), workers(0, 2)), three(dynamic_extents<1>(3), workers(2, 5));
  const auto of = [](std::size_t n, std::size_t p) { return decomposition<1>::balanced({n}, {p}); };
  BOOST_TEST(test::refused<shape_error>([&] { plan_repartition(two, of(6, 2), three, of(6, 3), 0); }) == "");
  for (const std::size_t n : {5U, 7U})
    BOOST_TEST(test::refused<shape_error>([&] { plan_repartition(two, of(6, 2), three, of(n, 3), 0); }) ==
               "partita::plan_repartition: requires two decompositions of one tensor, got extents [6] and [" +
                   std::to_string(n) + "]");
  const replicas<dynamic_extents<1>> uneven{{two, three}}, none{};
  const replicas<dynamic_extents<1>> one{{two}};
  const auto from = [&](const replicas<dynamic_extents<1>>& all) {
    return test::refused<partition_error>([&] { plan_repartition(all, of(6, 2), one, of(6, 2), 0); });
  };
  BOOST_TEST(from(one) == "");
  BOOST_TEST(from(uneven) == "partita::plan_repartition: requires replicas of one shape, got [2] and [3]");
  BOOST_TEST(from(none) == "partita::plan_repartition: requires at least one replica, got none");
}

BOOST_AUTO_TEST_CASE(a_chooser_decides_which_owner_sends) {
  const grid one(extents<2>{}), two(extents<2>{}, workers(2, 4));
  const grid taker(extents<1>{}, workers{4});
  const auto halves = decomposition<1>::balanced({8}, {2}), whole = decomposition<1>::balanced({8}, {1});
  const auto first = [](std::size_t, std::size_t, auto) { return std::size_t{0}; };
  const replicas<extents<2>> from{{one, two}};
  const replicas<extents<1>> to{{taker}};
  const auto nearest = plan_repartition(from, halves, to, whole, 4);
  BOOST_TEST(nearest.receives[0].worker == 2U);
  BOOST_TEST(nearest.receives[1].worker == 3U);
  const auto chosen = plan_repartition(from, halves, to, whole, 4, same_axes<1>(), first);
  BOOST_TEST(chosen.receives[0].worker == 0U);
  BOOST_TEST(chosen.receives[1].worker == 1U);
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_tensor_go_to_all_of_a_group_and_reversed_they_are_summed) {
  const grid p(extents<3, 1>{}, workers{4, 0, 2});
  const auto tensor = tensor_of_blocks<2>({{1, 5}, {0, 5}, {2, 5}}, {3, 1});
  for (const std::size_t worker : {4U, 0U, 2U, 1U}) {
    const auto group = block_group_of(p, {false, false}, worker);
    const auto plan = plan_allgather(group, tensor, worker);
    BOOST_TEST(plan.takes == (worker != 1));
    BOOST_TEST(plan.elements_received() + plan.elements_kept() == (plan.takes ? 15U : 0U));
    BOOST_TEST(plan.messages_sent() == (plan.takes && worker != 0 ? 2U : 0U));
    BOOST_TEST(!plan.accumulate);
    BOOST_TEST(reversed(plan).accumulate);
    BOOST_TEST(!plan.order.empty() == plan.takes);  // the group is not in the order of its workers
    BOOST_TEST((reversed(reversed(plan)) == plan));
    for (const auto& sent : plan.sends) {  // the receiver has the box where the sender says
      const auto there = plan_allgather(block_group_of(p, {false, false}, sent.worker), tensor, sent.worker);
      const auto its = std::find_if(there.receives.begin(), there.receives.end(),
                                    [&](const auto& one) { return one.worker == worker; });
      BOOST_REQUIRE((its != there.receives.end() && its->where == sent.where));
      BOOST_TEST((sent.at_peer == place_in_block<2>::of(its->at, there.destination_shape)));
      BOOST_TEST((its->at_peer == place_in_block<2>::of(sent.at, plan.source_shape)));
    }
  }
}

BOOST_AUTO_TEST_CASE(nested_cuts_are_cuts_of_cuts) {
  const cut nested = cut::nested(10, {3, 2});  // 4 3 3, each in two
  const std::size_t sizes[] = {2, 2, 2, 1, 2, 1};
  BOOST_TEST(nested.parts() == 6U);
  for (std::size_t k = 0; k < 6; ++k) BOOST_TEST(nested.size(k) == sizes[k]);
  BOOST_TEST(cut::nested(7, {}).size(0) == 7U);
  BOOST_TEST((cut::nested(12, {2, 3}) == cut::at({2, 2, 2, 2, 2, 2})));
}

BOOST_AUTO_TEST_CASE(the_nearest_owner_is_the_first_of_two_that_are_equally_near) {
  for (std::size_t receiver = 0; receiver < 6; ++receiver)
    for (std::size_t code = 0; code < 216; ++code) {
      const std::vector<std::size_t> ids{code % 6, code / 6 % 6, code / 36};
      const auto away = [&](std::size_t id) { return id < receiver ? receiver - id : id - receiver; };
      const auto nearest =
          std::min_element(ids.begin(), ids.end(), [&](std::size_t a, std::size_t b) { return away(a) < away(b); });
      BOOST_TEST(nearest_owner{}(receiver, 3, [&](std::size_t k) { return ids[k]; }) ==
                 static_cast<std::size_t>(nearest - ids.begin()));
    }
}

BOOST_AUTO_TEST_CASE(a_plan_of_replicas_on_either_side_is_summed_if_it_is_reversed) {
  const auto halves = decomposition<1>::balanced({8}, {2});
  for (const std::size_t sources : {1U, 2U})
    for (const std::size_t results : {1U, 2U}) {
      replicas<extents<2>> from, to;
      for (std::size_t c = 0; c < sources; ++c) from.copies.emplace_back(extents<2>{}, workers(2 * c, 2 * c + 2));
      for (std::size_t c = 0; c < results; ++c) to.copies.emplace_back(extents<2>{}, workers(2 * c + 1, 2 * c + 3));
      const auto plan = plan_repartition(from, halves, to, halves, 1);
      BOOST_TEST(plan.one_to_one == (sources == 1 && results == 1));
      BOOST_TEST(reversed(plan).accumulate == !plan.one_to_one);
      BOOST_TEST(!plan.accumulate);
    }
}

BOOST_AUTO_TEST_CASE(a_plan_is_an_identity_if_nothing_moves_and_dimensions_and_shapes_stay) {
  const grid p(extents<1, 1>{});
  const auto whole = decomposition<2>::balanced({3, 3}, {1, 1});
  BOOST_TEST(plan_repartition(p, whole, p, whole, 0).identity());
  BOOST_TEST(!plan_repartition(p, whole, p, whole, 0, axes_order<2>{1, 0}).identity());
  for (const bool gives : {false, true})
    for (const bool takes : {false, true})
      for (const std::size_t extent : {2U, 3U}) {
        exchange_plan<1> plan;
        plan.gives = gives, plan.takes = takes;
        plan.source_shape = {3}, plan.destination_shape = {extent};
        BOOST_TEST(plan.identity() == (!gives || !takes || extent == 3));
        exchange_plan<1> sends = plan, receives = plan;
        sends.sends.emplace_back(), receives.receives.emplace_back();
        BOOST_TEST((!sends.identity() && !receives.identity()));
      }
}

BOOST_AUTO_TEST_CASE(a_summand_has_the_position_of_its_worker_in_the_order_or_else_its_id) {
  exchange_plan<1> plan;
  for (const std::size_t worker : {0U, 3U, 8U}) BOOST_TEST(plan.position_in_sum(worker) == worker);
  plan.order = {4, 0, 2};
  for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(plan.position_in_sum(plan.order[k]) == k);
  BOOST_TEST(plan.position_in_sum(7) == 7U);
}

BOOST_AUTO_TEST_CASE(a_position_has_the_strides_of_its_block_whether_the_rank_is_known_or_not) {
  const auto typed = place_in_block<3>::of({1, 2, 3}, {4, 5, 6});
  const auto dynamic_rank = place_in_block<dynamic>::of({1, 2, 3}, {4, 5, 6});
  const std::ptrdiff_t strides[] = {30, 6, 1};
  BOOST_TEST((typed.offset == 45 && dynamic_rank.offset == 45));
  for (std::size_t d = 0; d < 3; ++d) {
    BOOST_TEST(typed.strides()[d] == strides[d]);
    BOOST_TEST(dynamic_rank.strides()[d] == strides[d]);
  }
  BOOST_TEST(place_in_block<dynamic>::of({}, {4, 5}).offset == 0U);  // the first element of the block
  BOOST_TEST(place_in_block<0>::of({}, {}).offset == 0U);
}

/// A plan that gives its memory to another gives nothing else.
BOOST_AUTO_TEST_CASE(plans_that_reuse_memory_are_those_that_are_made_anew) {
  std::vector<exchange_plan<3>> old(1);
  const grid p(extents<3, 1, 1>{}, workers{4, 0, 2});
  const auto parts = tensor_of_blocks<3>({{1, 5, 1}, {0, 5, 1}, {2, 5, 1}}, {3, 1, 1});
  old.push_back(plan_allgather(block_group_of(p, {false, false, false}, 4), parts, 4));  // which has an order
  old.push_back(reversed(old.back()));                                                   // and which sums
  for (unsigned seed = 0; seed < 20; ++seed) {
    const trial t = trial::make(seed, true);
    for (std::size_t worker = 0; worker <= t.workers(); ++worker) {
      const auto made = plan_repartition(t.src, t.from, t.dst, t.to, worker, t.axes);
      for (const auto& one : old) {
        exchange_plan<3> memory = one, other_memory = one;
        BOOST_TEST((plan_repartition(t.src, t.from, t.dst, t.to, worker, t.axes, std::move(memory)) == made));
        BOOST_TEST((reversed(made, std::move(other_memory)) == reversed(made)));
      }
      if (worker % 2 == 0) old.back() = made;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
