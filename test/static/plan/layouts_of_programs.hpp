// Follows a program of operations on sharded tensors at compile time: the layouts of its result and its gradients, and
// the forward and backward movements. It decides as typed tensors do (sharded/detail/apply.hpp, run_backward.hpp).
#pragma once

#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/cotangent.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <partita/rule/sharding/tensors_of_rule.hpp>

namespace layouts_of_programs {

using namespace partita;

constexpr mesh m{axis{"d", 2}, axis{"m", 2}};

constexpr bool same(const char* a, std::size_t n, const char* b) {
  std::size_t k = 0;
  while (k < n && b[k] != '\0' && a[k] == b[k]) ++k;
  return k == n && b[k] == '\0';
}

/// Words between spaces.
struct words {
  const char* c;
  const char* word = nullptr;
  std::size_t size = 0;

  constexpr bool next() {
    while (*c == ' ') ++c;
    word = c;
    while (*c != ' ' && *c != '\0') ++c;
    size = static_cast<std::size_t>(c - word);
    return size > 0;
  }
  constexpr bool is(const char* other) const { return same(word, size, other); }
};

/// "d,m" "d+m," "," "d,~m" (partial: a sum over m is pending) ",^d" (reduced over d).
constexpr sharding layout_of(const char* c, std::size_t n) {
  sharding s(m, 1);
  for (std::size_t k = 0; k < n; ++k) {
    if (c[k] == ',') ++s.dimensions;
    else if (c[k] == '~') s = s.partial(m.number(c + ++k, 1));
    else if (c[k] == '^') s = s.reduced(m.number(c + ++k, 1));
    else if (c[k] != '+') s.cuts[s.dimensions - std::size_t{1}].push_back(m.number(c + k, 1));
  }
  return s;
}
template <std::size_t N>
constexpr void write(basic_text<N>& out, const sharding& s) {
  for (std::size_t d = 0; d < s.rank(); ++d) {
    if (d > 0) out << ',';
    for (std::size_t k = 0; k < s.cuts[d].size(); ++k) out << (k > 0 ? "+" : "") << m.axes[s.cuts[d][k]].name();
  }
  for (std::size_t a = 0; a < m.rank(); ++a)
    if (s.pending[a] != pending_reduction::none) out << '~' << m.axes[a].name();
  for (std::size_t a = 0; a < m.rank(); ++a)
    if ((s.reduced_over >> a & 1U) != 0) out << '^' << m.axes[a].name();
}

constexpr sharding bare(sharding s) {
  s.open = s.must_replicate = s.reduced_over = 0;
  s.priority = 0;
  return s;
}

/// The backward form of an operation.
enum class adjoint { product, map, pass, times_other, reads_operand };

struct tensor {
  sharding layout{};
  shape_list shape{};
  sharding cotangent{};
  bool reached = false;
};
struct step {
  rule how{};
  adjoint back = adjoint::pass;
  std::size_t operands[2]{}, count = 0;
  sharding needs[2]{};
};

/// All extents are 8.
class program {
 public:
  basic_text<400> moves{};

  constexpr program(const char* operands, const char* steps) {
    for (words w{operands}; w.next(); ++inputs_) {
      tensors_[size_].layout = layout_of(w.word, w.size);
      tensors_[size_].shape = shape_list::filled(tensors_[size_].layout.rank(), 8);
      ++size_;
    }
    for (words w{steps}; w.next();) apply(w);
    go_back();
  }
  constexpr const tensor& result() const { return tensors_[size_ - 1]; }
  constexpr basic_text<200> gradients() const {
    basic_text<200> all;
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (i > 0) all << ' ';
      write(all, tensors_[i].cotangent);
    }
    return all;
  }

 private:
  constexpr void say(const char* who, std::size_t number, const sharding& from, const sharding& to,
                     const shape_list& shape) {
    if (bare(from).same_layout(bare(to))) return;
    bool said = false;
    for (const reshard_step& one : plan_reshard(m, bare(from), bare(to), shape, mesh_links{}, 4)) {
      if (one.done == reshard_step::what::slice || one.done == reshard_step::what::make_partial) continue;
      if (!said) moves << (moves.empty() ? "" : " ") << who << number << ':';
      else moves << '+';
      said = true;
      moves << name_of(one.done);
      const char* before = "(";
      for (std::size_t a = 0; a < m.rank(); ++a)
        if (a == one.axis || (one.reduced >> a & 1U) != 0) moves << before << m.axes[a].name(), before = "+";
      if (before[0] == '+') moves << ')';
    }
  }
  constexpr rule rule_named(const words& w, const shape_span& x, adjoint& back) const {
    back = adjoint::map;
    if (w.is("matmul")) return back = adjoint::product, rules::matmul(x);
    for (std::size_t k = 0; k + 1 < w.size; ++k)
      if (w.word[k] == '-' && w.word[k + 1] == '>') {
        char notation[32]{};
        for (std::size_t j = 0; j < w.size; ++j) notation[j] = w.word[j];
        const rule r(notation);
        if (r.operand_count == 2) back = adjoint::product;
        return r;
      }
    if (w.is("sum0")) return rules::reduction(pending_reduction::sum, {0}, false)(x);
    if (w.is("sum1")) return rules::reduction(pending_reduction::sum, {1}, false)(x);
    if (w.is("sum")) return rules::reduction(pending_reduction::sum, {}, false)(x);
    if (w.is("transpose")) return rules::transpose({1, 0})(x);
    back = adjoint::pass;
    if (w.is("add")) return rules::add(x);
    if (w.is("scale")) return rules::add(x);
    if (w.is("bias")) {
      operation o = rules::add;
      o.with.axes = {1};
      return o(x);
    }
    if (w.is("multiply")) return back = adjoint::times_other, rules::multiply(x);
    back = adjoint::reads_operand;
    if (w.is("relu")) return rules::relu(x);
    if (w.is("gelu")) return rules::elementwise(x);
    throw error("no such operation");
  }
  constexpr void apply(words& w) {
    const words name = w;
    step& s = steps_[step_count_++];
    s.count = name.is("matmul") || name.is("add") || name.is("bias") || name.is("multiply") ? 2 : 1;
    for (std::size_t k = 0; k < name.size; ++k)
      if (name.word[k] == ',') s.count = 2;
    spec specs[2];
    shape_list shapes[2];
    for (std::size_t i = 0; i < s.count && w.next(); ++i) {
      s.operands[i] = static_cast<std::size_t>(*w.word - '0');
      const tensor& x = tensors_[s.operands[i]];
      shapes[i] = x.shape;
      specs[i] = spec(x.layout, shape_list::filled(x.shape.size(), dynamic));  // as for typed tensors
    }
    const propagation p = propagate(m, rule_named(name, spec_list(specs, s.count), s.back), spec_list(specs, s.count));
    s.how = bind_shapes(rule_named(name, shape_span(shapes, s.count), s.back), shape_span(shapes, s.count));
    for (std::size_t i = 0; i < s.count; ++i) {
      s.needs[i] = p.operands[i];
      say("", s.operands[i], tensors_[s.operands[i]].layout, s.needs[i], shapes[i]);
    }
    tensors_[size_].layout = bare(p.results[0]);
    tensors_[size_].shape = shape_list::filled(p.results[0].rank(), 8);
    ++size_;
  }
  /// The result of an operation in the backward pass.
  constexpr tensor computed(std::size_t number, const rule& how, const tensor& a, const tensor* b) {
    const spec specs[2]{spec(a.layout, a.shape), b != nullptr ? spec(b->layout, b->shape) : spec()};
    const spec_list given(specs, b != nullptr ? 2 : 1);
    const propagation p = propagate(m, how, given);
    say("d", number, a.layout, p.operands[0], a.shape);
    if (b != nullptr) say("'", number, b->layout, p.operands[1], b->shape);
    return {bare(p.results[0]), shape_list::filled(p.results[0].rank(), 8)};
  }
  constexpr tensor kept(const step& s, std::size_t i) const { return {s.needs[i], tensors_[s.operands[i]].shape}; }
  constexpr void go_back() {
    tensors_[size_ - 1].cotangent = cotangent(tensors_[size_ - 1].layout);
    tensors_[size_ - 1].reached = true;
    for (std::size_t k = step_count_; k-- > 0;) {
      const step& s = steps_[k];
      const std::size_t y = inputs_ + k;
      if (!tensors_[y].reached) continue;
      const tensor dy{tensors_[y].cotangent, tensors_[y].shape};
      for (std::size_t i = 0; i < s.count; ++i) {
        const std::size_t number = s.operands[i];
        tensor dx = dy;
        if (s.back == adjoint::product) {
          const tensor other = kept(s, 1 - i);
          dx = computed(number, detail::select_tensors(s.how, {2, 1 - i}, i, "back"), dy, &other);
        } else if (s.back == adjoint::map) {
          dx = computed(number, detail::select_tensors(s.how, {1}, 0, "back"), dy, nullptr);
        } else if (s.back != adjoint::pass) {
          const tensor other = kept(s, s.back == adjoint::times_other ? 1 - i : i);
          const shape_list shapes[]{dy.shape, other.shape};
          const shape_span both(shapes, 2);
          const rule how = s.back == adjoint::times_other ? rules::multiply(both) : rules::divide(both);
          dx = computed(number, bind_shapes(how, both), dy, &other);
        }
        if (s.back == adjoint::pass && s.how.rank(i) != s.how.rank(s.count))
          dx = computed(number, detail::select_tensors(s.how, {s.count}, i, "sum"), dx, nullptr);
        tensor& x = tensors_[number];
        x.cotangent = cotangent(x.layout);
        x.reached = true;
        say("d", number, dx.layout, x.cotangent, x.shape);
      }
    }
  }

  tensor tensors_[12]{};
  step steps_[8]{};
  std::size_t size_ = 0, inputs_ = 0, step_count_ = 0;
};

/// Describes a program: "result | gradients | moves". A move is named by the number of its tensor: 2 in the forward
/// pass, d2 for its cotangent, '2 for a value that its adjoint reads.
constexpr basic_text<640> followed(const char* operands, const char* steps) {
  const program p(operands, steps);
  basic_text<640> all;
  write(all, p.result().layout);
  return all << " | " << p.gradients() << " | " << p.moves;
}

}  // namespace layouts_of_programs
