// Moves boxes into a block that senders on the same node cannot reach, through a ring of slots in shared memory, which
// the sender packs while the receiver unpacks. Where there is no memory for a ring, the boxes travel in messages.
#pragma once

#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// The boxes of one pair of workers, cut into pieces of at most the size of a slot. The pieces are kept while the size
/// of slots stays the same.
class boxes_through_ring {
 public:
  /// The boxes of a pair are consecutive in `whole`, from `first` on. The list `whole` must outlive this object.
  boxes_through_ring(std::size_t place, const element_kind& kind, const box_list& whole, std::size_t first)
      : place_(place), kind_(kind), boxes_(&whole), first_box_(first), end_box_(first), pieces_(whole.rank()) {}

  /// The place of the other worker on the node.
  std::size_t place() const { return place_; }
  /// Adds the next box of the list to the boxes of this pair.
  void extend_by_next_box() { bytes_ += boxes_->volume(end_box_++) * kind_.bytes; }
  /// The boxes of the pair are [first(), last()) in the list.
  std::size_t first() const { return first_box_; }
  std::size_t last() const { return end_box_; }  ///< the index behind the last box of the pair
  std::size_t bytes() const { return bytes_; }   ///< the bytes of all boxes of the pair
  /// The offset in bytes of the first box in the staging area, if there is a staging area.
  std::size_t staging_offset() const { return (*boxes_)[first_box_].staging_offset; }

  /// Starts an exchange, in which the boxes go to the announced memory.
  PARTITA_DECL void start_exchange(const announced_memory& at);

  /// Packs boxes into the empty slots of the ring buffer. Returns true when every box has been sent.
  PARTITA_DECL bool send(node_channel& channel, const block_memory& block, bool streaming);

  /// Unpacks boxes from the filled slots of the ring buffer. Returns true when every box has been received.
  PARTITA_DECL bool receive(node_channel& channel, const block_memory& block, bool streaming);

  /// Whether the sender writes the boxes directly into the receiver's block, without the ring.
  bool is_written_into_block() const { return announced_memory_.is_receivers_block(); }

  /// Whether the boxes take more pieces than the ring has slots, so that sender and receiver wait for each other.
  bool reuses_slots() const {
    return !is_written_into_block() &&
           pieces_.size() > (announced_memory_.is_by_message() ? 1 : node_channel::slot_count);
  }

  /// Packs all boxes of a block in sequence into dense memory, or unpacks them into the block.
  PARTITA_DECL void pack_all_boxes(const block_memory& block, char* packed, bool out) const;
  /// Whether no piece is left that moves through the ring or in a message.
  bool done() const { return announced_memory_.is_receivers_block() || next_piece_ == pieces_.size(); }

 private:
  /// Sends one piece after the other in messages, because there is no shared memory for a ring.
  PARTITA_DECL bool send_messages(const node_channel& channel, const block_memory& block);
  PARTITA_DECL bool receive_messages(const node_channel& channel, const block_memory& block);  ///< receives the pieces
  /// The bytes of the next piece.
  int piece_bytes() const { return static_cast<int>(pieces_.volume(next_piece_) * kind_.bytes); }
  /// Whether the pending message is complete.
  PARTITA_DECL bool is_message_complete();

  /// Packs the next piece into a slot of the ring, or unpacks it from there.
  PARTITA_DECL void pack_piece(const block_memory& block, std::size_t slot, bool out, bool streaming);

  std::size_t place_;                            // the place of the other worker on the node
  element_kind kind_;                            // the kind of the elements
  const box_list* boxes_;                        // the list that also has the boxes of other pairs
  std::size_t first_box_, end_box_, bytes_ = 0;  // the pair's boxes: [first_box_, end_box_) in the list; their bytes
  box_list pieces_;                              // the boxes, cut for slots of slot_bytes_ bytes
  std::size_t slot_bytes_ = 0, next_piece_ = 0;  // the slot size of pieces_; the next piece to move in this exchange
  announced_memory announced_memory_;            // where the boxes of this exchange go
  std::vector<char> packed_;                     // the content of a message, if messages are used
  MPI_Request mpi_request_ = MPI_REQUEST_NULL;   // of the pending message
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/ring.ipp>
#endif
