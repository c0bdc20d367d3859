// The rows that the workers of an index exchange send to each other, from the indices that they own and want.
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

/// The rows that one worker sends and receives. A row is sent to a receiver once, even if the receiver wants the row
/// several times. The sender packs the rows for one receiver in the order in which the receiver requests them; received
/// rows are in ascending order of their senders.
struct row_transfers {
  /// The rows that are sent between this worker and one other worker: their number, and the position of their first row
  /// in this worker's list and in the other worker's list of sent or received rows.
  struct part {
    std::size_t worker = 0, first_row = 0, rows = 0, first_row_at_peer = 0;  ///< positions in packed or received rows
  };

  std::size_t sent_count = 0, received_count = 0;  ///< how many rows it sends in the first step; gets in all steps
  std::vector<part> sent_parts, received_parts;    ///< the rows for each receiver and from each sender, ascending
  row_moves packed;                                ///< copies owned rows to positions among the sent rows
  row_moves placed_rows;                           ///< copies received rows to wanted rows
  bool has_repeated_rows = false;                  ///< whether a received row is wanted more than once
  /// Whether rows from other nodes are passed on to other workers of this node in a second exchange. In the adjoint,
  /// the receivers of the second exchange first return the rows to its senders, which combine them in separate memory.
  bool has_two_steps = false;
  struct forwarded_part : part {       // consecutive rows that are passed on in the second exchange
    std::size_t first_return_row = 0;  ///< its first row in the returned rows of the worker that passes it on
  };
  std::size_t returned_count = 0;  ///< the number of rows in the memory for returned rows
  std::vector<forwarded_part> forwarded_to_peers, forwarded_by_peers;  ///< rows that it passes on; rows passed on to it

  /// Whether the received rows are consecutive wanted rows in the same order.
  bool arrives_in_order() const {
    return !has_two_steps &&
           (placed_rows.empty() || (placed_rows.has_one_run() && placed_rows.rows() == received_count));
  }
  /// The first wanted row that is received; if arrives_in_order(), the first received row goes there.
  std::size_t first_destination() const { return placed_rows.first().to; }
};

/// Which rows one worker sends, keeps and receives in an index exchange.
struct index_pattern {
  std::size_t owned_count = 0, wanted_count = 0;  ///< the numbers of rows that this worker owns and wants
  row_moves kept;                                 ///< copies this worker's owned rows to its wanted rows
  row_transfers transfers;                        ///< the rows that this worker sends and receives
};

/// Makes the pattern from owned and wanted indices, and opens the transport. Collective.
/// Requires: the owned indices of all workers are 0, 1, ..., n - 1, each on one worker, and wanted indices are below n
///           [shape_error, on all workers].
/// Cost:     six exchanges of lists (exchange_lists), eleven if several workers of one node want one row of another
///           node, eight if there are several nodes but no such row; three fewer if every worker owns a range. During
///           the call a worker stores the owners of n / p indices, or of p ranges, besides its own indices.
PARTITA_DECL index_pattern make_pattern_by_index(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                 const index_list& owned, const index_list& wanted, const char* name,
                                                 const char* wanted_name);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/index_pattern.ipp>
#endif
