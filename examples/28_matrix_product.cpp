// Prints the communication of a distributed product before it runs, for several layouts of one operand, on 4 workers.
#include <cstdlib>
#include <iostream>
#include <partita/explain/completion_text.hpp>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [product]
  constexpr mesh m{axis{"row", 2}, axis{"column", 2}};
  const auto product = [](const auto& a, const auto& b) { return matmul(a, b); };
  const auto element_of_a = [](const auto& i) { return double(i[0] + 2 * i[1]); };
  const auto element_of_b = [](const auto& i) { return double(3 * i[0]) - double(i[1]); };
  // [/product]
  const shape_list extents{64, 64};
  const auto whole_a = shard<double>(everyone, m.layout("", ""), extents, element_of_a).whole<2>();
  const auto whole_b = shard<double>(everyone, m.layout("", ""), extents, element_of_b).whole<2>();
  const xt::xtensor<double, 2> expected = product(whole_a, whole_b);

  // [annotations]
  const sharding a = m.layout("row", ""), result = m.layout("row", "column");
  for (const sharding& b : {m.layout("", "column"), m.layout("column", ""), m.layout("row", "column")}) {
    auto program = trace(product, spec(a, extents), spec(b, extents));
    program.constrain(program.result(), result);
    // [/annotations]
    const auto& completed = program.complete();
    if (everyone.id() == 0)
      std::cout << "value 0, A, lies " << a << "; value 1, B, lies " << b << "; the product is wanted as " << result
                << ":\n"
                << to_text(completed) << "\n";
    const auto y =
        program(shard<double>(everyone, a, extents, element_of_a), shard<double>(everyone, b, extents, element_of_b));
    const auto whole = reshard(y, m.layout("", "")).whole<2>();
    if (everyone.id() < m.size() && !(whole == expected)) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
