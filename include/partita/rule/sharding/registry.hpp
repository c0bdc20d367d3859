// The registry: finds operations by name, and lets a program add its own operations in one line.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rules.hpp>

namespace partita {

/// A table of operation names and rules, as in `registry.add("my_op", "abc,c->ab")`; a rule may also be a function of
/// shapes and attributes. The table has a bounded size and is usable in constant expressions; `registry::standard()`
/// contains the predefined operations.
class registry {
 public:
  static constexpr std::size_t most_entries = 256;  ///< the capacity of the table
  /// What the registry does for an unknown name: it throws, or returns the replicated rule.
  enum class fallback : std::uint8_t { refuse, replicate };

  constexpr registry() = default;
  constexpr explicit registry(fallback f) : fallback_policy_(f) {}    ///< without operations
  static constexpr registry standard(fallback f = fallback::refuse);  ///< with the predefined operations

  /// Adds an operation, or replaces the rule of a known name. Name and notation must outlive the registry.
  constexpr registry& add(const char* name, const char* notation) { return insert({name, notation, nullptr, nullptr}); }
  constexpr registry& add(const char* name, operation::rule_maker f) { return insert({name, nullptr, f, nullptr}); }

  /// Whether there is a rule of this name.
  constexpr bool knows(const char* name) const { return find(name) < count_; }
  constexpr std::size_t size() const { return count_; }                         ///< The number of names.
  constexpr const char* name(std::size_t k) const { return entries_[k].name; }  ///< The name of entry k.

  /// Makes the rule of a named operation for these shapes, with these attributes in addition to the operation's own.
  /// For an unknown name, throws a shape_error that explains `add`, or returns the replicated rule with one result of
  /// the first operand's rank (see fallback).
  constexpr rule operator()(const char* name, const shape_span& shapes, const attributes& with = {}) const {
    const std::size_t k = find(name);
    if (k < count_) {
      const entry& one = entries_[k];
      if (one.predefined != nullptr) return one.predefined->with_attributes(with, equal(name, "reduction"))(shapes);
      return one.make != nullptr ? one.make(shapes, with).named(name) : rule(one.notation).named(name);
    }
    if (fallback_policy_ == fallback::refuse)
      throw shape_error(text("partita::registry: requires an operation with a rule, and there is none for \"")
                        << name << "\"; add one: registry.add(\"" << name
                        << "\", \"ab,b->a\"), or allow registry::fallback::replicate");
    return rules::replicated({shapes.size() == 0 ? 0 : static_cast<std::ptrdiff_t>(shapes[0].size())})(shapes).named(
        name);
  }

 private:
  struct entry {                            ///< a name and its rule, in one of three forms
    const char* name = "";                  ///< the name of the operation
    const char* notation = nullptr;         ///< the rule, if it is a notation
    operation::rule_maker make = nullptr;   ///< the rule, if it is a function
    const operation* predefined = nullptr;  ///< the predefined operation of this name, if there is one
  };
  static constexpr bool equal(const char* a, const char* b) {  ///< whether two texts are equal
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }
  constexpr std::size_t find(const char* name) const {  ///< the index of the entry with this name, or count_
    for (std::size_t k = 0; k < count_; ++k)
      if (equal(entries_[k].name, name)) return k;
    return count_;
  }
  constexpr registry& insert(const entry& one) {  ///< adds an entry, or replaces that of the same name
    const std::size_t k = find(one.name);
    if (k == most_entries)
      throw shape_error(text("partita::registry: requires at most ")
                        << most_entries << " operations; use another registry");
    entries_[k] = one;
    if (k == count_) ++count_;
    return *this;
  }

  entry entries_[most_entries]{};                ///< the first count_ are in use
  std::size_t count_ = 0;                        ///< the number of entries
  fallback fallback_policy_ = fallback::refuse;  ///< what is done for names without an entry
};

namespace detail {

/// The predefined operations, with the names and definitions that they have in `rules::`: a lookup by name gives the
/// same rule as `rules::`. Dimensions, extents and counts that `rules::` takes as parameters are passed as attributes.
inline constexpr operation standard_operations[] = {
    // Element-wise operations.
    rules::elementwise, rules::elementwise_outputs(1), rules::elementwise_in_dimensions({}), rules::add,
    rules::subtract, rules::add_n, rules::multiply, rules::divide, rules::scale, rules::cast, rules::assign,
    rules::relu, rules::maximum, rules::where, rules::add.named("negate"),
    // Matrix products and convolutions.
    rules::matmul, rules::matmul_transposed(false, false), rules::matmul_bias(), rules::bmm, rules::linear,
    rules::linear_weight_gradient, rules::convolution, rules::grouped_convolution(0), rules::depthwise_convolution,
    rules::transposed_convolution(0),
    // Operations along dimensions.
    rules::reduction(pending_reduction::sum).named("reduction"), rules::sum(), rules::mean(), rules::max(),
    rules::min(), rules::reduction(pending_reduction::prod), rules::reduction(pending_reduction::any),
    rules::reduction(pending_reduction::all), rules::sum_of_function(), rules::whole_reduction(), rules::logsumexp(),
    rules::p_norm(), rules::argmax(), rules::argmax().named("argmin"), rules::along({}), rules::softmax(),
    rules::softmax().named("log_softmax"), rules::argsort(), rules::cumsum(0), rules::cummax(0), rules::cummin(0),
    rules::roll({}), rules::triu(), rules::cross_entropy_with_softmax(),
    // Norms.
    rules::layer_norm(), rules::rms_norm(), rules::group_norm(1), rules::instance_norm, rules::batch_norm,
    rules::synchronised_batch_norm, rules::batch_norm_inference,
    // Changes of shape.
    rules::reshape({}), rules::flatten(), rules::squeeze(), rules::unsqueeze({}), rules::transpose({}),
    rules::expand({}), rules::tile({}), rules::slice({}), rules::pad({}), rules::topk(-1, 1),
    // Joining and splitting.
    rules::concatenate(0), rules::stack(0), rules::split(0, {}), rules::split_evenly(0, 0), rules::unbind(0),
    // Access by index.
    rules::gather(), rules::index_select(), rules::gather_nd, rules::take_along_axis(0), rules::put_along_axis(0),
    rules::scatter, rules::scatter_nd_add, rules::index_put, rules::one_hot(0), rules::embedding(),
    rules::vocabulary_embedding,
    // Attention and experts.
    rules::attention, rules::sequence_parallel_attention, rules::rope(0), rules::expert_dispatch(1, 0),
    rules::expert_combine,
    // Optimisers.
    rules::update(1), rules::sgd, rules::momentum, rules::adam, rules::adamw,
    // Rules for operations that no other rule describes.
    rules::replicated({}), rules::data_parallel({})};
/// Names of element-wise functions whose rule is that of `rules::elementwise`, which assumes no linearity.
inline constexpr const char* elementwise_names[] = {
    "abs",           "ceil",    "clip",    "cos",        "dropout",     "equal",      "exp",
    "gelu",          "greater", "floor",   "less_equal", "logical_and", "logical_or", "logical_not",
    "greater_equal", "less",    "minimum", "not_equal",  "log",         "pow",        "rsqrt",
    "sigmoid",       "silu",    "sin",     "sqrt",       "square",      "swiglu",     "tanh"};

}  // namespace detail

constexpr registry registry::standard(fallback f) {
  registry all(f);
  for (const operation& one : detail::standard_operations) all.insert({one.name, nullptr, nullptr, &one});
  for (const char* name : detail::elementwise_names) all.add(name, &detail::elementwise_rule);
  return all;
}

}  // namespace partita
