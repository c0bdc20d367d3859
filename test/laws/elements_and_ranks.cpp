// The kernels move every element type that has an MPI datatype, and blocks of the ranks 0 to 8 and 16, the largest.
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include <boost/mpl/list.hpp>
#include <boost/serialization/access.hpp>
#include <cstdint>

#include "law.hpp"

namespace {

/// A user-defined element type: a position and a label.
struct particle {
  double position = 0;
  int label = 0;
  particle() = default;
  explicit particle(int n) : position(n / 2.0), label(n) {}
  friend bool operator==(const particle&, const particle&) = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& position& label;
  }
};

/// An element type without an MPI datatype: it is sent as bytes.
struct pixel {
  std::uint8_t red = 0, green = 0, blue = 0;
  pixel() = default;
  explicit pixel(int n) : red(static_cast<std::uint8_t>(n)), blue(3) {}
  friend bool operator==(const pixel&, const pixel&) = default;
};

}  // namespace

// [element]
BOOST_IS_MPI_DATATYPE(particle)  // of Boost.MPI, which uses its serialize()

template <>
inline constexpr bool partita::moves_as_bytes<pixel> = true;  // it is trivially copyable, so nothing else is needed
// [/element]

namespace {

using namespace law;

using numbers = boost::mpl::list<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                                 long long, unsigned long long, float, double, long double, std::complex<float>,
                                 std::complex<double>, std::complex<long double>>;
using others = boost::mpl::list<bool, char, wchar_t, char16_t, std::byte, particle, pixel>;

/// Broadcasts from the last worker to all, for one rank after another. The blocks of workers outside the source are
/// ignored.
template <class T, std::size_t Rank>
void expect_moved(const world& everyone) {
  const std::size_t last = everyone.size() - 1;
  const auto root = everyone.partition<1>(workers{last});
  const auto all = everyone.partition(extents(everyone.size()));
  shape<Rank> extents{};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = 1 + (d + 1) % 3;
  const auto x = integers<T, Rank>(extents, 5);
  const auto given = root.active() ? x : zero_volume<T, Rank>();
  BOOST_TEST(same(broadcast(root, all)(given), x));
}

template <class T, std::size_t Rank>
void expect_summed(const world& everyone) {
  const auto root = everyone.partition<1>(workers{everyone.size() - 1});
  const auto all = everyone.partition(extents(everyone.size()));
  shape<Rank> extents{};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = 1 + (d + 1) % 3;
  auto sum = integers<T, Rank>(extents, 0);
  for (std::size_t k = 1; k < everyone.size(); ++k) {
    const auto other = integers<T, Rank>(extents, k);
    for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] = static_cast<T>(sum.data()[i] + other.data()[i]);
  }
  const auto x = integers<T, Rank>(extents, everyone.id());
  const auto y = sum_reduce(all, root)(x);
  if (root.active()) BOOST_TEST(same(y, sum));
  BOOST_TEST(same(all_sum_reduce(all, dimensions<0>)(x), sum));
}

/// One part of a tensor whose elements are functions of their global index.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> part_of_a_tensor(const shape<Rank>& extents, const box<Rank>& where) {
  auto part = uninitialised<T, Rank>(where.shape());
  for (std::size_t k = 0; k < part.size(); ++k) {
    partita::index<Rank> i = index_of(k, where.shape());
    for (std::size_t d = 0; d < Rank; ++d) i[d] += where.start[d];
    part.data()[k] = element<T>(flat_index(i, extents), 0);
  }
  return part;
}

/// Repartitions a tensor from blocks along its last dimension to blocks along its first.
template <class T, std::size_t Rank>
void expect_repartitioned(const world& everyone) {
  shape<Rank> last_cut{}, first_cut{}, tensor{};
  last_cut.fill(1), first_cut.fill(1), tensor.fill(2);
  if constexpr (Rank > 0) {
    last_cut[Rank - 1] = first_cut[0] = everyone.size();
    tensor[0] = 3;
    tensor[Rank - 1] = 5;
  }
  std::vector<std::size_t> ids;
  for (std::size_t k = 0; k < (Rank == 0 ? 1 : everyone.size()); ++k) ids.push_back(k);
  const auto p = place<Rank>{last_cut, ids}.on(everyone), q = place<Rank>{first_cut, ids}.on(everyone);
  const auto block = [&](const auto& partition) {
    if (!partition.active()) return zero_volume<T, Rank>();
    return part_of_a_tensor<T, Rank>(
        tensor, decomposition<Rank>::balanced(tensor, partition.grid().shape()).block(partition.index()));
  };
  const repartition move(p, q);
  const auto x = block(p), y = block(q);
  BOOST_TEST(same(move(x), y));
  BOOST_TEST(same(move.adjoint(y), x));
}

using ranks =
    boost::mpl::list<std::integral_constant<std::size_t, 0>, std::integral_constant<std::size_t, 1>,
                     std::integral_constant<std::size_t, 2>, std::integral_constant<std::size_t, 3>,
                     std::integral_constant<std::size_t, 4>, std::integral_constant<std::size_t, 5>,
                     std::integral_constant<std::size_t, 6>, std::integral_constant<std::size_t, 7>,
                     std::integral_constant<std::size_t, 8>, std::integral_constant<std::size_t, most_dimensions>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(elements_and_ranks)

BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_are_moved_and_summed, T, numbers) {
  const world everyone(test::workers());
  expect_moved<T, 2>(everyone);
  expect_summed<T, 2>(everyone);
  expect_repartitioned<T, 2>(everyone);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(other_elements_are_moved, T, others) {
  const world everyone(test::workers());
  expect_moved<T, 2>(everyone);
  expect_repartitioned<T, 2>(everyone);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(blocks_of_every_rank_are_moved_and_summed, Rank, ranks) {
  const world everyone(test::workers());
  expect_moved<float, Rank::value>(everyone);
  expect_summed<float, Rank::value>(everyone);
  expect_repartitioned<float, Rank::value>(everyone);
}

BOOST_AUTO_TEST_SUITE_END()
