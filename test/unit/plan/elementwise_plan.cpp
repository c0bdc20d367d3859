// Plans of element-wise operations on partitioned tensors: the partition of the result, and how each operand moves to
// it.
#include <partita/plan/elementwise_plan.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

namespace {

using namespace partita;
using numbers = std::vector<std::size_t>;

const dimension_map last(shape_list{1U}, 2);  // a vector in dimension 1 of a matrix
const shape_list vector{6U}, matrix{4U, 6U};

}  // namespace

BOOST_AUTO_TEST_SUITE(planning_elementwise_operations)

BOOST_AUTO_TEST_CASE(a_result_induces_its_cut_where_the_operand_spans_and_1_where_it_is_repeated) {
  BOOST_TEST((induced_partition(last, vector, matrix, {2U, 3U}) == shape_list{3U}));
  BOOST_TEST((induced_partition(last, {1U}, matrix, {2U, 3U}) == shape_list{1U}));  // a global 1 is repeated
  BOOST_TEST((induced_partition(dimension_map::identity(2), {4U, 1U}, matrix, {2U, 3U}) == shape_list{2U, 1U}));
  BOOST_TEST((induced_partition(last, {1U}, {4U, 1U}, {2U, 3U}) == shape_list{3U}));  // a 1 that meets a 1 is not
}

BOOST_AUTO_TEST_CASE(the_finer_partition_is_the_one_that_cuts_every_dimension_at_least_as_often) {
  const shape_list coarse{2U, 1U}, fine{2U, 3U}, other{4U, 1U};
  BOOST_TEST(finer_partition(coarse, fine) == &fine);
  BOOST_TEST(finer_partition(fine, coarse) == &fine);
  BOOST_TEST(finer_partition(fine, other) == nullptr);
  const shape_list same = fine;
  BOOST_TEST(finer_partition(same, fine) == &same);
}

BOOST_AUTO_TEST_CASE(an_operand_that_lies_as_needed_stays) {
  const grid p(extents<2, 3>{});
  const operand_route route = plan_operand(p, matrix, dimension_map::identity(2), p, matrix);
  BOOST_TEST(route.stays());
  BOOST_TEST(route.roots == (numbers{0, 1, 2, 3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(a_vector_is_repartitioned_to_the_first_workers_of_the_groups_and_broadcast) {
  const grid p(extents<2, 3>{}, workers{5, 4, 3, 2, 1, 0});
  const operand_route route = plan_operand(grid(extents<2>{}), vector, last, p, matrix);
  BOOST_TEST((route.repartitions && route.broadcasts));
  BOOST_TEST((route.needed == shape_list{3U}));
  BOOST_TEST(route.roots == (numbers{5, 4, 3}));  // row 0 of the partition of the result
}

BOOST_AUTO_TEST_CASE(the_right_cut_on_other_workers_is_broadcast_to_them) {
  const grid p(extents<3>{});
  const operand_route route =
      plan_operand(grid(extents<3>{}, workers(3, 6)), vector, dimension_map::identity(1), p, vector);
  BOOST_TEST((!route.repartitions && route.broadcasts));
  BOOST_TEST(!plan_operand(p, vector, dimension_map::identity(1), p, vector).broadcasts);
}

BOOST_AUTO_TEST_CASE(a_route_and_a_plan_are_written_in_words) {
  const grid p(extents<2, 3>{});
  const elementwise_plan plan{matrix,
                              {2U, 3U},
                              plan_operand(p, matrix, dimension_map::identity(2), p, matrix),
                              plan_operand(grid(extents<2>{}), vector, last, p, matrix)};
  std::ostringstream out;
  out << plan;
  BOOST_TEST(out.str() ==
             "lhs: extents [4, 6] over [2, 3]: stays\n"
             "rhs: extents [6] over [2]: repartition, then worker broadcast\n"
             "result: extents [4, 6] over [2, 3]\n");
}

BOOST_AUTO_TEST_CASE(an_operand_is_repartitioned_alone_if_each_worker_of_the_result_needs_a_block_of_its_own) {
  const auto written = [](const operand_route& route) {
    std::ostringstream out;
    out << route;
    return out.str();
  };
  const grid p(extents<2, 3>{});
  for (const std::size_t first : {0U, 4U}) {  // on the workers of the result, or on others
    const operand_route route =
        plan_operand(grid(extents<3, 2>{}, workers(first, first + 6)), matrix, dimension_map::identity(2), p, matrix);
    BOOST_TEST((route.repartitions && !route.broadcasts && !route.stays()));
    BOOST_TEST(written(route) == "extents [4, 6] over [3, 2]: repartition");
  }
  BOOST_TEST(written(plan_operand(grid(extents<3>{}), vector, last, p, matrix)) ==
             "extents [6] over [3]: worker broadcast");
}

BOOST_AUTO_TEST_SUITE_END()
