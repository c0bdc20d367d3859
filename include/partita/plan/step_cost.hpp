// The cost of a step of a program: the parameters of the estimate, and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_plan.hpp>
#include <partita/rule/sharding/rule.hpp>
#include <vector>

namespace partita {

/// Measured times of a program's operations and moves; see sharded/measured_times.hpp.
struct step_times {
  virtual ~step_times() = default;
  /// The seconds of operation o of the program, or of its gradients with respect to some operands, with all its tensors
  /// (operands first) in these shardings, including what the operation itself moves.
  virtual double seconds(std::size_t o, const std::vector<sharding>& layouts, tensor_set gradients) = 0;
  /// The seconds of a reshard of a tensor of this shape.
  virtual double seconds(const sharding& from, const sharding& to, const shape_list& shape) = 0;
  /// The seconds of the update of a parameter block of so many elements.
  virtual double update_seconds(std::size_t elements) = 0;
};

/// The assumptions of an estimate: the links of the mesh, the speed of a worker's arithmetic and memory, and the
/// optimiser's states.
struct step_model {
  mesh_links links{};             ///< the links along the axes of the mesh
  double multiply_adds = 1e11;    ///< multiply-adds per second of one worker
  double memory_bytes = 1e10;     ///< bytes that one worker reads or writes per second
  std::size_t element_bytes = 4;  ///< bytes of a real number; a complex number has twice as many
  std::size_t states = 0;         ///< state tensors of the optimiser for each parameter: 1 for momentum, 2 for Adam
  step_times* times = nullptr;    ///< measured times that replace links and speeds, if not null
};

/// The cost of a step for one worker: the busiest worker if the shards are uneven.
struct step_cost {
  double computing_seconds = 0;    ///< seconds of computations
  double moving_seconds = 0;       ///< seconds of movements
  double latency_seconds = 0;      ///< the part of `moving_seconds` for latencies of messages
  double hidden_seconds = 0;       ///< the part of `moving_seconds` in which a worker also computes
  std::size_t received_bytes = 0;  ///< the number of bytes that a worker receives
  std::size_t movements = 0;       ///< reshards, each of one step or more, and communications of operations
  std::size_t peak = 0;            ///< the largest number of bytes that a worker holds
  constexpr double seconds() const { return computing_seconds + moving_seconds - hidden_seconds; }  ///< of the step
  friend constexpr bool operator==(const step_cost&, const step_cost&) = default;
};

/// One event in a step: a computation, a reshard (`move`), the update of a parameter, or the communication of an
/// operation itself (`window`).
struct step_event {
  enum class what : std::uint8_t { compute, move, update, window };  ///< window: an operation communicates itself
  static constexpr std::uint32_t none = ~std::uint32_t{0};           ///< no operation

  what kind = what::compute;       ///< the kind of the event
  bool backward = false;           ///< whether the event is in the backward pass or in an update
  std::uint32_t operation = none;  ///< the operation's number; `none` in the update of a parameter
  /// the operation's first result (`compute`, `window`); else the value that is updated or moved, or whose cotangent is
  std::uint32_t of = 0;
  bool is_cotangent = false;   ///< whether the moved tensor is the cotangent of the value `of`
  sharding from{}, to{};       ///< the shardings before and after a move
  std::size_t bytes = 0;       ///< bytes that a worker receives in a `move` or `window`
  double seconds = 0;          ///< the estimated or measured duration
  std::size_t bytes_held = 0;  ///< bytes that a worker holds during the event
};

constexpr const char* name_of(step_event::what done) {
  constexpr const char* names[] = {"compute", "move", "update", "window"};
  return names[static_cast<std::size_t>(done)];
}

}  // namespace partita
