// The block of a worker of a mesh: axes shard one after the other, major first, each the part that remained.
#include <partita/plan/mesh_block.hpp>

using namespace partita;

namespace {

constexpr mesh m{axis{"a", 2}, axis{"b", 3}};

// workers are numbered in C order over the axes
static_assert(coordinate_of(m, 4, 0) == 1 && coordinate_of(m, 4, 1) == 1);
static_assert(coordinate_of(m, 2, 0) == 0 && coordinate_of(m, 2, 1) == 2);

constexpr interval rows(const sharding& s, std::size_t n, std::size_t worker) { return mesh_block(s, {n}, worker)[0]; }
static_assert(rows(m.layout(""), 7, 5) == interval{0, 7});
static_assert(rows(m.layout("a"), 7, 2) == interval{0, 4} && rows(m.layout("a"), 7, 3) == interval{4, 7});
static_assert(rows(m.layout("b"), 7, 3) == interval{0, 3} && rows(m.layout("b"), 7, 5) == interval{5, 7});

// also where the extent is not divisible, a block of a+b is a part of the block of a: 4 = 2 + 1 + 1, 3 = 1 + 1 + 1
constexpr bool nested() {
  for (std::size_t n = 0; n < 15; ++n) {
    std::size_t covered = 0;
    for (std::size_t worker = 0; worker < 6; ++worker) {
      const interval whole = rows(m.layout("a"), n, worker), part = rows(m.layout("a+b"), n, worker);
      if (part.start < whole.start || part.stop > whole.stop || part.start != covered) return false;
      covered = part.stop;
    }
    if (covered != n) return false;
  }
  return true;
}
static_assert(nested());
static_assert(rows(m.layout("a+b"), 7, 0) == interval{0, 2} && rows(m.layout("a+b"), 7, 5) == interval{6, 7});
static_assert(rows(m.layout("b+a"), 7, 3) == interval{2, 3});  // the other order: 3 = 2 + 1, and worker 3 is (1, 0)

// one interval for each dimension
constexpr auto both = mesh_block(m.layout("b", "a"), {6, 4}, 4);
static_assert(both.size() == 2 && both[0] == interval{2, 4} && both[1] == interval{2, 4});

// a worker, an axis or a shape that does not belong there is refused
template <std::size_t Worker, std::size_t Axis>
concept stands = requires { typename std::integral_constant<std::size_t, coordinate_of(m, Worker, Axis)>; };
static_assert(stands<5, 1> && !stands<6, 1> && !stands<5, 2>);
template <std::size_t Rank>
concept has_block = requires {
  typename std::integral_constant<std::size_t, mesh_block(m.layout("b", "a"), shape_list::filled(Rank, 4), 0).size()>;
};
static_assert(has_block<2> && !has_block<1> && !has_block<3>);

}  // namespace
