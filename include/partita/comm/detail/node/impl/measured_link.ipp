// Defines the functions that comm/detail/node/measured_link.hpp declares.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <partita/comm/detail/node/measured_link.hpp>
#include <thread>

namespace partita::detail {

PARTITA_DEF measured_link link_trial::measure_link() {
  measured_link link;
  time_messages(0, 0), time_messages(0, 0);  // make the connection
  // Measure the latency: half of the shortest round trip.
  double round_trip = time_messages(0, 0), elapsed = round_trip;
  for (int k = 1; k < 10 && (k < 3 || elapsed < 2e-3); ++k) {
    const double seconds = time_messages(0, 0);
    elapsed += seconds;
    if (seconds < round_trip) round_trip = seconds;
  }
  link.cost.latency = clamp_to_range(round_trip / 2, 1e-7, 1);
  // Measure the cost of a message by a burst of small messages.
  constexpr std::uint64_t burst = 16;
  link.cost.seconds_per_message =
      clamp_to_range((faster_of_two_trials(burst, 8) - round_trip) / double{burst}, 1e-7, link.cost.latency);
  // Measure the cost of a byte by one message, whose size is doubled until it takes long enough.
  const double long_enough = round_trip > 1e-3 ? round_trip : 1e-3;
  for (std::uint64_t bytes = 32768; bytes <= max_bytes; bytes *= 2) {
    const double seconds = faster_of_two_trials(1, bytes) - round_trip;
    link.cost.seconds_per_byte = clamp_to_range(seconds / static_cast<double>(bytes), 1e-12, 1e-5);
    if (seconds > long_enough) break;
  }
  // Find the longest message that is sent eagerly.
  for (std::uint64_t bytes = 32768; bytes > link.eager_bytes; bytes /= 2)
    if (is_sent_eagerly(bytes)) link.eager_bytes = static_cast<std::size_t>(bytes);
  const command end{stop, 0, 0};
  send(&end, sizeof end);
  return link;
}

PARTITA_DEF void link_trial::answer_commands() {
  for (;;) {
    const command c = receive_command();
    if (c.kind == stop) return;
    if (c.kind == receive_later) receive_command();
    // receive the messages at the same time, as in an exchange
    const auto bytes = static_cast<std::size_t>(c.bytes);
    std::vector<MPI_Request> awaited(static_cast<std::size_t>(c.messages), MPI_REQUEST_NULL);
    data_.resize(awaited.size() * bytes);
    for (std::size_t k = 0; k < awaited.size(); ++k)
      start_receive(awaited[k], data_.data() + k * bytes, bytes, trial_tag);
    for (MPI_Request& request : awaited) wait_for_request(request, oversubscribed_);
    send(nullptr, 0);
  }
}

PARTITA_DEF double link_trial::time_messages(std::uint64_t messages, std::uint64_t bytes) {
  data_.resize(static_cast<std::size_t>(bytes));
  const command c{receive_now, messages, bytes};
  const double start = MPI_Wtime();
  send(&c, sizeof c);
  std::vector<MPI_Request> sent(static_cast<std::size_t>(messages), MPI_REQUEST_NULL);
  for (MPI_Request& request : sent) start_send(request);
  for (MPI_Request& request : sent) wait_for_request(request, oversubscribed_);
  receive(nullptr, 0, command_tag);
  return MPI_Wtime() - start;
}

PARTITA_DEF double link_trial::faster_of_two_trials(std::uint64_t messages, std::uint64_t bytes) {
  const double first = time_messages(messages, bytes), second = time_messages(messages, bytes);
  return first < second ? first : second;
}

PARTITA_DEF bool link_trial::is_sent_eagerly(std::uint64_t bytes) {
  data_.resize(static_cast<std::size_t>(bytes));
  const command c{receive_later, 1, bytes}, start_command{receive_now, 0, 0};
  send(&c, sizeof c);
  MPI_Request request = MPI_REQUEST_NULL;
  start_send(request);
  int left = 0;
  const double start = MPI_Wtime();
  while (left == 0 && MPI_Wtime() - start < 1e-3) {
    check(MPI_Test(&request, &left, MPI_STATUS_IGNORE), "MPI_Test");
    std::this_thread::yield();
  }
  send(&start_command, sizeof start_command);
  receive(nullptr, 0, command_tag);
  wait_for_request(request, oversubscribed_);
  return left != 0;
}

PARTITA_DEF void link_trial::start_send(MPI_Request& request) const {
  check(
      MPI_Isend(data_.data(), static_cast<int>(data_.size()), MPI_BYTE, other_worker_, trial_tag, everyone_, &request),
      "MPI_Isend");
}

PARTITA_DEF void link_trial::send(const void* data, std::size_t bytes) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, other_worker_, command_tag, everyone_, &request),
        "MPI_Isend");
  wait_for_request(request, oversubscribed_);
}

PARTITA_DEF void link_trial::receive(void* data, std::size_t bytes, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  start_receive(request, data, bytes, tag);
  wait_for_request(request, oversubscribed_);
}

PARTITA_DEF link_trial::command link_trial::receive_command() const {
  command c{};
  receive(&c, sizeof c, command_tag);
  return c;
}

PARTITA_DEF measured_link find_link(MPI_Comm everyone, const std::vector<int>& lowest_workers, bool are_nodes_simulated,
                                    bool oversubscribed) {
  struct cached_link {     ///< a link, which is kept for later worlds
    measured_link link{};  ///< between the nodes of the job, if it is known
    bool known = false;    ///< whether it was given or measured
  };
  static spin_lock lock_between_threads;
  static cached_link link_of_job;  // known if this process was worker 0 of an earlier world of the job
  int worker = 0;
  MPI_Comm_rank(everyone, &worker);
  auto result = std::make_unique<cached_link>();
  const auto broadcast_result = [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(result.get(), static_cast<int>(sizeof *result), MPI_BYTE, 0, everyone, &request), "MPI_Ibcast");
    finish_collective(request, result);
  };
  if (worker == 0) {
    const node_link_settings said(std::getenv("PARTITA_LINK"));
    const std::lock_guard<spin_lock> here(lock_between_threads);
    if (said.given) *result = {{{said.latency, said.message, said.byte}, said.eager_bytes}, true};
    else if (are_nodes_simulated) result->known = true;
    else *result = link_of_job;
  }
  broadcast_result();
  if (result->known) return result->link;
  const int other = lowest_workers[1];
  link_trial trial(everyone, worker == 0 ? other : 0, oversubscribed);
  if (worker == 0) result->link = trial.measure_link();
  else if (worker == other) trial.answer_commands();
  broadcast_result();
  if (worker == 0) {
    const std::lock_guard<spin_lock> here(lock_between_threads);
    link_of_job = {result->link, true};
  }
  return result->link;
}

}  // namespace partita::detail
