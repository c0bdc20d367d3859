// The command line of all benchmarks, and the rows of results that they print: JSON with --json, else text.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double median(std::vector<double> samples) {
  if (samples.empty()) throw std::runtime_error("a median is asked of no samples");
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}
inline double least(const std::vector<double>& samples) {
  if (samples.empty()) throw std::runtime_error("a minimum is asked of no samples");
  return *std::min_element(samples.begin(), samples.end());
}

/// The argument of an option: none, one number of at least 1, two such numbers, a comma-separated list, a decimal
/// number, or any word.
enum class argument { none, count, pair, list, decimal, word };

/// An option of a benchmark: --name VALUE.
struct option {
  const char* name;
  argument takes;
  const char* help;
  std::string usual{};  ///< the default value of the option; empty: no default value
  std::string quick{};  ///< the default value with --quick; empty: the same as `usual`
};

/// The numbers of workers that a benchmark supports. Benchmarks without MPI have {1, 1}.
struct worker_range {
  std::size_t least = 1, most = ~std::size_t{0};

  std::string words() const {
    if (least == most) return std::to_string(least);
    return std::to_string(least) + " or more";
  }
};

/// An invalid command line: the message is printed once, and the exit status is 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The parsed command line: --help, --json, --quick and the options of the benchmark. Any other argument is an error.
class command_line {
 public:
  command_line(const char* name, const char* description, worker_range range, std::initializer_list<option> options)
      : name_(name), description_(description), range_(range), options_(options) {}

  /// Parses the arguments. Returns an exit status if the program should end: 0 after --help, 2 for an invalid line or
  /// an unsupported number of workers. Only a worker with `prints` writes.
  std::optional<int> read(int argc, char** argv, std::size_t workers = 1, bool prints = true) {
    try {
      for (int k = 1; k < argc; ++k) {
        const std::string_view one = argv[k];
        if (one == "--help") return prints ? std::fputs(help().c_str(), stdout) : 0, 0;
        if (one == "--json") json_ = true;
        else if (one == "--quick") quick_ = true;
        else read_option(one, argc, argv, k);
      }
      if (workers < range_.least || workers > range_.most)
        throw usage_error("requires workers: " + range_.words() + "; there are " + std::to_string(workers));
      return std::nullopt;
    } catch (const usage_error& e) {
      return prints ? print_error(e) : 2;
    }
  }
  int print_error(const usage_error& e) const {
    std::fprintf(stderr, "%s: %s; %s --help lists the options\n", name_, e.what(), name_);
    return 2;
  }

  const char* name() const { return name_; }
  bool json() const { return json_; }
  bool quick() const { return quick_; }
  /// Whether the option was given or has a default value.
  bool has(std::string_view option) const { return !value_of(option).empty(); }
  std::string word(std::string_view option) const { return value_of(option); }
  std::size_t count(std::string_view option) const { return counts(option).at(0); }
  int rounds(std::string_view option = "rounds") const { return static_cast<int>(count(option)); }
  double decimal(std::string_view option) const { return std::stod(value_of(option)); }
  std::vector<std::size_t> counts(std::string_view option) const {
    std::vector<std::size_t> all;
    std::string digits;
    for (const char c : value_of(option) + ",")
      if (c != ',') digits += c;
      else if (!digits.empty()) all.push_back(number(option, std::exchange(digits, "")));
    return all;
  }

  std::string help() const {
    std::string all =
        std::string("usage: ") + name_ + " [option]...\n" + description_ + "\nworkers: " + range_.words() + "\n\n";
    const auto line = [&](std::string left, const std::string& right) {
      left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
      all += "  " + left + right + "\n";
    };
    for (const option& o : options_) {
      constexpr const char* values[] = {"", " N", " N N", " N,N,...", " X", " WORD"};
      std::string right = o.help;
      if (!o.usual.empty()) right += " (" + o.usual + (o.quick.empty() ? "" : ", with --quick " + o.quick) + ")";
      line(std::string("--") + o.name + values[static_cast<std::size_t>(o.takes)], right);
    }
    line("--json", "print a line of JSON for each row");
    line("--quick", "use small sizes and few rounds, to see that it works");
    line("--help", "print this");
    return all;
  }

 private:
  const option* find(std::string_view name) const {
    for (const option& o : options_)
      if (name == o.name) return &o;
    return nullptr;
  }
  std::string value_of(std::string_view name) const {
    const option* const o = find(name);
    if (o == nullptr)
      throw std::logic_error("a benchmark asks for the option " + std::string(name) + ", which it lacks");
    if (const auto given = given_.find(o->name); given != given_.end()) return given->second;
    return quick_ && !o->quick.empty() ? o->quick : o->usual;
  }
  static std::size_t number(std::string_view option, const std::string& digits) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value == 0)
      throw usage_error("--" + std::string(option) + " takes numbers of at least 1, got '" + digits + "'");
    return value;
  }
  void read_option(std::string_view given, int argc, char** argv, int& k) {
    const option* const o = given.starts_with("--") ? find(given.substr(2)) : nullptr;
    if (o == nullptr) throw usage_error("the argument '" + std::string(given) + "' is unknown");
    std::string value = o->takes == argument::none ? "yes" : "";
    for (int n = o->takes == argument::none ? 0 : o->takes == argument::pair ? 2 : 1; n > 0; --n) {
      if (++k == argc) throw usage_error("'" + std::string(given) + "' takes a value");
      value += (value.empty() ? "" : ",") + std::string(argv[k]);
    }
    if (value.empty()) throw usage_error("'" + std::string(given) + "' takes a value that is not empty");
    given_[o->name] = value;
    if (o->takes == argument::count || o->takes == argument::pair || o->takes == argument::list) {
      const std::size_t numbers = counts(o->name).size();
      if (numbers == 0 || (o->takes == argument::count && numbers != 1) || (o->takes == argument::pair && numbers != 2))
        throw usage_error("'" + std::string(given) + "' does not take '" + value + "'");
    }
    if (o->takes == argument::decimal) {
      char* end = nullptr;
      const double x = std::strtod(value.c_str(), &end);
      if (*end != '\0' || !(x > 0) || !std::isfinite(x))
        throw usage_error("'" + std::string(given) + "' takes a number above 0, got '" + value + "'");
    }
  }

  const char* name_;
  const char* description_;
  worker_range range_;
  std::vector<option> options_;
  std::map<std::string, std::string> given_{};
  bool json_ = false, quick_ = false;
};

/// One row of results, whose fields are in the order in which they are printed.
using row = nlohmann::ordered_json;

/// The rows of a benchmark. A row without samples or with a non-finite number is an error and is not printed.
class rows {
 public:
  rows(const command_line& line, std::size_t workers = 1, bool prints = true)
      : bench_(line.name()), json_(line.json()), workers_(workers), prints_(prints) {}

  /// Adds a row that was measured `samples` times.
  void add(const std::string& name, row fields, std::size_t samples) {
    if (samples == 0) throw std::runtime_error("the case '" + name + "' has no samples");
    fields["samples"] = samples;
    print(name, std::move(fields));
  }
  /// Adds a row that was computed by a model or from other rows.
  void add_derived(const std::string& name, row fields) { print(name, std::move(fields)); }
  /// Adds one variant of a case: its median and minimum seconds, and further fields.
  void add_peer(const std::string& name, const std::string& peer, const std::vector<double>& samples,
                const row& more = row::object()) {
    row fields{{"peer", peer}, {"seconds_median", median(samples)}, {"seconds_min", least(samples)}};
    fields.update(more);
    add(name, std::move(fields), samples.size());
  }
  /// A remark for the reader, printed only in text output.
  void note(const std::string& words) const {
    if (prints_ && !json_) std::printf("%s\n", words.c_str());
  }
  /// The exit status of the benchmark: 1 if a result is wrong or no row was measured.
  int status(bool right = true) const {
    if (prints_ && count_ == 0) std::fprintf(stderr, "%s: nothing was measured\n", bench_.c_str());
    if (prints_ && !right) std::fprintf(stderr, "%s: a result is wrong\n", bench_.c_str());
    return right && count_ > 0 ? 0 : 1;
  }

 private:
  void print(const std::string& name, row fields) {
    row all{{"bench", bench_}, {"case", name}, {"workers", workers_}};
    for (auto& [key, value] : fields.items()) {
      if (value.is_number_float()) {
        if (!std::isfinite(value.get<double>()))
          throw std::runtime_error("the case '" + name + "' has no finite " + key);
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.7g", value.get<double>());
        value = std::stod(digits);
      }
      all[key] = value;
    }
    ++count_;
    if (!prints_) return;
    std::printf("%s\n", json_ ? all.dump().c_str() : text(all).c_str());
    std::fflush(stdout);
  }
  static std::string text(const row& all) {
    std::string line;
    for (const auto& [key, value] : all.items()) {
      if (key == "bench") continue;
      std::string words = value.is_string() ? value.get<std::string>() : value.dump();
      const bool is_time = value.is_number_float() && key.starts_with("seconds");
      char digits[40];
      if (is_time) std::snprintf(digits, sizeof digits, "%.2f us", value.get<double>() * 1e6);
      else if (value.is_number_float()) std::snprintf(digits, sizeof digits, "%.4g", value.get<double>());
      if (value.is_number_float()) words = digits;
      const std::string label = is_time ? (key == "seconds" ? "" : key.substr(8) + " ") : key + " ";
      line += (line.empty() ? "" : ", ") + (key == "case" || key == "peer" ? "" : label) + words;
    }
    return line;
  }

  std::string bench_;
  bool json_;
  std::size_t workers_;
  bool prints_;
  std::size_t count_ = 0;
};

/// A folder for this run only, which is removed when the run ends, also by an exception.
struct temporary_folder {
  std::filesystem::path path;

  temporary_folder(const std::filesystem::path& parent, const std::string& name) {
    std::string made = parent / (name + ".XXXXXX");
    if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error("cannot make a folder in " + parent.string());
    path = made;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Runs a benchmark of one process: body(line, rows) returns whether all results are right.
template <class Body>
int run_alone(int argc, char** argv, command_line line, Body body) {
  if (const auto status = line.read(argc, argv)) return *status;
  try {
    rows out(line);
    const bool right = body(std::as_const(line), out);
    return out.status(right);
  } catch (const usage_error& e) {
    return line.print_error(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", line.name(), e.what());
    return 1;
  }
}

}  // namespace bench
