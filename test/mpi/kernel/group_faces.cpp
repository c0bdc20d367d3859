// Wrong calls of broadcasts and reductions that are detected at run time: all workers throw the same error, and the
// next call works.
#include "mpi_test.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/sequential_reduce.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;

bool says(const std::string& sentence, const char* part) { return sentence.find(part) != std::string::npos; }

struct kernels {
  world everyone{test::workers()};
  std::size_t P = everyone.size(), me = everyone.id();
  partition<extents<dynamic>> row = everyone.partition(extents(P));
  partition<extents<1>> root = everyone.partition<1>(workers{P - 1});
  broadcast<extents<1>, extents<dynamic>> spread{root, row};
  sum_reduce<extents<dynamic>, extents<1>> collect{row, root};
  all_sum_reduce<extents<dynamic>> total{row, dimensions<0>};
  all_reduce<extents<dynamic>, maximum_t> most{row, dimensions<0>, maximum};
};

/// Whether two blocks have equal shapes and equal elements.
template <class A, class B>
bool same(const A& a, const B& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()) &&
         std::equal(a.begin(), a.end(), b.begin());
}

xt::xtensor<double, 2> numbers(std::size_t worker) {
  xt::xtensor<double, 2> x(std::array<std::size_t, 2>{4, 6});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k + worker);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faces_of_group_kernels)

BOOST_AUTO_TEST_CASE(x_and_a_view_that_overlap_are_refused_on_all_workers) {
  const kernels k;
  const char* const sentence = "requires a view that has no memory in common with x";
  auto x = numbers(k.me), other = x;
  // only on the last worker the two overlap
  const bool last = k.me + 1 == k.P;
  const auto refuses = [&](const auto& call) { return says(refused<shape_error>(call), sentence); };
  BOOST_TEST(refuses([&] { k.spread.into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.collect.into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.collect.adjoint_into(x, last ? x : other); }));
  BOOST_TEST(refuses([&] { k.spread.adjoint_into(x, last ? x : other); }));
  xt::xtensor<double, 2> wide = xt::zeros<double>({5, 6});
  const auto upper = xt::view(wide, xt::range(0, 4), xt::all());
  auto lower = xt::view(wide, xt::range(1, 5), xt::all());
  BOOST_TEST(refuses([&] { k.total.into(upper, lower); }));
  BOOST_TEST(refuses([&] { k.most.into(upper, lower); }));
  auto right = xt::view(x, xt::all(), xt::range(3, 6));
  const auto left = xt::view(other, xt::all(), xt::range(0, 3));
  k.total.into(left, right);  // they are in different tensors
  BOOST_TEST(same(right, k.total(left)));
}

BOOST_AUTO_TEST_CASE(a_sum_that_all_get_may_take_the_place_of_what_was_given) {
  const kernels k;
  const auto x = numbers(k.me);
  auto in_place = x, largest = x;
  k.total.into(in_place, in_place);
  k.most.into(largest, largest);
  BOOST_TEST(same(in_place, k.total(x)));
  BOOST_TEST(same(largest, numbers(k.P - 1)));
}

BOOST_AUTO_TEST_CASE(a_result_is_given_once) {
  const kernels k;
  const auto x = numbers(k.me);
  const char* const sentence = "requires a result that is still to be given";
  auto later = k.total.start(x);
  const auto y = later.finish();
  BOOST_TEST(says(refused([&] { later.finish(); }), sentence));
  auto first = k.spread.start(x);
  auto moved = std::move(first);
  BOOST_TEST(says(refused([&] { first.finish(); }), sentence));
  BOOST_TEST(same(moved.finish(), numbers(k.P - 1)));
  BOOST_TEST(same(k.total(x), y));
}

BOOST_AUTO_TEST_CASE(a_kernel_that_was_moved_from_is_refused) {
  const kernels k;
  broadcast gone(k.root, k.row);
  const broadcast here(std::move(gone));
  const auto x = numbers(k.me);
  BOOST_TEST(says(refused([&] { gone(x); }), "partita::broadcast: requires a kernel that has not been moved from"));
  BOOST_TEST(says(refused([&] { gone.start(x); }), "partita::broadcast: requires a kernel"));
  BOOST_TEST(gone.memory() == nullptr);
  BOOST_TEST(same(here(x), numbers(k.P - 1)));
}

BOOST_AUTO_TEST_CASE(spreading_can_be_begun_and_ended_later) {
  const kernels k;
  for (const std::size_t n : {0U, 5U, 3000U, 90001U}) {
    const std::array<std::size_t, 1> shape{n};
    xt::xtensor<double, 1> x = xt::ones<double>(shape) * static_cast<double>(k.me + 1);
    const xt::xtensor<double, 1> expected = xt::ones<double>(shape) * static_cast<double>(k.P);
    auto later = k.spread.start(x);
    auto sum_later = k.total.start(x);
    auto back = k.collect.start_adjoint(2.0 * x);  // the expression is evaluated, and the value kept until finish()
    BOOST_TEST(same(later.finish(), expected));
    BOOST_TEST(same(back.finish(), 2.0 * expected));
    const auto total = sum_later.finish();
    BOOST_TEST(same(total, k.total(x)));
    xt::xtensor<double, 2> pairs = xt::zeros<double>(std::array<std::size_t, 2>{n, 2});
    xt::view(pairs, xt::all(), 1) = x;
    auto strided = k.spread.start(xt::view(pairs, xt::all(), 1));
    BOOST_TEST(same(strided.finish(), expected));
    { const auto forgotten = k.spread.start(x); }
    k.collect.adjoint_into(x, xt::view(pairs, xt::all(), 0));
    BOOST_TEST(same(xt::view(pairs, xt::all(), 0), expected));
    const broadcast looked_at(k.root, k.row, shared_view);
    auto view_later = looked_at.start(x);
    BOOST_TEST(same(view_later.finish(), expected));
  }
}

/// A worker on neither partition keeps its own block, whose shared copies do not touch each other.
BOOST_AUTO_TEST_CASE(a_worker_on_neither_side_keeps_its_block_in_a_shared_view, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t others = everyone.size() - 1;
  const broadcast b(everyone.partition<1>(workers{0}), everyone.partition(extents(others)), shared_view);
  for (const std::size_t n : {1U, 700U, 40000U, 300000U}) {
    const auto block = [&](double first) {
      return xt::xtensor<double, 1>(first + xt::arange<double>(static_cast<double>(n)));
    };
    const double own = everyone.id() == others ? 1000 : 0;
    const auto first = b(block(own)), second = b(block(own + 0.5)), third = b(block(own + 0.25));
    BOOST_TEST(same(first, block(own)));
    BOOST_TEST(same(second, block(own + 0.5)));
    BOOST_TEST(same(third, block(own + 0.25)));
  }
}

BOOST_AUTO_TEST_CASE(sentences_show_how_calls_differ, *test::at_least(2)) {
  const kernels k;
  const bool last = k.me + 1 == k.P;
  const auto types = refused<disagreement_error>([&] {
    if (last) k.total(xt::xtensor<float, 1>{1});
    else k.total(xt::xtensor<int, 1>{1});
  });
  BOOST_TEST(says(types, "elements of type int (4 bytes)"));
  BOOST_TEST(says(types, "elements of type float (4 bytes)"));
  std::vector<std::size_t> ids(k.P);
  for (std::size_t i = 0; i < k.P; ++i) ids[i] = last ? k.P - 1 - i : i;
  const auto p = k.everyone.partition(extents(k.P), workers(ids));
  const auto places = refused<disagreement_error>([&] { all_sum_reduce(p, dimensions<0>)(xt::xtensor<float, 1>{1}); });
  BOOST_TEST(says(places, "on workers 0 to "));
  BOOST_TEST((k.P == 1 || says(places, k.P == 2 ? "on workers 1, 0" : ", 1, 0")));
  const auto ways = refused<disagreement_error>([&] {
    const xt::xtensor<float, 1> x{1};
    if (last) all_reduce(k.row, dimensions<0>, maximum)(x);
    else all_reduce(k.row, dimensions<0>, minimum)(x);
  });
  BOOST_TEST(says(ways, "maximum"));
  BOOST_TEST(says(ways, "minimum"));
}

/// The mean over all workers but the last, and its adjoint, which gives each of them its share; so does one process.
BOOST_AUTO_TEST_CASE(a_mean_is_divided_by_the_number_of_its_blocks_and_so_is_its_adjoint) {
  const kernels k;
  const std::size_t n = k.P > 1 ? k.P - 1 : 1;
  const auto some = k.everyone.partition(extents(n));
  const auto first = k.everyone.partition<1>();
  const reduce to_first(some, first, mean);
  const all_reduce to_all(some, dimensions<0>, mean);
  const sequentially::reduce by_one(some, first, mean);
  const auto block = [&](std::size_t worker) {  // multiples of n
    return xt::xtensor<double, 2>(static_cast<double>(n) * numbers(2 * worker));
  };
  std::vector<xt::xtensor<double, 2>> all, cotangents;
  for (std::size_t worker = 0; worker < k.P; ++worker) {
    all.push_back(block(worker));
    cotangents.push_back(worker == 0 ? block(3) : xt::xtensor<double, 2>(zero_volume<double, 2>(4)));
  }
  const xt::xtensor<double, 2> x = block(k.me), wanted = static_cast<double>(n) * numbers(n - 1);
  const xt::xtensor<double, 2> y = to_first(x), y_of_one = by_one(all)[k.me];
  const xt::xtensor<double, 2> dx = to_first.adjoint(cotangents[k.me]), dx_of_one = by_one.adjoint(cotangents)[k.me];
  BOOST_TEST((same(y, y_of_one) && same(dx, dx_of_one)));
  if (k.me == 0) BOOST_TEST(same(y, wanted));
  if (k.me < n) {
    BOOST_TEST(same(dx, numbers(6)));
    BOOST_TEST(same(to_all(x), wanted));
    BOOST_TEST(same(to_all.adjoint(x), wanted));
  } else {
    to_all(x);
    to_all.adjoint(x);
  }
}

/// The result in a view with gaps: of a mean, and of its adjoint, whose root takes a share of its own block.
BOOST_AUTO_TEST_CASE(a_strided_view_gets_a_mean_and_each_share_of_its_adjoint) {
  const kernels k;
  const auto P = static_cast<double>(k.P);
  const auto expect = [](const auto& fill, const xt::xtensor<double, 2>& wanted, std::size_t root) {
    xt::xtensor<double, 3> pairs(std::array<std::size_t, 3>{wanted.shape()[0], wanted.shape()[1], 2}, -1.0);
    fill(xt::view(pairs, xt::all(), xt::all(), 1));
    BOOST_TEST(same(xt::view(pairs, xt::all(), xt::all(), 1), wanted), "the root is worker " << root);
    for (std::size_t i = 0; i < pairs.size(); i += 2) BOOST_TEST(pairs.data()[i] == -1.0);
  };
  const xt::xtensor<double, 2> x = P * numbers(k.me), dy = P * numbers(3), none = zero_volume<double, 2>(4);
  const xt::xtensor<double, 2> wanted = P * numbers(0) + 0.5 * P * (P - 1);  // the sum of numbers(0), numbers(1), …
  for (std::size_t root = 0; root < k.P; ++root) {
    const reduce average(k.row, k.everyone.partition<1>(workers{root}), mean);
    expect([&](auto&& view) { average.into(x, view); }, k.me == root ? wanted : none, root);
    expect([&](auto&& view) { average.adjoint_into(k.me == root ? dy : none, view); }, numbers(3), root);
  }
  const all_reduce to_all(k.row, dimensions<0>, mean);
  expect([&](auto&& view) { to_all.into(x, view); }, wanted, k.P);
  expect([&](auto&& view) { to_all.adjoint_into(x, view); }, wanted, k.P);
}

/// What messages call some workers: "3 to 5" if they are consecutive, else each of them. Different lists have different
/// names, also those that are too long to be written out.
BOOST_AUTO_TEST_CASE(workers_are_named_as_a_range_or_one_by_one) {
  using ids = std::vector<std::size_t>;
  const auto named = [](const ids& all) { return std::string(detail::list_workers(all).c_str()); };
  BOOST_TEST(named({7}) == "7");
  BOOST_TEST(named({3, 4}) == "3 to 4");
  BOOST_TEST(named({3, 4, 5}) == "3 to 5");
  BOOST_TEST(named({4, 3}) == "4, 3");
  BOOST_TEST(named({3, 4, 6}) == "3, 4, 6");
  BOOST_TEST(named({0, 2, 4, 6}) == "0, 2, 4, 6");
  ids even(24), more(25);
  for (std::size_t k = 0; k < more.size(); ++k) more[k] = 2 * k;
  std::copy_n(more.begin(), even.size(), even.begin());
  BOOST_TEST((named(even).find("44, 46") != std::string::npos && named(even).find("...") == std::string::npos));
  BOOST_TEST(named(more).find("44, 46, ... (list number ") != std::string::npos);
  ids other = more;
  ++other.back();
  BOOST_TEST(named(more) != named(other));
}

BOOST_AUTO_TEST_CASE(groups_of_workers_beyond_the_world_are_refused) {
  const kernels k;
  const text said = text("requires workers of a world of ") << k.P << ", got worker " << k.P + 1 << ";";
  const auto made = [&](std::size_t last) {
    return refused<partition_error>([&] { all_reduce(k.everyone, worker_groups({{0}, {last}}), maximum); });
  };
  BOOST_TEST(says(made(k.P + 1), said.c_str()));
  BOOST_TEST(!made(k.P).empty());
  if (k.P > 1) BOOST_TEST(made(k.P - 1).empty());
}

BOOST_AUTO_TEST_CASE(dimensions_of_run_time_must_be_there_once) {
  const kernels k;
  const char* const sentence = "requires dimensions below rank(p), each once";
  BOOST_TEST(says(refused<partition_error>([&] { all_reduce(k.row, dimension_list{1}, sum); }), sentence));
  BOOST_TEST(says(refused<partition_error>([&] { all_reduce(k.row, dimension_list{0, 0}, sum); }), sentence));
}

/// A fold of the blocks of all workers, element by element.
template <class Fold>
xt::xtensor<double, 2> folded(std::size_t workers, Fold fold) {
  auto all = numbers(0);
  for (std::size_t k = 1; k < workers; ++k)
    for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = fold(all.data()[i], numbers(k).data()[i]);
  return all;
}

BOOST_AUTO_TEST_CASE(every_reduction_is_a_loop_over_the_blocks_for_all_and_for_one) {
  const kernels k;
  const auto expect = [&](const char* what, auto reduction, auto fold) {
    const auto wanted = folded(k.P, fold);
    const auto x = numbers(k.me);
    const all_reduce named(k.row, dimensions<0>, reduction), listed(k.row, dimension_list{0}, reduction),
        none(k.row, dimension_list{}, reduction), but(k.row, all_dimensions_but<>, reduction);
    const reduce to_one(k.row, k.root, reduction);
    BOOST_TEST((same(named(x), wanted) && same(listed(x), wanted) && same(but(x), wanted)), what);
    BOOST_TEST(same(none(x), x), what);
    const auto one = to_one(x);
    BOOST_TEST((k.root.active() ? same(one, wanted) : one.shape()[0] == 4U && one.size() == 0), what);
    BOOST_TEST(same(reduce(k.root, k.root, reduction)(x), x), what);  // the others are in no group
  };
  expect("sum", reductions::sum, std::plus<>());
  expect("product", reductions::product, std::multiplies<>());
  expect("maximum", maximum, [](double a, double b) { return std::max(a, b); });
  expect("minimum", minimum, [](double a, double b) { return std::min(a, b); });
  const xt::xtensor<int, 1> x{0, 7, k.me == 0 ? 0 : 3, static_cast<int>(k.me)};
  const int some = k.P > 1 ? 1 : 0;
  BOOST_TEST(same(all_reduce(k.row, dimensions<0>, any)(x), xt::xtensor<int, 1>{0, 1, some, some}));
  BOOST_TEST(same(all_reduce(k.row, dimensions<0>, all)(x), xt::xtensor<int, 1>{0, 1, 0, 0}));
  BOOST_TEST(same(all_reduce(k.row, dimensions<>, any)(x), xt::xtensor<int, 1>{0, 1, x(2) != 0, x(3) != 0}));
}

BOOST_AUTO_TEST_CASE(a_scalar_of_a_worker_without_a_result_is_the_identity) {
  const kernels k;
  using scalar = xt::xtensor<double, 0>;
  const auto expect = [&](auto reduction, double wanted, double identity) {
    const scalar x(static_cast<double>(k.me + 2));
    BOOST_TEST(reduce(k.row, k.root, reduction)(x)() == (k.root.active() ? wanted : identity));
  };
  double sum_of_all = 0, product_of_all = 1;
  for (std::size_t w = 0; w < k.P; ++w)
    sum_of_all += static_cast<double>(w + 2), product_of_all *= static_cast<double>(w + 2);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  expect(reductions::sum, sum_of_all, 0);
  expect(reductions::product, product_of_all, 1);
  expect(maximum, static_cast<double>(k.P + 1), -infinite);
  expect(minimum, 2, infinite);
  const scalar x(7.0 + static_cast<double>(k.me));
  BOOST_TEST(k.spread(x)() == 7.0 + static_cast<double>(k.P - 1));
  BOOST_TEST(k.spread.adjoint(x)() == (k.root.active() ? sum_of_all + 5.0 * static_cast<double>(k.P) : 0));
}

/// Groups that were made at run time: the first member is the root, whatever its number.
BOOST_AUTO_TEST_CASE(groups_of_any_workers_have_their_own_results_and_others_keep_their_blocks) {
  const kernels k;
  std::vector<std::vector<std::size_t>> lists{{k.P - 1}};
  for (std::size_t w = 0; w + 2 < k.P; ++w) lists[0].push_back(w);  // the last worker but one is in no group
  const worker_groups groups(lists);
  const bool member = groups.group_of(k.me) == 0, root = k.me == k.P - 1;
  const auto x = numbers(k.me);
  auto sum_of_group = numbers(lists[0][0]), most = sum_of_group;
  for (std::size_t m = 1; m < lists[0].size(); ++m) {
    sum_of_group += numbers(lists[0][m]);
    for (std::size_t i = 0; i < most.size(); ++i)
      most.data()[i] = std::max(most.data()[i], numbers(lists[0][m]).data()[i]);
  }
  const auto nothing = [](const auto& y, std::size_t batch) { return y.size() == 0 && y.shape()[0] == batch; };
  BOOST_TEST(same(all_reduce(k.everyone, groups, reductions::sum)(x), member ? sum_of_group : x));
  BOOST_TEST(same(all_reduce(k.everyone, groups, maximum)(x), member ? most : x));
  BOOST_TEST(same(broadcast(k.everyone, groups)(x), member ? numbers(k.P - 1) : x));
  const auto at_root = reduce(k.everyone, groups, reductions::sum)(x);
  const auto without_batch = reduce(k.everyone, groups, maximum, discard_batch)(x);
  if (root || !member) {
    BOOST_TEST(same(at_root, root ? sum_of_group : x));
    BOOST_TEST(same(without_batch, root ? most : x));
  } else {
    BOOST_TEST(nothing(at_root, 4));
    BOOST_TEST(nothing(without_batch, 0));
  }
  const auto back = broadcast(k.everyone, groups).adjoint(x);
  const auto back_without_batch = broadcast(k.everyone, groups, discard_batch).adjoint(x);
  if (root || !member) BOOST_TEST(same(back, root ? sum_of_group : x));
  else BOOST_TEST((nothing(back, 4) && nothing(back_without_batch, 0)));
}

/// One worker makes the kernel with another argument.
BOOST_AUTO_TEST_CASE(kernels_with_other_arguments_on_one_worker_are_refused, *test::at_least(2)) {
  const kernels k;
  const bool odd = k.me + 1 == k.P;
  const auto x = numbers(k.me);
  const auto differ = [&](const char* what, const auto& one, const auto& other) {
    const std::string said = refused<disagreement_error>([&] {
      if (odd) other(x);
      else one(x);
    });
    BOOST_TEST(says(said, "workers make different calls"), what << ": " << said);
  };
  const auto p = k.everyone.partition<1, 1>();  // whose transpose is itself
  differ("transpose_src", broadcast(p, p), broadcast(p, p, transpose_src));
  differ("transpose_dest", broadcast(p, p), broadcast(p, p, transpose_dest));
  differ("another transpose", broadcast(p, p, transpose_src), broadcast(p, p, transpose_dest));
  differ("discard_batch", broadcast(p, p), broadcast(p, p, discard_batch));
  differ("broadcast and sum", broadcast(p, p), sum_reduce(p, p));
  differ("sum and reduce", sum_reduce(p, p), reduce(p, p, maximum));
  differ("reduction", reduce(p, p, minimum), reduce(p, p, maximum));
  differ("reduction for all", all_reduce(p, dimensions<0>, minimum), all_reduce(p, dimensions<0>, maximum));
  differ("dimensions", all_reduce(p, dimensions<0>, minimum), all_reduce(p, dimensions<1>, minimum));
  differ("no dimensions", all_sum_reduce(p, dimensions<>), all_sum_reduce(p, dimensions<1>));
  differ("reproducible", all_reduce(p, dimensions<0>, reductions::sum),
         all_reduce(p, dimensions<0>, reductions::sum, reproducible));
  differ("all_sum_reduce", all_sum_reduce(p, dimensions<0>), all_reduce(p, dimensions<0>, reductions::sum));
  using lists = std::vector<std::vector<std::size_t>>;
  const worker_groups groups(lists{{0, k.P - 1}}), turned(lists{{k.P - 1, 0}});
  const auto& w = k.everyone;
  differ("groups", broadcast(w, groups), broadcast(w, turned));
  differ("discard_batch in groups", broadcast(w, groups), broadcast(w, groups, discard_batch));
  differ("reduction in groups", reduce(w, groups, minimum), reduce(w, groups, maximum));
  differ("reduction for all in groups", all_reduce(w, groups, minimum), all_reduce(w, groups, maximum));
  differ("reduce and all_reduce in groups", reduce(w, groups, minimum), all_reduce(w, groups, minimum));
  BOOST_TEST(same(k.total(numbers(0)), static_cast<double>(k.P) * numbers(0)));
}

BOOST_AUTO_TEST_CASE(a_call_is_named_with_its_partitions_dimensions_and_groups, *test::at_least(2)) {
  const kernels k;
  const bool last = k.me + 1 == k.P;
  const auto x = numbers(k.me);
  const auto said = [&](const auto& one, const auto& other) {
    return refused<disagreement_error>([&] {
      if (last) other(x);
      else one(x);
    });
  };
  text all, one, groups;
  all << "[" << k.P << "] on workers 0 to " << k.P - 1;
  one << "[1] on workers " << k.P - 1;
  const auto has = [](const std::string& sentence, const text& part) { return says(sentence, part.c_str()); };
  const std::string sums = said(k.collect, k.spread);
  BOOST_TEST(has(sums, text("partita::sum_reduce(p_x, p_y) with p_x = ") << all << ", p_y = " << one << " with"), sums);
  BOOST_TEST(has(sums, text("partita::broadcast(p_x, p_y) with p_x = ") << one << ", p_y = " << all << " with"), sums);
  const std::string most = said(reduce(k.row, k.root, maximum), k.most);
  BOOST_TEST(has(most, text("partita::reduce(p_x, p_y, maximum) with p_x = ") << all << ", p_y = " << one), most);
  BOOST_TEST(
      has(most, text("partita::all_reduce(p, dimensions, maximum) with p = ") << all << ", along dimensions [0]"),
      most);
  const auto cube = k.everyone.partition(extents<1, dynamic, 1>(k.P));
  const std::string two = said(all_sum_reduce(cube, dimensions<2, 0>), all_sum_reduce(cube, dimensions<>));
  BOOST_TEST(says(two, "along dimensions [0, 2]"), two);
  BOOST_TEST(says(two, "along dimensions []"), two);
  std::vector<std::vector<std::size_t>> lists{{0, k.P - 1}};
  groups << "(everyone, groups, minimum) with groups [" << (k.P == 2 ? "0 to 1" : "");
  if (k.P > 2) groups << "0, " << k.P - 1;
  for (std::size_t w = 1; w + 1 < k.P; ++w) lists.push_back({w}), groups << ", " << w;
  const worker_groups listed(lists);
  const std::string in_groups = said(reduce(k.everyone, listed, minimum), all_reduce(k.everyone, listed, minimum));
  BOOST_TEST(has(in_groups, text("partita::reduce") << groups << "]"), in_groups);
  BOOST_TEST(has(in_groups, text("partita::all_reduce") << groups << "]"), in_groups);
}

BOOST_AUTO_TEST_CASE(dimensions_and_workers_that_are_wrong_are_named_with_the_way_out) {
  const kernels k;
  const auto made = [&](const dimension_list& along) {
    return refused<partition_error>([&] { all_reduce(k.row, along, maximum); });
  };
  const std::string asked =
      "partita::all_reduce(p, dimensions, ...): requires dimensions below rank(p), each once, got ";
  BOOST_TEST(made({1}) == asked + "[1] for a partition of rank 1; leave 1 out");
  BOOST_TEST(made({0, 0}) == asked + "[0, 0] for a partition of rank 1; leave 0 out once");
  BOOST_TEST(made({0}).empty());
  BOOST_TEST(made({}).empty());
  const worker_groups beyond_the_world(std::vector<std::vector<std::size_t>>{{0}, {k.P}});
  const text beyond = text("partita::broadcast(everyone, groups): requires workers of a world of ")
                      << k.P << ", got worker " << k.P << "; start more workers, or choose ids below " << k.P;
  BOOST_TEST(refused<partition_error>([&] { broadcast(k.everyone, beyond_the_world); }) == beyond.c_str());
  const world other(test::workers());
  const auto elsewhere = other.partition<1>();
  BOOST_TEST(refused<partition_error>([&] { reduce(elsewhere, k.root, maximum); }) ==
             "partita::reduce: requires partitions of one world; make both from the same world");
}

BOOST_AUTO_TEST_CASE(partitions_are_named_by_their_extents_and_workers) {
  const auto named = [](const auto& p) { return std::string(detail::partition_text(p).c_str()); };
  const grid<dynamic_extents<2>> six(dynamic_extents<2>(2, 3), workers(1, 7));
  const grid<dynamic_extents<1>> one(dynamic_extents<1>(1), workers(3, 4)), two(dynamic_extents<1>(2), workers{4, 1});
  BOOST_TEST(named(six) == "[2, 3] on workers 1 to 6");
  BOOST_TEST(named(one) == "[1] on workers 3");
  BOOST_TEST(named(two) == "[2] on workers 4, 1");
}

/// Only then may a receiver not see the shape of its sum in its own block.
BOOST_AUTO_TEST_CASE(a_sum_of_other_blocks_only_is_one_to_which_its_receiver_gives_no_block) {
  using line = grid<dynamic_extents<1>>;
  const auto asks = [](const workers& small, const workers& large) {
    const line s(dynamic_extents<1>(small.size()), small), l(dynamic_extents<1>(large.size()), large);
    return detail::sums_other_blocks_only(s, l, worker_pairing<1>(s.shape(), l.shape(), false, false));
  };
  BOOST_TEST(!asks(workers{0}, workers(0, 3)));
  BOOST_TEST(!asks(workers{2}, workers(0, 3)));
  BOOST_TEST(asks(workers{5}, workers(0, 3)));
  BOOST_TEST(!asks(workers{0, 1}, workers(0, 2)));
  BOOST_TEST(asks(workers{1, 0}, workers(0, 2)));  // each gets the block of the other
  BOOST_TEST(asks(workers{0, 7}, workers(0, 2)));
  BOOST_TEST(asks(workers{7, 1}, workers(0, 2)));
}

BOOST_AUTO_TEST_SUITE_END()
