// Sends and receives boxes as messages, many times: in place where a box is contiguous; else through buffers, as a
// whole or in consecutive chunks, or as MPI derived types. All requests are persistent.
#pragma once

#include <cstddef>
#include <partita/comm/detail/message/message_pool.hpp>
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
  PARTITA_DECL persistent_messages(message_pool pool, const element_kind& kind, bool outgoing);
  persistent_messages(const persistent_messages&) = delete;
  persistent_messages& operator=(const persistent_messages&) = delete;
  PARTITA_INLINE ~persistent_messages();

  std::size_t count() const { return messages_.size(); }
  PARTITA_DECL std::size_t bytes() const;

  std::size_t longest() const { return longest_; }

  /// Whether some messages of an exchange wait for the slots of earlier messages.
  PARTITA_DECL bool takes_turns() const;

  PARTITA_DECL void start(MPI_Comm comm, int tag, const block_memory& block);

  /// Ends an exchange whose messages were discarded, so that no receiver takes them. The messages leave at once; a
  /// message that does not is left to MPI.
  PARTITA_DECL void give_up();

  /// Advances everything that can proceed without waiting. Returns true if no message is left.
  PARTITA_DECL bool advance();

 private:
  enum class form : char { in_place, through_slot, as_type };
  static constexpr std::size_t no_message = ~std::size_t{0};

  /// Whether the previous message in the slot of this message is complete.
  bool has_room(std::size_t k) const { return before_[k] == no_message || arrived_[before_[k]] != 0; }

  /// Copies a message from the block to the message's slot, or from the slot to the block.
  PARTITA_DECL void pack(std::size_t k) const;

  /// The memory of this exchange's block, without strides if it is staged.
  block_memory block() const { return {block_, staged_ ? nullptr : strides_.data()}; }
  bool contiguous(std::size_t box) const { return staged_ || is_contiguous(boxes_[box].shape, strides_.data(), rank_); }
  PARTITA_DECL bool same_strides(const std::ptrdiff_t* strides) const;

  /// Makes the requests for this block, unless they exist already.
  PARTITA_DECL void prepare(MPI_Comm comm, int tag, const block_memory& block);

  PARTITA_DECL void choose_forms();

  /// Makes one MPI type for all boxes of a message, relative to the first box.
  PARTITA_DECL MPI_Datatype type_of(const message& p) const;

  /// Assigns slots of the buffer to messages. Each packed message has its own slot. Chunks use a set of slots in turn,
  /// with a share for every pair, so that the oldest chunk of any pair never waits for a younger chunk.
  PARTITA_DECL void deal_slots();

  /// Makes the request of a message for the current block and buffer.
  PARTITA_DECL void bind(std::size_t k);

  PARTITA_DECL void forget();

  box_list boxes_;
  std::vector<message> messages_;
  std::size_t workers_, rank_, longest_ = 0;
  element_kind kind_;
  bool outgoing_, staged_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  char* block_ = nullptr;
  std::vector<std::ptrdiff_t> strides_;
  bool prepared_ = false;
  std::vector<form> form_;
  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
  std::vector<char*> slot_;
  std::vector<std::size_t> before_;  // for each message the previous message in its slot, or `no_message`
  std::vector<char> arrived_;
  std::vector<int> finished_;
  std::size_t first_ = 0, next_ = 0;  // messages [first_, next_) are pending
  char* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/persistent_messages.ipp>
#endif
