// What a worker computes, and which movements are pending, at any time of a step: estimated, or as it was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita {

/// The times of one step of a program on one worker, in seconds since it began.
struct timetable {
  /// A computation, or a movement from its start until it has arrived.
  struct entry {
    basic_text<48> operation{};
    bool moves = false, is_backward = false;
    double from = 0, until = 0;
    double waited = 0;         ///< of a movement: the time in which this worker computed nothing because of it
    std::size_t received = 0;  ///< bytes, of a movement
    std::size_t held = 0;      ///< bytes of intermediate values while it is done
    std::size_t others = 0;    ///< movements that share its messages
  };

  std::vector<entry> entries{};
  double longest_chain = 0;  ///< of entries that need each other; no order takes less time
  bool is_measured = false;

  /// From the first to the last time.
  double seconds() const { return largest(&entry::until); }
  PARTITA_DECL double computing() const;
  /// The time in which at least one movement is pending.
  PARTITA_DECL double moving() const;
  /// The time in which this worker waits for movements.
  double waiting() const { return sum(&entry::waited); }
  std::size_t received() const { return sum(&entry::received); }
  std::size_t peak() const { return largest(&entry::held); }
  /// No step takes less than the larger of computing and moving.
  double least() const { return computing() < moving() ? moving() : computing(); }

 private:
  template <class Number>
  Number sum(Number entry::*part) const {
    Number all = 0;
    for (const entry& one : entries) all += one.*part;
    return all;
  }
  template <class Number>
  Number largest(Number entry::*part) const {
    Number most = 0;
    for (const entry& one : entries) most = one.*part > most ? one.*part : most;
    return most;
  }
};

/// The timetable of an order. `measured` are the times of its entries, in seconds, or empty: then those of the
/// estimate.
PARTITA_DECL timetable timetable_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order,
                                    const std::vector<double>& measured = {});

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/timetable.ipp>
#endif
