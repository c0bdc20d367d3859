// The documented order of every sum, checked bit for bit: along the binomial tree of the group, node by node; in
// reduce_scatter in the order of the group's members, also node by node.
#include "mpi_test.hpp"
#include "pretended.hpp"

#include <algorithm>
#include <cmath>
#include <partita/array/as_rank_of_memory.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;
using list = std::vector<std::size_t>;

constexpr std::size_t sizes[] = {3, 2100, 40000};  // one slot, slices, several chunks

/// Element i of a worker: 10^16 and ones, whose sum depends on the order, or numbers of all magnitudes.
double at(std::size_t worker, std::size_t i) {
  if (i % 3 == 0) return worker % 3 == 0 ? 1e16 : 1;
  if (i % 3 == 1) return worker % 4 == 1 ? -1e16 : worker % 4 == 3 ? 1e16 : 1 + static_cast<double>(worker);
  const std::size_t mixed = (i * 2654435761U + worker * 40503U) % 100003;
  return std::ldexp(static_cast<double>(mixed) / 1009 - 49, static_cast<int>(mixed % 61) - 30);
}

vector block(std::size_t n, std::size_t worker) {
  vector x(std::array<std::size_t, 1>{n});
  for (std::size_t i = 0; i < n; ++i) x(i) = at(worker, i);
  return x;
}

/// The sum over a binomial tree: each position adds to its own value the sums of its children, the smallest subtree
/// first. The children of position p are p + 1, p + 2, p + 4, … while the step is smaller than p's lowest set bit.
template <class Own>
double along_tree(std::size_t position, std::size_t size, bool gives, Own own) {
  bool any = gives;
  double sum = gives ? own(position) : 0;
  for (std::size_t step = 1; position + step < size && (position == 0 || (position & step) == 0); step *= 2) {
    if (position != 0 && step > (position & ~(position - 1))) break;
    const double below = along_tree(position + step, size, true, own);
    sum = any ? sum + below : below;
    any = true;
  }
  return sum;
}

/// The sum over the members of a group, whose first member is the root. Members are assigned to the nodes in turn.
/// First each node sums along its tree, then the nodes along theirs, in the order of their first members.
double sum_of_group(const list& members, bool root_gives, std::size_t nodes, std::size_t i) {
  std::vector<list> of_node;
  for (const std::size_t w : members) {
    const auto same = [&](const list& node) { return node[0] % nodes == w % nodes; };
    const auto node = std::find_if(of_node.begin(), of_node.end(), same);
    if (node == of_node.end()) of_node.push_back({w});
    else node->push_back(w);
  }
  const auto within = [&](std::size_t node) {
    const list& all = of_node[node];
    return along_tree(0, all.size(), node != 0 || root_gives, [&](std::size_t k) { return at(all[k], i); });
  };
  const bool first_gives = root_gives || of_node[0].size() > 1;
  return along_tree(0, of_node.size(), first_gives, within);
}

template <class Y>
void expect_sum(const Y& y, const list& members, bool root_gives, std::size_t nodes, const std::string& what) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    wrong += y.data()[i] == sum_of_group(members, root_gives, nodes, i) ? 0 : 1;
  BOOST_TEST(wrong == 0U, what << " of " << y.size() << " elements on " << nodes << " nodes: " << wrong
                               << " are not added up in the order that is documented");
}

void expect_trees(std::size_t nodes) {
  const test::pretended pretended("PARTITA_NODES", std::to_string(nodes).c_str());
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  list forwards, backwards, others;
  for (std::size_t w = 0; w < P; ++w) forwards.push_back(w), backwards.push_back(P - 1 - w);
  for (std::size_t w = 1; w < P; ++w) others.push_back(w);
  const auto all = everyone.partition(extents(P)), turned = everyone.partition(extents(P), workers(backwards));
  const auto root = everyone.partition<1>();
  list root_last = {0};  // the root first, then the other workers in the order of their partition
  for (std::size_t w : backwards)
    if (w != 0) root_last.push_back(w);
  for (const std::size_t n : sizes) {
    const vector x = block(n, me);
    const auto in_root = [&](const auto& y, const list& members, bool gives, const char* what) {
      if (root.active()) expect_sum(y, members, gives, nodes, what);
    };
    in_root(sum_reduce(all, root)(x), forwards, true, "sum_reduce");
    in_root(sum_reduce(turned, root)(x), root_last, true, "sum_reduce of workers in another order");
    in_root(broadcast(root, all).adjoint(x), forwards, true, "broadcast.adjoint");
    sum_reduce later(all, root);
    in_root(later.start(x).finish(), forwards, true, "sum_reduce by start");
    if (P > 1) {
      const auto rest = everyone.partition(extents(P - 1), workers(others));
      in_root(sum_reduce(rest, root)(x), forwards, false, "sum_reduce into a worker that gives nothing");
    }
    expect_sum(all_sum_reduce(all, dimensions<0>)(x), forwards, true, nodes, "all_sum_reduce");
    expect_sum(all_sum_reduce(turned, dimensions<0>)(x), backwards, true, nodes, "all_sum_reduce, turned");
    const all_sum_reduce a(all, dimensions<0>);
    expect_sum(a.start(x).finish(), forwards, true, nodes, "all_sum_reduce by start");
  }
}

/// The sum over the members in order: first within each node, then over the nodes in the order of their first members.
double sum_in_order(const list& members, std::size_t nodes, std::size_t i) {
  list seen;
  double all = 0;
  for (const std::size_t w : members) {
    if (std::find(seen.begin(), seen.end(), w % nodes) != seen.end()) continue;
    double sum = 0;
    bool any = false;
    for (const std::size_t mate : members) {
      if (mate % nodes != w % nodes) continue;
      sum = any ? sum + at(mate, i) : at(mate, i);
      any = true;
    }
    all = seen.empty() ? sum : all + sum;
    seen.push_back(w % nodes);
  }
  return all;
}

void expect_member_order(std::size_t nodes, const char* shared) {
  const test::pretended apart("PARTITA_NODES", std::to_string(nodes).c_str()), memory("PARTITA_SHARED", shared);
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  list forwards, backwards;
  for (std::size_t w = 0; w < P; ++w) forwards.push_back(w), backwards.push_back(P - 1 - w);
  for (const list& order : {forwards, backwards}) {
    const auto p = everyone.partition(extents(P), workers(order));
    const reduce_scatter r(p, dimensions<0>);
    const all_gather g(p, dimensions<0>);
    for (const std::size_t n : sizes) {
      const vector x = block(n, me);
      const interval part = balanced_part(n, P, p.index()[0]);
      const auto expect = [&](const auto& y, const char* what) {
        std::size_t wrong = y.size() == part.size() ? 0 : 1;
        for (std::size_t k = 0; k < y.size(); ++k) {
          wrong += y.data()[k] == sum_in_order(order, nodes, part.start + k) ? 0 : 1;
        }
        BOOST_TEST(wrong == 0U, what << ": " << wrong << " of " << y.size() << " are not in the order of the members");
      };
      expect(r(x), "reduce_scatter");
      expect(r.start(x).finish(), "reduce_scatter by start");
      g(block(part.size(), me));
      expect(g.adjoint(x), "all_gather.adjoint");
      expect(g.start_adjoint(x).finish(), "all_gather.adjoint by start");
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(order_of_summation)

BOOST_AUTO_TEST_CASE(sums_go_up_the_binomial_tree_of_their_group) { expect_trees(1); }

BOOST_AUTO_TEST_CASE(sums_between_nodes_go_up_the_tree_of_each_node_first) {
  expect_trees(2);
  expect_trees(3);
}

BOOST_AUTO_TEST_CASE(sums_that_are_scattered_are_in_the_order_of_the_members) {
  expect_member_order(1, "1");
  expect_member_order(1, "0");
}

BOOST_AUTO_TEST_CASE(sums_that_are_scattered_between_nodes_are_in_the_order_of_the_members_node_by_node) {
  expect_member_order(2, "1");
  expect_member_order(2, "0");
  expect_member_order(3, "1");
}

BOOST_AUTO_TEST_CASE(no_chunk_of_a_long_sum_is_written_over_before_all_members_have_read_it) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), n = 2'000'000;  // 8 MB in chunks of 256 kB: members leave the cache, and wait
  const all_sum_reduce s(everyone.partition(extents(P)), dimensions<0>);
  const auto number = [](std::size_t worker, std::size_t i) {
    return static_cast<float>((i / 1000 + 3 * worker) % 4096);
  };
  std::vector<float> x(n);  // not in shared memory: it is copied chunk by chunk
  for (std::size_t i = 0; i < n; ++i) x[i] = number(everyone.id(), i);
  const auto y = s(as_rank<1>(x));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; i += 7) {
    float sum = 0;
    for (std::size_t w = 0; w < P; ++w) sum += number(w, i);
    wrong += y.data()[i] == sum ? 0 : 1;
  }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
