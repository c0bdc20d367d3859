// Parses the command line: partitions, extents, shardings, and options with their values.
#pragma once

#include <charconv>
#include <cstddef>
#include <fstream>
#include <map>
#include <partita/core/short_list.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/grid.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

/// An invalid command line: only this message is printed, and the exit code is 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or written, or a request that is too large: the exit code is 2 as well.
struct request_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The parts of a text between separators; an empty text is one empty part.
inline std::vector<std::string> split(std::string_view all, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : all) {
    if (c == separator) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

inline std::size_t number(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size())
    throw usage_error("'" + std::string(digits) + "' is not a whole number");
  return value;
}

/// Parses extents such as 12x34x5.
inline partita::shape_list extents(std::string_view written) {
  partita::shape_list all;
  for (const std::string& one : split(written, 'x')) all.push_back(number(one));
  return all;
}

/// Whether a tensor has so many elements that its bytes on all workers could not be counted in 64 bits.
template <class Extents>
bool is_too_large(const Extents& extents, double most = 1e15) {
  double elements = 1;
  for (const std::size_t extent : extents) elements *= static_cast<double>(extent);
  return elements > most;
}
template <class Extents>
void require_countable(const Extents& extents) {
  if (is_too_large(extents)) throw request_error("tensors of up to 1e15 elements can be explained");
}

/// A partition on the command line: 1x3, or 1x3@4 if its first worker is 4.
struct place {
  partita::shape_list shape;
  std::size_t first = 0;

  explicit place(std::string_view written) {
    const std::vector<std::string> parts = split(written, '@');
    if (parts.size() > 2) throw usage_error("'" + std::string(written) + "' has more than one @");
    shape = extents(parts[0]);
    if (parts.size() == 2) first = number(parts[1]);
    if (shape.size() > 4) throw usage_error("partitions of up to 4 dimensions can be explained");
  }
  /// The same partition with every extent above 1 multiplied by `factor`.
  place times(std::size_t factor) const {
    place larger = *this;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1) larger.shape[d] *= factor;
    return larger;
  }
  template <std::size_t Rank>
  partita::grid<partita::dynamic_extents<Rank>> grid() const {
    const partita::dynamic_extents<Rank> all(array<Rank>());
    return {all, partita::workers(first, first + partita::required_workers(array<Rank>()))};
  }
  template <std::size_t Rank>
  std::array<std::size_t, Rank> array() const {
    std::array<std::size_t, Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = shape[d];
    return all;
  }
  std::size_t size() const {
    std::size_t places = 1;
    for (const std::size_t extent : shape) places *= extent;
    return places;
  }
};

/// Calls f with the rank as a compile-time constant.
template <class F>
auto with_rank(std::size_t rank, F f) {
  switch (rank) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 3:
      return f(std::integral_constant<std::size_t, 3>());
    default:
      return f(std::integral_constant<std::size_t, 4>());
  }
}

/// The arguments of one subject: its options with a value, its options without, and the rest.
class arguments {
 public:
  arguments(int argc, char** argv, std::vector<std::string_view> with_value, std::vector<std::string_view> flags) {
    for (int k = 2; k < argc; ++k) {
      const std::string_view one = argv[k];
      if (!one.starts_with("--")) {
        words_.emplace_back(one);
      } else if (contains(flags, one)) {
        options_[std::string(one)].emplace_back();
      } else if (contains(with_value, one)) {
        if (k + 1 == argc) throw usage_error("'" + std::string(one) + "' takes a value");
        options_[std::string(one)].emplace_back(argv[++k]);
      } else {
        throw usage_error("'" + std::string(one) + "' is no option of " + argv[1]);
      }
    }
  }

  const std::vector<std::string>& words() const { return words_; }
  void require_words(std::size_t n, const char* what) const {
    if (words_.size() != n) throw usage_error(what);
  }
  bool has(const char* option) const { return options_.contains(option); }
  /// The value of an option; the last one if it was given several times.
  std::string value(const char* option, const char* otherwise) const {
    return has(option) ? options_.at(option).back() : otherwise;
  }
  std::vector<std::string> values(const char* option) const {
    return has(option) ? options_.at(option) : std::vector<std::string>();
  }
  std::size_t count(const char* option, std::size_t otherwise) const {
    return has(option) ? number(options_.at(option).back()) : otherwise;
  }
  /// Writes the picture to the file that --svg names.
  template <class Text>
  void save(const Text& svg) const {
    if (!has("--svg")) return;
    const std::string name = value("--svg", "");
    std::ofstream file(name);
    if (!(file << svg << "\n").flush()) throw request_error("cannot write '" + name + "'");
  }

 private:
  static bool contains(const std::vector<std::string_view>& all, std::string_view one) {
    for (const std::string_view other : all)
      if (one == other) return true;
    return false;
  }
  std::vector<std::string> words_;
  std::map<std::string, std::vector<std::string>> options_;
};

}  // namespace tool
