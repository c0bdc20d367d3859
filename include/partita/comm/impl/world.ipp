// Defines the functions that comm/world.hpp declares.
#pragma once

#include <new>
#include <partita/comm/world.hpp>

namespace partita::detail {

PARTITA_DEF std::vector<std::size_t> workers_with_colour(world_state& state, std::uint64_t colour) {
  return one_call(state, [&] {
    std::vector<std::uint64_t> all(state.size());
    state.agree(0x73706c6974ULL, 0, failure::none, [] { return text("partita::world::split(colour)"); });
    check(MPI_Allgather(&colour, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, state.communicator()), "MPI_Allgather");
    std::vector<std::size_t> same;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k] == colour) same.push_back(k);
    return same;
  });
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF world::world(checks level) : state_(detail::shared_world(require_initialised(), level)) {}
PARTITA_DEF world::world(const boost::mpi::communicator& communicator, checks level)
    : state_(detail::shared_world(MPI_Comm(communicator), level)) {}

PARTITA_DEF world world::split(std::size_t colour) const {
  return part(partita::workers(detail::workers_with_colour(*state(), colour)));
}

PARTITA_DEF world world::part(const partita::workers& chosen) const {
  if (chosen.id_end() > size())
    throw partition_error(text("partita::world::part: requires workers of a world of ")
                          << size() << ", got worker " << chosen.id_end() - 1 << "; choose ids below " << size());
  world made(nullptr);
  if (!chosen.contains(id())) return made;
  MPI_Comm communicator = MPI_COMM_NULL;
  try {
    communicator = state_->make_communicator_for(chosen);
  } catch (const std::bad_alloc&) {  // the other workers wait for this one
    if (chosen.size() > 1) state_->report().on_memory_lack_midcall();
    throw;
  }
  made.state_ = detail::shared_world(communicator, level(), true);
  return made;
}

PARTITA_DEF MPI_Comm world::require_initialised() {
  detail::process::expect_worker("partita::world");
  return MPI_COMM_WORLD;
}

PARTITA_DEF void world::throw_not_in_world() {
  throw partition_error(
      "partita::world: requires a world that this worker belongs to, and this one is a part of others or was moved "
      "from; ask active() first, and copy worlds: it is cheap");
}

}  // namespace partita
