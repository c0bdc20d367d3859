// Tensors whose plans were evicted from a kernel's cache: their adjoints cannot be carried out and give an error.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/hash.hpp>
#include <partita/core/text.hpp>
#include <vector>

namespace partita::detail {

/// The extents of tensors whose decomposition does not follow from their extents, and whose plans were evicted. All
/// workers of a repartition, or of a group of an all_gather, add the same tensors to this list, in the same order.
class evicted_plans {
 public:
  /// Notes that the plan of a tensor of these extents was evicted. If `has_default_cuts` is true, the decomposition of
  /// the tensor follows from its extents, and the extents are removed from the list.
  template <std::size_t Rank>
  void note_eviction(const std::array<std::size_t, Rank>& extents, bool has_default_cuts) {
    if (is_full_) return;
    const std::uint64_t hash = hash_of(extents);
    const auto place = std::lower_bound(extents_hashes_.begin(), extents_hashes_.end(), hash);
    const bool known = place != extents_hashes_.end() && *place == hash;
    if (has_default_cuts && known) extents_hashes_.erase(place);
    if (has_default_cuts || known) return;
    if (extents_hashes_.size() == max_tensors) is_full_ = true;
    else extents_hashes_.insert(place, hash);
  }
  /// Whether the plan of the last tensor of these extents may have been evicted with a decomposition that does not
  /// follow from the extents. True for all extents once the list is full.
  template <std::size_t Rank>
  bool contains(const std::array<std::size_t, Rank>& extents) const {
    return is_full_ || std::binary_search(extents_hashes_.begin(), extents_hashes_.end(), hash_of(extents));
  }
  /// The error message of an adjoint call whose plan the cache has evicted.
  static text error_message(const char* call) {
    return text(call)
           << ": requires the forward call that dy belongs to among the last 32 structures; the cut that its "
              "x had has been forgotten; call the kernel on x again before its adjoint";
  }

 private:
  static constexpr std::size_t max_tensors = 4096;  // chosen: 32 KB; with more tensors, contains() is always true

  template <std::size_t Rank>
  static std::uint64_t hash_of(const std::array<std::size_t, Rank>& extents) {  // the number stored for extents
    return hasher().mix(extents).value();
  }

  std::vector<std::uint64_t> extents_hashes_;  ///< the hashes of the tensors' extents, sorted
  bool is_full_ = false;                       ///< whether tensors were left out of the list
};

}  // namespace partita::detail
