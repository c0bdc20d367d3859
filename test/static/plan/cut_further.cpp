// The dimension along which a layout is sharded further: the one that results in the smallest block.
#include <partita/sharded/cut_further.hpp>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 4}, axis{"model", 2}, axis{"pod", 3}};

// the first of dimensions with equal results, or the other one if its parts are more even
static_assert(cut_further(m.layout("", ""), {8, 8}, "data") == m.layout("data", ""));
static_assert(cut_further(m.layout("", ""), {6, 8}, "data") == m.layout("", "data"));
static_assert(cut_further(m.layout("", ""), {1, 3}, "data") == m.layout("", "data"));
// within the block that is there
static_assert(cut_further(m.layout("", "model"), {2, 8}, "data") == m.layout("", "model+data"));
static_assert(cut_further(m.layout("model", ""), {8, 4}, "data") == m.layout("model+data", ""));
// several axes, one after the other
static_assert(cut_further(m.layout("", "model"), {9, 8}, "pod+data") == m.layout("pod", "model+data"));
static_assert(cut_further(m.layout("", ""), {8, 8}, "") == m.layout("", ""));
// unchanged if it cannot be sharded further: an axis in use, nothing to shard, no dimension
static_assert(cut_further(m.layout("data", ""), {8, 8}, "data") == m.layout("data", ""));
static_assert(cut_further(m.layout("", "model"), {1, 2}, "data") == m.layout("", "model"));
static_assert(cut_further(m.layout("", ""), {0, 8}, "data") == m.layout("", "data"));
static_assert(cut_further(m.layout(), {}, "data") == m.layout());
// the layout of a finished value
static_assert(cut_further(m.layout("").partial("model"), {8}, "data") == m.layout("data"));
static_assert(cut_further(m.layout("").reduced("data"), {8}, "data") == m.layout("data"));

}  // namespace
