// The hang report: one line that a worker prints after a long wait, which says where each worker of its world waits.
//
// A worker that computes for an hour looks the same as a worker that hangs. So a long wait is not an error: the lowest
// of the waiting workers prints, once, what each worker is doing. PARTITA_PATIENCE=seconds in the environment turns a
// longer wait into an error. A worker whose process has ended is reported at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <partita/comm/detail/call_log.hpp>
#include <partita/comm/detail/end_job.hpp>
#include <partita/comm/detail/environment.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/status_slot.hpp>
#include <partita/comm/detail/trace.hpp>
#include <partita/core/error.hpp>
#include <partita/plan/workers.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The workers of one world, as far as this worker can see their status slots, and the report about them.
template <class = void>
class basic_hang_report final : public wait_watcher {
 public:
  /// What each worker sends about itself when a world is made.
  struct introduction {
    std::uint64_t level = 0, worlds = 0;
    slot_address page;
  };

  /// Seconds until the report is printed. Chosen; only tests change it. A shorter time would print false alarms while
  /// workers read files; with a longer one, the person at the terminal would already have given up.
  static inline std::atomic<double> patience = 10;
  /// The value of PARTITA_PATIENCE; 0 if it is not set.
  static double seconds_to_an_error() { return patience_said(std::getenv("PARTITA_PATIENCE")); }
  /// How long to wait for workers that may never come, in places where an error cannot be thrown.
  static double longest_wait() {
    const double said = seconds_to_an_error();
    return said > 0 ? said : patience.load();
  }
  /// How many worlds this process knows. The workers of a new world give it a number that is new to all of them.
  static std::atomic<std::uint64_t>& worlds() {
    static std::atomic<std::uint64_t> known{0};
    return known;
  }

  basic_hang_report(std::size_t id, std::size_t size, MPI_Comm given)
      : own_(&status_slots::instance().own()), given_(given), id_(id), size_(size) {
    int among_all = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &among_all);
    own_->worker = static_cast<std::uint64_t>(among_all);
    call_log::keep();
    trace::begin();
    fingerprint_ = mixed_in(size);
    own_->note(0, 0, fingerprint_, [&] { return text("partita::world(communicator) of ") << size_ << " workers"; });
  }
  introduction own_introduction(std::uint64_t level) const {
    return {level, worlds(), status_slots::instance().address()};
  }
  /// Called when the world is made: gives it a number, and finds the status slots of its workers.
  void meet(const std::vector<introduction>& all) {
    for (const introduction& one : all) number_ = one.worlds > number_ ? one.worlds : number_;
    ++number_;
    for (std::uint64_t known = worlds(); known < number_ && !worlds().compare_exchange_weak(known, number_);) continue;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (k != id_)
        if (const status_slot* const found = status_slots::instance().find(all[k].page))
          seen_.push_back({k, all[k].page.process, found});
  }

  /// Notes a call of this world: later waits are reported for this call.
  template <class Describe>
  void note(std::uint64_t fingerprint, Describe describe) {
    fingerprint_ = fingerprint;
    own_->note(number_, ++calls_, fingerprint, describe);
  }
  /// Records the start of a call, if a trace is wanted.
  template <class Describe>
  void trace_call(std::uint64_t fingerprint, Describe describe) const {
    if (trace::on()) trace::begin_call(number_, fingerprint, describe);
  }
  text name() const { return own_->name_of(fingerprint_); }
  void learning(bool now) { learning_ = now; }
  /// How far this worker is in a call of all workers, see one_call. After the agreement (committed) the others depend
  /// on it.
  enum class progress { outside, before_agreement, committed };
  progress in_call() const { return progress_; }
  void in_call(progress now) { progress_ = now; }
  void have_agreed() {
    if (progress_ == progress::before_agreement) progress_ = progress::committed;
  }
  bool is_learning() const { return learning_; }
  /// Whether a wait of this worker was given up: the message it waited for may still arrive.
  bool gave_up() const { return gave_up_; }
  /// Notes a call of the chosen workers only. It does not count as a call of the world.
  template <class Describe>
  void note_among(const workers& chosen, std::uint64_t fingerprint, Describe describe) {
    note(fingerprint, describe);
    --calls_;
    among_ = &chosen;
  }
  void no_longer_among() { among_ = nullptr; }
  /// This worker stops in the middle of the current call, so the call does not count as finished.
  void fails_in_call() { failed_call_ = calls_; }
  /// The world is destroyed.
  void leave() {
    if (number_ != 0) own_->leave(number_, calls_ - (failed_call_ == calls_ && calls_ != 0 ? 1 : 0));
  }
  /// Sets an error of this worker that ends the job if the other workers never come to an agreement in which they get
  /// it.
  void final_message(const text& sentence) { final_message_ = sentence, has_final_message_ = true; }
  void was_heard() { has_final_message_ = false; }

  void still_waits(double seconds) override {
    if (stands_ != waiting()) own_->stand(stands_ = waiting());
    // A worker that has failed, or whose process has ended, will never come.
    for (const worker& w : seen_) {
      if (w.page->stands == standing::failed) give_up(text(w.page->final_message));
      if (w.page->stands != standing::ended && !status_slots::has_ended(w.process)) continue;
      call_log::print_of_the_gone(*w.page);
      give_up(text("partita: worker ") << w.id << " (process " << w.process << ") has ended; it " << last_call_of(w)
                                       << ", and worker " << id_ << " waits for it in " << name());
    }
    // The other workers have not come to an agreement in which they would get this worker's error.
    if (has_final_message_ && seconds > patience) end_job(final_message_);
    if (seconds > patience) expect_all_to_come();
    // Turn the wait into an error, if PARTITA_PATIENCE is set; if not, print the report once.
    if (const double most = seconds_to_an_error(); most > 0) {
      if (seconds > most)
        give_up(
            whole(seconds) << "; PARTITA_PATIENCE makes this an error, let it be longer if one computes for so long");
    } else if (!said_ && seconds > patience && is_lowest()) {
      said_ = true;
      print_line(whole(seconds));
      std::size_t told = 0;
      for (const worker& w : seen_)
        if (number_ != 0 && w.page->stands == standing::computes && ++told <= 2) call_log::print(*w.page);
    }
  }
  void waits_no_more() noexcept override {
    own_->stand(stands_ = status_slot::standing::computes);
    said_ = false;
  }
  void lacks_memory(std::size_t bytes) noexcept override {
    if (size_ == 1 || learning_ || progress_ == progress::before_agreement) return;
    end_job(text("partita: worker ") << id_ << " has no memory for " << bytes << " bytes in " << name() << others_wait);
  }
  void lacks_memory_amid_call() noexcept override {
    if (size_ == 1) return;
    end_job(text("partita: worker ") << id_ << " has no memory left in " << name() << others_wait);
  }

 private:
  static constexpr const char* others_wait =
      "; the others have agreed to this call and wait for its end, so the job is ended; give each worker smaller "
      "blocks, or more memory";

  [[noreturn]] void give_up(const text& sentence) {
    gave_up_ = true;
    throw communication_error(sentence);
  }

  /// Gives up if a worker that this one waits for can no longer come. Not at once: a message that it sent before it
  /// left may still arrive.
  void expect_all_to_come() {
    if (number_ == 0) return expect_all_to_make_a_world();
    for (const worker& w : seen_) {
      const bool left = among_ == nullptr ? w.page->has_left_before(number_, calls_)
                                          : among_->contains(w.id) && w.page->has_left_before(number_, calls_ + 1);
      if (left)
        give_up(text("partita: worker ") << w.id << " (process " << w.process
                                         << ") has left the world (its world object was destroyed), and worker " << id_
                                         << " waits for it in " << name());
    }
  }
  void expect_all_to_make_a_world() {
    MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    MPI_Comm_group(given_, &here);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const auto* known = status_slots::instance().newest();
    int place = MPI_UNDEFINED;
    for (; known != nullptr && place == MPI_UNDEFINED; known = known->older) {
      if (!known->page->finalizes) continue;
      const auto id = static_cast<int>(known->page->worker);
      MPI_Group_translate_ranks(all, 1, &id, here, &place);
    }
    MPI_Group_free(&here);
    MPI_Group_free(&all);
    if (place != MPI_UNDEFINED)
      give_up(text("partita: worker ") << place << " has called MPI_Finalize, and worker " << id_ << " waits for it in "
                                       << name());
  }

  struct worker {
    std::size_t id;
    std::uint64_t process;
    const status_slot* page;
  };
  using standing = status_slot::standing;

  /// Workers in the same state, which are reported together.
  struct alike {
    const worker* first;
    standing stands;
    std::uint64_t world, number, fingerprint;
    std::vector<std::size_t> more;

    bool does_as(const alike& o) const {
      return stands == o.stands && world == o.world && number == o.number && fingerprint == o.fingerprint;
    }
  };

  static std::uint64_t mixed_in(std::size_t size) { return 0x776f726c64ULL + 0x9e3779b97f4a7c15ULL * (size + 1); }
  standing waiting() const { return number_ == 0 ? standing::makes_a_world : standing::waits; }

  /// Whether this worker prints the report. Of the workers that wait in a call, the lowest prints; a worker that makes
  /// a world prints only if no worker waits in a call.
  bool is_lowest() const {
    if (number_ == 0) return !status_slots::instance().any_waits();
    for (const worker& w : seen_)
      if (w.id < id_ && w.page->stands == standing::waits) return false;
    return true;
  }
  static const status_slot::call& last_of(const status_slot& of) { return of.last[(of.calls - 1) % status_slot::kept]; }
  bool waits_here(const worker& w) const {
    const status_slot::call& last = last_of(*w.page);
    return w.page->stands == standing::waits && last.world == number_ && last.number == calls_ &&
           last.fingerprint == fingerprint_;
  }
  static text last_call_of(const worker& w) {
    if (w.page->calls == 0) return "has made no call";
    const status_slot::call& last = last_of(*w.page);
    return text("made call ") << last.number.load() << " of world " << last.world.load() << " last, "
                              << w.page->name_of(last.fingerprint);
  }

  /// The text of the report: which workers wait where, and for which workers.
  text whole(double seconds) const {
    text all("partita: worker ");
    all << id_ << " has waited for " << static_cast<std::uint64_t>(seconds) << " s in " << name();
    if (number_ == 0) return all << "; not all of its workers have come to make it";
    all << ", call " << calls_ << " of world " << number_ << " (" << size_ << " workers)";
    std::vector<std::size_t> here;
    std::vector<alike> others;
    for (const worker& w : seen_) {
      if (waits_here(w)) {
        here.push_back(w.id);
        continue;
      }
      alike one{&w, w.page->stands, last_of(*w.page).world, last_of(*w.page).number, last_of(*w.page).fingerprint, {}};
      const auto known = std::find_if(others.begin(), others.end(), [&](const alike& o) { return o.does_as(one); });
      if (known == others.end()) others.push_back(std::move(one));
      else known->more.push_back(w.id);
    }
    constexpr std::size_t most_told = 4;  // what fits on one line
    for (std::size_t k = 0; k < others.size() && k < most_told; ++k) {
      const worker& w = *others[k].first;
      all << "; worker " << w.id << " (process " << w.process << ")";
      const double since = static_cast<double>(status_slot::nanoseconds() - w.page->since) * 1e-9;
      switch (others[k].stands) {
        case standing::makes_a_world:
        case standing::waits:
          all << " has waited for " << static_cast<std::uint64_t>(since) << " s in "
              << w.page->name_of(others[k].fingerprint);
          if (others[k].world != 0) all << ", call " << others[k].number << " of world " << others[k].world;
          break;
        default:
          all << " is missing: it computes, and " << last_call_of(w);
      }
      if (!others[k].more.empty()) all << ", and so do workers " << others[k].more;
    }
    if (others.size() > most_told) all << "; others are elsewhere";
    if (!here.empty()) all << "; waiting here as well: " << here;
    if (seen_.size() + 1 < size_) all << "; " << size_ - 1 - seen_.size() << " workers cannot be seen from here";
    return all;
  }

  [[noreturn]] void end_job(const text& sentence) const noexcept { partita::detail::end_job(given_, sentence); }

  status_slot* own_;
  MPI_Comm given_;
  std::size_t id_, size_;
  std::uint64_t number_ = 0, calls_ = 0, fingerprint_ = 0;
  std::vector<worker> seen_;
  standing stands_ = standing::computes;
  bool said_ = false, learning_ = false, has_final_message_ = false;
  bool gave_up_ = false;
  progress progress_ = progress::outside;
  const workers* among_ = nullptr;
  std::uint64_t failed_call_ = 0;
  text final_message_;
};
using hang_report = basic_hang_report<>;

}  // namespace partita::detail
