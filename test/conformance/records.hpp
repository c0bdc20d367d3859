// What readers of recorded cases share: what went wrong, numbers that types must know, and the partitions of a record.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/partition.hpp>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver.hpp"

namespace conformance {

/// Thrown by a record that is not run: why, as the documentation names it.
struct departure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string joined(const Parts&... parts) {
  std::string all;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_convertible_v<decltype(part), std::string>) all += part;
    else all += std::to_string(part);
  };
  (add(parts), ...);
  return all;
}

/// What is wrong with this worker's results. Kept until the record ends, so that all workers make the same calls.
class mismatches {
 public:
  template <class... Parts>
  void expect(bool right, const Parts&... parts) {
    if (!right && first_.empty()) first_ = joined(parts...);
  }
  void raise() const {
    if (!first_.empty()) throw std::runtime_error(first_);
  }

 private:
  std::string first_;
};

/// Calls f with a number of the range as a constant.
template <std::size_t Low, std::size_t High, class F>
void with_constant(std::size_t n, const char* what, F f) {
  bool known = false;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((n == Low + K ? (known = true, f(std::integral_constant<std::size_t, Low + K>{})) : void()), ...);
  }(std::make_index_sequence<High - Low + 1>{});
  if (!known) throw std::runtime_error(joined(what, " is ", n, ", beyond what this reader is compiled for"));
}

inline std::vector<std::size_t> numbers(const nlohmann::json& list) { return list.get<std::vector<std::size_t>>(); }
inline std::size_t rank_of_partition(const nlohmann::json& c, const char* p) { return c.at(p).at("shape").size(); }

template <std::size_t Rank>
partita::dynamic_extents<Rank> extents_of_json(const nlohmann::json& p) {
  std::array<std::size_t, Rank> shape{};
  const auto given = numbers(p.at("shape"));
  for (std::size_t d = 0; d < Rank; ++d) shape[d] = given[d];
  return std::apply([](auto... e) { return partita::dynamic_extents<Rank>(e...); }, shape);
}
template <std::size_t Rank>
partita::grid<partita::dynamic_extents<Rank>> grid_of_json(const nlohmann::json& p) {
  return {extents_of_json<Rank>(p), partita::workers(numbers(p.at("ranks")))};
}
template <std::size_t Rank>
partita::partition<partita::dynamic_extents<Rank>> partition_of_json(const partita::world& everyone,
                                                                     const nlohmann::json& p) {
  return everyone.partition(extents_of_json<Rank>(p), partita::workers(numbers(p.at("ranks"))));
}

}  // namespace conformance
