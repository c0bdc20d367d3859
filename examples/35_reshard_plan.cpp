// Plans a reshard from one layout to another, then executes the plan step by step, on 8 workers.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <partita/explain/propagation_text.hpp>
#include <partita/partita.hpp>

using namespace partita;

constexpr std::size_t rows = 16, columns = 24;
double x_at(std::size_t i, std::size_t j) { return static_cast<double>(100 * i + j); }

/// Whether this worker's block of x has the elements that the layout of x assigns to it.
bool has_its_elements(const sharded_tensor<double>& x) {
  bool right = true;
  x.for_each_local([&](const auto& i, const double& v) { right = right && v == x_at(i[0], i[1]); });
  return right;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const bool prints = everyone.id() == 0;
  // [plan]
  const mesh m{axis{"rack", 4}, axis{"card", 2}};
  const sharding from = m.layout("", "").partial("rack"), to = m.layout("", "");
  const auto plan = plan_reshard(m, from, to, {rows, columns}, {}, sizeof(double));
  // [/plan]
  // [steps]
  const auto summands = shard<double>(everyone, from, {rows, columns}, [](const auto& i) { return x_at(i[0], i[1]); });
  if (prints)
    std::cout << "A " << rows << " x " << columns << " tensor on 4 racks of 2 cards begins as " << from << "\n";
  auto x = summands;
  for (const reshard_step& step : plan) {
    x = reshard(x, step.after);  // executes one step of the plan
    if (prints)
      std::cout << "  " << std::left << std::setw(11) << name_of(step.done) << "the busiest worker receives "
                << step.bytes << " bytes, and then holds " << x.box()[0].size() << " x " << x.box()[1].size() << " as "
                << step.after << "\n";
  }
  const auto resharded = reshard(summands, to);
  // [/steps]
  const bool right = has_its_elements(x) && has_its_elements(resharded) && x.layout() == to && plan.size() == 3;
  const bool right_everywhere =
      all_reduce(everyone.partition<8>(), dimensions<0>, minimum)(as_rank<1>({right ? 1 : 0}))(0) == 1;
  if (prints)
    std::cout << "Look at: every rack holds a summand, twice. So each card of a rack first keeps one half, the halves\n"
              << "are reduced over the racks, and the cards of a rack exchange the results: 1.25 tensors to a worker,\n"
              << "where a reduction of whole tensors takes 1.5. reshard(x, to) does all of it in one call:\n"
              << (right_everywhere ? "every element is" : "NOT every element is")
              << " where the layout says, after these steps and at once.\n";
  return right_everywhere ? EXIT_SUCCESS : EXIT_FAILURE;
}
