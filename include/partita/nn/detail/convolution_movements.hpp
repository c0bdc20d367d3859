// How x comes to the workers of a convolution and their products become y.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/kernel/window_movement.hpp>
#include <partita/nn/detail/convolution_jobs.hpp>
#include <vector>

namespace partita::detail {

/// The windows of x that jobs need, or those of y that they make.
template <std::size_t Features, bool OfX>
class convolution_planner {
 public:
  static constexpr std::size_t rank = Features + 2;

  convolution_planner(const partition<dynamic_extents<rank>>& p, const convolution_jobs<Features>& jobs)
      : p_(p), jobs_(jobs), fingerprint_(mixed(mixed(p.grid().fingerprint(), jobs.places().fingerprint()), 131)) {
    const convolution_options<Features>& o = jobs.options();
    hasher hash(fingerprint_);
    fingerprint_ = hash.mix(OfX).mix(o).value();
  }

  const char* name() const { return "partita::convolution"; }
  const partition<dynamic_extents<rank>>& p() const { return p_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  halo_boundaries<rank> beyond() const {
    return OfX ? padding_of(jobs_.options()) : halo_boundaries<rank>(boundary::none);
  }
  text objection(const std::array<std::size_t, rank>& extents) const {
    if (OfX) return convolution_objection(jobs_.options(), extents);
    if (extents[1] == jobs_.options().out_channels) return {};
    return text("requires ") << jobs_.options().out_channels << " channels, got extents " << extents;
  }
  halo_plan<rank> plan(const decomposition<rank>& cuts, std::size_t worker) const {
    return OfX ? plan_convolution_input(jobs_, p_.grid(), cuts, worker)
               : plan_convolution_output(jobs_, p_.grid(), cuts, worker);
  }

 private:
  partition<dynamic_extents<rank>> p_;
  convolution_jobs<Features> jobs_;
  std::uint64_t fingerprint_;
};

/// Tensors that a movement was prepared for, the last ones: all workers know the same.
template <std::size_t Rank>
class prepared_tensors {
 public:
  /// Whether it is a new one; it is known from then on.
  bool is_new(const std::array<std::size_t, Rank>& extents) {
    const auto known = std::find(all_.begin(), all_.end(), extents);
    const bool fresh = known == all_.end();
    if (!fresh) all_.erase(known);
    if (all_.size() == most) all_.erase(all_.begin());
    all_.push_back(extents);
    return fresh;
  }
  void forget(const std::array<std::size_t, Rank>& extents) { std::erase(all_, extents); }

 private:
  static constexpr std::size_t most = 16;  // less than a movement keeps, so that it knows them all
  std::vector<std::array<std::size_t, Rank>> all_;
};

}  // namespace partita::detail
