// The laws that every kernel obeys, each written once. They use integer-valued blocks, which every worker can compute
// for all workers, and equality without tolerance. A kernel is tested by passing it to `expect_all_laws`.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <partita/comm/pooled.hpp>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/sequentially.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi_test.hpp"

namespace law {

using namespace partita;
template <std::size_t Rank>
using shape = std::array<std::size_t, Rank>;

/// The k-th element of the block with a given number. It is small, so that sums of products are exact in every type.
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

/// Whether two blocks have equal shapes and equal elements.
template <class A, class B>
bool same(const A& a, const B& b) {
  if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end())) return false;
  const xt::xtensor<element_of<A>, rank_of<A>> left = a, right = b;
  for (std::size_t k = 0; k < left.size(); ++k)
    if (!(left.data()[k] == right.data()[k])) return false;
  return true;
}

/// A description of a partition: its extents, and its workers in order.
template <std::size_t Rank>
struct place {
  shape<Rank> extents;
  std::vector<std::size_t> ids;

  std::size_t bound() const { return workers(ids).id_end(); }
  auto on(const world& everyone) const { return everyone.partition(dynamic_extents<Rank>(extents), workers(ids)); }
};

/// One row of a table: a name and two partitions.
template <std::size_t Source, std::size_t Destination>
struct row {
  const char* name;
  place<Source> from;
  place<Destination> to;

  bool fits(const world& everyone) const { return from.bound() <= everyone.size() && to.bound() <= everyone.size(); }
};

/// Runs a law on every row for which there are enough workers; there must be at least one such row.
template <class Rows, class Law>
void for_each_row(const world& everyone, const Rows& rows, Law hold) {
  std::size_t held = 0;
  for (const auto& r : rows) {
    if (!r.fits(everyone)) continue;
    BOOST_TEST_CONTEXT(r.name) {
      const std::size_t pooled_before = pooled.bytes_in_use;
      hold(r);
      BOOST_TEST(pooled.bytes_in_use == pooled_before);  // kernels and results give back what they took
    }
    ++held;
  }
  BOOST_TEST(held > 0U);
}

/// Checks that F x and F* y equal the results of the sequential executor, and that <F x, y> == <x, F* y>. x and y are
/// made by functions of the worker id.
template <class Kernel, class Sequential, class MakeX, class MakeY>
void expect_as_in_one_process(const world& everyone, const Kernel& kernel, Sequential sequential, MakeX x_of,
                              MakeY y_of) {
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

/// Checks <F x, y> == <x, F* y> exactly. A worker that is inactive on one side adds a block of zero volume there.
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

/// Computes a x + b z, element by element.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> combined(T a, const xt::xtensor<T, Rank>& x, T b, const xt::xtensor<T, Rank>& z) {
  xt::xtensor<T, Rank> sum = x;
  for (std::size_t k = 0; k < sum.size(); ++k) sum.data()[k] = static_cast<T>(a * x.data()[k] + b * z.data()[k]);
  return sum;
}
/// A different block of the same shape.
template <class T, std::size_t Rank>
xt::xtensor<T, Rank> another(const xt::xtensor<T, Rank>& x, std::size_t number) {
  shape<Rank> extents{};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = x.shape()[d];
  return integers<T, Rank>(extents, number);
}

/// Checks F(a x + b z) == a F x + b F z.
template <class F, class T, std::size_t Rank>
void expect_linear(F f, const xt::xtensor<T, Rank>& x, std::size_t number) {
  const auto z = another(x, number);
  const xt::xtensor<T, Rank> of_x = f(x), of_z = f(z);
  BOOST_TEST(same(f(combined(T(2), x, T(3), z)), combined(T(2), of_x, T(3), of_z)));
}

/// A view of every second element of a larger tensor. The elements outside the view must keep their values.
template <class T, std::size_t Rank>
class framed {
 public:
  explicit framed(const shape<Rank>& extents) : extents_(extents) {
    shape<Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = 2 * extents[d] + 3;
    tensor_ = uninitialised<T, Rank>(all);
    std::fill_n(tensor_.data(), tensor_.size(), T(77));
  }
  auto view() { return view(std::make_index_sequence<Rank>()); }
  bool only_the_view_was_written() {
    auto inside = view();
    inside.fill(T(77));
    return std::all_of(tensor_.data(), tensor_.data() + tensor_.size(), [](const T& e) { return e == T(77); });
  }

 private:
  template <std::size_t... D>
  auto view(std::index_sequence<D...>) {
    return xt::view(tensor_, xt::range(std::size_t{1}, 1 + 2 * extents_[D], std::size_t{2})...);
  }
  shape<Rank> extents_;
  xt::xtensor<T, Rank> tensor_;
};

/// Checks that filling a view gives the result of the call and changes nothing outside the view.
template <class Fill, class Y>
void expect_same_in_view(Fill fill, const Y& y) {
  constexpr std::size_t rank = rank_of<Y>;
  shape<rank> extents{};
  for (std::size_t d = 0; d < rank; ++d) extents[d] = y.shape()[d];
  framed<element_of<Y>, rank> wanted(extents);
  fill(wanted.view());
  if (y.size() != 0) BOOST_TEST(same(xt::xtensor<element_of<Y>, rank>(wanted.view()), y));
  BOOST_TEST(wanted.only_the_view_was_written());
}

/// Checks every law for a kernel and its sequential executor. x_of and y_of make the blocks of a worker; `gives` and
/// `takes` say whether this worker is active on the side of x and of y. Views and non-blocking calls are skipped for a
/// kernel that does not have them.
template <class Kernel, class Sequential, class MakeX, class MakeY>
void expect_all_laws(const world& everyone, const Kernel& k, const Sequential& k_1, bool gives, MakeX x_of, bool takes,
                     MakeY y_of) {
  const std::size_t me = everyone.id();
  const auto x = x_of(me);
  const auto dy = y_of(me);
  expect_as_in_one_process(everyone, k, k_1, x_of, y_of);
  expect_adjoint(everyone, k, gives, x, takes, dy);
  expect_linear([&](const auto& block) { return k(block); }, x, me + 57);
  const auto y = k(x);
  if constexpr (requires { k.into(x, framed<element_of<decltype(x)>, rank_of<decltype(x)>>({}).view()); })
    expect_same_in_view([&](auto&& view) { k.into(x, view); }, y);
  if constexpr (requires { k.start(x); }) {
    auto changeable = x;
    BOOST_TEST((same(k.start(x).finish(), y) && same(k.start(changeable).finish(), y)));
  }
  const auto dx = k.adjoint(dy);  // refers to the forward call above
  if constexpr (requires { k.adjoint_into(dy, framed<element_of<decltype(dy)>, rank_of<decltype(dy)>>({}).view()); })
    expect_same_in_view([&](auto&& view) { k.adjoint_into(dy, view); }, dx);
  if constexpr (requires { k.start_adjoint(dy); }) {
    auto changeable = dy;
    BOOST_TEST((same(k.start_adjoint(dy).finish(), dx) && same(k.start_adjoint(changeable).finish(), dx)));
  }
  expect_linear([&](const auto& block) { return k.adjoint(block); }, dy, me + 91);
}

/// Checks the adjoint of the adjoint: F's adjoint equals the kernel `back`, and the adjoint of `back` equals F.
template <class Kernel, class Back, class X, class Y>
void expect_adjoint_of_adjoint(const Kernel& k, const Back& back, const X& x, const Y& dy) {
  const auto y = k(x);
  BOOST_TEST(same(k.adjoint(dy), back(dy)));
  BOOST_TEST(same(back.adjoint(x), y));
}

}  // namespace law
