// All-to-all obeys every law for any blocks of the source, and its adjoint is the all-to-all in the opposite direction.
#include <partita/kernel/all_to_all.hpp>

#include "law.hpp"

namespace {

using namespace law;

const std::vector<row<2, 2>> table = {
    {"one worker alone", {{1, 1}, {0}}, {{1, 1}, {0}}},
    {"rows to columns", {{2, 1}, {0, 1}}, {{1, 2}, {0, 1}}},
    {"workers in another order", {{1, 3}, {0, 1, 2}}, {{3, 1}, {2, 0, 1}}},
    {"half of a cut", {{4, 1}, {0, 1, 2, 3}}, {{2, 2}, {0, 1, 2, 3}}},
    {"not all workers", {{1, 2}, {2, 1}}, {{2, 1}, {1, 2}}},
};

/// A worker's block of a 7 x 5 tensor in balanced blocks.
xt::xtensor<double, 2> block(const world& everyone, const place<2>& at, std::size_t worker, std::size_t number) {
  const auto p = at.on(everyone);
  const std::size_t place = p.grid().place(worker);
  if (place >= p.size()) return integers<double, 2>({worker + 1, 2}, worker);
  return integers<double, 2>(decomposition<2>::balanced({7, 5}, at.extents).shape(p.grid().index(place)),
                             worker + number);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_all_to_all)

// [law]
BOOST_AUTO_TEST_CASE(it_is_what_one_process_computes_and_has_the_adjoint_that_it_names) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const row<2, 2>& r) {
    const auto p = r.from.on(everyone), q = r.to.on(everyone);
    const auto x = [&](std::size_t worker) { return block(everyone, r.from, worker, 0); };
    const auto dy = [&](std::size_t worker) { return block(everyone, r.to, worker, 13); };
    const all_to_all there(p, q), back(q, p);
    expect_all_laws(everyone, there, sequentially::all_to_all(p, q), p.active(), x, q.active(), dy);
    expect_adjoint_of_adjoint(there, back, x(everyone.id()), dy(everyone.id()));
  });
}
// [/law]

BOOST_AUTO_TEST_CASE(an_error_of_one_worker_is_thrown_by_all) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const all_to_all t(p, everyone.partition(extents<1, dynamic>(everyone.size())));
  const auto x = integers<double, 2>({1, everyone.size()}, everyone.id());
  const text error_message(everyone.id() == 0 ? "a reason" : "");
  BOOST_CHECK_THROW(detail::kernel_access::call(t, x, error_message), shape_error);
  BOOST_CHECK_THROW(detail::kernel_access::throw_together(t, error_message), shape_error);
  BOOST_TEST(same(detail::kernel_access::adjoint(t, detail::kernel_access::call(t, x, text()), text()), x));
}

BOOST_AUTO_TEST_SUITE_END()
