// What a worker shows of itself to other workers of its machine: its state and its last calls. A worker writes its own
// status slot, without waiting for other workers. The slot can be read when its writer hangs, and by any process that
// has mapped it even after its writer has ended.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <partita/comm/detail/diagnostics/call_description.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/comm/detail/world/process.hpp>
#include <partita/comm/file_size_errors.hpp>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// The state and the last calls of one worker, in memory that other processes can map.
struct status_slot {
  /// What the worker does, or how it ended: `has_ended` by exit, `has_failed` by an uncaught exception.
  enum class standing : std::uint64_t { is_computing, is_waiting, is_making_world, has_ended, has_failed, got_sigterm };
  static constexpr std::size_t kept_call_count = 64;  // chosen: 64 calls take 1536 bytes
  /// chosen: enough for most programs; a fingerprint is looked up in one set only
  static constexpr std::size_t description_set_count = 256, descriptions_per_set = 4;
  // chosen: the number of departures that are kept, usually more than happen before other workers notice one
  static constexpr std::size_t max_departures = 16;
  static constexpr std::size_t max_description_length = 248;  // with the final 0; fits nearly all calls with partitions
  /// The number of a call in its world, and a hash of the call and its arguments.
  struct call {
    std::atomic<std::uint64_t> world, number, fingerprint;  ///< the world's number; the call's number in it; its hash
  };

  std::atomic<std::uint64_t> slot_secret;              ///< identifies the slot: other slots have other numbers
  std::atomic<std::uint64_t> process, worker;          ///< the process id, and the worker's id in the job
  std::atomic<std::uint64_t> last_printed_secret;      ///< the secret of the slot whose calls this worker printed last
  std::atomic<standing> state;                         ///< what the worker does now, or how it ended
  std::atomic<std::uint64_t> state_begin_nanoseconds;  ///< when the state began, in ns of the machine's CLOCK_MONOTONIC
  std::atomic<std::uint64_t> call_count;               ///< the calls of this worker so far, in all its worlds
  call last_calls[kept_call_count];                    ///< call number n is at n % kept_call_count
  /// A world that the worker has destroyed, and how many calls of this world the worker had made.
  struct departure {
    std::atomic<std::uint64_t> world, call_count;  ///< the number of the world; its calls that the worker has finished
  };
  departure departures[max_departures];        ///< the last ones, each at its number % max_departures
  std::atomic<std::uint64_t> departure_count;  ///< the worlds that the worker has destroyed so far
  std::atomic<bool> has_called_finalize;       ///< whether the worker has called MPI_Finalize
  std::atomic<std::uint64_t> fingerprints[description_set_count][descriptions_per_set];  ///< of described calls, or 0
  /// the call with the fingerprint at the same index, as text
  char descriptions[description_set_count][descriptions_per_set][max_description_length];
  char final_message[1024];  ///< the message of the uncaught exception of a worker that failed

  /// Notes a call in the slot. `describe()` makes the call's text only if the slot has no text for this fingerprint.
  /// Cost: four stores and a read of one cache line.
  void note(std::uint64_t world, std::uint64_t number, std::uint64_t fingerprint, const call_description& describe) {
    const std::uint64_t n = call_count.load(std::memory_order_relaxed);
    call& here = last_calls[n % kept_call_count];
    here.world.store(world, std::memory_order_relaxed);
    here.number.store(number, std::memory_order_relaxed);
    here.fingerprint.store(fingerprint, std::memory_order_relaxed);
    call_count.store(n + 1, std::memory_order_release);
    const auto& names = fingerprints[fingerprint % description_set_count];
    for (std::size_t k = 0; k < descriptions_per_set; ++k)
      if (names[k].load(std::memory_order_relaxed) == fingerprint) return;
    store_description(fingerprint, describe());
  }
  /// Stores the text of the calls with a fingerprint, in place of an older text if the set is full.
  PARTITA_DECL void store_description(std::uint64_t fingerprint, const text& sentence);
  /// Notes that this worker has destroyed a world, after the worker had made and finished this many calls of the world.
  PARTITA_DECL void note_departure(std::uint64_t world, std::uint64_t calls_of_world);
  /// Whether this worker has left a world before it had made this many calls of the world.
  PARTITA_DECL bool has_left_before_call(std::uint64_t world, std::uint64_t calls_of_world) const;
  /// The name of the call with a fingerprint; empty if the name was overwritten.
  PARTITA_DECL text find_description(std::uint64_t fingerprint) const;
  /// Sets the state, and records that it begins now.
  PARTITA_DECL void set_process_state(standing state);

  /// The time of CLOCK_MONOTONIC now.
  PARTITA_DECL static std::uint64_t nanoseconds();
};

/// What another process needs to find a status slot.
struct slot_address {
  std::uint64_t machine = 0, process = 0;   ///< a hash of the host's name, and the process id
  std::uint64_t file = 0, slot_secret = 0;  ///< the slot's file descriptor in that process; 0 if it cannot be mapped
};

/// The status slot of this process, and the slots of other processes that were found. No slot is ever unmapped: a slot
/// is needed most when its writer has ended.
class status_slots {
 public:
  PARTITA_DECL static status_slots& instance();  ///< The object of this process; the first call makes the slot.
  /// The slot that this process writes.
  status_slot& own_slot() { return *own_slot_; }
  /// The address of the slot of this process.
  const slot_address& address() const { return own_address_; }

  /// The slot of a process of this machine; null if the slot cannot be read (another machine or another container).
  PARTITA_DECL const status_slot* find(const slot_address& where);

  /// An entry of the list of the slots that find() has mapped. Entries are never removed, so a signal handler can read
  /// the list unlocked.
  struct mapped_slot {
    std::uint64_t slot_secret;      ///< identifies the slot, see status_slot
    const status_slot* status;      ///< in memory that this process can only read
    const mapped_slot* older_slot;  ///< the entry that was added before; null if none
  };
  /// The slot that was mapped last; null if none was.
  const mapped_slot* newest() const { return newest_slot_.load(std::memory_order_acquire); }
  /// Whether any worker whose slot was found waits in a call.
  PARTITA_DECL bool has_waiting_worker() const;
  /// Whether a process has ended, even if its parent has not waited for it yet.
  PARTITA_DECL static bool has_ended(std::uint64_t process);

 private:
  PARTITA_DECL status_slots();  ///< Makes the slot of this process.

  status_slot* own_slot_ = nullptr;                       ///< the slot of this process
  slot_address own_address_;                              ///< the address of own_slot_ for other processes
  spin_lock lock_;                                        ///< held by a thread that adds to the list
  std::atomic<const mapped_slot*> newest_slot_{nullptr};  ///< see newest()
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/status_slot.ipp>
#endif
