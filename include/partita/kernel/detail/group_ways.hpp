// How the members of each group of a movement reach each other: through memory inside a node, by messages between nodes.
//
// A group falls into one subgroup for each node and the group of their first members. Where all live on one node only the
// first is left, where all live on different ones only the second: three strategies, one interface, chosen when a movement
// is first used, by all workers together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <partita/comm/lent_block.hpp>
#include <partita/comm/message.hpp>
#include <partita/comm/node_group.hpp>
#include <partita/comm/transport.hpp>
#include <partita/plan/group_plan.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// Whether blocks of T may be copied through shared memory.
template <class T>
inline constexpr bool shareable = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && sizeof(T) <= 64;

/// One worker's way to the others of one group.
struct group_way {
  const worker_group* all = nullptr;
  worker_group within;  ///< the members on this worker's node, its leader first
  worker_group across;  ///< the leaders of all nodes, the root first; of this worker only if it is a leader
  std::unique_ptr<node_group> shared;  ///< how the members within reach each other, if there is memory for it
  bool leads = true;
  bool on_one_node = true;  ///< all members are within
  tag ahead = tag::block;   ///< of the messages of sums that are under way, which others' may overtake
  departures sent;

  /// Copies the root's n elements at x to `y` on every member (at the root: nullptr, or where it keeps a copy).
  template <class T>
  void spread(const world_state& world, const T* x, T* y, std::size_t n) {
    const bool root = leads && across.position == 0;
    if (leads && across.members.size() > 1) {
      partita::detail::spread(world, across, root ? const_cast<T*>(x) : y, n, tag::block);  // the root only reads
      if (!root) x = y;
    }
    if (within.members.size() > 1) {
      if constexpr (shareable<T>)
        if (shared && shared->spread(reinterpret_cast<const char*>(x), reinterpret_cast<char*>(y), n * sizeof(T))) return;
      partita::detail::spread(world, within, leads ? const_cast<T*>(x) : y, n, tag::block);
    }
    if (leads && y != nullptr && y != x) {
      const std::ptrdiff_t unit = 1;
      copy_block<T>(y, &unit, x, &unit, &n, 1);
    }
  }

  /// One block for each node (or worker, where there is no shared memory) with the root's n elements x; every member but a
  /// root that is not `root_views` gets a view of it.
  template <class T>
  lent_header* share(const world_state& world, arena& memory, const T* x, std::size_t n, bool root_views) {
    const bool root = leads && across.position == 0, apart = !shared;
    const std::size_t members = within.members.size();
    lent_header* block = nullptr;
    const auto views = static_cast<std::uint32_t>((apart ? 1 : members) - (root && !root_views ? 1 : 0));
    if ((leads || apart) && views != 0) block = lent_blocks::lend(memory, n * sizeof(T), views);
    T* const y = block == nullptr ? nullptr : reinterpret_cast<T*>(lent_blocks::elements(block));
    if (root && views != 0) {
      const std::ptrdiff_t unit = 1;
      copy_block<T>(y, &unit, x, &unit, &n, 1, shared && shared->far() ? stores::streaming : stores::by_size);
    }
    if (leads && across.members.size() > 1)
      partita::detail::spread(world, across, root ? const_cast<T*>(x) : y, n, tag::block);  // the root only reads
    if (members > 1) {
      if (apart) {
        partita::detail::spread(world, within, root ? const_cast<T*>(x) : y, n, tag::block);
      } else if (void* const shown = shared->show(block)) {
        block = static_cast<lent_header*>(shown);
      } else {  // the leader's memory is at its end: everybody for himself
        if (leads)
          block->views.store(root && !root_views ? 0 : 1, std::memory_order_relaxed);
        else
          block = lent_blocks::lend(memory, n * sizeof(T), 1);
        T* const own = reinterpret_cast<T*>(lent_blocks::elements(block));
        partita::detail::spread(world, within, root ? const_cast<T*>(x) : own, n, tag::block);
      }
    }
    return root && !root_views ? nullptr : block;
  }

  /// Begins a sum: shows the members on this node what this one gives (nullptr: nothing), and waits for nobody. `y` is where the
  /// sum goes, if that is known (at the root, if `to_all` everywhere), or nullptr. Till the end x must stay as it is and the group
  /// makes no other call.
  template <class Sum, class T>
  void start_sum(const T* x, T* y, std::size_t n, bool to_all) {
    if constexpr (shareable<T>)
      if (sums_within<Sum>()) shared->start(sum_within(x, y, n, to_all && on_one_node));
  }
  /// After that, for a sum that will be under way for a while: who only gives sends at once. Other messages wait for the end.
  template <class Sum, class T>
  void send_ahead(const world_state& world, const T* x, std::size_t n) {
    if (shared || std::is_same_v<Sum, rounded_once>) return;
    const worker_group& first = within.members.size() > 1 ? within : across;
    if (first.position == 0 || !binomial_tree{first.members.size()}.is_leaf(first.position)) return;
    sent.send(world, x, n, first.members[binomial_tree::above(first.position)], ahead);
  }

  /// Ends a sum into `into()` at the root: a block of n elements, which other members are asked for only if they have to add
  /// up. `incoming(n)` gives a buffer for messages of n elements, which are `about` the sum.
  template <class Sum, class T, class Into, class Incoming>
  void finish_sum(const world_state& world, const T* x, std::size_t n, tag about, Into into, Incoming incoming) {
    bool done = false;
    if constexpr (shareable<T>)
      if (sums_within<Sum>()) done = shared->template finish<Sum>(sum_within(x, leads ? into() : nullptr, n, false));
    if (sent.any()) {
      sent.wait();
    } else if constexpr (std::is_same_v<Sum, rounded_once>) {
      // partial sums would be rounded on their way, so the blocks themselves go to the root
      if (!done) collect_blocks<Sum>(world, *all, x, all->position == 0 ? into() : nullptr, n, about, incoming);
    } else {
      const auto add = [](T& a, const T& b) { a += b; };
      if (within.members.size() > 1) {
        if (!done) partita::detail::collect(world, within, x, into(), incoming(n), n, about, add);
        if (leads) x = into();
      }
      if (leads && across.members.size() > 1) partita::detail::collect(world, across, x, into(), incoming(n), n, about, add);
    }
  }

  /// Ends a sum that was begun `to_all`, into `y` on every member.
  template <class Sum, class T, class Incoming>
  void finish_sum_to_all(const world_state& world, const T* x, T* y, std::size_t n, tag about, Incoming incoming) {
    if constexpr (shareable<T>)
      if (on_one_node && sums_within<Sum>()) {
        if (shared->template finish<Sum>(sum_within(x, y, n, true))) return;
        start_sum<Sum>(x, leads ? y : nullptr, n, false);
      }
    finish_sum<Sum>(world, x, n, about, [&] { return y; }, incoming);
    spread(world, all->position == 0 ? y : nullptr, y, n);
  }

 private:
  /// Whether the members on this node add up what they give among themselves.
  template <class Sum>
  bool sums_within() const { return shared && (on_one_node || !std::is_same_v<Sum, rounded_once>); }
  template <class T>
  block_sum<T> sum_within(const T* x, T* y, std::size_t n, bool to_all) const { return {x, y, n, within.root_is_large, to_all}; }
};

/// The ways of one worker, one for each group of its plan, and the memory in which results live. Collective to make.
class group_ways {
 public:
  group_ways(MPI_Comm everyone, group_plan plan)
      : plan_(std::move(plan)),
        members_(node::of(everyone)),
        ahead_(static_cast<tag>(node::of(everyone).next_tag())),
        memory_(arena::of(members_, transport_policy::from_environment().shared ? transport_policy{}.arena_bytes : 0)) {
    int size = 0, id = 0;
    MPI_Comm_size(everyone, &size);
    MPI_Comm_rank(everyone, &id);
    for (std::size_t k = 0; k < plan_.groups.size(); ++k)
      pages_[k] = memory_.allocate_signals(sizeof(group_page));
    check(MPI_Barrier(everyone), "MPI_Barrier");  // what was here before has been read for the last time
    card mine;
    mine.node = members_.worker(0);
    for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
      std::memset(pages_[k], 0, sizeof(group_page));
      mine.group[k] = plan_.groups[k].number;
      if (memory_.holds(pages_[k])) mine.page[k] = memory_.offset(pages_[k]);
    }
    std::vector<card> cards(static_cast<std::size_t>(size));
    check(MPI_Allgather(&mine, static_cast<int>(sizeof(card)), MPI_BYTE, cards.data(), static_cast<int>(sizeof(card)),
                        MPI_BYTE, everyone),
          "MPI_Allgather");
    for (const worker_group& g : plan_.groups) ways_.push_back(way_of(g, cards, static_cast<std::size_t>(id)));
  }
  group_ways(const group_ways&) = delete;
  group_ways& operator=(const group_ways&) = delete;
  ~group_ways() {
    for (void* page : pages_)
      if (page != nullptr) memory_.release_signals(page, sizeof(group_page));
  }

  arena& memory() { return memory_; }
  const group_plan& plan() const { return plan_; }
  /// The way of the k-th group of the plan.
  group_way& way(std::size_t k) { return ways_[k]; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct card {
    std::uint64_t node = 0;
    std::uint64_t group[2] = {none, none}, page[2] = {none, none};
  };

  group_way way_of(const worker_group& g, const std::vector<card>& cards, std::size_t id) {
    group_way way;
    way.all = &g;
    way.ahead = ahead_;
    std::vector<std::size_t> places;
    std::vector<group_page*> pages;
    bool shared = true;
    for (std::size_t k = 0; k < g.members.size(); ++k) {
      const std::size_t member = g.members[k];
      bool leads = true;
      for (std::size_t before = 0; before < k && leads; ++before)
        leads = cards[g.members[before]].node != cards[member].node;
      if (leads) {
        if (member == id) way.across.position = way.across.members.size();
        way.across.members.push_back(member);
      }
      if (cards[member].node != cards[id].node) {
        way.on_one_node = false;
        continue;
      }
      if (member == id) {
        way.leads = leads;
        way.within.position = way.within.members.size();
      }
      if (leads) way.within.root_is_large = k != 0 || g.root_is_large;
      way.within.members.push_back(member);
      const std::size_t which = cards[member].group[0] == g.number ? 0 : 1;
      const std::uint64_t page = cards[member].page[which];
      shared = shared && page != none;
      places.push_back(members_.place_of(member));
      if (shared) pages.push_back(reinterpret_cast<group_page*>(memory_.at(places.back(), page)));
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
  std::vector<group_way> ways_;
};

}  // namespace partita::detail
