// Reshard plans, executed on simulated devices and compared with the best of all sequences of steps.
#include <partita/plan/plan_reshard.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include "random_cases.hpp"
#include "simulated_mesh.hpp"

namespace {

using namespace partita;
using step = reshard_step::what;

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};

// --- at compile time ---

constexpr auto transposed = plan_reshard(m, m.layout("model", ""), m.layout("", "model"), extents<8, 256>{});
static_assert(transposed.size() == 1 && transposed[0].done == step::all_to_all &&
              transposed.bytes() == 8 * 256 / 4 * 4 * 3 / 4);
constexpr auto finer = plan_reshard(m, m.layout("data", ""), m.layout("data+model", ""), extents<8, 256>{});
static_assert(finer.size() == 1 && finer[0].done == step::slice && finer.bytes() == 0);
constexpr auto exchanged = plan_reshard(m, m.layout("data+model", ""), m.layout("model+data", ""), extents<8, 256>{});
static_assert(exchanged.size() == 1 && exchanged[0].done == step::permute && exchanged.bytes() == 256 * 4);
constexpr auto finished =
    plan_reshard(m, m.layout("data", "").partial("model"), m.layout("data", "model"), extents<8, 256>{});
static_assert(finished.size() == 1 && finished[0].done == step::reduce_scatter &&
              finished[0].kind == owed_reduction::sum);
static_assert(plan_reshard(m, m.layout("data", ""), m.layout("data", ""), extents<8, 256>{}).empty());

// --- the same graph of shardings, searched by Bellman and Ford, with nothing in common with the planner ---

struct place {
  std::vector<std::vector<std::size_t>> cuts;
  std::vector<owed_reduction> owed;
  friend auto operator<=>(const place&, const place&) = default;
};

class every_way {
 public:
  every_way(const mesh& on, const sharding& from, const sharding& to, const shape_list& shape, const mesh_links& over)
      : m_(on), shape_(shape), over_(over), to_(to) {
    // what an axis owes can be made owed again only as the target says
    cost_[read(from)] = 0;
    for (bool better = true; better;) {
      better = false;
      const auto known = cost_;
      for (const auto& one : known)
        for_each_step(one.first, [&](const place& next, double seconds) {
          const auto found = cost_.find(next);
          if (found != cost_.end() && found->second <= one.second + seconds + 1e-18) return;
          cost_[next] = one.second + seconds;
          better = true;
        });
    }
  }
  double least() const { return cost_.at(read(to_)); }
  std::size_t states() const { return cost_.size(); }

 private:
  place read(const sharding& s) const {
    place p;
    for (std::size_t d = 0; d < s.rank(); ++d) {
      p.cuts.emplace_back();
      for (std::size_t k = 0; k < s.cuts[d].size(); ++k) p.cuts.back().push_back(s.cuts[d][k]);
    }
    p.owed.assign(s.owed.begin(), s.owed.begin() + static_cast<std::ptrdiff_t>(m_.rank()));
    return p;
  }
  double bytes(const place& p) const {
    double n = 4;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      n *= static_cast<double>(shape_[d]);
      for (const std::size_t a : p.cuts[d]) n /= static_cast<double>(m_.size(a));
    }
    return n;
  }
  double ring(std::size_t a, double moved, double rounds) const {
    const double p = static_cast<double>(m_.size(a));
    return over_.step + rounds * (p - 1) * over_.along[a].latency +
           rounds * (p - 1) / p * moved * over_.along[a].seconds_per_byte;
  }
  template <class Use>
  void for_each_step(const place& p, Use use) const {
    for (std::size_t a = 0; a < m_.rank(); ++a) {
      std::size_t where = shape_.size();
      for (std::size_t d = 0; d < shape_.size(); ++d)
        if (std::find(p.cuts[d].begin(), p.cuts[d].end(), a) != p.cuts[d].end()) where = d;
      const bool cuts = where < shape_.size(), owes = p.owed[a] != owed_reduction::none;
      if (cuts && p.cuts[where].back() != a) continue;
      place free = p;
      free.owed[a] = owed_reduction::none;
      if (cuts) free.cuts[where].pop_back();
      if (cuts) use(free, ring(a, bytes(free), 1));
      if (owes) use(free, ring(a, bytes(p), 2));
      if (!cuts && !owes && to_.owed[a] != owed_reduction::none) {
        place next = p;
        next.owed[a] = to_.owed[a];
        use(next, over_.step);
      }
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        if (d == where || (shape_[d] <= 1 && to_.cuts[d].empty())) continue;  // one index is not cut on the way
        place next = free;
        next.cuts[d].push_back(a);
        use(next, cuts || owes ? ring(a, bytes(p), 1) : over_.step);
      }
    }
    exchanges(p, use);
  }
  /// All bijections among the axes that owe nothing and move nothing but blocks.
  template <class Use>
  void exchanges(const place& p, Use use) const {
    std::vector<std::size_t> free, image;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (p.owed[a] == owed_reduction::none) free.push_back(a);
    image = free;
    while (std::next_permutation(image.begin(), image.end())) {
      place next = p;
      std::vector<std::size_t> to(m_.rank());
      std::iota(to.begin(), to.end(), std::size_t{0});
      for (std::size_t k = 0; k < free.size(); ++k) to[free[k]] = image[k];
      for (auto& axes : next.cuts)
        for (auto& a : axes) a = to[a];
      exchange(p, next, use);
    }
    // and into the target, if its blocks are these blocks
    place goal = read(to_);
    if (goal.owed == p.owed) exchange(p, goal, use);
  }
  template <class Use>
  void exchange(const place& p, const place& next, Use use) const {
    if (next == p) return;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      std::vector<std::size_t> was, is;
      for (const auto a : p.cuts[d]) was.push_back(m_.size(a));
      for (const auto a : next.cuts[d]) is.push_back(m_.size(a));
      const std::size_t parts = std::accumulate(was.begin(), was.end(), std::size_t{1}, std::multiplies<>());
      if (parts != std::accumulate(is.begin(), is.end(), std::size_t{1}, std::multiplies<>())) return;
      if (shape_[d] % parts != 0 && was != is) return;
    }
    double latency = 0, per_byte = 0;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (role(p, a) != role(next, a)) {
        latency = std::max(latency, over_.along[a].latency);
        per_byte = std::max(per_byte, over_.along[a].seconds_per_byte);
      }
    use(next, over_.step + latency + bytes(p) * per_byte);
  }
  std::pair<std::size_t, std::size_t> role(const place& p, std::size_t a) const {
    for (std::size_t d = 0; d < p.cuts.size(); ++d)
      for (std::size_t k = 0; k < p.cuts[d].size(); ++k)
        if (p.cuts[d][k] == a) return {d, k};
    return {p.cuts.size(), 0};
  }

  const mesh& m_;
  const shape_list& shape_;
  const mesh_links& over_;
  const sharding& to_;
  std::map<place, double> cost_;
};

mesh random_mesh(std::mt19937_64& random, std::size_t most) {
  const std::size_t sizes[] = {2, 2, 3, 4, 1};
  mesh on;
  const char* names[] = {"a", "b", "c", "d"};
  const std::size_t rank = 1 + random() % most;
  for (std::size_t a = 0; a < rank; ++a) on.push_back(axis(names[a], sizes[random() % 5]));
  return on;
}
mesh_links random_links(std::mt19937_64& random) {
  mesh_links over;
  for (mesh_link& one : over.along)
    one = {static_cast<double>(random() % 4) * 1e-6, static_cast<double>(1 + random() % 20) * 1e-9};
  return over;
}
shape_list random_shape(std::mt19937_64& random, std::size_t most) {
  const std::size_t extents[] = {1, 2, 3, 4, 5, 6, 8, 12, 24};
  shape_list shape;
  for (std::size_t rank = random() % (most + 1); rank > 0; --rank) shape.push_back(extents[random() % 9]);
  return shape;
}
std::initializer_list<owed_reduction> random_kinds(std::mt19937_64& random) {
  static constexpr std::initializer_list<owed_reduction> sums{owed_reduction::sum, owed_reduction::avg},
      most{owed_reduction::max}, least{owed_reduction::min}, products{owed_reduction::prod}, some{owed_reduction::any},
      every{owed_reduction::all}, none{};
  const std::initializer_list<owed_reduction>* all[] = {&sums, &sums, &most, &least, &products, &some, &every, &none};
  return *all[random() % 8];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planning_a_reshard)

BOOST_AUTO_TEST_CASE(every_plan_over_random_shardings_gives_the_target_and_moves_what_it_says) {
  std::mt19937_64 random(4);
  std::size_t wrong = 0, plans = 0, steps = 0;
  for (std::size_t k = 0; k < test::random_cases(6000); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, 3);
    const mesh_links over = random_links(random);
    const auto owing = random_kinds(random);
    const sharding from = simulated::random_sharding(on, shape.size(), random, owing);
    const sharding to =
        simulated::random_sharding(on, shape.size(), random, random() % 3 == 0 ? owing : random_kinds(random));
    const bool logical = simulated::is_logical(from) || simulated::is_logical(to);
    const auto whole = simulated::random_tensor(shape, random, logical ? 0 : -3, logical ? 1 : 3);
    const auto plan = plan_reshard(on, from, to, shape, over);
    bool even = true;
    for (const std::size_t extent : shape) even = even && extent % on.size() == 0;
    try {
      auto held = simulated::cut(whole, from, random());
      sharding now = from;
      for (const reshard_step& one : plan) {
        std::size_t received = 0;
        held = simulated::executed(one, now, held, shape, received);
        const bool reduces = one.done == step::all_reduce || one.done == step::reduce_scatter;
        // blocks are equal, so that what a worker receives is what it says; of a permutation it is the most
        if (even && !reduces) {
          const std::size_t bytes = one.bytes * on.size();
          if (one.done == step::permute ? received * 4 > bytes
                                        : received * 4 + on.size() < bytes || received * 4 > bytes + on.size())
            ++wrong;
        }
        now = one.after;
        ++steps;
      }
      if (!(now.cuts == to.cuts && now.owed == to.owed)) ++wrong;
      if (!(simulated::reassembled(held, to, shape) == whole)) ++wrong;
    } catch (const std::exception& e) {
      ++wrong;
      BOOST_TEST_MESSAGE((text() << "" << shape << ' ' << from << " -> " << to << ": " << e.what() << '\n'
                                 << plan)
                             .c_str());
    }
    ++plans;
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(steps > plans);
}

BOOST_AUTO_TEST_CASE(no_sequence_of_steps_is_cheaper) {
  std::mt19937_64 random(11);
  std::size_t dearer = 0, cheaper_than_possible = 0;
  for (std::size_t k = 0; k < test::random_cases(1200); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, on.rank() < 3 ? 3 : 2);
    const mesh_links over = random_links(random);
    const auto owing = random_kinds(random);
    const sharding from = simulated::random_sharding(on, shape.size(), random, owing);
    const sharding to = simulated::random_sharding(on, shape.size(), random, owing);
    const double planned = plan_reshard(on, from, to, shape, over).seconds(),
                 least = every_way(on, from, to, shape, over).least();
    if (planned > least * (1 + 1e-9)) {
      ++dearer;
      BOOST_TEST_MESSAGE((text() << "" << shape << ' ' << from << " -> " << to << '\n'
                                 << plan_reshard(on, from, to, shape, over))
                             .c_str());
    }
    cheaper_than_possible += planned < least * (1 - 1e-9);
  }
  BOOST_TEST(dearer == 0U);
  BOOST_TEST(cheaper_than_possible == 0U);
}

BOOST_AUTO_TEST_CASE(a_slow_axis_is_reduced_over_with_less_where_a_fast_one_is_free) {
  // the hierarchical all-reduce: nobody wrote it down, it is only the cheapest way
  constexpr mesh racks{axis{"rack", 4}, axis{"card", 8}};
  const auto plan =
      plan_reshard(racks, racks.layout("").partial("rack"), racks.layout(""), {1 << 20}, {{5e-6, 1e-9}, {1e-7, 1e-11}});
  BOOST_REQUIRE(plan.size() == 3U);
  BOOST_TEST((plan[0].done == step::slice));
  BOOST_TEST((plan[1].done == step::all_reduce));
  BOOST_TEST((plan[2].done == step::all_gather));
}

BOOST_AUTO_TEST_CASE(a_mesh_of_eight_axes_is_planned_for) {
  mesh on;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) on.push_back(axis(name, 2));
  std::mt19937_64 random(3);
  const shape_list shape{4, 8, 6};
  for (std::size_t k = 0; k < 6; ++k) {
    const sharding from = simulated::random_sharding(on, 3, random, {owed_reduction::sum}),
                   to = simulated::random_sharding(on, 3, random);
    const auto whole = simulated::random_tensor(shape, random);
    auto held = simulated::cut(whole, from, 1);
    sharding now = from;
    for (const reshard_step& one : plan_reshard(on, from, to, shape)) {
      std::size_t received = 0;
      held = simulated::executed(one, now, held, shape, received);
      now = one.after;
    }
    BOOST_TEST((simulated::reassembled(held, to, shape) == whole));
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_planned_says_why) {
  const auto says = [](const char* part) { return [part](const error& e) { return e.sentence().contains(part); }; };
  BOOST_CHECK_EXCEPTION(plan_reshard(m, m.layout(""), m.layout("", ""), {8, 8}), shape_error,
                        says("shardings of the tensor's rank"));
  constexpr mesh other{axis{"data", 2}};
  BOOST_CHECK_EXCEPTION(plan_reshard(m, other.layout(""), m.layout(""), {8}), partition_error,
                        says("shardings of one mesh"));
  BOOST_CHECK_EXCEPTION(
      plan_reshard(m, m.layout("").partial("data", owed_reduction::max).partial("model"), m.layout(""), {8}),
      partition_error, says("owes max and sum"));
}

BOOST_AUTO_TEST_SUITE_END()
