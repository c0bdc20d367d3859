// The policies of a repartition: the decompositions of x and of the result, and the order of the result's dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/core/error.hpp>
#include <partita/core/hash.hpp>
#include <partita/kernel/given_cuts.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/permute.hpp>
#include <partita/rule/transport_choice.hpp>

namespace partita::detail {

/// What policy T sets, and whether it fits tensors of rank Rank. A valid order of axes names each axis once.
template <std::size_t Rank, class T>
struct repartition_policy {
  /// Whether T is a policy of a repartition; whether it orders the axes; whether its order names each axis once.
  static constexpr bool is_known = false, is_permutation = false, is_valid_order = false;
  static constexpr bool sets_source_cuts = false, sets_result_cuts = false, sets_strategy = false;  ///< what T sets
  static constexpr bool sets_message_form = false, fits_rank = true;  ///< whether T sets it; whether T fits rank Rank
};
template <std::size_t Rank>
struct repartition_policy<Rank, discard_batch_t> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true;
};
template <std::size_t Rank>
struct repartition_policy<Rank, strategy> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true, sets_strategy = true;  ///< T sets the strategy
};
template <std::size_t Rank>
struct repartition_policy<Rank, message_form> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true, sets_message_form = true;  ///< T sets the message form
};
template <std::size_t Rank, std::size_t... P>
struct repartition_policy<Rank, permute_t<P...>> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true, is_permutation = true, fits_rank = sizeof...(P) == Rank;  ///< T orders axes
  static constexpr bool is_valid_order = is_permutation_of_axes<sizeof...(P)>({P...});
};
template <std::size_t Rank, std::size_t R>
struct repartition_policy<Rank, source_cuts_t<R>> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true, sets_source_cuts = true, fits_rank = R == Rank;  ///< T sets the cuts of x
};
template <std::size_t Rank, std::size_t R>
struct repartition_policy<Rank, result_cuts_t<R>> : repartition_policy<Rank, void> {
  static constexpr bool is_known = true, sets_result_cuts = true, fits_rank = R == Rank;  ///< T cuts the result
};

/// Whether all policies are policies of a repartition; each kernel rejects other policies in its own header.
template <std::size_t Rank, class... Policies>
inline constexpr bool are_known_policies = (repartition_policy<Rank, Policies>::is_known && ...);
/// Whether no two policies set the same property: axes, cuts of x, cuts of the result, strategy or message form.
template <std::size_t Rank, class... Policies>
inline constexpr bool has_no_repeated_policy =
    (0 + ... + (repartition_policy<Rank, Policies>::is_permutation ? 1 : 0)) <= 1 &&
    (0 + ... + (repartition_policy<Rank, Policies>::sets_source_cuts ? 1 : 0)) <= 1 &&
    (0 + ... + (repartition_policy<Rank, Policies>::sets_result_cuts ? 1 : 0)) <= 1 &&
    (0 + ... + (repartition_policy<Rank, Policies>::sets_strategy ? 1 : 0)) <= 1 &&
    (0 + ... + (repartition_policy<Rank, Policies>::sets_message_form ? 1 : 0)) <= 1;
/// Whether permutations have as many axes as the tensor.
template <std::size_t Rank, class... Policies>
inline constexpr bool do_permutations_fit =
    ((!repartition_policy<Rank, Policies>::is_permutation || repartition_policy<Rank, Policies>::fits_rank) && ...);
/// Whether each permutation among the policies names each axis once.
template <std::size_t Rank, class... Policies>
inline constexpr bool are_permutations_valid =
    ((!repartition_policy<Rank, Policies>::is_permutation || repartition_policy<Rank, Policies>::is_valid_order) &&
     ...);
/// Whether the caller's decompositions have the rank of the tensor.
template <std::size_t Rank, class... Policies>
inline constexpr bool do_cuts_fit =
    ((!(repartition_policy<Rank, Policies>::sets_source_cuts || repartition_policy<Rank, Policies>::sets_result_cuts) ||
      repartition_policy<Rank, Policies>::fits_rank) &&
     ...);

/// Whether a repartition of tensors of rank Rank accepts these policies together.
template <std::size_t Rank, class... Policies>
inline constexpr bool are_accepted_policies =
    are_known_policies<Rank, Policies...> && has_no_repeated_policy<Rank, Policies...> &&
    do_permutations_fit<Rank, Policies...> && are_permutations_valid<Rank, Policies...> &&
    do_cuts_fit<Rank, Policies...>;

/// The decompositions of x and of the result in a repartition of tensors of rank Rank, equal on all workers.
template <std::size_t Rank>
class repartition_cuts {
 public:
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a tensor or of a grid of workers
  using cuts = decomposition<Rank>;                  ///< how a tensor is divided into blocks

  /// Makes the cuts of a repartition; the arguments `p_x` and `p_y` are the shapes of the partitions.
  template <class... Policies>
  repartition_cuts(const shape_type& p_x, const shape_type& p_y, const Policies&... policies)
      : p_x_shape_(p_x), p_y_shape_(p_y) {
    (apply_policy(policies), ...);
    if (source_cuts_ || result_cuts_) require_fitting_cuts(*this);
  }

  const axes_order<Rank>& axes() const { return axes_; }  ///< the axes of x, in the order of the result
  /// The decomposition of x that the caller passed, if the caller passed one.
  const std::optional<cuts>& given_source_cuts() const { return source_cuts_; }
  const std::optional<cuts>& given_result_cuts() const { return result_cuts_; }  ///< the result's cuts, if passed

  /// The decomposition of an x of the given extents: the one that the caller passed, or the balanced one.
  cuts source_cuts(const shape_type& extents) const {
    return source_cuts_ ? *source_cuts_ : cuts::balanced(extents, p_x_shape_);
  }
  cuts result_cuts(const shape_type& extents) const {  // the decomposition of the result for an x of these extents
    return result_cuts_ ? *result_cuts_ : cuts::balanced(in_result_order(extents, axes_), p_y_shape_);
  }
  /// The extents of the source tensor x if the result y has the given extents.
  shape_type source_extents(const shape_type& result_extents) const { return in_source_order(result_extents, axes_); }

  /// Returns an error message if a tensor x of these extents cannot be moved; otherwise an empty text.
  text error_message(const shape_type& x) const {
    text problem;
    if (source_cuts_ && source_cuts_->extents() != x) {
      problem << "requires cuts that add up to the extents of the tensor; x has extents " << x
              << ", source_cuts(...) cuts " << source_cuts_->extents() << "; make the cuts for " << x;
    } else if (result_cuts_ && result_cuts_->extents() != in_result_order(x, axes_)) {
      const shape_type y = in_result_order(x, axes_);
      problem << "requires cuts that add up to the extents of the tensor; the result has extents " << y
              << ", result_cuts(...) cuts " << result_cuts_->extents() << "; make the cuts for " << y;
    }
    return problem;
  }

  std::uint64_t fingerprint() const {  // identifies the axes and the given decompositions; equal on all workers
    hasher hash;
    const auto mix = [&hash](std::uint64_t value) { hash.mix(value); };
    for (const std::size_t d : axes_) mix(d);
    mix(source_cuts_ ? 1 : 0);
    mix(result_cuts_ ? 1 : 0);
    for (const auto* side : {&source_cuts_, &result_cuts_})
      if (*side)
        for (const cut& c : (*side)->cuts) mix(c.fingerprint());
    return hash.value();
  }

  const shape_type& p_x_shape() const { return p_x_shape_; }  ///< the grid extents of p_x
  const shape_type& p_y_shape() const { return p_y_shape_; }  ///< the grid extents of p_y

 private:
  void apply_policy(discard_batch_t) {}
  void apply_policy(strategy) {}  // a strategy does not concern cuts
  void apply_policy(message_form) {}
  template <std::size_t... P>
  void apply_policy(permute_t<P...>) {
    if constexpr (sizeof...(P) == Rank) axes_ = {P...};
  }
  template <std::size_t R>
  void apply_policy(const source_cuts_t<R>& given) {
    if constexpr (R == Rank) source_cuts_ = given.cuts;
  }
  template <std::size_t R>
  void apply_policy(const result_cuts_t<R>& given) {  // stores the decomposition of the result
    if constexpr (R == Rank) result_cuts_ = given.cuts;
  }

  shape_type p_x_shape_, p_y_shape_;               ///< the grid extents of p_x and of p_y
  axes_order<Rank> axes_ = same_axes<Rank>();      ///< the axes of x in the order of the result's dimensions
  std::optional<cuts> source_cuts_, result_cuts_;  ///< the decompositions that the caller passed, if any
};

/// Throws a partition_error for cuts that do not fit the partitions, a shape_error for cuts that contradict each other.
template <std::size_t Rank>
void require_fitting_cuts(const repartition_cuts<Rank>& cuts) {
  const auto expect_parts = [](const char* name, const decomposition<Rank>& given, const char* partition,
                               const std::array<std::size_t, Rank>& grid) {
    if (given.parts() == grid) return;
    throw partition_error(text("partita::repartition(p_x, p_y, ")
                          << name << "(...)): requires as many parts along each dimension as " << partition
                          << " has workers; the cuts have " << given.parts() << " parts, " << partition << " = " << grid
                          << "; cut into " << grid << " parts, or choose a partition of " << given.parts());
  };
  if (cuts.given_source_cuts()) expect_parts("source_cuts", *cuts.given_source_cuts(), "p_x", cuts.p_x_shape());
  if (cuts.given_result_cuts()) expect_parts("result_cuts", *cuts.given_result_cuts(), "p_y", cuts.p_y_shape());
  if (!cuts.given_source_cuts()) return;
  const text problem = cuts.error_message(cuts.given_source_cuts()->extents());
  if (!problem.empty())
    throw shape_error(text("partita::repartition(p_x, p_y, source_cuts(...), result_cuts(...)): ") << problem);
}

}  // namespace partita::detail
