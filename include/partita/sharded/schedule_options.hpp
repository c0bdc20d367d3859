// How a bound program orders its steps.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <partita/plan/step_cost.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// Yes, no, or as the library finds best. A `bool` converts to it, a number does not.
class choice {
 public:
  constexpr choice() = default;
  template <std::same_as<bool> B>
  constexpr choice(B given) : is_given_(true), given_(given) {}  // NOLINT: {.overlap = true} is how it is written

  constexpr bool value_or(bool otherwise) const { return is_given_ ? given_ : otherwise; }

 private:
  bool is_given_ = false, given_ = false;
};

/// The numbers of the arguments whose gradients are wanted: `{0, 2}`, or a vector of them. A `bool` is no number here,
/// so that {.overlap = true} cannot be taken for one.
class argument_numbers {
 public:
  class number {
   public:
    template <std::integral N>
      requires(!std::is_same_v<N, bool>)
    constexpr number(N given) : value(static_cast<std::size_t>(given)) {}  // NOLINT: a number is one
    std::size_t value;
  };

  argument_numbers() = default;
  argument_numbers(std::initializer_list<number> given) {
    for (const number one : given) all_.push_back(one.value);
  }
  /// Not from braces: {.model = {…}} is no list of numbers.
  template <std::same_as<std::vector<std::size_t>> Numbers>
  argument_numbers(const Numbers& given) : all_(given) {}  // NOLINT: they are those numbers

  const std::vector<std::size_t>& all() const { return all_; }

 private:
  std::vector<std::size_t> all_;
};

/// `program.bind<double>(everyone, {1, 2}, {.overlap = true, .memory = 1u << 30})`.
struct schedule_options {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  /// Whether a movement is pending while steps that do not need it are computed. If nothing is said: where some
  /// movement may reach another node. Results are the same bits in both cases.
  choice overlap{};
  /// At most so many bytes of storage for intermediate values on any worker. Steps are done less far ahead if that
  /// keeps to the limit [error, on all workers, with the least that is possible].
  std::size_t memory = unlimited;
  /// The most movements that are pending at one time.
  std::size_t pending = 4;
  /// Whether operations that read windows of each other's results, such as convolutions and pooling, compute more than
  /// their blocks, so that only the first of them moves anything: where the estimate says that this takes less time. If
  /// nothing is said: nowhere, because products by BLAS may round elements of a larger block differently.
  choice wider_windows{};
  /// By which the time of each step is estimated. Movements between nodes are estimated by the measured link.
  step_model model{};
};

}  // namespace partita
