// The exchanges of a convolution: windows of x are sent to the workers that compute, and products to the owners of y.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/kernel/window_movement.hpp>
#include <partita/nn/detail/convolution_split.hpp>
#include <vector>

namespace partita::detail {

/// Plans the exchange of the windows of x that the workers need (OfX), or of the parts of y that they compute.
template <std::size_t Features, bool OfX>
class convolution_planner {
 public:
  static constexpr std::size_t rank = Features + 2;  ///< the number of dimensions of x and y

  convolution_planner(const partition<dynamic_extents<rank>>& p, const convolution_split<Features>& split)
      : p_(p),
        split_(split),
        fingerprint_(mixed(mixed(p.grid().fingerprint(), split.worker_grid().fingerprint()), 131)) {
    const convolution_options<Features>& o = split.options();
    hasher hash(fingerprint_);
    fingerprint_ = hash.mix(OfX).mix(o).value();
  }

  const char* name() const { return "partita::convolution"; }  ///< the call in error messages
  const partition<dynamic_extents<rank>>& p() const { return p_; }
  std::uint64_t fingerprint() const { return fingerprint_; }  ///< equal only if workers plan the same exchanges
  /// The values beyond the ends of x, as the padding mode says; none for y.
  halo_boundaries<rank> boundaries() const {
    return OfX ? padding_of(split_.options()) : halo_boundaries<rank>(boundary::none);
  }
  /// The error message if a tensor of these extents does not fit the convolution as its x (OfX) or y; empty if it fits.
  text error_message(const std::array<std::size_t, rank>& extents) const {
    if (OfX) return convolution_error(split_.options(), extents);
    if (extents[1] == split_.options().out_channels) return {};
    return text("requires ") << split_.options().out_channels << " channels, got extents " << extents;
  }
  /// The part of a worker in the exchange, for a tensor whose blocks are split by `cuts`.
  halo_plan<rank> plan(const decomposition<rank>& cuts, std::size_t worker) const {
    return OfX ? plan_convolution_input(split_, p_.grid(), cuts, worker)
               : plan_convolution_output(split_, p_.grid(), cuts, worker);
  }

 private:
  partition<dynamic_extents<rank>> p_;  ///< the partition of x (OfX) or y
  convolution_split<Features> split_;   ///< what each worker computes
  std::uint64_t fingerprint_;           ///< equal on two workers only if they plan the same exchanges
};

/// The extents of the last tensors for which an exchange was prepared. The list is equal on all workers.
template <std::size_t Rank>
class prepared_extents {
 public:
  /// Returns whether the list lacked these extents, and moves or adds them to the end of the list.
  bool add_new_extents(const std::array<std::size_t, Rank>& extents) {
    const auto found = std::find(seen_extents_.begin(), seen_extents_.end(), extents);
    const bool is_new_tensor = found == seen_extents_.end();
    if (!is_new_tensor) seen_extents_.erase(found);
    if (seen_extents_.size() == max_listed_tensors) seen_extents_.erase(seen_extents_.begin());
    seen_extents_.push_back(extents);
    return is_new_tensor;
  }

 private:
  // chosen: a movement caches more plans, so those of listed extents are still cached
  static constexpr std::size_t max_listed_tensors = 16;
  std::vector<std::array<std::size_t, Rank>> seen_extents_;  ///< the most recently used at the end
};

#ifdef PARTITA_CORE
// With PARTITA_CORE, the exchanges of convolutions over two feature dimensions are compiled once, in the core.
#define PARTITA_CONVOLUTION_MOVEMENTS(EXTERN)                                                     \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, window_exchange_planner<convolution_planner<2, true>>) \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, window_exchange_planner<convolution_planner<2, false>>)
PARTITA_CONVOLUTION_MOVEMENTS(extern)
#endif

}  // namespace partita::detail
