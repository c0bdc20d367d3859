// The map from the dimensions of an operand to the dimensions of the result, for shapes, indices and partitions alike.
#pragma once

#include <cstddef>
#include <partita/core/short_list.hpp>

namespace partita {

/// A one-to-one map from an operand's dimensions to dimensions of the result; other result dimensions are unmapped.
///
/// The same map serves for the shape of an array, the extents of its partition, and the position of a worker. The
/// adjoint of a broadcast sums over the unmapped dimensions, and over those where an extent of 1 is expanded.
class dimension_map {
 public:
  /// The value of `source(d)` for a result dimension to which no operand dimension is mapped.
  static constexpr std::size_t unmapped = static_cast<std::size_t>(-1);

  constexpr dimension_map() = default;  ///< between shapes of rank 0
  /// Maps operand dimension j to result dimension `targets[j]`. Requires distinct targets below `result_rank`.
  constexpr dimension_map(const short_list<std::size_t>& targets, std::size_t result_rank)
      : targets_(targets), sources_(short_list<std::size_t>::filled(result_rank, unmapped)) {
    for (std::size_t j = 0; j < targets.size(); ++j) sources_[targets[j]] = j;
  }
  /// Maps each dimension of an operand that has the rank of the result to itself.
  static constexpr dimension_map identity(std::size_t rank) {
    short_list<std::size_t> targets;
    for (std::size_t d = 0; d < rank; ++d) targets.push_back(d);
    return {targets, rank};
  }

  constexpr std::size_t operand_rank() const { return targets_.size(); }
  constexpr std::size_t result_rank() const { return sources_.size(); }
  /// The result dimension to which operand dimension j is mapped.
  constexpr std::size_t target(std::size_t j) const { return targets_[j]; }
  /// The operand dimension that is mapped to result dimension d, or `unmapped`.
  constexpr std::size_t source(std::size_t d) const { return sources_[d]; }
  /// The result dimensions to which the operand dimensions are mapped, in the order of the operand.
  constexpr const short_list<std::size_t>& targets() const { return targets_; }

  /// Whether the operand's dimensions have the same order in the result.
  constexpr bool is_increasing() const {
    for (std::size_t j = 1; j < targets_.size(); ++j)
      if (targets_[j] <= targets_[j - 1]) return false;
    return true;
  }
  /// Whether the operand's dimensions are mapped to the last dimensions of the result, as NumPy promotes ranks.
  constexpr bool is_trailing() const {
    for (std::size_t j = 0; j < operand_rank(); ++j)
      if (targets_[j] != result_rank() - operand_rank() + j) return false;
    return true;
  }

  /// Converts one value per operand dimension to one value per result dimension; unmapped dimensions get `fill`.
  template <class T>
  constexpr short_list<T> lift(const short_list<T>& operand, const T& fill = T{1}) const {
    auto lifted = short_list<T>::filled(result_rank(), fill);
    for (std::size_t j = 0; j < operand_rank(); ++j) lifted[targets_[j]] = operand[j];
    return lifted;
  }
  /// Converts one value per result dimension to one value per operand dimension.
  template <class T>
  constexpr short_list<T> restrict_to_operand(const short_list<T>& result) const {
    short_list<T> operand_values;
    for (std::size_t j = 0; j < operand_rank(); ++j) operand_values.push_back(result[targets_[j]]);
    return operand_values;
  }

  /// Whether the operand has the extent of the result along result dimension d: d is mapped, and is not an expanded 1.
  template <class Extent>
  constexpr bool equals_result(std::size_t d, const short_list<Extent>& operand,
                               const short_list<Extent>& result) const {
    return sources_[d] != unmapped && (!(operand[sources_[d]] == Extent{1}) || result[d] == Extent{1});
  }

  friend constexpr bool operator==(const dimension_map&, const dimension_map&) = default;

 private:
  short_list<std::size_t> targets_;  ///< for each operand dimension, its result dimension
  short_list<std::size_t> sources_;  ///< for each result dimension, its operand dimension or `unmapped`
};

}  // namespace partita
