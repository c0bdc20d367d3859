// Defines the functions that comm/detail/diagnostics/hang_report.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/detail/diagnostics/hang_report.hpp>
#include <partita/core/hash.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF double hang_report::max_wait_seconds() {
  const double said = seconds_until_error();
  return said > 0 ? said : seconds_until_report.load();
}

PARTITA_DEF std::atomic<std::uint64_t>& hang_report::highest_world_number() {
  static std::atomic<std::uint64_t> known{0};
  return known;
}

PARTITA_DEF hang_report::hang_report(std::size_t id, std::size_t size, MPI_Comm given)
    : own_slot_(&status_slots::instance().own_slot()), communicator_(given), id_(id), size_(size) {
  int among_all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &among_all);
  own_slot_->worker = static_cast<std::uint64_t>(among_all);
  call_log::install_handlers();
  trace::begin();
  fingerprint_ = 0x776f726c64ULL + 0x9e3779b97f4a7c15ULL * (size + 1);  // of making a world of this size
  own_slot_->note(0, 0, fingerprint_, [&] { return text("partita::world(communicator) of ") << size_ << " workers"; });
}

PARTITA_DEF hang_report::setup_record hang_report::own_setup_record(std::uint64_t level) {
  setup_record own{
      .level = level, .highest_world_number = highest_world_number(), .address = status_slots::instance().address()};
  for (unsigned k = 0; k < own.settings.size(); ++k)
    if (const char* const value = *partita_setting(k); value != nullptr) own.settings[k] = hasher().mix(value).value();
  return own;
}

PARTITA_DEF void hang_report::set_up_world(const std::vector<setup_record>& all) {
  for (const setup_record& one : all) world_number_ = std::max(world_number_, one.highest_world_number);
  std::uint64_t known = highest_world_number();
  for (++world_number_; known < world_number_ && !highest_world_number().compare_exchange_weak(known, world_number_);)
    continue;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (k != id_)
      if (const status_slot* const found = status_slots::instance().find(all[k].address))
        visible_workers_.push_back({k, all[k].address.process, found});
}

void hang_report::on_long_wait(double seconds) {
  if (reported_standing_ != own_standing()) own_slot_->set_process_state(reported_standing_ = own_standing());
  // If a worker has failed, or its process has ended, this worker waits for it in vain.
  for (const visible_worker& w : visible_workers_) {
    if (w.status->state == standing::has_failed) give_up_wait(text(w.status->final_message));
    if (w.status->state != standing::has_ended && !status_slots::has_ended(w.process)) continue;
    call_log::print_calls_of_ended_worker(*w.status);
    give_up_wait(text("partita: worker ")
                 << w.id << " (process " << w.process << ") has ended; it " << describe_last_call(w) << ", and worker "
                 << id_ << " waits for it in " << call_name());
  }
  // This worker has an error, and the other workers have not entered an agreement in which they would get this error.
  if (has_final_message_ && seconds > seconds_until_report) end_job(final_message_);
  if (seconds > seconds_until_report) require_no_worker_has_left();
  // Turn the wait into an error, if PARTITA_PATIENCE is set; if not, print the report once.
  if (const double most = seconds_until_error(); most > 0) {
    if (seconds > most)
      give_up_wait(report_text(seconds)
                   << "; PARTITA_PATIENCE makes this an error, let it be longer if one computes for so long");
  } else if (!has_printed_report_ && seconds > seconds_until_report && has_lowest_waiting_id()) {
    has_printed_report_ = true;
    print_line(report_text(seconds));
    std::size_t told = 0;
    for (const visible_worker& w : visible_workers_)
      if (world_number_ != 0 && w.status->state == standing::is_computing && ++told <= 2)
        call_log::print_calls(*w.status);
  }
}

void hang_report::on_wait_end() noexcept {
  own_slot_->set_process_state(reported_standing_ = status_slot::standing::is_computing);
  has_printed_report_ = false;
}

void hang_report::on_memory_lack(std::size_t bytes) noexcept {
  if (size_ == 1 || is_preparing_call_ || progress_ == progress::before_agreement) return;
  end_job(text("partita: worker ") << id_ << " has no memory for " << bytes << " bytes in " << call_name()
                                   << waiting_workers_text);
}

void hang_report::on_memory_lack_midcall() noexcept {
  if (size_ == 1) return;
  end_job(text("partita: worker ") << id_ << " has no memory left in " << call_name() << waiting_workers_text);
}

PARTITA_DEF void hang_report::give_up_wait(const text& sentence) {
  has_given_up_wait_ = true;
  throw communication_error(sentence);
}

PARTITA_DEF void hang_report::require_no_worker_has_left() {
  if (world_number_ == 0) return require_all_can_make_world();
  for (const visible_worker& w : visible_workers_) {
    const bool left = calling_workers_ == nullptr ? w.status->has_left_before_call(world_number_, call_count_)
                                                  : calling_workers_->contains(w.id) &&
                                                        w.status->has_left_before_call(world_number_, call_count_ + 1);
    if (left)
      give_up_wait(text("partita: worker ") << w.id << " (process " << w.process
                                            << ") has left the world (its world object was destroyed), and worker "
                                            << id_ << " waits for it in " << call_name());
  }
}

PARTITA_DEF void hang_report::require_all_can_make_world() {
  MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
  MPI_Comm_group(communicator_, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const auto* known = status_slots::instance().newest();
  int place = MPI_UNDEFINED;
  for (; known != nullptr && place == MPI_UNDEFINED; known = known->older_slot) {
    if (!known->status->has_called_finalize) continue;
    const auto id = static_cast<int>(known->status->worker);
    MPI_Group_translate_ranks(all, 1, &id, here, &place);
  }
  MPI_Group_free(&here);
  MPI_Group_free(&all);
  if (place != MPI_UNDEFINED)
    give_up_wait(text("partita: worker ")
                 << place << " has called MPI_Finalize, and worker " << id_ << " waits for it in " << call_name());
}

PARTITA_DEF bool hang_report::has_lowest_waiting_id() const {
  if (world_number_ == 0) return !status_slots::instance().has_waiting_worker();
  for (const visible_worker& w : visible_workers_)
    if (w.id < id_ && w.status->state == standing::is_waiting) return false;
  return true;
}

PARTITA_DEF text hang_report::describe_last_call(const visible_worker& w) {
  if (w.status->call_count == 0) return "has made no call";
  const status_slot::call& last = newest_call(*w.status);
  return text("made call ") << last.number.load() << " of world " << last.world.load() << " last, "
                            << w.status->find_description(last.fingerprint);
}

PARTITA_DEF text hang_report::report_text(double seconds) const {
  text all("partita: worker ");
  all << id_ << " has waited for " << static_cast<std::uint64_t>(seconds) << " s in " << call_name();
  if (world_number_ == 0) return all << "; not all of its workers have come to make it";
  all << ", call " << call_count_ << " of world " << world_number_ << " (" << size_ << " workers)";
  const group own{nullptr, standing::is_waiting, world_number_, call_count_, fingerprint_, {}};
  std::vector<std::size_t> here;
  std::vector<group> others;
  for (const visible_worker& w : visible_workers_) {
    const status_slot::call& last = newest_call(*w.status);
    group one{&w, w.status->state, last.world, last.number, last.fingerprint, {}};
    if (one.is_same_state(own)) {
      here.push_back(w.id);
      continue;
    }
    const auto known = std::find_if(others.begin(), others.end(), [&](const group& o) { return o.is_same_state(one); });
    if (known == others.end()) others.push_back(std::move(one));
    else known->other_ids.push_back(w.id);
  }
  constexpr std::size_t most_told = 4;  // as many as fit on one line
  for (std::size_t k = 0; k < others.size() && k < most_told; ++k) {
    const visible_worker& w = *others[k].first_worker;
    all << "; worker " << w.id << " (process " << w.process << ")";
    const double seconds_in_state =
        static_cast<double>(status_slot::nanoseconds() - w.status->state_begin_nanoseconds) * 1e-9;
    switch (others[k].state) {
      case standing::is_making_world:
      case standing::is_waiting:
        all << " has waited for " << static_cast<std::uint64_t>(seconds_in_state) << " s in "
            << w.status->find_description(others[k].fingerprint);
        if (others[k].world != 0) all << ", call " << others[k].call_number << " of world " << others[k].world;
        break;
      default:
        all << " is missing: it computes, and " << describe_last_call(w);
    }
    if (!others[k].other_ids.empty()) all << ", and so do workers " << others[k].other_ids;
  }
  if (others.size() > most_told) all << "; others are elsewhere";
  if (!here.empty()) all << "; waiting here as well: " << here;
  if (visible_workers_.size() + 1 < size_)
    all << "; " << size_ - 1 - visible_workers_.size() << " workers cannot be seen from here";
  return all;
}

}  // namespace partita::detail
