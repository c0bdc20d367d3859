// The four states of a mesh axis, and the shardings of cotangents, checked at compile time.
#include <partita/plan/plan_reshard.hpp>
#include <partita/rule/sharding/cotangent.hpp>

#include "sharding_cases.hpp"

using namespace sharding_cases;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr shape_list shape{8, 64};

// the cotangent of a sharded value is sharded, of a replicated one replicated, of partial reduced, of reduced partial
constexpr sharding cut = m.layout("data", "model"), whole = m.layout("data", ""),
                   partial = m.layout("data", "").partial("model"), reduced = m.layout("data", "").reduced("model");
static_assert(cotangent(cut) == cut && cotangent(whole) == whole);
static_assert(cotangent(reduced) == partial && cotangent(partial) == reduced);
static_assert(state_of(cut, 1) == axis_state::cut && state_of(whole, 1) == axis_state::replicated);
static_assert(state_of(partial, 1) == axis_state::partial && state_of(reduced, 1) == axis_state::reduced);
static_assert(name_of(state_of(reduced, 0)) == name_of(axis_state::cut));
static_assert(text(name_of(axis_state::cut)) == "cut" && text(name_of(axis_state::replicated)) == "whole" &&
              text(name_of(axis_state::partial)) == "partial" && text(name_of(axis_state::reduced)) == "reduced");

// a cotangent is accumulated as that of the value with its sums only: what else is pending belongs to one whole tensor
static_assert(detail::cotangent_sharding(partial) == reduced && detail::cotangent_sharding(reduced) == partial &&
              detail::cotangent_sharding(cut) == cut);
static_assert(detail::cotangent_sharding(whole.partial("model", pending_reduction::max)) == whole);
static_assert(detail::cotangent_sharding(whole.partial("model", pending_reduction::avg)) == whole);
static_assert(detail::cotangent_sharding(m.layout("", "").partial("data").partial("model", pending_reduction::prod)) ==
              m.layout("", "").reduced("data"));

// every sharding is the cotangent of its cotangent, whatever each axis does
constexpr bool cotangents_of_cotangents() {
  constexpr mesh three{axis{"a", 2}, axis{"b", 2}, axis{"c", 2}};
  for (std::size_t all = 0; all < 125; ++all) {
    sharding s(three, 2);
    for (std::size_t a = 0, rest = all; a < 3; ++a, rest /= 5) {
      if (rest % 5 < 2) s.cuts[rest % 5].push_back(a);
      if (rest % 5 == 2) s = s.partial(a);
      if (rest % 5 == 3) s = s.reduced(a);
    }
    if (!(cotangent(cotangent(s)) == s)) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      const axis_state is = state_of(s, a), of_cotangent = state_of(cotangent(s), a);
      const bool turns = is == axis_state::partial || is == axis_state::reduced;
      if (turns ? of_cotangent == is || of_cotangent == axis_state::replicated : of_cotangent != is) return false;
    }
  }
  return true;
}
static_assert(cotangents_of_cotangents());

// marking a value as reduced needs no communication, and it saves the all-reduce of its cotangent
static_assert(moved_bytes(whole, reduced, shape, 4) == 0 && whole.same_layout(reduced));
static_assert(plan_reshard(m, whole, reduced, shape).empty() && plan_reshard(m, reduced, whole, shape).empty());
static_assert(plan_reshard(m, cotangent(reduced), cotangent(whole), shape)[0].done == reshard_step::what::all_reduce ||
              plan_reshard(m, cotangent(reduced), cotangent(whole), shape).size() > 1);

// microbatches: the gradient of a weight is partial over the axis that cuts the batch, which is how the cotangent of a
// weight that is reduced over it lies. Gradients of two batches are added in parts; nothing moves until the end.
constexpr shape_list xs{16, 64}, ws{64, 32}, ys{16, 32};
constexpr rule product = bind_shapes("bk,kn->bn", {xs, ws});
constexpr sharding w = m.layout("", "model").reduced("data");
constexpr auto forward_pass = propagate(m, product, {spec{m.layout("data", ""), xs}, spec{w, ws}});
static_assert(forward_pass.operands[1] == w && forward_pass.reshards.empty());
constexpr auto backward_pass =
    propagate(m, gradient(product, {.operands = 1, .operand_gradients = 2}),
              {spec{m.layout("data", ""), xs}, spec{cotangent(forward_pass.results[0]), ys}});
static_assert(backward_pass.results[0] == cotangent(forward_pass.operands[1]) && backward_pass.reshards.empty());
constexpr auto accumulated = propagate(m, rules::add, {spec{cotangent(w), ws}, spec{cotangent(w), ws}});
static_assert(accumulated.results[0] == cotangent(w) && accumulated.reshards.empty());
constexpr auto at_the_end = plan_reshard(m, cotangent(w), m.layout("", "model"), ws);
static_assert(at_the_end.size() == 1 && at_the_end[0].done == reshard_step::what::all_reduce);
// a weight that is not reduced has a replicated cotangent: every microbatch would need an all-reduce
static_assert(!(backward_pass.results[0] == cotangent(m.layout("", "model"))));

// if the operation has to shard it, the value is no longer reduced
static_assert(propagate(m, product, {spec{m.layout("", "data"), xs}, spec{m.layout("", "").reduced("data"), ws}})
                  .operands[1] == m.layout("data", ""));

}  // namespace
