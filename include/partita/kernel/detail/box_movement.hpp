// Executes the plans of all kernels that move boxes between workers. A planner decides which boxes move; the executor
// agrees on a call with all workers, finds or makes the plan, starts the exchange in either direction for any element
// type, and caches plans between calls.
//
// Code that depends only on the planner is in free functions, because the declaration of a compiled function costs a
// program nothing, whereas the declaration of a compiled member function instantiates its class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/element.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/pooled.hpp>
#include <partita/comm/transport.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/plan/cut.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// The argument `fill` of a call whose block x is complete before the call: no element of x remains to be written.
struct nothing_to_fill {
  void operator()() const {}
};

/// The base class of a kernel's movement. It has the members that do not depend on the planner: the transport, the
/// exchange that was used last, and the pending exchange.
class box_movement {
 public:
  /// `name` must be a string literal; error messages write a call of the kernel as `name` followed by the arguments.
  box_movement(std::shared_ptr<world_state> world, const char* name, std::uint64_t fingerprint)
      : world_(std::move(world)), name_(name), fingerprint_(fingerprint) {}

  const char* name() const { return name_; }  ///< the kernel in messages
  /// Returns the state of the world. Requires: a kernel that has not been moved from [error].
  world_state& state() const {
    require_valid_kernel(world_ != nullptr, name_);
    return *world_;
  }
  const std::shared_ptr<world_state>& world() const { return world_; }  ///< the world; null if moved from
  /// The transport, which all workers open together, with the first plan at the latest; null before that.
  const std::shared_ptr<transport>& shared_transport() const { return transport_; }
  std::shared_ptr<transport>& shared_transport() { return transport_; }
  arena* memory() const { return transport_ ? &transport_->memory() : nullptr; }  ///< memory pool of results, or null
  kernel_identity identity() const { return {&state(), mixed(fingerprint_, transport_number())}; }  ///< world, number
  PARTITA_DECL kernel_counts counts(std::size_t plans_made) const;  ///< plans_made, and traffic of the last exchange
  /// The fingerprint of a call. Once the transport is open, the fingerprint includes the transport's number, so that
  /// the calls of two identically constructed kernels have different fingerprints.
  std::uint64_t fingerprint(std::uint64_t type, std::uint64_t operation_number) const {
    return mixed(mixed(fingerprint_, type), operation_number + 16 * transport_number());
  }
  /// Whether workers may send before all agree on a call: the transport is open, and its members are on several nodes.
  bool may_send_early() const { return transport_ && transport_->members().has_other_nodes(); }

  /// Completes the pending operation of this movement.
  void finish_pending_operation() {
    state();
    operation_->wait();
  }
  /// Starts an exchange; from then on counts() reports this exchange. `fill()` is described at exchange_operation.
  template <class Fill>
  std::uint64_t begin_exchange(const std::shared_ptr<box_exchange>& exchange, const void* x,
                               const std::ptrdiff_t* x_strides, void* y, const std::ptrdiff_t* y_strides, Fill fill) {
    last_exchange_ = exchange;
    return operation_->begin(exchange, x, x_strides, y, y_strides, fill);
  }
  /// Continues an exchange that began before all workers had agreed on the call.
  std::uint64_t continue_exchange(const std::shared_ptr<box_exchange>& exchange, const void* x,
                                  const std::ptrdiff_t* x_strides) {
    last_exchange_ = exchange;
    return operation_->continue_exchange(exchange, x, x_strides);
  }
  const std::shared_ptr<exchange_operation>& operation() const { return operation_; }  ///< pending exchange; not null
  /// Lets the started exchange remain pending after the call; at checks::agree the next agreement completes it.
  void keep_call_pending() const {
    state().keep_call_pending(operation_, last_exchange_ && last_exchange_->is_needed());
  }

  /// Runs f() as one call, which all workers make.
  template <class F>
  decltype(auto) one_call(F f) const {
    const thread_guard only(state().calling_thread(), name_);
    return partita::detail::one_call(*world_, f);
  }
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together(const text& error_message) const {
    agree_if_checked(state(), mixed(fingerprint_, 3), local_error(error_message), [&] { return text(name_); });
  }

 private:
  /// The number that identifies the transport on all workers; 0 before the transport is open.
  std::uint64_t transport_number() const { return transport_ ? transport_->number() : 0; }  ///< 0 before it is open

  std::shared_ptr<world_state> world_;           ///< the kernel's world; null if the kernel was moved from
  const char* name_;                             ///< the kernel in messages, as "partita::repartition(p_x, p_y)"
  std::uint64_t fingerprint_;                    ///< the kernel's fingerprint, equal on all workers
  std::shared_ptr<transport> transport_;         ///< opened by all workers together; null until it is open
  std::shared_ptr<box_exchange> last_exchange_;  ///< the exchange that was started last, for counts()
  std::shared_ptr<exchange_operation> operation_ = std::make_shared<exchange_operation>();  ///< the pending exchange
};

/// Opens the transport, unless it is open. Collective: workers that report an error must call this function, too.
PARTITA_DECL transport& open_transport(std::shared_ptr<transport>& shared_transport, world_state& world);

/// The arguments of a kernel call, without the static element type: what the workers compare and the plan depends on.
template <std::size_t Rank>
struct box_call {
  bool forward = true;                 ///< false in an adjoint call
  std::uint64_t operation_number = 0;  ///< differs between the operations of a kernel, as 1 forward and 2 adjoint
  const char* direction = "";          ///< the text after the kernel's name in messages: "(x)", ".adjoint(dy)"
  const void* data = nullptr;          ///< the block that this worker sends; null in calls that never send early
  std::array<std::ptrdiff_t, Rank> strides{};  ///< the strides of the block in elements
  std::array<std::size_t, Rank> shape{};       ///< the shape of the block
  bool fills_view = false;                     ///< whether the caller passes the view to fill
  std::array<std::size_t, Rank> view_shape{};  ///< the shape of the view to fill
  element_kind kind{};                         ///< how the elements are copied or added
  std::uint64_t type = 0;                      ///< the number of the element type, or a fingerprint of several types
  text (*name_of_type)() = nullptr;            ///< writes the element type in messages
  local_error own_error{};                     ///< this worker's error, if any
  const cut* cuts = nullptr;  ///< the block boundaries along each dimension, if the call passes them instead of a block
};

/// The plans for blocks of certain shapes: one plan for each direction, and the exchanges that carry out these plans.
template <std::size_t Rank>
struct planned_boxes {
  exchange_plan<Rank> there{}, back{};  ///< the plans of the forward direction and of the adjoint
  exchanges_by_kind forward_exchanges{}, backward_exchanges{};  ///< the exchanges of the two plans

  const exchange_plan<Rank>& plan(bool forward) const { return forward ? there : back; }  ///< the plan of one direction
  /// Whether the plan for the direction of a call fits this worker's block and the view to fill.
  bool matches_call(const box_call<Rank>& call) const {
    const exchange_plan<Rank>& p = plan(call.forward);
    if (p.gives && p.source_shape != call.shape) return false;
    if (!call.fills_view || (p.gives && !p.takes)) return true;
    const auto& shape = p.takes ? p.destination_shape : call.shape;
    return volume_of(shape) == 0 || call.view_shape == shape;
  }
};

template <class Planner>
class planned_movement;

/// Agrees on a call with all workers, and finds the plan of the call in the cache or makes the plan.
template <class Planner>
typename Planner::structure& agree_on_plan(planned_movement<Planner>& movement, const box_call<Planner::rank>& call,
                                           bool may_send_early);
/// Finds or makes the exchange that carries out a plan in one direction.
template <class Planner>
const std::shared_ptr<box_exchange>& find_exchange(const planned_movement<Planner>& movement,
                                                   typename Planner::structure& s, bool forward,
                                                   const element_kind& kind);

/// A kernel's movement, with a planner that defines
///   rank, structure       the rank, and the class of its plans, derived from planned_boxes<rank>;
///   sums_back             whether the adjoint adds the received elements (if not, it copies them);
///   checks_itself         whether every worker that receives in the adjoint also passes a block of the shape that it
///                         receives, so that at checks::local the workers need not agree on the adjoint's plan;
///   keeps_batch()         whether the empty result of a worker that only sends has the batch extent of its input;
///   world(), name(), fingerprint(), describe(direction, shape, type);
///   prepare_agreement(call)                 optional: prepares for the agreement on a call;
///   learn(call, transport, found_error)     makes a plan, together with all workers, or sets an error;
///   exchange(s, forward, kind, transport)   makes the exchange that carries out plan s;
///   find_transient_exchange(s, …)           optional: finds an exchange for one call only, or null;
///   do_overlapped_work(s, forward, to, operation)   optional: works on the result while the exchange is pending.
template <class Planner>
class planned_movement : public box_movement {
 public:
  static constexpr std::size_t rank = Planner::rank;  ///< the number of dimensions of the moved boxes
  using structure = typename Planner::structure;      ///< a cached plan
  using planner_type = Planner;                       ///< makes the plans

  explicit planned_movement(Planner planner)
      : box_movement(planner.world(), planner.name(), planner.fingerprint()), planner_(std::move(planner)) {}

  const Planner& planner() const { return planner_; }             ///< makes the plans of this movement
  std::size_t plans_made() const { return plans_.plans_made(); }  ///< the number so far, including evicted plans
  kernel_counts counts() const { return box_movement::counts(plans_made()); }  ///< plans made, last exchange's traffic

  /// Agrees on a forward call and starts the exchange. `fill()` is called after all workers have agreed, and must have
  /// written the elements of x when it returns; if there is nothing to fill, x must be complete before the call.
  template <class T, class Fill = nothing_to_fill>
  pending<pooled_tensor<T, rank>> forward(const strided<const T, rank>& x, const target<T, rank>& output,
                                          const char* direction, const local_error& before, Fill fill = {}) {
    return begin_call<T>(true, element_kind::moved<T>(), x, output, direction, before, fill);
  }
  /// Agrees on an adjoint call and starts the exchange in the opposite direction, as forward() does.
  template <class T, class Fill = nothing_to_fill>
  pending<pooled_tensor<T, rank>> backward(const strided<const T, rank>& dy, const target<T, rank>& output,
                                           const char* direction, const local_error& before, Fill fill = {}) {
    if constexpr (Planner::sums_back)
      return begin_call<T>(false, element_kind::summed<T>(), dy, output, direction, before, fill);
    else return begin_call<T>(false, element_kind::moved<T>(), dy, output, direction, before, fill);
  }

 protected:
  using shape_type = std::array<std::size_t, rank>;  ///< the extents of a block

  friend structure& agree_on_plan<Planner>(planned_movement&, const box_call<rank>&, bool);

  /// Agrees on a call and starts its exchange, as forward() does.
  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> begin_call(bool forward, const element_kind& kind, const strided<const T, rank>& x,
                                             const target<T, rank>& output, const char* direction,
                                             const local_error& before, Fill fill);

  /// Makes the description of a call that moves elements of type T.
  template <class T>
  static box_call<rank> make_call_for_type(std::uint64_t number, const char* direction, const shape_type& shape) {
    box_call<rank> call;
    call.operation_number = number, call.direction = direction, call.shape = shape,
    call.kind = element_kind::moved<T>();
    call.type = type_number<T>(), call.name_of_type = &type_name<T>;
    return call;
  }
  /// Makes the workers agree on a call that fills memory of the caller, and starts its exchange. If exactly one cached
  /// plan fits this worker's block, the exchange of this plan in `announced_exchanges` (unless that is null) may begin
  /// before the agreement, so that a sender on this node need not wait until this worker has agreed. The function
  /// `from(s)` prepares and returns the block that plan s sends. `agree()` agrees on the plan and returns it with its
  /// exchange, or with null if this worker has no part in the exchange.
  template <class From, class To, class Agree>
  std::uint64_t start_exchange_in_place(const box_call<rank>& call, exchanges_by_kind structure::*announced_exchanges,
                                        From from, const To& to, Agree agree) {
    struct roll_back {  // runs if the workers do not agree on the exchange that has begun
      void operator()(box_exchange* started_exchange) const { started_exchange->roll_back(); }
    };
    std::unique_ptr<box_exchange, roll_back> started_exchange;
    decltype(from(std::declval<structure&>())) x;
    if (announced_exchanges != nullptr)
      if (structure* const known =
              plans_.sole_plan(plans_.matching_plans([&](const structure& s) { return s.matches_call(call); })))
        if (box_exchange* const made = (known->*announced_exchanges).find_existing(call.kind);
            made != nullptr && made->sends_speculatively()) {
          x = from(*known);
          made->start_speculatively(x.data, x.strides.data(), to.data, to.strides.data());
          started_exchange.reset(made);
        }
    const auto [s, exchange] = agree();
    if (exchange == nullptr) return 0;
    if (started_exchange.get() == exchange->get()) {
      started_exchange.release();
      return continue_exchange(*exchange, x.data, x.strides.data());
    }
    started_exchange.reset();
    x = from(*s);
    return begin_exchange(*exchange, x.data, x.strides.data(), to.data, to.strides.data(), nothing_to_fill());
  }

  /// Starts the exchange of boxes. A worker that is only among the senders of the plan gets a result of zero volume; a
  /// worker outside of the plan gets a copy of x.
  template <class T, class Fill>
  pending<pooled_tensor<T, rank>> move(structure& s, const box_call<rank>& call, const strided<const T, rank>& x,
                                       const target<T, rank>& output, Fill fill) {
    const exchange_plan<rank>& plan = s.plan(call.forward);
    pooled_tensor<T, rank> y;
    strided<T, rank> to = output.block;
    if (plan.gives && !plan.takes) {
      const bool keeps_no_batch = rank == 0 || !planner_.keeps_batch();
      y = pooled_tensor<T, rank>(zero_volume<T, rank>(keeps_no_batch ? 0 : x.shape[plan.axes[0]]));
      to = {};
    } else if (const shape_type& shape = plan.takes ? plan.destination_shape : x.shape;
               !output.is_given || volume_of(shape) == 0) {
      y = make_pooled<T, rank>(*memory(), shape);
      to = block_of(y);
    }
    if (!plan.takes && !plan.gives) {
      fill();
      copy(to, x);
      return {std::move(y), nullptr, 0};
    }
    const auto strides = in_source_order(to.strides, plan.axes);
    const std::uint64_t number = begin_exchange(find_exchange(*this, s, call.forward, call.kind), x.data,
                                                x.strides.data(), to.data, strides.data(), fill);
    if constexpr (requires { planner_.do_overlapped_work(s, call.forward, to, *operation()); })
      planner_.do_overlapped_work(s, call.forward, to, *operation());
    return {std::move(y), operation(), number};
  }

  Planner planner_;                       ///< makes the plans
  plan_cache<structure> plans_;           ///< the plans for blocks of recent shapes, for all element types
  std::uint64_t seen_failure_count_ = 0;  ///< the number of failures of the world when the plans were made
};

template <class Planner>
template <class T, class Fill>
auto planned_movement<Planner>::begin_call(bool forward, const element_kind& kind, const strided<const T, rank>& x,
                                           const target<T, rank>& output, const char* direction,
                                           const local_error& before, Fill fill) -> pending<pooled_tensor<T, rank>> {
  return partita::detail::one_call(state(), [&] {
    finish_pending_operation();
    const box_call<rank> call{forward,   forward ? 1U : 2U, direction,       x.data,
                              x.strides, x.shape,           output.is_given, output.block.shape,
                              kind,      type_number<T>(),  &type_name<T>,   overlap_error(before, x, output, name())};
    return move(agree_on_plan(*this, call, std::is_empty_v<Fill>), call, x, output, fill);
  });
}

template <class Planner>
typename Planner::structure& agree_on_plan(planned_movement<Planner>& movement, const box_call<Planner::rank>& call,
                                           bool may_send_early) {  // finds or makes the plan of a call; collective
  using structure = typename Planner::structure;
  constexpr std::size_t rank = Planner::rank;
  speculative_exchange ahead(call.data, call.strides.data(), movement.plans_,
                             call.forward ? &structure::forward_exchanges : &structure::backward_exchanges, call.kind);
  if constexpr (requires(structure s) { s.is_known_to_all; })
    drop_plans_after_failures(movement.state(), movement.plans_, movement.seen_failure_count_);
  const bool sends_ahead = may_send_early && movement.may_send_early();
  if constexpr (requires { movement.planner_.prepare_agreement(call); }) movement.planner_.prepare_agreement(call);
  structure& s = agreed_structure(
      movement.state(), movement.plans_,
      {movement.fingerprint(call.type, call.operation_number), call.own_error, call.forward || !Planner::checks_itself,
       sends_ahead ? &ahead : nullptr, true},
      [&](const structure& known) { return known.matches_call(call); },
      [&](local_error& found_error) {
        structure made = movement.planner_.learn(call, movement.shared_transport(), found_error);
        const exchange_plan<rank>& plan = made.plan(call.forward);
        if (call.fills_view && !found_error.any() && !(plan.gives && !plan.takes))
          expect_shape(call.view_shape, plan.takes ? plan.destination_shape : call.shape,
                       (text(movement.name()) << (call.forward ? "" : ".adjoint")).c_str(), found_error);
        return made;
      },
      [&] { return movement.planner_.describe(call.direction, call.shape, call.name_of_type()); });
  ahead.keep_agreed_plan(s);
  return s;
}

template <class Planner>
const std::shared_ptr<box_exchange>& find_exchange(const planned_movement<Planner>& movement,
                                                   typename Planner::structure& s, bool forward,
                                                   const element_kind& kind) {  // finds or makes the exchange of plan s
  if constexpr (requires { movement.planner().find_transient_exchange(s, forward, kind, movement.shared_transport()); })
    if (const auto* const exchange_for_this_call =
            movement.planner().find_transient_exchange(s, forward, kind, movement.shared_transport()))
      return *exchange_for_this_call;
  return (forward ? s.forward_exchanges : s.backward_exchanges).find_or_make(kind, [&] {
    return movement.planner().exchange(s, forward, kind, movement.shared_transport());
  });
}

#ifdef PARTITA_CORE
// Instantiates the functions of a movement with the given planner in the compiled core. In a program, EXTERN is
// `extern` and the macro only declares the functions; in the core, EXTERN is empty.
#define PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, ...)                                                           \
  EXTERN template __VA_ARGS__::structure& agree_on_plan<__VA_ARGS__>(planned_movement<__VA_ARGS__>&,            \
                                                                     const box_call<__VA_ARGS__::rank>&, bool); \
  EXTERN template const std::shared_ptr<box_exchange>& find_exchange<__VA_ARGS__>(                              \
      const planned_movement<__VA_ARGS__>&, __VA_ARGS__::structure&, bool, const element_kind&);                \
  PARTITA_BEGIN_CALL(EXTERN, float, __VA_ARGS__) PARTITA_BEGIN_CALL(EXTERN, double, __VA_ARGS__)
#define PARTITA_BEGIN_CALL(EXTERN, T, ...)                                                                        \
  EXTERN template pending<pooled_tensor<T, __VA_ARGS__::rank>> planned_movement<__VA_ARGS__>::begin_call<T>(      \
      bool, const element_kind&, const strided<const T, __VA_ARGS__::rank>&, const target<T, __VA_ARGS__::rank>&, \
      const char*, const local_error&, nothing_to_fill);
#endif

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/box_movement.ipp>
#endif
