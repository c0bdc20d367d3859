// Evaluates an element-wise expression row by row, for any strides, with loops like hand-written loops.
//
// xtensor evaluates a broadcast expression element by element, which takes about 10 to 30 times as long as loops over
// rows. Operands with a pointer and strides are read directly. Along the innermost dimension most strides are 1 or 0,
// and for up to 3 operands the loops are compiled for each combination of 1 and 0, so that the compiler can use vector
// instructions. The loop is selected once for the two innermost dimensions, because selecting a loop for each row takes
// as long as a row of 8 elements.
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
struct elementwise_function {
  F f;
  template <class... T>
  constexpr auto operator()(const T&... x) const {
    return f(x...);
  }
};

/// Reads a row of an expression. `leaf_count` is the number of strided operands of the expression.
template <class E>
struct row_reader {
  static constexpr bool is_readable = false;
  static constexpr std::size_t leaf_count = 0;
};

template <strided_expression E>
struct row_reader<E> {
  static constexpr bool is_readable = true;
  static constexpr std::size_t leaf_count = 1;
  using value_type = typename E::value_type;

  const E* array;                                ///< the operand that is read
  const value_type* first;                       ///< the address of its element (0, …, 0)
  const value_type* row = nullptr;               ///< the first element of the current row
  std::ptrdiff_t row_step = 0, column_step = 0;  ///< its strides from row to row and along a row of the plane
  value_type held_value{};                       ///< the value of a row along which the operand is repeated

  explicit row_reader(const E& e)
      : array(std::addressof(e)), first(e.data() + static_cast<std::ptrdiff_t>(e.data_offset())) {}

  /// Writes the stride of this operand along dimension d of a result of `rank` dimensions to out[k], and increments k.
  /// The stride is 0 if the operand is repeated along d.
  template <class Steps>
  void write_strides(std::size_t d, std::size_t rank, Steps& out, std::size_t& k) const {
    constexpr std::size_t known_rank = array_operand_rank<E>;
    const std::size_t own = known_rank == unknown_rank ? array->dimension() : known_rank;
    const bool spans = d + own >= rank && array->shape()[d + own - rank] != 1;
    out[k++] = spans ? static_cast<std::ptrdiff_t>(array->strides()[d + own - rank]) : 0;
  }
  /// Moves the reader to the plane whose first element is at `offsets`.
  template <class Plane, class Steps>
  void enter_plane(const Plane& plane, const Steps& offsets, std::size_t& k) {
    row = first + offsets[k];
    row_step = plane.row_step[k];
    column_step = plane.column_step[k++];
  }
  /// Prepares at() for the current row; K is the number of this leaf in the whole expression.
  template <unsigned Units, bool General, std::size_t K>
  void enter_row() {
    if constexpr (!General && !((Units >> K) & 1U)) held_value = *row;
  }
  void next_row() { row += row_step; }  ///< moves to the next row of the plane
  /// The element of the expression at index i of the current row. Bits of `Units` mark the leaves with stride 1; the
  /// other leaves have stride 0 or, with `General`, any stride.
  template <unsigned Units, bool General, std::size_t K>
  const value_type& at(std::ptrdiff_t i) const {
    if constexpr (General) return row[i * column_step];
    else if constexpr ((Units >> K) & 1U) return row[i];
    else return held_value;
  }
};

template <class CT>
struct row_reader<xt::xscalar<CT>> {
  static constexpr bool is_readable = true;
  static constexpr std::size_t leaf_count = 0;
  using value_type = typename xt::xscalar<CT>::value_type;

  value_type value;  ///< the value of the scalar
  explicit row_reader(const xt::xscalar<CT>& e) : value(e()) {}
  template <class Steps>
  void write_strides(std::size_t, std::size_t, Steps&, std::size_t&) const {}
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
struct row_reader<xt::xfunction<elementwise_function<F>, CT...>> {
  /// Whether all operands can be read by a row_reader.
  static constexpr bool is_readable = (row_reader<std::remove_cvref_t<CT>>::is_readable && ...);
  static constexpr std::size_t leaf_count = (row_reader<std::remove_cvref_t<CT>>::leaf_count + ... + 0);
  using function = xt::xfunction<elementwise_function<F>, CT...>;  ///< the expression that is read

  const elementwise_function<F>* f;
  std::tuple<row_reader<std::remove_cvref_t<CT>>...> operands;  ///< one reader for each argument of f

  explicit row_reader(const function& e)
      : f(&e.functor()),
        operands(std::apply([](const auto&... x) { return std::tuple(row_reader<std::remove_cvref_t<CT>>(x)...); },
                            e.arguments())) {}
  template <class Steps>
  void write_strides(std::size_t d, std::size_t rank, Steps& out, std::size_t& k) const {  ///< for all operands
    std::apply([&](const auto&... x) { (x.write_strides(d, rank, out, k), ...); }, operands);
  }
  template <class Plane, class Steps>
  void enter_plane(const Plane& plane, const Steps& offsets, std::size_t& k) {  ///< moves all operands to this plane
    std::apply([&](auto&... x) { (x.enter_plane(plane, offsets, k), ...); }, operands);
  }
  template <unsigned Units, bool General, std::size_t K>
  void enter_row() {  ///< prepares at() in all operands
    enter_row_in_operands<Units, General, K>(std::index_sequence_for<CT...>{});
  }
  void next_row() {
    std::apply([](auto&... x) { (x.next_row(), ...); }, operands);
  }
  template <unsigned Units, bool General, std::size_t K>
  auto at(std::ptrdiff_t i) const {  ///< f of the operands' elements at index i of the row
    return apply_function_at<Units, General, K>(i, std::index_sequence_for<CT...>{});
  }

 private:
  template <unsigned Units, bool General, std::size_t K, std::size_t... J>
  void enter_row_in_operands(std::index_sequence<J...>) {  ///< calls enter_row() of each operand
    (std::get<J>(operands).template enter_row<Units, General, K + leaf_offset<J>()>(), ...);
  }
  template <unsigned Units, bool General, std::size_t K, std::size_t... J>
  auto apply_function_at(std::ptrdiff_t i, std::index_sequence<J...>) const {  ///< implements at()
    return (*f)(std::get<J>(operands).template at<Units, General, K + leaf_offset<J>()>(i)...);
  }
  /// The number of leaves before operand J.
  template <std::size_t J>
  static constexpr std::size_t leaf_offset() {
    constexpr std::array<std::size_t, sizeof...(CT)> each{row_reader<std::remove_cvref_t<CT>>::leaf_count...};
    std::size_t sum = 0;
    for (std::size_t k = 0; k < J; ++k) sum += each[k];
    return sum;
  }
};

/// An expression E can be assigned to a target of type To row by row.
template <class To, class E>
concept row_assignable = strided_expression<To> && row_reader<E>::is_readable && requires(To& to) { *to.data() = {}; };

// Asserts that no iteration of the next loop reads what another has written. g++ unrolls the loop by two (vectors),
// because such a short loop is up to 1.6 times slower where it straddles two lines of the instruction cache.
#if defined(__clang__)
// The compiler would warn of each loop that it cannot vectorize, such as a loop that calls a function like std::atan2.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define PARTITA_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define PARTITA_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep") _Pragma("GCC unroll 2")
#endif

/// Writes a plane. The target is not an operand, or it is an operand whose elements are read where they are written, so
/// no written element is read later. PARTITA_INDEPENDENT_ITERATIONS tells the compiler that iterations are independent,
/// so that it need not check each row for overlaps.
template <unsigned Units, bool General, class T, class Plane, class Reader>
void write_plane(T* to, const Plane& plane, const Reader& operands) {
  Reader from = operands;  // a local copy of the reader stays in registers
  const auto n = static_cast<std::ptrdiff_t>(plane.n);
  const std::ptrdiff_t row_step = plane.row_step[0], column_step = General ? plane.column_step[0] : 1;
  for (std::size_t left = plane.rows;;) {
    from.template enter_row<Units, General, 0>();
    PARTITA_INDEPENDENT_ITERATIONS
    for (std::ptrdiff_t i = 0; i < n; ++i) to[i * column_step] = static_cast<T>(from.template at<Units, General, 0>(i));
    if (--left == 0) return;
    from.next_row();
    to += row_step;
  }
}

#undef PARTITA_INDEPENDENT_ITERATIONS
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

/// Selects the loop for the strides along a row: one loop for each combination of 1 and 0 over at most 3 leaves, or the
/// general loop.
template <class T, class Reader, std::size_t Leaves, class Plane>
auto choose_writer(const Plane& plane) {
  using plane_writer = void (*)(T*, const Plane&, const Reader&);  ///< one write_plane()
  if constexpr (Leaves <= 3) {
    unsigned units = 0;
    bool plain = plane.column_step[0] == 1;
    for (std::size_t k = 0; k < Leaves; ++k) {
      const std::ptrdiff_t stride = plane.column_step[k + 1];
      if (stride == 1) units |= 1U << k;
      plain = plain && (stride == 0 || stride == 1);
    }
    if (plain) {
      return [units]<unsigned... U>(std::integer_sequence<unsigned, U...>) {
        constexpr plane_writer all[] = {&write_plane<U, false, T, Plane, Reader>...};
        return all[units];
      }(std::make_integer_sequence<unsigned, (1U << Leaves)>{});
    }
  }
  return plane_writer{&write_plane<0, true, T, Plane, Reader>};
}

/// Writes an expression of the target's shape (or one that broadcasts to it) to a strided target. The target may be one
/// of the operands, at the same position; other overlaps are not allowed.
template <class To, class E>
void assign_rows(To& to, const E& e) {
  constexpr std::size_t leaf_count = row_reader<E>::leaf_count;
  using value_type = typename To::value_type;  ///< the element type of the target
  constexpr std::size_t known_rank = array_operand_rank<To>;
  using walk_type = row_walk<leaf_count + 1, known_rank == unknown_rank ? most_dimensions : known_rank>;
  row_reader<E> reader(e);
  walk_type walk;
  const std::size_t rank = known_rank == unknown_rank ? to.dimension() : known_rank;
  for (std::size_t d = 0; d < rank; ++d) {
    typename walk_type::steps steps{};
    steps[0] = static_cast<std::ptrdiff_t>(to.strides()[d]);
    std::size_t k = 1;
    reader.write_strides(d, rank, steps, k);
    walk.add(to.shape()[d], steps);
  }
  walk.sort_by_first_block();
  auto* first = to.data() + static_cast<std::ptrdiff_t>(to.data_offset());
  const auto plane = walk.innermost_plane();
  auto* write = choose_writer<value_type, row_reader<E>, leaf_count>(plane);
  walk.for_each_plane([&](const auto& offsets) {
    row_reader<E> here = reader;
    std::size_t k = 1;
    here.enter_plane(plane, offsets, k);
    write(first + offsets[0], plane, here);
  });
}

}  // namespace partita::detail

namespace xt {

/// Customizes xtensor: expressions with functions of partita are written row by row where xtensor would step through
/// the result element by element.
template <class E1, class F, class... CT, layout_type L>
  requires partita::detail::row_assignable<E1, xfunction<partita::detail::elementwise_function<F>, CT...>>
class stepper_assigner<E1, xfunction<partita::detail::elementwise_function<F>, CT...>, L> {
 public:
  using expression = xfunction<partita::detail::elementwise_function<F>, CT...>;
  stepper_assigner(E1& to, const expression& e) : target_array_(to), expression_(e) {}  ///< assigns `e` to `to`
  void run() { partita::detail::assign_rows(target_array_, expression_); }              ///< writes the target

 private:
  E1& target_array_;              ///< the array to which xtensor assigns
  const expression& expression_;  ///< the expression that is written to the target
};

}  // namespace xt
