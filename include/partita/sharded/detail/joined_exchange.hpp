// An exchange that executes several small movements with common messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/core/config.hpp>
#include <partita/sharded/detail/planned_exchange.hpp>
#include <vector>

namespace partita::detail {

/// This worker's part of several movements that share their messages. All boxes for one receiver are packed one after
/// the other into one message, which the receiver unpacks, so that each box is copied two more times than in a movement
/// of its own. The movements may have different element types.
class joined_exchange {
 public:
  /// Whether a movement can share messages, which requires that elements move, and that they can be copied as bytes.
  static bool can_join(const planned_exchange& one) {
    return one.max_received_elements() > 0 && one.kind().in_shared_memory;
  }

  PARTITA_DECL explicit joined_exchange(const std::vector<std::shared_ptr<planned_exchange>>& all);

  std::size_t movement_count() const { return parts_.size(); }  ///< the number of joined movements
  /// Whether this worker takes part in at least one of the joined movements.
  bool takes_part() const { return takes_part_; }
  /// Opens the exchange, if this worker takes part in it. Returns whether this worker takes part.
  PARTITA_DECL bool open(transport& channels);
  /// Sets the memory of the operand x and the result y of movement `part`. The memory must exist until the next
  /// finish(). A pointer is null if this worker has no block of the tensor.
  void set_memory(std::size_t part, void* x, void* y) { parts_[part].x = x, parts_[part].y = y; }
  PARTITA_DECL void start();                                         ///< Packs and sends the boxes.
  PARTITA_DECL void finish();                                        ///< Waits for the messages, and unpacks the boxes.
  box_exchange* opened_exchange() const { return exchange_.get(); }  ///< null before open(), and if not takes_part()

 private:
  struct movement_part {                                  ///< this worker's part of one of the movements
    element_kind kind{};                                  ///< the element type of the movement
    lowered_plan plan{};                                  ///< the boxes that this worker sends, receives and keeps
    short_list<std::ptrdiff_t> x_strides{}, y_strides{};  ///< the strides of this worker's dense blocks x and y
    void *x = nullptr, *y = nullptr;                      ///< the memory of these blocks
  };
  /// A box in a message: the worker at the other end, the number of the box's movement, the number of the box in that
  /// movement's plan, and the offset of the box in the buffer of all messages, in words.
  struct packed_box {
    std::size_t worker = 0, part = 0, box = 0, offset = 0;  ///< part: the number of a movement; offset: in words
  };
  using word = std::uint64_t;  ///< the unit of the buffers: 8 bytes

  /// Lists in `all` the boxes of all movements, ordered by workers and then by movements, with their offsets in the
  /// buffer of all messages; adds one message for each worker to `messages`. Returns the number of words in all
  /// messages.
  PARTITA_DECL std::size_t assign_box_offsets(box_list lowered_plan::*boxes, std::vector<packed_box>& all,
                                              box_list& messages) const;

  std::vector<movement_part> parts_;                         ///< the movements, in the order in which they were passed
  lowered_plan messages_{1};                                 ///< one box, a message, for each worker at the other end
  std::vector<packed_box> outgoing_boxes_, incoming_boxes_;  ///< the boxes to send and to receive, ordered by worker
  std::vector<word> send_buffer_, receive_buffer_;           ///< all messages that this worker sends, or receives
  bool takes_part_ = false;                                  ///< see takes_part()
  movement_counts counts_{1, 0, 0};                          ///< what one execution adds to run_state.movement_totals
  std::unique_ptr<box_exchange> exchange_;                   ///< null before open(), and if this worker takes no part
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/joined_exchange.ipp>
#endif
