// Defines the functions that comm/detail/world/world_state.hpp declares.
#pragma once

#include <array>
#include <cstring>
#include <new>
#include <partita/comm/detail/world/world_state.hpp>

namespace partita::detail {

PARTITA_DEF world_state::world_state(MPI_Comm given, checks level, bool owns_communicator)
    : check_level_(level), creating_thread_(std::this_thread::get_id()) {
  process::expect_worker("partita::world");
  int size = 0, id = 0;
  MPI_Comm_size(given, &size);
  MPI_Comm_rank(given, &id);
  size_ = static_cast<std::size_t>(size);
  id_ = static_cast<std::size_t>(id);
  int provided = 0;
  MPI_Query_thread(&provided);
  allows_any_thread_ = provided == MPI_THREAD_MULTIPLE;
  hang_report_ = std::make_unique<hang_report>(id_, size_, given);
  watcher = hang_report_.get();
  communicator_ = owns_communicator ? given : private_duplicate(given);
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  and_allreduce_ = and_allreduce(communicator_, size_);
  exchange_setup_data();
}

world_state::~world_state() {
  trace::leave_call();
  watcher = nullptr;  // the watcher could throw, and nothing catches exceptions of a destructor
  const bool kept = !process::is_worker() || is_world_lost_ || (check_level_ != checks::local && !announce_departure());
  hang_report_->note_world_destroyed();
  if (kept) and_allreduce_.leak_flags();
  else if (!has_unread_messages()) MPI_Comm_free(&communicator_);
}

PARTITA_DEF MPI_Comm world_state::make_communicator_for(const workers& chosen) {
  const auto describe = [&] { return describe_part(chosen); };
  const thread_guard guard(calling_thread(), describe);
  begin_call(part_fingerprint(chosen), describe, &chosen);
  struct scope {
    hang_report& report;  ///< the report in which the call ends with this scope
    ~scope() { report.end_call_of_some_workers(); }
  } const now{*hang_report_};
  finish_pending_operation();
  return part_communicator(communicator_, id_, chosen);
}

PARTITA_DEF void world_state::on_memory_lack() {
  if (size_ == 1 || is_world_lost_) return;
  if (check_level_ == checks::local || hang_report_->call_progress() == hang_report::progress::after_agreement)
    hang_report_->on_memory_lack_midcall();
  fail_at_next_agreement(text("partita: worker ")
                         << id_ << " has no memory for a call that begins after " << hang_report_->call_name()
                         << "; give each worker smaller blocks, or more memory");
}

PARTITA_DEF void world_state::leave_messages_unread() {
  leaves_messages_unread_ = true;
  hang_report_->record_failed_call();
}

PARTITA_DEF void world_state::all_and(const std::uint64_t* mine, std::uint64_t* all) {
  words own{}, common{};
  for (std::size_t k = 0; k < own.size(); ++k) own[k] = mine[k];
  and_allreduce_.all_and(own, common);
  for (std::size_t k = 0; k < own.size(); ++k) all[k] = common[k];
}

PARTITA_DEF bool world_state::is_true_on_all(bool is_true_here) {
  constexpr std::uint64_t fingerprint = 0x6f6e20616c6cULL, any = ~std::uint64_t{0};
  const words all = combine_words_of_workers(
      {fingerprint, ~fingerprint, (is_true_here ? 1U : 0U) | speculative_send::nothing, any}, nullptr);
  if (have_agreed(all)) return (all[2] & 1U) != 0;
  if (has_begun_speculation(all)) discard_messages();
  throw_on_all(fingerprint, have_same_call(all), failure::none, "a comparison of blocks");
}

PARTITA_DEF void world_state::begin_call(std::uint64_t fingerprint, const call_description& describe,
                                         const workers* chosen) {
  if (!process::is_untraced_worker()) {
    process::expect_worker(describe().c_str());
    hang_report_->trace_call(fingerprint, describe);
  }
  if (!allows_any_thread_ && std::this_thread::get_id() != creating_thread_)
    throw communication_error(describe() << ": requires MPI_THREAD_MULTIPLE, because another thread than this one made "
                                            "the world; ask for it: boost::mpi::environment(argc, argv, "
                                            "boost::mpi::threading::multiple)");
  watcher = hang_report_.get();
  if (chosen != nullptr) hang_report_->note_call_of_some_workers(*chosen, fingerprint, describe);
  else hang_report_->note_call(fingerprint, describe);
}

PARTITA_DEF std::uint64_t world_state::agree(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                                             const call_description& describe, speculative_send* ahead) {
  const thread_guard guard(calling_thread(), describe);
  begin_call(fingerprint, describe);
  if (is_world_lost_)
    throw communication_error(text("partita: a worker has left the world or was lost in an earlier call, and ")
                              << describe() << " needs all; make a new world of the workers that are there");
  finish_pending_operation();
  if (steps_ != nullptr && steps_->is_replaying()) return replay_agreement(fingerprint, choices, kind, describe);
  const bool has_several_nodes = and_allreduce_.has_flags_between_nodes();
  if (!has_several_nodes && (choices == 0 || kind != failure::none)) ahead = nullptr;
  if (has_several_nodes && node_->is_last_round()) ahead = nullptr;
  const bool begins_for_all = has_several_nodes && ahead != nullptr;
  const std::uint64_t history = local_operations_.history_hash(), compared = hasher(fingerprint).mix(history).value();
  const words mine{compared, ~compared, begins_for_all ? choices : choices | speculative_send::nothing,
                   kind == failure::none ? ~std::uint64_t{0} : 0};
  try {
    const words all = combine_words_of_workers(mine, ahead);
    const std::uint64_t common = all[2] & ~speculative_send::nothing;
    const bool began = has_begun_speculation(all);
    if (!have_agreed(all)) {
      if (trace::is_on()) trace::end_call();
      if (began) discard_messages();
      throw_on_all(fingerprint, have_same_call(all), kind, describe());
    }
    hang_report_->note_agreement();
    local_operations_.clear_named_operations();
    if (!skips_work_after_agreement_) do_work_after_agreement();
    needs_second_agreement_ = began && common == 0;  // the workers now gather what they do not know, and agree again
    if (steps_ != nullptr) steps_->record_step(fingerprint, common);
    return common;
  } catch (const std::bad_alloc&) {  // the other workers continue the call
    hang_report_->on_memory_lack_midcall();
    throw;
  }
}

PARTITA_DEF world_state::words world_state::combine_words_of_workers(const words& mine, speculative_send* ahead) {
  words all{};
  try {
    and_allreduce_.all_and(mine, all, ahead);
  } catch (const communication_error&) {
    is_world_lost_ = true;  // an operation that was never completed is still pending
    if (trace::is_on()) trace::end_call();
    throw;
  }
  hang_report_->clear_final_message();
  return all;
}

PARTITA_DEF bool world_state::has_begun_speculation(const words& all) {
  const bool before = std::exchange(needs_second_agreement_, false);
  return and_allreduce_.has_flags() && ((all[2] & speculative_send::nothing) == 0 || before);
}

PARTITA_DEF void world_state::fail_at_next_agreement(const text& sentence) {
  hang_report_->note_call(0x6d656d6f7279ULL,
                          // the other workers count this call, so this worker notes it too
                          [] { return text("a call for which memory is missing"); });
  finish_pending_operation();
  constexpr std::uint64_t any = ~std::uint64_t{0};
  const words all = combine_words_of_workers({any, any, any, 0}, nullptr);
  if (has_begun_speculation(all)) discard_messages();
  throw_on_all(0, have_same_call(all), failure::memory, sentence);
}

PARTITA_DEF void world_state::discard_messages() {
  node_->next_round();
  leave_messages_unread();
}

PARTITA_DEF void world_state::exchange_setup_data() {
  using setup_record = hang_report::setup_record;
  auto said = std::make_unique<std::vector<setup_record>>(size_ + 1);
  said->back() = hang_report_->own_setup_record(static_cast<std::uint64_t>(check_level_));
  constexpr auto bytes = static_cast<int>(sizeof(setup_record));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&said->back(), bytes, MPI_BYTE, said->data(), bytes, MPI_BYTE, communicator_, &request),
        "MPI_Iallgather");
  finish_collective(request, said);
  std::vector<setup_record>& all = *said;
  all.pop_back();
  expect_one_setting(all);  // compare settings before anything of a different program is read
  hang_report_->set_up_world(all);
  for (std::size_t k = 1; k < size_; ++k) {
    if (all[k].level == all[0].level) continue;
    MPI_Comm_free(&communicator_);
    throw disagreement_error(describe_unequal_checks(all[0].level, k, all[k].level));
  }
}

PARTITA_DEF void world_state::expect_one_setting(const std::vector<hang_report::setup_record>& all) {
  for (unsigned setting = 0; setting < all[0].settings.size(); ++setting) {
    // A program that does not use the subject of a setting gives no value for the setting.
    const auto given = [&](std::size_t k) { return all[k].settings[setting]; };
    std::size_t first = 0;
    while (first < size_ && given(first) == 0) ++first;
    std::size_t other = first;
    while (other < size_ && (given(other) == 0 || given(other) == given(first))) ++other;
    if (other == size_) continue;
    // All workers find the same difference of settings, so all workers exchange their values of the setting.
    using line = std::array<char, 96>;
    auto values = std::make_unique<std::vector<line>>(size_ + 1, line{});
    if (const char* const value = *partita_setting(setting); value != nullptr)
      std::strncpy(values->back().data(), value, sizeof(line) - 1);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&values->back(), sizeof(line), MPI_BYTE, values->data(), sizeof(line), MPI_BYTE, communicator_,
                         &request),
          "MPI_Iallgather");
    finish_collective(request, values);
    MPI_Comm_free(&communicator_);
    throw disagreement_error(
        describe_unequal_settings({first, text((*values)[first].data())}, {other, text((*values)[other].data())}));
  }
}

PARTITA_DEF std::uint64_t world_state::replay_agreement(std::uint64_t fingerprint, std::uint64_t choices, failure kind,
                                                        const call_description& describe) {
  hang_report_->clear_final_message();
  if (trace::is_on()) trace::end_call();
  const std::uint64_t common = steps_->replay_step(fingerprint, choices, kind);
  if (common != 0) return common;
  is_world_lost_ = true;  // the other workers continue
  throw communication_error(text("partita: a step of a chain is another one than all agreed to, ") << describe());
}

PARTITA_DEF void world_state::do_work_after_agreement() {
  if (trace::is_on()) trace::end_call();
  skips_work_after_agreement_ = !trace::is_on();
  if (std::exchange(has_tried_making_flags_, true) || size_ == 1) return;
  and_allreduce_.make_flags();
  node_ = &own_node::of(communicator_);
}

PARTITA_DEF bool world_state::announce_departure() {
  if (size_ == 1) return true;
  words all{};
  if (!and_allreduce_.timed_all_and({departure_code, ~departure_code, 0, ~std::uint64_t{0}}, all,
                                    hang_report::max_wait_seconds())) {
    is_world_lost_ = true;
    return false;
  }
  const bool is_same_call = have_agreed(all);
  if (!is_same_call) try {
      try_gather({departure_code, 0, text("no call: it has left the world (its world object was destroyed)"), 0, {}});
    } catch (const std::bad_alloc&) {  // the other workers get no message, and report this
    }
  is_world_lost_ = !is_same_call;  // MPI_Comm_free is collective, and the other workers do not call it
  // all workers must have read this worker's words before another thread reuses their memory
  if (is_same_call && and_allreduce_.has_flags()) MPI_Barrier(communicator_);
  return is_same_call;
}

PARTITA_DEF call_report world_state::make_error_report(std::uint64_t fingerprint, failure kind,
                                                       const text& mine) const {
  call_report own{fingerprint, static_cast<std::uint64_t>(kind), mine, local_operations_.history_hash(), {}};
  for (std::size_t k = 0; k < own.operations.size(); ++k) own.operations[k] = local_operations_.fingerprint(k);
  return own;
}

PARTITA_DEF std::vector<call_report> world_state::try_gather(const call_report& own) {
  auto reports = std::make_unique<std::vector<call_report>>(size_);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto bytes = static_cast<int>(sizeof(call_report));
  if (MPI_Iallgather(&own, bytes, MPI_BYTE, reports->data(), bytes, MPI_BYTE, communicator_, &request) != MPI_SUCCESS)
    return {};
  const wait_result how = wait_with_time_limit(request, hang_report::max_wait_seconds());
  if (how == wait_result::completed_in_time) return std::move(*reports);
  is_world_lost_ = is_world_lost_ || how == wait_result::timed_out;
  leak_on_purpose(std::move(reports));  // MPI may still write to the reports
  return {};
}

PARTITA_DEF void world_state::throw_on_all(std::uint64_t fingerprint, bool is_same_call, failure kind,
                                           const text& mine) {
  const std::vector<call_report> reports = gather_call_reports(make_error_report(fingerprint, kind, mine), mine);
  // Note whether a worker has destroyed the world. If a worker has no memory, all workers throw its error.
  for (const call_report& l : reports) is_world_lost_ = is_world_lost_ || l.fingerprint == departure_code;
  for (const call_report& l : reports)
    if (l.kind == static_cast<std::uint64_t>(failure::memory)) {
      local_operations_.reset();  // the worker without memory may have noted fewer operations than the others
      ++failure_count_;
      raise(failure::memory, l.sentence);
    }
  // All workers make the same call, so at least one worker has an error.
  if (is_same_call) {
    local_operations_.clear_named_operations();
    throw_first_error(reports);
  }
  // The workers make different calls, or have executed different local operations before.
  const std::size_t k = first_difference(reports).operation;
  if (is_world_lost_ || k == first_difference::none) throw disagreement_error(describe_difference(reports));
  const call_report own{
      k < local_operations::max_operations ? local_operations_.fingerprint(k) : local_operations_.history_hash(), 0,
      local_operations_.description(k)};
  local_operations_.reset();
  throw disagreement_error(describe_difference(gather_call_reports(own, mine)));
}

PARTITA_DEF std::vector<call_report> world_state::gather_call_reports(const call_report& own, const text& call) {
  const std::vector<call_report> reports = try_gather(own);
  if (reports.empty())
    throw communication_error(text("partita: worker ") << id_ << " waits in vain for the others in " << call
                                                       << "; a worker of this world has ended or hangs");
  return reports;
}

}  // namespace partita::detail
