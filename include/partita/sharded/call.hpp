// Calls an operation for all kinds of tensors: plain arrays, tensors with a typed layout, tensors with a run-time
// layout, and values of a program that is being traced.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <partita/array/as_rank.hpp>
#include <partita/plan/graph.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/sharded/detail/adjoint.hpp>
#include <partita/sharded/detail/elements_in_place.hpp>
#include <partita/sharded/detail/in_windows.hpp>
#include <partita/sharded/sharded.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

class traced;

namespace detail {

/// The number of a kind of tensors; see tensor_kind. A class derived from a tensor has the number of its base class.
template <class T, auto Layout>
std::integral_constant<int, 1> kind_of_tensor(const typed_sharded<T, Layout>*);
template <class T>
std::integral_constant<int, 2> kind_of_tensor(const sharded_tensor<T>*);
std::integral_constant<int, 3> kind_of_tensor(const traced*);
std::integral_constant<int, 0> kind_of_tensor(...);  ///< 0, a plain array, for every other type

/// The kind of the type X: 0 for a plain array, 1 for a typed tensor, 2 for a run-time tensor, 3 for a traced value.
template <class X>
inline constexpr int tensor_kind = decltype(kind_of_tensor(static_cast<const std::remove_cvref_t<X>*>(nullptr)))::value;

/// X is a typed, run-time or traced tensor, not a plain array.
template <class X>
concept tensor_value = tensor_kind<X> != 0;

/// The rank of tensors of type X if the type determines it, else `dynamic`.
template <class X>
consteval std::size_t static_rank() {
  if constexpr (tensor_kind<X> == 0) return rank_of<X>;
  else if constexpr (tensor_kind<X> == 1) return std::remove_cvref_t<X>::rank();
  else return dynamic;
}
/// Whether the dimensions D are distinct and below the rank of X. If the type X does not determine the rank, only
/// distinct dimensions are required.
template <class X, std::size_t... D>
inline constexpr bool has_dimensions = ((D < static_rank<X>()) && ...) && are_distinct_dimensions<D...>;
// The texts of compile-time errors about dimensions.
#define PARTITA_REQUIRES_DIMENSION(call) call ": requires a dimension that x has; count from 0"
#define PARTITA_REQUIRES_DIMENSIONS(call) call ": requires dimensions that x has, each once; count them from 0"
/// X is a typed, run-time or traced tensor, or a plain array.
template <class X>
concept any_tensor = tensor_value<X> || ranked_array<X>;
template <class X>
concept tensor_or_number = any_tensor<X> || std::is_arithmetic_v<std::remove_cvref_t<X>>;
/// L and R are operands of a function that also exists for plain arrays; one is a sharded tensor or traced value.
template <class L, class R>
concept tensor_operands = tensor_or_number<L> && tensor_or_number<R> && (tensor_value<L> || tensor_value<R>);
/// L and R are operands of a function that no other header defines for plain arrays; L or R is a tensor or an array.
template <class L, class R>
concept any_tensor_operands = tensor_or_number<L> && tensor_or_number<R> && (any_tensor<L> || any_tensor<R>);

/// The tensor x with a layout that is known at run time. A plain array becomes a tensor without a mesh.
template <class T, auto Layout>
const sharded_tensor<T>& as_run_time(const typed_sharded<T, Layout>& x) {
  return x.run_time_tensor();
}
template <class T>
const sharded_tensor<T>& as_run_time(const sharded_tensor<T>& x) {
  return x;
}
template <ranked_array X>
auto as_run_time(const X& x) {  ///< converts a plain array to a tensor without a mesh
  auto block = block_of_array(x);
  const shape_list extents = block.shape;
  return tensor_of(nullptr, sharding(mesh(), rank_of<X>), extents, std::move(block));
}
/// Converts a result without a mesh to an array.
template <std::size_t N, class T>
xt::xtensor<T, N> as_array(const sharded_tensor<T>& y) {
  return y.template whole<N>();
}

template <class X>
shape_list operand_extents(const X& x) {  ///< the extents of the whole tensor or array
  if constexpr (tensor_value<X>) return x.extents();
  else return shape_of(x);
}

/// The layouts of the operands and of the result of an operation, which follow from the types of the operands.
template <std::size_t N>
struct inferred_layouts {
  std::array<sharding, N> operands{};  ///< the layouts in which the operation reads its operands
  sharding result{};                   ///< the layout of the result
};
template <class Op, auto... Layout>
consteval auto infer_layouts() {  ///< the layouts of operands and result of Op, found by propagation
  constexpr std::size_t n = sizeof...(Layout);
  const spec specs[] = {spec(layout_of_name<Layout>, shape_list::filled(layout_of_name<Layout>.rank(), dynamic))...};
  const propagation p = propagate(specs[0].layout.on, Op::rule(shape_span(spec_list(specs, n))), spec_list(specs, n));
  inferred_layouts<n> all;
  for (std::size_t i = 0; i < n; ++i) all.operands[i] = p.operands[i];
  all.result = p.results[0];
  all.result.open = all.result.must_replicate = all.result.reduced_over = 0;
  return all;
}
template <class Op, auto... Layout>
inline constexpr auto op_layouts = infer_layouts<Op, Layout...>();  ///< the inferred_layouts of Op on such operands

/// The length of the name of the layout of a result, and the name itself. The type of the name depends on the length
/// only: g++ 12 fails if a sharding is a template argument of this type.
template <class Op, auto... Layout>
inline constexpr std::size_t inferred_name_length = layout_text(op_layouts<Op, Layout...>.result).size();
template <class Op, auto... Layout>
inline constexpr layout_name<inferred_name_length<Op, Layout...>> inferred_layout_name =
    make_layout_name<inferred_name_length<Op, Layout...>>(op_layouts<Op, Layout...>.result);  ///< of the result

template <class Op, std::size_t... Rank>
consteval std::size_t result_rank() {  ///< of the result of Op on operands of the ranks Rank
  const shape_list shapes[] = {shape_list::filled(Rank, dynamic)...};
  const shape_span span(shapes, sizeof...(Rank));
  return bind_shapes(Op::rule(span), span).rank(sizeof...(Rank));
}

/// Whether resharding a tensor from `own_layout` to `read` moves no elements, tested with extents of 5040, a multiple
/// of most small mesh sizes.
constexpr bool moves_no_elements(const sharding& own_layout, const sharding& read) {
  sharding from = own_layout, to = read;
  from.open = from.must_replicate = from.reduced_over = to.open = to.must_replicate = to.reduced_over = 0;
  return moved_bytes(from, to, shape_list::filled(own_layout.rank(), 5040), 1) == 0;
}
template <class Op, auto... Layout>
consteval bool operands_need_no_forbidden_move() {  ///< false: Op would move an operand although its mesh forbids it
  std::size_t i = 0;
  return ((!layout_of_name<Layout>.on.requires_explicit_reshards ||
           moves_no_elements(layout_of_name<Layout>, op_layouts<Op, Layout...>.operands[i++])) &&
          ...);
}

template <class Op, auto... Layout>
consteval layouts_over_features infer_feature_layouts() {  ///< the layouts of Op, which works over sharded features
  const spec specs[] = {spec(layout_of_name<Layout>, shape_list::filled(layout_of_name<Layout>.rank(), dynamic))...};
  const spec_list all(specs, sizeof...(Layout));
  return layouts_of_features<Op>(Op::rule(shape_span(all)), all);
}
/// The layouts of operands and result of an operation that is executed over sharded features; see in_windows.hpp.
template <class Op, auto... Layout>
inline constexpr auto feature_layouts = infer_feature_layouts<Op, Layout...>();
/// The name of the layout of the result among feature_layouts.
template <class Op, auto... Layout>
inline constexpr layout_name<layout_text(feature_layouts<Op, Layout...>.result).size()> feature_layout_name =
    make_layout_name<layout_text(feature_layouts<Op, Layout...>.result).size()>(feature_layouts<Op, Layout...>.result);

/// The layout of the result of run_along_cuts(), and the name of this layout.
template <class Op, auto Layout>
inline constexpr sharding result_layout_along_cuts = layout_along_cuts<Op>(layout_of_name<Layout>);
template <class Op, auto Layout>
inline constexpr layout_name<layout_text(result_layout_along_cuts<Op, Layout>).size()> result_layout_name_along_cuts =
    make_layout_name<layout_text(result_layout_along_cuts<Op, Layout>).size()>(result_layout_along_cuts<Op, Layout>);
/// Whether an operation on operands of these layouts is executed by run_along_cuts().
template <class Op, auto... Layout>
constexpr bool is_run_along_cuts() {
  if constexpr (works_along_cuts<Op> && sizeof...(Layout) == 1)
    return (is_sharded_along<Op>(layout_of_name<Layout>) && ...);
  else return false;
}

/// Whether Op is an element function whose operands all have the layout of the result, according to the types of the
/// operands.
template <class Op, auto... Layout>
consteval bool has_equal_layouts() {
  if constexpr (requires { Op::is_elementwise; })
    return (layout_of_name<Layout>.same_layout(op_layouts<Op, Layout...>.result) && ...);
  else return false;
}

/// Makes integers as elements a compile-time error for functions of real numbers, such as exp.
template <class Op, class T>
consteval void require_floating() {
  if constexpr (requires { Op::is_elementwise; })
    static_assert(Op::on_integers || !std::is_integral_v<T>,
                  "partita: exp, log, sin and other functions of real numbers, and softmax(x), require elements that "
                  "are no integers; cast x to float or double");
}

/// Whether an operation accepts elements of T. An operation that has no meaning for complex numbers declares
/// `static constexpr bool on_complex = false`; element functions declare it by their properties.
template <class Op, class T>
constexpr bool operation_accepts_type() {
  if constexpr (is_complex<T> && requires { Op::on_complex; }) return Op::on_complex;
  else return true;
}

template <class Op, class... T, auto... Layout>
auto typed_call(const Op& op, const typed_sharded<T, Layout>&... x) {  ///< applies op to typed tensors
  using element = std::common_type_t<T...>;
  static_assert((std::is_same_v<T, element> && ...),
                "partita: requires operands of one element type; cast them first, or make complex ones by "
                "to_complex(x)");
  require_floating<Op, element>();
  constexpr const mesh* first[] = {&layout_of_name<Layout>.on...};
  static_assert(((layout_of_name<Layout>.on == *first[0]) && ...),
                "partita: requires operands on one mesh; make their layouts from the same mesh");
  if constexpr ((std::is_same_v<T, element> && ...) && ((layout_of_name<Layout>.on == *first[0]) && ...)) {
    if constexpr (has_equal_layouts<Op, Layout...>()) {
      const std::array states{static_cast<const tensor_state<element>*>(x.run_time_tensor().state().get())...};
      if (are_compatible_states(states))
        return typed_sharded<element, inferred_layout_name<Op, Layout...>>(
            run_row_function(op.template row_call<element>(), op.fingerprint(), Op::name(), states));
    }
    const std::vector<sharded_tensor<element>> operands{x.run_time_tensor()...};
    if constexpr (is_run_along_cuts<Op, Layout...>()) {
      return typed_sharded<element, result_layout_name_along_cuts<Op, Layout...>>(run_along_cuts(op, operands[0]));
    } else if constexpr (has_sharded_features<Op>(layout_of_name<Layout>...)) {
      return typed_sharded<element, feature_layout_name<Op, Layout...>>(
          run_over_features(op, bind_operation<sizeof...(T)>(op, operands), operands, &feature_layouts<Op, Layout...>));
    } else {
      static_assert(operands_need_no_forbidden_move<Op, Layout...>(),
                    "partita: requires operands that need not be moved, as their mesh has no_implicit_reshard(); "
                    "reshard<m.layout(...)>(x) them before");
      const auto& layouts = op_layouts<Op, Layout...>;
      auto y = run_operation<element>(bind_operation<sizeof...(T)>(op, operands), operands,
                                      {layouts.operands.data(), &layouts.result});
      if (!y.layout().same_layout(layouts.result)) y = reshard(y, layouts.result);
      return typed_sharded<element, inferred_layout_name<Op, Layout...>>(std::move(y));
    }
  } else {
    return rejected_call{};
  }
}

template <class X>
using element_of_tensor = typename std::remove_cvref_t<X>::value_type;  ///< the element type; a placeholder if traced

template <class Op, class... X>
auto trace_call(const Op& op, const X&... x);  ///< adds op to the traced program

/// Applies Op to tensors of any kind. A plain array among the operands becomes a tensor without a mesh.
template <class Op, class... X>
auto call(const Op& op, const X&... x) {
  constexpr bool accepted = (operation_accepts_type<Op, element_of_tensor<X>>() && ...);
  static_assert(accepted,
                "partita: requires real elements, as this operation takes no complex ones; apply it to real(z), "
                "imag(z), abs(z) or angle(z), which are in partita/sharded/complex.hpp");
  if constexpr (!accepted) {
    return rejected_call{};
  } else if constexpr (((tensor_kind<X> == 3) || ...)) {
    constexpr bool alike = !(is_complex<element_of_tensor<X>> || ...) || (is_complex<element_of_tensor<X>> && ...);
    static_assert(
        alike,
        "partita: requires operands of one element type, but some are real and some are complex; to_complex(x) "
        "makes complex ones of real ones");
    if constexpr (alike) return trace_call(op, x...);
    else return rejected_call{};
  } else if constexpr (((tensor_kind<X> == 1) && ...)) {
    return typed_call(op, x...);
  } else if constexpr (!(std::is_same_v<element_of_tensor<X>, std::common_type_t<element_of_tensor<X>...>> && ...)) {
    static_assert(dependent_false<X...>,
                  "partita: requires operands of one element type; cast them first, or make complex ones by "
                  "to_complex(x)");
    return rejected_call{};
  } else {
    using element = std::common_type_t<element_of_tensor<X>...>;
    require_floating<Op, element>();
    if constexpr (requires { Op::is_elementwise; } && ((tensor_kind<X> != 0) && ...)) {
      const std::array states{static_cast<const tensor_state<element>*>(as_run_time(x).state().get())...};
      if (have_equal_shardings(states) && are_compatible_states(states))
        return run_row_function(op.template row_call<element>(), op.fingerprint(), Op::name(), states);
    }
    const std::vector<sharded_tensor<element>> operands{as_run_time(x)...};
    if constexpr (works_along_cuts<Op> && ((tensor_kind<X> != 0) && ...))
      if (operands[0].state()->on && is_sharded_along<Op>(operands[0].layout())) return run_along_cuts(op, operands[0]);
    const applied_operation work = bind_operation<sizeof...(X)>(op, operands);
    if constexpr (reads_features_of_tensors<Op> && sizeof...(X) <= max_window_operands &&
                  ((tensor_kind<X> != 0) && ...)) {
      bool is_cut = false;
      for (std::size_t i = 0; i < operands.size(); ++i)
        is_cut = is_cut || (has_features<Op>(i) && shards_features<Op>(operands[i].layout()));
      if (is_cut && operands[0].state()->on) return run_over_features(op, work, operands, nullptr);
    }
    auto y = run_operation<element>(work, operands);
    if constexpr (((tensor_kind<X> == 0) && ...)) return as_array<result_rank<Op, rank_of<X>...>()>(y);
    else return y;
  }
}

}  // namespace detail
}  // namespace partita
