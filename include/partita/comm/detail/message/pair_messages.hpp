// The messages between one worker and all others, in both directions, and the choice of the form of each pair's
// messages: as the policy says, by size, or by a trial of all forms at the first exchange.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/detail/message/persistent_messages.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/comm/detail/way.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The messages of one exchange. Both workers of a pair take part in each exchange.
template <class = void>
class basic_pair_messages : public carrier {
 public:
  /// Boxes are sorted by worker; the boxes between two workers have the same order on both.
  basic_pair_messages(MPI_Comm comm, int tag, box_list out, box_list in, const element_kind& kind,
                      const message_policy& policy, bool oversubscribed, const own_node* among = nullptr)
      : comm_(comm),
        tag_(tag),
        among_(among),
        out_(std::move(out)),
        in_(std::move(in)),
        kind_(kind),
        policy_(policy),
        oversubscribed_(oversubscribed) {
    to_measure_ = policy_.how == messages::measured && !pairs_to_try().empty();
    choose_forms();
  }

  carried counts() const override { return {outgoing_->count(), outgoing_->bytes(), 0}; }
  void expect(const block_memory& y) override { y_ = y; }
  /// Posts the receives and starts the sends. Does not wait, except at the first exchange of pairs whose message forms
  /// are measured. Messages that use MPI's rendezvous protocol are started before the receives: a posted receive makes
  /// its sender send at once, and the request for our own message would queue behind all those bytes in the NIC of the
  /// rank that came first (35 to 60 ms instead of 35 for 4 MiB a worker, rows to columns, 2 hosts of 2 workers at 1
  /// Gbit).
  void give(const block_memory& x) override {
    if (to_measure_) measure(x);
    const bool announced = among_ != nullptr && among_->is_one_of_many() && !leaves_at_once();
    if (!announced) incoming_->start(comm_, tag(), y_);
    if (!std::exchange(is_given_, false)) outgoing_->start(comm_, tag(), x);
    if (announced) incoming_->start(comm_, tag(), y_);
  }
  void send_speculatively(const block_memory& x) override {
    if (to_measure_ || among_ == nullptr || !leaves_at_once()) return;
    outgoing_->start(comm_, tag(), x);
    is_given_ = true;
  }
  void roll_back() override {
    if (std::exchange(is_given_, false)) outgoing_->give_up();
  }
  bool advance() override {
    const bool left = outgoing_->advance();
    return incoming_->advance() && left;
  }
  void finish() override {}

 private:
  static constexpr std::array<messages, 3> forms{messages::packed, messages::chunked, messages::typed};
  using seconds = std::array<double, forms.size()>;

  bool leaves_at_once() const { return outgoing_->longest() <= among_->link().at_once; }
  int tag() const { return among_ == nullptr ? tag_ : among_->tag_in_this_round(tag_); }
  /// The workers with which this one exchanges enough bytes for a trial, in ascending order. Both workers of a pair
  /// list each other.
  std::vector<std::size_t> pairs_to_try() const {
    std::vector<std::size_t> all;
    for (const auto* boxes : {&out_, &in_})
      for (const pair_volume& c : pairs_of(*boxes, kind_.bytes)) {
        std::size_t k = all.size();
        while (k > 0 && all[k - 1] > c.worker) --k;
        if (c.worth_a_trial() && (k == 0 || all[k - 1] != c.worker))
          all.insert(all.begin() + static_cast<std::ptrdiff_t>(k), c.worker);
      }
    return all;
  }

  /// The form of the messages to or from one worker.
  messages form_of(const pair_volume& c) const {
    if (policy_.how == messages::measured && c.worth_a_trial())
      for (const auto& [worker, form] : found_)
        if (worker == c.worker) return form;
    return policy_.how == messages::measured || policy_.how == messages::by_size ? c.by_size() : policy_.how;
  }

  void choose_forms() {
    const auto pool = [this](const box_list& boxes) {
      const auto all = pairs_of(boxes, kind_.bytes);
      std::size_t k = 0;
      return message_pool(boxes, kind_.bytes, policy_, [&](std::size_t worker) {
        while (all[k].worker != worker) ++k;
        return form_of(all[k]);
      });
    };
    outgoing_ = std::make_unique<persistent_messages>(pool(out_), kind_, true);
    incoming_ = std::make_unique<persistent_messages>(pool(in_), kind_, false);
  }

  /// Exchanges the boxes of all pairs that are large enough in every form, three times each; the first time only faults
  /// in the buffers. Each pair then takes the form whose slower side was fastest, so that both sides choose the same
  /// form. MPI's derived types must win by a quarter, because they become three times slower when a hypervisor later
  /// moves the workers to distant cores.
  void measure(const block_memory& x) {
    const std::vector<std::size_t> pairs = pairs_to_try();
    const auto large = [this](const box_list& boxes) {
      box_list chosen(boxes.rank());
      const auto all = pairs_of(boxes, kind_.bytes);
      std::size_t k = 0;
      for (std::size_t b = 0; b < boxes.size(); ++b) {
        while (all[k].worker != boxes[b].worker) ++k;
        if (all[k].worth_a_trial()) chosen.add(boxes[b]);
      }
      return chosen;
    };
    // Time each form for the boxes of the large pairs.
    seconds own{};
    for (std::size_t f = 0; f < forms.size(); ++f) {
      message_policy policy = policy_;
      policy.how = forms[f];
      basic_pair_messages trial(comm_, tag(), large(out_), large(in_), kind_, policy, oversubscribed_);
      for (int round = 0; round < 3; ++round) {
        const double start = MPI_Wtime();
        trial.expect(y_);
        trial.give(x);
        for (backoff p(oversubscribed_); !trial.advance();) p.pause();
        const double taken = MPI_Wtime() - start;
        if (round == 1 || (round == 2 && taken < own[f])) own[f] = taken;
      }
    }
    // Exchange the times with the other worker of each pair.
    std::vector<seconds> others(pairs.size());
    std::vector<MPI_Request> requests(2 * pairs.size(), MPI_REQUEST_NULL);
    const auto count = static_cast<int>(forms.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const int other = static_cast<int>(pairs[k]);
      check(MPI_Irecv(others[k].data(), count, MPI_DOUBLE, other, tag(), comm_, &requests[2 * k]), "MPI_Irecv");
      check(MPI_Isend(own.data(), count, MPI_DOUBLE, other, tag(), comm_, &requests[2 * k + 1]), "MPI_Isend");
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    // Choose the form of each pair by the times of its slower side.
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const auto slower = [&](std::size_t f) {
        const double taken = own[f] > others[k][f] ? own[f] : others[k][f];
        return forms[f] == messages::typed ? 1.25 * taken : taken;
      };
      std::size_t best = 0;
      for (std::size_t f = 1; f < forms.size(); ++f)
        if (slower(f) < slower(best)) best = f;
      found_.push_back({pairs[k], forms[best]});
    }
    to_measure_ = false;
    choose_forms();
  }

  MPI_Comm comm_;
  int tag_;
  // the node's tag counter, if messages may be sent before all workers agree: some calls then change the tags
  const own_node* among_;
  bool is_given_ = false;
  box_list out_, in_;
  element_kind kind_;
  message_policy policy_;
  bool oversubscribed_, to_measure_ = false;
  std::vector<std::pair<std::size_t, messages>> found_;  // the measured form for each worker
  std::unique_ptr<persistent_messages> outgoing_, incoming_;
  block_memory y_;
};
using pair_messages = basic_pair_messages<>;

/// The channel by messages: it reaches every other worker.
template <class = void>
class basic_message_way : public way {
 public:
  /// `tag` distinguishes this kernel's messages from others on `comm`; `among` counts the changes of tags there, or is
  /// null.
  basic_message_way(MPI_Comm comm, int tag, const message_policy& policy, bool oversubscribed,
                    const own_node* among = nullptr)
      : comm_(comm), tag_(tag), policy_(policy), oversubscribed_(oversubscribed), among_(among) {
    MPI_Comm_rank(comm, &own_);
  }
  bool reaches(std::size_t worker) const override { return worker != static_cast<std::size_t>(own_); }
  std::unique_ptr<carrier> prepare(lowered_plan boxes, const element_kind& kind) override {
    return std::make_unique<pair_messages>(comm_, tag_, std::move(boxes.sends), std::move(boxes.receives), kind,
                                           policy_, oversubscribed_, among_);
  }

 private:
  MPI_Comm comm_;
  int tag_, own_ = 0;
  message_policy policy_;
  bool oversubscribed_;
  const own_node* among_;
};
using message_way = basic_message_way<>;

}  // namespace partita::detail
