// Sharding propagation by compiling: the vocabulary, notation, binding, and what the engine answers.
#include <partita/rule/sharding/propagate.hpp>
#include <partita/rule/sharding/reshape_rule.hpp>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 4}};
constexpr rule product = "bmk,kn->bmn";

// --- notation ---

constexpr bool reads_back(const char* notation) { return (text() << "" << rule(notation)) == notation; }
static_assert(reads_back("bmk,kn->bmn"));
static_assert(reads_back("...mk,...kn->...mn"));
static_assert(reads_back("(ab)c->a(bc)"));
static_assert(reads_back("ab->a1"));
static_assert(reads_back("nc__,mc__->nm__"));
static_assert(reads_back("->"));
static_assert((text() << "" << reshape_rule({8, 4}, {2, 16})) == "(ab)c->a(bc)");

// --- the front door ---

constexpr auto s = propagate(m, product, {spec{m.layout("data", "", ""), {8, 128, 64}}, spec{m.layout("", "model"), {64, 256}}});
static_assert(s.results[0] == m.layout("data", "", "model"));
static_assert(s.reshards.empty());

constexpr auto contracted =
    propagate(m, product, {spec{m.layout("data", "", "model"), {8, 128, 64}}, spec{m.layout("model", ""), {64, 256}}});
static_assert(contracted.results[0] == m.layout("data", "", "").partial("model"));
static_assert(contracted.reshards.empty());

}  // namespace
