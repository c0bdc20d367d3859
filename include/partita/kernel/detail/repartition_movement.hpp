// The movement of a repartition: agrees on a call, starts it in either direction for any element type, and caches plans
// between calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/repartition_planner.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

template <class Src, class Dst, class... Policies>
class repartition_movement {
  static constexpr std::size_t rank = Src::rank();
  using planner_type = repartition_planner<Src, Dst, Policies...>;
  using structure = repartition_structure<rank>;

 public:
  repartition_movement(const char* name, const partition<Src>& p_x, const partition<Dst>& p_y,
                       const Policies&... policies)
      : planner_(name, p_x, p_y, policies...) {}

  const planner_type& planner() const { return planner_; }
  std::size_t structures_made() const { return structures_.made(); }
  kernel_identity identity() const { return {&state(), mixed(planner_.fingerprint(), ways_ ? ways_->number() : 0)}; }
  arena* memory() const { return ways_ ? &ways_->memory() : nullptr; }
  kernel_counts counts() const {
    const carried last = last_ ? last_->counts() : carried{};
    return {structures_.made(), last.messages, last.bytes_by_message, last.bytes_shared};
  }
  /// What this worker's node sends to other nodes for a tensor of these extents.
  node_messages messages_between_nodes(const std::array<std::size_t, rank>& global, std::size_t element_bytes) const {
    const exchange_plan<rank> own = planner_.checked_plan(global);
    if (!ways_) return {};
    return ways_->between_nodes(own.worker, element_bytes, [&](std::size_t k) { return planner_.plan(global, k); });
  }

  /// Runs f() as one call of all workers.
  template <class F>
  decltype(auto) one_call(F f) const {
    const one_thread only(state().caller(), [&] { return text(planner_.name()); });
    return partita::detail::one_call(state(), f);
  }
  /// Collective: throws on all workers if one of them has an objection.
  void object(const text& objection) const {
    agree_if_checked(state(), mixed(planner_.fingerprint(), 3), complaint(objection),
                     [&] { return text(planner_.name()); });
  }

  /// Agrees and starts, from the decomposition of x to that of the result. `fill()` is called after all workers have
  /// agreed, and must have written the elements of x when it returns.
  template <class T, class Fill>
  auto forward(const strided<const T, rank>& x, const std::type_identity_t<target<T, rank>>& wanted,
               const complaint& before, Fill fill) {
    return begin<true>(x, wanted, before, fill);
  }
  /// The same in the opposite direction.
  template <class T, class Fill>
  auto backward(const strided<const T, rank>& dy, const std::type_identity_t<target<T, rank>>& wanted,
                const complaint& before, Fill fill) {
    return begin<false>(dy, wanted, before, fill);
  }
  /// Leaves the exchange that start has begun pending until the next agreement.
  void leave_under_way() { state().leave_under_way(operation_, last_ && last_->passes_on()); }

 private:
  using shape_type = std::array<std::size_t, rank>;

  template <bool Forward, class T, class Fill>
  pending<pooled_tensor<T, rank>> begin(const strided<const T, rank>& block, const target<T, rank>& wanted,
                                        const complaint& before, Fill fill) {
    constexpr const char* direction = Forward ? "" : ".adjoint";
    state();
    operation_->wait();
    const auto kind = element_kind::moved<T>();
    speculative_exchange ahead(block.data, block.strides.data(), structures_,
                               Forward ? &structure::going : &structure::coming, kind);
    const bool gives_ahead = std::is_empty_v<Fill> && ways_ && ways_->members().is_one_of_many();
    structure& s = agreed_structure(
        state(), structures_,
        {fingerprint_of<T>(Forward ? 1 : 2), unless_apart(before, block, wanted, planner_.name()), true,
         gives_ahead ? &ahead : nullptr, true},
        [&](const structure& known) { return fits(known.template plan<Forward>(), block, wanted); },
        [&](complaint& trouble) {
          structure learnt = Forward ? planner_.learn_forward(block.shape, ways_, trouble)
                                     : planner_.learn_backward(block.shape, ways_, trouble);
          expect_target(learnt.template plan<Forward>(), block, wanted, planner_.name(), direction, trouble);
          return learnt;
        },
        [&] { return planner_.describe(direction, block.shape, type_name<T>()); });
    ahead.agreed_on(s);
    return move<Forward>(s, block, wanted, fill);
  }

  /// Starts to move the boxes. A worker that receives none gets zero volume; a worker in neither partition gets a copy.
  template <bool Forward, class T, class Fill>
  pending<pooled_tensor<T, rank>> move(structure& s, const strided<const T, rank>& x, const target<T, rank>& wanted,
                                       Fill fill) {
    const exchange_plan<rank>& plan = s.template plan<Forward>();
    using result = pooled_tensor<T, rank>;
    strided<T, rank> to = wanted.block;
    if (!plan.takes && plan.gives) {
      result none(
          zero_volume<T, rank>(has_policy<discard_batch_t, Policies...> || rank == 0 ? 0 : x.shape[plan.axes[0]]));
      return carry<Forward>(s, x, strided<T, rank>{}, std::move(none), fill);
    }
    const shape_type shape = plan.takes ? plan.destination_shape : x.shape;
    result y;
    if (!wanted.given || volume_of(shape) == 0) {
      y = make_pooled<T, rank>(ways_->memory(), shape);
      to = block_of(y);
    }
    if (plan.takes) return carry<Forward>(s, x, to, std::move(y), fill);
    fill();
    copy(to, x);
    return {std::move(y), nullptr, 0};
  }

  template <bool Forward, class T, class Fill>
  pending<pooled_tensor<T, rank>> carry(structure& s, const strided<const T, rank>& x, const strided<T, rank>& to,
                                        pooled_tensor<T, rank>&& y, Fill fill) {
    const auto kind = element_kind::moved<T>();
    last_ = (Forward ? s.going : s.coming).find(kind, [&] { return exchange(s, Forward, kind); });
    const auto strides = in_source_order(to.strides, s.template plan<Forward>().axes);
    const std::uint64_t number = operation_->begin(last_, x.data, x.strides.data(), to.data, strides.data(), fill);
    return {std::move(y), operation_, number};
  }

  std::shared_ptr<box_exchange> exchange(const structure& s, bool forward, const element_kind& kind) const {
    std::vector<lowered_plan> of_node;
    for (const std::size_t worker : ways_->whose_plans()) {
      const exchange_plan<rank> there = planner_.plan_of(s, worker);
      of_node.push_back(lowered(forward ? there : reversed(there)));
    }
    return lasting_exchange(ways_, planner_.p_x().world().state(), lowered(forward ? s.there : s.back), kind,
                            std::move(of_node));
  }

  /// The fingerprint of a call. Once the transport is open it includes the transport's number, because identically
  /// constructed kernels still send separate messages.
  template <class T>
  std::uint64_t fingerprint_of(std::uint64_t direction) const {
    return mixed(mixed(planner_.fingerprint(), type_number<T>()), direction + 16 * (ways_ ? ways_->number() : 0));
  }
  world_state& state() const {
    expect_not_moved_from(operation_ != nullptr, "partita::repartition");
    return *planner_.p_x().world().state();
  }

  planner_type planner_;
  plan_cache<structure> structures_;
  std::shared_ptr<transport> ways_;  // opened with the first plan, by all workers together
  std::shared_ptr<box_exchange> last_;
  std::shared_ptr<exchange_operation> operation_ = std::make_shared<exchange_operation>();
};

}  // namespace partita::detail
