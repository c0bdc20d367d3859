// If one worker calls with elements of a different type, even one of the same size, all workers get an error: for every
// kernel in both directions, with and without a cached plan.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <cstdint>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>

namespace {

using namespace partita;

template <class T>
xt::xtensor<T, 1> block() {
  return xt::ones<T>({4});
}

/// Makes call(x) with doubles on all workers, then with a different type on one of them, then with doubles again.
template <class Other, class Make, class Call>
void expect_disagreement(const world& everyone, const char* what, Make make, Call call) {
  const auto x = block<double>();
  const auto other = block<Other>();
  for (const bool cached : {false, true}) {
    const auto kernel = make();
    for (std::size_t odd = 0; odd < everyone.size(); ++odd) {
      if (cached) call(kernel, x);
      const std::string said = test::refused<disagreement_error>([&] {
        if (everyone.id() == odd) call(kernel, other);
        else call(kernel, x);
      });
      BOOST_TEST(said.find("workers make different calls") != std::string::npos,
                 what << ", " << (cached ? "cached" : "fresh") << ", of " << sizeof(Other) << " bytes on worker " << odd
                      << " of " << everyone.size() << ": it said '" << said << "'");
    }
    call(kernel, x);
  }
}

template <class Other>
void expect_disagreement_of_all() {
  const world everyone(test::workers());
  const auto all = everyone.partition(extents(everyone.size()));
  const auto one = everyone.partition<1>();
  const auto expect = [&](const char* what, auto make, auto call) {
    expect_disagreement<Other>(everyone, what, make, call);
  };
  const auto forward = [](const auto& k, const auto& x) { k(x); };
  const auto backward = [](const auto& k, const auto& x) { k.adjoint(x); };
  const auto begun = [](const auto& k, const auto& x) { k.start(x).finish(); };
  const auto begun_back = [](const auto& k, const auto& x) { k.start_adjoint(x).finish(); };
  const auto filled = [](const auto& k, const auto& x) {
    auto y = x;
    k.into(x, y);
  };
  const auto filled_back = [](const auto& k, const auto& x) {
    auto y = x;
    k.adjoint_into(x, y);
  };

  const auto copying = [&] { return broadcast(one, all); };
  expect("broadcast", copying, forward);
  expect("broadcast.into", copying, filled);
  expect("broadcast.adjoint", copying, backward);
  expect("broadcast.start_adjoint", copying, begun_back);
  expect("broadcast.adjoint_into", copying, filled_back);
  expect(
      "broadcast, shared_view", [&] { return broadcast(one, all, shared_view); }, forward);

  const auto summing = [&] { return sum_reduce(all, one); };
  expect("sum_reduce", summing, forward);
  expect("sum_reduce.start", summing, begun);
  expect("sum_reduce.into", summing, filled);
  expect("sum_reduce.adjoint", summing, backward);
  expect("sum_reduce.adjoint_into", summing, filled_back);
  expect(
      "sum_reduce, reproducible", [&] { return sum_reduce(all, one, reproducible); }, forward);

  const auto summing_for_all = [&] { return all_sum_reduce(all, dimensions<0>); };
  expect("all_sum_reduce", summing_for_all, forward);
  expect("all_sum_reduce.start", summing_for_all, begun);
  expect("all_sum_reduce.into", summing_for_all, filled);
  expect("all_sum_reduce.adjoint", summing_for_all, backward);

  const auto moving = [&] { return repartition(all, all); };
  expect("repartition", moving, forward);
  expect("repartition.start", moving, begun);
  expect("repartition.into", moving, filled);
  expect("repartition.adjoint", moving, backward);
  expect(
      "repartition, result_cuts",
      [&] { return repartition(all, all, result_cuts(cut::balanced(4 * everyone.size(), everyone.size()))); }, forward);

  const auto gathering = [&] { return all_gather(all, dimensions<0>); };
  expect("all_gather", gathering, forward);
  expect("all_gather.into", gathering, [&](const auto& k, const auto& x) {
    auto y = xt::xtensor<element_of<decltype(x)>, 1>(std::array<std::size_t, 1>{4 * everyone.size()});
    k.into(x, y);
  });
  // the adjoint refers to a forward call, whose tensor had 4 elements
  const auto having_gathered = [&] {
    all_gather k(all, dimensions<0>);
    k(xt::xtensor<double, 1>(xt::ones<double>({everyone.id() == 0 ? std::size_t{4} : std::size_t{0}})));
    return k;
  };
  expect("all_gather.adjoint", having_gathered, backward);
  expect("all_gather.start_adjoint", having_gathered, begun_back);

  const auto scattering = [&] { return reduce_scatter(all, dimensions<0>); };
  expect("reduce_scatter", scattering, forward);
  expect("reduce_scatter.start", scattering, begun);
  expect("reduce_scatter.into", scattering, [&](const auto& k, const auto& x) {
    const interval part = balanced_part(4, everyone.size(), everyone.id());
    auto y = xt::xtensor<element_of<decltype(x)>, 1>(std::array<std::size_t, 1>{part.size()});
    k.into(x, y);
  });
  expect("reduce_scatter.adjoint", scattering, backward);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(element_types)

BOOST_AUTO_TEST_CASE(floats_among_doubles_are_a_disagreement_for_every_kernel, *test::at_least(2)) {
  expect_disagreement_of_all<float>();
}

BOOST_AUTO_TEST_CASE(integers_of_the_size_of_doubles_are_a_disagreement_too, *test::at_least(2)) {
  expect_disagreement_of_all<std::int64_t>();
}

BOOST_AUTO_TEST_SUITE_END()
