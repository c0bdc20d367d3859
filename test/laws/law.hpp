// What the laws are stated with: integer-valued blocks that every worker knows of all others, and equality without tolerance.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/sequentially.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi_test.hpp"

namespace law {

using namespace partita;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

/// The k-th element of a block that is told apart by a number: small, so that sums of products are exact in every type.
template <class T>
T element(std::size_t k, std::size_t number) {
  const std::size_t mixed = 7 * k + 5 * number + k / 5;
  if constexpr (std::is_same_v<T, bool>) return mixed % 3 == 0;
  else if constexpr (detail::is_complex<T>)
    return T(static_cast<typename T::value_type>(mixed % 7) - 3, static_cast<typename T::value_type>(mixed % 5) - 2);
  else if constexpr (std::is_unsigned_v<T>) return static_cast<T>(mixed % 7);
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(static_cast<int>(mixed % 7) - 3);
  else return T(static_cast<int>(mixed % 97));
}

template <class T, std::size_t Rank>
xt::xtensor<T, Rank> integers(const shape<Rank>& extents, std::size_t number) {
  auto block = uninitialised<T, Rank>(extents);
  for (std::size_t k = 0; k < block.size(); ++k) block.data()[k] = element<T>(k, number);
  return block;
}

/// Equal in shape and in every element.
template <class A, class B>
bool same(const A& a, const B& b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end())) return false;
  const xt::xtensor<element_of<A>, rank_of<A>> left = a, right = b;
  for (std::size_t k = 0; k < left.size(); ++k)
    if (!(left.data()[k] == right.data()[k])) return false;
  return true;
}

/// Where a partition stands: its extents, and its workers in order.
template <std::size_t Rank>
struct place {
  shape<Rank> extents;
  std::vector<std::size_t> ids;

  std::size_t bound() const { return workers(ids).bound(); }
  auto on(const world& everyone) const { return everyone.partition(dynamic_extents<Rank>(extents), workers(ids)); }
};

/// One row of a table: two partitions, by name.
template <std::size_t Source, std::size_t Destination>
struct row {
  const char* name;
  place<Source> from;
  place<Destination> to;

  bool fits(const world& everyone) const { return from.bound() <= everyone.size() && to.bound() <= everyone.size(); }
};

/// Runs a law on every row that the workers are enough for; at least one row must be.
template <class Rows, class Law>
void for_each_row(const world& everyone, const Rows& rows, Law hold) {
  std::size_t held = 0;
  for (const auto& r : rows) {
    if (!r.fits(everyone)) continue;
    BOOST_TEST_CONTEXT(r.name) hold(r);
    ++held;
  }
  BOOST_TEST(held > 0U);
}

/// F x and F* y on these workers are what the sequential executor computes for all of them, and <F x, y> == <x, F* y>.
/// x and y are made by functions of the worker id.
template <class Kernel, class Sequential, class MakeX, class MakeY>
void expect_as_in_one_process(const world& everyone, const Kernel& kernel, Sequential sequential, MakeX x_of, MakeY y_of) {
  using X = decltype(x_of(std::size_t{0}));
  std::vector<X> x, dy;
  for (std::size_t k = 0; k < everyone.size(); ++k) x.push_back(x_of(k));
  for (std::size_t k = 0; k < everyone.size(); ++k) dy.push_back(y_of(k));
  const std::size_t me = everyone.id();
  const auto y = kernel(x[me]);
  BOOST_TEST(same(y, sequential(x)[me]));
  const auto dx = kernel.adjoint(dy[me]);
  BOOST_TEST(same(dx, sequential.adjoint(dy)[me]));
}

/// <F x, y> == <x, F* y>, exactly. Where a worker is inactive on one side, both products see zero volume there.
template <class Kernel, class X, class Y>
void expect_adjoint(const world& everyone, const Kernel& kernel, bool gives, const X& x, bool takes, const Y& dy) {
  using T = element_of<X>;
  const auto y = kernel(x);
  const auto dx = kernel.adjoint(dy);
  T products[2] = {takes ? local_dot(y, dy) : T{}, gives ? local_dot(x, dx) : T{}};
  T sums[2] = {};
  std::vector<T> all(2 * everyone.size());
  const int bytes = static_cast<int>(sizeof(products));
  MPI_Allgather(products, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, everyone.communicator());
  for (std::size_t k = 0; k < all.size(); ++k) sums[k % 2] = static_cast<T>(sums[k % 2] + all[k]);
  BOOST_TEST((sums[0] == sums[1]));
}

}  // namespace law
