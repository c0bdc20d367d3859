// all_gather and reduce_scatter: their results on every worker, that they are adjoint to each other, and errors that
// are the same on all workers.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <complex>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/sequentially.hpp>
#include <string>

namespace {

using namespace partita;
using test::refused;

/// Integers that depend on the worker and the index, so that all blocks differ.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> filled(const std::array<std::size_t, Rank>& shape, std::size_t worker) {
  auto x = uninitialised<T, Rank>(shape);
  for (std::size_t k = 0; k < x.size(); ++k)
    x.data()[k] = static_cast<T>(static_cast<short>((worker * 31 + k * 7) % 23)) - T(11);
  return x;
}

/// How the n indices of dimension 0 are distributed over the members of a group.
struct cutting {
  const char* name;
  std::size_t (*size)(std::size_t k);
};
const cutting cuttings[] = {
    {"balanced", [](std::size_t) { return std::size_t{3}; }},
    {"uneven", [](std::size_t k) { return 2 * k + 1; }},
    {"first empty", [](std::size_t k) { return 4 * k; }},
    {"all but the first empty", [](std::size_t k) { return k == 0 ? std::size_t{5} : std::size_t{0}; }},
    {"all empty", [](std::size_t) { return std::size_t{0}; }},
};

template <class A, class B>
bool same(const A& a, const B& b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin())) return false;
  return std::equal(a.data(), a.data() + a.size(), b.data());
}

/// Compares a call and its adjoint with the sequential executor on the blocks of all workers, and checks that they are
/// adjoint.
template <class Ours, class Theirs, std::size_t Rank, class T>
void compare(const world& everyone, Ours&& ours, Theirs&& theirs, const std::vector<xt::xtensor<T, Rank>>& x) {
  const std::size_t me = everyone.id();
  const auto expected = theirs(x);
  const auto y = ours(x[me]);
  BOOST_TEST(same(y, expected[me]));
  std::vector<xt::xtensor<T, Rank>> dy;
  for (std::size_t k = 0; k < x.size(); ++k) {
    std::array<std::size_t, Rank> shape{};
    for (std::size_t d = 0; d < Rank; ++d) shape[d] = expected[k].shape()[d];
    dy.push_back(filled<T, Rank>(shape, k + 17));
  }
  const auto dx = ours.adjoint(dy[me]);
  BOOST_TEST(same(dx, theirs.adjoint(dy)[me]));
  BOOST_TEST(dx.shape() == x[me].shape());
  BOOST_TEST(adjoint_test(everyone, ours, x[me], dy[me]).exact());
  xt::xtensor<T, Rank> into = expected[me];
  into.fill(T(99));
  ours.into(x[me], into);
  BOOST_TEST(same(into, expected[me]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_gather_and_reduce_scatter)

BOOST_AUTO_TEST_CASE(any_cut_is_gathered_and_its_adjoint_gives_that_cut_back) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  all_gather ours(p, dimensions<0>);
  sequentially::all_gather theirs(p, dimensions<0>);
  for (const cutting& c : cuttings) {
    BOOST_TEST_CONTEXT(c.name) {
      std::vector<xt::xtensor<double, 2>> x;
      for (std::size_t k = 0; k < n; ++k) x.push_back(filled<double, 2>({c.size(k), 4}, k));
      compare(everyone, ours, theirs, x);
    }
  }
  BOOST_TEST(ours.plans_made() <= 2 * std::size(cuttings));
}

BOOST_AUTO_TEST_CASE(two_cuts_of_one_tensor_are_remembered_apart) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic>(n));
  const all_gather g(p, dimensions<0>);
  const std::array<std::size_t, 1> even{2}, lopsided{me == 0 ? 2 * n : 0};
  for (int turn = 0; turn < 3; ++turn)
    for (const auto& shape : {even, lopsided}) {
      const auto whole = g(filled<float, 1>(shape, me));
      BOOST_TEST(whole.size() == 2 * n);
      BOOST_TEST(g.adjoint(whole).size() == shape[0]);
    }
  BOOST_TEST(g.plans_made() == (n == 1 ? 1U : 2U));
}

BOOST_AUTO_TEST_CASE(sums_are_cut_balanced_and_their_adjoint_gives_the_whole) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  reduce_scatter ours(p, dimensions<0>);
  sequentially::reduce_scatter theirs(p, dimensions<0>);
  for (std::size_t rows : {0U, 1U, 2U, 5U, 12U, 301U}) {
    std::vector<xt::xtensor<double, 2>> x;
    for (std::size_t k = 0; k < n; ++k) x.push_back(filled<double, 2>({rows, 3}, k));
    compare(everyone, ours, theirs, x);
  }
}

BOOST_AUTO_TEST_CASE(several_dimensions_and_several_groups_at_once, *test::at_least(4)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size() / 2;
  const auto p = everyone.partition(extents<2, dynamic, 1>(n));
  const auto blocks = [&](bool of_one_shape) {
    std::vector<xt::xtensor<int, 3>> x;
    for (std::size_t k = 0; k < everyone.size(); ++k) {
      const std::size_t i = k / n, j = k % n;
      x.push_back(filled<int, 3>(
          of_one_shape ? std::array<std::size_t, 3>{5, 7, 2} : std::array<std::size_t, 3>{i + 1, 3 - j % 3, 2}, k));
    }
    return x;
  };
  const auto check = [&](auto named) {
    all_gather g(p, named);
    sequentially::all_gather sg(p, named);
    compare(everyone, g, sg, blocks(false));
    reduce_scatter r(p, named);
    sequentially::reduce_scatter sr(p, named);
    compare(everyone, r, sr, blocks(true));
  };
  check(dimensions<0>);
  check(dimensions<1>);
  check(dimensions<0, 1>);
  check(dimensions<2>);
  check(dimensions<>);
  check(all_dimensions_but<1>);
}

BOOST_AUTO_TEST_CASE(workers_outside_the_partition_get_a_copy_of_what_they_gave, *test::at_least(3)) {
  const world everyone(test::workers());
  const std::size_t last = everyone.size() - 1;
  const auto p = everyone.partition<1, 2>(workers{last, 0});  // not in ascending order
  all_gather g(p, dimensions<1>);
  sequentially::all_gather sg(p, dimensions<1>);
  reduce_scatter r(p, dimensions<1>);
  sequentially::reduce_scatter sr(p, dimensions<1>);
  std::vector<xt::xtensor<std::complex<float>, 2>> x;
  for (std::size_t k = 0; k <= last; ++k)
    x.push_back(filled<std::complex<float>, 2>({3, k == 0 || k == last ? std::size_t{5} : k}, k));
  compare(everyone, g, sg, x);
  compare(everyone, r, sr, x);
}

BOOST_AUTO_TEST_CASE(each_is_the_adjoint_of_the_other_for_balanced_cuts) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  const all_gather g(p, dimensions<0>);
  const reduce_scatter r(p, dimensions<0>);
  const auto whole = filled<double, 1>({11}, everyone.id());
  const auto part = r(whole);
  BOOST_TEST(same(part, g.adjoint(whole)));
  BOOST_TEST(same(g(part), r.adjoint(part)));
}

BOOST_AUTO_TEST_CASE(views_and_lazy_expressions_are_read_and_views_are_filled) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<1, dynamic>(n));
  const all_gather g(p, dimensions<1>);
  xt::xtensor<float, 2> mine = xt::ones<float>({6, 8}) * static_cast<float>(me + 1);
  const auto inner = xt::view(mine, xt::range(1, 4), xt::range(2, 4));
  xt::xtensor<float, 2> big = xt::zeros<float>(std::array<std::size_t, 2>{5, 2 * n + 2});
  g.into(inner, xt::view(big, xt::range(1, 4), xt::range(std::size_t{1}, 2 * n + 1)));
  for (std::size_t k = 0; k < n; ++k)
    BOOST_TEST((big(2, 2 * k + 1) == static_cast<float>(k + 1) && big(2, 2 * k + 2) == static_cast<float>(k + 1)));
  BOOST_TEST((big(0, 1) == 0.F && big(4, 1) == 0.F && big(2, 0) == 0.F && big(2, 2 * n + 1) == 0.F));
  BOOST_TEST(g(inner * 2.F)(0, 0) == 2.F);
}

BOOST_AUTO_TEST_CASE(blocks_of_some_megabytes_arrive_whole_and_steady_calls_exchange_no_shapes) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const all_gather g(p, dimensions<0>);
  const reduce_scatter r(p, dimensions<0>);
  const auto x = filled<float, 2>({100 + everyone.id(), 2000}, everyone.id());
  for (int turn = 0; turn < 4; ++turn) {
    const auto whole = g(x);
    std::size_t row = 0;
    bool right = true;
    for (std::size_t k = 0; k < n; ++k) {
      const auto other = filled<float, 2>({100 + k, 2000}, k);
      right = right && std::equal(other.data(), other.data() + other.size(), whole.data() + row * 2000);
      row += 100 + k;
    }
    BOOST_TEST(right);
    const auto part = r(whole);
    bool summed = true;
    const std::size_t first = balanced_part(row, n, everyone.id()).start * 2000;
    for (std::size_t k = 0; k < part.size(); ++k)
      summed = summed && part.data()[k] == static_cast<float>(n) * whole.data()[first + k];
    BOOST_TEST(summed);
  }
  BOOST_TEST(g.plans_made() == 1U);
  BOOST_TEST(r.plans_made() == 1U);
}

BOOST_AUTO_TEST_CASE(blocks_that_do_not_fit_are_refused_on_all_workers_and_the_next_call_works, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic, 1>(n));
  const all_gather g(p, dimensions<0>);
  const reduce_scatter r(p, dimensions<0>);
  const std::string ragged = refused<shape_error>([&] { g(filled<float, 2>({2, me == 1 ? 3U : 4U}, me)); });
  BOOST_TEST(ragged.find("partita::all_gather(p, dimensions)(x)") != std::string::npos);
  BOOST_TEST(ragged.find("ragged") != std::string::npos);
  const std::string unlike = refused<shape_error>([&] { r(filled<float, 2>({me == 1 ? 3U : 4U, 2}, me)); });
  BOOST_TEST(unlike.find("partita::reduce_scatter(p, dimensions)(x)") != std::string::npos);
  BOOST_TEST(unlike.find(" on worker 1; give every worker of a sum a block of the same shape") != std::string::npos);
  const std::string uneven = refused<shape_error>([&] { r.adjoint(filled<float, 2>({me == 1 ? 5U : 2U, 2}, me)); });
  BOOST_TEST(uneven.find("requires blocks cut as the result of the forward call was") != std::string::npos);
  xt::xtensor<float, 2> small = xt::zeros<float>({1, 4});
  const std::string target = refused<shape_error>([&] { g.into(filled<float, 2>({2, 4}, me), small); });
  BOOST_TEST(target.find(".into(x, view): requires a view of the shape of the result") != std::string::npos);
  BOOST_TEST(g(filled<float, 2>({2, 4}, me)).shape()[0] == 2 * n);
  BOOST_TEST(r(filled<float, 2>({n, 4}, me)).shape()[0] == 1U);
}

BOOST_AUTO_TEST_CASE(workers_that_make_different_calls_are_told, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  const all_gather g(p, dimensions<0>);
  const reduce_scatter r(p, dimensions<0>);
  const auto x = filled<float, 1>({4}, 0);
  BOOST_CHECK_THROW(everyone.id() == 0 ? g(x) : r(x), disagreement_error);
}

BOOST_AUTO_TEST_SUITE_END()
