// Plans a reshard from one layout to another, then executes the plan step by step, on 8 workers.
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <partita/explain/propagation_text.hpp>
#include <partita/partita.hpp>

using namespace partita;

constexpr std::size_t rows = 16, columns = 24;
double x_at(std::size_t i, std::size_t j) { return static_cast<double>(100 * i + j); }

/// Whether every element of this worker's block is the one that the layout puts there.
bool in_place(const sharded_tensor<double>& x) {
  bool right = true;
  x.for_each_local([&](const auto& i, const double& v) { right = right && v == x_at(i[0], i[1]); });
  return right;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const bool speaks = everyone.id() == 0;
  // [plan]
  const mesh m{axis{"rack", 2}, axis{"card", 4}};
  const sharding from = m.layout("rack+card", ""), to = m.layout("", "card");
  const mesh_links links{{5e-6, 1e-9}, {1e-7, 1e-11}};  // between racks a byte takes 100 times as long
  const auto plan = plan_reshard(m, from, to, {rows, columns}, links);
  // [/plan]
  // [steps]
  auto x = shard<double>(everyone, from, {rows, columns}, [](const auto& i) { return x_at(i[0], i[1]); });
  bool right = in_place(x);
  if (speaks)
    std::cout << "A " << rows << " x " << columns << " tensor on 2 racks of 4 cards begins as " << from << "\n";
  for (const reshard_step& step : plan) {
    x = reshard(x, step.after);  // one step of the plan, on data
    right = right && in_place(x);
    if (speaks)
      std::cout << "  " << std::left << std::setw(12) << name_of(step.done) << " along " << m.axes[step.axis].name()
                << ": a worker "
                << "gets " << step.bytes << " bytes and then holds " << x.shape()[0] << " x " << x.shape()[1] << " as "
                << step.after << "\n";
  }
  const auto at_once =
      reshard(shard<double>(everyone, from, {rows, columns}, [](const auto& i) { return x_at(i[0], i[1]); }), to);
  // [/steps]
  right = right && in_place(at_once) && x.layout() == to;
  const bool all_right =
      all_reduce(everyone.partition<8>(), dimensions<0>, minimum)(as_rank<1>({right ? 1 : 0}))(0) == 1;
  if (speaks)
    std::cout
        << "Look at: card cuts the rows within a rack, so it leaves them first; then each rack has the rows of the\n"
        << "other to fetch, and only 192 bytes a worker go between racks. reshard(x, to) does all of it in one call:\n"
        << (all_right ? "every element is" : "NOT every element is")
        << " where the layout says, after each step and at once.\n";
  return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
