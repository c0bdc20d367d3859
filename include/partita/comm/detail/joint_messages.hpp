// Moves boxes between nodes in joint messages. All senders of a message write their boxes into the staging area of the
// message's owner on their node. The owner on the other node receives the message into its staging area, and writes the
// boxes from there to their receivers.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/joint_plan.hpp>
#include <partita/comm/detail/message/pair_messages.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/node/memory_way.hpp>
#include <partita/comm/detail/way.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The channels for the joint messages of a world, shared by all its kernels. Calls with joint messages do not overlap:
/// each finishes before the next starts. Collective to construct.
template <class = void>
class basic_joint_ways {
 public:
  basic_joint_ways(MPI_Comm everyone, const own_node& members, own_node& tags, arena& memory)
      : memory_(&memory),
        members_(&members),
        collecting_(everyone, members, tags, memory),
        handing_out_(everyone, members, tags, memory),
        between_(everyone, tags.next_tag(), {}, members.oversubscribed(), &tags) {}

  arena& memory() { return *memory_; }
  const own_node& members() const { return *members_; }
  way& collecting(const element_kind& kind) { return collecting_.of(kind); }
  way& handing_out(const element_kind& kind) { return handing_out_.of(kind); }
  way& between() { return between_; }

 private:
  /// A channel between the workers of this node: shared memory, or messages where there is no memory for flags.
  struct near_way {
    near_way(MPI_Comm everyone, const own_node& members, own_node& tags, arena& memory)
        : near(members.worker(members.place())),
          channel(members, memory, tags.next_tag()),
          shared(members, channel),
          messages(everyone, tags.next_tag(), {}, members.oversubscribed()) {}
    way& of(const element_kind& kind) {
      return shared.carries(kind) && shared.reaches(near) ? static_cast<way&>(shared) : messages;
    }
    std::size_t near;
    node_channel channel;
    memory_way shared;
    message_way messages;
  };

  arena* memory_;
  const own_node* members_;
  near_way collecting_, handing_out_;
  message_way between_;
};
using joint_ways = basic_joint_ways<>;

/// One worker's part in the joint messages of one exchange.
template <class = void>
class basic_joint_messages : public carrier {
 public:
  basic_joint_messages(joint_ways& ways, joint_plan plan, const element_kind& kind)
      : kind_(kind),
        memory_(&ways.memory()),
        rank_(plan.direct.rank),
        oversubscribed_(ways.members().oversubscribed()),
        own_leaving_(std::move(plan.own_leaving)),
        own_arriving_(std::move(plan.own_arriving)),
        leaving_bytes_(plan.leaving_bytes),
        arriving_bytes_(plan.arriving_bytes) {
    const auto kind_of_bytes = element_kind::moved<char>();
    const auto messages = [&](box_list&& out, box_list&& in) {
      lowered_plan boxes(1);
      boxes.sends = std::move(out), boxes.receives = std::move(in);
      return ways.between().prepare(std::move(boxes), kind_of_bytes);
    };
    collecting_ = ways.collecting(kind).prepare(std::move(plan.collecting), kind);
    handing_out_ = ways.handing_out(kind).prepare(std::move(plan.handing_out), kind);
    leaving_ = messages(std::move(plan.leaving), box_list(1));
    arriving_ = messages(box_list(1), std::move(plan.arriving));
  }
  basic_joint_messages(const basic_joint_messages&) = delete;
  basic_joint_messages& operator=(const basic_joint_messages&) = delete;
  ~basic_joint_messages() override { release(); }

  void expect(const block_memory& y) override {
    y_ = y;
    if (stage_ != stage::collected) begin_to_collect();
    if (arriving_bytes_ != 0) arriving_area_ = static_cast<char*>(memory_->allocate(arriving_bytes_));
    handing_out_->expect(y);
    arriving_->expect({arriving_area_, nullptr});
    arriving_->give({});
  }
  void give(const block_memory& x) override {
    if (stage_ == stage::collected) leave();
    else write(x);
  }
  void send_speculatively(const block_memory& x) override {
    begin_to_collect();
    write(x);
    collect();
    leaving_->send_speculatively({leaving_area_, nullptr});
  }
  void roll_back() override {
    leaving_->roll_back();
    release();
    stage_ = stage::arrived;
  }
  /// The first call waits until the workers of the node have written their boxes in this call, so that the messages
  /// leave now; nothing else in the call delays them.
  bool advance() override {
    if (stage_ == stage::collecting) {
      collect();
      leave();
    }
    const bool left = leaving_->advance();
    if (stage_ == stage::under_way) {
      if (!arriving_->advance()) return false;
      handing_out_->give({arriving_area_, nullptr});
      for (std::size_t k = 0; k < own_arriving_.size(); ++k) {
        const listed_box b = own_arriving_[k];
        pack_box(kind_, b, rank_, y_, arriving_area_ + b.stage, false, stores::by_size);
      }
      stage_ = stage::arrived;
    }
    return handing_out_->advance() && left;
  }
  void finish() override {
    handing_out_->finish();
    release();
  }
  bool passes_on() const override { return true; }
  carried counts() const override {
    carried all = collecting_->counts();
    all += handing_out_->counts();
    all += leaving_->counts();
    return all;
  }

 private:
  void begin_to_collect() {
    stage_ = stage::collecting;
    if (leaving_bytes_ != 0) leaving_area_ = static_cast<char*>(memory_->allocate(leaving_bytes_));
    collecting_->expect({leaving_area_, nullptr});
  }
  /// Writes this worker's boxes into the staging areas of the owners.
  void write(const block_memory& x) {
    collecting_->give(x);
    for (std::size_t k = 0; k < own_leaving_.size(); ++k) {
      const listed_box b = own_leaving_[k];
      pack_box(kind_, b, rank_, x, leaving_area_ + b.stage, true, stores::cached);
    }
  }
  void collect() {
    for (backoff p(oversubscribed_); !collecting_->advance();) p.pause();
    collecting_->finish();
    stage_ = stage::collected;
  }
  void leave() {
    leaving_->expect({});
    leaving_->give({leaving_area_, nullptr});
    stage_ = stage::under_way;
  }
  /// Returns the staging areas to the pool, where the next call of any kernel finds them.
  void release() {
    if (leaving_area_ != nullptr) memory_->release(std::exchange(leaving_area_, nullptr), leaving_bytes_);
    if (arriving_area_ != nullptr) memory_->release(std::exchange(arriving_area_, nullptr), arriving_bytes_);
  }

  enum class stage : char { collecting, collected, under_way, arrived };

  element_kind kind_;
  arena* memory_;
  std::size_t rank_;
  bool oversubscribed_;
  box_list own_leaving_, own_arriving_;
  std::size_t leaving_bytes_, arriving_bytes_;
  char *leaving_area_ = nullptr, *arriving_area_ = nullptr;
  std::unique_ptr<carrier> collecting_, handing_out_, leaving_, arriving_;
  block_memory y_;
  stage stage_ = stage::arrived;
};
using joint_messages = basic_joint_messages<>;

}  // namespace partita::detail
