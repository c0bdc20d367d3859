// The options by which a bound program orders its steps.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <partita/plan/step_cost.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// An option that is true, false, or not set; if it is not set, the library decides. A `bool` converts to an
/// optional_bool, but numbers do not.
class optional_bool {
 public:
  constexpr optional_bool() = default;  ///< not set
  template <std::same_as<bool> B>
  constexpr optional_bool(B given)
      : is_choice_given_(true), chosen_value_(given) {}  // NOLINT: users write {.overlap = true}

  constexpr bool value_or(bool fallback) const { return is_choice_given_ ? chosen_value_ : fallback; }  ///< the choice

 private:
  bool is_choice_given_ = false, chosen_value_ = false;  ///< the latter counts only if the former is true
};

/// The numbers of the arguments whose gradients are wanted, as `{0, 2}` or a vector. A `bool` does not convert to a
/// number, so that {.overlap = true} cannot be taken for a list of numbers.
class argument_numbers {
 public:
  class number {  ///< the number of an argument
   public:
    template <std::integral N>
      requires(!std::is_same_v<N, bool>)
    constexpr number(N given) : value(static_cast<std::size_t>(given)) {}  // NOLINT: numbers are written without a type
    std::size_t value;                                                     ///< counted from 0
  };

  argument_numbers() = default;  ///< no arguments
  argument_numbers(std::initializer_list<number> given) {
    for (const number one : given) all_.push_back(one.value);
  }
  /// The constructor does not accept braces, so that {.model = {…}} is not taken for a list of numbers.
  template <std::same_as<std::vector<std::size_t>> Numbers>
  argument_numbers(const Numbers& given) : all_(given) {}  // NOLINT: a vector is passed as it is

  const std::vector<std::size_t>& all() const { return all_; }  ///< in the order in which they were given

 private:
  std::vector<std::size_t> all_;  ///< in the order in which they were given
};

/// The options of bind, as in `program.bind<double>(everyone, {.overlap = true, .memory = 1u << 30})`.
struct schedule_options {
  static constexpr std::size_t unlimited = ~std::size_t{0};  ///< the value of `memory` for no limit

  /// Whether movements overlap with the computation of steps that do not need them. By default movements overlap if
  /// some movement may go to another node. With and without overlap, results have the same bits.
  optional_bool overlap{};
  /// The most bytes of storage for intermediate values that any worker may use. To keep this limit, fewer steps are
  /// executed earlier than in the program's order; if every order that is tried needs more, all workers throw an error
  /// that states the least bytes that such an order needs.
  std::size_t memory = unlimited;
  /// The largest number of movements that are pending at the same time.
  std::size_t pending = 4;
  /// Whether operations that read windows of the results of preceding operations, such as convolutions and pooling,
  /// compute wider boxes than their blocks where this takes less estimated time, so that only the first of several such
  /// operations communicates. By default operations compute their blocks only, because products by BLAS may round
  /// elements of a larger block differently.
  optional_bool wider_windows{};
  /// The model by which the time of each step is estimated. Movements between nodes are estimated by the measured link.
  step_model model{};
};

}  // namespace partita
