// What a kernel learnt about the blocks of all workers, found again by the shape of this worker's own block.
//
// All workers add structures in the same order, so a structure has the same number everywhere. At a call each worker says
// which structures its block fits; one that fits everywhere needs no further message, however shapes alternate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/array/strided.hpp>
#include <partita/comm/world.hpp>
#include <partita/core/index.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The shapes by which a worker finds a structure again: those of its block and of the view it wants filled.
struct structure_key {
  static constexpr std::size_t most = 18;
  std::array<std::size_t, most> values{};
  std::size_t count = 0;

  template <std::size_t Rank>
  structure_key& operator<<(const std::array<std::size_t, Rank>& shape) {
    static_assert(Rank <= 8, "partita: requires blocks of rank 0 to 8; reshape the block to fewer dimensions");
    values[count++] = Rank;
    for (std::size_t n : shape) values[count++] = n;
    return *this;
  }
  friend bool operator==(const structure_key&, const structure_key&) = default;
};

template <class Structure>
class structure_cache {
 public:
  static constexpr std::size_t most = 32;

  /// The set (a bit for each) of structures for which fits(structure, key) holds.
  template <class Fits>
  std::uint64_t matching(Fits fits) const {
    std::uint64_t set = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (fits(entries_[k])) set |= std::uint64_t{1} << k;
    return set;
  }
  /// The structure of a set that was used last. Requires a set that is not empty.
  Structure& last_used(std::uint64_t set) {
    std::size_t best = most;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if ((set >> k & 1U) != 0 && (best == most || used_[k] > used_[best])) best = k;
    used_[best] = ++clock_;
    return entries_[best];
  }
  /// Adds a structure; the one used longest ago makes room.
  Structure& add(Structure structure) {
    ++made_;
    std::size_t k = entries_.size();
    if (k < most) {
      entries_.push_back(std::move(structure));
      used_.push_back(0);
    } else {
      k = 0;
      for (std::size_t other = 1; other < most; ++other)
        if (used_[other] < used_[k]) k = other;
      entries_[k] = std::move(structure);
    }
    used_[k] = ++clock_;
    return entries_[k];
  }
  /// How many structures were worked out so far.
  std::size_t made() const { return made_; }

 private:
  std::vector<Structure> entries_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
  std::size_t made_ = 0;
};

/// What a worker has to complain about, if anything.
struct complaint {
  failure kind = failure::none;
  text sentence;

  complaint() = default;
  /// A sentence that is not empty is a shape_error.
  explicit complaint(const text& objection) : kind(objection.empty() ? failure::none : failure::shape), sentence(objection) {}
};

/// All workers agree on the call and find a structure that fits on all of them, or work one out together: `learn(complaint&)`
/// returns it and may complain; then all workers throw the same error and nothing has moved. So they do if one complains `before`.
template <class Structure, class Fits, class Learn, class Describe>
Structure& settle(world_state& world, structure_cache<Structure>& cache, std::uint64_t fingerprint, Fits fits, Learn learn,
                  Describe describe, const complaint& before = {}) {
  std::uint64_t set = cache.matching(fits);
  if (world.level() == checks::agree)
    set = world.agree(fingerprint, set, before.kind,
                      [&] { return before.kind == failure::none ? describe() : before.sentence; });
  else if (before.kind != failure::none)
    raise(before.kind, before.sentence);
  if (set != 0) return cache.last_used(set);
  complaint trouble;
  Structure structure = learn(trouble);
  if (world.level() == checks::agree)
    world.agree(fingerprint, 0, trouble.kind, [&] { return trouble.sentence; });
  else if (trouble.kind != failure::none)
    raise(trouble.kind, trouble.sentence);
  return cache.add(std::move(structure));
}

/// A number for a type, the same on all workers of one program.
template <class T>
constexpr std::uint64_t type_number() {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const char* c = __PRETTY_FUNCTION__; *c != '\0'; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ULL;
  return hash;
}

constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6U) + (a >> 2U))) * 1099511628211ULL;
}

/// A writable block that a kernel fills: the caller's, or none (then the kernel makes a tensor).
template <class T, std::size_t Rank>
struct target {
  bool given = false;
  strided<T, Rank> block{};
};

/// The target that a caller's array or view stands for.
template <class T, std::size_t Rank, class View>
target<T, Rank> target_of(View& view) {
  static_assert(strided_array<View> && rank_of<View> == Rank && std::is_same_v<element_of<View>, T>,
                "partita: kernel.into(x, view): requires a view with memory (an xt::xtensor, or an xt::view of ranges of one) of the rank and element type of x");
  return {true, block_of(view)};
}

/// Complains if a caller's target has not the shape of the result.
template <class T, std::size_t Rank>
void expect_shape(const target<T, Rank>& given, const std::array<std::size_t, Rank>& shape, const char* call, complaint& trouble) {
  if (!given.given || given.block.shape == shape || volume_of(shape) == 0) return;
  trouble.kind = failure::shape;
  trouble.sentence << call << ".into(x, view): requires a view of the shape of the result " << shape << ", got "
                   << given.block.shape << "; take a view of that shape";
}

}  // namespace partita::detail
