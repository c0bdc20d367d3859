// Which rows the workers of an index exchange send to each other: from the indices that each worker owns and those that
// it wants, by way of a distributed directory.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/row_moves.hpp>
#include <partita/kernel/index_list.hpp>
#include <vector>

namespace partita::detail {

/// The rows that one worker sends and receives. Between two workers each row travels once, however often it is wanted.
/// The sender packs the rows for one receiver one after the other, in the order in which the receiver asks for them;
/// what arrives is in ascending order of the senders.
struct index_travel {
  /// Rows that travel between this worker and another: where they begin in both workers' lists of such rows.
  struct part {
    std::size_t worker = 0, first = 0, rows = 0, first_there = 0;
  };

  std::size_t sent = 0, received = 0;  ///< numbers of rows
  std::vector<part> to, from;          ///< in ascending order of the workers
  row_moves packed;                    ///< from an owned row to its place among the rows that are sent
  row_moves placed;                    ///< from a row that arrives to a wanted row
  bool is_repeated = false;            ///< a row that arrives is wanted more than once
  /// The rows that arrive from other nodes are passed on to other workers of this node, in a second step. Back, these
  /// workers return them first: to rows of their own at the worker that passed them on, which combines them.
  bool in_two_steps = false;
  struct passed_part : part {
    std::size_t returned_to = 0;  ///< the first of these rows
  };
  std::size_t returned = 0;  ///< the number of these rows
  std::vector<passed_part> passed_to, passed_from;

  /// Whether the rows that arrive are wanted rows in this order, one after the other.
  bool arrives_in_order() const {
    return !in_two_steps && (placed.empty() || (placed.is_one_run() && placed.rows() == received));
  }
  std::size_t first_placed() const { return placed.first().to; }
};

/// What one worker sends, keeps and receives.
struct index_pattern {
  std::size_t owned = 0, wanted = 0;  ///< numbers of rows
  row_moves kept;                     ///< from an owned row to a wanted row
  index_travel travel;
};

/// Makes the pattern and opens the transport. Collective.
/// Requires: the owned indices of all workers are 0, 1, ..., n - 1, each on one worker, and the wanted ones are below n
///           [shape_error, on all workers].
/// Cost:     six exchanges of lists (sent_to_each), eleven if there are several nodes, three fewer if each worker owns
///           a range. A worker holds the owners of n / p indices, or of p ranges, besides what it owns and wants.
PARTITA_DECL index_pattern learnt_pattern(world_state& world, std::shared_ptr<transport>& ways, const index_list& owned,
                                          const index_list& wanted, const char* name, const char* entry);

/// The pattern of rows whose senders know where they go: row j to worker receivers[j]. A worker gets rows in ascending
/// order of the senders, those of one sender in their order. Opens the transport. Collective.
/// Requires: receivers below the number of workers [shape_error, on all workers].
/// Cost:     two exchanges of lists of at most two numbers.
PARTITA_DECL index_pattern pattern_by_receiver(world_state& world, std::shared_ptr<transport>& ways,
                                               const index_list& receivers, const char* name);
/// The same for rows that are in the order of their receivers: the first counts[0] go to worker 0, and so on. The
/// transport is open.
PARTITA_DECL index_pattern pattern_by_counts(const world_state& world, const std::vector<std::size_t>& counts);

/// The pattern of rows that go to experts, which are distributed evenly over the workers: row j to expert choice[j]. A
/// worker gets rows in ascending order of their experts; first_row[e] is set to where those of its e-th expert begin,
/// and the last entry to the number of all. Opens the transport. Collective.
/// Requires: choices below the number of experts, a choice for each of `per_token`, the same numbers on all workers
///           [shape_error, disagreement_error].
/// Cost:     three exchanges of lists, one of them of the choices.
PARTITA_DECL index_pattern pattern_by_expert(world_state& world, std::shared_ptr<transport>& ways, std::size_t experts,
                                             const index_list& choice, std::size_t per_token, const char* name,
                                             std::vector<std::size_t>& first_row);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/index_pattern.ipp>
#endif
