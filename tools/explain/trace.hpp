// The trace of a run: prints the time and the bytes of each operation, and draws the calls of all workers; or prints
// and draws the steps of bound programs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "program_trace.hpp"
#include "table.hpp"

namespace tool {

/// The calls in a file that a program with PARTITA_TRACE wrote: one line for each call.
class traced_calls {
 public:
  struct call {
    std::size_t worker = 0, operation = 0, bytes = 0, messages = 0;
    double begin = 0, length = 0, waiting = 0;  // microseconds
  };

  explicit traced_calls(const std::string& file) {
    std::ifstream from(file);
    std::string line;
    if (!from) throw request_error("cannot read '" + file + "'");
    bool is_trace = std::getline(from, line) && line.find(R"("traceEvents")") != std::string::npos;
    while (is_trace && std::getline(from, line)) add(line);
    if (!is_trace)
      throw request_error("'" + file + "' is not a trace; a program writes one if PARTITA_TRACE names the file");
    if (all_.empty()) throw request_error("'" + file + "' is a trace without calls of partita");
  }
  const std::vector<call>& all() const { return all_; }
  const std::vector<std::string>& operations() const { return operations_; }
  std::size_t workers() const { return workers_; }
  std::size_t dropped() const { return dropped_; }
  std::vector<program_times> programs() const { return programs_.programs(); }

 private:
  void add(std::string_view entry) {
    if (programs_.add(entry)) return;
    std::size_t not_recorded = 0;
    if (entry.starts_with(R"({"ph":"M")")) {
      ++workers_;
      if (take(entry, R"("dropped":)", not_recorded)) dropped_ += not_recorded;
      return;
    }
    call c;
    if (!entry.starts_with(R"({"ph":"X")") || !take(entry, R"("pid":)", c.worker) ||
        !take(entry, R"("ts":)", c.begin) || !take(entry, R"("dur":)", c.length) ||
        !take(entry, R"("waiting":)", c.waiting) || !take(entry, R"("bytes":)", c.bytes) ||
        !take(entry, R"("messages":)", c.messages))
      return;
    const std::size_t at = entry.rfind(R"("name":")");
    if (at == std::string_view::npos) return;
    entry.remove_prefix(at + 8);
    const std::string_view name = entry.substr(0, entry.find('"'));
    const auto known = std::find(operations_.begin(), operations_.end(), name);
    c.operation = static_cast<std::size_t>(known - operations_.begin());
    if (known == operations_.end()) operations_.emplace_back(name);
    all_.push_back(c);
  }

  std::vector<call> all_;
  std::vector<std::string> operations_;
  traced_programs programs_;
  std::size_t workers_ = 0, dropped_ = 0;
};

/// Draws the calls. A call is left out if it is too narrow to see and another call is already drawn at its place.
inline std::string trace_picture(const traced_calls& calls) {
  const auto& operations = calls.operations();
  double first = 1e300, last = 0;
  std::size_t rows = 0;
  for (const auto& b : calls.all())
    first = std::min(first, b.begin), last = std::max(last, b.begin + b.length), rows = std::max(rows, b.worker + 1);
  constexpr double left = 90, width = 1100, row = 30, narrowest = 0.3;
  const double top = 50 + 18 * static_cast<double>(operations.size()), span = last > first ? last - first : 1;
  const auto colour = [](std::size_t operation) {
    constexpr const char* palette[] = {"#3f7fbf", "#d9822b", "#4c9f50", "#8a63c2", "#c23b45", "#2a9d94", "#b59a1a"};
    return palette[operation % (sizeof palette / sizeof *palette)];
  };
  const auto name = [&](std::size_t operation) {  // in XML
    std::string written;
    for (const char c : operations[operation])
      if (c == '<') written += "&lt;";
      else if (c == '&') written += "&amp;";
      else written += c;
    return written;
  };
  char part[512];
  const double bottom = top + row * static_cast<double>(rows), all_wide = left + width + 50, all_high = bottom + 50;
  std::snprintf(part, sizeof part,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
                "font-family=\"sans-serif\" font-size=\"12\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                all_wide, all_high, all_wide, all_high);
  std::string all(part);
  std::snprintf(part, sizeof part,
                "<text x=\"10\" y=\"20\">Calls of kernels in %.3f ms. Colours: operations; grey: waiting for other "
                "workers.</text>\n",
                span / 1e3);
  all += part;
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const double y = 30 + 18 * static_cast<double>(k);
    std::snprintf(part, sizeof part, "<rect x=\"10\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", y,
                  colour(k));
    all += part;
    std::snprintf(part, sizeof part, "<text x=\"28\" y=\"%.0f\">%.200s</text>\n", y + 11, name(k).c_str());
    all += part;
  }
  for (std::size_t k = 0; k < rows; ++k) {
    std::snprintf(part, sizeof part, "<text x=\"10\" y=\"%.0f\">worker %zu</text>\n",
                  top + row * static_cast<double>(k) + 18, k);
    all += part;
  }
  constexpr int ticks = 5;
  std::snprintf(part, sizeof part, "<path d=\"M%.0f %.0fH%.0f\" stroke=\"#222222\"/>\n", left, bottom + 4,
                left + width);
  all += part;
  for (int k = 0; k <= ticks; ++k) {
    const double x = left + width * k / ticks;
    std::snprintf(part, sizeof part,
                  "<path d=\"M%.0f %.0fv5\" stroke=\"#222222\"/>\n"
                  "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%.3f ms</text>\n",
                  x, bottom + 4, x, bottom + 24, span * k / ticks / 1e3);
    all += part;
  }
  std::vector<double> drawn_to(rows, -1);
  for (const auto& b : calls.all()) {
    const double x = left + (b.begin - first) / span * width, y = top + row * static_cast<double>(b.worker);
    const double wide = std::max(b.length / span * width, narrowest), waits = std::min(b.waiting / span * width, wide);
    if (x + wide <= drawn_to[b.worker] + narrowest / 2) continue;
    drawn_to[b.worker] = std::max(drawn_to[b.worker], x + wide);
    std::snprintf(part, sizeof part,
                  "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"24\" fill=\"%s\"><title>%.150s, %.1f us</title>"
                  "</rect>\n",
                  x, y, wide, colour(b.operation), name(b.operation).c_str(), b.length);
    all += part;
    if (waits <= 0) continue;
    std::snprintf(part, sizeof part, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"8\" fill=\"#9aa3ad\"/>\n", x,
                  y + 16, waits);
    all += part;
  }
  return all + "</svg>\n";
}

inline int explain_trace(int argc, char** argv) {
  const arguments given(argc, argv, {"--svg", "--program", "--worker"}, {"--steps"});
  given.require_words(1, "trace takes the file that PARTITA_TRACE named: partita-explain trace run.json --svg run.svg");
  const traced_calls calls(given.words()[0]);
  if (given.has("--steps")) {
    explain_programs(given, calls.programs());
    return 0;
  }
  struct totals {
    std::size_t calls = 0, bytes = 0, messages = 0;
    double length = 0, waiting = 0, longest = 0;
  };
  std::vector<totals> of(calls.operations().size());
  for (const auto& c : calls.all()) {
    totals& t = of[c.operation];
    ++t.calls, t.bytes += c.bytes, t.messages += c.messages;
    t.length += c.length, t.waiting += c.waiting, t.longest = std::max(t.longest, c.length);
  }
  std::vector<std::size_t> order(of.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return of[a].length > of[b].length; });
  std::cout << calls.all().size() << " calls of " << calls.workers() << (calls.workers() == 1 ? " worker" : " workers")
            << "; times and bytes are sums over all workers, the longest operation is first\n";
  table rows({"operation", "calls", "time", "of it waiting", "longest call", "bytes sent", "messages"});
  for (const std::size_t k : order) {
    const totals& t = of[k];
    rows.add({calls.operations()[k], std::to_string(t.calls), seconds(t.length / 1e6), seconds(t.waiting / 1e6),
              seconds(t.longest / 1e6), bytes(static_cast<double>(t.bytes)), std::to_string(t.messages)});
  }
  rows.print();
  if (!calls.programs().empty()) std::cout << "  --steps shows the steps of bound programs, estimated and measured\n";
  if (calls.dropped() != 0) std::cout << "  " << calls.dropped() << " further calls are not in the file\n";
  for (const auto& c : calls.all())
    if (given.has("--svg") && c.worker >= 10'000) throw request_error("--svg draws the calls of up to 10 000 workers");
  given.save(trace_picture(calls));
  return 0;
}

}  // namespace tool
