// Moves boxes between nodes in joint messages, which combine boxes of several workers. All senders of a message write
// their boxes into the staging area of the message's owner on their node. The owner on the other node receives the
// message into its staging area, and writes the boxes from there to their receivers.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/exchange/joint_plan.hpp>
#include <partita/comm/detail/exchange/way.hpp>
#include <partita/comm/detail/message/pair_messages.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/node/memory_way.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// A channel between the workers of this node: shared memory, or messages if there is no memory for flags.
struct node_local_channel {
  node_local_channel(MPI_Comm everyone, const own_node& members, own_node& tag_counter, arena& memory)
      : own_worker_id(members.worker(members.place())),
        channel(members, memory, tag_counter.next_tag()),
        shared(members, channel),
        messages(everyone, tag_counter.next_tag(), {}, members.oversubscribed()) {}
  /// The channel that moves elements of this kind.
  way& channel_for(const element_kind& kind) {
    return shared.carries(kind) && shared.reaches(own_worker_id) ? static_cast<way&>(shared) : messages;
  }
  std::size_t own_worker_id;  ///< the id of this worker in the world
  node_channel channel;       ///< the flags and the memory that `shared` uses
  memory_way shared;          ///< the channel for elements that shared memory can carry
  message_way messages;       ///< the channel for all other elements
};

/// The channels for the joint messages of a world, shared by all its kernels. Calls with joint messages do not overlap:
/// each finishes before the next starts. Collective to construct.
class joint_channels {
 public:
  joint_channels(MPI_Comm everyone, const own_node& members, own_node& tag_counter, arena& memory)
      : memory_(&memory),
        members_(&members),
        collecting_channel_(everyone, members, tag_counter, memory),
        distributing_channel_(everyone, members, tag_counter, memory),
        between_nodes_(everyone, tag_counter.next_tag(), {}, members.oversubscribed(), &tag_counter) {}

  arena& memory() { return *memory_; }                   ///< The arena of this node, for staging areas.
  const own_node& members() const { return *members_; }  ///< The workers of this node.
  /// The channel of boxes on their way to the owners of joint messages that leave the node.
  way& collecting_channel(const element_kind& kind) { return collecting_channel_.channel_for(kind); }
  /// The channel of boxes on their way from the owners of joint messages that have arrived.
  way& distributing_channel(const element_kind& kind) { return distributing_channel_.channel_for(kind); }
  way& between_nodes() { return between_nodes_; }  ///< The channel of the joint messages.

 private:
  arena* memory_;                                                 ///< the arena of this node, for staging areas
  const own_node* members_;                                       ///< the workers of this node
  node_local_channel collecting_channel_, distributing_channel_;  ///< of boxes to, and from, the owners of messages
  message_way between_nodes_;                                     ///< the channel of the joint messages
};

/// One worker's part in the joint messages of one exchange.
class joint_messages : public box_transport {
 public:
  PARTITA_DECL joint_messages(joint_channels& ways, joint_plan plan, const element_kind& kind);
  joint_messages(const joint_messages&) = delete;
  joint_messages& operator=(const joint_messages&) = delete;
  ~joint_messages() override { release(); }

  PARTITA_INLINE void post_receive(const block_memory& y) override;  ///< Announces y and this worker's staging areas.
  PARTITA_INLINE void post_send(const block_memory& x) override;  ///< Collects the boxes, or sends what is collected.
  PARTITA_INLINE void send_speculatively(const block_memory& x) override;  ///< Sends before other nodes agree.
  PARTITA_INLINE void roll_back() override;  ///< Discards what send_speculatively() has sent.
  /// Without send_speculatively(), the first advance() of an exchange waits until the workers of the node have written
  /// their boxes into this worker's staging area, and then sends this worker's joint messages at once.
  PARTITA_INLINE bool advance() override;
  PARTITA_INLINE void finish() override;            ///< Completes y, and releases the staging areas.
  bool is_needed() const override { return true; }  ///< Others always wait for boxes that this worker passes on.
  PARTITA_INLINE exchange_traffic counts() const override;  ///< What this worker sends in one exchange.

 private:
  PARTITA_DECL void start_collecting_boxes();  ///< Lets the workers of the node write into this worker's staging area.
  PARTITA_DECL void write(const block_memory& x);  ///< Writes this worker's boxes into the staging areas of the owners.
  /// Waits until this worker's staging area has all its boxes, and until the owners have got this worker's boxes.
  PARTITA_DECL void finish_collecting_boxes();
  PARTITA_DECL void send_joint_messages();  ///< Sends the messages that this worker owns.
  PARTITA_DECL void release();              ///< Returns the staging areas to the arena.

  /// What an exchange does now: collect boxes in staging areas, wait until all workers agree that their messages may be
  /// sent, or send and receive messages; at last all messages have arrived.
  enum class stage : char { collecting, has_collected_boxes, between_nodes, has_arrived };

  element_kind kind_;                                        ///< the kind of the elements
  arena* memory_;                                            ///< the arena of the staging areas
  std::size_t rank_;                                         ///< the number of dimensions of each box
  bool oversubscribed_;                                      ///< whether this machine has more workers than cores
  box_list own_leaving_boxes_, own_arriving_boxes_;          ///< this worker's own boxes in its own staging areas
  std::size_t leaving_bytes_, arriving_bytes_;               ///< sizes of this worker's two staging areas
  char *leaving_area_ = nullptr, *arriving_area_ = nullptr;  ///< this worker's staging areas, as owner of messages
  std::unique_ptr<box_transport> collecting_transport_, distributing_transport_;  ///< for boxes on this node
  std::unique_ptr<box_transport> leaving_transport_, arriving_transport_;         ///< for joint messages
  block_memory y_;                            ///< the result block of the current exchange
  stage current_stage_ = stage::has_arrived;  ///< of the current exchange, or of the last one
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/exchange/impl/joint_messages.ipp>
#endif
