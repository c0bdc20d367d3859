// A list of global indices: a range, or any indices in any order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/cut.hpp>
#include <ranges>
#include <utility>
#include <vector>

namespace partita {

/// An ordered list of global indices, given as `interval{100, 200}`, `{7, 3, 7}`, or a container of integers.
class index_list {
 public:
  index_list() = default;                                                ///< an empty list
  index_list(const interval& range) : range_(range), is_range_(true) {}  // NOLINT: a range is a list of indices
  index_list(std::initializer_list<std::size_t> indices) : indices_(indices) {}
  index_list(std::vector<std::size_t> indices) : indices_(std::move(indices)) {}  // NOLINT
  template <std::ranges::input_range Indices>
    requires(std::integral<std::ranges::range_value_t<Indices>> && !std::same_as<Indices, index_list> &&
             !std::same_as<Indices, std::vector<std::size_t>>)
  index_list(const Indices& indices) {  // NOLINT
    for (const auto index : indices) indices_.push_back(static_cast<std::size_t>(index));
  }
  template <std::ranges::input_range Other>
    requires(!std::integral<std::ranges::range_value_t<Other>>)
  index_list(const Other&) {  // NOLINT
    static_assert(detail::dependent_false<Other>,
                  "partita: a list of indices, of receivers or of choices requires integers; xt::cast<std::size_t>(x) "
                  "makes them");
  }

  std::size_t size() const { return is_range_ ? range_.size() : indices_.size(); }  ///< the number of indices
  std::size_t operator[](std::size_t k) const { return is_range_ ? range_.start + k : indices_[k]; }
  bool is_range() const { return is_range_; }  ///< whether the list was given as an interval
  /// Whether the list was given as a range that stops before it starts.
  bool is_reversed() const { return is_range_ && range_.stop < range_.start; }

 private:
  interval range_;                    ///< the list, if is_range_ is true
  bool is_range_ = false;             ///< whether the list was given as an interval
  std::vector<std::size_t> indices_;  ///< the list, if is_range_ is false
};

namespace detail {

/// An index for an error message: a negative index, which is stored as a large number, is converted back.
constexpr std::int64_t to_signed_index(std::size_t index) { return static_cast<std::int64_t>(index); }

}  // namespace detail
}  // namespace partita
