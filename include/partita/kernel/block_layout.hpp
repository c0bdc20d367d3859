// Where the blocks of a tensor lie: learnt together when a block has a new shape, found again when it has not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/plan/decomposition.hpp>
#include <vector>

namespace partita::detail {

template <std::size_t Rank, class Shape>
std::array<std::size_t, Rank> shape_array(const Shape& shape) {
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = static_cast<std::size_t>(shape[d]);
  return all;
}

/// X is an expression of elements T and of this rank. Layers say in a static_assert that they require it.
template <class X, class T, std::size_t Rank>
consteval bool block_of_rank() {
  if constexpr (ranked_array<X>) return rank_of<X> == Rank && std::is_same_v<element_of<X>, T>;
  else return false;
}

/// A tensor cut over a partition, as all workers know it.
template <std::size_t Rank>
struct laid_out_tensor {
  std::array<std::size_t, Rank> mine{};  ///< the shape of this worker's block, by which this is found again
  std::array<std::size_t, Rank> extents{};
  std::array<std::vector<std::size_t>, Rank> sizes{};  ///< along each dimension, those of the blocks
  box<Rank> own{};                                     ///< this worker's block; empty where it is not active

  decomposition<Rank> cuts() const {
    return decomposition<Rank>::make([this](std::size_t d) { return cut::at(sizes[d]); });
  }
};

/// What a layer learns of the blocks that it is given: any cut of which every dimension is cut alike everywhere.
template <std::size_t Rank>
class block_layout {
 public:
  using shape_type = std::array<std::size_t, Rank>;

  /// `call` names the layer, as in "partita::dropout(p)(x)"; it must last. `parameters` is a number of its options and
  /// of its element type, which all workers must have in common.
  block_layout(partition<dynamic_extents<Rank>> p, const char* call, std::uint64_t parameters)
      : p_(std::move(p)),
        call_(call),
        fingerprint_(hasher(p_.grid().fingerprint()).mix(call).mix(parameters).value()) {}

  const partition<dynamic_extents<Rank>>& p() const { return p_; }
  const char* call() const { return call_; }

  /// All workers come here with their blocks. An objection is thrown on all of them as a shape_error, as are blocks
  /// that do not fit together. Cost: one agreement; for blocks of a new shape one all-gather more.
  const laid_out_tensor<Rank>& learn(const shape_type& mine, const text& objection = {}) {
    world_state& state = *p_.world().state();
    const complaint before(objection);
    return agreed_structure(
        state, known_, {fingerprint_, before, true},
        [&](const laid_out_tensor<Rank>& known) { return !p_.active() || known.mine == mine; },
        [&](complaint& trouble) { return lay_out_blocks(mine, trouble); }, [&] { return describe(mine); });
  }
  /// For a call that does not agree here: the next agreement compares the layer and its options.
  void note() const { p_.world().state()->note_local(fingerprint_, call_); }
  /// All workers come here; the objection of one of them is thrown on all.
  void agree(const text& objection, std::uint64_t number = 1) const {
    agree_if_checked(*p_.world().state(), mixed(fingerprint_, number), complaint(objection),
                     [&] { return describe(); });
  }

 private:
  laid_out_tensor<Rank> lay_out_blocks(const shape_type& mine, complaint& trouble) const {
    const auto all = gathered(*p_.world().state(), facts_of(mine));
    std::vector<shape_type> shapes(p_.size());
    for (std::size_t k = 0; k < shapes.size(); ++k)
      for (std::size_t d = 0; d < Rank; ++d) shapes[k][d] = all[p_.workers()[k]][d];
    const auto side_by_side = lay_out(shapes, p_.grid().shape());
    laid_out_tensor<Rank> found;
    found.mine = mine;
    found.extents = side_by_side.extents;
    if (!side_by_side.problem.empty()) {
      trouble = complaint(text(call_) << " with p = " << p_.grid().shape() << ": " << side_by_side.problem);
      return found;
    }
    if (!side_by_side.cartesian) {
      trouble = complaint(text(call_) << " with p = " << p_.grid().shape()
                                      << ": requires blocks whose cuts go through the whole tensor, got staggered "
                                         "ones; repartition the tensor first");
      return found;
    }
    for (std::size_t d = 0; d < Rank; ++d) {
      found.sizes[d] = side_by_side.sizes[d];
      if (!p_.active()) continue;
      for (std::size_t k = 0; k < p_.index()[d]; ++k) found.own.start[d] += found.sizes[d][k];
      found.own.stop[d] = found.own.start[d] + mine[d];
    }
    return found;
  }
  text describe() const { return text(call_) << " with p = " << p_.grid().shape(); }
  text describe(const shape_type& mine) const { return describe() << " and a block of shape " << mine; }

  partition<dynamic_extents<Rank>> p_;
  const char* call_;
  std::uint64_t fingerprint_;
  plan_cache<laid_out_tensor<Rank>> known_;
};

}  // namespace partita::detail
