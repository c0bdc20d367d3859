// Blocks around every size at which the algorithm changes: slots of 16 KiB, chunks of 256 KiB, messages of 128 KiB, a
// ring of 1 MiB, rows longer than 32 KiB; and blocks of ranks that are seldom tested.
#include "mpi_test.hpp"
#include "pretended.hpp"
#include "random_cases.hpp"

#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/reduce_scatter.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <string>

#include "call_oracle.hpp"

namespace {

using namespace partita;
using oracle::list;

constexpr std::size_t bytes[] = {8,
                                 1008,
                                 1016,
                                 1024,
                                 1032,
                                 (1U << 14U) - 8,
                                 1U << 14U,
                                 (1U << 14U) + 8,
                                 (1U << 17U) - 8,
                                 1U << 17U,
                                 (1U << 17U) + 8,
                                 (1U << 18U) - 8,
                                 1U << 18U,
                                 (1U << 18U) + 8,
                                 (1U << 20U) - 8,
                                 1U << 20U,
                                 (1U << 20U) + 8};

/// Element i of a worker's block, or of a tensor.
double at(std::size_t i, std::size_t worker) { return static_cast<double>((7 * i + 13 * worker + i / 1021) % 127); }

template <class Y, class Expected>
void expect_elements(const Y& y, std::size_t size, Expected expected, const char* what, std::size_t n) {
  std::size_t wrong = y.size() == size ? 0 : 1;
  const double* const data = y.data();
  for (std::size_t i = 0; i < size && y.size() == size; ++i) wrong += data[i] == expected(i) ? 0 : 1;
  BOOST_TEST(wrong == 0U, what << " with blocks of " << n << " doubles: " << wrong << " elements are wrong");
}

template <std::size_t Rank, class At>
xt::xtensor<double, Rank> filled(const std::array<std::size_t, Rank>& shape, At value) {
  xt::xtensor<double, Rank> x(shape);
  double* const data = x.data();
  for (std::size_t i = 0; i < x.size(); ++i) data[i] = value(i);
  return x;
}

void expect_all_sizes() {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), me = everyone.id();
  const auto all = everyone.partition(extents(P));
  const auto one = everyone.partition<1>(workers(P - 1, P));
  const auto rows = everyone.partition(extents(P, 1)), columns = everyone.partition(extents(1, P));
  const broadcast copy(one, all);
  const sum_reduce sum(all, one);
  const all_sum_reduce total(all, dimensions<0>);
  const all_gather gather(all, dimensions<0>);
  const reduce_scatter parts(all, dimensions<0>);
  const repartition scatter(one, all);
  const repartition turn(rows, columns);
  for (const std::size_t size : bytes) {
    const std::size_t n = size / sizeof(double);
    const auto x = filled<1>({n}, [&](std::size_t i) { return at(i, me); });
    const auto summed = [&](std::size_t i) {
      double s = 0;
      for (std::size_t w = 0; w < P; ++w) s += at(i, w);
      return s;
    };
    const auto nothing = filled<1>({0}, [](std::size_t) { return 0; });
    expect_elements(
        copy(one.active() ? x : nothing), n, [&](std::size_t i) { return at(i, P - 1); }, "broadcast", n);
    expect_elements(sum(x), one.active() ? n : 0, summed, "sum_reduce", n);
    expect_elements(total(x), n, summed, "all_sum_reduce", n);
    expect_elements(
        gather(x), P * n, [&](std::size_t i) { return at(i % n, i / n); }, "all_gather", n);
    const interval mine = balanced_part(n, P, me);
    expect_elements(
        parts(x), mine.size(), [&](std::size_t i) { return summed(mine.start + i); }, "reduce_scatter", n);
    expect_elements(
        scatter(one.active() ? x : nothing), mine.size(), [&](std::size_t i) { return at(mine.start + i, P - 1); },
        "repartition from one", n);
    // from two rows of n columns per worker to all rows of some columns, also as dense boxes
    const auto wide = filled<2>({2, n}, [&](std::size_t i) { return at(i, me); });
    expect_elements(
        turn(wide), 2 * P * mine.size(),
        [&](std::size_t i) {
          const std::size_t row = i / mine.size(), column = mine.start + i % mine.size();
          return at(row % 2 * n + column, row / 2);
        },
        "repartition to columns", n);
  }
}

/// Moves a tensor of this rank from parts along its first dimension to parts along its last, with reversed dimensions.
template <std::size_t Rank, std::size_t... D>
void expect_rank(const world& everyone, std::index_sequence<D...>) {
  const std::size_t P = everyone.size(), me = everyone.id();
  list first(Rank, 1), last(Rank, 1), tensor(Rank, 2), axes(Rank);
  first[0] = last[Rank - 1] = P;
  tensor[0] = 5;
  tensor[1] = 3;
  tensor[Rank - 1] = 4;
  for (std::size_t d = 0; d < Rank; ++d) axes[d] = Rank - 1 - d;
  list ids(P);
  for (std::size_t w = 0; w < P; ++w) ids[w] = w;
  const auto as_array = [](const list& values) {
    std::array<std::size_t, Rank> all{};
    std::copy(values.begin(), values.end(), all.begin());
    return all;
  };
  const auto on = [&](const list& shape) { return everyone.partition(dynamic_extents<Rank>(as_array(shape))); };
  const auto cut_over = [&](const list& grid, const list& n) {
    oracle::cut_tensor t{{grid, ids}, {}};
    for (std::size_t d = 0; d < Rank; ++d) t.cuts.push_back(oracle::balanced(n[d], grid[d]));
    return t;
  };
  const auto tensor_of = [&](const oracle::block<double>& b) {
    return filled<Rank>(as_array(b.shape), [&](std::size_t i) { return b.data[i]; });
  };
  const list same_axes(axes.rbegin(), axes.rend()), turned(tensor.rbegin(), tensor.rend());
  const auto given = cut_over(first, tensor).template of<double>(me, 1, tensor, same_axes);
  const auto wanted = cut_over(last, turned).template of<double>(me, 1, tensor, axes);
  const auto expect = [&](const auto& y, const oracle::block<double>& b, const char* what) {
    expect_elements(
        y, b.data.size(), [&](std::size_t i) { return b.data[i]; }, what, Rank);
    BOOST_TEST((std::equal(b.shape.begin(), b.shape.end(), y.shape().begin())));
  };
  const auto x = tensor_of(given);
  const repartition turn(on(first), on(last), permute<(Rank - 1 - D)...>);
  expect(turn(x), wanted, "repartition, reversed");
  expect(turn.adjoint(tensor_of(wanted)), given, "repartition.adjoint, reversed");
  const oracle::grouping along_first{{first, ids}, [&] {
                                       std::vector<bool> all(Rank, false);
                                       all[0] = true;
                                       return all;
                                     }()};
  const auto part = [&](std::size_t w) { return cut_over(first, tensor).template of<double>(w, 1, tensor, same_axes); };
  const auto shape = [&](std::size_t w) { return cut_over(first, tensor).shape(w); };
  const auto whole = [&](std::size_t w) { return oracle::block<double>(tensor, 2, w); };
  expect(all_gather(on(first), dimensions<0>)(x), along_first.gathered<double>(part, shape, me), "all_gather");
  expect(reduce_scatter(on(first), dimensions<0>)(tensor_of(whole(me))),
         along_first.part_of_sum<double>(whole, shape, me), "reduce_scatter");
  const auto root = everyone.partition<1>(workers(P - 1, P));
  const auto all = everyone.partition(extents(P));
  const broadcast copies(root, all);
  const all_sum_reduce sums(all, dimensions<0>);
  const all_gather wholes(on(first), dimensions<0>);
  expect(copies(tensor_of(whole(me))), whole(P - 1), "broadcast");
  expect(sums(tensor_of(whole(me))), along_first.summed<double>(whole, me), "all_sum_reduce");
  // shapes that differ in any one dimension get different plans
  for (std::size_t d = 0; d < Rank; ++d)
    for (const std::size_t n : {std::size_t{2}, std::size_t{3}}) {
      list one(Rank, 1), gathered_shape(Rank, 1);
      one[d] = gathered_shape[d] = n;
      gathered_shape[0] *= P;
      const auto of = [n](std::size_t w) {
        std::vector<double> data(n);
        for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<double>(100 * w + i);
        return data;
      };
      const auto block = [](const list& extents, const std::vector<double>& data) {
        oracle::block<double> b(extents);
        b.data = data;
        return b;
      };
      const auto mine = tensor_of(block(one, of(me)));
      std::vector<double> sum(n, 0), parts;
      for (std::size_t w = 0; w < P; ++w) {
        const auto data = of(w);
        for (std::size_t i = 0; i < n; ++i) sum[i] += data[i];
        parts.insert(parts.end(), data.begin(), data.end());
      }
      expect(copies(mine), block(one, of(P - 1)), "broadcast of a line");
      expect(sums(mine), block(one, sum), "all_sum_reduce of a line");
      expect(wholes(mine), block(gathered_shape, parts), "all_gather of lines");
      expect(turn(mine), block(list(one.rbegin(), one.rend()), of(me)), "repartition of lines, reversed");
    }
}

template <std::size_t Rank>
void expect_rank() {
  for (const char* const nodes : {"1", "2"}) {
    const test::pretended apart("PARTITA_NODES", nodes);
    expect_rank<Rank>(world(test::workers()), std::make_index_sequence<Rank>());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(thresholds)

BOOST_AUTO_TEST_CASE(blocks_around_every_size_arrive_whole) { expect_all_sizes(); }

BOOST_AUTO_TEST_CASE(so_they_do_between_nodes) {
  const test::pretended nodes("PARTITA_NODES", "2");
  expect_all_sizes();
}

BOOST_AUTO_TEST_CASE(so_they_do_where_shared_memory_is_full) {
  const test::pretended nothing_free("PARTITA_SHARED_FREE", "0");
  expect_all_sizes();
}

BOOST_AUTO_TEST_CASE(tensors_of_rank_five_move_as_others_do) { expect_rank<5>(); }

BOOST_AUTO_TEST_CASE(tensors_of_rank_six_move_as_others_do) { expect_rank<6>(); }

BOOST_AUTO_TEST_CASE(tensors_of_rank_eight_move_as_others_do) { expect_rank<8>(); }

BOOST_AUTO_TEST_SUITE_END()
