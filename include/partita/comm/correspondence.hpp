// All messages between one worker and others, both ways, and how the form of each pair's messages is chosen: as told, by
// size, or by a trial of all forms at the first exchange.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/mail.hpp>
#include <partita/comm/signal.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The mail of one exchange that is carried out again and again. Both sides of a pair take part in each.
template <class T, std::size_t Rank>
class correspondence {
 public:
  using strides_type = std::array<std::ptrdiff_t, Rank>;
  using boxes_type = std::vector<mailed_box<Rank>>;

  /// Boxes ascend by worker, and those of a pair stand in the same order on both sides.
  correspondence(boxes_type out, boxes_type in, const mail_policy& policy, bool oversubscribed)
      : out_(std::move(out)), in_(std::move(in)), policy_(policy), oversubscribed_(oversubscribed) {
    to_measure_ = policy_.how == messages::measured && !pairs_to_try().empty();
    settle();
  }

  /// Messages and bytes that leave this worker at each exchange.
  std::size_t messages_sent() const { return outgoing_->messages_made(); }
  std::size_t bytes_sent() const { return outgoing_->bytes(); }
  /// Whether the first exchange will try all forms.
  bool to_measure() const { return to_measure_; }

  /// Receives are posted, mail leaves. Waits for nobody but at the first exchange of a pair whose messages are measured.
  void start(MPI_Comm comm, int tag, const T* x, const strides_type& x_strides, T* y, const strides_type& y_strides) {
    if (to_measure_) measure(comm, tag, x, x_strides, y, y_strides);
    incoming_->start(comm, tag, y, y_strides);
    outgoing_->start(comm, tag, x, x_strides);
  }
  /// Moves on what can move without waiting; true when nothing is left to do here.
  bool advance() {
    const bool left = outgoing_->advance();
    return incoming_->advance() && left;
  }

 private:
  static constexpr std::array<messages, 3> forms{messages::packed, messages::chunked, messages::typed};
  using seconds = std::array<double, forms.size()>;

  /// The others with which enough is exchanged, ascending. Both sides of a pair find each other there.
  std::vector<std::size_t> pairs_to_try() const {
    std::vector<std::size_t> all;
    for (const auto* boxes : {&out_, &in_})
      for (const detail::correspondent& c : detail::correspondents_of<T>(*boxes)) {
        std::size_t k = all.size();
        while (k > 0 && all[k - 1] > c.worker) --k;
        if (c.worth_a_trial() && (k == 0 || all[k - 1] != c.worker))
          all.insert(all.begin() + static_cast<std::ptrdiff_t>(k), c.worker);
      }
    return all;
  }

  /// The form for a pair in one direction.
  messages form_of(const detail::correspondent& c) const {
    if (policy_.how == messages::measured && c.worth_a_trial())
      for (const auto& [worker, form] : found_)
        if (worker == c.worker) return form;
    return policy_.how == messages::measured || policy_.how == messages::by_size ? c.by_size() : policy_.how;
  }

  void settle() {
    const auto bag = [this](const boxes_type& boxes) {
      const auto all = detail::correspondents_of<T>(boxes);
      std::size_t k = 0;
      return detail::mailbag<T, Rank>(boxes, policy_, [&](std::size_t worker) {
        while (all[k].worker != worker) ++k;
        return form_of(all[k]);
      });
    };
    outgoing_ = std::make_unique<detail::mail<T, Rank, true>>(bag(out_));
    incoming_ = std::make_unique<detail::mail<T, Rank, false>>(bag(in_));
  }

  /// Exchanges the boxes of pairs that are worth it in every form, three times each; the first of them faults buffers in.
  /// Then each pair takes the form whose slower side was fastest: both sides come to the same. MPI's types must win by a
  /// quarter: they lose threefold when a hypervisor moves the workers to distant cores afterwards.
  void measure(MPI_Comm comm, int tag, const T* x, const strides_type& x_strides, T* y, const strides_type& y_strides) {
    const std::vector<std::size_t> pairs = pairs_to_try();
    const auto large = [](const boxes_type& boxes) {
      boxes_type chosen;
      const auto all = detail::correspondents_of<T>(boxes);
      std::size_t k = 0;
      for (const mailed_box<Rank>& b : boxes) {
        while (all[k].worker != b.worker) ++k;
        if (all[k].worth_a_trial()) chosen.push_back(b);
      }
      return chosen;
    };
    seconds own{};
    for (std::size_t f = 0; f < forms.size(); ++f) {
      mail_policy policy = policy_;
      policy.how = forms[f];
      correspondence trial(large(out_), large(in_), policy, oversubscribed_);
      for (int round = 0; round < 3; ++round) {
        const double start = MPI_Wtime();
        trial.start(comm, tag, x, x_strides, y, y_strides);
        for (patience p(oversubscribed_); !trial.advance();) p.pause();
        const double taken = MPI_Wtime() - start;
        if (round == 1 || (round == 2 && taken < own[f])) own[f] = taken;
      }
    }
    std::vector<seconds> others(pairs.size());
    std::vector<MPI_Request> requests(2 * pairs.size(), MPI_REQUEST_NULL);
    const auto count = static_cast<int>(forms.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const int other = static_cast<int>(pairs[k]);
      detail::check(MPI_Irecv(others[k].data(), count, MPI_DOUBLE, other, tag, comm, &requests[2 * k]), "MPI_Irecv");
      detail::check(MPI_Isend(own.data(), count, MPI_DOUBLE, other, tag, comm, &requests[2 * k + 1]), "MPI_Isend");
    }
    detail::check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
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
    settle();
  }

  boxes_type out_, in_;
  mail_policy policy_;
  bool oversubscribed_, to_measure_ = false;
  std::vector<std::pair<std::size_t, messages>> found_;  // what was measured, by worker
  std::unique_ptr<detail::mail<T, Rank, true>> outgoing_;
  std::unique_ptr<detail::mail<T, Rank, false>> incoming_;
};

}  // namespace partita
