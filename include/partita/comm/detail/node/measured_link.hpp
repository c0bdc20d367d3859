// The measured cost of messages between nodes: usually once per job, the first workers of the first two nodes measure
// the cost, unless the environment gives it. The measured cost changes the routes of messages, but never the results of
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/comm/detail/world/environment.hpp>
#include <partita/comm/detail/world/finish_collective.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/between_nodes.hpp>
#include <vector>

namespace partita::detail {

/// The measured link between nodes, the same on all workers of a world.
struct measured_link {
  link_cost cost{};  ///< the latency, and the seconds per message and per byte
  /// the size in bytes of the largest message that MPI is known to send eagerly, before a receive is posted; every MPI
  /// sends 2048 bytes eagerly
  std::size_t eager_bytes = 2048;

  /// The most bytes of each message in which a block of `block` bytes is sent: `eager_bytes` if the block is larger
  /// than `eager_bytes` and at most max_eager_bytes(), so that its messages are sent eagerly; if not, 1 GiB.
  std::size_t message_bytes(std::size_t block) const {
    return block > eager_bytes && block <= max_eager_bytes() ? eager_bytes : std::size_t{1} << 30U;
  }
  /// The largest block that is sent in eager messages.
  std::size_t max_eager_bytes() const { return eager_bytes < 8192 ? eager_bytes : 4 * eager_bytes; }
};

/// A measurement between two workers: one sends commands and measures, the other answers. A measurement takes some tens
/// of messages, two to four ms at 1 to 100 Gbit, or some tens of latencies if these are longer.
class link_trial {
 public:
  link_trial(MPI_Comm everyone, int other, bool oversubscribed)
      : everyone_(everyone), other_worker_(other), oversubscribed_(oversubscribed) {}

  /// Measures the link. At the same time, the other worker calls answer_commands.
  PARTITA_DECL measured_link measure_link();
  /// Executes the commands of the other worker until that worker has measured the link.
  PARTITA_DECL void answer_commands();

 private:
  /// What a command makes the other worker do: receive the messages and answer; first wait for a further command; end.
  enum command_kind : std::uint64_t { receive_now, receive_later, stop };
  /// What the measuring worker asks of the other: `messages` messages of `bytes` bytes follow the command.
  struct command {
    std::uint64_t kind, messages, bytes;  ///< kind: a command_kind; the messages that follow, and the bytes of each
  };
  static constexpr int command_tag = 31003, trial_tag = 31004;         ///< MPI tags above those of kernels
  static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20U;  ///< the longest message of a measurement

  static double clamp_to_range(double value, double min_value, double max_value) {
    return value > min_value ? (value < max_value ? value : max_value) : min_value;  // `min_value` if the value is NaN
  }

  /// The seconds from the start of sending the messages until the other worker's answer arrives, which that worker
  /// sends after it has received all of them.
  PARTITA_DECL double time_messages(std::uint64_t messages, std::uint64_t bytes);
  /// The shorter of two results of time_messages.
  PARTITA_DECL double faster_of_two_trials(std::uint64_t messages, std::uint64_t bytes);
  /// Whether a message of this size is sent although the receiver has not posted a receive for it.
  PARTITA_DECL bool is_sent_eagerly(std::uint64_t bytes);

  /// Starts to send data_ as one message of a trial.
  PARTITA_DECL void start_send(MPI_Request& request) const;
  /// Sends data with command_tag, and waits until the data may change.
  PARTITA_DECL void send(const void* data, std::size_t bytes) const;
  /// Posts the receive of one message of the other worker.
  void start_receive(MPI_Request& request, void* data, std::size_t bytes, int tag) const {
    check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, other_worker_, tag, everyone_, &request), "MPI_Irecv");
  }
  PARTITA_DECL void receive(void* data, std::size_t bytes, int tag) const;  ///< waits for a message with this tag
  PARTITA_DECL command receive_command() const;                             ///< waits for the next command

  MPI_Comm everyone_;       ///< the communicator of all workers
  int other_worker_;        ///< the worker at the other end of the link
  bool oversubscribed_;     ///< whether this machine has more workers than cores
  std::vector<char> data_;  ///< the bytes of the messages of a trial
};

/// The link between the nodes of a communicator. `lowest_workers` are the first workers of the nodes, in ascending
/// order, with worker 0 among them. Collective over the communicator. Worker 0 takes the link from the environment or
/// from an earlier world, or measures it; all workers use its result. Between simulated nodes no link is measured.
PARTITA_DECL measured_link find_link(MPI_Comm everyone, const std::vector<int>& lowest_workers,
                                     bool are_nodes_simulated, bool oversubscribed);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/measured_link.ipp>
#endif
