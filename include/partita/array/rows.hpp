// Writing an element-wise expression row by row: what a person would write by hand, for any strides.
//
// xtensor walks a broadcast expression element by element, which costs some 10 to 20 times the loop over rows below.
// Operands that have a pointer and strides are read through them; along the innermost dimension each stride is mostly 1
// or 0, and the loop is compiled for each such combination, so that the compiler can use vector instructions.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/array/expression.hpp>
#include <tuple>
#include <utility>

namespace partita::detail {

/// N strided blocks of one shape walked together, with dimensions merged where all N are contiguous.
template <std::size_t N>
class row_walk {
 public:
  using steps = std::array<std::ptrdiff_t, N>;

  /// Adds the next inner dimension.
  void add(std::size_t extent, const steps& strides) {
    if (extent == 0) empty_ = true;
    if (extent == 1) return;
    if (rank_ > 0) {
      bool contiguous = true;
      for (std::size_t k = 0; k < N; ++k)
        contiguous = contiguous && strides_[rank_ - 1][k] == strides[k] * static_cast<std::ptrdiff_t>(extent);
      if (contiguous) {
        extents_[rank_ - 1] *= extent;
        strides_[rank_ - 1] = strides;
        return;
      }
    }
    extents_[rank_] = extent;
    strides_[rank_++] = strides;
  }

  /// Orders the dimensions so that the strides of block 0 fall, and its elements are met in the order of its memory.
  void follow_the_first_block() {
    row_walk sorted;
    sorted.empty_ = empty_;
    std::array<bool, most_dimensions> taken{};
    for (std::size_t k = 0; k < rank_; ++k) {
      std::size_t widest = rank_;
      for (std::size_t d = 0; d < rank_; ++d)
        if (!taken[d] && (widest == rank_ || magnitude(d) > magnitude(widest))) widest = d;
      taken[widest] = true;
      sorted.add(extents_[widest], strides_[widest]);
    }
    *this = sorted;
  }

  /// The strides along a row.
  steps row_strides() const { return rank_ == 0 ? steps{} : strides_[rank_ - 1]; }

  /// Calls `row(offsets, n)` with the offset of each block's first element of each row of n elements.
  template <class Row>
  void for_each_row(Row row) const {
    if (empty_) return;
    steps offsets{};
    if (rank_ == 0) {
      row(offsets, std::size_t{1});
      return;
    }
    std::array<std::size_t, most_dimensions> position{};
    for (;;) {
      row(offsets, extents_[rank_ - 1]);
      std::size_t d = rank_ - 1;
      for (;;) {
        if (d == 0) return;
        --d;
        for (std::size_t k = 0; k < N; ++k) offsets[k] += strides_[d][k];
        if (++position[d] < extents_[d]) break;
        for (std::size_t k = 0; k < N; ++k)
          offsets[k] -= strides_[d][k] * static_cast<std::ptrdiff_t>(extents_[d]);
        position[d] = 0;
      }
    }
  }

 private:
  std::ptrdiff_t magnitude(std::size_t d) const { return strides_[d][0] < 0 ? -strides_[d][0] : strides_[d][0]; }

  std::array<std::size_t, most_dimensions> extents_{};
  std::array<steps, most_dimensions> strides_{};
  std::size_t rank_ = 0;
  bool empty_ = false;
};

/// A user's function as xtensor stores it in a lazy expression; expressions over it are assigned row by row.
template <class F>
struct applied {
  F f;
  template <class... T>
  constexpr auto operator()(const T&... x) const {
    return f(x...);
  }
};

/// How a row of an expression is read. `leaves` counts the strided operands in it.
template <class E>
struct row_reader {
  static constexpr bool readable = false;
  static constexpr std::size_t leaves = 0;
};

template <strided_expression E>
struct row_reader<E> {
  static constexpr bool readable = true;
  static constexpr std::size_t leaves = 1;
  using value_type = typename E::value_type;

  const E* array;
  const value_type* first;
  const value_type* row = nullptr;
  std::ptrdiff_t stride = 0;
  value_type held{};

  explicit row_reader(const E& e) : array(std::addressof(e)), first(e.data() + static_cast<std::ptrdiff_t>(e.data_offset())) {}

  /// The stride of this operand along each dimension of a result of `rank` dimensions: 0 where it is repeated.
  template <class Steps>
  void strides(std::size_t d, std::size_t rank, Steps& out, std::size_t& k) const {
    const std::size_t own = array->dimension();
    const bool spans = d + own >= rank && array->shape()[d + own - rank] != 1;
    out[k++] = spans ? static_cast<std::ptrdiff_t>(array->strides()[d + own - rank]) : 0;
  }
  template <class Steps>
  void start(const Steps& offsets, const Steps& row_strides, std::size_t& k) {
    row = first + offsets[k];
    stride = row_strides[k++];
    held = *row;
  }
  /// Element i of the row. Bits of `Units` say which leaves have stride 1; the others are repeated, or strided in general.
  template <unsigned Units, bool General, std::size_t K>
  const value_type& at(std::ptrdiff_t i) const {
    if constexpr (General) return row[i * stride];
    else if constexpr ((Units >> K) & 1U) return row[i];
    else return held;
  }
};

template <class CT>
struct row_reader<xt::xscalar<CT>> {
  static constexpr bool readable = true;
  static constexpr std::size_t leaves = 0;
  using value_type = typename xt::xscalar<CT>::value_type;

  value_type value;
  explicit row_reader(const xt::xscalar<CT>& e) : value(e()) {}
  template <class Steps>
  void strides(std::size_t, std::size_t, Steps&, std::size_t&) const {}
  template <class Steps>
  void start(const Steps&, const Steps&, std::size_t&) {}
  template <unsigned, bool, std::size_t>
  const value_type& at(std::ptrdiff_t) const { return value; }
};

template <class F, class... CT>
struct row_reader<xt::xfunction<applied<F>, CT...>> {
  static constexpr bool readable = (row_reader<std::remove_cvref_t<CT>>::readable && ...);
  static constexpr std::size_t leaves = (row_reader<std::remove_cvref_t<CT>>::leaves + ... + 0);
  using function = xt::xfunction<applied<F>, CT...>;

  const applied<F>* f;
  std::tuple<row_reader<std::remove_cvref_t<CT>>...> operands;

  explicit row_reader(const function& e)
      : f(&e.functor()),
        operands(std::apply([](const auto&... x) { return std::tuple(row_reader<std::remove_cvref_t<CT>>(x)...); },
                            e.arguments())) {}
  template <class Steps>
  void strides(std::size_t d, std::size_t rank, Steps& out, std::size_t& k) const {
    std::apply([&](const auto&... x) { (x.strides(d, rank, out, k), ...); }, operands);
  }
  template <class Steps>
  void start(const Steps& offsets, const Steps& row_strides, std::size_t& k) {
    std::apply([&](auto&... x) { (x.start(offsets, row_strides, k), ...); }, operands);
  }
  template <unsigned Units, bool General, std::size_t K>
  auto at(std::ptrdiff_t i) const {
    return at_operands<Units, General, K>(i, std::index_sequence_for<CT...>{});
  }

 private:
  template <unsigned Units, bool General, std::size_t K, std::size_t... J>
  auto at_operands(std::ptrdiff_t i, std::index_sequence<J...>) const {
    return (*f)(std::get<J>(operands).template at<Units, General, K + leaves_before<J>()>(i)...);
  }
  template <std::size_t J>
  static constexpr std::size_t leaves_before() {
    constexpr std::array<std::size_t, sizeof...(CT)> each{row_reader<std::remove_cvref_t<CT>>::leaves...};
    std::size_t sum = 0;
    for (std::size_t k = 0; k < J; ++k) sum += each[k];
    return sum;
  }
};

/// E can be written into To row by row.
template <class To, class E>
concept row_assignable = strided_expression<To> && row_reader<E>::readable && requires(To& to) { *to.data() = {}; };

template <unsigned Units, bool General, class T, class Reader>
void write_row(T* to, std::ptrdiff_t stride, const Reader& from, std::size_t n) {
  if constexpr (General) {
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i)
      to[i * stride] = static_cast<T>(from.template at<Units, General, 0>(i));
  } else {
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i)
      to[i] = static_cast<T>(from.template at<Units, General, 0>(i));
  }
}

/// Calls `use` with the writer for these strides: one for each combination of 1 and 0 over at most 3 leaves, or the
/// general one.
template <class T, class Reader, std::size_t Leaves, class Steps>
auto choose_writer(const Steps& strides) {
  using writer = void (*)(T*, std::ptrdiff_t, const Reader&, std::size_t);
  if constexpr (Leaves <= 3) {
    unsigned units = 0;
    bool plain = strides[0] == 1;
    for (std::size_t k = 0; k < Leaves; ++k) {
      if (strides[k + 1] == 1) units |= 1U << k;
      plain = plain && (strides[k + 1] == 0 || strides[k + 1] == 1);
    }
    if (plain) {
      return [units]<unsigned... U>(std::integer_sequence<unsigned, U...>) {
        constexpr writer all[] = {&write_row<U, false, T, Reader>...};
        return all[units];
      }(std::make_integer_sequence<unsigned, (1U << Leaves)>{});
    }
  }
  return writer{&write_row<0, true, T, Reader>};
}

/// Writes an expression of the target's shape (or one that broadcasts to it) into a strided target. The target may be
/// one of the operands, at the same place; it must not overlap them otherwise.
template <class To, class E>
void assign_rows(To& to, const E& e) {
  constexpr std::size_t leaves = row_reader<E>::leaves;
  using value_type = typename To::value_type;
  row_reader<E> reader(e);
  row_walk<leaves + 1> walk;
  const std::size_t rank = to.dimension();
  for (std::size_t d = 0; d < rank; ++d) {
    typename row_walk<leaves + 1>::steps steps{};
    steps[0] = static_cast<std::ptrdiff_t>(to.strides()[d]);
    std::size_t k = 1;
    reader.strides(d, rank, steps, k);
    walk.add(to.shape()[d], steps);
  }
  walk.follow_the_first_block();
  auto* first = to.data() + static_cast<std::ptrdiff_t>(to.data_offset());
  const auto strides = walk.row_strides();
  // a single element is a row of one, whatever its strides
  auto* write = choose_writer<value_type, row_reader<E>, leaves>(strides);
  walk.for_each_row([&](const auto& offsets, std::size_t n) {
    std::size_t k = 1;
    reader.start(offsets, strides, k);
    write(first + offsets[0], strides[0], reader, n);
  });
}

}  // namespace partita::detail

namespace xt {

// The hook: where xtensor would step through the result element by element, our own functions are written row by row.
template <class E1, class F, class... CT, layout_type L>
  requires partita::detail::row_assignable<E1, xfunction<partita::detail::applied<F>, CT...>>
class stepper_assigner<E1, xfunction<partita::detail::applied<F>, CT...>, L> {
 public:
  using expression = xfunction<partita::detail::applied<F>, CT...>;
  stepper_assigner(E1& to, const expression& e) : to_(to), expression_(e) {}
  void run() { partita::detail::assign_rows(to_, expression_); }

 private:
  E1& to_;
  const expression& expression_;
};

}  // namespace xt
