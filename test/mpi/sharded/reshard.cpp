// A tensor has the same elements after a reshard from any sharding to any other; no worker receives more than the plan
// says; and the adjoint of a movement is the movement back.
#include "layouts.hpp"

#include <cstdint>
#include <cstdlib>
#include <partita/sharded/reshard.hpp>
#include <pretended.hpp>
#include <random_cases.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

/// Whether the workers together hold the tensor that `numbered` makes.
template <class T>
bool holds_numbers(const sharded_tensor<T>& x, long long salt = 0) {
  const auto finished = x.layout().is_partial() ? reshard(x, x.layout().without_partials()) : x;
  bool right = finished.state()->block.shape == detail::shape_of_box(finished.box());
  finished.for_each_local(
      [&](const auto& i, const T& v) { right = right && v == static_cast<T>(test::numbered(i, salt)); });
  return right;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_sharding_becomes_every_other) {
  world everyone(test::workers());
  std::mt19937 random(1);
  for (const mesh& m : test::meshes(everyone.size()))
    for (const std::size_t rank : {std::size_t{1}, std::size_t{2}}) {
      const auto all = test::layouts(m, rank);
      for (const sharding& from : all)
        for (const sharding& to : all) {
          if (random() % (all.size() / 6 + 1) != 0) continue;
          const shape_list e = test::random_extents(random, rank);
          const auto x = shard<long long>(everyone, from, e, [](const auto& i) { return test::numbered(i); });
          const auto y = reshard(x, to);
          BOOST_TEST((y.layout() == to));
          BOOST_TEST(holds_numbers(y), (text() << "" << from << " to " << to << " of " << e));
        }
    }
}

BOOST_AUTO_TEST_CASE(elements_of_all_sizes_are_moved_on_one_mesh_one_after_the_other) {
  world everyone(test::workers());
  const shape_list e{5, 7};
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto all = test::layouts(m, 2);
    const auto kept = shard<int>(everyone, all[0], e, [](const auto&) { return 0; });  // keeps the mesh and its plans
    for (std::size_t k = 0; k < all.size(); k += 1 + all.size() / 5) {
      const auto holds = [&]<class T>(T) {
        const auto x = shard<T>(everyone, all[k], e, [](const auto& i) { return static_cast<T>(test::numbered(i)); });
        return holds_numbers(reshard(x, all[(2 * k + 1) % all.size()]));
      };
      BOOST_TEST((holds(double()) && holds(float()) && holds(std::int16_t()) && holds(std::int64_t())), all[k]);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_worker_receives_more_than_the_plan_says) {
  world everyone(test::workers());
  std::mt19937 random(2);
  for (const mesh& m : test::meshes(everyone.size())) {
    const std::size_t even = m.size() * m.size();
    const shape_list e{even, 2 * even};
    const auto all = test::layouts(m, 2);
    for (const sharding& from : all)
      for (const sharding& to : all) {
        if (random() % (all.size() / 4 + 1) != 0) continue;
        const auto x = shard<int>(everyone, from, e, [](const auto& i) { return test::numbered(i); });
        const std::size_t before = detail::run_state.movement_totals.bytes;
        const auto y = reshard(x, to);
        const auto plan = plan_reshard(m, from, to, e, {}, sizeof(int));
        BOOST_TEST(detail::run_state.movement_totals.bytes - before <= plan.bytes(),
                   (text() << "" << from << " to " << to << "\n"
                           << plan));
        BOOST_TEST(holds_numbers(y));
      }
  }
}

BOOST_AUTO_TEST_CASE(between_all_pairs_of_shardings_moves_what_the_plan_says, *test::at_least(4)) {
  world everyone(test::workers());
  std::size_t pairs = 0;
  for (const mesh& m : {mesh{axis{"a", 2}, axis{"b", 2}}, mesh{axis{"a", 2}, axis{"b", 3}}})
    for (std::size_t rank = 1; rank <= 3 && m.size() <= everyone.size(); ++rank) {
      const std::size_t extents[] = {5, 6, 3};
      shape_list e;
      for (std::size_t d = 0; d < rank; ++d) e.push_back(extents[d]);
      const auto all = test::layouts(m, rank);
      for (const sharding& from : all) {
        const auto x = shard<int>(everyone, from, e, [](const auto& i) { return test::numbered(i); });
        for (const sharding& to : all) {
          // only some of them if fewer cases are wanted
          if (pairs++ % (test::random_cases(8) == 8 ? 1 : 8) != 0) continue;
          const auto before = detail::run_state.movement_totals;
          const auto y = reshard(x, to);
          const auto& now = detail::run_state.movement_totals;
          if (everyone.id() >= m.size()) continue;
          const auto plan = plan_reshard(m, from, to, e, {}, sizeof(int));
          const received_share said = receive_cost(plan, from, e, everyone.id());
          std::size_t rounds = 0;
          for (const reshard_step& one : plan) rounds += one.rounds;
          BOOST_TEST(now.exchanges - before.exchanges == rounds, (text() << "" << from << " to " << to));
          BOOST_TEST(now.messages - before.messages == said.messages, (text() << "" << from << " to " << to));
          BOOST_TEST(now.bytes - before.bytes == said.elements * sizeof(int), (text() << "" << from << " to " << to));
        }
      }
    }
  BOOST_TEST(pairs == (everyone.size() >= 6 ? 2416U : 1208U));
}

BOOST_AUTO_TEST_CASE(every_worker_receives_what_the_plan_states) {
  world everyone(test::workers());
  std::mt19937 random(6);
  for (const mesh& m : test::meshes(everyone.size()))
    for (std::size_t rank = 0; rank <= 3; ++rank) {
      const auto all = test::layouts(m, rank);
      for (std::size_t k = 0; k < test::random_cases(12); ++k) {
        const sharding from = all[random() % all.size()], to = all[random() % all.size()];
        const shape_list e = test::random_extents(random, rank);
        const auto x = shard<double>(everyone, from, e, [](const auto& i) { return test::numbered(i); });
        const auto before = detail::run_state.movement_totals;
        const auto y = reshard(x, to);
        const auto& now = detail::run_state.movement_totals;
        const auto plan = plan_reshard(m, from, to, e, {}, sizeof(double));
        const std::size_t place = x.state()->on->place();
        const received_share share = place < m.size() ? receive_cost(plan, from, e, place) : received_share();
        const text name = text() << "" << from << " to " << to << " of " << e;
        BOOST_TEST(now.messages - before.messages == share.messages, name);
        BOOST_TEST(now.bytes - before.bytes == share.elements * sizeof(double), name);
        BOOST_TEST(holds_numbers(y), name);
      }
    }
}

BOOST_AUTO_TEST_CASE(what_several_workers_of_a_node_need_is_sent_there_once, *test::at_least(3)) {
  for (const char* const number : {"2", "3"}) {
    const test::pretended nodes("PARTITA_NODES", number);
    world everyone(test::workers());
    const std::size_t p = everyone.size(), others = static_cast<std::size_t>(number[0] - '1');
    const mesh m{axis{"a", p}};
    const shape_list e{3 * p - 2, 5};  // the last block is smaller
    const sharding from = m.layout("a", ""), to = m.layout("", "");
    const auto x = shard<double>(everyone, from, e, [](const auto& i) { return test::numbered(i); });
    const sharded_tensor<double> again = reshard(reshard(x, to), from);
    BOOST_TEST(holds_numbers(reshard(x, to)));
    BOOST_TEST(holds_numbers(again));
    // without memory that workers of a node share, messages between them are counted, too
    if (!x.state()->on->channels().can_forward() || std::getenv("PARTITA_SHARED_FREE") != nullptr) continue;
    const auto gather = x.state()->on->plan_exchange<double>(reshard_exchange{from, to, 0}, e);
    const detail::exchange_traffic sent = gather->opened_exchange()->counts();
    BOOST_TEST(sent.messages == others);
    BOOST_TEST(sent.bytes_by_message == others * 5 * x.box()[0].size() * sizeof(double));
  }
}

BOOST_AUTO_TEST_CASE(a_sum_and_a_mean_are_reduced_in_one_step, *test::at_least(4)) {
  world everyone(test::workers());
  const mesh m{axis{"a", 2}, axis{"b", 2}};
  const auto x = shard<double>(everyone, m.layout("", "").partial("a").partial("b", pending_reduction::avg), {5, 6},
                               [](const auto& i) { return test::numbered(i); });
  const auto y = reshard(x, m.layout("a", ""));
  BOOST_TEST(holds_numbers(y));
  if (everyone.id() >= 4) return;
  // The mean is over equal values; the sum has one summand that is not zero.
  y.for_each_local([](const auto& i, const double& v) { BOOST_TEST(v == test::numbered(i)); });
}

BOOST_AUTO_TEST_CASE(other_reductions_are_finished_too) {
  world everyone(test::workers());
  for (const auto kind :
       {pending_reduction::max, pending_reduction::min, pending_reduction::prod, pending_reduction::avg})
    for (const mesh& m : test::meshes(everyone.size()))
      for (const sharding& from : test::layouts(m, 1, kind)) {
        const auto x = shard<double>(everyone, from, {7}, [](const auto& i) { return test::numbered(i); });
        BOOST_TEST(holds_numbers(x));
        BOOST_TEST(holds_numbers(reshard(x, sharding(m, 1).cut(0, axis_list(0)))));
      }
}

BOOST_AUTO_TEST_CASE(a_whole_array_is_cut_and_gathered) {
  world everyone(test::workers());
  xt::xtensor<int, 2> x({5, 3});
  for (std::size_t k = 0; k < 15; ++k) x.data()[k] = static_cast<int>(k);
  for (const mesh& m : test::meshes(everyone.size()))
    for (const sharding& s : test::layouts(m, 2)) {
      auto y = shard(everyone, s, x);
      if (s.is_partial()) {
        BOOST_CHECK_THROW(y.local<2>(), partition_error);
        BOOST_CHECK_THROW(y.whole<2>(), partition_error);
        continue;
      }
      const auto back = y.whole<2>();
      const bool on_the_mesh = y.state()->on->active();
      BOOST_TEST((!on_the_mesh || back == x));
      auto changed = y;
      changed.for_each_local([](const auto&, int& v) { v += 1; });
      const auto raised = changed.whole<2>();
      BOOST_TEST((!on_the_mesh || raised == xt::xtensor<int, 2>(x + 1)));
      BOOST_TEST((y.whole<2>() == back));
      const auto blocks = shard_blocks(everyone, s, {5, 3}, y.local<2>());
      BOOST_TEST((blocks.whole<2>() == back));
    }
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_refused_on_all_workers) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}}, other{axis{"b", everyone.size()}};
  const auto x = shard<int>(everyone, m.layout("a"), {4}, [](const auto&) { return 1; });
  const text words = text("partita::reshard: requires a layout of the tensor's mesh a ")
                     << everyone.size() << ", but (b) is one of b " << everyone.size() << "; make it from that mesh";
  test::expect_refused<partition_error>([&] { reshard(x, other.layout("b")); }, words.c_str());
  test::expect_refused<shape_error>(
      [&] { reshard(x, m.layout("a", "")); },
      "partita::reshard: requires one entry of the layout for each dimension, but (a, ) is given for extents [4]");
  test::expect_refused<shape_error>(
      [&] { shard(everyone, m.layout("a", ""), xt::xtensor<int, 1>({3})); },
      "partita::shard: requires one entry of the layout for each dimension, but (a, ) is given for extents [1]");
  BOOST_CHECK_THROW(shard(everyone, mesh(axis("a", everyone.size() + 1)).layout(""), xt::xtensor<int, 1>({3})),
                    partition_error);
  BOOST_CHECK_THROW(shard_blocks(everyone, m.layout("a"), {2 * everyone.size()}, xt::xtensor<int, 1>({3})),
                    shape_error);
}
