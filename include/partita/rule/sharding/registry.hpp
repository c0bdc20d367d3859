// The operations that are known by name, and how a program adds its own in one line.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/rules.hpp>

namespace partita {

/// Names and what they stand for: `registry.add("my_op", "abc,c->ab")`, or a function from shapes and attributes to a rule.
/// A table of bounded size, usable in constant expressions; `registry::standard()` holds the ready-made ones.
class registry {
 public:
  static constexpr std::size_t most_entries = 256;
  /// What is done for a name that is not there.
  enum class fallback : std::uint8_t { refuse, replicate };

  constexpr registry() = default;
  constexpr explicit registry(fallback f) : fallback_(f) {}
  static constexpr registry standard(fallback f = fallback::refuse);

  /// One more operation, or another rule for a known name. The name must outlive the registry, as literals do.
  constexpr registry& add(const char* name, const char* notation) { return put({name, notation, nullptr}); }
  constexpr registry& add(const char* name, operation::maker make) { return put({name, nullptr, make}); }

  constexpr bool knows(const char* name) const { return find(name) < count_; }
  constexpr std::size_t size() const { return count_; }
  constexpr const char* name(std::size_t k) const { return entries_[k].name; }

  /// The rule of a named operation for these shapes. A name that is not there is a shape_error that says how to add it, or the
  /// replicated rule with one result of the first operand's rank.
  constexpr rule operator()(const char* name, const shape_span& shapes, const attributes& with = {}) const {
    const std::size_t k = find(name);
    if (k < count_) return entries_[k].make == nullptr ? rule(entries_[k].notation).named(name) : entries_[k].make(shapes, with).named(name);
    if (fallback_ == fallback::refuse)
      throw shape_error(text("partita::registry: requires an operation with a rule, and there is none for \"") << name
                        << "\"; add one: registry.add(\"" << name << "\", \"ab,b->a\"), or allow registry::fallback::replicate");
    return rules::replicated({shapes.size() == 0 ? 0 : static_cast<std::ptrdiff_t>(shapes[0].size())})(shapes).named(name);
  }

 private:
  struct entry {
    const char* name = "";
    const char* notation = "";
    operation::maker make = nullptr;
  };
  static constexpr bool equal(const char* a, const char* b) {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }
  constexpr std::size_t find(const char* name) const {
    for (std::size_t k = 0; k < count_; ++k)
      if (equal(entries_[k].name, name)) return k;
    return count_;
  }
  constexpr registry& put(const entry& one) {
    const std::size_t k = find(one.name);
    if (k == most_entries)
      throw shape_error(text("partita::registry: requires at most ") << most_entries << " operations; use another registry");
    entries_[k] = one;
    if (k == count_) ++count_;
    return *this;
  }

  entry entries_[most_entries]{};
  std::size_t count_ = 0;
  fallback fallback_ = fallback::refuse;
};

constexpr registry registry::standard(fallback f) {
  using namespace detail;
  registry all(f);
  for (const char* name : {"abs", "ceil", "clip", "cos", "elementwise", "exp", "gelu", "log", "maximum", "minimum", "pow", "rsqrt", "sigmoid",
                           "silu", "sin", "sqrt", "square", "tanh", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
                           "logical_and", "logical_or", "logical_not", "dropout", "swiglu"})
    all.add(name, &elementwise_rule);
  all.add("add", &additive_rule).add("subtract", &additive_rule).add("add_n", &additive_rule).add("negate", &additive_rule);
  all.add("scale", &additive_rule).add("multiply", &multilinear_rule).add("divide", &divide_rule).add("relu", &monotone_rule);
  all.add("cast", &movement_rule).add("assign", &movement_rule).add("where", &where_rule);
  all.add("matmul", &matmul_rule).add("bmm", "bmk,bkn->bmn").add("linear", "...i,oi->...o").add("convolution", &convolution_rule);
  all.add("reduction", &reduction_rule).add("along", &along_rule).add("softmax", &along_rule).add("cumsum", &along_rule);
  all.add("roll", &along_rule).add("triu", &along_rule).add("argsort", &along_rule).add("norm", &norm_rule);
  all.add("cross_entropy_with_softmax", &cross_entropy_rule).add("reshape", &reshape_to_rule).add("flatten", &flatten_rule);
  all.add("squeeze", &squeeze_rule).add("unsqueeze", &unsqueeze_rule).add("transpose", &transpose_rule).add("expand", &expand_rule);
  all.add("slice", &resize_rule).add("pad", &resize_rule).add("topk", &resize_rule).add("concatenate", &concatenate_rule);
  all.add("stack", &stack_rule).add("split", &split_rule).add("gather", &gather_rule).add("index_select", &gather_rule);
  all.add("gather_nd", &gather_nd_rule).add("take_along_axis", &take_along_rule).add("scatter", &scatter_rule).add("one_hot", &one_hot_rule);
  all.add("embedding", &embedding_rule).add("attention", &attention_rule).add("rope", &rope_rule);
  all.add("replicated", &fallback_rule);
  return all;
}

}  // namespace partita
