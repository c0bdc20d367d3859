// The policies of a repartition: the decompositions of its two sides, and the order of the result's dimensions.
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

/// The kind of policy T, and whether T fits tensors of rank Rank.
template <std::size_t Rank, class T>
struct repartition_policy {
  static constexpr bool known = false, orders = false, permutes = false, gives_from = false, gives_to = false,
                        fits = true;
  static constexpr bool sets_strategy = false, sets_messages = false;
};
template <std::size_t Rank>
struct repartition_policy<Rank, discard_batch_t> : repartition_policy<Rank, void> {
  static constexpr bool known = true;
};
template <std::size_t Rank>
struct repartition_policy<Rank, strategy> : repartition_policy<Rank, void> {
  static constexpr bool known = true, sets_strategy = true;
};
template <std::size_t Rank>
struct repartition_policy<Rank, messages> : repartition_policy<Rank, void> {
  static constexpr bool known = true, sets_messages = true;
};
template <std::size_t Rank, std::size_t... P>
struct repartition_policy<Rank, permute_t<P...>> : repartition_policy<Rank, void> {
  static constexpr bool known = true, permutes = true, fits = sizeof...(P) == Rank;
  static constexpr bool orders = is_order<sizeof...(P)>({P...});
};
template <std::size_t Rank, std::size_t R>
struct repartition_policy<Rank, from_cuts_t<R>> : repartition_policy<Rank, void> {
  static constexpr bool known = true, gives_from = true, fits = R == Rank;
};
template <std::size_t Rank, std::size_t R>
struct repartition_policy<Rank, to_cuts_t<R>> : repartition_policy<Rank, void> {
  static constexpr bool known = true, gives_to = true, fits = R == Rank;
};

/// Whether the policies fit together and fit tensors of rank Rank; each kernel rejects other policies in its own
/// header, near the call.
template <std::size_t Rank, class... Policies>
inline constexpr bool are_known = (repartition_policy<Rank, Policies>::known && ...);
template <std::size_t Rank, class... Policies>
inline constexpr bool occur_once = (0 + ... + (repartition_policy<Rank, Policies>::permutes ? 1 : 0)) <= 1 &&
                                   (0 + ... + (repartition_policy<Rank, Policies>::gives_from ? 1 : 0)) <= 1 &&
                                   (0 + ... + (repartition_policy<Rank, Policies>::gives_to ? 1 : 0)) <= 1 &&
                                   (0 + ... + (repartition_policy<Rank, Policies>::sets_strategy ? 1 : 0)) <= 1 &&
                                   (0 + ... + (repartition_policy<Rank, Policies>::sets_messages ? 1 : 0)) <= 1;
template <std::size_t Rank, class... Policies>
inline constexpr bool fit_all_permutations =
    ((!repartition_policy<Rank, Policies>::permutes || repartition_policy<Rank, Policies>::fits) && ...);
template <std::size_t Rank, class... Policies>
inline constexpr bool permutations_are_orders =
    ((!repartition_policy<Rank, Policies>::permutes || repartition_policy<Rank, Policies>::orders) && ...);
template <std::size_t Rank, class... Policies>
inline constexpr bool fit_all_cuts =
    ((!(repartition_policy<Rank, Policies>::gives_from || repartition_policy<Rank, Policies>::gives_to) ||
      repartition_policy<Rank, Policies>::fits) &&
     ...);

template <std::size_t Rank, class... Policies>
inline constexpr bool are_accepted =
    are_known<Rank, Policies...> && occur_once<Rank, Policies...> && fit_all_permutations<Rank, Policies...> &&
    permutations_are_orders<Rank, Policies...> && fit_all_cuts<Rank, Policies...>;

template <std::size_t Rank>
class repartition_cuts;
/// Throws if given cuts do not fit the partitions or each other.
template <std::size_t Rank>
void expect_fitting(const repartition_cuts<Rank>& cuts);

/// The decompositions of both sides of a repartition of tensors of rank Rank. Every worker knows all members.
template <std::size_t Rank>
class repartition_cuts {
 public:
  using shape_type = std::array<std::size_t, Rank>;
  using cuts = decomposition<Rank>;

  /// Makes the cuts of a repartition; `p_x` and `p_y` are the shapes of the partitions.
  template <class... Policies>
  repartition_cuts(const shape_type& p_x, const shape_type& p_y, const Policies&... policies) : p_x_(p_x), p_y_(p_y) {
    (apply_policy(policies), ...);
    if (from_ || to_) expect_fitting(*this);
  }

  const axes_order<Rank>& axes() const { return axes_; }
  /// The decomposition of the source that the caller passed, if the caller passed one.
  const std::optional<cuts>& from() const { return from_; }
  const std::optional<cuts>& to() const { return to_; }

  /// The decompositions of x and y for an x of the extents `extents`.
  cuts of_x(const shape_type& extents) const { return from_ ? *from_ : cuts::balanced(extents, p_x_); }
  cuts of_y(const shape_type& extents) const {
    return to_ ? *to_ : cuts::balanced(in_result_order(extents, axes_), p_y_);
  }
  /// The extents of x for given extents of y.
  shape_type extents_of_x(const shape_type& of_y) const { return in_source_order(of_y, axes_); }

  /// Returns an error message if a tensor x of these extents cannot be moved; otherwise an empty text.
  text error_message(const shape_type& x) const {
    text problem;
    if (from_ && from_->extents() != x) {
      problem << "requires cuts that add up to the extents of the tensor; x has extents " << x
              << ", from_cuts(...) cuts " << from_->extents() << "; make the cuts for " << x;
    } else if (to_ && to_->extents() != in_result_order(x, axes_)) {
      const shape_type y = in_result_order(x, axes_);
      problem << "requires cuts that add up to the extents of the tensor; the result has extents " << y
              << ", to_cuts(...) cuts " << to_->extents() << "; make the cuts for " << y;
    }
    return problem;
  }

  std::uint64_t fingerprint() const {
    hasher hash;
    const auto mix = [&hash](std::uint64_t value) { hash.mix(value); };
    for (const std::size_t d : axes_) mix(d);
    mix(from_ ? 1 : 0);
    mix(to_ ? 1 : 0);
    for (const auto* side : {&from_, &to_})
      if (*side)
        for (const cut& c : (*side)->cuts) mix(c.fingerprint());
    return hash.value();
  }

  const shape_type& shape_of_p_x() const { return p_x_; }
  const shape_type& shape_of_p_y() const { return p_y_; }

 private:
  void apply_policy(discard_batch_t) {}
  void apply_policy(strategy) {}  // a strategy does not concern cuts
  void apply_policy(messages) {}
  template <std::size_t... P>
  void apply_policy(permute_t<P...>) {
    if constexpr (sizeof...(P) == Rank) axes_ = {P...};
  }
  template <std::size_t R>
  void apply_policy(const from_cuts_t<R>& given) {
    if constexpr (R == Rank) from_ = given.cuts;
  }
  template <std::size_t R>
  void apply_policy(const to_cuts_t<R>& given) {
    if constexpr (R == Rank) to_ = given.cuts;
  }

  shape_type p_x_, p_y_;
  axes_order<Rank> axes_ = same_axes<Rank>();
  std::optional<cuts> from_, to_;
};

template <std::size_t Rank>
void expect_fitting(const repartition_cuts<Rank>& cuts) {
  const auto expect_parts = [](const char* name, const decomposition<Rank>& given, const char* partition,
                               const std::array<std::size_t, Rank>& grid) {
    if (given.parts() == grid) return;
    throw partition_error(text("partita::repartition(p_x, p_y, ")
                          << name << "(...)): requires as many parts along each dimension as " << partition
                          << " has workers; the cuts have " << given.parts() << " parts, " << partition << " = " << grid
                          << "; cut into " << grid << " parts, or choose a partition of " << given.parts());
  };
  if (cuts.from()) expect_parts("from_cuts", *cuts.from(), "p_x", cuts.shape_of_p_x());
  if (cuts.to()) expect_parts("to_cuts", *cuts.to(), "p_y", cuts.shape_of_p_y());
  if (!cuts.from()) return;
  const text problem = cuts.error_message(cuts.from()->extents());
  if (!problem.empty())
    throw shape_error(text("partita::repartition(p_x, p_y, from_cuts(...), to_cuts(...)): ") << problem);
}

}  // namespace partita::detail
