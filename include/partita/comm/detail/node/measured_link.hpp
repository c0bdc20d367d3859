// The measured cost of messages between nodes: once per job, the first workers of two nodes measure it, unless the
// environment gives it. It decides the routes of messages, never the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <partita/comm/detail/environment.hpp>
#include <partita/comm/detail/finish_collective.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/spin_lock.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/plan/between_nodes.hpp>
#include <thread>
#include <vector>

namespace partita::detail {

/// The same on all workers of a world.
struct measured_link {
  link_cost cost{};
  /// bytes that are sent eagerly, before the receiver asks; every MPI sends at least this many
  std::size_t at_once = 2048;

  /// Blocks that are a few times longer are cut into messages of this size, which are then also sent without an answer.
  std::size_t message_bytes(std::size_t block) const {
    return block > at_once && block <= most_at_once() ? at_once : std::size_t{1} << 30U;
  }
  std::size_t most_at_once() const { return at_once < 8192 ? at_once : 4 * at_once; }
};

/// A measurement between two workers: one sends commands and measures, the other answers. It takes some tens of
/// messages, two to four ms at 1 to 100 Gbit, and some tens of latencies where those are longer.
template <class = void>
class basic_link_trial {
 public:
  basic_link_trial(MPI_Comm everyone, int other, bool oversubscribed)
      : everyone_(everyone), other_(other), oversubscribed_(oversubscribed) {}

  measured_link ask() {
    measured_link link;
    ask(0, 0), ask(0, 0);  // makes the connection
    // The latency: half of the shortest round trip.
    double round_trip = ask(0, 0), spent = round_trip;
    for (int k = 1; k < 10 && (k < 3 || spent < 2e-3); ++k) {
      const double took = ask(0, 0);
      spent += took;
      if (took < round_trip) round_trip = took;
    }
    link.cost.latency = within(round_trip / 2, 1e-7, 1);
    // The cost of a message: a burst of small messages.
    constexpr std::uint64_t burst = 16;
    link.cost.message = within((best_of_two(burst, 8) - round_trip) / double{burst}, 1e-7, link.cost.latency);
    // The cost of a byte: one message, doubled until it takes long enough.
    const double long_enough = round_trip > 1e-3 ? round_trip : 1e-3;
    for (std::uint64_t bytes = 32768; bytes <= most_bytes; bytes *= 2) {
      const double took = best_of_two(1, bytes) - round_trip;
      link.cost.byte = within(took / static_cast<double>(bytes), 1e-12, 1e-5);
      if (took > long_enough) break;
    }
    // The longest message that is sent eagerly.
    for (std::uint64_t bytes = 32768; bytes > link.at_once; bytes /= 2)
      if (leaves_at_once(bytes)) link.at_once = static_cast<std::size_t>(bytes);
    const command end{stop, 0, 0};
    send(&end, sizeof end);
    return link;
  }
  void answer() {
    for (;;) {
      const command c = hear();
      if (c.what == stop) return;
      if (c.what == later) hear();
      // received together, as in an exchange
      const auto bytes = static_cast<std::size_t>(c.bytes);
      std::vector<MPI_Request> awaited(static_cast<std::size_t>(c.messages), MPI_REQUEST_NULL);
      room_.resize(awaited.size() * bytes);
      for (std::size_t k = 0; k < awaited.size(); ++k)
        start_to_receive(awaited[k], room_.data() + k * bytes, bytes, about_blocks);
      for (MPI_Request& request : awaited) wait(request);
      send(nullptr, 0);
    }
  }

 private:
  enum : std::uint64_t { now, later, stop };
  struct command {
    std::uint64_t what, messages, bytes;
  };
  static constexpr int about_commands = 31003, about_blocks = 31004;
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20U;

  static double within(double value, double least, double most) {
    return value > least ? (value < most ? value : most) : least;  // `least` if the value is NaN
  }

  /// The seconds until these messages have arrived and the answer is back.
  double ask(std::uint64_t messages, std::uint64_t bytes) {
    room_.resize(static_cast<std::size_t>(bytes));
    const command c{now, messages, bytes};
    const double start = MPI_Wtime();
    send(&c, sizeof c);
    std::vector<MPI_Request> sent(static_cast<std::size_t>(messages), MPI_REQUEST_NULL);
    for (MPI_Request& request : sent) start_to_send(request);
    for (MPI_Request& request : sent) wait(request);
    receive(nullptr, 0, about_commands);
    return MPI_Wtime() - start;
  }
  double best_of_two(std::uint64_t messages, std::uint64_t bytes) {
    const double first = ask(messages, bytes), second = ask(messages, bytes);
    return first < second ? first : second;
  }
  /// Whether a message of this size is sent although the receiver has not posted a receive for it.
  bool leaves_at_once(std::uint64_t bytes) {
    room_.resize(static_cast<std::size_t>(bytes));
    const command c{later, 1, bytes}, go{now, 0, 0};
    send(&c, sizeof c);
    MPI_Request request = MPI_REQUEST_NULL;
    start_to_send(request);
    int left = 0;
    const double start = MPI_Wtime();
    while (left == 0 && MPI_Wtime() - start < 1e-3) {
      check(MPI_Test(&request, &left, MPI_STATUS_IGNORE), "MPI_Test");
      std::this_thread::yield();
    }
    send(&go, sizeof go);
    receive(nullptr, 0, about_commands);
    wait(request);
    return left != 0;
  }

  void wait(MPI_Request& request) const {
    int done = 0;
    for (backoff p(oversubscribed_);; p.pause()) {
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) return;
    }
  }
  void start_to_send(MPI_Request& request) const {
    check(MPI_Isend(room_.data(), static_cast<int>(room_.size()), MPI_BYTE, other_, about_blocks, everyone_, &request),
          "MPI_Isend");
  }
  void send(const void* data, std::size_t bytes) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, other_, about_commands, everyone_, &request), "MPI_Isend");
    wait(request);
  }
  void start_to_receive(MPI_Request& request, void* data, std::size_t bytes, int about) const {
    check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, other_, about, everyone_, &request), "MPI_Irecv");
  }
  void receive(void* data, std::size_t bytes, int about) const {
    MPI_Request request = MPI_REQUEST_NULL;
    start_to_receive(request, data, bytes, about);
    wait(request);
  }
  command hear() const {
    command c{};
    receive(&c, sizeof c, about_commands);
    return c;
  }

  MPI_Comm everyone_;
  int other_;
  bool oversubscribed_;
  std::vector<char> room_;
};

/// The link between the nodes of a communicator. `firsts` are the first workers of the nodes, in ascending order, with
/// worker 0 among them. Collective over the communicator. Worker 0 takes the link from the environment or from an
/// earlier world, or measures it; all workers use its result. Simulated nodes have no link of their own.
inline measured_link learn_link(MPI_Comm everyone, const std::vector<int>& firsts, bool pretended,
                                bool oversubscribed) {
  struct knowledge {
    measured_link link{};
    bool known = false;
  };
  static spin_lock several_threads;
  static knowledge of_job;  // known if this process was worker 0 of an earlier world
  int worker = 0;
  MPI_Comm_rank(everyone, &worker);
  auto told = std::make_unique<knowledge>();
  const auto tell_all = [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(told.get(), static_cast<int>(sizeof *told), MPI_BYTE, 0, everyone, &request), "MPI_Ibcast");
    finish_collective(request, told);
  };
  if (worker == 0) {
    const link_said said(std::getenv("PARTITA_LINK"));
    const std::lock_guard<spin_lock> here(several_threads);
    if (said.given) *told = {{{said.latency, said.message, said.byte}, said.at_once}, true};
    else if (pretended) told->known = true;
    else *told = of_job;
  }
  tell_all();
  if (told->known) return told->link;
  const int other = firsts[1];
  basic_link_trial<> trial(everyone, worker == 0 ? other : 0, oversubscribed);
  if (worker == 0) told->link = trial.ask();
  else if (worker == other) trial.answer();
  tell_all();
  if (worker == 0) {
    const std::lock_guard<spin_lock> here(several_threads);
    of_job = {told->link, true};
  }
  return told->link;
}

}  // namespace partita::detail
