// The order in which a worker executes the steps of a program: computing goes on while blocks are on their way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <vector>

namespace partita {

/// A step of a program: what it reads and sets, and how long it takes by an estimate.
struct step_use {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  std::vector<std::uint32_t> reads{};  ///< numbers of blocks
  std::uint32_t sets = nothing;        ///< the number of a block
  std::uint32_t task = 0;              ///< what it belongs to, if the program has several parts
  bool moves = false;                  ///< between workers: other steps may be executed while it is pending
  bool is_backward = false;            ///< of the backward pass
  double seconds = 0;
  double once = 0;                ///< of these seconds, what movements that share their messages take only once
  std::uint32_t joins = nothing;  ///< the first of the movements that share their messages, if it is another one
  std::size_t bytes = 0;          ///< of the block that it sets
  std::size_t received = 0;       ///< bytes, in a movement
  basic_text<48> name{};          ///< the operation
};

/// What a worker does next: it executes a step, starts a movement, or waits until a movement has finished. A start may
/// be in two halves: the receivers say early where the elements go, so that the senders need not wait for them.
/// Movements that share their messages start one after another on one lane, and finish one after another.
struct ordered_step {
  enum class what : std::uint8_t { compute, start, finish, expect, give };

  what done = what::compute;
  std::uint32_t step = 0;
  std::uint32_t lane = 0;  ///< of a movement; two movements pending at one time have different lanes
  /// The times, in seconds. A movement is sent from `from` to `until` of its start, and waited for from `from` to
  /// `until` of its finish.
  double from = 0, until = 0;
  friend bool operator==(const ordered_step& a, const ordered_step& b) {
    return a.done == b.done && a.step == b.step && a.lane == b.lane;
  }
};

/// How far an order may differ from that of the program.
struct order_limits {
  std::size_t pending = 1;              ///< movements at one time; 1 with `ahead` = 0 is the order of the program
  std::size_t ahead = ~std::size_t{0};  ///< a step is done at most so many steps before an earlier one

  static constexpr order_limits in_program_order() { return {1, 0}; }
  friend bool operator==(const order_limits&, const order_limits&) = default;
};

/// An order of the steps `first` to `end` in which each step comes after those that set what it reads, and after those
/// that read what it sets. A movement starts as soon as what it reads is there; steps that do not need it are computed
/// in the meantime, in the order of the program, and it is finished when it has arrived by the estimate or nothing else
/// is left to do. Movements follow each other on one link. Movements that share their messages start when all of them
/// could; if that never happens, because one of them needs another, the order ends there and lacks steps. Cost: O(steps
/// times those that could be executed at one time).
PARTITA_DECL std::vector<ordered_step> order_steps(const std::vector<step_use>& steps, std::size_t first,
                                                   std::size_t end, const order_limits& limits, double now = 0);

/// For each block, the positions in an order at which it is first set and last needed; `never` if no step sets it.
struct block_lives {
  static constexpr std::size_t never = ~std::size_t{0};
  std::vector<std::size_t> first{}, last{};
};
PARTITA_DECL block_lives lives_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/step_order.ipp>
#endif
