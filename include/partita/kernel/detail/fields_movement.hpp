// Repartitions of several fields of one shape at once: one agreement, and one message between two workers, which
// carries the boxes of all fields.
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
#include <utility>
#include <vector>

namespace partita::detail {

/// The plans of a repartition, and their exchanges of several fields.
template <std::size_t Rank>
struct fields_structure : repartition_structure<Rank> {
  struct of_fields {
    std::size_t fields;
    exchanges_by_kind going{}, coming{};
  };
  std::vector<of_fields> several{};

  exchanges_by_kind& exchanges(std::size_t fields, bool forward) {
    std::size_t k = 0;
    while (k < several.size() && several[k].fields != fields) ++k;
    if (k == several.size()) several.push_back({fields});
    return forward ? several[k].going : several[k].coming;
  }
};

/// Plans of a repartition do not depend on the number of fields.
template <std::size_t Rank>
class fields_planner : public repartition_planner<Rank> {
 public:
  using structure = fields_structure<Rank>;
  using repartition_planner<Rank>::repartition_planner;

  structure learn(const box_call<Rank>& call, std::shared_ptr<transport>& ways, local_error& trouble) const {
    return {repartition_planner<Rank>::learn(call, ways, trouble)};
  }
};

/// The movement of a repartition for any number of fields.
template <std::size_t Rank>
class fields_movement : public planned_movement<fields_planner<Rank>> {
  using base = planned_movement<fields_planner<Rank>>;

 public:
  using base::base;

  /// Starts to move N fields, whose blocks have one shape, as have the views to fill. A worker that only gives gets
  /// blocks of zero volume.
  template <class T, std::size_t N>
  auto start(bool forward, const std::array<strided<const T, Rank>, N>& x, const std::array<target<T, Rank>, N>& wanted,
             const char* direction) {
    if constexpr (N == 1) {
      return forward ? this->template forward<T>(x[0], wanted[0], direction, local_error())
                     : this->template backward<T>(x[0], wanted[0], direction, local_error());
    } else {
      return partita::detail::one_call(this->state(), [&] {
        this->finish_pending();
        box_call<Rank> call;
        call.forward = forward, call.number = forward ? 1U : 2U, call.direction = direction;
        call.shape = x[0].shape, call.into = wanted[0].given, call.view = wanted[0].block.shape;
        call.kind = element_kind::moved<T>(), call.type = mixed(type_number<T>(), N), call.name_of_type = &type_name<T>;
        return move_all(agree_on_plan<fields_planner<Rank>>(*this, call, false), call, x, wanted);
      });
    }
  }

 private:
  template <class T, std::size_t N>
  using tensors = std::array<pooled_tensor<T, Rank>, N>;

  template <class T, std::size_t N>
  pending<tensors<T, N>> move_all(fields_structure<Rank>& s, const box_call<Rank>& call,
                                  const std::array<strided<const T, Rank>, N>& x,
                                  const std::array<target<T, Rank>, N>& wanted) {
    const exchange_plan<Rank>& plan = s.plan(call.forward);
    tensors<T, N> y;
    std::array<strided<T, Rank>, N> to;
    for (std::size_t f = 0; f < N; ++f) {
      if (plan.takes && wanted[f].given) {
        to[f] = wanted[f].block;
      } else {
        y[f] = make_pooled<T, Rank>(*this->memory(),
                                    plan.takes ? plan.destination_shape : std::array<std::size_t, Rank>());
        to[f] = block_of(y[f]);
      }
    }
    if (!plan.takes && !plan.gives) return {std::move(y), nullptr, 0};
    const auto& exchange = s.exchanges(N, call.forward).find(call.kind, [&] {
      const std::vector<lowered_plan> each(N, lowered(plan));
      return lasting_exchange(this->ways(), this->world(), side_by_side(each), call.kind);
    });
    const auto from = all_of<const T>(x, std::make_index_sequence<N>());
    const auto there = all_of<T>(to, std::make_index_sequence<N>());
    const std::uint64_t number =
        this->begin(exchange, from.data, from.strides.data(), there.data, there.strides.data(), nothing_to_fill());
    return {std::move(y), this->operation(), number};
  }
  template <class T, std::size_t N, std::size_t... F>
  static auto all_of(const std::array<strided<T, Rank>, N>& blocks, std::index_sequence<F...>) {
    return blocks_side_by_side<T, (static_cast<void>(F), Rank)...>(blocks[F]...);
  }
};

}  // namespace partita::detail
