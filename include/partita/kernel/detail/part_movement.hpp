// The two movements that all_gather and reduce_scatter are built on: from parts of a tensor to the whole, and back.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/element.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/described.hpp>
#include <partita/kernel/detail/evicted_plans.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/detail/wholes_by_node.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/plan/block_group.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// Which decompositions a movement accepts: any that tiles the tensor, or only the balanced one.
enum class known_cuts { any, balanced };

/// Each worker of a group holds a part of a tensor. `gather` gives the whole to all of them; `scatter` takes a whole
/// from each and leaves each worker its part of their sum. Both share one cache of plans, one for each decomposition
/// seen.
template <class Extents>
class part_movement {
 public:
  static constexpr std::size_t rank = partition<Extents>::rank();
  using shape_type = std::array<std::size_t, rank>;

  part_movement(const partition<Extents>& p, const std::array<bool, rank>& kept, const char* name, known_cuts cuts)
      : p_(p), group_(block_group_of(p.grid(), kept, p.world().id())), name_(name), cuts_(cuts) {
    fingerprint_ = mixed(p.grid().fingerprint(), cuts == known_cuts::any ? 128 : 129);
    for (bool k : kept) fingerprint_ = mixed(fingerprint_, k ? 1 : 0);
  }

  const std::vector<std::size_t>& members() const { return group_.members; }
  std::size_t structures_made() const { return structures_.made(); }
  kernel_counts counts() const {
    const carried last = last_ ? last_->counts() : carried{};
    return {structures_.made(), last.messages, last.bytes_by_message, last.bytes_shared};
  }
  /// The exchange in this worker's group, for the balanced parts of a tensor of these extents.
  exchange_plan<rank> plan_wholes(const shape_type& whole) const {
    return partita::plan_wholes(group_, group_.active() ? balanced_parts(whole, group_.shape) : parted_tensor<rank>{},
                                p_.world().id());
  }
  /// Leaves the exchange that start has begun pending until the next agreement.
  void leave_under_way() const { state().leave_under_way(operation_, last_ && last_->passes_on()); }
  /// Runs f() as one call of all workers.
  template <class F>
  decltype(auto) one_call(F f) const {
    const one_thread only(state().caller(), [&] { return call(); });
    return partita::detail::one_call(state(), f);
  }
  kernel_identity identity() const { return {&state(), mixed(fingerprint_, ways_ ? ways_->number() : 0)}; }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }

  /// Starts a gather: every worker passes its part and gets the whole. A worker outside the partition gets a copy of
  /// its own input.
  template <class T>
  pending<pooled_tensor<T, rank>> gather(const strided<const T, rank>& x, const target<T, rank>& wanted,
                                         const char* direction, const complaint& before) {
    operation().wait();
    const auto kind = element_kind::moved<T>();
    speculative_exchange ahead(x.data, x.strides.data(), structures_, &structure::gathering, kind);
    const bool gives_ahead = ways_ && ways_->members().is_one_of_many();
    structure& s =
        agreed_structure(
            state(), structures_,
            {fingerprint_of<T>(1), unless_apart(before, x, wanted, call().c_str()), true,
             gives_ahead ? &ahead : nullptr, true},
            [&](const structure& known) {
              return !group_.active()
                         ? fits(wanted, x.shape)
                         : known.there.source_shape == x.shape && fits(wanted, known.there.destination_shape);
            },
            [&](complaint& trouble) {
              open_ways();
              const auto shapes = shapes_of_group(x.shape);
              parted_tensor<rank> tensor = group_.active() ? joined(shapes, group_.shape) : parted_tensor<rank>{};
              if (!tensor.problem.empty()) complain(trouble, direction) << tensor.problem;
              else if (group_.active() && cuts_ == known_cuts::balanced && !tensor.balanced(group_.shape))
                complain(trouble, direction)
                    << "requires blocks cut as the result of the forward call was (the balanced cut of " << tensor.whole
                    << " over " << group_.shape << "), got a block of " << x.shape;
              else expect_shape(wanted, group_.active() ? tensor.whole : x.shape, name_, trouble);
              return trouble.any() ? structure{} : learnt(tensor);
            },
            [&] { return describe<T>(direction, x.shape); });
    ahead.agreed_on(s);
    return move(s, s.there, s.gathering, kind, x, wanted, [] {});
  }

  /// Starts a scatter: every worker passes a whole and gets its part of the sum, which is added up in the order of the
  /// members. `fill()` is called after all workers have agreed, and must have written the elements of x when it
  /// returns; if there is nothing to fill, x must be complete before the call.
  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> scatter(const strided<const T, rank>& x, const target<T, rank>& wanted,
                                          const char* direction, const complaint& before, Fill fill) {
    operation().wait();
    const auto kind = element_kind::summed<T>();
    speculative_exchange ahead(x.data, x.strides.data(), structures_, &structure::scattering, kind);
    const bool gives_ahead = std::is_empty_v<Fill> && ways_ && ways_->members().is_one_of_many();
    structure& s = agreed_structure(
        state(), structures_,
        {fingerprint_of<T>(2), unless_apart(before, x, wanted, call().c_str()), false, gives_ahead ? &ahead : nullptr,
         true},
        [&](const structure& known) {
          return !group_.active() ? fits(wanted, x.shape)
                                  : known.back.source_shape == x.shape && fits(wanted, known.back.destination_shape);
        },
        [&](complaint& trouble) {
          open_ways();
          const auto shapes = shapes_of_group(x.shape);
          for (std::size_t k = 0; k < shapes.size() && !trouble.any(); ++k)
            if (shapes[k] != shapes[0])
              complain(trouble, direction)
                  << "requires the blocks that are summed to have one shape, got " << shapes[0] << " on worker "
                  << group_.members[0] << " and " << shapes[k] << " on worker " << group_.members[k]
                  << "; give every worker of a sum a block of the same shape";
          if (!trouble.any() && group_.active() && forgotten_->know(x.shape))
            trouble = complaint(evicted_plans::objection((call() << direction).c_str()));
          structure fresh = group_.active() ? learnt(balanced_parts(x.shape, group_.shape)) : learnt({});
          if (!trouble.any())
            expect_shape(wanted, group_.active() ? fresh.back.destination_shape : x.shape, name_, trouble);
          return fresh;
        },
        [&] { return describe<T>(direction, x.shape); });
    ahead.agreed_on(s);
    return move(s, s.back, s.scattering, kind, x, wanted, fill);
  }

 private:
  struct structure {
    exchange_plan<rank> there, back;  ///< parts to wholes, and wholes to sums of parts
    parted_tensor<rank> tensor{};
    exchanges_by_kind gathering{}, scattering{};
    bool follows = true;  ///< the parts are balanced
    std::shared_ptr<evicted_plans> forgotten{};

    /// Called when this plan is evicted from the cache.
    void forget() const {
      if (forgotten && there.gives) forgotten->note(there.extents, follows);
    }
  };

  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> move(const structure& s, const exchange_plan<rank>& plan,
                                       exchanges_by_kind& exchanges, const element_kind& kind,
                                       const strided<const T, rank>& x, const target<T, rank>& wanted, Fill fill) {
    const shape_type& shape = group_.active() ? plan.destination_shape : x.shape;
    pooled_tensor<T, rank> y;
    strided<T, rank> to = wanted.block;
    if (!wanted.given || volume_of(shape) == 0) {
      y = make_pooled<T, rank>(ways_->memory(), shape);
      to = block_of(y);
    }
    if (!group_.active()) {
      fill();
      copy(to, x);
      return {std::move(y), nullptr, 0};
    }
    last_ = exchanges.find(kind, [&] { return exchange(s, plan, kind); });
    const std::uint64_t number = operation().begin(last_, x.data, x.strides.data(), to.data, to.strides.data(), fill);
    return {std::move(y), operation_, number};
  }
  /// Between nodes the exchange takes two steps, so that no part (no sum of a node) travels more than once between two
  /// nodes.
  std::shared_ptr<box_exchange> exchange(const structure& s, const exchange_plan<rank>& plan,
                                         const element_kind& kind) const {
    const auto make = [&](const exchange_plan<rank>& one) {
      return lasting_exchange(ways_, p_.world().state(), lowered(one), kind);
    };
    if constexpr (rank > 0)
      if (!s.tensor.parts.empty()) {
        const members_by_node nodes(nodes_of_members());
        const std::size_t me = p_.world().id();
        const auto steps = plan.accumulate ? plan_sums_by_node(group_, s.tensor, nodes, me)
                                           : plan_wholes_by_node(group_, s.tensor, nodes, me);
        auto both = make(steps.first);
        both->then(ways_->exchange(lowered(steps.second), kind));
        return both;
      }
    return make(plan);
  }
  std::vector<std::size_t> nodes_of_members() const {
    std::vector<std::size_t> nodes(group_.members.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] = ways_->members().node_of(group_.members[k]);
    return nodes;
  }
  /// Whether this worker's group spans several nodes, and at least one of them has two of its members.
  bool on_several_nodes() const {
    if (!ways_->members().is_one_of_many()) return false;
    const members_by_node nodes(nodes_of_members());
    return nodes.nodes() > 1 && nodes.nodes() < group_.members.size();
  }
  template <class T>
  static bool fits(const target<T, rank>& wanted, const shape_type& shape) {
    return !wanted.given || volume_of(shape) == 0 || wanted.block.shape == shape;
  }

  /// The shapes of the group's blocks. Collective over the world.
  std::vector<shape_type> shapes_of_group(const shape_type& mine) const {
    const auto all = gathered(state(), facts_of(mine));
    std::vector<shape_type> shapes(group_.members.size());
    for (std::size_t k = 0; k < shapes.size(); ++k)
      for (std::size_t d = 0; d < rank; ++d) shapes[k][d] = all[group_.members[k]][d];
    return shapes;
  }

  /// Opens the transport with the first plan. Collective over the world, including workers that will report an error.
  void open_ways() {
    if (!ways_) ways_ = std::make_shared<transport>(state().communicator());
  }

  structure learnt(const parted_tensor<rank>& tensor) const {
    structure s;
    s.there = partita::plan_wholes(group_, tensor, p_.world().id());
    s.back = reversed(s.there);
    if (rank > 0 && on_several_nodes()) s.tensor = tensor;
    s.follows = !group_.active() || tensor.balanced(group_.shape);
    s.forgotten = forgotten_;
    return s;
  }

  text call() const { return text(name_) << "(p, dimensions)"; }
  text& complain(complaint& trouble, const char* direction) const {
    trouble.kind = failure::shape;
    return trouble.sentence << name_ << "(p, dimensions)" << direction << " with p = " << p_.grid().shape() << ": ";
  }
  /// The fingerprint of a call. Once the transport is open it includes the transport's number, because identically
  /// constructed kernels still send separate messages.
  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return mixed(mixed(fingerprint_, type_number<T>()), direction + 16 * (ways_ ? ways_->number() : 0));
  }
  template <class T>
  text describe(const char* direction, const shape_type& shape) const {
    return text() << name_ << "(p, dimensions)" << direction << " with p = " << p_.grid().shape() << " on "
                  << named(p_.workers()) << " and a block of shape " << shape << " of " << type_name<T>();
  }
  world_state& state() const { return *p_.world().state(); }
  exchange_operation& operation() const {
    expect_not_moved_from(operation_ != nullptr, name_);
    return *operation_;
  }

  partition<Extents> p_;
  block_group<rank> group_;
  const char* name_;
  known_cuts cuts_;
  std::uint64_t fingerprint_;
  plan_cache<structure> structures_;
  std::shared_ptr<transport> ways_;
  std::shared_ptr<box_exchange> last_;
  std::shared_ptr<evicted_plans> forgotten_ = std::make_shared<evicted_plans>();
  std::shared_ptr<exchange_operation> operation_ = std::make_shared<exchange_operation>();
};

/// D... are dimensions of a partition of this rank, each listed once.
template <std::size_t Rank, std::size_t... D>
constexpr bool below = ((D < Rank) && ...);
template <std::size_t... D>
constexpr bool each_once() {
  constexpr std::size_t named[] = {D..., 0};
  for (std::size_t a = 0; a < sizeof...(D); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (named[a] == named[b]) return false;
  return true;
}

}  // namespace partita::detail
