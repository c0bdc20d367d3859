// Formats tables and units for a reader.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <partita/core/short_list.hpp>
#include <partita/plan/linear_cost.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tool {

/// Rows of text under a heading; each column is as wide as its widest entry.
class table {
 public:
  explicit table(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const {
    std::vector<std::size_t> width(rows_[0].size(), 0);
    for (const auto& row : rows_)
      for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
    for (const auto& row : rows_) {
      std::string line = " ";
      for (std::size_t c = 0; c < row.size(); ++c)
        line += ' ' + row[c] + std::string(width[c] - row[c].size() + 1, ' ');
      std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

template <class List>
std::string written(const List& extents) {
  std::string all;
  for (const std::size_t extent : extents) all += (all.empty() ? "" : " x ") + std::to_string(extent);
  return all;
}

/// A number with three digits and a unit.
inline std::string with_unit(double value, const std::vector<std::pair<double, const char*>>& units) {
  std::size_t u = 0;
  while (u + 1 < units.size() && value >= 0.9995 * units[u + 1].first) ++u;
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.3g %s", value / units[u].first, units[u].second);
  return buffer;
}
inline std::string bytes(double n) {
  return with_unit(n, {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}});
}
inline std::string seconds(double s) { return s == 0 ? "0" : with_unit(s, {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}); }

/// The note below a cost table that ends before tensors of more than 1e15 elements.
inline constexpr const char* truncation_note = "  ... larger ones have more than 1e15 elements\n";

/// The network for which seconds are estimated.
inline constexpr partita::linear_machine network{};
inline void print_model(bool grows = true) {
  std::cout << "  (seconds for " << seconds(network.seconds_per_message) << " a message and "
            << bytes(network.bytes_per_second) << "/s"
            << (grows ? "; the extents above 1 are all multiplied by one number)\n" : ")\n");
}

/// The factor for all extents above 1 that results in about `wanted` workers; at least 1.
inline std::size_t factor_for(const partita::shape_list& shape, std::size_t wanted) {
  double places = 1;
  int free = 0;
  for (const std::size_t extent : shape) {
    places *= static_cast<double>(extent);
    free += extent > 1 ? 1 : 0;
  }
  if (free == 0) return 1;
  const double factor = std::round(std::pow(static_cast<double>(wanted) / places, 1.0 / free));
  return factor < 1 ? 1 : static_cast<std::size_t>(factor);
}
/// Calls f(factor) once for each factor that results in about 10, 100, …, 10^6 workers.
template <class F>
void for_scales(const partita::shape_list& shape, F f) {
  std::size_t last = 0;
  for (std::size_t wanted = 10; wanted <= 1'000'000; wanted *= 10) {
    const std::size_t factor = factor_for(shape, wanted);
    if (factor != last) f(factor);
    last = factor;
  }
}

/// Marks the rows of a cost table whose strategy differs from the row above, since their costs are not comparable.
class strategy_changes {
 public:
  void add(const std::string& workers, const std::string& strategy) {
    if (!last_.empty() && strategy != last_) all_.push_back(workers);
    last_ = strategy;
  }
  void print(const char* what) const {
    for (const std::string& workers : all_)
      std::cout << "  on " << workers << " workers " << what
                << " differ from the row above: others are cheaper there\n";
  }

 private:
  std::string last_;
  std::vector<std::string> all_;
};

/// The note "3 more rows" below a shortened table.
inline constexpr std::size_t most_rows = 16;
inline void print_rest(std::size_t rows) {
  if (rows > most_rows) std::cout << "  ... and " << rows - most_rows << " more\n";
}

}  // namespace tool
