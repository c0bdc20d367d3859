// The patterns of an index exchange in which the senders choose the receivers of their rows.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/index_pattern.hpp>
#include <partita/kernel/index_list.hpp>
#include <vector>

namespace partita::detail {

/// Makes the pattern of rows whose receivers are given: row j goes to worker receivers[j]. A worker gets rows in
/// ascending order of the senders and, for each sender, in the sender's order. Opens the transport. Collective.
/// Requires: receivers below the number of workers [shape_error, on all workers].
/// Cost:     two exchanges between all workers of lists of at most two numbers.
PARTITA_DECL index_pattern make_pattern_by_receiver(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                    const index_list& receivers, const char* name);

/// Makes the pattern of rows that are in the order of their receivers: the first counts[0] rows go to worker 0, and so
/// on. Collective; requires an open transport.
PARTITA_DECL index_pattern make_pattern_by_counts(const world_state& world, const std::vector<std::size_t>& counts);

/// Makes the pattern of rows that go to experts, which are distributed evenly over the workers: row j goes to expert
/// choice[j]. A worker gets rows in ascending order of their experts; first_row[e] becomes the first row of its e-th
/// expert, and the last entry becomes the number of all rows. Opens the transport. Collective.
/// Requires: choices below the number of experts, `experts_per_token` choices for each token, the same `experts` and
///           `experts_per_token` on all workers [shape_error, disagreement_error].
/// Cost:     three exchanges of lists between workers, one of which contains the choices.
PARTITA_DECL index_pattern make_pattern_by_expert(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                  std::size_t experts, const index_list& choice,
                                                  std::size_t experts_per_token, const char* name,
                                                  std::vector<std::size_t>& first_row);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/receiver_pattern.ipp>
#endif
