// The channel through the memory of a node: small boxes may be packed into buffers of the sender (staged); larger boxes
// are written directly into blocks that the sender can reach, and pass through rings to all other blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/exchange/way.hpp>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/node/push.hpp>
#include <partita/comm/detail/node/ring.hpp>
#include <partita/comm/detail/node/staged_boxes.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The boxes of one exchange between the workers of a node, and those that stay on their worker.
class memory_transport : public box_transport {
 public:
  PARTITA_DECL memory_transport(const own_node& members, node_channel& channel, lowered_plan boxes,
                                const element_kind& kind);

  PARTITA_INLINE bool follow(lowered_plan& next) override;  ///< takes over the boxes of `next`; false if it cannot
  PARTITA_INLINE exchange_traffic counts() const override;  ///< what this worker sends in one exchange
  PARTITA_INLINE bool is_needed() const override;           ///< whether others wait until this worker calls advance()

  PARTITA_INLINE void post_receive(const block_memory& y) override;  ///< announces y to the workers that send to it
  bool sends_speculatively() const override {  ///< whether start_speculatively() may be called now
    return !plan_.accumulate && (has_staging_buffers_ || !has_staged_boxes_);
  }
  PARTITA_INLINE void start_speculatively(const block_memory& x, const block_memory& y) override;
  PARTITA_INLINE void roll_back() override;                       ///< undoes start_speculatively
  PARTITA_INLINE void post_send(const block_memory& x) override;  ///< writes the boxes of x to the receivers
  PARTITA_INLINE bool advance() override;  ///< moves what can move now; true if nothing is pending
  PARTITA_INLINE void finish() override;   ///< waits until all boxes have been written to y

 private:
  /// A worker of the node to which this worker sends boxes.
  struct receiving_worker {
    boxes_through_ring ring;       ///< its boxes, also if they do not go through a ring
    bool has_destination = false;  ///< whether this worker knows where the boxes of this exchange go
    bool is_staged = false;  ///< whether this worker packs the boxes into `staging`, and the receiver unpacks them
    staged_boxes staging;    ///< this worker's buffers for the boxes, if `is_staged`
  };
  /// A worker of the node that sends boxes to this worker.
  struct sending_worker {
    boxes_through_ring ring;  ///< its boxes, also if they do not come through a ring
    bool is_staged = false;   ///< whether the sender packs the boxes into `staging`
    staged_boxes staging;     ///< the sender's buffers for the boxes, if `is_staged`
  };

  /// Lists the boxes that the plan moves; reuses the memory of the earlier plan's lists.
  PARTITA_DECL void list_boxes();
  /// Lists all boxes that push_to_all_receivers will write.
  PARTITA_DECL void list_boxes_in_memory_order();
  /// Announces to a sender where its boxes go.
  PARTITA_DECL void announce_destination(sending_worker& o);

  /// In the first exchange, receivers learn where their senders will pack boxes for them. Where a sender has no memory
  /// for such buffers, the receiver announces its block, as for large boxes.
  PARTITA_DECL void find_staging_buffers();
  PARTITA_DECL void pack_staged_boxes(const block_memory& x);  ///< Packs small boxes of x into `staging` of receivers_.
  PARTITA_DECL void unpack_staged_boxes(sending_worker& o);  ///< Waits for a sender's packed boxes; unpacks them to y_.

  /// The boxes of a pair of workers of at most this many bytes together stay in a cache on their way through a ring.
  /// Boxes of more bytes are written into the ring with streaming stores, because a reader on a distant core would have
  /// to fetch lines from the writer's cache.
  static constexpr std::size_t max_cached_ring_bytes = std::size_t{1} << 20;

  /// Whether the strides and the alignment of y_ let senders write boxes directly into y_, if they can reach y_.
  PARTITA_DECL bool can_receive_in_place() const;

  /// The slot size for `bytes` bytes of boxes: a quarter of them, so that sender and receiver work at the same time,
  /// but at most 256 KiB, so that a slot fits in the caches of both cores.
  static constexpr std::size_t slot_bytes(std::size_t bytes) {
    const std::size_t most = std::size_t{256} << 10, quarter = bytes / node_channel::slot_count + 1;
    return quarter < most ? quarter : most;
  }

  /// Writes the boxes [first, last) of a list into the receivers' blocks.
  PARTITA_DECL void push_boxes(const push_list& boxes, std::size_t first, std::size_t last);

  /// Waits until a receiver has announced where its boxes go.
  PARTITA_DECL void await_destination_of(receiving_worker& t);

  /// Waits until all receivers have announced where their boxes go, and then writes the boxes that can be written in
  /// place: in one pass over the source, if these are all boxes.
  PARTITA_DECL void push_to_all_receivers();

  /// Writes to the receivers one by one, as they announce their blocks. The boxes that stay on this worker are copied
  /// when no receiver is ready.
  PARTITA_DECL void push_in_announced_order();
  /// Writes boxes to the receivers that have announced their blocks since the last call; false if there was none.
  PARTITA_DECL bool push_to_ready_receivers();

  /// Copies the boxes that stay on this worker.
  void copy_kept_boxes() { keep_boxes(plan_, kind_, x_, y_, is_streaming_ ? stores::streaming : stores::cached); }

  lowered_plan plan_;                // which boxes move, and which stay
  element_kind kind_;                // the kind of the elements
  node_channel* channel_;            // the flags and rings of the node
  bool oversubscribed_;              // whether this machine has more workers than cores
  const own_node* members_;          // the workers of this node
  std::size_t own_place_;            // this worker's place on the node
  std::vector<char*> blocks_;        // the blocks of the receivers and of this worker, by place on the node
  push_list boxes_;                  // the boxes for workers of the node, in the order of the plan
  push_list boxes_in_memory_order_;  // if streaming: the boxes that stay or are pushed, in memory order of the source
  std::vector<receiving_worker> receivers_;  // the workers of the node that get boxes, by id
  std::vector<sending_worker> senders_;      // the workers of the node that send boxes to this worker, by id
  bool is_streaming_ = false;  // whether boxes are written by streaming stores, because the caches are too small
  std::size_t waiting_receivers_ = 0;  // the number of receivers whose announcement was not read yet
  bool has_staged_boxes_ = false, has_staging_buffers_ = false;  // whether buffers are needed; whether they are made
  bool is_packed_ = false;                   // whether the staged boxes of the next exchange are packed already
  bool is_speculative_ = false;              // whether the exchange was started before all workers had agreed on it
  std::uint64_t packed_exchange_count_ = 0;  // the number of exchanges with packed boxes so far
  block_memory x_, y_;                       // the blocks of this exchange: x_ is sent, and boxes are received into y_
};

/// The channel to the workers of a node, usable if the flags of all of them are in shared memory.
class memory_way : public way {
 public:
  memory_way(const own_node& members, node_channel& channel) : members_(&members), channel_(&channel) {}

  bool reaches(std::size_t worker) const override {  ///< whether `worker` is on this node and the channel is usable
    return channel_->is_usable() && members_->place_of_worker(worker) < members_->size();
  }
  /// Whether an element fits in the smallest slot of a ring, which is one page.
  bool carries(const element_kind& kind) const override { return kind.bytes <= page; }
  PARTITA_INLINE std::unique_ptr<box_transport> prepare(lowered_plan boxes, const element_kind& kind) override;

 private:
  const own_node* members_;  ///< the workers of this node
  node_channel* channel_;    ///< the flags and rings of the node
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/memory_way.ipp>
#endif
