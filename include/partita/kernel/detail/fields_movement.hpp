// Movements of several fields at once: one agreement, and one message between two workers, which carries the boxes of
// all fields.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/pooled.hpp>
#include <partita/comm/side_by_side.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/repartition_planner.hpp>
#include <partita/kernel/detail/target.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace partita::detail {

/// The number of a field as a type.
template <std::size_t F>
using field_number = std::integral_constant<std::size_t, F>;
template <std::size_t Fields, class F>
void for_each_field(F f) {  // calls f(field_number<k>()) for k = 0, ..., Fields - 1
  [&]<std::size_t... K>(std::index_sequence<K...>) { (f(field_number<K>()), ...); }(std::make_index_sequence<Fields>());
}

/// A planned movement whose exchanges move the blocks of several fields.
template <class Planner>
class fields_movement : public planned_movement<Planner> {
 public:
  using planned_movement<Planner>::planned_movement;

 protected:
  /// Starts to move all fields; x, `output` and the results have one entry for each field, in a tuple or an array.
  /// `plan(f)` is the plan of the field with the field_number f, `exchange()` returns the exchange that carries out all
  /// plans together, and `overlapped_work(y)` works on the blocks of the results while the exchange is pending.
  template <class T, class Results, class X, class Outputs, class Plan, class Exchange, class OverlappedWork>
  pending<Results> move_all_fields(const X& x, const Outputs& output, Plan plan, Exchange exchange,
                                   OverlappedWork overlapped_work) {
    return [&]<std::size_t... F>(std::index_sequence<F...>) {
      Results y;
      const std::tuple to{
          allocate_or_use_view<T>(plan(field_number<F>()), std::get<F>(x), std::get<F>(output), std::get<F>(y))...};
      if (!((plan(field_number<F>()).takes || plan(field_number<F>()).gives) || ...))
        return pending<Results>(std::move(y), nullptr, 0);
      const blocks_side_by_side from(std::get<F>(x)...);
      const blocks_side_by_side there(std::get<F>(to)...);
      const std::uint64_t operation_number = this->begin_exchange(exchange(), from.data, from.strides.data(),
                                                                  there.data, there.strides.data(), nothing_to_fill());
      overlapped_work(to);
      return pending<Results>(std::move(y), this->operation(), operation_number);
    }(std::make_index_sequence<std::tuple_size_v<X>>());
  }

 private:
  /// The memory for the result of a field: the caller's view, or a new tensor. A worker that is only among the senders
  /// of the plan gets a tensor of zero volume; a worker outside of the plan gets a copy of x.
  template <class T, std::size_t Rank>
  strided<T, Rank> allocate_or_use_view(const exchange_plan<Rank>& plan, const strided<const T, Rank>& x,
                                        const target<T, Rank>& output, pooled_tensor<T, Rank>& y) const {
    if (plan.takes && output.is_given) return output.block;
    const bool only_copies = !plan.takes && !plan.gives;
    y = make_pooled<T, Rank>(*this->memory(), only_copies ? x.shape : plan.destination_shape);
    if (only_copies) copy(block_of(y), x);
    return block_of(y);
  }
};

/// The plan of a repartition, and the exchanges by which the plan moves several fields at once.
template <std::size_t Rank>
struct fields_structure : repartition_structure<Rank> {
  /// For n fields: entry 2 n for the adjoint, entry 2 n + 1 for the forward direction.
  std::vector<exchanges_by_kind> exchanges_by_field_count{};

  /// The exchanges of `fields` fields in one direction.
  exchanges_by_kind& exchanges_for_fields(std::size_t fields, bool forward) {
    const std::size_t k = 2 * fields + (forward ? 1 : 0);
    if (k >= exchanges_by_field_count.size()) exchanges_by_field_count.resize(k + 1);
    return exchanges_by_field_count[k];
  }
};

/// The planner of a repartition of several fields: plans do not depend on the number of fields.
template <std::size_t Rank>
class fields_planner : public repartition_planner<Rank> {
 public:
  using structure = fields_structure<Rank>;  ///< a cached plan
  using repartition_planner<Rank>::repartition_planner;

  /// Makes the plan of a call. Collective.
  structure learn(const box_call<Rank>& call, std::shared_ptr<transport>& shared_transport,
                  local_error& found_error) const {
    return {repartition_planner<Rank>::learn(call, shared_transport, found_error)};
  }
};

/// The movement of a repartition for any number of fields.
template <std::size_t Rank>
class fields_repartition : public fields_movement<fields_planner<Rank>> {
  using base = fields_movement<fields_planner<Rank>>;  ///< moves one or several fields

 public:
  using base::base;

  /// Starts to move N fields. The blocks of all fields have one shape, and so have the views to fill. A worker that is
  /// only in the source partition gets blocks of zero volume.
  template <class T, std::size_t N>
  auto start(bool forward, const std::array<strided<const T, Rank>, N>& x, const std::array<target<T, Rank>, N>& output,
             const char* direction) {
    if constexpr (N == 1) {
      return forward ? this->template forward<T>(x[0], output[0], direction, local_error())
                     : this->template backward<T>(x[0], output[0], direction, local_error());
    } else {
      return partita::detail::one_call(this->state(), [&] {
        this->finish_pending_operation();
        box_call<Rank> call = base::template make_call_for_type<T>(forward ? 1 : 2, direction, x[0].shape);
        call.forward = forward, call.type = mixed(call.type, N);
        call.fills_view = output[0].is_given, call.view_shape = output[0].block.shape;
        fields_structure<Rank>& s = agree_on_plan<fields_planner<Rank>>(*this, call, false);
        const exchange_plan<Rank>& plan = s.plan(forward);
        const auto exchange = [&]() -> const std::shared_ptr<box_exchange>& {
          return s.exchanges_for_fields(N, forward).find_or_make(call.kind, [&] {
            const std::vector<lowered_plan> each(N, lowered(plan));
            return lasting_exchange(this->shared_transport(), this->world(), join_plans(each), call.kind);
          });
        };
        return this->template move_all_fields<T, std::array<pooled_tensor<T, Rank>, N>>(
            x, output, [&](auto) -> const auto& { return plan; }, exchange, [](const auto&) {});
      });
    }
  }
};

}  // namespace partita::detail
