// A collective call in groups on one worker: its blocks, and its identity as a number and as text for error messages.
// Compiled once, for all element types and ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/kernel/detail/collective_transfer.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/kernel/detail/untyped_block.hpp>

namespace partita::detail {

/// The element type of a call, as a number and as a name.
struct element_identity {
  std::uint64_t number = 0;
  text (*name)() = nullptr;
};
template <class T>
inline constexpr element_identity identity_of_type{type_number<T>(), &type_name<T>};

inline text shape_text(const block_shape& shape, std::size_t rank) {
  text all("[");
  for (std::size_t d = 0; d < rank; ++d) all << (d == 0 ? "" : ", ") << shape[d];
  return all << "]";
}

/// A call of a movement, on this worker.
struct collective_call {
  group_direction where = group_direction::spread;
  const element_kind* of = nullptr;
  const element_operation* how = nullptr;  ///< only for a reduction
  const group_sums* sums = nullptr;        ///< only for a reduction
  const element_identity* elements = nullptr;
  untyped_block x{};
  const untyped_block* view = nullptr;  ///< the caller's view to fill, or null
  bool in_place = false;                ///< view may be the memory of x
  bool shares = false;                  ///< the workers of a node share one block
  bool later = false;                   ///< non-blocking: started now and finished later
  const text* objection = nullptr;      ///< this worker's error message, if not empty

  /// The cache key of the call; `with_block`: the key includes the shape of x, because x is moved.
  structure_key key(bool with_block) const {
    structure_key found;
    if (with_block) found.block = {x.rank, x.shape};
    if (view != nullptr) found.view = {view->rank, view->shape};
    return found;
  }
  /// Whether the call has this key; compares without making one, which most calls need not do.
  bool has_key(const structure_key& key, bool with_block) const {
    return key.block.is(with_block ? &x.shape : nullptr, x.rank) &&
           key.view.is(view != nullptr ? &view->shape : nullptr, x.rank);
  }

  /// The number that must be equal on all workers, for the kernel with this number. Different algorithms of reduction,
  /// and blocking and non-blocking calls, have different fingerprints, because they send different messages. Once the
  /// channels are open, their number is included: identically constructed kernels have separate shared pages.
  std::uint64_t fingerprint(std::uint64_t kernel, std::uint64_t number_of_ways) const {
    const std::uint64_t kind = static_cast<std::uint64_t>(where) + (shares ? 4U : 0U) + (later ? 8U : 0U) +
                               (how != nullptr && how->exactly != nullptr ? 16U : 0U);
    return mixed(mixed(kernel, elements->number), 2048 * number_of_ways + 64 * kind + x.rank);
  }
  template <class = void>
  text describe(const text& kernel) const {
    text all = kernel;
    all << " with a block of shape " << shape_text(x.shape, x.rank) << " and elements of type " << elements->name()
        << " (" << of->bytes << " bytes)";
    if (how != nullptr && how->exactly != nullptr) all << ", reproducible";
    if (shares) all << ", as a shared view";
    if (later) all << ", by start";
    return all;
  }

  bool has_objection() const { return objection != nullptr && !objection->empty(); }
  /// Whether a view is written while x is read.
  template <class = void>
  bool overlaps() const {
    return view != nullptr && !in_place && share_memory(x, *view);
  }
  /// This worker's error, if there is one. Not inlined, so that correct calls do not reserve stack space for a long
  /// error message; that alone would take as long as moving a small block.
  [[gnu::noinline]] complaint own_complaint(const char* kernel, std::size_t worker) const {
    if (has_objection()) return complaint(*objection);
    return {failure::shape,
            text(kernel) << ".into(x, view): requires a view that has no memory in common with x, got two that overlap "
                            "on worker "
                         << worker << "; copy x first, or take the result as a new tensor"};
  }
  /// Sets an error if the view does not have the shape of the result.
  template <class = void>
  void expect_view_shape(const char* kernel, const block_shape& shape, complaint& trouble) const {
    if (trouble.any() || view == nullptr || view->shape == shape || elements_in(shape, x.rank) == 0) return;
    trouble.kind = failure::shape;
    trouble.sentence << kernel << ".into(x, view): requires a view of the shape of the result "
                     << shape_text(shape, x.rank) << ", got " << shape_text(view->shape, x.rank)
                     << "; take a view of that shape";
  }
};

}  // namespace partita::detail
