// Whether an all-to-all moves a split between two partitions, beside the definition, for all small partitions.
#include <partita/rule/all_to_all_rule.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace partita;
using extents_of_partition = std::array<std::size_t, 3>;

/// Whether the extents are equal, or one dimension is divided by some k > 1 and one other is multiplied by the same k.
bool moves_one_split(const extents_of_partition& from, const extents_of_partition& to) {
  if (from == to) return true;
  for (std::size_t old_split = 0; old_split < 3; ++old_split)
    for (std::size_t new_split = 0; new_split < 3; ++new_split)
      for (std::size_t k = 2; old_split != new_split && k <= 6; ++k) {
        extents_of_partition before = from, after = to;
        before[new_split] *= k, after[old_split] *= k;
        if (before == after) return true;
      }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rule_of_all_to_all)

BOOST_AUTO_TEST_CASE(one_split_moves_if_one_dimension_loses_the_factor_that_another_gains) {
  for (const auto& [third_from, third_to] : {std::array<std::size_t, 2>{1, 1}, {2, 2}, {1, 2}, {3, 1}})
    for (std::size_t a = 1; a <= 6; ++a)
      for (std::size_t b = 1; b <= 6; ++b)
        for (std::size_t c = 1; c <= 6; ++c)
          for (std::size_t d = 1; d <= 6; ++d) {
            const extents_of_partition from{a, b, third_from}, to{c, d, third_to};
            BOOST_TEST(all_to_all_error(from, to).empty() == moves_one_split(from, to),
                       (text() << from << " to " << to).c_str());
          }
  BOOST_TEST(!all_to_all_error<2>({5, 2}, {2, 4}).empty());  // 5 / 2 and 4 / 2 are equal only without the remainder
  BOOST_TEST((all_to_all_error<2>({4, 1}, {1, 2}) ==
              "requires partitions of which one dimension of p_from is cut into k times fewer parts in p_to, one other "
              "into k times more, and the rest alike; p_from = [4, 1], p_to = [1, 2]; take repartition for other "
              "moves"));
}

BOOST_AUTO_TEST_SUITE_END()
