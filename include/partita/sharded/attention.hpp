// Scaled dot-product attention of sharded tensors, composed of matrix products and a softmax.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/tensor_functions.hpp>

namespace partita {

struct attention_options {  ///< the options of attention(q, k, v, options)
  bool causal = false;      ///< query i attends only to keys 0 to i + (keys - queries): the last query to all keys
  double scale = 0;         ///< the factor of the scores q kᵀ; 0 stands for 1 / sqrt(width)
};

namespace detail {

/// The causal mask: masks the scores of keys after the query; the last key has the position of the last query.
struct mask_later_keys {
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads no elements of x or y
  bool masks_scores = true;  ///< true: writes minus infinity into scores; false: writes 0 into cotangents of scores

  static constexpr partita::rule rule(const shape_span& x) { return rules::elementwise.named("causal mask")(x); }
  shape_list result_extents(const shape_span& x) const {  ///< those of x; throws if keys are fewer than queries
    const std::size_t rank = x[0].size();
    if (x[0][rank - 1] < x[0][rank - 2])
      throw shape_error(text("partita::attention: requires at least as many keys as queries to be causal, got ")
                        << x[0][rank - 1] << " keys for " << x[0][rank - 2] << " queries");
    return x[0];
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    const std::size_t rank = x.shape.size();
    const interval queries = x.box[rank - 2], keys = x.box[rank - 1];
    const std::size_t ahead = x.extents[rank - 1] - x.extents[rank - 2];
    const T hidden = masks_scores ? -std::numeric_limits<T>::infinity() : T(0);
    for (std::size_t at = 0; at < x.size();)
      for (std::size_t q = queries.start; q < queries.stop; ++q)
        for (std::size_t k = keys.start; k < keys.stop; ++k, ++at) y[at] = k > q + ahead ? hidden : x[at];
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< masks dy: writes 0
    return apply_op(mask_later_keys{false}, dy);
  }
};

}  // namespace detail

/// Returns softmax(scale q kᵀ) v over the last two dimensions. Heads, batches and queries usually keep their sharding.
/// If an axis shards the keys of k and v and nothing else, two numbers per query and head (a maximum and a sum) are
/// reduced over this axis, the result is a pending sum over it, and no tensor is gathered.
/// Shapes:   q [..., queries, width], k [..., keys, width], v [..., keys, out], with equal leading dimensions; the
///           result is [..., queries, out].
/// Requires: elements of float or double; not more queries than keys if causal [shape_error].
template <class Q, class K, class V>
  requires(detail::any_tensor<Q> && detail::any_tensor<K> && detail::any_tensor<V>)
auto attention(const Q& q, const K& k, const V& v, const attention_options& how = {}) {
  if constexpr (!detail::has_real_elements<Q>()) {
    return detail::rejected_call{};
  } else {
    const double width = detail::element_count_along<-1>(q);
    const double scale = how.scale != 0 ? how.scale : 1 / std::sqrt(width);
    const auto scaled = multiply(q, scale);
    const auto scores = einsum<"...qd,...kd->...qk">(scaled, k);
    const auto weights = how.causal ? softmax(apply_op(detail::mask_later_keys{}, scores)) : softmax(scores);
    return einsum<"...qk,...kd->...qd">(weights, v);
  }
}

}  // namespace partita
