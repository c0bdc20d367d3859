// The computations and pending movements of a worker at any time of a step, as they were estimated or measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita {

/// The times of one step of a program on one worker, in seconds since the step began.
struct timetable {
  /// A computation, or a movement from its start until all its blocks have arrived.
  struct entry {
    basic_text<48> operation{};               ///< the name of the operation
    bool moves = false, is_backward = false;  ///< whether it is a movement; whether in the backward pass
    double from = 0, until = 0;               ///< the start and the end, in seconds
    double waited_seconds = 0;                ///< time of waiting for the movement and, if measured, of starting it
    std::size_t received_bytes = 0;           ///< the bytes that a movement receives
    std::size_t bytes_held = 0;               ///< the bytes of intermediate values during the entry
    std::size_t joint_movements = 0;          ///< the number of other movements that share the messages of the movement
  };

  std::vector<entry> entries{};  ///< in the order in which they begin
  double longest_chain = 0;      ///< seconds of the longest chain of dependent entries; no order takes less time
  bool is_measured = false;      ///< whether the times were measured

  /// The time from the start to the end of the step.
  double seconds() const { return largest(&entry::until); }
  PARTITA_DECL double computing() const;  ///< The time of all computations.
  /// The time in which at least one movement is pending.
  PARTITA_DECL double moving() const;
  /// The time for which this worker waits until movements are complete.
  double waiting() const { return sum(&entry::waited_seconds); }
  std::size_t received_bytes() const { return sum(&entry::received_bytes); }  ///< The bytes that this worker receives.
  std::size_t peak() const { return largest(&entry::bytes_held); }  ///< The largest number of bytes held at one time.
  /// The larger of computing and moving: a lower bound for the time of any order in which both take as long.
  double lower_bound() const { return computing() < moving() ? moving() : computing(); }

 private:
  /// The sum of one number of all entries.
  template <class Number>
  Number sum(Number entry::*part) const {
    Number all = 0;
    for (const entry& one : entries) all += one.*part;
    return all;
  }
  template <class Number>
  Number largest(Number entry::*part) const {  ///< the largest such number; at least 0
    Number most = 0;
    for (const entry& one : entries) most = one.*part > most ? one.*part : most;
    return most;
  }
};

/// The timetable of an order. `measurements` contains the times of the order's entries in seconds; if it is empty, the
/// timetable contains the estimated times.
PARTITA_DECL timetable timetable_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order,
                                    const std::vector<double>& measurements = {});

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/timetable.ipp>
#endif
