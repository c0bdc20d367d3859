// How the members of each group of a movement reach each other: through memory inside a node, by messages between
// nodes.
//
// A group falls into one subgroup for each node and the group of their first members. Where all live on one node only
// the first is left, where all live on different ones only the second: three strategies, one interface, chosen when a
// movement is first used, by all workers together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <partita/comm/detail/message/element_messages.hpp>
#include <partita/comm/detail/message/exact_collection.hpp>
#include <partita/comm/detail/node/node_group.hpp>
#include <partita/comm/detail/trace.hpp>
#include <partita/comm/shared_view.hpp>
#include <partita/comm/transport.hpp>
#include <partita/comm/tree.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/members_by_node.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// How a block of `n` elements is spread, or blocks of them summed, in one group: x is what this worker gives (nullptr:
/// nothing), y where it gets a result, if it does.
struct group_blocks {
  const char* x;
  char* y;
  std::size_t n;
};

/// One worker's way to the others of one group.
struct group_way {
  const worker_group* all = nullptr;
  worker_group within;  ///< the members on this worker's node, its leader first
  worker_group across;  ///< the leaders of all nodes, the root first; of this worker only if it is a leader
  std::unique_ptr<node_group> shared;  ///< how the members within reach each other, if there is memory for it
  bool leads = true;
  bool on_one_node = true;  ///< all members are within
  tag ahead = tag::block;   ///< of the messages of what is under way, which others' may overtake
  departures sent;
  std::vector<const char*> blocks;  ///< where those of the members are, while they are combined
  exact_collection exact;           ///< of sums that are rounded once, between nodes

  /// Copies the root's elements x to y on every member (at the root: nullptr, or where it keeps a copy). `started`: the
  /// root has begun with start_spread.
  template <class = void>
  void spread(const element_messages& by_message, group_blocks b, bool started = false) {
    const bool root = is_root();
    if (leads && across.members.size() > 1) {
      if (!(root && started))
        by_message.spread(across, root ? const_cast<char*>(b.x) : b.y, b.n);  // the root only reads
      if (!root) b.x = b.y;
    }
    if (within.members.size() > 1) {
      const bool tries = shared && by_message.of().in_shared_memory;
      if (tries && (root && started ? shared->finish_spread(by_message.bytes(b.n))
                                    : shared->spread(b.x, b.y, by_message.bytes(b.n)))) {
        by_message.through_shared_memory(b.n);
        return sent.wait();
      }
      if (tries || !(root && started)) by_message.spread(within, leads ? const_cast<char*>(b.x) : b.y, b.n);
    }
    sent.wait();
    if (leads && b.y != nullptr && b.y != b.x) by_message.of().copy_row(b.y, b.x, b.n);
  }
  /// The root's part of that, left under way: waits for nobody, and x stays as it is till spread.
  template <class = void>
  void start_spread(const element_messages& by_message, const group_blocks& b) {
    if (!is_root()) return;
    if (across.members.size() > 1) by_message.spread_ahead(sent, across, b.x, b.n);
    if (within.members.size() <= 1) return;
    if (shared && by_message.of().in_shared_memory) shared->start_spread(b.x, b.y, by_message.bytes(b.n));
    else by_message.spread_ahead(sent, within, b.x, b.n);
  }

  /// One block for each node (or worker, where there is no shared memory) with the root's n elements x; every member
  /// but a root that is not `root_views` gets a view of it.
  template <class = void>
  lent_header* share(const element_messages& by_message, arena& memory, const char* x, std::size_t n, bool root_views) {
    const bool root = is_root(), apart = !shared;
    const std::size_t members = within.members.size(), bytes = by_message.bytes(n);
    lent_header* block = nullptr;
    const auto views = static_cast<std::uint32_t>((apart ? 1 : members) - (root && !root_views ? 1 : 0));
    if ((leads || apart) && views != 0) block = lent_blocks::lend(memory, bytes, views);
    char* const y = block == nullptr ? nullptr : lent_blocks::elements(block);
    if (root && views != 0)
      by_message.of().copy_row(y, x, n, shared && shared->far() ? stores::streaming : stores::by_size);
    if (leads && across.members.size() > 1)
      by_message.spread(across, root ? const_cast<char*>(x) : y, n);  // the root only reads
    if (members > 1) {
      if (apart) {
        by_message.spread(within, root ? const_cast<char*>(x) : y, n);
      } else if (void* const shown = shared->show(block)) {
        block = static_cast<lent_header*>(shown);
        by_message.through_shared_memory(n);
      } else {  // the leader's memory is at its end: everybody for himself
        if (leads) block->views.store(root && !root_views ? 0 : 1, std::memory_order_relaxed);
        else block = lent_blocks::lend(memory, bytes, 1);
        char* const own = lent_blocks::elements(block);
        by_message.spread(within, root ? const_cast<char*>(x) : own, n);
      }
    }
    return root && !root_views ? nullptr : block;
  }

  /// Begins a sum: shows the members on this node what this one gives, and waits for nobody. `y` is where the sum goes,
  /// if that is known (at the root, if `to_all` everywhere), or nullptr. Till the end x must stay as it is and the
  /// group makes no other call.
  template <class = void>
  void start_sum(const element_operation& how, const group_blocks& b, bool to_all) {
    if (sums_within(how)) shared->start(sum_within(how, b, to_all && on_one_node));
  }
  /// After that, for a sum that will be under way for a while: who only gives sends at once. Other messages wait for
  /// the end.
  template <class = void>
  void send_ahead(const element_messages& by_message, const element_operation& how, const group_blocks& b) {
    if (shared || how.exactly != nullptr) return;
    const worker_group& first = within.members.size() > 1 ? within : across;
    if (first.position == 0 || !binomial_tree{first.members.size()}.is_leaf(first.position)) return;
    by_message.send_ahead(sent, b.x, b.n, first.members[binomial_tree::above(first.position)]);
  }

  /// Ends a sum into `into()` at the root: a block of n elements, which other members are asked for only if they have
  /// to combine. `incoming(n)` gives a buffer for messages of n elements.
  template <class Into, class Incoming>
  void finish_sum(const element_messages& by_message, const element_operation& how, const char* x, std::size_t n,
                  Into into, Incoming incoming) {
    bool done = false;
    if (!on_one_node && how.between_nodes != nullptr)
      return finish_exact_sum(by_message, how, {x, nullptr, n}, into, incoming);
    if (sums_within(how)) done = shared->finish(sum_within(how, {x, leads ? into() : nullptr, n}, false));
    if (done) by_message.through_shared_memory(n);
    if (sent.any()) {
      sent.wait();
    } else if (how.exactly != nullptr) {
      // partial sums would be rounded on their way, so the blocks themselves go to the root
      if (!done) by_message.collect_blocks(*all, how, x, all->position == 0 ? into() : nullptr, n, blocks, incoming);
    } else {
      if (within.members.size() > 1) {
        if (!done) by_message.collect(within, how, x, into(), incoming(n), n);
        if (leads) x = into();
      }
      if (leads && across.members.size() > 1) by_message.collect(across, how, x, into(), incoming(n), n);
    }
  }

  /// Ends a sum that was begun `to_all`, into y on every member.
  template <class Incoming>
  void finish_sum_to_all(const element_messages& by_message, const element_operation& how, const group_blocks& b,
                         Incoming incoming) {
    if (on_one_node && sums_within(how)) {
      if (shared->finish(sum_within(how, b, true))) return by_message.through_shared_memory(b.n);
      start_sum(how, {b.x, leads ? b.y : nullptr, b.n}, false);
    }
    finish_sum(
        by_message, how, b.x, b.n, [&] { return b.y; }, incoming);
    spread(by_message, {all->position == 0 ? b.y : nullptr, b.y, b.n});
  }

 private:
  bool is_root() const { return leads && across.position == 0; }
  /// Whether the members on this node combine what they give among themselves.
  bool sums_within(const element_operation& how) const {
    return shared && how.of->in_shared_memory &&
           (on_one_node || how.exactly == nullptr || how.between_nodes != nullptr);
  }
  /// A sum that other nodes add to is not rounded yet: its terms need a place of their own.
  block_sum sum_within(const element_operation& how, const group_blocks& b, bool to_all) const {
    if (on_one_node || how.between_nodes == nullptr) return {b.x, b.y, b.n, &how, within.root_is_large, to_all};
    return {b.x, nullptr, b.n, &how.between_nodes->two_terms, within.root_is_large, false};
  }

  /// Ends a sum of several nodes that is rounded once: the members on a node make two terms of it through shared memory
  /// if those are all of it, else its leader gets their blocks.
  template <class Into, class Incoming>
  void finish_exact_sum(const element_messages& by_message, const element_operation& how, const group_blocks& b,
                        Into into, Incoming incoming) {
    exact_collection::of_node given{b.x};
    const std::size_t mates = within.members.size();
    given.blocks_are_sent = mates > 1;
    if (sums_within(how)) {
      char* const terms = leads ? incoming(2 * b.n) : nullptr;
      block_sum sum = sum_within(how, b, false);
      sum.y = terms;
      if (shared->finish(sum)) {
        char fits = leads && how.between_nodes->complete(terms + by_message.bytes(b.n), b.n) ? 1 : 0;
        shared->spread(leads ? &fits : nullptr, leads ? nullptr : &fits, 1);
        given.blocks_are_sent = fits == 0;
        if (fits != 0) given.terms = terms, by_message.through_shared_memory(b.n);
      }
    }
    if (leads)
      exact.collect(by_message, how, within, across, given, across.position == 0 ? into() : nullptr, b.n, incoming);
    else if (given.blocks_are_sent) exact_collection::send_block(by_message, b.x, b.n, within.members[0]);
  }
};

/// The ways of one worker, one for each group of its plan, and the memory in which results live. Collective to make.
class group_ways {
 public:
  template <class = void>
  group_ways(MPI_Comm everyone, group_plan plan)
      : plan_(std::move(plan)),
        members_(node::of(everyone)),
        ahead_(static_cast<tag>(node::of(everyone).next_tag())),
        memory_(arena::of(members_, transport_policy::from_environment().shared ? transport_policy{}.arena_bytes : 0)) {
    int id = 0;
    MPI_Comm_rank(everyone, &id);
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) pages_[k] = memory_.allocate_signals(sizeof(group_page));
    check(MPI_Barrier(members_.communicator()), "MPI_Barrier");  // what was here before has been read for the last time
    card mine;
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      std::memset(pages_[k], 0, sizeof(group_page));
      mine.group[k] = plan_.groups[k].number;
      if (memory_.holds(pages_[k])) mine.page[k] = memory_.offset(pages_[k]);
    }
    // only those of a node look at each other's pages, and who lives where was learnt with the world
    std::vector<card> cards(members_.size());
    check(MPI_Allgather(&mine, static_cast<int>(sizeof(card)), MPI_BYTE, cards.data(), static_cast<int>(sizeof(card)),
                        MPI_BYTE, members_.communicator()),
          "MPI_Allgather");
    for (const worker_group& g : plan_.groups) ways_.push_back(way_of(g, cards, static_cast<std::size_t>(id)));
  }
  group_ways(const group_ways&) = delete;
  group_ways& operator=(const group_ways&) = delete;
  ~group_ways() {
    for (void* own : pages_)
      if (own != nullptr) memory_.release_signals(own, sizeof(group_page));
  }

  arena& memory() { return memory_; }
  /// The same on all workers, and different from other group_ways and transports of the world.
  std::uint64_t number() const { return static_cast<std::uint64_t>(ahead_); }
  const group_plan& plan() const { return plan_; }
  /// What this worker has moved since it was last asked to count anew.
  traffic& moved() { return moved_; }
  void begins_to_move() { moved_ = {}; }
  /// What is begun now ends in another call.
  void ends_later() {
    if (trace::on()) traced_ = trace::current();
  }
  void has_moved(bool later) {
    if (!trace::on()) return;
    const std::size_t call = later ? traced_ : trace::current();
    trace::end_call(call, moved_.messages, moved_.bytes_by_message, moved_.bytes_shared);
  }
  /// Whether there is more to do than to move the blocks of groups: there is none, or it is traced.
  bool does_more() const { return does_more_; }
  /// The way of the k-th group of the plan.
  group_way& way(std::size_t k) { return ways_[k]; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct card {
    std::uint64_t group[2] = {none, none}, page[2] = {none, none};
  };

  template <class = void>
  group_way way_of(const worker_group& g, const std::vector<card>& cards, std::size_t id) {
    group_way way;
    way.all = &g;
    way.ahead = ahead_;
    std::vector<std::size_t> node(g.members.size()), places;
    for (std::size_t k = 0; k < node.size(); ++k) node[k] = members_.node_of(g.members[k]);
    const members_by_node nodes(node);
    const std::size_t here = nodes.node_of(g.position);
    const std::vector<std::size_t>& within = nodes.members(here);
    way.on_one_node = nodes.nodes() == 1;
    way.leads = within[0] == g.position;
    way.across.position = way.leads ? here : 0;
    way.across.members.reserve(nodes.nodes());
    for (std::size_t n = 0; n < nodes.nodes(); ++n) way.across.members.push_back(g.members[nodes.members(n)[0]]);
    way.within.root_is_large = within[0] != 0 || g.root_is_large;
    std::vector<group_page*> pages;
    bool shared = true;
    for (const std::size_t k : within) {
      const std::size_t member = g.members[k];
      if (member == id) way.within.position = way.within.members.size();
      way.within.members.push_back(member);
      places.push_back(members_.place_of(member));
      const card& shown = cards[places.back()];
      const std::uint64_t page_there = shown.page[shown.group[0] == g.number ? 0 : 1];
      shared = shared && page_there != none;
      if (shared) pages.push_back(reinterpret_cast<group_page*>(memory_.at(places.back(), page_there)));
    }
    way.within.number = way.across.number = g.number;
    if (shared && way.within.members.size() > 1)
      way.shared = std::make_unique<node_group>(memory_, std::move(places), std::move(pages), way.within.position,
                                                members_.oversubscribed());
    return way;
  }

  group_plan plan_;
  const node& members_;
  tag ahead_;
  arena& memory_;
  void* pages_[2] = {nullptr, nullptr};
  traffic moved_;
  bool does_more_ = plan_.groups.empty() || trace::on();
  std::size_t traced_ = ~std::size_t{0};  // which call of the trace is under way
  std::vector<group_way> ways_;
};

}  // namespace partita::detail
