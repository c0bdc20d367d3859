// Evaluates an element-wise expression row by row, for any strides, with loops like hand-written loops.
//
// xtensor evaluates a broadcast expression element by element, which takes about 10 to 30 times as long as loops over
// rows. Operands with a pointer and strides are read directly. Along the innermost dimension most strides are 1 or 0,
// and the loops are compiled for each combination of 1 and 0, so that the compiler can use vector instructions. The
// loop is selected once for the two innermost dimensions, because selecting a loop for each row takes as long as a row
// of 8 elements.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/array/expression.hpp>
#include <partita/array/row_walk.hpp>
#include <tuple>
#include <utility>

namespace partita::detail {

/// A user's function as xtensor stores it in a lazy expression, which is then assigned row by row.
template <class F>
struct applied {
  F f;
  template <class... T>
  constexpr auto operator()(const T&... x) const {
    return f(x...);
  }
};

/// Reads a row of an expression. `leaves` is the number of strided operands of the expression.
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
  std::ptrdiff_t down = 0, along = 0;
  value_type held{};

  explicit row_reader(const E& e)
      : array(std::addressof(e)), first(e.data() + static_cast<std::ptrdiff_t>(e.data_offset())) {}

  /// The stride of an operand along each dimension of a result of `rank` dimensions: 0 where the operand is repeated.
  template <class Steps>
  void strides(std::size_t d, std::size_t rank, Steps& out, std::size_t& k) const {
    constexpr std::size_t known_rank = operand_rank_of<E>;
    const std::size_t own = known_rank == unknown_rank ? array->dimension() : known_rank;
    const bool spans = d + own >= rank && array->shape()[d + own - rank] != 1;
    out[k++] = spans ? static_cast<std::ptrdiff_t>(array->strides()[d + own - rank]) : 0;
  }
  /// Moves the reader to the plane whose first element is at `offsets`.
  template <class Plane, class Steps>
  void enter_plane(const Plane& plane, const Steps& offsets, std::size_t& k) {
    row = first + offsets[k];
    down = plane.down[k];
    along = plane.along[k++];
  }
  template <unsigned Units, bool General, std::size_t K>
  void enter_row() {
    if constexpr (!General && !((Units >> K) & 1U)) held = *row;
  }
  void next_row() { row += down; }
  /// Element i of the row. Bits of `Units` mark the leaves with stride 1; the other leaves have stride 0 or, with
  /// `General`, any stride.
  template <unsigned Units, bool General, std::size_t K>
  const value_type& at(std::ptrdiff_t i) const {
    if constexpr (General) return row[i * along];
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
  template <class Plane, class Steps>
  void enter_plane(const Plane&, const Steps&, std::size_t&) {}
  template <unsigned, bool, std::size_t>
  void enter_row() {}
  void next_row() {}
  template <unsigned, bool, std::size_t>
  const value_type& at(std::ptrdiff_t) const {
    return value;
  }
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
  template <class Plane, class Steps>
  void enter_plane(const Plane& plane, const Steps& offsets, std::size_t& k) {
    std::apply([&](auto&... x) { (x.enter_plane(plane, offsets, k), ...); }, operands);
  }
  template <unsigned Units, bool General, std::size_t K>
  void enter_row() {
    enter_row_of_operands<Units, General, K>(std::index_sequence_for<CT...>{});
  }
  void next_row() {
    std::apply([](auto&... x) { (x.next_row(), ...); }, operands);
  }
  template <unsigned Units, bool General, std::size_t K>
  auto at(std::ptrdiff_t i) const {
    return at_operands<Units, General, K>(i, std::index_sequence_for<CT...>{});
  }

 private:
  template <unsigned Units, bool General, std::size_t K, std::size_t... J>
  void enter_row_of_operands(std::index_sequence<J...>) {
    (std::get<J>(operands).template enter_row<Units, General, K + leaves_before<J>()>(), ...);
  }
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

/// An expression E can be assigned to a target of type To row by row.
template <class To, class E>
concept row_assignable = strided_expression<To> && row_reader<E>::readable && requires(To& to) { *to.data() = {}; };

// Asserts that no iteration of the next loop reads what another has written. g++ unrolls the loop by two (vectors),
// because such a short loop is up to 1.6 times slower where it straddles two lines of the instruction cache.
#if defined(__clang__)
// The compiler would warn of each loop that it cannot vectorize, such as a loop that calls a function like std::atan2.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define PARTITA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define PARTITA_INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 2")
#endif

/// Writes a plane. The target is no operand, or an operand at the same position, so no written element is read later.
/// The macro tells the compiler so, which would otherwise check each row.
template <unsigned Units, bool General, class T, class Plane, class Reader>
void write_plane(T* to, const Plane& plane, const Reader& operands) {
  Reader from = operands;  // a local copy of the reader stays in registers
  const auto n = static_cast<std::ptrdiff_t>(plane.n);
  const std::ptrdiff_t down = plane.down[0], along = General ? plane.along[0] : 1;
  for (std::size_t left = plane.rows;;) {
    from.template enter_row<Units, General, 0>();
    PARTITA_INDEPENDENT
    for (std::ptrdiff_t i = 0; i < n; ++i) to[i * along] = static_cast<T>(from.template at<Units, General, 0>(i));
    if (--left == 0) return;
    from.next_row();
    to += down;
  }
}

#undef PARTITA_INDEPENDENT
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Selects the loop for the strides along a row: one loop for each combination of 1 and 0 over at most 3 leaves, or the
/// general loop.
template <class T, class Reader, std::size_t Leaves, class Plane>
auto choose_writer(const Plane& plane) {
  using writer = void (*)(T*, const Plane&, const Reader&);
  if constexpr (Leaves <= 3) {
    unsigned units = 0;
    bool plain = plane.along[0] == 1;
    for (std::size_t k = 0; k < Leaves; ++k) {
      const std::ptrdiff_t stride = plane.along[k + 1];
      if (stride == 1) units |= 1U << k;
      plain = plain && (stride == 0 || stride == 1);
    }
    if (plain) {
      return [units]<unsigned... U>(std::integer_sequence<unsigned, U...>) {
        constexpr writer all[] = {&write_plane<U, false, T, Plane, Reader>...};
        return all[units];
      }(std::make_integer_sequence<unsigned, (1U << Leaves)>{});
    }
  }
  return writer{&write_plane<0, true, T, Plane, Reader>};
}

/// Writes an expression of the target's shape (or one that broadcasts to it) to a strided target. The target may be one
/// of the operands, at the same position; other overlaps are not allowed.
template <class To, class E>
void assign_rows(To& to, const E& e) {
  constexpr std::size_t leaves = row_reader<E>::leaves;
  using value_type = typename To::value_type;
  constexpr std::size_t known_rank = operand_rank_of<To>;
  using walk_type = row_walk<leaves + 1, known_rank == unknown_rank ? most_dimensions : known_rank>;
  row_reader<E> reader(e);
  walk_type walk;
  const std::size_t rank = known_rank == unknown_rank ? to.dimension() : known_rank;
  for (std::size_t d = 0; d < rank; ++d) {
    typename walk_type::steps steps{};
    steps[0] = static_cast<std::ptrdiff_t>(to.strides()[d]);
    std::size_t k = 1;
    reader.strides(d, rank, steps, k);
    walk.add(to.shape()[d], steps);
  }
  walk.follow_the_first_block();
  auto* first = to.data() + static_cast<std::ptrdiff_t>(to.data_offset());
  const auto plane = walk.innermost();
  auto* write = choose_writer<value_type, row_reader<E>, leaves>(plane);
  walk.for_each_plane([&](const auto& offsets) {
    row_reader<E> here = reader;
    std::size_t k = 1;
    here.enter_plane(plane, offsets, k);
    write(first + offsets[0], plane, here);
  });
}

}  // namespace partita::detail

namespace xt {

// Customizes xtensor: expressions with functions of partita are written row by row where xtensor would step through the
// result element by element.
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
