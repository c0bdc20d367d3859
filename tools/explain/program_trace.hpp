// The bound programs in a trace: prints and draws their estimated timetables beside the times that were measured.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>
#include <partita/plan/timetable.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "table.hpp"

namespace tool {

/// Reads the number after a key, and removes both from the front of `line`.
template <class T>
bool take(std::string_view& line, std::string_view key, T& number) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return false;
  line.remove_prefix(at + key.size());
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return problem == std::errc();
}
/// Reads a text in quotes.
inline std::string take_text(std::string_view& line, std::string_view key) {
  std::string all;
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return all;
  for (line.remove_prefix(at + key.size()); !line.empty() && line[0] != '"'; line.remove_prefix(1)) {
    if (line[0] == '\\' && line.size() > 1) line.remove_prefix(1);
    all += line[0];
  }
  return all;
}

/// A bound program: what each worker estimated, and what it measured in one call.
struct program_times {
  struct on_worker {
    std::vector<std::string> steps{};  // the names of the steps
    partita::timetable estimated{}, measured{};
  };
  std::string call{};                            // the description of the call that bound it
  std::size_t calls = 0, displayed_call = 0;     // the number of complete calls; the call whose times are here
  std::map<std::size_t, on_worker> of_worker{};  // by the number of the worker

  double measured_seconds() const {
    double most = 0;
    for (const auto& [worker, one] : of_worker) most = std::max(most, one.measured.seconds());
    return most;
  }
};

/// Reads the lines of a trace that describe bound programs.
class traced_programs {
 public:
  /// Reads one line. Returns false if the line does not describe a bound program.
  bool add(std::string_view line) {
    const bool is_measured = line.find(R"("cat":"step")") != std::string_view::npos;
    const bool is_program = line.find(R"("tid":0,"name":"program")") != std::string_view::npos;
    const bool is_step = line.find(R"(,"name":"step","args":{"program")") != std::string_view::npos;
    if (!is_measured && !is_program && !is_step) return false;
    std::size_t worker = 0, program = 0;
    take(line, R"("pid":)", worker);
    if (is_program) {
      take(line, R"("program":)", program);
      const std::string key = take_text(line, R"("key":")");
      const auto known = std::find(keys_.begin(), keys_.end(), key);
      number_of_[{worker, program}] = static_cast<std::size_t>(known - keys_.begin());
      if (known == keys_.end()) keys_.push_back(key), all_.emplace_back().call = take_text(line, R"("call":")");
      return true;
    }
    std::size_t step = 0, moves = 0, backward = 0, pass = 0, call = 0;
    double from = 0, length = 0, waited = 0;
    if (is_step) {
      double until = 0;
      take(line, R"("program":)", program), take(line, R"("moves":)", moves), take(line, R"("backward":)", backward);
      take(line, R"("pass":)", pass), take(line, R"("from":)", from), take(line, R"("until":)", until);
      take(line, R"("waiting":)", waited);
      entries& of = entries_of(worker, program);
      of.names.push_back(take_text(line, R"("operation":")"));
      of.passes.push_back(pass);
      of.estimated.entries.push_back(
          {{}, moves == 1, backward == 1, from * 1e-6, until * 1e-6, waited * 1e-6, 0, 0, 0});
      return true;
    }
    std::int64_t nanoseconds = 0;
    std::int64_t thousandths = 0;
    take(line, R"("ts":)", nanoseconds), take(line, ".", thousandths), take(line, R"("dur":)", length);
    nanoseconds = 1000 * nanoseconds + thousandths;
    take(line, R"("waiting":)", waited), take(line, R"("program":)", program);
    take(line, R"("step":)", step), take(line, R"("call":)", call);
    entries& of = entries_of(worker, program);
    if (step >= of.passes.size()) return true;  // the file is truncated or was edited
    of.calls[call].push_back({step, nanoseconds, length * 1e-6, waited * 1e-6});
    return true;
  }

  /// The programs, each with the times of one call: the call of median time among those that were measured on all
  /// workers from the first to the last step.
  std::vector<program_times> programs() const {
    std::vector<program_times> found = all_;
    for (std::size_t p = 0; p < found.size(); ++p) choose(found[p], on_workers(p));
    std::erase_if(found, [](const program_times& one) { return one.calls == 0; });
    return found;
  }

 private:
  struct measured_step {
    std::size_t step;
    std::int64_t begin;  // nanoseconds since 1970: too many for a double
    double length, waited;
  };
  struct entries {
    std::vector<std::string> names{};
    std::vector<std::size_t> passes{};  // 0 for the forward pass, 1 for the backward pass
    partita::timetable estimated{};
    std::map<std::size_t, std::vector<measured_step>> calls{};
  };
  using by_worker = std::map<std::size_t, const entries*>;

  entries& entries_of(std::size_t worker, std::size_t program) { return entries_[{worker, program}]; }
  by_worker on_workers(std::size_t number) const {
    by_worker on;
    for (const auto& [key, known] : number_of_)
      if (const auto at = entries_.find(key); known == number && at != entries_.end()) on[key.first] = &at->second;
    return on;
  }
  /// The measured timetable of a call. The time between the forward and the backward pass does not count.
  static partita::timetable measured(const entries& of, const std::vector<measured_step>& call) {
    partita::timetable all;
    all.is_measured = true;
    std::int64_t begin = 0;
    double earlier = 0, shift = 0;
    std::size_t pass = 2;
    for (const measured_step& one : call) {
      if (of.passes[one.step] != pass) begin = one.begin, shift = earlier, pass = of.passes[one.step];
      partita::timetable::entry& added = all.entries.emplace_back(of.estimated.entries[one.step]);
      added.from = shift + static_cast<double>(one.begin - begin) * 1e-9, added.until = added.from + one.length;
      added.waited_seconds = one.waited;
      earlier = std::max(earlier, added.until);
    }
    return all;
  }
  static void choose(program_times& program, const by_worker& on) {
    // A program with gradients may have been called without its backward pass: such calls have fewer steps.
    struct whole_call {
      std::size_t workers = 0;
      double seconds = 0;
    };
    std::map<std::size_t, whole_call> whole;
    for (const auto& [worker, of] : on) {
      std::size_t most = 0;
      for (const auto& [call, steps] : of->calls) most = std::max(most, steps.size());
      for (const auto& [call, steps] : of->calls)
        if (steps.size() == most)
          ++whole[call].workers, whole[call].seconds = std::max(whole[call].seconds, measured(*of, steps).seconds());
    }
    std::vector<std::pair<double, std::size_t>> order;
    for (const auto& [call, one] : whole)
      if (one.workers == on.size()) order.emplace_back(one.seconds, call);
    if (order.empty()) return;
    std::sort(order.begin(), order.end());
    program.calls = order.size();
    program.displayed_call = order[(order.size() - 1) / 2].second;
    for (const auto& [worker, of] : on)
      program.of_worker[worker] = {of->names, of->estimated, measured(*of, of->calls.at(program.displayed_call))};
  }

  std::vector<program_times> all_;
  std::vector<std::string> keys_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> number_of_;
  std::map<std::pair<std::size_t, std::size_t>, entries> entries_;
};

/// Draws two rows for each worker: its estimated and its measured times, on one time axis if both can be read on it,
/// otherwise on two axes. Bars of computations are above those of movements. A bar is left out if it is too narrow to
/// see and another bar is already drawn at its position. Pipelines have no estimated times.
inline partita::long_text program_picture(const program_times& program) {
  using partita::drawing;
  using px = drawing::px;
  constexpr px left = 170, wide = 1000, row = 34, first = 56;
  double estimated = 0, measured = program.measured_seconds();
  for (const auto& [worker, one] : program.of_worker) estimated = std::max(estimated, one.estimated.seconds());
  constexpr double most = 4;  // chosen: bars on a quarter of the width can still be read
  const bool is_estimated = estimated > 0;
  const bool is_one_axis = measured <= most * estimated && estimated <= most * measured;
  if (is_one_axis) estimated = measured = std::max(estimated, measured);
  drawing on;
  on.words(0, 16,
           partita::long_text("A step of a bound program: ")
               << (is_estimated ? "estimated, and measured in call " : "measured in call ")
               << program.displayed_call + 1,
           {.bold = true});
  px key = partita::detail::add_legend_entry(on, 0, 2, "computes");
  key = partita::detail::add_legend_entry(on, key, 4, "moves");
  key = partita::detail::add_legend_entry(on, key, 3, "computes in the backward pass");
  partita::detail::add_legend_entry(on, key, 6, "moves in the backward pass");
  px y = first;
  for (const auto& [worker, one] : program.of_worker) {
    for (const partita::timetable* const times : {&one.estimated, &one.measured}) {
      if (!times->is_measured && !is_estimated) continue;
      on.words(0, y + 15,
               partita::long_text("worker ") << worker << (times->is_measured ? ", measured" : ", estimated"),
               {.size = 13});
      px drawn_to[2] = {-1, -1};
      for (const partita::timetable::entry& step : times->entries) {
        const auto across = [&, span = times->is_measured ? measured : estimated](double seconds) {
          return left + (span > 0 ? static_cast<px>(seconds / span * static_cast<double>(wide)) : 0);
        };
        px from = across(step.from), to = std::max(across(step.until), from + 1);
        if (to <= drawn_to[step.moves]) continue;
        drawn_to[step.moves] = to;
        const std::size_t colour = step.moves ? (step.is_backward ? 6 : 4) : step.is_backward ? 3 : 2;
        const partita::colour own = partita::colour_of(colour);
        const bool is_wide = to - from > 4;  // otherwise the border would be all that is seen
        on.rectangle(from, step.moves ? y + 17 : y + 2, to - from, step.moves ? 8 : 14,
                     is_wide ? own : partita::colour{own.ink, own.ink}, is_wide ? 1 : 0);
      }
      y += row - 4;
    }
    y += 8;
  }
  for (const bool is_measured : {false, true}) {
    if (!is_measured && (is_one_axis || !is_estimated)) continue;
    if (!is_one_axis && is_estimated)
      on.words(0, y + 5, is_measured ? "time, of measured rows" : "time, of estimated rows", {.size = 13});
    partita::detail::add_time_axis(on, left, left + wide, y, is_measured ? measured : estimated);
    y += row;
  }
  return on.svg();
}

/// Prints the steps of a program on one worker, estimated and measured, and the totals of all workers.
inline void print_program(const program_times& program, std::size_t worker) {
  const auto ratio = [](double estimated, double measured) {
    char digits[32] = "-";
    if (estimated > 0) std::snprintf(digits, sizeof digits, "%.3g", measured / estimated);
    return std::string(digits);
  };
  const auto row = [&](const std::string& name, double estimated, double measured) {
    return std::vector<std::string>{name, seconds(estimated), seconds(measured), ratio(estimated, measured)};
  };
  const auto at = program.of_worker.find(worker);
  if (at == program.of_worker.end())
    throw usage_error("worker " + std::to_string(worker) +
                      " has no steps of this program; --worker takes one that has");
  const program_times::on_worker& one = at->second;
  table steps({"step of worker " + std::to_string(worker), "estimated", "measured", "ratio", "begins, estimated",
               "begins, measured"});
  for (std::size_t k = 0; k < one.measured.entries.size(); ++k) {
    const partita::timetable::entry &a = one.estimated.entries[k], &b = one.measured.entries[k];
    std::vector<std::string> cells =
        row(one.steps[k] + (a.is_backward ? ", backward" : ""), a.until - a.from, b.until - b.from);
    cells.push_back(seconds(a.from)), cells.push_back(seconds(b.from));
    steps.add(std::move(cells));
  }
  steps.print();
  std::cout << "\n";
  table totals({"all steps", "estimated", "measured", "ratio"});
  for (const auto& [number, of] : program.of_worker) {
    const std::string name = "worker " + std::to_string(number);
    totals.add(row(name + " computes", of.estimated.computing(), of.measured.computing()));
    totals.add(row(name + " has movements pending", of.estimated.moving(), of.measured.moving()));
    totals.add(row(name + " waits for movements", of.estimated.waiting(), of.measured.waiting()));
    totals.add(row(name + ", from begin to end", of.estimated.seconds(), of.measured.seconds()));
  }
  totals.print();
}

/// Lists the bound programs of a trace, and explains one of them in detail: number --program, by default 0, the
/// longest.
inline void explain_programs(const arguments& given, std::vector<program_times> programs) {
  if (programs.empty())
    throw usage_error("the trace has no bound program that was called; without --steps it shows the calls");
  std::stable_sort(programs.begin(), programs.end(), [](const program_times& a, const program_times& b) {
    return a.measured_seconds() > b.measured_seconds();
  });
  const std::size_t chosen = given.count("--program", 0);
  if (chosen >= programs.size()) throw usage_error("--program takes a number below " + std::to_string(programs.size()));
  table list({"program", "calls", "workers", "measured", "bound by"});
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const program_times& one = programs[p];
    list.add({std::to_string(p), std::to_string(one.calls), std::to_string(one.of_worker.size()),
              seconds(one.measured_seconds()), one.call.size() > 100 ? one.call.substr(0, 97) + "..." : one.call});
  }
  std::cout << programs.size() << (programs.size() == 1 ? " bound program" : " bound programs")
            << ", the longest is first; of several calls, that of median time is shown\n";
  list.print();
  const program_times& program = programs[chosen];
  std::cout << "\nprogram " << chosen << ", call " << program.displayed_call + 1 << " of " << program.calls << "\n";
  print_program(program, given.count("--worker", program.of_worker.begin()->first));
  given.save(program_picture(program));
}

}  // namespace tool
