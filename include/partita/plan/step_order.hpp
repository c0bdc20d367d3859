// The order in which a worker executes the steps of a program: the worker computes while movements are pending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <vector>

namespace partita {

/// A step of a program: the blocks that it reads and sets, and its estimated time.
struct step_use {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};  ///< no block, or no movement

  std::vector<std::uint32_t> reads{};  ///< the numbers of the blocks that the step reads
  std::uint32_t sets = nothing;        ///< the number of the block that the step sets
  std::uint32_t task = 0;              ///< the number of the part of the program to which the step belongs
  bool moves = false;         ///< whether the step moves blocks between workers, so that other steps may run meanwhile
  bool is_backward = false;   ///< whether the step is part of the backward pass
  double seconds = 0;         ///< the estimated time
  double shared_seconds = 0;  ///< the part of `seconds` that joined movements take only once
  std::uint32_t message_leader = nothing;  ///< the first of the movements that share messages, if not this one
  std::size_t bytes = 0;                   ///< the bytes of the block that the step sets
  std::size_t received = 0;                ///< the bytes that a movement receives
  basic_text<48> name{};                   ///< the name of the operation
};

/// What a worker does next: it executes a step, starts a movement, or waits until a movement has finished. A start may
/// be in two halves: the receivers say early where the elements go, so that the senders need not wait for the
/// receivers. Movements that share their messages start one after another on one channel, and finish one after another.
struct ordered_step {
  enum class what : std::uint8_t { compute, start, finish, post_receive, post_send };  ///< post_…: half a start

  what action = what::compute;  ///< what the worker does
  std::uint32_t step = 0;       ///< the number of the step in the program
  std::uint32_t channel = 0;    ///< the channel of a movement; movements pending at one time have different channels
  /// The start and end of the step, in seconds. In this time a `start` sends, and a `finish` waits.
  double from = 0, until = 0;
  friend bool operator==(const ordered_step& a, const ordered_step& b) {
    return a.action == b.action && a.step == b.step && a.channel == b.channel;
  }
};

/// Limits on how far an order may differ from the order of the program.
struct order_limits {
  std::size_t max_pending = 1;          ///< the most movements that are pending at one time
  std::size_t ahead = ~std::size_t{0};  ///< the most steps by which a step may precede an earlier one

  static constexpr order_limits in_program_order() { return {1, 0}; }  ///< for the program's order
  friend bool operator==(const order_limits&, const order_limits&) = default;
};

/// An order of the steps `first` to `end` - 1 in which each step comes after those that set what it reads, and after
/// those that read what it sets. Within the limits, a movement starts as soon as what it reads is there; steps that do
/// not need the movement are computed in the meantime, in the order of the program. The movement is finished when it
/// has arrived by the estimate, or when nothing else is left to do. At most one movement uses the link at a time.
/// Movements that share messages start when all of them can start; if one of them needs the result of another, they
/// never start, and the order lacks them and the steps that need them.
/// Cost: O(steps × ready steps).
PARTITA_DECL std::vector<ordered_step> order_steps(const std::vector<step_use>& steps, std::size_t first,
                                                   std::size_t end, const order_limits& limits, double now = 0);

/// For each block, the positions in an order at which it is first set and last needed, or `never` if it is not set.
struct block_lives {
  static constexpr std::size_t never = ~std::size_t{0};  ///< the position for blocks that are not set
  std::vector<std::size_t> first_set{}, last_use{};      ///< indexed by block number
};
/// The lives of all blocks that the steps of an order use; positions are indices in `order`.
PARTITA_DECL block_lives lives_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/step_order.ipp>
#endif
