// The picture of a trace: one row for each worker, its calls in the colour of the operation, waiting in grey.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace partita::detail {

/// The calls in a trace file, as `trace_lines` writes them.
class drawn_calls {
 public:
  struct bar {
    std::size_t worker = 0, operation = 0;
    double begin = 0, length = 0, waiting = 0;  // microseconds
  };

  template <class = void>
  explicit drawn_calls(std::string_view json) {
    while (!json.empty()) {
      const std::size_t end = std::min(json.find('\n'), json.size());
      add(json.substr(0, end));
      json.remove_prefix(std::min(end + 1, json.size()));
    }
  }
  const std::vector<bar>& bars() const { return bars_; }
  const std::vector<std::string_view>& operations() const { return operations_; }

 private:
  /// Reads the number after a key, and removes both from the front of `entry`.
  template <class T>
  static bool take(std::string_view& entry, std::string_view key, T& number) {
    const std::size_t at = entry.find(key);
    if (at == std::string_view::npos) return false;
    entry.remove_prefix(at + key.size());
    return std::from_chars(entry.data(), entry.data() + entry.size(), number).ec == std::errc();
  }
  template <class = void>
  void add(std::string_view entry) {
    bar b;
    if (!entry.starts_with(R"({"ph":"X")") || !take(entry, R"("pid":)", b.worker) ||
        !take(entry, R"("ts":)", b.begin) || !take(entry, R"("dur":)", b.length) ||
        !take(entry, R"("waiting":)", b.waiting))
      return;
    const std::size_t at = entry.rfind(R"("name":")");
    if (at == std::string_view::npos) return;
    entry.remove_prefix(at + 8);
    const std::string_view name = entry.substr(0, entry.find('"'));
    const auto known = std::find(operations_.begin(), operations_.end(), name);
    b.operation = static_cast<std::size_t>(known - operations_.begin());
    if (known == operations_.end()) operations_.push_back(name);
    bars_.push_back(b);
  }

  std::vector<bar> bars_;
  std::vector<std::string_view> operations_;
};

/// Draws the calls. A call is left out if it is too narrow to see and another call is already drawn at its place.
template <class = void>
std::string trace_picture(std::string_view json) {
  const drawn_calls calls(json);
  const auto& operations = calls.operations();
  double first = 1e300, last = 0;
  std::size_t rows = 0;
  for (const auto& b : calls.bars())
    first = std::min(first, b.begin), last = std::max(last, b.begin + b.length), rows = std::max(rows, b.worker + 1);
  constexpr double left = 90, width = 1100, row = 30, narrowest = 0.3;
  const double top = 50 + 18 * static_cast<double>(operations.size()), span = last > first ? last - first : 1;
  const auto colour = [](std::size_t operation) {
    constexpr const char* palette[] = {"#3f7fbf", "#d9822b", "#4c9f50", "#8a63c2", "#c23b45", "#2a9d94", "#b59a1a"};
    return palette[operation % (sizeof palette / sizeof *palette)];
  };
  const auto name = [&](std::size_t operation) { return std::string(operations[operation]); };
  char part[512];
  std::snprintf(part, sizeof part,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
                "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                left + width + 20, top + row * static_cast<double>(rows) + 10);
  std::string all(part);
  std::snprintf(part, sizeof part, "<text x=\"10\" y=\"20\">%.3f ms; grey: waiting for others</text>\n", span / 1e3);
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
  std::vector<double> drawn_to(rows, -1);
  for (const auto& b : calls.bars()) {
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

}  // namespace partita::detail
