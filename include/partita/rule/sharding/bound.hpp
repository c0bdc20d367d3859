// Binding: combines a rule with the shapes of its tensors, so that every factor gets its size.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rule.hpp>

namespace partita {
namespace detail {

/// Writes a tensor of a rule as "operand 1 [32, 48] of matmul bmk,kn->bmn".
struct tensor_text {
  const rule& of;           ///< the rule
  std::size_t t;            ///< the number of the tensor, operands first
  const shape_list& shape;  ///< the shape of the tensor

  template <std::size_t Capacity>
  friend constexpr basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const tensor_text& name) {
    const bool is_operand = name.t < name.of.operand_count;
    return out << (is_operand ? "operand " : "result ") << (is_operand ? name.t : name.t - name.of.operand_count) << ' '
               << name.shape << " of " << name.of.name() << ' ' << name.of;
  }
};

/// Throws the error for a factor with two different sizes, the second in tensor t. The functions that throw are
/// templates, because a compiler may reject a constexpr function that always throws, but no such template.
template <class = void>
[[noreturn]] constexpr void throw_size_error(const rule& r, std::size_t t, const shape_list& shape, char letter,
                                             std::size_t before, std::size_t now) {
  throw shape_error(text("partita::propagate: requires one size of each factor, but '")
                    << letter << "' is " << before << " before and " << now << " in " << tensor_text{r, t, shape}
                    << "; give shapes that fit");
}
/// Throws the error for tensor t whose shape does not have the rank of the rule.
template <class = void>
[[noreturn]] constexpr void throw_rank_error(const rule& r, std::size_t t, const shape_list& shape, std::size_t rank) {
  throw shape_error(text("partita::propagate: requires as many dimensions as the notation has, ")
                    << rank << ", but there are " << shape.size() << " in " << tensor_text{r, t, shape}
                    << "; write \"...\" for those in front");
}
/// Throws the error for dimension d of tensor t: its extent is not the product of its factors, or the sizes of several
/// of its factors are unknown.
template <class = void>
[[noreturn]] constexpr void throw_split_error(const rule& r, std::size_t t, const shape_list& shape, std::size_t d) {
  throw shape_error(text("partita::propagate: requires factors whose product is the extent, one of them unknown at "
                         "most, but not so is dimension ")
                    << d << " of " << tensor_text{r, t, shape} << "; give the sizes of the factors");
}
/// Throws the error for another number of operands or results than the rule has.
template <class = void>
[[noreturn]] constexpr void throw_count_error(const rule& r, const char* what, std::size_t wanted, std::size_t given) {
  throw shape_error(text("partita::propagate: requires as many tensors as the notation has, ")
                    << wanted << ' ' << what << " of " << r.name() << ' ' << r << ", but there are " << given
                    << "; give those");
}

/// Replaces each "..." of a rule by as many batch factors as the shapes have remaining dimensions.
constexpr rule expand_ellipsis(const rule& r, const shape_span& operands, const shape_span& results) {
  rule all = r;
  all.dimension_count = all.term_count = all.operand_count = all.result_count = 0;
  std::size_t batch = 0;
  for (std::size_t t = 0; t < r.operand_count + results.size(); ++t) {
    if (r.tensors[t].ellipsis == rule::tensor::no_ellipsis) continue;
    const shape_list& shape = t < r.operand_count ? operands[t] : results[t - r.operand_count];
    if (shape.size() < r.rank(t)) throw_rank_error(r, t, shape, r.rank(t));
    if (shape.size() - r.rank(t) > batch) batch = shape.size() - r.rank(t);
  }
  std::size_t added[most_dimensions]{};
  char letter = 'A';
  for (std::size_t k = 0; k < batch; ++k, ++letter) {
    for (std::size_t f = 0; f < r.factor_count;)  // a letter that no factor has
      r.factors[f].letter == letter ? (++letter, f = 0) : ++f;
    added[k] = all.add_factor(dynamic, letter);
    all.factors[added[k]].broadcasts = true;
  }
  for (std::size_t t = 0; t < r.tensor_count(); ++t) {
    t < r.operand_count ? all.begin_operand() : all.begin_result();
    for (std::size_t d = 0; d <= r.rank(t); ++d) {
      if (d == r.tensors[t].ellipsis) {
        const std::size_t own = t < r.operand_count ? operands[t].size() - r.rank(t) : batch;
        for (std::size_t k = batch - own; k < batch; ++k) all.add_dimension(added[k]);
      }
      if (d == r.rank(t)) break;
      all.add_dimension();
      for (std::size_t k = 0; k < r.at(t, d).count; ++k) all.add_term(r.term(r.at(t, d), k));
    }
  }
  all.share_dimensions_of_last_tensor();
  for (std::size_t k = 0; k < batch; ++k) {
    factor& one = all.factors[added[k]];
    one.precedence = 0;
    for (std::size_t t = all.operand_count; t < all.tensor_count(); ++t)
      if ((all.factors_of(t) >> added[k] & 1U) == 0) one.kind = factor_kind::reduce;
  }
  return all;
}

/// Sets the sizes of the factors of dimension d of tensor t; a shape_error if they contradict known sizes. Only an
/// operand may have an extent of 1 that is broadcast to the size of a factor; results are bound after all operands.
constexpr void bind_dimension(rule& all, std::size_t t, std::size_t d, const shape_list& shape) {
  const std::size_t extent = shape[d];
  const rule::dimension& here = all.at(t, d);
  if (extent == dynamic) return;
  if (here.count == 0) {
    if (extent != 1) throw_size_error(all, t, shape, '1', 1, extent);
    return;
  }
  if (here.count == 1) {
    factor& one = all.factors[all.term(here, 0)];
    if (one.extents_may_differ || one.size == extent) return;
    const bool may_repeat = one.broadcasts && t < all.operand_count;
    if (one.size == dynamic || (may_repeat && one.size == 1)) one.size = extent;
    else if (!(may_repeat && extent == 1)) throw_size_error(all, t, shape, one.letter, one.size, extent);
    return;
  }
  std::size_t known = 1, open = most_factors;
  for (std::size_t k = 0; k < here.count; ++k) {
    const std::size_t f = all.term(here, k);
    if (all.factors[f].size != dynamic) known *= all.factors[f].size;
    else if (open == most_factors) open = f;
    else throw_split_error(all, t, shape, d);
  }
  if (open == most_factors ? known != extent : known == 0 || extent % known != 0) throw_split_error(all, t, shape, d);
  if (open != most_factors) all.factors[open].size = extent / known;
}

}  // namespace detail

/// The rule for tensors of given shapes: without "...", with a size for every factor, and without a factor for a
/// dimension of 1 that is broadcast. A shape_error names the factor, the tensor and the two sizes that contradict each
/// other.
constexpr rule bind_shapes(const rule& r, const shape_span& operands, const shape_span& results = {}) {
  if (operands.size() != r.operand_count) detail::throw_count_error(r, "operands", r.operand_count, operands.size());
  if (results.size() != 0 && results.size() != r.result_count)
    detail::throw_count_error(r, "results", r.result_count, results.size());
  rule all = r.has_ellipsis() ? detail::expand_ellipsis(r, operands, results) : r;
  bool broadcasts = false;
  for (std::size_t f = 0; f < all.factor_count; ++f) broadcasts = broadcasts || all.factors[f].broadcasts;
  const auto bind_tensor = [&](std::size_t t, const shape_list& shape) {
    if (shape.size() != all.rank(t)) detail::throw_rank_error(all, t, shape, all.rank(t));
    for (std::size_t d = 0; d < shape.size(); ++d) detail::bind_dimension(all, t, d, shape);
  };
  for (std::size_t t = 0; t < all.operand_count; ++t) bind_tensor(t, operands[t]);
  // An extent of 1 that is combined with an unknown extent does not determine the size of a factor.
  for (std::size_t t = 0; broadcasts && t < all.operand_count; ++t)
    for (std::size_t d = 0; d < all.rank(t); ++d)
      if (all.at(t, d).count == 1 && operands[t][d] == dynamic)
        if (factor& one = all.factors[all.term(all.at(t, d), 0)]; one.broadcasts && one.size == 1) one.size = dynamic;
  for (std::size_t j = 0; j < results.size(); ++j) bind_tensor(all.operand_count + j, results[j]);
  for (std::size_t t = 0; broadcasts && t < all.operand_count; ++t)
    for (std::size_t d = 0; d < all.rank(t); ++d)
      if (all.at(t, d).count == 1 && operands[t][d] == 1 && all.factors[all.term(all.at(t, d), 0)].size != 1)
        all.drop_factors(t, d);
  return all;
}

/// The shape of result j of a bound rule; extents that no operand's or result's shape determines are `dynamic`.
constexpr shape_list result_shape(const rule& bound_rule, std::size_t j) {
  shape_list shape;
  const std::size_t t = bound_rule.operand_count + j;
  for (std::size_t d = 0; d < bound_rule.rank(t); ++d) {
    std::size_t extent = 1;
    for (std::size_t k = 0; k < bound_rule.at(t, d).count; ++k) {
      const std::size_t size = bound_rule.factors[bound_rule.term(bound_rule.at(t, d), k)].size;
      extent = size == dynamic || extent == dynamic ? dynamic : extent * size;
    }
    shape.push_back(extent);
  }
  return shape;
}

}  // namespace partita
