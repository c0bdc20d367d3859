// Repartition moves every element to the worker that its global index belongs to, and its adjoint moves it back.
#include <partita/kernel/relabelled.hpp>
#include <partita/kernel/repartition.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "law.hpp"

namespace {

using namespace law;

/// A row of the table, and the sizes of the source's blocks along each dimension.
struct table_row {
  const char* name;
  place<2> from, to;
  std::array<std::vector<std::size_t>, 2> sizes;

  bool fits(const world& everyone) const { return from.bound() <= everyone.size() && to.bound() <= everyone.size(); }
  shape<2> extents() const {
    return {std::accumulate(sizes[0].begin(), sizes[0].end(), std::size_t{0}),
            std::accumulate(sizes[1].begin(), sizes[1].end(), std::size_t{0})};
  }
};

const std::vector<table_row> table = {
    {"one worker alone", {{1, 1}, {0}}, {{1, 1}, {0}}, {{{5}, {7}}}},
    {"scatter from one source", {{1, 1}, {1}}, {{2, 1}, {0, 1}}, {{{5}, {3}}}},
    {"gather to one destination", {{1, 2}, {0, 1}}, {{1, 1}, {1}}, {{{4}, {1, 2}}}},
    {"disjoint", {{1, 2}, {0, 1}}, {{1, 1}, {2}}, {{{2}, {3, 2}}}},
    {"overlapping and uneven", {{3, 1}, {2, 0, 1}}, {{1, 2}, {1, 3}}, {{{1, 4, 2}, {5}}}},
    {"empty blocks on the source", {{2, 2}, {0, 1, 2, 3}}, {{4, 1}, {3, 2, 1, 0}}, {{{0, 6}, {5, 0}}}},
    {"smaller than its partitions", {{2, 1}, {1, 2}}, {{1, 4}, {0, 1, 2, 3}}, {{{1, 1}, {2}}}},
    {"extents of one over four workers", {{1, 1}, {0}}, {{4, 1}, {0, 1, 2, 3}}, {{{1}, {6}}}},
    {"an empty tensor", {{2, 1}, {0, 1}}, {{1, 2}, {1, 0}}, {{{0, 0}, {4}}}},
    {"all workers, idle ones none", {{2, 3}, {5, 0, 4, 1, 3, 2}}, {{3, 2}, {0, 1, 2, 3, 4, 5}}, {{{7, 4}, {3, 1, 6}}}},
    {"idle workers on both sides", {{1, 2}, {1, 5}}, {{2, 1}, {3, 1}}, {{{4}, {6, 1}}}},
};

/// The block of a worker of the source. Elements are functions of their global index.
template <class T>
xt::xtensor<T, 2> given(const table_row& r, const world& everyone, std::size_t worker) {
  const auto p = r.from.on(everyone);
  const std::size_t place = p.grid().place(worker);
  if (place >= p.size()) return zero_volume<T, 2>(worker + 1);
  const auto i = p.grid().index(place);
  const auto extents = r.extents();
  shape<2> start{}, own{};
  for (std::size_t d = 0; d < 2; ++d) {
    start[d] =
        std::accumulate(r.sizes[d].begin(), r.sizes[d].begin() + static_cast<std::ptrdiff_t>(i[d]), std::size_t{0});
    own[d] = r.sizes[d][i[d]];
  }
  auto block = uninitialised<T, 2>(own);
  for (std::size_t a = 0; a < own[0]; ++a)
    for (std::size_t b = 0; b < own[1]; ++b) block(a, b) = element<T>((start[0] + a) * extents[1] + start[1] + b, 0);
  return block;
}

/// A worker's block of the tensor in balanced blocks.
template <class T>
xt::xtensor<T, 2> balanced(const shape<2>& extents, const place<2>& at, const world& everyone, std::size_t worker,
                           std::size_t number) {
  const auto p = at.on(everyone);
  const std::size_t place = p.grid().place(worker);
  if (place >= p.size()) return zero_volume<T, 2>(worker + 1);
  const auto i = p.grid().index(place);
  const interval rows = balanced_part(extents[0], at.extents[0], i[0]),
                 columns = balanced_part(extents[1], at.extents[1], i[1]);
  auto block = uninitialised<T, 2>({rows.size(), columns.size()});
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = 0; b < columns.size(); ++b)
      block(a, b) = element<T>((rows.start + a) * extents[1] + columns.start + b, number);
  return block;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws_of_repartition)

BOOST_AUTO_TEST_CASE(every_element_arrives_where_its_index_belongs) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const repartition move(r.from.on(everyone), r.to.on(everyone));
    const auto y = move(given<double>(r, everyone, everyone.id()));
    if (r.to.on(everyone).active())
      BOOST_TEST(same(y, balanced<double>(r.extents(), r.to, everyone, everyone.id(), 0)));
    else BOOST_TEST(y.size() == 0U);
  });
}

BOOST_AUTO_TEST_CASE(it_is_what_one_process_computes_and_has_the_adjoint_that_it_names) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const auto p = r.from.on(everyone), q = r.to.on(everyone);
    const auto x = [&](std::size_t worker) { return given<double>(r, everyone, worker); };
    const auto dy = [&](std::size_t worker) { return balanced<double>(r.extents(), r.to, everyone, worker, 13); };
    expect_all_laws(everyone, repartition(p, q), sequentially::repartition(p, q), p.active(), x, q.active(), dy);
    expect_all_laws(everyone, repartition(p, q, discard_batch), sequentially::repartition(p, q, discard_batch),
                    p.active(), x, q.active(), dy);
  });
}

BOOST_AUTO_TEST_CASE(its_adjoint_is_its_inverse_for_any_cut) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const auto p = r.from.on(everyone);
    const repartition move(p, r.to.on(everyone));
    const auto x = given<std::complex<float>>(r, everyone, everyone.id());
    const auto back = move.adjoint(move(x));
    if (p.active()) BOOST_TEST(same(back, x));
    else BOOST_TEST(back.size() == 0U);
  });
}

BOOST_AUTO_TEST_CASE(the_plans_of_all_workers_add_up_to_its_cost) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const auto p = r.from.on(everyone), q = r.to.on(everyone);
    const repartition move(p, q);
    const auto plan = move.plan(r.extents());
    std::array<unsigned long, 4> mine{}, all{};  // sent, kept, received, messages
    for (const auto& b : plan.sends) mine[0] += b.where.volume(), ++mine[3];
    for (const auto& b : plan.kept) mine[1] += b.where.volume();
    for (const auto& b : plan.receives) mine[2] += b.where.volume();
    MPI_Allreduce(mine.data(), all.data(), 4, MPI_UNSIGNED_LONG, MPI_SUM, everyone.communicator());
    const auto cost = cost_of(p, q, extents<dynamic, dynamic>(r.extents()));
    BOOST_TEST(all[0] == cost.elements_moved);
    BOOST_TEST(all[2] == cost.elements_moved);
    BOOST_TEST(all[1] == cost.elements_kept);
    BOOST_TEST(all[3] == cost.messages);
  });
}

BOOST_AUTO_TEST_CASE(there_and_back_again_is_the_identity_on_balanced_blocks) {
  const world everyone(test::workers());
  for_each_row(everyone, table, [&](const table_row& r) {
    const auto p = r.from.on(everyone), q = r.to.on(everyone);
    const auto x = balanced<int>(r.extents(), r.from, everyone, everyone.id(), 3);
    const auto back = repartition(q, p)(repartition(p, q)(x));
    if (p.active()) BOOST_TEST(same(back, x));
  });
}

BOOST_AUTO_TEST_CASE(two_moves_are_one) {
  const world everyone(test::workers());
  const auto all = everyone.size();
  const auto rows = everyone.partition(extents(all, 1)), columns = everyone.partition(extents(1, all));
  const auto last = everyone.partition<1, 1>(workers{all - 1});
  const shape<2> tensor{7, 5};
  const auto x = balanced<int>(tensor,
                               {{all, 1},
                                [&] {
                                  std::vector<std::size_t> ids(all);
                                  std::iota(ids.begin(), ids.end(), std::size_t{0});
                                  return ids;
                                }()},
                               everyone, everyone.id(), 1);
  const auto by_way = repartition(columns, last)(repartition(rows, columns)(x)), at_once = repartition(rows, last)(x);
  if (last.active()) BOOST_TEST(same(by_way, at_once));
}

BOOST_AUTO_TEST_CASE(a_cut_that_differs_from_row_to_row_is_a_cut, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<2, 2>();
  const auto q = everyone.partition<4, 1>();
  const std::size_t me = everyone.id(), width[] = {1, 5, 4, 2}, start[] = {0, 1, 0, 4};
  auto x = zero_volume<int, 2>();
  if (p.active()) {
    x = uninitialised<int, 2>({3, width[me]});
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < width[me]; ++b) x(a, b) = static_cast<int>((3 * (me / 2) + a) * 6 + start[me] + b);
  }
  const repartition move(p, q);
  const auto y = move(x);
  if (q.active()) {
    const interval rows = balanced_part(6, 4, me);
    BOOST_TEST(y.shape()[0] == rows.size());
    BOOST_TEST(y.shape()[1] == 6U);
    for (std::size_t k = 0; k < y.size(); ++k) BOOST_TEST(y.data()[k] == static_cast<int>(rows.start * 6 + k));
  }
  const auto back = move.adjoint(y);
  if (p.active()) BOOST_TEST(same(back, x));
}

BOOST_AUTO_TEST_CASE(workers_in_another_order_are_brought_back_to_their_blocks) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  std::vector<std::size_t> ids(n);
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::vector<std::size_t> turned = ids, reversed(ids.rbegin(), ids.rend());
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  const auto rows = [&](const std::vector<std::size_t>& who) {
    return everyone.partition(extents(n, 1), workers(who));
  };
  const auto columns = [&](const std::vector<std::size_t>& who) {
    return everyone.partition(extents(1, n), workers(who));
  };
  const extents tensor(5 * n + 1, std::size_t{3}), flat(std::size_t{3}, 5 * n + 1);
  std::vector<std::size_t> sizes(n, 1), in_result(n, 1);
  sizes.front() = 4 * n + 2, in_result.back() = 4 * n + 2;
  const auto given = source_cuts(cut::at(sizes), cut::balanced(3, 1));
  const auto wanted = result_cuts(cut::at(sizes), cut::balanced(3, 1));
  const auto behind = result_cuts(cut::at(in_result), cut::balanced(3, 1));
  for (const auto& order : {reversed, turned, ids}) {
    BOOST_TEST((relabelled(rows(ids), rows(order), tensor) == rows(ids)));
    BOOST_TEST((relabelled(rows(order), rows(ids), tensor) == rows(order)));
    // the rows of the flat tensor are the columns of its transpose
    BOOST_TEST((relabelled(columns(ids), rows(order), flat, permute<1, 0>) == rows(ids)));
    BOOST_TEST((relabelled(rows(ids), rows(order), tensor, given, wanted) == rows(ids)));
    // the first worker has nearly all and shall be the last
    const auto last_first = relabelled(rows(ids), rows(order), tensor, given, behind);
    BOOST_TEST(last_first.workers()[n - 1] == 0U);
    const movement_cost cost = cost_of(rows(ids), last_first, tensor, given, behind);
    BOOST_TEST(cost.elements_kept + cost.elements_moved == (5 * n + 1) * 3);
    BOOST_TEST(cost.elements_kept == (3 * n + 3) * 3);
    // and this many elements are sent
    unsigned long mine = repartition(rows(ids), last_first, given, behind).plan(tensor).elements_sent(), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, everyone.communicator());
    BOOST_TEST(all == cost.elements_moved);
  }
  BOOST_TEST(cost_of(rows(ids), rows(reversed), tensor).elements_kept == (n % 2 == 0 ? 0U : n == 1 ? 18U : 15U));
  BOOST_TEST(cost_of(rows(ids), columns(ids), tensor, permute<1, 0>).elements_moved == 0U);
  const auto message = [](auto call) {
    try {
      call();
    } catch (const shape_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string of_relabelled = message([&] { relabelled(rows(ids), rows(ids), flat, given); }),
                    of_cost = message([&] { cost_of(rows(ids), rows(ids), flat, wanted); });
  BOOST_TEST(
      of_relabelled.find("partita::relabelled(p_x, p_y, extents): requires cuts that add up to the extents of the "
                         "tensor; x has extents [3, ") != std::string::npos,
      of_relabelled);
  BOOST_TEST(
      of_cost.find("partita::cost_of(p_x, p_y, extents): requires cuts that add up to the extents of the tensor; "
                   "the result has extents [3, ") != std::string::npos,
      of_cost);
}

BOOST_AUTO_TEST_SUITE_END()
