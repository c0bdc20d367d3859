// The cost of a step of a program: the parameters of the estimate, and its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_plan.hpp>
#include <partita/rule/sharding/rule.hpp>
#include <vector>

namespace partita {

/// The times of a program's operations and moves as they were measured; see sharded/measured_times.hpp.
struct step_times {
  virtual ~step_times() = default;
  /// The seconds of operation o of the program, or of its gradients with respect to some operands, with all its tensors
  /// (operands first) in these shardings; with what it moves itself.
  virtual double seconds(std::size_t o, const std::vector<sharding>& used, tensor_set gradients) = 0;
  virtual double seconds(const sharding& from, const sharding& to, const shape_list& shape) = 0;
  virtual double of_update(std::size_t elements) = 0;
};

/// The assumptions of an estimate: the links of the mesh, the speed of a worker's arithmetic and memory, and the
/// optimiser's states.
struct step_model {
  mesh_links links{};
  double multiply_adds = 1e11;    ///< per second, by one worker
  double memory_bytes = 1e10;     ///< read or written per second, by one worker
  std::size_t element_bytes = 4;  ///< of a real number; a complex one has twice as many
  std::size_t states = 0;  ///< tensors of the optimiser for each parameter, of its size: 1 for momentum, 2 for Adam
  step_times* times = nullptr;  ///< not null: in place of the links and the two speeds
};

/// The cost of a step for one worker: the busiest one if the shards are uneven.
struct step_cost {
  double computing = 0;       ///< seconds
  double moving = 0;          ///< seconds
  double starting = 0;        ///< part of `moving`: the latencies of messages
  double hidden = 0;          ///< part of `moving`: something is computed in this time
  std::size_t received = 0;   ///< bytes
  std::size_t movements = 0;  ///< reshards, each of one step or more
  std::size_t peak = 0;       ///< the most bytes that a worker holds at any time
  constexpr double seconds() const { return computing + moving - hidden; }
  friend constexpr bool operator==(const step_cost&, const step_cost&) = default;
};

/// One event in a step.
struct step_event {
  enum class what : std::uint8_t { compute, move, update, window };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  what done = what::compute;
  bool backward = false;
  std::uint32_t operation = none;  ///< none: the update of a parameter
  std::uint32_t of = 0;            ///< the value that is made, updated or moved; its cotangent if `is_cotangent`
  bool is_cotangent = false;
  sharding from{}, to{};  ///< for a move
  std::size_t bytes = 0;  ///< received by a worker
  double seconds = 0;
  std::size_t held = 0;  ///< bytes that a worker holds during the event
};

constexpr const char* name_of(step_event::what done) {
  constexpr const char* names[] = {"compute", "move", "update", "window"};
  return names[static_cast<std::size_t>(done)];
}

}  // namespace partita
