// Reshard plans, executed on simulated devices: what every device receives is what the plan states, and it is no more
// than in the best of all sequences of collectives.
#include <partita/plan/plan_reshard.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>
#include <string>
#include "collective_sequences.hpp"
#include "random_cases.hpp"
#include "refused.hpp"
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
              finished[0].kind == pending_reduction::sum);
static_assert(plan_reshard(m, m.layout("data", ""), m.layout("data", ""), extents<8, 256>{}).empty());
static_assert(plan_reshard(m, m.layout("data", ""), m.layout("", ""), {2, dynamic}).bytes() == 4);

// --- the graph of shardings, searched by Bellman and Ford, with nothing in common with collective_sequences.hpp ---

struct place {
  std::vector<std::vector<std::size_t>> cuts;
  std::vector<pending_reduction> pending;
  friend auto operator<=>(const place&, const place&) = default;
};

class every_way {
 public:
  every_way(const mesh& on, const sharding& from, const sharding& to, const shape_list& shape, const mesh_links& over)
      : m_(on), shape_(shape), over_(over), to_(to) {
    // what is pending along an axis can become pending again only as the target says
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
    p.pending.assign(s.pending.begin(), s.pending.begin() + static_cast<std::ptrdiff_t>(m_.rank()));
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
      const bool cuts = where < shape_.size(), partial = p.pending[a] != pending_reduction::none;
      if (cuts && p.cuts[where].back() != a) continue;
      place free = p;
      free.pending[a] = pending_reduction::none;
      if (cuts) free.cuts[where].pop_back();
      if (cuts) use(free, ring(a, bytes(free), 1));
      if (partial) use(free, ring(a, bytes(p), 2));
      if (!cuts && !partial && to_.pending[a] != pending_reduction::none) {
        place next = p;
        next.pending[a] = to_.pending[a];
        use(next, over_.step);
      }
      for (std::size_t d = 0; d < shape_.size(); ++d) {
        if (d == where || (shape_[d] <= 1 && to_.cuts[d].empty())) continue;  // one index is not cut on the way
        place next = free;
        next.cuts[d].push_back(a);
        use(next, cuts || partial ? ring(a, bytes(p), 1) : over_.step);
      }
    }
    exchanges(p, use);
  }
  /// All bijections among the axes without a pending reduction that move nothing but blocks.
  template <class Use>
  void exchanges(const place& p, Use use) const {
    std::vector<std::size_t> free, image;
    for (std::size_t a = 0; a < m_.rank(); ++a)
      if (p.pending[a] == pending_reduction::none) free.push_back(a);
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
    if (goal.pending == p.pending) exchange(p, goal, use);
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
std::initializer_list<pending_reduction> random_kinds(std::mt19937_64& random) {
  static constexpr std::initializer_list<pending_reduction> sums{pending_reduction::sum, pending_reduction::avg},
      most{pending_reduction::max}, least{pending_reduction::min}, products{pending_reduction::prod},
      some{pending_reduction::any}, every{pending_reduction::all}, none{};
  const std::initializer_list<pending_reduction>* all[] = {&sums,     &sums, &most,  &least,
                                                           &products, &some, &every, &none};
  return *all[random() % 8];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planning_a_reshard)

/// Executes a plan on simulated devices. Reports an error if the tensor is not in the target sharding then, or if some
/// device receives another number of elements or messages than the plan states.
void check_executed(const mesh& on, const sharding& from, const sharding& to, const shape_list& shape,
                    const simulated::tensor& whole, std::uint64_t seed) {
  const auto plan = plan_reshard(on, from, to, shape);
  const std::string name = (text() << "" << shape << ' ' << from << " -> " << to << '\n' << plan).c_str();
  try {
    simulated::traffic all(on.size());
    auto held = simulated::cut(whole, from, seed);
    sharding now = from;
    for (const reshard_step& one : plan) {
      simulated::traffic received(on.size());
      const auto before = held;
      held = simulated::executed(one, now, held, shape, received);
      const auto& elements = received.elements;
      const std::size_t sum = std::accumulate(elements.begin(), elements.end(), std::size_t{0});
      BOOST_TEST(one.bytes == 4 * *std::max_element(elements.begin(), elements.end()), name);
      BOOST_TEST(one.messages == *std::max_element(received.messages.begin(), received.messages.end()), name);
      const std::size_t mean = (4 * sum + on.size() - 1) / on.size();
      BOOST_TEST(one.mean_bytes >= mean, name);
      BOOST_TEST(one.mean_bytes <= mean + (one.rounds < 2 ? 0 : 1), name);  // two rounds: rounded up from a fraction
      for (std::size_t k = 0; k < on.size(); ++k)
        all.elements[k] += elements[k], all.messages[k] += received.messages[k];
      // A sum and a mean together are a sum, and axes of one worker cut nothing on the way.
      for (std::size_t a = 0; a < on.rank(); ++a) {
        if ((one.reduced >> a & 1U) != 0)
          BOOST_TEST((one.kind == now.pending[a] ||
                      (one.kind == pending_reduction::sum && now.pending[a] == pending_reduction::avg)),
                     name);
        if (on.size(a) == 1)
          BOOST_TEST((one.after.cut_axes() & ~(from.cut_axes() | to.cut_axes()) & 1U << a) == 0, name);
      }
      if (one.done == step::all_gather || one.done == step::all_to_all) {  // among the workers along one axis
        std::size_t moved = 0;
        BOOST_TEST((collectives::executed(one, now, before, shape, moved) == held), name);
      }
      now = one.after;
    }
    for (std::size_t k = 0; k < on.size(); ++k) {
      const received_share share = receive_cost(plan, from, shape, k);
      BOOST_TEST(share.elements == all.elements[k], name);
      BOOST_TEST(share.messages == all.messages[k], name);
    }
    BOOST_TEST(now.same_layout(to), name);
    BOOST_TEST((simulated::reassembled(held, to, shape) == whole), name);
  } catch (const std::exception& e) {
    BOOST_ERROR(name << e.what());
  }
}

struct move_of_tensor {
  sharding from, to;
  simulated::tensor whole;
};
move_of_tensor random_move(const mesh& on, const shape_list& shape, std::mt19937_64& random) {
  const auto partial = random_kinds(random);
  const sharding from = simulated::random_sharding(on, shape.size(), random, partial);
  const sharding to =
      simulated::random_sharding(on, shape.size(), random, random() % 3 == 0 ? partial : random_kinds(random));
  const bool logical = simulated::is_logical(from) || simulated::is_logical(to);
  return {from, to, simulated::random_tensor(shape, random, logical ? 0 : -3, logical ? 1 : 3)};
}

BOOST_AUTO_TEST_CASE(every_plan_over_random_shardings_gives_the_target_and_moves_what_it_says) {
  std::mt19937_64 random(4);
  for (std::size_t k = 0; k < test::random_cases(6000); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, 3);
    const auto [from, to, whole] = random_move(on, shape, random);
    check_executed(on, from, to, shape, whole, random());
  }
}

struct planned_pair : simulated::random_pair {
  using simulated::random_pair::random_pair;

  /// The ratio of the plan's bytes to those of the sequence of collectives with the fewest bytes. Of a sequence that
  /// moves nothing the plan must move nothing.
  double against_collectives() const {
    mesh_links by_bytes;  // the time of a byte, and nothing for a message
    for (mesh_link& one : by_bytes.along) one.latency = 0;
    by_bytes.step = 1e-15;
    std::size_t bytes = 0;
    for (const reshard_step& one : collectives::sequence_of(on, from, to, shape, by_bytes)) bytes += one.bytes;
    const std::size_t own = plan_reshard(on, from, to, shape).bytes();
    return bytes == 0 ? (own == 0 ? 0 : 1e9) : static_cast<double>(own) / static_cast<double>(bytes);
  }
};

BOOST_AUTO_TEST_CASE(a_plan_moves_no_more_than_any_sequence_of_collectives) {
  std::mt19937_64 random(29);
  double sum = 0;
  const std::size_t pairs = test::random_cases(2000);
  for (std::size_t k = 0; k < pairs; ++k) {
    const planned_pair one(random, 1, 3, 4);
    const double ratio = one.against_collectives();
    BOOST_TEST(ratio <= 1.05, (text() << "" << one.on << ' ' << one.shape << ' ' << one.from << " -> " << one.to));
    sum += ratio;
  }
  BOOST_TEST(sum / static_cast<double>(pairs) < 0.75);
}

/// What a worker receives in an exchange, message by message: a box of the source for each summand, from the nearest
/// worker that has it. The axes along which the two workers differ are links, and the slowest one is that of the
/// message.
received_share received_one_by_one(const reshard_exchange& e, const shape_list& shape, std::size_t place,
                                   const mesh_links& over) {
  const mesh& on = e.from.on;
  const auto link_to = [&](std::size_t sender) {
    mesh_link slowest{0, 0};
    for (std::size_t a = 0; a < on.rank(); ++a)
      if (coordinate_of(on, sender, a) != coordinate_of(on, place, a))
        slowest = std::max(slowest, over.along[a], [](const mesh_link& x, const mesh_link& y) {
          return std::pair(x.seconds_per_byte, x.latency) < std::pair(y.seconds_per_byte, y.latency);
        });
    return std::pair(slowest.seconds_per_byte, slowest.latency);
  };
  using summand_of_box = std::pair<std::vector<std::size_t>, std::vector<std::size_t>>;
  std::map<summand_of_box, std::pair<std::size_t, std::pair<double, double>>> messages;
  for (std::size_t sender = 0; sender < on.size(); ++sender) {
    summand_of_box which;
    std::size_t elements = 1;
    const auto has = mesh_block(e.from, shape, sender), wants = mesh_block(e.to, shape, place);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      which.first.push_back(has[d].start);
      const std::size_t start = std::max(has[d].start, wants[d].start), stop = std::min(has[d].stop, wants[d].stop);
      elements *= start < stop ? stop - start : 0;
    }
    for (std::size_t a = 0; a < on.rank(); ++a)
      if ((e.reduced >> a & 1U) != 0) which.second.push_back(coordinate_of(on, sender, a));
    if (elements == 0) continue;
    const auto [at, is_new] = messages.try_emplace(which, elements, link_to(sender));
    if (!is_new) at->second.second = std::min(at->second.second, link_to(sender));
  }
  received_share all;
  for (const auto& [which, message] : messages) {
    const auto& [elements, link] = message;
    if (link.first == 0) continue;  // its own
    all.elements += elements, ++all.messages, all.latency_seconds += link.second;
    all.seconds += link.second + static_cast<double>(4 * elements) * link.first;
  }
  return all;
}

BOOST_AUTO_TEST_CASE(the_seconds_of_every_step_are_those_of_its_messages_one_by_one) {
  std::mt19937_64 random(37);
  for (std::size_t k = 0; k < test::random_cases(800); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, 2);
    const auto [from, to, whole] = random_move(on, shape, random);
    mesh_links over;  // times whose sums are exact, often equal
    over.step = 0.25;
    for (mesh_link& one : over.along) one = {static_cast<double>(random() % 3), static_cast<double>(1 + random() % 2)};
    const auto plan = plan_reshard(on, from, to, shape, over);
    const std::string name = (text() << "" << on << shape << ' ' << from << " -> " << to << '\n' << plan).c_str();
    std::vector<received_share> all(on.size());
    sharding now = from;
    for (const reshard_step& one : plan) {
      received_share slowest;
      for (std::size_t place = 0; place < on.size(); ++place) {
        received_share own;
        std::size_t block = 1;
        for (const interval& part : mesh_block(now, shape, place)) block *= part.size();
        detail::for_each_exchange(one, now, shape, block, [&](const reshard_exchange& e, const shape_list& moved) {
          const received_share share = received_one_by_one(e, moved, place, over);
          own.elements += share.elements, own.messages += share.messages;
          own.seconds += share.seconds, own.latency_seconds += share.latency_seconds;
        });
        all[place].elements += own.elements, all[place].messages += own.messages;
        all[place].seconds += own.seconds, all[place].latency_seconds += own.latency_seconds;
        // in two rounds the first worker has the most elements, and all have their messages over the same links
        if (one.rounds == 2 ? place == 0 : own.seconds > slowest.seconds) slowest = own;
      }
      BOOST_TEST(one.seconds == over.step + slowest.seconds, name);
      BOOST_TEST(one.latency_seconds == slowest.latency_seconds, name);
      now = one.after;
    }
    for (std::size_t place = 0; place < on.size(); ++place) {
      const received_share said = receive_cost(plan, from, shape, place, over);
      BOOST_TEST(said.elements == all[place].elements, name);
      BOOST_TEST(said.messages == all[place].messages, name);
      BOOST_TEST(said.seconds == all[place].seconds, name);
      BOOST_TEST(said.latency_seconds == all[place].latency_seconds, name);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_plans_within_a_twentieth_of_the_fewest_bytes_the_fastest_is_taken) {
  const mesh on{axis{"a", 4}, axis{"b", 4}, axis{"c", 5}, axis{"d", 2}};
  const auto plan = plan_reshard(on, on.layout("a+b+d").partial("c"), on.layout("d"), {1055});
  // A reduce_scatter moves 112 bytes, but leaves more messages to the exchange.
  BOOST_TEST((plan.size() == 2 && plan[0].done == step::all_reduce));
  BOOST_TEST(plan.bytes() == 216 + 2112U);
}

BOOST_AUTO_TEST_CASE(an_axis_that_is_free_on_the_way_divides_the_dimension_that_it_fits_best) {
  const mesh two{axis{"a", 2}, axis{"b", 3}}, three{axis{"a", 2}, axis{"b", 4}, axis{"c", 2}};
  // a dimension that it divides, before one that another sharding cuts in the same way
  BOOST_TEST(plan_reshard(two, two.layout("", "").partial("b"), two.layout("", "a"), {7, 4}).bytes() == 76U);
  // of dimensions with parts of one length the first
  BOOST_TEST(plan_reshard(three, three.layout("", "").partial("b"), three.layout("b+c", "a"), {4, 8}).bytes() == 32U);
  // and only what was divided on the way remains so to the end
  BOOST_TEST(plan_reshard(two, two.layout("", "b").partial("a"), two.layout("", ""), {24, 10}).bytes() == 1008U);
}

BOOST_AUTO_TEST_CASE(plans_on_six_or_seven_axes_are_executed_as_they_state) {
  std::mt19937_64 random(31);
  for (std::size_t k = 0; k < test::random_cases(40); ++k) {
    planned_pair one(random, 6, 7, 2);
    const double ratio = one.against_collectives();
    BOOST_TEST(ratio <= 1.05, (text() << "" << one.on << ' ' << one.shape << ' ' << one.from << " -> " << one.to));
    one.shape = shape_list::filled(one.shape.size(), one.shape.size() == 1 ? 131 : 11);  // few elements, uneven parts
    check_executed(one.on, one.from, one.to, one.shape, simulated::random_tensor(one.shape, random), random());
  }
}

BOOST_AUTO_TEST_CASE(every_sequence_of_collectives_gives_the_target_and_moves_what_it_says) {
  std::mt19937_64 random(4);
  std::size_t wrong = 0, plans = 0, steps = 0;
  for (std::size_t k = 0; k < test::random_cases(6000); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, 3);
    const mesh_links over = random_links(random);
    const auto [from, to, whole] = random_move(on, shape, random);
    const auto plan = collectives::sequence_of(on, from, to, shape, over);
    bool even = true;
    for (const std::size_t extent : shape) even = even && extent % on.size() == 0;
    try {
      auto held = simulated::cut(whole, from, random());
      sharding now = from;
      for (const reshard_step& one : plan) {
        std::size_t received = 0;
        held = collectives::executed(one, now, held, shape, received);
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
      if (!now.same_layout(to)) ++wrong;
      if (!(simulated::reassembled(held, to, shape) == whole)) ++wrong;
    } catch (const std::exception& e) {
      ++wrong;
      BOOST_TEST_MESSAGE((text() << "" << shape << ' ' << from << " -> " << to << ": " << e.what()).c_str());
    }
    ++plans;
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(steps > plans);
}

BOOST_AUTO_TEST_CASE(the_sequence_of_collectives_is_the_cheapest) {
  std::mt19937_64 random(11);
  std::size_t dearer = 0, cheaper_than_possible = 0;
  for (std::size_t k = 0; k < test::random_cases(1200); ++k) {
    const mesh on = random_mesh(random, 3);
    const shape_list shape = random_shape(random, on.rank() < 3 ? 3 : 2);
    const mesh_links over = random_links(random);
    const auto partial = random_kinds(random);
    const sharding from = simulated::random_sharding(on, shape.size(), random, partial);
    const sharding to = simulated::random_sharding(on, shape.size(), random, partial);
    const double planned = collectives::seconds(collectives::sequence_of(on, from, to, shape, over)),
                 least = every_way(on, from, to, shape, over).least();
    if (planned > least * (1 + 1e-9)) {
      ++dearer;
      BOOST_TEST_MESSAGE((text() << "" << shape << ' ' << from << " -> " << to).c_str());
    }
    cheaper_than_possible += planned < least * (1 - 1e-9);
  }
  BOOST_TEST(dearer == 0U);
  BOOST_TEST(cheaper_than_possible == 0U);
}

BOOST_AUTO_TEST_CASE(a_slow_axis_is_reduced_over_with_less_where_a_fast_one_is_free) {
  // the hierarchical all-reduce: no rule states it, it is only the cheapest sequence
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
  for (std::size_t k = 0; k < test::random_cases(6); ++k) {
    const sharding from = simulated::random_sharding(on, 3, random, {pending_reduction::sum}),
                   to = simulated::random_sharding(on, 3, random);
    check_executed(on, from, to, shape, simulated::random_tensor(shape, random), 1);
  }
}

BOOST_AUTO_TEST_CASE(the_seconds_of_a_step_are_those_of_the_slowest_links_between_its_workers) {
  // Two racks of two cards. Worker 0 lacks the quarters of workers 1, 2 and 3; only worker 1 is in its rack.
  constexpr mesh racks{axis{"rack", 2}, axis{"card", 2}};
  const mesh_links links{{5, 1}, {2, 0.25}};
  const auto plan = plan_reshard(racks, racks.layout("rack+card"), racks.layout(""), {8}, links);
  BOOST_TEST(plan.size() == 1U);
  BOOST_TEST((plan[0].done == step::exchange));
  BOOST_TEST(plan.bytes() == 6U * 4);
  BOOST_TEST(plan.messages() == 3U);
  BOOST_TEST(plan.latency_seconds() == 2. * 5 + 2);
  BOOST_TEST(plan.seconds() == links.step + 2 * 5 + 2 + 2 * 8 * 1 + 8 * 0.25);
  // Which steps are executed does not depend on the links.
  const auto partial = racks.layout("").partial("rack").partial("card");
  const auto slow = plan_reshard(racks, partial, racks.layout(""), {64}, links),
             fast = plan_reshard(racks, partial, racks.layout(""), {64});
  BOOST_TEST(slow.size() == fast.size());
  for (std::size_t k = 0; k < slow.size() && k < fast.size(); ++k) BOOST_TEST((slow[k].after == fast[k].after));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_planned_says_why) {
  const auto says = [](const char* part) { return [part](const error& e) { return e.sentence().contains(part); }; };
  BOOST_CHECK_EXCEPTION(plan_reshard(m, m.layout(""), m.layout("", ""), {8, 8}), shape_error,
                        says("shardings of the tensor's rank"));
  constexpr mesh other{axis{"data", 2}};
  BOOST_CHECK_EXCEPTION(plan_reshard(m, other.layout(""), m.layout(""), {8}), partition_error,
                        says("shardings of one mesh"));
  BOOST_CHECK_EXCEPTION(
      plan_reshard(m, m.layout("").partial("data", pending_reduction::max).partial("model"), m.layout(""), {8}),
      partition_error, says("has max and sum"));
}

BOOST_AUTO_TEST_CASE(a_step_is_named_after_the_collective_that_it_replaces) {
  constexpr mesh cube{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  constexpr std::uint8_t none = reshard_step::none;
  struct row {
    sharding from, to;
    shape_list shape;
    step done;
    std::uint8_t axis, from_dimension, to_dimension;
  };
  const row table[] = {
      {m.layout("model", ""), m.layout("", ""), {8, 8}, step::all_gather, 1, 0, none},
      {m.layout("data+model", ""), m.layout("data", ""), {8, 8}, step::all_gather, 1, 0, none},
      {m.layout("data+model", ""), m.layout("model", ""), {8, 8}, step::exchange, 0, 0, none},  // of the major axis
      {m.layout("", ""), m.layout("", "model"), {8, 8}, step::slice, 1, none, 1},
      {m.layout("model", ""), m.layout("data+model", ""), {8, 8}, step::exchange, 0, none, 0},
      {m.layout("model", ""), m.layout("", "model"), {8, 8}, step::all_to_all, 1, 0, 1},
      {m.layout("data+model", ""), m.layout("data", "model"), {8, 8}, step::all_to_all, 1, 0, 1},
      {m.layout("data+model", ""), m.layout("model", "data"), {8, 8}, step::exchange, 0, 0, 1},
      {m.layout("model", "data"), m.layout("", "model+data"), {8, 8}, step::exchange, 1, 0, 1},
      // other axes change their order, too
      {cube.layout("a+b", "c"), cube.layout("b+a", ""), {8, 8}, step::exchange, none, none, none},
      // blocks of equal shapes on other workers
      {m.layout("data+model", ""), m.layout("model+data", ""), {8, 8}, step::permute, none, none, none},
      {m.layout("data+model", ""), m.layout("model+data", ""), {9, 8}, step::exchange, none, none, none},
      {cube.layout("a+b", ""), cube.layout("b+a", ""), {5, 8}, step::permute, none, none, none},
      {cube.layout("a", "b"), cube.layout("b", "a"), {5, 7}, step::permute, none, none, none},
      {m.layout("data", "model"), m.layout("model", "data"), {8, 8}, step::exchange, none, none, none},
      {m.layout("data", "").partial("model"), m.layout("data", "model"), {8, 256}, step::reduce_scatter, 1, none, 1}};
  for (const row& one : table) {
    const auto plan = plan_reshard(one.from.on, one.from, one.to, one.shape);
    const std::string name = (text() << "" << one.shape << ' ' << one.from << " -> " << one.to << '\n' << plan).c_str();
    BOOST_TEST_REQUIRE(plan.size() == 1U, name);
    BOOST_TEST((plan[0].done == one.done), name);
    BOOST_TEST(std::size_t{plan[0].axis} == std::size_t{one.axis}, name);
    BOOST_TEST(std::size_t{plan[0].from} == std::size_t{one.from_dimension}, name);
    BOOST_TEST(std::size_t{plan[0].to} == std::size_t{one.to_dimension}, name);
  }
}

BOOST_AUTO_TEST_CASE(the_text_of_a_step_has_its_name_axes_reduction_dimensions_bytes_and_sharding) {
  constexpr mesh cube{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  constexpr std::uint8_t none = reshard_step::none;
  const char* const names[] = {"slice",          "make_partial", "all_gather", "all_to_all",
                               "reduce_scatter", "all_reduce",   "permute",    "exchange"};
  reshard_plan plan;
  std::string lines;
  for (std::uint32_t k = 0; k < 256; ++k) {
    reshard_step one;
    one.done = static_cast<step>(k % 8);
    one.reduced = k / 8 % 8;
    one.axis = k / 64 % 4 < 3 ? static_cast<std::uint8_t>(k / 64 % 4) : none;
    one.from = k % 3 < 2 ? static_cast<std::uint8_t>(k % 3) : none;
    one.to = k % 5 < 3 ? static_cast<std::uint8_t>(k % 5) : none;
    one.kind = k % 7 == 0 ? pending_reduction::none : k % 2 == 0 ? pending_reduction::sum : pending_reduction::max;
    one.bytes = k * k;
    one.after = k % 2 == 0 ? cube.layout("a+c", "") : cube.layout("", "b").partial("c");
    std::string axes;
    for (std::size_t a = 0; a < 3; ++a)
      if (a == one.axis || (one.reduced >> a & 1U) != 0) axes += (axes.empty() ? ' ' : '+'), axes += "abc"[a];
    const std::string line = names[k % 8] + axes +
                             (k % 7 == 0   ? ""
                              : k % 2 == 0 ? " sum"
                                           : " max") +
                             (one.from == none ? "" : " from " + std::to_string(k % 3)) +
                             (one.to == none ? "" : " to ") + (one.to == none ? "" : std::to_string(k % 5)) + ", " +
                             std::to_string(k * k) + " bytes -> " +
                             (k % 2 == 0 ? "(a+c, )" : "(, b) partial sum over c");
    BOOST_TEST(std::string((text() << "" << one).c_str()) == line);
    if (k % 32 != 0) continue;
    plan.steps.push_back(one);
    lines += line + '\n';
  }
  BOOST_TEST(std::string((text() << "" << plan).c_str()) == lines);
  std::ostringstream stream;
  stream << plan;
  BOOST_TEST(stream.str() == lines);
}

BOOST_AUTO_TEST_CASE(a_value_becomes_partial_along_one_axis_after_another_in_the_time_of_a_step) {
  mesh_links links;
  links.step = 0.25;
  const auto kind = pending_reduction::max;
  const auto plan =
      plan_reshard(m, m.layout("", ""), m.layout("", "").partial("data", kind).partial("model", kind), {8, 8}, links);
  BOOST_TEST_REQUIRE(plan.size() == 2U);
  for (std::size_t a = 0; a < 2; ++a) {
    BOOST_TEST((plan[a].done == step::make_partial && plan[a].kind == kind));
    BOOST_TEST(std::size_t{plan[a].axis} == a);
    BOOST_TEST((plan[a].bytes == 0 && plan[a].messages == 0 && plan[a].rounds == 0));
    BOOST_TEST(plan[a].seconds == 0.25);
  }
  BOOST_TEST((plan[0].after == m.layout("", "").partial("data", kind)));
}

BOOST_AUTO_TEST_CASE(reductions_that_do_not_commute_are_refused_on_either_side) {
  const sharding plain = m.layout(""),
                 mixed = m.layout("").partial("data", pending_reduction::max).partial("model", pending_reduction::sum);
  for (const bool target : {false, true})
    BOOST_TEST(
        test::refused<partition_error>([&] { plan_reshard(m, target ? plain : mixed, target ? mixed : plain, {8}); }) ==
        std::string("partita::plan_reshard: requires pending reductions that commute, but the ") +
            (target ? "target" : "source") + " has max and sum; finish one of them before the other becomes pending");
}

BOOST_AUTO_TEST_CASE(axes_without_a_link_of_their_own_have_the_usual_one) {
  const mesh_links links{{3, 0.5}, {2, 0.25}};
  const mesh_link usual{1e-6, 1e-10};
  BOOST_TEST((links.along[0] == mesh_link{3, 0.5} && links.along[1] == mesh_link{2, 0.25}));
  for (std::size_t a = 2; a < most_axes; ++a) BOOST_TEST((links.along[a] == usual));
  const mesh_links all_usual;
  for (const mesh_link& one : all_usual.along) BOOST_TEST((one == usual));
  BOOST_TEST((links.step == 1e-9 && all_usual.step == 1e-9));
}

BOOST_AUTO_TEST_SUITE_END()
