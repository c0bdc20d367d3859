// Pending operations: the objects that non-blocking calls return, and the exchanges that a kernel caches for a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/strided.hpp>
#include <partita/comm/pending_operation.hpp>
#include <partita/comm/transport.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <partita/core/error.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The exchanges that carry out a plan in one direction: one exchange for each kind of elements used.
class exchanges_by_kind {
 public:
  /// The exchange for a kind of elements; make() makes it if there is none yet.
  template <class Make>
  const std::shared_ptr<box_exchange>& find_or_make(const element_kind& kind, Make make) {
    for (const entry& e : entries_)
      if (e.kind == kind) return e.exchange;
    entries_.push_back({kind, make()});
    return entries_.back().exchange;
  }
  void clear() { entries_.clear(); }  ///< removes all exchanges
  /// The existing exchange for a kind of elements; null if none was made yet.
  PARTITA_DECL box_exchange* find_existing(const element_kind& kind) const;

 private:
  struct entry {                             // the exchange for one kind of elements
    element_kind kind;                       ///< the kind of the elements
    std::shared_ptr<box_exchange> exchange;  ///< the exchange that moves such elements
  };
  std::vector<entry> entries_;  ///< one entry for each kind used so far
};

/// Makes an exchange of a plan that shares ownership of its transport and its world, because it may outlive the kernel.
/// `plans_of_node` are the plans of the workers in workers_with_needed_plans() of the transport.
PARTITA_DECL std::shared_ptr<box_exchange> lasting_exchange(const std::shared_ptr<transport>& shared_transport,
                                                            std::shared_ptr<world_state> world, lowered_plan plan,
                                                            const element_kind& kind,
                                                            std::vector<lowered_plan> plans_of_node = {});

/// The exchange that a kernel has started and not yet completed.
class exchange_operation : public pending_operation {
 public:
  /// Completes the pending exchange of the kernel, and starts a new exchange. First the exchange announces y, the
  /// memory in which this worker receives; then `fill()` is called, and must have written the elements of x when it
  /// returns. The strides of both blocks are in the order of the dimensions of x. Returns the operation's number.
  template <class Fill>
  std::uint64_t begin(const std::shared_ptr<box_exchange>& exchange, const void* x, const std::ptrdiff_t* x_strides,
                      void* y, const std::ptrdiff_t* y_strides, Fill fill) {
    exchange->post_receive(y, y_strides);
    const std::uint64_t number = start(exchange);
    try {
      fill();
    } catch (...) {  // other workers depend on this worker's messages
      exchange->post_send(x, x_strides);
      wait();
      throw;
    }
    exchange->post_send(x, x_strides);
    return number;
  }
  /// Continues an exchange that began before all workers had agreed on the call.
  PARTITA_DECL std::uint64_t continue_exchange(const std::shared_ptr<box_exchange>& exchange, const void* x,
                                               const std::ptrdiff_t* x_strides);
  /// Runs f() while an exchange is pending; if f throws, the exchange is completed first.
  template <class F>
  void run_during_exchange(F f) {
    try {
      f();
    } catch (...) {
      wait();
      throw;
    }
  }
};

/// Sends to other nodes before the agreement is complete, so that a call takes one message latency instead of two. Uses
/// the exchange among `exchanges` for this kind of elements and for the plan on which the workers of this node agree.
template <class Structures, class Structure>
class speculative_exchange final : public speculative_send {
 public:
  speculative_exchange(const void* x, const std::ptrdiff_t* x_strides, Structures& plans,
                       exchanges_by_kind Structure::*exchanges, const element_kind& kind)
      : x_(x), x_strides_(x_strides), plans_(plans), pointer_to_exchanges_(exchanges), kind_(kind) {}
  speculative_exchange(const speculative_exchange&) = delete;
  speculative_exchange& operator=(const speculative_exchange&) = delete;
  ~speculative_exchange() { roll_back_unless_equal(nullptr); }

  /// Called when all workers have agreed on the plan s: rolls back the messages that were sent for another plan.
  void keep_agreed_plan(const Structure& s) { roll_back_unless_equal((s.*pointer_to_exchanges_).find_existing(kind_)); }

 private:
  void begin(std::uint64_t choices) override {  // sends if `choices` has one bit, for a plan that suits the whole node
    const Structure* const known = plans_.sole_plan(choices);
    sent_exchange_ = known == nullptr ? nullptr : (known->*pointer_to_exchanges_).find_existing(kind_);
    if (sent_exchange_ != nullptr) sent_exchange_->send_speculatively(x_, x_strides_);
  }
  void begin_undoable_send() override {}  ///< does nothing: a worker alone cannot undo a send to other nodes
  void roll_back_unless_equal(const box_exchange* kept_exchange) {  // discards early sends, unless of kept_exchange
    box_exchange* const given = std::exchange(sent_exchange_, nullptr);
    if (given == nullptr || given == kept_exchange) return;
    try {
      given->roll_back();
    } catch (const communication_error&) {  // an error is already being reported
    }
  }

  const void* x_;                                       ///< the block to send
  const std::ptrdiff_t* x_strides_;                     ///< the strides of this block
  Structures& plans_;                                   ///< the cached plans of the kernel
  exchanges_by_kind Structure::*pointer_to_exchanges_;  ///< the exchanges of a plan in the call's direction
  const element_kind& kind_;                            ///< the kind of the call's elements
  box_exchange* sent_exchange_ = nullptr;               ///< the exchange that has sent before the agreement
};

PARTITA_DECL void require_valid_kernel(bool is_valid, const char* kernel);  ///< throws if the kernel was moved from

/// The result of an operation that writes into the caller's own block.
struct written_in_place {};

/// A pending result. If the object is destroyed without finish(), the operation is still completed, because other
/// workers depend on it: the destructor waits, and no other thread may make calls of this world meanwhile.
template <class Result>
class pending {
 public:
  pending(Result result, std::shared_ptr<pending_operation> operation, std::uint64_t operation_number)
      : result_(std::move(result)), operation_(std::move(operation)), operation_number_(operation_number) {}
  pending(pending&& other) noexcept
      : result_(std::move(other.result_)),
        operation_(std::move(other.operation_)),
        operation_number_(other.operation_number_),
        kept_object_(std::move(other.kept_object_)),
        thread_(other.thread_),
        has_result_(std::exchange(other.has_result_, false)) {}
  pending& operator=(pending&&) = delete;
  ~pending() {
    if (operation_) operation_->wait(operation_number_);
  }

  /// Keeps an object alive until the operation is complete, such as a block that was evaluated for this exchange.
  void keep(std::shared_ptr<const void> object_to_keep) { kept_object_ = std::move(object_to_keep); }

  /// The result in its final memory before completion, with at least the elements that this worker has itself.
  const Result& incomplete_result() const { return result_; }

  /// Waits for completion and returns the result; a second call is an error [error].
  /// Requires: the thread that began the operation, which alone may make calls of this world meanwhile
  ///           [communication_error; the operation can still be finished on that thread].
  Result finish() {
    if (operation_ && !is_own_thread())
      throw communication_error(
          "partita: later.finish(): requires the thread that began it; finish there, and hand the result over");
    if (!std::exchange(has_result_, false))
      throw error(
          "partita: later.finish(): requires a result that is still to be given; it was given before, or moved away");
    if (operation_) operation_->wait(operation_number_);
    operation_.reset();
    return std::move(result_);
  }

 private:
  bool is_own_thread() const { return thread_ == std::this_thread::get_id(); }  ///< whether this thread began it

  Result result_;                                        ///< the result, which may be incomplete
  std::shared_ptr<pending_operation> operation_;         ///< null if nothing is pending
  std::uint64_t operation_number_;                       ///< the number that operation_ gave to this operation
  std::shared_ptr<const void> kept_object_;              ///< an object that the operation needs
  std::thread::id thread_ = std::this_thread::get_id();  ///< the thread that began the operation
  bool has_result_ = true;                               ///< false after finish()
};

/// The argument of a pending call, of the type that a parameter `X&&` deduces: the block of x and, if x is lazy or a
/// temporary tensor, the memory of the block.
template <class X>
class kept_argument {
  using argument_type = std::remove_cvref_t<X>;  ///< the type of x

 public:
  explicit kept_argument(X&& x) : argument_or_copy_(std::forward<X>(x)), argument_(argument_or_copy_) {}
  kept_argument(const kept_argument&) = delete;
  kept_argument& operator=(const kept_argument&) = delete;

  auto block() const { return argument_.block(); }  ///< the block of x in memory

 private:
  /// The argument x or, if x is a temporary tensor, a tensor into which x was moved.
  std::conditional_t<is_temporary_tensor<X>, const argument_type, const argument_type&> argument_or_copy_;
  block_argument<argument_type> argument_;  ///< the block of x; if x is lazy, also the memory of its values
};

/// Returns begin(block) for the block of x. Memory that would be destroyed after this call is kept until completion.
template <class X, class Begin>
auto start_call_on_block(X&& x, Begin begin) {
  using argument_type = std::remove_cvref_t<X>;
  if constexpr (strided_array<const argument_type> && !is_temporary_tensor<X>) {
    return begin(block_argument<argument_type>(x).block());
  } else {
    auto argument = std::make_shared<const kept_argument<X>>(std::forward<X>(x));
    auto later = begin(argument->block());
    later.keep(std::move(argument));
    return later;
  }
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/pending.ipp>
#endif
