// The messages between one worker and all others, in both directions, and the choice of the form of each pair's
// messages: by the policy, by size, or by a trial of all forms at the first exchange.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/detail/exchange/way.hpp>
#include <partita/comm/detail/message/persistent_messages.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The messages of one exchange. Both workers of a pair take part in each exchange.
class pair_messages : public box_transport {
 public:
  /// Makes the messages of these boxes, which are sorted by worker, for each pair in the same order on both workers.
  PARTITA_DECL pair_messages(MPI_Comm comm, int tag, box_list out, box_list in, const element_kind& kind,
                             const message_policy& policy, bool oversubscribed, const own_node* node_or_null = nullptr);

  exchange_traffic counts() const override { return {sent_messages_->count(), sent_messages_->bytes(), 0}; }
  /// Whether other workers may wait until this worker calls advance(), because messages use slots one after the other.
  bool is_needed() const override { return sent_messages_->reuses_slots() || received_messages_->reuses_slots(); }
  void post_receive(const block_memory& y) override { y_ = y; }  ///< Notes y; post_send() posts the receives.
  /// Posts the receives and starts the sends, without waiting, except at the first exchange of pairs whose message
  /// forms are measured. Between nodes, if some message uses MPI's rendezvous protocol, the sends are started before
  /// the receives: a posted receive makes its sender send at once, and the request for this worker's message would
  /// queue behind all those bytes in the NIC of the worker whose receive was posted first (35 to 60 ms instead of 35
  /// for 4 MiB a worker, rows to columns, 2 hosts of 2 workers at 1 Gbit).
  PARTITA_INLINE void post_send(const block_memory& x) override;
  /// Sends x now if MPI sends it eagerly, messages may be sent before all workers agree, and no forms must be measured.
  PARTITA_INLINE void send_speculatively(const block_memory& x) override;
  void roll_back() override {  ///< ends the sends that send_speculatively() started, if it started any
    if (std::exchange(has_started_sends_, false)) sent_messages_->end_discarded_sends();
  }
  PARTITA_INLINE bool advance() override;  ///< true if all messages of this worker are complete
  void finish() override {}                ///< nothing is left to do after advance()

 private:
  /// The forms that are measured.
  static constexpr std::array measurable_forms{message_form::packed, message_form::chunked, message_form::typed};
  using seconds_by_form = std::array<double, measurable_forms.size()>;  ///< the time of one exchange in each form

  /// Whether MPI is known to send each message of this worker before its receive is posted.
  bool is_sent_eagerly() const { return sent_messages_->longest_message_bytes() <= node_or_null_->link().eager_bytes; }
  /// The tag of this exchange's messages, which changes after a call whose speculative messages were discarded.
  int tag() const { return node_or_null_ == nullptr ? tag_ : node_or_null_->tag_in_this_round(tag_); }
  /// The workers with which this worker exchanges enough bytes for a trial, in ascending order. The lists are
  /// symmetric: if worker a is in the list of worker b, then b is in the list of a.
  PARTITA_DECL std::vector<std::size_t> partners_to_measure() const;

  /// The form (packed, chunked or typed) of the messages exchanged with one worker.
  PARTITA_DECL message_form choose_form(const pair_volume& c) const;

  /// Makes the messages of all pairs, each in its form.
  PARTITA_DECL void make_messages();

  /// Exchanges the boxes of all large pairs in every form, three times each; the first time only faults in the buffers.
  /// Each pair then takes the form in which its slower worker took the shortest time, so that both choose the same
  /// form. MPI's derived types must win by a quarter, because they become three times slower when a hypervisor later
  /// moves the workers to distant cores.
  PARTITA_DECL void measure_forms(const block_memory& x);

  MPI_Comm comm_;  // the communicator of the messages
  int tag_;        // the MPI tag of the messages before any round of discarded messages, see tag()
  // the node's tag counter if messages may be sent before all workers agree, because some calls then change the tags
  const own_node* node_or_null_;
  bool has_started_sends_ = false;               // whether the next exchange's sends were started speculatively
  box_list sent_boxes_, received_boxes_;         // boxes of the sent block, and of the result; by the other worker
  element_kind kind_;                            // the kind of the elements
  message_policy policy_;                        // how the forms are chosen
  bool oversubscribed_, is_unmeasured_ = false;  // is_unmeasured_: the next exchange measures the forms first
  std::vector<std::pair<std::size_t, message_form>> measured_forms_;        // the form for each measured worker
  std::unique_ptr<persistent_messages> sent_messages_, received_messages_;  // to, and from, all other workers
  block_memory y_;  // the block into which the next exchange receives
};

/// The channel by messages: it reaches every other worker.
class message_way : public way {
 public:
  /// The MPI tag `tag` distinguishes this kernel's messages from others on `comm`; `node_or_null` is the node whose
  /// tags change after discarded messages, or null if no message is sent speculatively.
  message_way(MPI_Comm comm, int tag, const message_policy& policy, bool oversubscribed,
              const own_node* node_or_null = nullptr)
      : comm_(comm), tag_(tag), policy_(policy), oversubscribed_(oversubscribed), node_or_null_(node_or_null) {
    MPI_Comm_rank(comm, &own_worker_);
  }
  bool reaches(std::size_t worker) const override { return worker != static_cast<std::size_t>(own_worker_); }
  PARTITA_INLINE std::unique_ptr<box_transport> prepare(lowered_plan boxes, const element_kind& kind) override;

 private:
  MPI_Comm comm_;                 // the communicator of the messages
  int tag_, own_worker_ = 0;      // the MPI tag of the messages; the id of this worker
  message_policy policy_;         // how the forms are chosen
  bool oversubscribed_;           // whether this machine has more workers than cores
  const own_node* node_or_null_;  // see the constructor
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/message/impl/pair_messages.ipp>
#endif
