// The examples of XLA's "Broadcasting semantics" with the numbers that it prints. test/static/rule/array_broadcast.cpp
// checks which of its shapes are legal.
#include <partita/array/elementwise.hpp>
#include <partita/rule/array_broadcast.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace partita;
using matrix = xt::xtensor<int, 2>;
using vector = xt::xtensor<int, 1>;

const matrix m{{1, 2, 3}, {4, 5, 6}};
const vector v{7, 8, 9};

broadcast_fault fault(const shape_list& lhs, const shape_list& rhs, const broadcast_dimensions_list& dims = {}) {
  return judge_array_broadcast(lhs, rhs, dims).fault;
}
shape_list result(const shape_list& lhs, const shape_list& rhs, const broadcast_dimensions_list& dims = {}) {
  return resolve_array_broadcast(lhs, rhs, dims).result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_document_on_array_broadcasting)

BOOST_AUTO_TEST_CASE(a_vector_is_replicated_over_the_rows_of_a_matrix) {
  BOOST_TEST((matrix(add(m, v, broadcast_dimensions<1>)) == matrix{{8, 10, 12}, {11, 13, 15}}));
}

BOOST_AUTO_TEST_CASE(a_scalar_needs_no_broadcasting_dimensions) {
  BOOST_TEST((matrix(add(m, 7)) == matrix{{8, 9, 10}, {11, 12, 13}}));
}

BOOST_AUTO_TEST_CASE(without_specifying_broadcasting_matrix_plus_vector_is_invalid) {
  BOOST_TEST((fault({2, 3}, {3}) == broadcast_fault::rank_mismatch_without_dims));
}

BOOST_AUTO_TEST_CASE(a_vector_on_a_square_matrix_has_two_ways) {
  const matrix zeros{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  BOOST_TEST((matrix(add(zeros, v, broadcast_dimensions<1>)) == matrix{{7, 8, 9}, {7, 8, 9}, {7, 8, 9}}));
  BOOST_TEST((matrix(add(zeros, v, broadcast_dimensions<0>)) == matrix{{7, 7, 7}, {8, 8, 8}, {9, 9, 9}}));
}

BOOST_AUTO_TEST_CASE(a_broadcasting_dimension_of_0_is_invalid_for_2x3_and_a_3_vector) {
  BOOST_TEST((fault({2, 3}, {3}, {0}) == broadcast_fault::indim_size_mismatch));
}

BOOST_AUTO_TEST_CASE(a_tuple_1_2_matches_a_3x4_matrix_to_dimensions_1_and_2_of_a_2x3x4_cuboid) {
  BOOST_TEST((result({2, 3, 4}, {3, 4}, {1, 2}) == shape_list{2U, 3U, 4U}));
}

BOOST_AUTO_TEST_CASE(a_vector_matches_any_dimension_of_MxNxPxQ_and_a_matrix_any_two_in_order) {
  const shape_list cuboid{5U, 6U, 7U, 8U};
  for (std::ptrdiff_t d = 0; d < 4; ++d) {
    BOOST_TEST((result(cuboid, {cuboid[static_cast<std::size_t>(d)]}, {d}) == cuboid));
    for (std::ptrdiff_t e = d + 1; e < 4; ++e)
      BOOST_TEST((result(cuboid, {cuboid[static_cast<std::size_t>(d)], cuboid[static_cast<std::size_t>(e)]}, {d, e}) ==
                  cuboid));
  }
}

BOOST_AUTO_TEST_CASE(it_is_illegal_to_match_V_to_N_and_T_to_P_or_V_to_both_P_and_N) {
  BOOST_TEST((fault({5, 6, 7, 8}, {7, 6}, {2, 1}) == broadcast_fault::dims_not_strictly_increasing));
  BOOST_TEST(!(fault({5, 6, 7, 8}, {7, 6}, {1, 1}) == broadcast_fault::none));
}

BOOST_AUTO_TEST_CASE(the_four_examples_of_degenerate_dimensions_and_the_outer_operation) {
  BOOST_TEST((result({2, 1}, {2, 3}) == shape_list{2U, 3U}));
  BOOST_TEST((result({1, 2, 5}, {7, 2, 5}) == shape_list{7U, 2U, 5U}));
  BOOST_TEST((result({7, 2, 5}, {7, 1, 5}) == shape_list{7U, 2U, 5U}));
  BOOST_TEST((fault({7, 2, 5}, {7, 2, 6}) == broadcast_fault::incompatible_shapes));
  BOOST_TEST((result({2, 1}, {1, 3}) == shape_list{2U, 3U}));
  const matrix column{{1}, {2}}, row{{10, 20, 30}};
  BOOST_TEST((matrix(add(column, row)) == matrix{{11, 21, 31}, {12, 22, 32}}));
}

BOOST_AUTO_TEST_CASE(a_vector_of_4_and_a_1x2_matrix_are_added_with_broadcast_dimensions_0) {
  const vector four{1, 2, 3, 4};
  const matrix flat{{5, 6}};
  BOOST_TEST((matrix(add(four, flat, broadcast_dimensions<0>)) == matrix{{6, 7}, {7, 8}, {8, 9}, {9, 10}}));
}

BOOST_AUTO_TEST_CASE(a_1x2_matrix_and_a_4x3x1_array_with_broadcast_dimensions_1_2_give_4x3x2) {
  const matrix flat{{5, 6}};
  xt::xtensor<int, 3> tall = xt::zeros<int>({4, 3, 1});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) tall(i, j, 0) = static_cast<int>(100 * i + 10 * j);
  const xt::xtensor<int, 3> sum = add(flat, tall, broadcast_dimensions<1, 2>);
  BOOST_TEST((sum.shape() == std::array<std::size_t, 3>{4, 3, 2}));
  bool right = true;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 2; ++k) right = right && sum(i, j, k) == static_cast<int>(100 * i + 10 * j + 5 + k);
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_SUITE_END()
