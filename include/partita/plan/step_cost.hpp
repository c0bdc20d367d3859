// What a step of a program costs: the numbers it is estimated from, and those it comes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/reshard_plan.hpp>

namespace partita {

/// What an estimate takes for granted: the links of the mesh, how fast a worker computes and reads its memory, and what
/// the optimiser keeps.
struct step_model {
  mesh_links links{};
  double multiply_adds = 1e11;  ///< in a second, by one worker
  double memory_bytes = 1e10;   ///< read or written in a second, by one worker
  std::size_t element_bytes = 4;
  std::size_t states = 0;  ///< tensors kept for each parameter, as large as it: 1 for momentum, 2 for Adam
};

/// What one worker has to do in a step, the busiest one where cuts are uneven.
struct step_cost {
  double computing = 0;       ///< seconds
  double moving = 0;          ///< seconds
  double starting = 0;        ///< of these, what it takes to start messages
  std::size_t received = 0;   ///< bytes
  std::size_t movements = 0;  ///< reshards, each of one step or more
  std::size_t peak = 0;       ///< bytes that a worker holds at most
  constexpr double seconds() const { return computing + moving; }
  friend constexpr bool operator==(const step_cost&, const step_cost&) = default;
};

/// One thing that happens in a step.
struct step_event {
  enum class what : std::uint8_t { compute, move, update };
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  what done = what::compute;
  bool backward = false;
  std::uint32_t operation = nobody;  ///< nobody: the update of a parameter
  std::uint32_t of = 0;              ///< the value that is made, updated or moved; its cotangent if `is_cotangent`
  bool is_cotangent = false;
  sharding from{}, to{};  ///< of a move
  std::size_t bytes = 0;  ///< that a worker receives
  double seconds = 0;
  std::size_t held = 0;  ///< bytes that a worker holds while it happens
};

constexpr const char* name_of(step_event::what done) {
  constexpr const char* names[] = {"compute", "move", "update"};
  return names[static_cast<std::size_t>(done)];
}

namespace detail {

/// The bytes of the largest block of a tensor.
constexpr std::size_t block_bytes(const sharding& s, const shape_list& shape, std::size_t element_bytes) {
  std::size_t all = element_bytes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t parts = s.on.size(s.cuts[d]);
    all *= shape[d] == dynamic ? 1 : (shape[d] + parts - 1) / parts;
  }
  return all;
}
/// What a plan takes to start its messages: all but what its bytes take.
constexpr double starting_seconds(const reshard_plan& plan, const mesh_links& over) {
  double all = 0;
  for (const reshard_step& one : plan)
    if (one.axis != reshard_step::none)
      all += one.seconds - static_cast<double>(one.bytes) * over.along[one.axis].seconds_per_byte;
  return all > 0 ? all : 0;
}

}  // namespace detail
}  // namespace partita
