// Promises of kernels that move boxes, beside their values: an adjoint refers to its forward call or is an error, input
// and output must not overlap, error messages show the difference, and a result can be taken once.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>

#include <string>
#include <utility>

namespace {

using namespace partita;
using test::refused;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

bool says(const std::string& sentence, const char* part) { return sentence.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(the_face_of_exchanges)

BOOST_AUTO_TEST_CASE(an_adjoint_whose_forward_call_is_forgotten_says_so_until_there_is_another, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), me = everyone.id();
  const auto p = everyone.partition(extents<dynamic>(n));
  const repartition r(p, p);
  const all_gather g(p, dimensions<0>);
  const std::size_t own = me == 0 ? n + 1 : 1;
  const vector x = xt::ones<double>({own});
  const auto y = r(x);
  const auto whole = g(x);
  BOOST_TEST(r.adjoint(y).size() == own);
  BOOST_TEST(g.adjoint(whole).size() == own);
  for (std::size_t k = 0; k < 32; ++k) {
    const vector other = xt::ones<double>({20 + k + me});
    r(other);
    g(other);
  }
  BOOST_TEST(says(refused<shape_error>([&] { r.adjoint(y); }), "has been forgotten; call the kernel on x again"));
  BOOST_TEST(says(refused<shape_error>([&] { g.adjoint(whole); }), "has been forgotten; call the kernel on x again"));
  r(x);
  g(x);
  BOOST_TEST(r.adjoint(y).size() == own);
  BOOST_TEST(g.adjoint(whole).size() == own);
  // A balanced tensor of these extents takes the place of the other one, also when both are forgotten.
  const vector balanced = xt::ones<double>({std::size_t{2}});
  r(balanced);
  g(balanced);
  for (std::size_t k = 0; k < 32; ++k) {
    const vector other = xt::ones<double>({20 + k + me});
    r(other);
    g(other);
  }
  BOOST_TEST(r.adjoint(y).size() == 2U);
  BOOST_TEST(g.adjoint(whole).size() == 2U);
  for (std::size_t k = 0; k < 32; ++k) {  // a balanced decomposition needs no memory
    const vector other = xt::ones<double>({60 + k});
    r(other);
    r.adjoint(r(vector(xt::ones<double>({std::size_t{3}}))));
  }
}

BOOST_AUTO_TEST_CASE(a_view_of_the_memory_that_is_read_is_refused_and_one_beside_it_is_not) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<1, dynamic>(everyone.size()));
  const repartition r(p, p);
  const repartition turn(everyone.partition<1, 1>(), everyone.partition<1, 1>(), permute<1, 0>);
  const all_gather g(p, dimensions<0>);
  matrix z = xt::ones<double>({4, 6});
  auto left = xt::view(z, xt::all(), xt::range(0, 3)), right = xt::view(z, xt::all(), xt::range(3, 6)),
       middle = xt::view(z, xt::all(), xt::range(2, 5));
  const char* const sentence = "requires a view that shares no element with x";
  BOOST_TEST(says(refused<shape_error>([&] { r.into(z, z); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { r.adjoint_into(z, z); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { r.into(left, middle); }), sentence));
  BOOST_TEST(says(refused<shape_error>([&] { g.into(z, z); }), sentence));
  matrix square = xt::ones<double>({3, 3});
  BOOST_TEST(says(refused<shape_error>([&] { turn.into(square, square); }), sentence));
  xt::view(z, xt::all(), xt::range(0, 3)) = 7.0;
  r.into(left, right);
  BOOST_TEST(z(2, 4) == 7.0);
}

BOOST_AUTO_TEST_CASE(a_result_is_given_once_and_a_kernel_that_was_moved_from_says_so) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<dynamic>(everyone.size()));
  repartition r(p, p);
  all_gather g(p, dimensions<0>);
  const vector x = xt::ones<double>({3});
  auto later = r.start(x);
  BOOST_TEST(later.finish().size() == 3U);
  BOOST_TEST(says(refused<error>([&] { later.finish(); }), "requires a result that is still to be given"));
  const auto kept = std::move(r);
  const auto kept_too = std::move(g);
  BOOST_TEST(says(refused<error>([&] { r(x); }), "moved from"));  // NOLINT: that is the test
  BOOST_TEST(says(refused<error>([&] { g(x); }), "moved from"));  // NOLINT
  BOOST_TEST(kept(x).size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_disagreement_shows_the_elements_and_the_workers, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(extents<dynamic>(n));
  const repartition r(p, p);
  const std::string types = refused<disagreement_error>([&] {
    if (everyone.id() == 0) r(xt::xtensor<float, 1>(xt::ones<float>({2})));
    else r(xt::xtensor<int, 1>(xt::ones<int>({2})));
  });
  BOOST_TEST(says(types, "of float"));
  BOOST_TEST(says(types, "of int"));
  const auto one = everyone.partition<1>(), other = everyone.partition<1>(workers{1});
  const repartition to_first(one, one), to_second(one, other);
  const vector x = xt::ones<double>({2});
  const std::string ids = refused<disagreement_error>([&] { everyone.id() == 0 ? to_first(x) : to_second(x); });
  BOOST_TEST(says(ids, "on worker 0"));
  BOOST_TEST(says(ids, "on worker 1"));
}

BOOST_AUTO_TEST_CASE(sums_into_parts_are_added_in_ascending_order_of_the_workers, *test::at_least(3)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<3>(workers{2, 0, 1});
  const reduce_scatter s(p, dimensions<0>);
  const double given[] = {1e16, 1, 1};
  const std::size_t me = everyone.id();
  const auto x = p.active() ? vector(xt::ones<double>({3}) * given[me]) : zero_volume<double, 1>();
  const auto y = s(x);
  if (p.active()) BOOST_TEST(y(0) == (1e16 + 1) + 1);
}

BOOST_AUTO_TEST_SUITE_END()
