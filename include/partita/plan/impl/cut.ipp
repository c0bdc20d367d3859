// Defines the functions that plan/cut.hpp declares.
#pragma once

#include <partita/plan/cut.hpp>

namespace partita {

PARTITA_DEF cut cut::at(const std::vector<std::size_t>& sizes, cut reused_cut) {
  cut result(kind::explicit_sizes, 0, sizes.size(), 0);
  result.starts_ = static_cast<std::vector<std::size_t>&&>(reused_cut.starts_);
  result.starts_.reserve(sizes.size() + 1), result.starts_.assign(1, 0);
  for (const std::size_t size : sizes) {
    if (size > static_cast<std::size_t>(-1) - result.n_)
      throw shape_error(text("partita::cut::at(sizes): requires sizes that sum up to at most ")
                        << static_cast<std::size_t>(-1) << ", got " << result.n_ << " + " << size << " in part "
                        << result.starts_.size() - 1 << "; a negative size is none");
    result.starts_.push_back(result.n_ += size);
  }
  return result;
}

PARTITA_DEF cut cut::nested(std::size_t n, const std::vector<std::size_t>& parts) {
  std::vector<std::size_t> sizes{n};
  for (const std::size_t p : parts) {
    std::vector<std::size_t> finer;
    finer.reserve(sizes.size() * p);
    for (const std::size_t size : sizes)
      for (std::size_t k = 0; k < p; ++k) finer.push_back(balanced_part(size, p, k).size());
    sizes = static_cast<std::vector<std::size_t>&&>(finer);
  }
  return at(sizes);
}

PARTITA_DEF cut cut::block_cyclic(std::size_t n, std::size_t p, std::size_t block) {
  if (block == 0) throw shape_error("partita::cut::block_cyclic: requires a block of at least 1 index, got 0");
  std::size_t turn = 0;
  if (!multiply(p, block, turn) || turn > static_cast<std::size_t>(-1) - n)
    throw shape_error(text("partita::cut::block_cyclic(n, p, block): requires n + p * block of at most ")
                      << static_cast<std::size_t>(-1) << ", got " << n << " indices, " << p << " parts and blocks of "
                      << block << "; give a smaller block");
  return cut(kind::block_cyclic, n, p, block);
}

PARTITA_DEF interval cut::part(std::size_t k) const {
  detail::require_part(k, p_);
  if (kind_ == kind::block_cyclic)
    throw shape_error(
        "partita::cut::part(k): requires a cut that is balanced or explicit; a block-cyclic part is many ranges, use "
        "for_pieces(k, f)");
  return kind_ == kind::balanced ? balanced_part(n_, p_, k) : interval{starts_[k], starts_[k + 1]};
}

PARTITA_DEF std::size_t cut::owner(std::size_t i) const {
  require_index(i);
  if (kind_ == kind::block_cyclic) return i / width_ % p_;
  return kind_ == kind::balanced ? balanced_owner(n_, p_, i) : find_last_start(i);
}

PARTITA_DEF std::size_t cut::place(std::size_t i) const {
  require_index(i);
  if (kind_ == kind::block_cyclic) return i / (p_ * width_) * width_ + i % width_;
  return i - part(owner(i)).start;
}

PARTITA_DEF std::size_t cut::size(std::size_t k) const {
  detail::require_part(k, p_);
  if (kind_ == kind::balanced) return balanced_part(n_, p_, k).size();
  if (kind_ == kind::explicit_sizes) return starts_[k + 1] - starts_[k];
  const std::size_t turn = p_ * width_, rest = n_ % turn, before = k * width_;  // the last round may be short
  const std::size_t last = rest > before ? rest - before : 0;
  return n_ / turn * width_ + (last < width_ ? last : width_);
}

PARTITA_DEF std::size_t cut::count_overlaps(interval range) const {
  if (range.start >= range.stop) return 0;
  detail::require_range(range.start, range.stop, n_);
  const std::size_t last = range.stop - 1;
  if (kind_ == kind::block_cyclic) return last / width_ - range.start / width_ + 1;
  if (kind_ == kind::balanced) return balanced_owner(n_, p_, last) - balanced_owner(n_, p_, range.start) + 1;
  return find_last_start(last) - find_last_start(range.start) + 1;
}

PARTITA_DEF void cut::require_index(std::size_t i) const {
  if (i >= n_)
    throw shape_error(text("partita::cut: requires an index below the extent ") << n_ << ", got index " << i);
}

PARTITA_DEF std::size_t cut::find_last_start(std::size_t i) const {
  std::size_t low = 0, high = p_;  // invariant: starts_[low] <= i < starts_[high]
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (starts_[middle] <= i ? low : high) = middle;
  }
  return low;
}

}  // namespace partita
