// The binomial tree reaches every position once, in the smallest possible number of steps.
#include <partita/plan/binomial_tree.hpp>

#include <boost/test/unit_test.hpp>
#include <vector>

using partita::binomial_tree;

BOOST_AUTO_TEST_SUITE(binomial_trees)

BOOST_AUTO_TEST_CASE(every_position_but_the_root_is_below_the_one_above_it) {
  for (std::size_t size = 1; size < 70; ++size) {
    const binomial_tree tree{size};
    std::vector<std::size_t> heard(size, 0);
    for (std::size_t position = 0; position < size; ++position) {
      bool leaf = true;
      tree.for_each_child(position, [&](std::size_t other) {
        BOOST_TEST(tree.parent(other) == position);
        ++heard[other];
        leaf = false;
      });
      BOOST_TEST(tree.is_leaf(position) == leaf);
    }
    BOOST_TEST(heard[0] == 0U);
    for (std::size_t position = 1; position < size; ++position) BOOST_TEST(heard[position] == 1U);
  }
}

BOOST_AUTO_TEST_CASE(everybody_has_heard_after_the_logarithm_of_the_size) {
  for (std::size_t size = 1; size < 70; ++size) {
    std::vector<std::size_t> step(size, 0);
    std::size_t last = 0, logarithm = 0;
    while ((std::size_t{1} << logarithm) < size) ++logarithm;
    for (std::size_t position = 0; position < size; ++position) {
      std::size_t now = step[position];
      binomial_tree{size}.for_each_child(position,
                                         [&](std::size_t other) { last = std::max(last, step[other] = ++now); });
    }
    BOOST_TEST(last == logarithm);
  }
}

BOOST_AUTO_TEST_CASE(collecting_goes_in_the_opposite_order) {
  for (std::size_t size = 1; size < 40; ++size)
    for (std::size_t position = 0; position < size; ++position) {
      std::vector<std::size_t> down, up;
      binomial_tree{size}.for_each_child(position, [&](std::size_t other) { down.push_back(other); });
      binomial_tree{size}.for_each_child_smallest_first(position,
                                                        [&](std::size_t other) { up.insert(up.begin(), other); });
      BOOST_TEST(down == up);
    }
}

BOOST_AUTO_TEST_SUITE_END()
