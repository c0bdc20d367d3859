// The plan of a Fourier transform as text, and its sums over all moves.
#include <partita/kernel/detail/fourier_plan.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

namespace {

using namespace partita;

/// A layout of two dimensions with a move that sends one box of 2 x 3 to each of the workers 1, 2, …, and keeps one
/// row.
fourier_step<2> moving_step(std::size_t receivers, bool complex, const shape_list& dimensions) {
  fourier_step<2> step;
  step.grid = {receivers + 1, 1}, step.dimensions = dimensions, step.moves = true, step.moves_complex = complex;
  for (std::size_t k = 1; k <= receivers; ++k) step.move.sends.push_back({k, {{2 * k, 0}, {2 * k + 2, 3}}, {}, {}});
  step.move.kept.push_back({{{0, 0}, {1, 3}}, {}, {}});
  return step;
}
std::string printed(const fourier_plan<2>& plan) {
  std::ostringstream out;
  out << plan;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plans_of_fourier_transforms)

BOOST_AUTO_TEST_CASE(a_plan_has_a_line_for_each_layout_and_each_move) {
  fourier_plan<2> plan{{4, 6}, {4, 4}, {moving_step(1, false, {}), moving_step(2, true, {1}), {}}};
  plan.steps.back().grid = {1, 3}, plan.steps.back().dimensions = {0, 1};
  BOOST_TEST(printed(plan) ==
             "transform of a [4, 6] tensor, 2 moves\n"
             "  on [2, 1] workers: nothing to transform\n"
             "  move: worker 0 sends 6 numbers to 1 worker and keeps 3\n"
             "  on [3, 1] workers: dimension 1\n"
             "  move: worker 0 sends 12 complex numbers to 2 workers and keeps 3\n"
             "  on [1, 3] workers: dimensions 0, 1\n");
  plan.steps.erase(plan.steps.begin());
  BOOST_TEST(printed(plan).substr(0, 38) == "transform of a [4, 6] tensor, 1 move\n ");
  plan.steps.erase(plan.steps.begin());
  BOOST_TEST(printed(plan) == "transform of a [4, 6] tensor, 0 moves\n  on [1, 3] workers: dimensions 0, 1\n");
}

BOOST_AUTO_TEST_CASE(what_is_sent_is_the_sum_of_all_moves) {
  BOOST_TEST(fourier_plan<2>().moves() == 0U);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (unsigned kinds = 0; kinds < 4; ++kinds) {
        const bool first = kinds % 2 == 1, second = kinds / 2 == 1;
        const fourier_plan<2> plan{{4, 6}, {4, 6}, {moving_step(a, first, {0}), moving_step(b, second, {1}), {}}};
        BOOST_TEST(plan.moves() == 2U);
        BOOST_TEST(plan.messages_sent() == a + b);
        BOOST_TEST(plan.elements_sent() == 6 * (a + b));
        BOOST_TEST(plan.bytes_sent(4) == 6 * 4 * ((first ? 2 : 1) * a + (second ? 2 : 1) * b));
      }
}

BOOST_AUTO_TEST_SUITE_END()
