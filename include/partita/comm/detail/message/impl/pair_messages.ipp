// Defines the functions that comm/detail/message/pair_messages.hpp declares.
#pragma once

#include <partita/comm/detail/message/pair_messages.hpp>

namespace partita::detail {

PARTITA_DEF pair_messages::pair_messages(MPI_Comm comm, int tag, box_list out, box_list in, const element_kind& kind,
                                         const message_policy& policy, bool oversubscribed,
                                         const own_node* node_or_null)
    : comm_(comm),
      tag_(tag),
      node_or_null_(node_or_null),
      sent_boxes_(std::move(out)),
      received_boxes_(std::move(in)),
      kind_(kind),
      policy_(policy),
      oversubscribed_(oversubscribed) {
  is_unmeasured_ = policy_.how == message_form::measured && !partners_to_measure().empty();
  make_messages();
}

void pair_messages::post_send(const block_memory& x) {
  if (is_unmeasured_) measure_forms(x);
  const bool announced = node_or_null_ != nullptr && node_or_null_->has_other_nodes() && !is_sent_eagerly();
  if (!announced) received_messages_->start(comm_, tag(), y_);
  if (!std::exchange(has_started_sends_, false)) sent_messages_->start(comm_, tag(), x);
  if (announced) received_messages_->start(comm_, tag(), y_);
}

void pair_messages::send_speculatively(const block_memory& x) {
  if (is_unmeasured_ || node_or_null_ == nullptr || !is_sent_eagerly()) return;
  sent_messages_->start(comm_, tag(), x);
  has_started_sends_ = true;
}

bool pair_messages::advance() {
  const bool left = sent_messages_->advance();
  return received_messages_->advance() && left;
}

PARTITA_DEF std::vector<std::size_t> pair_messages::partners_to_measure() const {
  std::vector<std::size_t> all;
  for (const auto* boxes : {&sent_boxes_, &received_boxes_})
    for (const pair_volume& c : pair_volumes(*boxes, kind_.bytes)) {
      std::size_t k = all.size();
      while (k > 0 && all[k - 1] > c.worker) --k;
      if (c.is_worth_a_trial() && (k == 0 || all[k - 1] != c.worker))
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(k), c.worker);
    }
  return all;
}

PARTITA_DEF message_form pair_messages::choose_form(const pair_volume& c) const {
  const message_form how = policy_.how;
  if (how == message_form::measured && c.is_worth_a_trial())
    for (const auto& [worker, form] : measured_forms_)
      if (worker == c.worker) return form;
  return how == message_form::measured || how == message_form::by_size ? c.default_message_form() : how;
}

PARTITA_DEF void pair_messages::make_messages() {
  const auto pool = [this](const box_list& boxes) {
    const auto all = pair_volumes(boxes, kind_.bytes);
    std::size_t k = 0;
    return message_list(boxes, kind_.bytes, policy_, [&](std::size_t worker) {
      while (all[k].worker != worker) ++k;
      return choose_form(all[k]);
    });
  };
  sent_messages_ = std::make_unique<persistent_messages>(pool(sent_boxes_), kind_, true);
  received_messages_ = std::make_unique<persistent_messages>(pool(received_boxes_), kind_, false);
}

PARTITA_DEF void pair_messages::measure_forms(const block_memory& x) {
  const std::vector<std::size_t> pairs = partners_to_measure();
  const auto large = [this](const box_list& boxes) {
    box_list chosen(boxes.rank());
    const auto all = pair_volumes(boxes, kind_.bytes);
    std::size_t k = 0;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      while (all[k].worker != boxes[b].worker) ++k;
      if (all[k].is_worth_a_trial()) chosen.add(boxes[b]);
    }
    return chosen;
  };
  // Measure how long each form of messages takes for the pairs of workers that exchange many bytes.
  seconds_by_form own{};
  for (std::size_t f = 0; f < measurable_forms.size(); ++f) {
    message_policy policy = policy_;
    policy.how = measurable_forms[f];
    pair_messages trial(comm_, tag(), large(sent_boxes_), large(received_boxes_), kind_, policy, oversubscribed_);
    for (int round = 0; round < 3; ++round) {
      const double start = MPI_Wtime();
      trial.post_receive(y_);
      trial.post_send(x);
      for (backoff p(oversubscribed_); !trial.advance();) p.pause();
      const double taken = MPI_Wtime() - start;
      if (round == 1 || (round == 2 && taken < own[f])) own[f] = taken;
    }
  }
  // Send the measured times to the other worker of each pair, and receive the times that it measured.
  std::vector<seconds_by_form> others(pairs.size());
  std::vector<MPI_Request> requests(2 * pairs.size(), MPI_REQUEST_NULL);
  const auto count = static_cast<int>(measurable_forms.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const int other = static_cast<int>(pairs[k]);
    check(MPI_Irecv(others[k].data(), count, MPI_DOUBLE, other, tag(), comm_, &requests[2 * k]), "MPI_Irecv");
    check(MPI_Isend(own.data(), count, MPI_DOUBLE, other, tag(), comm_, &requests[2 * k + 1]), "MPI_Isend");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  // For each pair, choose the form with the shortest time of the slower worker.
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto slower = [&](std::size_t f) {
      const double taken = own[f] > others[k][f] ? own[f] : others[k][f];
      return measurable_forms[f] == message_form::typed ? 1.25 * taken : taken;
    };
    std::size_t best = 0;
    for (std::size_t f = 1; f < measurable_forms.size(); ++f)
      if (slower(f) < slower(best)) best = f;
    measured_forms_.push_back({pairs[k], measurable_forms[best]});
  }
  is_unmeasured_ = false;
  make_messages();
}

std::unique_ptr<box_transport> message_way::prepare(lowered_plan boxes, const element_kind& kind) {
  return std::make_unique<pair_messages>(comm_, tag_, std::move(boxes.sends), std::move(boxes.receives), kind, policy_,
                                         oversubscribed_, node_or_null_);
}

}  // namespace partita::detail
