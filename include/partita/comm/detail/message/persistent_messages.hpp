// Sends and receives boxes as messages, many times, by persistent MPI requests: in place where a message is one
// contiguous box; else through buffers, as a whole or in consecutive chunks, or as MPI derived types.
#pragma once

#include <cstddef>
#include <partita/comm/detail/message/message_list.hpp>
#include <partita/comm/detail/message/message_type.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// All messages that one worker sends, or all that it receives.
class persistent_messages {
 public:
  PARTITA_DECL persistent_messages(message_list pool, const element_kind& kind, bool is_outgoing);
  persistent_messages(const persistent_messages&) = delete;
  persistent_messages& operator=(const persistent_messages&) = delete;
  PARTITA_INLINE ~persistent_messages();

  /// The number of messages of one exchange.
  std::size_t count() const { return messages_.size(); }
  /// The bytes of all messages of one exchange.
  PARTITA_DECL std::size_t bytes() const;
  /// The bytes of the longest message.
  std::size_t longest_message_bytes() const { return longest_message_bytes_; }

  /// Whether some messages of an exchange wait for the slots of earlier messages.
  PARTITA_DECL bool reuses_slots() const;

  /// Starts an exchange of the boxes of a block.
  PARTITA_DECL void start(MPI_Comm comm, int tag, const block_memory& block);

  /// Ends the sends of an exchange that is discarded, which no receiver takes: waits at most 0.1 s until MPI has sent
  /// them, and leaves the rest to MPI. Then the next exchange can start.
  PARTITA_DECL void end_discarded_sends();

  /// Starts and completes messages as far as possible without waiting. Returns true if all messages are complete.
  PARTITA_DECL bool advance();

 private:
  /// How MPI sends or receives a message: in the block itself, as a packed copy in a slot of the buffer, or in the
  /// block by a derived type.
  enum class data_path : char { in_place, through_slot, through_mpi_type };
  static constexpr std::size_t no_message = ~std::size_t{0};  ///< instead of the index of a message

  /// Whether the previous message in the slot of this message is complete.
  bool has_room(std::size_t k) const {
    return previous_in_slot_[k] == no_message || is_complete_[previous_in_slot_[k]] != 0;
  }

  /// Copies a message from the block to the message's slot, or from the slot to the block.
  PARTITA_DECL void copy_through_slot(std::size_t k) const;

  /// The memory of this exchange's block, without strides if it is staged.
  block_memory block() const { return {block_, is_staged_ ? nullptr : strides_.data()}; }
  /// Whether a box is contiguous in the block of this exchange.
  bool is_contiguous_box(std::size_t box) const {
    return is_staged_ || is_contiguous(boxes_[box].shape, strides_.data(), rank_);
  }
  /// Whether the MPI types were made for these strides (null: staged).
  PARTITA_DECL bool has_same_strides(const std::ptrdiff_t* strides) const;

  /// Makes the persistent MPI requests for messages of this block, unless these requests exist already.
  PARTITA_DECL void make_requests(MPI_Comm comm, int tag, const block_memory& block);

  /// Chooses how the bytes of each message travel, and makes the MPI types.
  PARTITA_DECL void choose_data_paths();

  /// Makes one MPI type for all boxes of a message, relative to the first box.
  PARTITA_DECL MPI_Datatype make_message_type(const message& p) const;

  /// Assigns slots of the buffer to messages. Each packed message has its own slot. Chunked messages share a set of
  /// slots, which they use in turn: two for each other worker, and at least eight, so that the oldest chunk of any pair
  /// never waits for a younger chunk.
  PARTITA_DECL void assign_slots();

  /// Makes the request of a message for the current block and buffer.
  PARTITA_DECL void make_request(std::size_t k);

  /// Frees the MPI requests and types.
  PARTITA_DECL void free_requests();

  box_list boxes_;                             // the boxes of all messages
  std::vector<message> messages_;              // in the order in which they start
  std::size_t workers_, rank_;                 // the number of other workers, and the rank of the tensor
  std::size_t longest_message_bytes_ = 0;      // see longest_message_bytes()
  element_kind kind_;                          // the kind of the elements
  bool is_outgoing_, is_staged_ = false;       // is_staged_: the block is dense memory that holds only the boxes
  MPI_Comm comm_ = MPI_COMM_NULL;              // the communicator for which the requests were made
  int tag_ = 0;                                // the MPI tag for which the requests were made
  char* block_ = nullptr;                      // the block for which the requests were made
  std::vector<std::ptrdiff_t> strides_;        // the strides of that block
  bool is_prepared_ = false;                   // whether the requests exist
  std::vector<data_path> data_paths_;          // how the bytes of each message travel
  std::vector<MPI_Datatype> message_types_;    // for each message; null if it needs no type
  std::vector<MPI_Request> mpi_requests_;      // one for each message
  std::vector<char*> slot_addresses_;          // for each message; null if it needs no slot
  std::vector<std::size_t> previous_in_slot_;  // for each message the previous message in its slot, or `no_message`
  std::vector<char> is_complete_;              // for each message whether it is complete in this exchange
  std::vector<int> completed_indices_;         // what MPI_Testsome returns: messages that are now complete
  std::size_t first_pending_ = 0, next_message_ = 0;  // messages [first_pending_, next_message_) are pending
  char* buffer_ = nullptr;                            // the memory of all slots
  std::size_t buffer_bytes_ = 0;                      // the size of this memory
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/persistent_messages.ipp>
#endif
