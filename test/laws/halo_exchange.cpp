// The laws of halo exchange: it equals the sequential result, its adjoint is exact, it is linear, and views and
// non-blocking calls give the same.
#include <partita/kernel/halo_exchange.hpp>

#include "law.hpp"

namespace {

using namespace law;

struct table_row {
  const char* name;
  place<2> at;
  std::array<std::vector<std::size_t>, 2> sizes;
  halo_widths<2> widths;
  halo_boundaries<2> beyond;

  bool fits(const world& everyone) const { return at.bound() <= everyone.size(); }
};

const std::vector<table_row> table = {
    {"one worker alone, periodic", {{1, 1}, {0}}, {{{3}, {4}}}, {{1, 2}, {2, 1}}, boundary::periodic},
    {"uneven, and beyond the borders nothing", {{2, 1}, {1, 0}}, {{{4, 1}, {3}}}, {{1, 1}, {2, 0}}, boundary::none},
    {"narrower than the halo", {{1, 3}, {0, 1, 2}}, {{{2}, {1, 2, 1}}}, {{0, 3}, {1, 2}}, boundary::zero},
    {"empty blocks and idle workers",
     {{2, 2}, {3, 0, 2, 1}},
     {{{3, 0}, {2, 4}}},
     {{1, 1}, {1, 1}},
     boundary::replicate},
    {"another boundary on every side",
     {{2, 2}, {0, 1, 2, 3}},
     {{{2, 3}, {3, 3}}},
     {{2, 1}, {1, 2}},
     {{boundary::reflect, boundary::periodic}, {boundary::zero, boundary::replicate}}},
    {"a star without corners",
     {{2, 2}, {3, 0, 2, 1}},
     {{{2, 3}, {3, 1}}},
     {{1, 2}, {2, 1}, halo_shape::star},
     boundary::periodic},
    {"frames of empty blocks",
     {{2, 2}, {3, 0, 2, 1}},
     {{{3, 0}, {2, 4}}},
     {{1, 1}, {1, 1}, halo_shape::box, true},
     boundary::replicate},
    {"all workers", {{3, 2}, {5, 4, 3, 2, 1, 0}}, {{{2, 2, 1}, {3, 1}}}, {{1, 1}, {1, 1}}, boundary::periodic},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_halo_exchange)

BOOST_AUTO_TEST_CASE(it_is_what_one_process_computes_and_has_the_adjoint_that_it_names) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const auto p = r.at.on(everyone);
    const auto cuts = decomposition<2>::make([&](std::size_t d) { return cut::at(r.sizes[d]); });
    const auto x = [&](std::size_t worker) {
      const std::size_t place = p.grid().place(worker);
      return place < p.size() ? integers<double, 2>(cuts.shape(p.grid().index(place)), worker)
                              : zero_volume<double, 2>();
    };
    const halo_exchange h(p, r.widths, r.beyond);
    sequentially::halo_exchange h_1(p, r.widths, r.beyond);
    std::vector<xt::xtensor<double, 2>> all;
    for (std::size_t worker = 0; worker < everyone.size(); ++worker) all.push_back(x(worker));
    const auto shapes = h_1(all);
    const auto dy = [&](std::size_t worker) {
      return integers<double, 2>({shapes[worker].shape()[0], shapes[worker].shape()[1]}, 3 * worker);
    };
    expect_all_laws(everyone, h, h_1, p.active(), x, p.active(), dy);
  });
}

BOOST_AUTO_TEST_SUITE_END()
