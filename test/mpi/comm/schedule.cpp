// The boxes that workers exchange, worked out from cuts and from boxes: both ways agree, both sides agree, nothing is
// lost.
#include <partita/comm/schedule.hpp>

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "random_cases.hpp"

namespace {

using namespace partita;
using runtime_grid = grid<dynamic_extents<3>>;

cut random_cut(std::size_t n, std::size_t p, bool cyclic, std::mt19937& random) {
  if (cyclic && random() % 2 == 0) return cut::block_cyclic(n, p, 1 + random() % 3);
  std::vector<std::size_t> sizes(p, 0);
  for (std::size_t k = 0; k < n; ++k) ++sizes[random() % p];
  return random() % 3 == 0 ? cut::balanced(n, p) : cut::at(sizes);
}

struct trial {
  std::array<std::size_t, 3> extents, turned, from_grid, to_grid;
  axes_order<3> axes;
  decomposition<3> from, to;
  runtime_grid src, dst;

  static trial make(unsigned seed, bool cyclic) {
    std::mt19937 random(seed);
    std::array<std::size_t, 3> extents{}, turned{}, a{}, b{};
    axes_order<3> axes = same_axes<3>();
    std::shuffle(axes.begin(), axes.end(), random);
    for (std::size_t d = 0; d < 3; ++d) extents[d] = 1 + random() % 9, a[d] = 1 + random() % 3, b[d] = 1 + random() % 3;
    for (std::size_t d = 0; d < 3; ++d) turned[d] = extents[axes[d]];
    const auto from =
        decomposition<3>::make([&](std::size_t d) { return random_cut(extents[d], a[d], cyclic, random); });
    const auto to = decomposition<3>::make([&](std::size_t d) { return random_cut(turned[d], b[d], cyclic, random); });
    return {extents,
            turned,
            a,
            b,
            axes,
            from,
            to,
            runtime_grid(dynamic_extents<3>(a)),
            runtime_grid(dynamic_extents<3>(b))};
  }
  std::size_t workers() const { return std::max(src.size(), dst.size()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scheduling_boxes)

BOOST_AUTO_TEST_CASE(cuts_and_boxes_give_the_same_schedule) {
  for (unsigned seed = 0; seed < test::random_cases(100); ++seed) {
    const trial t = trial::make(seed, false);
    for (std::size_t worker = 0; worker < t.workers(); ++worker)
      BOOST_TEST((schedule_repartition(t.src, t.from, t.dst, t.to, t.axes, worker) ==
                  schedule_repartition(t.src, boxes_of(t.from, t.src), t.dst, boxes_of(t.to, t.dst), t.axes, worker)),
                 "seed " << seed << ", worker " << worker);
  }
}

BOOST_AUTO_TEST_CASE(what_one_sends_the_other_receives_box_by_box_and_everything_arrives) {
  for (unsigned seed = 0; seed < test::random_cases(100); ++seed) {
    const trial t = trial::make(seed, true);
    using shapes = std::vector<std::array<std::size_t, 3>>;
    std::map<std::pair<std::size_t, std::size_t>, shapes> sent, received;
    std::size_t elements = 0;
    for (std::size_t worker = 0; worker < t.workers(); ++worker) {
      const auto s = schedule_repartition(t.src, t.from, t.dst, t.to, t.axes, worker);
      for (const auto& b : s.sends) sent[{worker, b.worker}].push_back(b.shape), elements += volume_of(b.shape);
      for (const auto& b : s.receives) received[{b.worker, worker}].push_back(b.shape);
      for (const auto& b : s.kept) elements += volume_of(b.shape);
    }
    BOOST_TEST((sent == received), "seed " << seed);
    BOOST_TEST(elements == volume_of(t.extents), "seed " << seed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
